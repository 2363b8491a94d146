#include "lang/errors/argument_errors.h"

namespace weft::lang {

namespace {

std::string counted(size_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

std::string too_many_arguments(const std::string& function, size_t least, size_t most, size_t given,
                               size_t keyword_only) {
    std::string text = function + "() takes ";
    text += least == most
                ? counted(most, "positional argument")
                : "from " + std::to_string(least) + " to " + std::to_string(most) + " positional arguments";
    if (keyword_only == 0)
        return text + " but " + std::to_string(given) + (given == 1 ? " was" : " were") + " given";
    return text + " but " + counted(given, "positional argument") + " (and " +
           counted(keyword_only, "keyword-only argument") + ") were given";
}

std::string MissingArguments::message(const std::string& function) const {
    const bool keyword_only = names_[0].empty();
    const std::vector<std::string>& names = names_[keyword_only ? 1 : 0];
    const std::string what =
        std::string("required ") + (keyword_only ? "keyword-only" : "positional") + " argument";
    std::string text = function + "() missing " + counted(names.size(), what) + ": ";
    for (size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 < names.size() ? ", " : names.size() == 2 ? " and " : ", and ";
        text += names[i];
    }
    return text;
}

std::string unexpected_keyword(const std::string& function, const std::string& keyword) {
    return function + "() got an unexpected keyword argument '" + keyword + "'";
}

std::string multiple_values(const std::string& function, const std::string& parameter) {
    return function + "() got multiple values for argument '" + parameter + "'";
}

std::string wrong_count(const std::string& function, size_t least, size_t most, size_t given) {
    const std::string count = std::to_string(given);
    if (most == 0) return function + "() takes no arguments (" + count + " given)";
    if (least == 1 && most == 1) return function + "() takes exactly one argument (" + count + " given)";
    const std::string name = function.substr(function.rfind('.') + 1) + " expected ";
    if (least == most) return name + counted(least, "argument") + ", got " + count;
    const bool few = given < least;
    return name + (few ? "at least " : "at most ") + counted(few ? least : most, "argument") + ", got " +
           count;
}

}  // namespace weft::lang
