// The rows of an AxisTransform by ducc0's transforms of single rows, in vectors of the processor that the
// including file is compiled for. Rows lie side by side in the lanes of vectors; those that are left over go
// through the same steps one by one, so a row's bits do not depend on where it lies. A transform of few rows,
// or of long ones, takes each row by itself with a plan that uses vectors along the row.
//
// WEFT_VECTORS names the processor, and with it ducc0's namespace: what two files make of these templates is
// never taken for one.
#pragma once

#define DUCC0_NAMESPACE WEFT_VECTORS
#define DUCC0_NO_LOWLEVEL_THREADING
#include <ducc0/fft/fft.h>
#include <ducc0/infra/simd.h>

// Whole vectors are used, and of four lanes, which plans for single rows want. Other lengths are not
// compiled.
namespace WEFT_VECTORS::detail_fft {
template <typename T, size_t lanes>
constexpr bool simd_exists =
    detail_simd::simd_exists<T, lanes> && (lanes == 4 || lanes == detail_simd::native_simd<T>::size());
}

#include <ducc0/fft/fft1d_impl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/threads/thread_pool.h"
#include "core/threads/way_taken.h"
#include "device/devices.h"
#include "library/fft/cpu/plan_cache.h"
#include "library/fft/transform.h"

// Loops of ducc0's that its own threads would share are shared by weft's.
namespace WEFT_VECTORS::detail_threading {

namespace {

class OneRange final : public Scheduler {
public:
    OneRange(size_t low, size_t high) : range_(low, high) {}
    size_t num_threads() const override { return 1; }
    size_t thread_num() const override { return 0; }
    Range getNext() override { return std::exchange(range_, Range()); }

private:
    Range range_;
};

}  // namespace

inline void execStatic(size_t count, size_t threads, size_t, std::function<void(Scheduler&)> work) {
    constexpr size_t kMostParts = 64;  // by the shape alone
    const size_t parts = threads == 1 ? 1 : std::min(count, kMostParts);
    const auto part = [&](int64_t i) {
        const auto place = static_cast<size_t>(i);
        OneRange range(count * place / parts, count * (place + 1) / parts);
        work(range);
    };
    if (parts == 1) {
        part(0);
    } else if (parts != 0) {
        weft::parallel_for(static_cast<int64_t>(parts), part);
    }
}

}  // namespace WEFT_VECTORS::detail_threading

