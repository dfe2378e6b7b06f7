"""Convolution networks: classifiers, a detector, a segmenter. `d` has batch, side and width (a factor of the channels)."""


def channels(count, d):
    """A number of channels, scaled; odd numbers are wanted."""
    return max(1, round(count * d.width))


def image(b, d):
    return b.input("image", [d.batch, 3, d.side, d.side])


def resnet(b, d, depths, bottleneck):
    x, taken = b.op("Relu", b.conv(image(b, d), 3, channels(64, d), 7, 2)), channels(64, d)
    x = b.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for stage, depth in enumerate(depths):
        inner = channels(64 << stage, d)
        given = 4 * inner if bottleneck else inner
        for block in range(depth):
            stride = 2 if block == 0 and stage > 0 else 1
            if bottleneck:
                y = b.op("Relu", b.conv(x, taken, inner, 1))
                y = b.op("Relu", b.conv(y, inner, inner, 3, stride))
                y = b.conv(y, inner, given, 1, gain=0.5)
            else:
                y = b.op("Relu", b.conv(x, taken, inner, 3, stride))
                y = b.conv(y, inner, given, 3, gain=0.5)
            skip = b.conv(x, taken, given, 1, stride) if block == 0 and (stride > 1 or taken != given) else x
            x, taken = b.op("Relu", b.op("Add", y, skip)), given
    b.output(b.classifier(x, taken, 1000), "logits")


def resnet18(b, d):
    resnet(b, d, (2, 2, 2, 2), False)


def resnet50(b, d):
    resnet(b, d, (3, 4, 6, 3), True)


def squeeze_excite(b, x, width, inner, gate):
    y = b.op("Relu", b.conv(b.op("GlobalAveragePool", x), width, inner, 1))
    return b.op("Mul", gate(b.conv(y, inner, width, 1)), x)


def inverted(b, x, taken, given, size, stride, expand, act, excite=None, norm=False):
    """An inverted residual block."""
    inner = taken * expand if isinstance(expand, int) else expand(taken)
    y = x if inner == taken else act(b.conv(x, taken, inner, 1, norm=norm))
    y = act(b.conv(y, inner, inner, size, stride, groups=inner, norm=norm))
    y = y if excite is None else excite(y, inner)
    y = b.conv(y, inner, given, 1, gain=0.5, norm=norm)
    return b.op("Add", x, y) if stride == 1 and taken == given else y


