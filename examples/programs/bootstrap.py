"""Confidence intervals by resampling: means, medians, a correlation and a permutation test.

python examples/programs/bootstrap.py [draws]
"""

import sys

import numpy as np

SIZE = 4_000


def main(size=SIZE, patients=500, level=0.95):
    rng = np.random.default_rng(12)
    dose = rng.gamma(3.0, 2.0, patients)
    effect = 0.8 * dose + rng.normal(0, 3, patients)
    effect[rng.random(patients) < 0.02] = np.nan
    known = ~np.isnan(effect)
    dose, effect = dose[known], effect[known]

    picks = rng.integers(0, len(effect), size=(size, len(effect)))
    x, y = dose[picks], effect[picks]
    means = y.mean(axis=1)
    medians = np.median(y, axis=1)
    x -= x.mean(axis=1, keepdims=True)
    y -= y.mean(axis=1, keepdims=True)
    correlations = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    tails = [50 * (1 - level), 50 * (1 + level)]
    intervals = np.array([np.percentile(each, tails) for each in (means, medians, correlations)])

    high = dose > np.median(dose)
    difference = effect[high].mean() - effect[~high].mean()
    shuffled = rng.permuted(np.tile(effect, (size, 1)), axis=1)
    by_chance = shuffled[:, high].mean(axis=1) - shuffled[:, ~high].mean(axis=1)
    p_value = (np.count_nonzero(np.abs(by_chance) >= abs(difference)) + 1) / (size + 1)
    counts, borders = np.histogram(by_chance, bins=30)
    return {
        "intervals": intervals,
        "correlation": np.corrcoef(dose, effect)[0, 1],
        "p": p_value,
        "counts": counts,
        "borders": borders,
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    for name, (low, high) in zip(("mean", "median", "correlation"), result["intervals"]):
        print(f"{name:12} {low:.4f} .. {high:.4f}")
    print(f"p = {result['p']:.5f}")
