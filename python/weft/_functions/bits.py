"""NumPy's packed bits: eight truths in a byte. The engine packs them (weft/bits.h)."""

from weft import _core


def packbits(a, /, axis=None, bitorder="big"):
    """Eight elements of an array of bools or integers, true where they are not 0, in each byte; filled up by zeros.

    >>> np.packbits([1, 0, 1])
    array([160], dtype=uint8)
    """
    return _core._packbits(a, axis, bitorder)


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    """The bits of bytes as zeros and ones, uint8; the first `count` of them, or zeros behind, if it is given.

    >>> np.unpackbits(np.array([160], dtype="uint8"))
    array([1, 0, 1, 0, 0, 0, 0, 0], dtype=uint8)
    """
    return _core._unpackbits(a, axis, count, bitorder)
