#include "codegen/ptx/team_lowering.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "codegen/ptx/team_reductions.h"

namespace weft::codegen {
namespace {

using ir::AddressSpace;
using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

constexpr int kIterationsOfWriting = 4;

class PtxTeamLowering final : public PtxTeamReductions {
public:
    using PtxTeamReductions::PtxTeamReductions;

private:
    // --- the grid ------------------------------------------------------------------------------------

    void lower_grid(const Region& region, std::span<llvm::Value* const> sizes) override {
        image_.teams = true;
        find_conflicts();
        find_team_size(region);
        find_threads();
        if (is_second_) {
            if (for_second_.columns != kNoColumns) {
                lower_columns(region, sizes);
            } else {
                set_point(region, decompose(for_second_.number, sizes, in_order(sizes.size())), 0);
                lower_region(region);
            }
            return;
        }
        llvm::Value* block = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
        llvm::Value* teams = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y);
        if (is_followed()) {
            find_shared_point(region, sizes, block, teams);
            lower_point(region);
            return;
        }
        llvm::Value* unit = builder_.CreateNSWAdd(builder_.CreateNSWMul(block, teams),
                                                  builder_.CreateZExt(team_, index_type()), "unit");
        if (sizes.empty()) {
            return_unless(builder_.CreateICmpEQ(unit, index_constant(0)));
        } else {
            const std::vector<llvm::Value*> point = decompose(unit, sizes, in_order(sizes.size()));
            return_unless(builder_.CreateICmpSLT(point[0], sizes[0]));
            set_point(region, point, 0);
        }
        lower_point(region);
    }

    void set_point(const Region& region, const std::vector<llvm::Value*>& point, size_t first) {
        for (size_t d = 0; d < point.size(); ++d)
            scalars_[region.arguments[first + d].index].parts[0] = from_index(point[d]);
    }

    // Blocks whose teams share the leading indices, those of the second kernel's point.
    void find_shared_point(const Region& region, std::span<llvm::Value* const> sizes, llvm::Value* block,
                           llvm::Value* teams) {
        const size_t shared = shared_dimensions();
        const std::span<llvm::Value* const> leading = sizes.first(shared), others = sizes.subspan(shared);
        llvm::Value* units = index_constant(1);
        for (llvm::Value* size : others) units = builder_.CreateNSWMul(units, size);
        llvm::Value* blocks = builder_.CreateUDiv(
            builder_.CreateNSWAdd(units, builder_.CreateNSWSub(teams, index_constant(1))), teams, "blocks");
        llvm::Value* shared_point = builder_.CreateUDiv(block, blocks, "shared_point");
        for_second_ = {.ticket = shared_point, .blocks = blocks, .number = shared_point};
        llvm::Value* own = builder_.CreateNSWSub(block, builder_.CreateNSWMul(shared_point, blocks));
        llvm::Value* unit = builder_.CreateNSWAdd(builder_.CreateNSWMul(own, teams),
                                                  builder_.CreateZExt(team_, index_type()), "unit");
        return_unless(builder_.CreateICmpSLT(unit, units));
        set_point(region, decompose(shared_point, leading, in_order(leading.size())), 0);
        set_point(region, decompose(unit, others, in_order(others.size())), shared);
    }

    // Points of a second kernel that are neighbours, by teams of as many threads as the partial results of
    // one keep busy. All threads take as many iterations; those without a point take part in the last one's.
    void lower_columns(const Region& region, std::span<llvm::Value* const> sizes) {
        const auto along = static_cast<size_t>(for_second_.columns);
        make_small_teams(region);
        llvm::Type* type = index_type();
        llvm::Value* teams = builder_.CreateZExt(builder_.CreateUDiv(threads_, team_threads_), type);
        llvm::Value* team = builder_.CreateZExt(builder_.CreateUDiv(block_thread_, team_threads_), type);
        std::vector<size_t> order = in_order(sizes.size());
        order.erase(order.begin() + static_cast<std::ptrdiff_t>(along));
        if (!order.empty()) {
            const std::vector<llvm::Value*> point = decompose(for_second_.number, sizes, order);
            for (const size_t d : order) scalars_[region.arguments[d].index].parts[0] = from_index(point[d]);
        }
        llvm::Value* last = builder_.CreateNSWSub(for_second_.column_count, index_constant(1));
        counted_loop(
            index_constant(0), for_second_.column_count, teams, {}, [&](llvm::Value* begin, const Values&) {
                llvm::Value* own = builder_.CreateNSWAdd(begin, team);
                takes_part_ = builder_.CreateICmpSLE(own, last);
                llvm::Value* column = builder_.CreateNSWAdd(for_second_.first_column, smaller(own, last));
                scalars_[region.arguments[along].index].parts[0] = from_index(column);
                lower_region(region);
                return Values{};
            });
    }

    static std::vector<size_t> in_order(size_t rank) {
        std::vector<size_t> order(rank);
        std::iota(order.begin(), order.end(), size_t{0});
        return order;
    }

    // --- instructions that all threads of the team come to --------------------------------------------

