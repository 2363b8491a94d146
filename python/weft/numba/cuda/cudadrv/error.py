"""What is wrong with a GPU, by numba.cuda's names."""

from weft import DeviceError

CudaDriverError = CudaSupportError = CudaAPIError = DeviceError

__all__ = ["CudaAPIError", "CudaDriverError", "CudaSupportError"]
