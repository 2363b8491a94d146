"""array-api-compat and array-api-extra take weft's arrays, on each device; scikit-learn and SciPy dispatch to weft."""

import os
import subprocess
import sys

import numpy
import pytest
import weft


def test_compat_knows_weft(device):
    compat = pytest.importorskip("array_api_compat")
    x = weft.arange(6.0).reshape(2, 3)
    assert compat.is_array_api_obj(x) and not compat.is_numpy_array(x)
    assert compat.array_namespace(x) is compat.array_namespace(x, weft.ones(2), 1.0, None) is weft
    assert compat.device(x) == device and compat.size(x) == 6
    assert compat.to_device(x, "cpu").device == "cpu"
    assert compat.is_writeable_array(x) and not compat.is_writeable_array(x.sum())
    with pytest.raises(TypeError):
        compat.array_namespace(x, numpy.ones(2))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_extra_computes_with_weft(device):
    pytest.importorskip("array_api_extra")
    import array_api_extra as xpx

    x, n = weft.asarray([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]]), numpy.asarray([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
    calls = [
        lambda a: xpx.at(a)[0, 1].set(9.0),
        lambda a: xpx.at(a, a > 2).add(1.0),
        lambda a: xpx.at(a.sum())[()].set(7.0),
        lambda a: xpx.atleast_nd(a, ndim=3),
        lambda a: xpx.cov(a),
        lambda a: xpx.create_diagonal(a[0]),
        lambda a: xpx.expand_dims(a, axis=(0, 2)),
        lambda a: xpx.isclose(a, a + 1e-12),
        lambda a: xpx.kron(a, a),
        lambda a: xpx.nunique(a),
        lambda a: xpx.one_hot(a.astype("int64"), 6),
        lambda a: xpx.pad(a, 1),
        lambda a: xpx.setdiff1d(a.reshape(-1), a[0]),
        lambda a: xpx.sinc(a),
        lambda a: xpx.partition(a, 1, axis=1)[:, 1],
        lambda a: xpx.apply_where(a > 2, a, lambda b: 1 / b, fill_value=0.0),
    ]
    for k, call in enumerate(calls):
        expected, found = call(n), call(x)
        assert isinstance(found, (weft.ndarray, weft.generic)), k
        assert found.device == device, k
        numpy.testing.assert_allclose(numpy.asarray(found), numpy.asarray(expected), rtol=1e-12)


DISPATCHED = """
import numpy, scipy.optimize.elementwise, sklearn, weft as np
from scipy import fft, stats, special, signal, ndimage, cluster, integrate, optimize
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

x = np.sin(np.arange(240.0)).reshape(60, 4)
y = x @ np.asarray([1.0, -2.0, 0.5, 0.0]) + 3.0
where = x.device
def of_weft(*values):
    for each in values:
        assert isinstance(each, (np.ndarray, np.generic)), type(each)
        assert each.device == where, each.device
sklearn.set_config(array_api_dispatch=True)
model = Ridge(0.1, solver="svd").fit(x, y)
of_weft(model.coef_, model.predict(x), StandardScaler().fit_transform(x), PCA(2).fit_transform(x))
of_weft(*train_test_split(x, y, random_state=0))
assert abs(r2_score(y, model.predict(x)) - 1) < 1e-3
labels = (y > 3).astype("int64")
of_weft(LogisticRegression(solver="lbfgs").fit(x, labels).predict(x))
assert accuracy_score(labels, labels) == 1.0
of_weft(stats.zscore(x), stats.skew(x), stats.kurtosis(x, axis=None), stats.variation(x + 2), fft.rfft(x))
of_weft(special.logsumexp(x, axis=1), special.softmax(x), special.erf(x), stats.entropy(x * x, axis=0))
of_weft(integrate.trapezoid(y, axis=0), signal.windows.hann(8, xp=np, device=where))
root = optimize.elementwise.find_root(lambda z: z * z - 2.0, (np.asarray([0.0]), np.asarray([2.0]))).x
of_weft(root)
if where == "cpu":
    of_weft(signal.fftconvolve(y, y), ndimage.gaussian_filter(x, 1.0), signal.savgol_filter(y, 7, 2))
    of_weft(special.gamma(x + 2))
    of_weft(cluster.vq.whiten(x + 1), ndimage.sobel(x), signal.lfilter(np.ones(3), np.ones(1), y))
print("done")
"""


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_scipy_and_scikit_learn_dispatch(where):
    pytest.importorskip("sklearn")
    if where == "cuda" and weft.devices() == ["cpu"]:
        pytest.skip("neither a GPU nor the fake driver")
    environment = {**os.environ, "SCIPY_ARRAY_API": "1", "WEFT_DEVICE": where}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DISPATCHED], capture_output=True, text=True, env=environment
    )
    assert done.stdout == "done\n", done.stderr[-2000:]
