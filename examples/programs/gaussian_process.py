"""Regression by a Gaussian process: the kernel's length by likelihood, a mean with its error, draws from it.

python examples/programs/gaussian_process.py [points]
"""

import sys

import numpy as np

SIZE = 600


def kernel(a, b, length, height=1.0):
    squared = np.sum(a**2, 1)[:, None] + np.sum(b**2, 1)[None, :] - 2 * a @ b.T
    return height**2 * np.exp(-0.5 * np.maximum(squared, 0) / length**2)


def log_likelihood(x, y, length, noise):
    factor = np.linalg.cholesky(kernel(x, x, length) + noise**2 * np.eye(len(x)))
    white = np.linalg.solve(factor, y)
    return -0.5 * white @ white - np.log(np.diagonal(factor)).sum() - 0.5 * len(x) * np.log(2 * np.pi)


def main(size=SIZE, noise=0.1):
    rng = np.random.default_rng(21)
    x = rng.uniform(-3, 3, size=(size, 2))
    y = np.sin(1.5 * x[:, 0]) * np.cos(x[:, 1]) + noise * rng.normal(size=size)

    lengths = np.geomspace(0.3, 3.0, 8)
    scores = np.array([log_likelihood(x, y, length, noise) for length in lengths])
    length = lengths[scores.argmax()]

    side = np.linspace(-3, 3, 21)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    factor = np.linalg.cholesky(kernel(x, x, length) + noise**2 * np.eye(size))
    weights = np.linalg.solve(factor.T, np.linalg.solve(factor, y))
    across = kernel(points, x, length)
    mean = across @ weights
    half = np.linalg.solve(factor, across.T)
    covariance = kernel(points, points, length) - half.T @ half
    error = np.sqrt(np.clip(np.diag(covariance), 0, None) + noise**2)
    wrong = mean - np.sin(1.5 * points[:, 0]) * np.cos(points[:, 1])
    jitter = np.linalg.cholesky(covariance + 1e-4 * np.eye(len(points)))
    draws = mean[:, None] + jitter @ rng.standard_normal((len(points), 3))
    return {
        "scores": scores,
        "length": length,
        "mean": mean,
        "error": error,
        "rms": np.sqrt(np.mean(wrong**2)),
        "draws": draws.mean(axis=0),
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"length {result['length']:.3f}, wrong by {result['rms']:.4f} (root mean square)")
