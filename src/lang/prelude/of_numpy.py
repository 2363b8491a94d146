"""Functions of NumPy's for weft.jit, in the Python that it compiles; see of_math.py."""

import numpy


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


def precedes(x, y):  # NaN comes last
    return bool(x < y) or bool(y != y and x == x)


def precedes_complex(x, y):
    if x.real < y.real:
        return bool(x.imag == x.imag) or bool(y.imag != y.imag)
    if x.real > y.real:
        return bool(y.imag != y.imag) and bool(x.imag == x.imag)
    if x.real == y.real or (x.real != x.real and y.real != y.real):
        return precedes(x.imag, y.imag)
    return bool(y.real != y.real)


def merge_sort(values, before):
    count = len(values)
    width = 16
    for start in range(0, count, width):
        for k in range(start + 1, min(start + width, count)):
            x = values[k]
            at = k
            while at > start and before(x, values[at - 1]):
                values[at] = values[at - 1]
                at -= 1
            values[at] = x
    beside = numpy.empty_like(values)
    while width < count:
        for start in range(0, count, 2 * width):
            left = start
            middle = min(start + width, count)
            right = middle
            stop = min(start + 2 * width, count)
            for k in range(start, stop):
                if left < middle and (right >= stop or not before(values[right], values[left])):
                    beside[k] = values[left]
                    left += 1
                else:
                    beside[k] = values[right]
                    right += 1
        for k in range(count):
            values[k] = beside[k]
        width *= 2


def sort(values):
    merge_sort(values, precedes)


def sort_complex(values):
    merge_sort(values, precedes_complex)


def order_of(values, before):
    order = numpy.empty(len(values), numpy.int64)
    for k in range(len(values)):
        order[k] = k
    merge_sort(order, lambda i, j: before(values[i], values[j]))
    return order


def argsort(values):
    return order_of(values, precedes)


def argsort_complex(values):
    return order_of(values, precedes_complex)


def fill_evenly(start, stop, values):
    count = len(values)
    distance = stop - start
    parts = count - 1
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
    values[parts] = stop


def fill_diagonal(values, k):
    for i in range(values.shape[0]):
        j = i + k
        if j >= 0 and j < values.shape[1]:
            values[i, j] = 1


def axis_of(axis, rank):
    if axis < -rank or axis >= rank:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {rank}")
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
