"""Launches on a GPU, among weft's own work there: what they read and write when, and how their errors come to light."""

import gc
import threading

import numpy
import pytest
import weft as np
from on_gpu import needs_gpu
from weft import cuda

pytestmark = needs_gpu


@pytest.fixture
def device():
    with np.device("cuda"):
        yield


@cuda.jit
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor


@cuda.jit
def write_beyond(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] = i


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


class MineError(Exception):
    pass


@cuda.jit
def raise_mine(a, limit):
    i = cuda.grid(1)
    if a[i] > limit:
        raise MineError("too large", 7)


def test_work_recorded_before_reads_what_was_there_and_later_work_what_is():
    x = np.arange(5.0)
    before = x + 1
    scale[1, 32](x, 2.0)
    after = x + 1
    assert x.device == "cuda:0"
    assert numpy.array(before).tolist() == [1, 2, 3, 4, 5]
    assert numpy.array(after).tolist() == [1, 3, 5, 7, 9]


def test_lazy_arguments_and_views():
    x = np.arange(10.0) * 2
    scale[1, 32](x[::2], 10.0)
    assert numpy.array(x).tolist() == [0, 2, 40, 6, 80, 10, 120, 14, 160, 18]


def test_arrays_of_the_cpu_are_copied_there_and_back():
    a, b = numpy.arange(4.0), numpy.ones(4)
    out = numpy.zeros(4)
    np.clear_kernel_history()
    add[1, 32](a, b, out)
    assert out.tolist() == [1, 2, 3, 4]
    copies = [each for each in np.kernel_history() if each["name"].startswith("copies")]
    assert [(each["bytes_read"], each["bytes_written"]) for each in copies] == [(96, 32)]
    assert copies[0]["device"] == "cuda:0"


def test_arrays_that_are_read_only_are_not_written():
    a = numpy.arange(4.0)
    a.flags.writeable = False
    out = numpy.zeros(4)
    add[1, 32](a, a, out)
    assert out.tolist() == [0, 2, 4, 6]
    with pytest.raises(np.CompileError, match="read-only"):
        scale[1, 32](a, 2.0)
    assert a.tolist() == [0, 1, 2, 3]


def test_a_kernel_runs_where_its_arrays_are():
    x = np.arange(3.0)
    with np.device("cpu"):
        np.clear_kernel_history()
        scale[1, 64](x, numpy.float32(2))
        assert [each["device"] for each in np.kernel_history() if each["name"] == "scale()"] == ["cuda:0"]
        y = np.arange(3.0)
        scale[1, 64](y, 3.0)
    assert numpy.array(x).tolist() == [0, 2, 4] and numpy.array(y).tolist() == [0, 3, 6]
    assert y.device == "cpu"


def test_an_array_that_is_given_twice_is_one():
    a = numpy.arange(4.0)
    add[1, 32](a, a, a)
    assert a.tolist() == [0, 2, 4, 6]
    x = np.arange(4.0)
    add[1, 32](x, x, x)
    assert numpy.array(x).tolist() == [0, 2, 4, 6]


def test_an_error_comes_to_light_at_each_look_and_in_what_is_computed_of_it():
    x = np.zeros(10)
    write_beyond[1, 32](x, 12)
    total = (x + 1).sum()
    for look in (lambda: numpy.array(x), lambda: float(total), lambda: numpy.array(x)):
        with pytest.raises(
            IndexError, match=r"index 1[01] is out of bounds for axis 0 with size 10, in block"
        ) as info:
            look()
        assert info.traceback[-1].name == "write_beyond"
    with pytest.raises(IndexError):
        scale[1, 32](x, 2.0)
        numpy.array(x)
    y = np.zeros(10)
    write_beyond[1, 32](y, 10)
    assert numpy.array(y).tolist() == list(range(10))
    cuda.synchronize()


def test_synchronize_tells_what_nobody_has_looked_at_once():
    x = np.zeros(10)
    write_beyond[1, 32](x, 12)
    with pytest.raises(IndexError):
        cuda.synchronize()
    cuda.synchronize()
    with pytest.raises(IndexError):
        numpy.array(x)


def test_each_of_several_launches_has_an_error_of_its_own():
    arrays = [np.zeros(10 + k) for k in range(4)]
    for x in arrays:
        write_beyond[1, 32](x, 20)
    for x in arrays:
        with pytest.raises(IndexError, match=f"with size {x.size}"):
            numpy.array(x)


def test_arrays_of_other_launches_are_not_poisoned():
    good, bad, later = np.zeros(10), np.zeros(10), np.zeros(10)
    write_beyond[1, 32](good, 10)
    write_beyond[1, 32](bad, 12)
    write_beyond[1, 32](later, 10)
    assert numpy.array(good).tolist() == list(range(10))
    assert numpy.array(later).tolist() == list(range(10))
    with pytest.raises(IndexError):
        numpy.array(bad)


def test_a_chain_of_launches_is_poisoned():
    a, b = np.zeros(10), np.zeros(10)
    write_beyond[1, 32](a, 12)
    for _ in range(200):
        add[1, 32](a, a, b)
        add[1, 32](b, b, b)
    with pytest.raises(IndexError):
        numpy.array(b)


def test_many_launches_without_a_look():
    x = np.zeros(10)
    for _ in range(5000):
        write_beyond[1, 32](x, 10)
    assert numpy.array(x).tolist() == list(range(10))


def test_errors_of_arrays_of_the_cpu_come_at_the_launch():
    a = numpy.zeros(10)
    with pytest.raises(IndexError):
        write_beyond[1, 32](a, 12)
    write_beyond[1, 32](a, 10)
    assert a.tolist() == list(range(10))


