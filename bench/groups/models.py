"""Whole networks, batch 1."""

import make_models

from rows import Group, Row

GROUP = Group("models", "Models",
              "Batch 1, single precision. The nine networks of the package onnx with seeded random weights, and an encoder of "
              "BERT-base's shape at 128 words (`tests/tools/make_models.py`). The bar: at most 1.5 times ONNX Runtime's time.",
              [Row(name, {}, "onnx", onnx=f"file({name})", bar=1 / 1.5, against=("onnx",), check="scaled")
               for name in make_models.NAMES])
