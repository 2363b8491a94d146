#include "library/products/cpu/one_product.h"

#include <algorithm>
#include <type_traits>

#include "core/complex.h"
#include "core/scalar_traits.h"
#include "library/products/cpu/tiny_product.h"

namespace weft::cpu_product {

namespace {

constexpr int kRowMajor = 101;

template <class Function>
bool with_blas_type(ScalarType type, const Blas& library, const Function& function) {
    static const float one32[2] = {1, 0}, zero32[2] = {0, 0};
    static const double one64[2] = {1, 0}, zero64[2] = {0, 0};
    switch (type) {
        case ScalarType::kFloat32: function(library.f32, float{1}, float{0}, TypeTag<float>{}); return true;
        case ScalarType::kFloat64:
            function(library.f64, double{1}, double{0}, TypeTag<double>{});
            return true;
        case ScalarType::kComplex64:
            function(library.c64, static_cast<const void*>(one32), static_cast<const void*>(zero32),
                     TypeTag<void>{});
            return true;
        case ScalarType::kComplex128:
            function(library.c128, static_cast<const void*>(one64), static_cast<const void*>(zero64),
                     TypeTag<void>{});
            return true;
        default: return false;
    }
}

// What multiplication and addition are: integers wrap, bool is "and" and "or".
template <class T>
struct Arithmetic {
    static T multiply_add(T sum, T a, T b) {
        if constexpr (std::is_same_v<T, bool>) {
            return sum || (a && b);
        } else if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<uint64_t>(sum) +
                                  static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
        } else {
            return static_cast<T>(sum + a * b);
        }
    }
    static T add(T a, T b) {
        if constexpr (std::is_same_v<T, bool>) {
            return a || b;
        } else if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
        } else {
            return static_cast<T>(a + b);
        }
    }
    static T read(const char* from) {
        if constexpr (std::is_same_v<T, bool>) {
            return load<uint8_t>(from) != 0;
        } else {
            return load<T>(from);
        }
    }
};

template <class R>
struct Arithmetic<Complex<R>> {
    using T = Complex<R>;
    static T multiply_add(T sum, T a, T b) {
        return {sum.re + (a.re * b.re - a.im * b.im), sum.im + (a.re * b.im + a.im * b.re)};
    }
    static T add(T a, T b) { return {a.re + b.re, a.im + b.im}; }
    static T read(const char* from) { return load<T>(from); }
};

template <class T>
void multiply_plainly(const MatrixProduct& p) {
    for (int64_t i = 0; i < p.m; ++i) {
        for (int64_t j = 0; j < p.n; ++j) {
            const char* left = p.left + i * p.left_row;
            const char* right = p.right + j * p.right_column;
            T sum{};
            for (int64_t k = 0; k < p.k; ++k, left += p.left_step, right += p.right_step) {
                sum = Arithmetic<T>::multiply_add(sum, Arithmetic<T>::read(left), Arithmetic<T>::read(right));
            }
            std::memcpy(p.out + i * p.out_row + j * p.out_column, &sum, sizeof sum);
        }
    }
}

}  // namespace

std::string routine_name(ScalarType type, Routine routine) {
    const std::string letter = type == ScalarType::kFloat32     ? "s"
                               : type == ScalarType::kFloat64   ? "d"
                               : type == ScalarType::kComplex64 ? "c"
                                                                : "z";
    const bool complex = DType(type).is_complex();
    switch (routine) {
        case Routine::kGemm: return letter + "gemm";
        case Routine::kGemv: return letter + "gemv";
        case Routine::kDot: return letter + (complex ? "dotu" : "dot");
        default: return "product_" + std::string(DType(type).name());
    }
}

