// Lists: blocks whose heads stay where they are (list_layout.h), and what Python does with them. What needs a
// loop is in the prelude (prelude/of_lists.py).
#include <algorithm>
#include <array>

#include "lang/containers/dicts.h"
#include "lang/containers/literal_lists.h"
#include "lang/lowering.h"
#include "lang/prelude.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// Of the heads of lists, and of their elements, by type: neither shares memory with arrays.
constexpr uint16_t kHeadScope = 1001;
constexpr uint16_t kItemScope = 1002;

}  // namespace

// --- memory ---------------------------------------------------------------------------------------------

ir::BufferType FunctionLowering::list_head_type() {
    ir::BufferType type;
    type.element = ScalarType::kInt64;
    type.alias_scope = kHeadScope;
    type.strides = {kListWordSize};
    return type;
}

// `room` elements fit before it grows. `which`: of those that the node makes.
Value FunctionLowering::make_list(NodeId where, int which, size_t room) {
    ListPlace place{&source_, arguments_, nullptr, 0, where, which};
    if (has_lists_of_call(source_)) {
        place.caller = caller_.function;
        place.call = caller_.node;
    }
    ScopeMap& scopes = compilation_.scopes();
    const TypeRef type = scopes.canonical(scopes.lists.type_of(scopes.lists.made_at(std::move(place)),
                                                               [](TypeRef element) { return element; }));
    Value result{type, {}, 0, true};
    if (dry_) {
        result.parts.resize(part_count(type));
        return result;
    }
    Site none = site("MemoryError", "there is no memory for a list");
    none.function = spot(where).function;
    none.node = spot(where).node;
    constexpr int64_t kOwnerAt = static_cast<int64_t>(ListWord::kOwner) * kListWordSize;
    const ir::Builder::HeapBlock head =
        builder_->heap(list_head_type(), builder_->index(kListHeadSize), {}, compilation_.add_site(none),
                       {kOwnerAt, 2 * kListWordSize, 1});
    result.parts = {head.buffer, head.owner};
    set_list_word(result, ListWord::kLength, builder_->index(0));
    set_list_word(result, ListWord::kCapacity, builder_->index(0));
    set_list_word(result, ListWord::kAddress, builder_->index(0));
    if (room > 0) grow_list(result, builder_->index(static_cast<int64_t>(room)), where);
    add_temporary(result);
    return result;
}

ValueId FunctionLowering::list_word(const Value& list, ListWord word) {
    if (dry_) return {};
    return builder_->load(list.parts[0], std::array{builder_->index(static_cast<int64_t>(word))});
}

void FunctionLowering::set_list_word(const Value& list, ListWord word, ValueId value) {
    target_.written_lists.insert(list.type->list);
    if (!dry_) builder_->store(list.parts[0], value, std::array{builder_->index(static_cast<int64_t>(word))});
}

ValueId FunctionLowering::length_of(const Value& list) {
    const ValueId length = list_word(list, ListWord::kLength);
    note(length, {0, int64_t{1} << 48, {}, 0});
    return length;
}

// Gives the list room for so many elements, which are more than before.
void FunctionLowering::grow_list(const Value& list, ValueId room, NodeId where) {
    const ItemLayout layout = item_layout(list.type->parts[0]);
    Site none = site("MemoryError", "there is no memory for a list");
    none.function = spot(where).function;
    none.node = spot(where).node;
    ir::BufferType bytes;
    bytes.element = ScalarType::kUInt8;
    bytes.alias_scope = kItemScope;
    bytes.strides = {1};
    const ValueId size = builder_->apply(OpId::kMultiply, {room, builder_->index(layout.stride)});
    const ir::Builder::HeapBlock block = builder_->heap(
        bytes, size, {}, compilation_.add_site(none),
        {0, layout.owners > 0 ? layout.stride : 0, layout.owners}, list_word(list, ListWord::kOwner));
    set_list_word(list, ListWord::kCapacity, room);
    set_list_word(list, ListWord::kOwner, block.owner);
    set_list_word(list, ListWord::kAddress, builder_->address(block.buffer));
}

