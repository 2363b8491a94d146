"""Functions of libraries that want NumPy's own arrays: weft/_protocols/libraries.py, by a library that is made here.

tests/python/libraries has programs with the libraries themselves.
"""

import copy
import os
import pickle
import subprocess
import sys
import textwrap

import numpy
import pytest
import weft
from weft._protocols import libraries

LIBRARY = """
import numpy

def kinds(*args, **kwargs):
    return [type(each).__module__ for each in (*args, *kwargs.values())]

def first(values):
    return type(values[0]).__module__

def fill(out, value=1):
    out[...] = value

def results(**kwargs):
    return kwargs

def untouched(x):
    return type(x).__module__

class Frame:
    def __init__(self, x):
        self.kind = type(x).__module__

    @classmethod
    def of(cls, x):
        return type(x).__module__
"""
NAMES = "kinds first fill! results> Frame.__init__ Frame.of not_there Nothing.at_all"


@pytest.fixture
def library(tmp_path, monkeypatch):
    (tmp_path / "library_of_this_test.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(libraries.MODULES, "library_of_this_test", NAMES)
    import library_of_this_test

    yield library_of_this_test
    del sys.modules["library_of_this_test"]


def test_arguments_are_numpys(library):
    x = weft.arange(3)
    assert libraries.as_numpy(weft.float32) is numpy.float32
    for value in (x, x[0], x.dtype, weft.arange(3).astype(object), weft.sin, weft.random.default_rng(0)):
        assert library.kinds(value)[0].startswith("numpy"), value
        assert library.kinds(given=value)[0].startswith("numpy")
    assert library.first([x, x]) == library.first((x, 1)) == "numpy"
    assert library.kinds("text", None, [1], 2.0) == ["builtins"] * 4
    assert library.untouched(x) == "weft"
    assert library.Frame(x).kind == library.Frame.of(x) == "numpy"
    assert libraries.as_numpy({"a": x, "b": slice(x[1], None)})["b"].start.__class__ is numpy.int64
    same = {"a": 1}
    assert libraries.as_numpy(same) is same


def test_memory_is_shared(library):
    x = weft.zeros(3)
    library.fill(x)
    assert x.tolist() == [1.0] * 3
    library.results(out=x)["out"][1] = 5
    assert x.tolist() == [1.0, 5.0, 1.0]


def copies_counted():
    return sum(each["bytes"] for each in weft.fallback_report() if each["function"] == "numpy.asarray")


def test_what_would_be_lost_is_refused(library, device):
    x = weft.zeros(3)
    if device == "cpu":
        library.fill(x)
        return
    for call in (lambda: library.fill(x), lambda: library.results(out=x), lambda: library.kinds(out=x)):
        with pytest.raises(TypeError, match="writes into the CPU's memory: move the array on cuda:0 to it"):
            call()
    before = copies_counted()
    assert library.kinds(x) == ["numpy"]
    assert copies_counted() == before + x.nbytes
    with weft.config(fallback="error"), pytest.raises(NotImplementedError, match="wants an array of NumPy's"):
        library.kinds(x)


PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
if {late}:
    import library_of_this_test
from weft._protocols import libraries
libraries.MODULES["library_of_this_test"] = "kinds"
if {late}:
    sys.meta_path.remove(libraries._Finder)
    libraries.watch()
import weft, library_of_this_test
print(*library_of_this_test.kinds(weft.ones(2)), library_of_this_test.__spec__.loader.__class__.__name__)
"""


@pytest.mark.parametrize("late", [False, True])
def test_libraries_that_are_loaded_already(late, tmp_path):
    (tmp_path / "library_of_this_test.py").write_text(LIBRARY)
    text = textwrap.dedent(PROGRAM.format(folder=str(tmp_path), late=late))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "numpy SourceFileLoader\n"


def test_a_setting_leaves_libraries_alone():
    text = "import sys, weft; print([each for each in sys.meta_path if each.__module__.startswith('weft')])"
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "WEFT_LIBRARIES": "0"},
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
def test_sources_of_random_numbers_pass_for_numpys(kind):
    source = {"Generator": weft.random.default_rng, "RandomState": weft.random.RandomState}[kind](3)
    assert isinstance(source, getattr(numpy.random, kind)) and isinstance(source, getattr(weft.random, kind))
    assert type(source) is getattr(weft.random, kind)
    expected = {"Generator": numpy.random.default_rng, "RandomState": numpy.random.RandomState}[kind](3)
    plain = libraries.as_numpy(source)
    assert type(plain) is getattr(numpy.random, kind)
    for draw in (
        lambda x: x.standard_normal(4),
        lambda x: x.integers(0, 9, 4) if kind == "Generator" else x.randint(0, 9, 4),
    ):
        assert draw(source).tolist() == draw(expected).tolist()
        assert draw(plain).tolist() == draw(expected).tolist()


def test_numpy_and_scipy_take_sources_of_random_numbers():
    import scipy.stats
    from scipy._lib._util import check_random_state

    generator = weft.random.default_rng(1)
    assert numpy.random.default_rng(generator) is generator
    assert check_random_state(generator) is generator
    drawn = scipy.stats.norm.rvs(size=3, random_state=generator)
    assert drawn.tolist() == scipy.stats.norm.rvs(size=3, random_state=numpy.random.default_rng(1)).tolist()
    weft.random.seed(8)
    assert check_random_state(weft.random).random_sample() == numpy.random.RandomState(8).random_sample()
    with pytest.raises(ValueError):
        check_random_state(sys)


def test_numpys_results_are_wrapped():
    x, y = numpy.vander(numpy.arange(4.0), 2), weft.arange(4.0) * 2 + 1
    assert weft.allclose(numpy.linalg.lstsq(x, y)[0], [2.0, 1.0])
    assert type(y.__array_wrap__(numpy.ones(2))) is weft.ndarray
    assert type(y.__array_wrap__(numpy.float64(2), None, True)) is weft.float64


def test_masks_are_kept_on_the_way_to_numpy():
    ours = weft.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    given = libraries.as_numpy(ours)
    assert type(given) is numpy.ma.MaskedArray and given.mask.tolist() == [False, True, False]
    assert numpy.ma.compressed(ours).tolist() == numpy.ma.array(ours).compressed().tolist() == [1, 3]
    assert numpy.ma.isMaskedArray(ours) and not numpy.ma.isMaskedArray(weft.arange(3))


def test_numpy_tells_the_kind_of_a_dtype():
    assert numpy.isdtype(weft.dtype("c16"), "complex floating") and not numpy.isdtype(
        weft.dtype("f8"), "integral"
    )


@pytest.mark.parametrize("name", ["PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"])
def test_numpys_generators_over_weft_s_bits_are_copied(name):
    generator = numpy.random.Generator(getattr(weft.random, name)(5))
    copies = copy.deepcopy(generator), pickle.loads(pickle.dumps(generator))
    assert {each.random() for each in copies} == {generator.random()}


def test_assert_equal_takes_numpys_arrays():
    weft.testing.assert_equal(numpy.arange(3), weft.arange(3))
    weft.testing.assert_equal(
        [numpy.arange(3), {"a": numpy.ones(2)}], [numpy.arange(3), {"a": numpy.ones(2)}]
    )
    with pytest.raises(AssertionError):
        weft.testing.assert_equal(numpy.arange(3), numpy.arange(1, 4))


NUMPYS_TYPES = (
    "generic number integer signedinteger unsignedinteger inexact floating complexfloating bool".split()
)


@pytest.mark.parametrize("name", "bool int8 uint16 int64 float32 float64 complex64 complex128".split())
def test_scalars_are_instances_of_numpys_types(name):
    theirs, ours = getattr(numpy, name)(1), getattr(weft, name)(1)
    for kind in [*NUMPYS_TYPES, name]:
        asked = getattr(numpy, kind)
        assert isinstance(ours, asked) == isinstance(theirs, asked), kind
        assert isinstance(ours, getattr(weft, kind)) == isinstance(theirs, asked), kind
    assert type(ours) is getattr(weft, name)
    assert isinstance(ours, float) == isinstance(theirs, float)
    assert pickle.loads(pickle.dumps(ours)) == copy.copy(ours) == ours
    assert ours.__class__(1) == ours


def test_scalars_of_a_numpy_that_comes_later():
    program = """
import weft
one = weft.float32(1)
assert one.__class__ is weft.float32
import numpy
assert isinstance(one, numpy.floating) and not isinstance(one, numpy.integer)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_asanyarray_keeps_masks():
    ours = weft.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    given = numpy.asanyarray(ours)
    assert type(given) is numpy.ma.MaskedArray and given.mask.tolist() == [False, True, False]
    given[0] = 7
    assert ours[0] == 7
    assert type(numpy.asarray(ours)) is type(numpy.asanyarray(weft.arange(3))) is numpy.ndarray


def test_objects_that_say_their_dtype():
    class Kind:
        dtype = weft.dtype("f4")

    class NumpysKind:
        dtype = numpy.dtype("i2")

    for each in (Kind, Kind()):
        assert weft.dtype(each) == weft.zeros(2, each).dtype == "f4"
    for each in (NumpysKind, NumpysKind()):
        assert weft.dtype(each) == "i2"
    for np in (numpy, weft):
        with pytest.raises(TypeError, match="Cannot construct a dtype from an array"):
            np.dtype(np.arange(3))
