"""Times weft beside NumPy and the peers that are installed, on the workloads that weft runs.

    python bench/run.py [--only TEXT] [--row N] [--peers numpy,numba] [--seconds S] [--rounds N] [--out FOLDER]

Every contender of a case runs in a fresh process of its own (contender.py) and is asked in turns, while the others are
stopped: a first call, a warm-up, then rounds of a few calls each. What memory gives (cpp/triad.cpp), multiply-adds
(cpp/multiply_adds.cpp) and the vector functions of a case alone are measured in the same rounds. The table (report.py)
gives the median over the rounds and, behind ±, half the distance between their quartiles; ratios are medians of the
rounds' ratios. Results are checked against NumPy's. FOLDER (out/) gets benchmarks.json, with every single time, and the
table as benchmarks.md.
--beside WEFT_CPU=haswell lets weft take part a second time, with that setting, and tells what it costs.
--compare OLD.json says what became slower since (weft/bench/compare.py has the rule), for use before a change lands.
Exit status: 1 when a result of weft's is wrong, weft fails, or something became slower; 2 when the machines differ.
"""

import argparse
import contextlib
import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy
import report
from weft.bench import cases, compare
from weft.bench.machine import machine
from weft.bench.measure import difference, error_of_median, ratios, spread

HERE = pathlib.Path(__file__).parent
SECONDS_A_TURN = 0.03
MOST_ROUNDS = 61
CERTAIN = 0.02  # of a ratio: when its median is known so well, there are rounds enough
PATIENCE = 120  # seconds until a contender that does not answer is ended
SLOW = 6  # times the quickest peer: such a contender takes part in every fourth round only
WITHIN_LIMIT = 1.15
NO_SLOWER = 1.03


class Server:
    """A process that answers lines with lines of JSON: a contender, or what measures a limit. Stopped while it is not
    asked."""

    def __init__(self, name, command, cache="", settings=()):
        self.name = name
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
            env={**os.environ, "WEFT_CACHE_DIR": cache, **dict(settings)},
        )  # fmt: skip

    def receive(self):
        patience = threading.Timer(PATIENCE, self.process.kill)
        patience.start()
        try:
            for line in self.process.stdout:
                if line.startswith("{"):
                    return json.loads(line)
        finally:
            patience.cancel()
        self.errors.seek(0)
        last = self.errors.read().strip().splitlines()[-1:] or [f"exit status {self.process.wait()}"]
        raise RuntimeError(last[0][:150])

    def ready(self):
        self.receive()
        self.process.send_signal(signal.SIGSTOP)
        return self

    def ask(self, *words):
        self.process.send_signal(signal.SIGCONT)
        with contextlib.suppress(BrokenPipeError):
            print(*words, file=self.process.stdin, flush=True)
        message = self.receive()
        self.process.send_signal(signal.SIGSTOP)
        return message

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()


def is_setting(name):
    """Whether the contender is weft with one setting, such as WEFT_CPU=haswell."""
    return "=" in name


def is_peer(name):
    return name != "weft" and not is_setting(name)


def contender(name, python, case, cache=""):
    settings = [name.split("=", 1)] if is_setting(name) else []
    plays = "weft" if is_setting(name) else name
    return Server(name, [python, str(HERE / "contender.py"), plays, case.name], cache, settings)


class Limits:
    """What the machine gives: bytes a millisecond of the triad, milliseconds of vector functions and multiply-adds."""

    def __init__(self, folder):
        programs = {name: folder / f"weft_{name}" for name in ("triad", "multiply_adds")}
        for program in programs.values():
            if not program.exists():
                print(f"{program} is not there: no limits by it (make build)", file=sys.stderr)
        self.servers = {
            name: Server(name, [str(program)]) for name, program in programs.items() if program.exists()
        }
        command = [sys.executable, str(HERE / "contender.py"), "weft", ""]
        self.servers["functions"] = Server("functions", command).ready()
        self.bandwidths = []
        if "triad" in self.servers:
            for _ in range(3):
                self.servers["triad"].ask("run")

    def nanoseconds(self, function, dtype):
        """Of one element; none where it is not known."""
        if function != "multiply_add":
            return self.servers["functions"].ask("throughput", function, dtype)["nanoseconds"]
        server = self.servers.get("multiply_adds")
        return server and 1 / server.ask("run")[dtype]

    def milliseconds(self, case, moves):
        if not case.has_limit or moves is None:
            return None
        arithmetic = 0.0
        for function, count in case.work.items():
            nanoseconds = self.nanoseconds(*function)
            if nanoseconds is None:
                return None
            arithmetic += nanoseconds * count / 1e6
        if "triad" not in self.servers:
            return arithmetic or None
        self.bandwidths.append(self.servers["triad"].ask("run")["gigabytes_per_second"])
        return max(arithmetic, moves / self.bandwidths[-1] / 1e6)

    def close(self):
        for server in self.servers.values():
            server.close()


