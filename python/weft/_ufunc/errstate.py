"""np.errstate: what happens on floating-point errors, per thread and per context of contextvars.

By default nothing does: they are ignored, work stays lazy and is fused. Where a kind of error is to be reported,
work is done at the call, and operands and results are inspected: see src/api/elementwise/float_errors.h.
"""

import sys
from contextvars import ContextVar
from os.path import dirname

from weft import _core

_KINDS = ("divide", "over", "under", "invalid")
_TEXTS = ("divide by zero", "overflow", "underflow", "invalid value")
_MODES = ("ignore", "warn", "raise", "call", "print", "log")
_PACKAGE = dirname(dirname(__file__))
_NOT_GIVEN = object()


def _refuse(mode):
    from weft._engine.numpy_version import numpy_is_at_least

    if not isinstance(mode, str) and numpy_is_at_least(2, 5):
        raise TypeError(f"invalid error mode {mode!r}, must be a string or None")
    raise ValueError(f"invalid error mode {mode!r}")


class _State:
    """The modes of one context; the engine counts those that want to hear of something."""

    __slots__ = ("call", "modes", "wanted")

    def __init__(self, modes, call):
        self.modes, self.call = modes, call
        self.wanted = sum(1 << k for k, kind in enumerate(_KINDS) if modes[kind] != "ignore")
        if self.wanted:
            _core._watch_float_errors(1)

    def __del__(self, _watch=_core._watch_float_errors):
        if self.wanted:
            _watch(-1)


_ignoring = _State(dict.fromkeys(_KINDS, "ignore"), None)
_state = ContextVar("weft.errstate", default=_ignoring)


def _changed(call, all, **given):
    before = _state.get()
    modes = dict(before.modes)
    for kind in _KINDS:
        mode = given[kind] if given[kind] is not None else all
        if mode is None:
            continue
        if not isinstance(mode, str) or mode not in _MODES:
            _refuse(mode)
        modes[kind] = mode
    if call is _NOT_GIVEN:
        call = before.call
    elif call is not None and not callable(call) and not callable(getattr(call, "write", None)):
        raise TypeError("python object must be callable or have a callable write method")
    return _State(modes, call)


def geterr():
    """How each kind of floating-point error is handled.

    >>> np.geterr()
    {'divide': 'ignore', 'over': 'ignore', 'under': 'ignore', 'invalid': 'ignore'}
    """
    return dict(_state.get().modes)


def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    """Sets how floating-point errors are handled in this context, and gives how they were.

    Each is 'ignore', which is weft's default for all of them, 'warn' (a RuntimeWarning), 'raise' (a
    FloatingPointError), 'call' (the function of `seterrcall`), 'print' or 'log' (the object of `seterrcall`, whose
    method `write` is called). None leaves it as it is. Where one is not 'ignore', work is done at the call.

    Raises ValueError for another mode.

    >>> before = np.seterr(divide='raise')
    >>> np.divide(1, 0)
    Traceback (most recent call last):
        ...
    FloatingPointError: divide by zero encountered in divide
    >>> np.seterr(**before)['divide']
    'raise'
    """
    before = geterr()
    _state.set(_changed(_NOT_GIVEN, all, divide=divide, over=over, under=under, invalid=invalid))
    return before


def geterrcall():
    """The function or object that the modes 'call' and 'log' use; None if there is none.

    >>> np.geterrcall()
    """
    return _state.get().call


def seterrcall(func):
    """Sets what the modes 'call' and 'log' use in this context, and gives what they used.

    A function is called with the kind of error, as in 'overflow', and a number: 1 for division by zero, 2 for
    overflow, 4 for underflow, 8 for what is invalid, and their sums. An object's method `write` gets a text.

    Raises TypeError for anything else but None.

    >>> np.seterrcall(lambda kind, flag: print(kind, flag))
    >>> with np.errstate(over='call'):
    ...     x = np.multiply(1e200, 1e200)
    overflow 2
    >>> before = np.seterrcall(None)
    """
    before = _state.get()
    _state.set(_changed(func, None, **dict.fromkeys(_KINDS)))
    return before.call


class errstate:
    """A context, or a decorator, with other handling of floating-point errors: see `seterr` for the modes.

    Raises TypeError where one that was entered is entered again.

    >>> with np.errstate(invalid='raise'):
    ...     np.sqrt([4.0, -1.0])
    Traceback (most recent call last):
        ...
    FloatingPointError: invalid value encountered in sqrt
    """

    def __init__(self, *, call=_NOT_GIVEN, all=None, divide=None, over=None, under=None, invalid=None):
        self._options = {
            "call": call,
            "all": all,
            "divide": divide,
            "over": over,
            "under": under,
            "invalid": invalid,
        }
        self._token = None

    def __enter__(self):
        if self._token is not None:
            raise TypeError("Cannot enter `np.errstate` twice.")
        self._token = _state.set(_changed(**self._options))

    def __exit__(self, *exception):
        _state.reset(self._token)

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def inside(*args, **kwargs):
            with errstate(**self._options):
                return function(*args, **kwargs)

        return inside


def quiet(function):
    """Decorates a function of weft whose intermediate results are nobody's business."""

    def inside(*args, **kwargs):
        if _core._watch_float_errors(0) == 0:
            return function(*args, **kwargs)
        with errstate(all="ignore"):
            return function(*args, **kwargs)

    # As functools.wraps, whose import takes a millisecond.
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(inside, name, getattr(function, name))
    inside.__wrapped__ = function
    return inside


# ---- what the engine calls ----


def _wanted():
    return _state.get().wanted


def _user_level():
    """The stack level, as warnings.warn counts from its caller, of the nearest frame outside of the package."""
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level


def _report(errors, name):
    state = _state.get()
    for k, (kind, text) in enumerate(zip(_KINDS, _TEXTS)):
        if not errors >> k & 1:
            continue
        mode = state.modes[kind]
        message = f"{text} encountered in {name}"
        if mode == "warn":
            import warnings

            warnings.warn(message, RuntimeWarning, stacklevel=_user_level())
        elif mode == "raise":
            raise FloatingPointError(message)
        elif mode == "print":
            sys.stderr.write(f"Warning: {message}\n")
        elif mode == "call":
            if state.call is None:
                raise NameError(f"python callback specified for {text} (in  {name}) but no function found.")
            state.call(text, errors)
        elif mode == "log":
            if state.call is None:
                raise NameError(
                    f"log specified for {text} (in {name}) but no object with write method found."
                )
            state.call.write(f"Warning: {message}\n")
