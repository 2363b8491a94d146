"""SciPy: arrays through its modules, as programs use them."""

import numpy as np
import scipy.cluster.vq
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse.linalg
import scipy.spatial
import scipy.special
import scipy.stats

ON_THE_HOST = {"pictures_into_arrays"}  # SciPy writes into the CPU's memory
x = np.linspace(0, 6, 60)
y = np.sin(x)
A = np.eye(4) * 3 + np.arange(16.0).reshape(4, 4) % 5


def statistics():
    yield tuple(scipy.stats.ttest_ind(y, y * 0.9 + 0.1))
    yield tuple(scipy.stats.linregress(x, y))[:4]
    yield tuple(scipy.stats.pearsonr(x, y)), tuple(scipy.stats.spearmanr(x, y))
    yield scipy.stats.norm.pdf(x[:4]), scipy.stats.norm(np.float64(1), 2).cdf(x[:3])
    yield scipy.stats.norm.rvs(size=3, random_state=np.random.default_rng(1))
    yield scipy.stats.norm.rvs(size=3, random_state=np.random.RandomState(1))
    yield scipy.stats.gaussian_kde(y)(x[:3])
    yield tuple(scipy.stats.describe(y))[:3], scipy.stats.zscore(y)[:3]
    yield scipy.stats.rankdata(y)[:5], scipy.stats.mode(np.array([1, 2, 2])).mode
    yield tuple(scipy.stats.kstest(y, "norm")), scipy.stats.gamma.fit(np.abs(y) + 1, floc=0)
    yield scipy.stats.bootstrap((y,), np.mean, rng=np.random.default_rng(0), n_resamples=50).standard_error


def solved():
    b = np.arange(4.0)
    yield scipy.linalg.solve(A, b), scipy.linalg.inv(A), scipy.linalg.det(A)
    yield scipy.linalg.lu_factor(A)[1], scipy.linalg.expm(A * 0.1)
    yield np.sort(np.abs(scipy.linalg.eigvals(A))), scipy.linalg.svdvals(A)
    yield scipy.linalg.cho_solve(scipy.linalg.cho_factor(A @ A.T), b)
    sparse = scipy.sparse.csr_array(A)
    factors = scipy.sparse.linalg.splu(scipy.sparse.csc_array(A))
    yield factors.solve(b), factors.solve(np.ones((4, 2))), factors.shape, factors.U.toarray()
    yield sparse @ b, sparse.toarray(), (sparse * 2).sum(), scipy.sparse.linalg.spsolve(sparse.tocsc(), b)
    yield b @ sparse, sparse + A, sparse[np.array([0, 2])].toarray()
    yield scipy.sparse.coo_array((np.ones(2), (np.array([0, 1]), np.array([1, 0]))), shape=(2, 2)).toarray()
    yield scipy.sparse.linalg.cg(scipy.sparse.csr_array(A @ A.T), b, rtol=1e-12)[0]
    yield scipy.sparse.diags_array([np.ones(3), np.arange(4.0)], offsets=[1, 0]).toarray()


def minimized_by_gradients():
    def with_gradient(p):
        return np.sum((p - 1) ** 2), 2 * (np.asarray(p) - 1)

    for method in ("L-BFGS-B", "BFGS", "SLSQP", "TNC"):
        yield scipy.optimize.minimize(with_gradient, np.zeros(2), jac=True, method=method).x.round(4)


def masked_and_random():
    several = np.ma.array([0, 0, 0, 2, 2, 2, 3, 3, 4, 5, 6], mask=np.arange(11) == 2)
    yield sorted((int(a), int(b)) for a, b in scipy.stats.mstats.count_tied_groups(several).items())
    yield scipy.stats.mstats.describe(several).mean
    yield scipy.stats.qmc.LatinHypercube(d=2, rng=np.random.default_rng(1)).random(3)
    yield scipy.stats.qmc.Sobol(d=2, rng=np.random.default_rng(1)).random(4)
    yield scipy.signal.envelope(y + 1j * np.cos(x), (None, None), residual=None)


def iterated():
    symmetric, b = A @ A.T, np.arange(4.0)
    yield scipy.sparse.linalg.cg(symmetric, b, rtol=1e-12)[0]
    yield scipy.sparse.linalg.gmres(A, b, rtol=1e-12)[0]
    yield scipy.sparse.linalg.lsqr(A, b)[0].round(5)
    yield np.sort(scipy.sparse.linalg.eigsh(symmetric, k=2)[0])
    yield np.sort(scipy.sparse.linalg.svds(A, k=2, rng=1)[1])
    yield scipy.sparse.linalg.aslinearoperator(A) @ b
    yield scipy.sparse.linalg.onenormest(A)


def minima():
    result = scipy.optimize.minimize(lambda p: np.sum((p - np.array([1.0, 2.0])) ** 2), np.zeros(2))
    yield np.round(result.x, 4)
    yield scipy.optimize.minimize(
        lambda p: (p @ p, 2 * p), np.ones(3), jac=True, method="L-BFGS-B", bounds=[(0.5, 2)] * 3
    ).x
    fitted, _ = scipy.optimize.curve_fit(lambda t, a, b: a * np.sin(t) + b, x, 2 * y + 1)
    yield np.round(fitted, 6)
    yield scipy.optimize.brentq(lambda t: np.cos(t), 0, 3)
    yield np.round(scipy.optimize.root(lambda p: np.array([p[0] ** 2 - 2, p[1] - 1]), np.ones(2)).x, 6)
    yield np.round(scipy.optimize.least_squares(lambda p: p[0] * y - 2 * y, np.zeros(1)).x, 6)
    yield scipy.optimize.linprog(np.array([1.0, 2.0]), A_ub=-np.eye(2), b_ub=-np.ones(2)).x
    yield scipy.optimize.linear_sum_assignment(A)
    yield scipy.optimize.nnls(A, np.ones(4))[0]


