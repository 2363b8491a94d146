"""Functions of NumPy's that a program calls by these names, in the Python that weft.jit compiles; see of_math.py."""

import numpy


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


def flatnonzero(a):
    return places_of(numpy.ravel(a))[0]


def argwhere(a):
    return numpy.copy(places_of(a).T)


def extract(condition, arr):
    return numpy.ravel(arr)[numpy.ravel(condition) != 0]


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


def bincount_of(x, minlength):
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    most = -1
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError("'list' argument must have no negative elements")
        most = max(most, int(x[i]))
    counts = numpy.zeros(max(most + 1, minlength), numpy.int64)
    for i in range(len(x)):
        counts[x[i]] += 1
    return counts


def bincount_with(x, weights, minlength):
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if len(weights) != len(x):
        raise ValueError("The weights and list don't have the same length.")
    most = -1
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError("'list' argument must have no negative elements")
        most = max(most, int(x[i]))
    sums = numpy.zeros(max(most + 1, minlength), numpy.float64)
    for i in range(len(x)):
        sums[x[i]] += weights[i]
    return sums


def unique_of(values):
    ordered = numpy.sort(numpy.ravel(values))
    count = 0
    for i in range(len(ordered)):
        if i == 0 or not (
            ordered[i] == ordered[i - 1] or (ordered[i] != ordered[i] and ordered[i - 1] != ordered[i - 1])
        ):
            ordered[count] = ordered[i]
            count += 1
    return numpy.copy(ordered[:count])


def unique_with(values):
    """The elements, the first place of each, the number of each element's, and how often each is there."""
    flat = numpy.ravel(values)
    order = numpy.argsort(flat)
    inverse = numpy.empty(len(flat), numpy.int64)
    count = 0
    for i in range(len(flat)):
        x = flat[order[i]]
        if i > 0:
            y = flat[order[i - 1]]
            if not (x == y or (x != x and y != y)):
                count += 1
        inverse[order[i]] = count
    if len(flat) > 0:
        count += 1
    found = numpy.empty(count, values.dtype)
    first = numpy.empty(count, numpy.int64)
    counts = numpy.zeros(count, numpy.int64)
    for i in range(len(flat) - 1, -1, -1):
        k = inverse[order[i]]
        first[k] = order[i]
        found[k] = flat[order[i]]
        counts[k] += 1
    return found, first, inverse, counts


def interp_of(x, xp, fp, out, left, right):
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    for k in range(len(x)):
        v = x[k]
        if len(xp) == 1:
            out[k] = left if v < xp[0] else (right if v > xp[0] else fp[0])
        elif v != v:
            out[k] = v
        elif v > xp[len(xp) - 1]:
            out[k] = right
        elif v < xp[0]:
            out[k] = left
        else:
            low = 0
            high = len(xp)
            while low < high:
                middle = (low + high) // 2
                if v >= xp[middle]:
                    low = middle + 1
                else:
                    high = middle
            j = low - 1
            if j >= len(xp) - 1:
                out[k] = fp[len(xp) - 1]
            elif xp[j] == v:
                out[k] = fp[j]
            else:
                slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j])
                y = slope * (v - xp[j]) + fp[j]
                if y != y:
                    y = slope * (v - xp[j + 1]) + fp[j + 1]
                    if y != y and fp[j] == fp[j + 1]:
                        y = fp[j]
                out[k] = y


def array_equal(a1, a2, equal_nan=False):
    if a1.ndim != a2.ndim:
        return False
    if a1.shape != a2.shape:
        return False
    if equal_nan:
        return bool(numpy.all((a1 == a2) | ((a1 != a1) & (a2 != a2))))
    return bool(numpy.all(a1 == a2))


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    close = (abs(a - b) <= atol + rtol * abs(b)) & numpy.isfinite(b) | (a == b)
    return close | ((a != a) & (b != b)) if equal_nan else close


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(numpy.all(isclose(a, b, rtol, atol, equal_nan)))


def shape(a):
    return a.shape


def size(a):
    return a.size


def ndim(a):
    return a.ndim


def convolve_of(a, v, out, offset):
    for k in range(len(out)):
        n = k + offset
        total = out[k]
        for j in range(max(0, n - len(v) + 1), min(len(a), n + 1)):
            total += a[j] * v[n - j]
        out[k] = total


