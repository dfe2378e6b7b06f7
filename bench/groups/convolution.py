"""Convolutions and pools: eagerly, eagerly on channels-last memory, and as a model with constant weights."""

from rows import Group, Row

# name: (x, w, strides, padding, groups, output places)
LAYERS = {
    "3x3 64 channels 56^2": ((1, 64, 56, 56), (64, 64, 3, 3), 1, 1, 1),
    "3x3 64 channels 56^2, 8 images": ((8, 64, 56, 56), (64, 64, 3, 3), 1, 1, 1),
    "3x3 256 channels 14^2": ((1, 256, 14, 14), (256, 256, 3, 3), 1, 1, 1),
    "7x7 stride 2 of 3 channels 224^2": ((1, 3, 224, 224), (64, 3, 7, 7), 2, 3, 1),
    "1x1 256 to 64 channels 56^2": ((1, 256, 56, 56), (64, 256, 1, 1), 1, 0, 1),
    "depthwise 3x3 144 channels 56^2": ((1, 144, 56, 56), (144, 1, 3, 3), 1, 1, 144),
    "3-D 3x3x3 16 to 32 channels 16x56^2": ((1, 16, 16, 56, 56), (32, 16, 3, 3, 3), 1, 1, 1),
    "1-D 9 of 64 channels 4096": ((1, 64, 4096), (64, 64, 9), 1, 4, 1),
}
POOLS = {
    "max_pool 3x3 stride 2, 64 channels 112^2": ("max", (1, 64, 112, 112), 3, 2, 1),
    "max_pool 2x2 stride 2, 8 x 64 channels 112^2": ("max", (8, 64, 112, 112), 2, 2, 0),
    "average_pool 2x2 stride 2, 8 x 64 channels 112^2": ("average", (8, 64, 112, 112), 2, 2, 0),
    "average_pool 3x3 stride 1, 64 channels 56^2": ("average", (1, 64, 56, 56), 3, 1, 1),
    "max_pool 3x3x3 stride 2, 32 channels 16x112^2": ("max", (1, 32, 16, 112, 112), 3, 2, 1),
    "average_pool 2x2x2 stride 2, 32 channels 16x112^2": ("average", (1, 32, 16, 112, 112), 2, 2, 0),
}


def conv_rows(name, x, w, stride, padding, groups):
    rank = len(x) - 2
    places = 1
    for extent, kernel in zip(x[2:], w[2:]):
        places *= (extent + 2 * padding - kernel) // stride + 1
    flops = 2.0 * x[0] * places
    for extent in w:
        flops *= extent
    b = {"b": f"uniform({w[0]})"}
    attrs = f"strides={[stride] * rank}, pads={[padding] * 2 * rank}"
    torch = f"F.conv{rank}d(x, w, b, {stride}, {padding}, 1, {groups})"
    common = {"flops": flops, "check": "scaled", "tolerance": 1e-4}
    inputs = {"x": f"uniform({x})", "w": f"uniform({w})", **b}
    yield Row(f"conv {name}", inputs, f"conv(x, w, b, {attrs}, groups={groups})", None, torch, None, **common)
    if rank == 2:
        last = (x[0], *x[2:], x[1])
        yield Row(f"conv {name}, channels last", {**inputs, "x": f"uniform({last})"},
                  f"conv(x.transpose(0, 3, 1, 2), w, b, {attrs}, groups={groups})", None,
                  f"x = x.permute(0, 3, 1, 2); w = w.contiguous(memory_format=torch.channels_last); {torch}", None,
                  into=False, **common)  # fresh: each library then gives its result channels last, too
    yield Row(f"model: conv {name}", inputs, "onnx", onnx=f"Conv(x, const(w), const(b), {attrs}, group={groups})", **common)


def pool_rows(name, kind, x, kernel, stride, padding):
    spatial = len(x) - 2
    extents, attrs = [kernel] * spatial, f"strides={[stride] * spatial}, pads={[padding] * 2 * spatial}"
    inputs = {"x": f"uniform({x})"}
    torch = {"max": f"F.max_pool{spatial}d(x, {kernel}, {stride}, {padding})",
             "average": f"F.avg_pool{spatial}d(x, {kernel}, {stride}, {padding}, count_include_pad=False)"}[kind]
    onnx = f"{kind.capitalize()}Pool(x, kernel_shape={extents}, {attrs})"
    yield Row(name, inputs, f"{kind}_pool(x, kernel={extents}, {attrs})", None, torch, onnx)
    yield Row(f"model: {name}", inputs, "onnx", onnx=onnx)


TRANSPOSED = {"x": "uniform((1, 64, 56, 56))", "w": "uniform((64, 32, 4, 4))", "b": "uniform(32)"}
TRANSPOSED_FLOPS = 2.0 * 64 * 32 * 16 * 56 * 56


def all_rows():
    for name, layer in LAYERS.items():
        yield from conv_rows(name, *layer)
    attrs = "strides=[2, 2], pads=[1, 1, 1, 1]"
    yield Row("conv_transpose 4x4 stride 2, 64 to 32 channels 56^2", TRANSPOSED, f"conv_transpose(x, w, b, {attrs})", None,
              "F.conv_transpose2d(x, w, b, 2, 1)", None, flops=TRANSPOSED_FLOPS, check="scaled")
    yield Row("model: conv_transpose 4x4 stride 2, 64 to 32 channels 56^2", TRANSPOSED, "onnx",
              onnx=f"ConvTranspose(x, const(w), const(b), {attrs})", flops=TRANSPOSED_FLOPS, check="scaled")
    for name, pool in POOLS.items():
        yield from pool_rows(name, *pool)
    yield Row("global_average_pool 32x64x56^2", {"x": "uniform((32, 64, 56, 56))"}, "global_average_pool(x)",
              "x.mean((2, 3), keepdims=True)", "F.adaptive_avg_pool2d(x, 1)", "GlobalAveragePool(x)")


GROUP = Group("convolution", "Convolution and pooling", "f32. Channels last: the memory's order, the shape is NCHW.",
              list(all_rows()),
              first=("model: conv 3x3 64 channels 56^2", "convolution 3 x 3, 64 channels of 56 x 56"))
