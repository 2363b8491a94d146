"""Functions of NumPy's that a program calls by these names, in the Python that weft.jit compiles; see of_math.py."""

import numpy

CHECKED = (  # indices of these may be beyond the ends
    "component",
    "extract",
    "item_at",
    "place",
    "put",
    "put_along",
    "putmask",
    "ravel_multi_index",
    "set_at",
    "take_along",
)


def count_of(array):
    count = 0
    for part in array:
        if array.ndim == 1:
            count += 1 if part else 0
        else:
            count += count_of(part)
    return count


def fill_places(array, out, axis, k):
    for i in range(len(array)):
        if array.ndim == 1:
            if array[i]:
                out[axis, k] = i
                k += 1
        else:
            before = k
            k = fill_places(array[i], out, axis + 1, k)
            for j in range(before, k):
                out[axis, j] = i
    return k


def places_of(array):
    out = numpy.empty((array.ndim, count_of(array)), numpy.int64)
    fill_places(array, out, 0, 0)
    return out


def take_true(values, mask, out, k):
    """Each number is stored, and stays where it belongs: branches would be mispredicted."""
    for i in range(len(mask)):
        if mask.ndim > 1:
            k = take_true(values[i], mask[i], out, k)
        elif values.ndim > 1:
            if mask[i] and k < len(out):
                out[k, ...] = values[i, ...]
                k += 1
        else:
            if k >= len(out):
                break
            out[k] = values[i]
            k += 1 if mask[i] else 0
    return k


def put_true(target, mask, value):
    for i in range(len(mask)):
        if mask.ndim > 1:
            put_true(target[i], mask[i], value)
        elif mask[i]:
            target[i] = value


def flatnonzero(a):
    return places_of(numpy.ravel(a))[0]


def argwhere(a):
    values = numpy.asarray(a)
    if values.ndim == 0:
        return places_of(numpy.atleast_1d(values)).T[:, :0]
    return places_of(values).T


def isfortran(a):
    return a.flags.f_contiguous and not a.flags.c_contiguous


def extract(condition, arr):
    return numpy.ravel(arr)[numpy.nonzero(numpy.ravel(condition))[0]]


def add_into(values, out, start):
    if values.ndim == 1:
        total = start
        for k in range(len(values)):
            total = total + values[k]
            out[k] = total
    else:
        for i in range(len(values)):
            add_into(values[i], out[i], start)


def multiply_into(values, out, start):
    if values.ndim == 1:
        total = start
        for k in range(len(values)):
            total = total * values[k]
            out[k] = total
    else:
        for i in range(len(values)):
            multiply_into(values[i], out[i], start)


def array_equal(a1, a2, equal_nan=False):
    first = numpy.asarray(a1)
    second = numpy.asarray(a2)
    if first.ndim != second.ndim:
        return False
    if first.shape != second.shape:
        return False
    if equal_nan:
        return bool(numpy.all((first == second) | ((first != first) & (second != second))))
    return bool(numpy.all(first == second))


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    close = (abs(a - b) <= atol + rtol * abs(b)) & numpy.isfinite(b) | (a == b)
    return close | ((a != a) & (b != b)) if equal_nan else close


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(numpy.all(isclose(a, b, rtol, atol, equal_nan)))


def shape(a):
    return numpy.asarray(a).shape


def size(a):
    return numpy.asarray(a).size


def ndim(a):
    return numpy.asarray(a).ndim


def convolve_of(a, v, out, offset):
    for k in range(len(out)):
        n = k + offset
        total = out[k]
        for j in range(max(0, n - len(v) + 1), min(len(a), n + 1)):
            total += a[j] * v[n - j]
        out[k] = total


def sinc(x):
    y = numpy.pi * numpy.where(x == 0, 1.0e-20, x)
    return numpy.sin(y) / y


