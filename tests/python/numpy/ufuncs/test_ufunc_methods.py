"""ufunc.at and ufunc.reduceat, against NumPy."""

import numpy
import pytest
import weft
from comparing import assert_equal, computed_on, exception_kind, outcome

AT = """
np.add.at(r, [0, 0, 2], 1); np.add.at(r, [0, 0], [1, 2]); np.subtract.at(f, ([0, 1], [1, 1]), 0.5)
np.negative.at(r, [0, 0, 1]); np.multiply.at(r, slice(1, 4), 2); np.maximum.at(f, (slice(None), [0, 0]), f[:, :2])
np.add.at(r, r > 2, 10); np.add.at(f.T, [1], 5); np.add.at(r, [0], 1.5); np.add.at(r, [9], 1)
np.add.at(r, [0]); np.negative.at(r, [0], 1); np.add.at([1], [0], 1); np.divmod.at(r, [0], 1)
np.power.at(r, [1, 1], 2); np.sqrt.at(f, [0]); np.sqrt.at(r, [0]); np.add.at(r, [], 1); np.add.at(r, [0], [1, 2])
np.left_shift.at(r, [1, 1], 3); np.logical_and.at(b, [0], False); np.add.at(s, [1, 1], 100); np.add.at(s, [0], 300)
np.add.at(f, ..., 1); np.minimum.at(f, ([3, 3], [0, 0]), [-50, -60]); np.add.at(f[::2, ::-1], [0, 1], 1)
np.add.at(r, np.array([-1, -1]), 7)
""".replace("\n", ";").split(";")

REDUCEAT = """
np.add.reduceat(r, [0, 3]); np.add.reduceat(r, [0, 3, 1]); np.add.reduceat(f, [0, 2], 0)
np.add.reduceat(f, [0, 2, 2], 1); np.multiply.reduceat(f, [1], 1); np.maximum.reduceat(r, [0, 2, 5])
np.add.reduceat(r, [6]); np.add.reduceat(r, [-1]); np.add.reduceat(r, []); np.add.reduceat(r, [0.5])
np.add.reduceat(s, [0, 1]); np.add.reduceat(b, [0, 2]); np.logical_or.reduceat(b, [0, 2])
np.negative.reduceat(r, [0]); np.divmod.reduceat(r, [0]); np.add.reduceat(f, [0], 5)
np.add.reduceat(r, [0, 2], dtype='f4'); np.add.reduceat(r, [[0]]); np.add.reduceat(5, [0])
np.bitwise_xor.reduceat(r, [0, 1, 4]); np.add.reduceat(f, [0, 1], out=np.zeros((2, 5)))
np.subtract.reduceat(r, [0, 3])
""".replace("\n", ";").split(";")


def run(np, program, in_place):
    names = {"np": np, "r": np.array([3, 1, 4, 1, 5, 9]), "f": np.array(numpy.arange(-9, 11.0).reshape(4, 5))}
    names |= {"s": np.array([1, 2, 3], "u1"), "b": np.array([True, False, True])}
    result = outcome(exec if in_place else eval, program, names)
    return result, [names[name] for name in "rfsb"]


@pytest.mark.parametrize("program", [p.strip() for p in AT if p.strip()])
def test_at(program):
    expected, theirs = run(numpy, program, True)
    result, ours = run(weft, program, True)
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
    else:
        assert result is None, result
    for mine, other in zip(ours, theirs):
        assert_equal(mine, other)


@pytest.mark.parametrize("program", [p.strip() for p in REDUCEAT if p.strip()])
def test_reduceat(program):
    expected, _ = run(numpy, program, False)
    result, _ = run(weft, program, False)
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
    else:
        assert not isinstance(result, Exception), result
        assert_equal(result, expected)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "c16"])
def test_many(dtype):
    rng = numpy.random.default_rng(1)
    a, places = rng.integers(0, 9, 500).astype(dtype), rng.integers(-500, 500, 20_000)
    values = rng.integers(0, 9, 20_000).astype(dtype)
    x = weft.array(a)
    weft.add.at(x, weft.array(places), weft.array(values))
    numpy.add.at(a, places, values)
    assert_equal(x, a)  # one after another: the same roundings
    starts = numpy.sort(rng.integers(0, 20_000, 300))
    mine = weft.add.reduceat(weft.array(values), weft.array(starts))
    assert_equal(mine, numpy.add.reduceat(values, starts))  # whole numbers: exact in any order


