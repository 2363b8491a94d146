"""numpy.testing: comparisons that raise AssertionError.

The installed NumPy's Python source runs over weft's arrays.

>>> np.testing.assert_allclose(np.ones(3), [1, 1, 1])
"""

from weft._numpys import loader as _loader

_loader.package(globals())