def test_errors_of_the_programs_own():
    x = np.arange(4.0)
    with pytest.raises(MineError) as info:
        raise_mine[1, 4](x, 2.0)
        cuda.synchronize()
    assert info.value.args == ("too large", 7)
    assert any("thread (3, 0, 0)" in note for note in info.value.__notes__)
    raise_mine[1, 4](x, 5.0)
    cuda.synchronize()


def test_errors_outlive_their_kernel():
    @cuda.jit
    def beyond(a):
        a[cuda.grid(1) + 10] = 1.0

    x = np.zeros(4)
    beyond[1, 1](x)
    del beyond
    gc.collect()
    with pytest.raises(IndexError, match="index 10"):
        numpy.array(x)


@cuda.jit
def print_list(a):
    values = [a[0]]
    values.append(a[1])
    print(values[0] + values[1])


@cuda.jit
def allocate(a, out):
    doubled = a * 2
    out[cuda.grid(1)] = doubled[cuda.grid(1)]


def test_what_gpus_do_not_have_runs_on_the_cpu_with_the_reason(capsys):
    x = np.arange(3.0) + 5
    np.clear_kernel_history()
    print_list[1, 1](x)
    assert capsys.readouterr().out == "11.0\n"
    reasons = [each["fallback"] for each in np.kernel_history() if each["fallback"]]
    assert any("cannot be compiled for GPUs yet" in reason for reason in reasons)
    assert "on the CPU instead of the GPU" in print_list.explain()
    out = np.zeros(3)
    allocate[1, 3](x, out)
    assert numpy.array(out).tolist() == [10, 12, 14] and out.device == "cuda:0"


def test_code_is_told_apart_by_the_sizes_of_its_block():
    @cuda.jit
    def doubled(a):
        if cuda.grid(1) < a.size:
            a[cuda.grid(1)] *= 2

    x = np.ones(4)
    for size in range(1, 12):  # code for eight of them, and one for any
        doubled[4, size](x)
    assert len(doubled.stats) == 9 and any("(8, 1, 1)" in signature for signature in doubled.stats)


def test_explain_and_ptx():
    x = np.zeros(4)
    scale[1, 4](x, 2.0)
    assert "on cuda:0: each thread has" in scale.explain() and "registers" in scale.explain()
    ptx, *_ = scale.inspect_asm().values()
    assert ".entry weft_scale" in ptx and "ld.global" in ptx and "tid.x" in ptx
    text, *_ = scale.inspect_llvm().values()
    assert "llvm.nvvm.read.ptx.sreg.tid.x" in text


@cuda.jit
def of_block(out):
    memory = cuda.shared.array(100, np.float64)
    memory[cuda.threadIdx.x] = cuda.threadIdx.x
    cuda.syncthreads()
    out[cuda.threadIdx.x] = memory[99 - cuda.threadIdx.x]


@cuda.jit
def with_warps(a, out):
    t = cuda.threadIdx.x
    out[t] = cuda.shfl_down_sync(0xFFFFFFFF, a[t], 1)
    if cuda.syncthreads_count(a[t] > 2) == 30:
        out[t] += 100


def test_ptx_has_shared_memory_barriers_and_shuffles():
    out = np.zeros(100)
    of_block[1, 100](out)
    assert numpy.array(out).tolist() == list(range(99, -1, -1))
    (ptx,) = of_block.inspect_asm().values()
    assert "st.shared" in ptx and "ld.shared" in ptx and "bar.sync" in ptx
    a = np.arange(32.0)
    out = np.zeros(32)
    with_warps[1, 32](a, out)
    (ptx,) = with_warps.inspect_asm().values()
    assert "shfl.sync" in ptx and "bar.red.popc" in ptx


@cuda.jit
def product_in_tiles(a, b, c):
    rows = cuda.shared.array((16, 16), np.float64)
    columns = cuda.shared.array((16, 16), np.float64)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0.0
    for tile in range((a.shape[1] + 15) // 16):
        at = tile * 16
        rows[ty, tx] = a[y, at + tx] if y < a.shape[0] and at + tx < a.shape[1] else 0.0
        columns[ty, tx] = b[at + ty, x] if at + ty < b.shape[0] and x < b.shape[1] else 0.0
        cuda.syncthreads()
        for k in range(16):
            total += rows[ty, k] * columns[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def test_threads_of_a_warp_come_to_the_barriers_of_the_program():
    a, b = np.ones((40, 33)), np.ones((33, 20))
    c = np.zeros((40, 20))
    product_in_tiles[(2, 3), (16, 16)](a, b, c)
    assert (numpy.array(c) == 33).all()
    (ptx,) = product_in_tiles.inspect_asm().values()
    assert ptx.count("bar.sync") == 2  # not two more for the loop without its checks


def test_refusals_of_launches():
    @cuda.jit
    def much(out):
        memory = cuda.shared.array(200_000, np.uint8)
        memory[cuda.threadIdx.x] = 1
        out[0] = memory[0]

    out = np.zeros(1)
    with pytest.raises(ValueError, match="bytes of shared memory"):
        much[1, 1, None, 100_000](out)
    halves = np.zeros(20, np.uint8)[1:17].view("float64")
    with pytest.raises(ValueError, match="no multiple of 8 bytes"):
        scale[1, 2](halves, 2.0)


def test_kernels_that_are_gone_are_forgotten_on_any_thread():
    def made():
        @cuda.jit
        def beyond(a):
            a[cuda.grid(1)] = 1.0

        x = np.zeros(4)
        beyond[1, 4](x)
        return x

    arrays = [made() for _ in range(20)]
    gc.collect()
    threads = [threading.Thread(target=cuda.synchronize) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        scale[1, 4](arrays[0], 1.0)
    for thread in threads:
        thread.join()
    assert all(numpy.array(x).tolist() == [1] * 4 for x in arrays)