namespace weft::WEFT_VECTORS {

namespace {

namespace ducc = ::WEFT_VECTORS;

using ducc::Cmplx;

constexpr int64_t kMostLanes = 16;
// Rows are put in lanes when they are many enough and their numbers stay in a core's cache.
constexpr int64_t kLeastSideBySide = 4, kLongestSideBySide = 16384;
constexpr int64_t kSharedRow = 1 << 15;  // a row of this length, alone, is worth several threads
constexpr int64_t kTaskNumbers = 1 << 14, kMostTasks = 64;
constexpr size_t kNearBytes = 32768;

template <class T>
T read(const char* from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
}

template <class T>
void write(char* to, T value) {
    std::memcpy(to, &value, sizeof(T));
}

// Elements of so many numbers in a line of a cache.
template <class T, int parts>
constexpr int64_t kLine = 64 / (static_cast<int64_t>(sizeof(T)) * parts);

// Lanes of V rows: a vector, or one number.
template <class T, size_t V>
struct LanesOf {
    using type = typename ducc::simd_select<T, V>::type;
};
template <class T>
struct LanesOf<T, 1> {
    using type = T;
};
template <class T, size_t V>
using Lanes = typename LanesOf<T, V>::type;

template <class T>
constexpr size_t kLanes = ducc::native_simd<T>::size();

// Where the rows of a bunch lie.
struct Bunch {
    const char* from[kMostLanes];
    char* to[kMostLanes];
    int64_t from_step = 0, to_step = 0;  // from a row to the next, where that is always the same; else 0
};

// V rows of elements of `parts` numbers (2: complex) into lanes: the lanes of an element's first parts, then
// those of its second ones.
template <class T, size_t V, int parts>
void gather(const AxisTransform& t, const Bunch& bunch, T* lanes) {
    constexpr auto kElement = static_cast<int64_t>(parts * sizeof(T));
    constexpr auto kWidth = static_cast<int64_t>(parts * V);
    const int64_t stride = t.from_stride;
    if (V > 1 && bunch.from_step == kElement) {
        for (int64_t i = 0; i < t.filled; ++i) {
            T near[kWidth];
            std::memcpy(near, bunch.from[0] + i * stride, sizeof near);
            T* const to = lanes + i * kWidth;
            for (size_t j = 0; j < V; ++j)
                for (int part = 0; part < parts; ++part) to[part * V + j] = near[j * parts + part];
        }
    } else {
        int64_t i = 0;
        // Rows of a power of two lie in the same places of a cache, so a line is read whole at once.
        if (V > 1 && stride == kElement) {
            for (; i + kLine<T, parts> <= t.filled; i += kLine<T, parts>) {
                T near[V][kLine<T, parts> * parts];
                for (size_t j = 0; j < V; ++j)
                    std::memcpy(near[j], bunch.from[j] + i * stride, sizeof near[j]);
                T* const to = lanes + i * kWidth;
                for (int64_t k = 0; k < kLine<T, parts> * parts; ++k)
                    for (size_t j = 0; j < V; ++j)
                        to[k * static_cast<int64_t>(V) + static_cast<int64_t>(j)] = near[j][k];
            }
        }
        for (; i < t.filled; ++i) {
            T* const to = lanes + i * kWidth;
            for (size_t j = 0; j < V; ++j)
                for (int part = 0; part < parts; ++part)
                    to[part * V + j] =
                        read<T>(bunch.from[j] + i * stride + part * static_cast<int64_t>(sizeof(T)));
        }
    }
    std::fill(lanes + t.filled * kWidth, lanes + t.length * kWidth, T(0));
}

template <class T, size_t V, int parts>
void scatter(const AxisTransform& t, const T* lanes, const Bunch& bunch) {
    constexpr auto kElement = static_cast<int64_t>(parts * sizeof(T));
    const int64_t stride = t.to_stride;
    if (V > 1 && bunch.to_step == kElement) {
        for (int64_t i = 0; i < t.length; ++i) {
            T near[V * parts];
            const T* const from = lanes + i * (parts * static_cast<int64_t>(V));
            for (size_t j = 0; j < V; ++j)
                for (int part = 0; part < parts; ++part) near[j * parts + part] = from[part * V + j];
            std::memcpy(bunch.to[0] + i * stride, near, sizeof near);
        }
        return;
    }
    for (int64_t i = 0; i < t.length; ++i) {
        const T* const from = lanes + i * (parts * static_cast<int64_t>(V));
        for (size_t j = 0; j < V; ++j)
            for (int part = 0; part < parts; ++part)
                write(bunch.to[j] + i * stride + part * static_cast<int64_t>(sizeof(T)), from[part * V + j]);
    }
}

// Each kind of transform: its plan, what it has in a buffer, and the way in and out.

template <class T>
struct ComplexWork {
    using Number = T;
    using Plan = ducc::pocketfft_c<T>;
    template <size_t V>
    using Element = Cmplx<Lanes<T, V>>;

    template <size_t V>
    static void load(const AxisTransform& t, const Bunch& bunch, Element<V>* row) {
        gather<T, V, 2>(t, bunch, reinterpret_cast<T*>(row));
    }
    template <size_t V>
    static Element<V>* run(const AxisTransform& t, const Plan& plan, Element<V>* row, Element<V>* buffer,
                           size_t threads) {
        return plan.exec(row, buffer, static_cast<T>(t.scale), t.forward, threads);
    }
    template <size_t V>
    static void store(const AxisTransform& t, const Element<V>* row, const Bunch& bunch) {
        scatter<T, V, 2>(t, reinterpret_cast<const T*>(row), bunch);
    }
};

// Of real numbers the first half, or all.
template <class T, bool all>
struct RealToComplexWork {
    using Number = T;
    using Plan = ducc::pocketfft_r<T>;
    template <size_t V>
    using Element = Lanes<T, V>;

