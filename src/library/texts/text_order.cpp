#include "library/texts/text_order.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "core/threads/thread_pool.h"
#include "library/ordering/sort_loops.h"

namespace weft::texts {

namespace {

constexpr int64_t kPart = int64_t{1} << 14;        // texts of a task
constexpr int64_t kShared = int64_t{1} << 16;      // texts that all threads sort together
constexpr size_t kInserted = 12;                   // texts that are sorted by insertion
constexpr int64_t kMostGroups = int64_t{1} << 17;  // more fill the caches

int64_t parts_of(int64_t count) { return (count + kPart - 1) / kPart; }

template <class Work>
void for_rows(int64_t count, const Work& work) {
    parallel_for(parts_of(count),
                 [&](int64_t task) { work(task * kPart, std::min((task + 1) * kPart, count)); });
}

void write_positions(int64_t count, int64_t* order) {
    for_rows(count, [&](int64_t begin, int64_t end) { std::iota(order + begin, order + end, begin); });
}

void order_of_words(const KeyMemory<uint64_t>& keys, int64_t count, int64_t* order) {
    argsort_rows(ScalarType::kUInt64, 1, count, [&](int64_t) {
        return SortedRow{reinterpret_cast<const char*>(keys.data()), sizeof(uint64_t),
                         reinterpret_cast<char*>(order), sizeof(int64_t)};
    });
}

// Sorts positions of texts that are equal before a word.
class Refinement {
public:
    explicit Refinement(const TextRows& texts) : texts_(texts) {}

    void sort(std::span<int64_t> order, int word) const {
        if (order.size() <= kInserted) {
            insert(order, word);
            return;
        }
        const auto count = static_cast<int64_t>(order.size());
        const KeyMemory<uint64_t> keys(count);
        while (!write_words(order, word, keys.data())) {
            if (++word == texts_.words()) return;
        }
        {
            const KeyMemory<int64_t> places(count), before(count);
            order_of_words(keys, count, places.data());
            std::ranges::copy(order, before.data());
            for_rows(count, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                    order[static_cast<size_t>(i)] = before.data()[places.data()[i]];
                }
            });
            if (++word == texts_.words()) return;
            const KeyMemory<uint64_t> sorted(count);
            for_rows(count, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) sorted.data()[i] = keys.data()[places.data()[i]];
            });
            std::copy_n(sorted.data(), count, keys.data());
        }
        sort_runs(order, keys.data(), word);
    }

private:
    // Returns whether they differ.
    bool write_words(std::span<int64_t> order, int word, uint64_t* to) const {
        std::atomic<bool> differ = false;
        const uint64_t first = texts_.word(order[0], word);
        for_rows(static_cast<int64_t>(order.size()), [&](int64_t begin, int64_t end) {
            uint64_t difference = 0;
            for (int64_t i = begin; i < end; ++i) {
                to[i] = texts_.word(order[static_cast<size_t>(i)], word);
                difference |= to[i] ^ first;
            }
            if (difference != 0) differ.store(true, std::memory_order_relaxed);
        });
        return differ;
    }

    void insert(std::span<int64_t> order, int word) const {
        for (size_t k = 1; k < order.size(); ++k) {
            const int64_t row = order[k];
            size_t to = k;
            for (; to > 0 && texts_.less(row, order[to - 1], word); --to) order[to] = order[to - 1];
            order[to] = row;
        }
    }

    // Texts are in order up to a word, by these keys of the one before it. What is equal so far goes by that
    // word: long runs one after another, each on all threads, short ones side by side.
    void sort_runs(std::span<int64_t> order, const uint64_t* keys, int word) const {
        using Run = std::pair<int64_t, int64_t>;
        const auto count = static_cast<int64_t>(order.size());
        const auto sort_run = [&](const Run& run) {
            sort(order.subspan(static_cast<size_t>(run.first), static_cast<size_t>(run.second - run.first)),
                 word);
        };
        std::vector<std::vector<Run>> long_runs(static_cast<size_t>(parts_of(count)));
        for_rows(count, [&](int64_t begin, int64_t end) {
            int64_t first = begin;
            while (first < end && first > 0 && keys[first] == keys[first - 1]) ++first;
            while (first < end) {
                int64_t behind = first + 1;
                while (behind < count && keys[behind] == keys[first]) ++behind;
                if (behind - first >= kShared) {
                    long_runs[static_cast<size_t>(begin / kPart)].emplace_back(first, behind);
                } else if (behind - first > 1) {
                    sort_run({first, behind});
                }
                first = behind;
            }
        });
        for (const std::vector<Run>& part : long_runs) {
            for (const Run& run : part) sort_run(run);
        }
    }

    const TextRows& texts_;
};

