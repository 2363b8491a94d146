"""What holds when calls of the GPU driver fail: arrays' values, streams, other devices, what is left behind."""

import pytest
from on_gpu import needs_fake_driver, needs_gpu, on_cpu, run_failing  # noqa: F401

pytestmark = [needs_gpu, needs_fake_driver]


def test_a_driver_that_cannot_be_initialised_is_tried_again():
    run_failing("""
for symbol in ("cuInit", "cuDriverGetVersion", "cuDeviceGetCount"):
    with fails(symbol, 802, for_ever=True):
        message = error_of(lambda: np.arange(3, device="cuda"))
        assert "CUDA_ERROR" in message and "try again" in message, message
        assert np.devices() == ["cpu"]
assert np.arange(3, device="cuda").tolist() == [0, 1, 2]
assert np.devices() == ["cpu", "cuda:0", "cuda:1"]
""")


def test_a_fallback_that_fails_leaves_the_work_on_its_device():
    run_failing("""
x, y = np.arange(5000.0, device="cuda") + 1, np.ones(5000, device="cuda") * 2
np.eval(x, y)
z = x + y
with np.config(without="gpu_kernels", small=0), fails("cuMemcpyDtoHAsync_v2", nth=2):
    assert "copy from the device" in error_of(lambda: np.eval(z))
assert z[:3].tolist() == [3, 4, 5]
assert (x * y)[:3].tolist() == [2, 4, 6]
""")


def test_work_in_place_is_done_once_whatever_fails_behind_it():
    """The profile's events, and the wait for each kernel while launches are printed."""
    run_failing("""
def added(change, symbol, nth, **settings):
    x = np.zeros(6000, device="cuda") + 1
    np.eval(x)
    with np.config(**settings), fails(symbol, nth=nth, for_ever=True):
        x += 1
        change(lambda: np.eval(x))
    np.eval(x)
    return set(x.tolist())

def profiled(work):
    profile = np.profile()
    with profile:
        error_of(work)
    return profile

for nth in (1, 2, 3):
    assert added(profiled, "cuEventRecord", nth) == {2.0}, nth
assert added(profiled, "cuEventElapsedTime", 1) == {2.0}
assert added(error_of, "cuStreamSynchronize", 1, debug=1, debug_filter="none") == {2.0}
""")


def test_work_in_place_of_many_dimensions_changes_nothing_where_a_part_fails():
    run_failing("""
a = numpy.arange(1024.0).reshape((2,) * 10)
order = (9, 1, 7, 3, 5, 4, 6, 2, 8, 0)
expected = a * 1
expected[..., ::-1] -= a.transpose(order)
with np.config(small=0):
    y = np.asarray(a).to_device("cuda").transpose(order)
    for nth in range(1, 5):
        x = np.asarray(a).to_device("cuda") * 1
        np.eval(x, y)
        np.clear_kernel_history()
        x[..., ::-1] -= y
        with fails("cuLaunchKernel", nth=nth):
            assert "launch a kernel" in error_of(lambda: np.eval(x))
        assert (numpy.asarray(x.to_device("cpu")) == expected).all(), nth
        assert len(np.kernel_history()) == nth - 1 + 4
""")


def test_what_is_computed_ahead_fails_where_it_is_looked_at():
    run_failing("""
x = np.arange(6000.0, device="cuda")
expected = numpy.arange(6000.0)
with fails("cuLaunchKernel", for_ever=True):
    for k in range(60):  # a loop whose turns are run while they are recorded
        x *= 0.5
        x += k
        expected = expected * 0.5 + k
    assert "launch a kernel" in error_of(lambda: np.eval(x))
assert numpy.allclose(numpy.asarray(x.to_device("cpu")), expected, rtol=1e-12)
""")


def test_launches_that_the_driver_refuses_are_made_up_for():
    run_failing("""
x = np.arange(6000.0, device="cuda")
def turn(k):
    y = np.cumsum(x * k)
    return np.cumsum(np.cumsum(y / 100 + 1) * 0.5).sum()
wanted = [float(turn(k)) for k in range(5)]
with fails("cuGraphLaunch", 2, for_ever=True), fails("cuLaunchKernel", 2, for_ever=True):
    results = [turn(k) for k in range(5)]
    messages = [error_of(lambda: float(each)) for each in results]
    assert all("CUDA_ERROR_OUT_OF_MEMORY" in message for message in messages), messages
    assert "CUDA_ERROR_OUT_OF_MEMORY" in error_of(lambda: np.synchronize("cuda"))
assert [float(each) for each in results] == wanted
""")


def test_after_a_fault_the_device_is_lost_and_all_else_works():
    run_failing("""
x, other = np.arange(5000.0, device="cuda:0"), np.arange(5000.0, device="cuda:1")
np.eval(x, other)
exported = other.__cuda_array_interface__
class Foreign:
    __cuda_array_interface__ = exported
with fails("cuEventSynchronize", 700):
    first = error_of(lambda: (x + 1).tolist())
for use in (
    lambda: x.tolist(), lambda: np.eval(x * 2), lambda: np.zeros(5, device="cuda").tolist(),
    lambda: np.arange(5.0).to_device("cuda").tolist(), lambda: np.synchronize("cuda"),
    lambda: np.empty_pool("cuda"), lambda: np.sort(x).tolist(), lambda: x[x > 3].tolist(),
    lambda: (x.reshape(50, 100) @ x.reshape(100, 50)).tolist(), lambda: x.to_device("cuda:1").tolist(),
    lambda: np.asarray(x).tolist(), lambda: x.__cuda_array_interface__,
):
    assert error_of(use) == first, (first, error_of(use))
for words in ("cuda:0", "is lost", "CUDA_ERROR_ILLEGAL_ADDRESS", "start the process again"):
    assert words in first
assert np.arange(10).sum() == 45
assert (other * 2)[7] == 14
assert np.sort(other[::-1])[3] == 3
assert np.arange(3000.0, device="cuda:1").sum() == 4498500
assert np.asarray(Foreign(), copy=False).device == "cuda:1"
assert np.memory_stats("cuda")["in_use"] > 0
""")


