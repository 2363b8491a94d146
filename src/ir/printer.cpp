#include "ir/printer.h"
#include "ir/intrinsic.h"

#include <algorithm>
#include <unordered_set>

#include "ir/constant_text.h"

namespace weft::ir {

std::string_view order_name(MemoryOrder order) {
    switch (order) {
        case MemoryOrder::kRelaxed: return "relaxed";
        case MemoryOrder::kAcquire: return "acquire";
        case MemoryOrder::kRelease: return "release";
        case MemoryOrder::kAcquireRelease: return "acquire_release";
        case MemoryOrder::kSequential: return "sequential";
    }
    return "?";
}

std::string_view scope_name(MemoryScope scope) {
    switch (scope) {
        case MemoryScope::kBlock: return "block";
        case MemoryScope::kDevice: return "device";
        case MemoryScope::kSystem: return "system";
    }
    return "?";
}

std::string_view space_name(AddressSpace space) {
    switch (space) {
        case AddressSpace::kGlobal: return "global";
        case AddressSpace::kShared: return "shared";
        case AddressSpace::kLocal: return "local";
    }
    return "?";
}

std::string print(const Type& type) {
    if (!type.is_buffer) return std::string(scalar_name(type.scalar));
    const BufferType& buffer = type.buffer;
    std::string text =
        std::string(space_name(buffer.space)) + " " + std::string(scalar_name(buffer.element)) + "[";
    for (size_t d = 0; d < buffer.strides.size(); d++) {
        if (d > 0) text += ", ";
        text += buffer.strides[d] == kDynamic ? "?" : std::to_string(buffer.strides[d]);
    }
    text += "]";
    if (!buffer.sizes.empty()) {
        text += " size [";
        for (size_t d = 0; d < buffer.sizes.size(); d++)
            text += (d > 0 ? ", " : "") +
                    (buffer.sizes[d] == kDynamic ? std::string("?") : std::to_string(buffer.sizes[d]));
        text += "]";
    }
    if (buffer.alias_scope != 0) text += " scope " + std::to_string(buffer.alias_scope);
    if (buffer.readonly) text += " readonly";
    if (buffer.streamed) text += " streamed";
    if (buffer.prefetch) text += " prefetch";
    return text;
}

namespace {

class Printer {
public:
    explicit Printer(const Function& function) : function_(function), names_(function.values.size()) {}

    std::string run() {
        text_ = function_.is_kernel ? "kernel @" : "function @";
        text_ += function_.name + "(";
        for (size_t i = 0; i < function_.parameters.size(); i++) {
            ValueId parameter = function_.parameters[i];
            text_ += (i > 0 ? ", " : "") + define(parameter) + ": " + print(function_.type(parameter));
        }
        text_ += ")";
        if (!function_.result_types.empty()) text_ += " : " + types(function_.result_types);
        text_ += " {\n";
        body(function_.body, 1);
        text_ += "}\n";
        return std::move(text_);
    }

private:
    // Named values keep their names, made unique; the others are numbered in the order of the text.
    std::string define(ValueId value) {
        if (value.index >= names_.size()) return "%<bad value " + std::to_string(value.index) + ">";
        const std::string& wanted = function_.values[value.index].name;
        std::string name = wanted;
        if (wanted.empty()) {
            name = std::to_string(next_number_++);
        } else {
            for (int i = 1; !used_.insert(name).second; i++) name = wanted + "." + std::to_string(i);
        }
        return names_[value.index] = "%" + name;
    }

    // Printing must work for ill-formed functions too, since the verifier's messages show them.
    std::string use(ValueId value) const {
        if (value.index >= names_.size()) return "%<bad value>";
        if (names_[value.index].empty()) return "%<undefined " + std::to_string(value.index) + ">";
        return names_[value.index];
    }

    std::string uses(const std::vector<ValueId>& values, size_t from = 0, size_t to = SIZE_MAX) const {
        std::string text;
        for (size_t i = from; i < std::min(to, values.size()); i++)
            text += (i > from ? ", " : "") + use(values[i]);
        return text;
    }

