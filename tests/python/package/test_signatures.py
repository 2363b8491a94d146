"""inspect.signature of everything public agrees with NumPy's: names, kinds, defaults."""

import importlib
import inspect

import numpy
import pytest
import weft

MODULES = (
    "numpy numpy.linalg numpy.fft numpy.lib.stride_tricks numpy.testing numpy.polynomial.polynomial".split()
)
TYPES = ["ndarray", "float64", "int64", "complex128", "bool", "ufunc", "flatiter", "finfo", "iinfo", "dtype"]
# What the object is called here: NumPy takes parameters by other names or kinds, or others.
EXCEPTIONS = {
    "numpy.vectorize": "takes the keywords of Numba's, too",
}
EXCEPTIONS.update(
    dict.fromkeys(
        ["numpy.linalg.matmul"],
        "the binding tells no signature",
    )
)
EXCEPTIONS.update(
    dict.fromkeys(
        "ndarray.max ndarray.min ndarray.mean ndarray.prod ndarray.std ndarray.sum ndarray.var".split(),
        "NumPy's kwargs, by their names",
    )
)
EXCEPTIONS.update(
    {
        "numpy.arange": "start may be given by name",
        "numpy.einsum": "NumPy's kwargs, by their names",
        "numpy.eye": "the default of dtype is None",
        "numpy.flatiter": "weft's are made by calls",
        "ndarray.view": "NumPy's args and kwargs, by their names",
        "ndarray.conj": "NumPy's takes out as well",
        "ndarray.conjugate": "NumPy's takes out as well",
        "ufunc.reduce": "NumPy's kwargs, by their names",
        "numpy.fft.fftfreq": "dtype, as the array API has it",
        "numpy.fft.rfftfreq": "dtype, as the array API has it",
        "numpy.argsort": "descending, as the array API has it",
        "numpy.sort": "descending, as the array API has it",
        "numpy.fromfile": "the default of dtype is float",
        "numpy.lib.stride_tricks.as_strided": "check_bounds, as NumPy 2.5 has it",
        "ndarray.argsort": "descending, as NumPy 2.5 has it",
        "ndarray.sort": "descending, as NumPy 2.5 has it",
    }
)


def signature(function):
    try:
        return inspect.signature(function)
    except (ValueError, TypeError, AttributeError):
        return None


def described(found, of_method):
    """The parameters without `device`, which is weft's. A default that nobody can pass stands for any."""
    parameters = [each for each in found.parameters.values() if each.name != "device"]
    if of_method and parameters and parameters[0].kind is not inspect.Parameter.VAR_POSITIONAL:
        parameters = parameters[1:]
    return [(each.name, each.kind, each.default) for each in parameters]


def is_any(default):
    text = repr(default)
    return text == "<no value>" or " object at 0x" in text


def agree(theirs, ours, of_method):
    theirs, ours = described(theirs, of_method), described(ours, of_method)
    if len(theirs) != len(ours):
        return False
    for (name, kind, default), (our_name, our_kind, our_default) in zip(theirs, ours):
        if of_method and kind is inspect.Parameter.POSITIONAL_ONLY:
            name, kind = our_name, our_kind  # weft takes it by name, too
        if (name, kind) != (our_name, our_kind):
            return False
        if (default is inspect.Parameter.empty) != (our_default is inspect.Parameter.empty):
            return False
        if not is_any(default) and repr(default).replace("numpy", "weft") != repr(our_default).replace(
            "numpy", "weft"
        ):
            return False
    return True


def public():
    for module in MODULES:
        theirs = importlib.import_module(module)
        ours = importlib.import_module(module.replace("numpy", "weft", 1))
        for name in dir(theirs):
            value = getattr(theirs, name)
            if not name.startswith("_") and callable(value) and hasattr(ours, name):
                yield f"{module}.{name}", value, getattr(ours, name), False
    for kind in TYPES:
        theirs, ours = getattr(numpy, kind), getattr(weft, kind)
        for name in dir(theirs):
            value = getattr(theirs, name, None)
            if (
                not name.startswith("_")
                and callable(value)
                and hasattr(ours, name)
                and inspect.isroutine(value)
            ):
                if kind in ("float64", "int64", "complex128", "bool") and name in dir(numpy.ndarray):
                    continue  # weft's are those of arrays
                yield f"{kind}.{name}", value, getattr(ours, name), True


