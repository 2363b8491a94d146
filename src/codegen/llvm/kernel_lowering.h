// Kernel IR to LLVM IR, as far as it is the same for every target: values, operations, control flow. A target
// derives from it and says where arguments and memory are and what parallel regions become (lowering.cpp for
// CPUs, ptx_lowering.cpp for NVIDIA GPUs).
//
// Scalars are carried as their parts (two for complex numbers), bool as i8 of value 0 or 1; a buffer as its
// base and its dynamic strides, each like a scalar. Operations are the op
// table's functions from bitcode: their instructions (plain_operation.h), or calls with operands in memory
// that inlining and SROA remove.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/bitcode/bitcode_library.h"
#include "ir/ir.h"

namespace weft::codegen {

class KernelLowering {
public:
    virtual ~KernelLowering() = default;
    KernelLowering(const KernelLowering&) = delete;
    KernelLowering& operator=(const KernelLowering&) = delete;

protected:
    // A scalar's LLVM values: one, or the real and the imaginary part.
    struct Scalar {
        llvm::Value* parts[2] = {nullptr, nullptr};
    };

    struct BufferValue {
        llvm::Value* base = nullptr;
        std::vector<llvm::Value*> strides;
        ir::BufferType type;
        // Of a piece of a stream (lowering.cpp): the last index of its first element, and the loop over its
        // elements, if parallel.
        llvm::Value* origin = nullptr;
        llvm::MDNode* piece_group = nullptr;
    };

    KernelLowering(const ir::Function& kernel, llvm::Module& module, BitcodeLibrary& library,
                   const char* target)
        : kernel_(kernel),
          module_(module),
          library_(library),
          context_(module.getContext()),
          builder_(context_),
          scalars_(kernel.values.size()),
          target_(target) {}

    // --- what targets say ----------------------------------------------------------------------------

    virtual Scalar load(const BufferValue& from, std::span<const ir::ValueId> indices) = 0;
    virtual void store(const BufferValue& to, const Scalar& value, std::span<const ir::ValueId> indices) = 0;
    virtual llvm::Value* address(const BufferValue& buffer, std::span<const ir::ValueId> indices);
    virtual void lower_parallel(const ir::Instruction& instruction) = 0;
    // A word of the arguments that is a buffer's base; one that is a stride, as i64.
    virtual llvm::Value* load_base(int64_t word, const std::string& name) = 0;
    virtual llvm::Value* load_stride(int64_t word, const std::string& name) = 0;
    virtual void lower(const ir::Instruction& instruction);
    // What a target tells LLVM about a `for`.
    virtual void annotate_loop(llvm::BranchInst*, const ir::Instruction&) {}
    // Whether LLVM is told of shared buffers too what aliases them.
    virtual bool tells_shared_apart() const { return false; }
    // Whether operations that are a few instructions stand where they are used, instead of calls.
    virtual bool appends_operations() const { return false; }
    // Before and after an atomic operation that is not relaxed.
    virtual void fence(const ir::Instruction& instruction, bool before);
    // Atomic operations need it, whatever views begin where; x86-64 does them anywhere.
    llvm::Align atomic_alignment(ScalarType type) const {
        return llvm::Align(static_cast<uint64_t>(part_size(type)));
    }
    // Lowers all but the yield; gives what is yielded. Of a region that ends with an exit that is nothing,
    // and the builder's block has its end.
    virtual std::vector<Scalar> lower_region(const ir::Region& region);
    // How much is to be given back by whoever leaves what is being lowered, and giving back all but `kept`.
    virtual size_t held() const { return 0; }
    virtual void give_back(size_t) {}

    [[noreturn]] void refuse(const std::string& what) const;

    // --- types and values ----------------------------------------------------------------------------

    static int part_count(ScalarType type) {
        return type == ScalarType::kComplex64 || type == ScalarType::kComplex128 ? 2 : 1;
    }
    static int64_t part_size(ScalarType type) { return DType(type).itemsize() / part_count(type); }
    llvm::Type* part_type(ScalarType type);
    llvm::Value* part_pointer(llvm::Value* pointer, ScalarType type, int part);

    // Creates the function's first blocks; arguments are read at the builder's point, by read_parameters.
    void begin_function(llvm::Function* function);
    void make_alias_scopes();
    void read_parameters();

    const Scalar& scalar(ir::ValueId value) const;
    llvm::Value* index(ir::ValueId value) const { return scalar(value).parts[0]; }
    llvm::Value* condition(ir::ValueId value);
    const BufferValue& buffer(ir::ValueId value) const { return buffers_.at(value.index); }
    llvm::AllocaInst* allocate_local(llvm::Type* type, llvm::Align alignment, const llvm::Twine& name);
    // Memory for one scalar, for the uniform ABI of the operation bitcode.
    llvm::Value* scalar_slot(ScalarType type);
    bool has_alias_scope(const ir::BufferType& type) const {
        return type.space == ir::AddressSpace::kGlobal ||
               (type.space == ir::AddressSpace::kShared && tells_shared_apart());
    }
    // Tells LLVM what an access to global memory aliases, or to shared memory.
    void set_alias_scope(llvm::Instruction* access, const ir::BufferType& type) const;

    // --- instructions --------------------------------------------------------------------------------

