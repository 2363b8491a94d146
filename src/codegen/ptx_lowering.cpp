#include "codegen/ptx_lowering.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/kernel_lowering.h"
#include "weft/errors.h"

namespace weft::codegen {
namespace {

using ir::AddressSpace;
using ir::BufferType;
using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

constexpr unsigned kGlobalSpace = 1;
constexpr int64_t kAccessBytes = 16;  // of the widest load
constexpr size_t kMostParameterBytes = 4096;

std::string symbol_of(const std::string& name) {
    std::string symbol = "weft_";
    for (const char c : name) symbol += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return symbol;
}

class PtxLowering final : public KernelLowering {
public:
    PtxLowering(const ir::Function& kernel, const PtxLoweringOptions& options, llvm::Module& module,
                BitcodeLibrary& library, CudaKernelImage& image)
        : KernelLowering(kernel, module, library, "GPUs"), options_(options), image_(image) {}

    llvm::Function* run() {
        image_.symbol = symbol_of(kernel_.name);
        image_.wide = options_.wide;
        count_words();
        if (static_cast<size_t>(image_.words) * sizeof(KernelWord) > kMostParameterBytes)
            refuse("so many arguments");
        auto* words = llvm::ArrayType::get(builder_.getInt64Ty(), static_cast<uint64_t>(image_.words));
        auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy()}, false);
        begin_function(
            llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, image_.symbol, module_));
        function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
        function_->getArg(0)->setName("words");
        function_->addParamAttr(0, llvm::Attribute::getWithByValType(context_, words));
        function_->addParamAttr(0, llvm::Attribute::getWithAlignment(context_, llvm::Align(8)));
        find_unwritten_scopes();
        make_alias_scopes();
        read_parameters();
        lower_region(kernel_.body);
        builder_.CreateRetVoid();
        set_most_threads(256);
        return function_;
    }

