"""weft.stencil beside loops of Python: fused views, compiled loops, borders, outputs, errors."""

import itertools

import numpy
import pytest
import weft as np

ONE = 1
SHAPES_1 = [(1,), (2,), (3,), (10,), (5000,)]
SHAPES_2 = [(1, 1), (3, 3), (2, 5), (7, 4), (90, 70)]
DTYPES = ["float64", "float32", "int64", "int8", "uint8", "complex128", "bool"]


def reference(function, window, arrays, cval=0, dtype=None, extra=()):
    """What a stencil gives, element by element; the function reads by calls, as a(-1, 0)."""
    first = arrays[0]
    found = {}
    inside = [range(-low, size - high) for size, (low, high) in zip(first.shape, window)]
    for place in itertools.product(*inside):
        readers = [
            lambda *by, array=array, place=place: array[tuple(p + b for p, b in zip(place, by))].item()
            for array in arrays
        ]
        found[place] = function(*readers, *extra)
    if dtype is None:
        dtype = numpy.asarray(list(found.values()) or [0.0]).dtype
    result = numpy.full(first.shape, cval, dtype)
    for place, value in found.items():
        result[place] = value
    return result


def check(result, expected):
    result = numpy.asarray(result)
    assert result.shape == expected.shape
    numpy.testing.assert_allclose(result, expected, rtol=1e-6)


@np.stencil
def cross(a):
    return a[-1, 0] + a[1, 0] + a[0, -ONE] + a[0, ONE]


@np.stencil(cval=7)
def forward(a):
    return a[0] - a[2]


@np.stencil
def mean_of_nine(a):
    return (
        a[-1, -1] + a[-1, 0] + a[-1, 1] + a[0, -1] + a[0, 0] + a[0, 1] + a[1, -1] + a[1, 0] + a[1, 1]
    ) // 9


@np.stencil(neighborhood=((-3, 1),))
def window_sum(a, weight):
    total = 0.0
    for k in range(-3, 2):
        total += a[k] * weight
    return total


@np.stencil(standard_indexing=("w",))
def convolved(a, w):
    return a[-1] * w[0] + a[0] * w[1] + a[1] * w[2]


@np.stencil
def of_two(a, b, factor):
    if a[0, 0] > b[-1, 0]:
        return a[0, 0] * factor
    return b[0, 1]


