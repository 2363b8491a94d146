// Functions of the IR on CPUs, between CopyLowering and lowering.cpp: those that the host calls, those that
// these call (functions/call_lowering.h), and their heap memory.
//
//   int64_t function(const ArgumentWord* words, char* results)                 the host's (device/kernel.h)
//
// What an error tells is where the host's results would be. A callee that calls compares its frame with the
// limit of the stack, and raises ir::kTooDeep beyond it. It counts the calls up to a pause, too: both are in
// `depth`, which is where the host's call has begun.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "codegen/cpu/copy_lowering.h"

namespace weft::codegen {

class FunctionLowering : public CopyLowering {
protected:
    FunctionLowering(const ir::Function& kernel, const Callees& callees, llvm::Module& module,
                     BitcodeLibrary& library, const char* target)
        : CopyLowering(kernel, callees, module, library, target) {}

    // Up to where the body is to be lowered; arguments are known.
    void begin_function_of_host();
    // `is_chunk`: what a spread calls. The host is asked between chunks.
    void begin_callee(bool is_chunk);

    void lower(const ir::Instruction& instruction) override;
    void annotate_loop(llvm::BranchInst* back, const ir::Instruction& loop) override;
    Pauses open_pauses(const ir::Instruction& loop) override;
    void pause(const Pauses& pauses) override;
    void close_pauses(const Pauses& pauses) override;
    llvm::Value* depth_of(const ir::Instruction& call, const ir::Function& callee) override;
    llvm::Function* function_of(const ir::Instruction& call, const ir::Function& callee) override;
    void return_if_stopped(llvm::Value* status) override;
    void lower_in_turn(const ir::Instruction& atomic);

private:
    llvm::Function* declare_lazy(const ir::Function& part);
    bool is_shared(const ir::Instruction& call) const;
    void lower_spread(const ir::Instruction& instruction);
    void lower_engine(const ir::Instruction& instruction);
    llvm::Function* define_spread(const ir::Function& callee);
    void lower_heap(const ir::Instruction& instruction);
    void lower_tell(const ir::Instruction& instruction);
    void lower_intrinsic(const ir::Instruction& instruction);
    void begin_depth(llvm::IRBuilder<>& builder, llvm::Value* depth);
    void check_depth();
    llvm::Value* depth();
    void share_pauses(Pauses& pauses);
    bool has_calls(const ir::Region& region) const;  // of functions that are no parts of this one
    int64_t cost_of(const ir::Region& body) const;
    // function_pauses.cpp
    bool always_calls(const ir::Region& body) const;
    std::optional<int64_t> constant_in(const ir::Region& region, ir::ValueId value) const;
    bool is_conjunction(const ir::Region& body, const ir::Instruction* condition) const;
    bool loses_bits(const ir::Region& body, size_t number) const;
    bool is_divided(const ir::Region& body, size_t number) const;
    bool is_used_up(const ir::Region& body, const ir::Instruction& condition) const;
    bool is_counted(const ir::Region& body, size_t number, bool upwards) const;
    bool counts_to_its_end(const ir::Instruction& loop) const;

    bool is_noted(const ir::Instruction& store) const;
    void note(const ir::Instruction& store);
    void stop_unless(llvm::Value* goes_on);

    bool has_pauses_ = true;     // where a loop begins
    bool notes_writes_ = false;  // it has parameters of the host
};

}  // namespace weft::codegen
