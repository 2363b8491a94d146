#include "passes/simplify.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/printer.h"
#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

// Alias scopes that the function writes to. Loads from the others give the same value wherever they stand.
class WrittenScopes {
public:
    explicit WrittenScopes(const Function& function) : function_(function) { visit(function.body); }
    bool contains(uint16_t scope) const { return all_ || (scope < written_.size() && written_[scope]); }

private:
    void visit(const Region& region) {
        for (const Instruction& instruction : region.body) {
            all_ |= instruction.opcode == Opcode::kCall || instruction.opcode == Opcode::kSpread ||
                    instruction.opcode == Opcode::kEngine || instruction.opcode == Opcode::kExternal ||
                    is_meeting(instruction);
            if (opcode_info(instruction.opcode).effect == OpcodeEffect::kWrite) {
                size_t scope = function_.type(instruction.operands[0]).buffer.alias_scope;
                if (scope >= written_.size()) written_.resize(scope + 1);
                written_[scope] = true;
            }
            for (const Region& inner : instruction.regions) visit(inner);
        }
    }

    const Function& function_;
    std::vector<bool> written_;
    bool all_ = false;
};

// Folds and merges, in one walk in the order of the text, in which definitions come before their uses.
class Merger {
public:
    explicit Merger(Function& function) : function_(function), written_(function) {}

    void run() { visit(function_.body); }

private:
    void visit(Region& region) {
        size_t outer = known_order_.size();
        std::vector<Instruction> old = std::move(region.body);
        region.body.clear();
        for (Instruction& instruction : old) {
            visit(std::move(instruction), region.body);
            if (!region.body.empty() && ends_body(region.body.back().opcode)) break;
        }
        // What this body computed cannot be used after it.
        while (known_order_.size() > outer) {
            known_.erase(known_order_.back());
            known_order_.pop_back();
        }
    }

    void visit(Instruction instruction, std::vector<Instruction>& into) {
        replaced_.apply(instruction.operands);
        if (std::optional<bool> condition = known_condition(instruction)) {
            splice(instruction.regions[*condition ? 0 : 1], instruction.results, into);
            return;
        }
        fold(instruction, into);
        if (is_pure(instruction)) {
            auto [found, is_new] = known_.emplace(key(instruction), instruction.results);
            if (!is_new) {
                for (size_t i = 0; i < found->second.size(); i++) {
                    replaced_.set(instruction.results[i], found->second[i]);
                }
                return;
            }
            known_order_.push_back(found->first);
        }
        for (Region& inner : instruction.regions) visit(inner);
        if (instruction.opcode == Opcode::kIf && !yields(instruction.regions[0]) &&
            !yields(instruction.regions[1])) {
            // What stands behind is never reached, so the second body takes its place.
            Region rest = std::move(instruction.regions[1]);
            instruction.regions[1].body = {{.opcode = Opcode::kYield}};
            instruction.results.clear();
            into.push_back(std::move(instruction));
            for (Instruction& each : rest.body) into.push_back(std::move(each));
            return;
        }
        if (instruction.opcode == Opcode::kConstant) {
            constants_.emplace(instruction.results[0].index, instruction.constant);
        }
        into.push_back(std::move(instruction));
    }

    // A region in place of the branch that always takes it. Where it leaves, the body that it now is in has
    // its end.
    void splice(Region& taken, const std::vector<ValueId>& results, std::vector<Instruction>& into) {
        for (Instruction& inner : taken.body) {
            if (inner.opcode == Opcode::kYield) {
                replaced_.apply(inner.operands);
                for (size_t i = 0; i < inner.operands.size(); i++)
                    replaced_.set(results[i], inner.operands[i]);
                return;
            }
            visit(std::move(inner), into);
            if (!into.empty() && ends_body(into.back().opcode)) return;
        }
    }

    const Constant* constant(ValueId value) const {
        auto found = constants_.find(value.index);
        return found == constants_.end() ? nullptr : &found->second;
    }

    std::optional<bool> known_condition(const Instruction& instruction) const {
        if (instruction.opcode != Opcode::kIf) return std::nullopt;
        const Constant* condition = constant(instruction.operands[0]);
        return condition == nullptr ? std::nullopt : std::optional(condition->as<bool>());
    }

