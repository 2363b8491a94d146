#include "codegen/ptx/row_walk.h"

#include <algorithm>
#include <cstdint>

namespace weft::codegen {

using ir::AddressSpace;
using ir::BufferType;
using ir::Instruction;
using ir::Opcode;
using ir::Region;

namespace {

// Of a whole block, whose instructions take turns: constants are fetched once, and no result is waited for.
constexpr size_t kIterationsSideBySide = 4;
constexpr int64_t kMostElements = int64_t{1} << 48;  // more than any memory has

}  // namespace

void PtxRowWalk::lower_point(const Region& region) {
    if (!fixed_team_ && has_walk_ && !is_followed()) row_cache_ = find_row_cache(kernel_, region, unwritten_);
    if (row_cache_.bytes == 0 || word_of_parameter(row_cache_.size) != image_.row_word ||
        image_.row_word < 0) {
        row_cache_ = {};
        lower_region(region);
        return;
    }
    image_.row_cache_bytes = row_cache_.bytes;
    row_ = index(row_cache_.size);
    llvm::BasicBlock* keeping = new_block("keeping");
    llvm::BasicBlock* walking = new_block("walking");
    llvm::BasicBlock* after = new_block("point.end");
    builder_.CreateCondBr(builder_.CreateICmpSLE(row_, number(kMostRowCacheBytes / row_cache_.bytes)),
                          keeping, walking);
    builder_.SetInsertPoint(keeping);
    llvm::Value* bytes =
        builder_.CreateAnd(builder_.CreateAdd(builder_.CreateMul(row_, number(row_cache_.bytes)),
                                              number(kRowCacheAlignment - 1)),
                           number(-kRowCacheAlignment));
    row_cache_memory_ = builder_.CreateInBoundsGEP(
        builder_.getInt8Ty(), row_cache_array(),
        {builder_.CreateMul(builder_.CreateZExt(team_, builder_.getInt64Ty()), bytes)});
    caching_ = true;
    lower_region(region);
    caching_ = false;
    builder_.CreateBr(after);
    builder_.SetInsertPoint(walking);
    lower_region(region);
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
}

// What the launch gives to the block.
llvm::GlobalVariable* PtxRowWalk::row_cache_array() {
    auto* type = llvm::ArrayType::get(builder_.getInt8Ty(), 0);
    auto* array =
        new llvm::GlobalVariable(module_, type, false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                 "weft_row_cache", nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
    array->setAlignment(llvm::Align(kRowCacheAlignment));
    return array;
}

llvm::Value* PtxRowWalk::cached_element(const RowCache::Value& value, int64_t itemsize,
                                        llvm::Value* number_of_element) {
    llvm::Value* array = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), row_cache_memory_,
                                                    {builder_.CreateNSWMul(row_, number(value.offset))});
    return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), array,
                                      {builder_.CreateNSWMul(number_of_element, number(itemsize))});
}

PtxRowWalk::Values PtxRowWalk::lower_element(const Region& region, llvm::Value* number_of_element) {
    lower_reads(region, number_of_element, {});
    return lower_rest(region, number_of_element, {});
}

// What is kept is read first, since what is written may take the same place; and what is in `early`.
void PtxRowWalk::lower_reads(const Region& region, llvm::Value* number_of_element,
                             const std::set<const Instruction*>& early) {
    scalars_[region.arguments[0].index].parts[0] = number_of_element;
    of_thread_ = true;
    for (const Instruction& instruction : region.body) {
        const RowCache::Value* cached = cached_value(instruction);
        if (cached != nullptr && cached->use == RowCache::Use::kRead) {
            const auto [type, place] = cached_place(instruction, *cached, number_of_element);
            scalars_[instruction.results[0].index].parts[0] = builder_.CreateLoad(type, place);
        } else if (early.contains(&instruction) && is_computed(cached)) {
            lower(instruction);
        }
    }
    of_thread_ = false;
}

PtxRowWalk::Values PtxRowWalk::lower_rest(const Region& region, llvm::Value* number_of_element,
                                          const std::set<const Instruction*>& early) {
    std::vector<Iteration> alone{{number_of_element, scalars_}};
    std::vector<Values> yielded = lower_rest_of(region, alone, early);
    scalars_ = std::move(alone[0].scalars);
    return std::move(yielded[0]);
}

