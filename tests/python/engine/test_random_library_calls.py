"""Random calls of linalg and fft beside NumPy and SciPy; tests/fuzz/libraries.py runs many more of them."""

import pathlib
import subprocess
import sys

import pytest

LIBRARIES = pathlib.Path(__file__).parents[2] / "fuzz" / "libraries.py"


def run(*arguments):
    command = [sys.executable, LIBRARIES, "--seed", "1", "--jobs", "1", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


@pytest.mark.host
@pytest.mark.parametrize("space", ["linalg", "fft", "scipy.fft", "scipy.linalg"])
def test_calls_agree_in_kind(space):
    done = run("--spaces", space, "--calls", "1200")
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "1,200 calls, 0 fail" in done.stdout


def test_what_differs_is_found(monkeypatch):
    sys.path[:0] = [str(LIBRARIES.parent)]
    import libraries
    import matrix_calls

    subject = libraries.Subject()
    call = matrix_calls.Call("linalg", "inv", ["given('f', (3, 3))"], {}, True, False)
    assert subject.compare(call) is None
    inv = subject.weft.linalg.inv
    monkeypatch.setattr(subject.weft.linalg, "inv", lambda a: inv(a).astype("d"))
    assert "float64, but NumPy array (3, 3) float32" in subject.compare(call)
    monkeypatch.setattr(subject.weft.linalg, "inv", lambda a: inv(a) * 2)
    assert "but NumPy" in subject.compare(call)
    monkeypatch.setattr(subject.weft.linalg, "inv", lambda a: inv(a[0]))
    assert "LinAlgError" in subject.compare(call)
