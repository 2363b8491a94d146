// try, except, else, finally. What may raise inside of a try is a loop that runs once: an error breaks it
// with its number and the values that variables have then. Calls in it catch (`call catching` of the IR).
#include <algorithm>
#include <array>

#include "lang/exceptions/active.h"
#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// "e" of `except ... as e`.
const Symbol* caught_symbol() {
    static const auto* const symbol = [] {
        auto* made = new Symbol;
        made->kind = SymbolKind::kUnknown;
        made->name = "a caught exception";
        made->path = "caught exception";
        return made;
    }();
    return symbol;
}

bool has_kind(const Tree& tree, NodeId id, NodeKind kind, size_t most_children) {
    const Node& node = tree[id];
    return (node.kind == kind && node.children.size() <= most_children) ||
           std::any_of(node.children.begin(), node.children.end(),
                       [&](NodeId child) { return has_kind(tree, child, kind, most_children); });
}

}  // namespace

// The innermost try that catches an error of the class, or has something to do before it goes on.
FunctionLowering::Try* FunctionLowering::try_of(uint32_t exception) {
    for (size_t i = tries_.size(); i-- > 0;) {
        if (tries_[i]->catches_all || compilation_.exceptions().is_within(exception, tries_[i]->keys))
            return tries_[i];
    }
    return nullptr;
}

// Ends the try with the error, for which its handlers are asked.
void FunctionLowering::leave_to(Try& target, ValueId error, const Environment& environment) {
    if (dry_) {
        target.raises = true;
        for (size_t i = 0; i < target.failing.size(); ++i) {
            const Value& value = environment[target.failing[i]];
            TypeRef& type = target.failing_types[i];
            type = type == nullptr
                       ? value.type
                       : join_or_fail({type, {}, 0}, value, variable(target.failing[i]), target.id);
        }
        return;
    }
    std::vector<ValueId> parts{error};
    for (size_t i = 0; i < target.failing.size(); ++i)
        append_converted(parts, environment[target.failing[i]], target.failing_types[i], target.id);
    for (TypeRef type : target.fine_types) append_nothing(parts, type);
    for (size_t k = target.first_temporary; k < temporaries_.size(); ++k)
        count_owners(temporaries_[k], false);
    for (size_t v = 0; v < environment.size(); ++v) {
        if (target.flow->assigned[v] && !target.flow->live_head[v]) count_owners(environment[v], false);
    }
    builder_->break_loop(std::move(parts), open_loops_ - target.level);
}

void FunctionLowering::note_raise(const Environment& environment) {
    if (!dry_) return;
    for (Try* each : tries_) leave_to(*each, {}, environment);
}

// Ends the function with an error whose number is known when it runs, or the try around.
void FunctionLowering::raise_number(ValueId error, const Environment& environment) {
    if (dry_) return note_raise(environment);
    if (!tries_.empty()) return leave_to(*tries_.back(), error, environment);
    release_all(environment);
    builder_->raise_again(error);
}

void FunctionLowering::release_all(const Environment& environment) {
    for (const Value& value : temporaries_) count_owners(value, false);
    for (const Value& value : environment) count_owners(value, false);
}

bool FunctionLowering::has_owners(const Environment& environment) const {
    const auto owns = [](const Value& value) { return value.type != nullptr && has_owner(value.type); };
    return std::any_of(temporaries_.begin(), temporaries_.end(), owns) ||
           std::any_of(environment.begin(), environment.end(), owns);
}

