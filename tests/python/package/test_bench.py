"""python -m weft.bench: cases, times, records, comparisons, curves, pictures. docs/reference/benchmarks.md"""

import copy
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import numpy
import pytest
from weft.bench import __main__ as command
from weft.bench import cases, compare, curves, measure, suite, table

ROOT = pathlib.Path(__file__).parents[3]

SMALL = "A @ B, 3×3"
TEXTS = ["--only", SMALL, "--seconds", "0.01"]


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """What a run of one small case keeps."""
    file = tmp_path_factory.mktemp("bench") / "record.json"
    assert command.main([*TEXTS, "--json", str(file)]) == 0
    return json.loads(file.read_text())


def made_up(record, factor=1.0, spread=0.0):
    """The record with weft's times changed, and rounds that vary by `spread`."""
    made = copy.deepcopy(record)
    for row in made["rows"]:
        pattern = [1 + spread * (k % 5 - 2) / 2 for k in range(20)]
        row["times"] = {"weft": [factor * p for p in pattern], "numpy": [2.0] * 20}
    return made


def test_import_of_weft_leaves_it_alone():
    code = "import sys, weft; print(any(name.startswith('weft.bench') for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_module_runs_as_a_command():
    words = ["-m", "weft.bench", "--only", "einsum", "--seconds", "0.01"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    machine, head, line, total = done.stdout.splitlines()
    assert "cores" in machine and "weft" in machine and "numpy" in machine
    assert head.split()[:1] == ["case"] and head.endswith("agrees?")
    assert line.startswith("einsum ij,jk->k") and line.rstrip().endswith("yes")
    assert "geometric mean" in total


def test_list_names_the_cases_and_runs_none(capsys):
    assert command.main(["--list", "--only", "SUM"]) == 0
    names = capsys.readouterr().out.splitlines()
    assert "sum, axis 0, 4000² f32" in names and "cumsum, axis 1, 4000² f32" in names
    assert all("sum" in name.lower() for name in names)
    assert command.main(["--list", "--curves"]) == 0
    assert tuple(capsys.readouterr().out.splitlines()) == curves.OPERATIONS


def test_names_of_cases_are_different():
    names = [case.name for case in cases.CASES]
    assert len(set(names)) == len(names)


def test_the_list_needs_no_weft():
    """bench/contender.py reads it in processes that have a peer and no weft."""
    path = cases.__file__
    code = f"""
import importlib.util, sys
sys.modules["weft"] = None
spec = importlib.util.spec_from_file_location("cases", {path!r})
module = sys.modules["cases"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(len(module.CASES))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == str(len(cases.CASES)), done.stderr


def test_a_record_has_machine_versions_and_every_time(record):
    assert record["machine"]["cores"] >= 1 and record["machine"]["cpu"] and record["machine"]["device"]
    assert record["versions"]["weft"] and record["versions"]["numpy"]
    (row,) = record["rows"]
    assert row["name"].startswith(SMALL) and not row["wrong"] and not row["failed"]
    assert len(row["times"]["weft"]) == len(row["times"]["numpy"]) >= 3
    assert row["numpy_ratio"] > 0
    assert "yes" in table.line(row)


def test_a_wrong_result_is_said_and_counts(monkeypatch, capsys):
    (case,) = (c for c in suite.IN_ONE_PROCESS if SMALL in c.name)
    wrong = copy.copy(case)
    wrong.contenders = {**case.contenders, "weft": lambda a, b: a @ b + 1}
    monkeypatch.setattr(suite, "IN_ONE_PROCESS", [wrong])
    assert command.main(TEXTS) == 1
    assert "NO: differs by" in capsys.readouterr().out


def test_a_contender_that_fails_leaves_the_others(monkeypatch, capsys):
    (case,) = (c for c in suite.IN_ONE_PROCESS if SMALL in c.name)

    def failing(a, b):
        raise ImportError("No module named 'scipy'")

    without = copy.copy(case)
    without.contenders = {**case.contenders, "numpy": failing}
    monkeypatch.setattr(suite, "IN_ONE_PROCESS", [without])
    assert command.main(TEXTS) == 0
    assert "ImportError: No module named 'scipy'" in capsys.readouterr().out


def test_a_slowdown_is_found(record):
    found = compare.changes(made_up(record), made_up(record, 1.3))
    assert [change["verdict"] for change in found] == ["slower"]
    assert found[0]["change"] == pytest.approx(1.3)
    lines, slower = compare.report(made_up(record), made_up(record, 1.3))
    assert slower and any(line.startswith("slower") for line in lines)
    assert [c["verdict"] for c in compare.changes(made_up(record, 1.3), made_up(record))] == ["quicker"]


@pytest.mark.parametrize(("factor", "spread"), [(1.0, 0.0), (1.05, 0.0), (0.97, 0.02), (1.15, 0.4)], ids=str)
def test_noise_is_no_slowdown(record, factor, spread):
    lines, slower = compare.report(made_up(record, spread=spread), made_up(record, factor, spread))
    assert not slower and lines[-1] == "nothing is slower"


def test_a_slow_machine_is_no_slowdown(record):
    """Both take twice as long in the new rounds."""
    new = made_up(record, 2.0)
    new["rows"][0]["times"]["numpy"] = [4.0] * 20
    assert [c["verdict"] for c in compare.changes(made_up(record), new)] == ["same"]


def test_without_numpy_times_are_compared(record):
    old, new = made_up(record), made_up(record, 1.5)
    del new["rows"][0]["times"]["numpy"]
    assert [c["verdict"] for c in compare.changes(old, new)] == ["slower"]


def test_skipped_rounds_are_left_out(record):
    old, new = made_up(record), made_up(record)
    new["rows"][0]["times"]["numpy"][1::4] = [None] * 5
    assert [c["verdict"] for c in compare.changes(old, new)] == ["same"]


def test_other_machines_are_refused(record, tmp_path, capsys):
    other = made_up(record)
    other["machine"] = {**other["machine"], "cpu": "another"}
    with pytest.raises(compare.NotComparable, match=r"different machines.*'another' then"):
        compare.changes(other, record)
    file = tmp_path / "old.json"
    file.write_text(json.dumps(other))
    assert command.main([*TEXTS, "--compare", str(file)]) == 2
    assert "different machines" in capsys.readouterr().err


@pytest.mark.parametrize(("factor", "status"), [(1e-3, 1), (1e3, 0)], ids=["slower", "quicker"])
def test_the_command_compares(record, tmp_path, capsys, factor, status):
    """With a record of the same machine whose times weft cannot have."""
    old = copy.deepcopy(record)
    for row in old["rows"]:
        row["times"]["weft"] = [factor * ms for ms in row["times"]["weft"]]
    file = tmp_path / "old.json"
    file.write_text(json.dumps(old))
    assert command.main([*TEXTS, "--compare", str(file)]) == status
    assert ("1 slower" if status else "nothing is slower") in capsys.readouterr().out


def test_turns_are_taken_by_all():
    called = {"a": 0, "b": 0}

    def work(name):
        def run(calls):
            called[name] += calls

        return run

    times = measure.in_turns({name: work(name) for name in called}, 0.0, seconds_a_turn=1e-6, least=4)
    assert {name: len(values) for name, values in times.items()} == {"a": 4, "b": 4}
    assert all(count > 4 for count in called.values())


@pytest.mark.parametrize("operation", curves.OPERATIONS)
@pytest.mark.parametrize("size", [1, 10, 5000])
def test_curves_run(operation, size):
    functions = curves.works(operation, size)
    assert set(functions) == {"weft", "numpy"}
    assert all(run(1) > 0 for run in functions.values())


def test_curves_as_a_command(tmp_path, capsys):
    file = tmp_path / "curves.json"
    words = ["--curves", "--only", "a.sum()", "--largest", "10", "--seconds", "0.001", "--json", str(file)]
    assert command.main(words) == 0
    recorded = json.loads(file.read_text())
    assert [p["size"] for p in recorded["sizes"]] == [1, 3, 10]
    assert all(p["ratio"] > 0 and p["operation"] == "a.sum()" for p in recorded["sizes"])
    assert "of 3 points take more than 1.2 of NumPy's time" in capsys.readouterr().out


def test_points_over_the_bar():
    points = [{"ratio": ratio} for ratio in (0.5, 1.2, 1.3, 7.0)]
    assert [p["ratio"] for p in curves.over(points)] == [7.0, 1.3]


def test_pictures(record, tmp_path):
    pytest.importorskip("matplotlib")
    from weft.bench import picture

    picture.of_run(record, tmp_path / "run.png", "a machine")
    recorded = {"sizes": [{"operation": "a + b", "size": 10**k, "numpy_ms": 1.0, "weft_ms": 1.5, "ratio": 1.5}
                          for k in range(3)]}  # fmt: skip
    picture.of_curves(recorded, tmp_path / "curves.png")
    for name in ("run.png", "curves.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_the_page_has_the_recorded_table():
    spec = importlib.util.spec_from_file_location("speedups", ROOT / "bench" / "speedups.py")
    speedups = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(speedups)
    text = speedups.PAGE.read_text()
    assert speedups.with_table(text, speedups.table()) == text
    assert "pictures/speedups.png" in text and speedups.PICTURE.exists()


def test_some_elements_may_stray():
    expected, actual = numpy.zeros(100), numpy.zeros(100)
    actual[[3, 50]] = 1
    assert measure.difference(numpy.array(["a", "b"]), numpy.array(["a", "c"]), 0.1) == "differs"
    assert measure.difference(expected, actual, 0.1) is not None
    assert measure.difference(expected, actual, 0.1, stray=1) is not None
    assert measure.difference(expected, actual, 0.1, stray=2) is None
    actual[7] = numpy.nan
    assert measure.difference(expected, actual, 0.1, stray=2) is not None
