"""Probes: whatever is given to weft and whatever fails, no process ends, hangs or goes on with wrong values.

    python tests/probe/run.py                            every probe, a fresh seed, ten minutes
    python tests/probe/run.py --only calls --cases 100000  some probes, so many cases of each
    python tests/probe/run.py --sample --seed 1          a few seconds of each, as the tests run them
    python tests/probe/run.py --only calls --seed 7 --case 123   one case again: its script, and how it ends

Each probe is a module of this folder: `case(seed, number)` makes a script of a number alone (cases.py). Child processes
run the scripts; the case at which one ends is known, is run again in shorter forms, and printed as a short script. With
--full each probe has as many cases as the promise in docs/guide/failures.md names. Exit status: 0 when nothing failed.
"""

import argparse
import contextlib
import importlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "python" / "support"), str(FOLDER.parent / "fuzz")]

import cases  # noqa: E402
import supervise  # noqa: E402

# Modules of this folder, each with FULL, the cases of a full run, BATCH, those that one process runs, and case(seed,
# number). They may have environment(), what their processes have in it, prepare(), which a process calls once, and
# SAMPLE, how many cases are some seconds of work.
PROBES = [
    name
    for name in ("calls", "objects", "allocations", "system_calls", "kills", "limits", "data", "driver")
    if (FOLDER / f"{name}.py").exists()
]


def module_of(name):
    return importlib.import_module(name)


def environment_of(probe):
    environment = dict(os.environ, PYTHONFAULTHANDLER="1", PYTHONWARNINGS="ignore")
    environment.update(getattr(probe, "environment", dict)())
    return environment


def say(**message):
    print(json.dumps(message), flush=True)


def work(options):
    """The process that runs cases: tells by lines of JSON which one it begins and what it finds."""
    import faulthandler

    probe = module_of(options.only[0])
    out, sys.stdout = sys.stdout, sys.stderr  # what scripts print is not for the supervisor
    faulthandler.enable()

    def tell(**message):
        print(json.dumps(message), file=out, flush=True)

    with tempfile.TemporaryDirectory(prefix="weft-probe-") as folder, contextlib.chdir(folder):
        getattr(probe, "prepare", lambda: None)()
        for number in range(options.first, options.first + options.cases):
            tell(at=number)
            with contextlib.suppress(KeyboardInterrupt):  # a case that was told to end, and did
                message = cases.run(probe.case(options.seed, number).source())
                if message:
                    tell(failed=number, message=message)
            if number % 50 == 0:
                tell(counts=cases.COUNTS)
                cases.COUNTS.clear()
    tell(done=True, counts=cases.COUNTS)


def run_source(source, environment, patience):
    """What is wrong with a script in a process of its own; None if nothing is."""
    program = (
        f"import sys; sys.path[:0] = {sys.path[:3]!r}\n"
        "import cases; message = cases.run(sys.stdin.read())\n"
        "if message: print(message); sys.exit(3)\n"
    )
    with tempfile.TemporaryDirectory(prefix="weft-probe-") as folder:
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=environment, cwd=folder, text=True,
        )  # fmt: skip
        try:
            text = process.communicate(source, timeout=patience)[0]
        except subprocess.TimeoutExpired:
            process.send_signal(2)
            try:
                process.communicate(timeout=patience)
                return None  # Ctrl-C ended it
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return "hangs"
    if process.returncode in (0, -2, 130, 1):
        return None
    return text.strip() if process.returncode == 3 else supervise.ending(process.returncode)


