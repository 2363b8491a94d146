"""Principal components of many small pictures: mean, covariance, eigenvectors, and what is lost with few of them.

python examples/programs/compression.py [pictures]
"""

import sys

import numpy as np

SIZE = 20_000


def pictures(count, side=16):
    """Blobs at random places with random widths, and a little noise."""
    rng = np.random.default_rng(20)
    places, widths = rng.uniform(3, side - 3, (count, 2)), rng.uniform(1, 4, count)
    grid = np.arange(side)
    down = np.exp(-((grid - places[:, :1]) ** 2) / (2 * widths[:, np.newaxis] ** 2))
    across = np.exp(-((grid - places[:, 1:]) ** 2) / (2 * widths[:, np.newaxis] ** 2))
    images = np.einsum("ni,nj->nij", down, across)
    return images + 0.02 * rng.standard_normal(images.shape)


def main(size=SIZE, kept=(1, 4, 16, 64)):
    images = pictures(size)
    data = images.reshape(len(images), -1)
    mean = data.mean(axis=0)
    centred = data - mean
    covariance = np.cov(data, rowvar=False)
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1], vectors[:, ::-1]
    explained = np.cumsum(values) / values.sum()

    errors = []
    for count in kept:
        basis = vectors[:, :count]
        restored = centred @ basis @ basis.T + mean
        errors.append(np.sqrt(np.mean((restored - data) ** 2)))
    coarse = np.round(centred @ vectors[:, :64] * 8) / 8
    worst = np.linalg.norm(coarse @ vectors[:, :64].T - centred, axis=1).max()

    singular = np.linalg.svd(images[0], compute_uv=False)
    return {
        "explained": explained[:64],
        "errors": np.array(errors),
        "needed": np.searchsorted(explained, 0.95) + 1,
        "worst": worst,
        "singular": singular[:1],
        "rank": np.linalg.matrix_rank(images[0], tol=0.2),
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"95% is explained by {result['needed']} components; errors {np.round(result['errors'], 4)}")
