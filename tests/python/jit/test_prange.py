"""Loops over prange: what CPython gives, the same bits for any number of threads, and refusals."""

import gc
import subprocess
import sys
import textwrap
import threading

import numpy
import pytest
import weft

SIZES = (0, 1, 2, 3, 17, 255, 256, 257, 1000, 4097, 100_003)


def compiled(text, **options):
    names = {"np": weft, "inf": float("inf"), "range": range}
    text = textwrap.dedent(text)
    exec(text, names)
    return weft.jit(names["f"], source=text, **options)


def numbers(size, dtype=numpy.float64):
    generator = numpy.random.default_rng(size)
    if numpy.dtype(dtype).kind in "iu":
        return generator.integers(0, 100, size).astype(dtype)
    return generator.standard_normal(size).astype(dtype)


EXACT = {
    "count": "n = 0\nfor i in np.prange(len(a)):\n    if a[i] > 0.25:\n        n += 1\nreturn n",
    "integer sum": "s = 0\nfor i in np.prange(len(a)):\n    s += i * i\n    s -= 3\nreturn s",
    "steps": "s = 0\nfor i in np.prange(3, len(a), 7):\n    s += i\nreturn s",
    "down": "s = 0\nfor i in np.prange(len(a) - 1, -1, -1):\n    s = i + s\nreturn s",
    "xor": "s = 5\nfor i in np.prange(len(a)):\n    s ^= i * 2654435761\nreturn s",
    "or and and": "s = 0\nt = -1\nfor i in np.prange(len(a)):\n    s |= i\n    t &= ~i\nreturn s, t",
    "min": "s = 1e9\nfor i in np.prange(len(a)):\n    s = min(s, a[i])\nreturn s",
    "max": "s = -1e9\nfor i in np.prange(len(a)):\n    s = max(a[i], s)\nreturn s",
    "integer min": "s = 10\nfor i in np.prange(len(a)):\n    s = min(s, 7 - i)\nreturn s",
    "maximum": "s = 0.0\nfor i in np.prange(len(a)):\n    s = np.maximum(s, a[i])\nreturn s",
    "any": "s = False\nfor i in np.prange(len(a)):\n    s = s or a[i] > 3\nreturn s",
    "all": "s = True\nfor i in np.prange(len(a)):\n    s = s and a[i] < 3\nreturn s",
    "conditional": "s = 0\nfor i in np.prange(len(a)):\n    s = s + 2 if a[i] > 0 else s + 1\nreturn s",
    "argmin": """\
        s = inf
        at = -1
        for i in np.prange(len(a)):
            if a[i] < s:
                s = a[i]
                at = i
        return s, at""",
    "last argmax": """\
        s, at, x = -inf, -1, 0
        for i in np.prange(len(a)):
            if s <= a[i] // 1:
                s, at, x = a[i] // 1, i, 2 * i
        return s, at, x""",
    "least": "s = 5.0\nfor i in np.prange(len(a)):\n    if s > a[i]:\n        s = a[i]\nreturn s",
    "last": "t = -1.0\nfor i in np.prange(len(a)):\n    t = a[i] * 2\nreturn t",
    "counter": "i = -1\nfor i in np.prange(len(a)):\n    pass\nreturn i",
    "else": "n = 0\nfor i in np.prange(len(a)):\n    n += 1\nelse:\n    n = -n\nreturn n",
    "continue": "n = 0\nfor i in np.prange(len(a)):\n    if a[i] < 0:\n        continue\n    n += 1\nreturn n",
    "inner loop": """\
        n = 0
        for i in np.prange(len(a)):
            for j in range(3):
                if j > i:
                    break
                n += j
        return n""",
    "pairs": "s = 0\nt = 0\nfor i in np.prange(len(a)):\n    s, t = s + i, t + 1\nreturn s, t",
    "writes": "for i in np.prange(len(a)):\n    a[i] = a[i] * 2 + i\nreturn a[len(a) // 2] if len(a) > 0 else 0.0",
    "memory": """\
        s = 0.0
        b = np.zeros(len(a) + 4)
        for i in np.prange(len(a)):
            t = np.empty(4)
            for k in range(4):
                t[k] = i + k
            b[i] = t[1] * t[2] - t[3]
        for i in range(len(b)):
            s += b[i]
        return s""",
    "tuples": "p = (1, 2.5)\ns = 0\nfor i in np.prange(len(a)):\n    s += p[0] * i\nreturn s + p[1]",
    "twice": "s = 0\nfor i in np.prange(len(a)):\n    s += 1\nfor i in np.prange(len(a)):\n    s -= 2\nreturn s",
    "nested": """\
        n = 0
        for i in np.prange(min(len(a), 50)):
            for j in np.prange(i):
                n += i * j
        return n""",
    "all pairs": """\
        b = a.copy()
        for i in np.prange(len(a)):
            s = 0.0
            for j in range(min(len(b), 40)):
                s += b[j] * b[i] + b[j]
            a[i] = s
        return 0""",
    "products and sums": """\
        b = a.copy()
        for i in np.prange(1, len(a)):
            s, p, n = b[i], 1.0, 0
            for j in range(5):
                x = b[i] * j
                if x > 0.25:
                    s += x
                else:
                    n += 1
                for k in range(3):
                    p *= 1.0 + x * k
            a[i - 1] = s * p + n
        return 0""",
    "own lengths": """\
        b = a.copy()
        for i in np.prange(len(a)):
            s = 0.0
            for j in range(i % 7):
                s += b[j] * b[i]
            a[i] = s
        return 0""",
    "rows of a table": """\
        b = np.zeros((len(a), 3))
        for i in np.prange(len(a)):
            for j in range(3):
                b[i, j] = a[i] * j
        for i in np.prange(len(a)):
            s = 0.0
            for j in range(3):
                s += b[i, j]
            a[i] = s
        return 0""",
    "optional": """\
        b = None
        if len(a) > 2:
            b = a
        n = 0
        for i in np.prange(len(a)):
            if b is not None:
                n += 1 if b[i] > 0 else 2
        return n""",
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", EXACT)
def test_what_python_gives(name, size):
    function = compiled("def f(a):\n" + textwrap.indent(textwrap.dedent(EXACT[name]), "    "))
    for dtype in (numpy.float64, numpy.float32):
        expected_memory, memory = numbers(size, dtype), numbers(size, dtype)
        expected = function.py_func(expected_memory)
        found = function(memory)
        assert found == expected
        assert numpy.array_equal(memory, expected_memory)


SUMS = {
    "sum": "s = 0.0\nfor i in np.prange(len(a)):\n    s += a[i]\nreturn s",
    "weak": "s = 0\nfor i in np.prange(len(a)):\n    s += a[i]\nreturn s",
    "difference": "s = 1.0\nfor i in np.prange(len(a)):\n    s -= a[i] * a[i]\nreturn s",
    "product": "s = 1.0\nfor i in np.prange(len(a)):\n    s *= 1.0 + a[i] * 1e-4\nreturn s",
    "quotient": "s = 1.0\nfor i in np.prange(len(a)):\n    s /= 1.0 + a[i] * 1e-4\nreturn s",
    "complex": "s = 0j\nfor i in np.prange(len(a)):\n    s += a[i] * 1j + 1\nreturn s",
    "with writes": "s = 0.0\nfor i in np.prange(len(a)):\n    a[i] += 1\n    s += a[i]\nreturn s",
    "sum and least": """\
        s = 0.0
        m = 1e3
        for i in np.prange(len(a)):
            s += abs(a[i])
            m = min(m, a[i])
        return s + m""",
    "rows": """\
        s = 0.0
        for i in np.prange(len(a)):
            for j in range(i % 5):
                s += a[i] * j
        return s""",
}


@pytest.mark.parametrize("dtype", (numpy.float64, numpy.float32, numpy.int16))
@pytest.mark.parametrize("name", SUMS)
def test_sums_have_the_same_bits_for_any_number_of_threads(name, dtype):
    function = compiled("def f(a):\n" + textwrap.indent(textwrap.dedent(SUMS[name]), "    "))
    for size in SIZES:
        wide = numpy.int64 if dtype == numpy.int16 else numpy.float64
        exact = function.py_func(numbers(size, dtype).astype(wide))
        found = []
        for count in (1, 2, 7):
            with weft.config(num_threads=count):
                found.append(function(numbers(size, dtype)))
        assert found[0] == found[1] == found[2]
        error = (1 + size) * (1e-6 if dtype == numpy.float32 else 1e-13)
        assert abs(found[0] - exact) <= error * max(1, abs(exact))


REFUSED = {
    "order": ("s = a[i] - s", "is not combined by an operation whose order does not matter"),
    "two operations": ("s += 1\n        s *= 2", "is updated by two operations"),
    "another variable": ("t = s + a[i]\n        s = t", "is read here, which is no update of a reduction"),
    "another variable in a pair": ("s, t = t, s", "goes from one iteration of prange to the next"),
    "read": ("s += 1\n        a[i] = s", "is read here, which is no update of a reduction"),
    "condition": ("if s < 3:\n            s += 1", "is read here, which is no update of a reduction"),
    "reset": ("s += 1\n        if a[i] > 0:\n            s = 0", "gets a new value here, whatever it was"),
    "one of two": ("s = s + 1 if a[i] > 0 else 0", "gets a new value here, whatever it was"),
    "both sides": ("s += s", "is read here, which is no update of a reduction"),
    "power": ("s **= 2", "is not combined by an operation whose order does not matter"),
    "some iterations": ("if a[i] > 0:\n            s = i", "in some iterations only"),
    "break": ("if a[i] > 0:\n            break", "'break' in a loop over prange"),
    "return": ("if a[i] > 0:\n            return i", "'return' in a loop over prange"),
    "other value": (
        "if a[i] < s:\n            s = a[i] + 1",
        "is read here, which is no update of a reduction",
    ),
    "arrays": ("b = b[1:]\n        s += b[0]", "'b' goes from one iteration of prange to the next"),
    "array behind": ("c = b[1:]", "Write into an array from before the loop"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    body, message = REFUSED[name]
    function = compiled(f"""\
def f(a):
    s = 0
    t = 0
    b = a
    c = a
    for i in np.prange(len(a)):
        {body}
    return s + t + c[0]
""")
    with pytest.raises(weft.CompileError) as caught:
        function(numbers(5))
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 8


def test_not_parallel():
    text = "def f(a):\n    s = 0.0\n    for i in np.prange(len(a)):\n        s += a[i]\n    return s\n"
    a = numbers(1000)
    assert compiled(text, parallel=False)(a) == compiled(text).py_func(a)
    assert "at the same time" in str(explained(compiled(text), a))
    assert "at the same time" not in str(explained(compiled(text, parallel=False), a))


def explained(function, *arguments):
    function(*arguments)
    return function.explain()


def test_the_error_is_that_of_the_first_chunk():
    function = compiled("""\
        def f(a, n):
            for i in np.prange(n):
                if i % 1000 == 999:
                    raise ValueError("so")
                a[i + 5] = 1.0
            return 0
        """)
    for _ in range(20):
        with pytest.raises(IndexError, match="index 100 is out of bounds for axis 0 with size 100"):
            function(numpy.zeros(100), 100_000)
        with pytest.raises(ValueError, match="so"):
            function(numpy.zeros(2000), 100_000)
    a = numpy.zeros(505)
    assert function(a, 500) == 0
    assert a.sum() == 500


def test_memory_of_a_chunk_goes_where_it_raises():
    function = compiled("""\
        def f(n, bad):
            for i in np.prange(n):
                t = np.zeros(1000)
                if i == bad:
                    t[i + 1000] = 1.0
            return 0
        """)
    assert function(1000, -1) == 0
    for _ in range(50):
        with pytest.raises(IndexError):
            function(1000, 700)
    gc.collect()


def test_depth_is_limited_in_chunks():
    names = {"np": weft}
    text = textwrap.dedent("""\
        def deep(n):
            return 1 + deep(n + 1) if n >= 0 else 0

        def f(n):
            s = 0
            for i in np.prange(n):
                s += deep(i)
            return s
        """)
    exec(text, names)
    import linecache

    linecache.cache["<deep>"] = (len(text), None, text.splitlines(True), "<deep>")
    exec(compile(text, "<deep>", "exec"), names)
    with pytest.raises(RecursionError):
        weft.jit(names["f"])(100)


def test_arrays_that_the_function_allocates_are_captured():
    function = compiled("""\
        def f(n):
            a = np.zeros((n, 3))
            b = np.ones(3)
            for i in np.prange(n):
                row = a[i]
                for k in range(3):
                    row[k] = i + b[k]
            return a
        """)
    for n in (0, 1, 1000):
        assert numpy.array_equal(numpy.asarray(function(n)), numpy.arange(n)[:, None] + numpy.ones((n, 3)))


def test_calls_of_functions_with_loops_of_their_own():
    text = textwrap.dedent("""\
        def total(row):
            s = 0.0
            for k in np.prange(len(row)):
                s += row[k]
            return s

        def f(a):
            s = 0.0
            for i in np.prange(len(a)):
                s += total(a[i])
            return s
        """)
    import linecache

    linecache.cache["<calls>"] = (len(text), None, text.splitlines(True), "<calls>")
    names = {"np": weft}
    exec(compile(text, "<calls>", "exec"), names)
    a = numpy.random.default_rng(5).random((300, 70))
    found = []
    for count in (1, 2, 7):
        with weft.config(num_threads=count):
            found.append(weft.jit(names["f"])(a))
    assert found[0] == found[1] == found[2]
    assert found[0] == pytest.approx(a.sum(), rel=1e-12)


def test_several_threads_call_at_once():
    function = compiled(
        "def f(a):\n    s = 0.0\n    for i in np.prange(len(a)):\n        s += a[i]\n    return s\n",
        nogil=True,
    )
    a = numbers(50_000)
    expected = function(a)
    found = []
    workers = [
        threading.Thread(target=lambda: found.extend(function(a) for _ in range(50))) for _ in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [expected] * 400


@pytest.mark.parametrize("nogil", (True, False))
def test_ctrl_c_ends_a_long_loop(nogil):
    code = f"""
import os
import signal
import weft as np

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore
text = '''
def f(n):
    s = 0.0
    for i in np.prange(n):
        for k in range(100000):
            s += 1.0 / (k + i + 1)
    return s
'''
names = {{"np": np}}
exec(text, names)
f = np.jit(names["f"], source=text, nogil={nogil})
f(1)
os.system(f"(sleep 0.7; kill -INT {{os.getpid()}}) &")
try:
    f(1_000_000)
except KeyboardInterrupt:
    print("stopped", f(1) > 12)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "stopped True", done.stderr


def test_python_takes_it_for_a_range(monkeypatch):
    monkeypatch.setenv("WEFT_JIT", "0")

    @weft.jit
    def f(n):
        return list(weft.prange(2, n, 3))

    assert f(12) == [2, 5, 8, 11]
    assert weft.prange(4) == range(4)


DIVISIONS = {
    "float": "out[i] = 1.0 / b[i]",
    "whole": "out[i] = 7 // int(b[i])",
    "rest": "out[i] = 7.5 % b[i]",
    "in a branch": "if b[i] < 50:\n            out[i] = 3 / b[i]",
    "with a sum": "s += 1.0 / b[i]",
    "before an index": "out[int(1.0 / b[i]) + i] = 1.0",
    "before an error": "x = 1.0 / b[i]\n        if x > 2:\n            raise ValueError('large')",
    "before a call": "x = reciprocal(b[i])\n        out[i] = checked(x)",
    "twice": "out[i] = 1 / (1 / b[i])",
}


@pytest.mark.parametrize("name", DIVISIONS)
def test_divisions_by_zero(name):
    text = f"""\
def reciprocal(x):
    return 1.0 / x

def checked(x):
    if x > 2:
        raise ValueError("large")
    return x

def f(b, out):
    s = 0.0
    for i in np.prange(len(b)):
        {DIVISIONS[name]}
    return s
"""
    import linecache

    file = f"<division {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"np": weft}
    exec(compile(text, file, "exec"), names)
    function = weft.jit(names["f"])
    line = text.splitlines().index("    for i in np.prange(len(b)):") + 2
    for size in (1, 15, 16, 17, 40, 1000, 5000):
        b = numpy.arange(2.0, size + 2)
        expected, found = numpy.zeros(size + 1), numpy.zeros(size + 1)
        assert function(b, found) == pytest.approx(names["f"](b, expected), rel=1e-13)
        assert numpy.array_equal(found, expected)
        for at in {0, size // 2, size - 1}:
            b = numpy.arange(2.0, size + 2)
            b[at] = 0
            if name == "in a branch" and at > 48:
                continue
            with pytest.raises(ZeroDivisionError) as caught:
                function(b, found)
            if name != "before a call":
                assert caught.traceback[-1].lineno + 1 in (line, line + 1)


def test_numpy_divides_by_zero():
    function = compiled(
        "def f(b, out):\n    for i in np.prange(len(b)):\n        out[i] = 1.0 / b[i]\n    return 0\n",
        error_model="numpy",
    )
    out = numpy.empty(100)
    function(numpy.zeros(100), out)
    assert numpy.all(numpy.isinf(out))


def test_functions_of_numbers_become_vectors():
    text = """\
def f(a, out):
    for i in range(len(a)):
        out[i] = np.exp(np.sin(a[i])) + np.log(a[i])
    return 0
"""
    function = compiled(text)
    a = numpy.random.default_rng(3).random(1003) + 0.5
    out = numpy.empty(1003)
    function(a, out)
    assert numpy.allclose(out, numpy.exp(numpy.sin(a)) + numpy.log(a), rtol=1e-14)
    if "avx2" in numpy_features():
        assert "<4 x double>" in next(iter(function.inspect_llvm().values())) or "<8 x double>" in next(
            iter(function.inspect_llvm().values())
        )


def numpy_features():
    with open("/proc/cpuinfo") as file:
        return next((line for line in file if line.startswith("flags")), "").split()


@pytest.mark.parametrize("iteration", ("range", "np.prange"))
@pytest.mark.parametrize("body", ("s += 1.0 / (i - 5)", "out[i - base] = np.exp(b[i - base]) / b[i - base]"))
def test_ranges_that_end_at_the_largest_integer(iteration, body):
    function = compiled(f"""\
        def f(base, stop, b, out):
            s = 0.0
            for i in {iteration}(base, stop):
                {body}
            return s
        """)
    largest = 2**63 - 1
    for count in (1, 15, 300, 700):
        b = numpy.arange(1.0, count + 1)
        expected, found = numpy.zeros(count), numpy.zeros(count)
        if "out" in body:
            expected = numpy.exp(b) / b
        total = function(largest - count, largest, b, found)
        assert total == pytest.approx(count / largest if "s +=" in body else 0.0, rel=1e-9)
        numpy.testing.assert_allclose(found, expected, rtol=1e-13)


def test_parameters_of_inner_functions_are_no_variables_around_them():
    function = compiled("""\
        def f(a):
            def g(j):
                k = j + 1
                return k
            s = 0
            for i in np.prange(len(a)):
                for j in range(3):
                    k = g(j)
                    s += k
            return s
        """)
    assert function(numbers(100)) == function.py_func(numbers(100)) == 600


def test_loops_of_which_each_iteration_raises():
    function = compiled("""\
        def f(n):
            t = 0.0
            for i in np.prange(n):
                t = i / 2
                raise ValueError("each")
            return t
        """)
    assert function(0) == 0.0
    with pytest.raises(ValueError, match="each"):
        function(700)


def test_an_inner_parallel_loop_that_always_raises_before_its_extreme():
    @weft.jit
    def f(n):
        best, at = 1.0, 0
        for _ in weft.prange(4):
            if n > 0:
                for j in weft.prange(8):
                    if True:
                        raise ValueError("before")
                    if best < j:
                        best = j
                        at = j
        return at

    assert f(0) == 0
    with pytest.raises(ValueError, match="before"):
        f(1)


def test_names_that_kernel_ir_does_not_have():
    function = compiled("""\
        def f(größe, n):
            länge = größe * 2
            g = lambda ö: ö + länge
            s = 0
            for ü in np.prange(n):
                s += g(größe) + ü
            return s
        """)
    assert function(2, 10) == 6 * 10 + 45
    (text,) = function.inspect_ir().values()
    assert text.isascii()
    assert "<" not in text


def test_branches_that_the_value_from_before_keeps_from_being_run():
    function = compiled("""\
        def f(a, b, least, found, n):
            at = -1.0
            for i in np.prange(n):
                if a[i] < least:
                    least = a[i]
                    at = b[int(a[i])]
                found = found or b[int(a[i])] > 2
            return least, at, found
        """)
    b = numpy.arange(6.0)
    a = numpy.arange(5.0, 1005.0)
    assert function(a, b, 5.0, True, 1000) == (5.0, -1.0, True)
    with pytest.raises(IndexError):
        function(a, b, 5.0, False, 1000)
    a[999] = 1.0
    assert function(a, b, 5.0, True, 1000) == (1.0, 1.0, True)


def test_parallel_ranges_near_where_integers_end():
    @weft.jit
    def f(a, low, high):
        total = 0
        for k in weft.prange(low, high):
            total += 1 + int(a[k & 3])
        return total

    @weft.jit
    def first(a, low, high):
        total = 0
        for k in weft.prange(low, high):
            total += int(a[k - low])
        return total

    a, most = numpy.arange(4.0), 2**63 - 1
    assert f(a, most - 5, most) == sum(1 + (k & 3) for k in range(most - 5, most))
    assert f(a, -most - 1, -most + 3) == sum(1 + (k & 3) for k in range(-most - 1, -most + 3))
    assert f(a, most, -most) == 0
    for low, high in ((0, most), (-5, most), (-most - 1, most)):
        with pytest.raises(IndexError):
            first(a, low, high)


@pytest.mark.parametrize(
    "body",
    ("v[i] = a[v[i] % len(a)]", "v[i] = a[(i - 50) % len(a)]", "s = a[i:]\n        v[i] = s[v[i] % len(s)]"),
)
def test_nothing_outside_of_an_array_is_read_where_its_length_divides(body):
    names = {"np": weft}
    text = f"def f(v, a):\n    for i in np.prange(len(v)):\n        {body}\n"
    exec(text, names)
    function = weft.jit(names["f"], source=text)
    v = numpy.arange(40)
    with pytest.raises(ZeroDivisionError):
        function(v, numpy.full(8, 77)[4:4])
    assert numpy.array_equal(v, numpy.arange(40))
