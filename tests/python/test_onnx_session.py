"""nd4c.onnx.InferenceSession: ONNX Runtime's names and manners."""
import copy
import os
import pathlib
import re
import threading

import numpy as np
import pytest

import nd4c
from nd4c import onnx

ROOT = pathlib.Path(os.environ.get("ND4C_TEST_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
CPU = ["CPUExecutionProvider"]


def images(count):
    return np.linspace(0, 1, count * 64, dtype=np.float32).reshape(count, 1, 8, 8)


@pytest.fixture(scope="module")
def session():
    return onnx.InferenceSession(DIGITS, providers=CPU)


def test_facts(session):
    (given,), (made,) = session.get_inputs(), session.get_outputs()
    assert (given.name, given.type, given.shape) == ("image", "tensor(float)", ["batch", 1, 8, 8])
    assert (made.name, made.type) == ("logits", "tensor(float)") and session.get_overridable_initializers() == []
    meta = session.get_modelmeta()
    assert (meta.graph_name, meta.producer_name, meta.custom_metadata_map) == ("digits", "nd4c examples/digits", {})
    assert meta == onnx.InferenceSession(DIGITS.read_bytes()).get_modelmeta()
    assert session.get_providers() == CPU and session.get_provider_options() == {CPU[0]: {}}
    assert CPU[0] in onnx.get_available_providers() and set(onnx.get_available_providers()) <= set(onnx.get_all_providers())


def field(number, data):
    """A field of a message in the file's format, of at most 127 bytes."""
    data = data if isinstance(data, bytes) else data.encode()
    return bytes([number << 3 | 2, len(data)]) + data


def test_metadata_of_a_model_that_has_all():
    value = field(1, "x") + field(2, field(1, bytes([8, 1]) + field(2, b"")))
    graph = field(1, field(1, "x") + field(2, "y") + field(4, "Relu")) + field(2, "net") + field(10, "a text") + field(11, value) + field(
        12, value.replace(b"x", b"y"))
    model = (bytes([8, 8]) + field(2, "me") + field(4, "org") + bytes([40, 7]) + field(6, "words") + field(7, graph)
             + field(8, bytes([16, 17])) + field(14, field(1, "k") + field(2, "v")))
    meta = onnx.InferenceSession(model).get_modelmeta()
    assert meta == onnx.ModelMetadata({"k": "v"}, "words", "org", "a text", "net", "me", 7)


def test_runs_override_initialisers():
    def info(name):
        return field(1, name) + field(2, field(1, bytes([8, 1]) + field(2, field(1, bytes([8, 2])))))
    tensor = bytes([8, 2, 16, 1]) + field(8, "b") + field(9, np.array([1, 2], np.float32).tobytes())
    graph = (field(1, field(1, "x") + field(1, "b") + field(2, "y") + field(4, "Add")) + field(5, tensor) + field(11, info("x"))
             + field(11, info("b")) + field(12, info("y")))
    model = bytes([8, 8]) + field(7, graph) + field(8, bytes([16, 17]))
    x, b = np.array([10, 20], np.float32), np.array([5, 6], np.float32)
    with onnx.InferenceSession(model, providers=CPU) as session:
        assert [value.name for value in session.get_inputs()] == ["x"]
        assert [(value.name, value.shape) for value in session.get_overridable_initializers()] == [("b", [2])]
        for feed, expected in (({"x": x}, [11, 22]), ({"x": x, "b": b}, [15, 26]), ({"x": x}, [11, 22]), ({"b": x, "x": x}, [20, 40])):
            assert session.run(None, feed)[0].tolist() == expected
        binding = session.io_binding()
        binding.bind_cpu_input("x", x)
        binding.bind_cpu_input("b", b)
        binding.bind_output("y")
        session.run_with_iobinding(binding)
        assert binding.copy_outputs_to_cpu()[0].tolist() == [15, 26]
    with onnx.load(model) as opened, onnx.load(model, overridden=["b"]) as other:
        assert [value.name for value in opened.defaults] == ["b"] and other.defaults == ()
        assert other(x, b).tolist() == [15, 26] and copy.copy(other)(x, b).tolist() == [15, 26]
        with pytest.raises(ValueError, match="input 'b' has an initializer"):
            opened.run({"x": x, "b": b})
    with pytest.raises(ValueError, match="no input 'x' with an initializer"):
        onnx.load(model, overridden=["x"])
    with pytest.raises(TypeError, match="a list of names"):
        onnx.load(model, overridden="b")


def test_run(session):
    x = images(3)
    expected = np.asarray(nd4c.onnx.load(DIGITS)(x))
    for names in (None, [], ["logits"]):
        (result,) = session.run(names, {"image": x})
        assert type(result) is np.ndarray and result.dtype == np.float32
        np.testing.assert_allclose(result, expected, rtol=1e-5)
    (value,) = session.run_with_ort_values(["logits"], {"image": onnx.OrtValue.ortvalue_from_numpy(x)})
    assert type(value.array) is nd4c.Array and value.shape() == [3, 10] and value.data_type() == "tensor(float)"
    np.testing.assert_allclose(value.numpy(), expected, rtol=1e-5)
    done, got = threading.Event(), []
    session.run_async(None, {"image": x}, lambda results, data, failure: (got.append((results, data, failure)), done.set()), 42)
    assert done.wait(60) and got[0][1:] == (42, "")
    np.testing.assert_allclose(got[0][0][0], expected, rtol=1e-5)


@pytest.mark.parametrize("call, kind, words", [
    (lambda s: s.run(None, {}), ValueError, "image"),
    (lambda s: s.run(["x"], {"image": images(1)}), ValueError, "no output 'x'; it has logits"),
    (lambda s: s.run(None, {"image": images(1).astype("f8")}), TypeError, "image"),
    (lambda s: s.run(None, {"image": images(1), "b": images(1)}), ValueError, "b"),
    (lambda s: s.run(None, images(1)), TypeError, "dict of arrays by name"),
    (lambda s: onnx.InferenceSession("/nonexistent.onnx"), FileNotFoundError, "nonexistent"),
    (lambda s: onnx.InferenceSession(b"abc"), ValueError, "byte"),
    (lambda s: onnx.InferenceSession(DIGITS, providers=["GPU"]), ValueError, "no provider of ONNX Runtime or nd4c; this machine has"),
    (lambda s: onnx.InferenceSession(DIGITS, providers=["FooExecutionProvider"]), ValueError, "'FooExecutionProvider' is no"),
    (lambda s: onnx.InferenceSession(DIGITS, providers=["Tensorrt"]), ValueError, "'Tensorrt' is no provider"),
    (lambda s: onnx.InferenceSession(DIGITS, providers=[5]), ValueError, "5 is no provider"),
    (lambda s: onnx.InferenceSession(DIGITS, providers="CPUExecutionProvider"), TypeError, "list of names"),
    (lambda s: onnx.InferenceSession(DIGITS, providers=CPU, provider_options=[]), ValueError, "0 entries, providers has 1"),
    (lambda s: onnx.InferenceSession(DIGITS, providers=[(CPU[0], {"device_id": 9})]), ValueError, "no device_id 9"),
    (lambda s: onnx.InferenceSession(DIGITS, threads=3), TypeError, "'threads'"),
    (lambda s: setattr(onnx.SessionOptions(), "intra_op_threads", 1), AttributeError, "intra_op_num_threads"),
    (lambda s: setattr(onnx.SessionOptions(), "optimized_model_filepath", "x"), NotImplementedError, "compile"),
    (lambda s: s.end_profiling(), RuntimeError, "enable_profiling"),
    (lambda s: s.io_binding().bind_output("x"), ValueError, "no output 'x'"),
])
def test_errors(session, call, kind, words):
    with pytest.raises(kind, match=words):
        call(session)


# ONNX Runtime's get_all_providers(), and names that older releases had.
RUNTIME = """NvTensorRTRTX Tensorrt CUDA MIGraphX OpenVINO Dnnl VitisAI QNN Nnapi VSINPU Js CoreML ArmNN ACL Dml Rknpu WebNN WebGpu
    Xnnpack CANN Azure ROCM Tvm SNPE""".split()


@pytest.mark.parametrize("name", RUNTIME)
def test_every_provider_of_onnx_runtime_is_known(name):
    name += "ExecutionProvider"
    if name in onnx.get_available_providers():
        pytest.skip("this machine has %s" % name)
    with pytest.warns(UserWarning, match="%s has no device of nd4c's on this machine and is left out" % name):
        session = onnx.InferenceSession(DIGITS, providers=[name] + CPU)
    assert session.get_providers() == CPU


def test_a_provider_without_a_device_is_left_out_with_a_warning():
    if "CUDAExecutionProvider" in onnx.get_available_providers():
        return
    with pytest.warns(UserWarning, match="CUDAExecutionProvider has no device") as caught:
        session = onnx.InferenceSession(DIGITS, providers=["CUDAExecutionProvider"] + CPU)
    assert session.get_providers() == CPU and caught[0].filename == __file__


def test_options(tmp_path):
    options = onnx.SessionOptions()
    options.intra_op_num_threads, options.use_deterministic_compute = 1, True
    options.graph_optimization_level = onnx.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_profiling, options.profile_file_prefix = True, str(tmp_path / "profile")
    options.add_free_dimension_override_by_name("batch", 2)
    with onnx.InferenceSession(str(DIGITS), options) as session:
        assert session.get_inputs()[0].shape == [2, 1, 8, 8]
        assert session.run(None, {"image": images(2)})[0].shape == (2, 10)
        with pytest.raises(ValueError, match="axis 0 is batch, which the session's options fix at 2; it is 3"):
            session.run(None, {"image": images(3)})
        path = session.end_profiling()
    assert os.path.dirname(path) == str(tmp_path) and "traceEvents" in open(path).read(4096)
    with pytest.raises(ValueError, match="closed"):
        session.run(None, {"image": images(2)})


def test_passes_of_a_model():
    images = np.load(DIGITS.parent / "digits_images.npy")[:3]
    expected = np.asarray(nd4c.onnx.load(DIGITS)(images))
    model = nd4c.onnx.load(DIGITS, passes="-linear,-layout")
    for loaded in (model, copy.copy(model)):
        assert np.allclose(np.asarray(loaded(images)), expected, atol=1e-5)
        assert re.search(r"switched off.*linear.*layout|switched off.*layout.*linear", loaded.report())
    with pytest.raises(ValueError, match="nosuch"):
        nd4c.onnx.load(DIGITS, passes="-nosuch")


def test_lists_of_inputs_are_kept_apart():
    def info(name):
        return field(1, name) + field(2, field(1, bytes([8, 1]) + field(2, field(1, bytes([8, 2])))))
    graph = (field(1, field(1, "x") + field(1, "b") + field(2, "y") + field(4, "Sub")) + field(11, info("x")) + field(11, info("b"))
             + field(12, info("y")))
    model = onnx.load(bytes([8, 8]) + field(7, graph) + field(8, bytes([16, 17])))
    x, b = np.array([5, 7], np.float32), np.array([1, 2], np.float32)
    for _ in range(2):
        assert model.run({"x": x, "b": b})["y"].tolist() == [4, 5] and model.run({"b": b, "x": x})["y"].tolist() == [4, 5]
        with pytest.raises(ValueError, match="b"):
            model.run({"x": x})
    for number in range(40):
        with pytest.raises(ValueError, match="other%d" % number):
            model.run({"x": x, "b": b, "other%d" % number: x})
    assert len(model._names) <= 16 and model.run({"b": b, "x": x})["y"].tolist() == [4, 5]


def test_loop_limit_of_a_model():
    assert nd4c.onnx.load(DIGITS, loop_limit=100)(images(1)).shape == (1, 10)
    for refused in (-1, 2**70):
        with pytest.raises(ValueError, match="loop_limit is %d" % refused):
            nd4c.onnx.load(DIGITS, loop_limit=refused)


def test_terminate(session):
    options = onnx.RunOptions()
    options.terminate = True
    with pytest.raises(nd4c.errors.CancelledError):
        session.run(None, {"image": images(1)}, options)
    options.terminate = False
    assert session.run(None, {"image": images(1)}, options)[0].shape == (1, 10)


def test_binding(session):
    x, y = images(2), np.empty((2, 10), np.float32)
    binding = session.io_binding()
    binding.bind_cpu_input("image", x)
    binding.bind_output("logits")
    session.run_with_iobinding(binding)
    expected = session.run(None, {"image": x})[0]
    np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], expected)
    binding.clear_binding_inputs()
    binding.clear_binding_outputs()
    binding.bind_input("image", "cpu", 0, np.float32, x.shape, x.ctypes.data)
    binding.bind_output("logits", "cpu", 0, np.float32, y.shape, y.ctypes.data)
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(y, expected)
    assert binding.get_outputs()[0].data_ptr() == y.ctypes.data
    x[:] = images(4)[2:]
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(y, session.run(None, {"image": x})[0])


