#include "codegen/cpu/function_lowering.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "codegen/functions/function_optimizer.h"
#include "codegen/llvm/diagnostics.h"
#include "codegen/runtime/block_threads.h"
#include "codegen/runtime/engine_call.h"
#include "codegen/runtime/grid_blocks.h"
#include "codegen/runtime/heap.h"
#include "codegen/runtime/lazy_parts.h"
#include "codegen/runtime/spread.h"
#include "codegen/runtime/stack_limit.h"
#include "codegen/runtime/stopping/pause.h"
#include "codegen/runtime/stopping/write_log.h"
#include "codegen/runtime/tell.h"
#include "ir/calls.h"
#include "ir/intrinsic.h"
#include "ops/engine_function.h"
#include "weft/errors.h"

namespace weft::codegen {

using ir::Instruction;
using ir::Opcode;
using ir::ValueId;

namespace {

// Whether nothing in it writes to memory that its caller knows.
bool only_reads(const ir::Region& region) {
    return std::all_of(region.body.begin(), region.body.end(), [](const Instruction& each) {
        switch (each.opcode) {
            case Opcode::kStore:
            case Opcode::kAtomic:
            case Opcode::kCompareExchange:
            case Opcode::kHeap:
            case Opcode::kRetain:
            case Opcode::kRelease:
            case Opcode::kCall:
            case Opcode::kSpread:
            case Opcode::kEngine:
            case Opcode::kExternal:
            case Opcode::kBarrier:
            case Opcode::kIntrinsic:
            case Opcode::kTell: return false;
            default: return std::all_of(each.regions.begin(), each.regions.end(), only_reads);
        }
    });
}

}  // namespace

// About how many operations an iteration of a chunk's loop has; 0 where that is not known.
int64_t FunctionLowering::cost_of(const ir::Region& body) const {
    int64_t cost = 0;
    const std::function<bool(const ir::Region&, int)> add = [&](const ir::Region& region, int depth) {
        return std::all_of(region.body.begin(), region.body.end(), [&](const Instruction& each) {
            if (each.opcode == Opcode::kWhile ||
                (each.opcode == Opcode::kCall && (!each.lazy || is_shared(each))) ||
                each.opcode == Opcode::kHeap || each.opcode == Opcode::kSpread ||
                each.opcode == Opcode::kEngine || each.opcode == Opcode::kExternal ||
                (each.opcode == Opcode::kFor && depth > 0))
                return false;
            cost += each.opcode == Opcode::kApply ? each.op->cost : 1;
            const int inside = depth + (each.opcode == Opcode::kFor ? 1 : 0);
            return std::all_of(each.regions.begin(), each.regions.end(),
                               [&](const ir::Region& inner) { return add(inner, inside); });
        });
    };
    return add(body, 0) ? cost : 0;
}

bool FunctionLowering::is_shared(const Instruction& call) const {
    return call.lazy && std::ranges::any_of(callees_.shared, [&](const SharedFunction& each) {
               return each.function.name == call.callee;
           });
}

bool FunctionLowering::has_calls(const ir::Region& region) const {
    bool any = false;
    ir::for_each_call(region, [&](const Instruction& call) { any |= !call.lazy || is_shared(call); });
    return any;
}

void FunctionLowering::begin_function_of_host() {
    llvm::Type* pointer = builder_.getPtrTy();
    auto* type = llvm::FunctionType::get(builder_.getInt64Ty(), {pointer, pointer}, false);
    begin_function(llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "function", module_));
    const char* names[] = {"words", "results"};
    for (unsigned i = 0; i < 2; ++i) {
        function_->getArg(i)->setName(names[i]);
        function_->addParamAttr(i, llvm::Attribute::NoAlias);
        function_->addParamAttr(i, llvm::Attribute::get(context_, llvm::Attribute::NoUndef));
    }
    function_->addParamAttr(0, llvm::Attribute::ReadOnly);
    results_ = error_ = function_->getArg(1);
    notes_writes_ = !callees_.noted_scopes.empty();
    make_alias_scopes();
    read_parameters();
}

