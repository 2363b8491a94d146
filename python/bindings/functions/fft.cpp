// Fourier transforms: their lengths, axes and norms as Python gives them.
#include "weft/fft.h"

#include <array>

#include "api/fft/frequencies.h"
#include "api/fft/hankel.h"
#include "convert/convert.h"
#include "functions/bound_function.h"
#include "module.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

using fft::Norm;
using AlongAxis = array (*)(const array&, std::optional<int64_t>, int64_t, Norm);
using AlongAxes = array (*)(const array&, std::optional<Dims>, std::optional<Dims>, Norm);

using RealTransform = array (*)(const array&, int64_t, std::optional<Dims>, std::optional<Dims>, Norm,
                                std::optional<bool>);

std::optional<Norm> to_norm(nb::handle norm) {
    if (norm.is_none()) return Norm::kBackward;
    if (PyUnicode_Check(norm.ptr()) == 0) return std::nullopt;
    const std::string_view text = nb::cast<std::string_view>(norm);
    if (text == "backward") return Norm::kBackward;
    if (text == "ortho") return Norm::kOrtho;
    if (text == "forward") return Norm::kForward;
    return std::nullopt;
}

// As numpy.fft words it; of the opposite directions there is one more space.
[[noreturn]] void refuse_norm(nb::handle norm, bool forward) {
    const nb::object text = steal_or_throw(PyObject_Str(norm.ptr()));
    throw ValueError("Invalid norm value " + std::string(nb::cast<std::string_view>(text)) +
                     "; should be \"backward\"," + (forward ? "" : " ") + "\"ortho\" or \"forward\".");
}

std::optional<Dims> to_optional_dims(nb::handle given) {
    if (given.is_none()) return std::nullopt;
    return to_dims(given);
}

}  // namespace

void bind_fft(nb::module_& m) {
    const auto along_axis = [&](const char* name, AlongAxis function, bool forward) {
        m.def(
            name,
            [function, forward](nb::handle a, nb::handle n, nb::handle axis, nb::handle norm) {
                const array value = to_array(a);
                const auto length = FromPython<std::optional<int64_t>>::convert(n);
                const int64_t place = to_index(axis);
                const std::optional<Norm> by = to_norm(norm);
                array result;
                {
                    const ReleaseGil release(is_large(value));
                    result = function(value, length, place, by.value_or(Norm::kBackward));
                }
                if (!by) refuse_norm(norm, forward);  // NumPy finds other faults first
                return wrap(std::move(result));
            },
            arg("a"), arg("n"), arg("axis"), arg("norm"));
    };
    along_axis("_fft", fft::fft, true);
    along_axis("_ifft", fft::ifft, false);
    along_axis("_rfft", fft::rfft, true);
    along_axis("_irfft", fft::irfft, false);
    along_axis("_hfft", fft::hfft, false);
    along_axis("_ihfft", fft::ihfft, false);
    const auto along_axes = [&](const char* name, AlongAxes function, bool forward) {
        m.def(
            name,
            [function, forward](nb::handle a, nb::handle s, nb::handle axes, nb::handle norm) {
                const array value = to_array(a);
                std::optional<Dims> lengths = to_optional_dims(s), places = to_optional_dims(axes);
                const std::optional<Norm> by = to_norm(norm);
                const size_t count = places    ? places->size()
                                     : lengths ? lengths->size()
                                               : static_cast<size_t>(value.ndim());
                array result;
                {
                    const ReleaseGil release(is_large(value));
                    result =
                        function(value, std::move(lengths), std::move(places), by.value_or(Norm::kBackward));
                }
                if (!by && count != 0) refuse_norm(norm, forward);
                return wrap(std::move(result));
            },
            arg("a"), arg("s"), arg("axes"), arg("norm"));
    };
    along_axes("_fftn", fft::fftn, true);
    along_axes("_ifftn", fft::ifftn, false);
    along_axes("_rfftn", fft::rfftn, true);
    along_axes("_irfftn", fft::irfftn, false);
    along_axes("_hfftn", fft::hfftn, true);
    along_axes("_ihfftn", fft::ihfftn, false);
    const auto real = [&](const char* name, RealTransform function) {
        m.def(
            name,
            [function](nb::handle a, nb::handle type, nb::handle s, nb::handle axes, nb::handle norm,
                       nb::handle orthogonalize) {
                const array value = to_array(a);
                const int64_t number = to_index(type);
                std::optional<Dims> lengths = to_optional_dims(s), places = to_optional_dims(axes);
                const std::optional<Norm> by = to_norm(norm);
                if (!by) refuse_norm(norm, true);
                const auto orthogonal = FromPython<std::optional<bool>>::convert(orthogonalize);
                array result;
                {
                    const ReleaseGil release(is_large(value));
                    result = function(value, number, std::move(lengths), std::move(places), *by, orthogonal);
                }
                return wrap(std::move(result));
            },
            arg("a"), arg("type"), arg("s"), arg("axes"), arg("norm"), arg("orthogonalize"));
    };
    real("_dctn", fft::dctn);
    real("_idctn", fft::idctn);
    real("_dstn", fft::dstn);
    real("_idstn", fft::idstn);
    const auto length = [&](const char* name, int64_t (*function)(int64_t, bool)) {
        m.def(
            name,
            [function](nb::handle target, nb::handle is_real) {
                return function(to_index(target), FromPython<bool>::convert(is_real));
            },
            arg("target"), arg("real"));
    };
    m.def(
        "_hankel",
        [](nb::handle a, double dln, double mu, double offset, double bias, bool inverse) {
            const array value = to_array(a);
            fft::HankelResult result;
            {
                const ReleaseGil release(is_large(value));
                result = fft::hankel(value, {dln, mu, offset, bias, inverse});
            }
            return nb::make_tuple(wrap(std::move(result.values)), result.singular);
        },
        arg("a"), arg("dln"), arg("mu"), arg("offset"), arg("bias"), arg("inverse"));
    m.def("_fhtoffset", fft::fhtoffset, arg("dln"), arg("mu"), arg("initial"), arg("bias"));
    length("_next_fast_len", fft::next_fast_len);
    length("_prev_fast_len", fft::prev_fast_len);
    m.def(
        "_fft_multiples",
        [](nb::handle count, nb::handle step, bool centred) {
            return wrap(fft::multiples(to_index(count), PyFloat_AsDouble(step.ptr()), centred));
        },
        arg("count"), arg("step"), arg("centred"));
}

}  // namespace weft::python