def test_runner(session):
    model = onnx.load(str(DIGITS))
    with model.runner() as runner:
        image, logits = nd4c.zeros((2, 1, 8, 8), dtype="float32"), nd4c.zeros((2, 10), dtype="float32")
        with pytest.raises(ValueError, match="nothing is bound to input 'image'"):
            runner.run()
        with pytest.raises(ValueError, match="there is no input 'picture'"):
            runner.bind_input("picture", image)
        with pytest.raises(TypeError, match="to an nd4c.Array, not to ndarray"):
            runner.bind_input("image", images(2))
        with pytest.raises(TypeError, match="expected float32"):
            runner.bind_input("image", nd4c.zeros((2, 1, 8, 8)))
        runner.bind_input("image", image)
        runner.bind_output("logits", logits)
        for first in range(3):
            image[...] = images(5)[first:first + 2]
            runner.run()
            np.testing.assert_array_equal(np.asarray(logits), session.run(None, {"image": images(5)[first:first + 2]})[0])
        runner.donate("image", image)
        runner.run()
        with pytest.raises(nd4c.errors.PoisonedError, match="donated"):
            image.tolist()
        with pytest.raises(ValueError, match="nothing is bound"):
            runner.run()
        model.close()
        with pytest.raises(ValueError, match="closed"):
            runner.run()


