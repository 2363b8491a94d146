"""Corners of NumPy's behaviour that random programs found: each program's whole outcome is NumPy's."""

import pathlib
import sys
import warnings

import numpy
import pytest
import weft

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "fuzz"))

import execute

PROGRAMS = {
    "what put, place and putmask take of arrays": """
        x1 = np.arange(6)
        np.putmask(x1, x1 > 2, np.array([1.5]))
        np.putmask(x1, x1 > 2, 1.5)
        np.place(x1, x1 > 2, np.array([1.5]))
        np.place(x1, x1 > 2, [1.5])
        np.put(x1, [0], np.array([2.5]))
        np.put(x1, np.array([0], 'u8'), 1)
        np.put(x1, np.array([0.0]), 1)
        np.put(x1, [1.0], 9)
        x2 = np.arange(4).astype('i1')
        np.place(x2, x2 > 2, [300])
        np.putmask(x2, x2 > 1, np.array([3], 'i2'))
        np.put(x2, [], np.zeros(3, 'u8'))
        x3 = np.choose(np.array([1, 0], 'u8'), [[1, 2], [3, 4]])
    """,
    "place and putmask refuse what is read-only even where nothing is selected": """
        x1 = np.broadcast_to(np.arange(3), (2, 3))
        np.place(x1, x1 > 90, [1])
        np.putmask(x1, x1 > 90, 1)
        np.put(x1, [], 1)
    """,
    "a NumPy scalar stored at computed positions wraps, a number has to fit": """
        x1 = np.ones((2, 3), 'i1')
        x1[[0]] = np.uint8(200)
        x1[x1 > 0] = np.int64(300)
        x1[:, [0]] = np.float64(300.5)
        x1[0, [1, 2]] = 200
        x1[[0]] = [300]
        x1[[1]] = [[3]]
    """,
    "copyto with a mask drops leading ones, and looks at the cast first": """
        x1 = np.zeros((2, 3))
        np.copyto(x1, np.ones((1, 2, 3)), where=np.array([True, False, True]))
        np.copyto(x1, np.ones((2, 2, 3)), where=np.array([True, False, True]))
        np.copyto(x1, np.ones((2, 3), 'c8'), where=np.ones((4, 2, 3), '?'))
        np.copyto(x1, np.ones((2, 3)), where=np.ones((1, 2, 3), '?'))
    """,
    "the memory order of what is sorted, chosen, padded and rolled": """
        x1 = np.arange(24).reshape(2, 3, 4)
        x2 = np.argsort(x1.T, axis=0)
        x3 = np.sort(x1.T, axis=0)
        x4 = np.unique(x1.T, axis=1)
        x5 = np.choose(x1.T % 2, [x1.T, x1.T + 1])
        x6 = np.pad(x1.T, 1, 'wrap')
        x7 = np.pad(x1.T, 1, 'constant')
        x8 = np.pad(x1.T[:2], 1, 'edge')
        x9 = np.roll(np.broadcast_to(x1, (5, 2, 3, 4)), (1, 2), axis=(0, -1))
        x10 = np.nan_to_num(x1.T)
        x11 = np.lexsort([x1.T])
        x12 = np.repeat(x1, 2, axis=1)
        p13 = x12.flags.owndata
        x14 = np.nan_to_num(np.array([complex(-0.0, np.nan), complex(np.inf, 2)]))
    """,
    "what is empty may be partitioned anywhere": """
        x1 = np.partition(np.zeros(0), 3)
        x2 = np.partition(np.zeros((3, 0)), -1)
        x3 = np.argpartition(np.zeros((0, 3)), 7)
        x4 = np.partition(np.zeros(3), 7)
    """,
    "a cast that is refused comes before shapes that do not fit": """
        x1 = np.zeros(3, 'i4')
        x1 += np.zeros((2, 4))
        np.add(np.zeros(5), 1, out=x1)
    """,
    "a 0-d array has one axis for reductions": """
        x1 = np.array(3.5)
        x2 = x1.sum(axis=0)
        x3 = np.max(x1, axis=-1, keepdims=True)
        x4 = x1.any(axis=1)
    """,
    "the maximum of nothing is refused even where there are no results": """
        x1 = np.zeros((0, 0))
        x2 = x1.max(axis=1)
        x3 = np.zeros((0, 3)).max(axis=1)
        x4 = np.zeros((0, 3)).min(axis=0)
    """,
    "eye has a diagonal that can be written": """
        x1 = np.eye(3, k=1)
        x1[...] = 2
        x2 = np.eye(2, 3, k=-1, dtype='c8')
    """,
    "one element cannot hold an array": """
        x1 = np.zeros(3)
        x1[0] = np.ones(2)
        x1[0] = np.ones(1)
        x2 = np.zeros(3, 'c16')
        x2[0] = np.ones(1)
        x3 = np.zeros(3, '?')
        x3[0] = np.ones(1)
        x3[1] = np.ones(2)
        x1[1] = np.array(4)
        x4 = np.zeros(3, 'i2')
        x4[-1] = x4[:1]
        x4[...] = x4[:1]
    """,
    "a NumPy scalar that does not fit a signed integer is refused, for an unsigned one it wraps": """
        x1 = np.zeros(3, 'i1')
        x1[...] = np.uint8(200)
        x1[0] = np.int64(-129)
        x1[1:] = np.array(200)
        x1.fill(np.uint8(200))
        x2 = np.zeros(3, 'u4')
        x2[...] = np.int64(-1)
        x2[0] = -1
        x1[2] = np.float64(300.5)
        x1[2] = np.float64(nan)
        x1[2] = np.float64(-7.5)
    """,
    "clip takes Python integers beyond the dtype": """
        x1 = np.array([0, 3, 200], dtype='u1')
        x2 = np.clip(x1, -2, 3)
        x3 = np.clip(x1, 1, 300)
        x4 = x1.clip(-1, 1000)
        x5 = np.clip(x1, None, 3)
        x6 = np.clip(x1, 300, 2)
    """,
    "scalars copy and convert to scalars": """
        x1 = np.array([1.5, 2.5])[0]
        x2 = x1.copy()
        x3 = x1.astype('f4')
        x4 = x1.astype('i8', copy=False)
        x5 = np.array(1.5).astype('f4')
        x6 = np.array(1.5).copy()
    """,
    "concatenation of everything in one row": """
        x1 = np.arange(6.0).reshape(2, 3)
        x2 = np.concatenate([x1, x1.T], axis=None)
        x3 = np.concatenate([x1, np.array(1)], axis=None)
        x4 = np.concatenate([np.array(1), np.array(2)])
    """,
    "a range of complex numbers": """
        x1 = np.arange(3, 14, 2, dtype='c16')
        x2 = np.arange(3, dtype='c8')
    """,
    "counts are integers of the platform": """
        x1 = np.count_nonzero(np.eye(3))
        x2 = np.count_nonzero(np.eye(3), axis=0)
    """,
    "the strides of imaginary parts": """
        x1 = np.arange(6.0, dtype='f4').reshape(2, 3).T
        x2 = np.imag(x1)
        x3 = x1.imag
        x4 = np.zeros((1, 4, 1), 'c8')
        x5 = np.imag(x4)
        x6 = x5.ravel()
        x7 = x4.real.reshape(-1)
        x8 = x4[0, ::2].real.ravel()
    """,
    "a 0-d array has one axis to squeeze": """
        x1 = np.array(3.5)
        x2 = np.squeeze(x1, axis=0)
        x3 = x1.squeeze(axis=-1)
        x4 = x1.squeeze(axis=1)
    """,
    "another shape in the prototype's order of axes": """
        x1 = np.zeros((3, 2)).T
        x2 = np.ones_like(x1, shape=(4, 5))
        x3 = np.zeros_like(np.zeros((4, 6))[::2, ::2].T, shape=(2, 3))
        x4 = np.full_like(x1, 3, shape=(2, 3, 4))
        x5 = np.zeros_like(x1, order='C', shape=(2, 3))
        x6 = np.zeros_like(x1, order='A', shape=(2, 3))
    """,
    "the memory order of comparisons that are decided by the dtype": """
        x1 = np.arange(6, dtype='u1').reshape(3, 1, 2).T
        x2 = np.equal(x1, 300)
        x3 = x1 < -1
        x4 = np.imag(np.broadcast_to(np.zeros((2, 3), 'u1'), (3, 2, 3)))
        x5 = np.ones_like(np.broadcast_to(np.ones((1, 3)), (2, 3)), shape=(2, 3))
    """,
    "Python integers are converted before the result's cast is checked": """
        x1 = np.zeros(3, '?')
        np.add(np.zeros(3, 'u1'), 300, out=x1)
        np.add(np.zeros(3, 'u1'), 3, out=x1)
        x2 = np.power(np.zeros(0, 'i4'), -1)
        x3 = np.power(np.zeros(1, 'i4'), -1)
    """,
    "what is held stays when a reduction two operations later reads it": """
        x1 = np.arange(5000)
        x1 += x1
        x2 = (x1 != 4).sum()
        x3 = x1 + 1
        x4 = (x3 * 2.5).max()
    """,
    "flip of a 0-d array": """
        x1 = np.flip(np.array(3))
        x2 = np.flip(np.zeros(()), axis=())
        x3 = np.flip(np.array(3), axis=0)
    """,
    "a 0-d array has no axis for means": """
        x1 = np.array(3.5)
        x2 = np.mean(x1, axis=0)
        x3 = x1.var(axis=-1)
        x4 = np.arange(4.0).mean(axis=1)
    """,
    "Python integers wrap in where": """
        x1 = np.array([1, 2, 3], dtype='u1')
        x2 = np.where(x1 > 1, 300, x1)
        x3 = np.where(x1 > 1, x1, -129)
        x4 = np.where(x1 > 1, 2**64, x1)
        x5 = np.where([True, False], 1, 2.5)
        x6 = np.where([True, False], (1, 2), 0)
    """,
    "the memory order of what comes from broadcast arrays": """
        x1 = np.broadcast_to(np.arange(17), (2, 17))
        x2 = np.where(x1, x1, x1)
        x3 = np.where(x1, x1, 0)
        x4 = np.broadcast_to(np.arange(4.0), (3, 4))
        x5 = np.stack([x4, x4], axis=-1)
        x6 = np.concatenate([x4, x4.copy()])
        x7 = x4 + x4
        x8 = x4.copy('K')
    """,
    "no array is stored in the place of a 0-d array's element": """
        x1 = np.array(1.5)
        x1[()] = np.ones((1, 1))
        x1[...] = np.ones((1, 1))
        x1[()] = np.array(7)
    """,
    "a bool's byte counts as true unless it is 0": """
        x1 = np.array([True, False, True, True, False, True])
        x1.view('int8').fill(-np.float32(1.5))
        x1[1::3] = False
        x2 = np.mean(x1, dtype='u8')
        x3 = x1.astype('u8')
        x4 = x1.sum()
        x5 = np.add(x1, np.int8(3))
        x6 = x1.argmax()
        x7 = x1.argmin()
        x8 = np.count_nonzero(x1)
        x9 = x1.any()
        x10 = x1.all()
        x11 = np.prod(x1[2:4])
        x12 = x1.reshape(2, 3).sum(axis=0)
        x13 = np.where(x1, 1, 2)
        x14 = x1.view('i1')
        p1 = x1.tolist()
        p2 = int(x1[0])
        x15 = np.power(x1[2:4], np.array([3, 2], dtype='u1'))
        x16 = x1 * 2.5
        x17 = x1 < 1
        x18 = x1 == True
        x19 = x1.argmax(axis=0)
    """,
    "operations make 0 or 1 of a bool's byte": """
        x1 = np.array([True, False, True, True, False, True])
        x1.view('int8').fill(-1)
        x1[::3] = False
        x2 = np.ones(6, dtype='?')
        x3 = (x1 & x2).view('i1')
        x4 = (x1 | x2).view('i1')
        x5 = (x1 ^ x2).view('i1')
        x6 = (~x1).view('i1')
        x7 = np.maximum(x1, x1).view('i1')
        x8 = np.minimum(x1, x2).view('i1')
        x9 = (x1 + x1).view('i1')
        x10 = np.logical_and(x1, x2).view('i1')
        x11 = (x1 == x2).view('i1')
        x12 = (x1 <= x2).view('i1')
        x13 = (x1 > x1).view('i1')
        x14 = np.absolute(x1).view('i1')
        x15 = x1.reshape(2, 3).any(axis=0).view('i1')
        x16 = x1.reshape(2, 3).max(axis=0).view('i1')
        x17 = x1.reshape(1, 6).any(axis=0).view('i1')
        x18 = np.array(x1[1]).view('i1')
        x19 = x1[1:2].max()
        p1 = x19.tolist()
    """,
    "what only moves values keeps a bool's byte": """
        x1 = np.array([True, False, True, True, False, True])
        x1.view('int8').fill(-1)
        x1[::3] = False
        x2 = x1.copy().view('i1')
        x3 = x1[::-2].copy().view('i1')
        x4 = x1.astype('?').view('i1')
        x5 = np.concatenate([x1, x1]).view('i1')
        x6 = np.where(x1, x1, np.ones(6, '?')).view('i1')
        x7 = np.floor(x1).view('i1')
        x8 = np.clip(x1, x1, x1).view('i1')
        x9 = np.zeros(6, '?')
        x9[...] = x1
        x10 = x9.view('i1')
        x11 = np.zeros(6, '?')
        np.copyto(x11, x1, where=x1)
        x12 = x11.view('i1')
        x13 = np.zeros(2, '?')
        x13[0] = x1[1]
        x14 = x13.view('i1')
        p1 = x1.tobytes()
    """,
    "the memory order of counts over broadcast arrays": """
        x1 = np.broadcast_to(np.arange(6.0, dtype='f4').reshape(3, 2), (2, 3, 2))
        x2 = np.count_nonzero(x1, axis=2)
        x3 = np.count_nonzero(np.broadcast_to(np.arange(6, dtype='u2').reshape(3, 2), (3, 3, 2)), axis=2)
        x4 = np.count_nonzero(np.broadcast_to(np.eye(3, dtype='?'), (2, 3, 3)), axis=2)
    """,
    "the memory order of reductions over an empty axis": """
        x1 = np.ones((8, 25, 30), 'i4')[2:, -23::2, 1:-26:-2]
        x2 = np.sum(x1.T, axis=-3)
        x3 = x1.T.any(axis=0, keepdims=True)
        x4 = x1.T.max(axis=0, initial=3)
    """,
    "too many indices are refused before a step of zero": """
        x1 = np.array(3.5)
        x2 = x1[::0]
        x3 = np.zeros(3)[0, ::0]
        x4 = np.zeros(3)[::0]
        x5 = np.zeros((3, 3))[:, 2:1:0]
    """,
    "a range of bools": """
        x1 = np.arange(-2, 2, 2, dtype='?')
        x2 = np.arange(2, dtype='?')
        x3 = np.arange(1, dtype='?')
        x4 = np.arange(0, dtype='?')
        x5 = np.arange(3, dtype='?')
        x6 = np.arange(1, 3, dtype='?')
    """,
    "the memory order of broadcast arrays in one row": """
        x1 = np.broadcast_to(np.arange(6.0).reshape(2, 3), (2, 2, 3))
        x2 = x1.ravel('K')
        x3 = x1.T.ravel('K')
        x4 = np.arange(24).reshape(2, 3, 4)[:, ::-1, ::2].transpose(1, 2, 0).ravel('K')
    """,
    "what comes from NumPy owns its memory": """
        x1 = data('u4', (2, 0), 15)
        x2 = data('f4', (2, 3), 15)
        p1 = x1.flags.owndata, x1.base is None, x2.flags.owndata, x2.base is None
    """,
    "Python integers are converted to dtype= before casts are checked": """
        x1 = np.remainder(300, np.eye(3), dtype=np.int8)
        x2 = np.remainder(30, np.eye(3), dtype=np.int8)
        x3 = np.bitwise_and(2**40, np.array([3j])[0], dtype='uint32')
        x4 = np.add(np.zeros(3, 'i4'), 300, dtype='i1', casting='no')
        x5 = np.clip(np.zeros(3), 300, 2, dtype='i1')
        x6 = np.bitwise_and(300, np.zeros(3, 'i1'), dtype='f8')
        x7 = np.power(-300, np.zeros(3, 'f4'), dtype='i1')
        x8 = np.add(2**64, np.zeros(3, 'c16'), dtype='i1')
    """,
    "a Python integer by itself is an array of int64 or uint64": """
        x1 = np.negative(300, dtype='i1')
        x2 = np.negative(-3, dtype='u1')
        x3 = np.negative(2**63)
        x4 = np.bitwise_count(2**63)
        x5 = np.sqrt(2**70)
        x6 = np.floor(300, dtype='i1')
    """,
    "copyto asks whether scalars may be cast": """
        x1 = np.zeros(3, 'i1')
        np.copyto(x1, 3.5)
        np.copyto(x1, 3.5, where=[True, False, True])
        np.copyto(x1, 3.5, casting='unsafe')
        np.copyto(x1, 3)
        np.copyto(x1, 300)
        np.copyto(x1, True)
        np.copyto(x1, np.float64(2))
        np.copyto(x1, 3j)
        x2 = np.zeros(2, '?')
        np.copyto(x2, 3)
        np.copyto(x2, True, where=[True, False])
    """,
    "NumPy's scalars go into signed integers by way of Python's": """
        x1 = np.zeros(3, 'i1')
        x1[0] = np.complex128(300)
        x1[1:] = np.complex64(1e30)
        x1.fill(np.complex128(nan))
        x1[0] = np.complex128(7)
        x1[:] = [np.int64(300), 1, 3]
        x2 = np.array([np.float64(300), np.uint8(2)], dtype='i1')
        x3 = np.array([np.uint8(200)], dtype='i1')
        x4 = np.array([np.float64(100.5), np.complex128(3)], dtype='i1')
        x5 = np.zeros(2, 'u1')
        x5[:] = np.complex128(300)
        x5[0] = np.int64(-1)
        x6 = np.array([np.int64(300)], dtype='u1')
    """,
    "the base of a view is the owner": """
        x1 = np.arange(6.0).reshape(2, 3).copy()
        p1 = x1.base is None
        x2 = x1[1:]
        p2 = x2.base is x1
        p3 = x2[:, ::2].T.base is x1
        p4 = x1.reshape(-1).view('i8').base is x1
        p5 = x1.T.reshape(-1).base is None, x1.T.reshape(-1).flags.owndata
        p6 = x1.T.ravel().base is None, x1.ravel().base is x1
        p7 = np.broadcast_to(x1, (2, 2, 3)).base is x1, np.flip(x1).base is x1, np.flip([1, 2]).base is None
        p8 = x1.squeeze() is x1, x1[None].squeeze().base is x1
        p9 = x1.sum(axis=0, keepdims=True).base is None, (x1 + 1).base is None, x1.real.base is None
        x3 = np.ones(3, 'c16')
        p10 = x3.imag.base is x3, x1.imag.base is None, np.array(x1, ndmin=3).base is x1
        x1.base = None
        p11 = x1.astype('f8', copy=False).base is None, x1.flatten().base is None, x1[0, 0].base is None
        p12 = x1.diagonal().base is x1, np.expand_dims(x1, 0).base is x1, x1.mT.base is x1
    """,
    "setting the shape makes no view of an owner": """
        x1 = np.zeros(6)
        x1.shape = (2, 3)
        p1 = x1.flags.owndata, x1.base is None
        x2 = x1[:]
        x2.shape = 6
        p2 = x2.flags.owndata, x2.base is x1
        x1.shape = 7
    """,
    "a view may be written when an array below it may": """
        x1 = np.zeros((3, 3))
        x2 = x1[1:]
        x2.flags.writeable = False
        x2.flags.writeable = True
        x3 = x1.diagonal()
        x3.flags.writeable = True
        x3[...] = 1
        x1.flags.writeable = False
        x2.flags.writeable = False
        x2.flags.writeable = True
        x4 = x1[0]
        x4[0] = 1
        x1.flags.writeable = True
    """,
    "copyto of an array into itself writes nothing": """
        x1 = np.arange(3.0)
        x1.flags.writeable = False
        np.copyto(x1, x1)
        np.copyto(x1, x1[:], where=[True, False, True])
        np.copyto(x1, x1[::-1])
        x1[...] = x1
        x1 += x1
        x2 = np.array(1.0)
        x2.flags.writeable = False
        np.copyto(x2, x2)
    """,
}


