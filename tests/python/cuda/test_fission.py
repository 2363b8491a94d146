"""Threads of a block as loops, cut where they meet (pass thread_fission): random kernels against the same code run by
Python's generators, and against the threads as fibers."""

import random

import numpy
import pytest
import weft
from weft import cuda

np = weft
BLOCKS = 2
MOST_LINES = 40


class Writer:
    """A random kernel, as text for weft and as text of a generator, which yields where threads meet.

    `whole_warps`: as a GPU asks for, no lane of a warp ends before the others, which may ask it for its value.
    """

    def __init__(self, seed, whole_warps=False):
        self.random = random.Random(seed)
        self.whole_warps = whole_warps
        self.lines = []
        self.names = 0

    def add(self, depth, text):
        self.lines.append("    " * depth + text)

    def expression(self, uniform):
        choices = ["v", "w", "t", "n", "m", str(self.random.randrange(1, 9)), *uniform]
        a, b = self.random.choice(choices), self.random.choice(choices)
        return f"({a} {self.random.choice(['+', '-', '*', '^'])} {b}) % 97"

    def uniform_expression(self, uniform):
        return self.random.choice(["n", "m", "n + 1", "m - 1", "b + 1", *uniform])

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def exchange(self, depth, uniform):
        by = self.random.choice(["1", "3", "n", *uniform])
        self.add(depth, "own[t] = v")
        self.add(depth, "SYNC")
        self.add(depth, f"w = (w + own[(t + {by}) % T]) % 97")
        self.add(depth, "SYNC")

    def own_part(self, depth, uniform):
        kind = self.random.randrange(5)
        if kind == 0:
            self.add(depth, f"v = {self.expression(uniform)}")
        elif kind == 1:
            self.add(depth, f"w = {self.expression(uniform)}")
        elif kind == 2:
            self.add(depth, f"if (v + t) % {self.random.randrange(2, 5)} == 0:")
            self.add(depth + 1, f"v = {self.expression(uniform)}")
            if self.random.random() < 0.5:
                self.add(depth, "else:")
                self.add(depth + 1, f"w = {self.expression(uniform)}")
        elif kind == 3:
            at = self.name("j")
            self.add(depth, f"for {at} in range(v % 5):")
            self.add(depth + 1, f"w = (w + {at} * v) % 97")
            if self.random.random() < 0.5:
                self.add(depth + 1, f"if w > {self.random.randrange(20, 90)}:")
                self.add(depth + 2, self.random.choice(["break", "continue"]))
            self.add(depth + 1, "v = (v + 1) % 97")
        else:
            self.add(depth, "while v > 40:")
            self.add(depth + 1, "v -= 7 + w % 3")

    def warp(self, depth):
        full = "0xFFFFFFFF"
        kind = self.random.randrange(8)
        by = self.random.randrange(1, 20)
        texts = [
            f"w = (w + SHUFFLE_UP({full}, v, {by})) % 97",
            f"w = (w + SHUFFLE_DOWN({full}, v, {by})) % 97",
            f"v = (v + SHUFFLE_XOR({full}, w, {by})) % 97",
            f"v = (v + SHUFFLE({full}, w, (v + {by}) % 32)) % 97",
            f"w = (w + BALLOT({full}, v % 3 == 0)) % 97",
            f"w = (w + MATCH({full}, v % 4)) % 97",
            "WARP",
            f"w = (w + COUNT(v % {self.random.randrange(2, 5)} == 0)) % 97",
        ]
        self.add(depth, texts[kind])

    def decided(self, depth, uniform, level):
        name = self.name("q")
        self.add(depth, "if t == 0:")
        self.add(depth + 1, f"flag[0] = {self.uniform_expression(uniform)} % 4")
        self.add(depth, "SYNC")
        self.add(depth, f"{name} = flag[0]")
        self.add(depth, "SYNC")
        at = self.name("k")
        self.add(depth, f"for {at} in range({name}):")
        self.body(depth + 1, [*uniform, at], level + 1)

    def body(self, depth, uniform, level):
        for _ in range(self.random.randrange(1, 4)):
            kind = self.random.randrange(12 if level < 3 and len(self.lines) < MOST_LINES else 5)
            if kind < 2:
                self.own_part(depth, uniform)
            elif kind < 4:
                self.exchange(depth, uniform)
            elif kind == 4:
                self.warp(depth)
            elif kind < 7:
                at = self.name("k")
                self.add(depth, f"for {at} in range({self.uniform_expression(uniform)}):")
                self.body(depth + 1, [*uniform, at], level + 1)
                if self.random.random() < 0.4:
                    self.add(depth + 1, f"if {at} + b == {self.random.randrange(3)}:")
                    self.add(depth + 2, self.random.choice(["break", "continue"]))
                    self.body(depth + 1, [*uniform, at], 3)
            elif kind < 9:
                at = self.name("s")
                self.add(depth, f"{at} = {self.uniform_expression(uniform)} * 2")
                self.add(depth, f"while {at} > 0:")
                self.body(depth + 1, [*uniform, at], level + 1)
                self.add(depth + 1, f"{at} //= 2")
            elif kind < 11:
                self.add(depth, f"if {self.uniform_expression(uniform)} > 1:")
                self.body(depth + 1, uniform, level + 1)
                if self.random.random() < 0.5:
                    self.add(depth, "else:")
                    self.body(depth + 1, uniform, level + 1)
            else:
                self.decided(depth, uniform, level)

    def text(self):
        self.add(1, "v = a[b, t]")
        self.add(1, "w = t")
        for _ in range(self.random.randrange(1, 4)):
            if len(self.lines) > MOST_LINES:
                break
            self.body(1, [], 0)
            if self.random.random() < 0.4:
                one_of = self.random.randrange(2, 7)
                self.add(1, f"if {'t // 32 + b' if self.whole_warps else '(v + t)'} % {one_of} == 1:")
                self.add(2, "out[b, t] = -v")
                self.add(2, "return")
        if self.random.random() < 0.3:
            self.add(1, "if t % 32 < 32 and t // 32 == 0:")
            self.add(2, "w = (w + SHUFFLE_DOWN(0xFFFFFFFF, v, 3)) % 97")
        self.add(1, "out[b, t] = v * 100 + w")
        return "\n".join(self.lines) + "\n"


