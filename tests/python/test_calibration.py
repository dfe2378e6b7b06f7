"""nd4c.onnx.calibrate: ranges are NumPy's, a model in int8 is near the one in float32, and what is refused."""
import copy
import os
import pickle

import numpy as np
import pytest

import nd4c

DIGITS = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "digits")
MODEL = os.path.join(DIGITS, "digits.onnx")


@pytest.fixture(scope="module")
def images():
    return nd4c.load(os.path.join(DIGITS, "digits_images.npy"))


def samples_of(images):
    return [images[start:start + 20] for start in range(0, 100, 20)]


def run_in_int8(images, **named):
    try:
        return np.asarray(nd4c.onnx.load(MODEL, precision="int8", **named)(images))
    except NotImplementedError:
        pytest.skip("the device has no fast product of bytes")


def test_ranges_are_those_of_the_values(images):
    calibration = nd4c.onnx.calibrate(MODEL, ({"image": sample} for sample in samples_of(images)))
    seen = np.asarray(images)[:100]
    assert calibration.ranges["image"] == (seen.min(), seen.max())
    assert calibration.layers == ()


@pytest.mark.parametrize("method", ["min_max", "moving_average", "percentile", "entropy", "mse"])
def test_int8_is_near_float32(images, method):
    calibration = nd4c.onnx.calibrate(MODEL, samples_of(images), method=method, layers=True)
    assert len(calibration.layers) == 4 and all(layer.decibels > 15 for layer in calibration.layers)
    exact = np.asarray(nd4c.onnx.load(MODEL)(images))
    actual = run_in_int8(images, calibration=calibration)
    assert 0 < np.abs(actual - exact).max()
    assert np.mean(actual.argmax(axis=1) == exact.argmax(axis=1)) > 0.97


def test_files_and_copies_give_the_same(images, tmp_path):
    calibration = nd4c.onnx.calibrate(MODEL, samples_of(images), float32=["linear"])
    calibration.save(tmp_path / "ranges.json")
    expected = run_in_int8(images, calibration=calibration)
    for other in (nd4c.onnx.Calibration(tmp_path / "ranges.json"), copy.copy(calibration),
                  pickle.loads(pickle.dumps(calibration)), tmp_path / "ranges.json"):
        assert np.array_equal(run_in_int8(images, calibration=other), expected)
    model = nd4c.onnx.load(MODEL, precision="int8", calibration=calibration)
    model(images)
    assert "stays in float32: linear 'Gemm'" in model.report()


def test_sessions_take_the_file(images, tmp_path):
    calibration = nd4c.onnx.calibrate(MODEL, samples_of(images))
    calibration.save(tmp_path / "ranges.json")
    expected = run_in_int8(images, calibration=calibration)
    options = nd4c.onnx.SessionOptions()
    options.add_session_config_entry("nd4c.precision", "int8")
    options.add_session_config_entry("nd4c.calibration", str(tmp_path / "ranges.json"))
    session = nd4c.onnx.InferenceSession(MODEL, options)
    assert np.array_equal(session.run(None, {"image": images})[0], expected)
    options.add_session_config_entry("nd4c.calibration", str(tmp_path / "nothing.json"))
    with pytest.raises(FileNotFoundError, match="nothing"):
        nd4c.onnx.InferenceSession(MODEL, options)


@pytest.mark.parametrize("call, error, words", [
    (lambda x: nd4c.onnx.calibrate(MODEL, []), ValueError, "at least one"),
    (lambda x: nd4c.onnx.calibrate(MODEL, [x], method="best"), ValueError, "min_max"),
    (lambda x: nd4c.onnx.calibrate(MODEL, [{"picture": x}]), KeyError, "image"),
    (lambda x: nd4c.onnx.calibrate(MODEL, [x * float("nan")]), ValueError, "NaN"),
    (lambda x: nd4c.onnx.calibrate(MODEL, [x], percentile=101), ValueError, "101"),
    (lambda x: nd4c.onnx.calibrate(MODEL, [x], float32=["nothing"]), nd4c.errors.Error, "nothing"),
    (lambda x: nd4c.onnx.load(MODEL, calibration=nd4c.onnx.calibrate(MODEL, [x])), ValueError, "expected int8"),
    (lambda x: nd4c.onnx.Calibration(MODEL), ValueError, "JSON"),
    (lambda x: nd4c.onnx.Calibration("/nonexistent.json"), FileNotFoundError, "nonexistent"),
])
def test_errors(images, call, error, words):
    with pytest.raises(error, match=words):
        call(images)


def test_one_name_is_a_text(images):
    ranges = nd4c.onnx.calibrate(MODEL, [images], float32="linear")
    assert pickle.dumps(ranges) == pickle.dumps(nd4c.onnx.calibrate(MODEL, [images], float32=["linear"]))


def test_it_can_be_cancelled(images):
    with nd4c.cancellation() as stop:
        stop.request()
        with pytest.raises(nd4c.errors.CancelledError):
            nd4c.onnx.calibrate(MODEL, [images])
