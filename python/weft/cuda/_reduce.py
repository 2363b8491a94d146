"""Reductions by functions of two elements, as kernels: a tree in each block, then one of what the blocks came to."""

import sys

import weft
from weft.cuda._arrays import DeviceArray
from weft.cuda._kernel import jit
from weft.cuda._place import NAMES

shared, syncthreads = NAMES["shared"], NAMES["syncthreads"]
threadIdx, blockIdx, gridDim = NAMES["threadIdx"], NAMES["blockIdx"], NAMES["gridDim"]

# What the shape of the trees hangs on, beside the number of elements: results are the same on any machine.
BLOCK = 64
LEAST_OF_THREAD = 512
MOST_BLOCKS = 128


def _kernel(jit, function, kind):
    """The kernel that reduces each block's elements to one, and those of a single block into `out[0]`."""

    @jit
    def reduced(a, of_thread, partials, out):
        own = shared.array(BLOCK, kind)
        t = threadIdx.x
        block_first = blockIdx.x * BLOCK * of_thread
        first = block_first + t * of_thread
        if first < a.size:
            total = a[first]
            for i in range(first + 1, min(first + of_thread, a.size)):
                total = kind(function(total, a[i]))
            own[t] = total
        filled = min(-(-(a.size - block_first) // of_thread), BLOCK)
        stride = 1
        while stride < filled:
            syncthreads()
            if t % (2 * stride) == 0 and t + stride < filled:
                own[t] = function(own[t], own[t + stride])
            stride *= 2
        if t == 0:
            if gridDim.x == 1:
                out[0] = function(out[0], own[0])
            else:
                partials[blockIdx.x] = own[0]

    return reduced


class Reduce:
    """A reduction by a function of two elements, which is compiled for each dtype.

    Neighbours are combined by a tree whose shape hangs on the number of elements alone. So the result has the same
    bits for any number of threads, and the function has to be associative, but not commutative.

    Parameters
    ----------
    functor : function
        What makes one element of two.

    Examples
    --------
    >>> from weft import cuda
    >>> @cuda.reduce
    ... def largest(a, b):
    ...     return max(a, b)
    >>> print(largest(np.array([3.0, 9.0, 4.0])))
    9.0
    >>> print(cuda.reduce(lambda a, b: a + b)(np.arange(5), init=100))
    110
    """

    _jit = staticmethod(jit)

    def __init__(self, functor):
        functor = getattr(functor, "py_func", functor)
        if not callable(functor):
            raise TypeError(f"a reduction needs a function of two elements, not {type(functor).__name__}")
        self._functor = functor
        self._kernels = {}

    def __call__(self, arr, size=None, res=None, init=0, stream=0):
        """Reduces an array.

        Parameters
        ----------
        arr : array
            The elements, along one axis.
        size : int, optional
            How many of them, from the first on; all where it is left out.
        res : array, optional
            Its first element becomes the result, instead of a return.
        init : scalar
            What the elements are combined with, at the left; the result where there are none.
        stream : Stream, optional
            Kernels and copies are ordered anyway.

        Returns
        -------
        scalar or None
            The result, with the dtype of `arr`; None with `res`.
        """
        array = arr._array if isinstance(arr, DeviceArray) else arr
        if not isinstance(array, weft.ndarray) and not _is_numpys(array):
            array = weft.asarray(array)
        if array.ndim != 1:
            raise TypeError(f"a reduction takes an array of one dimension, and this one has {array.ndim}")
        if size is not None:
            if size < 0:
                raise ValueError(f"a size is not negative, and {size} was given")
            array = array[:size]
        out = _empty_like(array, 1)
        out[0] = init
        if array.size:
            self._run(array, out)
        if res is None:
            return out[0]
        (res._array if isinstance(res, DeviceArray) else res)[0] = out[0]
        return None

    def _run(self, array, out):
        name = str(array.dtype.name)
        kernel = self._kernels.get(name)
        if kernel is None:
            kernel = self._kernels[name] = _kernel(self._jit, self._functor, getattr(weft, name))
        of_thread = max(LEAST_OF_THREAD, -(-array.size // (BLOCK * MOST_BLOCKS)))
        blocks = -(-array.size // (BLOCK * of_thread))
        partials = _empty_like(array, blocks)
        threads = min(BLOCK, -(-array.size // of_thread))  # those without elements are left out
        kernel[blocks, threads](array, of_thread, partials, out)
        if blocks > 1:
            kernel[1, min(BLOCK, blocks)](partials, -(-blocks // BLOCK), partials, out)

    def __repr__(self):
        return f"<reduction by {getattr(self._functor, '__qualname__', self._functor)}>"


def _is_numpys(array):
    return isinstance(array, getattr(sys.modules.get("numpy"), "ndarray", ()))


def _empty_like(array, count):
    """An array of so many elements, of NumPy's where the other one is."""
    return (sys.modules["numpy"] if _is_numpys(array) else weft).empty(count, array.dtype)


reduce = Reduce
