#include "lang/c_source/ranges.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/intrinsic.h"
#include "lang/c_source/atomics.h"
#include "lang/c_source/lowering.h"
#include "ops/op.h"

namespace weft::lang::c_source {

namespace {

using ir::Builder;
using ir::ValueId;

struct RawArray {
    ValueId buffer{}, size{};
    std::vector<ValueId> shape{};
    ScalarType element = ScalarType::kFloat64;
    bool is_written = false;
};

class InRange final : public Surroundings {
public:
    explicit InRange(std::vector<std::string>& checks) : checks_(checks) {}
    std::map<std::string, RawArray, std::less<>> arrays{};
    Number place{ScalarType::kInt64, {}}, count{ScalarType::kInt64, {}};

    bool is_array(std::string_view name) const override { return arrays.contains(name); }
    ScalarType element(std::string_view name) const override { return arrays.find(name)->second.element; }

    Number load(Numbers& numbers, std::string_view array, const Number& index, const Place& at) override {
        const RawArray& of = arrays.find(array)->second;
        const ValueId position = checked(numbers, array, index, at);
        return {of.element, numbers.builder().load(of.buffer, std::array{position})};
    }

    void store(Numbers& numbers, std::string_view array, const Number& index, const Number& value,
               const Place& at) override {
        const RawArray& of = written(array, at);
        const ValueId position = checked(numbers, array, index, at);
        numbers.builder().store(of.buffer, value.id, std::array{position});
    }

    std::optional<Number> of_array(Numbers& numbers, std::string_view array, std::string_view member,
                                   std::optional<int64_t> axis) override {
        const RawArray& of = arrays.find(array)->second;
        if (member == "size") return Number{ScalarType::kInt64, of.size};
        if (member == "ndim") return numbers.integer(ScalarType::kInt32, std::ssize(of.shape));
        if (!axis || *axis < 0 || *axis >= std::ssize(of.shape)) return {};
        return Number{ScalarType::kInt64, of.shape[static_cast<size_t>(*axis)]};
    }

    Number atomic(Numbers& numbers, std::string_view operation, std::string_view array, const Number& index,
                  const Number& value, const Place& at) override {
        const RawArray& of = written(array, at);
        const Atomic what = atomic_of(numbers, operation, of.element, value, at);
        const ValueId position = checked(numbers, array, index, at);
        return {of.element,
                numbers.builder().atomic(*what.op, of.buffer, what.operand.id, std::array{position},
                                         ir::MemoryOrder::kRelaxed, ir::MemoryScope::kDevice)};
    }

    std::optional<Number> position(Numbers&) override { return place; }
    std::optional<Number> size(Numbers&) override { return count; }

private:
    const RawArray& written(std::string_view array, const Place& at) const {
        const RawArray& of = arrays.find(array)->second;
        if (!of.is_written)
            throw OutsideSubset(at, "'" + std::string(array) + "' is an input, and is assigned to");
        return of;
    }

    ValueId checked(Numbers& numbers, std::string_view array, const Number& index, const Place& at) {
        const DType type(index.type);
        if (!type.is_integer() && !type.is_bool())
            throw OutsideSubset(at, "an index is an integer, not a " + c_name(index.type));
        const RawArray& of = arrays.find(array)->second;
        Builder& builder = numbers.builder();
        // An index of 2**63 or more is negative then, and out of bounds as well.
        const ValueId position = builder.cast(index.id, ScalarType::kInt64);
        const ValueId is_least = builder.apply(OpId::kGreaterEqual, {position, builder.index(0)});
        const ValueId is_below = builder.apply(OpId::kLess, {position, of.size});
        const ValueId fits = builder.apply(OpId::kLogicalAnd, {is_least, is_below});
        const std::array payload{position, of.size};
        builder.check(fits, site_of(array, at), payload);
        return position;
    }

    uint32_t site_of(std::string_view array, const Place& at) {
        const std::string where = place_in_text(array, at);
        const auto found = std::ranges::find(checks_, where);
        if (found == checks_.end()) checks_.push_back(where);
        return static_cast<uint32_t>(std::ranges::find(checks_, where) - checks_.begin());
    }

    std::vector<std::string>& checks_;
};

class Range {
public:
    Range(std::string_view name, const ElementSource& source, const std::vector<RangeArgument>& arguments,
          bool may_overlap, bool for_gpu)
        : source_(source),
          arguments_(arguments),
          may_overlap_(may_overlap),
          for_gpu_(for_gpu),
          program_(source.preamble, source.types) {
        code_.entry = name;
        for (const auto& parameters : {source.inputs, source.outputs}) {
            for (const Parameter& one : parameters) program_.type_names.hidden.push_back(one.name);
        }
        const std::vector<Token> tokens = tokenise(source.body, program_.macros);
        body_ = parse_statements(tokens, program_.type_names);
    }

    RangeCode run() {
        if (for_gpu_) {
            code_.module.functions.push_back(of_thread());
        } else {
            code_.module.functions.push_back(of_all());
            code_.module.functions.push_back(of_chunk());
        }
        program_.finish(code_.module);
        for (ir::Function& one : code_.module.functions) one.is_kernel = false;
        return std::move(code_);
    }

private:
    struct Arguments {
        ValueId count{}, chunk{};
        std::vector<ValueId> values{};  // a buffer or a number each
        std::vector<ValueId> all{};     // all parameters from `count` on
        InRange* around = nullptr;
    };

