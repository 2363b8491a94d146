"""ElementwiseKernel: the body of a loop over elements, in C++."""

from weft import _core
from weft._kernels.parameters import CKernel, handle_of


class ElementwiseKernel(CKernel):
    """A kernel of the program's own that computes elements from elements, written in C++ as for CuPy.

    `in_params` and `out_params` are parameters with commas between them, each a type and a name: a dtype, or one letter
    that stands for the dtype of the argument. `operation` is the body of a loop over elements.

    >>> squared_difference = np.ElementwiseKernel("T x, T y", "T z", "T d = x - y; z = d * d;", "squared_difference")
    >>> squared_difference(np.arange(4.0), 1.5)
    array([2.25, 0.25, 0.25, 2.25])

    Arguments broadcast. Outputs may be given behind the inputs; else they are new. A kernel within weft's subset of C++
    is recorded and fused as other work, and runs on CPUs too. `i` is the position of the element, `n` and `_ind.size()`
    say how many there are. Of an argument that is `raw` the body takes elements by their positions.

    >>> reverse = np.ElementwiseKernel("raw T x", "T y", "y = x[n - 1 - i]", "reverse")
    >>> reverse(np.arange(4), size=4)
    array([3, 2, 1, 0])

    `preamble` has functions and constants for the body. With `no_return` calls give None, with `return_tuple` a tuple
    where there is one output, too. `reduce_dims` changes nothing: weft lays out loops itself.

    A kernel outside of the subset runs on GPUs alone: NVRTC compiles it, with `options`, `loop_prep` and `after_loop`,
    and `np.fallback_report()` says why. `block_size` and `stream` of calls are for such kernels.
    """

    def __init__(
        self,
        in_params,
        out_params,
        operation,
        name="kernel",
        reduce_dims=True,
        preamble="",
        no_return=False,
        return_tuple=False,
        **kwargs,
    ):
        for one in kwargs:
            if one not in ("options", "loop_prep", "after_loop"):
                raise TypeError(f"ElementwiseKernel takes no {one!r}")
        around_loop = kwargs.get("loop_prep", ""), kwargs.get("after_loop", "")
        options = tuple(kwargs.get("options", ()))
        self._take_parameters(
            _core._elementwise_kernel(in_params, out_params, operation, name, preamble, options, around_loop)
        )
        self.operation, self.preamble, self.reduce_dims = operation, preamble, reduce_dims
        self.no_return, self.return_tuple, self.kwargs = no_return, return_tuple, kwargs
        self.name = self.__name__ = name

    def __call__(self, *args, size=None, stream=None, block_size=128):
        """Computes the outputs: `size` is how many elements there are, where all arrays are raw."""
        results = self._handle.call(args, size, block_size, handle_of(stream))
        if len(args) > self.nin:
            results = list(args[self.nin :])
        if self.no_return:
            return None
        return results[0] if self.nout == 1 and not self.return_tuple else tuple(results)

    def __repr__(self):
        return f"<ElementwiseKernel {self.name!r}>"
