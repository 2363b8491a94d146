"""Diffusion of a photograph: every pixel is black or white at first; the picture comes back as they mix.

python examples/diffusion.py [weft|numpy]
"""

import importlib
import pathlib
import sys
import time

import numpy
from PIL import Image

PHOTOGRAPH = pathlib.Path(__file__).parent / "data" / "flower.jpg"


def jagged():
    """The photograph as noise: each of its values is 1 with the probability of its brightness, else 0."""
    photograph = numpy.asarray(Image.open(PHOTOGRAPH)) / 255
    noise = numpy.random.default_rng(5).random(photograph.shape)
    return (noise < photograph).astype(numpy.float32)


def diffuse(u, steps, rate=0.2):
    """`steps` steps of the heat equation on a copy of `u`, by slices; the border stays as it is."""
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += rate * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


def picture(path, *stages):
    """Pictures side by side; `stages` are pairs of steps taken and the image after them."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(stages), figsize=(4.2 * len(stages), 3.1), layout="constrained")
    for axis, (steps, image) in zip(axes, stages, strict=True):
        axis.imshow(image.clip(0, 1), interpolation="nearest")
        axis.set(xticks=[], yticks=[], title=f"{steps} steps")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


if __name__ == "__main__":
    np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "weft")
    u = np.asarray(jagged())
    start = time.perf_counter()
    u = diffuse(u, 50)
    contrast = float(u.std())
    print(f"contrast {contrast:.4f} after 50 steps, {(time.perf_counter() - start) * 1e3:.1f} ms")
