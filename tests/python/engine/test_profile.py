"""weft.profile(): kernels with times, bytes, lines; traces; ranges for NVIDIA's profilers. docs/guide/profiling.md"""

import inspect
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading

import numpy
import pytest
import weft as np
from on_gpu import needs_gpu


@pytest.fixture(autouse=True)
def compiled_on_cpu():
    with np.device("cpu"), np.config(small=0):
        yield


def line_here():
    return inspect.currentframe().f_back.f_lineno


def lines_of(work):
    """The numbers of this file's lines."""
    marked = [line for line in work["lines"] if line.startswith(__file__ + ":")]
    return sorted(int(line[len(__file__) + 1 :].split()[0]) for line in marked)


def test_kernels_with_bytes_and_lines():
    x = np.arange(100000.0) + 0
    np.eval(x)
    with np.profile() as p:
        first = line_here() + 1
        y = np.sqrt(x)
        y = y + 1
        total = y.sum()
        np.eval(y, total)
    assert total == numpy.asarray(y).sum()
    works = [work for work in p.works if lines_of(work)]
    assert sorted({line for work in works for line in lines_of(work)}) == [first, first + 1, first + 2]
    assert all(work["device"] == "cpu" and work["seconds"] > 0 for work in works)
    assert all(work["start"] >= 0 for work in works)
    assert sum(work["operations"] for work in works) >= 3
    assert max(work["bytes_read"] for work in works) == 800000
    assert p.seconds == pytest.approx(sum(work["seconds"] for work in p.works))
    assert "test_kernels_with_bytes_and_lines" in works[0]["lines"][0]
    assert all(len(set(work["lines"])) == len(work["lines"]) for work in works)


def test_the_line_is_the_program_s_not_weft_s():
    x = np.arange(10000.0)
    with np.profile() as p:
        here = line_here() + 1
        y = np.mean(x.reshape(100, 100), axis=1)
        np.eval(y)
    assert p.works
    assert {line for work in p.works for line in lines_of(work)} <= {here, here - 3}
    assert any(here in lines_of(work) for work in p.works)


def test_what_is_held_is_computed_at_the_end():
    with np.profile() as p:
        x = np.arange(10000.0) * 3
    assert len(p.works) >= 1
    assert np._core._evaluated(x)
    with np.profile(evaluate=False) as p:
        y = x * 3
    assert p.works == []
    assert repr(p) == "weft.profile: nothing ran"
    assert not np._core._evaluated(y)


def test_outside_nothing_is_collected():
    with np.profile() as p:
        pass
    np.eval(np.arange(10000.0) * 3)
    assert p.works == []


def test_profiles_nest_and_run_again():
    with np.profile() as outer:
        a = np.arange(10000.0) * 2
        np.eval(a)
        with np.profile() as inner:
            b = a - 1
            np.eval(b)
        with pytest.raises(RuntimeError, match="running already"), outer:
            pass
    assert len(inner.works) == 1
    assert len(outer.works) == len(inner.works) + 1
    with inner:
        np.eval(a - 2, b * 2)
    assert len(inner.works) in (1, 2)


def test_a_block_that_fails_keeps_what_ran():
    p = np.profile()
    with pytest.raises(ZeroDivisionError), p:
        np.eval(np.arange(10000.0) * 2)
        1 / 0  # noqa: B018
    assert len(p.works) == 1
    with np.profile() as again:
        pass
    assert again.works == []


def test_threads():
    together = threading.Barrier(3)

    def work(k):
        for _ in range(20):
            np.eval(np.arange(10000.0) * k)
        together.wait()  # the number of a thread that has ended is given again

    with np.profile() as p:
        threads = [threading.Thread(target=work, args=(k,)) for k in (2.5, 3.5, 4.5)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert len(p.works) == 60
    assert len({work["thread"] for work in p.works}) == 3


def test_the_table():
    x = np.arange(1000000.0) + 0
    np.eval(x)
    with np.profile() as p:
        for _ in range(5):
            np.eval(x * 2.5)
        np.eval(np.ones((40, 30)) @ np.ones((30, 20)))
    table = p.table()
    row = next(row for row in table if row["calls"] == 5)
    assert row["bytes"] == 5 * 16000000
    assert row["bandwidth"] == pytest.approx(row["bytes"] / row["seconds"])
    assert row["peak"] > 1e8
    assert [each["seconds"] for each in table] == sorted((each["seconds"] for each in table), reverse=True)
    text = str(p)
    assert row["name"] in text
    assert f"{__file__}:" in text
    assert "of peak" in text
    assert f"in {len(p.works)} launches" in text


def test_the_trace(tmp_path):
    with np.profile() as p:
        np.eval(np.arange(10000.0) * 2)
    p.save(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [event["name"] for event in events] == [work["name"] for work in p.works]
    assert events[0]["dur"] == pytest.approx(p.works[0]["seconds"] * 1e6)
    assert events[0]["args"]["lines"] == p.works[0]["lines"]


@needs_gpu
def test_a_gpu_s_work(tmp_path):
    x = np.arange(100000.0)
    with np.profile() as p:
        y = x.to_device("cuda:0")
        z = (y * 2).sum()
        back = (y + 1).to_device("cpu")
    assert back[1] == 2
    assert float(z) == 2 * sum(range(100000))
    assert {"copy from cpu to cuda:0", "copy from cuda:0 to cpu"} <= {work["name"] for work in p.works}
    kernels = [work for work in p.works if work["device"] == "cuda:0" and not work["is_copy"]]
    assert len(kernels) >= 2
    assert all(work["seconds"] > 0 and work["host_seconds"] > 0 for work in kernels)
    p.save(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = {event["args"]["name"]: event["pid"] for event in trace if event["ph"] == "M"}
    there = [event for event in trace if event["ph"] == "X" and event["pid"] == names["cuda:0"]]
    assert len(there) == len(kernels) + 2
    assert all(row["peak"] is None or row["peak"] > 0 for row in p.table())
    assert "cuda:0" in str(p)


def test_ranges_for_nvidia_s_profilers(tmp_path):
    """A library with NVTX's functions, which writes down what it is told."""
    source = tmp_path / "nvtx.c"
    source.write_text(
        "#include <stdio.h>\n"
        'int nvtxRangePushA(const char* text) { fprintf(stderr, "begin %s\\n", text); return 0; }\n'
        'int nvtxRangePop(void) { fprintf(stderr, "end\\n"); return 0; }\n'
    )
    library = tmp_path / "libnvtx.so"
    compiler = next((name for name in ("clang-19", "cc", "gcc") if shutil.which(name)), None)
    if compiler is None:
        pytest.skip("no C compiler")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    program = tmp_path / "program.py"
    program.write_text(
        "import weft as np\nx = np.arange(10000.0)\nwith np.profile():\n    y = x * 2\ny + 1\n"
    )
    result = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        env={**os.environ, "WEFT_NVTX": str(library), "WEFT_DEVICE": "cpu", "WEFT_SMALL": "0"},
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    lines = result.stderr.splitlines()
    assert lines[0].startswith("begin weft ")
    assert f"{pathlib.Path(program)}:4" in result.stderr
    assert lines.count("end") == sum(line.startswith("begin") for line in lines)
