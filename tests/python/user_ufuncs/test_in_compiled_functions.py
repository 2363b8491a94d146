"""Ufuncs of vectorize and guvectorize in functions of weft.jit, against the same calls outside."""

import numpy
import pytest
import weft as np
from weft.numba import guvectorize as numba_guvectorize
from weft.numba import stencil as numba_stencil
from weft.numba import vectorize as numba_vectorize


@np.vectorize(["float32(float32, float32)", "float64(float64, float64)"], identity=0)
def longer(x, y):
    return (x * x + y * y) ** 0.5


@np.vectorize(nopython=True)
def less(x, y):
    return x - y


@np.vectorize(nopython=True, identity="reorderable")
def larger(x, y):
    return x if x > y else y


@np.vectorize(["float64(float64, int64)"])
def scaled(x, n):
    return x * n + 0.5


@np.vectorize(["int64(int64)", "float64(float64)"])
def negated(x):
    return -x


@numba_vectorize
def counted(x, y):
    return x + y + 1


def same(got, wanted):
    got, wanted = numpy.asarray(got), numpy.asarray(wanted)
    assert got.dtype == wanted.dtype
    numpy.testing.assert_allclose(got, wanted, rtol=1e-6)


class TestCalls:
    def test_signatures_decide_the_types(self):
        @np.jit
        def inside(a, b):
            return longer(a, b), longer(a[0], b[0])

        for dtype in ("int8", "int64", "float32", "float64"):
            a = numpy.arange(1, 4).astype(dtype)
            whole, one = inside(a, a[::-1])
            same(whole, longer(a, a[::-1]))
            same(one, longer(a[0], a[2]))

    def test_types_without_loop(self):
        @np.jit
        def inside(a):
            return negated(a)

        with pytest.raises(np.CompileError, match="ufunc 'negated' not supported for the input types"):
            inside(numpy.zeros(2, "complex128"))

    def test_out(self):
        @np.jit
        def inside(a, b, c):
            less(a, b, c)
            less(a[1:], 1, out=a[:-1])

        a, b, c = numpy.arange(5.0), numpy.ones(5), numpy.zeros((2, 5))
        inside(a, b, c)
        assert c.tolist() == [[-1, 0, 1, 2, 3]] * 2
        assert a.tolist() == [0, 1, 2, 3, 4]
        with pytest.raises(ValueError):
            inside(numpy.arange(5.0), b, numpy.zeros((2, 4)))

    def test_of_numba(self):
        @np.jit
        def inside(a):
            return counted(a, 1), counted.reduce(a), counted.nin, counted.identity

        whole, total, inputs, identity = inside(numpy.arange(4))
        assert whole.tolist() == [2, 3, 4, 5]
        assert (total, inputs, identity) == (9, 2, None)


class TestMethods:
    def test_reduce(self):
        @np.jit
        def inside(a, axis):
            return (
                less.reduce(a, axis),
                larger.reduce(a, axis, keepdims=True),
                less.reduce(a, axis, initial=10),
            )

        for dtype in ("int8", "int64", "float32", "float64"):
            a = numpy.random.default_rng(1).integers(0, 9, (3, 4, 2)).astype(dtype)
            for axis in (0, 1, -1):
                got = inside(a, axis)
                same(got[0], less.reduce(a, axis))
                same(got[1], larger.reduce(a, axis, keepdims=True))
                wide = a.astype("int64") if a.dtype.kind == "i" else a
                same(got[2], numpy.subtract.reduce(wide, axis, initial=10))

    def test_types_of_folds(self):
        @np.jit
        def inside(a):
            return longer.reduce(a), scaled.reduce(a), counted.reduce(a)

        for dtype in ("int32", "int64"):
            a = numpy.arange(1, 6).astype(dtype)
            got = inside(a)
            same(got[0], longer.reduce(a))
            same(got[1], (((1.0 * 2 + 0.5) * 3 + 0.5) * 4 + 0.5) * 5 + 0.5)
            same(got[2], counted.reduce(a))

    def test_identity(self):
        @np.jit
        def inside(a):
            return longer.reduce(a)

        assert inside(numpy.zeros(0)) == 0.0
        assert inside(numpy.zeros((0, 2))).tolist() == [0.0, 0.0]
        with pytest.raises(
            ValueError, match="zero-size array to reduction operation larger which has no identity"
        ):
            np.jit(lambda a: larger.reduce(a), source="lambda a: larger.reduce(a)")(numpy.zeros(0))

    def test_several_axes(self):
        @np.jit
        def inside(a, axes):
            return larger.reduce(a, axes)

        a = numpy.random.default_rng(1).random((2, 3, 4))
        for axes in ((0, 1), (2, 0), (-1, -2)):
            same(inside(a, axes), a.max(axes))
        same(inside(a, None), a.max())

        @np.jit
        def in_order(a):
            return less.reduce(a, axis=(0, 1))

        with pytest.raises(np.CompileError, match="'less' is not reorderable, so at most one axis"):
            in_order(a)

    def test_others(self):
        @np.jit
        def inside(a, places):
            less.at(a, places, 2)
            return less.accumulate(a), less.reduceat(a, places), less.outer(a, a), negated(a)

        a = numpy.arange(5)
        places = numpy.array([0, 3, 0])
        b = a.copy()
        numpy.subtract.at(b, places, 2)
        got = inside(a, places)
        same(a, b)
        same(got[0], less.accumulate(b))
        same(got[1], less.reduceat(b, places))
        same(got[2], less.outer(b, b))

    def test_several_axes_outside(self):
        a = numpy.random.default_rng(1).random((2, 3, 4))
        same(larger.reduce(np.asarray(a), axis=(0, 2)), a.max((0, 2)))
        with pytest.raises(ValueError, match="'less' is not reorderable"):
            less.reduce(np.asarray(a), axis=(0, 1))

    def test_at_of_numba(self):
        @numba_vectorize
        def next_to(x):
            return x + 1

        a = numpy.arange(4)
        next_to.at(a, [0, 0, 2])
        assert a.tolist() == [2, 1, 3, 3]

    def test_at_compiles(self):
        @np.vectorize(nopython=True)
        def increased(x):
            return x + 1

        a = np.arange(4)
        increased.at(a, [1, 3, 1])
        assert a.tolist() == [0, 3, 2, 4]

    def test_a_changed_identity_is_compiled_again(self):
        @np.jit
        def inside(a):
            return folded.reduce(a)

        global folded
        folded = np.vectorize(nopython=True, identity=0)(lambda x, y: x + y)
        assert inside(numpy.zeros(0)) == 0
        folded = np.vectorize(nopython=True, identity=1)(lambda x, y: x + y)
        assert inside(numpy.zeros(0)) == 1