// --- callees -----------------------------------------------------------------------------------------

llvm::Function* FunctionLowering::declare_lazy(const ir::Function& part) {
    llvm::Function* function = declare(part);
    if (!function->isDeclaration()) return function;
    const std::span<const SharedFunction> shared = callees_.shared;
    const auto of_all = std::ranges::find(shared, &part, [](const auto& each) { return &each.function; });
    const int64_t count = std::ssize(shared) + std::ssize(callees_.parts);
    if (of_all != shared.end()) {
        define_lazy_call(*function, of_all - shared.begin(), count, of_all->sites);
    } else {
        define_lazy_call(*function, std::ssize(shared) + (&part - callees_.parts.data()), count);
    }
    if (!only_reads(part.body)) return function;
    // What the caller has read of arrays is known behind the call, too.
    function->setMemoryEffects(llvm::MemoryEffects::readOnly() | llvm::MemoryEffects::argMemOnly() |
                               llvm::MemoryEffects::inaccessibleMemOnly());
    unsigned next = 0;
    for (const ValueId parameter : part.parameters) {
        const ir::Type& type = part.type(parameter);
        if (type.is_buffer) function->addParamAttr(next, llvm::Attribute::ReadOnly);
        next += argument_count(type);
    }
    return function;
}

void FunctionLowering::begin_callee(bool is_chunk) {
    has_pauses_ = !is_chunk;
    CallLowering::begin_callee();
    if (!has_calls(kernel_.body)) return;
    // A loop in place of a call in the end would never come to an end.
    function_->addFnAttr("disable-tail-calls", "true");
    check_depth();
}

// How deep and how often functions call: the limit of the stack, how many calls are left before the next
// pause, and the period of these.
void FunctionLowering::begin_depth(llvm::IRBuilder<>& builder, llvm::Value* depth) {
    const uint64_t calls = 1024;
    llvm::Value* const limit = builder.CreateCall(declare_stack_limit(module_), {}, "limit");
    llvm::Value* const values[] = {limit, builder.getInt64(calls), builder.getInt64(calls)};
    for (unsigned i = 0; i < std::size(values); ++i)
        builder.CreateStore(values[i], builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), depth, i));
}

void FunctionLowering::check_depth() {
    // Not the frame's address, which would take a register for all of the function.
    llvm::Metadata* const name = llvm::MDNode::get(context_, {llvm::MDString::get(context_, "rsp")});
    llvm::Value* frame = builder_.CreateIntrinsic(llvm::Intrinsic::read_register, {builder_.getInt64Ty()},
                                                  {llvm::MetadataAsValue::get(context_, name)});
    llvm::BasicBlock* fails = new_block("too_deep");
    llvm::Type* const word = builder_.getInt64Ty();
    go_on_if(builder_.CreateICmpUGT(frame, builder_.CreateLoad(word, depth_)), fails, "deep");
    llvm::BasicBlock* going_on = builder_.GetInsertBlock();
    builder_.SetInsertPoint(fails);
    return_status(builder_.getInt64(uint64_t{ir::kTooDeep} + 1), {});
    builder_.SetInsertPoint(going_on);
    Pauses pauses;
    share_pauses(pauses);
    pause(pauses);
}

// What stands in loops that call, and in the called, counts as one.
void FunctionLowering::share_pauses(Pauses& pauses) {
    pauses.open = true;
    pauses.left = at(depth(), 8);
    pauses.period = at(depth(), 16);
}

llvm::Value* FunctionLowering::depth() {
    if (depth_ == nullptr) {
        depth_ = allocate_local(llvm::ArrayType::get(builder_.getInt64Ty(), 3), llvm::Align(8), "depth");
        llvm::IRBuilder<> first(allocations_);
        begin_depth(first, depth_);
    }
    return depth_;
}

// No program catches that the host stops it.
void FunctionLowering::return_if_stopped(llvm::Value* status) {
    return_unless(builder_.CreateICmpNE(status, builder_.getInt64(kStopped)), status);
}

