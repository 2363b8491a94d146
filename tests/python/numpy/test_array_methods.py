"""Methods of arrays and scalars beyond those of functions; lost imaginary parts."""

import warnings
import weakref

import numpy
import pytest
import weft
from comparing import DTYPES, assert_equal

SCALAR_CALLS = [
    ("astype", "i2"), ("max",), ("min",), ("sum",), ("prod",), ("all",), ("any",), ("argmax",), ("copy",), ("ravel",),
    ("flatten",), ("reshape", (1, 1)), ("repeat", 3), ("squeeze",), ("transpose",), ("tobytes",), ("byteswap",),
]  # fmt: skip


@pytest.mark.parametrize("call", SCALAR_CALLS, ids=lambda call: call[0])
def test_scalars_have_the_methods_of_arrays(call):
    name, *arguments = call
    ours = getattr(weft.float32(2.5), name)(*arguments)
    theirs = getattr(numpy.float32(2.5), name)(*arguments)
    assert type(ours).__name__ == type(theirs).__name__
    if name != "tobytes":
        assert_equal(ours, theirs)
    else:
        assert ours == theirs


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("form", ["plain", "strided", "transposed"])
def test_byteswap(dtype, form):
    def make(m):
        a = m.arange(12).astype(dtype).reshape(3, 4)
        return {"plain": a, "strided": a[::-1, ::2], "transposed": a.T}[form]

    ours, theirs = make(weft), make(numpy)
    swapped = ours.byteswap()
    assert numpy.asarray(swapped).tobytes() == theirs.byteswap().tobytes()
    assert swapped.strides == theirs.byteswap().strides
    assert_equal(ours, theirs)
    assert ours.byteswap(inplace=True) is ours
    assert numpy.asarray(ours).tobytes() == theirs.byteswap(inplace=True).tobytes()


def test_repeat_is_the_function():
    assert_equal(
        weft.arange(6).reshape(2, 3).repeat([1, 0, 2], axis=1),
        numpy.arange(6).reshape(2, 3).repeat([1, 0, 2], 1),
    )
    assert_equal(weft.arange(3).repeat(2), numpy.arange(3).repeat(2))


@pytest.mark.parametrize("shape", [(5,), (2,), (2, 2), (), (0,), (3, 1)], ids=str)
def test_resize_in_place(shape):
    ours, theirs = weft.arange(3.0) + 1, numpy.arange(3.0) + 1
    ours.resize(shape)
    theirs.resize(shape)
    assert_equal(ours, theirs)


def test_resize_leaves_views_and_pending_work_alone():
    x = weft.arange(3.0)
    view, later = x[1:], x + 1
    x.resize(5, refcheck=False)
    x[...] = 7
    assert view.tolist() == [1, 2]
    assert later.tolist() == [1, 2, 3]
    assert x.tolist() == [7] * 5
    with pytest.raises(ValueError, match="does not own"):
        view.resize(3)
    x.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        x.resize(3)


RESIZED = {
    "one name": "x.resize(6)",
    "two names": "y = x; x.resize(6)",
    "a view": "y = x[1:]; x.resize(6)",
    "a view that is gone": "y = x[1:]; del y; x.resize(6)",
    "a list": "l = [x]; x.resize(6)",
    "only a list": "l = [np.arange(4.0)]; l[0].resize(6); x = l[0]",
    "only an attribute": "o = Holder(); o.x = np.arange(4.0); o.x.resize(6); x = o.x",
    "a weak reference": "w = weakref.ref(x); x.resize(6)",
    "a memoryview": "m = memoryview(x); x.resize(6)",
    "as many elements": "y = x; x.resize(2, 2)",
    "a result": "y = x + 1; x.resize(6)",
    "no check": "y = x; x.resize(6, refcheck=False)",
    "the type's": "np.ndarray.resize(x, (6,))",
    "objects": "x = x.astype(object); y = x; x.resize(6)",
}


@pytest.mark.parametrize("name", RESIZED)
def test_resize_refuses_what_others_refer_to(name):
    def run(np):
        class Holder:
            pass

        names = {"np": np, "weakref": weakref, "Holder": Holder}
        body = f"def run():\n    x = np.arange(4.0)\n    {RESIZED[name]}\n    return x.tolist()"
        exec(body, names)
        try:
            return names["run"]()
        except ValueError as error:
            return str(error)

    assert run(weft) == run(numpy)


