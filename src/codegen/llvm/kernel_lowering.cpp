#include "codegen/llvm/kernel_lowering.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <tuple>
#include <utility>

#include "codegen/bitcode/plain_operation.h"
#include "codegen/llvm/fast_math.h"
#include "weft/errors.h"

namespace weft::codegen {

using ir::AddressSpace;
using ir::BufferType;
using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

void KernelLowering::refuse(const std::string& what) const {
    throw NotImplementedError("kernel " + kernel_.name + ": " + what + " cannot be compiled for " + target_ +
                              " yet");
}

void KernelLowering::begin_function(llvm::Function* function) {
    function_ = function;
    function_->setDoesNotThrow();
    entry_ = llvm::BasicBlock::Create(context_, "entry", function_);
    auto* start = llvm::BasicBlock::Create(context_, "start", function_);
    builder_.SetInsertPoint(entry_);
    allocations_ = builder_.CreateBr(start);
    builder_.SetInsertPoint(start);
}

void KernelLowering::set_alias_scope(llvm::Instruction* access, const BufferType& type) const {
    if (!has_alias_scope(type)) return;
    access->setMetadata(llvm::LLVMContext::MD_alias_scope, alias_scope_.at(type.alias_scope));
    if (const auto found = noalias_.find(type.alias_scope); found != noalias_.end())
        access->setMetadata(llvm::LLVMContext::MD_noalias, found->second);
}

llvm::Type* KernelLowering::part_type(ScalarType type) {
    switch (type) {
        case ScalarType::kBool:
        case ScalarType::kInt8:
        case ScalarType::kUInt8: return builder_.getInt8Ty();
        case ScalarType::kInt16:
        case ScalarType::kUInt16:
        case ScalarType::kBFloat16: return builder_.getInt16Ty();  // its arithmetic is the op table's
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

llvm::Value* KernelLowering::part_pointer(llvm::Value* pointer, ScalarType type, int part) {
    if (part == 0) return pointer;
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), pointer,
                                               static_cast<uint64_t>(part_size(type)));
}

// One scope a number of alias_scope, in a domain of this kernel. An access belongs to its own scope and
// aliases no other.
void KernelLowering::make_alias_scopes() {
    llvm::MDBuilder metadata(context_);
    llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain(kernel_.name);
    std::map<uint16_t, llvm::MDNode*> scopes;
    for (const ir::ValueInfo& value : kernel_.values) {
        if (!value.type.is_buffer || !has_alias_scope(value.type.buffer)) continue;
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

void KernelLowering::read_parameters() {
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
        buffer.base = load_base(word++, name);
        for (int64_t stride : type.buffer.strides) {
            buffer.strides.push_back(stride == ir::kDynamic ? load_stride(word++, name + ".stride")
                                                            : static_cast<llvm::Value*>(builder_.getInt64(
                                                                  static_cast<uint64_t>(stride))));
        }
        buffers_.emplace(parameter.index, std::move(buffer));
    }
}

const KernelLowering::Scalar& KernelLowering::scalar(ValueId value) const {
    const Scalar& found = scalars_[value.index];
    if (found.parts[0] == nullptr)
        throw InternalError("kernel " + kernel_.name + " uses a value before its definition");
    return found;
}

llvm::Value* KernelLowering::condition(ValueId value) {
    return builder_.CreateICmpNE(scalar(value).parts[0], builder_.getInt8(0));
}

llvm::AllocaInst* KernelLowering::allocate_local(llvm::Type* type, llvm::Align alignment,
                                                 const llvm::Twine& name) {
    llvm::IRBuilder<> builder(allocations_);
    llvm::AllocaInst* slot = builder.CreateAlloca(type, nullptr, name);
    slot->setAlignment(alignment);
    return slot;
}

// Memory for one scalar, for the uniform ABI of the operation bitcode.
llvm::Value* KernelLowering::scalar_slot(ScalarType type) {
    return allocate_local(llvm::ArrayType::get(part_type(type), static_cast<uint64_t>(part_count(type))),
                          llvm::Align(static_cast<uint64_t>(DType(type).alignment())), "slot");
}

std::vector<KernelLowering::Scalar> KernelLowering::lower_region(const Region& region) {
    for (const Instruction& instruction : region.body) {
        if (ends_body(instruction.opcode)) {
            if (!is_left(region)) return values_of(instruction.operands);
            lower_exit(instruction);
            return {};
        }
        lower(instruction);
    }
    throw InternalError("kernel " + kernel_.name + " has a region without end");
}

void KernelLowering::lower(const Instruction& instruction) {
    switch (instruction.opcode) {
        case Opcode::kConstant: lower_constant(instruction); return;
        case Opcode::kApply: {
            const LoopInfo& loop = instruction.op->loops[static_cast<size_t>(instruction.loop)];
            reorders_ = instruction.fast && !kernel_.is_kernel;
            call(loop, instruction.op->nin, instruction);
            reorders_ = false;
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
        case Opcode::kView: lower_view(instruction); return;
        case Opcode::kNull: {
            const std::vector<llvm::Value*> strides(
                kernel_.type(instruction.results[0]).buffer.strides.size(), builder_.getInt64(0));
            define_buffer(instruction.results[0], llvm::ConstantPointerNull::get(builder_.getPtrTy()),
                          strides);
            return;
        }
        case Opcode::kAddress:
        case Opcode::kMemory: refuse("an address");
        case Opcode::kHeap: refuse("heap memory");
        case Opcode::kRetain:
        case Opcode::kRelease: refuse("a count of heap memory's users");
        case Opcode::kTell: refuse("something that is told");
        case Opcode::kFor: lower_for(instruction); return;
        case Opcode::kWhile: lower_while(instruction); return;
        case Opcode::kIf: lower_if(instruction); return;
        case Opcode::kParallel: lower_parallel(instruction); return;
        case Opcode::kAtomic: lower_atomic(instruction); return;
        case Opcode::kCompareExchange: lower_compare_exchange(instruction); return;
        case Opcode::kBarrier: refuse("a barrier");
        case Opcode::kIntrinsic: refuse("what threads do together");
        case Opcode::kReduce: refuse("reduce");
        case Opcode::kScan: refuse("scan");
        case Opcode::kCall: refuse("a call");
        case Opcode::kSpread: refuse("a spread");
        case Opcode::kEngine: refuse("a call of the engine");
        case Opcode::kExternal: refuse("a call of other machine code");
        case Opcode::kCheck: lower_check(instruction); return;
        case Opcode::kYield:
        case Opcode::kBreak:
        case Opcode::kContinue:
        case Opcode::kReturn:
        case Opcode::kRaise: break;
    }
    throw InternalError("kernel " + kernel_.name + " has an instruction that is none");
}

void KernelLowering::lower_constant(const Instruction& instruction) {
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

void KernelLowering::call(const LoopInfo& loop, int inputs, const Instruction& instruction) {
    if (static_cast<int>(instruction.operands.size()) != inputs)
        throw InternalError(std::string("wrong number of operands for ") + loop.symbol);
    const std::vector<Scalar> results =
        call(loop, values_of(instruction.operands), instruction.results.size());
    for (size_t i = 0; i < results.size(); ++i) scalars_[instruction.results[i].index] = results[i];
}

std::vector<KernelLowering::Scalar> KernelLowering::call(const LoopInfo& loop,
                                                         std::span<const Scalar> operands, size_t results) {
    if (appends_operations()) {
        if (auto values = append_operation(loop, operands, results)) return *std::move(values);
    }
    llvm::Function* callee = library_.import(loop.symbol, module_);
    if (reorders_) callee = reordered(*callee);
    const size_t operand_count = operands.size();
    if (callee->arg_size() != operand_count + results)
        throw InternalError(std::string("wrong number of operands for ") + loop.symbol);
    std::vector<llvm::Value*> slots;
    slots.reserve(operand_count + results);
    for (size_t i = 0; i < operand_count + results; ++i) slots.push_back(scalar_slot(loop.types[i]));
    for (size_t i = 0; i < operand_count; ++i) {
        for (int part = 0; part < part_count(loop.types[i]); ++part)
            builder_.CreateStore(operands[i].parts[part], part_pointer(slots[i], loop.types[i], part));
    }
    builder_.CreateCall(callee, slots);
    std::vector<Scalar> values(results);
    for (size_t i = 0; i < results; ++i) {
        const ScalarType type = loop.types[operand_count + i];
        for (int part = 0; part < part_count(type); ++part) {
            values[i].parts[part] =
                builder_.CreateLoad(part_type(type), part_pointer(slots[operand_count + i], type, part));
        }
    }
    return values;
}

// A copy of an operation, for functions with fastmath.
llvm::Function* KernelLowering::reordered(llvm::Function& operation) {
    const std::string name = operation.getName().str() + ".fast";
    if (llvm::Function* known = module_.getFunction(name)) return known;
    llvm::ValueToValueMapTy map;
    llvm::Function* const copy = llvm::CloneFunction(&operation, map);
    copy->setName(name);
    for (llvm::Instruction& instruction : llvm::instructions(*copy)) allow_reordering(instruction);
    return copy;
}

std::optional<std::vector<KernelLowering::Scalar>> KernelLowering::append_operation(
    const LoopInfo& loop, std::span<const Scalar> operands, size_t results) {
    std::vector<OperationPart> inputs, outputs;
    for (size_t i = 0; i < operands.size() + results; ++i) {
        const ScalarType type = loop.types[i];
        const bool is_input = i < operands.size();
        for (int part = 0; part < part_count(type); ++part) {
            (is_input ? inputs : outputs)
                .push_back({static_cast<unsigned>(i), part * part_size(type),
                            is_input ? operands[i].parts[part] : nullptr, part_type(type)});
        }
    }
    llvm::BasicBlock* const block = builder_.GetInsertBlock();
    llvm::Instruction* const before = block->empty() ? nullptr : &block->back();
    const auto found = append_plain_operation(builder_, library_.find(loop.symbol), inputs, outputs);
    if (!found) return std::nullopt;
    if (reorders_) {
        const auto first = before == nullptr ? block->begin() : std::next(before->getIterator());
        for (llvm::Instruction& appended : llvm::make_range(first, block->end())) allow_reordering(appended);
    }
    std::vector<Scalar> values(results);
    for (size_t k = 0; k < outputs.size(); ++k)
        values[outputs[k].argument - operands.size()].parts[outputs[k].offset == 0 ? 0 : 1] = (*found)[k];
    return values;
}

llvm::Value* KernelLowering::address(const BufferValue& buffer, std::span<const ValueId> indices) {
    llvm::Value* pointer = buffer.base;
    const auto move_along = [&](size_t d) {
        pointer = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), pointer,
                                             {builder_.CreateNSWMul(index(indices[d]), buffer.strides[d])});
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

void KernelLowering::lower_load(const Instruction& instruction) {
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

void KernelLowering::lower_store(const Instruction& instruction) {
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

void KernelLowering::lower_allocate(const Instruction& instruction) {
    const ValueId result = instruction.results[0];
    const BufferType& type = kernel_.type(result).buffer;
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

// A view of nothing may begin anywhere, so its base is not said to be in bounds.
void KernelLowering::lower_view(const Instruction& instruction) {
    const ValueId result = instruction.results[0];
    const BufferValue& from = buffer(instruction.operands[0]);
    std::vector<llvm::Value*> strides;
    for (const ValueId stride : std::span(instruction.operands).subspan(2)) strides.push_back(index(stride));
    if (strides.empty()) {
        const std::vector<int64_t>& kept = kernel_.type(result).buffer.strides;
        for (size_t d = 0; d < kept.size(); ++d) {
            if (kept[d] == ir::kDynamic) strides.push_back(from.strides[d]);
        }
    }
    define_buffer(result,
                  builder_.CreateGEP(builder_.getInt8Ty(), from.base, {index(instruction.operands[1])}),
                  strides);
}

// Phi nodes at the builder's point for values that arrive from `from`.
KernelLowering::Phis KernelLowering::make_phis(std::span<const Scalar> values, llvm::BasicBlock* from) {
    Phis phis;
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

void KernelLowering::add_incoming(const Phis& phis, std::span<const Scalar> values, llvm::BasicBlock* from) {
    for (size_t i = 0; i < phis.size(); ++i) {
        for (size_t part = 0; part < phis[i].size(); ++part)
            phis[i][part]->addIncoming(values[i].parts[part], from);
    }
}

void KernelLowering::define_buffer(ValueId name, llvm::Value* base, std::span<llvm::Value* const> strides) {
    BufferValue value;
    value.type = kernel_.type(name).buffer;
    value.base = base;
    size_t next = 0;
    for (const int64_t stride : value.type.strides) {
        value.strides.push_back(stride == ir::kDynamic ? strides[next++]
                                                       : builder_.getInt64(static_cast<uint64_t>(stride)));
    }
    buffers_.insert_or_assign(name.index, std::move(value));
}

void KernelLowering::define(std::span<const ValueId> names, std::span<const Scalar> values) {
    size_t next = 0;
    for (const ValueId name : names) {
        const ir::Type& type = kernel_.type(name);
        if (!type.is_buffer) {
            scalars_[name.index] = values[next++];
            continue;
        }
        llvm::Value* base = values[next++].parts[0];
        std::vector<llvm::Value*> strides;
        for (const int64_t stride : type.buffer.strides) {
            if (stride == ir::kDynamic) strides.push_back(values[next++].parts[0]);
        }
        define_buffer(name, base, strides);
    }
}

std::vector<KernelLowering::Scalar> KernelLowering::scalars_of(const Phis& phis) {
    std::vector<Scalar> values;
    values.reserve(phis.size());
    for (const std::vector<llvm::PHINode*>& parts : phis) {
        Scalar& value = values.emplace_back();
        for (size_t part = 0; part < parts.size(); ++part) value.parts[part] = parts[part];
    }
    return values;
}

std::vector<KernelLowering::Scalar> KernelLowering::values_of(std::span<const ValueId> names) const {
    std::vector<Scalar> values;
    for (const ValueId name : names) {
        if (!kernel_.type(name).is_buffer) {
            values.push_back(scalar(name));
            continue;
        }
        const BufferValue& value = buffer(name);
        values.push_back({{value.base, nullptr}});
        for (size_t d = 0; d < value.strides.size(); ++d) {
            if (value.type.strides[d] == ir::kDynamic) values.push_back({{value.strides[d], nullptr}});
        }
    }
    return values;
}

// Loops come in the form that LLVM's loop passes want: tested once before, then at the end of each iteration.
void KernelLowering::lower_for(const Instruction& instruction) {
    llvm::Value* lower = index(instruction.operands[0]);
    llvm::Value* upper = index(instruction.operands[1]);
    llvm::Value* step = index(instruction.operands[2]);
    const auto* constant_step = llvm::dyn_cast<llvm::ConstantInt>(step);
    llvm::Value* end = upper;
    const auto before_end = [&](llvm::Value* i) -> llvm::Value* {
        llvm::Value* up = builder_.CreateICmpSLT(i, end);
        if (constant_step != nullptr && constant_step->getSExtValue() > 0) return up;
        llvm::Value* down = builder_.CreateICmpSGT(i, end);
        return builder_.CreateSelect(builder_.CreateICmpSGT(step, builder_.getInt64(0)), up, down);
    };
    std::vector<Scalar> initials = values_of(std::span(instruction.operands).subspan(3));
    const Pauses pauses = open_pauses(instruction);
    llvm::BasicBlock* body = new_block("for");
    llvm::BasicBlock* after = new_block("for.end");
    llvm::BasicBlock* preheader = new_block("for.preheader");
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    const Arrival not_run{initials, before};
    BlockOfIterations block;
    llvm::BasicBlock* exhausted = after;
    if (pauses.in_blocks) {
        block = open_block(lower, upper, preheader, after, initials);
        std::tie(lower, end, initials, exhausted) =
            std::tuple(block.lower, block.end, scalars_of(block.carried), new_block("for.block.end"));
    } else {
        builder_.CreateCondBr(before_end(lower), preheader, after);
    }
    builder_.SetInsertPoint(preheader);
    builder_.CreateBr(body);
    builder_.SetInsertPoint(body);
    const Region& region = instruction.regions[0];
    llvm::PHINode* i = builder_.CreatePHI(builder_.getInt64Ty(), 2, "i");
    i->addIncoming(lower, preheader);
    scalars_[region.arguments[0].index].parts[0] = i;
    const auto carried = make_phis(initials, preheader);
    define(std::span(region.arguments).subspan(1), carried);
    OpenLoop loop{new_block("for.next"), after};
    std::optional<std::vector<Scalar>> yielded = lower_body(loop, region);
    std::vector<Arrival>& ends = loop.breaks;
    if (yielded) {
        if (!pauses.in_blocks) pause(pauses);
        // A step of one cannot overflow: i is below upper.
        const bool one = constant_step != nullptr && constant_step->isOne();
        llvm::Value* next = builder_.CreateAdd(i, step, "next", /*HasNUW=*/false, /*HasNSW=*/one);
        llvm::BasicBlock* latch = builder_.GetInsertBlock();
        annotate_loop(builder_.CreateCondBr(before_end(next), body, exhausted), instruction);
        i->addIncoming(next, latch);
        add_incoming(carried, *yielded, latch);
        if (pauses.in_blocks) close_block(block, pauses, exhausted, after, *yielded);
        ends.insert(ends.begin(), {*std::move(yielded), pauses.in_blocks ? exhausted : latch});
    } else if (pauses.in_blocks) {
        exhausted->eraseFromParent();
    }
    close_pauses(pauses);
    builder_.SetInsertPoint(after);
    define(instruction.results, join(not_run, ends));
}

// A loop around the loop, which goes over so many iterations at a time.
KernelLowering::BlockOfIterations KernelLowering::open_block(llvm::Value* lower, llvm::Value* upper,
                                                             llvm::BasicBlock* preheader,
                                                             llvm::BasicBlock* after,
                                                             std::span<const Scalar> initials) {
    constexpr uint64_t kIterations = 1 << 20;
    BlockOfIterations block;
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    block.head = new_block("for.block");
    builder_.CreateCondBr(builder_.CreateICmpSLT(lower, upper), block.head, after);
    builder_.SetInsertPoint(block.head);
    block.lower = builder_.CreatePHI(builder_.getInt64Ty(), 2, "from");
    block.lower->addIncoming(lower, before);
    block.carried = make_phis(initials, before);
    llvm::Value* many = builder_.getInt64(kIterations);
    block.is_last = builder_.CreateICmpULE(builder_.CreateSub(upper, block.lower), many);
    block.end = builder_.CreateSelect(block.is_last, upper, builder_.CreateAdd(block.lower, many), "to");
    builder_.CreateBr(preheader);
    return block;
}

void KernelLowering::close_block(const BlockOfIterations& block, const Pauses& pauses,
                                 llvm::BasicBlock* exhausted, llvm::BasicBlock* after,
                                 std::span<const Scalar> yielded) {
    llvm::BasicBlock* between = new_block("for.block.next");
    builder_.SetInsertPoint(exhausted);
    builder_.CreateCondBr(block.is_last, after, between);
    builder_.SetInsertPoint(between);
    pause(pauses);
    block.lower->addIncoming(block.end, builder_.GetInsertBlock());
    add_incoming(block.carried, yielded, builder_.GetInsertBlock());
    builder_.CreateBr(block.head);
}

std::optional<std::vector<KernelLowering::Scalar>> KernelLowering::lower_body(OpenLoop& loop,
                                                                              const Region& body) {
    loop.held = held();
    loops_.push_back(&loop);
    std::vector<Scalar> yielded = lower_region(body);
    loops_.pop_back();
    if (ir::yields(body)) {
        if (loop.continues.empty()) {
            loop.next->eraseFromParent();
            return yielded;
        }
        loop.continues.insert(loop.continues.begin(), {std::move(yielded), builder_.GetInsertBlock()});
        builder_.CreateBr(loop.next);
    } else if (loop.continues.empty()) {
        loop.next->eraseFromParent();
        return {};
    }
    builder_.SetInsertPoint(loop.next);
    return scalars_of(join(loop.continues.front(), std::span(loop.continues).subspan(1)));
}

KernelLowering::Phis KernelLowering::join(const Arrival& first, std::span<const Arrival> others) {
    Phis phis = make_phis(first.values, first.from);
    for (const Arrival& other : others) add_incoming(phis, other.values, other.from);
    return phis;
}

void KernelLowering::lower_return(std::span<const Scalar>) { builder_.CreateRetVoid(); }

void KernelLowering::lower_raise(uint32_t, std::span<const ValueId>) { refuse("an error"); }
void KernelLowering::lower_raise_again(ValueId) { refuse("an error"); }

void KernelLowering::lower_check(const Instruction& instruction) {
    llvm::BasicBlock* fails = new_block("fails");
    llvm::BasicBlock* holds = new_block("holds");
    llvm::MDNode* likely = llvm::MDBuilder(context_).createLikelyBranchWeights();
    builder_.CreateCondBr(condition(instruction.operands[0]), holds, fails, likely);
    builder_.SetInsertPoint(fails);
    give_back(0);
    lower_raise(instruction.site, std::span(instruction.operands).subspan(1));
    builder_.SetInsertPoint(holds);
}

void KernelLowering::lower_exit(const Instruction& instruction) {
    if (instruction.opcode == Opcode::kReturn) {
        give_back(0);
        return lower_return(values_of(instruction.operands));
    }
    if (instruction.opcode == Opcode::kRaise) {
        give_back(0);
        if (instruction.again) return lower_raise_again(instruction.operands[0]);
        return lower_raise(instruction.site, instruction.operands);
    }
    OpenLoop& loop = *loops_[loops_.size() - 1 - static_cast<size_t>(instruction.depth)];
    give_back(loop.held);
    const bool breaks = instruction.opcode == Opcode::kBreak;
    (breaks ? loop.breaks : loop.continues)
        .push_back({values_of(instruction.operands), builder_.GetInsertBlock()});
    builder_.CreateBr(breaks ? loop.end : loop.next);
}

void KernelLowering::lower_while(const Instruction& instruction) {
    const std::vector<Scalar> initials = values_of(instruction.operands);
    const Pauses pauses = open_pauses(instruction);
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
    llvm::BasicBlock* tested_in = builder_.GetInsertBlock();
    builder_.CreateCondBr(builder_.CreateICmpNE(tested[0].parts[0], builder_.getInt8(0)), body, after);
    builder_.SetInsertPoint(body);
    define(instruction.regions[1].arguments, forwarded);
    OpenLoop loop{new_block("while.next"), after};
    if (const auto yielded = lower_body(loop, instruction.regions[1])) {
        pause(pauses);
        add_incoming(carried, *yielded, builder_.GetInsertBlock());
        annotate_loop(builder_.CreateBr(test), instruction);
    }
    close_pauses(pauses);
    builder_.SetInsertPoint(after);
    if (loop.breaks.empty()) {
        define(instruction.results, forwarded);
    } else {
        define(instruction.results, join({{forwarded.begin(), forwarded.end()}, tested_in}, loop.breaks));
    }
}

void KernelLowering::lower_if(const Instruction& instruction) {
    llvm::BasicBlock* branches[2] = {new_block("then"), new_block("else")};
    llvm::BasicBlock* after = new_block("if.end");
    // A lazy call is cold anyway; weights beside it made the code before it worse.
    const std::vector<Instruction>& second = instruction.regions[1].body;
    const bool has_weights =
        instruction.likely &&
        std::none_of(second.begin(), second.end(), [](const Instruction& each) { return each.lazy; });
    builder_.CreateCondBr(condition(instruction.operands[0]), branches[0], branches[1],
                          has_weights ? llvm::MDBuilder(context_).createLikelyBranchWeights() : nullptr);
    std::vector<Arrival> ends;
    for (size_t side = 0; side < 2; ++side) {
        builder_.SetInsertPoint(branches[side]);
        const Region& region = instruction.regions[side];
        std::vector<Scalar> yielded = lower_region(region);
        if (is_left(region)) continue;
        ends.push_back({std::move(yielded), builder_.GetInsertBlock()});
        builder_.CreateBr(after);
    }
    builder_.SetInsertPoint(after);
    define(instruction.results, join(ends.front(), std::span(ends).subspan(1)));
}

}  // namespace weft::codegen
