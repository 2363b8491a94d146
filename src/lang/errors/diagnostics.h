// What is wrong with a function, with the places in its text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lang/symbols.h"
#include "weft/errors.h"

namespace weft::lang {

// A place that an error's message points at.
struct Spot {
    const FunctionSource* function = nullptr;
    NodeId node = 0;
};

// Python's weft.CompileError. The message has at most eight lines.
class CompileError : public TypeError {
public:
    explicit CompileError(const std::string& message) : TypeError(message) {}
};

// "program.py, line 3, in f: what" with the line and a caret below it, the lines of `others`, and `help`.
std::string render(const Spot& spot, const std::string& what,
                   const std::vector<std::pair<Spot, std::string>>& others = {},
                   const std::string& help = {});

// "Is 'shape' meant?", of the most similar of the names; `otherwise` where none is similar.
std::string meant(const std::string& name, const std::vector<std::string>& names,
                  const std::string& otherwise);

}  // namespace weft::lang
