// What threads of a CUDA-style kernel do together, and where each is: the intrinsics of kernel IR
// (Opcode::kIntrinsic), by the table ir/intrinsics.def.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::ir {

enum class Intrinsic : uint8_t {
#define WEFT_INTRINSIC(enumerator, ...) enumerator,
#include "ir/intrinsics.def"
#undef WEFT_INTRINSIC
};

// A row of the table.
struct IntrinsicInfo {
    std::string_view text, operands, results;
};

const IntrinsicInfo& intrinsic_info(Intrinsic intrinsic);

}  // namespace weft::ir
