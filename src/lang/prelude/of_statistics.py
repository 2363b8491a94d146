"""NumPy's functions that count, bin, interpolate and average, in the Python that weft.jit compiles; see of_math.py."""

import numpy

CHECKED = ("bincount_of", "bincount_with", "histogram_of")  # indices of these may be beyond the ends


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


def interp_of(x, xp, fp, out, left, right):
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    last = len(xp) - 1
    j = 0
    for k in range(len(x)):
        v = x[k]
        if len(xp) == 1:
            out[k] = left if v < xp[0] else (right if v > xp[0] else fp[0])
        elif v != v:
            out[k] = v
        elif v > xp[last]:
            j = last
            out[k] = right
        elif v < xp[0]:
            j = 0
            out[k] = left
        else:
            j = piece_of(v, xp, j)
            if j < 0:
                out[k] = left
            elif j >= last:
                out[k] = fp[last]
            elif xp[j] == v:
                out[k] = fp[j]
            else:
                out[k] = between(v, xp[j], xp[j + 1], fp[j], fp[j + 1])


def digitize_of(x, bins, right):
    first = 0
    last = len(bins) - 1
    while first < last and bins[first] == bins[first + 1]:
        first += 1
    up = first >= last or bins[first] < bins[first + 1]
    for i in range(first, last):
        if bins[i] > bins[i + 1] if up else bins[i] < bins[i + 1]:
            raise ValueError("bins must be monotonically increasing or decreasing")
    if up and right:
        return numpy.searchsorted(bins, x, side="left")
    if up:
        return numpy.searchsorted(bins, x, side="right")
    if right:
        return last + 1 - numpy.searchsorted(bins[::-1], x, side="left")
    return last + 1 - numpy.searchsorted(bins[::-1], x, side="right")


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


def average_with(a, weights):
    total = numpy.sum(weights)
    if total == 0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return numpy.sum(a * weights) / total


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


def quantiles_along(ordered, q, out):
    """Of each row, for each number of `q`, which is the first axis of `out`."""
    if ordered.ndim == 1:
        for k in range(len(q)):
            out[k] = quantile_of(ordered, q[k])
    else:
        for i in range(len(ordered)):
            quantiles_along(ordered[i], q, out[:, i, ...])


def quantiles_of_numbers(ordered, q, out):
    if ordered.ndim == 1:
        quantiles_along(without_nan_behind(ordered), q, out)
    else:
        for i in range(len(ordered)):
            quantiles_of_numbers(ordered[i], q, out[:, i, ...])


def without_nan_behind(ordered):
    count = len(ordered)
    while count > 0 and ordered[count - 1] != ordered[count - 1]:
        count -= 1
    return ordered[:count]


def first_of(values):
    if len(values) == 0:
        raise ValueError("array of sample points is empty")
    return values[0]


def last_of(values):
    if len(values) == 0:
        raise ValueError("array of sample points is empty")
    return values[len(values) - 1]


def median_without_nan(values):
    return middle_of(without_nan_behind(numpy.sort(values)))


def medians_without_nan(values, out):
    if values.ndim == 1:
        out[()] = median_without_nan(values)
    else:
        for i in range(len(values)):
            medians_without_nan(values[i], out[i, ...])


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


def trapezoid(y, x=None, dx=1.0, axis=-1):
    values = numpy.moveaxis(y, axis, -1)
    if x is None:
        return numpy.sum(dx * (values[..., 1:] + values[..., :-1]) / 2.0, axis=-1)
    if x.ndim == 1:
        return numpy.sum((x[1:] - x[:-1]) * (values[..., 1:] + values[..., :-1]) / 2.0, axis=-1)
    places = numpy.moveaxis(x, axis, -1)
    return numpy.sum(
        (places[..., 1:] - places[..., :-1]) * (values[..., 1:] + values[..., :-1]) / 2.0, axis=-1
    )


def rows_of(m, rowvar):
    """Variables as rows of float64 or complex128."""
    wide = numpy.atleast_2d(numpy.asarray(m)) + numpy.zeros(1)
    if not rowvar and wide.shape[0] != 1:
        return numpy.copy(wide.T)
    return wide


