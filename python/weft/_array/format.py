"""The text of arrays and scalars, as NumPy prints them. Imported at the first print."""

from operator import index as _index

from weft import _core

_options = {
    "precision": 8,
    "threshold": 1000,
    "edgeitems": 3,
    "linewidth": 75,
    "suppress": False,
    "nanstr": "nan",
    "infstr": "inf",
    "sign": "-",
    "floatmode": "maxprec",
    "formatter": None,
    "legacy": False,
    "override_repr": None,
}

# The dtypes that a text without `dtype=` reads back as.
_IMPLIED = ("bool", "int64", "float64", "complex128")
# From which magnitude on arrays of floats print with exponents: what the type's digits can show.
_LARGE = {"float64": 1e8, "float32": 1e6, "float16": 1e3, "bfloat16": 1e3}
_LARGE_SCALAR = {"float64": 1e16, "float32": 1e6, "float16": 1e3, "bfloat16": 1e3}


# ---- options ----


def _checked(**changes):
    mode = changes.get("floatmode")
    if mode is not None and mode not in ("fixed", "unique", "maxprec", "maxprec_equal"):
        raise ValueError('floatmode option must be one of "fixed", "unique", "maxprec", "maxprec_equal"')
    sign = changes.get("sign")
    if sign is not None and sign not in ("-", "+", " "):
        raise ValueError("sign option must be one of ' ', '+', or '-'")
    if changes.get("legacy"):
        raise NotImplementedError("weft prints as NumPy 2.4 does: it has no legacy modes")
    if changes.get("formatter") or changes.get("override_repr"):
        raise NotImplementedError("weft's printing takes no formatter or override_repr yet")
    threshold = changes.get("threshold")
    if threshold is not None:
        if not isinstance(threshold, (int, float)):
            raise TypeError("threshold must be numeric")
        if threshold != threshold:
            raise ValueError("threshold must be non-NAN, try sys.maxsize for untruncated representation")
    return {name: value for name, value in changes.items() if value is not None}


def set_printoptions(
    precision=None,
    threshold=None,
    edgeitems=None,
    linewidth=None,
    suppress=None,
    nanstr=None,
    infstr=None,
    formatter=None,
    sign=None,
    floatmode=None,
    *,
    legacy=None,
    override_repr=None,
):
    """Changes how arrays are printed; what is None stays."""
    _options.update(
        _checked(
            precision=precision,
            threshold=threshold,
            edgeitems=edgeitems,
            linewidth=linewidth,
            suppress=suppress,
            nanstr=nanstr,
            infstr=infstr,
            formatter=formatter,
            sign=sign,
            floatmode=floatmode,
            legacy=legacy,
            override_repr=override_repr,
        )
    )


def get_printoptions():
    """How arrays are printed, as a dictionary."""
    return dict(_options)


class printoptions:
    """A context in which arrays are printed otherwise; takes what set_printoptions takes."""

    def __init__(self, **changes):
        self._changes = changes

    def __enter__(self):
        self._before = dict(_options)
        set_printoptions(**self._changes)
        return dict(_options)

    def __exit__(self, *exception):
        _options.update(self._before)


# ---- digits ----


def _shortest(value, dtype):
    """Sign, digits and decimal exponent of the shortest decimal number that reads back as `value`."""
    mantissa, _, exponent = _core._shortest_digits(abs(value), dtype).partition("e")
    return mantissa.replace(".", "").rstrip("0") or "0", int(exponent)


def _is_negative(value):
    return value < 0 or (value == 0 and str(value)[0] == "-")


def _positional(value, dtype, precision, *, fixed=False):
    """The parts before and after the point, the first with its sign, without needless zeros."""
    sign = "-" if _is_negative(value) else ""
    value = abs(value)
    if fixed:
        whole, _, fraction = f"{value:.{precision}f}".partition(".")
        return sign + whole, fraction
    digits, exponent = _shortest(value, dtype)
    if exponent < 0:
        whole, fraction = "0", "0" * (-exponent - 1) + digits
    else:
        digits = digits.ljust(exponent + 1, "0")
        whole, fraction = digits[: exponent + 1], digits[exponent + 1 :]
    if precision is not None and len(fraction) > precision:
        whole, _, fraction = f"{value:.{precision}f}".partition(".")
    return sign + whole, fraction.rstrip("0")


