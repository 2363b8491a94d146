"""weft.jit from outside: calls, arguments, errors."""

import cmath
import copy
import gc
import math
import pickle
import threading
import traceback
import types
import weakref

import numpy
import pytest
import weft as np


def same(jitted, *arguments):
    """Runs a compiled function and Python's, and compares value and type."""
    result, expected = jitted(*arguments), jitted.py_func(*arguments)
    assert type(result) is type(expected), (result, expected)
    assert result == expected or (result != result and expected != expected)
    return result


@np.jit
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@np.jit
def polynomial(x, c=2, *, power=2):
    return c * x**power + x


def helper(x, factor=3):
    if x < 0:
        raise ValueError("negative")
    return x * factor


@np.jit
def calls_helper(x):
    return helper(x) + helper(x, factor=0.5)


@np.jit
def total(a):
    s = 0.0
    for x in a:
        s += x
    return s


@np.jit
def shift(out, a):
    for i in range(len(a) - 1):
        out[i + 1] = a[i] + 1


@np.jit
def element(a, i, j):
    return a[i, j]


def test_numbers_and_control_flow():
    for n in (1, 2, 27, 97):
        same(collatz, n)


def test_keywords_and_defaults():
    assert polynomial(3) == 21
    assert polynomial(3, 1) == 12
    assert polynomial(x=2, power=3, c=1) == 10
    for arguments, keywords in [((), {}), ((1, 2, 3), {}), ((1,), {"y": 2}), ((1,), {"x": 2})]:
        with pytest.raises(TypeError) as expected:
            polynomial.py_func(*arguments, **keywords)
        with pytest.raises(TypeError) as error:
            polynomial(*arguments, **keywords)
        if "keyword-only" not in str(expected.value):
            assert str(error.value).split(" but ")[0].replace("from 1 to ", "") == str(expected.value).split(
                " but "
            )[0].replace("from 1 to ", "")


def test_functions_call_undecorated_functions():
    assert calls_helper(4) == 14.0
    with pytest.raises(ValueError, match="negative") as error:
        calls_helper(-1)
    assert traceback.extract_tb(error.value.__traceback__)[-1].line == 'raise ValueError("negative")'


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8"])
def test_arrays_of_both_kinds_are_read_in_place(dtype):
    for a in (numpy.arange(12).astype(dtype), numpy.arange(24).astype(dtype)[::-2]):
        expected = float(sum(float(x) for x in a))
        assert float(total(a)) == expected
        assert float(total(np.array(a))) == expected
        assert float(total(np.array(a)[1:])) == expected - float(a[0])


def test_writes_are_seen_outside_and_pending_arrays_are_computed_first():
    a = np.arange(5.0)
    before = a + 1
    pending = a * 2
    shift(pending, a)
    assert pending.tolist() == [0, 1, 2, 3, 4]
    shift(a, pending)
    assert a.tolist() == [0, 1, 2, 3, 4] and before.tolist() == [1, 2, 3, 4, 5]
    b = numpy.zeros(5)
    shift(b, a)
    assert b.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("module", [numpy, np])
def test_arguments_that_overlap_are_computed_in_order(module):
    a, b = module.zeros(40), numpy.zeros(40)
    shift(a[1:], a[:-1])
    shift.py_func(b[1:], b[:-1])
    assert a.tolist() == b.tolist()
    shift(a, a)
    shift.py_func(b, b)
    assert a.tolist() == b.tolist()


def test_indices_are_checked_in_every_layout():
    a = numpy.arange(12).reshape(3, 4)
    for array in (a, a.T, a[::-1], a[:, ::2], a[1:2], numpy.asfortranarray(a), np.array(a).T):
        rows, columns = array.shape
        for i in range(-rows, rows):
            for j in range(-columns, columns):
                assert element(array, i, j) == array[i, j]
        for i, j in [(rows, 0), (-rows - 1, 0), (0, columns), (0, -columns - 1), (2**62, 0)]:
            with pytest.raises(IndexError) as expected:
                numpy.asarray(array)[i, j]
            with pytest.raises(IndexError) as error:
                element(array, i, j)
            assert str(error.value) == str(expected.value)


