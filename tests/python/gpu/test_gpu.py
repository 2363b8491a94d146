"""Arrays on GPUs: loops, programs, products, memory, errors. Without a GPU the fake driver of tests/fake_driver
answers, which runs kernels on the CPU and whatever is queued as late as it may."""

import numpy
import pytest
import weft as np
from on_gpu import ON_FAKE_DRIVER, gpu, needs_fake_driver, needs_gpu, on_cpu, run  # noqa: F401

pytestmark = needs_gpu


def smooth(u):
    u[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1]) * 0.25 + (u[1:-1, 2:] + u[1:-1, :-2]) * 0.25


def test_a_step_of_a_stencil_is_one_kernel():
    """Two buffers take turns in a loop, and what lies outside of the window is copied from one to the other once."""
    values = numpy.random.default_rng(0).random((60, 70)).astype("float32")
    field = gpu(values)
    np.eval(field)
    np.clear_kernel_history()
    for _ in range(20):
        smooth(field)
        smooth(values)
    np.eval(field)
    names = [kernel["name"] for kernel in np.kernel_history() if "float32" in kernel["name"]]
    assert len(names) == 20 + 2, names
    assert (field.to_device("cpu") == np.asarray(values)).all()


def test_small_operations_of_a_loop_share_large_kernels():
    """A launch costs what recording ten operations does: it is given more of them than on a CPU."""
    q, expected = gpu(numpy.linspace(0, 1, 1000)), numpy.linspace(0, 1, 1000)
    np.eval(q)
    np.clear_kernel_history()
    for _ in range(500):
        q = q * 1.0001 + 0.5
        expected = expected * 1.0001 + 0.5
    np.eval(q)
    history = np.kernel_history()
    assert len(history) <= 1000 / 32 + 1
    assert not any(kernel["compile_seconds"] for kernel in history[2:-1])  # the last one is what is left
    assert (q.to_device("cpu") == np.asarray(expected)).all()


def test_kernels_start_while_the_program_still_records():
    field, q = gpu(numpy.ones((60, 70))), gpu(numpy.ones(1000))
    np.eval(field, q)
    np.clear_kernel_history()
    for _ in range(60):
        smooth(field)
    assert len(np.kernel_history()) >= 40
    np.eval(field)
    np.clear_kernel_history()
    for _ in range(200):
        q = q * 1.0001 + 0.5
    assert len(np.kernel_history()) >= 400 // 32 - 2


def programs():
    def stencil(np, u):
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        return v

    def in_place(np, u):
        v = u * 1.0
        v += u
        v[::2] *= 3
        v[:, 1] = v[:, 0]
        v[1:] = v[:-1] + 1
        return v

    return {
        "fused": lambda np, u: 2 * u + u * u - u / 3,
        "compare": lambda np, u: (u > 0.5) & (u < 0.75),
        "where": lambda np, u: np.where(u > 0.5, u, -u),
        "sum": lambda np, u: u.sum(),
        "rows": lambda np, u: u.sum(1),
        "columns": lambda np, u: u.sum(0),
        "largest": lambda np, u: u.max(0) - u.min(1)[: u.shape[1]],
        "argmax": lambda np, u: u.argmax(1),
        "all": lambda np, u: (u >= 0.01).all(0),
        "any": lambda np, u: (u > 0.5).any(),
        "integers": lambda np, u: (u * 1000).astype(np.int32) // 7 % 5,
        "narrow": lambda np, u: (u * 200).astype(np.uint8) + np.uint8(100),
        "stencil": stencil,
        "in place": in_place,
        "transposed": lambda np, u: (u + 1).T * 2,
        "flipped": lambda np, u: u[::-1, ::-1] + u,
        "gather": lambda np, u: u[(u[:, 0] * len(u)).astype(np.int64)],
        "joined": lambda np, u: np.concatenate([u, u * 2], axis=1),
        "running": lambda np, u: np.cumsum((u * 100).astype(np.int64), axis=0),
        "products of integers": lambda np, u: (u * 8).astype(np.int64) @ (u.T * 8).astype(np.int64),
    }


@pytest.mark.parametrize("name", programs())
@pytest.mark.parametrize("shape", [(5, 4), (130, 120)])
def test_programs_give_what_the_cpu_gives(name, shape):
    work = programs()[name]
    u = numpy.random.default_rng(5).random(shape)
    want = work(np, np.asarray(u))
    got = work(np, gpu(u))
    assert got.dtype == want.dtype
    if isinstance(got, np.ndarray):
        assert got.device == "cuda:0"
    assert numpy.array_equal(numpy.asarray(got), numpy.asarray(want))


