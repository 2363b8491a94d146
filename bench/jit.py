"""Times loop programs with weft.jit beside Numba and CPython, and compares their results.

    python bench/jit.py [--only TEXT] [--rounds N] [--scale X] [--cpu] [--json FILE]

The programs are those of tests/python/jit/programs. weft and Numba run in one process and take turns, each call with
arguments of its own. A column has the median of the rounds, and the ratio is that of the shortest calls. --cpu takes
the process's time, for machines that others use, too. "first" is the first call with small arguments, compilation
included; weft's cache on disk is empty before. CPython gets the small size. Numba is taken from this interpreter or
from .venv-peers; without it its columns are empty. Exit status 1 when results disagree or when a program is not
compiled.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests/python/support"))


def in_an_interpreter_with_numba():
    """Starts this script anew in .venv-peers where that alone has Numba."""
    python = ROOT / ".venv-peers/bin/python"
    try:
        import numba  # noqa: F401
    except ModuleNotFoundError:
        if python.exists() and not os.environ.get("WEFT_BENCH_JIT"):
            import weft

            package = str(pathlib.Path(weft.__file__).parents[1])
            paths = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
            environment = os.environ | {"PYTHONPATH": paths, "WEFT_BENCH_JIT": "1"}
            os.execve(python, [str(python), *sys.argv], environment)


def compilers():
    """The compilers that there are, by name."""
    import weft

    found = {"weft": weft.jit}
    try:
        import numba
    except ModuleNotFoundError:
        return found
    return {"numba": numba.njit(error_model="python"), **found}


clock = time.perf_counter


def timed(function, arguments):
    start = clock()
    function(*arguments)
    return clock() - start


def measured(name, path, ways, rounds, scale):
    """A program's times in seconds, by way, and what is wrong."""
    import jit_programs
    import numpy
    import weft

    plain = jit_programs.load(name, path)
    size = plain.large if scale == 1 else max(plain.small, int(plain.large * scale))
    row = {"name": name, "size": size, "wrong": [], "first": {}, "time": {}}
    with numpy.errstate(all="ignore"):
        row["time"]["python"] = timed(plain.run, plain.arguments(plain.small))
        expected = plain.outcome(plain.small, widen=True)
    programs = {}
    for way, jit in ways.items():
        program = jit_programs.load(name, path, jit)
        try:
            row["first"][way] = timed(program.run, program.arguments(program.small))
        except Exception as error:
            row["wrong"].append(f"{way}: {str(error).splitlines()[0]}")
            continue
        programs[way] = program
        wrong = jit_programs.different(expected, program.outcome(program.small), program.tolerance)
        if way == "weft":
            weft.cache_info()  # waits for the good code
        row["wrong"] += [f"{way}: {wrong}"] if wrong else []
    if len(programs) > 1:
        one, other = (program.outcome(size) for program in programs.values())
        wrong = jit_programs.different(one, other, plain.tolerance)
        row["wrong"] += [f"large: {wrong}"] if wrong else []
    times = {way: [] for way in programs}
    names = list(programs)
    for k in range(rounds):
        for way in names[k % len(names) :] + names[: k % len(names)] if names else ():
            times[way].append(timed(programs[way].run, programs[way].arguments(size)))
    row["time"] |= {way: statistics.median(values) for way, values in times.items() if values}
    row["best"] = {way: min(values) for way, values in times.items() if values}
    return row


def ratio_of(row):
    times = row["best"]
    return times["weft"] / times["numba"] if {"weft", "numba"} <= times.keys() else None


def shown(row):
    def cell(table, way):
        value = table.get(way)
        return f"{value * 1e3:10.3f}" if value is not None else " " * 10

    ratio = ratio_of(row)
    return (
        f"{row['name']:20} {row['size']:9} {cell(row['first'], 'numba')} {cell(row['first'], 'weft')}"
        f" {cell(row['time'], 'numba')} {cell(row['time'], 'weft')} {ratio or math.nan:7.2f}"
        f"  {cell(row['time'], 'python')}" + "".join(f"\n    {wrong}" for wrong in row["wrong"])
    )


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def main():
    """Measures and prints; answers the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    if options.cpu:
        global clock
        clock = time.process_time
    in_an_interpreter_with_numba()
    warnings.simplefilter("ignore")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WEFT_CACHE_DIR"] = folder
        ways = compilers()
        import jit_programs

        for jit in ways.values():  # what each loads at its first use is no program's
            jit(jit_programs.load("looped_sum", jit_programs.names()["looped_sum"]).run)(_ones())
        print(
            f"{'milliseconds':20} {'size':>9} {'numba':>10} {'weft':>10} {'numba':>10} {'weft':>10} {'ratio':>7}",
            end="",
        )
        print(f"  {'CPython':>10}\n{'':30} {'first':>10} {'first':>10}{'':31}{'(small)':>17}")
        for name, path in jit_programs.names().items():
            if options.only in name:
                rows.append(measured(name, path, ways, options.rounds, options.scale))
                print(shown(rows[-1]), flush=True)
    ratios = [ratio for ratio in map(ratio_of, rows) if ratio is not None]
    firsts = [row["first"]["weft"] / row["first"]["numba"] for row in rows if len(row["first"]) == 2]
    print(
        f"geometric means of weft/Numba: {geometric_mean(ratios):.2f} over {len(ratios)} programs, ", end=""
    )
    print(f"first calls {geometric_mean(firsts):.3f}; above 1.15: ", end="")
    print(", ".join(row["name"] for row in rows if (ratio_of(row) or 0) > 1.15) or "none")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 1 if any(row["wrong"] for row in rows) else 0


def _ones():
    import numpy

    return numpy.ones(2)


if __name__ == "__main__":
    sys.exit(main())
