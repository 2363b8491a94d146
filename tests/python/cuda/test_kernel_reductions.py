"""cuda.reduce: functions of two elements over whole arrays, beside NumPy."""

import doctest

import numpy
import pytest
import weft
from weft import cuda
from weft.numba import cuda as numbas

BLOCK, LEAST, MOST = cuda._reduce.BLOCK, cuda._reduce.LEAST_OF_THREAD, cuda._reduce.MOST_BLOCKS
sums = cuda.reduce(lambda a, b: a + b)
last = cuda.reduce(lambda a, b: b)
first = cuda.reduce(lambda a, b: a)


@cuda.reduce
def least(a, b):
    return min(a, b)


# Around what a thread, a block and the first launch take.
SIZES = [0, 1, 2, 3, LEAST - 1, LEAST, LEAST + 1, 5 * LEAST + 7, BLOCK * LEAST - 1, BLOCK * LEAST]
SIZES += [
    BLOCK * LEAST + 1,
    3 * BLOCK * LEAST + 11,
    (BLOCK + 3) * BLOCK * LEAST + 5,
    MOST * BLOCK * LEAST + 1,
]


@pytest.mark.parametrize("size", SIZES)
def test_any_number_of_elements(size):
    a = numpy.random.default_rng(size).integers(-1000, 1000, size)
    assert sums(a) == a.sum()
    assert sums(a, init=7) == a.sum() + 7
    assert least(a, init=10**6) == a.min(initial=10**6)
    assert least(a, init=-(10**6)) == -(10**6)


@pytest.mark.parametrize("size", SIZES[1:])
def test_elements_are_combined_in_their_order(size):
    a = numpy.arange(size)
    assert last(a, init=-1) == size - 1
    assert first(a, init=-1) == -1
    # Intervals side by side: (begin, end) as one complex number, and NaN where two do not meet.
    a = numpy.arange(size) + 1j * numpy.arange(1, size + 1)
    joined = cuda.reduce(lambda a, b: complex(a.real if a.imag == b.real else numpy.nan, b.imag))
    assert joined(a, init=-1 + 0j) == -1 + 1j * size


@pytest.mark.parametrize("dtype", "?bBhHiIlLefdFD")
def test_dtypes(dtype):
    a = (numpy.arange(1500) % 3).astype(dtype)
    found = sums(a)
    assert type(found) is a.dtype.type and found == a.sum(dtype=dtype)


def test_integers_wrap_around_at_each_step():
    a = numpy.array([100, 100, -100, 50], "i1")
    # 160 - 256, then -40, 110, and 170 - 256 with the initial one.
    assert cuda.reduce(lambda a, b: max(a, b + 60))(a, init=-128) == -86
    assert sums(a) == numpy.int8(150 - 256)


@pytest.mark.parametrize("step", [2, -1, -3])
def test_strides(step):
    a = numpy.arange(100_000.0)[::step]
    assert sums(a) == a.sum() and last(a) == a[-1]


def test_the_first_elements():
    a = numpy.arange(100_000)
    assert sums(a, size=40_000) == a[:40_000].sum()
    assert sums(a, size=1) == 0 and sums(a, size=0, init=3) == 3 and sums(a, 10**9) == a.sum()
    with pytest.raises(ValueError, match="-1 was given"):
        sums(a, size=-1)


def test_results_in_an_array():
    a = numpy.arange(10_000.0)
    for res in (numpy.zeros(2), weft.zeros(2), cuda.to_device(numpy.zeros(2)), numpy.zeros(2, "f4")):
        assert sums(a, res=res) is None
        assert numpy.asarray(res).tolist() == [a.sum(), 0]
        sums(a, size=0, res=res, init=4)
        assert numpy.asarray(res).tolist() == [4, 0]


@pytest.mark.parametrize("make", [weft.asarray, cuda.to_device, lambda a: weft.asarray(a) * 1, list])
def test_arrays_of_weft_and_of_the_device(make):
    a = numpy.arange(1000)
    before = make(a)
    assert sums(before, init=2) == a.sum() + 2
    assert numpy.asarray(before).tolist() == a.tolist()


def test_a_lazy_argument_without_elements():
    found = sums(weft.zeros(0, "f4") + 1, init=2.5)
    assert found == 2.5 and found.dtype == numpy.float32


def test_the_same_bits_for_any_number_of_threads():
    a = numpy.random.default_rng(3).standard_normal(3_000_001).astype("f4")
    found = []
    for threads in (1, 2, 7):
        with weft.config(num_threads=threads):
            found.append(sums(a))
    assert found[0] == found[1] == found[2]
    assert abs(found[0] - a.sum(dtype="f8")) < 0.05


def test_nan_is_kept():
    a = numpy.ones(200_000)
    a[123_456] = numpy.nan
    assert numpy.isnan(sums(a))


def test_numbas_reduction_has_numbas_promotion():
    @numbas.reduce
    def product(a, b):
        return a * b

    stream = numbas.stream()
    a = numbas.to_device(numpy.full(20, 1.5, "f4"), stream=stream)
    assert product(a, init=1, stream=stream) == numpy.float32(1.5) ** 20
    assert numbas.Reduce is numbas.reduce
    # float32 beside Python's float is float64 in Numba: 1e-9 is not lost before the sum of the two.
    nearly = [make.reduce(lambda a, b: a + 1e-9 > 1)(numpy.ones(2, "f4"), init=1) for make in (cuda, numbas)]
    assert nearly == [0, 1]


def test_errors():
    for wrong in (numpy.zeros((2, 2)), numpy.zeros(()), weft.zeros((3, 1))):
        with pytest.raises(TypeError, match="of one dimension"):
            sums(wrong)
    with pytest.raises(TypeError, match="a function of two elements"):
        cuda.reduce(3)
    with pytest.raises(weft.CompileError):
        cuda.reduce(lambda a: a)(numpy.arange(3))


def test_the_examples_of_the_docstring():
    examples = doctest.DocTestParser().get_doctest(cuda.Reduce.__doc__, {"np": weft}, "Reduce", None, 0)
    said = []
    doctest.DocTestRunner(verbose=False).run(examples, out=said.append)
    assert examples.examples and not said, "".join(said)
