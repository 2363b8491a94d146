"""A network of two hidden layers that learns to tell spirals apart: backpropagation and Adam in mini-batches.

python examples/programs/neural_network.py [samples]
"""

import itertools
import sys

import numpy as np

SIZE = 30_000


def spirals(count, classes=3):
    rng = np.random.default_rng(25)
    label = np.arange(count) % classes
    radius = np.sqrt(rng.random(count))
    angle = 4 * radius + 2 * np.pi * label / classes + 0.15 * rng.standard_normal(count)
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)], label


def forward(x, parameters):
    """What each layer gives; the last one's are probabilities."""
    layers = [x]
    for k, (w, b) in enumerate(parameters):
        z = layers[-1] @ w + b
        if k < len(parameters) - 1:
            layers.append(np.maximum(z, 0))
        else:
            e = np.exp(z - z.max(axis=1, keepdims=True))
            layers.append(e / e.sum(axis=1, keepdims=True))
    return layers


def main(size=SIZE, widths=(2, 256, 128, 3), epochs=3, batch=512, rate=0.01):
    x, label = spirals(size)
    rng = np.random.default_rng(26)
    parameters = [
        [rng.standard_normal((a, b)) * np.sqrt(2 / a), np.zeros(b)] for a, b in itertools.pairwise(widths)
    ]
    first = [[np.zeros_like(p) for p in layer] for layer in parameters]
    second = [[np.zeros_like(p) for p in layer] for layer in parameters]
    losses, step = [], 0
    for _ in range(epochs):
        order = rng.permutation(size)
        for start in range(0, size - batch + 1, batch):
            rows = order[start : start + batch]
            layers = forward(x[rows], parameters)
            losses.append(-np.log(layers[-1][np.arange(batch), label[rows]] + 1e-12).mean())
            delta = (layers[-1] - np.eye(widths[-1])[label[rows]]) / batch
            step += 1
            for k in reversed(range(len(parameters))):
                gradients = [layers[k].T @ delta, delta.sum(axis=0)]
                delta = (delta @ parameters[k][0].T) * (layers[k] > 0)
                for i, gradient in enumerate(gradients):
                    first[k][i] = 0.9 * first[k][i] + 0.1 * gradient
                    second[k][i] = 0.999 * second[k][i] + 0.001 * gradient**2
                    change = first[k][i] / (1 - 0.9**step)
                    parameters[k][i] -= rate * change / (np.sqrt(second[k][i] / (1 - 0.999**step)) + 1e-8)
    right = np.mean(forward(x, parameters)[-1].argmax(axis=1) == label)
    return {"losses": np.array(losses), "right": right}


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"loss {result['losses'][-1]:.5f}, right {result['right']:.2%}")
