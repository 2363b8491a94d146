"""CUDA-style kernels on the CPU, each beside NumPy: smoothing, a tiled product, Mandelbrot's set, a histogram, prefix
sums by shuffles, a bitonic sort in shared memory."""

import numpy
import weft as np
from weft import cuda

TILE = 16
BLOCK = 256


@cuda.jit
def smoothed(image, out):
    x, y = cuda.grid(2)
    if x < 1 or y < 1 or x >= image.shape[1] - 1 or y >= image.shape[0] - 1:
        return
    total = 0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            total += image[y + dy, x + dx]
    out[y, x] = total // 9


@cuda.jit
def product(a, b, c):
    rows = cuda.shared.array((TILE, TILE), np.float64)
    columns = cuda.shared.array((TILE, TILE), np.float64)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0.0
    for tile in range((a.shape[1] + TILE - 1) // TILE):
        at = tile * TILE
        rows[ty, tx] = a[y, at + tx] if y < a.shape[0] and at + tx < a.shape[1] else 0.0
        columns[ty, tx] = b[at + ty, x] if at + ty < b.shape[0] and x < b.shape[1] else 0.0
        cuda.syncthreads()
        for k in range(TILE):
            total += rows[ty, k] * columns[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


@cuda.jit
def escaped(steps, most):
    x, y = cuda.grid(2)
    if y < steps.shape[0] and x < steps.shape[1]:
        c = complex(3.0 * x / steps.shape[1] - 2.0, 2.0 * y / steps.shape[0] - 1.0)
        z = 0j
        step = 0
        while step < most and z.real * z.real + z.imag * z.imag < 4.0:
            z = z * z + c
            step += 1
        steps[y, x] = step


@cuda.jit
def counted(values, counts):
    own = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    if t < 64:
        own[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    if t < 64:
        cuda.atomic.add(counts, t, own[t])


@cuda.jit
def running(values, out):
    """The prefix sums of each block's values: of each warp by shuffles, then with those of the warps before."""
    of_warps = cuda.shared.array(BLOCK // 32, np.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    total = values[i]
    by = 1
    while by < 32:
        before = cuda.shfl_up_sync(0xFFFFFFFF, total, by)
        if cuda.laneid >= by:
            total += before
        by *= 2
    if cuda.laneid == 31:
        of_warps[t // 32] = total
    cuda.syncthreads()
    for warp in range(t // 32):
        total += of_warps[warp]
    out[i] = total


@cuda.jit
def ordered(values):
    """Sorts each block's values."""
    own = cuda.shared.array(BLOCK, np.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    own[t] = values[i]
    cuda.syncthreads()
    size = 2
    while size <= BLOCK:
        by = size // 2
        while by > 0:
            other = t ^ by
            if other > t and (own[t] > own[other]) == (t & size == 0):
                own[t], own[other] = own[other], own[t]
            cuda.syncthreads()
            by //= 2
        size *= 2
    values[i] = own[t]


def blocks_of(shape):
    """Blocks of TILE by TILE threads for a picture."""
    return (-(-shape[1] // TILE), -(-shape[0] // TILE)), (TILE, TILE)


def main():
    rng = numpy.random.default_rng(7)
    image = rng.integers(0, 256, (90, 130))
    out = image.copy()
    smoothed[blocks_of(image.shape)](image, out)
    sums = sum(image[1 + dy : 89 + dy, 1 + dx : 129 + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1))
    print("smoothing      ", numpy.array_equal(out[1:-1, 1:-1], sums // 9))

    a, b, c = rng.random((70, 50)), rng.random((50, 40)), numpy.zeros((70, 40))
    product[blocks_of(c.shape)](a, b, c)
    print("tiled product  ", numpy.allclose(c, a @ b))

    steps = numpy.zeros((60, 90), int)
    escaped[blocks_of(steps.shape)](steps, 50)
    print("Mandelbrot     ", steps[30, 60] == 50 and steps[0, 0] < 5)

    values, counts = rng.integers(0, 64, 100_000), numpy.zeros(64, "i4")
    counted[8, BLOCK](values, counts)
    print("histogram      ", numpy.array_equal(counts, numpy.bincount(values, minlength=64)))

    values, sums = rng.random(4 * BLOCK), numpy.zeros(4 * BLOCK)
    running[4, BLOCK](values, sums)
    print("prefix sums    ", numpy.allclose(sums.reshape(4, -1), values.reshape(4, -1).cumsum(axis=1)))

    expected = numpy.sort(values.reshape(4, -1), axis=1).ravel()
    ordered[4, BLOCK](values)
    print("bitonic sort   ", numpy.array_equal(values, expected))


if __name__ == "__main__":
    main()
