"""Other libraries with weft's arrays: typical uses, beside NumPy's. Skipped where a library is missing."""

import numpy
import pytest
import weft

BOTH = pytest.mark.parametrize("np", [numpy, weft])


def values(x):
    return numpy.asarray(x).tolist()


# ---- pandas ----


@pytest.fixture(scope="module")
def pandas():
    return pytest.importorskip("pandas")


def frame(pandas, np):
    return pandas.DataFrame({"a": np.arange(6.0), "b": np.arange(6) % 2, "c": np.arange(6) > 2})


def test_frames_of_arrays(pandas):
    ours, theirs = frame(pandas, weft), frame(pandas, numpy)
    pandas.testing.assert_frame_equal(ours, theirs)
    matrix = weft.arange(6.0).reshape(2, 3)
    pandas.testing.assert_frame_equal(
        pandas.DataFrame(matrix, columns=list("xyz")),
        pandas.DataFrame(numpy.asarray(matrix), columns=list("xyz")),
    )
    pandas.testing.assert_series_equal(pandas.Series(weft.arange(4)), pandas.Series(numpy.arange(4)))
    pandas.testing.assert_index_equal(pandas.Index(weft.arange(4)), pandas.Index(numpy.arange(4)))


def test_frames_take_arrays(pandas):
    for np in (numpy, weft):
        df = frame(pandas, np)
        df["d"] = np.arange(6) * 2.0
        df.loc[numpy.arange(6) > 3, "a"] = [10.0, 20.0]
        df["e"] = df["a"] + np.ones(6)
        assert df["e"].tolist() == [1.0, 2.0, 3.0, 4.0, 11.0, 21.0]
        assert df.iloc[np.array([0, 2])]["a"].tolist() == [0.0, 2.0]
        assert df["a"].isin(np.array([1.0, 2.0])).sum() == 2
        assert df.groupby(pandas.Series(np.arange(6) % 3))["a"].sum().tolist() == [3.0, 11.0, 22.0]
        assert pandas.cut(np.arange(4.0), bins=np.array([-1.0, 1.0, 3.0])).codes.tolist() == [0, 0, 1, 1]
        assert pandas.Series([1.0, 2.0]).dot(np.array([3.0, 4.0])) == 11.0
        assert (df["a"] > np.full(6, 5.0)).sum() == 2


@BOTH
def test_series_and_arrays(pandas, np):
    series = pandas.Series([1.0, 2.0, 3.0], index=list("xyz"))
    x = np.arange(3.0)
    for result in (
        series + x,
        x + series,
        x * series,
        np.add(x, series),
        np.sqrt(series),
        np.maximum(series, 2),
    ):
        assert isinstance(result, pandas.Series) and list(result.index) == list("xyz")
    assert (x + series).tolist() == [1.0, 3.0, 5.0]
    assert values(np.asarray(series)) == [1.0, 2.0, 3.0] and type(np.asarray(series)) is np.ndarray
    assert float(np.sum(series)) == 6.0 and float(np.mean(series)) == 2.0
    assert values(np.array(pandas.DataFrame({"a": [1, 2]}))) == [[1], [2]]
    assert values(np.concatenate([series, x])) == [1.0, 2.0, 3.0, 0.0, 1.0, 2.0]
    assert isinstance(x @ series, (float, np.float64)) and x @ series == 8.0


# ---- matplotlib ----


@pytest.fixture(scope="module")
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    return pytest.importorskip("matplotlib.pyplot")


def drawn(pyplot, np):
    """The pixels of one figure with most kinds of plots."""
    figure, axes = pyplot.subplots(3, 4, figsize=(8, 6))
    x = np.linspace(0, 6, 40)
    y, e = np.sin(x), np.full(40, 0.1)
    grid = np.arange(48.0).reshape(6, 8)
    axes = axes.ravel()
    axes[0].plot(x, y, label="sin")
    axes[0].plot(x, np.stack([y, y * 2]).T)
    axes[0].legend()
    axes[1].scatter(x, y, c=y, s=np.full(40, 9.0))
    axes[2].bar(x[:5], y[:5])
    axes[3].hist(y, bins=np.linspace(-1, 1, 9))
    axes[4].imshow(grid, extent=(0, 1, 0, 1))
    axes[5].contour(grid, levels=np.array([5.0, 20.0]))
    axes[6].pcolormesh(np.arange(9.0), np.arange(7.0), grid)
    axes[7].errorbar(x[::4], y[::4], yerr=e[::4])
    axes[8].fill_between(x, y, 0, where=y > 0)
    axes[9].quiver(grid[:2], grid[:2], grid[:2] + 1, grid[:2])
    axes[10].boxplot([y, y * 2])
    axes[11].step(x[:9], y[:9])
    axes[11].set_xlim(np.float64(0), x[9])
    axes[11].axvline(x[3])
    axes[11].set_xticks(np.arange(3))
    figure.canvas.draw()
    pixels = numpy.asarray(figure.canvas.buffer_rgba()).copy()
    pyplot.close(figure)
    return pixels


def test_pictures(pyplot):
    ours, theirs = drawn(pyplot, weft), drawn(pyplot, numpy)
    # The last digit of a sine may move a pixel's shade.
    assert ours.shape == theirs.shape and (ours != theirs).mean() < 1e-3
    assert len(numpy.unique(theirs)) > 50


