"""Subclasses of ndarray, as NumPy makes them: each program runs with both modules and has to tell the same."""

import copy
import gc
import pickle
import weakref

import numpy
import pytest
import weft


def make(np):
    """A class that remembers what it was told, and one with a higher priority, of one of the two modules."""

    calls = []

    class Tagged(np.ndarray):
        def __new__(cls, data, tag=None):
            made = np.asarray(data).view(cls)
            made.tag = tag
            return made

        def __array_finalize__(self, obj):
            calls.append((type(obj).__name__, getattr(obj, "tag", None)))
            self.tag = getattr(obj, "tag", None)

    class Higher(Tagged):
        __array_priority__ = 5

    class Lower(Tagged):
        __array_priority__ = -5

    class Other(np.ndarray):
        pass

    Tagged.calls = calls
    return Tagged, Higher, Lower, Other


def told(value, np):
    """Type, shape, dtype, values and tag of a result, of either module."""
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [told(each, np) for each in value]
    if not isinstance(value, (np.ndarray, np.generic)):
        return type(value).__name__, value
    return type(value).__name__, value.shape, value.dtype.name, value.tolist(), getattr(value, "tag", "none")


def same(program):
    answers = []
    for np in (numpy, weft):
        Tagged, Higher, Lower, Other = make(np)
        names = {
            "np": np,
            "Tagged": Tagged,
            "Higher": Higher,
            "Lower": Lower,
            "Other": Other,
            "a": Tagged([1.0, 2.0, 3.0], "a"),
            "m": Tagged([[1.0, 2.0], [3.0, 4.0]], "m"),
            "k": Tagged([2, 0, 1], "k"),
            "p": np.array([1.0, 2.0, 3.0]),
        }
        Tagged.calls.clear()
        try:
            value = eval(program, names)
            answers.append((told(value, np), list(Tagged.calls)))
        except Exception as error:
            answers.append((type(error).__name__, str(error).replace("weft.", "numpy.")))
    return answers


# Told just as often, of just the same.
EXACTLY = """
    p.view(Tagged)
    p.view('i8', Tagged)
    p.view(type=Tagged)
    p.view(Tagged, Other)
    p.view(type=float)
    a.view(np.ndarray)
    a.view('i8')
    a.view()
    a.view(Other)
    np.ndarray.__new__(Tagged, (2,)).shape
    Tagged.__new__(Tagged, [1, 2], 'x')
    a + 1
    1 + a
    p + a
    a + p
    a + a
    -a
    abs(a)
    a ** 2
    2 ** a
    a == a
    a < 2
    divmod(a, 2)
    np.modf(a)
    np.add(p, a)
    np.add(a, a, subok=False)
    np.float64(2) * a
    m @ m
    a[1:]
    a[0]
    a[...]
    a[None]
    a[k]
    m[1]
    m[0, 1]
    list(m)
    m.T
    m.reshape(4)
    m.ravel()
    m.flatten()
    m.swapaxes(0, 1)
    m.transpose(1, 0)
    m.diagonal()
    a.real
    a.imag
    a.copy()
    a.astype('f4')
    a.astype('f4', subok=False)
    a.astype('f8', copy=False)
    a.sum()
    m.sum(0)
    m.sum(keepdims=True)
    m.prod()
    m.max(1)
    m.min()
    m.any()
    m.all(1)
    np.sum(m, axis=1)
    np.add.reduce(m)
    np.add.accumulate(m)
    np.add.reduceat(a, [0, 1])
    a.cumsum()
    a.clip(1, 2)
    a.round()
    a.conj()
    a.take([0, 1])
    a.compress([1, 0, 1])
    a.nonzero()
    a.searchsorted(2)
    np.asarray(a)
    np.asanyarray(a)
    np.asanyarray([1, 2])
    np.array(a)
    np.array(a, subok=True)
    np.array(a, subok=True, copy=False)
    np.copy(a)
    np.copy(a, subok=True)
    np.empty_like(a).shape
    np.zeros_like(a)
    np.zeros_like(a, subok=False)
    np.full_like(a, 2)
    np.ones_like(a, dtype='i4', shape=(2,))
    np.broadcast_to(a, (2, 3))
    np.concatenate([a, a])
    np.concatenate([p, a])
    np.concatenate([a, Higher([1.0], 'h')])
    np.dot(m, m)
    np.flip(a)
    np.expand_dims(a, 0)
    np.moveaxis(m, 0, 1)
    np.atleast_2d(a)
    np.squeeze(m)
    np.real(a)
    np.where(m > 1, m, m)[0]
    np.array(1.0).view(Tagged)[()]
    np.negative(np.array(1.0).view(Tagged))
    a.view(Other) + a
    a + p.view(Other)
    a.__iadd__(1)
    a.__ipow__(2)
    np.add(p, p, out=Tagged([0.0, 0, 0], 'out'))
    np.add(a, a, out=np.empty(3))
    np.ascontiguousarray(m.T)
    copy.copy(a)
    copy.deepcopy(a)
    a.__array_wrap__(np.ones(2))
    a.__array_wrap__(np.ones(()), None, True)
    np.ones(2).__array_wrap__(np.ones(()), None, True)
    np.ones(2).__array_wrap__(3)
""".strip().splitlines()

