#include "execution/cuda_source/kernel_signatures.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <set>
#include <utility>

namespace weft {

namespace {

using Kind = KernelParameter::Kind;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

// Words, and single characters for all else.
std::vector<std::string_view> tokens_of(std::string_view text) {
    std::vector<std::string_view> tokens;
    for (size_t at = 0; at < text.size();) {
        if (is_space(text[at])) {
            ++at;
            continue;
        }
        size_t end = at + 1;
        if (is_word(text[at])) {
            while (end < text.size() && is_word(text[end])) ++end;
        }
        tokens.push_back(text.substr(at, end - at));
        at = end;
    }
    return tokens;
}

// The parts between commas that stand in no brackets.
std::vector<std::string_view> parts_of_list(std::string_view list) {
    std::vector<std::string_view> parts;
    int depth = 0;
    size_t begin = 0;
    for (size_t at = 0; at < list.size(); ++at) {
        const char c = list[at];
        if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
        if (c == '>' || c == ')' || c == ']' || c == '}') --depth;
        if (c == ',' && depth == 0) {
            parts.push_back(trimmed(list.substr(begin, at - begin)));
            begin = at + 1;
        }
    }
    const std::string_view last = trimmed(list.substr(begin));
    if (!last.empty() && last != "void") parts.push_back(last);
    return parts;
}

// ---- types ------------------------------------------------------------------------------------------------

// What the words of an arithmetic type say, in whatever order; long is 64 bits where CUDA runs on Linux.
std::optional<DType> dtype_of_words(const std::vector<std::string_view>& words) {
    static const std::map<std::string_view, ScalarType> kNames{
        {"bool", ScalarType::kBool},
        {"int8_t", ScalarType::kInt8},
        {"uint8_t", ScalarType::kUInt8},
        {"uchar", ScalarType::kUInt8},
        {"int16_t", ScalarType::kInt16},
        {"uint16_t", ScalarType::kUInt16},
        {"ushort", ScalarType::kUInt16},
        {"int32_t", ScalarType::kInt32},
        {"uint32_t", ScalarType::kUInt32},
        {"uint", ScalarType::kUInt32},
        {"int64_t", ScalarType::kInt64},
        {"uint64_t", ScalarType::kUInt64},
        {"ulong", ScalarType::kUInt64},
        {"size_t", ScalarType::kUInt64},
        {"ptrdiff_t", ScalarType::kInt64},
        {"float", ScalarType::kFloat32},
        {"double", ScalarType::kFloat64},
        {"half", ScalarType::kFloat16},
        {"__half", ScalarType::kFloat16},
        {"float16", ScalarType::kFloat16},
        {"__nv_bfloat16", ScalarType::kBFloat16},
        {"cuComplex", ScalarType::kComplex64},
        {"cuFloatComplex", ScalarType::kComplex64},
        {"cuDoubleComplex", ScalarType::kComplex128},
    };
    if (words.size() == 1) {
        const auto found = kNames.find(words[0]);
        if (found != kNames.end()) return DType(found->second);
    }
    int longs = 0, shorts = 0, chars = 0, ints = 0;
    bool is_unsigned = false, is_signed = false;
    for (const std::string_view word : words) {
        if (word == "long")
            ++longs;
        else if (word == "short")
            ++shorts;
        else if (word == "char")
            ++chars;
        else if (word == "int")
            ++ints;
        else if (word == "unsigned")
            is_unsigned = true;
        else if (word == "signed")
            is_signed = true;
        else
            return {};
    }
    if (longs + shorts + chars + ints == 0 && !is_unsigned && !is_signed) return {};
    if (chars > 0) return DType(is_unsigned ? ScalarType::kUInt8 : ScalarType::kInt8);
    if (shorts > 0) return DType(is_unsigned ? ScalarType::kUInt16 : ScalarType::kInt16);
    if (longs > 0) return DType(is_unsigned ? ScalarType::kUInt64 : ScalarType::kInt64);
    return DType(is_unsigned ? ScalarType::kUInt32 : ScalarType::kInt32);
}

Kind kind_of(DType dtype) {
    if (dtype.is_complex()) return Kind::kBytes;
    return dtype.is_integer() || dtype.is_bool() ? Kind::kInteger : Kind::kFloating;
}

}  // namespace

KernelParameter parameter_of_type(std::string_view type) {
    KernelParameter parameter;
    parameter.text = trimmed(type);
    std::vector<std::string_view> words;
    int pointers = 0;
    bool is_const = false, is_complex = false, is_known = true;
    static const std::set<std::string_view> kWithoutMeaning{"__restrict__",
                                                            "__restrict",
                                                            "restrict",
                                                            "volatile",
                                                            "struct",
                                                            "__grid_constant__",
                                                            "std",
                                                            "cuda",
                                                            "thrust",
                                                            "cupy",
                                                            ":",
                                                            "<",
                                                            ">",
                                                            "typename",
                                                            "register"};
    for (const std::string_view token : tokens_of(type)) {
        if (token == "*") {
            ++pointers;
        } else if (token == "const") {
            is_const = is_const || pointers == 0;  // behind a star it is the pointer that stays
        } else if (token == "complex") {
            is_complex = true;
        } else if (token == "[" || token == "]" || token == "&" || token == "(") {
            is_known = false;
        } else if (!kWithoutMeaning.contains(token)) {
            words.push_back(token);
        }
    }
    parameter.dtype = is_known ? dtype_of_words(words) : std::nullopt;
    if (is_complex && parameter.dtype.has_value()) {
        const bool is_double = *parameter.dtype == DType(ScalarType::kFloat64);
        if (is_double || *parameter.dtype == DType(ScalarType::kFloat32))
            parameter.dtype = DType(is_double ? ScalarType::kComplex128 : ScalarType::kComplex64);
        else
            parameter.dtype.reset();
    }
    if (pointers > 0 && is_known) {
        parameter.kind = Kind::kPointer;
        parameter.bytes = 8;
        parameter.is_const = is_const && pointers == 1;
        if (pointers > 1) parameter.dtype.reset();
    } else if (parameter.dtype.has_value()) {
        parameter.kind = kind_of(*parameter.dtype);
        parameter.bytes = parameter.dtype->itemsize();
    }
    return parameter;
}

// ---- PTX --------------------------------------------------------------------------------------------------

namespace {

// ".param .align 8 .b8 name[24]", or ".param .u64 .ptr .global .align 4 name".
KernelParameter parameter_in_ptx(std::string_view text) {
    KernelParameter parameter;
    const std::vector<std::string_view> tokens = tokens_of(text);
    static const std::map<std::string_view, int64_t> kSizes{
        {"u8", 1},  {"s8", 1},  {"b8", 1},  {"u16", 2}, {"s16", 2}, {"b16", 2}, {"f16", 2}, {"u32", 4},
        {"s32", 4}, {"b32", 4}, {"f32", 4}, {"u64", 8}, {"s64", 8}, {"b64", 8}, {"f64", 8}, {"b128", 16}};
    std::string_view type;
    bool is_pointer = false;
    for (size_t at = 0; at + 1 < tokens.size(); ++at) {
        if (tokens[at] == ".") {
            if (tokens[at + 1] == "ptr") is_pointer = true;
            if (type.empty() && kSizes.contains(tokens[at + 1])) type = tokens[at + 1];
        }
    }
    if (type.empty()) return parameter;
    parameter.bytes = kSizes.at(type);
    const size_t bracket = text.find('[');
    if (bracket != std::string_view::npos) {
        int64_t count = 0;
        std::from_chars(text.data() + bracket + 1, text.data() + text.size(), count);
        parameter.bytes *= count;
        parameter.kind = Kind::kBytes;
        return parameter;
    }
    if (is_pointer) parameter.kind = Kind::kPointer;
    if (type == "f32" || type == "f64") {
        parameter.kind = Kind::kFloating;
        parameter.dtype = DType(type == "f32" ? ScalarType::kFloat32 : ScalarType::kFloat64);
    } else if (parameter.bytes < 8 && parameter.bytes != 2) {  // of 2 bytes are halves, too
        parameter.kind = Kind::kInteger;
    }
    return parameter;
}

}  // namespace

std::map<std::string, KernelSignature> signatures_in_ptx(std::string_view ptx) {
    constexpr std::string_view kEntry = ".entry";
    std::map<std::string, KernelSignature> found;
    for (size_t at = ptx.find(kEntry); at != std::string_view::npos; at = ptx.find(kEntry, at + 1)) {
        size_t begin = at + kEntry.size();
        while (begin < ptx.size() && is_space(ptx[begin])) ++begin;
        size_t end = begin;
        while (end < ptx.size() && is_word(ptx[end])) ++end;
        const std::string symbol(ptx.substr(begin, end - begin));
        while (end < ptx.size() && is_space(ptx[end])) ++end;
        KernelSignature signature;
        if (end < ptx.size() && ptx[end] == '(') {
            const size_t close = ptx.find(')', end);
            if (close == std::string_view::npos) break;
            for (const std::string_view part : parts_of_list(ptx.substr(end + 1, close - end - 1)))
                signature.push_back(parameter_in_ptx(part));
        }
        if (!symbol.empty()) found[symbol] = std::move(signature);
    }
    return found;
}

// ---- names ------------------------------------------------------------------------------------------------

namespace {

std::string demangled(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 && text != nullptr ? text.get() : "";
}

// Where the list of parameters of a demangled function begins: at the bracket of the last one that closes.
size_t list_of(std::string_view text) {
    int depth = 0;
    for (size_t at = text.size(); at-- > 0;) {
        if (text[at] == ')') ++depth;
        if (text[at] == '(' && --depth == 0) return at;
    }
    return std::string_view::npos;
}

}  // namespace

KernelSignature signature_of_symbol(const std::string& symbol) {
    KernelSignature signature;
    const std::string text = symbol.starts_with("_Z") ? demangled(symbol) : "";
    const size_t open = list_of(text);
    if (open == std::string::npos) return signature;
    const size_t close = text.rfind(')');
    for (const std::string_view part :
         parts_of_list(std::string_view(text).substr(open + 1, close - open - 1)))
        signature.push_back(parameter_of_type(part));
    return signature;
}

std::string name_of_symbol(const std::string& symbol) {
    const std::string text = symbol.starts_with("_Z") ? demangled(symbol) : "";
    const size_t open = list_of(text);
    if (open == std::string::npos) return symbol;
    std::string_view name = std::string_view(text).substr(0, open);
    // Templates have their result before the name: "void scale<float>".
    int depth = 0;
    for (size_t at = name.size(); at-- > 0;) {
        if (name[at] == '>') ++depth;
        if (name[at] == '<') --depth;
        if (name[at] == ' ' && depth == 0) return std::string(name.substr(at + 1));
    }
    return std::string(name);
}

// ---- sources ----------------------------------------------------------------------------------------------

namespace {

// The source without comments, literals and line ends that are escaped; of the same meaning otherwise.
std::string without_comments(std::string_view source) {
    std::string plain;
    plain.reserve(source.size());
    for (size_t at = 0; at < source.size(); ++at) {
        const std::string_view rest = source.substr(at);
        if (rest.starts_with("//")) {
            at = std::min(source.find('\n', at), source.size()) - 1;
        } else if (rest.starts_with("/*")) {
            const size_t end = source.find("*/", at + 2);
            plain += ' ';
            if (end == std::string_view::npos) break;
            at = end + 1;
        } else if (rest.starts_with("\\\n")) {
            plain += ' ';
            ++at;
        } else if (source[at] == '"' || source[at] == '\'') {
            const char quote = source[at];
            plain += quote;
            for (++at; at < source.size() && source[at] != quote && source[at] != '\n'; ++at) {
                if (source[at] == '\\') ++at;
            }
            plain += quote;
        } else {
            plain += source[at];
        }
    }
    return plain;
}

size_t matching(std::string_view text, size_t open) {
    int depth = 0;
    for (size_t at = open; at < text.size(); ++at) {
        if (text[at] == '(') ++depth;
        if (text[at] == ')' && --depth == 0) return at;
    }
    return std::string_view::npos;
}

// A parameter as it is declared, with its name.
KernelParameter declared_parameter(std::string_view text) {
    text = trimmed(text.substr(0, text.find('=')));
    std::string type(text);
    const bool is_array = !type.empty() && type.back() == ']';
    if (is_array) type = trimmed(std::string_view(type).substr(0, type.find('[')));
    // The last word is the name if another word or a star is before it.
    size_t begin = type.size();
    while (begin > 0 && is_word(type[begin - 1])) --begin;
    static const std::set<std::string_view> kOfTypes{"char",   "short", "int",      "long",   "float",
                                                     "double", "bool",  "unsigned", "signed", "const"};
    const std::string_view last = std::string_view(type).substr(begin);
    if (begin > 0 && !kOfTypes.contains(last) && !last.starts_with("__restrict")) type.resize(begin);
    if (is_array) type += "*";
    KernelParameter parameter = parameter_of_type(type);
    parameter.text = trimmed(text);
    return parameter;
}

bool same(const KernelSignature& one, const KernelSignature& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](const auto& a, const auto& b) {
        return a.kind == b.kind && a.dtype == b.dtype && a.is_const == b.is_const && a.bytes == b.bytes;
    });
}

}  // namespace

