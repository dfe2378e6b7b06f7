"""Factorisations, solvers, norms. Where the right answer is one, it comes from NumPy or SciPy in double (for float32 and
less) or from mpmath; where it is not (signs and phases of vectors), a property of tests/conformance/properties.c judges."""
import itertools

import mpmath
import numpy as np
import scipy.linalg

from framework import Case, Near, Refusal, cases, is_complex, refusals, wide, NUMPY
from decomposition_matrices import (
    complex_of, condition, doubles, each, exact, from_mp, full_of_nan, hermitian, positive, real_of,
    second_singular, to_mp, twice, well, ANY, EPSILON, SQUARE)


# -- systems ----------------------------------------------------------------------------------------------------------

@cases("cholesky", ulps=4)
def cholesky(s, dtype):
    for shape in SQUARE:
        for upper in (False, True):
            x = positive(s, dtype, shape)
            if x.size == 0:
                yield Case([x], {"upper": upper}, [x])
                continue
            lower = np.tril(doubles(x))
            i = np.arange(shape[-1])
            lower[..., i, i] = lower[..., i, i].real
            adjoint = np.conj(np.swapaxes(lower, -1, -2))
            l = np.linalg.cholesky(lower)  # reads only the lower triangle
            other = s.uniform("float64", 5, 6, shape)
            given = adjoint + np.tril(other, -1) if upper else lower + np.triu(other, 1)
            y = np.conj(np.swapaxes(l, -1, -2)) if upper else l
            yield Case([given.astype(NUMPY[dtype])], {"upper": upper}, [Near(y, dtype, np.abs(y).max())])
    x = twice(positive(s, dtype, (3, 3)))
    yield Case([x], {}, [Near(np.linalg.cholesky(doubles(x)), dtype, 4)])
    x = positive(s, dtype, (2, 3, 3))
    x[1, 2, 0] = np.nan
    y = np.linalg.cholesky(doubles(x[:1]))
    yield Case([x], {}, [Near(np.concatenate([y, doubles(full_of_nan((1, 3, 3), dtype))]), dtype, 4)])
    x[1, 2, 0] = 0
    x[1, 0, 2] = np.nan  # not read
    yield Case([x], {}, [Near(np.linalg.cholesky(np.tril(doubles(x))), dtype, 4)])


@refusals("cholesky")
def cholesky_refusals(s):
    yield Refusal([np.array([[1.0, 2.0], [2.0, 1.0]])], {}, "ARGUMENT", "not positive definite")
    for n in (2, 17):
        yield Refusal([np.stack([np.eye(n), -np.eye(n)])], {}, "ARGUMENT", "matrix 1 of the batch")
    yield Refusal([np.zeros((2, 3))], {}, "SHAPE", "square")
    yield Refusal([np.zeros(3)], {}, "SHAPE", "at least 2 axes")


def determinants(x):
    def one(m):
        if m.shape[0] == 0:
            return np.clongdouble(1) if np.iscomplexobj(m) else np.longdouble(1)
        with mpmath.workprec(400):
            return from_mp(mpmath.matrix([[mpmath.det(to_mp(m))]]), np.iscomplexobj(m))[0, 0]
    return each(one, doubles(x))


def hadamard(x):
    """The magnitude that rounding errors of a determinant are relative to."""
    return np.prod(np.sqrt((np.abs(doubles(x)) ** 2).sum(-1)), axis=-1)


@cases("det", ulps=8)
def det(s, dtype):
    for shape in SQUARE[:9]:
        x = s.uniform(dtype, -2, 2, shape)
        if 0 in shape[:-2]:
            yield Case([x], {}, [np.zeros(shape[:-2], dtype=NUMPY[dtype])])
            continue
        yield Case([x], {}, [Near(determinants(x), dtype, hadamard(x))])
    x = well(s, dtype, (17, 17))
    x = (doubles(x) * 0.5).astype(NUMPY[dtype])
    yield Case([x], {}, [Near(determinants(x), dtype, float(np.abs(np.linalg.det(doubles(x)))) * 16)])
    x = twice(well(s, dtype, (3, 3)))
    yield Case([x], {}, [Near(determinants(x), dtype, hadamard(x))])
    yield Case([np.array([[1, 2], [2, 4]]).astype(NUMPY[dtype])], {}, [np.zeros((), dtype=NUMPY[dtype])])
    yield Case([np.zeros((2, 3, 3), dtype=NUMPY[dtype])], {}, [np.zeros(2, dtype=NUMPY[dtype])])
    for value in (np.nan, np.inf, -np.inf):
        x = well(s, dtype, (2, 3, 3))
        x[1, 2, 1] = value
        y = np.stack([np.asarray(doubles(determinants(x[:1])))[0], doubles(full_of_nan((), dtype))])
        yield Case([x], {}, [Near(y, dtype, hadamard(np.where(np.isfinite(x), x, 1)))])
    # Factors out of range, the product in it.
    x = np.diag([2.0**-12, 2.0**-12, 2.0**-12, 2.0**12, 2.0**12, 2.0**12]).astype(NUMPY[dtype])
    yield Case([x], {}, [np.ones((), dtype=NUMPY[dtype])])