@pytest.mark.parametrize("small", [4096, 0])
@pytest.mark.parametrize("program", PROGRAMS)
def test_outcome(program, small):
    lines = [line.strip() for line in PROGRAMS[program].strip().splitlines()]
    steps = [execute.Step(line, check=True) for line in lines]
    with numpy.errstate(all="ignore"), warnings.catch_warnings(), weft.config(small=small):
        warnings.simplefilter("ignore")
        failure = execute.run_program(steps, execute.Subject(weft))
    assert failure is None, execute.script(steps, failure)


@pytest.mark.parametrize(
    "make",
    [
        lambda np: np.zeros((0, 4)),
        lambda np: np.zeros((0, 4, 5)).T + 2.0,
        lambda np: np.zeros((4, 0, 5), bool) + 2.0,
        lambda np: -np.zeros((3, 0)),
        lambda np: np.zeros((0, 4, 5)).T.astype("i4"),
        lambda np: np.zeros((0, 4, 5)).sum(axis=1),
        lambda np: np.zeros((3, 4, 0)).sum(axis=2),
        lambda np: (np.zeros((3, 4, 0)).T + 1).sum(axis=0),
        lambda np: np.concatenate([np.zeros((0, 4)), np.zeros((0, 4))]),
        lambda np: np.stack([np.zeros((0, 4)), np.zeros((0, 4))]),
        lambda np: np.empty_like(np.zeros((4, 3))[:, 3:].T, shape=(2, 0)),
        lambda np: np.zeros((3, 4))[3:],
        lambda np: np.zeros((0, 4)).reshape(2, 0),
        lambda np: np.zeros((0, 4)).ravel(),
        lambda np: np.arange(0),
        lambda np: np.zeros((0, 3)) @ np.zeros((3, 0)),
        lambda np: np.cumsum(np.zeros((0, 3)), axis=1),
    ],
)
def test_strides_of_arrays_without_elements(make):
    """Random programs do not compare these strides, but later orders of memory depend on them."""
    expected, actual = make(numpy), make(weft)
    assert actual.shape == expected.shape
    assert actual.strides == expected.strides


