#include "codegen/ptx/launch_lowering.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "codegen/llvm/source_lines.h"
#include "codegen/ptx/launches/device_print.h"
#include "device/cuda/launch_error.h"
#include "device/kernel.h"
#include "ir/calls.h"
#include "ir/intrinsic.h"
#include "weft/errors.h"

namespace weft::codegen {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::ValueId;

constexpr size_t kMostParameterBytes = 4096;
constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;
constexpr uint64_t kMemoryAlignment = 16;
constexpr llvm::Intrinsic::ID kThreadRegisters[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x,
                                                    llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y,
                                                    llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z};
constexpr llvm::Intrinsic::ID kBlockRegisters[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                                   llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                                   llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
constexpr const char* kBlockMemory = "weft_block_memory";

// Memory that a function has in its frame besides what LLVM needs: for prints, which come one after another,
// and of the thread's own arrays.
struct FrameBytes {
    FrameBytes(const ir::Function& function, const PrintedBySite& printed) { look(function.body, printed); }

    uint64_t printed = 0, arrays = 0;

private:
    void look(const ir::Region& region, const PrintedBySite& by_site) {
        for (const Instruction& each : region.body) {
            if (each.opcode == Opcode::kConstant && each.constant.type == ScalarType::kInt64)
                constants_[each.results[0].index] = static_cast<uint64_t>(each.constant.as<int64_t>());
            if (each.opcode == Opcode::kIntrinsic && each.intrinsic == ir::Intrinsic::kThreadMemory)
                arrays += constants_[each.operands[0].index];
            if (const auto found = by_site.find(each.site);
                each.opcode == Opcode::kTell && found != by_site.end())
                printed = std::max(printed, bytes_to_print(found->second));
            for (const ir::Region& inner : each.regions) look(inner, by_site);
        }
    }

    std::map<uint32_t, uint64_t> constants_;  // by value
};

// What the functions of a launch share.
struct Launch {
    const PtxOptions& options;
    Callees called{};
    std::set<std::string> recursive{};  // those that come to call themselves
    uint64_t frame_bytes = 0;           // of the arrays and prints of one of these, at most
    SourceLines* lines = nullptr;       // null where they are not told
};

class LaunchLowering final : public CallLowering {
public:
    LaunchLowering(const ir::Function& function, const Launch& launch, llvm::Module& module,
                   BitcodeLibrary& library)
        : CallLowering(function, launch.called, module, library, "GPUs"),
          launch_(launch),
          options_(launch.options),
          block_(launch.options.block) {}

    void run_entry(CudaKernelImage& image) {
        is_entry_ = true;
        image.symbol = "weft_";
        for (const char c : kernel_.name)
            image.symbol += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
        count_words(image);
        auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy()}, false);
        begin_function(
            llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, image.symbol, module_));
        function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
        auto* words = llvm::ArrayType::get(builder_.getInt64Ty(), static_cast<uint64_t>(image.words));
        function_->addParamAttr(0, llvm::Attribute::getWithByValType(context_, words));
        function_->addParamAttr(0, llvm::Attribute::getWithAlignment(context_, llvm::Align(8)));
        function_->getArg(0)->setName("words");
        results_ = llvm::ConstantPointerNull::get(builder_.getPtrTy());
        error_ = allocate_local(llvm::ArrayType::get(builder_.getInt8Ty(), kErrorBytes + kGridBytes),
                                llvm::Align(kResultBytes), "error");
        begin_lines();
        make_alias_scopes();
        read_parameters();
        for (const size_t number : options_.sizes) annotate_size(kernel_.parameters[number]);
        annotate_block();
        if (options_.together)
            builder_.CreateAlignedStore(load_word(grid_word_, "grid"), at(error_, kErrorBytes),
                                        llvm::Align(8));
        if (options_.recursive) begin_stack();
        lower_body();
    }

    void run_callee() {
        begin_callee();
        begin_lines();
        if (launch_.recursive.contains(kernel_.name)) {
            function_->addFnAttr(llvm::Attribute::NoInline);
            function_->addFnAttr(llvm::Attribute::Convergent);
            // A loop in place of a call in the end would never come to an end.
            function_->addFnAttr("disable-tail-calls", "true");
            check_stack();
        } else {
            function_->addFnAttr(llvm::Attribute::AlwaysInline);
        }
        lower_body();
    }

