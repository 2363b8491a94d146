"""scipy.fft: values, dtypes and errors by SciPy's."""

import inspect
import itertools
import warnings

import numpy
import pytest
import scipy.fft
import weft
from comparing import exception_kind, outcome

ours = weft.scipy.fft
SINGLE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = (
    "fftn",
    "ifftn",
    "rfftn",
    "irfftn",
    "hfftn",
    "ihfftn",
    "fft2",
    "ifft2",
    "rfft2",
    "irfft2",
    "hfft2",
    "ihfft2",
)
REAL = ("dct", "idct", "dst", "idst")
REAL_SEVERAL = ("dctn", "idctn", "dstn", "idstn")
NORMS = ("backward", "ortho", "forward", None)


def numbers(shape, dtype, seed=0):
    rng = numpy.random.default_rng([seed, *numpy.atleast_1d(shape)])
    a = rng.standard_normal(shape)
    if numpy.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    return (a * 10 if numpy.dtype(dtype).kind in "biu" else a).astype(dtype)


def assert_as_scipy(function, *arguments, **keywords):
    """The same outcome: the same dtype, shape and nearly the same values, or the same error."""
    mine = [weft.array(each) if isinstance(each, numpy.ndarray) else each for each in arguments]
    expected = outcome(lambda: getattr(scipy.fft, function)(*arguments, **keywords))
    result = outcome(lambda: getattr(ours, function)(*mine, **keywords))
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
        assert str(result) == str(expected)
        return
    assert not isinstance(result, Exception), result
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    eps = numpy.finfo(expected.dtype).eps
    scale = numpy.sqrt(numpy.mean(abs(expected) ** 2)) if expected.size else 0
    assert numpy.max(abs(numpy.asarray(result) - expected), initial=0) <= 60 * eps * scale


@pytest.mark.parametrize("function", SINGLE)
@pytest.mark.parametrize("dtype", ["?", "i4", "e", "f", "d", "F", "D"])
def test_along_an_axis(function, dtype):
    a = numbers((5, 8), dtype)
    for n, axis, norm in itertools.product((None, 3, 12), (-1, 0), NORMS):
        assert_as_scipy(function, a, n, axis, norm)
    assert_as_scipy(function, a.T, overwrite_x=True, workers=2)


@pytest.mark.parametrize("function", SEVERAL)
@pytest.mark.parametrize("dtype", ["i4", "f", "d", "D"])
def test_along_axes(function, dtype):
    a = numbers((5, 4, 6), dtype)
    for s, axes, norm in itertools.product((None, (3, 8), (4, -1)), (None, (0, 2), (-1, 1)), NORMS):
        assert_as_scipy(function, a, s, axes, norm)


@pytest.mark.parametrize("function", REAL)
@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["i4", "e", "f", "d", "F", "D"])
def test_cosines_and_sines(function, type, dtype):
    for n in (1, 2, 3, 4, 5, 16, 17, 31, 60, 137, 512):
        a = numbers((3, n), dtype)
        for norm, orthogonalize in itertools.product(NORMS, (None, True, False)):
            if dtype in "FD" and (n == 1 or (orthogonalize and norm != "ortho") or orthogonalize is False):
                continue  # SciPy leaves orthogonalize out for complex numbers
            assert_as_scipy(function, a, type, norm=norm, orthogonalize=orthogonalize)
        assert_as_scipy(function, a, type, 7, 0)


@pytest.mark.parametrize("function", REAL_SEVERAL)
@pytest.mark.parametrize("type", [1, 2, 3, 4])
def test_cosines_and_sines_along_axes(function, type):
    a = numbers((6, 4, 5), "d")
    for s, axes, norm in itertools.product((None, (3, 8)), (None, (0, 2), (-1, 1)), NORMS):
        assert_as_scipy(function, a, type, s, axes, norm)


ERRORS = [
    ("fft", [1, 2], 0),
    ("fft", [1, 2], None, -1, "other"),
    ("fft", []),
    ("fft", 1.0),
    ("irfft", [1]),
    ("irfft", [1], -1),
    ("rfft", [1j]),
    ("rfftn", [1j]),
    ("rfftn", [1.0], None, ()),
    ("irfftn", [1.0], None, ()),
    ("fftn", [[1.0, 2]], (1, 2, 3)),
    ("fftn", [[1.0, 2]], (1, 2), (0,)),
    ("fftn", [[1.0, 2]], None, (0, 0)),
    ("fftn", [[1.0, 2]], None, (2,)),
    ("fftn", [[1.0, 2]], None, (0.5,)),
    ("fftn", [[1.0, 2]], (0, 2)),
    ("dct", [1.0], 1),
    ("dct", [1.0], 5),
    ("dst", [1.0], 0),
    ("dct", []),
]


