"""Arrays of structures in memory of weft's, which is on a GPU: what arrays for kernels are made of there.

weft has no structures of its own. Their bytes are an array of weft's, and how they lie in it is told by a frame: an
array of NumPy's with their dtype, shape and strides, whose memory nobody touches.
"""

import numpy

import weft
from weft import _core


class Records:
    """Structures: bytes, a frame, and the address that the first byte has in the frame's memory."""

    __slots__ = ("bytes", "frame", "start")

    def __init__(self, held, frame, start):
        self.bytes, self.frame, self.start = held, frame, start

    @classmethod
    def of_frame(cls, frame, held=None):
        """All of a frame's memory; without bytes they are not initialised."""
        held = weft.empty(frame.nbytes, "uint8") if held is None else held
        return cls(held, frame, _address(frame))

    @classmethod
    def of_host(cls, array):
        """A copy of an array of NumPy's, in C order."""
        host = numpy.array(array, order="C", subok=False)
        return cls.of_frame(numpy.empty(host.shape, host.dtype), weft.array(_bytes_of(host)))

    @property
    def device(self):
        return self.bytes.device

    def __getattr__(self, name):
        if name in ("shape", "dtype", "strides", "ndim", "size", "nbytes", "itemsize", "flags"):
            return getattr(self.frame, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # --- views ---

    @property
    def T(self):
        return self._view(self.frame.T)

    def reshape(self, *shape, order="C"):
        return self._view(self.frame.reshape(*shape, order=order))

    def ravel(self, order="C"):
        return self._view(self.frame.ravel(order))

    def view(self, dtype):
        return self._view(self.frame.view(dtype))

    def transpose(self, axes=None):
        return self._view(self.frame.transpose(axes))

    def squeeze(self, axis=None):
        return self._view(self.frame.squeeze(axis))

    def _view(self, frame):
        """What a view of the frame stands for: structures, or an array of weft's where it is of numbers."""
        if frame.size and not numpy.may_share_memory(frame, self.frame):
            raise NotImplementedError(
                "structures on a GPU have views, and this would be a copy: take copy_to_host()"
            )
        if frame.dtype.names is not None:
            return Records(self.bytes, frame, self.start)
        if not frame.size:
            return weft.empty(frame.shape, frame.dtype.name)
        place = _address(frame) - self.start
        first = self.bytes[place : place + frame.itemsize].view(frame.dtype.name)
        return weft.lib.stride_tricks.as_strided(first, frame.shape, frame.strides)

    def __getitem__(self, index):
        part = self.frame[index]
        if isinstance(part, numpy.ndarray):
            return self._view(part)
        return self._view(self.frame[_as_slices(index)])._on_host()[0].reshape(-1)[0]

    # --- copies ---

    def _on_host(self):
        """The structures, all bytes among them, and where those begin."""
        low, high = 0, self.frame.itemsize if self.frame.size else 0
        for size, stride in zip(self.frame.shape, self.frame.strides, strict=True):
            last = (size - 1) * stride if self.frame.size else 0
            low, high = low + min(last, 0), high + max(last, 0)
        place = _address(self.frame) - self.start if self.frame.size else 0
        held = numpy.array(self.bytes[place + low : place + high])
        made = numpy.ndarray(self.frame.shape, self.frame.dtype, held, -low, self.frame.strides)
        return made, held, place + low

    def __array__(self, dtype=None, copy=None):
        return numpy.asarray(self._on_host()[0], dtype=dtype)

    def __setitem__(self, index, value):
        part = self.frame[index]
        target = self._view(part if isinstance(part, numpy.ndarray) else self.frame[_as_slices(index)])
        if not isinstance(target, Records):
            target[...] = value
            return
        if isinstance(value, Records) and _lie_alike(target, value):
            self.bytes[_range_of(target)] = value.bytes[_range_of(value)]
            return
        if target.frame.flags.c_contiguous:
            host = numpy.empty(target.frame.shape, target.frame.dtype)
            host[...] = value
            self.bytes[_range_of(target)] = _bytes_of(host)
            return
        host, held, place = target._on_host()
        host[...] = value
        self.bytes[place : place + held.size] = held

    def __len__(self):
        return len(self.frame)

    @property
    def __cuda_array_interface__(self):
        described = dict(self.bytes.__cuda_array_interface__)
        address, readonly = described["data"]
        place = _address(self.frame) - self.start if self.frame.size else 0
        described["data"] = (address + place, readonly)
        described["shape"], described["typestr"] = self.frame.shape, self.frame.dtype.str
        described["descr"] = self.frame.dtype.descr
        described["strides"] = None if self.frame.flags.c_contiguous else self.frame.strides
        return described

    def __dlpack__(self, **options):
        raise BufferError("structures cannot be exchanged by DLPack: take one of their fields")

    def __dlpack_device__(self):
        return self.bytes.__dlpack_device__()


def _address(frame):
    return frame.__array_interface__["data"][0]


def _bytes_of(host):
    return host.reshape(-1).view("u1") if host.size else numpy.empty(0, "u1")


def _as_slices(index):
    """The index of one element as that of the part that has it alone."""
    numbers = index if isinstance(index, tuple) else (index,)
    return tuple(slice(k.__index__(), k.__index__() + 1 or None) for k in numbers if k is not Ellipsis)


def _lie_alike(one, other):
    frames = one.frame, other.frame
    return (
        all(frame.flags.c_contiguous and frame.size for frame in frames)
        and frames[0].dtype == frames[1].dtype
        and frames[0].shape == frames[1].shape
    )


def _range_of(records):
    """The bytes of structures that lie side by side."""
    place = _address(records.frame) - records.start if records.frame.size else 0
    return slice(place, place + records.frame.nbytes)


_core._set_device_records(Records)
