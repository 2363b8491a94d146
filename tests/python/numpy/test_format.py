"""repr and str of arrays: NumPy's text, to the character."""

import asyncio
import contextvars
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest
import weft
from comparing import DTYPES, to_weft, values


def check(x, **options):
    ours = to_weft(x)
    with numpy.printoptions(**options), weft.printoptions(**options):
        assert repr(ours) == repr(x)
        assert str(ours) == str(x)


SHAPES = [
    (),
    (0,),
    (1,),
    (3,),
    (30,),
    (0, 3),
    (3, 0),
    (2, 3),
    (1, 1),
    (2, 3, 4),
    (2, 2, 2, 2),
    (40, 2),
    (5, 30),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_dtype(dtype, shape):
    count = int(numpy.prod(shape))
    check(values(dtype, max(count, 8))[:count].reshape(shape))
    check(numpy.ones(shape, dtype))
    check(numpy.zeros(shape, dtype))


@pytest.mark.parametrize(
    "shape", [(1001,), (2000,), (40, 40), (3, 400), (400, 3), (12, 12, 12), (7, 200)], ids=str
)
@pytest.mark.parametrize("dtype", ["int64", "float64", "float32", "bool", "complex64"])
def test_summaries(shape, dtype):
    x = numpy.arange(int(numpy.prod(shape))).reshape(shape)
    check((x * 1.37).astype(dtype) if dtype != "int64" else x)


@pytest.mark.parametrize("character", "efdFD")
def test_random_magnitudes(character):
    generator = numpy.random.default_rng(7)
    for _ in range(300):
        size = generator.integers(1, 12)
        low, high = sorted(generator.uniform(-12, 12, 2))
        x = generator.normal(size=size) * 10 ** generator.uniform(low, high, size)
        if generator.random() < 0.3:
            x = numpy.round(x, int(generator.integers(0, 5)))
        if generator.random() < 0.2:
            x[generator.integers(size)] = [numpy.nan, numpy.inf, -numpy.inf, 0.0, -0.0][generator.integers(5)]
        with numpy.errstate(all="ignore"):
            if character in "FD":
                x = x + 1j * generator.permutation(x)
            check(x.astype(character))


@pytest.mark.parametrize(
    "x",
    [
        [0.5**9, 0.123456785, 1.0],
        [1e8, 1.0],
        [99999999.0, 1.0],
        [1e-4, 1.0],
        [9.9e-5, 1e-5],
        [1000.1, 1.0],
        [1000.0, 1.0],
        [1e16],
        [1e300, 1e-300],
        [1e100, 1.0],
        [numpy.nan],
        [numpy.inf, -numpy.inf],
        [numpy.nan, -1.5, 1e10],
        [-0.0],
        [0.1, 0.25, 100.125],
        [1 / 3, 2 / 3],
        [123456789.123],
        [0.00001, 0.0002],
        [5e-324],
    ],
    ids=str,
)
def test_special_cases(x):
    for character in "fd":
        with numpy.errstate(all="ignore"):
            check(numpy.array(x).astype(character))


@pytest.mark.parametrize(
    "options",
    [
        {"precision": 3},
        {"precision": 0},
        {"precision": 17},
        {"suppress": True},
        {"threshold": 5},
        {"threshold": 5, "edgeitems": 1},
        {"linewidth": 40},
        {"linewidth": 200},
        {"floatmode": "fixed"},
        {"floatmode": "unique"},
        {"floatmode": "maxprec_equal"},
        {"floatmode": "fixed", "precision": 2},
        {"sign": "+"},
        {"sign": " "},
        {"nanstr": "-", "infstr": "infinite"},
    ],
    ids=str,
)
def test_options(options):
    for x in (
        numpy.array([1.5, -2.25, 1 / 3, numpy.nan, numpy.inf]),
        numpy.array([1e-9, 1.0, 12345.678]),
        numpy.arange(30).reshape(3, 10),
        numpy.arange(8) * 1.1 - 3j,
        numpy.arange(12.0).reshape(3, 4) / 7,
        numpy.array([1.0, 2.0]),
    ):
        check(x, **options)


def test_array2string():
    x = numpy.array([1e-16, 1, 2]) / 3
    for options in (
        {"precision": 2, "suppress_small": True},
        {"separator": ", "},
        {"max_line_width": 12},
        {"prefix": "abc", "suffix": "]", "separator": ","},
    ):
        assert weft.array2string(to_weft(x), **options) == numpy.array2string(x, **options)
    assert weft.array_repr(to_weft(x), precision=2) == numpy.array_repr(x, precision=2)
    assert weft.array_str(to_weft(x), precision=2) == numpy.array_str(x, precision=2)


def _text(function, *arguments, **options):
    try:
        return function(*arguments, **options)
    except (ValueError, TypeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", ["format_float_positional", "format_float_scientific"])
@pytest.mark.parametrize("unique", [True, False])
def test_digits_of_one_number(name, unique):
    numbers = [1.0, 0.0, -0.0, 9.96, 1.05, 174.5, 0.0999, 1e23, 5e-324, 2.0001, -1.96, numpy.nan, -numpy.inf]
    numbers += [numpy.float32(0.1), numpy.float32(0.19671191), numpy.float16(-0.01194), numpy.float32(16967)]
    counts = [(p, m) for p in (None, 0, 1, 3, 12, -1) for m in (None, 0, 1, 4, 9)]
    fractional = [{}, {"fractional": False}] if name == "format_float_positional" else [{}]
    for precision, min_digits in counts:
        for trim in "k.0-":
            for more in fractional:
                options = {
                    "precision": precision,
                    "unique": unique,
                    "trim": trim,
                    "min_digits": min_digits,
                    **more,
                }
                for x in numbers:
                    ours = _text(getattr(weft, name), to_weft(numpy.asarray(x))[()], **options)
                    assert ours == _text(getattr(numpy, name), x, **options), (x, options)


def test_options_are_checked():
    for options in ({"floatmode": "bad"}, {"sign": "?"}, {"threshold": "x"}, {"threshold": float("nan")}):
        with pytest.raises((ValueError, TypeError)) as expected:
            numpy.set_printoptions(**options)
        with pytest.raises(expected.type) as result:
            weft.set_printoptions(**options)
        assert str(result.value) == str(expected.value)


def test_views_and_pending_arrays():
    x = numpy.arange(24.0).reshape(4, 6)
    assert repr(to_weft(x)[::-1, ::2].T) == repr(x[::-1, ::2].T)
    assert repr(to_weft(x) * 2 + 1) == repr(x * 2 + 1)
    assert f"{to_weft(x)}" == f"{x}"
    assert f"{to_weft(x)[1, 1]:.3f}" == f"{x[1, 1]:.3f}"
    with pytest.raises(TypeError, match="unsupported format string passed to"):
        f"{to_weft(x):.2f}"


def test_values_are_observed(device):
    x = weft.array([[1.5, -2], [0, 4]])
    assert x.tolist() == [[1.5, -2], [0, 4]]
    assert x[1, 1].item() == 4
    assert float(x[0, 0]) == 1.5
    assert bool((x > 3).any())
    assert "1.5" in repr(x)
    assert str(x[0]) == "[ 1.5 -2. ]"
    assert list(x[0]) == [1.5, -2]
    assert x.tobytes() == numpy.asarray(x).tobytes()
    assert int(x.argmax()) == 3
    assert (x.sum() + x.mean()).item() == 4.375


def test_numbers_have_points_in_every_locale(tmp_path):
    """Digits are written without the C library's locale, which has commas in German."""
    program = (
        "import locale, weft\n"
        "locale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')\n"
        "assert locale.localeconv()['decimal_point'] == ','\n"
        "print(weft.array([1 / 3, 1e10]), weft.array([0.1], 'f2'), weft.float16(0.1), weft.zeros(2) + 0.25)\n"
        "print(weft.format_float_positional(0.1, precision=3, unique=False))\n"
        "print(weft.einsum_path('ij,jk,kl', *[weft.ones((2, 2))] * 3)[1])\n"
    )
    made = shutil.which("localedef") and subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")], capture_output=True
    )
    if not made or made.returncode > 1:
        pytest.skip("no German locale can be made here")
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "LOCPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    first, second, *path = done.stdout.splitlines()
    assert first == "[3.33333333e-01 1.00000000e+10] [0.1] 0.1 [0.25 0.25]"
    assert second == "0.100"
    assert "4.800e+01" in "".join(path)


def texts(np):
    """Texts under options that NumPy's own printing has."""
    numbers, words = np.arange(3.0), np.array(list("abcdefgh"))
    yield np.array2string(numbers, formatter={"float_kind": lambda x: f"{x:.1f}"})
    for options in (
        {"formatter": {"float": lambda x: f"<{x:.2f}>"}},
        {"formatter": {"all": lambda x: "x"}},
        {"threshold": 3},
        {"override_repr": lambda array: "mine"},
        {"legacy": "1.13"},
        {"legacy": "1.25"},
    ):
        with np.printoptions(**options):
            yield (
                repr(numbers),
                str(numbers),
                str(words),
                repr([np.float64(2.5), np.bool(True), np.float32(1.5)]),
            )
        yield repr(numbers), repr([np.float64(2.5)])
    np.set_printoptions(formatter={"int": hex}, precision=3)
    yield str(np.arange(3)), np.get_printoptions()["precision"]
    np.set_printoptions(precision=8)  # which ends the formatter, too
    yield str(np.arange(3)), np.get_printoptions()["formatter"]


def test_options_that_numpy_prints_by():
    assert list(texts(weft)) == list(texts(numpy))


def printed(np, precision):
    np.set_printoptions(precision=precision)
    barrier.wait()  # every thread has set its own
    return str(np.array([1 / 3])), repr(np.float64(0.5)), np.get_printoptions()["precision"]


barrier = threading.Barrier(3, timeout=60)


@pytest.mark.parametrize("np", [numpy, weft], ids=["numpy", "weft"])
def test_options_are_a_thread_s_and_a_task_s(np):
    with np.printoptions(precision=2), ThreadPoolExecutor(3) as pool:
        found = list(pool.map(printed, [np] * 3, [1, 4, 6]))
        assert [text for text, _, _ in found] == ["[0.3]", "[0.3333]", "[0.333333]"]
        assert [precision for _, _, precision in found] == [1, 4, 6]
        assert str(np.array([1 / 3])) == "[0.33]"

        async def legacy():
            with np.printoptions(legacy="1.25", precision=5):
                await asyncio.sleep(0)
                return repr(np.float64(0.5)), str(np.array([1 / 3, 1]))

        async def other():
            await asyncio.sleep(0)
            return repr(np.float64(0.5)), str(np.array([1 / 3, 1]))

        async def both():
            return await asyncio.gather(legacy(), other())

        assert asyncio.run(both()) == [("0.5", "[0.33333 1.     ]"), ("np.float64(0.5)", "[0.33 1.  ]")]
    assert contextvars.Context().run(np.get_printoptions)["precision"] == 8
