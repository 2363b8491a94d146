"""NumPy's functions of arrays in compiled functions, beside NumPy: each by one line of the table, for every dtype and
layout."""

import warnings

import numpy
import pytest
import weft

np = weft
ALL, REAL, FLOATS, WHOLE = "?bBhHiIlLefdFD", "bBhHiIlLefd", "fd", "bBhHiIlL"
PLAIN = "bBhHiIlLd"  # what gives float64 for narrower floats, too
# The text, of a matrix `a`, a vector `x` and a sorted vector `s` of one dtype; for which dtypes.
CALLS = {
    "np.einsum('ij,jk->ik', a, a)": "hldfD",
    "np.einsum('ij,kj', a, a)": "ld",
    "np.einsum('ij,ij->i', a, a)": "ldfD",
    "np.einsum('ij,ij->', a, a)": "ld",
    "np.einsum('ii', a)": ALL[1:],
    "np.einsum('ii->i', a)": ALL,
    "np.einsum('ij->ji', a)": ALL,
    "np.einsum('ij->', a)": "ldfD",
    "np.einsum('ij -> j', a)": "ld",
    "np.einsum('i,j->ji', x, s)": "ldfD",
    "np.einsum('ij,jk,kl->il', a, a, a)": "ld",
    "np.einsum('ij,j,i', a, a[0], a[1], optimize=True)": "ld",
    "np.einsum('bij,bjk->bik', np.reshape(a, (1, 5, 5)) + np.zeros((2, 1, 1)), np.ones((2, 5, 3)))": "d",
    "np.einsum('aij,bij->ab', np.ones((2, 3, 5)) * a[:3], np.ones((4, 3, 5)))": "d",
    "np.einsum('ii,ij->j', a, a)": "ld",
    "np.einsum('ij,k->', a, x)": "ld",
    "np.einsum('...j,j', a, a[0])": "ld",
    "np.einsum('...ij,...jk->...ik', a, np.ones((2, 1, 5, 3)))": "d",
    "np.einsum('i...->...', a)": "ld",
    "np.einsum('...,...', a, x[:5])": "ld",
    "np.einsum('ij,jk->ik', a[:, :1], a)": "ld",
    "np.einsum('bij,bjk->bik', np.ones((1, 4, 5)), np.ones((3, 5, 2)) * x[0])": "d",
    "np.einsum('ij,ij->', a[:1], a[:, :1])": "ld",
    "np.tensordot(a, a)": "ldfD",
    "np.tensordot(a, a, 1)": "ldD",
    "np.tensordot(x, s, 0)": "ld",
    "np.tensordot(a, a, axes=(0, 1))": "ld",
    "np.tensordot(np.ones((2, 3, 5)) * a[:3], a[:3], ((1, 2), (0, -1)))": "d",
    "np.tensordot(np.ones((2, 3, 5)) * a[:3], a[:3].T + 0, axes=((-1, 1), (0, 1)))": "d",
    "np.pad(x, 2)": ALL,
    "np.pad(a, (1, 2))": REAL,
    "np.pad(a, ((1, 2), (0, 3)), constant_values=1)": REAL,
    "np.pad(a, ((1, 2), (2, 1)), 'constant', constant_values=((1, 2), (3, 4)))": "hd",
    "np.pad(a, ((3,),), mode='edge')": REAL,
    "np.pad(a, 12, 'wrap')": REAL,
    "np.pad(a, (9, 11), 'reflect')": "ld",
    "np.pad(x, (20, 25), mode='symmetric')": "ld",
    "np.pad(x[:1], 3, mode='reflect')": "ld",
    "np.lexsort((x, x[::-1]))": REAL,
    "np.lexsort((x, abs(x) > 1, x < 0))": REAL,
    "np.lexsort(a)": REAL,
    "np.roll(a, (1, 2))": REAL,
    "np.roll(a, (1, -2), axis=(0, 1))": REAL,
    "np.roll(a, 2, axis=(0, 1))": REAL,
    "np.quantile(a, 0.3, axis=0)": REAL,
    "np.quantile(a, [0.1, 0.75], axis=1)": REAL,
    "np.percentile(a, 50, 0)": REAL,
    "np.percentile(a, (10, 90), axis=-1, keepdims=True)": "fd",
    "np.quantile(a, np.array([[0.1, 0.5]]), axis=1)": "ld",
    "np.quantile(x, 0.5, axis=0)": "ld",
    "np.nanquantile(a, 0.3, axis=0)": "ld",
    "np.nanpercentile(a, [20, 60], axis=1)": "fd",
    "np.nanmin(a)": "FD",
    "np.nanmax(a, axis=0)": "FD",
    "np.nanargmin(a, axis=1)": "FD",
    "np.nanargmax(x)": "FD",
    "np.nanmedian(a, axis=0)": REAL,
    "np.nanmedian(a, axis=1, keepdims=True)": "fd",
    "np.median(a, axis=1, keepdims=True)": REAL,
    "np.median(x, axis=0, keepdims=True)": "ld",
    "np.quantile(a, np.array([[0.1, 0.25], [0.5, 1.0]]))": "d",
    "np.linspace(0, 2, 5, retstep=True)": "d",
    "np.linspace(x[0], s[-1], 1, retstep=True)": "d",
    "np.linspace(1, 2, 4, endpoint=False, retstep=True)": "d",
    "np.nanvar(np.array([1.0, np.nan, 3.0]), ddof=2)": "d",
    "np.nanstd(a, axis=0, ddof=5)": "fd",
    "np.nanvar(a, axis=1, ddof=9)": "d",
    "np.linalg.cond(np.zeros((2, 2)), 1)": "d",
    "np.cumsum(a)": ALL,
    "np.cumsum(a, axis=0)": ALL,
    "a.cumsum(1)": REAL,
    "np.cumprod(a, axis=-1)": REAL,
    "np.cumsum(a, dtype=np.float64)": REAL,
    "np.diff(x)": ALL,
    "np.diff(a, axis=0)": ALL,
    "np.diff(a, 2)": REAL,
    "np.diff(a, n=0)": REAL,
    "np.clip(a, 1, 2)": REAL,
    "np.clip(a, None, 2)": REAL,
    "a.clip(1, 2)": REAL,
    "np.count_nonzero(a)": ALL,
    "np.count_nonzero(a, axis=0)": ALL,
    "np.count_nonzero(a, axis=1, keepdims=True)": ALL,
    "np.ptp(a)": REAL,
    "np.ptp(a, axis=1)": REAL,
    "np.average(a)": REAL,
    "np.average(a, axis=0)": REAL,
    "np.average(a, weights=abs(a) + 1)": FLOATS,
    "np.nonzero(a)": ALL,
    "np.flatnonzero(a)": ALL,
    "np.argwhere(a)": ALL,
    "np.where(x)": ALL,
    "np.extract(a, a)": ALL,
    "np.repeat(x, 3)": ALL,
    "np.repeat(a, 2, axis=1)": ALL,
    "np.repeat(a, 2, axis=0)": ALL,
    "np.repeat(x, np.arange(len(x)))": ALL,
    "x.repeat(2)": ALL,
    "np.unique(a)": ALL,
    "np.unique(x, return_counts=True)": ALL,
    "np.unique(a, return_index=True, return_inverse=True)": REAL,
    "np.bincount(abs(x.astype(np.int64)))": REAL,
    "np.bincount(abs(x.astype(np.int8)), minlength=20)": REAL,
    "np.bincount(abs(x.astype(np.int64)), weights=x)": REAL,
    "np.interp(x, s, s + 1)": REAL,
    "np.interp(a, s, np.arange(len(s)), left=-5)": REAL,
    "np.median(a)": REAL,
    "np.median(a, axis=0)": REAL,
    "np.median(a, axis=1)": REAL,
    "np.quantile(x, 0.3)": REAL,
    "np.percentile(a, 75)": REAL,
    "np.percentile(a, np.array([0.0, 50.0, 100.0]))": "d",
    "np.digitize(x, s)": REAL,
    "np.digitize(a, s[::-1], right=True)": REAL,
    "np.histogram(a, 5)": PLAIN,
    "np.histogram(x, bins=4, range=(-1, 2))": PLAIN,
    "np.histogram(x, s)": REAL,
    "np.tril(a)": ALL,
    "np.triu(a, 1)": ALL,
    "np.triu(a, -1)": ALL,
    "np.tril(a, -1)": ALL,
    "np.roll(x, 2)": ALL,
    "np.roll(a, -1)": ALL,
    "np.roll(a, 7, axis=1)": ALL,
    "np.convolve(x, s)": ALL[1:],
    "np.convolve(x, s[:3], mode='same')": ALL[1:],
    "np.convolve(x, s[:3], mode='valid')": ALL[1:],
    "np.correlate(x, s[:3])": ALL[1:],
    "np.correlate(x, s, mode='full')": ALL[1:],
    "np.correlate(x, s[:4], 'same')": ALL[1:],
    "np.array_equal(a, a)": ALL,
    "np.array_equal(a, a.T)": ALL,
    "np.allclose(a, a + 1)": REAL,
    "np.isclose(a, a[0])": FLOATS,
    "np.size(a)": ALL,
    "np.shape(a)": ALL,
    "np.trace(a)": ALL,
    "np.union1d(x, s)": REAL,
    "np.intersect1d(x, x[:4])": REAL,
    "np.setdiff1d(x, s[:3])": REAL,
    "np.setxor1d(x, s[1:])": REAL,
    "np.isin(a, x[:3])": REAL,
    "np.append(x, s)": ALL,
    "np.ediff1d(a)": ALL[1:],
    "np.trapezoid(x)": FLOATS,
    "np.trapezoid(x, s)": FLOATS,
    "np.rot90(a)": ALL,
    "np.kron(a, a[:2, :2])": ALL[1:],
    "np.delete(x, 2)": ALL,
    "np.trim_zeros(x)": ALL,
    "np.angle(x)": "FD",
    "np.sinc(a)": FLOATS,
    "np.cov(a)": "d",
    "np.corrcoef(a)": "d",
    "np.nan_to_num(a / 0)": FLOATS,
    "np.nansum(a)": ALL,
    "np.nansum(a, axis=0)": ALL,
    "np.nanprod(x)": REAL,
    "np.nanmean(a, axis=1)": PLAIN,
    "np.nanmin(a, axis=0)": REAL,
    "np.nanmax(a)": REAL,
    "np.nanstd(a)": PLAIN,
    "np.nanvar(a, axis=0)": PLAIN,
    "np.nanargmax(a)": REAL,
    "np.nancumsum(a)": REAL,
    "np.nanmedian(a)": PLAIN,
    "np.ascontiguousarray(a)": ALL,
    "np.atleast_2d(x)": ALL,
    "np.broadcast_to(x, (3, len(x)))": ALL,
    "np.iscomplexobj(a)": ALL,
    "np.take(a, np.array([2, 0, -1]), axis=1)": ALL,
    "np.min(a)": "FD",
    "np.max(a, axis=0)": "FD",
    "np.min(a, axis=1, keepdims=True)": "FD",
    "np.argmax(x)": "FD",
    "np.argmin(a, axis=0)": "FD",
    "np.max(np.sqrt(a))": "dD",
    "np.tri(-1, 2) + x[0]": "d",
    "np.rot90(a, 0)": "blfdD",
    "np.rot90(a, 2)": "blfdD",
    "np.rot90(a, 3)": "blfdD",
    "np.rot90(a[:2], -1)": "blfdD",
    "np.ediff1d(x, to_end=3, to_begin=np.array([1, 2]))": "lfd",
    "np.trapezoid(a)": "blfdD",
    "np.trapezoid(a, dx=2.0)": "blfdD",
    "np.kron(x, s)": "blfdD",
    "np.kron(x, a)": "blfdD",
    "np.vander(x[:4])": "blfdD",
    "np.vander(x[:4], 3)": "blfdD",
    "np.vander(x[:4], 3, True)": "blfdD",
    "np.delete(x, np.array([0, -1]))": "blfdD",
    "np.insert(x, 2, 9)": "blfdD",
    "np.insert(x, np.array([0, 0, 3]), 9)": "blfdD",
    "np.insert(x, np.array([3, 0, -1]), np.array([7, 8, 9]))": "blfdD",
    "np.insert(x, 1, np.array([7, 8, 9]))": "blfdD",
    "np.angle(a + 1j)": "d",
    "np.angle(a - 1j, True)": "d",
    "np.cov(x)": "blfdD",
    "np.cov(x, x[::-1])": "blfdD",
    "np.cov(a, rowvar=False)": "lfd",
    "np.cov(a, bias=True)": "blfdD",
    "np.cov(a, ddof=2)": "blfdD",
    "np.corrcoef(x, x[::-1])": "blfdD",
    "np.corrcoef(a + 1j * a[::-1])": "d",
    "np.tri(3) + x[0]": "d",
    "np.tri(3, 5, 1) + x[0]": "d",
    "np.tri(4, 2, -1) + x[0]": "d",
    "np.logspace(0, 2, 7)": "d",
    "np.logspace(0.5, 2, 5, base=2.0)": "d",
    "np.geomspace(1, 1000, 4)": "d",
    "np.geomspace(-2.0, -7.0, 6)": "d",
    "np.diagflat(a)": "blfdD",
    "np.diagflat(x, 1)": "blfdD",
    "np.cross(x[:3], s[:3])": "blfdD",
    "np.cross(a[:, :3], x[:3])": "blfdD",
    "np.cross(a[:, :2], a[:, :3])": "blfdD",
    "np.indices((2, 3))": "d",
    "np.indices((2, 3, 4))": "d",
    "np.select([a > 1, a < 0], [a, a * 2], 7.5)": "lfd",
    "np.select((a > 1, a < 0), (a, a * 2))": "lfd",
    "np.resize(a, (3, 9))": "blfdD",
    "np.resize(x, 7)": "blfdD",
    "np.atleast_3d(x)": "blfdD",
    "np.atleast_3d(a)": "blfdD",
    "np.sort(np.partition(x, 2)[:3])": "blfdD",
    "np.sort(np.partition(a, 2)[:, 3:])": "blfdD",
    "x[np.argpartition(x, 4)[4]]": "blfdD",
    "np.iscomplex(a + 1j * a)": "d",
    "np.isreal(a + 1j * a)": "d",
    "np.isin(a, x[:2], invert=True)": "lfd",
    "np.linalg.matrix_power(a, 3)": "dfD",
    "np.linalg.matrix_power(a, 0)": "dfD",
    "np.linalg.cond(a)": "dfD",
    "np.linalg.cond(a + 9 * np.eye(5), 1)": "d",
    "np.linalg.cond(a + 9 * np.eye(5), -np.inf)": "d",
    "np.linalg.cond(a + 9 * np.eye(5), -2)": "d",
    "np.linalg.matrix_rank(a, 4.0)": "d",
    "np.linalg.svd(a, full_matrices=x[0] > x[1])[1]": "d",
    "np.where([True, False], (1, 2), [2.5, 3])": "d",
    "np.nan_to_num(a / 0, copy=len(x) > 3)": "fd",
    "np.linalg.matrix_rank(a)": "dfD",
    "np.linalg.matrix_rank(x)": "dfD",
    "np.linalg.pinv(a)": "dfD",
    "np.sum([1, 2, 3])": "d",
    "np.max((1.5, 2.0))": "d",
    "np.mean([1, 2])": "d",
    "np.max(x[0])": "blfd",
    "np.all(True)": "d",
    "np.std([1.0, 2.0])": "d",
    "np.flipud([[1, 2], [3, 4]])": "d",
    "np.ravel([[1, 2], [3, 4]])": "d",
    "np.transpose(((1, 2), (3, 4)))": "d",
    "np.polynomial.polynomial.polyadd(x, s[:2])": "lfd",
    "np.polynomial.polynomial.polysub(x, x)": "lfd",
    "np.polynomial.polynomial.polymul(x, s)": "lfd",
    "np.polynomial.polynomial.polyval(a, x[:4])": "lfd",
    "np.polynomial.polynomial.polyint(x)": "lfd",
    "np.polynomial.polynomial.polyder(x)": "lfd",
    "np.sum(a, dtype=np.float32)": "lfd",
    "np.sum(a, 0, np.int16)": "bl",
    "a.sum(axis=1, dtype=np.complex128)": "lfd",
    "np.prod(x, dtype=np.float64)": "bl",
    "np.mean(a, axis=0, dtype=np.float32)": "ld",
    "np.max(a, axis=0, out=np.zeros(5, a.dtype))": "lfd",
    "np.sum(a, axis=1, out=np.zeros(5))": "lfd",
    "np.round(a * 0.37, 1)": "fdD",
    "np.round(a)": "hldD",
    "np.around(x * 37, -1)": "lfd",
    "np.round(2.567, 2)": "d",
    "np.round(x[1] * 0.37)": "fd",
    "a.round(1)": "ldD",
    "np.arange(5, dtype=np.float32)": "d",
    "np.arange(0.3, 4, 0.7, dtype=np.float32)": "d",
    "np.arange(2, 20, 3, dtype=np.int8)": "d",
    "np.arange(7, 1, -2, dtype=np.complex128)": "d",
    "np.split(x, 3)[1]": "blfdD",
    "np.array_split(a, 3, axis=1)[2]": "blfdD",
    "np.array_split(x, 4)[3]": "blfdD",
    "np.split(a, [1, 3])[1]": "blfdD",
    "np.split(a, (2, -1), axis=1)[1]": "blfdD",
    "np.hsplit(a, np.array([2]))[1]": "blfdD",
    "np.vsplit(a, [1])[0]": "blfdD",
    "np.dsplit(np.expand_dims(a, 2), 1)[0]": "blfdD",
    "np.append(a, a[:1], axis=0)": "blfdD",
    "np.append(a, a, axis=-1)": "blfdD",
    "np.delete(a, 1, axis=0)": "blfdD",
    "np.delete(a, [0, -1], axis=1)": "blfdD",
    "np.delete(x, slice(1, 7, 2))": "blfdD",
    "np.delete(x, x > 1)": "blfd",
    "np.delete(x, [])": "ld",
    "np.delete(a, slice(2), axis=1)": "blfdD",
    "np.take_along_axis(a, np.argsort(a, axis=1), axis=1)": "blfdD",
    "np.take_along_axis(a, np.argmax(a, axis=0).reshape(1, -1), axis=0)": "blfdD",
    "np.take_along_axis(x, np.array([3, -1]), axis=None)": "blfdD",
    "np.tril(x)": "blfdD",
    "np.triu(x, 1)": "blfdD",
    "np.tril_indices(4)": "d",
    "np.tril_indices(4, 1, 5)": "d",
    "np.triu_indices(3, m=5)": "d",
    "np.triu_indices_from(a, -1)": "d",
    "np.tril_indices_from(a)": "d",
    "np.diff(x, len(x) - 6)": "?blfdD",
    "np.diff(a, len(x) - 8, axis=0)": "lfd",
    "np.isneginf(-x / 0, np.zeros(9, np.bool_))": "fd",
    "np.asfortranarray(a)": "blfdD",
    "np.broadcast_arrays(a, x[:5], 1)": "blfdD",
    "np.broadcast_shapes((3, 1), (1, 4), 4)": "d",
    "np.atleast_1d(x[0], a)": "blfdD",
    "np.squeeze(np.reshape(x, (1, 9, 1)), axis=(0, 2))": "blfdD",
    "np.expand_dims(x, 0).squeeze(0)": "blfdD",
    "np.nan_to_num(a / 0 + 1j)": "dD",
    "np.nan_to_num(a / 0, copy=False)": "fd",
    "np.average(a, axis=0, weights=abs(x[:5]) + 1)": "lfd",
    "np.average(a, axis=1, weights=abs(x[:5]) + 1)": "lfd",
    "np.interp(x, s, s * (1 + 2j))": "d",
    "np.interp(x[3], s, s + 1)": "d",
    "np.unwrap(x)": "lfd",
    "np.unwrap(a, axis=0)": "d",
    "np.unwrap(x, period=3.0)": "lfd",
    "np.unwrap(x, 2.5)": "d",
    "np.asarray_chkfinite(a)": "lfd",
    "np.bartlett(7)": "d",
    "np.blackman(6)": "d",
    "np.hamming(9)": "d",
    "np.hanning(1)": "d",
    "np.kaiser(8, 3.5)": "d",
    "np.kaiser(5, 40.0)": "d",
    "np.i0(x)": "fd",
    "np.geomspace(1j, 1000j, 4)": "d",
    "np.geomspace(-1 + 2j, 5.0, 7)": "d",
    "np.finfo(np.float32).eps + np.finfo(a.dtype).max": "fd",
    "(np.finfo(a.dtype).tiny, np.finfo(a.dtype).resolution, np.finfo(a.dtype).nmant)": "fd",
    "(np.iinfo(a.dtype).min, np.iinfo(a.dtype).max, np.iinfo(a.dtype).bits)": "bBhHiIlL",
    "np.intersect1d(x, s, True)": "lfd",
    "np.setdiff1d(x, s[:2], True)": "lfd",
    "np.intersect1d([1, 2, 3], (2.5, 3.0))": "d",
    "np.union1d((1, 2), [2, 3])": "d",
    "np.isin(3, [1, 3])": "d",
    "np.isclose([1.0, 2.0], (1.0, 2.1))": "d",
    "np.array_equal([1, 2], (1, 2))": "d",
    "np.shape([[1, 2]]) + np.shape(3)": "d",
    "np.ndim(((1, 2), (3, 4)))": "d",
    "np.cov([1.0, 2.0, 4.0])": "d",
    "np.kron([1, 2], (3, 4))": "d",
    "np.kron(2.5, x)": "d",
    "np.kron(2, 3)": "d",
    "np.correlate(s[:2], x, 'same')": "lfd",
    "np.correlate(s[:3], x, 'same')": "lfd",
    "np.correlate(s[:3], x)": "lfd",
    "np.convolve(s[:2], x, 'same')": "lfd",
    "np.cov(a.astype(np.float32))": "d",
    "np.cov(3.0)": "d",
    "np.extract([True, False, True], x)": "lfd",
    "np.extract(np.array([True, False, True, False]), x[:3])": "lfd",
    "np.trim_zeros(x, 'f')": "lfd",
    "np.trim_zeros(x, trim='b')": "lfd",
    "np.unwrap(x * 3, period=4)": "lfd",
    "np.unwrap(x * 3, period=5, discont=1)": "lfd",
    "np.atleast_3d(x, a, 1)": "lfd",
    "np.partition(a, [1, 2], axis=0)[1:3]": "lfd",
    "np.arange(1, 7, 2, np.int16)": "d",
    "a[1:2, 2:3].item() + a.item(7) + x.item(-1)": "blfd",
    "np.array_equal(3, 3.0)": "d",
    "np.roots(np.array([1.0, -6.0, 11.0, -6.0, 0.0]))": "d",
    "np.polyval(x, a)": "lfd",
    "np.polyfit(s, s * s - 2 * s + 1, 2)": "d",
    "np.rot90(a, 5)": "lfd",
    "np.round(a * (0.37 - 0.11j), 2)": "d",
    "np.trapezoid([1, 2, 3], (1, 4, 9))": "d",
    "np.trapezoid(a, axis=0)": "lfd",
    "np.cross((1, 2, 3), [4, 5, 7])": "d",
    "np.ediff1d((1, 4, 9))": "d",
    "np.vander([1, 2, 3])": "d",
    "np.cumsum((1, 2, 3))": "d",
    "np.nanquantile(a, 0.3)": "fd",
    "np.nanpercentile(x, [20, 60])": "ld",
    "np.sum(a, where=a > 1)": "lfd",
    "np.prod(a, axis=0, where=a > 1)": "ld",
    "np.any(a, axis=1, where=a > 1)": "ld",
    "np.all(a, where=a < 1, axis=0)": "ld",
    "np.sum(a, axis=0, initial=3)": "lfd",
    "np.sum(x, initial=2, where=x > 1)": "lfd",
    "np.linspace(0, 3, 7, endpoint=False)": "d",
    "np.linspace(0.5, 2, 1, endpoint=False)": "d",
    "np.gradient(x)": "lfd",
    "np.gradient(x, 0.5)": "d",
    "np.gradient(x, np.arange(9) ** 2.0)": "d",
    "np.gradient(x, np.arange(9) * 2.0)": "d",
    "np.tile(x, 2)": "blfdD",
    "np.tile(a, (2, 1))": "blfdD",
    "np.tile(a, 3)": "lfd",
    "np.tile(x, (2, 3, 1))": "lfd",
    "np.tile(3.5, 4)": "d",
    "np.meshgrid(x, s)": "blfdD",
    "np.meshgrid(x, s, x[:2], indexing='ij')": "lfd",
    "np.meshgrid(x)": "d",
    "a[np.ix_([0, 2], np.array([1, 3]))]": "d",
    "a[np.ix_(a[0] > 0, [1, 3])]": "d",
    "np.unravel_index(np.array([5, 7]), (3, 4))": "d",
    "np.unravel_index(11, (2, 3, 2))": "d",
    "np.ravel_multi_index((1, 2), (3, 4))": "d",
    "np.ravel_multi_index((np.array([1, 2]), np.array([0, 3])), (3, 4))": "d",
    "np.lib.stride_tricks.sliding_window_view(x, 3)": "blfdD",
    "np.lib.stride_tricks.sliding_window_view(a, (2, 3))": "blfdD",
    "np.put(x, [1, -1], 7)": "blfdD",
    "np.compress(x[:5] > 0, a, axis=1)": "lfd",
    "np.compress([True, False, True], x)": "lfd",
    "x.compress(x > 0)": "lfd",
    "np.vecdot(a, a)": "lfdD",
    "np.cumulative_sum(x)": "lfd",
    "np.cumulative_prod(a, axis=1)": "lfd",
    "np.matrix_transpose(a)": "lfd",
    "np.diag_indices(4)": "d",
    "np.fix(a)": "fd",
    "np.polyadd(x, s[:3])": "lfd",
    "np.polysub(s[:3], x)": "lfd",
    "np.polymul(x, s)": "lfd",
    "np.polyder(x)": "lfd",
    "np.polyder(x, 2)": "lfd",
    "np.polyint(x)": "lfd",
    "np.fft.fftfreq(7)": "d",
    "np.fft.fftfreq(8, 0.1)": "d",
    "np.fft.rfftfreq(9, 0.5)": "d",
    "np.fft.fftshift(x)": "lfdD",
    "np.fft.fftshift(a)": "lfd",
    "np.fft.ifftshift(a, axes=1)": "lfd",
    "np.linalg.vector_norm(a)": "fdD",
    "np.linalg.matrix_norm(a)": "fdD",
    "np.asarray(a)[1]": "lfd",
    "np.array(a, copy=True)": "lfd",
    "np.arange(3j + 7, 12 + 9j, 1.5 + 0.5j)": "d",
    "np.arange(x[0], x[0] + 4 + 3j, np.complex64(1 + 0.5j))": "dD",
    "np.arange(4 + 4j, dtype=np.complex64)": "d",
    "np.arange(3, None)": "d",
    "np.arange(start=1, stop=7, step=2)": "d",
    "np.arange(2.5, step=0.5, dtype=np.float32)": "d",
    "np.arange(stop=len(x), start=-2)": "d",
    "np.copy([1, 2, 3])": "d",
    "np.copy(x[0])": "d",
    "np.sum(a.T, axis=())": "ld",
    "np.outer(x, s[:3], out=np.zeros((9, 3), x.dtype))": "hldD",
    "np.take(x, [2, -1], out=np.zeros(2, x.dtype))": "ldD",
    "np.take(a, np.array([2, 0]), axis=1, out=np.zeros((5, 2), a.dtype))": "ld",
    "np.frombuffer(np.ascontiguousarray(a), np.uint8)": "hldD",
    "np.frombuffer(x.copy(), x.dtype, 4, x.itemsize)": "hldD",
    "np.frombuffer(np.arange(6.0).reshape(2, 3), dtype=np.int16, offset=8)": "d",
    "np.frombuffer(np.arange(6.0), count=2)": "d",
    "np.argwhere([[0, 1], [2, 0]])": "d",
    "np.argwhere((0, 3))": "d",
    "np.argwhere(x[0])": "hd",
    "np.flatnonzero([0.0, 1.5])": "d",
    "np.flatnonzero(((0, 1), (2, 3)))": "d",
    "np.flatnonzero(x[1])": "hd",
    "np.ravel(2.5)": "d",
    "np.ravel((1, 2))": "d",
    "np.sum(a, dtype=a.dtype)": ALL,
    "np.sum(a, axis=0, dtype=a.dtype)": ALL,
    "a.prod(axis=1, dtype=np.bool_)": "?bl",
    "(np.isfortran(a), np.isfortran(a.T))": "hd",
    "np.round(a, 1)": "FD",
    "np.moveaxis(np.ones((2, 1, 1)) * a, (0, 1), (-1, 0))": "d",
}
ROUGH = {"e": 2e-2, "f": 2e-5, "F": 2e-5}


