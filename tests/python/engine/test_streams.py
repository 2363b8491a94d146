"""Results that are written by non-temporal stores: where they are, where they are not, and that no bit of them
changes."""

import os
import subprocess
import sys

import numpy
import pytest
import weft

DTYPES = ["?", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "F", "D"]


@pytest.fixture(autouse=True)
def every_result_that_may_be():
    with weft.config(small=0, stream=0):
        yield


def numbers(*shape, dtype="f8", seed=0):
    return (numpy.random.default_rng(seed).random(shape) * 50).astype(dtype)


def streamed(compute):
    """The result of `compute`, and how many of the bytes its kernels wrote by non-temporal stores."""
    weft.clear_kernel_history()
    result = compute()
    weft.eval(*(result if isinstance(result, tuple) else (result,)))
    return result, sum(kernel["bytes_streamed"] for kernel in weft.kernel_history())


# ---- the same bits ----


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1301,), (4097,), (3, 1000), (5, 1301), (2, 3, 777), (700, 520)])
def test_streamed_results_have_the_same_bits(dtype, shape):
    a, b = numbers(*shape, dtype=dtype), numbers(*shape, dtype=dtype, seed=1)
    x, y = weft.array(a), weft.array(b)
    total, moved = streamed(lambda: x + y)
    row = shape[-1] * a.itemsize
    assert moved == (a.nbytes if row >= 512 else 0)
    assert numpy.asarray(total).tobytes() == (a + b).tobytes()
    with weft.config(fuse=False):
        plain, moved = streamed(lambda: x + y)
    assert moved == 0
    assert numpy.asarray(plain).tobytes() == (a + b).tobytes()


@pytest.mark.parametrize("start", [0, 1, 3, 7, 15, 31, 63])
@pytest.mark.parametrize("dtype", ["i1", "f4", "D"])
def test_rows_of_any_length_and_start(start, dtype):
    """Rows of odd lengths begin anywhere in a cache line, and pieces end where one does."""
    a = numbers(40, 2100, dtype=dtype)
    x = weft.array(a)
    for threads in (1, 2, 7):
        with weft.config(num_threads=threads):
            out, moved = streamed(lambda: x[:, start:] + x[:, : a.shape[1] - start])
        assert moved == out.nbytes
        expected = a[:, start:] + a[:, : a.shape[1] - start]
        assert numpy.asarray(out).tobytes() == expected.tobytes()


def test_a_transposed_copy():
    a = numbers(700, 900, dtype="f4")
    x = weft.array(a)
    out, moved = streamed(lambda: x.T + 0)
    assert moved == a.nbytes
    assert numpy.asarray(out).tobytes() == (a.T + 0).tobytes()


def test_several_results_of_several_item_sizes():
    a = numbers(100_003)
    x = weft.array(a)
    (small, large, flags), moved = streamed(lambda: (x.astype("f4"), x + 1, x > 25))
    assert moved == 13 * a.size
    assert numpy.asarray(small).tobytes() == a.astype("f4").tobytes()
    assert numpy.asarray(large).tobytes() == (a + 1).tobytes()
    assert numpy.asarray(flags).tobytes() == (a > 25).tobytes()


@pytest.mark.parametrize("cpu", ["x86-64-v2", "haswell"])
def test_other_instruction_sets(cpu):
    a = numbers(3, 5001)
    with weft.config(cpu=cpu):
        out, moved = streamed(lambda: weft.array(a)[:, 1:] * 3)
    assert moved == out.nbytes
    assert numpy.asarray(out).tobytes() == (a[:, 1:] * 3).tobytes()


# ---- where it is, and where not ----


def test_explain_and_kernel_tell_of_it():
    x = weft.array(numbers(10_000))
    assert "written by non-temporal stores" in weft.explain(x + 1)
    weft.clear_kernel_history()
    weft.eval(x + 1)
    assert " streamed" in weft.kernel_history()[0]["ir"]
    with weft.config(without="nontemporal_stores"):
        assert "written by non-temporal stores" not in weft.explain(x + 1)
        assert streamed(lambda: x + 1)[1] == 0


@pytest.mark.host
def test_the_machine_code_has_streaming_stores(capfd):
    x = weft.array(numbers(10_000))
    for steps, expected in (("", True), ("nontemporal_stores", False)):
        capfd.readouterr()
        # Names of temporaries of its own, so that nobody has compiled it before.
        with weft.config(without=steps, debug=5, cache=False):
            weft.eval(x * 2 - 7)
        assert ("movnt" in capfd.readouterr().err) == expected


