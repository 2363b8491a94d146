"""Attributes that instances set, as their class shows them: NumPy's classes have a descriptor for each."""


class InstanceAttribute:
    """An instance's own value comes before it."""

    def __init__(self, owner, name):
        self.__objclass__, self.__name__ = owner, name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        raise AttributeError(f"'{type(instance).__name__}' object has no attribute '{self.__name__}'")

    def __repr__(self):
        return f"<attribute '{self.__name__}' of '{self.__objclass__.__qualname__}' objects>"


def with_attributes(*names):
    """Decorates a class whose instances set these."""

    def add(owner):
        for name in names:
            setattr(owner, name, InstanceAttribute(owner, name))
        return owner

    return add
