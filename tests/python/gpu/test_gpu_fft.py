"""Fourier transforms on GPUs by cuFFT: kinds, axes, layouts, lengths; and what happens when it fails or is missing."""

import numpy
import pytest
import weft as np
from on_gpu import gpu, needs_fake_driver, needs_gpu, on_cpu, run, run_failing  # noqa: F401

pytestmark = needs_gpu


def numbers(shape, dtype="c16"):
    draw = numpy.random.default_rng(shape)
    values = draw.standard_normal(shape)
    if numpy.dtype(dtype).kind == "c":
        values = values + 1j * draw.standard_normal(shape)
    return values.astype(dtype)


def check(function, values, *arguments, on_device=None, **options):
    """By the GPU alone, as NumPy has it."""
    given = gpu(values) if on_device is None else on_device
    before = numpy.asarray(given.to_device("cpu"))
    wanted = getattr(numpy.fft, function)(before, *arguments, **options)
    np.clear_kernel_history()
    result = getattr(np.fft, function)(given, *arguments, **options)
    np.eval(result)
    history = np.kernel_history()
    assert not any(record["fallback"] for record in history)
    assert any(record["name"].startswith("cufft") for record in history)
    assert result.device == "cuda:0"
    found = numpy.asarray(result.to_device("cpu"))
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    bound = 60 * numpy.finfo(found.dtype).eps * numpy.abs(before).max() * max(wanted.size, before.size)
    assert numpy.abs(found - wanted).max(initial=0) <= bound * max(
        numpy.abs(wanted).max() / max(numpy.abs(before).max() * before.size, 1e-9), 0.05
    )
    assert (numpy.asarray(given.to_device("cpu")) == before).all()
    return history


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("n", [1, 2, 7, 64, 101])
def test_rows(n, dtype, norm):
    values = numbers((3, n), dtype)
    check("fft", values, norm=norm)
    check("ifft", values, norm=norm)
    if values.dtype.kind == "f":
        check("rfft", values, norm=norm)
        check("ihfft", values, norm=norm)
    if n > 1:
        check("irfft", values, norm=norm)
        check("irfft", values, 2 * n - 1, norm=norm)
        check("hfft", values, norm=norm)


@pytest.mark.parametrize(
    "axes", [(0,), (1,), (2,), (0, 1), (1, 2), (2, 1), (0, 2), (1, 0), (0, 1, 2), (2, 0, 1)], ids=str
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_axes(axes, order):
    values = numpy.asarray(numbers((4, 6, 5)), order=order)
    check("fftn", values, axes=axes)
    check("ifftn", values, axes=axes)
    check("irfftn", values, axes=axes)
    check("rfftn", values.real.copy(order), axes=axes)


@pytest.mark.parametrize("shape", [(2, 3, 4, 2, 3), (40, 6, 5), (3, 70, 2)], ids=str)
def test_axes_among_many(shape):
    for axis in range(len(shape)):
        check("fft", numbers(shape), axis=axis)
        check("rfft", numbers(shape, "f8"), axis=axis)
        check("irfft", numbers(shape), axis=axis)
    check("fftn", numbers(shape))
    check("rfftn", numbers(shape, "f8"))
    check("irfftn", numbers(shape))


def test_lengths():
    values = numbers((6, 8))
    for n in (1, 5, 8, 11):
        check("fft", values, n)
        check("fft", values, n, axis=0)
        check("rfft", values.real, n)
        check("irfft", values, n)
    check("fft2", values, (4, 12))
    check("irfft2", values, (9, 3))
    check("rfft2", values.real, (9, 3))


def test_views():
    base = gpu(numbers((9, 12)))
    for view in (base[::-1], base[:, ::2], base[2:, 3:].T, base[1:2, 1:], base[::3, ::-2]):
        check("fft", None, on_device=view)
        check("ifftn", None, on_device=view)
        check("irfftn", None, on_device=view)
    real = gpu(numbers((50,), "f4"))
    check("rfft", None, on_device=real[1:])
    check("rfft", None, on_device=real[3:40:2])
    check("fft", None, on_device=np.broadcast_to(real[:8], (3, 8)))
    check("fft", numpy.arange(10))
    check("rfft", numpy.arange(10) > 4)


def test_nothing_is_copied_where_memory_fits():
    x = gpu(numbers((16, 24), "c8"))
    np.eval(x)
    for work in (
        lambda: np.fft.fft2(x),
        lambda: np.fft.fft(x),
        lambda: np.fft.fft(x, axis=0),
        lambda: np.fft.fft2(x.T),
    ):
        np.clear_kernel_history()
        np.eval(work())
        assert [record["name"].split()[0] for record in np.kernel_history()] == ["cufft"]
    np.clear_kernel_history()
    np.eval(np.fft.ifft2(x) * x + 1)
    assert len(np.kernel_history()) == 2


def test_round_trips_and_convolutions():
    x, y = numbers((30, 20), "f8"), numbers((30, 20), "f8")
    a, b = gpu(x), gpu(y)
    smooth = np.fft.irfft2(np.fft.rfft2(a) * np.fft.rfft2(b), (30, 20))
    assert numpy.allclose(
        numpy.asarray(smooth.to_device("cpu")),
        numpy.fft.irfft2(numpy.fft.rfft2(x) * numpy.fft.rfft2(y), (30, 20)),
    )
    assert numpy.allclose(numpy.asarray(np.fft.ifft(np.fft.fft(a)).real.to_device("cpu")), x)


@pytest.mark.parametrize("kind", ["dct", "dst", "idct", "idst"])
@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [2, 3, 4, 7, 20])
def test_cosines_and_sines(kind, type, n):
    scipy_fft = pytest.importorskip("scipy.fft")
    for dtype, shape, axis in (("f8", (3, n), -1), ("f4", (n, 4), 0), ("f8", (n,), 0)):
        values = numbers(shape, dtype)
        for options in (
            {},
            {"norm": "ortho"},
            {"norm": "forward", "n": n + 3},
            {"norm": "ortho", "orthogonalize": False},
        ):
            wanted = getattr(scipy_fft, kind)(values, type, axis=axis, **options)
            np.clear_kernel_history()
            found = getattr(np.scipy.fft, kind)(gpu(values), type, axis=axis, **options)
            assert not any(record["fallback"] for record in np.kernel_history())
            assert found.device == "cuda:0" and found.dtype == wanted.dtype
            found = numpy.asarray(found.to_device("cpu"))
            assert numpy.allclose(
                found, wanted, atol=30 * numpy.finfo(dtype).eps * n * max(abs(wanted).max(), 0.1)
            ), options


