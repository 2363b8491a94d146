"""Motions, spectra and noise."""

import math

import numpy as np


def n_body(position, velocity, mass, steps, dt):
    n = len(mass)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = position[i, 0] - position[j, 0]
                dy = position[i, 1] - position[j, 1]
                dz = position[i, 2] - position[j, 2]
                square = dx * dx + dy * dy + dz * dz + 0.01
                pull = dt / (square * math.sqrt(square))
                velocity[i, 0] -= dx * mass[j] * pull
                velocity[i, 1] -= dy * mass[j] * pull
                velocity[i, 2] -= dz * mass[j] * pull
                velocity[j, 0] += dx * mass[i] * pull
                velocity[j, 1] += dy * mass[i] * pull
                velocity[j, 2] += dz * mass[i] * pull
        for i in range(n):
            for k in range(3):
                position[i, k] += dt * velocity[i, k]


def n_body_arguments(size):
    random = np.random.default_rng(1)
    return random.random((5, 3)), random.random((5, 3)), random.random(5), size, 0.001


def lennard_jones(position, force, cutoff):
    n = len(position)
    energy = 0.0
    for i in range(n):
        for j in range(i):
            dx = position[i, 0] - position[j, 0]
            dy = position[i, 1] - position[j, 1]
            square = dx * dx + dy * dy
            if square >= cutoff * cutoff:
                continue
            s = 1.0 / square
            s3 = s * s * s
            energy += 4.0 * s3 * (s3 - 1.0)
            f = 24.0 * s * s3 * (2.0 * s3 - 1.0)
            force[i, 0] += f * dx
            force[i, 1] += f * dy
            force[j, 0] -= f * dx
            force[j, 1] -= f * dy
    return energy


def lennard_jones_arguments(size):
    side = math.ceil(size**0.5)
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2)[:size]
    noise = np.random.default_rng(2).random((size, 2))
    return grid * 1.1 + 0.05 * noise, np.zeros((size, 2)), 3.0


def lorenz(x, y, z):
    return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z


def runge_kutta(start, steps, dt):
    x, y, z = start
    for _ in range(steps):
        ax, ay, az = lorenz(x, y, z)
        bx, by, bz = lorenz(x + dt / 2 * ax, y + dt / 2 * ay, z + dt / 2 * az)
        cx, cy, cz = lorenz(x + dt / 2 * bx, y + dt / 2 * by, z + dt / 2 * bz)
        ex, ey, ez = lorenz(x + dt * cx, y + dt * cy, z + dt * cz)
        x += dt / 6 * (ax + 2 * bx + 2 * cx + ex)
        y += dt / 6 * (ay + 2 * by + 2 * cy + ey)
        z += dt / 6 * (az + 2 * bz + 2 * cz + ez)
    return x, y, z


def runge_kutta_arguments(size):
    return (1.0, 1.0, 1.0), size, 0.001


def lomb_scargle(times, values, frequencies, power):
    for k in range(len(frequencies)):
        w = frequencies[k]
        s2 = c2 = 0.0
        for t in times:
            s2 += math.sin(2.0 * w * t)
            c2 += math.cos(2.0 * w * t)
        tau = math.atan2(s2, c2) / (2.0 * w)
        ys = yc = ss = cc = 0.0
        for i in range(len(times)):
            s = math.sin(w * (times[i] - tau))
            c = math.cos(w * (times[i] - tau))
            ys += values[i] * s
            yc += values[i] * c
            ss += s * s
            cc += c * c
        power[k] = 0.5 * (yc * yc / cc + ys * ys / ss)


def lomb_scargle_arguments(size):
    random = np.random.default_rng(3)
    times = np.sort(random.random(size) * 10)
    return times, np.sin(5 * times) + random.random(size), np.linspace(1, 20, size), np.zeros(size)


def wave(u, before, after, steps, speed):
    n = len(u)
    for _ in range(steps):
        for i in range(1, n - 1):
            after[i] = 2.0 * u[i] - before[i] + speed * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        for i in range(n):
            before[i] = u[i]
            u[i] = after[i]


def wave_arguments(size):
    u = np.sin(np.linspace(0, 3, size))
    return u, u.copy(), np.zeros(size), 20, 0.25


def random_walk(ends, steps, seed):
    state = seed
    farthest = 0
    for k in range(len(ends)):
        x = y = 0
        for _ in range(steps):
            state = (1103515245 * state + 12345) & 0x7FFFFFFF
            turn = (state >> 16) & 3
            if turn == 0:
                x += 1
            elif turn == 1:
                x -= 1
            elif turn == 2:
                y += 1
            else:
                y -= 1
            farthest = max(farthest, abs(x) + abs(y))
        ends[k] = abs(x) + abs(y)
    return farthest


def random_walk_arguments(size):
    return np.zeros(size, np.int64), 100, 99


def deposit(x, weights, grid):
    """Charges of particles on a grid, by the two cells around each."""
    n = len(grid)
    for i in range(len(x)):
        cell = int(x[i])
        part = x[i] - cell
        grid[cell % n] += weights[i] * (1.0 - part)
        grid[(cell + 1) % n] += weights[i] * part


def deposit_arguments(size):
    random = np.random.default_rng(4)
    return random.random(size) * 64, random.random(size), np.zeros(64)


PROGRAMS = {
    "n_body": (n_body, n_body_arguments, 8, 100_000),
    "lennard_jones": (lennard_jones, lennard_jones_arguments, 16, 1_500),
    "runge_kutta": (runge_kutta, runge_kutta_arguments, 30, 300_000),
    "lomb_scargle": (lomb_scargle, lomb_scargle_arguments, 16, 600),
    "wave": (wave, wave_arguments, 30, 100_000),
    "random_walk": (random_walk, random_walk_arguments, 6, 30_000),
    "deposit": (deposit, deposit_arguments, 100, 1_000_000),
}

# Where sines decide, the last bits are the library's.
INEXACT = {"lomb_scargle": 1e-9}
