"""The example programs: each runs by itself, and the demo's comparison can fail."""

import json
import pathlib
import subprocess
import sys

import numpy
import pytest
import weft

EXAMPLES = pathlib.Path(__file__).parent.parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))

import black_scholes  # noqa: E402
import demo  # noqa: E402
import diffusion  # noqa: E402
import expression  # noqa: E402
import laplace  # noqa: E402
import smooth  # noqa: E402


@pytest.mark.parametrize("program", ["expression", "black_scholes", "diffusion", "smooth"])
@pytest.mark.parametrize("module", ["numpy", "weft"])
def test_a_program_runs_by_itself(program, module):
    command = [sys.executable, str(EXAMPLES / f"{program}.py"), module]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "ms" in done.stdout


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


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_black_scholes_and_the_expression_are_one_kernel_each(dtype):
    options = tuple(weft.asarray(x) for x in black_scholes.inputs(dtype, 20_003))
    numbers = tuple(weft.asarray(x) for x in expression.inputs(30_001))
    weft.eval(*options, *numbers)
    _, launched = demo.kernels_launched(weft, lambda: weft.eval(demo.price(weft, *options)))
    assert launched == 1
    _, launched = demo.kernels_launched(weft, lambda: weft.eval(expression.expression(*numbers)))
    assert launched == 1


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


def test_difference_sees_what_differs():
    x = numpy.array([1.0, 2.0, 4.0])
    assert demo.difference(x, x.copy()) == 0
    assert demo.difference(x, numpy.array([1.0, 2.0, 4.4])) == pytest.approx(0.1)
    assert demo.difference(x, x.astype("f4")) == float("inf")
    assert demo.difference(x, x[:2]) == float("inf")
    assert demo.difference(x, numpy.array([1.0, numpy.nan, 4.0])) == float("inf")
    assert demo.difference((x, 3), (x, 4)) > 0


def test_the_demo_fails_when_results_disagree(tmp_path):
    (tmp_path / "wrong.py").write_text(
        "import numpy\nfrom numpy import *\nndarray = numpy.ndarray\n"
        "def asarray(x): return numpy.asarray(x) * numpy.asarray(x).dtype.type(1.001)\n"
    )
    command = [sys.executable, str(EXAMPLES / "demo.py"), "--only", "2*a", "--module", "wrong"]
    rows = tmp_path / "rows.json"
    done = subprocess.run(
        [*command, "--json", str(rows), "--out", str(tmp_path)], capture_output=True, text=True, timeout=120,
        env={"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 1
    assert "differs" in done.stdout
    assert json.loads(rows.read_text())[0]["difference"] > 1e-4
