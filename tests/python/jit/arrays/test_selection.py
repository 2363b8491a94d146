"""Indices that are arrays, in compiled functions, beside NumPy."""

import numpy
import pytest
import weft

np = weft
A = numpy.arange(2 * 3 * 4, dtype="f8").reshape(2, 3, 4)
I = numpy.array([1, 0, -1, 1])  # noqa: E741
J = numpy.array([[0, 2], [-1, 1]])
READS = [
    "a[i]",
    "a[j]",
    "a[:, i]",
    "a[:, j, 1:]",
    "a[..., i]",
    "a[i, :, 2]",
    "a[i, 1]",
    "a[1, i]",
    "a[i, i]",
    "a[i, :, i]",
    "a[0, :, i]",
    "a[i[:2], j]",
    "a[i, None]",
    "a[None, i]",
    "a[a[:, 0, 0] > 1]",
    "a[a > 5]",
    "a[:, a[0, :, 0] > 3]",
    "a[a[:, :, 0] > 3, 1:]",
    "a[a[0] > 3]",
    "a[i.astype(np.uint8) % 2]",
    "a[i][0]",
    "a[i[0:0]]",
    "a[0][j[0]] + 1",
    "np.where(a > 5)[1]",
    "np.nonzero(a[0])[0]",
    "np.where(a[0, 0] > 1)",
    "a[[1, 0]]",
    "np.take(a, i)",
    "np.take(a, j, axis=1)",
    "a.take(i, 0)",
    "np.take(a, 3)",
    "np.take(a, 1, axis=1)",
]


def compiled(text):
    source = f"def f(a, i, j, v):\n    {text}"
    names = {"np": numpy}
    exec(source, names)
    return weft.jit(names["f"], source=source), names["f"]


def outcome(f, *arguments):
    try:
        result = f(*arguments)
    except (IndexError, ValueError) as error:
        return type(error).__name__
    parts = map(numpy.asarray, result if isinstance(result, tuple) else (result,))
    return [(str(part.dtype), part.shape, part.tolist()) for part in parts]


def layouts(a):
    yield a
    yield numpy.asfortranarray(a)
    yield numpy.repeat(a, 2, axis=1)[:, ::2]
    yield a[::-1, :, ::-1]


@pytest.mark.parametrize("text", READS)
def test_reads(text):
    f, plain = compiled("return " + text)
    for dtype in ("f8", "i2", "c8", "?"):
        for a in layouts(A.astype(dtype)):
            assert outcome(f, a, I, J, 0) == outcome(plain, a, I, J, 0), (dtype, a.strides)


WRITES = [
    "a[i] = v",
    "a[j] = v",
    "a[:, i] = v",
    "a[i, :, 2] = v",
    "a[a > 5] = v",
    "a[a[:, 0, 0] > 1] = v",
    "a[i, i] += v",
    "a[a > 5] *= v",
    "a[:, j] = a[0, :2, :1]",
    "a[i] = a[0]",
    "a[i] = a",
    "a[i[:2]] = a[::-1]",
    "a[np.isnan(a)] = 0",
]


@pytest.mark.parametrize("text", WRITES)
def test_writes(text):
    f, plain = compiled(text)
    for dtype in ("f8", "i2"):
        for v in (7, 2.5):
            if dtype == "i2" and ("*=" in text or "+=" in text) and v == 2.5:
                continue
            for a, b in zip(layouts(A.astype(dtype)), layouts(A.astype(dtype)), strict=True):
                a, b = a.copy("K"), b.copy("K")
                try:
                    plain(b, I, J, v)
                except (ValueError, IndexError) as error:
                    with pytest.raises((type(error), np.CompileError)):
                        f(a, I, J, v)
                    continue
                f(a, I, J, v)
                assert a.tolist() == b.tolist()


@pytest.mark.parametrize(
    "text, error",
    [
        ("a[i + 5]", IndexError),
        ("a[:, i - 5]", IndexError),
        ("a[a[0] > 1, 0]", IndexError),
        ("a[(a > 1)[:, :2]]", IndexError),
        ("a[i, i[:3]]", ValueError),
    ],
)
def test_errors(text, error):
    f, plain = compiled("return " + text)
    with pytest.raises(IndexError):
        plain(A, I, J, 0)
    with pytest.raises(error):  # ValueError where shapes do not broadcast
        f(A, I, J, 0)


def test_nothing_is_written_where_an_index_is_wrong():
    f, _ = compiled("a[i] = v")
    a = A.copy()
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 2"):
        f(a, numpy.array([0, 9]), J, 7)
    assert a.tolist() == A.tolist()


@pytest.mark.parametrize(
    "text, message",
    [
        ("a[v]", "an integer or a slice"),
        ("a[i, i, i, i]", "too many indices"),
        ("a[a]", "must be of integer"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(np.CompileError, match=message):
        compiled("return " + text)[0](A, I, J, 0.5)


def test_selections_in_loops():
    def sums(values, labels, count):
        result = np.zeros(count)
        for k in range(count):
            result[k] = values[labels == k].sum()
        return result

    values = numpy.random.default_rng(1).standard_normal(300)
    labels = numpy.arange(300) % 7
    expected = [values[labels == k].sum() for k in range(7)]
    numpy.testing.assert_allclose(np.jit(sums)(values, labels, 7), expected, rtol=1e-12)
