"""Operands that override: `__array_ufunc__`, `__array_wrap__` of foreign objects, `__array_function__`, `like=`.

Each program runs with NumPy and with weft, and has to show overrides the same.
"""

import numpy
import pytest
import weft


def shown(value, np):
    """What an override was given, without what differs between the modules."""
    if isinstance(value, tuple):
        return tuple(shown(each, np) for each in value)
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value).__name__, value.tolist()
    if isinstance(value, np.dtype):
        return "dtype", value.name
    return value if isinstance(value, (int, float, str, list, type(None))) else type(value).__name__


def names_of(np):
    def ask(self, ufunc, method, *inputs, **options):
        options = {key: shown(value, np) for key, value in options.items()}
        return ufunc.__name__, method, shown(inputs, np), options, type(self).__name__

    class Foreign:
        __array_ufunc__ = ask

    class Derived(Foreign):
        pass

    class Recording(np.ndarray):
        __array_ufunc__ = ask

    class Refusing:
        def __array_ufunc__(self, *args, **options):
            return NotImplemented

        def __repr__(self):
            return "refusing"

    class OptedOut:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "radd"

        def __rmatmul__(self, other):
            return "rmatmul"

        def __eq__(self, other):
            return "eq"

    class Wrapping:
        """As arrays of other libraries were before NEP 13."""

        def __array__(self, dtype=None, copy=None):
            return np.array([1.0, 2.0, 3.0])

        def __array_wrap__(self, array, context=None, return_scalar=False):
            return "wrapped", shown(array, np), context and context[0].__name__, return_scalar

    class Low(Wrapping):
        __array_priority__ = -1

    class High(Wrapping):
        __array_priority__ = 10

        def __radd__(self, other):
            return "radd of high"

    class Passing(np.ndarray):
        """As NumPy's guide has it: computes with plain arrays and gives its own type back."""

        def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
            plain = [x.view(np.ndarray) if isinstance(x, Passing) else x for x in inputs]
            if out is not None:
                options["out"] = tuple(x.view(np.ndarray) if isinstance(x, Passing) else x for x in out)
            result = super().__array_ufunc__(ufunc, method, *plain, **options)
            return result.view(Passing) if isinstance(result, np.ndarray) else result

    a = np.arange(3.0)
    return {
        "np": np,
        "a": a,
        "o": Foreign(),
        "d": Derived(),
        "s": a.view(Recording),
        "r": Refusing(),
        "n": OptedOut(),
        "w": Wrapping(),
        "low": Low(),
        "high": High(),
        "p": np.arange(3.0).view(Passing),
    }


def same(program):
    answers = []
    for np in (numpy, weft):
        try:
            answers.append(shown(eval(program, names_of(np)), np))
        except Exception as error:
            answers.append((type(error).__name__, str(error).replace("weft.", "numpy.")))
    return answers


