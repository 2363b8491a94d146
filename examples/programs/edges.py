"""Edges of a picture: a Gaussian blur, Sobel's derivatives, their size and direction, a threshold.

python examples/programs/edges.py [side]
"""

import sys

import numpy as np

SIZE = 2000


def picture(side):
    y, x = np.mgrid[0:side, 0:side] / side
    discs = sum(
        np.where((x - a) ** 2 + (y - b) ** 2 < r**2, value, 0.0)
        for a, b, r, value in [(0.3, 0.3, 0.2, 1.0), (0.6, 0.5, 0.25, 0.5), (0.5, 0.8, 0.1, 0.8)]
    )
    return discs + 0.05 * np.random.default_rng(3).standard_normal((side, side))


def along(image, weights, axis):
    """Correlates one axis with the weights; what is outside is the nearest pixel."""
    half = len(weights) // 2
    widths = [(half, half) if a == axis else (0, 0) for a in range(2)]
    padded = np.pad(image, widths, mode="edge")
    size = image.shape[axis]
    parts = [
        weight * (padded[i : i + size] if axis == 0 else padded[:, i : i + size])
        for i, weight in enumerate(weights)
    ]
    return sum(parts[1:], parts[0])


def main(size=SIZE, sigma=2.0):
    image = picture(size)
    offsets = np.arange(-6, 7)
    gaussian = np.exp(-0.5 * (offsets / sigma) ** 2)
    gaussian = (gaussian / gaussian.sum()).tolist()
    blurred = along(along(image, gaussian, 0), gaussian, 1)
    across = along(along(blurred, [-1.0, 0.0, 1.0], 1), [1.0, 2.0, 1.0], 0)
    down = along(along(blurred, [-1.0, 0.0, 1.0], 0), [1.0, 2.0, 1.0], 1)
    strength = np.hypot(across, down)
    direction = np.arctan2(down, across)
    edges = strength > strength.mean() + 2 * strength.std()
    return {"edges": edges, "mean direction": direction[edges].mean(), "strength": strength}


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"{int(result['edges'].sum())} pixels on edges")
