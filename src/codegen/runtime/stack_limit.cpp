#include "codegen/runtime/stack_limit.h"

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>
#include <pthread.h>

#include <algorithm>

namespace weft::codegen {

namespace {

constexpr int64_t kReserve = 256 << 10;
constexpr int64_t kDeepest = 64 << 20;    // of a stack without limit
constexpr int64_t kElsewhere = 96 << 10;  // on a stack that is not the thread's: of a fiber

struct Stack {
    int64_t low = 0, high = 0;
};

Stack stack_of_thread() {
    Stack stack;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
    void* low = nullptr;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
        stack.low = reinterpret_cast<int64_t>(low);
        stack.high = stack.low + static_cast<int64_t>(size);
    }
    pthread_attr_destroy(&attributes);
    return stack;
}

}  // namespace

int64_t stack_limit() {
    thread_local const Stack stack = stack_of_thread();
    const auto here = reinterpret_cast<int64_t>(__builtin_frame_address(0));
    if (here < stack.low || here >= stack.high) return here - kElsewhere;
    return std::max(stack.low + std::min(kReserve, (stack.high - stack.low) / 4), here - kDeepest);
}

llvm::Function* declare_stack_limit(llvm::Module& module) {
    if (llvm::Function* found = module.getFunction(kStackLimit)) return found;
    auto* type = llvm::FunctionType::get(llvm::Type::getInt64Ty(module.getContext()), {}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kStackLimit, module);
    function->setDoesNotThrow();
    return function;
}

}  // namespace weft::codegen
