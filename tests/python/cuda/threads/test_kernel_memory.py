"""Arrays that kernels allocate: of a constant small size they are memory of the thread on a GPU."""

import numpy
import pytest
import weft as np
from weft import cuda


def runs_there(kernel, device):
    """Whether the kernel was compiled for the device, and not for the CPU in its stead."""
    return ("on the CPU instead" not in kernel.explain()) and (" registers " in kernel.explain()) == (
        device == "cuda"
    )


def test_small_matrices_of_each_thread(device):
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.shape[0]:
            matrix = np.zeros((3, 3))
            vector = np.empty(3)
            for r in range(3):
                vector[r] = a[i, r]
                for c in range(3):
                    matrix[r, c] = a[i, r] * a[i, c]
            for _ in range(4):
                next_vector = np.zeros(3)  # in a loop: zeros each time
                for r in range(3):
                    for c in range(3):
                        next_vector[r] += matrix[r, c] * vector[c]
                for r in range(3):
                    vector[r] = next_vector[r] / 3
            out[i] = vector[0] + vector[1] + vector[2]

    given = numpy.random.default_rng(5).random((50, 3))
    out = np.zeros(50)
    kernel[2, 32](np.array(given), out)
    wanted = []
    for row in given:
        vector = row
        for _ in range(4):
            vector = numpy.outer(row, row) @ vector / 3
        wanted.append(vector.sum())
    assert numpy.allclose(numpy.array(out), wanted, rtol=1e-13)
    assert runs_there(kernel, device)


@pytest.mark.parametrize("dtype", ["i1", "f4", "c16", "?"])
def test_arrays_of_all_dtypes(dtype, device):
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        own = np.ones(4, dtype)
        own[i] = a[i]
        for k in range(4):
            out[i, k] = own[k]

    given = numpy.arange(4).astype(dtype)
    out = np.zeros((4, 4), dtype)
    kernel[1, 4](np.array(given), out)
    wanted = numpy.ones((4, 4), dtype)
    numpy.fill_diagonal(wanted, given)
    assert (numpy.array(out) == wanted).all()
    assert runs_there(kernel, device)


def test_an_index_out_of_bounds_is_an_error(device):
    @cuda.jit
    def kernel(out, n):
        own = np.zeros(4)
        own[n] = 1
        out[0] = own[0]

    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        kernel[1, 1](np.zeros(1), 4)
        cuda.synchronize()
    assert runs_there(kernel, device)


def carried(out, n):
    own = np.zeros(3)
    for k in range(n):
        other = np.zeros(3)
        other[0] = own[0] + k
        own = other
    out[0] = own[0]


def of_an_argument(out, n):
    own = np.zeros(n)
    for k in range(n):
        own[k] = k
    out[0] = own[n - 1] + 3


def large(out, n):
    own = np.zeros(10_000)
    own[9_999] = n
    out[0] = own[9_999] + own[0] + 2


def counted(out, n):
    own = np.zeros(3)
    cuda.atomic.add(own, 1, n)
    out[0] = own[1] + 2


@pytest.mark.parametrize("function", [carried, of_an_argument, large, counted])
def test_other_memory_is_the_cpus(function, device):
    kernel = cuda.jit(function)
    out = np.zeros(1)
    kernel[1, 1](out, 4)
    assert numpy.array(out).tolist() == [6.0]
    assert ("heap memory" in kernel.explain()) == (device == "cuda")
