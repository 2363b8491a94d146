"""Axes and shapes, as every function with an `axis` or with operands that broadcast reads them."""

import math
from operator import index as _index

from weft._core import asanyarray
from weft.exceptions import AxisError


def extents(shape):
    """A shape as a tuple of integers; it may be one integer, or what is like one."""
    try:
        return (_index(shape),)
    except TypeError:
        return tuple(map(_index, shape))


def normalize_axes(axes, ndim, name):
    if type(axes) is int and -ndim <= axes < ndim:
        return [axes % ndim]
    axes = [axes] if hasattr(axes, "__index__") else list(axes)
    result = []
    for axis in axes:
        axis = _index(axis)
        if not -ndim <= axis < ndim:
            raise AxisError(axis, ndim, name)
        result.append(axis % ndim)
    if len(set(result)) != len(result):
        raise ValueError("repeated axis" if name is None else f"repeated axis in `{name}` argument")
    return result


def moveaxis(a, source, destination):
    """A view with axes moved to other places; the others keep their order."""
    a = asanyarray(a)
    source = normalize_axes(source, a.ndim, "source")
    destination = normalize_axes(destination, a.ndim, "destination")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [axis for axis in range(a.ndim) if axis not in source]
    for target, axis in sorted(zip(destination, source)):
        order.insert(target, axis)
    return a.transpose(order)


def broadcast_shapes(*args):
    """The shape that arrays of these shapes broadcast to."""
    shapes = [(shape,) if hasattr(shape, "__index__") else tuple(shape) for shape in args]
    ndim = max(map(len, shapes), default=0)
    result = []
    for axis in range(ndim):
        extent = first = None  # of the axis, and the first argument that has it
        for at, shape in enumerate(shapes):
            own = shape[axis - ndim] if ndim - axis <= len(shape) else 1
            if own == 1 or own == extent:
                continue
            if extent is not None:
                raise ValueError(
                    "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between "
                    f"arg {first} with shape {shapes[first]} and arg {at} with shape {shape}."
                )
            extent, first = own, at
        result.append(1 if extent is None else extent)
    if math.prod(extent for extent in result if extent != 0) >= 2**63:
        raise ValueError("broadcast dimensions too large.")
    return tuple(result)
