"""weft as it is installed for C++, for the tests that compile programs against it."""

import pathlib
import re
import shutil
import subprocess

import pytest
import weft

ROOT = pathlib.Path(__file__).parents[3]
BUILD = pathlib.Path(weft.__file__).parents[2]
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nowhere", "WEFT_CACHE_DIR": ""}
COMPILERS = [name for name in ("g++", "clang++-19") if shutil.which(name)]
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def configuration():
    """What CMake was told about the build that this weft is from; nothing for a wheel."""
    cache = BUILD / "CMakeCache.txt"
    if not cache.exists():
        return {}
    return dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text(), re.M))


needs_build = [
    pytest.mark.measures,
    pytest.mark.host,
    pytest.mark.skipif(
        not configuration(), reason="weft was not built here, so it is not installed from here"
    ),
    pytest.mark.skipif(
        bool(configuration().get("WEFT_SANITIZE")), reason="programs would need the sanitizer too"
    ),
]


def run(command, **options):
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=300,
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def install(folder):
    run([configuration()["CMAKE_COMMAND"], "--install", BUILD, "--prefix", folder])
