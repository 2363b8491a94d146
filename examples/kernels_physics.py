"""CUDA-style kernels of physics, each beside NumPy: diffusion in tiles with a halo, bodies that attract each other, and
the Lomb-Scargle periodogram of samples at uneven times.

python examples/kernels_physics.py
"""

import numpy
import weft as np
from periodogram import frequencies, peak, periodogram, series
from weft import cuda

TILE = 16
BLOCK = 128


# --- diffusion ------------------------------------------------------------------------------------------


@cuda.jit
def diffused(u, out, laplacian, rate):
    """A step of the heat equation, whose Laplacian is kept. Nothing flows across the edges."""
    tile = cuda.shared.array((TILE + 2, TILE + 2), np.float64)
    rows, columns = u.shape
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    # Beyond an edge stands the cell at the edge: all threads read, those outside of the field as well.
    column, row = min(x, columns - 1), min(y, rows - 1)
    tile[ty, tx] = u[row, column]
    if tx == 1:
        tile[ty, 0] = u[row, max(min(x - 1, columns - 1), 0)]
    if tx == TILE:
        tile[ty, TILE + 1] = u[row, min(x + 1, columns - 1)]
    if ty == 1:
        tile[0, tx] = u[max(min(y - 1, rows - 1), 0), column]
    if ty == TILE:
        tile[TILE + 1, tx] = u[min(y + 1, rows - 1), column]
    cuda.syncthreads()
    if x < columns and y < rows:
        around = tile[ty - 1, tx] + tile[ty + 1, tx] + tile[ty, tx - 1] + tile[ty, tx + 1]
        change = around - 4.0 * tile[ty, tx]
        laplacian[y, x] = change
        out[y, x] = tile[ty, tx] + rate * change


