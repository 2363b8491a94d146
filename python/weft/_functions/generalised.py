"""NumPy's ufuncs with core axes: `matvec`, `vecmat`, `vecdot`, and what `matmul` is asked besides a product.

Options that choose axes are views of the operands and of the result; the products are those of `products.py`.
"""

import operator

from weft import _core
from weft._array.axes import broadcast_shapes
from weft._core import asarray, ndarray
from weft._functions import products
from weft._protocols.no_value import NO_VALUE
from weft._ufunc import methods
from weft.exceptions import AxisError, UFuncTypeError

_SIGNATURES = {
    "matmul": "(n?,k),(k,m?)->(n?,m?)",
    "matvec": "(m,n),(n)->(m)",
    "vecdot": "(n),(n)->()",
    "vecmat": "(n),(n,m)->(m)",
}
_PRODUCTS = {
    "matmul": _core.matmul,
    "matvec": products.matvec,
    "vecdot": products.vecdot,
    "vecmat": products.vecmat,
}
_CASTINGS_OF_EQUALS = ("no", "equiv")  # that the operands' common dtype may fail


def _letters(signature):
    """The names of each operand's core axes, inputs before the result."""
    parts = signature.replace("->", ",").split("(")[1:]
    return [[letter for letter in part.rstrip("),").split(",") if letter] for part in parts]


