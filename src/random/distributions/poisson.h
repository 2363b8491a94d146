// Poisson numbers: by products of uniform numbers where few are expected (Knuth, TAOCP 2, 3.4.1), else by
// transformed rejection (Hörmann, "The transformed rejection method for generating Poisson random variables",
// 1993, algorithm PTRS).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "random/bit_source.h"

namespace weft::distributions {

// As the processor rounds towards zero: what no int64 holds is the least one.
inline int64_t to_whole(double value) {
    return value >= -0x1p63 && value < 0x1p63 ? static_cast<int64_t>(value)
                                              : std::numeric_limits<int64_t>::min();
}

// The logarithm of the gamma function by Stirling's series (Zhang and Jin, "Computation of special
// functions", 1996), and that of factorials, from a table where they are small.
double log_gamma(double x);
double log_factorial(int64_t k);

class Poisson {
public:
    explicit Poisson(double lam);
    int64_t operator()(Bits& bits) const {
        if (lam_ >= 10) return by_rejection(bits);
        if (lam_ == 0) return 0;
        int64_t count = 0;
        for (double product = bits.next_double(); product > least_; product *= bits.next_double()) ++count;
        return count;
    }

private:
    int64_t by_rejection(Bits& bits) const;

    double lam_;
    double least_ = 0;
    double log_lam_ = 0, a_ = 0, b_ = 0, log_inverse_alpha_ = 0, surely_below_ = 0;
};

inline int64_t poisson(Bits& bits, double lam) { return Poisson(lam)(bits); }

}  // namespace weft::distributions
