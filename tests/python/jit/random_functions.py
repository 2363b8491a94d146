"""Random functions by a compiler beside CPython.

    python tests/python/jit/random_functions.py [--seed N] [--count N] [--parallel] [--bounds] [--ways all|turn|one|ir]
        [--jit weft|numba] [--shrink]

A seed makes a function, the functions that it calls, and arguments (tests/python/support/jit_random.py). Values, types,
exceptions and what is written into arrays have to be the same, bit by bit. With --parallel there are loops over prange
(jit_random_parallel.py), which run on 1, 2 and 7 threads; sums of floats have to be the same there, and near CPython's.
With --bounds functions guard indices and divisors, with integers near where they end (jit_random_bounds.py).

Ways to compile a function are without an optimisation, without checks of indices, with a verifier, without parallel
loops, and none: then the oracle runs its kernel IR. `turn` takes one of them after another, a seed each. `ir` makes no
machine code: the oracle runs the kernel IR, before and after the passes, ten times as many functions in a second.
"""

import argparse
import ast
import contextlib
import functools
import io
import linecache
import math
import os
import pathlib
import random
import re
import select
import signal
import struct
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import jit_random
import jit_random_bounds
import jit_random_parallel
import jit_wrapped

# Errors that weft.jit tells before CPython comes there. What functions give that always raise is None.
EARLY = (
    "has no value here",
    "range() arg 3 must not be zero",
    "Ask before whether it is None",
    "None has no method",
)
ROOT = pathlib.Path(__file__).resolve().parents[3]
SWITCHES = re.findall(r'"(\w+)"\)  // pass:', (ROOT / "src/core/optimisation_switches.def").read_text())
WAYS = (
    *(f"without {name}" for name in SWITCHES),
    "unchecked",
    "verified",
    "serial",
    "in two steps",
    "oracle",
)
THREADS = (1, 2, 7)
MOST_CALLS = 4
SITE_BITS = 20  # of the number of an error
LONG = 20  # seconds after which a call is interrupted
SILENT = 120  # after which a process is told to hang


class Elements:
    """An array for CPython: slices are views, as NumPy's are, and elements are Python's numbers."""

    def __init__(self, array):
        self.array = array

    def __len__(self):
        return len(self.array)

    def __getitem__(self, index):
        return Elements(self.array[index]) if isinstance(index, slice) else self.array[index].item()

    def __setitem__(self, index, value):
        self.array[index] = value

    def __iter__(self):
        return (self.array[k].item() for k in range(len(self.array)))


class Plain:
    """What the texts have of weft, for CPython."""

    prange, int64 = range, numpy.int64
    minimum, maximum = min, max  # of whole numbers

    @staticmethod
    def zeros(size, dtype=numpy.float64):
        return Elements(numpy.zeros(size, dtype))


