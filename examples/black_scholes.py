"""Black-Scholes prices of two million European call options.

python examples/black_scholes.py [weft|numpy] [float32|float64]
"""

import importlib
import sys
import time

import numpy


def inputs(dtype="float64", size=2_000_000):
    """Spot prices, strike prices and years to expiry of `size` options."""
    spot, strike, years = numpy.random.default_rng(3).random((3, size))
    return tuple(x.astype(dtype) for x in (60 + 80 * spot, 80 + 40 * strike, 0.1 + 1.9 * years))


def call_price(np, erf, spot, strike, years, rate=0.02, volatility=0.3):
    """Price of a call; `erf` is `scipy.special.erf` of the array module at hand."""

    def normal_cdf(z):
        return 0.5 * (1 + erf(z * 0.7071067811865476))

    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    return spot * normal_cdf(d1) - strike * np.exp(-rate * years) * normal_cdf(d2)


def special(np):
    """The `scipy.special` that belongs to the array module `np`."""
    package = {"numpy": "scipy", "cupy": "cupyx.scipy"}.get(np.__name__, np.__name__ + ".scipy")
    return importlib.import_module(package + ".special")


def picture(path, spot, strike, years, price):
    from matplotlib import pyplot

    some = slice(0, 12_000)
    figure, axes = pyplot.subplots(figsize=(7, 4.6), layout="constrained")
    points = axes.scatter(
        (spot / strike)[some], (price / strike)[some], c=years[some], s=5, cmap="viridis", linewidths=0
    )
    axes.axline((1, 0), slope=1, color="black", linewidth=0.8, linestyle="--")
    axes.set(
        xlabel="spot price / strike price",
        ylabel="price of the call / strike price",
        title=f"{some.stop:,} of {price.size:,} call options",
        xlim=(0.5, 1.75),
        ylim=(-0.01, 0.85),
    )
    axes.annotate(
        "worth at once", (1.52, 0.52), rotation=0, xytext=(1.5, 0.38), arrowprops={"arrowstyle": "-"}
    )
    figure.colorbar(points, label="years to expiry")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


if __name__ == "__main__":
    np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "weft")
    options = tuple(np.asarray(x) for x in inputs(sys.argv[2] if len(sys.argv) > 2 else "float64"))
    start = time.perf_counter()
    price = call_price(np, special(np).erf, *options)
    mean = float(price.mean())
    print(f"mean price {mean:.4f} of {price.size} options in {(time.perf_counter() - start) * 1e3:.1f} ms")
