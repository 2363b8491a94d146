"""Shortest paths between all towns by Floyd and Warshall, with the way of the longest of them.

python examples/programs/shortest_paths.py [towns]
"""

import sys

import numpy as np

SIZE = 600


def roads(towns, neighbours=4):
    """Distances along roads from each town to the nearest few; infinite where no road is."""
    places = np.random.default_rng(16).random((towns, 2))
    apart = np.linalg.norm(places[:, None] - places[None, :], axis=-1)
    near = np.argsort(apart, axis=1)[:, 1 : neighbours + 1]
    length = np.full((towns, towns), np.inf)
    rows = np.arange(towns)[:, None]
    length[rows, near] = apart[rows, near]
    length = np.minimum(length, length.T)
    np.fill_diagonal(length, 0)
    return length


def main(size=SIZE):
    distance = roads(size)
    after = np.where(np.isfinite(distance), np.arange(size), -1)
    for k in range(size):
        through = distance[:, k, None] + distance[None, k, :]
        shorter = through < distance
        distance[shorter] = through[shorter]
        after = np.where(shorter, after[:, k, None], after)
    reached = np.isfinite(distance)
    furthest = np.where(reached, distance, -1.0)
    start, end = (int(i) for i in np.unravel_index(np.argmax(furthest), furthest.shape))
    path = [start]
    while path[-1] != end:
        path.append(int(after[path[-1], end]))
    return {
        "longest": distance[start, end],
        "path": np.array(path),
        "mean": distance[reached].mean(),
        "reached": np.count_nonzero(reached),
        "eccentricity": furthest.max(axis=1),
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"the longest way is {result['longest']:.4f}: {' '.join(map(str, result['path']))}")
