"""DLPack's structures as another library has them: a consumer of capsules, and a lender of memory."""

import ctypes

import numpy


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
        ("deleter", Deleter), ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]  # fmt: skip


capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
capsule_rename = ctypes.pythonapi.PyCapsule_SetName
capsule_rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = (
    ctypes.py_object,
    [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
)


def take(capsule):
    managed = Versioned.from_address(capsule_pointer(capsule, b"dltensor_versioned"))
    capsule_rename(capsule, b"used_dltensor_versioned")
    return managed


class Lender:
    """A tensor whose memory is this object's; counts how often it is given back."""

    def __init__(
        self, data, shape, strides=None, dtype=(2, 64, 1), device=(1, 0), version=(1, 0), flags=0, offset=0
    ):
        self.returned = 0
        self.streams = []
        self.device = device
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
        self.deleter = Deleter(self.take_back)
        tensor = Tensor(
            data, Device(*device), len(shape), DataType(*dtype), self.shape,
            ctypes.cast(self.strides, ctypes.POINTER(ctypes.c_int64)), offset,
        )  # fmt: skip
        self.managed = Versioned(*version, None, self.deleter, flags, tensor)

    def take_back(self, _):
        self.returned += 1

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.streams.append(stream)
        return new_capsule(ctypes.addressof(self.managed), b"dltensor_versioned", None)

    def __dlpack_device__(self):
        return self.device


def same(ours, theirs):
    assert ours.shape == theirs.shape
    assert ours.dtype.name == theirs.dtype.name
    assert numpy.array_equal(numpy.asarray(ours), theirs)
