"""Masks as indices, writes at computed positions, nonzero and what is made of them: rules, values, order, versions."""

import operator
import random

import numpy
import pytest
import weft
from comparing import assert_equal, assert_same_outcome, launches, outcome

N = 30000  # more than what runs eagerly

FIELD = numpy.arange(-9, 11.0).reshape(4, 5)
CUBE = numpy.arange(3 * 4 * 2, dtype="i4").reshape(3, 4, 2)
ROW = numpy.arange(6)

# ---- NumPy's rules: each is run by both, and then the arrays are compared, too ----

READS = """
f[f > 3]; f.T[f.T > 3]; f[f > 99]; f[f[:, 0] > 0]; f[:, f[0] > -8]; f[f[:, 0] > 0, 2]; f[f[:, 0] > 0, [1]]; f[True]
f[f[:, 0] > 0][:, f[0] > -8]; f[np.array([True, False])]; f[[True, False, True, False]]; f[[True], [1]]; f[False]
f[:, True]; f[..., True, None]; f[np.array(True)]; f[None, f > 3]; f[..., f > 3]; f[f > 3, ...]; c[c > 3]; c[c[0] > 0]
c[:, c[0] > 3]; c[:, c[0] > 3, None]; c[c[:, :, 0] > 3]; c[c[:, :, 0] > 3, 1]; c[0, c[0] > 3]
c[[0, 1, 2], c[:, 0] > 0]; c[c[:, 0, 0] > 3, :, [0, 1]]; c[c[:, 0, 0] > 3, :, c[0, 0] > 0]
c[::2, [[True, False], [False, True], [0, 1]]]; c.T[c.T % 3 == 0]; c[::-1, ::2][c[::-1, ::2] > 3]
r[r > 2][r[r > 2] < 5]; np.zeros((0, 3))[np.zeros((0, 3), bool)]; np.zeros((2, 0))[np.ones(2, bool)]
np.array(5)[True]; np.array(5)[np.array(False)]; np.array(5)[[True]]; f[np.True_]; np.nonzero(f); np.nonzero(c % 3)
np.nonzero([0, 3, 0]); np.nonzero(5); np.nonzero(np.zeros((0, 3))); c.nonzero(); np.nonzero(f.T)
np.nonzero(np.array([np.nan, 0, -0.0, 1])); np.nonzero(np.array([1j, 0])); np.where(f > 3); np.where([[0, 1], [1, 0]])
np.where([1], 2); np.flatnonzero(c % 3); np.argwhere(c % 3); np.argwhere(5); np.argwhere(0)
np.compress([1, 0, 1], f, axis=0); np.compress([0, 1], f, axis=1); np.compress([0, 1, 1], f); np.compress([[1]], f)
np.compress([0] * 30 + [1], f); np.compress([1, 1], 5); f.compress([1, 0, 0, 1], 0)
np.compress([1, 0, 0, 0, 0, 1], r); np.extract(f > 3, f); np.extract([1, 0, 1], r); np.extract([0] * 6 + [1], r)
np.extract([[1, 0], [0, 1]], [[1, 2], [3, 4]]); np.choose([0, 1, 2], [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
np.choose(1, [f, -f]); np.choose([0, 3], [1, 2]); r.choose([r] * 6); np.choose([0, 3, -1], [1, 2, 3], mode='wrap')
np.choose([0, 3, -1], [1, 2, 3], mode='clip'); np.choose([0.5], [1, 2]); np.choose([0, 1], [1, 2.5])
np.choose(r % 2, [r, 0.5]); np.choose([0], [1], mode='x'); np.choose(r, [r * k for k in range(9)])
np.choose([[0], [1]], [[1, 2, 3], [4, 5, 6]]); np.select([f > 3, f < 0], [f, -f], 7); np.select([f > 3], [2], 1.5)
np.select([], []); np.select([f > 3], []); np.select([1], [2]); np.select([r > 3, r > 1], [r, r * 10])
""".replace("\n", ";").split(";")

