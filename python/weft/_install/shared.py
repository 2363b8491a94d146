"""What NumPy and weft each have a state of: the program sets both, so that libraries around it follow, too."""

import weft
from weft._install import theirs

_pending = []  # calls for NumPy that wait until it is loaded


def _tell(path, name, args, kwargs):
    """Calls NumPy's function as well: now, or when NumPy is loaded."""
    if theirs.loaded("numpy") is None:
        _pending.append((path, name, args, kwargs))
        return
    from weft._install.fallbacks import _Move

    move = _Move()
    function = getattr(theirs.load(path), name)
    function(*map(move.there, args), **{key: move.there(each) for key, each in kwargs.items()})


def tell_pending():
    """What was set before NumPy was loaded."""
    waiting, _pending[:] = list(_pending), []
    for call in waiting:
        _tell(*call)


def _both(path, name):
    """A function that weft answers and NumPy is told of."""
    ours = weft
    for part in path.split(".")[1:]:
        ours = getattr(ours, part)
    function = getattr(ours, name)

    def tells(*args, **kwargs):
        result = function(*args, **kwargs)
        _tell(path, name, args, kwargs)
        return result

    tells.__name__ = tells.__qualname__ = name
    tells.__doc__, tells.__module__, tells.__wrapped__ = function.__doc__, path, function
    return tells


def _into(name):
    """A function that writes into its first argument: NumPy's own does it where that is a library's array."""
    function = getattr(weft, name)

    def writes(*args, **kwargs):
        if not args or type(args[0]) is weft.ndarray:
            return function(*args, **kwargs)
        real = theirs.loaded("numpy")
        if real is None or type(args[0]) is not real.ndarray:
            return function(*args, **kwargs)
        _tell("numpy", name, args, kwargs)

    writes.__name__ = writes.__qualname__ = name
    writes.__doc__, writes.__module__, writes.__wrapped__ = function.__doc__, "numpy", function
    return writes


class errstate(weft.errstate):
    """weft's error modes and NumPy's, for what NumPy or a library computes inside of the block."""

    __module__ = "numpy"

    def __enter__(self):
        super().__enter__()
        self._theirs = None
        real = theirs.loaded("numpy")
        if real is not None:
            options = {
                key: each for key, each in self._options.items() if isinstance(each, str) or key == "call"
            }
            if not (
                options.get("call") is None or callable(options["call"]) or hasattr(options["call"], "write")
            ):
                del options["call"]
            self._theirs = real.errstate(**options)
            self._theirs.__enter__()

    def __exit__(self, *exception):
        if self._theirs is not None:
            self._theirs.__exit__(*exception)
        super().__exit__(*exception)


class printoptions(weft.printoptions):
    """A context in which arrays of weft's and of NumPy's are printed otherwise."""

    __module__ = "numpy"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._given = args, kwargs

    def __enter__(self):
        real = theirs.loaded("numpy")
        args, kwargs = self._given
        self._theirs = real.printoptions(*args, **kwargs) if real is not None else None
        if self._theirs is not None:
            self._theirs.__enter__()
        return super().__enter__()

    def __exit__(self, *exception):
        if self._theirs is not None:
            self._theirs.__exit__(*exception)
        return super().__exit__(*exception)


class _Later(dict):
    """Functions that are made when they are asked for."""

    def __init__(self, path, names, **ready):
        super().__init__(ready)
        self._path, self._names = path, names

    def __contains__(self, name):
        return name in self._names or super().__contains__(name)

    def __missing__(self, name):
        value = self[name] = _into(name) if name in _WRITING else _both(self._path, name)
        return value


_WRITING = {"copyto", "place", "put", "put_along_axis", "putmask"}
NAMES = {
    "numpy": _Later(
        "numpy",
        {"set_printoptions", "seterr", "seterrcall", *_WRITING},
        errstate=errstate,
        printoptions=printoptions,
    ),
    "numpy.random": _Later("numpy.random", {"seed", "set_state"}),
}
