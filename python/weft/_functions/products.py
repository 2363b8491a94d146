"""NumPy's products that are put together from `matmul`, `dot` and single steps of contraction."""

from weft import _core
from weft._core import asarray, dot, ndarray

_ufuncs = _core._ufuncs
_multiply, _conjugate = _ufuncs["multiply"], _ufuncs["conjugate"]


def _conj(a):
    return _conjugate(a) if a.dtype.kind == "c" else a


def vdot(a, b, /):
    """The sum of conj(a) * b over all elements, in C order.

    >>> np.vdot([[1, 2], [3, 4]], [[1, 1], [1, 1]])
    np.int64(10)
    """
    a, b = asarray(a).ravel(), asarray(b).ravel()
    if a.size != b.size:
        raise ValueError(f"cannot reshape array of size {b.size} into shape ({a.size},)")
    return dot(_conj(a), b)


def inner(a, b, /):
    """The sum over the last axes of both arrays; with a scalar, the product of each element.

    >>> np.inner([1, 2], [[3, 4], [5, 6]])
    array([11, 17])
    """
    a, b = asarray(a), asarray(b)
    return dot(a, b if b.ndim < 2 else b.mT)


def outer(a, b, out=None):
    """The product of every pair of an element of `a` and one of `b`, as a matrix.

    >>> np.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """
    a, b = asarray(a), asarray(b)
    return _multiply(a.ravel()[:, None], b.ravel()[None, :], out=out)


def _axis_list(axes):
    try:
        return list(axes)
    except TypeError:
        return [axes]


def _outer_product(a, b):
    """Every product of an element of `a` and one of `b`, in C order."""
    return _core._ufuncs["multiply"].outer(a, b, order="C") if a.ndim + b.ndim else asarray(a * b)


def tensordot(a, b, axes=2):
    """The sum of products over the last `axes` axes of `a` and the first of `b`, or over two lists of axes.

    Raises ValueError when the axes differ in number or length.

    >>> np.tensordot([[1, 2], [3, 4]], [[1, 0], [0, 1]])
    np.int64(5)
    """
    a, b = asarray(a), asarray(b)
    try:
        first, second = axes
    except TypeError:
        first, second = list(range(-axes, 0)), list(range(axes))
    first, second = _axis_list(first), _axis_list(second)
    if len(first) != len(second):
        raise ValueError("shape-mismatch for sum")
    for i, j in zip(first, second):
        if a.shape[i] != b.shape[j]:  # an axis that is not there is an IndexError
            raise ValueError("shape-mismatch for sum")
    first, second = [i % a.ndim for i in first], [j % b.ndim for j in second]
    if len(set(first)) != len(first) or len(set(second)) != len(second):
        raise ValueError("axes don't match array")
    left = list(range(a.ndim))
    right = [a.ndim + j for j in range(b.ndim)]
    for i, j in zip(first, second):
        right[j] = i
    kept = [label for label in left + right if label not in first]
    if not first:
        return _outer_product(a, b)
    return _core._contract(a, left, b, right, kept, "C", "dot")


def _vectors(name, signature, x1, x2, core):
    """The operands, each of `core` dimensions at least, that agree in their last, or last but one, axis."""
    x1, x2 = asarray(x1), asarray(x2)
    for k, (x, least) in enumerate(zip((x1, x2), core)):
        if x.ndim < least:
            raise ValueError(
                f"{name}: Input operand {k} does not have enough dimensions (has {x.ndim}, "
                f"gufunc core with signature {signature} requires {least})"
            )
    size = x2.shape[-core[1]]
    if size != x1.shape[-1]:
        raise ValueError(
            f"{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"{signature} (size {size} is different from {x1.shape[-1]})"
        )
    return x1, x2


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
    x1, x2 = asarray(x1, dtype), asarray(x2, dtype)
    if axis != -1:
        from weft._array.axes import moveaxis

        x1, x2 = moveaxis(x1, axis, -1), moveaxis(x2, axis, -1)
    x1, x2 = _vectors("vecdot", "(n),(n)->()", x1, x2, (1, 1))
    left = [*range(-x1.ndim, 0)]
    right = [*range(-x2.ndim, 0)]
    kept = [*range(-_max(x1.ndim, x2.ndim), -1)]
    result = _core._contract(_conj(x1), left, x2, right, kept, "C", "vecdot")
    if keepdims:
        from weft._array.axes import moveaxis

        result = moveaxis(result[..., None], -1, axis)
    return _returned(result if result.ndim else result[()], out)


_max = max


def matvec(x1, x2, /, out=None, *, dtype=None):
    """The product of matrices, the last two axes of `x1`, with vectors, the last axis of `x2`."""
    x1, x2 = asarray(x1, dtype), asarray(x2, dtype)
    if x1.ndim < 2:
        raise ValueError(
            f"matvec: Input operand 0 does not have enough dimensions (has {x1.ndim}, "
            "gufunc core with signature (m,n),(n)->(m) requires 2)"
        )
    x1, x2 = _vectors("matvec", "(m,n),(n)->(m)", x1, x2, (1, 1))
    return _returned(_core._matmul_named("matvec", x1, x2[..., None])[..., 0], out)


def vecmat(x1, x2, /, out=None, *, dtype=None):
    """The product of conjugated vectors, the last axis of `x1`, with matrices, the last two axes of `x2`."""
    x1, x2 = asarray(x1, dtype), asarray(x2, dtype)
    x1, x2 = _vectors("vecmat", "(n),(n,m)->(m)", x1, x2, (1, 2))
    return _returned(_core._matmul_named("vecmat", _conj(x1)[..., None, :], x2)[..., 0, :], out)


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """The sum along a diagonal. Small integers add up as int64 or uint64.

    >>> np.trace([[1, 2], [3, 4]])
    np.int64(5)
    """
    return asarray(a).diagonal(offset, axis1, axis2).sum(-1, dtype, out)


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
