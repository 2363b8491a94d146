"""Shuffles of a warp: each way from a thread's own lane, near and far, for lanes that are there and that are not."""

import numpy
import pytest
from weft import cuda

EVERYBODY = 0xFFFFFFFF
WAYS = {
    "up": lambda lane, by: lane - by,
    "down": lambda lane, by: lane + by,
    "xor": lambda lane, by: lane ^ by,
}


def shuffle_up(a, out, by, mask, more):
    t = cuda.threadIdx.x
    if (mask >> (t & 31)) & 1:
        out[t] = cuda.shfl_up_sync(mask, a[t], by + more * (t % 3))


def shuffle_down(a, out, by, mask, more):
    t = cuda.threadIdx.x
    if (mask >> (t & 31)) & 1:
        out[t] = cuda.shfl_down_sync(mask, a[t], by + more * (t % 3))


def shuffle_xor(a, out, by, mask, more):
    t = cuda.threadIdx.x
    if (mask >> (t & 31)) & 1:
        out[t] = cuda.shfl_xor_sync(mask, a[t], by + more * (t % 3))


def all_up(a, out, by):
    t = cuda.threadIdx.x
    out[t] = cuda.shfl_up_sync(0xFFFFFFFF, a[t], by)


def all_down(a, out, by):
    t = cuda.threadIdx.x
    out[t] = cuda.shfl_down_sync(0xFFFFFFFF, a[t], by)


def all_xor(a, out, by):
    t = cuda.threadIdx.x
    out[t] = cuda.shfl_xor_sync(0xFFFFFFFF, a[t], by)


KERNELS = {
    "up": (cuda.jit(all_up), cuda.jit(shuffle_up)),
    "down": (cuda.jit(all_down), cuda.jit(shuffle_down)),
    "xor": (cuda.jit(all_xor), cuda.jit(shuffle_xor)),
}


def expected(way, a, by, mask=EVERYBODY, more=0):
    result = numpy.zeros_like(a)
    for thread in range(a.size):
        lane = thread & 31
        if not mask >> lane & 1:
            continue
        distance = by + more * (thread % 3)
        source = WAYS[way](lane, distance) if 0 <= distance < 32 else -1
        at = (thread & ~31) + source
        is_there = 0 <= source < 32 and at < a.size and mask >> source & 1
        result[thread] = a[at] if is_there else a[thread]
    return result


@pytest.mark.parametrize("by", [0, 1, 2, 3, 7, 16, 31, 32, 40, -1])
@pytest.mark.parametrize("way", WAYS)
def test_all_lanes(way, by):
    a, out = numpy.arange(96, dtype="float32") + 1, numpy.zeros(96, "float32")
    KERNELS[way][0][1, 96](a, out, by)
    numpy.testing.assert_array_equal(out, expected(way, a, by))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "int64", "float64"])
@pytest.mark.parametrize("way", WAYS)
def test_dtypes(way, dtype):
    a, out = (numpy.arange(64) * 37 % 101).astype(dtype), numpy.zeros(64, dtype)
    KERNELS[way][0][1, 64](a, out, 4)
    numpy.testing.assert_array_equal(out, expected(way, a, 4))


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("block", [32, 40, 96])
@pytest.mark.parametrize("by", [0, 1, 5, 16, 31, -2])
@pytest.mark.parametrize("way", WAYS)
def test_lanes_that_take_no_part(device, way, by, block, more):
    if device == "cuda":
        pytest.skip("a GPU says nothing of lanes that are asked and take no part")
    mask = 0xFF0FF0F5
    a, out = numpy.arange(block) + 1, numpy.zeros(block, "int64")
    KERNELS[way][1][1, block](a, out, by, mask, more)
    numpy.testing.assert_array_equal(out, expected(way, a, by, mask, more))
