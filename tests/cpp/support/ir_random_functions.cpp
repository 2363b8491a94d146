// What only functions have: calls, errors, memory of their own, buffers as values.
#include <algorithm>

#include "support/ir_random_generator.h"

namespace weft::ir {

Function RandomIr::callee(const std::string& name) {
    Builder builder(name);
    b_ = &builder;
    visible_ = {builder.parameter(Type::of(ScalarType::kFloat64), "x"),
                builder.parameter(Type::of(ScalarType::kInt64), "k")};
    returned_ = {Type::of(ScalarType::kFloat64), Type::of(ScalarType::kInt32)};
    if (has_buffers_) {
        BufferType buffer{.element = ScalarType::kFloat64, .alias_scope = 40, .readonly = true};
        buffer.strides = {kDynamic};
        inputs_ = {builder.parameter(Type::of(buffer), "b")};
        returned_.push_back(Type::of(buffer));
        view();
        load();
        if (chance(2)) call_itself(name);
    }
    budget_ = 5;
    may_return_ = true;
    while (budget_ > 0) statement(2);
    may_return_ = false;
    Function function = builder.finish(values(returned_));
    inputs_.clear();
    returned_.resize(2);
    return function;
}

// With a smaller %k, if that is not 0.
void RandomIr::call_itself(const std::string& name) {
    const ValueId k = b_->apply(OpId::kRemainder, {visible_[1], b_->index(4)});
    const Values given{visible_[0], b_->apply(OpId::kSubtract, {k, b_->index(1)}), inputs_[0]};
    const auto calls = [&](Builder&, std::span<const ValueId>) { return b_->call(name, returned_, given); };
    const auto does_not = [&](Builder&, std::span<const ValueId>) {
        return scoped([&] { return values(returned_); });
    };
    for (const ValueId result : b_->if_else(b_->apply(OpId::kGreater, {k, b_->index(0)}), calls, does_not)) {
        if (b_->type(result).is_buffer) {
            visible_.push_back(result);
        } else {
            see(result);
        }
    }
}

// Other ways to see a buffer's elements: from the end, as a matrix, as other numbers. Of outputs that
// would show what a NaN's bits are.
void RandomIr::view() {
    const bool may_write = has_buffers_ && may_write_ && !outputs_.empty();  // points of a grid would race
    const ValueId base = may_write && chance(2) ? pick(outputs_) : pick(inputs_);
    BufferType type = b_->type(base).buffer;
    const int64_t itemsize = DType::of(type.element).itemsize();
    const bool reads = type.readonly;
    type.readonly |= chance(4);
    const uint64_t kind = below(4);
    if (kind == 0 && reads && type.element == ScalarType::kFloat64) {
        type.element = ScalarType::kInt32;
        type.strides = {chance(2) ? 4 : kDynamic};
        Values strides;
        if (type.strides[0] == kDynamic) strides = {b_->index(4)};
        visible_.push_back(b_->view(base, type, b_->index(0), strides));
    } else if (kind == 1) {
        type.strides = {kDynamic, 0};
        const ValueId matrix = b_->view(base, type, b_->index(0), Values{b_->index(itemsize)});
        see(b_->load(matrix, Values{index(), value(ScalarType::kInt64)}));
    } else if (kind == 2) {
        type.strides[0] = kDynamic;
        visible_.push_back(b_->view(base, type, b_->index(0)));
    } else {
        type.strides[0] = kDynamic;
        const ValueId last = b_->index((kSize - 1) * itemsize);
        visible_.push_back(b_->view(base, type, last, Values{b_->index(-itemsize)}));
    }
    budget_ -= 2;
}

// Memory of the function's own, filled before it is seen, of the type of an output that may have any
// stride.
void RandomIr::heap() {
    BufferType type = b_->type(outputs_.back()).buffer;
    for (ValueId output : outputs_) {
        if (b_->type(output).buffer.strides[0] == kDynamic) type = b_->type(output).buffer;
    }
    const int64_t itemsize = DType::of(type.element).itemsize();
    Values strides;
    if (type.strides[0] == kDynamic) strides = {b_->index(itemsize)};
    auto block = b_->heap(type, b_->index(kSize * itemsize), strides, 77);
    const ValueId fill = value(type.element);
    b_->for_loop(b_->index(0), b_->index(kSize), b_->index(1), {},
                 [&](Builder&, std::span<const ValueId> arguments) {
                     b_->store(block.buffer, fill, std::array{arguments[0]});
                     return Values{};
                 });
    if (chance(3)) block = b_->heap(type, b_->index((kSize + 3) * itemsize), strides, 77, {}, block.owner);
    if (chance(3)) block.buffer = b_->memory(type, b_->address(block.buffer), strides);
    visible_.push_back(block.buffer);
    if (chance(4)) return hold(block.owner, block.buffer);
    if (chance(2)) {
        b_->retain(block.owner);
        b_->release(block.owner);
    }
    if (chance(3)) {  // nobody sees this one any more
        b_->release(block.owner);
        visible_.pop_back();
    }
    budget_ -= 3;
}

// Other memory has the owner: with that it goes, unless it has another user.
void RandomIr::hold(ValueId owner, ValueId buffer) {
    BufferType words{.element = ScalarType::kInt64, .alias_scope = kHolders, .strides = {8}};
    const bool grows = chance(2);
    auto holder = b_->heap(words, b_->index(24), {}, 77, {8, 8, 1});
    b_->store(holder.buffer, owner, std::array{b_->index(1)});
    if (grows) holder = b_->heap(words, b_->index(40), {}, 77, {8, 8, 1}, holder.owner);
    see(b_->apply(OpId::kEqual, {b_->load(holder.buffer, std::array{b_->index(1)}), b_->index(0)}));
    see(b_->load(holder.buffer, std::array{b_->index(grows ? 4 : 2)}));
    if (chance(2)) b_->retain(owner);
    if (chance(3)) {
        b_->release(holder.owner);
        std::erase(visible_, buffer);
    }
}

// Iterations that run at any time: each writes its own element of %out, and reads %in anywhere.
Function RandomIr::chunk(const std::string& name) {
    const RandomKernelOptions options = options_;
    options_.calls = may_tell_ = has_buffers_ = false;
    may_raise_ = chance(4);
    Builder builder(name);
    b_ = &builder;
    visible_.clear();
    for (const char* number : {"number", "from", "to"})
        visible_.push_back(builder.parameter(Type::of(ScalarType::kInt64), number));
    const ValueId from = visible_[1], to = visible_[2];
    visible_.push_back(builder.parameter(Type::of(ScalarType::kFloat64), "x"));
    BufferType buffer{.element = ScalarType::kFloat64, .alias_scope = 40, .readonly = true};
    buffer.strides = {kDynamic};
    inputs_ = {builder.parameter(Type::of(buffer), "in")};
    buffer.readonly = false;
    buffer.alias_scope = 41;
    outputs_ = {builder.parameter(Type::of(buffer), "out")};
    returned_.clear();
    may_return_ = true;
    budget_ = 8;
    builder.for_loop(from, to, builder.index(1), {}, [&](Builder&, std::span<const ValueId> arguments) {
        point_ = arguments[0];
        return scoped([&] {
            visible_.push_back(point_);
            while (budget_ > 0) statement(2);
            b_->store(outputs_[0], value(ScalarType::kFloat64), std::array{point_});
            return Values{};
        });
    });
    builder.return_values({});
    Function function = builder.finish_function({});
    inputs_.clear();
    outputs_.clear();
    returned_ = {Type::of(ScalarType::kFloat64), Type::of(ScalarType::kInt32)};
    options_ = options;
    may_return_ = false;
    may_raise_ = may_tell_ = has_buffers_ = true;
    return function;
}

void RandomIr::spread() {
    Values arguments{value(ScalarType::kFloat64)};
    for (const Values* list : {&inputs_, &outputs_}) {
        arguments.push_back(*std::ranges::find_if(
            *list, [&](ValueId buffer) { return b_->type(buffer).scalar == ScalarType::kFloat64; }));
    }
    const auto below_limit = [&](int64_t limit) {
        return b_->apply(OpId::kRemainder, {value(ScalarType::kInt64), b_->index(limit)});
    };
    b_->spread(pick(chunks_).name, below_limit(kSize + 1), below_limit(6), arguments);
    budget_ -= 2;
}

void RandomIr::call() {
    const Function& function = pick(*callees_);
    Values arguments{value(ScalarType::kFloat64), value(ScalarType::kInt64)};
    if (has_buffers_) {
        for (ValueId input : inputs_) {
            if (b_->type(input).scalar == ScalarType::kFloat64) arguments.push_back(input);
        }
    }
    const bool gives_buffers =
        std::ranges::any_of(function.result_types, [](const Type& type) { return type.is_buffer; });
    if (!function.is_kernel && may_raise_ && !gives_buffers && chance(3))
        return call_catching(function, arguments);
    for (const ValueId result : b_->call(function, arguments)) {
        if (b_->type(result).is_buffer) {
            visible_.push_back(result);
        } else {
            see(result);
        }
    }
}

// What an error leaves of the results is not looked at.
void RandomIr::call_catching(const Function& function, const Values& arguments) {
    Values results = b_->call_catching(function.name, function.result_types, arguments);
    const ValueId error = results[0], fine = b_->apply(OpId::kEqual, {error, b_->index(0)});
    see(error);
    for (size_t i = 1; i < results.size(); ++i) {
        const ScalarType type = b_->type(results[i]).scalar;
        see(b_->apply(OpId::kSelect, {fine, results[i], b_->constant({type, {}})}));
    }
    if (!chance(4)) return;
    b_->if_else(
        fine, [](Builder&, std::span<const ValueId>) { return Values{}; },
        [&](Builder&, std::span<const ValueId>) {
            b_->raise_again(error);
            return Values{};
        });
}

bool RandomIr::callees_raise() const {
    return std::ranges::any_of(*callees_, [](const Function& callee) { return raises(callee.body); });
}

bool RandomIr::raises(const Region& region) {
    return std::ranges::any_of(region.body, [](const Instruction& instruction) {
        return instruction.opcode == Opcode::kCheck || instruction.opcode == Opcode::kRaise ||
               instruction.opcode == Opcode::kHeap || instruction.opcode == Opcode::kTell ||
               std::ranges::any_of(instruction.regions, raises);
    });
}

Module RandomIr::run_function() {
    may_raise_ = true;
    options_.views = has_buffers_ = true;
    Module module;
    if (options_.calls) {
        for (int i = 0; i < 2; i++) module.functions.push_back(callee("f" + std::to_string(i)));
    }
    callees_ = &module.functions;
    std::vector<Function> chunks;
    if (options_.calls) {
        for (int i = 0; i < 2; i++) chunks.push_back(chunk("chunk" + std::to_string(i)));
    }
    chunks_ = std::move(chunks);  // only the function itself spreads
    Builder builder("random");
    b_ = &builder;
    parameters(builder);
    point_ = builder.index(3);
    budget_ = options_.instructions;
    may_return_ = true;
    while (budget_ > 0) statement(3);
    for (size_t i = 0; i < outputs_.size(); i++)
        builder.store(outputs_[i], value(kBufferTypes[i]), std::array{point_});
    Function function = builder.finish({value(ScalarType::kFloat64), value(ScalarType::kInt32)});
    for (Function& each : chunks_) module.functions.push_back(std::move(each));
    module.functions.push_back(std::move(function));
    return module;
}

}  // namespace weft::ir