class TestValues:
    @pytest.mark.parametrize("shape", SHAPES_2)
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_cross(self, shape, dtype):
        a = (numpy.arange(shape[0] * shape[1]).reshape(shape) % 23).astype(dtype)
        expected = reference(lambda a: a(-1, 0) + a(1, 0) + a(0, -1) + a(0, 1), [(-1, 1), (-1, 1)], [a])
        check(cross(np.array(a)), expected)

    @pytest.mark.parametrize("shape", SHAPES_1)
    def test_one_side(self, shape):
        a = numpy.arange(shape[0]) ** 2.0
        check(forward(np.array(a)), reference(lambda a: a(0) - a(2), [(0, 2)], [a], cval=7))

    @pytest.mark.parametrize("shape", SHAPES_2)
    @pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64"])
    def test_integers_do_not_wrap_around(self, shape, dtype):
        a = numpy.random.default_rng(3).integers(0, 128, shape).astype(dtype)
        around = list(itertools.product((-1, 0, 1), repeat=2))
        expected = reference(
            lambda a: sum(a(*by) for by in around) // 9, [(-1, 1), (-1, 1)], [a], dtype="int64"
        )
        check(mean_of_nine(np.array(a)), expected)
        out = np.full(shape, 99, dtype=dtype)
        mean_of_nine(np.array(a), out=out)
        inside = (slice(1, -1), slice(1, -1))
        check(out[inside], expected[inside].astype(dtype))
        if shape[0] > 1:
            assert out[0, 0] == 99

    @pytest.mark.parametrize("shape", SHAPES_1)
    def test_computed_indices(self, shape):
        a = numpy.arange(float(shape[0]))
        expected = reference(
            lambda a, w: sum(a(k) * w for k in range(-3, 2)), [(-3, 1)], [a], extra=(0.5,), dtype=float
        )
        check(window_sum(np.array(a), 0.5), expected)

    @pytest.mark.parametrize("shape", SHAPES_1)
    def test_standard_indexing(self, shape):
        a, w = numpy.arange(float(shape[0])), numpy.array([1.0, 2.0, 4.0])
        expected = reference(lambda a: a(-1) * w[0] + a(0) * w[1] + a(1) * w[2], [(-1, 1)], [a], dtype=float)
        check(convolved(np.array(a), np.array(w)), expected)

    @pytest.mark.parametrize("shape", SHAPES_2)
    def test_branches_and_two_arrays(self, shape):
        random = numpy.random.default_rng(5)
        a, b = random.random(shape), random.random((shape[0] + 1, shape[1] + 2))

        def one(a, b, factor):
            return a(0, 0) * factor if a(0, 0) > b(-1, 0) else b(0, 1)

        check(of_two(np.array(a), np.array(b), 3.0), reference(one, [(-1, 0), (0, 1)], [a, b], extra=(3.0,)))

    def test_three_dimensions_and_lambdas(self):
        a = numpy.random.default_rng(6).random((4, 5, 6))
        shift = 2
        stencil = np.stencil(lambda a: a[-1, 0, shift] - a[0, 1, 0])
        check(
            stencil(np.array(a)),
            reference(lambda a: a(-1, 0, 2) - a(0, 1, 0), [(-1, 0), (0, 1), (0, 2)], [a]),
        )

    def test_layouts(self):
        a = numpy.random.default_rng(7).random((20, 30))
        for view in (a.T, a[::-1], a[::2, ::3]):
            expected = reference(
                lambda a: a(-1, 0) + a(1, 0) + a(0, -1) + a(0, 1), [(-1, 1), (-1, 1)], [view]
            )
            check(cross(np.array(view)), expected)

    def test_more_reads_than_a_ufunc_has_operands(self):
        @np.stencil
        def far(a):
            return (
                a[-9] + a[-8] + a[-7] + a[-6] + a[-5] + a[-4] + a[-3] + a[-2] + a[-1] + a[0]
                + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7] + a[8]
            )  # fmt: skip

        a = numpy.random.default_rng(8).random(100)
        check(far(np.array(a)), reference(lambda a: sum(map(a, range(-9, 9))), [(-9, 8)], [a]))


class TestFusion:
    def test_is_fused_with_its_neighbours(self):
        a = np.array(numpy.random.default_rng(9).random((300, 300)))
        np.eval(a)
        (cross(a * 2) - a).sum()
        np.clear_kernel_history()
        np.eval(cross(a * 2) - a)
        assert not any(launch["name"].startswith("multiply_float64") for launch in np.kernel_history())

    def test_is_recorded(self):
        a = np.array(numpy.random.default_rng(9).random((300, 300)))
        assert "cross" in np.explain(cross(a))


class TestOutputs:
    def test_out_keeps_its_border(self):
        a = np.arange(16.0).reshape(4, 4)
        out = np.full((4, 4), -1.0)
        assert cross(a, out=out) is out
        assert out[0, 0] == -1.0
        assert out[1, 1] == 20.0

    def test_out_with_cval(self):
        out = np.full((5,), -1.0)
        forward(np.arange(5.0), out=out)
        assert out.tolist() == [-2.0, -2.0, -2.0, 7.0, 7.0]

    def test_out_may_be_the_input(self):
        a = numpy.arange(16.0).reshape(4, 4)
        mine = np.array(a)
        cross(mine, out=mine)
        expected = a.copy()
        expected[1:-1, 1:-1] = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
        check(mine, expected)
        small = np.arange(25, dtype="int8").reshape(5, 5)
        expected = numpy.asarray(mean_of_nine(np.array(small)))[1:-1, 1:-1]
        mean_of_nine(small, out=small)
        check(small[1:-1, 1:-1], expected)

    def test_out_of_a_wrong_shape(self):
        with pytest.raises(ValueError, match=r"\(3, 3\).*\(4, 4\)"):
            cross(np.zeros((4, 4)), out=np.zeros((3, 3)))


