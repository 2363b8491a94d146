"""Kalman filters that follow many objects at once: position and speed from noisy positions.

python examples/programs/kalman.py [objects]
"""

import sys

import numpy as np

SIZE = 20_000


def main(size=SIZE, steps=50, dt=0.1, noise=0.5):
    rng = np.random.default_rng(9)
    truth = np.cumsum(rng.standard_normal((steps, size)) * dt, axis=0)
    seen = truth + noise * rng.standard_normal((steps, size))
    transition = np.array([[1.0, dt], [0.0, 1.0]])
    process = 0.1 * np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
    state = np.zeros((size, 2))
    covariance = np.broadcast_to(np.eye(2), (size, 2, 2)).copy()
    estimates = np.empty((steps, size))
    for step in range(steps):
        state = state @ transition.T
        covariance = transition @ covariance @ transition.T + process
        gain = covariance[:, :, 0] / (covariance[:, 0, 0] + noise**2)[:, np.newaxis]
        state = state + gain * (seen[step] - state[:, 0])[:, np.newaxis]
        covariance = covariance - gain[:, :, np.newaxis] * covariance[:, np.newaxis, 0, :]
        estimates[step] = state[:, 0]
    error = np.sqrt(((estimates - truth) ** 2).mean(axis=1))
    return {"error": error, "state": state}


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"error {result['error'][-1]:.4f}")
