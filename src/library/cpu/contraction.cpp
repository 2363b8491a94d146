#include "library/contraction.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "core/complex.h"
#include "core/scalar_traits.h"
#include "core/thread_pool.h"
#include "device/device.h"
#include "library/blas.h"
#include "library/cpu/tile_product.h"
#include "weft/errors.h"

namespace weft {

namespace {

constexpr int kRowMajor = 101;

// ---- axes ----

enum Walker : size_t { kLeft, kRight, kOut };

struct Axis {
    int64_t extent = 1;
    std::array<int64_t, 3> stride{};  // by Walker
};
using Axes = std::vector<Axis>;

bool joins(const Axis& outer, const Axis& inner, std::span<const Walker> walkers) {
    return std::all_of(walkers.begin(), walkers.end(), [&](Walker walker) {
        return outer.stride[walker] == inner.stride[walker] * inner.extent;
    });
}

bool all_join(const Axes& axes, Walker walker) {
    for (size_t k = 0; k + 1 < axes.size(); ++k) {
        if (!joins(axes[k], axes[k + 1], std::array{walker})) return false;
    }
    return true;
}

// Neighbours that every walker takes as one become one.
void join_axes(Axes& axes) {
    Axes joined;
    for (const Axis& axis : axes) {
        if (!joined.empty() && joins(joined.back(), axis, std::array{kLeft, kRight, kOut})) {
            joined.back().extent *= axis.extent;
            joined.back().stride = axis.stride;
        } else {
            joined.push_back(axis);
        }
    }
    axes = std::move(joined);
}

void sort_by(Axes& axes, Walker walker) {
    std::stable_sort(axes.begin(), axes.end(), [&](const Axis& a, const Axis& b) {
        return std::abs(a.stride[walker]) > std::abs(b.stride[walker]);
    });
}

int64_t extent_of(const Axes& axes) {
    int64_t extent = 1;
    for (const Axis& axis : axes) extent *= axis.extent;
    return extent;
}

struct Problem {
    ScalarType type;
    int64_t itemsize;
    std::array<const char*, 2> operand;
    char* out;
    Axes batch, m, n, k;

    Axes& own(Walker walker) { return walker == kLeft ? m : n; }
};

// ---- packing ----

template <size_t size>
void copy_row(char* to, const char* from, int64_t stride, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
        std::memcpy(to + i * static_cast<int64_t>(size), from + i * stride, size);
}

void copy_row(char* to, const char* from, int64_t stride, int64_t count, int64_t itemsize) {
    if (stride == itemsize) {
        std::memcpy(to, from, static_cast<size_t>(count * itemsize));
        return;
    }
    switch (itemsize) {
        case 1: copy_row<1>(to, from, stride, count); break;
        case 2: copy_row<2>(to, from, stride, count); break;
        case 4: copy_row<4>(to, from, stride, count); break;
        case 8: copy_row<8>(to, from, stride, count); break;
        default: copy_row<16>(to, from, stride, count); break;
    }
}

// Copies the operand into dense memory: its batch axes, then its own, then k. Changes its strides
// accordingly.
BufferPtr pack(Problem& problem, Walker walker) {
    std::vector<Axis*> axes;
    for (Axis& axis : problem.batch) {
        if (axis.stride[walker] != 0) axes.push_back(&axis);
    }
    for (Axis& axis : problem.own(walker)) axes.push_back(&axis);
    for (Axis& axis : problem.k) axes.push_back(&axis);
    const int64_t itemsize = problem.itemsize;
    int64_t rows = 1;
    for (size_t d = 0; d + 1 < axes.size(); ++d) rows *= axes[d]->extent;
    const int64_t count = axes.empty() ? 1 : axes.back()->extent;
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(rows * count * itemsize));
    const char* from = problem.operand[walker];
    const int64_t stride = axes.empty() ? 0 : axes.back()->stride[walker];
    constexpr int64_t kElementsPerTask = 1 << 16;
    const int64_t rows_per_task = std::max<int64_t>(1, kElementsPerTask / count);
    parallel_for((rows + rows_per_task - 1) / rows_per_task, [&](int64_t task) {
        for (int64_t row = task * rows_per_task; row < std::min(rows, (task + 1) * rows_per_task); ++row) {
            const char* start = from;
            int64_t rest = row;
            for (size_t d = axes.size(); d-- > 1;) {
                start += rest % axes[d - 1]->extent * axes[d - 1]->stride[walker];
                rest /= axes[d - 1]->extent;
            }
            copy_row(buffer->data() + row * count * itemsize, start, stride, count, itemsize);
        }
    });
    int64_t dense = itemsize;
    for (size_t d = axes.size(); d-- > 0;) {
        axes[d]->stride[walker] = dense;
        dense *= axes[d]->extent;
    }
    problem.operand[walker] = buffer->data();
    return buffer;
}

class Packer {
public:
    Packer(Problem& problem, ContractionReport& report) : problem_(problem), report_(report) {}
    void pack(Walker walker) {
        if (held_[walker] != nullptr) return;
        held_[walker] = weft::pack(problem_, walker);
        ++report_.packed_operands;
        report_.packed_bytes += static_cast<int64_t>(held_[walker]->size());
    }

