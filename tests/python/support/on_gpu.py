"""What tests of GPUs share: which driver there is, arrays there, processes with the fake driver."""

import os
import pathlib
import subprocess
import sys

import pytest
import weft as np

FAKE_DRIVER = pathlib.Path(np.__file__).parents[2] / "bin" / "libweft_fake_driver.so"
ON_FAKE_DRIVER = os.environ.get("WEFT_CUDA_DRIVER") == str(FAKE_DRIVER)
HAS_GPU = os.environ.get("WEFT_CUDA_DRIVER") is not None or len(np.devices()) > 1  # or the fake driver

needs_fake_driver = pytest.mark.skipif(not FAKE_DRIVER.exists(), reason="the fake driver is not built here")
on_fake_driver = pytest.mark.skipif(not ON_FAKE_DRIVER, reason="needs the fake driver")
needs_gpu = pytest.mark.skipif(not HAS_GPU, reason="neither a GPU nor the fake driver")


def run(program, **environment):
    """A process of its own, with the fake driver: what it printed, and what it wrote to stderr."""
    toolkit = str(FAKE_DRIVER.parent / "fake_driver_toolkit")  # its libraries, also where there are NVIDIA's
    fake = {"WEFT_CUDA_DRIVER": str(FAKE_DRIVER), "CUDA_HOME": toolkit, "WEFT_DEVICE": ""}
    variables = {**os.environ, **fake, **environment}
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


# What a program begins with that makes calls of the fake driver fail, by the context fails(...).
FAILING = f"""
import contextlib, ctypes, numpy
fake_driver = ctypes.CDLL({str(FAKE_DRIVER)!r})
fake_driver.weft_fake_driver_live_objects.restype = ctypes.c_int64

@contextlib.contextmanager
def fails(symbol, result=999, nth=1, for_ever=False):
    fake_driver.weft_fake_driver_fail(symbol.encode(), nth, result, for_ever)
    try:
        yield
    finally:
        fake_driver.weft_fake_driver_succeed()

def calls(symbol):
    return fake_driver.weft_fake_driver_calls(symbol.encode())

def error_of(work):
    try:
        work()
    except (np.DeviceError, MemoryError) as error:
        return str(error)
    return ""
"""


def run_failing(program, **environment):
    return run(FAILING + program, **environment)
