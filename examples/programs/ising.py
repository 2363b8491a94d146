"""Ising's model of a magnet: checkerboard updates by Metropolis's rule at several temperatures.

python examples/programs/ising.py [side]
"""

import sys

import numpy as np

SIZE = 512


def neighbours(spins):
    return sum(np.roll(spins, shift, axis) for axis in (0, 1) for shift in (1, -1))


def sweep(spins, colour, accept, rng):
    for parity in (0, 1):
        cost = spins * neighbours(spins)
        flip = (rng.random(spins.shape) < accept[(cost + 4) // 2]) & (colour == parity)
        spins[flip] *= -1


def main(size=SIZE, sweeps=30, temperatures=(1.5, 2.0, 2.269, 3.0)):
    size += size % 2
    rng = np.random.default_rng(23)
    colour = np.add.outer(np.arange(size), np.arange(size)) % 2
    magnetisation, energy, correlation = [], [], []
    for temperature in temperatures:
        spins = np.ones((size, size), dtype=np.int8)
        spins[rng.random(spins.shape) < 0.1] = -1
        accept = np.minimum(1.0, np.exp(-2 * np.arange(-4, 5, 2) / temperature))
        measured = np.zeros((sweeps, 2))
        for k in range(sweeps):
            sweep(spins, colour, accept, rng)
            measured[k] = spins.mean(), -0.5 * (spins * neighbours(spins)).mean()
        tail = measured[sweeps // 2 :]
        magnetisation.append(np.abs(tail[:, 0]).mean())
        energy.append(tail[:, 1].mean())
        correlation.append([(spins * np.roll(spins, d, axis=1)).mean() for d in (1, 2, 4, 8)])
    return {
        "spins": spins,
        "magnetisation": np.array(magnetisation),
        "energy": np.array(energy),
        "correlation": np.array(correlation),
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print("magnetisation", np.round(result["magnetisation"], 4), "energy", np.round(result["energy"], 4))