    void swap_operands() { std::swap(held_[kLeft], held_[kRight]); }

private:
    Problem& problem_;
    ContractionReport& report_;
    std::array<BufferPtr, 2> held_;
};

// ---- from many axes to matrices ----

// k: one axis for both operands, in the order that needs the fewest bytes packed.
void join_reduced(Problem& problem, Packer& packer) {
    sort_by(problem.k, kRight);
    Axes by_right = problem.k;
    sort_by(problem.k, kLeft);
    const int64_t m = extent_of(problem.m), n = extent_of(problem.n);
    const auto cost = [&](const Axes& axes) {
        return (all_join(axes, kLeft) ? 0 : m) + (all_join(axes, kRight) ? 0 : n);
    };
    if (cost(by_right) < cost(problem.k)) problem.k = std::move(by_right);
    for (const Walker walker : {kLeft, kRight}) {
        if (!all_join(problem.k, walker)) packer.pack(walker);
    }
    join_axes(problem.k);
}

// m or n: one axis. Others become batch axes, unless the products would be small and a packed copy makes one
// of them.
void join_own(Problem& problem, Walker walker, Packer& packer) {
    Axes& axes = problem.own(walker);
    if (axes.size() > 1 && all_join(axes, kOut) && !all_join(axes, walker)) {
        constexpr int64_t kWorthACall = 64 * 64 * 64;
        const int64_t others =
            extent_of(problem.own(walker == kLeft ? kRight : kLeft)) * extent_of(problem.k);
        Axes joined = axes;
        join_axes(joined);
        int64_t longest = 1;
        for (const Axis& axis : joined) longest = std::max(longest, axis.extent);
        if (longest * others < kWorthACall) packer.pack(walker);
    }
    join_axes(axes);
    while (axes.size() > 1) {
        const auto shortest = std::min_element(
            axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.extent < b.extent; });
        problem.batch.push_back(*shortest);
        axes.erase(shortest);
    }
}

// ---- one matrix product ----

struct Matrix {
    bool fits = false;
    BlasTranspose transpose = BlasTranspose::kNo;
    int64_t leading = 1;  // elements
};

// How BLAS can be told of a matrix of rows * columns elements.
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

// Strides have been checked: as_matrix fits, the result's columns are dense.
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

// n is 1.
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

// m and n are 1.
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

template <class T>
T load(const char* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
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

void multiply_plainly(ScalarType type, const MatrixProduct& product) {
    visit_scalar_type(type, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (!is_short_float<T>) multiply_plainly<T>(product);
    });
}

constexpr int64_t kTinySteps = 16, kTinyProducts = 512;  // beyond, OpenBLAS is faster than plain loops

