"""NumPy's functions that join arrays and take them apart, in the Python that weft.jit compiles; see of_math.py."""

import numpy

CHECKED = ("insert", "put_at", "staying")  # indices of these may be beyond the ends


def put_repeats(values, repeats, out):
    k = 0
    for i in range(len(values)):
        for _ in range(repeats):
            out[k] = values[i]
            k += 1


def put_each_repeats(values, repeats, out):
    k = 0
    for i in range(len(values)):
        for _ in range(repeats[i]):
            out[k] = values[i]
            k += 1


def repeated(values, repeats):
    if repeats < 0:
        raise ValueError("repeats may not contain negative values.")
    out = numpy.empty((len(values) * repeats,) + values.shape[1:], values.dtype)
    put_repeats(values, repeats, out)
    return out


def repeated_each(values, repeats):
    if len(repeats) != len(values) and len(repeats) != 1:
        raise ValueError(
            f"operands could not be broadcast together with shape ({len(values)},) ({len(repeats)},)"
        )
    total = 0
    for i in range(len(repeats)):
        if repeats[i] < 0:
            raise ValueError("repeats may not contain negative values.")
        total += int(repeats[i])
    if len(repeats) == 1:
        return repeated(values, int(repeats[0]))
    out = numpy.empty((total,) + values.shape[1:], values.dtype)
    put_each_repeats(values, repeats, out)
    return out


def fill_triangle(source, out, k, lower):
    if source.ndim > 2:
        for i in range(len(source)):
            fill_triangle(source[i], out[i], k, lower)
    else:
        for i in range(source.shape[0]):
            for j in range(source.shape[1]):
                if (j <= i + k) == lower or j == i + k:
                    out[i, j] = source[i, j]
                else:
                    out[i, j] = 0


def trace(a, offset=0):
    return numpy.sum(numpy.diag(a, offset))


def diagonal(a, offset=0):
    return numpy.diag(a, offset)


def roll_of(values, shift, out):
    count = len(values)
    if count == 0:
        return
    by = shift % count
    for i in range(count):
        k = i + by
        out[k if k < count else k - count] = values[i]


def padded_into(values, out, before, mode, low, high):
    """What lies around `values` along the first axis, by the numbers of arrays/padding.cpp."""
    count = len(values)
    behind = before + count
    out[before:behind] = values
    if mode == 0:
        out[:before] = low
        out[behind:] = high
    elif mode > 1:
        if count == 0 and len(out) > 0:
            raise ValueError("can't extend empty axis 0 using modes other than 'constant' or 'empty'")
        for i in range(before):
            out[i, ...] = values[place_in(i - before, count, mode), ...]
        for i in range(behind, len(out)):
            out[i, ...] = values[place_in(i - before, count, mode), ...]


def place_in(place, count, mode):
    if mode == 2 or count == 1:
        return min(max(place, 0), count - 1)
    if mode == 3:
        return place % count
    if mode == 4:
        place %= 2 * count - 2
        return place if place < count else 2 * count - 2 - place
    place %= 2 * count
    return place if place < count else 2 * count - 1 - place


