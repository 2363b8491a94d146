"""A sample of `make conformance`: some files of NumPy's own tests, with the lists of what weft is expected to fail."""

import pathlib
import subprocess
import sys

import numpy
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests" / "conformance"))
import expectations  # noqa: E402

SAMPLE = [
    "polynomial/tests/test_polynomial.py",
    "lib/tests/test_arraypad.py",
    "_core/tests/test_numerictypes.py",
    "fft/tests/test_pocketfft.py",
]
TOML = """
["one reason"]
"lib/tests/test_one.py" = ["TestA::*", "test_b[x-*]"]
"""


@pytest.mark.host
@pytest.mark.skipif(numpy.__version__ != "2.4.6", reason="the lists are those of this version")
def test_a_sample_of_numpys_own_tests():
    command = [sys.executable, ROOT / "tools" / "conformance.py", "--jobs", "2", "--folder", "sample"]
    for file in SAMPLE:
        command += ["--only", file]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, (
        f"{done.stdout}\n`make conformance ARGS='--only FILE --write'` writes tests/conformance/expected anew"
    )
    assert "all" in done.stdout


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "lib.toml").write_text(TOML)
    return tmp_path


def told(folder, tests, failures):
    return list(expectations.complaints(folder, dict.fromkeys(tests), failures, lambda _: "lib"))


FILE = "lib/tests/test_one.py::"
TESTS = [FILE + name for name in ("TestA::one", "TestA::two", "test_b[x-1]", "test_b[y-1]")]


def test_failures_that_are_listed_are_no_complaint(folder):
    assert told(folder, TESTS, dict.fromkeys(TESTS[:3], "why")) == []


def test_an_entry_that_passes_is_a_complaint(folder):
    assert told(folder, TESTS, dict.fromkeys(TESTS[1:3], "why")) == [
        f"{TESTS[0]} passes, and is listed for: one reason"
    ]


def test_a_failure_without_entry_is_a_complaint(folder):
    assert told(folder, TESTS, dict.fromkeys(TESTS, "why")) == [f"{TESTS[3]} fails: why"]


def test_an_entry_without_test_is_a_complaint(folder):
    assert told(folder, TESTS[:2], dict.fromkeys(TESTS[:2], "why")) == [
        f"{FILE}test_b[x-*] (one reason): there is no such test"
    ]


def test_lists_that_are_written_are_met(tmp_path):
    failing = [f"{FILE}test_c[{kind}-{number}]" for kind in "OU" for number in range(5)] + TESTS[:2]
    passing = [f"{FILE}test_c[d-{number}]" for number in range(5)] + TESTS[2:]
    failures = dict.fromkeys(failing, "TypeError: weft has no numpy.char")
    tests = dict.fromkeys(failing + passing)
    expectations.write(tmp_path, tests, failures, lambda _: "lib", True)
    assert told(tmp_path, tests, failures) == []
    text = (tmp_path / "lib.toml").read_text()
    assert '"test_c[O-*]"' in text and '"TestA::*"' in text and "no name numpy.char" in text
    assert len(told(tmp_path, tests, dict.fromkeys(failing[1:], "why"))) == 1
