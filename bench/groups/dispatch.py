"""Calls on eight elements: the cost of a call apart from its arithmetic."""

from rows import Group, Row

AB = {"a": "uniform(8)", "b": "uniform(8)"}
SQUARE = {"a": "uniform((8, 8))", "b": "uniform((8, 8))"}
# name, inputs, nd4c, NumPy, PyTorch, into, the most of NumPy's time
TABLE = [
    ("add of 8 into an output", AB, "add(a, b)", "np.add(a, b, out=y)", "torch.add(a, b, out=y)", True, 0.22),
    ("add of 8, fresh", AB, "add(a, b)", "a + b", "a + b", False, 0.35),
    ("view of 7 of 8", AB, "view(a)", "a[1:]", "a[1:]", False, 0.4),
    ("sum of 8, fresh", AB, "sum(a)", "np.sum(a)", "torch.sum(a)", False, 0.2),
    ("matmul of 8x8, fresh", SQUARE, "matmul(a, b)", "a @ b", "a @ b", False, 0.2),
    ("matmul of 8x8 into an output", SQUARE, "matmul(a, b)", "np.matmul(a, b, out=y)", "torch.mm(a, b, out=y)", True, 0.2),
]

GROUP = Group("dispatch", "Small calls",
              "Eight f32: nd4c is called in a loop of C, the others in a loop of Python, as their users call them. The bars are "
              "parts of the best peer's time: 0.22, 0.35, 0.4, 0.2, 0.2.",
              [Row(*row, into=into, bar=1 / part) for *row, into, part in TABLE],
              first=("add of 8, fresh", "x + y of 8 numbers"))
