"""numpy.ctypeslib: arrays for functions that ctypes calls.

The installed NumPy's Python source runs over weft's arrays.
"""

from weft._numpys import loader as _loader

_loader.package(globals())
