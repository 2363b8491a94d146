// The fast path for host-resident values: one element read or written where it lies, and one loop over
// operands that a single stride describes, without nodes, operand copies or the general preparation of a call
// (api/elementwise/call.cpp). Every function answers false, having changed nothing, when the general way has
// to be taken; that way also makes the errors.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "graph/storage.h"
#include "ops/op.h"
#include "ops/resolve.h"
#include "weft/array.h"

namespace weft {

// An operand that its owner keeps alive meanwhile: an array, or a number.
struct GivenOperand {
    const array* value = nullptr;  // null: a number
    OperandType type = DType();    // of the array, or how the number takes part in promotion
    const void* number = nullptr;  // as type.dtype

    GivenOperand() {}  // the bytes are set with a number
    GivenOperand(const GivenOperand&) = delete;
    GivenOperand& operator=(const GivenOperand&) = delete;

    void set(const array& operand) {
        value = &operand;
        type = operand.dtype();
    }
    void set_number(OperandType number_type, const void* at) {
        value = nullptr;
        type = number_type;
        number = at;
    }
    template <class T>
    void set(OperandType number_type, T own) {
        static_assert(sizeof(T) <= sizeof bytes_);
        __builtin_memcpy(bytes_.data(), &own, sizeof own);
        set_number(number_type, bytes_.data());
    }
    // Makes a number one of that dtype; false where a Python int does not fit it.
    bool convert(DType dtype);

private:
    alignas(16) ScalarBytes bytes_;
};

// The element at a byte offset of the array's storage.
bool try_read(const array& from, int64_t offset, void* element);
bool try_write(const array& to, int64_t offset, const void* element);  // `to` is writeable

// Operations with one result, of numbers alone: first the result's dtype, then its bytes.
class NumberCall {
public:
    bool prepare(const OpInfo& op, std::span<GivenOperand> inputs);
    DType dtype() const { return dtype_; }
    void run(void* result);

private:
    const LoopInfo* loop_ = nullptr;
    DType dtype_;
    char* data_[4];
    size_t count_ = 0;
};
// The same of one array at least.
bool try_call(const OpInfo& op, std::span<GivenOperand> inputs, array& result);
// The result goes into `target`: target is inputs[0] for a += b, or an array given as out=.
bool try_call_into(const OpInfo& op, std::span<GivenOperand> inputs, const array& target);

// A reduction of all elements, without options: the element and its type.
bool try_reduce(const ReductionInfo& reduction, const array& input, DType& dtype, void* element);
// The mean of all elements of float64 or float32.
bool try_mean(const array& input, void* element);
// A product of two matrices or vectors, of one dtype, so small that a plan would cost more.
bool try_multiply(const array& left, const array& right, array& result);
// Zeros in C order.
bool try_zeros(const Dims& shape, DType dtype, array& result);
// target[...] = value, with any conversion.
bool try_assign(const array& target, GivenOperand& value);

// Whether one stride leads through all elements in C order.
bool single_stride(const array& value, int64_t& stride);
// Whether the storage's bytes, which are host-resident, may be overwritten; the caller, who has locked it,
// does so at once.
bool may_write(Storage& storage);

}  // namespace weft
