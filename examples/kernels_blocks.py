"""CUDA-style kernels whose blocks work together, each beside NumPy: a sum that the last block to come finishes, and a
bitonic sort of more elements than a block holds.

python examples/kernels_blocks.py
"""

import numpy
import weft as np
from weft import cuda

BLOCK = 128


# --- the last block -------------------------------------------------------------------------------------


@cuda.jit(device=True)
def block_sum(own, value):
    """The sum of the values of a block's threads, in `own[0]`; all threads of the block have to call it."""
    t = cuda.threadIdx.x
    own[t] = value
    stride = BLOCK // 2
    while stride > 0:
        cuda.syncthreads()
        if t < stride:
            own[t] += own[t + stride]
        stride //= 2
    cuda.syncthreads()
    return own[0]


@cuda.jit
def summed(values, partials, tickets, out):
    """A sum in one launch. The block that draws the last ticket finds what all blocks have stored."""
    own = cuda.shared.array(BLOCK, np.float64)
    is_last = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    value = 0.0
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        value += values[i]
    value = block_sum(own, value)
    if t == 0:
        partials[cuda.blockIdx.x] = value
        cuda.threadfence()  # the others see the partial sum before the ticket
        ticket = cuda.atomic.inc(tickets, 0, cuda.gridDim.x - 1)  # from 0 again behind the last one
        is_last[0] = ticket == cuda.gridDim.x - 1
    cuda.syncthreads()
    if is_last[0]:
        cuda.threadfence()  # the ticket before the others' sums
        value = 0.0
        for block in range(t, cuda.gridDim.x, BLOCK):  # by their numbers, whichever block is the last
            value += partials[block]
        value = block_sum(own, value)
        if t == 0:
            out[0] = value


def sum_of(values, blocks, tickets):
    out = numpy.zeros(1)
    summed[blocks, BLOCK](values, numpy.zeros(blocks), tickets, out)
    return out[0]


# --- a sort over blocks ---------------------------------------------------------------------------------


@cuda.jit(device=True)
def is_misplaced(first, second, rises):
    """Whether two elements have to change places; NaN is larger than all."""
    if rises:
        return second < first or (first != first and second == second)
    return first < second or (second != second and first == first)


@cuda.jit
def compared_far(values, size, by):
    """A step of the network between elements that are in different blocks: a thread for each pair."""
    pair = cuda.grid(1)
    i = 2 * by * (pair // by) + pair % by
    if i + by < values.size:
        first, second = values[i], values[i + by]
        if is_misplaced(first, second, i & size == 0):
            values[i], values[i + by] = second, first


@cuda.jit
def compared_near(values, first_size, last_size):
    """The steps of sizes from the first to the last, among a block's 2 * BLOCK elements, in shared memory."""
    own = cuda.shared.array(2 * BLOCK, np.float64)
    t = cuda.threadIdx.x
    start = 2 * BLOCK * cuda.blockIdx.x
    own[t] = values[start + t]
    own[t + BLOCK] = values[start + t + BLOCK]
    size = first_size
    while size <= last_size:
        by = min(size // 2, BLOCK)
        while by > 0:
            cuda.syncthreads()
            i = 2 * by * (t // by) + t % by
            if is_misplaced(own[i], own[i + by], (start + i) & size == 0):
                own[i], own[i + by] = own[i + by], own[i]
            by //= 2
        size *= 2
    cuda.syncthreads()
    values[start + t] = own[t]
    values[start + t + BLOCK] = own[t + BLOCK]


def sort(values):
    """The elements in order, with NaN at the end; as many as there are, padded to a power of two."""
    length = 2 * BLOCK
    while length < values.size:
        length *= 2
    padded = numpy.full(length, numpy.nan)
    padded[: values.size] = values
    work = cuda.to_device(padded)
    blocks = length // (2 * BLOCK)
    compared_near[blocks, BLOCK](work, 2, 2 * BLOCK)
    size = 4 * BLOCK
    while size <= length:
        by = size // 2
        while by > BLOCK:
            compared_far[blocks, BLOCK](work, size, by)
            by //= 2
        compared_near[blocks, BLOCK](work, size, size)
        size *= 2
    return work.copy_to_host()[: values.size]


def main():
    rng = numpy.random.default_rng(7)
    tickets = numpy.zeros(1, "u4")
    for size, blocks in ((100_003, 37), (5, 3), (100_003, 200)):
        values = rng.random(size)
        found = [sum_of(values, blocks, tickets) for _ in range(3)]
        is_near = numpy.isclose(found[0], values.sum(), rtol=1e-13)
        print(f"sum, {blocks:3} blocks           ", is_near and len(set(found)) == 1 and tickets[0] == 0)

    for size in (1, 256, 257, 5000):
        values = rng.standard_normal(size)
        values[rng.random(size) < 0.01] = numpy.nan
        print(
            f"bitonic sort of {size:4}      ",
            numpy.array_equal(sort(values), numpy.sort(values), equal_nan=True),
        )


if __name__ == "__main__":
    main()
