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
            return numbers_.unary(expression.text, value(*expression.operands[0]), expression.place);
        case ExpressionKind::kStep: return step(expression);
        case ExpressionKind::kBinary: {
            if (expression.text == "&&" || expression.text == "||") return logical(expression);
            const Number left = value(*expression.operands[0]);
            const Number right = value(*expression.operands[1]);
            return expression.text == "," ? right
                                          : numbers_.binary(expression.text, left, right, expression.place);
        }
        case ExpressionKind::kAssign: return assign(expression);
        case ExpressionKind::kConditional: return conditional(expression);
        case ExpressionKind::kCast: return cast(expression);
        case ExpressionKind::kCall: return call(expression, false);
        case ExpressionKind::kMember: return member(expression);
        case ExpressionKind::kIndex: return index(expression);
        case ExpressionKind::kList:
            throw OutsideSubset(expression.place, "values in braces are those of an array in the subset");
        case ExpressionKind::kSizeOf: break;
    }
    if (!expression.operands.empty() && expression.operands[0]->kind == ExpressionKind::kName) {
        const size_t found = scopes_.find(expression.operands[0]->text);
        if (found != Scopes::kNone && scopes_[found].array) {
            int64_t bytes = DType(scopes_[found].value.type).itemsize();
            for (const int64_t size : scopes_[found].array->sizes) bytes *= size;
            return numbers_.integer(ScalarType::kUInt64, bytes);
        }
    }
    const ScalarType of =
        expression.operands.empty() ? program_.type(expression.type) : type_of(*expression.operands[0]);
    return numbers_.integer(ScalarType::kUInt64, DType(of).itemsize());
}

ScalarType Lowering::type_of(const Expression& expression) {
    ir::Builder scratch("types");
    ir::Builder* const builder = &numbers_.builder();
    Scopes kept = scopes_;
    for (size_t k = 0; k < scopes_.size(); ++k) {
        Variable& one = scopes_[k];
        if (one.array) {
            one.array->buffer = scratch.parameter(builder->type(one.array->buffer), "");
        } else {
            one.value.id = scratch.parameter(ir::Type::of(one.value.type), "");
        }
    }
    Dry dry(*around_);
    Surroundings* const around = std::exchange(around_, &dry);
    const bool was_dry = std::exchange(is_dry_, true);
    numbers_.use(&scratch);
    const ScalarType type = value(expression).type;
    numbers_.use(builder);
    is_dry_ = was_dry;
    around_ = around;
    scopes_ = std::move(kept);
    return type;
}

