"""Prices of options by Black and Scholes, and the volatility that a price implies, by guarded Newton steps.

python examples/programs/implied_volatility.py [options]
"""

import sys

import numpy as np

SIZE = 200_000


def normal_cdf(x):
    """Abramowitz and Stegun, 26.2.17."""
    t = 1 / (1 + 0.2316419 * np.abs(x))
    series = np.polyval([1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530, 0.0], t)
    tail = series * np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)
    return np.where(x >= 0, 1 - tail, tail)


def price_and_vega(spot, strike, years, rate, volatility, is_call):
    root = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + rate * years) / root + 0.5 * root
    d2 = d1 - root
    discounted = strike * np.exp(-rate * years)
    call = spot * normal_cdf(d1) - discounted * normal_cdf(d2)
    put = discounted * normal_cdf(-d2) - spot * normal_cdf(-d1)
    vega = spot * np.sqrt(years) * np.exp(-0.5 * d1 * d1) / np.sqrt(2 * np.pi)
    return np.where(is_call, call, put), vega


def main(size=SIZE, rate=0.02, rounds=12):
    rng = np.random.default_rng(24)
    spot = rng.uniform(80, 120, size)
    strike = np.round(spot * rng.uniform(0.8, 1.25, size))
    years = rng.integers(30, 720, size) / 360
    smile = 0.2 + 0.3 * np.log(strike / spot) ** 2 + 0.02 * rng.random(size)
    is_call = strike > spot
    market, _ = price_and_vega(spot, strike, years, rate, smile, is_call)

    low, high = np.full(size, 0.01), np.full(size, 2.0)
    guess = np.full(size, 0.3)
    for _ in range(rounds):
        price, vega = price_and_vega(spot, strike, years, rate, guess, is_call)
        above = price > market
        high[above] = guess[above]
        low[~above] = guess[~above]
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = guess - (price - market) / vega
        guess = np.where((newton >= low) & (newton <= high), newton, 0.5 * (low + high))
    wrong = np.abs(guess - smile)
    bins = np.digitize(strike / spot, np.linspace(0.8, 1.25, 10))
    by_strike = [np.median(guess[bins == b]) for b in range(1, 10) if np.any(bins == b)]
    return {
        "price": market,
        "volatility": guess,
        "median by strike": np.array(by_strike),
        "right": np.sum(wrong < 1e-4),
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print("volatility by strike:", *np.round(result["median by strike"], 4))
