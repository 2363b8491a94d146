"""weft.explain of results that a library made: which one, of what, on which device, and why there."""

import gc

import numpy
import pytest
import weft as np


def told(*results):
    return np.explain(*results).partition("made by ")[2]


def symmetric(*shape):
    values = numpy.random.default_rng(sum(shape)).standard_normal(shape)
    return np.asarray(values + values.swapaxes(-1, -2))


@pytest.fixture
def on_cpu():
    with np.device("cpu"):
        yield


@pytest.mark.parametrize(
    "name, shape, way",
    [
        ("inv", (10, 10), "LAPACK (OpenBLAS), on 1 thread"),
        ("inv", (300, 300), "weft's products, panel by panel, on "),
        ("inv", (500, 4, 4), "weft's kernels for small matrices, on "),
        ("qr", (300, 300), "weft's products, panel by panel, on "),
        ("cholesky", (20, 20), "LAPACK (OpenBLAS), on 1 thread"),
        ("eigh", (10, 10), "LAPACK (OpenBLAS), on 1 thread"),
        ("eigh", (4, 3, 100, 100), "LAPACK (OpenBLAS), each matrix by one thread, on "),
        ("svd", (500, 4, 4), "weft's kernels for small matrices, on "),
        ("eig", (10, 10), "LAPACK (OpenBLAS), on 1 thread"),
        ("eigvals", (10, 10), "LAPACK (OpenBLAS), on 1 thread"),
    ],
)
def test_which_library(on_cpu, name, shape, way):
    with np.config(num_threads=2):
        a = symmetric(*shape) + 1000 * np.eye(shape[-1])
        results = getattr(np.linalg, name)(a)
    for result in results if isinstance(results, tuple) else (results,):
        text = told(result)
        count = int(numpy.prod(shape[:-2]))
        matrices = "a matrix" if count == 1 else f"{count} matrices"
        assert text.startswith(
            f"linalg.{name} of {matrices} {shape[-2]}x{shape[-1]} float64, result on cpu\n"
        )
        assert f"  by {way}" in text
        assert (" ms" in text) == (a.size >= 4096)


def test_large_spectra(on_cpu):
    with np.config(num_threads=2):
        a = symmetric(400, 400)
        assert "divide and conquer, on 2 threads" in told(np.linalg.eigh(a)[1])
        assert "divide and conquer, on 2 threads" in told(np.linalg.svd(a)[0])
        assert "then LAPACK" in told(np.linalg.eigvalsh(a))


def test_kept_factors_are_told(on_cpu):
    a = symmetric(40, 40)
    assert "on 1 thread" in told(np.linalg.solve(a, np.ones(40)))
    assert "from LU factors that were kept" in told(np.linalg.solve(a, np.arange(40.0)))


def test_single_precision_and_least_squares(on_cpu):
    a = symmetric(10, 10).astype("f4")
    assert told(np.linalg.svd(a)[0]).startswith("linalg.svd of a matrix 10x10 float32")
    assert told(np.linalg.lstsq(a, np.ones(10, "f4"))[0]).startswith("linalg.lstsq of a matrix 10x10 float32")


def test_views_know_it_and_others_do_not(on_cpu):
    x = np.linalg.inv(symmetric(10, 10))
    assert told(x[2:, ::2].T).startswith("linalg.inv")
    assert told(x, x) == told(x)
    assert told(x.copy()) == "" and told(np.ones(100)) == "" and told(x * 2) == ""
    with np.config(small=0):
        text = np.explain(x * 2, x)
    assert "kernel 1: multiply" in text and "linalg.inv" in text


def test_few_elements_are_not_remembered(on_cpu):
    assert told(np.linalg.inv(symmetric(3, 3))) == ""


def test_what_is_remembered_is_bounded(on_cpu):
    a = symmetric(8, 8)
    first, last = np.linalg.inv(a), np.linalg.inv(a)
    for _ in range(126):
        np.linalg.cholesky(a + 100 * np.eye(8))
    assert told(first).startswith("linalg.inv")
    np.linalg.cholesky(a + 100 * np.eye(8))
    assert told(first) == "" and told(last).startswith("linalg.inv")


def test_memory_of_results_is_not_kept(on_cpu):
    x = np.linalg.inv(symmetric(300, 300))
    assert told(x) != ""
    before = np.memory_stats("cpu")["in_use"]
    del x
    gc.collect()
    assert np.memory_stats("cpu")["in_use"] <= before - 300 * 300 * 8


def test_a_call_that_fails_leaves_nothing_behind(on_cpu):
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(np.zeros((10, 10)))
    assert told(np.linalg.cholesky(np.eye(10))).startswith("linalg.cholesky")


@pytest.mark.parametrize(
    "function, what",
    [
        (np.fft.fft2, "a Fourier transform of real numbers of (80,90) float64 along axes 0,1"),
        (np.fft.ifft, "a Fourier transform of real numbers of (80,90) float64 along axis 1"),
        (np.fft.irfft, "a Fourier transform to real numbers of (80,90) complex128 along axis 1"),
        (np.scipy.fft.dct, "a cosine transform of (80,90) float64 along axis 1"),
        (np.scipy.fft.dst, "a sine transform of (80,90) float64 along axis 1"),
    ],
)
def test_transforms(device, function, what):
    text = told(function(np.ones((80, 90))))
    assert text.startswith(f"{what}, result on {device}\n")
    assert ("by ducc0, on " if device == "cpu" else "by cuFFT") in text


def test_on_a_gpu(device):
    if device == "cpu":
        pytest.skip("the CPU has tests of its own")
    assert "result on cuda:0\n  by cuSOLVER, syevd\n" in told(np.linalg.eigh(symmetric(20, 20))[1])
    own = "result on cuda:0\n  by a program of weft's own, a matrix a thread\n"
    assert own in told(np.linalg.eigh(symmetric(3, 3))[1])
    text = told(np.linalg.svd(symmetric(100, 40, 40))[1])
    assert "on the CPU: many small matrices, which cuSOLVER takes one by one\n  by LAPACK (OpenBLAS)" in text
