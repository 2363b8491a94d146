"""A small sample of each probe (tests/probe/run.py): nothing that it does ends a process, or hangs."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

RUN = pathlib.Path(__file__).parents[2] / "probe" / "run.py"


def probes():
    spec = importlib.util.spec_from_file_location("probe_run", RUN)
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module.PROBES


@pytest.mark.parametrize("name", probes())
def test_sample(name):
    command = [sys.executable, RUN, "--only", name, "--sample", "--seed", "1", "--jobs", "2", "--no-shorten"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