def ediff1d(ary, to_end=None, to_begin=None):
    flat = numpy.ravel(ary)
    steps = flat[1:] - flat[:-1]
    if to_begin is not None:
        steps = numpy.concatenate((numpy.ravel(numpy.atleast_1d(to_begin)).astype(flat.dtype), steps))
    if to_end is not None:
        steps = numpy.concatenate((steps, numpy.ravel(numpy.atleast_1d(to_end)).astype(flat.dtype)))
    return steps


def angle(z, deg=False):
    turned = numpy.arctan2(numpy.imag(z), numpy.real(z))
    return turned * (180 / numpy.pi) if deg else turned


def logspace(start, stop, num=50, base=10.0):
    return numpy.power(base, numpy.linspace(start, stop, num))


def geomspace(start, stop, num=50):
    if numpy.iscomplexobj(start) or numpy.iscomplexobj(stop):
        return geomspace_of(complex(start), complex(stop), num)
    return geomspace_of(float(start), float(stop), num)


def component(vectors, k):
    size = vectors.shape[vectors.ndim - 1]
    if vectors.ndim == 1:
        return vectors[k] if k < size else vectors[0] * 0
    if k < size:
        return vectors[..., k].copy()
    return numpy.zeros_like(vectors[..., 0])


def cross(a, b):
    size, other = a.shape[a.ndim - 1], b.shape[b.ndim - 1]
    if not ((size == 3 and (other == 3 or other == 2)) or (size == 2 and other == 3)):
        raise ValueError(
            "incompatible dimensions for cross product (the last dimensions are 3, or one of them is 2)"
        )
    x = component(a, 1) * component(b, 2) - component(a, 2) * component(b, 1)
    y = component(a, 2) * component(b, 0) - component(a, 0) * component(b, 2)
    z = component(a, 0) * component(b, 1) - component(a, 1) * component(b, 0)
    if a.ndim == 1 and b.ndim == 1:
        out = numpy.empty(3, (a[:1] * b[:1]).dtype)
        out[0] = x
        out[1] = y
        out[2] = z
        return out
    return numpy.stack((x, y, z), axis=-1).astype((numpy.ravel(a)[:1] * numpy.ravel(b)[:1]).dtype)


def select(condlist, choicelist, default=0):
    count = len(condlist)
    if count != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if count == 0:
        raise ValueError("select with an empty condition list is not possible")
    out = numpy.where(condlist[count - 1], choicelist[count - 1], default)
    for k in range(count - 2, -1, -1):
        out = numpy.where(condlist[k], choicelist[k], out)
    return out


def expect_places(kth, count):
    if numpy.asarray(kth).ndim > 1:
        raise ValueError("object too deep for desired array")
    if numpy.asarray(kth).dtype.kind not in "iub":
        raise TypeError("Partition index must be integer")
    if count == 0:
        return
    for given in numpy.ravel(kth):
        k = int(given)
        if k >= count or k < -count:
            raise ValueError(f"kth(={k}) out of bounds ({count})")


def partition(a, kth, axis=-1):
    rows = numpy.moveaxis(a, axis, -1)
    expect_places(kth, rows.shape[rows.ndim - 1])
    return numpy.sort(a, axis=axis)


def argpartition(a, kth, axis=-1):
    rows = numpy.moveaxis(a, axis, -1)
    expect_places(kth, rows.shape[rows.ndim - 1])
    return numpy.argsort(a, axis=axis)


def iscomplex(x):
    return numpy.imag(x) != 0


def isreal(x):
    return numpy.imag(x) == 0


def expect_order(x):
    if numpy.iscomplexobj(x):
        raise TypeError("This operation is not supported for complex values because it would be ambiguous.")


def isneginf(x, out=None):
    expect_order(x)
    return stored(x == -numpy.inf, out)


def isposinf(x, out=None):
    expect_order(x)
    return stored(x == numpy.inf, out)


def stored(result, out):
    if out is None:
        return result
    out[...] = result
    return out


