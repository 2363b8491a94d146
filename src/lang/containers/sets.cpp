#include "lang/containers/sets.h"

#include <algorithm>
#include <utility>

#include "lang/errors/argument_errors.h"
#include "lang/strings/strings.h"

namespace weft::lang {

using ir::ValueId;

const Record* set_record() {
    static const Record record = [] {
        Record made;
        made.name = "set";
        made.fields = {" items", " table"};  // which no program can name
        made.defaults = {nullptr, nullptr};
        made.keyword_only = {false, false};
        return made;
    }();
    return &record;
}

bool is_hashed(TypeRef type) {
    if (type->kind == TypeKind::kTuple)
        return type->record == nullptr && std::all_of(type->parts.begin(), type->parts.end(), is_hashed);
    return (is_scalar(type) && !is_complex(type)) || is_any_text(type);
}

namespace {

// Methods that make a set of this one and another, and those that change it, by operators, too.
constexpr std::pair<std::string_view, std::string_view> kOperators[] = {
    {"or", "union"}, {"and", "intersection"}, {"sub", "difference"}, {"xor", "symmetric_difference"}};
constexpr std::string_view kUpdates[] = {"update", "intersection_update", "difference_update",
                                         "symmetric_difference_update"};

}  // namespace

Value FunctionLowering::Sets::call(const std::string& name, const Value& set, std::vector<Value> more) {
    more.insert(more.begin(), {items(set), f_.tuple_item(set, 1)});
    return f_.call_prelude("number_sets." + name, {std::move(more), {}, where_});
}

Value FunctionLowering::Sets::made(const Value& lists) const {
    if (lists.type->kind == TypeKind::kNever) return lists;
    Value result = lists;
    result.type = record_type(set_record(), lists.type->parts);
    return result;
}

void FunctionLowering::Sets::expect_number(const Value& item) const {
    if (item.type->kind == TypeKind::kNever || is_hashed(item.type)) return;
    f_.fail(where_,
            "a set holds numbers, texts and tuples of such in a compiled function, not " +
                lang::describe(item.type),
            "Use a list, or make numbers of what it holds.");
}

Value FunctionLowering::Sets::set_of(const Value& given) {
    if (is_set(given.type) || given.type->kind == TypeKind::kNever) return given;
    const Sequence sequence = f_.sequence_of(given, where_);
    if (sequence.is_empty) return made(f_.call_prelude("number_sets.make", {{}, {}, where_}));
    {
        const DryRun dry(f_);
        expect_number(sequence.element({}));
    }
    return made(f_.call_prelude("number_sets.make_of", {{given}, {}, where_}));
}

Value FunctionLowering::Sets::make(const Arguments& arguments) {
    f_.expect_arguments("set", arguments, 0, 1);
    if (arguments.positional.empty()) return made(f_.call_prelude("number_sets.make", {{}, {}, where_}));
    const Value& given = arguments.positional[0];
    return is_set(given.type) ? made(f_.call_prelude("number_sets.make_of", {{items(given)}, {}, where_}))
                              : set_of(given);
}

Value FunctionLowering::Sets::display(Environment& environment) {
    const Value set = make({{}, {}, where_});
    const auto add = [&](NodeId item, Environment& inner) {
        const Value value = f_.required(f_.lower(item, inner), item);
        expect_number(value);
        if (value.type->kind != TypeKind::kNever) call("add", set, {value});
    };
    const Node& node = f_.node(where_);
    if (node.kind == NodeKind::kSet) {
        for (const NodeId item : node.children) add(item, environment);
    } else {
        f_.lower_clause(where_, 1, environment,
                        [&](Environment& inner) { add(f_.node(where_).children[0], inner); });
    }
    return set;
}

Value FunctionLowering::Sets::call_method(const Value& set, const std::string& name,
                                          const Arguments& arguments) {
    for (const Value& value : arguments.positional) {
        if (value.type->kind == TypeKind::kNever) return f_.never();
    }
    if (name == "add" || name == "discard" || name == "remove") {
        f_.expect_arguments(name, arguments, 1, 1);
        expect_number(arguments.positional[0]);
        call(name, set, arguments.positional);
        return f_.none();
    }
    if (name == "pop" || name == "clear") {
        f_.expect_arguments(name, arguments, 0, 0);
        return call(name, set, {});
    }
    if (name == "copy") {
        f_.expect_arguments(name, arguments, 0, 0);
        return make({{set}, {}, where_});
    }
    if (name == "issubset" || name == "issuperset" || name == "isdisjoint") {
        f_.expect_arguments(name, arguments, 1, 1);
        const Value other = set_of(arguments.positional[0]);
        if (other.type->kind == TypeKind::kNever) return f_.never();
        const bool turned = name == "issuperset";
        return call(turned ? "issubset" : name, turned ? other : set,
                    {items(turned ? set : other), f_.tuple_item(turned ? set : other, 1)});
    }
    const bool updates = std::find(std::begin(kUpdates), std::end(kUpdates), name) != std::end(kUpdates);
    const bool makes = std::any_of(std::begin(kOperators), std::end(kOperators),
                                   [&](const auto& each) { return each.second == name; });
    if (!updates && !makes)
        f_.fail(where_, "'set' object has no attribute '" + name + "'",
                "It has add, remove, discard, pop, clear, copy, update, union, intersection, difference and "
                "such.");
    const bool one = name.starts_with("symmetric");
    f_.expect_arguments(name, arguments, one ? 1 : 0, one ? 1 : SIZE_MAX);
    Value result = makes && arguments.positional.empty() ? make({{set}, {}, where_}) : set;
    for (const Value& given : arguments.positional) {
        const Value other = set_of(given);
        if (other.type->kind == TypeKind::kNever || result.type->kind == TypeKind::kNever) return f_.never();
        if (name == "update") {
            call(name, set, {items(other)});
            continue;
        }
        const Value both = call(name, result, {items(other), f_.tuple_item(other, 1)});
        if (makes) result = made(both);
    }
    return makes ? result : f_.none();
}

std::optional<Value> FunctionLowering::Sets::binary(const std::string& name, const Value& left,
                                                    const Value& right) {
    if (!is_set(left.type) || !is_set(right.type)) return std::nullopt;
    for (const auto& [sign, method] : kOperators) {
        if (sign == name) return call_method(left, std::string(method), {{right}, {}, where_});
    }
    return std::nullopt;
}

Value FunctionLowering::Sets::compare(const std::string& name, const Value& left, const Value& right) {
    if (name == "in" || name == "not_in") {
        expect_number(left);
        const Value found = call("contains", right, {left});
        return name == "in" ? found : f_.negation(f_.truth(found, where_));
    }
    if (name == "is" || name == "is_not") {
        if (!is_set(left.type) || !is_set(right.type)) return f_.boolean(name == "is_not");
        return f_.compare(name, items(left), items(right), where_);
    }
    if (!is_set(left.type) || !is_set(right.type)) {
        if (name == "eq" || name == "ne") return f_.boolean(name == "ne");
        f_.fail(where_, "a set and " + lang::describe(is_set(left.type) ? right.type : left.type) +
                            " are not in an order");
    }
    const bool turned = name == "gt" || name == "ge";
    const Value &small = turned ? right : left, &large = turned ? left : right;
    const Value within = call("issubset", small, {items(large), f_.tuple_item(large, 1)});
    if (name == "le" || name == "ge") return within;
    const bool equal = name == "eq" || name == "ne";
    const ValueId sizes = f_.apply(equal ? OpId::kEqual : OpId::kLess, {length(small), length(large)});
    const ValueId holds = f_.apply(OpId::kLogicalAnd, {f_.truth(within, where_), sizes});
    return name == "ne" ? f_.negation(holds) : f_.scalar(scalar_type(ScalarType::kBool, true), holds);
}

}  // namespace weft::lang
