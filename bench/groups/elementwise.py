"""Element-wise ops at three sizes and in four dtypes."""

from rows import Group, Row

SIZES = {"10^3": 1000, "10^5": 100_000, "10^7": 10_000_000}
FLOATS, ALL = ("f32", "f64", "bf16"), ("f32", "f64", "bf16", "i32")

# name: (dtypes, inputs, nd4c, NumPy, PyTorch, ONNX); {n} and {t} are the size and the dtype
X = {"x": "uniform({n}, '{t}', -4, 4)"}
P = {"x": "positive({n}, '{t}')"}
AB = {"a": "uniform({n}, '{t}')", "b": "positive({n}, '{t}')"}
OPS = {
    "add": (ALL, AB, "add(a, b)", "np.add(a, b, out=y)", "torch.add(a, b, out=y)", "Add(a, b)"),
    "multiply": (ALL, AB, "multiply(a, b)", "np.multiply(a, b, out=y)", "torch.mul(a, b, out=y)", "Mul(a, b)"),
    "exp": (FLOATS, X, "exp(x)", "np.exp(x, out=y)", "torch.exp(x, out=y)", "Exp(x)"),
    "log": (FLOATS, P, "log(x)", "np.log(x, out=y)", "torch.log(x, out=y)", "Log(x)"),
    "sin": (FLOATS, X, "sin(x)", "np.sin(x, out=y)", "torch.sin(x, out=y)", "Sin(x)"),
    "cos": (FLOATS, X, "cos(x)", "np.cos(x, out=y)", "torch.cos(x, out=y)", "Cos(x)"),
    "tanh": (FLOATS, X, "tanh(x)", "np.tanh(x, out=y)", "torch.tanh(x, out=y)", "Tanh(x)"),
    "erf": (FLOATS, X, "erf(x)", "scipy.special.erf(x, out=y)", "torch.erf(x, out=y)", "Erf(x)"),
    "sigmoid": (FLOATS, X, "sigmoid(x)", "scipy.special.expit(x, out=y)", "torch.sigmoid(x, out=y)", "Sigmoid(x)"),
    "gelu": (FLOATS, X, "gelu(x)", None, "F.gelu(x)", "Gelu(x)"),
    "gelu tanh": (FLOATS, X, "gelu(x, approximate=True)", None, "F.gelu(x, approximate='tanh')",
                  "Gelu(x, approximate='tanh')"),
    "sqrt": (FLOATS, P, "sqrt(x)", "np.sqrt(x, out=y)", "torch.sqrt(x, out=y)", "Sqrt(x)"),
    "power": (FLOATS, {"a": P["x"], "b": X["x"]}, "power(a, b)", "np.power(a, b, out=y)", "torch.pow(a, b, out=y)",
              "Pow(a, b)"),
    "where": (ALL, {"c": "flags({n})", **AB}, "where(c, a, b)", "np.where(c, a, b)", "torch.where(c, a, b, out=y)",
              "Where(c, a, b)"),
    "less": (ALL, AB, "less(a, b)", "np.less(a, b, out=y)", "torch.lt(a, b, out=y)", "Less(a, b)"),
}
CASTS = [("f32", "f64"), ("f64", "f32"), ("f32", "bf16"), ("bf16", "f32"), ("f32", "i32"), ("i32", "f32")]
NUMPY = {"f32": "np.float32", "f64": "np.float64", "i32": "np.int32", "bf16": "np.dtype('bfloat16')"}
TORCH = {"f32": "torch.float32", "f64": "torch.float64", "i32": "torch.int32", "bf16": "torch.bfloat16"}
ONNX = {"f32": 1, "f64": 11, "i32": 6}
NO_ONNX = {"bf16"}


def op_rows():
    for op, (dtypes, inputs, *calls) in OPS.items():
        for t in dtypes:
            for size, n in SIZES.items():
                texts = {name: text.format(n=n, t=t) for name, text in inputs.items()}
                nd4c, numpy, torch, onnx = calls
                if t == "bf16" and (op == "erf" or op == "sigmoid"):
                    numpy = None  # SciPy has none
                yield Row(f"{op} {t} {size}", texts, nd4c, numpy, torch, None if t in NO_ONNX else onnx,
                          tolerance=2e-2 if t == "bf16" else 1e-5)
                if n == 10_000_000 and t == "f32":
                    yield Row(f"{op} {t} {size}, fresh", texts, nd4c, numpy, torch, onnx, into=False, tolerance=1e-5)


def cast_rows():
    for source, target in CASTS:
        for size, n in SIZES.items():
            onnx = None if NO_ONNX & {source, target} else f"Cast(x, to={ONNX[target]})"
            yield Row(f"cast {source} to {target} {size}", {"x": f"uniform({n}, '{source}', -100, 100)"},
                      f"cast(x, dtype='{target}')",
                      f"copy(x, {NUMPY[target]})", f"copy(x, {TORCH[target]})", onnx, tolerance=1e-2)


def loop_rows():
    """Rows that compare with a loop written by hand for exactly this case."""
    for op, numpy, torch in (("add", "np.add", "torch.add"), ("multiply", "np.multiply", "torch.mul")):
        for t in FLOATS:
            for step in (1, 2):
                n = 10_000_000
                inputs = {name: f"uniform({n * step}, '{t}')[::{step}]" for name in "ab"}
                yield Row(f"{op} {t} 10^7{', every second' if step > 1 else ''}, loop by hand", inputs, f"{op}(a, b)",
                          f"{numpy}(a, b, out=y)", f"{torch}(a, b, out=y)", direct={"loop": f"{op}(a, b)"}, check="scaled",
                          tolerance=2e-2 if t == "bf16" else 1e-6)


GROUP = Group("elementwise", "Element-wise",
              "10^3, 10^5 and 10^7 elements, into an output unless marked fresh. The streaming loop (`bench/limits.c`) is written "
              "by hand, with stores that pass by the caches.", [*op_rows(), *cast_rows(), *loop_rows()], mean=1.25,
              first=("exp f32 10^7, fresh", "exp of 10 million numbers"))
