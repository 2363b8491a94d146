#include "codegen/ptx/team_reductions.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weft::codegen {

using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

namespace {

constexpr int kFalling[] = {16, 8, 4, 2, 1};
constexpr int kRising[] = {1, 2, 4, 8, 16};

}  // namespace

// Components that are the elements' numbers, and start from the largest number of all, as of argmax.
std::vector<size_t> PtxTeamReductions::find_ordinals(const Instruction& instruction) const {
    const Region& element = instruction.regions[0];
    std::vector<size_t> ordinals;
    for (size_t i = 0; i < instruction.results.size(); ++i) {
        const Instruction* initial = definition(instruction.operands[i + 1]);
        if (initial == nullptr || initial->opcode != Opcode::kConstant ||
            kernel_.type(instruction.results[i]).scalar != ScalarType::kInt64 ||
            initial->constant.as<int64_t>() != INT64_MAX)
            continue;
        const ValueId number = element.arguments[0], yielded = element.body.back().operands[i];
        const Instruction* sum = definition(yielded);
        const bool counts =
            sum != nullptr && sum->opcode == Opcode::kApply && sum->op->id == OpId::kAdd &&
            std::count(sum->operands.begin(), sum->operands.end(), number) == 1 &&
            std::none_of(element.body.begin(), element.body.end(), [&](const Instruction& inner) {
                return std::any_of(inner.results.begin(), inner.results.end(), [&](ValueId result) {
                    return std::find(sum->operands.begin(), sum->operands.end(), result) !=
                           sum->operands.end();
                });
            });
        if (counts || yielded == number) ordinals.push_back(i);
    }
    return ordinals;
}

// Both regions compute for one thread.
PtxTeamReductions::Values PtxTeamReductions::element(const Reduction& reduction, llvm::Value* number) {
    return lower_element(reduction.instruction->regions[0], number);
}

PtxTeamReductions::Values PtxTeamReductions::combined(const Reduction& reduction, const Values& left,
                                                      const Values& right) {
    const Region& region = reduction.instruction->regions[1];
    for (size_t i = 0; i < left.size(); ++i) {
        scalars_[region.arguments[i].index] = left[i];
        scalars_[region.arguments[left.size() + i].index] = right[i];
    }
    of_thread_ = true;
    Values values = lower_region(region);
    of_thread_ = false;
    return values;
}

// An element behind all that `left` is made of: its number is less than none but the initial one, which
// is left only where no element was taken before, and so neither the first one: that is asked in
// `none_of_first`.
PtxTeamReductions::Values PtxTeamReductions::with_next(const Reduction& reduction, const Values& left,
                                                       const Values& element, bool is_second,
                                                       std::vector<llvm::Value*>& none_of_first) {
    const Region& region = reduction.instruction->regions[1];
    const auto is_comparison = [&](const Instruction& instruction, size_t i) {
        return instruction.opcode == Opcode::kApply && instruction.op->id == OpId::kLess &&
               instruction.operands[0] == region.arguments[left.size() + i] &&
               instruction.operands[1] == region.arguments[i];
    };
    known_.clear();
    std::vector<llvm::Value*> none;
    none.reserve(reduction.ordinals.size());
    for (const size_t i : reduction.ordinals)
        none.push_back(builder_.CreateICmpEQ(left[i].parts[0], number(INT64_MAX)));
    if (is_second) none_of_first = none;
    for (size_t k = 0; k < none.size(); ++k) {
        if (!none_of_first.empty()) none[k] = builder_.CreateAnd(none_of_first[k], none[k]);
        for (const Instruction& instruction : region.body) {
            if (is_comparison(instruction, reduction.ordinals[k]))
                known_[&instruction] = builder_.CreateZExt(none[k], part_type(ScalarType::kBool));
        }
    }
    const Values values = combined(reduction, left, element);
    known_.clear();
    return values;
}

// Lane l takes in lane l + distance, for each distance in turn; lanes from `taking_part` on have nothing.
// Lane 0 has the result.
PtxTeamReductions::Values PtxTeamReductions::combine_lanes(const Reduction& reduction, Values values,
                                                           llvm::Value* taking_part,
                                                           std::span<const int> distances) {
    for (const int distance : distances) {
        const Values above =
            shuffled(values, From::kLaneAbove, builder_.getInt32(static_cast<uint32_t>(distance)));
        llvm::Value* partner = builder_.CreateAdd(lane_, builder_.getInt32(static_cast<uint32_t>(distance)));
        values =
            choose(builder_.CreateICmpSLT(partner, taking_part), combined(reduction, values, above), values);
    }
    return values;
}

