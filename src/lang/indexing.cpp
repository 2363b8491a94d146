#include <algorithm>

#include "core/config.h"
#include "lang/containers/dicts.h"
#include "lang/containers/literal_lists.h"
#include "lang/kernels/kernels.h"
#include "lang/lowering.h"
#include "lang/strings/strings.h"
#include "lang/structures/texts.h"

namespace weft::lang {

namespace {

// In place of an array's axis, beside those of tuples and lists.
constexpr int kOfRange = -4;

}  // namespace

using ir::ValueId;

Value FunctionLowering::tuple_item(const Value& value, size_t index) const {
    size_t at = 0;
    for (size_t i = 0; i < index; ++i) at += part_count(value.type->parts[i]);
    return take(value.type->parts[index], value.parts, at);
}

Value FunctionLowering::shape_of(const Value& array) const {
    const TypeRef size = scalar_type(ScalarType::kInt64, true);
    Value shape{tuple_type(std::vector<TypeRef>(array.type->rank, size)), {}, 0};
    for (size_t d = 0; d < array.type->rank; ++d) shape.parts.push_back(size_of(array, d));
    return shape;
}

std::vector<NodeId> FunctionLowering::items_of(NodeId id) const {
    const std::vector<NodeId>& children = node(id).children;
    return {children.begin() + 1, children.end()};
}

// rows[i] in rows[i][j]: what the list keeps while nothing else happens is not counted.
Value FunctionLowering::lower_borrowed(NodeId id, Environment& environment) {
    const std::function<bool(NodeId)> calls = [&](NodeId each) {
        const Node& inner = node(each);
        return inner.kind == NodeKind::kCall || inner.kind == NodeKind::kWalrus ||
               std::any_of(inner.children.begin(), inner.children.end(), calls);
    };
    if (node(id).kind != NodeKind::kIndex || calls(id)) return lower(id, environment);
    const Value base = required(lower_borrowed(node(id).children[0], environment), id);
    if (is_list(base.type)) return list_at(id, base, environment, true);
    return lower(id, environment);
}

// Whether it spells a type of arrays, numba.float64[:, ::1], which says nothing here.
bool FunctionLowering::is_array_type(const Value& base, std::span<const NodeId> items) const {
    if (base.type->kind != TypeKind::kSymbol || base.type->symbol->kind != SymbolKind::kKnown) return false;
    const std::string_view path = base.type->symbol->path;
    return path.starts_with("numpy.") && DType::find(path.substr(6)) != nullptr &&
           std::all_of(items.begin(), items.end(),
                       [&](NodeId item) { return node(item).kind == NodeKind::kSlice; });
}

Value FunctionLowering::lower_index(NodeId id, Environment& environment) {
    const Value base = required(lower_borrowed(node(id).children[0], environment), id);
    if (base.type->kind == TypeKind::kNever) return base;
    if (base.type->kind == TypeKind::kTuple) {
        const std::vector<NodeId> items = items_of(id);
        const auto length = static_cast<int64_t>(base.type->parts.size());
        if (items.size() != 1) fail(id, "a tuple has one index", "Write t[i][j].");
        const Value index = number_of(items[0], environment);
        if (index.type->kind == TypeKind::kNever) return index;
        const auto known = literal_integer(index.type);
        if (is_literal_list(base.type) && !known)
            fail(id, "Cannot __getitem__ on a literal list: its elements are of several types",
                 "Index it by constants, or write tuples.");
        if (index.type->kind == TypeKind::kSlice) return tuple_slice(items[0], index, base);
        if (length == 0) {  // Python's error, when it is reached
            check(boolean(false).parts[0], site("IndexError", "tuple index out of range"), {}, id);
            return scalar(scalar_type(ScalarType::kInt64, true), integer(0).parts[0]);
        }
        if (known) {
            const int64_t at = *known < 0 ? *known + length : *known;
            if (at < 0 || at >= length)
                fail(id, std::string(is_literal_list(base.type) ? "list" : "tuple") +
                             " index out of range: the " + (is_literal_list(base.type) ? "list" : "tuple") +
                             " has " + std::to_string(length) + " items");
            return tuple_item(base, static_cast<size_t>(at));
        }
        return any_item(base, checked_index(index, integer(length).parts[0], kOfTuple, id), id);
    }
    if (is_any_text(base.type)) return Strings(*this, id).item(base, id, environment);
    if (is_dict(base.type)) return Dicts(*this, id).item(base, id, environment);
    if (is_list(base.type)) return list_at(id, base, environment, false);
    if (base.type->kind == TypeKind::kRange) {
        const std::vector<NodeId> items = items_of(id);
        if (items.size() != 1) fail(id, "a range has one index");
        const Value index = number_of(items[0], environment);
        if (index.type->kind == TypeKind::kNever) return index;
        if (index.type->kind == TypeKind::kSlice)
            fail(id, "a range has no slices in a compiled function", "Make a range of other bounds.");
        const Sequence sequence = range_sequence(base, id);
        return sequence.element(checked_index(index, sequence.count(), kOfRange, id));
    }
    if (base.type->kind == TypeKind::kTogether && base.type->text == "flat")
        return load(element_of_flat(id, base, environment));
    if (base.type->kind == TypeKind::kSymbol && base.type->symbol->record != nullptr)
        return member_of(id, *base.type->symbol->record, environment);
    if (is_array_type(base, items_of(id))) return none();
    if (!is_strided(base.type))
        fail(id, lang::describe(base.type) + " cannot be indexed in a compiled function",
             "Give an array, a list or a tuple.");
    const std::vector<IndexItem> items = index_items(id, environment);
    if (has_never(items)) return never();
    if (is_field(base.type, items)) return field_of(base, items[0].value, items[0].node);
    if (has_array(items)) return selected(id, base, items);
    if (const std::optional<Element> element = element_of(id, base, items)) return load(*element);
    return sliced(id, base, items);
}

// An index of a list or a tuple, where bools are numbers; or a slice.
Value FunctionLowering::number_of(NodeId item, Environment& environment) {
    const Value index = required(lower_item(item, environment), item);
    const bool is_other = index.type->kind == TypeKind::kNever || index.type->kind == TypeKind::kSlice;
    if (!is_other && !is_bool(index.type)) expect_index(index.type, item);
    return index;
}

Value FunctionLowering::lower_item(NodeId item, Environment& environment) {
    if (node(item).kind == NodeKind::kSlice) return lower_slice(item, environment);
    const Value index = lower(item, environment);
    // Arrays without dimensions are numbers where they are indices.
    const bool is_number =
        is_array(index.type) && index.type->rank == 0 && DType(index.type->scalar).is_integer();
    return is_number ? load({index, {}}) : index;
}

// start:stop:step
Value FunctionLowering::lower_slice(NodeId id, Environment& environment) {
    Arguments bounds{{}, {}, id};
    for (const NodeId child : node(id).children) {
        bounds.positional.push_back(lower_item(child, environment));
        expect_bound(bounds.positional.back(), child);
    }
    return make_slice("an index", bounds);
}

void FunctionLowering::expect_bound(const Value& bound, NodeId where) const {
    TypeRef type = bound.type->kind == TypeKind::kOptional ? bound.type->parts[0] : bound.type;
    const bool is_member = type->kind == TypeKind::kRecord && type->record->is_integer;
    if (type->kind == TypeKind::kNone || type->kind == TypeKind::kNever || is_member || is_integer(type))
        return;
    fail(where, "an integer is needed here, not " + lang::describe(type),
         is_float(type) ? "Convert it by int(...), or divide by //." : "");
}

// slice(start, stop, step)
Value FunctionLowering::make_slice(const std::string& name, const Arguments& arguments) {
    expect_arguments(name, arguments, 1, 3);
    std::vector<Value> bounds = arguments.positional;
    if (bounds.size() == 1) bounds.insert(bounds.begin(), none());
    bounds.resize(3, none());
    for (Value& bound : bounds) {
        if (bound.type->kind == TypeKind::kNever) return bound;
        if (bound.type->kind == TypeKind::kRecord) bound = required(bound, arguments.where);
        expect_bound(bound, arguments.where);
    }
    Value slice = tuple(std::move(bounds));
    slice.type = slice_type(slice.type->parts);
    return slice;
}

bool FunctionLowering::is_whole(const Value& slice) {
    const TypeRef step = slice.type->parts[2];
    return step->kind == TypeKind::kNone || literal_integer(step) == 1;
}

// Color["red"]
Value FunctionLowering::member_of(NodeId id, const Record& record, Environment& environment) {
    const std::vector<NodeId> items = items_of(id);
    const Value name = lower(items[0], environment);
    if (!record.is_enumeration || items.size() != 1 || name.type->kind != TypeKind::kString)
        fail(id, "class " + record.name + " cannot be indexed in a compiled function");
    const auto at = std::find(record.fields.begin(), record.fields.end(), name.type->text);
    if (at == record.fields.end()) {
        check(boolean(false).parts[0], site("KeyError", name.type->text), {}, id);
        return never();
    }
    const TypeRef number =
        literal_type(Constant::of(ScalarType::kInt64, int64_t{at - record.fields.begin()}));
    return constant_of(record_type(&record, {number}));
}

// By known bounds, since its length is part of its type.
Value FunctionLowering::tuple_slice(NodeId where, const Value& slice, const Value& tuple) {
    std::optional<int64_t> bounds[3];
    for (size_t k = 0; k < 3; ++k) {
        const TypeRef bound = slice.type->parts[k];
        bounds[k] = literal_integer(bound);
        if (!bounds[k] && bound->kind != TypeKind::kNone)
            fail(where, "a tuple is sliced by known numbers only", "Write numbers, or make an array of it.");
    }
    const auto length = static_cast<int64_t>(tuple.type->parts.size());
    const int64_t step = bounds[2].value_or(1);
    if (step == 0) fail(where, "slice step cannot be zero");
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? length : length - 1;
    const auto at = [&](const std::optional<int64_t>& bound, int64_t otherwise) {
        if (!bound) return otherwise;
        return std::clamp(*bound < 0 ? *bound + length : *bound, low, high);
    };
    const int64_t stop = at(bounds[1], step > 0 ? high : low);
    std::vector<Value> items;
    for (int64_t i = at(bounds[0], step > 0 ? low : high); step > 0 ? i < stop : i > stop; i += step)
        items.push_back(tuple_item(tuple, static_cast<size_t>(i)));
    return this->tuple(std::move(items));
}

// By branches: of arrays, or tuples.
Value FunctionLowering::any_item_of(const Value& tuple, ValueId at, size_t from, TypeRef type, NodeId where) {
    const Value item = convert(tuple_item(tuple, from), type, where);
    if (from + 1 == tuple.type->parts.size() || dry_) return item;
    const auto results = builder_->if_else(
        builder_->apply(OpId::kEqual, {at, integer(static_cast<int64_t>(from)).parts[0]}),
        [&](ir::Builder&, std::span<const ValueId>) { return item.parts; },
        [&](ir::Builder&, std::span<const ValueId>) {
            return any_item_of(tuple, at, from + 1, type, where).parts;
        });
    return {type, {results.begin(), results.end()}, 0};
}

// The item of that number, where all are of one type.
Value FunctionLowering::any_item(const Value& tuple, ValueId at, NodeId where) {
    const std::vector<TypeRef>& parts = tuple.type->parts;
    if (parts.empty()) fail(where, "the tuple is empty");
    TypeRef type = parts[0];
    for (TypeRef part : parts) {
        type = joined(type, part);
        if (type == nullptr)
            fail(where, "items of different types are taken by known indices only",
                 "Write a number as the index.");
    }
    type = without_literals(type);
    if (!is_scalar(type)) return any_item_of(tuple, at, 0, type, where);
    Value result = convert(tuple_item(tuple, 0), type, where);
    const bool is_index = !dry_ && type->scalar == ScalarType::kInt64;
    Fact any{INT64_MAX, INT64_MIN, {}, 0};
    for (size_t i = 1; i < parts.size(); ++i) {
        const Value item = convert(tuple_item(tuple, i), type, where);
        const ValueId is_it = apply(OpId::kEqual, {at, integer(static_cast<int64_t>(i)).parts[0]});
        result = scalar(type, apply(OpId::kSelect, {is_it, item.parts[0], result.parts[0]}));
    }
    for (size_t i = 0; is_index && i < parts.size(); ++i) {
        const Fact known = fact(convert(tuple_item(tuple, i), type, where).parts[0]);
        any.least = std::min(any.least, known.least);
        any.most = std::max(any.most, known.most);
    }
    if (is_index) note(result.parts[0], any);
    return result;
}

std::vector<FunctionLowering::IndexItem> FunctionLowering::index_items(NodeId id, Environment& environment) {
    std::vector<IndexItem> items;
    for (NodeId item : items_of(id)) {
        const Value index = required(lower_item(item, environment), item);
        if (index.type->kind == TypeKind::kTuple) {
            for (size_t i = 0; i < index.type->parts.size(); ++i)
                items.push_back({item, tuple_item(index, i)});
        } else if (is_list(index.type)) {
            items.push_back({item, array_of(index, std::nullopt, item)});
        } else {
            items.push_back({item, index});
        }
    }
    return items;
}

bool FunctionLowering::has_never(std::span<const IndexItem> items) {
    return std::any_of(items.begin(), items.end(),
                       [](const IndexItem& item) { return item.value.type->kind == TypeKind::kNever; });
}

std::optional<FunctionLowering::Element> FunctionLowering::element_of(NodeId id, const Value& base,
                                                                      std::span<const IndexItem> items) {
    element_at_ = id;
    const size_t rank = base.type->rank;
    const bool all = std::none_of(items.begin(), items.end(), [](const IndexItem& item) {
        const TypeKind kind = item.value.type->kind;
        return kind == TypeKind::kSlice || kind == TypeKind::kNone || kind == TypeKind::kEllipsis;
    });
    if (!all || items.size() < rank) return std::nullopt;
    if (items.size() > rank) refuse_many_indices(rank, items.size(), id);
    Element element{base, {}};
    for (size_t d = 0; d < rank; ++d) {
        const Value& index = items[d].value;
        expect_index(index.type, items[d].node);
        element.indices.push_back(written_index(index, size_of(base, d), static_cast<int>(d), id));
    }
    return element;
}

// Negative indices count from the end. What is known to be in bounds is not checked.
ValueId FunctionLowering::checked_index(const Value& index, ValueId size, int axis, NodeId where) {
    ValueId given = as_index(index, where);
    if (dry_) return {};
    const DType dtype(index.type->scalar);
    Fact known = fact(given);
    if (dtype.is_unsigned_integer() && dtype.itemsize() < 8)
        note(given, {0, (int64_t{1} << (8 * dtype.itemsize())) - 1, {}, 0});
    const ValueId told = given;
    const bool from_end = fact(given).most < 0;
    if (from_end) {
        given = builder_->apply(OpId::kAdd, {given, size});
        note_operator(OpId::kAdd, given, told, size);
        known = fact(given);
    }
    // A loop whose checks were hoisted is lowered once more for where the test before it fails.
    const auto note = [&](IndexKind kind) {
        if (!is_second_ && !source_.is_prelude) compilation_.add_index({kind, &source_, where, axis});
    };
    if (is_in_bounds(given, size)) {
        note(IndexKind::kProven);
        return given;
    }
    const bool checks = compilation_.options().check_bounds;
    if (checks && hoist(given, size, known)) {
        note(IndexKind::kBeforeLoop);
        return given;
    }
    if (checks) note(IndexKind::kInPlace);
    ValueId at = given;
    if (!from_end && fact(given).least < 0) {
        const ValueId counted = builder_->apply(OpId::kAdd, {given, size});
        const ValueId is_negative = builder_->apply(OpId::kLess, {given, integer(0).parts[0]});
        at = builder_->apply(OpId::kSelect, {is_negative, counted, given});
    }
    if (!checks) return at;
    // One comparison for both ends: what is negative is large without its sign.
    const ValueId holds = builder_->apply(
        OpId::kLess, {builder_->cast(at, ScalarType::kUInt64), builder_->cast(size, ScalarType::kUInt64)});
    Site outside = site("IndexError", {});
    outside.kind = SiteKind::kIndex;
    outside.axis = std::max(axis, 0);
    if (axis < 0) {
        outside.kind = SiteKind::kFixed;
        outside.text = axis == kOfTuple   ? "tuple index out of range"
                       : axis == kOfList  ? "list index out of range"
                       : axis == kOfRange ? "range object index out of range"
                                          : "list assignment index out of range";
    }
    check(holds, std::move(outside), {told, size}, where);
    return at;
}

// A number in the brackets of an array.
ValueId FunctionLowering::written_index(const Value& index, ValueId size, int axis, NodeId where) {
    if (!source_.stays_in_bounds || dry_) return checked_index(index, size, axis, where);
    const ValueId given = as_index(index, where);
    if (fact(given).most < 0) return checked_index(index, size, axis, where);
    if (config().verify.load(std::memory_order_relaxed) && !is_in_bounds(given, size)) {
        const ValueId holds = builder_->apply(OpId::kLess, {builder_->cast(given, ScalarType::kUInt64),
                                                            builder_->cast(size, ScalarType::kUInt64)});
        check(holds, site("IndexError", "weft's own " + source_.name + " leaves an array"), {}, where);
    }
    return given;
}

Value FunctionLowering::load(const Element& element) {
    if (is_structures(element.array.type)) {
        const Value structure = structure_at(element);
        if (ArrayTexts::is_text(structure.type)) return ArrayTexts(*this, element_at_).read(structure);
        return structure.type->layout->record != nullptr ? instance_of(structure) : structure;
    }
    const TypeRef type = scalar_type(element.array.type->scalar);
    if (compilation_.options().tells_accesses)
        Kernels(*this, {}, element_at_).tell_access(ThreadEvent::kRead, element);
    return scalar(type, dry_ ? ValueId{} : builder_->load(element.array.parts[0], element.indices));
}

void FunctionLowering::store(const Element& element, const Value& given, NodeId where) {
    Value value = required(given, where);
    const TypeRef array = element.array.type;
    expect_writeable(array, where);
    if (value.type->kind == TypeKind::kNever) return;
    if (is_array(value.type) && value.type->rank == 0) value = load({value, {}});
    if (is_structures(array)) return store_structure(structure_at(element), value, where);
    if (!is_scalar(value.type))
        fail(where,
             lang::describe(value.type) + " cannot be stored in an element of " + lang::describe(array),
             is_array(value.type) ? "Write a slice on the left: a[i:j]." : "Store a number.");
    if (is_complex(value.type) && !DType(array->scalar).is_complex())
        fail(where, "a complex number cannot be stored in " + lang::describe(array), "Store its .real.");
    target_.written.insert(array->scope);
    if (dry_) return;
    const ValueId written = cast(value, array->scalar);
    if (compilation_.options().tells_accesses)
        Kernels(*this, {}, where).tell_access(ThreadEvent::kWrite, element, written);
    builder_->store(element.array.parts[0], written, element.indices);
}

}  // namespace weft::lang
