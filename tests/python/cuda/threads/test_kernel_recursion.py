"""Functions of kernels that call themselves: calls on a GPU, too, as deep as its stack is."""

import numpy
import pytest
import weft as np
from on_gpu import needs_gpu
from weft import cuda


def runs_there(kernel, device):
    """Whether the kernel was compiled for the device, and not for the CPU in its stead."""
    return ("on the CPU instead" not in kernel.explain()) and (" registers " in kernel.explain()) == (
        device == "cuda"
    )


@cuda.jit(device=True)
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@cuda.jit
def fill_fibonacci(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = fibonacci(i)


def test_a_function_that_calls_itself(device):
    out = np.zeros(20, "i8")
    fill_fibonacci[2, 16](out)
    assert numpy.array(out).tolist()[:10] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34] and int(out[19]) == 4181
    assert runs_there(fill_fibonacci, device)


@cuda.jit(device=True)
def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


@cuda.jit(device=True)
def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


def test_functions_that_call_each_other(device):
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = is_even(i)

    out = np.zeros(24, "?")
    kernel[1, 24](out)
    assert numpy.array(out).tolist() == [True, False] * 12
    assert runs_there(kernel, device)


@cuda.jit(device=True)
def sort(a, low, high):
    if low >= high:
        return 0
    pivot = a[(low + high) // 2]
    i, j = low, high
    while i <= j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i <= j:
            a[i], a[j] = a[j], a[i]
            i += 1
            j -= 1
    return 1 + sort(a, low, j) + sort(a, i, high)


def test_arrays_of_all_spaces_are_passed_on(device):
    @cuda.jit
    def kernel(rows, calls):
        shared = cuda.shared.array(16, numpy.float64)
        local = cuda.local.array(16, numpy.int32)
        t = cuda.threadIdx.x
        calls[t] = sort(rows[t], 0, rows.shape[1] - 1)
        for k in range(16):
            local[k] = (k * 7 + t) % 16
        sort(local, 0, 15)
        shared[t] = rows[t, 0]
        cuda.syncthreads()
        if t == 0:
            sort(shared, 0, 15)
            for k in range(16):
                rows[k, 1] = shared[k]
        rows[t, 2] = local[15]

    given = numpy.random.default_rng(3).random((16, 20))
    rows, calls = np.array(given), np.zeros(16, "i8")
    kernel[1, 16](rows, calls)
    got, wanted = numpy.array(rows), numpy.sort(given, axis=1)
    least = numpy.sort(wanted[:, 0])
    assert (got[:, 3:] == wanted[:, 3:]).all() and (got[:, 0] == wanted[:, 0]).all()
    assert (got[:, 1] == least).all() and (got[:, 2] == 15).all()
    assert (numpy.array(calls) > 0).all()
    assert runs_there(kernel, device)


@cuda.jit(device=True)
def halves(low, high):
    """The largest, the sum and the count of numbers, which do not fit into registers together."""
    if high - low == 1:
        return float(low), low, 1
    middle = (low + high) // 2
    a, b = halves(low, middle), halves(middle, high)
    return max(a[0], b[0]), a[1] + b[1], a[2] + b[2]


def test_several_results(device):
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        most, total, count = halves(0, i + 1)
        out[i, 0] = most
        out[i, 1] = total
        out[i, 2] = count

    out = np.zeros((40, 3))
    kernel[2, 20](out)
    assert numpy.array(out).tolist() == [[i, i * (i + 1) / 2, i + 1] for i in range(40)]
    assert runs_there(kernel, device)


@cuda.jit(device=True)
def down(n):
    return down(n - 1) if n > 0 else 0


@cuda.jit(device=True)
def for_ever(n):
    return 0 if n < 0 else for_ever(n + 1)


@pytest.mark.parametrize("function", [down, for_ever])
def test_what_is_too_deep_is_an_error_and_the_gpu_stays_usable(function, device):
    @cuda.jit
    def kernel(out, n):
        out[0] = function(n)

    out = np.zeros(1)
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        kernel[1, 1](out, 10**9)
        cuda.synchronize()
    assert runs_there(kernel, device)
    out = np.zeros(20, "i8")
    fill_fibonacci[2, 16](out)
    assert int(out[19]) == 4181


class MineError(Exception):
    pass


@cuda.jit(device=True)
def raise_at(a, n):
    if n < 0:
        return 0
    if n == 0:
        raise MineError("at the bottom", 3)
    a[n] = n
    return raise_at(a, n - 1)


def test_what_a_called_function_raises_ends_the_thread(device):
    @cuda.jit
    def kernel(a):
        raise_at(a, 3)
        a[0] = 7

    a = np.zeros(4)
    with pytest.raises(MineError) as info:
        kernel[1, 1](a)
        numpy.array(a)
    assert info.value.args == ("at the bottom", 3)
    assert runs_there(kernel, device)

    @cuda.jit
    def beyond(a):
        raise_at(a, 9)

    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 4, in block"):
        beyond[1, 1](np.zeros(4))
        cuda.synchronize()
    assert runs_there(beyond, device)


@cuda.jit(device=True)
def reduce(values, t, count):
    if count == 1:
        return values[0]
    half = count // 2
    if t < half:
        values[t] += values[t + half]
    cuda.syncthreads()
    return reduce(values, t, half)


def test_threads_wait_for_each_other_in_what_calls_itself(device):
    @cuda.jit
    def kernel(a, out):
        values = cuda.shared.array(64, numpy.float64)
        t = cuda.threadIdx.x
        values[t] = a[cuda.grid(1)]
        cuda.syncthreads()
        total = reduce(values, t, 64)
        if t == 0:
            out[cuda.blockIdx.x] = total

    a, out = np.arange(256.0), np.zeros(4)
    kernel[4, 64](a, out)
    assert numpy.array(out).tolist() == numpy.arange(256.0).reshape(4, 64).sum(axis=1).tolist()
    assert runs_there(kernel, device)


def test_what_prints_and_calls_itself(device, capfd):
    @cuda.jit(device=True)
    def count(n):
        if n > 0:
            count(n - 1)
            print(n, n / 2)

    @cuda.jit
    def kernel():
        count(3)

    kernel[1, 1]()
    cuda.synchronize()
    assert capfd.readouterr().out == "1 0.5\n2 1.0\n3 1.5\n"
    assert runs_there(kernel, device)


@needs_gpu
def test_the_ptx_has_calls():
    out = np.zeros(20, "i8", device="cuda")
    fill_fibonacci[2, 16](out)
    ptx = "".join(fill_fibonacci.inspect_asm().values())
    assert ".func" in ptx and "call" in ptx
