"""vectorize and guvectorize for the device of kernels: where they run, and what becomes of each kind of array."""

import ctypes

import numpy
import pytest
import weft
from on_gpu import FAKE_DRIVER, needs_gpu, on_fake_driver
from weft import cuda
from weft.numba import cuda as numbas
from weft.numba import guvectorize, vectorize


def above(x, y):
    return x * y + 1.0 if x > 1.0 else y


def running(a, weight, out):
    total = 0.0
    for i in range(len(a)):
        total += weight * a[i]
        out[i] = total


ELEMENTS = [
    vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")(above),
    numbas.vectorize(["float32(float32, float32)", "float64(float64, float64)"])(above),
    cuda.vectorize(["float32(float32, float32)", "float64(float64, float64)"])(above),
    cuda.vectorize(above),
]
ROWS = [
    guvectorize(["void(f8[:], f8, f8[:])"], "(n),()->(n)", target="cuda")(running),
    numbas.guvectorize(["void(f8[:], f8, f8[:])"], "(n),()->(n)")(running),
    cuda.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")(running),
]


def expected_of(x, y):
    return numpy.where(x > 1, x * y + 1, y).astype(numpy.result_type(x, y))


def ran_on_gpu(work):
    """What work gives, and whether kernels ran on a GPU. Nothing of it may be the CPU's in the place of a GPU."""
    weft.clear_kernel_history()
    weft.clear_fallbacks()
    found = work()
    weft.eval(*(each for each in (*found, found) if isinstance(each, weft.ndarray)))
    history = weft.kernel_history()
    assert not any(each["fallback"] for each in history) and not list(weft.fallback_report())
    return found, any(each["device"] != "cpu" for each in history)


