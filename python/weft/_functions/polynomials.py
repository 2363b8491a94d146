"""NumPy's polynomials as coefficients, the highest power first."""

import warnings

from weft import _core
from weft._core import asarray, concatenate, result_type, zeros
from weft._functions.calculus import convolve
from weft._functions.creation import zeros_like
from weft._functions.shapes import atleast_1d
from weft.exceptions import RankWarning

_ufuncs = _core._ufuncs


def _coefficients(p):
    return p.coeffs if isinstance(p, poly1d) else atleast_1d(asarray(p))


def _like(result, *given):
    """A poly1d where one was given."""
    return poly1d(result) if any(isinstance(p, poly1d) for p in given) else result


def polyval(p, x):
    """The polynomial's values at `x`, by Horner's rule; `x` may be a polynomial.

    >>> np.polyval([3, 0, 1], 5)
    np.int64(76)
    """
    p = asarray(_coefficients(p) if isinstance(p, poly1d) else p)
    composed = isinstance(x, poly1d)
    x = x if composed else asarray(x)
    result = 0 if composed else zeros_like(x)
    for k in range(len(p)):
        result = result * x + p[k]
    return result


def _sum(a1, a2, combine):
    left, right = _coefficients(a1), _coefficients(a2)
    missing = right.size - left.size
    if missing > 0:
        left = concatenate([zeros(missing, left.dtype), left])
    elif missing < 0:
        right = concatenate([zeros(-missing, right.dtype), right])
    return _like(combine(left, right), a1, a2)


def polyadd(a1, a2):
    """The sum of two polynomials.

    >>> np.polyadd([1, 2], [9, 5, 4])
    array([9, 6, 6])
    """
    return _sum(a1, a2, _ufuncs["add"])


def polysub(a1, a2):
    """The difference of two polynomials."""
    return _sum(a1, a2, _ufuncs["subtract"])


def polymul(a1, a2):
    """The product of two polynomials.

    >>> np.polymul([1, 2, 3], [9, 5, 1])
    array([ 9, 23, 38, 17,  3])
    """
    left, right = poly1d(a1).coeffs, poly1d(a2).coeffs
    return _like(convolve(left, right), a1, a2)


def polydiv(u, v):
    """The quotient and the remainder of two polynomials.

    >>> np.polydiv([3.0, 5.0, 2.0], [2.0, 1.0])
    (array([1.5 , 1.75]), array([0.25]))
    """
    over, under = _coefficients(u) + 0.0, _coefficients(v) + 0.0
    first = over[:1] + under[:1]
    m, n = over.size - 1, under.size - 1
    scale = 1.0 / under[0]
    quotient = zeros(max(m - n + 1, 1), first.dtype)
    rest = over.astype(first.dtype)
    for k in range(m - n + 1):
        factor = scale * rest[k]
        quotient[k] = factor
        rest[k : k + n + 1] -= factor * under
    near = _ufuncs["less_equal"](_ufuncs["absolute"](rest), 1e-8)
    leading = 0
    while rest.size - leading > 1 and bool(near[leading]):
        leading += 1
    return _like(quotient, u, v), _like(rest[leading:], u, v)


def polyder(p, m=1):
    """The `m`-th derivative of a polynomial.

    >>> np.polyder([1, 1, 1, 1])
    array([3, 2, 1])
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    result = asarray(_coefficients(p) if isinstance(p, poly1d) else p)
    for _ in range(m):
        n = len(result) - 1
        result = result[:-1] * _core.arange(n, 0, -1)
        if len(result) == 0:
            break
    return _like(result, p)


def polyint(p, m=1, k=None):
    """A polynomial whose `m`-th derivative this is; `k` are the constants, 0 by default.

    >>> np.polyint([3, 2, 1])
    array([1., 1., 1., 0.])
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = atleast_1d(zeros(m) if k is None else asarray(k))
    if constants.size == 1 and m > 1:
        constants = constants[0] * _core.ones(m)
    if constants.size < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    result = asarray(_coefficients(p) if isinstance(p, poly1d) else p)
    for step in range(m):
        n = len(result)
        divisors = _core.arange(n, 0, -1)
        result = concatenate([_ufuncs["divide"](result, divisors), constants[step : step + 1]])
    return _like(result, p)