def test_who_holds_the_old_version_keeps_it():
    x = weft.arange(10.0)
    before = x * 1
    view = x[2:]
    weft.add.at(x, [2, 2, 3], 1)
    assert before.tolist() == list(range(10))
    assert view.tolist()[:2] == [4, 4]


def test_no_value_is_no_initial_value():
    for ufunc in (weft.add, weft.minimum, weft.hypot):
        for nothing in (weft._NoValue, numpy._NoValue):
            assert ufunc.reduce([4.0, 3.0], initial=nothing) == ufunc.reduce([4.0, 3.0])


def test_reduceat_gives_an_array_of_its_own():
    for axis, shape in ((0, 12), (-1, (3, 12)), (0, (12, 3)), (1, (2, 12, 3))):
        result = weft.add.reduceat(weft.zeros(shape, "i4"), [0, 1, 0], axis=axis)
        assert result.base is None and result.flags.owndata


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 0, 2)], ids=str)
def test_reduceat_keeps_the_memory_order(axis, axes):
    ours, theirs = (
        m.add.reduceat(m.arange(24).reshape(2, 3, 4).transpose(axes), [0, 1], axis=axis)
        for m in (weft, numpy)
    )
    assert ours.strides == theirs.strides
    numpy.testing.assert_array_equal(numpy.asarray(ours), theirs)


def test_at_has_to_have_a_loop_even_where_nothing_is_chosen():
    with pytest.raises(TypeError, match="bitwise_or"):
        weft.bitwise_or.at(weft.zeros(3, "u8"), weft.zeros(3, bool), 5)


@pytest.mark.parametrize("most", [1, 3, 30, 2000])
@pytest.mark.parametrize("name", ["add", "subtract", "maximum", "multiply"])
def test_at_repeated_positions(device, name, most):
    rng = numpy.random.default_rng(most)
    positions = rng.integers(0, 40 if most > 1 else 4000, 40 * most)
    if most == 1:
        positions = rng.permutation(4000)[:1000]
    values = rng.integers(1, 4, positions.size).astype("int64")
    a = rng.integers(-50, 50, 4000)
    x = weft.array(a.copy())
    computed_on(device, lambda: (getattr(weft, name).at(x, weft.array(positions), weft.array(values)), x)[1])
    getattr(numpy, name).at(a, positions, values)
    numpy.testing.assert_array_equal(numpy.asarray(x.to_device("cpu")), a)


def test_at_of_other_forms(device):
    rng = numpy.random.default_rng(1)
    positions = rng.integers(0, 30, 200)
    a = rng.random((30, 20)).astype("float32")
    x = weft.array(a.copy())
    weft.negative.at(x, weft.array(positions))
    numpy.negative.at(a, positions)
    weft.add.at(x.T, (weft.array(positions % 20), weft.array(positions)), 1.5)
    numpy.add.at(a.T, (positions % 20, positions), 1.5)
    weft.divide.at(x, weft.array(positions), 2)
    numpy.divide.at(a, positions, 2)
    numpy.testing.assert_allclose(numpy.asarray(x.to_device("cpu")), a, rtol=1e-5)


@pytest.mark.parametrize("starts", [[0, 4, 9, 9, 20], [3, 3, 50], [0], [99], [0, 1, 2, 3, 99]])
def test_reduceat_of_many(device, starts):
    a = numpy.random.default_rng(2).integers(-9, 9, (3, 100))
    for name in ("add", "maximum", "multiply"):
        (mine,) = computed_on(
            device,
            lambda name=name: getattr(weft, name).reduceat(
                weft.array(a), weft.array(numpy.array(starts)), axis=1
            ),
        )
        numpy.testing.assert_array_equal(mine, getattr(numpy, name).reduceat(a, starts, axis=1))
