"""Principal components of the patches of a photograph: the few patterns that most of it is made of, by an SVD.

python examples/components.py [weft|numpy]
"""

import importlib
import pathlib
import sys
import time

import numpy
from PIL import Image

PHOTOGRAPH = pathlib.Path(__file__).parent / "data" / "flower.jpg"
SIDE = 8  # of a patch, in pixels
KEPT = 12  # components


def photograph():
    """The photograph in numbers from 0 to 1, cut to whole patches."""
    image = numpy.asarray(Image.open(PHOTOGRAPH)) / 255
    height, width = (extent // SIDE * SIDE for extent in image.shape[:2])
    return numpy.ascontiguousarray(image[:height, :width])


def patches(image):
    """The patches side by side, a row each."""
    height, width, colours = image.shape
    grid = image.reshape(height // SIDE, SIDE, width // SIDE, SIDE, colours)
    return grid.swapaxes(1, 2).reshape(-1, SIDE * SIDE * colours)


def joined(rows, shape):
    """The photograph of such rows."""
    height, width, colours = shape
    grid = rows.reshape(height // SIDE, width // SIDE, SIDE, SIDE, colours)
    return grid.swapaxes(1, 2).reshape(shape)


def decompose(np, image):
    """What is timed: the photograph rebuilt of its first components, these, and the part of the variance of each."""
    rows = patches(image)
    mean = rows.mean(axis=0)
    rows = rows - mean
    _, values, patterns = np.linalg.svd(rows, full_matrices=False)
    patterns = patterns[:KEPT]
    largest = np.take_along_axis(patterns, np.abs(patterns).argmax(axis=1)[:, None], axis=1)
    parts = values**2 / (values**2).sum()
    return joined(rows @ patterns.T @ patterns + mean, image.shape), patterns * np.sign(largest), parts[:KEPT]


def report(image, result):
    image, (again, _, parts) = numpy.asarray(image), (numpy.asarray(x) for x in result)
    error = numpy.sqrt(((again - image) ** 2).mean())
    return f"{KEPT} of {SIDE * SIDE * 3} components have {100 * parts.sum():.1f} % of the variance, error {error:.3f}"


def picture(path, image, again, patterns):
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(9.6, 4.4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[0.95, 1])
    for axis, (name, shown) in zip(
        left.subplots(2, 1), (("photograph", image), (f"from {KEPT} components", again)), strict=True
    ):
        axis.imshow(shown.clip(0, 1))
        axis.set(xticks=[], yticks=[], ylabel=name)
    for axis, pattern in zip(right.subplots(3, 4).flat, patterns, strict=True):
        shown = pattern.reshape(SIDE, SIDE, 3)
        axis.imshow(0.5 + 0.5 * shown / numpy.abs(shown).max())
        axis.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


if __name__ == "__main__":
    np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "weft")
    image = np.asarray(photograph())
    start = time.perf_counter()
    result = [numpy.asarray(part) for part in decompose(np, image)]
    elapsed = (time.perf_counter() - start) * 1e3
    print(f"{report(image, result)}, in {elapsed:.1f} ms")
    out = pathlib.Path("out")
    out.mkdir(exist_ok=True)
    picture(out / "components.png", numpy.asarray(image), *result[:2])
    print(f"components: {out / 'components.png'}")
