// Transforms of arrays on GPUs, by cuFFT (library/fft/cuda/).
#pragma once

#include <string>

#include "api/fft/fourier.h"

namespace weft {

// As fourier_transform. Without a result, where it has to be done elsewhere: `why` says the reason.
array fourier_on_gpu(const array& input, const FourierCall& call, std::string& why);

}  // namespace weft
