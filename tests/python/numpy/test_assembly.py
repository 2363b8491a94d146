"""Splitting, joining, repeating, moving; diagonals; grids of positions: each program is run by NumPy and by weft."""

import numpy
import pytest
import weft
from comparing import assert_equal, assert_same_outcome, exception_kind, outcome

N = 30000  # more than what runs eagerly

PROGRAMS = """
np.array_split(v, 3); np.split(m, 2, 1); np.split(v, 4); np.split(v, 3); np.hsplit(m, [1]); np.vsplit(m, 2)
np.dsplit(c, 2); np.dsplit(m, 2); np.unstack(m); np.unstack(c, axis=2); np.tile(v, 2); np.tile(m, (2, 1))
np.tile(m, (2, 2, 2)); np.tile(c, 2); np.tile(v, 0); np.tile(v, (1, 1)); np.tile(5, 3); np.repeat(v, 2)
np.repeat(m, 3, 1); np.repeat(m, [1, 2], 0); np.repeat(m, [0, 2, 1, 0], 1); np.repeat(v, [1, 0, 2, 0, 0, 3])
np.repeat(v, -1); np.repeat(v, [1, 2]); np.repeat(5, 3); np.repeat(m, [1.5], 0); np.repeat(v, [0]*6); np.repeat(c, 2)
np.resize(v, (2, 2)); np.resize(v, (4, 5)); np.resize(v, 0); np.resize([], (2, )); np.resize(v, -1); np.append(v, m)
np.append(m, m, 0); np.append(m, m, 1); np.append(v, 2.5); np.delete(v, 1); np.delete(v, [0, 2]); np.delete(v, -1)
np.delete(m, 1, 1); np.delete(m, slice(None, None, 2), 1); np.delete(v, slice(4, 1, -1)); np.delete(v, [9])
np.delete(v, 9); np.delete(v, [True, False]*3); np.delete(v, []); np.delete(m, [0, 0], 0); np.delete(m, 1)
np.delete(v, slice(3, 3)); np.delete(v, [1, -1, 1]); np.insert(v, 1, 9); np.insert(v, [1, 3], [8, 9])
np.insert(v, [3, 1, 1], [7, 8, 9]); np.insert(v, 6, 5); np.insert(v, 7, 5); np.insert(m, 1, [1, 2], 1)
np.insert(m, 1, 5, 0); np.insert(m, [1], [[1], [2]], 1); np.insert(m, [0, 2], 9, 1); np.insert(v, slice(1, 4), 7)
np.insert(v, -1, 2.9); np.insert(m, 1, 5); np.insert(v, [], []); np.insert(v, [1, 9], 0)
np.insert(v, np.array([True, False, True]), 7); np.insert(v, 1, [1, 2, 3]); np.roll(v, 2); np.roll(v, -1)
np.roll(m, 1); np.roll(m, 1, 0); np.roll(m, (1, 2), (0, 1)); np.roll(m, 1, (0, 1)); np.roll(m, (1, 1), 0)
np.roll(v, 100); np.roll(c, -3, 1); np.roll(np.zeros(0), 1); np.roll(m, 1, 5); np.rot90(m); np.rot90(m, 2)
np.rot90(m, 3); np.rot90(m, -1); np.rot90(c, 1, (1, 2)); np.rot90(m, 1, (0, 0)); np.rot90(v); np.rot90(m, 0)
np.trim_zeros(np.array([0, 0, 1, 0, 2, 0])); np.trim_zeros(np.array([0, 1, 0]), 'f'); np.trim_zeros(np.array([0, 0]))
np.trim_zeros([0, 1, 0], 'b'); np.trim_zeros(np.array([[0, 0, 0], [0, 1, 0]])); np.trim_zeros(v, 'x')
np.block([[m, m], [v[:4], v[2:]]]); np.block([m, m]); np.block(m)
np.block([[np.ones((1, 2)), np.zeros((1, 1))], [np.zeros((1, 3))]]); np.block([1, 2]); np.block([[1, [2]]])
np.block([]); np.block((1, 2)); np.block([c, c]); np.block([[[1]], [[2]]]); np.diag(v); np.diag(v, 1); np.diag(v, -2)
np.diag(m); np.diag(m, 1); np.diag(c); np.diagflat(m); np.diagflat(m, 1); np.tri(3); np.tri(3, 4, 1)
np.tri(3, 4, -1, int); np.tril(m); np.triu(m); np.tril(m, 1); np.triu(m, -1); np.tril(c); np.tril(v); np.triu(v)
np.tril_indices(3); np.triu_indices(3, 1); np.tril_indices(3, -1, 4); np.triu_indices_from(m); np.tril_indices_from(v)
np.diag_indices(3); np.diag_indices(2, 3); np.diag_indices_from(m); np.diag_indices_from(np.zeros((2, 2)))
np.mask_indices(3, np.triu); np.mask_indices(3, np.triu, 1); np.vander(v); np.vander(v, 3); np.vander(v, 3, True)
np.vander([1.5, 2], 2); np.vander(m); np.vander([1, 2], 0); np.vander([1, 2], 1); fd(np, np.zeros((3, 3)))
fd(np, np.zeros((5, 2))); fd(np, np.zeros((5, 2)), wrap=True); fd(np, np.zeros((2, 5))); fd(np, np.zeros((2, 2, 2)))
fd(np, np.zeros(3)); fd(np, np.zeros((2, 3, 2))); np.meshgrid(v, [1, 2]); np.meshgrid(v, [1, 2], indexing='ij')
np.meshgrid(v, [1, 2], sparse=True); np.meshgrid([1, 2], [3, 4], [5, 6]); np.meshgrid(v); np.meshgrid()
np.meshgrid(v, indexing='x'); np.indices((2, 3)); np.indices((2, 3), sparse=True); np.indices((2, ), dtype=float)
np.ix_([0, 1], [2, 3]); np.ix_(np.array([True, False]), [1]); np.ix_(m); np.ix_([]); np.unravel_index(5, (2, 3))
np.unravel_index([1, 5], (2, 3)); np.unravel_index([1, 5], (2, 3), 'F'); np.unravel_index(6, (2, 3))
np.unravel_index([-1], (2, 3)); np.unravel_index([1.5], (2, 3)); np.unravel_index(3, 7)
np.unravel_index(0, (2**62, 2)); np.unravel_index([0], (2**32, 2**31)); np.unravel_index(0, 2**63)
np.unravel_index(5, (2**63-1, 1)); np.unravel_index([0], ()); np.unravel_index(np.arange(0), (2**62, 2, 0))
np.zeros(2**63); np.zeros((2**64, 2)); v.reshape(2**63)
np.ravel_multi_index((1, 2), (2, 3)); np.ravel_multi_index(([0, 1], [2, 0]), (2, 3))
np.ravel_multi_index(([0, 1], [2, 0]), (2, 3), order='F'); np.ravel_multi_index((2, 2), (2, 3))
np.ravel_multi_index((2, 5), (2, 3), mode='wrap'); np.ravel_multi_index((2, -5), (2, 3), mode=('clip', 'clip'))
np.mgrid[0:2, 0:3]; np.ogrid[0:2, 0:3]; np.mgrid[0:1:5j]; np.mgrid[0:5]; np.mgrid[0:1:3j, 0:2]; np.ogrid[0:3]
np.r_[1:4, 0, [7, 8]]; np.r_[0:1:3j]; np.c_[v, v]; np.c_[1:4, [4, 5, 6]]; np.r_[m, m]; np.c_[m, m]
np.r_['0, 2', v, v]; np.r_['1, 2, 0', v, v]; np.r_[v, 2.5]; np.s_[1:2, ...]; np.index_exp[1]; np.r_['-1', m, m]
np.c_[5]; np.r_[True, False]; list(np.ndindex(2, 3)); list(np.ndindex((2, ))); list(np.ndindex())
[(i, int(e)) for i, e in np.ndenumerate(m)]; np.fromfunction(lambda i, j:i*10+j, (2, 3))
np.fromfunction(lambda i:i, (3, ), dtype=int)
""".replace("\n", ";").split(";")


