"""The race checker: what it reports of kernels with a seeded race, and how it is asked.

The comments of a kernel say what a report names: `# reads`, `# writes` and `# updates` at the two accesses.
"""

import inspect
import linecache
import os
import re
import subprocess
import sys

import numpy
import pytest
import weft as np
from cuda_cases import copies
from weft import cuda

REPORT = re.compile(
    r"(?P<kernel>\w+)\(\):\n"
    r"thread (\(.*\)) of block (\(.*\)) (\w+) in line (\d+), `(.*)`\n"
    r"what thread (\(.*\)) of block (\(.*\)) (\w+) in line (\d+), `(.*)`\n"
    r"and nothing orders the two: (no barrier is between them|"
    r"blocks have no order but by a fence and an atomic operation that the other one sees)\."
)
KINDS = re.compile(r"# ((?:reads|writes|updates)(?:, (?:reads|writes|updates))?)$")
UP = numpy.arange(64.0)
ZEROS = numpy.zeros(64)
ONE = numpy.zeros(1, int)
RACES = []


@pytest.fixture(autouse=True)
def device():
    with np.device("cpu"):
        yield "cpu"


def race(grid, block, *arguments, between="threads", shared=0, uses=()):
    def added(function):
        case = cuda.jit(function), (grid, block, 0, shared), arguments, between, uses
        RACES.append(pytest.param(*case, id=function.__name__))
        return case[0]

    return added


def marked(function):
    lines, first = inspect.getsourcelines(inspect.unwrap(getattr(function, "py_func", function)))
    return [
        (number, kind)
        for number, line in enumerate(lines, first)
        if (found := KINDS.search(line.rstrip()))
        for kind in found[1].split(", ")
    ]


# --- shared memory --------------------------------------------------------------------------------------


@race(1, 64, UP, ZEROS)
def no_barrier_behind_a_write(a, out):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    s[t] = a[t]  # writes
    out[t] = s[63 - t]  # reads


@race(1, 32, UP, ZEROS)
def no_barrier_before_the_next_tile(a, out):
    s = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    total = 0.0
    for tile in range(2):
        s[t] = a[32 * tile + t]  # writes
        cuda.syncthreads()
        for k in range(32):
            total += s[k]  # reads
    out[t] = total