    template <size_t V>
    static void load(const AxisTransform& t, const Bunch& bunch, Element<V>* row) {
        gather<T, V, 1>(t, bunch, reinterpret_cast<T*>(row));
    }
    template <size_t V>
    static Element<V>* run(const AxisTransform& t, const Plan& plan, Element<V>* row, Element<V>* buffer,
                           size_t threads) {
        return plan.exec(row, buffer, static_cast<T>(t.scale), true, threads);
    }
    // The plan's order is r0, r1, i1, r2, i2 …; of an even length the last is real.
    template <size_t V>
    static void store(const AxisTransform& t, const Element<V>* row, const Bunch& bunch) {
        const T* const numbers = reinterpret_cast<const T*>(row);
        const int64_t stride = t.to_stride, half = t.length / 2;
        const auto put = [&](size_t j, int64_t i, T real, T imaginary) {
            char* const to = bunch.to[j] + i * stride;
            write(to, real);
            write(to + sizeof(T), imaginary);
        };
        for (size_t j = 0; j < V; ++j) put(j, 0, numbers[j], T(0));
        const int64_t pairs = (t.length - 1) / 2;
        for (int64_t i = 1; i <= pairs; ++i) {
            const T* const from = numbers + (2 * i - 1) * static_cast<int64_t>(V);
            for (size_t j = 0; j < V; ++j) {
                const T imaginary = t.forward ? from[V + j] : -from[V + j];
                put(j, i, from[j], imaginary);
                if constexpr (all) put(j, t.length - i, from[j], -imaginary);
            }
        }
        if (t.length % 2 == 0) {
            const T* const from = numbers + (t.length - 1) * static_cast<int64_t>(V);
            for (size_t j = 0; j < V; ++j) put(j, half, from[j], T(0));
        }
    }
};

template <class T>
struct ComplexToRealWork {
    using Number = T;
    using Plan = ducc::pocketfft_r<T>;
    template <size_t V>
    using Element = Lanes<T, V>;

    template <size_t V>
    static void load(const AxisTransform& t, const Bunch& bunch, Element<V>* row) {
        T* const numbers = reinterpret_cast<T*>(row);
        const int64_t stride = t.from_stride, half = t.length / 2;
        if (t.filled <= half) std::fill(numbers, numbers + t.length * static_cast<int64_t>(V), T(0));
        if (t.filled == 0) return;
        for (size_t j = 0; j < V; ++j) numbers[j] = read<T>(bunch.from[j]);
        const int64_t pairs = std::min((t.length - 1) / 2, t.filled - 1);
        for (int64_t i = 1; i <= pairs; ++i) {
            T* const to = numbers + (2 * i - 1) * static_cast<int64_t>(V);
            for (size_t j = 0; j < V; ++j) {
                const char* const from = bunch.from[j] + i * stride;
                const T imaginary = read<T>(from + sizeof(T));
                to[j] = read<T>(from);
                to[V + j] = t.forward ? -imaginary : imaginary;
            }
        }
        if (t.length % 2 == 0 && half < t.filled) {
            T* const to = numbers + (t.length - 1) * static_cast<int64_t>(V);
            for (size_t j = 0; j < V; ++j) to[j] = read<T>(bunch.from[j] + half * stride);
        }
    }
    template <size_t V>
    static Element<V>* run(const AxisTransform& t, const Plan& plan, Element<V>* row, Element<V>* buffer,
                           size_t threads) {
        return plan.exec(row, buffer, static_cast<T>(t.scale), false, threads);
    }
    template <size_t V>
    static void store(const AxisTransform& t, const Element<V>* row, const Bunch& bunch) {
        scatter<T, V, 1>(t, reinterpret_cast<const T*>(row), bunch);
    }
};

// Cosines and sines, whose plans share an interface.
template <class T, class P>
struct RealWork {
    using Number = T;
    using Plan = P;
    template <size_t V>
    using Element = Lanes<T, V>;

