// What kernels for NVIDIA GPUs share, whether a thread or a team of threads computes a point: arguments,
// memory, the grid's indices. See lowering.h; draw_lowering.h derives from it.
#pragma once

#include <llvm/IR/IntrinsicsNVPTX.h>

#include <set>
#include <span>
#include <string>
#include <vector>

#include "codegen/llvm/kernel_lowering.h"
#include "codegen/ptx/lowering.h"
#include "device/cuda/kernel_image.h"
#include "device/kernel.h"

namespace weft::codegen {

class PtxKernelLowering : public KernelLowering {
public:
    PtxKernelLowering(const ir::Function& kernel, const PtxLoweringOptions& options, llvm::Module& module,
                      BitcodeLibrary& library, CudaKernelImage& image)
        : KernelLowering(kernel, module, library, "GPUs"), options_(options), image_(image) {}

    // With a second kernel, its blocks go on with that one; see lower_for_ptx.
    llvm::Function* run(const ir::Function* second);
    // As a second kernel: its function, whose arguments' words are an image's of its own.
    llvm::Function* run_as_second(int columns);

protected:
    static constexpr unsigned kGlobalSpace = 1;
    static constexpr unsigned kSharedSpace = 3;

    // The body of the grid; `sizes` are its extents, as indices. Before a second kernel it says what of that
    // the block is needed for.
    virtual void lower_grid(const ir::Region& region, std::span<llvm::Value* const> sizes) = 0;
    void lower_parallel(const ir::Instruction& instruction) override;
    void lower(const ir::Instruction& instruction) override;

    llvm::Value* load_base(int64_t word, const std::string& name) override;
    llvm::Value* load_stride(int64_t word, const std::string& name) override;
    Scalar load(const BufferValue& from, std::span<const ir::ValueId> indices) override;
    void store(const BufferValue& to, const Scalar& value, std::span<const ir::ValueId> indices) override;

    llvm::Align alignment_of(ScalarType type) const {
        return options_.unaligned ? llvm::Align(1) : llvm::Align(static_cast<uint64_t>(part_size(type)));
    }
    // Loads of several iterations are under way at once: of as many as keep the loop short. 1: it is as it
    // is.
    static int unrolling_of(std::span<const ir::Region> regions);
    // Of the operations of a region and all that is inside of it.
    static int cost_of(const ir::Region& region);
    static constexpr int kDear = 60;  // two elementary functions
    bool is_dear_float64(const ir::Region& region) const;
    llvm::MDNode* unroll_metadata(int count);
    void annotate_loop(llvm::BranchInst* back, const ir::Instruction& loop) override;
    void lower_shared(const ir::Instruction& instruction);
    llvm::GlobalVariable* shared_array(llvm::Type* element, uint64_t count, const llvm::Twine& name);
    void annotate_load(llvm::LoadInst* load, const ir::BufferType& type) const;
    Scalar load_at(llvm::Value* pointer, const ir::BufferType& type);
    void store_at(llvm::Value* pointer, const Scalar& value, const ir::BufferType& type);

    // --- indices: of 32 bits, or of 64 ---------------------------------------------------------------

    llvm::Type* index_type() { return options_.wide ? builder_.getInt64Ty() : builder_.getInt32Ty(); }
    llvm::ConstantInt* index_constant(int64_t value) {
        return llvm::cast<llvm::ConstantInt>(
            llvm::ConstantInt::get(index_type(), static_cast<uint64_t>(value)));
    }
    llvm::Value* to_index(llvm::Value* value) { return builder_.CreateTrunc(value, index_type()); }
    // Indices of the grid are never negative.
    llvm::Value* from_index(llvm::Value* value) { return builder_.CreateSExt(value, builder_.getInt64Ty()); }
    llvm::Value* special_register(llvm::Intrinsic::ID id) {
        return builder_.CreateZExt(builder_.CreateIntrinsic(id, {}, {}), index_type());
    }
    // Numbers `unit` by dimensions of these sizes, the one of `order` that comes last fastest; the first of
    // `order` gets what is left.
    std::vector<llvm::Value*> decompose(llvm::Value* unit, std::span<llvm::Value* const> sizes,
                                        std::span<const size_t> order);
    // Threads without a point leave the kernel, or go on with the second.
    void return_unless(llvm::Value* condition);
    bool is_followed() const { return second_ != nullptr; }
    // The leading dimensions of the grid that are the second kernel's.
    size_t shared_dimensions() const { return static_cast<size_t>(image_.shared_dimensions); }