llvm::Value* FunctionLowering::depth_of(const Instruction& call, const ir::Function& callee) {
    // Who calls nothing does not count calls. What is shared has other functions than are here.
    bool calls = false;
    ir::for_each_call(callee.body, [&](const Instruction&) { calls = true; });
    if (call.lazy && !(is_shared(call) ? calls : has_calls(callee.body)))
        return llvm::ConstantPointerNull::get(builder_.getPtrTy());
    return depth();
}

llvm::Function* FunctionLowering::function_of(const Instruction& call, const ir::Function& callee) {
    return call.lazy ? declare_lazy(callee) : declare(callee);
}

// --- chunks at the same time -----------------------------------------------------------------------------

// What runs a chunk: the callee with the parts of its arguments, which are in memory, 16 bytes each.
llvm::Function* FunctionLowering::define_spread(const ir::Function& callee) {
    const std::string name = "spread." + callee.name;
    if (llvm::Function* found = module_.getFunction(name)) return found;
    llvm::Type *word = builder_.getInt64Ty(), *pointer = builder_.getPtrTy();
    auto* type = llvm::FunctionType::get(word, {pointer, word, word, word, pointer}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module_);
    function->setDoesNotThrow();
    llvm::Function* body = declare(callee);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "entry", function));
    std::vector<llvm::Value*> arguments{function->getArg(1), function->getArg(2), function->getArg(3)};
    const auto count = static_cast<unsigned>(body->arg_size()) - 3;
    for (unsigned i = 3; i < count; ++i) {
        llvm::Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), function->getArg(0),
                                                                (i - 3) * kResultBytes);
        arguments.push_back(
            builder.CreateAlignedLoad(body->getArg(i)->getType(), place, llvm::Align(kResultBytes)));
    }
    llvm::Value* depth = builder.CreateAlloca(llvm::ArrayType::get(word, 3), nullptr, "depth");
    begin_depth(builder, depth);
    arguments.insert(arguments.end(),
                     {llvm::ConstantPointerNull::get(builder_.getPtrTy()), function->getArg(4), depth});
    builder.CreateRet(builder.CreateCall(body, arguments, "status"));
    return function;
}

void FunctionLowering::lower_spread(const Instruction& instruction) {
    const ir::Function& callee = find(instruction.callee);
    constexpr size_t kOwn = 3;  // number, from, to
    const std::vector<llvm::Value*> parts = parts_of(std::span(instruction.operands).subspan(2),
                                                     std::span(callee.parameters).subspan(kOwn), callee);
    llvm::Value* captures = allocate_local(
        llvm::ArrayType::get(builder_.getInt8Ty(), std::max<uint64_t>(parts.size(), 1) * kResultBytes),
        llvm::Align(kResultBytes), "captures");
    for (size_t i = 0; i < parts.size(); ++i)
        builder_.CreateAlignedStore(parts[i], at(captures, i * kResultBytes), llvm::Align(kResultBytes));
    size_t payload = 1;
    for (const std::span<const ir::Function> all : {callees_.functions, callees_.parts}) {
        for (const ir::Function& each : all) payload = std::max(payload, largest_payload(each.body));
    }
    for (const SharedFunction& each : callees_.shared) payload = std::max(payload, each.payload);
    llvm::Value* status = builder_.CreateCall(
        instruction.together ? declare_spread_together(module_) : declare_spread(module_),
        {define_spread(callee), captures, index(instruction.operands[0]), index(instruction.operands[1]),
         error_, builder_.getInt64(payload * kResultBytes), builder_.getInt64(cost_of(callee.body))},
        "status");
    return_if_raised(status);
}

