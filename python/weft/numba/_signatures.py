"""What a signature makes of a call: its arguments are converted, and those that do not fit are refused."""

import sys

from weft.numba import _types
from weft.numba._types import Array, Boolean, Complex, Float, Integer, Signature, Type


def is_signature(given):
    """Whether `given` says types: a signature, a tuple of types, or a text of one of them."""
    return isinstance(given, (str, tuple, Signature))


def normalize_signature(given):
    """(types of arguments, type of the result or None) of a signature in any form.

    >>> normalize_signature("f8(i4, f8[:])")
    ((int32, array(float64, 1d, A)), float64)
    """
    parsed = given
    if isinstance(given, str):
        try:
            parsed = eval(given, {"__builtins__": {}, **_names_of_texts()})
        except Exception as error:
            raise TypeError(f"{given!r} is no signature: {error}") from None
    if isinstance(parsed, Signature):
        return parsed.args, parsed.return_type
    if isinstance(parsed, tuple):
        return tuple(map(_types.from_python, parsed)), None
    if isinstance(parsed, Type):
        return (parsed,), None
    raise TypeError(f"{given!r} is no signature; write as 'float64(int64, float64[:])'")


def _names_of_texts():
    classes = (
        _types.Array,
        _types.CPointer,
        _types.List,
        _types.ListType,
        _types.MemoryView,
        _types.Optional,
        _types.Tuple,
        _types.UniTuple,
    )
    return {
        **_types.names,
        **{each.__name__: each for each in classes},
        "optional": _types.Optional,
        "types": sys.modules["weft.numba.types"],
    }


_NUMBERS = (Boolean, Integer, Float, Complex)


class Conversion:
    """What stands before the calls of a function that has signatures."""

    def __init__(self, function, signatures):
        self.signatures = [normalize_signature(each) for each in signatures]
        self._converters = [[_converter(kind) for kind in arguments] for arguments, _ in self.signatures]
        self._results = [_converter_of_result(result) for _, result in self.signatures]
        self._function = function
        code = function.__code__
        self._parameters = code.co_varnames[: code.co_argcount]
        for arguments, _ in self.signatures:
            if len(arguments) != code.co_argcount and not code.co_flags & 4:
                raise TypeError(
                    f"{function.__name__}() has {code.co_argcount} parameters, and its signature has "
                    f"{len(arguments)}: ({', '.join(map(str, arguments))})"
                )

    def __call__(self, compiled, /, *arguments, **keywords):
        if keywords or len(arguments) < len(self._parameters):
            arguments = self._in_order(compiled, arguments, keywords)
        at = 0 if len(self.signatures) == 1 else self._best(arguments)
        converters = self._converters[at]
        if len(converters) != len(arguments):
            return compiled._call(*arguments)
        try:
            converted = [
                value if convert is None else convert(value)
                for convert, value in zip(converters, arguments, strict=True)
            ]
        except _NoMatch:
            raise self._refusal(arguments) from None
        result = compiled._call(*converted)
        convert = self._results[at]
        return result if convert is None else convert(result)

    def _in_order(self, compiled, arguments, keywords):
        names = self._parameters[len(arguments) :]
        defaults = dict(
            zip(reversed(self._parameters), reversed(self._function.__defaults__ or ()), strict=False)
        )
        given = {**defaults, **keywords}
        if any(name not in given for name in names) or any(name not in names for name in keywords):
            return compiled._call(*arguments, **keywords)  # raises CPython's error
        return (*arguments, *(given[name] for name in names))

    def _best(self, arguments):
        """The signature that is the arguments' types, else the first that they can be converted to."""
        kinds = []
        for value in arguments:
            try:
                kinds.append(_types.of_value(value))
            except (TypeError, ValueError, NotImplementedError):
                kinds.append(None)
        costs = [self._cost(signature, kinds) for signature, _ in self.signatures]
        best = min((cost for cost in costs if cost is not None), default=None)
        if best is None:
            raise self._refusal(arguments)
        return costs.index(best)

    @staticmethod
    def _cost(signature, kinds):
        """How far the types are from a signature; None where they do not fit."""
        if len(signature) != len(kinds):
            return None
        total = 0
        for wanted, kind in zip(signature, kinds, strict=True):
            if kind == wanted or kind is None:
                continue
            if isinstance(wanted, Array) or isinstance(kind, Array):
                if not (isinstance(wanted, Array) and isinstance(kind, Array) and _fits(wanted, kind)):
                    return None
                total += 1
            else:
                if not isinstance(kind, _NUMBERS) or not isinstance(wanted, _NUMBERS):
                    continue
                up, from_ = _rank(wanted), _rank(kind)
                is_wide = wanted.bitwidth >= kind.bitwidth or up > from_
                total += 2 + up - from_ if up >= from_ and is_wide else 100
        return total

    def _refusal(self, arguments):
        kinds = []
        for value in arguments:
            try:
                kinds.append(str(_types.of_value(value)))
            except (TypeError, ValueError, NotImplementedError):
                kinds.append(type(value).__name__)
        known = "; ".join(f"({', '.join(map(str, each))})" for each, _ in self.signatures)
        return TypeError(
            f"No matching definition for argument type(s) {', '.join(kinds)} of {self._function.__name__}(), which has "
            f"{known}"
        )