UFUNCS = """
    np.add(a, o)
    np.add(o, a, a)
    np.add(a, a, o)
    np.add(a, a, out=o)
    np.add(a, a, out=(o,))
    np.add(o, a, None)
    np.add(o, a, out=None)
    np.add(o, a, out=(None,))
    np.add(o, a, out=...)
    np.add.reduce(o, out=...)
    np.add(p, 1, out=...)
    np.add(a, w, out=...)
    np.modf(o, a, a)
    np.modf(o, a)
    np.modf(o, out=(a, None))
    np.add(o, a, where=True, casting='no', sig='dd->d')
    np.add(o, a, dtype='f4', subok=False)
    np.add.reduce(o)
    np.add.reduce(o, 1, 'f4', a, True, 0, True)
    np.add.reduce(o, 0, None, None, False, None)
    np.add.reduce(o, axis=0, out=None, keepdims=True)
    np.add.reduce(a, out=o)
    np.add.accumulate(o, 0, None, a)
    np.add.accumulate(o, out=(a,))
    np.add.reduceat(o, [0, 1], 0, None, None)
    np.add.outer(o, a)
    np.add.outer(a, o, out=a)
    np.add.at(o, [0], 1)
    np.add.at(a, [0], o)
    np.negative.at(o, [0])
    np.add.at(a, o, 1)
    np.matmul(o, a)
    np.matmul(a, o, out=a)
    np.vecdot(o, a)
    a + o
    o.__array_ufunc__(np.add, 'x')
    a - o
    a @ o
    a.__iadd__(o)
    a.__imatmul__(o)
    a == o
    a < o
    -s
    abs(s)
    +s
    s + 1
    1 + s
    s ** 2
    s ** 0.5
    s ** 3
    2 ** s
    divmod(s, 2)
    s @ a
    s.__iadd__(2)
    s.__ipow__(2)
    s.__ipow__(3)
    s.sum()
    s.sum(0, keepdims=True)
    s.sum(0, out=a)
    s.max()
    s.any()
    s.all(0)
    s.prod(dtype='f4')
    s.min(initial=3)
    s.cumsum()
    s.cumprod(0)
    s.clip(0, 1)
    s.clip(0)
    s.round()
    s.conj()
    s.dot(a)
    s.argmax()
    np.sum(s)
    np.clip(s, 0, 1)
    np.float64(2) * o
    np.float64(2) * s
    s * np.float64(2)
    a[0] + o
    o + 0 if hasattr(o, '__add__') else None
    np.add(o)
    np.add(o, a, foo=1)
    np.add.reduce(o, foo=1)
    np.add(o, a, a, out=a)
    np.modf(o, out=a)
    np.add(o, a, out=(a, a))
    np.add(a, o, 1, 2, 3)
    np.add(o, d)
    np.add(d, o)
    np.add(s, o)
    np.add(o, s)
    np.add(r, o)
    np.add(a, r)
    np.add(a, r, out=a)
    np.add.reduce(r)
    a + r
    a + n
    a - n
    a @ n
    a == n
    a != n
    a < n
    np.add(a, n)
    np.add(n, o)
    n + a
    a.__iadd__(n)
    a.__isub__(n)
    np.add.reduce(n)
    np.add(a, w)
    np.add(w, a)
    np.negative(w)
    np.add.reduce(w)
    np.add(w, 2)
    np.add(a, low)
    np.add(w, low)
    np.add(low, w)
    np.add(a, high)
    np.add(w, high)
    a + high
    a + w
    p + 1
    1 + p
    np.sqrt(p)
    np.add(p, 1, out=p)
    p.sum()
    p.__iadd__(1)
    np.add(p, o)
    p + s
    a.__array_ufunc__(np.add, '__call__', a, o)
    a.__array_ufunc__(np.add, '__call__', a, a)
    np.ndarray.__array_ufunc__(a, np.add, 'reduce', a)
    np.ndarray.__array_ufunc__(s, np.add, 'reduce', s)
    a.__array_ufunc__(np.add, 'foo', a)
""".strip().splitlines()


@pytest.mark.parametrize("program", [line.strip() for line in UFUNCS])
def test_ufuncs(program):
    theirs, ours = same(program)
    assert ours == theirs


def function_names(np):
    calls = []

    class Foreign:
        def __array_function__(self, func, types, args, kwargs):
            calls.append((func.__name__, [kind.__name__ for kind in types], len(args), sorted(kwargs)))
            return "foreign"

    class Derived(Foreign):
        def __array_function__(self, func, types, args, kwargs):
            return "derived"

    class Refusing:
        def __array_function__(self, func, types, args, kwargs):
            calls.append((func.__name__, [kind.__name__ for kind in types]))
            return NotImplemented

    class Recording(np.ndarray):
        def __array_function__(self, func, types, args, kwargs):
            calls.append((func.__name__, [kind.__name__ for kind in types]))
            return super().__array_function__(func, types, args, kwargs)

    a = np.arange(3.0)
    return {
        "np": np,
        "a": a,
        "f": Foreign(),
        "d": Derived(),
        "r": Refusing(),
        "s": a.view(Recording),
        "calls": calls,
    }