# The same results; told more or less often of what was made on the way.
RESULTS = """
    m.mean(0)
    a.flat[1]
    Lower([1, 2, 3], 'l') + 1
    p + Lower([1, 2, 3], 'l')
    Lower([1, 2, 3], 'l') + p
    a + Lower([1, 2, 3], 'l')
    Higher([1, 2, 3], 'h') + a
    a + Higher([1, 2, 3], 'h')
    m.mean()
    m.var()
    m.std(0)
    m.trace()
    a.argsort()
    a.argmax()
    m.argmax(0)
    k.choose([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    a.dot(a)
    m @ a[:2]
    np.stack([a, a])
    np.hstack([a, a])
    np.vstack([a, a])
    np.sort(a)
    np.argsort(a)
    np.partition(a, 1)
    np.ptp(a)
    np.median(m)
    np.nanmedian(m)
    np.nanpercentile(m, 50)
    np.quantile(m, 0.5, axis=0)
    np.unwrap(a)
    np.ediff1d(a)
    np.extract(m > 1, m)
    np.take_along_axis(a, k, 0)
    np.meshgrid(a, a)
    np.unstack(m)
    np.real_if_close(a)
    np.iscomplex(a)
    np.isin(a, a)
    np.nanargmax(m, 0)
    np.diff(a)
    np.roll(a, 1)
    np.rot90(m)
    np.pad(a, 1)
    np.tile(a, 2)
    np.repeat(a, 2)
    np.unique(a)
    np.tril(m)
    np.diag(m)
    np.split(m, 2)
    np.broadcast_to(a, (2, 3), subok=True)
    np.broadcast_arrays(a, m[:1, :1])
    np.broadcast_arrays(a, m[:1, :1], subok=True)
    np.kron(m, m)
    np.cross(a, a)
    np.isclose(a, a)
    np.nan_to_num(a)
    np.nansum(m, 0)
    np.average(m, 0)
    np.gradient(a)
    np.interp(a, p, p)
    np.append(a, 1)
    np.delete(a, 0)
    np.insert(a, 0, 1)
    np.select([m > 1], [m])
    np.trapezoid(a)
    np.angle(a)
    np.einsum('ij->i', m)
    np.inner(a, a)
    np.outer(a, a)
    np.tensordot(m, m)
    np.count_nonzero(m, axis=0)
    np.multiply.outer(a, a)
    m.flat[[0, 1]]
    np.linspace(a, a + 1, 3)
    np.clip(a, 1, 2)
    np.cumsum(a)
    np.mean(m, axis=0)
    np.argmax(m, axis=0)
    np.take(a, [0])
    np.any(m, axis=0)
    np.transpose(m)
    np.array_equal(a, p)
    np.vecdot(a, a)
    np.matvec(m, a[:2])
""".strip().splitlines()


