"""Heat that spreads in a plate whose conductivity differs from place to place.

python examples/programs/heat.py [side]
"""

import sys

import numpy as np

SIZE = 1500


def main(size=SIZE, steps=30):
    y, x = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 1, size), indexing="ij")
    conductivity = 0.1 + 0.1 * (np.sin(6 * np.pi * x) * np.sin(4 * np.pi * y) > 0)
    heat = np.exp(-50 * ((x - 0.5) ** 2 + (y - 0.4) ** 2))
    for _ in range(steps):
        across = (conductivity[:, 1:] + conductivity[:, :-1]) * 0.5 * np.diff(heat, axis=1)
        down = (conductivity[1:] + conductivity[:-1]) * 0.5 * np.diff(heat, axis=0)
        change = np.zeros_like(heat)
        change[:, :-1] += across
        change[:, 1:] -= across
        change[:-1] += down
        change[1:] -= down
        heat = heat + change
    return {
        "heat": heat,
        "total": heat.sum(),
        "warmest": np.array(np.unravel_index(heat.argmax(), heat.shape)),
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"total {result['total']:.4f}, warmest at {result['warmest']}")
