"""What a compiled function says of itself."""

import os
import subprocess
import sys

import numpy
import pytest
import weft as np


def smooth(a, out):
    rows, columns = a.shape
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            out[i, j] = a[i - 1, j] + a[i + 1, j]
    out[0, 0] = a[rows // 2, -1]


def test_explain_tells_which_indices_are_checked_where():
    f = np.jit(smooth)
    assert f.explain() == "nothing is compiled yet: call the function"
    f(numpy.ones((4, 5)), numpy.zeros((4, 5)))
    text = f.explain()
    assert "smooth(array(float64, 2d), array(float64, 2d)) -> None" in text
    assert "indices: 4 proven to be in bounds, 2 tested before the loop" in text
    assert "out[0, 0] = a[rows // 2, -1]" in text and "checked in place" in text


def sums(a, b, out):
    s, found = 0.0, 0
    for i in range(len(a)):
        out[i] = a[i] * 2 + b[i]
    for x in a:
        s += x
    for x in a:
        if x > 0.5:
            found += 1
    for i in range(1, len(a)):
        out[i] = out[i - 1] * 0.5
    while s > 1:
        s /= 2
    for i in np.prange(len(a)):
        b[i] = a[i] + 1
    return s, found


@pytest.mark.parametrize("fastmath", (False, True))
def test_explain_tells_which_loops_became_vectors_or_why_not(fastmath):
    f = np.jit(sums, fastmath=fastmath)
    f(*numpy.random.default_rng(1).random((3, 100)))
    lines = [line.strip() for line in f.explain().splitlines()]
    told = [lines[k + 1] for k, line in enumerate(lines) if line.endswith(":") and " for " in line]
    for k in (0, 2) + ((1,) if fastmath else ()):
        assert told[k].startswith("vectors of "), told
    if not fastmath:
        assert told[1] == "no vectors: its sums of floats keep their order, unless fastmath=True"
    assert told[3] == "no vectors: an iteration may read or write what another one writes"
    place = next(k for k, line in enumerate(lines) if line.endswith("for i in np.prange(len(a)):"))
    assert lines[place + 1] == "chunks of the iterations run at the same time"
    assert lines[place + 2].startswith("vectors of ")
    assert "no vectors: it may be left early, or how often it runs is not known beforehand" in lines


def test_fastmath_adds_in_another_order():
    a = numpy.random.default_rng(2).random(10_000)

    def total(a):
        s = 0.0
        for x in a:
            s += x
        return s

    assert np.jit(total)(a) == total(a)
    fast = np.jit(total, fastmath=True)(a)
    assert fast != total(a) and fast == pytest.approx(total(a), rel=1e-13)
    a[17] = numpy.nan
    assert numpy.isnan(np.jit(total, fastmath=True)(a))


def looped_sum(a):
    s = 0.0
    for x in a:
        s += x
    return s


exact_sum, fast_sum = np.jit(looped_sum), np.jit(looped_sum, fastmath=True)


def test_fastmath_is_that_of_each_function():
    @np.jit
    def both(a):
        return exact_sum(a), fast_sum(a), looped_sum(a)

    @np.jit(fastmath=True)
    def plain(a):
        def inner(b):
            s = 0.0
            for x in b:
                s += x
            return s

        return exact_sum(a), looped_sum(a), inner(a), a.sum()

    @np.jit
    def of_argument(f, a):
        return f(a)

    a = numpy.random.default_rng(2).random(10_001)
    exact, fast = looped_sum(a), fast_sum(a)
    assert exact != fast
    assert both(a) == (exact, fast, exact)
    assert plain(a)[:3] == (exact, fast, fast)
    assert of_argument(exact_sum, a) == exact and of_argument(fast_sum, a) == fast
    (text,) = both.inspect_ir().values()
    assert text.count("add fast") == 1
    c = a + 1j * a[::-1]
    assert fast_sum(c) == pytest.approx(exact_sum(c), rel=1e-13)


def test_signatures_stats_and_texts():
    f = np.jit(smooth)
    a = numpy.ones((4, 5))
    f(a, a.copy())
    f(a, a.copy())
    f(a.astype("f4"), a)
    assert f.signatures == [
        "(array(float32, 2d), array(float64, 2d)) -> None",
        "(array(float64, 2d), array(float64, 2d)) -> None",
    ]
    stats = f.stats[f.signatures[1]]
    assert stats["calls"] == 2 and stats["compile_seconds"] > 0 and not stats["overlapping_arrays"]
    f(a, a)
    assert f.stats[f.signatures[0]]["overlapping_arrays"]
    assert "load %" in f.inspect_ir()[f.signatures[0]]
    assert "define" in f.inspect_llvm()[f.signatures[0]]
    assert "ret" in f.inspect_asm()[f.signatures[0]]


PROGRAM = """
import sys
import weft as np

@np.jit
def f(n):
    s = 0
    for i in range(n):
        s += i * CONSTANT
    return s

print(f(10), list(f.stats.values())[0]["from_disk"])
"""


def test_what_one_process_compiled_the_next_one_loads(tmp_path):
    environment = {"WEFT_CACHE_DIR": str(tmp_path / "cache")}

    def run(constant):
        program = tmp_path / "program.py"
        program.write_text(PROGRAM.replace("CONSTANT", constant))
        done = subprocess.run(
            [sys.executable, program],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    assert run("2") == ["90", "False"]
    assert run("2") == ["90", "True"]
    assert run("3") == ["135", "False"]


def test_without_cache_nothing_is_kept(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("@np.jit", "@np.jit(cache=False)").replace("CONSTANT", "2"))
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, program],
            env={**os.environ, "WEFT_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == ["90", "False"]


def add_up(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    return s


def test_calls_are_in_profiles_and_long_ones_in_the_history():
    f = np.jit(add_up)
    few, many = numpy.ones(10), numpy.ones(1_000_000)
    f(few)
    np.clear_kernel_history()
    f(few)
    assert np.kernel_history() == []
    assert f(many) == 1_000_000
    (record,) = np.kernel_history()
    assert (
        record["name"] == "add_up()" and record["bytes_read"] == many.nbytes and record["bytes_written"] == 0
    )
    assert record["compiled"] and record["ir"] == next(iter(f.inspect_ir().values()))
    assert 1e-5 < record["seconds"] < 10
    with np.profile() as profile:
        f(few)
    assert len(profile.works) == 1
    assert "add_up()" in str(profile) and "test_looking_in.py" in str(profile)


def test_a_call_that_raises_is_recorded():
    def fail(a):
        s = 0.0
        for i in range(len(a)):
            s += a[i]
        raise ValueError(s)

    f = np.jit(fail)
    np.clear_kernel_history()
    with np.profile() as profile, pytest.raises(ValueError):
        f(numpy.ones(3))
    assert len(profile.works) == 1


def test_loops_that_compare_with_few_constants_are_vectors():
    """LLVM makes switches of such comparisons, which its vectoriser does not know."""

    def alive(near, old, out):
        for i in range(len(near)):
            out[i] = 1 if near[i] == 3 or (near[i] == 2 and old[i] == 1) else 0

    def choose(kind, out):
        for i in range(len(kind)):
            if kind[i] == 1:
                out[i] = 10
            elif kind[i] == 4:
                out[i] = 20
            elif kind[i] == 6:
                out[i] = 30
            else:
                out[i] = 0

    f, g = np.jit(alive), np.jit(choose)
    near, old = numpy.arange(500) % 5, numpy.arange(500) % 2
    out = numpy.zeros(500, "i1")
    f(near.astype("i1"), old.astype("i1"), out)
    numpy.testing.assert_array_equal(out, (near == 3) | ((near == 2) & (old == 1)))
    with open("/proc/cpuinfo") as file:
        reads_some_bytes = "avx512bw" in file.read()  # `old` is read at some places only
    assert not reads_some_bytes or "vectors of" in f.explain()
    kind = numpy.arange(500) % 8
    out = numpy.zeros(500, "i4")
    g(kind.astype("i4"), out)
    numpy.testing.assert_array_equal(out, numpy.select([kind == 1, kind == 4, kind == 6], [10, 20, 30]))
    assert "vectors of" in g.explain()


def test_loops_that_use_a_number_up_are_not_interrupted():
    """LLVM knows what such loops compute: the number of bits, or of digits."""

    def bits(n):
        s = 0
        for i in range(n):
            x = i
            while x:
                x &= x - 1
                s += 1
        return s

    def lengths(n):
        s = 0
        for i in range(n):
            x = i
            while x > 0:
                x >>= 1
                s += 1
        return s

    def digits(n):
        s = 0
        for i in range(n):
            x = i
            while x >= 1 and s >= 0:
                s += x % 10
                x //= 10
        return s

    for function in (bits, lengths, digits):
        f = np.jit(function)
        assert f(1000) == function(1000)
        text = next(iter(f.inspect_llvm().values()))
        assert text.count("call preserve_mostcc") <= 1, function.__name__
