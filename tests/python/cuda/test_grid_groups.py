"""Kernels whose blocks wait for each other: cuda.cg.this_grid().sync()."""

import numpy
import pytest
import weft
from on_gpu import ON_FAKE_DRIVER
from weft import cuda

np = weft
cg = cuda.cg


@cuda.jit
def shares_of_sum(a, partial, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    own = cuda.shared.array(64, np.float64)
    own[t] = a[i] if i < a.size else 0.0
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            own[t] += own[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        partial[cuda.blockIdx.x] = own[0]
    cuda.cg.this_grid().sync()
    total = 0.0
    for b in range(cuda.gridDim.x):
        total += partial[b]
    if i < out.size:
        out[i] = a[i] / total


def test_all_blocks_see_what_each_has_written():
    a = numpy.arange(1000.0) + 1
    out, partial = numpy.zeros(1000), numpy.zeros(16)
    shares_of_sum[16, 64](a, partial, out)
    numpy.testing.assert_allclose(out, a / a.sum(), rtol=1e-13)


@cuda.jit
def smoothed(u, v, steps):
    grid = cg.this_grid()
    i = cuda.grid(1)
    for _ in range(steps):
        if 0 < i < u.size - 1:
            v[i] = 0.5 * (u[i - 1] + u[i + 1])
        grid.sync()
        if 0 < i < u.size - 1:
            u[i] = v[i]
        grid.sync()


def smoothed_by_numpy(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
    return u


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_steps_in_a_loop(threads):
    u = numpy.random.default_rng(1).random(700)
    expected = smoothed_by_numpy(u, 40)
    with weft.config(num_threads=threads):
        smoothed[11, 64](u, u.copy(), 40)
    numpy.testing.assert_array_equal(u, expected)


def test_one_block_and_no_steps():
    u = numpy.arange(40.0) ** 2
    expected = smoothed_by_numpy(u, 3)
    smoothed[1, 64](u, u.copy(), 3)
    numpy.testing.assert_array_equal(u, expected)
    smoothed[3, 32](u, u.copy(), 0)
    numpy.testing.assert_array_equal(u, expected)


def test_lazy_arrays_and_axes():
    @cuda.jit
    def transposed_twice(a, b):
        i, j = cuda.grid(2)
        inside = i < a.shape[0] and j < a.shape[1]
        if inside:
            b[j, i] = a[i, j] * 2
        cg.this_grid().sync()
        if inside:
            a[i, j] = b[j, i] + b[0, 0]

    a, b = np.ones((20, 30)) * 3, np.zeros((30, 20))
    transposed_twice[(3, 4), (8, 8)](a, b)
    assert (numpy.array(a) == 12).all()


@cuda.jit(device=True)
def meeting_for(grid, a, i):
    a[i] += 1
    grid.sync()
    return a[a.size - 1 - i]


@cuda.jit
def by_functions(a, out):
    i = cuda.grid(1)
    out[i] = meeting_for(cg.this_grid(), a, i)


def test_a_function_waits_for_the_grid():
    a, out = numpy.arange(128.0), numpy.zeros(128)
    by_functions[4, 32](a, out)
    assert (out == numpy.arange(128.0)[::-1] + 1).all()


@cuda.jit
def by_warps(a, out):
    i, lane = cuda.grid(1), cuda.threadIdx.x % 32
    value = cuda.shfl_down_sync(0xFFFFFFFF, a[i], 1)
    if lane < 8:
        value += cuda.shfl_xor_sync(0xFF, a[i], 1)
    a[i] = value
    cg.this_grid().sync()
    out[i] = a[a.size - 1 - i]


def test_threads_that_take_turns():
    a, out = numpy.arange(128), numpy.zeros(128, numpy.int64)
    expected = numpy.where(numpy.arange(128) % 32 == 31, a, a + 1)
    expected += numpy.where(numpy.arange(128) % 32 < 8, a ^ 1, 0)
    by_warps[2, 64](a, out)
    assert (out == expected[::-1]).all()


@cuda.jit
def failing_before_it_meets(a, out, which):
    i = cuda.grid(1)
    if i == which:
        a[i + a.size] = 1.0
    a[i] += 1
    cg.this_grid().sync()
    out[i] = a[a.size - 1 - i]


def test_an_error_ends_all_blocks():
    a, out = np.zeros(128), np.zeros(128)
    with pytest.raises(IndexError, match=r"block \(2, 0, 0\), thread \(3, 0, 0\)"):
        failing_before_it_meets[4, 32](a, out, 67)
        cuda.synchronize()
        float(out.sum())
    a, out = np.zeros(128), np.zeros(128)
    failing_before_it_meets[4, 32](a, out, -1)
    assert (numpy.array(out) == 1).all()


def test_more_blocks_than_wait_at_once(device):
    u = np.zeros(10)
    with pytest.raises(ValueError, match=r"a grid of \d+ blocks.* that wait for each other"):
        smoothed[1 << 20, 1024](u, u.copy(), 1)
    smoothed[2, 32](u, u.copy(), 1)


def test_blocks_that_have_ended_are_not_waited_for(device):
    if device != "cpu":
        pytest.skip("a GPU's grid waits for all of its threads")

    @cuda.jit
    def some_end(a):
        if cuda.blockIdx.x == 1:
            return
        cg.this_grid().sync()
        a[cuda.grid(1)] = 1.0

    a = numpy.zeros(96)
    some_end[3, 32](a)
    assert a.sum() == 64


def test_refusals():
    u = numpy.zeros(10)
    with pytest.raises(weft.CompileError, match="race checker"):
        smoothed.check[1, 32](u, u.copy(), 1)
    with np.device("cpu"), pytest.raises(weft.CompileError, match="parallel=False"):
        cuda.jit(smoothed.py_func, parallel=False)[2, 32](u, u.copy(), 1)
    with pytest.raises(TypeError, match="in kernels only"):
        cg.this_grid()

    @cuda.jit
    def wrong(a):
        cg.this_grid().synchronize()

    with pytest.raises(weft.CompileError, match=r"no method 'synchronize'"):
        wrong[1, 32](u)


def test_explain_tells_how_threads_run():
    u = numpy.zeros(100)
    with np.device("cpu"):
        smoothed[2, 64](u, u.copy(), 1)
    assert "threads are loops, cut where they meet" in smoothed.explain()


def test_a_first_thread_that_has_ended_on_a_gpu(device):
    if device == "cpu" or ON_FAKE_DRIVER:
        pytest.skip("of GPUs")

    @cuda.jit
    def first_ends(a):
        if cuda.threadIdx.x == 0:
            return
        cg.this_grid().sync()
        a[cuda.grid(1)] = 1.0

    a = np.zeros(96)
    with pytest.raises(RuntimeError, match="ended before the grid's barrier"):
        first_ends[3, 32](a)
        float(a.sum())
    u = np.zeros(64)
    smoothed[2, 32](u, u.copy(), 3)
    assert float(u.sum()) == 0