@cases("slogdet", ulps=8)
def slogdet(s, dtype):
    for shape in SQUARE:
        x = well(s, dtype, shape)
        if 0 in shape[:-2]:
            yield Case([x], {}, [np.zeros(shape[:-2], NUMPY[dtype]), np.zeros(shape[:-2], NUMPY[real_of(dtype)])])
            continue
        sign, logarithm = np.linalg.slogdet(doubles(x))
        # NumPy's rounding depends on its BLAS: both results may differ by the condition number.
        scale = 8 * max(1.0, float(np.max(condition(x))))
        yield Case([x], {}, [Near(sign, dtype, scale),
                             Near(logarithm, real_of(dtype), np.abs(logarithm) * 2 + scale)])
    x = np.stack([np.ones((3, 3)), np.eye(3) * 2]).astype(NUMPY[dtype])
    yield Case([x], {}, [np.array([0, 1], dtype=NUMPY[dtype]),
                         Near(np.array([-np.inf, 3 * np.log(2)]), real_of(dtype), 4)])
    x[0, 1, 1] = np.nan
    yield Case([x], {}, [Near(np.stack([doubles(full_of_nan((), dtype)), 1]), dtype, 4),
                         Near(np.array([np.nan, 3 * np.log(2)]), real_of(dtype), 4)])


@refusals("det", "slogdet", "inv", "eigh", "eigvalsh", "eig", "eigvals", "expm", "matrix_power")
def square_refusals(s, op):
    yield Refusal([np.zeros((2, 3))], {}, "SHAPE", "expected square matrices")
    yield Refusal([np.zeros(3)], {}, "SHAPE", "at least 2 axes")
    if op == "inv" or op == "matrix_power":
        attrs = {"n": -1} if op == "matrix_power" else {}
        yield Refusal([np.ones((2, 2))], attrs, "ARGUMENT", "is singular")
        for n in (2, 17):
            yield Refusal([second_singular(n)], attrs, "ARGUMENT", "matrix 1 of the batch is singular")


@cases("inv", ulps=8)
def inv(s, dtype):
    for shape in SQUARE:
        x = well(s, dtype, shape) if shape[-1] < 10 else hermitian(s, dtype, shape, 3.0 * shape[-1])
        if x.size == 0:
            yield Case([x], {}, [x])
            continue
        y = exact(lambda a: a**-1, doubles(x)) if shape[-1] < 6 else np.linalg.inv(doubles(x))
        yield Case([x], {}, [Near(y, dtype, np.abs(doubles(y)).max() * condition(x))])
    x = twice(well(s, dtype, (2, 2)))
    yield Case([x], {}, [Near(np.linalg.inv(doubles(x)), dtype, 4)])
    x = well(s, dtype, (2, 2, 2))
    x[0, 0, 1] = np.inf
    y = np.stack([doubles(full_of_nan((2, 2), dtype)), np.linalg.inv(doubles(x[1]))])
    yield Case([x], {}, [Near(y, dtype, 8)])


RIGHT = [((3, 3), (3,)), ((3, 3), (3, 2)), ((1, 1), (1,)), ((2, 3, 3), (3,)), ((2, 3, 3), (3, 4)), ((3, 3), (2, 3, 1)),
         ((2, 1, 3, 3), (4, 3, 2)), ((0, 0), (0,)), ((0, 0), (0, 3)), ((3, 3), (3, 0)), ((0, 2, 2), (2, 3)),
         ((17, 17), (17, 5)), ((5, 20, 20), (5, 20, 2))]


def broadcast_pair(a, b):
    """Both with the same batch; b as matrices."""
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return np.broadcast_to(a, batch + a.shape[-2:]), np.broadcast_to(b, batch + b.shape[-2:]), vector


def solution(f, a, b):
    a, b, vector = broadcast_pair(doubles(a), doubles(b))
    kind = np.result_type(a, b)
    y = each(f, a.astype(kind), b.astype(kind))
    if y is None or y.size == 0:
        y = np.zeros(b.shape, dtype=kind)
    return y[..., 0] if vector else y


