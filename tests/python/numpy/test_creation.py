# ruff: noqa: B023
"""Making arrays: from numbers, nested sequences, other libraries' arrays, ranges; and shaping and joining them."""

import array
import copy
import pickle
import re
import warnings

import numpy
import pytest
import weft
from comparing import DTYPES, assert_equal, exception_kind, outcome


def named(value):
    """The same in every process: without addresses."""
    return re.sub(" at 0x[0-9a-f]+", "", repr(value))


OBJECTS = [
    1, 2.5, 1j, True, [], [[]], [[], []], [1, 2], [1, 2.5], [1, True], [True, False], [1, 1j], [[1, 2], [3, 4]],
    ((1, 2), [3, 4]), range(5), [range(2), range(2)], [2**63], [2**63, 1], [-(2**63)], [[1.5]], [[[1], [2]]],
    [numpy.float32(1), 2], [numpy.arange(2), numpy.arange(2)], numpy.arange(3), numpy.float16(1),
    [numpy.int8(1), numpy.uint8(1)],
    array.array("f", [1, 2]), bytearray(b"ab"), memoryview(b"abc"), numpy.arange(6).reshape(2, 3).T,
    numpy.arange(6)[::-2],
    numpy.arange(3, dtype=">i4"), [numpy.array(1.5), 2], numpy.zeros((0, 3)), [[1], [2.5]],
]  # fmt: skip


@pytest.mark.parametrize("value", OBJECTS, ids=named)
@pytest.mark.parametrize("dtype", [None, "f4", "i2", "c8", "?", "u8", "e"])
def test_array(value, dtype):
    expected, result = outcome(lambda: numpy.array(value, dtype)), outcome(lambda: weft.array(value, dtype))
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected)
        return
    expected = expected.astype(expected.dtype.newbyteorder("="))
    assert_equal(result, expected)
    if expected.size:
        assert result.strides == expected.strides


@pytest.mark.parametrize(
    "value",
    [
        [1, [2]],
        [[1], 2],
        [[1, 2], [3]],
        [[[1], [2]], [[3], []]],
        [numpy.zeros(2), numpy.zeros(3)],
        [[1, 2], [[3], [4]]],
    ],
    ids=named,
)
def test_ragged(value):
    expected, result = outcome(numpy.array, value), outcome(weft.array, value)
    assert isinstance(result, ValueError)
    assert str(result) == str(expected)


@pytest.mark.parametrize(
    "value, dtype",
    [
        ([300], "u1"),
        ([-1], "u4"),
        ([1j], "f8"),
        ([float("nan")], "i8"),
        ([float("inf")], "i8"),
        ([10**400], "f8"),
        ([2**70], "i8"),
        ([None], "i8"),
    ],
)
def test_elements_that_do_not_fit(value, dtype):
    expected, result = outcome(numpy.array, value, dtype), outcome(weft.array, value, dtype)
    assert exception_kind(result) == exception_kind(expected), result
    if value != [None]:
        assert str(result) == str(expected)


@pytest.mark.parametrize(
    "value", ["text", ["a"], b"ab", None, object(), {"a": 1}, [object()], [None]], ids=named
)
def test_what_weft_has_no_dtype_for_is_numpys(value):
    expected, result = numpy.array(value), weft.array(value)
    assert isinstance(result, weft.ndarray) and result.dtype == expected.dtype
    assert result.shape == expected.shape and repr(result) == repr(expected)


def test_copies_and_identity():
    x = weft.arange(6).reshape(2, 3)
    assert weft.asarray(x) is x and weft.asarray(x, x.dtype) is x and weft.asarray(x, order="C") is x
    assert weft.asarray(x, "f4") is not x
    assert weft.array(x) is not x and not weft.shares_memory(weft.array(x), x)
    assert weft.array(x, copy=None) is x and weft.array(x, copy=False) is x
    assert weft.array(x, ndmin=4).shape == (1, 1, 2, 3)
    assert weft.asarray(x, order="F").strides == (8, 16)
    assert weft.ascontiguousarray(x.T).strides == (16, 8)
    assert x.astype(int, copy=False) is x
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        weft.array([1], copy=False)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        weft.asarray(x, "f4", copy=False)
    theirs = numpy.arange(3.0)
    copied = weft.asarray(theirs)
    theirs[0] = 9
    assert copied.tolist() == [0, 1, 2]


