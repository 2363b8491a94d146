"""CUDA-style kernels on the CPU: what each thread is told, memory of blocks, barriers, warps, atomics, errors."""

import contextlib
import io
import threading

import numpy
import pytest
import weft
from weft import cuda

np = weft
TILE = 16


@cuda.jit
def numbered(out):
    x, y, z = cuda.grid(3)
    sx, sy, _ = cuda.gridsize(3)
    at = (z * sy + y) * sx + x
    out[at, 0] = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z
    out[at, 1] = cuda.blockIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockIdx.z
    out[at, 2] = cuda.blockDim.x + 10 * cuda.blockDim.y + 100 * cuda.blockDim.z
    out[at, 3] = cuda.gridDim.x + 10 * cuda.gridDim.y + 100 * cuda.gridDim.z
    out[at, 4] = cuda.laneid
    out[at, 5] = cuda.warpsize


def test_threads_have_their_numbers_in_three_dimensions():
    grid, block = (3, 2, 2), (4, 3, 2)
    out = numpy.full((288, 6), -1)
    numbered[grid, block](out)
    z, y, x = (each.ravel() for each in numpy.indices((4, 6, 12)))
    tx, ty, tz, bx, by, bz = x % 4, y % 3, z % 2, x // 4, y // 3, z // 2
    assert (out[:, 0] == tx + 10 * ty + 100 * tz).all()
    assert (out[:, 1] == bx + 10 * by + 100 * bz).all()
    assert (out[:, 2] == 234).all() and (out[:, 3] == 223).all()
    assert (out[:, 4] == ((tz * 3 + ty) * 4 + tx) % 32).all() and (out[:, 5] == 32).all()


@cuda.jit
def scaled(a, factor, out):
    i = cuda.grid(1)
    if i >= a.size:
        return
    out[i] = a[i] * factor


@pytest.mark.parametrize("dtype", "bBhHiIlLfdFD")
@pytest.mark.parametrize("step", [1, 2, -1])
def test_arrays_of_all_dtypes_and_strides(dtype, step):
    a = numpy.arange(200).astype(dtype)[::step]
    out = numpy.zeros(400, dtype)[::2][: len(a)]
    scaled[8, 32](a, 3, out)
    numpy.testing.assert_array_equal(out, a * numpy.array(3, dtype))


@pytest.mark.parametrize("make", [numpy.arange, np.arange, lambda n: cuda.to_device(numpy.arange(n))])
def test_arrays_of_numpy_of_weft_and_of_the_device(make):
    a = make(50.0)
    out = cuda.device_array(50)
    scaled.forall(50, tpb=16)(a, 2.0, out)
    numpy.testing.assert_array_equal(out.copy_to_host(), numpy.arange(50.0) * 2)


def test_a_lazy_array_is_evaluated_and_one_that_is_written_keeps_its_readers():
    a = np.arange(64.0)
    before = a + 1
    scaled[2, 32](a * 2, 10.0, a)
    numpy.testing.assert_array_equal(a, numpy.arange(64.0) * 20)
    numpy.testing.assert_array_equal(before, numpy.arange(64.0) + 1)


