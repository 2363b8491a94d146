"""The example programs: each runs by itself, and the demo's comparison can fail."""

import json
import os
import pathlib
import subprocess
import sys

import numpy
import pytest
import scipy.signal
import weft

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"
sys.path.insert(0, str(EXAMPLES))

import black_scholes  # noqa: E402
import demo  # noqa: E402
import diffusion  # noqa: E402
import expression  # noqa: E402
import laplace  # noqa: E402
import normalise  # noqa: E402
import periodogram  # noqa: E402
import products  # noqa: E402
import smooth  # noqa: E402
import softmax  # noqa: E402
import units  # noqa: E402


@pytest.mark.parametrize(
    "program",
    [
        "expression",
        "black_scholes",
        "diffusion",
        "smooth",
        "smooth tiled",
        "normalise",
        "softmax",
        "periodogram",
        "products",
        "units",
        "components",
        "jagged",
        "seasons",
    ],
)
@pytest.mark.parametrize("module", ["numpy", "weft"])
def test_a_program_runs_by_itself(program, module, tmp_path):
    name, *words = program.split()
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), module, *words]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stderr
    assert "ms" in done.stdout


@pytest.mark.parametrize("program", sorted(path.stem for path in EXAMPLES.glob("kernels*.py")))
def test_kernels_find_what_numpy_does(program, tmp_path):
    command = [sys.executable, str(EXAMPLES / f"{program}.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) >= 4 and all(" True" in line for line in lines), done.stdout


def test_expression_has_the_bits_of_numpy():
    inputs = expression.inputs(30_001)
    expected = expression.expression(*inputs)
    actual = expression.expression(*(weft.asarray(x) for x in inputs))
    assert isinstance(actual, weft.ndarray)
    assert demo.difference(expected, numpy.asarray(actual)) == 0


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-4), ("float64", 1e-12)])
def test_black_scholes(dtype, tolerance):
    inputs = black_scholes.inputs(dtype, 20_003)
    expected = demo.price(numpy, *inputs)
    actual = demo.price(weft, *(weft.asarray(x) for x in inputs))
    assert demo.difference(expected, numpy.asarray(actual)) <= tolerance


# What each program of the demo, on a smaller input, reads and writes: bytes of each kernel it launches.
# `inputs` and `result` stand for all bytes of the one and of the other; a number is added to them.
TRAFFIC = {
    "expression": (
        lambda: expression.inputs(30_001),
        lambda np, *arrays: expression.expression(*arrays),
        [("inputs", "result")],
    ),
    "Black-Scholes, float32": (
        lambda: black_scholes.inputs("float32", 20_003),
        demo.price,
        [("inputs", "result")],
    ),
    "Black-Scholes, float64": (
        lambda: black_scholes.inputs("float64", 20_003),
        demo.price,
        [("inputs", "result")],
    ),
    # A step reads all but the corners and writes what is inside: 298 × 398 of 300 × 400.
    "Laplace, 3 steps": (
        lambda: [field(300, 400)],
        lambda np, u: laplace.relax(u, 3),
        3 * [(300 * 400 * 8 - 16, 298 * 398 * 8)],
    ),
    "diffusion, 2 steps, after a copy": (
        lambda: [diffusion.jagged()],
        lambda np, u: diffusion.diffuse(u, 2),
        [("inputs", "result")] + 2 * [(427 * 640 * 12 - 24, 425 * 638 * 12)],
    ),
    "smoothing": (lambda: [smooth.photograph()], smooth.smooth, [("inputs", "result")]),
    "smoothing, tiled": (lambda: [smooth.tiled(1000)], smooth.smooth, [("inputs", "result")]),
    # Once for the means and deviations of 200 columns, once for the result; more than 256 rows would be combined.
    "normalise": (
        lambda: [normalise.table(200)],
        lambda np, q: normalise.normalise(q),
        [("inputs", 2 * 200 * 4), (200 * 200 * 4 + 2 * 200 * 4, "result")],
    ),
    "softmax": (lambda: [softmax.scores(300)], softmax.softmax, [("inputs", "result")]),
    # Samples, frequencies, and the sum of squares that was there already.
    "periodogram": (
        lambda: [*periodogram.series(), periodogram.frequencies(300)],
        periodogram.periodogram,
        [((2 * 2225 + 300 + 1) * 8, "result")],
    ),
}


