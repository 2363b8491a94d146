#include "codegen/ptx_lowering.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/ptx_kernel_lowering.h"
#include "codegen/ptx_team_lowering.h"
#include "passes/lower_reductions.h"
#include "weft/errors.h"

namespace weft::codegen {
namespace {

using ir::AddressSpace;
using ir::BufferType;
using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

constexpr int64_t kAccessBytes = 16;  // of the widest load
constexpr int64_t kMostLanesOfChain = 4;
constexpr int64_t kLanesOfDear = 4;
// At once on a multiprocessor. Of chains what counts are the reads under way, which need registers, as does
// what elementary functions of float64 compute side by side.
constexpr int kBlocksOfChains = 2;
constexpr int kBlocksOfDear = 5;
constexpr int kBlocksOfDearFloat64 = 3;

// A thread computes a point, or a run of neighbours.
class PtxThreadLowering final : public PtxKernelLowering {
public:
    using PtxKernelLowering::PtxKernelLowering;

private:
    void lower_grid(const Region& region, std::span<llvm::Value* const> sizes) override {
        const size_t rank = sizes.size();
        if (rank > 0) {
            along_ = has_chains(region) ? nearest_dimension(region) : rank - 1;
            find_vectors(region);
            if (lanes_ == 1) along_ = nearest_dimension(region);
        }
        limit_registers(region);
        image_.points_per_thread = static_cast<int>(lanes_);
        image_.run_dimension = lanes_ > 1 ? static_cast<int>(along_) : -1;
        llvm::Value* block = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
        llvm::Value* threads = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
        llvm::Value* thread = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
        llvm::Value* unit = builder_.CreateNSWAdd(builder_.CreateNSWMul(block, threads), thread, "unit");
        if (rank == 0) {
            return_unless(builder_.CreateICmpEQ(unit, index_constant(0)));
            lower_region(region);
            return;
        }
        // A unit is a point, or a run of points; neighbouring threads read neighbours in memory.
        std::vector<llvm::Value*> units(sizes.begin(), sizes.end());
        if (lanes_ > 1) {
            units[along_] = builder_.CreateUDiv(builder_.CreateAdd(sizes[along_], index_constant(lanes_ - 1)),
                                                index_constant(lanes_), "units");
        }
        std::vector<size_t> order(rank);
        std::iota(order.begin(), order.end(), size_t{0});
        std::rotate(order.begin() + static_cast<std::ptrdiff_t>(along_),
                    order.begin() + static_cast<std::ptrdiff_t>(along_) + 1, order.end());
        const std::vector<llvm::Value*> point = decompose(unit, units, order);
        return_unless(builder_.CreateICmpSLT(point[order[0]], units[order[0]]));
        for (size_t d = 0; d < rank; ++d) {
            if (lanes_ == 1 || d != along_)
                scalars_[region.arguments[d].index].parts[0] = from_index(point[d]);
        }
        if (lanes_ == 1) {
            lower_region(region);
        } else {
            lower_run(region, point[along_], units[along_], sizes[along_]);
        }
    }

    // The dimension along which most accesses run without gaps, the last one of equals.
    static size_t most_of(std::span<const int> votes) {
        size_t most = votes.size() - 1;
        for (size_t d = votes.size(); d-- > 0;) {
            if (votes[d] > votes[most]) most = d;
        }
        return most;
    }
    size_t nearest_dimension(const Region& region) const {
        std::vector<int> votes(region.arguments.size());
        count_accesses(region, region.arguments, 1, votes);
        return most_of(votes);
    }
    // What is in a loop counts more.
    void count_accesses(const Region& region, std::span<const ValueId> point, int weight,
                        std::span<int> votes) const {
        for (const Instruction& instruction : region.body) {
            for (const Region& inner : instruction.regions)
                count_accesses(inner, point,
                               instruction.opcode == Opcode::kIf ? weight : std::min(16 * weight, 1 << 16),
                               votes);
            const bool loads = instruction.opcode == Opcode::kLoad;
            if (!loads && instruction.opcode != Opcode::kStore) continue;
            const BufferType& type = kernel_.type(instruction.operands[0]).buffer;
            if (type.space != AddressSpace::kGlobal) continue;
            for (size_t d = 0; d < type.strides.size(); ++d) {
                const int64_t itemsize = DType(type.element).itemsize();  // a dynamic stride has no magnitude
                if (type.strides[d] != itemsize && type.strides[d] != -itemsize) continue;
                const ValueId index = instruction.operands[d + (loads ? 1 : 2)];
                const auto found = std::find(point.begin(), point.end(), index);
                if (found != point.end()) votes[static_cast<size_t>(found - point.begin())] += weight;
            }
        }
    }

