// What a first program does: expressions, slices, reductions, products, errors. Exits with 1 where something
// is not as it should be.
#include <weft/weft.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <vector>

namespace {

void check(bool holds, const char* what) {
    if (holds) return;
    std::cerr << "not so: " << what << '\n';
    std::exit(1);
}

}  // namespace

int main() {
    // Large enough to be compiled at run time.
    const weft::array a = weft::linspace(0, 1, 100'001), b = weft::ones(100'001);
    const auto y = weft::exp(a) * 2.0 + b;
    check(!weft::evaluated(y), "nothing is computed before it is looked at");
    check(std::abs(y(-1).item<double>() - (2 * std::exp(1.0) + 1)) < 1e-14, "the last element");
    weft::clear_kernel_history();
    const double total = weft::sum(weft::sin(a) * a).item<double>();
    check(std::abs(total / 1e5 - (std::sin(1.0) - std::cos(1.0))) < 1e-5, "a sum");
    check(weft::kernel_history().size() <= 2,
          "a sum and what feeds it fuse");  // long sums end in a kernel of their own

    weft::array field = weft::zeros({4, 5});
    field(0) = 1.0;
    field(weft::slice(1, -1), weft::slice(1, -1)) =
        0.5 *
        (field(weft::slice(-2), weft::slice(1, -1)) + field(weft::slice(2, weft::none), weft::slice(1, -1)));
    field(weft::all, 0) += 2;
    check(weft::all(field == weft::array{{3.0, 1.0, 1.0, 1.0, 1.0},
                                         {2.0, 0.5, 0.5, 0.5, 0.0},
                                         {2.0, 0.0, 0.0, 0.0, 0.0},
                                         {2.0, 0.0, 0.0, 0.0, 0.0}})
              .item<bool>(),
          "slices");

    const weft::array m = weft::arange(10'000.0);
    const weft::array square = weft::reshape(m, {100, -1});
    check(bool(weft::all(weft::matmul(square, weft::ones(100)) == weft::sum(square, 1))), "a product");

    const weft::Elements<const double> seen(field);
    check(std::accumulate(seen.begin(), seen.end(), 0.0) == 14.5, "elements as a span");
    try {
        weft::zeros({2, 3}) + weft::zeros({4, 5});
        check(false, "an error");
    } catch (const weft::ValueError& error) {
        std::cout << error.what() << '\n';
    }
    std::cout << field << '\n';
}