def _scientific(value, dtype, precision, *, fixed=False):
    """The digit before the point with its sign, those after it, and the exponent."""
    sign = "-" if _is_negative(value) else ""
    value = abs(value)
    if fixed:
        mantissa, _, exponent = f"{value:.{precision}e}".partition("e")
        whole, _, fraction = mantissa.partition(".")
        return sign + whole, fraction, int(exponent)
    digits, exponent = _shortest(value, dtype)
    if value == 0:
        return sign + "0", "", 0
    if precision is not None and len(digits) - 1 > precision:
        mantissa, _, exponent = f"{value:.{precision}e}".partition("e")
        digits, exponent = mantissa.replace(".", ""), int(exponent)
    return sign + digits[0], digits[1:].rstrip("0"), exponent


def _exponent_text(exponent, width=2):
    return f"{'-' if exponent < 0 else '+'}{abs(exponent):0{width}d}"


# ---- one element, in the columns of its array ----


class _FloatColumn:
    """Widths and form that all floats of an array share."""

    def __init__(self, values, dtype, options, sign=None):
        self.dtype, self.options = dtype, options
        self.sign = options["sign"] if sign is None else sign
        mode = options["floatmode"]
        self.fixed = mode == "fixed"
        self.precision = None if mode == "unique" else options["precision"]
        finite = [value for value in values if value - value == 0]
        self.exponents = self._needs_exponents([abs(value) for value in finite if value])
        self.least_digits = 0
        self.exponent_width = 2
        left = right = 0
        if finite and self.exponents:
            parts = [_scientific(value, dtype, self.precision, fixed=self.fixed) for value in finite]
            self.exponent_width = max(len(_exponent_text(exponent)) - 1 for _, _, exponent in parts)
            self.precision = self.least_digits = max(len(fraction) for _, fraction, _ in parts)
            left = max(len(self._signed(whole)) for whole, _, _ in parts)
            right = self.precision + 2 + self.exponent_width
        elif finite:
            parts = [_positional(value, dtype, self.precision, fixed=self.fixed) for value in finite]
            left = max(len(self._signed(whole)) for whole, _ in parts)
            right = max(len(fraction) for _, fraction in parts)
            if mode in ("fixed", "maxprec_equal"):
                self.precision = self.least_digits = right
        if self.sign == " " and not any(map(_is_negative, finite)):
            left += 1
        if len(finite) != len(values):
            signed = self.sign != "-" or any(value < 0 and value - value != 0 for value in values)
            left = max(left, len(options["nanstr"]) - right - 1, len(options["infstr"]) + signed - right - 1)
        self.left, self.right = left, right

    def _needs_exponents(self, magnitudes):
        if not magnitudes:
            return False
        largest, smallest = max(magnitudes), min(magnitudes)
        if largest >= _LARGE[self.dtype]:
            return True
        if self.options["suppress"]:
            return False
        # The comparisons are made in the array's own type.
        kind = getattr(_core, self.dtype)
        return smallest < float(kind(0.0001)) or float(kind(largest / smallest)) > 1000.0

    def _signed(self, text):
        return "+" + text if self.sign == "+" and text[0] != "-" else text

    def __call__(self, value):
        if value - value != 0:
            if value != value:
                text = ("+" if self.sign == "+" else "") + self.options["nanstr"]
            else:
                text = ("-" if value < 0 else "+" if self.sign == "+" else "") + self.options["infstr"]
            return text.rjust(self.left + self.right + 1)
        if self.exponents:
            whole, fraction, exponent = _scientific(value, self.dtype, self.precision, fixed=self.fixed)
            if len(fraction) < self.least_digits:
                # The digits that follow are the value's own, not zeros.
                whole, fraction, exponent = _scientific(value, self.dtype, self.least_digits, fixed=True)
            tail = fraction + "e" + _exponent_text(exponent, self.exponent_width)
        else:
            whole, fraction = _positional(value, self.dtype, self.precision, fixed=self.fixed)
            if len(fraction) < self.least_digits:
                whole, fraction = _positional(value, self.dtype, self.least_digits, fixed=True)
            tail = fraction.ljust(self.right)
        return f"{self._signed(whole).rjust(self.left)}.{tail}"