@np.guvectorize(["void(float64[:], int64, float64[:])"], "(n),()->(n)")
def moving(a, window, out):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
        if i >= window:
            total -= a[i - window]
        out[i] = total / min(i + 1, window)


@np.guvectorize("(m,n),(n,p)->(m,p)")
def product(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0 * a[0, 0]
            for k in range(b.shape[0]):
                total += a[i, k] * b[k, j]
            out[i, j] = total


@np.guvectorize(["float64[:], float64[:], float64[:]"], "(n)->(),()")
def extremes(a, low, high):
    low[0] = a.min()
    high[0] = a.max()


@np.guvectorize(["float64[:], float64"], "(n)->()")
def middle(a):
    return a[len(a) // 2]


@np.guvectorize(["int64[:], int64[:], int64[:]"], "(n),()->(n)")
def checked(a, most, out):
    for i in range(len(a)):
        if a[i] > most[0]:
            raise ValueError("too large")
        out[i] = a[i]


@numba_guvectorize(["(float64[:], float64[:])"], "(n)->(n)")
def doubled(a, out):
    for i in range(len(a)):
        out[i] = 2 * a[i]


class TestGeneralized:
    def test_results(self):
        @np.jit
        def inside(a, window):
            return moving(a, window)

        for a in (
            numpy.arange(6.0),
            numpy.arange(24.0).reshape(2, 3, 4),
            numpy.arange(24.0).reshape(4, 6).T,
            numpy.arange(5),
        ):
            same(inside(a, 2), moving(a, 2))
        windows = numpy.array([[1], [2]])
        a = numpy.arange(12.0).reshape(3, 4)
        same(inside(a, windows), moving(a, windows))

    def test_given_results(self):
        @np.jit
        def inside(a, b, out):
            product(a, b, out)

        for dtype in ("int32", "int64", "float32", "float64", "complex128"):
            a = numpy.arange(24).reshape(2, 3, 4).astype(dtype)
            b = numpy.arange(8).reshape(4, 2).astype(dtype)
            out = numpy.zeros((2, 3, 2), dtype)
            inside(a, b, out)
            same(out, a @ b)

    def test_several_results(self):
        @np.jit
        def inside(a):
            low, high = extremes(a)
            return low, high

        a = numpy.random.default_rng(0).random((3, 4))
        low, high = inside(a)
        same(low, a.min(1))
        same(high, a.max(1))
        assert inside(a[0]) == (a[0].min(), a[0].max())

    def test_functions_that_return(self):
        @np.jit
        def inside(a):
            return middle(a)

        a = numpy.arange(12.0).reshape(4, 3)
        same(inside(a), a[:, 1])
        assert inside(a[0]) == 1.0

    def test_results_over_arguments(self):
        @np.jit
        def inside(a):
            moving(a[:, ::-1], 2, a)

        a = numpy.arange(12.0).reshape(3, 4)
        wanted = numpy.asarray(moving(a[:, ::-1].copy(), 2))
        inside(a)
        same(a, wanted)

    def test_results_of_another_dtype(self):
        @np.jit
        def inside(a, out):
            return moving(a, 2, out=out)

        a, out = numpy.arange(4.0), numpy.zeros(4, "float32")
        assert inside(a, out) is not None
        same(out, moving(a, 2).astype("float32"))
        with pytest.raises(np.CompileError, match="Cannot cast ufunc 'moving' output from float64 to int64"):
            inside(a, numpy.zeros(4, "int64"))

    def test_of_numba(self):
        @np.jit
        def inside(a):
            return doubled(a)

        assert inside(numpy.arange(3.0)).tolist() == [0.0, 2.0, 4.0]

    def test_errors_of_the_function(self):
        @np.jit
        def inside(a, most):
            try:
                return checked(a, most)
            except ValueError:
                return a - 1

        a = numpy.arange(6).reshape(2, 3)
        assert inside(a, 5).tolist() == a.tolist()
        assert inside(a, 4).tolist() == (a - 1).tolist()
        with pytest.raises(ValueError, match="too large"):
            np.jit(lambda a: checked(a, 1), source="lambda a: checked(a, 1)")(a)

    def test_sizes_are_checked(self):
        @np.jit
        def inside(a, b, out):
            product(a, b, out)

        a, b = numpy.ones((2, 3)), numpy.ones((4, 2))
        with pytest.raises(
            ValueError,
            match=r"product: Input operand 1 has a mismatch in its core dimension 0 \(n\), with gufunc signature "
            r"\(m,n\),\(n,p\)->\(m,p\) \(size 4 is different from 3\)",
        ):
            inside(a, b, numpy.ones((2, 2)))
        with pytest.raises(
            ValueError, match=r"Output operand 0 has a mismatch in its core dimension 1 \(p\)"
        ):
            inside(a, b[:3], numpy.ones((2, 3)))
        with pytest.raises(ValueError, match="broadcast"):
            inside(numpy.ones((2, 2, 3)), numpy.ones((3, 3, 2)), numpy.ones((2, 2, 2)))
        with pytest.raises(ValueError, match="broadcast"):
            inside(numpy.ones((2, 2, 3)), b[:3], numpy.ones((3, 2, 2)))

    @pytest.mark.parametrize(
        "call, text",
        [
            ("product(a[0], a, a)", "Input operand 0 does not have enough dimensions .has 1, .* requires 2"),
            ("product(a, a)", "has no signatures, so the types of its results are not known here"),
            ("product(a)", "product expected .* arguments, got 1"),
            ("product(a, a, a, a)", "product expected .* arguments, got 4"),
            ("product(a, a, 1.0)", "out is an array"),
            ("product(a, a, axis=0)", "unexpected keyword"),
            ("moving(a, 2.5)", "ufunc 'moving' not supported for the input types"),
            ("moving.reduce(a)", "has no reduce"),
        ],
    )
    def test_refused(self, call, text):
        function = f"lambda a: {call}"
        with pytest.raises(np.CompileError, match=text):
            np.jit(eval(function), source=function)(numpy.ones((2, 2)))

    def test_facts(self):
        @np.jit
        def inside():
            return product.nin, product.nout, product.signature

        assert inside() == (2, 1, "(m,n),(n,p)->(m,p)")


def weighted_by(k):
    def f(x):
        return np.stencil(lambda a: k * (a[-1] + a[1]), cval=-1)(x)

    return f


def stencil_of_inner_function(x):
    def mean(a, s):
        return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0]) + s

    out = np.zeros(x.shape)
    np.stencil(mean)(x, 2.0, out=out)
    return out