def fd(np, a, **options):
    np.fill_diagonal(a, [1, 2, 3] if a.ndim == 2 else 7, **options)
    return a


def run(np, program):
    v, m = np.array(numpy.arange(6)), np.array(numpy.arange(8).reshape(2, 4))
    return outcome(
        eval,
        program,
        {"np": np, "v": v, "m": m, "c": np.array(numpy.arange(24.0).reshape(2, 3, 4)), "fd": fd},
    )


def assert_same(result, expected):
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
    elif isinstance(expected, (tuple, list)):
        assert type(result) is type(expected) and len(result) == len(expected)
        for mine, other in zip(result, expected):
            assert_same(mine, other)
    elif isinstance(expected, (numpy.ndarray, numpy.generic)):
        assert not isinstance(result, Exception), result
        assert_equal(result, expected)
    else:
        assert result == expected


@pytest.mark.parametrize("program", [p.strip() for p in PROGRAMS if p.strip()])
def test_rules(small, program):
    assert_same(run(weft, program), run(numpy, program))


@pytest.mark.parametrize("dtype", ["f8", "u1", "c8", "?"])
def test_large_arrays(dtype):
    rng = numpy.random.default_rng(2)
    a = rng.integers(0, 2, (300, 101)).astype(dtype)
    counts = rng.integers(0, 4, 300)
    x = weft.array(a)
    for compute in (
        lambda np, x, n: np.repeat(x, n, 0),
        lambda np, x, n: np.tile(x, (2, 3)),
        lambda np, x, n: np.roll(x, (7, -5), (0, 1)),
        lambda np, x, n: np.roll(x, 1000),
        lambda np, x, n: np.delete(x, n, 0),
        lambda np, x, n: np.insert(x, n, x[:1], 0),
        lambda np, x, n: np.tril(x, 3) + np.triu(x, 4),
        lambda np, x, n: np.resize(x, (400, 99)),
        lambda np, x, n: (
            np.concatenate(np.array_split(x, 7, 1), 0) if 101 % 7 == 0 else np.hstack(np.array_split(x, 7, 1))
        ),
    ):
        assert_equal(compute(weft, x, weft.array(counts)), compute(numpy, a, counts))


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("a, v", [([], [1]), ([1], []), ([], [])])
def test_what_is_empty_has_its_name(name, a, v):
    result, expected = (outcome(getattr(np, name), a, v) for np in (weft, numpy))
    assert (type(result), str(result)) == (type(expected), str(expected))


