"""Functions in CUDA C++ that kernels in Python call on a CPU: those within the subset, and the race checker."""

import numpy
import pytest
import weft as np
from weft import cuda
from weft.cuda import RaceError

pytestmark = pytest.mark.host

SOURCE = cuda.CUSource(
    r"""
struct Range { float least, most; };

__device__ Range range_of(const float* a, int n) {
    Range r = {a[0], a[0]};
    for (const float* p = a + 1; p < a + n; ++p) {
        if (*p < r.least) r.least = *p;
        if (*p > r.most) r.most = *p;
    }
    return r;
}
extern "C" __device__ int width(float* result, const float* a, int n) {
    if (n == 0) return 1;
    const Range r = range_of(a, n);
    *result = r.most - r.least;
    return 0;
}
extern "C" __device__ double twice(double x) { return 2 * x; }
extern "C" __device__ void put(int* a, int i, int v) { a[i] = v; }
extern "C" __device__ void count(int* a, int i) { atomicAdd(&a[i], 1); }
extern "C" __device__ int nothing(void* r, int* a) { a[0] += 1; return 0; }
extern "C" __device__ int lane(int x) { return __shfl_sync(0xffffffff, x, 0); }
""",
    "functions.cu",
)


def declared(name, sig, **options):
    return cuda.declare_device(name, sig, link=SOURCE, **options)


width = declared("width", "float32(CPointer(float32), int32)")
twice = declared("twice", "float64(float64)", abi="c")
put = declared("put", "void(CPointer(int32), int32, int32)", abi="c")
count = declared("count", "void(CPointer(int32), int32)", abi="c")
nothing = declared("nothing", "void(CPointer(int32))")
lane = declared("lane", "int32(int32)", abi="c")


@pytest.fixture(autouse=True)
def on_a_cpu():
    with np.device("cpu"):
        yield


def test_numbers_and_arrays_of_all_kinds():
    @cuda.jit
    def kernel(rows, out):
        own = cuda.local.array(3, np.float32)
        shared = cuda.shared.array(4, np.float32)
        i = cuda.threadIdx.x
        for k in range(3):
            own[k] = i * k
        shared[i] = i
        cuda.syncthreads()
        out[i, 0] = width(rows[i], rows.shape[1])
        out[i, 1] = width(own, 3)
        out[i, 2] = width(shared, 4)
        out[i, 3] = twice(i)

    rows = numpy.random.default_rng(1).random((4, 7), numpy.float32)
    out = numpy.zeros((4, 4))
    kernel[1, 4](rows, out)
    expected = [[numpy.ptp(rows[i]), 2 * i, 3, 2 * i] for i in range(4)]
    numpy.testing.assert_array_equal(out, numpy.array(expected, numpy.float64))


def test_a_function_of_python_calls_it():
    @cuda.jit(device=True)
    def four_times(x):
        return twice(twice(x))

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = four_times(a[i])

    a = np.arange(5000.0)
    before = a + 0
    kernel[40, 128](a)
    numpy.testing.assert_array_equal(a, numpy.arange(5000.0) * 4)
    numpy.testing.assert_array_equal(before, numpy.arange(5000.0))


def test_what_it_raises():
    @cuda.jit
    def beyond(a):
        put(a, cuda.threadIdx.x + 2, 1)

    @cuda.jit
    def empty(a, r):
        r[0] = width(a, 0)

    a = numpy.zeros(4, numpy.int32)
    with pytest.raises(
        IndexError, match=r"index 4 is out of bounds for 'argument 1', in functions\.cu, line 19"
    ):
        beyond[1, 3](a)
    with pytest.raises(RuntimeError, match=r"width\(\) of CUDA C\+\+ returned a status that is not 0"):
        empty[1, 1](numpy.zeros(3, numpy.float32), numpy.zeros(1))


def test_a_result_that_nobody_wants():
    @cuda.jit
    def kernel(a):
        nothing(a)

    a = numpy.zeros(2, numpy.int32)
    kernel[1, 1](a)
    assert a.tolist() == [1, 0]


def test_the_race_checker_sees_what_it_does():
    @cuda.jit
    def to_one_place(a):
        put(a, 0, cuda.threadIdx.x)

    @cuda.jit
    def to_places_of_their_own(a):
        put(a, cuda.threadIdx.x, 7)
        count(a, 0) if cuda.threadIdx.x == 0 else None

    @cuda.jit
    def counted(a):
        count(a, 1)

    a = numpy.zeros(4, numpy.int32)
    with pytest.raises(RaceError, match=r"writes in line .*put\(a, 0, cuda\.threadIdx\.x\)"):
        to_one_place.check[1, 4](a)
    counted.check[2, 4](a)
    assert a[1] == 8
    to_places_of_their_own.check[1, 4](a)
    assert a.tolist() == [8, 7, 7, 7]


def test_what_lies_outside_of_the_subset_says_why():
    @cuda.jit
    def kernel(a):
        a[0] = lane(1)

    @cuda.jit
    def unlinked(a):
        a[0] = alone(1)

    alone = cuda.declare_device("alone", "int32(int32)")
    a = numpy.zeros(1, numpy.int32)
    with pytest.raises(
        np.CompileError, match=r"outside of weft's subset of C\+\+: functions.cu, line 22: .*__shfl_sync"
    ):
        kernel[1, 1](a)
    with pytest.raises(np.CompileError, match="nothing is linked that has its source"):
        unlinked[1, 1](a)
