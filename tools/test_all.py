"""Every run that tests weft, one after another: `make test-all`, or some of them, ARGS="fuzz probe".

Each is a target of the Makefile. What it says goes into out/test-all/TARGET.log; after a failure the others still run.
At the end a table tells how each ended and how long it took. Exit status: 1 when one failed.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).parents[1]
LOGS = ROOT / "out" / "test-all"
TARGETS = {
    "test": "C++ and Python tests, includes, formatting, lint",
    "test-libraries": "programs with the libraries around, and those libraries' tests of the array API",
    "demo": "the example programs beside NumPy",
    "test-ptx": "every operation and every kernel of the suite, generated for GPUs",
    "fuzz": "random programs against NumPy",
    "fuzz-jit": "random functions by weft.jit beside CPython",
    "fuzz-libraries": "random calls of linalg and fft beside NumPy and SciPy",
    "fuzz-variants": "random programs by every tier, number of threads and optimisation switch",
    "probe": "junk calls, failing allocations and system calls",
    "test-sanitize": "all tests with the address and undefined-behaviour sanitizers",
    "probe-sanitize": "the probes with the same",
    "test-threads": "the tests of threads with the thread sanitizer",
    "test-wheel": "wheels in empty environments",
}


def run(target):
    """The exit status and the seconds of one target, which finds the jobs and settings that this one was given."""
    log = LOGS / f"{target}.log"
    # What the outer make says to its own jobs is nothing for this one.
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "ARGS")
    }
    start = time.monotonic()
    with open(log, "w") as output:
        status = subprocess.run(
            ["make", "--no-print-directory", target],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        ).returncode
    return status, time.monotonic() - start


def duration(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "targets", nargs="*", choices=[[], *TARGETS], metavar="TARGET", help="; ".join(TARGETS)
    )
    chosen = parser.parse_args().targets or list(TARGETS)
    LOGS.mkdir(parents=True, exist_ok=True)
    rows = []
    for target in chosen:
        print(f"{target}: {TARGETS[target]} ...", flush=True)
        status, seconds = run(target)
        rows.append((target, status, seconds))
        if status != 0:
            log = LOGS / f"{target}.log"
            print(f"--- failed; the end of {log.relative_to(ROOT)}", flush=True)
            print("\n".join(log.read_text(errors="replace").splitlines()[-20:]), flush=True)
    width = max(map(len, chosen))
    print(f"\n{'run':{width}}  {'time':>7}  result")
    for target, status, seconds in rows:
        print(
            f"{target:{width}}  {duration(seconds):>7}  {'passed' if status == 0 else f'failed ({status})'}"
        )
    failed = sum(status != 0 for _, status, _ in rows)
    print(f"{len(rows) - failed} of {len(rows)} passed in {duration(sum(seconds for *_, seconds in rows))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
