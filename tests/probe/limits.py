"""Limits that the system sets to a process: addresses, data, threads, descriptors, sizes of files, stacks, and memory.

Short programs (programs.py) run in processes whose limit lies little above what they have already, from the import on
or from some step of the program on. The process must live; what it cannot have is an exception that names it; inputs
are what they were; and the same program gives the right results when the limit is gone.
"""

import math
import os
import pathlib
import random
import resource
import subprocess
import sys
import threading

import allocations
import cases
import forked
import programs
import supervise

FULL = 5_000
BATCH = 200
SAMPLE = 15
PATIENCE = 180.0

LONGEST = 60.0  # seconds a program may take
OTHER_USER = 65534  # whose processes and threads are counted: root's are not
MIB = 1 << 20


def environment():
    return {"WEFT_CACHE_DIR": allocations.CACHE.name, "WEFT_NUM_THREADS": "2", "WEFT_CUDA_DRIVER": ""}


def prepare():
    import numpy.random  # noqa: F401


# ---- limits on a process that has begun ----


def status(name):
    """Bytes that the process has of a kind (proc(5))."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) << 10
    raise KeyError(name)


def limit_addresses(room):
    set_limit(resource.RLIMIT_AS, status("VmSize") + room)


def limit_data(room):
    set_limit(resource.RLIMIT_DATA, status("VmData") + room)


def limit_threads(room):
    if os.geteuid() == 0:
        os.setresuid(OTHER_USER, OTHER_USER, 0)
    set_limit(resource.RLIMIT_NPROC, room % 3)


def limit_descriptors(room):
    set_limit(resource.RLIMIT_NOFILE, len(os.listdir("/proc/self/fd")) + room % 4)


def limit_files(room):
    set_limit(resource.RLIMIT_FSIZE, room % 5000)


def no_limit(room):
    pass


LIMITS = {
    "addresses": limit_addresses, "data": limit_data, "threads": limit_threads, "descriptors": limit_descriptors,
    "files": limit_files,
}  # fmt: skip
RESOURCES = [
    resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE,
]  # fmt: skip


def set_limit(which, value):
    hard = resource.getrlimit(which)[1]
    resource.setrlimit(which, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def lift_limits(before):
    for which, soft in zip(RESOURCES, before):
        set_limit(which, soft)
    if os.getresuid()[2] == 0:
        os.setresuid(0, 0, 0)


# When the limit begins: before anything of weft's is done, when the inputs are there, or when the program ran once.
MOMENTS = ["begin", "inputs", "inputs", "once", "other"]


def case(seed, number):
    draw = random.Random(seed * 1_000_003 + number)
    name = draw.choice([*programs.PROGRAMS, *2 * list(programs.WRITES)])
    way = draw.choice([way for way in allocations.WAYS if way != "gpu"])
    room = int(math.exp(draw.uniform(math.log(4096), math.log(400 * MIB))))
    how = draw.choice(["running"] * 24 + ["start"] * 4 + ["stack", "thread", "thread", "group"])
    if how == "running":
        kinds = ["addresses", "addresses", "addresses", "data", "data", "threads", "descriptors", "files"]
        arguments = (name, way, draw.choice(kinds), room, draw.choice(MOMENTS), draw.random() < 0.3)
        return cases.Case(["import limits", f"limits.attempt{arguments}"], 2)
    if how == "start":
        arguments = (name, way, draw.choice(["addresses", "addresses", "data"]), room)
    elif how == "thread":
        size = draw.choice([256, 256, 320, 512, 1024]) << 10
        return cases.Case(["import limits", f"limits.on_small_stack({name!r}, {way!r}, {size})"], 2)
    elif how == "stack":
        arguments = (name, way, "stack", draw.choice([128, 192, 256, 512, 1024, 4096, 1 << 20, 0]) << 10)
    else:
        arguments = (name, way, "group", (60 + room // MIB) * MIB)
    return cases.Case(["import limits", f"limits.start{arguments}"], 2)


_expected = {}


def expected(name):
    """States of the inputs and results without a limit."""

    def work():
        import weft

        with weft.config(small=0, tier="block"):
            program = allocations.Program(name, weft)
            states, results = [program.state()], []
            for step in program.steps:
                results.append(program.run(step))
                states.append(program.state())
            return states, results

    if name not in _expected:
        _expected[name] = forked.run(work, LONGEST)
    return _expected[name]


def attempt(name, way, kind, room, moment, keeps_kernels):
    states, results = expected(name)

    def work():
        import weft

        before = [resource.getrlimit(which)[0] for which in RESOURCES]
        with weft.config(**allocations.WAYS[way], cache=keeps_kernels):
            if moment == "begin":
                LIMITS[kind](room)
                try:
                    program = allocations.Program(name, weft)
                except BaseException as error:
                    wrong = wrong_error(error, kind)
                    lift_limits(before)
                    if wrong:
                        return wrong, True
                    program = allocations.Program(name, weft)
            else:
                program = allocations.Program(name, weft)
                if moment == "once" and not program.writes:
                    program.run(program.steps[0])
                if moment == "other":
                    weft.eval(weft.arange(5000.0) * 7 - 2)
            LIMITS[kind](room)
            found, number = None, 0
            try:
                for number, step in enumerate(program.steps):  # noqa: B007
                    program.run(step)
            except BaseException as error:
                found = error
            lift_limits(before)
            wrong = wrong_error(found, kind)
            reached = program.state()
            possible = states[number : number + 2] if program.writes else states[:1]
            if found is None and program.writes:
                possible = states[-1:]
            if not all(any(one[k] == part for one in possible) for k, part in enumerate(reached)):
                wrong.append("the inputs are not what they were")
            if not program.writes and program.run(program.steps[0]) != results[0]:
                wrong.append("the results are not what they are without a limit")
            weft.cache_info()  # waits for what is compiled in the background
            return wrong, found is not None

    wrong, refused = forked.run(work, LONGEST)
    cases.count(f"limits of {kind}")
    cases.count("refusals", refused)
    if wrong:
        raise cases.Fault("; ".join(wrong))


def wrong_error(error, kind):
    if error is None or isinstance(error, MemoryError):
        return []
    if kind in ("descriptors", "files", "threads") and isinstance(error, OSError):
        return []
    if isinstance(error, (ImportError, OSError)):  # Python's own modules, which no address is left for
        return []
    return [f"{type(error).__name__}: {error}"]


# ---- limits on a process from its start on ----

PROGRAM = """
import sys
sys.path[:0] = {path!r}
import allocations, resource
try:
    import numpy.random, weft
