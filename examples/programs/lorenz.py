"""A path of Lorenz's attractor by Runge and Kutta's method: vectors of three numbers, one step after another.

python examples/programs/lorenz.py [steps]
"""

import sys

import numpy as np

SIZE = 5000


def slope(p, sigma=10.0, rho=28.0, beta=8.0 / 3.0):
    x, y, z = p
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def main(size=SIZE, dt=0.002):
    path = np.empty((size, 3))
    p = np.array([1.0, 1.0, 1.0])
    for i in range(size):
        k1 = slope(p)
        k2 = slope(p + 0.5 * dt * k1)
        k3 = slope(p + 0.5 * dt * k2)
        k4 = slope(p + dt * k3)
        p = p + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path[i] = p
    return {"mean": path.mean(axis=0), "end": p}


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print("mean", result["mean"])
