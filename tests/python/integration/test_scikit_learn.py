"""scikit-learn on nd4c's arrays, unmodified: with array_api_dispatch=True nd4c computes, without it NumPy does over the same memory.

Every estimator and function that the installed scikit-learn supports by dispatch is here; test_nothing_is_left_out asks its tags."""
import copy
import sys
from functools import partial

import numpy as np
import pytest
from same import check, run_example, to_nd4c

import nd4c

sklearn = pytest.importorskip("sklearn")
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - makes the Halving classes importable
from sklearn import (
    calibration, cluster, decomposition, discriminant_analysis, ensemble, kernel_approximation, linear_model, metrics, mixture,
    model_selection, naive_bayes, neighbors, pipeline, preprocessing, svm, utils)
from sklearn.metrics import pairwise

pytestmark = pytest.mark.filterwarnings("ignore")
rng = np.random.default_rng(3)
x, target, likely = rng.random((60, 5)), rng.random(60), rng.random(60)
y = (x @ np.asarray([1.0, -1, 0.5, 0, 0]) + 0.1 * rng.random(60) > 0.3).astype(np.int64)
kernel = x @ x.T


@pytest.fixture(autouse=True)
def dispatch():
    with sklearn.config_context(array_api_dispatch=True):
        yield


# -- estimators that support dispatch --------------------------------------------------------------------------------

LDA, RIDGE = discriminant_analysis.LinearDiscriminantAnalysis, linear_model.Ridge(solver="svd")
# Each with what it is fitted to: classes, numbers, or nothing.
ESTIMATORS = {
    "Binarizer": (preprocessing.Binarizer(threshold=0.5), x), "KernelCenterer": (preprocessing.KernelCenterer(), kernel),
    "MaxAbsScaler": (preprocessing.MaxAbsScaler(), x), "MinMaxScaler": (preprocessing.MinMaxScaler(), x),
    "Normalizer": (preprocessing.Normalizer(), x), "PolynomialFeatures": (preprocessing.PolynomialFeatures(2), x),
    "StandardScaler": (preprocessing.StandardScaler(), x), "LabelEncoder": (preprocessing.LabelEncoder(), y),
    "PCA full": (decomposition.PCA(2, svd_solver="full"), x), "PCA eigh": (decomposition.PCA(2, svd_solver="covariance_eigh"), x),
    "PCA randomized": (decomposition.PCA(2, svd_solver="randomized", power_iteration_normalizer="QR", random_state=0), x),
    "Nystroem": (kernel_approximation.Nystroem(n_components=20, random_state=0), x),
    "GaussianMixture": (mixture.GaussianMixture(2, init_params="random", random_state=0), x),
    "GaussianMixture data": (mixture.GaussianMixture(2, init_params="random_from_data", random_state=0), x),
    "Ridge": (RIDGE, x, target), "RidgeCV": (linear_model.RidgeCV(), x, target),
    "PoissonRegressor": (linear_model.PoissonRegressor(), x, target),
    "RidgeClassifier": (linear_model.RidgeClassifier(solver="svd"), x, y), "RidgeClassifierCV": (linear_model.RidgeClassifierCV(), x, y),
    "LogisticRegression": (linear_model.LogisticRegression(), x, y), "GaussianNB": (naive_bayes.GaussianNB(), x, y),
    "LinearDiscriminantAnalysis": (LDA(), x, y),
    "CalibratedClassifierCV": (calibration.CalibratedClassifierCV(LDA(), method="temperature", cv=3), x, y),
    "GridSearchCV": (model_selection.GridSearchCV(RIDGE, {"alpha": [0.1, 1.0]}), x, target),
    "RandomizedSearchCV": (model_selection.RandomizedSearchCV(RIDGE, {"alpha": [0.1, 1.0]}, n_iter=2, random_state=0), x, target),
    "HalvingGridSearchCV": (model_selection.HalvingGridSearchCV(RIDGE, {"alpha": [0.1, 1.0]}, random_state=0), x, target),
    "HalvingRandomSearchCV": (model_selection.HalvingRandomSearchCV(RIDGE, {"alpha": [0.1, 1.0]}, random_state=0), x, target),
    "FeatureUnion": (pipeline.FeatureUnion([("a", preprocessing.StandardScaler()), ("b", preprocessing.MinMaxScaler())]), x),
    "Pipeline": (pipeline.make_pipeline(preprocessing.StandardScaler(), LDA()), x, y),
}
NAMES = {name.split()[0] for name in ESTIMATORS}
# The matrices that singular vectors make are the same but for the signs of their columns.
SIGNS = ("LinearDiscriminantAnalysis", "Pipeline")


