"""Products of arrays summed over axes, and diagonals: NumPy's values, in long double or in 64 bits that wrap."""
import numpy as np

from framework import Case, Near, Refusal, cases, is_integer, refusals, wide, NAMES, NUMPY


def widest(x):
    """Integers in 64 bits that wrap, others in long double."""
    x = np.asarray(x)
    return x.astype(np.uint64) if x.dtype.kind in "iu" else wide(x)


def result(f, dtype, *arrays):
    """What f gives of the widest numbers; with the magnitude that rounding errors are relative to."""
    if is_integer(dtype):
        with np.errstate(all="ignore"):
            return np.asarray(f(*(widest(a) for a in arrays))).astype(NUMPY[dtype])
    value = f(*(wide(a) if a.dtype.kind not in "iu" else a.astype(np.longdouble) for a in arrays))
    scale = f(*(np.abs(wide(a)).astype(np.float64) for a in arrays))
    return Near(np.asarray(value), dtype, np.asarray(scale, dtype=np.float64))


def promoted(*arrays):
    kinds = [a.dtype for a in arrays]
    return NAMES[np.dtype(np.result_type(*kinds))] if all(k.name != "bfloat16" for k in kinds) else "bfloat16"


# -- diagonals --------------------------------------------------------------------------------------------------------

@cases("matrix_transpose")
def matrix_transpose(s, dtype):
    for shape in [(1, 1), (3, 4), (2, 3, 4), (2, 1, 3, 2), (0, 3), (2, 0, 0)]:
        x = s.special(dtype, shape)
        yield Case([x], {}, [np.swapaxes(x, -1, -2)])
    x = s.small(dtype, (3, 4))
    x[:] = x[0]
    yield Case([x], {}, [x.T])


@refusals("matrix_transpose")
def matrix_transpose_refusals(s):
    yield Refusal([np.zeros(3)], {}, "SHAPE", "at least 2 axes")


DIAGONALS = [((1, 1), {}), ((3, 4), {}), ((4, 3), {"offset": 1}), ((4, 3), {"offset": -2}), ((3, 4), {"offset": 9}),
             ((3, 4), {"offset": -9}), ((2, 3, 4), {}), ((2, 3, 4), {"offset": -1, "axis1": 0, "axis2": 1}),
             ((2, 3, 4), {"axis1": 2, "axis2": 0}), ((0, 3), {}), ((3, 0), {"offset": 1}), ((2, 0, 3, 3), {}),
             ((2, 3, 2, 3), {"offset": 1, "axis1": 1, "axis2": -1}), ((4, 4), {"offset": 2**62}),
             ((4, 4), {"offset": -(2**63)})]


def numpy_diagonal(attrs):
    offset = max(-100, min(100, attrs.get("offset", 0)))
    return {"offset": offset, "axis1": attrs.get("axis1", -2), "axis2": attrs.get("axis2", -1)}


@cases("diagonal")
def diagonal(s, dtype):
    for shape, attrs in DIAGONALS:
        x = s.special(dtype, shape)
        yield Case([x], attrs, [np.array(np.diagonal(x, **numpy_diagonal(attrs)))])
    x = s.small(dtype, (3, 3))
    x[:] = x[0]
    yield Case([x], {}, [np.array(np.diagonal(x))])


@cases("trace", ulps=2)
def trace(s, dtype):
    for shape, attrs in DIAGONALS:
        x = s.small(dtype, shape)
        kind = "uint64" if dtype.startswith("u") else "int64" if is_integer(dtype) else dtype
        yield Case([x], attrs, [result(lambda a: np.diagonal(a, **numpy_diagonal(attrs)).sum(-1), kind,
                                       x.astype(NUMPY[kind]) if kind != dtype else x)])
    x = s.small(dtype, (3, 3))
    x[:] = x[0]
    kind = "uint64" if dtype.startswith("u") else "int64" if is_integer(dtype) else dtype
    yield Case([x], {}, [result(np.trace, kind, x.astype(NUMPY[kind]))])


