#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>

#include "codegen/first_loop.h"

namespace nb = nanobind;

using Input = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

NB_MODULE(_core, m) {
    m.doc() = "weft's engine";
    m.def(
        "first_loop",
        [](const Input& a, const Input& b, const Output& out) {
            if (a.size() != out.size() || b.size() != out.size())
                throw nb::value_error("first_loop: the three arrays must have one length");
            weft::codegen::run_first_loop({a.data(), a.size()}, {b.data(), b.size()},
                                          {out.data(), out.size()});
        },
        nb::arg("a"), nb::arg("b"), nb::arg("out"), "Compiles out[i] = 2 * a[i] + b[i] and runs it.");
}
