"""ufunc.at, reduce and reduceat, and what signature= means, behind the methods of that name."""

from weft import _core
from weft._array.axes import moveaxis, normalize_axes
from weft._core import arange, asarray, concatenate, ndarray
from weft.exceptions import UFuncTypeError

_ufuncs = _core._ufuncs
_dtype = _core.dtype
_COMPARISONS = frozenset("equal not_equal less less_equal greater greater_equal".split())
_LOGICAL = frozenset("logical_and logical_or logical_xor".split())
# Of any order they give the same bits, so that halves may be combined element by element.
_ANY_ORDER = frozenset("bitwise_and bitwise_or bitwise_xor logical_xor fmax fmin gcd lcm".split())
_IDEMPOTENT = frozenset("fmax fmin lcm".split())


def _table_name(ufunc):
    """The name of a ufunc of NumPy's; a function of the program's of that name is none."""
    return "" if hasattr(ufunc, "py_func") else ufunc.__name__


def at(ufunc, a, indices, b):
    """In place, one element after another."""
    if not isinstance(a, ndarray):
        raise TypeError("first operand must be array")
    if ufunc.nin == 2 and b is None:
        raise ValueError("second operand needed for ufunc")
    if ufunc.nin == 1 and b is not None:
        raise ValueError("second operand provided when ufunc is unary")
    with a.device:
        b = None if b is None else asarray(b)
        if hasattr(ufunc, "py_func"):  # which may have no loop for these dtypes yet
            ufunc(*[_core.empty((0,), one.dtype) for one in (a, b) if one is not None])
        try:
            numbers = asarray(arange(a.size).reshape(a.shape)[indices])
            places = b if b is None else _core.broadcast_to(b, numbers.shape).ravel()
        except (IndexError, ValueError) as error:
            # That the ufunc has no loop for these dtypes comes first.
            _core._apply_at(ufunc, a, arange(0), None if b is None else arange(0).astype(b.dtype))
            if isinstance(error, IndexError):
                raise
            raise ValueError("array is not broadcastable to correct shape") from None
    _core._apply_at(ufunc, a, numbers.ravel(), places)


def _fold_types(ufunc, given, dtype, out, method):
    """The types of the accumulated and of the next operand. `out` counts as what is accumulated."""
    name = _table_name(ufunc)
    truth = _dtype("bool")
    dtype = None if dtype is None else _dtype(dtype)
    if name in _LOGICAL or name in _COMPARISONS:
        if dtype not in (None, truth) or (name in _COMPARISONS and dtype is None and given != truth):
            raise TypeError(
                f"No loop matching the specified signature and casting was found for ufunc {name}"
            )
        return truth, truth
    first = dtype if dtype is not None else given if out is None else out.dtype
    types = _core._resolve_types(ufunc, [first, given], dtype, "unsafe")
    if types[0] != types[2] or (method != "reduce" and types[0] != types[1]):
        words = ", ".join(repr(one) for one in types)
        raise TypeError(
            f"the resolved dtypes are not compatible with {ufunc.__name__}.{method}. Resolved ({words})"
        )
    return types[0], types[1]


def _folded(ufunc, rows):
    """The last axis folded, one element after another or, where no bit shows the difference, by halves."""
    length = rows.shape[-1]
    if _table_name(ufunc) in _ANY_ORDER:
        while length > 1:
            half = length // 2
            folded = ufunc(rows[..., :half], rows[..., half : 2 * half])
            rows = concatenate([folded, rows[..., 2 * half :]], -1) if length % 2 else folded
            length = rows.shape[-1]
        return rows[..., 0]
    if length == 1:
        return rows[..., 0]
    return _core._reduce_between(ufunc, rows, asarray([0]), rows.dtype)[..., 0]


def _folded_where(ufunc, rows, mask, initial):
    """As _folded, without the elements where the mask is false."""
    result = _core.full(rows.shape[:-1], initial, rows.dtype)
    for k in range(rows.shape[-1]):
        result = _core.where(mask[..., k], ufunc(result, rows[..., k]), result)
    return result


def _folded_of_two(ufunc, rows, dtype, mask, initial):
    """As _folded, where the accumulated operand has another dtype than the next: ldexp."""
    first = 0 if initial is not None else 1
    result = rows[..., 0].astype(dtype) if first else _core.full(rows.shape[:-1], initial, dtype)
    for k in range(first, rows.shape[-1]):
        following = ufunc(result, rows[..., k])
        result = following if mask is None else _core.where(mask[..., k], following, result)
    return result