def test_sharing_a_numpy_array():
    theirs = numpy.arange(6.0).reshape(2, 3)
    ours = weft.asarray(theirs[:, 1:], copy=False)
    ours[0, 0] = 50
    ours += 1
    assert theirs.tolist() == [[0, 51, 3], [3, 5, 6]]
    theirs[1, 1] = -1
    assert ours.tolist() == [[51, 3], [-1, 6]]
    theirs.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        weft.asarray(theirs, copy=False)[0] = 1


def test_filled():
    for np_name in ("zeros", "ones", "empty"):
        for shape in (3, (2, 3), (), [2, 2], numpy.int64(2), (0, 2)):
            for dtype in (None, "f4", int, numpy.int8):
                expected = getattr(numpy, np_name)(shape, dtype)
                result = getattr(weft, np_name)(shape, dtype)
                assert result.shape == expected.shape and result.dtype == expected.dtype
                assert result.strides == expected.strides or expected.size == 0
                if np_name != "empty":
                    assert_equal(result, expected)
    assert weft.zeros((2, 3), order="F").strides == (8, 16)
    for value in (1, 2.5, True, 1j, [1, 2], numpy.float32(1), numpy.arange(2)):
        assert_equal(weft.full((3, 2), value), numpy.full((3, 2), value))
        assert_equal(weft.full((3, 2), value, "c8"), numpy.full((3, 2), value, "c8"))
    x = numpy.arange(6, dtype="f4").reshape(2, 3).T
    for name in ("zeros_like", "ones_like", "empty_like"):
        for options in ({}, {"dtype": "i2"}, {"order": "C"}, {"shape": (4, 1)}):
            expected, result = (
                getattr(numpy, name)(x, **options),
                getattr(weft, name)(weft.asarray(x), **options),
            )
            assert (result.shape, result.dtype, result.strides) == (
                expected.shape,
                expected.dtype,
                expected.strides,
            )
            if name != "empty_like":
                assert_equal(result, expected)
    assert_equal(weft.full_like(weft.asarray(x), 7.9, dtype=int), numpy.full_like(x, 7.9, dtype=int))
    for arguments in ((3,), (3, 4), (3, 4, 1), (3, 2, -1), (0,), (4, 4, 9)):
        assert_equal(weft.eye(*arguments), numpy.eye(*arguments))
    assert_equal(weft.identity(3, "i4"), numpy.identity(3, "i4"))


@pytest.mark.parametrize(
    "arguments",
    [
        (5,),
        (2, 5),
        (2, 9, 3),
        (9, 2, -2),
        (5, 2),
        (0.0, 1.0, 0.1),
        (1.5,),
        (0, 1, 0.25),
        (3, 3),
        (True,),
        (0, -5, -1),
        (0.5, 3),
        (numpy.int32(4),),
        (numpy.float32(0), numpy.float32(2)),
        (2**62, 2**62 + 3),
    ],
    ids=named,
)
def test_arange(arguments):
    assert_equal(weft.arange(*arguments), numpy.arange(*arguments))
    for dtype in ("f4", "i2", "u1", "e", "c16") if arguments[0] != 2**62 else ():
        expected = outcome(lambda: numpy.arange(*arguments, dtype=dtype))
        result = outcome(lambda: weft.arange(*arguments, dtype=dtype))
        if isinstance(expected, Exception):
            assert exception_kind(result) == exception_kind(expected)
        else:
            assert_equal(result, expected)
    assert_equal(weft.arange(0, 10, step=3), numpy.arange(0, 10, step=3))


def test_arange_errors():
    for arguments in ((0, 1, 0), (), (0, float("inf")), (0, float("nan"))):
        expected, result = outcome(numpy.arange, *arguments), outcome(weft.arange, *arguments)
        assert exception_kind(result) == exception_kind(expected), (arguments, result, expected)


