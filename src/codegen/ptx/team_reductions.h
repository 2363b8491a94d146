// Reductions by a team of threads. Their 32 lanes are a warp's; team_lowering.h says how blocks are combined.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "codegen/ptx/row_walk.h"

namespace weft::codegen {

class PtxTeamReductions : public PtxRowWalk {
public:
    using PtxRowWalk::PtxRowWalk;

protected:
    void lower_reduce(const ir::Instruction& instruction);

    // A warp takes a subtree: a power of two of blocks, from `own` to `end`.
    struct Share {
        llvm::Value *blocks, *bits, *own, *end;
    };
    Share share_of_warp(llvm::Value* size, int64_t length);

    std::map<const ir::Instruction*, llvm::Value*> known_;  // results that need not be computed

private:
    // The reduction that is being lowered.
    struct Reduction {
        const ir::Instruction* instruction;
        llvm::Value* size;  // not negative
        Values initials;
        std::vector<size_t> ordinals = {};  // see find_ordinals
    };

    std::vector<size_t> find_ordinals(const ir::Instruction& instruction) const;
    Values element(const Reduction& reduction, llvm::Value* number);
    Values combined(const Reduction& reduction, const Values& left, const Values& right);
    Values with_next(const Reduction& reduction, const Values& left, const Values& element, bool is_second,
                     std::vector<llvm::Value*>& none_of_first);
    Values combine_lanes(const Reduction& reduction, Values values, llvm::Value* taking_part,
                         std::span<const int> distances);
    Values combine_few_lanes(const Reduction& reduction, Values values, llvm::Value* taking_part);
    Values combine_warps(const Reduction& reduction, const Values& of_warp, llvm::Value* taking_part);

    Values whole_lanes_block(const Reduction& reduction, llvm::Value* start, int64_t length);
    Values lanes_block(const Reduction& reduction, llvm::Value* start, llvm::Value* count);
    int64_t elements_of_thread(const Reduction& reduction) const;
    Values pairwise_block(const Reduction& reduction, llvm::Value* start, llvm::Value* count);
    Values pairwise(const Reduction& reduction, llvm::Value* begin, llvm::Value* end,
                    llvm::function_ref<Values(llvm::Value*)> result);
    llvm::Value* lowest_digit(llvm::Value* bits);
    llvm::Value* without_lowest(llvm::Value* bits);
    void define_all(const ir::Instruction& instruction, const Values& values);

    int unrolled_ = 1;
};

}  // namespace weft::codegen
