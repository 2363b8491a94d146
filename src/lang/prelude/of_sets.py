"""NumPy's functions of arrays as sets, in the Python that weft.jit compiles; see of_math.py."""

import numpy

CHECKED = ()


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


def union1d(ar1, ar2):
    return unique_of(numpy.concatenate((numpy.ravel(ar1), numpy.ravel(ar2))))


def is_among(values, ordered):
    found = numpy.empty(len(values), numpy.bool)
    places = numpy.searchsorted(ordered, values)
    for i in range(len(values)):
        k = places[i]
        found[i] = k < len(ordered) and ordered[k] == values[i]
    return found


def intersect1d(ar1, ar2, assume_unique=False):
    first = numpy.ravel(ar1) if assume_unique else unique_of(ar1)
    second = numpy.ravel(ar2) if assume_unique else unique_of(ar2)
    ordered = numpy.sort(numpy.concatenate((first, second)))
    return ordered[:-1][ordered[1:] == ordered[:-1]]


def setdiff1d(ar1, ar2, assume_unique=False):
    first = numpy.ravel(ar1) if assume_unique else unique_of(ar1)
    return first[~is_among(first, numpy.sort(numpy.ravel(ar2)))]


def setxor1d(ar1, ar2, assume_unique=False):
    first = numpy.ravel(ar1) if assume_unique else unique_of(ar1)
    second = numpy.ravel(ar2) if assume_unique else unique_of(ar2)
    ordered = numpy.sort(numpy.concatenate((first, second)))
    count = len(ordered)
    stays = numpy.ones(count, numpy.bool)
    for k in range(1, count):
        if ordered[k] == ordered[k - 1]:
            stays[k] = False
            stays[k - 1] = False
    return ordered[stays]


def isin(element, test_elements, assume_unique=False, invert=False):
    values = numpy.asarray(element)
    found = is_among(numpy.ravel(values), numpy.sort(numpy.ravel(test_elements)))
    if invert:
        found = ~found
    return numpy.reshape(found, values.shape)


def places_by(key, places):
    """The places of another order, ordered by a key: what has one key stays in that order."""
    if len(key) != len(places):
        raise ValueError("all keys need to be the same shape")
    order = numpy.argsort(key[places])
    return places[order]


def places_by_rows(keys):
    if len(keys) == 0:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    places = numpy.argsort(keys[0])
    for k in range(1, len(keys)):
        places = places_by(keys[k], places)
    return places
