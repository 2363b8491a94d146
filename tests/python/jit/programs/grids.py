"""Stencils and cells on grids of two dimensions."""

import numpy as np


def image(size):
    return np.random.default_rng(1).integers(0, 255, (size, size)).astype(np.uint8)


def smoothing(a, out):
    rows, columns = a.shape
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            total = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    total += a[i + di, j + dj]
            out[i, j] = total // 9


def smoothing_arguments(size):
    return image(size), np.zeros((size, size), np.uint8)


def smoothing_floats(a, out):
    rows, columns = a.shape
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            out[i, j] = (
                a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1]
                + a[i, j - 1] + a[i, j] + a[i, j + 1]
                + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
            ) / 9.0  # fmt: skip


def smoothing_floats_arguments(size):
    return np.random.default_rng(2).random((size, size)), np.zeros((size, size))


def laplace(u, steps):
    rows, columns = u.shape
    change = 0.0
    for _ in range(steps):
        change = 0.0
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                old = u[i, j]
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                change += abs(u[i, j] - old)
        if change < 1e-9:
            break
    return change


def laplace_arguments(size):
    u = np.zeros((size, size))
    u[0] = 1.0
    return u, 20


def diffusion(u, new, steps):
    rows, columns = u.shape
    for _ in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                new[i, j] = u[i, j] + 0.1 * (
                    u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
                )
        u, new = new, u
    total = 0.0
    for i in range(rows):
        for j in range(columns):
            total += u[i, j]
    return total


def diffusion_arguments(size):
    u = np.random.default_rng(3).random((size, size))
    return u, u.copy(), 7


def game_of_life(cells, new, steps):
    rows, columns = cells.shape
    alive = 0
    for _ in range(steps):
        alive = 0
        for i in range(rows):
            for j in range(columns):
                around = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di != 0 or dj != 0:
                            around += cells[(i + di) % rows, (j + dj) % columns]
                lives = around == 3 or (around == 2 and cells[i, j] == 1)
                new[i, j] = 1 if lives else 0
                alive += lives
        for i in range(rows):
            for j in range(columns):
                cells[i, j] = new[i, j]
    return alive


def game_of_life_arguments(size):
    cells = np.random.default_rng(4).integers(0, 2, (size, size)).astype(np.int8)
    return cells, np.zeros_like(cells), 3


def ising(spins, thresholds, sweeps, seed):
    n = spins.shape[0]
    state = seed
    for _ in range(sweeps * n * n):
        state = (1103515245 * state + 12345) & 0x7FFFFFFF
        i = (state >> 8) % n
        state = (1103515245 * state + 12345) & 0x7FFFFFFF
        j = (state >> 8) % n
        around = spins[i - 1, j] + spins[(i + 1) % n, j] + spins[i, j - 1] + spins[i, (j + 1) % n]
        energy = 2 * spins[i, j] * around
        state = (1103515245 * state + 12345) & 0x7FFFFFFF
        if energy <= 0 or state / 2147483648.0 < thresholds[energy]:
            spins[i, j] = -spins[i, j]
    total = 0
    for i in range(n):
        for j in range(n):
            total += spins[i, j]
    return total


def ising_arguments(size):
    spins = np.random.default_rng(5).integers(0, 2, (size, size)) * 2 - 1
    return spins, np.exp(-0.4 * np.arange(9.0)), 4, 7


def mandelbrot_point(x, y, most):
    c = complex(x, y)
    z = 0j
    for k in range(most):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag > 4.0:
            return k
    return most


def mandelbrot(out, most):
    rows, columns = out.shape
    for i in range(rows):
        y = -1.25 + 2.5 * i / rows
        for j in range(columns):
            out[i, j] = mandelbrot_point(-2.0 + 2.75 * j / columns, y, most)


def mandelbrot_arguments(size):
    return np.zeros((size, size), np.int32), 100


