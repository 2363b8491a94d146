"""Where Numba keeps some of its names."""

import sys

from weft.numba import config, errors, types

__all__ = ["config", "errors", "types"]

for _name in __all__:  # as modules, for `from numba.core.types import ...`
    sys.modules[f"{__name__}.{_name}"] = globals()[_name]
