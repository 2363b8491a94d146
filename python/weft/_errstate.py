"""np.errstate: floating-point warnings are off in weft, and cannot be turned on yet."""

_KINDS = ("divide", "over", "under", "invalid")


def geterr():
    """How floating-point errors are handled: they are ignored."""
    return dict.fromkeys(_KINDS, "ignore")


def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    """Accepts 'ignore', which is what weft does; anything else raises NotImplementedError."""
    for value in (all, divide, over, under, invalid):
        if value not in (None, "ignore"):
            raise NotImplementedError(
                f"weft ignores floating-point errors and has no {value!r} yet; meanwhile look for them with np.isfinite"
            )
    return geterr()


class errstate:
    """A context with other handling of floating-point errors; only 'ignore' is there yet."""

    def __init__(self, *, call=None, all=None, divide=None, over=None, under=None, invalid=None):
        seterr(all, divide, over, under, invalid)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def __call__(self, function):
        return function
