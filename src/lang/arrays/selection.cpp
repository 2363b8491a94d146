// Indices that are arrays: of integers, or of bools, which stand for the places where they are true.
#include <algorithm>
#include <array>

#include "lang/arrays/functions.h"
#include "lang/dates/dates.h"

namespace weft::lang {

using ir::ValueId;

bool FunctionLowering::has_array(std::span<const IndexItem> items) {
    return std::any_of(items.begin(), items.end(),
                       [](const IndexItem& item) { return is_array(item.value.type); });
}

// What an index with arrays chooses: `base` without what other indices leave out, and where in it.
struct FunctionLowering::Selection {
    struct Chosen {
        size_t axis;  // of base
        Value places;
        bool is_known;  // to be in bounds, and not negative
    };
    Value base{};
    std::vector<Chosen> chosen{};
    std::vector<ValueId> places{};  // the shape that the arrays have together
    size_t before = 0;              // axes of base before that of the places
    std::vector<ValueId> shape{};
    std::vector<size_t> others{};  // axes of base that no array chooses from
};

// A mask has the sizes of the axes from `axis` on.
void FunctionLowering::check_mask(const Value& base, size_t axis, const IndexItem& mask) {
    for (size_t d = 0; d < mask.value.type->rank; ++d) {
        const ValueId size = size_of(base, axis + d), own = size_of(mask.value, d);
        Site shapes = site("IndexError", {});
        shapes.kind = SiteKind::kTold;
        shapes.told = {
            format_type("boolean index did not match indexed array along axis " + std::to_string(axis + d) +
                            "; size of axis is {} but size of corresponding boolean axis is {}",
                        {scalar_type(ScalarType::kInt64, true), scalar_type(ScalarType::kInt64, true)})};
        check(apply(OpId::kEqual, {size, own}), std::move(shapes), {size, own}, mask.node);
    }
}

// a[mask], which needs no list of places.
bool FunctionLowering::is_mask(const Value& base, std::span<const IndexItem> items) {
    if (items.size() != 1 || !is_array(base.type) || !is_array(items[0].value.type)) return false;
    const TypeRef mask = items[0].value.type;
    return DType(mask->scalar).is_bool() && mask->rank > 0 && mask->rank <= base.type->rank;
}

FunctionLowering::Selection FunctionLowering::selection(NodeId id, const Value& base,
                                                        std::span<const IndexItem> items) {
    const size_t rank = base.type->rank;
    if (!is_array(base.type))
        fail(id, lang::describe(base.type) + " is not indexed by arrays in a compiled function");
    size_t taken = 0;
    for (const IndexItem& item : items) {
        const TypeRef type = item.value.type;
        if (is_array(type)) {
            const DType dtype(type->scalar);
            if (!dtype.is_bool() && !dtype.is_integer())
                fail(item.node, "arrays used as indices must be of integer (or boolean) type",
                     "Convert it: i.astype(np.int64).");
            if (dtype.is_bool() && type->rank == 0)
                fail(item.node, "a bool is no index in a compiled function", "Write an if.");
            taken += dtype.is_bool() ? type->rank : 1;
        } else if (type->kind != TypeKind::kNone && type->kind != TypeKind::kEllipsis) {
            ++taken;
        }
    }
    if (taken > rank) refuse_many_indices(rank, taken, id);

    Selection found;
    std::vector<IndexItem> plain;  // without the arrays
    size_t axis = 0, of_base = 0;  // of what the plain indices leave, and of base
    bool any = false, apart = false, gap = false;
    const Value whole_axis = make_slice("an index", {{none()}, {}, id});
    const auto choose = [&] {
        apart |= any && gap;
        if (!any) found.before = axis;
        any = true;
        gap = false;
    };
    for (const IndexItem& item : items) {
        const TypeRef type = item.value.type;
        if (is_array(type)) {
            choose();
            std::vector<Value> each = {item.value};
            if (DType(type->scalar).is_bool()) {
                check_mask(base, of_base, item);
                each = ArrayFunctions(*this, "nonzero", {{}, {}, item.node}).places(item.value);
            }
            for (const Value& places : each) {
                found.chosen.push_back({axis++, places, DType(type->scalar).is_bool()});
                plain.push_back({item.node, whole_axis});
                ++of_base;
            }
            continue;
        }
        plain.push_back(item);
        switch (type->kind) {
            case TypeKind::kEllipsis:
                axis += rank - taken;
                of_base += rank - taken;
                gap = true;
                break;
            case TypeKind::kNone:
                ++axis;
                gap = true;
                break;
            case TypeKind::kSlice:
                ++axis;
                ++of_base;
                gap = true;
                break;
            default:  // a number, which leaves no axis
                choose();
                ++of_base;
        }
    }
    found.base = sliced(id, base, plain);
    if (apart) found.before = 0;  // NumPy's rule
    std::vector<Value> arrays;
    for (const auto& chosen : found.chosen) arrays.push_back(chosen.places);
    found.places = broadcast_shape(arrays, id);
    for (size_t d = 0; d < found.base.type->rank; ++d) {
        const bool is_chosen = std::any_of(found.chosen.begin(), found.chosen.end(),
                                           [&](const auto& chosen) { return chosen.axis == d; });
        if (!is_chosen) found.others.push_back(d);
    }
    const auto size = [&](size_t other) { return size_of(found.base, found.others[other]); };
    for (size_t i = 0; i < found.before; ++i) found.shape.push_back(size(i));
    found.shape.insert(found.shape.end(), found.places.begin(), found.places.end());
    for (size_t i = found.before; i < found.others.size(); ++i) found.shape.push_back(size(i));
    // All are looked at before anything is read or written.
    for (const auto& chosen : found.chosen) {
        if (chosen.is_known) continue;
        const ValueId extent = size_of(found.base, chosen.axis);
        for_each_element(chosen.places, [&](std::span<const ValueId> indices) {
            const Value at = load({chosen.places, {indices.begin(), indices.end()}});
            checked_index(at, extent, static_cast<int>(chosen.axis), id);
        });
    }
    return found;
}

// The element of the base for indices of the result.
FunctionLowering::Element FunctionLowering::chosen_element(const Selection& selection,
                                                           std::span<const ValueId> indices, NodeId where) {
    Element element{selection.base, std::vector<ValueId>(selection.base.type->rank)};
    for (size_t i = 0; i < selection.others.size(); ++i) {
        const size_t at = i < selection.before ? i : i + selection.places.size();
        element.indices[selection.others[i]] = indices[at];
    }
    const std::span<const ValueId> own = indices.subspan(selection.before, selection.places.size());
    for (const auto& chosen : selection.chosen) {
        const Value place = element_for(chosen.places, selection.places, own, /*repeats=*/true);
        const ValueId given = as_index(place, where);
        element.indices[chosen.axis] = given;
        if (chosen.is_known) continue;
        const ValueId counted = apply(OpId::kAdd, {given, size_of(selection.base, chosen.axis)});
        const ValueId is_negative = apply(OpId::kLess, {given, integer(0).parts[0]});
        element.indices[chosen.axis] = apply(OpId::kSelect, {is_negative, counted, given});
    }
    return element;
}

Value FunctionLowering::selected(NodeId id, const Value& base, std::span<const IndexItem> items) {
    if (Dates::is_date(base)) {
        Dates dates(*this, id);
        return dates.dated(selected(id, dates.counts(base), items), *date_of(base.type));
    }
    if (is_mask(base, items)) {
        check_mask(base, 0, items[0]);
        const Value& mask = items[0].value;
        std::vector<ValueId> shape = {call_prelude("arrays.count_of", {{mask}, {}, id}).parts[0]};
        for (size_t d = mask.type->rank; d < base.type->rank; ++d) shape.push_back(size_of(base, d));
        const Value result = allocate(base.type->scalar, shape, id);
        call_prelude("arrays.take_true", {{base, mask, result, integer(0)}, {}, id});
        return result;
    }
    const Selection found = selection(id, base, items);
    const Value result = allocate(base.type->scalar, found.shape, id);
    for_each_element(result, [&](std::span<const ValueId> indices) {
        store({result, {indices.begin(), indices.end()}}, load(chosen_element(found, indices, id)), id);
    });
    return result.type->rank == 0 ? load({result, {}}) : result;
}

void FunctionLowering::store_selected(NodeId id, const Value& base, std::span<const IndexItem> items,
                                      const Value& given) {
    expect_writeable(base.type, id);
    Value value = required(given, id);
    if (value.type->kind == TypeKind::kNever) return;
    if (Dates::is_date(base) && Dates::is_date(value)) {
        Dates dates(*this, id);
        return store_selected(id, dates.counts(base), items,
                              dates.counts(dates.converted(value, *date_of(base.type))));
    }
    if (is_mask(base, items) && is_scalar(value.type)) {
        check_mask(base, 0, items[0]);
        Value mask = items[0].value;  // which is read before anything is written
        if (mask.type->scope == base.type->scope && !mask.fresh) mask = array_of(mask, std::nullopt, id);
        call_prelude("arrays.put_true", {{base, mask, value}, {}, id});
        return;
    }
    const Selection found = selection(id, base, items);
    if (is_list(value.type)) value = array_of(value, std::nullopt, id);
    if (is_array(value.type)) {
        value = without_leading(value, found.shape.size(), id);
        if (value.type->scope == base.type->scope) value = array_of(value, std::nullopt, id);
        for (size_t d = 0; d < value.type->rank; ++d) {
            const size_t axis = found.shape.size() - value.type->rank + d;
            const ValueId size = size_of(value, d), wanted = found.shape[axis];
            Site shapes = site("ValueError", {});
            shapes.kind = SiteKind::kBroadcast;
            shapes.axis = static_cast<int>(axis);
            check(apply(OpId::kLogicalOr, {apply(OpId::kEqual, {size, wanted}),
                                           apply(OpId::kEqual, {size, integer(1).parts[0]})}),
                  std::move(shapes), {size, wanted}, id);
        }
    } else if (!is_scalar(value.type)) {
        fail(id, lang::describe(value.type) + " cannot be stored in a part of " + lang::describe(base.type));
    }
    for_each_place(found.shape, [&](std::span<const ValueId> indices) {
        store(chosen_element(found, indices, id), element_for(value, found.shape, indices, /*repeats=*/true),
              id);
    });
}

void FunctionLowering::update_selected(NodeId id, const Value& base, std::span<const IndexItem> items,
                                       const std::optional<Value>& given,
                                       const std::function<Value(std::span<const Value>)>& each) {
    expect_writeable(base.type, id);
    const Selection found = selection(id, base, items);
    Value value = given.value_or(none());
    if (is_array(value.type)) {
        if (value.type->rank > found.shape.size())
            fail(id, "array is not broadcastable to correct shape: it has " +
                         std::to_string(value.type->rank) + " dimensions, and the indices choose " +
                         std::to_string(found.shape.size()));
        if (value.type->scope == base.type->scope) value = array_of(value, std::nullopt, id);
        for (size_t d = 0; d < value.type->rank; ++d) {
            const ValueId size = size_of(value, d);
            const ValueId wanted = found.shape[found.shape.size() - value.type->rank + d];
            check(apply(OpId::kLogicalOr, {apply(OpId::kEqual, {size, wanted}),
                                           apply(OpId::kEqual, {size, integer(1).parts[0]})}),
                  site("ValueError", "array is not broadcastable to correct shape"), {}, id);
        }
    }
    for_each_place(found.shape, [&](std::span<const ValueId> indices) {
        const Element element = chosen_element(found, indices, id);
        std::vector<Value> operands = {load(element)};
        if (given) operands.push_back(element_for(value, found.shape, indices, /*repeats=*/true));
        const Value result = each(operands);
        store(element,
              is_complex(result.type) && !DType(base.type->scalar).is_complex()
                  ? by_loop(*find_op("real"), std::span(&result, 1), id)
                  : result,
              id);
    });
}

}  // namespace weft::lang
