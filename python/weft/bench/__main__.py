"""Times weft beside NumPy on this machine.

    python -m weft.bench                        every case; some minutes
    python -m weft.bench --only sum             cases whose name has this text
    python -m weft.bench --json new.json        keeps the times
    python -m weft.bench --compare old.json     says what became slower since; then the exit status is 1
    python -m weft.bench --curves               time against size and threads
    WEFT_DEVICE=cuda python -m weft.bench       weft on a GPU

Each case runs in weft and in NumPy by turns, in one process, with the same text and input. The table gives medians of
the rounds, the median of the rounds' ratios, behind ± half the distance of their quartiles, and whether the results
agree within what the case allows. Needs NumPy; some cases compute with SciPy on NumPy's side and say so where it is
absent. Exit status: 1 when a result of weft's is wrong, weft fails, or --compare finds something slower; 2 when the
records cannot be compared.
"""

import argparse
import json
import pathlib
import sys
import time

LEAST_SECONDS = 0.15  # of a point of a curve, when --seconds is its default


def parsed(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m weft.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name has this text")
    parser.add_argument("--list", action="store_true", help="print the names of the cases, run none")
    parser.add_argument(
        "--seconds", type=float, help="for the rounds of a case (1), or of a curve's point (0.15)"
    )
    parser.add_argument(
        "--peers", default="", metavar="NAMES",
        help="beside NumPy: numexpr, numba, jax, torch, scipy, with commas between; those that are installed",
    )  # fmt: skip
    parser.add_argument(
        "--curves", action="store_true", help="time against size and threads, in place of the cases"
    )
    parser.add_argument(
        "--largest", type=float, default=1e8, help="elements of the largest size of a curve (1e8)"
    )
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every time to this file")
    parser.add_argument(
        "--compare", type=pathlib.Path, metavar="FILE", help="an earlier --json of the same machine"
    )
    parser.add_argument("--picture", type=pathlib.Path, metavar="FILE", help="draw it, with matplotlib")
    options = parser.parse_args(arguments)
    if options.curves and options.compare:
        parser.error("--compare is for cases, not for curves")
    return options


class Progress:
    """One line on the terminal; nothing where there is none."""

    def __init__(self):
        self.shown = sys.stderr.isatty()

    def show(self, text):
        if self.shown:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    def clear(self):
        self.show("")


def run_cases(options):
    from weft.bench import compare, suite, table

    chosen = [case for case in suite.IN_ONE_PROCESS if options.only.lower() in case.name.lower()]
    if options.list:
        print("\n".join(case.name for case in chosen))
        return 0
    names = ["weft", "numpy", *filter(None, options.peers.split(","))]
    unknown = [name for name in names if name not in suite.CONTENDERS]
    if unknown:
        print(f"no such peers: {', '.join(unknown)}", file=sys.stderr)
        return 2
    run = suite.new_run(names)
    old = None
    if options.compare:
        old = json.loads(options.compare.read_text())
        try:
            compare.check_machines(old, run)
        except compare.NotComparable as error:
            print(error, file=sys.stderr)
            return 2
    absent = [name for name in names if name not in run["versions"]]
    print(table.described(run) + (f"; not installed: {', '.join(absent)}" if absent else ""))
    print(table.HEAD, flush=True)
    progress, start = Progress(), time.monotonic()
    for number, case in enumerate(chosen, 1):
        progress.show(f"[{number}/{len(chosen)}] {case.name}")
        row = suite.run_case(case, [n for n in names if n not in absent], options.seconds or 1.0)
        run["rows"].append(row)
        progress.clear()
        print(table.line(row), flush=True)
    run["minutes"] = (time.monotonic() - start) / 60
    print(f"{table.total(run)}; {run['minutes']:.1f} minutes")
    if options.json:
        options.json.write_text(json.dumps(run, indent=1))
    if options.picture:
        from weft.bench import picture

        picture.of_run(run, options.picture, table.described(run))
    bad = any("weft" in row["wrong"] or "weft" in row["failed"] for row in run["rows"])
    if old:
        lines, slower = compare.report(old, run)
        print("\n".join(lines))
        bad = bad or slower
    return int(bad)


def run_curves(options):
    from weft.bench import curves, suite, table

    if options.list:
        print("\n".join(text for text in curves.OPERATIONS if options.only in text))
        return 0
    recorded = suite.new_run(["weft", "numpy"])
    del recorded["rows"]
    print(table.described(recorded))
    print(f"{'statement':24} {'elements':>11} {'':11} {'weft':>13} {'NumPy':>13}     ratio", flush=True)

    def show(point):
        print(table.point(point), flush=True)

    seconds = options.seconds or LEAST_SECONDS
    recorded["sizes"] = curves.against_size(options.only, seconds, options.largest, show)
    size = int(min(10**7, options.largest))
    recorded["threads"] = (
        curves.against_threads(options.only, seconds, size, show) if suite.device() == "cpu" else []
    )
    above = curves.over(recorded["sizes"])
    print(f"{len(above)} of {len(recorded['sizes'])} points take more than {curves.BAR} of NumPy's time")
    for point in above:
        print(table.point(point))
    if options.json:
        options.json.write_text(json.dumps(recorded, indent=1))
    if options.picture:
        from weft.bench import picture

        picture.of_curves(recorded, options.picture, table.described(recorded))
    return 0


def main(arguments=None):
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("weft.bench compares with NumPy, which is not installed: pip install numpy", file=sys.stderr)
        return 2
    options = parsed(arguments)
    return run_curves(options) if options.curves else run_cases(options)


if __name__ == "__main__":
    sys.exit(main())