def test_cosines_along_axes():
    scipy_fft = pytest.importorskip("scipy.fft")
    values = numbers((5, 6, 4), "f8")
    for function in ("dctn", "idstn"):
        wanted = getattr(scipy_fft, function)(values, 2, axes=(2, 0))
        found = getattr(np.scipy.fft, function)(gpu(values), 2, axes=(2, 0))
        assert numpy.allclose(numpy.asarray(found.to_device("cpu")), wanted)


def test_many_plans():
    for n in range(1, 140):
        check("fft", numbers((n,), "c8"))


def test_without_elements():
    assert np.fft.fft(np.zeros((0, 4), device="cuda")).shape == (0, 4)
    with pytest.raises(ValueError, match="Invalid number of FFT data points"):
        np.fft.fft(np.zeros((4, 0), device="cuda"))


@needs_fake_driver
def test_a_library_that_is_missing():
    printed, _ = run(
        """
x = np.arange(4.0, device="cuda")
np.clear_kernel_history()
y = np.fft.fft(x)
assert y.device == "cuda:0" and y.tolist() == [6, -2 + 2j, -2, -2 - 2j]
print([record["fallback"] for record in np.kernel_history() if record["fallback"]][0])
""",
        WEFT_FAKE_DRIVER_VERSION="12000",
    )
    assert "cuFFT was not found" in printed and "pip install weft[cuda13]" in printed


@needs_fake_driver
def test_calls_that_fail():
    run_failing("""
with np.device("cuda"):
    x = np.arange(60.0).reshape(6, 10)
    np.eval(x)
    of = lambda values: numpy.asarray(values.to_device("cpu"))
    def program(n):
        return of(np.fft.irfft2(np.fft.rfft2(x, (6, n)), (6, n)))
    program(20)
    for status in (2, 5):
        for k, symbol in enumerate(("cufftCreate", "cufftSetAutoAllocation", "cufftSetStream", "cufftXtMakePlanMany")):
            n = 101 + 10 * status + k
            objects = fake_driver.weft_fake_driver_live_objects()
            np.empty_pool("cuda")
            with fails(symbol, status, for_ever=True):
                message = error_of(lambda: program(n))
            assert "CUFFT_" in message and "try again" in message, (symbol, message)
            assert fake_driver.weft_fake_driver_live_objects() == objects, symbol
            assert numpy.allclose(program(n)[:, :10], of(x)), symbol
        for symbol in ("cufftSetWorkArea", "cufftXtExec"):
            for nth in (1, 2):
                with fails(symbol, status, nth):
                    message = error_of(lambda: program(20))
                assert "CUFFT_" in message and "try again" in message, (symbol, message)
                assert numpy.allclose(program(20)[:, :10], of(x)), symbol
    # Memory that the library lacks, and that the pool has.
    y = np.zeros(100000)
    np.eval(y)
    del y
    np.clear_kernel_history()
    with fails("cufftXtMakePlanMany", 2):
        assert numpy.allclose(program(77)[:, :10], of(x))
""")
