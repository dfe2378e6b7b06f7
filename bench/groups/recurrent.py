"""Recurrent layers and quantised linear layers."""

from rows import Group, Row

# time steps, batch, inputs, hidden
SHAPES = ((64, 8, 256, 256), (64, 1, 256, 256), (128, 32, 256, 512))
KINDS = {"lstm": (4, (0, 2, 3, 1), "LSTM", 3, ""), "gru": (3, (1, 0, 2), "GRU", 2, "linear_before_reset=1")}


def recurrent_rows(kind, t, n, i, h):
    """PyTorch orders the gates differently: its module gets nd4c's weights with the gates permuted."""
    gates, order, name, outputs, attr = KINDS[kind]
    shape = f"T={t} B={n} {i} to {h}"
    inputs = {"x": f"uniform(({t}, {n}, {i}))", "w": f"uniform((1, {gates * h}, {i}), 'f32', -0.1, 0.1)",
              "r": f"uniform((1, {gates * h}, {h}), 'f32', -0.1, 0.1)", "b": f"uniform((1, {2 * gates * h}), 'f32', -0.1, 0.1)"}
    torch = (f"p = torch.cat([torch.arange(k * {h}, (k + 1) * {h}) for k in {order}]); m = torch.nn.{name}({i}, {h}); "
             f"m.weight_ih_l0.data = w[0][p]; m.weight_hh_l0.data = r[0][p]; m.bias_ih_l0.data = b[0][:{gates * h}][p]; "
             f"m.bias_hh_l0.data = b[0][{gates * h}:][p]; m.flatten_parameters(); m(x)[0]")
    more = f", {attr}" if attr else ""
    onnx = f"{name}(x, const(w), const(r), const(b), hidden_size={h}, outputs={outputs}{more})"
    common = {"flops": 2.0 * t * n * gates * h * (i + h), "check": "scaled"}
    yield Row(f"{kind} {shape}", inputs, f"{kind}(x, w, r, b{more})", None, torch, None, **common)
    yield Row(f"model: {kind} {shape}", inputs, "onnx", onnx=onnx, **common)


def int8_rows(m, k, n):
    inputs = {"x": f"integers(({m}, {k}), 'i8', -127, 128)", "w": f"integers(({n}, {k}), 'i8', -127, 128)",
              "s": "np.array(0.01, np.float32)", "v": f"positive({n})", "b": f"uniform({n})"}
    torch = ("f = x.float() * s; q = torch.ao.nn.quantized.dynamic.Linear(%d, %d); "
             "q.set_weight_bias(torch._make_per_channel_quantized_tensor(w, v.double(), torch.zeros(%d, dtype=torch.long), 0), b); "
             "q(f)" % (k, n, n))
    onnx = "MatMulIntegerToFloat(x, const(w.T), const(s), const(v), None, None, const(b), domain='com.microsoft')"
    common = {"flops": 2.0 * m * k * n, "peak": "int8", "check": "scaled", "tolerance": 2e-2}
    yield Row(f"plan: linear_int8 {m}x{k}x{n}", inputs, "linear_int8(x, const(w), s, const(v), None, None, const(b))", None,
              torch, onnx, **common)
    yield Row(f"linear_int8 {m}x{k}x{n}", inputs, "linear_int8(x, w, s, v, None, None, b)", None, torch, onnx, **common)


def all_rows():
    for kind in KINDS:
        for shape in SHAPES:
            yield from recurrent_rows(kind, *shape)
    for shape in ((128, 768, 3072), (8, 768, 3072), (1, 768, 3072), (512, 1024, 1024)):
        yield from int8_rows(*shape)


GROUP = Group("recurrent", "Recurrent layers, int8 linear layers",
              "f32. PyTorch's int8 layer quantises its input itself, from f32. Plans of nd4c have the weights as constants and pack "
              "them once, as PyTorch's layer and ONNX Runtime's model do in both rows; the eager op gets them anew.", list(all_rows()))
