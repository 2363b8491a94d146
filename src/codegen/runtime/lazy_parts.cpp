#include "codegen/runtime/lazy_parts.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "codegen/runtime/heap.h"
#include "codegen/runtime/spread.h"
#include "core/threads/fork.h"

namespace weft::codegen {

namespace {

// The table of a module, {parts, count, functions}.
llvm::GlobalVariable* table_of(llvm::Module& module, int64_t count) {
    if (llvm::GlobalVariable* found = module.getNamedGlobal(kLazyTable)) return found;
    llvm::LLVMContext& context = module.getContext();
    auto* pointer = llvm::PointerType::get(context, 0);
    auto* functions = llvm::ArrayType::get(pointer, static_cast<uint64_t>(count));
    auto* word = llvm::Type::getInt64Ty(context);
    auto* initial = llvm::ConstantStruct::getAnon({llvm::ConstantPointerNull::get(pointer),
                                                   llvm::ConstantInt::get(word, static_cast<uint64_t>(count)),
                                                   llvm::ConstantAggregateZero::get(functions)});
    auto* table = new llvm::GlobalVariable(module, initial->getType(), /*isConstant=*/false,
                                           llvm::GlobalValue::ExternalLinkage, initial, kLazyTable);
    table->setDSOLocal(true);
    table->setExternallyInitialized(true);
    return table;
}

llvm::Function* declare_lazy_part(llvm::Module& module) {
    if (llvm::Function* found = module.getFunction(kLazyPart)) return found;
    llvm::LLVMContext& context = module.getContext();
    auto* pointer = llvm::PointerType::get(context, 0);
    auto* type = llvm::FunctionType::get(pointer, {pointer, llvm::Type::getInt64Ty(context)}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kLazyPart, module);
    function->setDoesNotThrow();
    function->addFnAttr(llvm::Attribute::Cold);
    return function;
}

}  // namespace

// On a thread of its own: LLVM needs more of the stack than functions that call themselves may leave.
const void* LazyParts::find(size_t number) {
    std::shared_ptr<const CompiledFunction> found;
    std::exception_ptr failure;
    std::thread thread([&] {
        try {
            const ForkExclusion exclusion;  // before the lock, which no fork finds taken
            const std::lock_guard lock(mutex_);
            if (known_.size() <= number) known_.resize(number + 1);
            if (known_[number] == nullptr) {
                const auto begin = std::chrono::steady_clock::now();
                known_[number] = make_(static_cast<int>(number));
                seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            }
            found = known_[number];
        } catch (...) {
            failure = std::current_exception();
        }
    });
    {
        const ForkWindow window;
        thread.join();
    }
    if (failure) std::rethrow_exception(failure);
    return reinterpret_cast<const void*>(found->function);
}

size_t LazyParts::count(size_t from) const {
    const std::lock_guard lock(mutex_);
    size_t count = 0;
    for (size_t i = from; i < known_.size(); ++i) count += known_[i] != nullptr ? 1 : 0;
    return count;
}

double LazyParts::seconds() const {
    const std::lock_guard lock(mutex_);
    return seconds_;
}

const void* lazy_part(LazyTable* table, int64_t number) {
    try {
        const void* found = table->parts->find(static_cast<size_t>(number));
        std::atomic_ref<const void*>(table->functions[number]).store(found, std::memory_order_release);
        return found;
    } catch (...) {  // compiled code has no way for exceptions
        HeapFrame::stop(std::current_exception());
        return nullptr;
    }
}

namespace {

// What a status of the part is here.
llvm::Value* status_here(llvm::IRBuilder<>& builder, llvm::Function& function, llvm::Value* status,
                         std::span<const uint32_t> sites) {
    llvm::LLVMContext& context = builder.getContext();
    llvm::BasicBlock *before = builder.GetInsertBlock(),
                     *raised = llvm::BasicBlock::Create(context, "raised", &function),
                     *here = llvm::BasicBlock::Create(context, "here", &function);
    // Of what is no error of the program's, the number is beyond all.
    llvm::Value* number = builder.CreateSub(status, builder.getInt64(1));
    llvm::Value* is_error = builder.CreateICmpULT(number, builder.getInt64(sites.size()));
    builder.CreateCondBr(is_error, raised, here, llvm::MDBuilder(context).createUnlikelyBranchWeights());
    builder.SetInsertPoint(raised);
    llvm::Constant* numbers =
        llvm::ConstantDataArray::get(context, llvm::ArrayRef<uint32_t>(sites.data(), sites.size()));
    auto* table = new llvm::GlobalVariable(*function.getParent(), numbers->getType(), /*isConstant=*/true,
                                           llvm::GlobalValue::PrivateLinkage, numbers, "sites");
    llvm::Value* site = builder.CreateLoad(builder.getInt32Ty(),
                                           builder.CreateInBoundsGEP(builder.getInt32Ty(), table, {number}));
    llvm::Value* mapped =
        builder.CreateAdd(builder.CreateZExt(site, builder.getInt64Ty()), builder.getInt64(1));
    builder.CreateBr(here);
    builder.SetInsertPoint(here);
    llvm::PHINode* result = builder.CreatePHI(builder.getInt64Ty(), 2);
    result->addIncoming(status, before);
    result->addIncoming(mapped, raised);
    return result;
}

}  // namespace

void define_lazy_call(llvm::Function& function, int64_t number, int64_t count,
                      std::span<const uint32_t> sites) {
    llvm::Module& module = *function.getParent();
    llvm::LLVMContext& context = module.getContext();
    // Not said to be cold: registers were given out worse around calls that are.
    function.addFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(kLazyCall);
    llvm::GlobalVariable* table = table_of(module, count);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", &function));
    const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, &function); };
    llvm::BasicBlock *entry = builder.GetInsertBlock(), *compiles = block("compiles"),
                     *fails = block("fails"), *calls = block("calls");
    llvm::Value* place =
        builder.CreateConstInBoundsGEP1_64(builder.getPtrTy(), table, 2 + static_cast<uint64_t>(number));
    llvm::LoadInst* known = builder.CreateAlignedLoad(builder.getPtrTy(), place, llvm::Align(8));
    known->setAtomic(llvm::AtomicOrdering::Acquire);
    llvm::MDNode* likely = llvm::MDBuilder(context).createLikelyBranchWeights();
    builder.CreateCondBr(builder.CreateIsNotNull(known), calls, compiles, likely);
    builder.SetInsertPoint(compiles);
    llvm::Value* made = builder.CreateCall(declare_lazy_part(module),
                                           {table, builder.getInt64(static_cast<uint64_t>(number))});
    builder.CreateCondBr(builder.CreateIsNotNull(made), calls, fails, likely);
    builder.SetInsertPoint(fails);
    llvm::Type* type = function.getReturnType();
    llvm::Value* status = builder.getInt64(kStopped);
    builder.CreateRet(type->isStructTy()
                          ? builder.CreateInsertValue(llvm::Constant::getNullValue(type), status, 0)
                          : status);
    builder.SetInsertPoint(calls);
    llvm::PHINode* code = builder.CreatePHI(builder.getPtrTy(), 2);
    code->addIncoming(known, entry);
    code->addIncoming(made, compiles);
    std::vector<llvm::Value*> arguments;
    for (llvm::Argument& argument : function.args()) arguments.push_back(&argument);
    llvm::CallInst* call = builder.CreateCall(function.getFunctionType(), code, arguments);
    call->setDoesNotThrow();
    if (sites.empty()) {
        builder.CreateRet(call);
    } else if (!type->isStructTy()) {
        builder.CreateRet(status_here(builder, function, call, sites));
    } else {
        llvm::Value* here = status_here(builder, function, builder.CreateExtractValue(call, 0), sites);
        builder.CreateRet(builder.CreateInsertValue(call, here, 0));
    }
}

}  // namespace weft::codegen