def scale_of(y, a):
    return float(np.abs(y).max()) * condition(a) if np.size(y) else 1


@cases("solve", ulps=8)
def solve(s, dtype):
    for left, right in RIGHT:
        a, b = well(s, dtype, left), s.small(dtype, right)
        y = solution(np.linalg.solve, a, b)
        yield Case([a, b], {}, [Near(y, dtype, scale_of(y, a))])
    a, b = twice(well(s, dtype, (2, 2))), s.small(dtype, (2, 3))
    y = solution(np.linalg.solve, a, b)
    yield Case([a, b], {}, [Near(y, dtype, scale_of(y, a))])
    a, b = well(s, dtype, (2, 2, 2)), s.small(dtype, (2, 3))
    a[1, 1, 1] = np.nan
    y = np.stack([np.linalg.solve(doubles(a[0]), doubles(b)), doubles(full_of_nan((2, 3), dtype))])
    yield Case([a, b], {}, [Near(y, dtype, 16)])
    if dtype == "float32":
        b = s.small("float64", (3,))
        y = solution(np.linalg.solve, well(s, dtype, (3, 3)), b)
        a = well(s, dtype, (3, 3))
        yield Case([a, b], {}, [Near(solution(np.linalg.solve, a, b), "float64", 64)])
        b = s.small("complex64", (3, 2))
        yield Case([a, b], {}, [Near(solution(np.linalg.solve, a, b), "complex64", 64)])


@refusals("solve", "triangular_solve", "cholesky_solve")
def solve_refusals(s, op):
    yield Refusal([np.zeros((2, 3)), np.zeros(2)], {}, "SHAPE", "square")
    yield Refusal([np.eye(3), np.zeros(2)], {}, "SHAPE", "expected [3] or [..., 3, k]")
    yield Refusal([np.eye(3), np.float64(2)], {}, "SHAPE", "expected [3] or [..., 3, k]")
    yield Refusal([np.stack([np.eye(3)] * 2), np.zeros((5, 3, 1))], {}, "SHAPE", "broadcast")
    yield Refusal([np.eye(3), np.zeros(3, dtype=np.int32)], {}, "DTYPE", "input b is int32")
    yield Refusal([np.zeros((2, 2)), np.ones(2)], {}, "ARGUMENT", "is singular (pivot 1 is zero)")
    for n in (2, 17):
        yield Refusal([second_singular(n), np.ones((n, 2))], {}, "ARGUMENT", "matrix 1 of the batch is singular")


@cases("triangular_solve", ulps=8)
def triangular_solve(s, dtype):
    for number, (left, right) in enumerate(RIGHT):
        for upper, adjoint, unit in [(False, False, False), (True, False, False), (False, True, False),
                                     (True, True, False), (False, False, True), (True, True, True)]:
            if left[-1] > 5 and (unit or adjoint != upper):
                continue
            a, b = well(s, dtype, left), s.small(dtype, right)
            if unit:
                a = (doubles(a) / 4).astype(NUMPY[dtype])
            t = doubles(a)
            t = np.triu(t) if upper else np.tril(t)
            if unit:
                t = t - t * np.eye(left[-1]) + np.eye(left[-1])
            t = np.conj(np.swapaxes(t, -1, -2)) if adjoint else t
            y = solution(np.linalg.solve, t, b)
            yield Case([a, b], {"upper": upper, "adjoint": adjoint, "unit_diagonal": unit},
                       [Near(y, dtype, scale_of(y, t))])
    a, b = twice(well(s, dtype, (2, 2))), s.small(dtype, (2, 3))
    y = solution(np.linalg.solve, np.tril(doubles(a)), b)
    yield Case([a, b], {}, [Near(y, dtype, scale_of(y, a))])


@cases("cholesky_solve", ulps=8)
def cholesky_solve(s, dtype):
    for left, right in RIGHT:
        for upper in (False, True):
            a, b = well(s, dtype, left), s.small(dtype, right)
            t = np.triu(doubles(a)) if upper else np.tril(doubles(a))
            h = np.conj(np.swapaxes(t, -1, -2))
            product = h @ t if upper else t @ h
            y = solution(np.linalg.solve, product, b)
            yield Case([a, b], {"upper": upper}, [Near(y, dtype, scale_of(y, product))])
    a, b = twice(well(s, dtype, (2, 2))), s.small(dtype, (2, 3))
    t = np.tril(doubles(a))
    y = solution(np.linalg.solve, t @ np.conj(np.swapaxes(t, -1, -2)), b)
    yield Case([a, b], {}, [Near(y, dtype, scale_of(y, t @ t))])


