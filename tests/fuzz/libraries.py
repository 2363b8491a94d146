"""Random calls of linalg and fft, NumPy's and SciPy's, on both and on weft: they agree in kind.

    python tests/fuzz/libraries.py                          100,000 calls, a fresh seed
    python tests/fuzz/libraries.py --calls 1000000 --seed 3
    python tests/fuzz/libraries.py --seed 3 --only 123      one call of a run again, as a script

Of the same kind are two results of the same types, shapes and dtypes, or exceptions of the same types. Where the input
is well conditioned and there is one right result, values are compared, too. Calls are made of the seed and their number
alone (matrix_calls.py); child processes run them, and what ends one is known. A call that weft answers by
NotImplementedError is counted. Exit status: 0 when all agree, 1 when not.
"""

import argparse
import collections
import contextlib
import dataclasses
import importlib
import json
import os
import pathlib
import random
import subprocess
import sys
import warnings

FOLDER = pathlib.Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "probe")]
import where_scipy_differs  # noqa: E402

SPACES = ("linalg", "fft", "scipy.linalg", "scipy.fft")
BATCH = 5_000  # calls that a process runs
ENVIRONMENT = {"WEFT_TIER": "block", "WEFT_CACHE": "0", "WEFT_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}
ERRORS = """TypeError ValueError IndexError LinAlgError OverflowError ZeroDivisionError AttributeError KeyError
    NotImplementedError MemoryError RuntimeError""".split()
# Of linalg: those with one right result. All of fft have.
UNIQUE = set(
    """inv det solve norm vector_norm matrix_norm eigvalsh svdvals cholesky pinv slogdet matrix_power multi_dot cross
    outer tensordot vecdot trace diagonal matrix_transpose toeplitz circulant block_diag expm cho_solve lu_solve
    solve_banded solve_toeplitz cond tensorsolve tensorinv matmul matrix_rank""".split()
)
# Whatever the values are: eigenvalues may be multiple ones.
NEVER_TAME = {"eig", "eigvals"}
# What NumPy before 2.5 and SciPy compute in loops that some infinities keep from ending.
MAY_NEVER_END = set(
    """svd svdvals pinv matrix_rank cond lstsq orth null_space polar logm sqrtm expm schur""".split()
)


class Subject:
    """Runs a call's text on NumPy and SciPy, and on weft."""

    def __init__(self):
        import matrix_calls
        import numpy
        import weft

        self.numpy, self.weft = numpy, weft
        for space, module in matrix_calls.SPACES.items():
            importlib.import_module(module)
            importlib.import_module(f"weft.{space}")
        self.names = {
            "numpy": numpy,
            "scipy": sys.modules["scipy"],
            "weft": weft,
            "given": matrix_calls.given,
        }
        self.calls = matrix_calls

    def ours(self, value):
        """Arguments as weft gets them: its own arrays in place of NumPy's."""
        if isinstance(value, self.numpy.ndarray):
            x = self.weft.asarray(value)
            if not value.flags.writeable:
                x.flags.writeable = False
            return x
        if type(value) in (tuple, list):
            return type(value)(self.ours(each) for each in value)
        return value

    def outcome(self, call, of_weft):
        """The result, or the exception."""
        owner = self.weft if of_weft else self.numpy
        for part in call.space.split("."):
            owner = sys.modules["scipy"] if part == "scipy" and not of_weft else getattr(owner, part)
        convert = self.ours if of_weft else lambda value: value
        try:
            arguments = [convert(eval(text, self.names)) for text in call.arguments]
            keywords = {key: convert(eval(text, self.names)) for key, text in call.keywords.items()}
        except Exception:
            return None  # an argument could not be made
        if not of_weft and self.may_never_end(call) and any(map(self.is_infinite, arguments)):
            return None
        try:
            result = getattr(owner, call.name)(*arguments, **keywords)
            if of_weft:
                self.plain(result)  # what is recorded is computed
            return result
        except Exception as error:
            return error

    def may_never_end(self, call):
        given = {*call.arguments, *call.keywords.values()}
        return call.name in MAY_NEVER_END or ("norm" in call.name and bool(given & {"2", "-2", "'nuc'"}))

    def is_infinite(self, value):
        inexact = isinstance(value, self.numpy.ndarray) and value.dtype.kind in "fc"
        return (inexact and self.numpy.isinf(value).any()) or (
            isinstance(value, list) and any(map(self.is_infinite, map(self.numpy.asarray, value)))
        )

    def plain(self, value):
        if isinstance(value, (self.weft.ndarray, self.weft.generic)):
            return self.numpy.asarray(value)
        return [self.plain(each) for each in value] if isinstance(value, (tuple, list)) else value

    def kind(self, value):
        """What has to be the same, as text."""
        if isinstance(value, Exception):
            return "raises " + " ".join(name for name in ERRORS if name in mro_names(value))
        if isinstance(value, (self.numpy.ndarray, self.weft.ndarray)):
            return f"array {value.shape} {value.dtype}"
        if isinstance(value, (self.numpy.generic, self.weft.generic)):
            return f"scalar {value.dtype}"
        if isinstance(value, (tuple, list)):
            return f"({', '.join(self.kind(each) for each in value)})"  # SciPy's batches give lists
        return type(value).__name__

    def compare(self, call, crashes=False):
        """None where both agree, else what differs; what weft has not yet is said by its exception."""
        theirs, ours = self.outcome(call, False), self.outcome(call, True)
        if isinstance(ours, (SystemError, self.weft.exceptions.InternalError)):
            return f"weft is at fault{of_error(ours)}"
        if ours is None or theirs is None:
            return None
        if isinstance(ours, NotImplementedError) and not isinstance(theirs, NotImplementedError):
            raise ours
        expected, found = self.kind(theirs), self.kind(ours)
        if call.has_junk or crashes:
            return None
        if expected != found:
            if isinstance(ours, TypeError) and str(ours).startswith("weft has no arrays of"):
                return None  # NumPy has arrays of objects
            if expected.startswith("raises ") and set(expected.split()) & set(found.split()) - {"raises"}:
                return None  # by an exception of the same type, or of one derived from it
            if isinstance(theirs, ValueError) and "zero-size batches" in str(theirs):
                return None  # which weft has
            if isinstance(theirs, ValueError) and "not writeable" in str(theirs):
                return None  # weft overwrites nothing
            if where_scipy_differs.reason(call, theirs, expected, found):
                return None
            if self.names_another_fault(call, theirs, ours):
                return None
            may_be_rounding = not call.tame or call.name in NEVER_TAME
            if may_be_rounding and self.depends_on_values(call, theirs, ours):
                return None
            return f"{found}, but NumPy {expected}{of_error(ours)}{of_error(theirs)}"
        text = call.source("")
        if "orthogonalize" in call.keywords and "complex" in expected:
            return None  # SciPy forgets it
        if "(0," in text or " 0," in text or " 0)" in text:
            return None  # of arrays without elements NumPy transforms what lies there
        if where_scipy_differs.reason(call, theirs, expected, found, where_scipy_differs.VALUES):
            return None
        if call.tame and not isinstance(theirs, Exception) and ("fft" in call.space or call.name in UNIQUE):
            single = "efF?bBhH" if call.space == "scipy.linalg" else "efF"
            return self.compare_values(theirs, ours, any(f"'{each}'" in text for each in single))
        return None

    def names_another_fault(self, call, theirs, ours):
        """Whether a call has two faults, and weft names the other one: NumPy does, too, without one of the keywords."""
        if not (isinstance(theirs, Exception) and isinstance(ours, Exception)):
            return False
        shorter = [
            dataclasses.replace(call, keywords={k: v for k, v in call.keywords.items() if k != key})
            for key in call.keywords
        ]
        for count in range(1, len(call.arguments)):
            shorter.append(dataclasses.replace(call, arguments=call.arguments[:count]))
        for each in shorter:
            again = self.outcome(each, False)
            if isinstance(again, Exception) and set(self.kind(again).split()) & set(
                self.kind(ours).split()
            ) - {"raises"}:
                return True
        return False

    def depends_on_values(self, call, theirs, ours):
        """Whether rounding may have decided: about a singular matrix, or whether eigenvalues are real."""
        errors = [each for each in (theirs, ours) if isinstance(each, Exception)]
        if errors:
            # SciPy's inverse of a singular matrix, and the shapes of bases.
            ranks_decide = call.name in ("logm", "null_space", "orth")
            names = {"LinAlgError", "ValueError"} if ranks_decide else {"LinAlgError"}
            return all(mro_names(each) & names for each in errors)
        return call.name in ("eig", "eigvals", "sqrtm", "logm", "null_space", "orth", "lstsq", "matrix_rank")

    def compare_values(self, theirs, ours, is_single):
        if isinstance(theirs, (tuple, list)):
            for one, other in zip(theirs, ours):
                message = self.compare_values(one, other, is_single)
                if message:
                    return message
            return None
        numpy = self.numpy
        expected, found = numpy.asarray(theirs), numpy.asarray(ours)
        if expected.dtype.kind not in "fc":
            return None if numpy.array_equal(expected, found) else f"{found}, but NumPy {expected}"
        bound = 1e-3 if is_single or expected.dtype.itemsize < 8 else 1e-9
        bound = 0.1 if expected.dtype == numpy.float16 else bound
        finite = numpy.isfinite(expected)
        if not numpy.array_equal(finite, numpy.isfinite(found)):
            return f"{found}, but NumPy {expected}"
        scale = 1 + abs(expected[finite]).max(initial=0)
        if (abs(expected[finite] - found[finite]) > bound * scale).any():
            return f"{found}, but NumPy {expected}"
        return None


def mro_names(error):
    return {base.__name__ for base in type(error).__mro__}


def of_error(value):
    return f"\n  {type(value).__name__}: {value}" if isinstance(value, Exception) else ""


def script(call):
    lines = ["import sys", f"sys.path.insert(0, {str(FOLDER)!r})", "import numpy, scipy.fft, scipy.linalg"]
    lines += ["import weft, weft.scipy.fft, weft.scipy.linalg", "from matrix_calls import given"]
    theirs = call.source("" if call.space.startswith("scipy") else "numpy.")
    return "\n".join([*lines, f"print({theirs})", f"print({call.source('weft.')})"])


def resident_bytes():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def work(options):
    """The process that runs calls: tells by lines of JSON what it begins and what it finds."""
    import faulthandler

    faulthandler.enable()
    out, sys.stdout = sys.stdout, sys.stderr

    def tell(**message):
        print(json.dumps(message), file=out, flush=True)

    subject = Subject()
    missing = collections.Counter()
    warm, memory = options.first + options.calls // 5, 0
    for number in range(options.first, options.first + options.calls):
        tell(at=number)
        memory = resident_bytes() if number == warm else memory
        call = subject.calls.make(options.seed, number, options.spaces)
        try:
            if options.reference:
                subject.outcome(call, False)
                continue
            message = subject.compare(call, options.crashes)
        except NotImplementedError as why:
            missing[f"{call.space}.{call.name}: {why}"] += 1
            continue
        except KeyboardInterrupt:
            message = "did not end"
        if message:
            tell(failed=number, message=f"{call.source('')}\n  {message}")
    tell(done=True, missing=missing, grown=resident_bytes() - memory)


def command(options, seed, first, count, *more):
    line = [sys.executable, __file__, "--work", "--seed", str(seed), "--first", str(first)]
    line += ["--spaces", *options.spaces, *(["--crashes"] if options.crashes else [])]
    return [*line, "--calls", str(count), *more], dict(os.environ, **ENVIRONMENT)


def main():
    import supervise

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, help="default: a fresh one, which is printed")
    parser.add_argument("--only", type=int, help="the number of one call")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--batch", type=int, default=BATCH, help="calls of a process; many show leaks")
    parser.add_argument("--first", type=int, default=0, help="the number of the first call")
    parser.add_argument("--stop-after", type=int, default=50, help="begin no more after so many failures")
    parser.add_argument(
        "--crashes", action="store_true", help="find only what ends weft or is an internal error"
    )
    parser.add_argument("--spaces", nargs="+", default=SPACES, choices=SPACES)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--reference", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.work:
        work(options)
        return 0
    seed = random.SystemRandom().randrange(1_000_000) if options.seed is None else options.seed
    if options.only is not None:
        subject = Subject()
        call = subject.calls.make(seed, options.only, options.spaces)
        print(script(call), flush=True)
        message = subject.compare(call)
        print("#", (message or "both agree").replace("\n", "\n# "))
        return 1 if message else 0
    failures, missing, left_out, grown = {}, collections.Counter(), [], [0]

    def hear(message):
        missing.update(message.get("missing", {}))
        grown[0] = max(grown[0], message.get("grown", 0))

    def report(number, message, trace):
        if any(text in message for text in ("ended the process", "does not end", "did not end")):
            line, environment = command(options, seed, number, 1, "--reference")
            try:
                failed = subprocess.run(line, env=environment, capture_output=True, timeout=10).returncode
            except subprocess.TimeoutExpired:
                failed = True
            if failed:
                left_out.append(number)  # NumPy itself ends the process, or never ends
                return
        failures[number] = f"{message}\n{trace}".rstrip()
        print(f"--seed {seed} --only {number}: {failures[number]}", file=sys.stderr, flush=True)

    workers = supervise.Workers(
        lambda first, count: command(options, seed, first, count),
        report,
        hear,
        lambda: len(failures) >= options.stop_after,
        options.jobs,
        patience=20.0,
        grace=5.0,
    )
    end = options.first + options.calls
    with contextlib.suppress(KeyboardInterrupt):  # what was found until then is told
        workers.run(
            [(first, min(options.batch, end - first)) for first in range(options.first, end, options.batch)]
        )
    print(
        f"seed {seed}: {workers.started:,} calls, {len(failures)} fail, {missing.total():,} of what weft has not yet"
    )
    print(f"  a process's memory grew by {grown[0] / 2**20:.1f} MiB at most after a fifth of its calls")
    if left_out:
        print(f"  NumPy or SciPy fails in {len(left_out)}: {left_out[:20]}")
    for why, count in missing.most_common(20):
        print(f"  {count} x {why}")
    for number, message in sorted(failures.items()):
        print(f"--- --seed {seed} --only {number}\n{message}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