def poly(seq_of_zeros):
    """The coefficients of the polynomial with these zeros, the first of them 1. A matrix needs eigenvalues.

    >>> np.poly([2.0, 3.0])
    array([ 1., -5.,  6.])
    """
    given = atleast_1d(asarray(seq_of_zeros))
    if given.ndim == 2 and given.shape[0] == given.shape[1] and given.shape[0] != 0:
        given = _core._linalg_eigvals(given)
    if given.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if given.size == 0:
        return 1.0
    own = given.astype(result_type(given.dtype, "float16"))
    result = _core.ones(1, own.dtype)
    for k in range(own.size):
        result = convolve(result, _core.stack([_core.ones((), own.dtype), -own[k]]), "full")
    if result.dtype.kind == "c":
        numbers = own.tolist()
        key = lambda z: (z.real, z.imag)  # noqa: E731
        if sorted(numbers, key=key) == sorted((z.conjugate() for z in numbers), key=key):
            result = result.real.copy()
    return result


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The polynomial of degree `deg` nearest to points, by least squares; with cov=True its covariances, too.

    With full=True also the residuals, the rank, the singular values of the scaled Vandermonde matrix and `rcond`. Where
    x determines no polynomial, RankWarning is given, and the smallest solution. Method: linalg.lstsq.

    >>> np.polyfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1).round(6)
    array([2., 1.])
    """
    from weft._functions.diagonals import vander

    order = int(deg) + 1
    x, y = asarray(x) + 0.0, asarray(y) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    if rcond is None:
        from weft._array.dtypes import finfo

        rcond = x.size * float(finfo(x.dtype).eps)
    left, right = vander(x, order), y
    if w is not None:
        w = asarray(w) + 0.0
        if w.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if w.shape[0] != y.shape[0]:
            raise TypeError("expected w and y to have the same length")
        left = left * w[:, None]
        right = right * (w[:, None] if right.ndim == 2 else w)
    scale = _ufuncs["sqrt"]((left * left).sum(0))
    solution, residuals, rank, values = _core._linalg_lstsq(left / scale, right, rcond)
    solution = (solution.T / scale).T
    if int(rank) != order and not full:
        warnings.warn("Polyfit may be poorly conditioned", RankWarning, stacklevel=3)
    if full:
        return solution, residuals, rank, values, rcond
    if not cov:
        return solution
    base = _core._linalg_inv(left.T @ left / (scale[:, None] * scale)) / (scale[:, None] * scale)
    if cov == "unscaled":
        factor = 1
    else:
        if x.size <= order:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        factor = residuals / (x.size - order)
    if right.ndim == 1:
        return solution, base * factor
    return solution, base[:, :, None] * factor


class poly1d:
    """A polynomial of one variable, by its coefficients or, with r=True, its zeros.

    >>> p = np.poly1d([1, 2, 3])
    >>> p(2), p.deriv()
    (np.int64(11), poly1d([2, 2]))
    """

    __module__ = "weft"  # as pickles name it

    __hash__ = None

    def __init__(self, c_or_r, r=False, variable=None):
        if isinstance(c_or_r, poly1d):
            self._variable, self._coefficients = c_or_r._variable, c_or_r._coefficients
            self._variable = self._variable if variable is None else variable
            return
        given = poly(c_or_r) if r else c_or_r
        given = atleast_1d(asarray(given))
        if given.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        filled = _core.nonzero(given != 0)[0]
        trimmed = given[int(filled[0]) :] if filled.size else given[:0]
        self._coefficients = trimmed if trimmed.size else _core.zeros(1, given.dtype)
        self._variable = "x" if variable is None else variable

    @property
    def coeffs(self):
        """The coefficients, the highest power first."""
        return self._coefficients

    @coeffs.setter
    def coeffs(self, value):
        if value is not self._coefficients:
            raise AttributeError("Cannot set attribute")

    c = coef = coefficients = coeffs

    @property
    def roots(self):
        """The zeros."""
        from weft._functions.roots import roots

        return roots(self._coefficients)

    r = roots

    @property
    def variable(self):
        """The name that is printed."""
        return self._variable

    @property
    def order(self):
        """The highest power."""
        return len(self._coefficients) - 1

    o = order

    def __array__(self, dtype=None, copy=None):
        return self._coefficients.__array__(dtype)

    def __repr__(self):
        return f"poly1d({repr(self._coefficients)[6:-1]})"

    def __str__(self):
        from weft._functions.polynomial_text import polynomial_text

        return polynomial_text(self._coefficients.tolist(), self._variable)

    def __len__(self):
        return self.order

    def __iter__(self):
        return iter(self._coefficients)

    def __call__(self, value):
        return polyval(self._coefficients, value)

    def __neg__(self):
        return poly1d(-self._coefficients)

    def __pos__(self):
        return self

    def __mul__(self, other):
        if asarray(other if not isinstance(other, poly1d) else 0).ndim == 0 and not isinstance(other, poly1d):
            return poly1d(self._coefficients * other)
        return poly1d(polymul(self._coefficients, poly1d(other)._coefficients))

    __rmul__ = __mul__

    def __add__(self, other):
        return poly1d(polyadd(self._coefficients, poly1d(other)._coefficients))

    __radd__ = __add__

    def __sub__(self, other):
        return poly1d(polysub(self._coefficients, poly1d(other)._coefficients))

    def __rsub__(self, other):
        return poly1d(polysub(poly1d(other)._coefficients, self._coefficients))

    def __pow__(self, power):
        if power != int(power) or power < 0:
            raise ValueError("Power to non-negative integers only.")
        result = asarray([1])
        for _ in range(int(power)):
            result = polymul(self._coefficients, result)
        return poly1d(result)

    def __truediv__(self, other):
        if isinstance(other, poly1d):
            return polydiv(self, other)
        return poly1d(self._coefficients / other)

    def __rtruediv__(self, other):
        return polydiv(poly1d(other), self)

    def __eq__(self, other):
        if not isinstance(other, poly1d):
            return NotImplemented
        mine, theirs = self._coefficients, other._coefficients
        return (mine == theirs).all() if mine.shape == theirs.shape else False

    def __getitem__(self, power):
        if 0 <= power <= self.order:
            return self._coefficients[self.order - power]
        return self._coefficients.dtype.type(0)

    def __setitem__(self, power, value):
        if power < 0:
            raise ValueError("Does not support negative powers.")
        if power > self.order:
            missing = zeros(power - self.order, self._coefficients.dtype)
            self._coefficients = concatenate([missing, self._coefficients])
        else:
            self._coefficients = self._coefficients.copy()
        self._coefficients[self.order - power] = value

    def integ(self, m=1, k=0):
        """polyint."""
        return poly1d(polyint(self._coefficients, m, k))

    def deriv(self, m=1):
        """polyder."""
        return poly1d(polyder(self._coefficients, m))