@cases("lu_solve", ulps=8)
def lu_solve(s, dtype):
    for left, right in RIGHT:
        a, b = s.uniform(dtype, -2, 2, left), s.small(dtype, right)
        n = left[-1]
        lu = well(s, dtype, left)
        pivots = np.array([s.integers(i, n - 1, left[:-2]) for i in range(n)] if n else np.zeros((0,) + left[:-2]))
        pivots = np.moveaxis(pivots.reshape((n,) + left[:-2]), 0, -1).astype(np.int64)

        def one(factors, exchanges, right_side):
            right_side = right_side.copy()
            for i, j in enumerate(exchanges[:, 0]):
                right_side[[i, j]] = right_side[[j, i]]
            lower = np.tril(factors, -1) + np.eye(n)
            return np.linalg.solve(lower @ np.triu(factors), right_side)
        la, lb, vector = broadcast_pair(doubles(lu), doubles(b))
        lp = np.broadcast_to(pivots[..., None], la.shape[:-2] + (n, 1))
        y = each(one, la, lp, lb)
        y = np.zeros(lb.shape, dtype=lb.dtype) if y is None else y
        y = y[..., 0] if vector else y
        t = np.tril(doubles(lu), -1) + np.eye(n)
        yield Case([lu, pivots, b], {}, [Near(y, dtype, scale_of(y, lu) * condition(t))])
    lu, b = twice(well(s, dtype, (2, 2))), s.small(dtype, (2, 1))
    t = doubles(lu[0])
    y = np.linalg.solve((np.tril(t, -1) + np.eye(2)) @ np.triu(t), doubles(b)[::-1])
    yield Case([lu, np.array([[1, 1], [1, 1]]), b], {}, [Near(twice(y), dtype, 64)])


@refusals("lu_solve")
def lu_solve_refusals(s):
    yield Refusal([np.eye(3), np.arange(3, dtype=np.int32), np.zeros(3)], {}, "DTYPE", "expected int64")
    yield Refusal([np.eye(3), np.arange(2), np.zeros(3)], {}, "SHAPE", "input pivots")
    yield Refusal([np.eye(3), np.array([0, 1, 3]), np.zeros(3)], {}, "INDEX", "not one of its rows")
    yield Refusal([np.eye(3), np.array([0, -1, 2]), np.zeros(3)], {}, "INDEX", "not one of its rows")
    yield Refusal([np.eye(3) * 0, np.arange(3), np.zeros(3)], {}, "ARGUMENT", "is singular")
    for n in (2, 17):
        yield Refusal([second_singular(n), np.stack([np.arange(n)] * 2), np.ones((2, n, 1))], {}, "ARGUMENT",
                      "matrix 1 of the batch is singular")
    yield Refusal([twice(np.eye(2)), np.array([[0, 1], [0, 2]]), np.ones((2, 2, 1))], {}, "INDEX",
                  "a pivot of matrix 1 of the batch")


# -- factors ----------------------------------------------------------------------------------------------------------

def judged(x, attrs, shapes, dtypes, name):
    """A case judged by a property; the outputs tell their forms."""
    return Case([x], attrs, [np.zeros(shape, NUMPY[dtype]) for shape, dtype in zip(shapes, dtypes)], property=name)


def with_specials(s, dtype, shapes, make):
    """Random matrices, then rank deficient ones, zeros, equal ones, extreme ones and such with NaN."""
    for shape in shapes:
        yield make(s, dtype, shape)
    for shape in [(4, 4), (5, 3), (3, 5)]:
        if shapes is SQUARE and shape[0] != shape[1]:
            continue
        yield np.zeros(shape, NUMPY[dtype])
        yield np.ones(shape, NUMPY[dtype])
        x = doubles(make(s, dtype, shape))
        x[..., -1, :] = 0
        x[..., :, -1] = 0
        yield x.astype(NUMPY[dtype])
    yield np.eye(4, dtype=NUMPY[dtype])
    yield twice(make(s, dtype, (3, 3)))
    if dtype in ("float64", "complex128"):
        yield make(s, dtype, (4, 4)) * 1e200
        yield make(s, dtype, (4, 4)) * 1e-200
    for value in (np.nan, np.inf):
        x = make(s, dtype, (2, 3, 3))
        x[1, 2, 0] = x[1, 0, 2] = value
        yield x


def any_matrix(s, dtype, shape):
    return s.uniform(dtype, -2, 2, shape)


