"""Products, einsum, linalg and fft of nd4c.numpy against NumPy: dtypes, stacks, views, keywords, errors."""
import itertools

import numpy as np
import pytest
from numpy_twin import same, to_nd4c
from values import EVERY, FLOATS, NUMERIC, check, make, views

import nd4c
import nd4c.numpy as xp

FLOATING = FLOATS + ("complex64", "complex128")
PAIRS = (((3, 4), (4, 5)), ((4,), (4,)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((), (3,)), ((2, 3), ()),
         ((2, 0), (0, 3)))


def near(got, wanted, tolerance=1e-12):
    """Values, shape and dtype, with a tolerance relative to the largest element."""
    if isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted):
            near(one, other, tolerance)
        return
    wanted = np.asarray(wanted)
    assert type(got) is nd4c.Array and got.shape == wanted.shape
    assert got.dtype.name == wanted.dtype.name, (got.dtype, wanted.dtype)
    if wanted.dtype.name in ("float32", "complex64"):
        tolerance = max(tolerance, 1e-4)
    scale = max(1.0, float(np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0.0)))
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=tolerance, atol=tolerance * scale)


def both(path, *arguments, tolerance=1e-12, **named):
    """A function by its path, such as linalg.norm, of NumPy's and nd4c.numpy's."""
    theirs, ours = np, xp
    for name in path.split("."):
        theirs, ours = getattr(theirs, name), getattr(ours, name)
    near(ours(*[to_nd4c(one) for one in arguments], **{key: to_nd4c(one) for key, one in named.items()}),
         theirs(*arguments, **named), tolerance)


# -- products --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["dot", "inner", "outer", "kron", "vdot", "matmul", "tensordot"])
def test_products_of_every_dtype(name):
    rng = np.random.default_rng(1)
    for dtype in EVERY:
        a, b = make(rng, (3, 4), dtype), make(rng, (4, 5), dtype)
        other = make(rng, (3, 4), dtype)
        one, two = {"dot": (a, b), "matmul": (a, b), "outer": (a, b), "kron": (a, b)}.get(name, (a, other))
        both(name, one, two)
        for view in views(rng, one):
            both(name, view, two)


def test_dot_and_matmul_of_shapes():
    rng = np.random.default_rng(2)
    for left, right in PAIRS + (((2, 3, 4), (5, 4, 2)), ((2, 2, 3), (3, 4))):
        a, b = make(rng, left, "float64"), make(rng, right, "float64")
        both("dot", a, b)
        if left and right and left != (2, 3, 4):
            both("matmul", a, b)
    for name in ("dot", "matmul", "vdot", "inner"):
        same(name, np.ones((2, 3)), np.ones((2, 4)))
    same("matmul", np.ones(3), np.array(2.0))


def test_products_mix_dtypes_and_take_lists():
    for a, b in itertools.product(("int8", "int64", "uint8", "float32", "complex64", "bool"), repeat=2):
        both("matmul", np.ones((2, 2), a), np.ones((2, 2), b))
        both("inner", np.ones((2, 2), a), np.ones(2, b))
    check(nd4c.matmul([[1, 2], [3, 4]], [1, 1]), np.array([3, 7]))
    check(xp.dot(3, [1, 2]), np.array([3, 6]))


def test_keywords_of_generalised_functions():
    rng = np.random.default_rng(3)
    a, v = make(rng, (4, 2, 3), "float64"), make(rng, (4, 3), "float64")
    both("matmul", a, make(rng, (4, 3, 5), "float64"), axes=[(-2, -1), (-2, -1), (0, 1)])
    both("matmul", make(rng, (2, 3, 4), "float64"), make(rng, (3, 5, 4), "float64"), axes=[(0, 1), (0, 1), (-1, 0)])
    both("vecdot", a, make(rng, (4, 2, 3), "float64"), axis=0)
    both("vecdot", a, make(rng, (4, 2, 3), "float64"), axis=1, keepdims=True)
    both("matvec", a, v)
    both("vecmat", make(rng, (4, 2), "complex128"), a)
    both("matmul", a, make(rng, (3, 2), "float64"), dtype="complex128")
    out = nd4c.zeros((4, 2, 2))
    assert xp.matmul(to_nd4c(a), nd4c.ones((3, 2)), out=out) is out and out.tolist() != nd4c.zeros((4, 2, 2)).tolist()
    with pytest.raises(TypeError, match="matmul: cannot cast"):
        xp.matmul([[1.5]], [[2.0]], dtype="int64")
    with pytest.raises(TypeError, match="matmul: axis and keepdims"):
        xp.matmul([[1.5]], [[2.0]], axis=0)


