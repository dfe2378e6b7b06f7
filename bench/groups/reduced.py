"""Whole networks in bfloat16."""

import make_models
import networks

from rows import Group, Row

GROUP = Group("reduced", "Models in bfloat16",
              "The same networks, whose nodes of float32 compute in bfloat16 (`precision` of nd4c, the inference precision of "
              "OpenVINO); inputs and outputs stay float32. `bench/python/precision.py` prints the errors against float32.",
              [Row(name, {}, "onnx", onnx=f"file({name})", check="scaled", tolerance=0.05, precision="bfloat16")
               for name in (*make_models.NAMES, *networks.NAMES) if name not in ("trees", "lstm_tagger")], mean=1.0, batch=4, seconds=3.0)
