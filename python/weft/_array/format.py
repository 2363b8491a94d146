"""The text of arrays and scalars, as NumPy prints them. Imported at the first print."""

from contextvars import ContextVar
from operator import index as _index

from weft import _core

_DEFAULTS = {
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
# As NumPy's, they are a context's: neither threads nor tasks see what another one changes.
_context = ContextVar("weft.printoptions", default=_DEFAULTS)
_core._print_options = _context.get  # host arrays are printed by them, too
_PLAIN_SCALARS = ("1.13", "1.21", "1.25")  # up to NumPy 1.25 scalars were printed as Python's numbers


# ---- options ----


def _checked(**changes):
    mode = changes.get("floatmode")
    if mode is not None and mode not in ("fixed", "unique", "maxprec", "maxprec_equal"):
        raise ValueError('floatmode option must be one of "fixed", "unique", "maxprec", "maxprec_equal"')
    sign = changes.get("sign")
    if sign is not None and sign not in ("-", "+", " "):
        raise ValueError("sign option must be one of ' ', '+', or '-'")
    if changes.get("precision") is not None:
        try:
            _index(changes["precision"])
        except TypeError:
            raise TypeError("precision must be an integer") from None
    threshold = changes.get("threshold")
    if threshold is not None:
        if not isinstance(threshold, (int, float)):
            raise TypeError("threshold must be numeric")
        if threshold != threshold:
            raise ValueError("threshold must be non-NAN, try sys.maxsize for untruncated representation")
    return {name: value for name, value in changes.items() if value is not None}


def plain_scalars():
    """Whether scalars are printed as Python's numbers; the binding asks once this has been so anywhere."""
    return str(_context.get()["legacy"]) in _PLAIN_SCALARS


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
    """Changes how arrays are printed; what is None stays.

    `formatter`, `override_repr` and the `legacy` modes are NumPy's: it makes the text then.
    """
    # As in NumPy, these two are what is given now, or None.
    changed = {**_context.get(), "formatter": None, "override_repr": None}
    changed.update(
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
    _context.set(changed)
    if plain_scalars():
        _core._ask_for_plain_scalars()


def get_printoptions():
    """How arrays are printed, as a dictionary."""
    return dict(_context.get())


class printoptions:
    """A context in which arrays are printed otherwise; takes what set_printoptions takes."""

    def __init__(self, *args, **kwargs):
        self._arguments, self._changes = args, kwargs

    def __enter__(self):
        self._before = _context.get()
        set_printoptions(*self._arguments, **self._changes)
        return get_printoptions()

    def __exit__(self, *exception):
        _context.set(self._before)


# ---- arrays ----


def _changed(max_line_width, precision, suppress_small, **changes):
    """The options of one text."""
    changes = _checked(linewidth=max_line_width, precision=precision, suppress=suppress_small, **changes)
    options = _context.get()
    return {**options, **changes} if changes else options


def _by_numpy(name, array, options, **arguments):
    """The text that NumPy makes by options that are its own; None for others."""
    if not (options["formatter"] or options["legacy"]):
        return None
    import numpy

    options = {key: value for key, value in options.items() if key != "override_repr"}
    with numpy.printoptions(**options):
        return getattr(numpy, name)(numpy.asarray(array), **arguments)


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
    options = _changed(
        max_line_width,
        precision,
        suppress_small,
        threshold=threshold,
        edgeitems=edgeitems,
        formatter=formatter,
        sign=sign,
        floatmode=floatmode,
        legacy=legacy,
    )
    text = _by_numpy("array2string", a, options, separator=separator, prefix=prefix, suffix=suffix)
    return _core._array2string(a, options, separator, prefix, suffix) if text is None else text


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """The text of an array that tells its dtype as well."""
    name = "array" if type(arr) is _core.ndarray else type(arr).__name__
    options = _changed(max_line_width, precision, suppress_small)
    text = _by_numpy("array_repr", arr, options)
    return _core._array_repr(arr, options, name) if text is None else text


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """The text of an array's elements."""
    if a.ndim == 0:
        return str(_core.asarray(a)[()])
    options = _changed(max_line_width, precision, suppress_small)
    text = _by_numpy("array2string", a, options)
    return _core._array2string(a, options, " ", "", "") if text is None else text


def shown(array):
    """repr(array), which `override_repr` may make."""
    override = _context.get()["override_repr"]
    return array_repr(array) if override is None else override(array)


def array_format(array, spec):
    if array.ndim == 0:
        return format(array.item(), spec)
    if spec == "":
        return str(array)
    raise TypeError("unsupported format string passed to numpy.ndarray.__format__")


# ---- single numbers ----


def _float_of(x):
    """The number, and the dtype of its digits."""
    if not isinstance(x, _core.generic) or x.dtype.kind != "f":
        x = _core.float64(x)  # arrays, too: only scalars have digits of their own type
    return float(x), x.dtype


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
    value, dtype = _float_of(x)
    return _core._format_float_positional(
        value,
        dtype,
        precision,
        bool(unique),
        bool(fractional),
        trim,
        bool(sign),
        pad_left,
        pad_right,
        min_digits,
    )


def format_float_scientific(
    x, precision=None, unique=True, trim="k", sign=False, pad_left=None, exp_digits=None, min_digits=None
):
    """A number with an exponent: with as few digits as tell it from others, or `precision` behind the point.

    >>> np.format_float_scientific(123.456, precision=2)
    '1.23e+02'
    """
    value, dtype = _float_of(x)
    return _core._format_float_scientific(
        value, dtype, precision, bool(unique), trim, bool(sign), pad_left, exp_digits, min_digits
    )


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