    // A run of points, in lanes where accesses are aligned and the run is whole; else the points, a row's
    // length apart where nothing is aligned, side by side as well if that is not much code, or one after
    // another.
    void lower_run(const Region& region, llvm::Value* unit, llvm::Value* units, llvm::Value* size) {
        llvm::Value* aligned = builder_.getTrue();
        for (const uint32_t buffer : vector_buffers_)
            aligned = builder_.CreateAnd(aligned, is_aligned(buffers_.at(buffer)));
        llvm::Value* first = builder_.CreateNSWMul(unit, index_constant(lanes_), "first");
        llvm::Value* whole =
            builder_.CreateICmpSLE(first, builder_.CreateNSWSub(size, index_constant(lanes_)));
        llvm::BasicBlock* at_once = new_block("lanes");
        llvm::BasicBlock* apart = new_block("apart");
        llvm::BasicBlock* after = new_block("end");
        builder_.CreateCondBr(builder_.CreateAnd(aligned, whole), at_once, apart);

        builder_.SetInsertPoint(at_once);
        Lanes lanes(static_cast<size_t>(lanes_), scalars_);
        for (size_t k = 0; k < lanes.size(); ++k) {
            lanes[k][region.arguments[along_].index].parts[0] =
                from_index(builder_.CreateNSWAdd(first, index_constant(static_cast<int64_t>(k))));
        }
        lower_lanes(region, lanes, true);
        builder_.CreateBr(after);

        builder_.SetInsertPoint(apart);
        llvm::Value* begin = builder_.CreateSelect(aligned, first, unit);
        llvm::Value* step = builder_.CreateSelect(aligned, index_constant(1), units);
        if (is_short(region)) {
            lower_apart(region, begin, step, size);
            builder_.CreateBr(after);
        } else {
            lower_turns(region, begin, step, size, after);
        }
        builder_.SetInsertPoint(after);
    }

    void limit_registers(const Region& region) {
        if (has_chains(region)) {
            blocks_at_once_ = kBlocksOfChains;
        } else if (cost_of(region) >= kDear) {
            blocks_at_once_ = is_dear_float64(region) ? kBlocksOfDearFloat64 : kBlocksOfDear;
        }
    }

    bool is_short(const Region& region) const {
        constexpr int kMostCost = 24;
        int cost = 0;
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kReduce) return true;
            if (instruction.opcode == Opcode::kApply) cost += instruction.op->cost;
        }
        return lanes_ <= 4 && cost <= kMostCost;
    }

    // Points that are not there are the last one, computed again and not written.
    void lower_apart(const Region& region, llvm::Value* begin, llvm::Value* step, llvm::Value* size) {
        Lanes lanes(static_cast<size_t>(lanes_), scalars_);
        llvm::Value* last = builder_.CreateNSWSub(size, index_constant(1));
        llvm::Value* at = begin;
        for (std::vector<Scalar>& lane : lanes) {
            // Below `size + units` at most, and unsigned.
            present_.push_back(builder_.CreateICmpULE(at, last));
            llvm::Value* nearest = builder_.CreateSelect(present_.back(), at, last);
            lane[region.arguments[along_].index].parts[0] =
                builder_.CreateZExt(nearest, builder_.getInt64Ty());
            at = builder_.CreateAdd(at, step);
        }
        lower_lanes(region, lanes, false);
        present_.clear();
    }