class _Ufunc:
    """A ufunc of two operands and one result with core axes, as the methods of ufuncs see one."""

    nin, nout, nargs, identity = 2, 1, 3, None

    def __init__(self, name):
        self.__name__, self.signature, self.product = name, _SIGNATURES[name], _PRODUCTS[name]
        self.letters = _letters(self.signature)

    @property
    def types(self):
        return _core._ufuncs["add"].types

    def cores(self, operands):
        """The core axes' names of each operand that there is; optional ones are gone where an input has too few."""
        cores = [list(each) for each in self.letters]
        for k, x in enumerate(operands[:2]):
            for letter in [each for each in cores[k] if each.endswith("?")]:
                if x.ndim < len(cores[k]):
                    cores = [[each for each in core if each != letter] for core in cores]
        return cores

    def check_dimensions(self, operands, counts):
        for k, (x, count) in enumerate(zip(operands, counts)):
            if x is not None and x.ndim < count:
                which = f"Input operand {k}" if k < 2 else "Output operand 0"
                raise ValueError(
                    f"{self.__name__}: {which} does not have enough dimensions (has {x.ndim}, gufunc core with "
                    f"signature {self.signature} requires {count})"
                )

    def check_sizes(self, cores, arrays):
        sizes = {}
        for k, (core, x) in enumerate(zip(cores, arrays)):
            for place, letter in enumerate(core):
                size = x.shape[place - len(core)]
                if sizes.setdefault(letter, size) != size:
                    which = f"Input operand {k}" if k < 2 else "Output operand 0"
                    raise ValueError(
                        f"{self.__name__}: {which} has a mismatch in its core dimension {place}, with gufunc "
                        f"signature {self.signature} (size {size} is different from {sizes[letter]})"
                    )

    def check_broadcast(self, operands, moved, counts):
        """That the axes before the core ones broadcast; `moved` are the operands with their core axes last."""
        core = self.letters[0] + self.letters[1]
        sizes = [x.shape[x.ndim - n + k] for x, n in zip(moved, counts[:2]) for k in range(n)]
        loops = [x.shape[: x.ndim - count] for x, count in zip(moved, counts)]
        try:
            broadcast_shapes(*loops)
        except ValueError:
            shown = [(*loop, *("newaxis",) * counts[2]) for loop in loops[:2]]
            shown += [x.shape for x in moved[2:]]
            comma = "," if _max(map(len, loops)) + counts[2] == 1 else ""
            remapped = " ".join(
                f"{_text(x.shape)}->{_text(shape, comma)}" for x, shape in zip(operands, shown)
            )
            sizes = dict(zip(core, sizes))
            wanted = [sizes.get(letter, 1) for letter in self.letters[2]] or [1] * counts[2]
            raise ValueError(
                "operands could not be broadcast together with remapped shapes [original->remapped]: "
                f"{remapped}  and requested shape {_text(wanted, '')}"
            ) from None

    def check_output(self, own, wanted, casting):
        if not _core.can_cast(own, wanted, casting):
            raise UFuncTypeError(
                f"Cannot cast ufunc '{self.__name__}' output from {own!r} to {wanted!r} with casting rule "
                f"'{casting}'"
            )

    def check_keepdims(self, keepdims):
        if type(keepdims) is not bool:
            raise TypeError("'keepdims' must be a boolean")
        if self.letters[2] or len(self.letters[0]) != len(self.letters[1]):
            which = "input 1" if len(self.letters[0]) != len(self.letters[1]) else "output 0"
            count = len(self.letters[1 if which == "input 1" else 2])
            raise TypeError(
                f"{self.__name__} does not support keepdims: its signature {self.signature} requires {which} to "
                f"have {count} core dimensions, but keepdims can only be used when all inputs have the same number "
                "of core dimensions and all outputs have no core dimensions."
            )

    def check_axis(self):
        if any(len(each) > 1 for each in self.letters) or not self.letters[0]:
            count = len({letter for each in self.letters for letter in each})
            raise TypeError(
                f"{self.__name__}: axis can only be used with a single shared core dimension, not with the "
                f"{count} distinct ones implied by signature {self.signature}."
            )

    def axes_of_list(self, axes, counts, dimensions):
        """For each operand its core axes by number, from a list of numbers and tuples."""
        if not isinstance(axes, list):
            raise TypeError("axes should be a list.")
        if len(axes) != 3 and (len(axes) != 2 or counts[2] or self.letters[2]):
            raise ValueError(
                "axes should be a list with an entry for all 3 inputs and outputs; entries for outputs can only "
                "be omitted if none of them has core axes."
            )
        found = []
        for k, (count, ndim) in enumerate(zip(counts, dimensions)):
            given = axes[k] if k < len(axes) else ()
            if isinstance(given, tuple):
                if len(given) != count:
                    raise AxisError(
                        f"{self.__name__}: operand {k} has {count} core dimensions, but {len(given)} dimensions "
                        "are specified by axes tuple."
                    )
            elif count == 1:
                given = (given,)
            elif hasattr(given, "__index__"):
                raise AxisError(
                    f"{self.__name__}: operand {k} has {count} core dimensions, but the axes item is a single "
                    "integer."
                )
            else:
                raise TypeError(f"{self.__name__}: axes item {k} should be a tuple.")
            chosen = [_normalized(each, ndim) for each in given]
            for place, each in enumerate(chosen):
                if each in chosen[:place]:
                    raise ValueError(f"axes item {k} has value {each} repeated")
            found.append(chosen)
        return found

    def __call__(
        self, x1, x2, out, axes, axis, keepdims, casting, order, dtype, subok, signature, wants_array
    ):
        x1, x2 = asarray(x1), asarray(x2)
        _check_words(casting, order, subok)
        if dtype is not None:
            signature = (None, None, dtype)
        if signature is not None or casting in _CASTINGS_OF_EQUALS:
            x1, x2 = methods.cast_to_signature(
                self, (x1, x2), (None,) * 3 if signature is None else signature, casting
            )
        if out is not None:
            self.check_output(_core.promote_types(x1.dtype, x2.dtype), out.dtype, casting)
        if keepdims is not NO_VALUE:
            self.check_keepdims(keepdims)
        if axis is not NO_VALUE:
            self.check_axis()
        operands = (x1, x2, out)
        cores = self.cores(operands)
        counts = [len(core) for core in cores]
        if keepdims is True:
            counts[2] = counts[0]
        self.check_dimensions(operands, counts)
        loop = _max(x1.ndim - counts[0], x2.ndim - counts[1])
        dimensions = [x1.ndim, x2.ndim, loop + counts[2] if out is None else out.ndim]
        moves = [None, None, None]
        if axes is not NO_VALUE:
            moves = self.axes_of_list(axes, counts, dimensions)
        elif axis is not NO_VALUE:
            axis = operator.index(axis)
            moves = [[_normalized(axis, ndim)] if count else [] for count, ndim in zip(counts, dimensions)]
        moved = [_core_last(x, move) for x, move in zip(operands, moves) if x is not None]
        x1, x2 = moved[:2]
        if keepdims is True:
            cores[2] = []
        self.check_sizes(cores, moved)
        self.check_broadcast(operands, moved, counts)
        result = asarray(self.product(x1, x2))
        if keepdims is True:
            result = result[..., None]
        if out is None:
            result = _core_back(result, moves[2])
            if order in ("C", "F") and not getattr(result.flags, f"{order.lower()}_contiguous"):
                result = result.copy(order)
            return result if result.ndim or wants_array else result[()]
        _core.copyto(moved[2], result, casting)
        return out


_max = max


def _check_words(casting, order, subok):
    if type(subok) is not bool:
        raise TypeError("'subok' must be a boolean")
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        _core.can_cast("int64", "int64", casting)  # raises, with NumPy's words
    if order not in ("C", "F", "A", "K"):
        asarray(0).copy(order)


def _text(shape, comma=","):
    return f"({','.join(map(str, shape))}{comma if len(shape) == 1 else ''})"


def _normalized(axis, ndim):
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim)
    return axis % ndim


