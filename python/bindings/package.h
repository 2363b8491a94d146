// The Python modules that the binding calls, each named here alone: a call from the binding into the package
// goes upwards. tools/check_imports.py checks that they are there.
#pragma once

namespace weft::python::modules {

inline constexpr const char* kRoot = "weft";
inline constexpr const char* kCudaExternal = "weft.cuda._external";
inline constexpr const char* kCudaArrays = "weft.cuda._arrays";
inline constexpr const char* kByNumpy = "weft._protocols.by_numpy";
inline constexpr const char* kDevice = "weft._engine.device";
inline constexpr const char* kPointers = "weft._array.pointers";
inline constexpr const char* kFallback = "weft._engine.fallback";
inline constexpr const char* kErrorState = "weft._ufunc.errstate";
inline constexpr const char* kExceptions = "weft.exceptions";
inline constexpr const char* kFormat = "weft._array.format";
inline constexpr const char* kGeneralised = "weft._functions.generalised";
inline constexpr const char* kHostArrays = "weft._protocols.host_arrays";
inline constexpr const char* kJit = "weft._jit";
inline constexpr const char* kJitPickling = "weft._jit._pickling";
inline constexpr const char* kKernels = "weft.cuda._kernel";
inline constexpr const char* kLateWarnings = "weft._engine.late_warnings";
inline constexpr const char* kNumpyVersion = "weft._engine.numpy_version";
inline constexpr const char* kOverrides = "weft._protocols.overrides";
inline constexpr const char* kPickle = "weft._pickle";
inline constexpr const char* kSharing = "weft._protocols.sharing";
inline constexpr const char* kUfuncMethods = "weft._ufunc.methods";
inline constexpr const char* kViews = "weft._array.views";

}  // namespace weft::python::modules
