"""Prices with dates: returns by month, moving averages, crossings, the deepest fall and how long it took.

python examples/programs/drawdown.py [days]
"""

import sys

import numpy as np

SIZE = 400_000


def prices(days):
    rng = np.random.default_rng(13)
    dates = np.datetime64("1990-01-01") + np.arange(days)
    dates = dates[np.is_busday(dates)]
    steps = 0.0002 + 0.01 * rng.standard_t(5, len(dates)) / np.sqrt(5 / 3)
    return dates, 100 * np.exp(np.cumsum(np.clip(steps, -0.1, 0.1) - 0.0001))


def moving_average(x, width):
    total = np.cumsum(np.insert(x, 0, 0.0))
    return (total[width:] - total[:-width]) / width


def main(size=SIZE, short=20, long=100):
    dates, price = prices(size)
    returns = np.diff(np.log(price))
    months, first = np.unique(dates.astype("datetime64[M]"), return_index=True)
    last = np.append(first[1:], len(price)) - 1
    monthly = price[last] / price[first] - 1

    slow = moving_average(price, long)
    fast = moving_average(price, short)[long - short :]
    above = np.sign(fast - slow)
    crossings = dates[long - 1 :][1:][np.diff(above) != 0]

    peak = np.maximum.accumulate(price)
    fall = 1 - price / peak
    bottom = np.argmax(fall)
    top = np.argmax(price[: bottom + 1])
    weekday = (dates.astype("datetime64[D]").astype(np.int64) + 3) % 7
    return {
        "volatility": returns.std(ddof=1) * np.sqrt(252),
        "monthly": monthly,
        "best month": np.datetime_as_string(months[monthly.argmax()]),
        "crossings": np.datetime_as_string(crossings[:10], unit="D"),
        "fall": fall[bottom],
        "from": str(dates[top]),
        "days": (dates[bottom] - dates[top]).astype(int),
        "trading days": np.busday_count(dates[top], dates[bottom]),
        "by weekday": np.array([returns[weekday[1:] == day].mean() for day in range(5)]),
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"volatility {result['volatility']:.3f}, best month {result['best month']}")
    print(f"fell by {result['fall']:.1%} in {result['days']} days from {result['from']}")
