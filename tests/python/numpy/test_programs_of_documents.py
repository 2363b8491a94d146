"""What NumPy's own documents and tutorials do that weft once did otherwise: each finds a fault again."""

import io
import itertools
import pickle
import random
import warnings
from importlib import import_module

import numpy
import pytest
import weft
from comparing import outcome

CALLS = {
    "ranges as indices": lambda np: np.arange(12).reshape(3, 4)[[0, 1, 2, 0], range(4)],
    "a range as an index": lambda np: np.arange(4.0)[range(2)],
    "writes by a range": lambda np: (x := np.zeros(4), x.__setitem__(range(1, 3), 5))[0],
    "a text as an index": lambda np: np.arange(4.0)["a"],
    "rows of texts and numbers": lambda np: np.array([("Hello", 2.5, 3), ("World", 3.6, 2)]),
    "records of columns": lambda np: np.rec.fromarrays(
        np.array([("Hello", 2.5, 3), ("World", 3.6, 2)]).T, names="a, b, c", formats="S8, f8, i8"
    ),
    "aligned fields": lambda np: np.dtype("u1, u1, i4, u1, i8, u2", align=True).itemsize,
    "aligned fields by place": lambda np: np.dtype("u1, i4", True).itemsize,
    "a dtype with parts": lambda np: np.dtype((np.int32, {"re": (np.int16, 0), "im": (np.int16, 2)})).names,
    "the length of a dtype": lambda np: (len(np.dtype("f4")), bool(np.dtype("f4"))),
    "columns of types": lambda np: np.genfromtxt(
        io.StringIO("1 2 3\n4 5 6"), dtype=(np.int_, np.float64, np.int_)
    ),
    "columns unpacked": lambda np: np.genfromtxt(io.StringIO("1 2\n4 5"), unpack=True, dtype="i8,f8"),
    "missing values": lambda np: np.genfromtxt(io.StringIO("1, 2\n4, "), delimiter=",", usemask=True).mask,
    "parts of numbers": lambda np: (np.real(1 + 1j), np.imag(1 + 1j), np.real(2), np.imag([1, 2])),
    "matrices by r_": lambda np: (np.r_["r", [1, 2], [3]], np.r_["c", [1, 2]]),
    "an array of a matrix": lambda np: np.array(np.asmatrix("1 2; 3 4")),
    "a matrix of a matrix": lambda np: np.array(np.asmatrix("1 2; 3 4"), subok=True),
    "subarrays of an iterator": lambda np: np.fromiter(((i, i + 1) for i in range(3)), np.dtype((int, 2))),
    "folds into integers": lambda np: np.add.reduce([0.75, 0.75, 0.75], out=np.zeros((), int)),
    "folds of a dtype": lambda np: np.multiply.reduce(
        np.arange(6.0).reshape(2, 3), dtype=np.float64, out=np.zeros(3, int)
    ),
    "folds between places": lambda np: np.add.reduceat(np.arange(4.0) / 4, [0, 2], out=np.zeros(2, int)),
    "folds of a function": lambda np: np.hypot.reduce([3.0, 4.5], out=np.zeros((), "f4")),
    "sums into integers": lambda np: np.sum([0.75, 0.75, 0.75], out=np.zeros((), int)),
    "another shape in place": lambda np: (
        x := np.array([[0, 1], [2, 3]], order="F"),
        x.resize((3, 2), refcheck=False),
    )[0],
    "accumulations": lambda np: np.add.accumulate([0.75, 0.75, 0.75], out=np.zeros(3, int)),
}


@pytest.mark.parametrize("name", CALLS)
def test_results(name):
    expected, result = outcome(CALLS[name], numpy), outcome(CALLS[name], weft)
    if isinstance(expected, Exception):
        assert type(result).__name__ == type(expected).__name__
        return
    assert repr(result) == repr(expected)


