// Errors that the caller of a compiled function handles.
#pragma once

namespace weft::lang {

// What `raise` alone says where no error is handled. The host raises the error that the caller handles, if
// any.
inline constexpr const char* kNothingToRaise = "No active exception to reraise";

}  // namespace weft::lang
