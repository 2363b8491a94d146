"""np.pad in every mode, against NumPy."""

import random

import numpy
import pytest
import weft
from comparing import assert_equal, exception_kind, outcome

MODES = {
    "constant": [{}, {"constant_values": 7}, {"constant_values": (1, 2)}],
    "edge": [{}],
    "linear_ramp": [{}, {"end_values": 5}, {"end_values": (-3, 9)}],
    "maximum": [{}, {"stat_length": 2}],
    "mean": [{}, {"stat_length": (1, 2)}],
    "median": [{}, {"stat_length": 3}],
    "minimum": [{}, {"stat_length": 9}],
    "reflect": [{}, {"reflect_type": "odd"}],
    "symmetric": [{}, {"reflect_type": "odd"}],
    "wrap": [{}],
}
WIDTHS = [0, 1, (2, 3), (0, 4), (11, 9)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["i8", "f8", "u1", "c16", "?"])
def test_every_mode(mode, dtype):
    if dtype in "?" and mode not in ("constant", "edge", "wrap", "maximum", "minimum"):
        pytest.skip("numbers")
    if dtype in ("u1", "c16") and mode in ("linear_ramp", "median", "maximum", "minimum"):
        pytest.skip("below zero, or without an order")
    chooser = random.Random(3)
    for shape in ((1,), (2,), (5,), (3, 4), (1, 2, 3)):
        a = numpy.array([chooser.randrange(-9, 9) for _ in range(int(numpy.prod(shape)))]).reshape(shape)
        a = abs(a).astype(dtype) if dtype == "u1" else a.astype(dtype)
        for options in MODES[mode]:
            if "reflect_type" in options and dtype == "?":
                continue
            for width in (
                WIDTHS if a.ndim == 1 else [1, (2, 3), *[[chooser.choices(range(6), k=2) for _ in shape]]]
            ):
                expected = numpy.pad(a, width, mode, **options)
                result = weft.pad(weft.array(a), width, mode, **options)
                if a.dtype.kind in "fc":
                    numpy.testing.assert_allclose(
                        numpy.asarray(result), expected, rtol=1e-13, atol=1e-13, strict=True
                    )
                else:
                    assert_equal(result, expected)


def test_empty_has_the_array_inside():
    result = weft.pad(weft.arange(6).reshape(2, 3), ((1, 2), (3, 0)), "empty")
    assert result.shape == (5, 6)
    assert result[1:3, 3:].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_function_of_rows():
    def mark(row, widths, axis, options):
        row[: widths[0]] = options["value"]
        if widths[1]:
            row[-widths[1] :] = axis

    a = numpy.arange(6.0).reshape(2, 3)
    assert_equal(
        weft.pad(weft.array(a), ((1, 2), (2, 0)), mark, value=9),
        numpy.pad(a, ((1, 2), (2, 0)), mark, value=9),
    )


PROGRAMS = """
np.pad(v, -1); np.pad(v, (1, 2, 3)); np.pad(v, 1, 'x'); np.pad(np.zeros(0), 1, 'edge')
np.pad(v, 1, 'edge', constant_values=3); np.pad(v, 1.5); np.pad(v, {0: (1, 2)})
np.pad(v, 1, 'maximum', stat_length=0); np.pad(np.zeros(0), 1); np.pad(v, {0: 2}, 'edge')
np.pad(np.zeros((0, 2)), ((0, 0), (1, 1)), 'edge'); np.pad(5, 1); np.pad(v, ((1, 2),)); np.pad(v, [3])
np.pad([[1]], ((1, 1), (2, 2)), 'wrap')
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("program", [p.strip() for p in PROGRAMS if p.strip()])
def test_rules(program):
    expected = outcome(eval, program, {"np": numpy, "v": numpy.arange(1, 4)})
    result = outcome(eval, program, {"np": weft, "v": weft.arange(1, 4)})
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
        assert str(result).split("[")[0] == str(expected).split("[")[0]
    else:
        assert not isinstance(result, Exception), result
        assert_equal(result, expected)


@pytest.mark.parametrize("mode", ["edge", "wrap", "reflect", "symmetric"])
def test_borders_of_large_arrays(mode):
    """Of which the borders alone are looked up."""
    for shape, width in (
        ((20_000,), (3, 5)),
        ((20_000,), (0, 4)),
        ((150, 140), ((2, 0), (7, 160))),
        ((1, 20_000), 2),
    ):
        a = numpy.arange(numpy.prod(shape)).reshape(shape)
        for dtype in ("i8", "f4"):
            expected = numpy.pad(a.astype(dtype), width, mode)
            assert_equal(weft.pad(weft.asarray(a.astype(dtype)), width, mode), expected)
        if mode in ("reflect", "symmetric"):
            expected = numpy.pad(a, width, mode, reflect_type="odd")
            assert_equal(weft.pad(weft.asarray(a), width, mode, reflect_type="odd"), expected)
