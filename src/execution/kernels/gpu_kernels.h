// Kernels for GPUs by their canonical form: from this process, from the cache on disk, or made now. What a
// kernel takes for granted (alignment, sizes below 2^31) is checked against what it is to be launched with;
// there are variants that take less for granted.
#pragma once

#include <memory>
#include <span>

#include "device/device.h"
#include "execution/kernels/kernel_store.h"
#include "lowering/lower.h"

namespace weft {

// One that may be launched with these words on this device, which is a GPU. Throws NotImplementedError for
// what kernels for GPUs cannot do yet. `fresh`: it was compiled now.
std::shared_ptr<const StoredKernel> find_or_compile_for_gpu(const KernelForm& form, DeviceBackend& device,
                                                            std::span<const ArgumentWord> words,
                                                            std::span<const int64_t> grid, bool& fresh);
// Whether a kernel that such a call gave may be launched with other words.
bool fits(const StoredKernel& kernel, std::span<const ArgumentWord> words, std::span<const int64_t> grid);

}  // namespace weft
