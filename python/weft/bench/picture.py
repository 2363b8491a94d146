"""Pictures of the results, with matplotlib."""

import math

from weft.bench import curves

COLOURS = {"cpu": "#2a6f97", "gpu": "#e07a1f"}


def new_figure(width, height, **more):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained", facecolor="white", **more)


def save(figure, path):
    from matplotlib import pyplot

    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def speedups(series, path, title, caption=""):
    """Bars of how many times quicker than NumPy weft is, on a log axis.

    `series` is {label: (colour, {case: NumPy's time over weft's})}; a case may be in some only.
    """
    names = list(dict.fromkeys(name for _, values in series.values() for name in values))
    figure, axes = new_figure(8.4, 1.4 + (0.17 + 0.09 * len(series)) * len(names))
    height = 0.8 / len(series)
    most = max(value for _, values in series.values() for value in values.values())
    for k, (label, (colour, values)) in enumerate(series.items()):
        for position, name in enumerate(names):
            if name in values:
                value, y = values[name], position + (k - (len(series) - 1) / 2) * height
                axes.barh(y, value - 1, height * 0.9, left=1, color=colour, label=label, zorder=2)
                axes.annotate(
                    f"{value:.3g}", (max(value, 1), y), xytext=(3, 0), textcoords="offset points", va="center",
                    fontsize=7, color="#333333",
                )  # fmt: skip
                label = None
    axes.set_xscale("log")
    least = min(1, *(value for _, values in series.values() for value in values.values()))
    axes.set_xlim(least * 0.9, most * 1.8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    ticks = [t * 10**k for k in range(-1, 1 + math.ceil(math.log10(most))) for t in (1, 2, 5)]
    axes.set_xticks([t for t in ticks if least * 0.9 <= t <= most * 1.8])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    axes.minorticks_off()
    axes.tick_params(axis="x", labelsize=8)
    axes.axvline(1, color="#333333", linewidth=1, zorder=3)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6, zorder=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(caption, fontsize=8)
    if len(series) > 1:
        axes.legend(loc="lower right", fontsize=8, frameon=False)
    save(figure, path)


def of_run(run, path, caption):
    """The bars of one record, in the order of its cases."""
    where = run["machine"].get("device", "cpu")
    values = {row["name"]: 1 / row["numpy_ratio"] for row in run["rows"] if "numpy_ratio" in row}
    if values:
        colour = COLOURS["cpu" if where == "cpu" else "gpu"]
        speedups({where: (colour, values)}, path, "How many times quicker than NumPy", caption)


def of_curves(recorded, path, caption=""):
    """A panel for each operation: both times against the number of elements, and what is over the bar marked."""
    points = recorded["sizes"]
    operations = list(dict.fromkeys(p["operation"] for p in points))
    columns = min(4, len(operations))
    rows = math.ceil(len(operations) / columns)
    figure, axes = new_figure(
        2.5 * columns, 2.1 * rows + 0.5, nrows=rows, ncols=columns, sharex=True, squeeze=False
    )
    for k, panel in enumerate(axes.flat):
        if k >= len(operations):
            panel.set_visible(False)
            continue
        mine = [p for p in points if p["operation"] == operations[k]]
        sizes = [p["size"] for p in mine]
        panel.loglog(
            sizes, [p["numpy_ms"] * 1e3 for p in mine], color="#888888", label="NumPy", linewidth=1.2
        )
        panel.loglog(
            sizes, [p["weft_ms"] * 1e3 for p in mine], color=COLOURS["cpu"], label="weft", linewidth=1.2
        )
        above = [p for p in mine if p["ratio"] > curves.BAR]
        panel.loglog(
            [p["size"] for p in above], [p["weft_ms"] * 1e3 for p in above], ".", color="#c1121f",
            label=f"over {curves.BAR} × NumPy's",
        )  # fmt: skip
        panel.set_title(operations[k], fontsize=8, family="monospace")
        panel.grid(color="#e5e5e5", linewidth=0.5)
        panel.tick_params(labelsize=7)
    figure.supxlabel("elements" + ("\n" + caption if caption else ""), fontsize=8)
    figure.supylabel("microseconds a statement", fontsize=8)
    handles = {
        label: handle for panel in axes.flat for handle, label in zip(*panel.get_legend_handles_labels())
    }
    figure.legend(
        handles.values(), handles.keys(), loc="outside upper center", ncols=3, fontsize=8, frameon=False
    )
    save(figure, path)
