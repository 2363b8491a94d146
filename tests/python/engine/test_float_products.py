"""Products of float32 and float64 by weft's own kernels: sizes around their blocks, what lies beside operands, and that
an element has the same bits wherever it is computed."""

import itertools
import os
import subprocess
import sys

import numpy
import pytest
import weft

FLOATS = ["f4", "f8"]


def some(shape, dtype, seed=0):
    return numpy.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def amid(a, filling):
    """weft's array with these values, in memory that is full of `filling` otherwise."""
    wide = weft.full([n + 5 for n in a.shape], filling, dtype=a.dtype.name)
    view = wide[tuple(slice(2, n + 2) for n in a.shape)]
    view[...] = weft.array(a)
    return view


LAYOUTS = {
    "C": weft.array,
    "F": lambda a: weft.array(numpy.ascontiguousarray(a.T)).T,
    "amid nan": lambda a: amid(a, float("nan")),
    "F amid nan": lambda a: amid(numpy.ascontiguousarray(a.T), float("nan")).T,
    "backwards": lambda a: weft.array(a[::-1, ::-1].copy())[::-1, ::-1],
    "every other": lambda a: weft.array(numpy.repeat(numpy.repeat(a, 2, 0), 2, 1))[::2, ::2],
}


def assert_close(result, a, b):
    """Within what a chain of 256 roundings may be off, of long sums."""
    result = numpy.asarray(result)
    exact = numpy.matmul(a.astype(numpy.longdouble), b.astype(numpy.longdouble))
    magnitude = numpy.matmul(abs(a).astype("f8"), abs(b).astype("f8"))
    steps = min(a.shape[-1], 256) / 8 + a.shape[-1] / 256 + 2
    assert result.shape == exact.shape and result.dtype == a.dtype
    assert (abs(result - exact) <= steps * numpy.finfo(a.dtype).eps * magnitude).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("k", [1, 2, 15, 16, 17, 255, 256, 257, 513, 2500])
def test_sizes_around_the_blocks(dtype, k):
    for m, n in [
        (2, 2),
        (6, 16),
        (13, 15),
        (14, 32),
        (15, 33),
        (29, 17),
        (57, 65),
        (127, 130),
        (300, 9),
        (7, 290),
    ]:
        a, b = some((m, k), dtype), some((k, n), dtype, 1)
        assert_close(weft.array(a) @ weft.array(b), a, b)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "shape", [(9, 20, 7), (61, 70, 67), (150, 300, 75), (700, 64, 33), (260, 270, 280)], ids=str
)
def test_every_layout_has_the_same_bits(dtype, shape):
    m, k, n = shape
    a, b = some((m, k), dtype), some((k, n), dtype, 1)
    plain = weft.array(a) @ weft.array(b)
    assert_close(plain, a, b)
    for first, second in itertools.product(LAYOUTS, LAYOUTS):
        result = LAYOUTS[first](a) @ LAYOUTS[second](b)
        assert (result == plain).all(), (first, second)
        transposed = (LAYOUTS[second](b).T @ LAYOUTS[first](a).T).T
        assert (transposed == plain).all(), (first, second)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("out", ["F", "columns apart", "rows backwards", "amid"])