def is_behind(a, b):  # in order, in which NaN is last
    return a > b or (a != a and b == b)


def digitize_of(x, bins, right):
    up = True
    down = True
    for i in range(1, len(bins)):
        if is_behind(bins[i - 1], bins[i]):
            up = False
        if is_behind(bins[i], bins[i - 1]):
            down = False
    if not up and not down:
        raise ValueError("bins must be monotonically increasing or decreasing")
    out = numpy.empty(len(x), numpy.int64)
    for k in range(len(x)):
        low = 0
        high = len(bins)
        v = x[k]
        while low < high:
            middle = (low + high) // 2
            if up:
                below = is_behind(v, bins[middle]) if right else not is_behind(bins[middle], v)
            else:
                below = not is_behind(v, bins[middle]) if right else is_behind(bins[middle], v)
            if below:
                low = middle + 1
            else:
                high = middle
        out[k] = low
    return out


def histogram_of(values, bins, low, high):
    if bins < 1:
        raise ValueError("`bins` must be positive")
    if low > high:
        raise ValueError("max must be larger than min in range parameter.")
    edges = numpy.linspace(low, high, bins + 1)
    counts = numpy.zeros(bins, numpy.int64)
    norm = bins / (high - low)
    for i in range(len(values)):
        v = float(values[i])
        if v >= low and v <= high:
            k = int((v - low) * norm)
            if k >= bins:
                k = bins - 1
            if v < edges[k]:
                k -= 1
            elif k + 1 < bins and v >= edges[k + 1]:
                k += 1
            counts[k] += 1
    return counts, edges


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


def average_with(a, weights):
    total = numpy.sum(weights)
    if total == 0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return numpy.sum(a * weights) / total


def fill_diagonal(a, val):
    for i in range(min(a.shape[0], a.shape[1])):
        a[i, i] = val


