"""numpy.fft: discrete Fourier transforms.

>>> np.fft.fft([1.0, 0.0, 0.0, 0.0])
array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
"""

from weft._protocols import overrides as _overrides
from weft.fft._helper import fftfreq, fftshift, ifftshift, rfftfreq
from weft.fft._several import fft2, fftn, ifft2, ifftn, irfft2, irfftn, rfft2, rfftn
from weft.fft._single import fft, hfft, ifft, ihfft, irfft, rfft

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

# Arguments may override each function that takes arrays.
for _name in __all__:
    if _name not in ("fftfreq", "rfftfreq"):
        globals()[_name] = _overrides.dispatcher(_name, globals()[_name], "weft.fft", _overrides._ARGUMENTS)
del _name


def __getattr__(name):
    if name == "test":
        from numpy.fft import test  # NumPy's own tests

        return test
    raise AttributeError(f"module 'weft.fft' has no attribute {name!r}")
