"""Checked kernels with an index out of bounds: at the lines marked `# beyond`."""

import linecache

import numpy
import pytest
import weft as np
from cuda_cases import copies
from weft import cuda

UP = numpy.arange(64.0)
ZEROS = numpy.zeros(64)
OVERRUNS = []


@pytest.fixture(autouse=True)
def device():
    with np.device("cpu"):
        yield "cpu"


def overrun(grid, block, *arguments, index, size, axis=0, at=(0, 0), shared=0, **options):
    """`at`: the first axis of the block and of the thread, or all of them."""

    def added(function):
        places = [each if isinstance(each, tuple) else (each, 0, 0) for each in at]
        says = (
            f"index {index} is out of bounds for axis {axis} with size {size}, "
            f"in block {places[0]}, thread {places[1]}"
        )
        kernel = cuda.jit(function, **options)
        OVERRUNS.append(pytest.param(kernel, (grid, block, 0, shared), arguments, says, id=function.__name__))
        return kernel

    return added


@overrun(2, 32, UP, index=64, size=64, at=(1, 31))
def a_write_one_too_far(out):
    i = cuda.grid(1)
    out[i + 1] = i  # beyond


@overrun(2, 32, UP, ZEROS, index=64, size=64, at=(1, 31))
def a_read_one_too_far(a, out):
    i = cuda.grid(1)
    out[i] = a[i + 1]  # beyond


@overrun(3, 32, UP, index=64, size=64, at=(2, 0))
def threads_without_an_element(a):
    a[cuda.grid(1)] *= 2  # beyond


@overrun(1, 32, UP, index=-65, size=64, at=(0, 0))
def too_far_from_the_end(a):
    a[cuda.grid(1) - 65] = 1  # beyond


@overrun((2, 2), (4, 4), numpy.zeros((8, 7)), index=7, size=7, axis=1, at=((1, 0, 0), (3, 0, 0)))
def columns_beyond(a):
    x, y = cuda.grid(2)
    a[y, x] = 1  # beyond


@overrun((1, 2), (4, 4), numpy.zeros((7, 4)), index=7, size=7, axis=0, at=((0, 1, 0), (0, 3, 0)))
def rows_beyond(a):
    x, y = cuda.grid(2)
    a[y, x] = 1  # beyond


@overrun(1, (2, 2, 3), numpy.zeros((2, 2, 2)), index=2, size=2, axis=2, at=(0, (0, 0, 2)))
def the_third_axis(a):
    x, y, z = cuda.grid(3)
    a[x, y, z] = 1  # beyond


@overrun(1, 32, UP, index=32, size=32, at=(0, 31))
def shared_memory(a):
    s = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    s[t + 1] = a[t]  # beyond


@overrun(1, (4, 4), ZEROS, index=4, size=4, axis=1, at=(0, 3))
def the_halo_of_a_tile(out):
    s = cuda.shared.array((4, 4), np.float32)
    x, y = cuda.grid(2)
    s[y, x] = 1
    cuda.syncthreads()
    out[x + 4 * y] = s[y, x + 1]  # beyond


@overrun(2, 32, ZEROS, index=16, size=16, at=(0, 16), shared=128)
def dynamic_memory_for_half_of_the_threads(out):
    s = cuda.shared.array(0, np.float64)
    s[cuda.threadIdx.x] = 1  # beyond


@overrun(1, 32, ZEROS, index=4, size=4, at=(0, 5))
def local_memory(out):
    own = cuda.local.array(4, np.float64)
    t = cuda.threadIdx.x
    own[t - 1 if t > 0 else 0] = 1  # beyond


@overrun(1, 32, numpy.arange(32) // 2, numpy.zeros(10, int), index=10, size=10, at=(0, 20))
def a_histogram_with_too_few_bins(values, counts):
    cuda.atomic.add(counts, values[cuda.grid(1)], 1)  # beyond


@overrun(1, 32, numpy.zeros((8, 4), int), index=4, size=4, axis=1, at=(0, 4))
def an_update_in_two_dimensions(counts):
    i = cuda.grid(1)
    cuda.atomic.max(counts, (0, i), i)  # beyond


@overrun(1, 32, numpy.arange(32) * 3, UP, ZEROS, index=66, size=64, at=(0, 22))
def an_index_from_an_array(places, a, out):
    i = cuda.grid(1)
    out[i] = a[places[i]]  # beyond


@cuda.jit(device=True)
def neighbour(a, i):
    return a[i + 1]  # beyond


@overrun(1, 64, UP, ZEROS, index=64, size=64, at=(0, 63))
def in_a_device_function(a, out):
    i = cuda.grid(1)
    out[i] = neighbour(a, i)


@overrun(1, 64, UP[::2], index=32, size=32, at=(0, 32))
def with_a_step(a):
    a[cuda.grid(1)] = 1  # beyond


@overrun(1, 32, numpy.zeros(31, [("x", "f8")]), index=31, size=31, at=(0, 31))
def records(given):
    i = cuda.grid(1)
    given[i].x = i  # beyond


@overrun(1, 4, numpy.zeros((4, 8)), index=8, size=8, axis=0, at=(0, 0))
def a_row_with_a_loop_too_long(a):
    row = a[cuda.grid(1)]
    for k in range(row.size + 1):
        row[k] = k  # beyond


@overrun(1, 32, UP[:40], index=10, size=10, at=(0, 30))
def a_part_of_an_array(a):
    i = cuda.grid(1)
    part = a[i:]
    part[10] = i  # beyond


@overrun(2, 32, UP, index=64, size=64, at=(1, 31), boundscheck=False)
def where_launches_do_not_look(out):
    i = cuda.grid(1)
    out[i + 1] = i  # beyond


@overrun(2, 32, (UP, UP[:50]), index=50, size=50, at=(1, 18))
def one_array_of_two(arrays):
    i = cuda.grid(1)
    arrays[0][i] = 1
    arrays[1][i] = 1  # beyond


@pytest.mark.parametrize(("kernel", "launch", "arguments", "says"), OVERRUNS)
def test_an_index_out_of_bounds_is_told_with_block_and_thread(kernel, launch, arguments, says):
    with pytest.raises(IndexError) as raised:
        kernel.check[launch](*copies(arguments))
    assert str(raised.value) == says
    entry = raised.traceback[-1]
    assert linecache.getline(__file__, entry.lineno + 1).rstrip().endswith("# beyond")
    assert entry.name in (kernel.__name__, "neighbour")
