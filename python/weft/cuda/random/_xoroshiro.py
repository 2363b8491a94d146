"""xoroshiro128+ by David Blackman and Sebastiano Vigna (2016, public domain), started by their SplitMix64."""

import math
import operator

import numpy

import weft
from weft._jit._decorator import compiled
from weft.cuda._arrays import DeviceArray, device_array

xoroshiro128p_dtype = numpy.dtype([("s0", "u8"), ("s1", "u8")], align=True)

# Python's integers, which the functions make uint64.
_GOLDEN_RATIO, _FIRST_FACTOR, _SECOND_FACTOR = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_JUMP_LOW, _JUMP_HIGH = 0xBEAC0467EBA5FACB, 0xD86B048B86AA9922
_TWO_PI = 2 * math.pi


def _device(function):
    """The function for kernels; it runs outside of them, too."""
    return compiled(function, error_model="numpy")


@_device
def init_xoroshiro128p_state(states, index, seed):
    """Starts the generator `states[index]` from a seed: both its words are SplitMix64's first one.

    Parameters
    ----------
    states : array of xoroshiro128p_dtype
        The generators.
    index : int
        Which of them.
    seed : int
        The seed, of 64 bits.

    Examples
    --------
    >>> import numpy
    >>> from weft.cuda import random
    >>> states = numpy.zeros(1, random.xoroshiro128p_dtype)
    >>> random.init_xoroshiro128p_state(states, 0, 1)
    >>> int(states["s0"][0])
    10451216379200822465
    """
    word = weft.uint64(seed) + weft.uint64(_GOLDEN_RATIO)
    word = (word ^ (word >> 30)) * weft.uint64(_FIRST_FACTOR)
    word = (word ^ (word >> 27)) * weft.uint64(_SECOND_FACTOR)
    word = word ^ (word >> 31)
    states[index]["s0"] = word
    states[index]["s1"] = word


@_device
def xoroshiro128p_next(states, index):
    """The next 64 bits of the generator `states[index]`.

    Parameters
    ----------
    states : array of xoroshiro128p_dtype
        The generators.
    index : int
        Which of them.

    Returns
    -------
    uint64
        Its next word.

    Examples
    --------
    >>> from weft.cuda import random
    >>> states = random.create_xoroshiro128p_states(2, seed=1).copy_to_host()
    >>> int(random.xoroshiro128p_next(states, 0))
    2455688684692093314
    """
    s0 = states[index]["s0"]
    s1 = states[index]["s1"]
    word = s0 + s1
    s1 = s1 ^ s0
    states[index]["s0"] = ((s0 << 55) | (s0 >> 9)) ^ s1 ^ (s1 << 14)
    states[index]["s1"] = (s1 << 36) | (s1 >> 28)
    return word


@_device
def _sum_of_states(states, index, s0, s1, steps):
    """The sum, without carry, of the states that the bits of `steps` name; the generator goes 64 steps on."""
    for bit in range(64):
        if (steps >> bit) & 1:
            s0 = s0 ^ states[index]["s0"]
            s1 = s1 ^ states[index]["s1"]
        xoroshiro128p_next(states, index)
    return s0, s1


@_device
def xoroshiro128p_jump(states, index):
    """Moves the generator `states[index]` on by 2**64 words.

    Parameters
    ----------
    states : array of xoroshiro128p_dtype
        The generators.
    index : int
        Which of them.

    Examples
    --------
    >>> from weft.cuda import random
    >>> states = random.create_xoroshiro128p_states(2, seed=1).copy_to_host()
    >>> random.xoroshiro128p_jump(states, 0)
    >>> bool(states[0] == states[1])
    True
    """
    s0, s1 = _sum_of_states(states, index, weft.uint64(0), weft.uint64(0), weft.uint64(_JUMP_LOW))
    s0, s1 = _sum_of_states(states, index, s0, s1, weft.uint64(_JUMP_HIGH))
    states[index]["s0"] = s0
    states[index]["s1"] = s1


@_device
def xoroshiro128p_uniform_float64(states, index):
    """A float64 in [0, 1): 53 bits of the generator's next word.

    Parameters
    ----------
    states : array of xoroshiro128p_dtype
        The generators.
    index : int
        Which of them.

    Returns
    -------
    float64
        The number.

    Examples
    --------
    >>> from weft.cuda import random
    >>> states = random.create_xoroshiro128p_states(2, seed=1).copy_to_host()
    >>> random.xoroshiro128p_uniform_float64(states, 0)
    0.1331231503445619
    """
    return weft.float64(xoroshiro128p_next(states, index) >> 11) * 2.0**-53


