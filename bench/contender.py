"""The process of one contender of one case: makes the input, then answers commands with lines of JSON.

Started by run.py, which says on the standard input what to do; the machine's cores are this process's alone while it
answers. Commands: first, calls N, run, kernels, save PATH, throughput FUNCTION DTYPE.
"""

import ctypes
import importlib
import json
import pathlib
import signal
import sys
import time

import numpy

# The list of cases, without the package: what a peer's process imports of weft would be in its way.
sys.path.append(str(pathlib.Path(__file__).parents[1] / "python/weft/bench"))

import cases

PR_SET_PDEATHSIG = 1


def resident(field):
    """Bytes of this process in memory: VmRSS, now; RssAnon, without files; VmHWM, at most since the mark was reset."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def reset_high_water_mark():
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False  # some containers forbid it
    return True


def answer(**message):
    print(json.dumps(message), flush=True)


def of_result(result):
    return result if isinstance(result, tuple) else (result,)


class Process:
    def __init__(self, contender, case):
        self.contender = cases.CONTENDERS[contender]
        self.function = case.contenders[contender]
        self.module = importlib.import_module(self.contender.module)
        self.arrays = tuple(self.contender.convert(array) for array in case.inputs())
        self.result = None
        self.calls = 1
        self.anonymous = self.spare_returned("RssAnon")

    def spare_returned(self, field):
        """What is resident without the last result and without spare memory."""
        self.result = None
        self.contender.give_back()
        ctypes.CDLL(None).malloc_trim(0)
        return resident(field)

    def first(self):
        """The first call's time."""
        start = time.perf_counter()
        self.result = self.contender.finish(self.function(*self.arrays))
        elapsed = (time.perf_counter() - start) * 1e3
        sizes = {
            name: sum(numpy.asarray(x).nbytes for x in arrays)
            for name, arrays in (("inputs", self.arrays), ("result", of_result(self.result)))
        }
        self.contender.settle()
        answer(ms=elapsed, **sizes)

    def peak(self):
        """How far one more call makes the process grow, with all spare memory given back before; and what could not
        be given back of what the first calls took: buffers of libraries, and of weft its compiler's."""
        kept = max(0, self.spare_returned("RssAnon") - self.anonymous) / 1e6
        before = resident("VmRSS") if reset_high_water_mark() else None
        self.result = self.contender.finish(self.function(*self.arrays))
        answer(megabytes=None if before is None else (resident("VmHWM") - before) / 1e6, kept=kept)

    def run(self):
        start = time.perf_counter()
        for _ in range(self.calls):
            self.result = self.contender.finish(self.function(*self.arrays))
        answer(ms=(time.perf_counter() - start) * 1e3 / self.calls)

    def kernels(self):
        self.module.clear_kernel_history()
        self.result = self.contender.finish(self.function(*self.arrays))
        history = self.module.kernel_history()
        answer(kernels=len(history), read=sum(k["bytes_read"] for k in history) / 1e6,
               written=sum(k["bytes_written"] for k in history) / 1e6)  # fmt: skip

    def save(self, path):
        parts = [numpy.asarray(x) for x in of_result(self.result)]
        numpy.savez(path, *parts)
        answer(saved=True)


def throughput(name, dtype):
    """Nanoseconds an element that weft's vector function takes, alone, on all cores: numbers made in registers and
    added up, less the same without the function."""
    weft = importlib.import_module("weft")
    special = importlib.import_module("weft.scipy.special")
    function = getattr(weft, name, None) or getattr(special, name)
    size = 1 << 22
    step, start = weft.asarray(numpy.array([1.0 / size, 0.5], dtype))

    def elapsed(compute):
        began = time.perf_counter()
        float(compute(weft.arange(size, dtype=dtype) * step + start).sum())
        return (time.perf_counter() - began) * 1e9 / size

    with_function, without = (min(elapsed(f) for _ in range(3)) for f in (function, lambda x: x))
    answer(nanoseconds=max(with_function - without, 1e-3))


def main():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # it may be stopped when run.py ends
    contender, name = sys.argv[1:]
    process = None
    if name:
        (case,) = (c for c in cases.CASES if c.name == name)
        process = Process(contender, case)
    answer(ready=True)
    for line in sys.stdin:
        command, *words = line.split()
        if command == "calls":
            process.calls = int(words[0])
            answer(calls=process.calls)
        elif command == "throughput":
            throughput(*words)
        else:
            getattr(process, command)(*words)


if __name__ == "__main__":
    main()
