"""Instructions that small statements take, counted by valgrind: the same on a busy machine as on a quiet one.

    python bench/instructions.py [--only TEXT] [--json FILE]
    python bench/instructions.py --before FOLDER     beside another build, whose package weft is in FOLDER

The statements are those of small.py, without its loops, whose kernels are compiled meanwhile. Each runs in one process
under callgrind, RUNS times after as many that do not count. Without --before the table has the instructions of a run;
with it, their ratios, after to before, of statements that are above NOTICEABLE. Exit status: 1 when there is one.
Needs valgrind and clang.
"""

import argparse
import ctypes
import gc
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
RUNS = 100
NOTICEABLE = 1.03


def chosen(only):
    import small

    groups = {name: lines for name, lines in small.STATEMENTS.items() if name != "loops"}
    return [line for name, lines in groups.items() for line in lines if only in name or only in line]


def run_statements(only, marks):
    """In the process that is counted."""
    import small

    library = ctypes.CDLL(marks)
    loop = "for _ in range(runs):\n    "
    gc.disable()
    for index, statement in enumerate(["pass", "pass", *chosen(only)]):  # the first one has what begins late
        names = dict(small.names_for(small.weft), runs=RUNS)
        code = compile(f"def work():\n  {small.written(names)}\n  {loop}{statement}", statement, "exec")
        exec(code, names)
        names["work"]()
        library.begin_count()
        names["work"]()
        library.end_count(f"statement {index}".encode())


def count(package, only):
    """{statement: instructions of a run} of the build whose package is in the folder."""
    with tempfile.TemporaryDirectory() as folder:
        marks = pathlib.Path(folder, "marks.so")
        subprocess.run(
            ["clang-19", "-shared", "-fPIC", "-o", marks, HERE / "cpp/callgrind_marks.c"], check=True
        )
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={folder}/counts",
            "--smc-check=all-non-file",
        ]
        command += [sys.executable, __file__, "--only", only, "--marks", str(marks)]
        environment = {
            **os.environ,
            "PYTHONPATH": str(package),
            "PYTHONHASHSEED": "0",
            "WEFT_CACHE_DIR": folder,
        }
        done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, check=False)
        totals = {}
        for path in pathlib.Path(folder).glob("counts.*"):
            text = path.read_text()
            name = re.search(r"^desc: Trigger: Client Request: statement (\d+)", text, re.MULTILINE)
            if name:
                totals[int(name[1])] = int(re.search(r"^totals: (\d+)", text, re.MULTILINE)[1])
        statements = chosen(only)
        if len(totals) != len(statements) + 2:
            sys.exit(f"{len(totals)} of {len(statements) + 2} counts:\n{done.stderr[-2000:]}")
        return {line: (totals[i] - totals[1]) / RUNS for i, line in enumerate(statements, 2)}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="only statements, or groups, with this text")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--before", type=pathlib.Path, help="the folder of another build's package")
    parser.add_argument("--marks", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.marks:
        return run_statements(options.only, options.marks)
    import weft

    after = count(pathlib.Path(weft.__file__).parents[1], options.only)
    if options.json:
        options.json.write_text(json.dumps(after, indent=1))
    if not options.before:
        for statement, instructions in after.items():
            print(f"{statement:44} {instructions:10.0f}")
        return 0
    before = count(options.before.resolve(), options.only)
    ratios = {line: after[line] / before[line] for line in after}
    slower = {line: ratio for line, ratio in ratios.items() if ratio > NOTICEABLE}
    for line, ratio in sorted(slower.items(), key=lambda item: -item[1]):
        print(f"{line:44} {ratio:6.3f}   {before[line]:8.0f} to {after[line]:8.0f}")
    print(f"{len(slower)} of {len(ratios)} statements above {NOTICEABLE}; geometric mean "
          f"{statistics.geometric_mean(ratios.values()):.3f}")  # fmt: skip
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
