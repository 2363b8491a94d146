#include "lang/strings/strings.h"

#include <algorithm>
#include <string_view>

namespace weft::lang {

using ir::ValueId;

namespace {

// Texts share memory with texts alone.
constexpr uint16_t kTextScope = 1001;

std::vector<uint32_t> code_points(const std::string& text) {
    std::vector<uint32_t> points;
    for (size_t at = 0; at < text.size();) {
        const auto first = static_cast<uint8_t>(text[at++]);
        const int more = first < 0xC0 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
        uint32_t point = more == 0 ? first : first & (0x3FU >> more);
        for (int i = 0; i < more && at < text.size(); ++i)
            point = point << 6U | (static_cast<uint8_t>(text[at++]) & 0x3FU);
        points.push_back(point);
    }
    return points;
}

// Methods by what they answer; those that answer another text are made of code points.
constexpr std::string_view kOfText[] = {"upper",   "lower",  "swapcase",     "capitalize",  "title",  "strip",
                                        "lstrip",  "rstrip", "ljust",        "rjust",       "center", "zfill",
                                        "replace", "join",   "removeprefix", "removesuffix"};
constexpr std::string_view kOfOther[] = {"isupper",    "islower",   "isalpha",   "isalnum", "isdigit",
                                         "isdecimal",  "isnumeric", "isspace",   "isascii", "find",
                                         "rfind",      "index",     "rindex",    "count",   "split",
                                         "startswith", "endswith",  "splitlines"};

bool has(std::span<const std::string_view> names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

TypeRef points_type() {
    return array_type(ScalarType::kUInt32, 1, true, false, kTextScope, /*owned=*/true, /*ordered=*/true);
}

}  // namespace

const Record* string_record() {
    static const Record record = [] {
        Record made;
        made.name = "str";
        made.fields = {" points"};  // which no program can name
        made.defaults = {nullptr};
        made.keyword_only = {false};
        return made;
    }();
    return &record;
}

TypeRef text_type() { return record_type(string_record(), {points_type()}); }

Value FunctionLowering::Strings::call(const std::string& name, std::vector<Value> arguments) {
    for (Value& argument : arguments)
        if (is_any_text(argument.type)) argument = points(argument);
    return f_.call_prelude("strings." + name, {std::move(arguments), {}, where_});
}

Value FunctionLowering::Strings::wrapped(const Value& points) const {
    if (points.type->kind == TypeKind::kNever) return points;
    Value result = points.type->contiguous ? f_.convert(points, points_type(), where_)
                                           : f_.copied(points, std::vector{f_.size_of(points, 0)}, where_);
    result.fresh = points.fresh;
    result.type = text_type();
    return result;
}

Value FunctionLowering::Strings::allocated(const Value& length) {
    return f_.allocate(ScalarType::kUInt32, std::vector{f_.as_index(length, where_)}, where_, kTextScope);
}

Value FunctionLowering::Strings::points(const Value& text) {
    Value result = of(text);
    result.type = points_type();
    return result;
}

// --- other texts as these -------------------------------------------------------------------------------

Value FunctionLowering::Strings::of_known(const std::string& text) {
    const std::vector<uint32_t> points = code_points(text);
    const Value made = allocated(f_.integer(static_cast<int64_t>(points.size())));
    for (size_t i = 0; i < points.size() && !f_.dry_; ++i) {
        const Value point = f_.constant(Constant::of(ScalarType::kUInt32, points[i]));
        f_.store({made, {f_.integer(static_cast<int64_t>(i)).parts[0]}}, point, where_);
    }
    return wrapped(made);
}

Value FunctionLowering::Strings::of_field(const Value& value, const std::string& field) {
    const bool as_text = field == "{}" || field == "{!s}";
    const TypeRef type = value.type;
    if (as_text && is_any_text(type)) return of(value);
    const bool is_plain = as_text || field == "{!r}";
    if (is_plain && type->kind == TypeKind::kNone) return of_known("None");
    if (is_plain && type->kind == TypeKind::kOptional) {
        const Value inner{type->parts[0], {value.parts.begin() + 1, value.parts.end()}, 0};
        return f_.one_of(
            where_, value.parts[0], [&] { return of_field(inner, field); }, [&] { return of_known("None"); });
    }
    if (is_plain && is_scalar(type) && (type->weak || field != "{!r}")) {
        if (is_bool(type))
            return f_.one_of(
                where_, f_.truth(value, where_), [&] { return of_known("True"); },
                [&] { return of_known("False"); });
        if (is_integer(type)) return wrapped(call("of_integer", {value}));
        if (type->scalar == ScalarType::kFloat64) return wrapped(call("of_float", {value}));
    }
    f_.fail(where_,
            "a text with " + field + " of " + lang::describe(type) +
                " is made where it is printed, raised or returned, and nothing else can be done with it",
            "Print or return it.");
}

Value FunctionLowering::Strings::of_format(const Value& format) {
    const std::string& text = format.type->text;
    std::string known;
    std::optional<Value> made;
    const auto add = [&](const Value& more) { made = made ? joined(*made, more) : more; };
    const auto add_known = [&] {
        if (!known.empty()) add(of_known(known));
        known.clear();
    };
    size_t item = 0;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '}' || (text[at] == '{' && text[at + 1] == '{')) {
            known += text[at++];
            continue;
        }
        if (text[at] != '{') {
            known += text[at];
            continue;
        }
        size_t end = at, depth = 0;
        do {
            depth += text[end] == '{' ? 1 : text[end] == '}' ? size_t(-1) : 0;
            ++end;
        } while (depth > 0);
        add_known();
        add(of_field(f_.tuple_item(format, item++), text.substr(at, end - at)));
        at = end - 1;
    }
    add_known();
    return made ? *made : of_known("");
}

