"""The options of jit: what each does, and what is said of those that weft has not."""

import contextlib

import numpy
import pytest
import weft
from weft import cuda
from weft.numba import cuda as numbas

MODULES = [cuda, numbas]
NAMES = ["weft.cuda.jit", "weft.numba.cuda.jit"]


def put(a, place):
    if cuda.grid(1) == 0:
        a[place] = 7.0


def raises_if(checks):
    """What tells of the index: the launch on the CPU, and a look at what it wrote on a GPU."""
    return pytest.raises(IndexError, match="index 6 is out of bounds") if checks else contextlib.nullcontext()


def quotient(x, y):
    return x / y


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize(
    "options, checks",
    [
        ({}, True),
        ({"boundscheck": None}, True),
        ({"boundscheck": True}, True),
        ({"boundscheck": False}, False),
        ({"debug": True}, True),
        ({"debug": False}, True),
        ({"debug": True, "opt": False}, True),
        ({"debug": True, "boundscheck": False}, True),
        ({"debug": False, "boundscheck": False}, False),
        ({"debug": None, "boundscheck": False}, False),
    ],
)
def test_checks_of_indices(module, options, checks):
    kernel = module.jit(put, **options)
    whole = weft.zeros(8)
    kernel[1, 32](whole, 6)
    assert whole.tolist() == [0, 0, 0, 0, 0, 0, 7, 0]
    whole = weft.zeros(8)
    with raises_if(checks):
        kernel[1, 32](
            whole[:4], 6
        )  # what is behind the view is there, so that nothing is broken without checks
        assert whole.tolist() == [0, 0, 0, 0, 0, 0, 7, 0]


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_functions_are_checked_as_the_kernel_is(module, debug, own):
    @module.jit(device=True, boundscheck=own, debug=own)
    def read(a, place):
        return a[place]

    @module.jit(boundscheck=False, debug=debug)
    def kernel(a, place, out):
        out[0] = read(a, place)

    whole, out = weft.arange(8.0), weft.zeros(1)
    with raises_if(debug):
        kernel[1, 1](whole[:4], 6, out)
        assert out.tolist() == [6.0]


@pytest.mark.parametrize("of_function", [False, True])
def test_functions_have_fastmath_of_their_own(of_function):
    @cuda.jit(device=True, fastmath=of_function)
    def fused(a, b, c):
        return a * b + c

    @cuda.jit
    def kernel(a, out):
        out[0] = fused(a[0], a[0], a[1])

    x, out = 1 + 2.0**-30, weft.zeros(1)
    kernel[1, 1](weft.asarray([x, -1 - 2.0**-29]), out)
    assert (out[0] == 2.0**-60) == of_function  # what two roundings lose


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("debug", [False, True])
def test_divisions_by_zero_raise_where_a_kernel_is_debugged(module, debug):
    @module.jit(device=True)
    def divided(x, y):
        return x / y

    @module.jit(debug=debug, opt=False)
    def kernel(out, x, y):
        out[0] = divided(y[0], x[0])
        out[1] = y[0]

    out, x, y = weft.zeros(2), weft.zeros(1), weft.ones(1)
    if debug:
        with pytest.raises(ZeroDivisionError):
            kernel[1, 1](out, x, y)
            out.tolist()
    else:
        kernel[1, 1](out, x, y)
        assert out.tolist() == [numpy.inf, 1]


TAKEN = [
    {"lineinfo": True},
    {"debug": True, "lineinfo": True},
    {"opt": True},
    {"opt": False},
    {"opt": 0},
    {"inline": True},
    {"inline": "always"},
    {"forceinline": True},
    {"nopython": True},
    {"nogil": True},
    {"parallel": True},
    {"error_model": "numpy"},
    {"link": []},
    {"link": None},
    {"extensions": []},
    {"cache": True},
    {"cache": False},
    {"fastmath": True},
]


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("options", TAKEN, ids=str)
def test_results_are_the_same(module, options):
    inner = module.jit(quotient, device=True, **options)

    @module.jit(**options)
    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = inner(a[i], 4.0)

    a, out = numpy.arange(40.0), numpy.zeros(40)
    kernel[2, 32](a, out)
    numpy.testing.assert_array_equal(out, a / 4)


@pytest.mark.parametrize("module, name", list(zip(MODULES, NAMES, strict=True)))
@pytest.mark.parametrize("device_function", [False, True])
@pytest.mark.parametrize(
    "options, error, said",
    [
        ({"fast": 1}, TypeError, "has no option 'fast'; it has boundscheck, cache, debug"),
        ({"chip": "sm_90", "lto": True}, TypeError, "has no option 'chip' and no option 'lto';"),
        ({"locals": {}}, TypeError, "has no option 'locals'"),
        ({"link": ["kernels.cu"]}, FileNotFoundError, "there is no file /"),
        ({"extensions": [1]}, TypeError, "takes objects with prepare_args for extensions="),
        ({"argtypes": "(f8,)"}, NotImplementedError, "has no argtypes=: signatures"),
        ({"restype": "f8"}, NotImplementedError, "has no restype=: signatures"),
        ({"bind": True}, NotImplementedError, "has no bind="),
        ({"error_model": "python"}, NotImplementedError, "has no error_model='python'"),
        ({"nopython": False}, NotImplementedError, "has no nopython=False"),
        ({"fastmath": {"reassoc"}}, TypeError, "takes True or False for fastmath="),
        ({"debug": 2}, TypeError, "takes True or False for debug="),
        ({"boundscheck": "yes"}, TypeError, "takes True or False for boundscheck="),
        ({"max_registers": 0}, ValueError, "a limit is an integer from 1 on"),
        ({"launch_bounds": (1, 2, 3)}, ValueError, "threads of a block, or these and blocks"),
    ],
    ids=str,
)
def test_refusals(module, name, device_function, options, error, said):
    with pytest.raises(error) as raised:
        module.jit(quotient if device_function else put, device=device_function, **options)
    assert said in str(raised.value)
    if error is not ValueError:
        assert str(raised.value).startswith(name)


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("options", [{"max_registers": 32}, {"launch_bounds": 128}])
def test_limits_are_of_kernels(module, options):
    kernel = module.jit(put, **options)
    a = numpy.zeros(3)
    kernel[1, 32](a, 1)
    assert a.tolist() == [0, 7, 0]
    with pytest.raises(ValueError, match="are of kernels, not of functions with device=True"):
        module.jit(quotient, device=True, **options)


def test_numbas_jit_has_numbas_promotion_alone():
    with pytest.raises(TypeError, match="has no option 'promotion'"):
        numbas.jit(put, promotion="numpy")