def test_memory_that_an_interface_shows_stays():
    """Who asked for the interface keeps the array, and looks at its memory."""

    class Described:
        def __init__(self, array):
            self.array, self.__array_interface__ = array, array.__array_interface__

    with weft.device("cpu"):  # GPUs have another interface
        x, state = weft.arange(3.0).copy(), weft.ones(9).__reduce__()[2]
    theirs = numpy.asarray(Described(x))
    for change in (lambda: x.resize(1000, refcheck=False), lambda: x.__setstate__(state)):
        with pytest.raises(ValueError, match="exported"):
            change()
    x[1] = 7
    numpy.testing.assert_array_equal(theirs, [0, 7, 2])


def test_resize_stays_on_the_device(device):
    with weft.device("cpu"):
        there = weft.arange(3)
    here = weft.arange(3)
    for x, where in ((there, "cpu"), (here, device)):
        x.resize(5, refcheck=False)
        assert x.device == where and x.tolist() == [0, 1, 2, 0, 0]


def test_setflags():
    x = weft.zeros(2)
    x.setflags(write=False)
    assert not x.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
    x.setflags(write=True)
    x[0] = 1
    with pytest.raises(ValueError, match="WRITEBACKIFCOPY"):
        x.setflags(uic=True)


LOSSES = {
    "astype": lambda np, z: z.astype("f4"),
    "astype of one": lambda np, z: np.array(1j).astype("f8", order="C"),
    "array": lambda np, z: np.array(z, dtype="f8"),
    "slice": lambda np, z: np.zeros(3).__setitem__(slice(None), z),
    "positions": lambda np, z: np.zeros(3).__setitem__([0, 1, 2], z),
    "mask": lambda np, z: np.zeros(3).__setitem__(np.ones(3, bool), z),
    "copyto": lambda np, z: np.copyto(np.zeros(3), z, casting="unsafe"),
}


@pytest.mark.parametrize("case", LOSSES, ids=str)
def test_a_lost_imaginary_part_is_warned_of(case):
    for np, category in ((numpy, numpy.exceptions.ComplexWarning), (weft, weft.exceptions.ComplexWarning)):
        with pytest.warns(category, match="imaginary part"):
            LOSSES[case](np, np.array([1j, 2, 3]))


def test_what_loses_nothing_is_not_warned_of(recwarn):
    z = weft.array([1j, 0, 3])
    z.astype(bool), z.astype("c8"), weft.copyto(weft.zeros(3, "c8"), z), weft.zeros(3).__setitem__(0, 2.0)
    assert not recwarn.list


# ---- attributes that are set, and what else was missing ----


def test_dtype_and_strides_are_set():
    for np in (numpy, weft):
        a = np.arange(4.0)
        a.dtype = "i8"
        assert a.dtype == np.int64 and a[1] == 4607182418800017408 and a.flags.owndata
        a.dtype = np.int32
        assert a.shape == (8,) and a[3] == 1072693248
        b = np.arange(12).reshape(3, 4)
        with pytest.warns(DeprecationWarning, match="strides"):
            b[:, :2].strides = (32, 16)
        view = b[:, :2]
        with pytest.warns(DeprecationWarning, match="strides"):
            view.strides = (32, 16)
        assert view.tolist() == [[0, 2], [4, 6], [8, 10]]
        with pytest.warns(DeprecationWarning, match="strides"), pytest.raises(ValueError):
            a.strides = (800,)
        with pytest.warns(DeprecationWarning, match="strides"), pytest.raises(ValueError):
            a.strides = (8, 8)
        with pytest.raises(AttributeError):
            del a.dtype
        with pytest.raises(ValueError):
            b[:, ::2].dtype = "i4"
        with pytest.raises(TypeError):
            a.dtype = "nonsense"


def test_resize_to_as_many_elements_needs_no_memory_of_its_own():
    for np in (numpy, weft):
        a = np.arange(6).reshape(2, 3)
        a.resize(3, 2)
        assert a.tolist() == [[0, 1], [2, 3], [4, 5]]
        with pytest.raises(ValueError):
            a.resize(7)
        with pytest.raises(ValueError):
            np.arange(6)[::2].resize(3)
        with pytest.raises(ValueError):
            np.arange(6).resize(-6)


def test_small_parts_of_numpys_objects():
    for np in (numpy, weft):
        a = np.zeros(3)
        a.put(indices=[0], values=[1])
        assert a.tolist() == [1, 0, 0]
        assert (np.dtype("f4") * 3).shape == (3,) and (2 * np.dtype("f4")).shape == (2,)
        assert np.float64(1.5).data.tobytes() == np.float64(1.5).tobytes()
        assert np.int8(3).__array_wrap__(np.array(4)) == 4
        with pytest.raises(TypeError):
            del a.flat[0]
        with pytest.warns(DeprecationWarning, match="chararray"):
            np.chararray((2,))
        for kind in (np.finfo, np.iinfo, np.nditer, np.flatiter):
            assert isinstance(kind, type)
    for dtype in "efd":
        assert str(weft.finfo(dtype)) == str(numpy.finfo(dtype))
    for dtype in "bhilBHIL":
        assert str(weft.iinfo(dtype)) == str(numpy.iinfo(dtype))


