#include "lang/lowering.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>

#include "lang/dtype_values.h"
#include "lang/kernels/thread_place.h"
#include "lang/strings/strings.h"

namespace weft::lang {

using ir::ValueId;

// --- the module -----------------------------------------------------------------------------------------

Lowered lower(const FunctionSource& function, std::span<const TypeRef> arguments, const Options& options,
              std::span<const GlobalArgument> globals) {
    ScopeMap scopes;
    for (;;) {
        try {
            std::vector<TypeRef> types;
            for (TypeRef type : arguments) types.push_back(scopes.canonical(type));
            std::vector<GlobalArgument> given(globals.begin(), globals.end());
            for (GlobalArgument& global : given) global.type = scopes.canonical(global.type);
            if (options.is_kernel) std::ranges::copy(place_arguments(), std::back_inserter(given));
            Compilation compilation(options, scopes, std::move(given));
            const Specialised& entry = compilation.specialise(function, types);
            const std::function<bool(TypeRef)> has_function = [&](TypeRef type) {
                return type->kind == TypeKind::kClosure ||
                       (type->kind == TypeKind::kSymbol && !is_dtype(type)) ||
                       std::any_of(type->parts.begin(), type->parts.end(), has_function);
            };
            if (has_function(entry.result))
                throw CompileError(render({&function, 0},
                                          "'" + function.name + "' returns a function to Python", {},
                                          "Call it from a compiled function, or return what it gives."));
            return compilation.finish(entry, types);
        } catch (const ScopesMeet& met) {
            scopes.merge(met.one, met.other);  // and from the start, with one scope in place of two
        } catch (const ListsMeet& met) {
            try {
                scopes.lists.merge(met.one, met.other, [&](TypeRef type) { return scopes.canonical(type); });
            } catch (const ValueError& error) {
                throw CompileError(render({&function, 0}, error.what(), {}, "Use two variables."));
            }
        } catch (const ListGrows& grown) {
            scopes.lists.grow(grown.list, grown.element);
        }
    }
}

std::string message_of(const Site& site, const char* payload) {
    const auto number = [&](size_t k) {
        int64_t value = 0;
        std::memcpy(&value, payload + 16 * k, sizeof(value));
        return std::to_string(value);
    };
    switch (site.kind) {
        case SiteKind::kTold:
        case SiteKind::kEvent:
        case SiteKind::kFixed: return site.text;
        case SiteKind::kIndex:
            return "index " + number(0) + " is out of bounds for " +
                   (site.text.empty() ? "axis " + std::to_string(site.axis) : site.text) + " with size " +
                   number(1) + (site.place >= 0 ? ", " + place_of(site, payload) : "");
        case SiteKind::kBroadcast:
            return "could not broadcast a size of " + number(0) + " to " + number(1) + " along axis " +
                   std::to_string(site.axis);
        case SiteKind::kToInteger: {
            double value = 0;
            std::memcpy(&value, payload, sizeof(value));
            if (std::isnan(value)) return "cannot convert float NaN to integer";
            if (std::isinf(value)) return "cannot convert float infinity to integer";
            return "cannot convert a float beyond 64 bits to an integer";
        }
        case SiteKind::kTooLarge: {
            double bytes = 0;
            std::memcpy(&bytes, payload, sizeof(bytes));
            if (bytes < kBytesOfAll) return site.text;
            return "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible "
                   "size.";
        }
        case SiteKind::kUnbound:
            if (site.exception == "NameError")
                return "cannot access free variable '" + site.text +
                       "' where it is not associated with a value in enclosing scope";
            return "cannot access local variable '" + site.text + "' where it is not associated with a value";
    }
    return site.text;
}

std::string place_of(const Site& site, const char* payload) {
    const auto number = [&](int k) {
        int64_t value = 0;
        std::memcpy(&value, payload + 16 * (site.place + k), sizeof(value));
        return value;
    };
    std::string threads, blocks;
    for (int axis = 0; axis < 3; ++axis) {
        int64_t thread = number(axis), block = number(3 + axis);
        if (site.payload >= site.place + static_cast<int>(kPlaceOfErrors)) {  // of loops across blocks
            const int64_t size = number(6 + axis);
            block += thread / size;
            thread %= size;
        }
        threads += (axis == 0 ? "" : ", ") + std::to_string(thread);
        blocks += (axis == 0 ? "" : ", ") + std::to_string(block);
    }
    return "in block (" + blocks + "), thread (" + threads + ")";
}

std::string exception_of(const Site& site, const char* payload) {
    if (site.kind != SiteKind::kToInteger && site.kind != SiteKind::kTooLarge) return site.exception;
    double value = 0;
    std::memcpy(&value, payload, sizeof(value));
    if (site.kind == SiteKind::kTooLarge) return value < kBytesOfAll ? "MemoryError" : "ValueError";
    return std::isnan(value) ? "ValueError" : "OverflowError";
}

// --- a function -----------------------------------------------------------------------------------------

FunctionLowering::FunctionLowering(Compilation& compilation, const FunctionSource& source,
                                   std::span<const TypeRef> arguments, Specialised& target,
                                   const Spot& caller)
    : Facts(compilation.options().check_division),
      compilation_(compilation),
      source_(source),
      caller_(caller),
      arguments_(arguments.begin(), arguments.end()),
      target_(target),
      flows_(find_flows(source.tree)) {}

Environment FunctionLowering::parameters(bool real) {
    const auto parameters = source_.tree.parameters();
    Environment environment(source_.tree.variables().size(), {simple_type(TypeKind::kUnbound), {}, 0});
    const auto parameter = [&](TypeRef type, const std::string& name, NodeId origin) {
        Value value{type, {}, origin};
        if (is_constant(type)) {  // which its caller leaves out
            value.parts = constant_of(type).parts;
            return value;
        }
        std::vector<ir::Type> types;
        append_ir_types(types, value.type, true);
        for (size_t k = 0; k < types.size(); ++k) {
            const std::string part = name_in_ir(name) + (k == 0 ? "" : "." + std::to_string(k));
            value.parts.push_back(real ? builder_->parameter(types[k], part) : ValueId{});
        }
        return value;
    };
    for (size_t i = 0; i < arguments_.size(); ++i)
        environment[i] = parameter(arguments_[i], node(parameters[i]).atoms[0], parameters[i]);
    globals_.clear();
    for (const GlobalArgument& global : compilation_.globals()) {
        if (is_place_argument(global) && compilation_.is_entry(target_)) {  // no thread of a kernel calls it
            Value& value =
                globals_.emplace_back(Value{global.type, std::vector<ValueId>(part_count(global.type)), 0});
            if (real) {
                value.parts.clear();
                append_nothing(value.parts, global.type);
            }
            continue;
        }
        globals_.push_back(parameter(global.type, "global." + std::to_string(globals_.size()), 0));
    }
    name_itself(environment);
    if (!real) return environment;
    if (!compilation_.globals().empty()) {
        for (size_t i = 0; i < globals_.size(); ++i) {
            globals_[i] = inside(globals_[i]);
            if (!is_place_argument(compilation_.globals()[i]) || globals_[i].type->kind != TypeKind::kTuple)
                continue;
            for (size_t k = 0; k < globals_[i].parts.size(); ++k)
                note(globals_[i].parts[k], fact_of_place(k));
        }
    }
    for (size_t i = 0; i < arguments_.size(); ++i) {  // parameters come first
        environment[i] = inside(environment[i]);
        count_owners(environment[i], true);
    }
    name_itself(environment);
    return environment;
}

void FunctionLowering::lower_body(Environment& environment) {
    if (source_.resume != nullptr) return lower_generator(environment);
    if (!lower_block(source_.tree.body(), environment)) return;
    if (dry_) {
        TypeRef nothing = simple_type(TypeKind::kNone);
        result_ = result_ == nullptr ? nothing : joined(result_, nothing);
        return;
    }
    const Value result = convert(none(), result_, 0);
    for (Value& variable : environment) release(variable);
    return_parts(at_border(result).parts);
}

// A function that calls itself is typed again until its result does not grow any more.
void FunctionLowering::find_result() {
    dry_ = true;
    TypeRef before = nullptr;
    constexpr int kMost = 50;
    int times = 0;
    do {
        if (++times > kMost)
            fail(0,
                 "Return type of recursive function does not converge: that of '" + source_.name +
                     "' grows each time",
                 "Return values of one type.");
        before = target_.result;
        asks_itself_ = false;
        known_loops_.clear();
        Environment environment = parameters(false);
        lower_body(environment);
        target_.result = result_ == nullptr ? nullptr : without_literals(result_);
    } while (target_.result != before && asks_itself_);
    if (target_.result != nullptr) return;
    if (asks_itself_ && compilation_.hangs_on_outer(target_)) return;  // not known yet
    if (asks_itself_)
        fail(0, "cannot type infer runaway recursion: '" + source_.name + "' calls itself on every way",
             "Return a value on a way that does not.");
    target_.result = simple_type(TypeKind::kNone);  // it always raises
}

ir::Function FunctionLowering::run() {
    dry_ = false;
    result_ = target_.result;
    known_loops_.clear();
    builder_ = &own_builder_.emplace(target_.name);
    Environment environment = parameters(true);
    lower_body(environment);
    std::vector<ir::Type> results;
    append_ir_types(results, result_, true);
    return builder_->finish_function(std::move(results));
}

// --- values ---------------------------------------------------------------------------------------------

Value FunctionLowering::constant(const Constant& value) {
    if (dry_) return {literal_type(value), {ValueId{}}, 0};
    const ValueId result = builder_->constant(value);
    if (value.type == ScalarType::kBool) known_.truths[result.index] = value.as<bool>();
    return {literal_type(value), {result}, 0};
}

Value FunctionLowering::integer(int64_t value) {
    Value result = constant(Constant::of(ScalarType::kInt64, value));
    if (!dry_) note(result.parts[0], {value, value, {}, 0});
    return result;
}

Value FunctionLowering::boolean(bool value) {
    return constant(Constant::of(ScalarType::kBool, static_cast<uint8_t>(value ? 1 : 0)));
}

Value FunctionLowering::tuple(std::vector<Value> items) {
    Value result;
    std::vector<TypeRef> types;
    for (const Value& item : items) {
        types.push_back(item.type);
        result.parts.insert(result.parts.end(), item.parts.begin(), item.parts.end());
    }
    result.type = tuple_type(std::move(types));
    return result;
}

ValueId FunctionLowering::apply(OpId op, std::initializer_list<ValueId> operands) {
    return dry_ ? ValueId{} : builder_->apply(op, operands);
}

ValueId FunctionLowering::apply(const OpInfo& op, const LoopInfo& loop, std::span<const Value> operands) {
    if (dry_) return {};
    std::vector<ValueId> parts;
    for (size_t i = 0; i < operands.size(); ++i) parts.push_back(cast(operands[i], loop.types[i]));
    return builder_->apply(op, parts);
}

ValueId FunctionLowering::cast(const Value& value, ScalarType to) {
    return dry_ ? ValueId{} : builder_->cast(value.parts[0], to);
}

ValueId FunctionLowering::as_index(const Value& given, NodeId where) {
    const Value value = required(given, where);
    if (!is_integer(value.type))
        fail(where, "an integer is needed here, not " + lang::describe(value.type),
             is_float(value.type) ? "Convert it by int(...), or divide by //." : "");
    if (dry_ || value.type->scalar != ScalarType::kUInt64) return cast(value, ScalarType::kInt64);
    // What int64 does not hold is beyond each end, instead of a negative number.
    const ValueId most = builder_->constant(Constant::of(ScalarType::kUInt64, uint64_t{INT64_MAX}));
    const ValueId index =
        builder_->cast(builder_->apply(OpId::kMinimum, {value.parts[0], most}), ScalarType::kInt64);
    note(index, {0, INT64_MAX, {}, 0});
    return index;
}

void FunctionLowering::check(ValueId holds, Site site, std::vector<ValueId> payload, NodeId where) {
    const bool is_caught = compilation_.catches() && try_of(compilation_.exceptions().of(site)) != nullptr;
    if (dry_) return;
    const bool gives_back = compilation_.catches() && now_ != nullptr && has_owners(*now_);
    if (!is_caught && defer(holds, site, where)) return;
    raise_deferred();
    if (is_caught || gives_back) {
        builder_->if_else(
            holds, [](ir::Builder&, std::span<const ValueId>) { return std::vector<ValueId>(); },
            [&](ir::Builder&, std::span<const ValueId>) {
                raise_site(std::move(site), std::move(payload), where);
                return std::vector<ValueId>();
            });
        return;
    }
    site.function = spot(where).function;
    site.node = spot(where).node;
    tell_place(site, payload);
    site.payload = static_cast<int>(payload.size());
    builder_->check(holds, compilation_.add_site(std::move(site)), payload);
}

// Of errors of a kernel's threads: which one it is.
void FunctionLowering::tell_place(Site& site, std::vector<ValueId>& payload) const {
    const std::vector<GlobalArgument>& globals = compilation_.globals();
    if (!compilation_.options().is_kernel || compilation_.is_entry(target_)) return;
    const auto at = std::find_if(globals.begin(), globals.end(), is_place_argument) - globals.begin();
    site.place = static_cast<int>(payload.size());
    const std::vector<ValueId>& numbers = globals_[static_cast<size_t>(at)].parts;
    const size_t count = compilation_.options().tells_accesses ? kPlaceOfEvents : kPlaceOfErrors;
    payload.insert(payload.end(), numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(count));
}

Site FunctionLowering::site(std::string exception, std::string text) const {
    Site result;
    result.exception = std::move(exception);
    result.text = std::move(text);
    return result;
}

Value FunctionLowering::convert(const Value& value, TypeRef type, NodeId where) {
    if (value.type == type) return value;
    Value result{type, {}, value.origin};
    append_converted(result.parts, value, type, where);
    return result;
}

void FunctionLowering::append_converted(std::vector<ValueId>& parts, const Value& value, TypeRef type,
                                        NodeId where) {
    if (dry_) {
        parts.resize(parts.size() + part_count(type));
        return;
    }
    if (type->kind == TypeKind::kMaybe || type->kind == TypeKind::kOptional) {
        // A flag and the value.
        const TypeKind without = type->kind == TypeKind::kMaybe ? TypeKind::kUnbound : TypeKind::kNone;
        if (value.type->kind == without) {
            append_nothing(parts, type);
        } else if (value.type->kind == type->kind) {
            parts.push_back(value.parts[0]);
            append_converted(parts, {value.type->parts[0], {value.parts.begin() + 1, value.parts.end()}, 0},
                             type->parts[0], where);
        } else {
            parts.push_back(boolean(true).parts[0]);
            append_converted(parts, value, type->parts[0], where);
        }
        return;
    }
    if (is_string(type) && !is_string(value.type)) {
        const Value made = kept(Strings(*this, where).of(value));
        parts.insert(parts.end(), made.parts.begin(), made.parts.end());
        return;
    }
    switch (type->kind) {
        case TypeKind::kScalar: parts.push_back(builder_->cast(value.parts[0], type->scalar)); return;
        case TypeKind::kChoice: parts.push_back(number_in(value, type)); return;
        case TypeKind::kClosure:
        case TypeKind::kGenerator:
        case TypeKind::kTogether:
        case TypeKind::kFormat:
        case TypeKind::kRecord:
        case TypeKind::kSlice:
        case TypeKind::kTuple: {
            size_t at = 0;
            for (size_t i = 0; i < type->parts.size(); ++i) {
                const Value item = take(value.type->parts[i], value.parts, at);
                append_converted(parts, item, type->parts[i], where);
            }
            return;
        }
        case TypeKind::kStructures:
        case TypeKind::kArray: {
            if (value.type == type) {
                parts.insert(parts.end(), value.parts.begin(), value.parts.end());
                return;
            }
            std::vector<ValueId> strides;
            for (size_t d = 0; d + (type->contiguous ? 1 : 0) < type->rank; ++d)
                strides.push_back(stride_of(value, d));
            parts.push_back(
                builder_->view(value.parts[0], buffer_type(type).buffer, integer(0).parts[0], strides));
            if (type->owned) parts.push_back(value.type->owned ? owner_of(value) : integer(0).parts[0]);
            for (size_t d = 0; d < type->rank; ++d) parts.push_back(size_of(value, d));
            parts.insert(parts.end(), strides.begin(), strides.end());
            return;
        }
        default: parts.insert(parts.end(), value.parts.begin(), value.parts.end());
    }
}

namespace {

bool is_flagged(TypeRef type) { return type->kind == TypeKind::kOptional || type->kind == TypeKind::kMaybe; }

}  // namespace

Value FunctionLowering::at_border(const Value& value) {
    Value result = value;
    if (has_items(value.type)) {
        result.parts.clear();
        for (size_t i = 0; i < value.type->parts.size(); ++i) {
            const Value item = at_border(tuple_item(value, i));
            result.parts.insert(result.parts.end(), item.parts.begin(), item.parts.end());
        }
    } else if (is_flagged(value.type) && !dry_) {
        const Value item = at_border({value.type->parts[0], {value.parts.begin() + 1, value.parts.end()}, 0});
        std::copy(item.parts.begin(), item.parts.end(), result.parts.begin() + 1);
    } else if (is_strided(value.type) && value.type->rank > 0 && !dry_) {
        ir::BufferType first = buffer_type(value.type).buffer;
        first.strides.clear();
        result.parts[0] = builder_->view(value.parts[0], std::move(first), builder_->index(0));
    }
    return result;
}

Value FunctionLowering::inside(const Value& value) {
    Value result = value;
    if (has_items(value.type)) {
        result.parts.clear();
        for (size_t i = 0; i < value.type->parts.size(); ++i) {
            const Value item = inside(tuple_item(value, i));
            result.parts.insert(result.parts.end(), item.parts.begin(), item.parts.end());
        }
    } else if (is_flagged(value.type) && !dry_) {
        const Value item = inside({value.type->parts[0], {value.parts.begin() + 1, value.parts.end()}, 0});
        std::copy(item.parts.begin(), item.parts.end(), result.parts.begin() + 1);
    } else if (is_strided(value.type) && !dry_) {
        // No array has so many elements in memory; where strides are 0 a wrong address is none.
        for (size_t d = 0; d < value.type->rank; ++d) {
            note(size_of(value, d), {0, int64_t{1} << 62, {}, 0});
            if (value.type->rank == 2) known_.arrays[size_of(value, d).index] = value.parts[0].index;
        }
        if (value.type->rank == 0) return result;
        std::vector<ValueId> strides;
        for (size_t d = 0; d + (value.type->contiguous ? 1 : 0) < value.type->rank; ++d)
            strides.push_back(stride_of(value, d));
        result.parts[0] =
            builder_->view(value.parts[0], buffer_type(value.type).buffer, builder_->index(0), strides);
    }
    return result;
}

void FunctionLowering::append_nothing(std::vector<ValueId>& parts, TypeRef type) {
    std::vector<ir::Type> types;
    append_ir_types(types, type, false);
    for (const ir::Type& part : types)
        parts.push_back(part.is_buffer ? builder_->null(part.buffer) : builder_->constant({part.scalar, {}}));
}

Value FunctionLowering::take(TypeRef type, std::span<const ValueId> parts, size_t& at) {
    const size_t count = part_count(type);
    Value result{type,
                 {parts.begin() + static_cast<std::ptrdiff_t>(at),
                  parts.begin() + static_cast<std::ptrdiff_t>(at + count)},
                 0};
    at += count;
    return result;
}

ir::Type FunctionLowering::buffer_type(TypeRef type) {
    ir::BufferType buffer;
    buffer.element = type->scalar;
    buffer.alias_scope = type->scope;
    buffer.readonly = type->readonly;
    buffer.strides.assign(type->rank, ir::kDynamic);
    if (type->contiguous) buffer.strides.back() = item_size(type);
    return ir::Type::of(std::move(buffer));
}

void FunctionLowering::append_ir_types(std::vector<ir::Type>& types, TypeRef type, bool at_border) {
    switch (type->kind) {
        case TypeKind::kScalar: types.push_back(ir::Type::of(type->scalar)); return;
        case TypeKind::kChoice: types.push_back(ir::Type::of(ScalarType::kInt64)); return;
        case TypeKind::kStructures:
        case TypeKind::kArray:
            types.push_back(buffer_type(type));
            if (at_border) types.back().buffer.strides.clear();
            types.insert(types.end(), part_count(type) - 1, ir::Type::of(ScalarType::kInt64));
            return;
        case TypeKind::kClosure:
        case TypeKind::kGenerator:
        case TypeKind::kTogether:
        case TypeKind::kFormat:
        case TypeKind::kRecord:
        case TypeKind::kSlice:
        case TypeKind::kTuple:
            for (TypeRef part : type->parts) append_ir_types(types, part, at_border);
            return;
        case TypeKind::kRange: types.insert(types.end(), 3, ir::Type::of(ScalarType::kInt64)); return;
        case TypeKind::kList:
            types.push_back(ir::Type::of(list_head_type()));
            types.push_back(ir::Type::of(ScalarType::kInt64));
            return;
        case TypeKind::kOptional:
        case TypeKind::kMaybe:
            types.push_back(ir::Type::of(ScalarType::kBool));
            append_ir_types(types, type->parts[0], at_border);
            return;
        default: return;
    }
}

TypeRef FunctionLowering::joined(TypeRef a, TypeRef b) {
    TypeRef both = join(a, b);
    const std::function<void(TypeRef, TypeRef)> meet = [&](TypeRef one, TypeRef other) {
        const auto is_wrapped = [](TypeRef type) {
            return type->kind == TypeKind::kMaybe || type->kind == TypeKind::kOptional;
        };
        while (is_wrapped(one)) one = one->parts[0];
        while (is_wrapped(other)) other = other->parts[0];
        if (is_strided(one) && is_strided(other) && one->scope != other->scope)
            throw ScopesMeet{one->scope, other->scope};
        if (is_list(one) && is_list(other) && one->list != other->list)
            throw ListsMeet{one->list, other->list};
        if (!has_items(one) || !has_items(other)) return;
        for (size_t i = 0; i < one->parts.size(); ++i) meet(one->parts[i], other->parts[i]);
    };
    if (both != nullptr) meet(a, b);
    return both;
}

// --- errors ---------------------------------------------------------------------------------------------

void FunctionLowering::fail(NodeId where, const std::string& what, const std::string& help,
                            const std::vector<std::pair<NodeId, std::string>>& others) const {
    if (dry_ && undecided_ && deciding_ > 0) throw Undecided();
    if (dry_ && undecided_ && undecided_at_ != 0) {
        const std::string& name = variable(static_cast<size_t>(node(undecided_at_).number));
        throw CompileError(render(spot(undecided_at_), unbound(name), {}, "Assign it before."));
    }
    std::vector<std::pair<Spot, std::string>> spots;
    for (const auto& [node, note] : others) spots.push_back({spot(node), note});
    throw CompileError(render(spot(where), what, spots, help));
}

TypeRef FunctionLowering::join_or_fail(const Value& a, const Value& b, const std::string& name,
                                       NodeId where) const {
    TypeRef both = joined(a.type, b.type);
    if (both != nullptr) return both;
    const Value& later = a.origin < b.origin ? b : a;
    const Value& earlier = a.origin < b.origin ? a : b;
    const bool same_kind = is_scalar(a.type) && is_scalar(b.type);
    fail(later.origin != 0 ? later.origin : where,
         "variable '" + name + "' is " + lang::describe(earlier.type) + " on one way and " +
             lang::describe(later.type) + " on another",
         same_kind ? "Convert one of them, as by np.uint64(...)." : "Use two variables.",
         earlier.origin != 0
             ? std::vector<std::pair<NodeId, std::string>>{{earlier.origin, lang::describe(earlier.type)}}
             : std::vector<std::pair<NodeId, std::string>>{});
}

}  // namespace weft::lang
