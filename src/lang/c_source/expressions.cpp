#include <algorithm>
#include <utility>

#include "lang/c_source/lowering.h"
#include "ops/op.h"

namespace weft::lang::c_source {

using ir::ValueId;

namespace {

// Stands for others in a walk that only looks for types.
class Dry final : public Surroundings {
public:
    explicit Dry(const Surroundings& of) : of_(of) {}
    bool is_array(std::string_view name) const override { return of_.is_array(name); }
    ScalarType element(std::string_view name) const override { return of_.element(name); }
    Number load(Numbers& numbers, std::string_view array, const Number&, const Place&) override {
        return numbers.zero(of_.element(array));
    }
    void store(Numbers&, std::string_view, const Number&, const Number&, const Place&) override {}
    std::optional<Number> of_array(Numbers& numbers, std::string_view, std::string_view,
                                   std::optional<int64_t>) override {
        return numbers.zero(ScalarType::kInt64);
    }
    Number atomic(Numbers& numbers, std::string_view, std::string_view array, const Number&, const Number&,
                  const Place&) override {
        return numbers.zero(of_.element(array));
    }
    std::optional<Number> position(Numbers& numbers) override { return numbers.zero(ScalarType::kInt64); }
    std::optional<Number> size(Numbers& numbers) override { return numbers.zero(ScalarType::kInt64); }

private:
    const Surroundings& of_;
};

bool is_loop_object(const Expression& expression) {
    return expression.kind == ExpressionKind::kName && expression.text == "_ind";
}

}  // namespace

Number Surroundings::load(Numbers&, std::string_view array, const Number&, const Place& place) {
    throw OutsideSubset(place, "'" + std::string(array) + "' is no array");
}

void Surroundings::store(Numbers&, std::string_view array, const Number&, const Number&, const Place& place) {
    throw OutsideSubset(place, "'" + std::string(array) + "' is no array");
}

ScalarType Surroundings::element(std::string_view) const { return ScalarType::kInt32; }

std::optional<Number> Surroundings::of_array(Numbers&, std::string_view, std::string_view,
                                             std::optional<int64_t>) {
    return {};
}

Number Surroundings::atomic(Numbers&, std::string_view operation, std::string_view, const Number&,
                            const Number&, const Place& place) {
    throw OutsideSubset(place, std::string(operation) + "() is outside of the subset here");
}

Number Lowering::value(const Expression& expression) {
    switch (expression.kind) {
        case ExpressionKind::kNumber: return numbers_.literal(expression.text, expression.place);
        case ExpressionKind::kCharacter: return numbers_.character(expression.text, expression.place);
        case ExpressionKind::kName: return name(expression);
        case ExpressionKind::kUnary:
            if (expression.text == "*" || expression.text == "&") {
                if (const std::optional<Target> of = target(expression)) return load(*of);
                throw OutsideSubset(expression.place, expression.text == "*"
                                                          ? "only pointers lead to something"
                                                          : "a number is wanted here, and this is a pointer");
            }
            if (const auto made = call_operator(expression)) return number_of(*made, expression.place);
            return numbers_.unary(expression.text, value(*expression.operands[0]), expression.place);
        case ExpressionKind::kStep: return step(expression);
        case ExpressionKind::kBinary: {
            if (expression.text == ",") {
                run(*expression.operands[0]);
                return value(*expression.operands[1]);
            }
            if (expression.text == "&&" || expression.text == "||") return logical(expression);
            const CType left_type = shape(*expression.operands[0]),
                        right_type = shape(*expression.operands[1]);
            if (left_type.pointers != 0 && right_type.pointers != 0) return between_pointers(expression);
            if (const auto made = call_operator(expression)) return number_of(*made, expression.place);
            const Number left = value(*expression.operands[0]);
            const Number right = value(*expression.operands[1]);
            return numbers_.binary(expression.text, left, right, expression.place);
        }
        case ExpressionKind::kAssign: return assign(expression);
        case ExpressionKind::kConditional: return conditional(expression);
        case ExpressionKind::kCast: return cast(expression);
        case ExpressionKind::kCall: return number_of(call(expression, false), expression.place);
        case ExpressionKind::kMember: return member(expression);
        case ExpressionKind::kIndex: return index(expression);
        case ExpressionKind::kList:
            throw OutsideSubset(expression.place,
                                "values in braces are those of an array or a structure in the subset");
        case ExpressionKind::kSizeOf: break;
    }
    return numbers_.integer(ScalarType::kUInt64, *known(expression));
}

Number Lowering::number_of(const Value& value, const Place& place) {
    if (!value.type.is_number()) throw OutsideSubset(place, "a number is wanted here, and this is none");
    return value.number;
}

void Lowering::run(const Expression& expression) {
    if (expression.kind == ExpressionKind::kBinary && expression.text == ",") {
        run(*expression.operands[0]);
        run(*expression.operands[1]);
        return;
    }
    if (expression.kind == ExpressionKind::kCall) {
        call(expression, true);
        return;
    }
    const CType type = shape(expression);
    if (type.pointers != 0) {
        pointer(expression);
        return;
    }
    const bool is_method = expression.kind == ExpressionKind::kMember && !expression.after &&
                           shape(*expression.operands[0]).structure != nullptr;
    if (is_method) {
        call_method(expression);
        return;
    }
    if (expression.kind == ExpressionKind::kConditional) {
        // Whose values may be nothing.
        const ValueId condition =
            numbers_.truth(value(*expression.operands[0]), expression.operands[0]->place);
        std::set<std::string> names;
        add_assigned(expression, program_.function_names, names);
        const auto one = [&](size_t which) {
            return [&, which] {
                run(*expression.operands[which]);
                return numbers_.zero(ScalarType::kBool);
            };
        };
        either(condition, scopes_.of_names(names), one(1), one(2));
        return;
    }
    if (expression.kind == ExpressionKind::kCast && expression.type.name == "void") {
        for (const ExpressionPtr& one : expression.operands) run(*one);
        return;
    }
    if (type.structure == nullptr) {
        value(expression);
        return;
    }
    if (expression.kind != ExpressionKind::kAssign) {
        structure_value(expression, *type.structure);
        return;
    }
    const std::optional<Target> place = target(*expression.operands[0]);
    if (!place) throw OutsideSubset(expression.place, "only variables and elements are assigned to");
    if (expression.text == "=") {
        const std::vector<Number> leaves = structure_value(*expression.operands[1], *type.structure);
        set_leaves(*place, leaves);
        return;
    }
    // a += b by an operator += of the program, or of the structure.
    const Place& where = expression.place;
    std::vector<Value> arguments;
    const std::string name = "operator" + expression.text + "=";
    arguments.push_back(argument(*expression.operands[1]));
    if (const auto method = choose(name, {}, arguments, where, type.structure)) {
        put_in_place(*method, std::move(arguments), *place, where);
        return;
    }
    arguments.insert(arguments.begin(), argument(*expression.operands[0]));
    const auto chosen = choose(name, {}, arguments, where);
    if (!chosen) throw OutsideSubset(where, "a " + type.structure->name + " has no " + name);
    call_function(*chosen, std::move(arguments), where);
}

Number Lowering::between_pointers(const Expression& expression) {
    const Value left = pointer(*expression.operands[0]), right = pointer(*expression.operands[1]);
    const Target &a = left.pointer.to, &b = right.pointer.to;
    if (a.kind != b.kind || a.root != b.root || a.path != b.path || a.raw != b.raw || !left.number.id.valid())
        throw OutsideSubset(expression.place, "these pointers lead into different memory");
    if (expression.text != "-" && expression.text != "==" && expression.text != "!=" &&
        !expression.text.starts_with('<') && !expression.text.starts_with('>'))
        throw OutsideSubset(expression.place, "pointers have no '" + expression.text + "'");
    return numbers_.binary(expression.text, left.number, right.number, expression.place);
}

ScalarType Lowering::type_of(const Expression& expression) {
    ir::Builder scratch("types");
    ir::Builder* const builder = &numbers_.builder();
    Scopes kept = scopes_;
    const auto number = [&](std::optional<ValueId>& id, ScalarType type) {
        if (id) id = scratch.parameter(ir::Type::of(type), "");
    };
    for (size_t k = 0; k < scopes_.size(); ++k) {
        Variable& one = scopes_[k];
        if (one.alias) {
            number(one.alias->offset, ScalarType::kInt64);
            number(one.alias->inside, ScalarType::kBool);
        } else if (one.structure != nullptr) {
        } else if (one.array) {
            one.array->buffer = scratch.parameter(builder->type(one.array->buffer), "");
        } else if (one.value.id.valid()) {
            one.value.id = scratch.parameter(ir::Type::of(one.value.type), "");
        }
    }
    Dry dry(*around_);
    Surroundings* const around = std::exchange(around_, &dry);
    const bool was_dry = std::exchange(is_dry_, true);
    numbers_.use(&scratch);
    const size_t loops = loops_.size();
    const ScalarType type = value(expression).type;
    loops_.resize(loops);
    numbers_.use(builder);
    is_dry_ = was_dry;
    around_ = around;
    scopes_ = std::move(kept);
    return type;
}

Number Lowering::name(const Expression& expression) {
    const size_t found = scopes_.find(expression.text);
    if (found != Scopes::kNone && scopes_[found].pointer)
        throw OutsideSubset(expression.place,
                            "'" + expression.text + "' is a pointer, and a number is wanted here");
    if (const std::optional<Target> of = target(expression)) {
        if (of->kind == Target::Kind::kRawArray && !of->sizes.empty())
            throw OutsideSubset(expression.place,
                                "'" + expression.text + "' is an array: only its elements are numbers");
        return load(*of);
    }
    if (expression.text == "true" || expression.text == "false")
        return {ScalarType::kBool,
                numbers_.builder().constant(Constant::of(ScalarType::kBool, expression.text == "true"))};
    if (expression.text == "i") {
        if (const auto position = around_->position(numbers_)) return *position;
    }
    if (expression.text == "n") {
        if (const auto size = around_->size(numbers_)) return *size;
    }
    if (numbers_.is_constant(expression.text)) return numbers_.constant(expression.text);
    throw OutsideSubset(expression.place, "the name '" + expression.text + "' is not known");
}

Number Lowering::either(ValueId condition, const std::vector<size_t>& variables,
                        const std::function<Number()>& first, const std::function<Number()>& second) {
    const std::vector<ValueId> before = values_of(variables);
    ScalarType type = ScalarType::kBool;
    const auto body = [&](const std::function<Number()>& what) {
        return [&](ir::Builder& inner, std::span<const ValueId>) {
            ir::Builder* const outer = &numbers_.builder();
            numbers_.use(&inner);
            set_values(variables, before);
            const Number result = what();
            type = result.type;
            std::vector<ValueId> yielded{result.id};
            std::ranges::copy(values_of(variables), std::back_inserter(yielded));
            numbers_.use(outer);
            return yielded;
        };
    };
    const std::vector<ValueId> results = numbers_.builder().if_else(condition, body(first), body(second));
    set_values(variables, std::span(results).subspan(1));
    return {type, results[0]};
}

Number Lowering::logical(const Expression& expression) {
    const bool is_and = expression.text == "&&";
    const Expression& second = *expression.operands[1];
    const ValueId left = numbers_.truth(value(*expression.operands[0]), expression.operands[0]->place);
    const auto right = [&] { return Number{ScalarType::kBool, numbers_.truth(value(second), second.place)}; };
    if (is_dry_ || !has_effects(second, program_.function_names))
        return {ScalarType::kBool,
                numbers_.builder().apply(is_and ? OpId::kLogicalAnd : OpId::kLogicalOr, {left, right().id})};
    std::set<std::string> names;
    add_assigned(second, program_.function_names, names);
    const auto known = [&] {
        return Number{ScalarType::kBool,
                      numbers_.builder().constant(Constant::of(ScalarType::kBool, !is_and))};
    };
    return is_and ? either(left, scopes_.of_names(names), right, known)
                  : either(left, scopes_.of_names(names), known, right);
}

Number Lowering::conditional(const Expression& expression) {
    const Expression &first = *expression.operands[1], &second = *expression.operands[2];
    const ValueId condition = numbers_.truth(value(*expression.operands[0]), expression.operands[0]->place);
    const auto type_between = [](ScalarType a, ScalarType b) { return a == b ? a : common_type(a, b); };
    const bool is_plain = is_dry_ || (!has_effects(first, program_.function_names) &&
                                      !has_effects(second, program_.function_names));
    if (is_plain) {
        const Number one = value(first), other = value(second);
        const ScalarType type = type_between(one.type, other.type);
        return {type, numbers_.builder().apply(OpId::kSelect,
                                               {condition, numbers_.convert(one, type, first.place).id,
                                                numbers_.convert(other, type, second.place).id})};
    }
    const ScalarType type = type_between(type_of(first), type_of(second));
    std::set<std::string> names;
    add_assigned(first, program_.function_names, names);
    add_assigned(second, program_.function_names, names);
    return either(
        condition, scopes_.of_names(names), [&] { return numbers_.convert(value(first), type, first.place); },
        [&] { return numbers_.convert(value(second), type, second.place); });
}

Number Lowering::assign(const Expression& expression) {
    const Expression& left = *expression.operands[0];
    const bool is_plain = expression.text == "=";
    const std::optional<Target> place = target(left);
    if (!place) refuse_target(left);
    if (!place->type.is_number()) {
        run(expression);
        return {};
    }
    if (place->kind == Target::Kind::kVariable) {
        // The operand may assign to the variable itself, before it is read.
        Number operand = value(*expression.operands[1]);
        const Number before = load(*place);
        if (!is_plain) operand = numbers_.binary(expression.text, before, operand, expression.place);
        const Number result = numbers_.convert(operand, before.type, expression.place);
        store(*place, result);
        return result;
    }
    // What is written over is not read.
    const Number before = is_plain ? Number{place->type.scalar, {}} : load(*place);
    const Number operand = value(*expression.operands[1]);
    const Number result = numbers_.convert(
        is_plain ? operand : numbers_.binary(expression.text, before, operand, expression.place), before.type,
        expression.place);
    store(*place, result);
    return result;
}

void Lowering::refuse_target(const Expression& expression) {
    if (expression.kind != ExpressionKind::kName)
        throw OutsideSubset(expression.place, "only variables and elements are assigned to");
    const bool is_loops = expression.text == "i" || expression.text == "n";
    throw OutsideSubset(expression.place, is_loops ? "'" + expression.text + "' is the loop's own"
                                                   : "the name '" + expression.text + "' is not known");
}

Number Lowering::step(const Expression& expression) {
    const std::optional<Target> place = target(*expression.operands[0]);
    if (!place) refuse_target(*expression.operands[0]);
    const Number before = load(*place);
    if (before.type == ScalarType::kBool) throw OutsideSubset(expression.place, "a bool is not counted");
    const Number one = numbers_.integer(ScalarType::kInt32, 1);
    const std::string mark(1, expression.text[0]);
    const Number after =
        numbers_.convert(numbers_.binary(mark, before, one, expression.place), before.type, expression.place);
    store(*place, after);
    return expression.after ? before : after;
}

Number Lowering::cast(const Expression& expression) {
    if (expression.type.name == "void" && expression.type.pointers == 0)
        throw OutsideSubset(expression.place, "void is no number");
    const ScalarType to = program_.type(expression.type);
    const size_t count = expression.operands.size();
    if (count == 0) return numbers_.zero(to);
    if (count == 2 && DType(to).is_complex()) {
        const Number real = value(*expression.operands[0]), imag = value(*expression.operands[1]);
        return numbers_.complex(to, real, imag, expression.place);
    }
    if (count != 1) throw OutsideSubset(expression.place, c_name(to) + " is made of one number");
    return numbers_.convert(value(*expression.operands[0]), to, expression.place);
}

Number Lowering::member(const Expression& expression) {
    const Expression& object = *expression.operands[0];
    const bool is_call = !expression.after;
    if (object.kind == ExpressionKind::kName && is_call && expression.operands.size() == 1) {
        // A number that is called so: what a reduction knows of its loops.
        const size_t found = scopes_.find(object.text + "." + expression.text + "()");
        if (found != Scopes::kNone) return scopes_[found].value;
    }
    if (is_loop_object(object)) {
        if (expression.text == "size" && is_call && expression.operands.size() == 1) {
            if (const auto size = around_->size(numbers_)) return *size;
        }
        throw OutsideSubset(expression.place, "_ind has size() alone in the subset");
    }
    if (object.kind == ExpressionKind::kName && around_->is_array(object.text) &&
        scopes_.find(object.text) == Scopes::kNone) {
        const bool is_size = expression.text == "size" && is_call && expression.operands.size() == 1;
        const bool is_rank = expression.text == "ndim" && !is_call;
        if (is_size || is_rank) {
            if (const auto result = around_->of_array(numbers_, object.text, expression.text, {}))
                return *result;
        }
        throw OutsideSubset(expression.place, "an array has size(), shape()[k] and ndim in the subset");
    }
    if (shape(object).structure != nullptr) {
        if (is_call) return number_of(call_method(expression), expression.place);
        if (const std::optional<Target> of = target(expression)) return load(*of);
    }
    const Number of = value(object);
    if (is_call && expression.operands.size() == 1 && DType(of.type).is_complex()) {
        if (expression.text == "real") return numbers_.real(of);
        if (expression.text == "imag") return numbers_.imag(of);
    }
    throw OutsideSubset(expression.place, "." + expression.text + " is outside of the subset");
}

Number Lowering::index(const Expression& expression) {
    const Expression& array = *expression.operands[0];
    const Expression& place = *expression.operands[1];
    const bool is_shape = array.kind == ExpressionKind::kMember && array.text == "shape" && !array.after &&
                          array.operands.size() == 1 && array.operands[0]->kind == ExpressionKind::kName &&
                          around_->is_array(array.operands[0]->text);
    if (is_shape && place.kind == ExpressionKind::kNumber && place.text.size() < 4) {
        const auto axis = static_cast<int64_t>(std::strtol(place.text.c_str(), nullptr, 0));
        if (const auto size = around_->of_array(numbers_, array.operands[0]->text, "shape", axis))
            return *size;
    }
    if (!is_shape) {
        if (const std::optional<Target> of = target(expression)) return load(*of);
    }
    throw OutsideSubset(expression.place, "only raw arguments, arrays and pointers are indexed");
}

}  // namespace weft::lang::c_source
