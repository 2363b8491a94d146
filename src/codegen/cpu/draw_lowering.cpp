#include "codegen/cpu/draw_lowering.h"

#include <algorithm>
#include <span>

#include "codegen/runtime/draw_words.h"
#include "ops/op.h"

namespace weft::codegen {

using ir::Instruction;
using ir::Region;
using ir::ValueId;

namespace {

llvm::Function* declare_draw_words(llvm::Module& module, const char* name) {
    if (llvm::Function* declared = module.getFunction(name)) return declared;
    llvm::LLVMContext& context = module.getContext();
    llvm::Type* pointer = llvm::PointerType::getUnqual(context);
    llvm::Type* integer = llvm::Type::getInt64Ty(context);
    auto* type =
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, integer, integer, pointer}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
    function->setDoesNotThrow();
    function->setWillReturn();
    function->setOnlyAccessesArgMemory();
    for (const unsigned k : {0U, 3U}) {
        function->addParamAttr(k, llvm::Attribute::NoCapture);
        function->addParamAttr(k, llvm::Attribute::NoAlias);
    }
    function->addParamAttr(0, llvm::Attribute::WriteOnly);
    function->addParamAttr(3, llvm::Attribute::ReadOnly);
    return function;
}

}  // namespace

void DrawLowering::find_draws(const Region& region, ValueId along) {
    along_ = along;
    body_ = DrawingBody(region, along);
    draws_.clear();
    for (const auto& [instruction, op] : body_.draws()) {
        constexpr auto kCapacity =
            static_cast<uint64_t>(kDrawnTogether + 1);  // halves may begin within a word
        const auto memory = [&](uint64_t words, const char* name) {
            return allocate_local(llvm::ArrayType::get(builder_.getInt64Ty(), words), llvm::Align(64), name);
        };
        Draw draw{op};
        draw.words = memory(kCapacity, "drawn");
        draw.origin = memory(instruction->operands.size() - 1, "origin");
        draws_.emplace_back(instruction, draw);
    }
}

llvm::Value* DrawLowering::before_loop(ValueId value) {
    if (const Instruction* instruction = body_.definition(value)) {
        for (const ValueId operand : instruction->operands) before_loop(operand);
        CallLowering::lower(*instruction);
    }
    return scalar(value).parts[0];
}

llvm::Value* DrawLowering::at_begin(ValueId value, llvm::Value* begin) {
    if (value == along_) return begin;
    if (body_.steps_of(value) == 0) return before_loop(value);
    const Instruction& sum = *body_.definition(value);
    llvm::Value* left = at_begin(sum.operands[0], begin);
    return builder_.CreateAdd(left, at_begin(sum.operands[1], begin));
}

void DrawLowering::begin_drawn_piece(llvm::Value* begin, llvm::Value* end, llvm::MDNode* group) {
    begin_ = begin;
    group_ = group;
    for (auto& [instruction, draw] : draws_) {
        llvm::Value* position = at_begin(instruction->operands[0], begin);
        for (size_t k = 1; k < instruction->operands.size(); ++k) before_loop(instruction->operands[k]);
        llvm::Value* count = builder_.CreateNSWSub(end, begin);
        llvm::Value* inside = builder_.getInt64(0);  // the first word, which half of it
        if (draw.op.halves) {
            inside = builder_.CreateAnd(position, 1);
            count = builder_.CreateLShr(
                builder_.CreateAdd(builder_.CreateAdd(count, inside), builder_.getInt64(1)), 1);
            position = builder_.CreateLShr(position, 1);
        }
        fill(*instruction, draw, position, count);
        draw.first = builder_.CreateInBoundsGEP(
            draw.op.halves ? builder_.getInt32Ty() : builder_.getInt64Ty(), draw.words, {inside});
    }
}

void DrawLowering::lower(const Instruction& instruction) {
    const auto found = std::find_if(draws_.begin(), draws_.end(),
                                    [&](const auto& draw) { return draw.first == &instruction; });
    if (found == draws_.end()) {
        CallLowering::lower(instruction);
        return;
    }
    llvm::Type* type = found->second.op.halves ? builder_.getInt32Ty() : builder_.getInt64Ty();
    llvm::Value* place = builder_.CreateNSWSub(index(along_), begin_);
    llvm::LoadInst* word =
        builder_.CreateAlignedLoad(type, builder_.CreateInBoundsGEP(type, found->second.first, {place}),
                                   llvm::Align(static_cast<uint64_t>(type->getIntegerBitWidth() / 8)));
    word->setMetadata(llvm::LLVMContext::MD_access_group, group_);
    scalars_[instruction.results[0].index].parts[0] = word;
}

void DrawLowering::fill(const Instruction& draw, const Draw& to, llvm::Value* first, llvm::Value* count) {
    const std::vector<Scalar> words = values_of(std::span(draw.operands).subspan(1));
    for (size_t k = 0; k < words.size(); ++k) {
        builder_.CreateAlignedStore(
            words[k].parts[0],
            builder_.CreateConstInBoundsGEP2_64(to.origin->getAllocatedType(), to.origin, 0, k),
            llvm::Align(8));
    }
    builder_.CreateCall(declare_draw_words(module_, draw_words_name(draw.op->id)),
                        {to.words, count, first, to.origin});
}

}  // namespace weft::codegen
