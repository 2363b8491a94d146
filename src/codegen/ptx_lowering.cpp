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

// A thread computes a point, or a run of neighbours.
class PtxThreadLowering final : public PtxKernelLowering {
public:
    using PtxKernelLowering::PtxKernelLowering;

private:
    void lower_grid(const Region& region, std::span<llvm::Value* const> sizes) override {
        const size_t rank = sizes.size();
        find_vectors(region);
        image_.points_per_thread = static_cast<int>(lanes_);
        llvm::Value* block = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
        llvm::Value* threads = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
        llvm::Value* thread = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
        llvm::Value* unit = builder_.CreateNSWAdd(builder_.CreateNSWMul(block, threads), thread, "unit");
        if (rank == 0) {
            return_unless(builder_.CreateICmpEQ(unit, index_constant(0)));
            lower_region(region);
            return;
        }
        // A unit is a run of points in the last dimension.
        std::vector<llvm::Value*> units(sizes.begin(), sizes.end());
        std::vector<size_t> order(rank);
        std::iota(order.begin(), order.end(), size_t{0});
        if (lanes_ > 1) {
            units.back() = builder_.CreateUDiv(builder_.CreateAdd(sizes.back(), index_constant(lanes_ - 1)),
                                               index_constant(lanes_), "units");
        } else {
            // Neighbouring threads read neighbours in memory.
            const size_t nearest = nearest_dimension(region);
            std::rotate(order.begin() + static_cast<std::ptrdiff_t>(nearest),
                        order.begin() + static_cast<std::ptrdiff_t>(nearest) + 1, order.end());
        }
        const std::vector<llvm::Value*> point = decompose(unit, units, order);
        return_unless(builder_.CreateICmpSLT(point[order[0]], units[order[0]]));
        const size_t run = lanes_ > 1 ? rank - 1 : rank;
        for (size_t d = 0; d < run; ++d) scalars_[region.arguments[d].index].parts[0] = from_index(point[d]);
        if (lanes_ == 1) {
            lower_region(region);
        } else {
            lower_run(region, point.back(), units.back(), sizes.back());
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

    // A run of points, in lanes where accesses are aligned and the run is whole, else one after another.
    void lower_run(const Region& region, llvm::Value* unit, llvm::Value* units, llvm::Value* size) {
        llvm::Value* aligned = builder_.getTrue();
        for (const uint32_t buffer : vector_buffers_)
            aligned = builder_.CreateAnd(aligned, is_aligned(buffers_.at(buffer)));
        llvm::Value* first = builder_.CreateNSWMul(unit, index_constant(lanes_), "first");
        llvm::Value* whole =
            builder_.CreateICmpSLE(first, builder_.CreateNSWSub(size, index_constant(lanes_)));
        llvm::BasicBlock* at_once = new_block("lanes");
        llvm::BasicBlock* in_turn = new_block("turns.preheader");
        llvm::BasicBlock* after = new_block("end");
        builder_.CreateCondBr(builder_.CreateAnd(aligned, whole), at_once, in_turn);

        builder_.SetInsertPoint(at_once);
        lower_lanes(region, first);
        builder_.CreateBr(after);

        builder_.SetInsertPoint(in_turn);
        llvm::Value* begin = builder_.CreateSelect(aligned, first, unit);
        llvm::Value* step = builder_.CreateSelect(aligned, index_constant(1), units);
        llvm::BasicBlock* test = new_block("turns");
        llvm::BasicBlock* body = new_block("turn");
        builder_.CreateBr(test);
        builder_.SetInsertPoint(test);
        llvm::PHINode* i = builder_.CreatePHI(index_type(), 2, "i");
        llvm::PHINode* turn = builder_.CreatePHI(builder_.getInt32Ty(), 2, "turn");
        i->addIncoming(begin, in_turn);
        turn->addIncoming(builder_.getInt32(0), in_turn);
        // Below `size + units` at most, and unsigned.
        llvm::Value* inside = builder_.CreateICmpULT(i, size);
        llvm::Value* more = builder_.CreateICmpULT(turn, builder_.getInt32(static_cast<uint32_t>(lanes_)));
        builder_.CreateCondBr(builder_.CreateAnd(inside, more), body, after);
        builder_.SetInsertPoint(body);
        scalars_[region.arguments.back().index].parts[0] = builder_.CreateZExt(i, builder_.getInt64Ty());
        lower_region(region);
        i->addIncoming(builder_.CreateAdd(i, step), builder_.GetInsertBlock());
        turn->addIncoming(builder_.CreateAdd(turn, builder_.getInt32(1)), builder_.GetInsertBlock());
        llvm::BranchInst* back = builder_.CreateBr(test);
        // A loop: unrolled, it would be as long as the lanes' code again.
        back->setMetadata(llvm::LLVMContext::MD_loop, not_unrolled());
        builder_.SetInsertPoint(after);
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

    // The accesses that run along the last dimension, and how many neighbours a thread takes: as many as fill
    // the widest access for the largest element, and more, up to four, where elements are small.
    void find_vectors(const Region& region) {
        lanes_ = 1;
        if (options_.unaligned || region.arguments.empty()) return;
        std::set<uint32_t> defined;
        for (const Instruction& instruction : region.body) {
            if (!instruction.regions.empty() || instruction.opcode == Opcode::kAllocate ||
                instruction.opcode == Opcode::kAtomic || instruction.opcode == Opcode::kCompareExchange)
                return;
            for (const ValueId result : instruction.results) defined.insert(result.index);
        }
        defined.insert(region.arguments.back().index);
        int64_t largest = 0, smallest = kAccessBytes;
        for (const Instruction& instruction : region.body) {
            if (!is_vector_access(instruction, region.arguments.back(), defined)) continue;
            const ValueId id = instruction.operands[0];
            const int64_t itemsize = DType(kernel_.type(id).buffer.element).itemsize();
            largest = std::max(largest, itemsize);
            smallest = std::min(smallest, itemsize);
            vector_buffers_.insert(id.index);
            vector_accesses_.insert(&instruction);
        }
        if (largest == 0) return;
        lanes_ = std::max(kAccessBytes / largest, std::min<int64_t>(4, kAccessBytes / smallest));
    }

    bool is_vector_access(const Instruction& instruction, ValueId along,
                          const std::set<uint32_t>& varying) const {
        const bool loads = instruction.opcode == Opcode::kLoad;
        if (instruction.predicated || (!loads && instruction.opcode != Opcode::kStore)) return false;
        const BufferType& type = kernel_.type(instruction.operands[0]).buffer;
        const std::span<const ValueId> indices(instruction.operands.data() + (loads ? 1 : 2),
                                               type.strides.size());
        if (type.space != AddressSpace::kGlobal || indices.empty() || indices.back() != along) return false;
        if (type.strides.back() != DType(type.element).itemsize()) return false;
        return std::none_of(indices.begin(), indices.end() - 1,
                            [&](ValueId index) { return varying.contains(index.index); });
    }

    // Whether every run of the buffer begins where a vector may.
    llvm::Value* is_aligned(const BufferValue& buffer) {
        const int64_t bytes = lanes_ * DType(buffer.type.element).itemsize();
        llvm::Value* bits = builder_.CreatePtrToInt(buffer.base, builder_.getInt64Ty());
        for (size_t d = 0; d + 1 < buffer.strides.size(); ++d)
            bits = builder_.CreateOr(bits, buffer.strides[d]);
        const auto mask = static_cast<uint64_t>(std::min(bytes, kAccessBytes) - 1);
        return builder_.CreateICmpEQ(builder_.CreateAnd(bits, mask), builder_.getInt64(0));
    }

    void lower_lanes(const Region& region, llvm::Value* first) {
        std::vector<std::vector<Scalar>> lanes(static_cast<size_t>(lanes_), scalars_);
        for (size_t k = 0; k < lanes.size(); ++k) {
            lanes[k][region.arguments.back().index].parts[0] =
                from_index(builder_.CreateNSWAdd(first, index_constant(static_cast<int64_t>(k))));
        }
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kYield) break;
            if (vector_accesses_.contains(&instruction)) {
                if (instruction.opcode == Opcode::kLoad) {
                    load_lanes(instruction, lanes);
                } else {
                    store_lanes(instruction, lanes);
                }
                continue;
            }
            for (std::vector<Scalar>& lane : lanes) {
                scalars_.swap(lane);
                lower(instruction);
                scalars_.swap(lane);
            }
        }
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
    llvm::Value* run_address(const Instruction& instruction, std::vector<std::vector<Scalar>>& lanes,
                             size_t indices_at) {
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

    void load_lanes(const Instruction& instruction, std::vector<std::vector<Scalar>>& lanes) {
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

    void store_lanes(const Instruction& instruction, std::vector<std::vector<Scalar>>& lanes) {
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

    int64_t lanes_ = 1;
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
