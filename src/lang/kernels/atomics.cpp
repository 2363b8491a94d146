// atomic.add and the like: one element of an array, in one step.
#include "lang/kernels/kernels.h"

namespace weft::lang {

using ir::ValueId;

namespace {

struct Folding {
    std::string_view name, op;
};
constexpr Folding kFoldings[] = {{"add", "add"},          {"sub", "subtract"},   {"max", "maximum"},
                                 {"min", "minimum"},      {"nanmax", "fmax"},    {"nanmin", "fmin"},
                                 {"and_", "bitwise_and"}, {"or_", "bitwise_or"}, {"xor", "bitwise_xor"}};

// With as many bytes.
ScalarType integer_like(ScalarType type) {
    const int64_t bytes = DType(type).itemsize();
    return bytes == 8 ? ScalarType::kInt64 : bytes == 4 ? ScalarType::kInt32 : ScalarType::kInt16;
}

}  // namespace

// Of integers, in a loop around compare_exchange; gives what was there.
Value FunctionLowering::Kernels::exchange(const Element& element,
                                          const std::function<ValueId(ValueId)>& next) {
    const TypeRef type = scalar_type(element.array.type->scalar);
    if (f_.dry_) return {type, {ValueId{}}, 0};
    const ValueId buffer = element.array.parts[0];
    const std::array first = {f_.builder_->load(buffer, element.indices), f_.boolean(true).parts[0]};
    const auto result = f_.builder_->while_loop(
        first,
        [&](ir::Builder&, std::span<const ValueId> carried) -> std::vector<ValueId> {
            return {carried[1], carried[0]};
        },
        [&](ir::Builder& builder, std::span<const ValueId> carried) -> std::vector<ValueId> {
            const ValueId before = carried[0];
            const ValueId found =
                builder.compare_exchange(buffer, before, next(before), element.indices,
                                         ir::MemoryOrder::kRelaxed, ir::MemoryScope::kDevice);
            return {found, builder.apply(OpId::kNotEqual, {found, before})};
        });
    return f_.scalar(type, result[0]);
}

// The same of the bits of floats, since NaN equals nothing and 0.0 equals -0.0.
Value FunctionLowering::Kernels::exchange_float(const Element& element,
                                                const std::function<ValueId(ValueId)>& next) {
    const TypeRef array = element.array.type;
    const TypeRef type = scalar_type(array->scalar);
    if (f_.dry_) return {type, {ValueId{}}, 0};
    const ScalarType bits = integer_like(type->scalar);
    const auto local = [&](ScalarType of) {
        return ir::BufferType{
            .element = of, .space = ir::AddressSpace::kLocal, .alias_scope = kOwnMemoryScope};
    };
    const ValueId place = f_.builder_->allocate(local(type->scalar), "bits");
    const ValueId as_bits = f_.builder_->view(place, local(bits), index(0));
    const auto to_float = [&](ValueId value) {
        f_.builder_->store(as_bits, value, {});
        return f_.builder_->load(place, {});
    };
    const auto to_bits = [&](ValueId value) {
        f_.builder_->store(place, value, {});
        return f_.builder_->load(as_bits, {});
    };
    std::vector<ValueId> shape, strides;
    for (size_t d = 0; d < array->rank; ++d) {
        shape.push_back(f_.size_of(element.array, d));
        strides.push_back(f_.stride_of(element.array, d));
    }
    const TypeRef like = array_type(bits, array->rank, array->contiguous, false, array->scope, array->owned);
    const Value before =
        exchange({f_.view_as(element.array, like, index(0), shape, strides), element.indices},
                 [&](ValueId value) { return to_bits(next(to_float(value))); });
    return f_.scalar(type, to_float(before.parts[0]));
}

Value FunctionLowering::Kernels::atomic(std::string_view name, const Arguments& arguments) {
    place(PlaceArgument::kNumbers);
    const std::vector<Value>& given = arguments.positional;
    const bool is_first = name == "compare_and_swap";  // of the array's first element
    const size_t count = name == "cas" ? 4 : 3;
    f_.expect_arguments("cuda." + std::string(path_), arguments, count, count);
    const Value& array = given[0];
    if (!is_array(array.type)) refuse("() takes an array, not " + lang::describe(array.type));
    if (DType(array.type->scalar).is_complex() || array.type->scalar == ScalarType::kBool)
        refuse("() is not there for " + lang::describe(array.type));
    std::vector<IndexItem> items;
    if (is_first) {
        for (size_t d = 0; d < array.type->rank; ++d) items.push_back({where_, f_.integer(0)});
    } else if (given[1].type->kind == TypeKind::kTuple) {
        for (size_t d = 0; d < given[1].type->parts.size(); ++d)
            items.push_back({where_, f_.tuple_item(given[1], d)});
    } else {
        items.push_back({where_, given[1]});
    }
    const std::optional<Element> element = f_.element_of(where_, array, items);
    if (!element) refuse("() needs an index for each of the array's dimensions");
    f_.expect_writeable(array.type, where_);
    f_.target_.written.insert(array.type->scope);
    tell_access(ThreadEvent::kAtomic, *element);
    const TypeRef type = scalar_type(array.type->scalar);
    const auto converted = [&](const Value& value) {
        const Value number = f_.required(value, where_);
        if (!is_scalar(number.type) || is_complex(number.type))
            refuse("() takes real numbers, not " + lang::describe(number.type));
        return f_.cast(number, type->scalar);
    };
    const ValueId value = converted(given.back());
    const bool is_floating = DType(type->scalar).is_floating();
    const auto any_exchange = [&](const std::function<ValueId(ValueId)>& next) {
        return is_floating ? exchange_float(*element, next) : exchange(*element, next);
    };
    if (is_floating && (name == "max" || name == "min")) {  // a NaN is neither larger nor smaller
        const OpId is_better = name == "max" ? OpId::kGreater : OpId::kLess;
        return any_exchange([&](ValueId before) {
            return f_.apply(OpId::kSelect, {f_.apply(is_better, {value, before}), value, before});
        });
    }
    // Where only the block's threads are told apart, no other core has to know.
    const bool is_of_block = array.type->scope == kBlockMemoryScope || array.type->scope == kOwnMemoryScope;
    const ir::MemoryScope scope = is_of_block ? ir::MemoryScope::kBlock : ir::MemoryScope::kDevice;
    for (const Folding& each : kFoldings) {
        if (each.name != name) continue;
        if (f_.dry_) return {type, {ValueId{}}, 0};
        return f_.scalar(type, f_.builder_->atomic(*find_op(each.op), element->array.parts[0], value,
                                                   element->indices, ir::MemoryOrder::kRelaxed, scope));
    }
    if (name == "cas" || is_first) {
        const ValueId expected = converted(given[given.size() - 2]);
        if (f_.dry_) return {type, {ValueId{}}, 0};
        return f_.scalar(
            type, f_.builder_->compare_exchange(element->array.parts[0], expected, value, element->indices,
                                                ir::MemoryOrder::kRelaxed, ir::MemoryScope::kDevice));
    }
    if (name == "exch") return any_exchange([&](ValueId) { return value; });
    if (name != "inc" && name != "dec") refuse(" is none of CUDA's atomic operations");
    if (!DType(type->scalar).is_unsigned_integer()) refuse("() counts in unsigned integers");
    // Up to `value` and round to 0, or down from it.
    const ValueId zero = f_.cast(f_.integer(0), type->scalar), one = f_.cast(f_.integer(1), type->scalar);
    return exchange(*element, [&](ValueId before) {
        if (name == "inc") {
            const ValueId ends = f_.apply(OpId::kGreaterEqual, {before, value});
            return f_.apply(OpId::kSelect, {ends, zero, f_.apply(OpId::kAdd, {before, one})});
        }
        const ValueId ends = f_.apply(OpId::kLogicalOr, {f_.apply(OpId::kEqual, {before, zero}),
                                                         f_.apply(OpId::kGreater, {before, value})});
        return f_.apply(OpId::kSelect, {ends, value, f_.apply(OpId::kSubtract, {before, one})});
    });
}

}  // namespace weft::lang