    void lower_constant(const ir::Instruction& instruction);
    // `symbol(in0, ..., out0, ...)` with each operand in a slot.
    void call(const LoopInfo& loop, int inputs, const ir::Instruction& instruction);
    std::vector<Scalar> call(const LoopInfo& loop, std::span<const Scalar> operands, size_t results);
    std::optional<std::vector<Scalar>> append_operation(const LoopInfo& loop,
                                                        std::span<const Scalar> operands, size_t results);
    llvm::Function* reordered(llvm::Function& operation);
    void lower_load(const ir::Instruction& instruction);
    void lower_store(const ir::Instruction& instruction);
    void lower_allocate(const ir::Instruction& instruction);
    void lower_view(const ir::Instruction& instruction);
    // A buffer of global memory from its base and dynamic strides.
    void define_buffer(ir::ValueId name, llvm::Value* base, std::span<llvm::Value* const> strides);
    // Between iterations of a loop the host may stop the function; nothing where `open` is false.
    struct Pauses {
        bool open = false;
        bool in_blocks = false;       // the loop is one around blocks of iterations, and pauses between these
        llvm::Value* left = nullptr;  // memory: iterations up to the next pause,
        llvm::Value* period = nullptr;  // and those from one to the next
    };
    virtual Pauses open_pauses(const ir::Instruction&) { return {}; }
    virtual void pause(const Pauses&) {}
    virtual void close_pauses(const Pauses&) {}
    void lower_for(const ir::Instruction& instruction);
    void lower_while(const ir::Instruction& instruction);
    void lower_if(const ir::Instruction& instruction);
    void lower_exit(const ir::Instruction& instruction);
    void lower_check(const ir::Instruction& instruction);
    // Ends the function. Only functions that the host calls have results and errors.
    virtual void lower_return(std::span<const Scalar> results);
    virtual void lower_raise(uint32_t site, std::span<const ir::ValueId> payload);
    virtual void lower_raise_again(ir::ValueId error);
    // Whether the region ends with an exit; the return at the end of the function's body is none.
    bool is_left(const ir::Region& region) const {
        return !ir::yields(region) &&
               (&region != &kernel_.body || region.body.back().opcode != ir::Opcode::kReturn);
    }
    void lower_atomic(const ir::Instruction& instruction);  // atomic_lowering.cpp
    void lower_compare_exchange(const ir::Instruction& instruction);
    llvm::Value* exchange_loop(llvm::Value* pointer, llvm::Value* value, const ir::Instruction& instruction,
                               ScalarType type);

    llvm::BasicBlock* new_block(const llvm::Twine& name) {
        return llvm::BasicBlock::Create(context_, name, function_);
    }
    using Phis = std::vector<std::vector<llvm::PHINode*>>;
    // Phi nodes at the builder's point for values that arrive from `from`.
    Phis make_phis(std::span<const Scalar> values, llvm::BasicBlock* from);
    static void add_incoming(const Phis& phis, std::span<const Scalar> values, llvm::BasicBlock* from);
    void define(std::span<const ir::ValueId> names, std::span<const Scalar> values);
    void define(std::span<const ir::ValueId> names, const Phis& phis) { define(names, scalars_of(phis)); }
    static std::vector<Scalar> scalars_of(const Phis& phis);

    // Values that arrive somewhere, and from where.
    struct Arrival {
        std::vector<Scalar> values;
        llvm::BasicBlock* from = nullptr;
    };
    struct BlockOfIterations {
        llvm::BasicBlock* head = nullptr;
        llvm::PHINode* lower = nullptr;
        llvm::Value *end = nullptr, *is_last = nullptr;
        Phis carried{};
    };
    BlockOfIterations open_block(llvm::Value* lower, llvm::Value* upper, llvm::BasicBlock* preheader,
                                 llvm::BasicBlock* after, std::span<const Scalar> initials);
    void close_block(const BlockOfIterations& block, const Pauses& pauses, llvm::BasicBlock* exhausted,
                     llvm::BasicBlock* after, std::span<const Scalar> yielded);
    // A loop that is being lowered, and what its exits bring along.
    struct OpenLoop {
        llvm::BasicBlock* next = nullptr;  // where continues go
        llvm::BasicBlock* end = nullptr;
        size_t held = 0;
        std::vector<Arrival> breaks{}, continues{};
    };
    // Lowers a body of the loop. `next` stands before what comes between two iterations; gives the values
    // there, or nothing where no iteration is followed by another.
    std::optional<std::vector<Scalar>> lower_body(OpenLoop& loop, const ir::Region& body);
    // Phi nodes at the builder's point, of which the first arrivals are the given ones.
    Phis join(const Arrival& first, std::span<const Arrival> others);
    // One for each scalar; for each buffer its base, then its dynamic strides.
    std::vector<Scalar> values_of(std::span<const ir::ValueId> names) const;

    const ir::Function& kernel_;
    llvm::Module& module_;
    BitcodeLibrary& library_;
    llvm::LLVMContext& context_;
    llvm::IRBuilder<> builder_;
    llvm::Function* function_ = nullptr;
    llvm::BasicBlock* entry_ = nullptr;
    llvm::Instruction* allocations_ = nullptr;  // local memory is allocated before this one
    std::vector<Scalar> scalars_;               // by value index; of buffers empty
    std::map<uint32_t, BufferValue> buffers_;
    std::map<uint16_t, llvm::MDNode*> alias_scope_;
    std::map<uint16_t, llvm::MDNode*> noalias_;
    std::vector<OpenLoop*> loops_;  // the innermost last

private:
    const char* target_;
    bool reorders_ = false;  // the operation that is lowered is marked as fast
};

}  // namespace weft::codegen
