// Parallel loops without loops in them: sums of floats and checks of divisions, as lanes of vectors.
#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "lang/lowering.h"
#include "lang/parallel/carried.h"
#include "lang/parallel/outline.h"

namespace weft::lang {

using ir::ValueId;

// Whether sums of floats, or checks of divisions, are in the way of vectors: then a chunk has several sums,
// an element of an array each, and an iteration adds to that of its number. What only the first of equal ones
// decides has one.
bool FunctionLowering::has_lanes(NodeId body, const ParallelLoop& plan, const Loop& loop) const {
    const std::function<bool(NodeId)> is_straight = [&](NodeId id) {
        const NodeKind kind = node(id).kind;
        return kind != NodeKind::kFor && kind != NodeKind::kWhile && kind != NodeKind::kContinue &&
               std::all_of(node(id).children.begin(), node(id).children.end(), is_straight);
    };
    const bool all = std::all_of(plan.carried.begin(), plan.carried.end(), [](const CarriedVariable& each) {
        return each.kind == CarriedKind::kReduction && each.operation != "any" && each.operation != "all";
    });
    const std::function<bool(NodeId)> divides = [&](NodeId id) {
        const Node& given = node(id);
        const bool operates = given.kind == NodeKind::kBinary || given.kind == NodeKind::kAugment;
        return (operates &&
                (given.atoms[0] == "truediv" || given.atoms[0] == "floordiv" || given.atoms[0] == "mod")) ||
               std::any_of(given.children.begin(), given.children.end(), divides);
    };
    return all && is_straight(body) &&
           (std::any_of(loop.types.begin(), loop.types.end(),
                        [](TypeRef type) { return is_float(type) || is_complex(type); }) ||
            (compilation_.options().check_division && divides(body)));
}

// Whether a pass may find that iterations step through loops inside together (passes/lanes_of_loops.h).
bool FunctionLowering::may_step_together(NodeId body) const {
    const std::function<bool(NodeId)> is_plain = [&](NodeId id) {
        return node(id).kind != NodeKind::kRaise &&
               std::all_of(node(id).children.begin(), node(id).children.end(), is_plain);
    };
    return has_loop(body) && is_plain(body);
}

// Whether an iteration takes some hundred cycles at most, as far as can be seen.
bool FunctionLowering::is_short(NodeId body) const {
    const std::function<bool(NodeId)> calls = [&](NodeId id) {
        const Node& given = node(id);
        if (given.kind == NodeKind::kGlobal && source_.symbol(given.number).kind == SymbolKind::kFunction)
            return true;
        return std::any_of(given.children.begin(), given.children.end(), calls);
    };
    return !has_loop(body) && !calls(body);
}

bool FunctionLowering::defer(ValueId holds, const Site& site, NodeId where) {
    constexpr size_t kBits = 62;
    if (deferred_ == nullptr || site.exception != "ZeroDivisionError" || deferred_->sites.size() == kBits)
        return false;
    auto& sites = deferred_->sites;
    auto found =
        std::find_if(sites.begin(), sites.end(), [&](const auto& each) { return each.first == where; });
    if (found == sites.end()) {
        Site own = site;
        own.function = spot(where).function;
        own.node = spot(where).node;
        found = sites.emplace(sites.end(), where, compilation_.add_site(std::move(own)));
    }
    const ValueId before = builder_->load(deferred_->array, std::span(&deferred_->lane, 1));
    const ValueId bit = builder_->index(int64_t{1} << (found - sites.begin()));
    const ValueId next = builder_->apply(OpId::kSelect, {holds, builder_->index(0), bit});
    builder_->store(deferred_->array, builder_->apply(OpId::kBitwiseOr, {before, next}),
                    std::span(&deferred_->lane, 1));
    return true;
}

// Those of the lane that is being lowered, so that the first error of an iteration is the one that is told.
void FunctionLowering::raise_deferred() {
    if (dry_ || deferred_ == nullptr || deferred_->sites.empty()) return;
    const ValueId failed = builder_->load(deferred_->array, std::span(&deferred_->lane, 1));
    const ValueId zero = builder_->index(0);
    for (size_t i = 0; i < deferred_->sites.size(); ++i) {
        const ValueId bit = builder_->apply(OpId::kBitwiseAnd, {failed, builder_->index(int64_t{1} << i)});
        builder_->check(builder_->apply(OpId::kEqual, {bit, zero}), deferred_->sites[i].second, {});
    }
}

void FunctionLowering::run_lanes(NodeId id, const ParallelLoop& plan, const Sequence& sequence, Loop& loop,
                                 Environment& environment) {
    // Sums are to be in registers, where each iteration of the loop around the lanes finds them.
    const bool adds_up = !plan.carried.empty();
    const int64_t width = adds_up ? kLanes : kLanesWithoutSums;
    const ValueId none = builder_->index(0), one = builder_->index(1), many = builder_->index(width);
    const auto array_of = [&](ValueId initial) {
        const ScalarType element = builder_->type(initial).scalar;
        ir::BufferType local{.element = element, .space = ir::AddressSpace::kLocal};
        local.strides = {DType(element).itemsize()};
        local.sizes = {width};
        const ValueId array = builder_->allocate(local, "lanes");
        builder_->for_loop(none, many, one, {},
                           [&](ir::Builder&, std::span<const ValueId> lane) -> std::vector<ValueId> {
                               builder_->store(array, initial, lane);
                               return {};
                           });
        return array;
    };
    std::vector<ValueId> lanes;
    for (const ValueId initial : carried_parts(loop, environment, true, id))
        lanes.push_back(array_of(initial));
    Deferred deferred;
    deferred.array = array_of(builder_->index(0));
    const auto iteration = [&](ValueId first) {
        return [&, first](ir::Builder&, std::span<const ValueId> arguments) -> std::vector<ValueId> {
            const ValueId lane = arguments[0];
            const ValueId counter = builder_->apply(OpId::kAdd, {first, lane});
            deferred.lane = lane;
            std::vector<ValueId> before;
            for (const ValueId each : lanes) before.push_back(builder_->load(each, std::span(&lane, 1)));
            Environment inner = start_iteration(loop, environment, before);
            loops_.push_back(&loop);
            const bool reached = lower_iteration(id, sequence, inner, counter);
            loops_.pop_back();
            if (!reached) return {};
            const std::vector<ValueId> after = end_iteration(loop, inner, true, id);
            for (size_t i = 0; i < lanes.size(); ++i)
                builder_->store(lanes[i], after[i], std::span(&lane, 1));
            return {};
        };
    };
    const ValueId lower = sequence.bounds[0], upper = sequence.bounds[1];
    Hoist bounds;
    bounds.function = &source_;
    bounds.loop = id;
    bounds.lower = lower;
    bounds.upper = upper;
    build_hoisted(node(id).children[2], bounds, [&]() -> std::vector<ValueId> {
        deferred.sites.clear();
        deferred_ = is_second_ ? nullptr : &deferred;
        // So many lanes that all of their sums are known, and then what is left; or both in one loop.
        const auto lanes_from = [&](ValueId first, ValueId end) {
            begin_loop(id);
            if (is_second_) {
                builder_->for_loop(none, end, one, {}, iteration(first));
            } else {
                builder_->for_lanes(none, end, width, iteration(first));
            }
        };
        const bool in_one = is_second_ || !adds_up;
        const ValueId rest =
            builder_->apply(OpId::kBitwiseAnd,
                            {builder_->apply(OpId::kSubtract, {upper, lower}), builder_->index(width - 1)});
        const ValueId whole = builder_->apply(OpId::kSubtract, {upper, rest});
        const ValueId count = builder_->apply(OpId::kSubtract, {in_one ? upper : whole, lower});
        builder_->for_loop(none, count, many, {},
                           [&](ir::Builder&, std::span<const ValueId> arguments) -> std::vector<ValueId> {
                               const ValueId first = builder_->apply(OpId::kAdd, {lower, arguments[0]});
                               const ValueId left = builder_->apply(OpId::kSubtract, {count, arguments[0]});
                               lanes_from(first,
                                          in_one ? builder_->apply(OpId::kMinimum, {left, many}) : many);
                               return {};
                           });
        if (!in_one) builder_->for_loop(none, rest, one, {}, iteration(whole));
        deferred_ = nullptr;
        if (is_second_ || deferred.sites.empty()) return {};
        const std::vector<ValueId> failed =
            builder_->for_loop(none, many, one, std::array{none},
                               [&](ir::Builder&, std::span<const ValueId> arguments) -> std::vector<ValueId> {
                                   const ValueId of_lane = builder_->load(deferred.array, arguments.first(1));
                                   return {builder_->apply(OpId::kBitwiseOr, {arguments[1], of_lane})};
                               });
        builder_->store(deferred.array, failed[0], std::array{none});
        deferred.lane = none;
        deferred_ = &deferred;
        raise_deferred();
        deferred_ = nullptr;
        return {};
    });
    const auto lane_at = [&](int64_t lane) {
        std::vector<ValueId> parts;
        for (const ValueId each : lanes)
            parts.push_back(builder_->load(each, std::array{builder_->index(lane)}));
        return parts;
    };
    if (!adds_up) return;
    environment = start_iteration(loop, environment, lane_at(0));
    for (int64_t lane = 1; lane < kLanes; ++lane) {
        const Environment other = start_iteration(loop, environment, lane_at(lane));
        for (const CarriedVariable& carried : plan.carried) {
            Value& value = environment[carried.variable];
            if (is_comparison(carried.operation)) {
                const Value better =
                    compare(carried.operation, other[carried.variable], value, carried.where);
                value.parts[0] = builder_->apply(
                    OpId::kSelect, {better.parts[0], other[carried.variable].parts[0], value.parts[0]});
            } else {
                value = convert(combined(carried, value, other[carried.variable]), value.type, id);
            }
        }
    }
}

}  // namespace weft::lang