CASES = {name: case for name, *case in public() if signature(case[0]) is not None}


def test_there_are_cases():
    assert len(CASES) > 600
    assert not set(EXCEPTIONS) - set(CASES)


@pytest.mark.parametrize("module", [*MODULES, *TYPES])
def test_signatures(module):
    wrong, passing = [], []
    for name, (theirs, ours, of_method) in CASES.items():
        if name.rpartition(".")[0] != module:
            continue
        found = signature(ours)
        right = found is not None and agree(signature(theirs), found, of_method)
        if not right and name not in EXCEPTIONS:
            wrong.append(f"{name}{signature(theirs)} is {found}")
        if right and name in EXCEPTIONS:
            passing.append(name)
    assert not wrong, "\n".join(wrong)
    assert not passing, f"these agree now: {passing}"


SHARED = """
    __array_namespace__ __copy__ __deepcopy__ all any argmax argmin argsort astype byteswap choose clip compress conj
    conjugate copy cumprod cumsum diagonal dump dumps fill flatten getfield item max mean min nonzero prod put ravel
    repeat reshape resize round searchsorted setfield setflags sort squeeze std sum swapaxes take to_device tobytes
    tofile tolist trace transpose var view
    """.split()
OF_ARRAYS = """
    __array__ __array_finalize__ __array_function__ __array_ufunc__ __array_wrap__ __complex__ __reduce__ __reduce_ex__
    __setstate__ __dlpack__ __dlpack_device__ argpartition dot partition
    """.split()


@pytest.mark.parametrize("name", SHARED + OF_ARRAYS)
def test_methods_begin_with_self(name):
    found = inspect.signature(getattr(weft.ndarray, name))
    assert found.parameters["self"].kind is inspect.Parameter.POSITIONAL_ONLY
    if name in SHARED:
        assert inspect.signature(getattr(weft.generic, name)) == found


def test_classes_of_dtypes_and_methods_of_scalars():
    for name in weft.dtypes.__all__:
        ours, theirs = getattr(weft.dtypes, name), getattr(numpy.dtypes, name)
        assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert str(inspect.signature(weft.dtype)) == str(inspect.signature(numpy.dtype))
    for kind, names in {
        "integer": "is_integer",
        "int64": "is_integer bit_count",
        "float32": "is_integer as_integer_ratio",
        "float64": "is_integer as_integer_ratio hex fromhex",
        "ufunc": "accumulate at outer reduceat resolve_dtypes",
    }.items():
        for name in names.split():
            ours, theirs = (inspect.signature(getattr(getattr(np, kind), name)) for np in (weft, numpy))
            assert list(ours.parameters) == list(theirs.parameters)
            if kind != "ufunc":
                assert str(ours) == str(theirs)


def test_calls_of_classes_of_dtypes():
    for np in (numpy, weft):
        assert np.dtypes.StrDType(5) == "U5" and np.dtypes.BytesDType(3) == "S3"
        assert np.dtypes.Int8DType() == "i1"
        for call, kind in (
            (lambda: np.dtypes.StrDType(), TypeError),  # noqa: B023
            (lambda: np.dtypes.StrDType("a"), TypeError),  # noqa: B023
            (lambda: np.dtypes.StrDType(-1), ValueError),  # noqa: B023
            (lambda: np.dtypes.VoidDType(8), TypeError),  # noqa: B023
            (lambda: np.dtypes.Int8DType(3), TypeError),  # noqa: B023
        ):
            with pytest.raises(kind):
                call()


@pytest.mark.parametrize(
    "call",
    [
        lambda np: np.where(condition=[True], x=[1], y=[2]),
        lambda np: np.concatenate(arrays=[[1], [2]]),
        lambda np: np.promote_types(type1="i4", type2="f4"),
        lambda np: np.may_share_memory(a=np.arange(3), b=np.arange(3)),
        lambda np: np.shares_memory(a=np.arange(3), b=np.arange(3)),
    ],
)
def test_what_goes_by_position_alone(call):
    for np in (numpy, weft):
        with pytest.raises(TypeError):
            call(np)


def test_dir_has_the_submodules():
    shown = dir(weft)
    for name in dir(numpy):
        if not name.startswith("_") and name != "core":
            assert name in shown, name
    assert set(numpy.random.__all__) <= set(dir(weft.random))
