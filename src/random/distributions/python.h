// Distributions of Python's own module random, on whose numbers they agree in every bit: each takes the same
// uniform numbers and computes the same of them in the same order, by the same functions of libm.
#pragma once

#include <cstdint>
#include <span>

#include "random/bit_source.h"

namespace weft::distributions::python {

double uniform(Bits& bits, double a, double b);
double triangular(Bits& bits, double low, double high, double mode);
double symmetric(Bits& bits, double low, double high);  // triangular, with its mode in the middle
double normalvariate(Bits& bits, double mu, double sigma);
double gauss(Bits& bits, double mu, double sigma);  // of a pair the second one waits as the spare number
double lognormvariate(Bits& bits, double mu, double sigma);
double expovariate(Bits& bits, double lambd);
double vonmisesvariate(Bits& bits, double mu, double kappa);
double gammavariate(Bits& bits, double alpha, double beta);
double betavariate(Bits& bits, double alpha, double beta);
double paretovariate(Bits& bits, double alpha);
double weibullvariate(Bits& bits, double alpha, double beta);

uint64_t random_bits(Bits& bits, int count);                          // up to 64 of them
uint64_t random_below(Bits& bits, uint64_t count);                    // 0 stands for 2**64
void shuffle(Bits& bits, std::span<int64_t> items);                   // as random.shuffle
void sample(Bits& bits, int64_t population, std::span<int64_t> out);  // positions, none of them twice

}  // namespace weft::distributions::python
