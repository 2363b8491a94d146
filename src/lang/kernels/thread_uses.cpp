#include "lang/kernels/thread_uses.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "lang/kernels/thread_place.h"

namespace weft::lang {

using ir::Function;
using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

namespace {

constexpr size_t kAxes = 3;
constexpr int64_t kWeightOfLoop = 8, kMostWeight = 1 << 12;
constexpr int kMostDepth = 8;  // of calls

// How a value goes with the threads: the axes that it depends on, and those along which it rises by one.
struct Line {
    unsigned depends = 0, rises = 0;
};

constexpr size_t number_of(PlacePart part, size_t axis) { return static_cast<size_t>(part) * kAxes + axis; }

class Uses {
public:
    Uses(const ir::Module& module, const Function& function, std::span<const GlobalArgument> globals,
         ThreadUses& found, int depth)
        : module_(module),
          function_(function),
          globals_(globals),
          found_(found),
          depth_(depth),
          lines_(function.values.size()),
          is_used_(function.values.size()),
          source_(function.values.size()) {
        size_t behind = 0;
        for (const GlobalArgument& global : globals) behind += part_count(global.type);
        for (size_t i = 0; i < globals.size() && !is_place_argument(globals[i]); ++i)
            behind -= part_count(globals[i].type);
        first_ = function.parameters.size() - behind;
    }

    // `lines`: of the arguments.
    void run(std::span<const Line> lines, int64_t weight) {
        for (size_t i = 0; i < lines.size(); ++i) lines_[function_.parameters[i].index] = lines[i];
        for (size_t axis = 0; axis < kAxes; ++axis) {
            const unsigned bit = 1U << axis;
            lines_[number(PlacePart::kThread, axis).index] = {bit, bit};
            lines_[number(PlacePart::kBlock, axis).index] = {bit, 0};
        }
        follow(function_.body, weight);
        note_uses(function_.body);
        for (size_t axis = 0; axis < kAxes; ++axis) {
            for (const PlacePart part : {PlacePart::kThread, PlacePart::kBlock})
                found_.apart[axis] |= is_used_[number(part, axis).index];
            found_.grid_size |= is_used_[number(PlacePart::kGridSize, axis).index];
        }
        const size_t memory = first_ + kPlaceNumbers;
        found_.block_memory |= is_used_[function_.parameters[memory].index];
    }

private:
    ValueId number(PlacePart part, size_t axis) const {
        return function_.parameters[first_ + number_of(part, axis)];
    }
    bool is_operation(const Instruction& instruction, OpId op) const {
        return instruction.opcode == Opcode::kApply && instruction.op->id == op;
    }
    // blockIdx * blockDim, in either order.
    bool is_start_of_block(ValueId value, size_t axis) const {
        const Instruction* const source = source_[value.index];
        if (source == nullptr || !is_operation(*source, OpId::kMultiply)) return false;
        const ValueId block = number(PlacePart::kBlock, axis), size = number(PlacePart::kBlockSize, axis);
        return (source->operands[0] == block && source->operands[1] == size) ||
               (source->operands[0] == size && source->operands[1] == block);
    }
    // The axis along which it is a thread's place in the grid; 3 where it is none.
    size_t axis_of_position(const Instruction& instruction) const {
        if (!is_operation(instruction, OpId::kAdd)) return kAxes;
        for (size_t axis = 0; axis < kAxes; ++axis) {
            const ValueId thread = number(PlacePart::kThread, axis);
            for (const size_t k : {0, 1}) {
                if (instruction.operands[k] == thread && is_start_of_block(instruction.operands[1 - k], axis))
                    return axis;
            }
        }
        return kAxes;
    }

    Line line_of(const Instruction& instruction) const {
        const auto line = [&](size_t k) { return lines_[instruction.operands[k].index]; };
        unsigned all = 0;
        for (const ValueId operand : instruction.operands) all |= lines_[operand.index].depends;
        if (const size_t axis = axis_of_position(instruction); axis < kAxes) return {1U << axis, 1U << axis};
        if (is_operation(instruction, OpId::kAdd))
            return {all, (line(0).rises & ~line(1).depends) | (line(1).rises & ~line(0).depends)};
        if (is_operation(instruction, OpId::kSubtract)) return {all, line(0).rises & ~line(1).depends};
        if (is_operation(instruction, OpId::kSelect)) return {all, line(1).rises & line(2).rises};
        // At most positions it is one or the other.
        if (is_operation(instruction, OpId::kMinimum) || is_operation(instruction, OpId::kMaximum))
            return {all, line(0).rises | line(1).rises};
        if (instruction.opcode == Opcode::kCast) return {all, line(0).rises};
        return {all, 0};
    }

