#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "lang/arrays/ufuncs.h"
#include "lang/containers/dicts.h"
#include "lang/containers/sets.h"
#include "lang/dates/dates.h"
#include "lang/kernels/kernels.h"
#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

namespace {

constexpr std::string_view kArrayAttributes[] = {"shape",  "ndim",  "itemsize", "size", "T",
                                                 "nbytes", "dtype", "strides",  "real", "imag",
                                                 "flat",   "flags", "ctypes"};

}  // namespace

Value FunctionLowering::lower_deferred(NodeId id, Environment& environment) {
    const Node& expression = node(id);
    const Now now(*this, environment);
    const Line line(*this, id);
    const Deferring not_yet(*this, false);
    static constexpr NodeKind kRaising[] = {NodeKind::kName,
                                            NodeKind::kAttribute,
                                            NodeKind::kIndex,
                                            NodeKind::kBinary,
                                            NodeKind::kUnary,
                                            NodeKind::kCompare,
                                            NodeKind::kCall,
                                            NodeKind::kListComprehension,
                                            NodeKind::kSetComprehension,
                                            NodeKind::kDict,
                                            NodeKind::kDictComprehension,
                                            NodeKind::kAdvance,
                                            NodeKind::kCurrent};
    if (std::find(std::begin(kRaising), std::end(kRaising), expression.kind) != std::end(kRaising))
        note_raise(environment);
    switch (expression.kind) {
        case NodeKind::kInt:
        case NodeKind::kFloat:
        case NodeKind::kComplex:
        case NodeKind::kBool: return lower_number(id);
        case NodeKind::kNone: return none();
        case NodeKind::kEllipsis: return {simple_type(TypeKind::kEllipsis), {}, 0};
        case NodeKind::kString: return {string_type(expression.atoms[0]), {}, 0};
        case NodeKind::kFormat: return lower_format(id, environment);
        case NodeKind::kName: return lower_name(id, environment);
        case NodeKind::kGlobal: return lower_global(id);
        case NodeKind::kAttribute: return lower_attribute(id, environment);
        case NodeKind::kIndex: return lower_index(id, environment);
        case NodeKind::kBinary: {
            const std::vector<Value> operands = lower_operands(expression.children, environment);
            const Deferring result(*this, true);
            return binary(expression.atoms[0], operands[0], operands[1], id);
        }
        case NodeKind::kUnary:
            if (expression.atoms[0] == "not") return lower_condition(id, environment);
            {
                const Value operand = lower_deferred(expression.children[0], environment);
                const Deferring result(*this, true);
                return unary(expression.atoms[0], operand, id);
            }
        case NodeKind::kCompare: return lower_compare(id, environment);
        case NodeKind::kAnd:
        case NodeKind::kOr: return lower_and_or(id, 0, environment);
        case NodeKind::kIfExpression: return lower_if_expression(id, environment);
        case NodeKind::kCall: return lower_call(id, environment);
        case NodeKind::kTuple: {
            std::vector<Value> items;
            for (NodeId child : expression.children) {
                if (node(child).kind != NodeKind::kStarred) {
                    items.push_back(lower(child, environment));
                    continue;
                }
                const Value given = lower(node(child).children[0], environment);
                if (given.type->kind == TypeKind::kNever) return never();
                if (given.type->kind != TypeKind::kTuple)
                    fail(child,
                         "only tuples can be put into a tuple by *, not " + lang::describe(given.type));
                for (size_t i = 0; i < given.type->parts.size(); ++i) items.push_back(tuple_item(given, i));
            }
            return tuple(std::move(items));
        }
        case NodeKind::kWalrus: {
            Value value = kept(lower(expression.children[0], environment));
            value.origin = id;
            release(environment[static_cast<size_t>(expression.number)]);
            environment[static_cast<size_t>(expression.number)] = value;
            return value;
        }
        case NodeKind::kList: return lower_list(id, environment);
        case NodeKind::kListComprehension: return lower_comprehension(id, environment);
        case NodeKind::kSet:
        case NodeKind::kSetComprehension: return Sets(*this, id).display(environment);
        case NodeKind::kDict:
        case NodeKind::kDictComprehension: return Dicts(*this, id).display(environment);
        case NodeKind::kGeneratorExpression:
            fail(id, "generators are compiled where a loop or a function goes over them only",
                 "Write a list: [...].");
        case NodeKind::kIterator: return iterable(expression.children[0], environment);
        case NodeKind::kAdvance: return lower_advance(id, environment);
        case NodeKind::kCurrent: return lower_current(id, environment);
        case NodeKind::kLambda: return define_function(id, environment);
        default: fail(id, "'" + std::string(node_name(expression.kind)) + "' is not compiled here");
    }
}