def test_steps_of_a_model(session):
    """As those of a plan: profile(), steps and explain()."""
    with onnx.load(str(DIGITS)) as model:
        for before in (model.profile().__enter__, lambda: model.steps):
            with pytest.raises(ValueError, match="has not run yet"):
                before()
        y = model(images(2))
        assert all(step.runs == 0 for step in model.steps)
        with model.profile() as profiled:
            for _ in range(3):
                model(images(2))
        assert profiled is model and len(model.steps) > 3
        assert [step.runs for step in model.steps] == [3] * len(model.steps)
        assert all(type(step) is nd4c.graph.Step and step.nanoseconds >= 3 * step.least_nanoseconds > 0 for step in model.steps)
        np.testing.assert_array_equal(np.asarray(model(images(2))), np.asarray(y))
        assert [step.runs for step in model.steps] == [3] * len(model.steps)  # the profile has ended
        text = model.explain({"image": (2, 1, 8, 8)})
        assert all("\n        " + step.kernel in text for step in model.steps) and "why each kernel" in text
        with pytest.raises(ValueError, match="explain: the model leaves the shape of input 'image' free: give shapes"):
            model.explain()
        with pytest.raises(KeyError, match="explain: shapes: the model has no input 'picture'"):
            model.explain({"picture": (2, 1, 8, 8)})
    with pytest.raises(ValueError, match="closed"):
        model.steps
    with pytest.raises(NotImplementedError, match="placed by devices="):
        onnx.load(str(DIGITS), devices=["cpu:0"]).explain({"image": (2, 1, 8, 8)})
    plain = onnx.load(str(DIGITS), optimize=False).explain({"image": (2, 1, 8, 8)})
    assert plain.count("node '") > text.count("node '")  # load's options hold


