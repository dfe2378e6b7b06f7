"""Strings: comparing, joining, cutting, changing, matching, reading and writing numbers."""
import collections
import re

import numpy as np

from framework import BOOLS, COMPLEXES, FLOATS, INTS, UINTS, Case, Exact, Refusal, cases, refusals

WORDS = np.array(["", "a", "b", "ab", "nd4c", "ND4C", "äöü", "ÄÖÜ", "日本", "zz", "é", "𝄞 clef", "Straße", " a b "],
                 dtype=object)


def words(s, shape=()):
    return np.asarray(WORDS[s.random.integers(0, len(WORDS), size=shape)], dtype=object)


def map_strings(function, x, dtype=object):
    out = np.empty(x.shape, dtype)
    for i in np.ndindex(*x.shape):
        out[i] = function(x[i])
    return out


SHAPES = [(), (1,), (7,), (3, 4), (2, 1, 3), (0,), (2, 0)]

COMPARISONS = {"equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b, "less": lambda a, b: a < b,
               "less_equal": lambda a, b: a <= b, "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b}


@cases(*COMPARISONS)
def comparisons(s, dtype, op):
    if dtype != "utf8":
        return
    for a, b in (((), ()), ((7,), (7,)), ((3, 4), (4,)), ((3, 1), (1, 5)), ((), (6,)), ((0,), (1,)), ((40,), (40,))):
        x, y = words(s, a), words(s, b)
        p, q = np.broadcast_arrays(x, y)
        want = np.zeros(p.shape, bool)
        for i in np.ndindex(*p.shape):  # Python compares code points
            want[i] = COMPARISONS[op](p[i], q[i])
        yield Case([x, y], {}, [want])


@refusals("equal", "less")
def comparison_refusals(s, op):
    yield Refusal([words(s, (3,)), s.small("float32", (3,))], {}, "DTYPE", "float32")
    yield Refusal([words(s, (3,)), words(s, (4,))], {}, "SHAPE", "broadcasts")


@cases("cast")
def cast(s, dtype):
    if dtype == "utf8":
        yield from parsed(s)
        return
    if dtype not in BOOLS + INTS + UINTS + FLOATS + COMPLEXES:  # the small floats and integers have no strings
        return
    for shape in SHAPES:
        for x in (s.small(dtype, shape), s.special(dtype, shape), s.bits(dtype, shape)):
            if dtype == "bfloat16":  # ml_dtypes prints fewer digits than it takes to tell neighbours apart
                x = np.round(x.astype(np.float32)).astype(x.dtype)
                x = np.where(np.abs(x.astype(np.float32)) < 256, x, np.ones_like(x)).astype(x.dtype)
                want = map_strings(lambda v: str(float(v)), x)
            else:
                want = map_strings(lambda v: str(v), x)
            yield Case([x], {"dtype": "utf8"}, [Exact(want)])


def parsed(s):
    reals = ["0", "-0.0", "1.5", " 2.25\n", "1e3", "-1E-3", "inf", "-INF", "+Inf", "nan", "NaN", ".5", "5.", "+7", "1e400",
             "0.47892547"]
    integers = ["0", "-1", "12", "+100", "127", "128", "-128", "-129", "1e2", "3.9", "-3.9", "300000", "-9223372036854775808",
                "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", " 42 ", "nan"]
    bools = ["true", "False", "1", "0", "TRUE", "2.5", "0.0", "nan"]
    for t in (np.float16, np.float32, np.float64):
        with np.errstate(over="ignore"):
            yield Case([np.array(reals, object)], {"dtype": np.dtype(t).name}, [np.array([float(v) for v in reals]).astype(t)])
    for t in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
        info = np.iinfo(t)

        def value(word):
            try:
                v = int(word)
            except ValueError:
                v = 0 if word == "nan" else int(float(word))
            return min(max(v, info.min), info.max)
        yield Case([np.array(integers, object)], {"dtype": np.dtype(t).name},
                   [np.array([value(v) for v in integers], dtype=t)])
    yield Case([np.array(bools, object)], {"dtype": "bool"}, [np.array([1, 0, 1, 0, 1, 1, 0, 1], bool)])
    for shape in SHAPES:
        x = words(s, shape)
        yield Case([x], {"dtype": "utf8"}, [Exact(x)])
        n = s.small("int32", shape)
        yield Case([map_strings(str, n)], {"dtype": "int32"}, [n])


@refusals("cast")
def cast_refusals(s):
    for word in ("", "abc", "1.5x", "0x10", "1_000", "1 2", "nan(1)", "--1", "1" * 600):
        yield Refusal([np.array(["1", word], object)], {"dtype": "float32"}, "ARGUMENT", "string 1")
    yield Refusal([np.array(["yes"], object)], {"dtype": "bool"}, "ARGUMENT", "string 0, 'yes', is not a number")
    yield Refusal([np.array(["1"], object)], {"dtype": "complex64"}, "DTYPE", "expected utf8, bool or a real number")


@cases("string_concat")
def string_concat(s, dtype):
    for a, b in (((), ()), ((7,), (7,)), ((3, 4), (4,)), ((3, 1), (1, 5)), ((), (6,)), ((0,), (1,)), ((33,), (33,))):
        x, y = words(s, a), words(s, b)
        p, q = np.broadcast_arrays(x, y)
        want = np.empty(p.shape, object)
        for i in np.ndindex(*p.shape):
            want[i] = p[i] + q[i]
        yield Case([x, y], {}, [Exact(want)])


@refusals("string_concat")
def string_concat_refusals(s):
    yield Refusal([words(s, (3,)), words(s, (4,))], {}, "SHAPE", "broadcasts")
    yield Refusal([words(s, (3,)), s.small("int64", (3,))], {}, "DTYPE", "expected one of utf8")


SIMPLE = {"ß": ("ß", "ß"), "ŉ": ("ŉ", "ŉ"), "İ": ("İ", "i")}


def changed(text, upper):
    def one(c):
        if c in SIMPLE:
            return SIMPLE[c][0 if upper else 1]
        return c.upper() if upper else c.lower()
    return "".join(map(one, text))


@cases("string_upper", "string_lower", "string_strip", "string_length")
def changes(s, dtype, op):
    function = {"string_upper": lambda t: changed(t, True), "string_lower": lambda t: changed(t, False),
                "string_strip": lambda t: t.strip(), "string_length": len}[op]
    more = np.array([" \t\n x y \u3000", "\u2003", "ΑΒΓ αβγ", "ПРИВЕТ мир", "Ǆ", "\x1cq\x85", "aZ09"], object)
    for x in [words(s, shape) for shape in SHAPES] + [more]:
        want = map_strings(function, x, np.int64 if op == "string_length" else object)
        yield Case([x], {}, [want if op == "string_length" else Exact(want)])


@cases("string_split")
def string_split(s, dtype):
    texts = np.array(["a b c", "  a  b ", "", "   ", "one", "a\tb\nc\u3000d", "x,y,,z,", ",", "aXXbXXXc", "äöü ß", "1, 2, 3"],
                     dtype=object)
    for delimiter in (None, "", ",", ", ", "XX", "ö"):
        for maxsplit in (None, 0, 1, 2, -1):
            for x in (texts, texts[:1], texts[:8].reshape(2, 4), texts[0:0], np.array("a b", object), texts[2:3],
                      texts.reshape(1, 11)[:, :0]):
                parts = [t.split(delimiter or None, -1 if maxsplit is None else maxsplit) for t in x.reshape(-1)]
                most = max(map(len, parts), default=0)
                want = np.array([p + [""] * (most - len(p)) for p in parts], dtype=object).reshape(x.shape + (most,))
                attrs = {} if delimiter is None else {"delimiter": delimiter}
                if maxsplit is not None:
                    attrs["maxsplit"] = maxsplit
                yield Case([x], attrs, [Exact(want), np.array(list(map(len, parts)), np.int64).reshape(x.shape)])


@refusals("string_split")
def string_split_refusals(s):
    yield Refusal([words(s, (3,))], {"maxsplit": -2}, "ARGUMENT", "maxsplit is -2")


@cases("string_normalizer")
def string_normalizer(s, dtype):
    days = np.array(["monday", "Tuesday", "WEDNESDAY", "thursday", "äöü", ""], dtype=object)
    stops = np.array(["monday", "TUESDAY", "Äöü"], dtype=object)
    for x in (days, days[:0], days[None, :], days[:1], np.repeat(days[:2], 3)):
        for change in range(3):
            for sensitive in (False, True):
                for stop in (None, stops, stops[:0]):
                    listed = [] if stop is None else list(stop)
                    kept = [w for w in x.reshape(-1) if (w not in listed if sensitive else
                                                         changed(w, False) not in [changed(v, False) for v in listed])]
                    kept = [w if change == 0 else changed(w, change == 2) for w in kept] or [""]
                    want = np.array(kept, object).reshape((1,) * (x.ndim - 1) + (-1,))
                    yield Case([x] if stop is None else [x, stop],
                               {"change_case": change, "case_sensitive": sensitive}, [Exact(want)])


@refusals("string_normalizer")
def string_normalizer_refusals(s):
    x = words(s, (3,))
    yield Refusal([words(s, (2, 3))], {}, "SHAPE", "expected [c] or [1, c]")
    yield Refusal([words(s)], {}, "SHAPE", "expected [c] or [1, c]")
    yield Refusal([x], {"change_case": 3}, "ARGUMENT", "change_case is 3")
    yield Refusal([x, words(s, (1, 2))], {}, "SHAPE", "expected 1 axis")
    yield Refusal([x, s.small("int64", (2,))], {}, "DTYPE", "expected utf8")


@cases("regex_full_match")
def regex_full_match(s, dtype):
    texts = np.array(["", "a", "aaa", "ab", "www.example.com", "https://www.nd4c.org/x", "日本", "a\nb", "foo@bar.io"],
                     dtype=object)
    for pattern in ("", "a*", "a|ab", "ab|a", ".*", r"(\W|^)[\w.\-]{0,25}@(yahoo|bar)\.io(\W|$)", r"www\.[\w.-]+\.\bcom\b",
                    "..", "(?i)A+", "[^a]*", r"\d+|\w+"):
        for x in (texts, texts.reshape(3, 3), texts[:0], np.array("a", object)):
            yield Case([x], {"pattern": pattern},
                       [map_strings(lambda t: re.compile(pattern, re.ASCII).fullmatch(t) is not None, x, bool)])


@refusals("regex_full_match")
def regex_full_match_refusals(s):
    x = np.array(["a" * 40 + "b"], object)
    yield Refusal([x], {"pattern": "(a"}, "ARGUMENT", "pattern '(a' at byte 2")
    yield Refusal([x], {"pattern": "*"}, "ARGUMENT", "pattern '*'")
    yield Refusal([x], {"pattern": "(a*)*c|(a|aa)+$"}, "ARGUMENT", "string 0: match limit exceeded")
    yield Refusal([x], {"pattern": "(?:(?:a{1,1000}){1,1000}){1,1000}"}, "ARGUMENT", "too large")
    yield Refusal([x], {"pattern": "a" * 65537}, "ARGUMENT", "a pattern of 65537 bytes")


def vectorized(x, pool, attrs):
    counts, columns = attrs["ngram_counts"], attrs["ngram_indexes"]
    grams = []
    for n, begin in enumerate(counts, 1):
        end = counts[n] if n < len(counts) else len(pool)
        grams += [tuple(pool[i:i + n]) for i in range(begin, end, n)]
    least, most = attrs.get("min_gram_length", 1), attrs.get("max_gram_length", 1)
    rows = np.atleast_2d(np.asarray(x).reshape(-1) if x.ndim < 2 else x)
    y = np.zeros((len(rows), max(columns) + 1), np.float32)
    column = {g: c for g, c in zip(grams, columns)}
    for row, out in zip(rows, y):
        for n in range(least, most + 1):
            for step in range(1, 2 if n == 1 else attrs.get("max_skip_count", 0) + 2):
                found = collections.Counter(tuple(row[i:i + n * step:step]) for i in range(len(row) - (n - 1) * step))
                for g, k in found.items():
                    if g in column and len(g) == n:
                        out[column[g]] += k
    weights = np.array(attrs.get("weights", [1] * y.shape[1])[:y.shape[1]], np.float32)
    if attrs.get("mode") == 1:
        y = (y > 0) * weights
    elif attrs.get("mode") == 2:
        y = y * weights
    return (y if x.ndim == 2 else y[0]).astype(np.float32)


@cases("tfidf_vectorizer")
def tfidf_vectorizer(s, dtype):
    pool = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7, 3, 5, 6]  # 1-grams, 2-grams, one 3-gram
    base = {"ngram_counts": [0, 4, 10], "ngram_indexes": [0, 6, 2, 3, 4, 1, 5, 7]}
    x = np.array([[1, 1, 3, 3, 3, 7, 5, 6], [8, 6, 7, 5, 6, 8, 5, 6]])
    rest = [x[0], x, x[:, :1], x[:, :0], x[:0], np.repeat(x[:1], 3, 0), np.array(5)]

    def typed(v):
        v = np.asarray(v)
        return np.array([str(k) for k in v.reshape(-1)], object).reshape(v.shape) if dtype == "utf8" else v.astype(dtype)

    for least, most, skip, mode, weighted in ((1, 1, 0, 0, 0), (2, 2, 0, 0, 0), (1, 2, 3, 0, 0), (1, 3, 1, 1, 0), (2, 3, 2, 2, 1),
                                              (1, 3, 0, 1, 1), (1, 2, 2**40, 2, 0)):
        attrs = {**base, "min_gram_length": least, "max_gram_length": most, "max_skip_count": skip, "mode": mode}
        if weighted:
            attrs["weights"] = [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]
        small = {**attrs, "max_skip_count": min(skip, 20)}
        for v in rest:
            t = typed(v)
            p = typed(pool) if dtype == "utf8" else np.array(pool, np.int64)
            yield Case([t, p], attrs, [vectorized(t, list(p), small)])


