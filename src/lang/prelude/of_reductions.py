"""Reductions of arrays for weft.jit, in the Python that it compiles; see of_math.py.

`X_of_array` is of all elements. Along one axis, `X_of_lanes` is of arrays whose last axis that is, and `X_of_rows` of
those whose first one it is. `X_of_blocks` is along the second of three axes. `out` has the other axes.
"""

CHECKED = ()


def pairwise(values, first, count, zero):  # as NumPy adds
    if count < 8:
        total = zero
        for k in range(first, first + count):
            total = total + values[k]
        return total
    if count <= 128:
        a = values[first] + zero
        b = values[first + 1] + zero
        c = values[first + 2] + zero
        d = values[first + 3] + zero
        e = values[first + 4] + zero
        f = values[first + 5] + zero
        g = values[first + 6] + zero
        h = values[first + 7] + zero
        whole = count - count % 8
        for k in range(first + 8, first + whole, 8):
            a = a + values[k]
            b = b + values[k + 1]
            c = c + values[k + 2]
            d = d + values[k + 3]
            e = e + values[k + 4]
            f = f + values[k + 5]
            g = g + values[k + 6]
            h = h + values[k + 7]
        total = ((a + b) + (c + d)) + ((e + f) + (g + h))
        for k in range(first + whole, first + count):
            total = total + values[k]
        return total
    half = count // 2
    half -= half % 8
    return pairwise(values, first, half, zero) + pairwise(values, first + half, count - half, zero)


def sum_of_array(values, zero):
    if values.ndim == 0:
        return values[()] + zero
    if values.ndim == 1:
        if len(values) == 0:
            return zero + 0
        return pairwise(values, 0, len(values), zero)
    total = zero + 0
    for row in values:
        total = total + sum_of_array(row, zero)
    return total


def prod_of_array(values, one):
    if values.ndim == 0:
        return values[()] * one
    total = one
    if values.ndim == 1:
        for x in values:
            total = total * x
        return total
    for row in values:
        total = prod_of_array(row, total)
    return total


def smaller_of(best, x):
    return x if x < best or x != x else best


def min_of_row(values):  # eight side by side, since compilers keep the order in which floats are compared
    count = len(values)
    best = values[0]
    if count < 32 or values.dtype.type(0.5) == 0:
        for x in values:
            if x < best or x != x:
                best = x
        return best
    a = values[0]
    b = values[1]
    c = values[2]
    d = values[3]
    e = values[4]
    f = values[5]
    g = values[6]
    h = values[7]
    whole = count - count % 8
    for k in range(8, whole, 8):
        a = smaller_of(a, values[k])
        b = smaller_of(b, values[k + 1])
        c = smaller_of(c, values[k + 2])
        d = smaller_of(d, values[k + 3])
        e = smaller_of(e, values[k + 4])
        f = smaller_of(f, values[k + 5])
        g = smaller_of(g, values[k + 6])
        h = smaller_of(h, values[k + 7])
    best = smaller_of(
        smaller_of(smaller_of(a, b), smaller_of(c, d)), smaller_of(smaller_of(e, f), smaller_of(g, h))
    )
    for k in range(whole, count):
        best = smaller_of(best, values[k])
    return best


def min_of_array(values):
    if values.ndim == 0:
        return values[()]
    if values.ndim == 1:
        if len(values) == 0:
            raise ValueError("zero-size array to reduction operation minimum which has no identity")
        return min_of_row(values)
    if len(values) == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    best = min_of_array(values[0])
    for row in values:
        x = min_of_array(row)
        if x < best or x != x:
            best = x
        if best != best:
            return best
    return best


def larger_of(best, x):
    return x if x > best or x != x else best


