// Kernels, with blocks of threads that share memory.
#include "support/ir_random_generator.h"

namespace weft::ir {

void RandomIr::block() {
    Values own_sizes;
    BufferType type{.space = AddressSpace::kShared};
    for (uint64_t rank = 1 + below(2); rank > 0; rank--) {
        const bool known = chance(2);
        type.sizes.push_back(known ? 1 + static_cast<int64_t>(below(5)) : kDynamic);
        block_sizes_.push_back(
            known ? b_->index(type.sizes.back())
                  : b_->apply(OpId::kAdd,
                              {b_->apply(OpId::kRemainder, {value(ScalarType::kInt64), b_->index(4)}),
                               b_->index(1)}));
        if (!known) own_sizes.push_back(block_sizes_.back());
    }
    for (uint64_t i = 1 + below(3); i > 0; i--) {
        type.element = pick(kTypes);
        type.alias_scope = next_scope_++;
        int64_t stride = DType::of(type.element).itemsize();
        type.strides.assign(type.sizes.size(), 0);
        for (size_t d = type.sizes.size(); d-- > 0;) {
            type.strides[d] = stride;
            stride = stride == kDynamic || type.sizes[d] == kDynamic ? kDynamic : stride * type.sizes[d];
        }
        shared_.push_back(b_->allocate(type, "shared", own_sizes));
    }
    modes_.assign(shared_.size(), {});
    b_->parallel(ParallelLevel::kBlock, block_sizes_, [&](Builder&, std::span<const ValueId> arguments) {
        thread_.assign(arguments.begin(), arguments.end());
        return scoped([&] { return block_body(); });
    });
    for (ValueId array : shared_) see(b_->load(array, any_element()));
    shared_.clear();
    block_sizes_.clear();
}

Values RandomIr::block_body() {
    in_block_ = true;
    std::erase_if(visible_, [&](ValueId value) { return b_->type(value).is_buffer; });
    uniform_ = visible_;
    std::erase_if(uniform_, [&](ValueId value) { return b_->type(value).scalar != ScalarType::kInt64; });
    visible_.insert(visible_.end(), thread_.begin(), thread_.end());
    for (ValueId array : shared_) b_->store(array, value(b_->type(array).scalar), thread_);
    barrier();
    for (int i = 0; i < 8; i++) block_statement(3);
    in_block_ = false;
    return {};
}

void RandomIr::block_statement(int depth) {
    uint64_t kind = below(12);
    if (kind <= 1) return barrier();
    if (kind == 2 && depth > 0) return for_around_barriers(depth);
    if (kind == 3 && depth > 0) return while_around_barriers(depth);
    if (kind == 4 && depth > 0) return if_around_barriers(depth);
    if (kind <= 7) return access_shared();
    if (kind == 8) return allocate();
    statement(2);
}

void RandomIr::barrier() {
    b_->barrier();
    for (size_t i = 0; i < modes_.size(); i++) {
        const DType element(b_->type(shared_[i]).scalar);
        constexpr std::string_view kOps[] = {"add",     "multiply",    "maximum",
                                             "minimum", "bitwise_and", "bitwise_xor"};
        modes_[i].kind = static_cast<Mode::Kind>(below(element.is_integer() ? 3 : 2));
        modes_[i].op = find_op(pick(kOps));
    }
}

Values RandomIr::any_element() {
    Values indices;
    for (ValueId size : block_sizes_)
        indices.push_back(b_->apply(OpId::kRemainder, {value(ScalarType::kInt64), size}));
    return indices;
}

void RandomIr::access_shared() {
    const size_t which = below(shared_.size());
    const ValueId array = shared_[which];
    const ScalarType type = b_->type(array).scalar;
    budget_--;
    switch (modes_[which].kind) {
        case Mode::kRead:
            if (chance(3)) {
                Values first(block_sizes_.size(), b_->index(0));
                const ValueId common = see(b_->load(array, first));
                if (type == ScalarType::kInt64) uniform_.push_back(common);
            } else {
                see(b_->load(array, any_element()));
            }
            break;
        case Mode::kOwn:
            if (chance(3) || !may_write_) {
                see(b_->load(array, thread_));
            } else {
                b_->store(array, value(type), thread_);
            }
            break;
        case Mode::kAtomic:
            if (!may_write_) break;
            const ValueId by = value(type);
            b_->atomic(*modes_[which].op, array, by, any_element(), pick(kOrders), pick(kScopes));
            break;
    }
}

ValueId RandomIr::uniform() {
    return chance(3) || uniform_.empty() ? b_->index(static_cast<int64_t>(below(5)) - 1) : pick(uniform_);
}

ValueId RandomIr::few(int64_t limit) { return b_->apply(OpId::kRemainder, {uniform(), b_->index(limit)}); }

// Statements that end with what the shared arrays were used for at the start.
void RandomIr::statements_with_barriers(int depth, const Modes& start) {
    for (uint64_t i = below(4); i > 0; i--) block_statement(depth - 1);
    b_->barrier();
    modes_ = start;
}

void RandomIr::see_uniform(ValueId value) {
    see(value);
    uniform_.push_back(value);
}

void RandomIr::for_around_barriers(int depth) {
    const Modes start = modes_;
    Values initials{uniform()};
    for (uint64_t i = below(3); i > 0; i--) initials.push_back(value(pick(kTypes)));
    const ValueId upper = few(4);
    const Values results = b_->for_loop(
        b_->index(0), upper, b_->index(1), initials, [&](Builder&, std::span<const ValueId> arguments) {
            Values carried(arguments.begin(), arguments.end());
            return scoped([&] {
                visible_.insert(visible_.end(), carried.begin(), carried.end());
                uniform_.insert(uniform_.end(), carried.begin(), carried.begin() + 2);
                statements_with_barriers(depth, start);
                Values yields{uniform()};
                // Rather what was carried, in another order.
                for (size_t i = 2; i < carried.size(); i++) {
                    const ValueId other = carried[2 + below(carried.size() - 2)];
                    const bool same = b_->type(other) == b_->type(carried[i]);
                    yields.push_back(same && chance(2) ? other : value(b_->type(carried[i]).scalar));
                }
                return yields;
            });
        });
    see(results);
    uniform_.push_back(results[0]);
}

void RandomIr::while_around_barriers(int depth) {
    const Modes start = modes_;
    const Values initials{few(4), value(pick(kTypes))};
    const ScalarType forwarded = pick(kTypes);
    const Values results = b_->while_loop(
        initials,
        [&](Builder&, std::span<const ValueId> arguments) {
            Values carried(arguments.begin(), arguments.end());
            return scoped([&] {
                see_uniform(carried[0]);
                see(carried[1]);
                statements_with_barriers(depth, start);
                return Values{b_->apply(OpId::kGreater, {carried[0], b_->index(0)}), carried[0],
                              value(forwarded), carried[1]};
            });
        },
        [&](Builder&, std::span<const ValueId> arguments) {
            Values carried(arguments.begin(), arguments.end());
            return scoped([&] {
                see_uniform(carried[0]);
                see(Values{carried[1], carried[2]});
                statements_with_barriers(depth, start);
                return Values{b_->apply(OpId::kSubtract, {carried[0], b_->index(1)}),
                              value(b_->type(carried[2]).scalar)};
            });
        });
    see(results);
    uniform_.push_back(results[0]);
}

void RandomIr::if_around_barriers(int depth) {
    const Modes start = modes_;
    const ScalarType type = pick(kTypes);
    const ValueId condition = b_->apply(OpId::kLess, {uniform(), few(3)});
    const auto branch = [&](Builder&, std::span<const ValueId>) {
        return scoped([&] {
            if (!chance(3)) statements_with_barriers(depth, start);
            return Values{uniform(), value(type)};
        });
    };
    const Values results = b_->if_else(condition, branch, branch);
    see(results);
    uniform_.push_back(results[0]);
}

Module RandomIr::run() {
    Module module;
    if (options_.calls) {
        for (int i = 0; i < 2; i++) module.functions.push_back(callee("f" + std::to_string(i)));
    }
    callees_ = &module.functions;
    Builder builder("random");
    b_ = &builder;
    const ValueId n = parameters(builder);
    builder.parallel(ParallelLevel::kGrid, std::array{n}, [&](Builder&, std::span<const ValueId> arguments) {
        point_ = arguments[0];
        visible_.push_back(point_);
        budget_ = options_.instructions;
        while (budget_ > 0) statement(3);
        for (uint64_t i = options_.blocks ? 1 + below(2) : 0; i > 0; i--) block();
        for (size_t i = 0; i < outputs_.size(); i++) {
            b_->store(outputs_[i], value(kBufferTypes[i]), std::array{point_});
        }
        return Values{};
    });
    module.functions.push_back(builder.finish());
    return module;
}

}  // namespace weft::ir
