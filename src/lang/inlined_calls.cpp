// Calls of small functions that are lowered where they are called, so that what is known there proves their
// indices and divisors, too, and loops around them are tested before they run. passes/calls/inline_calls.h
// does it later, for others, when nothing of that is known any more.
#include <algorithm>
#include <functional>
#include <utility>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

namespace {

constexpr size_t kLargest = 250;  // nodes of the function
constexpr int kDeepest = 6;       // such calls in each other

// Whether the function is lowered like a block of its caller's: none of others is in it.
bool is_plain(const FunctionSource& function, NodeId id, size_t& nodes) {
    const Node& node = function.tree[id];
    ++nodes;
    switch (node.kind) {
        case NodeKind::kDef:
        case NodeKind::kLambda:
        case NodeKind::kGeneratorExpression:
        case NodeKind::kTry:
        case NodeKind::kYield:
        case NodeKind::kSuspend:
        case NodeKind::kRestore: return false;
        case NodeKind::kGlobal: {
            const Symbol& symbol = function.symbol(node.number);
            if (symbol.function == &function || symbol.path == "weft.prange") return false;
            break;
        }
        default: break;
    }
    return std::all_of(node.children.begin(), node.children.end(),
                       [&](NodeId child) { return is_plain(function, child, nodes); });
}

// Whether what follows a return is never in the function, so that it ends where its text does.
bool ends_at_end(const FunctionSource& function) {
    const std::vector<NodeId>& statements = function.tree[function.tree.body()].children;
    if (statements.empty()) return false;
    const std::function<bool(NodeId)> leaves = [&](NodeId id) {
        const Node& node = function.tree[id];
        return node.kind == NodeKind::kReturn || node.kind == NodeKind::kRaise ||
               node.kind == NodeKind::kWhile ||
               std::any_of(node.children.begin(), node.children.end(), leaves);
    };
    const bool returns = function.tree[statements.back()].kind == NodeKind::kReturn;
    return std::none_of(statements.begin(), statements.end() - (returns ? 1 : 0), leaves);
}

}  // namespace

bool FunctionLowering::can_inline(const FunctionSource& callee) const {
    if (dry_ || compilation_.catches() || callee.is_prelude || callee.resume != nullptr ||
        compilation_.is_fast(callee) != compilation_.is_fast())
        return false;
    int depth = 0;
    for (const FunctionLowering* each = this; each != nullptr; each = each->around_) {
        if (&each->source_ == &callee || ++depth > kDeepest) return false;
    }
    size_t nodes = 0;
    return is_plain(callee, callee.tree.body(), nodes) && nodes <= kLargest && compilation_.may_inline(nodes);
}

Value FunctionLowering::inline_call(const FunctionSource& callee, std::span<const TypeRef> types,
                                    std::vector<Value> arguments, TypeRef result, NodeId where) {
    Specialised body;
    body.name = target_.name;
    body.result = result;
    FunctionLowering inner(compilation_, callee, types, body, spot(where));
    Inlined inlined;
    inner.around_ = this;
    inner.inlined_ = &inlined;
    inner.dry_ = false;
    inner.result_ = result;
    inner.builder_ = builder_;
    inner.globals_ = globals_;
    inner.hoist_ = hoist_;
    inner.open_loops_ = open_loops_;
    inner.is_second_ = is_second_;
    Environment environment(callee.tree.variables().size(), {simple_type(TypeKind::kUnbound), {}, 0});
    const auto parameters = callee.tree.parameters();
    for (size_t i = 0; i < arguments.size(); ++i) {
        environment[i] = std::move(arguments[i]);
        environment[i].origin = parameters[i];
        environment[i].fresh = false;
        count_owners(environment[i], true);
    }
    inner.name_itself(environment);
    std::swap(known_, inner.known_);
    {
        // What conditions of its own tell holds in it alone.
        const Learned learned(inner.known_);
        if (ends_at_end(callee)) {
            inner.lower_body(environment);
            if (inlined.parts.empty()) append_nothing(inlined.parts, result);
        } else {
            inlined.is_loop = true;
            std::vector<ValueId> nothing;
            append_nothing(nothing, result);
            nothing = at_border({result, nothing, 0}).parts;
            const ValueId zero = builder_->index(0), one = builder_->index(1);
            inlined.parts = builder_->for_loop(
                zero, one, one, nothing, [&](ir::Builder&, std::span<const ValueId>) -> std::vector<ValueId> {
                    const Nested nested(inner);
                    inlined.level = inner.open_loops_;
                    inner.lower_body(environment);
                    return {};
                });
        }
    }
    std::swap(known_, inner.known_);
    if (inlined.is_loop) note(inlined.parts, std::span(&result, 1), inlined.outcomes);
    target_.written.insert(body.written.begin(), body.written.end());
    target_.meets |= body.meets;
    target_.written_lists.insert(body.written_lists.begin(), body.written_lists.end());
    return inside({result, inlined.parts, 0});
}

// Of the function, or of the call in whose place it is.
void FunctionLowering::return_parts(const std::vector<ValueId>& parts) {
    if (inlined_ == nullptr) return builder_->return_values(parts);
    if (!inlined_->is_loop) {
        inlined_->parts = parts;
        return;
    }
    meet(inlined_->outcomes, std::span(&result_, 1), parts);
    builder_->break_loop(parts, open_loops_ - inlined_->level);
}

}  // namespace weft::lang
