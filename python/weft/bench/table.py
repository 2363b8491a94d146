"""The results as lines of text."""

import math

HEAD = f"{'case':46} {'weft ms':>10} {'NumPy ms':>10} {'ratio':>6} {'±':>5}  agrees?"


def described(run):
    """The machine, and the versions of what was timed."""
    machine = run["machine"]
    where = "" if machine.get("device", "cpu") == "cpu" else f", weft on {machine['device']}"
    known = ", ".join(f"{name} {version}" for name, version in run["versions"].items() if version)
    return f"{machine['cpu']}, {machine['cores']} cores{where}; {known}; {run['started']}"


def number(value, width=10):
    if value is None:
        return " " * (width - 1) + "-"
    digits = 4 if value < 0.1 else 3 if value < 10 else 1
    return f"{value:{width}.{digits}f}"


def line(row):
    """A case's line: times, weft's through NumPy's, whether the results agree, and other peers."""
    medians = row["medians"]
    ratio = row.get("numpy_ratio")
    ratios = f"{'-':>6} {'':>5}" if ratio is None else f"{ratio:6.2f} {row.get('numpy_ratio_spread', 0):5.2f}"
    if "weft" in row["failed"]:
        agrees = row["failed"]["weft"]
    elif "weft" in row["wrong"]:
        agrees = "NO: " + row["wrong"]["weft"]
    else:
        agrees = "yes" if "numpy" in medians else row["failed"].get("numpy", "-")
    others = [f"{name} {number(ms, 0)} ms" for name, ms in medians.items() if name not in ("weft", "numpy")]
    others += [f"{name}: {why}" for name, why in row["failed"].items() if name not in ("weft", "numpy")]
    text = f"{row['name'][:46]:46} {number(medians.get('weft'))} {number(medians.get('numpy'))} {ratios}  {agrees}"
    return "  ".join([text, *others])


def total(run):
    """How weft did against NumPy in all cases together."""
    against = [row["numpy_ratio"] for row in run["rows"] if "numpy_ratio" in row]
    if not against:
        return "nothing to compare"
    mean = math.exp(-sum(map(math.log, against)) / len(against))
    return (
        f"ratio: weft's time over NumPy's, less is better. weft is quicker in {sum(r < 1 for r in against)} of"
        f" {len(against)}, {mean:.2f} times in the geometric mean"
    )


def point(p):
    """A line of the curves."""
    return (
        f"{p['operation']:24} {p['size']:>11,} {p['threads']:>3} threads {p['weft_ms'] * 1e3:13.3f}"
        f" {p['numpy_ms'] * 1e3:13.3f} us {p['ratio']:6.2f} ±{p['ratio_spread']:.2f}"
    )
