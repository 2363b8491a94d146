// What a compiler of CUDA C++ says, short enough to be read as the message of an exception.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// The first errors of the log with the lines and carets that belong to them, without warnings and remarks,
// and how many more there are.
std::string first_errors(std::string_view log);

}  // namespace weft