// The body that is being built ends with the error.
void FunctionLowering::raise_site(Site site, std::vector<ValueId> payload, NodeId where) {
    site.function = spot(where).function;
    site.node = spot(where).node;
    Try* const target = compilation_.catches() ? try_of(compilation_.exceptions().of(site)) : nullptr;
    if (target == nullptr && !dry_) tell_place(site, payload);
    site.payload = static_cast<int>(payload.size());
    if (dry_) {
        if (now_ != nullptr) note_raise(*now_);
        return;
    }
    const bool tells_memory = std::any_of(site.told.begin(), site.told.end(), has_owner);
    const bool tells = !payload.empty() && target != nullptr && target->goes_on;
    raise_deferred();
    const uint32_t number = compilation_.add_site(std::move(site));
    if (target == nullptr) {
        if (compilation_.catches() && now_ != nullptr && !tells_memory) release_all(*now_);
        return builder_->raise(number, std::move(payload));
    }
    ValueId error = builder_->index(int64_t{number} + 1);
    if (tells) {  // the error may be raised again, so that the host has to know what it tells
        ir::Builder raiser(compilation_.name_beside(target_.name));
        std::vector<ValueId> parameters;
        for (const ValueId value : payload)
            parameters.push_back(raiser.parameter(builder_->type(value), "told"));
        raiser.raise(number, std::move(parameters));
        ir::Function function = raiser.finish_function({});
        error = builder_->call_catching(function.name, {}, payload)[0];
        compilation_.add_function(std::move(function));
    }
    leave_to(*target, error, *now_);
}

// Results of a call in a try, or where memory has to be given back before its error goes on.
std::vector<ValueId> FunctionLowering::call_and_catch(const std::string& callee,
                                                      std::span<const ir::Type> types,
                                                      std::span<const ValueId> arguments, bool lazy) {
    const bool gives_back = compilation_.catches() && tries_.empty() && now_ != nullptr && has_owners(*now_);
    if (tries_.empty() && !gives_back) return builder_->call(callee, types, arguments, lazy);
    std::vector<ValueId> results = builder_->call_catching(callee, types, arguments);
    builder_->if_else(
        builder_->apply(OpId::kEqual, {results[0], builder_->index(0)}),
        [](ir::Builder&, std::span<const ValueId>) { return std::vector<ValueId>(); },
        [&](ir::Builder&, std::span<const ValueId>) {
            raise_number(results[0], *now_);
            return std::vector<ValueId>();
        });
    results.erase(results.begin());
    return results;
}

// --- statements -----------------------------------------------------------------------------------------

bool FunctionLowering::lower_try(NodeId id, Environment& environment) {
    const std::vector<NodeId>& children = node(id).children;
    compilation_.note_catch();
    ++catches_;
    target_.catches = true;
    const NodeId last = children[2];
    if (node(last).children.empty()) return lower_except(id, environment);
    Try whole;
    whole.id = id;
    whole.catches_all = whole.goes_on = true;
    finals_.push_back({last, tries_.size()});
    const bool goes_on = protect(
        id, whole, environment,
        [&](Environment& inner) {
            const bool reached =
                children.size() > 3 ? lower_except(id, inner) : lower_block(children[0], inner);
            return reached;
        },
        [&](Environment& inner) {
            const Final final = finals_.back();
            finals_.pop_back();
            const bool reached = lower_block(last, inner);
            finals_.push_back(final);
            return reached;
        },
        [&](Environment& inner, ValueId error) {
            const Final final = finals_.back();
            finals_.pop_back();
            const int before = catches_;
            const bool reached = lower_block(last, inner);
            finals_.push_back(final);
            if (reached) {
                expect_no_catch(before, id);
                raise_number(error, inner);
            }
            return false;
        });
    finals_.pop_back();
    return goes_on;
}

bool FunctionLowering::lower_except(NodeId id, Environment& environment) {
    const std::vector<NodeId>& children = node(id).children;
    Try handled;
    handled.id = id;
    std::vector<std::vector<std::string>> classes;
    for (size_t k = 3; k < children.size(); ++k) {
        classes.push_back(caught_classes(node(children[k]).children[0]));
        handled.catches_all |= classes.back().empty();
        handled.keys.insert(handled.keys.end(), classes.back().begin(), classes.back().end());
        handled.goes_on |= has_kind(source_.tree, node(children[k]).children.back(), NodeKind::kRaise, 0);
    }
    return protect(
        children[1], handled, environment,
        [&](Environment& inner) { return lower_block(children[0], inner); },
        [&](Environment& inner) { return lower_block(children[1], inner); },
        [&](Environment& inner, ValueId error) { return lower_handlers(id, 3, classes, error, inner); });
}