def test_results_that_stay_in_the_cache_are_not_streamed():
    x = weft.array(numbers(10_000))
    with weft.config(stream=-1):
        assert streamed(lambda: x + 1)[1] == 0
    with weft.config(stream=80_000):
        assert streamed(lambda: x + 1)[1] == 0
    with weft.config(stream=79_999):
        assert streamed(lambda: x + 1)[1] == 80_000


def test_what_a_later_kernel_reads_is_not_streamed():
    x = weft.array(numbers(200, 300))

    def compute():
        y = x + 1
        return y, weft.cumsum(y, 0)

    assert streamed(compute)[1] == 0


def test_versions_of_a_storage_are_not_streamed():
    """A loop's next turn reads them, and in place the line was just read."""
    x = weft.array(numbers(200, 300))
    weft.eval(x)

    def step():
        x[1:-1, 1:-1] = (x[2:, 1:-1] + x[:-2, 1:-1]) * 0.5
        return x

    assert streamed(step)[1] == 0

    def in_place():
        x[:100] += 1
        return x

    assert streamed(in_place)[1] == 0


def test_much_work_and_short_rows_are_not_streamed():
    x = weft.array(numbers(200, 300))
    assert streamed(lambda: weft.sin(x) * weft.exp(x))[1] == 0
    y = weft.array(numbers(20_000, 3))
    assert streamed(lambda: y + y)[1] == 0
    assert streamed(lambda: x / x.sum(1, keepdims=True))[1] == 0


# ---- prefetching ----


@pytest.mark.host
def test_stencils_in_the_cache_ask_memory_beforehand():
    a = numbers(1000, 1001, dtype="f4")

    def step(u):
        return u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]

    x = weft.array(a)
    weft.eval(x)
    for steps, expected in (("", True), ("prefetch", False)):
        with weft.config(without=steps):
            weft.clear_kernel_history()
            out = step(x)
            weft.eval(out)
            assert (" prefetch" in weft.kernel_history()[0]["ir"]) == expected
            assert numpy.asarray(out).tobytes() == step(a).tobytes()
    weft.clear_kernel_history()
    weft.eval(x + x * 2)
    assert " prefetch" not in weft.kernel_history()[0]["ir"]


FAR = 12 * 10**6  # doubles: many times what the caches of a core hold

GATHERS = {
    "positions": lambda np, x, i: x[i],
    "from the end": lambda np, x, i: x[i - FAR],
    "computed": lambda np, x, i: x[(i * 7 + 3) % FAR] * 2 + i,
    "backwards": lambda np, x, i: np.exp(x[i[::-1]]),
    "strided": lambda np, x, i: x[i[::3]],
    "narrow": lambda np, x, i: x[i.astype("i4")],
    "strided data": lambda np, x, i: x[::2][i // 2],
    "two axes": lambda np, x, i: x.reshape(-1, 1000)[i // 1000, i % 1000],
    "sum": lambda np, x, i: (x[i] > 0.5).sum(),
    "twice": lambda np, x, i: x[i] - x[i - 1],
}


@pytest.mark.host
def test_gathers_from_afar_ask_memory_beforehand():
    rng = numpy.random.default_rng(0)
    a = rng.random(FAR)
    x = weft.array(a)
    near = weft.array(a[:50_000])
    for count in (20_000, 20_001, 20_063):
        positions = rng.integers(0, FAR, count)
        index = weft.array(positions)
        for name, gather in GATHERS.items():
            expected = numpy.asarray(gather(numpy, a, positions))
            for without in ("", "prefetch"):
                with weft.config(without=without):
                    weft.clear_kernel_history()
                    result = numpy.asarray(gather(weft, x, index))
                    asked = [
                        " prefetch" in kernel["ir"]
                        for kernel in weft.kernel_history()
                        if "gather" in kernel["name"]
                    ]
                if name == "backwards":  # weft's exp is another
                    numpy.testing.assert_allclose(result, expected, rtol=1e-15)
                else:
                    assert result.tobytes() == expected.tobytes(), name
                assert any(asked) == (without == ""), name
    weft.clear_kernel_history()
    weft.eval(near[weft.array(positions % 50_000)])
    assert " prefetch" not in weft.kernel_history()[-1]["ir"]


def test_few_cpus_of_a_large_processor_have_a_part_of_its_cache():
    program = """if True:
        import os
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        import numpy, weft
        for count in (2**16, 2**21 + 2**17):  # of 8 bytes each
            x = weft.array(numpy.ones(count))
            weft.clear_kernel_history()
            weft.eval(x + 1)
            print(sum(kernel["bytes_streamed"] for kernel in weft.kernel_history()))
    """
    environment = {name: value for name, value in os.environ.items() if name != "WEFT_STREAM"}
    shown = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True)
    assert shown.stdout.decode().split() == ["0", str(8 * (2**21 + 2**17))]
