"""lineinfo=True: code for a GPU names the lines of the program."""

import re
from pathlib import Path

import numpy
import pytest
import weft as np
from on_gpu import needs_gpu
from weft import cuda

pytestmark = needs_gpu
HERE = Path(__file__)
LINES = HERE.read_text().splitlines()


@pytest.fixture
def device():
    with np.device("cuda"):
        yield


@cuda.jit(device=True)
def scaled(x):
    return x * 2.5  # line of scaled


@cuda.jit(device=True)
def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)  # line of power


def add_all(a, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0.0
        for k in range(a.size):
            total += scaled(a[k])  # line of the sum
        out[i] = total + power(a[i], 3)  # line of the store


def ptx_of(**options):
    kernel = cuda.jit(add_all, **options)
    out = np.zeros(4)
    kernel[1, 4](np.arange(4.0), out)
    assert numpy.array(out).tolist() == [15.0, 16.0, 23.0, 42.0]
    assert "on the CPU instead" not in kernel.explain()
    (ptx,) = kernel.inspect_asm().values()
    return ptx


def test_lines_of_kernels_and_of_functions_that_they_call():
    ptx = ptx_of(lineinfo=True)
    files = dict(re.findall(r'\.file\s+(\d+) "([^"]+)"', ptx))
    assert [Path(each) for each in files.values()] == [HERE]
    (file,) = files
    told = {int(line) for line in re.findall(rf"\.loc\s+{file} (\d+)", ptx)}
    for what in ("scaled", "power", "the sum", "the store"):
        assert any(LINES[line - 1].endswith(f"  # line of {what}") for line in told), what
    assert all(line <= len(LINES) for line in told)


@pytest.mark.parametrize("options", [{}, {"lineinfo": False}])
def test_no_lines_without(options):
    assert "\t.loc\t" not in ptx_of(**options)


def test_both_are_kept_apart_on_disk():
    for lineinfo in (True, False, True):
        assert ("\t.loc\t" in ptx_of(lineinfo=lineinfo)) == lineinfo


def test_it_is_yes_or_no():
    with pytest.raises(TypeError, match="lineinfo"):
        cuda.jit(add_all, lineinfo=3)
