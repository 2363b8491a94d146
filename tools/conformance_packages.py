"""The tests of published packages that use Numba, with their import line changed: lists of what fails, and why.

    tools/conformance_packages.py --python PYTHON [--package NAME] [--write] [--again]

PYTHON is the interpreter of an environment that has Numba, pytest, pytest-timeout and what the packages and their tests
import, for the Python that weft is built for. The packages' sources come from the package index. Each is there twice
below build/conformance/packages/: as it is, which runs with Numba, and with `weft.numba` in the place of `numba` in its
import lines, which runs with weft. Of the tests that pass with Numba, those that fail with weft are listed in
tests/conformance/expected/packages.toml with the reason; a failure without entry, and an entry of a test that passes,
fail the run.

    --package NAME  this one alone; several times: any of them
    --write         write the list anew
    --again         do not run; judge what the last run has left
    --numba         run with Numba, too, where that was done before
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).parents[1]
HERE = ROOT / "tests" / "conformance"
LEFT = ROOT / "build" / "conformance" / "packages"
sys.path.insert(0, str(HERE))
import expectations  # noqa: E402

LONGEST = 180  # seconds that a test takes
# By package: its version, and what pytest is given.
PACKAGES = {
    "numbagg": ("0.9.6", ["numbagg"]),
    "pynndescent": ("0.5.13", ["pynndescent"]),
    "quantecon": ("0.11.4", ["quantecon"]),
    "stumpy": (
        "1.14.1",
        [
            f"tests/test_{name}.py"
            for name in "core fastmath precision cache scrump aamp stump mpdist".split()
        ],
    ),
    # Kernels: Numba's run in its simulator of CUDA, weft's on the fake driver, or on a GPU where WEFT_DEVICE is set.
    "stumpy-gpu": (
        "1.14.1",
        [
            f"tests/test_gpu_{name}.py"
            for name in "stump aamp ostinato aamp_ostinato mpdist aampdist stimp aamp_stimp".split()
        ],
    ),
}
BINARIES = ROOT / "build/release/bin"
FAKE_GPU = {
    "WEFT_CUDA_DRIVER": str(BINARIES / "libweft_fake_driver.so"),
    "CUDA_HOME": str(BINARIES / "fake_driver_toolkit"),
    "WEFT_DEVICE": "cuda",
}
# What a package asks of Numba itself, by the test and how it fails.
NUMBAS = [
    (r"test_cache_save_after_clear", "asks for the files of Numba's cache"),
    (r"test_snippets", "a function's fastmath holds for the functions that it calls, too"),
    (r"test_fastmath\.py.*test_set", "fastmath={'reassoc'} disregards the sign of zero, too"),
    (r"float32_move_sum_100", "a float32 beside a float literal stays float32, as in NumPy"),
    (r"made by exec\(\)", "a function of a changed tree, which has no text"),
]
CHANGES = [
    (r"^(\s*)import numba((?:\.\w+)*) as ", r"\1import weft.numba\2 as "),
    (r"^(\s*)import numba$", r"\1import weft.numba as numba"),
    (r"^(\s*)import numba((?:\.\w+)+)$", r"\1import weft.numba\2; import weft.numba as numba"),
    (r"^(\s*)from numba((?:\.\w+)*) import ", r"\1from weft.numba\2 import "),
]


def source_of(name):
    """The package's name and version in the index; a name may have what of it is run behind a hyphen."""
    return f"{name.partition('-')[0]}-{PACKAGES[name][0]}"


def prepare(python, name):
    """Both copies of a package, as folders."""
    source, version = source_of(name), PACKAGES[name][0]
    kept = LEFT / "sources"
    if not (found := [*kept.glob(f"{source}.tar.gz")]):
        command = [python, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*command, "--dest", str(kept), f"{name.partition('-')[0]}=={version}"], check=True)
        found = [*kept.glob(f"{source}.tar.gz")]
    for side in ("numba", "weft"):
        folder = LEFT / side
        shutil.rmtree(folder / source, ignore_errors=True)
        with tarfile.open(found[0]) as archive:
            archive.extractall(folder, filter="data")
    for path in (LEFT / "weft" / source).rglob("*.py"):
        text = changed = path.read_text()
        for pattern, by in CHANGES:
            changed = re.sub(pattern, by, changed, flags=re.MULTILINE)
        if changed != text:
            path.write_text(changed)


