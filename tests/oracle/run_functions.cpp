// Runs functions of kernel IR by the scalar oracle, for tests in other languages: what it reads, line by
// line, are modules and calls of their last function.
//
//     module 120            so many lines of text follow
//     module 120 passes     the same, to be run as it is and as the passes of weft leave it
//     call i64:7 f64:3ff8000000000000 bool:1 array:u8:1,2,3 …
//
// Floats are their bits in hexadecimal digits. An array is a buffer and, behind it, its size. Each call is
// answered by a line, `returned f64:… i64:…`, `raised SITE` or `fault TEXT`, then ` | ` and the arrays as
// they are afterwards. Calls of a module that is wrong are answered by `wrong TEXT | `, and those that the
// passes have changed by `differs ANSWER: ANSWER | `.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/oracle.h"
#include "ir/parser.h"
#include "ir/verifier.h"
#include "passes/pipeline.h"
#include "weft/errors.h"

namespace weft::ir {
namespace {

struct Array {
    std::string type;  // f64, or i or u and the bits of an element
    std::vector<char> bytes{};
    bool is_float() const { return type == "f64"; }
    size_t itemsize() const { return std::stoul(type.substr(1)) / 8; }
    size_t count() const { return bytes.size() / itemsize(); }

    void append(int64_t word) {  // the first bytes are the lowest
        const char* const first = reinterpret_cast<const char*>(&word);
        bytes.insert(bytes.end(), first, first + itemsize());
    }
    int64_t word(size_t i) const {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i * itemsize(), itemsize());
        const int unused = 64 - 8 * static_cast<int>(itemsize());
        return type[0] == 'i' ? static_cast<int64_t>(word << unused) >> unused : static_cast<int64_t>(word);
    }
};

int64_t word_of(std::string_view text, bool is_float) {
    uint64_t bits = 0;
    int64_t number = 0;
    if (is_float || text[0] != '-') {
        std::from_chars(text.data(), text.data() + text.size(), bits, is_float ? 16 : 10);
        return static_cast<int64_t>(bits);
    }
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

// Of narrow integers with their sign.
int64_t word_of(const Constant& value) {
    const DType dtype(value.type);
    const auto word = static_cast<uint64_t>(value.as<int64_t>());
    if (dtype.itemsize() >= 8) return static_cast<int64_t>(word);
    const auto unused = static_cast<unsigned>(64 - 8 * dtype.itemsize());
    return dtype.is_unsigned_integer() ? static_cast<int64_t>(word << unused >> unused)
                                       : static_cast<int64_t>(word << unused) >> unused;
}

std::string text_of(int64_t word, bool is_float) {
    if (!is_float) return std::to_string(word);
    char digits[17];
    std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(word));
    return digits;
}

Constant scalar_of(std::string_view type, std::string_view text) {
    Constant value = Constant::of(ScalarType::kInt64, word_of(text, type == "f64"));
    value.type = type == "f64"    ? ScalarType::kFloat64
                 : type == "bool" ? ScalarType::kBool
                                  : ScalarType::kInt64;
    return value;
}

std::string one_line(std::string text) {
    for (char& c : text) {
        if (c == '\n') c = ' ';
    }
    return text;
}

std::string run(const Module& module, std::istringstream line) {
    std::vector<OracleArgument> arguments;
    std::vector<std::unique_ptr<Array>> arrays;
    std::string argument;
    while (line >> argument) {
        const size_t colon = argument.find(':');
        const std::string type = argument.substr(0, colon);
        if (type != "array") {
            arguments.emplace_back(scalar_of(type, std::string_view(argument).substr(colon + 1)));
            continue;
        }
        Array& array = *arrays.emplace_back(std::make_unique<Array>());
        const size_t second = argument.find(':', colon + 1);
        array.type = argument.substr(colon + 1, second - colon - 1);
        std::istringstream items(argument.substr(second + 1));
        for (std::string item; std::getline(items, item, ',');) array.append(word_of(item, array.is_float()));
        const auto count = static_cast<int64_t>(array.count());
        array.bytes.reserve(1);  // an address for what is empty, too
        char* const base = array.bytes.data();
        arguments.emplace_back(OracleBuffer{base, {}, base, base + array.bytes.size()});
        arguments.emplace_back(Constant::of(ScalarType::kInt64, count));
    }
    std::string answer;
    try {
        answer = "returned";
        for (const Constant& value : run_oracle(module, module.functions.front(), arguments)) {
            const bool is_float = value.type == ScalarType::kFloat64;
            const bool is_bool = value.type == ScalarType::kBool;
            answer += is_float ? " f64:" : is_bool ? " bool:" : " i64:";
            answer += is_bool ? std::to_string(value.bytes[0]) : text_of(word_of(value), is_float);
        }
    } catch (const Raised& raised) {
        answer = "raised " + std::to_string(raised.site);
    } catch (const std::exception& error) {
        answer = "fault " + one_line(error.what());
    }
    answer += " |";
    for (const auto& array : arrays) {
        answer += " " + array->type + ":";
        for (size_t i = 0; i < array->count(); ++i) {
            const int64_t word = array->word(i);
            const std::string text = array->type == "u64" ? std::to_string(static_cast<uint64_t>(word))
                                                          : text_of(word, array->is_float());
            answer += (i > 0 ? "," : "") + text;
        }
    }
    return answer;
}

Module after_passes(const Module& module) {
    Module after = module;
    for (Function& function : after.functions) passes::run_pipeline(module, function);
    check(after);
    return after;
}

// Where a function raises, what it has written by then may be different.
bool are_alike(const std::string& one, const std::string& other) {
    if (!one.starts_with("raised")) return one == other;
    return one.substr(0, one.find('|')) == other.substr(0, other.find('|'));
}

void serve() {
    std::vector<Module> modules;  // as it is, and after passes
    std::string wrong;
    for (std::string text; std::getline(std::cin, text);) {
        std::istringstream line(text);
        std::string word, passes;
        line >> word;
        if (word == "call") {
            std::string answer = "wrong " + wrong + " | ";
            if (!modules.empty()) answer = run(modules[0], std::istringstream(line.str().substr(4)));
            if (modules.size() > 1) {
                const std::string after = run(modules[1], std::istringstream(line.str().substr(4)));
                if (!are_alike(answer, after)) answer = "differs " + answer + ": " + after + " | ";
            }
            std::cout << answer << std::endl;
            continue;
        }
        size_t count = 0;
        line >> count >> passes;
        std::string lines;
        for (; count > 0 && std::getline(std::cin, text); --count) lines += text + "\n";
        modules.clear();
        try {
            Module module = parse(lines);
            check(module);
            modules.push_back(std::move(module));
            if (passes == "passes") modules.push_back(after_passes(modules[0]));
        } catch (const std::exception& error) {
            modules.clear();
            wrong = one_line(error.what());
        }
    }
}

}  // namespace
}  // namespace weft::ir

int main() { weft::ir::serve(); }
