"""Installs each wheel of dist/ into a fresh environment and computes with it, with no compiler in reach.

The environment holds nothing but the wheel; PATH holds nothing but the environment. A stable-ABI wheel is tried
on every interpreter from its own version on that this machine has. Exits 1 at the first failure.
"""

import glob
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).parents[1]

PROGRAM = """
import pathlib, shutil, sys
for tool in ("cc", "gcc", "clang", "clang-19", "ld", "llvm-config-19"):
    assert shutil.which(tool) is None, tool
import weft
assert "numpy" not in sys.modules
a = weft.arange(100_000.0)
b = a / 2
assert (2 * a + b).tolist() == [2.5 * i for i in range(100_000)]
assert weft.exp(a[:2]).tolist()[0] == 1.0
m = weft.arange(10_000.0).reshape(100, 100)
assert (m @ weft.ones(100)).tolist() == m.sum(1).tolist()
assert weft.fft.irfft(weft.fft.rfft([1.0, 0.0, 0.0, 0.0])).tolist() == [1.0, 0.0, 0.0, 0.0]
assert "numpy" not in sys.modules
package = pathlib.Path(weft.__file__).parent
maps = pathlib.Path("/proc/self/maps").read_text()
for library in ("libweft.so", "libsleef.so.3", "libscipy_openblas64_.so"):
    loaded = {line.split()[-1] for line in maps.splitlines() if library in line}
    assert loaded == {str(package / library)}, loaded
for name in ("py.typed", "_core.pyi", "bench/cases.py"):
    assert (package / name).exists(), name
from weft.bench.__main__ import main
assert main([]) == 2  # there is no NumPy to compare with, and it says so
include, cmake = pathlib.Path(weft.get_include()), pathlib.Path(weft.get_cmake_dir())
for path in (include / "weft/weft.h", include / "weft/operations.h", cmake / "weftConfig.cmake"):
    assert path.exists() and package in path.parents, path
import os, subprocess
code = "import numpy; print(type(numpy.ones(2)).__module__)"  # by the .pth file, where there is no NumPy
words = [sys.executable, "-c", code]
done = subprocess.run(words, env={**os.environ, "WEFT_INSTALL": "1"}, capture_output=True, text=True)
assert done.stdout == "weft\\n", done.stderr
print("ok")
"""


def interpreters() -> dict[tuple[int, int], str]:
    """One interpreter for each minor version of Python on this machine."""
    names = [f"python3.{minor}" for minor in range(11, 16)]
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    names += sorted(glob.glob(f"{root}/versions/3.1[1-5].*/bin/python"))
    found = {}
    for name in names:
        command = [name, "-c", "import sys; print(*sys.version_info[:2], sys.executable)"]
        try:
            result = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            continue
        if result.returncode == 0:
            major, minor, path = result.stdout.split()
            found.setdefault((int(major), int(minor)), path)
    return found


def check_contents(wheel: pathlib.Path) -> None:
    """The wheel carries the licences of what is inside and no build leftovers."""
    names = zipfile.ZipFile(wheel).namelist()
    for licence in (
        "LICENSE",
        "LLVM.txt",
        "SLEEF.txt",
        "Highway.txt",
        "OpenBLAS.txt",
        "ducc0.txt",
        "nanobind.txt",
        "zlib.txt",
        "zstd.txt",
    ):
        assert any(name.endswith("/" + licence) for name in names), f"{licence} is not in {wheel.name}"
    leftovers = [name for name in names if name.endswith((".cpp", ".a", ".o", ".pyc"))]
    assert not leftovers, leftovers


def try_wheel(wheel: pathlib.Path, python: str) -> None:
    """Installs the wheel for `python` into an empty environment and runs PROGRAM there."""
    with tempfile.TemporaryDirectory() as folder:
        environment = pathlib.Path(folder, "venv")
        subprocess.run([python, "-m", "venv", "--without-pip", environment], check=True)
        pip = [ROOT / ".venv/bin/python", "-m", "pip", "--python", environment / "bin/python"]
        install = ["install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps", wheel]
        subprocess.run(pip + install, check=True)
        result = subprocess.run(
            [environment / "bin/python", "-I", "-c", PROGRAM],
            cwd=folder,
            env={"PATH": str(environment / "bin"), "HOME": folder},
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0 and result.stdout == "ok\n", result.stdout + result.stderr


def main() -> int:
    wheels = sorted((ROOT / "dist").glob("weft-*.whl"))
    if not wheels:
        print("no wheel in dist/: run 'make wheel'", file=sys.stderr)
        return 1
    tried = 0
    for wheel in wheels:
        check_contents(wheel)
        tag, abi = wheel.stem.split("-")[2:4]
        version = (3, int(tag.removeprefix("cp3")))
        for candidate, python in sorted(interpreters().items()):
            if candidate == version or (abi == "abi3" and candidate > version):
                try_wheel(wheel, python)
                tried += 1
                print(f"{wheel.name} works on Python {candidate[0]}.{candidate[1]}")
    return 0 if tried else 1


if __name__ == "__main__":
    sys.exit(main())