def test_readonly_arrays_are_read_and_not_written():
    a = numpy.arange(3.0)
    a.flags.writeable = False
    assert total(a) == 3
    with pytest.raises(np.CompileError, match="array 'out' is read-only"):
        shift(a, a)
    assert collatz(3) == 7
    shift(numpy.zeros(3), a)


def test_unsuitable_arguments_are_named_and_the_function_still_works():
    for bad, text in [
        ([b"a"], "with a bytes in it"),
        (frozenset(), "frozenset"),
        (numpy.array(["a"], ">U1"), "format"),
        (2**70, "64 bits"),
    ]:
        with pytest.raises((TypeError, OverflowError), match=text):
            total(bad)
    assert total(numpy.ones(2)) == 2


def test_changed_globals_are_compiled_again():
    space = {"np": np, "k": 2}
    exec("def f(x):\n    return x + k\n", space)
    f = np.jit(space["f"], source="def f(x):\n    return x + k\n")
    assert f(1) == 3
    space["k"] = 0.5
    assert f(1) == 1.5
    del space["k"]
    with pytest.raises(np.CompileError, match="name 'k' is not defined"):
        f(1)


def test_division_by_zero_raises_or_follows_numpy():
    def divide(a, b):
        return a / b, a // b, a % b

    python, numpys = np.jit(divide), np.jit(divide, error_model="numpy")
    for a, b in [(7, -2), (7.5, 2), (-7, 2.5), (2**62, 3)]:
        same(python, a, b)
    for zero in (0, 0.0):
        with pytest.raises(ZeroDivisionError):
            python(1, zero)
    assert numpys(1.0, 0.0)[0] == math.inf


def test_an_unbound_variable_is_python_s_error():
    @np.jit
    def last(n):
        for i in range(n):
            x = i
        return x

    assert last(3) == 2
    with pytest.raises(UnboundLocalError, match="'x'"):
        last(0)


def test_a_later_iteration_reads_what_an_earlier_one_assigned():
    def f(n, first):
        for k in range(n):
            if k == first:
                total = 1.5
            elif k > 0:
                total = total + k
        return total

    assert np.jit(f)(5, 0) == f(5, 0)
    for n, first in ((0, 0), (5, 3)):
        with pytest.raises(UnboundLocalError, match="'total'"):
            np.jit(f)(n, first)

    def never(n):
        for _ in range(n):
            total = total + 1  # noqa: F823
        return total

    with pytest.raises(np.CompileError, match="'total' has no value here"):
        np.jit(never)(3)


def test_mathematics():
    @np.jit
    def f(x):
        return (
            math.sqrt(x) + math.sin(x) * math.pi,
            abs(-x),
            round(x),
            int(x),
            math.floor(-x),
            max(x, 1),
            min(2, x),
        )

    for x in (0.0, 0.5, 1.5, 2.5, 1e3):
        assert f(x)[1:] == f.py_func(x)[1:]
        assert f(x)[0] == pytest.approx(f.py_func(x)[0], rel=1e-15)

    @np.jit
    def g(z):
        return z * z.conjugate(), z.real, cmath.exp(z)

    assert g(1 + 2j) == pytest.approx(g.py_func(1 + 2j))


def test_literals_take_the_type_of_numpy_s_numbers():
    @np.jit
    def f(a):
        return a[0] * 0.5 + 1

    result = f(numpy.ones(1, "f4"))
    assert type(result) is np.float32 and result == 1.5
    assert type(f(numpy.ones(1, "f8"))) is float


def test_conflicts_name_both_types_and_lines():
    @np.jit
    def f(c):
        y = 1
        if c:
            y = "a"
        return y

    with pytest.raises(np.CompileError) as error:
        f(1)
    text = str(error.value)
    assert "variable 'y' is int on one way and str on another" in text
    assert len(text.splitlines()) <= 8 and 'y = "a"' in text and "y = 1" in text


def test_methods_bind_and_functions_are_collected():
    class Doubler:
        @np.jit
        def twice(self, x):
            return 2 * x

    with pytest.raises(TypeError, match="Doubler"):
        Doubler().twice(3)

    def make():
        @np.jit
        def fact(n):
            return fact2(n)

        def fact2(n):
            return n + 1 if fact is not None else 0

        return fact

    f = make()
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def test_the_environment_leaves_functions_to_python(monkeypatch):
    monkeypatch.setenv("WEFT_JIT", "0")

    def f(x):
        return x

    assert np.jit(f) is f
    assert np.jit(boundscheck=False)(f) is f


