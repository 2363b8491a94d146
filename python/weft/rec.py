"""numpy.rec for weft's arrays: NumPy computes, on the host, and weft.fallback_report() counts it."""

import functools

from numpy import rec as _theirs

from weft._protocols.host_names import of_module as _of_module

__all__ = list(_theirs.__all__)
__getattr__ = functools.partial(_of_module, _theirs)


def __dir__():
    return sorted(__all__)
