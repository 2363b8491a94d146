// A fake CUDA driver, for tests on machines without a GPU: a library with the driver's symbols
// whose device memory is host memory. What is queued on a stream runs at the last moment that CUDA allows,
// when somebody waits for it, so that a wait that weft forgot gives wrong bytes. Kernels run by the kernel IR
// that weft writes into its PTX as comments, compiled for the CPU, or by a function that a test gives.
//
// The same library is cuBLAS, cuFFT and cuSOLVER (cublas.cpp and so on), found where CUDA_HOME is
// bin/fake_driver_toolkit of the build folder.
//
// Environment, read when the library is loaded:
//   WEFT_FAKE_DRIVER_DEVICES=n    devices there are; 2
//   WEFT_FAKE_DRIVER_MEMORY=n     bytes that each has; 4 GiB
//   WEFT_FAKE_DRIVER_VERSION=n    what cuDriverGetVersion says; 13000
//   WEFT_FAKE_DRIVER_FAIL=symbol:nth:result[:always][,...]   the nth call of that function from then on fails
//   so, once or with all after it; * is any function
//   WEFT_FAKE_DRIVER_LOG=path     a line for each call is appended to that file
//   WEFT_FAKE_DRIVER_SKIP_KERNELS=1   launches return at once and do nothing: for measuring what leads up to
//   them
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/driver_types.h"

namespace weft::fake_driver {

// Its words, and how many blocks and threads it is launched with.
using KernelStub = std::function<void(std::span<const uint64_t> words, unsigned blocks, unsigned threads)>;

// What tests ask of it; reached through weft_fake_driver(), which the library exports.
class Control {
public:
    virtual ~Control() = default;
    // Forgets failures, counts, stubs and faults; memory stays.
    virtual void reset() = 0;
    // The nth call from now (1: the next) of a function, or of any ("*"), fails, and `for_ever` all after it;
    // a result that ruins contexts ruins this one.
    virtual void fail(const std::string& symbol, int nth, cuda::Result result, bool for_ever = false) = 0;
    virtual void succeed() = 0;                              // from now on; what is ruined stays so
    virtual int calls(const std::string& symbol) const = 0;  // since the last reset; "*": of all
    virtual int failed_calls() const = 0;                    // as it was told
    virtual std::vector<std::string> log() const = 0;        // the symbols called, in order
    virtual void set_kernel(const std::string& symbol, KernelStub stub) = 0;
    virtual void set_memory(size_t bytes) = 0;  // of each device
    virtual size_t live_bytes(int device) const = 0;
    virtual size_t queued(int device) const = 0;       // operations that have not run yet
    virtual cuda::Result fault(int device) const = 0;  // what ruined its context
    // Contexts, streams, events, links, pinned memory and cuBLAS's objects that were not destroyed.
    virtual int64_t live_objects() const = 0;
};

// For the fake drivers of libraries: notes a call, and gives what it fails with; counts objects that were
// made (1) and destroyed (-1); queues work on a stream, and waits for it.
cuda::Result enter_library(const char* symbol);
void count_objects(int more);
void run_later(cuda::StreamHandle stream, std::function<void()> work);
void wait_for(cuda::StreamHandle stream);

}  // namespace weft::fake_driver

extern "C" {

weft::fake_driver::Control* weft_fake_driver();

// The same for scripts (tests/probe/driver.py).
void weft_fake_driver_fail(const char* symbol, int nth, int result, int for_ever);
void weft_fake_driver_succeed();
void weft_fake_driver_forget();  // as reset
int weft_fake_driver_calls(const char* symbol);
int weft_fake_driver_failed_calls();
const char* weft_fake_driver_log();  // the functions called since the last reset, a line each
int64_t weft_fake_driver_live_bytes(int device);
int64_t weft_fake_driver_live_objects();
void weft_fake_driver_write_kernels(const char* path);
void weft_fake_driver_compile_kernels(const char* path);
int weft_fake_driver_fault(int device);  // what ruined its context, 0: nothing

}  // extern "C"
