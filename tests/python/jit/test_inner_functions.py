"""Functions and lambdas inside of compiled functions."""

import numpy
import pytest
import weft as np


def agree(function, *arguments):
    found, expected = np.jit(function)(*arguments), function(*arguments)
    assert type(found) is type(expected) and found == expected
    return found


def apply(f, x):
    return f(x)


def twice(f):
    return lambda x: f(f(x))


def adder(n):
    def add(x, more=0):
        return x + n + more

    return add


def test_they_are_called():
    def f(n):
        def square(x):
            return x * x

        cube = lambda x: x * square(x)  # noqa: E731
        total = 0
        for i in range(n):
            total += square(i) + cube(0.5)
        return total + (lambda a, b=2: a * b)(n)

    agree(f, 5)


def test_variables_are_read_when_they_are_called():
    def f(n):
        k = 1

        def shifted(x):
            return x + k

        a = shifted(n)
        k = 10
        b = shifted(n)
        for k in range(3):
            a += shifted(k)
        total = 0
        first = lambda: 0  # noqa: E731
        for i in range(n):
            if i == 0:
                first = lambda: i  # noqa: B023, E731
            total += first()
        return a, b, total

    with pytest.raises(np.CompileError, match="'first' is function <lambda> on one way"):
        np.jit(f)(4)

    def g(n):
        k = 1

        def shifted(x):
            return x + k

        a = shifted(n)
        k = 10
        b = shifted(n)
        for k in range(3):
            a += shifted(k)
        later = lambda: i * 2  # noqa: E731
        for i in range(n):  # noqa: B007
            a += later()
        if n > 2:
            k = 100
        return a, b, later(), shifted(0)

    agree(g, 4)
    agree(g, 2)


def test_defaults_are_evaluated_where_they_are_defined():
    def f(n):
        total = 0
        for i in range(n):

            def with_default(x, k=i * 2, *, power=n):
                return x * k + power

            i = 50
            total += with_default(1) + with_default(1, 5) + with_default(x=2, power=0)
        return total

    agree(f, 4)


def test_they_are_given_and_returned():
    def f(n):
        k = n * 2
        add = adder(k)
        total = apply(add, 1) + add(2, more=5) + twice(add)(3) + twice(lambda x: x * k)(2.0)
        k = 100
        pair = (add, lambda x: x - k)
        return total + pair[0](1) + pair[1](1) + apply(pair[1], 2)

    def chosen(way):
        return apply if way is None else twice

    def g(x):
        return chosen(None)(lambda y: y + 1, x) + chosen(x)(lambda y: y + 2)(x)

    agree(f, 3)
    agree(g, 3)


def test_recursion():
    def f(n):
        def factorial(k, start=1):
            return start if k == 0 else k * factorial(k - 1)

        def walk(k):
            if k <= 0:
                return n
            return walk(k - 2) + 1

        return factorial(n) + walk(n) + factorial(2, 7)

    agree(f, 6)


def test_nested_ones_read_through_others():
    def f(n):
        a = n + 1

        def outer(x):
            b = x * 2

            def inner(y):
                return a * y + b

            return inner(x) + apply(inner, 1)

        a = a * 2
        return outer(n)

    agree(f, 3)


def test_names_of_their_own():
    def f(n):
        i, x = 5, 0.5

        def g(x):
            i = x * 2
            total = 0
            for j in range(i):
                total += j
            return total + i

        j = 7
        return g(n), i, x, j

    agree(f, 3)


def test_arrays():
    def f(a, n):
        def at(i):
            return a[i] * n

        def make(k):
            b = np.zeros(k)
            for i in range(k):
                b[i] = at(i)
            return b

        def fill(x):
            a[0] = x

        c = make(3)
        fill(9.0)
        a = make(2)
        return c[2] + a[0], at(1)

    array = numpy.array([1.0, 2.0, 3.0])
    other = array.copy()
    assert np.jit(f)(array, 2.0) == f(other, 2.0)
    assert array.tolist() == other.tolist()


def test_errors_are_at_their_lines():
    def f(n):
        def divide(x):
            return 1 // x

        return divide(n)

    with pytest.raises(ZeroDivisionError) as error:
        np.jit(f)(0)
    assert error.traceback[-1].lineno == f.__code__.co_firstlineno + 1


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda n: lambda: n, "returns a function to Python"),
        (lambda n: (apply, n), "returns a function to Python"),
        (lambda n: (lambda x: x)(), "missing 1 required positional argument: 'x'"),
        (lambda n: (lambda x: x)(1, 2), "takes 1 positional argument but 2 were given"),
        (lambda n: (lambda x: x)(y=n), "unexpected keyword argument 'y'"),
    ],
)
def test_what_is_wrong_is_said(function, text):
    with pytest.raises(np.CompileError) as error:
        np.jit(function)(2)
    assert text in str(error.value) and str(error.value).count("\n") < 8


def test_functions_that_call_each_other_are_refused():
    def f(n):
        def even(k):
            return k == 0 or odd(k - 1)

        def odd(k):
            return k != 0 and even(k - 1)

        return even(n)

    with pytest.raises(np.CompileError, match="call each other"):
        np.jit(f)(4)


def test_a_variable_without_a_value_is_python_s_error():
    def f(n):
        g = lambda: later  # noqa: E731
        if n > 2:
            later = 1
        return g()

    assert np.jit(f)(3) == 1
    with pytest.raises(NameError, match="cannot access free variable 'later'"):
        np.jit(f)(1)

    def unread(n, a):
        if n > 2:
            b = a[1:]
        return (lambda k: k or b[0])(n)

    for n in (1, 0, 3):
        if n == 0:
            with pytest.raises(NameError):
                np.jit(unread)(n, numpy.arange(3))
        else:
            assert np.jit(unread)(n, numpy.arange(3)) == n


def test_nonlocal():
    def sums(x):
        y = x + 1
        z = 0

        def inner(x):
            nonlocal z
            z += x * x
            return z + y

        return inner(x) + inner(2 * x) + z

    def counts(n):
        calls, total = 0, 0.0

        def add(x, times=1):
            nonlocal calls, total
            calls += 1
            if x < 0:
                return
            for _ in range(times):
                total += x

        for i in range(n):
            add(i - 1)
            if i % 2:
                add(0.5, times=i)
        return calls, total

    def fibonacci(n):
        steps = 0

        def step(n):
            nonlocal steps
            steps = steps + 1
            return n if n < 2 else step(n - 1) + step(n - 2)

        return step(n), steps

    def once():
        x = 0

        def bar():
            nonlocal x
            x = 1

        bar()
        return x

    for n in (0, 1, 5):
        agree(sums, n)
        agree(counts, n)
        agree(fibonacci, n + 3)
    agree(once)


def test_a_nonlocal_that_is_not_seen_at_its_calls_is_refused():
    def f(x):
        def add(y):
            nonlocal x
            x += y
            return x

        return apply(add, 3)

    with pytest.raises(np.CompileError, match="`nonlocal` is compiled in functions that are called"):
        np.jit(f)(1)


def one():
    return 1


def two(x=1):
    return 2 * x


TABLE = (one, two, 3)


def test_a_global_tuple_of_functions():
    def f(x):
        return TABLE[0]() + TABLE[1](x) + TABLE[-1], len(TABLE)

    agree(f, 5)
    assert np.jit(lambda: PAIR[0]() + PAIR[1](3))() == 7


PAIR = (one, np.jit(two))
