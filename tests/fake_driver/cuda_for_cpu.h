// What the fake NVRTC puts before each source: as much of CUDA C++ as the tests' kernels use, for a CPU.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
#define __CUDACC__ 1
#define __CUDA_ARCH__ 900

struct WeftPlace {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};
struct float2 {
    float x, y;
};
struct alignas(16) double2 {
    double x, y;
};
using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using std::size_t;

extern "C" {
__attribute__((weak)) WeftPlace threadIdx, blockIdx, blockDim, gridDim;
__attribute__((weak)) void (*weft_wait_for_block)();
inline void __syncthreads() { weft_wait_for_block(); }
inline void __threadfence() {}
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float __fdividef(float x, float y) { return x / y; }
}
constexpr int warpSize = 32;

template <class T>
T atomicAdd(T* place, std::type_identity_t<T> more) {
    const T before = *place;
    *place = before + more;
    return before;
}
template <class T>
T min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
T max(T a, T b) {
    return a < b ? b : a;
}

struct WeftEntry {
    const WeftEntry* next;
    const char* expression;
    void* address;
    void (*run)(void*, void**);
    int count;
    const int* sizes;
    const char* kinds;
};
extern "C" __attribute__((weak)) const WeftEntry* weft_first_entry = nullptr;

template <class T>
constexpr char weft_kind = std::is_pointer_v<T>          ? 'p'
                           : std::is_floating_point_v<T> ? 'f'
                           : std::is_integral_v<T>       ? 'i'
                                                         : 's';

template <class... A>
struct WeftKernel {
    static constexpr int sizes[] = {int(sizeof(A))..., 0};
    static constexpr char kinds[] = {weft_kind<A>..., '\0'};
    template <size_t... I>
    static void call(void (*function)(A...), void** values, std::index_sequence<I...>) {
        function(*static_cast<std::remove_cv_t<A>*>(values[I])...);
    }
    static void run(void* function, void** values) {
        call(reinterpret_cast<void (*)(A...)>(function), values, std::index_sequence_for<A...>{});
    }
};
template <class... A>
WeftEntry weft_entry(const char* expression, void (*function)(A...)) {
    using Kernel = WeftKernel<A...>;
    return {weft_first_entry, expression,        reinterpret_cast<void*>(function),
            &Kernel::run,     int(sizeof...(A)), Kernel::sizes,
            Kernel::kinds};
}
template <class T>
    requires(!std::is_function_v<T>)
WeftEntry weft_entry(const char* expression, T* variable) {
    return {weft_first_entry, expression, const_cast<void*>(static_cast<const void*>(variable)), nullptr, 0,
            nullptr,          ""};
}
struct WeftTold {
    WeftEntry entry;
    template <class T>
    WeftTold(const char* expression, T* what) : entry(weft_entry(expression, what)) {
        weft_first_entry = &entry;
    }
};
