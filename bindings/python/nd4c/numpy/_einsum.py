"""einsum and einsum_path: sums of products written as an equation of letters, one an axis.

The sums are the C library's op einsum; here are NumPy's forms of the arguments, and the order of the products that
einsum_path tells."""
from string import ascii_letters

from nd4c import _dtypes
from nd4c._errors import Error
from nd4c._functions.products import on_masks
from nd4c._functions.support import as_array, cast, castable, finish, op

_einsum = op("einsum")


def einsum(*operands, out=None, optimize=False, **kwargs):
    """Einstein's sum: products of arrays, summed over the letters that the result does not name.

    Written einsum("ij,jk->ik", a, b), or with lists of axis numbers einsum(a, [0, 1], b, [1, 2], [0, 2]). "..." stands for
    the axes that have no letter; without "->" the result has the letters that occur once, in alphabetical order.
    kwargs: dtype, the one to compute in; casting; order. optimize: any value gives the same result, products are always
    ordered by cost. Of one array whose axes are only turned or crossed, a view.
    Shapes: an axis a letter; the result has those behind "->".
    Dtypes: the common dtype of the arrays. Errors: ValueError for equations that do not fit the arrays.

    >>> np.einsum("ij,jk->ik", [[1, 2], [3, 4]], [[1, 0], [0, 1]])
    array([[1, 2],
           [3, 4]])
    >>> np.einsum("ii", [[1, 2], [3, 4]])
    array(5)
    """
    casting = "safe"
    equation, arrays = _arguments("einsum", operands, kwargs.pop("equation", None) if kwargs else None)
    if kwargs:
        arrays, casting = _as_asked(arrays, **kwargs)
    if isinstance(optimize, (tuple, list)) and optimize[:1] in (["einsum_path"], ("einsum_path",)):
        einsum_path(equation, *arrays, optimize=optimize)
    result = _of_one(equation, arrays[0]) if len(arrays) == 1 else None
    if result is None:
        result = _computed(equation, arrays)
    return result if out is None else finish(result, out, "same_kind" if casting == "safe" else casting, "einsum")


def _as_asked(arrays, casting="safe", dtype=None, order="K", **unknown):
    """The arrays in the dtype to compute in, and the rule by which they may be cast to it."""
    if unknown:
        raise TypeError("einsum: no argument %s; there are out, optimize, dtype, order and casting" % ", ".join(sorted(unknown)))
    if order not in ("K", "C", "F", "A", "k", "c", "f", "a"):
        raise ValueError("einsum: order is %r; it may be 'C', 'F', 'A' or 'K'" % (order,))
    wanted = arrays[0].dtype if dtype is None else _dtypes.of(dtype)
    for array in arrays:
        if not castable(array.dtype, wanted, casting) and dtype is not None:
            raise TypeError("einsum: cannot cast an operand of %s to %s by the rule %r" % (array.dtype, wanted, casting))
    return arrays if dtype is None else [cast(array, wanted) for array in arrays], casting


def _computed(equation, arrays):
    try:
        return on_masks(lambda *given: _einsum(list(given), equation), *arrays)
    except Error as error:
        if not isinstance(error, ValueError):
            raise
        inputs = equation.partition("->")[0].split(",")
        if len(inputs) != len(arrays):
            raise ValueError("einsum: the equation %r has %d operands, but %d arrays are given: einsum(%s, %s)" % (
                equation, len(inputs), len(arrays), repr(equation), ", ".join("array" for _ in inputs))) from None
        _sets(equation, arrays)
        raise ValueError("%s (equation %r, arrays of the shapes %s)" % (
            error, equation, ", ".join(str(array.shape) for array in arrays))) from None


# -- the arguments' forms --------------------------------------------------------------------------------------------