Value FunctionLowering::lower_number(NodeId id) {
    const Node& number = node(id);
    const std::string& text = number.atoms[0];
    switch (number.kind) {
        case NodeKind::kBool: return boolean(text == "1");
        case NodeKind::kFloat:
            return constant(Constant::of(ScalarType::kFloat64, std::strtod(text.c_str(), nullptr)));
        case NodeKind::kComplex: {
            const double parts[2] = {std::strtod(text.c_str(), nullptr),
                                     std::strtod(number.atoms[1].c_str(), nullptr)};
            struct Pair {
                double real, imaginary;
            };
            return constant(Constant::of(ScalarType::kComplex128, Pair{parts[0], parts[1]}));
        }
        default: break;
    }
    int64_t value = 0;
    const char* end = text.data() + text.size();
    if (const auto parsed = std::from_chars(text.data(), end, value);
        parsed.ptr == end && parsed.ec == std::errc())
        return integer(value);
    uint64_t large = 0;
    if (const auto parsed = std::from_chars(text.data(), end, large);
        parsed.ptr == end && parsed.ec == std::errc()) {
        const Constant bits = Constant::of(ScalarType::kUInt64, large);
        return scalar(scalar_type(ScalarType::kUInt64), dry_ ? ValueId{} : builder_->constant(bits));
    }
    fail(id, "the integer does not fit in 64 bits", "Write it as a float.");
}

Value FunctionLowering::lower_name(NodeId id, Environment& environment) {
    const auto number = static_cast<size_t>(node(id).number);
    return read_variable(environment[number], variable(number), id);
}

Value FunctionLowering::read_variable(const Value& value, const std::string& name, NodeId id) {
    // A later iteration may find what an earlier one has assigned.
    if (value.type->kind == TypeKind::kUnbound && dry_ && !loops_.empty()) {
        if (node(id).kind == NodeKind::kName) undecided_at_ = id;
        return never();
    }
    if (value.type->kind == TypeKind::kUnbound) fail(id, unbound(name), "Assign it before.");
    if (value.type->kind == TypeKind::kNever) return never();
    if (value.type->kind != TypeKind::kMaybe) return value;
    const std::vector<std::string>& captured = source_.captured;
    const bool is_free = std::find(captured.begin(), captured.end(), name) != captured.end();
    Site without = site(is_free ? "NameError" : "UnboundLocalError", name);
    without.kind = SiteKind::kUnbound;
    check(value.parts[0], std::move(without), {}, id);
    return {value.type->parts[0], {value.parts.begin() + 1, value.parts.end()}, value.origin};
}

