"""An installed weft, which several files of tests compile against."""

import pytest
from installed_weft import install


@pytest.fixture(scope="session")
def prefix(tmp_path_factory):
    """A folder that weft is installed in."""
    folder = tmp_path_factory.mktemp("installed")
    install(folder)
    return folder
