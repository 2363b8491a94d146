// Instances of NamedTuples and dataclasses, which are tuples with names for their items.
#include <algorithm>

#include "lang/errors/argument_errors.h"
#include "lang/lowering.h"

namespace weft::lang {

std::optional<size_t> FunctionLowering::field_of(const Value& value, const std::string& name) const {
    if (value.type->record == nullptr || value.type->record->is_enumeration) return std::nullopt;
    const std::vector<std::string>& fields = value.type->record->fields;
    const auto found = std::find(fields.begin(), fields.end(), name);
    if (found == fields.end()) return std::nullopt;
    return static_cast<size_t>(found - fields.begin());
}

// A member's value: known for a constant, else one of all members' values.
Value FunctionLowering::value_of_member(const Value& member, NodeId where) {
    const std::vector<TypeRef>& values = member.type->record->defaults;
    if (std::find(values.begin(), values.end(), nullptr) != values.end())
        fail(where, "the members of " + member.type->record->name + " have values that are not compiled");
    if (const auto known = literal_integer(member.type->parts[0]))
        return constant_of(values[static_cast<size_t>(*known)]);
    std::vector<Value> all;
    for (TypeRef value : values) all.push_back(constant_of(value));
    return any_item(tuple(std::move(all)), member.parts[0], where);
}

Value FunctionLowering::make_record(const Record& record, const Arguments& arguments) {
    const NodeId where = arguments.where;
    if (record.is_enumeration)
        fail(where, "members of " + record.name + " are not looked up in a compiled function",
             "Name the member, or give it as an argument.");
    if (!record.not_made.empty())
        fail(where, record.not_made, "Make it outside, and give it as an argument.");
    const auto places =
        static_cast<size_t>(std::count(record.keyword_only.begin(), record.keyword_only.end(), false));
    if (arguments.positional.size() > places) {
        size_t least = 0;
        for (size_t i = 0; i < record.fields.size(); ++i)
            least += !record.keyword_only[i] && record.defaults[i] == nullptr ? 1 : 0;
        fail(where, too_many_arguments(record.name, least, places, arguments.positional.size(), 0));
    }
    std::vector<std::optional<Value>> given(record.fields.size());
    size_t next = 0;
    for (const Value& value : arguments.positional) {
        while (record.keyword_only[next]) ++next;
        given[next++] = value;
    }
    for (const auto& [name, value] : arguments.keywords) {
        const auto found = std::find(record.fields.begin(), record.fields.end(), name);
        if (found == record.fields.end()) fail(where, unexpected_keyword(record.name, name));
        std::optional<Value>& field = given[static_cast<size_t>(found - record.fields.begin())];
        if (field) fail(where, multiple_values(record.name, name));
        field = value;
    }
    std::vector<Value> items;
    MissingArguments missing;
    for (size_t i = 0; i < given.size(); ++i) {
        if (!given[i] && record.defaults[i] == nullptr) {
            missing.add(record.fields[i], record.keyword_only[i]);
        } else {
            items.push_back(given[i] ? *given[i] : constant_of(record.defaults[i]));
        }
    }
    if (!missing.empty()) fail(where, missing.message(record.name));
    Value result = tuple(std::move(items));
    result.type = record_type(&record, result.type->parts);
    return result;
}

// p._replace(x=1)
Value FunctionLowering::replaced(const Value& record, const Arguments& arguments) {
    std::vector<Value> items;
    for (size_t i = 0; i < record.type->parts.size(); ++i) items.push_back(tuple_item(record, i));
    if (!arguments.positional.empty()) expect_arguments("_replace", arguments, 0, 0);
    for (const auto& [name, value] : arguments.keywords) {
        const std::optional<size_t> field = field_of(record, name);
        if (!field) fail(arguments.where, record.type->record->name + " has no field '" + name + "'");
        items[*field] = value;
    }
    Value result = tuple(std::move(items));
    result.type = record_type(record.type->record, result.type->parts);
    return result;
}

}  // namespace weft::lang
