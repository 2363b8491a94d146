"""Basic indexing and views, reading and writing, against NumPy: the same program runs with both."""

import numpy
import pytest
import weft
from comparing import assert_equal, exception_kind, outcome

INDICES = [
    0,
    -1,
    (1, 2),
    (0, -1, 2),
    slice(None),
    slice(1, None),
    slice(None, None, -1),
    slice(3, 0, -2),
    slice(10, 20),
    slice(-100, 100, 3),
    slice(2, 2),
    (slice(None), 1),
    (slice(None, None, 2), slice(1, 3), slice(None, None, -1)),
    (..., 0),
    (0, ...),
    (1, ..., 2),
    ...,
    None,
    (None, 1),
    (slice(None), None, 2, ...),
    (..., None),
    (),
    (numpy.int64(1), numpy.uint8(0)),
    (1, 2, 3),
    (1, 2, 3, ...),
    numpy.array(1),
]


@pytest.fixture(params=[False, True], ids=["host-resident values", "pending"])
def pair(request):
    def make(x):
        ours = weft.array(x)
        if request.param:
            with weft.config(small=0):
                ours = ours + weft.zeros(x.shape, x.dtype)
        return x.copy(), ours

    return make


CUBE = numpy.arange(2 * 3 * 4).reshape(2, 3, 4) * 1.5


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_read(pair, index):
    theirs, ours = pair(CUBE)
    expected, result = outcome(lambda: theirs[index]), outcome(lambda: ours[index])
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected)
        assert str(result) == str(expected)
        return
    assert_equal(result, expected)
    if isinstance(expected, numpy.ndarray) and expected.size:
        assert result.strides == expected.strides
        assert weft.shares_memory(result, ours) == numpy.shares_memory(expected, theirs)


@pytest.mark.parametrize("index", INDICES, ids=repr)
@pytest.mark.parametrize("value", [7, 2.5, [1], True], ids=repr)
def test_write(pair, index, value):
    theirs, ours = pair(CUBE)
    view_theirs, view_ours = theirs[:, ::-1], ours[:, ::-1]

    def assign(x):
        x[index] = value

    expected, result = outcome(assign, theirs), outcome(assign, ours)
    assert exception_kind(result) == exception_kind(expected), (result, expected)
    assert_equal(ours, theirs)
    assert_equal(view_ours, view_theirs)


@pytest.mark.parametrize(
    "index",
    [
        2,
        -3,
        (0, 3),
        (0, 0, 4),
        (0, 0, 0, 0),
        1.0,
        "x",
        (..., ...),
        slice(0, 1.5),
        slice(None, None, 0),
        numpy.float64(1),
        2**70,
        (slice(None), 1.5),
    ],
    ids=repr,
)
def test_bad_index(pair, index):
    theirs, ours = pair(CUBE)
    for function in (lambda x: x[index], lambda x: x.__setitem__(index, 0)):
        expected, result = outcome(function, theirs), outcome(function, ours)
        assert isinstance(expected, Exception)
        assert exception_kind(result) == exception_kind(expected)
        assert str(result) == str(expected)
    assert_equal(ours, theirs)


PROGRAMS = {
    "slices alias": lambda np, x: (y := x[1:, ::-1], y.__setitem__(0, 5), x),
    "view of view": lambda np, x: (y := x.T[1], y.__iadd__(3), x),
    "write into own reverse": lambda np, x: (x.__setitem__(slice(None), x[::-1]), x),
    "shifted": lambda np, x: (x[1:].__setitem__(..., x[:-1]), x),
    "in place with own slice": lambda np, x: (x[:, 1:].__iadd__(x[:, :-1]), x),
    "in place by itself": lambda np, x: (x.__imul__(x), x),
    "in place transposed": lambda np, x: (y := x[:2, :2], y.__iadd__(y.T), x),
    "reshape is a view": lambda np, x: (y := x.reshape(-1), y.__setitem__(3, 99), x),
    "reshape of transposed copies": lambda np, x: (y := x.T.reshape(-1), y.__setitem__(3, 99), x, y),
    "ravel of slice copies": lambda np, x: (y := x[:, :2].ravel(), y.__setitem__(0, 99), x, y),
    "flatten copies": lambda np, x: (y := x.flatten(), y.__setitem__(0, 99), x, y),
    "copy": lambda np, x: (y := x.copy(), y.__setitem__(0, 99), x, y),
    "reader before writer": lambda np, x: (y := x + 1, x.__setitem__(0, 99), y, x),
    "out is an input": lambda np, x: (np.add(x, 1, out=x), x),
    "out overlaps": lambda np, x: (np.add(x[:-1], x[1:], out=x[1:]), x),
    "broadcast value": lambda np, x: (x.__setitem__((slice(None), slice(1, 3)), x[0, 1:3]), x),
    "leading axes of one": lambda np, x: (x[0].__setitem__(..., np.ones((1, 1, 4))), x),
    "swapaxes": lambda np, x: (y := x.swapaxes(0, 1), y.__setitem__((1, 2), -1), x),
    "squeeze": lambda np, x: (y := x[:, :1].squeeze(), y.__setitem__(0, -1), x, y),
    "flip": lambda np, x: (y := np.flip(x, 1), y.__setitem__((0, 0), -1), x, y),
    "bytes": lambda np, x: (y := x.view("i8"), x.__setitem__(0, 1.0), y),
    "write bytes": lambda np, x: (y := x.view("u1"), y.__setitem__((0, slice(0, 8)), 0), x),
    "fill": lambda np, x: (x[::2].fill(3), x),
    "diagonal": lambda np, x: (x.diagonal(), x.diagonal(1), x.diagonal(-1)),
    "moveaxis": lambda np, x: (np.moveaxis(x, 0, -1), np.rollaxis(x, 1)),
    "flat": lambda np, x: (x.T.flat.__setitem__(slice(2, 5), 8), x, np.array(list(x.T.flat))),
    "set shape": lambda np, x: (setattr(x, "shape", (4, 3)), x),
    "copyto": lambda np, x: (np.copyto(x[1:], x[:-1]), x),
    "copyto where": lambda np, x: (np.copyto(x, -x, where=x > 4), x),
    "where": lambda np, x: (np.where(x > 4, x, 0), np.where(x > 4, 1, 2)),
    "clip in place": lambda np, x: (np.clip(x, 2, 5, out=x), x),
    "stack": lambda np, x: (
        np.stack([x, x + 1], 1),
        np.vstack([x, x]),
        np.hstack([x, x]),
        np.concatenate([x, x], None),
    ),
    "0-d view": lambda np, x: (y := x[1, 1, ...], y.__setitem__((), 50), x, y),
    "int into float": lambda np, x: (x.astype("i4"), x.astype("f4"), x.astype("?"), x.astype("c8")),
    "mixed in place": lambda np, x: (y := x.astype("f4"), y.__iadd__(x), y),
}