class Run:
    """All cases of one probe."""

    def __init__(self, name, options, seconds):
        self.name, self.options = name, options
        self.probe = module_of(name)
        self.failures = 0
        self.counts = {}
        self.ends = time.monotonic() + seconds if seconds else float("inf")
        self.shown = time.monotonic()
        self.workers = supervise.Workers(
            self.command, self.report, self.told, self.stop, options.jobs,
            getattr(self.probe, "PATIENCE", 10.0),
        )  # fmt: skip

    def command(self, first, count):
        command = [
            sys.executable, __file__, "--work", "--only", self.name, "--seed", str(self.options.seed),
            "--first", str(first), "--cases", str(count),
        ]  # fmt: skip
        return command, environment_of(self.probe)

    def stop(self):
        return time.monotonic() > self.ends or self.failures >= self.options.stop_after

    def told(self, message):
        for key, value in message.get("counts", {}).items():
            self.counts[key] = self.counts.get(key, 0) + value
        now = time.monotonic()
        if now - self.shown > (0.5 if sys.stderr.isatty() else 60):
            self.shown = now
            end = "\r" if sys.stderr.isatty() else "\n"
            print(f"{self.summary()} ", end=end, file=sys.stderr, flush=True)

    def summary(self):
        parts = [f"{self.name}: {self.workers.started:,} cases", f"{self.failures} fail"]
        if self.workers.interrupted:
            parts.append(f"{len(self.workers.interrupted)} ended by Ctrl-C")
        parts += [f"{count:,} {what}" for what, count in sorted(self.counts.items())]
        return ", ".join(parts)

    def report(self, number, message, trace):
        case = self.probe.case(self.options.seed, number)
        environment, patience = environment_of(self.probe), getattr(self.probe, "PATIENCE", 10.0)

        def fails(smaller):
            return run_source(smaller.source(), environment, patience) is not None

        if self.options.shorten and fails(case):
            case = cases.shorten(case, fails)
        where = f"--only {self.name} --seed {self.options.seed} --case {number}"
        print(f"\n--- case {number} ({where}): {message}\n{trace}\n{case.source()}\n", flush=True)
        self.failures += 1

    def go(self, total):
        begin, batch = self.options.first, self.probe.BATCH
        ranges = [(first, min(batch, begin + total - first)) for first in range(begin, begin + total, batch)]
        try:
            self.workers.run(ranges)
        except KeyboardInterrupt:
            self.ends = 0.0  # what has begun is ended, and what was found is told
            self.workers.run([])
        return self


def again(options):
    probe = module_of(options.only[0])
    case = probe.case(options.seed, options.case)
    print(case.source(), flush=True)
    environment = environment_of(probe)
    message = run_source(case.source(), environment, getattr(probe, "PATIENCE", 10.0))
    print("--- " + (message or "ends as it may"))
    return 1 if message else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", type=lambda text: text.split(","), default=PROBES, help=", ".join(PROBES))
    parser.add_argument("--cases", type=int, help="of each probe; default: as many as the time allows")
    parser.add_argument(
        "--full", action="store_true", help="as many cases as are promised, without a limit of time"
    )
    parser.add_argument("--sample", action="store_true", help="few cases of each")
    parser.add_argument("--seconds", type=float, help="for all probes together; default: 600 without --cases")
    parser.add_argument("--seed", type=int, help="default: a fresh one, which is printed")
    parser.add_argument("--case", type=int, help="the number of one case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--stop-after", type=int, default=20, help="begin no more after so many failures")
    parser.add_argument("--long", action="store_true", help="print the cases that were ended by Ctrl-C")
    parser.add_argument("--no-shorten", dest="shorten", action="store_false")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    options = parser.parse_args()
    if options.work:
        work(options)
        return 0
    for name in options.only:
        if name not in PROBES:
            parser.error(f"no probe is called {name}: there are {', '.join(PROBES)}")
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1_000_000)
    if options.case is not None:
        return again(options)
    seconds = options.seconds or (None if options.full or options.cases or options.sample else 600)
    print(f"seed {options.seed}", flush=True)
    failed = False
    for name in options.only:
        run = Run(name, options, seconds and seconds / len(options.only))
        run.go(options.cases or (getattr(run.probe, "SAMPLE", 20) if options.sample else run.probe.FULL))
        print(run.summary(), flush=True)
        for number in run.workers.interrupted if options.long else ():
            print(f"\n--- case {number} took long\n{run.probe.case(options.seed, number).source()}")
        failed = failed or run.failures > 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
