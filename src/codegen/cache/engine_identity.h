// Which engine this is: kernels that another one compiled may mean something else.
#pragma once

#include <string>

namespace weft::codegen {

// The linker's hash over libweft (its build ID) in hexadecimal; empty where the library has none.
const std::string& engine_build_id();

// weft's and LLVM's versions and the build ID, a line each.
std::string engine_identity();

}  // namespace weft::codegen