// Empty for all.
std::vector<std::string> FunctionLowering::caught_classes(NodeId id) {
    if (node(id).kind == NodeKind::kNone) return {};
    std::vector<NodeId> named{id};
    if (node(id).kind == NodeKind::kTuple) named = node(id).children;
    std::vector<std::string> keys;
    for (NodeId each : named) {
        if (node(each).kind != NodeKind::kGlobal)
            fail(each, "only classes of exceptions are caught", "Write except ValueError:");
        const Symbol& symbol = source_.symbol(node(each).number);
        if (symbol.kind == SymbolKind::kMissing) refuse_missing(symbol, each);
        if (symbol.kind != SymbolKind::kException)
            fail(each, symbol.described() + " is no exception", "Write except ValueError:");
        keys.push_back(compilation_.exceptions().key_of(symbol));
    }
    return keys;
}

bool FunctionLowering::lower_handlers(NodeId id, size_t number,
                                      const std::vector<std::vector<std::string>>& classes, ValueId error,
                                      Environment& environment) {
    const std::vector<NodeId>& children = node(id).children;
    if (number == children.size()) {
        raise_number(error, environment);
        return false;
    }
    const Node& handler = node(children[number]);
    const Flow& flow = flows_.at(children[1]);
    const auto caught = [&](Environment& inner) {
        const bool is_named = handler.children.size() > 2;
        const auto name = is_named ? static_cast<size_t>(node(handler.children[1]).number) : 0;
        if (is_named) {
            release(inner[name]);
            inner[name] = {symbol_type(caught_symbol()), {}, children[number]};
        }
        handling_.push_back({error, catches_});
        const bool reached = lower_block(handler.children.back(), inner);
        handling_.pop_back();
        if (is_named) {
            if (reached) release(inner[name]);
            inner[name] = {simple_type(TypeKind::kUnbound), {}, 0};
        }
        return reached;
    };
    ValueId matches{};
    if (!dry_) {
        const ValueId exception = builder_->apply(
            OpId::kRightShift,
            {builder_->apply(OpId::kSubtract, {error, builder_->index(1)}), builder_->index(kErrorBits)});
        const std::vector<std::string>& keys = classes[number - 3];
        if (keys.empty()) {  // what the host stops is none of the program's
            matches =
                builder_->apply(OpId::kLess, {exception, builder_->index(int64_t{1} << (32 - kErrorBits))});
        } else {
            matches = boolean(false).parts[0];
            for (const uint32_t each : compilation_.exceptions().within(keys))
                matches = builder_->apply(
                    OpId::kLogicalOr,
                    {matches, builder_->apply(OpId::kEqual, {exception, builder_->index(each)})});
        }
    }
    VariableSet assigned = flow.assigned_otherwise;
    return lower_branches(
        id, matches, assigned, flow.live_after, environment, caught,
        [&](Environment& inner) { return lower_handlers(id, number + 1, classes, error, inner); });
}

