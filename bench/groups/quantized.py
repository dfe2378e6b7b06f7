"""Whole networks of 8 bits."""

import quantized

from rows import Group, Row

GROUP = Group("quantized", "Quantised models",
              "Networks of the group models, quantised to 8 bits by ONNX Runtime (`tests/tools/quantized.py`): `.qdq` statically, "
              "with uint8 activations and int8 weights of a scale for each channel, `.dynamic` by quantize_dynamic. All libraries "
              "run the same file. A byte that is rounded otherwise changes later layers, so results differ between libraries, by less "
              "than from those in float32.",
              [Row(name, {}, "onnx", onnx=f"file({name})", check="scaled", tolerance=0.25) for name in quantized.NAMES], mean=1.0)
