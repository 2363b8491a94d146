"""Kernels in C++ outside of weft's subset: by NVRTC on a GPU, an error on a CPU."""

import numpy
import pytest
import weft as np

LAMBDA = np.ElementwiseKernel(
    "T x, T k", "T y", "auto f = [&](T v) -> T { return v * k; };\ny = f(x);", "by_lambda"
)


def _same(found, expected):
    found = numpy.asarray(found)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    numpy.testing.assert_array_equal(found, expected)


@pytest.fixture
def on_gpu(device):
    if device == "cpu":
        pytest.skip("of GPUs")


@pytest.fixture
def on_cpu(device):
    if device != "cpu":
        pytest.skip("of CPUs")


def test_on_a_cpu_it_is_an_error_with_the_place(on_cpu):
    with pytest.raises(np.CompileError, match="the operation of by_lambda, line 1: ") as raised:
        LAMBDA(np.arange(3), 2)
    assert str(raised.value).splitlines()[-1].strip() == "^"


@pytest.mark.usefixtures("on_gpu")
class TestElements:
    @pytest.mark.parametrize("dtype", "? b B h H i I q Q f d".split())
    def test_dtypes(self, dtype):
        x = numpy.arange(5000).astype(dtype)
        _same(LAMBDA(np.array(x), 3), x * numpy.array(3, dtype))

    def test_it_is_counted_with_the_reason(self):
        np.clear_fallbacks()
        LAMBDA(np.arange(3), 2)
        LAMBDA(np.arange(3), 2)
        (row,) = [row for row in np.fallback_report() if "by_lambda" in row["function"]]
        assert row["calls"] == 2
        assert "NVRTC compiles it" in row["reason"] and "the operation of by_lambda, line 1" in row["reason"]

    def test_layouts_and_broadcasting(self):
        x = numpy.arange(12).reshape(3, 4)
        y = np.zeros((4, 6), "q")
        LAMBDA(np.array(x).T, np.array([1, 10, 100]), y[:, ::2])
        _same(y[:, ::2], x.T * [1, 10, 100])
        _same(y[:, 1::2], numpy.zeros((4, 3), "q"))
        _same(LAMBDA(np.zeros((0, 3)), 2), numpy.zeros((0, 3)))

    def test_outputs_are_read_and_written(self):
        more = np.ElementwiseKernel("T x", "T y", "auto add = [&](T v) { y += v; }; add(x);", "more")
        y = np.arange(4.0)
        later = y * 2
        assert more(np.ones(4), y) is y
        _same(y, numpy.arange(4.0) + 1)
        _same(later, numpy.arange(4.0) * 2)

    def test_raw_arrays(self):
        kernel = np.ElementwiseKernel(
            "raw T x, int32 width",
            "raw T y, T z",
            "switch (i % 2) { case 0: y[i] = x[n - 1 - i]; break; default: y[i] = x.size() * 100 + x.shape()[1]; }"
            "z = width + x.ndim + _ind.size();",
            "switched",
        )
        x, y, z = numpy.arange(6.0).reshape(2, 3), np.zeros(6), np.zeros(6)
        kernel(np.array(x), 7, y, z)
        _same(y, numpy.array([5, 603, 3, 603, 1, 603.0]))
        _same(z, numpy.full(6, 7 + 2 + 6.0))

    def test_code_around_the_loop_and_options(self):
        kernel = np.ElementwiseKernel(
            "T x",
            "T y",
            "y = x + shift + MORE",
            "shifted",
            loop_prep="const T shift = 3;",
            options=("-DMORE=10",),
        )
        _same(kernel(np.arange(3)), numpy.arange(3) + 13)

    def test_the_preamble(self):
        kernel = np.ElementwiseKernel(
            "T x",
            "T y",
            "Two<T> t{x, 1}; y = t.sum();",
            "structures",
            preamble="template <class T> struct Two { T a, b; __device__ T sum() const { return a + b; } };",
        )
        _same(kernel(np.arange(3.0)), numpy.arange(3.0) + 1)

    def test_complex_numbers(self):
        kernel = np.ElementwiseKernel(
            "T x", "T y", "auto f = [](const T& v) { return v * conj(v) + T(1, 2); }; y = f(x);", "conjugates"
        )
        x = numpy.array([1 + 2j, 3 - 1j])
        numpy.testing.assert_allclose(kernel(np.array(x)), x * x.conj() + (1 + 2j))

    def test_block_sizes(self):
        _same(LAMBDA(np.arange(1000), 2, block_size=33), numpy.arange(1000) * 2)

    def test_what_the_compiler_refuses(self):
        kernel = np.ElementwiseKernel("T x", "T y", "y = x;\ny = undeclared(x);", "refused")
        with pytest.raises(np.CompileError, match="undeclared") as raised:
            kernel(np.arange(3))
        assert "the operation of refused" in str(raised.value)
        assert "NVRTC compiles it, since: the operation of refused, line 2" in str(raised.value)


