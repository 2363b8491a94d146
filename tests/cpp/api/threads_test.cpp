// Threads of C++ that record and observe, on arrays of their own and on the same ones: as if one had done it.
// Python's threads give each other the GIL between any two calls, which orders much that nothing else does;
// these do not. For the thread sanitizer above all (make test-threads).
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/config.h"
#include "execution/evaluate.h"
#include "execution/kernels/kernel_store.h"
#include "execution/profile.h"
#include "weft/weft.h"

namespace weft {
namespace {

constexpr int kThreads = 4, kTurns = 12;
constexpr int64_t kMany = 6000;  // elements: more than are computed at the call

// work(0), work(1), ... in threads that start together; each says whether its results were right.
template <class Work>
void expect_in_threads(const Work& work, int count = kThreads) {
    std::atomic<int> waiting{count}, wrong{0};
    std::vector<std::thread> threads;
    for (int number = 0; number < count; ++number) {
        threads.emplace_back([&, number] {
            --waiting;
            while (waiting > 0) std::this_thread::yield();
            try {
                if (!work(number)) ++wrong;
            } catch (const Error& error) {
                ADD_FAILURE() << "thread " << number << ": " << error.what();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

// Settings that a test changes.
struct Settings {
    Tier tier = config().tier;
    int64_t small_limit = config().small_limit;
    bool eager = config().eager, fuse = config().fuse;
    int num_threads = config().num_threads;
    ~Settings() {
        config().tier = tier;
        config().small_limit = small_limit;
        config().eager = eager;
        config().fuse = fuse;
        config().num_threads = num_threads;
    }
};

double last_of(const array& values) { return values(-1).item<double>(); }

// What one thread computes of an array of kMany numbers x0, x0 + 1, ...; the last element or a sum.
struct Program {
    const char* name;
    std::function<double(const array& x)> run;
    std::function<double(double x0)> expected;
};

double last_number(double x0) { return x0 + static_cast<double>(kMany - 1); }
double sum_of_numbers(double x0) {
    return static_cast<double>(kMany) * x0 + static_cast<double>(kMany * (kMany - 1)) / 2;
}

const std::vector<Program>& programs() {
    static const std::vector<Program> all_of_them = {
        {"arithmetic", [](const array& x) { return last_of(2 * x + x * x - 1); },
         [](double x0) { return 2 * last_number(x0) + last_number(x0) * last_number(x0) - 1; }},
        {"sum", [](const array& x) { return sum(x + 1).item<double>(); },
         [](double x0) { return sum_of_numbers(x0 + 1); }},
        {"few", [](const array& x) { return last_of(x(slice(10)) + 1); }, [](double x0) { return x0 + 10; }},
        {"running sums", [](const array& x) { return last_of(cumsum(x)); }, sum_of_numbers},
        {"sorted", [](const array& x) { return last_of(sort(-x, 0)); }, [](double x0) { return -x0; }},
        {"written",
         [](const array& x) {
             const array y = copy(x);
             y(slice(1, -1)) = y(slice(2, none)) * 0.5;
             y(0) = 3;
             y(y > last_number(-1e9)) += 1;
             return y(0).item<double>() + y(-1).item<double>();
         },
         [](double x0) { return 5 + last_number(x0); }},
        {"loop",
         [](const array& x) {
             array y = x;
             for (int turn = 0; turn < 40; ++turn) y = (y + 2) - x * 0;
             return last_of(y);
         },
         [](double x0) { return last_number(x0) + 80; }},
        {"loop of writes",
         [](const array& x) {
             const array y = copy(x);
             for (int turn = 0; turn < 40; ++turn) y(slice(1, none)) += 1;
             return last_of(y);
         },
         [](double x0) { return last_number(x0) + 40; }},
        {"chosen first", [](const array& x) { return last_of((x * 2 + 1)(arange(0, kMany, 7))); },
         [](double x0) { return 2 * (x0 + static_cast<double>((kMany - 1) / 7 * 7)) + 1; }},
        {"product chain",
         [](const array& x) {
             const array a = ones({60, 20}), b = reshape(x, {60, 100}), v = ones({100, 1});
             return sum(matmul(transpose(a, {}), matmul(b, v))).item<double>();
         },
         [](double x0) { return 20 * sum_of_numbers(x0); }},
        {"sum of a product",
         [](const array& x) {
             return sum(matmul(ones({50, 60}), reshape(x, {60, 100})), 0)(0).item<double>() * 0 +
                    sum(sum(matmul(ones({50, 60}), reshape(x, {60, 100})), 1)).item<double>();
         },
         [](double x0) { return 50 * sum_of_numbers(x0); }},
        {"text", [](const array& x) { return to_repr(floor(x(slice(3)))).empty() ? 0.0 : 1.0; },
         [](double) { return 1.0; }},
    };
    return all_of_them;
}

array numbers(double x0) { return arange(Argument(x0), Argument(last_number(x0) + 0.5), Integer(1)); }

bool is_right(const Program& program, const array& x, double x0) {
    const double found = program.run(x), expected = program.expected(x0);
    const bool right = std::abs(found - expected) <= 1e-9 * std::abs(expected);
    if (!right) ADD_FAILURE() << program.name << " gave " << found << " and not " << expected;
    return right;
}

TEST(Threads, ComputeOnArraysOfTheirOwn) {
    for (const Tier tier : {Tier::kJit, Tier::kAuto}) {
        const Settings settings;
        config().tier = tier;
        expect_in_threads([](int number) {
            bool right = true;
            for (int turn = 0; turn < 2; ++turn) {
                for (const Program& program : programs()) {
                    const double x0 = number * 10 + turn;
                    right &= is_right(program, numbers(x0), x0);
                }
            }
            return right;
        });
    }
}

TEST(Threads, ReadThePendingValuesOfOneArray) {
    for (const Program& program : programs()) {
        for (int turn = 0; turn < kTurns; ++turn) {
            const array shared = numbers(turn - 1) + 1;
            expect_in_threads([&](int) { return is_right(program, shared, turn); });
        }
    }
}

TEST(Threads, ObserveWhatOthersRecorded) {
    for (int turn = 0; turn < kTurns; ++turn) {
        std::vector<array> chain{numbers(turn)};
        for (int k = 0; k < 20; ++k) chain.push_back(chain.back() + 1);
        const array total = sum(chain.back()), product = matmul(ones({3, 60}), reshape(chain[5], {60, 100}));
        const array sums = sum(product, 1);
        expect_in_threads([&](int number) {
            const size_t place = static_cast<size_t>(number * 7 % 20);
            bool right = last_of(chain[place]) == last_number(turn) + static_cast<double>(place);
            if (number % 2 == 0) right &= sum(sums).item<double>() == 3 * sum_of_numbers(turn + 5);
            return right && total.item<double>() == sum_of_numbers(turn + 20);
        });
        EXPECT_EQ(product(0, 0).item<double>(), sum(chain[5](slice(none, none, 100))).item<double>());
    }
}

TEST(Threads, SeeOneVersionOfWhatOthersWrite) {
    for (const int64_t size : {int64_t{50}, kMany}) {
        const array shared = zeros({size});
        expect_in_threads([&](int number) {
            for (int turn = 0; turn < 3 * kTurns; ++turn) {
                if (number % 2 == 1) {
                    shared(ellipsis) = number * 100 + turn;
                    continue;
                }
                const array seen = shared + 0.0;
                if (min(seen).item<double>() != max(seen).item<double>()) return false;
                const array positions = shared(array{0, -1, 5});
                if (positions(0).item<double>() != positions(1).item<double>()) return false;
            }
            return true;
        });
        EXPECT_EQ(static_cast<int>(shared(0).item<double>()) % 100, 3 * kTurns - 1);
    }
}

TEST(Threads, WriteRowsOfOneArray) {
    const array many = zeros({kThreads, kMany}), few = zeros({kThreads, 3}), picked = zeros({kThreads, 8});
    expect_in_threads([&](int number) {
        for (int turn = 0; turn < 2 * kTurns; ++turn) {
            many(number) += number;
            few(number) += turn;
            few(number, 0) = turn;
            picked(number, array{1, 3, 1}) = turn;
            many(number, many(number) < 0) = 5;
            if (turn % 4 == 0 && many(number, -1).item<double>() != number * (turn + 1)) return false;
        }
        return few(number, 0).item<double>() == 2 * kTurns - 1 &&
               picked(number, 3).item<double>() == 2 * kTurns - 1;
    });
    for (int number = 0; number < kThreads; ++number)
        EXPECT_EQ(sum(many(number)).item<double>(), static_cast<double>(2 * kTurns * number * kMany));
}

TEST(Threads, WriteExportedMemory) {
    std::vector<double> memory(static_cast<size_t>(kThreads) * 100);
    const array shared = share(std::span<double>(memory), {kThreads, 100});
    const array other = zeros({kMany});
    expect_in_threads([&](int number) {
        for (int turn = 0; turn < kTurns; ++turn) {
            shared(number) += 1;
            const array later = other + shared(number, 5);
            const Elements<const double> exported(other);
            if (shared(number, 99).item<double>() != turn + 1 || last_of(later) != turn + 1) return false;
        }
        return true;
    });
    EXPECT_EQ(sum(shared).item<double>(), kThreads * kTurns * 100.0);
}

TEST(Threads, LetGoOfWhatOthersMade) {
    std::vector<array> made(kThreads), next(kThreads);
    for (int turn = 0; turn < kTurns; ++turn) {
        expect_in_threads([&](int number) {
            const size_t from = static_cast<size_t>(kThreads - 1 - number);
            const bool right = !made[from].valid() || last_of(made[from]) > 0;
            made[from] = array();
            next[static_cast<size_t>(number)] = exp(numbers(number) * 0.0001) + 1;
            return right;
        });
        made.swap(next);
    }
}

TEST(Threads, AreEvaluatedByOthersWhileTheyRecord) {
    std::atomic<int> recording{kThreads - 1};
    expect_in_threads([&](int number) {
        if (number == 0) {
            while (recording > 0) evaluate_held();
            return true;
        }
        bool right = true;
        for (int turn = 0; turn < kTurns; ++turn) {
            for (const Program& program : programs()) right &= is_right(program, numbers(turn), turn);
        }
        --recording;
        return right;
    });
}

TEST(Threads, OutgrowWhatMayBePending) {
    expect_in_threads([](int number) {
        std::vector<array> pending;
        constexpr int kEach = 2600;  // of two nodes: together more than 20,000
        for (int k = 0; k < kEach; ++k) pending.push_back(arange(5000 + k % 3, int16) + number);
        return last_of(pending[1]) == 5000 + number &&
               last_of(pending.back()) == 4999 + (kEach - 1) % 3 + number;
    });
}

TEST(Threads, GoOnWhileSettingsChange) {
    const Settings settings;
    std::atomic<bool> stop{false};
    expect_in_threads([&](int number) {
        if (number == 0) {
            for (int turn = 0; turn < 3 * kTurns; ++turn) {
                config().num_threads = 1 + turn % 3;
                config().fuse = turn % 4 > 0;
                config().eager = turn % 5 == 0;
                config().small_limit = turn % 3 == 0 ? 0 : 4096;
                config().set_cpu(turn % 6 == 5 ? "x86-64-v2" : "");
                if (turn % 10 == 0) forget_kernels();
                if (last_of(numbers(turn) + 1) != last_number(turn + 1)) break;
            }
            config().set_cpu("");
            stop = true;
            return true;
        }
        bool right = true;
        for (int turn = 0; right && !stop; ++turn) {
            const Program& program = programs()[static_cast<size_t>(turn) % programs().size()];
            right = is_right(program, numbers(turn), turn);
        }
        return right;
    });
}

TEST(Threads, GoOnWhileSomebodyLooksAtTheEngine) {
    std::atomic<bool> stop{false};
    const array shared = numbers(0);
    expect_in_threads([&](int number) {
        if (number == 0) {
            for (int turn = 0; turn < kTurns; ++turn) {
                kernel_history();
                cache_info();
                explain(shared * turn);
                clear_kernel_history();
                pending_node_count();
                evaluated(shared);
                cpu_device().memory_stats();
                cpu_device().empty_pool();
            }
            stop = true;
            return true;
        }
        bool right = true;
        for (int turn = 0; right && (turn == 0 || !stop); ++turn) {
            const uint64_t profile = begin_profile();
            right = max(shared + turn).item<double>() == last_number(turn);
            right &= !end_profile(profile).empty();
        }
        return right;
    });
}

TEST(Threads, ThrowTheirOwnErrors) {
    const array shared = numbers(0) + 0;
    expect_in_threads([&](int number) {
        for (int turn = 0; turn < kTurns; ++turn) {
            try {
                if (number % 2 == 0) shared(array{kMany + number});
                if (number % 2 == 1) shared + ones(number + 2);
                (void)array(shared(array{kMany}));
                return false;
            } catch (const IndexError&) {
            } catch (const ValueError&) {
            }
            if (last_of(shared(slice(-1)) + turn) != last_number(turn) - 1) return false;
        }
        return true;
    });
}

}  // namespace
}  // namespace weft
