"""ReductionKernel beside NumPy: axes, dtypes, identities, post-maps, outputs, orders, errors."""

import os
import subprocess
import sys

import numpy
import pytest
import weft as np

SUM = np.ReductionKernel("T x", "T out", "x", "a + b", "out = a", "0", "my_sum")


def _same(found, expected):
    found = numpy.asarray(found)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    numpy.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 1000, 5000, 100_003])
def test_small_integers_wrap_around(size):
    x = numpy.random.default_rng(size).integers(-128, 128, size, "b")
    _same(SUM(np.array(x)), x.sum(dtype="b"))
    _same(SUM(np.array(x) + np.int8(1)), (x + numpy.int8(1)).sum(dtype="b"))


@pytest.mark.parametrize(
    "shape", [(4, 1000), (1000, 4), (3, 4, 5), (2, 3, 4, 5), (300, 400), (70_000, 2), (1, 1)]
)
def test_axes(shape):
    x = numpy.random.default_rng(0).integers(-1000, 1000, shape)
    axes = [None, *range(len(shape)), *range(-len(shape), 0), (0, len(shape) - 1), tuple(range(len(shape)))]
    for axis in axes:
        if isinstance(axis, tuple) and len(set(axis)) < len(axis):
            continue
        for keepdims in (False, True):
            expected = numpy.asarray(x.sum(axis=axis, keepdims=keepdims))
            _same(SUM(np.array(x), axis=axis, keepdims=keepdims), expected)
            _same(SUM(np.array(x.T).T, axis=axis, keepdims=keepdims), expected)


@pytest.mark.parametrize("dtype", "b B h H i I q Q".split())
def test_dtypes(dtype):
    x = numpy.arange(1, 200).astype(dtype)
    _same(SUM(np.array(x)), x.sum(dtype=dtype))
    product = np.ReductionKernel("T x", "T y", "x", "a * b", "y = a", "1")
    _same(product(np.array(x)), x.prod(dtype=dtype))


@pytest.mark.parametrize("dtype", ["e", "f", "d", "F", "D"])
def test_floats(dtype):
    x = numpy.random.default_rng(0).normal(size=(50, 300))
    x = (x * (1 + 2j) if dtype in "FD" else x).astype(dtype)
    for axis in (None, 0, 1):
        expected = x.astype("D" if dtype in "FD" else "d").sum(axis)
        numpy.testing.assert_allclose(
            numpy.asarray(SUM(np.array(x), axis=axis)),
            expected,
            rtol=0.1 if dtype == "e" else 1e-3,
            atol=0.5 if dtype == "e" else 1e-3,
        )


def test_sums_are_those_of_weft():
    """The order is that of weft's own sums of the same elements."""
    x = numpy.random.default_rng(0).normal(size=(40, 5000))
    for axis in (0, 1, None):
        _same(SUM(np.array(x), axis=axis), numpy.asarray(np.sum(np.array(x), axis=axis)))


def test_the_parts():
    norm = np.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
    x = np.arange(10, dtype="f").reshape(2, 5)
    numpy.testing.assert_allclose(norm(x, axis=1), [5.477226, 15.9687195], rtol=1e-6)


def test_several_inputs_broadcast():
    distance = np.ReductionKernel(
        "T x, T y, float64 scale", "float64 d", "(x - y) * (x - y)", "a + b", "d = a * scale", "0"
    )
    x, y = numpy.arange(12.0).reshape(3, 4), numpy.arange(4.0)
    _same(distance(np.array(x), np.array(y), 0.5, axis=1), ((x - y) ** 2).sum(1) * 0.5)


def test_the_sizes_of_the_loops():
    mean = np.ReductionKernel(
        "T x", "T y", "x", "a + b", "y = a / (_in_ind.size() / _out_ind.size())", "0", "mean"
    )
    x = numpy.arange(12.0).reshape(3, 4)
    _same(mean(np.array(x), axis=0), x.mean(0))


def test_several_outputs():
    both = np.ReductionKernel("T x", "T y, float64 z", "x", "a + b", "y = a; z = a / 2.0", "0")
    y, z = both(np.arange(5))
    _same(y, numpy.array(10))
    _same(z, numpy.array(5.0))


def test_branches_in_what_combines():
    largest = np.ReductionKernel("T x", "T y", "x", "a > b ? a : b", "y = a", "-INFINITY", "largest")
    x = numpy.random.default_rng(0).normal(size=(30, 2000))
    for axis in (None, 0, 1):
        _same(largest(np.array(x), axis=axis), numpy.asarray(x.max(axis)))


