"""The array API standard: its version, what the namespace tells of itself, and `x.__array_namespace__()`."""

import sys

from weft import _core
from weft._engine.device import device as _device
from weft._engine.device import devices as _devices

__array_api_version__ = "2025.12"

_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


def _check_device(name):
    """Refuses what is no device of this machine; asks for a driver only where a GPU is named."""
    if name is None:
        return
    try:
        known = _device(name) == "cpu" or _device(name) in _devices()
    except ValueError:
        known = False
    if not known:
        raise ValueError(f"Device not understood. It is one of {_devices()}, but received: {name}")


class __array_namespace_info__:
    """What the array API standard lets a program ask of a namespace.

    >>> np.__array_namespace_info__().capabilities()["max dimensions"]
    64
    """

    __module__ = "weft"

    def capabilities(self):
        """What the standard leaves open: arrays of bools as indices, shapes that depend on values, how many axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        """Where this thread makes new arrays."""
        return _device(_core.empty(0).device)

    def default_dtypes(self, *, device=None):
        """The dtypes of arrays for which none is given. Raises ValueError for a device that is not there."""
        _check_device(device)
        return {
            "real floating": _core.dtype("float64"),
            "complex floating": _core.dtype("complex128"),
            "integral": _core.dtype("int64"),
            "indexing": _core.dtype("int64"),
        }

    def dtypes(self, *, device=None, kind=None):
        """The standard's dtypes by name, of a kind or of several. Raises ValueError for an unknown kind or device.

        >>> np.__array_namespace_info__().dtypes(kind="real floating")
        {'float32': dtype('float32'), 'float64': dtype('float64')}
        """
        _check_device(device)
        if kind is None:
            kind = ("bool", "numeric")
        names = {}
        for each in kind if isinstance(kind, tuple) else (kind,):
            if each not in _KINDS:
                raise ValueError(f"unsupported kind: {each!r}")
            names.update(dict.fromkeys(_KINDS[each]))
        return {name: _core.dtype(name) for name in names}

    def devices(self):
        """The devices there are, as a tuple. Looks for a driver."""
        return tuple(_devices())


def array_namespace(self, /, *, api_version=None):
    """The module weft. Raises ValueError for a version of the array API standard that it does not follow."""
    if api_version is not None:
        if not isinstance(api_version, str):
            raise ValueError(
                f"Only None and strings are allowed as the Array API version, but received: {api_version}."
            )
        if api_version not in _VERSIONS:
            raise ValueError(f'Version "{api_version}" of the Array API Standard is not supported.')
    return sys.modules["weft"]