def test_nditer_has_numpys_attributes_and_gives_wefts_operands():
    for name in dir(numpy.nditer):
        assert hasattr(weft.nditer, name), name
    a = weft.arange(6).reshape(2, 3)
    flags = [["readonly"], ["writeonly", "allocate"]]
    with weft.nditer([a, None], ["external_loop", "buffered"], flags, ["f8", "f8"]) as it:
        assert isinstance(it, weft.nditer)
        for x, y in it:
            y[...] = x * 2
        result = it.operands[1]
        assert it.operands[0] is a
    assert isinstance(result, weft.ndarray) and result.tolist() == [[0, 2, 4], [6, 8, 10]]
    it = weft.nditer(a, flags=["multi_index"])
    next(it)
    again = it.copy()
    next(it)
    assert (again.multi_index, it.multi_index) == ((0, 0), (0, 1)) and it.shape == (2, 3)


@pytest.mark.parametrize(
    ("category", "call"),
    [
        (RuntimeWarning, lambda np: np.mean([])),
        (RuntimeWarning, lambda np: np.zeros((0, 3)).mean(axis=0)),
        (RuntimeWarning, lambda np: np.mean([1.0, 2.0], where=[False, False])),
        (RuntimeWarning, lambda np: np.mean([[1.0], [2.0]], 1, where=[[False], [True]])),
        (RuntimeWarning, lambda np: np.var([1.0], ddof=1)),
        (RuntimeWarning, lambda np: np.std(np.ones((3, 1)), axis=1, ddof=1)),
        (RuntimeWarning, lambda np: np.ones(2).std(where=np.array([False, False]))),
        (DeprecationWarning, lambda np: np.cross([1, 2], [3, 4])),
        (DeprecationWarning, lambda np: np.bincount([1.5])),
        (UserWarning, lambda np: np.add([1], [2], where=[True])),
        (None, lambda np: np.zeros((0, 3)).mean(axis=1)),
        (None, lambda np: np.mean([1.0], where=[True])),
        (None, lambda np: np.var([1.0, 2.0], ddof=1)),
        (None, lambda np: np.var(np.ones((2, 1)), axis=0, ddof=1)),
        (None, lambda np: np.cross([1, 2, 3], [3, 4, 5])),
        (None, lambda np: np.add([1], [2], where=[True], out=None)),
        (None, lambda np: np.add([1], [2], np.zeros(1, int), where=[True])),
    ],
)
def test_warnings_are_numpys(category, call):
    """weft did not warn."""
    for np in (numpy, weft):
        with np.errstate(all="ignore"), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call(np)
        assert [each.category for each in told] == ([] if category is None else [category])
        assert category is None or np is numpy or told[0].filename == __file__ or category is UserWarning


@pytest.mark.parametrize(
    "call",
    [
        lambda np: np.array([1], copy="yes"),
        lambda np: np.column_stack(x for x in [[1], [2]]),
        lambda np: np.fromiter([], "S"),
        lambda np: np.fromiter([1], "U3", 2),
        lambda np: np.fromiter([1, "x"], float),
        lambda np: np.int8[int],
        lambda np: np.complex64[int],
        lambda np: np.number[int, int, int],
    ],
)
def test_errors_are_numpys(call):
    """weft raised nothing, or another error."""
    raised = []
    for np in (numpy, weft):
        with pytest.raises(Exception) as error:
            call(np)
        raised.append(error.type)
    assert raised[0] is raised[1]


def test_fromiter_of_numpys_dtypes():
    for dtype, items in (
        ("U3", ["a", "bcde"]),
        (("i4", 2), [[1, 2], [3, 4]]),
        ([("a", "i4"), ("b", "f8")], [(1, 2.5), (3, 4.5)]),
        ("O", [1, None]),
        ("M8[D]", ["2020-01-01"]),
    ):
        expected, result = (np.fromiter(iter(items), np.dtype(dtype), 1) for np in (numpy, weft))
        assert isinstance(result, weft.ndarray) and result.dtype == expected.dtype
        assert result.shape == expected.shape and result.tolist() == expected.tolist()
    assert weft.bool[int] and weft.number[int]