def functions_of(text, name, jit=None, wraps=False):
    """The function `f` of a text, compiled by `jit` with all that it calls; else CPython's, whose integers may wrap."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"__name__": "random_functions", "np": Plain}
    if jit is None and wraps:
        return jit_wrapped.function_of(text, name, names)
    if jit is not None:
        import weft

        names["np"] = weft
    exec(compile(text, name, "exec"), names)
    if jit is not None:
        for function in [n for n in names if n[0] == "g" or n == "f"]:
            names[function] = jit(names[function])
    return names["f"]


def bits(value):
    """A value with its type, so that equal ones are equal bit by bit; all NaNs are one."""
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    if isinstance(value, float):
        return ("float", "nan" if value != value else struct.pack("d", value).hex())
    if isinstance(value, (jit_wrapped.Wrapped, numpy.integer)):
        return ("int", int(value))
    return (type(value).__name__, value)


def outcome(function, arguments, compiled, wraps=False):
    """What a call comes to: its result or exception, and its arrays afterwards, and what it prints."""
    arrays = [numpy.array(a, getattr(a, "dtype", None)) for a in arguments if isinstance(a, list)]
    waiting = iter(arrays if compiled else map(jit_wrapped.Elements if wraps else Elements, arrays))
    arguments = [next(waiting) if isinstance(a, list) else a for a in arguments]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            result = ("returned", bits(function(*arguments)))
    except (ArithmeticError, AssertionError, LookupError, NameError, RuntimeError, ValueError) as error:
        text = str(error)
        result = ("raised", type(error).__name__, text if text.startswith("left") else "")
    return result, [tuple(map(bits, array.tolist())) for array in arrays], said.getvalue()


class Program:
    """A text with calls of its function, and what CPython makes of them."""

    def __init__(self, text, calls, name, sums=None, wraps=False):
        self.text, self.calls, self.name = text, [], name
        self.parallel = sums is not None
        self.sums = sums or 0
        self.wraps = wraps
        self.expected = []
        plain = functions_of(text, name, None, wraps)
        for arguments in calls:
            with contextlib.suppress(jit_wrapped.TooLong):
                self.expected.append(outcome(plain, arguments, False, wraps))
                self.calls.append(arguments)
            if len(self.calls) == MOST_CALLS:
                break

    def compile(self, jit):
        return functions_of(self.text, self.name, jit)

    def wrong(self, found, k):
        """Whether a call is not CPython's, with sums of floats near CPython's."""
        return not self.same(found, self.expected[k], 1e-9)

    def same(self, found, wanted, tolerance):
        if not self.parallel:
            return found == wanted
        if found[0][0] == "raised" or wanted[0][0] == "raised":  # other iterations may have written by then
            late = (found[0][0], wanted[0][1]) == (
                "raised",
                "ZeroDivisionError",
            )  # divisions are checked late
            return late or found[0][:2] == wanted[0][:2]
        ours, theirs = found[0][1], wanted[0][1]
        if self.sums:
            many = isinstance(ours[0], tuple)
            ours, theirs = (ours, theirs) if many else ((ours,), (theirs,))
            pairs = zip(ours[-self.sums :], theirs[-self.sums :], strict=True)
            if not all(near(readable(a), readable(b), tolerance) for a, b in pairs):
                return False
            ours, theirs = ours[: -self.sums], theirs[: -self.sums]
        return (ours, found[1:]) == (theirs, wanted[1:])


def near(a, b, tolerance):
    if a == "nan" or b == "nan":
        return a == b
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance * 1e4)


def interrupt(signal_number, frame):
    raise TimeoutError("a function goes on and on")


def disagreement(program, jit, ways=()):
    """What CPython and the compiler do not agree on, in words; empty where they agree."""
    signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(LONG)
    try:
        compiled = program.compile(jit)
        first = []
        for k, arguments in enumerate(program.calls):
            first.append(outcome(compiled, arguments, True))
            if program.wrong(first[k], k):
                return message("", arguments, first[k], program.expected[k])
            for threads in THREADS if program.parallel else ():
                with settings(num_threads=threads):
                    found = outcome(compiled, arguments, True)
                if not alike(found, first[k]):
                    return message(f"on {threads} threads: ", arguments, found, first[k])
        for way in ways:
            told = (
                by_oracle(program, compiled, first) if way == "oracle" else by_way(program, jit, way, first)
            )
            if told:
                return told
    except Exception as error:
        if any(text in str(error) for text in EARLY):
            return ""
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    return ""


def alike(found, first):
    """Whether two compiled calls came to the same bits; where they raise, arrays may differ."""
    if first[0][0] == "raised":
        return found[0] == first[0]
    return found == first


def by_way(program, jit, way, first):
    """A function compiled in another way has the same bits, and without parallel loops CPython's."""
    changed, options = {}, {}
    if way.startswith("without"):
        changed = {"without": way.split()[1]}
    elif way == "in two steps":
        # The first calls run by quick code, and the good code comes after three milliseconds, or within a call.
        changed = {"tier": "auto", "tier_delay": 3, "cache": False}
    elif way == "verified":
        changed = {"verify": True}
    elif way == "unchecked":
        options = {"boundscheck": False}
    elif way == "serial":
        options = {"parallel": False}
    if way == "unchecked" and re.search(r"except .*(Index|Lookup)Error", program.text):
        return ""
    with settings(**changed):
        compiled = program.compile(lambda function: jit(function, **options))
        for k, arguments in enumerate(program.calls):
            if way == "unchecked" and first[k][0][0] == "raised":
                continue  # an index that the error hides may be out of bounds
            found = outcome(compiled, arguments, True)
            if way == "serial":
                if found != program.expected[k]:
                    return message("serial: ", arguments, found, program.expected[k])
            elif not alike(found, first[k]):
                return message(f"{way}: ", arguments, found, first[k])
    return ""


def by_oracle(program, compiled, first):
    """The oracle has the same bits where the function returns, and an error where it raises."""
    (text,) = compiled.inspect_ir().values()
    process = oracle()
    process.load(text)
    for k, arguments in enumerate(program.calls):
        what, values, arrays = process.call(arguments)
        wanted, after, _ = first[k]
        if what == "returned":
            values = tuple(map(bits, values))
            expected = wanted[1] if isinstance(wanted[1][0], tuple) else (wanted[1],)
            same = (values, [tuple(map(bits, a)) for a in arrays]) == (expected, after)
            if wanted[0] != "returned" or not same:
                return message("oracle: ", arguments, (("returned", values), arrays), first[k])
        elif what != wanted[0]:
            return f"oracle: f{arguments} is {what} {values}, not {readable(first[k])}"
    return ""


