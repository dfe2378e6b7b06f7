"""Softmax, normalisations and cumulative ops."""

from rows import Group, Row

X = {"x": "uniform((4096, 4096), '{t}', -4, 4)"}
SCALED = {"x": "uniform((4096, 768), '{t}')", "w": "positive(768, '{t}')", "b": "uniform(768, '{t}')"}
IMAGES = {"x": "uniform((32, 64, 56, 56), '{t}')", "w": "positive(64, '{t}')", "b": "uniform(64, '{t}')",
          "m": "uniform(64, '{t}')", "v": "positive(64, '{t}')"}


def both_axes(name, nd4c, numpy, torch, onnx, inputs=X):
    """Rows for the last and the first axis."""
    for where, axis in (("last axis", 1), ("first axis", 0)):
        yield name + ", " + where, inputs, *[text and text.format(axis=axis) for text in (nd4c, numpy, torch, onnx)]


NUMPY_SOFTMAX = "scipy.special.softmax(x, axis={axis})"
TABLE = [
    *both_axes("softmax", "softmax(x, axis={axis})", NUMPY_SOFTMAX, "torch.softmax(x, {axis}, out=y)",
               "Softmax(x, axis={axis})"),
    *both_axes("log_softmax", "log_softmax(x, axis={axis})", None, "torch.log_softmax(x, {axis}, out=y)",
               "LogSoftmax(x, axis={axis})"),
    *both_axes("cumulative_sum", "cumulative_sum(x, axis={axis})", "np.cumsum(x, axis={axis}, out=y)",
               "torch.cumsum(x, {axis}, out=y)", "CumSum(x, const(np.array({axis})))"),
    *both_axes("cumulative_prod", "cumulative_prod(x, axis={axis})", "np.cumprod(x, axis={axis}, out=y)",
               "torch.cumprod(x, {axis}, out=y)", None, {"x": "uniform((4096, 4096), '{t}', 0.99, 1.01)"}),
    *both_axes("cumulative_max", "cumulative_max(x, axis={axis})", None, "torch.cummax(x, {axis})", None),
    ("layer_norm 4096x768", SCALED, "layer_norm(x, w, b)", None, "F.layer_norm(x, (768,), w, b)",
     "LayerNormalization(x, const(w), const(b))"),
    ("layer_norm 4096x4096", {"x": X["x"], "w": "positive(4096, '{t}')", "b": "uniform(4096, '{t}')"}, "layer_norm(x, w, b)", None,
     "F.layer_norm(x, (4096,), w, b)", "LayerNormalization(x, const(w), const(b))"),
    ("rms_norm 4096x768", SCALED, "rms_norm(x, w)", None, "F.rms_norm(x, (768,), w, 1e-5)",
     "SimplifiedLayerNormalization(x, const(w), epsilon=1e-5)"),
    ("batch_norm 32x64x56x56", IMAGES, "batch_norm(x, w, b, m, v)", None, "F.batch_norm(x, m, v, w, b)",
     "BatchNormalization(x, const(w), const(b), const(m), const(v))"),
    ("group_norm 32x64x56x56", IMAGES, "group_norm(x, w, b, groups=8)", None, "F.group_norm(x, 8, w, b)",
     "GroupNormalization(x, const(w), const(b), num_groups=8)"),
    ("instance_norm 32x64x56x56", IMAGES, "instance_norm(x, w, b)", None, "F.instance_norm(x, weight=w, bias=b)",
     "InstanceNormalization(x, const(w), const(b))"),
    ("softmax 12x128x128", {"x": "uniform((12, 128, 128), '{t}')"}, "softmax(x)", None, "torch.softmax(x, -1, out=y)", "Softmax(x)"),
    *(("attention " + "x".join(map(str, shape)), {name: f"uniform({shape}, '{{t}}')" for name in "qkv"}, "attention(q, k, v)", None,
       "F.scaled_dot_product_attention(q, k, v)", "Attention(q, k, v)") for shape in ((1, 12, 197, 64), (2, 8, 512, 64))),
]


def all_rows():
    for t in ("f32", "f64", "bf16"):
        for name, inputs, nd4c, numpy, torch, onnx in TABLE:
            if t != "f32" and not name.startswith(("softmax,", "cumulative_sum", "layer_norm 4096x768")):
                continue
            texts = {key: text.format(t=t) for key, text in inputs.items()}
            yield Row(f"{name} {t}", texts, nd4c, numpy if t != "bf16" else None, torch, onnx if t != "bf16" else None,
                      opset=23 if "attention" in name else Row.opset,
                      check="scaled" if "cumulative" in name else "close", tolerance=3e-2 if t == "bf16" else 1e-3)


GROUP = Group("normalization", "Softmax, normalisations, cumulative ops",
              "4096 x 4096 unless said, into an output where the library takes one.", list(all_rows()), mean=1.3,
              first=("layer_norm 4096x768 f32", "layer norm of 4096 x 768"))
