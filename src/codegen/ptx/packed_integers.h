// Arithmetic on several small integers at once: the elements of a run on a GPU, in pairs of 16 bits, which
// the hardware adds in one instruction. See ptx_run_lowering.h, which reads and writes them as words.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "ir/ir.h"

namespace weft::codegen {

// The values of a run that are in pairs. An element of eight bits is the lower half of its place; what is in
// the upper half nobody looks at, unless the value is `extended` to 16 bits. Where a run has elements of
// eight bits, the pairs of four neighbours are the first with the third and the second with the fourth, as
// the bytes of a word are after no shift and one shift.
class PackedRuns {
public:
    PackedRuns(llvm::IRBuilder<>& builder, const ir::Function& kernel) : builder_(builder), kernel_(kernel) {}

    void begin(int64_t lanes, bool has_bytes);
    bool active() const { return lanes_ > 0; }
    void end() { lanes_ = 0; }

    // Integers of one and two bytes; what a bool is, is not arithmetic.
    static bool can_hold(ScalarType type);
    bool holds(ir::ValueId value) const { return values_.contains(value.index); }

    // Words of 32 bits, as they are in memory; of bytes, those that begin a byte further on if they are
    // known.
    void read(ir::ValueId value, const std::vector<llvm::Value*>& words,
              const std::vector<llvm::Value*>& next_words);
    std::vector<llvm::Value*> words(ir::ValueId value) const;
    llvm::Value* element(ir::ValueId value, int64_t lane) const;

    // Whether the instruction computes the pairs of its result from pairs, given that every operand that is
    // not held is `uniform`.
    bool can_compute(const ir::Instruction& instruction) const;
    // `scalars` are the operands that are not held, null the others.
    void compute(const ir::Instruction& instruction, const std::vector<llvm::Value*>& scalars);

private:
    struct Pairs {
        std::vector<llvm::Value*> pairs;  // vectors of two i16
        bool extended = false;
    };
    struct Place {
        size_t pair;
        uint64_t half;
    };
    Place place_of(int64_t lane) const;
    bool has_bytes(ir::ValueId value) const;
    llvm::FixedVectorType* pair_type() const;
    llvm::Value* extended(llvm::Value* pair, bool is_signed) const;
    Pairs extended(const Pairs& value, ScalarType type) const;
    llvm::Value* combine(OpId op, bool is_signed, llvm::Value* x, llvm::Value* y) const;

    llvm::IRBuilder<>& builder_;
    const ir::Function& kernel_;
    int64_t lanes_ = 0;
    bool has_bytes_ = false;
    std::map<uint32_t, Pairs> values_;
};

}  // namespace weft::codegen
