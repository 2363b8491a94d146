// Generators as values: a frame each, which its function goes on with (generators/resume.h).
//
// The frame is the only element of a list, so that it has what lists have: memory that the generator's users
// share, a type that is found over the whole program, and owners in it.
#include <array>

#include "lang/generators/resume.h"
#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

namespace {

constexpr int kFrameOfCall = 100;  // which list of a node: the lists that prelude functions make are others

// Where the parts of an item of a frame begin.
size_t first_part(TypeRef frame, size_t item) {
    size_t first = 0;
    for (size_t i = 0; i < item; ++i) first += part_count(frame->parts[i]);
    return first;
}

}  // namespace

// As `widen` of lists, but that a variable of a generator may be anything.
void FunctionLowering::widen_frame(const Value& list, TypeRef given, NodeId where) {
    const TypeRef type = without_literals(given), element = list.type->parts[0];
    if (element->kind != TypeKind::kNever) {
        for (size_t i = 0; i < type->parts.size(); ++i) {
            if (joined(element->parts[i], type->parts[i]) != nullptr) continue;
            const std::string what = i == kFrameYielded
                                         ? "'" + source_.name + "' yields "
                                         : "'" + source_.outer->frame.at(i - kFrameVariables) + "' is ";
            fail(where,
                 what + lang::describe(element->parts[i]) + " on one way and " +
                     lang::describe(type->parts[i]) + " on another",
                 "Give it one type.");
        }
    }
    TypeRef both = without_literals(joined(element, type));
    if (both == element) return;
    if (compilation_.scopes().lists.holds(both, list.type->list))
        fail(where, "a generator cannot hold itself in a compiled function",
             "Go over a list that says what is still to be done.");
    throw ListGrows{list.type->list, both};
}

void FunctionLowering::store_frame(const Value& list, const Value& frame, NodeId where) {
    widen_frame(list, frame.type, where);
    target_.written_lists.insert(list.type->list);
    if (dry_) return;
    const TypeRef element = list.type->parts[0];
    const ItemLayout layout = item_layout(element);
    const ValueId address = list_word(list, ListWord::kAddress);
    const std::vector<ValueId> parts = at_border(convert(kept(frame), element, where)).parts;
    for (size_t i = 0; i < parts.size(); ++i) {
        const ValueId part = layout.parts[i].is_address ? builder_->address(parts[i]) : parts[i];
        builder_->store(item_buffer(address, layout.parts[i], layout.stride), part,
                        std::array{builder_->index(0)});
    }
}

// An item, which the frame gives up.
Value FunctionLowering::take_from_frame(const Value& list, size_t item) {
    const TypeRef element = list.type->parts[0];
    if (element->kind == TypeKind::kNever) return never();
    const TypeRef type = element->parts[item];
    Value result{type, std::vector<ValueId>(part_count(type)), 0};
    if (dry_) return result;
    const ItemLayout layout = item_layout(element);
    const ValueId address = list_word(list, ListWord::kAddress);
    const std::array at = {builder_->index(0)};
    std::vector<ir::Type> types;
    append_ir_types(types, type, true);
    const size_t first = first_part(element, item);
    for (size_t i = 0; i < types.size(); ++i) {
        const ItemPart& place = layout.parts[first + i];
        const ValueId buffer = item_buffer(address, place, layout.stride);
        const ValueId part = builder_->load(buffer, at);
        result.parts[i] = types[i].is_buffer ? builder_->memory(types[i].buffer, part) : part;
        if (place.is_owner) builder_->store(buffer, builder_->index(0), at);
    }
    return inside(result);
}

// What a call of a generator function gives: nothing of it runs yet.
Value FunctionLowering::make_generator(const FunctionSource& function, const std::vector<Value>& arguments,
                                       NodeId where) {
    if (!function.unsettled.empty())
        fail(where,
             "'" + function.unsettled + "' is read by the generator '" + function.name +
                 "' and assigned more than once around it",
             "Give it to the generator as an argument.");
    const Value list = make_list(where, kFrameOfCall, 0);
    std::vector<Value> items{integer(0), {simple_type(TypeKind::kUnbound)}};
    items.insert(items.end(), arguments.begin(), arguments.end());
    items.resize(kFrameVariables + function.frame.size(), {simple_type(TypeKind::kUnbound)});
    const Value frame = tuple(std::move(items));
    widen_frame(list, frame.type, where);
    if (!dry_) {
        grow_list(list, builder_->index(1), where);
        set_list_word(list, ListWord::kLength, builder_->index(1));
    }
    store_frame(list, frame, where);
    const Value generator{generator_type(&function, list.type), list.parts, 0, list.fresh};
    if (dry_) advance(generator, where);  // so that the frame has its type, whoever goes on with it
    return generator;
}

