"""Which functions write into their first argument."""

_WRITERS = frozenset("at copyto fill fill_diagonal place put put_along_axis putmask".split())


def writes_first(name):
    """Whether the function or method of that name, such as "add.at", writes into its first argument."""
    return name.rpartition(".")[2] in _WRITERS


def first_argument(args, kwargs):
    """What such a function writes into, given by its place or by its name."""
    return args[0] if args else next((kwargs[key] for key in ("a", "arr", "dst") if key in kwargs), None)
