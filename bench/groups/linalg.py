"""Linear algebra at 512."""

from rows import Group, Row

A = "uniform((512, 512), '{t}')"
TABLE = [
    ("solve, one right-hand side", {"a": A, "b": "uniform((512, 1), '{t}')"}, "solve(a, b)", "np.linalg.solve(a, b)",
     "torch.linalg.solve(a, b, out=y)", "scaled"),
    ("solve, 512 right-hand sides", {"a": A, "b": A}, "solve(a, b)", "np.linalg.solve(a, b)",
     "torch.linalg.solve(a, b, out=y)", "scaled"),
    ("inv", {"a": A}, "inv(a)", "np.linalg.inv(a)", "torch.linalg.inv(a, out=y)", "scaled"),
    ("det", {"a": A + " * 0.1"}, "det(a)", "np.linalg.det(a)", "torch.linalg.det(a)", "scaled"),
    ("cholesky", {"a": "definite(512, '{t}')"}, "cholesky(a)", "np.linalg.cholesky(a)", "torch.linalg.cholesky(a, out=y)",
     "scaled"),
    ("qr", {"a": A}, "qr(a)", "np.linalg.qr(a)", "torch.linalg.qr(a)", "abs"),
    ("svd", {"a": A}, "svd(a)", "np.linalg.svd(a)", "torch.linalg.svd(a)", "abs"),
    ("svdvals", {"a": A}, "svdvals(a)", "np.linalg.svd(a, compute_uv=False)", "torch.linalg.svdvals(a, out=y)", "scaled"),
    ("eigh", {"a": "definite(512, '{t}')"}, "eigh(a)", "np.linalg.eigh(a)", "torch.linalg.eigh(a)", "abs"),
    ("eigvalsh", {"a": "definite(512, '{t}')"}, "eigvalsh(a)", "np.linalg.eigvalsh(a)",
     "torch.linalg.eigvalsh(a, out=y)", "scaled"),
    ("lu_factor", {"a": A}, "lu_factor(a)", "scipy.linalg.lu_factor(a, check_finite=False)", "torch.linalg.lu_factor(a)", "scaled"),
]

GROUP = Group("linalg", "Linear algebra", "Matrices of 512 x 512; fresh results.",
              [Row(f"{name} {t}", {key: text.format(t=t) for key, text in inputs.items()}, *calls, None, into=False,
                   bar=0.9, check=check, tolerance=2e-2 if t == "f32" else 1e-5)
               for t in ("f32", "f64") for name, inputs, *calls, check in TABLE],
              first=("svd f32", "singular values and vectors"))
