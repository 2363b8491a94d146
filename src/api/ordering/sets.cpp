#include "weft/sets.h"

#include <algorithm>

#include "api/recording/host_row.h"
#include "core/shape.h"
#include "library/ordering/counting_sort.h"
#include "library/ordering/neighbors.h"
#include "ops/resolve.h"
#include "weft/assembly.h"
#include "weft/indexing.h"

namespace weft {

namespace {

bool is_whole(DType dtype) { return dtype.is_integer() || dtype.is_bool(); }

// What stands by `rule` in elements that are in order, and where if that is asked for.
array chosen(const array& ordered, Neighbors rule, array* places = nullptr) {
    if (device_of(ordered).is_cpu()) {
        const HostRow elements(ordered);
        SelectedElements found =
            select_by_neighbors({elements.type(), elements.data(), elements.count(), false}, rule, places);
        if (places != nullptr) *places = row_of(std::move(found.places), ScalarType::kInt64, found.count);
        return row_of(std::move(found.values), ordered.dtype(), found.count);
    }
    const array next = ordered(slice(1, none)), here = ordered(slice(-1));
    array mask = empty_like(ordered, DType(ScalarType::kBool), 'C', Dims{ordered.size()});
    if (rule == Neighbors::kAgain) {
        if (mask.size() != 0) mask(-1) = false;
        mask(slice(-1)) = here == next;
    } else {
        mask(all) = true;
        mask(slice(-1)) = here != next;
        mask(slice(1, none)) = logical_and(array(mask(slice(1, none))), here != next);
    }
    if (places != nullptr) *places = nonzero(mask)[0];
    return ordered(mask);
}

array joined(const array& first, const array& second) { return concatenate({ravel(first), ravel(second)}); }

array set_of(const array& input, bool assume_unique) {
    return assume_unique ? ravel(input) : unique(input).values;
}

}  // namespace

array union1d(const array& first, const array& second) { return unique(joined(first, second)).values; }

array intersect1d(const array& first, const array& second, bool assume_unique) {
    const array both = joined(set_of(first, assume_unique), set_of(second, assume_unique));
    return chosen(sort(both, 0), Neighbors::kAgain);
}

Intersection intersect1d_with_indices(const array& first, const array& second, bool assume_unique) {
    Unique a{ravel(first), {}, {}, {}}, b{ravel(second), {}, {}, {}};
    if (!assume_unique) {
        a = unique(first, {.first = true});
        b = unique(second, {.first = true});
    }
    const array both = joined(a.values, b.values);
    const array order = argsort(both, 0);
    array places;
    Intersection result{chosen(both(order), Neighbors::kAgain, &places), {}, {}};
    result.in_first = order(places);
    result.in_second = order(places + 1) - a.values.size();
    if (!assume_unique) {
        result.in_first = a.first(result.in_first);
        result.in_second = b.first(result.in_second);
    }
    return result;
}

array setxor1d(const array& first, const array& second, bool assume_unique) {
    return chosen(sort(joined(set_of(first, assume_unique), set_of(second, assume_unique)), 0),
                  Neighbors::kAlone);
}

array setdiff1d(const array& first, const array& second, bool assume_unique) {
    const array own = set_of(first, assume_unique);
    return own(isin(own, second, true));
}

namespace {

// Integers in the host's memory: by a table with a bit for each that there could be, if these are few enough
// or the table is asked for.
array isin_table(const array& element, const array& wanted, bool invert, SetSearch search) {
    if (!device_of(element).is_cpu() || !device_of(wanted).is_cpu()) return {};
    const HostRow row(wanted);
    const IntegerRow given{row.type(), row.data(), row.count()};
    const auto elements_and_wanted = static_cast<uint64_t>(element.size() + wanted.size());
    const std::optional<KeyRange> range = range_if_dense(given, UINT64_MAX);
    if (!range) return {};
    if (search == SetSearch::kTable) {
        const DType dtype = wanted.dtype();
        const int64_t bits = 8 * dtype.itemsize() - (dtype.is_signed_integer() ? 1 : 0);
        if (bits < 64 && range->width >> bits != 0)
            throw RuntimeError(
                "You have specified kind='table', but the range of values in `ar2` or `ar1` exceed the "
                "maximum integer of the datatype. Please set `kind` to None or 'sort'.");
    }
    if (range->width > 6 * elements_and_wanted) return {};
    const HostRow elements(element);
    BufferPtr found = cpu_device().allocate(static_cast<size_t>(element.size()));
    find_members({elements.type(), elements.data(), elements.count()}, given, *range, invert,
                 reinterpret_cast<bool*>(found->data()));
    return array_of(std::move(found), ScalarType::kBool, element.shape(), c_strides(element.shape(), 1));
}

}  // namespace

array isin(const array& element, const array& test_elements, bool invert, SetSearch search) {
    const bool whole = is_whole(element.dtype()) && is_whole(test_elements.dtype());
    if (search == SetSearch::kTable && !whole)
        throw ValueError(
            "The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or "
            "None for kind.");
    const auto constant = [&] {
        array result = empty_like(element, DType(ScalarType::kBool), 'C', {});
        result(ellipsis) = invert;
        return result;
    };
    if (test_elements.size() == 0) return constant();
    if (whole && search != SetSearch::kSort) {
        const array found = isin_table(element, test_elements, invert, search);
        if (found.valid()) return found;
    }
    array wanted = whole ? unique(test_elements).values : sort(ravel(test_elements), 0);
    DType common = promote_types(element.dtype(), wanted.dtype());
    if (whole && common.is_floating()) {
        // uint64 beside a signed dtype: as float64, which is common to both, different integers would be
        // equal.
        if (element.dtype() == DType(ScalarType::kUInt64)) {
            wanted = astype(wanted(wanted >= 0), ScalarType::kUInt64);
        } else {
            wanted = astype(wanted(wanted <= INT64_MAX), ScalarType::kInt64);
        }
        if (wanted.size() == 0) return constant();
        common = promote_types(element.dtype(), wanted.dtype());
    }
    const array elements = astype(element, common, 'K', Casting::kUnsafe, false);
    wanted = astype(wanted, common, 'K', Casting::kUnsafe, false);
    const array near = wanted(minimum(searchsorted(wanted, elements, false), wanted.size() - 1));
    return invert ? near != elements : near == elements;
}

}  // namespace weft