    std::string definitions(const std::vector<ValueId>& values, size_t from = 0, size_t to = SIZE_MAX) {
        std::string text;
        for (size_t i = from; i < std::min(to, values.size()); i++)
            text += (i > from ? ", " : "") + define(values[i]);
        return text;
    }

    static std::string types(const std::vector<Type>& list) {
        std::string text;
        for (const Type& type : list) text += (text.empty() ? "" : ", ") + print(type);
        return text;
    }

    // (%a = %a0, %b = %b0) for the carried values of a region.
    std::string bindings(const Region& region, size_t first_argument, const Instruction& instruction,
                         size_t first_operand) {
        std::string text = "(";
        for (size_t i = first_operand; i < instruction.operands.size(); i++) {
            size_t argument = first_argument + i - first_operand;
            if (i > first_operand) text += ", ";
            text += argument < region.arguments.size() ? define(region.arguments[argument]) : "%<missing>";
            text += " = " + use(instruction.operands[i]);
        }
        return text + ")";
    }

    void braces(const Region& region, int depth) {
        text_ += "{\n";
        body(region, depth + 1);
        text_ += std::string(static_cast<size_t>(depth) * 2, ' ') + "}";
    }

    void body(const Region& region, int depth) {
        for (size_t i = 0; i < region.body.size(); i++) {
            const Instruction& instruction = region.body[i];
            const Opcode end = &region == &function_.body ? Opcode::kReturn : Opcode::kYield;
            if (instruction.opcode == end && instruction.operands.empty() && i + 1 == region.body.size())
                continue;  // understood
            text_ += std::string(static_cast<size_t>(depth) * 2, ' ');
            print_instruction(instruction, depth);
            text_ += "\n";
        }
    }

    void print_instruction(const Instruction& instruction, int depth) {
        if (!instruction.results.empty()) text_ += definitions(instruction.results) + " = ";
        print_right_side(instruction, depth);
    }

    std::string element(const Instruction& instruction) const {
        size_t first_index = opcode_info(instruction.opcode).index;
        size_t last = instruction.operands.size();
        if (instruction.predicated) last -= instruction.opcode == Opcode::kLoad ? 2 : 1;
        return use(instruction.operands[0]) + "[" + uses(instruction.operands, first_index, last) + "]";
    }

