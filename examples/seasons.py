"""The CO2 in the air above Mauna Loa as a smooth rise and yearly terms, by least squares.

python examples/seasons.py [weft|numpy]
"""

import importlib
import pathlib
import sys
import time
from datetime import date

import numpy
import periodogram

POWERS, HARMONICS = 4, 3


def series():
    """Years since the first sample and the CO2 (ppmv); missing weeks are left out."""
    lines = (line.split(",") for line in periodogram.SERIES.read_text().split()[1:])
    samples = [(date.fromisoformat(day).toordinal(), float(value)) for day, value in lines if value]
    days, co2 = numpy.array(samples).T
    return (days - days[0]) / 365.2425, co2


def terms(np, t):
    """The columns of the fit: powers of the time, and sines and cosines of a year and its parts."""
    middle = t - t.mean()
    phase = 2 * np.pi * t[:, None] * np.arange(1, HARMONICS + 1)
    return np.concatenate([middle[:, None] ** np.arange(POWERS), np.cos(phase), np.sin(phase)], axis=1)


def fit(np, t, co2):
    """The coefficients, the fitted series, and how far the samples lie from it (standard deviation, ppmv)."""
    columns = terms(np, t)
    coefficients, squares, _, _ = np.linalg.lstsq(columns, co2)
    return coefficients, columns @ coefficients, np.sqrt(squares[0] / (len(co2) - columns.shape[1]))


def report(result):
    coefficients, _, spread = (numpy.asarray(part) for part in result)
    yearly = numpy.hypot(coefficients[POWERS], coefficients[POWERS + HARMONICS])
    return f"a rise of {coefficients[1]:.2f} ppmv a year, ±{yearly:.2f} ppmv with the seasons, ±{spread:.2f} beside it"


def picture(path, t, co2, fitted):
    from matplotlib import pyplot

    figure, (above, below) = pyplot.subplots(
        2, 1, figsize=(7, 4.4), sharex=True, height_ratios=[2.4, 1], layout="constrained"
    )
    above.plot(1958.24 + t, co2, ".", markersize=1.5, label="samples")
    above.plot(1958.24 + t, fitted, linewidth=0.7, label="fit")
    above.set(ylabel="CO2 (ppmv)", title="CO2 above Mauna Loa: a cubic and yearly terms")
    above.legend(frameon=False)
    below.plot(1958.24 + t, co2 - fitted, linewidth=0.6)
    below.set(ylabel="difference")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


if __name__ == "__main__":
    np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "weft")
    t, co2 = (np.asarray(x) for x in series())
    start = time.perf_counter()
    result = [numpy.asarray(part) for part in fit(np, t, co2)]
    elapsed = (time.perf_counter() - start) * 1e3
    print(f"{report(result)}, in {elapsed:.2f} ms")
    out = pathlib.Path("out")
    out.mkdir(exist_ok=True)
    picture(out / "seasons.png", *(numpy.asarray(x) for x in (t, co2, result[1])))
    print(f"fit: {out / 'seasons.png'}")
