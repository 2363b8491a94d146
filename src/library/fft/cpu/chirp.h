// Long rows whose length has no two factors that are near each other, such as primes: as a convolution with a
// chirp, by transforms of a longer row that has such factors (Bluestein, A linear filtering approach to the
// computation of discrete Fourier transform, 1970).
#pragma once

#include <vector>

#include "library/fft/cpu/long_rows.h"

namespace weft::WEFT_VECTORS {

namespace {

template <class T>
AxisTransform along_dense_row(int64_t length) {
    AxisTransform t;
    t.length = t.filled = length;
    t.from_stride = t.to_stride = static_cast<int64_t>(sizeof(Cmplx<T>));
    return t;
}

template <class T>
class ChirpPlan {
public:
    ChirpPlan(size_t length, bool)
        : length_(static_cast<int64_t>(length)),
          padded_(static_cast<int64_t>(ducc::detail_fft::util1d::good_size_cmplx(2 * length - 1))),
          roots_(2 * length) {
        const auto plan = plan_of<LongPlan<T>>(padded_, true);
        if (plan->rows() == 0) return;
        const BufferPtr row = cpu_device().allocate(static_cast<size_t>(padded_) * sizeof(Cmplx<T>));
        auto* const numbers = reinterpret_cast<Cmplx<T>*>(row->data());
        in_parts(0, padded_, [&](int64_t first, int64_t last) {
            for (int64_t i = first; i < last; ++i) {
                const int64_t distance = std::min(i, padded_ - i);
                numbers[i] = distance < length_ ? at(distance).conj() : Cmplx<T>(T(0), T(0));
            }
        });
        transform_long_row<T>(along_dense_row<T>(padded_), *plan, row->data(), row->data());
        spectrum_.assign(numbers, numbers + padded_ / 2 + 1);
    }
    bool is_usable() const { return !spectrum_.empty(); }
    int64_t padded() const { return padded_; }
    // exp(-iπ k² / length), from the rest of k² so that long lengths are as exact as short ones.
    Cmplx<T> at(int64_t k) const {
        const auto square = static_cast<uint64_t>(k) * static_cast<uint64_t>(k);
        return roots_[square % (2 * static_cast<uint64_t>(length_))].conj();
    }
    // Of the chirp's conjugate, which is symmetric.
    Cmplx<T> spectrum(int64_t i) const { return spectrum_[static_cast<size_t>(std::min(i, padded_ - i))]; }
    size_t footprint() const { return roots_.footprint() + spectrum_.size() * sizeof(Cmplx<T>); }

private:
    int64_t length_, padded_;
    ducc::UnityRoots<T, Cmplx<T>> roots_;
    std::vector<Cmplx<T>> spectrum_;
};

template <class T>
Cmplx<T> product(const Cmplx<T>& a, const Cmplx<T>& b) {
    return {a.r * b.r - a.i * b.i, a.r * b.i + a.i * b.r};
}

// What load(i) says, transformed, to store(i, number). Backwards it is the conjugate of the conjugates'.
template <class T, class Load, class Store>
void transform_by_chirp(const ChirpPlan<T>& plan, int64_t length, bool forward, double scale,
                        const Load& load, const Store& store) {
    const int64_t padded = plan.padded();
    const auto long_plan = plan_of<LongPlan<T>>(padded, true);
    const BufferPtr row = cpu_device().allocate(static_cast<size_t>(padded) * sizeof(Cmplx<T>));
    auto* const numbers = reinterpret_cast<Cmplx<T>*>(row->data());
    const auto turned = [&](const Cmplx<T>& value) { return forward ? value : value.conj(); };
    in_parts(0, padded, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i)
            numbers[i] = i < length ? product(turned(load(i)), plan.at(i)) : Cmplx<T>(T(0), T(0));
    });
    AxisTransform t = along_dense_row<T>(padded);
    transform_long_row<T>(t, *long_plan, row->data(), row->data());
    in_parts(0, padded, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) numbers[i] = product(numbers[i], plan.spectrum(i));
    });
    t.forward = false;
    t.scale = scale / static_cast<double>(padded);
    transform_long_row<T>(t, *long_plan, row->data(), row->data());
    in_parts(0, length, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) store(i, turned(product(numbers[i], plan.at(i))));
    });
}

// False where the length has near factors, the padded length has none, or positions have no squares.
template <class T>
bool transform_row_by_chirp(const AxisTransform& t, const char* from, char* to) {
    if (t.length >= int64_t{1} << 32 || plan_of<LongPlan<T>>(t.length, true)->rows() != 0) return false;
    const auto plan = plan_of<ChirpPlan<T>>(t.length, true);
    if (!plan->is_usable()) return false;
    const int64_t half = t.length / 2;
    const auto input = [&](int64_t i) { return from + i * t.from_stride; };
    const auto output = [&](int64_t i) { return to + i * t.to_stride; };
    const Cmplx<T> zero(T(0), T(0));
    switch (t.kind) {
        case TransformKind::kComplexToReal: {
            const auto load = [&](int64_t i) {
                const int64_t place = std::min(i, t.length - i);
                if (place >= t.filled) return zero;
                const auto value = read<Cmplx<T>>(input(place));
                if (place == 0 || 2 * place == t.length) return Cmplx<T>(value.r, T(0));
                return (i == place) != t.forward ? value : value.conj();
            };
            transform_by_chirp<T>(*plan, t.length, false, t.scale, load,
                                  [&](int64_t i, const Cmplx<T>& value) { write(output(i), value.r); });
            return true;
        }
        case TransformKind::kComplex: {
            const auto load = [&](int64_t i) { return i < t.filled ? read<Cmplx<T>>(input(i)) : zero; };
            transform_by_chirp<T>(*plan, t.length, t.forward, t.scale, load,
                                  [&](int64_t i, const Cmplx<T>& value) { write(output(i), value); });
            return true;
        }
        default: {
            const bool whole = t.kind == TransformKind::kRealAsComplex;
            const auto load = [&](int64_t i) {
                return i < t.filled ? Cmplx<T>(read<T>(input(i)), T(0)) : zero;
            };
            // The second half is the first one's conjugate, exactly.
            transform_by_chirp<T>(*plan, t.length, t.forward, t.scale, load,
                                  [&](int64_t i, const Cmplx<T>& value) {
                                      if (i > half) return;
                                      const bool is_real = i == 0 || 2 * i == t.length;
                                      const Cmplx<T> number(value.r, is_real ? T(0) : value.i);
                                      write(output(i), number);
                                      if (whole && !is_real) write(output(t.length - i), number.conj());
                                  });
            return true;
        }
    }
}

// False for rows that are short, and where `transform_rows` finds no way to cut them.
template <class T>
bool transform_long_rows(const AxisTransform& t) {
    if (t.length < kLongRow) return false;
    const Rows rows(t);
    Bunch bunch;
    for (int64_t row = 0; row < rows.count(); ++row) {
        rows.place<1>(row, 1, bunch);
        if (!transform_row_as_matrix<T>(t, bunch.from[0], bunch.to[0]) &&
            !transform_row_by_chirp<T>(t, bunch.from[0], bunch.to[0]))
            return false;
    }
    return true;
}

}  // namespace

}  // namespace weft::WEFT_VECTORS
