// Random streams in kernels (ops/scalar/random_bits.h): which instructions draw, whether neighbours draw what
// follows one another; for GPUs (ptx_draw_lowering.h) PCG's steps as code. draw_lowering.h is for CPUs.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/ir.h"
#include "ops/scalar/random_bits.h"

namespace weft::codegen {

enum class Stream : uint8_t { kPcg64, kPcg64Dxsm, kPhilox };

constexpr int64_t kPhiloxBlock = 4;  // words of a counter

struct DrawOp {
    Stream stream;
    bool halves;
};
std::optional<DrawOp> draw_op(const ir::Instruction& instruction);

// The body of a loop over `along`, without loops inside.
class DrawingBody {
public:
    DrawingBody() = default;
    DrawingBody(const ir::Region& region, ir::ValueId along);

    // The draws that take one word or half of their stream for each step.
    const std::vector<std::pair<const ir::Instruction*, DrawOp>>& draws() const { return draws_; }
    ir::ValueId along() const { return along_; }
    // How often `value` contains the index: as a summand once, not at all, or otherwise (nothing).
    std::optional<int> steps_of(ir::ValueId value) const;
    // Null: it is not of the body.
    const ir::Instruction* definition(ir::ValueId value) const;

private:
    ir::ValueId along_;
    std::map<uint32_t, const ir::Instruction*> defined_;
    std::vector<std::pair<const ir::Instruction*, DrawOp>> draws_;
};

// States of PCG as LLVM's values of 128 bits.
class PcgCode {
public:
    PcgCode(llvm::IRBuilder<>& builder, Stream stream)
        : builder_(builder), plain_(stream == Stream::kPcg64) {}

    llvm::Value* joined(llvm::Value* low, llvm::Value* high);
    // What so many steps add to the state.
    llvm::Value* sum_of(llvm::Value* increment, int64_t steps);
    llvm::Value* stepped(llvm::Value* state, llvm::Value* sum, int64_t steps);
    // The word that a state shows.
    llvm::Value* shown(llvm::Value* state);

    OpId state_op() const { return plain_ ? OpId::kPcg64State : OpId::kPcg64dxsmState; }

private:
    struct Steps {
        scalar::Wide product = 1, sum = 0;
    };
    Steps taken(int64_t steps) const;
    llvm::Value* constant(scalar::Wide value);

    llvm::IRBuilder<>& builder_;
    bool plain_;
};

}  // namespace weft::codegen