def outcomes(name, estimator, data, *goal):
    """What the fitted estimator says about its data, by method."""
    fitted = copy.deepcopy(estimator).fit(data, *goal)
    made = {}
    for method in ("predict", "predict_proba", "decision_function", "transform", "score"):
        if hasattr(fitted, method):
            made[method] = getattr(fitted, method)(data, *goal if method == "score" else ())
    if name in SIGNS:
        made["transform"] = abs(made["transform"])
    return made


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators(name):
    estimator, *data = ESTIMATORS[name]
    wanted, got = outcomes(name, estimator, *data), outcomes(name, estimator, *map(to_nd4c, data))
    assert list(got) == list(wanted) and wanted
    for method in wanted:
        if method == "score":
            np.testing.assert_allclose(got[method], wanted[method], rtol=1e-6)
        else:
            check(got[method], wanted[method], 1e-6)


def test_nothing_is_left_out(capsys):
    """The table has every estimator that scikit-learn's own tags or documentation say supports dispatch."""
    from sklearn.utils._test_common.instance_generator import _construct_instances
    tagged = set()
    with sklearn.config_context(array_api_dispatch=False):
        for name, kind in utils.all_estimators():
            if name != "FrozenEstimator" and any(utils.get_tags(one).array_api_support for one in _construct_instances(kind)):
                tagged.add(name)
    with capsys.disabled():
        print("\nscikit-learn %s: %d estimators that support dispatch, %d of them by its tags" % (
            sklearn.__version__, len(NAMES), len(tagged)))
    assert tagged <= NAMES and len(NAMES) >= 26


# -- estimators that do not ------------------------------------------------------------------------------------------

COMPILED = {
    "KMeans": (cluster.KMeans(3, n_init=2, random_state=0), target),
    "MiniBatchKMeans": (cluster.MiniBatchKMeans(3, random_state=0), target),
    "RandomForestClassifier": (ensemble.RandomForestClassifier(5, random_state=0), y),
    "RandomForestRegressor": (ensemble.RandomForestRegressor(5, random_state=0), target),
    "GradientBoostingClassifier": (ensemble.GradientBoostingClassifier(n_estimators=3, random_state=0), y),
    "GradientBoostingRegressor": (ensemble.GradientBoostingRegressor(n_estimators=3, random_state=0), target),
    "HistGradientBoostingRegressor": (ensemble.HistGradientBoostingRegressor(max_iter=3), target),
    "LinearRegression": (linear_model.LinearRegression(), target), "Lasso": (linear_model.Lasso(0.01), target),
    "SVC": (svm.SVC(), y), "KNeighborsClassifier": (neighbors.KNeighborsClassifier(3), y),
    "NMF": (decomposition.NMF(2, random_state=0), target), "OneHotEncoder": (preprocessing.OneHotEncoder(sparse_output=False), target),
}
# scikit-learn itself refuses these with dispatch: it looks for NumPy's class, or mixes NumPy's arrays in.
REFUSED = {
    "KMeans": "different devices", "MiniBatchKMeans": "different devices", "RandomForestClassifier": "should be in np.ndarray format",
    "RandomForestRegressor": "should be in np.ndarray format", "GradientBoostingClassifier": "should be in np.ndarray format",
    "GradientBoostingRegressor": "should be in np.ndarray format", "NMF": "Multiple namespaces",
}


# Compiled code gets nd4c's own arrays with dispatch; those of the ctypes core have no buffer before Python 3.12.
if nd4c.info()["core"] == "ctypes" and sys.version_info < (3, 12):
    REFUSED.update(dict.fromkeys([name for name in COMPILED if "Boosting" in name or "Forest" in name] + ["SVC", "KNeighborsClassifier"],
                                 "bytes-like object|ambiguous argument types"))


def of_compiled(name, to):
    estimator, goal = COMPILED[name]
    fitted = copy.deepcopy(estimator).fit(to(x), to(goal))
    return (fitted.predict if hasattr(fitted, "predict") else fitted.transform)(to(x))


