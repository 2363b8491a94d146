"""A mixture of Gaussians by expectation and maximisation, with full covariances and log-sum-exp.

python examples/programs/mixture.py [points]
"""

import sys

import numpy as np

SIZE = 50_000


def log_densities(x, means, covariances):
    out = np.empty((len(x), len(means)))
    for k, (mean, covariance) in enumerate(zip(means, covariances)):
        away = x - mean
        squared = np.einsum("ni,ij,nj->n", away, np.linalg.inv(covariance), away)
        sign, logdet = np.linalg.slogdet(2 * np.pi * covariance)
        assert sign > 0
        out[:, k] = -0.5 * (squared + logdet)
    return out


def logsumexp(a, axis):
    highest = a.max(axis=axis, keepdims=True)
    return np.squeeze(highest + np.log(np.exp(a - highest).sum(axis=axis, keepdims=True)), axis=axis)


def main(size=SIZE, groups=4, dimensions=3, steps=15):
    rng = np.random.default_rng(22)
    centres = 4 * rng.standard_normal((groups, dimensions))
    shapes = 0.6 * rng.standard_normal((groups, dimensions, dimensions)) + np.eye(dimensions)
    truth = rng.choice(groups, size, p=[0.4, 0.3, 0.2, 0.1])
    x = centres[truth] + np.einsum("nij,nj->ni", shapes[truth], rng.standard_normal((size, dimensions)))

    means = centres + 0.5 * rng.standard_normal(centres.shape)
    covariances = np.tile(np.cov(x.T), (groups, 1, 1))
    weights = np.full(groups, 1 / groups)
    history = []
    for _ in range(steps):
        joint = np.log(weights) + log_densities(x, means, covariances)
        total = logsumexp(joint, axis=1)
        history.append(total.mean())
        share = np.exp(joint - total[:, np.newaxis])
        mass = share.sum(axis=0)
        weights = mass / size
        means = share.T @ x / mass[:, np.newaxis]
        for k in range(groups):
            away = x - means[k]
            covariances[k] = (share[:, k, None] * away).T @ away / mass[k] + 1e-6 * np.eye(dimensions)
    found = share.argmax(axis=1)
    confusion = np.zeros((groups, groups), dtype=np.int64)
    np.add.at(confusion, (truth, found), 1)
    return {
        "means": means,
        "covariances": covariances,
        "weights": weights,
        "history": np.asarray(history),
        "confusion": confusion,
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"log-likelihood {result['history'][-1]:.5f}, weights {np.round(result['weights'], 4)}")
    print(result["confusion"])