def test_complex_powers_of_zeros_infinities_and_nan():
    """Which parts of a plane they lie in is NumPy's; complex64 is computed in float64 and rounded."""
    parts = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 3.0, numpy.inf, -numpy.inf, numpy.nan, 100.0]
    numbers = numpy.array([complex(re, im) for re in parts for im in parts])

    def kinds(z):
        odd = numpy.isnan(z), numpy.isinf(z.real) | numpy.isinf(z.imag), z == 0
        return numpy.select(odd, ["nan", "infinite", "zero"], "number")

    with numpy.errstate(all="ignore"):
        expected = numpy.power(numbers[:, None], numbers)
        expected_narrow = expected.astype("c8")
    for small in (1 << 20, 0):
        with weft.config(small=small):
            result = numpy.asarray(weft.array(numbers[:, None]) ** weft.array(numbers))
            narrow = numpy.asarray(weft.array(numbers[:, None], "c8") ** weft.array(numbers, "c8"))
        assert (kinds(result) == kinds(expected)).all()
        assert (kinds(narrow) == kinds(expected_narrow)).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda np: np.cross(1, [1, 2, 3]),
        lambda np: np.cross(np.ones((2, 3)), np.ones((2, 3)), axisa=5),
        lambda np: np.rot90(np.arange(4).reshape(2, 2), k=2.0).tolist(),
        lambda np: (
            np.rot90(np.arange(4).reshape(2, 2), k=2.5).tolist() if numpy.__version__ < "2.5" else None
        ),
        lambda np: [np.roots(np.array([1, 0, -1], dtype)).dtype.name for dtype in "ifdFD"],
        lambda np: np.finfo(np.dtype(">f4")).dtype.name,
        lambda np: np.finfo(">c16").dtype.name,
    ],
)
def test_corners_that_comparing_both_versions_showed(call):
    def result(np):
        try:
            return call(np)
        except ValueError as error:
            return isinstance(error, IndexError)

    assert result(weft) == result(numpy)


