#include "ir/ir.h"

#include <algorithm>

#include "ir/intrinsic.h"

namespace weft::ir {

ValueId Function::add_value(Type type, std::string value_name) {
    values.push_back({std::move(type), std::move(value_name)});
    return ValueId{static_cast<uint32_t>(values.size() - 1)};
}

const Function* Module::find(std::string_view name) const {
    auto found =
        std::find_if(functions.begin(), functions.end(), [&](const Function& f) { return f.name == name; });
    return found == functions.end() ? nullptr : &*found;
}

const OpcodeInfo& opcode_info(Opcode opcode) {
    static constexpr size_t kAny = OpcodeInfo::kAny;
    static constexpr OpcodeInfo kOpcodes[] = {
#define WEFT_OPCODE(enumerator, text, operands, regions, results, index, effect, uniformity) \
    {text, operands, regions, results, index, OpcodeEffect::effect, OpcodeUniformity::uniformity},
#include "ir/opcodes.def"
#undef WEFT_OPCODE
    };
    return kOpcodes[static_cast<size_t>(opcode)];
}

const IntrinsicInfo& intrinsic_info(Intrinsic intrinsic) {
    static constexpr IntrinsicInfo kIntrinsics[] = {
#define WEFT_INTRINSIC(enumerator, text, operands, results) {text, operands, results},
#include "ir/intrinsics.def"
#undef WEFT_INTRINSIC
    };
    return kIntrinsics[static_cast<size_t>(intrinsic)];
}

size_t least_operands(const Instruction& instruction) {
    size_t count = opcode_info(instruction.opcode).operands;
    if (instruction.predicated) count += instruction.opcode == Opcode::kLoad ? 2 : 1;
    return count;
}

namespace {

// Whether the region has an exit of the loop that `depth` others lie between, or of one further out.
bool has_exit(const Region& region, int depth) {
    return std::any_of(region.body.begin(), region.body.end(), [&](const Instruction& instruction) {
        if (instruction.opcode == Opcode::kReturn || instruction.opcode == Opcode::kRaise) return true;
        if (instruction.opcode == Opcode::kBreak || instruction.opcode == Opcode::kContinue)
            return instruction.depth >= depth;
        const int inside = depth + (is_loop(instruction.opcode) ? 1 : 0);
        return std::any_of(instruction.regions.begin(), instruction.regions.end(),
                           [&](const Region& inner) { return has_exit(inner, inside); });
    });
}

void find_exits(const Region& region, int depth, std::vector<const Instruction*>& exits) {
    for (const Instruction& instruction : region.body) {
        const bool leaves = instruction.opcode == Opcode::kBreak || instruction.opcode == Opcode::kContinue;
        if (leaves && instruction.depth == depth) exits.push_back(&instruction);
        const int inside = depth + (is_loop(instruction.opcode) ? 1 : 0);
        for (const Region& inner : instruction.regions) find_exits(inner, inside, exits);
    }
}

}  // namespace

std::vector<const Instruction*> exits_of(const Instruction& loop) {
    std::vector<const Instruction*> exits;
    for (const Region& region : loop.regions) find_exits(region, 0, exits);
    return exits;
}

bool is_left(const Instruction& loop) {
    return std::any_of(loop.regions.begin(), loop.regions.end(),
                       [](const Region& region) { return has_exit(region, 0); });
}

std::string_view scalar_name(ScalarType type) {
    switch (type) {
#define WEFT_SCALAR_TYPE(enumerator, name, character, kind, cpp_type, size, short_name) \
    case ScalarType::enumerator: return short_name;
#include "weft/scalar_types.def"
#undef WEFT_SCALAR_TYPE
    }
    return "?";
}

namespace {

// Walks two functions together and pairs the values that they define.
class Comparison {
public:
    Comparison(const Function& a, const Function& b) : a_(a), b_(b), pair_(a.values.size()) {}

    bool run() {
        return a_.name == b_.name && a_.is_kernel == b_.is_kernel && a_.result_types == b_.result_types &&
               define(a_.parameters, b_.parameters) && same(a_.body, b_.body);
    }

private:
    bool define(const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
        if (a.size() != b.size()) return false;
        for (size_t i = 0; i < a.size(); i++) {
            if (!(a_.type(a[i]) == b_.type(b[i]))) return false;
            pair_[a[i].index] = b[i];
        }
        return true;
    }

    bool same_uses(const std::vector<ValueId>& a, const std::vector<ValueId>& b) const {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                          [&](ValueId x, ValueId y) { return pair_[x.index] == y; });
    }

    bool same(const Region& a, const Region& b) {
        if (!define(a.arguments, b.arguments) || a.body.size() != b.body.size()) return false;
        for (size_t i = 0; i < a.body.size(); i++) {
            if (!same(a.body[i], b.body[i])) return false;
        }
        return true;
    }

    bool same(const Instruction& a, const Instruction& b) {
        if (a.opcode != b.opcode || a.op != b.op || a.loop != b.loop || !(a.constant == b.constant) ||
            a.fast != b.fast || a.predicated != b.predicated || a.level != b.level ||
            a.range_dimension != b.range_dimension || a.order != b.order || a.scope != b.scope ||
            a.callee != b.callee || a.depth != b.depth || a.site != b.site || a.catches != b.catches ||
            a.together != b.together || a.intrinsic != b.intrinsic || a.lazy != b.lazy ||
            a.tells_status != b.tells_status || a.likely != b.likely || a.again != b.again ||
            a.grows != b.grows || !(a.owners == b.owners) || a.lanes != b.lanes || a.block != b.block ||
            !same_uses(a.operands, b.operands) || a.regions.size() != b.regions.size()) {
            return false;
        }
        for (size_t i = 0; i < a.regions.size(); i++) {
            if (!same(a.regions[i], b.regions[i])) return false;
        }
        return define(a.results, b.results);
    }

    const Function& a_;
    const Function& b_;
    std::vector<ValueId> pair_;  // value of a -> value of b
};

}  // namespace

bool equivalent(const Function& a, const Function& b) { return Comparison(a, b).run(); }

}  // namespace weft::ir