@pytest.mark.parametrize("program", [line.strip() for line in EXACTLY])
def test_results_and_what_they_were_told(program):
    if program.startswith("copy."):
        program = f"__import__('copy'){program.removeprefix('copy')}"
    theirs, ours = same(program)
    assert ours == theirs


@pytest.mark.parametrize("program", [line.strip() for line in RESULTS])
def test_types_of_results(program):
    theirs, ours = same(program)
    assert ours[0] == theirs[0]


@pytest.mark.parametrize("np", [numpy, weft])
def test_bases(np):
    Tagged = make(np)[0]
    p = np.arange(4.0)
    view = p.view(Tagged)
    assert view.base is p
    assert view[1:].base is view
    assert view[1:][1:].base is view
    assert np.asarray(view).base is p
    assert p[1:][1:].base is p
    view[0] = 7
    assert p[0] == 7
    assert not hasattr(p, "__dict__")


@pytest.mark.parametrize("np", [numpy, weft])
def test_attributes_weak_references_and_cycles(np):
    Tagged = make(np)[0]
    x = Tagged([1.0, 2.0], "t")
    x.extra = [x]
    seen = weakref.ref(x)
    del x
    gc.collect()
    assert seen() is None
    p = np.arange(3)
    seen = weakref.ref(p)
    assert seen() is p
    del p
    assert seen() is None


@pytest.mark.parametrize("np", [numpy, weft])
def test_finalize_may_fail(np):
    class Picky(np.ndarray):
        def __array_finalize__(self, obj):
            if obj is not None and obj.ndim == 2:
                raise RuntimeError("no matrices")

    x = np.arange(4.0).view(Picky)
    assert type(x + 1) is Picky
    with pytest.raises(RuntimeError, match="no matrices"):
        np.zeros((2, 2)).view(Picky)


@pytest.mark.parametrize("np", [numpy, weft])
def test_wrap_of_a_class(np):
    class Wrapping(np.ndarray):
        def __array_wrap__(self, array, context=None, return_scalar=False):
            said = None if context is None else (context[0].__name__, len(context[1]), context[2])
            return ("wrapped", type(array) is np.ndarray, array.tolist(), said, return_scalar)

    x = np.arange(3.0).view(Wrapping)
    assert x + 1 == ("wrapped", True, [1.0, 2.0, 3.0], ("add", 2, 0), False)
    assert x.sum() == ("wrapped", True, 3.0, None, True)
    assert np.add.outer(x, [1])[1:3] == (True, [[1.0], [2.0], [3.0]])
    assert [part[3] for part in np.modf(x)] == [("modf", 1, 0), ("modf", 1, 1)]

    class Old(np.ndarray):
        def __array_wrap__(self, array):
            return "old"

    with pytest.warns(DeprecationWarning, match="__array_wrap__ must accept"):
        assert np.arange(3.0).view(Old) * 2 == "old"

    class Broken(np.ndarray):
        def __array_wrap__(self, array, context=None, return_scalar=False):
            raise TypeError("broken")

    with pytest.raises(TypeError, match="broken"):
        np.arange(3.0).view(Broken) * 2


class Named(weft.ndarray):
    """At module level, for pickle; it keeps its name there as NumPy's guide says."""

    def __array_finalize__(self, obj):
        self.name = getattr(obj, "name", None)

    def __reduce__(self):
        function, arguments, state = super().__reduce__()
        return function, arguments, (state, self.name)

    def __setstate__(self, state):
        super().__setstate__(state[0])
        self.name = state[1]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    x = weft.arange(6.0).reshape(2, 3).view(Named)
    x.name = "n"
    for each in (x, x.T, x[:, ::2], x[:0], x[0, 0:1].reshape(())):
        back = pickle.loads(pickle.dumps(each, protocol))
        assert type(back) is Named and back.name == "n"
        assert back.tolist() == each.tolist() and back.flags.f_contiguous == each.copy("K").flags.f_contiguous
        plain = weft.asarray(each)
        again = pickle.loads(pickle.dumps(plain, protocol))
        assert type(again) is weft.ndarray and again.tolist() == plain.tolist() and again.shape == plain.shape
        again[...] = 1  # what was in the pickle is the array's own
    for copied in (copy.copy(x), copy.deepcopy(x)):
        assert type(copied) is Named and copied.name == "n" and not weft.shares_memory(copied, x)


