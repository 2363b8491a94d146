"""numpy.fft: values by NumPy's transforms in long double, and everything else that a user sees by NumPy's own."""

import itertools
import os
import subprocess
import sys
import warnings

import numpy
import pytest
import weft
from comparing import DTYPES, exception_kind, outcome, visible_strides

SINGLE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2")
OF_REAL = ("rfft", "ihfft", "rfftn", "rfft2")
TO_REAL = ("irfft", "hfft", "irfftn", "irfft2")
PRIMES = [521, 1009, 4099, 10007, 65537]
POWERS = [2**k + d for k in range(9, 15) for d in (-1, 0, 1)]
LONG = [1 << 17, 3 << 16, 5**7, 2 * 65537]  # rows that threads share, and one that has no two near factors


def numbers(shape, dtype, seed=0):
    rng = numpy.random.default_rng([seed, *numpy.atleast_1d(shape)])
    a = rng.standard_normal(shape)
    if numpy.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    elif numpy.dtype(dtype).kind in "biu":
        a = abs(a) * 10
    return a.astype(dtype)


def assert_transform(result, expected, length, dtype):
    """Near by the norm of the whole: the error of a transform grows as the logarithm of its length."""
    result = numpy.asarray(result)
    assert result.shape == expected.shape
    eps = numpy.finfo(result.dtype).eps
    scale = numpy.sqrt(numpy.mean(abs(expected) ** 2))
    error = numpy.max(abs(result - expected), initial=0)
    assert error <= 6 * eps * (1 + numpy.log2(length)) * scale, (error / scale / eps, length)


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("dtype", "fdFD")
@pytest.mark.parametrize(
    "lengths", [range(1, 513), PRIMES + POWERS, LONG], ids=["to 512", "primes and powers", "long"]
)
def test_lengths(name, dtype, lengths):
    if name in OF_REAL and dtype in "FD":
        pytest.skip("of real numbers")
    for n in lengths:
        a = numbers(n, dtype)
        wide = a.astype(numpy.clongdouble if dtype in "FD" else numpy.longdouble)
        expected = getattr(numpy.fft, name)(wide, n)
        assert_transform(getattr(weft.fft, name)(weft.array(a), n), expected, n, dtype)


def layouts(a):
    yield a
    yield a.T
    yield a[::-1]
    yield a[..., ::-2]
    yield numpy.asfortranarray(a)
    yield numpy.broadcast_to(a[:1], a.shape)


