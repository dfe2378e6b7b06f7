"""Examples of the ops that have no record (tests/conformance tests them by samplers in C), or whose record judges the result
by a property. make_examples.py puts them beside the recorded ones.

TABLE has a row an example: op | inputs | call | the result by NumPy. The inputs are assignments of lists; in the call
they are nd4c's arrays, in the last column NumPy's.
"""
import numpy as np
import scipy.special

import nd4c

TABLE = """
negative | x = [-1.5, 0.5, 2.0] | x | np.negative(x)
abs | x = [-1.5, 0.5, -2.0] | x | np.abs(x)
sign | x = [-1.5, 0.0, 2.0] | x | np.sign(x)
square | x = [-1.5, 0.5, 2.0] | x | np.square(x)
sqrt | x = [0.25, 2.0, 9.0] | x | np.sqrt(x)
reciprocal | x = [-4.0, 0.5, 3.0] | x | np.reciprocal(x)
exp | x = [-1.0, 0.0, 2.0] | x | np.exp(x)
log | x = [0.5, 1.0, 10.0] | x | np.log(x)
sin | x = [-1.0, 0.0, 2.0] | x | np.sin(x)
cos | x = [-1.0, 0.0, 2.0] | x | np.cos(x)
tanh | x = [-1.0, 0.0, 2.0] | x | np.tanh(x)
erf | x = [-1.0, 0.0, 2.0] | x | scipy.special.erf(x)
sigmoid | x = [-1.0, 0.0, 2.0] | x | scipy.special.expit(x)
relu | x = [-1.5, 0.0, 2.0] | x | np.maximum(x, 0)
leaky_relu | x = [-1.5, 0.0, 2.0] | x, alpha=0.1 | np.where(x < 0, 0.1 * x, x)
gelu | x = [-1.0, 0.0, 2.0] | x | x * scipy.special.ndtr(x)
floor | x = [-1.5, 0.5, 2.0] | x | np.floor(x)
ceil | x = [-1.5, 0.5, 2.0] | x | np.ceil(x)
round | x = [-1.5, 0.5, 1.5, 2.4] | x | np.round(x)
is_nan | x = [1.0, nan, inf] | x | np.isnan(x)
logical_not | x = [True, False, True] | x | np.logical_not(x)
clip | x = [-1.5, 0.5, 2.0]; low = -1.0; high = 1.0 | x, low, high | np.clip(x, low, high)
cast | x = [-1.5, 0.5, 2.0] | x, dtype=nd4c.int32 | x.astype(np.int32)
copy | x = [1, 2, 3] | x | x.copy()
add | a = [[1.0, 2.0], [3.0, 4.0]]; b = [10.0, 20.0] | a, b | a + b
subtract | a = [[1.0, 2.0], [3.0, 4.0]]; b = [10.0, 20.0] | a, b | a - b
multiply | a = [[1.0, 2.0], [3.0, 4.0]]; b = [10.0, 20.0] | a, b | a * b
divide | a = [[1.0, 2.0], [3.0, 4.0]]; b = [10.0, 20.0] | a, b | a / b
power | a = [1.0, 2.0, 9.0]; b = [3.0, -1.0, 0.5] | a, b | a ** b
maximum | a = [1.0, 5.0, -2.0]; b = [3.0, 2.0, -1.0] | a, b | np.maximum(a, b)
minimum | a = [1.0, 5.0, -2.0]; b = [3.0, 2.0, -1.0] | a, b | np.minimum(a, b)
logical_and | a = [False, False, True, True]; b = [False, True, False, True] | a, b | a & b
logical_or | a = [False, False, True, True]; b = [False, True, False, True] | a, b | a | b
logical_xor | a = [False, False, True, True]; b = [False, True, False, True] | a, b | a ^ b
equal | a = [1.0, 2.0, 3.0]; b = [3.0, 2.0, 1.0] | a, b | a == b
not_equal | a = [1.0, 2.0, 3.0]; b = [3.0, 2.0, 1.0] | a, b | a != b
less | a = [1.0, 2.0, 3.0]; b = [3.0, 2.0, 1.0] | a, b | a < b
less_equal | a = [1.0, 2.0, 3.0]; b = [3.0, 2.0, 1.0] | a, b | a <= b
greater | a = [1.0, 2.0, 3.0]; b = [3.0, 2.0, 1.0] | a, b | a > b
greater_equal | a = [1.0, 2.0, 3.0]; b = [3.0, 2.0, 1.0] | a, b | a >= b
where | condition = [True, False, True]; a = [1, 2, 3]; b = [10, 20, 30] | condition, a, b | np.where(condition, a, b)
mean | x = [[1.0, 2.0], [3.0, 6.0]] | x, axis=0 | x.mean(axis=0)
max | x = [[1.0, 5.0], [3.0, 2.0]] | x, axis=0 | x.max(axis=0)
min | x = [[1.0, 5.0], [3.0, 2.0]] | x, axis=0 | x.min(axis=0)
all | x = [[True, False], [True, True]] | x, axis=1 | x.all(axis=1)
any | x = [[True, False], [False, False]] | x, axis=1 | x.any(axis=1)
argmax | x = [[1.0, 5.0], [3.0, 2.0]] | x, axis=1 | x.argmax(axis=1)
argmin | x = [[1.0, 5.0], [3.0, 2.0]] | x, axis=1 | x.argmin(axis=1)
matmul | a = [[1.0, 2.0], [3.0, 4.0]]; b = [[1.0, 0.0], [2.0, 1.0]] | a, b | a @ b
linear | x = [[1.0, 2.0]]; w = [[1.0, 0.0], [2.0, -1.0]]; bias = [0.5, 0.5] | x, w, bias, activation='relu' | np.maximum(x @ w + bias, 0)
reshape | x = [1, 2, 3, 4, 5, 6] | x, shape=[2, -1] | x.reshape(2, -1)
transpose | x = [[1, 2, 3], [4, 5, 6]] | x | x.T
broadcast_to | x = [1, 2, 3] | x, shape=[2, 3] | np.broadcast_to(x, (2, 3))
squeeze | x = [[[1], [2]]] | x, axis=0 | x.squeeze(0)
expand_dims | x = [1, 2, 3] | x, axis=0 | x[None]
flatten | x = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] | x, axis=1 | x.reshape(2, 4)
slice | x = [0, 1, 2, 3, 4, 5] | x, starts=[1], stops=[6], steps=[2] | x[1:6:2]
concat | a = [[1, 2]]; b = [[3, 4], [5, 6]] | [a, b], axis=0 | np.concatenate([a, b])
gather | x = [[1, 2], [3, 4], [5, 6]]; indices = [2, 0] | x, indices, axis=0 | x[indices]
conv | x = [[[1.0, 2.0, 4.0, 7.0]]]; w = [[[-1.0, 1.0]]] | x, w | np.diff(x)
max_pool | x = [[[1.0, 5.0, 2.0, 3.0]]] | x, kernel=[2], strides=[2] | x.reshape(1, 1, 2, 2).max(3)
average_pool | x = [[[1.0, 5.0, 2.0, 3.0]]] | x, kernel=[2], strides=[2] | x.reshape(1, 1, 2, 2).mean(3)
layer_norm | x = [[1.0, 2.0, 6.0]] | x | (x - x.mean()) / np.sqrt(x.var() + 1e-5)
softmax | x = [[1.0, 2.0, 3.0]] | x | scipy.special.softmax(x, -1)
log_softmax | x = [[1.0, 2.0, 3.0]] | x | scipy.special.log_softmax(x, -1)
lrn | x = [[[1.0], [2.0], [3.0]]] | x, size=1, alpha=0.5 | x / (1 + 0.5 * x * x) ** 0.75
nanprod | x = [[1.5, nan], [2.0, 4.0]] | x, axis=0 | np.nanprod(x, axis=0)
nanmax | x = [[1.5, nan], [2.0, 4.0]] | x, axis=0 | np.nanmax(x, axis=0)
nanstd | x = [[1.0, nan], [2.0, 4.0]] | x, axis=0 | np.nanstd(x, axis=0)
nansum | x = [[1.5, nan], [2.0, 4.0]] | x, axis=0 | np.nansum(x, axis=0)
nanmean | x = [[1.5, nan], [2.0, 4.0]] | x, axis=0 | np.nanmean(x, axis=0)
nanmin | x = [[1.5, nan], [2.0, 4.0]] | x, axis=0 | np.nanmin(x, axis=0)
nanvar | x = [[1.0, nan], [2.0, 4.0]] | x, axis=0 | np.nanvar(x, axis=0)
nanmedian | x = [[1.5, nan, 0.5], [2.0, 4.0, 3.0]] | x, axis=1 | np.nanmedian(x, axis=1)
instance_norm | x = [[[1.0, 2.0, 6.0]]]; scale = [2.0]; bias = [1.0] | x, scale, bias | 2 * (x - 3) / np.sqrt(x.var() + 1e-5) + 1
max_roi_pool | x = [[[[1.0, 2.0], [3.0, 4.0]]]]; rois = [[0.0, 0.0, 0.0, 1.0, 1.0]] | x, rois, size=[1, 2] | x.max(2, keepdims=True)
crop_and_resize | x = [[[[1.0], [2.0]], [[3.0], [6.0]]]]; boxes = [[0.0, 0.0, 1.0, 1.0]]; indices = [0] | x, boxes, indices, size=[1, 1] | x.mean((1, 2), keepdims=True)
adjust_contrast | x = [[[1.0], [3.0]]] | x, factor=2.0 | (x - 2) * 2 + 2
roi_align | x = [[[[0.0, 1.0], [2.0, 3.0]]]]; rois = [[0.0, 0.0, 2.0, 2.0]]; images = [0] | x, rois, images, size=[1, 1] | x.mean((2, 3), keepdims=True)
dynamic_stitch | indices = [0, 2]; others = [1]; a = [1.5, 3.5]; b = [2.5] | [indices, others, a, b] | np.array([1.5, 2.5, 3.5])
"""


