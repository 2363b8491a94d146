#include "weft/histograms.h"

#include <algorithm>
#include <string>

#include "api/ordering/bin_edges.h"
#include "api/recording/host_row.h"
#include "api/recording/transfer.h"
#include "library/ordering/bin_loops.h"
#include "ops/resolve.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/indexing.h"

namespace weft {

namespace {

array as(const array& values, DType dtype) { return astype(values, dtype, 'K', Casting::kUnsafe, false); }

// The bin of each element, by operations that any device has; behind the last one for what is in none.
array bins_of(const array& a, const ChosenEdges& chosen) {
    const array& edges = chosen.edges;
    const int64_t count = edges.size() - 1;
    if (!chosen.even) {
        const DType common = promote_types(a.dtype(), edges.dtype());
        array place = searchsorted(as(edges, common), as(a, common), true);
        place = where(a == edges(-1), count, place) - 1;
        return where(logical_and(place >= 0, place < count), place, count);
    }
    const array inside = logical_and(a >= chosen.low, a <= chosen.high);
    const array x = as(a, edges.dtype());
    array place = floor((x - chosen.low) / chosen.width * static_cast<double>(count));
    place = as(maximum(minimum(where(inside, place, 0), count - 1), 0), ScalarType::kInt64);
    place = place - (x < array(edges(place)));
    place = place + logical_and(x >= array(edges(place + 1)), place != count - 1);
    return where(inside, place, count);
}

// How many elements are in each bin, or the sums of their weights, which are float64.
array counted(const array& a, const ChosenEdges& chosen, const array& weights) {
    const int64_t count = chosen.edges.size() - 1;
    const bool weighted = weights.valid();
    const DType dtype = weighted ? ScalarType::kFloat64 : ScalarType::kInt64;
    if (count <= 0) return zeros(Shape{0}, dtype);
    const DType edge_type = chosen.edges.dtype();
    const bool is_narrow = chosen.even && edge_type.is_half_float();
    // Loops on the host number bins by int32.
    if (!device_of(a).is_cpu() || count >= INT32_MAX) {
        const array sums = bincount(bins_of(a, chosen), weights, count + 1);
        return copy(sums(slice(count)));
    }
    const HostRow elements(a);
    const HostRow edges(is_narrow ? as(chosen.edges, ScalarType::kFloat32) : chosen.edges);
    const std::optional<HostRow> given = weighted ? std::optional<HostRow>(weights) : std::nullopt;
    const BinnedElements row{elements.type(), elements.data(), elements.count(),
                             given ? given->as<double>() : nullptr};
    const BinEdges bins{edges.type(), edges.data(), count,       chosen.even,
                        chosen.low,   chosen.high,  chosen.width};
    const ScalarType common = promote_types(a.dtype(), chosen.edges.dtype()).scalar_type();
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(count) * 8);
    std::fill_n(buffer->data(), static_cast<size_t>(count) * 8, '\0');
    const auto size = static_cast<size_t>(count);
    if (weighted) {
        add_in_bins(row, bins, common, {reinterpret_cast<double*>(buffer->data()), size});
    } else {
        count_in_bins(row, bins, common, {reinterpret_cast<int64_t*>(buffer->data()), size});
    }
    return row_of(std::move(buffer), dtype, count);
}

}  // namespace

DoubtfulHistogram find_histogram(const array& input, const Bins& bins, const HistogramOptions& options) {
    const std::optional<array>& weights = options.weights;
    if (weights && weights->shape() != input.shape())
        throw ValueError("weights should have the same shape as a.");
    if (const auto* rule = std::get_if<std::string>(&bins); rule != nullptr && weights) {
        check_rule(*rule);
        throw TypeError("Automated estimation of the number of bins is not supported for weighted data");
    }
    const array a = binned_elements(input);
    const ChosenEdges chosen = choose_edges(a, bins, options.range);
    array counts;
    if (!weights) {
        counts = counted(a, chosen, {});
    } else if (weights->dtype().is_complex()) {
        const array flat = ravel(*weights);
        const array parts[2] = {counted(a, chosen, as(real(flat), ScalarType::kFloat64)),
                                counted(a, chosen, as(imag(flat), ScalarType::kFloat64))};
        counts = parts[0] + multiply(parts[1], std::complex<double>(0, 1));
    } else {
        counts = counted(a, chosen, as(ravel(*weights), ScalarType::kFloat64));
        if (!weights->dtype().is_bool()) counts = as(counts, weights->dtype());
    }
    if (options.density) {
        const array widths =
            as(array(chosen.edges(slice(1, none))) - array(chosen.edges(slice(-1))), ScalarType::kFloat64);
        counts = counts / widths / sum(counts);
    }
    return {{counts, chosen.edges}, chosen.doubtful};
}