@refusals("diagonal", "trace")
def diagonal_refusals(s, op):
    yield Refusal([np.zeros(3)], {}, "SHAPE", "at least 2 axes")
    yield Refusal([np.zeros((3, 3))], {"axis1": 1}, "ARGUMENT", "axis1 and axis2 are both 1")
    yield Refusal([np.zeros((3, 3))], {"axis1": 2}, "INDEX", "axis1 2 is out of range")
    yield Refusal([np.zeros((3, 3))], {"axis2": -3}, "INDEX", "axis2 -3 is out of range")


# -- products of two --------------------------------------------------------------------------------------------------

def pair_cases(s, dtype, f, shapes, attrs=None):
    attrs = attrs or {}
    for left, right in shapes:
        a, b = s.small(dtype, left), s.small(dtype, right)
        yield Case([a, b], attrs, [result(f, dtype, a, b)])


def mixed(s, dtype, f, left, right, attrs=None):
    """With an operand of another dtype, and with bits that wrap."""
    if dtype == "float32":
        for other in ("float64", "complex64"):
            a, b = s.small(dtype, left), s.small(other, right)
            yield Case([a, b], attrs or {}, [result(f, other, a, b)])
    if dtype == "int8":
        a, b = s.small(dtype, left), s.small("int32", right)
        yield Case([a, b], attrs or {}, [result(f, "int32", a.astype(np.int32), b)])
    if is_integer(dtype):
        a, b = s.bits(dtype, left), s.bits(dtype, right)
        yield Case([a, b], attrs or {}, [result(f, dtype, a, b)])


@cases("outer", ulps=1, complex_ulps=2)
def outer(s, dtype):
    yield from pair_cases(s, dtype, np.outer, [((1,), (1,)), ((3,), (4,)), ((0,), (3,)), ((3,), (0,)), ((70,), (33,))])
    a, b = np.repeat(s.small(dtype, (1,)), 3), s.small(dtype, (2,))
    yield Case([a, b], {}, [result(np.outer, dtype, a, b)])
    yield from mixed(s, dtype, np.outer, (3,), (2,))


@refusals("outer")
def outer_refusals(s):
    yield Refusal([np.zeros((2, 2)), np.zeros(2)], {}, "SHAPE", "expected 1 axis")
    yield Refusal([np.zeros(2), np.float64(2)], {}, "SHAPE", "expected 1 axis")
    yield Refusal([np.zeros(2), np.zeros(2, dtype=bool)], {}, "DTYPE", "input b is bool")


@cases("inner", ulps=8)
def inner(s, dtype):
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (4, 3)), ((2, 2, 3), (4, 3)), ((), (3,)), ((2,), ()), ((), ()),
              ((2, 0), (3, 0)), ((0, 2), (3, 2)), ((40, 40), (30, 40))]
    yield from pair_cases(s, dtype, np.inner, shapes)
    yield from mixed(s, dtype, np.inner, (2, 3), (3,))
    a, b = np.repeat(s.small(dtype, (1, 3)), 2, axis=0), s.small(dtype, (2, 3))
    yield Case([a, b], {}, [result(np.inner, dtype, a, b)])


@refusals("inner")
def inner_refusals(s):
    yield Refusal([np.zeros(2), np.zeros(3)], {}, "SHAPE", "last axis of 2")


@cases("matvec", ulps=2)
def matvec(s, dtype):
    def f(a, b):
        return (a * b[..., None, :]).sum(-1)
    shapes = [((2, 3), (3,)), ((1, 1), (1,)), ((4, 2, 3), (3,)), ((2, 3), (4, 3)), ((2, 1, 2, 3), (4, 3)), ((2, 0), (0,)),
              ((0, 3), (3,)), ((33, 40), (40,)), ((3, 5, 70), (3, 70))]
    yield from pair_cases(s, dtype, f, shapes)
    yield from mixed(s, dtype, f, (2, 3), (3,))
    a, b = np.repeat(s.small(dtype, (1, 3)), 2, axis=0), s.small(dtype, (3,))
    yield Case([a, b], {}, [result(f, dtype, a, b)])


