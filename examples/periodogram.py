"""Lomb-Scargle periodogram of the CO2 in the air above Mauna Loa: weekly, with weeks missing, so unevenly sampled.

python examples/periodogram.py [weft|numpy]
"""

import importlib
import pathlib
import sys
import time
from datetime import date

import numpy

SERIES = pathlib.Path(__file__).parent / "data" / "mauna_loa_co2.csv"


def series():
    """Years since the first sample, and the CO2 (ppmv) without its smooth rise; missing weeks are left out."""
    lines = (line.split(",") for line in SERIES.read_text().split()[1:])
    samples = [(date.fromisoformat(day).toordinal(), float(value)) for day, value in lines if value]
    days, co2 = numpy.array(samples).T
    years = (days - days[0]) / 365.2425
    middle = years - years.mean()
    return years, co2 - numpy.polyval(numpy.polyfit(middle, co2, 3), middle)


def frequencies(steps=2**13):
    """Cycles a year."""
    return numpy.linspace(0.1, 4, steps)


def periodogram(np, t, y, f):
    """The part of the variance of `y` that a sinusoid of each frequency explains: Lomb 1976, Scargle 1982."""
    w = 2 * np.pi * f
    phase = w[:, None] * t
    c, s = np.cos(phase), np.sin(phase)
    yc, ys = (y * c).sum(axis=1), (y * s).sum(axis=1)
    cc, ss, cs = (c * c).sum(axis=1), (s * s).sum(axis=1), (c * s).sum(axis=1)
    shift = 0.5 * np.arctan2(2 * cs, cc - ss)
    ct, st = np.cos(shift), np.sin(shift)
    along = (ct * yc + st * ys) ** 2 / (ct * ct * cc + 2 * ct * st * cs + st * st * ss)
    across = (ct * ys - st * yc) ** 2 / (ct * ct * ss - 2 * ct * st * cs + st * st * cc)
    return (along + across) / (y * y).sum()


def peak(f, power, low, high):
    """The frequency of the largest power between two frequencies; NumPy arrays."""
    inside = numpy.flatnonzero((f > low) & (f < high))
    return f[inside[power[inside].argmax()]]


def report(f, power):
    yearly, half_yearly = peak(f, power, 0.7, 1.3), peak(f, power, 1.7, 2.3)
    return f"periods of {365.2425 / yearly:.1f} and {365.2425 / half_yearly:.1f} days"


def picture(path, f, power):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    axes.semilogy(f, power, linewidth=0.8)
    for frequency, name in ((peak(f, power, 0.7, 1.3), "a year"), (peak(f, power, 1.7, 2.3), "half a year")):
        height = power[f == frequency][0]
        axes.annotate(
            f"{name}: {365.2425 / frequency:.1f} days",
            (frequency, height),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
        )
    axes.set(
        xlabel="cycles a year",
        ylabel="part of the variance",
        title="CO2 above Mauna Loa, 1958 to 2001, without its rise",
        xlim=(0, 4),
        ylim=(1e-6, 2),
    )
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


if __name__ == "__main__":
    np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "weft")
    f = frequencies()
    t, y = (np.asarray(x) for x in series())
    start = time.perf_counter()
    power = numpy.asarray(periodogram(np, t, y, np.asarray(f)))
    elapsed = (time.perf_counter() - start) * 1e3
    print(f"{report(f, power)}, from {t.size} samples at {f.size} frequencies in {elapsed:.1f} ms")
    out = pathlib.Path("out")
    out.mkdir(exist_ok=True)
    picture(out / "periodogram.png", f, power)
    print(f"spectrum: {out / 'periodogram.png'}")
