"""The programs of examples/programs, on small input, three ways: the results agree."""

import json
import pathlib
import subprocess
import sys

import numpy
import pytest
import weft

ROOT = pathlib.Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "bench"))

import program_run  # noqa: E402
import programs  # noqa: E402

SIZES = {
    "edges": 60,
    "heat": 50,
    "life": 60,
    "mandelbrot": 60,
    "n_body": 60,
    "spectrogram": 20_000,
    "lorenz": 200,
    "bootstrap": 100,
    "compression": 300,
    "deblur": 64,
    "drawdown": 2000,
    "equalise": 60,
    "gaussian_process": 60,
    "ising": 32,
    "labelling": 40,
    "shortest_paths": 40,
    "sudoku": 2,
}
pytestmark = pytest.mark.host


def results(module, size):
    return {name: numpy.asarray(value) for name, value in module.main(size).items()}


@pytest.mark.parametrize("path", programs.PROGRAMS, ids=lambda path: path.stem)
def test_a_program_gives_the_same_three_ways(path):
    size = SIZES.get(path.stem, 500)
    expected = results(program_run.module_of(path, False), size)
    changed = program_run.module_of(path, True)
    with weft.install():
        unchanged = program_run.module_of(path, False)
        assert type(unchanged.np.ones(1)) is weft.ndarray
        found = [results(changed, size), results(unchanged, size)]
    for way in found:
        for name in expected:
            assert not programs.difference(
                expected[name], way[name], programs.TOLERANCE.get(path.stem, 1e-9)
            ), name


def test_a_program_runs_by_itself_and_the_comparison_can_fail(tmp_path):
    path = ROOT / "examples/programs/life.py"
    words = [sys.executable, "-m", "weft", str(path), "40"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("alive: ")
    for way in programs.WAYS:
        assert programs.run(way, path, 40, 1, tmp_path)["module"] == ("numpy" if way == "numpy" else "weft")
    assert programs.compared(path, tmp_path) is None
    numpy.savez(tmp_path / "zero.npz", cells=numpy.zeros((40, 40), "u1"), alive=numpy.zeros(20, int))
    assert programs.compared(path, tmp_path).startswith("zero, cells:")
    assert json.dumps(programs.size_of(path, 0.01)) == "15"
