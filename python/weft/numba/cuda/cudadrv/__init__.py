"""numba.cuda.cudadrv's names, as far as programs use them: the class of arrays, the devices and the errors."""

from weft.numba.cuda.cudadrv import devicearray, devices, driver, error

__all__ = ["devicearray", "devices", "driver", "error"]
