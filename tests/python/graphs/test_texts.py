"""What graphs say to users of NumPy and JAX: options that do not exist, and NumPy's functions of values of a graph."""
import numpy as np
import pytest

import nd4c

A, I = np.array([1.0, 2.0, 3.0]), np.array([1, 2, 3])

OPERATORS = {
    "+": lambda x, y: y + x, "-": lambda x, y: y - x, "*": lambda x, y: y * x, "/": lambda x, y: y / x,
    "//": lambda x, y: y // x, "%": lambda x, y: y % x, "**": lambda x, y: y ** x, "@": lambda x, y: y @ x,
    "<": lambda x, y: y < x, "<=": lambda x, y: y <= x,
    "==": lambda x, y: y == x, "!=": lambda x, y: y != x, ">": lambda x, y: y > x, ">=": lambda x, y: y >= x,
    "divmod": lambda x, y: divmod(y, x)[1], "scalar": lambda x, y: y[1] - x, "on the right": lambda x, y: x - y}
INTEGERS = {"&": lambda x, y: y & x, "|": lambda x, y: y | x, "^": lambda x, y: y ^ x, "<<": lambda x, y: y << x,
            ">>": lambda x, y: y >> x}


@pytest.mark.parametrize("name", list(OPERATORS) + list(INTEGERS))
def test_operators_of_numpys_arrays_take_values_of_graphs(name):
    function, y = (OPERATORS[name], A) if name in OPERATORS else (INTEGERS[name], I)
    x = np.array([2, 2, 5], y.dtype)
    given = nd4c.compile(lambda value: function(value, y))(nd4c.asarray(x))
    assert np.allclose(np.asarray(given), function(x, y))


@pytest.mark.parametrize("function, words", [
    (np.sin, r"np\.sin is a function of NumPy's.*: call nd4c\.sin, which records it"),
    (np.absolute, r"np\.absolute .*: call nd4c\.absolute, which"),
    (lambda x: np.add(x, x), r"np\.add .*: call nd4c\.add, which"),
    (lambda x: np.power(x, A), r"np\.power .*: call nd4c\.pow, which"),
    (lambda x: np.add(A, x, out=A), r"np\.add .*: call nd4c\.add, which"),
    (np.add.reduce, r"np\.add\.reduce .*: call nd4c\.sum, which"),
    (lambda x: np.subtract.outer(A, x), r"np\.subtract\.outer .*: call functions of nd4c's instead")])
def test_numpys_functions_name_nd4cs(function, words):
    with pytest.raises(TypeError, match=words):
        nd4c.compile(lambda x: function(x))(nd4c.ones(3))
    assert A.tolist() == [1, 2, 3]


def test_unknown_options_of_compile():
    words = r"compile: no option 'static_argnums'; there are dims, device, optimize, passes, precision, "
    with pytest.raises(TypeError, match=words):
        nd4c.compile(lambda x: x, static_argnums=1)
    with pytest.raises(TypeError, match=words):
        nd4c.compile(static_argnums=1)(lambda x: x)
    assert nd4c.compile(lambda x: x + 1, dims=False, optimize=False)(nd4c.ones(1)).tolist() == [2]