    const Parameter& parameter(size_t k) const {
        return k < source_.inputs.size() ? source_.inputs[k] : source_.outputs[k - source_.inputs.size()];
    }

    Arguments parameters(Builder& builder, InRange& around) const {
        Arguments result;
        const auto add = [&](ir::Type type, const std::string& name) {
            result.all.push_back(builder.parameter(std::move(type), name));
            return result.all.back();
        };
        const ir::Type index = ir::Type::of(ScalarType::kInt64);
        result.count = add(index, "count");
        result.chunk = add(index, "chunk");
        for (size_t k = 0; k < arguments_.size(); ++k) {
            const Parameter& of = parameter(k);
            const bool is_output = k >= source_.inputs.size();
            if (arguments_[k].kind == ArgumentKind::kNumber) {
                result.values.push_back(add(ir::Type::of(of.type), of.name));
                continue;
            }
            ir::BufferType type;
            type.element = of.type;
            type.strides = {DType(of.type).itemsize()};
            type.alias_scope = static_cast<uint16_t>(may_overlap_ ? 1 : k + 1);
            type.readonly = !is_output;
            result.values.push_back(add(ir::Type::of(type), of.name));
            if (arguments_[k].kind != ArgumentKind::kRaw) continue;
            RawArray raw;
            raw.buffer = result.values.back();
            raw.element = of.type;
            raw.is_written = is_output;
            raw.size = add(index, of.name + "_size");
            for (size_t axis = 0; axis < arguments_[k].rank; ++axis)
                raw.shape.push_back(add(index, of.name + "_shape"));
            around.arrays.emplace(of.name, std::move(raw));
        }
        around.count = {ScalarType::kInt64, result.count};
        result.around = &around;
        return result;
    }

    // The body for one position, at the builder's place.
    void body(Builder& builder, const Arguments& arguments, ValueId position) {
        arguments.around->place = {ScalarType::kInt64, position};
        Lowering lowering(program_, *arguments.around, builder);
        const auto in_body = [&](std::string_view one) { return mentions(*body_, one); };
        lowering.declare_constants([&](std::string_view one) { return program_.mentions(in_body, one); });
        lowering.scopes().open();
        std::vector<std::pair<size_t, size_t>> outputs;  // arguments, and their variables
        for (size_t k = 0; k < arguments_.size(); ++k) {
            const Parameter& of = parameter(k);
            const bool is_output = k >= source_.inputs.size();
            if (arguments_[k].kind == ArgumentKind::kRaw) continue;
            ValueId value = arguments.values[k];
            if (arguments_[k].kind == ArgumentKind::kArray) value = builder.load(value, std::array{position});
            if (is_output) outputs.emplace_back(k, lowering.scopes().size());
            lowering.scopes().add({of.name, {of.type, value}, !is_output, "an input"});
        }
        lowering.kernel(*body_);
        for (const auto& [k, variable] : outputs)
            builder.store(arguments.values[k], lowering.scopes()[variable].value.id, std::array{position});
    }

    ir::Function of_thread() {
        Builder builder(code_.entry);
        InRange around(code_.checks);
        const Arguments arguments = parameters(builder, around);
        const ValueId axis = builder.index(0);
        const ValueId block = builder.intrinsic(ir::Intrinsic::kBlockNumber, std::array{axis})[0];
        const ValueId thread = builder.intrinsic(ir::Intrinsic::kThreadNumber, std::array{axis})[0];
        const ValueId first = builder.apply(OpId::kMultiply, {block, arguments.chunk});
        const ValueId position = builder.apply(OpId::kAdd, {first, thread});
        const ValueId is_one = builder.apply(OpId::kLess, {position, arguments.count});
        builder.if_else(
            is_one,
            [&](Builder& inner, std::span<const ValueId>) {
                body(inner, arguments, position);
                return std::vector<ValueId>{};
            },
            [](Builder&, std::span<const ValueId>) { return std::vector<ValueId>{}; });
        builder.return_values({});
        return builder.finish_function({});
    }

    std::string chunk_name() const { return code_.entry + "_chunk"; }

    ir::Function of_all() {
        Builder builder(code_.entry);
        std::vector<std::string> none;
        InRange around(none);
        const Arguments arguments = parameters(builder, around);
        builder.spread(chunk_name(), arguments.count, arguments.chunk, arguments.all);
        builder.return_values({});
        return builder.finish_function({});
    }

    ir::Function of_chunk() {
        Builder builder(chunk_name());
        const ir::Type index = ir::Type::of(ScalarType::kInt64);
        builder.parameter(index, "number");
        const ValueId from = builder.parameter(index, "from"), to = builder.parameter(index, "to");
        InRange around(code_.checks);
        const Arguments arguments = parameters(builder, around);
        builder.for_loop(from, to, builder.index(1), {},
                         [&](Builder& inner, std::span<const ValueId> values) {
                             body(inner, arguments, values[0]);
                             return std::vector<ValueId>{};
                         });
        builder.return_values({});
        return builder.finish_function({});
    }

    const ElementSource& source_;
    const std::vector<RangeArgument>& arguments_;
    bool may_overlap_, for_gpu_;
    Program program_;
    StatementPtr body_;
    RangeCode code_;
};

}  // namespace

RangeCode lower_range(std::string_view name, const ElementSource& source,
                      const std::vector<RangeArgument>& arguments, bool may_overlap, bool for_gpu) {
    return Range(name, source, arguments, may_overlap, for_gpu).run();
}

}  // namespace weft::lang::c_source
