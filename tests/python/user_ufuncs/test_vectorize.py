"""weft.vectorize with signatures or Numba's keywords: functions of the program's as ufuncs that are fused."""

import enum
import functools
import gc
import math
import pickle
import weakref

import numpy
import pytest
import weft as np
from on_gpu import needs_gpu

SIZES = (1, 7, 1000, 4097, 50_000)


@np.vectorize(["float32(float32, float32)", "float64(float64, float64)", "int64(int64, int64)"])
def clipped_distance(x, y):
    """The distance of two numbers, 3 at most."""
    d = x - y
    if d < 0:
        d = -d
    return 3 if d > 3 else d


def reference(x, y):
    return numpy.minimum(numpy.abs(x - y), 3)


@np.vectorize(target="parallel")
def steps(n):
    k = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        k += 1
    return k


@np.vectorize(nopython=True, identity=0)
def plus(a, b):
    return a + b


@np.vectorize("float64(float64, float64)")
def left_minus(a, b):
    return a - 0.5 * b


SCALE = 2.0


@np.vectorize(nopython=True)
def scaled(x):
    return x * SCALE


class TestCalls:
    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "uint8", "bool"])
    def test_loops_are_chosen_as_by_numpy(self, size, dtype):
        x = numpy.arange(size).astype(dtype)
        y = (numpy.arange(size)[::-1] % 11).astype(dtype)
        wide = {"int32": "int64", "uint8": "int64", "bool": "int64"}.get(dtype, dtype)
        # NumPy takes the first loop to which both can be cast safely: of small integers, that of float32.
        first = "float32" if dtype in ("uint8", "bool") else "float64" if dtype == "int32" else wide
        expected = reference(x.astype(first), y.astype(first))
        result = clipped_distance(np.array(x), np.array(y))
        assert result.dtype == first
        numpy.testing.assert_array_equal(numpy.asarray(result), expected)

    @pytest.mark.parametrize("size", SIZES)
    def test_any_layout(self, size):
        whole = numpy.arange(4.0 * size).reshape(2, 2 * size)
        for view in (whole[:, ::2], whole[::-1, ::-1], whole.T, whole[0], whole[:, :1]):
            shown = np.array(whole)
            offset = view.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
            mine = (
                np.lib.stride_tricks.as_strided(shown.ravel()[offset // 8 :], view.shape, view.strides)
                if min(view.strides) >= 0
                else np.array(view)
            )
            numpy.testing.assert_array_equal(numpy.asarray(clipped_distance(mine, 5.0)), reference(view, 5.0))

    def test_numbers_give_numbers(self):
        assert clipped_distance(1, 9) == 3
        assert type(clipped_distance(1, 9)) is np.int64
        assert type(clipped_distance(1.5, 1)) is np.float64
        assert steps(27) == 111

    def test_broadcasts_and_writes_into_out(self):
        a, b = np.arange(3.0)[:, None], np.arange(4.0)
        expected = reference(numpy.arange(3.0)[:, None], numpy.arange(4.0))
        out = np.full((3, 4), -1.0)
        assert clipped_distance(a, b, out=out) is out
        numpy.testing.assert_array_equal(numpy.asarray(out), expected)
        numpy.testing.assert_array_equal(
            numpy.asarray(clipped_distance(a, b, where=b > 1, out=np.zeros((3, 4)))),
            numpy.where(numpy.arange(4.0) > 1, expected, 0),
        )

    def test_out_may_be_an_input(self):
        for size in SIZES:
            x = np.arange(float(size))
            clipped_distance(x, 2.0, out=x)
            numpy.testing.assert_array_equal(numpy.asarray(x), reference(numpy.arange(float(size)), 2.0))

    def test_several_results(self):
        @np.vectorize(nopython=True)
        def parts(x):
            whole = math.floor(x)
            return whole, x - whole

        for size in SIZES:
            x = numpy.arange(size) * 0.75
            whole, rest = parts(np.array(x))
            numpy.testing.assert_array_equal(numpy.asarray(whole), numpy.floor(x))
            numpy.testing.assert_array_equal(numpy.asarray(rest), x % 1)
        assert parts.nout == 2

    def test_division_by_zero_is_numpys(self):
        @np.vectorize(nopython=True)
        def quotient(a, b):
            return a / b

        with numpy.errstate(all="ignore"):
            for size in (3, 10_000):
                a = numpy.arange(-1.0, size - 1)
                numpy.testing.assert_array_equal(
                    numpy.asarray(quotient(np.array(a), np.zeros(size))), a / numpy.zeros(size)
                )

    def test_python_numbers_are_weak(self):
        @np.vectorize(nopython=True)
        def power_of(x, n):
            result = x
            for _ in range(n - 1):
                result = result * x
            return result

        x = np.arange(4, dtype="float32")
        assert power_of(x, 3).dtype == "float32"
        numpy.testing.assert_array_equal(numpy.asarray(power_of(x, 3)), numpy.arange(4.0) ** 3)


class TestFusion:
    def test_is_one_kernel_with_its_neighbours(self):
        x, y = np.linspace(0, 9, 100_000), np.linspace(3, 1, 100_000)
        np.eval(x, y)

        def kernels(function):
            np.clear_kernel_history()
            float((2 * function(x + 1, y) + x).sum())
            return [launch["name"] for launch in np.kernel_history()]

        mine = kernels(clipped_distance)
        assert [name.replace("clipped_distance", "hypot") for name in mine] == kernels(np.hypot)
        a, b = numpy.linspace(0, 9, 100_000), numpy.linspace(3, 1, 100_000)
        total = float((2 * clipped_distance(x + 1, y) + x).sum())
        assert total == pytest.approx((2 * reference(a + 1, b) + a).sum(), rel=1e-13)

    def test_is_recorded(self):
        x = np.arange(100_000.0)
        assert "clipped_distance" in np.explain(clipped_distance(x, 1.0) + 1)

    def test_function_in_function(self):
        x = np.arange(10_000.0)
        y = clipped_distance(clipped_distance(x, 1.0), clipped_distance(x, 5.0))
        n = numpy.arange(10_000.0)
        numpy.testing.assert_array_equal(numpy.asarray(y), reference(reference(n, 1.0), reference(n, 5.0)))


class TestFolds:
    def test_reduce(self):
        for size in SIZES:
            x = numpy.arange(size)
            assert plus.reduce(np.array(x)) == x.sum()
        rows = numpy.arange(12.0).reshape(3, 4)
        for axis in (0, 1, -1):
            numpy.testing.assert_array_equal(
                numpy.asarray(plus.reduce(np.array(rows), axis=axis)), rows.sum(axis)
            )

    def test_of_what_it_widens(self):
        x = np.full(1000, 2**30, dtype="int32")
        assert plus.reduce(x) == 1000 * 2**30
        assert plus.accumulate(x).dtype == "int64"
        assert plus.accumulate(x)[-1] == 1000 * 2**30

    @pytest.mark.parametrize("size", SIZES)
    def test_from_left_to_right(self, size):
        x = numpy.linspace(1, 2, size)
        running, expected = x[0], [x[0]]
        for value in x[1:]:
            running = running - 0.5 * value
            expected.append(running)
        numpy.testing.assert_array_equal(numpy.asarray(left_minus.accumulate(np.array(x))), expected)
        assert left_minus.reduce(np.array(x)) == expected[-1]

    def test_a_name_of_numpys_means_nothing(self):
        @np.vectorize(nopython=True)
        def gcd(a, b):
            return a - b

        @np.vectorize(nopython=True, identity=0)
        def logical_or(a, b):
            return 2 * a + b

        x = numpy.arange(1, 9)
        assert gcd.reduce(np.array(x)) == functools.reduce(lambda a, b: a - b, x.tolist())
        assert logical_or.reduce(np.array(x)) == functools.reduce(lambda a, b: 2 * a + b, x.tolist())
        with pytest.raises(ValueError, match="not reorderable"):
            gcd.reduce(np.zeros((2, 2), dtype=bool), axis=None)

    def test_identity(self):
        assert left_minus.identity is None
        assert plus.reduce(np.zeros(0)) == 0
        assert plus.identity == 0
        with pytest.raises(ValueError, match="no identity"):
            left_minus.reduce(np.zeros(0))

    def test_reduceat_outer_and_at(self):
        x = numpy.arange(8.0)
        numpy.testing.assert_array_equal(
            numpy.asarray(plus.reduceat(np.array(x), [0, 3, 5])), numpy.add.reduceat(x, [0, 3, 5])
        )
        numpy.testing.assert_array_equal(
            numpy.asarray(left_minus.outer(np.array(x), np.array(x[:3]))), x[:, None] - 0.5 * x[:3]
        )
        target = np.zeros(4)
        plus.at(target, [0, 0, 3], 2.0)
        assert target.tolist() == [4.0, 0.0, 0.0, 2.0]


class TestAttributes:
    def test_of_a_ufunc(self):
        assert isinstance(clipped_distance, np.ufunc)
        assert clipped_distance.__name__ == "clipped_distance"
        assert clipped_distance.__doc__ == "The distance of two numbers, 3 at most."
        assert clipped_distance.py_func(1, 9) == 3
        assert (clipped_distance.nin, clipped_distance.nout, clipped_distance.nargs) == (2, 1, 3)
        assert clipped_distance.types[:2] == ["ff->f", "dd->d"]
        assert repr(clipped_distance) == "<ufunc 'clipped_distance'>"

    def test_pickled_by_name(self):
        assert pickle.loads(pickle.dumps(clipped_distance)) is clipped_distance

    def test_functions_end(self):
        def make():
            @np.vectorize(nopython=True)
            def f(x):
                return x + 1

            f(np.arange(3.0))
            return weakref.ref(f)

        reference = make()
        gc.collect()
        assert reference() is None

    def test_a_changed_global_is_seen(self):
        global SCALE
        x = np.arange(5.0)
        try:
            assert scaled(x).tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
            SCALE = 3.0
            assert scaled(x).tolist() == [0.0, 3.0, 6.0, 9.0, 12.0]
        finally:
            SCALE = 2.0


class TestErrors:
    def test_types_without_a_loop(self):
        with pytest.raises(TypeError, match=r"clipped_distance.*not supported for the input types"):
            clipped_distance(1j, 2)

    def test_wrong_number_of_inputs(self):
        with pytest.raises(TypeError, match="2"):
            clipped_distance(1)
        with pytest.raises(TypeError, match="takes 1 positional"):
            np.vectorize(nopython=True)(lambda x: x)()

    def test_signature_of_another_number_of_inputs(self):
        with pytest.raises(TypeError, match="the signature has 1 inputs, and f"):

            @np.vectorize(["float64(float64)"])
            def f(a, b):
                return a

    def test_what_cannot_be_compiled_says_so_at_once(self):
        with pytest.raises(np.CompileError, match="undefined_name"):

            @np.vectorize(["float64(float64)"])
            def f(a):
                return undefined_name(a)  # noqa: F821

    def test_results_that_are_no_numbers(self):
        class Kind(enum.IntEnum):
            SMALL = 7
            LARGE = 9

        f = np.vectorize(nopython=True)(lambda x: Kind.SMALL if x < 3 else Kind.LARGE)
        with pytest.raises(TypeError, match="which is no element of an array: return numbers"):
            f(np.arange(5))
        g = np.vectorize(nopython=True)(lambda x: int(Kind.SMALL if x < 3 else Kind.LARGE))
        assert g(np.arange(5)).tolist() == [7, 7, 7, 9, 9]
        with pytest.raises(TypeError):
            np.vectorize(nopython=True)(lambda x: None)(np.arange(5))

    def test_unknown_option(self):
        with pytest.raises(TypeError, match="no option 'speed'"):
            np.vectorize(nopython=True, speed=1)(lambda x: x)

    def test_shapes_that_do_not_broadcast(self):
        with pytest.raises(ValueError, match="could not be broadcast"):
            clipped_distance(np.zeros(3), np.zeros(4))


def test_without_either_it_is_numpys():
    f = np.vectorize(lambda a, b: a - b if a > b else a + b)
    assert isinstance(f, np.vectorize)
    assert f([1, 2, 3, 4], 2).tolist() == [3, 4, 1, 2]


class TestWhatKernelsDoNotRun:
    """Functions that raise, call themselves or need memory: a compiled loop runs at the call."""

    def test_raises_after_the_call(self):
        @np.vectorize(["float64(float64)"])
        def root(x):
            if x < 0:
                raise ValueError("no root of a negative number")
            return math.sqrt(x)

        for size in SIZES:
            x = numpy.arange(float(size))
            numpy.testing.assert_array_equal(numpy.asarray(root(np.array(x))), numpy.sqrt(x))
            out = np.full(size, 7.0)
            with pytest.raises(ValueError, match="no root of a negative number"):
                root(np.array(x) - size + 0.5, out=out)
            assert (out == 7).all()
        assert root(4.0) == 2.0
        assert root(np.array([4.0, -1.0]), where=np.array([True, False]), out=np.zeros(2)).tolist() == [
            2.0,
            0.0,
        ]

    def test_options_that_it_does_not_take(self):
        @np.vectorize(nopython=True)
        def positive(x):
            if x < 0:
                raise ValueError
            return x

        assert positive(np.arange(3.0)).tolist() == [0.0, 1.0, 2.0]
        with pytest.raises(
            TypeError, match=r"positive\(\) is computed at its call.*takes out and where, not dtype"
        ):
            positive(np.arange(3.0), dtype="float32")

    def test_recursion(self):
        @np.vectorize(nopython=True)
        def fibonacci(n):
            return n if n < 2 else fibonacci_of(n - 1) + fibonacci_of(n - 2)

        assert fibonacci(np.arange(10)).tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
        assert fibonacci(np.arange(10)[:, None] + np.arange(2)).shape == (10, 2)
        assert fibonacci.reduce is not None

    def test_memory(self):
        @np.vectorize(nopython=True)
        def digits(n):
            found = []
            while n > 0:
                found.append(n % 10)
                n //= 10
            return len(found), sum(found)

        count, total = digits(np.arange(0, 3000, 7))
        numbers = range(0, 3000, 7)
        assert count.tolist() == [len(str(n)) if n else 0 for n in numbers]
        assert total.tolist() == [sum(map(int, str(n))) for n in numbers]

    def test_the_engine_and_caught_errors(self):
        @np.vectorize(nopython=True)
        def noisy(x):
            return x + np.random.random()

        @np.vectorize(nopython=True)
        def length(x, y):
            return np.linalg.norm(np.array([x, y]))

        @np.vectorize(nopython=True)
        def guarded(x):
            try:
                return at_least_one(x)
            except ValueError:
                return -1.0

        for size in (3, 10_000):
            found = numpy.asarray(noisy(np.zeros(size)))
            assert len(set(found)) == size and (found >= 0).all() and (found < 1).all()
        assert length(np.array([3.0, 6.0]), 4.0).tolist() == [5.0, math.sqrt(52)]
        assert guarded(np.arange(3.0)).tolist() == [-1.0, 1.0, 2.0]

    def test_tables(self):
        @np.vectorize(["float64(int64)"])
        def looked_up(i):
            return TABLE[i] + 1

        assert looked_up(np.arange(4)).tolist() == [1.0, 3.0, 5.0, 7.0]
        assert looked_up(np.arange(4)[:, None]).shape == (4, 1)
        with pytest.raises(IndexError, match="index 10 is out of bounds for axis 0 with size 10"):
            looked_up(np.arange(11))

    def test_signatures_decide_the_loop(self):
        @np.vectorize(["int64(int64)", "float64(float64)"])
        def checked(x):
            if x == 99:
                raise ValueError
            return x / 2

        assert checked(np.arange(4)).tolist() == [0, 0, 1, 1]
        assert checked(np.arange(4.0)).tolist() == [0.0, 0.5, 1.0, 1.5]
        assert checked(np.arange(4, dtype="float32")).dtype == "float64"
        with pytest.raises(TypeError, match="not supported for the input types"):
            checked(1j)


class TestInCompiledFunctions:
    def test_of_numbers(self):
        @np.jit
        def total(a):
            s = 0.0
            for i in range(len(a)):
                s += clipped_distance(a[i], 1.0)
            return s

        assert total(np.arange(5.0)) == 1 + 0 + 1 + 2 + 3

    def test_of_arrays(self):
        @np.jit
        def of_arrays(a, b):
            c = 2 * clipped_distance(a, b) + 1
            return c, clipped_distance(a[0], b).sum()

        a, b = numpy.arange(12.0).reshape(3, 4), numpy.arange(4.0) * 2
        whole, total = of_arrays(a, b)
        numpy.testing.assert_array_equal(numpy.asarray(whole), 2 * reference(a, b) + 1)
        assert total == reference(a[0], b).sum()

    def test_of_arrays_that_do_not_fit(self):
        @np.jit
        def of_arrays(a, b):
            return clipped_distance(a, b)

        with pytest.raises(ValueError, match="could not be broadcast"):
            of_arrays(np.zeros(3), np.zeros(4))

    def test_of_several_results(self):
        @np.jit
        def of_arrays(a):
            return both_parts(a)

        first, second = of_arrays(np.arange(3.0))
        assert first.tolist() == [0.0, 1.0, 2.0]
        assert second.tolist() == [1.0, 2.0, 3.0]


@np.vectorize(nopython=True)
def both_parts(x):
    return x, x + 1


@np.jit
def at_least_one(x):
    if x < 1:
        raise ValueError
    return x


TABLE = numpy.arange(10.0) * 2


@np.jit
def fibonacci_of(n):
    return n if n < 2 else fibonacci_of(n - 1) + fibonacci_of(n - 2)


@needs_gpu
def test_a_function_of_a_sum_in_the_launch_of_the_sum():
    """What the last block of a reduction's launch computes called a function that its kernel did not have."""

    @np.vectorize(["float64(float64)"])
    def halved(x):
        return x / 2 if x > 0 else x

    x = np.arange(5000.0, device="cuda")
    assert float(halved(np.sum(x * 2))) == 5000 * 4999 / 2
