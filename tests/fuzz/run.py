"""Random programs on NumPy and on weft: thousands of them, compared in everything a user can see.

    python tests/fuzz/run.py                                     100,000 programs, a fresh seed, 5,000 of them compiled
    python tests/fuzz/run.py --programs 2000 --mode compiled     one mode
    python tests/fuzz/run.py --mode compiled --seed 7 --only 123 one program of a run again, with its script

Modes: `small` (small arrays eagerly, large ones compiled), `compiled` (everything compiled), `blocks` (nothing compiled
that the vectorised interpreter can run), `both` (interpreted until it is compiled), `naive` (compiled, one kernel a
node), `eager` (each operation at its call). Buffers lie between guard pages (WEFT_GUARD=1) unless --no-guard.
Programs are made by the run's seed and their number alone, so one that ends the process is known, too. A failing
program is printed as a short script. Exit status: 0 when all agree, 1 when not.
"""

import argparse
import collections
import importlib
import json
import multiprocessing
import os
import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))

MODES = {
    "small": {},
    "compiled": {"WEFT_SMALL": "0", "WEFT_TIER": "jit"},
    "blocks": {"WEFT_SMALL": "0", "WEFT_TIER": "block"},
    "both": {"WEFT_SMALL": "0", "WEFT_TIER": "auto"},
    "naive": {"WEFT_SMALL": "0", "WEFT_TIER": "jit", "WEFT_FUSE": "0"},
    "eager": {"WEFT_SMALL": "0", "WEFT_TIER": "jit", "WEFT_EAGER": "1"},
}
COMPILED_MODES = ("compiled", "blocks", "both", "naive", "eager")
BATCH = {"small": 1000}  # programs a process runs; 100 where they are compiled


def profile_of(mode, missing=()):
    import dataclasses

    import choices

    profile = choices.COMPILED if mode in COMPILED_MODES else choices.Profile()
    return dataclasses.replace(profile, missing=frozenset(missing))


def missing_names(module):
    """Functions that programs would use and the module does not have yet."""
    import arranged
    import choices

    names = {
        *choices.UNARY_EXACT, *choices.BINARY_EXACT, *choices.UNARY_INEXACT, *choices.BINARY_INEXACT,
        *choices.REDUCTIONS, "modf", "frexp", "clip", "copy", "real", "imag", "expand_dims", "copyto",
        "take", "take_along_axis", *arranged.FUNCTIONS,
    }  # fmt: skip
    return sorted(name for name in names if not hasattr(module, name))


def program_seed(seed, number):
    return seed * 1_000_003 + number


def work(options):
    """The process that runs programs: tells by lines of JSON what it begins and what it finds."""
    import execute
    import generate

    execute.quiet()
    module = importlib.import_module(options.module)
    subject = execute.Subject(module)
    missing = options.missing.split(",") if options.missing else []
    profile = profile_of(options.mode, missing)
    unsupported = collections.Counter()
    for number in range(options.first, options.first + options.programs):
        print(json.dumps({"at": number}), flush=True)
        steps = generate.generate(program_seed(options.seed, number), profile)
        try:
            bits = [] if options.bits else None
            failure = execute.run_program(steps, subject, bits)
        except execute.Unsupported as why:
            unsupported[str(why)] += 1
            continue
        if bits:
            print(json.dumps({"of": number, "bits": bits[0]}), flush=True)
        if failure:
            text = json.dumps({"failed": number, "kind": failure.kind, "message": failure.message})
            print(text, flush=True)
            steps, failure = execute.minimise(steps, failure, subject)
            text = execute.script(steps, failure, options.module, MODES[options.mode])
            print(json.dumps({"failed": number, "kind": failure.kind, "script": text}), flush=True)
    print(json.dumps({"done": True, "unsupported": unsupported}), flush=True)


class Run:
    """All programs of one mode, in worker processes that are replaced when they die."""

    def __init__(self, options, mode, programs, progress):
        self.options = options
        self.mode = mode
        batch = BATCH.get(mode, 100)
        self.todo = [(first, min(batch, programs - first)) for first in range(0, programs, batch)]
        self.progress = progress
        self.failures = {}
        self.unsupported = collections.Counter()
        self.bits = {}  # a digest of each program's results
        self.finished = 0

    def command(self, first, count):
        o = self.options
        return [
            sys.executable, __file__, "--work", "--mode", self.mode, "--seed", str(o.seed), "--first", str(first),
            "--programs", str(count), "--module", o.module, "--missing", ",".join(o.missing_names),
            *(["--bits"] if o.bits else []),
        ]  # fmt: skip

    def environment(self):
        environment = dict(os.environ, **MODES[self.mode])
        if self.options.guard:
            environment["WEFT_GUARD"] = "1"
        return environment

    def go(self):
        import selectors

        selector = selectors.DefaultSelector()
        active = {}
        while self.todo or active:
            while (
                self.todo and len(active) < self.options.jobs and len(self.failures) < self.options.stop_after
            ):
                first, count = self.todo.pop(0)
                process = subprocess.Popen(
                    self.command(first, count), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    env=self.environment(),
                )  # fmt: skip
                os.set_blocking(process.stdout.fileno(), False)
                active[process] = {"at": first, "end": first + count, "seen": time.monotonic(), "text": b""}
                selector.register(process.stdout, selectors.EVENT_READ, process)
            if not active:
                break
            for key, _ in selector.select(timeout=1):
                self.read(key.data, active[key.data])
            for process, state in list(active.items()):
                hung = time.monotonic() - state["seen"] > self.options.timeout
                if hung:
                    process.kill()
                if process.poll() is not None or hung:
                    process.wait()
                    self.read(process, state)
                    selector.unregister(process.stdout)
                    del active[process]
                    if not state.get("done"):
                        self.died(process, state, hung)
                    process.stdout.close()
                    process.stderr.close()
        return self

    def read(self, process, state):
        chunk = process.stdout.read()
        if not chunk:
            return
        state["seen"] = time.monotonic()
        *lines, state["text"] = (state["text"] + chunk).split(b"\n")
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "at" in message:
                state["at"] = message["at"]
                self.finished += 1
                self.progress(self)
            elif "bits" in message:
                self.bits[message["of"]] = message["bits"]
            elif "failed" in message:
                self.failures.setdefault(message["failed"], {}).update(message)
            elif "done" in message:
                state["done"] = True
                self.unsupported.update(message["unsupported"])

    def died(self, process, state, hung):
        """A process that ended by itself: the program at which it was is the failure; the others go on."""
        import execute
        import generate

        number = state["at"]
        how = "runs for too long" if hung else f"ended the process (exit status {process.returncode})"
        trace = process.stderr.read().decode(errors="replace").strip()[-2000:]

        def write(end):
            steps = generate.generate(
                program_seed(self.options.seed, number), profile_of(self.mode, self.options.missing_names)
            )
            failure = execute.Failure("crash", len(steps) - 1, how)
            end.send(execute.script(steps, failure, self.options.module, MODES[self.mode]))

        # Making a program runs it on NumPy, which may be what ended the process: then weft is not to blame.
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe(duplex=False)
        maker = context.Process(target=write, args=(theirs,))
        maker.start()
        theirs.close()
        try:
            text = ours.recv()
        except EOFError:
            text = None
        maker.join()
        if number + 1 < state["end"]:
            self.todo.insert(0, (number + 1, state["end"] - number - 1))
        if text is None:
            print(f"program {number} is left out: NumPy itself fails on it\n{trace}", file=sys.stderr)
            return
        self.failures[number] = {"kind": "crash", "message": f"{how}\n{trace}", "script": text}


