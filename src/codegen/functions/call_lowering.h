// Functions of the IR that call each other, on every target, between KernelLowering and what a target makes
// of them:
//
//   int64_t callee(parts of arguments..., char* results, char* error, depth)
//
// It returns 0, or 1 and the number of an error. Results are 16 bytes each; a callee whose results fit into
// two registers returns them beside that. `depth` is the target's own.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "codegen/functions/shared_functions.h"
#include "codegen/llvm/kernel_lowering.h"

namespace weft::codegen {

// What a function calls: what passes left in its module, and what is called lazily (runtime/lazy_parts.h),
// those first that programs share.
struct Callees {
    std::span<const ir::Function> functions, parts{};
    std::span<const SharedFunction> shared{};
    bool pauses_often = false;                 // in loops inside of loops that do, too
    std::span<const uint16_t> noted_scopes{};  // writes to these are noted (runtime/stopping/write_log.h)
};

class CallLowering : public KernelLowering {
protected:
    static constexpr uint64_t kResultBytes = 16;

    CallLowering(const ir::Function& kernel, const Callees& callees, llvm::Module& module,
                 BitcodeLibrary& library, const char* target)
        : KernelLowering(kernel, module, library, target), callees_(callees) {}

    // Up to where the body is to be lowered; arguments are known.
    void begin_callee();

    void lower(const ir::Instruction& instruction) override;
    void lower_return(std::span<const Scalar> results) override;
    void lower_raise(uint32_t site, std::span<const ir::ValueId> payload) override;
    void lower_raise_again(ir::ValueId error) override;
    // What a call passes as its depth, and what it calls.
    virtual llvm::Value* depth_of(const ir::Instruction& call, const ir::Function& callee) = 0;
    virtual llvm::Function* function_of(const ir::Instruction&, const ir::Function& callee) {
        return declare(callee);
    }
    virtual void return_status(llvm::Value* status, std::span<const Scalar> results);
    // Of a call that catches errors: some are no program's.
    virtual void return_if_stopped(llvm::Value*) {}

    const ir::Function& find(std::string_view name) const;
    llvm::Function* declare(const ir::Function& callee);
    // How many arguments a value is.
    static unsigned argument_count(const ir::Type& type);
    std::vector<llvm::Value*> parts_of(std::span<const ir::ValueId> arguments,
                                       std::span<const ir::ValueId> parameters, const ir::Function& callee);
    void return_if_raised(llvm::Value* status);
    void return_unless(llvm::Value* goes_on, llvm::Value* status);
    void go_on_if(llvm::Value* holds, llvm::BasicBlock* fails, const char* name);
    void write(std::span<const Scalar> values, llvm::Value* to);
    llvm::Value* at(llvm::Value* pointer, uint64_t offset) {
        return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), pointer, offset);
    }

    Callees callees_;
    llvm::Value* results_ = nullptr;
    llvm::Value* error_ = nullptr;
    llvm::Value* depth_ = nullptr;

private:
    llvm::Type* result_type(const ir::Function& callee);
    void lower_call(const ir::Instruction& instruction);
    void lower_external(const ir::Instruction& instruction);
    std::vector<Scalar> read(std::span<const ir::Type> types, llvm::Value* from);
};

}  // namespace weft::codegen
