// weft's own elementary functions for GPUs under the names that codegen/ptx/gpu_math.cpp looks for: the one
// source of the bitcode `gpu_math` (ops.cmake).
#pragma once

#include "ops/gpu/exponential.h"
#include "ops/gpu/logarithm.h"
#include "ops/gpu/number_text.h"
#include "ops/gpu/trigonometry.h"

#define WEFT_GPU_MATH extern "C" inline __attribute__((used))

namespace weft {

#define WEFT_TRIGONOMETRY(type, suffix)                                                                    \
    WEFT_GPU_MATH bool weft_gpu_is_large_angle_##suffix(type x) { return scalar::is_large_angle(x); }      \
    WEFT_GPU_MATH scalar::ReducedAngle<type> weft_gpu_reduce_angle_##suffix(type x) {                      \
        return scalar::reduce_angle(x);                                                                    \
    }                                                                                                      \
    WEFT_GPU_MATH __attribute__((noinline)) scalar::ReducedAngle<type> weft_gpu_reduce_any_angle_##suffix( \
        type x) {                                                                                          \
        return scalar::is_large_angle(x) ? scalar::reduce_large_angle(x) : scalar::reduce_angle(x);        \
    }                                                                                                      \
    WEFT_GPU_MATH type weft_gpu_sine_##suffix(type rest, int32_t quadrant) {                               \
        return scalar::sine_of_reduced<type>({rest, quadrant});                                            \
    }                                                                                                      \
    WEFT_GPU_MATH type weft_gpu_cosine_##suffix(type rest, int32_t quadrant) {                             \
        return scalar::cosine_of_reduced<type>({rest, quadrant});                                          \
    }
WEFT_TRIGONOMETRY(double, f64)
WEFT_TRIGONOMETRY(float, f32)
#undef WEFT_TRIGONOMETRY

WEFT_GPU_MATH float weft_gpu_exp_f32(float x) { return scalar::exp_by_power_of_two(x); }
WEFT_GPU_MATH float weft_gpu_erf_f32(float x) { return scalar::erf_by_power_of_two(x); }

WEFT_GPU_MATH bool weft_gpu_is_rare_for_log_f64(double x) { return scalar::is_rare_for_log(x); }
WEFT_GPU_MATH double weft_gpu_log_of_normal_f64(double x) { return scalar::log_of_normal(x); }
WEFT_GPU_MATH __attribute__((noinline)) double weft_gpu_log_of_any_f64(double x) {
    return scalar::log_of_any(x);
}

WEFT_GPU_MATH __attribute__((noinline)) void weft_gpu_write_float(double value, int32_t precision,
                                                                  int32_t least, char* to) {
    scalar::write_float(value, {precision, least}, to);
}
WEFT_GPU_MATH __attribute__((noinline)) void weft_gpu_write_complex(double real, double imaginary,
                                                                    int32_t precision, int32_t least,
                                                                    char* to) {
    scalar::write_complex(real, imaginary, {precision, least}, to);
}

}  // namespace weft

#undef WEFT_GPU_MATH
