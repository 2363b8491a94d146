#include "codegen/cpu/lowering.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/cpu/function_lowering.h"
#include "codegen/llvm/gather_prefetch.h"
#include "codegen/llvm/kernel_lowering.h"
#include "codegen/llvm/prefetch.h"
#include "codegen/runtime/nontemporal_copy.h"
#include "codegen/runtime/shared_memory.h"
#include "device/kernel.h"
#include "ir/calls.h"
#include "weft/errors.h"

namespace weft::codegen {
namespace {

using ir::AddressSpace;
using ir::BufferType;
using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

class Lowering final : public FunctionLowering {
public:
    Lowering(const ir::Function& kernel, const Callees& callees, llvm::Module& module,
             BitcodeLibrary& library, bool appends_operations)
        : FunctionLowering(kernel, callees, module, library, "the CPU"),
          appends_operations_(appends_operations) {}

    LoweredKernel run() { return kernel_.is_kernel ? run_kernel() : run_function(); }
    LoweredKernel run_callee(bool is_chunk) {
        begin_callee(is_chunk);
        lower_body();
        return {function_, 0, most_loads_, false};
    }

private:
    LoweredKernel run_kernel() {
        llvm::Type* pointer = builder_.getPtrTy();
        auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, pointer}, false);
        begin_function(llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "kernel", module_));
        for (const ValueId id : kernel_.parameters) {
            if (!kernel_.type(id).is_buffer || !kernel_.type(id).buffer.prefetch) continue;
            function_->addFnAttr(kernel_.type(id).buffer.readonly ? kGatherPrefetchAttribute
                                                                  : kPrefetchAttribute);
        }
        const char* names[] = {"words", "lower", "upper"};
        for (unsigned i = 0; i < 3; ++i) {
            function_->getArg(i)->setName(names[i]);
            function_->addParamAttr(i, llvm::Attribute::NoAlias);
            function_->addParamAttr(i, llvm::Attribute::ReadOnly);
            function_->addParamAttr(i, llvm::Attribute::get(context_, llvm::Attribute::NoUndef));
        }
        make_alias_scopes();
        read_parameters();
        lower_region(kernel_.body);
        builder_.CreateRetVoid();
        return {function_, grid_dimensions_, most_loads_, contiguous_};
    }

    // --- functions that the host calls ---------------------------------------------------------------

    LoweredKernel run_function() {
        begin_function_of_host();
        lower_body();
        return {function_, 0, most_loads_, false};
    }

    void lower_body() {
        const std::vector<Scalar> values = lower_region(kernel_.body);
        if (!is_left(kernel_.body)) lower_return(values);
    }

    // --- parameters ----------------------------------------------------------------------------------

    llvm::Value* word_pointer(int64_t index) {
        return builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), function_->getArg(0),
                                                   static_cast<uint64_t>(index));
    }

    llvm::Value* load_base(int64_t word, const std::string& name) override {
        return builder_.CreateAlignedLoad(builder_.getPtrTy(), word_pointer(word), llvm::Align(8), name);
    }
    llvm::Value* load_stride(int64_t word, const std::string& name) override {
        return builder_.CreateAlignedLoad(builder_.getInt64Ty(), word_pointer(word), llvm::Align(8), name);
    }

    // --- memory --------------------------------------------------------------------------------------

    llvm::Value* address(const BufferValue& buffer, std::span<const ValueId> indices) override {
        if (buffer.origin != nullptr) {
            llvm::Value* offset = builder_.CreateNSWSub(index(indices.back()), buffer.origin);
            return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), buffer.base,
                                              {builder_.CreateNSWMul(offset, buffer.strides.back())});
        }
        if (!buffer.strides.empty()) contiguous_ &= llvm::isa<llvm::ConstantInt>(buffer.strides.back());
        return KernelLowering::address(buffer, indices);
    }

    void annotate(llvm::Instruction* access, const BufferType& type) {
        if (type.space == AddressSpace::kLocal) return;  // one slot for all iterations: not parallel
        set_alias_scope(access, type);
        // Shared memory is one slot for all points of the grid.
        const std::vector<llvm::Metadata*>& groups =
            type.space == AddressSpace::kShared ? block_groups_ : access_groups_;
        if (groups.empty()) return;
        access->setMetadata(llvm::LLVMContext::MD_access_group, groups.size() == 1
                                                                    ? llvm::cast<llvm::MDNode>(groups.front())
                                                                    : llvm::MDNode::get(context_, groups));
    }

    Scalar load(const BufferValue& from, std::span<const ValueId> indices) override {
        llvm::Value* pointer = address(from, indices);
        Scalar result;
        for (int part = 0; part < part_count(from.type.element); ++part) {
            // Views may start at any byte, so nothing is known about alignment; on x86-64 nothing is lost by
            // that.
            llvm::LoadInst* load = builder_.CreateAlignedLoad(
                part_type(from.type.element), part_pointer(pointer, from.type.element, part), llvm::Align(1));
            annotate(load, from.type);
            result.parts[part] = load;
        }
        return result;
    }

    void store(const BufferValue& to, const Scalar& value, std::span<const ValueId> indices) override {
        llvm::Value* pointer = address(to, indices);
        for (int part = 0; part < part_count(to.type.element); ++part) {
            llvm::StoreInst* store = builder_.CreateAlignedStore(
                value.parts[part], part_pointer(pointer, to.type.element, part), llvm::Align(1));
            if (to.origin == nullptr) {
                annotate(store, to.type);
            } else if (to.piece_group != nullptr) {
                store->setMetadata(llvm::LLVMContext::MD_access_group, to.piece_group);
            }
        }
    }

    // --- instructions --------------------------------------------------------------------------------

    std::vector<Scalar> lower_region(const Region& region) override {
        most_loads_ = std::max(most_loads_,
                               std::count_if(region.body.begin(), region.body.end(),
                                             [](const Instruction& i) { return i.opcode == Opcode::kLoad; }));
        const size_t taken = taken_.size();
        std::vector<Scalar> yielded = KernelLowering::lower_region(region);
        if (!is_left(region)) give_back(taken);  // who leaves has done so
        taken_.resize(taken);
        return yielded;
    }

    size_t held() const override { return taken_.size(); }
    void give_back(size_t kept) override {
        for (size_t i = taken_.size(); i > kept; --i) give_shared(taken_[i - 1]);
    }

    void lower(const Instruction& instruction) override {
        contiguous_ &= instruction.opcode != Opcode::kFor && instruction.opcode != Opcode::kWhile;
        if (instruction.opcode == Opcode::kAtomic && is_of_block(instruction)) {
            lower_in_turn(instruction);
            return;
        }
        if (instruction.opcode == Opcode::kAllocate &&
            kernel_.type(instruction.results[0]).buffer.space == AddressSpace::kShared) {
            lower_shared(instruction);
            return;
        }
        FunctionLowering::lower(instruction);
    }

    // --- shared memory -------------------------------------------------------------------------------
    //
    // What is small is reserved once, on the stack, for all points that a call takes; of more, or of what is
    // not known, as much as is needed is taken where it is allocated and given back where the body ends.

    static constexpr int64_t kSharedOnStack = 16 << 10;

    bool tells_shared_apart() const override { return true; }
    bool appends_operations() const override { return appends_operations_; }

    void lower_shared(const Instruction& instruction) {
        const ValueId result = instruction.results[0];
        const BufferType& type = kernel_.type(result).buffer;
        const std::string& name = kernel_.values[result.index].name;
        const auto times = [&](llvm::Value* a, llvm::Value* b) { return builder_.CreateNSWMul(a, b); };
        BufferValue value;
        value.type = type;
        std::vector<llvm::Value*> sizes;
        for (const int64_t size : type.sizes) sizes.push_back(builder_.getInt64(static_cast<uint64_t>(size)));
        size_t next = 0;
        for (size_t d = 0; d < sizes.size(); ++d) {
            if (type.sizes[d] != ir::kDynamic) continue;
            sizes[d] = builder_.CreateBinaryIntrinsic(
                llvm::Intrinsic::smax, index(instruction.operands[next++]), builder_.getInt64(0));
        }
        value.strides.resize(sizes.size());
        llvm::Value* bytes = builder_.getInt64(static_cast<uint64_t>(DType(type.element).itemsize()));
        for (size_t d = sizes.size(); d-- > 0;) {
            value.strides[d] = type.strides[d] == ir::kDynamic
                                   ? times(sizes[d + 1], value.strides[d + 1])
                                   : builder_.getInt64(static_cast<uint64_t>(type.strides[d]));
            // With a size of 0 this is more than is needed.
            bytes = builder_.CreateNSWAdd(bytes, times(sizes[d], value.strides[d]));
        }
        const auto* known = llvm::dyn_cast<llvm::ConstantInt>(bytes);
        const bool small = known != nullptr && known->getSExtValue() <= kSharedOnStack;
        const uint64_t on_stack = small ? known->getZExtValue() : known != nullptr ? 0 : kSharedOnStack;
        llvm::Value* place = nullptr;
        if (on_stack > 0) {
            const auto elements = on_stack / static_cast<uint64_t>(part_size(type.element));
            place = allocate_local(llvm::ArrayType::get(part_type(type.element), elements), llvm::Align(64),
                                   name);
        }
        if (!small) {
            llvm::BasicBlock* before = builder_.GetInsertBlock();
            llvm::BasicBlock* taking = new_block("shared");
            llvm::BasicBlock* after = new_block("shared.end");
            llvm::Value* large = builder_.CreateICmpSGT(bytes, builder_.getInt64(on_stack));
            builder_.CreateCondBr(large, taking, after);
            builder_.SetInsertPoint(taking);
            llvm::Value* memory = builder_.CreateCall(declare_take_shared_memory(module_), {bytes});
            builder_.CreateBr(after);
            builder_.SetInsertPoint(after);
            llvm::PHINode* either = builder_.CreatePHI(builder_.getPtrTy(), 2, name);
            either->addIncoming(
                place != nullptr ? place : llvm::ConstantPointerNull::get(builder_.getPtrTy()), before);
            either->addIncoming(memory, taking);
            place = either;
            taken_.push_back({either, large});
        }
        value.base = place;
        buffers_.insert_or_assign(result.index, std::move(value));
    }

    struct Taken {
        llvm::Value* memory = nullptr;
        llvm::Value* large = nullptr;  // it is not on the stack
    };

    void give_shared(const Taken& taken) {
        llvm::BasicBlock* giving = new_block("give");
        llvm::BasicBlock* after = new_block("give.end");
        builder_.CreateCondBr(taken.large, giving, after);
        builder_.SetInsertPoint(giving);
        builder_.CreateCall(declare_give_shared_memory(module_), {taken.memory});
        builder_.CreateBr(after);
        builder_.SetInsertPoint(after);
    }

    // Whether only the block's threads are told apart, which run one after another.
    bool is_of_block(const Instruction& instruction) const {
        const bool ordered = instruction.order != ir::MemoryOrder::kRelaxed;
        return instruction.scope == ir::MemoryScope::kBlock ||
               (!ordered && buffer(instruction.operands[0]).type.space == AddressSpace::kShared);
    }

    // --- streams -------------------------------------------------------------------------------------
    //
    // Results of non-temporal stores must be written in whole cache lines, but rows begin anywhere and loops
    // are vectorised without knowing where. So an innermost loop over such a result is cut into pieces of
    // kStreamBytes, which end where a line does. A piece is computed into local memory, which stays in the
    // first-level cache, and copied from there: whole lines by non-temporal stores, the rest by ordinary
    // ones.

    static constexpr int64_t kStreamBytes = 2048;
    struct Stream {
        ValueId buffer;
        BufferValue row;             // as it was
        std::vector<ValueId> outer;  // its indices but for the last
        llvm::AllocaInst* local = nullptr;
        llvm::Value* target = nullptr;  // of the piece
        llvm::Value* source = nullptr;  // as far from the start of a cache line as the target
    };

    // The streamed buffers that a loop writes along its index: once each, without holes, and without anything
    // in the loop that is a loop itself or reads what it writes.
    std::vector<Stream> find_streams(const Region& region, ValueId along) {
        std::vector<Stream> streams;
        std::set<uint32_t> defined;
        for (const Instruction& instruction : region.body) {
            if (!instruction.regions.empty() || instruction.opcode == Opcode::kAllocate) return {};
            for (ValueId result : instruction.results) defined.insert(result.index);
        }
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode != Opcode::kStore || instruction.predicated) continue;
            const ValueId id = instruction.operands[0];
            const BufferType& type = kernel_.type(id).buffer;
            const std::span<const ValueId> indices(instruction.operands.data() + 2, type.strides.size());
            if (!type.streamed || type.space != AddressSpace::kGlobal || indices.empty()) continue;
            if (indices.back() != along || type.strides.back() != DType(type.element).itemsize()) continue;
            const std::span<const ValueId> outer = indices.first(indices.size() - 1);
            if (std::any_of(outer.begin(), outer.end(),
                            [&](ValueId index) { return index == along || defined.contains(index.index); }))
                continue;
            const auto accesses =
                std::count_if(region.body.begin(), region.body.end(), [&](const Instruction& other) {
                    return !other.operands.empty() && kernel_.type(other.operands[0]).is_buffer &&
                           kernel_.type(other.operands[0]).buffer.alias_scope == type.alias_scope;
                });
            if (accesses != 1) continue;
            streams.push_back({id, buffer(id), {outer.begin(), outer.end()}, nullptr, nullptr, nullptr});
        }
        for (Stream& stream : streams) {
            stream.local = allocate_local(
                llvm::ArrayType::get(
                    part_type(stream.row.type.element),
                    (kStreamBytes + kLineBytes) / static_cast<uint64_t>(part_size(stream.row.type.element))),
                llvm::Align(kLineBytes), "piece");
        }
        return streams;
    }

    // The loop over pieces from `lower` to `upper`, around what is lowered between open and close.
    struct PieceLoop {
        llvm::PHINode* begin = nullptr;
        llvm::Value* end = nullptr;  // to be set in between
        llvm::Value* upper = nullptr;
        llvm::BasicBlock* body = nullptr;
        llvm::BasicBlock* after = nullptr;

        void open(Lowering& lowering, llvm::Value* from, llvm::Value* to) {
            llvm::IRBuilder<>& builder = lowering.builder_;
            upper = to;
            body = lowering.new_block("pieces");
            after = lowering.new_block("pieces.end");
            llvm::BasicBlock* before = builder.GetInsertBlock();
            builder.CreateCondBr(builder.CreateICmpSLT(from, to), body, after);
            builder.SetInsertPoint(body);
            begin = builder.CreatePHI(builder.getInt64Ty(), 2, "piece");
            begin->addIncoming(from, before);
        }
        void close(Lowering& lowering) const {
            llvm::IRBuilder<>& builder = lowering.builder_;
            begin->addIncoming(end, builder.GetInsertBlock());
            builder.CreateCondBr(builder.CreateICmpSLT(end, upper), body, after);
            builder.SetInsertPoint(after);
        }
    };

    // Starts a piece at `begin`: stores go to local memory. Gives the piece's end, `upper` at most.
    llvm::Value* begin_piece(std::vector<Stream>& streams, llvm::Value* begin, llvm::Value* upper,
                             llvm::MDNode* group) {
        llvm::Value* end = builder_.CreateNSWAdd(begin, builder_.getInt64(kDrawnTogether));
        int64_t largest = 0;
        for (Stream& stream : streams) {
            const int64_t itemsize = DType(stream.row.type.element).itemsize();
            stream.target =
                builder_.CreateInBoundsGEP(builder_.getInt8Ty(), address(stream.row, stream.outer),
                                           {builder_.CreateNSWMul(begin, stream.row.strides.back())});
            llvm::Value* shift = builder_.CreateAnd(
                builder_.CreatePtrToInt(stream.target, builder_.getInt64Ty()), kLineBytes - 1);
            stream.source = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), stream.local, {shift});
            if (itemsize > largest) {
                largest = itemsize;
                const int64_t bytes =
                    has_draws() ? std::min(kStreamBytes, kDrawnTogether * itemsize) : kStreamBytes;
                llvm::Value* room = builder_.CreateLShr(
                    builder_.CreateSub(builder_.getInt64(static_cast<uint64_t>(bytes)), shift),
                    static_cast<uint64_t>(std::countr_zero(static_cast<uint64_t>(itemsize))));
                end = builder_.CreateNSWAdd(begin, room);
            }
            BufferValue& local = buffers_.at(stream.buffer.index);
            local.base = stream.source;
            local.origin = begin;
            local.piece_group = group;
        }
        return builder_.CreateSelect(builder_.CreateICmpSLT(end, upper), end, upper, "piece.end");
    }

    void end_piece(std::vector<Stream>& streams, llvm::Value* begin, llvm::Value* end) {
        for (Stream& stream : streams) {
            buffers_.at(stream.buffer.index) = stream.row;
            llvm::Value* bytes =
                builder_.CreateNSWMul(builder_.CreateNSWSub(end, begin), stream.row.strides.back());
            builder_.CreateCall(declare_copy_lines(module_), {stream.target, stream.source, bytes});
        }
    }

    void lower_parallel(const Instruction& instruction) override {
        if (instruction.level == ir::ParallelLevel::kBlock) {
            lower_block(instruction);
            return;
        }
        const Region& region = instruction.regions[0];
        const size_t rank = instruction.operands.size();
        if (grid_dimensions_ != 0 || !access_groups_.empty()) refuse("more than one parallel(grid)");
        if (rank > kMaxGridDimensions) refuse("a grid of " + std::to_string(rank) + " dimensions");
        grid_dimensions_ = static_cast<int>(rank);
        std::vector<size_t> looped;  // dimensions; one whose points come as a range is the body's to walk
        size_t argument = 0;
        for (size_t d = 0; d < rank; ++d) {
            if (static_cast<int>(d) == instruction.range_dimension) {
                scalars_[region.arguments[argument++].index].parts[0] = load_bound(1, d, "lower");
                scalars_[region.arguments[argument++].index].parts[0] = load_bound(2, d, "upper");
            } else {
                looped.push_back(d);
                ++argument;
            }
        }
        const size_t loops = looped.size();
        std::vector<llvm::Value*> lower(loops);
        std::vector<llvm::Value*> upper(loops);
        for (size_t k = 0; k < loops; ++k) {
            lower[k] = load_bound(1, looped[k], "lower");
            upper[k] = load_bound(2, looped[k], "upper");
        }
        PieceLoop pieces;
        std::vector<Stream> streams;
        if (instruction.range_dimension < 0) {
            streams = find_streams(region, region.arguments[rank - 1]);
            find_draws(region, region.arguments[rank - 1]);
        }
        const bool in_pieces = !streams.empty() || has_draws();
        std::vector<llvm::BasicBlock*> bodies(loops);
        std::vector<llvm::BasicBlock*> ends(loops);
        std::vector<llvm::PHINode*> indices(loops);
        for (size_t k = 0; k < loops; ++k) {
            const size_t d = looped[k];
            const std::string name = "grid" + std::to_string(d);
            llvm::MDNode* group = llvm::MDNode::getDistinct(context_, {});
            if (k + 1 == loops && in_pieces) {
                pieces.open(*this, lower[k], upper[k]);
                lower[k] = pieces.begin;
                upper[k] = begin_piece(streams, pieces.begin, pieces.upper, group);
                pieces.end = upper[k];
                begin_drawn_piece(pieces.begin, pieces.end, group);
            }
            bodies[k] = new_block(name);
            ends[k] = new_block(name + ".end");
            llvm::BasicBlock* preheader = new_block(name + ".preheader");
            builder_.CreateCondBr(builder_.CreateICmpSLT(lower[k], upper[k]), preheader, ends[k]);
            builder_.SetInsertPoint(preheader);
            builder_.CreateBr(bodies[k]);
            builder_.SetInsertPoint(bodies[k]);
            indices[k] = builder_.CreatePHI(builder_.getInt64Ty(), 2, name);
            indices[k]->addIncoming(lower[k], preheader);
            const bool after_range =
                instruction.range_dimension >= 0 && static_cast<int>(d) > instruction.range_dimension;
            scalars_[region.arguments[d + (after_range ? 1 : 0)].index].parts[0] = indices[k];
            access_groups_.push_back(group);
        }
        const std::vector<llvm::Metadata*> groups = access_groups_;
        lower_region(region);
        access_groups_.clear();
        for (size_t k = loops; k-- > 0;) {
            end_parallel_loop(indices[k], upper[k], bodies[k], ends[k], groups[k], region);
            if (k + 1 == loops && in_pieces) {
                end_piece(streams, pieces.begin, pieces.end);
                pieces.close(*this);
                end_draws();
            }
        }
    }

    // The end of an iteration, and what LLVM is told about the loop.
    void end_parallel_loop(llvm::PHINode* i, llvm::Value* upper, llvm::BasicBlock* body,
                           llvm::BasicBlock* after, llvm::Metadata* group, const Region& region) {
        llvm::Value* next =
            builder_.CreateAdd(i, builder_.getInt64(1), "next", /*HasNUW=*/false, /*HasNSW=*/true);
        i->addIncoming(next, builder_.GetInsertBlock());
        llvm::BranchInst* back = builder_.CreateCondBr(builder_.CreateICmpSLT(next, upper), body, after);
        std::vector<llvm::Metadata*> properties = {llvm::MDNode::get(
            context_, {llvm::MDString::get(context_, "llvm.loop.parallel_accesses"), group})};
        if (cost_of(region) >= kInterleavedCost) {
            // Polynomials are chains of dependent steps. LLVM thinks such loops too large to interleave;
            // two vectors at a time were measured to be 10 to 25 % faster (Black-Scholes, exp).
            properties.push_back(
                llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.interleave.count"),
                                             llvm::ConstantAsMetadata::get(builder_.getInt32(2))}));
        }
        back->setMetadata(llvm::LLVMContext::MD_loop, loop_metadata(std::move(properties)));
        builder_.SetInsertPoint(after);
    }

    // A block's threads run one after another; passes/barrier_fission.h has cut it at its barriers.
    void lower_block(const Instruction& instruction) {
        const Region& region = instruction.regions[0];
        const size_t rank = instruction.operands.size();
        std::vector<llvm::BasicBlock*> bodies(rank);
        std::vector<llvm::BasicBlock*> ends(rank);
        std::vector<llvm::PHINode*> indices(rank);
        const size_t outer = access_groups_.size();
        contiguous_ = false;
        for (size_t d = 0; d < rank; ++d) {
            const std::string name = "thread" + std::to_string(d);
            llvm::BasicBlock* preheader = new_block(name + ".preheader");
            bodies[d] = new_block(name);
            ends[d] = new_block(name + ".end");
            builder_.CreateCondBr(
                builder_.CreateICmpSGT(index(instruction.operands[d]), builder_.getInt64(0)), preheader,
                ends[d]);
            builder_.SetInsertPoint(preheader);
            builder_.CreateBr(bodies[d]);
            builder_.SetInsertPoint(bodies[d]);
            indices[d] = builder_.CreatePHI(builder_.getInt64Ty(), 2, name);
            indices[d]->addIncoming(builder_.getInt64(0), preheader);
            scalars_[region.arguments[d].index].parts[0] = indices[d];
            access_groups_.push_back(llvm::MDNode::getDistinct(context_, {}));
            block_groups_.push_back(access_groups_.back());
        }
        const std::vector<llvm::Metadata*> groups = block_groups_;
        lower_region(region);
        access_groups_.resize(outer);
        block_groups_.clear();
        for (size_t d = rank; d-- > 0;) {
            end_parallel_loop(indices[d], index(instruction.operands[d]), bodies[d], ends[d], groups[d],
                              region);
        }
    }

    llvm::Value* load_bound(unsigned argument, size_t dimension, const char* name) {
        llvm::Value* pointer = builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(),
                                                                   function_->getArg(argument), dimension);
        return builder_.CreateAlignedLoad(builder_.getInt64Ty(), pointer, llvm::Align(8), name);
    }

    static constexpr int kInterleavedCost = 20;  // additions an element: one transcendental function or more

    static int cost_of(const Region& region) {
        int cost = 0;
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kApply) cost += instruction.op->cost;
        }
        return cost;
    }

    // A distinct node whose first operand is itself, as LLVM identifies loops.
    llvm::MDNode* loop_metadata(std::vector<llvm::Metadata*> properties) {
        properties.insert(properties.begin(), nullptr);
        llvm::MDNode* loop = llvm::MDNode::getDistinct(context_, properties);
        loop->replaceOperandWith(0, loop);
        return loop;
    }

    std::vector<llvm::Metadata*> access_groups_;  // of the parallel loops around the builder's point
    std::vector<llvm::Metadata*> block_groups_;   // of those that are the threads of a block
    std::vector<Taken> taken_;                    // in the bodies around the builder's point
    const bool appends_operations_;
    int grid_dimensions_ = 0;
    std::ptrdiff_t most_loads_ = 0;  // of one region
    bool contiguous_ = true;
};

