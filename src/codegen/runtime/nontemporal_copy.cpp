#include "codegen/runtime/nontemporal_copy.h"

#include <llvm/IR/IRBuilder.h>

namespace weft::codegen {

namespace {

constexpr const char* kName = "weft_copy_lines";

}  // namespace

llvm::Function* declare_copy_lines(llvm::Module& module) {
    if (llvm::Function* found = module.getFunction(kName)) return found;
    llvm::LLVMContext& context = module.getContext();
    llvm::Type* pointer = llvm::PointerType::getUnqual(context);
    llvm::Type* integer = llvm::Type::getInt64Ty(context);
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer, integer}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kName, module);
    function->setDoesNotThrow();
    function->setWillReturn();
    function->setOnlyAccessesArgMemory();
    for (unsigned k = 0; k < 2; ++k) {
        function->addParamAttr(k, llvm::Attribute::NoCapture);
        function->addParamAttr(k, llvm::Attribute::NoAlias);
    }
    function->addParamAttr(0, llvm::Attribute::WriteOnly);
    function->addParamAttr(1, llvm::Attribute::ReadOnly);
    return function;
}

llvm::Function* define_copy_lines(llvm::Module& module) {
    llvm::Function* function = module.getFunction(kName);
    if (function == nullptr) return nullptr;
    function->setLinkage(llvm::GlobalValue::InternalLinkage);
    llvm::LLVMContext& context = module.getContext();
    llvm::IRBuilder<> builder(context);
    llvm::Value* to = function->getArg(0);
    llvm::Value* from = function->getArg(1);
    llvm::Value* bytes = function->getArg(2);
    const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, function); };
    const auto at = [&](llvm::Value* base, llvm::Value* offset) {
        return builder.CreateInBoundsGEP(builder.getInt8Ty(), base, {offset});
    };
    const auto copy_some = [&](llvm::Value* offset, llvm::Value* count) {
        llvm::BasicBlock* some = block("some");
        llvm::BasicBlock* none = block("none");
        builder.CreateCondBr(builder.CreateICmpNE(count, builder.getInt64(0)), some, none);
        builder.SetInsertPoint(some);
        builder.CreateMemCpy(at(to, offset), llvm::Align(1), at(from, offset), llvm::Align(1), count);
        builder.CreateBr(none);
        builder.SetInsertPoint(none);
    };

    builder.SetInsertPoint(block("entry"));
    llvm::Value* to_line = builder.CreateAnd(
        builder.CreateNeg(builder.CreatePtrToInt(to, builder.getInt64Ty())), kLineBytes - 1);
    llvm::Value* head = builder.CreateSelect(builder.CreateICmpULT(to_line, bytes), to_line, bytes, "head");
    llvm::Value* tail = builder.CreateAnd(builder.CreateSub(bytes, head), kLineBytes - 1, "tail");
    llvm::Value* stop = builder.CreateSub(bytes, tail, "stop");
    copy_some(builder.getInt64(0), head);
    llvm::BasicBlock* before = builder.GetInsertBlock();
    llvm::BasicBlock* lines = block("lines");
    llvm::BasicBlock* after = block("lines.end");
    builder.CreateCondBr(builder.CreateICmpULT(head, stop), lines, after);
    builder.SetInsertPoint(lines);
    llvm::PHINode* offset = builder.CreatePHI(builder.getInt64Ty(), 2, "offset");
    offset->addIncoming(head, before);
    auto* line = llvm::FixedVectorType::get(builder.getInt64Ty(), kLineBytes / 8);
    llvm::Value* value = builder.CreateAlignedLoad(line, at(from, offset), llvm::Align(1));
    llvm::StoreInst* store = builder.CreateAlignedStore(value, at(to, offset), llvm::Align(kLineBytes));
    store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                       llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(builder.getInt32(1))));
    llvm::Value* next = builder.CreateAdd(offset, builder.getInt64(kLineBytes));
    offset->addIncoming(next, lines);
    builder.CreateCondBr(builder.CreateICmpULT(next, stop), lines, after);
    builder.SetInsertPoint(after);
    copy_some(stop, tail);
    builder.CreateRetVoid();
    return function;
}

}  // namespace weft::codegen
