// Fourier transforms on GPUs by cuFFT, of dense arrays in their memory, along one to three neighbouring axes
// at once. Plans are kept; the memory that one works in comes from the device's pool at each execution.
#pragma once

#include <string>

#include "device/device.h"

namespace weft {

enum class CufftKind : uint8_t { kComplex, kRealToComplex, kComplexToReal };

struct CufftTransform {
    CufftKind kind = CufftKind::kComplex;
    bool is_double = true;
    bool forward =
        true;      // of complex numbers; of real ones to complex it is, of complex ones to real it is not
    Dims lengths;  // along the axes; the last one is halved on the complex side of real numbers
    int64_t batch = 1;  // transforms one behind the other, or with `interleaved` one beside the other
    // The batch is the innermost axis: neighbours along the last transformed axis are `batch` elements apart.
    bool interleaved = false;

    int64_t from_elements() const;
    int64_t to_elements() const;
};

constexpr size_t kMostCufftAxes = 3;

// Whether the library is there; if not, the reason and what to install.
bool has_cufft(std::string& why);

// Queues the transform on the device, a GPU. The addresses are there, aligned to a complex number; they may
// be the same for complex numbers alone. A transform to real numbers overwrites its input. Throws
// DeviceError, OutOfMemoryError.
void transform_by_cufft(const CufftTransform& transform, DeviceBackend& device, uint64_t from, uint64_t to);

}  // namespace weft
