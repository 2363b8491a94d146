"""Arrays on GPUs whose rows begin anywhere: slices of small elements, stencils, what is written in place. All of it
holds on the fake driver too; what it is about shows on a GPU, where kernels read such rows in words."""

import numpy
import pytest
import weft as np
from on_gpu import gpu, needs_gpu, on_cpu  # noqa: F401

pytestmark = needs_gpu

SMALL = ["int8", "uint8", "int16", "uint16", "bool", "float16"]
CHOOSE = numpy.random.default_rng(8)


def numbers(shape, dtype):
    if dtype == "bool":
        return CHOOSE.integers(0, 2, shape).astype(bool)
    if dtype == "float16":
        return CHOOSE.integers(-40, 40, shape).astype("float16") / 8
    limits = numpy.iinfo(dtype)
    return CHOOSE.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def expect(result, expected):
    result = numpy.asarray(result.to_device("cpu"))
    assert result.dtype == expected.dtype
    numpy.testing.assert_array_equal(result, expected)


def mixed(dtype, a, b, c):
    if dtype == "bool":
        return (a ^ b) | c
    return a + b - c if dtype == "float16" else a * 3 + b - c


@pytest.mark.parametrize("dtype", SMALL)
def test_three_views_that_begin_anywhere(dtype):
    """Every pair of misalignments of what is read, and every misalignment of what is written."""
    x = numbers(400, dtype)
    on_gpu = gpu(x)
    for shift in range(17):
        for other in (0, 1, 5, 8, 15, 16):
            n = 300
            expected = mixed(dtype, x[shift : shift + n], x[other : other + n], x[3 : 3 + n])
            views = on_gpu[shift : shift + n], on_gpu[other : other + n], on_gpu[3 : 3 + n]
            expect(mixed(dtype, *views), expected)
        target, on_target = x.copy(), gpu(x)
        target[shift : shift + 300] = mixed(dtype, x[:300], x[7:307], x[90:390])
        on_target[shift : shift + 300] = mixed(dtype, on_gpu[:300], on_gpu[7:307], on_gpu[90:390])
        expect(on_target, target)


@pytest.mark.parametrize("dtype", SMALL)
def test_rows_of_every_length(dtype):
    x = numbers((9, 60), dtype)
    on_gpu = gpu(x)
    for n in range(1, 41):
        for shift in (0, 1, 2, 7, 13):
            rows = [slice(shift, shift + n), slice(3, 3 + n), slice(60 - n, 60)]
            expect(
                mixed(dtype, *(on_gpu[:, row] for row in rows)), mixed(dtype, *(x[:, row] for row in rows))
            )


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("width", [47, 48, 61, 64, 337])
def test_stencils_of_rows_of_every_misalignment(dtype, width):
    x = numbers((23, width), dtype)
    around = [(i, j) for i in range(3) for j in range(3)]

    def smooth(x):
        total = x[:-2, :-2]
        for i, j in around[1:]:
            view = x[i : x.shape[0] - 2 + i, j : x.shape[1] - 2 + j]
            total = total ^ view if dtype == "bool" else total + view
        return total if dtype in ("bool", "float16") else total // 9

    expect(smooth(gpu(x)), smooth(x))
    # In place, of what is written and of what is read elsewhere.
    y, on_gpu = x.copy(), gpu(x)
    for _ in range(3):
        y[1:-1, 1:-1] = smooth(y.copy())
        on_gpu[1:-1, 1:-1] = smooth(on_gpu)
    expect(on_gpu, y)


@pytest.mark.parametrize("dtype", SMALL)
def test_what_is_computed_in_place_keeps_its_neighbours(dtype):
    x = numbers((31, 77), dtype)
    for window in (numpy.s_[:, 1:-1], numpy.s_[1:-1, 5:], numpy.s_[::2, 3:40], numpy.s_[2:3, 9:10]):
        y, on_gpu = x.copy(), gpu(x)
        one = numpy.ones((), dtype)
        if dtype == "bool":
            y[window] ^= one
            on_gpu[window] ^= np.asarray(one)
        else:
            y[window] += one
            on_gpu[window] += np.asarray(one)
        expect(on_gpu, y)


@pytest.mark.parametrize("dtype", SMALL)
def test_reversed_strided_and_broadcast_operands_beside_unaligned_ones(dtype):
    x, row, column = numbers((12, 90), dtype), numbers(90, dtype), numbers((12, 1), dtype)
    a, b, c = gpu(x), gpu(row), gpu(column)
    expect(mixed(dtype, a[:, 1:71], b[70:0:-1], c), mixed(dtype, x[:, 1:71], row[70:0:-1], column))
    expect(mixed(dtype, a[:, 3:43], a[:, 80:0:-2], c), mixed(dtype, x[:, 3:43], x[:, 80:0:-2], column))
    expect(
        mixed(dtype, a.T[1:, 2:], a.T[:-1, 1:-1], a.T[1:, :-2]),
        mixed(dtype, x.T[1:, 2:], x.T[:-1, 1:-1], x.T[1:, :-2]),
    )