@cuda.jit
def summed(a, out):
    shared = cuda.shared.array(128, np.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    shared[t] = a[i] if i < a.size else 0.0
    cuda.syncthreads()
    stride = cuda.blockDim.x // 2
    while stride > 0:
        if t < stride:
            shared[t] += shared[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        cuda.atomic.add(out, 0, shared[0])


def test_sums_by_shared_memory_and_barriers():
    a = numpy.arange(10000.0)
    out = numpy.zeros(1)
    summed[79, 128](a, out)
    assert out[0] == a.sum()


@cuda.jit
def product(a, b, c):
    rows = cuda.shared.array((TILE, TILE), np.float64)
    columns = cuda.shared.array((TILE, TILE), np.float64)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if x >= c.shape[1] and y >= c.shape[0]:
        return  # whole threads that the barriers below do not wait for
    total = 0.0
    for tile in range((a.shape[1] + TILE - 1) // TILE):
        at = tile * TILE
        rows[ty, tx] = a[y, at + tx] if y < a.shape[0] and at + tx < a.shape[1] else 0.0
        columns[ty, tx] = b[at + ty, x] if at + ty < b.shape[0] and x < b.shape[1] else 0.0
        cuda.syncthreads()
        for k in range(TILE):
            total += rows[ty, k] * columns[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def test_a_tiled_product_whose_threads_end_early():
    a = numpy.arange(40 * 33.0).reshape(40, 33)
    b = numpy.arange(33 * 20.0).reshape(33, 20) - 300
    c = numpy.zeros((40, 20))
    product[(2, 3), (TILE, TILE)](a, b, c)
    numpy.testing.assert_array_equal(c, a @ b)


@cuda.jit
def reversed_by_dynamic(a, out):
    given = cuda.shared.array(0, np.int32)
    own = cuda.shared.array(3, np.int64)
    t = cuda.threadIdx.x
    given[t] = a[t]
    if t < 3:
        own[t] = t
    cuda.syncthreads()
    out[t] = 10 * given[given.size - 1 - t] + own[t % 3]


def test_shared_memory_of_the_size_that_the_launch_says():
    a = numpy.arange(37, dtype="i4")
    out = numpy.zeros(37, "i8")
    reversed_by_dynamic[1, 37, None, 37 * 4](a, out)
    numpy.testing.assert_array_equal(out, 10 * a[::-1] + numpy.arange(37) % 3)


@cuda.jit
def of_computed_shapes(out):
    shared = cuda.shared.array((TILE // 4, TILE * 2 + 1), np.int32)
    t = cuda.threadIdx.x
    shared[t // 33, t % 33] = t
    cuda.syncthreads()
    out[t] = shared[(131 - t) // 33, (131 - t) % 33] + shared.size


def test_shapes_that_are_computed_of_constants():
    out = numpy.zeros(132, int)
    of_computed_shapes[1, 132](out)
    assert (out == numpy.arange(132)[::-1] + 132).all()


@cuda.jit
def by_local(out):
    own = cuda.local.array((2, 2), np.int64)
    i = cuda.grid(1)
    for k in range(4):
        own[k // 2, k % 2] = i * 10 + k
    cuda.syncthreads()  # every thread keeps its own across it
    out[i] = own[1, 0] + own[0, 1]


def test_local_arrays_are_each_threads_own():
    out = numpy.zeros(64, "i8")
    by_local[2, 32](out)
    numpy.testing.assert_array_equal(out, numpy.arange(64) * 20 + 3)


@cuda.jit
def by_votes(a, out):
    t = cuda.threadIdx.x
    out[t, 0] = cuda.syncthreads_count(a[t] > 0)
    out[t, 1] = cuda.syncthreads_and(a[t] > 0)
    out[t, 2] = cuda.syncthreads_or(a[t] > 0)


@pytest.mark.parametrize("positive", [0, 5, 70])
def test_votes_of_a_block(positive):
    a = (numpy.arange(70) < positive).astype(int)
    out = numpy.zeros((70, 3), int)
    by_votes[1, 70](a, out)
    assert (out == [positive, positive == 70, positive > 0]).all()


@cuda.jit
def by_warp(a, out):
    t = cuda.threadIdx.x
    mask = 0xFFFFFFFF
    out[t, 0] = cuda.shfl_sync(mask, a[t], 5)
    out[t, 1] = cuda.shfl_up_sync(mask, a[t], 3)
    out[t, 2] = cuda.shfl_down_sync(mask, a[t], 3)
    out[t, 3] = cuda.shfl_xor_sync(mask, a[t], 1)
    out[t, 4] = cuda.ballot_sync(mask, a[t] % 3 == 0)
    out[t, 5] = cuda.any_sync(mask, a[t] == 40) + 2 * cuda.all_sync(mask, a[t] >= 32)
    out[t, 6] = cuda.eq_sync(mask, a[t] < 32)
    out[t, 7] = cuda.match_any_sync(mask, a[t] % 4)
    same, all_of_it = cuda.match_all_sync(mask, a[t] // 32)
    out[t, 8] = same + all_of_it
    cuda.syncwarp()


@pytest.mark.parametrize("dtype", "bhilBHILfd")
def test_what_lanes_tell_each_other(dtype):
    a = numpy.arange(64).astype(dtype)
    out = numpy.zeros((64, 9), "i8")
    by_warp[1, 64](a, out)
    n = numpy.arange(64)
    lane, first = n % 32, n // 32 * 32
    bits = [sum(1 << k for k in range(32) if (f + k) % 3 == 0) for f in first]
    assert (out[:, 0] == first + 5).all()
    assert (out[:, 1] == numpy.where(lane >= 3, n - 3, n)).all()
    assert (out[:, 2] == numpy.where(lane < 29, n + 3, n)).all()
    assert (out[:, 3] == n ^ 1).all()
    assert (out[:, 4] == bits).all()
    assert (out[:, 5] == numpy.where(n < 32, 0, 3)).all()
    assert (out[:, 6] == 1).all()
    assert (out[:, 7] == [0x11111111 << k % 4 for k in range(64)]).all()
    assert (out[:, 8] == 0xFFFFFFFF + 1).all()


@cuda.jit
def in_branch(out):
    t = cuda.threadIdx.x
    if t % 2 == 0:
        mask = cuda.activemask()
        out[t] = mask
        cuda.syncwarp(mask)
    else:
        out[t] = -1


def test_the_active_lanes_are_those_in_a_branch():
    out = numpy.zeros(32, "i8")
    in_branch[1, 32](out)
    assert (out == numpy.where(numpy.arange(32) % 2 == 0, 0x55555555, -1)).all()


ATOMICS = {
    "add": lambda values: values.sum(),
    "sub": lambda values: -values.sum(),
    "max": lambda values: max(values.max(), 0),
    "min": lambda values: min(values.min(), 0),
    "nanmax": lambda values: max(values.max(), 0),
    "nanmin": lambda values: min(values.min(), 0),
    "and_": lambda values: 0,
    "or_": numpy.bitwise_or.reduce,
    "xor": numpy.bitwise_xor.reduce,
}


@pytest.mark.parametrize("name", ATOMICS)
@pytest.mark.parametrize("dtype", "iIlLfd")
def test_atomic_operations(name, dtype):
    if dtype in "fd" and name in ("and_", "or_", "xor"):
        pytest.skip("of integers alone")
    text = f"def kernel(a, out):\n    i = cuda.grid(1)\n    cuda.atomic.{name}(out, (1, 0), a[i])\n"
    scope = {"cuda": cuda}
    exec(text, scope)
    a = numpy.arange(1, 513).astype(dtype)
    out = numpy.zeros((2, 2), dtype)
    cuda.jit(scope["kernel"], source=text)[4, 128](a, out)
    expected = numpy.array(ATOMICS[name](a.astype("i8"))).astype(dtype)
    assert out[1, 0] == expected and out[0].sum() == 0 and out[1, 1] == 0


@cuda.jit
def counted(out, old):
    i = cuda.grid(1)
    old[i] = cuda.atomic.inc(out, 0, 6)
    cuda.atomic.dec(out, 1, 6)
    cuda.atomic.cas(out, 2, 0, i + 1)
    cuda.atomic.exch(out, 3, 9)


def test_atomic_counters_exchange_and_comparison():
    out, old = numpy.zeros(4, "u4"), numpy.zeros(64, "u4")
    counted[2, 32](out, old)
    assert sorted(old) == sorted(numpy.arange(64) % 7)
    assert out[0] == 64 % 7 and out[1] == (7 - 64 % 7) % 7 and 1 <= out[2] <= 64 and out[3] == 9


@pytest.mark.parametrize("value", [numpy.nan, -0.0, 2.5])
def test_atomic_exchange_of_floats_keeps_their_bits(value):
    @cuda.jit
    def exchanged(out, value):
        cuda.atomic.exch(out, 0, value)

    out = numpy.zeros(1)
    exchanged[1, 40](out, value)
    assert out.view("u8")[0] == numpy.array(value).view("u8")


@cuda.jit(device=True)
def folded(shared, t):
    """A device function with an array of the block, which waits for the others."""
    cuda.syncthreads()
    return shared[cuda.blockDim.x - 1 - t]


@cuda.jit
def with_device_functions(a, out):
    shared = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    shared[t] = a[t]
    out[t] = folded(shared, t)


def test_device_functions_take_arrays_of_the_block():
    a, out = numpy.arange(40.0), numpy.zeros(40)
    with_device_functions[1, 40](a, out)
    numpy.testing.assert_array_equal(out, a[::-1])


@cuda.jit
def bits(a, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.popc(a[i])
    out[i, 1] = cuda.clz(a[i])
    out[i, 2] = cuda.ffs(a[i])
    out[i, 3] = cuda.brev(a[i])


@pytest.mark.parametrize("dtype", "iIlL")
def test_bits_of_integers(dtype):
    width = 8 * numpy.dtype(dtype).itemsize
    a = numpy.array([0, 1, 2, 40, 2 ** (width - 1) - 1, 123456789], dtype)
    out = numpy.zeros((6, 4), f"u{width // 8}")
    bits[1, 6](a, out)
    for value, row in zip(a.tolist(), out.tolist(), strict=True):
        text = f"{value:0{width}b}"
        assert row[0] == text.count("1")
        assert row[1] == (width - value.bit_length())
        assert row[2] == ((value & -value).bit_length())
        assert row[3] == int(text[::-1], 2)


@cuda.jit
def of_halves(a, out):
    i = cuda.grid(1)
    x = a[i]
    out[i, 0] = cuda.fp16.hadd(x, 1.5)
    out[i, 1] = cuda.fp16.hmul(x, x)
    out[i, 2] = cuda.fp16.hfma(x, x, -x)
    out[i, 3] = cuda.fp16.hmax(x, 0.25) + cuda.fp16.hgt(x, 0.5)
    out[i, 4] = cuda.fp16.hrsqrt(x)
    out[i, 5] = cuda.fp16.hneg(cuda.fp16.hexp10(x))


def test_functions_of_float16():
    a = numpy.linspace(0.1, 2, 30).astype("f2")
    out = numpy.zeros((30, 6), "f2")
    of_halves[1, 30](a, out)
    wide = a.astype("f8")
    expected = [
        a + numpy.float16(1.5),
        a * a,
        (wide * wide - wide).astype("f2"),
        numpy.maximum(a, numpy.float16(0.25)) + (a > numpy.float16(0.5)),
        (1 / numpy.sqrt(wide)).astype("f2"),
        -(10.0**wide).astype("f2"),
    ]
    for k, each in enumerate(expected):
        numpy.testing.assert_array_equal(out[:, k], each)


# --- errors ---------------------------------------------------------------------------------------------


@cuda.jit
def beyond(a):
    a[cuda.grid(1)] = 1


def test_an_index_out_of_bounds_names_the_block_and_the_thread():
    a = numpy.zeros(40)
    with pytest.raises(IndexError, match=r"index 40 .* size 40, in block \(1, 0, 0\), thread \(8, 0, 0\)"):
        beyond[2, 32](a)
    beyond[1, 32](a)  # everything still works
    assert a[:32].sum() == 32


@cuda.jit
def raising(out):
    t = cuda.threadIdx.x
    if t == 5:
        raise ValueError("no fives")
    cuda.syncthreads()
    out[t] = 1


def test_what_a_thread_raises_ends_its_block(device):
    out = numpy.zeros(32)
    with pytest.raises(ValueError) as told:
        raising[1, 32](out)
    assert str(told.value) == "no fives"
    assert told.value.__notes__ == ["in block (0, 0, 0), thread (5, 0, 0)"]
    if device == "cpu":  # the others of a GPU's warp go on
        assert out.sum() == 0


@cuda.jit
def never_meeting():
    if cuda.threadIdx.x == 0:
        cuda.syncthreads()
    else:
        cuda.syncwarp()


def test_threads_that_never_meet():
    with weft.device("cpu"), pytest.raises(RuntimeError, match="never meet"):  # a GPU would wait for ever
        never_meeting[1, 32]()


@pytest.mark.parametrize(
    ("launch", "error", "text"),
    [
        ((0, 32), ValueError, "a grid of 0"),
        ((1, 0), ValueError, "a block of 0"),
        ((1, 2048), ValueError, "a block of 2048 along axis 0: 1024 is the most"),
        ((1, (32, 64)), ValueError, "a block of 2048 threads"),
        ((1, (1, 1, 65)), ValueError, "64 is the most"),
        ((1, 32, None, 1 << 40), ValueError, "1099511627776 bytes of shared memory: 232448 are the most"),
        ((1, 32, None, -1), ValueError, "-1 bytes"),
        ((1, 32, None, 1.5), TypeError, "an integer, not float"),
        ((1.5, 32), TypeError, "griddim must be a sequence of integers"),
        (((1, 1, 1, 1), 32), ValueError, "griddim must be a sequence of 1, 2 or 3 integers"),
    ],
)
def test_launches_that_there_are_not(launch, error, text):
    with pytest.raises(error, match=text):
        beyond[launch]


def test_kernels_are_launched_with_a_grid_and_return_nothing():
    with pytest.raises(ValueError, match=r"beyond\[grid, block\]"):
        beyond(numpy.zeros(3))
    with pytest.raises(TypeError, match="takes 1 arguments, and 2 were given"):
        beyond[1, 1](1, 2)

    @cuda.jit
    def giving(a):
        return a[0]

    with pytest.raises(weft.CompileError, match="a kernel returns nothing, and 'giving' gives float64"):
        giving[1, 1](numpy.zeros(3))


def test_defaults_of_kernels():
    @cuda.jit
    def filled(a, value=4.0):
        a[cuda.grid(1)] = value

    a = numpy.zeros(8)
    filled[1, 8](a)
    assert a.tolist() == [4.0] * 8


def test_kernels_take_arguments_by_their_places():
    with pytest.raises(TypeError, match="by their places"):

        @cuda.jit
        def many(*arrays):
            pass


def test_names_of_kernels_elsewhere():
    with pytest.raises(TypeError, match="known in kernels only"):
        cuda.grid(1)
    with pytest.raises(weft.CompileError, match=r"Decorate the function with weft\.cuda\.jit"):
        weft.jit(lambda: cuda.threadIdx.x)()

    @cuda.jit
    def sized(a, n):
        a[0] = cuda.shared.array(n, np.float64)[0]

    with pytest.raises(weft.CompileError, match="needs a shape of constants"):
        sized[1, 1](numpy.zeros(3), 4)

    @cuda.jit
    def large(a):
        a[0] = cuda.shared.array((1 << 10, 1 << 10), np.float64)[0, 0]

    with pytest.raises(weft.CompileError, match="needs more than 232448 bytes"):
        large[1, 1](numpy.zeros(3))


def test_no_elements_overlapping_arrays_and_several_threads():
    summed[1, 128](numpy.zeros(0), out := numpy.zeros(1))
    assert out[0] == 0
    both = numpy.arange(128.0)
    scaled[4, 32](both, 2.0, both)  # each thread reads what it writes
    assert (both == numpy.arange(128.0) * 2).all()

    def run(results):
        for _ in range(20):
            total = numpy.zeros(1)
            summed[8, 128](numpy.arange(1000.0)[::-1], total)
            results.append(total[0])

    results = []
    threads = [threading.Thread(target=run, args=(results,)) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert results == [499500.0] * 60


# --- numba.cuda's names ---------------------------------------------------------------------------------


def test_numbas_names(device):
    from weft.numba import cuda as numbas
    from weft.numba import float32, int32

    @numbas.jit("void(float32[:], int32)", fastmath=True)
    def shifted(a, by):
        own = numbas.local.array(1, float32)
        i = numbas.grid(1)
        own[0] = by
        if i < a.shape[0]:
            a[i] += own[0] + int32(1)

    stream = numbas.stream()
    with stream.auto_synchronize():
        a = numbas.to_device(numpy.zeros(10, "f4"), stream=stream)
        shifted[1, 32, stream](a, 4.9)  # the signature makes it 4
    assert a.copy_to_host().tolist() == [5.0] * 10
    assert numbas.is_available() == (device == "cuda") and a.dtype == numpy.float32 and a.shape == (10,)
    with pytest.raises(TypeError, match="no option 'nothing'"):
        numbas.jit(nothing=1)


def test_arrays_of_the_device():
    a = cuda.to_device(numpy.arange(6.0).reshape(2, 3))
    assert a.T.shape == (3, 2) and a.is_c_contiguous() and not a.T.is_c_contiguous()
    assert a.reshape(3, 2).copy_to_host().tolist() == [[0, 1], [2, 3], [4, 5]]
    a[0] = 7.0
    out = numpy.zeros((2, 3))
    assert a.copy_to_host(out) is out and out.tolist() == [[7, 7, 7], [3, 4, 5]]
    with pytest.raises(ValueError, match="has no place"):
        a.copy_to_host(numpy.zeros(5))
    assert [piece.size for piece in a.ravel().split(4)] == [4, 2]
    start, end = cuda.event(), cuda.event()
    start.record()
    end.record()
    assert start.elapsed_time(end) >= 0


def test_the_example():
    import runpy
    from pathlib import Path

    path = Path(__file__).parents[3] / "examples/kernels.py"
    with contextlib.redirect_stdout(io.StringIO()) as told:
        runpy.run_path(str(path), run_name="__main__")
    assert told.getvalue().count("True") == 6


@cuda.jit
def telling():
    print(cuda.grid(1), "of", cuda.gridsize(1))


def test_threads_that_print_at_once_write_whole_lines(device, capfd):
    lines = sorted(f"{i} of 32\n" for i in range(32))
    if device == "cuda":  # to the process's own output
        telling[8, 4]()
        cuda.synchronize()
        assert sorted(capfd.readouterr().out.splitlines(keepends=True)) == lines
        return
    pieces = []

    class Pieces(io.StringIO):
        def write(self, text):
            pieces.append(text)
            return len(text)

    with contextlib.redirect_stdout(Pieces()):
        telling[8, 4]()
    assert sorted(filter(None, pieces)) == lines