@race(2, 32, UP, ZEROS)
def a_barrier_in_one_branch(a, out):
    s = cuda.shared.array(32, np.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    s[t] = a[i]  # writes
    if cuda.blockIdx.x == 0:
        cuda.syncthreads()
    out[i] = s[31 - t]  # reads


@race(2, 32, UP, ZEROS)
def a_halo_behind_the_barrier(a, out):
    tile = cuda.shared.array(34, np.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t + 1] = a[i]
    cuda.syncthreads()
    if t < 2:
        tile[33 * t] = a[(i - 1 + 32 * t) % a.size]  # writes
    out[i] = tile[t] + tile[t + 2]  # reads


@race(1, 64, UP, ZEROS)
def one_barrier_too_few_for_two_buffers(a, out):
    s = cuda.shared.array((2, 64), np.float64)
    t = cuda.threadIdx.x
    s[0, t] = a[t]
    cuda.syncthreads()
    for step in range(4):
        s[1 - step % 2, t] = s[step % 2, (t + 1) % 64]  # reads, writes
        if step % 2 == 1:
            cuda.syncthreads()
    out[t] = s[0, t]


@race(1, 64, UP, ONE * 1.0)
def a_reduction_without_barriers(a, out):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    stride = 32
    while stride > 0:
        if t < stride:
            s[t] += s[t + stride]  # reads, writes
        stride //= 2
    if t == 0:
        out[0] = s[0]


@race(1, 64, UP, ZEROS)
def prefix_sums_in_place(a, out):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    by = 1
    while by < 64:
        if t >= by:
            s[t] += s[t - by]  # reads, writes
        cuda.syncthreads()
        by *= 2
    out[t] = s[t]


@race(1, 64, numpy.arange(64) // 8, ZEROS)
def a_histogram_without_atomics(values, counts):
    own = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    if t < 8:
        own[t] = 0
    cuda.syncthreads()
    own[values[t]] += 1  # reads, writes
    cuda.syncthreads()
    if t < 8:
        counts[t] = own[t]


@race(1, 64, numpy.arange(64) % 8, ZEROS)
def counters_cleared_without_a_barrier(values, counts):
    own = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    if t >= 56:
        own[t - 56] = 0  # writes
    cuda.atomic.add(own, values[t], 1)  # updates
    cuda.syncthreads()
    if t < 8:
        counts[t] = own[t]


@race(1, 64, UP[::-1].copy())
def a_bitonic_sort_without_the_inner_barrier(values):
    own = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    own[t] = values[t]
    cuda.syncthreads()
    size = 2
    while size <= 64:
        by = size // 2
        while by > 0:
            other = t ^ by
            if other > t and (own[t] > own[other]) == (t & size == 0):  # reads
                own[t], own[other] = own[other], own[t]  # writes
            by //= 2
        cuda.syncthreads()
        size *= 2
    values[t] = own[t]


@race(1, 32, UP, ZEROS)
def a_sum_of_a_warp_without_syncwarp(a, out):
    s = cuda.shared.array(32, np.float64)
    lane = cuda.laneid
    s[lane] = a[lane]
    cuda.syncwarp()
    for k in range(5):
        before = s[lane ^ (1 << k)]  # reads
        s[lane] += before  # writes
        cuda.syncwarp()
    out[lane] = s[lane]


@race(1, 64, UP, ZEROS)
def syncwarp_between_two_warps(a, out):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    s[t] = a[t]  # writes
    cuda.syncwarp()
    out[t] = s[63 - t]  # reads


@race(1, 64, UP, ZEROS)
def a_shuffle_between_two_warps(a, out):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    s[t] = a[t]  # writes
    other = cuda.shfl_xor_sync(0xFFFFFFFF, a[t], 1)
    out[t] = s[(t + 32) % 64] + other  # reads


@race(1, 32, UP + 1, ZEROS, shared=256)
def two_arrays_in_dynamic_memory(a, out):
    s = cuda.shared.array(0, np.float64)
    places = cuda.shared.array(0, np.int64)
    t = cuda.threadIdx.x
    s[t] = a[t]  # writes
    places[31 - t] = t  # writes
    cuda.syncthreads()
    out[t] = s[t] + places[t]


@race(1, 64, ZEROS)
def a_flag_of_the_block_without_a_barrier(out):
    is_last = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        is_last[0] = 1  # writes
    if is_last[0]:  # reads
        out[t] = 1


@race(1, (4, 4, 4), ZEROS)
def threads_in_three_dimensions(out):
    s = cuda.shared.array((4, 4, 4), np.int16)
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    s[z, y, x] = x + 4 * y + 16 * z  # writes
    out[x + 4 * y + 16 * z] = s[(z + 1) % 4, y, x]  # reads


@cuda.jit(device=True)
def put(array, at, value):
    array[at] = value  # writes


@cuda.jit(device=True)
def taken(array, at):
    return array[at]  # reads


@race(1, 64, UP, ZEROS, uses=(put, taken))
def accesses_in_device_functions(a, out):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    put(s, t, a[t])
    out[t] = taken(s, t ^ 1)


@race(1, 64, UP, ZEROS, uses=(put,))
def an_access_in_a_device_function(a, out):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    put(s, t, a[t])
    out[t] = s[t ^ 1]  # reads


@race(1, 64, UP, ZEROS)
def a_barrier_in_one_loop_of_two(a, out):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    s[t] = a[t]
    k = 0
    while k < 3:
        cuda.syncthreads()
        value = s[(t + k) % 64]  # reads
        if k == 1:
            cuda.syncthreads()
        s[t] = value  # writes
        k += 1
    out[t] = s[t]


# --- global memory, one block ---------------------------------------------------------------------------


def shifted(a):
    i = cuda.grid(1)
    if i + 1 < a.size:
        a[i] = a[i + 1]  # reads, writes


SHIFTED = {
    "float64": UP,
    "a_step_of_two": UP[::2],
    "backwards": UP[::-1],
    **{
        dtype: numpy.arange(64).astype(dtype)
        for dtype in "float32 float16 int8 uint64 bool complex64 complex128".split()
    },
}
for _name, _array in SHIFTED.items():
    race(1, 64, _array)(shifted)
    RACES[-1] = pytest.param(*RACES[-1].values, id=f"shifted-{_name}")


@race(1, 63, UP[1:], UP[:-1])
def two_arrays_that_overlap(a, out):
    i = cuda.grid(1)
    out[i] = a[i]  # reads, writes


@race(1, 64, UP, ONE * 1.0, ZEROS)
def a_plain_read_beside_an_update(a, total, out):
    t = cuda.threadIdx.x
    cuda.atomic.add(total, 0, a[t])  # updates
    out[t] = total[0]  # reads


@race(1, 64, ONE)
def a_plain_write_beside_an_update(total):
    cuda.atomic.add(total, 0, 1)  # updates
    if cuda.threadIdx.x == 0:
        total[0] = 0  # writes


@race(1, (8, 8), UP.reshape(8, 8).copy())
def transposition_in_place(a):
    x, y = cuda.grid(2)
    a[y, x] = a[x, y]  # reads, writes


@race(1, (8, 8), ZEROS)
def rows_that_write_one_row(out):
    x, y = cuda.grid(2)
    out[x] = y  # writes, writes


@race(1, 64, UP, ONE * 1.0)
def augmented_assignment(a, total):
    total[0] += a[cuda.grid(1)]  # reads, writes


@race(1, 64, UP, ONE * 1.0 - 1)
def the_largest_without_atomics(a, best):
    i = cuda.grid(1)
    if a[i] > best[0]:  # reads
        best[0] = a[i]  # writes


@race(1, 64, numpy.arange(64) // 2, ZEROS)
def a_scatter_to_one_place_twice(places, out):
    i = cuda.grid(1)
    out[places[i]] = i  # writes, writes


@race(1, 12, ZEROS)
def parts_that_overlap_by_one(out):
    t = cuda.threadIdx.x
    for k in range(5 * t, 5 * t + 6):
        if k < out.size:
            out[k] = t  # writes, writes


@race(1, 32, numpy.zeros(32, [("x", "f8"), ("y", "i4")]))
def fields_of_records(records):
    i = cuda.grid(1)
    records[i].x = i  # writes
    records[i].y = int(records[(i + 1) % 32].x)  # reads


@race(1, 8, UP.reshape(8, 8).copy())
def rows_as_views(a):
    i = cuda.grid(1)
    row, other = a[i], a[(i + 1) % 8]
    row[0] = other[0] + 1  # reads, writes


@race(1, 32, ZEROS)
def slices_that_overlap(out):
    i = cuda.grid(1)
    out[i : i + 2] = i  # writes, writes


@race(1, 32, ZEROS, ZEROS)
def a_sum_over_what_others_write(a, out):
    i = cuda.grid(1)
    a[i] = i  # writes
    out[i] = np.sum(a)  # reads


# --- blocks ---------------------------------------------------------------------------------------------


@race(4, 32, ZEROS, between="blocks")
def blocks_that_write_one_element(out):
    if cuda.threadIdx.x == 0:
        out[0] = cuda.blockIdx.x  # writes, writes


@race(2, 32, UP, between="blocks")
def blocks_that_read_their_neighbours(a):
    i = cuda.grid(1)
    value = a[(i + 1) % a.size]  # reads
    cuda.syncthreads()
    a[i] = value  # writes


@race((2, 2), (4, 4), UP.reshape(8, 8).copy(), between="blocks")
def tiles_that_change_places(a):
    x, y = cuda.grid(2)
    value = a[x, y]  # reads
    cuda.syncthreads()
    a[y, x] = value  # writes


@race(4, 32, UP, ZEROS, ONE, ONE * 1.0, between="blocks")
def the_last_block_without_a_fence(a, partials, tickets, out):
    if cuda.threadIdx.x == 0:
        partials[cuda.blockIdx.x] = a[cuda.blockIdx.x]  # writes
        if cuda.atomic.add(tickets, 0, 1) == cuda.gridDim.x - 1:
            for k in range(cuda.gridDim.x):
                out[0] += partials[k]  # reads


@race(4, 32, UP, ZEROS, ONE, ONE * 1.0, between="blocks")
def the_last_block_with_a_fence_too_late(a, partials, tickets, out):
    if cuda.threadIdx.x == 0:
        partials[cuda.blockIdx.x] = a[cuda.blockIdx.x]  # writes
        ticket = cuda.atomic.add(tickets, 0, 1)
        cuda.threadfence()
        if ticket == cuda.gridDim.x - 1:
            for k in range(cuda.gridDim.x):
                out[0] += partials[k]  # reads


@race(2, 32, UP, ZEROS, ONE, ONE * 1.0, between="blocks")
def the_last_block_without_a_barrier(a, partials, tickets, out):
    i = cuda.grid(1)
    partials[i] = a[i]  # writes
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        if cuda.atomic.add(tickets, 0, 1) == cuda.gridDim.x - 1:
            for k in range(32):
                out[0] += partials[k]  # reads


@race(4, 1, ONE, ZEROS, between="blocks")
def tickets_without_atomics(tickets, out):
    ticket = tickets[0]  # reads
    tickets[0] = ticket + 1  # writes
    out[ticket] = cuda.blockIdx.x


@race(2, 1, ZEROS, ONE, ONE * 1.0, between="blocks")
def a_flag_without_a_fence(data, flag, out):
    if cuda.blockIdx.x == 0:
        data[0] = 5  # writes
        cuda.atomic.exch(flag, 0, 1)
    elif cuda.atomic.add(flag, 0, 0) == 1:
        out[0] = data[0]  # reads


@race(2, 1, ZEROS, ONE, ONE * 1.0, between="blocks")
def a_flag_without_atomics(data, flag, out):
    if cuda.blockIdx.x == 0:
        data[0] = 5
        cuda.threadfence()
        flag[0] = 1  # writes
    elif flag[0] == 1:  # reads
        out[0] = data[0]


@race(2, 1, ZEROS, ONE, ONE, ONE * 1.0, between="blocks")
def a_flag_that_the_other_block_does_not_see(data, flag, other, out):
    if cuda.blockIdx.x == 0:
        data[0] = 5  # writes
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    elif cuda.atomic.add(other, 0, 0) == 0:
        out[0] = data[0]  # reads


@race(4, 1, ONE, ONE, between="blocks")
def a_lock_without_fences(lock, count):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    count[0] += 1  # reads, writes
    cuda.atomic.exch(lock, 0, 0)


# --- what it does not find yet --------------------------------------------------------------------------


@race(2, 64, UP, ONE * 1.0, ONE * 1.0, between="blocks")
def a_sum_that_no_block_waits_for(a, total, mean):
    cuda.atomic.add(total, 0, a[cuda.threadIdx.x])  # updates
    cuda.syncthreads()
    if cuda.threadIdx.x == 0 and cuda.blockIdx.x == 1:
        mean[0] = total[0] / 128  # reads


@race(2, 64, ONE * 1.0, ZEROS, between="blocks")
def a_write_behind_many_reads(a, out):
    out[cuda.threadIdx.x // 2 + 32 * cuda.blockIdx.x] = 1
    value = a[0]  # reads
    cuda.syncthreads()
    if cuda.threadIdx.x == 0 and cuda.blockIdx.x == 1:
        a[0] = value + 5  # writes


@race(1, 64, UP, ONE)
def a_flag_cleared_by_all_and_set_by_the_last(a, flag):
    i = cuda.grid(1)
    flag[0] = 0  # writes
    if a[i] > 62.0:
        flag[0] = 1  # writes


@race(1, 32, ZEROS)
def syncwarp_of_half_a_warp(out):
    s = cuda.shared.array(32, np.int64)
    t = cuda.threadIdx.x
    s[t] = t  # writes
    if t < 16:
        cuda.syncwarp(0xFFFF)
        out[t] = s[31 - t]  # reads


@race(1, 32, numpy.zeros(32, [("x", "f8"), ("y", "i4")]))
def whole_records(records):
    i = cuda.grid(1)
    records[i] = records[(i + 1) % 32]  # reads, writes


@race(1, 8, ZEROS[:8].copy(), ZEROS)
def elements_of_a_loop(a, out):
    i = cuda.grid(1)
    a[i] = i  # writes
    total = 0.0
    for value in a:  # reads
        total += value
    out[i] = total


@pytest.mark.parametrize(("kernel", "launch", "arguments", "between", "uses"), RACES)
def test_a_race_is_reported_with_both_lines(kernel, launch, arguments, between, uses):
    expected = sorted(mark for each in (kernel, *uses) for mark in marked(each))
    assert len(expected) == 2
    with pytest.raises(cuda.RaceError) as raised:
        kernel.check[launch](*copies(arguments))
    report = REPORT.fullmatch(str(raised.value))
    assert report, raised.value
    name, *accesses, reason = report.groups()
    now, before = accesses[:5], accesses[5:]
    assert name == kernel.__name__
    assert sorted((int(line), kind) for _, _, kind, line, _ in (now, before)) == expected
    for _, _, _, line, text in (now, before):
        assert text == linecache.getline(__file__, int(line)).strip()
    assert (
        (now[0] != before[0], now[1] == before[1]) == (True, True)
        if between == "threads"
        else now[1] != before[1]
    )
    assert reason.startswith("no barrier" if between == "threads" else "blocks have no order")


# --- how it is asked ------------------------------------------------------------------------------------

shift = cuda.jit(shifted)


@cuda.jit
def doubled(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= 2


@pytest.mark.parametrize(
    ("value", "checks"), [("1", True), ("yes", True), ("0", False), ("", False), (None, False)]
)
def test_the_environment_asks_for_all_launches(monkeypatch, value, checks):
    monkeypatch.delenv("WEFT_CUDA_CHECK", raising=False)
    if value is not None:
        monkeypatch.setenv("WEFT_CUDA_CHECK", value)
    kernel, a = cuda.jit(shifted), UP.copy()
    for launch in (kernel[1, 64], kernel.forall(64)):
        if checks:
            with pytest.raises(cuda.RaceError, match="shifted"):
                launch(a)
        else:
            launch(a)
    assert ("_checking_launcher" in kernel.__dict__) == checks
    assert a[:2].tolist() == ([1, 1] if checks else [2, 3])


def test_a_process_whose_environment_asks(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy\nfrom weft import cuda\n\n\n@cuda.jit\ndef shift(a):\n    i = cuda.grid(1)\n"
        "    a[i] = a[(i + 1) % 8]\n\n\na = numpy.arange(8.0)\nshift[1, 8](a)\nprint(a)\n"
    )
    for value, succeeds in (("1", False), ("0", True)):
        environment = os.environ | {"WEFT_CUDA_CHECK": value, "WEFT_DEVICE": "cpu"}
        ran = subprocess.run(
            [sys.executable, program], env=environment, capture_output=True, text=True, timeout=120
        )
        assert (ran.returncode == 0) == succeeds, ran.stderr
        assert ("RaceError: shift():\nthread (1, 0, 0)" in ran.stderr) == (not succeeds)
        assert ran.stdout == ("[1. 2. 3. 4. 5. 6. 7. 1.]\n" if succeeds else "")


def test_what_is_written_before_the_race_stays():
    a, b = UP.copy(), np.arange(64.0)
    for each in (a, b):
        with pytest.raises(cuda.RaceError, match=r"thread \(1, 0, 0\)"):
            shift.check[1, 64](each)
        numpy.testing.assert_array_equal(each, [1, *range(1, 64)])


def test_the_same_kernel_and_the_same_array_work_after_a_race():
    a = UP.copy()
    for _ in range(3):
        with pytest.raises(cuda.RaceError):
            shift.check[1, 64](a)
        shift.check[64, 1](a[:1])
        doubled.check[2, 32](a)
        doubled[2, 32](a)
    assert a[0] == a[1] == 64 and a[63] == 63 * 64


def test_reports_are_the_same_each_time():
    def report():
        with pytest.raises(cuda.RaceError) as raised:
            shift.check[4, 16](UP.copy())
        return str(raised.value)

    reports = set()
    for threads in (1, 2, 7):
        with np.config(num_threads=threads):
            reports |= {report(), report()}
    assert len(reports) == 1


@pytest.mark.parametrize("made", [np.asarray, cuda.to_device, lambda a: np.asarray(a) + 0])
def test_arrays_of_weft_and_of_the_device(made):
    a = made(UP.copy())
    doubled.check[2, 32](a)
    numpy.testing.assert_array_equal(numpy.asarray(a), UP * 2)
    with pytest.raises(cuda.RaceError):
        shift.check[1, 64](a)


def test_a_checked_kernel_prints(capsys):
    @cuda.jit
    def told(a):
        i = cuda.grid(1)
        print("thread", i, a[i])
        a[i] = a[3 - i]

    with pytest.raises(cuda.RaceError, match=r"thread \(2, 0, 0\).* reads"):
        told.check[1, 4](numpy.arange(4.0))
    assert capsys.readouterr().out == "thread 0 0.0\nthread 1 1.0\nthread 2 2.0\n"


def test_a_checked_kernel_raises():
    @cuda.jit
    def refused(a):
        i = cuda.grid(1)
        if a[i] > 4:
            raise ValueError("too large")
        a[i] = -1

    a = numpy.arange(8.0)
    with pytest.raises(ValueError, match="too large"):
        refused.check[2, 4](a)
    assert a.tolist() == [-1, -1, -1, -1, -1, 5, 6, 7]


def test_what_check_takes():
    assert issubclass(cuda.RaceError, RuntimeError)
    for arguments in ((), (UP, 1)):
        with pytest.raises(TypeError, match="takes 1 arguments"):
            shift.check[1, 64](*arguments)
    with pytest.raises(TypeError, match="launches a kernel"):
        shift.check[64]
    with pytest.raises(ValueError, match="nothing to launch"):
        shift.check[0, 64]


def test_a_generator_that_threads_share():
    from weft.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float64

    @cuda.jit
    def drawn(states, out, by):
        i = cuda.grid(1)
        out[i] = xoroshiro128p_uniform_float64(states, i // by)

    states, out = create_xoroshiro128p_states(32, seed=1), numpy.zeros(32)
    drawn.check[1, 32](states, out, 1)
    assert len(set(out)) == 32
    with pytest.raises(cuda.RaceError, match=r"drawn\(\):\nthread \(1, 0, 0\) .* reads .*states"):
        drawn.check[1, 32](states, out, 2)