def reduce(ufunc, x, axis, dtype, out, wants_array, keepdims, initial, where, without_identity):
    """Folds over axes by a function that is none of the reductions that kernels know."""
    with x.device:
        return _reduce(ufunc, x, axis, dtype, out, wants_array, keepdims, initial, where, without_identity)


def _reduce(ufunc, x, axis, dtype, out, wants_array, keepdims, initial, where, without_identity):
    name = ufunc.__name__
    if axis is None:
        axes = list(range(x.ndim))
    elif x.ndim == 0:
        axes = []
    else:
        axes = normalize_axes(axis, x.ndim, None)
    compute, following = _fold_types(ufunc, x.dtype, dtype, out, "reduce")
    identity = ufunc.identity
    in_any_order = getattr(ufunc._maker, "reorderable", False) or _table_name(ufunc) in ("fmax", "fmin")
    if len(axes) > 1 and identity is None and not in_any_order:
        raise ValueError(
            f"reduction operation '{name}' is not reorderable, so at most one axis may be specified"
        )
    if without_identity:
        identity = None
    if where is not True and identity is None and initial is None:
        raise ValueError(
            f"reduction operation '{name}' does not have an identity, so to use a where mask one has to "
            "specify 'initial'"
        )
    kept = [d for d in range(x.ndim) if d not in axes]
    kept.sort(key=lambda d: -abs(x.strides[d]))  # the results' order in memory
    shape = tuple(x.shape[d] for d in kept)
    count = 1
    for d in axes:
        count *= x.shape[d]

    if out is not None:
        _check_folded_output(
            name, out, [1 if d in axes else x.shape[d] for d in range(x.ndim) if keepdims or d not in axes]
        )

    def in_rows(a):
        return a.transpose([*kept, *sorted(axes)]).reshape((*shape, count))

    if count == 0:
        start = identity if initial is None else initial
        if start is None:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        if initial is None:
            start = asarray(start).astype(compute)  # of bitwise_and, -1
        result = _core.full(shape, start, compute)
    else:
        rows = in_rows(x).astype(following, copy=False)
        mask = None
        if where is not True:
            mask = in_rows(_core.broadcast_to(asarray(where, bool), x.shape))
        if following != compute:
            result = _folded_of_two(ufunc, rows, compute, mask, initial)
            rows = None
        elif mask is not None:
            if identity is None and _table_name(ufunc) not in _IDEMPOTENT:
                result = _folded_where(ufunc, rows, mask, initial)
                rows = None
            else:
                filler = initial if identity is None else asarray(identity).astype(compute)
                rows = _core.where(mask, rows, _core.full((), filler, compute))
        if rows is not None:
            if initial is not None:
                start = _core.full((), initial, compute)
                rows = concatenate([_core.broadcast_to(start, (*shape, 1)), rows], -1)
            result = _folded(ufunc, rows)
    result = asarray(result).copy("C").transpose([kept.index(d) for d in sorted(kept)])
    if keepdims:
        result = _core.expand_dims(result, tuple(axes)) if axes else result
    if out is None:
        return result if result.ndim or wants_array else result[()]
    _core.copyto(out, result, "unsafe")  # as NumPy stores what it has folded
    return out


def _check_folded_output(name, out, shape):
    if out.ndim != len(shape):
        raise ValueError(
            f"output parameter for reduction operation {name} has the wrong number of dimensions: "
            f"Found {out.ndim} but expected {len(shape)}"
        )
    if out.shape != tuple(shape):
        raise ValueError(
            f"non-broadcastable output operand with shape {_shape_text(out.shape)} doesn't match the "
            f"broadcast shape {_shape_text(tuple(shape))}"
        )


def _shape_text(shape):
    return str(shape).replace(" ", "")


def _check_output(ufunc, own, wanted):
    if not _core.can_cast(own, wanted, "same_kind"):
        raise UFuncTypeError(
            f"Cannot cast ufunc '{ufunc.__name__}' output from {own!r} to {wanted!r} with casting rule 'same_kind'"
        )


def _inner_first(x, axis):
    """The axes from the innermost in memory to the outermost, as NumPy's iterator sorts them for reduceat.

    The folded axis has no place of its own there: it stays where sorting the others leaves it.
    """
    strides = [0 if d == axis else abs(stride) for d, stride in enumerate(x.strides)]
    order = []
    for d in reversed(range(x.ndim)):
        place = len(order)
        for k in reversed(range(len(order))):
            if strides[d] and strides[order[k]]:
                if strides[d] >= strides[order[k]]:
                    break
                place = k
        order.insert(place, d)
    return order


