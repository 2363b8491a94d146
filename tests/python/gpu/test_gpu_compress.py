"""What a mask selects on GPUs, by the kernel that computes the mask: what is read once, and what happens where the
sample is wrong. numpy/masked/test_masks.py has dtypes, sizes and layouts."""

import numpy
import pytest
import weft as np
from comparing import values
from on_gpu import gpu, needs_fake_driver, needs_gpu, on_cpu, run  # noqa: F401

pytestmark = needs_gpu

TILE = 4096  # elements, of up to 8 bytes
MANY = 600 * TILE + 77  # so many that there is a sample, and tiles before one are looked at more than once
LARGE_BLOCK = 1 << 21  # of which large buffers are multiples


def compressed(work, expected, kernels=None, kind="compress"):
    """Compares, and gives what was launched."""
    np.clear_kernel_history()
    result = work()
    history = [record for record in np.kernel_history() if kind in record["name"]]
    assert not any(record["fallback"] for record in np.kernel_history())
    host = numpy.asarray(result.to_device("cpu"))
    assert (result.device, host.dtype, host.shape) == ("cuda:0", expected.dtype, expected.shape)
    assert host.tobytes() == expected.tobytes()
    assert result.strides == (expected.itemsize,)
    if kernels is not None:
        assert [record["name"] for record in np.kernel_history()] == kernels
    return history


def on_gpu(*arrays):
    moved = [gpu(a) for a in arrays]
    np.eval(*moved)
    return moved


def computed(mask):
    """The mask, by the kernel that chooses: one in memory is read by the program that reads it twice."""
    return np.equal(mask, True)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("size", [1, 31, 1000, 8192, 30_000])
def test_by_the_program_of_three_launches(dtype, size):
    a, rng = values(dtype, size), numpy.random.default_rng(size)
    with np.config(without="compress_in_one"):
        for share in (0, 0.01, 0.5, 1):
            mask = rng.random(size) < share
            compressed(lambda mask=mask: gpu(a)[gpu(mask)], a[mask])
            compressed(lambda mask=mask: np.nonzero(gpu(mask))[0], numpy.nonzero(mask)[0])


def test_values_are_read_once():
    a = numpy.random.default_rng(0).random(MANY)
    (x,) = on_gpu(a)
    for _ in range(2):
        history = compressed(lambda: x[x > 0.5], a[a > 0.5], ["greater_compress_float64"] * 2)
        sample, whole = history
        assert whole["bytes_read"] == a.nbytes
        # What is selected, and nothing of the mask, which was the program's for the call only.
        assert whole["bytes_written"] < 0.52 * a.nbytes
        assert sample["bytes_read"] < a.nbytes / 7
        assert sample["elements"] < MANY / 7


def test_few_elements_need_no_sample():
    a = numpy.random.default_rng(0).random(100 * TILE)
    (x,) = on_gpu(a)
    compressed(lambda: x[x > 0.5], a[a > 0.5], ["greater_compress_float64"])


def test_results_take_what_they_need():
    a = numpy.random.default_rng(0).random(MANY)
    (x,) = on_gpu(a)
    for least in (0.1, 0.5, 0.99, 2.0):
        before = np.memory_stats("cuda:0")["in_use"]
        result = x[x > least]
        held = np.memory_stats("cuda:0")["in_use"] - before
        assert held <= result.nbytes + a.nbytes / 50 + 8 * TILE + 2 * LARGE_BLOCK
        assert result.size == (a > least).sum()
        del result


