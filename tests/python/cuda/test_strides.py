"""Threads that go over arrays in steps of the grid's size step together on a CPU (pass thread_strides): random kernels
against the same without the pass, and against Python thread by thread."""

import random
import types

import numpy
import pytest
import weft
from weft import cuda


def write(seed):
    """A random kernel's text: walks in steps, one or two, with or without a barrier behind them."""
    chosen = random.Random(seed)
    names = ["a", "b"]
    thread = chosen.choice(["cuda.grid(1)", "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"])
    of_all = chosen.choice(["cuda.gridsize(1)", "cuda.blockDim.x * cuda.gridDim.x"])
    lines = [f"thread = {thread}", f"step = {of_all}"]
    if chosen.random() < 0.3:
        lines += [f"if thread >= {chosen.choice(['n', 'm', 'n - 3'])}:", "    return"]
    totals = []
    for walk in range(chosen.choice([1, 1, 2])):
        total = f"total{walk}"
        kept = f"kept{walk}"
        lines += [f"{total} = {chosen.choice(['0', 'thread', 'm'])}", f"{kept} = a[thread % a.size] * 2"]
        start = chosen.choice(["thread", "thread", "thread + 1", "thread + m"])
        end = chosen.choice(["n", "a.size", "b.size", "n - 2"])
        step = chosen.choice(["step", "step", of_all, "32", "2 * step"])
        guard = "0 <= i < a.size and i < b.size and i < out.size"
        body = [f"{total} += {chosen.choice(names)}[i] % {chosen.randrange(2, 9)}"]
        if chosen.random() < 0.6:
            body.append(f"{total} -= {kept} * (i % 3)")
        if chosen.random() < 0.4:
            body.append(f"for k in range({chosen.choice(['3', 'i % 4', 'm'])}):")
            body.append(f"    {total} = ({total} * 3 + k) % 1001")
        if walk == 0 and chosen.random() < 0.6:  # another walk may have other threads at an element
            body.append(f"out[i] = {chosen.choice(names)}[i] + {chosen.choice(['i', 'm', '1'])} * {walk + 1}")
        if chosen.random() < 0.3:
            body.append(f"cuda.atomic.add(counts, {chosen.choice(names)}[i] % 8, 1)")
        if chosen.random() < 0.2:
            body.insert(0, f"if {chosen.choice(names)}[i] % 5 == 0:")
            body.insert(1, "    i += 0" if chosen.random() < 0.5 else f"    {total} += 7")
        if chosen.random() < 0.75:
            body = [f"if {guard}:", *(f"    {line}" for line in body)]
            if chosen.random() < 0.1:
                body.append(f"if {total} > 500:\n            break")
        else:
            end = "min(a.size, min(b.size, out.size))"
            start = start if start == "thread" else "thread + 1"
        if chosen.random() < 0.5:
            lines += [f"for i in range({start}, {end}, {step}):", *(f"    {line}" for line in body)]
        else:
            compared = f"i < {end}" if chosen.random() < 0.7 else f"{end} > i"
            lines += [
                f"i = {start}",
                f"while {compared}:",
                *(f"    {line}" for line in body),
                f"    i += {step}",
            ]
            if chosen.random() < 0.3:
                totals.append("i")
        totals.append(total)
    if chosen.random() < 0.3 and "    return" not in lines:
        lines += [
            "shared = cuda.shared.array(32, np.int64)",
            f"shared[cuda.threadIdx.x] = {totals[-1]}",
            "cuda.syncthreads()",
            "if cuda.threadIdx.x == 0:",
            "    for j in range(cuda.blockDim.x):",
            "        cuda.atomic.add(counts, 1, shared[j] % 100)",
        ]
        totals.append("shared[cuda.threadIdx.x]")
    lines.append(f"sums[thread] = {' + 3 * '.join(totals)}")
    return "def kernel(a, b, out, counts, sums, n, m):\n" + "".join(f"    {line}\n" for line in lines)


def run_by_python(text, blocks, threads, arguments):
    def add(array, index, value):
        array[index] += value

    def run(block, thread, shared):
        at = block * threads + thread
        place = types.SimpleNamespace(
            grid=lambda axes: at,
            gridsize=lambda axes: blocks * threads,
            threadIdx=types.SimpleNamespace(x=thread),
            blockIdx=types.SimpleNamespace(x=block),
            blockDim=types.SimpleNamespace(x=threads),
            gridDim=types.SimpleNamespace(x=blocks),
            atomic=types.SimpleNamespace(add=add),
            shared=types.SimpleNamespace(array=lambda size, dtype: shared),
        )
        scope = {"cuda": place, "np": numpy}
        exec(text.replace("cuda.syncthreads()", "yield"), scope)
        return scope["kernel"](*arguments)

    for block in range(blocks):
        shared = numpy.zeros(32, "int64")
        running = [run(block, thread, shared) for thread in range(threads)]
        if running[0] is not None:
            for one in running:
                next(one, None)
            for one in running:
                next(one, None)


