"""nd4c.linalg and nd4c.fft against NumPy."""
import itertools

import numpy as np
import pytest
from values import COMPLEX, FLOATS, NUMERIC, check, make, views

import nd4c

FLOATING = FLOATS + COMPLEX
STACKS = ((), (3,), (2, 2))
EPS = {"float32": 1e-4, "complex64": 1e-4, "float64": 1e-11, "complex128": 1e-11}


def close(got, wanted, dtype, dtype_too=True):
    if isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted):
            close(one, other, dtype, dtype_too)
        return
    wanted = np.asarray(wanted)
    assert got.shape == wanted.shape
    if dtype_too:
        assert got.dtype.name == wanted.dtype.name
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=EPS[dtype], atol=EPS[dtype] * max(1, np.max(np.abs(wanted), initial=0)))


def matrices(rng, dtype, rows=4, columns=4):
    for stack in STACKS:
        a = make(rng, stack + (rows, columns), dtype)
        if rows == columns:
            a = a + 5 * np.eye(rows, dtype=dtype)
        yield from views(rng, a)


def test_products():
    rng = np.random.default_rng(1)
    shapes = (((3, 4), (4, 5)), ((4,), (4,)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((2, 1, 3, 4), (5, 4, 2)), ((3, 0), (0, 2)))
    for dtype in NUMERIC:
        for left, right in shapes:
            a, b = make(rng, left, dtype), make(rng, right, dtype)
            tolerance = 0 if np.dtype(dtype).kind in "iu" else None
            got = nd4c.matmul(nd4c.asarray(a), nd4c.asarray(b))
            check(got, np.matmul(a, b)) if tolerance == 0 else close(got, np.matmul(a, b), dtype)
        a, b = make(rng, (3, 4), dtype), make(rng, (3, 4), dtype)
        for axis in (0, 1, -1):
            got, wanted = nd4c.vecdot(nd4c.asarray(a), nd4c.asarray(b), axis=axis), np.vecdot(a, b, axis=axis)
            check(got, wanted) if tolerance == 0 else close(got, wanted, dtype)
        for axes in (0, 1, ((1,), (1,)), ((0, 1), (0, 1))):
            other = b.T if axes == 1 else b
            got = nd4c.tensordot(nd4c.asarray(a), nd4c.asarray(other), axes=axes)
            wanted = np.tensordot(a, other, axes=axes)
            check(got, wanted) if tolerance == 0 else close(got, wanted, dtype)
        check(nd4c.linalg.outer(nd4c.asarray(a[0]), nd4c.asarray(b[0])), np.outer(a[0], b[0]), 2)
        check(nd4c.linalg.trace(nd4c.asarray(a), offset=1), np.trace(a, offset=1), 4)
        check(nd4c.linalg.diagonal(nd4c.asarray(a), offset=-1), np.diagonal(a, offset=-1))
        vectors = make(rng, (5, 3), dtype), make(rng, (5, 3), dtype)
        got = nd4c.linalg.cross(*map(nd4c.asarray, vectors))
        check(got, np.linalg.cross(*vectors)) if tolerance == 0 else close(got, np.linalg.cross(*vectors), dtype)


@pytest.mark.parametrize("dtype", FLOATING)
def test_square(dtype):
    rng = np.random.default_rng(2)
    for a in matrices(rng, dtype):
        x = nd4c.asarray(a)
        close(nd4c.linalg.det(x), np.linalg.det(a), dtype)
        close(nd4c.linalg.inv(x), np.linalg.inv(a), dtype)
        close(tuple(nd4c.linalg.slogdet(x)), tuple(np.linalg.slogdet(a)), dtype)
        for n in (-2, 0, 1, 3):
            close(nd4c.linalg.matrix_power(x, n), np.linalg.matrix_power(a, n), dtype)
        b = make(rng, a.shape[:-1] + (2,), dtype)
        close(nd4c.linalg.solve(x, nd4c.asarray(b)), np.linalg.solve(a, b), dtype)
        hermitian = a + np.conj(np.swapaxes(a, -1, -2))
        close(nd4c.linalg.eigvalsh(nd4c.asarray(hermitian)), np.linalg.eigvalsh(hermitian), dtype)
        values, vectors = nd4c.linalg.eigh(nd4c.asarray(hermitian))
        close(nd4c.matmul(nd4c.asarray(hermitian), vectors), np.asarray(vectors) * np.asarray(values)[..., None, :], dtype)
        positive = a @ np.conj(np.swapaxes(a, -1, -2))
        close(nd4c.linalg.cholesky(nd4c.asarray(positive)), np.linalg.cholesky(positive), dtype)
        close(nd4c.linalg.cholesky(nd4c.asarray(positive), upper=True), np.linalg.cholesky(positive, upper=True), dtype)
        values, vectors = nd4c.linalg.eig(x)
        close(nd4c.matmul(nd4c.astype(x, vectors.dtype), vectors),
              np.asarray(vectors) * np.asarray(values)[..., None, :], dtype)
        close(nd4c.sort(nd4c.abs(nd4c.linalg.eigvals(x))), np.sort(np.abs(np.linalg.eigvals(a))), dtype, False)


@pytest.mark.parametrize("dtype", FLOATING)
def test_rectangular(dtype):
    rng = np.random.default_rng(3)
    for rows, columns in ((3, 5), (5, 3)):
        for a in matrices(rng, dtype, rows, columns):
            x = nd4c.asarray(a)
            for mode in ("reduced", "complete"):
                q, r = nd4c.linalg.qr(x, mode=mode)
                assert (q.shape, r.shape) == tuple(part.shape for part in np.linalg.qr(a, mode))
                close(nd4c.matmul(q, r), a, dtype)
            for full in (False, True):
                u, s, vh = nd4c.linalg.svd(x, full_matrices=full)
                assert tuple(p.shape for p in (u, s, vh)) == tuple(p.shape for p in np.linalg.svd(a, full_matrices=full))
            u, s, vh = nd4c.linalg.svd(x, full_matrices=False)
            close(nd4c.matmul(u * nd4c.expand_dims(nd4c.astype(s, u.dtype), -2), vh), a, dtype)
            close(nd4c.linalg.svdvals(x), np.linalg.svdvals(a), dtype)
            close(nd4c.linalg.pinv(x), np.linalg.pinv(a), dtype)
            check(nd4c.linalg.matrix_rank(x), np.linalg.matrix_rank(a))
            for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
                close(nd4c.linalg.matrix_norm(x, ord=order), np.linalg.matrix_norm(a, ord=order), dtype)
            for order, axis in itertools.product((0, 1, 2, 3.5, np.inf, -np.inf), (None, -1, (-2, -1))):
                close(nd4c.linalg.vector_norm(x, ord=order, axis=axis), np.linalg.vector_norm(a, ord=order, axis=axis), dtype)


def test_refusals():
    with pytest.raises(ValueError):
        nd4c.linalg.inv(nd4c.ones((2, 3)))
    with pytest.raises(ValueError):
        nd4c.matmul(nd4c.ones((2, 3)), nd4c.ones((2, 3)))
    with pytest.raises(ValueError):
        nd4c.linalg.qr(nd4c.ones((2, 2)), mode="raw")
    with pytest.raises(ValueError):
        nd4c.ones((3,)).mT


@pytest.mark.parametrize("name", ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
def test_transforms(name):
    rng = np.random.default_rng(4)
    for dtype in FLOATS if name in ("rfft", "ihfft") else COMPLEX:
        for a in views(rng, make(rng, (3, 8, 5), dtype)):
            for axis, norm, n in itertools.product((-1, 0, 1), ("backward", "ortho", "forward"), (None, 4, 9)):
                close(getattr(nd4c.fft, name)(nd4c.asarray(a), n=n, axis=axis, norm=norm),
                      getattr(np.fft, name)(a, n=n, axis=axis, norm=norm), dtype)


@pytest.mark.parametrize("name", ("fftn", "ifftn", "rfftn", "irfftn"))
def test_transforms_over_axes(name):
    rng = np.random.default_rng(5)
    for dtype in FLOATS if name == "rfftn" else COMPLEX:
        a = make(rng, (3, 8, 5), dtype)
        for (s, axes), norm in itertools.product(((None, None), (None, (0, 1)), ((4, 6), (0, 2)), ((2, 9, 6), (0, 1, 2))),
                                                 ("backward", "ortho", "forward")):
            close(getattr(nd4c.fft, name)(nd4c.asarray(a), s=s, axes=axes, norm=norm),
                  getattr(np.fft, name)(a, s=s, axes=axes, norm=norm), dtype)


def test_frequencies_and_shifts():
    for n, d in itertools.product((1, 4, 7), (1.0, 0.25)):
        check(nd4c.fft.fftfreq(n, d=d), np.fft.fftfreq(n, d), 1)
        check(nd4c.fft.rfftfreq(n, d=d), np.fft.rfftfreq(n, d), 1)
    a = np.arange(15.0).reshape(3, 5)
    for axes in (None, 0, (0, 1)):
        check(nd4c.fft.fftshift(nd4c.asarray(a), axes=axes), np.fft.fftshift(a, axes))
        check(nd4c.fft.ifftshift(nd4c.asarray(a), axes=axes), np.fft.ifftshift(a, axes))
    with pytest.raises(ValueError, match="fft"):
        nd4c.fft.fft(nd4c.asarray([1j, 2]), n=0)