except (ImportError, MemoryError, OSError):
    sys.exit(0)  # what is not weft's to decide
import limits
print(limits.started({name!r}, {way!r}))
"""


def started(name, way):
    """What is wrong with a program in a process that was limited from its start on."""
    import weft

    with weft.config(**allocations.WAYS[way], cache=False):
        try:
            program = allocations.Program(name, weft)
            before = program.state()
            results = [program.run(step) for step in program.steps]
            reached = program.state()
        except BaseException as error:
            return wrong_error(error, "start") and [f"{type(error).__name__}: {error}"]
    return ["right", results, [before, reached][program.writes]]


def limited_start(kind, amount):
    """Sets the limit in the process that is to be."""
    if kind == "addresses":
        return lambda: resource.setrlimit(resource.RLIMIT_AS, (amount, amount))
    if kind == "data":
        return lambda: resource.setrlimit(resource.RLIMIT_DATA, (amount, amount))
    size = amount or resource.RLIM_INFINITY
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    return lambda: resource.setrlimit(resource.RLIMIT_STACK, (size, hard))


_need = []


def need():
    """Addresses and data of a process that has imported weft."""
    if not _need:
        code = PROGRAM.split("import limits")[0].format(path=sys.path[:3])
        code += "print([line.split()[1] for line in open('/proc/self/status') if line[:6] in ('VmPeak', 'VmData')])"
        text = subprocess.run(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True
        ).stdout
        peak, data = (int(word) << 10 for word in eval(text))
        _need.append({"addresses": peak, "data": data})
    return _need[0]


def start(name, way, kind, room):
    states, results = expected(name)
    code = PROGRAM.format(path=sys.path[:3], name=name, way=way)
    if kind == "group":
        return in_group(name, code, room, states, results)
    amount = room if kind == "stack" else need()[kind] + room
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=LONGEST, text=True,
        preexec_fn=limited_start(kind, amount),
    )  # fmt: skip
    judge(kind, done, states, results, name in programs.WRITES)


def judge(kind, done, states, results, writes):
    cases.count(f"starts with a limit of {kind}")
    if done.returncode < 0:
        trace = done.stderr.strip()[-1500:]
        raise cases.Fault(f"ended the process ({supervise.ending(done.returncode)})\n{trace}")
    if done.returncode != 0 or not done.stdout.strip():
        cases.count("processes that did not begin")
        return
    found = eval(done.stdout.splitlines()[-1])
    if not found:
        cases.count("refusals")
    elif found[0] != "right":
        raise cases.Fault("; ".join(found))
    elif found[1] != results or found[2] != states[-1 if writes else 0]:
        raise cases.Fault("the results are not what they are without a limit")


# ---- control groups ----


def in_group(name, code, room, states, results):
    """Under a control group's limit of memory, where one can be made."""
    import pytest
    import test_cgroup_limit

    test_cgroup_limit.LIMIT = room
    try:
        with test_cgroup_limit.limited_group() as processes:
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, timeout=LONGEST, text=True,
                preexec_fn=lambda: pathlib.Path(processes).write_text(str(os.getpid())),
            )  # fmt: skip
    except pytest.skip.Exception:
        cases.count("no control group can be made")
        return
    if (
        done.returncode == -9
    ):  # the system's own end of processes that touch more than there is: see docs/guide/failures.md
        cases.count("ended by the system")
        return
    judge("memory", done, states, results, name in programs.WRITES)


# ---- threads of the program's own with small stacks ----


def on_small_stack(name, way, size):
    """A program on a thread of Python's with so many bytes of stack."""
    _, results = expected(name)

    def work():
        import weft

        found = []

        def compute():
            try:
                with weft.config(**allocations.WAYS[way], cache=False):
                    program = allocations.Program(name, weft)
                    found.append([program.run(step) for step in program.steps])
            except BaseException as error:
                found.append(wrong_error(error, "stack"))

        threading.stack_size(size)
        thread = threading.Thread(target=compute)
        thread.start()
        thread.join()
        return found[0]

    found = forked.run(work, LONGEST)
    if found and isinstance(found[0], str):
        raise cases.Fault(found[0])
    if found and found != results:
        raise cases.Fault("the results are not what they are on other threads")
