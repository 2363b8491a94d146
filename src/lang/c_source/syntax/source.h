// The text of a kernel's parts in C++, and what is said of the places in it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lang/errors/diagnostics.h"

namespace weft::lang::c_source {

struct SourceText {
    std::string title;  // "the operation of scale"
    std::string text;
};

struct Place {
    const SourceText* source = nullptr;
    size_t offset = 0;
};

// "'a', in the operation of scale, line 3".
std::string place_in_text(std::string_view array, const Place& place);

// What is wrong, or what weft's part of C++ does not have. The message has the line, with a caret below it.
class OutsideSubset : public CompileError {
public:
    OutsideSubset(const Place& place, const std::string& what);
    const std::string& reason() const { return reason_; }  // in one line

private:
    std::string reason_;
};

}  // namespace weft::lang::c_source