def decorated_as_numba(x):
    @numba_stencil
    def before(a):
        return a[-1]

    return before(x)


def decorated_inside(x):
    @np.stencil(cval=7.0)
    def difference(a):
        return a[1] - a[-1]

    return difference(x)


WEIGHT = 3


def weighted(x):
    return np.stencil(lambda a: WEIGHT * a[-1])(x)


def test_stencils_that_are_made_where_they_are_called(monkeypatch):
    x = numpy.arange(12.0)
    for k in (3, 4):  # of the same code
        f = weighted_by(k)
        assert np.jit(f)(x).tolist() == f(x).tolist()
    a = x.reshape(3, 4)
    assert np.jit(stencil_of_inner_function)(a).tolist() == stencil_of_inner_function(a).tolist()
    assert np.jit(decorated_as_numba)(x).tolist() == decorated_as_numba(x).tolist()
    assert np.jit(decorated_inside)(x).tolist() == decorated_inside(x).tolist()
    f = np.jit(weighted)
    assert f(x).tolist() == weighted(x).tolist()
    monkeypatch.setitem(globals(), "WEIGHT", 5)
    assert f(x).tolist() == weighted(x).tolist()


def test_a_stencil_that_is_made_of_a_variable_is_refused():
    def f(x, n):
        return np.stencil(lambda a: n * a[0])(x)

    with pytest.raises(np.CompileError, match="'n' is a variable"):
        np.jit(f)(numpy.arange(3.0), 2)
