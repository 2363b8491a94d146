"""numpy.testing: comparisons that raise AssertionError.

The installed NumPy's Python source runs over weft's arrays.

>>> np.testing.assert_allclose(np.ones(3), [1, 1, 1])
"""

from weft._numpys import loader as _loader

_loader.package(globals())


def _of_both(compare):
    """assert_equal, whose source asks isinstance(x, ndarray): arrays of NumPy's are such, too."""
    from functools import wraps

    from weft._core import asarray, ndarray

    def as_ours(x):
        is_theirs = getattr(x, "ndim", 0) and hasattr(x, "__array_interface__") and not isinstance(x, ndarray)
        return asarray(x) if is_theirs else x

    @wraps(compare)
    def compared(actual, desired, *args, **kwargs):
        return compare(as_ours(actual), as_ours(desired), *args, **kwargs)

    return compared


def _replace():
    import sys

    utils = sys.modules[f"{__name__}._private.utils"]
    utils.assert_equal = globals()["assert_equal"] = _of_both(utils.assert_equal)


_replace()
