"""Programs that make arrays, look at parts of them and return them."""

import numpy as np


def only(size):
    return (size,)


def primes(limit):
    found = np.empty(limit, np.int64)
    count = 0
    for n in range(2, limit):
        for k in range(count):
            if found[k] * found[k] > n:
                found[count] = n
                count += 1
                break
            if n % found[k] == 0:
                break
        else:
            found[count] = n
            count += 1
    return found[:count]


def pascal(rows):
    triangle = np.zeros((rows, rows), np.int64)
    for i in range(rows):
        triangle[i, 0] = 1
        for j in range(1, i + 1):
            triangle[i, j] = (triangle[i - 1, j - 1] + triangle[i - 1, j]) % 1000007
    return triangle


def row_extremes(a):
    low = np.empty(len(a))
    high = np.empty(len(a))
    for i in range(len(a)):
        row = a[i]
        low[i] = high[i] = row[0]
        for x in row[1:]:
            low[i] = min(low[i], x)
            high[i] = max(high[i], x)
    return low, high


def row_extremes_arguments(size):
    return (np.random.default_rng(1).random((size, 20)),)


def dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def orthogonalised(a):
    """Gram and Schmidt, by columns, which are views."""
    q = a.copy()
    for j in range(q.shape[1]):
        for k in range(j):
            part = dot(q[:, k], q[:, j])
            for i in range(q.shape[0]):
                q[i, j] -= part * q[i, k]
        length = dot(q[:, j], q[:, j]) ** 0.5  # a power: the library's last bit
        for i in range(q.shape[0]):
            q[i, j] /= length
    return q


def orthogonalised_arguments(size):
    return (np.random.default_rng(2).random((2 * size, size)),)


def relaxed(u, steps):
    """Two arrays that change their places, neither of them the caller's."""
    old = u.copy()
    new = u.copy()
    for _ in range(steps):
        for i in range(1, len(old) - 1):
            new[i] = 0.25 * old[i - 1] + 0.5 * old[i] + 0.25 * old[i + 1]
        old, new = new, old
    return old


def relaxed_arguments(size):
    return np.random.default_rng(3).random(size), 11


def transposed_sums(a, out):
    for j, column in enumerate(a.T):
        total = 0.0
        for x in column[::-1]:
            total += x
        out[j] = total


def transposed_sums_arguments(size):
    return np.random.default_rng(4).random((size, 30)), np.zeros(30)


def halved(a):
    """Rounds of halving with an array of its own each: memory is given back while it runs."""
    while len(a) > 1:
        half = np.zeros((len(a) + 1) // 2)
        for i in range(len(a)):
            half[i // 2] += a[i]
        a = half
    return a[0]


def halved_arguments(size):
    return (np.random.default_rng(5).random(size),)


INEXACT = {"orthogonalised": 1e-12}

PROGRAMS = {
    "primes": (primes, only, 100, 200_000),
    "pascal": (pascal, only, 12, 1_500),
    "row_extremes": (row_extremes, row_extremes_arguments, 10, 100_000),
    "orthogonalised": (orthogonalised, orthogonalised_arguments, 6, 150),
    "relaxed": (relaxed, relaxed_arguments, 40, 200_000),
    "transposed_sums": (transposed_sums, transposed_sums_arguments, 20, 100_000),
    "halved": (halved, halved_arguments, 100, 2_000_000),
}
