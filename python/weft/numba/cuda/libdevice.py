"""numba.cuda's libdevice: that of weft.cuda."""

from weft.cuda import libdevice as _libdevice


def __getattr__(name):
    return getattr(_libdevice, name)


def __dir__():
    return dir(_libdevice)
