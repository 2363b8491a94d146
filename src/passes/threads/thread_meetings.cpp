#include "passes/threads/thread_meetings.h"

#include <array>
#include <span>
#include <vector>

#include "ir/intrinsic.h"

namespace weft::passes {

using namespace ir;

namespace {

constexpr int64_t kWarpLanes = 32;

ValueId truth(Builder& builder, bool value) {
    return builder.constant(Constant::of(ScalarType::kBool, static_cast<uint8_t>(value ? 1 : 0)));
}

ValueId load(Builder& builder, ValueId array, ValueId at) { return builder.load(array, std::span(&at, 1)); }

// Whether a thread takes part; nothing where all do.
ValueId in_mask(ThreadParts& parts, Builder& builder, ValueId number, ValueId holds) {
    if (!parts.mask().valid()) return holds;
    return builder.apply(OpId::kLogicalAnd, {holds, load(builder, parts.mask(), number)});
}

ValueId put(ThreadParts& parts, ValueId value, const char* name) {
    Builder builder = parts.inside();
    const ValueId array = parts.make_array(builder.type(value).scalar, name);
    const ValueId number = parts.number();
    builder.store(array, value, std::span(&number, 1));
    return array;
}

// A loop over lanes of a warp that are threads: `step` has the lane, and whether its thread takes part.
ValueId fold_warp(ThreadParts& parts, Builder& builder, ValueId first,
                  const std::function<ValueId(Builder&, ValueId lane, ValueId thread)>& bit_of) {
    const ValueId zero = builder.index(0), one = builder.index(1);
    const ValueId left = builder.apply(OpId::kSubtract, {parts.threads(), first});
    const ValueId lanes = builder.apply(OpId::kMinimum, {left, builder.index(kWarpLanes)});
    return builder.for_loop(zero, lanes, one, std::span(&zero, 1),
                            [&](Builder& body, std::span<const ValueId> arguments) -> std::vector<ValueId> {
                                const ValueId thread = body.apply(OpId::kAdd, {first, arguments[0]});
                                const ValueId holds =
                                    in_mask(parts, body, thread, bit_of(body, arguments[0], thread));
                                const ValueId bit = body.apply(OpId::kLeftShift, {one, arguments[0]});
                                const ValueId more = body.apply(OpId::kSelect, {holds, bit, zero});
                                return {body.apply(OpId::kBitwiseOr, {arguments[1], more})};
                            })[0];
}

// The lanes for which a bool holds, of each warp.
ValueId ballots(ThreadParts& parts, ValueId bools) {
    const ValueId words = parts.make_array(ScalarType::kInt64, "ballots");
    Builder builder = parts.outside();
    const ValueId zero = builder.index(0), lanes = builder.index(kWarpLanes);
    builder.for_loop(zero, parts.threads(), lanes, {},
                     [&](Builder& body, std::span<const ValueId> arguments) -> std::vector<ValueId> {
                         const ValueId word = fold_warp(parts, body, arguments[0],
                                                        [&](Builder& of_lane, ValueId, ValueId thread) {
                                                            return load(of_lane, bools, thread);
                                                        });
                         const ValueId warp = body.apply(OpId::kRightShift, {arguments[0], body.index(5)});
                         body.store(words, word, std::span(&warp, 1));
                         return {};
                     });
    return words;
}

void write_ballot(ThreadParts& parts, ValueId result, ValueId mask, ValueId bools) {
    parts.end();
    const ValueId words = ballots(parts, bools);
    const ValueId lanes = mask.valid() ? parts.bring(mask) : ValueId{};
    Builder builder = parts.inside();
    const ValueId warp = builder.apply(OpId::kRightShift, {parts.number(), builder.index(5)});
    ValueId word = load(builder, words, warp);
    if (lanes.valid()) word = builder.apply(OpId::kBitwiseAnd, {word, lanes});
    parts.define_kept(result, word);
}

// The number of the first thread of the warp.
ValueId first_of_warp(ThreadParts& parts, Builder& builder) {
    return builder.apply(OpId::kBitwiseAnd, {parts.number(), builder.index(-kWarpLanes)});
}

void write_shuffle(ThreadParts& parts, const Instruction& meeting) {
    const ValueId told = put(parts, parts.bring(meeting.operands[1]), "told");
    parts.end();
    const ValueId mask = parts.bring(meeting.operands[0]), lane = parts.bring(meeting.operands[2]);
    Builder builder = parts.inside();
    const ValueId zero = builder.index(0), one = builder.index(1);
    const ValueId other = builder.apply(OpId::kAdd, {first_of_warp(parts, builder), lane});
    const auto both = [&](ValueId a, ValueId b) { return builder.apply(OpId::kLogicalAnd, {a, b}); };
    ValueId takes_part = both(builder.apply(OpId::kGreaterEqual, {lane, zero}),
                              both(builder.apply(OpId::kLess, {lane, builder.index(kWarpLanes)}),
                                   builder.apply(OpId::kLess, {other, parts.threads()})));
    const ValueId bits = builder.apply(OpId::kRightShift, {mask, lane});
    takes_part = both(takes_part,
                      builder.apply(OpId::kNotEqual, {builder.apply(OpId::kBitwiseAnd, {bits, one}), zero}));
    if (parts.mask().valid()) {
        const ValueId is_there =
            builder.load_if(parts.mask(), std::span(&other, 1), takes_part, truth(builder, false));
        takes_part = both(takes_part, is_there);
    }
    const ValueId own = load(builder, told, parts.number());
    parts.define_kept(meeting.results[0], builder.load_if(told, std::span(&other, 1), takes_part, own));
}

// By the thread's own number, so that all read what lies side by side: with places for a warp at both ends of
// the array, which are read and not taken.
void write_shuffle_by(ThreadParts& parts, const Instruction& meeting) {
    const ValueId value = parts.bring(meeting.operands[1]);
    ValueId told;
    const auto place = [&](Builder& builder, ValueId number) {
        return builder.apply(OpId::kAdd, {number, builder.index(kWarpLanes)});
    };
    {
        Builder builder = parts.inside();
        told = parts.make_array(builder.type(value).scalar, "told", 2 * kWarpLanes);
        const ValueId at = place(builder, parts.number());
        builder.store(told, value, std::span(&at, 1));
    }
    parts.end();
    const bool asks_all = parts.known(meeting.operands[0]) == 0xFFFFFFFF;
    const ValueId mask = asks_all ? ValueId{} : parts.bring(meeting.operands[0]);
    const ValueId given = parts.bring(meeting.operands[3]);
    Builder builder = parts.inside();
    const auto apply = [&](OpId op, ValueId a, ValueId b) { return builder.apply(op, {a, b}); };
    const ValueId zero = builder.index(0), warp = builder.index(kWarpLanes), number = parts.number();
    const ValueId is_near =
        apply(OpId::kLogicalAnd, apply(OpId::kGreaterEqual, given, zero), apply(OpId::kLess, given, warp));
    const ValueId by = builder.apply(OpId::kSelect, {is_near, given, zero});
    const ValueId own_lane = apply(OpId::kBitwiseAnd, number, builder.index(kWarpLanes - 1));
    const auto read = [&](Builder& into, ValueId thread) {
        const ValueId at = place(into, thread);
        return into.load(told, std::span(&at, 1));
    };
    ValueId other, takes_part, result;
    if (meeting.intrinsic == Intrinsic::kShuffleUp) {
        other = apply(OpId::kSubtract, number, by);
        takes_part = apply(OpId::kGreaterEqual, own_lane, by);
        result = read(builder, other);
    } else if (meeting.intrinsic == Intrinsic::kShuffleDown) {
        other = apply(OpId::kAdd, number, by);
        takes_part = apply(OpId::kLess, apply(OpId::kAdd, own_lane, by), warp);
        result = read(builder, other);
    } else {
        other = apply(OpId::kBitwiseXor, number, by);
        takes_part = truth(builder, true);
        // One bit: it is before this one or behind it.
        const ValueId is_bit = apply(
            OpId::kEqual, apply(OpId::kBitwiseAnd, by, apply(OpId::kSubtract, by, builder.index(1))), zero);
        result = builder.if_else(
            is_bit,
            [&](Builder& inner, std::span<const ValueId>) -> std::vector<ValueId> {
                const ValueId before = read(inner, inner.apply(OpId::kSubtract, {number, by}));
                const ValueId behind = read(inner, inner.apply(OpId::kAdd, {number, by}));
                const ValueId has_bit =
                    inner.apply(OpId::kNotEqual, {inner.apply(OpId::kBitwiseAnd, {number, by}), zero});
                return {inner.apply(OpId::kSelect, {has_bit, before, behind})};
            },
            [&](Builder& inner, std::span<const ValueId>) -> std::vector<ValueId> {
                return {read(inner, other)};
            },
            /*likely=*/true)[0];
    }
    const auto also = [&](ValueId holds) { takes_part = apply(OpId::kLogicalAnd, takes_part, holds); };
    also(is_near);
    if (meeting.intrinsic != Intrinsic::kShuffleUp) also(apply(OpId::kLess, other, parts.threads()));
    if (!asks_all) {
        const ValueId lane = apply(OpId::kBitwiseAnd, other, builder.index(kWarpLanes - 1));
        const ValueId bit = apply(OpId::kBitwiseAnd, apply(OpId::kRightShift, mask, lane), builder.index(1));
        also(apply(OpId::kNotEqual, bit, zero));
    }
    if (parts.mask().valid()) {
        also(builder.load_if(parts.mask(), std::span(&other, 1), takes_part, truth(builder, false)));
    }
    const ValueId own = read(builder, number);
    parts.define_kept(meeting.results[0], builder.apply(OpId::kSelect, {takes_part, result, own}));
}

void write_match(ThreadParts& parts, const Instruction& meeting) {
    const ValueId told = put(parts, parts.bring(meeting.operands[1]), "told");
    parts.end();
    const ValueId mask = parts.bring(meeting.operands[0]);
    Builder builder = parts.inside();
    // As bits: NaN is the same as itself.
    BufferType bits = builder.type(told).buffer;
    constexpr ScalarType kBits[] = {ScalarType::kUInt8,  ScalarType::kUInt8,  ScalarType::kUInt16,
                                    ScalarType::kUInt16, ScalarType::kUInt32, ScalarType::kUInt32,
                                    ScalarType::kUInt32, ScalarType::kUInt32, ScalarType::kUInt64};
    bits.element = kBits[DType(bits.element).itemsize()];
    bits.sizes.clear();
    const ValueId words = builder.view(told, bits, builder.index(0));
    const ValueId own = load(builder, words, parts.number());
    const ValueId same = fold_warp(
        parts, builder, first_of_warp(parts, builder), [&](Builder& of_lane, ValueId, ValueId thread) {
            return of_lane.apply(OpId::kEqual, {load(of_lane, words, thread), own});
        });
    parts.define_kept(meeting.results[0], builder.apply(OpId::kBitwiseAnd, {same, mask}));
}

void write_vote(ThreadParts& parts, const Instruction& meeting) {
    const ValueId bools = put(parts, parts.bring(meeting.operands[0]), "votes");
    parts.end();
    const ValueId result = meeting.results[0];
    if (meeting.intrinsic == Intrinsic::kBlockAll)
        return parts.common().map(result, holds_for_all(parts, bools));
    if (meeting.intrinsic == Intrinsic::kBlockAny)
        return parts.common().map(result, holds_for_any(parts, bools));
    const ValueId zero = parts.outside().index(0), one = parts.outside().index(1);
    parts.common().map(result, parts.fold(zero, [&](Builder& body, ValueId number, ValueId sum) {
        const ValueId holds = in_mask(parts, body, number, load(body, bools, number));
        return body.apply(OpId::kAdd, {sum, body.apply(OpId::kSelect, {holds, one, zero})});
    }));
}

}  // namespace

ValueId holds_for_all(ThreadParts& parts, ValueId bools) {
    Builder outside = parts.outside();
    return parts.fold(truth(outside, true), [&](Builder& body, ValueId number, ValueId all) {
        ValueId holds = load(body, bools, number);
        if (parts.mask().valid()) {
            const ValueId is_away = body.apply(OpId::kLogicalNot, {load(body, parts.mask(), number)});
            holds = body.apply(OpId::kLogicalOr, {holds, is_away});
        }
        return body.apply(OpId::kLogicalAnd, {all, holds});
    });
}

ValueId holds_for_any(ThreadParts& parts, ValueId bools) {
    Builder outside = parts.outside();
    return parts.fold(truth(outside, false), [&](Builder& body, ValueId number, ValueId any) {
        const ValueId holds = in_mask(parts, body, number, load(body, bools, number));
        return body.apply(OpId::kLogicalOr, {any, holds});
    });
}

ValueId both_masks(ThreadParts& parts, ValueId mask, ValueId other) {
    const ValueId both = parts.make_array(ScalarType::kBool, "takes_part");
    Builder outside = parts.outside();
    outside.for_loop(outside.index(0), parts.threads(), outside.index(1), {},
                     [&](Builder& body, std::span<const ValueId> arguments) -> std::vector<ValueId> {
                         const ValueId holds =
                             body.apply(OpId::kLogicalAnd,
                                        {load(body, mask, arguments[0]), load(body, other, arguments[0])});
                         body.store(both, holds, arguments);
                         return {};
                     });
    return both;
}

void write_meeting(ThreadParts& parts, const Instruction& meeting) {
    if (meeting.opcode == Opcode::kBarrier) return parts.end();
    switch (meeting.intrinsic) {
        case Intrinsic::kBlockCount:
        case Intrinsic::kBlockAll:
        case Intrinsic::kBlockAny: return write_vote(parts, meeting);
        case Intrinsic::kGridBarrier: {  // for which the block waits
            parts.end();
            Builder outside = parts.outside();
            outside.append(meeting);
            return;
        }
        case Intrinsic::kShuffle: return write_shuffle(parts, meeting);
        case Intrinsic::kShuffleUp:
        case Intrinsic::kShuffleDown:
        case Intrinsic::kShuffleXor:
            return parts.level_of(meeting.operands[3]) == ThreadLevel::kThread
                       ? write_shuffle(parts, meeting)
                       : write_shuffle_by(parts, meeting);
        case Intrinsic::kMatch: return write_match(parts, meeting);
        case Intrinsic::kBallot:
            return write_ballot(parts, meeting.results[0], meeting.operands[0],
                                put(parts, parts.bring(meeting.operands[1]), "votes"));
        case Intrinsic::kActiveMask: {
            Builder inside = parts.inside();
            return write_ballot(parts, meeting.results[0], {}, put(parts, truth(inside, true), "votes"));
        }
        default: return parts.end();
    }
}

}  // namespace weft::passes
