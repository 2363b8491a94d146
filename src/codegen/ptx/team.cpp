#include "codegen/ptx/team.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "weft/errors.h"

namespace weft::codegen {

using ir::AddressSpace;
using ir::BufferType;
using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

bool any_instruction(const Region& region, const std::function<bool(const Instruction&)>& matches) {
    return std::any_of(region.body.begin(), region.body.end(), [&](const Instruction& instruction) {
        return matches(instruction) ||
               std::any_of(instruction.regions.begin(), instruction.regions.end(),
                           [&](const Region& inner) { return any_instruction(inner, matches); });
    });
}

void PtxTeam::find_team_size(const Region& region) {
    const bool shares = any_instruction(region, [&](const Instruction& instruction) {
        return instruction.opcode == Opcode::kAllocate &&
               kernel_.type(instruction.results[0]).buffer.space == AddressSpace::kShared;
    });
    const Instruction* with_barriers = nullptr;
    any_instruction(region, [&](const Instruction& instruction) {
        if (!has_barriers(instruction)) return false;
        if (with_barriers != nullptr && with_barriers->operands != instruction.operands)
            refuse("blocks of several sizes with barriers");
        with_barriers = &instruction;
        return false;
    });
    if (with_barriers != nullptr) {
        image_.team_threads = 1;
        for (const ValueId size : with_barriers->operands) add_team_factor(size);
        if (image_.team_threads > kMostThreads)
            refuse("a block of " + std::to_string(image_.team_threads) + " threads");
        // The fewer threads, the more registers each may have.
        most_threads_ = image_.team_words.empty() ? std::max(image_.team_threads, 1) : kMostThreads;
        fixed_team_ = true;
    } else if (shares) {
        image_.team_threads = kMostTeamThreads;
        fixed_team_ = true;
    }
    if (!fixed_team_) {
        const bool is_pairwise = any_instruction(region, [](const Instruction& instruction) {
            return instruction.opcode == Opcode::kReduce && instruction.block == 1;
        });
        blocks_at_once_ = words_carried(region) >= kManyWords      ? kBlocksOfMany
                          : is_pairwise || is_dear_float64(region) ? kBlocksOfWide
                          : cost_of(region) >= kDear               ? kBlocksOfDear
                                                                   : kBlocksOfRows;
    } else if (with_barriers != nullptr && image_.team_words.empty() &&
               image_.team_threads == kMostTeamThreads) {
        blocks_at_once_ = blocks_beside_shared_memory(region, with_barriers->regions[0]);
    }
    find_longest_walk(region);
}

// The launch chooses the team by the longest reduction, of the first shift's elements, say, and the
// row's.
void PtxTeam::find_longest_walk(const Region& region) {
    any_instruction(region, [&](const Instruction& instruction) {
        if (instruction.opcode != Opcode::kReduce) return false;
        const bool pairwise = instruction.block == 1;
        const int word = word_of_parameter(instruction.operands[0]);
        const int64_t bound = bound_of(instruction.operands[0]);
        if (!has_walk_ || (word >= 0 && image_.row_word < 0) ||
            (image_.row_word < 0 && bound > image_.row_elements)) {
            image_.row_word = word;
            image_.row_elements = bound;
            image_.elements_per_warp = pairwise ? kElementsOfThread * kWarp : kElementsPerWarp;
        }
        has_walk_ = true;
        return false;
    });
}

void PtxTeam::make_small_teams(const Region& region) {
    llvm::Value* size = builder_.getInt64(kElementsOfThread * kWarp);
    any_instruction(region, [&](const Instruction& instruction) {
        if (instruction.opcode != Opcode::kReduce) return false;
        size = index(instruction.operands[0]);
        return true;
    });
    llvm::Type* type = builder_.getInt32Ty();
    llvm::Value* elements = builder_.CreateTrunc(smaller(size, number(kElementsOfThread * kWarp)), type);
    llvm::Value* busy =
        builder_.CreateUDiv(builder_.CreateAdd(elements, builder_.getInt32(kElementsOfThread - 1)),
                            builder_.getInt32(kElementsOfThread));
    llvm::Value* zeros = builder_.CreateIntrinsic(
        llvm::Intrinsic::ctlz, {type},
        {builder_.CreateSub(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, busy, builder_.getInt32(1)),
                            builder_.getInt32(1)),
         builder_.getFalse()});
    team_threads_ = builder_.CreateShl(builder_.getInt32(1), builder_.CreateSub(builder_.getInt32(32), zeros),
                                       "team_threads");
    block_thread_ = thread_;
    llvm::Value* lane = lane_;
    lane_ = thread_ = builder_.CreateAnd(lane, builder_.CreateSub(team_threads_, builder_.getInt32(1)));
    first_lane_ = builder_.CreateSub(lane, lane_);
    warp_ = builder_.getInt32(0);
    warps_ = builder_.getInt32(1);
}

