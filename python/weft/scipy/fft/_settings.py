"""What the transforms share: checks of arguments, and lengths that are quick."""

import contextlib
import operator
import threading

from weft import _core
from weft._core import asarray
from weft._engine.config import config

_NORMS = {None: "backward", "backward": "backward", "ortho": "ortho", "forward": "forward"}
_local = threading.local()


def norm_of(norm):
    """As numpy.fft has it. Raises ValueError for what is none."""
    try:
        return _NORMS[norm]
    except (KeyError, TypeError):
        raise ValueError(f'Invalid norm value {norm!r}, should be "backward", "ortho" or "forward"') from None


def check_plan(plan):
    """Raises NotImplementedError for a plan, as SciPy does."""
    if plan is not None:
        raise NotImplementedError("Passing a precomputed plan is not yet supported by scipy.fft functions")


def check_workers(workers):
    """The number that is meant: below 0 from the number of CPUs. Raises ValueError for 0, or what is out of range."""
    if workers is None:
        return get_workers()
    threads = config.num_threads
    if workers == 0:
        raise ValueError("workers must not be zero")
    if workers < -threads:
        raise ValueError(f"workers value out of range; got {workers}, must not be less than {-threads}")
    return workers if workers > 0 else workers + 1 + threads


def floating(x):
    """The input as an array of float32, float64, complex64 or complex128."""
    x = asarray(x)
    if x.dtype.kind == "f" and x.dtype.itemsize < 4:
        return x.astype(_core.float32)
    return x if x.dtype.kind in "fc" else x.astype(_core.float64)


def check_length(x, n, axis):
    """Raises ValueError for a length below 1, IndexError for an axis that is not there."""
    length = x.shape[axis] if n is None else operator.index(n)
    if length < 1:
        raise ValueError(f"invalid number of data points ({length}) specified")
    x.shape[axis]  # raises
    return length


def _integers(given, name):
    try:
        return [operator.index(given)]
    except TypeError:
        pass
    try:
        return [operator.index(each) for each in given]
    except TypeError as error:
        raise ValueError(f"{name} must be a scalar or iterable of integers") from error


def lengths_and_axes(x, s, axes):
    """A length and an axis, from 0, for each axis that is transformed. Raises ValueError."""
    no_axes = axes is None
    if not no_axes:
        axes = [axis + x.ndim if axis < 0 else axis for axis in _integers(axes, "axes")]
        if any(axis >= x.ndim or axis < 0 for axis in axes):
            raise ValueError("axes exceeds dimensionality of input")
        if len(set(axes)) != len(axes):
            raise ValueError("all axes must be unique")
    if s is not None:
        s = _integers(s, "shape")
        if axes and len(axes) != len(s):
            raise ValueError("when given, axes and shape arguments have to be of the same length")
        if no_axes:
            if len(s) > x.ndim:
                raise ValueError("shape requires more axes than are present")
            axes = range(x.ndim - len(s), x.ndim)
        s = [x.shape[axis] if length == -1 else length for length, axis in zip(s, axes)]
    else:
        axes = range(x.ndim) if no_axes else axes
        s = [x.shape[axis] for axis in axes]
    if any(length < 1 for length in s):
        raise ValueError(f"invalid number of data points ({s}) specified")
    return s, list(axes)


@contextlib.contextmanager
def set_workers(workers):
    """The default of `workers` in a block. The threads of a transform are weft's (`weft.config.num_threads`).

    >>> with np.scipy.fft.set_workers(2):
    ...     np.scipy.fft.get_workers()
    2
    """
    before = get_workers()
    _local.workers = check_workers(operator.index(workers))
    try:
        yield
    finally:
        _local.workers = before


def get_workers():
    """The default of `workers`: 1 unless `set_workers` says otherwise."""
    return getattr(_local, "workers", 1)


def next_fast_len(target, real=False):
    """The least length of at least `target` that is quick: with prime factors up to 11, or 5 for real numbers.

    >>> np.scipy.fft.next_fast_len(1021)
    1024
    """
    return _core._next_fast_len(target, real)


def prev_fast_len(target, real=False):
    """The greatest length of at most `target` that is quick.

    >>> np.scipy.fft.prev_fast_len(1021)
    1008
    """
    return _core._prev_fast_len(target, real)