// ---- tasks ----

enum class Routine { kPlain, kTile, kGemm, kGemv, kDot };

// How the work is cut. By shapes alone, never by the number of threads.
struct Tiling {
    int64_t rows, columns, steps;  // of a tile, of m, n and k
    int64_t row_tiles, column_tiles, parts;
    int64_t batches;  // matrix products of one task
};

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t even_tile(int64_t extent, int64_t tile) {
    if (tile >= extent) return extent;
    constexpr int64_t kMultiple = 16;  // of the rows of OpenBLAS's inner kernels
    const int64_t even = ceil_divide(extent, ceil_divide(extent, tile));
    return std::min(extent, ceil_divide(even, kMultiple) * kMultiple);
}

Tiling choose_tiling(Routine routine, int64_t batch, int64_t m, int64_t n, int64_t k) {
    constexpr int64_t kTile = 512, kShortTile = 128;
    constexpr int64_t kTaskWork = 1 << 20;   // multiplications that are worth a task
    constexpr int64_t kLargeTask = 1 << 22;  // beyond, a task is halved while there are few
    constexpr int64_t kFewTasks = 8;
    int64_t rows = std::min(m, kTile), columns = std::min(n, kTile);
    if (routine == Routine::kGemv || routine == Routine::kDot) {
        constexpr int64_t kMemoryWork = 1 << 17;  // as many elements are read
        rows = std::clamp<int64_t>(kMemoryWork / k, 1, m);
    } else {
        while (rows * columns * k < kTaskWork && (rows < m || columns < n)) {
            if (rows < m) rows = std::min(m, rows * 2);
            if (rows * columns * k < kTaskWork && columns < n) columns = std::min(n, columns * 2);
        }
        while (batch * ceil_divide(m, rows) * ceil_divide(n, columns) < kFewTasks &&
               rows * columns * k > kLargeTask && std::max(rows, columns) > kShortTile) {
            int64_t& longer = rows >= columns ? rows : columns;
            longer = ceil_divide(longer, 2);
        }
    }
    rows = even_tile(m, rows);
    columns = even_tile(n, columns);
    Tiling tiling{rows, columns, k, ceil_divide(m, rows), ceil_divide(n, columns), 1, 1};
    const int64_t tasks = batch * tiling.row_tiles * tiling.column_tiles;
    // Few results of many products each: k is cut, and the parts are added in pairs.
    constexpr int64_t kShortestPart = 4096, kPartWork = 1 << 21, kMostPartElements = 1 << 22;
    constexpr int64_t kDotPart = 1 << 15;
    const int64_t steps = m * n == 1 ? kDotPart : std::max(kShortestPart, kPartWork / (m * n));
    if (routine != Routine::kPlain && tasks < kFewTasks && k >= 2 * steps &&
        ceil_divide(k, steps) * m * n * batch <= kMostPartElements) {
        tiling.parts = ceil_divide(k, steps);
        tiling.steps = steps;
    }
    const int64_t work = rows * columns * tiling.steps;
    if (tiling.row_tiles * tiling.column_tiles * tiling.parts == 1)
        tiling.batches =
            std::clamp<int64_t>(kTaskWork / std::max<int64_t>(work, 1) / 8, 1, std::max<int64_t>(batch, 1));
    return tiling;
}

void add_rows(ScalarType type, char* to, const char* from, int64_t count) {
    visit_scalar_type(type, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (!is_short_float<T>) {
            for (int64_t i = 0; i < count; ++i) {
                const T sum =
                    Arithmetic<T>::add(Arithmetic<T>::read(to + i * static_cast<int64_t>(sizeof(T))),
                                       Arithmetic<T>::read(from + i * static_cast<int64_t>(sizeof(T))));
                std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), &sum, sizeof sum);
            }
        }
    });
}

struct Offsets {
    int64_t left = 0, right = 0, out = 0;
};

