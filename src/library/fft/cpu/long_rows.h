// Long rows: as matrices of complex numbers, whose columns and then rows are transformed by rows.h. Threads
// share both. Real numbers go two by two.
#pragma once

#include <vector>

#include "library/fft/cpu/rows.h"

namespace weft::WEFT_VECTORS {

namespace {

constexpr int64_t kLongRow = 1 << 16;  // complex numbers

// A long row of n1 * n2 complex numbers as a matrix: its columns are transformed, multiplied by roots of
// unity, and then its rows. Threads share both passes, and each stays in a core's cache.
template <class T>
class LongPlan {
public:
    static constexpr size_t V = kLanes<T>;

    LongPlan(size_t length, bool) : roots_(length) {
        for (size_t n = static_cast<size_t>(std::sqrt(static_cast<double>(length))) + 1; n >= 64; --n) {
            if (length % n != 0) continue;
            columns_ = n;
            break;
        }
        near_roots_.resize(2 * V * columns_);
        for (size_t i = 0; i < columns_; ++i) {
            for (size_t j = 0; j < V; ++j) {
                const Cmplx<T> root = roots_[i * j % length];
                near_roots_[2 * V * i + j] = root.r;
                near_roots_[2 * V * i + V + j] = root.i;
            }
        }
    }
    // Of the columns, and of the rows: 0 where the length has no two factors that are near.
    int64_t rows() const { return columns_ == 0 ? 0 : static_cast<int64_t>(roots_.size() / columns_); }
    int64_t columns() const { return static_cast<int64_t>(columns_); }
    const ducc::UnityRoots<T, Cmplx<T>>& roots() const { return roots_; }
    // Of element i of a column, what columns beside one another differ by: V real parts, V imaginary ones.
    const T* near_roots(int64_t i) const { return near_roots_.data() + 2 * V * static_cast<size_t>(i); }
    size_t footprint() const { return roots_.footprint() + near_roots_.size() * sizeof(T); }

private:
    ducc::UnityRoots<T, Cmplx<T>> roots_;
    std::vector<T> near_roots_{};
    size_t columns_ = 0;
};

template <class T>
struct ColumnTransform : AxisTransform {
    const LongPlan<T>* plan = nullptr;
};

// The columns: stored with their roots of unity.
template <class T>
struct ColumnWork : ComplexWork<T> {
    template <size_t V>
    using Element = Cmplx<Lanes<T, V>>;

    template <size_t V>
    static void store(const AxisTransform& t, const Element<V>* row, const Bunch& bunch) {
        const LongPlan<T>& plan = *static_cast<const ColumnTransform<T>&>(t).plan;
        const auto& roots = plan.roots();
        const T* const numbers = reinterpret_cast<const T*>(row);
        const T sign = t.forward ? T(-1) : T(1);
        if constexpr (V > 1 && V == LongPlan<T>::V) {
            if (bunch.to_step == static_cast<int64_t>(2 * sizeof(T)))
                return store_beside(t, plan, numbers, sign, bunch);
        }
        size_t places[V];
        for (size_t j = 0; j < V; ++j)
            places[j] = static_cast<size_t>((bunch.to[j] - t.to) / static_cast<int64_t>(2 * sizeof(T)));
        for (int64_t i = 0; i < t.length; ++i) {
            const T* const from = numbers + 2 * i * static_cast<int64_t>(V);
            T near[2 * V];
            for (size_t j = 0; j < V; ++j) {
                const Cmplx<T> root = roots[static_cast<size_t>(i) * places[j]];
                const T imaginary = sign * root.i;
                near[2 * j] = from[j] * root.r - from[V + j] * imaginary;
                near[2 * j + 1] = from[j] * imaginary + from[V + j] * root.r;
            }
            for (size_t j = 0; j < V; ++j)
                std::memcpy(bunch.to[j] + i * t.to_stride, near + 2 * j, 2 * sizeof(T));
        }
    }