private:
    // --- parameters ----------------------------------------------------------------------------------

    // Where each word is and what may be taken for granted of it.
    void count_words() {
        for (const ValueId parameter : kernel_.parameters) {
            const ir::Type& type = kernel_.type(parameter);
            if (!type.is_buffer) {
                image_.words += type.scalar == ScalarType::kComplex128 ? 2 : 1;
                continue;
            }
            CudaBufferFacts facts;
            facts.alignment = static_cast<int>(alignment_of(type.buffer.element).value());
            facts.base_word = image_.words++;
            for (const int64_t stride : type.buffer.strides) {
                if (stride == ir::kDynamic) facts.stride_words.push_back(image_.words++);
            }
            image_.buffers.push_back(std::move(facts));
        }
    }

    llvm::Value* word_pointer(int64_t index) {
        return builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), function_->getArg(0),
                                                   static_cast<uint64_t>(index));
    }
    llvm::Value* load_base(int64_t word, const std::string& name) override {
        llvm::Value* address =
            builder_.CreateAlignedLoad(builder_.getInt64Ty(), word_pointer(word), llvm::Align(8));
        return builder_.CreateIntToPtr(address, builder_.getPtrTy(kGlobalSpace), name);
    }
    // A narrow index times a narrow stride is one instruction (mul.wide.s32), whatever the product is.
    llvm::Value* load_stride(int64_t word, const std::string& name) override {
        llvm::Type* type = index_type();
        llvm::Value* stride = builder_.CreateAlignedLoad(type, word_pointer(word), llvm::Align(8), name);
        return builder_.CreateSExt(stride, builder_.getInt64Ty());
    }

    void set_most_threads(int threads) {
        llvm::Metadata* const parts[] = {
            llvm::ValueAsMetadata::get(function_), llvm::MDString::get(context_, "maxntidx"),
            llvm::ConstantAsMetadata::get(builder_.getInt32(static_cast<uint32_t>(threads)))};
        module_.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(context_, parts));
    }

    // --- memory --------------------------------------------------------------------------------------

    llvm::Align alignment_of(ScalarType type) const {
        return options_.unaligned ? llvm::Align(1) : llvm::Align(static_cast<uint64_t>(part_size(type)));
    }

    // Scopes of which this kernel writes nothing.
    void find_unwritten_scopes() {
        std::set<uint16_t> written;
        for (const ir::ValueInfo& value : kernel_.values) {
            if (value.type.is_buffer && !value.type.buffer.readonly)
                written.insert(value.type.buffer.alias_scope);
        }
        for (const ir::ValueInfo& value : kernel_.values) {
            if (value.type.is_buffer && !written.contains(value.type.buffer.alias_scope))
                unwritten_.insert(value.type.buffer.alias_scope);
        }
    }

    void annotate_load(llvm::LoadInst* load, const BufferType& type) {
        set_alias_scope(load, type);
        if (type.space == AddressSpace::kGlobal && unwritten_.contains(type.alias_scope))
            load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    }

    llvm::Value* address(const BufferValue& buffer, std::span<const ValueId> indices) {
        llvm::Value* pointer = buffer.base;
        const auto move_along = [&](size_t d) {
            pointer = builder_.CreateInBoundsGEP(
                builder_.getInt8Ty(), pointer, {builder_.CreateNSWMul(index(indices[d]), buffer.strides[d])});
        };
        for (size_t d = 0; d < indices.size(); ++d) {
            if (!llvm::isa<llvm::ConstantInt>(buffer.strides[d])) move_along(d);
        }
        for (size_t d = 0; d < indices.size(); ++d) {
            const auto* known = llvm::dyn_cast<llvm::ConstantInt>(buffer.strides[d]);
            if (known != nullptr && !known->isZero()) move_along(d);
        }
        return pointer;
    }

    Scalar load(const BufferValue& from, std::span<const ValueId> indices) override {
        llvm::Value* pointer = address(from, indices);
        const ScalarType type = from.type.element;
        Scalar result;
        for (int part = 0; part < part_count(type); ++part) {
            llvm::LoadInst* load = builder_.CreateAlignedLoad(
                part_type(type), part_pointer(pointer, type, part), alignment_of(type));
            annotate_load(load, from.type);
            result.parts[part] = load;
        }
        return result;
    }

    void store(const BufferValue& to, const Scalar& value, std::span<const ValueId> indices) override {
        llvm::Value* pointer = address(to, indices);
        const ScalarType type = to.type.element;
        for (int part = 0; part < part_count(type); ++part) {
            llvm::StoreInst* store = builder_.CreateAlignedStore(
                value.parts[part], part_pointer(pointer, type, part), alignment_of(type));
            set_alias_scope(store, to.type);
        }
    }

    // --- indices -------------------------------------------------------------------------------------

    llvm::Type* index_type() { return options_.wide ? builder_.getInt64Ty() : builder_.getInt32Ty(); }
    llvm::ConstantInt* index_constant(int64_t value) {
        return llvm::cast<llvm::ConstantInt>(
            llvm::ConstantInt::get(index_type(), static_cast<uint64_t>(value)));
    }
    llvm::Value* to_index(llvm::Value* value) { return builder_.CreateTrunc(value, index_type()); }
    // Indices of the grid are never negative.
    llvm::Value* from_index(llvm::Value* value) { return builder_.CreateSExt(value, builder_.getInt64Ty()); }
    llvm::Value* special_register(llvm::Intrinsic::ID id) {
        return builder_.CreateZExt(builder_.CreateIntrinsic(id, {}, {}), index_type());
    }

    void return_unless(llvm::Value* condition) {
        llvm::BasicBlock* going_on = new_block("inside");
        builder_.CreateCondBr(condition, going_on, leave());
        builder_.SetInsertPoint(going_on);
    }
    llvm::BasicBlock* leave() {
        if (leave_ == nullptr) {
            leave_ = new_block("outside");
            llvm::ReturnInst::Create(context_, leave_);
        }
        return leave_;
    }

    // --- the grid ------------------------------------------------------------------------------------

    void lower_parallel(const Instruction& instruction) override {
        if (instruction.level != ir::ParallelLevel::kGrid) refuse("parallel(block)");
        const Region& region = instruction.regions[0];
        const size_t rank = instruction.operands.size();
        if (has_grid_) refuse("more than one parallel(grid)");
        has_grid_ = true;
        if (rank > kMaxGridDimensions) refuse("a grid of " + std::to_string(rank) + " dimensions");
        if (instruction.range_dimension >= 0) refuse("a grid in ranges");
        image_.grid_dimensions = static_cast<int>(rank);
        find_vectors(region);
        image_.points_per_thread = static_cast<int>(lanes_);

        std::vector<llvm::Value*> sizes;
        for (const ValueId operand : instruction.operands) sizes.push_back(to_index(index(operand)));
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
        llvm::Value* units = sizes.back();
        if (lanes_ > 1) {
            units = builder_.CreateUDiv(builder_.CreateAdd(units, index_constant(lanes_ - 1)),
                                        index_constant(lanes_), "units");
        }
        std::vector<llvm::Value*> point(rank);
        llvm::Value* rest = unit;
        for (size_t d = rank; d-- > 1;) {
            llvm::Value* size = d + 1 == rank ? units : sizes[d];
            llvm::Value* quotient = builder_.CreateUDiv(rest, size);
            point[d] = builder_.CreateNSWSub(rest, builder_.CreateNSWMul(quotient, size));
            rest = quotient;
        }
        point[0] = rest;
        return_unless(builder_.CreateICmpSLT(rest, rank == 1 ? units : sizes[0]));
        for (size_t d = 0; d + 1 < rank; ++d)
            scalars_[region.arguments[d].index].parts[0] = from_index(point[d]);
        if (lanes_ == 1) {
            scalars_[region.arguments.back().index].parts[0] = from_index(point.back());
            lower_region(region);
        } else {
            lower_run(region, point.back(), units, sizes.back());
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

    const PtxLoweringOptions& options_;
    CudaKernelImage& image_;
    std::set<uint16_t> unwritten_;
    llvm::BasicBlock* leave_ = nullptr;
    bool has_grid_ = false;
    int64_t lanes_ = 1;
    std::set<uint32_t> vector_buffers_;
    std::set<const Instruction*> vector_accesses_;
};

}  // namespace

llvm::Function* lower_for_ptx(const ir::Function& kernel, const PtxLoweringOptions& options,
                              llvm::Module& module, BitcodeLibrary& library, CudaKernelImage& image) {
    return PtxLowering(kernel, options, module, library, image).run();
}

}  // namespace weft::codegen