Value FunctionLowering::lower_global(NodeId id) {
    const Symbol& symbol = source_.symbol(node(id).number);
    switch (symbol.kind) {
        case SymbolKind::kMissing: refuse_missing(symbol, id);
        case SymbolKind::kUnknown:
            fail(id, "'" + symbol.name + "' is a " + symbol.path + ", which a compiled function cannot use",
                 symbol.path.starts_with("number") ? "Make it a float."
                                                   : "Make it a number, tuple, array or function.");
        case SymbolKind::kValue: break;
        case SymbolKind::kGlobal: {
            const std::vector<GlobalArgument>& globals = compilation_.globals();
            for (size_t i = 0; i < globals.size(); ++i) {
                if (globals[i].object == symbol.object) return globals_[i];
            }
            fail(id, "'" + symbol.name + "' is not given to this function", "Give it as an argument.");
        }
        default: {
            const std::string_view path = symbol.path;
            if (symbol.kind == SymbolKind::kKnown && path.starts_with(Kernels::kPaths)) {
                if (const auto value = Kernels(*this, path.substr(Kernels::kPaths.size()), id).value())
                    return *value;
            }
            return {symbol_type(&symbol), {}, 0};
        }
    }
    const Value value = constant_of(symbol.type);
    if (symbol.path.empty() || !is_scalar(value.type)) return value;
    const ScalarType scalar_of = DType::parse(symbol.path).scalar_type();  // one of NumPy's scalars
    return scalar(scalar_type(scalar_of), cast(value, scalar_of));
}

// A constant: a number, or a tuple of such.
Value FunctionLowering::constant_of(TypeRef type) {
    if (type->kind == TypeKind::kScalar && type->literal) {
        if (type->scalar == ScalarType::kInt64) return integer(type->literal->as<int64_t>());
        return constant(*type->literal);
    }
    if (!has_items(type)) return {type, {}, 0};
    std::vector<Value> items;
    for (TypeRef part : type->parts) items.push_back(constant_of(part));
    return {type, tuple(std::move(items)).parts, 0};
}

Value FunctionLowering::lower_attribute(NodeId id, Environment& environment) {
    const Node& expression = node(id);
    const Value base = lower(expression.children[0], environment);
    if (base.type->kind == TypeKind::kRecord) return attribute_of(base, expression.atoms[0], id);
    return attribute_of(required(base, id), expression.atoms[0], id);
}

