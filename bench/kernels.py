"""Times CUDA-style kernels on the CPU beside the same algorithms as loops over prange, and compares their results.

    python bench/kernels.py [--only TEXT] [--rounds N]

Both are weft's. Columns have the shortest processor time of all threads, which what else the machine does changes
least, and the shortest time by the clock.
"""

import argparse
import math
import time

import numpy
import weft as np
from weft import cuda, prange

TILE = 16
WARP = 0xFFFFFFFF
KERNELS = {}


def beside(loops, block):
    """Of a kernel: the same as loops, and its blocks."""

    def note(kernel):
        KERNELS[kernel.__name__] = (cuda.jit(kernel), np.jit(loops), block)
        return kernel

    return note


def axpy_loops(a, x, y):
    for i in prange(x.size):
        y[i] = a * x[i] + y[i]


@beside(axpy_loops, 256)
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = a * x[i] + y[i]


def scaled_loops(a, x, y):
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = a * x[i, j] + 1


@beside(scaled_loops, (16, 16))
def scaled_early_return(a, x, y):
    i, j = cuda.grid(2)
    if i >= x.shape[0] or j >= x.shape[1]:
        return
    y[i, j] = a * x[i, j] + 1


@beside(scaled_loops, (32, 8))
def scaled_columns_first(a, x, y):
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = a * x[i, j] + 1


@beside(scaled_loops, "rows")
def scaled_block_a_row(a, x, y):
    i = cuda.blockIdx.x
    for j in range(cuda.threadIdx.x, x.shape[1], cuda.blockDim.x):
        y[i, j] = a * x[i, j] + 1


def flat_loops(x, y, width, height):
    for row in prange(height):
        for column in range(width):
            at = row * width + column
            y[at] = 0.5 * x[at] + y[at]


@beside(flat_loops, (32, 8))
def flat_indices(x, y, width, height):
    column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if column < width and row < height:
        at = row * width + column
        y[at] = 0.5 * x[at] + y[at]


def exponentials_loops(x, y):
    for i in prange(x.size):
        y[i] = math.exp(-x[i]) * math.sin(x[i])


@beside(exponentials_loops, 128)
def exponentials(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = math.exp(-x[i]) * math.sin(x[i])


def strided_loops(x, y):
    for i in prange(x.size):
        y[i] = 2 * x[i] + y[i]


@beside(strided_loops, "few")
def strided_for(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = 2 * x[i] + y[i]


@beside(strided_loops, "few")
def strided_while(x, y):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    while i < x.size:
        y[i] = 2 * x[i] + y[i]
        i += cuda.blockDim.x * cuda.gridDim.x


def squares_loops(x, out):
    total = 0.0
    for i in prange(x.size):
        total += x[i] * x[i]
    out[0] = total


@beside(squares_loops, "few")
def squares_by_atomics(x, out):
    total = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i] * x[i]
    cuda.atomic.add(out, 0, total)


@beside(squares_loops, "few")
def squares_by_shuffles(x, out):
    total = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i] * x[i]
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(WARP, total, step)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, total)


@beside(squares_loops, "few")
def squares_by_shared_memory(x, out):
    sums = cuda.shared.array(256, np.float64)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i] * x[i]
    sums[t] = total
    cuda.syncthreads()
    half = 128
    while half > 0:
        if t < half:
            sums[t] += sums[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, sums[0])


def histogram_loops(data, out):
    for i in range(256):
        out[i] = 0
    for i in prange(data.size):
        out[data[i]] += 1


