"""Processes that compile and keep kernels, several at once in one folder, and are ended at any moment.

By SIGKILL after some milliseconds or at their k-th call of the system (failing_system_calls.cpp), by SIGTERM or SIGINT;
or they are stopped and hold their locks. What comes afterwards must not wait for them, finds only whole entries, and
removes what they left.
"""

import contextlib
import os
import random
import shutil
import signal
import time

import cases
import forked
import system_calls

FULL = 2_000
BATCH = 100
SAMPLE = 12
PATIENCE = 120.0

LONGEST = 40.0  # seconds until the last process has ended
MOST_CALLS = 220  # of the system, which a writer makes
NAMES = [
    "any",
    "any",
    "pwrite",
    "renameat",
    "openat",
    "flock",
    "unlinkat",
    "fstat",
    "fchmod",
    "mkdirat",
    "close",
]

environment = system_calls.environment


def kernel(np, number):
    """One of many kernels, and what it gives."""
    x = np.arange(5000) * 0.5
    work = [
        lambda: x * 3 + 1, lambda: np.maximum(x, 7.25), lambda: (x - 2).sum(), lambda: x * x - 3, lambda: x < 9,
        lambda: np.minimum(x, 3) * 2, lambda: (x + 1) / 7, lambda: (x * 2).max(), lambda: abs(x - 40), lambda: -x,
        lambda: (x * 2).astype("i4"), lambda: np.where(x > 8, x, 1.5),
    ]  # fmt: skip
    return work[number]().tobytes()


KERNELS = 12


def case(seed, number):
    draw = random.Random(seed * 1_000_003 + number)
    writers = []
    for _ in range(draw.choice([1, 2, 2, 3])):
        kernels = draw.sample(range(KERNELS), draw.randint(2, 5))
        way = draw.choice(["jit", "jit", "auto"])
        end = draw.choice(
            ["kill", "kill", "kill at", "kill at", "kill at", "term", "interrupt", "stop", "nothing"]
        )
        when = round(draw.uniform(0, 80), 1)
        if end == "kill at":
            when = (draw.choice(NAMES), round(draw.random() ** 2, 4), draw.random() < 0.5)
        writers.append((kernels, way, end, when))
    state = draw.choice(["missing", "missing", "filled", "untidy", "deep"])
    size = draw.choice([1 << 30, 1 << 30, 15_000])
    return cases.Case(["import kills", f"kills.attempt({writers!r}, {state!r}, {size})"], 2)


class Shared:
    def __init__(self):
        import weft

        self.common = system_calls.shared()
        with weft.config(cache=False, tier="block"):
            self.expected = [kernel(weft, number) for number in range(KERNELS)]


_shared = []


def shared():
    if not _shared:
        _shared.append(Shared())
    return _shared[0]


def prepare():
    shared()


def writes(kernels, way, folder, size, fatal):
    import weft

    weft.config(cache_dir=str(folder), cache_size=size, tier=way).__enter__()
    if fatal:
        name, place, before = fatal
        failing = shared().common.failing
        number = 1 + int(place * (MOST_CALLS if name == "any" else 20))
        effect = failing.KILLED_BEFORE if before else failing.KILLED_AFTER
        failing.fail(name, number, failing.FOR_EVER, effect)
    wrong = [number for number in kernels if kernel(weft, number) != shared().expected[number]]
    weft.cache_info()
    return wrong


SIGNALS = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "interrupt": signal.SIGINT, "stop": signal.SIGSTOP}
ENDS = {
    "kill": (signal.SIGKILL,), "kill at": (signal.SIGKILL,), "term": (signal.SIGTERM,), "stop": (signal.SIGKILL,),
    "interrupt": (signal.SIGINT,),
}  # fmt: skip


def attempt(writers, state, size):
    all_of_them = shared()
    place = all_of_them.common.fresh()
    folder = system_calls.STATES[state](place) or place / "cache"
    children, told = [], []
    begun = time.monotonic()
    for kernels, way, end, when in writers:
        fatal = when if end == "kill at" else None

        def work(kernels=kernels, way=way, fatal=fatal):
            return writes(kernels, way, folder, size, fatal)

        child = forked.Child(work, LONGEST, ENDS.get(end, ()), end == "interrupt")
        children.append(child)
        if end in SIGNALS:
            told.append((begun + when / 1000, child, SIGNALS[end]))
    for moment, child, sent in sorted(told, key=lambda one: one[0]):
        time.sleep(max(moment - time.monotonic(), 0))
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.kill(child.number, sent)
    stopped = [child for child, (_, _, end, _) in zip(children, writers) if end == "stop"]
    wrong = []
    for child in children:
        if child not in stopped:
            found = child.result()
            wrong += [f"a writer has a wrong result of kernel {number}" for number in found or ()]
    # While some are stopped, and when they are gone.
    for turn in ("beside the stopped", "afterwards") if stopped else ("afterwards",):
        if turn == "afterwards":
            for child in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child.number, signal.SIGKILL)
                child.result()
        wrong += [f"{turn}: {what}" for what in forked.run(lambda: uses(folder, state), LONGEST)]
    left = [path.name for path in folder.glob("kernels-*/tmp-*") if path.name != "tmp-folder"]
    if left:
        wrong.append(f"there are leftovers: {left}")
    shutil.rmtree(place)
    if wrong:
        raise cases.Fault("; ".join(wrong))


def uses(folder, state):
    """What is wrong with what a clean process finds."""
    import weft

    weft.config(cache_dir=str(folder), tier="jit").__enter__()
    before = weft.cache_info()
    wrong = [
        f"kernel {number} gives a wrong result"
        for number in range(KERNELS)
        if kernel(weft, number) != shared().expected[number]
    ]
    info = weft.cache_info()
    wrong += system_calls.odd_counts(info)
    if info["dropped"]:
        wrong.append(f"{info['dropped']} entries were damaged")
    if not info["enabled"] or info["failed"]:
        wrong.append(f"the folder is not used: {info}")
    if info["hits"] + info["compiled"] - before["compiled"] < KERNELS:
        wrong.append(f"not each kernel was found or compiled: {info}")
    if info["entries"] < KERNELS:
        wrong.append(f"not every kernel is kept: {info}")
    return wrong