// The same of a whole block.
PtxTeamReductions::Values PtxTeamReductions::whole_lanes_block(const Reduction& reduction, llvm::Value* start,
                                                               int64_t length) {
    Values values = reduction.initials;
    int iteration = 0;
    std::vector<llvm::Value*> none_of_first;
    whole_block(reduction.instruction->regions[0], start, length, [&](const Values& element) {
        values = with_next(reduction, values, element, iteration++ == 1, none_of_first);
    });
    for (const int distance : kFalling) {
        const Values above =
            shuffled(values, From::kLaneAbove, builder_.getInt32(static_cast<uint32_t>(distance)));
        values = combined(reduction, values, above);
    }
    return of_first_lane(values);
}

// `count` elements from `start` in 32 interleaved lanes, by a warp; all of its lanes have the result.
PtxTeamReductions::Values PtxTeamReductions::lanes_block(const Reduction& reduction, llvm::Value* start,
                                                         llvm::Value* count) {
    llvm::Value* lane = builder_.CreateZExt(lane_, builder_.getInt64Ty());
    llvm::Value* first = builder_.CreateNSWAdd(start, lane);
    llvm::Value* end = builder_.CreateNSWAdd(start, builder_.CreateAnd(count, number(-kWarp)));
    // Whole rows of lanes, then what is left.
    llvm::Value* rows = builder_.CreateLShr(count, 5);
    Values values = counted_loop(
        number(0), rows, number(1), reduction.initials,
        [&](llvm::Value* row, const Values& accumulator) {
            llvm::Value* at = builder_.CreateNSWAdd(first, builder_.CreateShl(row, 5));
            return combined(reduction, accumulator, element(reduction, at));
        },
        unrolled_);
    llvm::Value* last = builder_.CreateNSWAdd(end, lane);
    llvm::Value* has_last = builder_.CreateICmpSLT(last, builder_.CreateNSWAdd(start, count));
    values = if_then(has_last, values, [&] { return combined(reduction, values, element(reduction, last)); });
    llvm::Value* taking_part = builder_.CreateTrunc(smaller(count, number(kWarp)), builder_.getInt32Ty());
    // By halves, lane l takes in l + h only below h: the others' values are not looked at again.
    return of_first_lane(combine_lanes(reduction, values, taking_part, kFalling));
}

// How many a thread combines before the warp does: more where one block combines all, as registers allow.
int64_t PtxTeamReductions::elements_of_thread(const Reduction& reduction) const {
    constexpr int64_t kFewWords = 3, kMore = 2;  // words of 32 bits
    int64_t words = 0;
    for (const ValueId result : reduction.instruction->results)
        words += (DType(kernel_.type(result).scalar).itemsize() + 3) / 4;
    const bool more = is_second_ && team_threads_ == nullptr && words <= kFewWords;
    return more ? kMore * kElementsOfThread : kElementsOfThread;
}

// Up to so many elements from `start` pairwise, by a warp: some by each thread, then the threads'.
PtxTeamReductions::Values PtxTeamReductions::pairwise_block(const Reduction& reduction, llvm::Value* start,
                                                            llvm::Value* count) {
    const int64_t each = elements_of_thread(reduction);
    llvm::Value* lane = builder_.CreateZExt(lane_, builder_.getInt64Ty());
    llvm::Value* first = builder_.CreateNSWMul(lane, number(each));
    llvm::Value* last = builder_.CreateNSWSub(count, number(1));
    std::vector<Values> own;
    for (int64_t k = 0; k < each; ++k) {
        // Where there is no element, the last one is read and not used.
        llvm::Value* at = smaller(builder_.CreateNSWAdd(first, number(k)), last);
        own.push_back(element(reduction, builder_.CreateNSWAdd(start, at)));
    }
    llvm::Value* has = builder_.CreateNSWSub(count, first);
    const auto together = [&](int64_t least, const Values& left, const Values& right) {
        return choose(builder_.CreateICmpSGT(has, number(least)), combined(reduction, left, right), left);
    };
    for (size_t distance = 1; distance < own.size(); distance *= 2) {
        for (size_t k = 0; k < own.size(); k += 2 * distance)
            own[k] = together(static_cast<int64_t>(k + distance), own[k], own[k + distance]);
    }
    llvm::Value* threads = builder_.CreateUDiv(builder_.CreateAdd(count, number(each - 1)), number(each));
    return of_first_lane(
        combine_few_lanes(reduction, own[0], builder_.CreateTrunc(threads, builder_.getInt32Ty())));
}

