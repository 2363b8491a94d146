"""Functions of NumPy's for weft.jit, in the Python that it compiles; see of_math.py."""

import numpy

CHECKED = ()


def arange_of_integers(start, stop, step):
    count = max(-((start - stop) // step), 0)
    values = numpy.empty(count, numpy.int64)
    for i in range(count):
        values[i] = start + i * step
    return values


def arange_of_floats(start, stop, step):
    length = (stop - start) / step
    if not length < 9.0e15:
        raise ValueError("Maximum allowed size exceeded")
    count = max(int(numpy.ceil(length)), 0)
    values = numpy.empty(count, numpy.float64)
    distance = (start + step) - start
    for i in range(count):
        values[i] = start + i * distance
    return values


def arange_as(start, stop, step, dtype):
    if step == 0:
        raise ZeroDivisionError("division by zero")
    length = (stop - start) / step
    if not length < 9.0e15:
        raise ValueError("Maximum allowed size exceeded")
    values = numpy.empty(max(int(numpy.ceil(length)), 0), dtype)
    if len(values) > 0:
        values[0] = start
    if len(values) > 1:
        values[1] = start + step
        distance = values[1] - values[0]
        for i in range(2, len(values)):
            values[i] = values[0] + i * distance
    return values


def arange_of_complex(start, stop, step, dtype):
    length = (stop - start) / step
    least = min(length.real, length.imag)
    if not max(length.real, length.imag) < 9.0e15:
        raise ValueError("Maximum allowed size exceeded")
    values = numpy.empty(max(int(numpy.ceil(least)), 0), dtype)
    if len(values) > 0:
        values[0] = start
    if len(values) > 1:
        values[1] = start + step
        first = values[0]
        distance = values[1] - first
        for i in range(2, len(values)):
            values[i] = complex(first.real + i * distance.real, first.imag + i * distance.imag)
    return values


def step_evenly(start, stop, values, endpoint):
    parts = len(values) - 1 if endpoint else len(values)
    return (stop - start) / parts if parts > 0 else (stop - start) * numpy.nan


def fill_evenly(start, stop, values, endpoint):
    count = len(values)
    distance = stop - start
    parts = count - 1 if endpoint else count
    if parts <= 0:
        if count == 1:
            values[0] = start
        return
    step = distance / parts
    if step == 0:
        for k in range(count):
            values[k] = k / parts * distance + start
    else:
        for k in range(count):
            values[k] = k * step + start
    if endpoint:
        values[parts] = stop


def fill_diagonal(values, k):
    for i in range(values.shape[0]):
        j = i + k
        if j >= 0 and j < values.shape[1]:
            values[i, j] = 1


def axis_of(axis, rank, parameter):
    if axis < -rank or axis >= rank:
        raise numpy.exceptions.AxisError(
            f"{parameter}axis {axis} is out of bounds for array of dimension {rank}"
        )
    return axis + rank if axis < 0 else axis


def expect_shape(first, shape, number, axis):
    if first != shape:
        raise ValueError("all input arrays must have the same shape")


def expect_shape_beside(first, shape, number, axis):
    for d in range(len(shape)):
        if d != axis and first[d] != shape[d]:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match exactly, but along "
                f"dimension {d}, the array at index 0 has size {first[d]} and the array at index {number} has size "
                f"{shape[d]}"
            )


def length_of_diagonal(shape, k):
    rows, columns = shape
    if k >= 0:
        return max(min(rows, columns - k), 0)
    return max(min(rows + k, columns), 0)


def put_on_diagonal(matrix, values, k):
    right = max(k, 0)
    down = max(-k, 0)
    for i in range(len(values)):
        matrix[i + down, i + right] = values[i]
