#include "codegen/cpu/strided_loop.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace weft::codegen {

namespace {

class LoopLowering {
public:
    LoopLowering(llvm::Module& module, std::span<const int64_t> itemsizes)
        : itemsizes_(itemsizes), builder_(module.getContext()) {
        llvm::Type* const pointer = builder_.getPtrTy();
        auto* const type =
            llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, builder_.getInt64Ty()}, false);
        loop_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "strided_loop", module);
        builder_.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", loop_));
    }

    llvm::Function* run(llvm::Function& contiguous, llvm::Function& strided) {
        llvm::Type* const word = builder_.getInt64Ty();
        words_ = builder_.CreateAlloca(word, builder_.getInt32(1 + 2 * count()), "words");
        llvm::Value* const lower = builder_.CreateAlloca(word, nullptr, "lower");
        llvm::Value* const upper = builder_.CreateAlloca(word, nullptr, "upper");
        builder_.CreateStore(builder_.getInt64(0), lower);
        builder_.CreateStore(loop_->getArg(2), upper);
        llvm::Value* is_contiguous = builder_.getTrue();
        std::vector<llvm::Value*> bases, strides;
        for (unsigned k = 0; k < count(); ++k) {
            bases.push_back(element(loop_->getArg(0), k));
            strides.push_back(element(loop_->getArg(1), k));
            llvm::Value* const size = builder_.getInt64(static_cast<uint64_t>(itemsizes_[k]));
            is_contiguous = builder_.CreateAnd(is_contiguous, builder_.CreateICmpEQ(strides.back(), size));
        }
        auto* const along = llvm::BasicBlock::Create(builder_.getContext(), "contiguous", loop_);
        auto* const apart = llvm::BasicBlock::Create(builder_.getContext(), "strided", loop_);
        builder_.CreateCondBr(is_contiguous, along, apart);
        builder_.SetInsertPoint(along);
        call(contiguous, bases, {}, lower, upper);
        builder_.SetInsertPoint(apart);
        call(strided, bases, strides, lower, upper);
        return loop_;
    }

private:
    unsigned count() const { return static_cast<unsigned>(itemsizes_.size()); }

    llvm::Value* element(llvm::Value* words, unsigned k) {
        llvm::Type* const word = builder_.getInt64Ty();
        return builder_.CreateLoad(word, builder_.CreateConstInBoundsGEP1_64(word, words, k));
    }

    void put(llvm::Value* value, unsigned k) {
        builder_.CreateStore(value, builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), words_, k));
    }

    // With the words of a launch (device/kernel.h): the size of the grid, then each buffer.
    void call(llvm::Function& kernel, std::span<llvm::Value* const> bases,
              std::span<llvm::Value* const> strides, llvm::Value* lower, llvm::Value* upper) {
        kernel.setLinkage(llvm::GlobalValue::InternalLinkage);
        put(loop_->getArg(2), 0);
        unsigned at = 1;
        for (unsigned k = 0; k < count(); ++k) {
            put(bases[k], at++);
            if (!strides.empty()) put(strides[k], at++);
        }
        builder_.CreateCall(&kernel, {words_, lower, upper});
        builder_.CreateRetVoid();
    }

    std::span<const int64_t> itemsizes_;
    llvm::IRBuilder<> builder_;
    llvm::Function* loop_ = nullptr;
    llvm::Value* words_ = nullptr;
};

}  // namespace

llvm::Function* lower_strided_loop(llvm::Function& contiguous, llvm::Function& strided,
                                   std::span<const int64_t> itemsizes) {
    return LoopLowering(*contiguous.getParent(), itemsizes).run(contiguous, strided);
}

}  // namespace weft::codegen