def middle_of(ordered):
    """The median of sorted numbers; one and a half of each, so that nothing overflows."""
    count = len(ordered)
    if count == 0:
        return numpy.float64(numpy.nan)
    last = ordered[count - 1]
    if last != last:
        return last
    if count % 2 == 1:
        return ordered[count // 2]
    return (ordered[count // 2 - 1] + ordered[count // 2]) / 2


def medians_into(values, out):
    if values.ndim == 1:
        out[()] = middle_of(numpy.sort(values))
    else:
        for i in range(len(values)):
            medians_into(values[i], out[i, ...])


def quantile_of(ordered, q):
    if not (q >= 0 and q <= 1):
        raise ValueError("Quantiles must be in the range [0, 1]")
    count = len(ordered)
    if count == 0:
        return numpy.float64(numpy.nan)
    last = ordered[count - 1]
    if last != last:
        return last
    place = q * (count - 1)
    below = int(numpy.floor(place))
    above = min(below + 1, count - 1)
    share = place - below
    low = ordered[below]
    high = ordered[above]
    step = high - low
    result = low + step * share
    if share >= 0.5:
        result = high - step * (1 - share)
    return result


def quantiles_of(ordered, q, out):
    for k in range(len(q)):
        out[k] = quantile_of(ordered, q[k])


def union1d(ar1, ar2):
    return unique_of(numpy.concatenate((numpy.ravel(ar1), numpy.ravel(ar2))))


def is_among(values, ordered):
    found = numpy.empty(len(values), numpy.bool)
    places = numpy.searchsorted(ordered, values)
    for i in range(len(values)):
        k = places[i]
        found[i] = k < len(ordered) and ordered[k] == values[i]
    return found


def intersect1d(ar1, ar2):
    first = unique_of(ar1)
    return first[is_among(first, unique_of(ar2))]


def setdiff1d(ar1, ar2):
    first = unique_of(ar1)
    return first[~is_among(first, unique_of(ar2))]


def setxor1d(ar1, ar2):
    first = unique_of(ar1)
    second = unique_of(ar2)
    return unique_of(numpy.concatenate((first[~is_among(first, second)], second[~is_among(second, first)])))


def sinc(x):
    y = numpy.pi * numpy.where(x == 0, 1.0e-20, x)
    return numpy.sin(y) / y


def trim_zeros(filt):
    first = 0
    last = len(filt)
    while first < last and filt[first] == 0:
        first += 1
    while last > first and filt[last - 1] == 0:
        last -= 1
    return filt[first:last]


def first_of(values):
    if len(values) == 0:
        raise ValueError("array of sample points is empty")
    return values[0]


def last_of(values):
    if len(values) == 0:
        raise ValueError("array of sample points is empty")
    return values[len(values) - 1]


def median_without_nan(values):
    ordered = numpy.sort(values)
    count = len(ordered)
    while count > 0 and ordered[count - 1] != ordered[count - 1]:
        count -= 1
    return middle_of(ordered[:count])


def histogram_over_all(values, bins):
    low = 0.0
    high = 1.0
    if len(values) > 0:
        low = float(numpy.min(values))
        high = float(numpy.max(values))
    if not (low - low == 0.0 and high - high == 0.0):
        raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
    if low == high:
        low -= 0.5
        high += 0.5
    return histogram_of(values, bins, low, high)


def histogram_in(values, edges):
    for i in range(1, len(edges)):
        if edges[i] < edges[i - 1]:
            raise ValueError("`bins` must increase monotonically, when an array")
    ordered = numpy.sort(values)
    counts = numpy.empty(len(edges) - 1, numpy.int64)
    before = numpy.searchsorted(ordered, edges[:-1])
    last = numpy.searchsorted(ordered, edges[-1], side="right")
    for i in range(len(counts)):
        counts[i] = (before[i + 1] if i + 1 < len(counts) else last) - before[i]
    return counts


def isin(element, test_elements, assume_unique=False, invert=False):
    found = is_among(numpy.ravel(element), numpy.sort(numpy.ravel(test_elements)))
    if invert:
        found = ~found
    return numpy.reshape(found, element.shape)


def append(arr, values):
    return numpy.concatenate((numpy.ravel(arr), numpy.ravel(values)))


def ediff1d(ary, to_end=None, to_begin=None):
    flat = numpy.ravel(ary)
    steps = flat[1:] - flat[:-1]
    if to_begin is not None:
        steps = numpy.concatenate((numpy.ravel(numpy.atleast_1d(to_begin)).astype(flat.dtype), steps))
    if to_end is not None:
        steps = numpy.concatenate((steps, numpy.ravel(numpy.atleast_1d(to_end)).astype(flat.dtype)))
    return steps


def trapezoid(y, x=None, dx=1.0):
    if x is None:
        return numpy.sum(dx * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
    return numpy.sum((x[..., 1:] - x[..., :-1]) * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)


def rot90(m, k=1):
    turns = k % 4
    if turns == 0:
        return numpy.copy(m)
    if turns == 1:
        return numpy.copy(numpy.swapaxes(numpy.flip(m, 1), 0, 1))
    if turns == 2:
        return numpy.copy(numpy.flip(numpy.flip(m, 0), 1))
    return numpy.copy(numpy.flip(numpy.swapaxes(m, 0, 1), 1))


def kron(a, b):
    if a.ndim == 1 and b.ndim == 1:
        return numpy.ravel(numpy.outer(a, b))
    left = numpy.atleast_2d(a)
    right = numpy.atleast_2d(b)
    parts = numpy.expand_dims(numpy.expand_dims(left, 1), 3) * numpy.expand_dims(right, 1)
    return numpy.reshape(parts, (left.shape[0] * right.shape[0], left.shape[1] * right.shape[1]))


def vander(x, N=None, increasing=False):
    count = len(x) if N is None else N
    out = numpy.empty((len(x), count), (x[:0] + numpy.zeros(0, numpy.int64)).dtype)
    for i in range(len(x)):
        power = out[0, 0] * 0 + 1 if count > 0 else out.dtype.type(1)
        for j in range(count):
            out[i, j if increasing else count - 1 - j] = power
            power = power * x[i]
    return out


def delete(arr, obj):
    flat = numpy.ravel(arr)
    stays = numpy.ones(len(flat), numpy.bool)
    for given in numpy.atleast_1d(obj):
        k = given + len(flat) if given < 0 else given
        if k < 0 or k >= len(flat):
            raise IndexError(f"index {given} is out of bounds for axis 0 with size {len(flat)}")
        stays[k] = False
    return flat[stays]


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


def angle(z, deg=False):
    turned = numpy.arctan2(numpy.imag(z), numpy.real(z))
    return turned * (180 / numpy.pi) if deg else turned


def rows_of(m, rowvar):
    """Variables as rows of float64 or complex128."""
    wide = numpy.atleast_2d(m) + numpy.zeros(1)
    if not rowvar and wide.shape[0] != 1:
        return numpy.copy(wide.T)
    return wide


def covariance(rows, bias, ddof):
    off = rows - numpy.mean(rows, axis=1, keepdims=True)
    count = rows.shape[1] - (ddof if ddof >= 0 else (0 if bias else 1))
    return numpy.dot(off, numpy.conj(off).T) / max(count, 0)


def cov(m, y=None, rowvar=True, bias=False, ddof=-1):
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    rows = rows_of(m, rowvar)
    if y is not None:
        rows = numpy.concatenate((rows, rows_of(y, rowvar)))
    found = covariance(rows, bias, ddof)
    if y is None and m.ndim == 1:
        return found[0, 0]
    return found


def corrcoef(x, y=None, rowvar=True):
    rows = rows_of(x, rowvar)
    if y is not None:
        rows = numpy.concatenate((rows, rows_of(y, rowvar)))
    c = covariance(rows, False, -1)
    if y is None and x.ndim == 1:
        return c[0, 0] / c[0, 0]
    d = numpy.sqrt(numpy.real(numpy.diag(c)))
    return within_one(c / numpy.expand_dims(d, 1) / d)


def within_one(c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = bounded(c[i, j])
    return c


def bounded(x):
    if numpy.iscomplexobj(x):
        return complex(min(max(x.real, -1.0), 1.0), min(max(x.imag, -1.0), 1.0))
    return -1.0 if x < -1 else (1.0 if x > 1 else x)


def tri(N, M=None, k=0):
    rows = max(N, 0)
    columns = rows if M is None else max(M, 0)
    out = numpy.zeros((rows, columns))
    for i in range(rows):
        out[i, : max(i + k + 1, 0)] = 1
    return out


def logspace(start, stop, num=50, base=10.0):
    return numpy.power(base, numpy.linspace(start, stop, num))


def geomspace(start, stop, num=50):
    if numpy.iscomplexobj(start) or numpy.iscomplexobj(stop):
        raise TypeError("geomspace() of complex numbers is not compiled: call it outside")
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


def diagflat(v, k=0):
    return numpy.diag(numpy.ravel(v), k)


def component(vectors, k):
    size = vectors.shape[vectors.ndim - 1]
    if vectors.ndim == 1:
        return vectors[k] if k < size else vectors[0] * 0
    if k < size:
        return numpy.copy(vectors[..., k])
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


def resize(a, new_shape):
    flat = numpy.ravel(a)
    out = numpy.zeros(new_shape, a.dtype)
    values = numpy.zeros(out.size, a.dtype)
    if len(flat) > 0:
        for i in range(len(values)):
            values[i] = flat[i % len(flat)]
    return numpy.reshape(values, out.shape)


def atleast_3d(ary):
    if ary.ndim == 1:
        return numpy.expand_dims(numpy.expand_dims(ary, 0), 2)
    if ary.ndim == 2:
        return numpy.expand_dims(ary, 2)
    return ary


def expect_places(kth, count):
    if count == 0:
        return
    for k in numpy.atleast_1d(kth):
        if k >= count or k < -count:
            raise ValueError(f"kth(={k}) out of bounds ({count})")


def partition(a, kth):
    expect_places(kth, a.shape[a.ndim - 1])
    return numpy.sort(a)


def argpartition(a, kth):
    expect_places(kth, a.shape[a.ndim - 1])
    return numpy.argsort(a)


def iscomplex(x):
    return numpy.imag(x) != 0


def isreal(x):
    return numpy.imag(x) == 0


def expect_order(x):
    if numpy.iscomplexobj(x):
        raise TypeError("This operation is not supported for complex values because it would be ambiguous.")


def isneginf(x):
    expect_order(x)
    return x == -numpy.inf


def isposinf(x):
    expect_order(x)
    return x == numpy.inf
