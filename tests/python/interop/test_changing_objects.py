"""Python objects that change what takes part in a call while weft looks at it, and objects of unexpected types."""

import ctypes
import gc

import numpy
import pytest
import weft


class Acting:
    """A number that does something when it is asked for its value."""

    def __init__(self, action, value):
        self.action, self.value = action, value

    def __index__(self):
        self.action()
        return self.value

    def __float__(self):
        self.action()
        return float(self.value)


class Growing:
    """A sequence that has more items each time it is walked."""

    def __init__(self, *sizes):
        self.sizes = list(sizes)
        self.walks = 0

    def __len__(self):
        return 3

    def __getitem__(self, place):
        return place

    def __iter__(self):
        size = self.sizes[min(self.walks, len(self.sizes) - 1)]
        self.walks += 1
        return iter(range(size))


@pytest.mark.parametrize("dtype", [None, "f4", "D", "?"])
@pytest.mark.parametrize("nested", [False, True])
def test_a_sequence_is_walked_once(nested, dtype):
    sequence = Growing(3, 100_000)
    given = [sequence, [7, 8, 9]] if nested else sequence
    expected = [[0, 1, 2], [7, 8, 9]] if nested else [0, 1, 2]
    numpy.testing.assert_array_equal(weft.array(given, dtype), numpy.array(expected, dtype))
    assert sequence.walks == 1


def test_joined_sequences_are_walked_once():
    class Arrays(Growing):
        def __iter__(self):
            return (weft.ones(2) for _ in super().__iter__())

    arrays = Arrays(3, 1000)
    weft.ones(2).view(type("Sub", (weft.ndarray,), {}))  # from here on types are looked at
    assert weft.concatenate(arrays).shape == (6,)
    assert arrays.walks == 1


def test_an_element_changes_the_list_that_it_is_in():
    items = [1.0, 2.0, 3.0]
    items[1] = Acting(lambda: items.extend([5.0] * 1000), 2)
    assert weft.array(items).dtype == object  # as NumPy has it, which never asks for the number
    items = [1, 2, 3]
    items[1] = type("Number", (int,), {"__int__": lambda self: items.extend([5] * 1000) or 2})(2)
    numpy.testing.assert_array_equal(weft.array(items, "i4"), [1, 2, 3])


