// np.block, and np.trim_zeros.
#include <algorithm>
#include <string>
#include <vector>

#include "api/recording/part_of_axis.h"
#include "core/shape.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/errors.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft {

namespace {

using Place = std::vector<size_t>;  // of a block, list by list

std::string text_of(const Place& place) {
    std::string text = "arrays";
    for (const size_t k : place) text += "[" + std::to_string(k) + "]";
    return text;
}

struct Shown {
    Place first;            // where the first array is
    bool is_empty = false;  // or a list without one
    int ndim = 0;           // the most axes of an array
};

/// What is in nested lists, which are equally deep.
Shown looked_at(const Block& block, Place& place) {
    if (const array* only = block.only()) return {.first = place, .ndim = only->ndim()};
    Shown all{.first = place, .is_empty = true};
    if (block.parts().empty()) {
        all.first.push_back(0);
        return all;
    }
    for (size_t k = 0; k < block.parts().size(); ++k) {
        place.push_back(k);
        const Shown own = looked_at(block.parts()[k], place);
        place.pop_back();
        if (k == 0) {
            all = own;
            continue;
        }
        all.ndim = std::max(all.ndim, own.ndim);
        if (own.first.size() != all.first.size())
            throw ValueError("List depths are mismatched. First element was at depth " +
                             std::to_string(all.first.size()) + ", but there is an element at depth " +
                             std::to_string(own.first.size()) + " (" + text_of(own.first) + ")");
        if (own.is_empty) all.first = own.first, all.is_empty = true;
    }
    return all;
}

array joined(const Block& block, int axis, int ndim) {
    if (const array* only = block.only()) {
        Dims shape(static_cast<size_t>(ndim - only->ndim()), 1);
        for (const int64_t extent : only->shape()) shape.push_back(extent);
        return reshape(*only, Shape(shape));
    }
    std::vector<array> parts;
    for (const Block& part : block.parts()) parts.push_back(joined(part, axis + 1, ndim));
    return concatenate(parts, axis);
}

}  // namespace

array block(const Block& arrays) {
    Place place;
    Shown all = looked_at(arrays, place);
    if (all.is_empty) {
        all.first.pop_back();
        throw ValueError("List at " + text_of(all.first) + " cannot be empty");
    }
    if (const array* only = arrays.only()) return copy(*only, 'C');
    const int depth = static_cast<int>(all.first.size()), ndim = std::max(depth, all.ndim);
    return joined(arrays, ndim - depth, ndim);
}

array trim_zeros(const array& filt, bool front, bool back, std::span<const int64_t> axes) {
    array kept = filt;
    const array mask = astype(filt, ScalarType::kBool);
    for (const int64_t each : axes) {
        const int axis = normalize_axis(each, filt.ndim());
        Dims others;
        for (int d = 0; d < filt.ndim(); ++d)
            if (d != axis) others.push_back(d);
        const array row = others.empty() ? mask : any(mask, others);
        const int64_t extent = filt.shape()[static_cast<size_t>(axis)];
        int64_t start = 0, stop = extent;
        if (extent == 0 || !truth_of(any(row))) {  // nothing but zeros
            start = front ? extent : 0;
            stop = front ? extent : 0;
        } else {
            if (front) start = argmax(row).item<int64_t>();
            if (back) stop = extent - argmax(flip(row)).item<int64_t>();
        }
        kept = part_of_axis(kept, axis, start, stop - start);
    }
    return kept;
}

array trim_zeros(const array& filt, bool front, bool back) {
    std::vector<int64_t> axes;
    for (int d = 0; d < filt.ndim(); ++d) axes.push_back(d);
    return trim_zeros(filt, front, back, axes);
}

}  // namespace weft