@cases("vecmat", ulps=2)
def vecmat(s, dtype):
    def f(a, b):
        return (np.conj(a)[..., :, None] * b).sum(-2)
    shapes = [((2,), (2, 3)), ((1,), (1, 1)), ((4, 2), (2, 3)), ((2,), (4, 2, 3)), ((2, 1, 2), (4, 2, 3)), ((0,), (0, 2)),
              ((3,), (3, 0)), ((33,), (33, 40)), ((3, 70), (3, 70, 21))]
    yield from pair_cases(s, dtype, f, shapes)
    yield from mixed(s, dtype, f, (2,), (2, 3))
    a, b = np.repeat(s.small(dtype, (1, 3)), 2, axis=0), s.small(dtype, (3, 2))
    yield Case([a, b], {}, [result(f, dtype, a, b)])


@refusals("matvec", "vecmat")
def matvec_refusals(s, op):
    a, b = (np.zeros((2, 3)), np.zeros(2)) if op == "matvec" else (np.zeros(2), np.zeros((3, 2)))
    yield Refusal([a, b], {}, "SHAPE", "expected vectors of 3" if op == "matvec" else "expected matrices of 2 rows")
    yield Refusal([np.zeros(2), np.zeros(2)], {}, "SHAPE", "at least 2 axes")
    a, b = (np.zeros((2, 2, 2)), np.zeros((3, 2))) if op == "matvec" else (np.zeros((2, 2)), np.zeros((3, 2, 2)))
    yield Refusal([a, b], {}, "SHAPE", "broadcast")


@cases("vecdot", ulps=2)
def vecdot(s, dtype):
    for left, right, axis in [((3,), (3,), -1), ((2, 3), (3,), -1), ((2, 3), (2, 3), -2), ((2, 1, 3), (4, 3), -1),
                              ((3, 2), (3, 2), 0), ((0,), (0,), -1), ((0, 2), (2,), -1), ((2, 100), (100,), 1),
                              ((3, 100), (3, 100), -1), ((2, 16384), (2, 16384), -1), ((20001,), (20001,), -1)]:
        def f(a, b):
            a, b = np.broadcast_arrays(a, b)
            return (np.conj(a) * b).sum(axis)
        yield from pair_cases(s, dtype, f, [(left, right)], {"axis": axis})
    yield from mixed(s, dtype, lambda a, b: (np.conj(a) * b).sum(-1), (2, 3), (3,))
    a, b = np.repeat(s.small(dtype, (1, 3)), 2, axis=0), s.small(dtype, (3,))
    yield Case([a, b], {}, [result(lambda u, v: (np.conj(u) * v).sum(-1), dtype, a, b)])


@cases("cross", ulps=1)
def cross(s, dtype):
    for left, right, axis in [((3,), (3,), -1), ((2, 3), (3,), -1), ((2, 3), (4, 1, 3), -1), ((3, 2), (3, 1), 0),
                              ((2, 3, 2), (3, 2), 1), ((0, 3), (3,), -1), ((2, 3), (2, 3), -1)]:
        def f(a, b):
            a, b = np.moveaxis(np.broadcast_arrays(a, b), axis, -1) if axis == -1 else \
                [np.moveaxis(v, axis, -1) for v in np.broadcast_arrays(a, b)]
            y = [a[..., (i + 1) % 3] * b[..., (i + 2) % 3] - a[..., (i + 2) % 3] * b[..., (i + 1) % 3]
                 for i in range(3)]
            return np.stack(y, axis)
        a, b = s.small(dtype, left), s.small(dtype, right)
        yield Case([a, b], {"axis": axis}, [cross_result(f, dtype, a, b)])
    a, b = np.repeat(s.small(dtype, (1, 3)), 2, axis=0), s.small(dtype, (3,))
    yield Case([a, b], {}, [cross_result(lambda u, v: np.cross(u, v), dtype, a, b)])
    if dtype == "float32":
        a, b = s.small(dtype, (3,)), s.small("complex128", (2, 3))
        yield Case([a, b], {}, [cross_result(lambda u, v: np.cross(u, v), "complex128", a, b)])


