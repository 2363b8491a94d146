"""Functions of square matrices: exponential, logarithm, square root."""

import math

import weft.linalg as linalg
from weft import _core
from weft._core import _linalg_schur, _linalg_triangular_root, asarray, matmul
from weft.scipy._linalg.checks import square

# Of the Padé approximants of the exponential: up to which norm each is as exact as float64, and its coefficients
# (Higham, 2005).
_BOUNDS = {
    3: 1.495585217958292e-2,
    5: 2.53939833006323e-1,
    7: 9.504178996162932e-1,
    9: 2.097847961257068,
    13: 5.371920351148152,
}


def _coefficients(degree):
    return [
        math.factorial(2 * degree - j) // (math.factorial(degree - j) * math.factorial(j))
        for j in range(degree + 1)
    ]


def _pade(a, degree):
    """Numerator and denominator are even parts plus and minus odd parts."""
    scale = _coefficients(degree)
    scale = [each / scale[degree] for each in scale]
    square_ = matmul(a, a)
    identity = _core.eye(a.shape[-1], dtype=a.dtype)
    power, even, odd = identity, scale[0] * identity, scale[1] * identity
    for j in range(2, degree + 1, 2):
        power = square_ if j == 2 else matmul(power, square_)
        even = even + scale[j] * power
        if j + 1 <= degree:
            odd = odd + scale[j + 1] * power
    odd = matmul(a, odd)
    return linalg.solve(even - odd, even + odd)


def expm(A):
    """The exponential of each matrix, by scaling, a Padé approximant and squaring.

    >>> np.scipy.linalg.expm(np.zeros((2, 2)))
    array([[1., 0.],
           [0., 1.]])
    """
    a = asarray(A)
    if a.size == 1 and a.ndim < 2:
        return _core._ufuncs["exp"](a).reshape(1, 1)
    if a.ndim < 2:
        raise linalg.LinAlgError("The input array must be at least two-dimensional")
    if a.shape[-1] != a.shape[-2]:
        raise linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if a.dtype.kind not in "fc" or a.dtype.itemsize == 2:
        a = a.astype(_core.float32 if a.dtype.kind == "f" else _core.float64)
    if a.size == 0:
        return a.copy()
    if a.ndim > 2:  # matrices of one batch are scaled apart
        flat = a.reshape(-1, *a.shape[-2:])
        return _core.stack([expm(flat[k]) for k in range(flat.shape[0])]).reshape(a.shape)
    size = float(abs(a).sum(axis=-2).max())
    for degree, bound in _BOUNDS.items():
        if size <= bound:
            return _pade(a, degree)
    if not math.isfinite(size):
        return a * math.nan
    halvings = max(0, math.ceil(math.log2(size / _BOUNDS[13])))
    result = _pade(a * 2.0**-halvings, 13)
    for _ in range(halvings):
        result = matmul(result, result)
    return result


def _complex_schur(a):
    if a.dtype.kind != "c":
        a = a.astype(_core.complex64 if a.dtype == _core.float32 else _core.complex128)
    return _linalg_schur(a)


def _back(z, t, real):
    result = matmul(matmul(z, t), z.mT.conj())
    if not real or result.size == 0:
        return result
    precision = 2.0**-23 if result.dtype.itemsize == 8 else 2.0**-52
    limit = 1000 * result.shape[-1] * precision * float(abs(result).max())
    return result.real.copy() if float(abs(result.imag).max()) <= limit else result


def sqrtm(A):
    """The principal square root of each matrix, by its Schur form; real where that root is.

    >>> np.scipy.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]])
    array([[2., 0.],
           [0., 3.]])
    """
    a = square(A, name="A")
    t, z = _complex_schur(a)
    return _back(z, _linalg_triangular_root(t), a.dtype.kind != "c")


def logm(A):
    """The principal logarithm of a matrix, by square roots of its Schur form and quadrature; real where it is.

    >>> np.scipy.linalg.logm(np.eye(2))
    array([[0., 0.],
           [0., 0.]])
    """
    a = square(A, name="A")
    if a.ndim > 2:
        flat = a.reshape(-1, *a.shape[-2:])
        return _core.stack([logm(flat[k]) for k in range(flat.shape[0])]).reshape(a.shape)
    t, z = _complex_schur(a)
    identity = _core.eye(a.shape[-1], dtype=t.dtype)
    if a.size == 0 or bool((t == identity).all()):
        return _core.full(a.shape, 0, a.dtype if a.dtype.kind in "fc" else _core.float64)
    roots = 0
    while float(abs(t - identity).sum(axis=-2).max()) > 0.25 and roots < 100:
        t = _linalg_triangular_root(t)
        roots += 1
    # The integral of x / (1 + s x) from 0 to 1, by eight points of Gauss and Legendre's.
    x = t - identity
    result = 0
    for point, weight in _gauss_legendre():
        result = result + weight * linalg.solve(identity + point * x, x)
    return _back(z, result * 2.0**roots, a.dtype.kind != "c")


def _gauss_legendre(count=8):
    """Points and weights on [0, 1], from the eigenvalues of the Jacobi matrix (Golub and Welsch)."""
    beside = _core.asarray([k / math.sqrt(4 * k * k - 1) for k in range(1, count)])
    matrix = _core.full((count, count), 0.0, _core.float64)
    for k in range(1, count):
        matrix[k, k - 1] = beside[k - 1]
    points, vectors = linalg.eigh(matrix)
    return [((1 + float(p)) / 2, float(v) ** 2) for p, v in zip(points, vectors[0])]
