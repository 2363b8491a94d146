#include "lang/exceptions/classes.h"

#include <algorithm>

#include "ir/ir.h"
#include "lang/lower.h"
#include "lang/symbols.h"
#include "weft/errors.h"

namespace weft::lang {

namespace {

struct Builtin {
    std::string_view name, base, second_base{};
};
// Those that compiled functions raise or catch, bases first.
constexpr Builtin kBuiltins[] = {
    {"BaseException", ""},
    {"Exception", "BaseException"},
    {"GeneratorExit", "BaseException"},
    {"KeyboardInterrupt", "BaseException"},
    {"SystemExit", "BaseException"},
    {"ArithmeticError", "Exception"},
    {"FloatingPointError", "ArithmeticError"},
    {"OverflowError", "ArithmeticError"},
    {"ZeroDivisionError", "ArithmeticError"},
    {"AssertionError", "Exception"},
    {"AttributeError", "Exception"},
    {"BufferError", "Exception"},
    {"EOFError", "Exception"},
    {"ImportError", "Exception"},
    {"ModuleNotFoundError", "ImportError"},
    {"LookupError", "Exception"},
    {"IndexError", "LookupError"},
    {"KeyError", "LookupError"},
    {"MemoryError", "Exception"},
    {"NameError", "Exception"},
    {"UnboundLocalError", "NameError"},
    {"OSError", "Exception"},
    {"ReferenceError", "Exception"},
    {"RuntimeError", "Exception"},
    {"NotImplementedError", "RuntimeError"},
    {"RecursionError", "RuntimeError"},
    {"StopIteration", "Exception"},
    {"StopAsyncIteration", "Exception"},
    {"SyntaxError", "Exception"},
    {"SystemError", "Exception"},
    {"TypeError", "Exception"},
    {"ValueError", "Exception"},
    {"UnicodeError", "ValueError"},
    {"LinAlgError", "ValueError"},
    {"AxisError", "ValueError", "IndexError"},
    {"Warning", "Exception"},
};
constexpr uint32_t kOfTooDeep = ir::kTooDeep >> kErrorBits;  // the number of RecursionError

std::vector<std::string> ancestors_of(std::string_view name) {
    std::vector<std::string> all;
    for (size_t i = std::size(kBuiltins); i-- > 0;) {
        if (kBuiltins[i].name != name) continue;
        all.emplace_back(name);
        if (!kBuiltins[i].second_base.empty()) {
            all.emplace_back(kBuiltins[i].base);
            name = kBuiltins[i].second_base;
        } else {
            name = kBuiltins[i].base;
        }
    }
    return all;
}

}  // namespace

ExceptionClasses::ExceptionClasses() {
    number_of({""});  // none: what is told
    for (const Builtin& builtin : kBuiltins) number_of(ancestors_of(builtin.name));
}

uint32_t ExceptionClasses::number_of(const std::vector<std::string>& ancestors) {
    if (ancestors[0] == "RecursionError") return kOfTooDeep;
    const auto [found, is_new] = numbers_.try_emplace(ancestors[0], static_cast<uint32_t>(ancestors_.size()));
    if (is_new) ancestors_.push_back(ancestors);
    WEFT_CHECK(found->second < kOfTooDeep, "a program with so many classes of exceptions");
    return found->second;
}

uint32_t ExceptionClasses::of(const Site& site) {
    if (site.symbol != nullptr && !site.symbol->ancestors.empty()) return number_of(site.symbol->ancestors);
    const std::vector<std::string> known =
        ancestors_of(site.symbol != nullptr ? site.symbol->name : site.exception);
    return known.empty() ? number_of(ancestors_of("Exception")) : number_of(known);
}

std::string ExceptionClasses::key_of(const Symbol& symbol) {
    if (symbol.ancestors.empty()) return symbol.name;
    number_of(symbol.ancestors);
    return symbol.ancestors[0];
}

bool ExceptionClasses::is_within(uint32_t number, const std::vector<std::string>& keys) const {
    const std::vector<std::string> all =
        number == kOfTooDeep ? ancestors_of("RecursionError") : ancestors_.at(number);
    return std::any_of(all.begin(), all.end(), [&](const std::string& ancestor) {
        return std::find(keys.begin(), keys.end(), ancestor) != keys.end();
    });
}

std::vector<uint32_t> ExceptionClasses::within(const std::vector<std::string>& keys) const {
    std::vector<uint32_t> numbers;
    for (uint32_t number = 0; number < ancestors_.size(); ++number) {
        if (is_within(number, keys)) numbers.push_back(number);
    }
    if (is_within(kOfTooDeep, keys)) numbers.push_back(kOfTooDeep);
    return numbers;
}

}  // namespace weft::lang
