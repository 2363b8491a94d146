"""Norms, condition numbers and ranks. Norms without singular values are recorded: they fuse with their input."""

from weft import _core
from weft._array.axes import moveaxis, normalize_axes
from weft._array.dtypes import finfo
from weft._core import _linalg_inv_or_nan, _linalg_svdvals, asarray
from weft._functions.reductions import count_nonzero
from weft._ufunc.errstate import errstate
from weft.exceptions import LinAlgError
from weft.linalg._checks import check_square, is_empty
from weft.linalg._factorizations import svd

_sqrt, _isnan = _core._ufuncs["sqrt"], _core._ufuncs["isnan"]
_INF = float("inf")


def _squares(x):
    return x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else x * x


def norm(x, ord=None, axis=None, keepdims=False):
    """The norm of vectors along one axis, or of matrices along two; by default of all elements as one vector.

    `ord` of vectors is a number, or inf and -inf; of matrices 1, -1, 2, -2, inf, -inf, 'fro' or 'nuc'.
    Raises ValueError for another, and for more axes.

    >>> np.linalg.norm([3.0, 4.0])
    np.float64(5.0)
    >>> np.linalg.norm([[1.0, -2.0], [3.0, 4.0]], 1)
    np.float64(6.0)
    """
    x = asarray(x)
    if x.dtype.kind not in "fcV":
        x = x.astype(float)
    ndim = x.ndim
    if axis is None:
        if ord is None or (ord == 2 and ndim == 1) or (ndim == 2 and ord in ("f", "fro")):
            result = _sqrt(_squares(x).sum())
            return result.reshape((1,) * ndim) if keepdims else result
        axis = tuple(range(ndim))
    elif not isinstance(axis, tuple):
        try:
            axis = (int(axis),)
        except Exception as error:
            raise TypeError("'axis' must be None, an integer or a tuple of integers") from error
    if len(axis) == 1:
        return _vector_norm(x, ord, axis, keepdims)
    if len(axis) == 2:
        return _matrix_norm(x, ord, axis, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def _vector_norm(x, ord, axis, keepdims):
    if ord is None or ord == 2:
        return _sqrt(_squares(x).sum(axis=axis, keepdims=keepdims))
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == _INF:
        return abs(x).max(axis=axis, keepdims=keepdims, initial=0)
    if ord == -_INF:
        return abs(x).min(axis=axis, keepdims=keepdims)
    if ord == 0:
        return (x != 0).astype(x.real.dtype).sum(axis=axis, keepdims=keepdims)
    if ord == 1:
        return abs(x).sum(axis=axis, keepdims=keepdims)
    result = (abs(x) ** ord).sum(axis=axis, keepdims=keepdims)
    return result ** _core._ufuncs["reciprocal"](ord, dtype=result.dtype)


def _matrix_norm(x, ord, axis, keepdims):
    rows, columns = (normalize_axes(each, x.ndim, None)[0] for each in axis)
    if rows == columns:
        raise ValueError("Duplicate axes given.")
    if ord in (None, "fro", "f"):
        result = _sqrt(_squares(x).sum(axis=(rows, columns)))
    elif ord in (2, -2, "nuc"):
        values = _linalg_svdvals(moveaxis(x, (rows, columns), (-2, -1)))
        if ord == 2:
            result = values.max(axis=-1, initial=0)
        else:
            result = values.min(axis=-1) if ord == -2 else values.sum(axis=-1)
    elif ord in (1, -1, _INF, -_INF):
        summed, other = (rows, columns) if ord in (1, -1) else (columns, rows)
        sums = abs(x).sum(axis=summed)
        other -= other > summed
        result = sums.max(axis=other, initial=0) if ord > 0 else sums.min(axis=other)
    else:
        raise ValueError("Invalid norm order for matrices.")
    if keepdims:
        shape = [1 if d in (rows, columns) else extent for d, extent in enumerate(x.shape)]
        result = result.reshape(shape)
    return result


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norm of the matrices of the last two axes, as norm has it.

    >>> np.linalg.matrix_norm([[3.0, 0.0], [0.0, 4.0]])
    np.float64(5.0)
    """
    return norm(x, axis=(-2, -1), keepdims=keepdims, ord=ord)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norm of vectors along the axes, all by default.

    >>> np.linalg.vector_norm([[3.0, 0.0], [0.0, 4.0]], ord=1)
    np.float64(7.0)
    """
    x = asarray(x)
    shape = list(x.shape)
    axes = tuple(range(x.ndim)) if axis is None else tuple(normalize_axes(axis, x.ndim, None))
    if axis is None:
        result = norm(x.ravel(), axis=0, ord=ord)
    elif isinstance(axis, tuple):
        rest = tuple(d for d in range(x.ndim) if d not in axes)
        moved = x.transpose(axes + rest)
        extent = 1
        for d in axes:
            extent *= shape[d]
        result = norm(moved.reshape((extent, *(shape[d] for d in rest))), axis=0, ord=ord)
    else:
        result = norm(x, axis=axis, ord=ord)
    if keepdims:
        for d in axes:
            shape[d] = 1
        result = result.reshape(tuple(shape))
    return result


def cond(x, p=None):
    """The condition number: by default the largest singular value by the smallest, else the norm times the inverse's.

    Raises LinAlgError for matrices without elements, and where `p` needs square ones.

    >>> np.linalg.cond([[4.0, 0.0], [0.0, 2.0]])
    np.float64(2.0)
    """
    x = asarray(x)
    if x.ndim >= 2 and is_empty(x) and x.size == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    with errstate(all="ignore"):
        if p is None or p in (2, -2):
            values = svd(x, compute_uv=False)
            low, high = values[..., -1], values[..., 0]
            result = low / high if p == -2 else high / low
        else:
            check_square(x)
            result = norm(x, p, axis=(-2, -1)) * norm(_linalg_inv_or_nan(x), p, axis=(-2, -1))
            if x.dtype.kind == "f" and result.dtype != x.dtype:
                result = result.astype(x.dtype)
    unknown = _isnan(result)
    if unknown.any():
        unknown = unknown & ~_isnan(x).any(axis=(-2, -1))
        result = _core.where(unknown, result.dtype.type(_INF), result)
    return result if result.ndim else result[()]


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """How many singular values are greater than `tol`, or than `rtol` times the largest one.

    >>> np.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    np.int64(1)
    """
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    A = asarray(A)
    if A.ndim < 2:
        return int(not (A == 0).all())
    values = svd(A, compute_uv=False, hermitian=hermitian)
    if tol is None:
        rtol = (
            max(A.shape[-2:]) * finfo(values.dtype).eps
            if rtol is None
            else asarray(rtol, device=values.device)[..., None]
        )
        tol = values.max(axis=-1, keepdims=True, initial=0) * rtol
    else:
        tol = asarray(tol, device=values.device)[..., None]
    return count_nonzero(values > tol, axis=-1)
