"""Memory shared with other libraries by DLPack and by NumPy's array interface: docs/guide/sharing.md."""

from weft import _core
from weft._engine.device import device as _device

# DLPack's device types: the CPU, GPUs, the CPU's memory as GPUs see it, memory that both see.
_CPU, _CUDA, _HOST, _MANAGED = (1, 0), 2, 3, 13
_VERSION = (1, 0)


def _described(interface, name):
    """An entry of an array interface that has to be there."""
    value = interface.get(name)
    if value is None:
        raise ValueError(f"Missing __array_interface__ {name}")
    return value


def _from_interface(x, copy):
    """An array over the memory that `x.__array_interface__` describes; a copy where its bytes are swapped."""
    interface = x.__array_interface__
    if not isinstance(interface, dict):
        raise ValueError("Invalid __array_interface__ value, must be a dict")
    typestr = _described(interface, "typestr")
    if not isinstance(typestr, str):
        raise TypeError("__array_interface__ typestr must be a string")
    shape = _described(interface, "shape")
    if not isinstance(shape, tuple):
        raise TypeError("shape must be a tuple")
    strides = interface.get("strides")
    if strides is not None and not isinstance(strides, tuple):
        raise TypeError("strides must be a tuple")
    if strides is not None and len(strides) != len(shape):
        raise ValueError("mismatch in length of strides and shape")
    if interface.get("mask") is not None:
        raise NotImplementedError("weft has no arrays with masks: __array_interface__ has one")
    swapped = typestr[:1] == ">" and typestr[2:] != "1"
    dtype = _core.dtype(typestr[1:] if typestr[:1] in "<>|=" else typestr)
    if swapped and not copy:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    data = interface.get("data")
    if isinstance(data, tuple):
        if len(data) != 2:
            raise TypeError(
                "__array_interface__ data must be a 2-tuple with (data pointer integer, read-only flag)"
            )
        address, readonly = data
        if isinstance(address, str):
            address = int(address, 16)
        if not isinstance(address, int):
            raise TypeError("first element of __array_interface__ data tuple must be integer or string.")
        shared = _core._share_memory(address, dtype, shape, strides, not readonly and not swapped, x)
    else:
        offset = interface.get("offset", 0)
        if not isinstance(offset, int):
            raise TypeError("__array_interface__ offset must be an integer")
        shared = _core.ndarray(shape, dtype, x if data is None else data, offset, strides)
    if swapped:
        unit = dtype.itemsize // (2 if dtype.kind == "c" else 1)
        shared = shared.copy()
        flipped = shared.reshape(-1).view("uint8").reshape(-1, unit)[:, ::-1].copy()
        return flipped.reshape(-1).view(dtype).reshape(shared.shape)
    return shared.copy("K") if copy else shared


def _pair(device):
    """DLPack's name of a device of weft's."""
    return _CPU if device == "cpu" else (_CUDA, device.index)


def _capsule(x, producer_device, copy, **options):
    """What x.__dlpack__ gives, and whether it knew of `copy`; producers of before 2023 know of `stream` alone."""
    stream = _core._stream_of(producer_device)
    if stream is not None:
        options["stream"] = stream
    try:
        return x.__dlpack__(max_version=_VERSION, copy=copy, **options), True
    except TypeError:
        if "dl_device" in options:
            raise
        return x.__dlpack__(**options), False


def from_dlpack(x, /, *, device=None, copy=None):
    """An array over the memory of any object with `__dlpack__`, such as another library's array.

    device: where the array shall be; by default where x is. copy: True gives memory of the array's own, False
    never copies, None copies only for another device. What x's owner writes is seen in the array and the other way
    round; the memory is kept alive by the array and its views.

    Raises BufferError where the memory cannot be shared, or not without the copy that copy=False forbids.

    >>> x = np.arange(4.0)
    >>> y = np.from_dlpack(x)
    >>> y[0] = 7
    >>> x
    array([7., 1., 2., 3.])
    """
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(f"'{type(x).__name__}' object has no __dlpack__: it cannot be shared by DLPack")
    kind, number = (int(part) for part in x.__dlpack_device__())
    source = {_HOST: _CPU, _MANAGED: (_CUDA, number)}.get(kind, (kind, number))
    target = source if device is None else _pair(_device(device))
    moves = target != source
    if isinstance(x, _core.ndarray):
        if moves and copy is False:
            raise BufferError(
                f"the array is on {x.device}: it cannot be had on {_device(device)} without a copy"
            )
        return x.to_device(device) if moves else x.copy() if copy else x.view()
    if moves and source[0] in (1, _CUDA):
        # weft moves by itself what it can reach.
        if copy is False:
            raise BufferError(
                f"the memory is on another device: it cannot be had on {_device(device)} without a copy"
            )
        return from_dlpack(x).to_device(device)
    options = {"dl_device": target} if moves else {}
    capsule, knows_copy = _capsule(x, target, copy, **options)
    result, is_copied = _core._from_capsule(capsule)
    if copy and not (knows_copy and is_copied):
        return result.copy()
    return result


class _NumpyDtype:
    """`__numpy_dtype__`, by which NumPy finds the dtype of a scalar type: numpy.zeros(3, weft.float32)."""

    def __get__(self, instance, owner):
        if owner.__subclasses__() or owner is _core.generic:
            raise AttributeError(f"{owner.__name__} has no dtype")
        if instance is not None:
            return instance.dtype.__numpy_dtype__
        return _core.dtype(owner).__numpy_dtype__


_core.generic.__numpy_dtype__ = _NumpyDtype()
