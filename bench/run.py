"""Times weft beside NumPy and the peers that are installed, on the workloads that weft runs.

    python bench/run.py [--only TEXT] [--row N] [--peers numpy,numba] [--rounds N] [--json FILE]

Every contender of a case runs in a fresh process of its own and is asked in turns, so that what else the machine does
falls on all alike: a first call, a warm-up, then rounds of a few calls each. The table gives the median over the rounds
and, behind ±, half the distance between their quartiles; the ratio is the median of the rounds' ratios to the best
peer. Results are checked against NumPy's. Exit status: 1 when one is wrong or a contender fails.
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

import cases
import numpy

SECONDS_A_CASE = 8.0
SECONDS_A_TURN = 0.03


def serve(contender_name, case_name):
    """The process of one contender: answers the commands on its standard input with lines of JSON."""
    (case,) = (c for c in cases.CASES if c.name == case_name)
    contender = cases.CONTENDERS[contender_name]
    function = case.contenders[contender_name]
    module = __import__(contender.module)
    arrays = tuple(contender.convert(array) for array in case.inputs())
    result = None
    calls = 1
    answer({"ready": True})
    for line in sys.stdin:
        command, *words = line.split()
        if command == "calls":
            calls = int(words[0])
            answer({"calls": calls})
        elif command == "run":
            start = time.perf_counter()
            for _ in range(calls):
                result = contender.finish(function(*arrays))
            answer({"ms": (time.perf_counter() - start) * 1e3 / calls})
        elif command == "kernels":
            module.clear_kernel_history()
            result = contender.finish(function(*arrays))
            answer({"kernels": len(module.kernel_history())})
        elif command == "save":
            numpy.save(words[0], numpy.asarray(result))
            answer({"saved": True})


def answer(message):
    print(json.dumps(message), flush=True)


class Server:
    """A contender's process, seen from here; without a kernel cache but for a folder that is given."""

    def __init__(self, python, contender, case, cache=""):
        self.name = contender
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [python, __file__, "--serve", contender, case.name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
            env={**os.environ, "WEFT_CACHE_DIR": cache},
        )  # fmt: skip
        self.times = []

    def receive(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        self.errors.seek(0)
        last = self.errors.read().strip().splitlines()[-1:] or [f"exit status {self.process.wait()}"]
        raise RuntimeError(last[0][:150])

    def ask(self, *words):
        try:
            print(*words, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass
        return self.receive()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()


def spread(times):
    if len(times) < 4:
        return (max(times) - min(times)) / 2
    low, _, high = statistics.quantiles(times, n=4)
    return (high - low) / 2


def run_steady(case, pythons, rounds):
    servers, failed = {}, {}

    def attempt(name, action):
        try:
            return action()
        except RuntimeError as error:
            failed[name] = str(error)
            servers.pop(name).close()
            return None

    row = {}
    try:
        for name, python in pythons.items():
            servers[name] = Server(python, name, case)
        for name in list(servers):
            attempt(name, servers[name].receive)
        first, kernels = {}, 0
        for name in list(servers):
            got = attempt(name, lambda name=name: servers[name].ask("run"))
            if got:
                first[name] = got["ms"]
        longest = 0.0
        for name in list(servers):  # warm-up, which also tells how many calls make a turn
            got = attempt(name, lambda name=name: [servers[name].ask("run") for _ in range(2)][1])
            if got:
                calls = max(1, min(1000, int(SECONDS_A_TURN * 1e3 / max(got["ms"], 1e-4))))
                servers[name].ask("calls", calls)
                longest += got["ms"] * calls / 1e3
        rounds = rounds or max(5, min(21, int(SECONDS_A_CASE / max(longest, 1e-3))))
        for number in range(rounds):
            names = sorted(servers)
            for name in names[number % len(names) :] + names[: number % len(names)]:
                servers[name].times.append(servers[name].ask("run")["ms"])
        if "weft" in servers:
            kernels = servers["weft"].ask("kernels")["kernels"]
        wrong = check(case, servers)
        row = summary(case, {n: s.times for n, s in servers.items()}, first)
        row.update(kernels=kernels, wrong=wrong)
    finally:
        for server in servers.values():
            server.close()
    row["failed"] = failed
    return row


def check(case, servers):
    """{contender: what is wrong} of the last results, against NumPy's."""
    if "numpy" not in servers:
        return {}
    wrong = {}
    with tempfile.TemporaryDirectory() as folder:
        results = {}
        for name, server in servers.items():
            path = pathlib.Path(folder, f"{name}.npy")
            server.ask("save", path)
            results[name] = numpy.load(path)
        expected = results.pop("numpy")
        for name, actual in results.items():
            if name != "weft" and actual.dtype != expected.dtype and expected.dtype.kind == actual.dtype.kind:
                actual = actual.astype(expected.dtype)
            message = difference(expected, actual, case.tolerance)
            if message:
                wrong[name] = message
    return wrong


def difference(expected, actual, tolerance):
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return f"{actual.dtype} {actual.shape}, not {expected.dtype} {expected.shape}"
    if numpy.array_equal(expected, actual):
        return None
    e, a = expected.astype("f8"), actual.astype("f8")
    scale = numpy.maximum(numpy.abs(e), 1e-3 * numpy.abs(e).max())
    largest = float((numpy.abs(a - e) / numpy.where(scale == 0, 1, scale)).max())
    return None if largest <= tolerance else f"differs by {largest:.1e} (allowed: {tolerance:.0e})"


def summary(case, times, first):
    medians = {name: statistics.median(values) for name, values in times.items()}
    row = {"name": case.name, "row": case.row, "goal": case.goal, "note": case.note, "kind": case.kind}
    row.update(medians=medians, spreads={n: spread(v) for n, v in times.items()}, first=first, times=times)
    peers = {name: ms for name, ms in medians.items() if name != "weft"}
    if peers and "weft" in times:
        best = min(peers, key=peers.get)
        ratios = [w / p for w, p in zip(times["weft"], times[best], strict=True)]
        row.update(best=best, ratio=statistics.median(ratios), ratio_spread=spread(ratios))
    return row


def run_first(case, pythons, rounds):
    """First calls, each in a process of its own; weft compiles, or finds what an earlier process compiled."""
    again = case.kind == "again"
    times = {name: [] for name in pythons}
    failed = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range((rounds or 5) + again):
            for name, python in pythons.items():
                if name in failed:
                    continue
                server = Server(python, name, case, cache=folder if again else "")
                try:
                    server.receive()
                    elapsed = server.ask("run")["ms"]
                    if turn > 0 or not again:
                        times[name].append(elapsed)
                except RuntimeError as error:
                    failed[name] = str(error)
                server.close()
    times = {name: values for name, values in times.items() if name not in failed}
    row = summary(case, times, {n: v[0] for n, v in times.items()})
    row.update(failed=failed, wrong={}, kernels=None)
    if "weft" in times and "numpy" in times:
        row["met"] = row["medians"]["weft"] <= row["medians"]["numpy"] + (0.0 if again else 2.0)
    return row


def run_import(case, pythons, rounds):
    """Wall time of `import` in a fresh process, less that of a process that imports nothing."""
    times = {name: [] for name in pythons}
    for _ in range(rounds or 11):
        for name, python in pythons.items():
            nothing, something = (
                min(timed_process([python, "-c", code]) for _ in range(2))
                for code in ("pass", f"import {cases.CONTENDERS[name].module}")
            )
            times[name].append(something - nothing)
    row = summary(case, times, {})
    row.update(failed={}, wrong={}, kernels=None)
    return row


def timed_process(command):
    start = time.perf_counter()
    subprocess.run(command, check=True)
    return (time.perf_counter() - start) * 1e3


def met(row):
    if "met" in row:
        return row["met"]
    return "ratio" in row and row["ratio"] <= row["goal"]


def print_row(row):
    if "weft" not in row.get("medians", {}):
        print(
            f"       {row.get('row', ''):>3} {row.get('name', ''):46} weft: {row['failed'].get('weft', 'absent')}"
        )
        return
    m, s = row["medians"], row["spreads"]
    peers = sorted((ms, name) for name, ms in m.items() if name != "weft")
    goal = "" if math.isnan(row["goal"]) else f"{row['goal']:.2f}"
    print(
        f"{'met' if met(row) else 'short':6} {row['row']:>3} {row['name']:46} "
        f"{m['weft']:10.3f} ±{s['weft']:7.3f} {row['first'].get('weft', math.nan):9.2f} "
        f"{'' if row['kernels'] is None else row['kernels']:>7} "
        f"{row.get('ratio', math.nan):6.2f} ±{row.get('ratio_spread', math.nan):5.2f} {goal:>5}   "
        + "  ".join(f"{name} {ms:.2f} ±{s[name]:.2f}" for ms, name in peers)
        + (f"   ({row['note']})" if row["note"] else "")
    )
    for name, message in {**row["wrong"], **row["failed"]}.items():
        print(f"       {name}: {message}")
    sys.stdout.flush()


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
    parser.add_argument("--peers", default="numpy,numexpr,numba,jax,torch")
    parser.add_argument("--peers-python", default=sys.executable, help="the interpreter that has the peers")
    parser.add_argument("--rounds", type=int, help="default: as many as fit some seconds")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(*options.serve)
        return 0
    pythons = {"weft": sys.executable}
    versions = {"weft": installed(sys.executable, "weft")}
    for name in filter(None, options.peers.split(",")):
        python = sys.executable if name == "numpy" else options.peers_python
        versions[name] = installed(python, name)
        if versions[name] is not None:
            pythons[name] = python
    if versions["weft"] is None:
        print("weft is not installed: make build", file=sys.stderr)
        return 1
    absent = [name for name, version in versions.items() if version is None]
    cores = len(os.sched_getaffinity(0))
    print(f"{cores} cores; " + ", ".join(f"{n} {v}" for n, v in versions.items() if v is not None)
          + (f"; not installed: {', '.join(absent)} (make bench-peers)" if absent else ""))  # fmt: skip
    print(f"{'goal':6} {'row':>3} {'case':46} {'weft ms':>10} {'':8} {'first':>9} {'kernels':>7} "
          f"{'ratio':>6} {'':6} {'goal':>5}   peers, ms")  # fmt: skip
    runners = {"steady": run_steady, "first": run_first, "again": run_first, "import": run_import}
    rows = []
    for case in cases.CASES:
        if options.only not in case.name or (options.row and options.row != case.row):
            continue
        chosen = {name: python for name, python in pythons.items() if name in case.contenders}
        rows.append(runners[case.kind](case, chosen, options.rounds))
        print_row(rows[-1])
    if options.json:
        options.json.write_text(json.dumps({"cores": cores, "versions": versions, "rows": rows}, indent=1))
    short = [row for row in rows if not met(row)]
    print(f"{len(rows) - len(short)} of {len(rows)} rows meet their goals")
    return 1 if any(row["wrong"].get("weft") or row["failed"].get("weft") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
