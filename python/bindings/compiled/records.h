// NamedTuples and dataclasses of the program as the compiler knows them.
#pragma once

#include "lang/symbols.h"
#include "objects/objects.h"

namespace weft::python {

/// What is known of a class; null for one that is neither a NamedTuple nor a dataclass. Classes stay known,
/// and alive, for the life of the process.
const lang::Record* record_of(nb::handle type);
/// The values of an instance's fields, as a tuple.
nb::object fields_of(const lang::Record& record, nb::handle instance);
/// An instance with these values, made without the class's own code.
nb::object make_instance(const lang::Record& record, const nb::object& values);

}  // namespace weft::python
