#include <numeric>
#include <vector>

#include "api/recording/host_row.h"
#include "core/shape.h"
#include "library/ordering/counting_sort.h"
#include "library/ordering/neighbors.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/ordering.h"
#include "weft/sets.h"
#include "weft/statistics.h"

namespace weft {

namespace {

// Of integers or bools in the host's memory that lie close together, which need no sorting; nothing for
// others.
std::optional<Unique> unique_of_near_integers(const array& input, const UniqueOptions& options) {
    const DType dtype = input.dtype();
    if (!(dtype.is_integer() || dtype.is_bool()) || !device_of(input).is_cpu()) return std::nullopt;
    const HostRow elements(input);
    const IntegerRow row{elements.type(), elements.data(), elements.count()};
    const std::optional<KeyRange> range = range_if_dense(row, UniqueIntegers::most_apart(row.count));
    if (!range) return std::nullopt;
    const UniqueIntegers found(row, *range);
    const int64_t count = found.count();
    BufferPtr values = cpu_device().allocate(static_cast<size_t>(count * dtype.itemsize()));
    found.write_values(values->data());
    std::optional<HostPositions> first, counts, inverse;
    if (options.first) first.emplace(count);
    if (options.counts) counts.emplace(count);
    if (options.inverse) inverse.emplace(row.count);
    const auto data = [](const std::optional<HostPositions>& positions) {
        return positions ? positions->data() : nullptr;
    };
    if (first || counts || inverse) found.describe(data(first), data(counts), data(inverse));
    Unique result{row_of(std::move(values), dtype, count), {}, {}, {}};
    if (first) result.first = first->finish();
    if (counts) result.counts = counts->finish();
    if (inverse) result.inverse = inverse->finish();
    return result;
}

// Of elements in order, which are the input's at the positions `order`; that may be invalid where nobody
// needs it. All in the host's memory.
Unique unique_in_order(const array& ordered, const array& order, const UniqueOptions& options) {
    const HostRow elements(ordered);
    const OrderedElements row{elements.type(), elements.data(), elements.count(), options.equal_nan};
    SelectedElements found = select_by_neighbors(row, Neighbors::kFirst, options.first || options.counts);
    const int64_t count = found.count;
    Unique result{row_of(std::move(found.values), ordered.dtype(), count), {}, {}, {}};
    const auto* places = found.places ? reinterpret_cast<const int64_t*>(found.places->data()) : nullptr;
    if (options.counts) {
        HostPositions counts(count);
        distances_of_places(places, count, row.count, counts.data());
        result.counts = counts.finish();
    }
    if (options.first || options.inverse) {
        const HostRow positions(order);
        if (options.first) {
            HostPositions first(count);
            take_at_places(positions.as<int64_t>(), places, count, first.data());
            result.first = first.finish();
        }
        if (options.inverse) {
            HostPositions inverse(row.count);
            number_by_order(row, positions.as<int64_t>(), inverse.data());
            result.inverse = inverse.finish();
        }
    }
    return result;
}

// By masks: `begins` says where in `ordered`, of one dimension or more, another value begins.
Unique unique_by_mask(const array& ordered, const array& order, const array& begins,
                      const UniqueOptions& options) {
    Unique result{ordered(begins), {}, {}, {}};
    if (options.first) result.first = order(begins);
    if (options.inverse) {
        result.inverse = empty_like(order, DType(ScalarType::kInt64), 'C', {});
        result.inverse(order) = cumsum(begins, 0, {.dtype = ScalarType::kInt64, .out = {}}) - 1;
    }
    if (options.counts) {
        const array first = nonzero(begins)[0];
        array next = empty_like(first, {}, 'C', {});
        if (next.size() != 0) {
            next(slice(-1)) = first(slice(1, none));
            next(-1) = begins.size();
        }
        result.counts = next - first;
    }
    return result;
}

// Where `differs` says that another value begins; and at the first.
array with_first(const array& prototype, int64_t count, const array& differs) {
    array begins = empty_like(prototype, DType(ScalarType::kBool), 'C', Dims{count});
    if (count == 0) return begins;
    begins(0) = true;
    begins(slice(1, none)) = differs;
    return begins;
}

array differs_from_last(const array& ordered, bool equal_nan) {
    const array here = ordered(slice(1, none)), before = ordered(slice(-1));
    const bool may_be_nan = ordered.dtype().is_floating() || ordered.dtype().is_complex();
    if (!equal_nan || !may_be_nan) return here != before;
    return logical_and(here != before, logical_not(logical_and(isnan(here), isnan(before))));
}

}  // namespace

Unique unique(const array& input, const UniqueOptions& options) {
    const array flat = ravel(input);
    Unique result;
    if (std::optional<Unique> found = unique_of_near_integers(flat, options)) {
        result = *std::move(found);
    } else {
        array order, ordered;
        if (options.first || options.inverse) {
            order = argsort(flat, 0);
            ordered = flat(order);
        } else {
            ordered = sort(flat, 0);
        }
        if (device_of(ordered).is_cpu()) {
            result = unique_in_order(ordered, order, options);
        } else {
            const array begins =
                with_first(ordered, ordered.size(), differs_from_last(ordered, options.equal_nan));
            result = unique_by_mask(ordered, order, begins, options);
        }
    }
    if (options.inverse) result.inverse = reshape(result.inverse, input.shape());
    return result;
}

Unique unique(const array& input, int64_t axis, const UniqueOptions& options) {
    const auto along = static_cast<int64_t>(normalize_axis(axis, input.ndim()));
    if (input.ndim() == 1) return unique(input, options);  // rows of one element are elements
    Dims to_front{along}, back;
    for (int64_t d = 0; d < input.ndim(); ++d) {
        if (d != along) to_front.push_back(d);
        back.push_back(d < along ? d + 1 : d == along ? 0 : d);
    }
    const array rows = transpose(input, to_front);
    const int64_t count = rows.shape()[0];
    int64_t width = 1;
    for (size_t d = 1; d < rows.shape().size(); ++d) width *= rows.shape()[d];
    const array flat = reshape(rows, {count, width});
    array order;
    if (width == 0) {
        const array zeros = empty_like(input, DType(ScalarType::kInt64), 'C', Dims{count});
        order = cumsum(ones_like(zeros), 0) - 1;
    } else {
        std::vector<array> keys;
        for (int64_t k = width; k-- > 0;) keys.push_back(flat(all, k));
        order = lexsort(keys, 0);
    }
    const array ordered = flat(order);
    const array differs = count == 0 ? ordered : any(ordered(slice(1, none)) != ordered(slice(-1)), 1);
    const array begins = with_first(input, count, differs);
    UniqueOptions rest = options;
    rest.first = true;
    Unique result = unique_by_mask(order, order, begins, rest);
    result.values = transpose(copy(rows(result.first), 'C'), back);
    if (!options.first) result.first = {};
    return result;
}

}  // namespace weft
