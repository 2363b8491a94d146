"""Groups of points by Lloyd's algorithm.

python examples/programs/k_means.py [points]
"""

import sys

import numpy as np

SIZE = 200_000


def main(size=SIZE, groups=8, steps=10):
    rng = np.random.default_rng(5)
    truth = rng.uniform(-10, 10, (groups, 2))
    points = truth[rng.integers(groups, size=size)] + rng.standard_normal((size, 2))
    centres = points[:groups].copy()
    for _ in range(steps):
        squared = ((points[:, np.newaxis, :] - centres) ** 2).sum(axis=2)
        nearest = squared.argmin(axis=1)
        for group in range(groups):
            members = points[nearest == group]
            if len(members) > 0:
                centres[group] = members.mean(axis=0)
    return {
        "centres": centres,
        "sizes": np.bincount(nearest, minlength=groups),
        "inertia": squared.min(axis=1).sum(),
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"inertia {result['inertia']:.3f}, sizes {result['sizes']}")
