"""Matrix products. Eager rows pass both operands to each call; model rows have the right one as a constant of the model."""

from rows import Group, Row

DTYPES = {"f32": (64, 128, 256, 512, 1024, 2048, 4096), "f64": (64, 128, 256, 512, 1024, 2048, 4096)}
VENDORS = {"f32": ("openblas", "onednn_gemm", "onednn_matmul"), "f64": ("openblas",), "bf16": ("onednn_matmul",)}


def product(name, m, k, n, dtype="f32", batch=(), **more):
    a, b = (*batch, m, k), (*batch, k, n)
    flops = 2.0 * m * k * n
    for extent in batch:
        flops *= extent
    bf16, direct = dtype == "bf16", {}
    if not batch and dtype in VENDORS:
        direct = {vendor: "matmul(a, b)" for vendor in VENDORS[dtype]}
    return Row(name, {"a": f"uniform({a}, '{dtype}')", "b": f"uniform({b}, '{dtype}')"}, "matmul(a, b)",
               None if bf16 else "np.matmul(a, b, out=y)", "torch.matmul(a, b, out=y)", None if bf16 else "MatMul(a, b)",
               direct=direct, flops=flops, peak=dtype, check="scaled", tolerance=2e-2 if bf16 else 1e-4, **more)


def linear(name, m, k, n):
    """A model with constant weights, which every runtime may pack."""
    return Row(name, {"x": f"uniform(({m}, {k}))", "w": f"uniform(({k}, {n}))", "b": f"uniform({n})"}, "onnx",
               onnx="Gemm(x, const(w), const(b))", flops=2.0 * m * k * n, check="scaled", tolerance=1e-4)


def eager_linear(name, m, k, n, dtype="f32"):
    """Weights [n, k], as PyTorch's layers have them."""
    return Row(name, {"x": f"uniform(({m}, {k}), '{dtype}')", "w": f"uniform(({n}, {k}), '{dtype}')",
                      "b": f"uniform({n}, '{dtype}')"},
               "linear(x, w, b, transpose_w=True)", "x @ w.T + b" if dtype != "bf16" else None, "F.linear(x, w, b)", None,
               flops=2.0 * m * k * n, peak=dtype, check="scaled", tolerance=2e-2 if dtype == "bf16" else 1e-4)


def integer_product(m, k, n):
    inputs = {"a": f"integers(({m}, {k}), 'i8', -127, 128)", "b": f"integers(({k}, {n}), 'i8', -127, 128)"}
    return Row(f"matmul_integer i8 {m}x{k}x{n}", inputs, "matmul_integer(a, b)", None, "torch._int_mm(a, b, out=y)",
               "MatMulInteger(a, b)", direct={"onednn_matmul": "matmul(a, b)"}, flops=2.0 * m * k * n, peak="int8", check="scaled")


def integer_model(m, k, n):
    inputs = {"a": f"integers(({m}, {k}), 'u8', 0, 128)", "b": f"integers(({k}, {n}), 'i8', -64, 64)"}
    return Row(f"model: matmul_integer u8 i8 {m}x{k}x{n}", inputs, "onnx", onnx="MatMulInteger(a, const(b))",
               flops=2.0 * m * k * n, peak="int8", check="scaled")


def all_rows():
    for dtype, sizes in DTYPES.items():
        for n in sizes:
            yield product(f"matmul {dtype} {n}^3", n, n, n, dtype)
    yield product("matmul f32 64 of 128^3", 128, 128, 128, batch=(64,))
    yield product("matmul f64 64 of 128^3", 128, 128, 128, "f64", batch=(64,))
    yield product("matmul f32 1000 of 16^3", 16, 16, 16, batch=(1000,))
    yield product("matmul f32 96 of 128x64x128", 128, 64, 128, batch=(96,))
    for dtype in ("f32", "f64"):
        direct = {vendor: "matmul(a, b)" for vendor in VENDORS[dtype]}
        yield Row(f"matrix times vector {dtype} 4096", {"a": f"uniform((4096, 4096), '{dtype}')", "b": f"uniform(4096, '{dtype}')"},
                  "matmul(a, b)", "np.matmul(a, b, out=y)", "torch.matmul(a, b, out=y)", "MatMul(a, b)", flops=2.0 * 4096**2,
                  direct=direct, peak=dtype, check="scaled")
        yield Row(f"vector times matrix {dtype} 4096", {"a": f"uniform(4096, '{dtype}')", "b": f"uniform((4096, 4096), '{dtype}')"},
                  "matmul(a, b)", "np.matmul(a, b, out=y)", "torch.matmul(a, b, out=y)", "MatMul(a, b)",
                  flops=2.0 * 4096**2, direct=direct, peak=dtype, check="scaled")
    yield Row("matmul f32 1024^3, left transposed", {"a": "uniform((1024, 1024))", "b": "uniform((1024, 1024))"},
              "matmul(a.T, b)", "np.matmul(a.T, b, out=y)", "torch.mm(a.T, b, out=y)", None, flops=2.0 * 1024**3, check="scaled")
    yield Row("vecdot f32 10^6", {"a": "uniform(1000000)", "b": "uniform(1000000)"}, "vecdot(a, b)", "np.dot(a, b)",
              "torch.dot(a, b)", None, into=False, check="scaled", tolerance=1e-3)
    for m in (1, 2, 4, 8):
        yield product(f"matmul f32 {m}x768x3072", m, 768, 3072)
        yield eager_linear(f"linear f32 {m}x768x3072", m, 768, 3072)
        yield linear(f"model: linear f32 {m}x768x3072", m, 768, 3072)
    for m in (1, 8):
        yield linear(f"model: linear f32 {m}x3072x768", m, 3072, 768)
    yield linear("model: linear f32 128x768x3072", 128, 768, 3072)
    yield eager_linear("linear f32 128x768x3072", 128, 768, 3072)
    for n in (256, 512, 1024, 2048):
        yield product(f"matmul bf16 {n}^3", n, n, n, "bf16")
    yield eager_linear("linear bf16 128x768x3072", 128, 768, 3072, "bf16")
    yield eager_linear("linear bf16 1x768x3072", 1, 768, 3072, "bf16")
    for shape in ((256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (128, 768, 3072), (1, 768, 3072)):
        yield integer_product(*shape)
        yield integer_model(*shape)


GROUP = Group("gemm", "Matrix products",
              "Results are written into a given output, if the library takes one. OpenBLAS and oneDNN are called directly, with "
              "their own choice of kernels. The rows named model run an ONNX model with constant weights, which every runtime may pack.", list(all_rows()),
              first=("matmul f32 1024^3", "matrix product of 1024 x 1024"))