    // Columns beside one another: their roots are that of the first one times others that all bunches share.
    static void store_beside(const AxisTransform& t, const LongPlan<T>& plan, const T* numbers, T sign,
                             const Bunch& bunch) {
        constexpr size_t V = LongPlan<T>::V;
        const auto first = static_cast<size_t>((bunch.to[0] - t.to) / static_cast<int64_t>(2 * sizeof(T)));
        for (int64_t i = 0; i < t.length; ++i) {
            const T* const from = numbers + 2 * i * static_cast<int64_t>(V);
            const T* const beside = plan.near_roots(i);
            const Cmplx<T> root = plan.roots()[static_cast<size_t>(i) * first];
            T near[2 * V];
            for (size_t j = 0; j < V; ++j) {
                const T real = root.r * beside[j] - root.i * beside[V + j];
                const T imaginary = sign * (root.r * beside[V + j] + root.i * beside[j]);
                near[2 * j] = from[j] * real - from[V + j] * imaginary;
                near[2 * j + 1] = from[j] * imaginary + from[V + j] * real;
            }
            std::memcpy(bunch.to[0] + i * t.to_stride, near, sizeof near);
        }
    }
};

// The row from where its numbers follow one another: itself, or a copy with the zeros behind it.
template <class Element>
const char* dense_row(const AxisTransform& t, const char* from, int64_t length, BufferPtr& held) {
    constexpr auto kElement = static_cast<int64_t>(sizeof(Element));
    if (t.from_stride == kElement && t.filled >= length) return from;
    held = cpu_device().allocate(static_cast<size_t>(length * kElement));
    char* const to = held->data();
    const int64_t count = std::min(t.filled, length);
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * kElement, from + i * t.from_stride, kElement);
    std::memset(to + count * kElement, 0, static_cast<size_t>((length - count) * kElement));
    return to;
}

template <class T>
void transform_long_row(const AxisTransform& t, const LongPlan<T>& plan, const char* from, char* to) {
    constexpr auto kElement = static_cast<int64_t>(sizeof(Cmplx<T>));
    const int64_t rows = plan.rows(), columns = plan.columns();
    BufferPtr filled;
    int64_t stride = t.from_stride;
    if (t.filled < t.length) {
        from = dense_row<Cmplx<T>>(t, from, t.length, filled);
        stride = kElement;
    }
    const BufferPtr between = cpu_device().allocate(static_cast<size_t>(t.length * kElement));
    ColumnTransform<T> first;
    first.forward = t.forward;
    first.length = first.filled = columns;
    first.from = from;
    first.from_stride = rows * stride;
    first.rows = {rows};
    first.from_strides = {stride};
    first.to = between->data();
    first.to_stride = rows * kElement;
    first.to_strides = {kElement};
    first.plan = &plan;
    transform<ColumnWork<T>>(first, true);
    AxisTransform second;
    second.forward = t.forward;
    second.scale = t.scale;
    second.length = second.filled = rows;
    second.from = between->data();
    second.from_stride = kElement;
    second.rows = {columns};
    second.from_strides = {rows * kElement};
    second.to = to;
    second.to_stride = columns * t.to_stride;
    second.to_strides = {t.to_stride};
    transform<ComplexWork<T>>(second, true);
}

// work(first, last) for parts of [first, last), on weft's threads.
template <class Work>
void in_parts(int64_t first, int64_t last, const Work& work) {
    const int64_t count = last - first;
    const int64_t tasks = std::clamp(count / kTaskNumbers, int64_t{1}, kMostTasks);
    parallel_for(
        tasks, [&](int64_t task) { work(first + count * task / tasks, first + count * (task + 1) / tasks); });
}

// Two real numbers as one complex number, and their transform taken apart.
template <class T>
bool transform_long_real_row(const AxisTransform& t, const char* from, char* to) {
    const int64_t half = t.length / 2;
    const auto plan = plan_of<LongPlan<T>>(half, true);
    if (plan->rows() == 0) return false;
    const auto all = plan_of<LongPlan<T>>(t.length, true);
    BufferPtr held;
    AxisTransform pairs;
    pairs.length = pairs.filled = half;
    pairs.scale = t.scale;
    pairs.from = dense_row<T>(t, from, t.length, held);
    pairs.from_stride = static_cast<int64_t>(2 * sizeof(T));
    pairs.to = to;
    pairs.to_stride = t.to_stride;
    transform_long_row<T>(pairs, *plan, pairs.from, to);
    const auto at = [&](int64_t i) { return to + i * t.to_stride; };
    const bool whole = t.kind == TransformKind::kRealAsComplex;
    const T sign = t.forward ? T(1) : T(-1);
    const auto put = [&](int64_t i, T real, T imaginary) {
        write(at(i), Cmplx<T>(real, sign * imaginary));
        if (whole && i != 0 && i != half) write(at(t.length - i), Cmplx<T>(real, -sign * imaginary));
    };
    const auto zeroth = read<Cmplx<T>>(at(0));
    in_parts(1, half / 2 + 1, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
            const auto a = read<Cmplx<T>>(at(i)), b = read<Cmplx<T>>(at(half - i)).conj();
            const Cmplx<T> even = (a + b) * T(0.5), odd = (a - b) * T(0.5);
            const Cmplx<T> turned = Cmplx<T>(odd.i, -odd.r) * all->roots()[static_cast<size_t>(i)].conj();
            put(i, even.r + turned.r, even.i + turned.i);
            if (half - i != i) put(half - i, even.r - turned.r, turned.i - even.i);
        }
    });
    put(0, zeroth.r + zeroth.i, T(0));
    put(half, zeroth.r - zeroth.i, T(0));
    return true;
}

