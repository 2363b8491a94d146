"""numpy.polynomial: power series, Chebyshev, Legendre, Laguerre and Hermite polynomials.

The installed NumPy's Python source runs over weft's arrays.

>>> np.polynomial.Polynomial([1, 2, 3])(np.arange(3.0))
array([ 1.,  6., 17.])
"""

from weft._numpys import loader as _loader

_loader.package(globals())
