#include "lang/lowering.h"

#include <algorithm>

namespace weft::lang {

using ir::ValueId;

// --- the module -----------------------------------------------------------------------------------------

Lowered lower(const FunctionSource& function, std::span<const TypeRef> arguments, const Options& options) {
    Compilation compilation(options);
    const Specialised& entry = compilation.specialise(function, arguments, {&function, 0});
    return compilation.finish(entry, arguments.size());
}

const Specialised& Compilation::specialise(const FunctionSource& function, std::span<const TypeRef> arguments,
                                           const Spot& caller) {
    const auto [at, is_new] = specialised_.try_emplace(Key{&function, {arguments.begin(), arguments.end()}});
    Specialised& entry = at->second;
    if (!is_new) {
        if (entry.finished) return entry;
        throw CompileError(
            render(caller, "'" + function.name + "' calls itself; recursion is not compiled yet"));
    }
    entry.name = function.name + (specialised_.size() > 1 ? "." + std::to_string(specialised_.size()) : "");
    ir::Function compiled = FunctionLowering(*this, function, arguments, entry).run();
    module_.functions.push_back(std::move(compiled));
    entry.finished = true;
    return entry;
}

Lowered Compilation::finish(const Specialised& entry, size_t arguments) {
    Lowered result;
    result.module = std::move(module_);
    result.entry = entry.name;
    result.result = entry.result;
    result.sites = std::move(sites_);
    result.indices = std::move(indices_);
    for (size_t i = 0; i < arguments; ++i)
        result.written.push_back(entry.written.contains(static_cast<uint16_t>(i + 1)));
    return result;
}

std::string message_of(const Site& site, const char* payload) {
    const auto number = [&](size_t k) {
        int64_t value = 0;
        std::memcpy(&value, payload + 16 * k, sizeof(value));
        return std::to_string(value);
    };
    switch (site.kind) {
        case SiteKind::kFixed: return site.text;
        case SiteKind::kIndex:
            return "index " + number(0) + " is out of bounds for axis " + std::to_string(site.axis) +
                   " with size " + number(1);
        case SiteKind::kUnpack: return "cannot unpack " + number(0) + " values into " + number(1);
        case SiteKind::kUnbound:
            return "cannot access local variable '" + site.text + "' where it is not associated with a value";
    }
    return site.text;
}

// --- a function -----------------------------------------------------------------------------------------

FunctionLowering::FunctionLowering(Compilation& compilation, const FunctionSource& source,
                                   std::span<const TypeRef> arguments, Specialised& target)
    : compilation_(compilation),
      source_(source),
      arguments_(arguments.begin(), arguments.end()),
      target_(target),
      flows_(find_flows(source.tree)) {}

ir::Function FunctionLowering::run() {
    const auto parameters = source_.tree.parameters();
    for (NodeId parameter : parameters) {
        if (node(parameter).kind == NodeKind::kRest)
            fail(parameter, "parameters like *args are not compiled yet");
    }
    const auto first = [&](bool real) {
        Environment environment(source_.tree.variables().size(), {simple_type(TypeKind::kUnbound), {}, 0});
        for (size_t i = 0; i < arguments_.size(); ++i) {
            Value value{arguments_[i], {}, parameters[i]};
            std::vector<ir::Type> types;
            append_ir_types(types, value.type);
            const std::string& name = node(parameters[i]).atoms[0];
            for (size_t k = 0; k < types.size(); ++k) {
                value.parts.push_back(real ? builder_->parameter(types[k], k == 0 ? name : name + ".size")
                                           : ValueId{});
                // No array has so many elements in memory; where strides are 0 a wrong address is none.
                if (real && is_array(value.type) && k > 0)
                    note(value.parts.back(), {0, int64_t{1} << 62, {}, 0});
            }
            environment[i] = std::move(value);
        }
        return environment;
    };
    const auto body = [&](Environment& environment) {
        if (!lower_block(source_.tree.body(), environment)) return;
        const Value nothing{simple_type(TypeKind::kNone), {}, 0};
        if (dry_) {
            if (result_ == nullptr) {
                result_ = nothing.type;
            } else if (result_->kind != TypeKind::kNone) {
                fail(result_origin_,
                     "'" + source_.name + "' returns " + lang::describe(result_) +
                         " here and nothing on another way through it",
                     "Return a value on every way.");
            }
            return;
        }
        builder_->return_values({});
    };
    {
        Environment environment = first(false);
        body(environment);
        if (result_ == nullptr) result_ = simple_type(TypeKind::kNone);  // it always raises
        result_ = without_literals(result_);
    }
    dry_ = false;
    builder_ = &own_builder_.emplace(target_.name);
    Environment environment = first(true);
    body(environment);
    target_.result = result_;
    std::vector<ir::Type> results;
    append_ir_types(results, result_);
    return builder_->finish_function(std::move(results));
}

// --- values ---------------------------------------------------------------------------------------------

Value FunctionLowering::constant(const Constant& value) {
    return {literal_type(value), {dry_ ? ValueId{} : builder_->constant(value)}, 0};
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

ValueId FunctionLowering::as_index(const Value& value, NodeId where) {
    if (!is_integer(value.type)) fail(where, "an integer is needed here, not " + lang::describe(value.type));
    return cast(value, ScalarType::kInt64);
}

void FunctionLowering::check(ValueId holds, Site site, std::vector<ValueId> payload, NodeId where) {
    if (dry_) return;
    site.function = &source_;
    site.node = where;
    site.payload = static_cast<int>(payload.size());
    builder_->check(holds, compilation_.add_site(std::move(site)), payload);
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
    if (type->kind == TypeKind::kMaybe) {
        if (value.type->kind == TypeKind::kUnbound) {
            append_nothing(parts, type, where);
        } else if (value.type->kind == TypeKind::kMaybe) {
            parts.push_back(value.parts[0]);
            append_converted(parts, {value.type->parts[0], {value.parts.begin() + 1, value.parts.end()}, 0},
                             type->parts[0], where);
        } else {
            parts.push_back(boolean(true).parts[0]);
            append_converted(parts, value, type->parts[0], where);
        }
        return;
    }
    switch (type->kind) {
        case TypeKind::kScalar: parts.push_back(builder_->cast(value.parts[0], type->scalar)); return;
        case TypeKind::kTuple: {
            size_t at = 0;
            for (size_t i = 0; i < type->parts.size(); ++i) {
                const Value item = take(value.type->parts[i], value.parts, at);
                append_converted(parts, item, type->parts[i], where);
            }
            return;
        }
        default:
            if (value.type->kind == TypeKind::kArray && value.type != type)
                fail(where, "arrays that differ in layout or memory cannot meet in one variable yet",
                     "Give the second array a name of its own.");
            parts.insert(parts.end(), value.parts.begin(), value.parts.end());
    }
}

void FunctionLowering::append_nothing(std::vector<ValueId>& parts, TypeRef type, NodeId where) {
    std::vector<ir::Type> types;
    append_ir_types(types, type);
    for (const ir::Type& part : types) {
        if (part.is_buffer)
            fail(where, "an array that is bound on some ways only cannot be used yet",
                 "Bind the variable before the branch or loop, too.");
        parts.push_back(builder_->constant({part.scalar, {}}));
    }
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
    if (type->contiguous) buffer.strides.back() = DType(type->scalar).itemsize();
    return ir::Type::of(std::move(buffer));
}

void FunctionLowering::append_ir_types(std::vector<ir::Type>& types, TypeRef type) {
    switch (type->kind) {
        case TypeKind::kScalar: types.push_back(ir::Type::of(type->scalar)); return;
        case TypeKind::kArray:
            types.push_back(buffer_type(type));
            types.insert(types.end(), type->rank, ir::Type::of(ScalarType::kInt64));
            return;
        case TypeKind::kTuple:
            for (TypeRef part : type->parts) append_ir_types(types, part);
            return;
        case TypeKind::kRange: types.insert(types.end(), 3, ir::Type::of(ScalarType::kInt64)); return;
        case TypeKind::kMaybe:
            types.push_back(ir::Type::of(ScalarType::kBool));
            append_ir_types(types, type->parts[0]);
            return;
        case TypeKind::kSymbol:
            if (type->of != nullptr) append_ir_types(types, type->of);
            return;
        default: return;
    }
}

// --- errors ---------------------------------------------------------------------------------------------

void FunctionLowering::fail(NodeId where, const std::string& what, const std::string& help,
                            const std::vector<std::pair<NodeId, std::string>>& others) const {
    std::vector<std::pair<Spot, std::string>> spots;
    for (const auto& [node, note] : others) spots.push_back({{&source_, node}, note});
    throw CompileError(render({&source_, where}, what, spots, help));
}

TypeRef FunctionLowering::join_or_fail(const Value& a, const Value& b, const std::string& name,
                                       NodeId where) const {
    TypeRef both = join(a.type, b.type);
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