// What the engine's functions take lies in memory, a word each (ops/engine_function.h).
void FunctionLowering::lower_engine(const Instruction& instruction) {
    std::vector<llvm::Value*> words;
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
        const ValueId value = instruction.operands[i];
        const ir::Type& type = kernel_.type(value);
        if (!type.is_buffer) {
            words.push_back(scalar(value).parts[0]);
            continue;
        }
        const std::vector<int64_t>& strides = type.buffer.strides;
        words.push_back(buffer(value).base);
        words.push_back(builder_.getInt64(
            static_cast<uint64_t>(EngineArguments::header(type.buffer.element, strides.size()))));
        for (size_t d = 0; d < strides.size(); ++d) words.push_back(index(instruction.operands[++i]));
        for (size_t d = 0; d < strides.size(); ++d)
            words.push_back(strides[d] == ir::kDynamic
                                ? buffer(value).strides[d]
                                : builder_.getInt64(static_cast<uint64_t>(strides[d])));
    }
    llvm::Value* memory =
        allocate_local(llvm::ArrayType::get(builder_.getInt64Ty(), std::max<size_t>(words.size(), 1)),
                       llvm::Align(8), "words");
    for (size_t i = 0; i < words.size(); ++i)
        builder_.CreateAlignedStore(words[i], at(memory, i * sizeof(int64_t)), llvm::Align(8));
    llvm::Value* answer =
        builder_.CreateCall(declare_engine_function(module_, instruction.callee), {memory}, "answer");
    llvm::BasicBlock* threw = new_block("engine.threw");
    go_on_if(builder_.CreateICmpNE(answer, builder_.getInt64(static_cast<uint64_t>(kEngineThrew))), threw,
             "answered");
    llvm::BasicBlock* going_on = builder_.GetInsertBlock();
    builder_.SetInsertPoint(threw);
    builder_.CreateCall(declare_engine_threw(module_), {});
    give_back(0);
    return_status(builder_.getInt64(kStopped), {});
    builder_.SetInsertPoint(going_on);
    scalars_[instruction.results[0].index].parts[0] = answer;
}

bool FunctionLowering::is_noted(const Instruction& store) const {
    return notes_writes_ &&
           std::ranges::find(callees_.noted_scopes, kernel_.type(store.operands[0]).buffer.alias_scope) !=
               callees_.noted_scopes.end();
}

void FunctionLowering::note(const Instruction& store) {
    const BufferValue& to = buffer(store.operands[0]);
    llvm::Value* place = address(to, std::span(store.operands).subspan(2, to.strides.size()));
    if (store.predicated) {
        place = builder_.CreateSelect(condition(store.operands[2 + to.strides.size()]), place,
                                      llvm::ConstantPointerNull::get(builder_.getPtrTy()));
    }
    const auto bytes = static_cast<uint64_t>(DType(to.type.element).itemsize());
    stop_unless(builder_.CreateIsNotNull(
        builder_.CreateCall(declare_note_write(module_), {place, builder_.getInt64(bytes)})));
}

// --- instructions ------------------------------------------------------------------------------------

void FunctionLowering::lower(const Instruction& instruction) {
    if (kernel_.is_kernel) return CopyLowering::lower(instruction);
    switch (instruction.opcode) {
        case Opcode::kSpread: return lower_spread(instruction);
        case Opcode::kEngine: return lower_engine(instruction);
        case Opcode::kStore:
            if (is_noted(instruction)) note(instruction);
            return CopyLowering::lower(instruction);
        case Opcode::kFor:  // not as copies, which are more than stores
            return notes_writes_ ? DrawLowering::lower(instruction) : CopyLowering::lower(instruction);
        case Opcode::kHeap: return lower_heap(instruction);
        case Opcode::kTell: return lower_tell(instruction);
        case Opcode::kBarrier:
            return return_if_raised(builder_.CreateCall(declare_meeting(module_, kBlockBarrier, 0), {}));
        case Opcode::kIntrinsic: return lower_intrinsic(instruction);
        case Opcode::kAtomic:  // the threads of a block run one after another
            if (instruction.scope == ir::MemoryScope::kBlock) return lower_in_turn(instruction);
            return CopyLowering::lower(instruction);
        case Opcode::kRetain:
        case Opcode::kRelease: {
            const bool retains = instruction.opcode == Opcode::kRetain;
            builder_.CreateCall(declare_heap_count(module_, retains ? kHeapRetain : kHeapRelease),
                                {index(instruction.operands[0])});
            return;
        }
        default: return CopyLowering::lower(instruction);
    }
}

