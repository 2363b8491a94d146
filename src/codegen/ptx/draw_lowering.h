// Random numbers in kernels for GPUs, between PtxKernelLowering and what decides which elements a thread has.
// An operation that gives a stream's word by its position (ops/scalar/random_bits.h) finds its way there by
// itself. Where a thread draws several words at a known distance, only the first does: the others of PCG are
// a step from the one before, the others of Philox come out of the same block.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "codegen/llvm/draw_streams.h"
#include "codegen/ptx/kernel_lowering.h"

namespace weft::codegen {

class PtxDrawLowering : public PtxKernelLowering {
public:
    using PtxKernelLowering::PtxKernelLowering;

protected:
    // Elements of a warp's threads are beside each other, those of one thread as far apart.
    static constexpr int64_t kDrawnApart = 32;

    // The draws of a body that run along its index `along`.
    void find_draws(const ir::Region& region, ir::ValueId along);
    bool draws_by_steps() const;

    // From here on draws of PCG are lowered for places that are kDrawnApart from each other, in that order.
    void begin_steps();
    // The same, where it is known now that `begin` is the first of them; and from there once more.
    void begin_steps_at(llvm::Value* begin);
    void begin_steps_again();
    // Where the places are iterations of a loop: where that carries values, and at its end.
    void carry_steps(llvm::BasicBlock* before);
    void carry_on_steps();
    void end_steps() { steps_.clear(); }

    // A draw of Philox for neighbours, each of which has scalars of its own. Whether it is one.
    bool draws_blocks(const ir::Instruction& instruction) const;
    void lower_blocks(const ir::Instruction& instruction, std::span<std::vector<Scalar>> lanes);

    void lower(const ir::Instruction& instruction) override;

private:
    struct Steps {
        DrawOp op;
        llvm::Value *first = nullptr, *state = nullptr;  // of the first place, and of the next one
        llvm::Value* sum = nullptr;                      // what the way to the place after it adds
        llvm::PHINode* carried = nullptr;
    };
    void find_state(const ir::Instruction& draw, Steps& steps);
    void lower_before_loop(ir::ValueId value);
    std::vector<llvm::Value*> words_of_blocks(const std::vector<Scalar>& operands, llvm::Value* first,
                                              llvm::Value* last, size_t whole_blocks);

    DrawingBody body_;
    std::map<const ir::Instruction*, Steps> steps_;
};

}  // namespace weft::codegen
