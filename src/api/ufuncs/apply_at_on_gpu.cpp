#include "api/ufuncs/apply_at_on_gpu.h"

#include <algorithm>

#include "api/indexing/nonzero.h"
#include "api/recording/deferred_checks.h"
#include "core/shape.h"
#include "graph/placement.h"
#include "ops/resolve.h"
#include "weft/ops.h"

namespace weft {

namespace {

constexpr int64_t kMostRounds = 64;
constexpr int64_t kFewRounds = 4;  // cheaper than combining the operands first

array operator+(const array& a, const Argument& b) { return call_binary(op_info(OpId::kAdd), a, b); }
array operator-(const array& a, const Argument& b) { return call_binary(op_info(OpId::kSubtract), a, b); }
array equal(const array& a, const Argument& b) { return call_binary(op_info(OpId::kEqual), a, b); }
array both(const array& a, const array& b) { return call_binary(op_info(OpId::kLogicalAnd), a, b); }

array numbers_up_to(int64_t count) {
    return arange(Integer(0), Integer(count), Integer(1), DType(ScalarType::kInt64));
}

array at_positions(const array& input, const array& positions) {
    return take(input, positions, {}, TakeMode::kClip);
}

// Elements along the last axis that belong together lie side by side: what number each has among its group's,
// counted from the group's first.
struct Groups {
    array begins;  // the position of the group's first element
    int64_t most;  // elements of a group
};

int64_t largest(const array& numbers) { return integer_at(reduce("max", numbers)); }

// Combines the elements of each group, by pairs, in its first place.
array fold(const OpInfo& op, array values, const Groups& groups) {
    const int64_t count = groups.begins.size(), axis = values.ndim() - 1;
    const array index = numbers_up_to(count), rank = index - Argument(groups.begins);
    for (int64_t step = 1; step < groups.most; step *= 2) {
        const array other = call_binary(op_info(OpId::kMinimum), index + Integer(step), Integer(count - 1));
        const array alone = call_binary(op_info(OpId::kRemainder), rank, Integer(2 * step));
        const array there = at_positions(groups.begins, other);
        const array together = both(both(equal(alone, Integer(0)), equal(there, groups.begins)),
                                    call_binary(op_info(OpId::kLess), index, Integer(count - step)));
        const array folded = call_binary(op, values, take(values, other, axis, TakeMode::kClip));
        const array next = copy(values, 'C');
        assign_where(next, folded, together, Casting::kUnsafe);
        values = next;
        eval({&values, 1});  // each step is a few kernels, whose memory the next ones can have
    }
    return values;
}

// The operation that combines operands before they meet the element; null: none does.
const OpInfo* combining(const OpInfo& op) {
    if (op.flags.associative) return &op;
    if (op.name == std::string_view("subtract")) return &op_info(OpId::kAdd);  // x - a - b = x - (a + b)
    return nullptr;
}

}  // namespace

bool apply_at_on_gpu(const OpInfo& op, const array& target, const array& positions,
                     const std::optional<array>& operand) {
    const int64_t count = positions.size();
    const DeviceScope scope(device_of(target));
    std::vector<OperandType> types = {target.dtype()};
    if (operand) types.emplace_back(operand->dtype());
    const LoopInfo& loop = find_loop_cached(op, types);  // throws, also where nothing is named
    if (count == 0) return true;
    const array order = argsort(positions, 0), sorted = at_positions(positions, order);
    const array index = numbers_up_to(count);
    const array before =
        at_positions(sorted, call_binary(op_info(OpId::kMaximum), index - Argument(Integer(1)), Integer(0)));
    const array begins = call_binary(op_info(OpId::kLogicalOr), equal(index, Integer(0)),
                                     call_binary(op_info(OpId::kNotEqual), sorted, before));
    const array own_begin = call_binary(op_info(OpId::kMultiply), index, begins);
    Groups groups{accumulate(op_info(OpId::kMaximum), own_begin, 0), 0};
    const array rank = index - Argument(groups.begins);
    groups.most = largest(rank) + 1;
    const OpInfo* const combine = operand && loop.types[0] == loop.types[1] ? combining(op) : nullptr;
    const bool combined = combine != nullptr && groups.most > kFewRounds;
    if (!combined && groups.most > kMostRounds) return false;

    const bool in_place = target.c_contiguous();
    const array own = in_place ? target : copy(target, 'C');
    const array flat = reshape(own, Dims{own.size()});
    std::optional<array> values = operand;
    if (combined) values = fold(*combine, at_positions(astype(*operand, loop.types[1], 'C'), order), groups);
    const int64_t rounds = combined ? 1 : groups.most;
    for (int64_t round = 0; round < rounds; ++round) {
        const array mask = equal(rank, Integer(round));
        const array chosen = compressed(order, mask), places = at_positions(positions, chosen);
        const array element = at_positions(flat, places);
        const array result =
            operand ? call_binary(op, element,
                                  combined ? compressed(*values, mask) : at_positions(*values, chosen))
                    : call_unary(op, element);
        const Index indices[1] = {places};
        assign_at(flat, indices, result);
    }
    if (!in_place) assign(target, own);
    return true;
}

std::optional<array> reduce_between_on_gpu(const OpInfo& op, const array& input, const array& starts) {
    const int64_t length = input.shape().back(), count = starts.size();
    if (!op.flags.associative || count == 0 || length == 0 || input.size() == 0) return {};
    const DeviceScope scope(device_of(input));
    const array number = numbers_up_to(count), index = numbers_up_to(length);
    const array following =
        at_positions(starts, call_binary(op_info(OpId::kMinimum), number + Integer(1), Integer(count - 1)));
    const array last = equal(number, Integer(count - 1));
    const array rises = call_binary(op_info(OpId::kGreaterEqual), following, starts);
    if (!integer_at(astype(reduce("all", rises), ScalarType::kInt64))) return {};
    // Of several segments that begin at one place the last one has the elements, the others have the first.
    const array segment = searchsorted(starts, index, true) - Argument(Integer(1));
    const array begin = at_positions(starts, call_binary(op_info(OpId::kMaximum), segment, Integer(0)));
    Groups groups{begin, 0};
    const array rank = index - Argument(begin);
    groups.most = largest(rank) + 1;
    const array folded = fold(op, copy(input, 'C'), groups);
    const array alone = both(equal(following, starts), equal(last, Integer(0)));
    const int64_t axis = input.ndim() - 1;
    const array result = copy(take(folded, starts, axis, TakeMode::kClip), 'C');
    assign_where(result, take(input, starts, axis, TakeMode::kClip), alone, Casting::kUnsafe);
    return result;
}

}  // namespace weft