// By rising distances, as long as there are lanes so far above.
PtxTeamReductions::Values PtxTeamReductions::combine_few_lanes(const Reduction& reduction, Values values,
                                                               llvm::Value* taking_part) {
    for (const int distance : kRising) {
        llvm::Value* more =
            builder_.CreateICmpSGT(taking_part, builder_.getInt32(static_cast<uint32_t>(distance)));
        values = if_then(more, values,
                         [&] { return combine_lanes(reduction, values, taking_part, std::array{distance}); });
    }
    return values;
}

// Results of equally many elements but for the last, combined pairwise as by a binary counter: lane b
// holds digit b. `result(k)` is called in all lanes and gives all of them number k; there is at least
// one.
PtxTeamReductions::Values PtxTeamReductions::pairwise(const Reduction& reduction, llvm::Value* begin,
                                                      llvm::Value* end,
                                                      llvm::function_ref<Values(llvm::Value*)> result) {
    const Values digits =
        counted_loop(begin, end, number(1), reduction.initials, [&](llvm::Value* k, const Values& digits) {
            llvm::Value* ordinal = builder_.CreateNSWSub(k, begin);
            llvm::Value* carries = builder_.CreateTrunc(
                builder_.CreateIntrinsic(llvm::Intrinsic::cttz, {builder_.getInt64Ty()},
                                         {builder_.CreateNot(ordinal), builder_.getFalse()}),
                builder_.getInt32Ty());
            const Values carry = counted_loop(builder_.getInt32(0), carries, builder_.getInt32(1), result(k),
                                              [&](llvm::Value* digit, const Values& later) {
                                                  return combined(reduction, of_lane(digits, digit), later);
                                              });
            return choose(builder_.CreateICmpEQ(lane_, carries), carry, digits);
        });
    // The smallest of what is left first: each takes in what came after it.
    llvm::Value* count = builder_.CreateNSWSub(end, begin);
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::Value* lowest = lowest_digit(count);
    const Values start = of_lane(digits, lowest);
    llvm::Value* rest = without_lowest(count);
    before = builder_.GetInsertBlock();
    llvm::BasicBlock* iteration = new_block("digits");
    llvm::BasicBlock* after = new_block("digits.end");
    builder_.CreateCondBr(builder_.CreateICmpNE(rest, number(0)), iteration, after);
    builder_.SetInsertPoint(iteration);
    llvm::PHINode* left = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    left->addIncoming(rest, before);
    const Phis carried = make_phis(start, before);
    const Values next = combined(reduction, of_lane(digits, lowest_digit(left)), values_in(carried));
    llvm::Value* fewer = without_lowest(left);
    llvm::BasicBlock* latch = builder_.GetInsertBlock();
    builder_.CreateCondBr(builder_.CreateICmpNE(fewer, number(0)), iteration, after);
    left->addIncoming(fewer, latch);
    add_incoming(carried, next, latch);
    builder_.SetInsertPoint(after);
    const Phis finals = make_phis(start, before);
    add_incoming(finals, next, latch);
    return values_in(finals);
}

llvm::Value* PtxTeamReductions::lowest_digit(llvm::Value* bits) {
    return builder_.CreateTrunc(
        builder_.CreateIntrinsic(llvm::Intrinsic::cttz, {builder_.getInt64Ty()}, {bits, builder_.getFalse()}),
        builder_.getInt32Ty());
}

llvm::Value* PtxTeamReductions::without_lowest(llvm::Value* bits) {
    return builder_.CreateAnd(bits, builder_.CreateSub(bits, number(1)));
}

PtxTeamReductions::Share PtxTeamReductions::share_of_warp(llvm::Value* size, int64_t length) {
    Share share{};
    share.blocks =
        builder_.CreateSDiv(builder_.CreateNSWAdd(size, number(length - 1)), number(length), "blocks");
    llvm::Value* warps = builder_.CreateZExt(warps_, builder_.getInt64Ty());
    llvm::Value* each =
        builder_.CreateUDiv(builder_.CreateAdd(share.blocks, builder_.CreateSub(warps, number(1))), warps);
    llvm::Value* zeros = builder_.CreateIntrinsic(
        llvm::Intrinsic::ctlz, {builder_.getInt64Ty()},
        {builder_.CreateSub(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, each, number(1)),
                            number(1)),
         builder_.getFalse()});
    share.bits = builder_.CreateSub(number(64), zeros);
    llvm::Value* warp = builder_.CreateZExt(warp_, builder_.getInt64Ty());
    share.own = builder_.CreateShl(warp, share.bits);
    share.end = smaller(builder_.CreateShl(builder_.CreateAdd(warp, number(1)), share.bits), share.blocks);
    return share;
}