def test_results_lie_anywhere(dtype, out):
    for m, k, n in [(20, 30, 40), (150, 300, 131)]:
        a, b = some((m, k), dtype), some((k, n), dtype, 1)
        x, y = weft.array(a), weft.array(b)
        wide = weft.full((2 * m, 2 * n), 7, dtype=dtype)
        target = {
            "F": weft.full((n, m), 7, dtype=dtype).T,
            "columns apart": wide[:m, ::2],
            "rows backwards": wide[m - 1 :: -1, :n],
            "amid": wide[1 : m + 1, 3 : n + 3],
        }[out]
        weft.matmul(x, y, out=target)
        assert (target == x @ y).all()
        if out != "F":
            assert (wide == 7).sum() == 4 * m * n - m * n


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_part_of_a_product_is_the_product_of_parts(dtype):
    """An element's bits do not depend on where in a product it is, nor on what is computed beside it."""
    a, b = some((700, 600), dtype), some((600, 500), dtype, 1)
    x, y = weft.array(a), weft.array(b)
    whole = weft.asarray(x @ y)
    rows = [slice(0, 2), slice(3, 20), slice(100, 700), slice(699, 500, -3)]
    columns = [slice(0, 2), slice(5, 38), slice(0, 499), slice(450, 500)]
    for row, column in itertools.product(rows, columns):
        assert (x[row] @ y[:, column] == whole[row, column]).all()
    batch = weft.stack([x[:50], x[50:100], x[100:150]]) @ y
    assert (batch.reshape(150, 500) == whole[:150]).all()


