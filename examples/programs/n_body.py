"""Stars that attract each other, by summing over all pairs and leapfrog steps.

python examples/programs/n_body.py [stars]
"""

import sys

import numpy as np

SIZE = 2000


def accelerations(positions, masses, softening=0.05):
    apart = positions[np.newaxis, :, :] - positions[:, np.newaxis, :]
    squared = (apart**2).sum(axis=2) + softening**2
    pull = masses / (squared * np.sqrt(squared))
    return (apart * pull[:, :, np.newaxis]).sum(axis=1)


def main(size=SIZE, steps=5, step=0.01):
    rng = np.random.default_rng(1)
    positions = rng.standard_normal((size, 3))
    speeds = 0.1 * rng.standard_normal((size, 3))
    masses = rng.uniform(0.5, 1.5, size) / size
    pull = accelerations(positions, masses)
    for _ in range(steps):
        speeds += 0.5 * step * pull
        positions += step * speeds
        pull = accelerations(positions, masses)
        speeds += 0.5 * step * pull
    kinetic = 0.5 * (masses * (speeds**2).sum(axis=1)).sum()
    return {"positions": positions, "kinetic energy": kinetic}


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"kinetic energy {result['kinetic energy']:.6f}")