def max_of_row(values):  # eight side by side, since compilers keep the order in which floats are compared
    count = len(values)
    best = values[0]
    if count < 32 or values.dtype.type(0.5) == 0:
        for x in values:
            if x > best or x != x:
                best = x
        return best
    a = values[0]
    b = values[1]
    c = values[2]
    d = values[3]
    e = values[4]
    f = values[5]
    g = values[6]
    h = values[7]
    whole = count - count % 8
    for k in range(8, whole, 8):
        a = larger_of(a, values[k])
        b = larger_of(b, values[k + 1])
        c = larger_of(c, values[k + 2])
        d = larger_of(d, values[k + 3])
        e = larger_of(e, values[k + 4])
        f = larger_of(f, values[k + 5])
        g = larger_of(g, values[k + 6])
        h = larger_of(h, values[k + 7])
    best = larger_of(larger_of(larger_of(a, b), larger_of(c, d)), larger_of(larger_of(e, f), larger_of(g, h)))
    for k in range(whole, count):
        best = larger_of(best, values[k])
    return best


def max_of_array(values):
    if values.ndim == 0:
        return values[()]
    if values.ndim == 1:
        if len(values) == 0:
            raise ValueError("zero-size array to reduction operation maximum which has no identity")
        return max_of_row(values)
    if len(values) == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    best = max_of_array(values[0])
    for row in values:
        x = max_of_array(row)
        if x > best or x != x:
            best = x
        if best != best:
            return best
    return best


def any_of_array(values):
    if values.ndim == 0:
        return bool(values[()])
    for row in values:
        if values.ndim == 1:
            if row:
                return True
        elif any_of_array(row):
            return True
    return False


def all_of_array(values):
    if values.ndim == 0:
        return bool(values[()])
    for row in values:
        if values.ndim == 1:
            if not row:
                return False
        elif not all_of_array(row):
            return False
    return True


def argmin_of_array(values):
    if len(values) == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    least = values[0]
    at = 0
    for k in range(len(values)):
        if least != least:
            break
        x = values[k]
        if x < least or x != x:
            least = x
            at = k
    return at


def argmax_of_array(values):
    if len(values) == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    most = values[0]
    at = 0
    for k in range(len(values)):
        if most != most:
            break
        x = values[k]
        if x > most or x != x:
            most = x
            at = k
    return at


def add_row(out, row):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = out[k] + row[k]
        else:
            add_row(out[k], row[k])


def multiply_by_row(out, row):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = out[k] * row[k]
        else:
            multiply_by_row(out[k], row[k])


def min_with_row(out, row):
    for k in range(len(out)):
        if out.ndim == 1:
            x = row[k]
            best = out[k]
            out[k] = x if x < best or x != x else best
        else:
            min_with_row(out[k], row[k])


def max_with_row(out, row):
    for k in range(len(out)):
        if out.ndim == 1:
            x = row[k]
            best = out[k]
            out[k] = x if x > best or x != x else best
        else:
            max_with_row(out[k], row[k])


def any_with_row(out, row):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = out[k] or bool(row[k])
        else:
            any_with_row(out[k], row[k])


def all_with_row(out, row):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = out[k] and bool(row[k])
        else:
            all_with_row(out[k], row[k])


def sum_of_rows(values, out, zero):
    out[...] = zero
    for row in values:
        add_row(out, row)


def prod_of_rows(values, out, one):
    out[...] = one
    for row in values:
        multiply_by_row(out, row)


def min_of_rows(values, out):
    if len(values) == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    out[...] = values[0]
    for row in values:
        min_with_row(out, row)


def max_of_rows(values, out):
    if len(values) == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    out[...] = values[0]
    for row in values:
        max_with_row(out, row)


def any_of_rows(values, out):
    out[...] = False
    for row in values:
        any_with_row(out, row)


def all_of_rows(values, out):
    out[...] = True
    for row in values:
        all_with_row(out, row)


def sum_of_lanes(values, out, zero):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = sum_of_array(values[k], zero)
        else:
            sum_of_lanes(values[k], out[k], zero)


def prod_of_lanes(values, out, one):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = prod_of_array(values[k], one)
        else:
            prod_of_lanes(values[k], out[k], one)


def min_of_lanes(values, out):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = min_of_array(values[k])
        else:
            min_of_lanes(values[k], out[k])


def max_of_lanes(values, out):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = max_of_array(values[k])
        else:
            max_of_lanes(values[k], out[k])


def any_of_lanes(values, out):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = any_of_array(values[k])
        else:
            any_of_lanes(values[k], out[k])


