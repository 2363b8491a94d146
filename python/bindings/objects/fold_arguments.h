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

/// What says that an argument is not given: the default, which is an ellipsis, or np._NoValue, weft's or
/// NumPy's.
bool is_no_value(nb::handle object);

/// initial=None: a fold of nothing has no result, whatever the operation's identity. Throws ValueError for
/// it.
void check_without_identity(std::string_view operation, const array& input, const std::optional<Dims>& axes,
                            nb::handle where);

}  // namespace weft::python
