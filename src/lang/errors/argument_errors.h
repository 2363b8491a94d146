// What Python says of arguments that do not fit a function's parameters.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace weft::lang {

// "f() takes from 1 to 2 positional arguments but 3 were given": it takes `least` of them, and `most` with
// those that have defaults. So many of the parameters behind them were given by keyword.
std::string too_many_arguments(const std::string& function, size_t least, size_t most, size_t given,
                               size_t keyword_only);

// The parameters that got no argument. Python tells those that are positional first, and then no others.
class MissingArguments {
public:
    void add(const std::string& parameter, bool keyword_only) {
        names_[keyword_only ? 1 : 0].push_back("'" + parameter + "'");
    }
    bool empty() const { return names_[0].empty() && names_[1].empty(); }
    // "f() missing 2 required positional arguments: 'x' and 'y'".
    std::string message(const std::string& function) const;

private:
    std::array<std::vector<std::string>, 2> names_;
};

std::string unexpected_keyword(const std::string& function, const std::string& keyword);
std::string multiple_values(const std::string& function, const std::string& parameter);

// Of functions that Python has in C: "abs() takes exactly one argument (2 given)". `most` may be SIZE_MAX.
std::string wrong_count(const std::string& function, size_t least, size_t most, size_t given);

}  // namespace weft::lang
