#include "ir/builder.h"
#include "ir/intrinsic.h"

#include <utility>

#include "ir/calls.h"
#include "weft/errors.h"

namespace weft::ir {

Builder::Builder(std::string function_name) {
    own_.name = std::move(function_name);
    insertion_.push_back(&own_.body.body);
}

Builder::Builder(Function& function, std::vector<Instruction>& into) : function_(&function) {
    insertion_.push_back(&into);
}

ValueId Builder::new_value(Type type, std::string name) {
    return function_->add_value(std::move(type), std::move(name));
}

Instruction& Builder::append(Instruction instruction) {
    if (instruction.line == 0) instruction.line = line_;
    insertion_.back()->push_back(std::move(instruction));
    return insertion_.back()->back();
}

ValueId Builder::parameter(Type type, std::string name) {
    ValueId value = new_value(std::move(type), std::move(name));
    own_.parameters.push_back(value);
    return value;
}

ValueId Builder::constant(Constant value) {
    ValueId result = new_value(Type::of(value.type));
    append({.opcode = Opcode::kConstant, .results = {result}, .constant = value});
    return result;
}

ValueId Builder::index(int64_t value) { return constant(Constant::of(ScalarType::kInt64, value)); }

std::vector<ValueId> Builder::apply_multiple(const OpInfo& op, std::span<const ValueId> operands) {
    std::vector<ScalarType> inputs;
    std::string written;
    for (ValueId operand : operands) {
        WEFT_CHECK(!type(operand).is_buffer, std::string("a buffer as operand of ") + std::string(op.name));
        inputs.push_back(type(operand).scalar);
        written += std::string(written.empty() ? "" : ", ") + std::string(scalar_name(inputs.back()));
    }
    const LoopInfo* loop = find_loop(op, inputs);
    WEFT_CHECK(loop != nullptr, std::string(op.name) + " has no loop for (" + written + ")");
    if (op.defined != nullptr) {
        std::vector<Type> results;
        for (ScalarType output : op.output_types(*loop)) results.push_back(Type::of(output));
        return call(loop->symbol, results, operands);
    }

    Instruction instruction{
        .opcode = Opcode::kApply, .operands = {operands.begin(), operands.end()}, .op = &op};
    instruction.loop = static_cast<int>(loop - op.loops.data());
    for (ScalarType output : op.output_types(*loop))
        instruction.results.push_back(new_value(Type::of(output)));
    return append(std::move(instruction)).results;
}

ValueId Builder::apply(const OpInfo& op, std::span<const ValueId> operands) {
    WEFT_CHECK(op.nout == 1, std::string(op.name) + " has several results");
    return apply_multiple(op, operands)[0];
}

ValueId Builder::apply(OpId op, std::initializer_list<ValueId> operands) {
    return apply(op_info(op), std::span<const ValueId>(operands.begin(), operands.size()));
}

ValueId Builder::cast(ValueId value, ScalarType to) {
    if (type(value).scalar == to) return value;
    ValueId result = new_value(Type::of(to));
    append({.opcode = Opcode::kCast, .operands = {value}, .results = {result}});
    return result;
}

ValueId Builder::load(ValueId buffer, std::span<const ValueId> indices) {
    Instruction instruction{.opcode = Opcode::kLoad, .operands = {buffer}};
    instruction.operands.insert(instruction.operands.end(), indices.begin(), indices.end());
    instruction.results = {new_value(Type::of(type(buffer).buffer.element))};
    return append(std::move(instruction)).results[0];
}

ValueId Builder::load_if(ValueId buffer, std::span<const ValueId> indices, ValueId predicate,
                         ValueId otherwise) {
    ValueId result = load(buffer, indices);
    Instruction& instruction = insertion_.back()->back();
    instruction.operands.push_back(predicate);
    instruction.operands.push_back(otherwise);
    instruction.predicated = true;
    return result;
}

void Builder::store(ValueId buffer, ValueId value, std::span<const ValueId> indices) {
    Instruction instruction{.opcode = Opcode::kStore, .operands = {buffer, value}};
    instruction.operands.insert(instruction.operands.end(), indices.begin(), indices.end());
    append(std::move(instruction));
}

void Builder::store_if(ValueId buffer, ValueId value, std::span<const ValueId> indices, ValueId predicate) {
    store(buffer, value, indices);
    Instruction& instruction = insertion_.back()->back();
    instruction.operands.push_back(predicate);
    instruction.predicated = true;
}

ValueId Builder::atomic(const OpInfo& op, ValueId buffer, ValueId value, std::span<const ValueId> indices,
                        MemoryOrder order, MemoryScope scope) {
    ScalarType element = type(buffer).buffer.element;
    const LoopInfo* loop = find_loop(op, std::array{element, element});
    WEFT_CHECK(loop != nullptr, std::string(op.name) + " has no loop for the buffer's elements");
    Instruction instruction{.opcode = Opcode::kAtomic, .operands = {buffer, value}, .op = &op};
    instruction.operands.insert(instruction.operands.end(), indices.begin(), indices.end());
    instruction.loop = static_cast<int>(loop - op.loops.data());
    instruction.order = order;
    instruction.scope = scope;
    instruction.results = {new_value(Type::of(element))};
    return append(std::move(instruction)).results[0];
}

ValueId Builder::compare_exchange(ValueId buffer, ValueId expected, ValueId desired,
                                  std::span<const ValueId> indices, MemoryOrder order, MemoryScope scope) {
    Instruction instruction{.opcode = Opcode::kCompareExchange, .operands = {buffer, expected, desired}};
    instruction.operands.insert(instruction.operands.end(), indices.begin(), indices.end());
    instruction.order = order;
    instruction.scope = scope;
    instruction.results = {new_value(Type::of(type(buffer).buffer.element))};
    return append(std::move(instruction)).results[0];
}

ValueId Builder::allocate(BufferType buffer_type, std::string name, std::span<const ValueId> sizes) {
    ValueId result = new_value(Type::of(std::move(buffer_type)), std::move(name));
    append({.opcode = Opcode::kAllocate, .operands = {sizes.begin(), sizes.end()}, .results = {result}});
    return result;
}

ValueId Builder::view(ValueId buffer, BufferType view_type, ValueId byte_offset,
                      std::span<const ValueId> strides, std::string name) {
    view_type.space = type(buffer).buffer.space;
    view_type.alias_scope = type(buffer).buffer.alias_scope;
    ValueId result = new_value(Type::of(std::move(view_type)), std::move(name));
    Instruction instruction{.opcode = Opcode::kView, .operands = {buffer, byte_offset}, .results = {result}};
    instruction.operands.insert(instruction.operands.end(), strides.begin(), strides.end());
    append(std::move(instruction));
    return result;
}

ValueId Builder::null(BufferType buffer_type, std::string name) {
    ValueId result = new_value(Type::of(std::move(buffer_type)), std::move(name));
    append({.opcode = Opcode::kNull, .results = {result}});
    return result;
}

Builder::HeapBlock Builder::heap(BufferType buffer_type, ValueId bytes, std::span<const ValueId> strides,
                                 uint32_t site, Instruction::Owners owners, ValueId grown) {
    const HeapBlock block{new_value(Type::of(ScalarType::kInt64)),
                          new_value(Type::of(std::move(buffer_type)))};
    Instruction instruction{
        .opcode = Opcode::kHeap, .operands = {bytes}, .results = {block.owner, block.buffer}, .site = site};
    instruction.owners = owners;
    instruction.grows = grown.valid();
    if (grown.valid()) instruction.operands.push_back(grown);
    instruction.operands.insert(instruction.operands.end(), strides.begin(), strides.end());
    append(std::move(instruction));
    return block;
}

ValueId Builder::address(ValueId buffer) {
    const ValueId result = new_value(Type::of(ScalarType::kInt64));
    append({.opcode = Opcode::kAddress, .operands = {buffer}, .results = {result}});
    return result;
}

ValueId Builder::memory(BufferType buffer_type, ValueId address, std::span<const ValueId> strides) {
    const ValueId result = new_value(Type::of(std::move(buffer_type)));
    Instruction instruction{.opcode = Opcode::kMemory, .operands = {address}, .results = {result}};
    instruction.operands.insert(instruction.operands.end(), strides.begin(), strides.end());
    append(std::move(instruction));
    return result;
}

void Builder::retain(ValueId owner) { append({.opcode = Opcode::kRetain, .operands = {owner}}); }
void Builder::release(ValueId owner) { append({.opcode = Opcode::kRelease, .operands = {owner}}); }

void Builder::barrier() { append({.opcode = Opcode::kBarrier}); }

Region Builder::region(std::span<const Type> argument_types, const Body& body) {
    Region result;
    for (const Type& argument : argument_types) result.arguments.push_back(new_value(argument));
    insertion_.push_back(&result.body);
    std::vector<ValueId> yields = body(*this, result.arguments);
    if (!has_ended()) append({.opcode = Opcode::kYield, .operands = std::move(yields)});
    insertion_.pop_back();
    return result;
}

bool Builder::has_ended() const {
    const std::vector<Instruction>& body = *insertion_.back();
    return !body.empty() && ends_body(body.back().opcode);
}

void Builder::break_loop(std::vector<ValueId> results, int depth) {
    append({.opcode = Opcode::kBreak, .operands = std::move(results), .depth = depth});
}

void Builder::continue_loop(std::vector<ValueId> carried, int depth) {
    append({.opcode = Opcode::kContinue, .operands = std::move(carried), .depth = depth});
}

void Builder::return_values(std::vector<ValueId> results) {
    append({.opcode = Opcode::kReturn, .operands = std::move(results)});
}

void Builder::raise(uint32_t site, std::vector<ValueId> payload) {
    append({.opcode = Opcode::kRaise, .operands = std::move(payload), .site = site});
}

void Builder::raise_again(ValueId error) {
    append({.opcode = Opcode::kRaise, .operands = {error}, .again = true});
}

void Builder::tell(uint32_t site, std::vector<ValueId> payload) {
    append({.opcode = Opcode::kTell, .operands = std::move(payload), .site = site});
}

void Builder::check(ValueId holds, uint32_t site, std::span<const ValueId> payload) {
    Instruction instruction{.opcode = Opcode::kCheck, .operands = {holds}, .site = site};
    instruction.operands.insert(instruction.operands.end(), payload.begin(), payload.end());
    append(std::move(instruction));
}

void Builder::parallel(ParallelLevel level, std::span<const ValueId> sizes, const Body& body) {
    Instruction instruction{
        .opcode = Opcode::kParallel, .operands = {sizes.begin(), sizes.end()}, .level = level};
    std::vector<Type> arguments(sizes.size(), Type::of(ScalarType::kInt64));
    instruction.regions.push_back(region(arguments, body));
    append(std::move(instruction));
}

std::vector<ValueId> Builder::for_loop(ValueId lower, ValueId upper, ValueId step,
                                       std::span<const ValueId> initials, const Body& body) {
    Instruction instruction{
        .opcode = Opcode::kFor, .operands = {lower, upper, step}, .site = std::exchange(loop_site_, 0)};
    std::vector<Type> arguments{Type::of(ScalarType::kInt64)};
    for (ValueId initial : initials) {
        instruction.operands.push_back(initial);
        arguments.push_back(type(initial));
    }
    instruction.regions.push_back(region(arguments, body));
    for (size_t i = 1; i < arguments.size(); i++) instruction.results.push_back(new_value(arguments[i]));
    return append(std::move(instruction)).results;
}

void Builder::for_lanes(ValueId lower, ValueId upper, int64_t lanes, const Body& body) {
    for_loop(lower, upper, index(1), {}, body);
    insertion_.back()->back().lanes = lanes;
}

std::vector<ValueId> Builder::while_loop(std::span<const ValueId> initials, const Body& condition,
                                         const Body& body) {
    Instruction instruction{.opcode = Opcode::kWhile,
                            .operands = {initials.begin(), initials.end()},
                            .site = std::exchange(loop_site_, 0)};
    std::vector<Type> carried;
    for (ValueId initial : initials) carried.push_back(type(initial));
    instruction.regions.push_back(region(carried, condition));

    const std::vector<ValueId>& yields = instruction.regions[0].body.back().operands;
    WEFT_CHECK(!yields.empty(), "the condition of a while yields nothing");
    std::vector<Type> forwarded;
    for (size_t i = 1; i < yields.size(); i++) forwarded.push_back(type(yields[i]));
    instruction.regions.push_back(region(forwarded, body));
    for (const Type& result : forwarded) instruction.results.push_back(new_value(result));
    return append(std::move(instruction)).results;
}

std::vector<ValueId> Builder::if_else(ValueId condition, const Body& then_body, const Body& else_body,
                                      bool likely) {
    Instruction instruction{.opcode = Opcode::kIf, .operands = {condition}, .likely = likely};
    instruction.regions.push_back(region({}, then_body));
    instruction.regions.push_back(region({}, else_body));
    Region& last = instruction.regions[1];
    if (!yields(instruction.regions[0]) && !yields(last)) {
        // What stands behind is never reached, so the second body takes its place.
        std::vector<Instruction> rest = std::move(last.body);
        last.body = {{.opcode = Opcode::kYield}};
        append(std::move(instruction));
        for (Instruction& each : rest) append(std::move(each));
        return {};
    }
    const Region& yielding = instruction.regions[yields(instruction.regions[0]) ? 0 : 1];
    for (ValueId value : yielding.body.back().operands) instruction.results.push_back(new_value(type(value)));
    return append(std::move(instruction)).results;
}

std::vector<ValueId> Builder::reduce(ValueId size, std::span<const ValueId> initials, int64_t lanes,
                                     int64_t block, const Body& element, const Body& combine) {
    Instruction instruction{.opcode = Opcode::kReduce, .operands = {size}, .lanes = lanes, .block = block};
    std::vector<Type> types;
    for (ValueId initial : initials) {
        instruction.operands.push_back(initial);
        types.push_back(type(initial));
    }
    std::vector<Type> pairs = types;
    pairs.insert(pairs.end(), types.begin(), types.end());
    instruction.regions.push_back(region(std::array{Type::of(ScalarType::kInt64)}, element));
    instruction.regions.push_back(region(pairs, combine));
    for (const Type& result : types) instruction.results.push_back(new_value(result));
    return append(std::move(instruction)).results;
}

void Builder::scan(ValueId size, std::span<const ValueId> initials, const Body& element, const Body& combine,
                   const Body& consume) {
    Instruction instruction{.opcode = Opcode::kScan, .operands = {size}};
    std::vector<Type> types;
    std::vector<Type> consumed{Type::of(ScalarType::kInt64)};
    for (ValueId initial : initials) {
        instruction.operands.push_back(initial);
        types.push_back(type(initial));
        consumed.push_back(type(initial));
    }
    std::vector<Type> pairs = types;
    pairs.insert(pairs.end(), types.begin(), types.end());
    instruction.regions.push_back(region(std::array{Type::of(ScalarType::kInt64)}, element));
    instruction.regions.push_back(region(pairs, combine));
    instruction.regions.push_back(region(consumed, consume));
    append(std::move(instruction));
}

std::vector<ValueId> Builder::call(const Function& callee, std::span<const ValueId> arguments) {
    const CallScopes scopes(callee, *function_, arguments);
    std::vector<Type> results;
    for (const Type& result : callee.result_types) results.push_back(scopes.in_caller(result));
    return call(callee.name, results, arguments);
}

std::vector<ValueId> Builder::call(std::string callee, std::span<const Type> results,
                                   std::span<const ValueId> arguments, bool lazy) {
    Instruction instruction{.opcode = Opcode::kCall, .operands = {arguments.begin(), arguments.end()}};
    instruction.callee = std::move(callee);
    instruction.lazy = lazy;
    for (const Type& result : results) instruction.results.push_back(new_value(result));
    return append(std::move(instruction)).results;
}

std::vector<ValueId> Builder::call_catching(std::string callee, std::span<const Type> results,
                                            std::span<const ValueId> arguments) {
    Instruction instruction{.opcode = Opcode::kCall, .operands = {arguments.begin(), arguments.end()}};
    instruction.callee = std::move(callee);
    instruction.catches = true;
    instruction.results = {new_value(Type::of(ScalarType::kInt64))};
    for (const Type& result : results) instruction.results.push_back(new_value(result));
    return append(std::move(instruction)).results;
}

std::vector<ValueId> Builder::intrinsic(Intrinsic intrinsic, std::span<const ValueId> operands) {
    Instruction instruction{.opcode = Opcode::kIntrinsic, .operands = {operands.begin(), operands.end()}};
    instruction.intrinsic = intrinsic;
    const IntrinsicInfo& info = intrinsic_info(intrinsic);
    for (const char kind : info.results) {
        const ScalarType scalar = kind == 'b'   ? ScalarType::kBool
                                  : kind == 'i' ? ScalarType::kInt64
                                                : type(operands[info.operands.find('v')]).scalar;
        instruction.results.push_back(new_value(Type::of(scalar)));
    }
    return append(std::move(instruction)).results;
}

void Builder::spread(std::string callee, ValueId size, ValueId chunk, std::span<const ValueId> arguments,
                     bool together) {
    Instruction instruction{.opcode = Opcode::kSpread, .operands = {size, chunk}};
    instruction.together = together;
    instruction.operands.insert(instruction.operands.end(), arguments.begin(), arguments.end());
    instruction.callee = std::move(callee);
    append(std::move(instruction));
}

std::vector<ValueId> Builder::external(std::string callee, std::span<const ValueId> arguments,
                                       std::span<const Type> results, bool tells_status) {
    Instruction instruction{.opcode = Opcode::kExternal, .operands = {arguments.begin(), arguments.end()}};
    instruction.callee = std::move(callee);
    instruction.tells_status = tells_status;
    for (const Type& each : results) instruction.results.push_back(new_value(each));
    return append(std::move(instruction)).results;
}

ValueId Builder::engine(std::string callee, std::span<const ValueId> arguments) {
    Instruction instruction{.opcode = Opcode::kEngine, .operands = {arguments.begin(), arguments.end()}};
    instruction.callee = std::move(callee);
    instruction.results = {new_value(Type::of(ScalarType::kInt64))};
    return append(std::move(instruction)).results[0];
}

Function Builder::finish(std::vector<ValueId> results) {
    WEFT_CHECK(insertion_.size() == 1 && function_ == &own_,
               "finish inside of a region or of another's function");
    std::vector<Type> types;
    for (ValueId result : results) types.push_back(type(result));
    own_.is_kernel = results.empty();
    if (!has_ended()) append({.opcode = Opcode::kReturn, .operands = std::move(results)});
    return take(std::move(types));
}

Function Builder::finish_function(std::vector<Type> result_types) {
    WEFT_CHECK(insertion_.size() == 1 && function_ == &own_ && has_ended(), "a function that has no end");
    own_.is_kernel = false;
    return take(std::move(result_types));
}

Function Builder::take(std::vector<Type> result_types) {
    own_.result_types = std::move(result_types);
    Function finished = std::move(own_);
    own_ = {};
    insertion_ = {&own_.body.body};
    return finished;
}

}  // namespace weft::ir