def disagreement_of_ir(program, jit):
    """What CPython and the kernel IR of a function do not agree on, run by the oracle, before and after passes.

    No machine code is made, which takes most of the time, and nothing runs at the same time.
    """
    try:
        text, exceptions = program.compile(jit)._lowered(arrays_of(program.calls[0]))
    except Exception as error:
        if any(text in str(error) for text in EARLY):
            return ""
        return f"{type(error).__name__}: {error}"
    process = oracle()
    process.load(text, passes=True)
    for k, arguments in enumerate(program.calls):
        what, values, arrays = process.call(arguments)
        wanted = program.expected[k]
        if what == "returned":
            values = tuple(map(bits, values))
            if len(values) < 2 and len(wanted[0][1]) == 2:
                values = values[0] if values else bits(None)
            found = (what, values)
        elif what == "raised":
            # Where it hangs on values, as of a float that has no integer, it has no name.
            name = exceptions[int(values) % 2**SITE_BITS]
            found = (what, name or wanted[0][1], wanted[0][2] if len(wanted[0]) > 2 else "")
        else:
            oracle.process.close()
            del oracle.process
            return (
                f"oracle: f{shortened(arguments)} is {shortened(values)}, not {shortened(readable(wanted))}"
            )
        found = (found, [tuple(map(bits, array)) for array in arrays], wanted[2])
        if program.wrong(found, k):
            return message("oracle: ", arguments, found, wanted)
    return ""


def arrays_of(arguments):
    return tuple(numpy.array(a, getattr(a, "dtype", None)) if isinstance(a, list) else a for a in arguments)


def oracle():
    """The process that runs kernel IR."""
    import jit_oracle

    if not hasattr(oracle, "process"):
        oracle.process = jit_oracle.Oracle()
    return oracle.process


def message(way, arguments, found, wanted):
    """What is wrong, for people."""
    return f"{way}f{shortened(arguments)} is {shortened(readable(found))}, not {shortened(readable(wanted))}"


