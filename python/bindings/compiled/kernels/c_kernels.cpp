// Element-wise and reduction kernels in C++ (weft/c_kernels.h), for weft.cuda's classes of CuPy's names.
#include <optional>
#include <vector>

#include "compiled/dispatcher.h"
#include "convert/convert.h"
#include "engine/gil.h"
#include "lang/errors/diagnostics.h"
#include "module.h"
#include "objects/objects.h"
#include "weft/c_kernels.h"

namespace weft::python {

namespace {

/// A scalar, NumPy's and weft's too, is a number; what has elements is an array.
Argument kernel_argument(nb::handle object) {
    const bool is_number_of_dtype = !is_array(object.ptr()) && nb::hasattr(object, "dtype") &&
                                    nb::hasattr(object, "item") && !nb::hasattr(object, "__setitem__");
    if (!is_number_of_dtype) return to_argument(object);
    return to_argument(nb::object(object.attr("item")()));
}

std::vector<Argument> kernel_arguments(nb::handle objects) {
    std::vector<Argument> arguments;
    for (const nb::handle one : objects) arguments.push_back(kernel_argument(one));
    return arguments;
}

std::vector<array> outputs_of(nb::handle objects) {
    std::vector<array> outputs;
    for (const nb::handle one : objects) {
        if (!is_array(one.ptr())) throw TypeError("outputs of kernels are weft's arrays");
        outputs.push_back(array_of(one));
    }
    return outputs;
}

nb::list wrapped(std::vector<array>&& arrays) {
    nb::list result;
    for (array& one : arrays) result.append(wrap(std::move(one)));
    return result;
}

/// With errors in the kernel's text as weft.CompileError.
template <class Work>
auto with_compile_errors(const Work& work) {
    try {
        return work();
    } catch (const lang::CompileError& error) {
        set_error_of_compilation(error);
        throw_python_error();
    }
}

bool any_is_large(const std::vector<Argument>& arguments) {
    for (const Argument& one : arguments) {
        if (is_large(one)) return true;
    }
    return false;
}

nb::list to_list(const std::vector<KernelParameter>& parameters) {
    nb::list result;
    for (const KernelParameter& one : parameters) {
        const nb::object dtype = one.dtype ? wrap_dtype(*one.dtype) : nb::object(nb::none());
        result.append(nb::make_tuple(one.name, dtype, one.type, one.is_raw));
    }
    return result;
}

nb::list to_list(const std::vector<std::pair<std::vector<DType>, std::string>>& codes) {
    nb::list result;
    for (const auto& [dtypes, text] : codes) {
        nb::list types;
        for (const DType one : dtypes) types.append(wrap_dtype(one));
        result.append(nb::make_tuple(nb::tuple(types), text));
    }
    return result;
}

nb::object call_elementwise(const ElementwiseKernel& kernel, nb::handle objects, nb::handle size) {
    const std::vector<Argument> arguments = kernel_arguments(objects);
    std::optional<int64_t> count;
    if (!size.is_none()) count = to_index(size);
    return with_compile_errors([&]() -> nb::object {
        std::vector<array> results;
        {
            const ReleaseGil release(any_is_large(arguments));
            results = kernel.call(arguments, count);
        }
        return wrapped(std::move(results));
    });
}

nb::object call_reduction(const ReductionKernel& kernel, nb::handle objects, nb::handle axis, bool keepdims,
                          nb::handle out) {
    const std::vector<Argument> arguments = kernel_arguments(objects);
    ReductionKernel::Call how;
    how.axes = to_axes(axis);
    how.keepdims = keepdims;
    how.out = outputs_of(out);
    return with_compile_errors([&]() -> nb::object {
        std::vector<array> results;
        {
            const ReleaseGil release(any_is_large(arguments));
            results = kernel.call(arguments, how);
        }
        return wrapped(std::move(results));
    });
}

}  // namespace

void bind_c_kernels(nb::module_& m) {
    nb::class_<ElementwiseKernel>(m, "_ElementwiseKernel")
        .def("call", &call_elementwise, arg("arguments"), arg("size"))
        .def_prop_ro("inputs", [](const ElementwiseKernel& self) { return to_list(self.inputs()); })
        .def_prop_ro("outputs", [](const ElementwiseKernel& self) { return to_list(self.outputs()); })
        .def_prop_ro("codes", [](const ElementwiseKernel& self) { return to_list(self.codes()); });
    m.def(
        "_elementwise_kernel",
        [](nb::handle inputs, nb::handle outputs, nb::handle body, nb::handle name, nb::handle preamble) {
            return ElementwiseKernel(text_of(inputs), text_of(outputs), text_of(body),
                                     {.name = text_of(name), .preamble = text_of(preamble)});
        },
        arg("inputs"), arg("outputs"), arg("body"), arg("name"), arg("preamble"));
    nb::class_<ReductionKernel>(m, "_ReductionKernel")
        .def("call", &call_reduction, arg("arguments"), arg("axis"), arg("keepdims"), arg("out"))
        .def_prop_ro("inputs", [](const ReductionKernel& self) { return to_list(self.inputs()); })
        .def_prop_ro("outputs", [](const ReductionKernel& self) { return to_list(self.outputs()); })
        .def_prop_ro("codes", [](const ReductionKernel& self) { return to_list(self.codes()); });
    m.def(
        "_reduction_kernel",
        [](nb::handle inputs, nb::handle outputs, const nb::tuple& parts, nb::handle name,
           nb::handle preamble, nb::handle partial_type) {
            ReductionKernel::Options options;
            options.name = text_of(name);
            options.preamble = text_of(preamble);
            options.partial_type = text_of(partial_type);
            return ReductionKernel(text_of(inputs), text_of(outputs), text_of(parts[0]), text_of(parts[1]),
                                   text_of(parts[2]), text_of(parts[3]), options);
        },
        arg("inputs"), arg("outputs"), arg("parts"), arg("name"), arg("preamble"), arg("partial_type"));
}

}  // namespace weft::python
