"""Whole networks."""

import make_models
import networks

from rows import Group, Row

GROUP = Group("models", "Models",
              "Single precision. The nine networks of the package onnx and an encoder of BERT-base's shape at 128 words, batch 1 "
              "(`tests/tools/make_models.py`); networks of other shapes that people run, and a variant of each, drawn by a "
              "number: other channels, batch, image or length, opset (`tests/tools/networks`). Weights are random, with seeds. PyTorch and JAX have no reader of "
              "ONNX files: where the table has times of theirs, they run the same nodes one by one, translated "
              "(`bench/translation.py`); trees are not among them.",
              [Row(name, {}, "onnx", torch="onnx", jax="onnx", onnx=f"file({name})", check="scaled")
               for name in (*make_models.NAMES, *(each + seed for each in networks.NAMES for seed in ("", "@1")))], mean=1.15,
              first=("bert_base", "BERT-base, 128 words"), batch=2, seconds=3.0)