def numbers(shape, dtype, nan=True):
    values = numpy.random.default_rng(4).integers(-4, 5, shape) * 0.75
    values.flat[::5] = 0
    with numpy.errstate(all="ignore"):
        if numpy.dtype(dtype).kind == "c":
            values = values + 1j * values[::-1]
        made = (numpy.abs(values) if numpy.dtype(dtype).kind in "?u" else values).astype(dtype)
    if nan and numpy.dtype(dtype).kind == "f":
        made.flat[7] = numpy.nan
    return made


def layouts(a):
    yield a
    yield numpy.asfortranarray(a)
    yield numpy.repeat(a, 2, axis=-1)[..., ::2]
    yield numpy.ascontiguousarray(a[::-1])[::-1]


def parts(value):
    return value if isinstance(value, tuple) else (value,)


def check(found, expected, rough, context):
    assert len(parts(found)) == len(parts(expected))
    for each, other in zip(parts(found), parts(expected), strict=True):
        each, other = numpy.asarray(each), numpy.asarray(other)
        assert each.shape == other.shape and each.dtype == other.dtype, context
        if other.dtype.kind in "fc":
            numpy.testing.assert_allclose(each, other, rtol=rough, atol=rough, err_msg=str(context))
        else:
            assert each.tolist() == other.tolist(), context


