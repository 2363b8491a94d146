"""How far a value may be from NumPy's: nothing for exact operations, else a bound that grows with what is done.

A tolerance is a pair: relative to each element, and absolute. `None` stands for what cannot be compared.
"""

import dataclasses

import numpy
from choices import BINARY_INEXACT, COMPLEX_EXACT, COMPLEX_INEXACT, UNARY_INEXACT, ZERO_SIGN_OPEN
from execute import EXACT

TINY = 5e-324


@dataclasses.dataclass
class Operand:
    text: str
    value: object
    tolerance: tuple[float, float] = EXACT

    @property
    def exact(self):
        return self.tolerance == EXACT

    @property
    def kind(self):
        return numpy.asarray(self.value).dtype.kind


def finite(value):
    return bool(numpy.isfinite(value).all()) if numpy.asarray(value).dtype.kind in "fc" else True


def has_nan(value):
    value = numpy.asarray(value)
    return value.dtype.kind in "fc" and bool(numpy.isnan(value).any())


def largest(value):
    value = numpy.asarray(value)
    if value.size == 0:
        return 0.0
    with numpy.errstate(all="ignore"):
        return float(numpy.abs(value.astype(complex if value.dtype.kind == "c" else float)).max())


def epsilon(value):
    dtype = numpy.asarray(value).dtype
    return float(numpy.finfo(dtype).eps) if dtype.kind in "fc" else 0.0


def converts(value, dtype):
    """Whether converting to `dtype` is defined: no float outside the range of an integer."""
    value, dtype = numpy.asarray(value), numpy.dtype(dtype)
    if dtype.kind not in "iu" or value.dtype.kind not in "fc" or value.size == 0:
        return True
    limits = numpy.iinfo(dtype)
    real = numpy.trunc(value.real.astype(float))
    return bool(numpy.isfinite(real).all() and (real >= limits.min).all() and (real <= limits.max / 2).all())


def may_store(value, tolerance, dtype):
    """Whether storing into `dtype` is defined, and stays comparable."""
    if not converts(value, dtype):
        return False
    return tolerance == EXACT or dtype.kind in "fc"


def result_is_exact(operator, left, right):
    """Whether the operator gives the same bits everywhere; decides powers by their effect too."""
    if "c" in (left.kind, right.kind) and operator not in COMPLEX_EXACT:
        return False
    if operator == "**":
        if left.kind in "f" or right.kind in "fc":
            return False
        exponents = numpy.asarray(right.value)
        return exponents.size == 0 or exponents.dtype.kind in "bu" or int(exponents.min()) >= 0
    return True


def loose_zero(value):
    """The tolerance of a result whose zeros may have either sign."""
    value = numpy.asarray(value)
    if value.dtype.kind in "fc" and bool((value == 0).any()):
        return (0.0, TINY)
    return EXACT


def result_tolerance(function, operands, result):
    """The tolerance of an elementwise result; None when it cannot be compared."""
    is_complex = any(o.kind == "c" for o in operands) or numpy.asarray(result).dtype.kind == "c"
    eps = epsilon(result)
    if not all(o.exact for o in operands):
        return propagated(function, operands, result)
    if is_complex:
        if function in COMPLEX_EXACT:
            return EXACT
        if (
            function not in COMPLEX_INEXACT
            or not finite(result)
            or not all(finite(o.value) for o in operands)
        ):
            return None
        bound = (
            numpy.prod([max(largest(o.value), 1e-300) for o in operands])
            if function in ("*", "multiply")
            else 0
        )
        return (COMPLEX_INEXACT[function] * eps, COMPLEX_INEXACT[function] * eps * bound)
    if function in UNARY_INEXACT or function in BINARY_INEXACT:
        if numpy.asarray(result).dtype.kind in "iub":
            return EXACT
        ulps = 2 if numpy.asarray(result).dtype == numpy.float16 else 8
        smallest = float(numpy.finfo(numpy.asarray(result).dtype).smallest_subnormal)
        # Cancellation: logaddexp of values of which one nearly undoes the other is accurate to the larger.
        size = largest(result) if function.startswith("logaddexp") and finite(result) else 0.0
        return (ulps * eps, 4 * smallest + ulps * eps * size)
    if function in ZERO_SIGN_OPEN:
        return loose_zero(result)
    return EXACT


