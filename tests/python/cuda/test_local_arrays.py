"""Arrays that each thread has for itself: on a CPU they are on the stack or lanes of vectors (passes local_memory and
lanes_of_loops), and threads with them are compared in all these ways, beside the same text run by Python."""

import random
import types

import numpy
import pytest
import weft
from weft import cuda

WAYS = ["", "local_memory", "lanes_of_loops", "simplify"]
BLOCK = 64


class Writer:
    """A random kernel over two small arrays of its threads, of which one has two dimensions."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.names = 0

    def index(self, counters):
        """Below 4: a constant, a counter, or what was computed."""
        choices = [str(self.random.randrange(4)), *counters, "v % 4", "(x + 1) % 4", "-1 - v % 4"]
        return self.random.choice(choices)

    def value(self, counters):
        of_own = f"own[{self.index(counters)}]"
        of_rows = f"rows[{self.index(counters)} % 2, {self.index(counters)}]"
        return self.random.choice([of_own, of_rows, "v", "x", str(self.random.randrange(9)), *counters])

    def statement(self, depth, counters):
        kind = self.random.randrange(9 if depth < 3 else 5)
        indent = "    " * (depth + 2)
        if kind == 0:
            self.lines.append(f"{indent}own[{self.index(counters)}] = {self.value(counters)}")
        elif kind == 1:
            row = f"rows[{self.index(counters)} % 2, {self.index(counters)}]"
            self.lines.append(f"{indent}{row} = ({self.value(counters)} * 3 + {self.value(counters)}) % 101")
        elif kind == 2:
            self.lines.append(f"{indent}v = ({self.value(counters)} + {self.value(counters)} * 5) % 97")
        elif kind == 3:
            self.names += 1
            self.lines.append(f"{indent}part{self.names} = rows[{self.index(counters)} % 2]")
            self.lines.append(f"{indent}part{self.names}[{self.index(counters)}] = {self.value(counters)}")
        elif kind == 4:
            self.lines.append(f"{indent}own[{self.index(counters)}] += {self.value(counters)} % 13")
        elif kind < 7:
            self.names += 1
            counter = f"k{self.names}"
            size = self.random.choice(["2", "4", "4", "1 + v % 3", "n"])
            self.lines.append(f"{indent}for {counter} in range({size}):")
            inner = [*counters, counter if size != "n" else f"{counter} % 4"]
            for _ in range(self.random.randrange(1, 4)):
                self.statement(depth + 1, inner)
            if self.random.random() < 0.2:
                self.lines.append(f"{indent}    if v % 5 == 1:")
                self.lines.append(f"{indent}        break")
        elif kind == 7:
            self.lines.append(f"{indent}if {self.value(counters)} < {self.value(counters)}:")
            self.statement(depth + 1, counters)
            if self.random.random() < 0.5:
                self.lines.append(f"{indent}else:")
                self.statement(depth + 1, counters)
        else:
            self.lines.append(f"{indent}while v > 20:")
            self.lines.append(f"{indent}    v -= 1 + own[{self.index(counters)}] % 7")
            self.lines.append(f"{indent}    v = v % 97")
            self.lines.append(f"{indent}    own[{self.index(counters)}] = abs(own[0] - 1) % 50")

    def text(self):
        for _ in range(self.random.randrange(3, 8)):
            self.statement(0, [])
        return (
            "def kernel(a, out, n):\n"
            "    i = cuda.grid(1)\n"
            "    if i < a.size:\n"
            "        own = cuda.local.array(4, np.int64)\n"
            "        rows = cuda.local.array((2, 4), np.int64)\n"
            "        for k in range(4):\n"
            "            own[k] = k\n"
            "            rows[0, k] = a[i]\n"
            "            rows[1, k] = i\n"
            "        x = a[i] % 50\n"
            "        v = x\n" + "\n".join(self.lines) + "\n"
            "        total = v\n"
            "        for k in range(4):\n"
            "            total += own[k] * (k + 1) + rows[0, k] * 7 + rows[1, k] * 11\n"
            "        out[i] = total\n"
        )


def run_by_python(text, a, out, n):
    place = types.SimpleNamespace(local=types.SimpleNamespace(array=numpy.empty))
    scope = {"cuda": place, "np": numpy}
    exec(text, scope)
    for i in range(a.size):
        place.grid = lambda _, i=i: i
        scope["kernel"](a, out, n)


def compiled(text):
    scope = {"cuda": cuda, "np": numpy}
    exec(text, scope)
    return cuda.jit(scope["kernel"], source=text)


@pytest.mark.parametrize("seed", range(40))
def test_random_kernels(seed, device):
    text = Writer(seed).text()
    size = [1, 40, 64, 150][seed % 4]
    a = numpy.random.default_rng(seed).integers(0, 97, size)
    expected = numpy.zeros_like(a)
    run_by_python(text, a, expected, seed % 4)
    for without in WAYS if device == "cpu" else WAYS[:1]:
        found = numpy.zeros_like(a)
        with weft.config(without=without):
            compiled(text)[-(-size // BLOCK), BLOCK](a, found, seed % 4)
        numpy.testing.assert_array_equal(found, expected, err_msg=f"{without}\n{text}")


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int32", "float16", "float32", "complex64", "complex128"]
)
def test_elements_of_each_type(dtype):
    kind = numpy.dtype(dtype).type

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < out.size:
            own = cuda.local.array(5, kind)
            for k in range(5):
                own[k] = a[(i + k) % a.size]
            for k in range(4):
                if k % 2 == i % 2:
                    own[k] = own[k + 1]
            out[i] = own[i % 5]

    a = numpy.random.default_rng(2).integers(0, 2, 37).astype(dtype)
    if dtype != "bool":
        a += numpy.arange(37).astype(dtype)
    expected = numpy.zeros(50, dtype)
    for i in range(50):
        own = [a[(i + k) % 37] for k in range(5)]
        for k in range(4):
            if k % 2 == i % 2:
                own[k] = own[k + 1]
        expected[i] = own[i % 5]
    for without in WAYS:
        out = numpy.zeros(50, dtype)
        with weft.config(without=without):
            cuda.jit(kernel.py_func)[2, 32](a, out)
        numpy.testing.assert_array_equal(out, expected)


@cuda.jit(device=True)
def filled(own, by):
    for k in range(own.size):
        own[k] = k * by
    return own


@cuda.jit(device=True)
def counted_down(own, at):
    if at == 0:
        return own[0]
    own[at - 1] += own[at]
    return counted_down(own, at - 1)


@cuda.jit
def handed_on(out, recursive):
    i = cuda.grid(1)
    if i < out.size:
        own = cuda.local.array(6, np_int64)
        other = cuda.local.array(6, np_int64)
        chosen = filled(own, i) if i % 3 else filled(other, 2 * i)
        out[i] = chosen[1:4].sum() + (counted_down(chosen, 5) if recursive else chosen[5])


np_int64 = numpy.int64


@pytest.mark.parametrize("recursive", [False, True])
def test_arrays_that_are_handed_on_and_chosen(recursive, device):
    if device == "cuda" and recursive:
        pytest.skip("functions that call themselves run on the CPU")
    out = numpy.zeros(70, int)
    handed_on[3, 32](out, recursive)
    by = numpy.arange(70) * numpy.where(numpy.arange(70) % 3, 1, 2)
    numpy.testing.assert_array_equal(out, 6 * by + (15 * by if recursive else 5 * by))


@cuda.jit
def out_of_bounds(a, out):
    i = cuda.grid(1)
    if i < out.size:
        own = cuda.local.array(4, np_int64)
        for k in range(4):
            own[k] = i
        own[a[i]] = 100
        out[i] = own[0] + own[3]


def test_indices_out_of_bounds_tell_the_thread():
    a = numpy.arange(70) % 4
    out = numpy.zeros(70, int)
    out_of_bounds[3, 32](a, out)
    i = numpy.arange(70)
    numpy.testing.assert_array_equal(out, numpy.where((a == 0) | (a == 3), i + 100, 2 * i))
    a[37] = 4
    with pytest.raises(IndexError, match=r"index 4 is out of bounds.*size 4.*thread \(5, 0, 0\)"):
        out_of_bounds[3, 32](a, out)
        cuda.synchronize()
        out.sum()


def test_small_arrays_of_compiled_functions_are_local():
    """Those that a loop makes and hands on to nobody need no memory of the heap, and those that it keeps do."""

    @weft.njit(parallel=True)
    def sums(a, keeps):
        out = numpy.zeros(a.size)
        kept = numpy.zeros(3)
        for i in weft.prange(a.size):
            own = numpy.empty(3)
            for k in range(3):
                own[k] = a[i] * k
            out[i] = own[0] + own[1] + own[2]
        for i in range(a.size):
            own = numpy.zeros(3)
            own[i % 3] = a[i]
            if i == keeps:
                kept = own
        return out, kept

    a = numpy.arange(100.0)
    for without in WAYS:
        with weft.config(without=without):
            out, kept = weft.njit(parallel=True)(sums.py_func)(a, 7)
        numpy.testing.assert_array_equal(out, 3 * a)
        numpy.testing.assert_array_equal(kept, [0, 7, 0])


def test_threads_with_arrays_of_their_own_become_vectors():
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < out.size:
            own = cuda.local.array(5, numpy.float32)
            for k in range(5):
                own[k] = a[i + k]
            for step in range(5):
                for k in range(step & 1, 4, 2):
                    low = min(own[k], own[k + 1])
                    own[k + 1] = max(own[k], own[k + 1])
                    own[k] = low
            out[i] = own[2]

    a = numpy.random.default_rng(1).random(1004).astype("f4")
    out = numpy.zeros(1000, "f4")
    with weft.device("cpu"):
        kernel[4, 256](a, out)
    expected = numpy.median(numpy.lib.stride_tricks.sliding_window_view(a, 5), axis=1)
    numpy.testing.assert_array_equal(out, expected)