WORDS = {
    "SYNC": ("cuda.syncthreads()", "yield ('sync', 0, 0)"),
    "WARP": ("cuda.syncwarp()", "yield ('warp', 0, 0)"),
    "SHUFFLE_UP(": ("cuda.shfl_up_sync(", "(yield 'up', "),
    "SHUFFLE_DOWN(": ("cuda.shfl_down_sync(", "(yield 'down', "),
    "SHUFFLE_XOR(": ("cuda.shfl_xor_sync(", "(yield 'xor', "),
    "SHUFFLE(": ("cuda.shfl_sync(", "(yield 'lane', "),
    "BALLOT(": ("cuda.ballot_sync(", "(yield 'ballot', "),
    "MATCH(": ("cuda.match_any_sync(", "(yield 'match', "),
    "COUNT(": ("cuda.syncthreads_count(", "(yield 'count', "),
}


def spelled(text, which):
    for word, spellings in WORDS.items():
        text = text.replace(word, spellings[which])
    return text


def met(kind, given, threads):
    """What each of the threads, by their numbers, is told."""
    if kind == "count":
        return {t: sum(bool(given[t][1]) for t in threads) for t in threads}
    told = {}
    for t in threads:
        lane, first = t % 32, t - t % 32
        if kind == "ballot":
            told[t] = sum(1 << each % 32 for each in threads if each - each % 32 == first and given[each][2])
        elif kind == "match":
            told[t] = sum(
                1 << each % 32
                for each in threads
                if each - each % 32 == first and given[each][2] == given[t][2]
            )
        elif kind in ("up", "down", "xor", "lane"):
            by = given[t][3]
            wanted = {"up": lane - by, "down": lane + by, "xor": lane ^ by, "lane": by}[kind]
            is_there = 0 <= wanted < 32 and first + wanted in threads
            told[t] = given[first + wanted if is_there else t][2]
        else:
            told[t] = None
    return told