// Of several elements side by side, instruction for instruction.
std::vector<PtxRowWalk::Values> PtxRowWalk::lower_rest_of(const Region& region,
                                                          std::span<Iteration> iterations,
                                                          const std::set<const Instruction*>& early) {
    of_thread_ = true;
    std::vector<Values> yielded(iterations.size());
    for (const Instruction& instruction : region.body) {
        const RowCache::Value* cached = cached_value(instruction);
        if (!is_computed(cached)) continue;
        for (size_t k = 0; k < iterations.size(); ++k) {
            scalars_.swap(iterations[k].scalars);
            if (instruction.opcode == Opcode::kYield) {
                yielded[k] = values_of(instruction.operands);
            } else if (!early.contains(&instruction)) {
                lower(instruction);
            }
            if (cached != nullptr) {
                builder_.CreateStore(scalar(instruction.results[0]).parts[0],
                                     cached_place(instruction, *cached, iterations[k].number).second);
            }
            scalars_.swap(iterations[k].scalars);
        }
        if (instruction.opcode == Opcode::kYield) break;
    }
    of_thread_ = false;
    return yielded;
}

// Null: nothing is said of the instruction.
const RowCache::Value* PtxRowWalk::cached_value(const Instruction& instruction) const {
    if (!caching_) return nullptr;
    const auto found = row_cache_.values.find(&instruction);
    return found == row_cache_.values.end() ? nullptr : &found->second;
}

bool PtxRowWalk::is_computed(const RowCache::Value* value) {
    return value == nullptr || value->use == RowCache::Use::kCached;
}

std::pair<llvm::Type*, llvm::Value*> PtxRowWalk::cached_place(const Instruction& instruction,
                                                              const RowCache::Value& value,
                                                              llvm::Value* number_of_element) {
    const ScalarType type = kernel_.type(instruction.results[0]).scalar;
    return {part_type(type), cached_element(value, DType(type).itemsize(), number_of_element)};
}

void PtxRowWalk::whole_block(const Region& region, llvm::Value* start, int64_t length,
                             llvm::function_ref<void(const Values&)> each) {
    const bool side_by_side = may_read_early(region);
    const std::set<const Instruction*> early =
        side_by_side ? reads_of(region) : std::set<const Instruction*>{};
    const int64_t iterations = length / kWarp,
                  batch = std::min<int64_t>(iterations, iterations_at_once(region));
    llvm::Value* first = first_of_block(start);
    find_draws(region, region.arguments[0]);
    begin_steps();
    for (int64_t begin = 0; begin < iterations; begin += batch) {
        std::vector<Iteration> read;
        for (int64_t iteration = begin; iteration < std::min(begin + batch, iterations); ++iteration) {
            llvm::Value* at = builder_.CreateNSWAdd(first, number(iteration * kWarp));
            std::vector<Scalar> before = scalars_;
            lower_reads(region, at, early);
            read.push_back({at, std::move(scalars_)});
            scalars_ = std::move(before);
        }
        const size_t beside = side_by_side ? kIterationsSideBySide : 1;
        for (std::span<Iteration> rest(read); !rest.empty();) {
            const std::span<Iteration> some = rest.first(std::min(beside, rest.size()));
            for (const Values& values : lower_rest_of(region, some, early)) each(values);
            rest = rest.subspan(some.size());
        }
    }
    end_steps();
}

// The lane's first element. Moved, so that the numbers of later ones are sums: LLVM makes `or` of sums
// whose bits it knows, and addresses of their own of these. And so small that it is no initial number.
llvm::Value* PtxRowWalk::first_of_block(llvm::Value* start) {
    llvm::Value* first = builder_.CreateNSWAdd(start, builder_.CreateZExt(lane_, builder_.getInt64Ty()));
    first = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_move_i64, {}, {first});
    builder_.CreateAssumption(builder_.CreateICmpULT(first, number(kMostElements)));
    return first;
}

// Whether nothing that is read is written before: memory of the thread's own, or of an element.
bool PtxRowWalk::may_read_early(const Region& region) const {
    return std::all_of(region.body.begin(), region.body.end(), [&](const Instruction& instruction) {
        if (!instruction.regions.empty() || instruction.opcode == Opcode::kAllocate) return false;
        if (instruction.opcode != Opcode::kLoad) return true;
        const BufferType& type = kernel_.type(instruction.operands[0]).buffer;
        return type.space == AddressSpace::kGlobal && unwritten_.contains(type.alias_scope);
    });
}

// As many as keep the code short, and hide the time that memory takes.
int64_t PtxRowWalk::iterations_at_once(const Region& region) {
    int cost = 0;
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode == Opcode::kApply) cost += instruction.op->cost;
    }
    return cost <= 40 ? 16 : 8;
}

}  // namespace weft::codegen