def _arguments(where, operands, equation=None):
    """The equation as a string without blanks, and the arrays."""
    if not operands:
        raise ValueError('%s: no arguments; expected an equation and its arrays, as in %s("ij,jk->ik", a, b)' % (where, where))
    if equation is not None:
        arrays = operands[0] if len(operands) == 1 and type(operands[0]) in (list, tuple) else operands
        operands = (equation, *arrays)
    if isinstance(operands[0], str):
        equation, arrays = operands[0].replace(" ", ""), operands[1:]
    elif len(operands) < 2:
        raise ValueError('%s: the first argument is the equation, as in %s("ij,jk->ik", a, b), not %s'
                         % (where, where, type(operands[0]).__name__))
    else:
        equation, arrays = _from_lists(where, operands)
    if not arrays:
        raise ValueError("%s: the equation %r is given without arrays" % (where, equation))
    return equation, [as_array(array, where) for array in arrays]


def _from_lists(where, operands):
    """The equation of the form array, list, array, list, ..., result's list."""
    pairs = len(operands) // 2
    lists = operands[1:2 * pairs:2]
    equation = ",".join(_letters(where, one) for one in lists)
    if len(operands) % 2:
        equation += "->" + _letters(where, operands[-1])
    return equation, operands[0:2 * pairs:2]


def _letters(where, numbers):
    if isinstance(numbers, str) or not hasattr(numbers, "__iter__"):
        raise TypeError('%s: expected an array and a list of its axes in turns, got %r as a list (subscripts must be a '
                        'string); the other form is %s("ij,jk->ik", a, b)' % (where, numbers, where))
    text = ""
    try:
        for number in numbers:
            text += "..." if number is Ellipsis else _letter(number)
    except (TypeError, IndexError):
        raise ValueError("%s: axes are listed as integers from 0 to 51 and an ellipsis, not as %r; the other form is "
                         '%s("ij,jk->ik", a, b)' % (where, numbers, where)) from None
    return text


def _letter(number):
    number = number.__index__() if hasattr(number, "__index__") else _no_integer(number)
    if number < 0:
        raise IndexError(number)
    # Numbers keep their order as letters, so that a result without a list has its axes in the numbers' order.
    return "".join(sorted(ascii_letters))[number]


def _no_integer(number):
    raise TypeError(number)


# -- one array ---------------------------------------------------------------------------------------------------------

def _of_one(equation, array):
    """The result of an equation of one array: a view, or a sum over axes of one. None for "..." and for what does not fit."""
    letters, arrow, result = equation.partition("->")
    if not arrow:
        result = "".join(sorted(letter for letter in letters if letters.count(letter) == 1))
    if (not (letters + result).isalpha() and letters) or len(letters) != array.ndim or len(set(result)) != len(result) \
            or not set(result) <= set(letters):
        return None
    while len(set(letters)) < len(letters):
        place = next(place for place, letter in enumerate(letters) if letters.count(letter) > 1)
        other = letters.index(letters[place], place + 1)
        if array.shape[place] != array.shape[other]:
            return None
        array = op("diagonal")(array, 0, place, other)
        letters = letters[:place] + letters[place + 1:other] + letters[other + 1:] + letters[place]
    summed = "".join(letter for letter in letters if letter not in result)
    array = op("transpose")(array, tuple(letters.index(letter) for letter in result + summed))
    if not summed:
        return array
    axes = tuple(range(len(result), array.ndim))
    return on_masks(lambda x: op("sum")(x, axes, False, x.dtype.number), array)


# -- the order of products -------------------------------------------------------------------------------------------

