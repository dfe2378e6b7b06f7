"""Whole networks, batch 1."""

import make_models

from rows import Group, Row

GROUP = Group("models", "Models",
              "Batch 1, single precision. The nine networks of the package onnx with seeded random weights, and an encoder of "
              "BERT-base's shape at 128 words (`tests/tools/make_models.py`).",
              [Row(name, {}, "onnx", onnx=f"file({name})", check="scaled")
               for name in make_models.NAMES], mean=1.15,
              first=("bert_base", "BERT-base, 128 words"))