def _core_last(x, chosen):
    """A view with the chosen axes last, in their order."""
    if chosen is None:
        return x
    return x.transpose([*(d for d in range(x.ndim) if d not in chosen), *chosen])


def _core_back(x, chosen):
    """The view whose `_core_last` is `x`."""
    if chosen is None:
        return x
    order = [d for d in range(x.ndim) if d not in chosen] + chosen
    return x.transpose([order.index(d) for d in range(x.ndim)])


def _output(out):
    """The array that is given for the result, or None; and whether a result of no axes is an array, too."""
    if out is ...:
        return None, True
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
        (out,) = out
    if out is not None and not isinstance(out, ndarray):
        raise TypeError("return arrays must be of ArrayType")
    return out, False


_ufuncs = {}


def _ufunc(name):
    return _ufuncs.get(name) or _ufuncs.setdefault(name, _Ufunc(name))


def _call(name, x1, x2, out, axes, axis, keepdims, casting, order, dtype, subok, signature, sig):
    if axes is not NO_VALUE and axis is not NO_VALUE:
        raise TypeError("cannot specify both 'axis' and 'axes'")
    if sig is not None:
        if signature is not None:
            raise TypeError("cannot specify both 'sig' and 'signature'")
        signature = sig
    if signature is not None and dtype is not None:
        raise TypeError("cannot specify both 'signature' and 'dtype'")
    out, wants_array = _output(out)
    options = (axes, axis, keepdims, casting, order, dtype, subok, signature)
    if out is None and not wants_array and all(map(operator.is_, options, _PLAIN)):
        try:
            return _PRODUCTS[name](x1, x2)
        except ValueError:  # said again in this ufunc's words
            pass
    return _ufunc(name)(x1, x2, out, *options, wants_array)


_PLAIN = (NO_VALUE, NO_VALUE, NO_VALUE, "same_kind", "K", None, True, None)


def _called(described):
    """The function of that name and description, with the options of these ufuncs."""
    name = described.__name__

    def function(
        x1,
        x2,
        /,
        out=None,
        *,
        axes=NO_VALUE,
        axis=NO_VALUE,
        keepdims=NO_VALUE,
        casting="same_kind",
        order="K",
        dtype=None,
        subok=True,
        signature=None,
        sig=None,
    ):
        return _call(name, x1, x2, out, axes, axis, keepdims, casting, order, dtype, subok, signature, sig)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = described.__doc__
    return function


@_called
def matmul():
    """The matrix product with options that the binding leaves to Python."""


@_called
def matvec():
    """The product of matrices, the last two axes of `x1`, with vectors, the last axis of `x2`.

    `axes` lists these axes for each operand and for the result.

    >>> np.matvec([[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    >>> np.matvec([[1, 2], [3, 4]], [1, 1], axes=[(1, 0), 0, 0])
    array([4, 6])
    """


@_called
def vecdot():
    """The sum of conj(x1) * x2 over the last axis, over `axis`, or over an axis of each that `axes` lists.

    The other axes broadcast.

    >>> np.vecdot([[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    >>> np.vecdot([[1, 2], [3, 4]], [[1, 1], [1, 1]], axis=0, keepdims=True)
    array([[4, 6]])
    """


@_called
def vecmat():
    """The product of conjugated vectors, the last axis of `x1`, with matrices, the last two axes of `x2`.

    `axes` lists these axes for each operand and for the result.

    >>> np.vecmat([1, 1], [[1, 2], [3, 4]])
    array([4, 6])
    """


# ---- what these ufuncs show besides their calls ----


def _refuses_reduction(*args, **options):
    raise RuntimeError("Reduction not defined on ufunc with signature")


def attribute(public, name):
    """An attribute of ufuncs, for a function of the package that stands for one. Raises AttributeError for others."""
    ufunc = _ufunc(public.__name__)
    if name in ("signature", "types", "identity"):
        return getattr(ufunc, name)
    if name == "ntypes":
        return len(ufunc.types)
    if name in ("reduce", "accumulate", "reduceat"):
        return _refuses_reduction
    if name == "outer":

        def outer(*args, **options):
            raise TypeError("method outer is not allowed in ufunc with non-trivial signature")

        return outer
    if name == "at":

        def at(*args, **options):
            raise TypeError(
                f"{public.__name__}.at does not support ufunc with non-trivial signature: {public.__name__} has "
                f"signature {ufunc.signature}."
            )

        return at
    if name == "resolve_dtypes":

        def resolve_dtypes(dtypes, *, signature=None, casting=None, reduction=False):
            return methods.resolve_dtypes(ufunc, dtypes, signature or (None,) * 3, casting, reduction)

        return resolve_dtypes
    raise AttributeError(f"'weft.ufunc' object has no attribute {name!r}")