// Room for so many elements so many times, at once, so that there is an error where they have no place.
void FunctionLowering::reserve(const Value& list, ValueId count, ValueId times, NodeId where) {
    const auto real = [&](ValueId value) { return builder_->cast(value, ScalarType::kFloat64); };
    constexpr double kMostBytes = 281474976710656.0;  // 2**48: no address space has more
    const auto stride = static_cast<double>(item_layout(list.type->parts[0]).stride);
    const ValueId elements = builder_->apply(OpId::kMultiply, {real(count), real(times)});
    check(builder_->apply(OpId::kLessEqual, {elements, builder_->constant(Constant::of(
                                                           ScalarType::kFloat64, kMostBytes / stride))}),
          site("MemoryError", "there is no memory for a list"), {}, where);
    const ValueId room = builder_->apply(OpId::kMultiply, {count, times});
    builder_->if_else(
        builder_->apply(OpId::kGreater, {room, builder_->index(0)}),
        [&](ir::Builder&, std::span<const ValueId>) {
            grow_list(list, room, where);
            return std::vector<ValueId>();
        },
        [](ir::Builder&, std::span<const ValueId>) { return std::vector<ValueId>(); });
}

ValueId FunctionLowering::item_buffer(ValueId address, const ItemPart& part, int64_t stride) {
    ir::BufferType type;
    type.element = part.type;
    type.alias_scope = static_cast<uint16_t>(kItemScope + 1 + static_cast<uint16_t>(part.type));
    type.strides = {stride};
    const ValueId at =
        part.offset == 0 ? address : builder_->apply(OpId::kAdd, {address, builder_->index(part.offset)});
    return builder_->memory(type, at);
}

// --- elements -------------------------------------------------------------------------------------------

// The elements have a type that holds this one, too; if not yet, types are found again.
void FunctionLowering::widen(const Value& list, TypeRef given, NodeId where) {
    // What is made of values where it is needed is made now.
    const std::function<TypeRef(TypeRef)> as_item = [&](TypeRef part) {
        if (part->kind == TypeKind::kFormat) return text_type();
        if (part->kind != TypeKind::kTuple) return part;
        std::vector<TypeRef> items;
        for (TypeRef item : part->parts) items.push_back(as_item(item));
        return with_parts(part, std::move(items));
    };
    TypeRef type = as_item(without_literals(given));
    TypeRef element = list.type->parts[0];
    if (type->kind == TypeKind::kNever) return;
    if (!is_item(type))
        fail(where, "a list cannot hold " + lang::describe(type) + " in a compiled function",
             "Lists hold numbers, None, tuples and lists of such.");
    TypeRef both = joined(element, type);
    if (both == nullptr)
        fail(where, "a list of " + lang::describe(element) + " is given " + lang::describe(type),
             "The elements of a list are of one type; write tuples, or two lists.",
             list.origin == 0 ? std::vector<std::pair<NodeId, std::string>>{}
                              : std::vector<std::pair<NodeId, std::string>>{{list.origin, "The list is"}});
    both = without_literals(both);
    if (both == element) return;
    if (compilation_.scopes().lists.holds(both, list.type->list))
        fail(where, "a list cannot hold itself in a compiled function");
    throw ListGrows{list.type->list, both};
}

// `moves`: the list gives it up. `borrows`: it is used before anything else happens.
Value FunctionLowering::load_item(const Value& list, ValueId index, bool moves, bool borrows) {
    TypeRef element = list.type->parts[0];
    if (element->kind == TypeKind::kNever) {
        // Nothing is ever added to it, so that any type will do.
        if (!dry_) throw ListGrows{list.type->list, scalar_type(ScalarType::kInt64, true)};
        return never();
    }
    Value result{element, std::vector<ValueId>(part_count(element)), 0};
    result.fresh = has_owner(element) && !borrows;
    if (dry_) return result;
    const ItemLayout layout = item_layout(element);
    const ValueId address = list_word(list, ListWord::kAddress);
    std::vector<ir::Type> types;
    append_ir_types(types, element, true);
    for (size_t i = 0; i < types.size(); ++i) {
        const ValueId buffer = item_buffer(address, layout.parts[i], layout.stride);
        const ValueId part = builder_->load(buffer, std::array{index});
        result.parts[i] = types[i].is_buffer ? builder_->memory(types[i].buffer, part) : part;
        if (moves && layout.parts[i].is_owner) builder_->store(buffer, builder_->index(0), std::array{index});
    }
    const bool fresh = result.fresh;
    result = inside(result);
    result.fresh = fresh;
    if (fresh && !moves) count_owners(result, true);
    if (fresh) add_temporary(result);
    return result;
}

