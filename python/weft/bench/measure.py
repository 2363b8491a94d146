"""Times pieces of work in turns, so that whatever else the machine does falls on all of them alike."""

import math
import statistics
import time

import numpy


def calls_a_turn(work, seconds_a_turn):
    """How many calls of `work` fill a turn, found by doubling; its first calls are the warm-up."""
    calls = 1
    work(1)
    while True:
        start = time.perf_counter()
        work(calls)
        elapsed = time.perf_counter() - start
        if elapsed >= seconds_a_turn / 2 or calls >= 1 << 20:
            return max(1, round(calls * seconds_a_turn / max(elapsed, 1e-9)))
        calls *= 2


def in_turns(works, seconds, seconds_a_turn=0.03, least=5, most=61):
    """Milliseconds of a call of each work, round by round.

    `works` has functions of the number of calls that they are to make. Each round asks all of them, in rotating order,
    for as many calls as fill `seconds_a_turn`. Rounds end after `seconds`, but there are at least `least` of them.

    >>> times = in_turns({"a": lambda calls: sum(range(calls)), "b": lambda calls: None}, seconds=0.01)
    >>> sorted(times), len(times["a"]) == len(times["b"]) >= 5
    (['a', 'b'], True)
    """
    calls = {name: calls_a_turn(work, seconds_a_turn) for name, work in works.items()}
    times = {name: [] for name in works}
    names = list(works)
    start = time.monotonic()
    for number in range(most):
        if number >= least and time.monotonic() - start > seconds:
            break
        for name in names[number % len(names) :] + names[: number % len(names)]:
            began = time.perf_counter()
            works[name](calls[name])
            times[name].append((time.perf_counter() - began) * 1e3 / calls[name])
    return times


def ratios(ours, theirs):
    """Of the rounds in which both took part, with None where one did not."""
    return [a / b for a, b in zip(ours, theirs, strict=True) if a is not None and b is not None]


def spread(values):
    """Half the distance of the quartiles."""
    if len(values) < 4:
        return (max(values) - min(values)) / 2
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 2


def error_of_median(values):
    """The standard error of a median, of what is spread normally: 1.25 deviations by the root of their number, of which
    the quartiles are 0.67 apart from the middle."""
    return 1.25 * spread(values) / 0.67 / math.sqrt(len(values))


def difference(expected, actual, tolerance, stray=0):
    """What tells two arrays apart, as text: shape, dtype, or more than `stray` elements that differ by more than
    `tolerance`; else None."""
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return f"{actual.dtype} {actual.shape}, not {expected.dtype} {expected.shape}"
    if numpy.array_equal(expected, actual):
        return None
    if expected.dtype.kind not in "?biufc":
        return "differs"
    e, a = expected.astype("f8"), actual.astype("f8")
    scale = numpy.maximum(numpy.abs(e), 1e-3 * numpy.abs(e).max())
    relative = numpy.abs(a - e) / numpy.where(scale == 0, 1, scale)
    if numpy.count_nonzero(~(relative <= tolerance)) <= stray:
        return None
    return f"differs by {float(relative.max()):.1e} (allowed: {tolerance:.0e})"