std::map<std::string, KernelSignature> signatures_in_source(std::string_view source) {
    constexpr std::string_view kGlobal = "__global__";
    const std::string plain = without_comments(source);
    std::map<std::string, KernelSignature> found;
    std::set<std::string> contradictory;
    for (size_t at = plain.find(kGlobal); at != std::string::npos; at = plain.find(kGlobal, at + 1)) {
        // The list of parameters is behind the first name that is no attribute with a list of its own.
        size_t open = at, close = at;
        std::string name;
        for (;;) {
            open = plain.find('(', close + 1);
            if (open == std::string::npos) break;
            close = matching(plain, open);
            if (close == std::string::npos) break;
            size_t end = open;
            while (end > 0 && is_space(plain[end - 1])) --end;
            size_t begin = end;
            while (begin > 0 && is_word(plain[begin - 1])) --begin;
            name = plain.substr(begin, end - begin);
            static const std::set<std::string_view> kAttributes{
                "__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__attribute__", "__block_size__"};
            if (!kAttributes.contains(name)) break;
        }
        if (open == std::string::npos || close == std::string::npos) break;
        if (name.empty()) continue;
        KernelSignature signature;
        for (const std::string_view part :
             parts_of_list(std::string_view(plain).substr(open + 1, close - open - 1)))
            signature.push_back(declared_parameter(part));
        const auto [place, is_new] = found.emplace(name, signature);
        if (!is_new && !same(place->second, signature)) contradictory.insert(name);
    }
    for (const std::string& name : contradictory) found.erase(name);
    return found;
}

void refine(KernelSignature& known, const KernelSignature& more) {
    if (known.size() != more.size()) return;
    for (size_t k = 0; k < known.size(); ++k) {
        const KernelParameter& one = known[k];
        const KernelParameter& other = more[k];
        const bool other_size = one.bytes != 0 && other.bytes != 0 && one.bytes != other.bytes;
        const bool other_kind =
            one.kind != Kind::kUnknown && other.kind != Kind::kUnknown && one.kind != other.kind;
        if (other_size || other_kind) return;  // the two are not of the same kernel
    }
    for (size_t k = 0; k < known.size(); ++k) {
        KernelParameter& one = known[k];
        const KernelParameter& other = more[k];
        if (one.kind == Kind::kUnknown) one.kind = other.kind;
        if (!one.dtype.has_value()) one.dtype = other.dtype;
        if (one.bytes == 0) one.bytes = other.bytes;
        if (one.text.empty()) one.text = other.text;
        one.is_const = one.is_const || other.is_const;
    }
}

}  // namespace weft