def cross_result(f, dtype, a, b):
    y = result(f, dtype, a, b)
    if isinstance(y, Near):
        y.scale = np.full(np.shape(y.value), 2 * float(np.abs(wide(a)).max(initial=0) * np.abs(wide(b)).max(initial=0)))
    return y


@refusals("cross", "vecdot")
def axis_refusals(s, op):
    yield Refusal([np.zeros((2, 3)), np.zeros(3)], {"axis": 2}, "INDEX", "axis 2 is out of range")
    yield Refusal([np.zeros((3, 2)), np.zeros(2)], {"axis": 0}, "INDEX", "is not there")
    yield Refusal([np.float64(1), np.zeros(3)], {}, "SHAPE", "at least 1 axis")
    yield Refusal([np.zeros(3), np.zeros(2)], {}, "SHAPE", "expected 3 elements")
    yield Refusal([np.zeros((2, 3)), np.zeros((4, 3))], {}, "SHAPE", "broadcast")


@cases("kron", ulps=1, complex_ulps=2)
def kron(s, dtype):
    shapes = [((), ()), ((2,), (3,)), ((2, 3), (3, 2)), ((2, 3), (2,)), ((3,), (2, 2)), ((2, 1, 2), (2, 3)), ((0,), (3,)),
              ((2, 2), (0, 3)), ((), (3,)), ((9, 8), (7, 5))]
    yield from pair_cases(s, dtype, np.kron, shapes)
    yield from mixed(s, dtype, np.kron, (2, 2), (1, 2))
    a, b = np.repeat(s.small(dtype, (1, 3)), 2, axis=0), s.small(dtype, (2, 2))
    yield Case([a, b], {}, [result(np.kron, dtype, a, b)])


@cases("tensordot", ulps=8)
def tensordot(s, dtype):
    for left, right, of_a, of_b in [((3,), (3,), [0], [0]), ((2, 3), (3, 4), [1], [0]), ((2, 3, 4), (4, 3, 5), [1, 2], [1, 0]),
                                    ((2, 3), (4,), [], []), ((2, 3), (2, 3), [0, 1], [0, 1]), ((), (2,), [], []),
                                    ((2, 3), (5, 3), [-1], [-1]), ((2, 0), (0, 3), [1], [0]), ((0, 2), (2, 3), [1], [0]),
                                    ((3, 20, 30), (30, 20, 4), [2, 1], [0, 1])]:
        yield from pair_cases(s, dtype, lambda a, b: np.tensordot(a, b, axes=(of_a, of_b)), [(left, right)],
                              {"axes_a": of_a, "axes_b": of_b})
    yield from mixed(s, dtype, lambda a, b: np.tensordot(a, b, axes=1), (2, 3), (3, 2), {"axes_a": [1], "axes_b": [0]})
    a, b = np.repeat(s.small(dtype, (1, 3)), 2, axis=0), s.small(dtype, (3, 2))
    yield Case([a, b], {"axes_a": [1], "axes_b": [0]}, [result(lambda u, v: np.tensordot(u, v, axes=1), dtype, a, b)])


@refusals("tensordot")
def tensordot_refusals(s):
    a, b = np.zeros((2, 3)), np.zeros((3, 2))
    yield Refusal([a, b], {"axes_a": [1], "axes_b": []}, "ARGUMENT", "axes_a has 1 values and axes_b 0")
    yield Refusal([a, b], {"axes_a": [1], "axes_b": [1]}, "SHAPE", "expected the extent 3")
    yield Refusal([a, b], {"axes_a": [2], "axes_b": [1]}, "INDEX", "axes_a 2 is out of range")
    yield Refusal([a, b], {"axes_a": [0, 0], "axes_b": [1, 0]}, "ARGUMENT", "twice")


