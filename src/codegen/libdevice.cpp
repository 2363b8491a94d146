#include "codegen/libdevice.h"

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

#include "codegen/bitcode_library.h"
#include "codegen/ptx_compiler.h"
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

// libdevice asks what it is compiled for by calls with a name.
void answer_questions(llvm::Module& module, int sm) {
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

// The declared sine or cosine; null: the module calls none.
llvm::Function* declared(const llvm::Module& module, std::string_view name, bool is_double) {
    for (const VectorMathFunction& candidate : vector_math_functions()) {
        if (candidate.is_double == is_double && std::string_view(candidate.name) == name)
            return module.getFunction(candidate.scalar_symbol);
    }
    return nullptr;
}

// Calls of sine and cosine of one value in one block become one call, which reduces the angle once.
void join_sines_and_cosines(llvm::Module& module, llvm::Function& sine, llvm::Function& cosine,
                            llvm::Function& source) {
    std::map<std::pair<llvm::BasicBlock*, llvm::Value*>, llvm::CallInst*> sines;
    for (llvm::User* user : sine.users()) {
        auto* call = llvm::cast<llvm::CallInst>(user);
        sines[{call->getParent(), call->getArgOperand(0)}] = call;
    }
    const std::vector<llvm::User*> users(cosine.user_begin(), cosine.user_end());
    for (llvm::User* user : users) {
        auto* of_cosine = llvm::cast<llvm::CallInst>(user);
        llvm::Value* angle = of_cosine->getArgOperand(0);
        const auto found = sines.find({of_cosine->getParent(), angle});
        if (found == sines.end()) continue;
        llvm::CallInst* of_sine = found->second;
        sines.erase(found);
        llvm::IRBuilder<> slots(&*of_sine->getFunction()->getEntryBlock().getFirstInsertionPt());
        llvm::Value* results[2];
        for (llvm::Value*& result : results)
            result = slots.CreateAlloca(angle->getType(), module.getDataLayout().getAllocaAddrSpace());
        llvm::IRBuilder<> builder(of_sine->comesBefore(of_cosine) ? of_sine : of_cosine);
        builder.CreateCall(import_function(source, module), {angle, results[0], results[1]});
        of_sine->replaceAllUsesWith(builder.CreateLoad(angle->getType(), results[0]));
        of_cosine->replaceAllUsesWith(builder.CreateLoad(angle->getType(), results[1]));
        of_sine->eraseFromParent();
        of_cosine->eraseFromParent();
    }
}

}  // namespace

bool has_sines_and_cosines(const llvm::Module& module) {
    for (const bool is_double : {false, true}) {
        if (declared(module, "sin", is_double) != nullptr && declared(module, "cos", is_double) != nullptr)
            return true;
    }
    return false;
}

std::string find_libdevice() { return find_libdevice_file(); }

bool needs_libdevice(const llvm::Module& module) {
    for (const llvm::Function& function : module) {
        if (find_function(function) != nullptr) return true;
    }
    return false;
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

void Libdevice::define_vector_math(llvm::Module& module, int sm) {
    for (const bool is_double : {false, true}) {
        llvm::Function* sine = declared(module, "sin", is_double);
        llvm::Function* cosine = declared(module, "cos", is_double);
        llvm::Function* both = library_->getFunction(is_double ? "__nv_sincos" : "__nv_sincosf");
        if (sine != nullptr && cosine != nullptr && both != nullptr)
            join_sines_and_cosines(module, *sine, *cosine, *both);
    }
    for (llvm::Function* called : declared_vector_math(module)) {
        const VectorMathFunction& entry = *find_function(*called);
        const std::string name = std::string("__nv_") + entry.name + (entry.is_double ? "" : "f");
        llvm::Function* source = library_->getFunction(name);
        if (source == nullptr || source->getFunctionType() != called->getFunctionType())
            throw DeviceError(path_ + " has no function " + name);
        called->replaceAllUsesWith(import_function(*source, module));
        called->eraseFromParent();
    }
    answer_questions(module, sm);
}

}  // namespace weft::codegen
