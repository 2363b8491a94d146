// What a team of threads is that computes a point of the grid together: its size, which of its threads it is,
// how they wait for one another and exchange values. row_walk.h derives from it.
#pragma once

#include <functional>
#include <utility>

#include "codegen/ptx/draw_lowering.h"

namespace weft::codegen {

constexpr int kWarp = 32;
constexpr int kMostWarps = 32;      // of a block
constexpr int kMostThreads = 1024;  // of a block
// That a thread combines before the warp does, of pairwise reductions.
constexpr int64_t kElementsOfThread = 4;
constexpr int64_t kElementsPerWarp = 512;  // at least, of reductions in lanes
// Blocks at once on a multiprocessor: of rows that are read, of elementary functions, of what needs more
// registers, and of many reductions side by side, each with results in registers.
constexpr int kBlocksOfRows = 4;
constexpr int kBlocksOfDear = 3;
constexpr int kBlocksOfWide = 2;
constexpr int kBlocksOfMany = 1;
constexpr int64_t kManyWords = 12;

// Of a region and all that is inside of it.
bool any_instruction(const ir::Region& region, const std::function<bool(const ir::Instruction&)>& matches);

class PtxTeam : public PtxDrawLowering {
public:
    using PtxDrawLowering::PtxDrawLowering;

protected:
    // What later members ask for, from the registers that say who a thread is.
    // The team of a second kernel is a whole block.
    void find_threads() {
        thread_ = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {}, {});
        threads_ = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x, {}, {});
        team_ = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y, {}, {});
        if (is_second_) {
            llvm::Value* teams = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y, {}, {});
            thread_ = builder_.CreateAdd(builder_.CreateMul(team_, threads_), thread_);
            threads_ = builder_.CreateMul(threads_, teams);
            team_ = builder_.getInt32(0);
        }
        lane_ = builder_.CreateAnd(thread_, kWarp - 1, "lane");
        warp_ = builder_.CreateLShr(thread_, 5, "warp");
        warps_ = builder_.CreateLShr(threads_, 5, "warps");
    }

    // The team's size is the launch's choice, unless a block with barriers says it, or there is shared
    // memory, which teams of one block would have to divide.
    void find_team_size(const ir::Region& region);
    // Of a second kernel: as many as have elements of its pairwise reduction, a power of two up to a warp.
    void make_small_teams(const ir::Region& region);
    static bool has_barriers(const ir::Instruction& instruction);
    int word_of_parameter(ir::ValueId value) const;
    // Null: a parameter, or an argument.
    const ir::Instruction* definition(ir::ValueId value) const;

    // --- order among the threads of a team -----------------------------------------------------------

    // Scopes that the kernel both reads and writes: there the team must wait for itself. Shared memory always
    // is.
    void find_conflicts();
    // Every thread of the team comes here before any goes on, and sees what was written before.
    void wait_for_team();
    void wait_if_in_conflict() {
        if (has_conflicts_) wait_for_team();
    }

    template <class Body>
    void by_first_thread(const Body& body) {
        llvm::BasicBlock* first = new_block("first");
        llvm::BasicBlock* after = new_block("first.end");
        llvm::Value* is_first = builder_.CreateICmpEQ(thread_, builder_.getInt32(0));
        if (takes_part_ != nullptr) is_first = builder_.CreateAnd(is_first, takes_part_);
        builder_.CreateCondBr(is_first, first, after);
        builder_.SetInsertPoint(first);
        body();
        builder_.CreateBr(after);
        builder_.SetInsertPoint(after);
    }

    // --- values that depend on conditions -------------------------------------------------------------

    // Values of `then` where the condition holds, else `otherwise`.
    template <class Then>
    Values if_then(llvm::Value* condition, const Values& otherwise, const Then& then) {
        llvm::BasicBlock* before = builder_.GetInsertBlock();
        llvm::BasicBlock* taken = new_block("then");
        llvm::BasicBlock* after = new_block("then.end");
        builder_.CreateCondBr(condition, taken, after);
        builder_.SetInsertPoint(taken);
        const Values values = then();
        llvm::BasicBlock* end = builder_.GetInsertBlock();
        builder_.CreateBr(after);
        builder_.SetInsertPoint(after);
        const Phis phis = make_phis(otherwise, before);
        add_incoming(phis, values, end);
        return values_in(phis);
    }

    template <class Then, class Else>
    Values if_else(llvm::Value* condition, const Then& then, const Else& otherwise) {
        llvm::BasicBlock* sides[2] = {new_block("whole"), new_block("part")};
        llvm::BasicBlock* after = new_block("block.end");
        builder_.CreateCondBr(condition, sides[0], sides[1]);
        builder_.SetInsertPoint(sides[0]);
        const Values first = then();
        llvm::BasicBlock* first_end = builder_.GetInsertBlock();
        builder_.CreateBr(after);
        builder_.SetInsertPoint(sides[1]);
        const Values second = otherwise();
        llvm::BasicBlock* second_end = builder_.GetInsertBlock();
        builder_.CreateBr(after);
        builder_.SetInsertPoint(after);
        const Phis phis = make_phis(first, first_end);
        add_incoming(phis, second, second_end);
        return values_in(phis);
    }

    Values choose(llvm::Value* condition, const Values& yes, const Values& no) {
        Values chosen(yes.size());
        for (size_t i = 0; i < yes.size(); ++i) {
            for (int part = 0; part < 2; ++part) {
                if (yes[i].parts[part] != nullptr)
                    chosen[i].parts[part] =
                        builder_.CreateSelect(condition, yes[i].parts[part], no[i].parts[part]);
            }
        }
        return chosen;
    }

    llvm::ConstantInt* number(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }
    llvm::Value* smaller(llvm::Value* a, llvm::Value* b) {
        return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    }
    // --- shared memory, and what goes from thread to thread of a warp ---------------------------------

    llvm::Value* shared_element(llvm::GlobalVariable* array, llvm::Type* element, llvm::Value* index) {
        return builder_.CreateInBoundsGEP(element, array,
                                          {builder_.CreateZExt(index, builder_.getInt64Ty())});
    }

    enum class From { kLaneAbove, kLane };  // so many lanes above; a lane

    Values shuffled(const Values& values, From from, llvm::Value* lane);
    llvm::Value* shuffled(llvm::Value* value, From from, llvm::Value* lane);
    Values of_lane(const Values& values, llvm::Value* lane) { return shuffled(values, From::kLane, lane); }
    Values of_first_lane(const Values& values) { return of_lane(values, builder_.getInt32(0)); }

    llvm::Value* thread_ = nullptr;   // i32, in the team
    llvm::Value* threads_ = nullptr;  // i32, of the team
    llvm::Value* lane_ = nullptr;
    llvm::Value* warp_ = nullptr;
    llvm::Value* warps_ = nullptr;
    llvm::Value* team_ = nullptr;  // i32, in the block
    // Of small teams: their size, the thread's number in the block, the team's first lane in its warp, and
    // whether the team has a point of its own.
    llvm::Value* team_threads_ = nullptr;
    llvm::Value* block_thread_ = nullptr;
    llvm::Value* first_lane_ = nullptr;
    llvm::Value* takes_part_ = nullptr;
    bool has_walk_ = false;  // of which the launch makes the team's size
    bool fixed_team_ = false;

private:
    void find_longest_walk(const ir::Region& region);
    void add_team_factor(ir::ValueId size);
    int64_t words_carried(const ir::Region& region) const;
    int64_t words_across_barriers(const ir::Region& block) const;
    int blocks_beside_shared_memory(const ir::Region& region, const ir::Region& block) const;
    int64_t bound_of(ir::ValueId value) const;

    bool has_conflicts_ = false;
};

}  // namespace weft::codegen
