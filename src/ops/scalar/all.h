// Every scalar operation of the op table.
#pragma once

#include "ops/scalar/cast.h"
#include "ops/scalar/comparison.h"
#include "ops/scalar/complex.h"
#include "ops/scalar/error_function.h"
#include "ops/scalar/exponential.h"
#include "ops/scalar/floating.h"
#include "ops/scalar/integer.h"
#include "ops/scalar/math.h"
#include "ops/scalar/real.h"
#include "ops/scalar/trigonometry.h"
#include "ops/scalar/types.h"
