"""Work in children of this process, which may end in any way and take any time; libraries that are preloaded there."""

import ctypes
import importlib.util
import os
import pathlib
import select
import signal
import time
import traceback

import cases
import supervise


def library(name):
    """The path of a library of tests/probe."""
    package = importlib.util.find_spec("weft")
    return pathlib.Path(package.origin).parents[2] / "bin" / f"libweft_{name}.so"


def preloaded(name):
    """What LD_PRELOAD has to be for it."""
    return " ".join(filter(None, [str(library(name)), os.environ.get("LD_PRELOAD", "")]))


class Child:
    """Runs work() in a child; its return value, which repr() has to tell, is taken by result().

    expected: signals that may end the child; interrupted: SIGINT is sent to it. result() is None then.
    """

    def __init__(self, work, seconds=60.0, expected=(), interrupted=False):
        self.seconds, self.expected, self.interrupted = seconds, expected, interrupted
        self.reader, writer = os.pipe()
        self.begun = time.monotonic()
        self.number = os.fork()
        if self.number:
            os.close(writer)
            return
        status = 1
        try:
            os.close(self.reader)
            signal.alarm(int(2 * seconds) + 1)
            text = repr(("value", work()))
        except BaseException as error:
            text = repr(("raised", "".join(traceback.format_exception(error))[-1500:]))
        try:
            place = memoryview(text.encode())
            while place:
                place = place[os.write(writer, place) :]
            status = 0
        finally:
            os._exit(status)

    def result(self):
        """What the work returned; Fault where it raised, was ended or does not end."""
        text, hangs = b"", False
        while True:
            left = self.begun + self.seconds - time.monotonic()
            if not select.select([self.reader], [], [], max(left, 0))[0]:
                hangs = True
                os.kill(self.number, signal.SIGKILL)
                break
            part = os.read(self.reader, 1 << 16)
            if not part:
                break
            text += part
        os.close(self.reader)
        status = os.waitstatus_to_exitcode(os.waitpid(self.number, 0)[1])
        if hangs:
            raise cases.Fault(f"hangs for {self.seconds:.0f} s")
        if -status in self.expected or (self.interrupted and (status == 1 or b"KeyboardInterrupt" in text)):
            return None
        if status != 0 or not text:
            raise cases.Fault(f"ended the process ({supervise.ending(status)})")
        how, value = eval(text, {"nan": float("nan"), "inf": float("inf")})
        if how == "raised":
            raise cases.Fault(f"raised:\n{value}")
        return value


def run(work, seconds=60.0, expected=()):
    return Child(work, seconds, expected).result()


class FailingCalls:
    """failing_system_calls.cpp, which has to be preloaded."""

    FAILS, SHORT, EMPTY, DONE_BUT_FAILS, KILLED_BEFORE, KILLED_AFTER, DISTURBED = range(7)
    MOVED_AWAY, REPLACED_BY_LINK, REPLACED_BY_NEW, EMPTIED, CUT_SHORT = range(5)
    FOR_EVER = 1 << 62

    def __init__(self):
        self.calls = calls = ctypes.CDLL(str(library("failing_system_calls")))
        calls.weft_name_of_call.restype = ctypes.c_char_p
        calls.weft_fail_calls.argtypes = [ctypes.c_uint64] * 3 + [ctypes.c_int] * 2
        calls.weft_disturb.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p]
        for name in ("weft_counted_calls", "weft_counted_calls_of", "weft_failed_calls"):
            getattr(calls, name).restype = ctypes.c_uint64
        self.names = [calls.weft_name_of_call(k).decode() for k in range(calls.weft_count_of_calls())]

    def mask(self, name):
        return (1 << len(self.names)) - 1 if name == "any" else 1 << self.names.index(name)

    def fail(self, name, first, last, effect=FAILS, error=5):
        self.calls.weft_fail_calls(self.mask(name), first, last, effect, error)

    def count(self):
        """Begins to count, and lets nothing fail."""
        self.fail("any", self.FOR_EVER, self.FOR_EVER)

    def allow(self):
        self.calls.weft_allow_calls()

    def failed(self):
        return self.calls.weft_failed_calls()

    def counted(self):
        """How many calls there were, by their names."""
        counts = {name: self.calls.weft_counted_calls_of(k) for k, name in enumerate(self.names)}
        return {"any": sum(counts.values()), **{name: count for name, count in counts.items() if count}}

    def disturb(self, what, folder, other):
        self.calls.weft_disturb(what, os.fsencode(folder), os.fsencode(other))
