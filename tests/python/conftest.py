"""Every session has a kernel cache of its own: what a developer's holds decides no test. Its processes share it."""

import fcntl
import functools
import hashlib
import importlib.util
import os
import pathlib
import tempfile

import pytest

# Set before weft is imported, and seen by the processes that tests start, as by those that pytest-xdist does.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _folder = tempfile.TemporaryDirectory(prefix="weft-tests-")
    os.environ["WEFT_CACHE_DIR"] = f"{_folder.name}/kernels"
    os.environ["WEFT_FAKE_DRIVER_KERNELS"] = f"{_folder.name}/fake-driver-kernels"
else:
    # With as many processes as CPUs. Tests of more threads, or of one, say so.
    os.environ.setdefault("WEFT_NUM_THREADS", "2")
os.environ.pop("WEFT_CACHE", None)
os.environ.pop("WEFT_CACHE_SIZE", None)
# Where nothing is said, tests see machine code from the first launch on (docs/internals/tiers.md).
os.environ.setdefault("WEFT_TIER", "jit")

# Where no GPU is asked for, the fake driver answers (tests/fake_driver), also on machines with a GPU.
if not os.environ.get("WEFT_DEVICE"):
    _package = importlib.util.find_spec("weft")
    _fake_driver = pathlib.Path(_package.origin).parents[2] / "bin" / "libweft_fake_driver.so"
    if _fake_driver.exists():
        os.environ["WEFT_CUDA_DRIVER"] = str(_fake_driver)
        os.environ["CUDA_HOME"] = str(_fake_driver.parent / "fake_driver_toolkit")

import weft
from on_gpu import HAS_GPU


@functools.cache
def _locks():
    """The gate, which who waits for the floor holds, and the floor, which those that run tests share."""
    folder = pathlib.Path(os.environ["WEFT_CACHE_DIR"]).parent
    return [os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC) for name in ("gate", "floor")]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """While a test marked `alone` runs, the other processes of pytest-xdist run none."""
    if not hasattr(item.config, "workerinput"):
        return (yield)
    gate, floor = _locks()
    fcntl.flock(gate, fcntl.LOCK_EX)
    fcntl.flock(floor, fcntl.LOCK_EX if item.get_closest_marker("alone") else fcntl.LOCK_SH)
    fcntl.flock(gate, fcntl.LOCK_UN)
    try:
        return (yield)
    finally:
        fcntl.flock(floor, fcntl.LOCK_UN)  # closing would not do: children of forks have it open, too


def pytest_collection_modifyitems(items):
    if os.environ.get("WEFT_DEVICE", "cpu") in ("", "cpu"):
        return
    for item in items:
        if item.get_closest_marker("host"):
            item.add_marker(pytest.mark.skip(reason="about the CPU"))


@pytest.fixture(params=[4096, 0], ids=["eager", "compiled"])
def small(request):
    """Few elements: by ahead-of-time loops at the call, and by kernels."""
    with weft.config(small=request.param):
        yield


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    """What NumPy does, on each device that there is, of which the fake driver is one: its name. Arrays are made
    there."""
    if request.param == "cuda" and not HAS_GPU:
        pytest.skip("neither a GPU nor the fake driver")
    with weft.device(request.param):
        yield "cpu" if request.param == "cpu" else "cuda:0"


@pytest.fixture
def new_cache(tmp_path, monkeypatch):
    """An empty kernel cache for processes that the test starts; its folder, which does not exist yet."""
    folder = tmp_path / "kernels"
    monkeypatch.setenv("WEFT_CACHE_DIR", str(folder))
    return folder


# WEFT_COLLECT_KERNELS=file[:count] writes the kernel IR of what the tests launch, each once, in an order that is as
# good as random; of more than `count` the first of these (make test-ptx, tests/data/kernels_of_the_suite.wir).
_collected = {}


def pytest_runtest_teardown():
    if not os.environ.get("WEFT_COLLECT_KERNELS"):
        return
    for record in weft.kernel_history():
        if record["ir"]:
            _collected[hashlib.sha256(record["ir"].encode()).hexdigest()] = record["ir"]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """What a process of pytest-xdist has collected, in the one that started it."""
    _collected.update(getattr(node, "workeroutput", {}).get("kernels", {}))


def pytest_sessionfinish(session):
    if not os.environ.get("WEFT_COLLECT_KERNELS"):
        return
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["kernels"] = _collected
        return
    path, _, count = os.environ["WEFT_COLLECT_KERNELS"].partition(":")
    chosen = sorted(_collected.items())[: int(count) if count else None]
    pathlib.Path(path).write_text("\n".join(ir.strip() + "\n" for _, ir in chosen))