// `replaces`: there is an element, which loses its user.
void FunctionLowering::store_item(const Value& list, ValueId index, const Value& given, bool replaces,
                                  NodeId where) {
    TypeRef element = list.type->parts[0];
    widen(list, given.type, where);
    target_.written_lists.insert(list.type->list);
    if (given.type->kind == TypeKind::kNever || element->kind == TypeKind::kNever || dry_) return;
    const Value value = kept(given);
    if (replaces && has_owner(element)) {
        const size_t temporaries = temporaries_.size();
        const Value before = load_item(list, index, true);
        end_temporaries(temporaries);
    }
    const ItemLayout layout = item_layout(element);
    const ValueId address = list_word(list, ListWord::kAddress);
    const std::vector<ValueId> parts = at_border(convert(value, element, where)).parts;
    for (size_t i = 0; i < parts.size(); ++i) {
        const ValueId part = layout.parts[i].is_address ? builder_->address(parts[i]) : parts[i];
        builder_->store(item_buffer(address, layout.parts[i], layout.stride), part, std::array{index});
    }
}

void FunctionLowering::append_item(const Value& list, const Value& value, NodeId where) {
    widen(list, value.type, where);
    if (dry_ || value.type->kind == TypeKind::kNever) return;
    const ValueId length = list_word(list, ListWord::kLength);
    const ValueId room = list_word(list, ListWord::kCapacity);
    builder_->if_else(
        builder_->apply(OpId::kLess, {length, room}),
        [](ir::Builder&, std::span<const ValueId>) { return std::vector<ValueId>(); },
        [&](ir::Builder&, std::span<const ValueId>) {
            constexpr int64_t kLeast = 4;
            const ValueId twice = builder_->apply(OpId::kAdd, {room, room});
            grow_list(list, builder_->apply(OpId::kMaximum, {twice, builder_->index(kLeast)}), where);
            return std::vector<ValueId>();
        });
    store_item(list, length, value, false, where);
    set_list_word(list, ListWord::kLength, builder_->apply(OpId::kAdd, {length, builder_->index(1)}));
}

Value FunctionLowering::pop_last(const Value& list, NodeId where) {
    const ValueId length = length_of(list);
    const ValueId last = apply(OpId::kSubtract, {length, integer(1).parts[0]});
    check(apply(OpId::kGreater, {length, integer(0).parts[0]}), site("IndexError", "pop from empty list"), {},
          where);
    Value result = load_item(list, last, true);
    set_list_word(list, ListWord::kLength, last);
    return result;
}

// --- expressions ----------------------------------------------------------------------------------------

Value FunctionLowering::lower_list(NodeId id, Environment& environment) {
    const std::vector<NodeId>& items = node(id).children;
    constexpr size_t kMost = 64;  // elements of several types
    const bool is_plain =
        std::ranges::none_of(items, [&](NodeId item) { return node(item).kind == NodeKind::kStarred; });
    if (is_plain && items.size() > 1 && items.size() <= kMost) {
        std::vector<Value> values;
        TypeRef element = simple_type(TypeKind::kNever);
        for (NodeId item : items) {
            values.push_back(lower(item, environment));
            const TypeRef type = without_literals(values.back().type);
            if (type->kind == TypeKind::kNever || element == nullptr) continue;
            element = is_item(type) ? joined(element, type) : nullptr;
        }
        const auto may_be_told = [](const Value& value) {
            return is_item(value.type) || is_literal_list(value.type);
        };
        if (element == nullptr && std::ranges::all_of(values, may_be_told)) {
            Value result = tuple(std::move(values));
            result.type = literal_list_type(result.type);
            return result;
        }
        Value list = make_list(id, 0, items.size());
        for (size_t i = 0; i < items.size(); ++i) append_item(list, values[i], items[i]);
        return list;
    }
    Value list = make_list(id, 0, items.size());
    for (NodeId item : items) {
        if (node(item).kind == NodeKind::kStarred) {
            const NodeId given = node(item).children[0];
            extend_list(list, is_lazy(given) ? collect(given, environment) : lower(given, environment), item);
        } else {
            append_item(list, lower(item, environment), item);
        }
    }
    return list;
}