def einsum_path(*operands, optimize="greedy", einsum_call=False):
    """The order in which a sum's products cost least: a tuple (path, text).

    path: "einsum_path", then for each product the places of its arrays in the list of those that are left, whose end takes
    the product. optimize: "greedy" (cheapest product first), "optimal" (all orders are tried), a path, False (one product of
    all), or a pair (name, elements that an intermediate result may have). text: the costs, to be read.
    nd4c.einsum orders products by itself; this function tells what an order costs.
    Shapes: as the subscripts say.
    Dtypes: numbers; the result is a list and a text.
    Errors: ValueError for equations that do not fit the arrays.

    >>> np.einsum_path("ij,jk,kl->il", nd4c.ones((2, 9)), nd4c.ones((9, 9)), nd4c.ones((9, 3)))[0]
    ['einsum_path', (0, 1), (0, 1)]
    """
    if einsum_call:
        raise TypeError("einsum_path: einsum_call is NumPy's own; leave it out")
    equation, arrays = _arguments("einsum_path", operands)
    inputs, ordered, extents = _sets(equation, arrays)
    path, text = _paths(equation.partition("->")[0] + "->" + ordered, inputs, frozenset(ordered), extents, optimize)
    return ["einsum_path"] + path, text


def _sets(equation, arrays):
    """The letters of each operand and of the result, with capital Greek ones for "...", and the extent of each letter."""
    written, arrow, result = equation.partition("->")
    inputs = written.split(",")
    if len(inputs) != len(arrays):
        raise ValueError("einsum: the equation %r has %d operands, but %d arrays are given"
                         % (equation, len(inputs), len(arrays)))
    hidden = max(array.ndim - len(one.replace("...", "")) if "..." in one else 0 for one, array in zip(inputs, arrays))
    spare = [chr(0x391 + number) for number in range(hidden)]
    extents = {}
    for place, (one, array) in enumerate(zip(inputs, arrays)):
        if "..." in one:
            count = array.ndim - len(one) + 3
            one = one.replace("...", "".join(spare[hidden - count:]))
        if len(one) != array.ndim:
            raise ValueError("einsum: operand %d, %r, has %d letters, its array %d axes" % (place, one, len(one), array.ndim))
        for letter, extent in zip(one, array.shape):
            known = extents.get(letter, 1)
            if extent != known and 1 not in (extent, known):
                raise ValueError("einsum: the letter %r has the extents %d and %d" % (letter, known, extent))
            extents[letter] = max(extent, known)
        inputs[place] = one
    if arrow:
        result = result.replace("...", "".join(spare))
    else:
        joined = "".join(inputs)
        result = "".join(spare) + "".join(sorted(letter for letter in set(joined) - set(spare) if joined.count(letter) == 1))
    if len(set(result)) != len(result) or not set(result) <= set(extents):
        raise ValueError("einsum: the result %r has a letter twice, or one that no operand has" % result)
    return [frozenset(one) for one in inputs], result, extents


def _paths(equation, inputs, result, extents, optimize):
    limit = None
    if isinstance(optimize, (tuple, list)) and len(optimize) == 2 and isinstance(optimize[0], str) \
            and isinstance(optimize[1], (int, float)):
        optimize, limit = optimize[0], int(optimize[1])
    if limit is None:
        limit = max([_volume(one, extents) for one in inputs] + [_volume(result, extents)])
    everything = frozenset().union(*inputs)
    naive = _cost(everything, bool(everything - result), len(inputs), extents)
    if isinstance(optimize, (tuple, list)) and optimize and optimize[0] == "einsum_path":
        path = _valid(optimize[1:], len(inputs))
    elif not optimize or len(inputs) in (1, 2) or (everything == result):
        path = [tuple(range(len(inputs)))]
    elif optimize is True or optimize == "greedy":
        path = _greedy(inputs, result, extents, limit, naive)
    elif optimize == "optimal":
        path = _optimal(inputs, result, extents, limit)
    else:
        raise ValueError("einsum_path: optimize is %r; it may be 'greedy', 'optimal', False, a path, or a pair of a name and "
                         "a number of elements" % (optimize,))
    return path, _report(equation, path, inputs, result, extents, naive)


def _valid(steps, count):
    """A given path as a list of tuples. Errors: RuntimeError if it does not end with one array."""
    path = [tuple(step) for step in steps]
    for step in path:
        if len(set(step)) != len(step) or not all(0 <= place < count for place in step):
            raise RuntimeError("einsum_path: the path has the step %s where %d arrays are left" % (step, count))
        count += 1 - len(step)
    if count != 1:
        raise RuntimeError("einsum_path: the path %s leaves %d arrays; expected one" % (path, count))
    return path


