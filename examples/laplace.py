"""Laplace's equation on a square plate by slices: one hot edge, three cold ones.

python examples/laplace.py [weft|numpy]
"""

import importlib
import sys
import time


def plate(np, size):
    """A cold square plate of size × size points whose upper edge is kept at 1."""
    u = np.zeros((size, size))
    u[0] = 1.0
    return u


def relax(u, steps, dx2=1.0, dy2=1.0):
    """Replace every inner point by the mean of its neighbours, `steps` times, in place."""
    dnr_inv = 0.5 / (dx2 + dy2)
    for _ in range(steps):
        u[1:-1, 1:-1] = ((u[2:, 1:-1] + u[:-2, 1:-1]) * dy2 + (u[1:-1, 2:] + u[1:-1, :-2]) * dx2) * dnr_inv
    return u


def solve(np, size=150, tolerance=5e-6, every=100):
    """Relax until no point moves by more than `tolerance` in one step; returns the plate and the steps taken."""
    u = plate(np, size)
    steps = 0
    change = 1.0
    while change > tolerance:
        relax(u, every - 1)
        before = u.copy()
        relax(u, 1)
        change = float(np.abs(u - before).max())
        steps += every
    return u, steps


def picture(path, u, steps):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5.6, 4.6), layout="constrained")
    image = axes.imshow(u, cmap="inferno", vmin=0, vmax=1)
    lines = axes.contour(u, levels=[0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9], colors="white", linewidths=0.7)
    axes.clabel(lines, fontsize=7, fmt="%g")
    axes.set(xticks=[], yticks=[], title=f"Laplace, {u.shape[0]} × {u.shape[1]} points, {steps:,} steps")
    figure.colorbar(image, label="temperature")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


if __name__ == "__main__":
    np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "weft")
    start = time.perf_counter()
    u, steps = solve(np)
    middle = float(u[u.shape[0] // 2, u.shape[1] // 2])
    print(f"{middle:.4f} in the middle after {steps} steps, {time.perf_counter() - start:.2f} s")
