"""Classical machine learning: labels, trees, scores, support vectors."""
import numpy as np
import scipy.special

from framework import BOOLS, COMPLEXES, FLOATS, INTS, UINTS, Case, Near, Refusal, cases, is_complex, is_float, refusals


def numbers(x):
    return np.asarray(x).astype(np.float64).astype(np.longdouble)


@cases("label_index")
def label_index(s, dtype):
    if dtype not in BOOLS + INTS + UINTS + FLOATS + COMPLEXES + ("utf8",):
        return
    for shape in ((), (9,), (3, 4), (2, 1, 3), (0,)):
        for count in (0, 1, 5, 40):
            x, keys = np.asarray(s.small(dtype, shape), s.small(dtype, (1,)).dtype), s.small(dtype, (count,))
            if dtype == "float32" and count == 40:
                x, keys = np.asarray(s.special(dtype, shape)), s.special(dtype, (count,))
            if count > 4 and x.size > 1:
                x.reshape(-1)[:2] = keys[1:3]
                keys[0] = keys[1]
            want = np.full(shape, count, np.int64)
            for i in np.ndindex(*shape):
                for k in range(count):
                    same = x[i] == keys[k]
                    if is_float(dtype) and np.isnan(np.float64(x[i])) and np.isnan(np.float64(keys[k])):
                        same = True
                    if same:
                        want[i] = k
            yield Case([x, keys], {}, [want])


@refusals("label_index")
def label_index_refusals(s):
    x = s.small("float32", (3,))
    yield Refusal([x, s.small("float64", (3,))], {}, "DTYPE", "expected float32")
    yield Refusal([x, s.small("float32", (3, 1))], {}, "SHAPE", "expected 1 axis")


MODES = [lambda a, b: a <= b, lambda a, b: a < b, lambda a, b: a >= b, lambda a, b: a > b, lambda a, b: a == b,
         lambda a, b: a != b]


class Forest:
    """Random trees as lists, and their meaning."""

    def __init__(self, s, dtype, trees, depth, features, targets, members):
        self.s, self.features, self.targets = s, features, targets
        self.type = s.small(dtype).dtype
        self.nodes, self.leaves, self.roots, self.sets = [], [], [], {}
        for _ in range(trees):
            self.roots.append(self.grow(depth, members)[0])
            if not self.nodes:
                self.roots.pop()

    def grow(self, depth, members):
        if depth == 0 or (self.nodes and self.s.integers(0, 5) == 0 and depth < 3):
            entries = [(int(self.s.integers(0, self.targets - 1)), float(self.s.integers(-8, 8)) / 4)
                       for _ in range(int(self.s.integers(0, 3)) if members else 1)]
            self.leaves.append(entries)
            return len(self.leaves) - 1, 1
        number = len(self.nodes)
        mode = int(self.s.integers(0, 6 if members else 5))
        self.nodes.append(None)
        yes, no = self.grow(depth - 1, members), self.grow(depth - 1, members)
        self.nodes[number] = [int(self.s.integers(0, self.features - 1)), float(self.s.integers(-4, 4)) / 2, mode, *yes, *no,
                              int(self.s.integers(0, 1))]
        if mode == 6:
            self.sets[number] = [float(v) / 2 for v in self.s.integers(-4, 4, (int(self.s.integers(0, 3)),))]
        return number, 0

    def inputs(self, x, members):
        n = self.nodes
        column = lambda i: np.array([v[i] for v in n], np.int64)  # noqa: E731
        listed = [v for k in sorted(self.sets) for v in self.sets[k] + [np.nan]]
        lists = [x, column(0), np.array([v[1] for v in n]).astype(self.type), column(2).astype(np.uint8), column(3), column(4),
                 column(5), column(6), np.array([t for e in self.leaves for t, _ in e], np.int64),
                 np.array([w for e in self.leaves for _, w in e]).astype(self.type), np.array(self.roots, np.int64)]
        if members:
            lists += [column(7), np.array(listed).astype(self.type),
                      np.cumsum([len(e) for e in self.leaves]).astype(np.int64)]
        return lists

    def leaf(self, row, node, members):
        while True:
            feature, split, mode, yes, yes_leaf, no, no_leaf, missing = self.nodes[node]
            v = float(row[feature])
            hit = v in self.sets[node] if mode == 6 else MODES[mode](v, split)
            hit = hit or (members and missing and np.isnan(v))
            node, is_leaf = (yes, yes_leaf) if hit else (no, no_leaf)
            if is_leaf:
                return self.leaves[node]

    def values(self, x, aggregate, members):
        limit = np.longdouble(np.float64(np.finfo(np.float64).max))
        if self.type != np.float64:
            limit = np.longdouble({2: 65504.0, 4: float(np.finfo(np.float32).max)}[self.type.itemsize])
            if self.type.name == "bfloat16":
                limit = np.longdouble(3.3895313892515355e38)
        y = np.full((len(x), self.targets), {2: limit, 3: -limit}.get(aggregate, 0), np.longdouble)
        for i, row in enumerate(x):
            for root in self.roots:
                for target, weight in self.leaf(row, root, members):
                    if aggregate < 2:
                        y[i, target] += weight
                    else:
                        y[i, target] = (min if aggregate == 2 else max)(y[i, target], weight)
        return y / len(self.roots) if aggregate == 0 else y


