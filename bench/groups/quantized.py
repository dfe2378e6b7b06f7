"""Whole networks of 8 bits."""

import quantized

from rows import Group, Row

OWN = ("resnet50", "mobilenet_v2", "light_squeezenet", "bert_base")  # whose results in 8 bits are near those in float32

GROUP = Group("quantized", "Quantised models",
              "Networks of the group models, quantised to 8 bits by ONNX Runtime (`tests/tools/quantized.py`): `.qdq` statically, "
              "with uint8 activations and int8 weights of a scale for each channel, `.dynamic` by quantize_dynamic. All libraries "
              "run the same file. A byte that is rounded otherwise changes later layers, so results differ between libraries, by less "
              "than from those in float32. `.own`, measured where the table has such a row: nd4c quantises the network in float32 "
              "itself, calibrated on its sample input, and the others run the file of `.qdq`.",
              [Row(name, {}, "onnx", onnx=f"file({name})", check="scaled", tolerance=0.25) for name in quantized.NAMES]
              + [Row(base + ".own", {}, "onnx", onnx=f"file({base}.qdq)", own=base, check="scaled", tolerance=0.25)
                 for base in OWN], mean=1.0, batch=4, seconds=3.0)
