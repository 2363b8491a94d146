"""Logistic regression by gradient descent with momentum.

python examples/programs/logistic.py [rows]
"""

import sys

import numpy as np

SIZE = 200_000


def main(size=SIZE, columns=20, steps=40, rate=0.5):
    rng = np.random.default_rng(6)
    x = rng.standard_normal((size, columns))
    truth = rng.standard_normal(columns)
    y = (rng.random(size) < 1 / (1 + np.exp(-(x @ truth)))).astype(float)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    weights, momentum, losses = np.zeros(columns), np.zeros(columns), []
    for _ in range(steps):
        probability = 1 / (1 + np.exp(-(x @ weights)))
        gradient = x.T @ (probability - y) / size + 1e-3 * weights
        momentum = 0.9 * momentum - rate * gradient
        weights = weights + momentum
        probability = np.clip(probability, 1e-12, 1 - 1e-12)
        losses.append(float(-(y * np.log(probability) + (1 - y) * np.log1p(-probability)).mean()))
    right = ((probability > 0.5) == (y > 0.5)).mean()
    return {"weights": weights, "losses": np.array(losses), "right": right}


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"loss {result['losses'][-1]:.5f}, right {result['right']:.3%}")
