"""Distributions of vectors, for Generator and RandomState."""

import warnings
from operator import index as _index

from weft import _core
from weft._array.axes import extents
from weft._core import array, asarray
from weft.random._draws import as_whole

_MOST = 2**63 - 1
FACTORS = ("svd", "eigh", "cholesky", "legacy")  # Factors


def size_of(size):
    """As a tuple."""
    return () if size is None else extents(size)


def dirichlet(stream, alpha, size, legacy):
    """Vectors of parts of 1."""
    len(alpha)
    return _core._draw_dirichlet(stream, asarray(alpha).astype("float64", copy=False), size_of(size), legacy)


def multinomial(stream, n, pvals, size, legacy):
    """How often each outcome comes."""
    odds = asarray(pvals)
    if legacy and odds.ndim == 0:
        raise TypeError("pvals must be a 1-d sequence")
    if legacy and odds.ndim > 1:
        raise ValueError("object too deep for desired array")
    count = int(n) if legacy else as_whole(n)
    try:
        return _core._draw_multinomial(
            stream,
            asarray(count, "int64"),
            odds.astype("float64", copy=False),
            None if size is None else size_of(size),
            legacy,
        )
    except ValueError as error:
        given = getattr(pvals, "dtype", None)
        if not str(error).startswith("sum(pvals") or given is None or given.kind != "f" or given == "float64":
            raise
        if not float(asarray(pvals).sum()) < 1.0001:
            raise
        raise ValueError(
            str(error).replace("]) >", "].astype(np.float64)) >")
            + ". The pvals array is cast to 64-bit floating point prior to checking the sum. Precision changes "
            "when casting may cause problems even if the sum of the original pvals is valid."
        ) from None


def colors(stream, colors, nsample, size, method):
    """The colors of a sample."""
    if method not in ("count", "marginals"):
        raise ValueError('method must be "count" or "marginals".')
    try:
        sample = _index(nsample)
    except TypeError:
        raise ValueError("nsample must be an integer") from None
    if sample < 0:
        raise ValueError("nsample must be nonnegative.")
    if sample > _MOST:
        raise ValueError(f"nsample must not exceed {_MOST}")
    given = asarray(colors)
    if (
        given.ndim != 1
        or (given.size > 0 and given.dtype.kind not in "iu")
        or any(not 0 <= each <= _MOST for each in given.tolist())
    ):
        raise ValueError(
            f"colors must be a one-dimensional sequence of nonnegative integers not exceeding {_MOST}."
        )
    total = sum(given.tolist())
    if total > _MOST:
        raise ValueError(
            f"sum(colors) must not exceed the maximum value of a 64 bit signed integer ({_MOST})"
        )
    if method == "marginals" and total >= 10**9:
        raise ValueError('When method is "marginals", sum(colors) must be less than 1000000000.')
    if method == "count" and total > _MOST // 8:
        raise ValueError(f"When method is 'count', sum(colors) must not exceed {_MOST // 8}")
    return _core._draw_colors(
        stream, given.astype("int64", copy=False), sample, size_of(size), method == "count"
    )


def multivariate_normal(draw, mean, cov, size, check_valid, tol, method):
    """Vectors of the normal distribution; `draw` gives standard normal numbers."""
    mean, cov = array(mean), array(cov)
    if method != "legacy" and "c" in (mean.dtype.kind, cov.dtype.kind):
        raise TypeError("mean and cov must not be complex")
    if mean.ndim != 1:
        raise ValueError("mean must be 1 dimensional")
    if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
        raise ValueError("cov must be 2 dimensional and square")
    if mean.shape[0] != cov.shape[0]:
        raise ValueError("mean and cov must have same length")
    shape = (*size_of(size), mean.shape[0])
    x = draw(shape).reshape(-1, mean.shape[0])
    vectors, is_covariance = _core._normal_vectors(
        x, mean.astype("float64", copy=False), cov.astype("float64", copy=False), FACTORS.index(method), tol
    )
    if check_valid != "ignore" and method != "cholesky":
        if check_valid not in ("warn", "raise"):
            raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")
        if not is_covariance:
            text = "covariance is not symmetric positive-semidefinite."
            if check_valid == "raise":
                raise ValueError(text)
            warnings.warn(text, RuntimeWarning, stacklevel=3)
    return vectors.reshape(shape)
