"""Results that go into an array given as `out`."""

from weft import _core
from weft.exceptions import UFuncTypeError


def into(out, result, name):
    """Writes `result` into `out`, and returns that; `name` is the ufunc's that NumPy calls."""
    if not isinstance(out, _core.ndarray):
        raise TypeError("return arrays must be of ArrayType")
    if out.shape != result.shape:
        raise ValueError("output array has wrong shape.")
    if not _core.can_cast(result.dtype, out.dtype, "same_kind"):
        raise UFuncTypeError(
            f"Cannot cast ufunc '{name}' output from {result.dtype!r} to {out.dtype!r} with casting rule 'same_kind'"
        )
    out[...] = result
    return out
