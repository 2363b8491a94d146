// All of weft for C++: #include <weft/weft.h>. Arrays are NumPy's, evaluated when somebody looks at them;
// nothing of Python takes part. docs/guide/cpp.md is the guide.
//
//     weft::array a = weft::linspace(0, 1, 1'000'000);
//     auto y = weft::exp(a) * 2.0 + 1;
//     std::cout << y(weft::slice(3)) << ' ' << weft::mean(y).item<double>() << '\n';
#pragma once

#include "weft/array.h"
#include "weft/assembly.h"
#include "weft/bits.h"
#include "weft/c_kernels.h"
#include "weft/cache.h"
#include "weft/calculus.h"
#include "weft/creation.h"
#include "weft/cuda/raw_kernel.h"
#include "weft/define.h"
#include "weft/dtype.h"
#include "weft/dtypes.h"
#include "weft/elements.h"
#include "weft/errors.h"
#include "weft/fft.h"
#include "weft/files.h"
#include "weft/grids.h"
#include "weft/histograms.h"
#include "weft/indexing.h"
#include "weft/linalg.h"
#include "weft/memory.h"
#include "weft/nan.h"
#include "weft/operations.h"
#include "weft/ops.h"
#include "weft/ordering.h"
#include "weft/print.h"
#include "weft/products.h"
#include "weft/quantiles.h"
#include "weft/random.h"
#include "weft/selection.h"
#include "weft/sets.h"
#include "weft/statistics.h"
#include "weft/texts.h"
