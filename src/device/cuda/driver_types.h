// The types and numbers of the CUDA driver's interface that weft uses, from NVIDIA's public documentation of
// it: no CUDA header is needed to build. Everything in device/cuda and the fake driver of the tests
// speaks in these.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::cuda {

using Result = int;
using DeviceHandle = int;
using DeviceAddress = uint64_t;
using ContextHandle = struct ContextState*;
using StreamHandle = struct StreamState*;
using EventHandle = struct EventState*;
using ModuleHandle = struct ModuleState*;
using FunctionHandle = struct FunctionState*;
using LinkHandle = struct LinkState*;
using GraphHandle = struct GraphState*;
using GraphNodeHandle = struct GraphNodeState*;
using GraphExecHandle = struct GraphExecState*;

// CUresult
constexpr Result kSuccess = 0;
constexpr Result kInvalidValue = 1;
constexpr Result kOutOfMemory = 2;
constexpr Result kNotInitialized = 3;
constexpr Result kDeinitialized = 4;
constexpr Result kNoDevice = 100;
constexpr Result kInvalidImage = 200;
constexpr Result kInvalidContext = 201;
constexpr Result kNoBinaryForGpu = 209;
constexpr Result kEccUncorrectable = 214;
constexpr Result kInvalidPtx = 218;
constexpr Result kNvlinkUncorrectable = 220;
constexpr Result kContained = 226;
constexpr Result kNotFound = 500;
constexpr Result kNotReady = 600;
constexpr Result kIllegalAddress = 700;
constexpr Result kLaunchOutOfResources = 701;
constexpr Result kLaunchTimeout = 702;
constexpr Result kContextIsDestroyed = 709;
constexpr Result kAssert = 710;
constexpr Result kHardwareStackError = 714;
constexpr Result kIllegalInstruction = 715;
constexpr Result kMisalignedAddress = 716;
constexpr Result kInvalidAddressSpace = 717;
constexpr Result kInvalidProgramCounter = 718;
constexpr Result kLaunchFailed = 719;
constexpr Result kNotSupported = 801;
constexpr Result kSystemNotReady = 802;
constexpr Result kDriverMismatch = 803;

// CUdevice_attribute
constexpr int kMaxSharedMemoryPerBlock = 8;
constexpr int kMultiprocessorCount = 16;
constexpr int kMemoryClockRate = 36;       // in kHz
constexpr int kGlobalMemoryBusWidth = 37;  // in bits
constexpr int kL2CacheSize = 38;
constexpr int kMaxThreadsPerMultiprocessor = 39;
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;
constexpr int kMaxSharedMemoryPerBlockOptin = 97;

constexpr int kPointerDeviceOrdinal = 9;  // CUpointer_attribute

constexpr int kLimitStackSize = 0;  // CUlimit: bytes of a thread

// CUfunction_attribute
constexpr int kFunctionMostThreads = 0;
constexpr int kFunctionSharedBytes = 1;
constexpr int kFunctionConstantBytes = 2;
constexpr int kFunctionLocalBytes = 3;
constexpr int kFunctionRegisters = 4;
constexpr int kFunctionPtxVersion = 5;
constexpr int kFunctionBinaryVersion = 6;
constexpr int kFunctionCacheModeCa = 7;
constexpr int kFunctionMaxDynamicShared = 8;
constexpr int kFunctionSharedCarveout = 9;

// CUjit_option
constexpr int kJitInfoLogBuffer = 3;
constexpr int kJitInfoLogBufferBytes = 4;
constexpr int kJitErrorLogBuffer = 5;
constexpr int kJitErrorLogBufferBytes = 6;
constexpr int kJitTarget = 9;
constexpr int kJitLineInfo = 13;

constexpr int kJitInputPtx = 1;  // CUjitInputType

constexpr unsigned kStreamNonBlocking = 1;
constexpr unsigned kEventDisableTiming = 2;
constexpr unsigned kHostAllocPortable = 1;

// Ends and parts of the `extra` argument of a launch: all parameters as one block of bytes.
inline void* const kLaunchParamEnd = nullptr;
inline void* const kLaunchParamBuffer = reinterpret_cast<void*>(uintptr_t{1});
inline void* const kLaunchParamSize = reinterpret_cast<void*>(uintptr_t{2});

// CUDA_KERNEL_NODE_PARAMS, version 2: a launch as a node of a graph.
struct KernelNodeParams {
    FunctionHandle function;
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    void** parameters;
    void** extra;
    void* kernel;  // instead of the function
    ContextHandle context;
};

constexpr int kMinimumDriver = 12000;  // what the PTX that weft makes asks for: CUDA 12.0

}  // namespace weft::cuda