Value FunctionLowering::list_at(NodeId id, const Value& list, Environment& environment, bool borrows) {
    const std::vector<NodeId> items = items_of(id);
    if (items.size() != 1) fail(id, "a list has one index", "Write l[i][j].");
    const Value index = number_of(items[0], environment);
    if (index.type->kind == TypeKind::kNever) return never();
    if (index.type->kind == TypeKind::kSlice) return list_slice(index, list, items[0]);
    return load_item(list, checked_index(index, length_of(list), kOfList, id), false, borrows);
}

// From `start` on `count` elements, each `step` behind the one before.
std::vector<Value> FunctionLowering::list_range(const Value& slice, const Value& list, NodeId where) {
    const Range range = slice_range(slice, length_of(list), where);
    const TypeRef whole = scalar_type(ScalarType::kInt64, true);
    return {list, scalar(whole, range.start), scalar(whole, range.count),
            range.step.valid() || dry_ ? scalar(whole, range.step) : integer(1)};
}

Value FunctionLowering::list_slice(const Value& slice, const Value& list, NodeId where) {
    return call_lists("slice", list_range(slice, list, where), where);
}

void FunctionLowering::assign_list_item(NodeId target, const Value& list, const Value& value,
                                        Environment& environment) {
    const std::vector<NodeId> items = items_of(target);
    if (items.size() != 1) fail(target, "a list has one index", "Write l[i][j].");
    const Value index = number_of(items[0], environment);
    if (index.type->kind == TypeKind::kNever) return;
    if (index.type->kind == TypeKind::kSlice) {
        std::vector<Value> arguments = list_range(index, list, items[0]);
        arguments.push_back(as_list(value, target));
        const bool by_one = index.type->parts[2]->kind == TypeKind::kNone;
        if (by_one) arguments.erase(arguments.begin() + 3);
        call_lists(by_one ? "replace" : "replace_each", std::move(arguments), target);
        return;
    }
    store_item(list, checked_index(index, length_of(list), kOfListTarget, target), value, true, target);
}

void FunctionLowering::augment_list_item(NodeId id, const Value& list, Environment& environment) {
    const Node& statement = node(id);
    const NodeId target = statement.children[0];
    const std::vector<NodeId> items = items_of(target);
    if (items.size() != 1) fail(target, "a list has one index", "Write l[i][j].");
    const Value index = number_of(items[0], environment);
    if (index.type->kind == TypeKind::kNever) return;
    if (index.type->kind == TypeKind::kSlice)
        fail(target, "a slice of a list is not changed by " + statement.atoms[0] + " in place",
             "Write l[a:b] = ...");
    const Value before = load_item(list, checked_index(index, length_of(list), kOfList, target));
    const Value right = lower(statement.children[1], environment);
    if (is_list(before.type) && (statement.atoms[0] == "add" || statement.atoms[0] == "mul")) {
        if (statement.atoms[0] == "add") return extend_list(before, right, id);
        call_lists("multiply", {before, right}, id);
        return;
    }
    const Value after = binary(statement.atoms[0], before, right, id);
    // What stands on the right may have changed the list.
    store_item(list, checked_index(index, length_of(list), kOfListTarget, target), after, true, target);
}

void FunctionLowering::unpack_list(NodeId target, const Value& list, Environment& environment,
                                   NodeId statement) {
    const std::vector<NodeId>& targets = node(target).children;
    for (NodeId each : targets) {
        if (node(each).kind == NodeKind::kStarred)
            fail(each, "a list is not unpacked by * in a compiled function", "Take slices of it.");
    }
    call_lists("expect_length", {list, integer(static_cast<int64_t>(targets.size()))}, target);
    std::vector<Value> items;
    for (size_t i = 0; i < targets.size(); ++i)
        items.push_back(load_item(list, integer(static_cast<int64_t>(i)).parts[0]));
    for (size_t i = 0; i < targets.size(); ++i) assign(targets[i], items[i], environment, statement);
}

