"""Host-resident values take fast paths; here they meet what those must leave to the general path, against NumPy."""

import itertools
import math
import operator
import pathlib
import threading
import tomllib

import numpy
import pytest
import weft
from comparing import DTYPES, assert_equal, exception_kind, launches, outcome, values

NUMBERS = [
    0,
    1,
    -1,
    127,
    255,
    300,
    2**31,
    -(2**63),
    2**63,
    2**64,
    2**70,
    1.5,
    -0.0,
    1e300,
    float("nan"),
    True,
    2j,
]


def same(expected, result):
    """The same outcome; where there is no error, the same values."""
    if isinstance(expected, Exception) or isinstance(result, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
    else:
        assert_equal(result, expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_elements_take_numbers_as_numpy_does(dtype):
    theirs = values(dtype, 12).reshape(3, 4)
    ours = weft.array(theirs)
    for number, index in itertools.product(NUMBERS, [(1, 2), (-1, -4)]):

        def assign(x, number=number, index=index):
            x[index] = number
            return x[index]

        if isinstance(number, float) and dtype.kind in "iu" and (number != number or abs(number) > 1e18):
            assert isinstance(outcome(assign, ours), Exception)
            assert isinstance(outcome(assign, theirs), Exception)
            continue
        same(outcome(assign, theirs), outcome(assign, ours))
        assert_equal(ours, theirs)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_elements_take_scalars_as_numpy_does(dtype):
    for other in DTYPES:
        if other.kind == "c" and dtype.kind != "c":
            continue  # a warning of NumPy's
        theirs, source = numpy.zeros(3, dtype), values(other, 8, positive=True)[4:6]
        ours, ours_source = weft.array(theirs), weft.array(source)

        def assign(x, y):
            x[1] = y[0]
            x[-1] = y[1]

        expected, result = outcome(assign, theirs, source), outcome(assign, ours, ours_source)
        assert exception_kind(result) == exception_kind(expected)
        if dtype.kind in "iu" and other.kind == "f":
            continue  # what does not fit is left open
        assert_equal(ours, theirs)


def test_a_pending_reader_keeps_what_it_read():
    x = weft.arange(10.0)
    with weft.config(small=0):
        y = x * 2
    x[3] = 100
    x[4:6] = 7
    x += 1
    numpy.testing.assert_array_equal(y, numpy.arange(10.0) * 2)
    numpy.testing.assert_array_equal(x, [1, 2, 3, 101, 8, 8, 7, 8, 9, 10])


@pytest.mark.host
def test_exported_memory_sees_writes():
    x = weft.zeros(4)
    view = memoryview(x)
    other = x[1:]
    x[1] = 5
    other[1:] = 2.0
    x *= 3
    assert view.tolist() == [0, 15, 6, 6]
    numpy.asarray(x)[0] = 9
    assert x[0] == 9


def test_read_only_views_are_not_written():
    x = weft.broadcast_to(weft.array(1.0), (3,))
    y = weft.zeros(3)
    y.flags.writeable = False
    for target in (x, y):
        for write in (
            lambda t: t.__setitem__(0, 1.0),
            lambda t: t.__setitem__(slice(None), 1.0),
            lambda t: t.__setitem__(slice(None), weft.ones(3)),
            lambda t: t.__iadd__(1.0),
            lambda t: weft.add(t, 1.0, out=t),
        ):
            with pytest.raises(ValueError, match="read-only"):
                write(target)


@pytest.mark.parametrize(
    "statement",
    [
        "x[1:] += x[:-1]",
        "x[:-1] *= x[1:]",
        "x[::-1] -= x",
        "x[::2] += x[::-2]",
        "x[1:] = x[:-1]",
        "x[:-1] = x[1:]",
        "x[::-1] = x",
        "x += x",
        "x[2:2] += 1",
        "x += x[3]",
        "np.add(x[1:], x[:-1], out=x[1:])",
        "np.multiply(x, 2, out=x)",
        "np.negative(x[::-1], out=x)",
        "np.add(x[:1], x[1:2], out=x[:1])",
        "x[3:4] += x",
        "x //= 2",
        "x += 0.5",
        "x += 1j",
    ],
)
@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64"])
def test_in_place(statement, dtype):
    results = []
    for np in (numpy, weft):
        x = np.arange(1, 9).astype(dtype)
        failure = outcome(exec, statement, {"x": x, "np": np})
        results.append((failure, x))
    same(results[0][0] or numpy.int64(0), results[1][0] or weft.int64(0))
    assert_equal(results[1][1], results[0][1])


@pytest.mark.parametrize(
    "view", ["x", "x[::2]", "x[::-1]", "x[1:2]", "x[:0]", "x[None]", "m", "m.T", "m[:, 1]", "m[::2]"]
)
@pytest.mark.parametrize("other", ["2", "2.5", "x[3]", "np.float32(2)", "x[1]", "s", "y", "True"])
def test_results_of_views(view, other):
    results = []
    for np in (numpy, weft):
        x = np.arange(8.0)
        names = {"np": np, "x": x, "m": x.reshape(2, 4), "s": np.array(1.5), "y": np.arange(8)}
        pair = outcome(lambda names=names: (eval(view, names), eval(other, names)))
        results.append(outcome(lambda pair=pair: (pair[0] * pair[1], pair[1] - pair[0], pair[0] > pair[1])))
    expected, result = results
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected)
        return
    assert_equal(result, expected)
    for one, two in zip(result, expected, strict=True):
        assert one.strides == two.strides or one.size == 0


BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lshift, operator.rshift, operator.and_, operator.or_, operator.xor, operator.lt, operator.le,
    operator.eq, operator.ne, operator.gt, operator.ge,
]  # fmt: skip
OPERANDS = [
    ("float64", 1.5), ("float64", -0.0), ("float64", float("inf")), ("float64", float("nan")), ("int64", 3),
    ("int64", -7), ("int64", 2**63 - 1), ("int64", 0), ("int8", 100), ("float32", 0.1), ("bool", True),
    (None, 2), (None, -1), (None, 2.5), (None, 0), (None, 300), (None, 2**63), (None, True),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_operators_of_scalars(function):
    for (left_type, left), (right_type, right) in itertools.product(OPERANDS, OPERANDS):
        if left_type is None and right_type is None:
            continue
        pairs = []
        for np in (numpy, weft):
            a = left if left_type is None else getattr(np, left_type)(left)
            b = right if right_type is None else getattr(np, right_type)(right)
            pairs.append((a, b))
        expected, result = outcome(function, *pairs[0]), outcome(function, *pairs[1])
        if isinstance(expected, Exception) or isinstance(result, Exception):
            assert exception_kind(result) == exception_kind(expected), (function, pairs[0], result, expected)
            continue
        if type(expected) is bool:  # what NumPy answers about numbers beyond its integers
            assert bool(result) == expected
            continue
        assert_equal(result, expected, ulp=4 if function is operator.pow else 0)


@pytest.mark.parametrize(
    "key",
    [
        "::0",
        "(::0, 9)",
        "(9, ::0)",
        "(..., ..., ::0)",
        "(0, ::0, 0)",
        "(::0, 'x')",
        "(np.int64(0), ::0)",
        "(np.int64(9), ::0)",
        "(np.int64(0), 0, ::0)",
        "(slice(None, 1.5), 9)",
        "(9, slice(None, 1.5))",
    ],
)
def test_which_error_of_an_index_comes_first(key):
    key = key.replace("::0", "slice(None, None, 0)")
    for make in ("np.array(1)", "np.arange(3)", "np.zeros((2, 3))"):
        both = [(eval(make, {"np": np}), eval(key, {"np": np})) for np in (numpy, weft)]
        expected, result = (outcome(lambda pair=pair: pair[0][pair[1]]) for pair in both)
        assert exception_kind(result) == exception_kind(expected), (make, key, result, expected)


@pytest.mark.host
def test_bools_are_two_objects():
    x = weft.arange(3.0)
    assert (x[0] > 1) is weft.False_
    assert (x > 1)[2] is weft.True_
    assert weft.bool(1) is weft.True_
    assert (x > 1).any() is weft.True_


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(7, 5), (300, 3), (1, 6), (6, 1), (40, 100)])
def test_sums_across_rows_have_the_bits_of_kernels(dtype, shape):
    x = weft.array(values(dtype, shape[0] * shape[1]).reshape(shape))
    for name in ("sum", "prod", "max", "any"):
        for y in (x, x[::-1], x[:, ::-1], x.T):
            for axis in (0, 1):
                eager = getattr(y, name)(axis)
                with weft.config(small=0):
                    compiled = getattr(y, name)(axis)
                    assert eager.dtype == compiled.dtype
                    assert numpy.asarray(eager).tobytes() == numpy.asarray(compiled).tobytes() or (
                        numpy.array_equal(eager, compiled, equal_nan=True)
                    )


