"""Diffusion of a jagged image: noise whose spectrum falls off makes a landscape, its heights become three steps, and
the heat equation smooths their edges.

python examples/jagged.py [weft|numpy]
"""

import importlib
import itertools
import pathlib
import sys
import time

import diffusion
import numpy

SIDE = 1024
STEPS = (0, 40, 200)


def noise(side=SIDE):
    return numpy.random.default_rng(11).standard_normal((side, side))


def landscape(np, white, steepness=1.6):
    """A surface whose amplitudes fall with the frequency, from white noise."""
    side = white.shape[0]
    spectrum = np.fft.fftshift(np.fft.fft2(white))
    along = np.arange(side) - side // 2
    frequency = np.sqrt(along[:, None] ** 2 + along**2)
    spectrum = spectrum * (1 + frequency) ** -steepness
    return np.fft.ifft2(np.fft.ifftshift(spectrum)).real


def jagged(np, white):
    """0, 0.5 and 1 where the surface is low, between and high."""
    surface = landscape(np, white)
    low, high = np.percentile(surface, [35, 65])
    return ((surface > low).astype("float32") + (surface > high).astype("float32")) / 2


def stages(np, white):
    """What is timed: the image at first, and after some steps of diffusion."""
    images = [jagged(np, white)]
    for before, after in itertools.pairwise(STEPS):
        images.append(diffusion.diffuse(images[-1], after - before))
    return tuple(images)


def picture(path, images):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(images), figsize=(4 * len(images), 4.3), layout="constrained")
    for axis, steps, image in zip(axes, STEPS, images, strict=True):
        axis.imshow(image, cmap="magma", interpolation="nearest", vmin=0, vmax=1)
        axis.set(xticks=[], yticks=[], title=f"{steps} steps")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


if __name__ == "__main__":
    np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "weft")
    white = np.asarray(noise())
    start = time.perf_counter()
    images = [numpy.asarray(image) for image in stages(np, white)]
    elapsed = (time.perf_counter() - start) * 1e3
    contrasts = ", ".join(f"{image.std():.4f}" for image in images)
    print(f"contrast {contrasts} after {STEPS} steps, in {elapsed:.1f} ms")
    out = pathlib.Path("out")
    out.mkdir(exist_ok=True)
    picture(out / "jagged.png", images)
    print(f"three stages: {out / 'jagged.png'}")