@pytest.mark.parametrize("call", ERRORS, ids=str)
def test_errors(call):
    assert isinstance(outcome(lambda: getattr(scipy.fft, call[0])(*call[1:])), Exception)
    assert_as_scipy(*call)


def test_plans_and_workers():
    assert_as_scipy("fft", [1.0, 2.0], plan=3)
    assert_as_scipy("fft", [1.0, 2.0], workers=0)
    with pytest.raises(ValueError, match="workers value out of range"):
        ours.fft([1.0, 2.0], workers=-1000)
    assert ours.get_workers() == 1
    with ours.set_workers(3):
        assert ours.get_workers() == 3
    assert ours.get_workers() == 1


@pytest.mark.parametrize("function", ["next_fast_len", "prev_fast_len"])
def test_quick_lengths(function):
    for target in (*range(300), 1021, 65537, 10**9 + 7, 10**14 + 1):
        for real in (False, True):
            expected = getattr(scipy.fft, function)(target, real)
            assert getattr(ours, function)(target, real) == expected
    for target in (-1, 2**63 - 1, 2.5):
        expected = outcome(getattr(scipy.fft, function), target)
        result = outcome(getattr(ours, function), target)
        assert (type(result), str(result)) == (type(expected), str(expected))


def test_weft_as_backend():
    a = weft.array(numbers((4, 6), "d"))
    with scipy.fft.set_backend(ours.backend, only=True):
        for function in (*SINGLE, *SEVERAL, *REAL, *REAL_SEVERAL):
            result = getattr(scipy.fft, function)(a)
            assert isinstance(result, weft.ndarray)
            numpy.testing.assert_array_equal(numpy.asarray(result), numpy.asarray(getattr(ours, function)(a)))
    with scipy.fft.set_backend(ours.backend):
        scipy.fft.fht(numpy.ones(4), 0.1, 0.5)  # SciPy's


def test_signatures():
    others = {"register_backend", "set_backend", "set_global_backend", "skip_backend"}
    assert set(scipy.fft.__all__) - set(ours.__all__) == others
    for name in (*SINGLE, *SEVERAL, *REAL, *REAL_SEVERAL, "next_fast_len", "set_workers"):
        assert str(inspect.signature(getattr(ours, name))) == str(inspect.signature(getattr(scipy.fft, name)))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
@pytest.mark.parametrize("n", [1, 2, 5, 16, 63])
def test_hankel_transforms(n, dtype):
    a = (numpy.random.default_rng(n).standard_normal((2, n)) * 5).astype(dtype)
    for name in ("fht", "ifht"):
        for dln, mu, offset, bias in (
            (0.1, 0.5, 0, 0),
            (0.02, 2, 0.3, 0.4),
            (0.3, 0, -0.2, -0.7),
            (1, 30.5, 0, 0),
        ):
            found = getattr(weft.scipy.fft, name)(a, dln, mu, offset=offset, bias=bias)
            expected = getattr(scipy.fft, name)(a, dln, mu, offset=offset, bias=bias)
            assert found.dtype == expected.dtype
            limit = 1e-4 if dtype == "f4" else 1e-11
            numpy.testing.assert_allclose(numpy.asarray(found), expected, atol=limit * abs(expected).max())


@pytest.mark.parametrize("bias", [1.5, -1.5, 3.5, 0.0])
@pytest.mark.parametrize("mu", [0.5, -1.0, -3.5])
def test_singular_hankel_transforms(bias, mu):
    a = numpy.array([1.0, 3, 2, 5, 4])
    for name in ("fht", "ifht"):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ours = getattr(weft.scipy.fft, name)(a, 0.1, mu, bias=bias)
        with warnings.catch_warnings(record=True) as expected:
            warnings.simplefilter("always")
            theirs = getattr(scipy.fft, name)(a, 0.1, mu, bias=bias)
        assert [str(each.message) for each in found] == [str(each.message) for each in expected]
        numpy.testing.assert_allclose(numpy.asarray(ours), theirs, atol=1e-9 * abs(theirs).max())


def test_offsets_of_hankel_transforms():
    for dln, mu, initial, bias in (
        (0.1, 0.5, 0, 0),
        (0.02, 2, 0.3, 0.4),
        (0.3, 0, -0.2, -0.7),
        (1, 30.5, 5, 0),
    ):
        found = weft.scipy.fft.fhtoffset(dln, mu, initial=initial, bias=bias)
        expected = scipy.fft.fhtoffset(dln, mu, initial=initial, bias=bias)
        assert abs(found - expected) <= 1e-12
    with pytest.raises(ZeroDivisionError):
        weft.scipy.fft.fht([1.0, 2.0], 0, 0.5)
    with pytest.raises(TypeError, match="real sequence"):
        weft.scipy.fft.fht([1j, 2.0], 0.1, 0.5)