def all_of_lanes(values, out):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = all_of_array(values[k])
        else:
            all_of_lanes(values[k], out[k])


def argmin_of_lanes(values, out):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = argmin_of_array(values[k])
        else:
            argmin_of_lanes(values[k], out[k])


def argmax_of_lanes(values, out):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = argmax_of_array(values[k])
        else:
            argmax_of_lanes(values[k], out[k])


def sum_along(first, last, out, zero, by_lanes):
    if by_lanes:
        sum_of_lanes(last, out, zero)
    else:
        sum_of_rows(first, out, zero)


def prod_along(first, last, out, one, by_lanes):
    if by_lanes:
        prod_of_lanes(last, out, one)
    else:
        prod_of_rows(first, out, one)


def min_along(first, last, out, by_lanes):
    if by_lanes:
        min_of_lanes(last, out)
    else:
        min_of_rows(first, out)


def max_along(first, last, out, by_lanes):
    if by_lanes:
        max_of_lanes(last, out)
    else:
        max_of_rows(first, out)


def any_along(first, last, out, by_lanes):
    if by_lanes:
        any_of_lanes(last, out)
    else:
        any_of_rows(first, out)


def all_along(first, last, out, by_lanes):
    if by_lanes:
        all_of_lanes(last, out)
    else:
        all_of_rows(first, out)


def sum_of_blocks(values, out, zero):
    for i in range(len(out)):
        sum_of_rows(values[i], out[i], zero)


def prod_of_blocks(values, out, one):
    for i in range(len(out)):
        prod_of_rows(values[i], out[i], one)


def min_of_blocks(values, out):
    for i in range(len(out)):
        min_of_rows(values[i], out[i])


def max_of_blocks(values, out):
    for i in range(len(out)):
        max_of_rows(values[i], out[i])


def any_of_blocks(values, out):
    for i in range(len(out)):
        any_of_rows(values[i], out[i])


def all_of_blocks(values, out):
    for i in range(len(out)):
        all_of_rows(values[i], out[i])


def comes_before(x, y):
    """Complex numbers are in the order of their real parts, and of their imaginary ones where those are equal."""
    return x.real < y.real or (x.real == y.real and x.imag < y.imag)


def complex_min_of_array(values):
    if values.ndim == 0:
        return values[()]
    if len(values) == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    if values.ndim == 1:
        best = values[0]
        for x in values:
            if best == best and (comes_before(x, best) or x != x):
                best = x
        return best
    best = complex_min_of_array(values[0])
    for row in values:
        x = complex_min_of_array(row)
        if best == best and (comes_before(x, best) or x != x):
            best = x
    return best


def complex_min_of_lanes(values, out):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = complex_min_of_array(values[k])
        else:
            complex_min_of_lanes(values[k], out[k])


def complex_argmin_of_array(values):
    if len(values) == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    best = values[0]
    at = 0
    for k in range(len(values)):
        x = values[k]
        if best == best and (comes_before(x, best) or x != x):
            best = x
            at = k
    return at


def complex_argmin_of_lanes(values, out):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = complex_argmin_of_array(values[k])
        else:
            complex_argmin_of_lanes(values[k], out[k])


def complex_max_of_array(values):
    if values.ndim == 0:
        return values[()]
    if len(values) == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    if values.ndim == 1:
        best = values[0]
        for x in values:
            if best == best and (comes_before(best, x) or x != x):
                best = x
        return best
    best = complex_max_of_array(values[0])
    for row in values:
        x = complex_max_of_array(row)
        if best == best and (comes_before(best, x) or x != x):
            best = x
    return best


def complex_max_of_lanes(values, out):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = complex_max_of_array(values[k])
        else:
            complex_max_of_lanes(values[k], out[k])


def complex_argmax_of_array(values):
    if len(values) == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    best = values[0]
    at = 0
    for k in range(len(values)):
        x = values[k]
        if best == best and (comes_before(best, x) or x != x):
            best = x
            at = k
    return at


def complex_argmax_of_lanes(values, out):
    for k in range(len(out)):
        if out.ndim == 1:
            out[k] = complex_argmax_of_array(values[k])
        else:
            complex_argmax_of_lanes(values[k], out[k])