@cases("multi_dot", ulps=8)
def multi_dot(s, dtype):
    for shapes in [[(2, 3), (3, 4)], [(2, 3), (3, 4), (4, 1)], [(3,), (3, 4), (4, 2)], [(2, 3), (3, 4), (4,)],
                   [(3,), (3,)], [(2, 0), (0, 3), (3, 2)], [(1, 5), (5, 1), (1, 5), (5, 1)],
                   [(20, 30), (30, 40), (40, 20)], [(3,), (3, 3), (3,)]]:
        xs = [s.integers(-2, 2, shape).astype(NUMPY[dtype]) if not dtype.startswith("u") else
              s.integers(0, 2, shape).astype(NUMPY[dtype]) for shape in shapes]

        def f(*arrays):
            y = arrays[0]
            for a in arrays[1:]:
                y = y @ a
            return y
        yield Case(xs, {}, [result(f, dtype, *xs)])
    xs = [np.repeat(s.small(dtype, (1, 3)), 2, axis=0), s.small(dtype, (3, 2))]
    yield Case(xs, {}, [result(lambda a, b: a @ b, dtype, *xs)])


@refusals("multi_dot")
def multi_dot_refusals(s):
    yield Refusal([np.zeros((2, 2))], {}, "ARGUMENT", "expected 2 to 64")
    yield Refusal([np.zeros((2, 2)), np.zeros(2), np.zeros((2, 2))], {}, "SHAPE", "input xs[1]")
    yield Refusal([np.zeros((2, 2)), np.zeros((3, 2))], {}, "SHAPE", "expected 2 rows")


# -- einsum -----------------------------------------------------------------------------------------------------------

EQUATIONS = [
    ("i->i", [(3,)]), ("i->", [(5,)]), ("ij->ji", [(2, 3)]), ("ij", [(2, 3)]), ("ji", [(2, 3)]), ("ii->i", [(3, 3)]),
    ("ii", [(3, 3)]), ("ii->", [(3, 3)]), ("iij->j", [(2, 2, 3)]), ("ij->", [(2, 3)]), ("ij->j", [(2, 3)]),
    ("...->...", [(2, 3)]), ("...", [()]), ("", [()]), ("->", [()]), ("...i->i...", [(2, 3, 4)]), ("i...->...", [(2, 3, 4)]),
    ("...ii->...i", [(2, 3, 3)]), ("...ij->...ji", [(2, 2, 3)]), ("b...a->a...b", [(2, 3, 4)]),
    ("i,i->", [(3,), (3,)]), ("i,i->i", [(3,), (3,)]), ("i,j->ij", [(3,), (2,)]), ("i,j->ji", [(3,), (2,)]),
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("ij,jk->ki", [(2, 3), (3, 4)]),
    ("bij,bjk->bik", [(2, 2, 3), (2, 3, 4)]), ("...ij,...jk->...ik", [(2, 1, 2, 3), (4, 3, 2)]),
    ("...ij,...jk", [(2, 2, 3), (3, 2)]), ("ij,kj->ik", [(2, 3), (4, 3)]), ("ij,ij->", [(2, 3), (2, 3)]),
    ("ij,kl->il", [(2, 3), (2, 4)]), ("i,ij,j->", [(2,), (2, 3), (3,)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
    ("ij,jk,kl,lm->im", [(2, 3), (3, 2), (2, 4), (4, 2)]), ("ab,bc,ca->", [(2, 3), (3, 2), (2, 2)]),
    ("ijk,jil->kl", [(2, 3, 4), (3, 2, 5)]), ("ea,fb,abcd,gc,hd->efgh", [(2, 2)] * 2 + [(2, 2, 2, 2)] + [(2, 2)] * 2),
    ("ij,jk->", [(2, 0), (0, 3)]), ("ij,jk->ik", [(2, 0), (0, 3)]), ("ij,jk->ik", [(0, 3), (3, 2)]),
    (" i j , j k -> i k ", [(2, 3), (3, 2)]), ("Ab,bC", [(2, 3), (3, 4)]), ("ba,Ac->", [(2, 3), (2, 4)]),
    ("i,i", [(1,), (3,)]), ("ij,jk->ik", [(2, 1), (3, 4)]), ("...,...", [(2, 3), (3,)]), ("...,...->...", [(2, 1), (3,)]),
    ("i...,i...->...", [(2, 3), (2, 3)]), ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]),
    ("bqhd,bkhd->bhqk", [(1, 3, 2, 4), (1, 5, 2, 4)]), ("ij,jk->ik", [(40, 40), (40, 30)]),
    ("bij,bjk->bik", [(5, 20, 20), (5, 20, 16)]), (",i->i", [(), (3,)]), ("i,->i", [(3,), ()]),
    ("iij,jk->ik", [(2, 2, 3), (3, 2)]),
]