def in_blocks(s, dtype, shapes, make, scaled=False):
    """Sizes from which engine openblas applies reflectors by blocks of its own, the last block not full; reflectors that
    are the identity; numbers whose squares leave the range. Only a few, because judging a case takes longer than computing
    it."""
    if dtype in ("float32", "float64"):
        for shape in shapes:
            yield make(s, dtype, shape)
        yield np.eye(129, dtype=NUMPY[dtype])
        if scaled:
            yield make(s, dtype, (128, 128)) * NUMPY[dtype](1e25 if dtype == "float32" else 1e-200)


@cases("qr")
def qr(s, dtype):
    large = in_blocks(s, dtype, [(130, 135), (136, 129)], any_matrix)
    for x in itertools.chain(with_specials(s, dtype, ANY, any_matrix), large):
        m, n, batch = x.shape[-2], x.shape[-1], x.shape[:-2]
        for complete in (False, True):
            inner = m if complete else min(m, n)
            yield judged(x, {"complete": complete}, [batch + (m, inner), batch + (inner, n)], [dtype] * 2, "is_qr")


@cases("lu")
def lu(s, dtype):
    for x in with_specials(s, dtype, ANY, any_matrix):
        m, n, batch = x.shape[-2], x.shape[-1], x.shape[:-2]
        least = min(m, n)
        yield judged(x, {}, [batch + (m, m), batch + (m, least), batch + (least, n)], [dtype] * 3, "is_lu")


@cases("lu_factor")
def lu_factor(s, dtype):
    for x in with_specials(s, dtype, ANY, any_matrix):
        yield judged(x, {}, [x.shape, x.shape[:-2] + (min(x.shape[-2:]),)], [dtype, "int64"], "is_lu_factor")


@cases("svd")
def svd(s, dtype):
    large = in_blocks(s, dtype, [(136, 129), (130, 135)], any_matrix)
    for x in itertools.chain(with_specials(s, dtype, ANY, any_matrix), large):
        m, n, batch = x.shape[-2], x.shape[-1], x.shape[:-2]
        least = min(m, n)
        for full in (False, True):
            yield judged(x, {"full_matrices": full},
                         [batch + (m, m if full else least), batch + (least,), batch + (n if full else least, n)],
                         [dtype, real_of(dtype), dtype], "is_svd")


@cases("eigh")
def eigh(s, dtype):
    large = in_blocks(s, dtype, [(127, 127), (131, 131)], hermitian, scaled=True)
    for x in itertools.chain(with_specials(s, dtype, SQUARE, hermitian), large):
        for upper in (False, True):
            yield judged(x, {"upper": upper}, [x.shape[:-1], x.shape], [real_of(dtype), dtype], "is_eigh")


@cases("eig")
def eig(s, dtype):
    for x in with_specials(s, dtype, SQUARE, any_matrix):
        yield judged(x, {}, [x.shape[:-1], x.shape], [complex_of(dtype)] * 2, "is_eig")
    x = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 2]]).astype(NUMPY[dtype])
    yield judged(x, {}, [(3,), (3, 3)], [complex_of(dtype)] * 2, "is_eig")


@refusals("qr", "lu", "lu_factor", "svd", "svdvals", "pinv", "matrix_rank", "matrix_norm")
def matrix_refusals(s, op):
    yield Refusal([np.zeros(3)], {}, "SHAPE", "at least 2 axes")
    yield Refusal([np.float64(1)], {}, "SHAPE", "at least 2 axes")
    if op == "matrix_norm":
        yield Refusal([np.zeros((2, 2))], {"ord": "3"}, "ARGUMENT", "ord is '3', expected one of fro")
        yield Refusal([np.zeros((0, 2))], {"ord": "-1"}, "SHAPE", "expected at least one element for an ord")


@cases("svdvals", ulps=4)
def svdvals(s, dtype):
    large = in_blocks(s, dtype, [(127, 127), (136, 129), (130, 135)], any_matrix, scaled=True)
    for x in itertools.chain(with_specials(s, dtype, ANY, any_matrix), large):
        good = np.isfinite(x).all((-1, -2), keepdims=True)
        y = np.linalg.svd(np.where(good, doubles(x), 0), compute_uv=False) if x.size else \
            np.zeros(x.shape[:-2] + (min(x.shape[-2:]),))
        y = np.where(good[..., 0], y, np.nan)
        # Backward errors grow with the extent: 100 up to 50 rows, beyond two a row, half of what is_svd grants.
        yield Case([x], {}, [Near(y, real_of(dtype), np.nan_to_num(y).max(-1, keepdims=True, initial=0))],
                   ulps=max(100, 2 * max(x.shape[-2:])))


