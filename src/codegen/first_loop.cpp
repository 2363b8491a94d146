#include "codegen/first_loop.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>
#include <stdexcept>
#include <utility>

namespace weft::codegen {
namespace {

using Kernel = void (*)(const double*, const double*, double*, std::int64_t);

template <class T>
T take(llvm::Expected<T> expected) {
    if (!expected) throw std::runtime_error("internal error: " + llvm::toString(expected.takeError()));
    return std::move(*expected);
}

llvm::orc::ThreadSafeModule build_module() {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>("first_loop", *context);
    llvm::IRBuilder<> builder(*context);
    auto* pointer = builder.getPtrTy();
    auto* index = builder.getInt64Ty();
    auto* element = builder.getDoubleTy();
    auto* type = llvm::FunctionType::get(builder.getVoidTy(), {pointer, pointer, pointer, index}, false);
    auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "first_loop", *module);
    auto* entry = llvm::BasicBlock::Create(*context, "entry", function);
    auto* body = llvm::BasicBlock::Create(*context, "body", function);
    auto* exit = llvm::BasicBlock::Create(*context, "exit", function);

    builder.SetInsertPoint(entry);
    auto* length = function->getArg(3);
    builder.CreateCondBr(builder.CreateICmpSGT(length, builder.getInt64(0)), body, exit);

    builder.SetInsertPoint(body);
    auto* i = builder.CreatePHI(index, 2, "i");
    i->addIncoming(builder.getInt64(0), entry);
    auto address = [&](unsigned argument) {
        return builder.CreateGEP(element, function->getArg(argument), i);
    };
    auto* a = builder.CreateLoad(element, address(0), "a");
    auto* b = builder.CreateLoad(element, address(1), "b");
    auto* doubled = builder.CreateFMul(llvm::ConstantFP::get(element, 2.0), a);
    builder.CreateStore(builder.CreateFAdd(doubled, b), address(2));
    auto* next = builder.CreateAdd(i, builder.getInt64(1));
    i->addIncoming(next, body);
    builder.CreateCondBr(builder.CreateICmpSLT(next, length), body, exit);

    builder.SetInsertPoint(exit);
    builder.CreateRetVoid();
    if (llvm::verifyModule(*module)) throw std::runtime_error("internal error: malformed IR");
    return {std::move(module), std::move(context)};
}

}  // namespace

void run_first_loop(std::span<const double> a, std::span<const double> b, std::span<double> out) {
    static std::once_flag initialised;
    std::call_once(initialised, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
    });
    auto jit = take(llvm::orc::LLJITBuilder().create());
    if (auto error = jit->addIRModule(build_module()))
        throw std::runtime_error("internal error: " + llvm::toString(std::move(error)));
    auto kernel = take(jit->lookup("first_loop")).toPtr<Kernel>();
    kernel(a.data(), b.data(), out.data(), static_cast<std::int64_t>(out.size()));
}

}  // namespace weft::codegen