@pytest.mark.parametrize(
    "arguments, options",
    [
        ((0, 1), {}), ((0, 1, 5), {}), ((1, 0, 7), {}), ((0, 1, 5), {"endpoint": False}), ((2, 3, 1), {}),
        ((2, 3, 0), {}),
        ((0, 10, 4), {"dtype": int}), ((-3, 3, 4), {"dtype": "i2"}), ((0, 1, 5), {"dtype": "f4"}), ((0, 1j, 3), {}),
        (([0, 1], [1, 2], 3), {}), (([0, 1], 5, 3), {"axis": 1}), ((0, 1, 11), {"retstep": True}), ((5, 5, 3), {}),
        (([[1], [2]], [3, 4], 3), {"axis": -1, "endpoint": 0}), (([1.0, 0], [2, 5e-324], 4), {}),
    ],
    ids=named,
)  # fmt: skip
def test_linspace(arguments, options):
    expected, result = numpy.linspace(*arguments, **options), weft.linspace(*arguments, **options)
    if options.get("retstep"):
        assert float(result[1]) == float(expected[1])
        expected, result = expected[0], result[0]
    assert_equal(result, expected, ulp=1)


def test_astype():
    for a in DTYPES:
        x = numpy.array([0, 1, 2, 100]).astype(a)
        for b in DTYPES:
            with numpy.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert_equal(weft.asarray(x).astype(b), x.astype(b))
    x = numpy.arange(6.0).reshape(2, 3).T
    for order in "KCFA":
        assert weft.asarray(x).astype("f4", order=order).strides == x.astype("f4", order=order).strides
        assert weft.asarray(x).copy(order).strides == x.copy(order).strides


@pytest.mark.host
def test_numpy_reads_arrays():
    x = weft.arange(6.0).reshape(2, 3)
    theirs = numpy.asarray(x)
    assert theirs.dtype == "f8" and theirs.shape == (2, 3)
    theirs[0, 0] = 77  # shared
    assert x[0, 0] == 77
    x[1] = 5  # while it is shown
    x += 1
    assert theirs.tolist() == [[78, 2, 3], [6, 6, 6]]
    assert numpy.array(x) is not None and not numpy.shares_memory(numpy.array(x), theirs)
    assert numpy.asarray(x, dtype="f4").dtype == numpy.float32
    assert numpy.asarray(x.T)[2, 1] == 6
    assert not numpy.asarray(weft.broadcast_to(x, (2, 2, 3))).flags.writeable
    assert numpy.sin(x).shape == (2, 3)
    numpy.testing.assert_array_equal(x, theirs)
    with pytest.raises(ValueError):
        x.__array__(dtype="f4", copy=False)


@pytest.mark.host
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_buffer(dtype):
    x = numpy.ones((2, 3), dtype)
    view, reference = memoryview(weft.asarray(x)), memoryview(x)
    for attribute in ("format", "itemsize", "ndim", "shape", "strides", "readonly", "nbytes", "c_contiguous"):
        assert getattr(view, attribute) == getattr(reference, attribute), attribute
    assert bytes(view) == bytes(reference)
    assert weft.asarray(x).tobytes() == x.tobytes()
    assert weft.asarray(x.T).tobytes("A") == x.T.tobytes("A")


@pytest.mark.host
def test_buffer_of_views():
    x = weft.arange(12).reshape(3, 4)
    assert memoryview(x[::2, ::-1]).tolist() == [[3, 2, 1, 0], [11, 10, 9, 8]]
    assert memoryview(weft.broadcast_to(x, (2, 3, 4))).readonly
    assert memoryview(x * 2).tolist()[2] == [16, 18, 20, 22]
    with pytest.raises((ValueError, BufferError)):
        numpy.frombuffer(x[:, ::2])


def test_python_copies():
    x = weft.arange(6).reshape(2, 3)
    for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.copy(), weft.copy(x)):
        assert weft.array_equal(other, x) and not weft.shares_memory(other, x)
    assert pickle.loads(pickle.dumps(x.T)).tolist() == x.T.tolist()


