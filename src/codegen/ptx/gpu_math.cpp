#include "codegen/ptx/gpu_math.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/bitcode/bitcode_library.h"
#include "codegen/ptx/launches/device_print.h"
#include "ops/op.h"
#include "weft/errors.h"

extern "C" {
extern const unsigned char weft_bitcode_gpu_math[];
extern const std::uint64_t weft_bitcode_gpu_math_size;
}

namespace weft::codegen {
namespace {

// The declared functions of that name, of any accuracy.
std::vector<llvm::Function*> declared(const llvm::Module& module, std::string_view name, bool is_double) {
    std::vector<llvm::Function*> found;
    for (const VectorMathFunction& candidate : vector_math_functions()) {
        if (candidate.is_double != is_double || std::string_view(candidate.name) != name) continue;
        if (llvm::Function* function = module.getFunction(candidate.scalar_symbol)) found.push_back(function);
    }
    return found;
}

// The calls that have one argument. Which one they say themselves: it may be such a call too, and replaced by
// the time when theirs are.
struct Argument {
    std::vector<llvm::CallInst*> calls;
    llvm::Value* value() const { return calls.front()->getArgOperand(0); }
};
// Arguments that are known where the first of them is needed.
struct Group {
    std::vector<Argument> arguments;
    llvm::CallInst* first;
};

class GroupFinder {
public:
    explicit GroupFinder(std::span<llvm::Function* const> functions) : functions_(functions) {}

    std::vector<Group> find(llvm::Module& module) {
        for (llvm::Function& function : module) {
            for (llvm::BasicBlock& block : function) find_in(block);
        }
        return std::move(groups_);
    }

private:
    void find_in(llvm::BasicBlock& block) {
        const size_t others = groups_.size();
        for (llvm::Instruction& instruction : block) {
            auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
            if (call == nullptr || std::find(functions_.begin(), functions_.end(),
                                             call->getCalledFunction()) == functions_.end())
                continue;
            llvm::Value* value = call->getArgOperand(0);
            if (Argument* known = known_argument(others, value)) {
                known->calls.push_back(call);
                continue;
            }
            const auto* computed = llvm::dyn_cast<llvm::Instruction>(value);
            const bool joins =
                groups_.size() > others && (computed == nullptr || computed->getParent() != &block ||
                                            computed->comesBefore(groups_.back().first));
            if (!joins) groups_.push_back({{}, call});
            groups_.back().arguments.push_back({{call}});
        }
    }
    Argument* known_argument(size_t begin, const llvm::Value* value) {
        for (size_t k = begin; k < groups_.size(); ++k) {
            for (Argument& argument : groups_[k].arguments) {
                if (argument.value() == value) return &argument;
            }
        }
        return nullptr;
    }

    std::span<llvm::Function* const> functions_;
    std::vector<Group> groups_;
};

// Operations of the table that are one function here, which has no rare arguments.
struct Replaced {
    const char *operation, *name;
};
constexpr std::array<Replaced, 2> kReplaced{
    {{"weft_exp_f32_to_f32", "weft_gpu_exp_f32"}, {"weft_erf_f32_to_f32", "weft_gpu_erf_f32"}}};

// Gives an operation, from memory to memory, another body.
void replace_body(llvm::Function& operation, llvm::Function& source, llvm::Module& module) {
    const auto linkage = operation.getLinkage();
    operation.deleteBody();
    operation.setLinkage(linkage);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", &operation));
    llvm::Value* x = builder.CreateLoad(source.getArg(0)->getType(), operation.getArg(0));
    builder.CreateStore(builder.CreateCall(import_function(source, module), {x}), operation.getArg(1));
    builder.CreateRetVoid();
}

// One comparison, where a CPU's vectors do better by the bits.
void ask_at_once(llvm::Function& operation, llvm::Type* type) {
    const auto linkage = operation.getLinkage();
    operation.deleteBody();
    operation.setLinkage(linkage);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(operation.getContext(), "", &operation));
    llvm::Value* x = builder.CreateLoad(type, operation.getArg(0));
    llvm::Value* is_nan = builder.CreateFCmpUNO(x, llvm::ConstantFP::getZero(type));
    builder.CreateStore(builder.CreateZExt(is_nan, builder.getInt8Ty()), operation.getArg(1));
    builder.CreateRetVoid();
}

// The names of a function's three parts: without a branch for arguments that are not rare, which are rare,
// and for any argument with the same bits.
struct Parts {
    const char *usual, *is_rare, *any;
};
constexpr Parts kAngle{"reduce_angle", "is_large_angle", "reduce_any_angle"};
constexpr Parts kLog{"log_of_normal", "is_rare_for_log", "log_of_any"};

// Functions of float64, or of float32.
class Definer {
public:
    Definer(llvm::Module& library, llvm::Module& module, bool is_double)
        : library_(library), module_(module), is_double_(is_double) {}

    void define_sines_and_cosines() {
        const std::vector<llvm::Function*> sines = declared(module_, "sin", is_double_);
        std::vector<llvm::Function*> all = declared(module_, "cos", is_double_);
        all.insert(all.end(), sines.begin(), sines.end());
        for (const Group& group : GroupFinder(all).find(module_)) {
            const std::vector<std::vector<llvm::Value*>> reduced = compute(group, kAngle);
            for (size_t k = 0; k < reduced.size(); ++k) {
                for (llvm::CallInst* call : group.arguments[k].calls) {
                    const bool is_sine =
                        std::find(sines.begin(), sines.end(), call->getCalledFunction()) != sines.end();
                    llvm::Function* of_rest = function(is_sine ? "sine" : "cosine");
                    replace(call, llvm::IRBuilder<>(call).CreateCall(of_rest, reduced[k]));
                }
            }
        }
        for (llvm::Function* function : all) function->eraseFromParent();
    }

