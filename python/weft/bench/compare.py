"""What became slower between two records of one machine.

Of a case both records have times by rounds. What is compared is weft's time through NumPy's of the same round, since
whatever slows the machine slows both; without NumPy, weft's time. A case is slower when the median grew by more than a
tenth, and by more than three standard errors of the two medians, which the spread of the rounds tells.
"""

import math
import statistics

from weft.bench import measure

LEAST = 0.10
ERRORS = 3


class NotComparable(ValueError):
    """The records are of different machines, or devices."""


def values(row):
    """What stands for a case, round by round."""
    times = row["times"]
    if "weft" not in times:
        return []
    if "numpy" in times:
        return measure.ratios(times["weft"], times["numpy"])
    return [ms for ms in times["weft"] if ms is not None]


def check_machines(old, new):
    before, after = ({"device": "cpu", **run["machine"]} for run in (old, new))
    differing = [name for name in ("cpu", "cores", "device") if before.get(name) != after.get(name)]
    if differing:
        parts = [f"{name} {before.get(name)!r} then, {after.get(name)!r} now" for name in differing]
        raise NotComparable("times of different machines cannot be compared: " + "; ".join(parts))


def changes(old, new):
    """For each case of both records: its name, new median over old, the noise, and "slower", "quicker" or "same".

    Raises NotComparable when the machines differ.
    """
    check_machines(old, new)
    before = {row["name"]: row for row in old["rows"]}
    found = []
    for row in new["rows"]:
        if row["name"] not in before:
            continue
        # A case is compared by what both records have of it.
        pair = [before[row["name"]], row]
        if not all("numpy" in r["times"] for r in pair):
            pair = [{"times": {n: v for n, v in r["times"].items() if n != "numpy"}} for r in pair]
        was, now = (values(r) for r in pair)
        if not was or not now:
            continue
        change = statistics.median(now) / statistics.median(was)
        errors = [measure.error_of_median(v) / statistics.median(v) for v in (was, now)]
        noise = max(LEAST, ERRORS * math.hypot(*errors))
        verdict = "slower" if change > 1 + noise else "quicker" if change < 1 / (1 + noise) else "same"
        found.append({"name": row["name"], "change": change, "noise": noise, "verdict": verdict})
    return found


def report(old, new):
    """Lines of text, and whether something became slower."""
    found = changes(old, new)
    lines = [f"compared with {old['started']} (weft {old['versions'].get('weft')}): {len(found)} cases"]
    for change in sorted(found, key=lambda c: -c["change"]):
        if change["verdict"] != "same":
            lines.append(
                f"{change['verdict']:8} {change['name']:46} {change['change']:.2f} times as long"
                f" (beyond noise: {1 + change['noise']:.2f})"
            )
    slower = [change for change in found if change["verdict"] == "slower"]
    lines.append(f"{len(slower)} slower" if slower else "nothing is slower")
    return lines, bool(slower)