@pytest.mark.parametrize("text", CALLS)
def test_as_numpy(text):
    source = f"f = lambda a, x, s: {text}"
    names = {"np": numpy}
    exec(source, names)
    f = weft.jit(names["f"], source=source)
    with_nan = "nan" in text or text.startswith(("np.sort", "np.cum", "np.median", "np.clip"))
    for dtype in CALLS[text]:
        a, x = numbers((5, 5), dtype, with_nan), numbers((9,), dtype, with_nan)
        s = numpy.unique(numbers((40,), dtype, False))
        s = s if "trapezoid" not in text else numpy.arange(9).astype(dtype)
        pairs = list(zip(layouts(a), layouts(x), strict=True))
        for first, second in pairs if dtype in "dh" else pairs[:1]:
            with warnings.catch_warnings(), numpy.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                expected = names["f"](first, second, s)
                check(f(first, second, s), expected, ROUGH.get(dtype, 1e-12), (text, dtype, first.strides))
                if dtype == CALLS[text][0] and first is a:
                    with weft.config(verify=True):  # that no index of weft's own leaves an array
                        tested = weft.jit(names["f"], source=source)(first, second, s)
                    check(tested, expected, ROUGH.get(dtype, 1e-12), (text, dtype))


@pytest.mark.parametrize(
    "text, error, message",
    [
        ("np.bincount(x - 9)", ValueError, "must have no negative elements"),
        ("np.delete(x, [1.0])", IndexError, "must be of integer"),
        ("np.repeat(x, -1)", ValueError, "repeats may not contain negative values"),
        ("np.interp(x, x[:2], x)", ValueError, "fp and xp are not of the same length"),
        ("np.histogram(x, 0)", ValueError, "`bins` must be positive"),
        ("np.convolve(x, x[:0])", ValueError, "v cannot be empty"),
        ("np.diff(x, axis=1)", np.CompileError, "axis 1 is out of bounds"),
        ("np.cumsum(x, foo=1)", np.CompileError, "unexpected keyword argument 'foo'"),
        ("np.median(x, keepdims=True)", np.CompileError, "keeps the dimension of an axis alone"),
        ("np.unique(x, axis=0)", np.CompileError, "takes no 'axis'"),
        ("np.broadcast_to(x, (4, 2))", ValueError, "could not be broadcast"),
        ("np.einsum('ij,j', x.reshape(2, 3), x)", ValueError, "'j' has 3 and 6 elements"),
        ("np.einsum('ii', x.reshape(2, 3))", ValueError, r"collapsing index 'i' don't match \(2 != 3\)"),
        ("np.einsum('ij', x)", np.CompileError, "another number of axes"),
        ("np.einsum('i->j', x)", np.CompileError, "which never appeared in an input"),
        ("np.tensordot(x, x[:2], 1)", ValueError, "shape-mismatch for sum"),
        ("np.pad(x, -1)", ValueError, "index can't contain negative values"),
        ("np.pad(x[:0], 1, 'edge')", ValueError, "can't extend empty axis 0"),
        ("np.pad(x, ((1, 2), (3, 4)))", np.CompileError, "sides of 2 axes for 1"),
        ("np.lexsort((x, x[:2]))", ValueError, "all keys need to be the same shape"),
        ("np.percentile(x, 101)", ValueError, r"Percentiles must be in the range \[0, 100\]"),
        ("np.percentile(x, [50, 101])", ValueError, r"Percentiles must be in the range \[0, 100\]"),
        ("np.frombuffer(x, np.int8, 3, 49)", ValueError, r"no greater than buffer length \(48\)"),
        ("np.frombuffer(x, np.int64, 6, 8)", ValueError, "buffer is smaller than requested size"),
        ("np.frombuffer(x, np.int64, -1, 3)", ValueError, "multiple of element size"),
        ("np.frombuffer(x[::2], np.int64)", ValueError, "ndarray is not C-contiguous"),
        ("np.take(x, [0, 1], out=x[:3])", ValueError, "does not match result of ndarray.take"),
        ("np.arange(x[0] + 1j, dtype=np.float64)", np.CompileError, "has a complex dtype"),
        ("np.quantile(x[:0], 0.5)", IndexError, "index -1 is out of bounds for axis 0 with size 0"),
        ("np.percentile(x.reshape(6, 1)[:, :0], [5.0], axis=1)", IndexError, "index -1 is out of bounds"),
        ("np.arange(start=5)", np.CompileError, "requires stop to be specified"),
        ("np.arange(None)", np.CompileError, "requires stop to be specified"),
        ("np.arange(x, 3)", np.CompileError, "takes numbers, not array"),
        ("np.ravel(x, order='A')", np.CompileError, "takes 'C' or 'F' as its order"),
        ("np.quantile(x, 1.01)", ValueError, r"Quantiles must be in the range \[0, 1\]"),
        ("np.average(x, weights=x * 0)", ZeroDivisionError, "Weights sum to zero"),
    ],
)
def test_errors(text, error, message):
    source = f"f = lambda x: {text}"
    names = {"np": numpy}
    exec(source, names)
    with pytest.raises(error, match=message):
        weft.jit(names["f"], source=source)(numpy.arange(6))


