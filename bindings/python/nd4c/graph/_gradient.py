"""nd4c.grad, nd4c.value_and_grad and nd4c.stop_gradient: derivatives of functions, by the gradients of their graphs."""
from __future__ import annotations

import functools

from nd4c._creation import asarray
from nd4c._dtypes import of as dtype_of
from nd4c._functions.creation import zeros_like
from nd4c._functions.support import op
from nd4c._symbols import ARRAYS, Symbol
from nd4c.graph._compile import Compiled
from nd4c.graph._recording import target
from nd4c.graph._trees import flatten, rebuilt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Sequence, Union


def value_and_grad(function: Callable[..., Any], argnums: Union[int, Sequence[int]] = 0, *, has_aux: bool = False,
                   dims: bool = True, **options: Any) -> Callable[..., Any]:
    """The function that gives the value of `function` and its derivatives by the arguments of these numbers, which may be tuples,
    lists and dicts of arrays. has_aux: `function` gives the value and something else, which is passed on. It runs as nd4c.compile's
    functions do, whose dims= and options it takes; called while another function is recorded, it becomes part of that one.

    Shapes: the value is one number; derivatives have the shapes of the arguments.
    Dtypes: floats.
    Errors: TypeError for a value that is no float, ValueError for one of several elements; NotImplementedError for an op without
    gradient.

    >>> loss = nd4c.value_and_grad(lambda w, x: nd4c.sum((w * x) ** 2))
    >>> loss(nd4c.asarray([1.0, 2.0]), nd4c.asarray([3.0, 1.0]))
    (array(13.), array([18.,  4.]))
    """
    if not callable(function):
        raise TypeError("value_and_grad: expected a function, got %s" % type(function).__name__)
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def recording(*arguments, **named):
        given, leaves, structures = list(arguments), [], []
        for number in numbers:
            own = []
            structures.append(flatten(arguments[number], own))
            own = [_own(leaf) for leaf in own]
            given[number] = rebuilt(structures[-1], own)
            leaves.append(own)
        result = function(*given, **named)
        loss, aux = result if has_aux else (result, None)
        chosen = [leaf for own in leaves for leaf in own]
        made = iter(_derivatives(loss, chosen))
        gradients = [rebuilt(structure, [next(made) for _ in own]) for structure, own in zip(structures, leaves)]
        return (loss, aux) if has_aux else loss, gradients[0] if isinstance(argnums, int) else tuple(gradients)

    compiled = Compiled(functools.wraps(function)(recording), dims, options)

    @functools.wraps(function)
    def differentiated(*arguments, **named):
        missing = [number for number in numbers if not -len(arguments) <= number < len(arguments)]
        if missing:
            raise TypeError("value_and_grad: argnums has %d, and %d arguments are given by position" % (missing[0], len(arguments)))
        arguments = list(arguments)
        for number in numbers:
            leaves = []
            structure = flatten(arguments[number], leaves)
            arguments[number] = rebuilt(structure, [leaf if type(leaf) in ARRAYS else asarray(leaf) for leaf in leaves])
        return compiled(*arguments, **named)
    return differentiated


def _own(leaf):
    """A value that is used as this argument alone, so that derivatives by it are not those by another one of the same value."""
    return op("copy")(leaf) if type(leaf) is Symbol else leaf


def _derivatives(loss, values):
    symbols = [value for value in values if type(value) is Symbol]
    if type(loss) is not Symbol:
        if type(loss) not in ARRAYS:
            raise TypeError("value_and_grad: the function gave a %s; it gives one number, as nd4c.sum and nd4c.mean do"
                            % type(loss).__name__)
        return [zeros_like(value) for value in values]
    graph = target([loss] + symbols, "value_and_grad")
    made = iter(graph.gradient(loss, symbols))
    return [next(made) if type(value) is Symbol else zeros_like(value) for value in values]


def grad(function: Callable[..., Any], argnums: Union[int, Sequence[int]] = 0, *, has_aux: bool = False,
         **options: Any) -> Callable[..., Any]:
    """The function that gives the derivatives of `function`; with has_aux, the derivatives and what `function` gives beside its
    value. As nd4c.value_and_grad otherwise.

    Shapes: those of the arguments.
    Dtypes: floats.
    Errors: as nd4c.value_and_grad.

    >>> slope = nd4c.grad(lambda x: nd4c.sum(x ** 3))
    >>> slope(nd4c.asarray([1.0, 2.0]))
    array([ 3., 12.])
    """
    both = value_and_grad(function, argnums, has_aux=has_aux, **options)

    @functools.wraps(function)
    def derivative(*arguments, **named):
        value, gradients = both(*arguments, **named)
        return (gradients, value[1]) if has_aux else gradients
    return derivative


def stop_gradient(x: Any, /) -> Any:
    """x, through which no derivative goes: nd4c.grad takes it for a constant. x may be a tuple, list or dict of arrays. Compiled
    functions compute nothing for it.

    Shapes: that of x.
    Dtypes: any; complex numbers have no derivative anyway.
    Errors: as nd4c.asarray, for leaves that are no arrays.

    >>> nd4c.grad(lambda x: nd4c.sum(x * nd4c.stop_gradient(x)))(nd4c.asarray([1.0, 2.0]))
    array([1., 2.])
    """
    leaves = []
    structure = flatten(x, leaves)
    return rebuilt(structure, [_stopped(leaf if type(leaf) in ARRAYS else asarray(leaf)) for leaf in leaves])


def _stopped(leaf):
    """Integers have no derivatives, so the bits of a float go through them."""
    if type(leaf) is not Symbol or leaf.dtype.kind != "f":
        return leaf
    cast = op("bit_cast")
    return cast(cast(leaf, dtype_of("int%d" % leaf.dtype.bits).number), leaf.dtype.number)