    void lower_turns(const Region& region, llvm::Value* begin, llvm::Value* step, llvm::Value* size,
                     llvm::BasicBlock* after) {
        llvm::BasicBlock* before = builder_.GetInsertBlock();
        llvm::BasicBlock* test = new_block("turns");
        llvm::BasicBlock* body = new_block("turn");
        builder_.CreateBr(test);
        builder_.SetInsertPoint(test);
        llvm::PHINode* i = builder_.CreatePHI(index_type(), 2, "i");
        llvm::PHINode* turn = builder_.CreatePHI(builder_.getInt32Ty(), 2, "turn");
        i->addIncoming(begin, before);
        turn->addIncoming(builder_.getInt32(0), before);
        // Below `size + units` at most, and unsigned.
        llvm::Value* inside = builder_.CreateICmpULT(i, size);
        llvm::Value* more = builder_.CreateICmpULT(turn, builder_.getInt32(static_cast<uint32_t>(lanes_)));
        builder_.CreateCondBr(builder_.CreateAnd(inside, more), body, after);
        builder_.SetInsertPoint(body);
        scalars_[region.arguments[along_].index].parts[0] = builder_.CreateZExt(i, builder_.getInt64Ty());
        lower_region(region);
        i->addIncoming(builder_.CreateAdd(i, step), builder_.GetInsertBlock());
        turn->addIncoming(builder_.CreateAdd(turn, builder_.getInt32(1)), builder_.GetInsertBlock());
        llvm::BranchInst* back = builder_.CreateBr(test);
        // A loop: unrolled, it would be as long as the lanes' code again.
        back->setMetadata(llvm::LLVMContext::MD_loop, not_unrolled());
    }