    template <size_t V>
    static void load(const AxisTransform& t, const Bunch& bunch, Element<V>* row) {
        gather<T, V, 1>(t, bunch, reinterpret_cast<T*>(row));
    }
    template <size_t V>
    static Element<V>* run(const AxisTransform& t, const Plan& plan, Element<V>* row, Element<V>* buffer,
                           size_t threads) {
        return plan.exec(row, buffer, static_cast<T>(t.scale), t.orthogonal, t.type,
                         t.kind == TransformKind::kCosine, threads);
    }
    template <size_t V>
    static void store(const AxisTransform& t, const Element<V>* row, const Bunch& bunch) {
        scatter<T, V, 1>(t, reinterpret_cast<const T*>(row), bunch);
    }
};

// Room for a row and what the plan needs beside it: on the stack for short rows.
template <class E>
class Room {
public:
    Room(size_t row, size_t buffer)
        : row_(row + 16 / sizeof(E)), far_((row_ + buffer) * sizeof(E) <= kNearBytes ? 0 : row_ + buffer) {}
    E* row() { return far_.size() == 0 ? reinterpret_cast<E*>(near_) : far_.data(); }
    E* buffer() { return row() + row_; }

private:
    size_t row_;
    ducc::aligned_array<E> far_;
    alignas(64) char near_[kNearBytes];
};

template <class Work, size_t V>
void run_bunch(const AxisTransform& t, const typename Work::Plan& plan, const Bunch& bunch,
               typename Work::template Element<V>* row, typename Work::template Element<V>* buffer,
               size_t threads) {
    Work::template load<V>(t, bunch, row);
    Work::template store<V>(t, Work::template run<V>(t, plan, row, buffer, threads), bunch);
}

// The other axes, in the order of the results, those as one that lie like one.
class Rows {
public:
    explicit Rows(const AxisTransform& t) : t_(t) {
        Dims order;
        for (size_t d = 0; d < t.rows.size(); ++d)
            if (t.rows[d] != 1) order.push_back(static_cast<int64_t>(d));
        std::ranges::sort(order, [&](int64_t a, int64_t b) {
            return std::abs(t.to_strides[static_cast<size_t>(a)]) <
                   std::abs(t.to_strides[static_cast<size_t>(b)]);
        });
        for (const int64_t axis : order) {
            const auto d = static_cast<size_t>(axis);
            count_ *= t.rows[d];
            if (!extents_.empty() && t.to_strides[d] == to_.back() * extents_.back() &&
                t.from_strides[d] == from_.back() * extents_.back()) {
                extents_.back() *= t.rows[d];
                continue;
            }
            extents_.push_back(t.rows[d]);
            from_.push_back(t.from_strides[d]);
            to_.push_back(t.to_strides[d]);
        }
    }

    int64_t count() const { return count_; }