void FunctionLowering::delete_targets(NodeId id, Environment& environment) {
    for (NodeId target : node(id).children) {
        if (node(target).kind == NodeKind::kName) {
            lower_name(target, environment);  // which is an error where it has no value
            Value& variable = environment[static_cast<size_t>(node(target).number)];
            release(variable);
            variable = {simple_type(TypeKind::kUnbound), {}, id};
            continue;
        }
        if (node(target).kind != NodeKind::kIndex)
            fail(target, "this cannot be deleted in a compiled function");
        const Value list = required(lower(node(target).children[0], environment), target);
        if (list.type->kind == TypeKind::kNever) continue;
        if (is_dict(list.type)) {
            Dicts(*this, target).take_out(list, target, environment);
            continue;
        }
        const std::vector<NodeId> items = items_of(target);
        if (is_literal_list(list.type)) expect_items(list.type, target);
        if (!is_list(list.type) || items.size() != 1)
            fail(target, "items of " + lang::describe(list.type) + " cannot be deleted");
        const Value index = required(lower_item(items[0], environment), items[0]);
        if (index.type->kind == TypeKind::kSlice) {
            call_lists("delete_range", list_range(index, list, items[0]), target);
            continue;
        }
        const ValueId at = checked_index(index, length_of(list), kOfListTarget, target);
        call_lists("delete", {list, scalar(scalar_type(ScalarType::kInt64, true), at)}, target);
    }
}

// Iterations of a parallel loop could add to it at the same time.
void FunctionLowering::refuse_list(TypeRef type, const std::string& name, NodeId where) const {
    const std::function<bool(TypeRef)> has_list = [&](TypeRef part) {
        return is_list(part) || std::any_of(part->parts.begin(), part->parts.end(), has_list);
    };
    if (has_list(type))
        fail(where, "'" + name + "' is or has a list, which the iterations of a parallel loop do not share",
             "Make an array of it before the loop: np.array(" + name + ").");
}

FunctionLowering::Sequence FunctionLowering::list_sequence(const Value& list, NodeId) {
    Sequence result;
    result.is_empty = list.type->parts[0]->kind == TypeKind::kNever;
    result.count = [this] { return integer(INT64_MAX).parts[0]; };
    result.length = [this, list] { return length_of(list); };
    result.goes_on = [this, list](ValueId k) { return apply(OpId::kLess, {k, length_of(list)}); };
    result.element = [this, list](ValueId k) { return load_item(list, k); };
    return result;
}

// Of a container that may not grow or shrink meanwhile.
FunctionLowering::Sequence FunctionLowering::sized_sequence(const Value& list, const std::string& container,
                                                            NodeId where) {
    Sequence result = list_sequence(list, where);
    if (result.is_empty) return result;
    const ValueId size = length_of(list);
    result.goes_on = [this, list, container, size, where](ValueId k) {
        const ValueId length = length_of(list);
        check(apply(OpId::kEqual, {length, size}),
              site("RuntimeError", container + " changed size during iteration"), {}, where);
        return apply(OpId::kLess, {k, length});
    };
    return result;
}

// --- functions, methods and operators -------------------------------------------------------------------

Value FunctionLowering::call_lists(const std::string& name, std::vector<Value> arguments, NodeId where) {
    return call_prelude("lists." + name, {std::move(arguments), {}, where});
}

void FunctionLowering::extend_list(const Value& list, const Value& given, NodeId where) {
    const Value more = required(given, where);
    if (more.type->kind == TypeKind::kNever) return;
    call_lists(is_list(more.type) ? "extend" : "extend_by", {list, more}, where);
}

Value FunctionLowering::as_list(const Value& value, NodeId where) {
    return is_list(value.type) ? value : call_lists("copy", {value}, where);
}

