#include "lang/containers/dicts.h"

#include <algorithm>
#include <utility>

#include "lang/containers/sets.h"

namespace weft::lang {

using ir::ValueId;

const Record* dict_record() {
    static const Record record = [] {
        Record made;
        made.name = "dict";
        made.fields = {" keys", " table", " values"};  // which no program can name
        made.defaults = {nullptr, nullptr, nullptr};
        made.keyword_only = {false, false, false};
        return made;
    }();
    return &record;
}

Value FunctionLowering::Dicts::call(const std::string& name, const Value& dict, std::vector<Value> more) {
    more.insert(more.begin(), {keys(dict), f_.tuple_item(dict, 1), values(dict)});
    return f_.call_prelude("number_sets." + name, {std::move(more), {}, where_});
}

// Where the value of a key is; KeyError where there is none.
Value FunctionLowering::Dicts::call_place(const Value& dict, const Value& key) {
    return f_.call_prelude("number_sets.number_of", {{keys(dict), f_.tuple_item(dict, 1), key}, {}, where_});
}

Value FunctionLowering::Dicts::made(const Value& lists) const {
    if (lists.type->kind == TypeKind::kNever) return lists;
    Value result = lists;
    result.type = record_type(dict_record(), lists.type->parts);
    return result;
}

// --- keys -----------------------------------------------------------------------------------------------

Value FunctionLowering::Dicts::expect_key(const Value& key) const {
    if (key.type->kind != TypeKind::kNever && !is_hashed(key.type))
        f_.fail(
            where_,
            "a dictionary has numbers, texts and tuples of such as its keys in a compiled function, not " +
                lang::describe(key.type),
            "Number the keys before, or use an array.");
    return key;
}

Value FunctionLowering::Dicts::key_of(NodeId index, Environment& environment) {
    const std::vector<NodeId> items = f_.items_of(index);
    std::vector<Value> parts;
    for (const NodeId item : items) {
        if (f_.node(item).kind == NodeKind::kSlice) f_.fail(item, "a dictionary has no slices");
        parts.push_back(f_.required(f_.lower(item, environment), item));
        if (parts.back().type->kind == TypeKind::kNever) return f_.never();
    }
    return expect_key(parts.size() == 1 ? parts[0] : f_.tuple(std::move(parts)));
}

// --- what is made ---------------------------------------------------------------------------------------

Value FunctionLowering::Dicts::make(const Arguments& arguments) {
    f_.expect_arguments("dict", arguments, 0, 1);
    const Value dict = made(f_.call_prelude("number_sets.make_dict", {{}, {}, where_}));
    if (arguments.positional.empty() || dict.type->kind == TypeKind::kNever) return dict;
    put_all(dict, arguments.positional[0]);
    return dict;
}

Value FunctionLowering::Dicts::make_empty(const Arguments& arguments) {
    std::vector<Value> given = arguments.positional;
    for (const auto& [keyword, value] : arguments.keywords) {
        if (keyword != "n_keys") given.push_back(value);
    }
    const auto sample = [&](const Value& type) -> std::optional<Value> {
        if (type.type->kind == TypeKind::kSymbol) {
            if (const std::optional<ScalarType> dtype = f_.dtype_of(type, where_))
                return f_.scalar(scalar_type(*dtype), f_.cast(f_.integer(0), *dtype));
        }
        return std::nullopt;
    };
    if (given.size() >= 2) {
        const std::optional<Value> key = sample(given[0]), value = sample(given[1]);
        if (key && value)
            return made(f_.call_prelude("number_sets.make_dict_of", {{*key, *value}, {}, where_}));
    }
    return make({{}, {}, where_});
}

Value FunctionLowering::Dicts::display(Environment& environment) {
    const Value dict = make({{}, {}, where_});
    const auto put_pair = [&](size_t at, Environment& inner) {
        const NodeId key = f_.node(where_).children[at], value = f_.node(where_).children[at + 1];
        const Value first = expect_key(f_.required(f_.lower(key, inner), key));
        put(dict, first, f_.required(f_.lower(value, inner), value));
    };
    const Node& node = f_.node(where_);
    if (node.kind == NodeKind::kDict) {
        for (size_t at = 0; at < node.children.size(); at += 2) put_pair(at, environment);
    } else {
        f_.lower_clause(where_, 2, environment, [&](Environment& inner) { put_pair(0, inner); });
    }
    return dict;
}

// --- items ----------------------------------------------------------------------------------------------

Value FunctionLowering::Dicts::item(const Value& dict, NodeId index, Environment& environment) {
    const Value key = key_of(index, environment);
    if (key.type->kind == TypeKind::kNever) return f_.never();
    const Value at = call_place(dict, key);
    return at.type->kind == TypeKind::kNever ? at : f_.load_item(values(dict), at.parts[0]);
}

void FunctionLowering::Dicts::put(const Value& dict, const Value& key, const Value& value) {
    if (key.type->kind == TypeKind::kNever || value.type->kind == TypeKind::kNever) return;
    call("put", dict, {key, value});
}

void FunctionLowering::Dicts::put(const Value& dict, NodeId index, const Value& value,
                                  Environment& environment) {
    put(dict, key_of(index, environment), f_.required(value, where_));
}

void FunctionLowering::Dicts::augment(const Value& dict, NodeId statement, Environment& environment) {
    const Node& node = f_.node(statement);
    const Value key = key_of(node.children[0], environment);
    if (key.type->kind == TypeKind::kNever) return;
    const Value at = call_place(dict, key);
    if (at.type->kind == TypeKind::kNever) return;
    const Value before = f_.load_item(values(dict), at.parts[0]);
    const Value right = f_.lower(node.children[1], environment);
    if (is_list(before.type) && node.atoms[0] == "add") return f_.extend_list(before, right, statement);
    put(dict, key, f_.binary(node.atoms[0], before, right, statement));
}

void FunctionLowering::Dicts::take_out(const Value& dict, NodeId index, Environment& environment) {
    const Value key = key_of(index, environment);
    if (key.type->kind == TypeKind::kNever || call_place(dict, key).type->kind == TypeKind::kNever) return;
    call("take_out", dict, {key});
}

void FunctionLowering::Dicts::put_all(const Value& dict, const Value& other) {
    if (other.type->kind == TypeKind::kNever) return;
    if (is_dict(other.type)) {
        call("put_all", dict, {keys(other), values(other)});
        return;
    }
    const Sequence sequence = f_.sequence_of(other, where_);
    if (sequence.is_empty) return;
    call("put_pairs", dict, {other});
}

// --- methods --------------------------------------------------------------------------------------------

Value FunctionLowering::Dicts::call_method(const Value& dict, const std::string& name,
                                           const Arguments& arguments) {
    const std::vector<Value>& given = arguments.positional;
    for (const Value& value : given) {
        if (value.type->kind == TypeKind::kNever) return f_.never();
    }
    if (name == "keys" || name == "values" || name == "items") {
        f_.expect_arguments(name, arguments, 0, 0);
        if (name == "items") return f_.together("items", {keys(dict), values(dict)});
        return name == "keys" ? keys(dict) : values(dict);
    }
    if (name == "clear" || name == "popitem") {
        f_.expect_arguments(name, arguments, 0, 0);
        return call(name == "clear" ? "clear_dict" : "take_last", dict, {});
    }
    if (name == "copy") {
        f_.expect_arguments(name, arguments, 0, 0);
        return make({{dict}, {}, where_});
    }
    if (name == "update") {
        f_.expect_arguments(name, arguments, 1, 1);
        put_all(dict, given[0]);
        return f_.none();
    }
    if (name != "get" && name != "pop" && name != "setdefault")
        f_.fail(where_, "'dict' object has no attribute '" + name + "'",
                "It has get, pop, setdefault, keys, values, items, update, copy, clear and popitem.");
    f_.expect_arguments(name, arguments, name == "setdefault" ? 2 : 1, 2);
    expect_key(given[0]);
    if (name == "setdefault") return call("set_default", dict, given);
    if (name == "get") return call("value_or", dict, {given[0], given.size() == 2 ? given[1] : f_.none()});
    return call(given.size() == 2 ? "take_value_or" : "take_value", dict, given);
}

Value FunctionLowering::Dicts::compare(const std::string& name, const Value& left, const Value& right) {
    if (name == "in" || name == "not_in") {
        expect_key(left);
        const Value found = f_.call_prelude("number_sets.contains",
                                            {{keys(right), f_.tuple_item(right, 1), left}, {}, where_});
        return name == "in" ? found : f_.negation(f_.truth(found, where_));
    }
    const bool both = is_dict(left.type) && is_dict(right.type);
    if (name == "is" || name == "is_not")
        return both ? f_.compare(name, keys(left), keys(right), where_) : f_.boolean(name == "is_not");
    if (name != "eq" && name != "ne") f_.fail(where_, "dictionaries are not in an order");
    if (!both) return f_.boolean(name == "ne");
    const Value equal = call("equal_dicts", left, {keys(right), f_.tuple_item(right, 1), values(right)});
    return name == "eq" ? equal : f_.negation(f_.truth(equal, where_));
}

}  // namespace weft::lang
