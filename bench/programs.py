"""Times the programs of examples/programs three ways: with NumPy, with `import weft as np`, and unchanged by weft.

    python bench/programs.py [--only TEXT] [--runs N] [--scale X] [--json FILE]

Each way has a process of its own for each program; the ways take turns over --rounds rounds. The table has the best
time of a run, and the medians of the rounds' ratios to NumPy. "whole" is the time of the whole process, with Python's
start, imports and compilation: `python program.py` beside `python -m weft program.py`. Exit status 1 when results
disagree.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
from weft.bench.measure import difference

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = sorted((HERE.parent / "examples/programs").glob("*.py"))
WAYS = ("numpy", "weft", "zero")
# Sums in another order differ in last bits, which chaotic programs multiply.
TOLERANCE = {"n_body": 1e-9, "lorenz": 1e-3, "spectrogram": 1e-6}


def size_of(path, scale):
    """The program's own size, scaled."""
    for line in path.read_text().splitlines():
        if line.startswith("SIZE = "):
            return max(8, int(int(line.removeprefix("SIZE = ").replace("_", "")) * scale))
    raise ValueError(f"{path} has no SIZE")


def run(way, path, size, runs, folder):
    words = [sys.executable, str(HERE / "program_run.py"), way, path, size, runs, folder / f"{way}.npz"]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{path.stem} by {way}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def whole(words):
    start = time.perf_counter()
    subprocess.run([sys.executable, *map(str, words)], check=True, capture_output=True, env=os.environ)
    return time.perf_counter() - start


def compared(path, folder):
    """What the ways' results differ in, as text; none where they agree."""
    expected = numpy.load(folder / "numpy.npz")
    for way in WAYS[1:]:
        found = numpy.load(folder / f"{way}.npz")
        for name in expected.files:
            wrong = difference(expected[name], found[name], TOLERANCE.get(path.stem, 1e-9))
            if wrong:
                return f"{way}, {name}: {wrong}"
    return None


def measured(path, options):
    """The row of a program."""
    size = size_of(path, options.scale)
    row = {
        "name": path.stem,
        "size": size,
        "seconds": {way: [] for way in WAYS},
        "whole": {"numpy": [], "zero": []},
    }
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.rounds):
            for way in WAYS[number % 3 :] + WAYS[: number % 3]:
                times = run(way, path, size, options.runs, pathlib.Path(folder))["seconds"]
                row["seconds"][way].append(min(times))
            row["whole"]["numpy"].append(whole([path, size]))
            row["whole"]["zero"].append(whole(["-m", "weft", path, size]))
        row["wrong"] = compared(path, pathlib.Path(folder))
    for way in WAYS[1:]:
        row[f"{way} ratio"] = ratio(row["seconds"], way, "numpy")
    row["zero to weft"] = ratio(row["seconds"], "zero", "weft")
    row["whole ratio"] = ratio(row["whole"], "zero", "numpy")
    return row


def ratio(times, way, other):
    return statistics.median(a / b for a, b in zip(times[way], times[other], strict=True))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="programs whose name has this text")
    parser.add_argument("--runs", type=int, default=3, help="runs in a process")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="sizes are multiplied by it")
    parser.add_argument("--json", type=pathlib.Path, help="write every time to this file")
    options = parser.parse_args()
    print(
        f"{'program':14} {'size':>9} {'NumPy':>9} {'weft':>9} {'unchanged':>9}  weft ×   unchanged × (to weft)  whole ×"
    )
    rows = []
    for path in PROGRAMS:
        if options.only not in path.stem:
            continue
        row = measured(path, options)
        rows.append(row)
        best = {way: min(times) * 1e3 for way, times in row["seconds"].items()}
        print(
            f"{row['name']:14} {row['size']:>9} "
            + " ".join(f"{best[way]:6.1f} ms" for way in WAYS)
            + f"  {row['weft ratio']:6.3f}   {row['zero ratio']:6.3f}      ({row['zero to weft']:5.3f})"
            + f"      {row['whole ratio']:6.3f}"
            + (f"  WRONG: {row['wrong']}" if row["wrong"] else ""),
            flush=True,
        )
    for name in ("weft ratio", "zero ratio", "zero to weft", "whole ratio"):
        print(f"geometric mean, {name}: {math.exp(statistics.mean(math.log(row[name]) for row in rows)):.3f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return int(any(row["wrong"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
