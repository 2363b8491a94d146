"""The summary at the end of a program: what ran where, what fell back and why, moves, time."""

import sys
import time

from weft import _core
from weft._install import fallbacks

_started = time.perf_counter()
_registered = []


def at_exit(wanted):
    """Prints the summary at the end of the process, if `wanted` says so."""
    if wanted in ("", "0") or _registered:
        return
    import atexit

    _registered.append(True)
    atexit.register(show)


def _duration(seconds):
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"


def _size(count):
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def text():
    """The summary as text."""
    launches = {}
    history = _core.kernel_history()
    for launch in history:
        device = str(launch.get("device", "cpu"))
        calls, seconds = launches.get(device, (0, 0.0))
        launches[device] = calls + 1, seconds + launch.get("seconds", 0.0)
    rows = fallbacks.rows()
    lines = [f"weft: report of process {_process()}, {_duration(time.perf_counter() - _started)}"]
    for device, (calls, seconds) in sorted(launches.items()):
        spent = f", {_duration(seconds)}" if seconds else ""
        lines.append(f"  kernels on {device}: {calls} launches{spent}")
    if not launches:
        lines.append("  no kernels: all work was on small arrays, which weft does at the call")
    for device, stats in _memory().items():
        lines.append(f"  memory on {device}: at most {_size(stats)}")
    if not rows:
        lines.append("  NumPy did nothing for weft")
        return "\n".join(lines)
    whole = sum(row["seconds"] for row in rows)
    moved = sum(row["bytes"] for row in rows)
    lines.append(
        f"  NumPy did {sum(row['calls'] for row in rows)} calls in {_duration(whole)}"
        + (f", {_size(moved)} moved between devices" if moved else "")
    )
    for row in rows[:20]:
        lines.append(
            f"    numpy.{row['function']}: {row['calls']} calls, {_duration(row['seconds'])}, {row['line']}: "
            f"{row['reason']}"
        )
    if len(rows) > 20:
        lines.append(f"    and {len(rows) - 20} more")
    return "\n".join(lines)


def _process():
    import os

    return os.getpid()


def _memory():
    return {}


def show():
    """Prints the summary to standard error."""
    print(text(), file=sys.stderr)