@pytest.mark.parametrize("begin", [0, 5 * TILE, MANY - 40 * TILE])
def test_a_sample_that_is_wrong(begin):
    # The sample takes each eighth tile: here it sees all of what is selected, or nothing.
    mask = numpy.zeros(MANY, bool)
    tiles = mask[: MANY // TILE * TILE].reshape(-1, TILE)
    tiles[begin // TILE :] = True
    tiles[:: len(tiles) // (len(tiles) // 8)] = False
    a = numpy.random.default_rng(0).random(MANY)
    x, m = on_gpu(a, mask)
    history = compressed(lambda: x[computed(m)], a[mask])
    assert len(history) == 3
    history = compressed(lambda: x[~m], a[~mask])
    assert len(history) == 2
    assert len(compressed(lambda: np.nonzero(computed(m))[0], numpy.nonzero(mask)[0])) == 3


def test_masks_of_several_arrays():
    rng = numpy.random.default_rng(3)
    a, b, c = rng.random(MANY), rng.random(MANY).astype("float32"), rng.integers(0, 9, MANY)
    x, y, z = on_gpu(a, b, c)
    expected = c[(a > 0.3) & (b < 0.8) | (c == 4)]
    history = compressed(lambda: z[(x > 0.3) & (y < 0.8) | (z == 4)], expected)
    assert [record["operations"] for record in history] == [6, 6]
    assert history[1]["bytes_read"] == a.nbytes + b.nbytes + c.nbytes
    assert len(np.kernel_history()) == 2


def test_values_that_are_computed():
    a = numpy.random.default_rng(3).random(300 * TILE + 9)
    (x,) = on_gpu(a)
    compressed(lambda: (2 * x + 1)[x > 0.5], (2 * a + 1)[a > 0.5])
    assert len(np.kernel_history()) == 2
    compressed(lambda: np.sqrt(x)[~(x > 0.5)], numpy.sqrt(a)[~(a > 0.5)])
    compressed(lambda: x.astype("float32")[x > 0.5], a.astype("float32")[a > 0.5])
    compressed(lambda: np.arange(x.size, device="cuda:0")[x > 0.5], numpy.arange(a.size)[a > 0.5])
    compressed(lambda: np.where((x > 0.5) & (x < 0.6))[0], numpy.where((a > 0.5) & (a < 0.6))[0])


def test_what_is_computed_before():
    a = numpy.random.default_rng(3).random(300 * TILE)
    (x,) = on_gpu(a)
    b = a.reshape(300, TILE)
    y = x.reshape(300, TILE)
    compressed(lambda: x[x > x.max() / 2], a[a > a.max() / 2])
    middle = b.max(1, keepdims=True) / 2
    compressed(lambda: y[y > y.max(1, keepdims=True) / 2], b[b > middle])
    waves = np.sin(np.asarray(a) * 9) * np.cos(np.asarray(a)) + np.exp(np.asarray(a))
    compressed(lambda: x[(np.sin(x * 9) * np.cos(x) + np.exp(x)) > 1], a[numpy.asarray(waves) > 1])
    index = numpy.random.default_rng(4).integers(0, a.size, a.size)
    (k,) = on_gpu(index)
    compressed(lambda: x[k][x > 0.5], a[index][a > 0.5])
    with np.device("cuda:0"):
        mine, other = np.random.default_rng(5), np.random.default_rng(5)
        r = numpy.asarray(other.random(a.size).to_device("cpu"))
        compressed(lambda: mine.random(a.size)[x > 0.5], r[a > 0.5])


@pytest.mark.parametrize("size", [3 * TILE + 5, MANY])
def test_masks_that_are_held(size):
    a = numpy.random.default_rng(1).random(size)
    b = numpy.random.default_rng(2).random(size)
    x, y = on_gpu(a, b)
    mask, m = a > 0.5, x > 0.5
    compressed(lambda: x[m], a[mask])
    # The second time the kernel stores it, then it is read.
    second = compressed(lambda: y[m], b[mask])
    third = compressed(lambda: y[m], b[mask])
    assert second[-1]["bytes_read"] == 2 * a.nbytes
    assert third[-1]["name"] == "compress_8"
    assert numpy.asarray(m.to_device("cpu")).tobytes() == mask.tobytes()
    m = x > 0.25
    compressed(lambda: x[m], a[a > 0.25])
    x[:] = 0  # after which the mask is still of what was there
    assert numpy.asarray(m.to_device("cpu")).tobytes() == (a > 0.25).tobytes()
    compressed(lambda: y[m], b[a > 0.25])


def test_values_that_are_held():
    a = numpy.random.default_rng(1).random(5 * TILE + 5)
    (x,) = on_gpu(a)
    low, high = 2 * x, x < 0.75
    compressed(lambda: low[(low > 0.5) & high], (2 * a)[(2 * a > 0.5) & (a < 0.75)])
    assert len(np.kernel_history()) == 1
    np.clear_kernel_history()
    assert numpy.asarray(low.to_device("cpu")).tobytes() == (2 * a).tobytes()
    assert numpy.asarray(high.to_device("cpu")).tobytes() == (a < 0.75).tobytes()
    assert np.kernel_history() == []


@pytest.mark.parametrize(
    "setting", ["fuse", "compress_in_one", "gpu_kernels", "simplify", "view_fusion", "plan_cache"]
)
def test_other_ways(setting):
    a = numpy.random.default_rng(1).random(300 * TILE + 11)
    (x,) = on_gpu(a)
    with np.config(fuse=False) if setting == "fuse" else np.config(without=setting):
        result = [(2 * x)[(x > 0.25) & (x < 0.5)], np.nonzero(x > 0.5)[0]]
    expected = [(2 * a)[(a > 0.25) & (a < 0.5)], numpy.nonzero(a > 0.5)[0]]
    for mine, other in zip(result, expected, strict=True):
        assert numpy.asarray(mine.to_device("cpu")).tobytes() == other.tobytes()


@needs_fake_driver
def test_too_little_memory_for_a_guess():
    # There is room for all, in 20 blocks, and for what is selected, in 16, and not for a hundredth more.
    program = """
with np.device("cuda"):
    x = np.arange(5_000_000, dtype="float64")
    np.eval(x)
    y = x[x >= 810_000]
    np.eval(y)
    print(y.size, float(y[0]), float(y[-1]), len(np.kernel_history()))
"""
    out, _ = run(program, WEFT_DEVICE_MEMORY_LIMIT=str(36 * LARGE_BLOCK + 200_000))
    assert out.split() == ["4190000", "810000.0", "4999999.0", "4"]


def test_many_threads_compress():
    import threading

    a = numpy.random.default_rng(1).random(50 * TILE)
    (x,) = on_gpu(a)
    m = x > 0.5
    wrong = []

    def work(least):
        for _ in range(5):
            if x[x > least].size != (a > least).sum() or x[m].size != (a > 0.5).sum():
                wrong.append(least)

    threads = [threading.Thread(target=work, args=(0.1 * k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
