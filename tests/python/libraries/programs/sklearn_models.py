"""scikit-learn: models of arrays, fitted, asked, scored, searched."""

import numpy as np
from sklearn import datasets, metrics, model_selection
from sklearn.cluster import DBSCAN, KMeans
from sklearn.decomposition import NMF, PCA, TruncatedSVD
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.feature_selection import SelectKBest, mutual_info_regression
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, NearestNeighbors
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    LabelEncoder,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state, resample, shuffle

k = np.arange(120)
X = np.stack([np.sin(k * 0.7), np.cos(k * 1.3), (k % 7) * 0.2], axis=1)
y = X @ np.array([1.0, -2.0, 0.5]) + 3.0 + np.sin(k * 9.1) * 0.05
label = (X[:, 0] > 0).astype(int)


def regressions():
    for model in (LinearRegression(), Ridge(0.1), Lasso(0.01), SVR(), GaussianProcessRegressor(alpha=0.1)):
        yield model.fit(X, y).predict(X[:3]), model.score(X, y)
    yield GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, y).predict(X[:3])
    yield MLPRegressor(hidden_layer_sizes=(4,), random_state=1, max_iter=20, tol=1).fit(X, y).predict(X[:3])
    yield LinearRegression().fit(X, y, sample_weight=np.linspace(1, 2, 120)).coef_
    yield LinearRegression().fit(X, np.stack([y, -y], 1)).coef_


def classifications():
    for model in (
        LogisticRegression(),
        GaussianNB(),
        KNeighborsClassifier(),
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(5, random_state=0),
        SVC(),
        SGDClassifier(random_state=0),
    ):
        yield type(model).__name__, model.fit(X, label).predict(X[:9]), model.score(X, label)
    yield make_pipeline(StandardScaler(), LogisticRegression()).fit(X, label).predict_proba(X[:3])
    names = np.array(["no", "yes"])[label]
    yield LogisticRegression().fit(X, names).predict(X[:4]).tolist()


def structure():
    yield PCA(2).fit_transform(X)[:3] ** 2
    yield TruncatedSVD(2, random_state=0).fit(X).singular_values_
    yield NMF(2, random_state=0, max_iter=50, tol=1e-2).fit_transform(np.abs(X))[:2]
    yield np.sort(KMeans(2, n_init=1, random_state=0).fit(X).cluster_centers_, axis=0)
    yield KMeans(2, init=X[:2], n_init=1).fit(X).inertia_
    yield DBSCAN(0.4).fit(X).labels_
    yield GaussianMixture(2, random_state=0, means_init=X[:2]).fit(X).weights_
    yield NearestNeighbors(n_neighbors=2).fit(X).kneighbors(X[:2])
    yield KernelDensity().fit(X).score_samples(X[:2])


def preparations():
    for step in (
        StandardScaler(),
        MinMaxScaler(),
        PolynomialFeatures(2),
        KBinsDiscretizer(3, encode="ordinal"),
    ):
        yield step.fit_transform(X)[:3]
    yield OneHotEncoder().fit_transform(label[:, None]).toarray()[:3]
    yield LabelEncoder().fit_transform(np.array([3, 1, 3]))
    holes = np.where(X > 0.9, np.nan, X)
    yield SimpleImputer().fit_transform(holes)[:5]
    yield FunctionTransformer(np.log1p, validate=True).fit_transform(np.abs(X))[:2]
    yield SelectKBest(mutual_info_regression, k=1).fit(X, y).get_support()
    scaler = StandardScaler().fit(X)
    yield scaler.inverse_transform(scaler.transform(X))[:2]


def choices():
    parts = model_selection.train_test_split(X, label, random_state=0)
    yield from parts
    yield from model_selection.train_test_split(
        X, label, random_state=np.random.RandomState(1), stratify=label
    )
    yield [test for _, test in model_selection.KFold(3).split(X)]
    yield [test for _, test in model_selection.StratifiedKFold(3).split(X, label)]
    yield model_selection.cross_val_score(DecisionTreeClassifier(random_state=0), X, label, cv=3)
    search = model_selection.GridSearchCV(Ridge(), {"alpha": np.logspace(-2, 0, 3)}, cv=3).fit(X, y)
    yield search.best_params_["alpha"], search.cv_results_["mean_test_score"]
    yield model_selection.cross_val_predict(Ridge(), X, y)[:4]
    yield shuffle(X[:5], k[:5], random_state=0)
    yield resample(k[:5], random_state=0)
    yield check_random_state(np.random.RandomState(7)).randint(0, 100, 3)
    np.random.seed(5)
    yield check_random_state(np.random).random_sample(2)


def scores():
    guess = np.where(k % 10 == 0, 1 - label, label)
    for name in ("accuracy_score", "f1_score", "precision_score", "matthews_corrcoef", "confusion_matrix"):
        yield getattr(metrics, name)(label, guess)
    yield metrics.roc_auc_score(label, X[:, 0] + 0.3 * X[:, 1])
    yield metrics.roc_curve(label, X[:, 0] + 0.3 * X[:, 1])
    yield metrics.mean_squared_error(y, y + 1), metrics.r2_score(y, y * 1.1)
    yield metrics.silhouette_score(X, label)
    yield metrics.pairwise_distances(X[:3])
    yield metrics.pairwise.rbf_kernel(X[:3])
    yield metrics.log_loss(label, np.clip(guess * 0.8, 0.1, 0.9))
    yield metrics.classification_report(label, guess)
    yield metrics.make_scorer(lambda a, b: float(np.mean(a == b)))(
        KNeighborsClassifier().fit(X, label), X, label
    )


def samples():
    points, belonging = datasets.make_blobs(
        n_samples=20, centers=np.array([[0.0, 0], [5, 5]]), random_state=0
    )
    yield points.sum(axis=0) + np.zeros(2), belonging
    iris = datasets.load_iris()
    yield np.mean(iris.data, axis=0), np.bincount(iris.target)
    yield np.corrcoef(iris.data.T)
