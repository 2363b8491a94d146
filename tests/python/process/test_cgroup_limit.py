"""A control group that allows less memory than is asked for: MemoryError at the call, nothing lost, nobody killed."""

import contextlib
import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.host

LIMIT = 400 << 20

BEGIN = """
import json, os, pathlib, sys
import numpy
import weft

def refused(function):
    try:
        function()
    except MemoryError as error:
        assert isinstance(error, weft.OutOfMemoryError)
        text = str(error)
        assert text.startswith("cannot allocate ") and " left" in text, text
        return
    raise SystemExit("no MemoryError")

kept = weft.arange(2_000_000.0) + 1  # 16 MB, pending
weft.eval(weft.ones(10))
"""
END = """
assert float(kept.sum()) == 2_000_001_000_000.0
again = numpy.asarray(weft.sqrt(kept)[::1000] * 2)
assert again.tobytes() == (numpy.sqrt(numpy.arange(2_000_000.0) + 1)[::1000] * 2).tobytes()
assert weft.sort(kept[::-1])[5] == 6
print("right")
"""

# Each asks for more than the group allows, in one of the ways that memory is asked for.
PROGRAMS = {
    "a result": "refused(lambda: weft.eval(weft.ones(100_000_000) * 2))",
    "a view of it": "refused(lambda: float(weft.cumsum(weft.ones(100_000_000))[::7].max()))",
    "a plan of many results": """
x = weft.ones(10_000_000) * 1; weft.eval(x)
results = [weft.cumsum(x + k) for k in range(6)]
weft.clear_kernel_history()
refused(lambda: weft.eval(*results))
assert weft.kernel_history() == [], "a kernel ran before the memory was known to be there"
del results[1:]
assert float(results[0][-1]) == 10_000_000.0
del results, x
""",
    "arrays that are held, one after another": """
held = []
def fill():
    while True:
        held.append(weft.arange(2_000_000.0) + len(held))
        weft.eval(held[-1])
refused(fill)
last = held.pop()  # still to be computed
assert 5 < len(held) < 27
count = len(held)
assert all(float(array[7]) == k + 7 for k, array in enumerate(held))
held.clear()
assert float(last[9]) == count + 9
del last
""",
    "small arrays, without end": """
held = []
def fill():
    while True:
        held.append(weft.ones(100_000) * 2)
        weft.eval(held[-1])
refused(fill)
assert all(float(array[-1]) == 2 for array in held[::50])
held.clear()
""",
    "the copy that a write needs": """
x = weft.zeros(15_000_000) * 1  # 120 MB
weft.eval(x)
before = x[1:]
held = x + 1  # reads the version that the write replaces
def write():
    x[...] = x[::-1] + 1
    weft.eval(x, held)
refused(write)
assert float(held[3]) == 1.0
del held
assert float(x[0]) == float(before[0]) == 1.0
del before, x
""",
    "a sort": """
x = weft.zeros(22_000_000) * 1
weft.eval(x)
refused(lambda: weft.eval(weft.sort(x), weft.argsort(x)))
del x
""",
    "a product": "a = weft.ones((9000, 10)); refused(lambda: weft.eval(a @ a.T))\ndel a",
    "an array of NumPy's that is copied": """
# A file's pages count little: the source must not be what exceeds the limit.
import tempfile
with tempfile.TemporaryFile() as file:
    file.truncate(500_000_000)
    source = numpy.memmap(file, numpy.uint8, "r")
    refused(lambda: weft.array(source))
""",
    "random numbers": "refused(lambda: weft.eval(weft.random.default_rng(1).random(100_000_000)))",
    "more than there can be": "refused(lambda: weft.eval(weft.empty(1 << 50, dtype='u1') + 1))",
    "in threads": """
import threading
found = []
def work():
    try:
        weft.eval(weft.ones(60_000_000) * 3)
    except MemoryError:
        found.append(None)
threads = [threading.Thread(target=work) for _ in range(6)]
[thread.start() for thread in threads]
[thread.join(60) for thread in threads]
assert len(found) == 6, found
""",
}


def own_group(line, mount):
    path = line.split(":", 2)[2]
    return (
        pathlib.Path(mount + path)
        if (pathlib.Path(mount) / path.lstrip("/")).is_dir()
        else pathlib.Path(mount)
    )


@contextlib.contextmanager
def limited_group():
    """Gives the file that takes the processes of a new control group with LIMIT bytes; skips without rights."""
    folder = None
    try:
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            number, controllers, _ = line.split(":", 2)
            if "memory" in controllers.split(","):
                parent, limit = own_group(line, "/sys/fs/cgroup/memory"), "memory.limit_in_bytes"
            elif (
                number == "0"
                and "memory" in (own_group(line, "/sys/fs/cgroup") / "cgroup.controllers").read_text()
            ):
                parent, limit = own_group(line, "/sys/fs/cgroup"), "memory.max"
            else:
                continue
            folder = parent / f"weft-test-{os.getpid()}"
            folder.mkdir()
            (folder / limit).write_text(str(LIMIT))
            break
    except OSError as error:
        if folder is not None and folder.is_dir():
            folder.rmdir()
        pytest.skip(f"no control group can be made here: {error}")
    if folder is None:
        pytest.skip("there is no control group for memory")
    try:
        yield folder / "cgroup.procs"
    finally:
        folder.rmdir()


@pytest.mark.measures
@pytest.mark.parametrize("fuse", ["1", "0"], ids=["fused", "naive"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_more_than_the_group_allows_is_refused(name, fuse):
    join = "import os, sys\nopen(sys.argv[1], 'w').write(str(os.getpid()))\n"
    with limited_group() as processes:
        done = subprocess.run(
            [sys.executable, "-c", join + BEGIN + PROGRAMS[name] + END, str(processes)],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "WEFT_FUSE": fuse},
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, "right\n", "")