def integrals():
    yield scipy.integrate.quad(lambda t: np.exp(-(t**2)), 0, np.inf)[0]
    yield scipy.integrate.trapezoid(y, x), scipy.integrate.simpson(y, x=x)
    yield scipy.integrate.cumulative_trapezoid(y, x, initial=0)[:5]
    run = scipy.integrate.solve_ivp(
        lambda t, u: np.array([u[1], -u[0]]), (0, 2), np.array([0.0, 1.0]), rtol=1e-8
    )
    yield np.round(run.y[:, -1], 5)
    yield np.round(scipy.integrate.odeint(lambda u, t: -u * np.ones(1), np.ones(1), np.linspace(0, 1, 3)), 5)
    yield scipy.interpolate.interp1d(x, y, kind="cubic")(np.array([0.5, 1.5]))
    yield (
        scipy.interpolate.CubicSpline(x, y)(np.float64(0.5)),
        scipy.interpolate.CubicSpline(x, y)(x[:3] + 0.01),
    )
    yield scipy.interpolate.RegularGridInterpolator((np.arange(4), np.arange(4)), A)(np.array([[0.5, 1.5]]))
    yield scipy.interpolate.griddata(np.eye(3)[:, :2], np.arange(3.0), np.array([[0.2, 0.2]]))
    yield scipy.interpolate.splev(np.array([1.0]), scipy.interpolate.splrep(x, y))


def signals():
    b, a = scipy.signal.butter(3, 0.2)
    yield b, a, scipy.signal.filtfilt(b, a, y)[:4], scipy.signal.lfilter(b, a, y)[:4]
    yield scipy.signal.convolve(y, np.ones(3) / 3, mode="same")[:4], scipy.signal.fftconvolve(y, y)[:4]
    yield scipy.signal.welch(y, nperseg=16), scipy.signal.find_peaks(y)[0]
    yield scipy.signal.savgol_filter(y, 7, 2)[:4], scipy.signal.windows.hann(8), scipy.signal.detrend(y)[:3]
    yield scipy.signal.resample(y, 30)[:4], scipy.signal.hilbert(y)[:3], scipy.signal.medfilt(y)[:4]
    yield scipy.signal.convolve2d(A, np.ones((2, 2))), scipy.signal.stft(y, nperseg=16)[2].shape
    yield np.abs(scipy.fft.rfft(y))[:5], scipy.fft.dct(y)[:3], scipy.fft.fftfreq(8)


def pictures():
    image = np.outer(y, y)
    yield scipy.ndimage.gaussian_filter(image, 1)[:2], scipy.ndimage.sobel(image)[0]
    labels, count = scipy.ndimage.label(image > 0.3)
    yield labels, count, scipy.ndimage.sum_labels(image, labels, np.arange(1, count + 1))
    yield scipy.ndimage.zoom(image, 0.5)[0], scipy.ndimage.rotate(image, 30, reshape=False)[5]
    yield scipy.ndimage.binary_erosion(image > 0.3).sum(), scipy.ndimage.median_filter(image, 3)[0]
    yield scipy.ndimage.map_coordinates(image, np.array([[0.5, 1.5], [2.5, 3.5]]))
    yield scipy.ndimage.generic_filter(A, np.max, size=2), scipy.ndimage.distance_transform_edt(image > 0)[:2]


def pictures_into_arrays():
    out = np.zeros((60, 60))
    scipy.ndimage.uniform_filter(np.outer(y, y), 3, output=out)
    yield out[:2]


def spaces():
    points = np.stack([np.cos(x), np.sin(x) * 2], axis=1)[:40]
    tree = scipy.spatial.cKDTree(points)
    yield tree.query(np.zeros(2)), tree.query(points[:3], k=np.int64(2)), len(tree.query_pairs(0.3))
    yield scipy.spatial.distance.cdist(points[:2], points[:3]), scipy.spatial.distance.pdist(points[:3])
    yield scipy.spatial.distance.euclidean(points[0], points[1])
    yield scipy.spatial.ConvexHull(points).volume, scipy.spatial.Delaunay(points[:9]).simplices.shape
    turn = scipy.spatial.transform.Rotation.from_euler("z", np.array([[0.1], [0.2]]))
    yield turn.as_matrix(), turn.apply(np.array([1.0, 0, 0]))
    yield scipy.cluster.vq.kmeans2(points, points[:2])[1]


def functions():
    for name in ("gamma", "gammaln", "erf", "expit", "j0", "digamma", "ndtri", "exp1"):
        yield name, getattr(scipy.special, name)(x[1:5] / 7)
    yield scipy.special.logsumexp(A, axis=0), scipy.special.softmax(A, axis=1)
    yield scipy.special.comb(np.arange(5), 2), scipy.special.factorial(np.arange(5))
    yield scipy.special.jv(np.array([0, 1]), 1.5), scipy.special.betainc(2, 3, np.array([0.1, 0.5]))
    yield scipy.special.xlogy(np.arange(3), np.arange(3)), scipy.special.eval_legendre(2, x[:3])
