#include "codegen/ptx/libdevice.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/bitcode/bitcode_library.h"
#include "codegen/ptx/compiler.h"
#include "core/cuda_files.h"
#include "ops/op.h"
#include "weft/errors.h"

namespace weft::codegen {
namespace {

const VectorMathFunction* find_function(const llvm::Function& function) {
    if (!function.isDeclaration()) return nullptr;
    for (const VectorMathFunction& candidate : vector_math_functions()) {
        if (function.getName() == candidate.scalar_symbol) return &candidate;
    }
    return nullptr;
}

std::vector<llvm::Function*> declared_vector_math(llvm::Module& module) {
    std::vector<llvm::Function*> found;
    for (llvm::Function& function : module) {
        if (find_function(function) != nullptr) found.push_back(&function);
    }
    return found;
}

struct SineAndCosine {
    llvm::Function *sine = nullptr, *cosine = nullptr;
};

// Of float32, as the module declares them.
SineAndCosine sine_and_cosine(llvm::Module& module) {
    SineAndCosine found;
    for (llvm::Function* function : declared_vector_math(module)) {
        const VectorMathFunction& entry = *find_function(*function);
        if (entry.is_double) continue;
        if (std::string_view(entry.name) == "sin") found.sine = function;
        if (std::string_view(entry.name) == "cos") found.cosine = function;
    }
    return found;
}

// libdevice asks what it is compiled for by calls with a name.
void resolve_reflection(llvm::Module& module, int sm) {
    llvm::Function* question = module.getFunction("__nvvm_reflect");
    if (question == nullptr) return;
    const std::vector<llvm::User*> users(question->user_begin(), question->user_end());
    for (llvm::User* user : users) {
        auto* call = llvm::cast<llvm::CallInst>(user);
        const auto* name = llvm::dyn_cast<llvm::GlobalVariable>(call->getArgOperand(0)->stripPointerCasts());
        const auto* text =
            name == nullptr ? nullptr : llvm::dyn_cast<llvm::ConstantDataArray>(name->getInitializer());
        if (text == nullptr) throw InternalError("libdevice asks for something that has no name");
        const llvm::StringRef asked = text->getAsCString();
        // Denormal numbers are kept (__CUDA_FTZ), division and square root are exact.
        const int answer = asked == "__CUDA_ARCH"                                      ? 10 * sm
                           : asked == "__CUDA_PREC_DIV" || asked == "__CUDA_PREC_SQRT" ? 1
                                                                                       : 0;
        call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), static_cast<uint64_t>(answer)));
        call->eraseFromParent();
    }
    question->eraseFromParent();
}

}  // namespace

std::string find_libdevice() { return find_libdevice_file(); }

bool needs_libdevice(const llvm::Module& module) {
    for (const llvm::Function& function : module) {
        if (find_function(function) != nullptr) return true;
    }
    return false;
}

bool has_sine_and_cosine(llvm::Module& module) {
    const SineAndCosine found = sine_and_cosine(module);
    return found.sine != nullptr && found.cosine != nullptr;
}

Libdevice::Libdevice(llvm::LLVMContext& context, const std::string& path)
    : path_(path.empty() ? find_libdevice() : path) {
    if (path_.empty()) {
        throw DeviceError(
            "libdevice.10.bc is not there, NVIDIA's elementary functions for GPUs: 'pip install "
            "weft[cuda13]', "
            "install a CUDA toolkit, or set CUDA_HOME to where one is");
    }
    auto file = llvm::MemoryBuffer::getFile(path_);
    if (!file) throw DeviceError(path_ + ": " + file.getError().message());
    auto module = llvm::getOwningLazyBitcodeModule(std::move(*file), context);
    if (!module) throw DeviceError(path_ + ": " + llvm::toString(module.takeError()));
    library_ = std::move(*module);
    if (auto error = library_->materializeMetadata())
        throw DeviceError(path_ + ": " + llvm::toString(std::move(error)));
}

void Libdevice::pair_sines(llvm::Module& module) {
    const SineAndCosine declared = sine_and_cosine(module);
    if (declared.sine == nullptr || declared.cosine == nullptr) return;
    llvm::Function* source = library_->getFunction("__nv_sincosf");
    if (source == nullptr) return;
    const std::vector<llvm::User*> cosines(declared.cosine->user_begin(), declared.cosine->user_end());
    for (llvm::User* user : cosines) {
        auto* const cosine = llvm::dyn_cast<llvm::CallInst>(user);
        if (cosine == nullptr) continue;
        llvm::Value* const angle = cosine->getArgOperand(0);
        llvm::CallInst* sine = nullptr;
        for (llvm::User* other : angle->users()) {
            auto* const call = llvm::dyn_cast<llvm::CallInst>(other);
            if (call != nullptr && call->getCalledFunction() == declared.sine &&
                call->getParent() == cosine->getParent())
                sine = call;
        }
        if (sine == nullptr) continue;
        llvm::Function& function = *cosine->getFunction();
        llvm::IRBuilder<> entry(&*function.getEntryBlock().getFirstInsertionPt());
        llvm::Type* const real = entry.getFloatTy();
        llvm::Value* const slots[] = {entry.CreateAlloca(real, nullptr, "sine"),
                                      entry.CreateAlloca(real, nullptr, "cosine")};
        llvm::IRBuilder<> builder(sine->comesBefore(cosine) ? sine : cosine);
        builder.CreateCall(import_function(*source, module), {angle, slots[0], slots[1]});
        llvm::Value* const values[] = {builder.CreateLoad(real, slots[0]),
                                       builder.CreateLoad(real, slots[1])};
        sine->replaceAllUsesWith(values[0]);
        cosine->replaceAllUsesWith(values[1]);
        sine->eraseFromParent();
        cosine->eraseFromParent();
    }
}

void Libdevice::define_vector_math(llvm::Module& module, int sm) {
    pair_sines(module);
    for (llvm::Function* called : declared_vector_math(module)) {
        const VectorMathFunction& entry = *find_function(*called);
        const std::string name = std::string("__nv_") + entry.name + (entry.is_double ? "" : "f");
        llvm::Function* source = library_->getFunction(name);
        if (source == nullptr || source->getFunctionType() != called->getFunctionType())
            throw DeviceError(path_ + " has no function " + name);
        called->replaceAllUsesWith(import_function(*source, module));
        called->eraseFromParent();
    }
    resolve_reflection(module, sm);
}

}  // namespace weft::codegen
