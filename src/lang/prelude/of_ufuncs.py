"""What methods of ufuncs do, for weft.jit, in the Python that it compiles; see of_math.py.

`function` is the ufunc's function of numbers. The axes that are folded are the first ones of `values`, or the last.
"""

CHECKED = ("fold_from_first",)  # indices of these may be beyond the ends


def fold(function, values, out):
    """Folds elements into what `out` has."""
    if values.ndim == 1 and out.ndim == 0:
        total = out[()]
        for i in range(len(values)):
            total = out.dtype.type(function(total, values[i]))
        out[()] = total
    elif values.ndim > out.ndim:
        for i in range(len(values)):
            fold(function, values[i, ...], out)
    elif out.ndim == 0:
        out[()] = function(out[()], values[()])
    elif out.ndim == 1:
        for i in range(len(out)):
            out[i] = function(out[i], values[i])
    else:
        for i in range(len(out)):
            fold(function, values[i, ...], out[i, ...])


def fold_from_first(function, values, out):
    """Folds elements, of which there are some; the first is where it starts."""
    if values.ndim == 1 and out.ndim == 0:
        total = out.dtype.type(values[0])
        for i in range(1, len(values)):
            total = out.dtype.type(function(total, values[i]))
        out[()] = total
    elif values.ndim > out.ndim:
        fold_from_first(function, values[0, ...], out)
        for i in range(1, len(values)):
            fold(function, values[i, ...], out)
    else:
        put(values, out)


def put(values, out):
    if out.ndim == 0:
        out[()] = values[()]
    else:
        for i in range(len(out)):
            put(values[i, ...], out[i, ...])


def fold_lanes(function, values, out):
    if out.ndim == 0:
        fold(function, values, out)
    else:
        for i in range(len(out)):
            fold_lanes(function, values[i, ...], out[i, ...])


def fold_lanes_from_first(function, values, out):
    if out.ndim == 0:
        fold_from_first(function, values, out)
    else:
        for i in range(len(out)):
            fold_lanes_from_first(function, values[i, ...], out[i, ...])


def reduce(function, rows, lanes, out, by_lanes):
    if by_lanes:
        fold_lanes(function, lanes, out)
    else:
        fold(function, rows, out)


def reduce_from_first(function, rows, lanes, out, by_lanes):
    if by_lanes:
        fold_lanes_from_first(function, lanes, out)
    else:
        fold_from_first(function, rows, out)


def reduce_if_any(function, rows, lanes, out, by_lanes, count, identity):
    if count == 0:
        fill(out, identity)
    else:
        reduce_from_first(function, rows, lanes, out, by_lanes)


def fill(out, value):
    if out.ndim == 0:
        out[()] = value
    else:
        for i in range(len(out)):
            fill(out[i, ...], value)


def accumulate(function, values, out):
    if len(values) == 0:
        return
    if values.ndim == 1:
        total = out.dtype.type(values[0])
        out[0] = total
        for i in range(1, len(values)):
            total = out.dtype.type(function(total, values[i]))
            out[i] = total
    else:
        put(values[0, ...], out[0, ...])
        for i in range(1, len(values)):
            step(function, out[i - 1, ...], values[i, ...], out[i, ...])


def step(function, before, values, out):
    if out.ndim == 0:
        out[()] = function(before[()], values[()])
    elif out.ndim == 1:
        for i in range(len(out)):
            out[i] = function(before[i], values[i])
    else:
        for i in range(len(out)):
            step(function, before[i, ...], values[i, ...], out[i, ...])


def reduceat(function, values, indices, out, name):
    count = len(values)
    for k in range(len(indices)):
        start = indices[k]
        if start < 0 or start >= count:
            raise IndexError(f"index {start} out-of-bounds in {name}.reduceat [0, {count})")
    for k in range(len(indices)):
        start = int(indices[k])
        end = int(indices[k + 1]) if k + 1 < len(indices) else count
        fold_from_first(function, values[start : max(end, start + 1), ...], out[k, ...])
