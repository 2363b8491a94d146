// Warnings of what only the values tell.
#pragma once

#include "weft/array.h"

namespace weft::python {

/// RuntimeWarning at the user's line where `condition`, one bool, is true: now where that is known, or where
/// the program's filters want to know now, else when the result is computed. Without a condition there is
/// nothing to say.
void warn_where(const array& condition, const array& result, const char* text);

}  // namespace weft::python