# Of nothing NumPy gives another dtype, takes no bins, or does not look at the indices: values decide that.
_OTHER_WITHOUT_ELEMENTS = (
    "np.bincount(abs(x.astype(np.int64)), weights=x)",
    "np.histogram(x, s)",
    "np.nanpercentile(x, [20, 60])",
    "np.nanpercentile(a, [20, 60], axis=1)",
    "np.take(a, np.array([2, 0, -1]), axis=1)",
    "np.corrcoef(a + 1j * a[::-1])",
)


@pytest.mark.parametrize("text", CALLS)
def test_without_elements(text):
    if text in _OTHER_WITHOUT_ELEMENTS:
        pytest.skip("not as NumPy's where there are no elements")
    source = f"f = lambda a, x, s: {text}"
    names = {"np": numpy}
    exec(source, names)
    a, x = numpy.zeros((0, 0)), numpy.zeros(0)
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = names["f"](a, x, x)
        except (ValueError, IndexError, ZeroDivisionError, TypeError):
            return
        check(weft.jit(names["f"], source=source)(a, x, x), expected, 1e-12, text)
        with weft.config(verify=True):
            check(weft.jit(names["f"], source=source)(a, x, x), expected, 1e-12, text)


def test_bins_that_begin_with_nan():
    for bins in ([1.5, numpy.nan], [numpy.nan, 1.5], [2.0, 2.0], [1.0, 1.0, 3.0], [3.0, 3.0, 1.0]):
        x, b = numpy.array([numpy.nan, 1.0]), numpy.array(bins)
        f = weft.jit(lambda x, b, right: np.digitize(x, b, right))
        assert f(x, b, False).tolist() == numpy.digitize(x, b, False).tolist()