@pytest.mark.usefixtures("on_gpu")
class TestReductions:
    LARGEST = np.ReductionKernel(
        "T x",
        "int64 y",
        "Best(x, _J)",
        "better(a, b)",
        "y = a.index",
        "",
        "largest_at",
        reduce_type="Best",
        preamble="""
            struct Best {
                double value;
                long long index;
                __device__ Best() : value(-INFINITY), index(-1) {}
                __device__ Best(double v, long long k) : value(v), index(k) {}
            };
            __device__ Best better(const Best& a, const Best& b) {
                if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
                return a.value > b.value || (a.value == b.value && a.index < b.index) ? a : b;
            }
        """,
    )

    @pytest.mark.parametrize("shape", [(1,), (1000,), (7, 300), (300, 7), (3, 4, 5)])
    def test_structures(self, shape):
        x = numpy.random.default_rng(0).integers(0, 50, shape).astype("d")
        for axis in (None, *range(len(shape))):
            _same(self.LARGEST(np.array(x), axis=axis), numpy.asarray(x.argmax(axis)))

    def test_options_of_calls(self):
        x = numpy.random.default_rng(0).normal(size=(4, 5, 6))
        kernel = np.ReductionKernel("T x", "T y", "*&x", "a > b ? a : b", "y = a", "-INFINITY", "maximum_of")
        for axis in (None, 1, (0, 2), -1):
            for keepdims in (False, True):
                expected = numpy.asarray(x.max(axis, keepdims=keepdims))
                _same(kernel(np.array(x), axis=axis, keepdims=keepdims), expected)
                out = np.zeros(expected.shape)
                assert kernel(np.array(x), out, axis=axis, keepdims=keepdims) is out
                _same(out, expected)
        with pytest.raises(ValueError, match="Out shape is mismatched"):
            kernel(np.array(x), np.zeros(3))

    def test_raw_arguments(self):
        kernel = np.ReductionKernel(
            "T x, raw T weights", "T y", "x * weights[_J]", "a + b", "y = a", "0", "weighted"
        )
        x, weights = numpy.arange(12.0).reshape(4, 3), numpy.array([1.0, 10, 100, 1000])
        _same(kernel(np.array(x), np.array(weights), axis=0), (x * weights[:, None]).sum(0))

    def test_it_is_counted(self):
        np.clear_fallbacks()
        self.LARGEST(np.arange(3.0))
        assert [row for row in np.fallback_report() if "largest_at" in row["function"]]

    def test_no_elements(self):
        with pytest.raises(ValueError, match="zero-size array to reduction operation largest_at"):
            self.LARGEST(np.zeros((0, 3)), axis=0)
        _same(self.LARGEST(np.zeros((3, 0)), axis=0), numpy.zeros(0, "q"))


def test_raw_arguments_of_reductions_are_refused_on_a_cpu(on_cpu):
    kernel = np.ReductionKernel("T x, raw T w", "T y", "x * w[0]", "a + b", "y = a", "0", "weighted")
    with pytest.raises(NotImplementedError, match="'w' of weighted"):
        kernel(np.ones(3), np.ones(3))
