// A stand-in for the CUDA driver, for tests on machines without a GPU: a library with the driver's symbols
// whose device memory is host memory. What is queued on a stream runs at the last moment that CUDA allows,
// when somebody waits for it, so that a wait that weft forgot gives wrong bytes. Kernels run by the kernel IR
// that weft writes into its PTX as comments, compiled for the CPU, or by a function that a test gives.
//
// The same library is cuBLAS (cublas.cpp), found where CUDA_HOME is bin/stand_in_toolkit of the build folder.
//
// Environment, read when the library is loaded:
//   WEFT_STAND_IN_DEVICES=n    devices there are; 2
//   WEFT_STAND_IN_MEMORY=n     bytes that each has; 4 GiB
//   WEFT_STAND_IN_VERSION=n    what cuDriverGetVersion says; 13000
//   WEFT_STAND_IN_FAIL=symbol:nth:result[,...]   the nth call of that function from then on fails so, once
//   WEFT_STAND_IN_LOG=path     a line for each call is appended to that file
//   WEFT_STAND_IN_SKIP_KERNELS=1   launches return at once and do nothing: for measuring what leads up to
//   them
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/driver_types.h"

namespace weft::stand_in {

// Its words, and how many blocks and threads it is launched with.
using KernelStub = std::function<void(std::span<const uint64_t> words, unsigned blocks, unsigned threads)>;

// What tests ask of it; reached through weft_stand_in(), which the library exports.
class Control {
public:
    virtual ~Control() = default;
    // Forgets failures, counts, stubs and faults; memory stays.
    virtual void reset() = 0;
    // The nth call from now (1: the next) fails; a result that ruins contexts ruins this one.
    virtual void fail(const std::string& symbol, int nth, cuda::Result result) = 0;
    virtual int calls(const std::string& symbol) const = 0;  // since the last reset
    virtual std::vector<std::string> log() const = 0;        // the symbols called, in order
    virtual void set_kernel(const std::string& symbol, KernelStub stub) = 0;
    virtual void set_memory(size_t bytes) = 0;  // of each device
    virtual size_t live_bytes(int device) const = 0;
    virtual size_t queued(int device) const = 0;  // operations that have not run yet
};

// Queues work on a stream, for the stand-ins of libraries.
void run_later(cuda::StreamHandle stream, std::function<void()> work);

}  // namespace weft::stand_in

extern "C" weft::stand_in::Control* weft_stand_in();
