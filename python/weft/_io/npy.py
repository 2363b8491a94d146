"""The npy format, versions 1 to 3: one array in a stream of bytes.

The engine reads and writes headers. What they say is not believed: they have a bounded length, and memory is asked for
only as bytes arrive, or when the file is known to have them.
"""

import io
import os
import stat
import struct

from weft import _core
from weft._core import ndarray

MAGIC = b"\x93NUMPY"
MAX_HEADER_SIZE = 10000
_VERSIONS = {(1, 0): "<H", (2, 0): "<I", (3, 0): "<I"}
_PIECE = 1 << 24  # bytes that are asked for before others have come
_MOST_BYTES = 2**63 - 1


# ---- headers ----


def read_at_most(stream, count):
    """So many bytes, or fewer where the stream ends before. Never more memory than one piece beyond what came."""
    data = bytearray()
    while len(data) < count:
        wanted = min(count - len(data), _PIECE)
        piece = stream.read(wanted)
        if not piece:
            break
        if len(piece) > wanted:
            raise ValueError(f"the stream gave {len(piece)} bytes where {wanted} were asked for")
        data += piece
    return bytes(data)


def _read_exactly(stream, count, what):
    """So many bytes; ValueError where the stream ends before."""
    data = read_at_most(stream, count)
    if len(data) < count:
        raise ValueError(f"EOF: reading {what}, expected {count} bytes got {len(data)}")
    return data


def read_magic(stream):
    """The version of the format."""
    magic = _read_exactly(stream, 8, "magic string")
    if magic[:6] != MAGIC:
        raise ValueError(f"the magic string is not correct; expected {MAGIC!r}, got {magic[:6]!r}")
    return magic[6], magic[7]


def read_header(stream, max_header_size=MAX_HEADER_SIZE, allow_pickle=False):
    """What the header says: (shape, fortran_order, dtype)."""
    version = read_magic(stream)
    if version not in _VERSIONS:
        raise ValueError(f"we only support format version (1,0), (2,0), and (3,0), not {version}")
    form = _VERSIONS[version]
    (length,) = struct.unpack(form, _read_exactly(stream, struct.calcsize(form), "array header length"))
    if not allow_pickle and length > max_header_size:
        raise ValueError(
            f"Header info length ({length}) is large and may not be safe to load securely.\n"
            "To allow loading, adjust `max_header_size` or fully trust the `.npy` file using "
            "`allow_pickle=True`.\n"
            "For safety against large resource use or crashes, sandboxing may be necessary."
        )
    try:
        said = _core._parse_npy_header(_read_exactly(stream, length, "array header"))
    except TypeError as error:
        if "Python objects" in str(error) and not allow_pickle:
            raise ValueError("Object arrays cannot be loaded when allow_pickle=False") from None
        raise
    shape, _, element = said
    count = element.itemsize
    for extent in shape:
        count *= max(extent, 1)
    if count > _MOST_BYTES:
        raise ValueError(f"the array would have more bytes than memory has addresses: its shape is {shape}")
    return said


# ---- elements ----


def bytes_left(stream):
    """How many bytes a regular file still has; None where that cannot be told, as of compressed ones."""
    raw = stream.raw if isinstance(stream, (io.BufferedReader, io.BufferedRandom)) else stream
    if isinstance(raw, io.FileIO):
        said = os.fstat(raw.fileno())
        return max(said.st_size - stream.tell(), 0) if stat.S_ISREG(said.st_mode) else None
    if isinstance(stream, io.BytesIO):
        return max(stream.getbuffer().nbytes - stream.tell(), 0)
    return None


def _short(expected, got):
    return ValueError(f"EOF: reading array data, expected {expected} bytes got {got}")


def read_elements(stream, count, dtype):
    """A flat array of the next elements of a stream; ValueError where it has fewer."""
    expected = count * dtype.itemsize
    left = bytes_left(stream)
    if left is not None and left < expected:
        raise _short(expected, left)
    if expected == 0 or (left is None and expected > _PIECE) or not hasattr(stream, "readinto"):
        data = _read_exactly(stream, expected, "array data")
        return _core._from_bytes(data, dtype, (count,))
    result = _core.empty(expected, "uint8", device="cpu")
    got = 0
    with memoryview(result) as memory:
        while got < expected:
            piece = stream.readinto(memory[got:])
            if not piece:
                raise _short(expected, got)
            if not 0 < piece <= expected - got:
                raise ValueError(f"the stream gave {piece} bytes where {expected - got} were asked for")
            got += piece
    return result.view(dtype)


def shaped(flat, shape, fortran):
    """Elements in the order of a file as the array that the header describes."""
    return flat.reshape(shape[::-1]).transpose() if fortran else flat.reshape(shape)


def read_array(stream, allow_pickle=False, max_header_size=MAX_HEADER_SIZE):
    """The array that a stream holds from here on."""
    shape, fortran, element = read_header(stream, max_header_size, allow_pickle)
    count = 1
    for extent in shape:
        count *= extent
    return placed(shaped(read_elements(stream, count, element), shape, fortran))


def placed(array):
    """The array on the device where this thread makes new ones."""
    device = _core.empty(0, "uint8").device
    return array if array.device == device else array.to_device(device)


def write_elements(stream, array):
    """The bytes of the elements, in C order."""
    flat = array if array.flags.c_contiguous else array.copy("C")
    if flat.size == 0:
        return
    flat = flat.reshape(-1).view("uint8")
    with memoryview(flat) as memory:
        for start in range(0, len(memory), _PIECE):
            stream.write(memory[start : start + _PIECE])


def write_array(stream, array):
    """Header and elements; arrays that are in Fortran order alone are written so."""
    if not isinstance(array, ndarray):
        array = _core.asarray(array)
    if array.device != "cpu":
        array = array.to_device("cpu")
    stream.write(_core._npy_header(array))
    write_elements(stream, array.transpose() if array.flags.fnc else array)
