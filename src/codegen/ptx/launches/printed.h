// What a `tell` of the kernel IR prints from a GPU: texts, and values of its payload between them. The
// frontend knows what its sites mean; codegen makes a call of CUDA's vprintf of it (device_print.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "weft/dtype.h"

namespace weft::codegen {

struct PrintedPart {
    enum class Kind : uint8_t {
        kText,
        kInteger,
        kFloat,    // as Python and NumPy write it (ops/gpu/number_text.h)
        kComplex,  // the same of two
        kChoice,   // of the texts that of this number
        kByFormat  // as C's printf does by the text, which is of an int64 or a float64
    };
    Kind kind = Kind::kText;
    std::string text{};
    size_t value = 0;                      // which of the payload
    ScalarType type = ScalarType::kInt64;  // of the value
    std::vector<std::string> choices{};
};
using Printed = std::vector<PrintedPart>;
using PrintedBySite = std::map<uint32_t, Printed>;

// CUDA's vprintf takes so many values.
constexpr size_t kMostPrinted = 32;

// How many values the call of vprintf has.
size_t printed_values(const Printed& printed);

// A line for each site: for keys of caches, and in front of PTX for the tests' fake driver.
std::string text_of(const PrintedBySite& printed);
PrintedBySite parse_printed(const std::string& text);

}  // namespace weft::codegen
