// Loops of kernels for CPUs that only move elements, between DrawLowering and lowering.cpp. LLVM makes of
// them one element after another, or long shuffles, and takes its time. Here they become what they are: two
// loops that transpose a small block between local arrays the shuffles of whole vectors (transposition.h); a
// loop that copies a local array to a result of non-temporal stores one call (copy_lines.h); a loop that
// fills a part of a local array with a constant a copy of constants.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "codegen/cpu/draw_lowering.h"

namespace weft::codegen {

class CopyLowering : public DrawLowering {
protected:
    using DrawLowering::DrawLowering;

    void lower(const ir::Instruction& instruction) override;

private:
    // A position as a sum: so many times each loop's index, and what does not depend on them. Where nothing
    // else is added, its value is known.
    struct Sum {
        int64_t of_outer = 0, of_inner = 0;
        std::optional<int64_t> known;
    };

    // The one load and store of a loop that does nothing else.
    struct Copy {
        const ir::Instruction* load = nullptr;
        const ir::Instruction* store = nullptr;
    };

    std::optional<int64_t> constant_of(ir::ValueId value) const;
    // The trip count of a loop from 0 with nothing carried; 0 if it is another loop.
    int64_t trip_count(const ir::Instruction& loop) const;
    bool is_local(ir::ValueId array) const;
    // Whether an instruction only computes a position; then its sum is known.
    bool add_sum(const ir::Instruction& instruction, std::map<uint32_t, Sum>& sums) const;
    Sum sum_of(ir::ValueId value, const std::map<uint32_t, Sum>& sums) const;
    std::optional<Copy> find_copy(const ir::Region& region, std::map<uint32_t, Sum>& sums) const;

    bool lower_transposition(const ir::Instruction& loop);
    bool lower_streamed_copy(const ir::Instruction& loop);
    bool lower_fill(const ir::Instruction& loop);
    void lower_positions(const ir::Region& region);
};

}  // namespace weft::codegen
