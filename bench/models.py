"""The model of a row: an ONNX file where the row names one, else a model of one node or a few."""

import onnx_rows


def model_of(row, inputs):
    """The model's bytes, of a file its path, and the inputs that are not constants: name -> array."""
    if not row.onnx.startswith("file("):
        return onnx_rows.make(row, inputs)
    import make_models

    name = row.onnx[len("file("):-1]
    return str(make_models.make(name, make_models.FOLDER)), make_models.sample_inputs(name)