Value FunctionLowering::attribute_of(const Value& base, const std::string& name, NodeId id) {
    if (base.type->kind == TypeKind::kNever) return base;
    if (is_array(base.type)) return array_attribute(base, name, id);
    if (is_structures(base.type)) return structures_attribute(base, name, id);
    if (base.type->kind == TypeKind::kSymbol && base.type->symbol->kind == SymbolKind::kKnown &&
        (base.type->symbol->path.starts_with("numpy.") || base.type->symbol->layout != nullptr)) {
        if (base.type->symbol->layout != nullptr && name == "itemsize")
            return integer(base.type->symbol->layout->size);
        const Layout* const layout = base.type->symbol->layout;
        if (const DateType* const date = layout == nullptr ? nullptr : date_of(layout->record)) {
            if (name == "type") return base;
            if (name == "name") return {string_type(name_of(*date)), {}, 0};
            if (name == "kind") return {string_type(date->is_span ? "m" : "M"), {}, 0};
        }
        if (const DTypeInfo* found = DType::find(base.type->symbol->path.substr(6))) {
            const DType dtype(found->scalar_type);
            if (name == "type") return base;
            if (name == "itemsize") return integer(dtype.itemsize());
            if (name == "name") return {string_type(std::string(dtype.name())), {}, 0};
            if (name == "kind") return {string_type(std::string(1, dtype.kind())), {}, 0};
        }
    }
    if (Ufuncs::is_ufunc(base)) {
        if (const auto known = Ufuncs(*this, base, id).attribute(name)) return *known;
    }
    if (base.type->kind == TypeKind::kTogether && base.type->text == "ctypes" && name == "data") {
        const TypeRef address = scalar_type(ScalarType::kInt64, true);
        return scalar(address, dry_ ? ValueId{} : builder_->address(base.parts[0]));
    }
    if (base.type->kind == TypeKind::kTogether && base.type->text == "flags") {
        if (name == "contiguous" || name == "c_contiguous") return lies_in_order(tuple_item(base, 0), false);
        if (name == "f_contiguous") return lies_in_order(tuple_item(base, 0), true);
        if (name == "writeable") return boolean(!base.type->parts[0]->readonly);
    }
    if (base.type->kind == TypeKind::kSlice && (name == "start" || name == "stop" || name == "step"))
        return tuple_item(base, name == "start" ? 0 : name == "stop" ? 1 : 2);
    if (base.type->kind == TypeKind::kRange && (name == "start" || name == "stop" || name == "step"))
        return scalar(scalar_type(ScalarType::kInt64, true), base.parts[name == "start"  ? 0
                                                                        : name == "stop" ? 1
                                                                                         : 2]);
    if (is_scalar(base.type)) {
        if (name == "real" || name == "imag") {
            if (is_complex(base.type)) {
                const OpInfo* op = find_op(name);
                if (op == nullptr) fail(id, "'" + name + "' is not compiled");
                return by_loop(*op, std::span(&base, 1), id);
            }
            const bool is_truth = is_bool(base.type) && base.type->weak;
            const TypeRef type = is_truth ? scalar_type(ScalarType::kInt64, true) : base.type;
            if (name == "real") return is_truth ? scalar(type, cast(base, type->scalar)) : base;
            return scalar(without_literals(type), cast(integer(0), type->scalar));
        }
        if (is_integer(base.type) && base.type->weak && (name == "numerator" || name == "denominator"))
            return name == "denominator"
                       ? integer(1)
                       : scalar(scalar_type(ScalarType::kInt64, true), cast(base, ScalarType::kInt64));
    }
    if (const std::optional<size_t> field = field_of(base, name)) return tuple_item(base, *field);
    if (base.type->record != nullptr && base.type->record->is_enumeration) {
        const auto known = literal_integer(base.type->parts[0]);
        if (name == "value") return value_of_member(base, id);
        if (name == "name" && known)
            return {string_type(base.type->record->fields[static_cast<size_t>(*known)]), {}, 0};
        fail(id, "'" + name + "' of a member of " + base.type->record->name + " is not compiled",
             "Its value is.");
    }
    if (base.type->record != nullptr) {
        std::string fields;
        for (const std::string& field : base.type->record->fields)
            fields += (fields.empty() ? "" : ", ") + field;
        fail(id, "Unknown attribute '" + name + "' of type " + base.type->record->name,
             meant(name, base.type->record->fields, "It has " + (fields.empty() ? "none" : fields) + "."));
    }
    if (base.type->kind == TypeKind::kSymbol && base.type->symbol->kind == SymbolKind::kModule)
        fail(id, "module '" + base.type->symbol->path + "' has no attribute '" + name + "'");
    fail(id,
         "Unknown attribute '" + name + "' of type " + lang::describe(base.type) + " in a compiled function",
         meant(name,
               is_scalar(base.type) ? std::vector<std::string>{"real", "imag"} : std::vector<std::string>{},
               "Take it outside, and give it as an argument."));
}

bool FunctionLowering::has_attribute(const Value& base, const std::string& name) const {
    if (field_of(base, name)) return true;
    static constexpr std::string_view kOfAll[] = {"__class__", "__doc__",  "__eq__", "__hash__",
                                                  "__ne__",    "__repr__", "__str__"};
    if (std::ranges::find(kOfAll, name) != std::end(kOfAll)) return true;
    if (is_structures(base.type) && base.type->layout->find(name) != nullptr) return true;
    if (is_scalar(base.type)) return name == "real" || name == "imag";
    return is_array(base.type) && std::find(std::begin(kArrayAttributes), std::end(kArrayAttributes), name) !=
                                      std::end(kArrayAttributes);
}