def run_in_python(text, threads, a, out, n, m):
    for b in range(BLOCKS):
        scope = {"T": threads}
        exec("def thread(a, out, n, m, own, flag, b, t):\n    yield 'sync', 0, 0\n" + spelled(text, 1), scope)
        own, flag = [0] * threads, [0]
        running = {t: scope["thread"](a, out, n, m, own, flag, b, t) for t in range(threads)}
        told = dict.fromkeys(running)
        while running:
            given = {}
            for t in list(running):
                try:
                    given[t] = running[t].send(told[t])
                except StopIteration:
                    del running[t]
            kinds = {each[0] for each in given.values()}
            # Of a branch of whole warps the others wait at the end.
            assert len(kinds) <= 1
            if kinds:
                told = met(kinds.pop(), given, sorted(given))


HEAD = """def kernel(a, out, n, m):
    own = cuda.shared.array(T, np.int64)
    flag = cuda.shared.array(1, np.int64)
    b = cuda.blockIdx.x
    t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    own[t] = 0
    if t == 0:
        flag[0] = 0
    cuda.syncthreads()
"""


def compiled(text, threads):
    scope = {"T": threads, "cuda": cuda, "np": np}
    source = HEAD + spelled(text, 0)
    exec(source, scope)
    return cuda.jit(scope["kernel"], source=source)


@pytest.mark.parametrize("seed", range(40))
def test_random_kernels(seed, device):
    on_gpu = device == "cuda"
    text = Writer(seed, whole_warps=on_gpu).text()
    shape = ([(64, 1), (32, 1), (8, 12), (128, 1)] if on_gpu else [(48, 1), (32, 1), (8, 5), (70, 1)])[
        seed % 4
    ]
    threads = shape[0] * shape[1]
    a = numpy.random.default_rng(seed).integers(0, 97, (BLOCKS, threads))
    n, m = 2 + seed % 3, 1 + seed % 2
    expected = numpy.zeros_like(a)
    run_in_python(text, threads, a, expected, n, m)
    cut, turns = numpy.zeros_like(a), numpy.zeros_like(a)
    compiled(text, threads)[BLOCKS, shape](a, cut, n, m)
    numpy.testing.assert_array_equal(cut, expected, err_msg=text)
    with weft.config(without="thread_fission"):
        compiled(text, threads)[BLOCKS, shape](a, turns, n, m)
    numpy.testing.assert_array_equal(turns, expected, err_msg=text)


@cuda.jit
def reversed_in_block(a):
    own = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    own[t] = a[t]
    cuda.syncthreads()
    a[t] = own[63 - t]


@cuda.jit
def waiting_as_often_as_its_number(a):
    t = cuda.threadIdx.x
    for _ in range(t):
        cuda.syncthreads()
    a[t] = t


def test_explain_tells_how_threads_run():
    a = numpy.arange(64.0)
    with weft.device("cpu"):
        reversed_in_block[1, 64](a)
        assert (a == numpy.arange(64.0)[::-1]).all()
        waiting_as_often_as_its_number[1, 64](a)
        assert (a == numpy.arange(64.0)).all()
    assert "threads are loops, cut where they meet" in reversed_in_block.explain()
    told = waiting_as_often_as_its_number.explain()
    assert "threads take turns: a barrier stands in a loop that threads may take differently" in told


@cuda.jit
def failing_behind_a_barrier(a, which):
    own = cuda.shared.array(64, np.int64)
    t = cuda.threadIdx.x
    if t >= a.size:
        return
    own[t] = t
    cuda.syncthreads()
    if t == which:
        a[own[t] + a.size] = 1.0
    a[t] = own[t]


@pytest.mark.parametrize("size", [64, 40])
def test_errors_tell_the_thread(size):
    a = numpy.zeros(size)
    with pytest.raises(IndexError, match=r"thread \(7, 0, 0\)"):
        failing_behind_a_barrier[1, 64](a, 7)
    failing_behind_a_barrier[1, 64](a, 99)
    assert (a == numpy.arange(size)).all()
