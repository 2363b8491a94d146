// What NumPy's functions take for their parameters: arguments that none of them takes are refused by name,
// before the function is lowered.
#include <algorithm>
#include <array>

#include "lang/arrays/functions.h"
#include "lang/containers/dicts.h"
#include "lang/containers/sets.h"
#include "lang/strings/strings.h"

namespace weft::lang {

namespace {

struct Parameters {
    std::string_view functions;  // by their names
    std::string_view parameters;
};

// Parameters by their places, each with what it takes: an array or numbers (a), an array (A), an integer (i),
// integers (I), a number (n), a real number (r), a bool (b), an array to write into (o), an array or numbers
// that are no bools (x), or an array of one dimension (V) or two (W) or more. None is taken where `?`
// follows. `*` stands for a parameter that is not looked at.
constexpr std::array kParameters = std::to_array<Parameters>({
    {"allclose isclose", "a:a b:a rtol:n atol:n"},
    {"angle", "z:a"},
    {"append", "arr:a values:a axis:i?"},
    {"argmax argmin", "a:a axis:i?"},
    {"argpartition partition", "a:V kth:*"},
    {"argwhere", "a:*"},
    {"array", "object:a"},
    {"ascontiguousarray asfortranarray copy", "a:a"},
    {"around round", "a:a decimals:i out:o?"},
    {"array_equal", "a1:a a2:a"},
    {"asarray_chkfinite", "a:a"},
    {"average", "a:a"},
    {"bincount", "x:a weights:a? minlength:i"},
    {"broadcast_to", "array:a shape:I"},
    {"clip", "a:a a_min:a? a_max:a? out:o?"},
    {"convolve correlate", "a:a v:a"},
    {"corrcoef", "x:a y:a?"},
    {"count_nonzero", "a:a"},
    {"cov", "m:a y:a? rowvar:* bias:* ddof:r?"},
    {"cross", "a:a b:a"},
    {"delete", "arr:a obj:*"},
    {"diag diagflat", "v:a k:i"},
    {"diff", "a:a n:i axis:i"},
    {"digitize", "x:a bins:a"},
    {"dsplit hsplit vsplit", "ary:A indices_or_sections:I"},
    {"array_split split", "ary:a indices_or_sections:I axis:i"},
    {"ediff1d", "ary:x to_end:a? to_begin:a?"},
    {"expand_dims", "a:a axis:I"},
    {"extract", "condition:a arr:a"},
    {"fill_diagonal", "a:A val:a"},
    {"flatnonzero", "a:*"},
    {"nonzero", "a:a"},
    {"flip", "m:a"},
    {"fliplr flipud", "m:A"},
    {"geomspace linspace logspace", "start:n stop:n num:i"},
    {"histogram", "a:a"},
    {"indices", "dimensions:I"},
    {"insert", "arr:a obj:* values:a"},
    {"interp", "x:a xp:a fp:a"},
    {"intersect1d setdiff1d setxor1d", "ar1:a ar2:a assume_unique:b"},
    {"isin", "element:a test_elements:a assume_unique:b invert:b"},
    {"kaiser", "M:r beta:r"},
    {"bartlett blackman hamming hanning", "M:r"},
    {"median nanmedian", "a:a"},
    {"moveaxis", "a:A source:I destination:I"},
    {"nan_to_num", "x:a"},
    {"percentile quantile nanpercentile nanquantile", "a:a q:a"},
    {"ptp", "a:x axis:i?"},
    {"ravel", "a:a"},
    {"repeat", "a:a repeats:I"},
    {"resize", "a:a new_shape:I"},
    {"roll", "a:a shift:I"},
    {"rot90", "m:W k:n"},
    {"searchsorted", "a:a v:a"},
    {"shape size", "a:a"},
    {"sinc", "x:a"},
    {"argsort sort", "a:a"},
    {"swapaxes", "a:A axis1:i axis2:i"},
    {"take_along_axis", "arr:A indices:A axis:i?"},
    {"tri", "N:i M:i? k:i"},
    {"tril_indices triu_indices", "n:i k:i m:i?"},
    {"trim_zeros", "filt:a"},
    {"union1d", "ar1:a ar2:a"},
    {"unwrap", "p:a discont:n? axis:i period:n"},
    {"vander", "x:a N:i?"},
    {"where", "condition:a x:a y:a"},
});
constexpr std::array kPolynomials = std::to_array<Parameters>({
    {"polyadd polysub polymul polydiv", "c1:a c2:a"},
    {"polyval", "x:a c:a tensor:b"},
    {"polyint polyder", "c:a m:i"},
});

// Of some parameters Numba says it in its own way.
struct OwnWords {
    std::string_view functions, parameters, text;
};
constexpr OwnWords kOwnWords[] = {
    {"angle", "z", R"(Argument "z" must be a complex or Array[complex])"},
    {"append", "arr", R"(The first argument "arr" must be array-like)"},
    {"append", "values", R"(The second argument "values" must be array-like)"},
    {"append", "axis", R"(The third argument "axis" must be an integer)"},
    {"argpartition partition", "a", "The first argument must be an array-like"},
    {"argsort sort", "a", R"(Argument "a" must be array-like)"},
    {"array_equal", "a1 a2", R"(Both arguments to "array_equals" must be array-like)"},
    {"clip", "a_min", R"(The argument "a_min" must be a number or an array)"},
    {"clip", "a_max", R"(The argument "a_max" must be a number or an array)"},
    {"cov", "ddof", "ddof must be a real numerical scalar type"},
    {"diagflat", "k", R"(The argument "k" must be an integer)"},
    {"dsplit hsplit vsplit", "indices_or_sections",
     R"(The argument "indices_or_sections" must be int or 1d-array)"},
    {"expand_dims", "a", R"(First argument "a" must be an array)"},
    {"expand_dims", "axis", R"(Argument "axis" must be an integer)"},
    {"geomspace", "num", R"(The argument "num" must be an integer)"},
    {"indices", "dimensions", R"(The argument "dimensions" must be a tuple of integers)"},
    {"logspace", "start", R"(The first argument "start" must be a number)"},
    {"logspace", "stop", R"(The second argument "stop" must be a number)"},
    {"logspace", "num", R"(The third argument "num" must be an integer)"},
    {"moveaxis swapaxes", "a", R"(The first argument "a" must be an array)"},
    {"nan_to_num", "x", "The first argument must be a scalar or an array-like"},
    {"polyder polyint", "m", R"(The argument "m" must be an integer)"},
    {"polyval", "tensor", R"(The argument "tensor" must be boolean)"},
    {"resize", "new_shape", R"(The argument "new_shape" must be an integer or a tuple of integers)"},
    {"roll", "shift", "shift must be an integer"},
    {"rot90", "m", R"(The first argument "m" must be an array)"},
    {"rot90", "k", R"(The second argument "k" must be an integer)"},
    {"shape", "a", "The argument to np.shape must be array-like"},
    {"sinc", "x", R"(Argument "x" must be a Number or array-like)"},
    {"size", "a", "The argument to np.size must be array-like"},
    {"union1d", "ar1 ar2", "The arguments to np.union1d must be array-like"},
    {"unwrap", "discont", R"(The argument "discont" must be a scalar)"},
    {"unwrap", "period", R"(The argument "period" must be a scalar)"},
    {"unwrap", "axis", R"(The argument "axis" must be an integer)"},
    {"where", "x", R"(The argument "x" must be array-like if provided)"},
    {"where", "y", R"(The argument "y" must be array-like if provided)"},
};

struct Words {
    char kind;
    std::string_view text;
};
// Numba's words, by which programs that come from there may tell them.
constexpr Words kWords[] = {{'a', "array-like"}, {'x', "array-like"}, {'A', "an array"},
                            {'V', "an array"},   {'W', "an array"},   {'o', "an array if it is provided"},
                            {'i', "an integer"}, {'I', "integers"},   {'n', "a number"},
                            {'r', "a number"},   {'b', "a bool"}};

bool has_word(std::string_view words, std::string_view word) {
    for (size_t at = 0; at < words.size();) {
        const size_t end = std::min(words.find(' ', at), words.size());
        if (words.substr(at, end - at) == word) return true;
        at = end + 1;
    }
    return false;
}

// Whether it is, or has in it, what stands for no number.
bool is_none_of_numbers(TypeRef type) {
    if (is_list(type) || (type->kind == TypeKind::kTuple && type->record == nullptr))
        return std::ranges::any_of(type->parts, is_none_of_numbers);
    return is_any_text(type) || type->kind == TypeKind::kNone || is_dict(type) || is_set(type) ||
           type->kind == TypeKind::kClosure;
}

bool has_only_integers(TypeRef type) {
    if (is_list(type) || type->kind == TypeKind::kTuple)
        return std::ranges::all_of(type->parts, has_only_integers);
    return !is_scalar(type) || is_integer(type);
}

bool is_bool_number(TypeRef type) { return type->scalar == ScalarType::kBool; }

bool takes(char kind, TypeRef type) {
    if (is_none_of_numbers(type)) return false;
    const bool is_sequence = is_list(type) || type->kind == TypeKind::kTuple || is_array(type);
    switch (kind) {
        case 'A':
        case 'V':
        case 'W': return !is_scalar(type);
        case 'o': return is_strided(type);
        case 'i': return has_only_integers(type) && !is_list(type) && type->kind != TypeKind::kTuple;
        case 'I': return has_only_integers(type);
        case 'b': return !is_sequence;
        case 'r': return !is_sequence && !(is_scalar(type) && is_complex(type));
        default: return true;
    }
}

}  // namespace

void FunctionLowering::ArrayFunctions::expect_arguments(const std::string& module) const {
    if (f_.source_.is_prelude) return;
    const std::span<const Parameters> all = module == "numpy" ? std::span(kParameters)
                                            : module == "numpy.polynomial.polynomial"
                                                ? std::span(kPolynomials)
                                                : std::span<const Parameters>();
    const auto of =
        std::ranges::find_if(all, [&](const Parameters& each) { return has_word(each.functions, name_); });
    if (module == "numpy" && name_ == "broadcast_shapes") {
        for (const Value& shape : given_.positional) {
            const bool is_whole = is_scalar(shape.type) || shape.type->kind == TypeKind::kTuple;
            if (!is_whole || !takes('I', shape.type) || is_none_of_numbers(shape.type))
                f_.fail(where_,
                        "broadcast_shapes(): Each argument must be either an int or tuple[int], not " +
                            lang::describe(shape.type));
        }
    }
    if (module == "numpy" && name_ == "trim_zeros" && !given_.positional.empty()) {
        const TypeRef of_zeros = given_.positional[0].type;
        if (is_none_of_numbers(of_zeros) || is_scalar(of_zeros))
            f_.fail(where_,
                    "trim_zeros(): The first argument must be an array, not " + lang::describe(of_zeros));
        if (is_array(of_zeros) && of_zeros->rank > 1) f_.fail(where_, "trim_zeros(): array must be 1D");
        if (given_.positional.size() > 1 && !is_text(given_.positional[1].type))
            f_.fail(where_, "trim_zeros(): The second argument must be a string, not " +
                                lang::describe(given_.positional[1].type));
    }
    if (of == all.end()) return;
    size_t place = 0;
    for (size_t at = 0; at < of->parameters.size(); ++place) {
        const size_t end = std::min(of->parameters.find(' ', at), of->parameters.size());
        const std::string_view parameter = of->parameters.substr(at, end - at);
        at = end + 1;
        const size_t colon = parameter.find(':');
        const std::string_view name = parameter.substr(0, colon);
        const char kind = parameter[colon + 1];
        const bool may_be_none = parameter.back() == '?';
        const Value* given = place < given_.positional.size() ? &given_.positional[place] : nullptr;
        for (const auto& [keyword, value] : given_.keywords)
            if (keyword == name) given = &value;
        if (kind == 'x' && given != nullptr && (is_array(given->type) || is_scalar(given->type)) &&
            is_bool_number(given->type))
            f_.fail(where_, name_ + "(): Boolean dtype is unsupported (as per NumPy)");
        if (kind == 'W' && given != nullptr && is_array(given->type) && given->type->rank < 2)
            f_.fail(where_, name_ + "(): Input must be >= 2-d.");
        if (name_ == "where" && place > 0 && given != nullptr && is_none(*given))
            f_.fail(where_, "where(): Argument \"x\" or \"y\" cannot be None");
        if (kind == 'V' && given != nullptr && is_array(given->type) && given->type->rank == 0)
            f_.fail(where_, name_ + "(): The first argument must be at least 1-D (found 0-D)");
        if (given == nullptr || kind == '*' || given->type->kind == TypeKind::kOptional ||
            (may_be_none && is_none(*given)) || takes(kind, given->type))
            continue;
        const auto words = std::ranges::find(kWords, kind, &Words::kind);
        const auto own = std::ranges::find_if(kOwnWords, [&](const OwnWords& each) {
            return has_word(each.functions, name_) && has_word(each.parameters, name);
        });
        const bool is_whole = kind == 'i' || kind == 'I';
        const std::string named = is_whole ? std::string(name) : "The argument \"" + std::string(name) + '"';
        const std::string must = own != std::end(kOwnWords) ? std::string(own->text)
                                                            : named + " must be " + std::string(words->text);
        f_.fail(where_, name_ + "(): " + must + ", not " + lang::describe(given->type));
    }
}

}  // namespace weft::lang
