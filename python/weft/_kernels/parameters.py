"""What kernels in C++ tell of themselves."""


class ParameterInfo:
    """A parameter of a kernel: its name, its dtype (None for a placeholder), its type as written, whether it is raw."""

    def __init__(self, name, dtype, ctype, raw, is_const):
        self.name, self.dtype, self.ctype, self.raw, self.is_const = name, dtype, ctype, raw, is_const

    def __repr__(self):
        fields = ("name", "dtype", "ctype", "raw", "is_const")
        return f"ParameterInfo({', '.join(f'{one}={getattr(self, one)!r}' for one in fields)})"


class CKernel:
    """What element-wise and reduction kernels share."""

    def _take_parameters(self, handle):
        self._handle = handle
        self.in_params = tuple(ParameterInfo(*one, True) for one in handle.inputs)
        self.out_params = tuple(ParameterInfo(*one, False) for one in handle.outputs)
        self.params = self.in_params + self.out_params
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout

    @property
    def cached_codes(self):
        """The kernel IR of each combination of the inputs' dtypes that it was called with.

        >>> half = np.ElementwiseKernel("T x", "T y", "y = x / 2", "half")
        >>> half(np.array([3.0, 5.0]))
        array([1.5, 2.5])
        >>> list(half.cached_codes)
        [(dtype('float64'),)]
        """
        return dict(self._handle.codes)

    _cached_codes = cached_codes

    @property
    def cached_code(self):
        """The kernel IR of the first combination of dtypes that it was called with."""
        return next(iter(self.cached_codes.values()))


def handle_of(stream):
    """The number of a stream of CUDA's: of weft.cuda, CuPy, PyTorch, or the number itself; 0 for None."""
    for name in ("handle", "ptr", "cuda_stream", "value"):
        stream = getattr(stream, name, stream)
    return 0 if stream is None else int(stream)
