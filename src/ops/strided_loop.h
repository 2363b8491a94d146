// What the generated loops_*.cpp are made of: the loop over strided operands around a scalar kernel. They are
// compiled once for each instruction set (WEFT_ISA names the namespace); op_table.cpp picks at start.
#pragma once

#include <cstddef>
#include <utility>

#include "ops/kernel_attributes.h"
#include "ops/op.h"
#include "ops/scalar/all.h"

namespace weft::WEFT_ISA {

template <typename... T>
struct Types {
    static constexpr int kCount = sizeof...(T);
    static constexpr int64_t kSizes[] = {sizeof(T)...};
};

// Operands may lie at any byte address (a field of a record, a view of bytes): elements are copied, never
// touched through a typed pointer, which would have to be aligned.
template <typename T>
WEFT_KERNEL T load_element(const char* address) {
    if constexpr (sizeof(T) == 1) {
        return scalar::read_element(reinterpret_cast<const T*>(address));
    } else {
        T element;
        __builtin_memcpy(&element, address, sizeof(T));
        return element;
    }
}

// What a kernel writes a result to; the result goes to its place at the end of the full expression, when the
// inputs, which may lie there, have been read.
template <typename T>
class ResultElement {
public:
    WEFT_KERNEL explicit ResultElement(char* address) : address_(address) {}
    WEFT_KERNEL ~ResultElement() { __builtin_memcpy(address_, &element_, sizeof(T)); }
    ResultElement(const ResultElement&) = delete;
    ResultElement& operator=(const ResultElement&) = delete;

    WEFT_KERNEL T& element() { return element_; }

private:
    char* address_;
    T element_;
};

// One element at byte offsets.
template <auto kernel, typename... Ins, typename... Outs, size_t... I, size_t... O>
WEFT_KERNEL void compute_element(Types<Ins...>, Types<Outs...>, std::index_sequence<I...>,
                                 std::index_sequence<O...>, char* const* data, const int64_t* strides,
                                 int64_t i) {
    constexpr size_t kInputs = sizeof...(Ins);
    kernel(load_element<Ins>(data[I] + strides[I] * i)...,
           ResultElement<Outs>(data[kInputs + O] + strides[kInputs + O] * i).element()...);
}

// `scalar_input`: the input whose stride is 0, or -1. All other operands are contiguous. An output may be
// exactly an input, so iterations are independent, which is what the pragma asserts.
template <auto kernel, int scalar_input, typename... Ins, typename... Outs, size_t... I, size_t... O>
WEFT_KERNEL void contiguous_loop(Types<Ins...>, Types<Outs...>, std::index_sequence<I...>,
                                 std::index_sequence<O...>, char* const* data, int64_t count) {
    constexpr size_t kInputs = sizeof...(Ins);
    const auto step = [](int input, int64_t i) { return input == scalar_input ? 0 : i; };
    // Copied, so that no store through a char pointer can be taken for one to the table of addresses.
    const char* const inputs[] = {data[I]...};
    char* const outputs[] = {data[kInputs + O]...};
#pragma clang loop vectorize(assume_safety) interleave(enable)
    for (int64_t i = 0; i < count; ++i) {
        kernel(load_element<Ins>(inputs[I] + step(static_cast<int>(I), i) * int64_t{sizeof(Ins)})...,
               ResultElement<Outs>(outputs[O] + i * int64_t{sizeof(Outs)}).element()...);
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