    void annotate(const char* what, int value);

    using Values = std::vector<Scalar>;
    // The loads of a body, and what their addresses are made of.
    static std::set<const ir::Instruction*> reads_of(const ir::Region& region);

    // for (i = begin; i < end; i += step), carrying values.
    template <class Body>
    Values counted_loop(llvm::Value* begin, llvm::Value* end, llvm::Value* step, const Values& initials,
                        const Body& body, int unrolled = 0) {
        llvm::BasicBlock* preheader = new_block("loop.preheader");
        llvm::BasicBlock* iteration = new_block("loop");
        llvm::BasicBlock* after = new_block("loop.end");
        llvm::BasicBlock* before = builder_.GetInsertBlock();
        builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), preheader, after);
        builder_.SetInsertPoint(preheader);
        builder_.CreateBr(iteration);
        builder_.SetInsertPoint(iteration);
        llvm::PHINode* i = builder_.CreatePHI(begin->getType(), 2);
        i->addIncoming(begin, preheader);
        const Phis carried = make_phis(initials, preheader);
        const Values yielded = body(i, values_in(carried));
        llvm::Value* next = builder_.CreateNSWAdd(i, step);
        llvm::BasicBlock* latch = builder_.GetInsertBlock();
        llvm::BranchInst* back = builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), iteration, after);
        if (unrolled > 1) back->setMetadata(llvm::LLVMContext::MD_loop, unroll_metadata(unrolled));
        i->addIncoming(next, latch);
        add_incoming(carried, yielded, latch);
        builder_.SetInsertPoint(after);
        const Phis finals = make_phis(initials, before);
        add_incoming(finals, yielded, latch);
        return values_in(finals);
    }

    static Values values_in(const Phis& phis) {
        Values values(phis.size());
        for (size_t i = 0; i < phis.size(); ++i) {
            for (size_t part = 0; part < phis[i].size(); ++part) values[i].parts[part] = phis[i][part];
        }
        return values;
    }

    const PtxLoweringOptions& options_;
    CudaKernelImage& image_;
    int most_threads_ = 256;
    // How many blocks of so many threads are to have room on a multiprocessor, which limits registers; 0: as
    // may be. Without a limit the driver's assembler takes half as many again as the code needs.
    int blocks_at_once_ = 0;
    std::set<uint16_t> unwritten_;  // scopes of which the kernel writes nothing
    // What a block is needed for of the second kernel, as indices; in the second itself, what it computes.
    struct ForSecond {
        llvm::Value *ticket = nullptr, *blocks = nullptr;  // which counts how many blocks
        llvm::Value* number = nullptr;
        int columns = kNoColumns;
        llvm::Value *first_column = nullptr, *column_count = nullptr;
    };
    ForSecond for_second_;
    bool is_second_ = false;

private:
    void begin_entry(std::span<llvm::Type* const> arguments, llvm::GlobalValue::LinkageTypes linkage);
    void call_second();
    void fence(const ir::Instruction& instruction, bool before) override;
    void count_words();
    void find_unwritten_scopes();
    llvm::Value* word_pointer(int64_t index) {
        return builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), function_->getArg(0),
                                                   static_cast<uint64_t>(index));
    }

    const ir::Function* second_ = nullptr;
    llvm::BasicBlock* leave_ = nullptr;
    bool has_grid_ = false;
};

}  // namespace weft::codegen
