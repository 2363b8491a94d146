"""Times what a NumPy function in a compiled function adds to its first call.

    python bench/first_calls.py [--all] [--only TEXT] [--rounds N] [--dtypes dlf] [--json FILE]
    python bench/first_calls.py --together 30     first calls of so many loop programs, one after another

The functions are the lines of src/lang/prelude/shipped.txt; with --all those of the table in
tests/python/jit/arrays/test_numpy_functions.py, most of which have rare arguments. Each is compiled as
`lambda a, x, s, v: ...` in a process of its own with an empty cache on disk, after weft has compiled expressions of
arrays there. They wait for their good code (tier "jit"). What is told is the first call's processor time, less that of
`x[0]`: the least of the rounds, in milliseconds. "again" is a second program that calls the same function, with a
constant beside it.

With --together it is how long the calls take, the processor's time of their thread alone and of the process until what
they leave to the background is compiled, and the thread's where the disk has all. WEFT_TIER says whether calls wait for
good code.
"""

import argparse
import inspect
import json
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile
import time
import warnings

import numpy
import weft

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests/python/jit/arrays"))
PLAIN = "x[0]"
BEFORE = "(a.T + 2 * a, x[1:] > s[0], x[0] // 3 + s[1])"  # what is loaded at its first use is no function's


def arguments(text, dtype):
    """Arrays such as the table's test gives."""
    random = numpy.random.default_rng(3)
    a = (random.random((5, 5)) * 7 - 2).astype(dtype)
    x = (random.random(9) * 7 - 2).astype(dtype)
    s = (
        numpy.sort((random.random(7) * 7).astype(dtype))
        if "trapezoid" not in text
        else numpy.arange(9).astype(dtype)
    )
    return a, x, s, a[:, 0]


def first_call(text, given):
    """Seconds of the processor."""
    source = f"f = lambda a, x, s, v: {text}"
    names = {"np": numpy}
    exec(source, names)
    function = weft.jit(names["f"], source=source)
    start = time.process_time()
    try:
        function(*given)
    except weft.CompileError:
        return None
    except Exception:  # of these elements
        pass
    return time.process_time() - start


def in_a_process(texts, given, folder):
    """The first calls of several programs, one after another, in a process of their own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        weft.config.cache_dir, weft.config.tier = folder, "jit"
        warnings.simplefilter("ignore")
        with numpy.errstate(all="ignore"):
            first_call(BEFORE, given)
            times = [first_call(text, given) for text in texts]
        os.write(write, json.dumps(times).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else [None] * len(texts)


def together(count, rounds):
    """The first calls of loop programs, spread over those of tests/python/jit/programs, with small arguments."""
    sys.path.append(str(ROOT / "tests/python/support"))
    import jit_programs

    every = list(jit_programs.names().items())
    chosen = [every[k * len(every) // count] for k in range(count)]
    lines = 0
    for name, path in chosen:
        plain = jit_programs.load(name, path)
        used = jit_programs._used(plain.module, plain.run.__name__)
        lines += sum(len(inspect.getsourcelines(getattr(plain.module, each))[0]) for each in used)
    best = [float("inf")] * 4
    for _ in range(rounds):
        folder = tempfile.mkdtemp()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            weft.config.cache_dir = folder
            programs = [jit_programs.load(name, path, weft.jit) for name, path in chosen]
            with numpy.errstate(all="ignore"):
                for _ in range(2):  # compiled, then found on disk
                    arguments = [each.arguments(each.small) for each in programs]
                    clocks = (time.perf_counter, time.thread_time, time.process_time)
                    start = [clock() for clock in clocks]
                    for program, given in zip(programs, arguments, strict=True):
                        program.run(*given)
                    ends = [clock() for clock in clocks[:2]]
                    weft.cache_info()  # waits for the background
                    ends.append(clocks[2]())
                    for begin, end in zip(start, ends, strict=True):
                        os.write(write, f"{end - begin} ".encode())
                    programs = [jit_programs.load(name, path, weft.jit) for name, path in chosen]
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            times = [float(text) for text in pipe.read().split()]
            times = [*times[:3], *times[4:5]]
        os.waitpid(child, 0)
        shutil.rmtree(folder)
        best = [min(pair) for pair in zip(best, times, strict=True)]
    print(
        f"{count} programs of {lines} lines: {1e3 * best[0]:.0f} ms, {1e3 * best[1]:.0f} of the thread's processor,"
        f" {1e3 * best[2]:.0f} of all until the good code is there, {1e3 * best[3]:.0f} of the thread from disk"
    )


def measured(text, dtype, rounds):
    """The least times of the first program and of the second one; nothing where it is not compiled."""
    given = arguments(text, dtype)
    best = [float("inf")] * 2
    for _ in range(rounds):
        folder = tempfile.mkdtemp()
        times = in_a_process([text, f"({text}, 1)"], given, folder)
        shutil.rmtree(folder)
        if None in times:
            return None
        best = [min(pair) for pair in zip(best, times, strict=True)]
    return best


def main():
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="", help="a regular expression")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dtypes", default="d")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--together", type=int)
    options = parser.parse_args()
    if options.together:
        return together(options.together, options.rounds)
    if options.all:
        from test_numpy_functions import CALLS as calls
    else:
        lines = (ROOT / "src/lang/prelude/shipped.txt").read_text().splitlines()
        calls = {line: options.dtypes for line in lines if line and not line.startswith("#")}

    first_call(BEFORE, arguments(BEFORE, "d"))
    rows = []
    for dtype in options.dtypes:
        plain = measured(PLAIN, dtype, 3 * options.rounds)
        for text, dtypes in calls.items():
            if not re.search(options.only, text) or dtype not in dtypes:
                continue
            times = measured(text, dtype, options.rounds)
            if times is None:
                print(f"{dtype} {'':17} {text}", flush=True)
                continue
            row = [1e3 * (mine - its) for mine, its in zip(times, plain, strict=True)]
            rows.append((dtype, text, *row))
            print(f"{dtype} {row[0]:8.2f} {row[1]:8.2f} {text}", flush=True)
    for name, column in (("first", 2), ("again", 3)):
        values = sorted(row[column] for row in rows)
        most = values[int(0.9 * len(values))]
        below = sum(value <= 3 for value in values)
        print(
            f"{name}: mean {statistics.mean(values):.2f} ms, median {statistics.median(values):.2f}, nine of ten below"
            f" {most:.2f}, most {values[-1]:.2f}; {below} of {len(values)} within 3 ms"
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