Value FunctionLowering::list_method(const Value& list, const std::string& name, const Arguments& arguments) {
    const NodeId where = arguments.where;
    const auto with = [&](std::vector<Value> more) {
        more.insert(more.begin(), list);
        return more;
    };
    for (const Value& value : arguments.positional) {
        if (value.type->kind == TypeKind::kNever) return never();
    }
    const TypeRef whole = scalar_type(ScalarType::kInt64, true);
    const auto number = [&](size_t i) { return scalar(whole, as_index(arguments.positional[i], where)); };
    if (name == "append") {
        expect_arguments(name, arguments, 1, 1);
        append_item(list, arguments.positional[0], where);
        return none();
    }
    if (name == "pop") {
        expect_arguments(name, arguments, 0, 1);
        if (arguments.positional.empty()) return pop_last(list, where);
        return call_lists("pop", with({number(0)}), where);
    }
    if (name == "extend") {
        expect_arguments(name, arguments, 1, 1);
        extend_list(list, arguments.positional[0], where);
        return none();
    }
    if (name == "remove" || name == "count") {
        expect_arguments(name, arguments, 1, 1);
        return call_lists(name, with(arguments.positional), where);
    }
    if (name == "insert") {
        expect_arguments(name, arguments, 2, 2);
        widen(list, arguments.positional[1].type, where);
        return call_lists(name, with({number(0), arguments.positional[1]}), where);
    }
    if (name == "index") {
        expect_arguments(name, arguments, 1, 3);
        std::vector<Value> more = with({arguments.positional[0]});
        for (size_t i = 1; i < arguments.positional.size(); ++i) {
            if (!is_integer(arguments.positional[i].type))
                fail(where, std::string("arg \"") + (i == 1 ? "start" : "stop") +
                                "\" must be an Integer. Not " + lang::describe(arguments.positional[i].type));
            more.push_back(number(i));
        }
        return call_lists(name, std::move(more), where);
    }
    if (name == "clear" || name == "reverse" || name == "copy") {
        expect_arguments(name, arguments, 0, 0);
        return call_lists(name, {list}, where);
    }
    if (name == "sort") {
        if (!arguments.positional.empty()) expect_arguments(name, arguments, 0, 0);
        return call_sorted(arguments, list);
    }
    fail(where, "'list' object has no attribute '" + name + "'",
         meant(name,
               {"append", "extend", "insert", "remove", "pop", "clear", "index", "count", "sort", "reverse",
                "copy"},
               "dir(list) lists what it has."));
}

// sorted(items, key=None, reverse=False), and items.sort(key=None, reverse=False).
Value FunctionLowering::call_sorted(const Arguments& arguments, std::optional<Value> in_place) {
    const NodeId where = arguments.where;
    Value key = none(), reverse = boolean(false);
    for (const auto& [name, value] : arguments.keywords) {
        if (name == "key") {
            key = value;
        } else if (name == "reverse") {
            reverse = scalar(scalar_type(ScalarType::kBool, true), truth(value, where));
        } else {
            fail(where, std::string(in_place ? "sort" : "sorted") +
                            "() got an unexpected keyword argument '" + name + "'");
        }
    }
    if (!in_place) {
        if (arguments.positional.size() != 1)
            fail(where, "sorted expected 1 argument, got " + std::to_string(arguments.positional.size()));
        const Value& given = arguments.positional[0];
        if (given.type->kind == TypeKind::kNever) return never();
        in_place = call_lists("copy", {given}, where);
    }
    const bool by_key = key.type->kind != TypeKind::kNone;
    if (by_key) {
        call_lists("sort_by", {*in_place, key, reverse}, where);
    } else {
        call_lists("sort", {*in_place, reverse}, where);
    }
    return arguments.positional.empty() ? none() : *in_place;
}

std::optional<Value> FunctionLowering::list_operator(const std::string& name, const Value& left,
                                                     const Value& right, NodeId where) {
    if (name == "add" && is_list(left.type) && is_list(right.type))
        return call_lists("concatenate", {left, right}, where);
    const Value& count = is_list(left.type) ? right : left;
    if (name == "mul" && is_integer(count.type)) {
        const Value& list = is_list(left.type) ? left : right;
        const Value times = scalar(scalar_type(ScalarType::kInt64, true), as_index(count, where));
        const Value result = make_list(where, 1);
        widen(result, list.type->parts[0], where);
        if (!dry_ && list.type->parts[0]->kind != TypeKind::kNever)
            reserve(result, length_of(list), times.parts[0], where);
        call_lists("repeat", {result, list, times}, where);
        return result;
    }
    return std::nullopt;
}

std::optional<Value> FunctionLowering::compare_lists(const std::string& name, const Value& left,
                                                     const Value& right, NodeId where) {
    const bool both = is_list(left.type) && is_list(right.type);
    if (name == "is" || name == "is_not") {
        if (!both) return boolean(name == "is_not");
        return scalar(scalar_type(ScalarType::kBool, true),
                      apply(name == "is" ? OpId::kEqual : OpId::kNotEqual, {left.parts[1], right.parts[1]}));
    }
    if (name == "in" || name == "not_in") {
        if (!is_list(right.type)) return std::nullopt;
        const Value found = call_lists("contains", {right, left}, where);
        return name == "in" ? found : negation(truth(found, where));
    }
    if (!both) {
        if (name == "eq" || name == "ne") return boolean(name == "ne");
        return std::nullopt;
    }
    if (name == "ne") return negation(truth(call_lists("equal", {left, right}, where), where));
    if (name == "eq") return call_lists("equal", {left, right}, where);
    if (name == "gt") return call_lists("less", {right, left}, where);
    if (name == "ge") return call_lists("less_equal", {right, left}, where);
    return call_lists(name == "lt" ? "less" : "less_equal", {left, right}, where);
}

