"""dtype objects and the rules of types."""

import pickle

import numpy
import pytest
import weft
from comparing import DTYPES, exception_kind, outcome

NAMES = [dtype.name for dtype in DTYPES]


@pytest.mark.parametrize("name", NAMES)
def test_equal_to_numpys(name):
    ours, theirs = weft.dtype(name), numpy.dtype(name)
    assert ours == theirs and theirs == ours
    assert not ours != theirs
    assert hash(ours) == hash(theirs)
    assert {theirs: 1}[ours] == 1 and {ours: 1}[theirs] == 1
    for attribute in ("name", "str", "char", "kind", "num", "itemsize", "alignment", "byteorder", "isnative", "ndim",
                      "shape", "names", "fields", "hasobject", "descr", "isbuiltin", "subdtype"):  # fmt: skip
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    assert repr(ours) == repr(theirs) and str(ours) == str(theirs)
    assert ours.type is getattr(weft, ours.type.__name__)
    assert pickle.loads(pickle.dumps(ours)) is ours
    assert numpy.dtype(ours) == theirs


SPECIFICATIONS = [
    "f4", "<f8", "=i2", "|b1", "?", "d", "float", "int", "bool", "complex", "uint8", "half", "single", "double",
    "intc", "longlong", "int_", "l", "q", "Q", "p", "B", "F", float, int, bool, complex, None,
]  # fmt: skip


@pytest.mark.parametrize("specification", SPECIFICATIONS, ids=repr)
def test_made_from(specification):
    assert weft.dtype(specification) == numpy.dtype(specification)


def test_made_from_scalar_types():
    for name in NAMES:
        kind = numpy.dtype(name).type
        assert weft.dtype(kind) == numpy.dtype(kind)
        assert weft.dtype(getattr(weft, kind.__name__)) == numpy.dtype(kind)
        assert weft.dtype(numpy.dtype(name)) is weft.dtype(name)
        assert weft.zeros(2, kind).dtype == numpy.dtype(kind)
        assert weft.zeros(2, numpy.dtype(name)).dtype == name


@pytest.mark.parametrize("specification", ["nonsense", "f3", 3.5], ids=repr)
def test_refused(specification):
    with pytest.raises(TypeError):
        weft.dtype(specification)


@pytest.mark.parametrize(
    "specification", ["S4", "M8[s]", ">f8", object, "O", [], "f4,f8", numpy.dtype("S3")], ids=repr
)
def test_what_weft_leaves_to_numpy_is_numpys(specification):
    assert weft.dtype(specification) == numpy.dtype(specification)


def test_message_of_an_unknown_name():
    expected, result = outcome(numpy.dtype, "nonsense"), outcome(weft.dtype, "nonsense")
    assert str(result) == str(expected)


def test_promotion_and_casts():
    for a in NAMES:
        for b in NAMES:
            assert weft.promote_types(a, b) == numpy.promote_types(a, b)
            assert weft.result_type(a, b) == numpy.result_type(a, b)
            for casting in ("no", "equiv", "safe", "same_kind", "unsafe"):
                assert weft.can_cast(a, b, casting) == numpy.can_cast(a, b, casting)
            assert (weft.dtype(a) < weft.dtype(b)) == (numpy.dtype(a) < numpy.dtype(b))
            assert (weft.dtype(a) >= weft.dtype(b)) == (numpy.dtype(a) >= numpy.dtype(b))
    for scalar in (True, 1, 1.5, 1j):
        for a in NAMES:
            x = numpy.ones(2, a)
            assert weft.result_type(weft.array(x), scalar) == numpy.result_type(x, scalar)
    expected, result = outcome(numpy.can_cast, 1, "i4"), outcome(weft.can_cast, 1, "i4")
    assert exception_kind(result) == exception_kind(expected)
    assert weft.result_type(weft.float32(1), 3) == numpy.float32


def test_limits():
    for name in NAMES:
        dtype = numpy.dtype(name)
        if dtype.kind in "iu":
            ours, theirs = weft.iinfo(name), numpy.iinfo(name)
            assert (ours.min, ours.max, ours.bits, ours.kind) == (
                theirs.min,
                theirs.max,
                theirs.bits,
                theirs.kind,
            )
        elif dtype.kind in "fc":
            ours, theirs = weft.finfo(name), numpy.finfo(name)
            for attribute in ("eps", "epsneg", "max", "min", "tiny", "smallest_normal", "smallest_subnormal",
                              "resolution", "bits", "nmant", "nexp", "precision", "maxexp", "minexp", "machep",
                              "negep", "iexp"):  # fmt: skip
                assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
            assert ours.dtype == theirs.dtype
    with pytest.raises(ValueError):
        weft.iinfo("f4")
    with pytest.raises(ValueError):
        weft.finfo("i4")


def test_kinds():
    for name in NAMES:
        for group in (
            "integer",
            "floating",
            "complexfloating",
            "number",
            "generic",
            "inexact",
            "signedinteger",
            "float32",
        ):
            assert weft.issubdtype(name, getattr(weft, group)) == numpy.issubdtype(
                name, getattr(numpy, group)
            )
        for kind in ("integral", "real floating", "numeric", "bool"):
            assert weft.isdtype(weft.dtype(name), kind) == numpy.isdtype(numpy.dtype(name), kind)
    for value in (0, 200, -1, -200, 70000, 1.5, 1e10, True):
        assert weft.min_scalar_type(value) == numpy.min_scalar_type(value)


@pytest.mark.parametrize("np", [numpy, weft])
def test_isdtype_of_what_is_no_dtype(np):
    """Strings, other classes and StringDType, which has no scalar type, are refused as NumPy does."""
    for wrong in (numpy.dtypes.StringDType(), "f8", float, np.arange(3)):
        with pytest.raises(TypeError, match="dtype argument must be a NumPy dtype"):
            np.isdtype(wrong, "numeric")
    for wrong in (1, numpy.dtypes.StringDType(), ("numeric", 1)):
        with pytest.raises(TypeError, match="kind argument must be comprised"):
            np.isdtype(np.float64, wrong)
    with pytest.raises(ValueError, match="not a known kind name"):
        np.isdtype(np.float64, ("numeric", "numbers"))
    texts = np.array(["a"]).dtype
    assert np.isdtype(texts, np.str_) and not np.isdtype(texts, "bool")
    assert np.isdtype(np.dtype("f4"), np.float32) and np.isdtype(np.float32, np.dtype("f4"))
    assert not np.isdtype(np.float32, np.floating) and np.isdtype(np.dtype(np.longdouble), "real floating")


@pytest.mark.parametrize("np", [numpy, weft])
def test_what_an_array_of_numbers_contains(np):
    """Texts and None are in no such array, and that is no error."""
    x = np.array([[1, 2], [3, 4]])
    assert "a" not in x and None not in x and object() not in x
    assert 2 in x and [1, 2] in x and x[0] in x and 5 not in x
    with pytest.raises(ValueError, match="broadcast"):
        assert [1, 2, 3] in x
