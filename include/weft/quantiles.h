// Medians and quantiles. Elements are put in order at the call; complex elements are a TypeError.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "weft/array.h"
#include "weft/options.h"

namespace weft {

struct MedianOptions {
    bool keepdims = false;
    array out = {};
};

/// np.median: the middle of the elements in order, or the mean of the two in the middle; NaN where there is
/// one. Of integers float64, else of the input's dtype.
///
///     median(array{3, 1, 2, 10}) is 2.5
array median(const array& a, const Axes& axis = {}, const MedianOptions& options = {});
/// np.nanmedian: of the elements that are not NaN; NaN where there is none.
array nanmedian(const array& a, const Axes& axis = {}, const MedianOptions& options = {});

/// How a quantile lies between neighbours: NumPy's methods, by Hyndman and Fan, "Sample quantiles in
/// statistical packages" (1996), and the five last ones.
enum class QuantileMethod : uint8_t {
    kInvertedCdf,
    kAveragedInvertedCdf,
    kClosestObservation,
    kInterpolatedInvertedCdf,
    kHazen,
    kWeibull,
    kLinear,
    kMedianUnbiased,
    kNormalUnbiased,
    kLower,
    kHigher,
    kMidpoint,
    kNearest,
};
/// By NumPy's name for it: "linear". Throws ValueError for another one.
QuantileMethod quantile_method(std::string_view name);

struct QuantileOptions {
    QuantileMethod method = QuantileMethod::kLinear;
    bool keepdims = false;
    std::optional<array> weights = {};  // how often each element counts; with kInvertedCdf only
    array out = {};
};

/// np.quantile: the values below which the parts `q` of the elements lie; a part is in [0, 1]. The shape is
/// that of q, of two dimensions at most, followed by that of the reduced array. Throws ValueError for other
/// parts, for weights below zero, and IndexError for no elements.
///
///     quantile(array{1, 2, 3, 4}, 0.5) is 2.5
///     quantile(array{{1, 2}, {3, 4}}, array{0.0, 1.0}, 0) is {{1, 2}, {3, 4}}
array quantile(const array& a, const Argument& q, const Axes& axis = {}, const QuantileOptions& options = {});
/// np.percentile: parts in percent.
array percentile(const array& a, const Argument& q, const Axes& axis = {},
                 const QuantileOptions& options = {});
/// np.nanquantile, np.nanpercentile: of the elements that are not NaN; NaN where there is none.
array nanquantile(const array& a, const Argument& q, const Axes& axis = {},
                  const QuantileOptions& options = {});
array nanpercentile(const array& a, const Argument& q, const Axes& axis = {},
                    const QuantileOptions& options = {});

}  // namespace weft