FUNCTIONS = """
    np.sum(f)
    np.sum(a=f, axis=0)
    np.sum(a, out=f)
    np.mean(f, 0, keepdims=True)
    np.concatenate([f, a])
    np.concatenate((a, f), axis=0)
    np.stack((f, f))
    np.vstack([a, f])
    np.hstack([f])
    np.where(f, 1, 2)
    np.linspace(f, 1)
    np.copyto(f, a)
    np.einsum('i', f)
    np.full_like(f, 3)
    np.broadcast_to(f, 3)
    np.broadcast_arrays(a, f)
    np.median(f)
    np.histogram(f)
    np.pad(f, 1)
    np.unique(f)
    np.isclose(a, f)
    np.array_equal(a, f)
    np.dot(a, f)
    np.concat([a, f])
    np.permute_dims(f)
    np.amax(f)
    np.around(f)
    np.polyval(f, a)
    np.nanmedian(f)
    np.packbits(f)
    np.reshape(f, (1,))
    np.shape(f)
    np.ndim(f)
    np.iscomplexobj(f)
    np.select([f], [a])
    np.sum(d)
    np.concatenate([f, d])
    np.concatenate([d, f])
    np.sum(r)
    np.concatenate([a, r])
    np.concatenate([r, f])
    np.concatenate([s, r])
    np.sum(s)
    np.concatenate([s, s])
    np.concatenate([a, s])
    np.zeros(3, like=f)
    np.empty(3, like=f)
    np.full(3, 1, like=d)
    np.eye(3, like=d)
    np.arange(3, like=f)
    np.array(1, like=f)
    np.asarray(1, like=f)
    np.asanyarray(1, like=f)
    np.identity(2, like=f)
    np.frombuffer(b'1', like=d)
    np.ascontiguousarray([1], like=d)
    np.array(1, like=3)
    np.array(1, like=r)
    np.array(1, like=a)
    np.zeros(2, like=s)
    np.array(1, like=None)
    np.ndarray.__array_function__(a, np.sum, (np.ndarray,), (a,), {})
    np.ndarray.__array_function__(a, np.sum, (int,), (a,), {})
""".strip().splitlines()


@pytest.mark.parametrize("program", [line.strip() for line in FUNCTIONS])
def test_functions(program):
    answers = []
    for np in (numpy, weft):
        names = function_names(np)
        try:
            value = shown(eval(program, names), np)
        except Exception as error:
            value = (
                type(error).__name__,
                str(error).replace("weft", "numpy").split("__main__")[0].split("<")[0],
            )
        answers.append((value, names["calls"]))
    assert answers[1] == answers[0]


@pytest.mark.parametrize("np", [numpy, weft])
def test_containers_of_the_guide(np):
    """NumPy's guide to interoperability: a diagonal array that knows functions by a table."""
    table = {}

    class Diagonal:
        def __init__(self, n, value):
            self.n, self.value = n, value

        def __array__(self, dtype=None, copy=None):
            return self.value * np.eye(self.n, dtype=dtype)

        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            if method != "__call__":
                return NotImplemented
            values = [x.value if isinstance(x, Diagonal) else x for x in inputs]
            if not all(isinstance(x, (int, float)) for x in values):
                return NotImplemented
            return Diagonal(self.n, ufunc(*values, **options))

        def __array_function__(self, func, types, args, kwargs):
            if func not in table or not all(issubclass(kind, Diagonal) for kind in types):
                return NotImplemented
            return table[func](*args, **kwargs)

    table[np.sum] = lambda x: x.n * x.value
    x = Diagonal(5, 2)
    assert np.sum(x) == 10
    assert np.multiply(x, 3).value == 6 and np.add(x, x).value == 4
    with pytest.raises(TypeError, match="no implementation found for"):
        np.mean(x)
    with pytest.raises(TypeError, match="all returned NotImplemented"):
        np.arange(5.0) + x
    assert np.asarray(x).tolist() == np.diag([2.0] * 5).tolist()


# ---- NumPy's own arrays, ufuncs and functions ----


