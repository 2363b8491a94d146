"""Corners of NumPy's behaviour that random programs found: each program's whole outcome is NumPy's."""

import pathlib
import sys
import warnings

import numpy
import pytest
import weft

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "fuzz"))

import execute

PROGRAMS = {
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
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_outcome(program):
    lines = [line.strip() for line in PROGRAMS[program].strip().splitlines()]
    steps = [execute.Step(line, check=True) for line in lines]
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failure = execute.run_program(steps, execute.Subject(weft))
    assert failure is None, execute.script(steps, failure)
