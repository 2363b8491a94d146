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

size_t LazyParts::count() const {
    const std::lock_guard lock(mutex_);
    size_t count = 0;
    for (const auto& part : known_) count += part != nullptr ? 1 : 0;
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

void define_lazy_call(llvm::Function& function, int64_t number, int64_t count) {
    llvm::Module& module = *function.getParent();
    llvm::LLVMContext& context = module.getContext();
    // Not said to be cold: registers were given out worse around calls that are.
    function.addFnAttr(llvm::Attribute::NoInline);
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
    builder.CreateRet(call);
}

}  // namespace weft::codegen