class TestErrors:
    def test_indices_that_are_not_constant(self):
        @np.stencil
        def f(a, k):
            return a[k]

        with pytest.raises(np.CompileError, match="not constant, 'neighborhood' option required"):
            f(np.zeros(3), 1)

    def test_written_arrays(self):
        @np.stencil
        def f(a):
            a[0] = 1
            return a[0]

        with pytest.raises(np.CompileError, match="Assignments to arrays"):
            f(np.zeros(3))

    def test_wrong_number_of_indices(self):
        with pytest.raises(np.CompileError, match="a has 1 dimensions, and is read with 2"):
            cross(np.zeros(3))

    def test_outside_of_the_neighborhood(self):
        @np.stencil(neighborhood=((-1, 1),))
        def constant(a):
            return a[-2]

        @np.stencil(neighborhood=((-1, 1),))
        def computed(a, k):
            return a[k]

        with pytest.raises(np.CompileError, match="relative index -2 along axis 0 is outside"):
            constant(np.zeros(5))
        assert computed(np.arange(5.0), 1).tolist() == [0.0, 2.0, 3.0, 4.0, 0.0]
        with pytest.raises(IndexError, match="outside of the stencil's neighborhood"):
            computed(np.arange(5.0), -2)

    def test_shapes(self):
        with pytest.raises(ValueError, match="some dimension smaller"):
            of_two(np.zeros((4, 4)), np.zeros((3, 4)), 1)
        with pytest.raises(ValueError, match="same number of dimensions"):
            of_two(np.zeros((4, 4)), np.zeros(4), 1)
        with pytest.raises(ValueError, match="first argument to a stencil kernel must be an array"):
            cross(1.0)

    def test_cval_of_a_wrong_type(self):
        @np.stencil(cval=1.5j)
        def f(a):
            return a[-1]

        with pytest.raises(ValueError, match="cval type does not match"):
            f(np.arange(4))

    def test_options(self):
        with pytest.raises(ValueError, match="Unknown stencil option border"):
            np.stencil(border=1)
        with pytest.raises(ValueError, match="Unsupported mode style wrap"):
            np.stencil("wrap")
        with pytest.raises(ValueError, match="Standard indexing requested for an array name b"):
            np.stencil(standard_indexing=("b",))(lambda a: a[0])
        with pytest.raises(ValueError, match="reserved word 'out'"):
            np.stencil(lambda a, out: a[0])

    def test_no_reads(self):
        with pytest.raises(np.CompileError, match="no accesses to relatively indexed arrays"):
            np.stencil(lambda a: 1.0)(np.zeros(3))


@np.stencil
def mean_of_four(a):
    return 0.25 * (a[-1, 0] + a[1, 0] + a[0, -1] + a[0, 1])


@np.stencil(cval=2)
def step(a, b, k):
    return a[1] - k * b[-1]


@np.stencil(neighborhood=((-3, -1),), standard_indexing=("weights",))
def earlier(a, weights):
    total = 0.0
    for i in range(3):
        total += weights[i] * a[-3 + i]
    return total


@np.jit
def calls_cross(a):
    return mean_of_four(a) + 1


@np.jit
def calls_cross_out(a, out):
    mean_of_four(a, out=out)
    return out


@np.jit
def calls_step(a, b, k):
    return step(a, b, k)


@np.jit
def calls_step_out(a, b, k, out):
    return step(a, b, k, out=out)


@np.jit
def calls_earlier(a, weights):
    return earlier(a, weights)


@np.jit
def calls_in_place(a):
    return step(a, a, 1, out=a)


def values(shape, dtype):
    return numpy.random.default_rng(10).integers(0, 100, shape).astype(dtype)