@refusals("tfidf_vectorizer")
def tfidf_vectorizer_refusals(s):
    x, pool = np.array([1, 2], np.int64), np.array([1, 2, 3, 4], np.int64)
    good = {"ngram_counts": [0, 2], "ngram_indexes": [0, 1, 2], "max_gram_length": 2}
    yield Refusal([x, pool], {**good, "ngram_counts": [0, 3]}, "ARGUMENT", "ngram_counts[1] is 3")
    yield Refusal([x, pool], {**good, "ngram_counts": [0, 5]}, "ARGUMENT", "ngram_counts[0] is 0")
    yield Refusal([x, pool], {**good, "ngram_indexes": [0, 1]}, "ARGUMENT", "2 ngram_indexes, expected 3")
    yield Refusal([x, pool], {**good, "ngram_indexes": [0, -1, 2]}, "INDEX", "ngram_indexes[1] is -1")
    yield Refusal([x, pool], {**good, "max_gram_length": 3}, "ARGUMENT", "max_gram_length 3, expected 1 to 2")
    yield Refusal([x, pool], {**good, "min_gram_length": 0}, "ARGUMENT", "min_gram_length is 0")
    yield Refusal([x, pool], {**good, "mode": 3}, "ARGUMENT", "mode is 3")
    yield Refusal([x, pool], {**good, "max_skip_count": -1}, "ARGUMENT", "max_skip_count is -1")
    yield Refusal([x, pool], {**good, "weights": [1, 2]}, "ARGUMENT", "2 weights, expected at least 3")
    yield Refusal([x, words(s, (4,))], good, "DTYPE", "expected 1 axis of int64")
    yield Refusal([words(s, (4,)), pool], good, "DTYPE", "expected 1 axis of utf8")
    yield Refusal([x.reshape(1, 1, 2), pool], good, "SHAPE", "expected [c] or [n, c]")
