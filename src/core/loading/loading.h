// While libweft.so is loaded its static objects, and LLVM's, are made: what fails there ends the process.
// Between the first and the last of them allocations of the loading thread come from the reserve where the
// system gives nothing.
#pragma once

namespace weft {

void begin_loading() noexcept;
void end_loading() noexcept;

}  // namespace weft