// --- arrays of them -------------------------------------------------------------------------------------

// numpy.array(x, dtype): of lists and tuples of numbers, of lists of such, and of arrays.
Value FunctionLowering::call_array(const Arguments& arguments, bool as_it_is) {
    const NodeId where = arguments.where;
    std::optional<ScalarType> dtype;
    char order = 'K';
    std::vector<Value> given = arguments.positional;
    for (const auto& [name, value] : arguments.keywords) {
        if (name == "copy" && !as_it_is && literal_integer(value.type) == 1) continue;
        if (name == "order" && !as_it_is) {
            order = order_given(value, order, "array", where);
            continue;
        }
        if (name != "dtype")
            fail(where, "array() takes no keyword '" + name + "' in a compiled function", "Leave it out.");
        given.push_back(value);
    }
    if (given.empty() || given.size() > 2) fail(where, "array() takes a list and a dtype here");
    if (given.size() == 2) dtype = dtype_of(given[1], where);
    if (as_it_is && is_array(given[0].type) && dtype.value_or(given[0].type->scalar) == given[0].type->scalar)
        return forced(given[0]);
    const Value made = array_of(given[0], dtype, where);
    return order == 'K' ? made : copied_in(made, order, where);
}

Value FunctionLowering::array_of(const Value& value, std::optional<ScalarType> dtype, NodeId where) {
    if (value.type->kind == TypeKind::kNever) return never();
    if (is_array(value.type)) return copied_as_it_lies(value, dtype.value_or(value.type->scalar), where);
    if (is_scalar(value.type)) {
        const Value result = allocate(dtype.value_or(value.type->scalar), {}, where);
        fill(result, value, where);
        return result;
    }
    if (value.type->kind == TypeKind::kTuple && value.type->parts.empty())
        return allocate(dtype.value_or(ScalarType::kFloat64), std::array{integer(0).parts[0]}, where);
    if (value.type->kind == TypeKind::kTuple)
        return array_of(call_lists("copy", {value}, where), dtype, where);
    if (!is_list(value.type))
        fail(where, "array() makes no array of " + lang::describe(value.type) + " in a compiled function");
    TypeRef element = value.type->parts[0];
    if ((element->kind == TypeKind::kTuple && !element->parts.empty()) ||
        (is_array(element) && element->rank == 1))
        return array_of(call_lists("lists_of", {value}, where), dtype, where);
    if (element->kind == TypeKind::kTuple) {
        const std::array shape = {length_of(value), integer(0).parts[0]};
        return allocate(dtype.value_or(ScalarType::kFloat64), shape, where);
    }
    // Lists of lists of rows are the rows of all of them, one behind the other.
    if (is_list(element) && !is_scalar(element->parts[0]) && element->parts[0]->kind != TypeKind::kNever) {
        const Value length = call_lists("length_of_rows", {value}, where);
        const Value rows = array_of(call_lists("flattened", {value}, where), dtype, where);
        std::vector<Value> shape{scalar(length.type, length_of(value)), length};
        for (size_t d = 1; d < rows.type->rank; ++d) shape.push_back(scalar(length.type, size_of(rows, d)));
        return reshaped(rows, std::move(shape), where);
    }
    const bool of_rows = is_list(element);
    TypeRef number = of_rows ? element->parts[0] : element;
    if (number->kind == TypeKind::kNever) number = scalar_type(ScalarType::kFloat64, true);
    if (!is_scalar(number))
        fail(where, "asarray support for List is limited to Boolean and Number types, not " +
                        lang::describe(value.type));
    std::vector<ValueId> shape{length_of(value)};
    if (of_rows) shape.push_back(call_lists("length_of_rows", {value}, where).parts[0]);
    const Value result = allocate(dtype.value_or(number->scalar), shape, where);
    if (element->kind == TypeKind::kNever) return result;
    call_lists(of_rows ? "fill_rows" : "fill", {result, value}, where);
    return result;
}

}  // namespace weft::lang
