#include "codegen/transposition.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace weft::codegen {

namespace {

constexpr int64_t kMostRows = 16;
constexpr const char* kName = "weft_transpose_";

// void (from, to, parts, rows, columns, from stride, to stride, any value of the type of parts).
constexpr unsigned kOperands = 8;

// A square block whose rows are in `rows`: what is off the diagonal by `distance` changes places.
void exchange(llvm::IRBuilder<>& builder, std::vector<llvm::Value*>& rows, size_t distance, int64_t parts) {
    const size_t size = rows.size();
    std::vector<int> low, high;
    for (size_t k = 0; k < size; ++k) {
        const bool second = (k & distance) != 0;
        for (int64_t part = 0; part < parts; ++part) {
            const auto place = [&](size_t element) {
                return static_cast<int>(element) * static_cast<int>(parts) + static_cast<int>(part);
            };
            low.push_back(place(second ? size + k - distance : k));
            high.push_back(place(second ? size + k : k + distance));
        }
    }
    for (size_t k = 0; k < size; ++k) {
        if ((k & distance) != 0) continue;
        llvm::Value* first = rows[k];
        llvm::Value* second = rows[k + distance];
        rows[k] = builder.CreateShuffleVector(first, second, low);
        rows[k + distance] = builder.CreateShuffleVector(first, second, high);
    }
}

void expand(llvm::IRBuilder<>& builder, const Transposition& block, llvm::Value* from, llvm::Value* to) {
    const int64_t size = std::min(block.rows, block.columns);
    auto* type = llvm::FixedVectorType::get(block.part, static_cast<unsigned>(size * block.parts));
    const auto at = [&](llvm::Value* base, int64_t element) {
        return builder.CreateConstInBoundsGEP1_64(block.part, base,
                                                  static_cast<uint64_t>(element * block.parts));
    };
    std::vector<llvm::Value*> rows(static_cast<size_t>(size));
    for (int64_t row = 0; row < block.rows; row += size) {
        for (int64_t column = 0; column < block.columns; column += size) {
            for (int64_t k = 0; k < size; ++k)
                rows[static_cast<size_t>(k)] = builder.CreateAlignedLoad(
                    type, at(from, (row + k) * block.from_stride + column), llvm::Align(1));
            for (size_t distance = static_cast<size_t>(size) / 2; distance > 0; distance /= 2)
                exchange(builder, rows, distance, block.parts);
            for (int64_t k = 0; k < size; ++k)
                builder.CreateAlignedStore(rows[static_cast<size_t>(k)],
                                           at(to, (column + k) * block.to_stride + row), llvm::Align(1));
        }
    }
}

}  // namespace

bool is_transposed_by_shuffles(int64_t size) {
    return size >= 2 && size <= kMostRows && std::has_single_bit(static_cast<uint64_t>(size));
}

void call_transpose(llvm::IRBuilder<>& builder, const Transposition& block, llvm::Value* from,
                    llvm::Value* to) {
    llvm::Module& module = *builder.GetInsertBlock()->getModule();
    const std::string name = kName + std::string(block.part->isIntegerTy() ? "i" : "f") +
                             std::to_string(block.part->getPrimitiveSizeInBits().getFixedValue());
    llvm::Function* function = module.getFunction(name);
    if (function == nullptr) {
        llvm::Type* pointer = builder.getPtrTy();
        std::vector<llvm::Type*> types(kOperands, builder.getInt64Ty());
        types[0] = types[1] = pointer;
        types.back() = block.part;
        function = llvm::Function::Create(llvm::FunctionType::get(builder.getVoidTy(), types, false),
                                          llvm::GlobalValue::ExternalLinkage, name, module);
        function->setDoesNotThrow();
        function->setWillReturn();
        function->setOnlyAccessesArgMemory();
        for (unsigned k = 0; k < 2; ++k) function->addParamAttr(k, llvm::Attribute::NoCapture);
    }
    std::vector<llvm::Value*> operands = {from, to};
    for (const int64_t number : {block.parts, block.rows, block.columns, block.from_stride, block.to_stride})
        operands.push_back(builder.getInt64(static_cast<uint64_t>(number)));
    operands.push_back(llvm::PoisonValue::get(block.part));
    builder.CreateCall(function, operands);
}

llvm::PreservedAnalyses TransposePass::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    std::vector<llvm::CallInst*> calls;
    for (llvm::BasicBlock& block : function) {
        for (llvm::Instruction& instruction : block) {
            auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
            if (call != nullptr && call->getCalledFunction() != nullptr &&
                call->getCalledFunction()->getName().starts_with(kName))
                calls.push_back(call);
        }
    }
    for (llvm::CallInst* call : calls) {
        const auto number = [&](unsigned k) {
            return llvm::cast<llvm::ConstantInt>(call->getArgOperand(k))->getSExtValue();
        };
        Transposition block;
        block.part = call->getArgOperand(kOperands - 1)->getType();
        block.parts = number(2);
        block.rows = number(3);
        block.columns = number(4);
        block.from_stride = number(5);
        block.to_stride = number(6);
        llvm::IRBuilder<> builder(call);
        expand(builder, block, call->getArgOperand(0), call->getArgOperand(1));
        call->eraseFromParent();
    }
    if (calls.empty()) return llvm::PreservedAnalyses::all();
    llvm::PreservedAnalyses preserved;
    preserved.preserveSet<llvm::CFGAnalyses>();
    return preserved;
}

}  // namespace weft::codegen
