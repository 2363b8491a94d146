#include "codegen/llvm/transposition.h"

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

// What processors shuffle without a table of places: halves of 16 bytes among themselves.
constexpr int64_t kLaneBytes = 16;

// Takes elements of two rows; those of the second are counted after the first's.
class RowShuffle {
public:
    RowShuffle(llvm::IRBuilder<>& builder, int64_t parts) : builder_(builder), parts_(parts) {}

    void take(size_t element) {
        for (int64_t part = 0; part < parts_; ++part)
            places_.push_back(static_cast<int>(static_cast<int64_t>(element) * parts_ + part));
    }
    llvm::Value* of(llvm::Value* first, llvm::Value* second) const {
        return builder_.CreateShuffleVector(first, second, places_);
    }

private:
    llvm::IRBuilder<>& builder_;
    int64_t parts_;
    std::vector<int> places_;
};

// A square block: what is off the diagonal by `distance` changes places.
void exchange(llvm::IRBuilder<>& builder, std::vector<llvm::Value*>& rows, size_t distance, int64_t parts) {
    const size_t size = rows.size();
    RowShuffle low(builder, parts), high(builder, parts);
    for (size_t k = 0; k < size; ++k) {
        const bool second = (k & distance) != 0;
        low.take(second ? size + k - distance : k);
        high.take(second ? size + k : k + distance);
    }
    for (size_t k = 0; k < size; ++k) {
        if ((k & distance) != 0) continue;
        llvm::Value* first = rows[k];
        llvm::Value* second = rows[k + distance];
        rows[k] = low.of(first, second);
        rows[k + distance] = high.of(first, second);
    }
}

// Transposes the squares of `lane` elements side by side, in each group of as many rows. Each iteration puts
// elements of a row and of the one half a group further next to one another; when all rows have met, they are
// columns.
void transpose_lanes(llvm::IRBuilder<>& builder, std::vector<llvm::Value*>& rows, size_t lane,
                     int64_t parts) {
    const size_t size = rows.size();
    RowShuffle low(builder, parts), high(builder, parts);
    for (size_t begin = 0; begin < size; begin += lane) {
        for (size_t k = begin; k < begin + lane / 2; ++k) {
            low.take(k);
            low.take(size + k);
            high.take(k + lane / 2);
            high.take(size + k + lane / 2);
        }
    }
    for (size_t iteration = 1; iteration < lane; iteration *= 2) {
        const std::vector<llvm::Value*> before = rows;
        for (size_t begin = 0; begin < size; begin += lane) {
            for (size_t k = 0; k < lane / 2; ++k) {
                llvm::Value* first = before[begin + k];
                llvm::Value* second = before[begin + k + lane / 2];
                rows[begin + 2 * k] = low.of(first, second);
                rows[begin + 2 * k + 1] = high.of(first, second);
            }
        }
    }
}

void expand(llvm::IRBuilder<>& builder, const Transposition& block, llvm::Value* from, llvm::Value* to) {
    const int64_t size = std::min(block.rows, block.columns);
    auto* type = llvm::FixedVectorType::get(block.part, static_cast<unsigned>(size * block.parts));
    const auto at = [&](llvm::Value* base, int64_t element) {
        return builder.CreateConstInBoundsGEP1_64(block.part, base,
                                                  static_cast<uint64_t>(element * block.parts));
    };
    const int64_t bytes =
        block.parts * static_cast<int64_t>(block.part->getPrimitiveSizeInBits().getFixedValue()) / 8;
    const auto lane = static_cast<size_t>(std::clamp<int64_t>(kLaneBytes / bytes, 1, size));
    std::vector<llvm::Value*> rows(static_cast<size_t>(size));
    for (int64_t row = 0; row < block.rows; row += size) {
        for (int64_t column = 0; column < block.columns; column += size) {
            for (int64_t k = 0; k < size; ++k)
                rows[static_cast<size_t>(k)] = builder.CreateAlignedLoad(
                    type, at(from, (row + k) * block.from_stride + column), llvm::Align(1));
            for (auto distance = static_cast<size_t>(size) / 2; distance >= lane; distance /= 2)
                exchange(builder, rows, distance, block.parts);
            transpose_lanes(builder, rows, lane, block.parts);
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
