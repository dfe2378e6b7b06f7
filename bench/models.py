"""The model of a row: an ONNX file where the row names one, else a model of one node or a few."""

import pathlib

import onnx_rows

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "build" / "models"


def model_of(row, inputs):
    """The model's bytes, of a file its path, and the inputs that are not constants: name -> array."""
    if not row.onnx.startswith("file("):
        return onnx_rows.make(row, inputs)
    import make_models

    name = row.onnx[len("file("):-1]
    return str(make_models.make(name, FOLDER)), make_models.sample_inputs(name)
