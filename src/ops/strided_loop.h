// What the generated loops_*.cpp are made of: the loop over strided operands around a scalar kernel. They are
// compiled once for each instruction set (WEFT_ISA names the namespace); op_table.cpp picks at start.
#pragma once

#include <cstddef>
#include <utility>

#include "ops/op.h"
#include "ops/scalar/all.h"

#define WEFT_KERNEL inline __attribute__((always_inline))

namespace weft::WEFT_ISA {

template <typename... T>
struct Types {
    static constexpr int kCount = sizeof...(T);
    static constexpr int64_t kSizes[] = {sizeof(T)...};
};

// One element at byte offsets.
template <auto kernel, typename... Ins, typename... Outs, size_t... I, size_t... O>
inline __attribute__((always_inline)) void compute_element(Types<Ins...>, Types<Outs...>,
                                                           std::index_sequence<I...>,
                                                           std::index_sequence<O...>, char* const* data,
                                                           const int64_t* strides, int64_t i) {
    constexpr size_t kInputs = sizeof...(Ins);
    kernel(scalar::read_element(reinterpret_cast<const Ins*>(data[I] + strides[I] * i))...,
           *reinterpret_cast<Outs*>(data[kInputs + O] + strides[kInputs + O] * i)...);
}

// `scalar_input`: the input whose stride is 0, or -1. All other operands are contiguous. An output may be
// exactly an input, so iterations are independent, which is what the pragma asserts.
template <auto kernel, int scalar_input, typename... Ins, typename... Outs, size_t... I, size_t... O>
inline __attribute__((always_inline)) void contiguous_loop(Types<Ins...>, Types<Outs...>,
                                                           std::index_sequence<I...>,
                                                           std::index_sequence<O...>, char* const* data,
                                                           int64_t count) {
    constexpr size_t kInputs = sizeof...(Ins);
    const auto step = [](int input, int64_t i) { return input == scalar_input ? 0 : i; };
#pragma clang loop vectorize(assume_safety) interleave(enable)
    for (int64_t i = 0; i < count; ++i) {
        kernel(scalar::read_element(reinterpret_cast<const Ins*>(data[I]) + step(static_cast<int>(I), i))...,
               reinterpret_cast<Outs*>(data[kInputs + O])[i]...);
    }
}

template <auto kernel, typename InTypes, typename OutTypes, bool is_heavy>
void strided_loop(char* const* data, const int64_t* strides, int64_t count) {
    constexpr int kInputs = InTypes::kCount;
    constexpr int kOutputs = OutTypes::kCount;
    constexpr auto ins = std::make_index_sequence<kInputs>();
    constexpr auto outs = std::make_index_sequence<kOutputs>();

    // Heavy kernels do not gain enough from knowing the strides to be compiled several times.
    if constexpr (!is_heavy) {
        bool outputs_contiguous = true;
        for (int o = 0; o < kOutputs; ++o) outputs_contiguous &= strides[kInputs + o] == OutTypes::kSizes[o];
        int contiguous = 0;
        int scalar_input = -1;
        for (int i = 0; i < kInputs; ++i) {
            contiguous += strides[i] == InTypes::kSizes[i];
            if (strides[i] == 0) scalar_input = i;
        }
        if (outputs_contiguous && contiguous == kInputs) {
            contiguous_loop<kernel, -1>(InTypes{}, OutTypes{}, ins, outs, data, count);
            return;
        }
        if constexpr (kInputs == 2) {
            if (outputs_contiguous && contiguous == 1 && scalar_input == 0) {
                contiguous_loop<kernel, 0>(InTypes{}, OutTypes{}, ins, outs, data, count);
                return;
            }
            if (outputs_contiguous && contiguous == 1 && scalar_input == 1) {
                contiguous_loop<kernel, 1>(InTypes{}, OutTypes{}, ins, outs, data, count);
                return;
            }
        }
    }
#pragma clang loop vectorize(disable) unroll(disable)
    for (int64_t i = 0; i < count; ++i) {
        compute_element<kernel>(InTypes{}, OutTypes{}, ins, outs, data, strides, i);
    }
}

}  // namespace weft::WEFT_ISA
