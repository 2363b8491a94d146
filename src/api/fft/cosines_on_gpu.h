// Cosine and sine transforms on GPUs, by Fourier transforms of what is put in another order.
#pragma once

#include "api/fft/fourier.h"

namespace weft {

// Along one axis of real numbers, as many as are transformed; not scaled. `transform` does Fourier
// transforms.
array cosines_along(const array& input, const FourierCall& call, int64_t axis,
                    array (*transform)(const array&, const FourierCall&));

}  // namespace weft
