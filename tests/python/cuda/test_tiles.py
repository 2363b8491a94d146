"""Kernels whose threads do not wait for each other: on a CPU loops over all threads of a launch, in an order that goes
along memory (src/lang/kernels/tiles.cpp), without the threads that do nothing (pass thread_checks). Random kernels
against the same text run by Python, thread by thread."""

import itertools
import os
import random
import subprocess
import sys
import types

import numpy
import pytest
import weft
from weft import cuda

GRIDS = [
    ((3, 2), (4, 5)),
    ((1, 4), (8, 3)),
    ((5, 1), (3, 7)),
    ((2, 2, 2), (3, 2, 2)),
    (40, 3),
    ((70, 3), (1, 1)),
]
NOTHING = types.SimpleNamespace(x=0, y=0, z=0)


class Writer:
    """A random kernel: how it finds its place, what keeps threads out, and what it does to its element."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def place(self, axis, name):
        letter = "xyz"[axis]
        block, size, thread = (f"cuda.{what}.{letter}" for what in ("blockIdx", "blockDim", "threadIdx"))
        ways = [f"cuda.grid(3)[{axis}]", f"{block} * {size} + {thread}", f"{thread} + {size} * {block}"]
        way = self.random.choice(ways)
        if self.random.random() < 0.15:  # the parts by themselves
            return [f"part = {block}", f"{name} = part * {size} + {thread} + 0 * (part + {thread})"]
        return [f"{name} = {way}"]

    def comparison(self, names):
        left = self.random.choice(names) + self.random.choice(["", " + 1", " - 2"])
        right = self.random.choice(["n", "m", "n - 2", "m + 1", "3", "7", "0", *names])
        if self.random.random() < 0.3:
            left, right = right, left
        operator = self.random.choice(["<", "<=", ">", ">=", "==", "!=", "<", ">="])
        return f"{left} {operator} {right}"

    def condition(self, names, depth=2):
        kind = self.random.randrange(6) if depth else 0
        if kind < 2:
            return self.comparison(names)
        if kind == 2:
            return f"not ({self.condition(names, depth - 1)})"
        if kind == 3:
            return f"0 < {self.random.choice(names)} < {self.random.choice(['n', 'm', 'n - 1'])}"
        joined = self.random.choice([" and ", " or "])
        return "(" + joined.join(self.condition(names, depth - 1) for _ in range(2)) + ")"

    def text(self):
        names = ["i", "j", "k"][: self.random.choice([1, 2, 2, 3])]
        axes = self.random.sample(range(3), len(names))
        lines = [line for axis, name in zip(axes, names, strict=True) for line in self.place(axis, name)]
        depth = 0
        for _ in range(self.random.randrange(3)):
            condition = self.condition(names)
            if self.random.random() < 0.5:
                lines.append("    " * depth + f"if {condition}:")
                depth += 1
            else:
                lines += ["    " * depth + f"if {condition}:", "    " * depth + "    return"]
        inside = " and ".join(f"{name} < out.shape[{place}]" for place, name in enumerate(names))
        index = ", ".join(names)
        of_them = " * 3 + ".join(names)
        body = {
            "plain": [f"out[{index}] = a[{index}] * 2 + {of_them}"],
            "loop": [
                "total = 0",
                f"for step in range({self.random.choice(['3', 'n', names[0]])}):",
                f"    total += (a[{index}] + step) % 5",
                f"out[{index}] = total",
            ],
            "both": [
                f"if {self.condition(names)}:",
                f"    out[{index}] = a[{index}] + 1",
                "else:",
                f"    out[{index}] = {of_them}",
            ],
            "atomic": [f"cuda.atomic.add(count, 0, {of_them})", f"out[{index}] = 1"],
        }[self.random.choice(["plain", "plain", "loop", "both", "atomic"])]
        lines += ["    " * depth + f"if {inside}:"] + ["    " * (depth + 1) + line for line in body]
        text = "def kernel(a, out, count, n, m):\n" + "".join(f"    {line}\n" for line in lines)
        return text, len(names)


def run_by_python(text, grid, block, arguments):
    grid, block = ((*each, 1, 1)[:3] if isinstance(each, tuple) else (each, 1, 1) for each in (grid, block))
    place = types.SimpleNamespace(
        blockDim=types.SimpleNamespace(**dict(zip("xyz", block, strict=True))),
        blockIdx=NOTHING,
        threadIdx=NOTHING,
    )

    def add(array, index, value):
        array[index] += value

    place.atomic = types.SimpleNamespace(add=add)
    scope = {"cuda": place}
    exec(text, scope)
    for b in itertools.product(*map(range, grid)):
        for t in itertools.product(*map(range, block)):
            place.blockIdx, place.threadIdx = (
                types.SimpleNamespace(**dict(zip("xyz", at, strict=True))) for at in (b, t)
            )
            at = tuple(b[axis] * block[axis] + t[axis] for axis in range(3))
            place.grid = lambda axes, at=at: at[:axes]
            scope["kernel"](*arguments)


def compare(seed):
    writer = Writer(seed)
    text, rank = writer.text()
    scope = {"cuda": cuda, "np": weft}
    exec(text, scope)
    kernel = cuda.jit(scope["kernel"])
    for grid, block in writer.random.sample(GRIDS, 3):
        shape = tuple(writer.random.choice([1, 4, 9, 16, 70]) for _ in range(rank))
        order = writer.random.choice("CCF")
        a = numpy.arange(numpy.prod(shape), dtype="int64").reshape(shape, order=order) % 23
        out = numpy.asarray(numpy.zeros(shape, dtype="int64"), order=order)
        n, m = writer.random.randrange(-1, 20), writer.random.randrange(0, 12)
        expected, total = out.copy(order="K"), numpy.zeros(1, "int64")
        run_by_python(text, grid, block, (a, expected, total, n, m))
        count = numpy.zeros(1, "int64")
        kernel[grid, block](a, out, count, n, m)
        numpy.testing.assert_array_equal(out, expected, f"{text}\n{grid, block, shape, order, n, m}")
        assert count == total, text


@pytest.mark.parametrize("seed", range(60))
def test_random_kernels_without_meetings(seed):
    compare(seed)


def outside(a):
    i, j = cuda.grid(2)
    a[i, j] = 1


@pytest.mark.parametrize("block", [(8, 4), (4, 8), (1, 16), (16, 1)])
def test_errors_name_the_block_and_the_thread(block):
    a = numpy.zeros((6, 32))
    grid = (-(-7 // block[0]), 32 // block[1])
    kernel = cuda.jit(outside)
    with pytest.raises(IndexError) as failure:
        kernel[grid, block](a)
        cuda.synchronize()
    found = str(failure.value)
    blocks = [int(each) for each in found.split("in block (")[1].split(")")[0].split(",")]
    threads = [int(each) for each in found.split("thread (")[1].split(")")[0].split(",")]
    assert all(0 <= t < size for t, size in zip(threads, (*block, 1), strict=True)), found
    at = blocks[0] * block[0] + threads[0]
    assert at >= 6, found
    assert f"index {at} " in found


def test_one_block_of_more_blocks_than_threads_of_a_tile():
    @cuda.jit
    def fill(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = i

    out = numpy.zeros(100_003, "int64")
    fill[100_100, 1](out)
    numpy.testing.assert_array_equal(out, numpy.arange(out.size))


def test_device_functions_that_ask_for_their_threads():
    @cuda.jit(device=True)
    def number():
        return cuda.threadIdx.x

    @cuda.jit(device=True)
    def place():
        return cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x

    @cuda.jit
    def both(out, places):
        places[place()] = place()
        out[place()] = number()

    out, places = numpy.zeros(12, "int64"), numpy.zeros(12, "int64")
    both[3, 4](out, places)
    numpy.testing.assert_array_equal(out, [0, 1, 2, 3] * 3)
    numpy.testing.assert_array_equal(places, numpy.arange(12))


LONG = """\
import math
import os
import signal
import subprocess
import time

import numpy
from weft import cuda

signal.signal(signal.SIGINT, signal.default_int_handler)


@cuda.jit
def long(out, n):
    i = cuda.grid(1)
    if i < out.size:
        total = 0.5
        for _ in range(n):
            total = math.sin(total) + i
        out[i] = total


out = numpy.zeros(1_000_000)
long[4, 256](out, 10)
subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -INT {os.getpid()}"])
begin = time.monotonic()
try:
    long[3907, 256](out, 200_000)  # some minutes
except KeyboardInterrupt:
    print("stopped" if time.monotonic() - begin < 40 else "late")
"""


def test_a_long_launch_is_interrupted(device, tmp_path):
    if device == "cuda":
        pytest.skip("a GPU's launch runs to its end")
    program = tmp_path / "long.py"
    program.write_text(LONG)
    told = subprocess.run(
        [sys.executable, program],
        env=os.environ | {"WEFT_DEVICE": "cpu"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert told.stdout == "stopped\n", told.stderr
