// Variables that loops count up or down. Such as only ever go up, in small steps or in steps that are known
// before the loop,
//
//     while i < n: ...; i += step
//
// are never below what they were before it: the step is added where the condition has held, far from where
// integers end.
#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "lang/kernels/kernels.h"
#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

namespace {

constexpr int64_t kHalf = int64_t{1} << 62;

bool is_int64(TypeRef type) { return type->kind == TypeKind::kScalar && type->scalar == ScalarType::kInt64; }

}  // namespace

// Whether it can be computed before the loop, without any effect.
bool FunctionLowering::is_known_before(NodeId id, const Loop& loop) const {
    const Node& given = node(id);
    const auto known = [&](NodeId child) { return is_known_before(child, loop); };
    switch (given.kind) {
        case NodeKind::kInt: return true;
        case NodeKind::kName: return !loop.flow->assigned[static_cast<size_t>(given.number)];
        case NodeKind::kGlobal: {
            const Symbol& symbol = source_.symbol(given.number);
            return symbol.kind == SymbolKind::kKnown && symbol.path.starts_with(Kernels::kPaths);
        }
        case NodeKind::kAttribute:
            return node(given.children[0]).kind == NodeKind::kName && known(given.children[0]);
        case NodeKind::kIndex: {  // a.shape[0]
            const Node& base = node(given.children[0]);
            return base.kind == NodeKind::kAttribute && base.atoms[0] == "shape" &&
                   given.children.size() == 2 && node(given.children[1]).kind == NodeKind::kInt &&
                   known(given.children[0]);
        }
        case NodeKind::kBinary: {
            const std::string& name = given.atoms[0];
            const bool cannot_fail = name == "add" || name == "sub" || name == "mul";
            return cannot_fail && std::all_of(given.children.begin(), given.children.end(), known);
        }
        case NodeKind::kCall: {
            const bool is_of_place = node(given.children[0]).kind == NodeKind::kGlobal;
            return is_of_place &&
                   std::all_of(given.children.begin(), given.children.end(), [&](NodeId child) {
                       return known(child) && node(child).kind != NodeKind::kCall;
                   });
        }
        default: return false;
    }
}

Fact FunctionLowering::fact_before(NodeId id, const Loop& loop, const Environment& environment) {
    if (!is_known_before(id, loop)) return {};
    std::vector<ir::Instruction> unused;
    ir::Builder aside(builder_->function(), unused);
    ir::Builder* const outside = std::exchange(builder_, &aside);
    const bool was_second = std::exchange(is_second_, true);
    Environment inner = environment;
    const Value value = lower(id, inner);
    is_second_ = was_second;
    builder_ = outside;
    if (const std::optional<int64_t> known = literal_integer(value.type)) return {*known, *known, {}, 0};
    const bool is_whole = is_scalar(value.type) && value.type->scalar == ScalarType::kInt64;
    return is_whole ? fact(value.parts[0]) : Fact{};
}

bool FunctionLowering::is_stepped_up(NodeId id, size_t variable, const Loop& loop,
                                     const Environment& environment) {
    if (node(id).kind != NodeKind::kWhile || count_assignments(source_.tree, id, variable) != 1) return false;
    const auto is_it = [&](NodeId each) {
        return node(each).kind == NodeKind::kName && static_cast<size_t>(node(each).number) == variable;
    };
    const std::function<bool(NodeId)> is_bounded = [&](NodeId condition) {
        const Node& given = node(condition);
        if (given.kind == NodeKind::kAnd)
            return std::any_of(given.children.begin(), given.children.end(), is_bounded);
        if (given.kind != NodeKind::kCompare) return false;
        for (size_t k = 0; k < given.atoms.size(); ++k) {
            const std::string& name = given.atoms[k];
            const NodeId left = given.children[k], right = given.children[k + 1];
            const bool is_less = name == "lt" || name == "le";
            if (is_less && is_it(left)) return fact_before(right, loop, environment).most <= kHalf;
        }
        return false;
    };
    // The only assignment, and not one of a loop inside, which may add more than once.
    const std::function<bool(NodeId)> adds = [&](NodeId each) {
        const Node& given = node(each);
        NodeId step = 0;
        if (given.kind == NodeKind::kAugment && given.atoms[0] == "add" && is_it(given.children[0])) {
            step = given.children[1];
        } else if (given.kind == NodeKind::kAssign && given.children.size() == 2 &&
                   is_it(given.children[0]) && node(given.children[1]).kind == NodeKind::kBinary) {
            const Node& sum = node(given.children[1]);
            if (sum.atoms[0] != "add" || !is_it(sum.children[0])) return false;
            step = sum.children[1];
        } else {
            const bool goes_inside = given.kind == NodeKind::kBlock || given.kind == NodeKind::kIf;
            return goes_inside && std::any_of(given.children.begin(), given.children.end(), adds);
        }
        const Fact known = fact_before(step, loop, environment);
        return known.least >= 0 && known.most < kHalf;
    };
    return is_bounded(node(id).children[0]) && adds(node(id).children[1]);
}

