// The npy format: its headers. Python's streams are the package's business.
#include "convert/convert.h"
#include "module.h"
#include "objects/objects.h"
#include "weft/files.h"

namespace weft::python {

void bind_files(nb::module_& m) {
    m.def("_npy_header", [](nb::handle arr) {
        const std::string header = npy_header(array_of(arr));
        return nb::bytes(header.data(), header.size());
    });
    m.def("_parse_npy_header", [](nb::bytes text) {
        const NpyHeader header = parse_npy_header({text.c_str(), text.size()});
        return nb::make_tuple(to_tuple(header.shape), header.fortran_order, wrap_dtype(header.dtype()));
    });
}

}  // namespace weft::python