Number Lowering::name(const Expression& expression) {
    const size_t found = scopes_.find(expression.text);
    if (found != Scopes::kNone && !scopes_[found].array) return scopes_[found].value;
    if (found != Scopes::kNone || around_->is_array(expression.text))
        throw OutsideSubset(expression.place,
                            "'" + expression.text + "' is an array: only its elements are numbers");
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

void Lowering::store(const Expression& target, const Number& value) {
    if (const std::optional<Element> of = element(target)) {
        store(*of, value);
        return;
    }
    if (target.kind != ExpressionKind::kName)
        throw OutsideSubset(target.place, "only variables and elements are assigned to");
    const size_t found = scopes_.find(target.text);
    if (found == Scopes::kNone) {
        const bool is_loops = target.text == "i" || target.text == "n";
        throw OutsideSubset(target.place, is_loops ? "'" + target.text + "' is the loop's own"
                                                   : "the name '" + target.text + "' is not known");
    }
    Variable& variable = scopes_[found];
    if (variable.is_constant)
        throw OutsideSubset(target.place,
                            "'" + target.text + "' is " + variable.why_constant + ", and is assigned to");
    variable.value = value;
}

Number Lowering::assign(const Expression& expression) {
    const Expression& target = *expression.operands[0];
    const bool is_plain = expression.text == "=";
    const auto combined = [&](const Number& before) {
        const Number operand = value(*expression.operands[1]);
        const Number result =
            is_plain ? operand : numbers_.binary(expression.text, before, operand, expression.place);
        return numbers_.convert(result, before.type, expression.place);
    };
    if (const std::optional<Element> of = element(target)) {
        // What is written over is not read.
        const Number result = combined(is_plain ? Number{of->type, {}} : load(*of));
        store(*of, result);
        return result;
    }
    if (target.kind != ExpressionKind::kName) store(target, {});
    if (is_array(target.text)) name(target);
    const size_t found = scopes_.find(target.text);
    if (found == Scopes::kNone) store(target, {});
    // The operand may assign to the variable itself, before it is read.
    Number operand = value(*expression.operands[1]);
    const Number before = scopes_[found].value;
    if (!is_plain) operand = numbers_.binary(expression.text, before, operand, expression.place);
    const Number result = numbers_.convert(operand, before.type, expression.place);
    store(target, result);
    return result;
}

Number Lowering::step(const Expression& expression) {
    const Expression& target = *expression.operands[0];
    const std::string mark(1, expression.text[0]);
    const auto next = [&](const Number& before) {
        if (before.type == ScalarType::kBool) throw OutsideSubset(expression.place, "a bool is not counted");
        const Number one = numbers_.integer(ScalarType::kInt32, 1);
        return numbers_.convert(numbers_.binary(mark, before, one, expression.place), before.type,
                                expression.place);
    };
    if (const std::optional<Element> of = element(target)) {
        const Number before = load(*of);
        const Number after = next(before);
        store(*of, after);
        return expression.after ? before : after;
    }
    if (target.kind != ExpressionKind::kName) store(target, {});
    const Number before = name(target);
    const Number after = next(before);
    store(target, after);
    return expression.after ? before : after;
}

Number Lowering::cast(const Expression& expression) {
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

Number Lowering::call(const Expression& expression, bool may_give_nothing) {
    const std::string& called = expression.text;
    if (called.starts_with("atomic")) return atomic(expression);
    std::vector<Number> arguments;
    std::vector<ScalarType> types;
    for (const ExpressionPtr& one : expression.operands) {
        arguments.push_back(value(*one));
        types.push_back(arguments.back().type);
    }
    if (program_.function_names.contains(called)) {
        // Copied, as functions that are made later move it.
        const Program::Made made = program_.function(called, expression.types, types, expression.place);
        if (!made.result && !may_give_nothing)
            throw OutsideSubset(expression.place, called + "() gives nothing");
        std::vector<ValueId> given;
        for (size_t k = 0; k < arguments.size(); ++k)
            given.push_back(
                numbers_.convert(arguments[k], made.parameters[k], expression.operands[k]->place).id);
        std::vector<ir::Type> results;
        if (made.result) results.push_back(ir::Type::of(*made.result));
        for (const size_t k : made.references) results.push_back(ir::Type::of(made.parameters[k]));
        const std::vector<ValueId> values = numbers_.builder().call(made.name, results, given);
        std::set<std::string> written;
        for (size_t j = 0; j < made.references.size(); ++j) {
            const size_t k = made.references[j];
            const Expression& target = *expression.operands[k];
            if (target.kind == ExpressionKind::kIndex &&
                has_effects(*target.operands[1], program_.function_names))
                throw OutsideSubset(target.place, "the index of a reference does more than to count");
            if (target.kind == ExpressionKind::kName && !written.insert(target.text).second)
                throw OutsideSubset(target.place, "'" + target.text + "' is given for two references");
            store(target, {made.parameters[k], values[j + (made.result ? 1 : 0)]});
        }
        return made.result ? Number{*made.result, values[0]} : Number{};
    }
    if (!numbers_.is_function(called))
        throw OutsideSubset(expression.place, "the function " + called + "() is not known");
    if (expression.types.size() > 1 || (expression.types.size() == 1 && called != "min" && called != "max"))
        throw OutsideSubset(expression.place, called + "() is no template");
    if (expression.types.size() == 1) {
        const ScalarType type = program_.type(expression.types[0]);
        for (size_t k = 0; k < arguments.size(); ++k)
            arguments[k] = numbers_.convert(arguments[k], type, expression.operands[k]->place);
    }
    return numbers_.call(called, arguments, expression.place);
}

Number Lowering::atomic(const Expression& expression) {
    const std::string usage =
        expression.text + "(&y[i], value), of a raw output y, is the form of the subset";
    if (expression.operands.size() != 2) throw OutsideSubset(expression.place, usage);
    const Expression& target = *expression.operands[0];
    const bool is_address = target.kind == ExpressionKind::kUnary && target.text == "&";
    const Expression* const element = is_address ? target.operands[0].get() : nullptr;
    if (element == nullptr || element->kind != ExpressionKind::kIndex ||
        element->operands[0]->kind != ExpressionKind::kName || !around_->is_array(element->operands[0]->text))
        throw OutsideSubset(expression.place, usage);
    const Number at = value(*element->operands[1]);
    const Number operand = value(*expression.operands[1]);
    return around_->atomic(numbers_, expression.text, element->operands[0]->text, at, operand,
                           expression.place);
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
    if (const std::optional<Element> of = element(expression)) return load(*of);
    const bool is_shape = array.kind == ExpressionKind::kMember && array.text == "shape" && !array.after &&
                          array.operands.size() == 1 && array.operands[0]->kind == ExpressionKind::kName &&
                          around_->is_array(array.operands[0]->text);
    if (is_shape && place.kind == ExpressionKind::kNumber && place.text.size() < 4) {
        const auto axis = static_cast<int64_t>(std::strtol(place.text.c_str(), nullptr, 0));
        if (const auto size = around_->of_array(numbers_, array.operands[0]->text, "shape", axis))
            return *size;
    }
    throw OutsideSubset(expression.place, "only raw arguments and arrays are indexed");
}

}  // namespace weft::lang::c_source
