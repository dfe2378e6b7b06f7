"""ONNX models: model = nd4c.onnx.load("model.onnx"); outputs = model.run({"x": x}).

InferenceSession, SessionOptions and their neighbours have the names and the manners of ONNX Runtime."""
from nd4c.onnx._calibration import Calibration, Layer, calibrate
from nd4c.onnx._model import Model, Node, Value, load
from nd4c.onnx._metadata import ModelMetadata
from nd4c.onnx._options import ExecutionMode, GraphOptimizationLevel, RunOptions, SessionOptions
from nd4c.onnx._providers import get_all_providers, get_available_providers, get_device
from nd4c.onnx._runner import Runner
from nd4c.onnx._session import InferenceSession
from nd4c.onnx._values import IOBinding, NodeArg, OrtValue

__all__ = ["Calibration", "ExecutionMode", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "Layer", "Model", "ModelMetadata", "Node", "NodeArg", "OrtValue",
           "RunOptions", "Runner", "SessionOptions", "Value", "calibrate", "get_all_providers", "get_available_providers", "get_device", "load"]


def __getattr__(name):
    """The text about a name that the module lacks."""
    from nd4c._suggestions import MissingAttribute
    raise MissingAttribute(__name__, name)