@pytest.mark.parametrize("f", ELEMENTS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_host_arrays_give_host_arrays(f, dtype, device):
    x, y = numpy.linspace(-2, 3, 60, dtype=dtype).reshape(3, 20), numpy.arange(20, dtype=dtype)
    found, on_gpu = ran_on_gpu(lambda: f(x, y))
    assert type(found) is numpy.ndarray and found.dtype == dtype
    numpy.testing.assert_allclose(found, expected_of(x, y), rtol=1e-6)
    assert on_gpu == (device == "cuda")


@pytest.mark.parametrize("f", ELEMENTS)
def test_arrays_for_kernels_give_arrays_for_kernels(f):
    x = numpy.linspace(-2, 3, 60)
    there = cuda.to_device(x)
    for first, second, y in ((there, 2.0, 2.0), (x, there, x), (there, x, x), (there, there, x)):
        found = f(first, second)
        assert type(found) is cuda._arrays.DeviceArray
        numpy.testing.assert_allclose(found.copy_to_host(), expected_of(x, y))


@pytest.mark.parametrize("f", ELEMENTS)
def test_arrays_of_weft_give_arrays_of_weft_where_they_are(f, device):
    x = weft.linspace(-2, 3, 60)
    found = f(x, numpy.full(60, 2.0))
    assert type(found) is weft.ndarray and found.device == weft.device(device)
    numpy.testing.assert_allclose(numpy.asarray(found), expected_of(numpy.linspace(-2, 3, 60), 2.0))


@needs_gpu
def test_one_array_on_a_gpu_has_all_run_there(device):
    x = numpy.linspace(-2, 3, 60)
    there = weft.asarray(x, device="cuda:0")
    here = weft.asarray(x, device="cpu")
    for f in ELEMENTS:
        (found, alone), on_gpu = ran_on_gpu(lambda f=f: (f(there, here), f(here, here)))
        assert found.device == "cuda:0" and alone.device == "cpu"
        numpy.testing.assert_allclose(numpy.asarray(found), expected_of(x, x))
        numpy.testing.assert_allclose(numpy.asarray(alone), expected_of(x, x))
        assert on_gpu
    if "cuda:1" in [str(each) for each in weft.devices()]:
        with pytest.raises(ValueError, match="cuda:0 and cuda:1"):
            ELEMENTS[0](there, weft.asarray(x, device="cuda:1"))


@pytest.mark.parametrize("f", ELEMENTS)
def test_outputs(f, device):
    x = numpy.linspace(-2, 3, 60)
    expected = expected_of(x, x)
    out = numpy.zeros(60)
    assert f(x, x, out=out) is out and f(x, x, out) is out
    numpy.testing.assert_allclose(out, expected)
    for make in (cuda.to_device, weft.asarray, lambda a: weft.asarray(a, device="cpu")):
        out = make(numpy.zeros(60))
        assert f(x, cuda.to_device(x), out=out) is out
        numpy.testing.assert_allclose(numpy.asarray(out), expected)
    out = numpy.full(60, 9.0)
    f(x, x, out=out, where=x > 2)
    numpy.testing.assert_allclose(out, numpy.where(x > 2, expected, 9))
    with pytest.raises(ValueError):
        f(x, x, out=numpy.zeros(59))


@pytest.mark.parametrize("g", ROWS)
def test_rows(g, device):
    a = numpy.arange(24.0).reshape(2, 3, 4)
    expected = numpy.cumsum(2 * a, axis=-1)
    found, on_gpu = ran_on_gpu(lambda: g(a, 2.0))
    assert type(found) is numpy.ndarray and on_gpu == (device == "cuda")
    numpy.testing.assert_array_equal(found, expected)
    numpy.testing.assert_array_equal(g(a[0, 0], 2.0), expected[0, 0])
    found = g(cuda.to_device(a), numpy.full((2, 3), 2.0))
    assert type(found) is cuda._arrays.DeviceArray
    numpy.testing.assert_array_equal(found.copy_to_host(), expected)
    found = g(weft.asarray(a), 2.0, axes=[1, (), 1])
    assert found.device == weft.device(device)
    numpy.testing.assert_array_equal(numpy.asarray(found), numpy.cumsum(2 * a, axis=1))
    out = numpy.zeros((2, 3, 4))
    assert g(a, 2.0, out=out) is out
    numpy.testing.assert_array_equal(out, expected)
    assert g(numpy.zeros((0, 4)), 2.0).shape == (0, 4)


def test_rows_that_are_returned(device):
    @cuda.guvectorize(["float64(float64[:], float64, float64, float64)"], "(n),()->(),()")
    def ends(a, factor):
        return factor * a[0], factor * a[len(a) - 1]

    a = numpy.arange(700 * 3.0).reshape(700, 3)
    (first, last), on_gpu = ran_on_gpu(lambda: ends(a, 3.0))
    assert on_gpu == (device == "cuda")
    numpy.testing.assert_array_equal(first, 3 * a[:, 0])
    numpy.testing.assert_array_equal(last, 3 * a[:, -1])


def test_errors_of_rows():
    @cuda.guvectorize(["void(float64[:], int64, float64[:])"], "(n),()->(n)")
    def put(a, place, out):
        out[place] = a[0]

    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        put(numpy.zeros((5, 4)), 9)
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        put(numpy.zeros((5, 4)), 1, out=numpy.zeros((5, 3)))


def test_kernels_call_them():
    element, row = ELEMENTS[0], ROWS[0]

    @cuda.jit
    def kernel(a, out, rows):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = element(a[i], 2.0)
        if i < rows.shape[0]:
            row(rows[i], 2.0, rows[i])

    a = numpy.linspace(-2, 3, 60)
    out, rows = numpy.zeros(60), numpy.ones((3, 4))
    kernel[2, 32](a, out, rows)
    numpy.testing.assert_allclose(out, expected_of(a, numpy.full(60, 2.0)))
    numpy.testing.assert_array_equal(rows, [[2.0, 4.0, 6.0, 8.0]] * 3)


def test_methods_and_names():
    total = numbas.vectorize(["float64(float64, float64)"], identity=0)(lambda x, y: x + y)
    a = numpy.arange(6.0)
    assert total.reduce(a) == 15 and total.reduce(cuda.to_device(a), stream=numbas.stream()) == 15
    numpy.testing.assert_array_equal(total.outer(a, a), numpy.add.outer(a, a))
    total.at(a, [0, 0, 5], 1.0)
    assert a.tolist() == [2.0, 1.0, 2.0, 3.0, 4.0, 6.0]
    there = cuda.to_device(a)
    total.at(there, [0], 1.0)
    assert there.copy_to_host()[0] == 3.0
    assert type(total(1.0, 2.0)) is numpy.float64 and total(1.0, 2.0) == 3.0
    assert total.nin == 2 and total.types == ["dd->d"] and total.max_blocksize > 0
    with pytest.raises(AttributeError):
        _ = total.nonsense


def test_refusals():
    for make in (numbas.vectorize, numbas.guvectorize, vectorize, guvectorize):
        options = {} if make in (numbas.vectorize, numbas.guvectorize) else {"target": "cuda"}
        given = (["void(f8[:], f8[:])"], "(n)->(n)") if "guvectorize" in str(make) else (["f8(f8)"],)
        with pytest.raises(NotImplementedError, match="has no object mode"):
            make(*given, nopython=False, **options)
        with pytest.raises(TypeError, match="has no keyword 'nonsense'"):
            make(*given, nonsense=1, **options)
    with pytest.raises(TypeError, match="has no option 'nonsense'"):
        cuda.guvectorize(["void(f8[:], f8[:])"], "(n)->(n)", nonsense=1)
    with pytest.raises(TypeError, match="nonsense"):
        cuda.vectorize(["f8(f8)"], nonsense=1)(lambda x: x)


def test_streams(device):
    x = numpy.linspace(-2, 3, 60)
    for stream in (0, None, cuda.stream(), cuda.default_stream()):
        numpy.testing.assert_allclose(ELEMENTS[0](x, x, stream=stream), expected_of(x, x))
    with pytest.raises(TypeError, match="a stream is one of"):
        ELEMENTS[0](x, x, stream="main")


@on_fake_driver
@pytest.mark.parametrize("f", [ELEMENTS[2], ROWS[2]])
def test_streams_of_others_come_before_and_after(f, device):
    library = ctypes.CDLL(str(FAKE_DRIVER))
    copies = library.cuMemcpyDtoDAsync_v2, library.cuMemcpyDtoHAsync_v2
    for copy in copies:
        copy.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]
    library.cuStreamCreate.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint]
    library.cuStreamSynchronize.argtypes = [ctypes.c_void_p]
    with weft.device("cuda"):
        x, source, out = (weft.full(5000, value) + 0 for value in (0.0, 3.0, -1.0))
        addresses = [each.__cuda_array_interface__["data"][0] for each in (x, source, out)]
        weft.synchronize()
    stream = ctypes.c_void_p()
    assert library.cuStreamCreate(ctypes.byref(stream), 1) == 0
    assert copies[0](addresses[0], addresses[1], 40000, stream) == 0
    f(x, 1.0, out=out, stream=cuda.external_stream(stream.value))
    seen = numpy.zeros(5000)
    assert copies[1](seen.ctypes.data, addresses[2], 40000, stream) == 0
    assert library.cuStreamSynchronize(stream) == 0
    three = numpy.full(5000, 3.0)
    numpy.testing.assert_array_equal(seen, three + 1 if f is ELEMENTS[2] else numpy.cumsum(three))
