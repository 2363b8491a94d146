"""weft.config.linalg_device: spectra of a GPU's matrices that a CPU finds sooner."""

import numpy
import pytest
import weft as np
from on_gpu import gpu, needs_gpu, run

pytestmark = needs_gpu


def symmetric(*shape):
    values = numpy.random.default_rng(len(shape)).standard_normal(shape)
    return values + values.swapaxes(-1, -2)


def went_to_the_cpu(name, a):
    """Whether it did, with the results of the same call on the CPU."""
    np.clear_kernel_history()
    there = gpu(a)
    results = getattr(np.linalg, name)(there)
    results = results if isinstance(results, tuple) else (results,)
    np.eval(*results)
    # Some of cuSOLVER's versions have no eigenvalues of general matrices.
    records = [record for record in np.kernel_history() if "linalg_device" in (record["fallback"] or "")]
    for each in results:
        assert each.device == "cuda:0"
        assert ("on the CPU: config.linalg_device is auto" in np.explain(each)) == bool(records)
    if records:
        assert [record["bytes_read"] for record in records] == [a.nbytes]  # counted as other moves
        expected = getattr(np.linalg, name)(np.asarray(a, device="cpu"))
        for each, right in zip(results, expected if isinstance(expected, tuple) else (expected,)):
            assert numpy.asarray(each.to_device("cpu")).tobytes() == numpy.asarray(right).tobytes()
    return bool(records)


@pytest.mark.parametrize("name", ["eigh", "eigvalsh", "svd", "svdvals", "eig", "eigvals"])
@pytest.mark.parametrize("shape", [(3, 3), (20, 20), (5, 3, 3)], ids=str)
def test_few_small_matrices(name, shape):
    a = symmetric(*shape)
    assert not went_to_the_cpu(name, a)
    with np.config(linalg_device="auto"):
        # A program of weft's own takes 3×3 in less than their way to the CPU.
        assert went_to_the_cpu(name, a) == (shape[-1] > 4 or (name.startswith("eig") and "h" not in name))
    assert not went_to_the_cpu(name, a)


@pytest.mark.parametrize("name, stays", [("eigvalsh", True), ("svdvals", True), ("eigvals", False)])
@pytest.mark.parametrize("shape", [(90, 3, 3), (260, 260), (260, 2), (400, 400)], ids=str)
def test_many_or_large_ones(name, stays, shape):
    if name != "svdvals" and shape[-1] != shape[-2]:
        pytest.skip("square matrices only")
    a = symmetric(*shape) if shape[-1] == shape[-2] else numpy.ones(shape)
    if name == "eigvals" and shape[-1] > 100:
        a = numpy.diag(numpy.arange(1.0, shape[-1] + 1))
    with np.config(linalg_device="auto"):
        assert went_to_the_cpu(name, a) != (stays or shape[-1] == 400)


def test_other_functions_stay():
    with np.config(linalg_device="auto"):
        for name in ("inv", "det", "cholesky", "qr"):
            assert not went_to_the_cpu(name, symmetric(3, 3) + 9 * numpy.eye(3))


def test_errors_are_the_cpus():
    with np.config(linalg_device="auto"), pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        np.linalg.svd(gpu(numpy.full((3, 3), numpy.nan)))


def test_the_setting():
    assert np.config.linalg_device == "operands"
    with pytest.raises(ValueError, match="linalg_device is operands or auto, not 'gpu'"):
        np.config.linalg_device = "gpu"
    with pytest.raises(TypeError):
        np.config.linalg_device = 1
    printed, _ = run("print(np.config.linalg_device)", WEFT_LINALG_DEVICE="auto")
    assert printed.strip() == "auto"
    assert "WEFT_LINALG_DEVICE" in repr(np.config)