@pytest.mark.host  # memory that the CPU sees
def test_buffers_apart_from_the_pickle():
    x = weft.arange(1000.0)
    buffers = []
    data = pickle.dumps([x, x.reshape(10, 100).T], protocol=5, buffer_callback=buffers.append)
    assert len(data) < 1000 and len(buffers) == 2
    first, second = pickle.loads(data, buffers=buffers)
    x[0] = 7.0
    assert first[0] == 7.0 and second.shape == (100, 10) and second.flags.f_contiguous
    frozen = pickle.loads(data, buffers=[buffer.raw().tobytes() for buffer in buffers])[0]
    assert not frozen.flags.writeable and frozen[999] == 999.0
    with pytest.raises(ValueError, match=r"multiple of element size|reshape"):
        pickle.loads(data, buffers=[b"12345", b"12345678"])


STATES = [
    5,
    (),
    (1, 2),
    (1, (3,), "f8", False, b"x"),
    (1, (-1,), "f8", False, b""),
    (1, (2**62, 8), "f8", False, b""),
    (1, (2**62, 2**62, 2**62), "f8", False, b""),
    (7, (1,), "f8", False, b"12345678"),
    (1, (1,), "O", False, b"12345678"),
    (1, (1,), "f8", False, 5),
    (1, (1,), "f8", False, [1.0]),
    (1, "a", "f8", False, b""),
    (1, (1.5,), "f8", False, b"12345678"),
    (1, (1,) * 65, "f8", False, b"12345678"),
    (1, [1], "f8", False, b"12345678"),
    (1, (None,), "f8", False, b"12345678"),
    (1, (1,), None, False, None),
]


@pytest.mark.parametrize("state", STATES, ids=str)
def test_hostile_states(state):
    x = weft.arange(3.0)
    with pytest.raises((TypeError, ValueError, MemoryError)):
        x.__setstate__(state)
    assert x.tolist() == [0.0, 1.0, 2.0]


def test_states():
    x = weft.arange(3.0)
    view = x[1:]
    x.__setstate__((1, (2, 2), weft.dtype("i2"), True, bytes(range(8))))
    expected = numpy.empty(0)
    expected.__setstate__((1, (2, 2), numpy.dtype("i2"), True, bytes(range(8))))
    assert x.tolist() == expected.tolist() and x.strides == expected.strides and x.base is None
    assert view.tolist() == [1.0, 2.0]
    x.__setstate__(((1,), weft.dtype("i1"), False, b"\x05"))
    assert x.tolist() == [5]


@pytest.mark.parametrize(
    "arguments",
    [
        "(3,), 'i4', b",
        "(2, 2), 'i2', b, 8",
        "(2, 2), 'i2', b, 1",
        "(2, 2), 'i2', b, 0, (4, 2)",
        "(2, 2), 'i2', b, 0, (0, 2)",
        "(3,), 'i2', b, 4, (-2,)",
        "(3,), 'i2', b, 2, (-2,)",
        "(2, 3), 'i2', b, 0, None, 'F'",
        "(4,), 'i8', b",
        "(1,), 'i8', b, 12",
        "(2**62, 8), 'i8', b",
        "(2,), 'i8', b, 0, (8, 8)",
        "(2,), 'i8', 5",
        "(2,), 'i8', None, 0, (0,)",
        "(2,), 'i8', None, 0, (800,)",
        "(0, 5), 'i8', b",
    ],
)
def test_arrays_over_buffers(arguments):
    answers = []
    for np in (numpy, weft):
        try:
            x = eval(f"np.ndarray({arguments})", {"np": np, "b": bytes(range(16))})
            values = x.tolist() if "None, 0" not in arguments else None
            answers.append((x.shape, x.strides, x.dtype.name, values, x.flags.writeable))
        except (TypeError, ValueError) as error:
            answers.append(type(error))
    if answers[0] is ValueError or answers[0] is TypeError:
        assert answers[1] in (TypeError, ValueError)
    assert answers[0] == answers[1]