def propagated(function, operands, result):
    """Tolerance of sums, differences, products and moves of inexact operands; None for anything else."""
    if not finite(result) or not all(finite(o.value) for o in operands):
        return None
    if numpy.asarray(result).dtype.kind not in "fc":
        return None
    rounding = epsilon(result) * largest(result)
    errors = [error_bound(o) for o in operands]
    if function in ("+", "-", "add", "subtract"):
        bound = sum(errors) + rounding
    elif function in ("*", "multiply"):
        sizes = [largest(o.value) for o in operands]
        bound = errors[0] * sizes[1] + errors[1] * sizes[0] + errors[0] * errors[1] + 4 * rounding
    elif function in ("negative", "positive", "absolute", "maximum", "minimum", "fabs", "conjugate"):
        bound = max(errors) + rounding
    else:
        return None
    return (0.0, 2 * bound + 1e-300) if bound < 1e30 else None


def reduction_tolerance(function, value, result, text):
    """None when order of summation decides about overflow or the dtype argument's conversion is undefined."""
    kind = numpy.asarray(result).dtype.kind
    if "dtype=" in text and not converts(value, numpy.asarray(result).dtype):
        return None
    if value.dtype.kind == "c" and kind != "c" and "dtype=" in text:
        return None
    if function in ("any", "all", "argmax", "argmin", "count_nonzero") or kind in "iub":
        return EXACT
    if function in ("max", "min"):
        return loose_zero(result)
    eps = epsilon(result)
    if value.dtype.kind in "fc":
        eps = (
            max(eps, epsilon(value))
            if "dtype=" not in text
            else max(eps, epsilon(value) if value.size else 0)
        )
    n = value.size + 2
    size = value.astype(complex if value.dtype.kind == "c" else float)
    if "dtype=" in text and kind in "fc":
        size = size.astype(numpy.asarray(result).dtype).astype(size.dtype)
        if not finite(size) and finite(value):
            return None
    known = numpy.abs(size[numpy.isfinite(size)])
    limit = float(numpy.finfo(numpy.asarray(result).dtype).max) / 64
    total, top = (float(known.sum()), float(known.max())) if known.size else (0.0, 0.0)
    if function in ("sum", "mean"):
        if total > limit:
            return None
        return (2 * eps, 2 * n * eps * total + TINY)
    if function == "prod":
        grown = float(numpy.maximum(known, 1).prod()) if known.size else 1.0
        shrunk = float(numpy.where(known == 0, 1, numpy.minimum(known, 1)).prod()) if known.size else 1.0
        info = numpy.finfo(numpy.asarray(result).dtype)
        if not finite(value) or grown > limit or shrunk < float(info.tiny) * 64 or grown != grown:
            return None
        return (2 * n * eps, TINY)
    error = 8 * n * eps * (top * top + 1)
    if top * top * value.size > limit:
        return None
    return (4 * eps, error if function == "var" else error**0.5)


def converts_exactly(*operands):
    """Whether an unsafe conversion of the operands is out of the question."""
    return all(o.kind in "biu" for o in operands)


def worse(a, b):
    return (max(a[0], b[0]), max(a[1], b[1]))


def error_bound(operand):
    """The largest absolute error of any element of the operand."""
    relative, absolute = operand.tolerance
    return (relative * largest(operand.value) if relative else 0.0) + absolute


def broadcasts(left, right):
    return all(a == b or a == 1 or b == 1 for a, b in zip(left[::-1], right[::-1]))


def broadcasts_to(shape, target):
    return len(shape) <= len(target) and all(a == b or a == 1 for a, b in zip(shape[::-1], target[::-1]))