    void lower(const Instruction& instruction) override {
        if (of_thread_) {
            if (const auto known = known_.find(&instruction); known != known_.end()) {
                scalars_[instruction.results[0].index].parts[0] = known->second;
                return;
            }
            if (instruction.opcode == Opcode::kBarrier) {
                builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
                return;
            }
            PtxTeam::lower(instruction);
            return;
        }
        switch (instruction.opcode) {
            case Opcode::kReduce: lower_reduce(instruction); return;
            case Opcode::kAtomic:
            case Opcode::kCompareExchange: lower_once(instruction); return;
            case Opcode::kStore:
                if (kernel_.type(instruction.operands[0]).buffer.space == AddressSpace::kLocal) break;
                wait_if_in_conflict();
                by_first_thread([&] { PtxKernelLowering::lower(instruction); });
                wait_if_in_conflict();
                return;
            default: break;
        }
        PtxKernelLowering::lower(instruction);
    }

    // An atomic outside of blocks happens once; all threads learn what it gave.
    void lower_once(const Instruction& instruction) {
        const ValueId result = instruction.results[0];
        const ScalarType type = kernel_.type(result).scalar;
        llvm::GlobalVariable* told = shared_array(part_type(type), kMostWarps, "told");
        const auto own = [&] { return shared_element(told, part_type(type), team_); };
        wait_for_team();
        by_first_thread([&] {
            PtxKernelLowering::lower(instruction);
            builder_.CreateStore(scalars_[result.index].parts[0], own());
        });
        wait_for_team();
        scalars_[result.index].parts[0] = builder_.CreateLoad(part_type(type), own());
    }

    void lower_parallel(const Instruction& instruction) override {
        if (instruction.level == ir::ParallelLevel::kGrid) {
            PtxKernelLowering::lower_parallel(instruction);
            return;
        }
        if (of_thread_) refuse("a block inside of a block");
        const Region& region = instruction.regions[0];
        std::vector<llvm::Value*> sizes;
        for (const ValueId operand : instruction.operands) sizes.push_back(index(operand));
        const std::vector<size_t> order = in_order(sizes.size());
        llvm::Type* wide = builder_.getInt64Ty();
        const auto run = [&](llvm::Value* number) {
            const std::vector<llvm::Value*> point = decompose(number, sizes, order);
            for (size_t d = 0; d < point.size(); ++d) scalars_[region.arguments[d].index].parts[0] = point[d];
            if (point.size() == 1) {
                lower_element(region, point[0]);
                return;
            }
            of_thread_ = true;
            lower_region(region);
            of_thread_ = false;
        };
        llvm::Value* thread = builder_.CreateZExt(thread_, wide);
        if (has_barriers(instruction)) {
            wait_if_in_conflict();
            run(thread);
            wait_if_in_conflict();
            return;
        }
        llvm::Value* total = sizes[0];
        for (size_t d = 1; d < sizes.size(); ++d) total = builder_.CreateMul(total, sizes[d]);
        wait_if_in_conflict();
        const int iterations = std::min(unrolling_of(instruction.regions), kIterationsOfWriting);
        if (caching_ && instruction.operands[0] == row_cache_.size && row_cache_.block > 0) {
            lower_along_row(region);
        } else {
            counted_loop(
                thread, total, builder_.CreateZExt(threads_, wide), {},
                [&](llvm::Value* number, const Values&) {
                    run(number);
                    return Values{};
                },
                iterations);
        }
        wait_if_in_conflict();
    }

    // Each thread takes the elements that it has in reductions: what is kept was written by itself.
    void lower_along_row(const Region& region) {
        const Share share = share_of_warp(row_, row_cache_.block);
        counted_loop(share.own, share.end, number(1), {}, [&](llvm::Value* k, const Values&) {
            llvm::Value* start = builder_.CreateNSWMul(k, number(row_cache_.block));
            llvm::Value* count = smaller(builder_.CreateNSWSub(row_, start), number(row_cache_.block));
            if_else(
                builder_.CreateICmpEQ(count, number(row_cache_.block)),
                [&] {
                    whole_block(region, start, row_cache_.block, [](const Values&) {});
                    return Values{};
                },
                [&] {
                    llvm::Value* lane = builder_.CreateZExt(lane_, builder_.getInt64Ty());
                    return counted_loop(lane, count, number(kWarp), {}, [&](llvm::Value* at, const Values&) {
                        lower_element(region, builder_.CreateNSWAdd(start, at));
                        return Values{};
                    });
                });
            return Values{};
        });
    }
};

}  // namespace

llvm::Function* lower_teams_for_ptx(const ir::Function& kernel, const ir::Function* second,
                                    const PtxLoweringOptions& options, llvm::Module& module,
                                    BitcodeLibrary& library, CudaKernelImage& image) {
    return PtxTeamLowering(kernel, options, module, library, image).run(second);
}

PtxSecondKernel lower_second_for_ptx(const ir::Function& second, int columns,
                                     const PtxLoweringOptions& options, llvm::Module& module,
                                     BitcodeLibrary& library, CudaKernelImage& image) {
    CudaKernelImage own;
    PtxSecondKernel lowered;
    lowered.function = PtxTeamLowering(second, options, module, library, own).run_as_second(columns);
    lowered.first_word = image.words;
    for (CudaBufferFacts& buffer : own.buffers) {
        buffer.base_word += image.words;
        for (int& word : buffer.stride_words) word += image.words;
        image.buffers.push_back(std::move(buffer));
    }
    image.words += own.words + 1;
    return lowered;
}

}  // namespace weft::codegen
