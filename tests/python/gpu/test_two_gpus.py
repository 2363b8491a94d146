"""Two GPUs in one process, side by side: without two, the fake driver's."""

import concurrent.futures

import numpy
import pytest
import weft as np
from on_gpu import HAS_GPU

pytestmark = pytest.mark.skipif(
    not HAS_GPU or len(np.devices()) < 3,
    reason="needs two GPUs, or the fake driver",
)
GPUS = ("cuda:0", "cuda:1")


def values(*shape, seed=0, dtype="float64"):
    return numpy.random.default_rng(seed).random(shape).astype(dtype)


def programs(np, x, y):
    """What a program does: expressions, columns and rows, a product, a scan, a gather, a loop of stencils, one of small
    operations."""
    yield 2 * x + 3 * y * x
    yield x.sum(axis=0)
    yield (x - x.max(axis=1, keepdims=True)).sum(axis=1)
    yield (x @ y).astype("float32").astype("int32")
    yield x.cumsum(axis=1)
    yield x[:, ::2][::-1] + 1
    u = x.copy()
    for _ in range(25):
        u[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1]) * 0.25 + (u[1:-1, 2:] + u[1:-1, :-2]) * 0.25
    yield u
    q = y[0].copy()
    for _ in range(200):
        q = q * 0.999 + 0.001
    yield q


def on_cpu(seed):
    with np.device("cpu"):
        x, y = np.asarray(values(64, 64, seed=seed)), np.asarray(values(64, 64, seed=seed + 1))
        return [numpy.asarray(result) for result in programs(np, x, y)]


def on_gpu(device, seed):
    with np.device(device):
        x, y = np.asarray(values(64, 64, seed=seed)), np.asarray(values(64, 64, seed=seed + 1))
        results = list(programs(np, x, y))
        assert all(result.device == device for result in results)
        return [numpy.asarray(result.to_device("cpu")) for result in results]


def assert_equal(found, expected):
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        numpy.testing.assert_array_equal(one, other, err_msg=f"program {number}")


@pytest.mark.parametrize("device", GPUS)
def test_each_gpu_computes_what_the_cpu_does(device):
    assert_equal(on_gpu(device, 3), on_cpu(3))


def test_two_threads_use_a_gpu_each():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(on_gpu, GPUS[seed % 2], seed) for seed in range(12)]
        for seed, job in enumerate(jobs):
            assert_equal(job.result(timeout=120), on_cpu(seed))


def test_one_thread_uses_both_in_turns():
    start = values(70, 60)
    fields, expected = [np.asarray(start).to_device(device) for device in GPUS], start.copy()
    for _ in range(30):
        for u in (*fields, expected):
            u[1:-1, 1:-1] = u[1:-1, 1:-1] * 0.5 + (u[2:, 1:-1] + u[:-2, 1:-1]) * 0.25
    assert [u.device for u in fields] == list(GPUS)
    for u in fields:
        numpy.testing.assert_array_equal(numpy.asarray(u.to_device("cpu")), expected)


@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (1000, 17), (3000, 400)], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64"])
def test_arrays_travel_between_gpus(shape, dtype):
    start = (values(*shape) * 100).astype(dtype)
    there = np.asarray(start).to_device("cuda:0")
    back = there.to_device("cuda:1").to_device("cuda:0")
    assert (back.device, back.dtype, back.shape) == ("cuda:0", there.dtype, there.shape)
    numpy.testing.assert_array_equal(numpy.asarray(back.to_device("cpu")), start)
    if len(shape) == 2:  # views, with a step and backwards
        part = there[::-2, 1:].to_device("cuda:1")
        numpy.testing.assert_array_equal(numpy.asarray(part.to_device("cpu")), start[::-2, 1:])


def test_a_copy_waits_for_what_makes_it_and_what_reads_it_waits_for_the_copy():
    """Nothing is looked at in between: kernels and copies of two devices are in order by themselves."""
    start = values(500, 400)
    x, expected = np.asarray(start).to_device("cuda:0"), start
    for turn in range(12):
        x = (x * 1.5 + turn).to_device(GPUS[(turn + 1) % 2])
        expected = expected * 1.5 + turn
        held = x + 1  # another reader, and memory that is given back while copies are under way
    numpy.testing.assert_array_equal(numpy.asarray(x.to_device("cpu")), expected)
    numpy.testing.assert_array_equal(numpy.asarray(held.to_device("cpu")), expected + 1)


def test_a_write_after_a_copy_does_not_reach_it():
    x = np.asarray(values(300, 200)).to_device("cuda:0")
    copy = x.to_device("cuda:1")
    x[:] = 0
    x += 5
    numpy.testing.assert_array_equal(numpy.asarray(copy.to_device("cpu")), values(300, 200))
    assert float(x.max().to_device("cpu")) == 5


def test_devices_do_not_mix_but_for_arrays_of_no_dimensions():
    x, y = (np.ones(3).to_device(device) for device in GPUS)
    with pytest.raises(ValueError, match=r"cuda:0.*cuda:1|cuda:1.*cuda:0"):
        x + y
    with pytest.raises(ValueError, match=r"cuda:0.*cuda:1|cuda:1.*cuda:0"):
        np.copyto(x, y)
    assert (x + np.float64(2)).device == "cuda:0"
    total = x + y.sum()  # of no dimensions: it goes where it is needed
    assert total.device == "cuda:0"
    assert total.to_device("cpu").tolist() == [4, 4, 4]


def test_memory_of_each_gpu_is_counted_by_itself():
    before = {device: np.memory_stats(device)["in_use"] for device in GPUS}
    x = np.zeros(1 << 20).to_device("cuda:1")
    np.eval(x)
    after = {device: np.memory_stats(device)["in_use"] for device in GPUS}
    assert after["cuda:1"] - before["cuda:1"] >= 8 << 20
    assert after["cuda:0"] == before["cuda:0"]
    del x


def test_the_second_gpu_shows_its_memory():
    x = np.asarray(values(40, 30)).to_device("cuda:1")
    kind, number = x.__dlpack_device__()
    assert (int(kind), number) == (2, 1)
    y = np.from_dlpack(x)
    assert y.device == "cuda:1"
    numpy.testing.assert_array_equal(numpy.asarray((y * 2).to_device("cpu")), values(40, 30) * 2)
