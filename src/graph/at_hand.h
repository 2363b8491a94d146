// The shortest way for values at hand: one element read or written where it lies, and one loop over operands
// that a single stride describes, without nodes, operand copies or the general preparation of a call
// (graph/call.cpp). Every function answers false, having changed nothing, when the general way has to be
// taken; that way also makes the errors.
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
    const array* value = nullptr;   // null: a number
    OperandType type = DType();     // of the array, or how the number takes part in promotion
    alignas(16) ScalarBytes bytes;  // the number, as type.dtype

    GivenOperand() {}  // the bytes are set with the number
    void set(const array& operand) {
        value = &operand;
        type = operand.dtype();
    }
    template <class T>
    void set(OperandType number_type, T number) {
        static_assert(sizeof(T) <= sizeof bytes);
        value = nullptr;
        type = number_type;
        __builtin_memcpy(bytes.data(), &number, sizeof number);
    }
};

// The element at a byte offset of the array's storage.
bool read_at_hand(const array& from, int64_t offset, void* element);
bool write_at_hand(const array& to, int64_t offset, const void* element);  // `to` is writeable

// Operations with one result. Numbers alone: the result's dtype and bytes.
bool compute_numbers(const OpInfo& op, std::span<GivenOperand> inputs, DType& dtype, ScalarBytes& result);
// One array at least.
bool call_at_hand(const OpInfo& op, std::span<GivenOperand> inputs, array& result);
// The result goes into `target`: target is inputs[0] for a += b, or an array given as out=.
bool call_into_at_hand(const OpInfo& op, std::span<GivenOperand> inputs, const array& target);

// target[...] = value, with any conversion.
bool assign_at_hand(const array& target, GivenOperand& value);

// Makes it a number of that dtype; false where a Python int does not fit it.
bool convert_number(GivenOperand& number, DType dtype);

// Storages are small and many: their memory comes from the lists of small objects.
std::shared_ptr<Storage> make_storage(BufferPtr buffer);

}  // namespace weft
