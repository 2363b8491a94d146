"""Philox, the generators by counters of Salmon, Moraes, Dror and Shaw (2011): what a counter gives needs no state."""

import math

import weft
from weft._jit._decorator import compiled

# Python's integers, which the functions make uint64.
_FACTORS_32 = 0xD2511F53, 0xCD9E8D57
_STEPS_32 = 0x9E3779B9, 0xBB67AE85
_FACTOR_0, _FACTOR_1 = 0xD2E7470EE14C6C93, 0xCA5A826395121157
_STEP_0, _STEP_1 = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
_LOW = 0xFFFFFFFF
_TWO_PI = 2 * math.pi


def _device(function):
    """The function for kernels; it runs outside of them, too."""
    return compiled(function, error_model="numpy")


@_device
def philox4x32(counter0, counter1, counter2, counter3, key0, key1):
    """The four words of 32 bits that Philox4x32-10 gives for a counter and a key.

    Parameters
    ----------
    counter0, counter1, counter2, counter3 : int
        The counter's words of 32 bits.
    key0, key1 : int
        The key's words of 32 bits.

    Returns
    -------
    tuple of uint32
        The words.

    Examples
    --------
    >>> from weft.cuda import random
    >>> [f"{word:08x}" for word in random.philox4x32(0, 0, 0, 0, 0, 0)]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    low = weft.uint64(_LOW)
    c0, c1 = weft.uint64(counter0) & low, weft.uint64(counter1) & low
    c2, c3 = weft.uint64(counter2) & low, weft.uint64(counter3) & low
    k0, k1 = weft.uint64(key0) & low, weft.uint64(key1) & low
    for _ in range(10):
        first = weft.uint64(_FACTORS_32[0]) * c0
        second = weft.uint64(_FACTORS_32[1]) * c2
        c0, c1 = (second >> 32) ^ c1 ^ k0, second & low
        c2, c3 = (first >> 32) ^ c3 ^ k1, first & low
        k0 = (k0 + weft.uint64(_STEPS_32[0])) & low
        k1 = (k1 + weft.uint64(_STEPS_32[1])) & low
    return weft.uint32(c0), weft.uint32(c1), weft.uint32(c2), weft.uint32(c3)


@_device
def _high_product(a, b):
    """The upper 64 of the 128 bits of a * b."""
    low = weft.uint64(_LOW)
    a_low, a_high, b_low, b_high = a & low, a >> 32, b & low, b >> 32
    middle = a_high * b_low + (a_low * b_low >> 32)
    return a_high * b_high + (middle >> 32) + ((a_low * b_high + (middle & low)) >> 32)


@_device
def philox4x64(counter0, counter1, counter2, counter3, key0, key1):
    """The four words of 64 bits that Philox4x64-10 gives for a counter and a key; NumPy's Philox is this one.

    Parameters
    ----------
    counter0, counter1, counter2, counter3 : int
        The counter's words of 64 bits.
    key0, key1 : int
        The key's words of 64 bits.

    Returns
    -------
    tuple of uint64
        The words.

    Examples
    --------
    >>> from weft.cuda import random
    >>> [f"{word:016x}" for word in random.philox4x64(0, 0, 0, 0, 0, 0)[:2]]
    ['16554d9eca36314c', 'db20fe9d672d0fdc']
    """
    c0, c1, c2, c3 = (
        weft.uint64(counter0),
        weft.uint64(counter1),
        weft.uint64(counter2),
        weft.uint64(counter3),
    )
    k0, k1 = weft.uint64(key0), weft.uint64(key1)
    factor0, factor1 = weft.uint64(_FACTOR_0), weft.uint64(_FACTOR_1)
    for _ in range(10):
        high0, low0 = _high_product(factor0, c0), factor0 * c0
        high1, low1 = _high_product(factor1, c2), factor1 * c2
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0 += weft.uint64(_STEP_0)
        k1 += weft.uint64(_STEP_1)
    return c0, c1, c2, c3


@_device
def philox_next(key, position):
    """The word at a position of NumPy's stream `Philox(key=key)`.

    Parameters
    ----------
    key : int
        The key, of 64 bits.
    position : int
        The place in the stream, from 0 on.

    Returns
    -------
    uint64
        What `Philox(key=key).random_raw(n)[position]` is.

    Examples
    --------
    >>> from weft.cuda import random
    >>> int(random.philox_next(7, 1000)) == int(np.random.Philox(key=7).random_raw(1001)[1000])
    True
    """
    place = weft.uint64(position)
    zero = weft.uint64(0)
    words = philox4x64((place >> 2) + weft.uint64(1), zero, zero, zero, weft.uint64(key), zero)
    low = words[1] if place & 1 else words[0]
    high = words[3] if place & 1 else words[2]
    return high if place & 2 else low


@_device
def philox_random(key, position):
    """The float64 in [0, 1) at a position of what NumPy's `Generator(Philox(key=key)).random` draws.

    Parameters
    ----------
    key : int
        The key, of 64 bits.
    position : int
        The place in the stream, from 0 on.

    Returns
    -------
    float64
        The number.

    Examples
    --------
    >>> from weft.cuda import random
    >>> rng = np.random.Generator(np.random.Philox(key=7))
    >>> bool(random.philox_random(7, 2) == rng.random(3)[2])
    True
    """
    return weft.float64(philox_next(key, position) >> 11) * 2.0**-53


@_device
def _words(seed, counter, sequence):
    """Philox4x32-10 of three numbers of 64 bits."""
    key, place, upper = weft.uint64(seed), weft.uint64(counter), weft.uint64(sequence)
    return philox4x32(place, place >> 32, upper, upper >> 32, key, key >> 32)


@_device
def _unit_float64(high, low):
    """53 of the 64 bits of two words as a float64 in [0, 1)."""
    return weft.float64(((weft.uint64(high) << 32) | weft.uint64(low)) >> 11) * 2.0**-53


@_device
def philox_uniform_float64(seed, counter, sequence=0):
    """A float64 in [0, 1) that depends on its arguments alone: 53 bits of Philox4x32-10.

    Parameters
    ----------
    seed : int
        The key of Philox, of 64 bits.
    counter : int
        Which number it is: the lower half of Philox's counter. Each gives another one.
    sequence : int
        The upper half of the counter, as the number of the thread.

    Returns
    -------
    float64
        The number.

    Examples
    --------
    >>> from weft import cuda
    >>> from weft.cuda.random import philox_uniform_float64
    >>> @cuda.jit
    ... def drawn(seed, out):
    ...     i = cuda.grid(1)
    ...     out[i] = philox_uniform_float64(seed, i)
    >>> out = np.zeros(4)
    >>> drawn[1, 4](2024, out)
    >>> out.round(3)
    array([0.604, 0.346, 0.575, 0.664])
    """
    words = _words(seed, counter, sequence)
    return _unit_float64(words[0], words[1])


@_device
def philox_uniform_float32(seed, counter, sequence=0):
    """A float32 in [0, 1) that depends on its arguments alone: the first 24 bits of the float64.

    Parameters
    ----------
    seed : int
        The key of Philox, of 64 bits.
    counter : int
        Which number it is: the lower half of Philox's counter. Each gives another one.
    sequence : int
        The upper half of the counter, as the number of the thread.

    Returns
    -------
    float32
        The number.

    Examples
    --------
    >>> from weft.cuda import random
    >>> print(random.philox_uniform_float32(2024, 0))
    0.60368985
    """
    return weft.float32(_words(seed, counter, sequence)[0] >> 8) * weft.float32(2.0**-24)


@_device
def philox_normal_float64(seed, counter, sequence=0):
    """A normal float64 with mean 0 and deviation 1 that depends on its arguments alone, by Box and Muller.

    Parameters
    ----------
    seed : int
        The key of Philox, of 64 bits.
    counter : int
        Which number it is: the lower half of Philox's counter. Each gives another one.
    sequence : int
        The upper half of the counter, as the number of the thread.

    Returns
    -------
    float64
        The number.

    Examples
    --------
    >>> from weft.cuda import random
    >>> round(random.philox_normal_float64(2024, 0), 6)
    1.354192
    """
    words = _words(seed, counter, sequence)
    radius = weft.sqrt(-2.0 * weft.log(1.0 - _unit_float64(words[0], words[1])))  # of (0, 1]
    return radius * weft.cos(_TWO_PI * _unit_float64(words[2], words[3]))


@_device
def philox_normal_float32(seed, counter, sequence=0):
    """A normal float32 with mean 0 and deviation 1 that depends on its arguments alone, by Box and Muller.

    Parameters
    ----------
    seed : int
        The key of Philox, of 64 bits.
    counter : int
        Which number it is: the lower half of Philox's counter. Each gives another one.
    sequence : int
        The upper half of the counter, as the number of the thread.

    Returns
    -------
    float32
        The number.

    Examples
    --------
    >>> from weft.cuda import random
    >>> round(float(random.philox_normal_float32(2024, 0)), 5)
    0.99998
    """
    words = _words(seed, counter, sequence)
    first = weft.float32((weft.float64(words[0]) + 1.0) * 2.0**-32)  # in (0, 1], of all 32 bits
    second = weft.float32(words[2] >> 8) * weft.float32(2.0**-24)
    radius = weft.sqrt(weft.float32(-2.0) * weft.log(first))
    return radius * weft.cos(weft.float32(_TWO_PI) * second)