private:
    void begin_lines() {
        if (launch_.lines != nullptr)
            builder_.SetCurrentDebugLocation(launch_.lines->begin(*function_, kernel_));
    }

    void lower_body() {
        const std::vector<Scalar> values = lower_region(kernel_.body);
        if (!is_left(kernel_.body)) lower_return(values);
    }

    // The driver's compiler gives a thread the registers that a block of this size leaves it.
    void annotate_block() {
        if (options_.most_registers > 0) annotate("maxnreg", options_.most_registers);
        if (options_.blocks_at_once > 0) annotate("minctasm", options_.blocks_at_once);
        if (block_[0] == 0) {
            if (options_.most_threads > 0) annotate("maxntidx", options_.most_threads);
            return;
        }
        const char* const names[] = {"reqntidx", "reqntidy", "reqntidz"};
        for (size_t axis = 0; axis < block_.size(); ++axis) annotate(names[axis], block_[axis]);
    }
    // So comparisons with signs are those without, and one check of an index follows from another.
    void annotate_size(ValueId parameter) {
        auto* read = llvm::cast<llvm::LoadInst>(scalars_[parameter.index].parts[0]);
        read->setMetadata(
            llvm::LLVMContext::MD_range,
            llvm::MDBuilder(context_).createRange(llvm::APInt(64, 0), llvm::APInt::getSignedMinValue(64)));
    }
    void annotate(const char* what, int value) {
        llvm::Metadata* const parts[] = {
            llvm::ValueAsMetadata::get(function_), llvm::MDString::get(context_, what),
            llvm::ConstantAsMetadata::get(builder_.getInt32(static_cast<uint32_t>(value)))};
        module_.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(context_, parts));
    }

    // --- arguments -----------------------------------------------------------------------------------

    void count_words(CudaKernelImage& image) {
        for (size_t number = 0; number < kernel_.parameters.size(); ++number) {
            const ir::Type& type = kernel_.type(kernel_.parameters[number]);
            if (!type.is_buffer) {
                if (std::find(options_.strides.begin(), options_.strides.end(), number) !=
                    options_.strides.end())
                    image.buffers.back().stride_words.push_back(image.words);
                image.words += type.scalar == ScalarType::kComplex128 ? 2 : 1;
                continue;
            }
            CudaBufferFacts facts;
            facts.alignment = static_cast<int>(part_size(type.buffer.element));
            facts.base_word = image.words++;
            for (const int64_t stride : type.buffer.strides) {
                if (stride == ir::kDynamic) facts.stride_words.push_back(image.words++);
            }
            image.buffers.push_back(std::move(facts));
        }
        error_word_ = image.words++;
        launch_word_ = image.words++;
        if (options_.together) grid_word_ = image.words++;
        if (options_.recursive) stack_word_ = image.words++;
        if (static_cast<size_t>(image.words) * sizeof(ArgumentWord) > kMostParameterBytes)
            refuse("so many arguments");
    }

    llvm::Value* load_word(int64_t word, const std::string& name) {
        llvm::Value* place = builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), function_->getArg(0),
                                                                 static_cast<uint64_t>(word));
        return builder_.CreateAlignedLoad(builder_.getInt64Ty(), place, llvm::Align(8), name);
    }
    // LLVM finds out which pointers are of global memory by where they come from.
    llvm::Value* global_pointer(llvm::Value* address) {
        return builder_.CreateAddrSpaceCast(builder_.CreateIntToPtr(address, builder_.getPtrTy(kGlobalSpace)),
                                            builder_.getPtrTy());
    }
    llvm::Value* load_base(int64_t word, const std::string& name) override {
        return global_pointer(load_word(word, name));
    }
    llvm::Value* load_stride(int64_t word, const std::string& name) override { return load_word(word, name); }

    // --- memory --------------------------------------------------------------------------------------

    Scalar load(const BufferValue& from, std::span<const ValueId> indices) override {
        llvm::Value* pointer = address(from, indices);
        Scalar result;
        for (int part = 0; part < part_count(from.type.element); ++part) {
            llvm::LoadInst* load = builder_.CreateAlignedLoad(part_type(from.type.element),
                                                              part_pointer(pointer, from.type.element, part),
                                                              atomic_alignment(from.type.element));
            set_alias_scope(load, from.type);
            result.parts[part] = load;
        }
        return result;
    }

    void store(const BufferValue& to, const Scalar& value, std::span<const ValueId> indices) override {
        llvm::Value* pointer = address(to, indices);
        for (int part = 0; part < part_count(to.type.element); ++part) {
            llvm::StoreInst* store =
                builder_.CreateAlignedStore(value.parts[part], part_pointer(pointer, to.type.element, part),
                                            atomic_alignment(to.type.element));
            set_alias_scope(store, to.type);
        }
    }

    // The instructions themselves are relaxed; fences give them their order.
    void fence(const Instruction& instruction, bool before) override {
        const ir::MemoryOrder order = instruction.order;
        if (order == ir::MemoryOrder::kRelaxed) return;
        if (order == (before ? ir::MemoryOrder::kAcquire : ir::MemoryOrder::kRelease)) return;
        fence(instruction.scope == ir::MemoryScope::kBlock    ? llvm::Intrinsic::nvvm_membar_cta
              : instruction.scope == ir::MemoryScope::kDevice ? llvm::Intrinsic::nvvm_membar_gl
                                                              : llvm::Intrinsic::nvvm_membar_sys);
    }
    void fence(llvm::Intrinsic::ID membar) { builder_.CreateIntrinsic(membar, {}, {}); }

    // What the launch gives the block.
    llvm::Value* block_memory() {
        llvm::GlobalVariable* array = module_.getGlobalVariable(kBlockMemory);
        if (array == nullptr) {
            array = new llvm::GlobalVariable(module_, llvm::ArrayType::get(builder_.getInt8Ty(), 0), false,
                                             llvm::GlobalValue::ExternalLinkage, nullptr, kBlockMemory,
                                             nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
            array->setAlignment(llvm::Align(kMemoryAlignment));
        }
        return builder_.CreatePtrToInt(builder_.CreateAddrSpaceCast(array, builder_.getPtrTy()),
                                       builder_.getInt64Ty());
    }

    void lower_parallel(const Instruction&) override { refuse("parallel"); }

    // --- what ends a thread --------------------------------------------------------------------------

    void return_status(llvm::Value* status, std::span<const Scalar> results) override {
        if (!is_entry_) return CallLowering::return_status(status, results);
        const auto* known = llvm::dyn_cast<llvm::ConstantInt>(status);
        if (known == nullptr || !known->isZero()) report(status);
        builder_.CreateRetVoid();
    }

    void report(llvm::Value* status) {
        llvm::Value* record = global_pointer(load_word(error_word_, "record"));
        llvm::Value* exchanged = builder_.CreateAtomicCmpXchg(
            record, builder_.getInt64(0), status, llvm::Align(8), llvm::AtomicOrdering::Monotonic,
            llvm::AtomicOrdering::Monotonic, llvm::SyncScope::System);
        llvm::BasicBlock* first = new_block("first");
        llvm::BasicBlock* end = new_block("reported");
        builder_.CreateCondBr(builder_.CreateExtractValue(exchanged, 1), first, end);
        builder_.SetInsertPoint(first);
        builder_.CreateAlignedStore(load_word(launch_word_, "launch"),
                                    at(record, offsetof(LaunchError, launch)), llvm::Align(8));
        for (uint64_t byte = 0; byte < kErrorBytes; byte += 8) {
            llvm::Value* told =
                builder_.CreateAlignedLoad(builder_.getInt64Ty(), at(error_, byte), llvm::Align(8));
            builder_.CreateAlignedStore(told, at(record, offsetof(LaunchError, values) + byte),
                                        llvm::Align(8));
        }
        if (options_.together) {  // others need not wait for this thread
            fence(llvm::Intrinsic::nvvm_membar_sys);
            builder_.CreateAlignedStore(builder_.getInt32(1), at(grid_word(), sizeof(uint32_t)),
                                        llvm::Align(4), /*isVolatile=*/true);
        }
        builder_.CreateBr(end);
        builder_.SetInsertPoint(end);
    }

    // --- the grid's barrier --------------------------------------------------------------------------

    // One word, of two halves: how many blocks have come, and whether a thread has raised. Callees find its
    // address behind what an error tells.
    llvm::Value* grid_word() {
        return global_pointer(
            builder_.CreateAlignedLoad(builder_.getInt64Ty(), at(error_, kErrorBytes), llvm::Align(8)));
    }

    llvm::Value* is_first(std::span<const llvm::Intrinsic::ID> numbers) {
        llvm::Value* all = call(numbers[0]);
        for (const llvm::Intrinsic::ID each : numbers.subspan(1)) all = builder_.CreateOr(all, call(each));
        return builder_.CreateIsNull(all);
    }

    // The first thread of each block counts it. The first block counts so much that the highest bit changes
    // when all have come, and the others are as they were: so the next barrier needs no other word. Where a
    // thread has raised, not all will come. The block's first thread tells the others that they may go on; it
    // does not if it has seen that, or is itself the one.
    void lower_grid_barrier() {
        using llvm::Intrinsic::ID;
        constexpr uint32_t kHighest = uint32_t{1} << 31;
        llvm::BasicBlock *const arrive = new_block("arrive"), *const wait = new_block("wait"),
                                *const leave = new_block("leave"), *const together = new_block("together");
        call(llvm::Intrinsic::nvvm_barrier0);
        llvm::BasicBlock* const others = builder_.GetInsertBlock();
        builder_.CreateCondBr(is_first(kThreadRegisters), arrive, together);

        builder_.SetInsertPoint(arrive);
        fence(llvm::Intrinsic::nvvm_membar_gl);
        llvm::Value* blocks = call(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
        for (const ID each :
             {llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y, llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_z})
            blocks = builder_.CreateMul(blocks, call(each));
        llvm::Value* const all_but_one = builder_.CreateSub(blocks, builder_.getInt32(1));
        llvm::Value* const counted = builder_.CreateSelect(
            is_first(kBlockRegisters), builder_.CreateSub(builder_.getInt32(kHighest), all_but_one),
            builder_.getInt32(1));
        llvm::Value* const word = grid_word();
        llvm::Value* const before = to_word(builder_.CreateAtomicRMW(
            llvm::AtomicRMWInst::Add, word, counted, llvm::Align(4), llvm::AtomicOrdering::Monotonic));
        builder_.CreateBr(wait);

        builder_.SetInsertPoint(wait);
        llvm::Value* const now =
            builder_.CreateAlignedLoad(builder_.getInt64Ty(), word, llvm::Align(8), /*isVolatile=*/true);
        llvm::Value* const news = builder_.CreateXor(before, now);  // the other half of `before` is 0
        constexpr uint64_t kNews = (~uint64_t{0} << 32) | kHighest;
        builder_.CreateCondBr(builder_.CreateIsNotNull(builder_.CreateAnd(news, builder_.getInt64(kNews))),
                              leave, wait);

        builder_.SetInsertPoint(leave);
        fence(llvm::Intrinsic::nvvm_membar_gl);
        llvm::Value* const all_came = builder_.CreateICmpULT(now, builder_.getInt64(uint64_t{1} << 32));
        builder_.CreateBr(together);

        builder_.SetInsertPoint(together);
        llvm::PHINode* const goes_on = builder_.CreatePHI(builder_.getInt1Ty(), 2, "goes_on");
        goes_on->addIncoming(builder_.getFalse(), others);
        goes_on->addIncoming(all_came, leave);
        llvm::Value* const told =
            call(llvm::Intrinsic::nvvm_barrier0_or, {builder_.CreateZExt(goes_on, builder_.getInt32Ty())});
        // The record is there: this status tells nobody.
        return_if_raised(builder_.CreateSelect(builder_.CreateIsNull(told), builder_.getInt64(INT64_MAX),
                                               builder_.getInt64(0)));
    }

    void lower_raise(uint32_t site, std::span<const ValueId> payload) override {
        if (payload.size() > static_cast<size_t>(kMostErrorValues)) refuse("an error of so many values");
        CallLowering::lower_raise(site, payload);
    }

    // --- functions that call themselves ---------------------------------------------------------------

    // Where the first frame is, with how many bytes of stack there are from it on, whichever way it grows.
    void begin_stack() {
        depth_ = allocate_local(builder_.getInt64Ty(), llvm::Align(8), "stack");
        builder_.CreateAlignedStore(load_word(stack_word_, "bytes"), depth_, llvm::Align(8));
    }

    void check_stack() {
        llvm::Type* const word = builder_.getInt64Ty();
        llvm::Value* const frame = allocate_local(word, llvm::Align(8), "frame");
        builder_.CreateAlignedStore(builder_.getInt64(0), frame, llvm::Align(8), /*isVolatile=*/true);
        llvm::Value* const way =
            builder_.CreateSub(builder_.CreatePtrToInt(depth_, word), builder_.CreatePtrToInt(frame, word));
        llvm::Value* const used =
            builder_.CreateAdd(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, way, builder_.getFalse()),
                               builder_.getInt64(launch_.frame_bytes));
        llvm::Value* const bytes = builder_.CreateAlignedLoad(word, depth_, llvm::Align(8), "bytes");
        return_unless(builder_.CreateICmpSLE(used, bytes), builder_.getInt64(uint64_t{ir::kTooDeep} + 1));
    }

    llvm::Value* depth_of(const Instruction&, const ir::Function&) override {
        if (options_.recursive) return depth_;
        return llvm::ConstantPointerNull::get(builder_.getPtrTy());
    }

    // --- what a thread prints ------------------------------------------------------------------------

    void lower_tell(const Instruction& instruction) {
        const auto found = options_.printed.find(instruction.site);
        if (found == options_.printed.end()) refuse("something that is told");
        if (printed_ == nullptr)
            printed_ = allocate_local(
                llvm::ArrayType::get(builder_.getInt8Ty(), FrameBytes(kernel_, options_.printed).printed),
                llvm::Align(8), "printed");
        const auto parts_of = [&](size_t value) -> std::span<llvm::Value* const> {
            return scalar(instruction.operands.at(value)).parts;
        };
        print_on_device(builder_, found->second, parts_of, printed_);
    }

    // --- what threads do together --------------------------------------------------------------------

    void lower(const Instruction& instruction) override {
        if (launch_.lines != nullptr && instruction.line != 0)
            builder_.SetCurrentDebugLocation(launch_.lines->at(instruction.line));
        switch (instruction.opcode) {
            case Opcode::kTell: lower_tell(instruction); return;
            case Opcode::kBarrier: builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {}); return;
            case Opcode::kIntrinsic: lower_intrinsic(instruction); return;
            default: CallLowering::lower(instruction);
        }
    }

    llvm::Value* to_word(llvm::Value* value) { return builder_.CreateZExt(value, builder_.getInt64Ty()); }
    llvm::Value* call(llvm::Intrinsic::ID id, std::vector<llvm::Value*> operands = {}) {
        return builder_.CreateIntrinsic(id, {}, operands);
    }
    llvm::Value* mask(const Instruction& instruction) {
        return builder_.CreateTrunc(index(instruction.operands[0]), builder_.getInt32Ty());
    }

    // One below the limit along its axis.
    llvm::Value* number(const Instruction& instruction, std::span<const llvm::Intrinsic::ID> registers,
                        std::span<const uint32_t> limits) {
        const auto* axis = llvm::dyn_cast<llvm::ConstantInt>(index(instruction.operands[0]));
        if (axis == nullptr || axis->getZExtValue() >= registers.size())
            refuse("an axis that is no constant");
        const size_t at = axis->getZExtValue();
        if (limits[at] == 1) return builder_.getInt64(0);
        auto* read = llvm::cast<llvm::CallInst>(call(registers[at]));
        read->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, limits[at])));
        return to_word(read);
    }

    // The value of a lane; its own where there is no such lane.
    llvm::Value* shuffle(const Instruction& instruction) {
        llvm::Value* const value = scalar(instruction.operands[1]).parts[0];
        llvm::Value* const given = index(instruction.operands.back());
        llvm::Value* const is_there = builder_.CreateICmpULT(given, builder_.getInt64(32));
        llvm::Value* const wanted = builder_.CreateTrunc(given, builder_.getInt32Ty());
        // The hardware knows the ways by which a lane comes from the thread's own, and that there is none.
        if (instruction.intrinsic != ir::Intrinsic::kShuffle) {
            const bool is_up = instruction.intrinsic == ir::Intrinsic::kShuffleUp;
            const auto way = is_up ? llvm::Intrinsic::nvvm_shfl_sync_up_i32
                             : instruction.intrinsic == ir::Intrinsic::kShuffleDown
                                 ? llvm::Intrinsic::nvvm_shfl_sync_down_i32
                                 : llvm::Intrinsic::nvvm_shfl_sync_bfly_i32;
            llvm::Value* const told =
                shuffle(way, instruction, value, wanted, builder_.getInt32(is_up ? 0 : 31));
            return builder_.CreateSelect(is_there, told, value);
        }
        llvm::Value* const lane =
            builder_.CreateSelect(is_there, wanted, call(llvm::Intrinsic::nvvm_read_ptx_sreg_laneid));
        return shuffle(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, instruction, value, lane,
                       builder_.getInt32(31));
    }

    // In words of 32 bits. `bounds`: PTX ISA, "shfl.sync", its operand c.
    llvm::Value* shuffle(llvm::Intrinsic::ID way, const Instruction& instruction, llvm::Value* value,
                         llvm::Value* lane, llvm::Value* bounds) {
        const unsigned bits = value->getType()->getScalarSizeInBits();
        llvm::Value* const given = builder_.CreateBitCast(value, builder_.getIntNTy(bits));
        const auto shuffled = [&](llvm::Value* word) {
            return call(way, {mask(instruction), word, lane, bounds});
        };
        llvm::Value* result = nullptr;
        if (bits <= 32) {
            llvm::Value* const word = shuffled(builder_.CreateZExt(given, builder_.getInt32Ty()));
            result = builder_.CreateTrunc(word, builder_.getIntNTy(bits));
        } else {
            llvm::Value* const low = shuffled(builder_.CreateTrunc(given, builder_.getInt32Ty()));
            llvm::Value* const high = shuffled(
                builder_.CreateTrunc(builder_.CreateLShr(given, uint64_t{32}), builder_.getInt32Ty()));
            result = builder_.CreateOr(to_word(low), builder_.CreateShl(to_word(high), uint64_t{32}));
        }
        return builder_.CreateBitCast(result, value->getType());
    }

    llvm::Value* match(const Instruction& instruction) {
        llvm::Value* const value = scalar(instruction.operands[1]).parts[0];
        const unsigned bits = value->getType()->getScalarSizeInBits();
        llvm::Value* const given = builder_.CreateBitCast(value, builder_.getIntNTy(bits));
        if (bits > 32) return call(llvm::Intrinsic::nvvm_match_any_sync_i64, {mask(instruction), given});
        return call(llvm::Intrinsic::nvvm_match_any_sync_i32,
                    {mask(instruction), builder_.CreateZExt(given, builder_.getInt32Ty())});
    }

    void lower_intrinsic(const Instruction& instruction) {
        using llvm::Intrinsic::ID;
        const auto predicate = [&](size_t operand) { return condition(instruction.operands[operand]); };
        const auto vote = [&](ID id) {
            return call(id, {builder_.CreateZExt(predicate(0), builder_.getInt32Ty())});
        };
        const auto truth = [&](llvm::Value* number) {
            return builder_.CreateZExt(builder_.CreateIsNotNull(number), builder_.getInt8Ty());
        };
        llvm::Value* result = nullptr;
        switch (instruction.intrinsic) {
            case ir::Intrinsic::kBlockCount:
                result = to_word(vote(llvm::Intrinsic::nvvm_barrier0_popc));
                break;
            case ir::Intrinsic::kBlockAll: result = truth(vote(llvm::Intrinsic::nvvm_barrier0_and)); break;
            case ir::Intrinsic::kBlockAny: result = truth(vote(llvm::Intrinsic::nvvm_barrier0_or)); break;
            case ir::Intrinsic::kWarpBarrier:
                call(llvm::Intrinsic::nvvm_bar_warp_sync, {mask(instruction)});
                return;
            case ir::Intrinsic::kActiveMask: result = to_word(call(llvm::Intrinsic::nvvm_activemask)); break;
            case ir::Intrinsic::kShuffle:
            case ir::Intrinsic::kShuffleUp:
            case ir::Intrinsic::kShuffleDown:
            case ir::Intrinsic::kShuffleXor: result = shuffle(instruction); break;
            case ir::Intrinsic::kBallot:
                result =
                    to_word(call(llvm::Intrinsic::nvvm_vote_ballot_sync, {mask(instruction), predicate(1)}));
                break;
            case ir::Intrinsic::kMatch: result = to_word(match(instruction)); break;
            case ir::Intrinsic::kGridBarrier: lower_grid_barrier(); return;
            case ir::Intrinsic::kFenceBlock: fence(llvm::Intrinsic::nvvm_membar_cta); return;
            case ir::Intrinsic::kFenceDevice: fence(llvm::Intrinsic::nvvm_membar_gl); return;
            case ir::Intrinsic::kFenceSystem: fence(llvm::Intrinsic::nvvm_membar_sys); return;
            case ir::Intrinsic::kThreadNumber:
                result = number(instruction, kThreadRegisters, thread_limits());
                break;
            case ir::Intrinsic::kBlockNumber:
                result = number(instruction, kBlockRegisters, kMostBlocks);
                break;
            case ir::Intrinsic::kBlockMemory: result = block_memory(); break;
            case ir::Intrinsic::kThreadMemory: {
                const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(index(instruction.operands[0]));
                if (bytes == nullptr) refuse("memory of a thread whose size is no constant");
                llvm::Value* const memory =
                    allocate_local(llvm::ArrayType::get(builder_.getInt8Ty(), bytes->getZExtValue()),
                                   llvm::Align(kMemoryAlignment), "memory");
                result = builder_.CreatePtrToInt(memory, builder_.getInt64Ty());
                break;
            }
        }
        scalars_[instruction.results[0].index].parts[0] = result;
    }

    // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
    static constexpr std::array<uint32_t, 3> kMostBlocks{INT32_MAX, 65535, 65535},
        kMostThreads{1024, 1024, 64};
    std::array<uint32_t, 3> thread_limits() const {
        if (block_[0] == 0) return kMostThreads;
        std::array<uint32_t, 3> limits{};
        std::copy(block_.begin(), block_.end(), limits.begin());
        return limits;
    }

    static constexpr uint64_t kErrorBytes = kResultBytes * kMostErrorValues;
    static constexpr uint64_t kGridBytes = sizeof(int64_t);

    const Launch& launch_;
    const PtxOptions& options_;
    const std::array<int, 3> block_;
    bool is_entry_ = false;
    int64_t error_word_ = 0, launch_word_ = 0, grid_word_ = 0, stack_word_ = 0;
    llvm::Value* printed_ = nullptr;  // memory for what it prints
};

}  // namespace

void lower_launch_for_ptx(const ir::Function& entry, std::span<const ir::Function> callees,
                          std::span<const ir::SourceLine> lines, const PtxOptions& options,
                          llvm::Module& module, BitcodeLibrary& library, CudaKernelImage& image) {
    Launch launch{.options = options, .called = {callees}};
    if (options.recursive) {
        const ir::Module all{{callees.begin(), callees.end()}};
        for (const ir::Function& each : callees) {
            if (ir::is_recursive(all, each)) launch.recursive.insert(each.name);
            const FrameBytes bytes(each, options.printed);
            launch.frame_bytes += bytes.arrays + bytes.printed;
        }
    }
    std::optional<SourceLines> told;
    if (!lines.empty()) launch.lines = &told.emplace(module, lines);
    image.has_lines = !lines.empty();
    LaunchLowering(entry, launch, module, library).run_entry(image);
    for (const ir::Function& callee : callees) LaunchLowering(callee, launch, module, library).run_callee();
    if (told) told->finish();
}

}  // namespace weft::codegen
