"""CUDA's names for programs that use a GPU where there is one: there is none, so that they take their other way."""

import functools

from weft.numba._decorators import is_jitted, njit

__all__ = ["is_available", "jit", "list_devices"]
_ADVICE = "weft.numba has no kernels of CUDA yet; write array expressions of weft, which run on GPUs"


def is_available():
    """Whether kernels run on a GPU: they do not."""
    return False


def list_devices():
    """The GPUs for kernels: none."""
    return []


class Kernel:
    """What `jit` makes. It refuses to be launched."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.py_func = function

    def __getitem__(self, launch):
        raise NotImplementedError(f"{self.py_func.__name__}: {_ADVICE}")

    def __call__(self, *arguments, **keywords):
        raise NotImplementedError(f"{self.py_func.__name__}: {_ADVICE}")


def jit(signature_or_function=None, device=False, **options):
    """Takes kernels, which refuse to be launched, and with `device=True` functions, which run on the CPU, too."""

    def made(function):
        function = function.py_func if is_jitted(function) or isinstance(function, Kernel) else function
        return njit(function) if device else Kernel(function)

    return made(signature_or_function) if callable(signature_or_function) else made


def __getattr__(name):
    raise AttributeError(f"weft.numba.cuda has no {name!r}: {_ADVICE}")
