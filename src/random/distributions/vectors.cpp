#include "random/distributions/vectors.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/threads/interrupt.h"
#include "random/distributions/real.h"
#include "random/distributions/whole.h"

namespace weft::distributions {

namespace {

// Calls `draw` with each row.
template <class T, class Draw>
void for_rows(std::span<T> out, size_t width, const Draw& draw) {
    PausePoints pauses;
    for (size_t i = 0; width != 0 && i + width <= out.size(); i += width, pauses.next_iteration())
        draw(out.subspan(i, width));
}

template <class From>
void by_gamma(Bits& bits, std::span<const double> alpha, std::span<double> out) {
    for_rows(out, alpha.size(), [&](std::span<double> row) {
        double sum = 0;
        for (size_t j = 0; j < row.size(); ++j) {
            row[j] = standard_gamma<From>(bits, alpha[j]);
            sum += row[j];
        }
        const double inverse = 1. / sum;
        for (double& each : row) each *= inverse;
    });
}

// More than half of all are drawn by what is left.
struct Sample {
    Sample(std::span<const int64_t> all_colors, int64_t wanted)
        : colors(all_colors), total(std::reduce(colors.begin(), colors.end(), int64_t{0})) {
        complement = wanted > total / 2;
        size = complement ? total - wanted : wanted;
    }
    bool is_nothing(int64_t wanted) const { return total == 0 || wanted == 0; }
    void finish(std::span<int64_t> row) const {
        for (size_t k = 0; complement && k < row.size(); ++k) row[k] = colors[k] - row[k];
    }

    std::span<const int64_t> colors;
    int64_t total, size = 0;
    bool complement = false;
};

void count_outcomes(Binomial::Of of, Bits& bits, int64_t n, std::span<const double> odds,
                    std::span<int64_t> out) {
    for_rows(out, odds.size(), [&](std::span<int64_t> row) {
        double left = 1.0;
        int64_t trials = n;
        for (size_t j = 0; j + 1 < row.size(); ++j) {
            row[j] = Binomial(of, trials, odds[j] / left)(bits);
            trials -= row[j];
            if (trials <= 0) break;
            left -= odds[j];
        }
        if (trials > 0) row.back() = trials;
    });
}

}  // namespace

void multinomial(Bits& bits, int64_t n, std::span<const double> odds, std::span<int64_t> out) {
    count_outcomes(Binomial::Of::kGenerator, bits, n, odds, out);
}

void legacy_multinomial(Bits& bits, int64_t n, std::span<const double> odds, std::span<int64_t> out) {
    count_outcomes(corrects_binomial ? Binomial::Of::kRandomState : Binomial::Of::kUncorrected, bits, n, odds,
                   out);
}

void dirichlet(Bits& bits, std::span<const double> alpha, std::span<double> out) {
    if (alpha.empty() || !(*std::ranges::max_element(alpha) < 0.1))
        return by_gamma<Modern<double>>(bits, alpha, out);
    std::vector<double> sums(alpha.size());
    double sum = 0;
    for (size_t j = alpha.size(); j-- > 0;) sums[j] = sum += alpha[j];
    if (!(sum > 0)) return;
    for_rows(out, alpha.size(), [&](std::span<double> row) {
        double left = 1.;
        for (size_t j = 0; j + 1 < row.size(); ++j) {
            const double part = beta(bits, alpha[j], sums[j + 1]);
            row[j] = left * part;
            left *= 1. - part;
            if (sums[j + 1] == 0) break;
        }
        row.back() = left;
    });
}

void legacy_dirichlet(Bits& bits, std::span<const double> alpha, std::span<double> out) {
    by_gamma<Legacy>(bits, alpha, out);
}

void hypergeometric_by_marginals(Bits& bits, std::span<const int64_t> colors, int64_t sample,
                                 std::span<int64_t> out) {
    const Sample all(colors, sample);
    if (all.is_nothing(sample)) return;
    for_rows(out, colors.size(), [&](std::span<int64_t> row) {
        int64_t wanted = all.size, others = all.total;
        for (size_t j = 0; wanted > 0 && j + 1 < row.size(); ++j) {
            others -= colors[j];
            row[j] = hypergeometric(bits, colors[j], others, wanted);
            wanted -= row[j];
        }
        if (wanted > 0) row.back() = wanted;
        all.finish(row);
    });
}

void hypergeometric_by_count(Bits& bits, std::span<const int64_t> colors, int64_t sample,
                             std::span<int64_t> out) {
    const Sample all(colors, sample);
    if (all.is_nothing(sample) || out.empty()) return;
    std::vector<size_t> balls;
    balls.reserve(static_cast<size_t>(all.total));
    for (size_t color = 0; color < colors.size(); ++color)
        balls.insert(balls.end(), static_cast<size_t>(colors[color]), color);
    for_rows(out, colors.size(), [&](std::span<int64_t> row) {
        const auto wanted = static_cast<size_t>(all.size);
        for (size_t j = 0; j < wanted; ++j)
            std::swap(balls[j], balls[j + masked(bits, static_cast<uint64_t>(balls.size() - j - 1))]);
        for (size_t j = 0; j < wanted; ++j) ++row[balls[j]];
        all.finish(row);
    });
}

}  // namespace weft::distributions
