#include "codegen/bitcode/bitcode_library.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <string>
#include <utility>

#include "weft/errors.h"

// The embedded bitcode files, made by cmake/WeftBitcode.cmake.
extern "C" {
#define WEFT_BITCODE(group)                                     \
    extern const unsigned char weft_bitcode_ops_##group[];      \
    extern const std::uint64_t weft_bitcode_ops_##group##_size; \
    extern const unsigned char weft_bitcode_ptx_ops_##group[];  \
    extern const std::uint64_t weft_bitcode_ptx_ops_##group##_size;
#include "ops/bitcode_groups.inc"
#undef WEFT_BITCODE
}

namespace weft::codegen {
namespace {

llvm::StringRef ref(std::string_view text) { return {text.data(), text.size()}; }

// Clones one function after another until nothing in the module refers to the library any more.
class Importer {
public:
    explicit Importer(llvm::Module& module) : module_(module) {}

    llvm::Function* import(llvm::Function& source) {
        const std::string name = name_in_module(source);
        if (llvm::Function* existing = module_.getFunction(name)) return existing;
        if (source.isMaterializable()) {
            if (auto error = source.materialize()) throw InternalError(llvm::toString(std::move(error)));
        }
        auto* copy = llvm::Function::Create(source.getFunctionType(), llvm::GlobalValue::ExternalLinkage,
                                            name, module_);
        if (source.isDeclaration()) {
            copy->setAttributes(source.getAttributes());
            return copy;
        }
        llvm::ValueToValueMapTy map;
        for (size_t i = 0; i < source.arg_size(); ++i)
            map[source.getArg(static_cast<unsigned>(i))] = copy->getArg(static_cast<unsigned>(i));
        for (llvm::Instruction& instruction : llvm::instructions(source)) {
            for (llvm::Value* operand : instruction.operands()) import_globals(*operand, map);
        }
        llvm::SmallVector<llvm::ReturnInst*, 4> returns;
        llvm::CloneFunctionInto(copy, &source, map, llvm::CloneFunctionChangeType::DifferentModule, returns);
        // The library was compiled without unrolling, which its loops remember.
        for (llvm::BasicBlock& block : *copy)
            block.getTerminator()->setMetadata(llvm::LLVMContext::MD_loop, nullptr);
        const bool is_rare = source.hasFnAttribute(llvm::Attribute::NoInline);
        // The library was compiled for the baseline; what it becomes part of decides about the target.
        copy->setAttributes(llvm::AttributeList());
        copy->setLinkage(llvm::GlobalValue::InternalLinkage);
        copy->setComdat(nullptr);
        copy->addFnAttr(is_rare ? llvm::Attribute::NoInline : llvm::Attribute::AlwaysInline);
        copy->addFnAttr(llvm::Attribute::NoUnwind);
        return copy;
    }

private:
    // What is local to one bitcode file may have a namesake in another.
    static std::string name_in_module(const llvm::GlobalValue& source) {
        std::string name = source.getName().str();
        if (source.hasLocalLinkage()) name += "." + source.getParent()->getModuleIdentifier();
        return name;
    }

    void import_globals(llvm::Value& value, llvm::ValueToValueMapTy& map) {
        if (map.count(&value) != 0) return;
        if (auto* function = llvm::dyn_cast<llvm::Function>(&value)) {
            map[function] = import(*function);
        } else if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&value)) {
            map[variable] = import(*variable, map);
        } else if (auto* constant = llvm::dyn_cast<llvm::Constant>(&value)) {
            for (llvm::Value* operand : constant->operands()) import_globals(*operand, map);
        }
    }

    llvm::GlobalVariable* import(llvm::GlobalVariable& source, llvm::ValueToValueMapTy& map) {
        const std::string name = name_in_module(source);
        if (llvm::GlobalVariable* existing = module_.getGlobalVariable(name, true)) return existing;
        // libdevice's tables are not marked as constant, but are private, and nothing writes to them.
        if ((!source.isConstant() && !source.hasLocalLinkage()) || !source.hasInitializer()) {
            throw InternalError("the operation bitcode has a variable that is not constant: " +
                                source.getName().str());
        }
        import_globals(*source.getInitializer(), map);
        auto* copy =
            new llvm::GlobalVariable(module_, source.getValueType(), true, llvm::GlobalValue::PrivateLinkage,
                                     llvm::MapValue(source.getInitializer(), map), name, nullptr,
                                     llvm::GlobalValue::NotThreadLocal, source.getAddressSpace());
        copy->setAlignment(source.getAlign());
        copy->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
        return copy;
    }

    llvm::Module& module_;
};

}  // namespace

llvm::Function* import_function(llvm::Function& source, llvm::Module& module) {
    return Importer(module).import(source);
}

BitcodeLibrary::BitcodeLibrary(llvm::LLVMContext& context, BitcodeTarget target) {
    struct Part {
        const char* name;
        const unsigned char* bytes;
        std::uint64_t size;
    };
    static const Part cpu_parts[] = {
#define WEFT_BITCODE(group) {#group, weft_bitcode_ops_##group, weft_bitcode_ops_##group##_size},
#include "ops/bitcode_groups.inc"
#undef WEFT_BITCODE
    };
    static const Part ptx_parts[] = {
#define WEFT_BITCODE(group) {#group, weft_bitcode_ptx_ops_##group, weft_bitcode_ptx_ops_##group##_size},
#include "ops/bitcode_groups.inc"
#undef WEFT_BITCODE
    };
    for (const Part& part : target == BitcodeTarget::kPtx ? ptx_parts : cpu_parts) {
        const llvm::StringRef bytes(reinterpret_cast<const char*>(part.bytes), part.size);
        auto module = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bytes, part.name), context);
        if (!module)
            throw InternalError("the operation bitcode cannot be read: " +
                                llvm::toString(module.takeError()));
        if (auto error = (*module)->materializeMetadata())
            throw InternalError(llvm::toString(std::move(error)));
        parts_.push_back(std::move(*module));
    }
}

llvm::Function& BitcodeLibrary::find(std::string_view symbol) {
    llvm::Function*& found = found_[std::string(symbol)];
    for (size_t i = 0; found == nullptr && i < parts_.size(); ++i) {
        llvm::Function* const source = parts_[i]->getFunction(ref(symbol));
        if (source != nullptr && !source->isDeclaration()) found = source;
    }
    if (found == nullptr) throw InternalError("the operation bitcode has no function " + std::string(symbol));
    if (found->isMaterializable()) {
        if (auto error = found->materialize()) throw InternalError(llvm::toString(std::move(error)));
    }
    return *found;
}

llvm::Function* BitcodeLibrary::import(std::string_view symbol, llvm::Module& module) {
    return Importer(module).import(find(symbol));
}

}  // namespace weft::codegen
