"""joblib's processes and caches, and IPython, in programs that weft runs unchanged."""

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.host


def run(*words, folder):
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**os.environ, "JOBLIB_TEMP_FOLDER": str(folder), "IPYTHONDIR": str(folder), "TERM": "dumb"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def the_same(folder, text):
    """What a program prints, which is the same with weft."""
    path = folder / "program.py"
    path.write_text(textwrap.dedent(text))
    expected = run(path, folder=folder)
    assert run("-m", "weft", path, folder=folder) == expected
    return expected


PARALLEL = """
import numpy as np
from joblib import Parallel, delayed

def work(x, k):
    import numpy
    assert isinstance(x * k, numpy.ndarray) and isinstance((x * k).sum(), numpy.floating)
    return float((numpy.sqrt(x) * k).sum()), x.shape

if __name__ == "__main__":
    small, large = np.arange(4.0), np.ones((300, 1000))  # joblib maps arrays of more than a megabyte
    for backend in ("loky", "threading", "multiprocessing"):
        for x in (small, large):
            for total, shape in Parallel(n_jobs=2, backend=backend)(delayed(work)(x, k) for k in (1, 2)):
                print(backend, round(total, 6), shape)
    print([np.asarray(each).tolist() for each in Parallel(n_jobs=2)(delayed(np.sqrt)(x) for x in (small, large[0]))][0])
"""


def test_joblib_runs_the_program_in_parallel(tmp_path):
    pytest.importorskip("joblib")
    assert len(the_same(tmp_path, PARALLEL).splitlines()) == 13


CACHED = """
import numpy as np
import joblib

memory = joblib.Memory("cache", verbose=0)
calls = []

@memory.cache
def mean(x):
    calls.append(1)
    return x.mean(axis=0)

x = np.arange(12.0).reshape(3, 4)
print(mean(x), mean(x), mean(x + 1), len(calls))
joblib.dump({"x": x, "k": np.int64(3), "d": np.dtype("f4")}, "stored.joblib")
loaded = joblib.load("stored.joblib")
print(loaded["x"] + x, loaded["k"] + 1, loaded["d"], isinstance(loaded["x"], np.ndarray))
print(joblib.load("stored.joblib", mmap_mode="r")["x"].sum() + x.sum(), joblib.hash(x) == joblib.hash(x.copy()))
"""


def test_joblib_caches_and_stores_arrays(tmp_path):
    pytest.importorskip("joblib")
    the_same(tmp_path, CACHED)
    plain = (
        "import joblib, sys; print(type(joblib.load('stored.joblib')['x']).__module__, 'weft' in sys.modules)"
    )
    assert run("-c", plain, folder=tmp_path) == "numpy False\n"


SEARCH = """
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

if __name__ == "__main__":
    x = np.sin(np.arange(240.0)).reshape(60, 4)
    search = GridSearchCV(Ridge(), {"alpha": np.logspace(-3, 0, 4)}, n_jobs=2, cv=3).fit(x, x @ np.arange(4.0))
    print(search.best_params_["alpha"].round(6), np.round(search.best_estimator_.coef_, 6))
"""


def test_scikit_learn_searches_in_processes(tmp_path):
    pytest.importorskip("sklearn")
    the_same(tmp_path, SEARCH)


CELLS = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
def cell(text):
    result = shell.run_cell(text)
    result.raise_error()
    return result.result
cell("import numpy as np\\nbefore = np.ones(2)")
cell("%load_ext weft")
assert cell("type(np.ones(2)).__module__") == "weft"
assert cell("import numpy; type(numpy.arange(2)).__module__") == "weft"
assert cell("isinstance(before, np.ndarray) and isinstance(before + np.ones(2), np.ndarray)")
assert cell("np.ones(2)").tolist() == [1.0, 1.0]
cell("%timeit -n1 -r1 np.arange(3).sum()")
cell("%unload_ext weft")
assert cell("type(np.ones(2)).__module__") == "numpy"
print("done")
"""


def test_ipython_loads_weft(tmp_path):
    pytest.importorskip("IPython")
    path = tmp_path / "cells.py"
    path.write_text(CELLS)
    assert run(path, folder=tmp_path).endswith("done\n")


def test_ipython_runs_with_weft(tmp_path):
    pytest.importorskip("IPython")
    text = "import numpy as np; print(type(np.ones(2)).__module__, np.arange(3))"
    words = ["--quick", "--simple-prompt", "--no-banner", "-c", text]
    assert run("-m", "IPython", *words, folder=tmp_path).splitlines()[0] == "numpy [0 1 2]"
    assert run("-m", "weft", "-m", "IPython", *words, folder=tmp_path).splitlines()[0] == "weft [0 1 2]"
    program = tmp_path / "program.py"
    program.write_text(text.replace("; ", "\n"))
    words[-2:] = [str(program)]
    assert run("-m", "weft", "-m", "IPython", *words, folder=tmp_path).splitlines()[0] == "weft [0 1 2]"