// 1 or -1 where each iteration adds or subtracts small numbers only. 0 otherwise.
int FunctionLowering::direction_of(NodeId loop, size_t variable) const {
    int up = 0, down = 0;
    const auto is_small = [&](NodeId id) {
        return node(id).kind == NodeKind::kInt && node(id).atoms[0].size() == 1;
    };
    const auto is_it = [&](NodeId id) {
        return node(id).kind == NodeKind::kName && static_cast<size_t>(node(id).number) == variable;
    };
    const auto count = [&](const std::string& operation) {
        if (operation == "add") ++up;
        if (operation == "sub") ++down;
    };
    const std::function<void(NodeId)> look = [&](NodeId id) {
        const Node& each = node(id);
        if (each.kind == NodeKind::kAugment && is_it(each.children[0]) && is_small(each.children[1]))
            count(each.atoms[0]);
        if (each.kind == NodeKind::kAssign && each.children.size() == 2 && is_it(each.children[0])) {
            const Node& sum = node(each.children[1]);
            if (sum.kind == NodeKind::kBinary && is_it(sum.children[0]) && is_small(sum.children[1]))
                count(sum.atoms[0]);
        }
        for (const NodeId child : each.children) look(child);
    };
    look(loop);
    const int all = count_assignments(source_.tree, loop, variable);
    return all == 0 || (up > 0 && down > 0) || up + down != all ? 0 : (up > 0 ? 1 : -1);
}

// At the beginning of an iteration. A variable that only counts up is never below what it was before the
// loop, if that was far enough from where integers end: from there it takes years to overflow.
void FunctionLowering::note_carried(NodeId id, Loop& loop, const Environment& environment,
                                    std::span<const ValueId> initials, std::span<const ValueId> carried) {
    const std::set<size_t> without_sign = never_negative(id, loop, environment);
    size_t at = 0;
    for (size_t i = 0; i < loop.carried.size(); at += part_count(loop.types[i]), ++i) {
        if (!is_int64(loop.types[i])) continue;
        loop.starts.emplace_back(i, carried[at]);
        if (without_sign.contains(loop.carried[i])) note(carried[at], {0, INT64_MAX, {}, 0});
        int direction = direction_of(id, loop.carried[i]);
        const Fact initial = fact(initials[at]);
        const std::vector<Upper> uppers = uppers_of(initials[at]);
        const bool is_not_large =
            initial.most <= kHalf || std::any_of(uppers.begin(), uppers.end(), [&](const Upper& upper) {
                return fact(upper.below).most <= kHalf;
            });
        if (direction > 0 ? !is_not_large : initial.least < -kHalf) direction = 0;
        if (direction > 0 || (direction == 0 && is_stepped_up(id, loop.carried[i], loop, environment)))
            note(carried[at], {initial.least, INT64_MAX, {}, 0});
        if (direction >= 0) continue;
        note(carried[at], {INT64_MIN, initial.most, initial.below, initial.offset});
        for (const Upper& upper : uppers) add_upper({carried[at], upper.below, upper.offset});
        add_upper({carried[at], initials[at], 1});
    }
}

// Where an iteration or the loop ends, and before the loop: what its variables may be behind it.
void FunctionLowering::note_end(Loop& loop, std::span<const ValueId> parts) {
    if (dry_) return;
    loop.outcomes.resize(loop.carried.size());
    size_t at = 0;
    for (size_t i = 0; i < loop.carried.size(); at += part_count(loop.types[i]), ++i) {
        if (!is_int64(loop.types[i])) continue;
        const bool is_same =
            std::find(loop.starts.begin(), loop.starts.end(), std::pair{i, parts[at]}) != loop.starts.end();
        if (!is_same) meet(loop.outcomes[i], parts[at]);
    }
}

}  // namespace weft::lang
