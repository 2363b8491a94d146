// Random numbers in kernels for CPUs, between KernelLowering and lowering.cpp. An operation that gives a
// stream's word by its position (ops/scalar/random_bits.h) would find its way to each position anew. Where
// neighbours take neighbouring words, the innermost loop is cut into pieces instead, and a piece's words are
// drawn one from another into local memory (draw_words.h), which stays in the first-level cache; the loop
// over the piece, which is vectorised, reads them there.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "codegen/functions/call_lowering.h"
#include "codegen/llvm/draw_streams.h"

namespace weft::codegen {

class DrawLowering : public CallLowering {
protected:
    using CallLowering::CallLowering;

    static constexpr int64_t kDrawnTogether = 512;  // elements of a piece at most

    // The draws of an innermost loop over `along` that run along it.
    void find_draws(const ir::Region& region, ir::ValueId along);
    bool has_draws() const { return !draws_.empty(); }
    // Draws for the elements from `begin` up to `end`, which the loop that is lowered next reads.
    void begin_drawn_piece(llvm::Value* begin, llvm::Value* end, llvm::MDNode* group);
    void end_draws() { draws_.clear(); }

    void lower(const ir::Instruction& instruction) override;

private:
    struct Draw {
        DrawOp op;
        llvm::AllocaInst* words = nullptr;
        llvm::AllocaInst* origin = nullptr;
        llvm::Value* first = nullptr;  // where the piece's first word or half is
    };

    // A value that is the same for all of the loop, and one of which `along_` is a summand, at `begin`.
    llvm::Value* before_loop(ir::ValueId value);
    llvm::Value* at_begin(ir::ValueId value, llvm::Value* begin);

    // Writes `count` words from position `first` on.
    void fill(const ir::Instruction& draw, const Draw& to, llvm::Value* first, llvm::Value* count);

    ir::ValueId along_;
    DrawingBody body_;
    std::vector<std::pair<const ir::Instruction*, Draw>> draws_;
    llvm::Value* begin_ = nullptr;  // of the piece
    llvm::MDNode* group_ = nullptr;
};

}  // namespace weft::codegen
