"""Products of float32 on GPUs by the units for matrices, in parts of bfloat16: as exact as float32."""

import numpy
import pytest
import weft as np
from on_gpu import ON_FAKE_DRIVER, gpu, needs_gpu

pytestmark = needs_gpu

# Rows, columns, depth of results that have one round of the small tiles, with whole tiles and without; and of larger
# ones, that warpgroups multiply or, where neighbours do not come in fours or the depth is small, warps.
SMALL = [(32, 32, 64), (16, 16, 32), (64, 32, 200), (33, 47, 65), (17, 62, 33), (64, 64, 129)]
LARGE = [(256, 128, 192), (200, 124, 200), (200, 127, 70), (256, 128, 128), (200, 124, 198), (512, 128, 256)]
if not ON_FAKE_DRIVER:
    LARGE = [(1408, 640, 192), (1400, 636, 200), (1400, 637, 70), (1408, 640, 128), (1400, 636, 198)]
    LARGE.append((2816, 768, 1024))
WARPGROUP = LARGE[0]


def inside(values):
    """The values as part of an array whose rows begin at multiples of 16 bytes."""
    around = numpy.full((values.shape[0], -(-values.shape[1] // 4) * 4), numpy.nan, "f4")
    around[:, : values.shape[1]] = values
    return gpu(around)[:, : values.shape[1]]


def as_factor(values, transposed):
    return inside(values.T.copy()).T if transposed else inside(values)


def product(left, right, transposed=(False, False)):
    np.clear_kernel_history()
    result = as_factor(left, transposed[0]) @ as_factor(right, transposed[1])
    result = numpy.asarray(result.to_device("cpu"))
    assert [each["name"].split()[0] for each in np.kernel_history()] == ["product_in_parts"]
    return result


def factors(rows, columns, depth):
    draw = numpy.random.default_rng([rows, columns, depth])
    return draw.standard_normal((rows, depth)).astype("f4"), draw.random((depth, columns)).astype("f4")


def error(result, left, right):
    """In parts of 2^-24 of the sum of the products' sizes."""
    exact = left.astype("f8") @ right.astype("f8")
    return (abs(result - exact) / (abs(left).astype("f8") @ abs(right).astype("f8"))).max() * 2**24


@pytest.mark.parametrize("transposed", [(0, 0), (0, 1), (1, 0), (1, 1)], ids=["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("shape", SMALL + LARGE, ids=str)
def test_errors_are_those_of_float32(shape, transposed):
    left, right = factors(*shape)
    assert error(product(left, right, transposed), left, right) < 4  # cuBLAS: 2 to 7, by the same measure


def test_a_batch():
    left = numpy.random.default_rng(1).standard_normal((3, 20, 36)).astype("f4")
    right = numpy.random.default_rng(2).standard_normal((3, 36, 24)).astype("f4")
    np.clear_kernel_history()
    result = numpy.asarray((gpu(left) @ gpu(right)).to_device("cpu"))
    assert [each["name"] for each in np.kernel_history()] == ["product_in_parts 3*20x36@36x24"]
    for k in range(3):
        assert error(result[k], left[k], right[k]) < 4


@pytest.mark.parametrize("shape", [(64, 64), WARPGROUP[:2]], ids=str)
def test_products_with_the_unit_matrix_are_the_factor(shape):
    values = numpy.random.default_rng(shape).standard_normal(shape).astype("f4")
    left_one, right_one = (numpy.eye(extent, dtype="f4") for extent in shape)
    assert numpy.array_equal(product(values, right_one), values)
    assert numpy.array_equal(product(left_one, values), values)


def test_what_float32_has_exactly_is_exact():
    draw = numpy.random.default_rng(3)
    for bound in (2, 100, 700):  # sums of 32 products stay below 2^24
        left = draw.integers(-bound, bound, (32, 32)).astype("f4")
        right = draw.integers(-bound, bound, (32, 64)).astype("f4")
        assert numpy.array_equal(product(left, right), left @ right)
    left, right = numpy.zeros((32, 32), "f4"), numpy.zeros((32, 32), "f4")
    left[:, 5] = draw.integers(2**22, 2**24, 32)
    right[5] = draw.integers(-2, 2, 32) / 2
    assert numpy.array_equal(product(left, right), left @ right)


def test_rounds_that_leave_most_of_the_gpu_idle_are_the_librarys():
    """One round of tiles and a bit; two whole ones are among the shapes above."""
    rows = 5 * 64 if ON_FAKE_DRIVER else 133 * 64
    np.clear_kernel_history()
    np.eval(gpu(numpy.zeros((rows, 192), "f4")) @ gpu(numpy.zeros((192, 128), "f4")))
    assert not any(each["name"].startswith("product_in_parts") for each in np.kernel_history())


@pytest.mark.parametrize("shape", [(64, 64, 64), WARPGROUP], ids=str)
def test_what_is_not_finite_and_what_is_nearly_so(shape):
    left, right = factors(*shape)
    left[3, 5], left[7, 0], right[9, 40] = numpy.inf, numpy.nan, -numpy.inf
    right[5, 9] = 0
    left[20] = 3.4028235e38  # would be infinite in 16 bits
    right[:, 21] = 1e-3
    left[33], right[:, 34] = 1e20, 1e20
    with numpy.errstate(all="ignore"):
        want = left @ right
    result = product(left, right)
    assert numpy.array_equal(numpy.isnan(result), numpy.isnan(want))
    assert numpy.array_equal(numpy.isinf(result), numpy.isinf(want))
    finite = numpy.isfinite(want)
    with numpy.errstate(all="ignore"):
        scale = (abs(left).astype("f8") @ abs(right).astype("f8"))[finite]
    assert (abs(result[finite] - want[finite].astype("f8")) <= 1e-5 * scale).all()


@pytest.mark.parametrize(("small", "large"), [(1e-40, 1e20), (1e-38, 1e20), (1e-35, 1e10), (1e-31, 1.0)])
@pytest.mark.parametrize("shape", [(32, 32, 64), WARPGROUP], ids=str)
def test_numbers_near_the_smallest_keep_their_bits(shape, small, large):
    left, right = factors(*shape)
    left, right = (left * small).astype("f4"), (right * large).astype("f4")
    # The ordinary way is a chain of additions: half a unit each at most.
    assert error(product(left, right), left, right) < shape[2] / 2


def test_others_are_the_librarys():
    left, right = factors(64, 64, 64)
    unaligned = gpu(numpy.zeros((64, 65), "f4"))[:, 1:]
    for a, b in [
        (unaligned, gpu(right)),
        (gpu(left[:2]), gpu(right)),
        (gpu(left.astype("f8")), gpu(right.astype("f8"))),
    ]:
        np.clear_kernel_history()
        np.eval(a @ b)
        assert not any(each["name"].startswith("product_in_parts") for each in np.kernel_history())
    with np.config(allow_tf32=True):
        np.clear_kernel_history()
        np.eval(gpu(left) @ gpu(right))
        assert not any(each["name"].startswith("product_in_parts") for each in np.kernel_history())


def test_what_follows_a_large_product_is_a_kernel_of_its_own():
    """Warpgroups gain more than a library's epilogue saves; small products keep it."""
    for shape, alone in ((WARPGROUP, True), ((64, 64, 64), False)):
        left, right = factors(*shape)
        bias = numpy.linspace(0, 1, shape[1], dtype="f4")
        np.clear_kernel_history()
        result = gpu(left) @ gpu(right) + gpu(bias)
        result = numpy.asarray(result.to_device("cpu"))
        names = [each["name"].split()[0] for each in np.kernel_history()]
        assert (names[0] == "product_in_parts") == alone
        assert len(names) == 1 + alone
        exact = left.astype("f8") @ right.astype("f8") + bias
        scale = abs(left).astype("f8") @ abs(right).astype("f8") + bias
        assert (abs(result - exact) / scale).max() * 2**24 < 8