@pytest.mark.parametrize("first", [1.0, numpy.nan, -numpy.inf])
def test_interp_finds_points_as_numpy_does(first):
    generator = numpy.random.default_rng(8)
    f = weft.jit(lambda x, xp, fp: np.interp(x, xp, fp))
    for count in (2, 3, 4, 5, 30, 200):
        xp = numpy.sort(generator.integers(0, 300, count) * 0.5)
        for order in (xp, generator.permutation(xp)):  # NumPy looks near the last point, in any order
            points = order.copy()
            points[0] = first
            x = numpy.concatenate(
                (generator.random(100) * 160 - 5, numpy.sort(generator.random(50) * 150), points)
            )
            x = numpy.concatenate((x, [numpy.nan, numpy.inf, -numpy.inf, 3.0]))
            fp = generator.random(count)
            with numpy.errstate(all="ignore"):
                expected = numpy.interp(x, points, fp)
            numpy.testing.assert_array_equal(numpy.asarray(f(x, points, fp)), expected)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("backwards", [False, True])
def test_bins_with_nan(backwards, right):
    bins = numpy.array([-numpy.inf, 1, 3, 4.5, 8, numpy.inf, *[numpy.nan] * 10])[:: -1 if backwards else 1]
    x = numpy.array([0, 0.99, 1, 4.4, 4.5, 7, 8, 9, 9.5, numpy.inf, -numpy.inf, numpy.nan])
    f = weft.jit(
        (lambda x, bins: np.digitize(x, bins, right=True))
        if right
        else (lambda x, bins: np.digitize(x, bins))
    )
    assert f(x, bins).tolist() == numpy.digitize(x, bins, right=right).tolist()
    with pytest.raises(ValueError, match="monotonically"):
        f(x, numpy.array([numpy.nan, 1.5, 2.3, numpy.nan]))


