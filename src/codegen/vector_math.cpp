#include "codegen/vector_math.h"

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/target.h"
#include "ops/op.h"

namespace weft::codegen {
namespace {

// One width of the library: how many float64 lanes, and its tag in names.
struct Width {
    const char* feature;
    int doubles;
    const char* isa;
};
constexpr Width kWidths[] = {{"avx512f", 8, "avx512f"}, {"avx2", 4, "avx2"}, {"avx2", 2, "avx2128"}};

// Instead of what the bitcode says, which was compiled for another CPU and without built-in functions.
void mark_pure(llvm::Function& function) {
    function.setAttributes(llvm::AttributeList());
    function.setDoesNotThrow();
    function.setDoesNotAccessMemory();
    function.setWillReturn();
    function.setDoesNotFreeMemory();
}

const VectorMathFunction* find_function(llvm::StringRef symbol) {
    static const auto by_symbol = [] {
        std::unordered_map<std::string_view, const VectorMathFunction*> result;
        for (const VectorMathFunction& function : vector_math_functions())
            result[function.scalar_symbol] = &function;
        return result;
    }();
    const auto found = by_symbol.find(std::string_view(symbol.data(), symbol.size()));
    return found == by_symbol.end() ? nullptr : found->second;
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
        std::string variants;
        for (const Width& width : kWidths) {
            if (!vectors || !has_feature(machine, "fma") || !has_feature(machine, width.feature)) continue;
            const int lanes = entry.is_double ? width.doubles : 2 * width.doubles;
            const std::string name = std::string("Sleef_finz_") + entry.name + (entry.is_double ? "d" : "f") +
                                     std::to_string(lanes) + "_" + entry.accuracy + width.isa;
            auto* vector = llvm::FixedVectorType::get(scalar->getReturnType(), static_cast<unsigned>(lanes));
            const std::vector<llvm::Type*> arguments(scalar->arg_size(), vector);
            auto* function = llvm::cast<llvm::Function>(
                module.getOrInsertFunction(name, llvm::FunctionType::get(vector, arguments, false))
                    .getCallee());
            mark_pure(*function);
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

}  // namespace weft::codegen
