// Reductions: the methods of arrays, by their kinds, and what is put together from sums.
#include "api/reductions/mean_parts.h"
#include "api/reductions/nan_parts.h"
#include "convert/convert.h"
#include "core/shape.h"
#include "engine/late_warnings.h"
#include "functions/bound_function.h"
#include "module.h"
#include "objects/fold_arguments.h"
#include "objects/objects.h"
#include "protocols/overrides.h"
#include "weft/statistics.h"

namespace weft::python {

namespace {

array to_out(nb::handle out) {
    if (out.is_none()) return array();
    nb::object given = nb::borrow(out);
    if (PyTuple_Check(out.ptr()) && PyTuple_Size(out.ptr()) == 1)
        given = nb::borrow(PyTuple_GetItem(out.ptr(), 0));
    if (given.is_none()) return array();
    if (!is_array(given.ptr())) throw TypeError("output must be an array");
    return array_of(given);
}

nb::object given_out(nb::handle out) {
    return nb::borrow(PyTuple_Check(out.ptr()) ? PyTuple_GetItem(out.ptr(), 0) : out.ptr());
}

/// None is no mask: it throws.
std::optional<Argument> to_where(nb::handle where) {
    if (where.ptr() == Py_True) return std::nullopt;
    return to_argument(where);
}

nb::object reduce_method(const ReductionInfo& info, nb::handle self, nb::handle axis, nb::handle dtype,
                         nb::handle out, nb::handle keepdims, nb::handle initial, nb::handle where) {
    if (!is_plain_array(self.ptr()) && !info.gives_index)
        return override_function("reduction")(std::string(info.name), std::string(info.numpy_name), self,
                                              axis, dtype, out, keepdims, initial, where);
    ReduceOptions options;
    options.axes = to_axes(axis);
    options.dtype = to_dtype(dtype);
    options.out = to_out(out);
    options.keepdims = FromPython<bool>::convert(keepdims);
    const array& value = array_of(self);
    if (initial.is_none()) check_without_identity(info.numpy_name, value, options.axes, where);
    if (!initial.is_none() && !is_no_value(initial)) options.initial = to_argument(initial);
    options.where = to_where(where);
    if (value.ndim() == 0 && PyTuple_Check(axis.ptr())) {
        for (const int64_t each : *options.axes) normalize_axis(each, 0);  // an axis alone NumPy lets it have
    }
    if (!info.gives_index && op_info(info.combine).kind != OpKind::kLogical)
        warn_of_lost_imaginary_part(value.dtype(), options.dtype, options.out);
    array result;
    {
        const ReleaseGil release(is_large(value));
        result = reduce(info, value, options);
    }
    if (options.out.valid()) return given_out(out);
    return wrap_result_like(std::move(result), self);
}

/// The method of a reduction: its parameters are what its kind takes.
void bind_reduction(PyTypeObject* type, const ReductionInfo& info) {
    const auto none = nb::none();
    const std::string name(info.name);
    const std::string doc(info.doc);
    switch (info.kind) {
        case ReductionKind::kWide:
            method(
                type, name.c_str(),
                [&info](nb::handle self, nb::handle axis, nb::handle dtype, nb::handle out,
                        nb::handle keepdims, nb::handle initial, nb::handle where) {
                    return reduce_method(info, self, axis, dtype, out, keepdims, initial, where);
                },
                arg("axis") = none, arg("dtype") = none, arg("out") = none, arg("keepdims") = false,
                arg("initial") = nb::ellipsis(), arg("where") = true, doc.c_str());
            break;
        case ReductionKind::kSame:
            method(
                type, name.c_str(),
                [&info](nb::handle self, nb::handle axis, nb::handle out, nb::handle keepdims,
                        nb::handle initial, nb::handle where) {
                    return reduce_method(info, self, axis, nb::none(), out, keepdims, initial, where);
                },
                arg("axis") = none, arg("out") = none, arg("keepdims") = false,
                arg("initial") = nb::ellipsis(), arg("where") = true, doc.c_str());
            break;
        case ReductionKind::kBool:
            method(
                type, name.c_str(),
                [&info](nb::handle self, nb::handle axis, nb::handle out, nb::handle keepdims,
                        nb::handle where) {
                    return reduce_method(info, self, axis, nb::none(), out, keepdims, nb::ellipsis(), where);
                },
                arg("axis") = none, arg("out") = none, arg("keepdims") = false, nb::kw_only(),
                arg("where") = true, doc.c_str());
            break;
        case ReductionKind::kIndex:
            method(
                type, name.c_str(),
                [&info](nb::handle self, nb::handle axis, nb::handle out, nb::handle keepdims) {
                    if (!axis.is_none()) to_index(axis);  // one axis at most
                    return reduce_method(info, self, axis, nb::none(), out, keepdims, nb::ellipsis(),
                                         nb::handle(Py_True));
                },
                arg("axis") = none, arg("out") = none, nb::kw_only(), arg("keepdims") = false, doc.c_str());
            break;
        case ReductionKind::kDeviations: break;  // var() and std() divide it
    }
}

nb::object mean_function(nb::handle a, nb::handle axis, nb::handle dtype, nb::handle out, nb::handle keepdims,
                         nb::handle where) {
    ReductionOptions options;
    options.dtype = to_dtype(dtype);
    const Axes axes = FromPython<Axes>::convert(axis);
    options.out = to_out(out);
    options.keepdims = FromPython<bool>::convert(keepdims);
    options.where = to_where(where);
    array input = array_of(a), result, too_few;
    warn_of_lost_imaginary_part(input.dtype(), options.dtype, options.out);
    {
        const ReleaseGil release(is_large(input));
        result = mean(std::move(input), axes, options, too_few);
    }
    warn_where(too_few, result, "Mean of empty slice.");
    return options.out.valid() ? given_out(out) : wrap_result(std::move(result));
}

using Variance = array(array, const Axes&, const Argument&, const VarianceOptions&, array&);

template <Variance* function>
nb::object variance_function(nb::handle a, nb::handle axis, nb::handle dtype, nb::handle out, nb::handle ddof,
                             nb::handle keepdims, nb::handle where, nb::handle center) {
    VarianceOptions options;
    options.dtype = to_dtype(dtype);
    const Axes axes = FromPython<Axes>::convert(axis);
    options.out = to_out(out);
    options.keepdims = FromPython<bool>::convert(keepdims);
    options.where = to_where(where);
    if (!center.is_none()) options.mean = to_argument(center);
    const Argument less = to_argument(ddof);
    if (!options.where) check_has_truth(less);  // NumPy asks whether it is as much as there are elements
    array input = array_of(a), result, too_few;
    warn_of_lost_imaginary_part(input.dtype(), options.dtype, array());
    {
        const ReleaseGil release(is_large(input));
        result = function(std::move(input), axes, less, options, too_few);
    }
    warn_where(too_few, result, "Degrees of freedom <= 0 for slice");
    return options.out.valid() ? given_out(out) : wrap_result(std::move(result));
}

nb::object nan_mean_function(nb::handle a, nb::handle axis, nb::handle dtype, nb::handle out,
                             nb::handle keepdims, nb::handle where) {
    ReductionOptions options;
    options.dtype = to_dtype(dtype);
    const Axes axes = FromPython<Axes>::convert(axis);
    options.out = to_out(out);
    options.keepdims = FromPython<bool>::convert(keepdims);
    options.where = to_where(where);
    const array input = to_array(a);
    array result, nothing;
    warn_of_lost_imaginary_part(input.dtype(), options.dtype, options.out);
    {
        const ReleaseGil release(is_large(input));
        result = nan_mean(input, axes, options, nothing);
    }
    warn_where(nothing, result, "Mean of empty slice");
    return options.out.valid() ? given_out(out) : wrap_result(std::move(result));
}

nb::object nan_variance_function(nb::handle a, nb::handle axis, nb::handle dtype, nb::handle out,
                                 nb::handle ddof, nb::handle keepdims, nb::handle where, nb::handle center) {
    VarianceOptions options;
    options.dtype = to_dtype(dtype);
    const Axes axes = FromPython<Axes>::convert(axis);
    options.out = to_out(out);
    options.keepdims = FromPython<bool>::convert(keepdims);
    options.where = to_where(where);
    if (!center.is_none()) options.mean = to_argument(center);
    const Argument less = to_argument(ddof);
    const array input = to_array(a);
    array result, nothing;
    warn_of_lost_imaginary_part(input.dtype(), options.dtype, array());
    {
        const ReleaseGil release(is_large(input));
        result = nan_variance(input, axes, less, options, nothing);
    }
    warn_where(nothing, result, "Degrees of freedom <= 0 for slice.");
    return options.out.valid() ? given_out(out) : wrap_result(std::move(result));
}

nb::object nan_extreme_function(bool largest, nb::handle a, nb::handle axis, nb::handle out,
                                nb::handle keepdims, nb::handle initial, nb::handle where) {
    ReductionOptions options;
    const Axes axes = FromPython<Axes>::convert(axis);
    options.out = to_out(out);
    options.keepdims = FromPython<bool>::convert(keepdims);
    if (!initial.is_none() && !is_no_value(initial)) options.initial = to_argument(initial);
    options.where = to_where(where);
    // NumPy's two ways have a text each: of its arrays, and of what it has to convert.
    const char* const text = is_array(a.ptr()) ? "All-NaN slice encountered" : "All-NaN axis encountered";
    const array input = to_array(a);
    array result, nothing;
    {
        const ReleaseGil release(is_large(input));
        result = nan_extreme(largest, input, axes, options, nothing);
    }
    warn_where(nothing, result, text);
    return options.out.valid() ? given_out(out) : wrap_result(std::move(result));
}

/// For means by a subclass's own ufuncs: the dtype to sum in, the result's if it is another, and how many
/// elements each sum is of.
nb::object mean_parts(nb::handle a, nb::handle axis, nb::handle dtype, nb::handle keepdims,
                      nb::handle where) {
    const auto object = [](std::optional<DType> type) { return type ? wrap_dtype(*type) : nb::none(); };
    const std::optional<DType> given = to_dtype(dtype);
    const Axes axes = FromPython<Axes>::convert(axis);
    const bool keep = FromPython<bool>::convert(keepdims);
    const std::optional<Argument> mask = to_where(where);
    const array input = array_of(a);
    const MeanTypes types = mean_types(input.dtype(), given);
    Argument count = mean_count(input, axes, mask, keep);
    auto* counts = std::get_if<array>(&count);
    return nb::make_tuple(object(types.sum), object(types.result),
                          counts == nullptr ? nb::object(nb::int_(std::get<Integer>(count).magnitude))
                                            : wrap_result(std::move(*counts)));
}

}  // namespace

void bind_reductions(nb::module_& m) {
    for (const ReductionInfo& info : reduction_table()) bind_reduction(registry.ndarray, info);
    m.def("_mean", mean_function, arg("a"), arg("axis"), arg("dtype"), arg("out"), arg("keepdims"),
          arg("where"));
    const auto variance = [&](const char* name, const auto& function) {
        m.def(name, function, arg("a"), arg("axis"), arg("dtype"), arg("out"), arg("ddof"), arg("keepdims"),
              arg("where"), arg("mean"));
    };
    variance("_var", variance_function<var>);
    variance("_std", variance_function<weft::std>);
    m.def("_nan_mean", nan_mean_function, arg("a"), arg("axis"), arg("dtype"), arg("out"), arg("keepdims"),
          arg("where"));
    m.def("_nan_var", nan_variance_function, arg("a"), arg("axis"), arg("dtype"), arg("out"), arg("ddof"),
          arg("keepdims"), arg("where"), arg("mean"));
    m.def("_nan_extreme", nan_extreme_function, arg("largest"), arg("a"), arg("axis"), arg("out"),
          arg("keepdims"), arg("initial"), arg("where"));
    m.def(
        "_nan_replaced",
        [](nb::handle a, nb::handle value) { return wrap(nan_replaced(to_array(a), to_argument(value))); },
        arg("a"), arg("value"));
    m.def(
        "_nan_to_num",
        [](nb::handle x, nb::handle nan, nb::handle posinf, nb::handle neginf) {
            const auto optional = FromPython<std::optional<Argument>>::convert;
            const array input = to_array(x);
            const NanReplacements by{to_argument(nan), optional(posinf), optional(neginf)};
            array result;
            {
                const ReleaseGil release(is_large(input));
                result = nan_to_num(input, by);
            }
            return wrap(std::move(result));
        },
        arg("x"), arg("nan"), arg("posinf"), arg("neginf"));
    m.def("_mean_parts", mean_parts, arg("a"), arg("axis"), arg("dtype"), arg("keepdims"), arg("where"));
}

}  // namespace weft::python