def test_joining_and_shaping():
    x = numpy.arange(12.0).reshape(3, 4)
    y = weft.asarray(x)
    calls = [
        lambda np, a: np.concatenate([a, a]),
        lambda np, a: np.concatenate([a, a[:, :1]], axis=1),
        lambda np, a: np.concatenate([a, a.T], axis=None),
        lambda np, a: np.concatenate([a, a.astype("i4")], dtype="f4"),
        lambda np, a: np.concatenate(a),
        lambda np, a: np.concatenate([a[:0], a]),
        lambda np, a: np.stack([a, a], axis=-1),
        lambda np, a: np.stack([a, a], axis=1),
        lambda np, a: np.vstack([a[0], a[1]]),
        lambda np, a: np.hstack([a, a]),
        lambda np, a: np.hstack([a[0], a[1]]),
        lambda np, a: np.dstack([a, a]),
        lambda np, a: np.column_stack([a[0], a[1]]),
        lambda np, a: np.reshape(a, (2, -1)),
        lambda np, a: np.reshape(a, (2, 6), order="F"),
        lambda np, a: np.ravel(a.T),
        lambda np, a: np.ravel(a, order="F"),
        lambda np, a: np.ravel(a.T, order="K"),
        lambda np, a: np.transpose(a, (1, 0)),
        lambda np, a: np.squeeze(a[None, :, None]),
        lambda np, a: np.squeeze(a[None, :, None], 0),
        lambda np, a: np.expand_dims(a, (0, 2)),
        lambda np, a: np.broadcast_to(a[0], (2, 4)),
        lambda np, a: np.flip(a),
        lambda np, a: np.flip(a, 0),
        lambda np, a: np.fliplr(a),
        lambda np, a: np.flipud(a),
        lambda np, a: np.atleast_1d(3.0),
        lambda np, a: np.atleast_2d(a[0]),
        lambda np, a: np.atleast_3d(a),
        lambda np, a: np.moveaxis(a[None], 0, -1),
        lambda np, a: np.swapaxes(a, 0, 1),
        lambda np, a: np.diagonal(a, 1),
        lambda np, a: np.broadcast_arrays(a, a[:1])[1],
        lambda np, a: np.where(a > 3, a, -a),
        lambda np, a: np.where([True, False], 1, 2.5),
        lambda np, a: np.where(True, 1, 2),
        lambda np, a: np.clip(a, 2, 7),
        lambda np, a: np.clip(a, None, 7),
        lambda np, a: np.clip(a, 2, None),
        lambda np, a: np.clip(3, 1, 2),
        lambda np, a: a.clip(2, 7),
        lambda np, a: np.round(a / 7, 2),
        lambda np, a: np.round(a * 7, -1),
        lambda np, a: np.round((a * 7).astype(int), -1),
        lambda np, a: np.round(a / 7 + 1j * a, 1),
        lambda np, a: a.round(),
        lambda np, a: np.around(np.float64(2.675), 2),
        lambda np, a: np.real(a + 1j * a),
        lambda np, a: np.imag(a + 2j * a),
        lambda np, a: np.imag(a),
        lambda np, a: np.angle(a + 1j),
        lambda np, a: np.isclose(a, a + 1e-9),
        lambda np, a: np.isclose(a, np.nan, equal_nan=True),
        lambda np, a: np.isclose(np.float32(1 - 2e-16), 2, atol=0, rtol=(1 - 2e-16) / 2),
        lambda np, a: np.allclose(a, a + 1e-9),
        lambda np, a: np.allclose(a, a + 1e-3),
        lambda np, a: np.array_equal(a, a),
        lambda np, a: np.array_equal(a, a[0]),
        lambda np, a: np.array_equiv(a[:1], a[0]),
        lambda np, a: np.iscomplex(a + 1j),
        lambda np, a: np.isreal(a),
        lambda np, a: np.iscomplexobj(a),
        lambda np, a: np.isposinf(a),
        lambda np, a: (a + 1j).conj(),
        lambda np, a: (a + 1j).real,
        lambda np, a: (a + 1j).imag,
        lambda np, a: np.shape(a),
        lambda np, a: np.ndim(a),
        lambda np, a: np.size(a),
        lambda np, a: np.size(a, 1),
        lambda np, a: np.broadcast_shapes((3, 1), (4,)),
        lambda np, a: np.isscalar(3.0),
        lambda np, a: np.isscalar(a),
        lambda np, a: a.T.tolist(),
        lambda np, a: a.item(5),
        lambda np, a: a.item(1, 2),
        lambda np, a: a.mT,
        lambda np, a: np.matrix_transpose(a),
        lambda np, a: a.flatten("F"),
        lambda np, a: a == None,  # noqa: E711
        lambda np, a: a != "text",
        lambda np, a: a**2,
        lambda np, a: a**0.5,
        lambda np, a: a**-1,
        lambda np, a: a.astype(int) ** 2,
        lambda np, a: a.astype(int) ** 3,
        lambda np, a: 2**a,
        lambda np, a: divmod(a, 3),
        lambda np, a: 3 // (a + 1),
        lambda np, a: -a,
        lambda np, a: abs(a - 5),
        lambda np, a: ~a.astype(int),
        lambda np, a: a.astype(int) << 2,
        lambda np, a: np.linspace(0, 1, 3),
    ]  # fmt: skip
    for number, call in enumerate(calls):
        expected, result = outcome(call, numpy, x), outcome(call, weft, y)
        assert not isinstance(result, Exception), (number, result)
        try:
            assert_equal(result, expected, ulp=1)
        except AssertionError as error:
            raise AssertionError(f"call number {number}") from error
        if isinstance(expected, numpy.ndarray) and expected.size:
            assert result.strides == expected.strides, number


