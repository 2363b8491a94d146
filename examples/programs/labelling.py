"""Connected regions of a random picture by spreading the smallest label, with areas, boxes and centres.

python examples/programs/labelling.py [side]
"""

import sys

import numpy as np

SIZE = 800


def label(mask):
    """Each region's pixels get the smallest index in it; labels jump along themselves, so few rounds are needed."""
    height, width = mask.shape
    none = height * width
    labels = np.where(mask, np.arange(none).reshape(height, width), none)
    while True:
        padded = np.pad(labels, 1, constant_values=none)
        least = np.minimum.reduce(
            [labels, padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]]
        )
        least = np.where(mask, least, none)
        table = np.append(least.ravel(), none)
        least = table[table[least]]
        if np.array_equal(least, labels):
            break
        labels = least
    _, compact = np.unique(labels[mask], return_inverse=True)
    out = np.zeros(mask.shape, dtype=np.intp)
    out[mask] = compact + 1
    return out


def main(size=SIZE):
    noise = np.random.default_rng(17).random((size, size))
    smooth = (noise + np.roll(noise, 1, 0) + np.roll(noise, 1, 1) + np.roll(noise, (1, 1), (0, 1))) / 4
    mask = smooth > 0.52
    labels = label(mask)
    count = labels.max()
    area = np.bincount(labels.ravel())[1:]
    rows, columns = np.nonzero(labels)
    which = labels[rows, columns] - 1
    low = np.full((count, 2), size)
    high = np.zeros((count, 2), dtype=int)
    np.minimum.at(low, which, np.stack([rows, columns], axis=1))
    np.maximum.at(high, which, np.stack([rows, columns], axis=1))
    centre = np.stack([np.bincount(which, weights=each) for each in (rows, columns)], axis=1) / area[:, None]
    largest = np.argsort(area, kind="stable")[::-1][:5]
    return {
        "labels": labels,
        "area": area,
        "low": low,
        "high": high,
        "centre": centre,
        "largest": largest + 1,
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"{len(result['area'])} regions, the largest with {result['area'].max()} pixels")