WRITES = """
f[[0, 2]] = 1; f[[0, 0]] = [[1], [2]]; f[[1, -1], [0, 4]] = [5, 6]; f[:, [1]] = 7; f[[[0], [1]], [2, 3]] = f[:2, :2]
f[[]] = 1; f[[7]] = 1; f[[0, 9], 0] = 1; f[[0, 1]] = [1, 2, 3]; f[[0, 1]] = np.ones((1, 1, 2, 5))
f[[0, 1], 0] = np.ones((3, 2)); f[[0, 1], ..., None] = np.ones((2, 5, 1)); f.T[[0, 1]] = 3; f[::2][[0, 1]] = 4
f[:, ::-2][:, [0, 2]] = 5; c[[0, 1]] = 2.7; c[:, [0, 1], [1, 0]] = 9
c[[0, 1], :, [1, 0]] = [[1, 2, 3, 4], [5, 6, 7, 8]]; c[0, [1, 2]] = c[1, [0, 1]]; r[[1, 2, 1]] = [7, 8, 9]
r[[1, 1, 2]] += 10; r[r] = r[::-1]; r[r[::-1]] = 0; r[[0, 1]] = r[[1, 0]]; r[np.array([1, 2], 'u1')] = 5; r[[1.0]] = 1
f[f > 3] = 0; f[f > 3] = f[f > 3] * 2; f[f > 3] += 1; f[f > 3] = np.ones(3); f[f > 3] = [[1.0]]
f[f > 3] = np.ones((2, 2)); f[f[:, 0] > 0] = 1; f[f[:, 0] > -9, 1] = [1, 2, 3]; f[:, f[0] > -8] = [[1], [2], [3], [4]]
f[True] = 1; f[False] = 1; f[f > 99] = 5; f[f > 99] = []; f[np.ones(3, bool)] = 1; c[c > 3] = 1.5
c[c[:, :, 0] > 5] = [[1, 2]]; f.T[f.T > 3] = range(7); r[r > 2] = r[:3]; r[r > 2] = [1, 2]; r[r > 2] = 1j
r[[0]] = 'a'; r[r > 2, None] = 1; r[None, r > 2] = 1; f[..., [0]] = f[..., [1]]; f.flat[[1, 3, 1]] = [5, 6, 7]
f.T.flat[[0, 1]] = 9; f.flat[f.ravel() > 3] = 1; f.flat[[99]] = 1; f.flat[[0, 1, 2]] = [8, 9]
np.put(r, [0, 2], [44, 55]); np.put(r, [0, -1], 9); np.put(r, 22, 5, mode='clip'); np.put(r, [7], 5, mode='wrap')
np.put(r, [9], 1); np.put(f, [[1, 2], [3, -4]], [1, 2]); np.put(f.T, [0, 1, 2], [7, 8]); np.put(f.T, [0, 20], 1)
np.put(r, [], 1); np.put(r, [1], []); np.put(r, [1.5], 1); np.put(r, [1], 1.5); np.put(r, 0, 1j)
np.put(r, [0], 1, 'x'); r.put([1, 2], 8); np.put(5, [0], 1); np.place(f, f > 3, [7, 8]); np.place(f, f > 99, [])
np.place(f, f > 3, []); np.place(r, [1, 0], 1); np.place([1], [1], [1]); np.putmask(f, f > 3, [1, 2, 3])
np.putmask(r, r > 2, r * 2); np.putmask(r, [1, 0], 1); np.putmask(r, r > 2, []); np.putmask(r, r > 2, 1.5)
np.put_along_axis(f, np.array([[0], [1], [2], [3]]), 99, 1); np.put_along_axis(f, np.array([[0]]), 99, 0)
np.put_along_axis(r, np.array([3, 1]), [7, 8], 0); np.put_along_axis(f, np.array([0]), 1, 1)
np.put_along_axis(f, np.array([[9]]), 1, 1); np.put_along_axis(f, np.array([[0.5]]), 1, 1)
np.put_along_axis(c, np.argmax(c, 1, keepdims=True), -1, 1); np.put_along_axis(f, np.array([[0, 1]] * 4), [[1, 2]], 1)
""".replace("\n", ";").split(";")


def run(np, program):
    names = {"np": np, "f": np.array(FIELD), "c": np.array(CUBE), "r": np.array(ROW)}
    exec("result = None", names)
    outcome_ = outcome(exec, program, names)
    return outcome_, (names["result"], names["f"], names["c"], names["r"])


