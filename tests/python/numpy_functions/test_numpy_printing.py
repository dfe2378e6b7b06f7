"""Texts of arrays and floats against NumPy's, over dtypes, ranges and print options."""
import itertools

import numpy as np
import pytest

import nd4c
import nd4c.numpy as xp


def arrays():
    rng = np.random.default_rng(0)
    for dtype, shape, power in itertools.product(("f8", "f4"), ((3,), (2, 3), (2, 2, 2), (40,), ()), (0, 3, -6, 9)):
        yield np.asarray(rng.normal(size=shape) * 10.0 ** power, dtype)
    for power in (0, 2):
        yield np.asarray(rng.normal(size=(2, 3)) * 10.0 ** power, "f2")
    yield from map(np.asarray, (
        [1.0, np.nan, -np.inf], [1, 2, 3], [[True, False]], [1 + 2j, 3.5 - 1e-3j], np.arange(2000.0).reshape(20, 100),
        np.arange(2000), [],
        np.zeros((0, 3)), [1e-10, 1.0], [1e300, 1e-300], [0.1, 0.25, 123.456], np.array([-1, 5], "i1"), [1e5, 1.5, -2],
        [100000000.0],
        np.array([0.1, 0.2, 1e10], "f4"), [0.0, -0.0], [[[1]]]))


OPTIONS = ({}, {"precision": 3}, {"suppress_small": True}, {"max_line_width": 40},
           {"precision": 2, "suppress_small": True})
MORE = ({"separator": ", "}, {"sign": "+"}, {"sign": " "}, {"floatmode": "fixed", "precision": 4},
        {"floatmode": "unique"},
        {"floatmode": "maxprec_equal"}, {"separator": ",", "prefix": "abc", "suffix": ")"}, {"threshold": 5},
        {"threshold": 5, "edgeitems": 1},
        {"formatter": {"float_kind": lambda x: "%.2f" % x}}, {"formatter": {"all": str}}, {"formatter": {"int": hex}})


@pytest.mark.parametrize("name", ["array2string", "array_repr", "array_str"])
def test_texts(name):
    for a in arrays():
        for more in OPTIONS + (MORE if name == "array2string" else ()):
            if "formatter" in more and a.dtype.kind == "c":
                continue
            assert getattr(xp, name)(nd4c.asarray(a), **more) == getattr(np, name)(a, **more), (a.dtype, a.shape, more)


@pytest.mark.parametrize("more", [
    {"suppress": True}, {"precision": 3, "floatmode": "fixed"}, {"nanstr": "NA", "infstr": "INF"}, {"sign": "+"},
    {"threshold": 6},
    {"linewidth": 30}, {"edgeitems": 1, "threshold": 4}, {"formatter": {"float": lambda x: "<%.1f>" % x}},
    {"floatmode": "unique"},
    {"precision": 2}])
def test_options_reach_repr_and_str(more):
    before = xp.get_printoptions()
    with xp.printoptions(**more) as options, np.printoptions(**more):
        assert all(options[name] == value for name, value in more.items())
        for a in arrays():
            if a.dtype.kind == "c" and "formatter" in more:
                continue
            assert repr(nd4c.asarray(a)) == repr(a)
            if a.ndim:
                assert str(nd4c.asarray(a)) == str(a)
    assert xp.get_printoptions() == before
    assert repr(nd4c.asarray([1.5])) == "array([1.5])"


def test_options_are_numpys():
    theirs = np.get_printoptions()
    assert xp.get_printoptions() == theirs
    xp.set_printoptions(precision=3, suppress=True)
    try:
        assert xp.get_printoptions() == dict(theirs, precision=3, suppress=True)
        assert str(nd4c.asarray([1e-9, 1.23456])) == "[0.    1.235]"
    finally:
        xp.set_printoptions(precision=8, suppress=False)
    for more, kind in (({"floatmode": "x"}, ValueError), ({"sign": "*"}, ValueError),
                       ({"threshold": float("nan")}, ValueError),
                       ({"threshold": "1"}, TypeError), ({"precision": 1.5}, TypeError),
                       ({"legacy": "1.13"}, ValueError)):
        with pytest.raises(kind, match="set_printoptions"):
            xp.set_printoptions(**more)
    assert xp.get_printoptions() == theirs


def cases():
    rng = np.random.default_rng(3)
    for number in range(600):
        x = rng.normal() * 10.0 ** rng.integers(-4, 5) if number % 8 else float(rng.integers(-100, 100))
        more = {"precision": int(rng.integers(1, 6))} if rng.random() < 0.6 else {}
        if more and rng.random() < 0.3:
            more["unique"] = False
        if rng.random() < 0.5:
            more["trim"] = "k.0"[rng.integers(3)]
        if rng.random() < 0.3:
            more["sign"] = True
        if rng.random() < 0.3:
            more["pad_left"] = 6
        yield np.dtype(("f8", "f4", "f2")[rng.integers(3)]).type(x), more


def test_single_floats():
    for x, more in cases():
        for name, extra in (("format_float_positional", ({}, {"pad_right": 5}, {"fractional": False})),
                            ("format_float_scientific", ({}, {"exp_digits": 3}))):
            for further in extra:
                options = dict(more, **further)
                if "fractional" in options and "unique" in options:
                    continue  # of all digits, NumPy leaves out zeros at the end here, but not elsewhere
                assert getattr(xp, name)(nd4c.asarray(x), **options) == getattr(np, name)(x, **options), (name, repr(x), options)
    for x in (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, 5e-324, 1.0):
        assert xp.format_float_positional(x) == np.format_float_positional(x)
        assert xp.format_float_scientific(x) == np.format_float_scientific(x)
    with pytest.raises(ValueError, match="precision"):
        xp.format_float_positional(1.0, unique=False)
    with pytest.raises(TypeError, match="complex"):
        xp.format_float_scientific(nd4c.asarray(1j))
