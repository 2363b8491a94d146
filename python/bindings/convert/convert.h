// How Python objects become operands and back.
#pragma once

#include <optional>
#include <string>

#include "objects/objects.h"

namespace weft::python {

// ---- from Python ----

/// What `object` stands for as an operand; false when weft cannot compute with it (no Python error is set).
bool to_argument(PyObject* object, Argument& argument);
/// As above, but throws TypeError.
Argument to_argument(nb::handle object);
/// str(object), in UTF-8. Throws UnicodeEncodeError for surrogates.
std::string text_of(nb::handle object);
/// An array: itself, or what asarray makes of it.
array to_array(nb::handle object);
/// Python's int of any size.
Integer to_integer(PyObject* object);
/// None gives nothing.
std::optional<DType> to_dtype(nb::handle object);
DType to_dtype_required(nb::handle object);
/// An int or a sequence of ints.
Dims to_dims(nb::handle object);
/// None gives nothing; else an int or a tuple of ints.
std::optional<Dims> to_axes(nb::handle object);
int64_t to_index(nb::handle object);
char to_order(nb::handle object, const char* allowed = "CFAK");
/// ComplexWarning where complex numbers are stored as real ones.
void warn_of_lost_imaginary_part(DType from, DType to);
/// As above, of what is folded in `dtype`, or as it is where none is given, and stored in `out` if that is
/// valid.
void warn_of_lost_imaginary_part(DType from, std::optional<DType> dtype, const array& out);
Casting to_casting(nb::handle object);
nb::tuple to_tuple(const Dims& dims);

/// What np.array makes of a Python object other than one of weft's: nested sequences, buffers, `__array__`.
/// False when the object is none of these. `dtype` is what the elements shall be, if given.
bool convert_foreign(PyObject* object, std::optional<DType> dtype, array& result);
/// As above, for lists, tuples and other sequences.
array convert_sequence(PyObject* object, std::optional<DType> dtype, int max_depth = kMaxDimensions);
/// What `x[...] = value` stores in elements of `dtype`: as to_argument, but Python numbers are converted as
/// Python's own types convert them, with their errors. `max_depth` bounds how far lists may be nested.
Argument to_element_argument(nb::handle value, DType dtype, int max_depth);
/// Of an object with Python's buffer protocol. Copies, or shares its memory.
array convert_buffer(PyObject* object, bool share_memory);
bool has_foreign_buffer(PyObject* object);
/// Whether it is a HostArray (host_arrays.py): of a dtype that weft leaves to NumPy.
bool is_host_array(PyObject* object);
/// Whether it has the buffer protocol and is no HostArray, whose buffer is for other libraries.
bool lends_memory(PyObject* object);

// ---- to Python ----

nb::object element_to_python(DType dtype, const char* bytes);
/// The value of an array of one element, whatever its axes are. Throws ValueError for others.
nb::object only_element(const array& input);
nb::object to_nested_list(const array& input);

// ---- evaluation ----

/// Computes what is pending for `input`, without the GIL.
void evaluate(const array& input);
/// The value of an array of one element, whatever its axes are, which is computed first when need be. Throws
/// ValueError for others. Each value that stands for an argument is read by this.
void read_scalar(const array& input, void* bytes);

}  // namespace weft::python