def test_cross_and_trace():
    rng = np.random.default_rng(4)
    for dtype in NUMERIC:
        for left, right in itertools.product((2, 3), repeat=2):
            both("cross", make(rng, (5, left), dtype), make(rng, (5, right), dtype))
    both("cross", make(rng, (3, 5), "float64"), make(rng, (5, 3), "float64"), axisa=0, axisc=0)
    both("cross", make(rng, (3, 5), "float64"), make(rng, (3, 5), "float64"), axis=0)
    same("cross", np.ones(4), np.ones(4))
    for dtype in EVERY:
        for offset, axes in itertools.product((-1, 0, 2), ((0, 1), (2, 0))):
            both("trace", make(rng, (3, 4, 2), dtype), offset, *axes)
    both("trace", make(rng, (3, 4), "int8"), dtype="float32")


# -- einsum ----------------------------------------------------------------------------------------------------------

EQUATIONS = ("ij->ji", "ii", "ii->i", "ij->", "ij->j", "ij,jk", "ij,jk->ik", "ij,ij", "i,i", "i,j",
             "...ij,...jk->...ik", "...ii->...i",
             "ij...->...", "ijk,ilm,njm,nlk,abc->", "bbcdc->d", "ji", "i...,i...", "")


def shapes_of(equation, rng):
    extents = {letter: int(rng.integers(1, 4)) for letter in "abcdefghijklmn"}
    for term in equation.partition("->")[0].split(","):
        yield tuple(extents[letter] for letter in term.replace("...", "ab")) if term else ()


@pytest.mark.parametrize("dtype", EVERY)
def test_einsum(dtype):
    rng = np.random.default_rng(5)
    for equation in EQUATIONS:
        arrays = [make(rng, shape, dtype, 0, 3) for shape in shapes_of(equation, rng)]
        both("einsum", equation, *arrays)
        both("einsum", equation, *[view for array in arrays for view in list(views(rng, array))[-1:]], optimize=True)


def test_einsum_forms():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    check(xp.einsum(a, [0, 1], b, [1, 2], [0, 2]), a @ b)
    check(xp.einsum(a, [Ellipsis, 1], b, [1, 2]), np.einsum(a, [Ellipsis, 1], b, [1, 2]))
    out = nd4c.zeros((2, 4))
    assert xp.einsum("ij,jk->ik", a, b, out=out) is out
    check(out, a @ b)
    check(nd4c.einsum("ij,jk->ik", to_nd4c(a), to_nd4c(b)), a @ b)
    check(nd4c.einsum([to_nd4c(a), to_nd4c(b)], equation="ij,jk->ik"), a @ b)
    check(xp.einsum("ij->i", np.ones((2, 300), "int8"), dtype="int64"), np.array([300, 300]))
    x = nd4c.zeros((3, 3))
    xp.einsum("ii->i", x)[:] = 1
    check(x, np.eye(3))


@pytest.mark.parametrize("arguments, text", [
    (("ij,jk->ik", [[1]]), r"2 operands, but 1 arrays are given: einsum\('ij,jk->ik', array, array\)"),
    (("ij->k", [[1]]), "'k'"),
    (("i", [[1]]), "axes"),
    (("ii", [[1, 2]]), "einsum"),
    (("aabcb,abc", np.ones((3, 3, 4, 5, 6)), np.ones((3, 4, 5))), "'b'"),
    (([1, 2],), "the first argument is the equation"),
    ((), "expected an equation"),
])
def test_einsum_errors(arguments, text):
    with pytest.raises(ValueError, match=text):
        xp.einsum(*arguments)


def test_einsum_path():
    for equation in ("ij,jk,kl->il", "ea,fb,abcd,gc,hd->efgh", "abc,bd,dce->ae"):
        rng = np.random.default_rng(6)
        arrays = [np.ones(shape) for shape in shapes_of(equation, rng)]
        for optimize in ("optimal", False):
            path, text = xp.einsum_path(equation, *arrays, optimize=optimize)
            ours, theirs = (float(one.split("Optimized FLOP count:")[1].split("\n")[0]) for one in (
                text, np.einsum_path(equation, *arrays, optimize=optimize)[1]))
            assert abs(ours + 1 - theirs) <= 1e-3 * theirs  # NumPy counts one more
            assert path[0] == "einsum_path" and sum(len(step) - 1 for step in path[1:]) == len(arrays) - 1
    with pytest.raises(RuntimeError, match="leaves 2 arrays"):
        xp.einsum_path("a,a,a->a", [1], [1], [1], optimize=["einsum_path", (0, 1)])


