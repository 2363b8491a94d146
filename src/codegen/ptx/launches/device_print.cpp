#include "codegen/ptx/launches/device_print.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "ops/gpu/number_text.h"
#include "weft/errors.h"

namespace weft::codegen {

namespace {

bool is_signed(ScalarType type) {
    return type == ScalarType::kInt8 || type == ScalarType::kInt16 || type == ScalarType::kInt32 ||
           type == ScalarType::kInt64;
}

scalar::FloatFormat format_of(ScalarType type) {
    switch (type) {
        case ScalarType::kFloat16: return {11, -24};
        case ScalarType::kBFloat16: return {8, -133};
        case ScalarType::kFloat32:
        case ScalarType::kComplex64: return {24, -149};
        default: return {53, -1074};
    }
}

constexpr uint64_t kValueBytes = 8;  // of each value that vprintf takes

uint64_t text_bytes(const PrintedPart& part) {
    return part.kind == PrintedPart::Kind::kComplex ? scalar::kComplexTextBytes
           : part.kind == PrintedPart::Kind::kFloat ? scalar::kFloatTextBytes
                                                    : 0;
}

class DevicePrint {
public:
    DevicePrint(llvm::IRBuilder<>& builder, const PrintedParts& parts_of, llvm::Value* memory)
        : builder_(builder),
          module_(*builder.GetInsertBlock()->getModule()),
          parts_of_(parts_of),
          memory_(memory) {}

    // In the memory come the values, then the texts of floats.
    void print(const Printed& printed) {
        used_ = kValueBytes * printed_values(printed);
        for (const PrintedPart& part : printed) add(part);
        for (size_t i = 0; i < values_.size(); ++i)
            builder_.CreateAlignedStore(values_[i], at(kValueBytes * i), llvm::Align(kValueBytes));
        builder_.CreateCall(vprintf(),
                            {text(format_), values_.empty() ? null() : static_cast<llvm::Value*>(at(0))});
    }

private:
    void add(const PrintedPart& part) {
        using Kind = PrintedPart::Kind;
        switch (part.kind) {
            case Kind::kText:
                for (const char c : part.text) format_ += c == '%' ? std::string("%%") : std::string(1, c);
                return;
            case Kind::kInteger:
                return add(is_signed(part.type) ? "%lld" : "%llu", word(value(part), part.type));
            case Kind::kFloat:
            case Kind::kComplex: return add_float(part);
            case Kind::kChoice: return add("%s", choice(part));
            case Kind::kByFormat:
                if (part.type == ScalarType::kFloat64)
                    return add(part.text, without_sign_of_nan(value(part)));
                return add(part.text, value(part));
        }
    }
    void add(const std::string& format, llvm::Value* value) {
        format_ += format;
        values_.push_back(value);
    }

    llvm::Value* at(uint64_t offset) {
        return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), memory_, offset);
    }
    llvm::Value* null() { return llvm::ConstantPointerNull::get(builder_.getPtrTy()); }
    llvm::Value* value(const PrintedPart& part) { return parts_of_(part.value)[0]; }
    llvm::Value* word(llvm::Value* value, ScalarType type) {
        return is_signed(type) ? builder_.CreateSExt(value, builder_.getInt64Ty())
                               : builder_.CreateZExt(value, builder_.getInt64Ty());
    }

    void add_float(const PrintedPart& part) {
        const bool is_complex = part.kind == PrintedPart::Kind::kComplex;
        llvm::Value* const memory = at(used_);
        used_ += text_bytes(part);
        std::vector<llvm::Value*> arguments;
        for (llvm::Value* each : parts_of_(part.value)) {
            if (each != nullptr) arguments.push_back(to_double(each, part.type));
        }
        const scalar::FloatFormat format = format_of(part.type);
        arguments.push_back(builder_.getInt32(static_cast<uint32_t>(format.precision)));
        arguments.push_back(builder_.getInt32(static_cast<uint32_t>(format.least)));
        arguments.push_back(memory);
        std::vector<llvm::Type*> types;
        for (llvm::Value* argument : arguments) types.push_back(argument->getType());
        builder_.CreateCall(
            module_.getOrInsertFunction(is_complex ? kWriteComplex : kWriteFloat,
                                        llvm::FunctionType::get(builder_.getVoidTy(), types, false)),
            arguments);
        add("%s", memory);
    }
    llvm::Value* to_double(llvm::Value* value, ScalarType type) {
        if (type == ScalarType::kBFloat16) {  // the upper half of a float32
            llvm::Value* bits = builder_.CreateShl(builder_.CreateZExt(value, builder_.getInt32Ty()), 16);
            value = builder_.CreateBitCast(bits, builder_.getFloatTy());
        }
        return builder_.CreateFPExt(value, builder_.getDoubleTy());
    }
    // C writes it.
    llvm::Value* without_sign_of_nan(llvm::Value* value) {
        return builder_.CreateSelect(builder_.CreateFCmpUNO(value, value),
                                     llvm::ConstantFP::getNaN(value->getType()), value);
    }

    llvm::Value* choice(const PrintedPart& part) {
        llvm::Value* const number = builder_.CreateZExt(value(part), builder_.getInt64Ty());
        llvm::Value* chosen = text(part.choices.at(0));
        for (size_t i = 1; i < part.choices.size(); ++i)
            chosen = builder_.CreateSelect(builder_.CreateICmpEQ(number, builder_.getInt64(i)),
                                           text(part.choices[i]), chosen);
        return chosen;
    }

    llvm::Constant* text(const std::string& text) {
        llvm::Constant* bytes = llvm::ConstantDataArray::getString(module_.getContext(), text);
        auto* global = new llvm::GlobalVariable(module_, bytes->getType(), true,
                                                llvm::GlobalValue::PrivateLinkage, bytes, "text");
        global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
        global->setAlignment(llvm::Align(1));
        return global;
    }

    llvm::FunctionCallee vprintf() {
        return module_.getOrInsertFunction(
            "vprintf", llvm::FunctionType::get(builder_.getInt32Ty(),
                                               {builder_.getPtrTy(), builder_.getPtrTy()}, false));
    }

    llvm::IRBuilder<>& builder_;
    llvm::Module& module_;
    const PrintedParts& parts_of_;
    llvm::Value* const memory_;
    uint64_t used_ = 0;
    std::string format_;
    std::vector<llvm::Value*> values_;
};

}  // namespace

uint64_t bytes_to_print(const Printed& printed) {
    uint64_t bytes = kValueBytes * printed_values(printed);
    for (const PrintedPart& part : printed) bytes += text_bytes(part);
    return bytes;
}

void print_on_device(llvm::IRBuilder<>& builder, const Printed& printed, const PrintedParts& parts_of,
                     llvm::Value* memory) {
    DevicePrint(builder, parts_of, memory).print(printed);
}

}  // namespace weft::codegen
