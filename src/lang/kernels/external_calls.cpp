// Calls of functions in CUDA C++, which are linked with the kernel's own code.
#include "lang/c_source/device_function.h"
#include "lang/kernels/kernels.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// What a function returns that has raised nothing, by Numba's convention: an error is another number.
constexpr int kDone = 0, kNone = -2;

std::string text_of(const ExternalFunction::Parameter& parameter) {
    return std::string(DType(parameter.type).name()) + (parameter.is_pointer ? "*" : "");
}

// Numbers become what the parameter is, but nothing is cut off.
bool converts(TypeRef from, ScalarType to) {
    if (!is_scalar(from) || is_complex(from)) return false;
    const DType wanted(to);
    if (wanted.is_floating()) return true;
    return !DType(from->scalar).is_floating() && (to != ScalarType::kBool || is_bool(from));
}

}  // namespace

Value FunctionLowering::Kernels::call_external(const ExternalFunction& function, const Arguments& arguments) {
    const std::string name = function.name + "()";
    const Options& options = f_.compilation_.options();
    if (!options.is_kernel)
        f_.fail(where_, name + " is CUDA C++, which kernels call, not other compiled functions");
    if (options.for_gpu && !options.has_externals)
        f_.fail(where_, name + " is declared, and nothing is linked that may have it",
                "Name its source or file: declare_device(..., link=...), or jit(link=...).");
    f_.expect_arguments(function.name, arguments, function.parameters.size(), function.parameters.size());
    std::vector<ValueId> operands;
    std::vector<Value> values;
    for (size_t i = 0; i < function.parameters.size(); ++i) {
        const ExternalFunction::Parameter& parameter = function.parameters[i];
        const Value given = f_.required(arguments.positional[i], where_);
        values.push_back(given);
        const auto refuse = [&](const std::string& why, const std::string& help = {}) {
            f_.fail(where_,
                    "argument " + std::to_string(i + 1) + " of " + name + " is declared as " +
                        text_of(parameter) + ", and " + why,
                    help);
        };
        if (!parameter.is_pointer) {
            if (!converts(given.type, parameter.type))
                refuse(lang::describe(given.type) + " is given",
                       is_scalar(given.type) ? "Convert it: int(x), or a type of weft's." : "");
            operands.push_back(f_.cast(given, parameter.type));
            continue;
        }
        if (!is_array(given.type) || given.type->scalar != parameter.type)
            refuse(lang::describe(given.type) + " is given",
                   "An array of these elements stands for where it begins.");
        if (given.type->rank > 0 && !given.type->contiguous)
            refuse("the array's elements do not lie side by side", "Give the kernel a copy of it.");
        f_.expect_writeable(given.type, where_);
        f_.target_.written.insert(given.type->scope);
        operands.push_back(given.parts[0]);
    }
    const TypeRef type = function.result ? scalar_type(*function.result) : nullptr;
    if (f_.dry_) return type != nullptr ? Value{type, {ValueId{}}, 0} : f_.none();
    if (!options.has_externals) return put_in_place(function, values, operands);
    std::vector<ir::Type> results;
    if (function.tells_status) results.push_back(ir::Type::of(ScalarType::kInt32));
    if (function.result) results.push_back(ir::Type::of(*function.result));
    const std::vector<ValueId> given =
        f_.builder_->external(function.name, operands, results, function.tells_status);
    const auto at = [&](bool is_there, ValueId value) {
        return is_there ? std::optional(value) : std::nullopt;
    };
    return results_of(function, at(function.tells_status, given.empty() ? ValueId{} : given.front()),
                      at(function.result.has_value(), given.empty() ? ValueId{} : given.back()));
}

