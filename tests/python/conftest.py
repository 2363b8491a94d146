"""Every session has a kernel cache of its own: what a developer's holds decides no test."""

import os
import tempfile

import pytest

# Set before weft is imported, and seen by the processes that tests start.
_folder = tempfile.TemporaryDirectory(prefix="weft-cache-")
os.environ["WEFT_CACHE_DIR"] = _folder.name
os.environ.pop("WEFT_CACHE", None)
os.environ.pop("WEFT_CACHE_SIZE", None)


@pytest.fixture
def new_cache(tmp_path, monkeypatch):
    """An empty kernel cache for processes that the test starts; its folder, which does not exist yet."""
    folder = tmp_path / "kernels"
    monkeypatch.setenv("WEFT_CACHE_DIR", str(folder))
    return folder