Offsets batch_offsets(const Axes& batch, int64_t index) {
    Offsets offsets;
    for (size_t d = batch.size(); d-- > 0;) {
        const int64_t position = index % batch[d].extent;
        index /= batch[d].extent;
        offsets.left += position * batch[d].stride[kLeft];
        offsets.right += position * batch[d].stride[kRight];
        offsets.out += position * batch[d].stride[kOut];
    }
    return offsets;
}

class Runner {
public:
    Runner(ScalarType type, int64_t itemsize, Routine routine, const Blas* library)
        : type_(type),
          itemsize_(itemsize),
          routine_(routine),
          library_(library),
          tile_(tile_function(type)) {}

    void multiply(const MatrixProduct& product) const {
        switch (routine_) {
            case Routine::kPlain: multiply_plainly(type_, product); break;
            case Routine::kTile: tile_(product); break;
            case Routine::kGemm: call_gemm(*library_, type_, itemsize_, product); break;
            case Routine::kGemv: call_gemv(*library_, type_, itemsize_, product); break;
            case Routine::kDot: call_dot(*library_, type_, itemsize_, product); break;
        }
    }

    // Runs the product for every index of the batch.
    void run(const MatrixProduct& whole, const Axes& batch, const Tiling& tiling,
             const TileWork* tile_work) const {
        const int64_t count = extent_of(batch), tiles = tiling.row_tiles * tiling.column_tiles * tiling.parts;
        const int64_t groups = ceil_divide(count, tiling.batches);
        BufferPtr parts;
        const int64_t part_bytes = whole.m * whole.n * itemsize_;
        if (tiling.parts > 1)
            parts = cpu_device().allocate(static_cast<size_t>(part_bytes * tiling.parts * count));
        constexpr double kWorthWaking = 1 << 17;
        const bool alone = static_cast<double>(whole.m) * static_cast<double>(whole.n) *
                               static_cast<double>(whole.k) * static_cast<double>(count) <
                           kWorthWaking;
        const auto task = [&](int64_t number) {
            const int64_t group = number / tiles, tile = number % tiles;
            const int64_t part = tile % tiling.parts, place = tile / tiling.parts;
            const int64_t row = place / tiling.column_tiles * tiling.rows;
            const int64_t column = place % tiling.column_tiles * tiling.columns, step = part * tiling.steps;
            for (int64_t index = group * tiling.batches;
                 index < std::min(count, (group + 1) * tiling.batches); ++index) {
                const Offsets offsets = batch_offsets(batch, index);
                MatrixProduct product = whole;
                product.m = std::min(tiling.rows, whole.m - row);
                product.n = std::min(tiling.columns, whole.n - column);
                product.k = std::min(tiling.steps, whole.k - step);
                product.left += offsets.left + row * whole.left_row + step * whole.left_step;
                product.right += offsets.right + column * whole.right_column + step * whole.right_step;
                BufferPtr own;
                if (tile_work != nullptr) {
                    own = cpu_device().allocate(static_cast<size_t>(product.m * product.n * itemsize_));
                    product.out = own->data();
                    product.out_row = product.n * itemsize_;
                } else if (parts != nullptr) {
                    product.out = parts->data() + (index * tiling.parts + part) * part_bytes +
                                  (row * whole.n + column) * itemsize_;
                    product.out_row = whole.n * itemsize_;
                    product.out_column = itemsize_;
                } else {
                    product.out += offsets.out + row * whole.out_row + column * whole.out_column;
                }
                multiply(product);
                if (tile_work != nullptr)
                    (*tile_work)({product.out, product.out_row, row, column, product.m, product.n});
            }
        };
        if (alone) {
            for (int64_t number = 0; number < groups * tiles; ++number) task(number);
        } else {
            parallel_for(groups * tiles, task);
        }
        if (parts != nullptr) add_parts(whole, batch, tiling, parts->data());
    }

private:
    void add_parts(const MatrixProduct& whole, const Axes& batch, const Tiling& tiling, char* parts) const {
        const int64_t bytes = whole.m * whole.n * itemsize_;
        for (int64_t index = 0; index < extent_of(batch); ++index) {
            char* first = parts + index * tiling.parts * bytes;
            for (int64_t step = 1; step < tiling.parts; step *= 2) {
                for (int64_t part = 0; part + step < tiling.parts; part += 2 * step)
                    add_rows(type_, first + part * bytes, first + (part + step) * bytes, whole.m * whole.n);
            }
            char* out = whole.out + batch_offsets(batch, index).out;
            for (int64_t i = 0; i < whole.m; ++i) {
                for (int64_t j = 0; j < whole.n; ++j) {
                    std::memcpy(out + i * whole.out_row + j * whole.out_column,
                                first + (i * whole.n + j) * itemsize_, static_cast<size_t>(itemsize_));
                }
            }
        }
    }