@pytest.mark.parametrize(
    "first, second", [("uint8", "int16"), ("int8", "int16"), ("bool", "uint16"), ("uint8", "float16")]
)
def test_small_elements_of_two_sizes(first, second):
    x, y = numbers((7, 200), first), numbers((7, 200), second)
    a, b = gpu(x), gpu(y)
    for shift in range(0, 17, 3):
        for n in (1, 8, 17, 150):
            left, right = numpy.s_[:, shift : shift + n], numpy.s_[:, 5 : 5 + n]
            total = a[left].astype(second) + b[right]
            expected = x[left].astype(second) + y[right]
            expect(total, expected)
            if second != "float16":
                expect(total.astype("uint8"), expected.astype("uint8"))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_several_results_that_are_not_aligned_together(dtype):
    x = numbers((15, 133), dtype)
    a = gpu(x)
    out, more = numpy.zeros((15, 133), dtype), numpy.zeros((15, 140), dtype)
    on_out, on_more = gpu(out), gpu(more)
    total = a[:, 1:-1] + a[:, 2:]
    on_out[:, 1:-1] = total
    on_more[:, 3:134] = total * 3
    np.eval(on_out, on_more)
    out[:, 1:-1] = x[:, 1:-1] + x[:, 2:]
    more[:, 3:134] = (x[:, 1:-1] + x[:, 2:]) * 3
    expect(on_out, out)
    expect(on_more, more)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_integers_are_divided_by_constants_exactly(dtype):
    limits = numpy.iinfo(dtype)
    x = numpy.arange(limits.min, limits.max + 1).astype(dtype)
    a = gpu(x)
    divisors = {1, 2, 3, 5, 7, 9, 10, 25, 64, 100, 127, limits.max, limits.max // 2 + 1, limits.max - 1}
    if limits.min < 0:
        divisors |= {-divisor for divisor in divisors} | {limits.min}
    for divisor in sorted(divisors):
        for at in (0, 3):
            with numpy.errstate(over="ignore"):
                expected = x[at:] // numpy.array(divisor, dtype)
            expect(a[at:] // divisor, expected)
            expect(a[at:] % divisor, x[at:] % numpy.array(divisor, dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int32", "int64"])
def test_stencils_of_large_elements(dtype):
    """Blocks are tiles, and a thread takes two rows."""
    for shape in (
        (3, 3),
        (4, 5),
        (5, 4),
        (70, 131),
        (9, 1000),
        (1000, 7),
        (3, 17, 40),
        (2, 2, 4, 6),
        (300, 4, 3),
    ):
        x = CHOOSE.integers(0, 100, shape).astype(dtype)
        a = gpu(x)

        def step(u):
            return u[..., 1:, 1:] + u[..., :-1, 1:] * 2 - u[..., 1:, :-1] + u[..., :-1, :-1]

        expect(step(a), step(x))
        y, b = x.copy(), gpu(x)
        for _ in range(2):
            y[..., 1:, 1:] = step(y)
            b[..., 1:, 1:] = step(b)
        expect(b, y)
        expect(step(a.T), step(x.T))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float16"])
def test_a_plan_of_views_of_one_array_does_not_serve_views_of_two(dtype):
    """Views of one array are read as one buffer; over other arrays the program is another."""
    rng = numpy.random.default_rng(0)
    theirs = [rng.integers(0, 30, (20, 3008)).astype(dtype) for _ in range(2)]
    ours = [gpu(values) for values in theirs]
    for _ in range(4):
        for first, second, begin, end in [
            (0, 0, 0, 1),
            (0, 1, 0, 1),
            (1, 1, 0, 3),
            (1, 0, 5, 4),
            (0, 0, 5, 5),
        ]:
            there = ours[first][:, begin : begin + 3000] + ours[second][:, end : end + 3000]
            here = theirs[first][:, begin : begin + 3000] + theirs[second][:, end : end + 3000]
            assert (there.to_device("cpu") == np.asarray(here)).all(), (first, second, begin, end)


@pytest.mark.parametrize("dtype", ["f8", "i4", "u1", "c8"])
@pytest.mark.parametrize("window", [2, 3, 4, 16])
def test_windows_that_overlap(dtype, window):
    """Rows that begin an element apart, which a run of neighbours is not aligned to."""
    x = numpy.arange(360).reshape(9, 40).astype(dtype)
    ours, theirs = (module.lib.stride_tricks.sliding_window_view for module in (np, numpy))
    for size, axis in ((min(window, 9), 0), (window, 1), ((2, window), None)):
        expect(ours(gpu(x), size, axis) * 1, theirs(x, size, axis) * x.dtype.type(1))
