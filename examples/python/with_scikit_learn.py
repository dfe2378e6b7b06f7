"""scikit-learn fits and predicts on nd4c's arrays: the digits of examples/digits by linear discriminants.

    SCIPY_ARRAY_API=1 python examples/python/with_scikit_learn.py"""
import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")

import sklearn
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nd4c as xp

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "digits")


def main() -> None:
    images = xp.load(os.path.join(FOLDER, "digits_images.npy"))
    x = xp.reshape(xp.astype(images, xp.float64), (-1, 64))
    y = xp.astype(xp.load(os.path.join(FOLDER, "digits_labels.npy")), xp.int64)

    with sklearn.config_context(array_api_dispatch=True):
        x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=100, random_state=0)
        model = make_pipeline(StandardScaler(), PCA(20, svd_solver="full"), LinearDiscriminantAnalysis())
        read = model.fit(x_train, y_train).predict(x_test)
        print("predictions: %s of %s on %s" % (type(read).__name__, read.dtype, read.device))
        print("right: %d of %d" % (accuracy_score(y_test, read, normalize=False), len(y_test)))


if __name__ == "__main__":
    main()
