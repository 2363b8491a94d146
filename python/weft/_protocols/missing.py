"""What to say about names of NumPy's that weft does not have yet."""

instead_of = {
    "f2py": "numpy.f2py, which makes no arrays of its own",
}


def module_message(name):
    """The words of the AttributeError for `weft.<name>`."""
    from weft._protocols.numpy_names import module_names

    if name not in module_names:
        return f"module 'weft' has no attribute {name!r}"
    instead = instead_of.get(name, f"use NumPy's: weft.asarray(numpy.{name}(numpy.asarray(x)))")
    return f"weft has no np.{name} yet; meanwhile {instead}"


class MissingAttribute:
    """Stands on the type for an attribute that only NumPy's arrays have, and says so.

    A `__getattr__` would say it too, but would make every other attribute slower.
    """

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __get__(self, instance, owner=None):
        name = self.name
        raise AttributeError(
            f"weft's ndarray has no .{name} yet; meanwhile use NumPy's: numpy.asarray(x).{name}"
        )
