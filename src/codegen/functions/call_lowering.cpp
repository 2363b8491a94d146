#include "codegen/functions/call_lowering.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <string>

#include "weft/errors.h"

namespace weft::codegen {

using ir::Instruction;
using ir::Opcode;
using ir::ValueId;

// A buffer is its base and its dynamic strides.
unsigned CallLowering::argument_count(const ir::Type& type) {
    if (!type.is_buffer) return static_cast<unsigned>(part_count(type.scalar));
    const auto& strides = type.buffer.strides;
    return 1 + static_cast<unsigned>(std::count(strides.begin(), strides.end(), ir::kDynamic));
}

llvm::Function* CallLowering::declare(const ir::Function& callee) {
    const std::string name = "callee." + callee.name;
    if (llvm::Function* found = module_.getFunction(name)) return found;
    std::vector<llvm::Type*> types;
    for (const ValueId parameter : callee.parameters) {
        const ir::Type& type = callee.type(parameter);
        const unsigned parts = argument_count(type);
        if (type.is_buffer) {
            types.push_back(builder_.getPtrTy());
            types.insert(types.end(), parts - 1, builder_.getInt64Ty());
        } else {
            types.insert(types.end(), parts, part_type(type.scalar));
        }
    }
    types.insert(types.end(), 3, builder_.getPtrTy());
    auto* type = llvm::FunctionType::get(result_type(callee), types, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module_);
    function->setDoesNotThrow();
    function->addParamAttr(static_cast<unsigned>(types.size()) - 1, llvm::Attribute::NoAlias);
    return function;
}

// The status, with what the callee returns behind it where registers hold that.
llvm::Type* CallLowering::result_type(const ir::Function& callee) {
    constexpr size_t kInRegisters = 2;
    std::vector<llvm::Type*> parts{builder_.getInt64Ty()};
    for (const ir::Type& type : callee.result_types) {
        if (type.is_buffer) return builder_.getInt64Ty();
        parts.insert(parts.end(), static_cast<size_t>(part_count(type.scalar)), part_type(type.scalar));
    }
    const size_t count = parts.size() - 1;
    if (count == 0 || count > kInRegisters) return builder_.getInt64Ty();
    return llvm::StructType::get(context_, parts);
}

void CallLowering::return_status(llvm::Value* status, std::span<const Scalar> results) {
    llvm::Type* type = function_->getReturnType();
    if (!type->isStructTy()) {
        write(results, results_);
        builder_.CreateRet(status);
        return;
    }
    llvm::Value* all = builder_.CreateInsertValue(llvm::Constant::getNullValue(type), status, 0);
    unsigned next = 1;
    for (const Scalar& result : results) {
        for (llvm::Value* part : result.parts) {
            if (part != nullptr) all = builder_.CreateInsertValue(all, part, next++);
        }
    }
    builder_.CreateRet(all);
}

const ir::Function& CallLowering::find(std::string_view name) const {
    for (const std::span<const ir::Function> all : {callees_.functions, callees_.parts}) {
        for (const ir::Function& each : all) {
            if (each.name == name) return each;
        }
    }
    for (const SharedFunction& each : callees_.shared) {
        if (each.function.name == name) return each.function;
    }
    throw InternalError("a call of @" + std::string(name) + ", which is not there");
}

void CallLowering::begin_callee() {
    begin_function(declare(kernel_));
    const auto count = static_cast<unsigned>(function_->arg_size());
    results_ = function_->getArg(count - 3);
    error_ = function_->getArg(count - 2);
    depth_ = function_->getArg(count - 1);
    make_alias_scopes();
    std::vector<Scalar> arguments;
    unsigned next = 0;
    for (const ValueId parameter : kernel_.parameters) {
        const ir::Type& type = kernel_.type(parameter);
        if (type.is_buffer) {
            arguments.push_back({{function_->getArg(next++), nullptr}});
            for (const int64_t stride : type.buffer.strides) {
                if (stride == ir::kDynamic) arguments.push_back({{function_->getArg(next++), nullptr}});
            }
            continue;
        }
        Scalar& scalar = arguments.emplace_back();
        for (int part = 0; part < part_count(type.scalar); ++part)
            scalar.parts[part] = function_->getArg(next++);
    }
    define(kernel_.parameters, arguments);
}

// Goes on in a new block, or with `fails`.
void CallLowering::go_on_if(llvm::Value* holds, llvm::BasicBlock* fails, const char* name) {
    llvm::BasicBlock* going_on = new_block(name);
    builder_.CreateCondBr(holds, going_on, fails, llvm::MDBuilder(context_).createLikelyBranchWeights());
    builder_.SetInsertPoint(going_on);
}

std::vector<llvm::Value*> CallLowering::parts_of(std::span<const ValueId> arguments,
                                                 std::span<const ValueId> parameters,
                                                 const ir::Function& callee) {
    std::vector<llvm::Value*> parts;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const ir::Type& type = callee.type(parameters[i]);
        if (!type.is_buffer) {
            for (llvm::Value* part : scalar(arguments[i]).parts) {
                if (part != nullptr) parts.push_back(part);
            }
            continue;
        }
        parts.push_back(buffer(arguments[i]).base);
        for (size_t d = 0; d < type.buffer.strides.size(); ++d) {
            if (type.buffer.strides[d] == ir::kDynamic) parts.push_back(buffer(arguments[i]).strides[d]);
        }
    }
    return parts;
}