class TestInCompiledFunctions:
    def test_lists_read_by_standard_indexing(self):
        @np.jit
        def of_list(a, more):
            weights = [1.0, 2.0]
            weights.append(more)
            return convolved(a, weights), convolved(a, (1, 2, 4))

        a = np.array(values((30,), "float64"))
        expected = numpy.asarray(convolved(a, np.array([1.0, 2.0, 4.0])))
        for result in of_list(a, 4.0):
            numpy.testing.assert_array_equal(numpy.asarray(result), expected)
        result = np.jit(lambda a, weights: convolved(a, weights))(a, [1.0, 2.0, 4.0])
        numpy.testing.assert_array_equal(numpy.asarray(result), expected)

    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("shape", SHAPES_2)
    def test_as_outside(self, shape, dtype):
        a = np.array(values(shape, dtype))
        expected = numpy.asarray(mean_of_four(a))
        result = numpy.asarray(calls_cross(a))
        assert result.dtype == (expected + 1).dtype
        numpy.testing.assert_array_equal(result, expected + 1)

    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("shape", SHAPES_1)
    def test_several_arguments_and_a_border(self, shape, dtype):
        a, b = np.array(values(shape, dtype)), np.array(values(shape, dtype))[::-1]
        numpy.testing.assert_array_equal(
            numpy.asarray(calls_step(a, b, 3)), numpy.asarray(step(a, b, 3)), strict=True
        )

    @pytest.mark.parametrize("shape", SHAPES_1)
    def test_computed_indices(self, shape):
        a, weights = np.array(values(shape, "float64")), np.array([0.25, 0.5, 1.0])
        numpy.testing.assert_array_equal(
            numpy.asarray(calls_earlier(a, weights)), numpy.asarray(earlier(a, weights)), strict=True
        )

    def test_out_keeps_its_border(self):
        a = np.array(values((5, 6), "float64"))
        mine, theirs = np.full((5, 6), 9.0), np.full((5, 6), 9.0)
        calls_cross_out(a, mine)
        mean_of_four(a, out=theirs)
        numpy.testing.assert_array_equal(numpy.asarray(mine), numpy.asarray(theirs))

    def test_out_with_cval(self):
        a = np.arange(6.0)
        result = calls_step_out(a, a, 1, np.zeros(6))
        numpy.testing.assert_array_equal(numpy.asarray(result), [2, 2, 2, 2, 2, 2])

    def test_out_may_be_an_input(self):
        a = values((50,), "float64")
        expected = numpy.asarray(step(np.array(a), np.array(a), 1))
        given = np.array(a)
        calls_in_place(given)
        numpy.testing.assert_array_equal(numpy.asarray(given), expected)
        both = np.array(a)
        calls_step_out(both, both, 1, both)
        numpy.testing.assert_array_equal(numpy.asarray(both), expected)

    def test_out_may_be_a_part_of_an_input(self):
        a = np.array(values((60,), "float64"))
        expected = numpy.asarray(step(np.array(numpy.asarray(a)[:50]), np.array(numpy.asarray(a)[:50]), 1))
        result = calls_step_out(a[:50], a[:50], 1, a[5:55])
        numpy.testing.assert_array_equal(numpy.asarray(result), expected)

    def test_loops_are_parallel(self):
        assert ".chunk" in calls_cross._lowered((np.ones((4, 4)),), False)[0]

    def test_shapes(self):
        with pytest.raises(ValueError, match="smaller the same dimension"):
            calls_step(np.ones(5), np.ones(4), 1)
        with pytest.raises(ValueError, match="another shape"):
            calls_cross_out(np.ones((4, 4)), np.ones((4, 5)))

    def test_refusals_are_of_the_stencil(self):
        with pytest.raises(np.CompileError, match="1-dimensional, but 2 were indexed"):
            calls_cross(np.ones(5))
        loose = np.stencil(lambda a: a[int(a[0])])
        with pytest.raises(np.CompileError, match="not constant, 'neighborhood' option required"):
            np.jit(lambda a: loose(a))(np.ones(5))
        complex_border = np.stencil(cval=1j)(lambda a: a[1])
        with pytest.raises(np.CompileError, match="cval type does not match"):
            np.jit(lambda a: complex_border(a))(np.ones(5))

    def test_border_of_another_type(self):
        half = np.stencil(cval=1.5)(lambda a: a[1])
        assert half(np.arange(3)).tolist() == [1, 2, 1]
        assert np.jit(lambda a: half(a))(np.arange(3)).tolist() == [1, 2, 1]

    def test_parameters_of_any_name(self):
        @np.stencil
        def shifted(weft, dtype, element, border, result):
            return weft[1] * dtype + element[-1] * border + result

        a, b = np.arange(6.0), np.arange(6.0)[::-1]
        called = np.jit(lambda a, b: shifted(a, 2.0, b, 3.0, 4.0))
        assert called(a, b).tolist() == shifted(a, 2.0, b, 3.0, 4.0).tolist()