def shortened(value, most=1500):
    text = str(value)
    return text if len(text) <= most else text[: most // 2] + " … " + text[-most // 2 :]


def settings(**changed):
    """weft's settings within a block; nothing where none are changed."""
    if not changed:
        return contextlib.nullcontext()
    import weft

    return weft.config(**changed)


def readable(found):
    """An outcome for people: bits as numbers."""
    if isinstance(found, tuple) and len(found) == 2 and found[0] == "float":
        return found[1] if found[1] == "nan" else struct.unpack("d", bytes.fromhex(found[1]))[0]
    if isinstance(found, tuple) and len(found) == 2 and found[0] in ("int", "bool"):
        return found[1]
    return type(found)(map(readable, found)) if isinstance(found, (tuple, list)) else found


def shrunk(text, wrong):
    """The text without all statements that can be left out; `wrong(text)` says whether it is still wrong."""
    again = True
    while again:
        again = False
        for smaller in _smaller(text):
            if wrong(smaller):
                text, again = smaller, True
                break
    return text


def _smaller(text):
    """Texts with one statement less, or with a statement's body in its place."""
    count = sum(1 for _ in _blocks(ast.parse(text)))
    for k in range(count):
        length = len(list(_blocks(ast.parse(text)))[k])
        for at in range(length):
            for unwrap in (False, True):
                tree = ast.parse(text)
                block = list(_blocks(tree))[k]
                inner = getattr(block[at], "body", None) if unwrap else []
                if inner is None or (unwrap and isinstance(block[at], ast.FunctionDef)):
                    continue
                if block[at : at + 1] != inner and not (len(block) == 1 and isinstance(block[at], ast.Pass)):
                    block[at : at + 1] = inner or ([ast.Pass()] if len(block) == 1 else [])
                    yield ast.unparse(tree) + "\n"


def _blocks(tree):
    for node in ast.walk(tree):
        for field in ("body", "orelse"):
            if isinstance(getattr(node, field, None), list) and getattr(node, field):
                yield getattr(node, field)


def kind_of(message):
    """What a disagreement is about, for shrinking: the same error, or a wrong value."""
    if "Error: " in message:
        return re.sub(r"<[^>]*>|\d|'[^']*'", "", message.splitlines()[0])
    return message.split("(")[0].split(":")[0]


def compiler(name):
    """weft.jit or numba.njit."""
    if name == "numba":
        import numba

        return numba.njit(error_model="python")
    import weft

    return weft.jit


def program_of(seed, parallel, bounds=False):
    """A seed's program."""
    name = f"<random function {seed}>"
    if bounds:
        return Program(*jit_random_bounds.generate(seed, parallel), name, 0 if parallel else None, True)
    if parallel:
        text, calls, sums = jit_random_parallel.generate(seed)
        return Program(text, calls, name, sums)
    return Program(*jit_random.generate(seed), name)


def ways_of(seed, choice):
    """The ways to compile a seed's function, but for the usual one."""
    return {"all": WAYS, "turn": (WAYS[seed % len(WAYS)],), "one": (), "ir": ()}[choice]


def shrink(program, again):
    """A wrong program without what it does not need to be wrong in the same way, as `again(program)` says."""
    kind, made = kind_of(again(program)), [program]

    def still_wrong(smaller):
        sums = program.sums if program.parallel else None
        signal.signal(signal.SIGALRM, interrupt)
        signal.alarm(LONG)
        try:
            changed = Program(smaller, program.calls, f"<shrunk {len(made)}>", sums, program.wraps)
            found = again(changed)
        except Exception:  # CPython itself does not take it, or never ends it
            return False
        finally:
            signal.alarm(0)
        if found and kind_of(found) == kind:
            made.append(changed)
            return True
        return False

    shrunk(program.text, still_wrong)
    return f"{made[-1].text}{again(made[-1])}"


def end_of(options, program, ways):
    """How a process ends that compares a program."""
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        disagreement(program, compiler(options.jit), ways)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return f"the process ends with {code}" if code else ""


def compare(options, seeds, tell):
    """Compares the functions of seeds; `tell` gets each seed before, and again behind it where it is wrong."""
    jit = compiler(options.jit)
    for seed in seeds:
        tell(seed)
        program = program_of(seed, options.parallel, options.bounds)
        check = functools.partial(disagreement, jit=jit, ways=ways_of(seed, options.ways))
        if options.ways == "ir":
            check = functools.partial(disagreement_of_ir, jit=jit)
        found = check(program) if program.calls else ""
        linecache.cache.pop(program.name, None)
        if not found:
            continue
        tell(seed)
        print(f"seed {seed}: {found}", flush=True)
        if options.shrink:
            print(shrink(program, check), flush=True)


def compare_beside(options, seeds):
    """The same in another process, since wrong code may end it: how many are wrong, and the seeds that are left."""
    ours, theirs = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(ours)
        compare(options, seeds, lambda seed: os.write(theirs, struct.pack("q", seed)))
        sys.stdout.flush()
        os._exit(0)
    os.close(theirs)
    wrong, last, how = 0, None, ""
    while not how:
        told = select.select([ours], [], [], None if options.shrink else SILENT)[0] and os.read(ours, 8)
        if told == []:
            how = "it hangs"
            os.kill(process, signal.SIGKILL)
        elif not told:
            break
        else:
            seed = struct.unpack("q", told)[0]
            wrong, last = wrong + (seed == last), seed
    os.close(ours)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code == 0:
        return wrong, seeds[:0]
    print(f"seed {last}: {how or f'the process ends with {code}'}", flush=True)
    if options.shrink and not how:
        program, ways = program_of(last, options.parallel, options.bounds), ways_of(last, options.ways)
        print(shrink(program, lambda changed: end_of(options, changed, ways)), flush=True)
    return wrong + 1, range(last + 1, seeds.stop)


def main():
    """Compares many functions; exits 1 where any is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int)
    parser.add_argument("--fresh", action="store_true", help="a seed that no run had, where none is given")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--parallel", action="store_true", help="with loops over prange")
    parser.add_argument("--bounds", action="store_true", help="with guards, near where integers end")
    parser.add_argument(
        "--ways", choices=("all", "turn", "one", "ir"), default="one", help="ways to compile a function"
    )
    parser.add_argument("--jit", choices=("weft", "numba"), default="weft")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--text", action="store_true", help="print the text of the seed alone")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(10**9) if options.fresh else 0
    if options.text:
        print(program_of(options.seed, options.parallel, options.bounds).text)
        return 0
    print(f"seed {options.seed}, {options.count} functions", flush=True)
    seeds, wrong = range(options.seed, options.seed + options.count), 0
    while seeds:
        more, seeds = compare_beside(options, seeds)
        wrong += more
    print(f"{wrong} of {options.count} functions are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
