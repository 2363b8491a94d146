// Arrays in files: NumPy's npy format, and raw bytes.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "weft/ops.h"

namespace weft {

/// np.save: writes an array in the npy format, which NumPy reads. A path gets '.npy' where that is missing.
/// An array in Fortran order alone is written so. Throws std::system_error where the file cannot be written.
///
///     save("x.npy", array{1.0, 2.0})
void save(const std::string& file, const array& arr);
void save(std::ostream& stream, const array& arr);

/// np.load of an npy file, versions 1 to 3. What a header says is not believed: memory is asked for only as
/// bytes come, or where the file is known to have them. Throws ValueError for what is no such file, is
/// damaged or ends too early, TypeError for elements that weft has no dtype for, std::system_error where the
/// file cannot be read.
///
///     load("x.npy") is array{1.0, 2.0}
array load(const std::string& file);
array load(std::istream& stream);

/// np.fromfile: raw bytes as a flat array, `count` elements or all, from byte `offset` on; fewer where the
/// file ends before.
array fromfile(const std::string& file, DType dtype = {}, int64_t count = -1, int64_t offset = 0);
/// x.tofile: the elements in C order as raw bytes.
void tofile(const array& arr, const std::string& file);

/// What an npy file begins with for this array: magic, version and header.
std::string npy_header(const array& arr);

/// What the header of an npy file says.
struct NpyHeader {
    std::string descr;    // the element type: '<f8'; of a structure the text of its list
    bool is_text = true;  // false for a structure
    bool fortran_order = false;
    Dims shape;

    /// Throws TypeError where weft has no such dtype, ValueError for what is none.
    DType dtype() const;
};

/// Reads a header without its magic and length: "{'descr': '<f8', ...}". Throws ValueError for what is none.
NpyHeader parse_npy_header(std::string_view text);

}  // namespace weft