Matrix as_matrix(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride, int64_t itemsize) {
    if (rows == 1) row_stride = std::max<int64_t>(columns, 1) * itemsize;
    if (columns == 1) column_stride = itemsize;
    if (column_stride == itemsize && row_stride % itemsize == 0 && row_stride >= columns * itemsize)
        return {true, BlasTranspose::kNo, row_stride / itemsize};
    if (rows == 1) row_stride = itemsize;
    if (columns == 1) column_stride = std::max<int64_t>(rows, 1) * itemsize;
    if (row_stride == itemsize && column_stride % itemsize == 0 && column_stride >= rows * itemsize)
        return {true, BlasTranspose::kYes, column_stride / itemsize};
    return {};
}

bool is_vector(int64_t extent, int64_t stride, int64_t itemsize) {
    return extent == 1 || (stride > 0 && stride % itemsize == 0);
}

void call_gemm(const Blas& library, ScalarType type, int64_t itemsize, const MatrixProduct& p) {
    const Matrix left = as_matrix(p.m, p.k, p.left_row, p.left_step, itemsize);
    const Matrix right = as_matrix(p.k, p.n, p.right_step, p.right_column, itemsize);
    const int64_t leading = p.m == 1 ? p.n : p.out_row / itemsize;
    with_blas_type(type, library, [&](const auto& functions, auto one, auto zero, auto tag) {
        using T = typename decltype(tag)::Type;
        functions.gemm(kRowMajor, static_cast<int>(left.transpose), static_cast<int>(right.transpose), p.m,
                       p.n, p.k, one, reinterpret_cast<const T*>(p.left), left.leading,
                       reinterpret_cast<const T*>(p.right), right.leading, zero, reinterpret_cast<T*>(p.out),
                       leading);
    });
}

void call_gemv(const Blas& library, ScalarType type, int64_t itemsize, const MatrixProduct& p) {
    const Matrix left = as_matrix(p.m, p.k, p.left_row, p.left_step, itemsize);
    const bool transposed = left.transpose == BlasTranspose::kYes;
    const int64_t right_step = p.k == 1 ? 1 : p.right_step / itemsize;
    const int64_t out_step = p.m == 1 ? 1 : p.out_row / itemsize;
    with_blas_type(type, library, [&](const auto& functions, auto one, auto zero, auto tag) {
        using T = typename decltype(tag)::Type;
        functions.gemv(kRowMajor, static_cast<int>(left.transpose), transposed ? p.k : p.m,
                       transposed ? p.m : p.k, one, reinterpret_cast<const T*>(p.left), left.leading,
                       reinterpret_cast<const T*>(p.right), right_step, zero, reinterpret_cast<T*>(p.out),
                       out_step);
    });
}

void call_dot(const Blas& library, ScalarType type, int64_t itemsize, const MatrixProduct& p) {
    const int64_t left_step = p.k == 1 ? 1 : p.left_step / itemsize;
    const int64_t right_step = p.k == 1 ? 1 : p.right_step / itemsize;
    with_blas_type(type, library, [&](const auto& functions, auto, auto, auto tag) {
        using T = typename decltype(tag)::Type;
        const auto* left = reinterpret_cast<const T*>(p.left);
        const auto* right = reinterpret_cast<const T*>(p.right);
        if constexpr (std::is_void_v<T>) {
            functions.dot(p.k, left, left_step, right, right_step, p.out);
        } else {
            *reinterpret_cast<T*>(p.out) = functions.dot(p.k, left, left_step, right, right_step);
        }
    });
}

void multiply_plainly(ScalarType type, const MatrixProduct& product) {
    if (multiply_tiny_matrices(type, product)) return;
    visit_scalar_type(type, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (!is_half_float<T>) multiply_plainly<T>(product);
    });
}

void add_rows(ScalarType type, char* to, const char* from, int64_t count) {
    visit_scalar_type(type, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (!is_half_float<T>) {
            for (int64_t i = 0; i < count; ++i) {
                const T sum =
                    Arithmetic<T>::add(Arithmetic<T>::read(to + i * static_cast<int64_t>(sizeof(T))),
                                       Arithmetic<T>::read(from + i * static_cast<int64_t>(sizeof(T))));
                std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), &sum, sizeof sum);
            }
        }
    });
}

}  // namespace weft::cpu_product