def _laid_out(x, inner_first):
    outer_first = inner_first[::-1]
    if outer_first == list(range(x.ndim)) and x.flags.c_contiguous:
        return x
    packed = x.transpose(outer_first)
    packed = packed if packed.flags.c_contiguous else packed.copy("C")
    back = [0] * x.ndim
    for place, d in enumerate(outer_first):
        back[d] = place
    return packed.transpose(back)


def reduceat(ufunc, x, indices, axis, dtype, out):
    """Folds between positions along an axis."""
    axis = axis % x.ndim
    starts = asarray(indices)
    if starts.size == 0 or not isinstance(indices, ndarray):
        starts = starts.astype("int64")
    if starts.dtype.kind not in "iu":
        raise TypeError(
            f"Cannot cast array data from {starts.dtype!r} to dtype('int64') according to the rule 'safe'"
        )
    if starts.ndim > 1 and isinstance(indices, (list, tuple)):
        raise ValueError(
            "setting an array element with a sequence. The requested array would exceed the maximum number of "
            "dimension of 1."
        )
    if starts.ndim != 1:
        raise ValueError(
            "object too deep for desired array"
            if starts.ndim
            else "object of too small depth for desired array"
        )
    extent = x.shape[axis]
    if starts.size != 0 and not (starts.min() >= 0 and starts.max() < extent):
        position = starts[(starts < 0) | (starts >= extent)][0]
        raise IndexError(f"index {position} out-of-bounds in {ufunc.__name__}.reduceat [0, {extent})")
    if dtype is None and out is None and _table_name(ufunc) in ("add", "multiply") and x.dtype.kind in "biu":
        wide = "uint64" if x.dtype.kind == "u" else "int64"
        dtype = wide if x.dtype.itemsize < 8 else None
    compute, _ = _fold_types(ufunc, x.dtype, dtype, out, "reduceat")
    last = axis == x.ndim - 1
    values = (x if last else moveaxis(x, axis, -1)).astype(compute, copy=False)
    result = _core._reduce_between(ufunc, values, starts, compute)
    if not last:
        result = moveaxis(result, -1, axis)
    if out is None:
        return _core._as_owner(_laid_out(result, _inner_first(x, axis)))
    if out.shape != result.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {_shape_text(out.shape)} doesn't match the "
            f"broadcast shape {_shape_text(result.shape)}"
        )
    _core.copyto(out, result, "unsafe")
    return out


# ---- signature= ----


def _parsed(ufunc, signature):
    """One dtype, or None, for each operand."""
    name, count = ufunc.__name__, ufunc.nargs
    if isinstance(signature, tuple):
        if len(signature) == 1:
            raise TypeError(
                "The use of a length 1 tuple for the ufunc `signature` is not allowed. Use `dtype` or fill the "
                "tuple with `None`s."
            )
        if len(signature) != count:
            raise ValueError(f"a type-tuple must be specified of length {count} for ufunc '{name}'")
        return [None if one is None else _dtype(one) for one in signature]
    if isinstance(signature, bytes):
        signature = signature.decode()
    if not isinstance(signature, str):
        raise TypeError("the signature object to ufunc must be a string or a tuple.")
    if len(signature) == 1 and count > 1:
        raise TypeError("Use `dtype` or  fill the tuple with more than one 'None'.")
    inputs, arrow, results = signature.partition("->")
    if not arrow or len(inputs) != ufunc.nin or len(results) != ufunc.nout:
        raise ValueError(
            f"a type-string for {name}, {ufunc.nin} typecode(s) before and {ufunc.nout} after the -> sign"
        )
    try:
        return [_dtype(character) for character in inputs + results]
    except TypeError as error:
        raise ValueError(str(error)) from None


def _loop_of_signature(ufunc, given, fixed, casting):
    """The types of the loop that NumPy would take: fixed ones as they are, the others by the operands."""
    nin = ufunc.nin
    loops = [[_dtype(character) for character in one.replace("->", "")] for one in ufunc.types]

    def agrees(loop):
        return all(wanted is None or wanted == own for wanted, own in zip(fixed, loop))

    wanted = [own if forced is None else forced for own, forced in zip(given, fixed)]
    try:
        loop = _core._resolve_types(ufunc, wanted, None, "unsafe")
        if agrees(loop):
            return loop
    except TypeError:
        pass
    outputs = {one for one in fixed[nin:] if one is not None}
    if len(outputs) == 1:
        (output,) = outputs
        for loop in loops:
            if agrees(loop) and all(one == output for one in loop):
                return loop
    if all(one is not None for one in fixed[:nin]):
        for loop in loops:
            if agrees(loop):
                return loop
    for loop in loops:
        if agrees(loop) and all(
            forced is not None or _reaches(own, one) for own, forced, one in zip(given, fixed, loop)
        ):
            return loop
    raise TypeError(
        f"No loop matching the specified signature and casting was found for ufunc {ufunc.__name__}"
    )


