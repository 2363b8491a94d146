"""The example runs, and its compiled functions give what Python's give."""

import pathlib
import runpy
import subprocess
import sys

import numpy
import weft as np

PATH = pathlib.Path(__file__).resolve().parents[3] / "examples/loops.py"


def test_the_example_runs():
    done = subprocess.run([sys.executable, PATH, "--small"], capture_output=True, text=True, check=True)
    assert "n queens" in done.stdout and "differ" not in done.stdout


def test_its_functions_agree_with_python():
    space = runpy.run_path(str(PATH))
    for name, function, arguments in space["programs"](True):
        # Narrow integers widen in compiled functions; NumPy's scalars would wrap.
        wide = [a.astype(numpy.int64) if getattr(a, "dtype", None) == numpy.uint8 else a for a in arguments()]
        expected = numpy.asarray(function(*wide))
        found = numpy.asarray(np.jit(function)(*arguments()))
        # The last bits of sines are weft's own.
        assert numpy.allclose(
            found, expected, rtol=1e-10, atol=0 if name != "Lomb-Scargle, all cores" else 1e-12
        ), name