@cases("eigvalsh", ulps=4)
def eigvalsh(s, dtype):
    for x in with_specials(s, dtype, SQUARE, hermitian):
        good = np.isfinite(x).all((-1, -2), keepdims=True)
        y = np.linalg.eigvalsh(np.where(good, doubles(x), 0)) if x.size else np.zeros(x.shape[:-1])
        y = np.where(good[..., 0], y, np.nan)
        for upper in (False, True):
            yield Case([x], {"upper": upper},
                       [Near(y, real_of(dtype), np.abs(np.nan_to_num(y)).max(-1, keepdims=True, initial=0))], ulps=100)


@cases("eigvals")
def eigvals(s, dtype):
    for x in with_specials(s, dtype, SQUARE, any_matrix):
        good = np.isfinite(x).all((-1, -2), keepdims=True)
        y = np.linalg.eigvals(np.where(good, doubles(x), 0)) if x.size else np.zeros(x.shape[:-1])
        y = np.where(good[..., 0], y + 0j, np.nan + 1j * np.nan)
        yield Case([x], {}, [y.astype(NUMPY[complex_of(dtype)])], property="are_eigenvalues")


# -- by singular values -----------------------------------------------------------------------------------------------

def low_rank(s, dtype, shape, rank):
    """Whole numbers, so that the product is exact."""
    a, b = s.integers(-2, 2, shape[:-1] + (rank,)), s.integers(-2, 2, shape[:-2] + (rank, shape[-1]))
    x = (a @ b).astype(np.float64)
    return (x * (1 - 1j) if is_complex(dtype) else x).astype(NUMPY[dtype])


def pinv_of(x, dtype, rtol=None):
    rtol = max(x.shape[-2:]) * EPSILON[dtype] if rtol is None else rtol
    return each(lambda m: np.linalg.pinv(m, rcond=rtol), doubles(x))


@cases("pinv", ulps=32)
def pinv(s, dtype):
    for shape in ANY:
        x = well(s, dtype, shape)
        if x.size == 0:
            yield Case([x], {}, [np.zeros(shape[:-2] + (shape[-1], shape[-2]), NUMPY[dtype])])
            continue
        y = pinv_of(x, dtype)
        yield Case([x], {}, [Near(y, dtype, np.abs(y).max() * condition(x))])
    for shape, rank in [((4, 4), 2), ((5, 3), 1), ((3, 5), 2), ((4, 3), 0)]:
        x = low_rank(s, dtype, shape, rank)
        y = pinv_of(x, dtype, 0.01)
        yield Case([x], {"rtol": 0.01}, [Near(y, dtype, 10 * np.abs(y).max())])
    x = twice(well(s, dtype, (3, 2)))
    yield Case([x], {}, [Near(pinv_of(x, dtype), dtype, 4)])
    x[1, 0, 0] = np.nan
    y = np.stack([pinv_of(x[:1], dtype)[0], doubles(full_of_nan((2, 3), dtype))])
    yield Case([x], {}, [Near(y, dtype, 4)])


@cases("matrix_rank")
def matrix_rank(s, dtype):
    for shape in ANY:
        x = well(s, dtype, shape)
        values = np.linalg.svd(doubles(x), compute_uv=False)
        limit = max(shape[-2:]) * EPSILON[dtype] * values[..., :1]
        yield Case([x], {}, [np.array((values > limit).sum(-1), dtype=np.int64)])
    for shape, rank in [((4, 4), 2), ((5, 3), 1), ((3, 5), 2), ((4, 3), 0), ((2, 6, 5), 3)]:
        x = low_rank(s, dtype, shape, rank)
        y = np.array(np.linalg.matrix_rank(doubles(x)), dtype=np.int64)
        yield Case([x], {"rtol": 1e-3}, [y])
    x = np.diag([4, 2, 1, 0.5]).astype(NUMPY[dtype])
    for rtol, rank in [(0.0, 4), (0.125, 3), (0.2, 3), (0.3, 2), (2.0, 0)]:
        yield Case([twice(x)], {"rtol": rtol}, [np.array([rank, rank], dtype=np.int64)])
    x[1, 1] = np.nan
    yield Case([x], {}, [np.array(0, dtype=np.int64)])