def test_numpys_ufuncs_on_wefts_arrays():
    x, theirs = weft.arange(4.0), numpy.arange(4.0)
    assert type(numpy.add(x, theirs)) is weft.ndarray
    assert type(theirs + x) is weft.ndarray and (theirs + x).tolist() == [0.0, 2.0, 4.0, 6.0]
    assert type(numpy.float64(2) * x) is weft.ndarray
    assert type(numpy.add.reduce(x)) is weft.float64
    assert type(numpy.matmul(x, theirs)) is weft.float64
    assert type(numpy.add.outer(x, theirs)) is weft.ndarray
    with_out = numpy.sqrt(x, out=theirs)
    assert with_out is theirs and theirs[3] == numpy.sqrt(3)
    theirs += x
    assert type(theirs) is numpy.ndarray and theirs[2] == 2 + numpy.sqrt(2)
    mine = weft.zeros(4)
    assert numpy.add(theirs, 1, out=mine) is mine and mine[0] == 1.0
    assert numpy.maximum(x, numpy.array([object] * 0 + [1, 5, 1, 5], dtype=object)).tolist() == [1, 5, 2, 5]
    assert numpy.isnat(numpy.array(["2020"], dtype="M8[D]")).tolist() == [False]


def test_numpys_functions_on_wefts_arrays():
    x = weft.arange(6.0).reshape(2, 3)
    assert type(numpy.concatenate([x, x])) is weft.ndarray
    assert numpy.mean(x) == 2.5 and numpy.linalg.norm(x) == weft.sqrt(weft.sum(x * x))
    assert numpy.concatenate([numpy.ones((1, 3)), x]).shape == (3, 3)
    numpy.testing.assert_allclose(x, numpy.arange(6.0).reshape(2, 3))
    assert numpy.fft.fft(x).shape == (2, 3)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_numpys_subclasses():
    x = weft.arange(3.0)
    masked = numpy.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
    for result in (x + masked, masked + x, weft.add(x, masked)):
        assert type(result) is numpy.ma.MaskedArray and result.mask.tolist() == [False, True, False]
        assert result.data[2] == 5.0
    assert weft.sum(masked) == 4.0 and type(weft.cumsum(masked)) is numpy.ma.MaskedArray
    assert weft.concatenate([x, masked]).tolist() == numpy.concatenate([numpy.arange(3.0), masked]).tolist()
    matrix = numpy.matrix([[1.0, 2.0, 3.0]])
    assert weft.mean(matrix, axis=0).shape == (1, 3)
    assert type(x + matrix) is numpy.matrix
    assert type(x + numpy.arange(3.0)) is weft.ndarray


def test_numpys_mapped_files(tmp_path):
    numpy.arange(4.0).tofile(tmp_path / "x")
    mapped = numpy.memmap(tmp_path / "x", "f8", "r+")
    x = weft.ones(4)
    for result in (
        x + mapped,
        mapped + x,
        weft.sqrt(mapped),
        weft.cumsum(mapped),
        weft.concatenate([x, mapped]),
    ):
        assert type(result) is weft.ndarray
    assert (x + mapped).tolist() == [1.0, 2.0, 3.0, 4.0] and weft.sum(mapped) == 6.0
    weft.asarray(mapped, copy=False)[0] = 5.0
    assert mapped[0] == 5.0


# ---- __array_interface__ and __array__ ----


@pytest.mark.host  # memory that the CPU sees
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_array_interface_of_arrays(dtype):
    x = weft.arange(12).astype(dtype).reshape(3, 4)
    for view in (x, x.T, x[::2, ::-1], x[1:1], x[0, 0:1].reshape(())):
        said, expected = view.__array_interface__, numpy.asarray(view).__array_interface__
        assert said.keys() == expected.keys()
        if view.size:
            assert said == expected
    said = x.__array_interface__
    assert said["data"][0] == numpy.asarray(x).ctypes.data

    class Holder:
        __array_interface__ = said

    theirs = numpy.asarray(Holder())
    theirs[1, 1] = 0
    assert x[1, 1] == 0
    x[2, 2] = 1
    assert theirs[2, 2] == 1


class Described:
    def __init__(self, source, **changes):
        self.source = source
        self.__array_interface__ = {
            key: value for key, value in {**source.__array_interface__, **changes}.items() if value is not ...
        }


