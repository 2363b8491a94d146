#include "codegen/ptx/kernel_lowering.h"

#include <llvm/IR/InlineAsm.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <optional>
#include <utility>

#include "weft/errors.h"

namespace weft::codegen {

using ir::AddressSpace;
using ir::BufferType;
using ir::Instruction;
using ir::Opcode;
using ir::ValueId;

namespace {

constexpr size_t kMostParameterBytes = 4096;

std::string symbol_of(const std::string& name) {
    std::string symbol = "weft_";
    for (const char c : name) symbol += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return symbol;
}

}  // namespace

namespace {

int grid_dimensions_of(const ir::Function& kernel) {
    const auto grid = std::find_if(kernel.body.body.begin(), kernel.body.body.end(),
                                   [](const auto& each) { return each.opcode == Opcode::kParallel; });
    return grid == kernel.body.body.end() ? 0 : static_cast<int>(grid->operands.size());
}

}  // namespace

void PtxKernelLowering::begin_entry(std::span<llvm::Type* const> arguments,
                                    llvm::GlobalValue::LinkageTypes linkage) {
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {arguments.data(), arguments.size()}, false);
    begin_function(llvm::Function::Create(type, linkage, image_.symbol, module_));
    function_->getArg(0)->setName("words");
    if (!is_second_) find_unwritten_scopes();  // what a second kernel reads is written by the first
    make_alias_scopes();
    read_parameters();
}

llvm::Function* PtxKernelLowering::run(const ir::Function* second) {
    image_.symbol = symbol_of(kernel_.name);
    image_.wide = options_.wide;
    count_words();
    if (second != nullptr) {
        second_ = second;
        image_.shared_dimensions = grid_dimensions_of(*second);
    }
    begin_entry(std::array<llvm::Type*, 1>{builder_.getPtrTy()}, llvm::GlobalValue::ExternalLinkage);
    lower_region(kernel_.body);
    if (is_followed()) call_second();
    builder_.CreateRetVoid();
    if (static_cast<size_t>(image_.words) * sizeof(ArgumentWord) > kMostParameterBytes)
        refuse("so many arguments");
    auto* words = llvm::ArrayType::get(builder_.getInt64Ty(), static_cast<uint64_t>(image_.words));
    function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
    function_->addParamAttr(0, llvm::Attribute::getWithByValType(context_, words));
    function_->addParamAttr(0, llvm::Attribute::getWithAlignment(context_, llvm::Align(8)));
    annotate("maxntidx", most_threads_);
    if (blocks_at_once_ > 0) annotate("minctasm", blocks_at_once_);
    return function_;
}

llvm::Function* PtxKernelLowering::run_as_second(int columns) {
    is_second_ = true;
    image_.symbol = symbol_of(kernel_.name);
    count_words();
    begin_entry(std::array<llvm::Type*, 4>{builder_.getPtrTy(), index_type(), index_type(), index_type()},
                llvm::GlobalValue::InternalLinkage);
    function_->addFnAttr(llvm::Attribute::AlwaysInline);
    for_second_.number = function_->getArg(1);
    for_second_.columns = columns;
    for_second_.first_column = function_->getArg(2);
    for_second_.column_count = function_->getArg(3);
    lower_region(kernel_.body);
    builder_.CreateRetVoid();
    return function_;
}