void FunctionLowering::lower_intrinsic(const Instruction& instruction) {
    const auto number = [&](auto value) { return builder_.getInt64(static_cast<uint64_t>(value)); };
    // As 64 bits, and back.
    const auto to_word = [&](ValueId value) {
        llvm::Value* given = scalar(value).parts[0];
        const unsigned bits = given->getType()->getScalarSizeInBits();
        return builder_.CreateZExt(builder_.CreateBitCast(given, builder_.getIntNTy(bits)),
                                   builder_.getInt64Ty());
    };
    const auto of_word = [&](llvm::Value* word, llvm::Type* type) {
        return builder_.CreateBitCast(
            builder_.CreateTrunc(word, builder_.getIntNTy(type->getScalarSizeInBits())), type);
    };
    const auto meet = [&](const char* function, std::vector<llvm::Value*> words) {
        const auto count = static_cast<unsigned>(words.size());
        llvm::Value* result = allocate_local(builder_.getInt64Ty(), llvm::Align(8), "told");
        words.push_back(result);
        return_if_raised(builder_.CreateCall(declare_meeting(module_, function, count), words, "status"));
        return builder_.CreateLoad(builder_.getInt64Ty(), result);
    };
    const auto vote = [&](BlockVote kind) {
        return meet(kBlockVote, {number(kind), to_word(instruction.operands[0])});
    };
    const auto exchange = [&](WarpExchange kind) {
        std::vector<llvm::Value*> words{number(kind), number(0), number(0), number(0)};
        for (size_t i = 0; i < std::min<size_t>(instruction.operands.size(), 3); ++i)
            words[1 + i] = to_word(instruction.operands[i]);
        return meet(kWarpExchange, words);
    };
    llvm::Value* result = nullptr;
    switch (instruction.intrinsic) {
        case ir::Intrinsic::kBlockCount: result = vote(BlockVote::kCount); break;
        case ir::Intrinsic::kBlockAll: result = vote(BlockVote::kAll); break;
        case ir::Intrinsic::kBlockAny: result = vote(BlockVote::kAny); break;
        case ir::Intrinsic::kWarpBarrier: exchange(WarpExchange::kBarrier); return;
        case ir::Intrinsic::kActiveMask: result = exchange(WarpExchange::kActiveMask); break;
        case ir::Intrinsic::kShuffle:
        case ir::Intrinsic::kShuffleUp:
        case ir::Intrinsic::kShuffleDown:
        case ir::Intrinsic::kShuffleXor: result = exchange(WarpExchange::kShuffle); break;
        case ir::Intrinsic::kBallot: result = exchange(WarpExchange::kBallot); break;
        case ir::Intrinsic::kMatch: result = exchange(WarpExchange::kMatch); break;
        case ir::Intrinsic::kGridBarrier:
            return_if_raised(builder_.CreateCall(declare_meeting(module_, kGridBarrier, 0), {}));
            return;
        case ir::Intrinsic::kFenceBlock:
        case ir::Intrinsic::kFenceDevice:
        case ir::Intrinsic::kFenceSystem:
            builder_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
            return;
        case ir::Intrinsic::kThreadNumber:
        case ir::Intrinsic::kBlockNumber:
        case ir::Intrinsic::kBlockMemory:
        case ir::Intrinsic::kThreadMemory: refuse("what a thread of a GPU asks for");
    }
    const ValueId value = instruction.results[0];
    scalars_[value.index].parts[0] = of_word(result, part_type(kernel_.type(value).scalar));
}

