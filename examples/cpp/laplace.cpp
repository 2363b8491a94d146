// The temperature of a square plate with one hot edge, found by averaging neighbours until nothing changes:
// the loop of examples/laplace.py, and its result checked against the series that solves the equation.
#include <weft/weft.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numbers>

using weft::slice, weft::none;

weft::array relaxed(int64_t extent, int steps) {
    weft::array u = weft::zeros({extent, extent});
    u(0) = 1.0;
    const auto inner = slice(1, -1), before = slice(-2), after = slice(2, none);
    for (int step = 0; step < steps; ++step)
        u(inner, inner) = 0.25 * (u(after, inner) + u(before, inner) + u(inner, after) + u(inner, before));
    return u;
}

// At (x, y) of the unit square that is 1 along y = 0 and 0 along the other edges.
double exact(double x, double y) {
    constexpr double pi = std::numbers::pi;
    double sum = 0;
    for (int n = 1; n < 200; n += 2)
        sum += 4 / (n * pi) * std::sin(n * pi * x) * std::sinh(n * pi * (1 - y)) / std::sinh(n * pi);
    return sum;
}

int main(int count, char** arguments) {
    const int64_t extent = count > 1 ? std::atoi(arguments[1]) : 101;
    const weft::array u = relaxed(extent, static_cast<int>(2 * extent * extent));
    const double step = 1.0 / static_cast<double>(extent - 1);
    double worst = 0;
    for (const int64_t row : {extent / 4, extent / 2, 3 * extent / 4}) {
        for (const int64_t column : {extent / 4, extent / 2}) {
            const double found = u.item<double>(row, column);
            const double wanted = exact(static_cast<double>(column) * step, static_cast<double>(row) * step);
            worst = std::max(worst, std::abs(found - wanted));
        }
    }
    std::cout << "middle " << u.item<double>(extent / 2, extent / 2) << ", largest error " << worst << '\n';
    return worst < 1e-3 ? 0 : 1;
}