    ScalarType type_;
    int64_t itemsize_;
    Routine routine_;
    const Blas* library_;
    TileFunction tile_;
};

void fill_zero(char* out, const Axes& axes, int64_t itemsize) {
    const int64_t count = extent_of(axes);
    for (int64_t index = 0; index < count; ++index)
        std::memset(out + batch_offsets(axes, index).out, 0, static_cast<size_t>(itemsize));
}

MatrixProduct matrix_product(const Problem& problem) {
    const auto only = [](const Axes& axes) { return axes.empty() ? Axis{} : axes[0]; };
    const Axis m = only(problem.m), n = only(problem.n), k = only(problem.k);
    return {m.extent,
            n.extent,
            k.extent,
            problem.operand[kLeft],
            m.stride[kLeft],
            k.stride[kLeft],
            problem.operand[kRight],
            k.stride[kRight],
            n.stride[kRight],
            problem.out,
            m.stride[kOut],
            n.stride[kOut]};
}

void swap_operands(Problem& problem) {
    std::swap(problem.m, problem.n);
    std::swap(problem.operand[kLeft], problem.operand[kRight]);
    for (Axes* axes : {&problem.batch, &problem.m, &problem.n, &problem.k}) {
        for (Axis& axis : *axes) std::swap(axis.stride[kLeft], axis.stride[kRight]);
    }
}

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

}  // namespace

bool is_tiny(ScalarType type, const MatrixProduct& product) {
    return !DType(type).is_short_float() && product.m > 0 && product.n > 0 && product.k > 0 &&
           product.k <= kTinySteps && product.m <= kTinyProducts && product.n <= kTinyProducts &&
           product.m * product.n * product.k <= kTinyProducts;
}

void multiply_tiny(ScalarType type, const MatrixProduct& product) { multiply_plainly(type, product); }

