#include "codegen/runtime/shared_memory.h"

#include <llvm/IR/DerivedTypes.h>

#include <chrono>
#include <new>
#include <thread>

#include "core/memory/allocation_failure.h"

namespace weft::codegen {

namespace {

constexpr std::align_val_t kAlignment{64};

llvm::Function* declare(llvm::Module& module, const char* name, llvm::Type* result, llvm::Type* argument) {
    if (llvm::Function* found = module.getFunction(name)) return found;
    auto* type = llvm::FunctionType::get(result, {argument}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
    function->setDoesNotThrow();
    return function;
}

}  // namespace

llvm::Function* declare_take_shared_memory(llvm::Module& module) {
    llvm::LLVMContext& context = module.getContext();
    llvm::Function* function = declare(module, kTakeSharedMemory, llvm::PointerType::get(context, 0),
                                       llvm::Type::getInt64Ty(context));
    function->setReturnDoesNotAlias();
    function->setOnlyAccessesInaccessibleMemory();
    return function;
}

llvm::Function* declare_give_shared_memory(llvm::Module& module) {
    llvm::LLVMContext& context = module.getContext();
    llvm::Function* function = declare(module, kGiveSharedMemory, llvm::Type::getVoidTy(context),
                                       llvm::PointerType::get(context, 0));
    function->addParamAttr(0, llvm::Attribute::NoCapture);
    function->setOnlyAccessesInaccessibleMemOrArgMem();
    return function;
}

void* take_shared_memory(int64_t bytes) {
    // A kernel has begun and has to come to its end: where nothing is left, threads take turns with the
    // reserve.
    const LastResort last_resort;
    for (;;) {
        if (void* memory = ::operator new(static_cast<size_t>(bytes), kAlignment, std::nothrow))
            return memory;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void give_shared_memory(void* memory) { ::operator delete(memory, kAlignment); }

}  // namespace weft::codegen