// What the block's threads have written is visible to whoever sees its ticket taken, and the block that takes
// the last one sees what all have written: barriers order the threads of a block, fences the blocks.
void PtxKernelLowering::call_second() {
    const PtxSecondKernel second =
        lower_second_for_ptx(*second_, for_second_.columns, options_, module_, library_, image_);
    builder_.CreateBr(leave_);
    builder_.SetInsertPoint(leave_);
    llvm::Type* type = builder_.getInt32Ty();
    const auto barrier = [&] { builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {}); };
    // LLVM has the dearer membar.gl only, which orders more than what is released here and acquired.
    const auto fence = [&] {
        builder_.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(builder_.getVoidTy(), false),
                                                 "fence.acq_rel.gpu;", "~{memory}", true));
    };
    const auto thread = [&](llvm::Intrinsic::ID id) { return builder_.CreateIntrinsic(id, {}, {}); };
    llvm::GlobalVariable* last = shared_array(type, 1, "last");
    llvm::BasicBlock* taking = new_block("ticket");
    llvm::BasicBlock* resetting = new_block("last");
    llvm::BasicBlock* taken = new_block("taken");
    llvm::BasicBlock* going_on = new_block("second");
    llvm::BasicBlock* end = new_block("second.end");
    barrier();
    llvm::Value* number = builder_.CreateOr(thread(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x),
                                            thread(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y));
    builder_.CreateCondBr(builder_.CreateICmpEQ(number, builder_.getInt32(0)), taking, taken);

    builder_.SetInsertPoint(taking);
    llvm::Value* ticket =
        builder_.CreateInBoundsGEP(type, load_base(image_.words - 1, "tickets"),
                                   {builder_.CreateZExt(for_second_.ticket, builder_.getInt64Ty())});
    fence();
    llvm::Value* before = builder_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, ticket, builder_.getInt32(1),
                                                   llvm::Align(4), llvm::AtomicOrdering::Monotonic);
    fence();
    llvm::Value* count = builder_.CreateTrunc(for_second_.blocks, type);
    llvm::Value* is_last =
        builder_.CreateICmpEQ(before, builder_.CreateSub(count, builder_.getInt32(1)), "is_last");
    builder_.CreateAlignedStore(builder_.CreateZExt(is_last, type), last, llvm::Align(4));
    builder_.CreateCondBr(is_last, resetting, taken);
    builder_.SetInsertPoint(resetting);
    builder_.CreateAlignedStore(builder_.getInt32(0), ticket, llvm::Align(4));
    builder_.CreateBr(taken);

    builder_.SetInsertPoint(taken);
    barrier();
    llvm::Value* goes_on = builder_.CreateAlignedLoad(type, last, llvm::Align(4));
    builder_.CreateCondBr(builder_.CreateICmpNE(goes_on, builder_.getInt32(0)), going_on, end);
    builder_.SetInsertPoint(going_on);
    llvm::Value* const none = index_constant(0);
    const bool in_columns = for_second_.columns != kNoColumns;
    builder_.CreateCall(second.function, {word_pointer(second.first_word), for_second_.number,
                                          in_columns ? for_second_.first_column : none,
                                          in_columns ? for_second_.column_count : none});
    builder_.CreateBr(end);
    builder_.SetInsertPoint(end);
}

// Where each word is and what may be taken for granted of it.
void PtxKernelLowering::count_words() {
    for (const ValueId parameter : kernel_.parameters) {
        const ir::Type& type = kernel_.type(parameter);
        if (!type.is_buffer) {
            image_.words += type.scalar == ScalarType::kComplex128 ? 2 : 1;
            continue;
        }
        CudaBufferFacts facts;
        facts.alignment = static_cast<int>(alignment_of(type.buffer.element).value());
        facts.base_word = image_.words++;
        for (const int64_t stride : type.buffer.strides) {
            if (stride == ir::kDynamic) facts.stride_words.push_back(image_.words++);
        }
        image_.buffers.push_back(std::move(facts));
    }
}

llvm::Value* PtxKernelLowering::load_base(int64_t word, const std::string& name) {
    llvm::Value* address =
        builder_.CreateAlignedLoad(builder_.getInt64Ty(), word_pointer(word), llvm::Align(8));
    return builder_.CreateIntToPtr(address, builder_.getPtrTy(kGlobalSpace), name);
}

// A narrow index times a narrow stride is one instruction (mul.wide.s32), whatever the product is.
llvm::Value* PtxKernelLowering::load_stride(int64_t word, const std::string& name) {
    llvm::Type* type = index_type();
    llvm::Value* stride = builder_.CreateAlignedLoad(type, word_pointer(word), llvm::Align(8), name);
    return builder_.CreateSExt(stride, builder_.getInt64Ty());
}

void PtxKernelLowering::annotate(const char* what, int value) {
    llvm::Metadata* const parts[] = {
        llvm::ValueAsMetadata::get(function_), llvm::MDString::get(context_, what),
        llvm::ConstantAsMetadata::get(builder_.getInt32(static_cast<uint32_t>(value)))};
    module_.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(context_, parts));
}

// Scopes of which this kernel writes nothing.
void PtxKernelLowering::find_unwritten_scopes() {
    std::set<uint16_t> written;
    for (const ir::ValueInfo& value : kernel_.values) {
        if (value.type.is_buffer && !value.type.buffer.readonly)
            written.insert(value.type.buffer.alias_scope);
    }
    for (const ir::ValueInfo& value : kernel_.values) {
        if (value.type.is_buffer && !written.contains(value.type.buffer.alias_scope))
            unwritten_.insert(value.type.buffer.alias_scope);
    }
}