namespace {

// From one element type to another, over what strides of both say.
template <class From, class To>
void convert(const Dims& shape, const char* from, const Dims& from_strides, char* to,
             const Dims& to_strides) {
    const size_t last = shape.empty() ? 0 : shape.size() - 1;
    const int64_t length = shape.empty() ? 1 : shape[last];
    const int64_t from_step = shape.empty() ? 0 : from_strides[last],
                  to_step = shape.empty() ? 0 : to_strides[last];
    int64_t rows = length == 0 ? 0 : 1;
    for (size_t d = 0; d < last; ++d) rows *= shape[d];
    parallel_for(rows, [&](int64_t row) {
        const char* source = from;
        char* target = to;
        for (size_t d = last; d-- > 0; row /= shape[d]) {
            source += row % shape[d] * from_strides[d];
            target += row % shape[d] * to_strides[d];
        }
        for (int64_t i = 0; i < length; ++i, source += from_step, target += to_step) {
            const To value = static_cast<To>(load<From>(source));
            std::memcpy(target, &value, sizeof value);
        }
    });
}

// Products of short floats are those of their float32s, rounded once.
template <class Short>
ContractionReport contract_in_float32(const Contraction& contraction) {
    WEFT_CHECK(contraction.tile_work == nullptr, "work on the tiles of a product of short floats");
    Contraction wide = contraction;
    wide.type = ScalarType::kFloat32;
    constexpr int64_t itemsize = sizeof(float);
    // Without gaps, over the axes that `strides` walks, whose extents and strides are appended to the others.
    const auto dense = [&](const Dims& strides, Dims& wide_strides, std::array<Dims, 3>& walk) {
        int64_t bytes = itemsize;
        for (size_t d = strides.size(); d-- > 0;) {
            wide_strides[d] = strides[d] == 0 ? 0 : bytes;
            if (strides[d] != 0) bytes *= contraction.shape[d];
        }
        for (size_t d = 0; d < strides.size(); ++d) {
            if (strides[d] == 0) continue;
            walk[0].push_back(contraction.shape[d]);
            walk[1].push_back(strides[d]);
            walk[2].push_back(wide_strides[d]);
        }
        return cpu_device().allocate(static_cast<size_t>(bytes));
    };
    const auto widened = [&](const char* data, const Dims& strides, Dims& wide_strides) {
        std::array<Dims, 3> walk;
        BufferPtr buffer = dense(strides, wide_strides, walk);
        convert<Short, float>(walk[0], data, walk[1], buffer->data(), walk[2]);
        return buffer;
    };
    const BufferPtr left = widened(contraction.left, contraction.left_strides, wide.left_strides);
    const BufferPtr right = widened(contraction.right, contraction.right_strides, wide.right_strides);
    std::array<Dims, 3> walk;
    const BufferPtr out = dense(contraction.out_strides, wide.out_strides, walk);
    wide.left = left->data();
    wide.right = right->data();
    wide.out = out->data();
    ContractionReport report = contract(wide);
    convert<float, Short>(walk[0], out->data(), walk[2], contraction.out, walk[1]);
    report.packed_bytes += static_cast<int64_t>(left->size() + right->size());
    report.packed_operands += 2;
    return report;
}

}  // namespace

