// What reduce, accumulate and reduceat of ufuncs are told, read and refused in NumPy's order.
#pragma once

#include "convert/convert.h"
#include "module.h"
#include "ops/op.h"

namespace weft::python {

struct FoldArguments {
    nb::object out;            // None: a new array
    bool wants_array = false;  // out=...: results are arrays, whatever their dimensions
    std::optional<DType> dtype;
    array input;
    std::optional<Dims> axes;  // none: all of them
};

/// Throws ValueError for operations that do not fold, TypeError and ValueError for `out` that is no array.
FoldArguments read_fold(const OpInfo& op, const std::string& method, nb::handle input, nb::handle axis,
                        nb::handle dtype, nb::handle out);

}  // namespace weft::python