Histogram histogram(const array& a, const Bins& bins, const HistogramOptions& options) {
    return find_histogram(a, bins, options).found;
}

namespace {

array edges_along(const array& column, const Bins& bins, const BinRange& range, size_t axis) {
    const std::string name = "`bins[" + std::to_string(axis) + "]`";
    if (const auto* number = std::get_if<int64_t>(&bins)) {
        if (*number < 1) throw ValueError(name + " must be positive, when an integer");
        const auto [low, high] = outer_edges(column, range);
        return move_to(linspace(low, high, *number + 1, LinspaceOptions()), device_of(column));
    }
    const auto* edges = std::get_if<array>(&bins);
    if (edges == nullptr || edges->ndim() != 1) throw ValueError(name + " must be a scalar or 1d array");
    if (truth_of(any(array((*edges)(slice(-1))) > array((*edges)(slice(1, none))))))
        throw ValueError(name + " must be monotonically increasing, when an array");
    return *edges;
}

}  // namespace

HistogramOfSeveral histogramdd(const array& sample, std::span<const Bins> bins,
                               std::span<const BinRange> ranges, const std::optional<array>& weights,
                               bool density) {
    if (sample.ndim() != 2) throw ValueError("a sample has a row for each point");
    const auto ndim = static_cast<size_t>(sample.shape()[1]);
    if (bins.size() != ndim)
        throw ValueError("The dimension of bins must be equal to the dimension of the sample x.");
    if (!ranges.empty() && ranges.size() != ndim)
        throw ValueError("range argument must have one entry per dimension");
    HistogramOfSeveral result;
    for (size_t k = 0; k < ndim; ++k) {
        const array column = sample(all, k);
        result.edges.push_back(edges_along(column, bins[k], ranges.empty() ? BinRange() : ranges[k], k));
    }
    // The first and the last place along each axis are for what is outside.
    Dims extents;
    int64_t cells = 1;
    for (const array& edges : result.edges) {
        extents.push_back(edges.size() + 1);
        if (__builtin_mul_overflow(cells, edges.size() + 1, &cells))
            throw ValueError(
                "invalid dims: array size defined by dims is larger than the maximum possible size.");
    }
    array place;
    for (size_t k = 0; k < ndim; ++k) {
        const array column = sample(all, k), &edges = result.edges[k];
        const DType common = promote_types(column.dtype(), edges.dtype());
        array own = searchsorted(as(edges, common), as(column, common), true);
        if (edges.size() != 0) own = own - (column == array(edges(-1)));
        place = k == 0 ? own : place * extents[k] + own;
    }
    array given;
    if (weights) {
        if (weights->dtype().is_complex())
            throw TypeError(
                "Cannot cast array data from dtype('complex128') to dtype('float64') according to the rule "
                "'safe'");
        given = as(*weights, ScalarType::kFloat64);
        if (given.shape() != Dims{sample.shape()[0]})
            throw ValueError("The weights and list don't have the same length.");
    }
    array table = !place.valid() || place.size() == 0 ? zeros(Shape{cells}) : bincount(place, given, cells);
    table = as(reshape(table, extents), ScalarType::kFloat64);
    table = index(table, std::vector<Index>(ndim, slice(1, -1)));
    if (density) {
        const array total = sum(table);
        for (size_t k = 0; k < ndim; ++k) {
            const array& edges = result.edges[k];
            Dims shape(ndim, 1);
            shape[k] = -1;
            table = table / reshape(array(edges(slice(1, none))) - array(edges(slice(-1))), shape);
        }
        table = table / total;
    }
    result.counts = table;
    return result;
}

HistogramOfSeveral histogram2d(const array& x, const array& y, const Bins& x_bins, const Bins& y_bins,
                               const std::optional<array>& weights, bool density) {
    if (x.size() != y.size()) throw ValueError("x and y must have the same length.");
    const Bins bins[2] = {x_bins, y_bins};
    return histogramdd(stack({ravel(x), ravel(y)}, 1), bins, {}, weights, density);
}

}  // namespace weft