PRODUCTS = {
    "matrices": ((5, 7), (7, 3), lambda np, a, b: a @ b),
    "transposed": ((7, 5), (3, 7), lambda np, a, b: a.T @ b.T),
    "mixed": ((5, 7), (3, 7), lambda np, a, b: a @ b.T),
    "slices": ((9, 12), (14, 8), lambda np, a, b: a[2:7, 1:8] @ b[3:10, 2:5]),
    "row": ((7,), (7, 3), lambda np, a, b: a @ b),
    "column": ((5, 7), (7,), lambda np, a, b: a @ b),
    "dot": ((7,), (7,), lambda np, a, b: a @ b),
    "outer": ((7,), (5,), lambda np, a, b: np.outer(a, b)),
    "batch": ((4, 5, 7), (4, 7, 3), lambda np, a, b: a @ b),
    "shared": ((4, 5, 7), (7, 3), lambda np, a, b: a @ b),
    "einsum": ((5, 7), (7, 3), lambda np, a, b: np.einsum("ij,jk->ki", a, b)),
    "large": ((130, 70), (70, 90), lambda np, a, b: (a + 1) @ b * 2),
}


# What cuBLAS cannot read or write as it lies.
AWKWARD_PRODUCTS = {
    "every other column": ((5, 14), (7, 3), lambda np, a, b: a[:, ::2] @ b),
    "backwards": ((5, 7), (7, 3), lambda np, a, b: a[::-1] @ b[:, ::-1]),
    "repeated rows": ((7,), (7, 3), lambda np, a, b: np.broadcast_to(a, (5, 7)) @ b),
    "repeated columns": ((5, 1), (7, 3), lambda np, a, b: np.broadcast_to(a, (5, 7)) @ b),
    "batches that broadcast": ((2, 1, 5, 7), (3, 7, 4), lambda np, a, b: a @ b),
    "batches apart": ((3, 2, 5, 7), (3, 2, 7, 4), lambda np, a, b: a.swapaxes(0, 1) @ b.swapaxes(0, 1)),
    "two sums": ((3, 5, 7), (7, 4, 5), lambda np, a, b: np.tensordot(a, b, ((1, 2), (2, 0)))),
    "mixed result": ((3, 5, 7), (5, 7, 4), lambda np, a, b: np.einsum("abk,bkc->acb", a, b)),
    "nothing summed": ((5, 0), (0, 3), lambda np, a, b: a @ b),
}


EVERY_TYPE = ["bool", "int8", "uint8", "int16", "uint32", "int32", "int64", "float16", "bfloat16", "float32", "float64",
              "complex64", "complex128"]  # fmt: skip


def small_numbers(shape, dtype):
    """Whole ones, so that no order of additions rounds; for NumPy, which has no products of bfloat16, as float64."""
    numbers = generator(shape, dtype).integers(
        0 if dtype[0] in "bu" and dtype != "bfloat16" else -8, 8, shape
    )
    return numbers.astype("float64" if dtype == "bfloat16" else dtype)


def generator(*key):
    return numpy.random.default_rng([*str(key).encode()])


def products(table, dtypes):
    for name, (first, second, work) in table.items():
        for dtype in dtypes:
            yield pytest.param(name, first, second, work, dtype, id=f"{name}-{dtype}")


def product_is_right(first, second, work, dtype):
    a, b = small_numbers(first, dtype), small_numbers(second, dtype)
    np.clear_kernel_history()
    got = work(np, gpu(a, dtype), gpu(b, dtype))
    want = np.asarray(work(numpy, a, b))
    want = want.astype(dtype) if dtype == "bfloat16" else want
    assert got.dtype == want.dtype and got.shape == want.shape and got.device == "cuda:0"
    assert numpy.array_equal(numpy.asarray(got.to_device("cpu")), numpy.asarray(want))
    history = np.kernel_history()
    assert [record["fallback"] for record in history if record["fallback"]] == []
    return got, history


@pytest.mark.parametrize(
    ("name", "first", "second", "work", "dtype"),
    list(products(PRODUCTS, ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])),
)
def test_products_are_cublas(name, first, second, work, dtype):
    _, history = product_is_right(first, second, work, dtype)
    if ON_FAKE_DRIVER:
        assert (
            any(record["name"].startswith(("cublas", "product_in_parts")) for record in history)
            or name == "outer"
        )


@pytest.mark.parametrize(
    ("name", "first", "second", "work", "dtype"),
    list(products(PRODUCTS, [dtype for dtype in EVERY_TYPE if dtype[0] in "biu" and dtype != "bfloat16"])),
)
def test_products_of_integers_are_a_kernel(name, first, second, work, dtype):
    _, history = product_is_right(first, second, work, dtype)
    assert any(record["name"].startswith("product_of_tiles") for record in history) or name == "outer"


