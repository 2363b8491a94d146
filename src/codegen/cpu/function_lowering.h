// Functions of the IR on CPUs, between CopyLowering and lowering.cpp: those that the host calls, those that
// these call, and their heap memory.
//
//   int64_t function(const ArgumentWord* words, char* results)                 the host's (device/kernel.h)
//   int64_t callee(parts of arguments..., char* results, char* error, depth)   for calls that passes left
//
// Both return 0, or 1 and the number of an error. Results are 16 bytes each; a callee whose results fit into
// two registers returns them beside that. What an error tells is where the host's results would be. A callee
// that calls compares its frame with the limit of the stack, and raises ir::kTooDeep beyond it. It counts the
// calls up to a pause, too: both are in `depth`, which is where the host's call has begun.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "codegen/cpu/copy_lowering.h"

namespace weft::codegen {

// What a function calls: what passes left in its module, and what is called lazily (runtime/lazy_parts.h).
struct Callees {
    std::span<const ir::Function> functions, parts;
};

class FunctionLowering : public CopyLowering {
protected:
    FunctionLowering(const ir::Function& kernel, const Callees& callees, llvm::Module& module,
                     BitcodeLibrary& library, const char* target)
        : CopyLowering(kernel, module, library, target), callees_(callees) {}

    // Up to where the body is to be lowered; arguments are known.
    void begin_function_of_host();
    // `is_chunk`: what a spread calls. The host is asked between chunks.
    void begin_callee(bool is_chunk);

    void lower(const ir::Instruction& instruction) override;
    void annotate_loop(llvm::BranchInst* back, const ir::Instruction& loop) override;
    Pauses open_pauses(const ir::Instruction& loop) override;
    void pause(const Pauses& pauses) override;
    void close_pauses(const Pauses& pauses) override;
    void lower_return(std::span<const Scalar> results) override;
    void lower_raise(uint32_t site, std::span<const ir::ValueId> payload) override;
    void lower_raise_again(ir::ValueId error) override;

private:
    llvm::Function* declare(const ir::Function& callee);
    llvm::Function* declare_lazy(const ir::Function& part);
    static unsigned argument_count(const ir::Type& type);
    llvm::Type* result_type(const ir::Function& callee);
    void return_status(llvm::Value* status, std::span<const Scalar> results = {});
    const ir::Function& find(std::string_view name) const;
    void lower_call(const ir::Instruction& instruction);
    void lower_spread(const ir::Instruction& instruction);
    void lower_engine(const ir::Instruction& instruction);
    llvm::Function* define_spread(const ir::Function& callee);
    std::vector<llvm::Value*> parts_of(std::span<const ir::ValueId> arguments,
                                       std::span<const ir::ValueId> parameters, const ir::Function& callee);
    void return_if_raised(llvm::Value* status);
    void return_if_stopped(llvm::Value* status);
    void return_unless(llvm::Value* goes_on, llvm::Value* status);
    void lower_heap(const ir::Instruction& instruction);
    void lower_tell(const ir::Instruction& instruction);
    void lower_intrinsic(const ir::Instruction& instruction);
    void begin_depth(llvm::IRBuilder<>& builder, llvm::Value* depth);
    void check_depth();
    llvm::Value* depth();
    void share_pauses(Pauses& pauses);
    static bool has_calls(const ir::Region& region);  // of functions that are there
    // function_pauses.cpp
    bool always_calls(const ir::Region& body) const;
    std::optional<int64_t> constant_in(const ir::Region& region, ir::ValueId value) const;
    bool is_conjunction(const ir::Region& body, const ir::Instruction* condition) const;
    bool loses_bits(const ir::Region& body, size_t number) const;
    bool is_divided(const ir::Region& body, size_t number) const;
    bool is_used_up(const ir::Region& body, const ir::Instruction& condition) const;
    bool is_counted(const ir::Region& body, size_t number, bool upwards) const;
    bool counts_to_its_end(const ir::Instruction& loop) const;
    void write(std::span<const Scalar> values, llvm::Value* to);
    std::vector<Scalar> read(std::span<const ir::Type> types, llvm::Value* from);
    void go_on_if(llvm::Value* holds, llvm::BasicBlock* fails, const char* name);
    llvm::Value* at(llvm::Value* pointer, uint64_t offset) {
        return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), pointer, offset);
    }

    Callees callees_;
    llvm::Value* results_ = nullptr;
    llvm::Value* error_ = nullptr;
    llvm::Value* depth_ = nullptr;
    bool has_pauses_ = true;  // where a loop begins
};

}  // namespace weft::codegen