def _volume(letters, extents):
    count = 1
    for letter in letters:
        count *= extents[letter]
    return count


def _cost(letters, sums, factors, extents):
    """Operations of one product of `factors` arrays over all its letters; sums: some letters are summed."""
    return _volume(letters, extents) * (max(1, factors - 1) + sums)


def _product(places, left, result):
    """The letters of the product of some arrays, those it sums, all of its, and the arrays that are left, the product last."""
    rest = [one for place, one in enumerate(left) if place not in places]
    involved = frozenset().union(*(left[place] for place in places))
    kept = involved & result.union(*rest)
    return kept, involved - kept, involved, rest + [kept]


def _pairs(count):
    return [(first, second) for first in range(count) for second in range(first + 1, count)]


def _greedy(inputs, result, extents, limit, naive):
    """Each time the pair whose product shrinks the data most; among equals the cheapest."""
    path, left, spent = [], list(inputs), 0
    while len(left) > 1:
        if len(left) == 2:
            candidates = [(0, 1)]
        else:
            candidates = [pair for pair in _pairs(len(left)) if left[pair[0]] & left[pair[1]]] or _pairs(len(left))
        best = None
        for pair in candidates:
            kept, summed, involved, rest = _product(pair, left, result)
            size, cost = _volume(kept, extents), _cost(involved, bool(summed), 2, extents)
            if size > limit or spent + cost > naive:
                continue
            shrunk = sum(_volume(left[place], extents) for place in pair) - size
            if best is None or (-shrunk, cost) < best[0]:
                best = (-shrunk, cost), pair, rest, cost
        if best is None:
            path.append(tuple(range(len(left))))
            break
        path.append(best[1])
        left, spent = best[2], spent + best[3]
    return path


def _optimal(inputs, result, extents, limit):
    """The cheapest of all orders of pairs."""
    states = [(0, [], list(inputs))]
    best = None
    for step in range(len(inputs) - 1):
        following = []
        for cost, path, left in states:
            for pair in _pairs(len(left)):
                kept, summed, involved, rest = _product(pair, left, result)
                if _volume(kept, extents) <= limit:
                    following.append((cost + _cost(involved, bool(summed), 2, extents), path + [pair], rest))
        if not following:
            _, path, left = min(states, key=lambda state: state[0])
            return path + [tuple(range(len(left)))]
        states = following
    best = min(states, key=lambda state: state[0])
    return best[1]


def _report(equation, path, inputs, result, extents, naive):
    rows, left, spent, scaling, largest, ordered = [], list(inputs), 0, 0, 0, equation.partition("->")[2]
    for step in path:
        kept, summed, involved, rest = _product(step, left, result)
        spent += _cost(involved, bool(summed), len(step), extents)
        scaling, largest = max(scaling, len(involved)), max(largest, _volume(kept, extents))
        rows.append("%4d    %-24s %40s" % (
            len(involved), ",".join("".join(sorted(left[place])) for place in step) + "->" + "".join(sorted(kept)),
            ",".join("".join(sorted(one)) for one in rest) + "->" + ordered))
        left = rest
    head = (("Complete contraction", equation), ("Naive scaling", len(frozenset().union(*inputs))),
            ("Optimized scaling", scaling), ("Naive FLOP count", "%.3e" % naive), ("Optimized FLOP count", "%.3e" % spent),
            ("Theoretical speedup", "%.3e" % (naive / max(spent, 1))), ("Largest intermediate", "%.3e elements" % largest))
    lines = ["%22s:  %s" % row for row in head] + ["-" * 74, "%6s %20s %40s" % ("scaling", "current", "remaining"), "-" * 74]
    return "\n".join(lines + rows)


__all__ = ["einsum", "einsum_path"]