def test_asarray_is_the_same_array():
    @weft.jit
    def f(a):
        b = np.asarray(a)
        b[0] = 7
        c = np.asarray(a, dtype=np.float32)
        c[1] = 9
        d = np.array(a)
        d[2] = 9

    a = numpy.zeros(3)
    f(a)
    assert a.tolist() == [7, 0, 0]


@pytest.mark.parametrize("name", ["put", "putmask", "place", "copyto", "own", "initial"])
def test_what_writes_arrays(name):
    texts = {
        "put": "np.put(a, [1, -2, 4], [7, 8])",
        "putmask": "np.putmask(a, a > 2, [7, 8, 9])",
        "place": "np.place(a, a > 2, [7, 8, 9])",
        "copyto": "np.copyto(a, -1, where=a > 2)",
        "own": "np.putmask(a, a > 2, a[::-1])",
        "initial": "np.sum(a[1:], axis=0, initial=3, out=a[0])",
    }
    source = f"f = lambda a: {texts[name]}"
    names = {"np": numpy}
    exec(source, names)
    f = weft.jit(names["f"], source=source)
    for step in (1, 2, -1):
        a, b = (numpy.arange(20.0).reshape(4, 5)[:, ::step] for _ in range(2))
        names["f"](a), f(b)
        assert a.tolist() == b.tolist()
    if name == "put":
        with pytest.raises(IndexError, match="out of bounds"):
            f(numpy.zeros(4))


