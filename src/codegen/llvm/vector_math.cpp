#include "codegen/llvm/vector_math.h"

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/llvm/target.h"
#include "ops/op.h"

namespace weft::codegen {
namespace {

// One width of the library: how many float64 lanes, and its tag in names.
struct Width {
    const char* feature;
    int doubles;
    const char* isa;
};
constexpr llvm::StringRef kRarely = "weft_rarely_";
constexpr Width kWidths[] = {{"avx512f", 8, "avx512f"}, {"avx2", 4, "avx2"}, {"avx2", 2, "avx2128"}};

// Instead of what the bitcode says, which was compiled for another CPU and without built-in functions.
void mark_pure(llvm::Function& function) {
    function.setAttributes(llvm::AttributeList());
    function.setDoesNotThrow();
    function.setDoesNotAccessMemory();
    function.setWillReturn();
    function.setDoesNotFreeMemory();
}

// By the scalar function's name, also that of its rare way.
const VectorMathFunction* find_function(llvm::StringRef symbol) {
    symbol.consume_front(kRarely);
    static const auto by_symbol = [] {
        std::unordered_map<std::string_view, const VectorMathFunction*> result;
        for (const VectorMathFunction& function : vector_math_functions())
            result[function.scalar_symbol] = &function;
        return result;
    }();
    const auto found = by_symbol.find(std::string_view(symbol.data(), symbol.size()));
    return found == by_symbol.end() ? nullptr : found->second;
}

// From the mask of rare elements, the arguments of what is called for them, and the results of the others.
void define_rare_way(llvm::Function& function) {
    llvm::Module& module = *function.getParent();
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
    llvm::LLVMContext& context = module.getContext();
    auto* const entry = llvm::BasicBlock::Create(context, "", &function);
    auto* const rare = llvm::BasicBlock::Create(context, "rare", &function);
    auto* const end = llvm::BasicBlock::Create(context, "end", &function);
    llvm::Argument* const mask = function.getArg(0);
    llvm::Argument* const usual = function.getArg(static_cast<unsigned>(function.arg_size()) - 1);

    llvm::IRBuilder<> builder(entry);
    llvm::Value* any = mask;
    if (mask->getType()->isVectorTy()) any = builder.CreateOrReduce(mask);
    builder.CreateCondBr(any, rare, end, llvm::MDBuilder(context).createUnlikelyBranchWeights());

    builder.SetInsertPoint(rare);
    std::vector<llvm::Value*> arguments;
    std::vector<llvm::Type*> types;
    for (llvm::Argument* argument = mask + 1; argument != usual; ++argument) {
        arguments.push_back(argument);
        types.push_back(argument->getType());
    }
    auto* const called = llvm::cast<llvm::Function>(
        module
            .getOrInsertFunction(function.getName().drop_front(kRarely.size()),
                                 llvm::FunctionType::get(usual->getType(), types, false))
            .getCallee());
    mark_pure(*called);
    llvm::Value* const found = builder.CreateSelect(mask, builder.CreateCall(called, arguments), usual);
    builder.CreateBr(end);

    builder.SetInsertPoint(end);
    llvm::PHINode* const result = builder.CreatePHI(usual->getType(), 2);
    result->addIncoming(usual, entry);
    result->addIncoming(found, rare);
    builder.CreateRet(result);
}

}  // namespace

void declare_vector_math(llvm::Module& module, const llvm::TargetMachine& machine, bool vectors) {
    std::vector<llvm::Function*> scalars;
    for (llvm::Function& function : module) {
        if (function.isDeclaration() && find_function(function.getName()) != nullptr)
            scalars.push_back(&function);
    }
    for (llvm::Function* scalar : scalars) {
        mark_pure(*scalar);
        const VectorMathFunction& entry = *find_function(scalar->getName());
        const bool rarely = scalar->getName().starts_with(kRarely);
        std::string variants;
        for (const Width& width : kWidths) {
            if (!vectors || !has_feature(machine, "fma") || !has_feature(machine, width.feature)) continue;
            const int lanes = entry.is_double ? width.doubles : 2 * width.doubles;
            const std::string name = (rarely ? kRarely.str() : "") + "Sleef_finz_" + entry.name +
                                     (entry.is_double ? "d" : "f") + std::to_string(lanes) + "_" +
                                     entry.accuracy + width.isa;
            const auto vector_of = [lanes](llvm::Type* type) {
                return llvm::FixedVectorType::get(type, static_cast<unsigned>(lanes));
            };
            llvm::Type* const vector = vector_of(scalar->getReturnType());
            std::vector<llvm::Type*> arguments;
            for (const llvm::Argument& argument : scalar->args())
                arguments.push_back(vector_of(argument.getType()));
            auto* function = llvm::cast<llvm::Function>(
                module.getOrInsertFunction(name, llvm::FunctionType::get(vector, arguments, false))
                    .getCallee());
            mark_pure(*function);
            // Passes of whole modules remove what nobody calls, and without these nothing becomes a vector.
            llvm::appendToCompilerUsed(module, {function});
            // The Vector Function ABI's mangling, LLVM's own dialect: lanes, one 'v' (vector) an argument,
            // names.
            if (!variants.empty()) variants += ',';
            variants += "_ZGV_LLVM_N" + std::to_string(lanes) + std::string(scalar->arg_size(), 'v') + "_" +
                        scalar->getName().str() + "(" + name + ")";
        }
        for (llvm::User* user : scalar->users()) {
            auto* call = llvm::dyn_cast<llvm::CallInst>(user);
            if (call == nullptr) continue;
            call->setAttributes(llvm::AttributeList());  // LLVM does not vectorise calls marked nobuiltin
            if (variants.empty()) continue;
            call->addFnAttr(
                llvm::Attribute::get(module.getContext(), "vector-function-abi-variant", variants));
        }
    }
}

bool define_rare_ways(llvm::Module& module) {
    // What has not become a vector by now never will.
    if (llvm::GlobalVariable* kept = module.getNamedGlobal("llvm.compiler.used")) kept->eraseFromParent();
    std::vector<llvm::Function*> rare_ways;
    for (llvm::Function& function : module) {
        if (function.isDeclaration() && function.getName().starts_with(kRarely))
            rare_ways.push_back(&function);
    }
    bool any = false;
    for (llvm::Function* function : rare_ways) {
        if (function->use_empty()) {
            function->eraseFromParent();
        } else {
            define_rare_way(*function);
            any = true;
        }
    }
    return any;
}

}  // namespace weft::codegen