// The generator function itself, where it is what Python calls.
void FunctionLowering::lower_generator(Environment& environment) {
    const auto count = static_cast<std::ptrdiff_t>(arguments_.size());
    const Value made = make_generator(source_, {environment.begin(), environment.begin() + count}, 0);
    if (dry_) {
        result_ = made.type;
        return;
    }
    const Value result = convert(kept(made), result_, 0);
    for (Value& variable : environment) release(variable);
    end_temporaries(0);
    builder_->return_values(at_border(result).parts);
}

void FunctionLowering::restore(NodeId id, Environment& environment) {
    const Value list = environment[0];
    const TypeRef element = list.type->parts[0];
    const std::vector<NodeId>& names = node(id).children;
    for (size_t i = 0; i < kFrameVariables + names.size() - 1; ++i) {
        if (i == kFrameYielded) continue;
        const NodeId name = names[i == kFrameState ? 0 : i - kFrameVariables + 1];
        Value item = take_from_frame(list, i);
        if (item.type->kind == TypeKind::kNever) item.type = simple_type(TypeKind::kUnbound);
        item.origin = id;
        environment[static_cast<size_t>(node(name).number)] = std::move(item);
    }
    Value yielded = take_from_frame(list, kFrameYielded);  // if nobody has taken it
    release(yielded);
    target_.written_lists.insert(list.type->list);
    if (dry_) return;
    const ItemLayout layout = item_layout(element);
    builder_->store(item_buffer(list_word(list, ListWord::kAddress), layout.parts[0], layout.stride),
                    builder_->index(kEnded), std::array{builder_->index(0)});
}

void FunctionLowering::suspend(NodeId id, Environment& environment) {
    const std::vector<NodeId>& children = node(id).children;
    std::vector<Value> items{integer(std::stoll(node(id).atoms[0]))};
    items.push_back(bound(lower(children[0], environment), environment, id));
    if (items.back().type->kind == TypeKind::kNever) return;
    for (size_t i = 1; i < children.size(); ++i) {
        const Node& name = node(children[i]);
        items.push_back(name.kind == NodeKind::kName
                            ? bound(environment[static_cast<size_t>(name.number)], environment, id)
                            : Value{simple_type(TypeKind::kUnbound)});
    }
    Value frame = tuple(std::move(items));
    std::vector<TypeRef> types = frame.type->parts;
    types[kFrameYielded] = maybe_type(without_literals(types[kFrameYielded]));
    store_frame(environment[0], convert(frame, tuple_type(std::move(types)), id), id);
}

// Goes on up to the next yield, and says whether there is one.
ValueId FunctionLowering::advance(const Value& generator, NodeId where) {
    const Value frame{generator.type->parts[0], generator.parts};
    const Value result = call_source(*generator.type->function->resume, {}, {{frame}, {}, where});
    return result.parts.empty() ? ValueId{} : result.parts[0];
}

Value FunctionLowering::yielded(const Value& generator) {
    const Value frame{generator.type->parts[0], generator.parts};
    Value item = take_from_frame(frame, kFrameYielded);
    if (item.type->kind != TypeKind::kMaybe) return never();
    Value result{item.type->parts[0], {item.parts.begin() + 1, item.parts.end()}};
    result.fresh = has_owner(result.type);
    add_temporary(result);
    return result;
}

FunctionLowering::Sequence FunctionLowering::generator_sequence(const Value& generator, NodeId where) {
    Sequence result;
    result.consumes = true;
    result.count = [this] { return integer(INT64_MAX).parts[0]; };
    result.goes_on = [this, generator, where](ValueId) { return advance(generator, where); };
    result.element = [this, generator, where](ValueId) {
        if (dry_) advance(generator, where);
        return yielded(generator);
    };
    return result;
}

// --- what the loops of generators go over ---------------------------------------------------------------

Value FunctionLowering::together(const std::string& how, std::vector<Value> items) {
    Value result = tuple(std::move(items));
    Type type = *result.type;
    type.kind = TypeKind::kTogether;
    type.text = how;
    result.type = intern(std::move(type));
    return result;
}

// As a value that may be kept from one yield to the next. What goes through several things together is a
// tuple of them whose type tells how.
Value FunctionLowering::iterable(NodeId id, Environment& environment) {
    const Node& expression = node(id);
    const std::string path =
        expression.kind == NodeKind::kCall ? known_path(expression.children[0]) : std::string();
    const auto part = [&](size_t i) { return iterable(expression.children[i], environment); };
    const size_t given = expression.children.size() - 1;
    if (path == "builtins.zip" && given > 0) {
        std::vector<Value> items;
        for (size_t i = 1; i <= given; ++i) items.push_back(part(i));
        return together("zip", std::move(items));
    }
    if (path == "builtins.enumerate" && (given == 1 || given == 2)) {
        Value inner = part(1), start = integer(0);
        if (given == 2) {
            NodeId from = expression.children[2];
            if (node(from).kind == NodeKind::kKeyword) from = node(from).children[0];
            start = scalar(scalar_type(ScalarType::kInt64, true), as_index(lower(from, environment), from));
        }
        return together("enumerate", {std::move(inner), std::move(start)});
    }
    if (path == "builtins.reversed" && given == 1) {
        const Value inner = part(1);
        const Sequence sequence = sequence_of(inner, id);
        if (sequence.consumes) fail(id, "'generator' object is not reversible");
        const ValueId count = sequence.length ? sequence.length() : sequence.count();
        return together("reversed", {inner, scalar(scalar_type(ScalarType::kInt64, true), count)});
    }
    if (path == "numpy.ndindex" || path == "numpy.ndenumerate") {
        const Arguments arguments = arguments_of(id, environment);
        return together(path.substr(6), arguments.positional);
    }
    if (expression.kind == NodeKind::kGeneratorExpression || path == "builtins.map" ||
        path == "builtins.filter")
        fail(id, "a loop with a `yield` in it does not go over this in a compiled function",
             "Write it as a loop over what it goes through.");
    Value value = required(lower(id, environment), id);
    if (value.type->kind != TypeKind::kNever) sequence_of(value, id);  // which is an error where it is none
    return value;
}

