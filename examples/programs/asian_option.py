"""The price of an Asian call option by Monte Carlo, with antithetic paths.

python examples/programs/asian_option.py [paths]
"""

import sys

import numpy as np

SIZE = 100_000


def main(size=SIZE, days=64, spot=100.0, strike=100.0, rate=0.03, volatility=0.25, years=1.0):
    dt = years / days
    drift = (rate - 0.5 * volatility**2) * dt
    draws = np.random.default_rng(7).standard_normal((size // 2, days))
    payoffs = []
    for sign in (1.0, -1.0):
        paths = spot * np.exp(np.cumsum(drift + sign * volatility * np.sqrt(dt) * draws, axis=1))
        payoffs.append(np.maximum(paths.mean(axis=1) - strike, 0.0))
    discounted = np.exp(-rate * years) * 0.5 * (payoffs[0] + payoffs[1])
    return {"price": discounted.mean(), "error": discounted.std(ddof=1) / np.sqrt(len(discounted))}


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"{result['price']:.4f} ± {result['error']:.4f}")