@beside(histogram_loops, "few")
def histogram(data, out):
    counts = cuda.shared.array(256, np.int64)
    t = cuda.threadIdx.x
    counts[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, data[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(out, t, counts[t])


def smooth_loops(source, target):
    for i in prange(1, source.shape[0] - 1):
        for j in range(1, source.shape[1] - 1):
            total = 0
            for k in range(-1, 2):
                for m in range(-1, 2):
                    total += source[i + k, j + m]
            target[i, j] = total // 9


@beside(smooth_loops, (16, 16))
def smooth(source, target):
    i, j = cuda.grid(2)
    if 0 < i < source.shape[0] - 1 and 0 < j < source.shape[1] - 1:
        total = 0
        for k in range(-1, 2):
            for m in range(-1, 2):
                total += source[i + k, j + m]
        target[i, j] = total // 9


def laplacian_loops(u, v):
    for i in prange(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            for k in range(1, u.shape[2] - 1):
                around = u[i - 1, j, k] + u[i + 1, j, k] + u[i, j - 1, k] + u[i, j + 1, k]
                v[i, j, k] = around + u[i, j, k - 1] + u[i, j, k + 1] - 6 * u[i, j, k]


@beside(laplacian_loops, (8, 8, 4))
def laplacian(u, v):
    i, j, k = cuda.grid(3)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1 and 0 < k < u.shape[2] - 1:
        around = u[i - 1, j, k] + u[i + 1, j, k] + u[i, j - 1, k] + u[i, j + 1, k]
        v[i, j, k] = around + u[i, j, k - 1] + u[i, j, k + 1] - 6 * u[i, j, k]


def diffuse_loops(u, v, d):
    n, m = u.shape
    for i in prange(n):
        for j in range(m):
            around = (
                u[max(i - 1, 0), j] + u[min(i + 1, n - 1), j] + u[i, max(j - 1, 0)] + u[i, min(j + 1, m - 1)]
            )
            v[i, j] = u[i, j] + d * (around - np.float32(4) * u[i, j])


@beside(diffuse_loops, (16, 16))
def diffuse_with_tiles(u, v, d):
    tile = cuda.shared.array((18, 18), np.float32)
    j, i = cuda.grid(2)
    tx = cuda.threadIdx.x + 1
    ty = cuda.threadIdx.y + 1
    n, m = u.shape
    row = min(i, n - 1)
    column = min(j, m - 1)
    tile[ty, tx] = u[row, column]
    if tx == 1:
        tile[ty, 0] = u[row, max(column - 1, 0)]
    if tx == 16:
        tile[ty, 17] = u[row, min(column + 1, m - 1)]
    if ty == 1:
        tile[0, tx] = u[max(row - 1, 0), column]
    if ty == 16:
        tile[17, tx] = u[min(row + 1, n - 1), column]
    cuda.syncthreads()
    if i < n and j < m:
        around = tile[ty - 1, tx] + tile[ty + 1, tx] + tile[ty, tx - 1] + tile[ty, tx + 1]
        v[i, j] = tile[ty, tx] + d * (around - np.float32(4) * tile[ty, tx])


def product_loops(a, b, c):
    for i in prange(c.shape[0]):
        for j in range(c.shape[1]):
            total = np.float32(0)
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@beside(product_loops, (16, 16))
def product(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@beside(product_loops, (16, 16))
def product_with_tiles(a, b, c):
    of_a = cuda.shared.array((TILE, TILE), np.float32)
    of_b = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = np.float32(0)
    for t in range(a.shape[1] // TILE):
        of_a[ty, tx] = a[y, tx + t * TILE]
        of_b[ty, tx] = b[ty + t * TILE, x]
        cuda.syncthreads()
        for k in range(TILE):
            total += of_a[ty, k] * of_b[k, tx]
        cuda.syncthreads()
    c[y, x] = total


def mandelbrot_loops(out, most):
    for y in prange(out.shape[0]):
        for x in range(out.shape[1]):
            c = complex(-2 + 3 * x / out.shape[1], -1 + 2 * y / out.shape[0])
            z = 0j
            n = 0
            while n < most and z.real * z.real + z.imag * z.imag < 4:
                z = z * z + c
                n += 1
            out[y, x] = n


@beside(mandelbrot_loops, (16, 16))
def mandelbrot(out, most):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        c = complex(-2 + 3 * x / out.shape[1], -1 + 2 * y / out.shape[0])
        z = 0j
        n = 0
        while n < most and z.real * z.real + z.imag * z.imag < 4:
            z = z * z + c
            n += 1
        out[y, x] = n


def forces_loops(p, f):
    for i in prange(p.shape[0]):
        x = y = z = 0.0
        for j in range(p.shape[0]):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            dz = p[j, 2] - p[i, 2]
            squared = dx * dx + dy * dy + dz * dz + 0.01
            scale = 1 / (squared * math.sqrt(squared))
            x += dx * scale
            y += dy * scale
            z += dz * scale
        f[i, 0] = x
        f[i, 1] = y
        f[i, 2] = z


@beside(forces_loops, 128)
def forces(p, f):
    i = cuda.grid(1)
    if i < p.shape[0]:
        x = y = z = 0.0
        for j in range(p.shape[0]):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            dz = p[j, 2] - p[i, 2]
            squared = dx * dx + dy * dy + dz * dz + 0.01
            scale = 1 / (squared * math.sqrt(squared))
            x += dx * scale
            y += dy * scale
            z += dz * scale
        f[i, 0] = x
        f[i, 1] = y
        f[i, 2] = z


def gather_loops(at, x, y):
    for i in prange(at.size):
        y[i] = x[at[i]]


@beside(gather_loops, 256)
def gather(at, x, y):
    i = cuda.grid(1)
    if i < at.size:
        y[i] = x[at[i]]


def transposed_loops(x, y):
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            y[j, i] = x[i, j]


@beside(transposed_loops, (16, 16))
def transposed_with_tiles(x, y):
    tile = cuda.shared.array((TILE, TILE + 1), np.float64)
    i, j = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[j, i]
    cuda.syncthreads()
    i = cuda.blockIdx.y * TILE + cuda.threadIdx.x
    j = cuda.blockIdx.x * TILE + cuda.threadIdx.y
    y[j, i] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


def sums_of_columns_loops(x, sums):
    for j in prange(x.shape[1]):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i, j]
        sums[j] = total


@beside(sums_of_columns_loops, 256)
def sums_of_columns(x, sums):
    j = cuda.grid(1)
    if j < x.shape[1]:
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i, j]
        sums[j] = total


def sums_of_rows_loops(x, sums):
    for i in prange(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
        sums[i] = total


@beside(sums_of_rows_loops, 256)
def sums_of_rows(x, sums):
    i = cuda.grid(1)
    if i < x.shape[0]:
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
        sums[i] = total


def scan_loops(x, y):
    for warp in prange(x.size // 32):
        total = np.float32(0)
        for i in range(warp * 32, warp * 32 + 32):
            total += x[i]
            y[i] = total


@beside(scan_loops, 256)
def scan_of_warps(x, y):
    i = cuda.grid(1)
    value = x[i]
    lane = cuda.threadIdx.x & 31
    step = 1
    while step < 32:
        before = cuda.shfl_up_sync(WARP, value, step)
        if lane >= step:
            value += before
        step *= 2
    y[i] = value


def medians_loops(source, target):
    for i in prange(1, source.shape[0] - 1):
        for j in range(1, source.shape[1] - 1):
            window = np.empty(9, np.float32)
            for k in range(3):
                for m in range(3):
                    window[k * 3 + m] = source[i + k - 1, j + m - 1]
            for step in range(9):
                for k in range(step & 1, 8, 2):
                    low = min(window[k], window[k + 1])
                    window[k + 1] = max(window[k], window[k + 1])
                    window[k] = low
            target[i, j] = window[4]


@beside(medians_loops, (16, 16))
def medians_by_network(source, target):
    j, i = cuda.grid(2)
    if 0 < i < source.shape[0] - 1 and 0 < j < source.shape[1] - 1:
        window = cuda.local.array(9, np.float32)
        for k in range(3):
            for m in range(3):
                window[k * 3 + m] = source[i + k - 1, j + m - 1]
        for step in range(9):
            for k in range(step & 1, 8, 2):
                low = min(window[k], window[k + 1])
                window[k + 1] = max(window[k], window[k + 1])
                window[k] = low
        target[i, j] = window[4]


def series_loops(weights, x, y):
    for i in prange(x.size):
        before = 1.0
        now = x[i]
        total = weights[0] + weights[1] * now
        for k in range(2, 8):
            before, now = now, ((2 * k - 1) * x[i] * now - (k - 1) * before) / k
            total += weights[k] * now
        y[i] = total


@beside(series_loops, 128)
def series_of_polynomials(weights, x, y):
    i = cuda.grid(1)
    if i < x.size:
        values = cuda.local.array(8, np.float64)
        values[0] = 1.0
        values[1] = x[i]
        for k in range(2, 8):
            values[k] = ((2 * k - 1) * x[i] * values[k - 1] - (k - 1) * values[k - 2]) / k
        total = weights[0] * values[0] + weights[1] * values[1]
        for k in range(2, 8):
            total += weights[k] * values[k]
        y[i] = total


def trimmed_loops(x, y):
    for i in prange(4, x.size - 4):
        window = np.empty(9)
        for k in range(9):
            value = x[i + k - 4]
            at = k
            while at > 0 and window[at - 1] > value:
                window[at] = window[at - 1]
                at -= 1
            window[at] = value
        y[i] = (window[3] + window[4] + window[5]) / 3


@beside(trimmed_loops, 256)
def trimmed_means_by_insertion(x, y):
    i = cuda.grid(1)
    if 4 <= i < x.size - 4:
        window = cuda.local.array(9, np.float64)
        for k in range(9):
            value = x[i + k - 4]
            at = k
            while at > 0 and window[at - 1] > value:
                window[at] = window[at - 1]
                at -= 1
            window[at] = value
        y[i] = (window[3] + window[4] + window[5]) / 3


def inputs():
    """By kernel: its arguments, the shape that the grid covers, and which argument it writes."""
    draw = numpy.random.default_rng(1)
    n = 1 << 22
    x, y, many = draw.random(n), draw.random(n), draw.integers(0, 256, 1 << 24, dtype=numpy.uint8)
    x2, y2 = x.reshape(2048, 2048), y.reshape(2048, 2048)
    u = draw.random((2000, 2000), dtype=numpy.float32)
    pixels = draw.integers(-128, 127, (2000, 2000), dtype=numpy.int8)
    a = draw.random((512, 512), dtype=numpy.float32)
    cube, points = draw.random((160, 160, 160)), draw.random((2000, 3))
    one, sums, counts = numpy.zeros(1), numpy.zeros(2048), numpy.zeros(256, "int64")
    f = draw.random(n, dtype=numpy.float32)
    return {
        "axpy": ((2.0, x, y), n),
        "scaled_early_return": ((2.0, x2, y2), x2.shape),
        "scaled_columns_first": ((2.0, x2, y2), x2.shape),
        "scaled_block_a_row": ((2.0, x2, y2), x2.shape),
        "flat_indices": ((x, y, 2048, 2048), x2.shape),
        "exponentials": ((x, y), n),
        "strided_for": ((x, y), n),
        "strided_while": ((x, y), n),
        "squares_by_atomics": ((x, one), n),
        "squares_by_shuffles": ((x, one), n),
        "squares_by_shared_memory": ((x, one), n),
        "histogram": ((many, counts), n),
        "smooth": ((pixels, pixels.copy()), pixels.shape),
        "laplacian": ((cube, cube.copy()), cube.shape),
        "diffuse_with_tiles": ((u, u.copy(), numpy.float32(0.1)), u.shape),
        "product": ((a, a, a.copy()), a.shape),
        "product_with_tiles": ((a, a, a.copy()), a.shape),
        "mandelbrot": ((numpy.zeros((600, 800), "int32"), 100), (800, 600)),
        "forces": ((points, points.copy()), len(points)),
        "gather": ((draw.integers(0, n, n), x, y), n),
        "transposed_with_tiles": ((x2, y2), x2.shape),
        "sums_of_columns": ((x2, sums), 2048),
        "sums_of_rows": ((x2, sums), 2048),
        "scan_of_warps": ((f, f.copy()), n),
        "medians_by_network": ((u, u.copy()), u.shape),
        "series_of_polynomials": ((draw.random(8), x, y), n),
        "trimmed_means_by_insertion": ((x, y), n),
    }


def launched(kernel, block, shape):
    if block == "few":
        return kernel[64, 256]
    if block == "rows":
        return kernel[shape[0], 256]
    shape, block = (each if isinstance(each, tuple) else (each,) for each in (shape, block))
    return kernel[tuple(-(-size // threads) for size, threads in zip(shape, block, strict=True)), block]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print(f"{'':26}{'kernel':>10}{'prange':>10}{'ratio':>7}{'by clock':>10}")
    ratios = []
    for name, (arguments, shape) in inputs().items():
        if options.only not in name:
            continue
        kernel, loops, block = KERNELS[name]
        kernel = launched(kernel, block, shape)
        arrays = [each for each in arguments if isinstance(each, numpy.ndarray)]
        before = [each.copy() for each in arrays]
        results = []
        for call in (loops, kernel):
            for array, old in zip(arrays, before, strict=True):
                array[...] = 0 if array.size in (1, 256) else old
            call(*arguments)
            results.append([array.copy() for array in arrays])
        for expected, found in zip(*results, strict=True):
            numpy.testing.assert_allclose(found, expected, rtol=1e-5, err_msg=name)
        used, passed = ([], []), ([], [])
        for _ in range(options.rounds):
            for which, call in enumerate((kernel, loops)):
                begin, start = time.perf_counter(), time.process_time()
                call(*arguments)
                used[which].append(time.process_time() - start)
                passed[which].append(time.perf_counter() - begin)
        best = [1e3 * min(each) for each in used]
        ratios.append(best[0] / best[1])
        by_clock = min(passed[0]) / min(passed[1])
        print(f"{name:26}{best[0]:10.3f}{best[1]:10.3f}{ratios[-1]:7.2f}{by_clock:10.2f}", flush=True)
    if ratios:
        mean = math.prod(ratios) ** (1 / len(ratios))
        print(f"{len(ratios)} kernels: {mean:.2f} in the mean, {max(ratios):.2f} at most")


if __name__ == "__main__":
    main()
