// NumPy's structured dtypes, and arrays and elements of such, as compiled functions take and give them.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "lang/dates/date_types.h"
#include "lang/structures/layout.h"
#include "lang/symbols.h"
#include "objects/objects.h"

namespace weft::python {

/// The layout of a dtype of NumPy's; null where it has no fields, or objects
/// in them, whose users are Python's to count. Equal dtypes have one.
const lang::Layout* layout_of(nb::handle dtype);

/// That of arrays whose elements are read as instances of a class, which has the fields of the dtype.
const lang::Layout* layout_of_instances(const lang::Record& record, nb::handle dtype);

/// Memory of structures: an array's, or of a single one (numpy.void).
struct Structures {
    const lang::Layout* layout;
    char* data;
    std::span<const int64_t> shape, strides;
    bool writeable;
    bool is_single;
};
/// What `object` lends; nothing where it is no array or element of structures.
std::optional<Structures> structures_of(PyObject* object);

/// What a numpy.datetime64 or timedelta64 is; nothing of other objects.
std::optional<std::pair<lang::DateType, int64_t>> date_given(PyObject* object);
nb::object make_date(const lang::DateType& type, int64_t count);

/// An array with a dtype of NumPy's over memory that `owner` keeps, as programs get such arrays: over NumPy's
/// memory. Nothing is copied.
nb::object make_host_array(nb::handle dtype, char* data, const Dims& shape, const Dims& strides,
                           bool writeable, const nb::object& owner);
nb::object dtype_of(const lang::Layout& layout);
/// The same of structures, or a single one of them.
nb::object make_structures(const lang::Layout& layout, char* data, const Dims& shape, const Dims& strides,
                           bool writeable, bool is_single, const nb::object& owner);

}  // namespace weft::python
