"""What NumPy does for weft: counted by the program's line, and refused or warned of where that is asked for."""

import os
import sys
import threading
import time

from weft import _core

_MODES = ("silent", "warn", "error")
_counted = {}
_lock = threading.Lock()  # of _counted and its entries: threads count at once
_state = {"mode": None}


class Count:
    """The calls of one function from one line of the program."""

    __slots__ = ("bytes", "calls", "function", "line", "reason", "seconds")

    def __init__(self, function, reason, line):
        self.function, self.reason, self.line = function, reason, line
        self.calls, self.bytes, self.seconds = 0, 0, 0.0


def get_mode():
    """What weft.config.fallback is; WEFT_FALLBACK is what it is at first."""
    if _state["mode"] is None:
        set_mode(os.environ.get("WEFT_FALLBACK") or "silent")
    return _state["mode"]


def set_mode(mode):
    if mode not in _MODES:
        raise ValueError(f"fallback is one of {', '.join(_MODES)}, not {mode!r}")
    _state["mode"] = mode


def _package_of(frame):
    return (frame.f_globals.get("__name__") or "").partition(".")[0]


def _place_of_program():
    """File and line of the nearest caller that is neither weft's nor NumPy's."""
    frame = sys._getframe(1)
    while frame is not None and _package_of(frame) in ("weft", "numpy"):
        frame = frame.f_back
    return ("?", None) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def line_of_program():
    """The same as a text."""
    file, line = _place_of_program()
    return file if line is None else f"{file}:{line}"


def _entry_of(function, reason):
    """With the lock held."""
    file, line = _place_of_program()
    key = function, reason, file, line
    entry = _counted.get(key)
    if entry is None:
        text = file if line is None else f"{file}:{line}"
        entry = _counted[key] = Count(function, reason, text)
    return entry


def counted(function, reason):
    """Counts a use of something of NumPy's that is no call."""
    with _lock:
        _entry_of(function, reason).calls += 1


class counting:
    """Counts what its block does as one call of a function by NumPy; `bytes` may be added to."""

    __slots__ = ("_entry", "_start", "bytes")

    def __init__(self, function, reason):
        mode = get_mode()
        if mode == "error":
            raise NotImplementedError(
                f"{function} would be done by NumPy ({reason}), and config.fallback is 'error'"
            )
        if mode == "warn":
            import warnings

            warnings.warn(f"{function} is done by NumPy: {reason}", RuntimeWarning, stacklevel=4)
        with _lock:
            self._entry = _entry_of(function, reason)
        self.bytes = 0

    def __enter__(self):
        self._start = time.perf_counter()
        return self

    def __exit__(self, *exception):
        entry, seconds = self._entry, time.perf_counter() - self._start
        with _lock:
            entry.seconds += seconds
            entry.calls += 1
            entry.bytes += self.bytes


class calling(counting):
    """Counts what its block does as one call of a function by Python: one of the program's that was not compiled."""

    __slots__ = ()

    def __init__(self, function, reason):
        if get_mode() == "warn":
            import warnings

            warnings.warn(f"{function} calls Python for each element: {reason}", RuntimeWarning, stacklevel=4)
        with _lock:
            self._entry = _entry_of(function, reason)
        self.bytes = 0


def copied_to_host(bytes, device):
    """Counts, or refuses, a copy of an array for NumPy that nobody else counts: numpy.asarray(x)."""
    if _package_of(sys._getframe(1)) != "weft":  # the binding has no frame: this is who asks for the copy
        with counting(
            "numpy.asarray", f"the array is on {device}; x.to_device('cpu') copies it, too"
        ) as count:
            count.bytes = bytes


def _of_the_engine():
    """The fallbacks in the history of kernels, which has no lines of the program."""
    found = {}
    for record in _core.kernel_history():
        reason = record["fallback"]
        if not reason:
            continue
        entry = found.get(reason)
        if entry is None:
            entry = found[reason] = Count(record["name"], reason, "?")
        entry.calls += 1
        entry.bytes += record["bytes_read"]
        entry.seconds += record["seconds"]
    return list(found.values())


class FallbackReport(list):
    """Rows as dictionaries, the longest time first; printed, a table."""

    def __repr__(self):
        if not self:
            return "nothing fell back"
        lines = [f"{'seconds':>9} {'calls':>7} {'bytes':>12}  function"]
        for row in self:
            lines.append(f"{row['seconds']:9.4f} {row['calls']:7d} {row['bytes']:12d}  {row['function']}")
            lines.append(f"{'':31} {row['reason']}, at {row['line']}")
        return "\n".join(lines)


def fallback_report():
    """What NumPy, Python or the CPU did because weft, or a GPU, does not do it: function, reason, calls, bytes that
    were moved between devices, seconds, and the line of the program, the longest time first.

    >>> np.clear_fallbacks()
    >>> days = np.array(["2026-01-02", "2026-01-01"], "M8[D]")
    >>> [(row["function"], row["reason"]) for row in np.fallback_report()]
    [('array', 'dtype <M8[D]')]
    """
    rows = sorted(
        [*_counted.copy().values(), *_of_the_engine()], key=lambda entry: (-entry.seconds, entry.function)
    )
    return FallbackReport(
        {name: getattr(row, name) for name in ("function", "reason", "calls", "bytes", "seconds", "line")}
        for row in rows
    )


def clear_fallbacks():
    """Forgets what fallback_report() has counted, and with it the history of kernels, which has the engine's part.

    >>> np.clear_fallbacks()
    >>> np.fallback_report()
    nothing fell back
    """
    _counted.clear()
    _core.clear_kernel_history()