class Progress:
    """One line on the terminal; nothing where there is none."""

    def __init__(self, total):
        self.total, self.number, self.case = total, 0, ""
        self.shown = sys.stderr.isatty()

    def next(self, case):
        self.number += 1
        self.case = case
        self.show("starting")

    def show(self, what):
        if self.shown:
            print(
                f"\r\033[K[{self.number}/{self.total}] {self.case}: {what}",
                end="",
                file=sys.stderr,
                flush=True,
            )

    def clear(self):
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


# ---- kinds of case ----


def run_steady(case, pythons, options, limits, progress):
    servers, failed = {}, {}

    def attempt(name, *words):
        try:
            return servers[name].ask(*words) if words else servers[name].ready()
        except RuntimeError as error:
            failed[name] = str(error)
            servers.pop(name).close()
            return None

    try:
        for name, python in pythons.items():  # they make their inputs at the same time
            servers[name] = contender(name, python, case)
        for name in list(servers):
            attempt(name)
        first, expected = {}, {}
        for name in list(servers):
            progress.show(f"first call of {name}")
            got = attempt(name, "first")
            if got:
                first[name] = got
        for name in list(servers):  # warm-up, which also tells how many calls make a turn
            progress.show(f"warm-up of {name}")
            for _ in range(2):
                got = attempt(name, "run") if name in servers else None
            if got:
                expected[name] = got["ms"]
                servers[name].ask(
                    "calls", max(1, min(1000, int(SECONDS_A_TURN * 1e3 / max(got["ms"], 1e-4))))
                )
        quickest = min((ms for name, ms in expected.items() if is_peer(name)), default=math.inf)
        slow = {n for n, ms in expected.items() if ms > SLOW * quickest and ms > 100 and is_peer(n)}
        moves = case.moves
        if moves is None and "weft" in first:
            moves = first["weft"]["inputs"] + first["weft"]["result"]
        times, limit = {name: [] for name in servers}, []
        start = time.monotonic()
        number = 0
        while number < (options.rounds or MOST_ROUNDS):
            passed = time.monotonic() - start
            enough = number >= 5 and passed > options.seconds
            if not options.rounds and enough and (passed > 5 * options.seconds or is_certain(times)):
                break
            progress.show(f"round {number + 1}")
            names = sorted(times)
            for name in names[number % len(names) :] + names[: number % len(names)]:
                skipped = name in slow and number % 4 != 0
                got = None if skipped or name not in servers else attempt(name, "run")
                times[name].append(got and got["ms"])
            limit.append(limits.milliseconds(case, moves))
            number += 1
        kernels = attempt("weft", "kernels") if "weft" in servers else None
        peaks = {name: attempt(name, "peak") for name in sorted(servers)}
        progress.show("checking")
        row = summary(case, times, limit)
        row.update(
            first={n: v["ms"] for n, v in first.items()}, kernels=kernels,
            peak_megabytes={name: peak["megabytes"] for name, peak in peaks.items() if peak},
            kept_megabytes={name: peak["kept"] for name, peak in peaks.items() if peak},
            result_megabytes=first["weft"]["result"] / 1e6 if "weft" in first else None,
            wrong=check(case, servers, attempt), failed=failed,
        )  # fmt: skip
        return row
    finally:
        for server in servers.values():
            server.close()