@cases("tree_ensemble", ulps=1)
def tree_ensemble(s, dtype):
    for trees, depth, features, targets, members in ((1, 1, 1, 1, False), (3, 3, 4, 2, False), (4, 4, 3, 3, True),
                                                     (9, 5, 6, 1, True)):
        forest = Forest(s, dtype, trees, depth, features, targets, members)
        for rows in (0, 1, 7, 30):
            x = (s.integers(-6, 6, (rows, features)) / 2).astype(forest.type)
            if rows > 3:
                x[1, 0], x[2, -1] = np.nan, np.inf
            for aggregate in range(4):
                yield Case(forest.inputs(x, members), {"targets": targets, "aggregate": aggregate},
                           [Near(forest.values(x, aggregate, members), dtype)])


@refusals("tree_ensemble")
def tree_ensemble_refusals(s):
    def lists(**other):
        good = {"x": np.zeros((2, 3), np.float32), "features": np.array([0, 1]), "splits": np.zeros(2, np.float32),
                "modes": np.zeros(2, np.uint8), "true": np.array([1, 0]), "true_leaf": np.array([0, 1]),
                "false": np.array([0, 1]), "false_leaf": np.array([1, 1]), "targets": np.array([0, 1]),
                "weights": np.ones(2, np.float32), "roots": np.array([0])}
        return list({**good, **other}.values())
    two = {"targets": 2}
    yield Refusal(lists(roots=np.array([2])), two, "INDEX", "a root is no node (number 0)")
    yield Refusal(lists(features=np.array([0, 3])), two, "INDEX", "a feature that x does not have (number 1)")
    yield Refusal(lists(true=np.array([2, 0])), two, "INDEX", "a node or leaf that does not exist (number 0)")
    yield Refusal(lists(false=np.array([0, -1])), two, "INDEX", "a node or leaf that does not exist (number 1)")
    yield Refusal(lists(true=np.array([1, 0]), true_leaf=np.array([0, 0])), two, "INDEX", "round in a circle")
    yield Refusal(lists(true=np.array([0, 0])), two, "INDEX", "round in a circle")
    yield Refusal(lists(targets=np.array([0, 2])), two, "INDEX", "target is out of range (number 1)")
    yield Refusal(lists(modes=np.array([0, 7], np.uint8)), two, "INDEX", "a mode that is none of 0 to 6 (number 1)")
    yield Refusal(lists(modes=np.array([0, 6], np.uint8)), two, "INDEX", "fewer sets that NaN ends (number 1)")
    yield Refusal(lists() + [None, None, np.array([1, 3])], two, "INDEX", "the end of a leaf is out of range (number 1)")
    yield Refusal(lists(), {"targets": 0}, "ARGUMENT", "targets is 0")
    yield Refusal(lists(), {**two, "aggregate": 4}, "ARGUMENT", "aggregate is 4")
    yield Refusal(lists(x=np.zeros(3, np.float32)), two, "SHAPE", "expected [n, features]")
    yield Refusal(lists(splits=np.zeros(2)), two, "DTYPE", "expected float32")
    yield Refusal(lists(true=np.array([1])), two, "SHAPE", "expected (2,)")


@cases("score_transform", ulps=4)
def score_transform(s, dtype):
    for shape in ((5,), (3, 4), (2, 1, 3), (2, 5, 3), (0, 3), (3, 0), (40, 2)):
        x = s.small(dtype, shape)
        if x.size > 4:
            x.reshape(-1)[:3] = 0
        w = numbers(x)
        yield Case([x], {}, [x])
        yield Case([x], {"transform": 2}, [Near(1 / (1 + np.exp(-w)), dtype)])
        if 0 not in shape:
            e = np.exp(w - w.max(axis=-1, keepdims=True))
            yield Case([x], {"transform": 1}, [Near(e / e.sum(axis=-1, keepdims=True), dtype)], ulps=8)
            e = np.where(abs(w) > 1e-7, e, w * np.exp(-w.max(axis=-1, keepdims=True)))
            total = e.sum(axis=-1, keepdims=True)
            y = np.where(total == 0, np.longdouble(0.5), e / np.where(total == 0, 1, total))
            yield Case([x], {"transform": 3}, [Near(y, dtype)], ulps=8)
        p = s.uniform(dtype, 0, 1, shape)
        if p.size > 4:
            p.reshape(-1)[:4] = [0, 1, 0.5, 0.01]
        y = scipy.special.ndtri(p.astype(np.float64))
        yield Case([p], {"transform": 4}, [Near(y, dtype, np.ones(y.shape))], ulps=16)
    yield Case([np.zeros((1, 3), x.dtype)], {"transform": 3}, [np.full((1, 3), 0.5, x.dtype)])


