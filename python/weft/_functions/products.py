"""NumPy's products that are put together from `matmul`, `dot` and single steps of contraction."""

from weft import _core
from weft._core import asarray, ndarray
from weft._engine.numpy_version import numpy_is_at_least


def vdot(a, b, /):
    """The sum of conj(a) * b over all elements, in C order.

    >>> np.vdot([[1, 2], [3, 4]], [[1, 1], [1, 1]])
    np.int64(10)
    """
    return _core._vdot(a, b)


def inner(a, b, /):
    """The sum over the last axes of both arrays; with a scalar, the product of each element.

    >>> np.inner([1, 2], [[3, 4], [5, 6]])
    array([11, 17])
    """
    return _core._inner(a, b)


def outer(a, b, out=None):
    """The product of every pair of an element of `a` and one of `b`, as a matrix.

    >>> np.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """
    return _core._outer(a, b, out)


def _axis_list(axes):
    try:
        return list(axes)
    except TypeError:
        return [axes]


def tensordot(a, b, axes=2):
    """The sum of products over the last `axes` axes of `a` and the first of `b`, or over two lists of axes.

    Raises ValueError when the axes differ in number or length.

    >>> np.tensordot([[1, 2], [3, 4]], [[1, 0], [0, 1]])
    np.int64(5)
    """
    if type(axes) is int:
        return _core._tensordot(a, b, axes)
    try:
        first, second = axes
    except TypeError:
        return _core._tensordot(a, b, axes)
    return _core._tensordot(a, b, _axis_list(first), _axis_list(second))


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The cross product of vectors of three components, which lie along the last axis unless another is named.

    >>> np.cross([1, 2, 3], [4, 5, 6])
    array([-3,  6, -3])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = asarray(a), asarray(b)
    result = _core._cross(a, b, axisa, axisb, axisc)
    extents = a.shape[axisa], b.shape[axisb]
    if extents == (3, 3):
        return result
    if numpy_is_at_least(2, 5):
        raise ValueError(
            f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {extents[0]} and {extents[1]} "
            "dimensional instead."
        )
    if 2 in extents:
        import warnings

        warnings.warn(
            "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead. "
            "(deprecated in NumPy 2.0)",
            DeprecationWarning,
            stacklevel=2,
        )
    return result


def _returned(result, out):
    if isinstance(out, tuple):
        (out,) = out
    if out is None:
        return result
    if not isinstance(out, ndarray):
        raise TypeError("return arrays must be of ArrayType")
    if not _core.can_cast(result.dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast output from {result.dtype!r} to {out.dtype!r} with casting rule 'same_kind'"
        )
    _core.copyto(out, result, "same_kind")
    return out


def vecdot(x1, x2, /, out=None, *, axis=-1, keepdims=False, dtype=None):
    """The sum of conj(x1) * x2 over the last axis, or over `axis`; the other axes broadcast.

    >>> np.vecdot([[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    """
    if dtype is not None:
        x1, x2 = asarray(x1, dtype), asarray(x2, dtype)
    return _returned(_core._vecdot(x1, x2, axis, bool(keepdims)), out)


def matvec(x1, x2, /, out=None, *, dtype=None):
    """The product of matrices, the last two axes of `x1`, with vectors, the last axis of `x2`."""
    if dtype is not None:
        x1, x2 = asarray(x1, dtype), asarray(x2, dtype)
    return _returned(_core._matvec(x1, x2), out)


def vecmat(x1, x2, /, out=None, *, dtype=None):
    """The product of conjugated vectors, the last axis of `x1`, with matrices, the last two axes of `x2`."""
    if dtype is not None:
        x1, x2 = asarray(x1, dtype), asarray(x2, dtype)
    return _returned(_core._vecmat(x1, x2), out)


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """The sum along a diagonal. Small integers add up as int64 or uint64.

    >>> np.trace([[1, 2], [3, 4]])
    np.int64(5)
    """
    return _core._trace(a, offset, axis1, axis2, dtype, out)


# ---- einsum: its calling conventions ----

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _term_of_list(subscripts):
    term = ""
    for item in subscripts:
        if item is ...:
            term += "..."
        elif hasattr(item, "__index__"):
            number = item.__index__()
            if not 0 <= number < len(_LETTERS):
                raise ValueError("subscript is not within the valid range [0, 52)")
            term += _LETTERS[number]
        else:
            raise TypeError("each subscript must be either an integer or an ellipsis")
    return term


def _read_einsum(operands):
    """The subscripts as text, and the operands."""
    if operands and isinstance(operands[0], (str, bytes)):
        text = operands[0]
        return text.decode() if isinstance(text, bytes) else text, operands[1:]
    if len(operands) < 2:
        return "", ()
    count = len(operands) // 2
    text = ",".join(map(_term_of_list, operands[1::2]))
    if len(operands) % 2 == 1:
        text += "->" + _term_of_list(operands[-1])
    return text, operands[: 2 * count : 2]


def _is_path(optimize):
    return isinstance(optimize, (list, tuple)) and len(optimize) > 0 and optimize[0] == "einsum_path"


def _path_choice(optimize):
    """The name of a search, the steps of a path, or None for the search that einsum makes by itself."""
    if _is_path(optimize):
        return optimize[1:]
    if isinstance(optimize, (list, tuple)):
        if len(optimize) != 2 or not isinstance(optimize[0], str):
            raise TypeError(f"Did not understand the path: {optimize!s}")
        optimize = optimize[0]  # a bound on memory: intermediate results are never larger than they must be
    if optimize is False or optimize is None:
        return None
    if optimize is True:
        return "greedy"
    if not isinstance(optimize, str):
        raise TypeError(f"Did not understand the path: {optimize!s}")
    if optimize not in ("greedy", "optimal"):
        raise KeyError("Path name %s not found" % optimize)  # noqa: UP031
    return optimize


def einsum(*operands, out=None, optimize=False, dtype=None, order="K", casting="safe"):
    """Einstein's summation: the product of the operands, summed over each label that the result has not.

    `einsum('ij,jk->ik', a, b)` or `einsum(a, [0, 1], b, [1, 2], [0, 2])`. Without '->', the result has the labels that
    occur once, sorted. '...' stands for axes that broadcast; a repeated label takes the diagonal. The products are
    done two at a time, in an order that is chosen by cost; `optimize` may be a path, as einsum_path gives one, else
    'greedy' or 'optimal' says how it is searched.

    Raises ValueError for subscripts that do not fit the operands, TypeError for a dtype that cannot be cast to.

    >>> np.einsum('ij,j->i', [[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    """
    if operands and type(operands[0]) is str:
        text, operands = operands[0], operands[1:]
    else:
        text, operands = _read_einsum(operands)
    choice = None if optimize is False or len(operands) == 1 else _path_choice(optimize)
    return _core._einsum(text, operands, out, choice, dtype, order, casting)


def einsum_path(*operands, optimize="greedy", einsum_call=False):
    """The order in which einsum multiplies two operands at a time, and a text that compares costs.

    >>> np.einsum_path('ij,jk,kl->il', np.ones((2, 9)), np.ones((9, 2)), np.ones((2, 9)))[0]
    ['einsum_path', (0, 1), (0, 1)]
    """
    text, operands = _read_einsum(operands)
    count = len(operands)
    if optimize is False:
        choice = [range(count)]
    elif count < 3 and not _is_path(optimize):
        choice = None  # there is but one
    else:
        choice = _path_choice(optimize)
    steps, report = _core._einsum_path(text, operands, choice)
    return ["einsum_path", *steps], report