@cases("lstsq", ulps=64)
def lstsq(s, dtype):
    pairs = [((3, 3), (3,)), ((5, 3), (5,)), ((5, 3), (5, 2)), ((3, 5), (3, 2)), ((2, 5, 3), (5, 2)), ((4, 2), (3, 4, 1)),
             ((1, 1), (1,)), ((20, 9), (20, 3)), ((24, 16), (24, 2)), ((16, 24), (16, 2)), ((3, 2), (3, 0)), ((0, 2), (0, 3)), ((2, 0), (2, 1))]
    for left, right in pairs:
        a, b = well(s, dtype, left), s.small(dtype, right)
        yield least_squares(a, b, dtype, {})
    for shape, rank in [((4, 4), 2), ((5, 3), 2), ((3, 5), 2)]:
        a, b = low_rank(s, dtype, shape, rank), s.small(dtype, (shape[0], 2))
        yield least_squares(a, b, dtype, {"rtol": 0.01})
    a, b = twice(well(s, dtype, (3, 2))), s.small(dtype, (3, 1))
    yield least_squares(a, b, dtype, {})
    a = well(s, dtype, (3, 2))
    a[0, 1] = np.nan
    yield Case([a, s.small(dtype, (3, 1))], {}, [full_of_nan((2, 1), dtype), full_of_nan((1,), real_of(dtype)),
                                                 np.array(0), full_of_nan((2,), real_of(dtype))])


def least_squares(a, b, dtype, attrs):
    la, lb, vector = broadcast_pair(doubles(a), doubles(b))
    rtol = attrs.get("rtol", max(a.shape[-2:]) * EPSILON[dtype])

    def one(left, right):
        u, sv, vh = np.linalg.svd(left, full_matrices=False)
        rank = int((sv > rtol * sv[0]).sum()) if sv.size else 0
        x = np.conj(vh[:rank]).T @ ((np.conj(u[:, :rank]).T @ right) / sv[:rank, None])
        return x, (np.abs(left @ x - right) ** 2).sum(0), np.int64(rank), sv
    x, residuals, rank, values = each(one, la, lb)
    real = real_of(dtype)
    size = (np.abs(lb) ** 2).sum(-2).max() + 1 if lb.size else 1
    factor = 50 if "rtol" in attrs else condition(a)
    outputs = [Near(x[..., 0] if vector else x, dtype, (np.abs(x).max() if x.size else 1) * factor),
               Near(residuals[..., 0] if vector else residuals, real, size * factor), rank,
               Near(values, real, values.max() if values.size else 1)]
    return Case([a, b], attrs, outputs)


@refusals("lstsq")
def lstsq_refusals(s):
    yield Refusal([np.zeros(3), np.zeros(3)], {}, "SHAPE", "at least 2 axes")
    yield Refusal([np.zeros((3, 2)), np.zeros(2)], {}, "SHAPE", "expected [3] or [..., 3, k]")


# -- powers -----------------------------------------------------------------------------------------------------------

@cases("matrix_power", ulps=8)
def matrix_power(s, dtype):
    for shape in SQUARE[:10]:
        for n in (0, 1, 2, 3, 5, -1, -2):
            x = (doubles(well(s, dtype, shape)) / 2).astype(NUMPY[dtype])
            if x.size == 0:
                yield Case([x], {"n": n}, [x])
                continue
            if shape[-1] > 5 and n < 0:
                continue
            y = np.linalg.matrix_power(doubles(x), n)
            scale = np.abs(np.linalg.matrix_power(np.abs(doubles(x)), abs(n))).max()
            yield Case([x], {"n": n}, [Near(y, dtype, max(scale, condition(x) ** abs(n) if n < 0 else 0))])
    x = twice(well(s, dtype, (2, 2)))
    yield Case([x], {"n": 2}, [Near(doubles(x) @ doubles(x), dtype, 20)])
    x[1, 0, 0] = np.inf
    yield Case([x], {"n": 2}, [Near(np.stack([doubles(x[0]) @ doubles(x[0]), doubles(full_of_nan((2, 2), dtype))]),
                                    dtype, 20)])


@cases("expm", ulps=16)
def expm(s, dtype):
    for shape in SQUARE[:10]:
        for factor in (0.01, 1, 8) if shape[-1] < 6 else (0.25,):
            x = (doubles(s.uniform(dtype, -1, 1, shape)) * factor).astype(NUMPY[dtype])
            if x.size == 0:
                yield Case([x], {}, [x])
                continue
            if shape[-1] <= 3:
                with mpmath.workprec(300):
                    y = exact(lambda a: mpmath.expm(a), doubles(x))
            else:
                y = scipy.linalg.expm(doubles(x))
            scale = np.exp(np.abs(doubles(x)).sum(-1).max())
            yield Case([x], {}, [Near(y, dtype, scale if factor < 8 else 8 * scale)])
    x = np.zeros((2, 3, 3), NUMPY[dtype])
    yield Case([x], {}, [np.stack([np.eye(3)] * 2).astype(NUMPY[dtype])])
    x[1, 0, 0] = np.nan
    yield Case([x], {}, [np.stack([np.eye(3), doubles(full_of_nan((3, 3), dtype))]).astype(NUMPY[dtype])])


