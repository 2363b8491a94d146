"""Functions that hand over to a method of their argument (weft/_protocols/own_methods.py), as NumPy's do.

tests/python/libraries has pandas' tables and SciPy's sparse matrices.
"""

import numpy
import pytest
import weft

NAMES = "take reshape choose repeat swapaxes transpose argpartition argsort argmax argmin searchsorted nonzero compress"
NAMES += " clip cumsum cumprod round squeeze put __getitem__"


class Table:
    """Tells how its methods are called."""

    ndim = 2

    def __len__(self):
        return 2


for _name in NAMES.split():
    setattr(Table, _name, lambda self, *args, _name=_name, **options: (_name, args, options))


class Series:
    """Has methods of its own, of few parameters, and wraps what is computed in their place."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return numpy.array(self.values, dtype)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return Series(array.tolist())

    def __len__(self):
        return len(self.values)

    def cumsum(self):
        raise ZeroDivisionError

    def repeat(self, repeats, axis):
        return "repeated", repeats, axis

    def __eq__(self, other):
        return type(other) is Series and self.values == other.values


CALLS = {
    "take": lambda np, a: np.take(a, [0], axis=1),
    "reshape": lambda np, a: np.reshape(a, (2, -1), "F"),
    "reshape, copied": lambda np, a: np.reshape(a, -1, copy=True),
    "choose": lambda np, a: np.choose(a, [1, 2]),
    "repeat": lambda np, a: np.repeat(a, 2),
    "swapaxes": lambda np, a: np.swapaxes(a, 0, 1),
    "transpose": lambda np, a: np.transpose(a),
    "permute_dims": lambda np, a: np.permute_dims(a, (1, 0)),
    "argpartition": lambda np, a: np.argpartition(a, 1),
    "argsort": lambda np, a: np.argsort(a),
    "argmax": lambda np, a: np.argmax(a, 0),
    "argmin": lambda np, a: np.argmin(a, keepdims=True),
    "searchsorted": lambda np, a: np.searchsorted(a, 3, "right"),
    "nonzero": lambda np, a: np.nonzero(a),
    "compress": lambda np, a: np.compress([True], a, axis=0),
    "clip": lambda np, a: np.clip(a, 1, 2),
    "clip, by name": lambda np, a: np.clip(a, min=1, max=2),
    "cumsum": lambda np, a: np.cumsum(a, axis=1),
    "cumprod": lambda np, a: np.cumprod(a, dtype=float),
    "round": lambda np, a: np.round(a, 2),
    "around": lambda np, a: np.around(a=a),
    "squeeze": lambda np, a: np.squeeze(a),
    "squeeze, an axis": lambda np, a: np.squeeze(a, 0),
    "put": lambda np, a: np.put(a, [0], [1]),
    "flip": lambda np, a: np.flip(a),
    "flip, an axis": lambda np, a: np.flip(a, -1),
    "ndim": lambda np, a: np.ndim(a),
}


@pytest.mark.parametrize("call", CALLS)
def test_methods_are_called_as_numpy_calls_them(call):
    found, expected = (CALLS[call](np, Table()) for np in (weft, numpy))
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda np, a: np.cumsum(a),  # whose method takes no axis
        lambda np, a: np.round(a, 1),
        lambda np, a: np.clip(a, 1, 2),
        lambda np, a: np.argsort(a),
        lambda np, a: np.transpose(a),
        lambda np, a: np.take(a, [1, 0]),
        lambda np, a: np.repeat(a, 2),
    ],
)
def test_what_a_method_does_not_take_is_wrapped(call):
    assert call(weft, Series([3.25, 1.0])) == call(numpy, Series([3.25, 1.0]))


def test_errors_of_methods_are_errors():
    class Broken(Table):
        def cumsum(self, **options):
            raise ValueError("no sums")

        def squeeze(self):
            raise TypeError("no squeezing")

    with pytest.raises(ValueError, match="no sums"):
        weft.cumsum(Broken())
    with pytest.raises(TypeError, match="no squeezing"):
        weft.squeeze(Broken())
    with pytest.raises(TypeError):
        weft.cumsum(Series([1.0]), 1, 2, 3, 4)


def test_arrays_of_weft_and_of_other_libraries_are_weft_s():
    x = weft.arange(3.0)
    assert type(weft.cumsum(numpy.arange(3.0))) is type(weft.take(x, numpy.array([0]))) is weft.ndarray
    assert type(weft.transpose(numpy.float64(1))) is weft.ndarray
    assert weft.round([1.234], 1).tolist() == [1.2]


def test_a_sequence_without_a_length_is_an_object():
    class Matrix:
        def __getitem__(self, index):
            return self

        def __len__(self):
            raise TypeError("the length is ambiguous")

    one = Matrix()
    for np in (weft, numpy):
        assert (
            np.asarray(one).shape == () and np.asarray(one).dtype == object and np.array([one]).shape == (1,)
        )


def test_errors_of_lengths_that_mean_more_are_errors():
    class Deep:
        def __getitem__(self, index):
            return self

        def __len__(self):
            raise RecursionError

    for np in (weft, numpy):
        with pytest.raises(RecursionError):
            np.asarray(Deep())


def test_dtypes_of_tables():
    class Column(Series):
        dtype = numpy.dtype("float32")

    assert weft.result_type(Column([1.0]), weft.int8) == weft.float32
    assert weft.result_type(Column([1.0])) == numpy.result_type(Column([1.0]))


@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array", "coo_array"])
def test_sparse_matrices(kind):
    sparse = pytest.importorskip("scipy.sparse")
    m = getattr(sparse, kind)(numpy.array([[1.0, 0.0], [2.0, -3.0]]))
    for call in (
        lambda np: abs(np.float64(2) * m),
        lambda np: np.abs(m),
        lambda np: np.sqrt(abs(m)),
        lambda np: np.transpose(m),
        lambda np: np.round(m, 0),
        lambda np: m.multiply(np.array([1.0, 2.0])),
        lambda np: m * np.float64(2),
    ):
        found, expected = call(weft), call(numpy)
        assert sparse.issparse(found) and type(found) is type(expected)
        numpy.testing.assert_array_equal(found.toarray(), expected.toarray())
    for call in (
        lambda np: m @ np.ones(2),
        lambda np: np.ones(2) @ m,
        lambda np: np.ones((2, 2)) + m,
        lambda np: m - np.ones((2, 2)),
        lambda np: np.sum(m, axis=0),
        lambda np: m == np.ones((2, 2)),
    ):
        numpy.testing.assert_array_equal(call(weft), call(numpy))
    assert weft.shape(m) == (2, 2) and weft.ndim(m) == 2 and weft.size(m) == numpy.size(m)