@pytest.mark.parametrize("name", COMPILED)
def test_without_dispatch(name):
    """Estimators in compiled code take the memory that the arrays share with NumPy, and give NumPy's arrays."""
    with sklearn.config_context(array_api_dispatch=False):
        mine, theirs = of_compiled(name, to_nd4c), of_compiled(name, np.asarray)
    assert type(mine) is np.ndarray
    np.testing.assert_allclose(mine, theirs, rtol=1e-9)


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_with_dispatch(name):
    if name in REFUSED:
        with pytest.raises((ValueError, TypeError), match=REFUSED[name]):
            of_compiled(name, to_nd4c)
    else:
        np.testing.assert_allclose(np.asarray(of_compiled(name, to_nd4c)), of_compiled(name, np.asarray), rtol=1e-9)


# -- functions -------------------------------------------------------------------------------------------------------

CLASSES = ("accuracy_score zero_one_loss f1_score precision_score recall_score jaccard_score hamming_loss balanced_accuracy_score "
           "cohen_kappa_score confusion_matrix multilabel_confusion_matrix precision_recall_fscore_support").split()
NUMBERS = ("mean_squared_error mean_absolute_error r2_score explained_variance_score max_error median_absolute_error "
           "mean_pinball_loss mean_squared_log_error root_mean_squared_error root_mean_squared_log_error mean_poisson_deviance "
           "mean_gamma_deviance mean_tweedie_deviance mean_absolute_percentage_error d2_absolute_error_score d2_pinball_score "
           "d2_tweedie_score").split()
CHANCES = ("brier_score_loss log_loss d2_brier_score d2_log_loss_score roc_curve precision_recall_curve "
           "average_precision_score").split()
FUNCTIONS = {
    **{name: (getattr(metrics, name), y, np.roll(y, 1)) for name in CLASSES},
    **{name: (getattr(metrics, name), target, target * 0.9 + 0.01) for name in NUMBERS},
    **{name: (getattr(metrics, name), y, likely) for name in CHANCES},
    "fbeta_score": (partial(metrics.fbeta_score, beta=0.5), y, np.roll(y, 1)),
    "contingency_matrix": (metrics.cluster.contingency_matrix, y, np.roll(y, 1)),
    "calinski_harabasz_score": (metrics.calinski_harabasz_score, x, y),
}
PAIRS = ("cosine_similarity cosine_distances euclidean_distances linear_kernel polynomial_kernel rbf_kernel sigmoid_kernel chi2_kernel "
         "additive_chi2_kernel paired_euclidean_distances paired_cosine_distances").split()
PAIRS = {name: getattr(pairwise, name) for name in PAIRS}
PAIRS.update({"pairwise_distances " + name: partial(pairwise.pairwise_distances, metric=name) for name in ("cosine", "euclidean", "l2")},
             **{"pairwise_kernels " + name: partial(pairwise.pairwise_kernels, metric=name) for name in (
                 "additive_chi2", "chi2", "cosine", "linear", "poly", "polynomial", "rbf", "sigmoid")})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_metrics(name):
    function, *data = FUNCTIONS[name]
    wanted = function(*data)
    check(function(*map(to_nd4c, data)), wanted if isinstance(wanted, tuple) else np.asarray(wanted), exact_type=False)


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name):
    check(PAIRS[name](to_nd4c(x), to_nd4c(x[::-1])), PAIRS[name](x, x[::-1]), 1e-7)


def test_tools():
    parts = model_selection.train_test_split(to_nd4c(x), to_nd4c(y), random_state=0)
    assert {type(part) for part in parts} == {nd4c.Array}
    check(parts, model_selection.train_test_split(x, y, random_state=0))
    model = pipeline.make_pipeline(preprocessing.StandardScaler(), LDA())
    for tool in (model_selection.cross_val_score, model_selection.cross_val_predict):
        check(tool(model, to_nd4c(x), to_nd4c(y)), tool(model, x, y), exact_type=False)
    utils.check_consistent_length(to_nd4c(x), to_nd4c(y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        utils.check_consistent_length(to_nd4c(x), to_nd4c(y[1:]))


def test_example():
    assert run_example("with_scikit_learn.py") == "predictions: Array of int64 on cpu:0\nright: 83 of 100\n"