    void print_right_side(const Instruction& instruction, int depth) {
        const std::vector<ValueId>& operands = instruction.operands;
        auto region = [&](size_t i) -> const Region& { return instruction.regions[i]; };
        if (instruction.regions.size() < opcode_info(instruction.opcode).regions ||
            operands.size() < least_operands(instruction)) {
            text_ += std::string(opcode_name(instruction.opcode)) + " <ill-formed> " + uses(operands);
            return;
        }
        switch (instruction.opcode) {
            case Opcode::kConstant:
                text_ += "const " + std::string(scalar_name(instruction.constant.type)) + " " +
                         constant_text(instruction.constant);
                break;
            case Opcode::kApply:
                text_ += std::string(instruction.op != nullptr ? instruction.op->name : "<no op>");
                if (instruction.fast) text_ += " fast";
                if (!operands.empty()) text_ += " " + uses(operands);
                break;
            case Opcode::kCast:
                text_ += "cast " + use(operands[0]) + " to " + result_type(instruction);
                break;
            case Opcode::kLoad:
                text_ += "load " + element(instruction);
                if (instruction.predicated) {
                    text_ += " if " + use(operands[operands.size() - 2]) + " else " + use(operands.back());
                }
                break;
            case Opcode::kStore:
                text_ += "store " + element(instruction) + ", " + use(operands[1]);
                if (instruction.predicated) text_ += " if " + use(operands.back());
                break;
            case Opcode::kAtomic:
                text_ += "atomic " +
                         std::string(instruction.op != nullptr ? instruction.op->name : "<no op>") + " " +
                         element(instruction) + ", " + use(operands[1]) + ordering(instruction);
                break;
            case Opcode::kCompareExchange:
                text_ += "compare_exchange " + element(instruction) + ", " + use(operands[1]) + ", " +
                         use(operands[2]) + ordering(instruction);
                break;
            case Opcode::kAllocate:
                text_ += "allocate " + result_type(instruction);
                for (size_t i = 0; i < operands.size(); i++)
                    text_ += (i > 0 ? ", " : " of (") + use(operands[i]);
                if (!operands.empty()) text_ += ")";
                break;
            case Opcode::kView:
                text_ += "view " + use(operands[0]) + " at " + use(operands[1]) + " as " +
                         result_type(instruction) + strides(instruction, 2);
                break;
            case Opcode::kNull: text_ += "null " + result_type(instruction); break;
            case Opcode::kAddress: text_ += "address " + use(operands[0]); break;
            case Opcode::kMemory:
                text_ += "memory " + use(operands[0]) + " as " + result_type(instruction) +
                         strides(instruction, 1);
                break;
            case Opcode::kHeap:
                text_ += "heap " + use(operands[0]);
                if (instruction.grows) text_ += " from " + use(operands[1]);
                if (const auto& [from, stride, count] = instruction.owners; count > 0)
                    text_ += " owners " + std::to_string(count) + " from " + std::to_string(from) + " by " +
                             std::to_string(stride);
                text_ += " as " + result_type(instruction, 1) +
                         strides(instruction, instruction.grows ? 2 : 1) + " else raise " +
                         std::to_string(instruction.site);
                break;
            case Opcode::kRetain:
            case Opcode::kRelease:
                text_ += std::string(opcode_name(instruction.opcode)) + " " + use(operands[0]);
                break;
            case Opcode::kBarrier: text_ += "barrier"; break;
            case Opcode::kIntrinsic:
                text_ += "intrinsic " + std::string(intrinsic_info(instruction.intrinsic).text) + "(" +
                         uses(operands) + ")";
                break;
            case Opcode::kFor:
                text_ += "for " + argument(region(0), 0) + " = " + use(operands[0]) + " to " +
                         use(operands[1]) + " step " + use(operands[2]);
                if (instruction.lanes != 1) text_ += " lanes " + std::to_string(instruction.lanes);
                if (instruction.site != 0) text_ += " at " + std::to_string(instruction.site);
                if (operands.size() > 3) text_ += " with " + bindings(region(0), 1, instruction, 3);
                text_ += " ";
                braces(region(0), depth);
                break;
            case Opcode::kWhile:
                text_ += "while ";
                if (instruction.site != 0) text_ += "at " + std::to_string(instruction.site) + " ";
                text_ += bindings(region(0), 0, instruction, 0) + " ";
                braces(region(0), depth);
                text_ += " do (" + definitions(region(1).arguments) + ") ";
                braces(region(1), depth);
                break;
            case Opcode::kIf:
                text_ += (instruction.likely ? "if likely " : "if ") + use(operands[0]) + " ";
                braces(region(0), depth);
                if (region(1).body.size() != 1 || !yields(region(1)) || !region(1).body[0].operands.empty()) {
                    text_ += " else ";
                    braces(region(1), depth);
                }
                break;
            case Opcode::kParallel:
                text_ += instruction.level == ParallelLevel::kGrid ? "parallel grid (" : "parallel block (";
                text_ += points(instruction) + ") in (" + uses(operands) + ") ";
                braces(region(0), depth);
                break;
            case Opcode::kReduce:
            case Opcode::kScan:
                text_ += std::string(opcode_name(instruction.opcode)) + " " + argument(region(0), 0) +
                         " in " + use(operands[0]);
                if (instruction.opcode == Opcode::kReduce) {
                    text_ += " lanes " + std::to_string(instruction.lanes) + " block " +
                             std::to_string(instruction.block);
                }
                text_ += " with (" + uses(operands, 1) + ") ";
                braces(region(0), depth);
                text_ += " combine (" + definitions(region(1).arguments) + ") ";
                braces(region(1), depth);
                if (instruction.opcode == Opcode::kScan) {
                    text_ += " consume (" + definitions(region(2).arguments) + ") ";
                    braces(region(2), depth);
                }
                break;
            case Opcode::kExternal: {
                text_ += std::string("external ") + (instruction.tells_status ? "status @" : "@") +
                         instruction.callee + "(" + uses(operands) + ")";
                std::vector<Type> results;
                for (ValueId result : instruction.results) results.push_back(function_.type(result));
                if (!results.empty()) text_ += " : " + types(results);
                break;
            }
            case Opcode::kCall: {
                text_ += instruction.catches ? "call catching @"
                         : instruction.lazy  ? "call lazy @"
                                             : "call @";
                text_ += instruction.callee + "(" + uses(operands) + ")";
                std::vector<Type> results;
                for (ValueId result : std::span(instruction.results).subspan(instruction.catches ? 1 : 0))
                    results.push_back(function_.type(result));
                if (!results.empty()) text_ += " : " + types(results);
                break;
            }
            case Opcode::kEngine:
                text_ += "engine @" + instruction.callee + "(" + uses(operands) + ")";
                break;
            case Opcode::kSpread:
                text_ += std::string("spread ") + (instruction.together ? "together " : "") + "@" +
                         instruction.callee + "(" + uses(operands, 2) + ") in " + use(operands[0]) + " by " +
                         use(operands[1]);
                break;
            case Opcode::kCheck:
                text_ += "check " + use(operands[0]) + " else raise " + std::to_string(instruction.site);
                if (operands.size() > 1) text_ += " " + uses(operands, 1);
                break;
            case Opcode::kTell:
            case Opcode::kRaise:
                if (instruction.again) {
                    text_ += "raise again " + use(operands[0]);
                    break;
                }
                text_ +=
                    std::string(opcode_name(instruction.opcode)) + " " + std::to_string(instruction.site);
                if (!operands.empty()) text_ += " " + uses(operands);
                break;
            case Opcode::kYield:
            case Opcode::kBreak:
            case Opcode::kContinue:
            case Opcode::kReturn:
                text_ += std::string(opcode_name(instruction.opcode));
                if (instruction.depth != 0) text_ += " " + std::to_string(instruction.depth);
                if (!operands.empty()) text_ += " " + uses(operands);
                break;
        }
    }

