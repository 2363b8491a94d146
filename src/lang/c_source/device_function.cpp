#include "lang/c_source/device_function.h"

#include <algorithm>
#include <array>

#include "lang/c_source/atomics.h"
#include "lang/c_source/lowering.h"

namespace weft::lang::c_source {

using ir::ValueId;

namespace {

// The arrays that a call gives, by the numbers of their arguments.
class Given final : public Surroundings {
public:
    Given(const DeviceFunction& function, std::span<const DeviceArgument> arguments)
        : function_(function), arguments_(arguments) {}

    static std::string name_of(size_t argument) { return "argument " + std::to_string(argument + 1); }

    bool is_array(std::string_view name) const override { return find(name) != arguments_.size(); }
    ScalarType element(std::string_view name) const override { return arguments_[find(name)].type; }

    Number load(Numbers& numbers, std::string_view array, const Number& index, const Place& at) override {
        const DeviceArgument& of = arguments_[find(array)];
        tell(array, index, {}, false, at);
        return {of.type, numbers.builder().load(of.value, std::array{index.id})};
    }

    void store(Numbers& numbers, std::string_view array, const Number& index, const Number& value,
               const Place& at) override {
        const DeviceArgument& of = arguments_[find(array)];
        tell(array, index, value.id, false, at);
        numbers.builder().store(of.value, value.id, std::array{index.id});
    }

    Number atomic(Numbers& numbers, std::string_view operation, std::string_view array, const Number& index,
                  const Number& value, const Place& at) override {
        const DeviceArgument& of = arguments_[find(array)];
        const Atomic what = atomic_of(numbers, operation, of.type, value, at);
        tell(array, index, what.operand.id, true, at);
        return {of.type, numbers.builder().atomic(*what.op, of.value, what.operand.id, std::array{index.id},
                                                  ir::MemoryOrder::kRelaxed, ir::MemoryScope::kDevice)};
    }

private:
    size_t find(std::string_view name) const {
        for (size_t k = 0; k < arguments_.size(); ++k) {
            if (arguments_[k].is_pointer && name_of(k) == name) return k;
        }
        return arguments_.size();
    }
    void tell(std::string_view array, const Number& index, std::optional<ValueId> written, bool is_atomic,
              const Place& at) const {
        const std::string where = place_in_text(array, at);
        function_.access({find(array), index.id, written, is_atomic, where});
    }

    const DeviceFunction& function_;
    std::span<const DeviceArgument> arguments_;
};

}  // namespace

bool has_function(const SourceText& source, std::string_view name) {
    Macros macros;
    const std::vector<Token> tokens = tokenise(source, macros);
    for (size_t k = 0; k + 1 < tokens.size(); ++k) {
        if (tokens[k].is_name(name) && tokens[k + 1].is("(")) return true;
    }
    return false;
}

DeviceResults call_device_function(ir::Builder& builder, const SourceText& source,
                                   const DeviceFunction& function,
                                   std::span<const DeviceArgument> arguments) {
    Program program(source, {});
    Given around(function, arguments);
    Lowering lowering(program, around, builder);
    lowering.stay_in_place();
    lowering.declare_constants([&](std::string_view one) {
        return program.mentions([&](std::string_view other) { return other == function.name; }, one);
    });
    lowering.scopes().open();
    return lowering.call_from_outside(function, arguments, Place{&source, 0});
}

DeviceResults Lowering::call_from_outside(const DeviceFunction& function,
                                          std::span<const DeviceArgument> arguments, const Place& place) {
    std::vector<Value> given;
    std::optional<size_t> result;
    if (function.tells_status) {
        // A pointer to what comes back; where nothing does, it is a void*.
        result = declare("the return", {function.result.value_or(ScalarType::kInt32)}, {});
        given.push_back(pointer_to(target_of_variable(*result, place), place));
    }
    for (size_t k = 0; k < arguments.size(); ++k) {
        const DeviceArgument& one = arguments[k];
        if (!one.is_pointer) {
            given.push_back({.type = {one.type}, .number = {one.type, one.value}});
            continue;
        }
        Target to{.kind = Target::Kind::kRawArray, .place = place};
        to.raw = "argument " + std::to_string(k + 1);
        to.type = {one.type};
        to.offset = numbers_.builder().index(0);
        given.push_back(pointer_to(to, place));
    }
    const auto chosen = choose(function.name, {}, given, place);
    if (!chosen) throw OutsideSubset(place, "no " + function.name + "() takes what its declaration says");
    const CFunction& found = *chosen->function;
    const Value value = call_function(*chosen, std::move(given), place);
    DeviceResults results;
    const bool gives = found.result.name != "void" || found.result.pointers != 0;
    if (function.tells_status) {
        if (!gives) throw OutsideSubset(found.place, function.name + "() gives no status");
        results.status = numbers_.convert(number_of(value, place), ScalarType::kInt32, place).id;
        if (function.result) results.result = scopes_[*result].value.id;
    } else if (function.result) {
        if (!gives) throw OutsideSubset(found.place, function.name + "() gives nothing");
        results.result = numbers_.convert(number_of(value, place), *function.result, place).id;
    }
    return results;
}

}  // namespace weft::lang::c_source
