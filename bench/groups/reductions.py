"""Reductions and arg-reductions of 4096 x 4096 over each axis."""

from rows import Group, Row

# op: (NumPy, PyTorch, ONNX)
OPS = {"sum": ("np.sum", "torch.sum", "ReduceSum"), "mean": ("np.mean", "torch.mean", "ReduceMean"),
       "max": ("np.max", "torch.amax", "ReduceMax"), "min": ("np.min", "torch.amin", "ReduceMin"), "prod": ("np.prod", "torch.prod", "ReduceProd"),
       "norm1": (None, "torch.linalg.vector_norm", "ReduceL1"), "logsumexp": (None, "torch.logsumexp", "ReduceLogSumExp"),
       "var": ("np.var", None, None), "norm2": ("np.linalg.norm", "torch.linalg.vector_norm", "ReduceL2")}
AXES = {"all": None, "last axis": 1, "first axis": 0}
SHAPE = (4096, 4096)


def onnx_reduction(op, axis):
    return f"{op}(x, keepdims=0)" if axis is None else f"{op}(x, i64({axis}), keepdims=0)"


def rows_of(op, dtype, shape, axes, where=""):
    numpy, torch, onnx = OPS[op]
    x = {"x": f"uniform({shape}, '{dtype}')" if op != "prod" else f"uniform({shape}, '{dtype}', 0.999, 1.001)"}
    for name, axis in axes.items():
        numpy_axis = "" if axis is None else f", axis={axis}"
        torch_axis = "" if axis is None else f", dim={axis}"
        if op == "var":
            torch_call = f"torch.var(x, correction=0{torch_axis})"
        elif op == "norm1":
            torch_call = f"torch.linalg.vector_norm(x, 1{torch_axis})"
        elif op == "logsumexp":
            torch_call = f"torch.logsumexp(x, {'(0, 1)' if axis is None else axis})"
        elif op == "norm2" and axis is None:
            torch_call = "torch.linalg.vector_norm(x)"
        else:
            torch_call = f"{torch}(x{torch_axis})"
        numpy_call = f"{numpy}(x{numpy_axis})" if numpy and dtype != "bf16" else None
        if op == "norm2" and axis is None:
            numpy_call = "np.linalg.norm(x.ravel())"
        yield Row(f"{op} {dtype}, {name}{where}", x, f"{op}(x)" if axis is None else f"{op}(x, axes=[{axis}])",
                  numpy_call, torch_call, onnx_reduction(onnx, axis) if onnx and dtype != "bf16" else None, into=False,
                  check="scaled", tolerance=3e-2 if dtype == "bf16" else 1e-3)


def arg_rows(op, dtype):
    for name, axis in AXES.items():
        x = {"x": f"uniform({SHAPE}, '{dtype}')"}
        if axis is None:
            yield Row(f"{op} {dtype}, all", x, f"{op}(x.reshape(-1))", f"np.{op}(x)", f"torch.{op}(x)", None, into=False)
        else:
            yield Row(f"{op} {dtype}, {name}", x, f"{op}(x, axis={axis})", f"np.{op}(x, axis={axis})",
                      f"torch.{op}(x, dim={axis})", f"{'ArgMax' if op == 'argmax' else 'ArgMin'}(x, axis={axis}, keepdims=0)",
                      into=False)


def all_rows():
    for dtype in ("f32", "f64"):
        for op in OPS:
            if dtype == "f32" or op not in ("norm1", "logsumexp"):
                yield from rows_of(op, dtype, SHAPE, AXES)
        yield from arg_rows("argmax", dtype)
    yield from arg_rows("argmin", "f32")
    yield from rows_of("sum", "bf16", SHAPE, AXES)
    yield from rows_of("max", "bf16", SHAPE, AXES)
    yield from rows_of("sum", "i32", SHAPE, AXES)
    yield from rows_of("max", "i32", SHAPE, AXES)
    yield from rows_of("max", "u8", SHAPE, AXES)
    for op in ("sum", "max"):
        yield from rows_of(op, "f32", (1000,), {"all": None}, " of 1000")
    for op in ("sum", "max", "mean"):
        yield from rows_of(op, "f32", (64, 512, 512), {"axis 1": 1}, " of 64x512x512")
        yield from rows_of(op, "f32", (1000, 1000), AXES, " of 1000x1000")
    yield Row("any, first true last", {"x": "integers((4096, 4096), 'bool', 0, 1)"}, "any(x)", "np.any(x)", "torch.any(x)", None, into=False)
    yield Row("mean f32 of 32x64x56x56 over images", {"x": "uniform((32, 64, 56, 56))"}, "mean(x, axes=[2, 3])",
              "np.mean(x, axis=(2, 3))", "torch.mean(x, dim=(2, 3))", "ReduceMean(x, i64(2, 3), keepdims=0)", into=False)


GROUP = Group("reductions", "Reductions", "4096 x 4096 unless said; fresh results.", list(all_rows()), mean=1.5,
              first=("sum f32, all", "sum of 4096 x 4096"))
