"""Every session has a kernel cache of its own: what a developer's holds decides no test."""

import hashlib
import importlib.util
import os
import pathlib
import tempfile

import pytest
import weft

# Set before weft is imported, and seen by the processes that tests start.
_folder = tempfile.TemporaryDirectory(prefix="weft-cache-")
os.environ["WEFT_CACHE_DIR"] = _folder.name
os.environ.pop("WEFT_CACHE", None)
os.environ.pop("WEFT_CACHE_SIZE", None)
# Where nothing is said, tests see machine code from the first launch on (docs/internals/tiers.md).
os.environ.setdefault("WEFT_TIER", "jit")

# Where no GPU is asked for, the stand-in for its driver answers (tests/stand_in), also on machines with a GPU.
if not os.environ.get("WEFT_DEVICE"):
    _package = importlib.util.find_spec("weft")
    _stand_in = pathlib.Path(_package.origin).parents[2] / "bin" / "libweft_stand_in.so"
    if _stand_in.exists():
        os.environ["WEFT_CUDA_DRIVER"] = str(_stand_in)
        os.environ["CUDA_HOME"] = str(_stand_in.parent / "stand_in_toolkit")


def pytest_collection_modifyitems(items):
    if os.environ.get("WEFT_DEVICE", "cpu") in ("", "cpu"):
        return
    for item in items:
        if item.get_closest_marker("host"):
            item.add_marker(pytest.mark.skip(reason="about the CPU"))


@pytest.fixture(params=[4096, 0], ids=["at once", "compiled"])
def small(request):
    """Few elements: by ahead-of-time loops at the call, and by kernels."""
    with weft.config(small=request.param):
        yield


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
    import weft

    for record in weft.kernel_history():
        if record["ir"]:
            _collected[hashlib.sha256(record["ir"].encode()).hexdigest()] = record["ir"]


def pytest_sessionfinish():
    if not os.environ.get("WEFT_COLLECT_KERNELS"):
        return
    path, _, count = os.environ["WEFT_COLLECT_KERNELS"].partition(":")
    chosen = sorted(_collected.items())[: int(count) if count else None]
    pathlib.Path(path).write_text("\n".join(ir.strip() + "\n" for _, ir in chosen))