    // Rows [row, row + count), and the last of them again up to V.
    template <size_t V>
    void place(int64_t row, int64_t count, Bunch& bunch) const {
        Dims position(extents_.size());
        const char* from = t_.from;
        char* to = t_.to;
        for (size_t d = 0, left = static_cast<size_t>(row); d < extents_.size(); ++d) {
            const auto extent = static_cast<size_t>(extents_[d]);
            position[d] = static_cast<int64_t>(left % extent);
            left /= extent;
            from += position[d] * from_[d];
            to += position[d] * to_[d];
        }
        for (int64_t j = 0; j < static_cast<int64_t>(V); ++j) {
            bunch.from[j] = from;
            bunch.to[j] = to;
            if (j + 1 >= count) continue;
            for (size_t d = 0; d < extents_.size(); ++d) {
                from += from_[d];
                to += to_[d];
                if (++position[d] < extents_[d]) break;
                from -= from_[d] * extents_[d];
                to -= to_[d] * extents_[d];
                position[d] = 0;
            }
        }
        bunch.from_step = bunch.to_step = 0;
        if (V > 1 && count == static_cast<int64_t>(V)) {
            bunch.from_step = bunch.from[1] - bunch.from[0];
            bunch.to_step = bunch.to[1] - bunch.to[0];
            for (size_t j = 2; j < V; ++j) {
                if (bunch.from[j] - bunch.from[j - 1] != bunch.from_step) bunch.from_step = 0;
                if (bunch.to[j] - bunch.to[j - 1] != bunch.to_step) bunch.to_step = 0;
            }
        }
    }

private:
    const AxisTransform& t_;
    int64_t count_ = 1;
    Dims extents_, from_, to_;
};

template <class Work>
void each_alone(const AxisTransform& t, const Rows& rows, int64_t first, int64_t last,
                const typename Work::Plan& plan, size_t threads) {
    using Element = typename Work::template Element<1>;
    Room<Element> room(static_cast<size_t>(t.length), plan.bufsize());
    Bunch bunch;
    for (int64_t row = first; row < last; ++row) {
        rows.place<1>(row, 1, bunch);
        run_bunch<Work, 1>(t, plan, bunch, room.row(), room.buffer(), threads);
    }
}

template <class Work, size_t V>
void side_by_side(const AxisTransform& t, const Rows& rows, int64_t first, int64_t last,
                  const typename Work::Plan& plan) {
    using Element = typename Work::template Element<V>;
    constexpr auto kMany = static_cast<int64_t>(V);
    Room<Element> room(static_cast<size_t>(t.length), plan.bufsize());
    Bunch bunch;
    int64_t row = first;
    for (; last - row > 1; row += kMany) {
        rows.place<V>(row, std::min(kMany, last - row), bunch);
        run_bunch<Work, V>(t, plan, bunch, room.row(), room.buffer(), 1);
    }
    if (row < last) each_alone<Work>(t, rows, row, last, plan, 1);
}

template <class Work>
void transform(const AxisTransform& t, bool in_parallel) {
    constexpr size_t V = kLanes<typename Work::Number>;
    const Rows rows(t);
    const int64_t count = rows.count();
    const bool alone = count < kLeastSideBySide || t.length > kLongestSideBySide;
    const auto plan = plan_of<typename Work::Plan>(t.length, alone);
    const auto run = [&](int64_t first, int64_t last, size_t threads) {
        if (alone)
            each_alone<Work>(t, rows, first, last, *plan, threads);
        else
            side_by_side<Work, V>(t, rows, first, last, *plan);
    };
    if (!in_parallel) return run(0, count, 1);
    if (count < kLeastSideBySide && t.length >= kSharedRow) {
        run(0, count, 0);
        way_taken = {"ducc0", "rows cut into shorter ones", num_threads()};
        return;
    }
    // Tasks of whole bunches.
    constexpr int64_t kBunch = kMostLanes;
    const int64_t bunches = alone ? count : (count + kBunch - 1) / kBunch;
    const int64_t tasks =
        std::clamp(count * t.length / kTaskNumbers, int64_t{1}, std::min(bunches, kMostTasks));
    way_taken = {"ducc0", nullptr, std::min<int64_t>(tasks, num_threads())};
    if (tasks == 1) return run(0, count, 1);
    const int64_t rows_each = alone ? 1 : kBunch;
    parallel_for(tasks, [&](int64_t task) {
        run(bunches * task / tasks * rows_each, std::min(count, bunches * (task + 1) / tasks * rows_each), 1);
    });
}

}  // namespace

}  // namespace weft::WEFT_VECTORS
