"""The class of arrays for kernels, by numba.cuda's name."""

from weft.cuda import is_cuda_array as is_cuda_ndarray
from weft.cuda._arrays import DeviceArray as DeviceNDArray

__all__ = ["DeviceNDArray", "is_cuda_ndarray"]