Value FunctionLowering::Strings::of(const Value& text) {
    if (is_string(text.type)) return text;
    if (text.type->kind == TypeKind::kString) return of_known(text.type->text);
    if (text.type->kind == TypeKind::kFormat) return of_format(text);
    const std::vector<TypeRef> texts = texts_of(text.type);
    const std::function<Value(size_t)> from = [&](size_t at) {
        if (at + 1 == texts.size()) return of_known(texts[at]->text);
        const ValueId is_it =
            f_.apply(OpId::kEqual, {text.parts[0], f_.integer(static_cast<int64_t>(at)).parts[0]});
        return f_.one_of(
            where_, is_it, [&] { return of_known(texts[at]->text); }, [&] { return from(at + 1); });
    };
    return from(0);
}

// --- what is done with texts ----------------------------------------------------------------------------

Value FunctionLowering::Strings::length(const Value& text) {
    return f_.scalar(scalar_type(ScalarType::kInt64, true), f_.size_of(points(text), 0));
}

Value FunctionLowering::Strings::compare(const std::string& name, const Value& left, const Value& right) {
    if (!is_any_text(left.type) || !is_any_text(right.type)) {
        if (name == "eq" || name == "ne") return f_.boolean(name == "ne");
        f_.fail(where_, "a text has no order beside " +
                            lang::describe(is_any_text(left.type) ? right.type : left.type));
    }
    if (name == "eq" || name == "ne") {
        const Value same = call("equal", {left, right});
        return name == "eq" ? same : f_.negation(f_.truth(same, where_));
    }
    return f_.compare(name, call("order", {left, right}), f_.integer(0), where_);
}

Value FunctionLowering::Strings::contains(const Value& text, const Value& part) {
    if (!is_any_text(part.type))
        f_.fail(where_, "'in <string>' requires string as left operand, not " + lang::describe(part.type));
    return call("contains", {text, part});
}

