#include "codegen/cpu/vector_width.h"

#include <algorithm>
#include <string_view>

namespace weft::codegen {

namespace {

using ir::Instruction;
using ir::Opcode;

bool is_float(const ir::Function& kernel, ir::ValueId value) {
    const ScalarType type = kernel.type(value).scalar;
    return type == ScalarType::kFloat16 || type == ScalarType::kFloat32 || type == ScalarType::kFloat64;
}

// Elements are loaded and at most cast between floats; they are combined by one addition.
bool adds_up(const ir::Function& kernel, const Instruction& reduce) {
    const auto& element = reduce.regions[0].body;
    const bool plain = std::all_of(element.begin(), element.end(), [&](const Instruction& instruction) {
        switch (instruction.opcode) {
            case Opcode::kYield: return true;
            case Opcode::kLoad: return is_float(kernel, instruction.results[0]);
            case Opcode::kCast:
                return is_float(kernel, instruction.operands[0]) && is_float(kernel, instruction.results[0]);
            default: return false;
        }
    });
    const auto& combine = reduce.regions[1].body;
    const auto additions = std::count_if(combine.begin(), combine.end(), [](const Instruction& instruction) {
        return instruction.opcode == Opcode::kApply && std::string_view(instruction.op->name) == "add";
    });
    return plain && reduce.lanes > 1 && static_cast<size_t>(additions) + 1 == combine.size();
}

struct Reductions {
    int adding_up = 0, other = 0;
};

void count(const ir::Function& kernel, const ir::Region& region, Reductions& found) {
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode == Opcode::kReduce) {
            ++(adds_up(kernel, instruction) ? found.adding_up : found.other);
            continue;
        }
        // Whatever else walks elements computes something of each.
        if (instruction.opcode == Opcode::kFor || instruction.opcode == Opcode::kWhile ||
            instruction.opcode == Opcode::kScan)
            ++found.other;
        for (const ir::Region& inner : instruction.regions) count(kernel, inner, found);
    }
}

}  // namespace

int useful_vector_bits(const ir::Function& kernel) {
    Reductions found;
    count(kernel, kernel.body, found);
    return found.adding_up > 0 && found.other == 0 ? 256 : 512;
}

}  // namespace weft::codegen
