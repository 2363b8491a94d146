"""weft.scipy.linalg and scipy.linalg with the same arguments: shapes, dtypes and values."""

import numpy
import scipy.linalg
import weft

ours = weft.scipy.linalg


def same(found, expected, tolerance=1e-8):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for each, other in zip(found, expected):
            same(each, other, tolerance)
        return
    found, expected = numpy.asarray(found), numpy.asarray(expected)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    numpy.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def both(name, *arguments, **options):
    same(
        getattr(ours, name)(*arguments, **options),
        getattr(scipy.linalg, name)(*arguments, **options),
    )
