"""weft.profile(): what ran, where the time went. docs/guide/profiling.md"""

from weft import _core


class profile:
    """A `with` block whose kernels, products and copies are timed on their devices.

    evaluate: whether what the program holds and has not looked at is computed at the end of the block; it would not
    be seen otherwise.

    print() shows a table: work of one kind from one place in the program, with its calls, time, bytes, and how much of
    the memory's bandwidth that is. `works` is a list of dictionaries, one for each launch: name, device, start,
    seconds, bytes_read, bytes_written, elements, operations, lines (those that recorded what it computes),
    compile_seconds, by_blocks (it ran before it was compiled), fallback (why the CPU did it), is_copy, and of the
    host: host_start, host_seconds, thread. save() writes a trace for Chrome's about:tracing, Perfetto or speedscope.

    Where NVIDIA's NVTX library is found, each kernel is a range in their profilers. Work on a few elements, which weft
    does at the call without a kernel, is not seen. Outside of such blocks nothing is collected.

    >>> with np.profile() as p:
    ...     total = (np.arange(1e6) * 2).sum()
    >>> len(p.works) > 0
    True
    """

    def __init__(self, *, evaluate=True):
        self._evaluate = evaluate
        self._running = None
        self.works = []

    def __enter__(self):
        if self._running is not None:
            raise RuntimeError("this profile is running already")
        self.works = []
        self._running = _core._begin_profile()
        return self

    def __exit__(self, *exception):
        try:
            if self._evaluate and exception[0] is None:
                _core._evaluate_held()
        finally:
            running, self._running = self._running, None
            self.works = _core._end_profile(running)

    @property
    def seconds(self):
        """The time of all that ran, as if it had run one after the other."""
        return _total(work["seconds"] for work in self.works)

    def table(self):
        """What print() shows, as a list of dictionaries, the longest time first.

        bandwidth is in bytes a second; peak is the device's, None for copies between devices. The CPU's is measured
        when it is first asked for, which takes some tenths of a second.
        """
        rows = {}
        for work in self.works:
            key = (work["name"], work["device"], work["fallback"], tuple(work["lines"]))
            row = rows.setdefault(
                key,
                {
                    "name": work["name"],
                    "device": work["device"],
                    "calls": 0,
                    "seconds": 0.0,
                    "bytes": 0,
                    "compile_seconds": 0.0,
                    "lines": work["lines"],
                    "fallback": work["fallback"],
                    "peak": None if work["is_copy"] else _core._peak_bandwidth(work["device"]) or None,
                },
            )
            row["calls"] += 1
            row["seconds"] += work["seconds"]
            row["bytes"] += work["bytes_read"] + (0 if work["is_copy"] else work["bytes_written"])
            row["compile_seconds"] += work["compile_seconds"]
        for row in rows.values():
            row["bandwidth"] = row["bytes"] / row["seconds"] if row["seconds"] > 0 else 0.0
        return sorted(rows.values(), key=lambda row: -row["seconds"])

    def __repr__(self):
        if not self.works:
            return "weft.profile: nothing ran"
        whole = self.seconds or 1.0
        lines = [
            f"{'time':>10} {'part':>5} {'calls':>6} {'mean':>10} {'GB/s':>8} {'of peak':>7}  what and where",
        ]
        for row in self.table():
            peak = "" if row["peak"] is None else f"{row['bandwidth'] / row['peak']:.0%}"
            compiled = (
                f", compiled in {row['compile_seconds'] * 1e3:.1f} ms" if row["compile_seconds"] else ""
            )
            lines.append(
                f"{_time(row['seconds']):>10} {row['seconds'] / whole:>5.0%} {row['calls']:>6} "
                f"{_time(row['seconds'] / row['calls']):>10} {row['bandwidth'] / 1e9:>8.1f} {peak:>7}  "
                f"{row['name']} on {row['device']}{compiled}"
            )
            if row["fallback"]:
                lines.append(f"{'':>53}on the CPU: {row['fallback']}")
            lines.extend(f"{'':>53}{line}" for line in row["lines"])
        lines.append(f"{_time(self.seconds):>10}  in {len(self.works)} launches")
        return "\n".join(lines)

    def save(self, path):
        """Writes the trace to a file: JSON, as Chrome's trace events."""
        from json import dump

        processes = {"host": 1}
        threads = {}
        events = []
        for work in self.works:
            thread = threads.setdefault(work["thread"], len(threads) + 1)
            facts = {
                "bytes": work["bytes_read"] + work["bytes_written"],
                "elements": work["elements"],
                "operations": work["operations"],
                "lines": work["lines"],
            }
            if work["seconds"] > 0:
                facts["GB/s"] = round(facts["bytes"] / work["seconds"] / 1e9, 3)
            if work["fallback"]:
                facts["on the CPU"] = work["fallback"]
            if work["compile_seconds"]:
                facts["compiled in ms"] = work["compile_seconds"] * 1e3
            on_gpu = work["device"] != "cpu" and not work["fallback"]
            host = {
                "pid": 1,
                "tid": thread,
                "ts": work["host_start"] * 1e6,
                "dur": work["host_seconds"] * 1e6,
            }
            events.append(
                {
                    "ph": "X",
                    "cat": "launch" if on_gpu else "kernel",
                    "name": work["name"],
                    **host,
                    "args": facts,
                }
            )
            if on_gpu:
                process = processes.setdefault(work["device"], len(processes) + 1)
                there = {"pid": process, "tid": 1, "ts": work["start"] * 1e6, "dur": work["seconds"] * 1e6}
                events.append({"ph": "X", "cat": "kernel", "name": work["name"], **there, "args": facts})
        names = [
            {"ph": "M", "name": "process_name", "pid": number, "args": {"name": name}}
            for name, number in processes.items()
        ]
        with open(path, "w", encoding="utf-8") as file:
            dump({"traceEvents": names + events, "displayTimeUnit": "ms"}, file)


def _total(values):
    result = 0.0
    for value in values:
        result += value
    return result


def _time(seconds):
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3f} {unit}"
    return f"{seconds * 1e6:.1f} µs"