    void define(const char* name, const Parts& parts) {
        const std::vector<llvm::Function*> all = declared(module_, name, is_double_);
        for (const Group& group : GroupFinder(all).find(module_)) {
            const std::vector<std::vector<llvm::Value*>> values = compute(group, parts);
            for (size_t k = 0; k < values.size(); ++k) {
                for (llvm::CallInst* call : group.arguments[k].calls) replace(call, values[k][0]);
            }
        }
        for (llvm::Function* function : all) function->eraseFromParent();
    }

private:
    llvm::Function* function(const char* name) {
        llvm::Function* source =
            library_.getFunction(std::string("weft_gpu_") + name + (is_double_ ? "_f64" : "_f32"));
        if (source == nullptr) throw InternalError(std::string("the GPUs' functions have no ") + name);
        return import_function(*source, module_);
    }

    static void replace(llvm::CallInst* call, llvm::Value* value) {
        call->replaceAllUsesWith(value);
        call->eraseFromParent();
    }

    // What a function gives for each argument of a group, where the first is needed; one value, or the parts
    // of one.
    std::vector<std::vector<llvm::Value*>> compute(const Group& group, const Parts& parts) {
        llvm::IRBuilder<> builder(group.first);
        llvm::Value* any_rare = nullptr;
        std::vector<llvm::Value*> usual, any;
        for (const Argument& argument : group.arguments) {
            usual.push_back(builder.CreateCall(function(parts.usual), {argument.value()}));
            llvm::Value* rare = builder.CreateCall(function(parts.is_rare), {argument.value()});
            any_rare = any_rare == nullptr ? rare : builder.CreateOr(any_rare, rare);
        }
        llvm::BasicBlock* before = builder.GetInsertBlock();
        llvm::Instruction* end = llvm::SplitBlockAndInsertIfThen(
            any_rare, group.first->getIterator(), false,
            llvm::MDBuilder(module_.getContext()).createUnlikelyBranchWeights());
        builder.SetInsertPoint(end);
        for (const Argument& argument : group.arguments)
            any.push_back(builder.CreateCall(function(parts.any), {argument.value()}));
        builder.SetInsertPoint(group.first);
        std::vector<std::vector<llvm::Value*>> results;
        for (size_t k = 0; k < usual.size(); ++k) {
            const auto* type = llvm::dyn_cast<llvm::StructType>(usual[k]->getType());
            std::vector<llvm::Value*>& result = results.emplace_back();
            if (type == nullptr) {
                result = {joined(builder, usual[k], before, any[k], end->getParent())};
                continue;
            }
            for (unsigned part = 0; part < type->getNumElements(); ++part) {
                const auto part_of = [&](llvm::Value* whole, llvm::BasicBlock* block) {
                    return llvm::IRBuilder<>(block->getTerminator()).CreateExtractValue(whole, part);
                };
                result.push_back(joined(builder, part_of(usual[k], before), before,
                                        part_of(any[k], end->getParent()), end->getParent()));
            }
        }
        return results;
    }
    static llvm::Value* joined(llvm::IRBuilder<>& builder, llvm::Value* first, llvm::BasicBlock* first_block,
                               llvm::Value* second, llvm::BasicBlock* second_block) {
        llvm::PHINode* phi = builder.CreatePHI(first->getType(), 2);
        phi->addIncoming(first, first_block);
        phi->addIncoming(second, second_block);
        return phi;
    }

    llvm::Module& library_;
    llvm::Module& module_;
    bool is_double_;
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
        if (!declared(module, "sin", is_double).empty() || !declared(module, "cos", is_double).empty())
            return true;
    }
    const bool replaces = std::any_of(kReplaced.begin(), kReplaced.end(), [&](const Replaced& each) {
        return module.getFunction(each.operation) != nullptr;
    });
    return replaces || !declared(module, "log", true).empty();
}

void GpuMath::replace_operations(llvm::Module& module) {
    for (const Replaced& each : kReplaced) {
        llvm::Function* operation = module.getFunction(each.operation);
        if (operation != nullptr) replace_body(*operation, *library_->getFunction(each.name), module);
    }
}

void ask_by_comparisons(llvm::Module& module) {
    const auto ask = [&](const char* name, llvm::Type* type) {
        if (llvm::Function* operation = module.getFunction(name)) ask_at_once(*operation, type);
    };
    ask("weft_isnan_f32_to_bool", llvm::Type::getFloatTy(module.getContext()));
    ask("weft_isnan_f64_to_bool", llvm::Type::getDoubleTy(module.getContext()));
}

void GpuMath::define(llvm::Module& module) {
    for (const bool is_double : {false, true})
        Definer(*library_, module, is_double).define_sines_and_cosines();
    Definer(*library_, module, true).define("log", kLog);
}

bool GpuMath::writes_numbers(const llvm::Module& module) {
    return module.getFunction(kWriteFloat) != nullptr || module.getFunction(kWriteComplex) != nullptr;
}

// Small: the driver's compiler has to read it at each first launch.
void GpuMath::define_writers(llvm::Module& module) {
    std::set<const llvm::Function*> before;
    for (const llvm::Function& function : module) before.insert(&function);
    for (const char* name : {kWriteFloat, kWriteComplex}) {
        llvm::Function* const declared = module.getFunction(name);
        if (declared == nullptr) continue;
        declared->setName("");
        declared->replaceAllUsesWith(import_function(*library_->getFunction(name), module));
        declared->eraseFromParent();
    }
    for (llvm::Function& function : module) {
        if (!before.contains(&function) && !function.isDeclaration())
            function.addFnAttr(llvm::Attribute::MinSize);
    }
}

}  // namespace weft::codegen
