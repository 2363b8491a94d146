// What follows from LU factors: their matrices apart, the order of rows, solutions.
#include <cstring>
#include <numeric>

#include "api/linalg/inputs.h"
#include "core/shape.h"
#include "device/devices.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/operations.h"
#include "weft/ops.h"

namespace weft::linalg {

namespace {

void apply_swaps(const int64_t* pivots, int64_t count, int64_t* order, int64_t rows) {
    std::iota(order, order + rows, 0);
    for (int64_t i = 0; i < count; ++i) {
        if (pivots[i] < 0 || pivots[i] >= rows || i >= rows)
            throw IndexError("pivot " + std::to_string(pivots[i]) + " is out of bounds for " +
                             std::to_string(rows) + " rows");
        std::swap(order[i], order[pivots[i]]);
    }
}

// Where each row of the factored matrix was before the swaps; or with `inverse`, where each row went.
array order_of(const array& given, int64_t rows, bool inverse) {
    const array pivots = copy(astype(move_to(given, cpu_device()), ScalarType::kInt64), 'C');
    Dims batch = pivots.shape();
    const int64_t each = batch.back();
    batch.resize(batch.size() - 1);
    Output result({ScalarType::kInt64, ScalarType::kInt64}, batch, {rows});
    const HostView view(pivots);
    const auto* from = reinterpret_cast<const int64_t*>(view.data());
    auto* to = reinterpret_cast<int64_t*>(result.data());
    std::vector<int64_t> order(static_cast<size_t>(rows));
    for (int64_t k = 0; k < element_count(batch); ++k, from += each, to += rows) {
        apply_swaps(from, each, order.data(), rows);
        for (int64_t i = 0; i < rows; ++i) {
            const int64_t row = order[static_cast<size_t>(i)];
            to[inverse ? row : i] = inverse ? i : row;
        }
    }
    return move_to(result.finish(), device_of(given));
}

array rows_at(const array& matrices, const array& order) {
    if (order.ndim() == 1 && matrices.ndim() == 2) return matrices(order);
    const Dims own = batch_of(matrices), other = batch_of(order(ellipsis, newaxis));
    const Dims* const both[2] = {&own, &other};
    const Dims batch = broadcast_shapes(both);
    Dims shape = batch, places = batch;
    const Dims& core = matrices.shape();
    for (const int64_t extent : {core[core.size() - 2], core.back()}) shape.push_back(extent);
    for (const int64_t extent : {order.shape().back(), int64_t{1}}) places.push_back(extent);
    return take_along_axis(broadcast_to(matrices, shape), broadcast_to(order(ellipsis, newaxis), places), -2);
}

struct Parts {
    array L, U, places;  // a = L[places] U
};

Parts parts_of(const array& a) {
    const DeviceScope scope(device_of(a));
    const LUResult found = lu_factor(a);
    const int64_t rows = a.shape()[a.shape().size() - 2], least = std::min(rows, a.shape().back());
    const array left = tril(found.factors(ellipsis, slice(least)), -1);
    return {add(left, eye(rows, least, 0, found.factors.dtype())),
            triu(found.factors(ellipsis, slice(least), all)), order_of(found.pivots, rows, true)};
}

}  // namespace

array lu_order(const array& pivots, int64_t rows) {
    if (pivots.ndim() == 0) throw ValueError("pivots have one axis at least");
    return order_of(pivots, rows, false);
}

PLU lu(const array& a, LURows rows) {
    const Parts parts = parts_of(a);
    if (rows == LURows::kIndices) return {parts.places, parts.L, parts.U};
    const int64_t count = parts.L.shape()[parts.L.shape().size() - 2];
    const bool is_number = count == 1 && parts.U.shape().back() == 1;
    const DType type = is_number ? parts.L.dtype() : parts.L.dtype().real();
    const array columns = move_to(arange(count), device_of(parts.places));
    return {astype(equal(parts.places(ellipsis, newaxis), columns), type), parts.L, parts.U};
}

PLU lu_permuted(const array& a) {
    const Parts parts = parts_of(a);
    return {{}, rows_at(parts.L, parts.places), parts.U};
}

array lu_solve(const array& factors, const array& pivots, const array& b, char form) {
    check_square(factors);
    const bool vector = b.ndim() == 1;
    const int64_t n = factors.shape().back();
    if (b.ndim() == 0 || pivots.ndim() == 0 || b.shape()[vector ? 0 : b.shape().size() - 2] != n)
        throw ValueError("Shapes of lu " + shape_text(factors.shape()) + " and b " + shape_text(b.shape()) +
                         " are incompatible");
    const array columns = vector ? b(all, newaxis) : b;
    const TriangularOptions unit{.lower = true, .unit_diagonal = true, .form = form},
        upper{.form = form, .divides_by_zero = true};
    array x;
    if (form == 'N') {
        x = solve_triangular(factors, rows_at(columns, order_of(pivots, n, false)), unit);
        x = solve_triangular(factors, x, upper);
    } else {
        x = solve_triangular(factors, columns, upper);
        x = rows_at(solve_triangular(factors, x, unit), order_of(pivots, n, true));
    }
    return vector ? x(ellipsis, 0) : x;
}

}  // namespace weft::linalg