CHANGES = {
    "other shape": lambda x: setattr(x, "shape", (x.size, 1, 1)),
    "one axis": lambda x: setattr(x, "shape", x.size),
    "smaller": lambda x: x.resize(1, refcheck=False),
    "empty": lambda x: x.resize((0,), refcheck=False),
    "larger": lambda x: x.resize((200, 300), refcheck=False),
    "other dtype": lambda x: x.__setstate__(weft.ones((2, 2), "D").__reduce__()[2]),
    "one byte": lambda x: x.__setstate__(weft.ones((), "b").__reduce__()[2]),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("axes", [2, 7])
def test_an_index_changes_the_array(change, axes):
    """What is read is of the array as it is when the index is known, or there is an error."""
    for key in (
        lambda number: (slice(0, number), slice(None)),
        lambda number: (slice(None, None, number), 3),
        lambda number: (number, number),
        lambda number: ([0, 1], number),
        lambda number: ([0, number],),
    ):
        x = weft.arange(12.0).reshape((3, 4) + (1,) * (axes - 2))[...]
        x = weft.array(x)  # an owner
        number = Acting(lambda x=x: CHANGES[change](x), 1)
        try:
            result = x[key(number)]
            assert numpy.isin(numpy.asarray(result).real, numpy.arange(12.0)).all()
        except (IndexError, ValueError, TypeError):
            pass
        x = weft.array(weft.arange(12.0).reshape((3, 4) + (1,) * (axes - 2)))
        number = Acting(lambda x=x: CHANGES[change](x), 1)
        try:
            x[key(number)] = 5
        except (IndexError, ValueError, TypeError):
            pass
        repr(x)


@pytest.mark.parametrize("change", CHANGES)
def test_a_shape_changes_the_array_that_gets_it(change):
    x = weft.arange(12.0)
    try:
        x.shape = (3, Acting(lambda: CHANGES[change](x), 4))
    except (ValueError, TypeError, AttributeError):
        pass
    assert x.nbytes == len(x.tobytes())
    repr(x)


@pytest.mark.parametrize("change", CHANGES)
def test_a_value_changes_the_array_that_it_is_stored_in(change):
    x = weft.arange(12.0).reshape(3, 4).copy()
    held = x[1]  # refers to the same memory
    try:
        x[1:] = [[Acting(lambda: CHANGES[change](x), 1)] * 4] * 2
    except (ValueError, TypeError):
        pass
    assert held.tolist() in ([4, 5, 6, 7], [1, 1, 1, 1])


def test_memory_of_others_ends_while_an_array_gets_another():
    """The owner of the memory that an array had sees the array as it is now."""
    seen = []

    class Owner:
        def __init__(self, array):
            self.array, self.memory = array, numpy.arange(6.0)

        @property
        def __array_interface__(self):
            return self.memory.__array_interface__

        def __del__(self):
            seen.append(self.array().tolist() if self.array() is not None else None)

    x = weft.zeros(0)
    held = lambda: x  # noqa: E731
    x = weft.asarray(Owner(held), copy=False)
    x.__setstate__(weft.ones((2, 2), "b").__reduce__()[2])
    gc.collect()
    assert seen == [[[1, 1], [1, 1]]]


CALLS = [
    "np.add.at(a, [4000], Converts(numpy.ones(1)))",
    "np.add.at(a, [Number(4000)], 1)",
    "np.add.reduceat(a, [4000], Number(0))",
    "np.add.reduceat(a, [4000], 0, HasType(np.dtype('d')))",
    "np.partition(a, Number(4000))",
    "a.partition(Number(4000))",
    "np.take(a, [4000], Number(0))",
    "np.take(a, [Number(4000)])",
    "np.take_along_axis(a, np.array([4000]), Number(0))",
    "np.put(a, [4000], Converts(numpy.ones(1)))",
    "np.put_along_axis(a, np.array([4000]), Converts(numpy.ones(1)), 0)",
    "np.place(a, np.ones(5000, '?'), Converts(numpy.ones(5000)))",
    "np.copyto(a, Converts(numpy.ones(5000)))",
    "np.copyto(a, 1, where=Converts(numpy.ones(5000, '?')))",
    "np.add(a, 1, out=a, where=Converts(numpy.ones(5000, '?')))",
    "np.add(Converts(numpy.ones(5000)), 1, out=a)",
    "np.clip(a, Converts(numpy.ones(5000)), 9, out=a)",
    "a.__setitem__(slice(1000, 4000), Converts(numpy.ones(3000)))",
    "a.fill(Converts(numpy.array(1.0)))",
    "np.cumsum(a, Number(0))",
    "a.sum(axis=Number(0), out=np.array(0.0))",
    "np.sum(a, where=Converts(numpy.ones(5000, '?')))",
    "np.dot(a, Converts(numpy.ones(5000)))",
    "np.convolve(a, Converts(numpy.ones(5000)))",
    "np.interp(Converts(numpy.ones(5000)), a, a)",
    "np.concatenate([a, Converts(numpy.ones(5000))], out=a)",
    "np.choose(Converts(numpy.zeros(5000, int)), [a, a])",
    "np.where(Converts(numpy.ones(5000, '?')), a, a)",
    "np.repeat(a, Number(2))",
    "np.roll(a, Number(2))",
    "np.insert(a, Number(4000), 1)",
    "np.delete(a, Number(4000))",
    "np.searchsorted(a, Converts(numpy.ones(5000)))",
    "np.bincount(np.arange(5000), Converts(numpy.ones(5000)))",
    "np.random.default_rng(1).shuffle(a)",
    "np.random.default_rng(1).permuted(a, out=a, axis=Number(0))",
    "np.einsum('i,i', a, Converts(numpy.ones(5000)), out=np.array(0.0))",
    "a.item(Number(4000))",
    "a.take(Number(4000))",
    "a[Number(4000)]",
    "a[[1, Number(4000)]]",
    "a.reshape(Number(50), 100)",
    "a.view(HasType(np.dtype('D')))",
    "a.astype(HasType(np.dtype('D')))",
    "np.lib.stride_tricks.as_strided(a, (Number(4000),), (8,))",
    "np.broadcast_to(a, (Number(3), 5000))",
    "a.real.__setitem__(slice(Number(0), None), 5)",
    "np.frombuffer(a, 'd', Number(5000))",
    "np.ndarray((Number(5000),), 'd', a)",
    "a.tobytes(order=Converts(1))",
    "a.flat.__setitem__(slice(0, Number(4000)), 5)",
    "a.flat[Number(4000)]",
    "a.swapaxes(0, Number(0))",
    "np.linspace(0, a, Number(3))",
    "np.matmul(a, Converts(numpy.ones(5000)), out=np.array(0.0))",
    "np.vdot(a, Converts(numpy.ones(5000)))",
    "np.diff(a, Number(2))",
    "np.percentile(a, Converts(numpy.array(50.0)))",
    "np.quantile(a, 0.5, axis=Number(0), weights=np.ones(5000), method='inverted_cdf')",
    "np.unique(a, axis=Number(0))",
    "np.lexsort((a, Converts(numpy.ones(5000))))",
    "np.histogram(a, weights=Converts(numpy.ones(5000)))",
    "np.apply_along_axis(lambda r: shrink() or r, 0, a)",
    "np.vectorize(lambda v: shrink() or v)(a)",
    "np.fromfunction(lambda i: shrink() or i, (5000,))",
    "np.piecewise(a, [a > 3], [lambda v: shrink() or v])",
    "np.pad(a, 3, lambda *v: shrink())",
    "sorted(a, key=lambda v: shrink() or v)",
    "np.array_split(a, Number(7))",
    "np.fill_diagonal(a.reshape(50, 100), Converts(numpy.ones(1)))",
    "np.nan_to_num(a, nan=Converts(numpy.array(1.0)))",
    "np.round(a, Number(1), out=a)",
    "np.compress(Converts(numpy.ones(5000, '?')), a)",
    "np.extract(Converts(numpy.ones(5000, '?')), a)",
    "np.putmask(a, Converts(numpy.ones(5000, '?')), 1)",
    "np.select([Converts(numpy.ones(5000, '?'))], [a])",
    "np.digitize(a, Converts(numpy.ones(5)))",
    "np.cross(a.reshape(-1, 2), Converts(numpy.ones((2500, 2))))",
]


class Converts:
    """An array of another library, which does something when it is asked for."""

    def __init__(self, action, value):
        self.action, self.value = action, value

    def __array__(self, dtype=None, copy=None):
        self.action()
        return self.value


class HasType:
    """The same for a dtype."""

    def __init__(self, action, value):
        self.action, self.value = action, value

    @property
    def dtype(self):
        self.action()
        return self.value


@pytest.mark.parametrize("text", CALLS)
def test_an_argument_shrinks_the_first_one(text):
    """Whatever was found of an array before may be wrong when the call is made: what the engine needs it checks."""
    a = weft.arange(5000.0).copy()

    def shrink():
        a.resize(1, refcheck=False)

    names = {"np": weft, "numpy": numpy, "a": a, "shrink": shrink}
    for name, kind in (("Number", Acting), ("Converts", Converts), ("HasType", HasType)):
        names[name] = lambda value, kind=kind: kind(shrink, value)
    try:
        result = eval(text, names)
        if isinstance(result, weft.ndarray):
            result.tolist()
    except Exception as error:
        assert not isinstance(error, (weft.InternalError, SystemError))
    assert a.nbytes == len(a.tobytes())
    repr(a)


# ---- what is no array, scalar or dtype ----


@pytest.mark.parametrize(
    "name", [name for name in dir(weft.ndarray) if callable(getattr(weft.ndarray, name, None))]
)
def test_methods_of_arrays_refuse_other_objects(name):
    if name in ("__new__", "__class__", "__init_subclass__", "__subclasshook__"):
        return
    for arguments in ((), (1,), (0, 0), (0, 0, 0)):
        for given in (5, "text", None, object(), weft.float64(1), weft.dtype("f8")):
            try:
                getattr(weft.ndarray, name)(given, *arguments)
            except Exception as error:
                assert not isinstance(error, (weft.InternalError, SystemError))


@pytest.mark.parametrize(
    "name", [name for name in dir(weft.generic) if callable(getattr(weft.generic, name, None))]
)
def test_methods_of_scalars_refuse_other_objects(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # tofile writes
    if name in ("__new__", "__class__", "__init_subclass__", "__subclasshook__"):
        return
    for arguments in ((), ("shape",)):
        for given in (5, "text", None, weft.ones(3)):
            try:
                getattr(weft.generic, name)(given, *arguments)
            except Exception as error:
                assert not isinstance(error, (weft.InternalError, SystemError))


def test_properties_of_dtypes_refuse_other_objects():
    for name, attribute in vars(weft.dtype).items():
        if isinstance(attribute, property) and name not in ("isnative", "hasobject"):
            try:
                attribute.fget(5)
            except TypeError as error:
                assert "dtype" in str(error)
    with pytest.raises(TypeError):
        weft.dtype.__reduce__(5)


# ---- buffers ----


def test_buffers_without_strides_or_shape():
    numbers = (ctypes.c_int * 3)(1, 2, 3)
    numpy.testing.assert_array_equal(weft.array(numbers), [1, 2, 3])
    table = (ctypes.c_double * 3 * 2)((1, 2, 3), (4, 5, 6))
    numpy.testing.assert_array_equal(weft.asarray(table), [[1, 2, 3], [4, 5, 6]])
    shared = weft.asarray(numbers, copy=False)
    shared[1] = 7
    assert list(numbers) == [1, 7, 3]


@pytest.mark.parametrize("value", [numpy.datetime64("2020"), numpy.timedelta64(5)])
def test_dates_are_no_bytes(value):
    assert weft.array(value).dtype == value.dtype
    assert weft.add(value, 1) == value + 1
    for call in (weft.int64, weft.poly):
        with pytest.raises(TypeError):
            call(value)


# ---- arguments stay what they are ----


def test_arguments_are_not_changed():
    turns, width, start = weft.array(5), weft.arange(4.0), weft.array(2)
    weft.rot90(weft.ones((2, 2)), turns)
    weft.rollaxis(weft.ones((1, 2, 3)), 0, start)
    with pytest.raises(ValueError):
        weft.array_repr(weft.ones(2), width)
    assert (turns, start) == (5, 2)
    numpy.testing.assert_array_equal(width, [0, 1, 2, 3])