def test_threads_on_one_array():
    x = weft.zeros(64)
    y = weft.zeros(64)

    def work(own):
        for turn in range(2000):
            x[own] = float(turn)
            x[own] += 1
            total = x + y
            assert total[own] == turn + 1
            assert float(x[own]) == turn + 1

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x[:4].tolist() == [2000.0] * 4


def test_calls_with_other_arguments_take_the_general_way():
    for np in (numpy, weft):
        assert np.zeros(shape=(2, 3), dtype="i4").shape == (2, 3)
        assert np.zeros((2, 3), order="F").strides == (8, 16)
        assert np.array([1, 2.5]).dtype == "f8"
        assert np.array([1, 2], "f4").dtype == "f4"
        assert np.array([True, False]).dtype == "?"
        assert np.array([2**63]).dtype == "u8"
        assert np.array(2, "u1").dtype == "u1"
        assert np.arange(3, 0, -1).tolist() == [3, 2, 1]
        assert np.arange(2, dtype="f4").dtype == "f4"
        assert np.arange(0.0, 1.0, 0.25).tolist() == [0, 0.25, 0.5, 0.75]
        x = np.arange(6)
        assert x.reshape((2, 3), order="F").tolist() == [[0, 2, 4], [1, 3, 5]]
        assert x.reshape(2, -1).sum(axis=1, keepdims=True).tolist() == [[3], [12]]
        assert x.reshape(2, 3).transpose((1, 0)).shape == (3, 2)
        assert x.reshape(2, 3).transpose(None).shape == (3, 2)
        assert x.reshape(2, 3).item(1, 2) == 5
        with pytest.raises(IndexError):
            x.item(6)
        with pytest.raises(ValueError, match="cannot reshape"):
            x.reshape(4)
        with pytest.raises(ValueError, match="negative dimensions"):
            np.zeros(-1)
        with pytest.raises(TypeError):
            np.zeros()
        with pytest.raises(TypeError):
            np.zeros(2, nonsense=1)
        with pytest.raises(TypeError):
            x.astype("nonsense")


