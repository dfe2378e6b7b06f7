"""A loop whose number of rounds is an input: `python bench/python/loops.py` (docs/how-to/measuring.md says what is needed).

nd4c runs it as a node with a body, and interpreted node by node: a second output, which is a sequence, makes the model no
graph, and with all intermediate values as outputs the rounds have no plan either. ONNX Runtime runs the first model. The
three take turns, and the least time of each counts."""

import argparse
import time

import numpy as np


def make(size, product, sequence):
    """tanh(v * w + x), or tanh(v @ w + x), for each round."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    shape = [size, size] if product else [size]
    w = np.random.default_rng(3).standard_normal(shape).astype(np.float32) / size
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("MatMul" if product else "Mul", ["v", "w"], ["p"]), helper.make_node("Add", ["p", "x"], ["s"]),
         helper.make_node("Tanh", ["s"], ["next"]), helper.make_node("Identity", ["go"], ["on"])], "body",
        [value("i", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("v", TensorProto.FLOAT, shape)],
        [value("on", TensorProto.BOOL, []), value("next", TensorProto.FLOAT, shape)])
    nodes = [helper.make_node("Loop", ["trips", "", "x"], ["y"], body=body)]
    outputs = [value("y", TensorProto.FLOAT, shape)]
    if sequence:
        nodes.append(helper.make_node("SequenceConstruct", ["x"], ["list"]))
        outputs.append(helper.make_tensor_sequence_value_info("list", TensorProto.FLOAT, shape))
    graph = helper.make_graph(nodes, "loop", [value("trips", TensorProto.INT64, []), value("x", TensorProto.FLOAT, shape)],
                              outputs, [numpy_helper.from_array(w, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model.SerializeToString()


def runners(size, product, feeds):
    import nd4c.onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(make(size, product, False), options, providers=["CPUExecutionProvider"])
    planned = nd4c.onnx.load(make(size, product, False))
    interpreted = nd4c.onnx.load(make(size, product, True), all_intermediates=True)
    return {"nd4c": lambda: planned.run(feeds), "interpreted": lambda: interpreted.run(feeds),
            "onnxruntime": lambda: session.run(["y"], feeds)}


def first(result):
    return np.asarray(result["y"] if isinstance(result, dict) else result[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=15)
    arguments = parser.parse_args()
    for size, product in ((8, False), (1024, False), (64, True)):
        shape = [size, size] if product else [size]
        feeds = {"trips": np.int64(arguments.rounds), "x": np.random.default_rng(4).standard_normal(shape).astype(np.float32)}
        feeds["trips"] = np.array(feeds["trips"])
        calls = runners(size, product, feeds)
        times = dict.fromkeys(calls, float("inf"))
        results = {name: first(call()) for name, call in calls.items()}
        for name, result in results.items():
            assert np.allclose(result, results["nd4c"], atol=1e-5), name
        for _ in range(arguments.repeat):
            for name, call in calls.items():
                begin = time.perf_counter()
                call()
                times[name] = min(times[name], time.perf_counter() - begin)
        what = f"{size} x {size} product" if product else f"{size} elements"
        print(f"{arguments.rounds} rounds, {what}: {times['nd4c'] / arguments.rounds * 1e6:.2f} us a round; "
              f"{times['interpreted'] / times['nd4c']:.1f} times the interpreter, "
              f"{times['onnxruntime'] / times['nd4c']:.2f} times ONNX Runtime")


if __name__ == "__main__":
    main()
