"""Random programs on NumPy and on weft, with a fixed seed; `make fuzz` runs many more of them with a fresh one."""

import pathlib
import subprocess
import sys
import warnings

import numpy
import pytest
import weft
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FUZZ = pathlib.Path(__file__).parents[2] / "fuzz"
sys.path.insert(0, str(FUZZ))

import arranged  # noqa: E402
import choices  # noqa: E402
import execute  # noqa: E402
import faults  # noqa: E402
import generate  # noqa: E402
import run  # noqa: E402
import writes  # noqa: E402


@pytest.fixture(autouse=True)
def quiet():
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def run_programs(mode, programs, *arguments):
    command = [
        sys.executable,
        str(FUZZ / "run.py"),
        "--seed",
        "1",
        "--mode",
        mode,
        "--programs",
        str(programs),
    ]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout
    assert "0 fail" in done.stdout


@pytest.mark.parametrize(
    ("mode", "programs"),
    [("small", 2500), ("compiled", 300), ("blocks", 400), ("both", 200), ("naive", 300), ("eager", 100)],
)
def test_programs_agree_with_numpy(mode, programs):
    run_programs(mode, programs)


def run_variants(*arguments):
    command = [sys.executable, str(FUZZ / "variants.py"), "--seed", "2", "--programs", "60", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def test_variants_have_the_same_bits():
    """`make fuzz-variants` runs more programs, and each step left out by itself."""
    done = run_variants("--only", "blocks")
    assert done.returncode == 0 and "60 agree" in done.stdout, done.stdout
    done = run_variants("--only", "without any step")
    assert done.returncode == 0, done.stdout


def test_a_digest_changes_with_any_bit_but_those_of_nans():
    x = numpy.array([0.0, 1.0, numpy.nan])
    assert execute.digest({"x1": x}, {}) == execute.digest({"x1": -numpy.abs(x) * -1, "other": 1}, {})
    for other in (numpy.array([-0.0, 1, numpy.nan]), numpy.nextafter(x, 2), x[:2]):
        assert execute.digest({"x1": x}, {}) != execute.digest({"x1": other}, {})
    assert execute.digest({"x1": x, "x2": x}, {}) != execute.digest({"x1": x}, {})


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_programs_of_hypothesis_agree_with_numpy(data):
    profile = run.profile_of("small", run.missing_names(weft))
    steps = generate.Generator(choices.HypothesisChooser(data.draw, st), profile).program()
    subject = execute.Subject(weft)
    failure = execute.run_program(steps, subject)
    assert failure is None, execute.script(steps, failure)


def first_failure(subject, programs=8000):
    for seed in range(programs):
        steps = generate.generate(seed, choices.Profile())
        failure = execute.run_program(steps, subject)
        if failure:
            return steps, failure
    return None, None


@pytest.mark.parametrize("fault", faults.FAULTS)
def test_a_fault_is_found_and_made_short(fault):
    module, rewrite = faults.FAULTS[fault]
    subject = execute.Subject(module, rewrite)
    steps, failure = first_failure(subject)
    assert failure is not None
    short, failure = execute.minimise(steps, failure, subject)
    assert failure is not None
    assert len(short) <= min(len(steps), 6)


def test_faults_of_numpys_are_told_from_others():
    """What programs leave out is no more than what NumPy does wrong."""
    a = numpy.arange(8, dtype="c8")
    assert writes.reads_what_it_wrote(a.view("c16"), a[1:5])
    assert not writes.reads_what_it_wrote(a.view("c16"), a[1:5].copy())
    assert not writes.reads_what_it_wrote(a[1:], a[:-1]) and not writes.reads_what_it_wrote(a, a[::-1])
    assert writes.reads_what_it_wrote(a[1:5], a[0:8:2])
    assert a.tolist() == list(range(8))
    assert not arranged.finds_exactly(numpy.array([2**63], "u8"), numpy.array([2**63 - 1] + 10 * [-(2**62)]))
    assert not arranged.finds_exactly(numpy.array([2**64 - 2, 2**64 - 1], "u8"), numpy.array(20 * [0, -1000]))
    assert arranged.finds_exactly(numpy.array([2**63], "u8"), numpy.array([2**63 - 1]))
    assert arranged.finds_exactly(numpy.array([2**63], "u8"), numpy.arange(-20, 20))


def test_the_last_bit_of_a_transcendental_function_is_no_fault():
    _, failure = first_failure(execute.Subject(faults.within_ulps()), programs=500)
    assert failure is None


def test_a_printed_script_runs_and_shows_both(tmp_path):
    module, rewrite = faults.FAULTS["copy gives a view"]
    subject = execute.Subject(module, rewrite)
    steps, failure = execute.minimise(*first_failure(subject), subject)
    path = tmp_path / "script.py"
    path.write_text(execute.script(steps, failure, module="numpy"))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "NumPy: " in done.stdout


def test_a_program_that_ends_the_process_is_named(tmp_path):
    (tmp_path / "crashing.py").write_text(
        "from numpy import *\nimport numpy, os\nndarray, generic = numpy.ndarray, numpy.generic\n"
        "def stack(*a, **k): os.abort()\n"
    )
    import os

    command = [sys.executable, str(FUZZ / "run.py"), "--seed", "1", "--mode", "small", "--programs", "200"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [*command, "--module", "crashing", "--stop-after", "1"], capture_output=True, text=True, timeout=120,
        env=environment,
    )  # fmt: skip
    assert done.returncode == 1
    assert "ended the process" in done.stdout
    assert "np.stack(" in done.stdout