class _ComplexColumn:
    def __init__(self, values, dtype, options):
        part = "float32" if dtype == "complex64" else "float64"
        self.real = _FloatColumn([value.real for value in values], part, options)
        self.imag = _FloatColumn([value.imag for value in values], part, options, sign="+")

    def __call__(self, value):
        imag = self.imag(value.imag)
        digits = imag.rstrip()
        return self.real(value.real) + digits + "j" + " " * (len(imag) - len(digits))


def _column(values, dtype, ndim, options):
    kind = dtype.kind
    if kind == "b":
        true = " True" if ndim else "True"
        return lambda value: true if value else "False"
    if kind in "iu":
        sign = options["sign"]
        if sign == " " and values and min(values) < 0:
            sign = "-"
        width = (
            max((len(f"{value:{sign}d}") for value in (max(values), min(values))), default=0) if values else 0
        )
        return lambda value: f"{value:{sign}{width}d}"
    if kind == "f":
        return _FloatColumn(values, dtype.name, options)
    return _ComplexColumn(values, dtype.name, options)


# ---- arrays ----


def _corners(array, edge):
    """The elements that a summary shows."""
    for axis, extent in enumerate(array.shape):
        if extent > 2 * edge:
            before = (slice(None),) * axis
            first, last = array[(*before, slice(edge))], array[(*before, slice(extent - edge, None))]
            array = _core.concatenate([first, last], axis=axis)
    return array


def _flatten(nested, depth):
    for _ in range(depth - 1):
        nested = [item for row in nested for item in row]
    return nested if depth else [nested]


def _layout(nested, axes, shortened, indent, width, separator):
    """The text of a nest of words; `shortened` tells for each axis whether "..." stands in its middle."""
    items = nested
    if axes > 1:
        items = [_layout(row, axes - 1, shortened[1:], indent + " ", width - 1, separator) for row in nested]
    if shortened[0]:
        half = len(items) // 2
        items = [*items[:half], "...", *items[half:]]
    if axes > 1:
        gap = separator.rstrip() + "\n" * (axes - 1)
        return "[" + (gap + indent).join(items) + "]"
    room = width - max(len(separator.rstrip()), 1)
    lines, line = [], indent
    for position, word in enumerate(items):
        if len(line) + len(word) > room and len(line) > len(indent):
            lines.append(line.rstrip())
            line = indent
        line += word
        if position + 1 < len(items):
            line += separator
    lines.append(line)
    return "[" + "\n".join(lines)[len(indent) :] + "]"


def _words(nested, depth, column):
    if depth == 0:
        return column(nested)
    return [_words(item, depth - 1, column) for item in nested]


def _text(array, options, separator, prefix):
    if array.size == 0:
        return "[]"
    _core.eval(array)
    edge = options["edgeitems"]
    summary = array.size > options["threshold"]
    shown = _corners(array, edge) if summary else array
    nested = shown.tolist()
    column = _column(_flatten(nested, array.ndim), array.dtype, array.ndim, options)
    words = _words(nested, array.ndim, column)
    if array.ndim == 0:
        return words
    shortened = [summary and extent > 2 * edge for extent in array.shape]
    return _layout(words, array.ndim, shortened, " " * (len(prefix) + 1), options["linewidth"], separator)


