"""Allocations that fail, one after another, at each stage of short programs (programs.py).

The k-th allocation that the engine asks for fails, once or from then on (failing_allocations.cpp, preloaded). The
process must live; the only exception is MemoryError, which says what was asked for, what is held and what the limit is;
inputs are what they were; and the same program gives the right results when memory is there again.
"""

import ctypes
import os
import pathlib
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import cases
import driver
import programs

FULL = 2_500
BATCH = 500
SAMPLE = 30
PATIENCE = 120.0

KINDS = {"new": 1, "malloc": 2, "map": 4, "thread": 8, "any": 15}
# How the programs run: what is computed at the call, by blocks, as machine code that they wait for or not.
WAYS = {
    "at once": {},
    "auto": {"small": 0, "tier": "auto"},
    "blocks": {"small": 0, "tier": "block"},
    "jit": {"small": 0, "tier": "jit"},
    "naive": {"small": 0, "tier": "jit", "fuse": False},
    "eager": {"small": 0, "tier": "block", "eager": True},
    "gpu": {"device": "cuda"},
}
LONGEST = 60  # seconds an attempt may take
CACHE = tempfile.TemporaryDirectory(
    prefix="weft-probe-cache-"
)  # of machine code, for what runs without failures


def library():
    import importlib.util

    package = importlib.util.find_spec("weft")
    return pathlib.Path(package.origin).parents[2] / "bin" / "libweft_failing_allocations.so"


def environment():
    # First, so that a sanitizer's functions stand behind the library's.
    preloaded = [str(library()), os.environ.get("LD_PRELOAD", "")]
    return {
        "LD_PRELOAD": " ".join(filter(None, preloaded)), "WEFT_CACHE_DIR": CACHE.name, "WEFT_NUM_THREADS": "2",
        **driver.environment(),
    }  # fmt: skip


# Whole processes, whose allocations count from the start, or from the line `fail()` on.
PROCESSES = {
    "import": "import weft",
    "first use": "import weft as np\nprint(float((np.arange(10.0) * 2).sum()), np.sort(np.array([3, 1, 2])))",
    "end with work to do": "import weft as np\ny = np.sqrt(np.arange(9999.0) + 1)\nnp.eval(y)\nz = y * 2\nfail()",
    "end with threads": "import weft as np\nx = np.arange(3e5)\nprint(np.sort(x[::-1] % 1000)[0], x @ x)\nfail()",
    "error that nobody catches": "import weft as np\nfail()\nnp.array(range(1000)).reshape(3)",
}


def case(seed, number):
    draw = random.Random(seed * 1_000_003 + number)
    if number % 40 == 7:
        which, kind = draw.choice(list(PROCESSES)), draw.choice(["new", "new", "malloc", "any"])
        kth, once = draw.randrange(1, 2600), draw.random() < 0.5
        if "fail()" in PROCESSES[which]:
            kth = 1 + kth % 30
        call = f"allocations.attempt_process({which!r}, {kind!r}, {kth}, {once})"
        return cases.Case(["import allocations", call], 2)
    name = draw.choice([*programs.PROGRAMS, *2 * list(programs.WRITES)])
    # Machine code takes long to make: fewer of these.
    way = draw.choice(["at once", "at once", "auto", "blocks", "blocks", "jit", "naive", "eager", "gpu"])
    if name == "conversion" and way == "gpu":
        way = "eager"  # NumPy's arrays are not made of a GPU's unasked
    kind = draw.choice(["new", "new", "new", "malloc", "map", "thread", "any"])
    place, once = round(draw.random(), 6), draw.random() < 0.5
    return cases.Case(
        ["import allocations", f"allocations.attempt({name!r}, {way!r}, {kind!r}, {place}, {once})"], 2
    )


def prepare():
    # Pickles of generators and some distributions want it, and it does not bear that its import fails.
    import numpy.random  # noqa: F401


class Attempt:
    """A program in a child of this process, in which some allocations fail; gives lines of text to its parent."""

    def __init__(self, work):
        reader, writer = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            os.close(reader)
            status = 1
            try:
                signal.alarm(2 * LONGEST)
                text = work()
                os.write(writer, repr(text).encode())
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(writer)
        self.reader = reader

    def result(self):
        """What the work returned; raises Fault where it did not come to its end."""
        text, ends = b"", time.monotonic() + LONGEST
        while True:
            ready = select.select([self.reader], [], [], max(ends - time.monotonic(), 0))[0]
            if not ready:
                os.kill(self.child, signal.SIGKILL)
                break
            part = os.read(self.reader, 1 << 16)
            if not part:
                break
            text += part
        os.close(self.reader)
        status = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        if status != 0 or not text:
            import supervise

            raise cases.Fault("hangs" if not ready else f"ended the process ({supervise.ending(status)})")
        return eval(text)


def described(np, value):
    """All that a user can see of a value, as numbers, texts and bytes."""
    if isinstance(value, dict):
        return [described(np, item) for item in value.values()]
    if isinstance(value, (tuple, list)):
        return [described(np, item) for item in value]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.shape, value.tobytes()]
    if isinstance(value, np.random.Generator):
        return repr(value.bit_generator.state)
    return repr(value)


