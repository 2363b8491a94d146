"""Random streams of NumPy and of weft side by side, for the tests of random numbers."""

import numpy
import weft

STREAMS = ["PCG64", "PCG64DXSM", "Philox"]  # those that jump


def pair(stream="PCG64", seed=5):
    return (
        numpy.random.Generator(getattr(numpy.random, stream)(seed)),
        weft.random.Generator(getattr(weft.random, stream)(seed)),
    )


def assert_same(mine, other):
    mine, other = numpy.asarray(mine), numpy.asarray(other)
    assert mine.dtype == other.dtype and mine.shape == other.shape
    numpy.testing.assert_array_equal(mine, other)


def state_of(generator):
    state = generator.bit_generator.state
    inner = {name: int(value) for name, value in state["state"].items()}
    return {**inner, "half": state["has_uint32"] and state["uinteger"]}


def places_of_odd_words(method, count, stream="PCG64", seed=11, at_least=1):
    """Where `at_least` words begin that no draw is made of at once: the second layer refuses them all."""
    words = getattr(numpy.random, stream)(seed).random_raw(count)
    layers = words & 0xFF if method == "standard_normal" else (words >> numpy.uint64(3)) & 0xFF
    odd = layers == 1
    for k in range(1, at_least):
        odd[:-k] &= layers[k:] == 1
    return numpy.flatnonzero(odd[: -at_least or None])
