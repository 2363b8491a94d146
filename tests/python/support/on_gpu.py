"""What tests of GPUs share: which driver there is, arrays there, processes with the stand-in."""

import os
import pathlib
import subprocess
import sys

import pytest
import weft as np

STAND_IN = pathlib.Path(np.__file__).parents[2] / "bin" / "libweft_stand_in.so"
ON_STAND_IN = os.environ.get("WEFT_CUDA_DRIVER") == str(STAND_IN)
HAS_GPU = os.environ.get("WEFT_CUDA_DRIVER") is not None or len(np.devices()) > 1  # or the stand-in for one

needs_stand_in = pytest.mark.skipif(not STAND_IN.exists(), reason="the stand-in driver is not built here")
on_stand_in = pytest.mark.skipif(not ON_STAND_IN, reason="needs the stand-in driver")
needs_gpu = pytest.mark.skipif(not HAS_GPU, reason="neither a GPU nor the stand-in")


def run(program, **environment):
    """A process of its own, with the stand-in: what it printed, and what it wrote to stderr."""
    variables = {**os.environ, "WEFT_CUDA_DRIVER": str(STAND_IN), "WEFT_DEVICE": "", **environment}
    result = subprocess.run(
        [sys.executable, "-c", "import weft as np\n" + program],
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout, result.stderr


@pytest.fixture(autouse=True)
def on_cpu():
    """These tests say where their arrays are, whatever WEFT_DEVICE says."""
    with np.device("cpu"):
        yield


def gpu(values, dtype=None):
    return np.asarray(values, dtype).to_device("cuda:0")


# What a program begins with that makes calls of the stand-in fail, by the context fails(...).
FAILING = f"""
import contextlib, ctypes, numpy
stand_in = ctypes.CDLL({str(STAND_IN)!r})
stand_in.weft_stand_in_live_objects.restype = ctypes.c_int64

@contextlib.contextmanager
def fails(symbol, result=999, nth=1, for_ever=False):
    stand_in.weft_stand_in_fail(symbol.encode(), nth, result, for_ever)
    try:
        yield
    finally:
        stand_in.weft_stand_in_succeed()

def calls(symbol):
    return stand_in.weft_stand_in_calls(symbol.encode())

def error_of(work):
    try:
        work()
    except (np.DeviceError, MemoryError) as error:
        return str(error)
    return ""
"""


def run_failing(program, **environment):
    return run(FAILING + program, **environment)