@pytest.mark.parametrize("symbol", ["cuMemFree_v2", "cuStreamSynchronize", "cuLaunchKernel", "*"])
@pytest.mark.parametrize("result", [2, 719])
def test_the_process_ends_while_the_driver_fails(symbol, result):
    run_failing(f"""
x = np.arange(5000.0, device="cuda")
y = np.cumsum(x)
np.eval(y)
shared = np.from_dlpack(y)
z = [shared + 1, np.sort(x), (x * 2)[x > 3]]
w = y * 2
fake_driver.weft_fake_driver_fail({symbol.encode()!r}, 1, {result}, 1)
error_of(lambda: np.eval(w))
""")


def test_streams_stay_where_they_were():
    run_failing("""
ours, theirs = np.random.default_rng(3), numpy.random.default_rng(3)
x = np.arange(300.0)
with np.device("cuda"):
    y = x.to_device("cuda")
    np.eval(y)
    draws = [
        ("gamma", lambda rng, given: rng.gamma(2.0, size=300)),
        ("permutation", lambda rng, given: rng.permutation(given)),
        ("choice", lambda rng, given: rng.choice(given, 10, replace=False)),
        ("normal", lambda rng, given: rng.normal(size=70000)),
        ("integers", lambda rng, given: rng.integers(0, 10, 70000)),
    ]
    for name, draw in draws:
        for symbol in ("cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuLaunchKernel", "cuMemAlloc_v2"):
            with fails(symbol, 999, for_ever=True):
                failed = []
                error_of(lambda: failed.append(draw(ours, y)))
                if failed:  # the numbers are to come: that is a draw, too
                    draw(theirs, numpy.arange(300.0))
        assert numpy.allclose(numpy.asarray(draw(ours, y).to_device("cpu")), draw(theirs, numpy.arange(300.0))), name
""")


def test_products_that_fail_leave_nothing_and_are_tried_again():
    run_failing("""
with np.device("cuda"):
    h = np.ones((64, 48), "float16")
    double = np.ones((20, 30)) * 2
    np.eval(h, double)
    half = lambda: numpy.asarray((h @ h.T).to_device("cpu"))
    assert (half() == 48).all()
    objects = fake_driver.weft_fake_driver_live_objects()
    k = 0
    for symbol in (
        "cublasLtMatmulDescSetAttribute", "cublasLtMatrixLayoutCreate", "cublasLtMatrixLayoutSetAttribute",
        "cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceSetAttribute", "cublasLtMatmulAlgoGetHeuristic",
        "cublasLtMatmul",
    ):
        for status in (3, 14):
            k += 1
            part = np.ones((2, 8 + k, 40), "float16")
            np.eval(part)
            product = part @ part.transpose(0, 2, 1)
            with fails(symbol, status):
                message = error_of(lambda: np.eval(product))
            assert "CUBLAS_STATUS_" in message and "try again" in message, (symbol, message)
            assert symbol == "cublasLtMatmul" or fake_driver.weft_fake_driver_live_objects() == objects, symbol
            np.clear_kernel_history()
            assert (numpy.asarray(product.to_device("cpu")) == 40).all()
            assert any("cublaslt" in record["name"] for record in np.kernel_history()), symbol
            objects = fake_driver.weft_fake_driver_live_objects()
    with fails("cublasSetStream_v2", 1):
        product = double @ double.T
        assert (numpy.asarray(product.to_device("cpu")) == 120).all()  # by a kernel
    assert fake_driver.weft_fake_driver_live_objects() == objects
    assert (numpy.asarray((double @ double.T).to_device("cpu")) == 120).all()
    assert any("cublas dgemm" in record["name"] for record in np.kernel_history())
""")


def test_a_program_of_the_cache_that_does_not_load_is_made_anew(new_cache):
    program = """
x = np.arange(9000.0, device="cuda")
np.eval(x)
{0}:
    assert np.sort(x[::-1])[:3].tolist() == [0, 1, 2]
print(calls("cuLinkComplete"))
"""
    run_failing(program.format("if True"))
    assert run_failing(program.format("if True"))[0].split() == ["0"]
    # Of the kernel that copies, and of the program: once for each of those that are loaded.
    made = run_failing(program.format('with fails("cuModuleLoadDataEx", 200, nth=2)'))[0].split()
    assert made == ["1"]


def test_memory_is_what_it_was_after_many_failures():
    run_failing("""
def work():
    x = np.arange(6000.0, device="cuda")
    product = x.reshape(60, 100) @ x[:100].reshape(100, 1)
    return np.sort(x * -1)[:5].tolist(), float(np.cumsum(x).sum()), product[3].tolist()
wanted = work()
work()
def held():
    np.clear_kernel_history()
    np.empty_pool("cuda")
    in_use = np.memory_stats("cuda")["in_use"]
    return fake_driver.weft_fake_driver_live_bytes(0), fake_driver.weft_fake_driver_live_objects(), in_use
before = held()
fake_driver.weft_fake_driver_forget()
work()
count = calls("*")
for nth in range(1, count + 1):
    with fails("*", 999, nth=nth):
        error_of(work)
    assert held() == before, nth
assert work() == wanted
""")
