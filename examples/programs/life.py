"""Conway's game of life on a torus, from a random start.

python examples/programs/life.py [side]
"""

import sys

import numpy as np

SIZE = 1500


def step(cells):
    around = sum(
        np.roll(np.roll(cells, down, axis=0), right, axis=1)
        for down in (-1, 0, 1)
        for right in (-1, 0, 1)
        if (down, right) != (0, 0)
    )
    return ((around == 3) | ((cells == 1) & (around == 2))).astype(np.uint8)


def main(size=SIZE, steps=20):
    cells = (np.random.default_rng(2).random((size, size)) < 0.3).astype(np.uint8)
    alive = []
    for _ in range(steps):
        cells = step(cells)
        alive.append(int(cells.sum()))
    return {"cells": cells, "alive": np.array(alive)}


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print("alive:", *result["alive"])