def test_tolist():
    f = weft.jit(lambda a: a.tolist())
    for a in (numpy.arange(3), numpy.ones((2, 2), "f4"), numpy.zeros((2, 0))):
        found = f(a)
        assert found == a.tolist()
        assert all(
            type(x) is type(y) for x, y in zip(numpy.ravel(found).tolist(), a.ravel().tolist(), strict=True)
        )


def test_limits_are_results():
    f = weft.jit(lambda a: (np.finfo(a.dtype), np.iinfo(np.uint8)))
    floats, whole = f(numpy.zeros(2, numpy.float32))
    assert type(floats) is type(weft.finfo("float32")) and floats.eps == numpy.finfo("float32").eps
    assert whole.max == 255 and whole.dtype == numpy.uint8


def test_interp_with_one_sample_point():
    x = numpy.array([numpy.nan, 1.0, 3.0, 7.0])
    xp, fp = numpy.array([3.0]), numpy.array([4.0])
    assert (
        weft.jit(lambda x, xp, fp: np.interp(x, xp, fp))(x, xp, fp).tolist()
        == numpy.interp(x, xp, fp).tolist()
    )


def test_masks():
    def chosen(a, mask):
        return a[mask]

    def filled(a, mask, value):
        a[mask] = value
        return a

    def filled_where(a, value):
        a[a > 0.5] = value
        return a

    r = numpy.random.default_rng(3)
    for shape in ((40,), (7, 9), (4, 5, 6), (0,), (0, 3)):
        a = r.random(shape)
        for rank in range(1, len(shape) + 1):
            for mask in (
                r.random(shape[:rank]) < 0.4,
                numpy.zeros(shape[:rank], bool),
                numpy.ones(shape[:rank], bool),
            ):
                for given, by in (
                    (a, mask),
                    (a[..., ::-1], mask[::-1]),
                    (numpy.asfortranarray(a), numpy.asfortranarray(mask)),
                ):
                    with weft.config(verify=True):
                        found = numpy.asarray(weft.jit(chosen)(given, by))
                    assert found.dtype == given.dtype and numpy.array_equal(found, given[by])
                    assert numpy.array_equal(weft.jit(chosen)(given, by), given[by])
                    assert numpy.array_equal(
                        weft.jit(filled)(given.copy(), by, 2), filled(given.copy(), by, 2)
                    )
        assert numpy.array_equal(weft.jit(filled_where)(a.copy(), 0), filled_where(a.copy(), 0))
    x = numpy.arange(5)
    with pytest.raises(IndexError, match="size of axis is 5 but size of corresponding boolean axis is 4"):
        weft.jit(chosen)(x, x[:4] > 2)
    with pytest.raises(IndexError, match="size of axis is 5 but size of corresponding boolean axis is 6"):
        weft.jit(filled)(x, numpy.ones(6, bool), 1)
    with pytest.raises(weft.CompileError, match="complex"):
        weft.jit(filled)(x, x > 2, 1j)


