"""Shows what run.py measured: a line for each case as it comes, and at the end JSON and a table in Markdown."""

import json
import math

HEADINGS = (
    "row",
    "case",
    "weft ms",
    "±",
    "first",
    "kernels",
    "peak MB",
    "NumPy's",
    "keeps",
    "limit ms",
    "part",
    "ratio",
    "±",
    "goal",
    "bar",
)
SMALL_MEGABYTES = 0.3  # partial results of all threads, the last page of a result
WIDTHS = (3, 46, 9, 7, 8, 7, 7, 7, 5, 8, 5, 6, 5, 10, 10)


def cells(row):
    """The columns of HEADINGS, as text; empty where there is nothing to say."""

    def number(value, digits):
        return "" if value is None or math.isnan(value) else f"{value:.{digits}f}"

    def aim(value, met):
        return "" if value is None or math.isnan(value) else f"{value:.2f} {'met' if met else 'short'}"

    ms, kernels = row["medians"].get("weft"), row["kernels"]
    digits = 3 if ms is not None and ms < 10 else 1
    goal = aim(row["goal"], row.get("goal_met"))
    if math.isnan(row["goal"]) and row.get("goal_met") is not None:
        goal = "met" if row["goal_met"] else "short"
    return (
        str(row["row"]), row["name"], number(ms, digits), number(row["spreads"].get("weft"), digits),
        number(row.get("first", {}).get("weft"), 1), "" if kernels is None else str(kernels["kernels"]),
        number(row["peak_megabytes"].get("weft"), 1), number(row["peak_megabytes"].get("numpy"), 1),
        number(row["kept_megabytes"].get("numpy"), 1), number(row["limit_ms"], digits),
        number(row.get("part_of_limit"), 2), number(row.get("ratio"), 2), number(row.get("ratio_spread"), 2),
        goal, aim(row.get("bar"), row.get("bar_met")),
    )  # fmt: skip


def peers(row):
    """The peers, and weft with other settings, the quickest first."""
    return sorted((ms, name) for name, ms in row["medians"].items() if name != "weft")


def line(texts):
    return " ".join(
        text.ljust(width) if width == WIDTHS[1] else text.rjust(width)
        for text, width in zip(texts, WIDTHS, strict=True)
    )


def print_head(run):
    versions = run["versions"]
    absent = [name for name, version in versions.items() if version is None]
    print(f"{run['machine']['cpu']}, {run['machine']['cores']} cores; "
          + ", ".join(f"{name} {version}" for name, version in versions.items() if version is not None)
          + (f"; not installed: {', '.join(absent)} (make bench-peers)" if absent else ""))  # fmt: skip
    print(line(HEADINGS), "  peers, ms", flush=True)


def print_row(row):
    if "weft" not in row["medians"]:
        print(f"{row['row']:>3} {row['name']:46} weft: {row['failed'].get('weft', 'absent')}", flush=True)
        return
    print(line(cells(row)), "  " + "  ".join(f"{name} {ms:.2f} ±{row['spreads'][name]:.2f}" for ms, name in peers(row))
          + (f"  ({row['note']})" if row["note"] else ""), flush=True)  # fmt: skip
    for name, message in {**row["wrong"], **row["failed"]}.items():
        print(f"{'':4}{name}: {message}", flush=True)


def totals(run):
    """What is to be said of all rows together."""
    rows = [row for row in run["rows"] if "ratio" in row]
    goals = [row["goal_met"] for row in rows if row.get("goal_met") is not None]
    texts = [
        f"{sum(goals)} of {len(goals)} goals met",
        f"{sum(row['bar_met'] for row in rows)} of {len(rows)} bars met",
    ]
    against = [row["numpy_ratio"] for row in rows if "numpy_ratio" in row]
    if against:
        mean = math.exp(-sum(map(math.log, against)) / len(against))
        texts.append(
            f"NumPy beaten in {sum(r < 1 for r in against)} of {len(against)} rows, {mean:.2f} times (geometric mean)"
        )
    both = [row for row in rows if None not in map(row["peak_megabytes"].get, ("weft", "numpy"))]
    if both:
        more = [
            row["name"] for row in both
            if row["peak_megabytes"]["weft"]
            > row["peak_megabytes"]["numpy"] + row["kept_megabytes"]["numpy"] + SMALL_MEGABYTES
        ]  # fmt: skip
        texts.append(
            f"more memory than NumPy in {len(more)} of {len(both)} rows"
            + (f" ({'; '.join(more)})" if more else "")
        )
    for setting in {name: None for row in run["rows"] for name in row.get("settings", {})}:
        costs = [
            (row["settings"][setting], row["name"])
            for row in run["rows"]
            if setting in row.get("settings", {})
        ]
        mean = math.exp(sum(math.log(cost) for cost, _ in costs) / len(costs))
        texts.append(
            f"{setting}: {mean:.2f} of weft's time (geometric mean of {len(costs)} rows),"
            f" at most {max(costs)[0]:.2f} ({max(costs)[1]})"
        )
    if run["gigabytes_per_second"]:
        texts.append(f"triad {run['gigabytes_per_second']:.1f} GB/s")
    return "; ".join([*texts, f"{run['minutes']:.1f} minutes"])


def print_tail(run):
    print(totals(run), flush=True)


def markdown(run):
    shown = (*HEADINGS, "best peers, ms")
    left = (1, len(shown) - 1)
    lines = [
        f"{run['machine']['cpu']}, {run['machine']['cores']} cores, {run['started']}; "
        + ", ".join(f"{name} {version}" for name, version in run["versions"].items() if version is not None)
        + f". {totals(run)}.",
        "",
        "| " + " | ".join(shown) + " |",
        "|" + "|".join(" --- " if k in left else " ---: " for k in range(len(shown))) + "|",
    ]
    for row in run["rows"]:
        best = ", ".join(
            f"{name} {ms:.2f}" for ms, name in [each for each in peers(row) if "=" not in each[1]][:3]
        )
        texts = [*cells(row), best or row["failed"].get("weft", "")]
        lines.append("| " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def write(run, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "benchmarks.json").write_text(json.dumps(run, indent=1))
    (folder / "benchmarks.md").write_text(markdown(run))
    print(f"written: {folder / 'benchmarks.json'}, {folder / 'benchmarks.md'}")