// Whether its elements lie one behind the other, in the order of C or Fortran.
Value FunctionLowering::lies_in_order(const Value& array, bool fortran) {
    const TypeRef type = scalar_type(ScalarType::kBool, true);
    if (dry_) return scalar(type, {});
    const ValueId one = integer(1).parts[0];
    ValueId expected = integer(item_size(array.type)).parts[0];
    ValueId fits = boolean(true).parts[0], empty = boolean(false).parts[0];
    for (size_t k = 0; k < array.type->rank; ++k) {
        const size_t d = fortran ? k : array.type->rank - 1 - k;
        const ValueId size = size_of(array, d);
        const ValueId lies = builder_->apply(
            OpId::kLogicalOr, {builder_->apply(OpId::kEqual, {size, one}),
                               builder_->apply(OpId::kEqual, {stride_of(array, d), expected})});
        fits = builder_->apply(OpId::kLogicalAnd, {fits, lies});
        empty = builder_->apply(OpId::kLogicalOr,
                                {empty, builder_->apply(OpId::kEqual, {size, integer(0).parts[0]})});
        expected = builder_->apply(OpId::kMultiply, {expected, size});
    }
    return scalar(type, builder_->apply(OpId::kLogicalOr, {fits, empty}));
}

Value FunctionLowering::array_attribute(const Value& array, const std::string& name, NodeId id) {
    const TypeRef whole = scalar_type(ScalarType::kInt64, true);
    const int64_t itemsize = item_size(array.type);
    const auto size = [&] {
        if (array.type->rank == 0) return integer(1);
        ValueId product = size_of(array, 0);
        for (size_t d = 1; d < array.type->rank; ++d) {
            const ValueId before = product;
            product = apply(OpId::kMultiply, {before, size_of(array, d)});
            note_operator(OpId::kMultiply, product, before, size_of(array, d));
        }
        if (array.type->rank > 1) note(product, {0, int64_t{1} << 62, {}, 0});
        return scalar(whole, product);
    };
    if (name == "T") return transposed(array);
    if (name == "shape") return shape_of(array);
    if (name == "ndim") return integer(array.type->rank);
    if (name == "itemsize") return integer(itemsize);
    if (name == "size") return size();
    if (name == "nbytes")
        return scalar(whole, apply(OpId::kMultiply, {size().parts[0], integer(itemsize).parts[0]}));
    if (name == "dtype")
        return {symbol_type(is_structures(array.type) ? symbol_of_layout(array.type->layout)
                                                      : symbol_of_dtype(array.type->scalar)),
                {},
                0};
    if (name == "strides") {
        std::vector<Value> strides;
        for (size_t d = 0; d < array.type->rank; ++d) strides.push_back(scalar(whole, stride_of(array, d)));
        return tuple(std::move(strides));
    }
    if (name == "flat") return together("flat", {array});
    if (name == "flags" || name == "ctypes") return together(name, {array});
    const bool is_complex = DType(array.type->scalar).is_complex();
    if (name == "real") return is_complex ? part_of_complex(array, false) : array;
    if (name == "imag" && !is_complex) {
        const auto clear = [&](const Value& made) { fill(made, integer(0), id); };
        const Value zeros = in_one_order(allocate_as(array, array.type->scalar, id, true, clear), array, id);
        Type readonly = *zeros.type;
        readonly.readonly = true;
        return convert(zeros, intern(std::move(readonly)), id);
    }
    if (name == "imag" && is_complex) return part_of_complex(array, true);
    const std::vector<std::string> known(std::begin(kArrayAttributes), std::end(kArrayAttributes));
    fail(id, "'" + name + "' of an array is not compiled",
         meant(name, known, "Arrays have shape, size, ndim, dtype, T, strides, real and imag here."));
}

// --- expressions that choose ----------------------------------------------------------------------------