def test_masks_that_are_written():
    def after(m):
        m[1:][m[:-1]] = True
        return m

    def local(n):
        m = np.zeros(n, np.bool_)
        m[0] = True
        m[1:][m[:-1]] = True
        bits = m.view(np.uint8)
        bits[m] = 0
        return m, bits

    m = numpy.array([True, False, False, True, False, False])
    assert weft.jit(after)(m.copy()).tolist() == [True, True, False, True, True, False]
    found = weft.jit(local)(5)
    assert found[0].tolist() == [False] * 5 and found[1].tolist() == [0] * 5


def test_clip_is_one_loop_with_what_uses_it():
    f = weft.jit(
        lambda a, b: np.clip(a * 2, 0.5, b) + 1, source="f = lambda a, b: np.clip(a * 2, 0.5, b) + 1"
    )
    x = numpy.linspace(-1, 1, 9)
    assert numpy.array_equal(f(x, 1.5), numpy.clip(x * 2, 0.5, 1.5) + 1)
    (text,) = f.inspect_ir().values()
    assert text.count(" heap ") == 1


def test_as_strided():
    def windows(x, n):
        return numpy.lib.stride_tricks.as_strided(x, (x.size - n + 1, n), (x.strides[0], x.strides[0]))

    def backwards(x):
        return numpy.lib.stride_tricks.as_strided(x[::-1], (x.size // 2,), (-2 * x.strides[0],))

    def written(x):
        numpy.lib.stride_tricks.as_strided(x, shape=(2,), strides=(2 * x.itemsize,))[:] = 7
        return x

    x = numpy.arange(9.0)
    assert numpy.array_equal(weft.jit(windows)(x, 4), windows(x, 4))
    assert numpy.array_equal(weft.jit(windows)(x[::-2], 2), windows(x[::-2], 2))
    assert numpy.array_equal(weft.jit(backwards)(x), backwards(x))
    assert numpy.array_equal(weft.jit(written)(x.copy()), written(x.copy()))

    def pairs(x, count):
        return numpy.lib.stride_tricks.as_strided(x, (count, 2), (x.strides[0], x.strides[0]))

    f = weft.jit(pairs)
    assert f(x, 8).shape == (8, 2) and f(x[:0], 0).shape == (0, 2)
    for given, count in ((x, 9), (x[:0], 1), (x, 2**61 + 1)):
        with pytest.raises(ValueError, match="would leave the array"):
            f(given, count)
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        f(x, -1)


def test_arrays_without_dimensions_are_stored_as_elements():
    def stored(a, b):
        a[1] = b
        return a

    assert weft.jit(stored)(numpy.zeros(3), numpy.array(2.5)).tolist() == [0.0, 2.5, 0.0]


def test_products_are_numpys():
    f = weft.jit(lambda a: a.prod())
    for dtype in "fdFD":
        a = numpy.random.default_rng(1).random((7, 9)).astype(dtype) + numpy.dtype(dtype).type(0.5)
        assert f(a) == a.prod()


def test_means_divide_by_counts_of_64_bits():
    a = numpy.full(2**24 + 1, 0.1, numpy.float32)
    b = numpy.ones((3, 7), numpy.complex64) / 3
    for f in (
        lambda a: a.mean(),
        lambda a: a.var(),
        lambda a: a.mean(axis=0),
        lambda a: numpy.std(a, axis=0),
    ):
        for given in (a, b):
            assert numpy.array_equal(weft.jit(f)(given), f(given))
    mean = weft.jit(lambda x: (np.mean(x), np.sum(x)))
    row = numpy.full(7, numpy.float32(1 / 7))
    assert mean(row) == (row.mean(), row.sum())
    for x in (-0.0, numpy.array([-0.0]), numpy.full((2, 9), -0.0), numpy.array([-0.0 - 0.0j])):
        assert str(mean(x)[0]) == str(numpy.mean(x)) and str(mean(x)[1]) == str(numpy.sum(x))


def test_rounded_complex_numbers_keep_their_signs():
    f = weft.jit(lambda z, n: (np.round(z, n), np.round(z), np.round(np.array([z]), n)))
    for z in (-0.02 - 0.02j, complex(-0.0, 0.3), complex(2.46, -0.0)):
        for n in (0, 1):
            found = f(z, n)
            assert str(found[0]) == str(numpy.round(z, n)) and str(found[1]) == str(numpy.round(z))
            assert str(found[2]) == str(numpy.round(numpy.array([z]), n))