bool PtxTeam::has_barriers(const Instruction& instruction) {
    return instruction.opcode == Opcode::kParallel &&
           any_instruction(instruction.regions[0],
                           [](const Instruction& inner) { return inner.opcode == Opcode::kBarrier; });
}

const Instruction* PtxTeam::definition(ValueId value) const {
    const Instruction* found = nullptr;
    any_instruction(kernel_.body, [&](const Instruction& instruction) {
        if (std::find(instruction.results.begin(), instruction.results.end(), value) !=
            instruction.results.end())
            found = &instruction;
        return found != nullptr;
    });
    return found;
}

int PtxTeam::word_of_parameter(ValueId value) const {
    int word = 0;
    for (const ValueId parameter : kernel_.parameters) {
        if (parameter == value) return word;
        const ir::Type& type = kernel_.type(parameter);
        if (type.is_buffer) {
            word += 1 + static_cast<int>(
                            std::count(type.buffer.strides.begin(), type.buffer.strides.end(), ir::kDynamic));
        } else {
            word += type.scalar == ScalarType::kComplex128 ? 2 : 1;
        }
    }
    return -1;
}

void PtxTeam::add_team_factor(ValueId size) {
    const int word = word_of_parameter(size);
    const Instruction* constant = definition(size);
    if (word >= 0) {
        image_.team_words.push_back(word);
    } else if (constant != nullptr && constant->opcode == Opcode::kConstant) {
        image_.team_threads *=
            static_cast<int>(std::clamp<int64_t>(constant->constant.as<int64_t>(), 0, kMostThreads + 1));
    } else {
        refuse("a block whose size is computed");
    }
}

// Registers that the reduction with the most results takes for these.
int64_t PtxTeam::words_carried(const Region& region) const {
    constexpr int64_t kWord = 4;
    int64_t most = 0;
    any_instruction(region, [&](const Instruction& instruction) {
        if (instruction.opcode != Opcode::kReduce) return false;
        int64_t words = 0;
        for (const ValueId result : instruction.results) {
            const int64_t bytes = DType(kernel_.type(result).scalar).itemsize();
            words += (bytes + kWord - 1) / kWord;
        }
        most = std::max(most, words);
        return false;
    });
    return most;
}

// Registers that hold what a thread has computed before a barrier of its block and needs after it.
int64_t PtxTeam::words_across_barriers(const Region& block) const {
    constexpr int64_t kWord = 4;
    std::map<uint32_t, size_t> defined;  // after so many barriers
    std::set<uint32_t> crossing;
    size_t barriers = 0;
    const std::function<void(const Instruction&)> use = [&](const Instruction& instruction) {
        for (const ValueId operand : instruction.operands) {
            const auto found = defined.find(operand.index);
            if (found != defined.end() && found->second < barriers) crossing.insert(operand.index);
        }
        for (const Region& inner : instruction.regions) {
            for (const Instruction& each : inner.body) use(each);
        }
    };
    for (const Instruction& instruction : block.body) {
        if (instruction.opcode == Opcode::kBarrier ||
            std::any_of(instruction.regions.begin(), instruction.regions.end(), [](const Region& inner) {
                return any_instruction(
                    inner, [](const Instruction& each) { return each.opcode == Opcode::kBarrier; });
            }))
            ++barriers;
        use(instruction);
        if (instruction.opcode == Opcode::kConstant) continue;
        for (const ValueId result : instruction.results) defined.emplace(result.index, barriers);
    }
    int64_t words = 0;
    for (const uint32_t value : crossing)
        words += (DType(kernel_.values[value].type.scalar).itemsize() + kWord - 1) / kWord;
    return words;
}

