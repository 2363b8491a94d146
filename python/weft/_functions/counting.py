"""NumPy's functions about how values are distributed: counts, averages, covariances."""

from operator import index as _index

from weft import _core
from weft._array.axes import normalize_axes
from weft._core import asarray, concatenate, ndarray, result_type, zeros
from weft._functions.reductions import mean, sum

_ufuncs = _core._ufuncs
_isnan, _sqrt, _floor = _ufuncs["isnan"], _ufuncs["sqrt"], _ufuncs["floor"]


# ---- counts ----


def bincount(x, /, weights=None, minlength=0):
    """How often each of 0, 1, ... is in an array of integers, or the sums of their weights.

    Raises ValueError for negative numbers.

    >>> np.bincount([0, 1, 1, 3])
    array([1, 2, 0, 1])
    """
    listed = not isinstance(x, ndarray)
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError(
            "object too deep for desired array" if x.ndim else "object of too small depth for desired array"
        )
    if x.dtype.kind not in "iub":
        if not listed:
            raise TypeError(
                f"Cannot cast array data from {x.dtype!r} to dtype('int64') according to the rule 'safe'"
            )
    minlength = _index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if x.size == 0:
        return zeros(minlength, "int64", device=x.device)  # whatever the weights are
    if weights is not None:
        weights = asarray(weights)
        if weights.dtype.kind == "c":
            raise TypeError(
                "Cannot cast array data from dtype('complex128') to dtype('float64') according to the rule 'safe'"
            )
        weights = weights.astype("float64", copy=False)
        if weights.shape != x.shape:
            raise ValueError("The weights and list don't have the same length.")
    return _core._bincount(x.astype("int64", copy=False), weights, minlength)


# ---- averages and covariances ----


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The mean, or with `weights` the sum of weighted elements over that of the weights.

    Raises ZeroDivisionError where the weights add up to 0.

    >>> np.average([1, 2, 3], weights=[3, 0, 1])
    np.float64(1.5)
    """
    a = asarray(a)
    if weights is None:
        result = mean(a, axis, keepdims=keepdims)
        scale = asarray(result).dtype.type(a.size / asarray(result).size)
        if returned:
            scale = _core.broadcast_to(asarray(scale), asarray(result).shape) + 0
    else:
        weights = asarray(weights)
        dtype = result_type(a.dtype, weights.dtype)
        if a.dtype.kind in "iub":
            dtype = result_type(dtype, "float64")
        if a.shape != weights.shape:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            axes = normalize_axes(axis, a.ndim, "axis")
            if weights.shape != tuple(a.shape[d] for d in axes):
                raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
            order = sorted(range(len(axes)), key=axes.__getitem__)
            weights = weights.transpose(tuple(order)) if weights.ndim > 1 else weights
            weights = weights.reshape([a.shape[d] if d in axes else 1 for d in range(a.ndim)])
        elif axis is not None:
            normalize_axes(axis, a.ndim, "axis")
        scale = sum(_core.broadcast_to(weights, a.shape), axis, dtype, keepdims=keepdims)
        if bool(asarray(scale == 0).any()):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        result = sum(_ufuncs["multiply"](a, weights, dtype=dtype), axis, keepdims=keepdims) / scale
    return (result, scale) if returned else result


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """The covariances of variables, which are rows, or with rowvar=False columns.

    >>> np.cov([[1, 2, 3], [3, 2, 1]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m = asarray(m)
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    parts = [m] if y is None else [m, asarray(y)]
    if y is not None and parts[1].ndim > 2:
        raise ValueError("y has more than 2 dimensions")
    if dtype is None:
        dtype = result_type(*parts, "float64")
    rows = []
    for k, part in enumerate(parts):
        part = part.astype(dtype)
        part = part.reshape(1, -1) if part.ndim < 2 else part
        rows.append(
            part.T if not rowvar and (m if k == 0 else asarray(y)).ndim != 1 and part.shape[0] != 1 else part
        )
    x = rows[0] if len(rows) == 1 else concatenate(rows, 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    weights = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        given = asarray(given)
        if (
            name == "fweights"
            and given.dtype.kind == "f"
            and not bool((given == _ufuncs["rint"](given)).all())
        ):
            raise TypeError("fweights must be integer")
        if given.ndim > 1:
            raise RuntimeError(f"cannot handle multidimensional {name}")
        if given.shape[0] != x.shape[1]:
            raise RuntimeError(f"incompatible numbers of samples and {name}")
        if bool((given < 0).any()):
            raise ValueError(f"{name} cannot be negative")
        weights = given.astype("float64") if weights is None else weights * given
    if weights is None:
        center, total = mean(x, 1), x.shape[1]
        factor = total - ddof
    else:
        center, total = average(x, 1, weights, returned=True)
        total = float(total[0])
        if ddof == 0:
            factor = total
        elif aweights is None:
            factor = total - ddof
        else:
            factor = total - ddof * float(sum(weights * asarray(aweights))) / total
    factor = max(float(factor), 0.0)
    x = x - center[:, None]
    right = x if weights is None else x * weights
    right = right.T if right.dtype.kind != "c" else _ufuncs["conjugate"](right.T)
    result = (x @ right) / factor if factor else (x @ right) * float("inf")
    return result.reshape(()) if result.size == 1 else result


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """The correlations of variables, which are rows, or with rowvar=False columns; between -1 and 1.

    >>> np.corrcoef([[1, 2, 3], [3, 2, 1]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not isinstance(c, ndarray) or c.ndim == 0:
        return c / c
    deviation = _sqrt(c.diagonal().real)
    c = c / deviation[:, None] / deviation[None, :]
    if c.dtype.kind == "c":
        real = _ufuncs["minimum"](_ufuncs["maximum"](c.real, -1), 1)
        imaginary = _ufuncs["minimum"](_ufuncs["maximum"](c.imag, -1), 1)
        return real + 1j * imaginary
    return _ufuncs["minimum"](_ufuncs["maximum"](c, -1), 1)