def test_options_are_checked():
    with pytest.raises(TypeError, match="no option 'paralel'"):
        np.jit(paralel=True)(helper)
    with pytest.raises(ValueError, match="error_model"):
        np.jit(error_model="c")(helper)
    with pytest.raises(TypeError, match="compiles Python functions"):
        np.jit(3)


def apply_twice(f, x, step=1):
    return f(f(x)) + step


def double(x):
    return 2 * x


SCALE = 3


def scaled(x):
    if x > 100:
        raise KeyError("large")
    return SCALE * x


def test_functions_are_arguments(monkeypatch):
    f = np.jit(apply_twice)
    assert f(double, 5) == 21
    assert f(np.jit(double), 0.5) == 3.0
    assert f(lambda x: x - 1, 5) == 4
    assert f(scaled, 5) == 46
    monkeypatch.setitem(globals(), "SCALE", 10)
    assert f(scaled, 1) == 101
    with pytest.raises(KeyError, match="large"):
        f(scaled, 50)
    with pytest.raises(np.CompileError):
        f(3, 5)


def test_compiled_functions_are_pickled_by_their_names():
    assert pickle.loads(pickle.dumps(collatz)) is collatz
    assert copy.deepcopy(collatz) is collatz


def test_many_threads_call_a_function_first():
    def work(n):
        s = 0
        for i in range(n):
            s += i % 7
        return s

    f, expected = np.jit(work), work(1000)
    start, results = threading.Barrier(32), []

    def call(value):
        start.wait()
        results.append(f(value))

    threads = [threading.Thread(target=call, args=(1000 if k % 2 else True,)) for k in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results.count(expected) == 16


@np.jit
def position(a, x):
    for i in range(len(a)):
        if a[i] == x:
            return i


def test_a_value_or_none():
    @np.jit
    def after(a, x):
        k = position(a, x)
        if k is None:
            return -1.0
        return k + 0.5

    @np.jit
    def careless(a, x):
        return position(a, x) + 1

    @np.jit
    def made(n):
        a = None
        if n > 0:
            a = np.zeros(n)
        return a, a is None, None

    a = numpy.arange(5.0)
    assert position(a, 3.0) == 3 and position(a, 9.0) is None
    assert after(a, 3.0) == 3.5 and after(a, 9.0) == -1.0
    assert careless(a, 3.0) == 4
    with pytest.raises(TypeError, match="None"):
        careless(a, 9.0)
    assert made(2)[0].tolist() == [0, 0] and made(2)[1:] == (False, None)
    assert made(0) == (None, True, None)


def test_rest_parameters():
    def polynomial_of(x, *coefficients, scale=1):
        s = 0
        for c in coefficients:
            s = s * x + c
        return s * scale, len(coefficients)

    @np.jit
    def calls(x):
        return polynomial_of(x, 1, 2.5, x), polynomial_of(x, scale=2), polynomial_of(x, *(1, 2))

    f = np.jit(polynomial_of)
    same(f, 2, 1, 2, 3)
    same(f, 2, 1.5, 2, 3)
    same(f, 2, 7)
    assert f(3) == (0, 0) and f(2, 1, 1, scale=10) == (30, 2)
    assert calls(2) == calls.py_func(2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'coefficients'"):
        f(2, coefficients=(1,))


def test_targets_that_take_the_rest():
    @np.jit
    def f(x):
        a, *b, c = (1, 2.5, x, 4)
        *d, e = b
        return a, b, c, d, e

    assert f(7) == (1, (2.5, 7), 4, (2.5,), 7)


def test_isinstance_is_known_by_type():
    @np.jit
    def f(x):
        if isinstance(x, np.ndarray):
            return x[0]
        if isinstance(x, (int, float)):
            return x + 1
        return len(x)

    assert f(2) == 3 and f(2.5) == 3.5 and f((1, 2, 3)) == 3 and f(numpy.ones(2)) == 1


@np.jit
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@np.jit
def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


@np.jit
def grows(n):
    return 1 if n == 0 else grows(n - 1) * 0.5


@np.jit
def halves(a, low, high):
    if high - low == 1:
        return a[low] * np.ones(2)[0]
    middle = (low + high) // 2
    return halves(a, low, middle) + halves(a, middle, high)


@np.jit
def never_ends(n):
    return never_ends(n) + 1


def test_recursion():
    assert fibonacci(20) == 6765 and fibonacci(10.0) == 55.0
    assert is_even(10) is True and is_even(7) is False
    assert grows(3) == 0.125 and type(grows(0)) is float
    a = numpy.arange(9.0)
    assert halves(a, 0, 9) == 36
    with pytest.raises(IndexError):
        halves(a, 5, 12)
    with pytest.raises(np.CompileError, match="cannot type infer runaway recursion"):
        never_ends(1)


def test_deep_recursion_is_an_error():
    @np.jit
    def deep(n):
        return 0 if n == 0 else deep(n - 1) + 1

    assert deep(5000) == 5000
    for _ in range(3):
        with pytest.raises(RecursionError):
            deep(10**9)
    assert deep(10) == 10


def test_powers_of_floats():
    @np.jit
    def f(x, y):
        return x**y

    for x, y in [(2.0, 3.0), (2.0, -1.0), (0.0, 2.0), (-2.0, 3.0), (4.0, -0.5)]:
        assert f(x, y) == pytest.approx(x**y, rel=1e-15)
    for zero in (0.0, -0.0):
        with pytest.raises(ZeroDivisionError, match="negative power"):
            f(zero, -1.0)


def test_ranges_end_at_the_largest_integer():
    @np.jit
    def count(start, stop):
        c = 0
        for i in range(start, stop, 3):
            c += i % 2 + 1
        return c

    largest = 2**63 - 1
    for start, stop in [(largest - 5, largest), (largest - 1, largest), (largest, largest), (0, 10)]:
        same(count, start, stop)


def test_a_rest_of_a_division_by_zero_is_no_proof():
    @np.jit(error_model="numpy")
    def f(a, i):
        return a[i % len(a)]

    assert f(numpy.arange(3.0), 5) == 2
    with pytest.raises(IndexError):
        f(numpy.zeros(0), 5)


def grows_by_result(n):
    return (n, grows_by_result(n - 1)) if n > 0 else (0, 0)


def grows_by_arguments(n, t):
    return n if n == 0 else grows_by_arguments(n - 1, (t, n))


def test_types_that_grow_without_end_are_errors():
    with pytest.raises(np.CompileError, match=r"grows each time|on one way"):
        np.jit(grows_by_result)(3)
    with pytest.raises(np.CompileError, match="other types of arguments"):
        np.jit(grows_by_arguments)(3, 0)


def twice_odd(x):
    return 2 * less_one(z=1, y=x) if x > 0 else 1 + x


def less_one(y, z):
    return twice_odd(x=y - z)


def first(x):
    return second(x) * 2 if x > 0 else 1


def second(x):
    return third(x) * 3


def third(x):
    return fourth(x) * 4


def fourth(x):
    return first(x / 2 - 1)


def up(x, y):
    return x + down(x - y, y) if x > 1 and y > 0 else y


def down(x, y):
    return x + up(x - y, y) if x > 1 and y > 0 else y


def endless_one(x):
    return endless_two(x)


def endless_two(x):
    return endless_one(x)


def test_functions_that_call_each_other():
    for function, arguments in [
        (twice_odd, (5,)),
        (less_one, (5, 2)),
        (up, (9, 2)),
        (up, (9, 2.5)),
        (down, (9.5, 2)),
    ]:
        same(np.jit(function), *arguments)
    for function in (first, second, third, fourth):
        assert np.jit(function)(9.0) == function(9.0)
    with pytest.raises(np.CompileError, match="cannot type infer runaway recursion"):
        np.jit(endless_one)(1)


# --- calls in place --------------------------------------------------------------------------------------


@np.jit
def taken(a, i):
    return a[i]


@np.jit
def put(a, i, x):
    a[i] = x


@np.jit
def around(u, i, j):
    return u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j]


@np.jit
def clamped(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


@np.jit
def first_at_least(a, x):
    for i in range(len(a)):
        if a[i] >= x:
            return i
    return -1


@np.jit
def both(a, i):
    return taken(a, i), taken(a, i + 1)


@np.jit
def refused(x):
    if x > 3:
        raise ValueError("too large")
    return x


@np.jit
def half_of(a):
    return a[: len(a) // 2]


@np.jit
def doubled(a):
    b = np.empty(len(a))
    for i in range(len(a)):
        b[i] = 2 * a[i]
    return b


def copied(a, n):
    b = np.zeros(len(a))
    for i in range(n):
        put(b, i, taken(a, i) * 2 + 1)
    return b[0], b[-1]


def smoothed(u, n):
    s = 0.0
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            s += around(u, i, j)
    return s


def clamps(a, n):
    s = 0.0
    for i in range(n):
        s += a[clamped(i, 0, len(a) - 1)]
    return s


def searches(a, n):
    s = 0
    for i in range(n):
        s += first_at_least(a, i * 0.1) + taken(a, first_at_least(a, 0.0)) > 0
    return s


def pairs(a, n):
    s = 0.0
    for i in range(n):
        x, y = both(a, i)
        s += x * y
    return s


def refuses(a, n):
    s = 0.0
    for i in range(n):
        s += refused(i) + a[i]
    return s


def halves_of_doubles(a, n):
    s = 0.0
    for i in range(n):
        half = half_of(doubled(a))
        s += half[i] + len(half)
    return s


def outcome_of(function, *arguments):
    try:
        return function(*arguments)
    except (IndexError, ValueError) as error:
        return type(error), str(error).split(" for ")[0]


@pytest.mark.parametrize("function", (copied, smoothed, clamps, searches, pairs, refuses, halves_of_doubles))
def test_calls_in_place(function):
    compiled = np.jit(function)
    a = numpy.random.default_rng(3).random((6, 6) if function is smoothed else 7)
    for n in (-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 12):
        assert outcome_of(compiled, a, n) == outcome_of(function, a, n), n


@pytest.mark.parametrize("function", (copied, smoothed))
def test_what_is_known_of_a_loop_is_known_in_what_it_calls(function):
    compiled = np.jit(function)
    compiled(numpy.ones((5, 5) if function is smoothed else 5), 3)
    (text,) = compiled.inspect_ir().values()
    assert "call" not in text
    fast, slow = text[text.index("for ") :].split("} else {", 1)
    assert "check" not in fast
    assert "check" in slow


def test_calls_in_place_name_their_own_line():
    compiled = np.jit(pairs)
    with pytest.raises(IndexError) as error:
        compiled(numpy.ones(3), 3)
    last = traceback.extract_tb(error.tb)[-1]
    assert (last.name, last.line) == ("taken", "return a[i]")


def test_what_a_small_function_makes_for_its_result_is_given_back_once():
    @np.jit
    def total(x, y):
        return np.sum(np.array([x, y]))

    @np.jit
    def totals(n):
        s = 0.0
        for i in range(n):
            s += total(i, 1.0)
        return s

    assert totals(1000) == sum(range(1000)) + 1000
    assert np.jit(lambda x: total(x, 2.0) * total(x, 3.0))(1.0) == 12.0


@np.jit
def calls_what_comes_later(x):
    return comes_later(x) + 1  # noqa: F821


def test_a_global_that_comes_later():
    with pytest.raises(np.CompileError, match="'comes_later' is not defined"):
        calls_what_comes_later(3)
    try:
        globals()["comes_later"] = lambda x: 2 * x
        assert calls_what_comes_later(3) == 7
        globals()["comes_later"] = lambda x: 5 * x
        assert calls_what_comes_later(3) == 16
    finally:
        del globals()["comes_later"]
    with pytest.raises(np.CompileError, match="'comes_later' is not defined"):
        calls_what_comes_later(3)


def test_a_closure_that_comes_later():
    @np.jit
    def outer(x):
        return inner(x) + 1

    with pytest.raises(np.CompileError, match="'inner' is not defined"):
        outer(3)

    def inner(x):
        return 2 * x

    assert outer(3) == 7


def test_an_attribute_of_a_module_that_comes_later(monkeypatch):
    module = types.ModuleType("own_module_of_test_calls")
    module.other = 1
    scope = {"own": module}
    source = "def asks(x):\n    return x * own.factor\n"
    exec(source, scope)
    compiled = np.jit(scope["asks"], source=source)
    with pytest.raises(np.CompileError, match=r"not defined|no attribute"):
        compiled(2)
    module.factor = 10
    assert compiled(2) == 20