// Whether so few texts of a sample are different that a table of all is worth it.
bool has_few_texts(const TextRows& texts) {
    constexpr int64_t kSample = 4096;
    const int64_t sample = std::min(kSample, texts.count() / 4);
    std::vector<uint64_t> hashes(static_cast<size_t>(sample));
    uint64_t state = 1;
    for (uint64_t& hash : hashes) {
        state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's
        const auto row = static_cast<int64_t>(static_cast<uint64_t>(
            (static_cast<unsigned __int128>(state) * static_cast<uint64_t>(texts.count())) >> 64));
        hash = texts.rows().hash(texts.at(row));
    }
    std::ranges::sort(hashes);
    const auto different = std::distance(hashes.begin(), std::ranges::unique(hashes).begin());
    // Of d texts, a sample of m has m * m / 2d pairs.
    const int64_t most = std::min(texts.count() / 8, kMostGroups);
    return (sample - different) * 2 * most > sample * sample;
}

struct Groups {
    DifferentTexts texts;
    KeyMemory<int32_t> number;  // of each row
};

// By a table; nothing where too many are different for that to be worth it.
std::optional<Groups> group_texts(const TextRows& texts) {
    const int64_t count = texts.count();
    if (count < 2048 || count > std::numeric_limits<int32_t>::max() || !has_few_texts(texts))
        return std::nullopt;
    const int64_t most = std::min(count / 8, kMostGroups);
    const int64_t parts = std::clamp<int64_t>(count / (2 * kPart), 1, num_threads());
    const auto begin_of = [&](int64_t part) { return count * part / parts; };
    using Table = RowTable<ByteRows>;
    std::vector<Table> tables(static_cast<size_t>(parts), Table(texts.rows(), 0));
    Groups groups{{}, KeyMemory<int32_t>(count)};
    int32_t* const number = groups.number.data();
    std::atomic<bool> too_many = false;
    parallel_for(parts, [&](int64_t part) {
        Table& own = tables[static_cast<size_t>(part)];
        for (int64_t begin = begin_of(part); begin < begin_of(part + 1) && !too_many; begin += kPart) {
            const int64_t end = std::min(begin + kPart, begin_of(part + 1));
            for (int64_t row = begin; row < end && own.count() <= most; ++row) number[row] = own.insert(row);
            if (own.count() > most) too_many = true;
            pause_task();
        }
    });
    if (too_many) return std::nullopt;
    // All tables as one; then in the order of the texts.
    std::vector<std::vector<int32_t>> as_common(static_cast<size_t>(parts));
    Table all(texts.rows(), tables[0].count());
    for (size_t part = 0; part < tables.size(); ++part) {
        for (const int64_t row : tables[part].rows()) as_common[part].push_back(all.insert(row));
    }
    std::vector<int64_t>& first = groups.texts.first;
    first = all.rows();
    Refinement(texts).sort(first, 0);
    std::vector<int32_t> place(first.size());
    for (size_t k = 0; k < first.size(); ++k)
        place[static_cast<size_t>(all.find(texts.at(first[k])))] = static_cast<int32_t>(k);
    std::vector<std::vector<int64_t>> counts(static_cast<size_t>(parts));
    parallel_for(parts, [&](int64_t part) {
        std::vector<int32_t>& turned = as_common[static_cast<size_t>(part)];
        for (int32_t& text : turned) text = place[static_cast<size_t>(text)];
        std::vector<int64_t>& own = counts[static_cast<size_t>(part)];
        own.resize(first.size());
        for (int64_t row = begin_of(part); row < begin_of(part + 1); ++row) {
            number[row] = turned[static_cast<size_t>(number[row])];
            ++own[static_cast<size_t>(number[row])];
        }
    });
    groups.texts.counts = std::move(counts[0]);
    for (size_t part = 1; part < counts.size(); ++part) {
        for (size_t k = 0; k < groups.texts.counts.size(); ++k) groups.texts.counts[k] += counts[part][k];
    }
    return groups;
}

// Of many different texts, in no order.
void order_by_words(const TextRows& texts, int64_t* order) {
    write_positions(texts.count(), order);
    Refinement(texts).sort({order, static_cast<size_t>(texts.count())}, 0);
}

}  // namespace

KnownOrder known_order(const View& view) {
    const int64_t length = view.shape.back(), stride = view.strides.back();
    const Stretches<1> stretches(view.shape, {&view.strides});
    const auto* const data = static_cast<const char*>(view.data);
    return visit_character(view.character, [&](auto tag) {
        using Char = decltype(tag);
        const auto falls = [&](const char* text) {
            const char* const before = text - stride;
            for (int64_t k = 0; k < view.width; ++k) {
                const Char last = character_at<Char>(before, k), here = character_at<Char>(text, k);
                if (last != here) return here < last;
            }
            return false;
        };
        if (length < 2 || element_count(view.shape) == 0) return KnownOrder::kAscending;
        const bool descending = falls(data + stride);
        // A few neighbours say of most texts that they are in no order.
        for (int64_t i = 2; i < std::min<int64_t>(length, 16); ++i) {
            if (falls(data + i * stride) != descending) return KnownOrder::kNone;
        }
        std::atomic<bool> known = true;
        for_rows(element_count(view.shape), [&](int64_t begin, int64_t end) {
            if (!known.load(std::memory_order_relaxed)) return;
            stretches.run(begin, end,
                          [&](int64_t first, int64_t count, const auto& offsets, const auto& strides) {
                              const char* text = data + offsets[0];
                              for (int64_t i = 0; i < count; ++i, text += strides[0]) {
                                  if ((first + i) % length != 0 && falls(text) != descending) {
                                      known.store(false, std::memory_order_relaxed);
                                      return;
                                  }
                              }
                          });
        });
        return !known ? KnownOrder::kNone : descending ? KnownOrder::kDescending : KnownOrder::kAscending;
    });
}