Value FunctionLowering::lower_choice(NodeId id, ValueId condition, Environment& environment,
                                     const std::function<Value(Environment&)>& yes,
                                     const std::function<Value(Environment&)>& no) {
    Value values[2];
    Environment sides[2] = {environment, environment};
    {
        const DryRun dry(*this);
        values[0] = yes(sides[0]);
        values[1] = no(sides[1]);
    }
    TypeRef type = joined(values[0].type, values[1].type);
    if (type == nullptr)
        fail(id,
             "this is " + lang::describe(values[0].type) + " on one way and " +
                 lang::describe(values[1].type) + " on the other",
             "Write values of one type on both ways.");
    const Flow& flow = flows_.at(id);
    std::vector<size_t> merged;
    for (size_t v = 0; v < environment.size(); ++v) {
        if (flow.assigned[v]) merged.push_back(v);
    }
    std::vector<TypeRef> types;
    for (size_t v : merged) types.push_back(join_or_fail(sides[0][v], sides[1][v], variable(v), id));
    std::vector<ValueId> results;
    if (!dry_) {
        std::vector<TypeRef> all{type};
        all.insert(all.end(), types.begin(), types.end());
        std::vector<Outcome> outcomes;
        std::vector<ValueId> given[2];
        const size_t first = builder_->function().values.size();
        const auto body = [&](bool holds,
                              const std::function<Value(Environment&)>& side) -> ir::Builder::Body {
            return [&, holds](ir::Builder&, std::span<const ValueId>) {
                const Learned learned(known_);
                learn(condition, holds);
                Environment inner = environment;
                std::vector<ValueId> parts;
                const size_t temporaries = temporaries_.size();
                append_converted(parts, kept(side(inner)), type, id);
                for (size_t i = 0; i < merged.size(); ++i)
                    append_converted(parts, inner[merged[i]], types[i], id);
                meet(outcomes, all, parts);
                end_temporaries(temporaries);
                given[holds ? 1 : 0] = parts;
                return parts;
            };
        };
        results = builder_->if_else(condition, body(true, yes), body(false, no));
        note(results, all, outcomes, first);
        note_choices(condition, results, given[1], given[0]);
    } else {
        results.resize(part_count(type));
        for (TypeRef other : types) results.resize(results.size() + part_count(other));
    }
    size_t at = 0;
    Value result = take(type, results, at);
    result.fresh = has_owner(type);
    add_temporary(result);
    for (size_t i = 0; i < merged.size(); ++i) {
        const NodeId origin = sides[0][merged[i]].origin;
        environment[merged[i]] = take(types[i], results, at);
        environment[merged[i]].origin = origin;
    }
    return result;
}

Value FunctionLowering::lower_and_or(NodeId id, size_t from, Environment& environment) {
    const Node& expression = node(id);
    const Value left = lower(expression.children[from], environment);
    if (from + 1 == expression.children.size()) return left;
    const ValueId condition = truth(left, expression.children[from]);
    const auto rest = [&, from](Environment& inner) { return lower_and_or(id, from + 1, inner); };
    const auto same = [&](Environment&) { return left; };
    if (left.type->literal && is_bool(left.type)) {
        const bool goes_on = left.type->literal->as<bool>() == (expression.kind == NodeKind::kAnd);
        return goes_on ? rest(environment) : left;
    }
    if (expression.kind == NodeKind::kAnd) return lower_choice(id, condition, environment, rest, same);
    return lower_choice(id, condition, environment, same, rest);
}

Value FunctionLowering::lower_condition(NodeId id, Environment& environment) {
    const Node& expression = node(id);
    const Now now(*this, environment);
    if (expression.kind == NodeKind::kAnd || expression.kind == NodeKind::kOr)
        return lower_condition(id, 0, environment);
    if (expression.kind == NodeKind::kUnary && expression.atoms[0] == "not") {
        const Value operand = lower_condition(expression.children[0], environment);
        if (operand.type->literal) return boolean(!operand.type->literal->as<bool>());
        return negation(operand.parts[0]);
    }
    const Value value = lower(id, environment);
    switch (value.type->kind) {
        case TypeKind::kNone: return boolean(false);
        case TypeKind::kTuple: return boolean(!value.type->parts.empty());
        case TypeKind::kRecord:
            if (is_set(value.type) || is_dict(value.type) || Dates::is_date(value)) break;
            if (!value.type->record->is_integer) return boolean(true);
            break;
        case TypeKind::kString: return boolean(!value.type->text.empty());
        default: break;
    }
    if (const auto known = literal_integer(value.type)) return boolean(*known != 0);
    const ValueId holds = truth(value, id);
    if (!dry_ && is_integer(value.type) && value.type->scalar == ScalarType::kInt64)
        note_comparison(OpId::kNotEqual, holds, value, integer(0));
    return scalar(scalar_type(ScalarType::kBool, true), holds);
}