// Runs `body`; then `fine` where nothing was raised, or else `failed`. `key` names what is live where.
bool FunctionLowering::protect(NodeId key, Try& whole, Environment& environment,
                               const std::function<bool(Environment&)>& body,
                               const std::function<bool(Environment&)>& fine,
                               const std::function<bool(Environment&, ValueId)>& failed) {
    const Flow& flow = flows_.at(key);
    whole.flow = &flow;
    whole.first_temporary = temporaries_.size();
    std::vector<size_t> fine_variables;
    for (size_t v = 0; v < environment.size(); ++v) {
        if (!flow.assigned[v]) continue;
        if (flow.live_head[v]) whole.failing.push_back(v);
        if (flow.live_otherwise[v]) fine_variables.push_back(v);
    }
    whole.failing_types.assign(whole.failing.size(), nullptr);
    bool reached = false;
    {
        const DryRun dry(*this);
        Environment inner = environment;
        tries_.push_back(&whole);
        reached = body(inner);
        tries_.pop_back();
        for (size_t v : fine_variables) whole.fine_types.push_back(inner[v].type);
    }
    if (!whole.raises) {  // there is nothing to catch
        if (!body(environment)) return false;
        return fine(environment);
    }
    if (!reached) whole.fine_types.clear();
    std::vector<ValueId> results;
    if (!dry_) {
        std::vector<ValueId> nothing{builder_->index(0)};
        for (TypeRef type : whole.failing_types) append_nothing(nothing, type);
        for (TypeRef type : whole.fine_types) append_nothing(nothing, type);
        Hoist* const hoist = std::exchange(hoist_, nullptr);
        results = builder_->for_loop(
            builder_->index(0), builder_->index(1), builder_->index(1), nothing,
            [&](ir::Builder&, std::span<const ValueId>) -> std::vector<ValueId> {
                const Nested nested(*this);
                whole.level = open_loops_;
                Environment inner = environment;
                tries_.push_back(&whole);
                const bool ends = body(inner);
                tries_.pop_back();
                if (!ends) return {};
                std::vector<ValueId> parts{builder_->index(0)};
                for (TypeRef type : whole.failing_types) append_nothing(parts, type);
                for (size_t i = 0; i < fine_variables.size(); ++i)
                    append_converted(parts, inner[fine_variables[i]], whole.fine_types[i], whole.id);
                release_dropped(inner, [&](size_t v) { return !flow.assigned[v] || flow.live_otherwise[v]; });
                builder_->break_loop(std::move(parts));
                return {};
            });
        hoist_ = hoist;
    } else {
        size_t count = 1;
        for (TypeRef type : whole.failing_types) count += part_count(type);
        for (TypeRef type : whole.fine_types) count += part_count(type);
        results.resize(count);
    }
    const ValueId error = results[0];
    size_t at = 1;
    Environment after_error = environment;
    for (size_t v = 0; v < environment.size(); ++v) {
        if (flow.assigned[v]) after_error[v] = {simple_type(TypeKind::kUnbound), {}, 0};
    }
    Environment after = after_error;
    for (size_t i = 0; i < whole.failing.size(); ++i)
        after_error[whole.failing[i]] = take(whole.failing_types[i], results, at);
    for (size_t i = 0; reached && i < fine_variables.size(); ++i)
        after[fine_variables[i]] = take(whole.fine_types[i], results, at);
    if (!reached) {
        environment = std::move(after_error);
        return failed(environment, error);
    }
    VariableSet assigned = flow.assigned;
    for (size_t v = 0; v < assigned.size(); ++v) assigned[v] = assigned[v] || flow.assigned_otherwise[v];
    return lower_branches(
        whole.id, dry_ ? ValueId{} : builder_->apply(OpId::kEqual, {error, builder_->index(0)}), assigned,
        flow.live_after, environment,
        [&](Environment& inner) {
            inner = after;
            return fine(inner);
        },
        [&](Environment& inner) {
            inner = after_error;
            return failed(inner, error);
        });
}

// `finally` of the tries that a return, break or continue leaves: those around from number `from` on.
bool FunctionLowering::lower_finals(size_t from, Environment& environment) {
    const std::vector<Final> finals = finals_;
    const std::vector<Try*> tries = tries_;
    bool goes_on = true;
    while (goes_on && finals_.size() > from) {
        const Final final = finals_.back();
        finals_.pop_back();
        tries_.resize(std::min(tries_.size(), final.tries));
        goes_on = lower_block(final.block, environment);
    }
    finals_ = finals;
    tries_ = tries;
    return goes_on;
}

// What the last error told is lost once another one was caught.
void FunctionLowering::expect_no_catch(int before, NodeId where) {
    if (catches_ != before && !dry_)
        fail(where, "an error is raised again behind something that catches errors, too",
             "Raise another one, or catch errors in a function of their own.");
}

bool FunctionLowering::raise_again(NodeId id, const Environment& environment) {
    if (handling_.empty()) {  // one that the caller handles, which the host knows
        raise_site(site("RuntimeError", kNothingToRaise), {}, id);
        return false;
    }
    expect_no_catch(handling_.back().catches, id);
    raise_number(handling_.back().error, environment);
    return false;
}

}  // namespace weft::lang