SHAPES_OF_EVERY_WAY = [
    ((40, 50), (50, 60)),  # one thread
    ((900, 700), (700, 800)),  # rows of the left factor by task
    ((30, 500), (500, 4000)),  # columns of the right one
    ((64, 900), (900, 9000)),
    ((300, 40), (40, 9000)),  # columns in turns
    ((300, 3000), (3000, 280)),
    ((20, 30000), (30000, 25)),  # parts of k
    ((50, 20, 30), (50, 30, 40)),
    ((3, 200, 300), (3, 300, 250)),
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shapes", SHAPES_OF_EVERY_WAY, ids=str)
def test_bits_do_not_depend_on_threads(dtype, shapes):
    a, b = some(shapes[0], dtype), some(shapes[1], dtype, 1)
    x, y = weft.array(a), weft.array(b)
    plain = weft.asarray(x @ y).tobytes()
    assert_close(numpy.frombuffer(plain, dtype).reshape(*a.shape[:-1], b.shape[-1]), a, b)
    for threads, fuse in ((1, True), (2, False), (3, True), (7, False)):
        with weft.config(num_threads=threads, fuse=fuse):
            assert weft.asarray(x @ y).tobytes() == plain


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "shape", [(3, 5, 4), (30, 40, 35), (300, 290, 270), (200, 300, 33), (17, 600, 1000)], ids=str
)
def test_special_values_stay_in_their_rows_and_columns(dtype, shape):
    m, k, n = shape
    a, b = abs(some((m, k), dtype)) + 1, abs(some((k, n), dtype, 1)) + 1
    a[-1, -1], a[m // 2, 0], a[0, k // 2] = numpy.inf, -numpy.inf, numpy.nan
    b[-1, 0], b[0, -1] = 0, numpy.inf  # inf * 0, and inf - inf
    with numpy.errstate(invalid="ignore"):
        expected = numpy.matmul(a.astype("f8"), b.astype("f8"))
    for first, second in [("C", "C"), ("F", "amid nan"), ("amid nan", "F"), ("every other", "backwards")]:
        result = numpy.asarray(LAYOUTS[first](a) @ LAYOUTS[second](b))
        numpy.testing.assert_array_equal(numpy.isnan(result), numpy.isnan(expected))
        numpy.testing.assert_array_equal(numpy.isposinf(result), numpy.isposinf(expected))
        numpy.testing.assert_array_equal(numpy.isneginf(result), numpy.isneginf(expected))


DIGESTS = """
import hashlib, json, sys
sys.path.insert(0, {folder!r})
import test_float_products as tests, weft
digest = hashlib.sha256()
for a_shape, b_shape in tests.SHAPES_OF_EVERY_WAY:
    for dtype in tests.FLOATS:
        digest.update((weft.array(tests.some(a_shape, dtype)) @ weft.array(tests.some(b_shape, dtype, 1))).tobytes())
print(digest.hexdigest())
"""


def run(program, **environment):
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.host
def test_bits_are_those_of_other_processors_with_fused_multiply_adds():
    program = DIGESTS.format(folder=os.path.dirname(__file__))
    assert run(program) == run(program, WEFT_CPU="haswell")


@pytest.mark.host
def test_nothing_is_touched_beside_operands_and_results():
    program = (
        "import numpy, weft\n"
        "for m, k, n in [(3, 5, 4), (15, 17, 33), (40, 300, 50), (301, 41, 67), (130, 520, 700), (9, 700, 3001)]:\n"
        "    for dtype in ('f4', 'f8'):\n"
        "        a, b = weft.ones((m, k), dtype), weft.ones((k, n), dtype)\n"
        "        at, bt = weft.ones((k, m), dtype), weft.ones((n, k), dtype)\n"
        "        for x in (a, at.T, a[::-1], at.T[::-1]):\n"
        "            for y in (b, bt.T, b[:, ::-1], bt.T[:, ::-1]):\n"
        "                assert (x @ y == k).all()\n"
        "print('done')\n"
    )
    assert run(program, WEFT_GUARD="1") == "done\n"


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_a_narrow_product_has_the_bits_of_a_wide_one(dtype, depth):
    rng = numpy.random.default_rng(depth)
    left = weft.asarray(rng.standard_normal((5001, depth)).astype(dtype))
    right = weft.asarray(rng.standard_normal((depth, 24)).astype(dtype))
    wide = numpy.asarray(left @ right)
    for columns in (2, 3, 4, 5):
        for few in (right[:, :columns], right.T.copy().T[:, :columns]):
            narrow = numpy.asarray(left @ few)
            assert narrow.tobytes() == wide[:, :columns].tobytes()
            assert numpy.asarray(left[70:300] @ few).tobytes() == narrow[70:300].tobytes()
    numpy.testing.assert_allclose(wide, numpy.asarray(left) @ numpy.asarray(right), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("length", [40, 255, 257, 900, 1023])
def test_few_long_columns_have_the_bits_of_many(dtype, length):
    rng = numpy.random.default_rng(length)
    left = weft.asarray(rng.standard_normal((length, 24)).astype(dtype))
    right = weft.asarray(rng.standard_normal((length, 24)).astype(dtype))
    many = numpy.asarray(left.T @ right)
    for rows in (2, 3, 4, 5):
        for columns in (2, 3, 4, 5):
            few = weft.asarray(numpy.asarray(right)[:, :columns].copy())  # nothing lies behind its last row
            for turned in (left[:, :rows].T, left.T[:rows].copy()):
                found = numpy.asarray(turned @ few)
                assert found.tobytes() == many[:rows, :columns].tobytes(), (rows, columns)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_few_very_long_columns(dtype):
    rng = numpy.random.default_rng(2)
    given = rng.standard_normal((50_001, 3)).astype(dtype)
    expected = given.astype("f8").T @ given.astype("f8")
    results = []
    for threads in (1, 2, 5):
        with weft.config(num_threads=threads):
            x = weft.asarray(given)
            results.append(numpy.asarray(x.T @ x))
    assert len({each.tobytes() for each in results}) == 1
    numpy.testing.assert_allclose(results[0], expected, rtol=1e-4, atol=0.1 if dtype == "f4" else 1e-8)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("depth", [1, 3, 10, 16])
def test_a_product_of_few_elements_has_the_bits_of_a_part_of_a_large_one(dtype, depth):
    a, b = some((200, depth), dtype), some((depth, 90), dtype, 1)
    whole = numpy.asarray(weft.array(a) @ weft.array(b))
    for rows, columns in itertools.product((2, 3, 4, 7, 10, 16), (2, 3, 4, 5, 9, 10, 15, 16)):
        expected = whole[:rows, :columns].tobytes()
        for first, second in itertools.product(LAYOUTS.values(), repeat=2):
            found = first(a[:rows]) @ second(b[:, :columns])
            assert found.tobytes() == expected, (rows, columns)