void CallLowering::return_if_raised(llvm::Value* status) {
    return_unless(builder_.CreateIsNull(status), status);
}

void CallLowering::return_unless(llvm::Value* goes_on, llvm::Value* status) {
    llvm::BasicBlock* fails = new_block("raised");
    go_on_if(goes_on, fails, "returned");
    llvm::BasicBlock* going_on = builder_.GetInsertBlock();
    builder_.SetInsertPoint(fails);
    give_back(0);
    return_status(status, {});
    builder_.SetInsertPoint(going_on);
}

void CallLowering::lower_call(const Instruction& instruction) {
    const ir::Function& callee = find(instruction.callee);
    std::vector<llvm::Value*> arguments = parts_of(instruction.operands, callee.parameters, callee);
    uint64_t values = 0;
    for (const ir::Type& type : callee.result_types) {
        ++values;
        if (!type.is_buffer) continue;
        const auto& strides = type.buffer.strides;
        values += static_cast<uint64_t>(std::count(strides.begin(), strides.end(), ir::kDynamic));
    }
    const bool in_registers = result_type(callee)->isStructTy();
    llvm::Value* results =
        in_registers ? static_cast<llvm::Value*>(llvm::ConstantPointerNull::get(builder_.getPtrTy()))
                     : allocate_local(llvm::ArrayType::get(builder_.getInt8Ty(),
                                                           std::max<uint64_t>(values, 1) * kResultBytes),
                                      llvm::Align(kResultBytes), "results");
    arguments.insert(arguments.end(), {results, error_, depth_of(instruction, callee)});
    llvm::Value* told = builder_.CreateCall(function_of(instruction, callee), arguments, "status");
    llvm::Value* status = in_registers ? builder_.CreateExtractValue(told, 0) : told;
    if (instruction.catches) {
        return_if_stopped(status);
    } else {
        return_if_raised(status);
    }
    std::vector<Scalar> given;
    if (in_registers) {
        unsigned next = 1;
        for (const ir::Type& type : callee.result_types) {
            Scalar& scalar = given.emplace_back();
            for (int part = 0; part < part_count(type.scalar); ++part)
                scalar.parts[part] = builder_.CreateExtractValue(told, next++);
        }
    } else {
        given = read(callee.result_types, results);
    }
    if (instruction.catches) given.insert(given.begin(), Scalar{{status, nullptr}});
    define(instruction.results, given);
}

// What the callee takes is a number of C's, or an address of no certain kind of memory. Integers of fewer
// than 32 bits are extended by who calls, on CPUs and on GPUs (PTX Writer's Guide to Interoperability, 3.3).
void CallLowering::lower_external(const Instruction& instruction) {
    std::vector<llvm::Type*> types;
    std::vector<llvm::Value*> arguments;
    std::vector<std::pair<unsigned, bool>> extended;  // arguments, and whether they have a sign
    const auto is_narrow = [](ScalarType type) {
        return !DType(type).is_floating() && DType(type).itemsize() < 4;
    };
    const auto is_signed = [](ScalarType type) { return DType(type).is_signed_integer(); };
    const std::span<const ValueId> results(instruction.results);
    const std::span<const ValueId> values = results.subspan(instruction.tells_status ? 1 : 0);
    const ScalarType given =
        values.empty() ? ScalarType::kInt64 : kernel_.type(values[0]).scalar;  // of the result
    llvm::Value* place = nullptr;
    if (instruction.tells_status) {
        place = allocate_local(llvm::ArrayType::get(builder_.getInt8Ty(), kResultBytes),
                               llvm::Align(kResultBytes), "result");
        arguments.push_back(place);
        types.push_back(builder_.getPtrTy());
    }
    for (const ValueId operand : instruction.operands) {
        const ir::Type& type = kernel_.type(operand);
        if (type.is_buffer) {
            llvm::Value* base = buffer(operand).base;
            if (base->getType() != builder_.getPtrTy())
                base = builder_.CreateAddrSpaceCast(base, builder_.getPtrTy());
            arguments.push_back(base);
        } else {
            if (part_count(type.scalar) != 1) refuse("a complex argument of other machine code");
            if (is_narrow(type.scalar))
                extended.emplace_back(static_cast<unsigned>(arguments.size()), is_signed(type.scalar));
            arguments.push_back(scalar(operand).parts[0]);
        }
        types.push_back(arguments.back()->getType());
    }
    llvm::Type* returned = instruction.tells_status ? static_cast<llvm::Type*>(builder_.getInt32Ty())
                           : values.empty()         ? builder_.getVoidTy()
                                                    : part_type(given);
    if (!instruction.tells_status && !values.empty() && part_count(given) != 1)
        refuse("a complex result of other machine code");
    auto* type = llvm::FunctionType::get(returned, types, false);
    llvm::FunctionCallee callee = module_.getOrInsertFunction(instruction.callee, type);
    llvm::CallInst* told = builder_.CreateCall(callee, arguments);
    const auto extension = [](bool has_sign) {
        return has_sign ? llvm::Attribute::SExt : llvm::Attribute::ZExt;
    };
    auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee());
    if (function == nullptr || function->getFunctionType() != type)
        refuse("two functions of other machine code with the name @" + instruction.callee);
    function->addFnAttr(llvm::Attribute::Convergent);  // it may wait for the other threads
    function->setDoesNotThrow();
    told->setConvergent();
    for (const auto& [number, has_sign] : extended) {
        function->addParamAttr(number, extension(has_sign));
        told->addParamAttr(number, extension(has_sign));
    }
    if (!instruction.tells_status && !values.empty() && is_narrow(given)) {
        function->addRetAttr(extension(is_signed(given)));
        told->addRetAttr(extension(is_signed(given)));
    }
    std::vector<Scalar> all;
    if (instruction.tells_status) {
        all.push_back({{told, nullptr}});
        if (!values.empty()) {
            Scalar& result = all.emplace_back();
            for (int part = 0; part < part_count(given); ++part)
                result.parts[part] = builder_.CreateAlignedLoad(
                    part_type(given), part_pointer(place, given, part), llvm::Align(1));
        }
    } else if (!values.empty()) {
        all.push_back({{told, nullptr}});
    }
    define(results, all);
}