void lower_callees(const ir::Function& kernel, const Callees& callees, llvm::Module& module,
                   BitcodeLibrary& library, bool appends_operations) {
    std::set<std::string> chunks;
    const auto note = [&](const ir::Instruction& call) {
        if (call.opcode == Opcode::kSpread) chunks.insert(call.callee);
    };
    ir::for_each_call(kernel.body, note);
    for (const ir::Function& callee : callees.functions) ir::for_each_call(callee.body, note);
    for (const ir::Function& callee : callees.functions)
        Lowering(callee, callees, module, library, appends_operations)
            .run_callee(chunks.contains(callee.name));
}

}  // namespace

LoweredKernel lower_for_cpu(const ir::Function& kernel, const Callees& callees, llvm::Module& module,
                            BitcodeLibrary& library, bool appends_operations) {
    const LoweredKernel lowered = Lowering(kernel, callees, module, library, appends_operations).run();
    lower_callees(kernel, callees, module, library, appends_operations);
    return lowered;
}

LoweredKernel lower_part_for_cpu(const ir::Function& part, const Callees& callees, llvm::Module& module,
                                 BitcodeLibrary& library, bool appends_operations) {
    const LoweredKernel lowered =
        Lowering(part, callees, module, library, appends_operations).run_callee(/*is_chunk=*/false);
    lowered.function->setLinkage(llvm::GlobalValue::ExternalLinkage);
    lower_callees(part, callees, module, library, appends_operations);
    return lowered;
}

}  // namespace weft::codegen