    // %i, %begin to %end
    std::string points(const Instruction& instruction) {
        const std::vector<ValueId>& arguments = instruction.regions[0].arguments;
        std::string text;
        for (size_t i = 0; i < arguments.size(); i++) {
            bool ends_range =
                static_cast<int>(i) == instruction.range_dimension + 1 && instruction.range_dimension >= 0;
            text += (i == 0 ? "" : ends_range ? " to " : ", ") + define(arguments[i]);
        }
        return text;
    }

    std::string argument(const Region& region, size_t i) {
        return i < region.arguments.size() ? define(region.arguments[i]) : "%<missing>";
    }

    std::string result_type(const Instruction& instruction, size_t which = 0) const {
        return instruction.results.size() <= which ? "<no result>"
                                                   : print(function_.type(instruction.results[which]));
    }

    // of (%s, %t)
    std::string strides(const Instruction& instruction, size_t first) const {
        if (instruction.operands.size() <= first) return "";
        return " of (" + uses(instruction.operands, first) + ")";
    }

    static std::string ordering(const Instruction& instruction) {
        return " " + std::string(order_name(instruction.order)) + " " +
               std::string(scope_name(instruction.scope));
    }

    const Function& function_;
    std::vector<std::string> names_;
    std::unordered_set<std::string> used_;
    int next_number_ = 0;
    std::string text_;
};

}  // namespace

std::string print(const Function& function) { return Printer(function).run(); }

std::string print(const Module& module) {
    std::string text;
    for (const Function& function : module.functions) text += (text.empty() ? "" : "\n") + print(function);
    return text;
}

}  // namespace weft::ir