SHAPES = [(3, 5), (1, 7), (6, 1), (17, 9), (4, 6, 10), (33, 1, 20), (2, 3, 4, 5), (40, 33)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_axes_lengths_and_layouts(shape, dtype):
    for a in layouts(numbers(shape, dtype)):
        x = weft.asarray(a)
        for name, axis, n in itertools.product(SINGLE, range(-1, a.ndim), (None, 1, 4, 7, 12)):
            if (name in OF_REAL and dtype[0] == "c") or (
                name in TO_REAL and n is None and a.shape[axis] == 1
            ):
                continue
            expected = getattr(numpy.fft, name)(a, n, axis)
            result = getattr(weft.fft, name)(x, n, axis)
            assert result.dtype == expected.dtype
            if (
                name != "hfft" and 1 not in a.shape
            ):  # NumPy copies its input first; an extent of 1 has no place in an order
                assert visible_strides(result) == visible_strides(expected)
            assert_transform(result, expected, 40, dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_several_axes(shape, dtype):
    for a, name in itertools.product(layouts(numbers(shape, dtype)), SEVERAL):
        if name in OF_REAL and dtype[0] == "c":
            continue
        x = weft.asarray(a)
        for axes, more in itertools.product([(0,), (0, 1), (-1, 0), (1, 1)], (None, -2, 3)):
            s = None if more is None else [max(a.shape[axis] + more, 1) for axis in axes]
            expected = outcome(getattr(numpy.fft, name), a, s, axes)
            result = outcome(getattr(weft.fft, name), x, s, axes)
            if isinstance(expected, Exception):
                assert exception_kind(result) == exception_kind(expected)
                assert str(result) == str(expected)
                continue
            assert result.dtype == expected.dtype
            assert 1 in a.shape or visible_strides(result) == visible_strides(expected)
            assert_transform(result, expected, 1000, dtype)


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_long_rows_in_every_layout(name, dtype):
    if name in OF_REAL and dtype == "c16":
        pytest.skip("of real numbers")
    wide = numbers((2, 1 << 18), dtype)
    for a in (wide[0], wide[0, ::2], wide[1, ::-1], wide.T[:, 1], wide, wide.T):
        axis = int(numpy.argmax(a.shape))
        for n in (
            None,
            1 << 17,
            (1 << 17) + 2048,
            3 << 17,
            (1 << 17) + 29,
            2 * 65539,
        ):  # a prime and twice one, too
            expected = getattr(numpy.fft, name)(a, n, axis)
            assert_transform(getattr(weft.fft, name)(weft.asarray(a), n, axis), expected, 1 << 20, dtype)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward", None])
@pytest.mark.parametrize("name", SINGLE + SEVERAL)
def test_norms(name, norm):
    a = numbers((6, 10), "f8")
    expected = getattr(numpy.fft, name)(a, norm=norm)
    assert_transform(getattr(weft.fft, name)(weft.array(a), norm=norm), expected, 60, "d")


@pytest.mark.parametrize("name", SINGLE + SEVERAL)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes(name, dtype):
    a = numbers((4, 6), dtype)
    expected = outcome(getattr(numpy.fft, name), a)
    result = outcome(getattr(weft.fft, name), weft.array(a))
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected)
        assert str(result) == str(expected)
        return
    assert result.dtype == expected.dtype
    if dtype.char == "e":  # NumPy's factors are rounded to float16
        numpy.testing.assert_allclose(numpy.asarray(result), expected, rtol=4e-3, atol=4e-3)
    else:
        assert_transform(result, expected, 24, dtype)


def test_bfloat16_is_transformed_in_single_precision():
    x = weft.arange(6, dtype="bfloat16")
    assert weft.fft.fft(x).dtype == "complex64"
    assert weft.fft.irfft(x).dtype == "bfloat16"


CALLS = [
    "fft(numpy.ones(0))",
    "fft(1.0)",
    "fft([1, 2], n=0)",
    "fft([1, 2], n=-1)",
    "fft([1, 2], norm='x')",
    "ifft([1, 2], norm='x')",
    "hfft([1, 2], norm='x')",
    "fft([1, 2], axis=3)",
    "fft([1, 2], 4, axis=3)",
    "fft([1, 2], n=2.0)",
    "fft([1, 2], axis=None)",
    "rfft([1j])",
    "rfft([1j, 2])",
    "ihfft([1j, 2])",
    "irfft([1])",
    "irfft(numpy.ones(0))",
    "fft2([1, 2])",
    "fft2(1.0)",
    "irfftn(1.0, axes=(0, 1))",
    "irfft2(numpy.ones((2, 2)), axes=())",
    "irfft2(numpy.ones((2, 2)), s=(), axes=())",
    "fftn(numpy.ones((2, 2)), s=(2, 2, 2), axes=(0, 1))",
    "fftn(numpy.ones((2, 2)), s=(0, 2), axes=(0, 1))",
    "rfftn(numpy.ones((2, 2)), axes=())",
    "rfftn(numpy.ones((2, 2)) + 1j)",
    "fft(numpy.ones((0, 3)), axis=0)",
    "fft([1, 2], out=3)",
    "fft2(numpy.ones((3, 3)), s=3)",
    "fftn(numpy.ones((3, 3)), axes=1)",
    "fftfreq(2.5)",
    "rfftfreq(2.5)",
]


@pytest.mark.parametrize("call", CALLS)
def test_errors(call):
    expected = outcome(lambda: eval(f"numpy.fft.{call}"))
    result = outcome(lambda: eval(f"weft.fft.{call}"))
    assert isinstance(expected, Exception), expected
    assert exception_kind(result) == exception_kind(expected), (result, expected)
    if "out=" not in call and "axis=None" not in call and "axes=1" not in call:
        assert str(result) == str(expected)


EMPTY = ["fft(numpy.ones((0, 3)))", "fft(numpy.zeros((3, 0)), n=4)", "rfft(numpy.zeros(0), n=3)"]
EMPTY += [
    "fftn(1.0)",
    "fftn(numpy.ones((2, 2)), axes=())",
    "fft2(numpy.ones((0, 3, 3)))",
    "ifftn(numpy.ones((2, 0, 3)), axes=(0, 2))",
]


@pytest.mark.parametrize("call", EMPTY)
def test_empty(call):
    expected, result = eval(f"numpy.fft.{call}"), eval(f"weft.fft.{call}")
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    numpy.testing.assert_array_equal(numpy.asarray(result), expected)


def test_no_numbers_are_zeros():
    assert weft.fft.irfft(weft.zeros(0), n=3).tolist() == [0, 0, 0]  # NumPy leaves them as they were


def test_lengths_without_axes_warn_as_numpys_do():
    for s in ((2, 2), (None, 2)):
        with pytest.warns(DeprecationWarning) as expected:
            numpy.fft.fftn(numpy.ones((3, 3)), s=s)
        with pytest.warns(DeprecationWarning) as result:
            weft.fft.fftn(weft.ones((3, 3)), s=s)
        assert [str(each.message) for each in result] == [str(each.message) for each in expected]
        assert {each.filename for each in result} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert weft.fft.irfftn(weft.ones((3, 3)), s=(None, None)).shape == (3, 4)


@pytest.mark.parametrize("name", SINGLE + SEVERAL)
def test_out(name):
    a = numbers((6, 8), "f8")
    expected = getattr(numpy.fft, name)(a)
    target = weft.zeros(expected.shape[::-1], expected.dtype).T
    assert getattr(weft.fft, name)(weft.array(a), out=target) is target
    numpy.testing.assert_allclose(numpy.asarray(target), expected, rtol=1e-13, atol=1e-13)
    with pytest.raises(ValueError, match="wrong shape"):
        getattr(weft.fft, name)(weft.array(a), out=weft.zeros((1, 1), expected.dtype))
    with pytest.raises(TypeError, match=r"output from .* with casting rule 'same_kind'"):
        getattr(weft.fft, name)(weft.array(a), out=weft.zeros(expected.shape, int))


def test_out_may_be_the_input():
    a = numbers((5, 7), "c16")
    x = weft.array(a)
    assert weft.fft.fft2(x, out=x) is x
    numpy.testing.assert_allclose(numpy.asarray(x), numpy.fft.fft2(a), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    "shape, axis", [((1 << 19,), 0), ((600, 700), 0), ((600, 700), 1), ((3, 70001), 1), ((70001, 3), 0)]
)
@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_the_same_bits_for_any_number_of_threads(shape, axis, dtype):
    x = weft.array(numbers(shape, dtype))
    names = ["fft", "irfft"] if dtype == "c16" else ["fft", "rfft"]
    bits = []
    for threads in (1, 2, 5):
        with weft.config(num_threads=threads):
            bits.append([numpy.asarray(getattr(weft.fft, name)(x, axis=axis)).tobytes() for name in names])
    assert bits[0] == bits[1] == bits[2]


def test_a_row_has_the_same_bits_in_every_place():
    row = numbers(210, "c16")
    many = numpy.asarray(weft.fft.fft(weft.array(numpy.tile(row, (37, 1)))))
    assert (many == many[0]).all()
    columns = numpy.asarray(weft.fft.fft(weft.array(numpy.tile(row[:, None], (1, 37))), axis=0))
    assert (columns.T == many[0]).all()


@pytest.mark.parametrize("n", [16, 37, 1000, 65536])
def test_linear_round_trip_and_parseval(n):
    a, b = weft.array(numbers(n, "c16", 1)), weft.array(numbers(n, "c16", 2))
    fft, ifft = weft.fft.fft, weft.fft.ifft
    assert weft.allclose(fft(2 * a - 3j * b), 2 * fft(a) - 3j * fft(b), rtol=1e-11, atol=1e-10)
    assert weft.allclose(ifft(fft(a)), a, rtol=1e-12, atol=1e-13)
    energy = weft.sum(weft.abs(a) ** 2)
    assert weft.allclose(weft.sum(weft.abs(fft(a, norm="ortho")) ** 2), energy, rtol=1e-13)


BASELINE = """
import numpy, weft
for n in (5, 64, 129, 1000, 131072):
    for dtype in "fdFD":
        a = numpy.random.default_rng(n).standard_normal((7, n) if n < 10000 else n).astype(dtype)
        x = weft.array(a)
        pairs = [(weft.fft.fft(x), numpy.fft.fft(a)), (weft.fft.irfft(x, n), numpy.fft.irfft(a, n))]
        for result, expected in pairs:
            eps = numpy.finfo(expected.dtype).eps
            assert abs(numpy.asarray(result) - expected).max() <= 50 * eps * abs(expected).max(), (n, dtype)
print("right")
"""


def test_without_avx():
    environment = {**os.environ, "WEFT_CPU": "x86-64-v2"}
    result = subprocess.run(
        [sys.executable, "-c", BASELINE], env=environment, capture_output=True, text=True, timeout=120
    )
    assert result.stdout == "right\n", result.stderr


def test_lazy_inputs_are_computed():
    a = numpy.linspace(-1, 1, 100_000)
    x = weft.array(a)
    numpy.testing.assert_allclose(
        numpy.asarray(weft.fft.rfft(weft.sin(x) * 2 + x)),
        numpy.fft.rfft(numpy.sin(a) * 2 + a),
        rtol=1e-9,
        atol=1e-9,
    )


@pytest.mark.parametrize("function", ["fftshift", "ifftshift"])
def test_shifts(function):
    a = numbers((4, 5, 3), "f8")
    for axes in (None, 0, -1, (0, 2), [1], ()):
        expected = getattr(numpy.fft, function)(a, axes)
        numpy.testing.assert_array_equal(
            numpy.asarray(getattr(weft.fft, function)(weft.array(a), axes)), expected
        )


@pytest.mark.parametrize("function", ["fftfreq", "rfftfreq"])
def test_frequencies(function):
    for n, d in itertools.product((1, 2, 5, 8, 9, 5000, 5001), (1.0, 0.1, 3, -2, numpy.float32(0.3))):
        expected = getattr(numpy.fft, function)(n, d)
        result = getattr(weft.fft, function)(n, d)
        assert result.dtype == expected.dtype
        numpy.testing.assert_array_equal(numpy.asarray(result), expected)
    with pytest.raises(ZeroDivisionError):
        getattr(weft.fft, function)(0)
    numpy.testing.assert_array_equal(
        numpy.asarray(
            getattr(weft.fft, function)(5, weft.array([1.0, 2, 3, 4, 5][: 3 if "r" == function[0] else 5]))
        ),
        getattr(numpy.fft, function)(5, numpy.array([1.0, 2, 3, 4, 5][: 3 if "r" == function[0] else 5])),
    )


@pytest.mark.parametrize("name", [*SINGLE, *SEVERAL, "fftshift", "ifftshift"])
def test_arguments_may_override(name):
    class Other:
        def __array_function__(self, function, types, args, kwargs):
            return function.__name__, args[0] is self

    assert getattr(weft.fft, name)(Other()) == (name, True)


@pytest.mark.parametrize(
    "name, shape, options",
    [
        ("ifftn", (1,), {"s": (0, 2), "axes": (0, 1)}),
        ("rfft2", (4,), {"s": ()}),
        ("fft2", (), {}),
        ("rfft2", (1,), {"norm": "other"}),
        ("fftn", (2, 2), {"s": (), "axes": (2, 0, 1)}),
        ("irfftn", (3,), {"s": (4,), "axes": [1, 0]}),
        ("fft", (), {"norm": "other"}),
        ("fftshift", (), {}),
    ],
)
def test_of_several_faults_numpys_is_named(name, shape, options):
    for of in (numpy.ones(shape), numpy.ones(shape, "D")):
        try:
            getattr(numpy.fft, name)(of, **options)
        except Exception as error:
            theirs = error
        with pytest.raises(Exception) as ours:
            getattr(weft.fft, name)(weft.asarray(of), **options)
        kinds = (ValueError, IndexError, TypeError)
        assert [isinstance(ours.value, kind) for kind in kinds] == [
            isinstance(theirs, kind) for kind in kinds
        ]


def test_lengths_may_be_numpys_integers():
    assert weft.fft.fftfreq(numpy.int64(4)).tolist() == [0.0, 0.25, -0.5, -0.25]
    assert weft.fft.rfftfreq(weft.int32(4)).tolist() == [0.0, 0.25, 0.5]


@pytest.mark.host  # cuFFT has its own order
@pytest.mark.parametrize("function", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_layouts_give_the_same_bits(function):
    x = numpy.random.default_rng(4).random((8, 7, 13))
    transform = getattr(weft.fft, function)
    in_c_order = transform(weft.asarray(x)).tobytes()
    for other in (numpy.asfortranarray(x), x.transpose(1, 0, 2).copy().transpose(1, 0, 2)):
        assert transform(weft.asarray(other)).tobytes() == in_c_order