def diffuse(u, steps, rate=0.2):
    """The field after so many steps, and the Laplacian at the last one. Two fields take turns: none is read and
    written in one launch."""
    now, then = cuda.to_device(u), cuda.device_array_like(u)
    laplacian = cuda.device_array_like(u)
    grid = -(-u.shape[1] // TILE), -(-u.shape[0] // TILE)
    for _ in range(steps):
        diffused[grid, (TILE, TILE)](now, then, laplacian, rate)
        now, then = then, now
    return now.copy_to_host(), laplacian.copy_to_host()


def diffuse_by_numpy(u, steps, rate=0.2):
    for _ in range(steps):
        wide = numpy.pad(u, 1, mode="edge")
        around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
        laplacian = around - 4.0 * u
        u = u + rate * laplacian
    return u, laplacian


# --- bodies ---------------------------------------------------------------------------------------------


@cuda.jit
def attracted(places, masses, accelerations, softening):
    """What all bodies together do to each one, a block's worth of them at a time in shared memory."""
    others = cuda.shared.array((BLOCK, 4), np.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    own = min(i, masses.size - 1)
    x, y, z = places[own, 0], places[own, 1], places[own, 2]
    ax = ay = az = 0.0
    for first in range(0, masses.size, BLOCK):
        other = first + t
        if other < masses.size:
            for k in range(3):
                others[t, k] = places[other, k]
            others[t, 3] = masses[other]
        else:
            for k in range(4):
                others[t, k] = 0.0  # without mass it does nothing
        cuda.syncthreads()
        for j in range(BLOCK):
            dx, dy, dz = others[j, 0] - x, others[j, 1] - y, others[j, 2] - z
            square = dx * dx + dy * dy + dz * dz + softening
            pull = others[j, 3] / (square * np.sqrt(square))
            ax += dx * pull
            ay += dy * pull
            az += dz * pull
        cuda.syncthreads()  # before the next ones take their place
    if i < masses.size:
        accelerations[i, 0], accelerations[i, 1], accelerations[i, 2] = ax, ay, az


@cuda.jit
def moved(places, speeds, accelerations, kick, drift):
    """Speeds change by a kick, then places by a drift."""
    i, k = cuda.grid(2)
    if i < places.shape[0] and k < 3:
        speeds[i, k] += kick * accelerations[i, k]
        places[i, k] += drift * speeds[i, k]


def accelerate(places, masses, softening=1e-2):
    out = cuda.device_array_like(places)
    attracted[-(-masses.size // BLOCK), BLOCK](places, masses, out, softening)
    return out


def orbit(places, speeds, masses, steps, dt):
    """Places and speeds after so many steps, half a kick at both ends of each drift."""
    places, speeds, masses = (cuda.to_device(each) for each in (places, speeds, masses))
    launch = (-(-masses.size // 32), 1), (32, 4)
    accelerations = accelerate(places, masses)
    for _ in range(steps):
        moved[launch](places, speeds, accelerations, dt / 2, dt)
        accelerations = accelerate(places, masses)
        moved[launch](places, speeds, accelerations, dt / 2, 0.0)
    return places.copy_to_host(), speeds.copy_to_host()


def accelerate_by_numpy(places, masses, softening=1e-2):
    away = places[None] - places[:, None]
    square = (away**2).sum(axis=2) + softening
    return (away * (masses / square**1.5)[..., None]).sum(axis=1)


def energy(places, speeds, masses, softening=1e-2):
    square = ((places[None] - places[:, None]) ** 2).sum(axis=2) + softening
    pairs = numpy.outer(masses, masses) / numpy.sqrt(square)
    return (masses * (speeds**2).sum(axis=1)).sum() / 2 - numpy.triu(pairs, 1).sum()


# --- uneven samples -------------------------------------------------------------------------------------


@cuda.jit
def spectrum(t, y, f, squares, power):
    """The part of the variance that a sinusoid of the thread's frequency explains."""
    times = cuda.shared.array(BLOCK, np.float64)
    values = cuda.shared.array(BLOCK, np.float64)
    i, lane = cuda.grid(1), cuda.threadIdx.x
    w = 2.0 * np.pi * f[min(i, f.size - 1)]
    yc = ys = cc = ss = cs = 0.0
    for first in range(0, t.size, BLOCK):
        count = min(BLOCK, t.size - first)
        if lane < count:
            times[lane] = t[first + lane]
            values[lane] = y[first + lane]
        cuda.syncthreads()
        for k in range(count):
            c, s = np.cos(w * times[k]), np.sin(w * times[k])
            yc += values[k] * c
            ys += values[k] * s
            cc += c * c
            ss += s * s
            cs += c * s
        cuda.syncthreads()
    if i < f.size:
        shift = 0.5 * np.arctan2(2.0 * cs, cc - ss)
        ct, st = np.cos(shift), np.sin(shift)
        along = (ct * yc + st * ys) ** 2 / (ct * ct * cc + 2.0 * ct * st * cs + st * st * ss)
        across = (ct * ys - st * yc) ** 2 / (ct * ct * ss - 2.0 * ct * st * cs + st * st * cc)
        power[i] = (along + across) / squares


def spectrum_of(t, y, f):
    power = numpy.zeros(f.size)
    spectrum[-(-f.size // BLOCK), BLOCK](t, y, f, float((y * y).sum()), power)
    return power


def main():
    rng = numpy.random.default_rng(7)
    u = rng.random((90, 133))
    field, laplacian = diffuse(u, 200)
    expected, kept = diffuse_by_numpy(u, 200)
    print("diffusion, 200 steps      ", numpy.allclose(field, expected, rtol=1e-12))
    print("  its last Laplacian      ", numpy.allclose(laplacian, kept, rtol=0, atol=1e-12))
    print("  nothing flows out       ", abs(field.sum() / u.sum() - 1) < 1e-12)

    places, speeds = rng.standard_normal((777, 3)), rng.standard_normal((777, 3)) / 2
    masses = rng.random(777) / 777
    found = accelerate(cuda.to_device(places), cuda.to_device(masses)).copy_to_host()
    print(
        "attraction of 777 bodies  ", numpy.allclose(found, accelerate_by_numpy(places, masses), rtol=1e-10)
    )
    later, faster = orbit(places, speeds, masses, 20, 1e-2)
    lost = energy(later, faster, masses) / energy(places, speeds, masses) - 1
    print("  energy after 20 steps   ", abs(lost) < 1e-4)
    print("  momentum                ", numpy.allclose(masses @ faster, masses @ speeds, rtol=0, atol=1e-13))

    (t, y), f = series(), frequencies(500)
    power = spectrum_of(t, y, f)
    print("Lomb-Scargle periodogram  ", numpy.allclose(power, periodogram(numpy, t, y, f), rtol=1e-9))
    print("  finds the year          ", abs(peak(f, power, 0.7, 1.3) - 1) < 0.01)


if __name__ == "__main__":
    main()
