"""Objects that own a handle of the C library: copies, pickles, close() and `with`."""
import copy
import gc
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import nd4c

ROOT = pathlib.Path(os.environ.get("ND4C_TEST_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
DIGITS = str(ROOT / "examples" / "digits" / "digits.onnx")
X = np.zeros((1, 1, 8, 8), np.float32)


@pytest.mark.parametrize("source", [DIGITS, pathlib.Path(DIGITS), pathlib.Path(DIGITS).read_bytes()], ids=["text", "path", "bytes"])
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_of_a_model_live_by_themselves(source, again):
    model = nd4c.onnx.load(source, device="cpu:0")
    expected = model(X).tolist()
    other = again(model)
    assert other(X).tolist() == expected
    del other
    gc.collect()
    assert model(X).tolist() == expected
    other = again(model)
    del model
    gc.collect()
    assert other(X).tolist() == expected


def test_a_pickled_model_runs_in_another_process(tmp_path):
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(nd4c.onnx.load(DIGITS)))
    done = subprocess.run([sys.executable, "-c", "import pickle, sys, nd4c\nmodel = pickle.load(open(sys.argv[1], 'rb'))\n"
                           "print(model(nd4c.zeros((1, 1, 8, 8), dtype='float32')).shape)", str(tmp_path / "model.pickle")],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "(1, 10)\n"), done.stderr


def test_a_model_with_weights_in_further_files_pickles_its_path(tmp_path):
    def field(number, data):
        data = data if isinstance(data, bytes) else data.encode()
        return bytes([number << 3 | 2, len(data)]) + data
    (tmp_path / "weights.bin").write_bytes(np.arange(3, dtype=np.float32).tobytes())
    weight = (bytes([8, 3, 16, 1]) + field(8, "w") + field(13, field(1, "location") + field(2, "weights.bin")) + bytes([112, 1]))
    value = field(1, "x") + field(2, field(1, bytes([8, 1]) + field(2, field(1, bytes([8, 3])))))
    graph = (field(1, field(1, "x") + field(1, "w") + field(2, "y") + field(4, "Add")) + field(2, "net") + field(5, weight)
             + field(11, value) + field(12, value.replace(b"x", b"y")))
    (tmp_path / "model.onnx").write_bytes(bytes([8, 8]) + field(7, graph) + field(8, bytes([16, 17])))
    model = nd4c.onnx.load(tmp_path / "model.onnx")
    other = pickle.loads(pickle.dumps(model))
    assert other.name == str(tmp_path / "model.onnx") and other(np.ones(3, np.float32)).tolist() == [1, 2, 3]


def test_a_closed_model_says_so():
    with nd4c.onnx.load(DIGITS) as model:
        result = model(X)
    assert result.shape == (1, 10)
    model.close()
    for use in (lambda: model(X), model.report, lambda: model.compile("cpu:0", "x"), model.__enter__):
        with pytest.raises(ValueError, match="closed"):
            use()
    assert copy.copy(model)(X).tolist() == result.tolist()


@pytest.mark.parametrize("make", [
    lambda: nd4c.workspace(), lambda: nd4c.workspace("copied", outliving="refused", initial_bytes=4096),
    lambda: nd4c.routing("vote", ["cpu:0"], transfer=False, small_bytes=10, creation="cpu:0", categories={"nn": ["cpu:0"]},
                         ops={"add": ["cpu:0"]})])
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_copies_of_workspaces_and_routings_have_the_same_settings(make, again):
    made = make()
    other = again(made)
    assert type(other) is type(made) and other._made == made._made
    for one in (made, other, made):
        with one:
            assert float(nd4c.ones(3).sum()) == 3
    del other
    gc.collect()
    with made:
        assert float(nd4c.ones(3).sum()) == 3
    made.close()
    made.close()


def test_closing():
    unnamed, routing, cancellation = nd4c.workspace(), nd4c.routing(), nd4c.cancellation()
    with pytest.raises(ValueError):
        with unnamed:
            unnamed.close()
    with cancellation:
        cancellation.close()  # the thread leaves it all the same
    assert float(nd4c.ones(2).sum()) == 2
    for made in (unnamed, routing, cancellation):
        made.close()
        with pytest.raises(ValueError, match="closed"):
            made.__enter__()


@pytest.mark.parametrize("make", [
    lambda: nd4c.cancellation(), lambda: nd4c.onnx.InferenceSession(DIGITS),
    lambda: nd4c.memory.to_external(nd4c.ones(3), "host_pointer")])
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_belongs_to_a_process_is_neither_copied_nor_pickled(make, again):
    with pytest.raises(TypeError, match="neither copied nor pickled"):
        again(make())


def test_a_model_is_closed_when_its_last_run_is_over():
    import threading
    for make in (lambda: nd4c.onnx.load(DIGITS), lambda: nd4c.onnx.InferenceSession(DIGITS)):
        for _ in range(5):
            model, x, outcomes, begun = make(), {"image": np.zeros((64, 1, 8, 8), np.float32)}, [], threading.Event()
            run = model.run if isinstance(model, nd4c.onnx.Model) else lambda feed, model=model: model.run(None, feed)

            def work():
                try:
                    for _ in range(50):
                        run(x)
                        begun.set()
                except ValueError as error:
                    outcomes.append(str(error))
            threads = [threading.Thread(target=work) for _ in range(3)]
            for thread in threads:
                thread.start()
            begun.wait(60)
            model.close()
            for thread in threads:
                thread.join(60)
            assert not any(thread.is_alive() for thread in threads)
            assert all("closed" in text for text in outcomes)
            with pytest.raises(ValueError, match="closed"):
                run(x)


def test_the_configuration_can_be_cleared():
    nd4c.config["nd4c.device.transfer"] = "eager"
    nd4c.config.clear()
    assert nd4c.config["nd4c.device.transfer"] == "on_demand"
    with pytest.raises(TypeError, match="cannot be removed"):
        nd4c.config.popitem()
