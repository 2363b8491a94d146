"""numpy.ma: arrays with masks of what is invalid.

The installed NumPy's Python source runs over weft's arrays; MaskedArray is a subclass of weft's ndarray.

>>> np.ma.masked_less(np.arange(4.0), 2).sum()
np.float64(5.0)
"""

from weft._numpys import loader as _loader

_loader.package(globals())