def test_colours(pyplot):
    import matplotlib

    colours = matplotlib.colormaps["viridis"](weft.linspace(0, 1, 5))
    assert values(colours) == values(matplotlib.colormaps["viridis"](numpy.linspace(0, 1, 5)))
    assert values(matplotlib.colors.Normalize()(weft.arange(3.0))) == [0.0, 0.5, 1.0]


# ---- scikit-learn ----


@pytest.fixture(scope="module")
def sklearn():
    return pytest.importorskip("sklearn")


def sample(np):
    k = numpy.arange(120)
    X = np.asarray(numpy.stack([numpy.sin(k * 0.7), numpy.cos(k * 1.3), (k % 7) * 0.2], axis=1))
    return X, X @ np.array([1.0, -2.0, 0.5]) + 3.0, (X[:, 0] > 0).astype(int)


def test_estimators(sklearn):
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    results = []
    for np in (numpy, weft):
        X, y, label = sample(np)
        linear = LinearRegression().fit(X, y)
        told = [linear.coef_, linear.predict(X[:3]), linear.score(X, y)]
        told.append(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, label).predict_proba(X[:3]))
        told.append(PCA(2).fit_transform(X)[:3] ** 2)
        told.append(KMeans(2, n_init=1, random_state=0).fit(X).cluster_centers_)
        told.append(KNeighborsClassifier().fit(X, label).predict(X[:9]))
        told.append(SVC().fit(X, label).decision_function(X[:3]))
        told.append(RandomForestClassifier(5, random_state=0).fit(X, label).predict(X[:9]))
        results.append(told)
    for theirs, ours in zip(*results):
        numpy.testing.assert_allclose(numpy.asarray(ours), numpy.asarray(theirs), rtol=1e-9, atol=1e-12)


def test_tools(sklearn):
    from sklearn.metrics import accuracy_score, confusion_matrix, mean_squared_error, r2_score, roc_auc_score
    from sklearn.model_selection import KFold, cross_val_score, train_test_split
    from sklearn.tree import DecisionTreeClassifier

    results = []
    for np in (numpy, weft):
        X, y, label = sample(np)
        parts = train_test_split(X, label, random_state=0)
        assert type(parts[0]) is np.ndarray
        told = [values(part) for part in parts]
        told.append(accuracy_score(label, label[::-1]))
        told.append(values(confusion_matrix(label, label[::-1])))
        told.append(round(mean_squared_error(y, y + 1), 9))
        told.append(round(r2_score(y, y * 1.1), 9))
        told.append(round(roc_auc_score(label, X[:, 0]), 9))
        told.append([values(test) for _, test in KFold(3).split(X)])
        told.append(values(cross_val_score(DecisionTreeClassifier(random_state=0), X, label, cv=3)))
        results.append(told)
    assert str(results[0]) == str(results[1])


# ---- PyTorch ----


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def test_tensors_of_arrays(torch):
    x = weft.arange(6.0).reshape(2, 3)
    shared = torch.from_dlpack(x)
    shared[0, 0] = 9
    assert x[0, 0] == 9
    assert torch.tensor(x).tolist() == x.tolist()
    assert torch.as_tensor(x.T).tolist() == x.T.tolist()
    for dtype in ("bool", "int8", "uint8", "int64", "float16", "float32", "complex64"):
        y = weft.arange(3).astype(dtype)
        assert torch.from_dlpack(y).tolist() == y.tolist()


def test_arrays_of_tensors(torch):
    t = torch.arange(6.0).reshape(2, 3)
    shared = weft.from_dlpack(t)
    shared[0, 0] = 5
    assert t[0, 0] == 5
    assert weft.asarray(t).tolist() == t.tolist() and weft.array([t[0], t[1]]).shape == (2, 3)
    assert weft.asarray(t.T, copy=False).strides == (4, 12)
    assert (weft.zeros((2, 3)) + weft.asarray(t)).tolist() == t.tolist()


@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept")
def test_tensors_and_arrays_in_one_expression(torch):
    t = torch.arange(3.0)
    for np in (numpy, weft):
        x = np.arange(3.0)
        for result in (t + x, np.add(x, t), np.add(t, x)):
            assert type(result) is torch.Tensor and result.dtype == torch.float64
            assert result.tolist() == [0.0, 2.0, 4.0]
        for result in (t * x[2], x[2] * t, t / np.float64(0.5)):
            assert type(result) is torch.Tensor and result.dtype == torch.float32
            assert result.tolist() == [0.0, 2.0, 4.0]
        assert np.sqrt(t).tolist() == torch.sqrt(t).tolist() and type(np.sqrt(t)) is torch.Tensor
        assert (x == t).tolist() == [True] * 3
        for result in (np.stack([t, t]), np.where(t > 1, t, 0), np.concatenate([t, x])):
            assert type(result) is np.ndarray
        assert torch.zeros(np.int64(3)).shape == (3,)
        with pytest.raises(TypeError):
            x + t


def test_a_step_of_training(torch):
    X = weft.arange(12.0).reshape(4, 3).astype(weft.float32) / 12
    data = torch.utils.data.TensorDataset(torch.from_dlpack(X), torch.from_dlpack(X.sum(1)))
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        for batch, target in torch.utils.data.DataLoader(data, batch_size=2):
            loss = ((model(batch)[:, 0] - target) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    weights = weft.from_dlpack(model.weight.detach())
    assert weights.shape == (1, 3) and weights.dtype == "float32"
    assert weft.allclose(
        X @ weights.T + model.bias.item(), model(torch.from_dlpack(X)).detach().numpy(), atol=1e-6
    )
