"""Programs of whole arrays in functions: slices, broadcasting and element-wise functions."""

import numpy as np


def heat_by_slices(now, later, steps):
    for _ in range(steps):
        later[1:-1, 1:-1] = now[1:-1, 1:-1] + 0.2 * (
            now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4.0 * now[1:-1, 1:-1]
        )
        now, later = later, now
    return now[1, 1]


def heat_by_slices_arguments(size):
    random = np.random.default_rng(1)
    return random.random((size, size)), np.zeros((size, size)), 4


def waves_by_slices(height, speed, steps):
    """Height at points, speed between them, each changed in place by the other."""
    for _ in range(steps):
        speed[1:-1] += 0.3 * (height[1:] - height[:-1])
        height += 0.3 * (speed[1:] - speed[:-1])


def waves_by_slices_arguments(size):
    return np.sin(np.linspace(0.0, 6.0, size)), np.zeros(size + 1), 20


def limited_differences(field, out):
    left = field[:, 1:-1] - field[:, :-2]
    right = field[:, 2:] - field[:, 1:-1]
    out[:, 1:-1] = np.where(left * right > 0.0, np.minimum(np.abs(left), np.abs(right)) * np.sign(left), 0.0)


def limited_differences_arguments(size):
    return np.random.default_rng(2).normal(size=(size, size)), np.zeros((size, size))


def great_circles(latitudes, longitudes, latitude, longitude):
    """Distances on a globe from one place to others."""
    half = np.sin((latitudes - latitude) * 0.5) ** 2
    across = np.sin((longitudes - longitude) * 0.5) ** 2
    a = half + np.cos(latitudes) * np.cos(latitude) * across
    return 6371.0 * 2.0 * np.arctan2(np.sqrt(a), np.sqrt(1.0 - a))


def great_circles_arguments(size):
    random = np.random.default_rng(3)
    return random.random(size) - 0.5, random.random(size) * 3.0, 0.3, 1.1


def pair_forces(x, y, mass):
    """Of all pairs of bodies, by arrays of two dimensions."""
    dx = x[None, :] - x[:, None]
    dy = y[None, :] - y[:, None]
    inverse = (dx * dx + dy * dy + 0.01) ** -1.5
    return (dx * inverse * mass[None, :]).sum() + (dy * inverse * mass[None, :]).sum()


def pair_forces_arguments(size):
    random = np.random.default_rng(4)
    return random.random(size), random.random(size), random.random(size)


PROGRAMS = {
    "heat_by_slices": (heat_by_slices, heat_by_slices_arguments, 8, 600),
    "waves_by_slices": (waves_by_slices, waves_by_slices_arguments, 20, 100_000),
    "limited_differences": (limited_differences, limited_differences_arguments, 7, 800),
    "great_circles": (great_circles, great_circles_arguments, 50, 300_000),
    "pair_forces": (pair_forces, pair_forces_arguments, 9, 700),
}

# The last bits of functions are the library's, and sums are in another order than NumPy's.
INEXACT = {"great_circles": 1e-12, "pair_forces": 1e-9}