void CallLowering::write(std::span<const Scalar> values, llvm::Value* to) {
    uint64_t offset = 0;
    for (const Scalar& value : values) {
        uint64_t place = offset;
        for (llvm::Value* part : value.parts) {
            if (part == nullptr) continue;
            builder_.CreateAlignedStore(part, at(to, place), llvm::Align(1));
            place += part->getType()->getPrimitiveSizeInBits().getFixedValue() / 8;
        }
        offset += kResultBytes;
    }
}

std::vector<KernelLowering::Scalar> CallLowering::read(std::span<const ir::Type> types, llvm::Value* from) {
    std::vector<Scalar> values;
    const auto read_word = [&](llvm::Type* type) {
        values.push_back(
            {{builder_.CreateAlignedLoad(type, at(from, kResultBytes * values.size()), llvm::Align(8)),
              nullptr}});
    };
    for (const ir::Type& type : types) {
        if (type.is_buffer) {
            read_word(builder_.getPtrTy());
            for (const int64_t stride : type.buffer.strides) {
                if (stride == ir::kDynamic) read_word(builder_.getInt64Ty());
            }
            continue;
        }
        llvm::Value* place = at(from, kResultBytes * values.size());
        Scalar& scalar = values.emplace_back();
        for (int part = 0; part < part_count(type.scalar); ++part) {
            scalar.parts[part] = builder_.CreateAlignedLoad(
                part_type(type.scalar), part_pointer(place, type.scalar, part), llvm::Align(1));
        }
    }
    return values;
}

void CallLowering::lower_return(std::span<const Scalar> results) {
    if (kernel_.is_kernel) return KernelLowering::lower_return(results);
    return_status(builder_.getInt64(0), results);
}

void CallLowering::lower_raise(uint32_t site, std::span<const ValueId> payload) {
    if (kernel_.is_kernel) return KernelLowering::lower_raise(site, payload);
    write(values_of(payload), error_);
    return_status(builder_.getInt64(uint64_t{site} + 1), {});
}

// What the error tells is still where it was told.
void CallLowering::lower_raise_again(ValueId error) { return_status(index(error), {}); }

void CallLowering::lower(const Instruction& instruction) {
    if (kernel_.is_kernel) return KernelLowering::lower(instruction);
    switch (instruction.opcode) {
        case Opcode::kCall: return lower_call(instruction);
        case Opcode::kExternal: return lower_external(instruction);
        case Opcode::kAddress:
            scalars_[instruction.results[0].index].parts[0] =
                builder_.CreatePtrToInt(buffer(instruction.operands[0]).base, builder_.getInt64Ty());
            return;
        case Opcode::kMemory: {
            std::vector<llvm::Value*> strides;
            for (const ValueId stride : std::span(instruction.operands).subspan(1))
                strides.push_back(index(stride));
            return define_buffer(instruction.results[0],
                                 builder_.CreateIntToPtr(index(instruction.operands[0]), builder_.getPtrTy()),
                                 strides);
        }
        default: return KernelLowering::lower(instruction);
    }
}

}  // namespace weft::codegen
