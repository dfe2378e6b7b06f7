"""scikit-learn with array_api_dispatch=True on nd4c's arrays, unmodified: values as on NumPy's."""
import numpy as np
import pytest
from same import check, run_example, to_nd4c

import nd4c

sklearn = pytest.importorskip("sklearn")
from sklearn import (
    cluster, decomposition, discriminant_analysis, ensemble, linear_model, metrics, mixture, naive_bayes, neighbors, preprocessing, svm)
from sklearn.metrics import pairwise
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

pytestmark = pytest.mark.filterwarnings("ignore")
rng = np.random.default_rng(3)
x, target = rng.random((60, 5)), rng.random(60)
y = (x @ np.asarray([1.0, -1, 0.5, 0, 0]) + 0.1 * rng.random(60) > 0.3).astype(np.int64)


@pytest.fixture(autouse=True)
def dispatch():
    with sklearn.config_context(array_api_dispatch=True):
        yield


@pytest.mark.parametrize("make", [
    lambda: discriminant_analysis.LinearDiscriminantAnalysis(), lambda: naive_bayes.GaussianNB(),
    lambda: linear_model.RidgeClassifier(solver="svd"), lambda: linear_model.LogisticRegression(solver="lbfgs")])
def test_classifiers(make):
    got, wanted = make().fit(to_nd4c(x), to_nd4c(y)), make().fit(x, y)
    check(got.predict(to_nd4c(x)), wanted.predict(x))
    if hasattr(wanted, "predict_proba"):
        check(got.predict_proba(to_nd4c(x)), wanted.predict_proba(x), 1e-4)


@pytest.mark.parametrize("make", [lambda: linear_model.Ridge(solver="svd"), lambda: linear_model.RidgeCV()])
def test_regressions(make):
    check(make().fit(to_nd4c(x), to_nd4c(target)).predict(to_nd4c(x)), make().fit(x, target).predict(x))


@pytest.mark.parametrize("make", [
    lambda: decomposition.PCA(2, svd_solver="full"), lambda: decomposition.PCA(2, svd_solver="covariance_eigh"),
    preprocessing.StandardScaler, preprocessing.MinMaxScaler, preprocessing.MaxAbsScaler, preprocessing.Normalizer,
    lambda: preprocessing.PolynomialFeatures(2), lambda: preprocessing.Binarizer(threshold=0.5)])
def test_transformers(make):
    check(make().fit_transform(to_nd4c(x)), make().fit_transform(x), 1e-8)


def test_labels():
    check(preprocessing.LabelEncoder().fit_transform(to_nd4c(y)), preprocessing.LabelEncoder().fit_transform(y))


def test_mixture():
    made = mixture.GaussianMixture(2, init_params="random", random_state=0).fit(to_nd4c(x))
    assert isinstance(made.means_, nd4c.Array) and made.predict(to_nd4c(x)).shape == (60,)


def test_selection():
    assert {type(part) for part in train_test_split(to_nd4c(x), to_nd4c(y), random_state=0)} == {nd4c.Array}
    model = make_pipeline(preprocessing.StandardScaler(), discriminant_analysis.LinearDiscriminantAnalysis())
    np.testing.assert_allclose(cross_val_score(model, to_nd4c(x), to_nd4c(y)), cross_val_score(model, x, y))
    grid = GridSearchCV(linear_model.Ridge(solver="svd"), {"alpha": [0.1, 1.0]})
    assert grid.fit(to_nd4c(x), to_nd4c(target)).best_params_ == grid.fit(x, target).best_params_


CLASSES = ("accuracy_score zero_one_loss f1_score precision_score recall_score jaccard_score hamming_loss "
           "balanced_accuracy_score cohen_kappa_score confusion_matrix").split()
NUMBERS = ("mean_squared_error mean_absolute_error r2_score explained_variance_score max_error median_absolute_error "
           "mean_pinball_loss mean_squared_log_error root_mean_squared_error mean_poisson_deviance mean_gamma_deviance "
           "mean_absolute_percentage_error d2_absolute_error_score").split()


@pytest.mark.parametrize("name", CLASSES + NUMBERS)
def test_metrics(name):
    true, read = (y, np.roll(y, 1)) if name in CLASSES else (target, target * 0.9 + 0.01)
    function = getattr(metrics, name)
    check(function(to_nd4c(true), to_nd4c(read)), np.asarray(function(true, read)), exact_type=False)


@pytest.mark.parametrize("name", "cosine_similarity euclidean_distances linear_kernel polynomial_kernel rbf_kernel "
                         "sigmoid_kernel paired_euclidean_distances".split())
def test_pairs(name):
    function = getattr(pairwise, name)
    check(function(to_nd4c(x), to_nd4c(x[::-1])), function(x, x[::-1]), 1e-7)


def test_example():
    assert run_example("with_scikit_learn.py") == "predictions: Array of int64 on cpu:0\nright: 83 of 100\n"


@pytest.mark.parametrize("make", [
    lambda: cluster.KMeans(3, n_init=2, random_state=0), lambda: ensemble.RandomForestClassifier(5, random_state=0),
    lambda: ensemble.RandomForestRegressor(5, random_state=0), lambda: ensemble.GradientBoostingRegressor(n_estimators=3, random_state=0),
    lambda: svm.SVC(), lambda: neighbors.KNeighborsClassifier(3), lambda: linear_model.LinearRegression()])
def test_estimators_without_dispatch(make):
    """Estimators in compiled code take the memory that the arrays share with NumPy, and give NumPy's arrays."""
    with sklearn.config_context(array_api_dispatch=False):
        mine = make().fit(to_nd4c(x), to_nd4c(y)).predict(to_nd4c(x))
        theirs = make().fit(x, y).predict(x)
    assert type(mine) is np.ndarray
    np.testing.assert_allclose(mine, theirs, rtol=1e-9)
