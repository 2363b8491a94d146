"""Whether arrays share memory, their flags, and `__array_struct__`, beside NumPy's."""

import gc

import numpy
import pytest
import weft
from comparing import outcome


def shared(np, function, left, right, *work):
    x = np.arange(100)
    return outcome(lambda np: getattr(np, function)(x[left], x[right], *work), np)


@pytest.mark.parametrize("function", ["shares_memory", "may_share_memory"])
@pytest.mark.parametrize("work", [(), (None,), (0,), (-1,), (-2,), (-3,), (1000,), ("a",), (1.5,)], ids=str)
def test_max_work(function, work):
    slices = [slice(None, None, 2), slice(1, None, 2), slice(10), slice(50, None), slice(None, None, 3)]
    for left in slices:
        for right in slices:
            theirs, ours = (shared(np, function, left, right, *work) for np in (numpy, weft))
            if isinstance(theirs, Exception):
                assert type(ours).__name__ == type(theirs).__name__ and str(ours) == str(theirs)
            else:
                assert ours is theirs
    with pytest.raises(weft.exceptions.TooHardError):
        weft.shares_memory(x := weft.arange(10), x[::2], max_work=0)


def flags_after(np, call):
    x = np.arange(6).reshape(2, 3)
    call(x)
    names = "c_contiguous f_contiguous owndata writeable aligned behaved carray farray forc fnc num".split()
    return [getattr(x.flags, name) for name in names[3:]], str(x[1:].flags.aligned), (x + 1).sum().item()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.setflags(align=False),
        lambda x: (x.setflags(align=False), x.setflags(align=True)),
        lambda x: x.setflags(False),
        lambda x: x.setflags(True, False, False),
        lambda x: x.setflags(write=False, align=False),
        lambda x: setattr(x.flags, "aligned", False),
        lambda x: x.flags.__setitem__("A", False),
        lambda x: x.flags.__setitem__("ALIGNED", False),
        lambda x: x.setflags(uic=False),
    ],
)
def test_setflags(call):
    ours, theirs = flags_after(weft, call), flags_after(numpy, call)
    owndata = 0x4 if ours[0][-1] & 0x4 != theirs[0][-1] & 0x4 else 0  # reshape of NumPy's is a view
    ours[0][-1] &= ~owndata
    theirs[0][-1] &= ~owndata
    assert ours == theirs


def test_what_waits_to_be_copied_back():
    for np in (numpy, weft):
        with pytest.raises(ValueError, match="cannot set WRITEBACKIFCOPY flag to True"):
            np.arange(3).setflags(uic=True)


def test_flags_do_not_outlive_their_array():
    for _ in range(100):
        x = weft.arange(3)
        assert x.flags.aligned
        x.setflags(align=False)
        del x
    gc.collect()
    from weft._array import views

    assert not views._called_unaligned


class Lender:
    def __init__(self, capsule):
        self.__array_struct__ = capsule


@pytest.mark.parametrize("dtype", "?bHifdFDe")
def test_array_struct(dtype):
    x = weft.arange(24).astype(dtype).reshape(2, 3, 4)[:, ::-1, ::2]
    lender = Lender(x.__array_struct__)
    seen = numpy.asarray(lender)
    assert seen.dtype == dtype and seen.shape == x.shape and seen.strides == x.strides
    assert seen.flags.writeable and (seen == numpy.asarray(x)).all()
    seen[0, 0, 0] = 1
    assert x[0, 0, 0] == 1
    expected = numpy.asarray(x).copy()
    del x
    gc.collect()
    assert (seen == expected).all()  # the capsule keeps the memory
    assert numpy.asarray(Lender(weft.float64(2.5).__array_struct__)) == 2.5
    readonly = weft.arange(3)
    readonly.flags.writeable = False
    assert not numpy.asarray(Lender(readonly.__array_struct__)).flags.writeable


def test_arrays_that_have_no_struct():
    assert not hasattr(weft.zeros(3, weft.bfloat16), "__array_struct__")
