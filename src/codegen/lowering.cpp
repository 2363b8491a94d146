#include "codegen/lowering.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/copy_lines.h"
#include "codegen/prefetch.h"
#include "device/kernel.h"
#include "weft/errors.h"

namespace weft::codegen {
namespace {

using ir::AddressSpace;
using ir::BufferType;
using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

// A scalar's LLVM values: one, or the real and the imaginary part.
struct Scalar {
    llvm::Value* parts[2] = {nullptr, nullptr};
};

struct BufferValue {
    llvm::Value* base = nullptr;
    std::vector<llvm::Value*> strides;
    BufferType type;
    // Of a piece of a stream: the last index of its first element, and the loop over its elements, if
    // parallel.
    llvm::Value* origin = nullptr;
    llvm::MDNode* piece_group = nullptr;
};

class Lowering {
public:
    Lowering(const ir::Function& kernel, llvm::Module& module, BitcodeLibrary& library)
        : kernel_(kernel),
          module_(module),
          library_(library),
          context_(module.getContext()),
          builder_(context_) {}

    LoweredKernel run() {
        llvm::Type* pointer = builder_.getPtrTy();
        auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, pointer}, false);
        function_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "kernel", module_);
        function_->setDoesNotThrow();
        const bool ahead = std::any_of(kernel_.parameters.begin(), kernel_.parameters.end(), [&](ValueId id) {
            return kernel_.type(id).is_buffer && kernel_.type(id).buffer.ahead;
        });
        if (ahead) function_->addFnAttr(kPrefetchAttribute);
        const char* names[] = {"words", "lower", "upper"};
        for (unsigned i = 0; i < 3; ++i) {
            function_->getArg(i)->setName(names[i]);
            function_->addParamAttr(i, llvm::Attribute::NoAlias);
            function_->addParamAttr(i, llvm::Attribute::ReadOnly);
            function_->addParamAttr(i, llvm::Attribute::get(context_, llvm::Attribute::NoUndef));
        }
        entry_ = llvm::BasicBlock::Create(context_, "entry", function_);
        auto* start = llvm::BasicBlock::Create(context_, "start", function_);
        builder_.SetInsertPoint(entry_);
        llvm::Instruction* to_start = builder_.CreateBr(start);
        builder_.SetInsertPoint(start);
        allocations_ = to_start;

