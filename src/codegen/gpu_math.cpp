#include "codegen/gpu_math.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/bitcode_library.h"
#include "ops/op.h"
#include "weft/errors.h"

extern "C" {
extern const unsigned char weft_bitcode_gpu_math[];
extern const std::uint64_t weft_bitcode_gpu_math_size;
}

namespace weft::codegen {
namespace {

// The declared function; null: the module calls none.
llvm::Function* declared(const llvm::Module& module, std::string_view name, bool is_double) {
    for (const VectorMathFunction& candidate : vector_math_functions()) {
        if (candidate.is_double == is_double && std::string_view(candidate.name) == name)
            return module.getFunction(candidate.scalar_symbol);
    }
    return nullptr;
}

// Sines and cosines of float64, or of float32.
class Trigonometry {
public:
    Trigonometry(llvm::Module& library, llvm::Module& module, bool is_double)
        : library_(library),
          module_(module),
          suffix_(is_double ? "_f64" : "_f32"),
          sine_(declared(module, "sin", is_double)),
          cosine_(declared(module, "cos", is_double)) {}

    void define() {
        if (sine_ == nullptr && cosine_ == nullptr) return;
        for (llvm::Function& function : module_) {
            std::vector<Group> groups;
            for (llvm::BasicBlock& block : function) find_groups(block, groups);
            for (Group& group : groups) compute(group);
        }
        for (llvm::Function* function : {sine_, cosine_}) {
            if (function != nullptr) function->eraseFromParent();
        }
    }

private:
    struct Angle {
        llvm::Value* value;
        std::vector<llvm::CallInst*> calls;
    };
    // Angles that are known where the first of them is needed.
    struct Group {
        std::vector<Angle> angles;
        llvm::Instruction* first;
    };

    void find_groups(llvm::BasicBlock& block, std::vector<Group>& groups) const {
        const size_t others = groups.size();
        for (llvm::Instruction& instruction : block) {
            auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
            if (call == nullptr) continue;
            const llvm::Function* called = call->getCalledFunction();
            if (called == nullptr || (called != sine_ && called != cosine_)) continue;
            llvm::Value* angle = call->getArgOperand(0);
            if (Angle* known = find(groups, others, angle)) {
                known->calls.push_back(call);
                continue;
            }
            const auto* computed = llvm::dyn_cast<llvm::Instruction>(angle);
            const bool joins =
                groups.size() > others && (computed == nullptr || computed->getParent() != &block ||
                                           computed->comesBefore(groups.back().first));
            if (!joins) groups.push_back({{}, call});
            groups.back().angles.push_back({angle, {call}});
        }
    }
    static Angle* find(std::vector<Group>& groups, size_t begin, const llvm::Value* value) {
        for (size_t k = begin; k < groups.size(); ++k) {
            for (Angle& angle : groups[k].angles) {
                if (angle.value == value) return &angle;
            }
        }
        return nullptr;
    }

    llvm::Function* function(const char* name) {
        llvm::Function* source = library_.getFunction("weft_gpu_" + (name + suffix_));
        if (source == nullptr) throw InternalError(std::string("the GPUs' functions have no ") + name);
        return import_function(*source, module_);
    }

    void compute(const Group& group) {
        llvm::IRBuilder<> builder(group.first);
        llvm::Value* any_large = nullptr;
        std::vector<llvm::Value*> reduced;
        for (const Angle& angle : group.angles) {
            reduced.push_back(builder.CreateCall(function("reduce_angle"), {angle.value}));
            llvm::Value* large = builder.CreateCall(function("is_large_angle"), {angle.value});
            any_large = any_large == nullptr ? large : builder.CreateOr(any_large, large);
        }
        llvm::BasicBlock* before = builder.GetInsertBlock();
        llvm::Instruction* end = llvm::SplitBlockAndInsertIfThen(
            any_large, group.first->getIterator(), false,
            llvm::MDBuilder(module_.getContext()).createUnlikelyBranchWeights());
        builder.SetInsertPoint(end);
        std::vector<llvm::Value*> of_any;
        for (const Angle& angle : group.angles)
            of_any.push_back(builder.CreateCall(function("reduce_any_angle"), {angle.value}));
        builder.SetInsertPoint(group.first);
        std::vector<llvm::Value*> rests, quadrants;
        for (size_t k = 0; k < group.angles.size(); ++k) {
            rests.push_back(joined(builder, reduced[k], before, of_any[k], end->getParent(), 0));
            quadrants.push_back(joined(builder, reduced[k], before, of_any[k], end->getParent(), 1));
        }
        for (size_t k = 0; k < group.angles.size(); ++k) {
            for (llvm::CallInst* call : group.angles[k].calls) {
                const char* name = call->getCalledFunction() == sine_ ? "sine" : "cosine";
                llvm::IRBuilder<> at_call(call);
                call->replaceAllUsesWith(at_call.CreateCall(function(name), {rests[k], quadrants[k]}));
                call->eraseFromParent();
            }
        }
    }
    // A part of what comes from one of two blocks. Parts are taken where the whole is computed.
    static llvm::Value* joined(llvm::IRBuilder<>& builder, llvm::Value* first, llvm::BasicBlock* first_block,
                               llvm::Value* second, llvm::BasicBlock* second_block, unsigned part) {
        const auto part_of = [&](llvm::Value* whole, llvm::BasicBlock* block) {
            return llvm::IRBuilder<>(block->getTerminator()).CreateExtractValue(whole, part);
        };
        llvm::Value* values[2] = {part_of(first, first_block), part_of(second, second_block)};
        llvm::PHINode* phi = builder.CreatePHI(values[0]->getType(), 2);
        phi->addIncoming(values[0], first_block);
        phi->addIncoming(values[1], second_block);
        return phi;
    }

    llvm::Module& library_;
    llvm::Module& module_;
    std::string suffix_;
    llvm::Function *sine_, *cosine_;
};

}  // namespace

GpuMath::GpuMath(llvm::LLVMContext& context) {
    const llvm::StringRef bytes(reinterpret_cast<const char*>(weft_bitcode_gpu_math),
                                weft_bitcode_gpu_math_size);
    auto module = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bytes, "gpu_math"), context);
    if (!module)
        throw InternalError("the GPUs' functions cannot be read: " + llvm::toString(module.takeError()));
    library_ = std::move(*module);
    if (auto error = library_->materializeMetadata()) throw InternalError(llvm::toString(std::move(error)));
}

bool GpuMath::is_needed(const llvm::Module& module) {
    for (const bool is_double : {false, true}) {
        if (declared(module, "sin", is_double) != nullptr || declared(module, "cos", is_double) != nullptr)
            return true;
    }
    return false;
}

void GpuMath::define(llvm::Module& module) {
    for (const bool is_double : {false, true}) Trigonometry(*library_, module, is_double).define();
}

}  // namespace weft::codegen
