#include "api/random/filled.h"
#include "api/random/random.h"
#include "api/recording/host_row.h"
#include "library/random/odds.h"
#include "random/bit_stream.h"
#include "weft/errors.h"

namespace weft {

array draw_by_odds(const BitSource& source, const array& given, const Dims& shape, bool replace,
                   double tolerance) {
    if (given.ndim() != 1) throw ValueError("p must be 1-dimensional");
    const array on_host = move_to(given, cpu_device());
    const HostRow row(astype(on_host, ScalarType::kFloat64, 'K', Casting::kUnsafe, false));
    const std::span<const double> odds(row.as<double>(), static_cast<size_t>(row.count()));
    Rewind rewind(source);
    array result = filled(shape, ScalarType::kInt64, [&](char* data, int64_t count) {
        draw_by_odds(source, odds, replace, tolerance,
                     {reinterpret_cast<int64_t*>(data), static_cast<size_t>(count)});
    });
    rewind.keep();
    return result;
}

array draw_permuted(const BitSource& source, const array& x, std::optional<int64_t> axis) {
    array mixed;
    if (!axis) {
        const bool columns_first = x.ndim() > 1 && x.f_contiguous() && !x.c_contiguous();
        const char order = columns_first ? 'F' : 'C';
        const array positions = draw_permutation(source, x.size());
        const array flat = take(ravel(x, order), positions, 0, TakeMode::kRaise);
        if (x.ndim() == 1) return flat;
        mixed = reshape(flat, x.shape(), order);
    } else {
        const auto along = static_cast<int64_t>(normalize_axis(*axis, x.ndim()));
        const int64_t length = x.shape()[static_cast<size_t>(along)];
        if (x.size() == 0) return copy(x);
        // Rows are drawn in the order that they have with the axis as the last.
        Dims rows, back;
        for (int64_t d = 0; d < x.ndim(); ++d) {
            if (d != along) rows.push_back(x.shape()[static_cast<size_t>(d)]);
            back.push_back(d < along ? d : d == along ? x.ndim() - 1 : d - 1);
        }
        rows.push_back(length);
        const array orders = draw_permutation(source, length, x.size() / length);
        mixed = take_along_axis(x, transpose(reshape(orders, rows), back), along);
        if (x.c_contiguous()) return mixed;
    }
    array result = copy(x);  // in its layout
    assign(result, mixed);
    return result;
}

}  // namespace weft