// The opposite.
template <class T>
bool transform_long_row_to_real(const AxisTransform& t, const char* from, char* to) {
    const int64_t half = t.length / 2;
    const auto plan = plan_of<LongPlan<T>>(half, true);
    if (plan->rows() == 0) return false;
    const auto all = plan_of<LongPlan<T>>(t.length, true);
    constexpr auto kElement = static_cast<int64_t>(sizeof(Cmplx<T>));
    const BufferPtr pairs = cpu_device().allocate(static_cast<size_t>(half * kElement));
    const T sign = t.forward ? T(-1) : T(1);
    const auto at = [&](int64_t i) {
        if (i >= t.filled) return Cmplx<T>(T(0), T(0));
        const auto value = read<Cmplx<T>>(from + i * t.from_stride);
        return i == 0 || i == half ? Cmplx<T>(value.r, T(0)) : Cmplx<T>(value.r, sign * value.i);
    };
    in_parts(0, half, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
            const Cmplx<T> a = at(i), b = at(half - i).conj();
            const Cmplx<T> odd = (a - b) * all->roots()[static_cast<size_t>(i)];
            write(pairs->data() + i * kElement, Cmplx<T>(a.r + b.r - odd.i, a.i + b.i + odd.r));
        }
    });
    AxisTransform back;
    back.forward = false;
    back.length = back.filled = half;
    back.scale = t.scale;
    back.from_stride = back.to_stride = kElement;
    const bool is_dense = t.to_stride == static_cast<int64_t>(sizeof(T));
    const BufferPtr dense = is_dense ? nullptr : cpu_device().allocate(static_cast<size_t>(half * kElement));
    char* const numbers = is_dense ? to : dense->data();
    transform_long_row<T>(back, *plan, pairs->data(), numbers);
    for (int64_t i = 0; !is_dense && i < t.length; ++i)
        write(to + i * t.to_stride, read<T>(numbers + i * static_cast<int64_t>(sizeof(T))));
    return true;
}

// False where the length has no two factors that are near each other.
template <class T>
bool transform_row_as_matrix(const AxisTransform& t, const char* from, char* to) {
    if (t.kind == TransformKind::kComplex) {
        const auto plan = plan_of<LongPlan<T>>(t.length, true);
        if (plan->rows() == 0) return false;
        transform_long_row<T>(t, *plan, from, to);
        return true;
    }
    if (t.length < 2 * kLongRow || t.length % 2 != 0) return false;
    return t.kind == TransformKind::kComplexToReal ? transform_long_row_to_real<T>(t, from, to)
                                                   : transform_long_real_row<T>(t, from, to);
}

}  // namespace

}  // namespace weft::WEFT_VECTORS
