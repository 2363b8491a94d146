// What has a place: variables, elements, members, and what pointers and references lead to.
//
// A pointer of the subset knows while the kernel is compiled which memory it leads to. Its position alone is
// a value of the kernel. References, and pointers to variables, are other names.
#include <algorithm>
#include <array>
#include <utility>

#include "lang/c_source/lowering.h"
#include "ops/op.h"

namespace weft::lang::c_source {

using ir::ValueId;

namespace {

int64_t count_of(const std::vector<int64_t>& sizes) {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    return count;
}

bool is_address_of(const Expression& expression) {
    return expression.kind == ExpressionKind::kUnary && expression.text == "&";
}

bool is_star(const Expression& expression) {
    return expression.kind == ExpressionKind::kUnary && expression.text == "*";
}

bool is_same_memory(const Target& a, const Target& b) {
    return a.kind == b.kind && a.root == b.root && a.path == b.path && a.raw == b.raw;
}

}  // namespace

// ---- types ----

CType Lowering::shape(const Expression& expression) {
    const auto operand = [&](size_t k) { return shape(*expression.operands[k]); };
    const auto decayed = [](CType type, size_t axes) {  // as many pointers as there are axes
        type.pointers += static_cast<int>(axes);
        return type;
    };
    switch (expression.kind) {
        case ExpressionKind::kName: {
            const size_t found = scopes_.find(expression.text);
            if (found == Scopes::kNone) {
                if (around_->is_array(expression.text)) return {around_->element(expression.text)};
                const std::optional<Target> own = own_member(expression);
                return own ? decayed(own->type, own->sizes.size()) : CType{};
            }
            const Variable& one = scopes_[found];
            if (one.alias) return decayed(one.alias->type, one.alias->sizes.size());
            if (one.pointer || (one.structure != nullptr && !one.array)) return one.type;
            CType type = one.structure != nullptr ? one.type : CType{one.value.type};
            return decayed(type, one.array ? one.array->sizes.size() : 0);
        }
        case ExpressionKind::kUnary: {
            CType type = operand(0);
            if (is_address_of(expression)) {
                ++type.pointers;
            } else if (is_star(expression)) {
                if (type.pointers != 0) --type.pointers;
            } else if (!type.is_number()) {
                return type.pointers != 0
                           ? CType{}
                           : shape_of_call("operator" + expression.text, {expression.operands[0].get()});
            }
            return type;
        }
        case ExpressionKind::kStep:
        case ExpressionKind::kAssign: return operand(0);
        case ExpressionKind::kBinary: {
            if (expression.text == ",") return operand(1);
            const CType left = operand(0), right = operand(1);
            const bool moves = expression.text == "+" || expression.text == "-";
            if (left.pointers != 0) return moves && right.pointers == 0 ? left : CType{};
            if (right.pointers != 0) return expression.text == "+" ? right : CType{};
            if (left.structure == nullptr && right.structure == nullptr) return {};
            return shape_of_call("operator" + expression.text,
                                 {expression.operands[0].get(), expression.operands[1].get()});
        }
        case ExpressionKind::kConditional: return operand(1);
        case ExpressionKind::kCast: return program_.full_type(expression.type);
        case ExpressionKind::kCall: {
            std::vector<const Expression*> operands;
            for (const ExpressionPtr& one : expression.operands) operands.push_back(one.get());
            return shape_of_call(expression.text, operands);
        }
        case ExpressionKind::kIndex: {
            CType type = operand(0);
            if (type.pointers != 0) --type.pointers;
            return type;
        }
        case ExpressionKind::kMember: {
            const CType of = operand(0);
            if (of.structure == nullptr || of.pointers != 0) return {};
            if (!expression.after) {
                std::vector<const Expression*> operands;
                for (size_t k = 1; k < expression.operands.size(); ++k)
                    operands.push_back(expression.operands[k].get());
                return shape_of_call(expression.text, operands, of.structure);
            }
            const std::optional<Member> found = member_of(*of.structure, expression.text);
            return found ? decayed(found->type, found->sizes.size()) : CType{};
        }
        default: return {};
    }
}

// ---- places ----

Target Lowering::target_of_variable(size_t index, const Place& place) const {
    const Variable& one = scopes_[index];
    if (one.alias) {
        Target result = *one.alias;
        result.place = place;
        return result;
    }
    Target result{.place = place, .root = index};
    result.type = one.structure != nullptr ? one.type : CType{one.value.type};
    if (one.array) {
        result.kind = Target::Kind::kOwnArray;
        result.sizes = one.array->sizes;
    }
    if (one.is_constant) result.why_constant = one.why_constant;
    return result;
}

// A member of the object whose method this is.
std::optional<Target> Lowering::own_member(const Expression& name) {
    const size_t object = scopes_.find("this");
    if (object == Scopes::kNone || scopes_.find(name.text) != Scopes::kNone) return {};
    if (!member_of(*scopes_[object].type.structure, name.text)) return {};
    return member(pointed_to(value_of_pointer(object, name.place), name.place), name.text, name.place);
}

std::optional<Target> Lowering::target(const Expression& expression) {
    switch (expression.kind) {
        case ExpressionKind::kName: {
            const size_t found = scopes_.find(expression.text);
            if (found != Scopes::kNone) {
                if (scopes_[found].pointer) return {};
                return target_of_variable(found, expression.place);
            }
            if (!around_->is_array(expression.text)) return own_member(expression);
            Target result{.kind = Target::Kind::kRawArray, .place = expression.place, .raw = expression.text};
            result.type = {around_->element(expression.text)};
            result.sizes = {-1};
            return result;
        }
        case ExpressionKind::kUnary:
            if (!is_star(expression) || shape(*expression.operands[0]).pointers == 0) return {};
            return pointed_to(pointer(*expression.operands[0]), expression.place);
        case ExpressionKind::kIndex: {
            const Expression& array = *expression.operands[0];
            const std::optional<Target> of = target(array);
            if (of && !of->sizes.empty()) return element(*of, *expression.operands[1]);
            if (array.kind == ExpressionKind::kIndex && of && of->type.is_number())
                throw OutsideSubset(expression.place, "there are more indices than the array has axes");
            if (shape(array).pointers == 0) return {};
            Value start = pointer(array);
            const Number index = value(*expression.operands[1]);
            if (!DType(index.type).is_integer() && !DType(index.type).is_bool())
                throw OutsideSubset(expression.operands[1]->place,
                                    "an index is an integer, not a " + c_name(index.type));
            if (start.number.id.valid()) {
                const ValueId position = numbers_.builder().cast(index.id, ScalarType::kInt64);
                start.number.id = added(start.number.id, position);
            } else if (known(*expression.operands[1]) != 0) {
                throw OutsideSubset(expression.place, "a pointer to a variable leads to that one alone");
            }
            return pointed_to(start, expression.place);
        }
        case ExpressionKind::kMember: {
            const Expression& object = *expression.operands[0];
            const CType of = shape(object);
            if (!expression.after || of.structure == nullptr || of.pointers != 0) return {};
            std::optional<Target> place = target(object);
            if (!place) {
                const std::vector<Number> leaves = structure_value(object, *of.structure);
                place = temporary(*of.structure, leaves, expression.place);
            }
            if (!place->sizes.empty())
                throw OutsideSubset(expression.place, "an array has no members, but its elements");
            return member(*place, expression.text, expression.place);
        }
        case ExpressionKind::kAssign: {  // (a = b).x, and what operators give
            const CType of = shape(*expression.operands[0]);
            if (of.structure == nullptr || of.pointers != 0) return {};
            run(expression);
            return target(*expression.operands[0]);
        }
        default: return {};
    }
}

ValueId Lowering::added(ValueId a, ValueId b) { return numbers_.builder().apply(OpId::kAdd, {a, b}); }

Target Lowering::element(Target of, const Expression& index) {
    const Number given = value(index);
    if (!DType(given.type).is_integer() && !DType(given.type).is_bool())
        throw OutsideSubset(index.place, "an index is an integer, not a " + c_name(given.type));
    of.place = index.place;
    const int64_t size = of.sizes.front();
    of.sizes.erase(of.sizes.begin());
    ir::Builder& builder = numbers_.builder();
    if (of.kind == Target::Kind::kRawArray) {
        // An index of 2**63 or more is negative then, and out of bounds as well.
        of.offset = builder.cast(given.id, ScalarType::kInt64);
        return of;
    }
    const ValueId position = builder.cast(given.id, ScalarType::kInt64);
    const std::optional<int64_t> constant = known(index);
    if (!constant || *constant < 0 || *constant >= size) {
        const ValueId fits = builder.apply(OpId::kLogicalAnd,
                                           {builder.apply(OpId::kGreaterEqual, {position, builder.index(0)}),
                                            builder.apply(OpId::kLess, {position, builder.index(size)})});
        of.inside = of.inside ? builder.apply(OpId::kLogicalAnd, {*of.inside, fits}) : fits;
    }
    of.offset = of.offset ? added(builder.apply(OpId::kMultiply, {*of.offset, builder.index(size)}), position)
                          : position;
    return of;
}

Target Lowering::member(Target of, const std::string& name, const Place& place) {
    const std::optional<Member> found = member_of(*of.type.structure, name);
    if (!found) throw OutsideSubset(place, "a " + of.type.structure->name + " has no member '" + name + "'");
    of.place = place;
    of.path += "." + name;
    of.type = found->type;
    of.sizes = found->sizes;
    // Leaves are arrays where what they are in is one.
    of.kind = scopes_[of.root].array || !of.sizes.empty() ? Target::Kind::kOwnArray : of.kind;
    return of;
}

size_t Lowering::leaf_of(const Target& target) const {
    const bool is_there = target.root < scopes_.size();
    const size_t found =
        is_there && !target.path.empty() ? scopes_.leaf(target.root, target.path) : target.root;
    if (!is_there || found == Scopes::kNone ||
        scopes_[found].array.has_value() != (target.kind == Target::Kind::kOwnArray))
        throw OutsideSubset(target.place, "what the pointer leads to is gone");
    return found;
}

ValueId Lowering::offset_of(const Target& target) {
    return target.offset ? *target.offset : numbers_.builder().index(0);
}

Number Lowering::load(const Target& target) {
    if (!target.sizes.empty())
        throw OutsideSubset(target.place, target.raw.empty() && target.path.empty()
                                              ? "'" + scopes_[target.root].name +
                                                    "' is an array: only its elements are numbers"
                                              : "this is an array: only its elements are numbers");
    if (!target.type.is_number())
        throw OutsideSubset(target.place, "a number is wanted here, and this is none");
    if (target.kind == Target::Kind::kRawArray)
        return around_->load(numbers_, target.raw, {ScalarType::kInt64, offset_of(target)}, target.place);
    const Variable& one = scopes_[leaf_of(target)];
    if (!one.array) return one.value;
    const std::array at{offset_of(target)};
    ir::Builder& builder = numbers_.builder();
    if (!target.inside) return {one.value.type, builder.load(one.array->buffer, at)};
    return {one.value.type,
            builder.load_if(one.array->buffer, at, *target.inside, numbers_.zero(one.value.type).id)};
}

void Lowering::store(const Target& target, const Number& value) {
    if (!target.sizes.empty()) throw OutsideSubset(target.place, "an array is not assigned to as a whole");
    if (target.kind == Target::Kind::kRawArray) {
        if (!target.why_constant.empty())
            throw OutsideSubset(target.place, "what is assigned to is " + target.why_constant);
        around_->store(numbers_, target.raw, {ScalarType::kInt64, offset_of(target)}, value, target.place);
        return;
    }
    Variable& one = scopes_[leaf_of(target)];
    if (!target.why_constant.empty())
        throw OutsideSubset(target.place,
                            "'" + one.name + "' is " + target.why_constant + ", and is assigned to");
    if (!one.array) {
        one.value = value;
        return;
    }
    const std::array at{offset_of(target)};
    ir::Builder& builder = numbers_.builder();
    if (target.inside) {
        builder.store_if(one.array->buffer, value.id, at, *target.inside);
    } else {
        builder.store(one.array->buffer, value.id, at);
    }
}

// ---- pointers ----

// To what it stands for, or to an array's first element.
Lowering::Value Lowering::pointer_to(const Target& target, const Place& place) {
    Value result;
    Target to = target;
    ir::Builder& builder = numbers_.builder();
    std::optional<ValueId> position = to.offset;
    if (to.sizes.size() > 1)
        throw OutsideSubset(place, "pointers to rows of arrays are outside of the subset");
    if (to.sizes.size() == 1 && to.kind != Target::Kind::kRawArray && position)
        position = builder.apply(OpId::kMultiply, {*position, builder.index(to.sizes[0])});
    if (to.inside) {
        // Beyond the end, where nothing is.
        position = builder.apply(OpId::kSelect, {*to.inside, *position, builder.index(-1)});
    }
    to.sizes.clear();
    to.offset.reset();
    to.inside.reset();
    result.type = to.type;
    result.type.pointers = 1;
    result.type.to_const = !to.why_constant.empty();
    const bool is_memory = to.kind != Target::Kind::kVariable;
    if (to.kind == Target::Kind::kOwnArray) {
        // Of what has this kind: the axes of `root` and of members so far.
        int64_t count = scopes_[to.root].array ? count_of(scopes_[to.root].array->sizes) : 1;
        const CStructure* structure = scopes_[to.root].structure;
        for (size_t begin = 1; begin < to.path.size();) {
            const size_t end = std::min(to.path.find('.', begin), to.path.size());
            const std::optional<Member> member =
                member_of(*structure, std::string_view(to.path).substr(begin, end - begin));
            count *= count_of(member->sizes);
            structure = member->type.structure;
            begin = end + 1;
        }
        result.pointer.count = count;
    }
    if (is_memory) result.number = {ScalarType::kInt64, position ? *position : builder.index(0)};
    result.pointer.to = std::move(to);
    result.pointer.is_set = true;
    return result;
}

Target Lowering::pointed_to(const Value& pointer, const Place& place) {
    if (!pointer.pointer.is_set) throw OutsideSubset(place, "the pointer has no value yet");
    Target result = pointer.pointer.to;
    result.place = place;
    if (pointer.type.to_const && result.why_constant.empty())
        result.why_constant = "behind a pointer to const";
    if (!pointer.number.id.valid()) return result;
    result.offset = pointer.number.id;
    ir::Builder& builder = numbers_.builder();
    if (pointer.pointer.count)
        result.inside = builder.apply(
            OpId::kLogicalAnd,
            {builder.apply(OpId::kGreaterEqual, {*result.offset, builder.index(0)}),
             builder.apply(OpId::kLess, {*result.offset, builder.index(*pointer.pointer.count)})});
    return result;
}

Lowering::Value Lowering::pointer(const Expression& expression) {
    const auto moved = [&](Value start, const Number& by, std::string_view mark) {
        if (!DType(by.type).is_integer() && !DType(by.type).is_bool())
            throw OutsideSubset(expression.place, "a pointer is moved by an integer");
        if (!start.number.id.valid())
            throw OutsideSubset(expression.place, "a pointer to a variable leads to that one alone");
        ir::Builder& builder = numbers_.builder();
        const ValueId count = builder.cast(by.id, ScalarType::kInt64);
        start.number.id = builder.apply(mark == "+" ? OpId::kAdd : OpId::kSubtract, {start.number.id, count});
        return start;
    };
    const auto variable = [&](const Expression& name) {
        const size_t found = name.kind == ExpressionKind::kName ? scopes_.find(name.text) : Scopes::kNone;
        return found != Scopes::kNone && scopes_[found].pointer ? found : Scopes::kNone;
    };
    const auto value_of = [&](size_t index) { return value_of_pointer(index, expression.place); };
    switch (expression.kind) {
        case ExpressionKind::kName:
            if (const size_t found = variable(expression); found != Scopes::kNone) return value_of(found);
            break;
        case ExpressionKind::kUnary:
            if (!is_address_of(expression)) break;
            if (const std::optional<Target> of = target(*expression.operands[0]))
                return pointer_to(*of, expression.place);
            throw OutsideSubset(expression.place, "this has no address in the subset");
        case ExpressionKind::kStep: {
            const size_t found = variable(*expression.operands[0]);
            if (found == Scopes::kNone) break;
            const Value before = value_of(found);
            const Value after =
                moved(before, numbers_.integer(ScalarType::kInt32, 1), expression.text.substr(0, 1));
            assign_pointer(found, after, expression.place);
            return expression.after ? before : after;
        }
        case ExpressionKind::kAssign: {
            const size_t found = variable(*expression.operands[0]);
            if (found == Scopes::kNone) break;
            if (expression.text == "=")
                return assign_pointer(found, pointer(*expression.operands[1]), expression.place);
            if (expression.text != "+" && expression.text != "-") break;
            const Number by = value(*expression.operands[1]);
            return assign_pointer(found, moved(value_of(found), by, expression.text), expression.place);
        }
        case ExpressionKind::kBinary: {
            const Expression &left = *expression.operands[0], &right = *expression.operands[1];
            if (expression.text == ",") {
                run(left);
                return pointer(right);
            }
            if (shape(left).pointers != 0) {
                Value start = pointer(left);
                return moved(std::move(start), value(right), expression.text);
            }
            const Number by = value(left);
            return moved(pointer(right), by, expression.text);
        }
        case ExpressionKind::kConditional: {
            const Expression &first = *expression.operands[1], &second = *expression.operands[2];
            const ValueId condition =
                numbers_.truth(value(*expression.operands[0]), expression.operands[0]->place);
            Value one = pointer(first);
            const Value other = pointer(second);
            if (has_effects(first, program_.function_names) || has_effects(second, program_.function_names) ||
                !is_same_memory(one.pointer.to, other.pointer.to) || !one.number.id.valid())
                throw OutsideSubset(expression.place, "a pointer leads into one array in the subset");
            one.number.id =
                numbers_.builder().apply(OpId::kSelect, {condition, one.number.id, other.number.id});
            return one;
        }
        case ExpressionKind::kCast: {
            if (expression.operands.size() != 1 || shape(*expression.operands[0]).pointers == 0)
                throw OutsideSubset(expression.place, "a pointer is made of a pointer in the subset");
            Value of = pointer(*expression.operands[0]);
            const CType to = program_.full_type(expression.type);
            if (to.structure != of.type.structure || (to.structure == nullptr && to.scalar != of.type.scalar))
                throw OutsideSubset(expression.place,
                                    "memory that is read as another type is outside of the subset");
            of.type.to_const = to.to_const;
            return of;
        }
        case ExpressionKind::kCall: return call(expression, false);
        case ExpressionKind::kMember:
            if (!expression.after) return call_method(expression);
            break;
        default: break;
    }
    const std::optional<Target> of = target(expression);
    if (of && !of->sizes.empty()) return pointer_to(*of, expression.place);
    throw OutsideSubset(expression.place, "a pointer is wanted here");
}

Lowering::Value Lowering::value_of_pointer(size_t index, const Place& place) const {
    const Variable& one = scopes_[index];
    if (!one.pointer->is_set) throw OutsideSubset(place, "'" + one.name + "' has no value yet");
    Value result{.type = one.type, .pointer = *one.pointer};
    if (one.pointer->to.kind != Target::Kind::kVariable) result.number = one.value;
    return result;
}

Lowering::Value Lowering::assign_pointer(size_t index, const Value& value, const Place& place) {
    Variable& variable = scopes_[index];
    if (variable.is_constant)
        throw OutsideSubset(place, "'" + variable.name + "' is const, and is assigned to");
    if (value.type.structure != variable.type.structure ||
        (value.type.structure == nullptr && value.type.scalar != variable.type.scalar) ||
        (value.type.to_const && !variable.type.to_const))
        throw OutsideSubset(place, "'" + variable.name + "' is a pointer to another type");
    if (variable.pointer->is_set && !is_same_memory(variable.pointer->to, value.pointer.to))
        throw OutsideSubset(place, "a pointer leads into one array in the subset");
    variable.pointer = value.pointer;
    if (value.number.id.valid()) variable.value.id = value.number.id;
    Value result = value;
    result.type = variable.type;
    return result;
}

}  // namespace weft::lang::c_source
