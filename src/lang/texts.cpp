// Texts that are made of values: f-strings, str(), and print().
//
// The text itself is made where an exception is raised, something is printed or the function returns, by
// Python's own rules (SiteKind::kTold). Until then it is a tuple of values with a template for str.format.
#include <algorithm>

#include "lang/lowering.h"
#include "lang/strings/strings.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// A text as a template that has it as it is.
std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) result += (c == '{' || c == '}') ? std::string(2, c) : std::string(1, c);
    return result;
}

}  // namespace

void FunctionLowering::expect_printable(TypeRef type, NodeId where, bool at_once) const {
    if ((at_once && is_strided(type)) || is_string(type)) return;
    switch (type->kind) {
        case TypeKind::kScalar:
        case TypeKind::kNone:
        case TypeKind::kString:
        case TypeKind::kChoice:
        case TypeKind::kEllipsis:
        case TypeKind::kNever: return;
        case TypeKind::kSlice:
        case TypeKind::kTuple:
        case TypeKind::kRecord:
        case TypeKind::kFormat:
        case TypeKind::kList:
        case TypeKind::kOptional:
            for (TypeRef part : type->parts) expect_printable(part, where, at_once);
            return;
        default:
            fail(where, lang::describe(type) + " has no text in a compiled function",
                 is_strided(type) ? "Use its elements, or print the array itself." : "");
    }
}

// Of a list the host is told where it is.
void FunctionLowering::append_told(std::vector<ValueId>& payload, const Value& value) {
    for (const ValueId part : value.parts) {
        const bool is_buffer = !dry_ && builder_->type(part).is_buffer;
        payload.push_back(is_buffer ? builder_->address(part) : part);
    }
}

Value FunctionLowering::lower_format(NodeId id, Environment& environment) {
    std::vector<Value> values;
    for (NodeId child : node(id).children) {
        values.push_back(lower(child, environment));
        expect_printable(values.back().type, child);
    }
    Value result = tuple(std::move(values));
    result.type = format_type(node(id).atoms[0], result.type->parts);
    return result;
}

ValueId FunctionLowering::number_in(const Value& text, TypeRef choice) {
    if (dry_) return {};
    if (text.type == choice) return text.parts[0];
    const auto number = [&](TypeRef known) {
        const auto at = std::find(choice->parts.begin(), choice->parts.end(), known);
        return integer(at - choice->parts.begin()).parts[0];
    };
    if (text.type->kind == TypeKind::kString) return number(text.type);
    return of_texts(text,
                    [&](const std::string& known) {
                        return scalar(scalar_type(ScalarType::kInt64, true), number(string_type(known)));
                    })
        .parts[0];
}

Value FunctionLowering::of_texts(const Value& text, const std::function<Value(const std::string&)>& each) {
    const std::vector<TypeRef> texts = texts_of(text.type);
    Value result = each(texts[0]->text);
    for (size_t i = 1; i < texts.size(); ++i) {
        const Value other = each(texts[i]->text);
        result.type = without_literals(result.type);
        if (dry_) continue;
        const ValueId is_it =
            builder_->apply(OpId::kEqual, {text.parts[0], integer(static_cast<int64_t>(i)).parts[0]});
        result =
            scalar(result.type, builder_->apply(OpId::kSelect, {is_it, other.parts[0], result.parts[0]}));
    }
    return result;
}

Value FunctionLowering::joined_text(const Value& left, const Value& right) {
    if (left.type->kind == TypeKind::kString && right.type->kind == TypeKind::kString)
        return {string_type(left.type->text + right.type->text), {}, 0};
    if (is_string(left.type) || is_string(right.type))
        return Strings(*this, right.origin).joined(left, right);
    std::string text;
    Value result;
    std::vector<TypeRef> types;
    for (const Value* side : {&left, &right}) {
        const bool is_known = side->type->kind == TypeKind::kString;
        if (side->type->kind == TypeKind::kChoice) {
            text += "{}";
            types.push_back(side->type);
            result.parts.push_back(side->parts[0]);
            continue;
        }
        text += is_known ? escaped(side->type->text) : side->type->text;
        types.insert(types.end(), side->type->parts.begin(), side->type->parts.end());
        result.parts.insert(result.parts.end(), side->parts.begin(), side->parts.end());
    }
    result.type = format_type(std::move(text), std::move(types));
    return result;
}

// str(x), repr(x)
Value FunctionLowering::call_text(bool representation, const Arguments& given) {
    Arguments arguments = given;
    if (!representation && given.positional.empty() && given.keywords.size() == 1 &&
        given.keywords[0].first == "object")
        arguments = {{given.keywords[0].second}, {}, given.where};
    expect_arguments(representation ? "repr" : "str", arguments, representation ? 1 : 0, 1);
    if (arguments.positional.empty()) return {string_type(""), {}, 0};
    const Value& value = arguments.positional[0];
    expect_printable(value.type, arguments.where);
    if (!representation && is_any_text(value.type)) return value;
    return {format_type(representation ? "{!r}" : "{!s}", {value.type}), value.parts, 0};
}

Value FunctionLowering::call_print(const Arguments& arguments) {
    const NodeId where = arguments.where;
    Site printed = site({}, {});
    printed.kind = SiteKind::kTold;
    for (const auto& [name, value] : arguments.keywords) {
        const bool is_text = value.type->kind == TypeKind::kString;
        if (name == "flush" && value.type->literal && is_bool(value.type)) {
            printed.flush = value.type->literal->as<bool>();
        } else if ((name == "sep" || name == "end") && (is_text || value.type->kind == TypeKind::kNone)) {
            if (is_text) (name == "sep" ? printed.separator : printed.end) = value.type->text;
        } else if (name == "sep" || name == "end") {
            fail(where, "'" + name + "' of print() has to be a known text here");
        } else {
            fail(where, "print() takes no keyword '" + name + "' in a compiled function", "Leave it out.");
        }
    }
    std::vector<ValueId> payload;
    for (const Value& value : arguments.positional) {
        if (value.type->kind == TypeKind::kNever) return none();
        expect_printable(value.type, where, true);
        printed.told.push_back(value.type);
        append_told(payload, value);
    }
    if (dry_) return none();
    raise_deferred();
    printed.function = spot(where).function;
    printed.node = spot(where).node;
    printed.payload = static_cast<int>(payload.size());
    builder_->tell(compilation_.add_site(std::move(printed)), std::move(payload));
    return none();
}

}  // namespace weft::lang
