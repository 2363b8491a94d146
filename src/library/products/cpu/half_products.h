// Products of 16-bit floats are those of their float32s, rounded once.
#pragma once

#include "library/products/contraction.h"

namespace weft::cpu_product {

ContractionReport contract_in_float32(const Contraction& contraction);

}  // namespace weft::cpu_product
