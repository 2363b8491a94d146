"""Runs the cases in this process, weft, NumPy and chosen peers in turns."""

import importlib
import statistics
import time

import numpy

import weft
from weft.bench import measure
from weft.bench.cases import CASES, CONTENDERS
from weft.bench.machine import machine

# What needs processes of its own (first use, import) is left to bench/run.py.
IN_ONE_PROCESS = [case for case in CASES if case.kind == "steady"]


def versions(names):
    """{name: version} of those that can be imported."""
    found = {}
    for name in names:
        try:
            found[name] = importlib.import_module(CONTENDERS[name].module).__version__
        except ImportError:
            pass
    return found


def device():
    """Where weft makes arrays: what WEFT_DEVICE names, or the CPU."""
    return str(weft.device(weft.config.device or "cpu"))


def new_run(names):
    """What is known before the first case: the form of a record, which `compare` reads and `--json` writes."""
    return {
        "machine": {**machine(), "device": device()},
        "versions": versions(names),
        "started": time.strftime("%Y-%m-%d %H:%M"),
        "rows": [],
    }


class Failure(Exception):
    """A contender cannot run a case; says why."""


def work(name, case, inputs):
    """A function of the number of calls, and one that gives the last result as NumPy's arrays."""
    contender, function = CONTENDERS[name], case.contenders[name]
    arrays = tuple(contender.convert(array) for array in inputs)
    on_gpu = name == "weft" and device() != "cpu"
    last = None

    def run(calls):
        nonlocal last
        for _ in range(calls):
            last = contender.finish(function(*arrays))
        if on_gpu:
            weft.synchronize()

    def result():
        parts = last if isinstance(last, tuple) else (last,)
        return [numpy.asarray(x.to_device("cpu") if on_gpu else x) for x in parts]

    run(1)
    contender.settle()
    return run, result


def run_case(case, names, seconds):
    """The row of a case; `seconds` are for its rounds."""
    row = {"name": case.name, "row": case.row, "note": case.note, "kind": case.kind, "times": {}, "medians": {},
           "spreads": {}, "wrong": {}, "failed": {}}  # fmt: skip
    inputs = case.inputs()
    works, results = {}, {}
    for name in names:
        if name not in case.contenders:
            continue
        try:
            works[name], results[name] = work(name, case, inputs)
        except Exception as error:  # whatever a library finds wrong belongs into its cell of the table
            row["failed"][name] = f"{type(error).__name__}: {error}"[:150]
    del inputs
    row["times"] = measure.in_turns(works, seconds, least=3)
    for name, values in row["times"].items():
        row["medians"][name], row["spreads"][name] = statistics.median(values), measure.spread(values)
    if "numpy" in works:
        expected = results["numpy"]()
        for name in works:
            for e, a in zip(expected, results[name](), strict=True):
                if name not in ("weft", "numpy") and a.dtype != e.dtype:
                    a = a.astype(e.dtype)  # JAX and PyTorch have promotions of their own
                message = measure.difference(e, a, case.tolerance, case.stray)
                if message:
                    row["wrong"][name] = message
        if "weft" in works:
            to_numpy = measure.ratios(row["times"]["weft"], row["times"]["numpy"])
            row.update(numpy_ratio=statistics.median(to_numpy), numpy_ratio_spread=measure.spread(to_numpy))
    return row
