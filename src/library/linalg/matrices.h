// Matrices in memory, one or a batch of them, and what the factorisations of this folder share: copies into
// the column-major order of LAPACK and back, memory for it, and how a batch is cut among threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/scalar_traits.h"
#include "core/threads/thread_pool.h"
#include "core/threads/way_taken.h"
#include "device/device.h"
#include "library/linalg/lapack.h"
#include "weft/dims.h"
#include "weft/dtype.h"

namespace weft::lapack {

// A batch of matrices of one shape; strides count bytes. A vector is a matrix of one column.
struct Matrices {
    char* data = nullptr;
    int64_t rows = 0, columns = 0;
    int64_t row_stride = 0, column_stride = 0;
    Dims shape, strides;  // of the batch: none for one matrix

    int64_t count() const { return element_count(shape); }
    char* at(int64_t index) const {
        char* address = data;
        for (size_t d = shape.size(); d-- > 0; index /= shape[d]) address += index % shape[d] * strides[d];
        return address;
    }
    Matrices transposed() const {
        Matrices result = *this;
        std::swap(result.rows, result.columns);
        std::swap(result.row_stride, result.column_stride);
        return result;
    }
    // Whether the elements of a row are adjacent, so that copying the transposed matrix is cheap.
    bool by_rows(int64_t itemsize) const { return column_stride == itemsize && row_stride != itemsize; }
};

// Memory for `count` elements, from weft's pool: throws OutOfMemoryError.
template <class T>
class Room {
public:
    explicit Room(int64_t count)
        : buffer_(cpu_device().allocate(static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(T))),
          data_(reinterpret_cast<T*>(buffer_->data())) {}
    operator T*() const { return data_; }
    T* data() const { return data_; }

private:
    BufferPtr buffer_;
    T* data_;
};

// Calls `function` with the C++ type of LAPACK's for float32, float64, complex64 or complex128.
template <class Function>
decltype(auto) visit_type(ScalarType type, Function&& function) {
    switch (type) {
        case ScalarType::kFloat32: return function(TypeTag<float>{});
        case ScalarType::kComplex64: return function(TypeTag<std::complex<float>>{});
        case ScalarType::kComplex128: return function(TypeTag<std::complex<double>>{});
        default: return function(TypeTag<double>{});
    }
}

// Element (i, j) at from + i * row_stride + j * column_stride becomes the one at to + i * to_row + j *
// to_column; strides count bytes. Large matrices are shared by the threads.
void copy_matrix(int64_t itemsize, int64_t rows, int64_t columns, const char* from, int64_t row_stride,
                 int64_t column_stride, char* to, int64_t to_row, int64_t to_column);

// One matrix of a batch in column-major order with `leading` elements from column to column, and back.
template <class T>
void take(const Matrices& from, int64_t index, T* to, int64_t leading) {
    copy_matrix(sizeof(T), from.rows, from.columns, from.at(index), from.row_stride, from.column_stride,
                reinterpret_cast<char*>(to), sizeof(T), leading * static_cast<int64_t>(sizeof(T)));
}
template <class T>
void give(const T* from, int64_t leading, const Matrices& to, int64_t index) {
    copy_matrix(sizeof(T), to.rows, to.columns, reinterpret_cast<const char*>(from), sizeof(T),
                leading * static_cast<int64_t>(sizeof(T)), to.at(index), to.row_stride, to.column_stride);
}
// Whether a matrix lies as `take` would leave it.
template <class T>
bool is_by_columns(const Matrices& matrices) {
    return matrices.row_stride == static_cast<int64_t>(sizeof(T)) &&
           matrices.column_stride == matrices.rows * matrices.row_stride;
}
// What NumPy leaves where a matrix has no result.
template <class T>
void fill(const Matrices& to, int64_t index, T value) {
    char* const address = to.at(index);
    for (int64_t i = 0; i < to.rows; ++i) {
        for (int64_t j = 0; j < to.columns; ++j)
            *reinterpret_cast<T*>(address + i * to.row_stride + j * to.column_stride) = value;
    }
}
template <class T>
constexpr T kNan = T(std::numeric_limits<Real<T>>::quiet_NaN());

// LAPACK wants leading dimensions of one at least.
inline int64_t leading(int64_t rows) { return std::max<int64_t>(rows, 1); }

// A workspace of the size that LAPACK asked for in the first element of one.
template <class T>
int64_t asked_size(const T& answer) {
    return std::max<int64_t>(static_cast<int64_t>(std::ceil(std::real(answer))), 1);
}

// As weft.explain names it.
inline constexpr const char* kLapack = "LAPACK (OpenBLAS)";

// Runs work(first, last) for all of `count` matrices, in pieces on the threads of the pool, if each takes
// `operations` floating-point operations. No piece depends on the number of threads.
template <class Work>
void share_matrices(int64_t count, double operations, const Work& work) {
    constexpr double kPiece = 1e5;  // operations that are worth a task
    const int64_t each = std::max<int64_t>(1, static_cast<int64_t>(kPiece / std::max(operations, 1.0)));
    const int64_t pieces = (count + each - 1) / each;
    const int64_t threads = std::max<int64_t>(std::min<int64_t>(pieces, num_threads()), 1);
    const BlasThreads inside(library(), threads);
    if (pieces == 1) {
        way_taken = {kLapack, nullptr, 1};  // unless `work` has a way of its own
        return work(int64_t{0}, count);
    }
    parallel_for(pieces, [&](int64_t piece) { work(piece * each, std::min(count, (piece + 1) * each)); });
    way_taken = {kLapack, "each matrix by one thread", threads};
}

}  // namespace weft::lapack
