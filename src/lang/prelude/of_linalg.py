"""Functions of numpy.linalg for weft.jit, in the Python that it compiles; see of_math.py."""

import numpy

CHECKED = ()


def first_rows(solved, count):
    return numpy.copy(solved[:count])


def first_column(x):
    return numpy.copy(x[:, 0])


def residuals(squares, rows, columns, rank):
    if rank == columns and rows > columns:
        return numpy.sum(squares[columns:], axis=0)
    return numpy.empty(0, squares.dtype)


def matrix_power(a, n):
    if a.shape[0] != a.shape[1]:
        raise numpy.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    base = numpy.copy(a)
    if n < 0:
        if a.dtype.type(0.5) == 0:
            raise ValueError(
                "negative powers are of floats in a compiled function: convert by .astype(np.float64)"
            )
        base = numpy.linalg.inv(a).astype(a.dtype)
    left = abs(n)
    out = numpy.eye(a.shape[0]).astype(a.dtype)
    while left > 0:
        if left % 2 == 1:
            out = numpy.dot(out, base)
        left //= 2
        if left > 0:
            base = numpy.dot(base, base)
    return out


def cond(x, p=None):
    if x.size == 0:
        raise numpy.linalg.LinAlgError("cond is not defined on empty arrays")
    if p is not None:
        if p == numpy.inf or p == -numpy.inf or p == 1 or p == -1:
            try:
                inverse = numpy.linalg.inv(x)
            except numpy.linalg.LinAlgError:
                return numpy.inf
            return norm_of_sums(x, p) * norm_of_sums(inverse, p)
        if p == 2 or p == -2:
            ordered = numpy.linalg.svd(x, compute_uv=False)
            found = (ordered[:1] / ordered[len(ordered) - 1 :])[0]
            return found if p == 2 else 1 / found
        raise ValueError("Invalid norm order for matrices.")
    s = numpy.linalg.svd(x, compute_uv=False)
    return (s[:1] / s[len(s) - 1 :])[0]


def precision(s):
    return 1.1920928955078125e-07 if s.itemsize == 4 else 2.220446049250313e-16


def norm_of_sums(x, p):
    sums = numpy.sum(abs(x), axis=0) if p == 1 or p == -1 else numpy.sum(abs(x), axis=1)
    if len(sums) == 0 and p > 0:
        return x.dtype.type(0).real
    return numpy.max(sums) if p > 0 else numpy.min(sums)


def matrix_rank(A, tol=None):
    if A.ndim == 1:
        return numpy.int64(numpy.any(A != 0))
    s = numpy.linalg.svd(A, compute_uv=False)
    if len(s) == 0:
        return numpy.int64(0)
    least = s[0] * max(A.shape[0], A.shape[1]) * precision(s) if tol is None else tol
    return numpy.int64(numpy.count_nonzero(s > least))


def pinv(a, rcond=1e-15):
    u, s, vt = numpy.linalg.svd(numpy.conj(a), full_matrices=False)
    for k in range(len(s) - 1, -1, -1):
        s[k] = 1 / s[k] if s[k] > rcond * s[0] else 0
    return numpy.dot(numpy.copy(vt.T), numpy.expand_dims(s, 1) * numpy.copy(u.T))


def vector_norm(x):
    return numpy.linalg.norm(numpy.ravel(x))


def matrix_norm(x):
    return numpy.linalg.norm(x)
