// What the threads of a block or a warp do together: barriers, votes, shuffles, fences.
#include <algorithm>

#include "ir/intrinsic.h"
#include "lang/kernels/kernels.h"

namespace weft::lang {

using ir::Intrinsic;
using ir::ValueId;

void FunctionLowering::Kernels::note_meeting() {
    place(PlaceArgument::kNumbers);
    f_.target_.meets = true;
}

Value FunctionLowering::Kernels::intrinsic(Intrinsic intrinsic, std::span<const ValueId> operands,
                                           ScalarType result) {
    note_meeting();
    const TypeRef type = scalar_type(result, true);
    if (f_.dry_) return f_.scalar(type, ValueId{});
    const Value told = f_.scalar(type, f_.builder_->intrinsic(intrinsic, operands)[0]);
    const bool is_of_block = intrinsic == Intrinsic::kBlockCount || intrinsic == Intrinsic::kBlockAll ||
                             intrinsic == Intrinsic::kBlockAny;
    if (is_of_block) tell_event(ThreadEvent::kBlockMeeting);
    // Their first operand is the mask. activemask() waits for nobody.
    if (intrinsic == Intrinsic::kBallot || intrinsic == Intrinsic::kMatch)
        tell_event(ThreadEvent::kWarpMeeting, {operands[0]});
    return told;
}

ValueId FunctionLowering::Kernels::to_mask(const Value& mask) {
    if (const std::optional<int64_t> known = literal_integer(mask.type)) return index(*known & 0xFFFFFFFF);
    return f_.apply(OpId::kBitwiseAnd, {f_.as_index(mask, where_), index(0xFFFFFFFF)});
}

// `by`: how the lane comes from the thread's own, where `which` tells that.
Value FunctionLowering::Kernels::shuffled(Intrinsic which, std::span<const Value> given, ValueId lane,
                                          std::optional<ValueId> by) {
    const Value value = f_.required(given[1], where_);
    if (!is_scalar(value.type) || is_complex(value.type))
        refuse("() takes real numbers, not " + lang::describe(value.type));
    note_meeting();
    const TypeRef type = without_literals(value.type);
    if (f_.dry_) return {type, {ValueId{}}, 0};
    std::vector<ValueId> operands = {to_mask(given[0]), value.parts[0], lane};
    if (by) operands.push_back(*by);
    const Value told = f_.scalar(type, f_.builder_->intrinsic(which, operands)[0]);
    tell_event(ThreadEvent::kWarpMeeting, {operands[0]});
    return told;
}

Value FunctionLowering::Kernels::call_method_of_grid(std::string_view name, const Arguments& arguments) {
    if (name != "sync") refuse(" has no method '" + std::string(name) + "' in kernels", "It has sync().");
    f_.expect_arguments("sync", arguments, 0, 0);
    const Options& options = f_.compilation_.options();
    if (options.tells_accesses)
        refuse(".sync() is not followed by the race checker yet", "Launch it without the checker.");
    if (!options.parallel)
        refuse(".sync() waits for blocks that run at once, which parallel=False has one after another",
               "Leave parallel=False out.");
    note_meeting();
    if (!f_.dry_) f_.builder_->intrinsic(Intrinsic::kGridBarrier, {});
    return f_.none();
}

std::optional<Value> FunctionLowering::Kernels::meet(const Arguments& arguments) {
    const std::vector<Value>& given = arguments.positional;
    const std::string full = "cuda." + std::string(path_);
    const auto expect = [&](size_t least, size_t most) { f_.expect_arguments(full, arguments, least, most); };
    const auto apply = [&](OpId op, ValueId a, ValueId b) { return f_.apply(op, {a, b}); };
    if (path_ == "syncthreads") {
        expect(0, 0);
        note_meeting();
        if (!f_.dry_) f_.builder_->barrier();
        tell_event(ThreadEvent::kBlockMeeting);
        return f_.none();
    }
    constexpr std::pair<std::string_view, Intrinsic> kFences[] = {
        {"threadfence_block", Intrinsic::kFenceBlock},
        {"threadfence", Intrinsic::kFenceDevice},
        {"threadfence_system", Intrinsic::kFenceSystem}};
    for (const auto& [name, fence] : kFences) {
        if (path_ != name) continue;
        expect(0, 0);
        place(PlaceArgument::kNumbers);
        if (!f_.dry_) f_.builder_->intrinsic(fence, {});
        tell_event(ThreadEvent::kFence);
        return f_.none();
    }
    if (path_ == "syncwarp") {
        expect(0, 1);
        note_meeting();
        const ValueId mask = given.empty() ? index(0xFFFFFFFF) : to_mask(given[0]);
        if (!f_.dry_) f_.builder_->intrinsic(Intrinsic::kWarpBarrier, std::span(&mask, 1));
        tell_event(ThreadEvent::kWarpMeeting, {mask});
        return f_.none();
    }
    if (path_ == "activemask") {
        expect(0, 0);
        const ValueId here = index(where_);
        return intrinsic(Intrinsic::kActiveMask, std::span(&here, 1), ScalarType::kInt64);
    }
    constexpr std::pair<std::string_view, Intrinsic> kVotes[] = {
        {"syncthreads_count", Intrinsic::kBlockCount},
        {"syncthreads_and", Intrinsic::kBlockAll},
        {"syncthreads_or", Intrinsic::kBlockAny}};
    for (const auto& [name, vote] : kVotes) {
        if (path_ != name) continue;
        expect(1, 1);
        const ValueId predicate = f_.truth(given[0], where_);
        const bool counts = vote == Intrinsic::kBlockCount;
        const Value result =
            intrinsic(vote, std::span(&predicate, 1), counts ? ScalarType::kInt64 : ScalarType::kBool);
        return counts ? result : integer_of(f_.cast(result, ScalarType::kInt64));
    }
    const auto ballot = [&](ValueId predicate) {
        const std::array operands = {to_mask(given[0]), predicate};
        return intrinsic(Intrinsic::kBallot, operands, ScalarType::kInt64);
    };
    const auto truth = [&](ValueId value) { return f_.scalar(scalar_type(ScalarType::kBool, true), value); };
    if (path_ == "ballot_sync") {
        expect(2, 2);
        return ballot(f_.truth(given[1], where_));
    }
    if (path_ == "any_sync" || path_ == "all_sync" || path_ == "eq_sync") {
        expect(2, 2);
        const ValueId predicate = f_.truth(given[1], where_);
        const ValueId none = index(0);
        if (path_ == "any_sync") return truth(apply(OpId::kNotEqual, ballot(predicate).parts[0], none));
        const ValueId all = apply(OpId::kEqual, ballot(f_.negation(predicate).parts[0]).parts[0], none);
        if (path_ == "all_sync") return truth(all);
        return truth(apply(OpId::kLogicalOr, all, apply(OpId::kEqual, ballot(predicate).parts[0], none)));
    }
    if (path_ == "match_any_sync" || path_ == "match_all_sync") {
        expect(2, 2);
        const Value value = f_.required(given[1], where_);
        if (!is_scalar(value.type) || is_complex(value.type))
            refuse("() takes real numbers, not " + lang::describe(value.type));
        const std::array operands = {to_mask(given[0]), f_.dry_ ? ValueId{} : value.parts[0]};
        const Value same = intrinsic(Intrinsic::kMatch, operands, ScalarType::kInt64);
        if (path_ == "match_any_sync") return same;
        const ValueId all = apply(OpId::kEqual, same.parts[0], ballot(f_.boolean(true).parts[0]).parts[0]);
        const ValueId lanes = f_.apply(OpId::kSelect, {all, same.parts[0], index(0)});
        return f_.tuple({integer_of(lanes), truth(all)});
    }
    struct Shuffle {
        std::string_view name;
        Intrinsic intrinsic;
        OpId from;
    };
    constexpr Shuffle kShuffles[] = {{"shfl_up_sync", Intrinsic::kShuffleUp, OpId::kSubtract},
                                     {"shfl_down_sync", Intrinsic::kShuffleDown, OpId::kAdd},
                                     {"shfl_xor_sync", Intrinsic::kShuffleXor, OpId::kBitwiseXor}};
    if (path_ == "shfl_sync") {
        expect(3, 3);
        const ValueId lane = f_.as_index(given[2], where_);
        return shuffled(Intrinsic::kShuffle, given, apply(OpId::kBitwiseAnd, lane, index(kWarp - 1)), {});
    }
    for (const Shuffle& each : kShuffles) {
        if (path_ != each.name) continue;
        expect(3, 3);
        const ValueId by = f_.as_index(given[2], where_);
        // No lane is further away than a warp has, or the other way round: then it is none.
        const ValueId is_near = apply(OpId::kLogicalAnd, apply(OpId::kGreaterEqual, by, index(0)),
                                      apply(OpId::kLess, by, index(kWarp)));
        const ValueId lane =
            f_.apply(OpId::kSelect, {is_near, apply(each.from, this->lane(), by), index(-1)});
        return shuffled(each.intrinsic, given, lane, by);
    }
    return std::nullopt;
}

}  // namespace weft::lang