@pytest.mark.host  # memory that the CPU sees
def test_array_interface_of_others():
    source = numpy.arange(12.0).reshape(3, 4)
    shared = weft.asarray(Described(source[:, ::2]), copy=False)
    shared[0, 0] = 9
    assert source[0, 0] == 9 and shared.tolist() == source[:, ::2].tolist()
    copied = weft.asarray(Described(source))
    copied[0, 0] = 1
    assert source[0, 0] == 9
    assert (weft.arange(4.0) + Described(source)).tolist() == (numpy.arange(4.0) + source).tolist()
    source.flags.writeable = False
    assert not weft.asarray(Described(source), copy=False).flags.writeable
    swapped = source.astype(">f8")
    assert weft.asarray(Described(swapped)).tolist() == source.tolist()
    with pytest.raises(ValueError, match="copy"):
        weft.asarray(Described(swapped), copy=False)
    memory = bytearray(32)
    x = weft.asarray(Described(source, data=memory, shape=(3,), offset=8, strides=None), copy=False)
    x[0] = 1.0
    assert memory[8:16] == numpy.float64(1).tobytes()


@pytest.mark.parametrize(
    "changes",
    [
        {"typestr": ...},
        {"shape": ...},
        {"typestr": 5},
        {"typestr": "<q9"},
        {"shape": [3]},
        {"shape": (-1,)},
        {"shape": (2**62, 8)},
        {"shape": ("a",)},
        {"strides": (8, 8)},
        {"strides": [8]},
        {"strides": (2**62,)},
        {"data": (1, 2, 3)},
        {"data": (1.5, False)},
        {"data": ("zz", False)},
        {"data": (0, False)},
        {"data": 5},
        {"data": b"123"},
    ],
    ids=str,
)
@pytest.mark.parametrize("copy", [None, False])
def test_hostile_array_interfaces(changes, copy):
    with pytest.raises((TypeError, ValueError)):
        weft.asarray(Described(numpy.arange(3.0), **changes), copy=copy)


@pytest.mark.parametrize("np", [numpy, weft])
def test_array_method(np):
    class Converting:
        def __array__(self, dtype=None, copy=None):
            return numpy.array([1.5, 2.5], dtype=dtype)

    x = Converting()
    assert np.asarray(x).tolist() == [1.5, 2.5]
    assert np.asarray(x, dtype="i4").tolist() == [1, 2]
    assert (np.ones(2) + x).tolist() == [2.5, 3.5]
    assert np.array([x, x]).shape == (2, 2)
    with pytest.raises(ValueError):

        class Bad:
            def __array__(self, dtype=None, copy=None):
                return 5

        try:
            np.asarray(Bad())
        except TypeError as error:  # weft's words
            raise ValueError(str(error)) from error


def test_overrides_on_each_device(device):
    class Foreign:
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            return ufunc.__name__, method, [type(x).__name__ for x in inputs]

    x = weft.array(numpy.arange(3.0))
    assert x + Foreign() == ("add", "__call__", ["ndarray", "Foreign"])
    result = numpy.add(x, 1.0)
    assert type(result) is weft.ndarray and result.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("kind", ["int64", "int8", "float64", "bool_"])
def test_a_scalar_is_a_number_to_a_class_that_knows_numbers_alone(kind):
    class Length:
        __array_priority__ = 100

        def __init__(self, value):
            self.value = value

        def __mul__(self, other):
            return Length(self.value * other) if type(other) in (int, float, bool) else NotImplemented

        __rmul__ = __mul__

        def __truediv__(self, other):
            return Length(self.value / other) if type(other) in (int, float, bool) else NotImplemented

    number = getattr(weft, kind)(1)
    assert (number * Length(3)).value == (Length(3) * number).value == (Length(3) / number).value == 3
    with pytest.raises(TypeError, match="unsupported operand"):
        number / Length(3)
    with pytest.raises(TypeError, match="unsupported operand"):
        number + object()
    assert weft.int64(2) * "ab" == "ab" * weft.int64(2) == "abab"


def test_the_operator_of_products_hands_over_the_ufunc():
    """pandas asks it for `nin`: `x @ series` failed."""

    class Asked:
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            return ufunc, method, len(inputs)

    x = weft.arange(3.0)
    assert x @ Asked() == (weft.matmul, "__call__", 2)
    assert weft.matmul(x, Asked())[0] is weft.matmul and (x @ Asked())[0].nin == 2