def array2string(
    a,
    max_line_width=None,
    precision=None,
    suppress_small=None,
    separator=" ",
    prefix="",
    *,
    formatter=None,
    threshold=None,
    edgeitems=None,
    sign=None,
    floatmode=None,
    suffix="",
    legacy=None,
):
    """The text of an array.

    >>> np.array2string(np.array([1e-16, 1, 2]), precision=2, suppress_small=True)
    '[0. 1. 2.]'
    """
    changes = _checked(
        precision=precision,
        threshold=threshold,
        edgeitems=edgeitems,
        linewidth=max_line_width,
        suppress=suppress_small,
        formatter=formatter,
        sign=sign,
        floatmode=floatmode,
        legacy=legacy,
    )
    options = {**_options, **changes}
    options["linewidth"] = options["linewidth"] - len(suffix)
    return _text(_core.asarray(a), options, separator, prefix)


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """The text of an array that tells its dtype as well."""
    width = _options["linewidth"] if max_line_width is None else max_line_width
    opening = ("array" if type(arr) is _core.ndarray else type(arr).__name__) + "("
    text = array2string(arr, width, precision, suppress_small, ", ", opening, suffix=")")
    extras = []
    if (arr.size == 0 and arr.shape != (0,)) or arr.size > _options["threshold"]:
        extras.append(f"shape={arr.shape}")
    if arr.dtype.name not in _IMPLIED or arr.size == 0:
        extras.append(f"dtype={arr.dtype.name}")
    if not extras:
        return f"{opening}{text})"
    text = f"{opening}{text},"
    extra = ", ".join(extras) + ")"
    last_line = len(text) - (text.rfind("\n") + 1)
    fits = last_line + len(extra) + 1 <= width
    return text + (" " if fits else "\n" + " " * len(opening)) + extra


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """The text of an array's elements."""
    if a.ndim == 0:
        return scalar_str(_core.asarray(a)[()])
    return array2string(a, max_line_width, precision, suppress_small, " ")


def array_format(array, spec):
    if array.ndim == 0:
        return format(array.item(), spec)
    if spec == "":
        return str(array)
    raise TypeError("unsupported format string passed to numpy.ndarray.__format__")


# ---- scalars ----


def _float_text(value, dtype, zero=".0"):
    if value != value:
        return "nan"
    if value - value != 0:
        return "-inf" if value < 0 else "inf"
    if value == 0 or 1e-4 <= abs(value) < _LARGE_SCALAR[dtype]:
        whole, fraction = _positional(value, dtype, None)
        return f"{whole}.{fraction}" if fraction else whole + zero
    whole, fraction, exponent = _scientific(value, dtype, None)
    return f"{whole}{'.' if fraction else ''}{fraction}e{_exponent_text(exponent)}"


def _complex_text(value, dtype):
    part = "float32" if dtype == "complex64" else "float64"
    imag = _float_text(value.imag, part, "") + "j"
    if value.real == 0 and not _is_negative(value.real):
        return imag
    plus = "" if imag[0] == "-" else "+"
    return f"({_float_text(value.real, part, '')}{plus}{imag})"


def scalar_str(scalar):
    """'0.5', '(1+2j)', 'True'."""
    kind, value = scalar.dtype.kind, scalar.item()
    if kind == "f":
        return _float_text(value, scalar.dtype.name)
    if kind == "c":
        return _complex_text(value, scalar.dtype.name)
    return str(value)


def scalar_repr(scalar):
    """'np.float64(0.5)', 'np.True_'."""
    text = scalar_str(scalar)
    if scalar.dtype.kind == "b":
        return f"np.{text}_"
    if text.startswith("("):
        text = text[1:-1]
    return f"np.{scalar.dtype.name}({text})"


def scalar_format(scalar, spec):
    return format(scalar.item(), spec)


# ---- integers as text ----


def binary_repr(num, width=None):
    """An integer in base 2, a negative one with a sign, or with a width as its two's complement.

    >>> np.binary_repr(-3, width=4)
    '1101'
    """
    num = _index(num)
    if num == 0:
        return "0" * (width or 1)
    if num > 0:
        text = format(num, "b")
    elif width is None:
        return "-" + format(-num, "b")
    else:
        least = (-num - 1).bit_length() + 1
        wide = max(width, least) if width >= least else least
        text = format(num + (1 << wide), "b").rjust(wide, "1")
    if width is None:
        return text
    if width < len(text):
        raise ValueError(f"Insufficient bit width={width} provided for binwidth={len(text)}")
    return text.zfill(width)


def base_repr(number, base=2, padding=0):
    """An integer in a base from 2 to 36, behind `padding` zeros.

    >>> np.base_repr(255, 16)
    'FF'
    """
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if base > len(digits):
        raise ValueError("Bases greater than 36 not handled in base_repr.")
    if base < 2:
        raise ValueError("Bases less than 2 not handled in base_repr.")
    rest, text = abs(int(number)), ""
    while rest:
        rest, digit = divmod(rest, base)
        text = digits[digit] + text
    if number == 0 and not padding:
        text = "0"
    return ("-" if number < 0 else "") + text.rjust(len(text) + padding, "0")