def stripped(programs):
    return [p.strip() for p in programs if p.strip()]


@pytest.mark.parametrize("program", stripped(READS))
def test_rules_of_reading(small, program):
    theirs, expected = run(numpy, "result = " + program)
    ours, results = run(weft, "result = " + program)
    if isinstance(theirs, Exception):
        assert_same_outcome(ours, theirs)
    else:
        assert ours is None, ours
        assert_same_outcome(results[0], expected[0])


@pytest.mark.parametrize("program", stripped(WRITES))
def test_rules_of_writing(small, program):
    theirs, expected = run(numpy, program)
    ours, results = run(weft, program)
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)) or isinstance(ours, (TypeError, ValueError)), ours
        assert type(ours).__name__ == type(theirs).__name__, (ours, theirs)
    else:
        assert ours is None, ours
    for mine, other in zip(results[1:], expected[1:]):
        assert_equal(mine, other)


def random_key(chooser, shape):
    """NumPy's key, and weft's: slices, integers, arrays of integers and of bools, new axes."""
    ours, theirs, axis, ellipsis = [], [], 0, False
    while axis < len(shape):
        which = chooser.random()
        extent = shape[axis]
        taken = 1
        if which < 0.25:
            key = slice(*chooser.choices([None, -2, 0, 1, 3], k=2), chooser.choice([None, 1, 2, -1]))
        elif which < 0.35:
            key = chooser.randint(-extent, extent - 1)
        elif which < 0.65:
            own = chooser.choice([(), (1,), (3,), (2, 3), (2, 1), (0,)])
            low = -extent - (chooser.random() < 0.03)
            key = [chooser.randint(low, extent - 1) for _ in range(int(numpy.prod(own)))]
            key = numpy.array(key, chooser.choice(["i8", "i4", "i1"])).reshape(own)
        elif which < 0.85:
            taken = chooser.randint(1, len(shape) - axis)
            own = list(shape[axis : axis + taken])
            own[-1] += chooser.random() < 0.02
            key = numpy.array([chooser.random() < 0.5 for _ in range(int(numpy.prod(own)))], bool).reshape(
                own
            )
        elif which < 0.9:
            key, taken = None, 0
        elif which < 0.93 and not ellipsis:
            key, taken, ellipsis = ..., 0, True
        elif which < 0.95:
            key, taken = chooser.random() < 0.5, 0
        else:
            break
        axis += taken
        theirs.append(key)
        ours.append(weft.array(key) if isinstance(key, numpy.ndarray) and chooser.random() < 0.7 else key)
    return tuple(theirs), tuple(ours)


def test_random_keys_read_and_write(small):
    chooser = random.Random(5)
    for turn in range(1200):
        shape = tuple(chooser.choices([1, 2, 3, 4], k=chooser.randint(1, 3)))
        a = (
            numpy.random.default_rng(turn)
            .integers(-9, 9, shape)
            .astype(chooser.choice(["f8", "i4", "u1", "c8"]))
        )
        if chooser.random() < 0.3:
            a = numpy.asfortranarray(a)
        x = weft.array(a)
        theirs, ours = random_key(chooser, shape)
        expected = outcome(operator.getitem, a, theirs)
        if not isinstance(expected, Exception) or "bounds" not in str(expected):
            result = outcome(operator.getitem, x, ours)
            if isinstance(expected, Exception):
                assert type(result) is type(expected), (theirs, result, expected)
            else:
                assert_equal(result, expected)
        if isinstance(expected, Exception):
            value = 1
        else:
            extents = [1 if chooser.random() < 0.2 else extent for extent in expected.shape]
            value = numpy.arange(float(numpy.prod(extents))).reshape(extents)
        own = outcome(operator.setitem, a, theirs, value)
        mine = outcome(operator.setitem, x, ours, value)
        assert isinstance(own, Exception) == isinstance(mine, Exception), (theirs, own, mine)
        assert_equal(x, a)


# ---- order, versions, memory ----


