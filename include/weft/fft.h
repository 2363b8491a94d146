// Discrete Fourier transforms: numpy.fft. An axis that is transformed is cut, or filled with zeros, where
// another length is asked for. Results are complex128 or float64, of float16, float32 and complex64 complex64
// or float32. They are computed at the call.
//
// A length below 1 is a ValueError, an axis that is not there an AxisError (without a length an IndexError),
// and a complex input where a real one is wanted a TypeError, as in NumPy.
#pragma once

#include <cstdint>
#include <optional>

#include "weft/array.h"
#include "weft/options.h"

namespace weft::fft {

/// Which of two opposite transforms divides by the length: the one back, the one forward, or both by its
/// root.
enum class Norm : uint8_t { kBackward, kOrtho, kForward };

/// np.fft.fft, np.fft.ifft: the transform along one axis, and the one back.
///
///     fft::fft(array{1.0, 2.0, 3.0, 4.0}) is {10, -2 + 2i, -2, -2 - 2i}
array fft(const array& a, std::optional<int64_t> n = {}, int64_t axis = -1, Norm norm = Norm::kBackward);
array ifft(const array& a, std::optional<int64_t> n = {}, int64_t axis = -1, Norm norm = Norm::kBackward);

/// np.fft.rfft: the first n / 2 + 1 numbers of the transform of real numbers. The others are their
/// conjugates. np.fft.irfft, the way back: n is by default 2 * (extent - 1), which is even.
///
///     fft::rfft(array{1.0, 2.0, 3.0, 4.0}) is {10, -2 + 2i, -2}
array rfft(const array& a, std::optional<int64_t> n = {}, int64_t axis = -1, Norm norm = Norm::kBackward);
array irfft(const array& a, std::optional<int64_t> n = {}, int64_t axis = -1, Norm norm = Norm::kBackward);

/// np.fft.hfft, np.fft.ihfft: of numbers whose second half is the conjugate of the first and is left out.
array hfft(const array& a, std::optional<int64_t> n = {}, int64_t axis = -1, Norm norm = Norm::kBackward);
array ihfft(const array& a, std::optional<int64_t> n = {}, int64_t axis = -1, Norm norm = Norm::kBackward);

/// np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn: along several axes, by default the last ones of
/// `s`, or all. Of rfftn and irfftn the last axis is the one that is halved. A length of -1 is the axis's
/// own. An axis that stands there twice is transformed twice. Lengths of another number than the axes are a
/// ValueError, an axis that is not there an IndexError.
///
///     fft::fftn(array{{1.0, 2.0}, {3.0, 4.0}}) is {{10, -2}, {-4, 0}}
array fftn(const array& a, std::optional<Dims> s = {}, std::optional<Dims> axes = {},
           Norm norm = Norm::kBackward);
array ifftn(const array& a, std::optional<Dims> s = {}, std::optional<Dims> axes = {},
            Norm norm = Norm::kBackward);
array rfftn(const array& a, std::optional<Dims> s = {}, std::optional<Dims> axes = {},
            Norm norm = Norm::kBackward);
array irfftn(const array& a, std::optional<Dims> s = {}, std::optional<Dims> axes = {},
             Norm norm = Norm::kBackward);

/// np.fft.fftfreq, np.fft.rfftfreq: the frequencies of the numbers of fft and rfft, in cycles per unit of the
/// sample spacing `d`, as float64. ValueError for less than one.
///
///     fft::fftfreq(5, 0.1) is {0, 2, 4, -4, -2}
array fftfreq(int64_t n, double d = 1.0);
array rfftfreq(int64_t n, double d = 1.0);

/// np.fft.fftshift, np.fft.ifftshift: puts the frequency 0 in the middle of axes, by default of all, and
/// back.
///
///     fft::fftshift(fft::fftfreq(5, 0.1)) is {-4, -2, 0, 2, 4}
array fftshift(const array& x, const Axes& axes = {});
array ifftshift(const array& x, const Axes& axes = {});

/// scipy.fft.hfftn, scipy.fft.ihfftn: as hfft and ihfft, along several axes, of which the last is halved.
array hfftn(const array& a, std::optional<Dims> s = {}, std::optional<Dims> axes = {},
            Norm norm = Norm::kBackward);
array ihfftn(const array& a, std::optional<Dims> s = {}, std::optional<Dims> axes = {},
             Norm norm = Norm::kBackward);

/// scipy.fft.dctn, idctn, dstn, idstn: cosine and sine transforms, of types 1 to 4, of real numbers; the
/// types 2 and 3 are each other's way back. `orthogonalize`: their matrix is orthogonal, by default with
/// Norm::kOrtho. Axes and lengths as of fftn, each axis once. Throws ValueError for another type, TypeError
/// for complex numbers.
///
///     fft::dctn(array{1.0, 1.0}) is {4, 0}
array dctn(const array& a, int64_t type = 2, std::optional<Dims> s = {}, std::optional<Dims> axes = {},
           Norm norm = Norm::kBackward, std::optional<bool> orthogonalize = {});
array idctn(const array& a, int64_t type = 2, std::optional<Dims> s = {}, std::optional<Dims> axes = {},
            Norm norm = Norm::kBackward, std::optional<bool> orthogonalize = {});
array dstn(const array& a, int64_t type = 2, std::optional<Dims> s = {}, std::optional<Dims> axes = {},
           Norm norm = Norm::kBackward, std::optional<bool> orthogonalize = {});
array idstn(const array& a, int64_t type = 2, std::optional<Dims> s = {}, std::optional<Dims> axes = {},
            Norm norm = Norm::kBackward, std::optional<bool> orthogonalize = {});

/// scipy.fft.fht, ifht: the fast Hankel transform of a function at points spaced evenly in their logarithm,
/// by `dln`, along the last axis, and its inverse; of order `mu`, with the logarithm of the product of both
/// centres in `offset`, and a power law of exponent `bias`. float64. Where the transform is singular, its
/// average is lost.
///
///     fft::ifht(fft::fht(a, 0.1, 0.5), 0.1, 0.5) is a
array fht(const array& a, double dln, double mu, double offset = 0, double bias = 0);
array ifht(const array& A, double dln, double mu, double offset = 0, double bias = 0);
/// scipy.fft.fhtoffset: the offset nearest to `initial` with which neighbouring points do not ring.
///
///     fft::fhtoffset(0.1, 0.5) is -0.0276
double fhtoffset(double dln, double mu, double initial = 0, double bias = 0);

/// scipy.fft.next_fast_len, prev_fast_len: the nearest lengths at least, or at most, `target` whose prime
/// factors are 2, 3, 5, 7 and 11, or 5 at most for transforms of real numbers.
///
///     fft::next_fast_len(13) is 14
int64_t next_fast_len(int64_t target, bool real = false);
int64_t prev_fast_len(int64_t target, bool real = false);

}  // namespace weft::fft
