#include "library/linalg/lapack.h"

#include <string>

#include "weft/errors.h"

namespace weft::lapack {

namespace {

template <class T>
constexpr char kLetter = std::is_same_v<T, float>                 ? 's'
                         : std::is_same_v<T, double>              ? 'd'
                         : std::is_same_v<T, std::complex<float>> ? 'c'
                                                                  : 'z';

template <class Function>
void load(const Blas& library, char letter, const char* name, Function& function) {
    function = reinterpret_cast<Function>(blas_function(library, std::string(1, letter) + name + "_"));
    if (function == nullptr)
        throw RuntimeError("the OpenBLAS at " + library.path + " has no function " + letter + name +
                           ": linear algebra needs a build with LAPACK");
}

template <class T>
Functions<T> load_all() {
    const Blas& from = library();
    Functions<T> table;
    constexpr char letter = kLetter<T>;
#define WEFT_LAPACK(member, real, complex, parameters) \
    load(from, letter, is_complex<T> ? complex : real, table.member);
#define WEFT_LAPACK_REAL(member, name, parameters) \
    if constexpr (!is_complex<T>) load(from, letter, name, table.member);
#define WEFT_LAPACK_COMPLEX(member, name, parameters) \
    if constexpr (is_complex<T>) load(from, letter, name, table.member);
#include "library/linalg/lapack.def"
#undef WEFT_LAPACK
#undef WEFT_LAPACK_REAL
#undef WEFT_LAPACK_COMPLEX
    return table;
}

}  // namespace

const Blas& library() {
    const Blas* const found = blas();
    if (found == nullptr)
        throw RuntimeError(
            "linear algebra needs OpenBLAS, and none was found: install the package scipy-openblas64, or "
            "name the "
            "library in WEFT_OPENBLAS");
    return *found;
}

template <class T>
const Functions<T>& functions() {
    static const Functions<T> table = load_all<T>();  // after an exception the next call tries again
    return table;
}

template const Functions<float>& functions<float>();
template const Functions<double>& functions<double>();
template const Functions<std::complex<float>>& functions<std::complex<float>>();
template const Functions<std::complex<double>>& functions<std::complex<double>>();

}  // namespace weft::lapack
