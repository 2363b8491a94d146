"""Sums, scans and counts over arrays."""

import numpy as np


def looped_sum(a):
    total = 0.0
    for x in a:
        total += x
    return total


def one_array(size):
    return (np.random.default_rng(1).random(size),)


def kahan_sum(a):
    total = 0.0
    lost = 0.0
    for i in range(len(a)):
        y = a[i] - lost
        t = total + y
        lost = (t - total) - y
        total = t
    return total


def prefix_sums(a, out):
    total = 0
    for i in range(a.shape[0]):
        total += a[i]
        out[i] = total


def prefix_sums_arguments(size):
    return np.random.default_rng(2).integers(-100, 100, size), np.zeros(size, np.int64)


def histogram(a, counts, low, high):
    bins = len(counts)
    scale = bins / (high - low)
    outside = 0
    for x in a:
        if x < low or x >= high:
            outside += 1
            continue
        k = int((x - low) * scale)
        counts[k] += 1
    return outside


def histogram_arguments(size):
    return np.random.default_rng(3).normal(size=size), np.zeros(40, np.int64), -2.0, 2.0


def moving_mean(a, out, width):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
        if i >= width:
            total -= a[i - width]
        out[i] = total / min(i + 1, width)


def moving_mean_arguments(size):
    return np.random.default_rng(4).random(size), np.zeros(size), 25


def extremes(a):
    low = high = a[0]
    where_low = where_high = 0
    for i, x in enumerate(a):
        if x < low:
            low, where_low = x, i
        elif x > high:
            high, where_high = x, i
    return low, where_low, high, where_high


def convolution(a, kernel, out):
    for i in range(len(out)):
        total = 0.0
        for k in range(len(kernel)):
            total += a[i + k] * kernel[-1 - k]
        out[i] = total


def convolution_arguments(size):
    random = np.random.default_rng(5)
    return random.random(size), random.random(32), np.zeros(size - 31)


def zero_suppression(values, cut, out):
    kept = 0
    for i in range(len(values)):
        if values[i] >= cut:
            out[kept] = values[i]
            kept += 1
    return kept


def zero_suppression_arguments(size):
    return np.random.default_rng(6).random(size), 0.7, np.zeros(size)


PROGRAMS = {
    "looped_sum": (looped_sum, one_array, 500, 4_000_000),
    "kahan_sum": (kahan_sum, one_array, 500, 4_000_000),
    "prefix_sums": (prefix_sums, prefix_sums_arguments, 500, 4_000_000),
    "histogram": (histogram, histogram_arguments, 500, 2_000_000),
    "moving_mean": (moving_mean, moving_mean_arguments, 200, 2_000_000),
    "extremes": (extremes, one_array, 500, 4_000_000),
    "convolution": (convolution, convolution_arguments, 60, 400_000),
    "zero_suppression": (zero_suppression, zero_suppression_arguments, 500, 4_000_000),
}
