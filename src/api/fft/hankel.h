// The fast Hankel transform (FFTLog), with what its callers may want to warn of.
#pragma once

#include "weft/array.h"

namespace weft::fft {

struct HankelOptions {
    double dln, mu, offset = 0, bias = 0;
    bool inverse = false;
};
struct HankelResult {
    array values;
    bool singular;  // the average has no image, and counts as zero
};
HankelResult hankel(const array& a, const HankelOptions& options);

}  // namespace weft::fft