def fill_diagonal(a, val, wrap=False):
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    values = numpy.ravel(val)
    if a.ndim == 2:
        rows, columns = a.shape
        for k in range(rows * columns if wrap else min(rows * columns, columns * columns)):
            place = k * (columns + 1)
            if place >= rows * columns or (not wrap and place >= columns * columns):
                break
            a[place // columns, place % columns] = values[k % len(values)]
        return
    for size in a.shape:
        if size != a.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
    for k in range(a.shape[0]):
        put_at(a, k, values[k % len(values)])


def trim_zeros(filt, trim=None):
    first = 0
    last = len(filt)
    if trim is None or "f" in trim or "F" in trim:
        while first < last and not filt[first]:
            first += 1
    if trim is None or "b" in trim or "B" in trim:
        while last > first and not filt[last - 1]:
            last -= 1
    return filt[first:last]


def append(arr, values, axis=None):
    if axis is None:
        return numpy.concatenate((numpy.ravel(arr), numpy.ravel(values)))
    return numpy.concatenate((arr, values), axis=axis)


def rot90(m, k=1):
    turns = k % 4
    if turns == 0:
        return m
    if turns == 1:
        return numpy.swapaxes(numpy.flip(m, 1), 0, 1)
    if turns == 2:
        return numpy.flip(numpy.flip(m, 0), 1)
    return numpy.flip(numpy.swapaxes(m, 0, 1), 1)


def kron(a, b):
    first = numpy.asarray(a)
    second = numpy.asarray(b)
    if first.ndim < 2 and second.ndim < 2:
        return numpy.reshape(numpy.outer(first, second), product_shape(first.shape, second.shape))
    left = numpy.atleast_2d(first)
    right = numpy.atleast_2d(second)
    parts = numpy.expand_dims(numpy.expand_dims(left, 1), 3) * numpy.expand_dims(right, 1)
    return numpy.reshape(parts, (left.shape[0] * right.shape[0], left.shape[1] * right.shape[1]))


def vander(x, N=None, increasing=False):
    count = len(x) if N is None else N
    out = numpy.empty((len(x), count), (x[:0] + numpy.zeros(0, numpy.int64)).dtype)
    for i in range(len(x)):
        power = out.dtype.type(1)
        for j in range(count):
            out[i, j if increasing else count - 1 - j] = power
            power = power * x[i]
    return out


def delete(arr, obj, axis=None):
    if axis is None:
        flat = numpy.ravel(arr)
        return flat[staying(obj, len(flat))]
    rows = numpy.moveaxis(arr, axis, 0)
    return numpy.moveaxis(rows[staying(obj, len(rows))], 0, axis).copy()


def insert(arr, obj, values):
    flat = numpy.ravel(arr)
    places = numpy.atleast_1d(obj)
    new = numpy.ravel(numpy.atleast_1d(values)).astype(flat.dtype)
    if len(places) == 1:
        given = places[0]
        k = given + len(flat) if given < 0 else given
        if k < 0 or k > len(flat):
            raise IndexError(f"index {given} is out of bounds for axis 0 with size {len(flat)}")
        return numpy.concatenate((flat[:k], new, flat[k:]))
    if len(new) != 1 and len(new) != len(places):
        raise ValueError(
            f"shape mismatch: value array of shape ({len(new)},) could not be broadcast to indexing result of "
            f"shape ({len(places)},)"
        )
    before = numpy.zeros(len(flat) + 1, numpy.int64)
    for given in places:
        k = given + len(flat) if given < 0 else given
        if k < 0 or k > len(flat):
            raise IndexError(f"index {given} is out of bounds for axis 0 with size {len(flat)}")
        before[k] += 1
    starts = numpy.empty(len(flat) + 1, numpy.int64)
    place = 0
    out = numpy.empty(len(flat) + len(places), flat.dtype)
    for k in range(len(flat) + 1):
        starts[k] = place
        place += before[k]
        if k < len(flat):
            out[place] = flat[k]
            place += 1
    for j in range(len(places)):
        k = places[j] + len(flat) if places[j] < 0 else places[j]
        out[starts[k]] = new[j if len(new) > 1 else 0]
        starts[k] += 1
    return out


def tri(N, M=None, k=0):
    rows = max(N, 0)
    columns = rows if M is None else max(M, 0)
    out = numpy.zeros((rows, columns))
    for i in range(rows):
        out[i, : max(i + k + 1, 0)] = 1
    return out


def diagflat(v, k=0):
    return numpy.diag(numpy.ravel(v), k)


def count_along(part, axis):
    for i in range(len(part)):
        if axis == 0:
            part[i, ...] = i
        elif part.ndim > 1:
            count_along(part[i], axis - 1)


def indices(dimensions):
    out = numpy.empty((len(dimensions), *dimensions), numpy.int64)
    for d in range(len(dimensions)):
        count_along(out[d], d)
    return out


def resize(a, new_shape):
    for size in numpy.atleast_1d(new_shape):
        if size < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
    flat = numpy.ravel(a)
    out = numpy.zeros(new_shape, flat.dtype)
    values = numpy.zeros(out.size, flat.dtype)
    if len(flat) > 0:
        for i in range(len(values)):
            values[i] = flat[i % len(flat)]
    return numpy.reshape(values, out.shape)


def staying(obj, count):
    """Which of so many elements delete() leaves."""
    stays = numpy.ones(count, numpy.bool)
    if isinstance(obj, slice):
        stays[obj] = False
        return stays
    places = numpy.atleast_1d(obj)
    if places.ndim > 1:
        raise ValueError("the places that delete() takes have one dimension in a compiled function")
    if places.dtype == numpy.bool:
        if len(places) != count:
            raise ValueError(
                f"boolean array argument obj to delete must be one dimensional and match the axis length of {count}"
            )
        stays[places] = False
        return stays
    if places.dtype.kind not in "iu" and len(places) > 0:
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    for each in places:
        given = int(each)
        k = given + count if given < 0 else given
        if k < 0 or k >= count:
            raise IndexError(f"index {given} is out of bounds for axis 0 with size {count}")
        stays[k] = False
    return stays


def parts_at(rows, places, axis):
    """Views of what is between places along the first axis, which goes to `axis`."""
    parts = []
    begin = 0
    for place in places:
        parts.append(numpy.moveaxis(rows[begin:place], 0, axis))
        begin = int(place)
    parts.append(numpy.moveaxis(rows[begin:], 0, axis))
    return parts


def even_places(count, sections):
    """Where so many sections begin, behind the first; earlier ones have one element more."""
    if sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    places = numpy.empty(sections - 1, numpy.int64)
    place = 0
    for k in range(sections - 1):
        place += count // sections + (1 if k < count % sections else 0)
        places[k] = place
    return places


def array_split(ary, indices_or_sections, axis=0):
    rows = numpy.moveaxis(ary, axis, 0)
    if isinstance(indices_or_sections, int):
        return parts_at(rows, even_places(len(rows), indices_or_sections), axis)
    return parts_at(rows, indices_or_sections, axis)


def split(ary, indices_or_sections, axis=0):
    if isinstance(indices_or_sections, int):
        if indices_or_sections == 0:
            raise ZeroDivisionError("integer modulo by zero")
        if ary.shape[axis] % indices_or_sections != 0:
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def vsplit(ary, indices_or_sections):
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def hsplit(ary, indices_or_sections):
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def dsplit(ary, indices_or_sections):
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def triangle(n, m, k, lower):
    columns = n if m is None else m
    return numpy.nonzero((numpy.tri(n, columns, k if lower else k - 1) != 0) == lower)


def tril_indices(n, k=0, m=None):
    return triangle(n, m, k, True)


def triu_indices(n, k=0, m=None):
    return triangle(n, m, k, False)


def tril_indices_from(arr, k=0):
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return triangle(arr.shape[0], arr.shape[1], k, True)


def triu_indices_from(arr, k=0):
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return triangle(arr.shape[0], arr.shape[1], k, False)


def asfortranarray(a):
    values = numpy.atleast_1d(a)
    return values if values.flags.f_contiguous else values.T.copy().T


def reshaped_view(shape, strides, sizes):
    """Whether there is a view with other sizes, then these and its strides, by NumPy's rule."""
    count = len(sizes)
    out = numpy.zeros(1 + 2 * count, numpy.int64)
    total = 1
    for size in shape:
        total *= size
    known = 1
    missing = 0
    for size in sizes:
        if size < -1:
            return out
        if size == -1:
            missing += 1
        else:
            known *= size
    if total == 0 or missing > 1 or known == 0 or total % known != 0 or (missing == 0 and total != known):
        return out
    for k in range(count):
        out[1 + k] = total // known if sizes[k] == -1 else sizes[k]
    old = numpy.empty((2, len(shape)), numpy.int64)
    rank = 0
    for d in range(len(shape)):
        if shape[d] != 1:
            old[0, rank] = shape[d]
            old[1, rank] = strides[d]
            rank += 1
    given = out[1 : 1 + count]
    steps = out[1 + count :]
    first = 0
    place = 0
    while first < rank and place < count:
        behind = first + 1
        after = place + 1
        elements = given[place]
        others = old[0, first]
        while elements != others:
            if elements < others:
                elements *= given[after]
                after += 1
            else:
                others *= old[0, behind]
                behind += 1
        for d in range(first, behind - 1):
            if old[1, d] != old[0, d + 1] * old[1, d + 1]:
                return out
        steps[after - 1] = old[1, behind - 1]
        for k in range(after - 1, place, -1):
            steps[k - 1] = steps[k] * given[k]
        first = behind
        place = after
    for k in range(place, count):
        steps[k] = steps[place - 1] if place > 0 else strides[len(shape) - 1]
    out[0] = 1
    return out


def put_at(a, k, value):
    if a.ndim == 1:
        a[k] = value
    else:
        put_at(a[k], k, value)


def product_shape(first, second):
    if len(first) == 0:
        return second
    if len(second) == 0:
        return first
    return (first[0] * second[0],)
