// Distributions of whole numbers: each is a function of the bits and its parameters, as NumPy's Generator
// draws it, or as its RandomState does, with NumPy's numbers.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>

#include "random/distributions/poisson.h"
#include "random/distributions/standard.h"

namespace weft::distributions {

// In [0, most], by as many bits as that has, again and again.
template <class Source>
uint64_t masked(Source& bits, uint64_t most) {
    if (most == 0) return 0;
    const uint64_t mask = UINT64_MAX >> std::countl_zero(most);
    while (true) {
        const uint64_t drawn = (most <= UINT32_MAX ? bits.next32() : bits.next64()) & mask;
        if (drawn <= most) return drawn;
    }
}

// Whether Generator's binomial numbers are those of NumPy 2.5 and later, which corrected the paper's sum of
// errors, or those before. Set once, at the beginning.
extern std::atomic<bool> corrects_binomial;

// How many trials succeed. Few are expected: by inversion. Else: Kachitvichyanukul and Schmeiser, "Binomial
// random variate generation", 1988 (BTPE).
class Binomial {
public:
    // kUncorrected: Generator's before NumPy 2.5 in any case.
    enum class Of : uint8_t { kGenerator, kUncorrected, kRandomState };
    Binomial(Of of, int64_t n, double p);
    int64_t operator()(Bits& bits) const {
        if (is_nothing_) return 0;
        const int64_t drawn = by_rejection_ ? rejected(bits) : inverted(bits);
        return mirrored_ ? n_ - drawn : drawn;
    }

private:
    int64_t inverted(Bits& bits) const;
    int64_t rejected(Bits& bits) const;
    // Whether a number near the mode, at a height relative to it, is taken.
    bool is_below(int64_t y, double height) const;

    int64_t n_;
    double p_;  // at most a half, where it is mirrored
    bool is_nothing_ = false, mirrored_ = false, by_rejection_ = false, corrected_ = false;
    double q_ = 0;
    // Inversion: the odds of no success, and where the odds have become too small.
    double none_ = 0;
    int64_t bound_ = 0;
    // Rejection: the mode; a triangle, a parallelogram and two exponential tails over it.
    int64_t mode_ = 0;
    double triangle_ = 0, middle_ = 0, left_ = 0, right_ = 0, rise_ = 0, left_slope_ = 0, right_slope_ = 0;
    double with_parallelogram_ = 0, with_left_tail_ = 0, all_ = 0;
};

inline int64_t binomial(Bits& bits, int64_t n, double p) {
    return Binomial(Binomial::Of::kGenerator, n, p)(bits);
}
inline int64_t legacy_binomial(Bits& bits, int64_t n, double p) {
    return Binomial(Binomial::Of::kRandomState, n, p)(bits);
}

template <class From>
int64_t negative_binomial(Bits& bits, double n, double p) {
    return poisson(bits, (1 - p) / p * standard_gamma<From>(bits, n));
}

// Stadlober, "The ratio of uniforms approach for generating discrete random variates", 1990 (HRUA), or one of
// the sample after the other.
int64_t hypergeometric(Bits& bits, int64_t good, int64_t bad, int64_t sample);
int64_t legacy_hypergeometric(Bits& bits, int64_t good, int64_t bad, int64_t sample);

int64_t geometric(Bits& bits, double p);
int64_t legacy_geometric(Bits& bits, double p);
// Devroye, "Non-uniform random variate generation", 1986, X.6.
int64_t zipf(Bits& bits, double a);
int64_t legacy_zipf(Bits& bits, double a);
// Kemp, "Efficient generation of logarithmically distributed pseudo-random variables", 1981 (LK).
int64_t logseries(Bits& bits, double p);
int64_t legacy_logseries(Bits& bits, double p);

}  // namespace weft::distributions