def run(python, name, side):
    """The outcomes of a package's tests: by test, the line of its failure or None."""
    what = PACKAGES[name][1]
    folder, report = LEFT / side / source_of(name), LEFT / side / f"{name}.xml"
    path = [str(folder)] + ([str(ROOT / "build/release/python")] if side == "weft" else [])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONHASHSEED": "0",
        "WEFT_CACHE_DIR": str(LEFT / "kernels"),
        "NUMBA_CACHE_DIR": str(LEFT / "numba-kernels"),
    }
    if name.endswith("-gpu"):
        if side == "numba":
            environment["NUMBA_ENABLE_CUDASIM"] = "1"
        elif "WEFT_DEVICE" not in os.environ:
            environment |= FAKE_GPU
    what = [each for each in what if (folder / each).exists()]
    command = [
        python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--timeout={LONGEST}",
        f"--junitxml={report}",
        f"--rootdir={folder}",
    ]
    report.unlink(missing_ok=True)
    subprocess.run(
        [*command, *what], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    if not report.exists():
        raise SystemExit(f"{name}: pytest ended without a report, with {side}")
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("skipped") is not None:
            continue
        test = file_of(folder, case.get("classname")) + "::" + case.get("name")
        failures = [each for kind in ("failure", "error") for each in case.findall(kind)]
        found[test] = line_of(failures[0]) if failures else None
    return found


def file_of(folder, dotted):
    """`package/file.py`, and `::Class` behind it, of the dotted name that a report has."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        file = "/".join(parts[:count]) + ".py"
        if (folder / file).exists():
            return "::".join([f"{folder.name.rpartition('-')[0]}/{file}", *parts[count:]])
    return f"{folder.name.rpartition('-')[0]}/{dotted}"


def line_of(failure):
    """The line of the exception: the message's, or the last that names one in the traceback."""
    named = re.findall(
        r"^E?\s*([\w.]*(?:Error|Exception|Refused|Timeout|Failed)\b.*)$", failure.text or "", re.MULTILINE
    )
    text = (named or [failure.get("message") or "failed"])[-1].strip().splitlines()[0]
    return re.sub(r"^[\w.]*(CompileError: ).*, line \d+, in [^:]*: ", r"\1", text)[:300]


def precise(test, why):
    """The reason of a failure that is listed."""
    for pattern, text in NUMBAS:
        if re.search(pattern, f"{test}: {why}"):
            return text
    return why


def main():
    """Runs, prints and judges."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", required=True)
    parser.add_argument("--package", action="append", choices=[*PACKAGES])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--numba", action="store_true")
    options = parser.parse_args()
    LEFT.mkdir(parents=True, exist_ok=True)
    passed, failures = {}, {}
    print(f"{'package':16} {'Numba':>6} {'weft':>6} {'rate':>7}")
    for name in options.package or PACKAGES:
        outcomes = {}
        if not options.again:
            prepare(options.python, name)
        for side in ("numba", "weft"):
            kept = LEFT / f"{name}-{side}.json"
            if not kept.exists() or (not options.again and (side == "weft" or options.numba)):
                kept.write_text(json.dumps(run(options.python, name, side), indent=0))
            outcomes[side] = json.loads(kept.read_text())
        good = [test for test, why in outcomes["numba"].items() if why is None]
        bad = {test: outcomes["weft"].get(test, "Missing: it did not run") for test in good}
        bad = {test: precise(test, why) for test, why in bad.items() if why is not None}
        passed.update(dict.fromkeys(good, 0))
        failures.update(bad)
        rate = 100 * (1 - len(bad) / max(len(good), 1))
        print(f"{name:16} {len(good):6} {len(good) - len(bad):6} {rate:6.1f}%", flush=True)
    if options.write:
        expectations.write(
            HERE / "expected", passed, failures, lambda file: "packages", not options.package, small=1
        )
        return 0
    complaints = [*expectations.complaints(HERE / "expected", passed, failures, lambda file: "packages")]
    print(*complaints[:200], sep="\n")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
