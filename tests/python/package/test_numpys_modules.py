"""The modules that are NumPy's Python sources over weft: names, arrays, speed of import, absence of NumPy."""

import importlib
import pickle
import subprocess
import sys

import numpy
import pytest
import weft

MODULES = {
    "numpy.polynomial": set(),
    "numpy.polynomial.polynomial": set(),
    "numpy.polynomial.chebyshev": set(),
    "numpy.polynomial.polyutils": set(),
    "numpy.testing": set(),
    "numpy.ctypeslib": set(),
    "numpy.typing": set(),
    "numpy.exceptions": set(),
    "numpy.lib": set(),
    "numpy.lib.array_utils": set(),
    "numpy.lib.format": set(),
    "numpy.lib.introspect": set(),
    "numpy.lib.mixins": set(),
    "numpy.lib.npyio": set(),
    "numpy.lib.scimath": set(),
    "numpy.lib.stride_tricks": set(),
    "numpy.ma": set(),
}


@pytest.mark.parametrize("name", MODULES)
def test_all_public_names_are_there(name):
    theirs = importlib.import_module(name)
    ours = importlib.import_module(name.replace("numpy", "weft", 1))
    public = {each for each in getattr(theirs, "__all__", dir(theirs)) if not each.startswith("_")}
    assert {each for each in public if not hasattr(ours, each)} == MODULES[name]


def test_numpy_is_not_imported():
    program = (
        "import sys, weft\n"
        "for name in 'polynomial emath lib'.split(): getattr(weft, name)\n"
        "weft.polynomial.Polynomial([1, 2])(weft.arange(3)), weft.emath.sqrt(-1)\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_numpy_there_is_an_import_error():
    program = (
        "import importlib.util as u, weft\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'numpy' else find(name, *rest)\n"
        "try: weft.polynomial\n"
        "except ImportError as error: assert 'no NumPy' in str(error), error\n"
        "else: raise SystemExit('imported')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_results_are_wefts():
    p = weft.polynomial.Polynomial([1, 2, 3])
    assert type(p(weft.arange(3.0))) is weft.ndarray
    assert type(p.coef) is weft.ndarray
    assert type(weft.polynomial.chebyshev.chebval(weft.arange(3.0), [1, 2])) is weft.ndarray
    masked = weft.ma.masked_less(weft.arange(4.0), 2)
    assert isinstance(masked, weft.ndarray) and isinstance(masked.data, weft.ndarray)
    assert masked.sum() == 5


def test_a_polynomial_of_many_elements_is_one_kernel():
    x = weft.linspace(0, 1, 10**5)
    weft.eval(x)
    with weft.profile() as profile:
        y = weft.polynomial.Polynomial([1, 2, 3])(x)
    assert len(profile.works) == 1 and y.shape == x.shape


def test_what_is_not_there_says_so_when_it_is_used():
    from weft._numpys import private

    with pytest.raises(AttributeError, match="weft has no np"):
        private.find("no_such_name_of_numpy")()


def test_arguments_override_functions_of_the_modules():
    class Other:
        def __array_function__(self, func, types, args, kwargs):
            return "other's"

    assert weft.emath.sqrt(Other()) == "other's"
    assert weft.polynomial.polynomial.polyvalfromroots is not numpy.polynomial.polynomial.polyvalfromroots


def test_polynomials_are_pickled():
    p = weft.polynomial.Polynomial([1, 2, 3], symbol="z")
    assert pickle.loads(pickle.dumps(p)) == p


@pytest.mark.parametrize("code", "?bBhHiIlLefdFD")
def test_classes_of_dtypes(code):
    name = type(numpy.dtype(code)).__name__
    ours = getattr(weft.dtypes, name)
    assert ours() == weft.dtype(code) and isinstance(weft.dtype(code), ours)
    assert ours.__name__ == name
    assert sum(isinstance(weft.dtype(code), getattr(weft.dtypes, each)) for each in ("BoolDType", name)) in (
        1,
        2,
    )


def test_tables_of_types():
    assert weft.typecodes == numpy.typecodes
    for name, kind in weft.sctypeDict.items():
        if name in numpy.sctypeDict:
            assert weft.dtype(kind).name == numpy.dtype(numpy.sctypeDict[name]).name
    names = [kind.__name__ for kind in numpy.ScalarType]
    assert [kind.__name__ for kind in weft.ScalarType if kind.__name__ in names] == [
        kind.__name__ for kind in weft.ScalarType
    ]


def test_annotations():
    assert weft.ndarray[int, weft.dtype[weft.float64]].__origin__ is weft.ndarray
    assert weft.typing.NDArray[weft.float64].__origin__ is weft.ndarray
    for call in (lambda: weft.ndarray[()], lambda: weft.dtype[int, int], lambda: weft.number[int, int, int]):
        with pytest.raises(TypeError, match="arguments for"):
            call()


def test_the_sizes_of_buffers():
    assert weft.setbufsize(4096) == 8192
    assert weft.getbufsize() == 4096
    weft.setbufsize(8192)
    with pytest.raises(ValueError, match="non-negative"):
        weft.setbufsize(-1)


def test_names_that_numpy_s_modules_have_besides():
    import weft.fft
    import weft.random

    assert weft.random.bit_generator.BitGenerator is weft.random.BitGenerator
    assert callable(weft.random.test) and callable(weft.fft.test)
    for module in (weft.random, weft.fft):
        with pytest.raises(AttributeError):
            module.nothing  # noqa: B018
