"""Integers that lie close together are told apart, ordered and found without sorting: against NumPy."""

import itertools

import numpy
import pytest
import weft
from comparing import assert_equal, exception_kind, outcome
from hypothesis import given, settings
from hypothesis import strategies as st

INTEGERS = [numpy.dtype(character) for character in "?bBhHiIqQ"]
OPTIONS = [dict(zip(("return_index", "return_inverse", "return_counts"), chosen, strict=True))
           for chosen in itertools.product((False, True), repeat=3)]  # fmt: skip


def limits(dtype):
    return (0, 1) if dtype == "?" else (int(numpy.iinfo(dtype).min), int(numpy.iinfo(dtype).max))


def between(dtype, count, width, place, seed=0):
    """So many integers, at most `width` apart: the least ones of the dtype, the largest, or about zero."""
    least, most = limits(dtype)
    width = min(width, most - least)
    low = {"least": least, "most": most - width, "middle": max(least, min(-width // 2, most - width))}[place]
    offsets = numpy.random.default_rng([seed, count]).integers(0, width, count, "uint64", endpoint=True)
    if count > 1:
        offsets[numpy.array([count // 3, -1])] = [0, width]  # both ends are there
    with numpy.errstate(over="ignore"):
        return (offsets + numpy.uint64(low % 2**64)).astype(dtype)


def check_unique(a, x, options):
    expected, result = numpy.unique(a, **options), weft.unique(x, **options)
    if not any(options.values()):
        expected, result = (expected,), (result,)
    assert len(result) == len(expected)
    for mine, other in zip(result, expected, strict=True):
        assert_equal(mine, other)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("place", ["least", "middle", "most"])
def test_every_dtype(dtype, place):
    for count in (1, 2, 100, 3000, 150_000):
        for width in (0, 1, 63, 64, 1000, count // 4 - 1, 16 * count - 1, 16 * count, 2**63, 2**64 - 1):
            a = between(dtype, count, max(width, 0), place)
            x = weft.array(a)
            assert_equal(weft.sort(x), numpy.sort(a))
            if count == 150_000 and width > count // 4:
                check_unique(a, x, OPTIONS[-1])
                continue
            for options in OPTIONS:
                check_unique(a, x, options)


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 16])
def test_any_number_of_threads(threads):
    count = (
        1_100_000  # for all of them; whose own bits would be too much memory where the values are far apart
    )
    for width in (10, 5000, 4 * count):
        a = between(numpy.dtype("q"), count, width, "middle")
        with weft.config(num_threads=threads):
            x = weft.array(a)
            check_unique(a, x, OPTIONS[-1])
            assert_equal(weft.unique(x), numpy.unique(a))
            assert_equal(weft.sort(x), numpy.sort(a))


@pytest.mark.parametrize("numbers", [
    [-2**63, 2**63 - 1], [-2**63] * 3, [2**63 - 1, 2**63 - 1, 2**63 - 2], [-2**63, -2**63 + 1, 0],
])  # fmt: skip
def test_the_ends_of_int64(numbers):
    a = numpy.array(numbers * 2000, "q")
    for options in OPTIONS:
        check_unique(a, weft.array(a), options)
    assert_equal(weft.sort(weft.array(a)), numpy.sort(a))
    for kind in (None, "sort"):
        assert_equal(weft.isin(weft.array(a), weft.array(a[:1]), kind=kind), numpy.isin(a, a[:1]))


def test_layouts():
    a = numpy.random.default_rng(0).integers(-30, 300, (60, 40, 20)).astype("i2")
    x = weft.array(a)
    for own, mine in (
        (a, x), (a.T, x.T), (a[::-1, ::2], x[::-1, ::2]), (a[:, :, 3], x[:, :, 3]), (a[:0], x[:0]),
        (a[0, 0, 0], x[0, 0, 0]),
        (numpy.broadcast_to(a[0], a.shape), weft.broadcast_to(x[0], x.shape)),
    ):  # fmt: skip
        for options in OPTIONS:
            check_unique(own, mine, options)
        for axis in (*range(own.ndim), None):
            assert_equal(weft.sort(mine, axis), numpy.sort(own, axis))
    wide = numpy.random.default_rng(0).integers(0, 50, (30, 5000))
    for axis in (0, 1):
        assert_equal(weft.sort(weft.array(wide), axis), numpy.sort(wide, axis))
        assert_equal(weft.sort(weft.array(wide)[:, ::-1], axis), numpy.sort(wide[:, ::-1], axis))


def test_bytes_that_are_true():
    a = numpy.array([0, 1, 2, 255, 0, 7] * 1000, "u1")
    x = weft.array(a).view("?")
    values, counts = weft.unique(x, return_counts=True)
    assert values.tolist() == [False, True] and counts.tolist() == [2000, 4000]
    assert_equal(weft.sort(x), numpy.sort(a != 0))


def test_pending_work_is_done_first_and_memory_of_others_is_left_alone():
    x = weft.arange(10_000)
    assert_equal(weft.unique(x * 7 % 50), numpy.unique(numpy.arange(10_000) * 7 % 50))
    a = numpy.arange(5000) % 10
    assert_equal(weft.unique(weft.from_dlpack(a), return_counts=True)[1], numpy.full(10, 500))
    assert a.tolist() == (numpy.arange(5000) % 10).tolist()


@pytest.mark.host
def test_what_is_near_is_not_searched():
    """A table answers without a kernel; a search is followed by one that compares."""
    near = weft.array(between(numpy.dtype("q"), 100_000, 5000, "middle"))
    far = weft.array(between(numpy.dtype("q"), 100_000, 2**62, "middle"))
    for a, is_searched in ((near, False), (far, True)):
        wanted = a[:100].copy()
        weft.clear_kernel_history()
        weft.eval(weft.isin(a, wanted))
        assert bool(weft.kernel_history()) == is_searched


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_what_is_in(dtype):
    for other, kind, invert in itertools.product(INTEGERS, (None, "sort", "table"), (False, True)):
        for place in ("least", "middle", "most"):
            a, wanted = between(dtype, 5000, 300, "middle"), between(other, 40, 300, place, seed=1)
            if kind == "sort" and numpy.result_type(a, wanted).kind == "f":
                continue  # NumPy rounds
            options = {"kind": kind, "invert": invert}
            expected = outcome(lambda a=a, b=wanted, o=options: numpy.isin(a, b, **o))
            result = outcome(lambda a=a, b=wanted, o=options: weft.isin(weft.array(a), weft.array(b), **o))
            if isinstance(expected, Exception):
                assert exception_kind(result) == exception_kind(expected), (result, expected)
                continue
            assert_equal(result, expected)
    a = between(dtype, 60, 300, "middle").reshape(3, 20)
    assert_equal(weft.isin(weft.array(a), []), numpy.isin(a, []))
    for own, mine in ((a, weft.array(a)), (a.T, weft.array(a).T)):
        found = weft.isin(mine, a[1:, 3])
        assert_equal(found, numpy.isin(own, a[1:, 3]))
        assert found.flags.c_contiguous
    assert_equal(weft.isin(weft.array(a).T, [1.5, 2]), numpy.isin(a.T, [1.5, 2]))


@pytest.mark.parametrize("signed", "bhiq")
@pytest.mark.parametrize("count", [1, 40])
def test_integers_that_float64_does_not_have_are_told_apart(count, signed):
    unsigned = [v + d for v in (0, 2**53, 2**62, 2**63, 2**64 - 2048) for d in (0, 1, 2, 1025)]
    unsigned = numpy.array([*unsigned, 2**63 - 1, 2**63 - 2, 2**64 - 1, 2**64 - 2] * count, "Q")
    least, most = limits(numpy.dtype(signed))
    near = [v + d for v in (0, least, most, -(2**53), 2**53, 2**62) for d in (-2, -1, 0, 1, 2)]
    near = numpy.array([v for v in near if least <= v <= most] * count, signed)
    for a, b in ((unsigned, near), (near, unsigned), (unsigned[:1], near), (near[:1], unsigned[-4:])):
        expected = numpy.isin(a.astype(object), b.astype(object))
        x, y = weft.array(a), weft.array(b)
        for kind in (None, "sort"):
            assert_equal(weft.isin(x, y, kind=kind), expected)
            assert_equal(weft.isin(x, y, invert=True, kind=kind), ~expected)
        assert_equal(weft.setdiff1d(x, y), numpy.unique(a[~expected]))


@st.composite
def dense_range_integers(draw):
    dtype = draw(st.sampled_from(INTEGERS))
    least, most = limits(dtype)
    low = draw(st.one_of(st.integers(least, most), st.sampled_from([least, most, 0])))
    high = min(most, low + draw(st.sampled_from([0, 1, 5, 70, 5000, 2**20, 2**64])))
    few = draw(st.lists(st.integers(low, high), max_size=30))
    return numpy.array(few * draw(st.sampled_from([1, 2, 300])), dtype)


@settings(max_examples=300, deadline=None)
@given(dense_range_integers(), dense_range_integers(), st.sampled_from(OPTIONS))
def test_any_integers(a, b, options):
    x, y = weft.array(a), weft.array(b)
    check_unique(a, x, options)
    assert_equal(weft.sort(x), numpy.sort(a))
    # As float64, which uint64 and signed integers have in common, different ones would be equal.
    assert_equal(weft.isin(x, y), numpy.isin(a.astype(object), b.astype(object)))
    if numpy.result_type(a, b).kind != "f":
        assert_equal(weft.intersect1d(x, y), numpy.intersect1d(a, b))
        assert_equal(weft.union1d(x, y), numpy.union1d(a, b))
        assert_equal(weft.setxor1d(x, y), numpy.setxor1d(a, b))
        assert_equal(weft.setdiff1d(x, y), numpy.setdiff1d(a, b))
