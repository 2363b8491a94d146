#include "support/ir_random.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "ir/builder.h"

namespace weft::ir {
namespace {

constexpr uint16_t kHolders = 900;  // the scope of memory that has owners in it
constexpr int64_t kSize = 19;       // elements of every buffer: two AVX-512 vectors of f64 and a rest

constexpr ScalarType kTypes[] = {ScalarType::kBool,    ScalarType::kInt8,      ScalarType::kUInt8,
                                 ScalarType::kInt32,   ScalarType::kInt64,     ScalarType::kUInt64,
                                 ScalarType::kFloat16, ScalarType::kBFloat16,  ScalarType::kFloat32,
                                 ScalarType::kFloat64, ScalarType::kComplex64, ScalarType::kComplex128};
constexpr ScalarType kBufferTypes[] = {ScalarType::kBool,    ScalarType::kInt32,   ScalarType::kInt64,
                                       ScalarType::kFloat32, ScalarType::kFloat64, ScalarType::kComplex128};

using Values = std::vector<ValueId>;

class Generator {
public:
    Generator(uint64_t seed, const RandomKernelOptions& options) : random_(seed), options_(options) {}

    Module run() {
        Module module;
        if (options_.calls) {
            for (int i = 0; i < 2; i++) module.functions.push_back(callee("f" + std::to_string(i)));
        }
        callees_ = &module.functions;
        Builder builder("random");
        b_ = &builder;
        const ValueId n = parameters(builder);
        builder.parallel(ParallelLevel::kGrid, std::array{n},
                         [&](Builder&, std::span<const ValueId> arguments) {
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

    Module run_function() {
        may_raise_ = true;
        options_.views = has_buffers_ = true;
        Module module;
        if (options_.calls) {
            for (int i = 0; i < 2; i++) module.functions.push_back(callee("f" + std::to_string(i)));
        }
        callees_ = &module.functions;
        Builder builder("random");
        b_ = &builder;
        parameters(builder);
        point_ = builder.index(3);
        budget_ = options_.instructions;
        may_return_ = true;
        while (budget_ > 0) statement(3);
        for (size_t i = 0; i < outputs_.size(); i++)
            builder.store(outputs_[i], value(kBufferTypes[i]), std::array{point_});
        module.functions.push_back(builder.finish({value(ScalarType::kFloat64), value(ScalarType::kInt32)}));
        return module;
    }

private:
    ValueId parameters(Builder& builder) {
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

    uint64_t below(uint64_t n) { return random_() % n; }
    bool chance(uint64_t n) { return below(n) == 0; }
    template <class List>
    auto pick(const List& list) {
        return list[below(std::size(list))];
    }

    Function callee(const std::string& name) {
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

    // Whatever is defined by `body` is out of sight afterwards.
    template <class Body>
    auto scoped(const Body& body) {
        Values outer = visible_, outer_uniform = uniform_;
        auto result = body();
        visible_ = outer;
        uniform_ = outer_uniform;
        return result;
    }

    // With a smaller %k, if that is not 0.
    void call_itself(const std::string& name) {
        const ValueId k = b_->apply(OpId::kRemainder, {visible_[1], b_->index(4)});
        const Values given{visible_[0], b_->apply(OpId::kSubtract, {k, b_->index(1)}), inputs_[0]};
        const auto calls = [&](Builder&, std::span<const ValueId>) {
            return b_->call(name, returned_, given);
        };
        const auto does_not = [&](Builder&, std::span<const ValueId>) {
            return scoped([&] { return values(returned_); });
        };
        for (const ValueId result :
             b_->if_else(b_->apply(OpId::kGreater, {k, b_->index(0)}), calls, does_not)) {
            if (b_->type(result).is_buffer) {
                visible_.push_back(result);
            } else {
                see(result);
            }
        }
    }

    Constant constant(ScalarType type) {
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

    ValueId see(ValueId value) {
        visible_.push_back(value);
        budget_--;
        if (chance(4)) b_->set_name(value, std::string(1, static_cast<char>('a' + below(26))));
        return value;
    }
    void see(const Values& values) {
        for (ValueId value : values) see(value);
    }

    // Some value of the type; rather a late one, so that results depend on much.
    ValueId value(ScalarType type) {
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
    ValueId value(const Type& type) {
        if (!type.is_buffer) return value(type.scalar);
        Values found;
        for (const Values* list : {&inputs_, &outputs_, &visible_}) {
            for (ValueId candidate : *list) {
                if (b_->type(candidate) == type) found.push_back(candidate);
            }
        }
        return pick(found);
    }

    Values values(const std::vector<Type>& types) {
        Values found;
        for (const Type& type : types) found.push_back(value(type));
        return found;
    }

    // Of what is carried.
    Type some_type() {
        if (has_buffers_ && may_write_ && !inputs_.empty() && chance(4))
            return b_->type(outputs_.empty() || chance(2) ? pick(inputs_) : pick(outputs_));
        return Type::of(pick(kTypes));
    }

    ValueId recent() {
        return chance(3) ? pick(visible_)
                         : visible_[visible_.size() - 1 - below(std::min<size_t>(visible_.size(), 6))];
    }

    ValueId index() {
        return b_->apply(OpId::kRemainder,
                         {value(ScalarType::kInt64), b_->index(kSize)});  // not negative, as in NumPy
    }

    void apply() {
        const OpInfo& op = op_table()[below(op_table().size())];
        if (!options_.nan_signs && (op.id == OpId::kSignbit || op.id == OpId::kCopysign)) return;
        if (op.loops.empty() || op.flags.checks_negative_exponent) return;
        const LoopInfo& loop = op.loops[below(op.loops.size())];
        Values operands;
        for (ScalarType type : op.input_types(loop)) operands.push_back(value(type));
        see(b_->apply_multiple(op, operands));
    }

    // A loop of at most four iterations.
    void for_loop(int depth) {
        ValueId upper = b_->apply(OpId::kRemainder, {value(ScalarType::kInt64), b_->index(5)});
        Values initials;
        for (uint64_t i = below(3); i > 0; i--) initials.push_back(value(some_type()));
        const ValueId lower = b_->index(static_cast<int64_t>(below(3)) - 1);
        const ValueId step = b_->index(1 + static_cast<int64_t>(below(2)));
        loops_.push_back({types_of(initials), types_of(initials), {}});
        Values results =
            b_->for_loop(lower, upper, step, initials, [&](Builder&, std::span<const ValueId> arguments) {
                Values copied(arguments.begin(), arguments.end());
                return scoped([&] { return body(copied, 1, copied.size(), depth); });
            });
        loops_.pop_back();
        see(results);
    }

    std::vector<Type> types_of(const Values& values) const {
        std::vector<Type> types;
        for (ValueId value : values) types.push_back(b_->type(value));
        return types;
    }

    // Leaves a loop, goes on with its next iteration, or returns from the function.
    void leave() {
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
    Values body(const Values& arguments, size_t from, size_t to, int depth) {
        visible_.insert(visible_.end(), arguments.begin(), arguments.end());
        for (uint64_t i = below(4); i > 0; i--) statement(depth - 1);
        Values yields;
        for (size_t i = from; i < to; i++) yields.push_back(value(b_->type(arguments[i])));
        return yields;
    }

    void while_loop(int depth) {
        Values initials{b_->index(static_cast<int64_t>(below(4))), value(some_type())};
        std::vector<Type> forwarded;
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

    void if_else(int depth) {
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
        see(b_->if_else(condition, branch(0), branch(1)));
    }

    void reduce(int depth) {
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
    void allocate() {
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

    // Other ways to see a buffer's elements: from the end, as a matrix, as other numbers. Of outputs that
    // would show what a NaN's bits are.
    void view() {
        const bool may_write =
            has_buffers_ && may_write_ && !outputs_.empty();  // points of a grid would race
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
    void heap() {
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
        if (chance(3))
            block = b_->heap(type, b_->index((kSize + 3) * itemsize), strides, 77, {}, block.owner);
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
    void hold(ValueId owner, ValueId buffer) {
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

    void load() {
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

    void store() {
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

    void call() {
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
    void call_catching(const Function& function, const Values& arguments) {
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

    bool callees_raise() const {
        return std::ranges::any_of(*callees_, [](const Function& callee) { return raises(callee.body); });
    }

    static bool raises(const Region& region) {
        return std::ranges::any_of(region.body, [](const Instruction& instruction) {
            return instruction.opcode == Opcode::kCheck || instruction.opcode == Opcode::kRaise ||
                   instruction.opcode == Opcode::kHeap || instruction.opcode == Opcode::kTell ||
                   std::ranges::any_of(instruction.regions, raises);
        });
    }

    void statement(int depth) {
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
        if (kind == 15 && may_raise_ && chance(3))
            return b_->tell(static_cast<uint32_t>(below(100)),
                            Values{value(pick(kTypes)), value(pick(kTypes))});
        if (kind == 12) return static_cast<void>(see(b_->cast(value(pick(kTypes)), pick(kTypes))));
        apply();
    }

    // --- blocks --------------------------------------------------------------------------------------
    //
    // Between two barriers a shared array is read by all, or each thread has its own element, or all change
    // it by one operation whose order does not matter. Loops and branches around barriers end as they began.

    struct Mode {
        enum Kind { kRead, kOwn, kAtomic } kind = kOwn;
        const OpInfo* op = nullptr;
    };
    using Modes = std::vector<Mode>;

    void block() {
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

    Values block_body() {
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

    void block_statement(int depth) {
        uint64_t kind = below(12);
        if (kind <= 1) return barrier();
        if (kind == 2 && depth > 0) return for_around_barriers(depth);
        if (kind == 3 && depth > 0) return while_around_barriers(depth);
        if (kind == 4 && depth > 0) return if_around_barriers(depth);
        if (kind <= 7) return access_shared();
        if (kind == 8) return allocate();
        statement(2);
    }

    void barrier() {
        b_->barrier();
        for (size_t i = 0; i < modes_.size(); i++) {
            const DType element(b_->type(shared_[i]).scalar);
            constexpr std::string_view kOps[] = {"add",     "multiply",    "maximum",
                                                 "minimum", "bitwise_and", "bitwise_xor"};
            modes_[i].kind = static_cast<Mode::Kind>(below(element.is_integer() ? 3 : 2));
            modes_[i].op = find_op(pick(kOps));
        }
    }

    Values any_element() {
        Values indices;
        for (ValueId size : block_sizes_)
            indices.push_back(b_->apply(OpId::kRemainder, {value(ScalarType::kInt64), size}));
        return indices;
    }

    void access_shared() {
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

    ValueId uniform() {
        return chance(3) || uniform_.empty() ? b_->index(static_cast<int64_t>(below(5)) - 1) : pick(uniform_);
    }
    ValueId few(int64_t limit) { return b_->apply(OpId::kRemainder, {uniform(), b_->index(limit)}); }

    // Statements that end with what the shared arrays were used for at the start.
    void statements_with_barriers(int depth, const Modes& start) {
        for (uint64_t i = below(4); i > 0; i--) block_statement(depth - 1);
        b_->barrier();
        modes_ = start;
    }

    void see_uniform(ValueId value) {
        see(value);
        uniform_.push_back(value);
    }

    void for_around_barriers(int depth) {
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

    void while_around_barriers(int depth) {
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

    void if_around_barriers(int depth) {
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

    static constexpr MemoryOrder kOrders[] = {MemoryOrder::kRelaxed, MemoryOrder::kRelaxed,
                                              MemoryOrder::kRelaxed, MemoryOrder::kSequential};
    static constexpr MemoryScope kScopes[] = {MemoryScope::kBlock, MemoryScope::kDevice,
                                              MemoryScope::kSystem};

    std::mt19937_64 random_;
    RandomKernelOptions options_;
    Builder* b_ = nullptr;
    const std::vector<Function>* callees_ = nullptr;
    Values inputs_, outputs_, visible_;
    ValueId point_;
    int budget_ = 0;
    uint16_t next_scope_ = 100;
    bool may_write_ = true;

    // A loop that exits may leave.
    struct Loop {
        std::vector<Type> results, carried;
        ValueId left;  // how many iterations are left, of those that count them; the first that is carried
    };
    std::vector<Loop> loops_;
    std::vector<Type> returned_{Type::of(ScalarType::kFloat64), Type::of(ScalarType::kInt32)};
    bool has_buffers_ = false;  // as values that are carried and returned
    bool may_return_ = false;   // in a function that is called
    bool may_raise_ = false;

    bool in_block_ = false;
    Values block_sizes_, thread_, shared_;
    Modes modes_;     // of the shared arrays
    Values uniform_;  // i64, the same for all threads
};

}  // namespace

Module random_kernel(uint64_t seed, const RandomKernelOptions& options) {
    return Generator(seed, options).run();
}

Module random_function(uint64_t seed, const RandomKernelOptions& options) {
    return Generator(seed, options).run_function();
}

RandomArguments::RandomArguments(const Module& module, uint64_t seed)
    : kernel_(module.functions.back()), size_(kSize), memory_(kernel_.parameters.size()) {
    std::mt19937_64 random(seed);
    for (size_t i = 0; i < memory_.size(); i++) {
        const Type& type = kernel_.type(kernel_.parameters[i]);
        if (!type.is_buffer) continue;
        memory_[i].resize(static_cast<size_t>(size_ * DType::of(type.scalar).itemsize()));
        // Small numbers, so that operations meet ordinary operands.
        for (int64_t k = 0; k < size_; k++) {
            Constant from = Constant::of(ScalarType::kFloat64, static_cast<double>(random() % 64) / 4 - 5);
            char* data[] = {reinterpret_cast<char*>(from.bytes.data()),
                            memory_[i].data() + k * DType::of(type.scalar).itemsize()};
            int64_t strides[] = {0, 0};
            cast_loop(ScalarType::kFloat64, type.scalar).loop(data, strides, 1);
        }
    }
}

std::vector<OracleArgument> RandomArguments::arguments() const {
    std::vector<OracleArgument> result;
    for (size_t i = 0; i < memory_.size(); i++) {
        const Type& type = kernel_.type(kernel_.parameters[i]);
        if (!type.is_buffer) {
            result.emplace_back(Constant::of(ScalarType::kInt64, size_));
            continue;
        }
        OracleBuffer buffer;
        buffer.base = buffer.low = const_cast<char*>(memory_[i].data());
        buffer.high = buffer.low + memory_[i].size();
        buffer.strides = {DType::of(type.scalar).itemsize()};
        result.emplace_back(buffer);
    }
    return result;
}

std::vector<uint64_t> RandomArguments::words() const {
    std::vector<uint64_t> result;
    for (size_t i = 0; i < memory_.size(); i++) {
        const Type& type = kernel_.type(kernel_.parameters[i]);
        result.push_back(type.is_buffer ? reinterpret_cast<uint64_t>(memory_[i].data())
                                        : static_cast<uint64_t>(size_));
        if (type.is_buffer && type.buffer.strides[0] == kDynamic) {
            result.push_back(static_cast<uint64_t>(DType::of(type.scalar).itemsize()));
        }
    }
    return result;
}

}  // namespace weft::ir
