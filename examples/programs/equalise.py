"""Histogram equalisation of a dark photograph, as a whole and by tiles, with gamma, in 8-bit colours.

python examples/programs/equalise.py [side]
"""

import sys

import numpy as np

SIZE = 1600


def photograph(side):
    y, x = (each / side for each in np.ogrid[:side, :side])
    light = (
        0.1 + 0.25 * np.exp(-4 * ((x - 0.3) ** 2 + (y - 0.6) ** 2)) + 0.05 * np.sin(40 * x) * np.cos(30 * y)
    )
    noise = np.random.default_rng(18).normal(0, 0.02, (side, side, 3))
    colours = light[..., np.newaxis] * [1.0, 0.9, 0.6] + noise
    return (np.clip(colours, 0, 1) * 255).astype(np.uint8)


def lookup(grey):
    histogram, _ = np.histogram(grey, bins=256, range=(0, 256))
    total = histogram.cumsum()
    darkest = total[total > 0][0]
    scaled = (total - darkest) / max(total[-1] - darkest, 1) * 255
    return np.round(np.clip(scaled, 0, 255)).astype(np.uint8)


def main(size=SIZE, tiles=8):
    image = photograph(size)
    grey = (image @ np.array([0.299, 0.587, 0.114]) + 0.5).astype(np.uint8)
    whole = lookup(grey)[grey]

    local = np.empty_like(grey)
    for rows in np.array_split(np.arange(size), tiles):
        for columns in np.array_split(np.arange(size), tiles):
            part = np.ix_(rows, columns)
            local[part] = lookup(grey[part])[grey[part]]

    gain = whole / np.maximum(grey, 1)
    bright = np.clip(image * gain[:, :, None], 0, 255).astype(np.uint8)
    gamma = (255 * (np.arange(256) / 255) ** (1 / 2.2)).astype(np.uint8)
    mirrored = gamma[bright[:, ::-1]]
    return {
        "whole": whole,
        "local": local,
        "histogram": np.bincount(whole.ravel(), minlength=256),
        "colour": bright.mean(axis=(0, 1)),
        "corner": mirrored[:4, :4],
        "contrast": np.array([each.astype(float).std() for each in (grey, whole, local)]),
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print("contrast before, after, by tiles:", *np.round(result["contrast"], 2))
