// Where NumPy 2.4 and 2.5 differ, the installed one decides (weft._engine.numpy_version).
#pragma once

namespace weft::python {

/// False where no NumPy is installed.
bool is_numpy_2_5();
/// DeprecationWarning at the user's line, where NumPy 2.5 gives it.
void deprecated_in_numpy_2_5(const char* text);

}  // namespace weft::python
