"""scipy.fft: Fourier, cosine and sine transforms.

>>> np.scipy.fft.dct([1.0, 1.0])
array([4., 0.])

`scipy.fft.set_global_backend(weft.scipy.fft.backend)` lets weft do what programs ask of SciPy.
"""

from weft.fft import fftshift, ifftshift
from weft.scipy.fft._basic import (
    fft,
    fft2,
    fftn,
    hfft,
    hfft2,
    hfftn,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)
from weft.scipy.fft._cosines import dct, dctn, dst, dstn, idct, idctn, idst, idstn
from weft.scipy.fft._frequencies import fftfreq, rfftfreq
from weft.scipy.fft._hankel import fht, fhtoffset, ifht
from weft.scipy.fft._settings import get_workers, next_fast_len, prev_fast_len, set_workers

__all__ = [
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "fht",
    "fhtoffset",
    "get_workers",
    "hfft",
    "hfft2",
    "hfftn",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ifht",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "next_fast_len",
    "prev_fast_len",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
    "set_workers",
]


class backend:
    """Weft as a backend of uarray's domain for scipy.fft. What weft does not have is left to SciPy."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method, args, kwargs):
        """The result of `method`, a function of scipy.fft, by the function of that name here."""
        function = globals().get(method.__name__) if method.__name__ in __all__ else None
        return NotImplemented if function is None else function(*args, **kwargs)