def test_partial_results_of_another_type():
    kernel = np.ReductionKernel("int8 x", "int8 y", "x", "a + b", "y = a / 100", "0", reduce_type="long long")
    _same(
        kernel(np.full(1000, 100, "b")), numpy.array(1000 * 100 // 100 % 256 - 256 * (1000 % 256 > 127), "b")
    )


def test_no_elements():
    _same(SUM(np.zeros((0, 3)), axis=0), numpy.zeros(3))
    _same(SUM(np.zeros((0, 3)), axis=1), numpy.zeros(0))
    without = np.ReductionKernel("T x", "T y", "x", "a + b", "y = a", None, "nothing")
    with pytest.raises(
        ValueError, match="zero-size array to reduction operation nothing which has no identity"
    ):
        without(np.zeros(0))


def test_an_identity_counts_for_each_lane_alike():
    """What is no identity is combined as often, however the work is done."""
    x = np.ones(64)
    odd = np.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "1", "odd")
    assert odd(x) == odd(x + 0.0) == 64 + 32


def test_given_outputs():
    out = np.zeros(3)
    assert SUM(np.ones((3, 4)), out, axis=1) is out
    _same(out, numpy.full(3, 4.0))
    assert SUM(np.ones((3, 4)), axis=1, out=out) is out
    with pytest.raises(ValueError, match="Out shape is mismatched"):
        SUM(np.ones((3, 4)), out, axis=0)


def test_it_is_recorded_and_fused():
    x = np.arange(200_000.0) + 1
    norm = np.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "fused_norm")
    before = len(np.kernel_history())
    value = float(norm(x * 2) + 1)
    history = np.kernel_history()[before:]
    numpy.testing.assert_allclose(value, numpy.sqrt(((numpy.arange(200_000.0) + 1) ** 2 * 4).sum()) + 1)
    assert any("fused_norm_map" in one["name"] and "multiply" in one["name"] for one in history), history
    assert not any(one["fallback"] for one in history)


@pytest.mark.parametrize("setting", [{"WEFT_FUSE": "0"}, {"WEFT_TIER": "block"}, {"WEFT_NUM_THREADS": "1"}])
def test_other_ways_give_the_same_bits(setting, tmp_path):
    program = """
import numpy, weft as np
kernel = np.ReductionKernel("T x", "T y", "sin(x)", "a + b * (T)0.999", "y = a", "0", "bits")
numpy.random.seed(0)
parts = []
for shape in ((100, 700), (3, 30000), (70000,)):
    x = np.array(numpy.random.normal(size=shape))
    parts += [numpy.asarray(kernel(x, axis=axis)).tobytes() for axis in (None, 0)]
print(b"".join(parts).hex())
"""
    run = [sys.executable, "-c", program]
    outputs = [
        subprocess.run(run, env=os.environ | one, check=True, capture_output=True).stdout
        for one in ({}, setting)
    ]
    assert outputs[0] == outputs[1]


class TestErrors:
    def test_names(self):
        with pytest.raises(ValueError, match="Invalid kernel name"):
            np.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", name="1")
        with pytest.raises(ValueError, match="no outputs"):
            np.ReductionKernel("T x", "", "x", "a + b", "", "0")

    @pytest.mark.parametrize("axis", [2, (-3,), (0, 7)])
    def test_axes_out_of_bounds(self, axis):
        with pytest.raises(np.exceptions.AxisError):
            SUM(np.ones((2, 2)), axis=axis)

    @pytest.mark.parametrize("axis", [(1, 1), (0, -2)])
    def test_axes_given_twice(self, axis):
        with pytest.raises(ValueError, match="duplicate"):
            SUM(np.ones((2, 2)), axis=axis)

    @pytest.mark.parametrize(
        ("parts", "where"),
        [
            (("x +", "a + b", "y = a"), "the map expression of wrong, line 1"),
            (("x", "a + c", "y = a"), "the reduction expression of wrong, line 1: the name 'c'"),
            (("x", "a + b", "y = b"), "the post-map expression of wrong, line 1: the name 'b'"),
            (("i", "a + b", "y = a"), "the name 'i' is not known"),
        ],
    )
    def test_places(self, parts, where):
        with pytest.raises(np.CompileError, match=where):
            np.ReductionKernel("T x", "T y", *parts, "0", "wrong")(np.ones(3))

    def test_the_identity(self):
        with pytest.raises(np.CompileError, match="the identity of wrong"):
            np.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "zero", "wrong")(np.ones(3))


def test_codes_are_kept_by_dtype():
    kernel = np.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", name="cached")
    assert len(kernel._cached_codes) == 0
    x = np.arange(10)
    kernel(x)
    kernel(x)
    assert len(kernel._cached_codes) == 1
    kernel(x.astype("f"))
    assert len(kernel._cached_codes) == 2


def test_arrays_of_the_preamble():
    preamble = "__constant__ double weights[2] = {1, 2};"
    kernel = np.ReductionKernel(
        "T x", "T y", "x * weights[1]", "a + b", "y = a", "0", "weighted", preamble=preamble
    )
    assert kernel(np.arange(4.0)) == 12