def show_again(options):
    """One program again: its steps, then what is found."""
    import execute
    import generate

    settings = {**MODES[options.mode], **({"WEFT_GUARD": "1"} if options.guard else {})}
    if any(os.environ.get(key) != value for key, value in settings.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **settings})
    execute.quiet()
    profile = profile_of(options.mode, options.missing_names)
    steps = generate.generate(program_seed(options.seed, options.only), profile)
    print("\n".join(step.source + ("    # checked" if step.check else "") for step in steps), flush=True)
    subject = execute.Subject(importlib.import_module(options.module))
    failure = execute.run_program(steps, subject)
    if failure:
        steps, failure = execute.minimise(steps, failure, subject)
        print(execute.script(steps, failure, options.module, MODES[options.mode]))
    return 1 if failure else 0


def progress_line(total):
    started = time.monotonic()
    state = {"shown": 0.0}

    def show(run, end=""):
        now = time.monotonic()
        if now - state["shown"] < (0.5 if sys.stderr.isatty() else 30) and not end:
            return
        state["shown"] = now
        rate = run.finished / max(now - started, 1e-3)
        text = f"{run.mode}: {run.finished:,} of {total:,} programs, {rate:,.0f} a second, {len(run.failures)} fail"
        print(("\r" if sys.stderr.isatty() else "") + text, end=end or ("" if sys.stderr.isatty() else "\n"),
              file=sys.stderr, flush=True)  # fmt: skip

    return show


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", "--count", type=int, help="default: 95,000 small and 5,000 compiled")
    parser.add_argument("--seed", type=int, help="default: a fresh one, which is printed")
    parser.add_argument("--mode", choices=MODES, help="default: small, then compiled, then blocks")
    parser.add_argument("--only", type=int, help="the number of one program")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--module", default="weft")
    parser.add_argument("--timeout", type=float, default=120, help="seconds one program may take")
    parser.add_argument(
        "--stop-after", type=int, default=20, help="begin no more programs after so many failures"
    )
    parser.add_argument("--show", type=int, default=5, help="how many failing programs to print")
    parser.add_argument("--json", type=pathlib.Path, help="write the failures to this file")
    parser.add_argument("--no-guard", dest="guard", action="store_false")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--bits", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--missing", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options)
        return 0
    options.missing_names = missing_names(importlib.import_module(options.module))
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1_000_000)
    if options.only is not None:
        options.mode = options.mode or "small"
        return show_again(options)
    plan = [(options.mode, options.programs or 100_000)]
    if options.mode is None:
        plan = [
            ("small", options.programs or 95_000),
            ("compiled", max((options.programs or 100_000) // 20, 1)),
            ("blocks", max((options.programs or 100_000) // 20, 1)),
        ]
    print(f"seed {options.seed}", flush=True)
    if options.missing_names:
        print("not there yet, left out:", ", ".join(options.missing_names))
    failed = False
    found = {}
    for mode, programs in plan:
        show = progress_line(programs)
        run = Run(options, mode, programs, show).go()
        show(run, end="\n")
        skipped = sum(run.unsupported.values())
        print(f"{mode}: {run.finished - skipped - len(run.failures):,} programs agree, {len(run.failures)} fail,"
              f" {skipped} use what is not there yet")  # fmt: skip
        for reason, count in run.unsupported.most_common(10):
            print(f"  {count} × {reason}")
        for number, failure in sorted(run.failures.items())[: options.show]:
            again = f"--mode {mode} --seed {options.seed} --only {number}"
            print(
                f"\n--- program {number} ({again}): {failure.get('message', '')}\n{failure.get('script', '')}"
            )
        found[mode] = run.failures
        kinds = collections.Counter(f["kind"] for f in run.failures.values())
        if kinds:
            print("failures by kind:", dict(kinds))
            failed = True
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