def test_parts_are_views():
    x = weft.arange(10)
    weft.split(x, 2)[1][0] = 99
    assert x[5] == 99
    weft.rot90(x.reshape(2, 5))[0, 0] = -1
    assert x[4] == -1
    weft.diag(x[:9].reshape(3, 3))
    with pytest.raises(ValueError, match="read-only"):
        weft.diag(x[:9].reshape(3, 3))[0] = 1


# ---- found by random programs ----


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_roll_keeps_the_memory_order_of_axes_of_length_one(axis):
    a = numpy.arange(12.0).reshape(2, 3, 2).transpose(2, 1, 0)
    x = weft.arange(12.0).reshape(2, 3, 2).transpose(2, 1, 0)
    assert weft.roll(x, 1, axis).strides == numpy.roll(a, 1, axis).strides


def test_joining_with_an_empty_part_keeps_c_order():
    ours, theirs = (
        m.concatenate([m.ones((1, 3))[m.zeros(0, "i8")], m.ones((1, 3)), m.ones((1, 3))])
        for m in (weft, numpy)
    )
    assert ours.strides == theirs.strides


def test_splitting_what_has_no_such_axis_is_an_index_error():
    with pytest.raises(IndexError, match="out of range"):
        weft.array_split(weft.array(1), 2)


def test_correlating_a_number_is_an_error():
    with pytest.raises(ValueError, match="too small depth"):
        weft.correlate(weft.array(2.0), weft.array([1.0]))


def test_empty_parts_have_a_say_in_the_memory_order():
    """By their strides, as in NumPy, where an empty slice counts as one of step 1."""

    def order(np):
        x = np.zeros((3, 2), "f4").T
        y = np.zeros((3, 2), "?")[1:-1, None, :]
        z = np.broadcast_to(np.zeros((2, 2, 2)), (3, 2, 2, 2))[None]
        return (
            np.concatenate([x, x[0:3:-1], x]).strides,
            np.concatenate([y, y[::2, :-2:1], y], axis=1).strides,
            np.concatenate([z, z[1:], z.copy()]).strides,
        )

    assert order(weft) == order(numpy)


def test_kron_with_a_number_is_a_product():
    for other in (3, numpy.float32(2)):
        result = weft.kron(weft.ones((1, 4, 1)), other)
        assert result.flags.owndata and result.shape == (1, 4, 1)


