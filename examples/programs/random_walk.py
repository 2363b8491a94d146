"""How often a random walk comes back, by scalars: loops of Python's over single draws and single elements.

python examples/programs/random_walk.py [steps]
"""

import sys

import numpy as np

SIZE = 100_000


def main(size=SIZE):
    steps = np.random.default_rng(10).integers(0, 4, size)
    moves = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    seen = np.zeros((401, 401), dtype=np.int64)
    x = y = returns = 0
    furthest = 0.0
    for step in steps:
        x += int(moves[step, 0])
        y += int(moves[step, 1])
        seen[x % 401, y % 401] += 1
        furthest = max(furthest, np.sqrt(float(x * x + y * y)))
        if x == 0 and y == 0:
            returns += 1
    return {"seen": seen, "returns": returns, "furthest": furthest}


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"{result['returns']} returns, {result['furthest']:.2f} away at most")