FIELDS = """
repack_fields(a[["x", "z"]]); structured_to_unstructured(a[["x", "z"]]); merge_arrays((n, f)); drop_fields(a, "y")
rename_fields(a, {"x": "X"}); apply_along_fields(np.mean, a); require_fields(a, [("y", "f4"), ("q", "u1")])
append_fields(a, "w", n).dtype; get_names(a.dtype); assign_fields_by_name(a, a)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("text", [each.strip() for each in FIELDS if each.strip()])
def test_functions_of_fields(text):
    def call(np):
        functions = import_module(f"{np.__name__}.lib.recfunctions")
        a = np.zeros(3, dtype=[("x", "f4"), ("y", "f8"), ("z", "f4")])
        names = {"np": np, "a": a, "n": np.array([1, 2, 3]), "f": np.array([10.0, 20.0, 30.0])}
        return eval(text, {**vars(functions), **names})

    assert repr(call(weft)) == repr(call(numpy))


def test_texts_of_polynomials():
    draw = random.Random(1)
    numbers = [0, 0, 1, -1, 2.5, -3, 1e-7, 123456.789, 1e10, float("nan"), float("inf"), 100, 2j, 1 - 2.5j]
    for _ in range(300):
        coefficients = [draw.choice(numbers) for _ in range(draw.randint(1, 15))]
        variable = draw.choice([None, "z", "lambda"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = str(numpy.poly1d(coefficients, variable=variable))
            assert str(weft.poly1d(coefficients, variable=variable)) == expected, coefficients
    assert repr(weft.poly1d([1, 2])) == "poly1d([1, 2])"


def test_archives_by_attributes(tmp_path):
    for np, place in itertools.product((weft, numpy), (io.BytesIO(), tmp_path / "x.npz")):
        np.savez(place, x=np.arange(3), y=1)
        if isinstance(place, io.BytesIO):
            place.seek(0)
        with np.load(place) as archive:
            assert archive.f.x.tolist() == [0, 1, 2] and dir(archive.f) == ["x", "y"]
            assert (
                repr(archive)
                == f"NpzFile {str(place) if place == tmp_path / 'x.npz' else 'object'!r} with keys: x, y"
            )
            with pytest.raises(AttributeError):
                _ = archive.f.z
        place = io.BytesIO()


def test_names_of_versions_and_of_the_old_core():
    assert weft.version.version == weft.version.short_version == weft.__version__
    with pytest.warns(DeprecationWarning, match="weft.records"):
        assert weft.core.records.fromarrays is not None
    with pytest.warns(DeprecationWarning):
        assert weft.core.multiarray is weft and weft.core.zeros is weft.zeros


def test_memory_over_the_same_bytes_is_shared():
    theirs = numpy.arange(6.0)
    one, two = weft.asarray(theirs, copy=False), weft.asarray(theirs, copy=False)
    assert weft.shares_memory(one, two) and weft.shares_memory(one[:4], theirs[3:])
    assert not weft.shares_memory(one[:2], two[2:]) and not weft.may_share_memory(one[:2], theirs[2:])
    assert weft.may_share_memory(one[::2], theirs[1::2]) and not weft.shares_memory(one[::2], theirs[1::2])
    assert not weft.shares_memory(weft.arange(3.0) + 1, one)


def test_arrays_in_any_order_of_axes_are_pickled_apart():
    for order in itertools.permutations(range(4)):
        x = weft.arange(120).reshape(2, 3, 4, 5).transpose(order)
        buffers = []
        text = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
        back = pickle.loads(text, buffers=buffers)
        if x.device == "cpu":
            assert len(buffers) == 1 and back.strides == x.strides
        assert back.shape == x.shape and weft.array_equal(back, x)
        assert weft.array_equal(pickle.loads(pickle.dumps(x, 5)), x)


@pytest.mark.parametrize("k", [2**63 - 1, 2**63, -(2**63), -(2**70), 1])
def test_diagonals_far_away(k):
    assert weft.eye(2, 3, k).tolist() == numpy.eye(2, 3, k).tolist()
