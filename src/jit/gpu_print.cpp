#include "jit/gpu_print.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "lang/exceptions/classes.h"
#include "weft/errors.h"

namespace weft::jit {

namespace {

using codegen::PrintedPart;
using lang::TypeKind;
using lang::TypeRef;

// How a format field writes a number, in C's words.
std::optional<std::string> in_c(const std::string& field, ScalarType type) {
    size_t at = 0;
    const auto digits = [&] {
        const size_t first = at;
        while (at < field.size() && std::isdigit(static_cast<unsigned char>(field[at])) != 0) ++at;
        return field.substr(first, at - first);
    };
    std::string format = "%" + digits();  // a leading 0 fills with zeros, for both
    if (type == ScalarType::kInt64) {
        if (field.substr(at) == "d" || at == field.size()) return format + "lld";
        return std::nullopt;
    }
    if (type != ScalarType::kFloat64) return std::nullopt;
    // An infinity is not filled with zeros in C.
    if (format.size() > 1 && format[1] == '0') return std::nullopt;
    if (at < field.size() && field[at] == '.') {
        ++at;
        const std::string precision = digits();
        if (precision.empty()) return std::nullopt;
        format += "." + precision;
    }
    if (at + 1 != field.size() || std::string("feEgG").find(field[at]) == std::string::npos)
        return std::nullopt;
    return format + field[at];
}

class Printer {
public:
    codegen::Printed of(const lang::Site& site) {
        for (size_t i = 0; i < site.told.size(); ++i) {
            if (i > 0) add_text(site.separator);
            add(site.told[i], /*as_item=*/false);
        }
        add_text(site.end);
        if (codegen::printed_values(printed_) > codegen::kMostPrinted)
            throw NotImplementedError("print() of more than " + std::to_string(codegen::kMostPrinted) +
                                      " values is no print of a GPU");
        return std::move(printed_);
    }

private:
    [[noreturn]] static void refuse(const std::string& what) {
        throw NotImplementedError("print() of " + what + " has no text on a GPU yet");
    }

    void add_text(const std::string& text) {
        if (text.find('\0') != std::string::npos) refuse("a text with a zero byte");
        if (text.empty()) return;
        if (!printed_.empty() && printed_.back().kind == PrintedPart::Kind::kText) {
            printed_.back().text += text;
        } else {
            printed_.push_back({PrintedPart::Kind::kText, text});
        }
    }

    // `as_item`: as repr() writes it.
    void add(TypeRef type, bool as_item) {
        switch (type->kind) {
            case TypeKind::kScalar: return add_scalar(type, as_item);
            case TypeKind::kNone: return add_text("None");
            case TypeKind::kEllipsis: return add_text("Ellipsis");
            case TypeKind::kString: return add_text(as_item ? quoted(type->text) : type->text);
            case TypeKind::kChoice: {
                PrintedPart part{.kind = PrintedPart::Kind::kChoice, .value = next_++};
                for (TypeRef each : type->parts) {
                    if (each->text.find('\0') != std::string::npos) refuse("a text with a zero byte");
                    part.choices.push_back(as_item ? quoted(each->text) : each->text);
                }
                printed_.push_back(std::move(part));
                return;
            }
            case TypeKind::kTuple: {
                if (type->record != nullptr) refuse(lang::describe(type));
                add_items("(", type->parts, type->parts.size() == 1 ? ",)" : ")");
                return;
            }
            case TypeKind::kSlice: return add_items("slice(", type->parts, ")");
            case TypeKind::kFormat:
                if (as_item) refuse("a tuple with a text made of values");
                return add_format(type);
            default: refuse(lang::describe(type));
        }
    }

    void add_items(const char* begin, std::span<const TypeRef> items, const char* end) {
        add_text(begin);
        for (size_t i = 0; i < items.size(); ++i) {
            if (i > 0) add_text(", ");
            add(items[i], /*as_item=*/true);
        }
        add_text(end);
    }

    void add_scalar(TypeRef type, bool as_item) {
        using enum ScalarType;
        const ScalarType scalar = type->scalar;
        const bool is_pythons =
            scalar == kBool || scalar == kInt64 || scalar == kFloat64 || scalar == kComplex128;
        if (as_item && !is_pythons) {  // NumPy's: np.float32(0.5)
            if (scalar == kComplex64 || scalar == kBFloat16) refuse("a tuple with " + lang::describe(type));
            add_text("np." + std::string(DType(scalar).name()) + "(");
            add_scalar(type, /*as_item=*/false);
            return add_text(")");
        }
        PrintedPart part{.value = next_++, .type = scalar};
        if (scalar == kBool) {
            part.kind = PrintedPart::Kind::kChoice;
            part.choices = {"False", "True"};
        } else {
            const DType dtype(scalar);
            part.kind = dtype.is_complex()   ? PrintedPart::Kind::kComplex
                        : dtype.is_inexact() ? PrintedPart::Kind::kFloat
                                             : PrintedPart::Kind::kInteger;
        }
        printed_.push_back(std::move(part));
    }

    // str.format: the texts between the fields, and each field by what it says of its value.
    void add_format(TypeRef type) {
        const std::string& text = type->text;
        size_t field = 0;
        std::string between;
        for (size_t at = 0; at < text.size(); ++at) {
            const char c = text[at];
            if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) {
                between += c;
                ++at;
                continue;
            }
            if (c != '{') {
                between += c;
                continue;
            }
            const size_t end = text.find('}', at);
            if (end == std::string::npos || field == type->parts.size()) refuse("a text of this format");
            add_text(std::exchange(between, {}));
            add_field(text.substr(at + 1, end - at - 1), type->parts[field++]);
            at = end;
        }
        add_text(between);
    }

    void add_field(const std::string& said, TypeRef type) {
        if (said.empty() || said == "!s") return add(type, /*as_item=*/false);
        if (said == "!r" && type->kind != TypeKind::kFormat) return add(type, /*as_item=*/true);
        if (said[0] == ':' && type->kind == TypeKind::kScalar) {
            if (const auto format = in_c(said.substr(1), type->scalar)) {
                printed_.push_back({PrintedPart::Kind::kByFormat, *format, next_++, type->scalar, {}});
                return;
            }
        }
        refuse("a value by the format {" + said + "}");
    }

    // As repr() writes a plain text.
    static std::string quoted(const std::string& text) {
        const bool is_plain =
            std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '\'' && c != '\\'; });
        if (!is_plain) refuse("a tuple with a text that has to be quoted");
        return "'" + text + "'";
    }

    codegen::Printed printed_;
    size_t next_ = 0;  // value of the payload
};

}  // namespace

codegen::PrintedBySite printed_by(const ir::Module& module, std::span<const lang::Site> sites) {
    codegen::PrintedBySite printed;
    const std::function<void(const ir::Region&)> look = [&](const ir::Region& region) {
        for (const ir::Instruction& each : region.body) {
            if (each.opcode == ir::Opcode::kTell && !printed.contains(each.site)) {
                const lang::Site& site = sites[lang::site_of_error(each.site)];
                if (site.kind == lang::SiteKind::kTold) printed[each.site] = Printer().of(site);
            }
            for (const ir::Region& inner : each.regions) look(inner);
        }
    };
    for (const ir::Function& each : module.functions) look(each.body);
    return printed;
}

}  // namespace weft::jit
