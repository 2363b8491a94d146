// Element-wise and reduction kernels in C++ (weft/c_kernels.h), for weft.cuda's classes of CuPy's names.
#include <optional>
#include <vector>

#include "convert/convert.h"
#include "engine/gil.h"
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

bool any_is_large(const std::vector<Argument>& arguments) {
    for (const Argument& one : arguments) {
        if (is_large(one)) return true;
    }
    return false;
}

nb::list to_list(const std::vector<CKernelParameter>& parameters) {
    nb::list result;
    for (const CKernelParameter& one : parameters) {
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

nb::object call_elementwise(const ElementwiseKernel& kernel, nb::handle objects, nb::handle size,
                            int64_t block_size, uint64_t stream) {
    const std::vector<Argument> arguments = kernel_arguments(objects);
    ElementwiseKernel::Call how;
    if (!size.is_none()) how.size = to_index(size);
    how.block_size = block_size;
    how.stream = stream;
    std::vector<array> results;
    {
        const ReleaseGil release(any_is_large(arguments));
        results = kernel.call(arguments, how);
    }
    return wrapped(std::move(results));
}

nb::object call_reduction(const ReductionKernel& kernel, nb::handle objects, nb::handle axis, bool keepdims,
                          nb::handle out, uint64_t stream) {
    const std::vector<Argument> arguments = kernel_arguments(objects);
    ReductionKernel::Call how;
    how.axes = to_axes(axis);
    how.keepdims = keepdims;
    how.out = outputs_of(out);
    how.stream = stream;
    std::vector<array> results;
    {
        const ReleaseGil release(any_is_large(arguments));
        results = kernel.call(arguments, how);
    }
    return wrapped(std::move(results));
}

void take_options(KernelOptions& options, nb::handle name, nb::handle preamble, nb::handle compiler_options) {
    options.name = text_of(name);
    options.preamble = text_of(preamble);
    for (const nb::handle one : compiler_options) options.options.push_back(text_of(one));
}

}  // namespace

void bind_c_kernels(nb::module_& m) {
    nb::class_<ElementwiseKernel>(m, "_ElementwiseKernel")
        .def("call", &call_elementwise, arg("arguments"), arg("size"), arg("block_size"), arg("stream"))
        .def_prop_ro("inputs", [](const ElementwiseKernel& self) { return to_list(self.inputs()); })
        .def_prop_ro("outputs", [](const ElementwiseKernel& self) { return to_list(self.outputs()); })
        .def_prop_ro("codes", [](const ElementwiseKernel& self) { return to_list(self.codes()); });
    m.def(
        "_elementwise_kernel",
        [](nb::handle inputs, nb::handle outputs, nb::handle body, nb::handle name, nb::handle preamble,
           nb::handle compiler_options, const nb::tuple& around_loop) {
            KernelOptions options;
            take_options(options, name, preamble, compiler_options);
            options.before_loop = text_of(around_loop[0]);
            options.after_loop = text_of(around_loop[1]);
            return ElementwiseKernel(text_of(inputs), text_of(outputs), text_of(body), options);
        },
        arg("inputs"), arg("outputs"), arg("body"), arg("name"), arg("preamble"), arg("options"),
        arg("around_loop"));
    nb::class_<ReductionKernel>(m, "_ReductionKernel")
        .def("call", &call_reduction, arg("arguments"), arg("axis"), arg("keepdims"), arg("out"),
             arg("stream"))
        .def_prop_ro("inputs", [](const ReductionKernel& self) { return to_list(self.inputs()); })
        .def_prop_ro("outputs", [](const ReductionKernel& self) { return to_list(self.outputs()); })
        .def_prop_ro("codes", [](const ReductionKernel& self) { return to_list(self.codes()); });
    m.def(
        "_reduction_kernel",
        [](nb::handle inputs, nb::handle outputs, const nb::tuple& parts, nb::handle name,
           nb::handle preamble, nb::handle partial_type, nb::handle compiler_options) {
            ReductionKernel::Options options;
            take_options(options, name, preamble, compiler_options);
            options.partial_type = text_of(partial_type);
            return ReductionKernel(text_of(inputs), text_of(outputs), text_of(parts[0]), text_of(parts[1]),
                                   text_of(parts[2]), text_of(parts[3]), options);
        },
        arg("inputs"), arg("outputs"), arg("parts"), arg("name"), arg("preamble"), arg("partial_type"),
        arg("options"));
}

}  // namespace weft::python
