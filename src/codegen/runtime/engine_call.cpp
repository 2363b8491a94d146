#include "codegen/runtime/engine_call.h"

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "codegen/runtime/heap.h"
#include "ops/engine_function.h"

namespace weft::codegen {

namespace {

constexpr std::string_view kPrefix = "weft_engine.";

llvm::Function* declare(llvm::Module& module, const std::string& name, llvm::FunctionType* type) {
    if (llvm::Function* found = module.getFunction(name)) return found;
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
    function->setDoesNotThrow();
    return function;
}

}  // namespace

void engine_threw() { HeapFrame::stop(take_engine_failure()); }

void* find_engine_symbol(std::string_view symbol) {
    if (!symbol.starts_with(kPrefix)) return nullptr;
    const EngineFunction* function = find_engine_function(symbol.substr(kPrefix.size()));
    return function == nullptr ? nullptr : reinterpret_cast<void*>(function->call);
}

// LLVM knows nothing about what it reads and writes.
llvm::Function* declare_engine_function(llvm::Module& module, const std::string& name) {
    llvm::LLVMContext& context = module.getContext();
    auto* type =
        llvm::FunctionType::get(llvm::Type::getInt64Ty(context), {llvm::PointerType::get(context, 0)}, false);
    return declare(module, std::string(kPrefix) + name, type);
}

llvm::Function* declare_engine_threw(llvm::Module& module) {
    return declare(module, kEngineThrewCall,
                   llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), false));
}

}  // namespace weft::codegen