def mobilenet_v2(b, d):
    relu6 = lambda x: b.op("Clip", x, b.constant(0.0), b.constant(6.0))
    taken = channels(32, d)
    x = relu6(b.conv(image(b, d), 3, taken, 3, 2))
    for expand, width, depth, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                         (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(depth):
            given = channels(width, d)
            x = inverted(b, x, taken, given, 3, stride if block == 0 else 1, expand, relu6)
            taken = given
    last = channels(1280, d)
    b.output(b.classifier(relu6(b.conv(x, taken, last, 1)), last, 1000), "logits")


def mobilenet_v3(b, d):
    relu, swish = (lambda x: b.op("Relu", x)), (lambda x: b.op("HardSwish", x))
    if b.opset < 14:
        swish = lambda x: b.op("Mul", x, b.op("HardSigmoid", x, alpha=1 / 6, beta=0.5))
    gate = lambda x: b.op("HardSigmoid", x, alpha=1 / 6, beta=0.5)
    taken = channels(16, d)
    x = swish(b.conv(image(b, d), 3, taken, 3, 2, norm=True))
    for size, inner, width, excites, act, stride in (
            (3, 16, 16, 0, relu, 1), (3, 64, 24, 0, relu, 2), (3, 72, 24, 0, relu, 1), (5, 72, 40, 1, relu, 2),
            (5, 120, 40, 1, relu, 1), (5, 120, 40, 1, relu, 1), (3, 240, 80, 0, swish, 2), (3, 200, 80, 0, swish, 1),
            (3, 184, 80, 0, swish, 1), (3, 184, 80, 0, swish, 1), (3, 480, 112, 1, swish, 1), (3, 672, 112, 1, swish, 1),
            (5, 672, 160, 1, swish, 2), (5, 960, 160, 1, swish, 1), (5, 960, 160, 1, swish, 1)):
        excite = (lambda y, n: squeeze_excite(b, y, n, max(8, n // 4), gate)) if excites else None
        given = channels(width, d)
        x = inverted(b, x, taken, given, size, stride, lambda _: channels(inner, d), act, excite, norm=True)
        taken = given
    last = channels(960, d)
    b.output(b.classifier(swish(b.conv(x, taken, last, 1, norm=True)), last, 1000), "logits")


def efficientnet_b0(b, d):
    sigmoid = lambda x: b.op("Sigmoid", x)
    taken = channels(32, d)
    x = b.silu(b.conv(image(b, d), 3, taken, 3, 2))
    for expand, size, width, depth, stride in ((1, 3, 16, 1, 1), (6, 3, 24, 2, 2), (6, 5, 40, 2, 2), (6, 3, 80, 3, 2),
                                               (6, 5, 112, 3, 1), (6, 5, 192, 4, 2), (6, 3, 320, 1, 1)):
        for block in range(depth):
            given = channels(width, d)
            excite = lambda y, n: squeeze_excite(b, y, n, max(1, taken // 4), sigmoid)
            x = inverted(b, x, taken, given, size, stride if block == 0 else 1, expand, b.silu, excite)
            taken = given
    last = channels(1280, d)
    b.output(b.classifier(b.silu(b.conv(x, taken, last, 1)), last, 1000), "logits")


# -- a detector --------------------------------------------------------------------------------------------------------

def split_block(b, x, taken, given, depth, residual=True):
    """Half of the channels pass by, half through a chain of small blocks."""
    inner = max(1, given // 2)
    y = b.silu(b.conv(x, taken, inner, 1))
    for _ in range(depth):
        z = b.silu(b.conv(b.silu(b.conv(y, inner, inner, 1)), inner, inner, 3, gain=0.5))
        y = b.op("Add", y, z) if residual else z
    both = b.op("Concat", y, b.silu(b.conv(x, taken, inner, 1)), axis=1)
    return b.silu(b.conv(both, 2 * inner, given, 1))


def pyramid_pool(b, x, width):
    inner = max(1, width // 2)
    pools = [b.silu(b.conv(x, width, inner, 1))]
    for _ in range(3):
        pools.append(b.op("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2]))
    return b.silu(b.conv(b.op("Concat", *pools, axis=1), 4 * inner, width, 1))


def enlarge(b, x):
    return b.op("Resize", x, "", b.constant([1, 1, 2, 2]), mode="nearest", coordinate_transformation_mode="asymmetric",
                nearest_mode="floor")


def yolo(b, d):
    """A detector with three scales, as YOLOv5n: 85 numbers a cell and anchor."""
    w = [channels(each, d) for each in (16, 32, 64, 128, 256)]
    x = b.silu(b.conv(image(b, d), 3, w[0], 6 // 2 * 2 + 1, 2))
    levels = []
    for stage, depth in enumerate((1, 2, 3, 1)):
        x = b.silu(b.conv(x, w[stage], w[stage + 1], 3, 2))
        x = split_block(b, x, w[stage + 1], w[stage + 1], depth)
        levels.append(x)
    top = b.silu(b.conv(pyramid_pool(b, x, w[4]), w[4], w[3], 1))
    middle = split_block(b, b.op("Concat", enlarge(b, top), levels[2], axis=1), 2 * w[3], w[3], 1, False)
    neck = b.silu(b.conv(middle, w[3], w[2], 1))
    small = split_block(b, b.op("Concat", enlarge(b, neck), levels[1], axis=1), 2 * w[2], w[2], 1, False)
    y = b.op("Concat", b.silu(b.conv(small, w[2], w[2], 3, 2)), neck, axis=1)
    y = split_block(b, y, 2 * w[2], w[3], 1, False)
    z = b.op("Concat", b.silu(b.conv(y, w[3], w[3], 3, 2)), top, axis=1)
    z = split_block(b, z, 2 * w[3], w[4], 1, False)
    found = []
    for level, width, cells in ((small, w[2], d.side // 8), (y, w[3], d.side // 16), (z, w[4], d.side // 32)):
        head = b.reshape(b.conv(level, width, 255, 1), d.batch, 3, 85, cells, cells)
        head = b.op("Sigmoid", b.transpose(head, 0, 1, 3, 4, 2))
        found.append(b.reshape(head, d.batch, -1, 85))
    b.output(b.op("Concat", *found, axis=1), "detections")


# -- a segmenter -------------------------------------------------------------------------------------------------------

def unet(b, d):
    widths = [channels(32 << level, d) for level in range(5)]
    twice = lambda x, taken, given: b.op("Relu", b.conv(b.op("Relu", b.conv(x, taken, given)), given, given))
    x, taken, passed = image(b, d), 3, []
    for width in widths[:-1]:
        x, taken = twice(x, taken, width), width
        passed.append(x)
        x = b.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x, taken = twice(x, taken, widths[-1]), widths[-1]
    for width, beside in zip(reversed(widths[:-1]), reversed(passed)):
        w = b.normal((taken, width, 2, 2), (1 / taken) ** 0.5)
        x = b.op("ConvTranspose", x, w, b.normal((width,), 0.05), kernel_shape=[2, 2], strides=[2, 2])
        x, taken = twice(b.op("Concat", x, beside, axis=1), 2 * width, width), width
    b.output(b.op("Sigmoid", b.conv(x, taken, 1, 1)), "mask")