    void follow(const Region& region, int64_t weight) {
        for (const Instruction& each : region.body) {
            const Line line = line_of(each);
            const bool loops = ir::is_loop(each.opcode);
            found_.loops |= loops;
            const int64_t inside = loops ? std::min(weight * kWeightOfLoop, kMostWeight) : weight;
            for (const Region& inner : each.regions) {
                for (size_t k = 0; k < inner.arguments.size(); ++k) {
                    // A counter starts where its loop does.
                    lines_[inner.arguments[k].index] = {
                        line.depends,
                        each.opcode == Opcode::kFor && k == 0 ? lines_[each.operands[0].index].rises : 0};
                }
                follow(inner, inside);
            }
            for (const ValueId result : each.results) {
                lines_[result.index] = line;
                source_[result.index] = &each;
            }
            if (each.opcode == Opcode::kIf) follow_branch(each);
            vote(each, weight);
            if (each.opcode == Opcode::kCall) call(each, weight);
        }
    }

    // i - 1 if i > 0 else i
    void follow_branch(const Instruction& branch) {
        for (size_t k = 0; k < branch.results.size(); ++k) {
            Line line{lines_[branch.operands[0].index].depends, ~0U};
            for (const Region& side : branch.regions) {
                if (!ir::yields(side)) continue;
                const Line& given = lines_[side.body.back().operands[k].index];
                line.depends |= given.depends;
                line.rises &= given.rises;
            }
            lines_[branch.results[k].index] = line;
        }
    }

    void vote(const Instruction& instruction, int64_t weight) {
        const size_t first = ir::opcode_info(instruction.opcode).index;
        if (first == 0 || instruction.operands.empty()) return;
        const ir::Type& type = function_.type(instruction.operands[0]);
        if (!type.is_buffer || type.buffer.space != ir::AddressSpace::kGlobal) return;
        for (size_t d = 0; d < type.buffer.strides.size(); ++d) {
            if (type.buffer.strides[d] != DType(type.buffer.element).itemsize()) continue;
            for (size_t axis = 0; axis < kAxes; ++axis) {
                if ((lines_[instruction.operands[first + d].index].rises >> axis & 1U) != 0)
                    found_.side_by_side[axis] += weight;
            }
        }
    }

    void call(const Instruction& instruction, int64_t weight) {
        const Function* const callee = module_.find(instruction.callee);
        if (callee == nullptr || depth_ >= kMostDepth) {  // it is being lowered: it calls itself
            found_.apart.fill(true);
            found_.block_memory = true;
            return;
        }
        std::vector<Line> lines;
        for (const ValueId operand : instruction.operands) lines.push_back(lines_[operand.index]);
        Uses(module_, *callee, globals_, found_, depth_ + 1).run(lines, weight);
    }

    // What uses what, from the end on, so that nothing counts of which nothing comes.
    void note_uses(const Region& region) {
        for (size_t i = region.body.size(); i-- > 0;) {
            const Instruction& each = region.body[i];
            const bool is_pure = each.opcode == Opcode::kApply || each.opcode == Opcode::kCast ||
                                 each.opcode == Opcode::kConstant || each.opcode == Opcode::kView;
            if (is_pure &&
                std::ranges::none_of(each.results, [&](ValueId result) { return is_used_[result.index]; }))
                continue;
            for (const Region& inner : each.regions) note_uses(inner);
            if (axis_of_position(each) < kAxes) continue;
            // Of what errors tell, thread and block are told apart when they are told.
            size_t operands = each.operands.size();
            if (each.opcode == Opcode::kCheck) operands = 1;
            if (each.opcode == Opcode::kRaise) operands = 0;
            for (size_t k = 0; k < operands; ++k) {
                if (each.opcode != Opcode::kCall || !is_handed_on(each, k))
                    is_used_[each.operands[k].index] = true;
            }
        }
    }

    // A call hands a thread's place on, as it is; what the callee does with it has been looked at.
    bool is_handed_on(const Instruction& call, size_t operand) const {
        const size_t last = call.operands.size() - operand;
        return last <= function_.parameters.size() - first_ &&
               call.operands[operand] == function_.parameters[function_.parameters.size() - last];
    }

    const ir::Module& module_;
    const Function& function_;
    const std::span<const GlobalArgument> globals_;
    ThreadUses& found_;
    const int depth_;
    size_t first_ = 0;  // of the parameters that tell a place
    std::vector<Line> lines_;
    std::vector<bool> is_used_;
    std::vector<const Instruction*> source_;
};

}  // namespace

ThreadUses find_thread_uses(const ir::Module& module, const Function& kernel,
                            std::span<const GlobalArgument> globals) {
    ThreadUses result;
    Uses(module, kernel, globals, result, 0).run({}, 1);
    return result;
}

}  // namespace weft::lang
