"""ReductionKernel: a reduction in C++."""

from weft import _core
from weft._kernels.parameters import CKernel, handle_of


class ReductionKernel(CKernel):
    """A reduction of the program's own, written in C++ as for CuPy.

    `map_expr` maps each element, `reduce_expr` combines `a` and `b`, and `post_map_expr` maps the result, which is `a`,
    to the outputs.

    >>> norm = np.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    >>> norm(np.array([[3.0, 4.0], [5.0, 12.0]]), axis=1)
    array([ 5., 13.])

    `identity` changes nothing that it is combined with; where it is empty, a reduction of no elements is an error. What
    is combined has the first output's type, or `reduce_type`. All three parts are recorded and fused as other work. In
    which order elements are combined follows from the shape alone, so results are the same on all devices.
    `reduce_dims` changes nothing.

    A kernel outside of the subset runs on GPUs alone: NVRTC compiles it, with `options`, and `np.fallback_report()`
    says why. `stream` of calls is for such kernels.
    """

    def __init__(
        self,
        in_params,
        out_params,
        map_expr,
        reduce_expr,
        post_map_expr,
        identity,
        name="reduce_kernel",
        reduce_type=None,
        reduce_dims=True,
        preamble="",
        options=(),
    ):
        identity = "" if identity is None else str(identity)
        parts = (map_expr, reduce_expr, post_map_expr, identity)
        self._take_parameters(
            _core._reduction_kernel(
                in_params, out_params, parts, name, preamble, reduce_type or "", tuple(options)
            )
        )
        self.map_expr, self.reduce_expr, self.post_map_expr, self.identity = parts
        self.reduce_type, self.reduce_dims, self.preamble, self.options = (
            reduce_type,
            reduce_dims,
            preamble,
            options,
        )
        self.name = self.__name__ = name

    def __call__(self, *args, axis=None, keepdims=False, out=None, stream=None):
        """Reduces over `axis`: None for all, an axis or a tuple of them."""
        given = () if out is None else out if isinstance(out, tuple) else (out,)
        results = self._handle.call(args, axis, keepdims, given, handle_of(stream))
        if given or len(args) > self.nin:
            results = list(given or args[self.nin :])
        return results[0] if self.nout == 1 else tuple(results)

    def __repr__(self):
        return f"<ReductionKernel {self.name!r}>"
