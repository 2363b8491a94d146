"""Linear algebra as loops."""

import math

import numpy as np


def matrix_product(a, b, c):
    n, m = a.shape
    for i in range(n):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(m):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def matrix_product_arguments(size):
    random = np.random.default_rng(1)
    return random.random((size, size)), random.random((size, size)), np.zeros((size, size))


def lu(a):
    n = len(a)
    for k in range(n):
        if a[k, k] == 0.0:
            raise ZeroDivisionError("pivot")
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def dominant(size):
    return (np.random.default_rng(2).random((size, size)) + size * np.eye(size),)


def cholesky(a, out):
    n = len(a)
    for i in range(n):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= out[i, k] * out[j, k]
            if i == j:
                if total <= 0.0:
                    raise ValueError("the matrix is not positive definite")
                out[i, i] = math.sqrt(total)
            else:
                out[i, j] = total / out[j, j]


def cholesky_arguments(size):
    a = np.random.default_rng(3).random((size, size))
    return a @ a.T + np.eye(size), np.zeros((size, size))


def thomas(low, middle, high, right, out):
    n = len(middle)
    for i in range(1, n):
        w = low[i - 1] / middle[i - 1]
        middle[i] -= w * high[i - 1]
        right[i] -= w * right[i - 1]
    out[n - 1] = right[n - 1] / middle[n - 1]
    for i in range(n - 2, -1, -1):
        out[i] = (right[i] - high[i] * out[i + 1]) / middle[i]


def thomas_arguments(size):
    random = np.random.default_rng(4)
    return (
        random.random(size - 1),
        random.random(size) + 3.0,
        random.random(size - 1),
        random.random(size),
        np.zeros(size),
    )


def sparse_product(begins, columns, values, x, y):
    for i in range(len(begins) - 1):
        total = 0.0
        for k in range(begins[i], begins[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total


def sparse_product_arguments(size):
    random = np.random.default_rng(5)
    return (
        np.arange(0, 8 * size + 1, 8),
        random.integers(0, size, 8 * size),
        random.random(8 * size),
        random.random(size),
        np.zeros(size),
    )


def power_iteration(a, x, y, steps):
    n = len(a)
    value = 0.0
    for _ in range(steps):
        norm = 0.0
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += a[i, j] * x[j]
            y[i] = total
            norm += total * total
        value = norm**0.5
        for i in range(n):
            x[i] = y[i] / value
    return value


def power_iteration_arguments(size):
    return np.random.default_rng(6).random((size, size)), np.ones(size), np.zeros(size), 10


PROGRAMS = {
    "matrix_product": (matrix_product, matrix_product_arguments, 8, 300),
    "lu": (lu, dominant, 10, 400),
    "cholesky": (cholesky, cholesky_arguments, 10, 400),
    "thomas": (thomas, thomas_arguments, 60, 1_000_000),
    "sparse_product": (sparse_product, sparse_product_arguments, 30, 300_000),
    "power_iteration": (power_iteration, power_iteration_arguments, 8, 500),
}

# Where a power decides, the last bit is the library's.
INEXACT = {"power_iteration": 1e-12}
