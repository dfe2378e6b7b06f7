"""Examples of ops that `nd4c selftest` has no case for: strings, decompositions, comparisons and a few others.
examples.py runs them, so that one which is refused stops the build of the site."""

MATRIX = "x = xp.asarray([[4.0, 1.0], [1.0, 3.0]])"
PAIR = "a = xp.asarray([1.0, 2.0, 3.0])\nb = xp.asarray([3.0, 2.0, 1.0])"
NAMES = 'x = xp.asarray(["Ada", "grace hopper"])'

WRITTEN = {
    **{
        op: PAIR + "\nxp.ops.%s(a, b)" % op
        for op in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    },
    **{op: MATRIX + "\nxp.ops.%s(x)" % op for op in ("qr", "svd", "eigh", "eig", "eigvals", "lu", "lu_factor")},
    **{op: NAMES + "\nxp.ops.%s(x)" % op for op in ("string_upper", "string_lower", "string_length")},
    "string_concat": 'a = xp.asarray(["left ", "right "])\nb = xp.asarray("hand")\nxp.ops.string_concat(a, b)',
    "string_split": NAMES + "\nxp.ops.string_split(x)",
    "string_strip": 'xp.ops.string_strip(xp.asarray(["  both ends "]))',
    "string_normalizer": 'x = xp.asarray(["The", "cat"])\nstopwords = xp.asarray(["the"])\n'
    'xp.ops.string_normalizer(x, stopwords, change_case="LOWER")',
    "regex_full_match": 'x = xp.asarray(["cpu:0", "cpu"])\nxp.ops.regex_full_match(x, pattern="[a-z]+:[0-9]+")',
    "tfidf_vectorizer": "x = xp.asarray([[1, 1, 3], [2, 3, 5]], dtype=xp.int64)\n"
    "pool = xp.asarray([1, 2, 3, 4], dtype=xp.int64)\n"
    "xp.ops.tfidf_vectorizer(x, pool, ngram_counts=[0], ngram_indexes=[0, 1, 2, 3])",
    "max_roi_pool": "x = xp.reshape(xp.arange(16, dtype=xp.float32), (1, 1, 4, 4))\n"
    "rois = xp.asarray([[0, 0, 0, 3, 3]], dtype=xp.float32)\nxp.ops.max_roi_pool(x, rois, size=[2, 2])",
    "dynamic_stitch": "indices = [xp.asarray([0, 2], dtype=xp.int32), xp.asarray([1], dtype=xp.int32)]\n"
    "data = [xp.asarray([10.0, 30.0]), xp.asarray([20.0])]\nxp.ops.dynamic_stitch(indices + data)",
}
