// A public C++ function as a function of the module: parameters are converted as their C++ types say, and so
// is the result. python/functions.toml has names, defaults and texts (its column `bound`).
#pragma once

#include <vector>

#include "convert/convert.h"
#include "engine/gil.h"
#include "weft/options.h"

namespace weft::python {

/// What a parameter of C++ is made from, by its type without const and reference.
template <typename T>
struct FromPython;
template <>
struct FromPython<array> {
    static array convert(nb::handle object) { return to_array(object); }
};
template <>
struct FromPython<Argument> {
    static Argument convert(nb::handle object) { return to_argument(object); }
};
template <>
struct FromPython<Axes> {
    static Axes convert(nb::handle object) {
        const std::optional<Dims> axes = to_axes(object);
        return axes ? Axes(*axes) : Axes();
    }
};
template <>
struct FromPython<Shape> {
    static Shape convert(nb::handle object) { return to_dims(object); }
};
template <>
struct FromPython<int64_t> {
    static int64_t convert(nb::handle object) { return to_index(object); }
};
template <>
struct FromPython<double> {
    static double convert(nb::handle object) {
        const double value = PyFloat_AsDouble(object.ptr());
        if (value == -1.0 && PyErr_Occurred() != nullptr) throw_python_error();
        return value;
    }
};
template <>
struct FromPython<bool> {
    static bool convert(nb::handle object) {
        const int truth = PyObject_IsTrue(object.ptr());
        if (truth < 0) throw_python_error();
        return truth != 0;
    }
};
template <>
struct FromPython<DType> {
    static DType convert(nb::handle object) { return to_dtype_required(object); }
};
template <typename T>
struct FromPython<std::optional<T>> {
    static std::optional<T> convert(nb::handle object) {
        if (object.is_none()) return std::nullopt;
        return FromPython<T>::convert(object);
    }
};

/// Throws ValueError, as bool() does, for an array of several elements or none.
inline void check_has_truth(const Argument& value) {
    const auto* given = std::get_if<array>(&value);
    if (given != nullptr && given->size() != 1) FromPython<bool>::convert(wrap(*given));
}

/// A view keeps what it is of, as the view of a NumPy function that ends with reshape does.
inline nb::object to_python(array&& result) {
    if (result.ndim() == 0 || result.owns_data()) return wrap_result(std::move(result));
    const nb::object owner = wrap(result);
    return wrap_view(std::move(result), owner);
}
inline nb::object to_python(bool result) { return nb::bool_(result); }
inline nb::object to_python(int64_t result) { return nb::int_(result); }
inline nb::object to_python(std::vector<array>&& results) {
    nb::list list;
    for (array& each : results) list.append(to_python(std::move(each)));
    return list;
}

template <typename T>
bool is_large_argument(const T& value) {
    if constexpr (std::is_same_v<T, array> || std::is_same_v<T, Argument>) {
        return is_large(value);
    } else {
        return false;
    }
}

template <typename... Parameter>
auto call_without_gil(auto* function, Parameter&&... parameters) {
    const ReleaseGil release((is_large_argument(parameters) || ...));
    return function(parameters...);
}

template <typename>
using Handle = nb::handle;

template <auto* function, typename Result, typename... Parameter, typename... Extra>
void bind_as(Result (*)(Parameter...), nb::module_& m, const char* name, const Extra&... extra) {
    m.def(
        name,
        [](Handle<Parameter>... objects) {
            return to_python(
                call_without_gil(function, FromPython<std::remove_cvref_t<Parameter>>::convert(objects)...));
        },
        extra...);
}

/// `extra` are nanobind's: an argument for each parameter, and the docstring.
template <auto* function, typename... Extra>
void bind_function(nb::module_& m, const char* name, const Extra&... extra) {
    bind_as<function>(function, m, name, extra...);
}

}  // namespace weft::python
