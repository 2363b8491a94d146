#include "api/random/vectors.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "api/random/filled.h"
#include "library/random/odds.h"
#include "random/bit_stream.h"
#include "random/distributions/vectors.h"
#include "weft/errors.h"
#include "weft/indexing.h"
#include "weft/linalg.h"
#include "weft/operations.h"
#include "weft/ops.h"
#include "weft/products.h"

namespace weft {

namespace {

using distributions::Constraint;

Dims with_axis(Dims shape, int64_t extent) {
    shape.push_back(extent);
    return shape;
}

template <class T>
std::span<T> as(char* data, int64_t count) {
    std::fill_n(reinterpret_cast<T*>(data), count, T{});
    return {reinterpret_cast<T*>(data), static_cast<size_t>(count)};
}

array transposed(const array& matrix) { return transpose(matrix, {}); }

}  // namespace

array draw_multinomial(const BitSource& source, const array& n, const array& odds,
                       const std::optional<Dims>& size, bool legacy) {
    if (odds.ndim() == 0 || (!legacy && odds.shape().back() == 0))
        throw ValueError(
            "pvals must have at least 1 dimension and the last dimension of pvals must be greater than 0.");
    const auto width = static_cast<size_t>(odds.shape().back());
    check_elements({"pvals", Constraint::kUpToOne}, odds);
    const std::vector<double> all = elements_in_order<double>(odds);
    for (size_t i = 0; width != 0 && i < all.size(); i += width) {
        if (sum_of_odds(std::span(all).subspan(i, width - 1)) > 1.0 + 1e-12)
            throw ValueError(odds.ndim() == 1 ? "sum(pvals[:-1]) > 1.0" : "sum(pvals[...,:-1]) > 1.0");
    }
    check_elements({"n", Constraint::kNonNegative, true}, n);
    Dims rows = odds.shape();
    rows.resize(rows.size() - 1);
    const Dims *counts_shape = &n.shape(), *rows_shape = &rows;
    std::vector<const Dims*> shapes = {counts_shape, rows_shape};
    if (size) shapes.push_back(&*size);
    const Dims together = broadcast_shapes(shapes);
    if (size && together != *size)
        throw ValueError("Output size " + tuple_text(*size) +
                         " is not compatible with broadcast dimensions of inputs " + tuple_text(together) +
                         ".");
    const Dims& shape = together;
    const std::vector<int64_t> counts = elements_in_order<int64_t>(broadcast_to(n, shape));
    const array places =
        reshape(arange(0, rows.empty() ? 1 : element_count(rows), 1, ScalarType::kInt64), rows);
    const std::vector<int64_t> row_of = elements_in_order<int64_t>(broadcast_to(places, shape));
    Rewind rewind(source);
    Bits bits(source);
    array result =
        filled(with_axis(shape, odds.shape().back()), ScalarType::kInt64, [&](char* data, int64_t count) {
            const std::span<int64_t> out = as<int64_t>(data, count);
            for (size_t i = 0; width != 0 && i < counts.size(); ++i) {
                const auto row = static_cast<size_t>(row_of[i]) * width;
                (legacy ? distributions::legacy_multinomial : distributions::multinomial)(
                    bits, counts[i], std::span(all).subspan(row, width), out.subspan(i * width, width));
            }
        });
    rewind.keep();
    return result;
}

array draw_dirichlet(const Draws& from, const array& alpha, const Dims& size, bool legacy) {
    if (alpha.ndim() != 1)
        throw ValueError(
            "setting an array element with a sequence. The requested array would exceed the maximum number "
            "of "
            "dimension of 1.");
    const std::vector<double> values = elements_in_order<double>(alpha);
    for (const double each : values) {
        if (legacy ? each <= 0 : each < 0) throw ValueError(legacy ? "alpha <= 0" : "alpha < 0");
    }
    Rewind rewind(from.source, from.spare);
    Bits bits(from.source, from.spare);
    array result =
        filled(with_axis(size, alpha.shape()[0]), ScalarType::kFloat64, [&](char* data, int64_t count) {
            const std::span<double> out = as<double>(data, count);
            if (legacy) {
                distributions::legacy_dirichlet(bits, values, out);
            } else {
                distributions::dirichlet(bits, values, out);
            }
        });
    rewind.keep();
    return result;
}

array draw_colors(const BitSource& source, const array& colors, int64_t sample, const Dims& size,
                  bool by_count) {
    const std::vector<int64_t> values = elements_in_order<int64_t>(colors);
    if (sample > std::reduce(values.begin(), values.end(), int64_t{0}))
        throw ValueError("nsample > sum(colors)");
    Rewind rewind(source);
    Bits bits(source);
    array result =
        filled(with_axis(size, colors.shape()[0]), ScalarType::kInt64, [&](char* data, int64_t count) {
            const std::span<int64_t> out = as<int64_t>(data, count);
            if (by_count) {
                distributions::hypergeometric_by_count(bits, values, sample, out);
            } else {
                distributions::hypergeometric_by_marginals(bits, values, sample, out);
            }
        });
    rewind.keep();
    return result;
}

NormalVectors normal_vectors(const array& rows, const array& mean, const array& cov, Factors factors,
                             double tolerance) {
    if (factors == Factors::kCholesky) return {add(mean, matmul(rows, transposed(linalg::cholesky(cov))))};
    if (factors == Factors::kEigh) {
        const auto [values, vectors] = linalg::eigh(cov);
        const bool is_covariance = !static_cast<bool>(any(less(values, -tolerance)));
        const array factor = multiply(vectors, sqrt(absolute(values)));
        return {add(mean, matmul(rows, transposed(factor))), is_covariance};
    }
    const auto [u, values, vh] = linalg::svd(cov);
    const array difference = absolute(subtract(matmul(multiply(transposed(vh), values), vh), cov));
    const array allowed = add(multiply(absolute(cov), tolerance), tolerance);
    const bool is_covariance = !static_cast<bool>(any(logical_not(less_equal(difference, allowed))));
    const array roots = sqrt(values);
    if (factors == Factors::kLegacy)
        return {add(matmul(rows, multiply(reshape(roots, {-1, 1}), vh)), mean), is_covariance};
    return {add(mean, matmul(rows, transposed(multiply(u, roots)))), is_covariance};
}

}  // namespace weft