@pytest.mark.host  # memory that the CPU sees
def test_arrays_over_writeable_buffers():
    for shape, offset in (((2,), -1), ((-1,), 0), ((1,), -8)):  # NumPy reads before the buffer
        with pytest.raises((TypeError, ValueError)):
            weft.ndarray(shape, "i8", bytes(16), offset)
    memory = bytearray(16)
    x = weft.ndarray((2,), "i8", memory)
    x[1] = 258
    assert memory[8:10] == b"\x02\x01" and x.base is memory
    y = weft.ndarray((2, 2), "f4", weft.zeros(2))
    y[...] = 1
    assert y.base.tolist() == [0.007812501848093234] * 2


FROMBUFFER = """
    b
    b, 'u1'
    b, 'u1', 3
    b, 'u1', 3, 2
    b, 'i8'
    b, 'i8', -1, 8
    b, 'i8', -1, 16
    b, 'i8', -1, 17
    b, 'i8', -1, 1
    b, 'i8', 2, 8
    b, 'i8', 3
    b, 'i8', -1, -1
    b[:5], 'i4'
    b''
    None
    5
    'text'
    memoryview(b)[::2], 'u1'
    bytearray(b), 'u1'
    np.arange(4.0), 'i8'
    np.arange(4.0)[::2], 'i8'
""".strip().splitlines()


@pytest.mark.host  # memory that the CPU sees
@pytest.mark.parametrize("arguments", [line.strip() for line in FROMBUFFER])
def test_frombuffer(arguments):
    answers = []
    for np in (numpy, weft):
        try:
            x = eval(f"np.frombuffer({arguments})", {"np": np, "b": bytes(range(16))})
            answers.append((x.shape, x.dtype.name, x.tolist(), x.flags.writeable, x.flags.owndata))
        except Exception as error:
            answers.append(type(error))
    if answers[0] is BufferError:
        answers[1] = BufferError if answers[1] in (ValueError, BufferError) else answers[1]
    assert answers[0] == answers[1]


def test_functions_with_fast_paths_look_like_functions():
    import inspect

    assert weft.sum.__name__ == "sum" and weft.sum.__module__ == "weft"
    assert list(inspect.signature(weft.mean).parameters)[:3] == ["a", "axis", "dtype"]
    assert pickle.loads(pickle.dumps(weft.sum)) is weft.sum
    assert "sum" in repr(weft.sum) and weft.median.__doc__
    with pytest.raises(TypeError):
        weft.sum()


class TaggedAnywhere(weft.ndarray):
    def __array_finalize__(self, obj):
        self.tag = getattr(obj, "tag", None)


def test_subclasses_on_each_device(device):
    x = weft.array(numpy.arange(6.0).reshape(2, 3)).view(TaggedAnywhere)
    x.tag = "t"
    for result in (
        x + 1,
        x[1:],
        x.T,
        x.sum(0),
        x.copy(),
        x @ x.T,
        weft.sqrt(x),
        x.mean(1),
        weft.roll(x, 1),
        copy.copy(x),
    ):
        assert type(result) is TaggedAnywhere and result.tag == "t" and result.device == device
    assert type(weft.asarray(x)) is weft.ndarray and weft.asarray(x).device == device
    assert x.sum().tolist() == 15.0
    x += 1
    assert type(x) is TaggedAnywhere and x.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