Value FunctionLowering::Kernels::results_of(const ExternalFunction& function, std::optional<ValueId> status,
                                            std::optional<ValueId> result) {
    if (status) {
        const auto is = [&](int number) {
            return f_.apply(OpId::kEqual, {*status, f_.cast(f_.integer(number), ScalarType::kInt32)});
        };
        f_.check(f_.apply(OpId::kLogicalOr, {is(kDone), is(kNone)}),
                 f_.site("RuntimeError", function.name + "() of CUDA C++ returned a status that is not 0"),
                 {}, where_);
    }
    return result ? f_.scalar(scalar_type(*function.result), *result) : f_.none();
}

// Its code, where it lies within weft's subset of C++.
Value FunctionLowering::Kernels::put_in_place(const ExternalFunction& function, std::span<const Value> given,
                                              const std::vector<ValueId>& operands) {
    const std::string name = function.name + "()";
    const std::string help = "Write it in Python, with weft.cuda.jit(device=True), to run it on both.";
    const Options& options = f_.compilation_.options();
    if (f_.compilation_.catches())
        f_.fail(where_, name + " is CUDA C++, which a kernel that catches errors calls on GPUs only", help);
    f_.raise_deferred();
    std::vector<c_source::DeviceArgument> arguments;
    for (size_t i = 0; i < operands.size(); ++i) {
        const ExternalFunction::Parameter& parameter = function.parameters[i];
        c_source::DeviceArgument one{.type = parameter.type, .is_pointer = parameter.is_pointer};
        one.value = operands[i];
        if (parameter.is_pointer) {
            one.size = index(1);
            for (size_t d = 0; d < given[i].type->rank; ++d)
                one.size = f_.apply(OpId::kMultiply, {one.size, f_.size_of(given[i], d)});
            // A place for each element, whatever the array's axes are.
            ir::BufferType flat = f_.builder_->type(operands[i]).buffer;
            flat.strides = {DType(parameter.type).itemsize()};
            one.value = f_.builder_->view(operands[i], flat, index(0));
        }
        arguments.push_back(one);
    }
    c_source::DeviceFunction called;
    called.name = function.name;
    called.result = function.result;
    called.tells_status = function.tells_status;
    called.access = [&](const c_source::DeviceAccess& access) {
        const c_source::DeviceArgument& array = arguments[access.argument];
        if (options.check_bounds || options.tells_accesses) {
            const ValueId fits =
                f_.apply(OpId::kLogicalAnd, {f_.apply(OpId::kGreaterEqual, {access.position, index(0)}),
                                             f_.apply(OpId::kLess, {access.position, array.size})});
            Site site = f_.site("IndexError", std::string(access.where));
            site.kind = SiteKind::kIndex;
            std::vector<ValueId> payload{access.position, array.size};
            site.function = f_.spot(where_).function;
            site.node = f_.spot(where_).node;
            f_.tell_place(site, payload);
            site.payload = static_cast<int>(payload.size());
            f_.builder_->check(fits, f_.compilation_.add_site(std::move(site)), payload);
        }
        if (!tells()) return;
        const ValueId address = f_.apply(
            OpId::kAdd, {f_.builder_->address(array.value),
                         f_.apply(OpId::kMultiply, {access.position, index(DType(array.type).itemsize())})});
        const ThreadEvent event = access.is_atomic ? ThreadEvent::kAtomic
                                  : access.written ? ThreadEvent::kWrite
                                                   : ThreadEvent::kRead;
        tell_memory(event, given[access.argument].type, address,
                    access.is_atomic ? std::nullopt : access.written);
    };
    std::string reason = "and nothing is linked that has its source";
    for (const auto& [title, text] : *function.sources) {
        const c_source::SourceText source{title, text};
        try {
            if (!c_source::has_function(source, function.name)) continue;
            const c_source::DeviceResults results =
                c_source::call_device_function(*f_.builder_, source, called, arguments);
            return results_of(function, results.status, results.result);
        } catch (const c_source::OutsideSubset& error) {
            reason = "since it lies outside of weft's subset of C++: " + error.reason();
            break;
        }
    }
    f_.fail(where_, name + " is CUDA C++, which runs on GPUs only here, " + reason, help);
}

}  // namespace weft::lang