# -- linalg ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", ("int8", "bool") + FLOATING)
def test_linalg_of_lists_stacks_and_integers(dtype):
    rng = np.random.default_rng(7)
    for stack in ((), (3,), (2, 0)):
        a = make(rng, stack + (3, 3), dtype)
        a = (a + 5 * np.eye(3)).astype(dtype) if dtype != "bool" else np.broadcast_to(np.tri(3, dtype=bool),
                                                                                      stack + (3, 3)).copy()
        for name in ("inv", "det", "slogdet", "pinv", "svdvals", "matrix_rank", "cond"):
            both("linalg." + name, a, tolerance=1e-10)
        both("linalg.solve", a, a)
        both("linalg.eigvalsh", a + np.conj(np.swapaxes(a, -1, -2)), tolerance=1e-10)
        for upper in ("L", "U"):
            both("linalg.eigvalsh", a, UPLO=upper, tolerance=1e-10)
        if dtype != "int8":
            both("linalg.cholesky", a @ np.conj(np.swapaxes(a, -1, -2)), tolerance=1e-10)
        for n in (0, 1, 5, -2):
            both("linalg.matrix_power", a, n, tolerance=1e-10)
        for p in (None, 1, -1, 2, -2, np.inf, "fro", "nuc"):
            both("linalg.cond", a, p, tolerance=1e-9)


def test_huge_powers():
    a = np.array([[1.0, 0], [0, -1]])
    for n in (2 ** 100, -2 ** 100 - 1):
        both("linalg.matrix_power", a, n)


def test_norm():
    rng = np.random.default_rng(8)
    for dtype in ("int64", "float32", "complex128"):
        x = make(rng, (2, 3, 4), dtype)
        for ord, axis, keepdims in itertools.product((None, 0, 1, 2, -1, 3.5, np.inf), (None, 0, -1, 2), (False, True)):
            if axis is not None or ord is None:
                both("linalg.norm", x, ord, axis, keepdims)
        for ord, axis, keepdims in itertools.product((None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf),
                                                     ((0, 1), (2, 0), (-1, 1)),
                                                     (False, True)):
            both("linalg.norm", x, ord, axis, keepdims)
    both("linalg.norm", np.eye(3), 2)
    for arguments, text in ((([1, 2], "fro"), "for vectors"), ((np.ones((2, 2, 2)), 1), "3 axes"),
                            ((np.ones((2, 2)), "bad"), "bad"),
                            ((np.ones((2, 2)), 2, (0, 0)), "twice")):
        with pytest.raises(ValueError, match="norm: .*" + text):
            xp.linalg.norm(*arguments)
    with pytest.raises(IndexError, match="norm: axis 3"):
        xp.linalg.norm([1.0], axis=3)


def test_lstsq_and_solutions():
    rng = np.random.default_rng(9)
    for m, n, k in ((5, 3, None), (5, 3, 2), (3, 5, 2), (3, 3, None), (4, 2, 0), (0, 3, 1), (3, 0, 2)):
        a, b = make(rng, (m, n), "float64"), make(rng, (m,) if k is None else (m, k), "float64")
        got, wanted = xp.linalg.lstsq(a, b), np.linalg.lstsq(a, b)
        for one, other in zip(got, wanted):
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9, atol=1e-9)
            assert one.shape == np.shape(other)
    near(xp.linalg.lstsq([[1.0, 2], [2, 4], [3, 6]], [1.0, 2, 4])[0],
         np.linalg.lstsq([[1.0, 2], [2, 4], [3, 6]], [1.0, 2, 4])[0])
    a = make(rng, (2, 3, 6), "float64")
    both("linalg.tensorsolve", a, make(rng, (2, 3), "float64"))
    both("linalg.tensorinv", a, ind=2)
    parts = [make(rng, shape, "float64") for shape in ((5,), (5, 2), (2, 7), (7,))]
    both("linalg.multi_dot", parts)
    both("linalg.multi_dot", parts[:2])


def test_decompositions_are_numpys_shapes():
    rng = np.random.default_rng(10)
    for shape in ((3, 5), (5, 3), (2, 4, 4), (0, 3)):
        a = make(rng, shape, "float64")
        for mode in ("reduced", "complete"):
            q, r = xp.linalg.qr(a, mode)
            assert (q.shape, r.shape) == tuple(one.shape for one in np.linalg.qr(a, mode))
            near(xp.matmul(q, r), a)
        assert xp.linalg.qr(a, mode="r").shape == np.linalg.qr(a, mode="r").shape
        u, s, vh = xp.linalg.svd(a, full_matrices=False)
        near(xp.matmul(u * s[..., None, :], vh), a)
        near(xp.linalg.svd(a, compute_uv=False), np.linalg.svd(a, compute_uv=False))
    symmetric = np.array([[1.0, 2], [2, -5]])
    u, s, vh = xp.linalg.svd(symmetric, hermitian=True)
    near(s, np.linalg.svd(symmetric, compute_uv=False))
    near(xp.matmul(u * s, vh), symmetric)
    near(xp.linalg.pinv(symmetric, hermitian=True), np.linalg.pinv(symmetric))
    check(xp.linalg.matrix_rank(symmetric, hermitian=True), np.array(2))
    check(xp.linalg.matrix_rank(np.diag([1.0, 1e-3]), tol=1e-2), np.array(1))
    assert xp.linalg.eig(symmetric).eigenvalues.dtype is nd4c.float64 and nd4c.linalg.eig(symmetric)[0].dtype is nd4c.complex128
    assert xp.linalg.eigvals([[0.0, -1], [1, 0]]).dtype is nd4c.complex128


