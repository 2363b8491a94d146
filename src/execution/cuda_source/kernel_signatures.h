// The parameters of kernels of CUDA C++, from all that tells something of them: PTX has their sizes and
// whether they are floating point, mangled names have the types, and for kernels without these (extern "C")
// the source may have them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weft/cuda/raw_kernel.h"

namespace weft {

using KernelSignature = std::vector<KernelParameter>;

// Of all kernels in PTX, by their symbols.
std::map<std::string, KernelSignature> signatures_in_ptx(std::string_view ptx);

// Of a symbol such as _Z5scalePKff; empty where it is no mangled name of a function.
KernelSignature signature_of_symbol(const std::string& symbol);
// "scale<float>" of such a symbol; the symbol itself where it is none.
std::string name_of_symbol(const std::string& symbol);

// Of kernels as the source declares them, by their names. What several declarations say differently is left
// out, and types that the source gives other names are unknown.
std::map<std::string, KernelSignature> signatures_in_source(std::string_view source);

// A type as it is written: "const float* __restrict__".
KernelParameter parameter_of_type(std::string_view type);

// What `more` tells beside what `known` does; nothing where the two have not as many parameters, or sizes
// that contradict.
void refine(KernelSignature& known, const KernelSignature& more);

}  // namespace weft