ContractionReport contract(const Contraction& contraction) {
    ContractionReport report;
    const DType dtype(contraction.type);
    if (contraction.type == ScalarType::kFloat16) return contract_in_float32<Half>(contraction);
    if (contraction.type == ScalarType::kBFloat16) return contract_in_float32<BFloat16>(contraction);
    Problem problem{contraction.type,
                    dtype.itemsize(),
                    {contraction.left, contraction.right},
                    contraction.out,
                    {},
                    {},
                    {},
                    {}};
    bool nothing_added = false;
    for (size_t d = 0; d < contraction.shape.size(); ++d) {
        const Axis axis{
            contraction.shape[d],
            {contraction.left_strides[d], contraction.right_strides[d], contraction.out_strides[d]}};
        if (axis.extent == 0 && !contraction.reduced[d]) return report;
        nothing_added |= axis.extent == 0;
        if (axis.extent == 1) continue;
        const bool left = axis.stride[kLeft] != 0, right = axis.stride[kRight] != 0;
        Axes& axes = contraction.reduced[d] ? problem.k
                     : left == right        ? problem.batch
                     : left                 ? problem.m
                                            : problem.n;
        axes.push_back(axis);
    }
    if (nothing_added) {
        Axes all = problem.batch;
        all.insert(all.end(), problem.m.begin(), problem.m.end());
        all.insert(all.end(), problem.n.begin(), problem.n.end());
        fill_zero(problem.out, all, problem.itemsize);
        report.routine = "zeros";
        return report;
    }
    sort_by(problem.m, kOut);
    sort_by(problem.n, kOut);
    Packer packer(problem, report);
    if (problem.k.size() > 1) join_reduced(problem, packer);
    for (const Walker walker : {kLeft, kRight}) {
        if (problem.own(walker).size() > 1) join_own(problem, walker, packer);
    }
    sort_by(problem.batch, kOut);
    join_axes(problem.batch);

    // The result's columns are dense; a vector is the right operand.
    {
        const MatrixProduct product = matrix_product(problem);
        const bool transposed = product.n > 1 && product.out_column != problem.itemsize &&
                                (product.out_row == problem.itemsize || product.m == 1);
        if (transposed || (product.m == 1 && product.n > 1)) {
            swap_operands(problem);
            packer.swap_operands();
        }
    }
    MatrixProduct product = matrix_product(problem);
    const bool tiny = is_tiny(problem.type, product);
    const Blas* library = !tiny && dtype.is_inexact() ? blas() : nullptr;
    Routine routine = Routine::kPlain;
    if (!tiny && library != nullptr) {
        routine = product.n > 1 ? Routine::kGemm : product.m > 1 ? Routine::kGemv : Routine::kDot;
    } else if (!tiny && tile_function(problem.type) != nullptr) {
        routine = Routine::kTile;
    }
    const int64_t itemsize = problem.itemsize;
    BufferPtr scattered;  // a result that the library cannot write where it belongs
    Axes scattered_batch;
    if (library != nullptr) {
        const bool left_fits =
            routine == Routine::kDot
                ? is_vector(product.k, product.left_step, itemsize)
                : as_matrix(product.m, product.k, product.left_row, product.left_step, itemsize).fits;
        const bool right_fits =
            routine == Routine::kGemm
                ? as_matrix(product.k, product.n, product.right_step, product.right_column, itemsize).fits
                : is_vector(product.k, product.right_step, itemsize);
        if (!left_fits) packer.pack(kLeft);
        if (!right_fits) packer.pack(kRight);
        product = matrix_product(problem);
        const bool out_fits =
            routine == Routine::kGemm
                ? product.out_column == itemsize &&
                      as_matrix(product.m, product.n, product.out_row, itemsize, itemsize).fits &&
                      (product.m == 1 || product.out_row >= product.n * itemsize)
                : is_vector(product.m, product.out_row, itemsize);
        if (!out_fits) {
            const int64_t matrix_bytes = product.m * product.n * itemsize;
            scattered = cpu_device().allocate(static_cast<size_t>(extent_of(problem.batch) * matrix_bytes));
            scattered_batch = problem.batch;
            int64_t dense = matrix_bytes;
            for (size_t d = problem.batch.size(); d-- > 0;) {
                problem.batch[d].stride[kOut] = dense;
                dense *= problem.batch[d].extent;
            }
            product.out = scattered->data();
            product.out_row = product.n * itemsize;
            product.out_column = itemsize;
        }
    }
    const int64_t batch = extent_of(problem.batch);
    const Tiling tiling = choose_tiling(routine, batch, product.m, product.n, product.k);
    WEFT_CHECK(contraction.tile_work == nullptr || (tiling.parts == 1 && batch == 1 && scattered == nullptr &&
                                                    product.out_column == itemsize),
               "work on the tiles of a product that has none");
    Runner(problem.type, itemsize, routine, library)
        .run(product, problem.batch, tiling, contraction.tile_work);
    if (scattered != nullptr) {
        const MatrixProduct target = matrix_product(problem);
        for (int64_t index = 0; index < batch; ++index) {
            const char* from = scattered->data() + index * product.m * product.n * itemsize;
            char* to = problem.out + batch_offsets(scattered_batch, index).out;
            for (int64_t i = 0; i < product.m; ++i) {
                for (int64_t j = 0; j < product.n; ++j, from += itemsize)
                    std::memcpy(to + i * target.out_row + j * target.out_column, from,
                                static_cast<size_t>(itemsize));
            }
        }
    }
    report.routine = routine_name(problem.type, routine);
    report.batch = batch;
    report.m = product.m;
    report.n = product.n;
    report.k = product.k;
    report.tasks = ceil_divide(batch, tiling.batches) * tiling.row_tiles * tiling.column_tiles * tiling.parts;
    return report;
}

}  // namespace weft