void PtxTeamReductions::lower_reduce(const Instruction& instruction) {
    Reduction reduction{&instruction, nullptr, values_of(std::span(instruction.operands).subspan(1)),
                        find_ordinals(instruction)};
    reduction.size =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, index(instruction.operands[0]), number(0));
    const bool elements = instruction.block == 1;
    // Of longer rows what is not a whole block comes once.
    unrolled_ = instruction.block == 0 ? unrolling_of(instruction.regions) : 1;
    const int64_t length = elements ? elements_of_thread(reduction) * kWarp : instruction.block;
    if (length == 0) {
        const Values values = if_then(builder_.CreateICmpSGT(reduction.size, number(0)), reduction.initials,
                                      [&] { return lanes_block(reduction, number(0), reduction.size); });
        define_all(instruction, values);
        return;
    }
    const auto block = [&](llvm::Value* k) {
        llvm::Value* start = builder_.CreateNSWMul(k, number(length));
        llvm::Value* count = smaller(builder_.CreateNSWSub(reduction.size, start), number(length));
        if (elements) return pairwise_block(reduction, start, count);
        return if_else(
            builder_.CreateICmpEQ(count, number(length)),
            [&] { return whole_lanes_block(reduction, start, length); },
            [&] { return lanes_block(reduction, start, count); });
    };
    const Share share = share_of_warp(reduction.size, length);
    const Values of_warp = if_then(builder_.CreateICmpSLT(share.own, share.end), reduction.initials,
                                   [&] { return pairwise(reduction, share.own, share.end, block); });
    // How many warps had some.
    llvm::Value* subtree = builder_.CreateShl(number(1), share.bits);
    llvm::Value* taking_part = builder_.CreateTrunc(
        builder_.CreateLShr(builder_.CreateAdd(share.blocks, builder_.CreateSub(subtree, number(1))),
                            share.bits),
        builder_.getInt32Ty());
    if (team_threads_ != nullptr) {  // of a warp at most
        define_all(instruction, of_warp);
        return;
    }
    const Values values = if_then(builder_.CreateICmpUGT(warps_, builder_.getInt32(1)), of_warp,
                                  [&] { return combine_warps(reduction, of_warp, taking_part); });
    define_all(instruction, values);
}

// Through shared memory; every warp computes the same.
PtxTeamReductions::Values PtxTeamReductions::combine_warps(const Reduction& reduction, const Values& of_warp,
                                                           llvm::Value* taking_part) {
    llvm::Value* own_slots = builder_.CreateMul(team_, warps_);
    std::vector<std::pair<llvm::GlobalVariable*, llvm::Value*>> slots;
    const auto each_part = [&](const auto& visit) {
        size_t at = 0;
        for (size_t i = 0; i < of_warp.size(); ++i) {
            for (int part = 0; part < 2; ++part) {
                if (of_warp[i].parts[part] != nullptr) visit(i, part, at++);
            }
        }
    };
    std::vector<llvm::GlobalVariable*> arrays;
    wait_for_team();  // before: an earlier reduction's may still be read
    llvm::Value* mine = builder_.CreateAdd(own_slots, warp_);
    each_part([&](size_t i, int part, size_t) {
        llvm::Value* value = of_warp[i].parts[part];
        arrays.push_back(shared_array(value->getType(), kMostWarps, "warps"));
        builder_.CreateStore(value, shared_element(arrays.back(), value->getType(), mine));
    });
    wait_for_team();
    llvm::Value* theirs = builder_.CreateAdd(
        own_slots, builder_.CreateSelect(builder_.CreateICmpULT(lane_, warps_), lane_, builder_.getInt32(0)));
    Values values = of_warp;
    each_part([&](size_t i, int part, size_t at) {
        llvm::Type* type = of_warp[i].parts[part]->getType();
        values[i].parts[part] = builder_.CreateLoad(type, shared_element(arrays[at], type, theirs));
    });
    const std::span<const int> distances = std::span<const int>(kRising).first(fixed_team_ ? 5 : 3);
    const Values all = of_first_lane(combine_lanes(reduction, values, taking_part, distances));
    // Nothing takes part when there is no element.
    return choose(builder_.CreateICmpSGT(taking_part, builder_.getInt32(0)), all, reduction.initials);
}

void PtxTeamReductions::define_all(const Instruction& instruction, const Values& values) {
    for (size_t i = 0; i < values.size(); ++i) scalars_[instruction.results[i].index] = values[i];
}

}  // namespace weft::codegen
