// Where loops of functions ask the host whether to go on, and which loops need not, since they end.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>

#include "codegen/cpu/function_lowering.h"
#include "codegen/runtime/spread.h"
#include "codegen/runtime/stopping/pause.h"

namespace weft::codegen {

using ir::Instruction;
using ir::Opcode;
using ir::ValueId;

namespace {

const Instruction* definition(const ir::Region& region, ValueId value) {
    for (const Instruction& each : region.body) {
        if (std::find(each.results.begin(), each.results.end(), value) != each.results.end()) return &each;
    }
    return nullptr;
}

// Whether the value is another one in each iteration.
bool is_of(const ir::Region& body, ValueId value) {
    return std::find(body.arguments.begin(), body.arguments.end(), value) != body.arguments.end() ||
           definition(body, value) != nullptr;
}

bool is_one_of(const Instruction* each, std::initializer_list<OpId> operations) {
    return each != nullptr && each->opcode == Opcode::kApply &&
           std::find(operations.begin(), operations.end(), each->op->id) != operations.end();
}

}  // namespace

// A number of the region that is still to be lowered, or of before it.
std::optional<int64_t> FunctionLowering::constant_in(const ir::Region& region, ValueId value) const {
    if (const Instruction* inside = definition(region, value)) {
        const bool is_number =
            inside->opcode == Opcode::kConstant &&
            (inside->constant.type == ScalarType::kInt64 || inside->constant.type == ScalarType::kUInt64);
        return is_number ? std::optional(inside->constant.as<int64_t>()) : std::nullopt;
    }
    const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(scalars_[value.index].parts[0]);
    return number == nullptr ? std::nullopt : std::optional(number->getSExtValue());
}

// Whether `condition` is that of `a and b`, whose first operand is a.
bool FunctionLowering::is_conjunction(const ir::Region& body, const Instruction* condition) const {
    if (is_one_of(condition, {OpId::kLogicalAnd})) return true;
    if (condition == nullptr || condition->opcode != Opcode::kIf) return false;
    const ir::Region& otherwise = condition->regions[1];
    if (!yields(otherwise) || otherwise.body.back().operands.size() != 1) return false;
    const ValueId value = otherwise.body.back().operands[0];
    const Instruction* inside = definition(otherwise, value);
    if (inside == nullptr) inside = definition(body, value);
    if (inside != nullptr) return inside->opcode == Opcode::kConstant && !inside->constant.as<bool>();
    const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(scalars_[value.index].parts[0]);
    return number != nullptr && number->isZero();
}

// Whether the variable of the body with this number is counted by a constant, upwards or not.
bool FunctionLowering::is_counted(const ir::Region& body, size_t number, bool upwards) const {
    // What has no sign may step over its end and go round.
    if (kernel_.type(body.arguments[number]).scalar == ScalarType::kUInt64) return false;
    const Instruction* step = definition(body, body.body.back().operands[number]);
    if (!is_one_of(step, {OpId::kAdd, OpId::kSubtract}) || step->operands[0] != body.arguments[number])
        return false;
    const std::optional<int64_t> amount = constant_in(body, step->operands[1]);
    return amount && *amount != 0 && upwards == ((*amount > 0) == (step->op->id == OpId::kAdd));
}

// Whether the variable loses its last bit in each iteration: `x &= x - 1`.
bool FunctionLowering::loses_bits(const ir::Region& body, size_t number) const {
    const Instruction* step = definition(body, body.body.back().operands[number]);
    if (!is_one_of(step, {OpId::kBitwiseAnd})) return false;
    const ValueId variable = body.arguments[number];
    const size_t other = step->operands[0] == variable ? 1 : 0;
    const Instruction* less = definition(body, step->operands[other]);
    return step->operands[1 - other] == variable && is_one_of(less, {OpId::kSubtract}) &&
           less->operands[0] == variable && constant_in(body, less->operands[1]) == 1;
}

// Whether the variable, which is not negative, is at most half in each iteration: `x >>= 1`, `x //= 10`.
bool FunctionLowering::is_divided(const ir::Region& body, size_t number) const {
    // What is never negative is divided without signs.
    const auto without_cast = [&](ValueId value) {
        const Instruction* cast = definition(body, value);
        return cast != nullptr && cast->opcode == Opcode::kCast ? cast->operands[0] : value;
    };
    const Instruction* step = definition(body, without_cast(body.body.back().operands[number]));
    if (!is_one_of(step, {OpId::kRightShift, OpId::kFloorDivide}) ||
        without_cast(step->operands[0]) != body.arguments[number])
        return false;
    const std::optional<int64_t> by = constant_in(body, without_cast(step->operands[1]));
    return by && *by >= (step->op->id == OpId::kFloorDivide ? 2 : 1) &&
           (step->op->id == OpId::kFloorDivide || *by < 64);
}

// Whether the loop goes on only while the variable is not 0 or above it, and it is soon: after 64 iterations.
bool FunctionLowering::is_used_up(const ir::Region& body, const Instruction& condition) const {
    const auto at = std::find(body.arguments.begin(), body.arguments.end(), condition.operands[0]);
    if (at == body.arguments.end()) return false;
    const auto number = static_cast<size_t>(at - body.arguments.begin());
    if (condition.opcode == Opcode::kCast)
        return kernel_.type(condition.results[0]).scalar == ScalarType::kBool && loses_bits(body, number);
    if (!is_one_of(&condition, {OpId::kNotEqual, OpId::kGreater, OpId::kGreaterEqual})) return false;
    const std::optional<int64_t> end = constant_in(body, condition.operands[1]);
    if (!end) return false;
    if (condition.op->id == OpId::kNotEqual) return *end == 0 && loses_bits(body, number);
    const bool is_positive = *end >= (condition.op->id == OpId::kGreater ? 0 : 1);
    return is_positive && (loses_bits(body, number) || is_divided(body, number));
}

// Whether a while loop is left where a variable that each iteration counts comes to an end:
// `while true do { %p = less %i, %n; if %p {} else { break }; ...; yield %i + 1 }`.
bool FunctionLowering::counts_to_its_end(const Instruction& loop) const {
    const ir::Region &test = loop.regions[0], &body = loop.regions[1];
    const std::vector<ValueId>& forwarded = test.body.back().operands;
    if (!yields(test) || !yields(body) ||
        !std::equal(test.arguments.begin(), test.arguments.end(), forwarded.begin() + 1, forwarded.end()))
        return false;
    for (const Instruction* exit : ir::exits_of(loop)) {
        if (exit->opcode == Opcode::kContinue) return false;
    }
    return std::any_of(body.body.begin(), body.body.end(), [&](const Instruction& each) {
        if (each.opcode != Opcode::kIf || yields(each.regions[1])) return false;
        // What is tested first: `a < b and ...` is a branch, which is false where that is.
        const Instruction* condition = definition(body, each.operands[0]);
        while (is_conjunction(body, condition)) condition = definition(body, condition->operands[0]);
        if (condition != nullptr && !condition->operands.empty() && is_used_up(body, *condition)) return true;
        const bool is_below = is_one_of(condition, {OpId::kLess, OpId::kLessEqual});
        if (!is_below && !is_one_of(condition, {OpId::kGreater, OpId::kGreaterEqual})) return false;
        for (size_t side = 0; side < 2; ++side) {
            const auto at =
                std::find(body.arguments.begin(), body.arguments.end(), condition->operands[side]);
            if (at == body.arguments.end()) continue;
            const auto number = static_cast<size_t>(at - body.arguments.begin());
            if (!constant_in(body, condition->operands[1 - side]) &&
                is_of(body, condition->operands[1 - side]))
                continue;  // an end that may move, too
            if (is_counted(body, number, is_below == (side == 0))) return true;
        }
        return false;
    });
}

namespace {

// How deep loops stand in each other; a call counts as one.
int loops_inside(const ir::Region& region) {
    int most = 0;
    for (const Instruction& each : region.body) {
        const bool is_loop = each.opcode == Opcode::kFor || each.opcode == Opcode::kWhile ||
                             each.opcode == Opcode::kCall || each.opcode == Opcode::kSpread;
        int inside = 0;
        for (const ir::Region& inner : each.regions) inside = std::max(inside, loops_inside(inner));
        most = std::max(most, inside + (is_loop ? 1 : 0));
    }
    return most;
}

}  // namespace

// Whether every iteration calls a function that counts its calls up to a pause.
bool FunctionLowering::always_calls(const ir::Region& body) const {
    const std::function<bool(const Instruction&)> continues = [&](const Instruction& each) {
        return each.opcode == Opcode::kContinue ||
               std::any_of(each.regions.begin(), each.regions.end(), [&](const ir::Region& inner) {
                   return std::any_of(inner.body.begin(), inner.body.end(), continues);
               });
    };
    for (const Instruction& each : body.body) {
        if (each.opcode == Opcode::kCall && !is_shared(each) && has_calls(find(each.callee).body))
            return true;
        if (continues(each)) return false;
    }
    return false;
}

// Loops around loops count iterations up to a pause, while loops as well. Others become vectors, and go over
// blocks of iterations.
KernelLowering::Pauses FunctionLowering::open_pauses(const Instruction& loop) {
    const bool is_for = loop.opcode == Opcode::kFor;
    // Inside of a loop that asks, only what may never end does so itself.
    const bool asks = has_pauses_ || !(is_for || counts_to_its_end(loop));
    if (kernel_.is_kernel || !asks || loop.lanes != 1 || always_calls(loop.regions.back())) return {};
    const auto constant = [&](size_t k) {
        const auto* value = llvm::dyn_cast<llvm::ConstantInt>(index(loop.operands[k]));
        return value == nullptr ? std::optional<int64_t>() : value->getSExtValue();
    };
    if (is_for && constant(0) && constant(1)) {  // a few iterations, or what was a branch
        constexpr int64_t kFew = 64;
        if (*constant(0) >= *constant(1) || *constant(1) - *constant(0) <= kFew) return {};
    }
    const int inside = loops_inside(loop.regions.back());
    Pauses pauses;
    if (is_for && inside == 0) {
        pauses.open = pauses.in_blocks = constant(2) == 1;
    } else {
        pauses.open = true;
        if (has_calls(loop.regions.back())) {
            share_pauses(pauses);
            return pauses;
        }
        constexpr uint64_t kFirst[] = {1024, 64, 1};
        for (llvm::Value** memory : {&pauses.left, &pauses.period}) {
            *memory = allocate_local(builder_.getInt64Ty(), llvm::Align(8), "pause");
            builder_.CreateStore(builder_.getInt64(kFirst[std::min(inside, 2)]), *memory);
        }
    }
    has_pauses_ = !pauses.open || callees_.pauses_often;
    return pauses;
}

void FunctionLowering::pause(const Pauses& pauses) {
    if (!pauses.open) return;
    llvm::BasicBlock* going_on = new_block("go.on");
    llvm::Value* period = builder_.getInt64(1);
    if (!pauses.in_blocks) {
        llvm::BasicBlock* asks = new_block("pause");
        llvm::Value* left =
            builder_.CreateSub(builder_.CreateLoad(builder_.getInt64Ty(), pauses.left), builder_.getInt64(1));
        builder_.CreateStore(left, pauses.left);
        builder_.CreateCondBr(builder_.CreateIsNotNull(left), going_on, asks,
                              llvm::MDBuilder(context_).createLikelyBranchWeights());
        builder_.SetInsertPoint(asks);
        period = builder_.CreateLoad(builder_.getInt64Ty(), pauses.period);
    }
    llvm::CallInst* next = builder_.CreateCall(declare_pause(module_), {period}, "period");
    next->setCallingConv(llvm::CallingConv::PreserveMost);
    if (!pauses.in_blocks) {
        builder_.CreateStore(next, pauses.left);
        builder_.CreateStore(next, pauses.period);
    }
    stop_unless(builder_.CreateIsNotNull(next));
    builder_.CreateBr(going_on);
    builder_.SetInsertPoint(going_on);
}

void FunctionLowering::stop_unless(llvm::Value* goes_on) {
    llvm::BasicBlock* stops = new_block("stop");
    go_on_if(goes_on, stops, "going.on");
    llvm::BasicBlock* going_on = builder_.GetInsertBlock();
    builder_.SetInsertPoint(stops);
    give_back(0);
    return_status(builder_.getInt64(kStopped), {});
    builder_.SetInsertPoint(going_on);
}

void FunctionLowering::close_pauses(const Pauses& pauses) { has_pauses_ |= pauses.open; }

}  // namespace weft::codegen