@pytest.mark.parametrize(
    "of",
    [
        lambda np, x: x[::2, 1::2],
        lambda np, x: x[:, :, 4::2],
        lambda np, x: x[1:1:-3],
        lambda np, x: np.repeat(x, 0, axis=-1),
        lambda np, x: np.repeat(x, 0, axis=0),
        lambda np, x: np.repeat(x, 0, axis=-1).T.sum(axis=0),
        lambda np, x: np.swapaxes(x[::2, 1::2, :, None], 2, 0).sum(axis=1),
    ],
)
def test_what_is_empty_has_the_strides_of_numpys(of):
    """They decide the memory order of what reductions over nothing give; random programs found it."""
    expected, result = of(numpy, numpy.zeros((3, 1, 4))), of(weft, weft.zeros((3, 1, 4)))
    assert (result.shape, result.strides) == (expected.shape, expected.strides)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "c16", "?", "i1"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_sums_of_products_that_slide(name, mode, dtype):
    """Few at a time one after another, many side by side."""
    generator = numpy.random.default_rng(5)
    for n, m in ((100, 3), (64, 64), (127, 64), (128, 64), (1000, 300), (3, 100), (500, 1)):
        a, v = ((generator.random(count) * 9).astype(dtype) for count in (n, m))
        expected = getattr(numpy, name)(a, v, mode)
        result = getattr(weft, name)(weft.asarray(a), weft.asarray(v), mode)
        assert result.shape == expected.shape and result.dtype == expected.dtype
        numpy.testing.assert_allclose(result, expected, rtol=1e-4 if dtype == "f4" else 1e-12)


# ---- every dtype and layout, and the words of errors ----

CALLS = """
np.repeat(x, 2); np.repeat(x, 3, 0); np.repeat(x, 2, -1); np.repeat(x, [0, 3, 1, 2], 1); np.repeat(x, [2], 0)
np.repeat(x, np.array([1, 0, 2], 'u1'), 0); np.repeat(x, np.arange(12) % 3); np.tile(x, (2, 3)); np.tile(x, (2, 1, 1))
np.tile(x, ()); np.resize(x, (5, 5)); np.resize(x, (2, 3)); np.resize(x, 24); np.append(x, x); np.append(x, x[:1], 0)
np.insert(x, 1, x[0], 0); np.insert(x, [0, 2, -1], x[1], 0); np.insert(x, slice(None, None, 2), x[:, :1], 1)
np.insert(x, 5, x[0, :2]); np.delete(x, 1, 0); np.delete(x, [0, -1], 1); np.delete(x, slice(None, None, -2), 1)
np.delete(x, np.array([True, False, True]), 0); np.delete(x, 3); np.rot90(x); np.rot90(x, 2); np.rot90(x, 3, (1, 0))
np.array_split(x, 3, 1)[1]; np.split(x, [1, -1], 1)[1]; np.hsplit(x, 2)[0]; np.vsplit(x, 3)[2]; np.unstack(x, axis=1)[2]
np.array_split(x, [3, 1, 9], 1)[1]; np.choose(np.arange(4) % 3, x); np.select([np.arange(4) > 2], [x[0]], x[1])
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("layout", ["C", "F", "reversed", "strided"])
def test_every_dtype_and_layout(dtype, layout):
    a = (numpy.arange(12) % 5).reshape(3, 4).astype(dtype)
    wide = numpy.repeat(numpy.repeat(a, 2, 0), 3, 1)
    a = {"C": a, "F": numpy.asfortranarray(a), "reversed": a[::-1, ::-1][::-1], "strided": wide[::2, ::3]}[
        layout
    ]
    x = weft.from_dlpack(a)
    with weft.device("cpu"):  # where NumPy's memory is
        for call in (each.strip() for each in CALLS):
            if call:
                expected = outcome(eval, call, {"np": numpy, "x": a})
                assert_same_outcome(outcome(eval, call, {"np": weft, "x": x}), expected)


ERRORS = """
np.repeat(v, -1); np.repeat(v, [1, 2]); np.repeat(v, [1] * 5 + [-1]); np.repeat(v, np.ones(6)); np.repeat(v, [[1]])
np.repeat(v, 2, 1); np.repeat(v, np.ones(6, 'u8')); np.tile(v, -1); np.resize(v, -1); np.resize(v, (2, -2))
np.append(v, m, 0); np.append(v, v, 1); np.insert(v, 7, 1); np.insert(v, [9], 1); np.insert(v, [0, 9], 1)
np.insert(v, -8, 1); np.insert(v, 1, 1, 1); np.insert(v, np.ones((2, 2), int), 1); np.insert(m, 0, 1, 2)
np.insert(v, np.array([0.5, 1.5]), 1); np.insert(m, 1, [1, 2, 3], 0); np.insert(v, [0, 1], [1, 2, 3])
np.delete(v, 6); np.delete(v, -7); np.delete(v, [0, 9]); np.delete(v, [-9, 0]); np.delete(v, [9]); np.delete(v, 1, 1)
np.delete(v, [True]); np.delete(v, np.array([0.5, 1.0])); np.delete(v, np.array([0.5])); np.delete(m, 2, 0)
np.array_split(v, 0); np.array_split(v, -1); np.array_split(v, 2, 1); np.split(v, 4); np.split(v, 0); np.split(v, 2, -2)
np.array_split(v, [1.5]); np.array_split(v, ['a']); np.hsplit(np.array(1), 2); np.vsplit(v, 2); np.dsplit(m, 2)
np.unstack(np.array(1)); np.unstack(v, axis=1); np.rot90(v); np.rot90(m, 1, (0, 0)); np.rot90(m, 1, (0, 2))
np.rot90(m, 1, (0,)); np.rot90(m, 1, (0, -2)); np.logspace(0, 1, -1); np.logspace(0, 1, 1.5); np.geomspace(0, 1)
np.geomspace(1, [1, 0]); np.geomspace(1, 2, -3); np.geomspace(1, 2, axis=1); np.logspace(0, 1, axis=3)
np.insert(np.array([1], 'i1'), 0, 300); np.insert(v, 2**70, 1); np.delete(v, 2**70); np.delete(v, slice(None, None, 0))
np.fromiter([1, 2], float, 3); np.fromiter(['a'], float); np.fromiter(5, float); np.lexsort([])
np.lexsort(([1], [1, 2])); np.lexsort(([1, 2],), 1)
np.add.at(v, [9], 1); np.add.at(v, [-7], 1); np.add.at(v, [0, 1], [1, 2, 3])
np.add.at(v, [0.5], 1); np.add.at([1], [0], 1); np.add.at(v, [0]); np.negative.at(v, [0], 1)
np.add.reduceat(v, [6]); np.add.reduceat(v, [-1]); np.add.reduceat(v, [[0]])
np.sin.reduceat(v, [0])
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("call", [each.strip() for each in ERRORS if each.strip()])
def test_words_of_errors(call):
    ours, theirs = (
        outcome(eval, call, {"np": np, "v": np.arange(6), "m": np.arange(8).reshape(2, 4)})
        for np in (weft, numpy)
    )
    assert isinstance(theirs, Exception)
    assert exception_kind(ours) == exception_kind(theirs), (ours, theirs)
    assert str(ours) == str(theirs)


