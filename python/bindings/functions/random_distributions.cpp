// Distributions for Python: numbers and arrays as parameters, one draw or many.
#include <cmath>

#include "api/random/random.h"
#include "engine/errors.h"
#include "engine/numpy_version.h"
#include "functions/random_streams.h"
#include "graph/operand.h"
#include "objects/objects.h"
#include "ops/resolve.h"
#include "random/distributions/whole.h"

namespace weft::python {

namespace {

using distributions::Distribution;
using distributions::Numbers;

// A parameter that is a number; false where it may be an array.
bool read_number(PyObject* object, bool is_whole, double& real, int64_t& whole) {
    if (is_whole) {
        if (!PyLong_Check(object)) return false;
        whole = PyLong_AsLongLong(object);
        if (whole == -1 && PyErr_Occurred() != nullptr) throw_python_error();
        return true;
    }
    if (PyFloat_Check(object)) {
        real = PyFloat_AsDouble(object);
        return true;
    }
    if (!PyLong_Check(object)) return false;
    real = PyLong_AsDouble(object);
    if (real == -1.0 && PyErr_Occurred() != nullptr) throw_python_error();
    return true;
}

[[noreturn]] void refuse_cast(DType from, DType to) {
    throw TypeError("Cannot cast array data from dtype('" + std::string(from.name()) + "') to dtype('" +
                    std::string(to.name()) + "') according to the rule 'safe'");
}

// As an array of the parameter's kind.
array to_parameter(PyObject* object, DType dtype) {
    if (object == Py_None || PyUnicode_Check(object) || PyBytes_Check(object)) {
        if (dtype.scalar_type() == ScalarType::kInt64) {
            const nb::object number = steal_or_throw(PyNumber_Long(object));
            return full(Dims{}, Integer(nb::cast<int64_t>(number)), dtype);
        }
        const nb::object number = steal_or_throw(PyNumber_Float(object));
        return full(Dims{}, nb::cast<double>(number), dtype);
    }
    array values = to_array(object);
    if (values.dtype() == dtype) return values;
    const bool plain = PyFloat_Check(object) || PyList_Check(object) || PyTuple_Check(object);
    const bool truncated = plain && !values.dtype().is_complex();  // as int() of Python's numbers
    if (!truncated && !can_cast(values.dtype(), dtype, Casting::kSafe)) refuse_cast(values.dtype(), dtype);
    return astype(values, dtype);
}

std::optional<Dims> to_size(PyObject* size) {
    if (size == Py_None) return std::nullopt;
    Dims dims = to_dims(size);
    for (const int64_t extent : dims) {
        if (extent < 0) throw ValueError("negative dimensions are not allowed");
    }
    return dims;
}

PyObject* to_python(StreamHandle& stream, const Distribution& distribution, const Numbers& numbers) {
    Bits bits(*stream.source, stream.spare);
    if (distribution.is_whole) {
        int64_t drawn = 0;
        {
            const StreamLock lock(stream);
            drawn = distribution.draw_whole(bits, numbers);
        }
        return PyLong_FromLongLong(drawn);
    }
    double drawn = 0;
    {
        const StreamLock lock(stream);
        drawn = distribution.draw_real(bits, numbers);
    }
    return PyFloat_FromDouble(drawn);
}

// (stream, distribution, size, parameters...)
PyObject* draw_by(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        if (count < 3) throw TypeError("a stream, a distribution and a size are needed");
        auto& stream = nb::cast<StreamHandle&>(nb::handle(arguments[0]));
        const auto index = static_cast<size_t>(PyLong_AsSsize_t(arguments[1]));
        if (index >= distributions::all().size()) throw TypeError("there is no such distribution");
        const Distribution& distribution = distributions::all()[index];
        if (count != 3 + distribution.count) throw TypeError("the distribution has other parameters");
        const auto parameters = static_cast<size_t>(distribution.count);
        Numbers numbers;
        size_t known = 0;
        while (known < parameters &&
               read_number(arguments[3 + known], distribution.parameters[known].is_whole, numbers.real[known],
                           numbers.whole[known]))
            ++known;
        std::vector<array> arrays;
        bool are_numbers = true;
        if (known < parameters) {
            for (size_t k = 0; k < parameters; ++k) {
                const DType dtype =
                    distribution.parameters[k].is_whole ? ScalarType::kInt64 : ScalarType::kFloat64;
                arrays.push_back(to_parameter(arguments[3 + k], dtype));
                are_numbers = are_numbers && arrays.back().ndim() == 0;
            }
            for (size_t k = 0; are_numbers && k < parameters; ++k) {
                if (distribution.parameters[k].is_whole) {
                    read_scalar(arrays[k], &numbers.whole[k]);
                } else {
                    read_scalar(arrays[k], &numbers.real[k]);
                }
            }
        }
        if (are_numbers) {
            check_numbers(distribution, numbers);
            if (arguments[2] == Py_None) return to_python(stream, distribution, numbers);
        }
        const std::optional<Dims> size = to_size(arguments[2]);
        array result;
        {
            const StreamLock lock(stream);
            const ReleaseGil release(true);
            result = are_numbers ? draw_numbers(stream.draws(), distribution, numbers, *size)
                                 : draw_numbers(stream.draws(), distribution, arrays, size);
        }
        return wrap(std::move(result)).release().ptr();
    });
}