def field(*shape):
    return numpy.random.default_rng(7).random(shape)


@pytest.mark.parametrize("program", TRAFFIC)
def test_kernels_and_bytes_of_a_program(program):
    inputs, call, expected = TRAFFIC[program]
    arrays = [weft.array(x) for x in inputs()]
    weft.eval(*arrays)
    result, launched = demo.kernels_launched(weft, lambda: demo.finish(weft, call(weft, *arrays)))
    known = {"inputs": sum(x.nbytes for x in arrays), "result": result.nbytes}
    traffic = [(kernel["bytes_read"], kernel["bytes_written"]) for kernel in launched]
    assert traffic == [tuple(known.get(bytes_, bytes_) for bytes_ in pair) for pair in expected]


def test_laplace_has_the_bits_of_numpy():
    expected, actual = (laplace.relax(laplace.plate(np, 90), 30) for np in (numpy, weft))
    assert demo.difference(expected, numpy.asarray(actual)) == 0
    expected, actual = (laplace.solve(np, size=20, tolerance=1e-3, every=10) for np in (numpy, weft))
    assert demo.difference(expected, demo.to_numpy(actual)) == 0


def test_laplace_converges_to_the_solution():
    u, _ = laplace.solve(numpy, size=31, tolerance=1e-9)
    assert abs(u[15, 15] - 0.25) < 1e-4  # the mean of the four edges, by symmetry


def test_photographs_have_the_bits_of_numpy():
    noise, photograph = diffusion.jagged(), smooth.photograph()
    assert photograph.shape == (427, 640, 3)
    diffused = diffusion.diffuse(weft.asarray(noise), 3)
    assert demo.difference(diffusion.diffuse(noise, 3), numpy.asarray(diffused)) == 0
    smoothed = smooth.smooth(weft, weft.asarray(photograph))
    assert demo.difference(smooth.smooth(numpy, photograph), numpy.asarray(smoothed)) == 0


def test_the_tiled_photograph_is_smoothed_as_numpy_does():
    image = smooth.tiled(1000)
    assert image.shape == (1000, 1000)
    assert image.dtype == numpy.uint8
    numpy.testing.assert_array_equal(image[427:854, 640:], image[:427, :360])
    smoothed = smooth.smooth(weft, weft.asarray(image))
    assert demo.difference(smooth.smooth(numpy, image), numpy.asarray(smoothed)) == 0


def test_columns_are_normalised():
    q = normalise.table(500)
    actual = numpy.asarray(normalise.normalise(weft.asarray(q)))
    exact = q.astype("f8")
    exact = (exact - exact.mean(0)) / exact.std(0)
    assert actual.dtype == numpy.float32
    numpy.testing.assert_allclose(actual, exact, atol=2e-5)  # a column's level is up to 25 times its spread


def test_a_product_that_is_summed_costs_no_product():
    a, b = products.matrices(300, 200, 100)
    expected = numpy.asarray(a, float).sum(0) @ numpy.asarray(b, float)
    x, y = weft.asarray(a), weft.asarray(b)
    for result in (products.product_then_sum(x, y), products.einsum(weft, x, y)):
        numpy.testing.assert_allclose(numpy.asarray(result), expected, rtol=1e-5)
    assert "sum" in weft.explain(products.product_then_sum(x, y))


def test_softmax_sums_to_one():
    q = softmax.scores(500)
    actual = numpy.asarray(softmax.softmax(weft, weft.asarray(q)))
    assert demo.difference(softmax.softmax(numpy, q), actual) <= 2e-6
    numpy.testing.assert_allclose(actual.sum(axis=1, dtype="f8"), 1, atol=1e-6)


