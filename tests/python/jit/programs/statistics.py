"""Fits, filters, clusters and prices."""

import math

import numpy as np


def k_means(points, centres, sums, counts, labels, steps):
    n, d = points.shape
    k = len(centres)
    moved = 0
    for _ in range(steps):
        moved = 0
        for c in range(k):
            counts[c] = 0
            for a in range(d):
                sums[c, a] = 0.0
        for i in range(n):
            best, least = 0, math.inf
            for c in range(k):
                distance = 0.0
                for a in range(d):
                    difference = points[i, a] - centres[c, a]
                    distance += difference * difference
                if distance < least:
                    best, least = c, distance
            if labels[i] != best:
                labels[i] = best
                moved += 1
            counts[best] += 1
            for a in range(d):
                sums[best, a] += points[i, a]
        for c in range(k):
            if counts[c] > 0:
                for a in range(d):
                    centres[c, a] = sums[c, a] / counts[c]
        if moved == 0:
            break
    return moved


def k_means_arguments(size):
    points = np.random.default_rng(1).random((size, 2))
    k = 8
    return points, points[:k].copy(), np.zeros((k, 2)), np.zeros(k, np.int64), np.full(size, -1), 6


def kernel_density(samples, at, out, width):
    scale = 1.0 / (len(samples) * width * math.sqrt(2.0 * math.pi))
    for k in range(len(at)):
        total = 0.0
        for x in samples:
            z = (at[k] - x) / width
            total += math.exp(-0.5 * z * z)
        out[k] = total * scale


def kernel_density_arguments(size):
    return np.random.default_rng(2).normal(size=size), np.linspace(-3, 3, size), np.zeros(size), 0.2


def cumulative_normal(x):
    k = 1.0 / (1.0 + 0.2316419 * abs(x))
    tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail *= 0.3989422804014327 * math.exp(-0.5 * x * x)
    return 1.0 - tail if x > 0 else tail


def black_scholes(call, put, price, strike, years, rate, volatility):
    for i in range(len(price)):
        root = math.sqrt(years[i])
        d1 = math.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]
        d1 /= volatility * root
        d2 = d1 - volatility * root
        discount = strike[i] * math.exp(-rate * years[i])
        n1, n2 = cumulative_normal(d1), cumulative_normal(d2)
        call[i] = price[i] * n1 - discount * n2
        put[i] = discount * (1.0 - n2) - price[i] * (1.0 - n1)


def black_scholes_arguments(size):
    random = np.random.default_rng(3)
    return (
        np.zeros(size),
        np.zeros(size),
        random.uniform(5, 30, size),
        random.uniform(1, 100, size),
        random.uniform(0.25, 10, size),
        0.02,
        0.3,
    )


def binomial_option(price, strike, rate, volatility, values):
    n = len(values) - 1
    dt = 1.0 / n
    up = math.exp(volatility * math.sqrt(dt))
    down = 1.0 / up
    grow = math.exp(rate * dt)
    p = (grow - down) / (up - down)
    for i in range(n + 1):
        values[i] = max(strike - price * up ** (2 * i - n), 0.0)
    for step in range(n - 1, -1, -1):
        for i in range(step + 1):
            hold = (p * values[i + 1] + (1.0 - p) * values[i]) / grow
            values[i] = max(hold, strike - price * up ** (2 * i - step))
    return values[0]


def binomial_option_arguments(size):
    return 100.0, 105.0, 0.03, 0.25, np.zeros(size + 1)


def garch(returns, omega, alpha, beta, variance):
    likelihood = 0.0
    variance[0] = omega / (1.0 - alpha - beta)
    for t in range(1, len(returns)):
        variance[t] = omega + alpha * returns[t - 1] ** 2 + beta * variance[t - 1]
        if variance[t] <= 0.0:
            return math.inf
        likelihood += math.log(variance[t]) + returns[t] ** 2 / variance[t]
    return 0.5 * likelihood


def garch_arguments(size):
    return np.random.default_rng(4).normal(size=size), 0.1, 0.1, 0.8, np.zeros(size)


def kalman(observed, out, noise, drift):
    estimate, error = 0.0, 1.0
    for t in range(len(observed)):
        error += drift
        gain = error / (error + noise)
        if observed[t] == observed[t]:  # a missing one is NaN
            estimate += gain * (observed[t] - estimate)
            error *= 1.0 - gain
        out[t] = estimate


def kalman_arguments(size):
    observed = np.random.default_rng(5).normal(size=size).cumsum()
    observed[::7] = np.nan
    return observed, np.zeros(size), 1.0, 0.1


def least_squares(x, y):
    n = len(x)
    if n < 2:
        raise ValueError("two points at least")
    sx = sy = sxx = sxy = 0.0
    for a, b in zip(x, y):
        sx += a
        sy += b
        sxx += a * a
        sxy += a * b
    slope = (n * sxy - sx * sy) / (n * sxx - sx * sx)
    return slope, (sy - slope * sx) / n


def least_squares_arguments(size):
    x = np.random.default_rng(6).random(size)
    return x, 3 * x + 1


def perceptron(inputs, labels, weights, epochs):
    mistakes = 0
    for _ in range(epochs):
        mistakes = 0
        for i in range(len(inputs)):
            total = weights[-1]
            for k in range(inputs.shape[1]):
                total += weights[k] * inputs[i, k]
            guess = 1 if total > 0 else -1
            if guess != labels[i]:
                mistakes += 1
                for k in range(inputs.shape[1]):
                    weights[k] += 0.1 * labels[i] * inputs[i, k]
                weights[-1] += 0.1 * labels[i]
        if not mistakes:
            break
    return mistakes


def perceptron_arguments(size):
    inputs = np.random.default_rng(7).normal(size=(size, 6))
    return inputs, np.where(inputs.sum(1) > 0.3, 1, -1), np.zeros(7), 5


PROGRAMS = {
    "k_means": (k_means, k_means_arguments, 30, 60_000),
    "kernel_density": (kernel_density, kernel_density_arguments, 20, 1_200),
    "black_scholes": (black_scholes, black_scholes_arguments, 50, 500_000),
    "binomial_option": (binomial_option, binomial_option_arguments, 12, 700),
    "garch": (garch, garch_arguments, 100, 1_000_000),
    "kalman": (kalman, kalman_arguments, 100, 2_000_000),
    "least_squares": (least_squares, least_squares_arguments, 200, 2_000_000),
    "perceptron": (perceptron, perceptron_arguments, 20, 60_000),
}

# Where exponentials and logarithms decide, the last bits are the library's.
INEXACT = dict.fromkeys(("kernel_density", "black_scholes", "binomial_option", "garch"), 1e-09)