def test_an_exception_of_progress_ends_the_run(session):
    told = []

    def refuse(what, done, total):
        told.append(what)
        raise LookupError("refused at %s" % what)

    model, x = onnx.load(str(DIGITS), progress=refuse), images(2)
    with pytest.raises(LookupError, match="refused at importing"):
        model(x)
    assert told == ["importing"]
    runner = model.runner()
    runner.bind_input("image", nd4c.asarray(x))
    with pytest.raises(LookupError, match="refused at"):
        runner.run()
    with pytest.raises(LookupError, match="refused at"):
        nd4c.onnx.calibrate(onnx.load(str(DIGITS), progress=refuse), [nd4c.asarray(x)])
    with pytest.raises(TypeError, match="by name, not by int"):
        runner.output(5)


def test_values():
    value = onnx.OrtValue.ortvalue_from_shape_and_type([2, 3], 7)
    assert value.data_type() == "tensor(int64)" and value.element_type() == 7 and value.tensor_size_in_bytes() == 48
    value.update_inplace(np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(value.numpy(), np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(np.from_dlpack(value), np.arange(6).reshape(2, 3))
    assert value.device_name() == "cpu" and value.has_value() and value.is_tensor() and not value.is_tensor_sequence()
    assert onnx.OrtValue.from_dlpack(np.arange(3)).shape() == [3]
    assert onnx.OrtValue([nd4c.ones(2)]).data_type() == "seq(tensor(double))"
    with pytest.raises(ValueError, match="no array but a list"):
        onnx.OrtValue([nd4c.ones(2)]).shape()


def test_zip_map_gives_probabilities_and_the_model_their_classes():
    """As skl2onnx ends a classifier: a sequence of maps from class to probability, of a tensor."""
    def info(name, shape):
        return field(1, name) + field(2, field(1, bytes([8, 1]) + field(2, b"".join(field(1, bytes([8, n])) for n in shape))))
    labels = field(1, "classlabels_strings") + field(9, "no") + field(9, "yes") + bytes([160, 1, 8])
    node = field(1, "x") + field(2, "maps") + field(4, "ZipMap") + field(7, "ai.onnx.ml") + field(5, labels)
    maps = field(1, "maps") + field(2, field(4, field(1, field(5, bytes([8, 8])))))
    model = (bytes([8, 8]) + field(7, field(1, node) + field(11, info("x", (2, 2))) + field(12, maps))
             + field(8, bytes([16, 17])) + field(8, field(1, "ai.onnx.ml") + bytes([16, 1])))
    x = np.array([[0.25, 0.75], [1, 0]], np.float32)
    opened = onnx.load(model)
    assert {name: array.tolist() for name, array in opened.classes.items()} == {"maps": ["no", "yes"]}
    assert opened.outputs == (onnx.Value("maps", "array", nd4c.float32, (None, 2)),)
    assert opened(x).tolist() == x.tolist() and opened.report().endswith("a column for each class: 'no', 'yes'\n")
    (given,) = onnx.InferenceSession(model, providers=CPU).run(None, {"x": x})
    assert given.tolist() == x.tolist() and given.dtype == np.float32
    opened.close()
    with pytest.raises(ValueError, match="closed"):
        opened.classes


def test_a_failing_node_is_named_once():
    def info(name, count):
        return field(1, name) + field(2, field(1, bytes([8, 1]) + field(2, field(1, bytes([8, count])))))
    node = field(1, "x") + field(1, "z") + field(2, "y") + field(3, "sum up") + field(4, "Add")
    graph = field(1, node) + field(11, info("x", 2)) + field(11, info("z", 3)) + field(12, field(1, "y"))
    model = onnx.load(bytes([8, 8]) + field(7, graph) + field(8, bytes([16, 17])))
    with pytest.raises(ValueError, match=r"^node 'sum up' \(Add\) at byte \d+: add: ") as caught:
        model(np.ones(2, np.float32), np.ones(3, np.float32))
    assert str(caught.value).count("sum up") == 1


def test_a_profile_before_the_first_run_says_what_to_do():
    with pytest.raises(ValueError, match="has not run yet; run it once before its profile"):
        with onnx.load(DIGITS).profile():
            raise AssertionError("not reached")
