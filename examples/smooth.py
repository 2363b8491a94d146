"""Smoothing a photograph: the mean of each pixel's 3 × 3 neighbours, in integers, by slices.

python examples/smooth.py [weft|numpy] [tiled]
"""

import importlib
import pathlib
import sys
import time

import numpy
from PIL import Image

PHOTOGRAPH = pathlib.Path(__file__).parent / "data" / "china.jpg"


def photograph():
    """Height × width × 3 colours, uint8."""
    return numpy.asarray(Image.open(PHOTOGRAPH))


def tiled(size=10_000):
    """The photograph without its colours, again and again beside and below itself: size × size, uint8."""
    gray = numpy.asarray(Image.open(PHOTOGRAPH).convert("L"))
    times = [-(-size // n) for n in gray.shape]
    return numpy.ascontiguousarray(numpy.tile(gray, times)[:size, :size])


def smooth(np, image):
    """The inner part of `image`, smoothed; sums are formed in int16, the result is uint8 again."""
    x = image.astype(np.int16)
    total = (
        x[:-2, :-2] + x[:-2, 1:-1] + x[:-2, 2:]
        + x[1:-1, :-2] + x[1:-1, 1:-1] + x[1:-1, 2:]
        + x[2:, :-2] + x[2:, 1:-1] + x[2:, 2:]
    )  # fmt: skip
    return (total // 9).astype(np.uint8)


def picture(path, before, after):
    from matplotlib import pyplot

    rows, columns = slice(170, 270), slice(20, 170)
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.3), layout="constrained")
    for axis, title, image in ((axes[0], "photograph", before[1:-1, 1:-1]), (axes[1], "smoothed", after)):
        axis.imshow(image[rows, columns], interpolation="nearest")
        axis.set(xticks=[], yticks=[], title=title)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


if __name__ == "__main__":
    np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "weft")
    image = np.asarray(tiled() if sys.argv[2:] == ["tiled"] else photograph())
    start = time.perf_counter()
    result = smooth(np, image)
    mean = float(result.mean())
    print(f"mean {mean:.3f} of {result.shape} in {(time.perf_counter() - start) * 1e3:.1f} ms")
