#include "codegen/llvm/fast_math.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace weft::codegen {

namespace {

constexpr std::array<std::string_view, 4> kContracted{"weft_add_", "weft_subtract_", "weft_multiply_",
                                                      "weft_square_"};
constexpr std::array<std::string_view, 3> kApproximated{"weft_divide_", "weft_reciprocal_", "weft_sqrt_"};
constexpr std::string_view kExponential = "weft_exp_f32_to_f32";

template <size_t count>
bool is_one_of(std::string_view name, const std::array<std::string_view, count>& prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_sum_or_product(const llvm::Instruction& instruction) {
    switch (instruction.getOpcode()) {
        case llvm::Instruction::FAdd:
        case llvm::Instruction::FSub:
        case llvm::Instruction::FMul: return true;
        default: return false;
    }
}

void contract(llvm::Function& function) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
        if (is_sum_or_product(instruction)) instruction.setHasAllowContract(true);
    }
}

// Division and square root of float32; those of float64 have no approximation.
void approximate(llvm::Function& function) {
    llvm::Type* const real = llvm::Type::getFloatTy(function.getContext());
    std::vector<llvm::Instruction*> replaced;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
        if (instruction.getType() != real) continue;
        const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
        const bool root = call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::sqrt;
        if (root || instruction.getOpcode() == llvm::Instruction::FDiv) replaced.push_back(&instruction);
    }
    for (llvm::Instruction* instruction : replaced) {
        llvm::IRBuilder<> builder(instruction);
        llvm::Value* const first = instruction->getOperand(0);
        llvm::Value* const value =
            llvm::isa<llvm::CallBase>(instruction)
                ? builder.CreateIntrinsic(llvm::Intrinsic::nvvm_sqrt_approx_f, {}, {first})
                : builder.CreateIntrinsic(llvm::Intrinsic::nvvm_div_approx_f, {},
                                          {first, instruction->getOperand(1)});
        instruction->replaceAllUsesWith(value);
        instruction->eraseFromParent();
    }
}

// exp(x) as 2 to the power of x * log2(e).
void approximate_exponential(llvm::Function& function) {
    const auto linkage = function.getLinkage();
    function.deleteBody();
    function.setLinkage(linkage);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(function.getContext(), "", &function));
    llvm::Type* const real = builder.getFloatTy();
    llvm::Value* const x = builder.CreateLoad(real, function.getArg(0));
    llvm::Value* const scaled = builder.CreateFMul(x, llvm::ConstantFP::get(real, 1.4426950408889634));
    llvm::Value* const power = builder.CreateIntrinsic(llvm::Intrinsic::nvvm_ex2_approx_f, {}, {scaled});
    builder.CreateStore(power, function.getArg(1));
    builder.CreateRetVoid();
}

}  // namespace

void allow_reordering(llvm::Instruction& instruction) {
    if (!is_sum_or_product(instruction)) return;
    instruction.setHasAllowContract(true);
    instruction.setHasAllowReassoc(true);
    instruction.setHasNoSignedZeros(true);
}

void approximate_functions(llvm::Module& module) {
    constexpr double kLog2 = 0.6931471805599453;
    using llvm::Intrinsic::ID;
    struct Approximation {
        const char* operation;
        ID instruction;
        double factor;
    };
    const Approximation approximations[] = {
        {"weft_sin_f32_to_f32", llvm::Intrinsic::nvvm_sin_approx_f, 1},
        {"weft_cos_f32_to_f32", llvm::Intrinsic::nvvm_cos_approx_f, 1},
        {"weft_log_f32_to_f32", llvm::Intrinsic::nvvm_lg2_approx_f, kLog2},
        {"weft_log2_f32_to_f32", llvm::Intrinsic::nvvm_lg2_approx_f, 1},
        {"weft_exp2_f32_to_f32", llvm::Intrinsic::nvvm_ex2_approx_f, 1},
    };
    for (const Approximation& each : approximations) {
        llvm::Function* const function = module.getFunction(each.operation);
        if (function == nullptr || function->isDeclaration()) continue;
        const auto linkage = function->getLinkage();
        function->deleteBody();
        function->setLinkage(linkage);
        llvm::IRBuilder<> builder(llvm::BasicBlock::Create(function->getContext(), "", function));
        llvm::Type* const real = builder.getFloatTy();
        llvm::Value* value =
            builder.CreateIntrinsic(each.instruction, {}, {builder.CreateLoad(real, function->getArg(0))});
        if (each.factor != 1) value = builder.CreateFMul(value, llvm::ConstantFP::get(real, each.factor));
        builder.CreateStore(value, function->getArg(1));
        builder.CreateRetVoid();
    }
}

void allow_fast_math(llvm::Module& module, BitcodeTarget target) {
    for (llvm::Function& function : module) {
        if (function.isDeclaration()) continue;
        const std::string_view name(function.getName().data(), function.getName().size());
        if (is_one_of(name, kContracted)) contract(function);
        if (target != BitcodeTarget::kPtx) continue;
        if (is_one_of(name, kApproximated)) approximate(function);
        if (name == kExponential) approximate_exponential(function);
    }
}

}  // namespace weft::codegen