def test_the_periodogram_finds_the_year_and_its_half():
    t, y = periodogram.series()
    assert t.size == y.size == 2225  # of 2284 weeks, 59 have no sample
    assert abs(y.mean()) < 1e-6
    f = periodogram.frequencies(600)
    expected = periodogram.periodogram(numpy, t, y, f)
    actual = numpy.asarray(periodogram.periodogram(weft, *(weft.asarray(x) for x in (t, y, f))))
    numpy.testing.assert_allclose(actual, expected, rtol=1e-9)
    theirs = scipy.signal.lombscargle(t, y, 2 * numpy.pi * f, normalize=True)
    numpy.testing.assert_allclose(actual, theirs, rtol=1e-6)
    assert abs(periodogram.peak(f, actual, 0.7, 1.3) - 1) < 0.01
    assert abs(periodogram.peak(f, actual, 1.7, 2.3) - 2) < 0.01


def test_difference_sees_what_differs():
    x = numpy.array([1.0, 2.0, 4.0])
    assert demo.difference(x, x.copy()) == 0
    assert demo.difference(x, numpy.array([1.0, 2.0, 4.4])) == pytest.approx(0.1)
    assert demo.difference(x, x.astype("f4")) == float("inf")
    assert demo.difference(x, x[:2]) == float("inf")
    assert demo.difference(x, numpy.array([1.0, numpy.nan, 4.0])) == float("inf")
    assert demo.difference((x, 3), (x, 4)) > 0


def run_demo(tmp_path, *words):
    """The first row, and the process that found it; modules in `tmp_path` can be imported."""
    rows = tmp_path / "rows.json"
    command = [sys.executable, str(EXAMPLES / "demo.py"), *words, "--json", str(rows), "--out", str(tmp_path)]
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": path}
    )
    return json.loads(rows.read_text())[0], done


def test_the_demo_fails_when_results_disagree(tmp_path):
    (tmp_path / "wrong.py").write_text(
        "import numpy\nfrom numpy import *\nndarray = numpy.ndarray\n"
        "def asarray(x): return numpy.asarray(x) * numpy.asarray(x).dtype.type(1.001)\n"
    )
    row, done = run_demo(tmp_path, "--only", "2*a", "--module", "wrong")
    assert done.returncode == 1
    assert "differs" in done.stdout
    assert row["difference"] > 1e-4


def test_the_demo_runs_another_module_beside_weft(tmp_path):
    table = tmp_path / "table.md"
    row, done = run_demo(tmp_path, "--only", "diffusion", "--beside", "numpy", "--markdown", str(table))
    assert done.returncode == 0, done.stderr
    assert row["difference"] == row["beside_difference"] == 0
    assert row["ratio"] == pytest.approx(row["weft_ms"] / row["beside_ms"], rel=0.5)
    assert "ratio to it" in done.stdout  # said as soon as it is known
    assert f"| {row['ratio']:.3f} | {row['kernels']} | the same bits | the same bits |" in table.read_text()
    (tmp_path / "broken.py").write_text("def asarray(x): raise MemoryError('all is full')\n")
    row, done = run_demo(tmp_path, "--only", "diffusion", "--beside", "broken")
    assert done.returncode == 0, done.stderr
    assert row["beside_error"] == "MemoryError: all is full"
    assert "fails: MemoryError: all is full" in done.stdout


@pytest.mark.parametrize("shape", [(512, 784, 256), (301, 50, 77)])
def test_the_layer_of_units_draws_numpys_numbers_in_one_kernel(shape):
    theirs, ours = units.Layer(numpy, *shape), units.Layer(weft, *shape)
    for _ in range(4):
        expected = theirs.sample()
        weft.clear_kernel_history()
        result = numpy.asarray(ours.sample())
        assert result.dtype == bool
        assert (result != expected).mean() < 2e-5
    kernels = weft.kernel_history()
    assert sum(kernel["bytes_written"] == expected.size for kernel in kernels) == 1
    assert all(kernel["bytes_written"] <= 4 * expected.size for kernel in kernels)
    assert len(kernels) == 2
    assert demo.difference(expected, ~result) == pytest.approx(1, abs=1e-4)
