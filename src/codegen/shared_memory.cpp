#include "codegen/shared_memory.h"

#include <llvm/IR/DerivedTypes.h>

#include <cstdlib>
#include <new>
#include <string>

#include "core/log.h"

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
    void* memory = ::operator new(static_cast<size_t>(bytes), kAlignment, std::nothrow);
    if (memory == nullptr) {
        log_line("no memory for " + std::to_string(bytes) + " bytes of a block's shared memory");
        std::abort();
    }
    return memory;
}

void give_shared_memory(void* memory) { ::operator delete(memory, kAlignment); }

}  // namespace weft::codegen