Value FunctionLowering::Strings::joined(const Value& left, const Value& right) {
    return wrapped(call("joined", {left, right}));
}

Value FunctionLowering::Strings::repeated(const Value& text, const Value& count) {
    if (text.type->kind == TypeKind::kString) {
        if (const auto times = literal_integer(count.type); times && *times <= 64) {
            std::string known;
            for (int64_t i = 0; i < *times; ++i) known += text.type->text;
            return {string_type(known), {}, 0};
        }
    }
    return wrapped(call("repeated", {text, count}));
}

Value FunctionLowering::Strings::item(const Value& text, NodeId index, Environment& environment) {
    const std::vector<NodeId> items = f_.items_of(index);
    if (items.size() != 1) f_.fail(where_, "a text has one index");
    const Value at = f_.number_of(items[0], environment);
    if (at.type->kind == TypeKind::kNever) return at;
    if (at.type->kind == TypeKind::kSlice) return wrapped(call("part", {text, at}));
    return wrapped(call("character", {text, at}));
}

FunctionLowering::Sequence FunctionLowering::Strings::characters(const Value& text) {
    const Value all = points(text);
    Sequence result;
    result.count = [&f = f_, all] { return f.size_of(all, 0); };
    result.element = [&f = f_, all, where = where_](ValueId k) {
        const Value at = f.scalar(scalar_type(ScalarType::kInt64, true), k);
        Strings of(f, where);
        return of.wrapped(of.call("character", {all, at}));
    };
    return result;
}

Value FunctionLowering::Strings::number(const Value& text, ScalarType to) {
    return call(to == ScalarType::kInt64 ? "integer" : "real", {text});
}

// Of a known text it is a constant.
Value FunctionLowering::Strings::hash(const Value& text) {
    if (text.type->kind != TypeKind::kString) return call("hashed", {text});
    uint64_t hash = 14695981039346656037U;
    for (const uint32_t point : code_points(text.type->text)) hash = (hash ^ point) * 1099511628211U;
    return f_.integer(static_cast<int64_t>(hash));
}

Value FunctionLowering::Strings::call_method(const Value& text, const std::string& name,
                                             const Arguments& arguments) {
    const bool of_text = has(kOfText, name);
    if (!of_text && !has(kOfOther, name))
        f_.fail(where_, "str has no method '" + name + "' in a compiled function",
                "Write it as a function, or call it outside.");
    Arguments given = arguments;
    const auto as_points = [&](Value& value) {
        if (is_any_text(value.type)) value = points(value);
    };
    const bool asks_several = (name == "startswith" || name == "endswith") && !given.positional.empty() &&
                              given.positional[0].type->kind == TypeKind::kTuple;
    if (asks_several) {  // any of them
        const Value several = given.positional[0];
        Value found = f_.boolean(false);
        for (size_t i = 0; i < several.type->parts.size(); ++i) {
            given.positional[0] = f_.tuple_item(several, i);
            const Value one = call_method(text, name, given);
            found = f_.scalar(scalar_type(ScalarType::kBool, true),
                              f_.apply(OpId::kLogicalOr, {f_.truth(found, where_), f_.truth(one, where_)}));
        }
        return found;
    }
    if (name == "join" && given.positional.size() == 1 &&
        given.positional[0].type->kind == TypeKind::kTuple) {
        Value made = of_known("");
        for (size_t i = 0; i < given.positional[0].type->parts.size(); ++i) {
            if (i > 0) made = joined(made, text);
            made = joined(made, f_.tuple_item(given.positional[0], i));
        }
        return made;
    }
    if (name != "join") std::ranges::for_each(given.positional, as_points);
    for (auto& [keyword, value] : given.keywords) as_points(value);
    given.positional.insert(given.positional.begin(), points(text));
    given.where = where_;
    const Value result = f_.call_prelude("strings." + name, given);
    return of_text ? wrapped(result) : result;
}

}  // namespace weft::lang
