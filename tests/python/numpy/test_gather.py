"""Reading by arrays of integers: x[idx], take, take_along_axis. Values, layouts, errors, kernels, versions."""

import operator
import random

import numpy
import pytest
import weft
from comparing import assert_equal, assert_same_outcome, exception_kind, launches, outcome

N = 20000  # more than what runs eagerly


def random_numbers(*shape):
    return numpy.random.default_rng(3).random(shape)


def random_positions(low, high, *shape):
    return numpy.random.default_rng(4).integers(low, high, shape)


# ---- NumPy's rules ----

FIELD = numpy.arange(4 * 5.0).reshape(4, 5)
CUBE = numpy.arange(7 * 3 * 4.0).reshape(7, 3, 4)
I = numpy.array([1, 0])  # noqa: E741

PROGRAMS = """
f[[3, 0, 3]]; f[[-4, 3]]; f[[0, 1], [2, -1]]; f[[[0, 1], [2, 3]]]; f[[[0], [1]], [0, 1, 2]]; f[[1], ..., [2]]
f[[]]; f[[[]]]; f[np.zeros((0, 3), int)]; f[np.zeros((0, 3), int), [[7]]]; f[[7], [[]]]; f[(0, 1),]; f[:, (0, 1)]
f[[7]]; f[[-5]]; f[[0, 7, 9], [1, 2, 9]]; f[np.array([0, 9]), np.array([9, 0])]; f[[0, 1], [9, 0]]; f[:, [5]]
f[[0, 1], [0, 1, 2]]; f[[0], [0], [0]]; f[[1.0]]; f[np.array([0, 1.0])]; f[['a']]; f[[None]]; f[[1, None]]; f[[0], 'a']
f[np.zeros((0, 3), int), 7]; np.zeros((5, 0))[[7]]; np.zeros((0, 5))[[0]]; np.zeros((0, 5))[[]]
f[np.array([1], 'u8')]; f[np.array([2**64 - 1], 'u8')]; f[np.array([1, 2], 'i1')]; f[np.array([1, 2], 'u2')]
f[np.array(1)]; f[np.array(1), :]; f.T[np.array(1)]; c[np.array(0), :, i]; c[np.array(0), :, 0]; c[0, 0, np.array(2)]
c[:, i, ..., i]; c[:, i, ..., 0]; c[:, 0, ..., i]; c[..., i, i]; c[:, i, i, ...]; c[:, :, i, ...]; c[:, 0, i, None]
c[0, i]; c[0, :, i]; c[None, 0, i]; c[0, None, i]; c[:, None, 0, i]; c[:, 0, None, i]; c[i, 0]; c[i, :, 0]
c[:, i, :, None, None]; c[..., i].base is None; c[i].base is None; c[:, i].flags.owndata; c[i].flags.owndata
c.T[i]; c.T[:, i]; c[::-1, :, ::-2][:, i]; c[:, i.reshape(2, 1)]; c[i.reshape(2, 1), :, i]; c[..., i.reshape(1, 2, 1)]
np.take(f, [7]); np.take(f, [70]); np.take(f, 3); np.take(f, [1, 30], mode='wrap'); np.take(f, [-1, 30], mode='clip')
np.take(f, [7], axis=0); np.take(f, [-100, 30], mode='wrap'); np.take(f, [1], mode='x'); np.take(f, [0], axis=2)
np.take(f, [[0, 1], [1, 0]], axis=1); np.take(f, [0, 1], axis=-2); np.take(f, 2, axis=0); np.take(f.T, [[3, 2]], 0)
np.take(f, [], axis=0); np.take(np.zeros(0), [0]); np.take(np.zeros(0), [0], mode='wrap'); np.take(np.zeros(0), [])
np.take(np.zeros((0, 0)), [0], 0, mode='clip'); np.take(np.zeros((0, 3)), [7], 1); np.take(5, 0); np.take(5, [0, 0])
np.take(5, [1]); np.take(f, True); np.take(f, [True, False]); np.take(f, np.array([1], 'u8')); f.take(3); f.take([1, 2])
np.take(f, [0, 1], out=np.zeros(3)); np.take(f, [0, 1], out=np.zeros(2)); np.take(f, [0, 1], out=np.zeros(2, 'f4'))
np.take(f, [0, 1], out=np.zeros(2, int)); np.take(f, [0, 99], out=np.zeros(2), mode='clip')
np.take(f.astype(int), [0, 1], out=np.zeros(2)); np.take(f, [1], 1, out=f[:, :1]); np.take(np.arange(9), [2, 3], 0)
np.take_along_axis(f, np.array([[0], [1], [2], [3]]), 1); np.take_along_axis(f, np.array([0]), 1)
np.take_along_axis(f, np.array([7, -1]), None); np.take_along_axis(f, np.array([[0.0]]), 1)
np.take_along_axis(f, np.array([[9]]), 1); np.take_along_axis(f, np.array([[0, 1, 2, 3, 4]]), 0)
np.take_along_axis(f, np.array([[0]]), 0); np.take_along_axis(f, np.array([[0], [1]]), 1)
np.take_along_axis(f, np.zeros((4, 3, 2), int), 1); np.take_along_axis(f, np.array([[0]]), 5)
np.take_along_axis(f.T, np.zeros((5, 4), int, order='F'), 1); np.take_along_axis(f.T, np.zeros((5, 4), int), 1)
np.take_along_axis(f, np.zeros((5, 4), int).T, 1); np.take_along_axis(f, np.argmax(f, axis=1, keepdims=True), 1)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("program", [p.strip() for p in PROGRAMS if p.strip()])
def test_rules(small, program):
    theirs = outcome(lambda: eval(program, {"np": numpy, "f": FIELD.copy(), "c": CUBE, "i": I}))
    names = {"np": weft, "f": weft.array(FIELD), "c": weft.array(CUBE), "i": weft.array(I)}
    assert_same_outcome(outcome(lambda: eval(program, names)), theirs)


def test_numpys_arrays_are_indices(small):
    assert_equal(weft.array(FIELD)[numpy.array([3, 1])], FIELD[[3, 1]])
    assert_equal(weft.array(FIELD)[:, numpy.array([3, 1], "u1")], FIELD[:, [3, 1]])


def random_key(chooser, shape):
    """Indices, slices and axes in any order: NumPy's key and weft's."""
    theirs, ours = [], []
    common = chooser.choice([(2,), (2, 3), (1, 3), (2, 1, 2)])
    ellipsis = False
    for axis in range(len(shape)):
        if chooser.random() < 0.15:
            theirs.append(None)
        elif not ellipsis and chooser.random() < 0.1:
            theirs.append(...)
            ellipsis = True
        ours += theirs[len(ours) :]
        extent = shape[axis] if not ellipsis else min(shape)
        which = chooser.random()
        if which < 0.5:
            own = common if chooser.random() < 0.7 else common[-1:]
            count = int(numpy.prod(own))
            top = extent - 1 + (chooser.random() < 0.01)
            index = numpy.array([chooser.randint(-extent, top) for _ in range(count)])
            index = index.reshape(own).astype(chooser.choice(["i8", "i4", "u8", "i2"]))
            if chooser.random() < 0.3:
                index = numpy.asfortranarray(index)
            copy = weft.array(index, order="C" if index.flags.c_contiguous else "F")
            if chooser.random() < 0.3:
                index, copy = index[::-1], copy[::-1]
            theirs.append(index)
            ours.append(copy)
        elif which < 0.65:
            theirs.append(chooser.randint(-extent, extent - 1))
        elif which < 0.9:
            bounds = chooser.choice([None, 0, 1, -1]), chooser.choice([None, 2, 4])
            theirs.append(slice(*bounds, chooser.choice([None, 1, -1, 2])))
        else:
            break
        ours += theirs[len(ours) :]
    return tuple(theirs), tuple(ours)


def test_random_keys(small):
    chooser = random.Random(1)
    for _ in range(1500):
        shape = [chooser.randint(1, 4) for _ in range(chooser.randint(1, 4))]
        axes = list(range(len(shape)))
        chooser.shuffle(axes)
        whole = numpy.arange(float(numpy.prod(shape))).reshape(shape)
        theirs, ours = whole.transpose(axes), weft.array(whole).transpose(axes)
        key, own_key = random_key(chooser, theirs.shape)
        expected = outcome(operator.getitem, theirs, key)
        result = outcome(operator.getitem, ours, own_key)
        assert_same_outcome(result, expected)
        if isinstance(expected, numpy.ndarray):
            shared = numpy.shares_memory(expected, theirs)
            assert weft.shares_memory(result, ours) == shared


@pytest.mark.parametrize("dtype", "?bHief dFD".replace(" ", ""))
@pytest.mark.parametrize("index_dtype", "bBhHiIlL")
def test_dtypes(small, dtype, index_dtype):
    x = (numpy.arange(100) % 7).astype(dtype)
    index = numpy.array([0, 99, 50, 7], index_dtype)
    assert_same_outcome(weft.array(x)[weft.array(index)], x[index])
    assert_same_outcome(weft.array(x)[weft.array(index)[::2]], x[index[::2]])


ARRANGED = {
    "columns": lambda np, i: np.broadcast_to(i[:, None], (3, 4)),
    "rows": lambda np, i: np.broadcast_to(i, (4, 3)),
    "columns transposed": lambda np, i: np.broadcast_to(i[:, None], (3, 4)).T,
    "between": lambda np, i: np.broadcast_to(i[:, None], (2, 3, 4)),
    "last of three": lambda np, i: np.broadcast_to(i[:, None, None], (3, 2, 4)).transpose(1, 2, 0),
    "backwards": lambda np, i: np.broadcast_to(i[::-1], (4, 3))[::-1],
    "one element": lambda np, i: np.broadcast_to(i[:1], (4, 3)),
    "nothing": lambda np, i: np.broadcast_to(i[:0], (4, 0)),
    "not repeated": lambda np, i: np.resize(i, (4, 3)).T[::2],
}
SELECTIONS = [
    lambda np, x, i: x[i],
    lambda np, x, i: x[i + i.dtype.type(0)],
    lambda np, x, i: x[i, i[::-1]],
    lambda np, x, i: x[i, 0],
    lambda np, x, i: x[:, i],
    lambda np, x, i: x[..., :1, i],
    lambda np, x, i: x[i, i.astype("i4")],
    lambda np, x, i: np.take(x, i),
    lambda np, x, i: np.take(x, i, 0),
    lambda np, x, i: np.take_along_axis(x, i, 0),
]


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("index_dtype", "iLl")
@pytest.mark.parametrize("arranged", ARRANGED.values(), ids=ARRANGED)
def test_what_is_selected_lies_as_repeated_indices_do(small, arranged, index_dtype, pending):
    """uint64 was copied densely first; random programs found the other strides."""
    positions = numpy.array([0, 2, 1], index_dtype)
    for data in (numpy.arange(5.0), FIELD, FIELD.T, CUBE):

        def outcomes(np, data=data):
            i = np.asarray(positions)
            if pending:
                i = i % i.dtype.type(3)
            x = np.asarray(data)
            return [outcome(lambda s=s: s(np, x, arranged(np, i))) for s in SELECTIONS]

        for result, expected in zip(outcomes(weft), outcomes(numpy)):
            assert_same_outcome(result, expected)


def test_a_result_never_shares_memory(small):
    x = weft.arange(10.0)
    for result in (x[[0, 1, 2]], x[weft.arange(10)], x.take([1, 2]), x[weft.array(3), ...]):
        result[...] = -1
        assert not weft.shares_memory(x, result)
    assert_equal(x, numpy.arange(10.0))


def test_elements_of_many_axes(small):
    x = numpy.arange(2**10.0).reshape((2,) * 10)
    key = (slice(None),) * 4 + (numpy.array([1, 0, 1]),) + (slice(None),) * 5
    assert_equal(weft.array(x)[key], x[key])


# ---- errors at the call ----


def test_bounds_are_checked_at_the_call():
    x = weft.zeros(N)
    index = weft.array(numpy.arange(N))
    index[N // 2] = N
    with pytest.raises(IndexError, match=f"index {N} is out of bounds for axis 0 with size {N}"):
        x[index]
    index[N // 2] = -N - 1
    with pytest.raises(IndexError, match=f"index {-N - 1} is out of bounds for axis 0 with size {N}"):
        x[index]
    pending = weft.arange(N) // 2 * 3 - 1
    with pytest.raises(IndexError, match="index 20000 is out of bounds"):
        x[pending]
    with pytest.raises(IndexError, match="axis 1 with size 3"):
        weft.zeros((N, 3))[weft.arange(N), weft.arange(N)]
    index[N // 2] = 0
    assert float(x[index].sum()) == 0


@pytest.mark.host
def test_an_index_written_after_it_was_checked_is_checked_again():
    x = weft.array(random_numbers(N))
    index = weft.array(random_positions(0, N, N))
    weft.eval(x[index])
    writes = (
        lambda: index.__setitem__(5, N),
        lambda: index.__setitem__(slice(2, 9), N),
        lambda: index.__iadd__(N),
        lambda: weft.add(index, N, out=index),
        lambda: index[::2].fill(N),
        lambda: index.view("u1").__setitem__(slice(0, 8), 255 // 2),
        lambda: numpy.asarray(memoryview(index)).__setitem__(7, N),
    )
    for write in writes:
        index[...] = random_positions(0, N, N)
        weft.eval(x[index])
        write()
        with pytest.raises(IndexError):
            x[index]


def test_a_smaller_array_is_looked_at_again_and_a_larger_one_is_not():
    index = weft.array(random_positions(0, N, N))
    weft.eval(weft.zeros(N)[index])
    with pytest.raises(IndexError):
        weft.zeros(N // 2)[index]
    y = weft.array(random_numbers(2 * N))
    assert [k["name"] for k in launches(lambda: y[index])[1]] == ["gather_float64"]
    assert [k["name"] for k in launches(lambda: y[index[1:-1]])[1]] == ["gather_float64"]
    assert [k["name"] for k in launches(lambda: y[index.reshape(100, -1).T])[1]] == ["gather_float64"]
    # Other bytes than those that were looked at.
    assert len(launches(lambda: y[index.view("i4") % (2 * N)])[1]) == 1
    with pytest.raises(IndexError):
        y[index.view("u1")[4:-4].view("i8")]


# ---- what shares a kernel ----


def names(compute):
    return [kernel["name"] for kernel in launches(compute)[1]]


def test_consumers_come_behind_a_gather():
    n = 2 * N  # more than what is gathered at the call where it has to look at positions
    a, b, positions = random_numbers(n), random_numbers(n), random_positions(-n, n, n)
    x, y, index = weft.array(a), weft.array(b), weft.array(positions)
    result, kernels = launches(lambda: x[index] * 2 + y)
    on_cpu = x.device == "cpu"  # elsewhere partial results are combined in the launch that computes them
    assert [k["name"] for k in kernels] == [
        "min_max_int64",
        *["min_max_combine_int64"] * on_cpu,
        "gather_multiply_add_float64",
    ]
    assert_equal(result, a[positions] * 2 + b)
    result, kernels = launches(lambda: x[index] * 2 + y)  # what was looked at is known
    assert [k["name"] for k in kernels] == ["gather_multiply_add_float64"]
    assert kernels[0]["bytes_read"] == 3 * 8 * n and kernels[0]["bytes_written"] == 8 * n
    assert names(lambda: x[index].sum()) == ["gather_sum_float64", *["sum_combine_float64"] * on_cpu]
    both, kernels = launches(lambda: (x[index] + 1, y[index] - 1))
    assert len(kernels) == 1
    assert_equal(both, (a[positions] + 1, b[positions] - 1))


def test_rows_are_gathered_and_reduced_in_one_kernel():
    a, positions = random_numbers(500, 100), random_positions(0, 500, 250)
    x, index = weft.array(a), weft.array(positions)
    weft.eval(x[index])
    for axis in (0, 1):
        result, kernels = launches(lambda axis=axis: x[index].sum(axis))
        assert len(kernels) == 1
        numpy.testing.assert_allclose(numpy.asarray(result), a[positions].sum(axis), rtol=1e-13)

    def softmax(np, rows):
        e = np.exp(rows - rows.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    result, kernels = launches(lambda: softmax(weft, x[index]))
    assert len(kernels) == 1
    numpy.testing.assert_allclose(numpy.asarray(result), softmax(numpy, a[positions]), rtol=1e-13)


def test_indices_are_computed_inline_and_proven():
    a, positions = random_numbers(N), random_positions(0, 10**6, N)
    x, index = weft.array(a), weft.array(positions)
    programs = {
        "arange": lambda np, x, index: x[np.arange(N // 2) * 2],
        "arange backwards": lambda np, x, index: x[N - 1 - np.arange(N)],
        "remainder": lambda np, x, index: x[(index * 7 + 3) % N] + 1,
        "wrap": lambda np, x, index: np.take(x, index * 3, mode="wrap"),
        "clip": lambda np, x, index: np.take(x, index - 500, mode="clip"),
        "minimum": lambda np, x, index: x[np.minimum(np.maximum(index, 0), N - 1)],
        "clipped": lambda np, x, index: x[np.clip(index, -5, 5)],
        "without a sign": lambda np, x, index: x[index.astype("u8") % np.uint64(N)],
        "small integers": lambda np, x, index: x[index.astype("u1")],
        "bits": lambda np, x, index: x[index & 8191],
        "quotient": lambda np, x, index: x[index.astype("u4") // 10**6],
        "where": lambda np, x, index: x[np.where(index > 7, index % 9, index & 3)],
    }
    for name, program in programs.items():
        result, kernels = launches(lambda program=program: program(weft, x, index))
        assert len(kernels) == 1, (name, [k["name"] for k in kernels])
        assert_same_outcome(result, program(numpy, a, positions))


def test_extremes_found_are_positions():
    a = random_numbers(300, 200)
    x = weft.array(a)
    result, kernels = launches(lambda: weft.take_along_axis(x, x.argmax(1, keepdims=True), 1))
    assert not any(k["name"].startswith("min_max") for k in kernels)
    assert_equal(result, a.max(1, keepdims=True))


@pytest.mark.host
def test_what_nobody_else_reads_is_gathered_before_it_is_computed():
    a, b, positions = random_numbers(N), random_numbers(N), random_positions(-N, N, N // 2)
    x, y, index = weft.array(a), weft.array(b), weft.array(positions)
    weft.eval(x[index])
    m, rows = random_numbers(200, 200), random_positions(0, 200, 100)
    ours, few = weft.array(m), weft.array(rows)
    weft.eval(ours[few])
    programs = {
        "chain": (lambda np, x, y, index: np.tanh(x * 2 + 1)[index] + 1, 1),
        "cast": (lambda np, x, y, index: x.astype("f4")[index], 1),
        "slice": (lambda np, x, y, index: (x * 2)[::-1][index], 1),
        "integers": (lambda np, x, y, index: (x * 9).astype("i8")[index] // 3, 1),
        "two arrays, as many elements": (lambda np, x, y, index: (x + y)[index], 2),
        "two arrays, few elements": (lambda np, x, y, index: (x + y)[index[:200]] * 2, 0),  # in loops
        "read twice": (lambda np, x, y, index: (z := x * 2, z[index] + z[: len(index)])[1], 2),
        "more elements than there are": (lambda np, x, y, index: np.exp(x[:5000])[index % 5000], 2),
    }
    for name, (program, count) in programs.items():
        result, kernels = launches(lambda program=program: program(weft, x, y, index))
        assert len(kernels) == count, (name, [k["name"] for k in kernels])
        numpy.testing.assert_allclose(
            numpy.asarray(result), program(numpy, a, b, positions), rtol=1e-6 if name == "cast" else 1e-14
        )
    tables = {
        "rows less their means": lambda np, m, few: (m - 0.5)[few].sum(1),
        "a broadcast operand": lambda np, m, few: (m * m[0])[few],
        "along the other operand": lambda np, m, few: (m[:, :1] * m[0])[:, few],
        "diagonal": lambda np, m, few: (m + 1)[few[:, None], few],
    }
    for name, program in tables.items():
        result, kernels = launches(lambda program=program: program(weft, ours, few))
        assert len(kernels) == 1, (name, [k["name"] for k in kernels])
        numpy.testing.assert_allclose(numpy.asarray(result), program(numpy, m, rows), rtol=1e-13)
    with weft.config(without="gather_pushdown"):
        assert len(launches(lambda: (x * 2)[index])[1]) == 2


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_chains_are_gathered_first_at_positions_recorded_later(depth):
    """New gathers read positions that are younger than all else of the chain."""
    a, numbers = random_numbers(N), random_positions(0, 1 << 40, N)

    def program(np, x, numbers):
        y = x
        for k in range(depth):
            y = np.sqrt(abs(y) + k)
        positions = numbers % N
        return np.take(y, positions) + 1

    with weft.config(without="loop_detection"):  # the chain may continue a loop of the test before
        result, kernels = launches(lambda: program(weft, weft.array(a), weft.array(numbers)))
    assert_equal(result, program(numpy, a, numbers))
    assert len(kernels) == 1


def test_what_is_gathered_from_is_held():
    a, positions = random_numbers(N), random_positions(0, N, N)
    x, index = weft.array(a), weft.array(positions)
    weft.eval(x[index])
    y = x * 3
    assert "it is read at computed positions" in weft.explain(y[index] + y)
    result, kernels = launches(lambda: y[index] + y)
    assert_equal(result, (a * 3)[positions] + a * 3)
    assert len(kernels) == 2


# ---- versions ----


def test_a_gather_sees_the_values_of_its_call():
    a, positions = random_numbers(N), random_positions(0, N, N)
    x, index = weft.array(a), weft.array(positions)
    result = x[index]
    x[...] = 0
    index[...] = 0
    assert_equal(result, a[positions])
    x, index = weft.array(a), weft.array(positions)
    result = x[index]
    x[10:20] = 5
    index += 1
    x *= 2
    assert_equal(result, a[positions])
    start = a.copy()
    start[10:20] = 5
    assert_equal(x, start * 2)


def test_an_array_is_permuted_in_place():
    a, positions = random_numbers(N), random_positions(0, N, N)
    x, index = weft.array(a), weft.array(positions)
    x[...] = x[index]
    assert_equal(x, a[positions])
    x += x[index]
    expected = a[positions]
    expected = expected + expected[positions]
    assert_equal(x, expected)
    x[: N // 4] = x[index[: N // 4]]
    expected[: N // 4] = expected[positions[: N // 4]]
    assert_equal(x, expected)
    x[1::2] -= x[index[1::2]]
    expected[1::2] -= expected[positions[1::2]]
    assert_equal(x, expected)


def test_memory_of_others_is_read_as_it_was():
    theirs, positions = random_numbers(N), random_positions(0, N, N)
    a, where = theirs.copy(), positions.copy()
    x, index = weft.asarray(theirs, copy=False), weft.asarray(positions, copy=False)
    result = x[index]
    positions[...] = 10**12
    theirs[...] = 0
    assert_equal(result, a[where])
    with pytest.raises(IndexError):
        x[index]
    positions[...] = 1
    assert_equal(x[index], numpy.zeros(N))


def test_without_fusion_and_with_any_number_of_threads():
    a, positions = random_numbers(100, 300), random_positions(-100, 100, 257)
    results = []
    for settings in ({}, {"fuse": False}, {"num_threads": 1}, {"num_threads": 7}):
        with weft.config(small=0, **settings):
            x, index = weft.array(a), weft.array(positions)
            results.append(numpy.asarray((x[index] * 3 - 1).sum(1) + x[index, 5]).tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("turns", [1, 6000])
@pytest.mark.parametrize("values", [[0, 2**63 + 5], [5, 2**64 - 1], [5, 2**64 - 20_001], [2**63]])
def test_large_unsigned_indices_count_from_the_end_as_numpys_do(values, turns):
    data = numpy.arange(20_000.0)
    index = numpy.array(values * turns, dtype="u8")
    expected = outcome(lambda: data[index])
    result = outcome(lambda: weft.array(data)[weft.array(index)])
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected)
        assert str(result) == str(expected)
    else:
        assert_equal(result, expected)


def test_index_errors_are_raised_at_the_call(device):
    x = weft.arange(10000.0)
    with pytest.raises(IndexError, match="index 10000 is out of bounds for axis 0 with size 10000"):
        x[weft.array([1, 2, 10000])]
    with pytest.raises(ValueError, match="Integers to negative integer powers"):
        weft.arange(3) ** weft.array([1, -1, 2])
