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
        assert numpy.array_equal(numpy.asarray(np.jit(function)(*arguments())), expected), name