def run_first(case, pythons, options, limits, progress):
    """First calls, each in a process of its own; weft compiles, or finds what an earlier process compiled."""
    again = case.kind == "again"
    times, failed = {name: [] for name in pythons}, {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range((options.rounds or 5) + again):
            progress.show(f"process {turn + 1}")
            for name, python in pythons.items():
                if name in failed:
                    continue
                server = contender(name, python, case, cache=folder if again else "")
                try:
                    elapsed = server.ready().ask("first")["ms"]
                    if turn > 0 or not again:
                        times[name].append(elapsed)
                except RuntimeError as error:
                    failed[name] = str(error)
                server.close()
    times = {name: values for name, values in times.items() if name not in failed}
    row = summary(case, times, [])
    row.update(first={n: statistics.median(v) for n, v in times.items()}, failed=failed)
    if "weft" in times and "numpy" in times:
        row["goal_met"] = row["medians"]["weft"] <= row["medians"]["numpy"] + (0.0 if again else 2.0)
    return row


def run_import(case, pythons, options, limits, progress):
    """Wall time of `import` in a fresh process, less that of a process that imports nothing."""
    times = {name: [] for name in pythons}
    for number in range(options.rounds or 11):
        progress.show(f"process {number + 1}")
        for name, python in pythons.items():
            nothing, something = (
                min(timed_process([python, "-c", code]) for _ in range(2))
                for code in ("pass", f"import {cases.CONTENDERS[name].module}")
            )
            times[name].append(something - nothing)
    return summary(case, times, [])


def timed_process(command):
    # Installed packages have bytecode.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run(command, check=True, env=environment)
    return (time.perf_counter() - start) * 1e3


RUNNERS = {"steady": run_steady, "first": run_first, "again": run_first, "import": run_import}


# ---- what comes of it ----


def check(case, servers, attempt):
    """{contender: what is wrong} of the last results, against NumPy's."""
    if "numpy" not in servers:
        return {}
    wrong = {}
    with tempfile.TemporaryDirectory() as folder:
        results = {}
        for number, name in enumerate(list(servers)):
            path = pathlib.Path(folder, f"{number}.npz")  # the name of a setting may have slashes
            if attempt(name, "save", path):
                with numpy.load(path) as parts:
                    results[name] = list(parts.values())
        for name, actual in results.items():
            for e, a in zip(results["numpy"], actual, strict=True):
                if is_peer(name) and a.dtype != e.dtype:
                    a = a.astype(e.dtype)  # JAX and PyTorch have promotions of their own
                message = difference(e, a, case.tolerance, case.stray)
                if message:
                    wrong[name] = message
    return wrong


def is_certain(times):
    """Whether more rounds would hardly move the median of the ratios to the best peer."""
    medians = {
        name: statistics.median(ms) for name, values in times.items() if (ms := [v for v in values if v])
    }
    peers = {name: ms for name, ms in medians.items() if is_peer(name)}
    if "weft" not in medians or not peers:
        return True
    to_best = ratios(times["weft"], times[min(peers, key=peers.get)])
    return error_of_median(to_best) < CERTAIN * statistics.median(to_best)


def summary(case, times, limit):
    """The row of a case: medians and spreads, ratios to the best peer, to NumPy and to the limit."""
    known = {name: [ms for ms in values if ms is not None] for name, values in times.items()}
    medians = {name: statistics.median(values) for name, values in known.items() if values}
    row = {"name": case.name, "row": case.row, "goal": case.goal, "note": case.note, "kind": case.kind,
           "device": case.device, "medians": medians, "spreads": {n: spread(known[n]) for n in medians},
           "times": times, "limit_ms": None, "wrong": {}, "failed": {}, "kernels": None,
           "peak_megabytes": {}, "kept_megabytes": {}, "result_megabytes": None}  # fmt: skip
    peers = {name: ms for name, ms in medians.items() if is_peer(name)}
    if "weft" in medians:
        row["settings"] = {
            name: statistics.median(ratios(times[name], times["weft"]))
            for name in medians
            if is_setting(name)
        }
    if "weft" not in medians or not peers:
        return row
    best = min(peers, key=peers.get)
    to_best = ratios(times["weft"], times[best])
    row.update(best=best, ratio=statistics.median(to_best), ratio_spread=spread(to_best))
    if "numpy" in peers:
        row["numpy_ratio"] = statistics.median(ratios(times["weft"], times["numpy"]))
    row["bar"] = NO_SLOWER
    near_limit = False
    if limit and limit[0] is not None:
        row.update(limit_ms=statistics.median(limit), limits=limit)
        row["part_of_limit"] = statistics.median(ratios(limit, times["weft"]))
        near_limit = row["part_of_limit"] >= 1 / WITHIN_LIMIT
        if peers[best] > 4 * row["limit_ms"]:
            row["bar"] = 0.5
    row["goal_met"] = None if math.isnan(case.goal) else row["ratio"] <= case.goal or near_limit
    row["bar_met"] = row["ratio"] <= row["bar"] or (row["bar"] == 0.5 and near_limit)
    return row


def installed(python, name):
    code = f"import {cases.CONTENDERS[name].module} as m; print(getattr(m, '__version__', ''))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="only cases whose name has this text")
    parser.add_argument("--row", type=int, help="only this row of the list of workloads")
    parser.add_argument("--peers", default="numpy,scipy,numexpr,numba,jax,torch")
    parser.add_argument(
        "--beside",
        default="",
        metavar="SETTINGS",
        help="weft again with each of these, such as WEFT_TIER=block",
    )
    parser.add_argument("--peers-python", default=sys.executable, help="the interpreter that has the peers")
    parser.add_argument(
        "--seconds",
        type=float,
        default=3.0,
        help="for the rounds of a case, up to five times as many where they vary",
    )
    parser.add_argument("--rounds", type=int, help="in place of --seconds")
    parser.add_argument(
        "--limits",
        type=pathlib.Path,
        default=HERE.parent / "build/release/bin",
        help="the folder of weft_triad and weft_multiply_adds",
    )
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"))
    parser.add_argument("--list", action="store_true", help="print the names of the cases, run none")
    parser.add_argument(
        "--compare",
        type=pathlib.Path,
        metavar="FILE",
        help="an earlier benchmarks.json: says what became slower",
    )
    options = parser.parse_args()
    old = json.loads(options.compare.read_text()) if options.compare else None
    chosen = [
        c for c in cases.CASES if options.only.lower() in c.name.lower() and options.row in (None, c.row)
    ]
    if options.list:
        print("\n".join(f"{c.row:>3} {c.name}" for c in chosen))
        return 0
    pythons, versions = {"weft": sys.executable}, {"weft": installed(sys.executable, "weft")}
    for name in filter(None, options.peers.split(",")):
        python = sys.executable if name == "numpy" else options.peers_python
        versions[name] = installed(python, name)
        if versions[name] is not None:
            pythons[name] = python
    pythons.update((setting, sys.executable) for setting in filter(None, options.beside.split(",")))
    if versions["weft"] is None:
        print("weft is not installed: make build", file=sys.stderr)
        return 1
    run = {
        "machine": machine(),
        "versions": versions,
        "started": time.strftime("%Y-%m-%d %H:%M"),
        "rows": [],
    }
    if old:
        try:
            compare.check_machines(old, run)
        except compare.NotComparable as error:
            print(error, file=sys.stderr)
            return 2
    report.print_head(run)
    progress = Progress(len(chosen))
    limits = Limits(options.limits)
    start = time.monotonic()
    try:
        for case in chosen:
            progress.next(case.name)
            contenders = {
                name: python
                for name, python in pythons.items()
                if ("weft" if is_setting(name) and case.kind == "steady" else name) in case.contenders
            }
            run["rows"].append(RUNNERS[case.kind](case, contenders, options, limits, progress))
            progress.clear()
            report.print_row(run["rows"][-1])
    finally:
        limits.close()
        run["minutes"] = (time.monotonic() - start) / 60
        run["gigabytes_per_second"] = statistics.median(limits.bandwidths) if limits.bandwidths else None
        report.print_tail(run)
        report.write(run, options.out)
    bad = any(row["wrong"].get("weft") or row["failed"].get("weft") for row in run["rows"])
    if old:
        lines, slower = compare.report(old, run)
        print("\n".join(lines))
        bad = bad or slower
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
