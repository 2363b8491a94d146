"""Processes that run numbered cases one after another, and what becomes of a case that ends its process or hangs.

A worker prints lines of JSON: {"at": n} before case n, {"failed": n, "message": ...} after one that failed, other
things that the caller is told of, and {"done": true} at its end.
"""

import json
import os
import selectors
import signal
import subprocess
import time


class Workers:
    """Runs ranges of cases in child processes, so many at a time, and goes on behind a case that ended one.

    `command(first, count)` gives a worker's command line and environment. `report(number, message, trace)` hears of
    what failed, `told(message)` of every line, and `stop()` says whether no more is to be begun.
    """

    def __init__(self, command, report, told=lambda message: None, stop=lambda: False, jobs=2,
                 patience=10.0, grace=20.0):  # fmt: skip
        self.command, self.report, self.told, self.stop = command, report, told, stop
        self.jobs, self.patience, self.grace = jobs, patience, grace
        self.started = 0
        self.interrupted = []  # numbers of cases that were told to end
        self.selector = selectors.DefaultSelector()
        self.active = {}

    def run(self, ranges):
        waiting = list(ranges)
        while True:
            while waiting and len(self.active) < self.jobs and not self.stop():
                self.begin(*waiting.pop(0))
            if not self.active:
                return
            for key, _ in self.selector.select(timeout=0.5):
                self.read(key.data)
            for process, state in list(self.active.items()):
                self.read(
                    process
                )  # a report may have taken long, and the process waited for room in the pipe
                self.watch(process, state)
                if process.poll() is not None:
                    rest = self.end(process, state)
                    if rest is not None:
                        waiting.insert(0, rest)
                elif self.stop() and not state["stopping"]:
                    process.terminate()
                    state["stopping"] = True

    def begin(self, first, count):
        command, environment = self.command(first, count)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        for stream in (process.stdout, process.stderr):
            os.set_blocking(stream.fileno(), False)
            self.selector.register(stream, selectors.EVENT_READ, process)
        self.active[process] = {
            "at": first, "end": first + count, "since": time.monotonic(), "text": b"", "trace": b"",
            "begun": False, "told": False, "done": False, "hung": False, "stopping": False,
        }  # fmt: skip

    def read(self, process):
        state = self.active[process]
        state["trace"] = (state["trace"] + (process.stderr.read() or b""))[-4000:]
        *lines, state["text"] = (state["text"] + (process.stdout.read() or b"")).split(b"\n")
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if not isinstance(message, dict):
                continue
            if "at" in message:
                state.update(at=message["at"], since=time.monotonic(), begun=True, told=False, trace=b"")
                self.started += 1
            elif "failed" in message:
                self.report(message["failed"], message["message"], "")
                state["since"] = time.monotonic()  # a report may take long
            elif "done" in message:
                state["done"] = True
            self.told(message)

    def watch(self, process, state):
        """A case that takes long is interrupted as a user would, and the process ended where that does not help."""
        waits = time.monotonic() - state["since"]
        if waits > self.patience + self.grace:
            state["hung"] = True
            process.kill()
            process.wait()
        elif waits > self.patience and not state["told"]:
            state["told"] = True
            self.interrupted.append(state["at"])
            process.send_signal(signal.SIGINT)

    def end(self, process, state):
        """What is left of the range of a process that has ended."""
        self.read(process)
        for stream in (process.stdout, process.stderr):
            self.selector.unregister(stream)
            stream.close()
        del self.active[process]
        if state["done"] or state["stopping"]:
            return None
        trace = state["trace"].decode(errors="replace").strip()[-2000:]
        if not state["begun"]:
            raise RuntimeError(f"a process came to no case ({ending(process.returncode)})\n{trace}")
        number = state["at"]
        how = (
            f"does not end {self.grace:.0f} s after Ctrl-C"
            if state["hung"]
            else f"ended the process ({ending(process.returncode)})"
        )
        self.report(number, how, trace)
        return (number + 1, state["end"] - number - 1) if number + 1 < state["end"] else None


def ending(status):
    """An exit status as text."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