# -- norms ------------------------------------------------------------------------------------------------------------

@cases("matrix_norm", ulps=16)
def matrix_norm(s, dtype):
    for shape in ANY:
        for order in ("fro", "nuc", "1", "-1", "2", "-2", "inf", "-inf", ""):
            x = s.uniform(dtype, -2, 2, shape)
            if order.startswith("-") and 0 in shape[-2:]:
                continue
            keep = order in ("fro", "2", "inf")
            y = norms_of(x, order)
            y = y.reshape(y.shape + (1, 1)) if keep else y
            yield Case([x], {"ord": order, "keepdims": keep},
                       [Near(y, real_of(dtype), np.abs(doubles(x)).max(initial=1) * np.sqrt(max(1, *shape[-2:])))])
    for order in ("fro", "nuc", "1", "-1", "2", "-2", "inf", "-inf"):
        x = s.uniform(dtype, -2, 2, (2, 3, 3))
        x[1] = x[0]
        yield Case([x], {"ord": order}, [Near(norms_of(x, order), real_of(dtype), 4)])
        x[1, 1, 1] = np.nan
        y = norms_of(np.where(np.isnan(doubles(x)), 0, doubles(x)), order)
        y[1] = np.nan
        yield Case([x], {"ord": order}, [Near(y, real_of(dtype), 4)])
    if dtype in ("float64", "complex128"):
        for factor in (1e200, 1e-200):
            x = s.uniform(dtype, -2, 2, (4, 3)) * factor
            yield Case([x], {}, [Near(norms_of(x / factor, "fro") * factor, real_of(dtype))])


def norms_of(x, order):
    kinds = {"": "fro", "1": 1, "-1": -1, "2": 2, "-2": -2, "inf": np.inf, "-inf": -np.inf}
    if 0 in x.shape:
        return np.zeros(x.shape[:-2])
    return np.array(np.linalg.norm(doubles(x), kinds.get(order, order), axis=(-2, -1)))


@cases("vector_norm", ulps=4)
def vector_norm(s, dtype):
    shapes = [((), []), ((7,), []), ((3, 4), []), ((3, 4), [0]), ((3, 4), [-1]), ((2, 3, 4), [0, -1]), ((2, 3, 4), [1]),
              ((100,), [0]), ((0,), []), ((0, 3), [1]), ((0, 3), [0]), ((3, 3), [0])]
    for shape, axes in shapes:
        for order in (2.0, 1.0, 0.0, np.inf, -np.inf, 3.0, 0.5, -1.0, -2.0):
            for x in (s.uniform(dtype, -2, 2, shape), s.special(dtype, shape)):
                if 0 in shape and order < 0:
                    continue
                keep = order in (2.0, np.inf)
                y = vector_norms(x, axes, order, keep)
                yield Case([x], {"axes": axes, "ord": order, "keepdims": keep}, [Near(y, real_of(dtype))],
                           ulps=16 if order not in (0.0, 1.0, 2.0) else None)
    x = s.uniform(dtype, -2, 2, (4, 3))
    x[:] = x[0]
    yield Case([x], {}, [Near(vector_norms(x, [], 2.0, False), real_of(dtype))])


def vector_norms(x, axes, order, keep):
    x = np.abs(wide(x))
    axes = tuple(axes) or tuple(range(x.ndim))
    with np.errstate(all="ignore"):
        if order == 0:
            return (x != 0).sum(axes, keepdims=keep).astype(np.longdouble)
        if np.isinf(order):
            return x.max(axes, keepdims=keep, initial=0) if order > 0 else x.min(axes, keepdims=keep)
        if order == 1:
            return x.sum(axes, keepdims=keep)
        return (x ** np.longdouble(order)).sum(axes, keepdims=keep) ** (1 / np.longdouble(order))


@refusals("vector_norm")
def vector_norm_refusals(s):
    yield Refusal([np.zeros((2, 3))], {"axes": [2]}, "INDEX", "axes 2 is out of range")
    yield Refusal([np.zeros((2, 3))], {"axes": [0, -2]}, "ARGUMENT", "twice")
    yield Refusal([np.zeros((2, 0))], {"ord": -1.0}, "SHAPE", "axis 1 is empty")
    yield Refusal([np.zeros(2)], {"ord": np.nan}, "ARGUMENT", "ord is NaN")