// Of what `iterable` gave.
FunctionLowering::Sequence FunctionLowering::together_sequence(const Value& items, NodeId where) {
    const std::string& how = items.type->text;
    const auto part = [&](size_t i) { return sequence_of(tuple_item(items, i), where); };
    if (how == "zip") {
        std::vector<Sequence> sequences;
        for (size_t i = 0; i < items.type->parts.size(); ++i) sequences.push_back(part(i));
        return zip_sequence(std::move(sequences));
    }
    if (how == "items")
        return zip_sequence({sized_sequence(tuple_item(items, 0), "dictionary", where), part(1)});
    if (how == "enumerate") return enumerated_sequence(part(0), tuple_item(items, 1));
    if (how == "nditer") return iterator_sequence(items, where);
    if (how == "flat") return flat_sequence(tuple_item(items, 0));
    if (how == "reversed") return reversed_sequence(part(0), tuple_item(items, 1).parts[0]);
    Arguments given;
    given.where = where;
    for (size_t i = 0; i < items.type->parts.size(); ++i) given.positional.push_back(tuple_item(items, i));
    return indices_sequence(where, how == "ndenumerate", given);
}

// --- a.flat ---------------------------------------------------------------------------------------------

// The element of that number in the order of C.
FunctionLowering::Element FunctionLowering::flat_element(const Value& array, ValueId k) {
    std::vector<ValueId> indices(array.type->rank);
    for (size_t d = indices.size(); d-- > 0;) {
        indices[d] = d == 0 ? k : apply(OpId::kRemainder, {k, size_of(array, d)});
        note(indices[d], {0, INT64_MAX, size_of(array, d), 0});
        if (d > 0) k = apply(OpId::kFloorDivide, {k, size_of(array, d)});
    }
    return {array, std::move(indices)};
}

FunctionLowering::Sequence FunctionLowering::flat_sequence(const Value& array) {
    Sequence result;
    result.count = [this, array] { return array_attribute(array, "size", 0).parts[0]; };
    result.element = [this, array](ValueId k) { return load(flat_element(array, k)); };
    return result;
}

// What a.flat[k] is.
FunctionLowering::Element FunctionLowering::element_of_flat(NodeId id, const Value& flat,
                                                            Environment& environment) {
    const std::vector<NodeId> items = items_of(id);
    const Value array = tuple_item(flat, 0);
    if (items.size() != 1 || node(items[0]).kind == NodeKind::kSlice)
        fail(id, "a.flat takes one number as its index in a compiled function", "Take a slice of a.ravel().");
    const Value index = required(lower(items[0], environment), items[0]);
    if (!is_integer(index.type) || is_bool(index.type))
        fail(items[0], "an index is an integer here, not " + lang::describe(index.type));
    return flat_element(array, checked_index(index, array_attribute(array, "size", id).parts[0], 0, id));
}

Value FunctionLowering::lower_advance(NodeId id, Environment& environment) {
    const Value items = lower(node(id).children[0], environment);
    const Value counter = lower(node(id).children[1], environment);
    if (items.type->kind == TypeKind::kNever) return never();
    const Sequence sequence = sequence_of(items, id);
    const TypeRef type = scalar_type(ScalarType::kBool, true);
    if (sequence.is_empty) return scalar(type, boolean(false).parts[0]);
    if (sequence.goes_on) return scalar(type, sequence.goes_on(counter.parts[0]));
    return scalar(type, apply(OpId::kLess, {counter.parts[0], sequence.count()}));
}

Value FunctionLowering::lower_current(NodeId id, Environment& environment) {
    const Value items = lower(node(id).children[0], environment);
    const Value counter = lower(node(id).children[1], environment);
    if (items.type->kind == TypeKind::kNever) return never();
    const Sequence sequence = sequence_of(items, id);
    if (sequence.is_empty) return never();
    note(counter.parts[0], {0, INT64_MAX, {}, 0});
    return sequence.element(counter.parts[0]);
}

}  // namespace weft::lang