def julia(out, most):
    rows, columns = out.shape
    for i in range(rows):
        for j in range(columns):
            x, y = 3.0 * j / columns - 1.5, 3.0 * i / rows - 1.5
            k = 0
            while x * x + y * y <= 4.0 and k < most:
                x, y = x * x - y * y - 0.8, 2.0 * x * y + 0.156
                k += 1
            out[i, j] = k


def harris(a, out):
    rows, columns = a.shape
    for i in range(2, rows - 2):
        for j in range(2, columns - 2):
            xx = yy = xy = 0.0
            for k in range(i - 1, i + 2):
                for m in range(j - 1, j + 2):
                    dx = a[k, m + 1] - a[k, m - 1]
                    dy = a[k + 1, m] - a[k - 1, m]
                    xx += dx * dx
                    yy += dy * dy
                    xy += dx * dy
            trace = xx + yy
            out[i, j] = xx * yy - xy * xy - 0.04 * trace * trace


def edges(a, out):
    rows, columns = a.shape
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            across = a[i - 1, j + 1] + 2 * a[i, j + 1] + a[i + 1, j + 1]
            across -= a[i - 1, j - 1] + 2 * a[i, j - 1] + a[i + 1, j - 1]
            down = a[i + 1, j - 1] + 2 * a[i + 1, j] + a[i + 1, j + 1]
            down -= a[i - 1, j - 1] + 2 * a[i - 1, j] + a[i - 1, j + 1]
            out[i, j] = (abs(across) + abs(down)) // 8


def edges_arguments(size):
    values = np.random.default_rng(8).integers(0, 256, (size, size)).astype(np.uint8)
    return values, np.zeros_like(values)


def born_or_stay(cells, new):
    rows, columns = cells.shape
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            near = cells[i - 1, j - 1] + cells[i - 1, j] + cells[i - 1, j + 1] + cells[i, j - 1]
            near += cells[i, j + 1] + cells[i + 1, j - 1] + cells[i + 1, j] + cells[i + 1, j + 1]
            new[i, j] = 1 if near == 3 or (near == 2 and cells[i, j] == 1) else 0


def born_or_stay_arguments(size):
    cells = np.random.default_rng(9).integers(0, 2, (size, size)).astype(np.int8)
    return cells, np.zeros_like(cells)


def conducted(u, k, new, dt):
    rows, columns = u.shape
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            east = (k[i, j + 1] + k[i, j]) * (u[i, j + 1] - u[i, j])
            west = (k[i, j] + k[i, j - 1]) * (u[i, j] - u[i, j - 1])
            south = (k[i + 1, j] + k[i, j]) * (u[i + 1, j] - u[i, j])
            north = (k[i, j] + k[i - 1, j]) * (u[i, j] - u[i - 1, j])
            new[i, j] = u[i, j] + 0.5 * dt * (east - west + south - north)


def conducted_arguments(size):
    random = np.random.default_rng(10)
    return random.random((size, size)), random.random((size, size)), np.zeros((size, size)), 0.1


PROGRAMS = {
    "smoothing": (smoothing, smoothing_arguments, 12, 1500),
    "smoothing_floats": (smoothing_floats, smoothing_floats_arguments, 20, 2000),
    "laplace": (laplace, laplace_arguments, 10, 500),
    "diffusion": (diffusion, diffusion_arguments, 10, 1000),
    "game_of_life": (game_of_life, game_of_life_arguments, 8, 400),
    "ising": (ising, ising_arguments, 10, 300),
    "mandelbrot": (mandelbrot, mandelbrot_arguments, 8, 400),
    "julia": (julia, mandelbrot_arguments, 8, 400),
    "edges": (edges, edges_arguments, 12, 1500),
    "born_or_stay": (born_or_stay, born_or_stay_arguments, 12, 1500),
    "conducted": (conducted, conducted_arguments, 12, 1000),
    "harris": (harris, smoothing_floats_arguments, 8, 600),
}