def compare(seed):
    text = write(seed)
    scope = {"cuda": cuda, "np": weft}
    exec(text, scope)
    chosen = random.Random(seed)
    sizes = [chosen.choice([1, 7, 64, 333, 1000]) for _ in range(3)]
    blocks, threads = chosen.choice([(1, 1), (3, 8), (2, 32), (5, 20)])
    n, m = chosen.randrange(-3, 400), chosen.randrange(0, 9)
    found = []
    for variant in ("python", "all passes", "thread_strides"):
        a, b, out = (numpy.arange(size, dtype="int64") * 7 % 31 for size in sizes)
        counts, sums = numpy.zeros(8, "int64"), numpy.zeros(blocks * threads, "int64")
        arguments = (a, b, out, counts, sums, n, m)
        if variant == "python":
            run_by_python(text, blocks, threads, arguments)
        elif variant == "all passes":
            cuda.jit(scope["kernel"])[blocks, threads](*arguments)
        else:
            with weft.config(without=variant):
                cuda.jit(scope["kernel"])[blocks, threads](*arguments)
        found.append((out, counts, sums))
    for others in found[1:]:
        for expected, actual in zip(found[0], others, strict=True):
            numpy.testing.assert_array_equal(actual, expected, f"{text}\n{blocks, threads, sizes, n, m}")


@pytest.mark.parametrize("seed", range(60))
def test_random_walks(seed):
    compare(seed)


@pytest.mark.parametrize("start", [-(2**63) + 5, -5, 2**63 - 40, 2**63 - 1])
@pytest.mark.parametrize("end", [-(2**63) + 90, 70, 2**63 - 1])
def test_walks_near_the_ends_of_int64(start, end):
    def walk(start, end, counts):
        i = start + cuda.grid(1)
        while i < end:
            counts[cuda.grid(1)] += 1
            i += 2**61
            if counts[cuda.grid(1)] > 9:
                break

    counts = numpy.zeros(8, "int64")
    cuda.jit(walk)[2, 4](start, end, counts)
    expected = numpy.zeros(8, "int64")
    wrapped = numpy.array(0)
    for thread in range(8):
        wrapped = (start + thread + 2**63) % 2**64 - 2**63
        while wrapped < end and expected[thread] <= 9:
            expected[thread] += 1
            wrapped = (wrapped + 2**61 + 2**63) % 2**64 - 2**63
    numpy.testing.assert_array_equal(counts, expected)


def test_an_error_in_a_walk_names_its_thread():
    def walk(a, out):
        for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
            out[i] = a[i]

    with pytest.raises(IndexError, match=r"index 90 .* size 90, in block \(1, 0, 0\), thread \(6, 0, 0\)"):
        cuda.jit(walk)[3, 12](numpy.zeros(91), numpy.zeros(90))
        cuda.synchronize()


def compiled_from(text):
    scope = {"cuda": cuda, "np": weft}
    exec(text, scope)
    return cuda.jit(scope["kernel"])


@pytest.mark.parametrize(
    "used",
    [
        "if i < m and i < a.size:\n    out[i] = a[i]",
        "for j in range(i, a.size, cuda.gridsize(1) + 0 * m):\n    out[j] = a[j]",
        "for j in range(i + m, a.size, cuda.gridsize(1)):\n    out[j] = a[j]",
        "if not flag:\n    return\nfor j in range(i, a.size, cuda.gridsize(1)):\n    out[j] = a[j]",
    ],
)
def test_values_made_of_values_compile_at_once(used):
    """What leads to a value in 2**40 ways is looked at once."""
    lines = ["i = cuda.grid(1)", "m = n", "flag = i >= 0"]
    lines += ["m = m + m"] * 40 + ["flag = flag and (flag or i > m)"] * 40 + used.split("\n")
    kernel = compiled_from("def kernel(a, out, n):\n" + "".join(f"    {line}\n" for line in lines))
    out = numpy.zeros(64)
    kernel[2, 32](numpy.arange(64.0), out, 1 if "m and" in used else 0)
    numpy.testing.assert_array_equal(out, numpy.arange(64.0))


def test_a_step_that_is_an_operations_second_result():
    def walk(a, out, p, q):
        j = cuda.grid(1)
        while j < a.size:
            out[j] = a[j]
            j += divmod(p, q)[1]

    out = numpy.zeros(100)
    cuda.jit(walk)[1, 8](numpy.arange(100.0), out, 97, 89)
    numpy.testing.assert_array_equal(out, numpy.arange(100.0))


def test_arrays_in_all_layouts():
    def double(a, out):
        i, j = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = 2 * a[i, j]

    kernel = cuda.jit(double)
    a = numpy.arange(600.0).reshape(20, 30)
    for given in (a[::-1], a[:, ::-1], a[::2, ::3], a.T, a[:0], a[:, :0]):
        rows, columns = given.shape
        for out in (numpy.zeros((2 * rows, 3 * columns))[::2, ::-3], numpy.zeros((columns, rows)).T):
            kernel[(4, 4), (8, 8)](given, out)
            numpy.testing.assert_array_equal(out, 2 * given)
