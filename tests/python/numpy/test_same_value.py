"""astype(casting="same_value"), beside NumPy's; nothing else takes that word."""

import numpy
import pytest
import weft
from comparing import assert_equal, outcome

DTYPES = "?bhilBHILefdFD"
NUMBERS = [
    0,
    1,
    -1,
    100,
    127,
    128,
    200,
    255,
    256,
    -128,
    -129,
    32767,
    40000,
    65504,
    65520,
    2**24 + 1,
    2**31,
    2**53 + 1,
]
NUMBERS += [2**63 - 1, 2**63, 2**64 - 1, -(2**63), 1e300, 2.0**63, 0.5, 1 / 3, -0.0, 1e-320, 1e-7, 1e20]
NUMBERS += [float("nan"), float("inf"), float("-inf"), 1j, 2 + 0j, complex(1, float("nan")), 1e300j]


def samples(character):
    for number in NUMBERS:
        with numpy.errstate(all="ignore"):
            try:
                yield numpy.array([1, number]).astype(character)
            except (OverflowError, TypeError):
                continue


@pytest.mark.parametrize("character", DTYPES)
@pytest.mark.filterwarnings("ignore")
def test_astype(character):
    for sample in samples(character):
        for target in DTYPES:
            call = lambda np: np.asarray(sample).astype(target, casting="same_value")  # noqa: B023, E731
            expected, result = outcome(call, numpy), outcome(call, weft)
            if "half" in str(expected) and (65504 in sample or 0 in sample):
                continue  # NumPy refuses the largest float16 and its negative zero, which keep their values
            if isinstance(expected, Exception):
                assert (type(result), str(result)) == (type(expected), str(expected)), (
                    sample,
                    target,
                    result,
                )
            else:
                assert not isinstance(result, Exception), (sample, target, result)
                assert_equal(result, expected)


def test_large_arrays_views_and_scalars():
    for build in (
        lambda np: np.arange(10000.0).astype("i4", casting="same_value"),
        lambda np: (np.arange(10000.0) / 2).astype("i4", casting="same_value"),
        lambda np: (np.arange(10000.0) / 2)[::2].astype("i4", casting="same_value"),
        lambda np: np.ones((30, 40)).T.astype("i1", "F", "same_value"),
        lambda np: np.float64(2.5).astype("f4", casting="same_value"),
        lambda np: np.float64(2.5).astype("i4", casting="same_value"),
        lambda np: np.zeros((0, 3)).astype("i4", casting="same_value"),
        lambda np: np.array([1.5], dtype=object).astype("i4", casting="same_value"),
        lambda np: np.array(["1"]).astype("i4", casting="same_value"),
    ):
        expected, result = outcome(build, numpy), outcome(build, weft)
        if isinstance(expected, Exception):
            assert (type(result), str(result)) == (type(expected), str(expected))
        else:
            assert_equal(result, expected)


def test_floating_point_errors_do_not_hide_the_refusal():
    for call in (
        lambda np: np.array([1e300]).astype("f4", casting="same_value"),
        lambda np: np.array([float("nan")]).astype("i4", casting="same_value"),
        lambda np: np.array([70000]).astype("f2", casting="same_value"),
    ):
        with weft.errstate(all="raise"), pytest.raises(ValueError, match="could not cast 'same_value'"):
            call(weft)


@pytest.mark.parametrize(
    "call",
    [
        lambda np: np.can_cast("i8", "i4", "same_value"),
        lambda np: np.copyto(np.zeros(2), np.ones(2), casting="same_value"),
        lambda np: np.add([1], [2], casting="same_value"),
        lambda np: np.matmul([[1]], [[2]], casting="same_value"),
        lambda np: np.vecdot([1], [2], casting="same_value"),
        lambda np: np.concatenate([[1], [2]], casting="same_value"),
        lambda np: np.einsum("i->", np.ones(2), casting="same_value"),
        lambda np: np.array([1]).astype("i4", casting="other"),
    ],
)
def test_who_refuses_the_word(call):
    expected, result = outcome(call, numpy), outcome(call, weft)
    assert (type(result), str(result)) == (type(expected), str(expected))