Value FunctionLowering::lower_condition(NodeId id, size_t from, Environment& environment) {
    const Node& expression = node(id);
    const bool is_and = expression.kind == NodeKind::kAnd;
    const Value left = lower_condition(expression.children[from], environment);
    if (from + 1 == expression.children.size()) return left;
    if (left.type->literal) {
        if (left.type->literal->as<bool>() != is_and) return left;
        return lower_condition(id, from + 1, environment);
    }
    ValueId right{};
    const auto rest = [&, from](Environment& inner) {
        const Value value = lower_condition(id, from + 1, inner);
        if (!value.type->literal) right = value.parts[0];
        return value;
    };
    const auto known = [&](Environment&) { return boolean(!is_and); };
    const Value result = is_and ? lower_choice(id, left.parts[0], environment, rest, known)
                                : lower_choice(id, left.parts[0], environment, known, rest);
    note_junction(is_and, result.parts[0], left.parts[0], right);
    return result;
}

Value FunctionLowering::lower_if_expression(NodeId id, Environment& environment) {
    const Node& expression = node(id);
    const Value test = lower_condition(expression.children[0], environment);
    const ValueId condition = test.parts[0];
    if (test.type->literal)
        return lower(expression.children[test.type->literal->as<bool>() ? 1 : 2], environment);
    return lower_choice(
        id, condition, environment, [&](Environment& inner) { return lower(expression.children[1], inner); },
        [&](Environment& inner) { return lower(expression.children[2], inner); });
}

Value FunctionLowering::lower_compare(NodeId id, Environment& environment) {
    const std::string& name = node(id).atoms[0];
    const bool is_elementwise =
        node(id).children.size() == 2 && name != "in" && name != "not_in" && name != "is" && name != "is_not";
    if (!is_elementwise) return compare_rest(id, 0, lower(node(id).children[0], environment), environment);
    const std::vector<Value> operands = lower_operands(node(id).children, environment);
    const Deferring result(*this, true);
    return compare(name, operands[0], operands[1], id);
}

// a < b < c: each expression once, and no further than the first comparison that fails.
Value FunctionLowering::compare_rest(NodeId id, size_t at, const Value& left, Environment& environment) {
    const Node& expression = node(id);
    const Value right = lower(expression.children[at + 1], environment);
    const Value result = compare(expression.atoms[at], left, right, id);
    if (at + 1 == expression.atoms.size()) return result;
    const ValueId condition = truth(result, id);
    TypeRef type = nullptr;
    {
        const DryRun dry(*this);
        Environment inner = environment;
        type = join(result.type, compare_rest(id, at + 1, right, inner).type);
    }
    type = without_literals(type);
    if (dry_) return scalar(type, {});
    ValueId both{};
    const auto results = builder_->if_else(
        condition,
        [&](ir::Builder&, std::span<const ValueId>) {
            const Learned learned(known_);
            learn(condition, true);
            Environment inner = environment;
            const size_t temporaries = temporaries_.size();
            std::vector<ValueId> parts = convert(compare_rest(id, at + 1, right, inner), type, id).parts;
            if (parts.size() == 1) both = parts[0];
            end_temporaries(temporaries);
            return parts;
        },
        [&](ir::Builder&, std::span<const ValueId>) { return convert(result, type, id).parts; });
    note_junction(true, results[0], condition, both);
    return scalar(type, results[0]);
}

}  // namespace weft::lang