_WEAK = {int: "iufc", float: "fc", complex: "c"}


def _reaches(own, wanted, casting="safe"):
    if own in _WEAK:
        return wanted.kind in _WEAK[own] or casting == "unsafe"
    return _core.can_cast(own, wanted, casting)


def _kind_of(x):
    """The dtype of an operand; of Python's numbers their type."""
    if type(x) in _WEAK:
        return type(x)
    return x.dtype if isinstance(x, (ndarray, _core.generic)) else asarray(x).dtype


def _check_inputs(ufunc, given, loop, casting):
    for k, (own, wanted) in enumerate(zip(given, loop[: ufunc.nin])):
        if not _reaches(own, wanted, casting):
            which = f"{k} " if ufunc.nin > 1 else ""
            own = _dtype(own)
            raise UFuncTypeError(
                f"Cannot cast ufunc '{ufunc.__name__}' input {which}from {own!r} to {wanted!r} with casting "
                f"rule '{casting}'"
            )


def cast_to_signature(ufunc, inputs, signature, casting):
    """The operands in the types of the loop that `signature` asks for."""
    fixed = _parsed(ufunc, signature)
    given = [_kind_of(x) for x in inputs]
    loop = _loop_of_signature(ufunc, given, fixed, casting)
    _check_inputs(ufunc, given, loop, casting)
    return [
        _core.full((), x, wanted) if own in _WEAK else asarray(x).astype(wanted, copy=False)
        for x, own, wanted in zip(inputs, given, loop)
    ]


def resolve_dtypes(ufunc, dtypes, signature, casting, reduction):
    """The dtypes that the function computes in.

    >>> np.add.resolve_dtypes((np.dtype("f4"), float, None))
    (dtype('float32'), dtype('float32'), dtype('float32'))
    """
    nin = ufunc.nin
    if not isinstance(dtypes, tuple) or len(dtypes) != ufunc.nargs:
        raise TypeError("resolve_dtypes: The dtypes must be a tuple of `ufunc.nargs` length.")
    if reduction and (nin != 2 or ufunc.nout != 1):
        raise ValueError("ufunc is not compatible with reduction operations.")
    given = list(dtypes)
    for one in given:
        if one is not None and one not in _WEAK and not hasattr(one, "itemsize"):
            raise TypeError("Provided object to resolve_dtypes was not a dtype or Python number type")
    if reduction:
        if given[2] is not None:
            raise TypeError("ufunc.resolve_dtypes: the output of a reduction must be None")
        if given[0] is None and _table_name(ufunc) in ("add", "multiply") and given[1] is not None:
            own = _dtype(given[1])
            if own.kind in "biu" and own.itemsize < 8 and signature is None:
                signature = (None, None, _dtype("uint64" if own.kind == "u" else "int64"))
        given[0] = given[1]
    if any(one is None for one in given[:nin]):
        raise TypeError("All input dtypes must be provided (except the first one in reductions)")
    given = [one if one is None or one in _WEAK else _dtype(one) for one in given]
    casting = "same_kind" if casting is None else casting
    fixed = [None] * ufunc.nargs if signature is None else _parsed(ufunc, signature)
    if reduction and _table_name(ufunc) in _LOGICAL:
        fixed = [_dtype("bool")] * 3
    if signature is None and not reduction:
        loop = _core._resolve_types(ufunc, given[:nin], None, casting)
    else:
        loop = _loop_of_signature(ufunc, given[:nin], fixed, casting)
    _check_inputs(ufunc, given[:nin], loop, casting)
    for own, wanted in zip(loop[nin:], given[nin:]):
        if wanted is not None and not _core.can_cast(own, wanted, casting):
            raise UFuncTypeError(
                f"Cannot cast ufunc '{ufunc.__name__}' output from {own!r} to {wanted!r} with casting rule "
                f"'{casting}'"
            )
    return tuple(loop)
