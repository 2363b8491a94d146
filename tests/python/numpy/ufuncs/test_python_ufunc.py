"""frompyfunc, against NumPy: arrays of objects, of the same types."""

import copy
import pickle
import warnings

import numpy
import pytest
import weft
from comparing import exception_kind, outcome

PROGRAMS = """
f(1, 2); f(1.5, True); f([1, 2, 3], 2); f(m, [[1], [2]]); f(m.T, m.T * 0.5); f(np.zeros(0), 2); f([1, 2], [1, 2, 3])
f(); f(1, 2, 3, 4); f([1, 2], 3, out=np.zeros(2, dtype=wide)); f([1, 2], 3, np.zeros((2, 2), dtype=wide))
f([1, 2], 3, out=np.zeros(2, dtype=wide), where=[True, False]); f(m, m > 2, out=np.zeros((2, 3), dtype=wide))
f.reduce([1, 2, 3]); f.reduce(m); f.reduce(m, axis=1); f.reduce(m, 1, keepdims=True); f.reduce([]); f.reduce(5)
f.reduce(m, axis=None); f.reduce(m[0], axis=None); f.reduce(m, axis=-1, initial=5); f.reduce(np.zeros((2, 0)), axis=1)
f.reduce(m, axis=2); zero.reduce([]); zero.reduce(np.zeros((2, 0)), axis=1); zero.reduce([1, 2])
f.accumulate([1, 2, 3]); f.accumulate(m); f.accumulate(m, axis=1); f.accumulate(5)
f.accumulate(np.zeros((2, 0)), axis=1); f.reduceat([1, 2, 3, 4], [0, 2])
f.reduceat(m, [0, 2, 1], axis=1); f.reduceat([1, 2], [0, 2]); f.reduceat([1, 2], [-1])
f.outer([1, 2], [3, 4]); f.outer(m, [1.5]); f.outer(1, 2); one.outer(1, 2)
one.reduce([1]); one.accumulate([1]); two.reduce([1]); one(m); one(-3); two([1, 2]); two(1); two(m)[1]; three(2, 3)
one.nin, one.nout, one.nargs, one.ntypes, one.types, one.identity, one.signature, one.__name__, repr(one)
f.types, two.types, zero.identity, three.nin, three.nargs
np.frompyfunc(3, 1, 1); np.frompyfunc(len, 1, 1).__name__; f.at([1, 2], 0, 3); one(m[::-1, ::2]); f(m, 2)[0] + 1
one(True); one([True, False]); one([1j, 2]); one(np.float32(2)); one(m.astype(np.float32)); f(2, m)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("program", [p.strip() for p in PROGRAMS if p.strip()])
def test_programs(program):
    def run(np):
        names = {
            "np": np,
            "m": np.arange(6).reshape(2, 3),
            "wide": object,
            "f": np.frompyfunc(lambda a, b: a + b * 2, 2, 1),
            "zero": np.frompyfunc(lambda a, b: a + b, 2, 1, identity=0),
            "one": np.frompyfunc(lambda a: -a if a == 2 else a, 1, 1),
            "two": np.frompyfunc(lambda a: (a, a * 0.5), 1, 2),
            "three": np.frompyfunc(lambda a, b: (a, b, a < b), 2, 3),
        }
        return eval(program, names)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, result = outcome(run, numpy), outcome(run, weft)
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), result
        return
    if not isinstance(expected, tuple):
        expected, result = (expected,), (result,)
    for theirs, ours in zip(expected, result, strict=True):
        if not isinstance(theirs, numpy.ndarray):
            assert ours == theirs
            assert type(ours) is type(theirs) or isinstance(theirs, numpy.generic)
            continue
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        assert ours.tolist() == theirs.tolist()
        for one, other in zip(ours.ravel().tolist(), theirs.ravel().tolist(), strict=True):
            assert type(one) is type(other)


@pytest.mark.parametrize("dtype", [object, float])
def test_at(dtype):
    x, y = numpy.arange(6).reshape(2, 3).astype(dtype), weft.arange(6).reshape(2, 3).astype(dtype)
    for np, target in ((numpy, x), (weft, y)):
        np.frompyfunc(lambda a, b: 10 * a + b, 2, 1).at(target, ([0, 1, 0], [2, 0, 2]), [1, 2, 3])
        np.frompyfunc(lambda a: -a, 1, 1).at(target, (slice(None), [0, 1, 1]))
    assert y.tolist() == x.tolist()


def test_what_is_no_number_is_an_object():
    x = weft.arange(3.0)
    assert weft.frompyfunc(str, 1, 1)(x).tolist() == ["0.0", "1.0", "2.0"]
    assert weft.frompyfunc(lambda a: [a], 1, 1)(x).tolist() == [[0.0], [1.0], [2.0]]
    assert weft.frompyfunc(lambda a: 10**30, 1, 1)(x).tolist() == [10**30] * 3
    assert weft.frompyfunc(str, 1, 1)(2) == "2"  # of values alone it is what the function gives
    with pytest.raises(ZeroDivisionError):
        weft.frompyfunc(lambda a: 1 / a, 1, 1)(x)
    assert x.tolist() == [0, 1, 2]


def test_it_is_a_ufunc():
    function = weft.frompyfunc(lambda a, b: a, 2, 1)
    assert isinstance(function, weft.ufunc)
    assert copy.copy(function) is function
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(function)