def test_logarithms_evenly_spaced():
    for arguments in (
        (0, 3),
        (0, 3, 7, False),
        (0.5, 2, 4, True, 2),
        (0, [1, 2], 3),
        ([0, 1], 3, 4, True, [2.0, 3.0]),
        (0, 1, 3, True, numpy.float32(2)),
        (0, 2, 3, True, 10.0, int),
        (0, [1, 2], 3, True, 10.0, None, 1),
        (1j, 2, 3),
        (0, 1, 0),
        (0, 1, 1),
    ):
        ours, theirs = weft.logspace(*arguments), numpy.logspace(*arguments)
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        numpy.testing.assert_allclose(numpy.asarray(ours), theirs, rtol=1e-14)
    for arguments in (
        (1, 1000, 4),
        (-1, -8, 4),
        (1, 8, 3, False),
        (1j, 1000j, 4),
        (-1 + 0j, 1 + 0j, 5),
        ([1, 2], 16, 3),
        ([1, 2], [16, 32], 3, True, None, 1),
        (1, 8, 4, True, "f4"),
        (1, 8, 4, True, int),
        (numpy.float32(1), numpy.float32(2), 3),
        (1, 8, 0),
        (1, 8, 1),
    ):
        ours, theirs = weft.geomspace(*arguments), numpy.geomspace(*arguments)
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        # powers of ten by logarithms differ by some units
        numpy.testing.assert_allclose(numpy.asarray(ours), theirs, rtol=1e-6 if ours.itemsize == 4 else 1e-13)


def test_iterators_give_numbers_of_any_kind():
    for values in ([1, 2.5, 3], [True, 2], [2**40, 1], [2**70], [], [numpy.float32(1.5), 2], [1.0, None]):
        for dtype in ("f8", "i8", "f4", "u1", "?", "c16"):
            ours, theirs = (outcome(np.fromiter, iter(values), dtype) for np in (weft, numpy))
            if isinstance(theirs, Exception):
                assert exception_kind(ours) == exception_kind(theirs), (values, dtype, ours, theirs)
            else:
                assert_equal(ours, theirs)
    numbers = iter(range(10))
    assert weft.fromiter(numbers, int, 3).tolist() == [0, 1, 2] and next(numbers) == 3

    def failing():
        yield 1
        raise KeyError("x")

    with pytest.raises(KeyError):
        weft.fromiter(failing(), int)


