// Views with other axes, shapes and strides, and whether arrays share memory.
#include "convert/convert.h"
#include "module.h"
#include "objects/objects.h"
#include "package.h"

namespace weft::python {
namespace {

/// An array over the memory that a foreign object lends, or what asarray makes of it.
array over_its_memory(nb::handle object) {
    PyObject* const pointer = object.ptr();
    if (!is_array(pointer) && has_foreign_buffer(pointer)) {
        try {
            return convert_buffer(pointer, true);
        } catch (const ValueError&) {  // it lends none, or memory that cannot be shared
        }
    }
    return to_array(object);
}

// NumPy's `max_work`: the bounds of memory alone, or all the work that it takes. Other numbers bound the
// steps of NumPy's search; here there is always an answer.
constexpr int64_t kBounds = 0, kExact = -1, kLeast = -2;

int64_t to_max_work(nb::handle given, int64_t otherwise) {
    if (given.is_none()) return otherwise;
    if (PyIndex_Check(given.ptr()) == 0) throw ValueError("max_work must be an integer");
    const int64_t work = to_index(given.ptr());
    if (work < kLeast) throw ValueError("Invalid value for max_work");
    return work;
}

}  // namespace

void bind_shapes(nb::module_& m) {
    const auto none = nb::none();
    m.def(
        "_strided_view",
        [](nb::handle input, nb::handle shape, nb::handle strides) {
            return wrap_plain_view(strided_view(array_of(input), to_dims(shape), to_dims(strides)), input);
        },
        arg("x"), arg("shape"), arg("strides"));
    m.def(
        "broadcast_to",
        [](nb::handle input, nb::handle shape, bool subok) {
            array wide = broadcast_to(to_array(input), to_dims(shape));
            return subok ? wrap_view(std::move(wide), input) : wrap_plain_view(std::move(wide), input);
        },
        arg("array"), arg("shape"), arg("subok") = false, "A read-only view in a larger shape.");
    m.def(
        "expand_dims",
        [](nb::handle input, nb::handle axis) {
            // By reshape, as in NumPy: the new axes have the strides of a contiguous array.
            const array value = to_array(input);
            const Dims shape = expand_dims(value, to_axes(axis).value_or(Dims{})).shape();
            return wrap_view(reshape(value, shape), input);
        },
        arg("a"), arg("axis"), "A view with new axes of extent one.");
    m.def(
        "flip",
        [](nb::handle input, nb::handle axis) {
            const array flipped = flip(to_array(input), to_axes(axis));
            return flipped.ndim() == 0 ? wrap_scalar(copy(flipped)) : wrap_view(array(flipped), input);
        },
        arg("m"), arg("axis") = none, "A view with the elements in reverse along the axes.");
    m.def("_real", [](nb::handle input) { return wrap_view(real(to_array(input)), input); }, arg("val"));
    m.def(
        "may_share_memory",
        [](nb::handle a, nb::handle b, nb::handle max_work) {
            const int64_t work = to_max_work(max_work, kBounds);
            const array first = over_its_memory(a), second = over_its_memory(b);
            return work == kBounds ? may_share_memory(first, second) : shares_memory(first, second);
        },
        arg(), arg(), arg("max_work") = none, nb::sig("def may_share_memory(a, b, /, max_work=0)"),
        "Whether the memory bounds of two arrays overlap; whether they share an element, where `max_work` is "
        "not 0.");
    m.def(
        "shares_memory",
        [](nb::handle a, nb::handle b, nb::handle max_work) {
            const int64_t work = to_max_work(max_work, kExact);
            const array first = over_its_memory(a), second = over_its_memory(b);
            if (work == kBounds && may_share_memory(first, second)) {
                const nb::object kind = nb::module_::import_(modules::kExceptions).attr("TooHardError");
                PyErr_SetString(kind.ptr(), "Exceeded max_work");
                throw_python_error();
            }
            return work != kBounds && shares_memory(first, second);
        },
        arg(), arg(), arg("max_work") = none, nb::sig("def shares_memory(a, b, /, max_work=-1)"),
        "Whether two arrays have an element of memory in common. Raises TooHardError where `max_work` is 0 "
        "and the "
        "bounds do not tell.");
}

}  // namespace weft::python
