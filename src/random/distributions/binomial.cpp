#include "random/distributions/whole.h"

#include <algorithm>

namespace weft::distributions {

std::atomic<bool> corrects_binomial{false};

Binomial::Binomial(Of of, int64_t n, double p) : n_(n), p_(p) {
    corrected_ = of == Of::kGenerator && corrects_binomial.load(std::memory_order_relaxed);
    is_nothing_ = of != Of::kRandomState && (n == 0 || p == 0.0);  // RandomState draws even so
    if (is_nothing_) return;
    if (!(p <= 0.5)) {
        mirrored_ = true;
        p_ = 1.0 - p;
    }
    const auto count = static_cast<double>(n);
    by_rejection_ = !(p_ * count <= 30.0);
    if (!by_rejection_) {
        q_ = 1.0 - p_;
        none_ = std::exp(count * (of != Of::kRandomState ? std::log1p(-p_) : std::log(q_)));
        const double mean = count * p_;
        bound_ = to_whole(std::min(count, mean + 10.0 * std::sqrt(mean * q_ + 1)));
        return;
    }
    const double r = std::min(p_, 1.0 - p_);
    q_ = 1.0 - r;
    const double peak = count * r + r;
    mode_ = to_whole(std::floor(peak));
    const auto mode = static_cast<double>(mode_);
    triangle_ = std::floor(2.195 * std::sqrt(count * r * q_) - 4.6 * q_) + 0.5;
    middle_ = mode + 0.5;
    left_ = middle_ - triangle_;
    right_ = middle_ + triangle_;
    rise_ = 0.134 + 20.5 / (15.3 + mode);
    const double to_left = (peak - left_) / (peak - left_ * r);
    left_slope_ = to_left * (1.0 + to_left / 2.0);
    const double to_right = (right_ - peak) / (right_ * q_);
    right_slope_ = to_right * (1.0 + to_right / 2.0);
    with_parallelogram_ = triangle_ * (1.0 + 2.0 * rise_);
    with_left_tail_ = with_parallelogram_ + rise_ / left_slope_;
    all_ = with_left_tail_ + rise_ / right_slope_;
}

int64_t Binomial::inverted(Bits& bits) const {
    int64_t count = 0;
    double odds = none_, u = bits.next_double();
    while (u > odds) {
        if (++count > bound_) {
            count = 0;
            odds = none_;
            u = bits.next_double();
            continue;
        }
        u -= odds;
        odds = static_cast<double>(n_ - count + 1) * p_ * odds / (static_cast<double>(count) * q_);
    }
    return count;
}

int64_t Binomial::rejected(Bits& bits) const {
    const auto mode = static_cast<double>(mode_);
    while (true) {
        const double u = bits.next_double() * all_;
        double v = bits.next_double();
        if (u <= triangle_) return to_whole(std::floor(middle_ - triangle_ * v + u));
        int64_t y = 0;
        if (u <= with_parallelogram_) {
            const double x = left_ + (u - triangle_) / rise_;
            v = v * rise_ + 1.0 - std::fabs(mode - x + 0.5) / triangle_;
            if (v > 1.0) continue;
            y = to_whole(std::floor(x));
        } else if (u <= with_left_tail_) {
            y = to_whole(std::floor(left_ + std::log(v) / left_slope_));
            if (y < 0 || v == 0.0) continue;
            v = v * (u - with_parallelogram_) * left_slope_;
        } else {
            y = to_whole(std::floor(right_ - std::log(v) / right_slope_));
            if (y > n_ || v == 0.0) continue;
            v = v * (u - with_left_tail_) * right_slope_;
        }
        if (is_below(y, v)) return y;
    }
}

bool Binomial::is_below(int64_t y, double height) const {
    const auto count = static_cast<double>(n_), mode = static_cast<double>(mode_);
    const double variance = count * p_ * q_;
    const int64_t steps = y > mode_ ? y - mode_ : mode_ - y;
    const auto distance = static_cast<double>(steps);
    if (!(steps > 20 && distance < variance / 2.0 - 1)) {  // the quotients of the odds, one after another
        const double s = p_ / q_, a = s * static_cast<double>(n_ + 1);
        double odds = 1.0;
        for (int64_t i = mode_ + 1; i <= y; ++i) odds *= a / static_cast<double>(i) - s;
        for (int64_t i = y + 1; i <= mode_; ++i) odds /= a / static_cast<double>(i) - s;
        return !(height > odds);
    }
    // Between two parabolas around the logarithm Stirling's formula decides.
    const double rho =
        distance / variance * ((distance * (distance / 3.0 + 0.625) + 0.16666666666666666) / variance + 0.5);
    const double t = static_cast<double>(-steps * steps) / (2 * variance);
    const double logarithm = std::log(height);
    if (logarithm < t - rho) return true;
    if (logarithm > t + rho) return false;
    const double x1 = static_cast<double>(y) + 1, f1 = mode + 1;
    const double z = count + 1 - mode, w = count - static_cast<double>(y) + 1;
    // Of the paper's last two terms the sign is wrong, and of each the first number was. Both are what
    // numbers of RandomState depend on, and of Generator before NumPy 2.5.
    const double first = corrected_ ? 13860. : 13680.;
    const auto error = [first](double x) {
        const double square = x * x;
        return (first - (462. - (132. - (99. - 140. / square) / square) / square) / square) / x / 166320.;
    };
    const double bound = middle_ * std::log(f1 / x1) +
                         (static_cast<double>(n_ - mode_) + 0.5) * std::log(z / w) +
                         static_cast<double>(y - mode_) * std::log(w * p_ / (x1 * q_)) + error(f1) + error(z);
    return !(logarithm > (corrected_ ? bound - error(x1) - error(w) : bound + error(x1) + error(w)));
}

}  // namespace weft::distributions
