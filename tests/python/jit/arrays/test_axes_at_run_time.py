"""Axes that are known only when a compiled function runs."""

import numpy
import pytest
import weft

np = weft
# `a` has three dimensions; an axis from -3 to 2, or one more of what makes one.
TEXTS = [
    "np.sum(a, axis=k)",
    "np.sum(a, k)",
    "a.sum(k)",
    "a.mean(axis=k)",
    "np.max(a, axis=k)",
    "a.min(k)",
    "np.any(a > 3, axis=k)",
    "np.argmin(a, axis=k)",
    "np.std(a, axis=k, keepdims=True)",
    "np.sum(a, axis=k, dtype=np.float32)",
    "np.count_nonzero(a, axis=k)",
    "np.median(a, axis=k)",
    "np.ptp(a, axis=k)",
    "np.average(a, axis=k)",
    "np.cumsum(a, axis=k)",
    "a.cumprod(k)",
    "np.diff(a, axis=k)",
    "np.nansum(a, axis=k)",
    "np.nanmax(a, axis=k)",
    "np.sort(a, axis=k)",
    "np.argsort(a, axis=k)",
    "np.take(a, np.array([1, 0]), axis=k)",
    "np.take(a, 1, k)",
    "np.repeat(a, 2, axis=k)",
    "np.roll(a, 1, axis=k)",
    "np.flip(a, k)",
    "np.delete(a, 1, axis=k)",
    "np.append(a, a, axis=k)",
    "np.concatenate((a, a), axis=k)",
    "np.stack((a, a), axis=k)",
    "np.array_split(a, 2, axis=k)[1]",
    "np.take_along_axis(a, np.argsort(a, axis=k), axis=k)",
    "np.swapaxes(a, k, 1)",
    "np.swapaxes(a, 0, k)",
    "a.swapaxes(k, k)",
    "np.moveaxis(a, k, -1)",
    "np.moveaxis(a, 0, k)",
    "np.expand_dims(a, k)",
    "np.linalg.norm(a, axis=k)",
    "np.fft.fft(a, axis=k)",
    "np.trapezoid(a, axis=k)",
    "np.unwrap(a, axis=k)",
    "np.swapaxes(a * 2, k, 1)",
    "np.flip(a / 2, k)",
    "np.moveaxis(a + a, 0, k)",
    "np.take(a + 1, 0, axis=k)",
    "np.sum(a, axis=(k, (k + 1) % 3))",
    "np.max(a, axis=((k + 2) % 3, k), keepdims=True)",
    "a.mean(axis=(0 if k % 3 else 1, k))",
    "np.std(a, axis=(k,), ddof=1, keepdims=True)",
    "np.any(a > 8, axis=(k, (k + 1) % 3, (k + 2) % 3), keepdims=True)",
    "np.sum(a, axis=(k,), dtype=np.int64)",
    "np.transpose(a, (k, (k + 1) % 3, (k + 2) % 3))",
    "a.transpose((k + 1) % 3, k, (k + 2) % 3)",
    "np.moveaxis(a, (k, (k + 1) % 3), (-1, 0))",
    "np.moveaxis(a, (0, 1), ((k + 2) % 3, k))",
    "np.sum(a, axis=k)[0] + np.sum(a, axis=-1 - k)[0]",
]


def compiled(text):
    source = f"f = lambda a, k: {text}"
    names = {"np": numpy}
    exec(source, names)
    return names["f"], weft.jit(names["f"], source=source)


@pytest.mark.parametrize("text", TEXTS)
def test_as_numpy(text):
    plain, f = compiled(text)
    values = numpy.random.default_rng(2).integers(-5, 9, (3, 2, 4)) * 0.5
    same = text.endswith("[0]")  # parts of one shape
    for a in (values[:2, :, :2] if same else values, values.transpose(2, 0, 1)[:, :, ::-1]):
        if same:
            a = numpy.ascontiguousarray(a[:2, :2, :2])
        for k in range(-3, 3):
            expected, found = plain(a, k), f(a, k)
            assert found.dtype == expected.dtype and found.shape == expected.shape
            numpy.testing.assert_allclose(numpy.asarray(found), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("text", [text for text in TEXTS if not text.endswith("[0]")])
def test_axes_out_of_bounds(text):
    _, f = compiled(text)
    more = 1 if "expand_dims" in text or "stack" in text else 0
    for k in (3 + more, -4 - more):
        with pytest.raises(
            weft.exceptions.AxisError, match=f"axis {k} is out of bounds for array of dimension"
        ):
            f(numpy.ones((3, 2, 4)), k)


def test_errors_of_axes_are_caught_by_each_of_their_classes():
    @weft.jit
    def f(a, k, how):
        try:
            return np.sum(a, axis=k)[0]
        except IndexError:
            return -1.0

    assert f(numpy.ones((2, 3)), 5, 0) == -1.0 and f(numpy.ones((2, 3)), 1, 0) == 3.0


def test_results_of_different_ranks_are_refused():
    with pytest.raises(weft.CompileError, match="known beforehand"):
        weft.jit(lambda a, k: np.sum(a, axis=0, keepdims=k))(numpy.ones((2, 3)), True)


def test_loops_over_axes_keep_memory():
    @weft.jit
    def f(a):
        total = 0.0
        for k in range(a.ndim):
            total += np.sum(np.max(a, axis=k)) + np.sort(a, axis=k)[0, 0, 0]
        return total

    a = numpy.random.default_rng(3).random((3, 4, 5))
    assert f(a) == pytest.approx(sum(a.max(axis=k).sum() + numpy.sort(a, axis=k)[0, 0, 0] for k in range(3)))


def test_axes_that_are_given_twice():
    for text, message in (
        ("np.sum(a, axis=(k, 1))", "duplicate value in 'axis'"),
        ("np.transpose(a, (0, k, 2))[0]", None),
        ("np.transpose(a, (1, k, 2))", "repeated axis in transpose"),
        ("np.moveaxis(a, (1, k), (0, 1))", "repeated axis in `source` argument"),
        ("np.moveaxis(a, (0, 1), (1, k))", "repeated axis in `destination` argument"),
    ):
        plain, f = compiled(text)
        a = numpy.arange(24.0).reshape(2, 3, 4)
        if message is None:
            assert numpy.array_equal(f(a, 1), plain(a, 1))
            continue
        for given in (plain, f):
            with pytest.raises(ValueError, match=message):
                given(a, 1)