def test_linalg_errors():
    for name, argument in (("inv", [[1.0, 2], [2, 4]]), ("inv", [[1.0, 2, 3]]), ("inv", [1.0]), ("cholesky", [[-1.0]]),
                           ("det", [[1.0, 2]]),
                           ("eig", [[np.nan]]), ("eigvals", [[np.inf]]), ("cond", np.ones((0, 3))),
                           ("matrix_power", np.ones((2, 3)))):
        with pytest.raises(np.linalg.LinAlgError):
            getattr(np.linalg, name)(*((argument, 2) if name == "matrix_power" else (argument,)))
        with pytest.raises(xp.linalg.LinAlgError, match=name):
            getattr(xp.linalg, name)(*((argument, 2) if name == "matrix_power" else (argument,)))
    with pytest.raises(nd4c.linalg.LinAlgError, match="solve: .*singular"):
        nd4c.linalg.solve(nd4c.zeros((2, 2)), nd4c.ones(2))
    with pytest.raises(nd4c.Error, match="singular"):
        nd4c.linalg.inv(nd4c.zeros((2, 2)))
    assert issubclass(nd4c.linalg.LinAlgError, ValueError)
    with pytest.raises(ValueError, match="UPLO is 'X'"):
        xp.linalg.eigh(np.eye(2), "X")
    with pytest.raises(TypeError, match="inv: expected numbers, got an array of texts"):
        nd4c.linalg.inv(nd4c.asarray([["a"]]))


# -- fft -------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_fft_along_an_axis(name):
    rng = np.random.default_rng(11)
    for dtype in ("bool", "int16", "float32", "float64") + (() if name in ("rfft", "ihfft")
                                                            else ("complex64", "complex128")):
        a = make(rng, (3, 6), dtype)
        for n, axis, norm in itertools.product((None, 1, 4, 9), (-1, 0), (None, "backward", "ortho", "forward")):
            both("fft." + name, a, n, axis, norm)
    for arguments in (([1, 2], 0), ([1, 2], None, 5), ([], ), ([1, 2], None, -1, "bad")):
        with pytest.raises((ValueError, IndexError), match=name):
            getattr(xp.fft, name)(*arguments)
    with pytest.raises(TypeError, match="ArrayType"):
        getattr(xp.fft, name)([1, 2], out="x")


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"])
def test_fft_over_axes(name):
    rng = np.random.default_rng(12)
    a = make(rng, (4, 3, 6), "float64" if name.startswith("r") else "complex128")
    for s, axes, norm in itertools.product((None, (3, 8), (-1, 4)), ((0, 1), (-1, 0)), (None, "ortho")):
        both("fft." + name, a, s, axes, norm)
    both("fft." + name, a)
    if name in ("fftn", "ifftn", "rfftn", "irfftn"):
        both("fft." + name, a, axes=(0, 1, 0))
        both("fft." + name, a, s=(3, 4, 5), axes=(0, 1, 0))
    with pytest.raises(ValueError, match=name):
        getattr(xp.fft, name)(a, s=(1,), axes=(0, 1))


def test_fft_helpers():
    for n in (1, 4, 9):
        both("fft.fftfreq", n, 0.5)
        both("fft.rfftfreq", n)
    x = np.arange(12).reshape(3, 4)
    for axes in (None, 0, (0, 1), -1):
        both("fft.fftshift", x, axes)
        both("fft.ifftshift", x, axes)
    out = nd4c.zeros(3, dtype="complex128")
    assert xp.fft.fft([1, 2, 3], out=out) is out
    near(out, np.fft.fft([1, 2, 3]))
    with pytest.raises(ValueError, match="should be an integer"):
        xp.fft.fftfreq(2.5)
    with pytest.raises(TypeError, match="rfft: expected real numbers"):
        xp.fft.rfft([1j])


@pytest.mark.parametrize("others", (("float64",), ("bool",), ("int8", "float32")))
def test_masks_among_operands(others):
    mask, arrays = np.tri(3) > 0, [(np.arange(9).reshape(3, 3) % 4).astype(one) for one in others]
    letters = ",".join(["ij", "jk", "kl"][:len(others) + 1]) + "->i" + "kl"[len(others) - 1]
    both("einsum", letters, mask, *arrays)
    for name in ("inner", "outer", "kron", "vdot", "matmul", "tensordot"):
        both(name, mask, arrays[0])