@_device
def xoroshiro128p_uniform_float32(states, index):
    """A float32 in [0, 1]: the float64 of the generator's next word, rounded, so that 1 is possible.

    Parameters
    ----------
    states : array of xoroshiro128p_dtype
        The generators.
    index : int
        Which of them.

    Returns
    -------
    float32
        The number.

    Examples
    --------
    >>> from weft.cuda import random
    >>> states = random.create_xoroshiro128p_states(2, seed=1).copy_to_host()
    >>> print(random.xoroshiro128p_uniform_float32(states, 0))
    0.13312314
    """
    return weft.float32(xoroshiro128p_uniform_float64(states, index))


@_device
def xoroshiro128p_normal_float64(states, index):
    """A normal float64 with mean 0 and deviation 1, by Box and Muller from the generator's next two words.

    Both are made float32 first, as Numba does; `philox_normal_float64` keeps all bits.

    Parameters
    ----------
    states : array of xoroshiro128p_dtype
        The generators.
    index : int
        Which of them.

    Returns
    -------
    float64
        The number.

    Examples
    --------
    >>> from weft.cuda import random
    >>> states = random.create_xoroshiro128p_states(2, seed=1).copy_to_host()
    >>> round(random.xoroshiro128p_normal_float64(states, 0), 6)
    -1.447064
    """
    first = weft.float64(xoroshiro128p_uniform_float32(states, index))
    second = weft.float64(xoroshiro128p_uniform_float32(states, index))
    return weft.sqrt(-2.0 * weft.log(first)) * weft.cos(_TWO_PI * second)


@_device
def xoroshiro128p_normal_float32(states, index):
    """A normal float32 with mean 0 and deviation 1, by Box and Muller from the generator's next two words.

    Parameters
    ----------
    states : array of xoroshiro128p_dtype
        The generators.
    index : int
        Which of them.

    Returns
    -------
    float32
        The number.

    Examples
    --------
    >>> from weft.cuda import random
    >>> states = random.create_xoroshiro128p_states(2, seed=1).copy_to_host()
    >>> round(float(random.xoroshiro128p_normal_float32(states, 0)), 5)
    -1.44706
    """
    first = xoroshiro128p_uniform_float32(states, index)
    second = xoroshiro128p_uniform_float32(states, index)
    radius = weft.sqrt(weft.float32(-2.0) * weft.log(first))
    return radius * weft.cos(weft.float32(_TWO_PI) * second)


@_device
def _start_all(states, seed, subsequence_start):
    init_xoroshiro128p_state(states, 0, seed)
    for _ in range(subsequence_start):
        xoroshiro128p_jump(states, 0)
    for i in range(1, states.size):
        states[i]["s0"] = states[i - 1]["s0"]
        states[i]["s1"] = states[i - 1]["s1"]
        xoroshiro128p_jump(states, i)


def init_xoroshiro128p_states(states, seed, subsequence_start=0, stream=0):
    """Starts all generators of an array: each is 2**64 words ahead of the one before it.

    Parameters
    ----------
    states : array of xoroshiro128p_dtype
        The generators, along one axis: an array of `to_device`, or one of NumPy's.
    seed : int
        The seed, of 64 bits.
    subsequence_start : int
        By how many times 2**64 words the first generator is ahead.
    stream : Stream, optional
        Kernels and copies are ordered anyway.

    Examples
    --------
    >>> from weft import cuda
    >>> states = cuda.device_array(4, cuda.random.xoroshiro128p_dtype)
    >>> cuda.random.init_xoroshiro128p_states(states, seed=1)
    >>> int(states.copy_to_host()["s0"][1])
    8341117667364343960
    """
    seed, start = operator.index(seed), operator.index(subsequence_start)
    if not 0 <= seed < 1 << 64:
        raise OverflowError(f"a seed has 64 bits and no sign, and {seed} does not fit")
    if start < 0:
        raise ValueError(f"subsequence_start is not negative, and {start} was given")
    array = states._array if isinstance(states, DeviceArray) else states
    if array.size:
        _start_all(array, numpy.uint64(seed), start)


def create_xoroshiro128p_states(n, seed, subsequence_start=0, stream=0):
    """An array of generators for kernels, each 2**64 words ahead of the one before it.

    Parameters
    ----------
    n : int
        How many generators; kernels often have one a thread.
    seed : int
        The seed, of 64 bits.
    subsequence_start : int
        By how many times 2**64 words the first generator is ahead.
    stream : Stream, optional
        Kernels and copies are ordered anyway.

    Returns
    -------
    DeviceArray
        The generators.

    Examples
    --------
    >>> from weft import cuda
    >>> from weft.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float64
    >>> @cuda.jit
    ... def drawn(states, out):
    ...     i = cuda.grid(1)
    ...     out[i] = xoroshiro128p_uniform_float64(states, i)
    >>> out = np.zeros(4)
    >>> drawn[1, 4](create_xoroshiro128p_states(4, seed=1), out)
    >>> out.round(3)
    array([0.133, 0.876, 0.871, 0.936])
    """
    states = device_array(n, xoroshiro128p_dtype)
    init_xoroshiro128p_states(states, seed, subsequence_start)
    return states
