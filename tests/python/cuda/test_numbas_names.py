"""Names of numba.cuda that programs use around their kernels."""

import contextlib

import numpy
import pytest
import weft
from weft import numba
from weft.numba import cuda
from weft.numba.cuda.cudadrv.devicearray import DeviceNDArray


def test_arrays_for_kernels_have_numbas_class():
    a = cuda.to_device([1, 2])
    assert isinstance(a, DeviceNDArray) and cuda.devicearray.DeviceNDArray is DeviceNDArray
    assert isinstance(cuda.device_array(3), cuda.cudadrv.devicearray.DeviceNDArray)
    assert not isinstance(numpy.zeros(2), DeviceNDArray) and cuda.devicearray.is_cuda_ndarray(a)


def test_errors_of_devices_have_numbas_names():
    assert issubclass(weft.DeviceError, cuda.CudaSupportError)
    assert cuda.cudadrv.error.CudaSupportError is cuda.cudadrv.driver.CudaAPIError


@cuda.jit("int32(int32, int32)", device=True)
def packed(low, high):
    return (low & 255) | ((high & 255) << 8)


@cuda.jit("float32(float64)", device=True, inline=True)
def as_float32(x):
    return x / 3


@cuda.jit("(float32[:], int32)", device=True)
def put_lane(a, i):
    a[i] = cuda.threadIdx.x


@cuda.jit
def call_with_signatures(a, whole, out):
    whole[0] = packed(a[0], a[1])
    out[0] = as_float32(a[2])
    put_lane(a, 1.9)


def test_signatures_of_device_functions_convert_where_kernels_call():
    a, whole, out = numpy.array([3.7, 2.2, 1], "float32"), numpy.zeros(1, "int32"), numpy.zeros(1)
    call_with_signatures[1, 1](a, whole, out)
    assert whole[0] == 3 + 2 * 256 and out[0] == numpy.float32(1 / 3) and a[1] == 0


@pytest.mark.parametrize("given", [None, "float64(float64, float64, float64)"])
@pytest.mark.parametrize("of_function", [False, True])
def test_functions_with_signatures_have_fastmath_of_their_own(given, of_function):
    @cuda.jit(given, device=True, fastmath=of_function)
    def fused(a, b, c):
        return a * b + c

    @cuda.jit
    def kernel(a, out):
        out[0] = fused(a[0], a[0], a[1])

    x, out = 1 + 2.0**-30, weft.zeros(1)
    kernel[1, 1](weft.asarray([x, -1 - 2.0**-29]), out)
    assert (out[0] == 2.0**-60) == of_function  # what two roundings lose


@pytest.mark.parametrize("debug", [False, True])
def test_functions_with_signatures_are_checked_as_the_kernel_is(debug):
    @cuda.jit("float64(float64[:], int64)", device=True, boundscheck=not debug)
    def read(a, place):
        return a[place]

    @cuda.jit(boundscheck=False, debug=debug)
    def kernel(a, place, out):
        out[0] = read(a, place)

    whole, out = weft.arange(8.0), weft.zeros(1)
    with pytest.raises(IndexError) if debug else contextlib.nullcontext():
        kernel[1, 1](whole[:4], 6, out)
        assert out.tolist() == [6.0]


def test_functions_with_signatures_have_numbas_promotion():
    @cuda.jit("float64(float32, int32[:])", device=True)
    def scaled(x, a):
        return x * (a[0] + a[0])

    @cuda.jit
    def kernel(x, a, out):
        out[0] = scaled(x[0], a)

    out = numpy.zeros(1)
    kernel[1, 1](numpy.ones(1, "float32"), numpy.full(1, 2**31 - 1, "int32"), out)
    assert out[0] == 2.0**32 - 2


@pytest.mark.parametrize("given", [["int32(float64)"], [numba.int32(numba.float64)], (numba.float64,)])
def test_forms_of_signatures(given):
    @cuda.jit(given, device=True)
    def same(x):
        return x

    @cuda.jit
    def kernel(a):
        a[0] = same(a[0])
        a[1] = same(7) / 2

    a = numpy.array([3.7, 0])
    kernel[1, 1](a)
    assert a.tolist() == [3.7 if isinstance(given, tuple) else 3, 3.5]


def test_signatures_that_differ_convert_nothing():
    @cuda.jit(["int32(int32)", "float64(float64)"], device=True)
    def same(x):
        return x

    @cuda.jit
    def kernel(a):
        a[0] = same(a[0])

    a = numpy.array([3.7])
    kernel[1, 1](a)
    assert a[0] == 3.7