void PtxKernelLowering::annotate_load(llvm::LoadInst* load, const BufferType& type) const {
    set_alias_scope(load, type);
    if (type.space == AddressSpace::kGlobal && unwritten_.contains(type.alias_scope))
        load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
}

KernelLowering::Scalar PtxKernelLowering::load(const BufferValue& from, std::span<const ValueId> indices) {
    return load_at(address(from, indices), from.type);
}

KernelLowering::Scalar PtxKernelLowering::load_at(llvm::Value* pointer, const BufferType& type) {
    Scalar result;
    for (int part = 0; part < part_count(type.element); ++part) {
        llvm::LoadInst* load = builder_.CreateAlignedLoad(
            part_type(type.element), part_pointer(pointer, type.element, part), alignment_of(type.element));
        annotate_load(load, type);
        result.parts[part] = load;
    }
    return result;
}

void PtxKernelLowering::store(const BufferValue& to, const Scalar& value, std::span<const ValueId> indices) {
    store_at(address(to, indices), value, to.type);
}

void PtxKernelLowering::store_at(llvm::Value* pointer, const Scalar& value, const BufferType& type) {
    for (int part = 0; part < part_count(type.element); ++part) {
        llvm::StoreInst* store = builder_.CreateAlignedStore(
            value.parts[part], part_pointer(pointer, type.element, part), alignment_of(type.element));
        set_alias_scope(store, type);
    }
}

std::vector<llvm::Value*> PtxKernelLowering::decompose(llvm::Value* unit, std::span<llvm::Value* const> sizes,
                                                       std::span<const size_t> order) {
    std::vector<llvm::Value*> point(sizes.size());
    for (size_t k = order.size(); k-- > 1;) {
        llvm::Value* size = sizes[order[k]];
        llvm::Value* quotient = builder_.CreateUDiv(unit, size);
        point[order[k]] = builder_.CreateNSWSub(unit, builder_.CreateNSWMul(quotient, size));
        unit = quotient;
    }
    point[order[0]] = unit;
    return point;
}

void PtxKernelLowering::return_unless(llvm::Value* condition) {
    if (leave_ == nullptr) {
        leave_ = new_block("outside");
        if (!is_followed()) llvm::ReturnInst::Create(context_, leave_);
    }
    llvm::BasicBlock* going_on = new_block("inside");
    builder_.CreateCondBr(condition, going_on, leave_);
    builder_.SetInsertPoint(going_on);
}

void PtxKernelLowering::lower(const Instruction& instruction) {
    switch (instruction.opcode) {
        case Opcode::kAllocate:
            if (kernel_.type(instruction.results[0]).buffer.space != AddressSpace::kShared) break;
            lower_shared(instruction);
            return;
        case Opcode::kAtomic: lower_atomic(instruction); return;
        case Opcode::kCompareExchange: lower_compare_exchange(instruction); return;
        case Opcode::kView:
        case Opcode::kNull: refuse("a view of a buffer");
        case Opcode::kFor:
        case Opcode::kWhile:
        case Opcode::kIf:
            if (std::any_of(instruction.results.begin(), instruction.results.end(),
                            [&](ValueId result) { return kernel_.type(result).is_buffer; }))
                refuse("a buffer that is carried");
            break;
        default: break;
    }
    KernelLowering::lower(instruction);
}

llvm::GlobalVariable* PtxKernelLowering::shared_array(llvm::Type* element, uint64_t count,
                                                      const llvm::Twine& name) {
    auto* type = llvm::ArrayType::get(element, count);
    auto* array = new llvm::GlobalVariable(module_, type, false, llvm::GlobalValue::InternalLinkage,
                                           llvm::PoisonValue::get(type), name, nullptr,
                                           llvm::GlobalValue::NotThreadLocal, kSharedSpace);
    array->setAlignment(llvm::Align(16));
    return array;
}

int PtxKernelLowering::unrolling_of(std::span<const ir::Region> regions) {
    int cost = 0;
    bool loads = false;
    for (const ir::Region& region : regions) {
        for (const Instruction& inner : region.body) {
            if (!inner.regions.empty() || inner.opcode == Opcode::kBarrier) return 1;
            if (inner.opcode == Opcode::kApply) cost += inner.op->cost;
            loads |= inner.opcode == Opcode::kLoad;
        }
    }
    return !loads ? 1 : cost <= 4 ? 16 : cost <= 12 ? 8 : cost <= 40 ? 4 : 2;
}

int PtxKernelLowering::cost_of(const ir::Region& region) {
    int cost = 0;
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode == Opcode::kApply) cost += instruction.op->cost;
        for (const ir::Region& inner : instruction.regions) cost += cost_of(inner);
    }
    return cost;
}