def test_eval_of_what_is_computed_and_of_what_is_not():
    x = weft.ones(100_000)
    y, z = x + 1, x * 2
    total = y.sum()
    assert weft.eval(total) is None and weft._core._evaluated(total) and not weft._core._evaluated(z)
    weft.eval(x, z, total)
    assert weft._core._evaluated(z) and weft.eval(x, z, total, x.argmax()) is None
    last = z - 1
    weft.eval(last)
    assert weft._core._evaluated(last) and weft.eval() is None
    for wrong in (lambda: weft.eval(3), lambda: weft.eval(x, [1.0]), lambda: weft.eval(arrays=x)):
        with pytest.raises(TypeError):
            wrong()


ROOT = pathlib.Path(__file__).parents[3]
COSTS = {
    row["name"]: row["cost"] for row in tomllib.loads((ROOT / "src/ops/op_table.toml").read_text())["op"]
}
UFUNCS = weft._core._ufuncs


def operands_of(ufunc, count):
    types = next((t for c in "dl?" for t in ufunc.types if t[0] == c), ufunc.types[0]).split("->")[0]
    return [values(c, count, seed=k, positive=True) for k, c in enumerate(types)]


@pytest.fixture
def on_host():
    """NumPy's arrays of a GPU's memory are copies: nothing is exported there."""
    with weft.device("cpu"):
        yield


