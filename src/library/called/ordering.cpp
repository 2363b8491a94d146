#include "core/shape.h"
#include "library/called/arrays.h"
#include "library/called/functions.h"
#include "library/ordering/search_loops.h"
#include "library/ordering/sort_loops.h"

namespace weft::called {

namespace {

constexpr int64_t kShort = 1024;

// Calls `sorts` with what the functions of library/ordering/sort_loops.h take.
template <class Sorts, class SortsShort>
int64_t order(EngineArguments& arguments, const Sorts& sorts, const SortsShort& sorts_short) {
    Made out(arguments.array());
    const Given in(arguments.array());
    const auto axis = static_cast<size_t>(arguments.integer());
    const int64_t length = in->shape[axis];
    Dims rows;
    for (size_t d = 0; d < in->shape.size(); ++d) {
        if (d != axis) rows.push_back(in->shape[d]);
    }
    const int64_t count = element_count(rows);
    if (count == 0 || length == 0) return 0;
    const auto row_at = [&](int64_t row) {
        SortedRow result{in->data, in->strides[axis], out->data, out->strides[axis]};
        for (size_t d = in->shape.size(); d-- > 0;) {
            if (d == axis) continue;
            const int64_t at = row % in->shape[d];
            row /= in->shape[d];
            result.from += at * in->strides[d];
            result.to += at * out->strides[d];
        }
        return result;
    };
    if (count == 1 && length <= kShort && !DType(in->type).is_complex()) {
        sorts_short(in->type, length, row_at(0));
    } else {
        sorts(in->type, count, length, row_at);
    }
    out.finish();
    return 0;
}

}  // namespace

int64_t sort(EngineArguments arguments) { return order(arguments, sort_rows, sort_short_row); }
int64_t argsort(EngineArguments arguments) { return order(arguments, argsort_rows, argsort_short_row); }

int64_t search_sorted(EngineArguments arguments) {
    Made positions(arguments.array());
    const Given row(arguments.array());
    const EngineArray values = arguments.array();
    const Given wanted(values, values.type, /*dense=*/true);
    const bool right = arguments.integer() != 0;
    weft::search_sorted(row->type, row->data, row->strides[0], row->shape[0], wanted->data,
                        element_count(wanted->shape), right, reinterpret_cast<int64_t*>(positions->data));
    positions.finish();
    return 0;
}

}  // namespace weft::called