def covariance(rows, bias, ddof):
    off = rows - numpy.mean(rows, axis=1, keepdims=True)
    count = rows.shape[1] - ((0 if bias else 1) if ddof is None else ddof)
    return numpy.dot(off, numpy.conj(off).T) * (1.0 / count if count > 0 else numpy.inf)


def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    if numpy.asarray(m).ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    rows = rows_of(m, rowvar)
    if y is not None:
        if numpy.asarray(y).ndim > 2:
            raise ValueError("y has more than 2 dimensions")
        rows = numpy.concatenate((rows, rows_of(y, rowvar)))
    found = covariance(rows, bias, ddof)
    if y is None and numpy.asarray(m).ndim < 2:
        return found[0, 0]
    return found


def corrcoef(x, y=None, rowvar=True):
    rows = rows_of(x, rowvar)
    if y is not None:
        rows = numpy.concatenate((rows, rows_of(y, rowvar)))
    c = covariance(rows, False, None)
    if y is None and numpy.asarray(x).ndim < 2:
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


def piece_of(v, xp, guess):
    """The last place whose sample point is not behind v, which the first one is not: first near to `guess`."""
    low = 0
    high = len(xp)
    if high <= 4:
        k = 1
        while k < high and v >= xp[k]:
            k += 1
        return k - 1
    guess = max(min(guess, high - 3), 1)
    if v < xp[guess]:
        if not v < xp[guess - 1]:
            return guess - 1
        if guess > 8 and v >= xp[guess - 8]:
            low = guess - 8
        high = guess - 1
    else:
        if v < xp[guess + 1]:
            return guess
        if v < xp[guess + 2]:
            return guess + 1
        low = guess + 2
        if guess < high - 9 and v < xp[guess + 8]:
            high = guess + 8
    while low < high:
        middle = (low + high) // 2
        if v >= xp[middle]:
            low = middle + 1
        else:
            high = middle
    return low - 1


def line_at(v, x0, x1, y0, y1, slope):
    y = slope * (v - x0) + y0
    if y != y:
        y = slope * (v - x1) + y1
        if y != y and y0 == y1:
            y = y0
    return y


def between(v, x0, x1, y0, y1):
    if numpy.iscomplexobj(y0):
        share = 1.0 / (x1 - x0)
        return complex(
            line_at(v, x0, x1, y0.real, y1.real, (y1.real - y0.real) * share),
            line_at(v, x0, x1, y0.imag, y1.imag, (y1.imag - y0.imag) * share),
        )
    return line_at(v, x0, x1, y0, y1, (y1 - y0) / (x1 - x0))


def numbers_of(values):
    """Without those that are no number."""
    return values[values == values]


def gradient(f, spacing=1.0):
    """Along the only axis, by the neighbours of each element."""
    if f.ndim != 1:
        raise ValueError("gradient() takes an array of one dimension in a compiled function")
    count = len(f)
    if count < 2:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are"
            " required."
        )
    out = numpy.empty(count, (f[:1] / 1).dtype)
    steps = numpy.asarray(spacing)
    if steps.ndim == 0:
        step = steps[()]
        out[0] = (f[1] - f[0]) / step
        out[count - 1] = (f[count - 1] - f[count - 2]) / step
        out[1 : count - 1] = (f[2:] - f[: count - 2]) / (2.0 * step)
        return out
    places = numpy.atleast_1d(steps)
    if len(places) != count:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    even = True
    for k in range(1, count - 1):
        if places[k + 1] - places[k] != places[1] - places[0]:
            even = False
    for k in range(1, count - 1):
        before = places[k] - places[k - 1]
        after = places[k + 1] - places[k]
        if even:
            out[k] = (f[k + 1] - f[k - 1]) / (2.0 * before)
        else:
            left = -after / (before * (before + after))
            middle = (after - before) / (before * after)
            right = before / (after * (before + after))
            out[k] = left * f[k - 1] + middle * f[k] + right * f[k + 1]
    out[0] = (f[1] - f[0]) / (places[1] - places[0])
    out[count - 1] = (f[count - 1] - f[count - 2]) / (places[count - 1] - places[count - 2])
    return out
