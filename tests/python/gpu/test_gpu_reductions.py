"""Reductions on GPUs whose last block combines the partial results: one kernel, with the bits of two and of the CPU."""

import threading

import numpy
import pytest
import weft as np
from on_gpu import gpu, needs_fake_driver, needs_gpu, on_cpu, run  # noqa: F401

pytestmark = needs_gpu

ROWS, COLUMNS = 700, 300  # more than a chunk of rows, and of columns


def values(dtype, shape=(ROWS, COLUMNS)):
    random = numpy.random.default_rng(5)
    if dtype == "bool":
        return random.random(shape) < 0.5
    if numpy.dtype(dtype).kind in "iu":
        return random.integers(0, 100, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def bits(results):
    results = results if isinstance(results, tuple) else (results,)
    return [numpy.asarray(np.asarray(each).to_device("cpu")).tobytes() for each in results]


def kernels(work):
    np.clear_kernel_history()
    results = work()
    np.eval(*(results if isinstance(results, tuple) else (results,)))
    return [record for record in np.kernel_history() if record["device"] != "cpu" or record["fallback"]]


REDUCTIONS = {
    "sum": lambda x: x.sum(),
    "mean": lambda x: (2 * x + 1).mean(),
    "std": lambda x: x.std(),
    "extremes": lambda x: (x.max(), x.min()),
    "position": lambda x: x.argmax(),
    "columns": lambda x: x.sum(0),
    "columns of a part": lambda x: x[3:, 5:].sum(0),
    "every other column": lambda x: x[:, ::2].max(0),
    "positions in columns": lambda x: x.argmin(0),
    "deviations of columns": lambda x: (x.mean(0), x.std(0)),
    "in three dimensions": lambda x: x.reshape(2, ROWS // 2, COLUMNS).sum(1),
    "long rows": lambda x: x.reshape(3, -1).mean(1),
    "outer dimensions": lambda x: x.reshape(10, 70, COLUMNS)[:, ::2].sum((0, 2)),
    "columns of two outer dimensions": lambda x: np.add.reduce(
        x.reshape(10, 70, COLUMNS)[:, ::2], axis=(0, 1)
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint32", "bool"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_one_kernel_has_the_bits_of_two_and_of_the_cpu(name, dtype):
    work, host = REDUCTIONS[name], np.asarray(values(dtype))
    x = gpu(host)
    np.eval(x)
    expected = bits(work(host))
    results = []
    records = kernels(lambda: results.append(work(x)) or results[0])
    assert not any(record["fallback"] for record in records)
    assert bits(results[0]) == expected
    with np.config(without="one_launch"):
        two = []
        twice = kernels(lambda: two.append(work(x)) or two[0])
        assert bits(two[0]) == expected
    assert len(twice) > len(records) or name == "std"  # which is left to two launches
    if name in (
        "sum",
        "position",
        "columns",
        "extremes",
        "long rows",
        "deviations of columns",
        "in three dimensions",
    ):
        assert len(records) == 1, [record["name"] for record in records]


def test_to_normalise_takes_two_kernels():
    host = np.asarray(values("float32"))
    q = gpu(host)
    np.eval(q)
    result = []
    records = kernels(lambda: result.append((q - q.mean(0)) / q.std(0)) or result[0])
    assert len(records) == 2, [record["name"] for record in records]
    assert bits(result[0]) == bits((host - host.mean(0)) / host.std(0))


@pytest.mark.parametrize("shape", [(600, 70_000), (40_000, 5)], ids=str)
def test_too_much_for_a_last_block_takes_two_kernels(shape):
    """More columns than there are tickets, or more partial results of a column than a warp combines at once."""
    host = np.asarray(values("int8", shape))
    x = gpu(host)
    np.eval(x)
    result = []
    assert len(kernels(lambda: result.append(x.sum(0)) or result[0])) == 2
    assert bits(result[0]) == bits(host.sum(0))


def test_too_many_buffers_for_one_launch():
    host = np.asarray(values("float32"))
    x = gpu(host)
    np.eval(x)
    sums = []
    records = kernels(lambda: sums.extend((x * k).sum() for k in range(2, 32)) or tuple(sums))
    assert not any(record["fallback"] for record in records)
    assert bits(tuple(sums)) == bits(tuple((host * k).sum() for k in range(2, 32)))


def test_again_and_again():
    """The tickets of a launch are ready for the next one, in plans that are kept and in graphs of launches."""
    host = np.asarray(values("float32"))
    x = gpu(host)
    expected = bits((host.sum(), host.std(0), host.max()))
    for _ in range(100):
        assert bits((x.sum(), x.std(0), x.max())) == expected

    def steps(q):
        for _ in range(60):
            q = q - q.mean(0) * 0.5
            q = q / (1 + abs(q).max())
        return q

    assert bits(steps(x)) == bits(steps(host))


@needs_fake_driver
def test_launches_of_a_graph(tmp_path):
    log = tmp_path / "calls"
    program = f"""
import numpy
host = numpy.random.default_rng(1).standard_normal(({ROWS}, {COLUMNS})).astype("float32")
def steps(q):
    for _ in range(200):
        q = q - q.mean(0) * 0.5
        q = q / (1 + abs(q).max())
    return q.tolist()
assert steps(np.asarray(host, device="cuda")) == steps(np.asarray(host, device="cpu"))
"""
    run(program, WEFT_FAKE_DRIVER_LOG=str(log))
    assert log.read_text().count("cuGraphLaunch") >= 10


def test_threads_side_by_side():
    host = np.asarray(values("float64"))
    expected = bits((host.sum(), host.sum(0), host.std(1)))
    failures = []

    def work():
        x = gpu(host)
        for _ in range(20):
            if bits((x.sum(), x.sum(0), x.std(1))) != expected:
                failures.append("other bits")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@needs_fake_driver
@pytest.mark.parametrize("call", ["cuLaunchKernel", "cuMemsetD8Async", "cuMemAlloc_v2"])
def test_after_a_failure_the_result_is_right(call, new_cache):
    """Each call is refused once, at whichever place of the program, which goes on."""
    program = f"""
import os
for nth in range(1, 8):
    child = os.fork()
    if child == 0:
        os.environ["WEFT_FAKE_DRIVER_FAIL"] = "{call}:%d:1" % nth
        failed = 0
        for turn in range(4):
            try:
                x = np.arange(200000.0).reshape(1000, 200).to_device("cuda")
                both = (x.sum(), x.sum(0))
                good = both[0] == 19999900000 and both[1].tolist()[7] == 99907000
                assert good, both
            except (np.DeviceError, np.OutOfMemoryError):
                failed += 1
        os._exit(0 if failed <= 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, nth
"""
    run(program)
