"""The same random programs every way that has the same bits: tiers, numbers of threads, optimisation switches left out.

    python tests/fuzz/variants.py [--programs N] [--seed N] [--only TEXT]

Each variant runs the programs beside NumPy, as run.py does, and its results have the bits that compiled programs on two
threads give. A program that differs is named with what to run to see it. Exit status: 0 when all agree, 1 when not.
"""

import argparse
import importlib
import os
import random
import re
import sys
import time

import run

ALIKE = {"WEFT_REWRITE": "0"}  # rewrites round otherwise: they have tests of their own


def optimisation_switches(module):
    """The names that the engine knows, which it lists when it is asked for another."""
    try:
        module.config(without="?").__enter__()
    except ValueError as refused:
        return re.search("without (.*), but", str(refused))[1].split(", ")
    raise AssertionError("an unknown switch was not refused")


def variants(steps):
    """Name, mode and environment of each; the first is what the others are compared with."""
    yield "compiled", "compiled", {"WEFT_NUM_THREADS": "2"}
    for mode in ("blocks", "both", "naive", "eager"):
        yield mode, mode, {}
    for threads in ("1", "7"):
        yield f"{threads} threads", "compiled", {"WEFT_NUM_THREADS": threads}
        yield f"blocks, {threads} threads", "blocks", {"WEFT_NUM_THREADS": threads}
    for cpu in ("haswell", "x86-64-v2"):
        yield f"for {cpu}", "compiled", {"WEFT_CPU": cpu}
    for step in steps:
        yield f"without {step}", "compiled", {"WEFT_WITHOUT": step}
    yield "without any step", "compiled", {"WEFT_WITHOUT": ",".join(steps)}


class VariantRun(run.Run):
    """All programs of one variant."""

    def __init__(self, options, mode, settings):
        super().__init__(options, mode, options.programs, lambda _: None)
        self.settings = settings

    def environment(self):
        return {**super().environment(), **ALIKE, **self.settings}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, help="default: a fresh one, which is printed")
    parser.add_argument("--only", default="", help="variants whose names contain it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--module", default="weft")
    parser.add_argument("--timeout", type=float, default=120)
    options = parser.parse_args()
    options.stop_after, options.guard, options.bits = 20, True, True
    module = importlib.import_module(options.module)
    options.missing_names = run.missing_names(module)
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1_000_000)
    print(f"seed {options.seed}, {options.programs} programs a variant", flush=True)
    reference, failed = None, False
    for name, mode, settings in variants(optimisation_switches(module)):
        if reference is not None and options.only not in name:
            continue
        started = time.monotonic()
        found = VariantRun(options, mode, settings).go()
        reference = reference or found.bits
        other = sorted(k for k in reference if k in found.bits and reference[k] != found.bits[k])
        failed |= bool(other or found.failures)
        print(
            f"{name}: {len(found.bits)} agree with NumPy, {len(found.failures)} fail, {len(other)} have other bits;"
            f" {time.monotonic() - started:.0f} s",
            flush=True,
        )
        words = " ".join(f"{key}={value}" for key, value in {**ALIKE, **settings}.items())
        for number in [*found.failures, *other][:5]:
            print(f"  {words} python tests/fuzz/run.py --mode {mode} --seed {options.seed} --only {number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