def test_functions_at_positions_of_a_row():
    for dtype in ("i1", "u4", "i8", "f4", "f8", "c16"):
        for positions in ([0, 2, -1, 2, 2], [5], [], numpy.array([1, 1], "u1")):
            for value in (3, [2], None):
                a = numpy.arange(1, 7).astype(dtype)
                x = weft.array(a)
                ufuncs = ("negative",) if value is None else ("add", "multiply", "maximum", "subtract")
                for name in ufuncs:
                    if dtype == "c16" and name == "maximum":
                        continue
                    given = () if value is None else (value,)
                    ours, theirs = (
                        outcome(getattr(np, name).at, row, positions, *given)
                        for np, row in ((weft, x), (numpy, a))
                    )
                    assert exception_kind(ours) == exception_kind(theirs) if theirs else ours is None
                    assert_equal(x, a)
    x = weft.arange(4)
    weft.add.at(x, x, x)  # what is written is not read again
    assert x.tolist() == [0, 2, 4, 6]
    reduced = [
        (np.add, np.arange(6).astype(d), i)
        for np in (weft, numpy)
        for d in ("?", "u1", "i2", "f4")
        for i in ([0, 3], [3, 0, 3], [5])
    ]
    for (f, a, i), (g, b, _) in zip(reduced[: len(reduced) // 2], reduced[len(reduced) // 2 :]):
        assert_equal(f.reduceat(a, i), g.reduceat(b, i))


BLOCKS = [
    [],
    [[]],
    [[1], []],
    [[], [1]],
    [[1, 2], [3]],
    [[1], 2],
    [1, [2]],
    [[[1]], [2]],
    ((1, 2),),
    [[1, 2], (3, 4)],
    [[numpy.ones((2, 2)), numpy.zeros((1, 2))]],
    [[numpy.ones((1, 2)), numpy.zeros((1, 1))], [numpy.zeros((1, 3))]],
    [numpy.ones(2), 3],
    [[numpy.ones(2)], [numpy.arange(2)]],
    [[[numpy.ones((2, 2))]], [[numpy.ones((1, 2))]]],
    numpy.arange(6).reshape(2, 3).T,
    5,
    "ab",
    [["a", "bcd"]],
    [[numpy.array(["2020"], "M8[D]")], [numpy.array(["2021"], "M8[D]")]],
    [[numpy.int8(1), numpy.float32(2)]],
]


@pytest.mark.parametrize("blocks", BLOCKS, ids=repr)
def test_blocks_are_numpys(blocks):
    try:
        expected = numpy.block(blocks)
    except Exception as error:
        with pytest.raises(type(error)) as raised:
            weft.block(blocks)
        if not isinstance(blocks, list) or "dimension" not in str(error):
            assert str(raised.value) == str(error)
        return
    result = weft.block(blocks)
    assert isinstance(result, weft.ndarray) and result.dtype == expected.dtype
    assert result.tolist() == expected.tolist() and result.flags.c_contiguous == expected.flags.c_contiguous


def test_blocks_without_end():
    blocks = []
    blocks.append(blocks)
    for np in (numpy, weft):
        with pytest.raises(RecursionError):
            np.block(blocks)


def test_trimmed_zeros_are_of_the_same_kind():
    for np in (numpy, weft):
        assert np.trim_zeros((0, 0, 1, 0), "b") == (0, 0, 1)
        assert np.trim_zeros([0, 0, 1, 0]) == [1]
        a = np.zeros((3, 4))
        a[1, 2] = np.nan
        assert np.trim_zeros(a).shape == (1, 1) and np.trim_zeros(a, axis=1).shape == (3, 1)
        assert np.shares_memory(np.trim_zeros(a), a)
        assert np.trim_zeros(np.zeros((3, 4))).size == 0
        for wrong in ("x", "", "ffb"):
            with pytest.raises(ValueError):
                np.trim_zeros(a, wrong)
        with pytest.raises(ValueError):
            np.trim_zeros(a, axis=5)


def test_shifts_in_lists_of_lists():
    """They were a TypeError."""
    for np in (numpy, weft):
        for shift, axis in (([[1]], 0), (np.array([[1]]), 0)):
            with pytest.raises(ValueError):
                np.roll(np.arange(6).reshape(2, 3), shift, axis=axis)
