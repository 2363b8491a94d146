// Neighbouring values: differences, slopes, integrals, angles without jumps, convolutions, lines between
// points. But for the last they are composed of operations, so that they fuse with what feeds them and with
// what reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "weft/array.h"
#include "weft/options.h"

namespace weft {

struct DiffOptions {
    int64_t axis = -1;
    std::optional<array> prepend = {}, append = {};  // before the array and behind it, or one value for all
};

/// np.diff: the differences of neighbours along an axis, `n` times; of bools whether they differ. The axis is
/// shorter by `n`, the dtype is the array's. Throws ValueError for a negative `n` and for an array without
/// axes, AxisError.
///
///     diff(array{1, 4, 9, 16}) is {3, 5, 7}
array diff(const array& a, int64_t n = 1, const DiffOptions& options = {});

/// np.ediff1d: the differences of neighbours of the flattened array, between what else is to be there. Throws
/// TypeError for bools, and for ends that do not become the array's dtype within their kind.
///
///     ediff1d(array{1, 4, 9}, array{0}) is {3, 5, 0}
array ediff1d(const array& ary, const std::optional<array>& to_end = {},
              const std::optional<array>& to_begin = {});

struct GradientOptions {
    Axes axis = {};          // the slopes along which axes; absent: all
    int64_t edge_order = 1;  // of the errors at the ends: 1 or 2
};
/// np.gradient: slopes by differences of both neighbours, at the ends by one-sided ones: an array of the
/// shape of `f` for each axis. `spacing` has distances, or rows of coordinates: one number for all axes, or
/// one of either for each; nothing is 1. Of integers and bools float64, else of the dtype of `f`. Throws
/// TypeError for another number of distances, ValueError for coordinates of another length, for an axis with
/// less than edge_order + 1 elements and for another order, AxisError.
///
///     gradient(array{1, 2, 4, 7}) is {{1, 1.5, 2.5, 3}}, a vector of one array
///     gradient(array{1.0, 2.0, 4.0}, {array{0, 1, 3}})
std::vector<array> gradient(const array& f, std::span<const Argument> spacing,
                            const GradientOptions& options = {});
inline std::vector<array> gradient(const array& f, std::initializer_list<Argument> spacing = {},
                                   const GradientOptions& options = {}) {
    return gradient(f, std::span<const Argument>(spacing.begin(), spacing.size()), options);
}

/// np.trapezoid: the integral of the lines between neighbours, which are `dx` apart, or at `x`: a row, or an
/// array that broadcasts to `y`. Throws AxisError.
///
///     trapezoid(array{1, 2, 3}) is 4
array trapezoid(const array& y, const std::optional<array>& x = {}, const Argument& dx = 1.0,
                int64_t axis = -1);

struct UnwrapOptions {
    std::optional<Argument> discont = {};  // smaller jumps stay; absent: half a period
    int64_t axis = -1;
    Argument period = 6.283185307179586;
};
/// np.unwrap: angles without jumps: where neighbours are more than half a period apart, whole periods are
/// added. Of the dtype that the array and the period promote to. Throws AxisError.
///
///     unwrap(array{0, 1, 3, 0, 1}, {.period = 4}) is {0, 1, 3, 4, 5}
array unwrap(const array& p, const UnwrapOptions& options = {});

/// Where two rows are multiplied: where the shorter is within the longer; at as many places as the longer
/// has; wherever they overlap.
enum class Overlap : uint8_t { kValid, kSame, kFull };

/// np.convolve: the sums of products of `a` with `v` turned round, as polynomials are multiplied. Rows of one
/// dimension; the dtype is what both promote to, and bools are or-ed. Throws ValueError for rows without
/// elements and for more dimensions.
///
///     convolve(array{1, 2, 3}, array{0, 1, 2}) is {0, 1, 4, 7, 6}
array convolve(const array& a, const array& v, Overlap mode = Overlap::kFull);
/// np.correlate: the sums of products of `a`, moved along, with conj(v).
///
///     correlate(array{1, 2, 3}, array{0, 1, 2}) is {8}
array correlate(const array& a, const array& v, Overlap mode = Overlap::kValid);

/// np.sinc: sin(pi x) / (pi x), and 1 at 0; of integers float64.
array sinc(const array& x);

struct InterpolationOptions {
    std::optional<Argument> left = {}, right = {};  // the values beyond the ends; absent: those at the ends
    std::optional<Argument> period = {};            // points repeat so far apart, in any order; no ends
};

/// np.interp: the values at `x` of the lines between the points (xp, fp), rows of one length. `xp` rises.
/// Of complex `fp` complex128, else float64. Throws ValueError for no points, for rows of different lengths
/// and for a period of zero, TypeError for complex `x` or `xp`.
///
///     interp(array{1.5, 9.0}, array{1, 2, 3}, array{10, 20, 40}) is {15, 40}
array interp(const array& x, const array& xp, const array& fp, const InterpolationOptions& options = {});

}  // namespace weft
