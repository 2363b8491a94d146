"""What programs take from numba.cuda's driver."""

from weft.numba.cuda.cudadrv.error import CudaAPIError

__all__ = ["CudaAPIError"]