@pytest.mark.usefixtures("on_host")
@pytest.mark.parametrize("name", [name for name in COSTS if name in UFUNCS])
def test_work_below_the_serial_cutoff_on_exported_memory_runs_at_the_call(name):
    """Nothing can join it: no kernel, and the bits of one."""
    ufunc, count = UFUNCS[name], 9000
    little = count * (1 + ufunc.nin + ufunc.nout + COSTS[name]) < 2 * 32768
    for shape, view in (
        ((count,), lambda x: x),
        ((2 * count,), lambda x: x[::2]),
        ((90, 100), lambda x: x),
        ((90, 100), lambda x: x.T),
    ):
        theirs = [x.reshape(shape) for x in operands_of(ufunc, math.prod(shape))]
        ours = [weft.array(x) for x in theirs]
        _held = [numpy.asarray(x) for x in ours]
        given = [view(x) for x in ours]
        result, kernels = launches(lambda given=given: ufunc(*given))
        if ufunc.nout == 1 or len(shape) == 2:
            assert bool(kernels) != little
        with weft.config(small=0):
            expected = ufunc(*(view(weft.array(x)) for x in theirs))
        for one, other in zip(*((x if ufunc.nout > 1 else (x,)) for x in (result, expected)), strict=True):
            assert (one.tobytes(), one.dtype, one.strides) == (other.tobytes(), other.dtype, other.strides)


@pytest.mark.usefixtures("on_host")
def test_copies_of_exported_memory_run_at_the_call():
    for own, other in itertools.product("?bHlefdF", repeat=2):
        x = weft.array(values(own, 9000, positive=True))
        _held = numpy.asarray(x)
        result, kernels = launches(
            lambda x=x, other=other: x.real.astype(other) if other != "F" else x.astype(other)
        )
        with weft.config(small=0):
            expected = (
                weft.array(_held).real.astype(other) if other != "F" else weft.array(_held).astype(other)
            )
        assert result.tobytes() == expected.tobytes() and result.strides == expected.strides
        assert not kernels or (own == "F" and other != "F")


def strides_of(result):
    return [x.strides for x in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("name", [name for name in COSTS if name in UFUNCS])
def test_arrays_without_elements(name):
    ufunc = UFUNCS[name]
    for count, cut in ((1, slice(1, None)), (9, slice(3, 3, 2)), (0, slice(None))):
        theirs = [x[cut] for x in operands_of(ufunc, count)]
        for mixed in range(len(theirs) + 1):  # numbers beside arrays
            given = [x if k != mixed else x.dtype.type(1).item() for k, x in enumerate(theirs)]
            if all(numpy.ndim(x) == 0 for x in given):
                continue
            is_numpy_s = isinstance(getattr(numpy, name, None), numpy.ufunc)
            expected = outcome(getattr(numpy, name), *given) if is_numpy_s else None
            result = outcome(ufunc, *(weft.array(x) if numpy.ndim(x) else x for x in given))
            if expected is not None:
                same(expected, result)
                if not isinstance(expected, Exception):
                    assert strides_of(result) == strides_of(expected)
    with pytest.raises(OverflowError):
        weft.zeros(0, "u1") + 300
