"""Parallel loops with nothing but a loop inside, of which chunks are cut, too."""

import textwrap

import numpy
import pytest
import weft

SHAPES = [
    (0, 5),
    (5, 0),
    (1, 1),
    (1, 10_007),
    (2, 5000),
    (3, 129),
    (7, 1000),
    (300, 3),
    (255, 257),
    (1000, 2),
]


def compiled(text, prange=weft.prange, **options):
    text = textwrap.dedent(text)
    names = {"np": numpy, "prange": prange, "range": range}
    exec(text, names)
    return weft.jit(names["f"], source=text, **options) if prange is weft.prange else names["f"]


def written(inner, body, before="", after="return out", loop="m"):
    return "\n".join(
        [
            "def f(a, out, k):",
            "    n, m = a.shape",
            *("    " + line for line in before.splitlines()),
            "    for i in prange(n):",
            f"        for j in {inner}({loop}):",
            *("            " + line for line in body.splitlines()),
            f"    {after}",
        ]
    )


def is_cut(f):
    return ", with parts of the loop in line" in f.explain()


CUT = {
    "stored": ("out[i, j] = a[i, j] * 2 + k", "", "return out"),
    "updated": ("out[i, j] += a[i, j] * j", "", "return out"),
    "by column": ("out[i, j] = a[i, j] if j % 3 else out[i, j] - i", "", "return out"),
    "condition": ("if a[i, j] > 0:\n    out[i, j] = 1\nelse:\n    continue", "", "return out"),
    "temporary": ("t = a[i, j] + j\nout[i, j] = t * t", "", "return out"),
    "neighbours of another": ("out[i, j] = a[i, j - 1] + a[i - 1, j]", "", "return out"),
    "exact sum": ("s += i * j", "s = 7", "return s"),
    "extreme": ("s = max(s, a[i, j])", "s = -9.5", "return s"),
    "argmin": (
        "if a[i, j] < s:\n    s, at, to = a[i, j], i, j",
        "s, at, to = 1e9, -1, -1",
        "return s, at, to",
    ),
    "any": ("s = s or a[i, j] > 2.5", "s = False", "return s"),
    "integer division": ("s += (i + 1) // (j + 1)", "s = 0", "return s"),
}


@pytest.mark.parametrize("inner", ["range", "prange"])
@pytest.mark.parametrize("name", CUT)
def test_what_is_cut_gives_what_python_gives(name, inner):
    body, before, after = CUT[name]
    text = written(inner, body, before, after)
    f, plain = compiled(text), compiled(text, range)
    for shape in SHAPES:
        a = numpy.random.default_rng(len(name)).standard_normal(shape)
        out = numpy.arange(a.size, dtype=float).reshape(shape)
        expected = out.copy()
        result, other = f(a, out, 3), plain(a, expected, 3)
        assert numpy.array_equal(out, expected)
        assert numpy.array_equal(numpy.asarray(result), numpy.asarray(other)), shape
    assert is_cut(f)


NOT_CUT = {
    "an iteration reads the one before": "if j > 0:\n    out[i, j] = out[i, j - 1] * 0.5 + a[i, j]",
    "it writes beside": "out[i, j] = a[i, j]\nif j + 1 < m:\n    out[i, j + 1] = 1",
    "rows are sums": "out[i, 0] += a[i, j]",
    "a view": "row = out[i]\nrow[j] = row[0] + j",
    "an index that is computed": "out[i, (j * k) % m] = j",
    "a part that a function writes": "np.add(a[i], j, out[i])",
    "a counter that is changed": "j = (j + 1) % m\nout[i, j] = j * i",
}


@pytest.mark.parametrize("name", NOT_CUT)
def test_what_is_not_cut(name):
    text = written("range", NOT_CUT[name])
    f, plain = compiled(text), compiled(text, range)
    for shape in SHAPES:
        if 0 in shape:
            continue
        a = numpy.random.default_rng(3).standard_normal(shape)
        out = numpy.ones(shape)
        expected = out.copy()
        f(a, out, 2)
        plain(a, expected, 2)
        assert numpy.array_equal(out, expected), shape
    assert not is_cut(f)


def test_rows_whose_length_is_the_row_are_not_cut():
    text = written("range", "out[i, j] = a[i, j]", loop="min(i, m)")
    f, plain = compiled(text), compiled(text, range)
    a = numpy.random.default_rng(3).standard_normal((40, 30))
    assert numpy.array_equal(f(a, numpy.zeros((40, 30)), 1), plain(a, numpy.zeros((40, 30)), 1))
    assert not is_cut(f)


def test_arrays_that_overlap_are_not_cut():
    text = written("range", "out[i, j] = a[i, j] + 1")
    f, plain = compiled(text), compiled(text, range)
    memory = numpy.zeros((1, 5001))
    expected = memory.copy()
    f(memory[:, :-1], memory[:, 1:], 0)
    plain(expected[:, :-1], expected[:, 1:], 0)
    assert numpy.array_equal(memory, expected) and memory[0, -1] == 5000


@pytest.mark.parametrize(
    "bounds", ["2, m", "m - 1", "1, m - 2", "-3, m", "len(a[0])", "a.shape[1]", "len(a)", "k, m * k"]
)
def test_ranges(bounds):
    text = written("prange", "s += j * (i + 1)", "s = 0", "return s", loop=bounds)
    f, plain = compiled(text), compiled(text, range)
    for shape in ((3, 1), (2, 2), (4, 700), (300, 5)):
        a = numpy.zeros(shape)
        assert f(a, a, 2) == plain(a, a, 2), shape
    assert is_cut(f) == (bounds != "len(a[0])")


def test_errors_are_those_of_the_loop():
    f = compiled(written("prange", "out[i, j] = a[i, j + k]"))
    a = numpy.zeros((2, 3000))
    f(a, a.copy(), 0)
    with pytest.raises(IndexError, match="index 3000 is out of bounds for axis 1 with size 3000"):
        f(a, a.copy(), 1)
    f = compiled(written("range", "out[i, j] = a[i, j] / (j - k)"))
    f(a, a.copy(), -1)
    with pytest.raises(ZeroDivisionError):
        f(a, a.copy(), 2999)


def total(a):
    n, m = a.shape
    s = 0.0
    for i in weft.prange(n):
        for j in weft.prange(m):
            s += a[i, j] * 1.1
    return s


def rows(a):
    n, m = a.shape
    s, p = 0.0, 1.0
    for i in weft.prange(n):
        for j in range(m):
            s += a[i, j]
            p *= 1 + a[i, j] * 1e-6
    return s, p


@pytest.mark.parametrize("shape", [(1, 100_003), (2, 5000), (3, 40_000), (17, 1000), (300, 100)])
def test_sums_have_the_same_bits_for_any_number_of_threads(shape):
    a = numpy.random.default_rng(1).standard_normal(shape)
    f, g = weft.jit(total), weft.jit(rows)
    found = set()
    for count in (1, 2, 7):
        with weft.config(num_threads=count):
            found.add((float(f(a)), *map(float, g(a))))
    assert len(found) == 1
    ((one, other, product),) = found
    assert one == pytest.approx(1.1 * a.sum(), abs=1e-9) and other == pytest.approx(a.sum(), abs=1e-9)
    assert product == pytest.approx(numpy.prod(1 + a * 1e-6), rel=1e-12)
    assert is_cut(f) and is_cut(g)