// As many blocks as their shared memory, and registers, leave room for on a multiprocessor, so that some
// compute while others wait; 0 where a loop carries many values, which need registers.
int PtxTeam::blocks_beside_shared_memory(const Region& region, const Region& block) const {
    constexpr int64_t kSharedOfProcessor = 227 << 10, kReserved = 1 << 10;
    constexpr int64_t kMostBlocks = 6;
    constexpr int64_t kRegisters = (64 << 10) / kMostTeamThreads;  // of a thread, if there is one block
    constexpr int64_t kOtherRegisters = 16;
    constexpr size_t kManyCarried = 8;
    int64_t bytes = kReserved;
    const bool carries_many = any_instruction(region, [&](const Instruction& instruction) {
        if (instruction.opcode == Opcode::kAllocate) {
            const BufferType& type = kernel_.type(instruction.results[0]).buffer;
            int64_t elements = type.space == AddressSpace::kShared ? 1 : 0;
            for (const int64_t size : type.sizes) elements *= std::max<int64_t>(size, 1);
            bytes += elements * DType(type.element).itemsize();
        }
        return !instruction.regions.empty() && instruction.results.size() >= kManyCarried;
    });
    if (carries_many) return 0;
    const int64_t most = std::min(kMostBlocks, kRegisters / (kOtherRegisters + words_across_barriers(block)));
    return static_cast<int>(std::clamp<int64_t>(kSharedOfProcessor / bytes, 1, std::max<int64_t>(most, 1)));
}

// A constant that the value is at most; 0: none is known.
int64_t PtxTeam::bound_of(ValueId value) const {
    const Instruction* computed = definition(value);
    if (computed == nullptr) return 0;
    if (computed->opcode == Opcode::kConstant) return computed->constant.as<int64_t>();
    if (computed->opcode != Opcode::kApply || computed->op->id != OpId::kMinimum) return 0;
    int64_t least = 0;
    for (const ValueId operand : computed->operands) {
        const int64_t bound = bound_of(operand);
        if (bound > 0 && (least == 0 || bound < least)) least = bound;
    }
    return least;
}

void PtxTeam::find_conflicts() {
    std::set<uint16_t> read, written;
    any_instruction(kernel_.body, [&](const Instruction& instruction) {
        if (instruction.operands.empty() || !kernel_.type(instruction.operands[0]).is_buffer) return false;
        const BufferType& type = kernel_.type(instruction.operands[0]).buffer;
        if (type.space == AddressSpace::kLocal) return false;
        if (instruction.opcode != Opcode::kStore) read.insert(type.alias_scope);
        if (instruction.opcode != Opcode::kLoad) written.insert(type.alias_scope);
        return false;
    });
    has_conflicts_ =
        std::any_of(read.begin(), read.end(), [&](uint16_t scope) { return written.contains(scope); });
}

void PtxTeam::wait_for_team() {
    if (fixed_team_) {
        builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
        return;
    }
    // A barrier for each team of the block; the first is the block's own.
    builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier, {},
                             {builder_.CreateAdd(team_, builder_.getInt32(1)), threads_});
}

PtxTeam::Values PtxTeam::shuffled(const Values& values, From from, llvm::Value* lane) {
    Values result(values.size());
    if (from == From::kLane && first_lane_ != nullptr) lane = builder_.CreateAdd(lane, first_lane_);
    for (size_t i = 0; i < values.size(); ++i) {
        for (int part = 0; part < 2; ++part) {
            if (values[i].parts[part] != nullptr)
                result[i].parts[part] = shuffled(values[i].parts[part], from, lane);
        }
    }
    return result;
}

llvm::Value* PtxTeam::shuffled(llvm::Value* value, From from, llvm::Value* lane) {
    llvm::Type* type = value->getType();
    const unsigned bits = type->getPrimitiveSizeInBits();
    llvm::Value* whole = builder_.CreateBitCast(value, builder_.getIntNTy(bits));
    const auto move = [&](llvm::Value* word) {
        const llvm::Intrinsic::ID id = from == From::kLane ? llvm::Intrinsic::nvvm_shfl_sync_idx_i32
                                                           : llvm::Intrinsic::nvvm_shfl_sync_down_i32;
        return builder_.CreateIntrinsic(id, {},
                                        {builder_.getInt32(~0U), word, lane, builder_.getInt32(kWarp - 1)});
    };
    if (bits <= 32) {
        whole = move(builder_.CreateZExt(whole, builder_.getInt32Ty()));
        whole = builder_.CreateTrunc(whole, builder_.getIntNTy(bits));
    } else {
        llvm::Value* low = move(builder_.CreateTrunc(whole, builder_.getInt32Ty()));
        llvm::Value* high = move(builder_.CreateTrunc(builder_.CreateLShr(whole, 32), builder_.getInt32Ty()));
        whole = builder_.CreateOr(builder_.CreateZExt(low, builder_.getInt64Ty()),
                                  builder_.CreateShl(builder_.CreateZExt(high, builder_.getInt64Ty()), 32));
    }
    return builder_.CreateBitCast(whole, type);
}

}  // namespace weft::codegen