def asarray_chkfinite(a, dtype=None):
    values = numpy.asarray(a) if dtype is None else numpy.asarray(a, dtype)
    if not numpy.all(numpy.isfinite(values)):
        raise ValueError("array must not contain infs or NaNs")
    return values


def place_of(given, count):
    k = given + count if given < 0 else given
    if k < 0 or k >= count:
        raise IndexError(f"index {given} is out of bounds for axis 0 with size {count}")
    return k


def take_along(values, indices, out):
    if values.ndim == 1:
        for k in range(len(out)):
            out[k] = values[place_of(int(indices[k]), len(values))]
    else:
        for i in range(len(out)):
            take_along(values[i], indices[i], out[i])


def put_along(target, indices, values):
    if target.ndim == 1:
        for k in range(len(indices)):
            target[place_of(int(indices[k]), len(target))] = values[k]
    else:
        for i in range(len(target)):
            put_along(target[i], indices[i], values[i])


def take_along_axis(arr, indices, axis=-1):
    if axis is None:
        return take_along_axis(numpy.ravel(arr), indices, 0)
    rows = numpy.moveaxis(arr, axis, -1)
    places = numpy.moveaxis(indices, axis, -1)
    outer = numpy.broadcast_shapes(rows.shape[:-1], places.shape[:-1])
    out = numpy.empty(
        numpy.moveaxis(numpy.broadcast_to(places, outer + places.shape[-1:]), -1, axis).shape, arr.dtype
    )
    take_along(
        numpy.broadcast_to(rows, outer + rows.shape[-1:]),
        numpy.broadcast_to(places, outer + places.shape[-1:]),
        numpy.moveaxis(out, axis, -1),
    )
    return out


def put_along_axis(arr, indices, values, axis):
    rows = numpy.moveaxis(arr, axis, -1)
    places = numpy.moveaxis(indices, axis, -1)
    outer = numpy.broadcast_shapes(rows.shape[:-1], places.shape[:-1])
    wanted = numpy.moveaxis(numpy.broadcast_to(places, outer + places.shape[-1:]), -1, axis).shape
    put_along(
        rows,
        numpy.broadcast_to(places, outer + places.shape[-1:]),
        numpy.moveaxis(numpy.broadcast_to(values, wanted), axis, -1),
    )


def diff_times(values, n):
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    steps = numpy.copy(values)
    for _ in range(n):
        steps = steps[..., 1:] - steps[..., :-1]
    return steps


def unwrap(p, discont=None, axis=-1, period=2 * numpy.pi):
    rows = numpy.moveaxis(p, axis, -1)
    least = period / 2 if discont is None else discont
    if isinstance(period, int) and rows.dtype.kind == "i":
        return numpy.copy(numpy.moveaxis(unwrap_whole(rows + 0, least, period), -1, axis))
    return numpy.copy(numpy.moveaxis(unwrap_floats(rows + 0.0, least, period), -1, axis))


def changes_times(values, n):
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    steps = numpy.copy(values)
    for _ in range(n):
        steps = steps[..., 1:] != steps[..., :-1]
    return steps


def rounded(a, decimals):
    shift = 10.0 ** abs(decimals)
    if decimals >= 0:
        return numpy.rint(a * shift) / shift
    return numpy.rint(a / shift) * shift


def geomspace_of(start, stop, num):
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    sign = numpy.sign(start)
    first = start / sign
    last = stop / sign
    out = numpy.power(10.0, numpy.linspace(numpy.log10(first), numpy.log10(last), num))
    if num > 0:
        out[0] = first
    if num > 1:
        out[num - 1] = last
    return out * sign


def unwrap_whole(values, least, period):
    half = period // 2
    steps = values[..., 1:] - values[..., :-1]
    turned = numpy.remainder(steps + half, period) - half
    if period % 2 == 0:
        turned = numpy.where((turned == -half) & (steps > 0), half, turned)
    out = numpy.copy(values)
    out[..., 1:] += numpy.cumsum(numpy.where(abs(steps) < least, 0, turned - steps), axis=-1)
    return out


