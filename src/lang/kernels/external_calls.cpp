// Calls of functions in CUDA C++, which are linked with the kernel's own code.
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
    if (options.tells_accesses)
        f_.fail(where_, name + " is CUDA C++, whose reads and writes the race checker does not see");
    if (options.for_gpu && !options.has_externals)
        f_.fail(where_, name + " is declared, and nothing is linked that may have it",
                "Name its source or file: declare_device(..., link=...), or jit(link=...).");
    if (!options.has_externals)
        f_.fail(where_, name + " is CUDA C++, which runs on GPUs only, and this launch runs on the CPU",
                "Write it in Python, with weft.cuda.jit(device=True), to run it on both.");
    f_.expect_arguments(function.name, arguments, function.parameters.size(), function.parameters.size());
    std::vector<ValueId> operands;
    for (size_t i = 0; i < function.parameters.size(); ++i) {
        const ExternalFunction::Parameter& parameter = function.parameters[i];
        const Value given = f_.required(arguments.positional[i], where_);
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
    std::vector<ir::Type> results;
    if (function.tells_status) results.push_back(ir::Type::of(ScalarType::kInt32));
    if (function.result) results.push_back(ir::Type::of(*function.result));
    const TypeRef type = function.result ? scalar_type(*function.result) : nullptr;
    if (f_.dry_) return type != nullptr ? Value{type, {ValueId{}}, 0} : f_.none();
    const std::vector<ValueId> given =
        f_.builder_->external(function.name, operands, results, function.tells_status);
    if (function.tells_status) {
        const auto is = [&](int status) {
            return f_.apply(OpId::kEqual, {given[0], f_.cast(f_.integer(status), ScalarType::kInt32)});
        };
        f_.check(f_.apply(OpId::kLogicalOr, {is(kDone), is(kNone)}),
                 f_.site("RuntimeError", name + " of CUDA C++ returned a status that is not 0"), {}, where_);
    }
    return type != nullptr ? f_.scalar(type, given.back()) : f_.none();
}

}  // namespace weft::lang