@cases("einsum", ulps=8)
def einsum(s, dtype):
    for equation, shapes in EQUATIONS:
        xs = [s.small(dtype, shape) for shape in shapes]
        yield Case(xs, {"equation": equation}, [einsum_result(equation, dtype, xs)])
    xs = [np.repeat(s.small(dtype, (1, 3)), 2, axis=0), s.small(dtype, (3, 2))]
    yield Case(xs, {"equation": "ij,jk"}, [einsum_result("ij,jk", dtype, xs)])
    if is_integer(dtype):
        xs = [s.bits(dtype, (3, 4)), s.bits(dtype, (4, 2))]
        yield Case(xs, {"equation": "ij,jk"}, [einsum_result("ij,jk", dtype, xs)])
    if dtype == "float32":
        xs = [s.small(dtype, (3, 4)), s.small("complex128", (4, 2))]
        yield Case(xs, {"equation": "ij,jk"}, [einsum_result("ij,jk", "complex128", xs)])
        x = s.small(dtype, (3, 3))
        x[1, 1] = np.nan
        xs = [x, s.small(dtype, (3,))]
        yield Case(xs, {"equation": "ij,j"}, [einsum_result("ij,j", dtype, xs)])


def einsum_result(equation, dtype, xs):
    equation = equation.replace(" ", "")
    if equation in ("", "->"):
        return xs[0]
    y = result(lambda *arrays: np.einsum(equation, *arrays), dtype, *xs)
    if isinstance(y, Near):
        y.scale = np.nan_to_num(y.scale)
    return y


@refusals("einsum")
def einsum_refusals(s):
    x, y = np.zeros((2, 3)), np.zeros((3, 4))
    for equation, status, text in [
            ("ij,jk,kl", "ARGUMENT", "more operands than arrays"), ("ij", "ARGUMENT", "fewer operands than arrays"),
            ("ij,j1->i", "ARGUMENT", "no letter"), ("ijk,jk", "SHAPE", "expected 3 axes"), ("i,jk", "SHAPE", "expected 1 axes"),
            ("ij,ik", "SHAPE", "expected the extent 2"), ("ij,jk->iz", "ARGUMENT", "no operand has"),
            ("ij,jk->ii", "ARGUMENT", "stands there twice"), ("i...,...k->ik", "ARGUMENT", "expected '...' there"),
            ("......,jk", "ARGUMENT", "'...' twice"), ("ij,jk->ik->", "ARGUMENT", "goes on after"),
            ("ij,jk-", "ARGUMENT", "no letter"), ("ii,jk", "SHAPE", "one extent"), ("ij.,jk", "ARGUMENT", "no letter"),
            ("i...jk,jk", "SHAPE", "expected 3 axes or more"), ("...,...", "SHAPE", "expected the extent")]:
        yield Refusal([x, y], {"equation": equation}, status, text)
    yield Refusal([x, y], {}, "ARGUMENT", "equation is missing")