def unwrap_floats(values, least, period):
    half = period / 2.0
    steps = values[..., 1:] - values[..., :-1]
    turned = numpy.remainder(steps + half, period) - half
    turned = numpy.where((turned == -half) & (steps > 0), half, turned)
    out = numpy.copy(values)
    out[..., 1:] += numpy.cumsum(numpy.where(abs(steps) < least, 0, turned - steps), axis=-1)
    return out


def item_at(a, k):
    if a.ndim == 0:
        return a[()]
    if a.ndim == 1:
        return a[k]
    rest = 1
    for size in a.shape[1:]:
        rest *= size
    return item_at(a[k // rest], k % rest)


def item(a, k=None):
    if k is None:
        if a.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return item_at(a, 0).item()
    place = k + a.size if k < 0 else k
    if place < 0 or place >= a.size:
        raise IndexError(f"index {k} is out of bounds for size {a.size}")
    return item_at(a, place).item()


def set_at(a, k, value):
    if a.ndim == 1:
        a[k] = value
    else:
        rest = 1
        for size in a.shape[1:]:
            rest *= size
        set_at(a[k // rest], k % rest, value)


def put(a, ind, v):
    places = numpy.copy(numpy.ravel(ind))
    values = numpy.copy(numpy.ravel(v))
    for j in range(len(places)):
        given = int(places[j])
        k = given + a.size if given < 0 else given
        if k < 0 or k >= a.size:
            raise IndexError(f"index {given} is out of bounds for axis 0 with size {a.size}")
        if len(values) > 0:
            set_at(a, k, values[j % len(values)])


def putmask(a, mask, values):
    chosen = numpy.ravel(mask)
    new = numpy.copy(numpy.ravel(values))  # which may be the array's own
    if len(chosen) != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    if len(new) > 0:
        for k in range(len(chosen)):
            if chosen[k]:
                set_at(a, k, new[k % len(new)])


def place(arr, mask, vals):
    chosen = numpy.ravel(mask)
    new = numpy.copy(numpy.ravel(vals))
    if len(chosen) != arr.size:
        raise ValueError("place: mask and data must be the same size")
    j = 0
    for k in range(len(chosen)):
        if chosen[k]:
            if len(new) == 0:
                raise ValueError("Cannot insert from an empty array!")
            set_at(arr, k, new[j % len(new)])
            j += 1


def copyto(dst, src, where=None):
    if where is None:
        dst[...] = src
    else:
        dst[...] = numpy.where(where, src, dst)


def compress(condition, a, axis=None):
    places = numpy.nonzero(numpy.ravel(condition))[0]
    if axis is None:
        return numpy.take(a, places)
    return numpy.take(a, places, axis=axis)


def fix(x):
    return numpy.trunc(x)


def vecdot(x1, x2):
    return numpy.sum(numpy.conj(x1) * x2, axis=-1)


def cumulative_sum(x, axis=None):
    if axis is None:
        if x.ndim != 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        return numpy.cumsum(x)
    return numpy.cumsum(x, axis=axis)


def cumulative_prod(x, axis=None):
    if axis is None:
        if x.ndim != 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        return numpy.cumprod(x)
    return numpy.cumprod(x, axis=axis)


def matrix_transpose(x):
    return numpy.swapaxes(x, -1, -2)


def diag_indices(n):
    return numpy.arange(n), numpy.arange(n)


def ravel_multi_index(multi_index, dims):
    if len(multi_index) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    place = multi_index[0] * 0
    for d in range(len(dims)):
        if numpy.any((numpy.asarray(multi_index[d]) < 0) | (numpy.asarray(multi_index[d]) >= dims[d])):
            raise ValueError("invalid entry in coordinates array")
        place = place * dims[d] + multi_index[d]
    return place


def tolist(a):
    if a.ndim == 1:
        return [x.item() for x in a]
    return [tolist(part) for part in a]