class Program:
    """Steps on inputs: the one of a program, whose result counts, or several that write, whose inputs count."""

    def __init__(self, name, np):
        self.np, self.values = np, programs.inputs(np)
        if name in programs.WRITES:
            self.values["rng"] = np.random.default_rng(5)
            self.steps, self.writes = programs.WRITES[name], True
        else:
            self.steps, self.writes = [programs.PROGRAMS[name]], False
        np.eval(*(value for key, value in self.values.items() if key != "rng"))

    def state(self):
        return described(self.np, self.values)

    def run(self, step):
        """The step, and what it gives computed; what it writes as well."""
        result = step(self.np, **self.values)
        if self.writes:
            self.np.eval(*(value for key, value in self.values.items() if key != "rng"))
            return None
        return described(self.np, result)


_known = {}  # what a program makes of its inputs step by step, and how many allocations of a kind it makes


def known(failing, name, way, kind):
    def work():
        import weft

        with weft.config(**WAYS[way]):
            program = Program(name, weft)
            states, results = [program.state()], []
            failing.weft_fail_allocations(KINDS[kind], 1 << 62, 1 << 62)
            with weft.config(cache=False):
                for step in program.steps:
                    program.run(step)
            failing.weft_allow_allocations()
            weft.cache_info()  # waits for what is compiled in the background
            count = failing.weft_counted_allocations()
            program = Program(name, weft)
            for step in program.steps:
                results.append(program.run(step))
                states.append(program.state())
            weft.cache_info()
            if way == "gpu":
                driver.FakeDriver().write_kernels("kernels_of_a_program")
            return count, states, results

    key = (name, way, kind)
    if key not in _known:
        _known[key] = Attempt(work).result()
        if way == "gpu":
            driver.FakeDriver().compile_kernels("kernels_of_a_program")  # once, for all children
    return _known[key]


def attempt(name, way, kind, place, once):
    """A program with failures, then without; raises Fault where that is not as promised."""
    failing = ctypes.CDLL(str(library()))
    failing.weft_fail_allocations.argtypes = [ctypes.c_uint, ctypes.c_uint64, ctypes.c_uint64]
    failing.weft_counted_allocations.restype = ctypes.c_uint64
    failing.weft_failed_allocations.restype = ctypes.c_uint64
    count, states, results = known(failing, name, way, kind)
    kth = 1 + int(place * count)

    def work():
        import weft

        with weft.config(**WAYS[way]):
            program = Program(name, weft)
            found = None
            failing.weft_fail_allocations(KINDS[kind], kth, kth if once else 1 << 62)
            try:
                with weft.config(cache=False):
                    for number, step in enumerate(program.steps):  # noqa: B007
                        program.run(step)
            except BaseException as error:
                found = error
            finally:
                failing.weft_allow_allocations()
            failed = failing.weft_failed_allocations()
            wrong = wrong_error(found)
            reached = program.state()
            if found is None or not program.writes:
                possible = [states[-1]] if program.writes else [states[0]]
            else:
                possible = [states[number], states[number + 1]]
            if not all(any(one[k] == part for one in possible) for k, part in enumerate(reached)):
                wrong.append("the inputs are not what they were")
            if not program.writes and program.run(program.steps[0]) != results[0]:
                wrong.append("the results are not what they are without failures")
            weft.cache_info()  # waits for what is compiled in the background
            return wrong, failed, found is not None

    # For a debugger: in this process, not in a child of it.
    wrong, failed, raised = work() if os.environ.get("WEFT_PROBE_HERE") else Attempt(work).result()
    cases.count("failed allocations", failed)
    cases.count("programs with failures", failed > 0)
    cases.count("MemoryErrors", raised)
    if wrong:
        raise cases.Fault(f"allocation {kth}: {'; '.join(wrong)}")


def wrong_error(error):
    if error is None:
        return []
    text = f"{type(error).__name__}: {error}"
    if not isinstance(error, MemoryError):
        return [text]
    told = all(word in str(error) for word in ("asked", "holds", "limit"))
    return [] if told or "weft" not in type(error).__module__ else [f"the message tells too little: {text}"]


def attempt_process(which, kind, kth, once):
    """A process from its start to its end: it may fail, but not be ended."""
    import supervise

    numbers = f"{kth}:{kth if once else 1 << 62}"
    environment, source = dict(os.environ), PROCESSES[which]
    if "fail()" in source:
        first, last = numbers.split(":")
        source = (
            "import ctypes\n"
            f"failing = ctypes.CDLL({str(library())!r})\n"
            "failing.weft_fail_allocations.argtypes = [ctypes.c_uint, ctypes.c_uint64, ctypes.c_uint64]\n"
            f"def fail(): failing.weft_fail_allocations({KINDS[kind]}, {first}, {last})\n{source}"
        )
    else:
        environment["WEFT_FAIL_ALLOCATIONS"] = f"{KINDS[kind]}:{numbers}"
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, env=environment, timeout=60
    )
    if done.returncode not in (0, 1):
        raise cases.Fault(f"ended the process ({supervise.ending(done.returncode)})\n{done.stderr[-1500:]}")
    if "InternalError" in done.stderr or "SystemError" in done.stderr:
        raise cases.Fault(done.stderr[-1500:])