@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "u1", "c16"])
@pytest.mark.parametrize("extent", [7, 3000])
def test_the_last_of_several_values_stays(dtype, extent):
    rng = numpy.random.default_rng(3)
    positions, values = rng.integers(-extent, extent, N), (rng.random(N) * 100).astype(dtype)
    a = numpy.zeros(extent, dtype)
    a[positions] = values
    for threads in (1, 2, 7):
        with weft.config(num_threads=threads):
            x = weft.zeros(extent, dtype)
            x[weft.array(positions)] = weft.array(values)
            assert_equal(x, a)
    rows = numpy.zeros((extent, 3), dtype)
    rows[positions] = values[:, None]
    x = weft.zeros((extent, 3), dtype)
    x[weft.array(positions)] = weft.array(values)[:, None]
    assert_equal(x, rows)


def test_repeated_positions_count_once_in_place():
    a, positions = numpy.zeros(N), numpy.random.default_rng(1).integers(0, 100, N)
    x = weft.array(a)
    a[positions] += 1
    x[weft.array(positions)] += 1
    assert_equal(x, a)


def test_values_are_read_before_they_are_written():
    a = numpy.arange(float(N))
    positions = numpy.random.default_rng(2).permutation(N)
    for write in (
        lambda x, i: x.__setitem__(i, x[::-1]),
        lambda x, i: x.__setitem__(i, x[i] * 2 + x),
        lambda x, i: x.__setitem__(i[: N // 2], x[N // 2 :]),
    ):
        expected, x = a.copy(), weft.array(a)
        write(expected, positions)
        write(x, weft.array(positions))
        assert_equal(x, expected)
    own, mine = positions.copy(), weft.array(positions)
    own[own] = numpy.arange(N)
    mine[mine] = weft.arange(N)
    assert_equal(mine, own)


def test_others_keep_the_old_version_and_owners_are_written_in_place():
    x = weft.array(numpy.arange(float(N)))
    index = weft.array(numpy.arange(0, N, 3))
    weft.eval(x, index)
    before = x + 0
    x[index] = -1.0
    assert_equal(before, numpy.arange(float(N)))
    expected = numpy.arange(float(N))
    expected[::3] = -1
    assert_equal(x, expected)

    def write():
        x[index] = 5.0
        return x

    _, kernels = launches(write)
    assert [("scatter" in kernel["name"]) for kernel in kernels] == [True]
    assert kernels[0]["bytes_written"] == index.size * 8


@pytest.mark.host
def test_the_value_and_the_positions_are_computed_by_the_kernel_that_writes():
    x, v = weft.array(numpy.zeros(N)), weft.array(numpy.arange(float(N)))
    index = weft.array(numpy.arange(N))
    weft.eval(x, v, index)

    def write():
        x[(index * 7 + 3) % N] = v * 2 + 1
        return x

    _, kernels = launches(write)
    assert len(kernels) == 1
    expected = numpy.zeros(N)
    expected[(numpy.arange(N) * 7 + 3) % N] = numpy.arange(float(N)) * 2 + 1
    assert_equal(x, expected)


def test_nothing_is_written_where_one_position_is_wrong(small):
    for positions in ([0, 1, 99999], [-99999, 0]):
        x = weft.zeros(N)
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size"):
            x[weft.array(positions)] = 1
        assert not x.any()


@pytest.mark.host
def test_memory_of_others_is_written_in_place():
    a = numpy.zeros((40, 50))
    x = weft.from_dlpack(a)
    x[weft.array([3, 3, 5])] = weft.array([[1.0], [2.0], [3.0]])
    assert a[3, 0] == 2 and a[5, 49] == 3
    x[x > 2] = -1
    assert a[5, 0] == -1 and a[3, 0] == 2
    x[weft.array([0, 1])] = x[weft.array([3, 5])]
    assert a[0, 7] == 2 and a[1, 7] == -1


def test_masks_of_any_bytes_and_any_length():
    rng = numpy.random.default_rng(0)
    for count in (1, 7, 8, 9, 63, 32767, 32768, 32769, 100_003):
        for density in (0, 0.001, 0.5, 1):
            mask = rng.random(count) < density
            a = rng.integers(0, 100, count).astype("i2")
            assert_equal(weft.array(a)[weft.array(mask)], a[mask])
            assert_equal(weft.nonzero(weft.array(mask))[0], mask.nonzero()[0])
    odd = weft.array([0, 255, 2, 0, 128], "u1").view("bool")
    assert weft.nonzero(odd)[0].tolist() == [1, 2, 4]
    assert weft.arange(5)[odd].tolist() == [1, 2, 4]


@pytest.mark.parametrize("shape", [(1000, 3), (3, 40_000), (7, 1, 5001), (2, 3, 4, 5)])
def test_positions_along_each_axis(shape):
    mask = numpy.random.default_rng(1).random(shape) < 0.3
    for order in "CF":
        own = numpy.array(mask, order=order)
        for mine, other in zip(weft.nonzero(weft.array(own, order=order)), own.nonzero(), strict=True):
            assert_equal(mine, other)


def test_long_rows_are_chosen_on_all_threads_alike():
    a = numpy.random.default_rng(4).random(200_000)
    for threads in (1, 2, 7):
        with weft.config(num_threads=threads):
            x = weft.array(a)
            assert_equal(x[x > 0.5], a[a > 0.5])
            x[x > 0.5] = x[x > 0.5] * 2
            expected = a.copy()
            expected[expected > 0.5] *= 2
            assert_equal(x, expected)


@pytest.mark.parametrize("settings", [{}, {"fuse": False}, {"eager": True}, {"tier": "block"}])
def test_in_every_mode(settings):
    rng = numpy.random.default_rng(6)
    a, i = rng.random((300, 40)), rng.integers(0, 300, 500)
    with weft.config(small=0, **settings):
        x = weft.array(a)
        x[weft.array(i), 3] = weft.arange(500.0)
        x[x < 0.1] = 0
        y = x[x > 0.5].sum()
    a[i, 3] = numpy.arange(500.0)
    a[a < 0.1] = 0
    assert_equal(x, a)
    numpy.testing.assert_allclose(float(y), a[a > 0.5].sum(), rtol=1e-13)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("share", [0.0, 0.002, 0.1, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("size", [1, 63, 64, 65, 1000, 32768 + 7, 100_001])
def test_what_a_mask_chooses_by_every_way(dtype, share, size):
    random = numpy.random.default_rng(size)
    values = (random.random(size) * 100).astype(dtype)
    mask = random.random(size) < share
    ours, chosen = weft.asarray(values.copy()), weft.asarray(mask.copy())
    for name, read in {
        "index": lambda x, m: x[m],
        "compress": lambda x, m: x.compress(m),
        "strided": lambda x, m: x[::-1].compress(m),
        "shorter": lambda x, m: x.compress(m[: size // 2]),
        "extract": lambda x, m: numpy.extract(m, x) if isinstance(x, numpy.ndarray) else weft.extract(m, x),
        "nonzero": lambda x, m: m.nonzero()[0],
    }.items():
        expected, found = read(values, mask), numpy.asarray(read(ours, chosen))
        assert found.dtype == expected.dtype, name
        assert found.tobytes() == expected.tobytes(), name


@pytest.mark.parametrize("name", ["place", "putmask"])
@pytest.mark.parametrize("dtype", ["bool", "uint16", "float64", "complex128"])
@pytest.mark.parametrize("values", ["x[:1]", "x[:3]", "x[::-1]", "x[::-2]", "x[40:]", "x[:0]"])
def test_few_elements_are_filled_by_a_row_over_and_over(name, dtype, values):
    for target in ("x", "x[::2]", "x[::-1]", "x.reshape(10, 10)", "x.reshape(10, 10).T"):
        for share in (0.0, 0.3, 1.0):
            found = []
            for np in (numpy, weft):
                x = np.arange(100).astype(dtype)
                given = eval(target, {"x": x})
                mask = numpy.random.default_rng(1).random(given.shape) < share
                row = eval(
                    values, {"x": x}
                )  # of the same memory; weft reads it before it writes, NumPy not always
                try:
                    getattr(np, name)(given, np.asarray(mask), row.copy() if np is numpy else row)
                except ValueError as error:
                    found.append(str(error))
                else:
                    found.append(numpy.asarray(x).tolist())
            assert found[0] == found[1], (target, share)