@pytest.mark.parametrize(
    ("name", "first", "second", "work", "dtype"), list(products(AWKWARD_PRODUCTS, EVERY_TYPE))
)
def test_products_of_any_strides_stay_on_the_gpu(name, first, second, work, dtype):
    got, _ = product_is_right(first, second, work, dtype)
    a, b = (np.asarray(small_numbers(shape, dtype)).astype(dtype) for shape in (first, second))
    assert got.strides == work(np, a, b).strides


EPILOGUES = {
    "bias": (lambda np, a, b, c: a @ b + c, "bias"),
    "bias before": (lambda np, a, b, c: c + a @ b, "bias"),
    "relu": (lambda np, a, b, c: np.maximum(a @ b, 0), "relu"),
    "layer": (lambda np, a, b, c: np.maximum(a @ b + c, 0), "bias relu"),
    "layer and more": (lambda np, a, b, c: np.maximum(a @ b + c, 0) * 2, "bias relu"),
    "two layers": (lambda np, a, b, c: np.maximum(np.maximum(a @ b + c, 0) @ b.T, 0), "bias relu"),
    "transposed": (lambda np, a, b, c: np.maximum(b.T @ a.T, 0), "relu"),
    "rows of a batch": (lambda np, a, b, c: a.reshape(3, 20, 30) @ b + c, "bias"),
    "columns": (lambda np, a, b, c: a @ b + c[:1, None], ""),  # a number is added to all
    "a number a row": (lambda np, a, b, c: a @ b + a[:, :1], ""),
    "relu of something else": (lambda np, a, b, c: np.maximum(a @ b, 1), ""),
    "used twice": (lambda np, a, b, c: (lambda p: p + np.maximum(p, 0))(a @ b), ""),
    "every other number": (lambda np, a, b, c: a @ b + np.concatenate([c, c])[::2], ""),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", EPILOGUES)
@pytest.mark.parametrize("fast", [False, True], ids=["exact", "fast"])
def test_what_follows_a_product_is_its_epilogue(name, dtype, fast):
    """A bias always, ReLU with fast math: what the library makes of nan, it does not say."""
    work, expected = EPILOGUES[name]
    shapes = (60, 30), (30, 50), (50,)
    a, b, c = (generator(name, shape).integers(-2, 3, shape).astype("float64") for shape in shapes)
    np.clear_kernel_history()
    expected = expected if fast else expected.replace("relu", "").strip()
    with np.config(fast_math=fast):
        got = work(np, *(gpu(x, dtype) for x in (a, b, c)))
        np.eval(got)
    want = np.asarray(work(numpy, a, b, c)).astype(dtype)
    assert got.dtype == want.dtype
    assert numpy.array_equal(numpy.asarray(got), numpy.asarray(want))
    history = np.kernel_history()
    assert [record["fallback"] for record in history if record["fallback"]] == []
    if ON_FAKE_DRIVER:
        names = " ".join(record["name"] for record in history if "gemm" in record["name"])
        if dtype == "float64" or not expected:
            assert "bias" not in names and "relu" not in names
        else:
            assert "cublaslt" in names and f"gemm {expected} " in names


def test_a_product_is_not_rewritten_without_fusion():
    a, c = gpu(numpy.ones((60, 60), "float32")), gpu(numpy.ones(60, "float32"))
    for settings in ({"fuse": False}, {"rewrite": False}):
        np.clear_kernel_history()
        with np.config(**settings):
            y = a @ a + c
            assert y[0, 0] == 61
        assert not any("bias" in record["name"] for record in np.kernel_history())
    y = a @ a + c  # an assertion would hold the product
    assert not ON_FAKE_DRIVER or "product_epilogue" in np.explain(y)


def test_tf32_is_asked_for():
    """Off by default; on, the factors are rounded to 11 bits."""
    a = numpy.full((40, 40), 1 + 2.0**-12, "float32")
    np.clear_kernel_history()
    assert abs((gpu(a) @ gpu(a))[0, 0] - 40 * float(a[0, 0]) ** 2) < 1e-4
    assert not np.config.allow_tf32
    if ON_FAKE_DRIVER:
        with np.config(allow_tf32=True):
            assert (gpu(a) @ gpu(a))[0, 0] == 40
        names = [record["name"].split()[0] for record in np.kernel_history() if "40x40" in record["name"]]
        assert names == ["product_in_parts", "cublaslt"] and "tf32" in np.kernel_history()[-1]["name"]
    assert run("import weft\nprint(weft.config.allow_tf32)", WEFT_ALLOW_TF32="1")[0].strip() == "True"


def test_16_bit_floats_are_added_up_in_float32():
    """In float16 the sum would stop at 2048, in bfloat16 at 256."""
    for dtype in ("float16", "bfloat16"):
        a = gpu(numpy.ones((3, 5000)), dtype)
        assert (a @ a.T).to_device("cpu").astype("f8").tolist() == [
            [5000 if dtype == "float16" else 4992] * 3
        ] * 3


def test_loops_compile_nothing_after_their_first_iterations():
    x = gpu(np.ones(5000))
    want = 1.0
    for turn in range(70):
        if turn == 35:
            np.clear_kernel_history()
        x = x * 1.0001 + 0.5
        want = want * 1.0001 + 0.5
        if turn % 7 == 6:
            np.eval(x)
    assert x[3] == want
    history = np.kernel_history()
    assert history
    assert all(record["compile_seconds"] == 0 for record in history)
    assert {record["device"] for record in history} == {"cuda:0"}


def test_what_runs_on_the_cpu_instead_says_why():
    x = gpu(np.arange(20000))
    np.eval(x)
    np.clear_kernel_history()
    with np.config(without="gpu_kernels"):
        y = x * 3
        assert y[5] == 15
    assert y.device == "cuda:0"
    records = [record for record in np.kernel_history() if record["fallback"]]
    assert [record["fallback"] for record in records] == ["kernels for GPUs are left out"]
    assert records[0]["device"] == "cuda:0"
    assert records[0]["bytes_read"] == x.nbytes
    assert records[0]["bytes_written"] == y.nbytes
    assert not np.kernel_history()[0]["fallback"]


@needs_fake_driver
def test_what_runs_on_the_cpu_instead_is_printed():
    program = """
with np.device("cuda"): x = np.ones((40, 40))
np.eval(x)
with np.config(without="gpu_kernels"): np.eval(x + 1)
"""
    _, printed = run(program, WEFT_DEBUG="1")
    assert (
        "on the CPU instead of cuda:0 (12800 bytes there, 12800 back): kernels for GPUs are left out"
        in printed
    )


def test_explain_says_where():
    x = gpu(np.ones(10000))
    text = np.explain(x + 1)
    assert "on cuda:0" in text
    assert "copy to cuda:0" in text
    assert "it comes from another device" in text


def test_memory_is_not_exported_to_the_cpu():
    x = gpu(np.arange(6.0))
    with pytest.raises(TypeError, match="cuda:0"):
        memoryview(x)
    assert numpy.asarray(x).tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="without a copy"):
        numpy.array(x, copy=False)
    copied = numpy.asarray(x)
    copied[0] = 9
    assert x[0] == 0