@pytest.mark.parametrize(
    "name", ["broadcast", "finfo", "flatiter", "random.SeedSequence", "random.BitGenerator"]
)
def test_classes_show_what_their_instances_have(name):
    def of(np):
        for part in name.split("."):
            np = getattr(np, part)
        return np

    public = [each for each in vars(of(numpy)) if not each.startswith("_") or each == "_seed_seq"]
    assert [each for each in public if not hasattr(of(weft), each)] == []


def test_the_dtype_of_a_masked_array_can_be_set():
    for np in (numpy, weft):
        x = np.ma.array([1, 2, 3], mask=[0, 1, 0], dtype=float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            x.dtype = np.int64
        assert x.dtype == "int64"
        assert x.mask.tolist() == [False, True, False]


def test_what_nditer_writes_back_says_so_until_it_is():
    swapped = weft.arange(6, dtype="f4").astype(">f4")
    it = weft.nditer(
        swapped, [], [["readwrite", "updateifcopy"]], casting="equiv", op_dtypes=[weft.dtype("f4")]
    )
    with it:
        x = it.operands[0]
        x[:] = 6
        assert x.flags.writebackifcopy
    assert swapped.tolist() == [6] * 6
    assert not x.flags.writebackifcopy


def test_iterators_of_a_broadcast():
    for np in (numpy, weft):
        x = np.arange(2)
        together = np.broadcast(x, [[3], [4]])
        assert together.iters[0].base is x
        assert [list(map(int, each)) for each in together.iters] == [[0, 1, 0, 1], [3, 3, 4, 4]]
        assert len(together.iters[1]) == 4
        with pytest.raises(ValueError):
            np.broadcast(*[x] * 65)
        with pytest.raises(ValueError):
            np.broadcast(x, y=x)
