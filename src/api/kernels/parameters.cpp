#include "api/kernels/parameters.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <complex>
#include <set>

#include "weft/errors.h"
#include "weft/ops.h"

namespace weft {

namespace {

bool is_identifier(std::string_view text) {
    const auto is_letter = [](char c) {
        return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, [&](char c) {
        return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
    });
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words(1);
    for (const char c : text) {
        if (std::isspace(static_cast<unsigned char>(c)) == 0) {
            words.back() += c;
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

CKernelParameter read_parameter(std::string_view text) {
    const std::vector<std::string> words = words_of(text);
    if (words.size() < 2)
        throw ValueError("'" + std::string(text) + "' is no parameter: it has a type and a name");
    CKernelParameter result;
    result.name = words.back();
    result.type = words[words.size() - 2];
    for (size_t k = 0; k + 2 < words.size(); ++k) {
        if (words[k] == "raw") {
            result.is_raw = true;
        } else if (words[k] != "_non_const") {
            throw ValueError("'" + words[k] + "' in '" + std::string(text) +
                             "' is not known: 'raw' alone stands before the type");
        }
    }
    if (!is_identifier(result.name)) throw ValueError("'" + result.name + "' is no name of a parameter");
    if (result.type.size() == 1 && is_identifier(result.type)) return result;
    result.dtype = DType::parse(result.type);
    return result;
}

void want_type(const CKernelParameter& parameter, DType dtype, KernelTypes& types) {
    const auto refuse = [&](DType wanted, const std::string& why) {
        throw TypeError("'" + parameter.name + "' is an array of " + std::string(dtype.name()) + ", and " +
                        why + " " + std::string(wanted.name()) + ": Type is mismatched");
    };
    if (parameter.dtype) {
        if (!(*parameter.dtype == dtype)) refuse(*parameter.dtype, "the parameter is");
        return;
    }
    const auto [found, is_new] = types.placeholders.emplace(parameter.type, dtype);
    if (!is_new && !(found->second == dtype)) refuse(found->second, parameter.type + " is already");
}

DType type_of(const CKernelParameter& parameter, const KernelTypes& types) {
    if (parameter.dtype) return *parameter.dtype;
    const auto found = types.placeholders.find(parameter.type);
    if (found == types.placeholders.end())
        throw TypeError("no array among the arguments says which type " + parameter.type + " of '" +
                        parameter.name + "' is");
    return found->second;
}

template <class T>
array number_of(T value) {
    return scalar(dtype_of<T>(), &value);
}

}  // namespace

std::vector<CKernelParameter> read_kernel_parameters(std::string_view text) {
    std::vector<CKernelParameter> result;
    if (words_of(text).empty()) return result;
    while (true) {
        const size_t end = text.find(',');
        result.push_back(read_parameter(text.substr(0, end)));
        if (end == text.npos) return result;
        text.remove_prefix(end + 1);
    }
}

void check_kernel_names(std::string_view name, std::span<const CKernelParameter> inputs,
                        std::span<const CKernelParameter> outputs) {
    if (!is_identifier(name))
        throw ValueError("Invalid kernel name: '" + std::string(name) + "' is no name of a function");
    std::set<std::string> names;
    for (const auto& parameters : {inputs, outputs}) {
        for (const CKernelParameter& one : parameters) {
            if (one.name == "i")
                throw ValueError("'i' is the position in the loop, and no name of a parameter");
            if (!names.insert(one.name).second)
                throw ValueError("two parameters are called '" + one.name + "'");
        }
    }
}

std::string KernelTypes::key() const {
    std::string key;
    for (const DType type : inputs) key += type.character();
    key += '>';
    for (const DType type : outputs) key += type.character();
    for (const auto& [name, type] : placeholders) key += name + type.character();
    return key;
}

std::vector<std::pair<std::string, ScalarType>> KernelTypes::names() const {
    std::vector<std::pair<std::string, ScalarType>> result;
    for (const auto& [name, type] : placeholders) result.emplace_back(name, type.scalar_type());
    return result;
}

KernelArguments read_kernel_arguments(std::string_view name, std::span<const CKernelParameter> inputs,
                                      std::span<const CKernelParameter> outputs,
                                      std::span<const Argument> arguments) {
    if (arguments.size() != inputs.size() && arguments.size() != inputs.size() + outputs.size())
        throw TypeError("Wrong number of arguments for " + std::string(name) + "(): it takes " +
                        std::to_string(inputs.size()) + ", or " +
                        std::to_string(inputs.size() + outputs.size()) + " with its outputs, not " +
                        std::to_string(arguments.size()));
    KernelArguments result;
    for (size_t k = 0; k < inputs.size(); ++k) {
        const auto* const value = std::get_if<array>(&arguments[k]);
        result.inputs.push_back(value != nullptr ? std::optional(*value) : std::nullopt);
        result.numbers.push_back(value != nullptr ? Argument() : arguments[k]);
        if (value == nullptr && inputs[k].is_raw)
            throw TypeError("'" + inputs[k].name + "' of " + std::string(name) +
                            "() is raw: it takes an array, and no number");
    }
    for (size_t k = inputs.size(); k < arguments.size(); ++k) {
        const auto* const value = std::get_if<array>(&arguments[k]);
        if (value == nullptr)
            throw TypeError("'" + outputs[k - inputs.size()].name + "' of " + std::string(name) +
                            "() is an output, and takes an array");
        if (!value->writeable()) throw ValueError("output array is read-only");
        result.outputs.push_back(*value);
    }
    return result;
}

KernelTypes kernel_types(std::span<const CKernelParameter> inputs, std::span<const CKernelParameter> outputs,
                         const KernelArguments& arguments) {
    KernelTypes types;
    for (size_t k = 0; k < arguments.outputs.size(); ++k)
        want_type(outputs[k], arguments.outputs[k].dtype(), types);
    for (size_t k = 0; k < inputs.size(); ++k) {
        if (arguments.inputs[k]) want_type(inputs[k], arguments.inputs[k]->dtype(), types);
    }
    for (const CKernelParameter& one : inputs) types.inputs.push_back(type_of(one, types));
    for (const CKernelParameter& one : outputs) types.outputs.push_back(type_of(one, types));
    return types;
}

array converted_number(const Argument& number, DType dtype) {
    array value;
    if (const auto* whole = std::get_if<Integer>(&number)) {
        // Modulo 2**64, as conversions of integers are.
        if (whole->huge)
            throw OverflowError("a number of more than 64 bits fits no " + std::string(dtype.name()));
        if (dtype.is_inexact()) {
            value = whole->negative ? number_of(-static_cast<double>(whole->magnitude))
                                    : number_of(static_cast<double>(whole->magnitude));
        } else {
            value = number_of(whole->negative ? uint64_t{0} - whole->magnitude : whole->magnitude);
        }
    } else {
        value = from_argument(number);
    }
    if (value.dtype().is_complex() && !dtype.is_complex())
        throw TypeError("a complex number is no " + std::string(dtype.name()));
    return value.dtype() == dtype ? value : astype(value, dtype);
}

}  // namespace weft