def rows():
    """op: (lines of code, the result as an array of nd4c)."""
    found = {}
    for row in TABLE.strip().split("\n"):
        op, inputs, call, result = row.split(" | ", 3) if op_has_bar(row) else row.split(" | ")
        names, lines = {"np": np, "scipy": scipy}, []
        for assignment in inputs.split("; "):
            name, text = assignment.split(" = ")
            names[name] = np.asarray(eval(text, {"nan": np.nan, "inf": np.inf}))
            lines.append("%s = nd4c.asarray(%s)" % (name, text.replace("nan", "nd4c.nan").replace("inf", "nd4c.inf")))
        value = np.asarray(eval(result, names))
        if len(lines) == 1 and call.startswith("x"):
            call, lines = lines[0][4:] + call[1:], []
        found[op] = lines + ["nd4c.ops.%s(%s)" % (op, call)], nd4c.asarray(np.array(value))
    return found


def op_has_bar(row):
    return row.startswith("logical_or")


RESULTS = rows()

MATRIX = ">>> x = nd4c.asarray([[4.0, 1.0], [1.0, 3.0]])\n"

TEXTS = {
    "lstsq": ">>> a = nd4c.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])  # a line through three points\n"
             ">>> x, residuals, rank, values = nd4c.ops.lstsq(a, nd4c.asarray([1.0, 2.0, 4.5]))\n"
             ">>> x, residuals, rank\n(array([0.75, 1.75]), array(0.375), array(2))",
    "attention_with_cache": ">>> q, k = nd4c.asarray([[[[1.0, 2.0]]]]), nd4c.asarray([[[[1.0, 0.0]]]])\n"
                            ">>> v = nd4c.asarray([[[[5.0, 6.0]]]])\n"
                            ">>> nd4c.ops.attention_with_cache(q, k, v, scale=1.0)  # one key takes all attention\n"
                            "(array([[[[5., 6.]]]]), array([[[[1., 0.]]]]), array([[[[5., 6.]]]]), array([[[[1.]]]]))",
    "batch_norm": ">>> x = nd4c.asarray([[1.0, 2.0], [3.0, 6.0]])\n"
                  ">>> one, two = nd4c.asarray([1.0, 1.0]), nd4c.asarray([2.0, 2.0])\n"
                  ">>> nd4c.ops.batch_norm(x, one, two, two, one, epsilon=0.0)\n"
                  "array([[1., 2.],\n       [3., 6.]])",
    "qr": MATRIX + ">>> q, r = nd4c.ops.qr(x)\n>>> q @ r\narray([[4., 1.],\n       [1., 3.]])",
    "svd": MATRIX + ">>> u, s, vh = nd4c.ops.svd(x)\n>>> s\narray([4.61803399, 2.38196601])\n"
           ">>> u * s @ vh\narray([[4., 1.],\n       [1., 3.]])",
    "eigh": MATRIX + ">>> values, vectors = nd4c.ops.eigh(x)\n>>> values\narray([2.38196601, 4.61803399])\n"
            ">>> vectors * values @ vectors.mT\narray([[4., 1.],\n       [1., 3.]])",
    "eig": MATRIX + ">>> values, vectors = nd4c.ops.eig(x)\n"
           ">>> bool(nd4c.max(nd4c.abs(x @ vectors - vectors * values)) < 1e-14)\nTrue",
    "eigvals": MATRIX + ">>> nd4c.sort(nd4c.real(nd4c.ops.eigvals(x)))  # their order is any\narray([2.38196601, 4.61803399])",
    "lu": MATRIX + ">>> p, l, u = nd4c.ops.lu(x)\n>>> p @ l @ u\narray([[4., 1.],\n       [1., 3.]])",
    "lu_factor": MATRIX + ">>> nd4c.ops.lu_factor(x)\n"
                 "(array([[4.  , 1.  ],\n       [0.25, 2.75]]), array([0, 1]))",
}
