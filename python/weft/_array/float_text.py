"""Single floating-point numbers as text: NumPy's format_float_positional and format_float_scientific."""

from decimal import Decimal

from weft import _core
from weft._array.format import _shortest


def _parts(x):
    """The number, its dtype, and its sign."""
    if not isinstance(x, _core.generic) or x.dtype.kind != "f":
        x = _core.float64(x)  # arrays, too: only scalars have digits of their own type
    value = float(x)
    return abs(value), x.dtype.name, value < 0 or (value == 0 and str(value)[0] == "-")


def _special(value, negative, sign):
    text = "nan" if value != value else "inf"
    mark = "-" if negative and text == "inf" else "+" if sign and text == "inf" else ""
    return mark + text


def _trimmed(text, trim):
    whole, _, fraction = text.partition(".")
    if trim == "k":
        return whole + "." + fraction
    short = fraction.rstrip("0")
    if trim == "0" and not short:
        return whole + ".0"
    return whole if trim == "-" and not short else whole + "." + short


def _padded(text, mark, pad_left, pad_right):
    whole, dot, fraction = text.partition(".")
    whole = (mark + whole).rjust(pad_left or 0)
    return whole + (dot + fraction).ljust((pad_right + 1) if pad_right is not None else 0)


def _check(precision, unique, trim):
    if precision is None and not unique:
        raise ValueError("in non-unique mode `precision` must be supplied")
    if precision is not None and precision < 0:
        raise ValueError("precision must be >= 0")
    if trim not in ("k", ".", "0", "-"):
        raise TypeError("if supplied, trim must be 'k', '.', '0' or '-'")


def format_float_positional(
    x,
    precision=None,
    unique=True,
    fractional=True,
    trim="k",
    sign=False,
    pad_left=None,
    pad_right=None,
    min_digits=None,
):
    """A number without an exponent: with as few digits as tell it from others, or `precision` behind the point.

    With fractional=False `precision` and `min_digits` count from the first digit on.

    >>> np.format_float_positional(np.float32(1e-5))
    '0.00001'
    """
    _check(precision, unique, trim)
    value, dtype, negative = _parts(x)
    if value - value != 0:
        return _special(value, negative, sign)
    digits, exponent = _shortest(value, dtype) if value else ("0", 0)
    before = 0 if fractional else exponent + 1  # digits that are counted, but stand before the point
    shortest = max(len(digits) - 1 - exponent, 0)
    least = max((min_digits or 0) - before, 0)
    cut = None if precision is None else max(precision - before, 0)
    if unique and (cut is None or shortest <= cut):
        places = shortest
        whole = digits[: exponent + 1].ljust(exponent + 1, "0") if exponent >= 0 else "0"
        fraction = (
            digits[exponent + 1 :] if exponent >= 0 else "0" * (-exponent - 1) + digits if value else ""
        )
    else:
        places = cut
        whole, _, fraction = f"{value:.{places}f}".partition(".")
        if unique and Decimal(whole + "." + fraction) > Decimal(value):
            fraction = fraction.rstrip("0")  # NumPy's digits end where a carry ends
    text = _trimmed(whole + "." + fraction.ljust(least, "0"), trim)
    return _padded(text, "-" if negative else "+" if sign else "", pad_left, pad_right)


def format_float_scientific(
    x, precision=None, unique=True, trim="k", sign=False, pad_left=None, exp_digits=None, min_digits=None
):
    """A number with an exponent: with as few digits as tell it from others, or `precision` behind the point.

    >>> np.format_float_scientific(123.456, precision=2)
    '1.23e+02'
    """
    _check(precision, unique, trim)
    value, dtype, negative = _parts(x)
    if value - value != 0:
        return _special(value, negative, sign)
    digits, exponent = _shortest(value, dtype) if value else ("0", 0)
    least = min_digits or 0
    if not (unique and (precision is None or len(digits) - 1 <= precision)):
        mantissa, _, power = f"{value:.{precision}e}".partition("e")
        digits, exponent = mantissa.replace(".", ""), int(power)
        if unique and Decimal(mantissa).scaleb(exponent) > Decimal(value):
            digits = digits[0] + digits[1:].rstrip("0")
    fraction = digits[1:].ljust(least, "0")
    if (
        trim == "-"
        and fraction
        and not fraction.strip("0")
        and Decimal(digits[0]).scaleb(exponent) != Decimal(value)
    ):
        trim = "."  # as NumPy: the point goes only where there was no digit behind it
    text = _trimmed(digits[0] + "." + fraction, trim)
    power = str(abs(exponent)).rjust(2 if exp_digits is None else exp_digits, "0")
    text = _padded(text, "-" if negative else "+" if sign else "", pad_left, None)
    return text + "e" + ("-" if exponent < 0 else "+") + power