def test_out_of_memory_says_how_much():
    x = weft.ones(3)
    with pytest.raises(MemoryError) as caught:
        weft.empty((1 << 20, 1 << 20, 1 << 10)) + 1
        weft.eval(weft.ones((1 << 20, 1 << 20)))
    assert isinstance(caught.value, weft.OutOfMemoryError)
    assert "iB" in str(caught.value) or "byte" in str(caught.value)
    assert (x + 1).tolist() == [2, 2, 2]
    with pytest.raises(ValueError):
        weft.empty((1 << 40, 1 << 40))


# ---- shapes that no array can have ----

TOO_LARGE = [
    "np.broadcast_to(np.ones(1), (2**62, 2**62))",
    "np.broadcast_to(0, b'\\xff' * 16)",
    "np.broadcast_to(np.zeros(0), (2**62, 2**62, 0))",
    "np.empty((2**62, 2**62, 0))",
    "np.zeros(0).reshape(2**62, 2**62, 0)",
    "np.broadcast_arrays(np.broadcast_to(1, (2**40, 1)), np.broadcast_to(1, (1, 2**40)))",
    "np.broadcast_to(1, (2**40, 1)) + np.broadcast_to(1, (1, 2**40))",
    "np.broadcast_to(np.int8(1), 2**62) + 0.5",
    "np.cumsum(np.broadcast_to(np.int8(1), 2**62))",
    "np.array([np.broadcast_to(np.int8(1), 2**62)], 'd')",
    "np.broadcast_to(np.int8(1), 2**62).astype('D')",
    "np.empty_like(np.broadcast_to(np.int8(1), 2**62), 'd')",
    "np.concatenate([np.broadcast_to(np.int8(1), 2**62)] * 3)",
    "np.broadcast_to(1.0, (4, 2**22))[np.broadcast_to(np.array(0), 2**40)]",
    "np.broadcast_shapes((2**40, 1), (1, 2**40))",
    "np.lib.stride_tricks.as_strided(np.ones(1), (2**62, 2**62), (0, 0))",
    "np.lib.stride_tricks.sliding_window_view(np.broadcast_to(1, 2**62), 2**61)",
    "np.tile(np.ones(1), 2**62)",
    "np.repeat(np.ones(1), 2**62)",
    "np.expand_dims(np.ones((1,) * 64), 0)",
    "np.stack([np.ones((1,) * 64)])",
    "np.dot(np.ones((1,) * 40), np.ones((1,) * 40))",
    "np.add.outer(np.ones((1,) * 40), np.ones((1,) * 40))",
    "np.take(np.ones((1,) * 40), np.zeros((1,) * 40, int), 0)",
    "np.indices(range(2**62))",
    "np.zeros(range(10**12))",
    "np.arange(0, 2**62, 1)",
]


