// Grids of positions or values, positions counted through an array, and diagonals.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "weft/array.h"
#include "weft/ops.h"

namespace weft {

/// How the axes of a grid lie: the first array along the second axis, and the second along the first, as x
/// and y; or each along its own, as matrices are indexed.
enum class GridIndexing : uint8_t { kXY, kIJ };

struct MeshgridOptions {
    bool copy = true;     // new arrays; else views, of which wider ones are for reading
    bool sparse = false;  // as wide as they must be to broadcast together
    GridIndexing indexing = GridIndexing::kXY;
};

/// np.meshgrid: coordinates of a grid from a row for each axis: an array for each, of the grid's shape.
///
///     meshgrid({array{1, 2}, array{3, 4}}) is {{1, 2}, {1, 2}} and {{3, 3}, {4, 4}}
std::vector<array> meshgrid(std::span<const array> axes, const MeshgridOptions& options = {});
inline std::vector<array> meshgrid(std::initializer_list<array> axes, const MeshgridOptions& options = {}) {
    return meshgrid(std::span<const array>(axes.begin(), axes.size()), options);
}

/// np.indices: the position of each element of an array of that shape, along each axis: (ndim, *shape).
/// Throws ValueError for a shape that no array has.
///
///     indices({2, 2}) is {{{0, 0}, {1, 1}}, {{0, 1}, {0, 1}}}
array indices(const Shape& dimensions, DType dtype = ScalarType::kInt64);
/// The same as an array for each axis, which broadcast together.
std::vector<array> sparse_indices(const Shape& dimensions, DType dtype = ScalarType::kInt64);

/// np.ix_: index arrays that together choose the given positions of each axis; bools stand for the positions
/// where they are true. Throws ValueError for arrays that are no rows.
///
///     a(ix_({array{1}, array{0, 2}})) has the first and the third element of the second row
std::vector<array> ix_(std::span<const array> positions);

/// np.unravel_index: the positions along each axis, int64, of elements that are counted through an array of
/// that shape, in C or in Fortran order. Throws TypeError for what are no integers, ValueError for a count
/// beyond the array.
///
///     unravel_index(array{3, 5}, {2, 3}) is {1, 1} and {0, 2}
std::vector<array> unravel_index(const array& indices, const Shape& shape, char order = 'C');
/// np.ravel_multi_index: counted through an array of that shape, where the positions along each axis are:
/// int64. `modes` say for each axis what positions beyond it mean. Throws TypeError for what are no integers,
/// ValueError for positions beyond an axis, and for another number of axes.
///
///     ravel_multi_index({array{1, 1}, array{0, 2}}, {2, 3}) is {3, 5}
array ravel_multi_index(std::span<const array> multi_index, const Shape& dims,
                        std::span<const TakeMode> modes, char order = 'C');
inline array ravel_multi_index(std::initializer_list<array> multi_index, const Shape& dims,
                               TakeMode mode = TakeMode::kRaise, char order = 'C') {
    const std::vector<TakeMode> modes(dims.size(), mode);
    return ravel_multi_index(std::span<const array>(multi_index.begin(), multi_index.size()), dims, modes,
                             order);
}

/// np.diag: a matrix with a row on diagonal `k`; of a matrix that diagonal, a view for reading. Throws
/// ValueError for other dimensions.
///
///     diag(array{1, 2}) is {{1, 0}, {0, 2}}
array diag(const array& v, int64_t k = 0);
/// np.diagflat: a matrix with the elements, flattened, on diagonal `k`.
array diagflat(const array& v, int64_t k = 0);
/// np.fill_diagonal: writes `value`, over and over, to the diagonal of an array, whose axes are equally long
/// if there are more than two. With `wrap` the diagonal of a tall matrix begins again below. Throws
/// ValueError for other shapes, and for what is not for writing.
void fill_diagonal(const array& a, const Argument& value, bool wrap = false);
/// np.diag_indices: the positions on the diagonal of an array of `ndim` axes of `n`.
std::vector<array> diag_indices(int64_t n, int64_t ndim = 2);

/// np.tri: ones at and below diagonal `k`, zeros above; a `k` between two integers counts as the lower one.
///
///     tri(2, 3, 0, int64) is {{1, 0, 0}, {1, 1, 0}}
array tri(int64_t rows, int64_t columns, double k = 0, DType dtype = {});
inline array tri(int64_t rows) { return tri(rows, rows); }
/// np.tril_indices, np.triu_indices: the positions, of rows and of columns, at and below diagonal `k` of a
/// matrix of `n` rows, or at and above it. The matrix is a square where no number of columns is given.
///
///     tril_indices(2) is {0, 1, 1} and {0, 0, 1}
std::pair<array, array> tril_indices(int64_t n, double k = 0, std::optional<int64_t> columns = {});
std::pair<array, array> triu_indices(int64_t n, double k = 0, std::optional<int64_t> columns = {});

/// np.vander: a matrix whose columns are powers of `x`, the highest first unless they are `increasing`; as
/// many as `x` has elements, unless their number is given. Integers are int64 or uint64. Throws ValueError
/// for what is no row.
///
///     vander(array{1, 2, 3}, 2) is {{1, 1}, {2, 1}, {3, 1}}
array vander(const array& x, std::optional<int64_t> columns = {}, bool increasing = false);

}  // namespace weft