        scalars_.resize(kernel_.values.size());
        make_alias_scopes();
        read_parameters();
        lower_region(kernel_.body);
        builder_.CreateRetVoid();
        return {function_, grid_dimensions_, most_loads_, contiguous_};
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw NotImplementedError("kernel " + kernel_.name + ": " + what +
                                  " cannot be compiled for the CPU yet");
    }

    // --- types ---------------------------------------------------------------------------------------

    static int part_count(ScalarType type) {
        return type == ScalarType::kComplex64 || type == ScalarType::kComplex128 ? 2 : 1;
    }

    llvm::Type* part_type(ScalarType type) {
        switch (type) {
            case ScalarType::kBool:
            case ScalarType::kInt8:
            case ScalarType::kUInt8: return builder_.getInt8Ty();
            case ScalarType::kInt16:
            case ScalarType::kUInt16: return builder_.getInt16Ty();
            case ScalarType::kInt32:
            case ScalarType::kUInt32: return builder_.getInt32Ty();
            case ScalarType::kInt64:
            case ScalarType::kUInt64: return builder_.getInt64Ty();
            case ScalarType::kFloat16: return builder_.getHalfTy();
            case ScalarType::kFloat32:
            case ScalarType::kComplex64: return builder_.getFloatTy();
            case ScalarType::kFloat64:
            case ScalarType::kComplex128: return builder_.getDoubleTy();
        }
        throw InternalError("an element type without LLVM type");
    }

    static int64_t part_size(ScalarType type) { return DType(type).itemsize() / part_count(type); }

    llvm::Value* part_pointer(llvm::Value* pointer, ScalarType type, int part) {
        if (part == 0) return pointer;
        return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), pointer,
                                                   static_cast<uint64_t>(part_size(type)));
    }

    // --- parameters ----------------------------------------------------------------------------------

    // One scope a number of alias_scope, in a domain of this kernel. An access belongs to its own scope and
    // aliases no other.
    void make_alias_scopes() {
        llvm::MDBuilder metadata(context_);
        llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain(kernel_.name);
        std::map<uint16_t, llvm::MDNode*> scopes;
        for (const ir::ValueInfo& value : kernel_.values) {
            if (!value.type.is_buffer || value.type.buffer.space != AddressSpace::kGlobal) continue;
            llvm::MDNode*& scope = scopes[value.type.buffer.alias_scope];
            if (scope == nullptr) scope = metadata.createAnonymousAliasScope(domain);
        }
        for (const auto& [number, scope] : scopes) {
            std::vector<llvm::Metadata*> others;
            for (const auto& [other, other_scope] : scopes) {
                if (other != number) others.push_back(other_scope);
            }
            alias_scope_[number] = llvm::MDNode::get(context_, {scope});
            if (!others.empty()) noalias_[number] = llvm::MDNode::get(context_, others);
        }
    }

    llvm::Value* word_pointer(int64_t index) {
        return builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), function_->getArg(0),
                                                   static_cast<uint64_t>(index));
    }

    void read_parameters() {
        int64_t word = 0;
        for (ValueId parameter : kernel_.parameters) {
            const ir::Type& type = kernel_.type(parameter);
            const std::string& name = kernel_.values[parameter.index].name;
            if (!type.is_buffer) {
                Scalar& scalar = scalars_[parameter.index];
                const int64_t size = part_size(type.scalar);
                for (int part = 0; part < part_count(type.scalar); ++part) {
                    llvm::Value* pointer =
                        builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), function_->getArg(0),
                                                            static_cast<uint64_t>(word * 8 + part * size));
                    scalar.parts[part] =
                        builder_.CreateAlignedLoad(part_type(type.scalar), pointer, llvm::Align(size), name);
                }
                word += type.scalar == ScalarType::kComplex128 ? 2 : 1;
                continue;
            }
            BufferValue buffer;
            buffer.type = type.buffer;
            buffer.base =
                builder_.CreateAlignedLoad(builder_.getPtrTy(), word_pointer(word++), llvm::Align(8), name);
            for (int64_t stride : type.buffer.strides) {
                buffer.strides.push_back(
                    stride == ir::kDynamic
                        ? builder_.CreateAlignedLoad(builder_.getInt64Ty(), word_pointer(word++),
                                                     llvm::Align(8), name + ".stride")
                        : static_cast<llvm::Value*>(builder_.getInt64(static_cast<uint64_t>(stride))));
            }
            buffers_.emplace(parameter.index, std::move(buffer));
        }
    }

    // --- values --------------------------------------------------------------------------------------

    const Scalar& scalar(ValueId value) const {
        const Scalar& found = scalars_[value.index];
        if (found.parts[0] == nullptr)
            throw InternalError("kernel " + kernel_.name + " uses a value before its definition");
        return found;
    }

    llvm::Value* index(ValueId value) const { return scalar(value).parts[0]; }

    llvm::Value* condition(ValueId value) {
        return builder_.CreateICmpNE(scalar(value).parts[0], builder_.getInt8(0));
    }

    const BufferValue& buffer(ValueId value) const { return buffers_.at(value.index); }

    llvm::AllocaInst* allocate_local(llvm::Type* type, llvm::Align alignment, const llvm::Twine& name) {
        llvm::IRBuilder<> builder(allocations_);
        llvm::AllocaInst* slot = builder.CreateAlloca(type, nullptr, name);
        slot->setAlignment(alignment);
        return slot;
    }

    // Memory for one scalar, for the uniform ABI of the operation bitcode.
    llvm::Value* scalar_slot(ScalarType type) {
        return allocate_local(llvm::ArrayType::get(part_type(type), static_cast<uint64_t>(part_count(type))),
                              llvm::Align(static_cast<uint64_t>(DType(type).alignment())), "slot");
    }

    // --- memory --------------------------------------------------------------------------------------

    llvm::Value* address(const BufferValue& buffer, std::span<const ValueId> indices) {
        llvm::Value* pointer = buffer.base;
        if (buffer.origin != nullptr) {
            llvm::Value* offset = builder_.CreateNSWSub(index(indices.back()), buffer.origin);
            return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), pointer,
                                              {builder_.CreateNSWMul(offset, buffer.strides.back())});
        }
        if (!buffer.strides.empty()) contiguous_ &= llvm::isa<llvm::ConstantInt>(buffer.strides.back());
        const auto move_along = [&](size_t d) {
            pointer = builder_.CreateInBoundsGEP(
                builder_.getInt8Ty(), pointer, {builder_.CreateNSWMul(index(indices[d]), buffer.strides[d])});
        };
        // Known strides come last: they are those of the innermost loops, before which the rest is computed.
        for (size_t d = 0; d < indices.size(); ++d) {
            if (!llvm::isa<llvm::ConstantInt>(buffer.strides[d])) move_along(d);
        }
        for (size_t d = 0; d < indices.size(); ++d) {
            const auto* known = llvm::dyn_cast<llvm::ConstantInt>(buffer.strides[d]);
            if (known != nullptr && !known->isZero()) move_along(d);
        }
        return pointer;
    }

    void annotate(llvm::Instruction* access, const BufferType& type) {
        if (type.space == AddressSpace::kLocal) return;  // one slot for all iterations: not parallel
        if (type.space == AddressSpace::kGlobal) {
            access->setMetadata(llvm::LLVMContext::MD_alias_scope, alias_scope_.at(type.alias_scope));
            if (const auto found = noalias_.find(type.alias_scope); found != noalias_.end()) {
                access->setMetadata(llvm::LLVMContext::MD_noalias, found->second);
            }
        }
        if (access_groups_.empty()) return;
        llvm::MDNode* groups = access_groups_.size() == 1 ? llvm::cast<llvm::MDNode>(access_groups_.front())
                                                          : llvm::MDNode::get(context_, access_groups_);
        access->setMetadata(llvm::LLVMContext::MD_access_group, groups);
    }

    Scalar load(const BufferValue& from, std::span<const ValueId> indices) {
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

    void store(const BufferValue& to, const Scalar& value, std::span<const ValueId> indices) {
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

    // Lowers all but the yield; gives what is yielded.
    std::vector<Scalar> lower_region(const Region& region) {
        most_loads_ = std::max(most_loads_,
                               std::count_if(region.body.begin(), region.body.end(),
                                             [](const Instruction& i) { return i.opcode == Opcode::kLoad; }));
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kYield || instruction.opcode == Opcode::kReturn) {
                std::vector<Scalar> yielded;
                for (ValueId value : instruction.operands) yielded.push_back(scalar(value));
                return yielded;
            }
            lower(instruction);
        }
        throw InternalError("kernel " + kernel_.name + " has a region without end");
    }

    void lower(const Instruction& instruction) {
        switch (instruction.opcode) {
            case Opcode::kConstant: lower_constant(instruction); return;
            case Opcode::kApply: {
                const LoopInfo& loop = instruction.op->loops[static_cast<size_t>(instruction.loop)];
                call(loop, instruction.op->nin, instruction);
                return;
            }
            case Opcode::kCast: {
                const ScalarType from = kernel_.type(instruction.operands[0]).scalar;
                const ScalarType to = kernel_.type(instruction.results[0]).scalar;
                call(cast_loop(from, to), 1, instruction);
                return;
            }
            case Opcode::kLoad: lower_load(instruction); return;
            case Opcode::kStore: lower_store(instruction); return;
            case Opcode::kAllocate: lower_allocate(instruction); return;
            case Opcode::kFor:
                contiguous_ = false;
                lower_for(instruction);
                return;
            case Opcode::kWhile:
                contiguous_ = false;
                lower_while(instruction);
                return;
            case Opcode::kIf: lower_if(instruction); return;
            case Opcode::kParallel: lower_parallel(instruction); return;
            case Opcode::kAtomic:
            case Opcode::kCompareExchange: refuse("an atomic operation");
            case Opcode::kBarrier: refuse("a barrier");
            case Opcode::kReduce: refuse("reduce");
            case Opcode::kScan: refuse("scan");
            case Opcode::kCall: refuse("a call");
            case Opcode::kYield:
            case Opcode::kReturn: break;
        }
        throw InternalError("kernel " + kernel_.name + " has an instruction that is none");
    }

    void lower_constant(const Instruction& instruction) {
        const ir::Constant& constant = instruction.constant;
        Scalar& result = scalars_[instruction.results[0].index];
        const auto size = static_cast<unsigned>(part_size(constant.type));
        for (int part = 0; part < part_count(constant.type); ++part) {
            uint64_t bits = 0;
            for (unsigned i = size; i-- > 0;)
                bits = bits << 8 | constant.bytes[static_cast<unsigned>(part) * size + i];
            llvm::Constant* integer = llvm::ConstantInt::get(builder_.getIntNTy(size * 8), bits);
            result.parts[part] = builder_.CreateBitCast(integer, part_type(constant.type));
        }
    }

    // `symbol(in0, ..., out0, ...)` with each operand in a slot; inlining and SROA remove call and slots.
    void call(const LoopInfo& loop, int inputs, const Instruction& instruction) {
        llvm::Function* callee = library_.import(loop.symbol, module_);
        const auto operand_count = instruction.operands.size();
        if (static_cast<int>(operand_count) != inputs ||
            callee->arg_size() != operand_count + instruction.results.size()) {
            throw InternalError(std::string("wrong number of operands for ") + loop.symbol);
        }
        std::vector<llvm::Value*> slots;
        for (size_t i = 0; i < operand_count + instruction.results.size(); ++i)
            slots.push_back(scalar_slot(loop.types[i]));
        for (size_t i = 0; i < operand_count; ++i) {
            const Scalar& value = scalar(instruction.operands[i]);
            for (int part = 0; part < part_count(loop.types[i]); ++part) {
                builder_.CreateStore(value.parts[part], part_pointer(slots[i], loop.types[i], part));
            }
        }
        builder_.CreateCall(callee, slots);
        for (size_t i = 0; i < instruction.results.size(); ++i) {
            const ScalarType type = loop.types[operand_count + i];
            for (int part = 0; part < part_count(type); ++part) {
                scalars_[instruction.results[i].index].parts[part] =
                    builder_.CreateLoad(part_type(type), part_pointer(slots[operand_count + i], type, part));
            }
        }
    }

    void lower_load(const Instruction& instruction) {
        const BufferValue& from = buffer(instruction.operands[0]);
        const std::span<const ValueId> indices(instruction.operands.data() + 1, from.strides.size());
        Scalar& result = scalars_[instruction.results[0].index];
        if (!instruction.predicated) {
            result = load(from, indices);
            return;
        }
        const ValueId predicate = instruction.operands[1 + from.strides.size()];
        const Scalar otherwise = scalar(instruction.operands[2 + from.strides.size()]);
        llvm::BasicBlock* before = builder_.GetInsertBlock();
        llvm::BasicBlock* taken = new_block("load");
        llvm::BasicBlock* after = new_block("loaded");
        builder_.CreateCondBr(condition(predicate), taken, after);
        builder_.SetInsertPoint(taken);
        const Scalar loaded = load(from, indices);
        builder_.CreateBr(after);
        builder_.SetInsertPoint(after);
        for (int part = 0; part < part_count(from.type.element); ++part) {
            llvm::PHINode* phi = builder_.CreatePHI(part_type(from.type.element), 2);
            phi->addIncoming(loaded.parts[part], taken);
            phi->addIncoming(otherwise.parts[part], before);
            result.parts[part] = phi;
        }
    }

    void lower_store(const Instruction& instruction) {
        const BufferValue& to = buffer(instruction.operands[0]);
        const Scalar& value = scalar(instruction.operands[1]);
        const std::span<const ValueId> indices(instruction.operands.data() + 2, to.strides.size());
        if (!instruction.predicated) {
            store(to, value, indices);
            return;
        }
        llvm::BasicBlock* taken = new_block("store");
        llvm::BasicBlock* after = new_block("stored");
        builder_.CreateCondBr(condition(instruction.operands[2 + to.strides.size()]), taken, after);
        builder_.SetInsertPoint(taken);
        store(to, value, indices);
        builder_.CreateBr(after);
        builder_.SetInsertPoint(after);
    }

    void lower_allocate(const Instruction& instruction) {
        const ValueId result = instruction.results[0];
        const BufferType& type = kernel_.type(result).buffer;
        if (type.space != AddressSpace::kLocal) refuse("shared memory");
        int64_t last = 0;  // byte offset of the last element
        for (size_t d = 0; d < type.sizes.size(); ++d) last += (type.sizes[d] - 1) * type.strides[d];
        const auto bytes = static_cast<uint64_t>(last + DType(type.element).itemsize());
        // An array of elements, not bytes, so that SROA finds vectors in it.
        const auto elements = bytes / static_cast<uint64_t>(part_size(type.element));
        BufferValue value;
        value.type = type;
        value.base = allocate_local(llvm::ArrayType::get(part_type(type.element), elements), llvm::Align(64),
                                    kernel_.values[result.index].name);
        for (int64_t stride : type.strides)
            value.strides.push_back(builder_.getInt64(static_cast<uint64_t>(stride)));
        buffers_.insert_or_assign(result.index, std::move(value));
    }

    // --- streams -------------------------------------------------------------------------------------
    //
    // Results that go past the caches must be written in whole cache lines, but rows begin anywhere and loops
    // are vectorised without knowing where. So an innermost loop over such a result is cut into pieces of
    // kStreamBytes, which end where a line does. A piece is computed into local memory, which stays in the
    // first-level cache, and copied from there: whole lines past the caches, the rest by ordinary stores.

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
        llvm::Value* end = nullptr;
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
                llvm::Value* room = builder_.CreateLShr(
                    builder_.CreateSub(builder_.getInt64(kStreamBytes), shift),
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

    llvm::BasicBlock* new_block(const llvm::Twine& name) {
        return llvm::BasicBlock::Create(context_, name, function_);
    }

    // Phi nodes at the builder's point for values that arrive from `from`.
    std::vector<std::vector<llvm::PHINode*>> make_phis(std::span<const Scalar> values,
                                                       llvm::BasicBlock* from) {
        std::vector<std::vector<llvm::PHINode*>> phis;
        for (const Scalar& value : values) {
            std::vector<llvm::PHINode*>& parts = phis.emplace_back();
            for (llvm::Value* part : value.parts) {
                if (part == nullptr) continue;
                llvm::PHINode* phi = builder_.CreatePHI(part->getType(), 2);
                phi->addIncoming(part, from);
                parts.push_back(phi);
            }
        }
        return phis;
    }

    static void add_incoming(std::span<const std::vector<llvm::PHINode*>> phis,
                             std::span<const Scalar> values, llvm::BasicBlock* from) {
        for (size_t i = 0; i < phis.size(); ++i) {
            for (size_t part = 0; part < phis[i].size(); ++part)
                phis[i][part]->addIncoming(values[i].parts[part], from);
        }
    }

    void define(std::span<const ValueId> names, std::span<const std::vector<llvm::PHINode*>> phis) {
        for (size_t i = 0; i < names.size(); ++i) {
            for (size_t part = 0; part < phis[i].size(); ++part)
                scalars_[names[i].index].parts[part] = phis[i][part];
        }
    }

    std::vector<Scalar> values_of(std::span<const ValueId> names) const {
        std::vector<Scalar> values;
        for (ValueId name : names) values.push_back(scalar(name));
        return values;
    }

    // Loops come in the form that LLVM's loop passes want: tested once before, then at the end of each turn.
    void lower_for(const Instruction& instruction) {
        llvm::Value* lower = index(instruction.operands[0]);
        llvm::Value* upper = index(instruction.operands[1]);
        llvm::Value* step = index(instruction.operands[2]);
        const auto* constant_step = llvm::dyn_cast<llvm::ConstantInt>(step);
        const auto before_end = [&](llvm::Value* i) -> llvm::Value* {
            llvm::Value* up = builder_.CreateICmpSLT(i, upper);
            if (constant_step != nullptr && constant_step->getSExtValue() > 0) return up;
            llvm::Value* down = builder_.CreateICmpSGT(i, upper);
            return builder_.CreateSelect(builder_.CreateICmpSGT(step, builder_.getInt64(0)), up, down);
        };
        const std::vector<Scalar> initials = values_of(std::span(instruction.operands).subspan(3));
        llvm::BasicBlock* body = new_block("for");
        llvm::BasicBlock* after = new_block("for.end");
        llvm::BasicBlock* preheader = new_block("for.preheader");
        llvm::BasicBlock* before = builder_.GetInsertBlock();
        builder_.CreateCondBr(before_end(lower), preheader, after);
        builder_.SetInsertPoint(preheader);
        builder_.CreateBr(body);
        builder_.SetInsertPoint(body);
        const Region& region = instruction.regions[0];
        llvm::PHINode* i = builder_.CreatePHI(builder_.getInt64Ty(), 2, "i");
        i->addIncoming(lower, preheader);
        scalars_[region.arguments[0].index].parts[0] = i;
        const auto carried = make_phis(initials, preheader);
        define(std::span(region.arguments).subspan(1), carried);
        const std::vector<Scalar> yielded = lower_region(region);
        // A step of one cannot overflow: i is below upper.
        const bool one = constant_step != nullptr && constant_step->isOne();
        llvm::Value* next = builder_.CreateAdd(i, step, "next", /*HasNUW=*/false, /*HasNSW=*/one);
        llvm::BasicBlock* latch = builder_.GetInsertBlock();
        builder_.CreateCondBr(before_end(next), body, after);
        i->addIncoming(next, latch);
        add_incoming(carried, yielded, latch);
        builder_.SetInsertPoint(after);
        const auto finals = make_phis(initials, before);
        add_incoming(finals, yielded, latch);
        define(instruction.results, finals);
    }

    void lower_while(const Instruction& instruction) {
        const std::vector<Scalar> initials = values_of(instruction.operands);
        llvm::BasicBlock* before = builder_.GetInsertBlock();
        llvm::BasicBlock* test = new_block("while");
        llvm::BasicBlock* body = new_block("while.body");
        llvm::BasicBlock* after = new_block("while.end");
        builder_.CreateBr(test);
        builder_.SetInsertPoint(test);
        const auto carried = make_phis(initials, before);
        define(instruction.regions[0].arguments, carried);
        const std::vector<Scalar> tested = lower_region(instruction.regions[0]);
        const std::span<const Scalar> forwarded = std::span(tested).subspan(1);
        builder_.CreateCondBr(builder_.CreateICmpNE(tested[0].parts[0], builder_.getInt8(0)), body, after);
        builder_.SetInsertPoint(body);
        for (size_t i = 0; i < forwarded.size(); ++i) {
            scalars_[instruction.regions[1].arguments[i].index] = forwarded[i];
        }
        const std::vector<Scalar> yielded = lower_region(instruction.regions[1]);
        add_incoming(carried, yielded, builder_.GetInsertBlock());
        builder_.CreateBr(test);
        builder_.SetInsertPoint(after);
        for (size_t i = 0; i < forwarded.size(); ++i) scalars_[instruction.results[i].index] = forwarded[i];
    }

    void lower_if(const Instruction& instruction) {
        llvm::BasicBlock* branches[2] = {new_block("then"), new_block("else")};
        llvm::BasicBlock* after = new_block("if.end");
        builder_.CreateCondBr(condition(instruction.operands[0]), branches[0], branches[1]);
        std::vector<Scalar> yielded[2];
        llvm::BasicBlock* ends[2];
        for (size_t side = 0; side < 2; ++side) {
            builder_.SetInsertPoint(branches[side]);
            if (side < instruction.regions.size()) yielded[side] = lower_region(instruction.regions[side]);
            ends[side] = builder_.GetInsertBlock();
            builder_.CreateBr(after);
        }
        builder_.SetInsertPoint(after);
        const auto phis = make_phis(yielded[0], ends[0]);
        add_incoming(phis, yielded[1], ends[1]);
        define(instruction.results, phis);
    }

    void lower_parallel(const Instruction& instruction) {
        const bool grid = instruction.level == ir::ParallelLevel::kGrid;
        if (!grid) refuse("parallel(block)");
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
        if (instruction.range_dimension < 0) streams = find_streams(region, region.arguments[rank - 1]);
        std::vector<llvm::BasicBlock*> bodies(loops);
        std::vector<llvm::BasicBlock*> ends(loops);
        std::vector<llvm::PHINode*> indices(loops);
        for (size_t k = 0; k < loops; ++k) {
            const size_t d = looped[k];
            const std::string name = "grid" + std::to_string(d);
            llvm::MDNode* group = llvm::MDNode::getDistinct(context_, {});
            if (k + 1 == loops && !streams.empty()) {
                pieces.open(*this, lower[k], upper[k]);
                lower[k] = pieces.begin;
                upper[k] = begin_piece(streams, pieces.begin, pieces.upper, group);
                pieces.end = upper[k];
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
            llvm::Value* next = builder_.CreateAdd(indices[k], builder_.getInt64(1), "next", /*HasNUW=*/false,
                                                   /*HasNSW=*/true);
            indices[k]->addIncoming(next, builder_.GetInsertBlock());
            llvm::BranchInst* back =
                builder_.CreateCondBr(builder_.CreateICmpSLT(next, upper[k]), bodies[k], ends[k]);
            std::vector<llvm::Metadata*> properties = {llvm::MDNode::get(
                context_, {llvm::MDString::get(context_, "llvm.loop.parallel_accesses"), groups[k]})};
            if (cost_of(region) >= kInterleavedCost) {
                // Polynomials are chains of dependent steps. LLVM thinks such loops too large to interleave;
                // two vectors at a time were measured to be 10 to 25 % faster (Black-Scholes, exp).
                properties.push_back(
                    llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.interleave.count"),
                                                 llvm::ConstantAsMetadata::get(builder_.getInt32(2))}));
            }
            back->setMetadata(llvm::LLVMContext::MD_loop, loop_metadata(std::move(properties)));
            builder_.SetInsertPoint(ends[k]);
            if (k + 1 == loops && !streams.empty()) {
                end_piece(streams, pieces.begin, pieces.end);
                pieces.close(*this);
            }
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

    const ir::Function& kernel_;
    llvm::Module& module_;
    BitcodeLibrary& library_;
    llvm::LLVMContext& context_;
    llvm::IRBuilder<> builder_;
    llvm::Function* function_ = nullptr;
    llvm::BasicBlock* entry_ = nullptr;
    llvm::Instruction* allocations_ = nullptr;  // local memory is allocated before this one
    std::vector<Scalar> scalars_;               // by value index; of buffers empty
    std::map<uint32_t, BufferValue> buffers_;
    std::map<uint16_t, llvm::MDNode*> alias_scope_;
    std::map<uint16_t, llvm::MDNode*> noalias_;
    std::vector<llvm::Metadata*> access_groups_;  // of the parallel loops around the builder's point
    int grid_dimensions_ = 0;
    std::ptrdiff_t most_loads_ = 0;  // of one region
    bool contiguous_ = true;
};

}  // namespace

LoweredKernel lower_for_cpu(const ir::Function& kernel, llvm::Module& module, BitcodeLibrary& library) {
    return Lowering(kernel, module, library).run();
}

}  // namespace weft::codegen
