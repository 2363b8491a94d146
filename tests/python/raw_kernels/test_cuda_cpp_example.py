"""examples/cuda_cpp.py: each of its steps beside NumPy."""

import pathlib
import sys

import numpy
import pytest
import weft as np
from on_gpu import needs_gpu

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "examples"))
import cuda_cpp
import periodogram as programs

pytestmark = needs_gpu


def test_each_step_gives_the_periodogram(tmp_path):
    t, y = programs.series()
    f = programs.frequencies(40)
    truth = programs.periodogram(numpy, t, y, f)
    with np.device("cuda"):
        for name, make, dtype in cuda_cpp.steps(tmp_path):
            on_gpu = [np.asarray(each, dtype) for each in (t, y, f)]
            power = numpy.array(cuda_cpp.spectrum(make(), *on_gpu, dtype))
            tolerance = 1e-9 if dtype == np.float64 else 1e-2 if "fast" in name or "file" in name else 1e-4
            assert power == pytest.approx(truth, abs=tolerance), name