@pytest.mark.parametrize("text", TOO_LARGE)
def test_shapes_that_no_array_can_have(text):
    import weft.lib.stride_tricks

    with pytest.raises((ValueError, IndexError, MemoryError)):
        result = eval(text, {"np": weft})
        weft.eval(result)


def test_the_most_axes():
    x = weft.ones((1,) * 64)
    assert weft.matmul(x, x).shape == (1,) * 64
    assert (x + x).sum() == 2
    assert weft.broadcast_to(x, (2,) * 59 + (1,) * 5).nbytes == 2**62


# ---- what stands for one value ----

ONE_VALUE = [
    "np.arange(np.zeros((3, 0)), 2, 0.5)",
    "np.arange(np.array([3]))",
    "np.arange(np.array([1, 2]))",
    "np.arange([3])",
    "np.arange(0, np.array([[3]]), 1)",
    "np.arange(0, 3, ())",
    "np.tri([], 100)",
    "np.tri(np.array([3]))",
    "np.tri(np.array(3))",
    "np.tri(3, 3, [])",
    "np.tril_indices([])",
    "np.triu_indices(np.zeros(0))",
    "np.diag_indices(())",
    "np.diag_indices([2])",
    "np.diag_indices(np.array(2))",
    "np.linspace(0, 1, [])",
    "np.eye([])",
    "np.zeros(3).item([])",
    "np.zeros(0).item()",
    "np.zeros((2, 0)).item(0)",
    "float(np.zeros(0))",
    "bool(np.zeros((3, 0)))",
    "int(np.zeros((1, 0)))",
    "complex(np.zeros(0))",
    "range(3)[np.zeros(0, int)]",
    "np.roll(np.arange(3), np.zeros(0, int))",
    "np.arange(2**63, 2**63 + 3)",
    "np.arange(2**63 - 2, 2**63 + 5, 3)",
    "np.arange(2**63, 2**63 + 3, dtype='L')",
    "np.arange(2**63 + 2, 2**63, -1, dtype='L')",
    "np.arange(-(2**63), -(2**63) + 2)",
]


@pytest.mark.parametrize("text", ONE_VALUE)
def test_one_value_is_read_of_what_has_one(text):
    expected, result = (outcome(lambda np=np: eval(text, {"np": np})) for np in (numpy, weft))
    if isinstance(expected, Exception):
        assert isinstance(result, (TypeError, ValueError, IndexError)), result
    else:
        assert exception_kind(result) == set()
        for mine, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (result, expected))):
            assert_equal(mine, other)


def test_calls_of_huge_counts_end():
    """As in NumPy, or at once."""
    assert weft.diff(weft.arange(5), n=2**40).shape == (0,)
    assert weft.diff(weft.ones((2, 3), "?"), n=2**40).shape == (2, 0)
    assert weft.polyder(weft.arange(5), 2**40).shape == (0,)
    with pytest.raises(MemoryError):
        weft.array_split(weft.arange(5), 2**60)
    with pytest.raises(MemoryError):
        weft.hsplit(weft.zeros((5, 0)), 2**60)
    assert weft.base_repr(-29, 15, 3) == numpy.base_repr(-29, 15, 3)


@pytest.mark.parametrize("protocol", [2, 5])
def test_pickles_of_each_device(device, protocol):
    x = weft.array(numpy.arange(6.0).reshape(2, 3))
    for each in (x, x.T, x[:, ::2]):
        assert pickle.loads(pickle.dumps(each, protocol)).tolist() == each.tolist()
        apart = []
        assert (
            pickle.loads(
                pickle.dumps(each, protocol, buffer_callback=apart.append if protocol == 5 else None),
                buffers=apart,
            ).tolist()
            == each.tolist()
        )