    // Turns an operation on constants into constants: the instruction itself becomes the last of its results.
    void fold(Instruction& instruction, std::vector<Instruction>& into) {
        bool casts = instruction.opcode == Opcode::kCast;
        if (!casts && instruction.opcode != Opcode::kApply) return;
        std::array<std::array<uint8_t, 16>, kMaxOperands> bytes{};
        size_t inputs = instruction.operands.size();
        for (size_t i = 0; i < inputs; i++) {
            const Constant* operand = constant(instruction.operands[i]);
            if (operand == nullptr) return;
            bytes[i] = operand->bytes;
        }
        const LoopInfo& loop = casts ? cast_loop(function_.type(instruction.operands[0]).scalar,
                                                 function_.type(instruction.results[0]).scalar)
                                     : instruction.op->loops[static_cast<size_t>(instruction.loop)];
        std::array<char*, kMaxOperands> data{};
        std::array<int64_t, kMaxOperands> strides{};
        for (size_t i = 0; i < data.size(); i++) data[i] = reinterpret_cast<char*>(bytes[i].data());
        loop.loop(data.data(), strides.data(), 1);

        std::vector<ValueId> results = std::move(instruction.results);
        for (size_t i = 0; i < results.size(); i++) {
            Instruction folded{.opcode = Opcode::kConstant, .results = {results[i]}};
            folded.constant = {function_.type(results[i]).scalar, bytes[inputs + i]};
            if (i + 1 < results.size()) {
                visit(std::move(folded), into);
            } else {
                instruction = std::move(folded);
            }
        }
    }

    bool is_pure(const Instruction& instruction) const {
        if (is_value(instruction.opcode)) return true;
        if (instruction.opcode != Opcode::kLoad) return false;
        const BufferType& buffer = function_.type(instruction.operands[0]).buffer;
        return buffer.space == AddressSpace::kGlobal && !written_.contains(buffer.alias_scope);
    }

    // Equal for instructions that compute the same.
    std::string key(const Instruction& instruction) const {
        std::string result;
        auto add = [&](const auto& value) {
            result.append(reinterpret_cast<const char*>(&value), sizeof(value));
        };
        add(instruction.opcode);
        const Type& type = function_.type(instruction.results[0]);
        add(type.scalar);
        if (type.is_buffer) result += print(type);
        add(instruction.op);
        add(instruction.loop);
        add(instruction.fast);
        add(instruction.predicated);
        if (instruction.opcode == Opcode::kConstant) add(instruction.constant.bytes);
        for (ValueId operand : instruction.operands) add(operand.index);
        return result;
    }

    Function& function_;
    WrittenScopes written_;
    Substitution replaced_;
    std::unordered_map<uint32_t, Constant> constants_;
    std::unordered_map<std::string, std::vector<ValueId>> known_;
    std::vector<std::string> known_order_;
};

// Removes what nobody uses, from the end to the start, so that users are gone before what they used is looked
// at.
class DeadCode {
public:
    explicit DeadCode(Function& function) : used_(function.values.size()), function_(function) {}

    void run() { visit(function_.body); }

private:
    void visit(Region& region) {
        std::vector<Instruction> kept;  // in reverse
        for (size_t i = region.body.size(); i-- > 0;) {
            Instruction& instruction = region.body[i];
            bool used = std::any_of(instruction.results.begin(), instruction.results.end(),
                                    [&](ValueId result) { return used_[result.index]; });
            if (!used && instruction.opcode != Opcode::kYield && has_no_effect(instruction)) continue;
            for (ValueId operand : instruction.operands) used_[operand.index] = true;
            for (Region& inner : instruction.regions) visit(inner);
            kept.push_back(std::move(instruction));
        }
        std::reverse(kept.begin(), kept.end());
        region.body = std::move(kept);
    }

    std::vector<bool> used_;
    Function& function_;
};

}  // namespace

void simplify(const Module&, Function& function) {
    Merger(function).run();
    DeadCode(function).run();
}

}  // namespace weft::passes
