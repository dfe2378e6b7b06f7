"""Matrices for the records of factorisations, and functions that compute a result for each matrix of a batch."""
import mpmath
import numpy as np

from framework import is_complex, NUMPY

mpmath.mp.prec = 200
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52,
           "complex64": 2.0**-23, "complex128": 2.0**-52}
REAL = {"complex64": "float32", "complex128": "float64"}
COMPLEX = {"float64": "complex128", "complex128": "complex128"}


def real_of(dtype):
    return REAL.get(dtype, dtype)


def complex_of(dtype):
    return COMPLEX.get(dtype, "complex64")


def doubles(x):
    """Exactly, in double or double complex."""
    return np.asarray(x).astype(np.complex128 if np.asarray(x).dtype.kind == "c" else np.float64)


def each(f, x, *others):
    """f over the matrices of a batch; a tuple of arrays if f gives several."""
    batch = x.shape[:-2]
    results = [f(x[i], *(o[i] for o in others)) for i in np.ndindex(batch)]
    if not results:
        return None
    if isinstance(results[0], tuple):
        return tuple(np.array([r[k] for r in results]).reshape(batch + np.shape(results[0][k]))
                     for k in range(len(results[0])))
    return np.array(results).reshape(batch + np.shape(results[0]))


def to_mp(a):
    return mpmath.matrix([[mpmath.mpc(complex(v)) if np.iscomplexobj(a) else mpmath.mpf(float(v)) for v in row]
                          for row in a]) if a.size else None


def from_mp(m, complex_numbers):
    """Long doubles."""
    def number(v):
        high = float(v.real)
        real = np.longdouble(high) + np.longdouble(float(v.real - mpmath.mpf(high)))
        if not complex_numbers:
            return real
        high = float(v.imag)
        return np.clongdouble(real) + 1j * (np.longdouble(high) + np.longdouble(float(v.imag - mpmath.mpf(high))))
    return np.array([[number(mpmath.mpc(m[i, j])) for j in range(m.cols)] for i in range(m.rows)])


def exact(f, x, *others, square=True):
    """f in 200 bits over the matrices of a batch of small ones; long doubles."""
    complex_numbers = any(np.iscomplexobj(v) for v in (x,) + others)

    def one(*matrices):
        return from_mp(f(*map(to_mp, matrices)), complex_numbers)
    return each(one, x, *others)


def well(s, dtype, shape):
    """Matrices that are far from singular: the diagonal leads."""
    x = s.uniform(dtype, -1, 1, shape)
    n = min(shape[-2:])
    y = doubles(x)
    for i in range(n):
        y[..., i, i] += 2 * np.where(y[..., i, i].real < 0, -1, 1)
    return y.astype(NUMPY[dtype])


def hermitian(s, dtype, shape, shift=0.0):
    x = doubles(s.uniform(dtype, -1, 1, shape))
    x = x + np.conj(np.swapaxes(x, -1, -2)) + shift * np.eye(shape[-1])
    return x.astype(NUMPY[dtype])


def positive(s, dtype, shape):
    return hermitian(s, dtype, shape, 2.5 * shape[-1])


def full_of_nan(shape, dtype):
    return np.full(shape, np.nan + (1j * np.nan if is_complex(dtype) else 0), dtype=NUMPY[dtype])


def condition(x):
    """The condition number of the worst matrix of the batch; at least 1."""
    values = np.linalg.svd(doubles(x), compute_uv=False)
    return float(np.max(values[..., 0] / values[..., -1])) if values.size else 1.0


SQUARE = [(1, 1), (2, 2), (3, 3), (2, 3, 3), (2, 1, 2, 2), (0, 0), (3, 0, 0), (0, 2, 2), (5, 5), (17, 17), (2, 33, 33)]
ANY = [(1, 1), (2, 2), (3, 2), (2, 3), (2, 4, 3), (2, 3, 5), (1, 6), (6, 1), (0, 3), (3, 0), (2, 0, 3), (0, 3, 2),
       (17, 9), (9, 17), (2, 33, 20), (20, 33), (40, 3)]


def twice(x):
    """The same matrix twice, so that axis 0 may be repeated."""
    return np.stack([x, x])


def second_singular(n):
    """A batch whose first matrix is computed before the second is refused."""
    return np.stack([np.eye(n), np.zeros((n, n))])
