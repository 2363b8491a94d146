// Printing from a GPU: a call of CUDA's vprintf, which the driver links. It writes to a buffer of the device,
// which the driver writes to the process's standard output when the host waits for the device.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "codegen/ptx/launches/printed.h"

namespace weft::codegen {

// The functions of GpuMath that write floats.
inline constexpr const char *kWriteFloat = "weft_gpu_write_float", *kWriteComplex = "weft_gpu_write_complex";

// How much memory of the thread it takes meanwhile.
uint64_t bytes_to_print(const Printed& printed);

// At the builder's point. `parts_of` gives the parts of a value of the payload, of which the second may be
// null; `memory` begins at a multiple of 8 bytes.
using PrintedParts = std::function<std::span<llvm::Value* const>(size_t value)>;
void print_on_device(llvm::IRBuilder<>& builder, const Printed& printed, const PrintedParts& parts_of,
                     llvm::Value* memory);

}  // namespace weft::codegen