def _rank(kind):
    return [isinstance(kind, each) for each in _NUMBERS].index(True)


class _NoMatch(Exception):
    """A value does not fit a signature."""


def _fits(wanted, kind):
    return (
        wanted.dtype == kind.dtype
        and wanted.ndim == kind.ndim
        and (kind.mutable or not wanted.mutable)
        and (wanted.layout == "A" or (kind.is_c_contig if wanted.layout == "C" else kind.is_f_contig))
    )


def _converter(kind):
    """What makes a value of a type; None where values stay as they are."""
    if isinstance(kind, Array):

        def array(value):
            try:
                given = _types.of_value(value)
            except (TypeError, ValueError, NotImplementedError):
                raise _NoMatch from None
            if type(given) is not type(kind) or not _fits(kind, given):
                raise _NoMatch
            return value

        return array
    if isinstance(kind, _NUMBERS):
        return _to_number(kind)
    return None


def _to_number(kind, is_argument=True):
    weft = sys.modules["weft"]
    if isinstance(kind, Boolean):
        # NumPy's truth values stay so: `~` is their negation.
        is_numpys = (weft.bool_, getattr(sys.modules.get("numpy"), "bool_", weft.bool_))
        return _guarded(lambda value: value if is_argument and isinstance(value, is_numpys) else bool(value))
    if isinstance(kind, Float) and kind.bitwidth == 64:
        return _guarded(float)
    if isinstance(kind, Complex) and kind.bitwidth == 128:
        return _guarded(complex)
    if not isinstance(kind, Integer):
        return _guarded(getattr(weft, kind.name))
    if kind.name == "int64" and not is_argument:
        return _guarded(int)
    widest = 64 if not kind.signed else 63
    low, high, scalar = kind.minval, kind.maxval, getattr(weft, kind.name)

    def whole(value):
        value = int(value)
        if is_argument and value < 0 and not kind.signed:
            raise OverflowError("can't convert negative int to unsigned")
        if is_argument and not -(1 << 63) <= value < 1 << widest:
            raise OverflowError("int too big to convert")
        if kind.name == "int64":
            return value
        if not low <= value <= high:
            value = (value - low) % (high - low + 1) + low
        return scalar(value)

    return _guarded(whole)


def _guarded(convert):
    def converted(value):
        if isinstance(value, (list, tuple, str)) or value is None or getattr(value, "ndim", 0):
            raise _NoMatch
        try:
            return convert(value)
        except TypeError:
            raise _NoMatch from None

    return converted


def _converter_of_result(kind):
    """What a result becomes by its type in the signature: Python's number of that value."""
    if isinstance(kind, Boolean):
        return bool
    if isinstance(kind, _NUMBERS):
        to_number = _to_number(kind, is_argument=False)

        def number(value):
            try:
                made = to_number(value)
            except _NoMatch:
                given = type(value).__name__
                raise TypeError(f"the result is a {given}, and the signature says {kind}") from None
            return made if type(made) in (int, float, complex) else made.item()

        return number
    return None
