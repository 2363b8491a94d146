#include "support/ir_random.h"

#include <cstring>

#include "support/ir_random_generator.h"

namespace weft::ir {

ValueId RandomIr::parameters(Builder& builder) {
    const ValueId n = builder.parameter(Type::of(ScalarType::kInt64), "n");
    for (ScalarType type : kBufferTypes) {
        BufferType buffer{.element = type, .readonly = true};
        buffer.strides = {chance(2) ? kDynamic : DType::of(type).itemsize()};
        inputs_.push_back(builder.parameter(Type::of(buffer), "in_" + std::string(scalar_name(type))));
        buffer.readonly = false;
        buffer.alias_scope = static_cast<uint16_t>(outputs_.size() + 1);
        outputs_.push_back(builder.parameter(Type::of(buffer), "out_" + std::string(scalar_name(type))));
    }
    visible_ = {n};
    return n;
}

Constant RandomIr::constant(ScalarType type) {
    Constant result;
    result.type = type;
    size_t size = static_cast<size_t>(DType::of(type).itemsize());
    uint64_t bits[2] = {random_(), random_()};
    if (type == ScalarType::kBool) {
        bits[0] &= 1;
    } else if (!chance(6)) {  // mostly small numbers, else any bits: NaNs, infinities, denormals
        int64_t small = static_cast<int64_t>(below(9)) - 3;
        Constant from = Constant::of(ScalarType::kInt64, small);
        char* data[] = {reinterpret_cast<char*>(from.bytes.data()),
                        reinterpret_cast<char*>(result.bytes.data())};
        int64_t strides[] = {0, 0};
        cast_loop(ScalarType::kInt64, type).loop(data, strides, 1);
        return result;
    }
    std::memcpy(result.bytes.data(), bits, size);
    return result;
}

ValueId RandomIr::see(ValueId value) {
    visible_.push_back(value);
    budget_--;
    if (chance(4)) b_->set_name(value, std::string(1, static_cast<char>('a' + below(26))));
    return value;
}

void RandomIr::see(const Values& values) {
    for (ValueId value : values) see(value);
}

// Some value of the type; rather a late one, so that results depend on much.
ValueId RandomIr::value(ScalarType type) {
    for (int tries = 0; tries < 12; tries++) {
        ValueId candidate = recent();
        if (b_->type(candidate) == Type::of(type)) return candidate;
    }
    for (int tries = 0; tries < 3 && !chance(3); tries++) {
        ValueId any = recent();
        if (!b_->type(any).is_buffer) return see(b_->cast(any, type));
    }
    return see(b_->constant(constant(type)));
}

// Buffers of the type: there is one at least.
ValueId RandomIr::value(const Type& type) {
    if (!type.is_buffer) return value(type.scalar);
    Values found;
    for (const Values* list : {&inputs_, &outputs_, &visible_}) {
        for (ValueId candidate : *list) {
            if (b_->type(candidate) == type) found.push_back(candidate);
        }
    }
    return pick(found);
}

Values RandomIr::values(const std::vector<Type>& types) {
    Values found;
    for (const Type& type : types) found.push_back(value(type));
    return found;
}

// Of what is carried.
Type RandomIr::some_type() {
    if (has_buffers_ && may_write_ && !inputs_.empty() && chance(4))
        return b_->type(outputs_.empty() || chance(2) ? pick(inputs_) : pick(outputs_));
    return Type::of(pick(kTypes));
}

ValueId RandomIr::recent() {
    return chance(3) ? pick(visible_)
                     : visible_[visible_.size() - 1 - below(std::min<size_t>(visible_.size(), 6))];
}

ValueId RandomIr::index() {
    return b_->apply(OpId::kRemainder,
                     {value(ScalarType::kInt64), b_->index(kSize)});  // not negative, as in NumPy
}

void RandomIr::apply() {
    const OpInfo& op = op_table()[below(op_table().size())];
    if (!options_.nan_signs && (op.id == OpId::kSignbit || op.id == OpId::kCopysign)) return;
    if (op.loops.empty() || op.flags.checks_negative_exponent) return;
    const LoopInfo& loop = op.loops[below(op.loops.size())];
    Values operands;
    for (ScalarType type : op.input_types(loop)) operands.push_back(value(type));
    see(b_->apply_multiple(op, operands));
}

// A loop of at most four iterations.
void RandomIr::for_loop(int depth) {
    ValueId upper = b_->apply(OpId::kRemainder, {value(ScalarType::kInt64), b_->index(5)});
    Values initials;
    for (uint64_t i = below(3); i > 0; i--) initials.push_back(value(some_type()));
    const ValueId lower = b_->index(static_cast<int64_t>(below(3)) - 1);
    const ValueId step = b_->index(1 + static_cast<int64_t>(below(2)));
    loops_.push_back({types_of(initials), types_of(initials), {}});
    b_->set_loop_site(static_cast<uint32_t>(below(3)));
    Values results =
        b_->for_loop(lower, upper, step, initials, [&](Builder&, std::span<const ValueId> arguments) {
            Values copied(arguments.begin(), arguments.end());
            return scoped([&] { return body(copied, 1, copied.size(), depth); });
        });
    loops_.pop_back();
    see(results);
}

std::vector<Type> RandomIr::types_of(const Values& values) const {
    std::vector<Type> types;
    for (ValueId value : values) types.push_back(b_->type(value));
    return types;
}

// Leaves a loop, goes on with its next iteration, or returns from the function.
void RandomIr::leave() {
    for (uint64_t i = below(3); i > 0; i--) statement(0);
    if (may_raise_ && chance(6))
        return b_->raise(static_cast<uint32_t>(below(100)), {value(pick(kTypes)), value(pick(kTypes))});
    if (loops_.empty() || (may_return_ && chance(3))) return b_->return_values(values(returned_));
    const size_t depth = below(loops_.size());
    const Loop& loop = loops_[loops_.size() - 1 - depth];
    if (chance(2)) return b_->break_loop(values(loop.results), static_cast<int>(depth));
    Values carried = values(loop.carried);
    // It has to end.
    if (loop.left.valid()) carried[0] = b_->apply(OpId::kSubtract, {loop.left, b_->index(1)});
    b_->continue_loop(std::move(carried), static_cast<int>(depth));
}

// Some statements; yields values of the types of arguments from … to.
Values RandomIr::body(const Values& arguments, size_t from, size_t to, int depth) {
    visible_.insert(visible_.end(), arguments.begin(), arguments.end());
    for (uint64_t i = below(4); i > 0; i--) statement(depth - 1);
    Values yields;
    for (size_t i = from; i < to; i++) yields.push_back(value(b_->type(arguments[i])));
    return yields;
}

void RandomIr::while_loop(int depth) {
    Values initials{b_->index(static_cast<int64_t>(below(4))), value(some_type())};
    std::vector<Type> forwarded;
    b_->set_loop_site(static_cast<uint32_t>(below(3)));
    see(b_->while_loop(
        initials,
        [&](Builder&, std::span<const ValueId> arguments) {
            Values copied(arguments.begin(), arguments.end());
            return scoped([&] {
                Values yields{b_->apply(OpId::kGreater, {copied[0], b_->index(0)}), copied[0]};
                visible_.push_back(copied[1]);
                yields.push_back(value(some_type()));
                yields.push_back(copied[1]);
                forwarded = types_of(Values(yields.begin() + 1, yields.end()));
                return yields;
            });
        },
        [&](Builder&, std::span<const ValueId> arguments) {
            Values copied(arguments.begin(), arguments.end());
            loops_.push_back({forwarded, types_of(initials), copied[0]});
            Values yields = scoped([&] {
                ValueId next = b_->apply(OpId::kSubtract, {copied[0], b_->index(1)});
                Values both{next};
                Values rest = body(copied, 2, 3, depth);
                both.push_back(rest[0]);
                return both;
            });
            loops_.pop_back();
            return yields;
        }));
}

void RandomIr::if_else(int depth) {
    Values types;
    std::vector<Type> results;
    for (uint64_t i = below(3); i > 0; i--) results.push_back(some_type());
    ValueId condition = value(ScalarType::kBool);
    const bool leaves = (!loops_.empty() || may_return_) && chance(2);
    const int leaving = leaves ? static_cast<int>(below(2)) : -1;
    const auto branch = [&](int side) {
        return [&, side](Builder&, std::span<const ValueId>) {
            return scoped([&] {
                Values yields;
                if (side == leaving) {
                    leave();
                    return yields;
                }
                for (uint64_t i = below(4); i > 0; i--) statement(depth - 1);
                for (const Type& type : results) yields.push_back(value(type));
                return yields;
            });
        };
    };
    see(b_->if_else(condition, branch(0), branch(1), !chance(4)));
}

void RandomIr::reduce(int depth) {
    Values initials;
    for (uint64_t i = 1 + below(2); i > 0; i--) initials.push_back(value(pick(kTypes)));
    int64_t lanes = int64_t{1} << below(4);
    int64_t block = chance(3) ? 0 : chance(3) ? 1 : lanes * (1 + static_cast<int64_t>(below(3)));
    if (block == 1) lanes = 1;
    ValueId size = b_->apply(OpId::kRemainder, {value(ScalarType::kInt64), b_->index(40)});
    bool stores = std::exchange(may_write_, false);
    const bool returns = std::exchange(may_return_, false), raises = std::exchange(may_raise_, false);
    const std::vector<Loop> around = std::exchange(loops_, {});
    see(b_->reduce(
        size, initials, lanes, block,
        [&](Builder&, std::span<const ValueId> arguments) {
            ValueId i = arguments[0];
            return scoped([&] {
                visible_.push_back(i);
                for (uint64_t k = below(4); k > 0; k--) statement(depth - 1);
                Values yields;
                for (ValueId initial : initials) yields.push_back(value(b_->type(initial).scalar));
                return yields;
            });
        },
        [&](Builder&, std::span<const ValueId> arguments) {
            Values copied(arguments.begin(), arguments.end());
            return scoped([&] { return body(copied, 0, initials.size(), 0); });
        }));
    may_write_ = stores;
    may_return_ = returns;
    may_raise_ = raises;
    loops_ = around;
}

// A local array, filled before it is seen.
void RandomIr::allocate() {
    ScalarType element = pick(kTypes);
    BufferType type{.element = element, .space = AddressSpace::kLocal, .alias_scope = next_scope_++};
    type.strides = {DType::of(element).itemsize()};
    type.sizes = {kSize};
    ValueId array = b_->allocate(type, "array");
    ValueId fill = value(element);
    b_->for_loop(b_->index(0), b_->index(kSize), b_->index(1), {},
                 [&](Builder&, std::span<const ValueId> arguments) {
                     b_->store(array, fill, std::array{arguments[0]});
                     return Values{};
                 });
    visible_.push_back(array);
    budget_ -= 3;
}

void RandomIr::load() {
    if (in_block_ && chance(2)) return access_shared();
    ValueId buffer = pick(inputs_);
    for (ValueId candidate : visible_) {
        if (b_->type(candidate).is_buffer && chance(2)) buffer = candidate;
    }
    if (chance(4)) {
        ValueId otherwise = value(b_->type(buffer).scalar);
        see(b_->load_if(buffer, std::array{index()}, value(ScalarType::kBool), otherwise));
    } else {
        see(b_->load(buffer, std::array{index()}));
    }
}

void RandomIr::store() {
    if (!may_write_) return;
    if (in_block_ && chance(2)) return access_shared();
    ValueId buffer = in_block_ ? ValueId{} : pick(outputs_);  // the block's threads would race
    ValueId at = point_;
    // By number, since index() adds values.
    for (size_t i = 0, count = visible_.size(); i < count; i++) {
        const ValueId candidate = visible_[i];
        if (b_->type(candidate).is_buffer && !b_->type(candidate).buffer.readonly && chance(2)) {
            buffer = candidate;
            at = index();
        }
    }
    if (!buffer.valid()) return;
    ValueId stored = value(b_->type(buffer).scalar);
    if (chance(3)) {
        b_->store_if(buffer, stored, std::array{at}, value(ScalarType::kBool));
    } else {
        b_->store(buffer, stored, std::array{at});
    }
    budget_--;
}

void RandomIr::statement(int depth) {
    budget_--;
    uint64_t kind = below(20);
    bool in_kernel = callees_ != nullptr;
    if (depth > 0 && kind == 0) return for_loop(depth);
    if (depth > 0 && (kind == 1 || (kind == 13 && !loops_.empty()))) return if_else(depth);
    if (depth > 0 && kind == 2) return while_loop(depth);
    if (depth > 0 && kind == 3 && options_.reductions) return reduce(depth);
    if (in_kernel && kind == 4 && may_write_ && has_buffers_ && chance(2)) return heap();
    if (in_kernel && kind == 4 && may_write_) return allocate();
    if (in_kernel && kind == 5 && options_.views && chance(2)) return view();
    if (in_kernel && kind <= 8) return load();
    if (in_kernel && kind <= 10) return store();
    if (in_kernel && kind == 11 && options_.calls && (may_raise_ || !callees_raise())) return call();
    if (kind == 14 && may_raise_ && chance(3)) {
        const ValueId holds =
            b_->apply(OpId::kLogicalOr, {value(ScalarType::kBool), value(ScalarType::kBool)});
        return b_->check(holds, static_cast<uint32_t>(below(100)),
                         Values{value(pick(kTypes)), value(pick(kTypes))});
    }
    if (kind == 15 && may_raise_ && may_tell_ && chance(3))
        return b_->tell(static_cast<uint32_t>(below(100)), Values{value(pick(kTypes)), value(pick(kTypes))});
    if (kind == 16 && may_return_ && may_write_ && !chunks_.empty()) return spread();
    if (kind == 12) return static_cast<void>(see(b_->cast(value(pick(kTypes)), pick(kTypes))));
    apply();
}

Module random_kernel(uint64_t seed, const RandomKernelOptions& options) {
    return RandomIr(seed, options).run();
}

Module random_function(uint64_t seed, const RandomKernelOptions& options) {
    return RandomIr(seed, options).run_function();
}

bool chunks_raise(const Module& module) {
    return std::ranges::any_of(module.functions, [](const Function& function) {
        return function.name.starts_with("chunk") && RandomIr::raises(function.body);
    });
}

}  // namespace weft::ir
