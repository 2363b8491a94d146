// What the generated folds.cpp is made of: lanes around a scalar kernel. Compiled once for each instruction
// set, as strided_loop.h.
#pragma once

#include "ops/lane_fold.h"
#include "ops/strided_loop.h"

namespace weft::WEFT_ISA {

// lanes[l] = kernel(lanes[l], elements[l]) for the first `count` lanes.
template <auto kernel, typename T>
WEFT_KERNEL void fold_row(T* lanes, const char* elements, int64_t count) {
#pragma clang loop vectorize(assume_safety)
    for (int64_t l = 0; l < count; ++l) {
        T combined;
        kernel(lanes[l], load_element<T>(elements + l * int64_t{sizeof(T)}), combined);
        lanes[l] = combined;
    }
}

template <auto kernel, typename T, int64_t half>
WEFT_KERNEL void join_halves(T* lanes, int64_t& width) {
    if (width == 2 * half) {  // all of them, as nearly always
        fold_row<kernel, T>(lanes, reinterpret_cast<const char*>(lanes + half), half);
    } else if (width > half) {
        for (int64_t l = 0; l < width - half; ++l) {
            T combined;
            kernel(lanes[l], lanes[l + half], combined);
            lanes[l] = combined;
        }
    }
    width = width < half ? width : half;
    if constexpr (half > 1) join_halves<kernel, T, half / 2>(lanes, width);
}

template <auto kernel, typename T>
void fold_lanes(const char* elements, int64_t count, const char* initial, char* result) {
    T lanes[kFoldLanes];
    const T start = load_element<T>(initial);
    for (T& lane : lanes) lane = start;
    const char* const whole = elements + count / kFoldLanes * kFoldLanes * int64_t{sizeof(T)};
    for (; elements != whole; elements += kFoldLanes * int64_t{sizeof(T)})
        fold_row<kernel, T>(lanes, elements, kFoldLanes);
    for (int64_t l = 0; l < count % kFoldLanes; ++l) {
        T combined;
        kernel(lanes[l], load_element<T>(elements + l * int64_t{sizeof(T)}), combined);
        lanes[l] = combined;
    }
    int64_t width = count < kFoldLanes ? count : kFoldLanes;
    join_halves<kernel, T, kFoldLanes / 2>(lanes, width);
    __builtin_memcpy(result, lanes, sizeof(T));
}

}  // namespace weft::WEFT_ISA