@pytest.mark.parametrize("small", [4096, 0])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, small):
    start = numpy.arange(12.0).reshape(3, 4)
    expected = PROGRAMS[name](numpy, start.copy())
    with weft.config(small=small):
        result = PROGRAMS[name](weft, weft.array(start))
        for one, other in zip(result, expected):
            if isinstance(other, (numpy.ndarray, numpy.generic)):
                assert_equal(one, other)
                if isinstance(other, numpy.ndarray) and other.size:
                    assert one.strides == other.strides


ERRORS = {
    "broadcast": lambda np, x: x + np.ones(5),
    "assign shape": lambda np, x: x.__setitem__(0, np.ones(3)),
    "in place larger": lambda np, x: x[0].__iadd__(x),
    "in place cast": lambda np, x: x.astype(int).__iadd__(1.5),
    "in place divide": lambda np, x: x.astype(int).__itruediv__(2),
    "reshape": lambda np, x: x.reshape(5, 5),
    "reshape two unknown": lambda np, x: x.reshape(-1, -1),
    "reshape unknown": lambda np, x: x.reshape(5, -1),
    "transpose": lambda np, x: x.transpose(0),
    "transpose repeated": lambda np, x: x.transpose(0, 0),
    "transpose axis": lambda np, x: x.transpose(0, 2),
    "swapaxes": lambda np, x: x.swapaxes(0, 2),
    "squeeze": lambda np, x: x.squeeze(0),
    "squeeze axis": lambda np, x: x.squeeze(5),
    "broadcast_to": lambda np, x: np.broadcast_to(x, (3, 5)),
    "read-only": lambda np, x: np.broadcast_to(x, (2, 3, 4)).__setitem__(0, 1),
    "read-only in place": lambda np, x: np.broadcast_to(x, (2, 3, 4)).__iadd__(1),
    "read-only out": lambda np, x: np.add(x, 1, out=np.broadcast_to(x[0], (3, 4))),
    "sum axis": lambda np, x: x.sum(2),
    "sum axes repeated": lambda np, x: x.sum((0, 0)),
    "sum list": lambda np, x: x.sum([0]),
    "sum out": lambda np, x: x.sum(0, out=np.zeros(3)),
    "max of empty": lambda np, x: x[:0].max(),
    "argmax of empty": lambda np, x: x[:0].argmax(),
    "view": lambda np, x: x[:, ::2].view("c16"),
    "concatenate": lambda np, x: np.concatenate([x, np.ones((2, 3))]),
    "concatenate dimensions": lambda np, x: np.concatenate([x, np.ones(3)]),
    "concatenate nothing": lambda np, x: np.concatenate([]),
    "stack": lambda np, x: np.stack([x, x[0]]),
    "stack nothing": lambda np, x: np.stack([]),
    "astype": lambda np, x: x.astype("i4", casting="safe"),
    "dtype": lambda np, x: x.astype("nonsense"),
    "order": lambda np, x: x.reshape(4, 3, order="K"),
    "negative shape": lambda np, x: np.zeros(-1),
    "float shape": lambda np, x: np.zeros(1.5),
    "copyto": lambda np, x: np.copyto(x.astype(int), x),
    "large numbers in a list": lambda np, x: x[[1, 2**70]],
    "expand_dims": lambda np, x: np.expand_dims(x, 5),
    "flip": lambda np, x: np.flip(x, 3),
    "truth": lambda np, x: bool(x),
    "truth of empty": lambda np, x: bool(x[:0]),
    "int": lambda np, x: int(x),
    "float": lambda np, x: float(x[0]),
    "index": lambda np, x: [1, 2][x],
    "len": lambda np, x: len(x[0, 0, ...]),
    "iterate": lambda np, x: list(x[0, 0, ...]),
    "item": lambda np, x: x.item(),
    "item index": lambda np, x: x.item(99),
    "item count": lambda np, x: x.item(1, 2, 3),
    "hash": lambda np, x: hash(x[0]),
    "delete": lambda np, x: x.__delitem__(0),
    "shape": lambda np, x: setattr(x, "shape", (5, 5)),
    "shape of transposed": lambda np, x: setattr(x.T, "shape", (12,)),
    "imag of real": lambda np, x: setattr(x, "imag", 1),
    "moveaxis": lambda np, x: np.moveaxis(x, 0, 7),
    "less than text": lambda np, x: x < "a",
    "add None": lambda np, x: x + None,
    "nan into int": lambda np, x: x.astype(int).__setitem__(0, float("nan")),
    "big into byte": lambda np, x: x.astype("u1").__setitem__(0, 300),
    "clip": lambda np, x: np.clip(x, 1, 2, min=3),
    "linspace": lambda np, x: np.linspace(0, 1, -1),
    "full": lambda np, x: np.full(2, 300, "u1"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    start = numpy.arange(12.0).reshape(3, 4)
    ours = weft.array(start)
    expected, result = outcome(ERRORS[name], numpy, start.copy()), outcome(ERRORS[name], weft, ours)
    assert isinstance(expected, Exception), expected
    assert exception_kind(result) == exception_kind(expected), (result, expected)
    # These name the types, or tell of NumPy's inner arrangements.
    if name not in ("add None", "less than text", "hash", "sum out"):
        assert str(result) == str(expected)
    # An operation that failed leaves everything as it was, and everything still works.
    assert_equal(ours, start)
    assert_equal(ours + 1, start + 1)


def test_iteration_and_membership():
    x = numpy.arange(6).reshape(2, 3)
    ours = weft.array(x)
    assert len(ours) == 2
    for one, other in zip(ours, x):
        assert_equal(one, other)
    assert [int(v) for v in weft.arange(4)] == [0, 1, 2, 3]
    assert 4 in ours and 9 not in ours
    rows = list(ours)
    rows[1][...] = 0
    assert_equal(ours[1], numpy.zeros(3, int))


def test_flags():
    x = weft.zeros((3, 4))
    for view, reference in (
        (x, numpy.zeros((3, 4))),
        (x.T, numpy.zeros((3, 4)).T),
        (x[:, ::2], numpy.zeros((3, 4))[:, ::2]),
        (weft.broadcast_to(x, (2, 3, 4)), numpy.broadcast_to(numpy.zeros((3, 4)), (2, 3, 4))),
    ):
        for name in ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED"):
            assert view.flags[name] == reference.flags[name], name
    y = weft.arange(3)
    y.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        y[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        y[1:] += 1
    y.flags.writeable = True
    y[0] = 5
    assert y.tolist() == [5, 1, 2]


@pytest.mark.parametrize(
    "window",
    [
        numpy.s_[1:-1, 1:-1], numpy.s_[2:-1, :-3], numpy.s_[:, 3:], numpy.s_[5:7], numpy.s_[3, 1:-1], numpy.s_[1:-1, 4],
        numpy.s_[::-1, 1:-1], numpy.s_[-2:0:-1, -3:1:-1], numpy.s_[::2, 1:-1], numpy.s_[1:-1, ::3], numpy.s_[7, 11],
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_write_keeps_what_is_outside_of_its_window(device, window, order):
    expected = numpy.asarray(numpy.arange(83.0 * 61).reshape(83, 61), order=order)
    field = weft.array(expected)
    for turn in range(4):  # in place, into a fresh buffer, and both again from a plan that is kept
        kept = field * 2 if turn % 2 else None
        before = 2 * expected
        field[window] = field[::-1, ::-1][window] + turn
        expected[window] = expected[::-1, ::-1].copy()[window] + turn
        assert (numpy.asarray(field.to_device("cpu")) == expected).all(), turn
        if kept is not None:
            assert (numpy.asarray(kept.to_device("cpu")) == before).all()


def test_slabs_of_three_axes(device):
    expected = numpy.arange(24.0 * 20 * 30).reshape(24, 20, 30)
    field = weft.array(expected)
    for window in (
        numpy.s_[1:-1, 1:-1, 1:-1],
        numpy.s_[2:-1, :, 1:],
        numpy.s_[:, 3:-3, ::-1],
        numpy.s_[4, :, 1:],
    ):
        kept = field + 1
        field[window] = field[window] * 2 + field[::-1][window]
        expected[window] = expected[window] * 2 + expected[::-1].copy()[window]
        assert (numpy.asarray(field.to_device("cpu")) == expected).all(), window
        del kept
