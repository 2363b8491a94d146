"""Kernels whose threads wait for each other have code of their own for the first sizes of blocks on a CPU."""

import numpy
import pytest
from weft import cuda


@cuda.jit(device=True)
def wait():
    cuda.syncthreads()


def reverse(a, out):
    shared = cuda.shared.array(256, "int64")
    t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    count = cuda.blockDim.x * cuda.blockDim.y
    at = cuda.blockIdx.x * count + t
    shared[t] = a[at]
    wait()
    out[at] = shared[count - 1 - t]


def double(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = 2 * a[i]


def test_all_sizes_give_the_same():
    kernel = cuda.jit(reverse)
    for block in [(16, 16), (32, 1), (1, 7), (3, 5), (64, 2), (8, 8), (16, 16), (33, 1), (2, 2)]:
        count = block[0] * block[1]
        a, out = numpy.arange(3 * count), numpy.zeros(3 * count, "int64")
        kernel[3, block](a, out)
        numpy.testing.assert_array_equal(out, a.reshape(3, count)[:, ::-1].ravel(), str(block))


@pytest.mark.parametrize("function, sizes", [(reverse, 4), (double, 0)])
def test_code_for_sizes_is_for_a_few_and_for_those_who_wait(device, function, sizes):
    if device == "cuda":
        pytest.skip("a GPU's launch has its sizes")
    kernel = cuda.jit(function)
    a, out = numpy.arange(256), numpy.zeros(256, "int64")
    for threads in (1, 2, 4, 8, 16, 32, 32):
        kernel[4, threads](a, out)
    assert len(kernel._of_blocks) == sizes
    assert sum(counts["calls"] for counts in kernel.stats.values()) == 7
    assert "define" in next(iter(kernel.inspect_llvm().values()))


def test_an_index_out_of_bounds_is_told_with_its_thread():
    kernel = cuda.jit(reverse)
    with pytest.raises(IndexError, match=r"in block \(1, 0, 0\), thread \(2, 1, 0\)"):
        kernel[2, (3, 2)](numpy.arange(11), numpy.zeros(12, "int64"))
        cuda.synchronize()