// Without a word about parallel accesses, since threads meet in one place.
void FunctionLowering::lower_in_turn(const Instruction& instruction) {
    const BufferValue& to = buffer(instruction.operands[0]);
    const ScalarType type = to.type.element;
    llvm::Value* pointer = address(to, std::span(instruction.operands).subspan(2));
    llvm::LoadInst* old = builder_.CreateAlignedLoad(part_type(type), pointer, llvm::Align(1));
    const Scalar operands[2] = {{{old, nullptr}}, scalar(instruction.operands[1])};
    const LoopInfo& loop = instruction.op->loops[static_cast<size_t>(instruction.loop)];
    const Scalar next = call(loop, operands, 1)[0];
    llvm::StoreInst* store = builder_.CreateAlignedStore(next.parts[0], pointer, llvm::Align(1));
    set_alias_scope(old, to.type);
    set_alias_scope(store, to.type);
    scalars_[instruction.results[0].index].parts[0] = old;
}

void FunctionLowering::annotate_loop(llvm::BranchInst* back, const Instruction& loop) {
    if (kernel_.is_kernel) return CopyLowering::annotate_loop(back, loop);
    const auto property = [&](const char* name, llvm::Constant* value) -> llvm::Metadata* {
        return llvm::MDNode::get(context_,
                                 {llvm::MDString::get(context_, name), llvm::ConstantAsMetadata::get(value)});
    };
    std::vector<llvm::Metadata*> all{nullptr};
    if (loop.lanes != 1) all.push_back(property(kLanesProperty, builder_.getTrue()));
    if (loop.site != 0 && module_.getModuleFlag(kTellsLoops) != nullptr)
        all.push_back(property(kLoopSite, builder_.getInt32(loop.site)));
    if (all.size() == 1) return;
    llvm::MDNode* properties = llvm::MDNode::getDistinct(context_, all);
    properties->replaceOperandWith(0, properties);  // which makes it another loop's than all others
    back->setMetadata(llvm::LLVMContext::MD_loop, properties);
}

void FunctionLowering::lower_tell(const Instruction& instruction) {
    const std::vector<Scalar> values = values_of(instruction.operands);
    llvm::Value* payload = allocate_local(
        llvm::ArrayType::get(builder_.getInt8Ty(), std::max<uint64_t>(values.size(), 1) * kResultBytes),
        llvm::Align(kResultBytes), "told");
    write(values, payload);
    llvm::Value* ends =
        builder_.CreateCall(declare_tell(module_), {builder_.getInt64(instruction.site), payload}, "ends");
    llvm::BasicBlock* fails = new_block("told.ends");
    go_on_if(builder_.CreateIsNull(ends), fails, "told");
    llvm::BasicBlock* going_on = builder_.GetInsertBlock();
    builder_.SetInsertPoint(fails);
    give_back(0);
    return_status(builder_.getInt64(uint64_t{instruction.site} + 1), {});
    builder_.SetInsertPoint(going_on);
}

void FunctionLowering::lower_heap(const Instruction& instruction) {
    llvm::Value* owner = allocate_local(builder_.getInt64Ty(), llvm::Align(8), "owner");
    const auto& [from, stride, count] = instruction.owners;
    llvm::Value* base = nullptr;
    if (instruction.grows || count > 0) {
        llvm::Value* old = instruction.grows ? index(instruction.operands[1]) : builder_.getInt64(0);
        const auto number = [&](int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); };
        base = builder_.CreateCall(
            declare_heap_grow(module_),
            {index(instruction.operands[0]), owner, old, number(from), number(stride), number(count)},
            "heap");
    } else {
        base = builder_.CreateCall(declare_heap_allocate(module_), {index(instruction.operands[0]), owner},
                                   "heap");
    }
    llvm::BasicBlock* fails = new_block("heap.fails");
    go_on_if(builder_.CreateIsNotNull(base), fails, "heap.holds");
    llvm::BasicBlock* going_on = builder_.GetInsertBlock();
    builder_.SetInsertPoint(fails);
    give_back(0);
    lower_raise(instruction.site, {});
    builder_.SetInsertPoint(going_on);
    scalars_[instruction.results[0].index].parts[0] = builder_.CreateLoad(builder_.getInt64Ty(), owner);
    std::vector<llvm::Value*> strides;
    for (const ValueId stride : std::span(instruction.operands).subspan(instruction.grows ? 2 : 1))
        strides.push_back(index(stride));
    define_buffer(instruction.results[1], base, strides);
}

}  // namespace weft::codegen