@refusals("score_transform")
def score_transform_refusals(s):
    yield Refusal([s.small("float32")], {}, "SHAPE", "expected at least 1 axis")
    yield Refusal([s.small("float32", (3,))], {"transform": 5}, "ARGUMENT", "transform is 5")


@cases("svm_kernel", ulps=4)
def svm_kernel(s, dtype):
    for n, v, f in ((3, 4, 5), (1, 1, 1), (0, 3, 2), (3, 0, 2), (2, 3, 0), (7, 9, 20)):
        x, vectors = s.uniform(dtype, -1, 1, (n, f)), s.uniform(dtype, -1, 1, (v, f))
        if n > 1:
            x[1] = x[0]
        a, b = numbers(x), numbers(vectors)
        dot, size = a @ b.T, abs(a) @ abs(b).T
        gap = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=-1)
        scale = (1 + size).astype(np.float64)
        t = 0.5 * dot + 0.25
        for kernel, y, k in ((0, dot, scale), (1, t ** 3, scale ** 3), (2, np.exp(-0.5 * gap), None), (3, np.tanh(t), scale)):
            yield Case([x, vectors], {"kernel": kernel, "gamma": 0.5, "coef0": 0.25, "degree": 3.0}, [Near(y, dtype, k)], ulps=32)


@refusals("svm_kernel")
def svm_kernel_refusals(s):
    x = s.small("float32", (3, 4))
    yield Refusal([x, x[:, :3]], {}, "SHAPE", "expected [vectors, 4]")
    yield Refusal([x[0], x], {}, "SHAPE", "expected [n, features]")
    yield Refusal([x, x.astype(np.float64)], {}, "DTYPE", "expected float32")
    yield Refusal([x, x], {"kernel": 4}, "ARGUMENT", "kernel is 4")


def coupled(scores, a, b, k):
    """libsvm's multiclass_probability, step by step."""
    r = np.zeros((k, k))
    for pair, (i, j) in enumerate((i, j) for i in range(k) for j in range(i + 1, k)):
        r[i, j] = min(max(scipy.special.expit(-(scores[pair] * a[pair] + b[pair])), 1e-7), 1 - 1e-7)
        r[j, i] = 1 - r[i, j]
    q = -r.T * r
    np.fill_diagonal(q, (r ** 2).sum(axis=0))
    p = np.full(k, 1 / k)
    for _ in range(max(100, k)):
        qp = q @ p
        whole = p @ qp
        if abs(qp - whole).max() < 0.005 / k:
            break
        for t in range(k):
            step = (whole - qp[t]) / q[t, t]
            p[t] += step
            whole = (whole + step * (step * q[t, t] + 2 * qp[t])) / (1 + step) ** 2
            qp = (qp + step * q[t]) / (1 + step)
            p /= 1 + step
    return p


@cases("svm_probabilities", ulps=64)
def svm_probabilities(s, dtype):
    for n, k in ((3, 2), (4, 3), (2, 5), (0, 3), (17, 4)):
        pairs = k * (k - 1) // 2
        x = s.uniform(dtype, -3, 3, (n, pairs))
        a, b = list(s.random.uniform(-3, -0.5, pairs)), list(s.random.uniform(-0.5, 0.5, pairs))
        y = np.array([coupled(row.astype(np.float64), a, b, k) for row in x]).reshape(n, k)
        yield Case([x], {"prob_a": a, "prob_b": b}, [Near(y, dtype, np.ones(y.shape))])


@refusals("svm_probabilities")
def svm_probabilities_refusals(s):
    yield Refusal([s.small("float32", (3, 2))], {}, "SHAPE", "expected 1, 3, 6, ... pairs")
    yield Refusal([s.small("float32", (3,))], {}, "SHAPE", "expected [n, pairs]")
    yield Refusal([s.small("float32", (3, 3))], {"prob_a": [1, 2, 3]}, "ARGUMENT", "3 prob_a and 0 prob_b, expected 3")