    llvm::MDNode* not_unrolled() {
        llvm::Metadata* const parts[] = {
            nullptr,
            llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.unroll.disable")})};
        llvm::MDNode* loop = llvm::MDNode::getDistinct(context_, parts);
        loop->replaceOperandWith(0, loop);
        return loop;
    }

    // --- lanes: neighbouring points side by side -----------------------------------------------------

    // The accesses that run along the dimension, and how many neighbours a thread takes: as many as fill the
    // widest access for the largest element, and more, up to four, where elements are small.
    void find_vectors(const Region& region) {
        lanes_ = 1;
        if (options_.unaligned) return;
        const ValueId along = region.arguments[along_];
        std::set<uint32_t> varying{along.index};
        if (!can_be_lanes(region, varying, true)) return;
        int64_t largest = 0, smallest = kAccessBytes;
        find_vector_accesses(region, along, varying, largest, smallest);
        if (largest == 0) return;
        lanes_ = std::max(kAccessBytes / largest, std::min<int64_t>(4, kAccessBytes / smallest));
        // A fifth and more of elementary functions of float64 is fetching constants, which lanes share.
        if (is_dear_float64(region)) lanes_ = std::max<int64_t>(lanes_, kLanesOfDear);
        if (has_chains(region)) lanes_ = std::min<int64_t>(lanes_, kMostLanesOfChain);
    }

    // `varying` gets what differs between neighbours. A chain is as long for all of them.
    static bool can_be_lanes(const Region& region, std::set<uint32_t>& varying, bool chains) {
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kAllocate || instruction.opcode == Opcode::kAtomic ||
                instruction.opcode == Opcode::kCompareExchange)
                return false;
            bool varies = std::any_of(instruction.operands.begin(), instruction.operands.end(),
                                      [&](ValueId operand) { return varying.contains(operand.index); });
            if (!instruction.regions.empty()) {
                if (!chains || !is_chain(instruction) || varying.contains(instruction.operands[0].index))
                    return false;
                for (const ValueId argument : instruction.regions[1].arguments)
                    varying.insert(argument.index);
                for (const Region& inner : instruction.regions) {
                    if (!can_be_lanes(inner, varying, false)) return false;
                }
                varies = true;
            }
            if (!varies) continue;
            for (const ValueId result : instruction.results) varying.insert(result.index);
        }
        return true;
    }

    void find_vector_accesses(const Region& region, ValueId along, const std::set<uint32_t>& varying,
                              int64_t& largest, int64_t& smallest) {
        for (const Instruction& instruction : region.body) {
            for (const Region& inner : instruction.regions)
                find_vector_accesses(inner, along, varying, largest, smallest);
            const size_t d = run_of_access(instruction, along, varying);
            if (d == kNoRun) continue;
            const ValueId id = instruction.operands[0];
            const int64_t itemsize = DType(kernel_.type(id).buffer.element).itemsize();
            largest = std::max(largest, itemsize);
            smallest = std::min(smallest, itemsize);
            vector_buffers_.insert(id.index);
            vector_accesses_.insert(&instruction);
        }
    }

    static constexpr size_t kNoRun = ~size_t{0};

    // The access's dimension in which neighbours are neighbours in memory and all other indices are the same.
    size_t run_of_access(const Instruction& instruction, ValueId along,
                         const std::set<uint32_t>& varying) const {
        const bool loads = instruction.opcode == Opcode::kLoad;
        if (instruction.predicated || (!loads && instruction.opcode != Opcode::kStore)) return kNoRun;
        const BufferType& type = kernel_.type(instruction.operands[0]).buffer;
        const std::span<const ValueId> indices(instruction.operands.data() + (loads ? 1 : 2),
                                               type.strides.size());
        if (type.space != AddressSpace::kGlobal) return kNoRun;
        const auto found = std::find(indices.begin(), indices.end(), along);
        if (found == indices.end()) return kNoRun;
        const auto run = static_cast<size_t>(found - indices.begin());
        if (type.strides[run] != DType(type.element).itemsize()) return kNoRun;
        for (size_t d = 0; d < indices.size(); ++d) {
            if (d != run && varying.contains(indices[d].index)) return kNoRun;
        }
        return run;
    }

    // Whether every run of the buffer begins where a vector may.
    llvm::Value* is_aligned(const BufferValue& buffer) {
        const int64_t bytes = lanes_ * DType(buffer.type.element).itemsize();
        llvm::Value* bits = builder_.CreatePtrToInt(buffer.base, builder_.getInt64Ty());
        const auto itemsize = static_cast<uint64_t>(DType(buffer.type.element).itemsize());
        for (llvm::Value* stride : buffer.strides) {
            const auto* known = llvm::dyn_cast<llvm::ConstantInt>(stride);
            if (known == nullptr || known->getZExtValue() != itemsize) bits = builder_.CreateOr(bits, stride);
        }
        const auto mask = static_cast<uint64_t>(std::min(bytes, kAccessBytes) - 1);
        return builder_.CreateICmpEQ(builder_.CreateAnd(bits, mask), builder_.getInt64(0));
    }

    // The values of each lane.
    using Lanes = std::vector<std::vector<Scalar>>;

    void lower_lanes(const Region& region, Lanes& lanes, bool at_once) {
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kYield) break;
            lower_in_lanes(instruction, lanes, at_once);
        }
    }

    void lower_in_lanes(const Instruction& instruction, Lanes& lanes, bool at_once) {
        if (instruction.opcode == Opcode::kReduce) {
            lower_chain(instruction, lanes, at_once);
            return;
        }
        if (at_once && vector_accesses_.contains(&instruction)) {
            if (instruction.opcode == Opcode::kLoad) {
                load_lanes(instruction, lanes);
            } else {
                store_lanes(instruction, lanes);
            }
            return;
        }
        const bool guarded = instruction.opcode == Opcode::kStore && !present_.empty();
        for (size_t k = 0; k < lanes.size(); ++k) {
            scalars_.swap(lanes[k]);
            if (guarded && k > 0) {
                only_if(present_[k], [&] { lower(instruction); });
            } else {
                lower(instruction);
            }
            scalars_.swap(lanes[k]);
        }
    }

    template <class Body>
    void only_if(llvm::Value* condition, const Body& body) {
        llvm::BasicBlock* taken = new_block("present");
        llvm::BasicBlock* after = new_block("present.end");
        builder_.CreateCondBr(condition, taken, after);
        builder_.SetInsertPoint(taken);
        body();
        builder_.CreateBr(after);
        builder_.SetInsertPoint(after);
    }

    // --- chains: reductions of one lane in one block -------------------------------------------------

    static bool is_chain(const Instruction& instruction) {
        return instruction.opcode == Opcode::kReduce && instruction.lanes == 1 && instruction.block == 0;
    }
    static bool has_chains(const Region& region) {
        return std::any_of(region.body.begin(), region.body.end(), is_chain);
    }

    void lower(const Instruction& instruction) override {
        if (instruction.opcode != Opcode::kReduce) {
            PtxKernelLowering::lower(instruction);
            return;
        }
        Lanes alone(1, scalars_);
        lower_chain(instruction, alone, false);
        scalars_.swap(alone[0]);
    }

    // Elements are combined one after another, those of several turns read beforehand, so that many reads are
    // under way at a time.
    void lower_chain(const Instruction& instruction, Lanes& lanes, bool at_once) {
        Values accumulators;
        for (const std::vector<Scalar>& lane : lanes) {
            for (const ValueId initial : std::span(instruction.operands).subspan(1))
                accumulators.push_back(lane[initial.index]);
        }
        const auto i64 = [&](int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); };
        llvm::Value* size = lanes[0][instruction.operands[0].index].parts[0];
        llvm::Value* whole = i64(0);
        const int64_t turns = unrolling_of(instruction.regions);
        if (turns > 1) {
            whole = builder_.CreateSelect(builder_.CreateICmpSGT(size, i64(0)),
                                          builder_.CreateAnd(size, i64(-turns)), i64(0));
            accumulators = counted_loop(
                i64(0), whole, i64(turns), accumulators, [&](llvm::Value* at, const Values& before) {
                    return turns_of_chain(instruction, lanes, at_once, at, turns, before);
                });
        }
        accumulators =
            counted_loop(whole, size, i64(1), accumulators, [&](llvm::Value* at, const Values& before) {
                return turns_of_chain(instruction, lanes, at_once, at, 1, before);
            });
        const size_t width = instruction.results.size();
        for (size_t k = 0; k < lanes.size(); ++k) {
            for (size_t i = 0; i < width; ++i)
                lanes[k][instruction.results[i].index] = accumulators[k * width + i];
        }
    }

    Values turns_of_chain(const Instruction& instruction, const Lanes& lanes, bool at_once, llvm::Value* at,
                          int64_t count, const Values& before) {
        const Region& element = instruction.regions[0];
        const Region& combination = instruction.regions[1];
        const std::set<const Instruction*> early = reads_of(element);
        std::vector<Lanes> turns(static_cast<size_t>(count), lanes);
        for (size_t turn = 0; turn < turns.size(); ++turn) {
            llvm::Value* number = builder_.CreateNSWAdd(at, builder_.getInt64(turn));
            for (std::vector<Scalar>& lane : turns[turn]) lane[element.arguments[0].index].parts[0] = number;
            for (const Instruction& inner : element.body) {
                if (early.contains(&inner)) lower_in_lanes(inner, turns[turn], at_once);
            }
        }
        Values values = before;
        const size_t width = instruction.results.size();
        for (Lanes& turn : turns) {
            for (const Instruction& inner : element.body) {
                if (inner.opcode != Opcode::kYield && !early.contains(&inner))
                    lower_in_lanes(inner, turn, at_once);
            }
            const Instruction& yield = element.body.back();
            for (size_t k = 0; k < turn.size(); ++k) {
                scalars_.swap(turn[k]);
                for (size_t i = 0; i < width; ++i) {
                    scalars_[combination.arguments[i].index] = values[k * width + i];
                    scalars_[combination.arguments[width + i].index] = scalar(yield.operands[i]);
                }
                const Values next = lower_region(combination);
                std::copy(next.begin(), next.end(), values.begin() + static_cast<std::ptrdiff_t>(k * width));
                scalars_.swap(turn[k]);
            }
        }
        return values;
    }

    // How the parts of a run lie in memory: `count` accesses of `words` words, each word of one or more
    // parts.
    struct RunLayout {
        llvm::Type* word;
        int64_t word_bytes, words, accesses, parts_per_word;
    };
    RunLayout layout_of(ScalarType type) {
        const int64_t part = part_size(type), bytes = lanes_ * DType(type).itemsize();
        const int64_t access = std::min(bytes, kAccessBytes);
        RunLayout layout;
        // Small parts travel in words of up to four bytes, from which shifts take them: vectors of them would
        // go through memory.
        layout.word_bytes = std::max(part, std::min<int64_t>(access, 4));
        layout.word =
            part >= 4 ? part_type(type) : builder_.getIntNTy(static_cast<unsigned>(8 * layout.word_bytes));
        layout.words = access / layout.word_bytes;
        layout.accesses = bytes / access;
        layout.parts_per_word = layout.word_bytes / part;
        return layout;
    }
    llvm::Type* access_type(const RunLayout& layout) {
        return layout.words == 1
                   ? layout.word
                   : llvm::FixedVectorType::get(layout.word, static_cast<unsigned>(layout.words));
    }
    llvm::Value* run_address(const Instruction& instruction, Lanes& lanes, size_t indices_at) {
        const BufferValue& run = buffer(instruction.operands[0]);
        scalars_.swap(lanes[0]);
        llvm::Value* pointer = address(
            run, std::span<const ValueId>(instruction.operands.data() + indices_at, run.strides.size()));
        scalars_.swap(lanes[0]);
        return pointer;
    }
    llvm::Value* access_pointer(llvm::Value* run, const RunLayout& layout, int64_t access) {
        return builder_.CreateConstInBoundsGEP1_64(
            builder_.getInt8Ty(), run, static_cast<uint64_t>(access * layout.words * layout.word_bytes));
    }
    llvm::Align access_alignment(const RunLayout& layout) const {
        return llvm::Align(static_cast<uint64_t>(layout.words * layout.word_bytes));
    }

    void load_lanes(const Instruction& instruction, Lanes& lanes) {
        const BufferType& type = kernel_.type(instruction.operands[0]).buffer;
        const RunLayout layout = layout_of(type.element);
        llvm::Value* pointer = run_address(instruction, lanes, 1);
        const auto parts = static_cast<size_t>(part_count(type.element));
        size_t at = 0;  // part of the run
        for (int64_t access = 0; access < layout.accesses; ++access) {
            llvm::LoadInst* load = builder_.CreateAlignedLoad(
                access_type(layout), access_pointer(pointer, layout, access), access_alignment(layout));
            annotate_load(load, type);
            for (int64_t w = 0; w < layout.words; ++w) {
                llvm::Value* word = layout.words == 1
                                        ? static_cast<llvm::Value*>(load)
                                        : builder_.CreateExtractElement(load, static_cast<uint64_t>(w));
                for (int64_t p = 0; p < layout.parts_per_word; ++p, ++at) {
                    lanes[at / parts][instruction.results[0].index].parts[at % parts] =
                        part_of_word(word, layout, p, type.element);
                }
            }
        }
    }

    llvm::Value* part_of_word(llvm::Value* word, const RunLayout& layout, int64_t part, ScalarType type) {
        if (part_size(type) >= 4) return word;
        const auto bits = static_cast<unsigned>(8 * part_size(type));
        if (layout.parts_per_word > 1) word = builder_.CreateLShr(word, static_cast<uint64_t>(part) * bits);
        word = builder_.CreateTrunc(word, builder_.getIntNTy(bits));
        return builder_.CreateBitCast(word, part_type(type));
    }

    void store_lanes(const Instruction& instruction, Lanes& lanes) {
        const BufferType& type = kernel_.type(instruction.operands[0]).buffer;
        const RunLayout layout = layout_of(type.element);
        llvm::Value* pointer = run_address(instruction, lanes, 2);
        const auto parts = static_cast<size_t>(part_count(type.element));
        size_t at = 0;
        for (int64_t access = 0; access < layout.accesses; ++access) {
            llvm::Value* all = llvm::PoisonValue::get(access_type(layout));
            for (int64_t w = 0; w < layout.words; ++w) {
                llvm::Value* word = nullptr;
                for (int64_t p = 0; p < layout.parts_per_word; ++p, ++at) {
                    llvm::Value* part = lanes[at / parts][instruction.operands[1].index].parts[at % parts];
                    word = put_part(word, part, layout, p, type.element);
                }
                all = layout.words == 1 ? word
                                        : builder_.CreateInsertElement(all, word, static_cast<uint64_t>(w));
            }
            llvm::StoreInst* store = builder_.CreateAlignedStore(all, access_pointer(pointer, layout, access),
                                                                 access_alignment(layout));
            set_alias_scope(store, type);
        }
    }

    llvm::Value* put_part(llvm::Value* word, llvm::Value* part, const RunLayout& layout, int64_t number,
                          ScalarType type) {
        if (part_size(type) >= 4) return part;
        const auto bits = static_cast<unsigned>(8 * part_size(type));
        part = builder_.CreateZExt(builder_.CreateBitCast(part, builder_.getIntNTy(bits)), layout.word);
        if (word == nullptr) return part;
        return builder_.CreateOr(word, builder_.CreateShl(part, static_cast<uint64_t>(number) * bits));
    }

    size_t along_ = 0;  // the grid's dimension whose neighbours threads take
    int64_t lanes_ = 1;
    std::vector<llvm::Value*> present_;  // which lanes write, where some may be missing
    std::set<uint32_t> vector_buffers_;
    std::set<const Instruction*> vector_accesses_;
};

}  // namespace

llvm::Function* lower_for_ptx(const ir::Function& kernel, const PtxLoweringOptions& options,
                              llvm::Module& module, BitcodeLibrary& library, CudaKernelImage& image) {
    if (passes::needs_teams(kernel)) return lower_teams_for_ptx(kernel, options, module, library, image);
    return PtxThreadLowering(kernel, options, module, library, image).run();
}

}  // namespace weft::codegen