void order_of_texts(const TextRows& texts, int64_t* order) {
    const int64_t count = texts.count();
    if (const std::optional<Groups> groups = group_texts(texts)) {
        std::vector<int64_t> next(groups->texts.counts.size());
        std::exclusive_scan(groups->texts.counts.begin(), groups->texts.counts.end(), next.begin(),
                            int64_t{0});
        const int32_t* const number = groups->number.data();
        for (int64_t row = 0; row < count; ++row) order[next[static_cast<size_t>(number[row])]++] = row;
    } else {
        order_by_words(texts, order);
    }
}

void sort_texts(const TextRows& texts, char* to, int64_t stride) {
    const int64_t count = texts.count();
    const auto size = static_cast<size_t>(texts.size());
    if (texts.words() == 1) {
        const KeyMemory<uint64_t> keys(count), sorted(count);
        for_rows(count, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) keys.data()[i] = texts.word(i, 0);
        });
        sort_rows(ScalarType::kUInt64, 1, count, [&](int64_t) {
            return SortedRow{reinterpret_cast<const char*>(keys.data()), sizeof(uint64_t),
                             reinterpret_cast<char*>(sorted.data()), sizeof(uint64_t)};
        });
        for_rows(count, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) texts.code().restore(sorted.data()[i], to + i * stride);
        });
        return;
    }
    if (const std::optional<Groups> groups = group_texts(texts)) {
        std::vector<int64_t> ends(groups->texts.counts.size());
        std::inclusive_scan(groups->texts.counts.begin(), groups->texts.counts.end(), ends.begin());
        for_rows(count, [&](int64_t begin, int64_t end) {
            auto text = static_cast<size_t>(std::ranges::upper_bound(ends, begin) - ends.begin());
            for (int64_t i = begin; i < end; ++i) {
                while (i >= ends[text]) ++text;
                std::memcpy(to + i * stride, texts.at(groups->texts.first[text]), size);
            }
        });
        return;
    }
    const KeyMemory<int64_t> order(count);
    order_by_words(texts, order.data());
    for_rows(count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) std::memcpy(to + i * stride, texts.at(order.data()[i]), size);
    });
}

DifferentTexts different_texts(const TextRows& texts, KnownOrder known, int64_t* number) {
    const int64_t count = texts.count();
    if (std::optional<Groups> groups = group_texts(texts)) {
        const int32_t* const found = groups->number.data();
        if (number != nullptr) {
            for_rows(count, [&](int64_t begin, int64_t end) {
                std::copy(found + begin, found + end, number + begin);
            });
        }
        return std::move(groups->texts);
    }
    const KeyMemory<int64_t> order(count);
    if (known == KnownOrder::kAscending) {
        write_positions(count, order.data());
    } else if (known == KnownOrder::kDescending) {
        for_rows(count, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) order.data()[i] = count - 1 - i;
        });
    } else {
        order_by_words(texts, order.data());
    }
    // Which places begin another text, part by part.
    std::vector<std::vector<int64_t>> found(static_cast<size_t>(parts_of(count)));
    for_rows(count, [&](int64_t begin, int64_t end) {
        std::vector<int64_t>& own = found[static_cast<size_t>(begin / kPart)];
        for (int64_t i = begin; i < end; ++i) {
            if (i == 0 || !texts.rows().equal(texts.at(order.data()[i]), texts.at(order.data()[i - 1])))
                own.push_back(i);
        }
    });
    DifferentTexts result;
    std::vector<int64_t> begins, first_of_part;
    for (const std::vector<int64_t>& each : found) {
        first_of_part.push_back(static_cast<int64_t>(begins.size()));
        begins.insert(begins.end(), each.begin(), each.end());
    }
    begins.push_back(count);
    for (size_t k = 0; k + 1 < begins.size(); ++k) {
        result.first.push_back(order.data()[begins[k]]);
        result.counts.push_back(begins[k + 1] - begins[k]);
    }
    if (number != nullptr) {
        for_rows(count, [&](int64_t begin, int64_t end) {
            auto next = static_cast<size_t>(first_of_part[static_cast<size_t>(begin / kPart)]);
            for (int64_t i = begin; i < end; ++i) {
                if (begins[next] == i) ++next;
                number[order.data()[i]] = static_cast<int64_t>(next) - 1;
            }
        });
    }
    return result;
}

}  // namespace weft::texts
