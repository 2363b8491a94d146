"""PageRank of a random graph with links that favour early pages, by power iteration over the list of links.

python examples/programs/page_rank.py [pages]
"""

import sys

import numpy as np

SIZE = 200_000


def main(size=SIZE, links=8, damping=0.85, tolerance=1e-10):
    rng = np.random.default_rng(8)
    source = np.repeat(np.arange(size), links)
    target = (size * rng.random(size * links) ** 3).astype(np.int64)
    degree = np.bincount(source, minlength=size)
    rank = np.full(size, 1.0 / size)
    steps = 0
    while True:
        flow = np.bincount(target, weights=rank[source] / degree[source], minlength=size)
        new = (1 - damping) / size + damping * (flow + rank[degree == 0].sum() / size)
        steps += 1
        change = np.abs(new - rank).sum()
        rank = new
        if change < tolerance or steps == 50:
            break
    return {"rank": rank, "first": np.argsort(-rank, kind="stable")[:10], "steps": steps}


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"{result['steps']} steps, first pages: {result['first']}")