def test_memory_is_counted_and_comes_back():
    np.empty_pool("cuda:0")
    before = np.memory_stats("cuda:0")["in_use"]
    x = gpu(np.ones(1 << 20))
    np.eval(x)
    assert np.memory_stats("cuda:0")["in_use"] - before == 8 << 20
    del x
    assert np.memory_stats("cuda:0")["in_use"] == before
    assert np.memory_stats("cuda:0")["pooled"] >= 8 << 20
    np.empty_pool("cuda:0")
    assert np.memory_stats("cuda:0")["pooled"] == 0


def test_the_limit_is_kept_and_nothing_is_lost():
    np.empty_pool("cuda:0")
    x = gpu(np.ones(1 << 18))
    np.eval(x)
    limit = np.memory_stats("cuda:0")["in_use"] + (3 << 20)
    with np.config(device_memory_limit=limit):
        y = x + 1
        np.eval(y)
        z = (x * 2, x * 3)
        with pytest.raises(np.OutOfMemoryError, match="WEFT_DEVICE_MEMORY_LIMIT"):
            np.eval(*z)
        assert y[3] == 2
    assert z[1][5] == 3


@needs_fake_driver
def test_the_steps_of_a_loop_are_launched_as_graphs(tmp_path):
    program = """
u = np.ones((60, 70))
v = u.to_device("cpu")
for x in (u, v):
    x[30] = 5
    for _ in range(100):
        x[1:-1, 1:-1] = (x[2:, 1:-1] + x[:-2, 1:-1]) * 0.25 + (x[1:-1, 2:] + x[1:-1, :-2]) * 0.25
assert u.device == "cuda:0" and v.device == "cpu"
assert (u.to_device("cpu") == v).all()
"""
    log = tmp_path / "calls"
    run(program, WEFT_DEVICE="cuda", WEFT_FAKE_DRIVER_LOG=str(log))
    calls = log.read_text().split()
    assert calls.count("cuGraphLaunch") >= 10
    assert calls.count("cuLaunchKernel") <= 40


def test_no_address_of_the_host():
    x = gpu(numpy.arange(3.0))
    assert not hasattr(x, "__array_interface__")
    assert numpy.asarray(x.to_device("cpu")).tolist() == [0.0, 1.0, 2.0]
