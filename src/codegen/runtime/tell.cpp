#include "codegen/runtime/tell.h"

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace weft::codegen {

namespace {

thread_local const ListenerScope* current_scope = nullptr;

}  // namespace

ListenerScope::ListenerScope(Listener listener, void* context)
    : listener_(listener), context_(context), outer_(current_scope) {
    current_scope = this;
}

ListenerScope::~ListenerScope() { current_scope = outer_; }

const ListenerScope* ListenerScope::current() { return current_scope; }

int64_t tell(int64_t site, const char* payload) {
    const ListenerScope* const scope = current_scope;
    if (scope == nullptr) return 0;
    return scope->listener()(scope->context(), static_cast<uint32_t>(site), payload) ? 0 : 1;
}

// Not declared without effects on memory: Python's code may do anything meanwhile.
llvm::Function* declare_tell(llvm::Module& module) {
    if (llvm::Function* found = module.getFunction(kTell)) return found;
    llvm::LLVMContext& context = module.getContext();
    llvm::Type* word = llvm::Type::getInt64Ty(context);
    auto* type = llvm::FunctionType::get(word, {word, llvm::PointerType::get(context, 0)}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kTell, module);
    function->setDoesNotThrow();
    function->addParamAttr(1, llvm::Attribute::NoCapture);
    return function;
}

}  // namespace weft::codegen