bool PtxKernelLowering::is_dear_float64(const ir::Region& region) const {
    const std::function<bool(const ir::Region&)> computes = [&](const ir::Region& inner) {
        return std::any_of(inner.body.begin(), inner.body.end(), [&](const Instruction& instruction) {
            const bool is_double = instruction.opcode == Opcode::kApply &&
                                   kernel_.type(instruction.results[0]).scalar == ScalarType::kFloat64;
            return is_double || std::any_of(instruction.regions.begin(), instruction.regions.end(), computes);
        });
    };
    return cost_of(region) >= kDear && computes(region);
}

std::set<const Instruction*> PtxKernelLowering::reads_of(const ir::Region& region) {
    std::set<const Instruction*> early;
    std::set<uint32_t> needed;
    for (size_t at = region.body.size(); at-- > 0;) {
        const Instruction& instruction = region.body[at];
        const bool gives = std::any_of(instruction.results.begin(), instruction.results.end(),
                                       [&](ValueId result) { return needed.contains(result.index); });
        if (instruction.opcode != Opcode::kLoad && !gives) continue;
        early.insert(&instruction);
        for (const ValueId operand : instruction.operands) needed.insert(operand.index);
    }
    return early;
}

llvm::MDNode* PtxKernelLowering::unroll_metadata(int count) {
    llvm::Metadata* const parts[] = {
        nullptr,
        llvm::MDNode::get(context_,
                          {llvm::MDString::get(context_, "llvm.loop.unroll.count"),
                           llvm::ConstantAsMetadata::get(builder_.getInt32(static_cast<uint32_t>(count)))})};
    llvm::MDNode* loop = llvm::MDNode::getDistinct(context_, parts);
    loop->replaceOperandWith(0, loop);
    return loop;
}

void PtxKernelLowering::annotate_loop(llvm::BranchInst* back, const Instruction& loop) {
    if (loop.opcode != Opcode::kFor) return;
    const int count = unrolling_of(loop.regions);
    if (count > 1) back->setMetadata(llvm::LLVMContext::MD_loop, unroll_metadata(count));
}

void PtxKernelLowering::lower_shared(const Instruction& instruction) {
    const ValueId result = instruction.results[0];
    const BufferType& type = kernel_.type(result).buffer;
    if (!instruction.operands.empty()) refuse("shared memory whose size is no constant");
    int64_t last = 0;  // byte offset of the last element
    for (size_t d = 0; d < type.sizes.size(); ++d) last += (type.sizes[d] - 1) * type.strides[d];
    BufferValue value;
    value.type = type;
    value.base = shared_array(builder_.getInt8Ty(),
                              static_cast<uint64_t>(last + DType(type.element).itemsize()), "shared");
    for (const int64_t stride : type.strides)
        value.strides.push_back(builder_.getInt64(static_cast<uint64_t>(stride)));
    buffers_.insert_or_assign(result.index, std::move(value));
}

// The instructions themselves are relaxed; fences give them their order.
void PtxKernelLowering::fence(const Instruction& instruction, bool before) {
    if (instruction.scope == ir::MemoryScope::kSystem) refuse("an atomic operation of system scope");
    const ir::MemoryOrder order = instruction.order;
    if (order == ir::MemoryOrder::kRelaxed) return;
    if (order == (before ? ir::MemoryOrder::kAcquire : ir::MemoryOrder::kRelease)) return;
    builder_.CreateIntrinsic(instruction.scope == ir::MemoryScope::kBlock ? llvm::Intrinsic::nvvm_membar_cta
                                                                          : llvm::Intrinsic::nvvm_membar_gl,
                             {}, {});
}

void PtxKernelLowering::lower_parallel(const Instruction& instruction) {
    if (instruction.level != ir::ParallelLevel::kGrid) refuse("parallel(block)");
    const size_t rank = instruction.operands.size();
    if (has_grid_) refuse("more than one parallel(grid)");
    has_grid_ = true;
    if (rank > kMaxGridDimensions) refuse("a grid of " + std::to_string(rank) + " dimensions");
    if (instruction.range_dimension >= 0) refuse("a grid in ranges");
    image_.grid_dimensions = static_cast<int>(rank);
    std::vector<llvm::Value*> sizes;
    for (const ValueId operand : instruction.operands) sizes.push_back(to_index(index(operand)));
    lower_grid(instruction.regions[0], sizes);
}

}  // namespace weft::codegen
