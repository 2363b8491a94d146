// The fake driver's cuFFT: what library/fft/cuda calls of it, by the sums that define a transform, on the
// memory and the streams of the fake driver.
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <mutex>
#include <numbers>
#include <vector>

#include "fake_driver.h"

namespace weft::fake_driver {

namespace {

constexpr int kInvalidPlan = 1, kInvalidValue = 4;
constexpr int kReal32 = 0, kReal64 = 1, kComplex64 = 5;

struct Side {
    std::vector<int64_t> embed;
    int64_t stride = 1, distance = 1;
    int type = 0;

    bool is_real() const { return type == kReal32 || type == kReal64; }
    int64_t at(int64_t transform, const std::vector<int64_t>& place) const {
        int64_t inside = 0;
        for (size_t d = 0; d < place.size(); ++d) inside = inside * embed[d] + place[d];
        return transform * distance + inside * stride;
    }
};

struct Plan {
    cuda::StreamHandle stream = nullptr;
    std::vector<int64_t> lengths;
    Side from, to;
    int64_t batch = 0;
    bool is_double = false;
    bool made = false, works_alone = true;
    size_t workspace = 0;
    void* memory = nullptr;
};

// Of the process, as cuFFT's plans are numbers.
struct Plans {
    std::mutex mutex;
    std::map<int, Plan> plans;
    int next = 1;
};

Plans& all() {
    static auto* plans = new Plans;
    return *plans;
}

bool find(int number, Plan& plan) {
    const std::lock_guard lock(all().mutex);
    const auto found = all().plans.find(number);
    if (found == all().plans.end()) return false;
    plan = found->second;
    return true;
}
template <class Change>
int change(int number, const Change& work) {
    const std::lock_guard lock(all().mutex);
    const auto found = all().plans.find(number);
    return found == all().plans.end() ? kInvalidPlan : work(found->second);
}

using Number = std::complex<double>;

// Along one axis of a dense array.
void transform_axis(std::vector<Number>& data, const std::vector<int64_t>& extents, size_t axis,
                    int direction) {
    const int64_t n = extents[axis];
    int64_t inner = 1;
    for (size_t d = axis + 1; d < extents.size(); ++d) inner *= extents[d];
    std::vector<Number> roots(static_cast<size_t>(n)), row(static_cast<size_t>(n));
    for (int64_t k = 0; k < n; ++k)
        roots[static_cast<size_t>(k)] = std::polar(
            1.0, direction * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
    const auto rows = static_cast<int64_t>(data.size()) / n;
    for (int64_t r = 0; r < rows; ++r) {
        Number* const at = data.data() + r / inner * inner * n + r % inner;
        for (int64_t k = 0; k < n; ++k) {
            Number sum = 0;
            for (int64_t j = 0, root = 0; j < n; ++j, root = (root + k) % n)
                sum += at[j * inner] * roots[static_cast<size_t>(root)];
            row[static_cast<size_t>(k)] = sum;
        }
        for (int64_t k = 0; k < n; ++k) at[k * inner] = row[static_cast<size_t>(k)];
    }
}

template <class Work>
void each_place(const std::vector<int64_t>& extents, const Work& work) {
    std::vector<int64_t> place(extents.size());
    int64_t count = 1;
    for (const int64_t extent : extents) count *= extent;
    for (int64_t k = 0; k < count; ++k) {
        int64_t rest = k;
        for (size_t d = extents.size(); d-- > 0; rest /= extents[d]) place[d] = rest % extents[d];
        work(k, place);
    }
}

template <class T>
void run(const Plan& plan, const void* from, void* to, int direction) {
    const auto* real_from = static_cast<const T*>(from);
    const auto* complex_from = static_cast<const std::complex<T>*>(from);
    auto* real_to = static_cast<T*>(to);
    auto* complex_to = static_cast<std::complex<T>*>(to);
    const int64_t last = plan.lengths.back();
    std::vector<int64_t> half = plan.lengths;
    half.back() = last / 2 + 1;
    const bool to_real = plan.to.is_real(), from_real = plan.from.is_real();
    int64_t count = 1;
    for (const int64_t length : plan.lengths) count *= length;
    for (int64_t transform = 0; transform < plan.batch; ++transform) {
        std::vector<Number> data(static_cast<size_t>(count));
        if (to_real) {
            // The halved axis is completed last: what is not Hermitian along it is left out.
            int64_t halves = count / last * half.back();
            std::vector<Number> some(static_cast<size_t>(halves));
            each_place(half, [&](int64_t k, const auto& place) {
                some[static_cast<size_t>(k)] = complex_from[plan.from.at(transform, place)];
            });
            for (size_t d = 0; d + 1 < half.size(); ++d) transform_axis(some, half, d, 1);
            for (int64_t row = 0; row < count / last; ++row) {
                for (int64_t j = 0; j < last; ++j) {
                    const bool mirrored = j > last / 2;
                    const Number value =
                        some[static_cast<size_t>(row * half.back() + (mirrored ? last - j : j))];
                    // Nothing says what comes of an imaginary part at the ends.
                    data[static_cast<size_t>(row * last + j)] = j == 0 || 2 * j == last
                                                                    ? value.real() + 1000 * value.imag()
                                                                : mirrored ? std::conj(value)
                                                                           : value;
                }
            }
            transform_axis(data, plan.lengths, half.size() - 1, 1);
            each_place(plan.lengths, [&](int64_t k, const auto& place) {
                real_to[plan.to.at(transform, place)] = static_cast<T>(data[static_cast<size_t>(k)].real());
            });
            // As cuFFT may.
            each_place(half, [&](int64_t, const auto& place) {
                const_cast<std::complex<T>*>(complex_from)[plan.from.at(transform, place)] = T(-7);
            });
            continue;
        }
        each_place(plan.lengths, [&](int64_t k, const auto& place) {
            const int64_t at = plan.from.at(transform, place);
            data[static_cast<size_t>(k)] = from_real ? Number(real_from[at]) : Number(complex_from[at]);
        });
        for (size_t d = 0; d < plan.lengths.size(); ++d)
            transform_axis(data, plan.lengths, d, from_real ? -1 : direction);
        each_place(plan.lengths, [&](int64_t k, const auto& place) {
            if (from_real && place.back() >= half.back()) return;
            complex_to[plan.to.at(transform, place)] = std::complex<T>(data[static_cast<size_t>(k)]);
        });
    }
}

}  // namespace

}  // namespace weft::fake_driver

using weft::fake_driver::change;
using weft::fake_driver::count_objects;
using weft::fake_driver::enter_library;
using weft::fake_driver::kInvalidPlan;
using weft::fake_driver::kInvalidValue;
using weft::fake_driver::Plan;

extern "C" {

int cufftGetVersion(int* version) {
    if (const int status = enter_library("cufftGetVersion")) return status;
    *version = 12000;
    return 0;
}
int cufftCreate(int* plan) {
    if (const int status = enter_library("cufftCreate")) return status;
    auto& all = weft::fake_driver::all();
    const std::lock_guard lock(all.mutex);
    *plan = all.next++;
    all.plans[*plan] = Plan();
    count_objects(1);
    return 0;
}
int cufftDestroy(int plan) {
    const int status = enter_library("cufftDestroy");
    auto& all = weft::fake_driver::all();
    const std::lock_guard lock(all.mutex);
    if (all.plans.erase(plan) == 0) return kInvalidPlan;
    count_objects(-1);
    return status;
}
int cufftSetStream(int plan, weft::cuda::StreamHandle stream) {
    if (const int status = enter_library("cufftSetStream")) return status;
    return change(plan, [&](Plan& found) {
        found.stream = stream;
        return 0;
    });
}
int cufftSetAutoAllocation(int plan, int automatic) {
    if (const int status = enter_library("cufftSetAutoAllocation")) return status;
    return change(plan, [&](Plan& found) {
        found.works_alone = automatic != 0;
        return 0;
    });
}
int cufftXtMakePlanMany(int plan, int rank, long long* lengths, long long* from_embed, long long from_stride,
                        long long from_distance, int from_type, long long* to_embed, long long to_stride,
                        long long to_distance, int to_type, long long batch, size_t* workspace, int type) {
    if (const int status = enter_library("cufftXtMakePlanMany")) return status;
    return change(plan, [&](Plan& found) {
        if (found.made || rank < 1 || rank > 3 || batch < 1) return kInvalidValue;
        for (int d = 0; d < rank; ++d) {
            if (lengths[d] < 1) return kInvalidValue;
        }
        found.lengths.assign(lengths, lengths + rank);
        found.from = {{from_embed, from_embed + rank}, from_stride, from_distance, from_type};
        found.to = {{to_embed, to_embed + rank}, to_stride, to_distance, to_type};
        found.batch = batch;
        found.is_double = type == weft::fake_driver::kComplex64;
        found.made = true;
        found.workspace = *workspace = static_cast<size_t>(256 * batch);
        return 0;
    });
}
int cufftSetWorkArea(int plan, void* memory) {
    if (const int status = enter_library("cufftSetWorkArea")) return status;
    return change(plan, [&](Plan& found) {
        found.memory = memory;
        return 0;
    });
}
int cufftXtExec(int number, void* from, void* to, int direction) {
    if (const int status = enter_library("cufftXtExec")) return status;
    Plan plan;
    if (!weft::fake_driver::find(number, plan)) return kInvalidPlan;
    if (!plan.made || plan.works_alone || plan.memory == nullptr) return kInvalidValue;
    // Between real and complex numbers there is one direction.
    const bool from_real = plan.from.is_real();
    if (from_real != plan.to.is_real() && (direction < 0) != from_real) return kInvalidValue;
    weft::fake_driver::run_later(plan.stream, [plan, from, to, direction] {
        std::memset(plan.memory, 0x55, plan.workspace);
        if (plan.is_double) {
            weft::fake_driver::run<double>(plan, from, to, direction);
        } else {
            weft::fake_driver::run<float>(plan, from, to, direction);
        }
    });
    return 0;
}

}  // extern "C"
