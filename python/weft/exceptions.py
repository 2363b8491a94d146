"""The exceptions that Python has no type for, named as in numpy.exceptions, and weft's own."""

__all__ = [
    "AxisError",
    "CompileError",
    "ComplexWarning",
    "DTypePromotionError",
    "DeviceError",
    "InternalError",
    "LinAlgError",
    "ModuleDeprecationWarning",
    "OutOfMemoryError",
    "RankWarning",
    "TooHardError",
    "UFuncTypeError",
    "VisibleDeprecationWarning",
]


class AxisError(ValueError, IndexError):
    """An axis is out of bounds.

    AxisError(message), or AxisError(axis, ndim, prefix=None), which words the message.

    >>> np.exceptions.AxisError(2, 1)
    AxisError('axis 2 is out of bounds for array of dimension 1')
    """

    def __init__(self, axis, ndim=None, msg_prefix=None):
        self.axis = self.ndim = None
        if ndim is None and msg_prefix is None:
            super().__init__(axis)
            return
        self.axis, self.ndim = axis, ndim
        prefix = "" if msg_prefix is None else f"{msg_prefix}: "
        super().__init__(f"{prefix}axis {axis} is out of bounds for array of dimension {ndim}")


class CompileError(TypeError):
    """weft.jit cannot compile a function, or a compiler refuses CUDA C++. The message has the file, the line, what is
    wrong, what to write."""


class UFuncTypeError(TypeError):
    """No loop of a ufunc takes these types, or a result cannot be cast to where it shall go."""


class DTypePromotionError(TypeError):
    """Two dtypes have no common dtype."""


class LinAlgError(ValueError):
    """A computation of linear algebra cannot go on, for example with a singular matrix."""


class ComplexWarning(RuntimeWarning):
    """A complex value lost its imaginary part."""


class VisibleDeprecationWarning(UserWarning):
    """A use that will stop working."""


class ModuleDeprecationWarning(DeprecationWarning):
    """A module that will go away."""


class RankWarning(RuntimeWarning):
    """A matrix of a fit has less than full rank."""


class TooHardError(RuntimeError):
    """A question that would take too long to answer."""


class DeviceError(RuntimeError):
    """The machine failed: a driver, a device, the operating system."""


class OutOfMemoryError(MemoryError):
    """An allocation could not be had. The message says how much was asked for and what is held."""


class InternalError(RuntimeError):
    """A fault of weft itself. The message says how to report it."""
