"""Sorting, selecting, counting, random numbers and Fourier transforms."""

from rows import Group, Row

SIZES = {"10^3": 1000, "10^5": 100_000, "10^6": 1_000_000, "10^7": 10_000_000}
DTYPES = {"f32": SIZES, "f64": {"10^6": 1_000_000}, "i32": {"10^6": 1_000_000}, "i64": {"10^6": 1_000_000}}
N = 10_000_000


def sort_rows():
    for t, sizes in DTYPES.items():
        for size, n in sizes.items():
            x = {"x": f"unrepeated({n}, '{t}')" if t.startswith("f") else f"permutation({n}, '{t}')"}
            yield Row(f"sort {t} {size}", x, "sort(x)", "np.sort(x)", "torch.sort(x)",
                      f"TopK(x, i64({n}), largest=0, outputs=2)")
            yield Row(f"argsort {t} {size}", {"x": f"permutation({n}, '{t}')"}, "argsort(x)", "np.argsort(x)",
                      "torch.argsort(x)", None)
            yield Row(f"top 100 {t} {size}", x, "top_k(x, k=100)", "np.sort(np.partition(x, -100)[-100:])[::-1]",
                      "torch.topk(x, 100)", "TopK(x, i64(100), outputs=2)")


TABLE = [
    ("sort 1000x1024, rows", {"x": "uniform((1000, 1024))"}, "sort(x)", "np.sort(x, 1)", "torch.sort(x, 1)",
     "TopK(x, i64(1024), largest=0, outputs=2)"),
    ("sort 1000x1024, columns", {"x": "uniform((1000, 1024))"}, "sort(x, axis=0)", "np.sort(x, 0)", "torch.sort(x, 0)",
     "TopK(x, i64(1000), axis=0, largest=0, outputs=2)"),
    ("argsort 1000x1024, rows", {"x": "permutation(1024000, 'f32').reshape(1000, 1024)"}, "argsort(x)", "np.argsort(x, 1)",
     "torch.argsort(x, 1)", None),
    ("top 5 of 1000x1024, rows", {"x": "uniform((1000, 1024))"}, "top_k(x, k=5)",
     "np.sort(np.partition(x, -5)[:, -5:])[:, ::-1]", "torch.topk(x, 5)", "TopK(x, i64(5), outputs=2)"),
    ("median 10^6", {"x": "unrepeated(1000001)"}, "median(x)", "np.median(x)", "torch.median(x)", None),
    ("searchsorted 10^6 in 10^5", {"x": "np.sort(unrepeated(100000))", "v": "uniform(1000000)"}, "searchsorted(x, v)",
     "np.searchsorted(x, v)", "torch.searchsorted(x, v)", None),
    ("unique f32 10^6", {"x": "unrepeated(1000000)"}, "unique_values(x)", "np.unique(x)", "torch.unique(x)", "Unique(x)"),
    ("unique i64 10^6 of 1000", {"x": "integers(1000000, 'i64', 0, 1000)"}, "unique_values(x)", "np.unique(x)",
     "torch.unique(x)", "Unique(x)"),
    ("nonzero 10^7, half", {"x": f"flags({N})"}, "nonzero(x)", "np.nonzero(x)", "torch.nonzero(x)", "NonZero(x)"),
    ("nonzero 10^7, one in 100", {"x": f"flags({N}, 0.01)"}, "nonzero(x)", "np.nonzero(x)", "torch.nonzero(x)",
     "NonZero(x)"),
    ("nonzero f32 4096x4096, half", {"x": "uniform((4096, 4096)) * flags((4096, 4096))"}, "nonzero(x)",
     "np.array(np.nonzero(x))", "torch.stack(torch.nonzero(x, as_tuple=True))", "NonZero(x)"),
    ("histogram 10^7, 100 bins", {"x": f"uniform({N})"}, "histogram(x, bins=100, range=[-1.0, 1.0])",
     "np.histogram(x, 100, (-1, 1))", "torch.histc(x, 100, -1, 1)", None),
    ("bincount 10^7 of 1000", {"x": f"integers({N}, 'i64', 0, 1000)"}, "bincount(x)", "np.bincount(x)",
     "torch.bincount(x)", None),
]
STATE = {"s": "np.array([1, 2], np.uint64)"}
RANDOM = [
    (f"random uniform {t} 10^7", f"random_uniform(s, shape=[{N}], dtype='{t}')",
     f"random.random({N}, np.{numpy}, out=y)", f"torch.rand({N}, dtype=torch.{numpy}, out=y)",
     f"RandomUniform(shape=[{N}], dtype={number})") for t, numpy, number in (("f32", "float32", 1), ("f64", "float64", 11))
] + [
    (f"random normal {t} 10^7", f"random_normal(s, shape=[{N}], dtype='{t}')",
     f"random.standard_normal({N}, np.{numpy}, out=y)", f"torch.randn({N}, dtype=torch.{numpy}, out=y)",
     f"RandomNormal(shape=[{N}], dtype={number})") for t, numpy, number in (("f32", "float32", 1), ("f64", "float64", 11))
] + [
    ("random integers i64 10^7", f"random_integers(s, shape=[{N}], low=0, high=1000)", f"random.integers(0, 1000, {N})",
     f"torch.randint(1000, ({N},), out=y)", None),
    ("random permutation 10^6", "random_permutation(s, n=1000000)", "random.permutation(1000000)",
     "torch.randperm(1000000)", None),
]
TRANSFORMS = [
    (f"{kind} {name} {t}", {"x": f"uniform({shape}, '{t}')"}, f"{kind}(x)", f"scipy.fft.{kind}(x, workers=2)",
     f"torch.fft.{kind}(x, out=y)", None)
    for kind, dtypes in (("fft", ("c64", "c128")), ("rfft", ("f32", "f64"))) for t in dtypes
    for name, shape in (("2^20", "1 << 20"), ("of 1000x1024", "(1000, 1024)"), ("10007 (prime)", "10007"), ("1024", "1024"))
] + [("fftn 1000x1000 c64", {"x": "uniform((1000, 1000), 'c64')"}, "fftn(x)", "scipy.fft.fftn(x, workers=2)",
      "torch.fft.fftn(x, out=y)", None)]

GROUP = Group("sorting", "Sorting, counting, random numbers, Fourier transforms", "f32 unless said; fresh results.",
              [Row(row.name, row.inputs, row.nd4c, row.numpy, row.torch, row.onnx, into=False, check=row.check)
               for row in sort_rows()] + [Row(*row, into=False, check="scaled", tolerance=1e-3) for row in TABLE]
              + [Row(name, STATE, *calls, check="none") for name, *calls in RANDOM]
              + [Row(*row, check="scaled", tolerance=1e-4) for row in TRANSFORMS],
              first=("sort f32 10^6", "sort of a million numbers"))