// (stream, distribution, size): draws without parameters, float64, of the distributions in
// api/random/random.h.
PyObject* draw_plain(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        if (count != 3) throw TypeError("a stream, a distribution and a size are needed");
        auto& stream = nb::cast<StreamHandle&>(nb::handle(arguments[0]));
        const auto distribution = static_cast<weft::Distribution>(PyLong_AsLong(arguments[1]));
        const Dims shape = to_size(arguments[2]).value_or(Dims{});
        array result;
        {
            const StreamLock lock(stream);
            const ReleaseGil release(!is_small(element_count(shape)));
            result = draw(*stream.source, distribution, shape, ScalarType::kFloat64);
        }
        return wrap(std::move(result)).release().ptr();
    });
}

PyMethodDef kDrawPlain = {"_draw_plain", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&draw_plain)),
                          METH_FASTCALL, "_draw_plain(stream, distribution, size)\n--\n\n"};
PyMethodDef kDrawBy = {"_draw_by", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&draw_by)),
                       METH_FASTCALL, "_draw_by(stream, distribution, size, *parameters)\n--\n\n"};

}  // namespace

void bind_distributions(nb::module_& m) {
    distributions::corrects_binomial = is_numpy_2_5();
    using nb::arg;
    const nb::object module_name = m.attr("__name__");
    m.attr("_draw_plain") = steal_or_throw(PyCFunction_NewEx(&kDrawPlain, nullptr, module_name.ptr()));
    m.attr("_draw_by") = steal_or_throw(PyCFunction_NewEx(&kDrawBy, nullptr, module_name.ptr()));
    m.def("_distributions", [] {
        nb::list names;
        for (const Distribution& each : distributions::all()) names.append(nb::cast(std::string(each.name)));
        return names;
    });
    m.def(
        "_draw_standard_gamma32",
        [](StreamHandle& stream, nb::handle shape, nb::handle size) -> nb::object {
            array parameter = astype(to_parameter(shape.ptr(), ScalarType::kFloat64), ScalarType::kFloat32);
            std::optional<Dims> dims = to_size(size.ptr());
            const bool is_number = parameter.ndim() == 0;
            float value = 0;
            if (is_number) {
                read_scalar(parameter, &value);
                if (!dims) dims = Dims{};
            }
            array result;
            {
                const StreamLock lock(stream);
                const ReleaseGil release(true);
                result = is_number ? draw_standard_gamma32(stream.draws(), value, *dims)
                                   : draw_standard_gamma32(stream.draws(), parameter, dims);
            }
            return wrap(std::move(result));
        },
        arg("stream"), arg("shape"), arg("size").none());
}

}  // namespace weft::python
