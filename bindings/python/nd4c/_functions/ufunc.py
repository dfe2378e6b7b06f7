"""How functions element by element take what NumPy's take: one fast call for arrays that the C library takes as they are, and
else NumPy's rules for dtypes, out=, where=, dtype= and casting=. _functions/elementwise.py and numpy/_elementwise.py make their functions
here; the operators of arrays (_arrays/array.py) come here where the C library refuses their operands."""
from types import MethodType

from nd4c import _dtypes
from nd4c._abi import NUMBERS
from nd4c._core import Array, calls
from nd4c._creation import asarray
from nd4c._functions.support import as_array, cast, castable, finish, output
from nd4c._symbols import ARRAYS

# Letters of dtypes as NumPy's ufunc.types has them, and z for bfloat16.
_OF_LETTER = dict({dtype.char: dtype for dtype in _dtypes.by_number.values() if dtype.char != "V"},
                  z=_dtypes.by_name.get("bfloat16"))
INTEGERS, FLOATS, COMPLEX = "bBhHiIlL", "ezfd", "FD"
REAL, INEXACT = INTEGERS + FLOATS, FLOATS + COMPLEX
NUMBERS_OF_ALL_KINDS = REAL + COMPLEX
_PYTHON = {bool: 0, int: 1, float: 2, complex: 3}
_REFUSED = ("%s: not supported for the input types (%s), and the inputs could not be safely coerced to any supported types "
            "according to the casting rule 'safe'")


class Plan:
    """What a function computes with.

    call: the core's callable of the op. loops: letters of the dtypes that NumPy computes it in, in the order of its search.
    results: the letters that the argument dtype= may name. other: by the kind of the dtype, what computes where the op does
    not. direct: the C library's own choice of dtypes is NumPy's wherever it computes. truth: operands of all dtypes count as
    bools. comparison: Python integers may be out of the dtype's range. bools: why bools are refused, if they are."""

    __slots__ = ("name", "call", "nin", "nout", "loops", "results", "other", "direct", "truth", "comparison", "identity", "bools")

    def __init__(self, name, call, nin, loops, results=None, other=None, nout=1, identity=None, direct=True):
        self.name, self.call, self.nin, self.nout, self.identity = name, call, nin, nout, identity
        self.truth, self.comparison = loops == "truth", results == "?" and nin == 2
        self.loops = "?" if self.truth else loops
        self.results = self.loops if results is None else results
        self.other, self.direct, self.bools = other or {}, direct, None

    def loop(self, common, operands=()):
        """The dtype that NumPy computes in: the operands' common one, or the first to which every operand may be cast.

        operands: where they have several dtypes, those: int8 and uint8 share int16, but both are cast to float16."""
        if self.bools and common.kind == "b":
            raise TypeError(self.bools)
        for letter in self.loops:
            if _OF_LETTER[letter] is common:
                return common
        sources = {one.dtype if type(one) in ARRAYS else common for one in operands} or {common}
        for letter in self.loops:
            found = _OF_LETTER[letter]
            if found is not None and common.kind != "U" and all(_dtypes.can_cast(one, found) for one in sources):
                return found
        return None

    def computed(self, arrays, loop):
        """The result for arrays that all have the dtype of the loop."""
        return self.other.get(loop.kind, self.call)(*arrays)

    def compute(self, operands, dtype=None, casting="same_kind"):
        """The result by NumPy's rules for dtypes; operands as `taken` gives them."""
        return _compute(self, operands, dtype, casting)


by_number = {}  # plans of ops of one result, by the op's number: what the operators use


# -- dtypes ----------------------------------------------------------------------------------------------------------

def common(operands):
    """The dtype that operands share, of which Python's numbers are weak."""
    result, numbers = None, []
    for one in operands:
        if type(one) in ARRAYS:
            result = one.dtype if result is None else _dtypes.promote(result, one.dtype)
        else:
            numbers.append(type(one))
    numbers.sort(key=_PYTHON.get)
    for kind in numbers:
        result = _dtypes.default(kind) if result is None else _dtypes.weak(kind, result)
    return result


def taken(plan, inputs):
    """Operands as arrays; Python's numbers stay, as their dtype depends on the others."""
    return [x if type(x) in ARRAYS or type(x) in _PYTHON else as_array(x, plan.name) for x in inputs]


def _asked(plan, operands, dtype, casting):
    """The loop that dtype= names."""
    loop = _dtypes.of(dtype)
    letters = plan.loops if plan.results == plan.loops else plan.results
    if all(_OF_LETTER[letter] is not loop for letter in letters):
        raise TypeError("%s: No loop matching the specified signature and casting was found: dtype %s; there are %s" % (
            plan.name, loop, ", ".join(_OF_LETTER[letter].name for letter in letters if _OF_LETTER[letter])))
    if plan.results == "?" != plan.loops:
        return None
    for place, one in enumerate(operands):
        source = one.dtype if type(one) in ARRAYS else _dtypes.default(type(one))
        if not castable(source, loop, casting) and not (type(one) in _PYTHON and castable(
                _dtypes.weak(type(one), loop), loop, casting)):
            raise TypeError("%s: Cannot cast input %d from %s to %s with casting rule %r"
                            % (plan.name, place, source, loop, casting))
    return loop


def _signed(plan, signature):
    """The dtype that signature= names: "d", "dd->d" or a tuple of dtypes, all of them the same in these functions."""
    if isinstance(signature, str) and "->" in signature:
        taken, _, given = signature.partition("->")
        if len(taken) != plan.nin or len(given) != plan.nout:
            raise ValueError("%s: the signature %r is not of %d inputs and %d results" % (plan.name, signature, plan.nin,
                                                                                        plan.nout))
        names = list(taken) if plan.results == "?" else list(taken + given)
    elif isinstance(signature, tuple):
        if len(signature) not in (1, plan.nin + plan.nout):
            raise ValueError("%s: the signature %r is not of %d dtypes" % (plan.name, signature, plan.nin + plan.nout))
        names = [one for one in signature if one is not None]
    else:
        names = [signature]
    found = {_dtypes.of(one) for one in names}
    if len(found) > 1:
        raise TypeError("%s: No loop matching the specified signature and casting was found: %r" % (plan.name, signature))
    return found.pop() if found else None


def _converted(plan, operands, loop):
    """Operands as arrays of the loop's dtype."""
    return [cast(one, loop) if type(one) in ARRAYS else asarray(one, dtype=loop) for one in operands]


def _truths(operands):
    boolean = _dtypes.by_name["bool"]
    return [one if type(one) in ARRAYS and one.dtype is boolean else
            calls[NUMBERS["not_equal"]](one, 0) if type(one) in ARRAYS and one.dtype.kind != "U" else asarray(bool(one))
            for one in operands]


def _out_of_range(plan, operands, loop):
    """A comparison with Python integers that the dtype cannot hold: they are as far out as infinity."""
    real = _dtypes.by_name["float64"]
    low, high = (-2 ** (loop.bits - 1), 2 ** (loop.bits - 1) - 1) if loop.kind == "i" else (0, 2 ** loop.bits - 1)
    return plan.call(*[cast(one, real) if type(one) in ARRAYS else
                       asarray(float("-inf") if one < low else float("inf") if one > high else float(one))
                       for one in operands])


def _check_casts(plan, operands, loop, casting):
    """The rules "no" and "equiv" hold for operands, too; a dtype that a search finds is always safe to cast to.

    Python's numbers take the dtype of the loop by themselves. NumPy compares int64 with uint64, and tests bools for NaN,
    as they are."""
    if casting not in ("no", "equiv"):
        return
    kept = {"int64", "uint64"} if plan.comparison else {"bool"} if plan.results == "?" and "b" in plan.loops else set()
    if plan.results == INEXACT and loop.kind in "iu":
        loop = _dtypes.by_name["float64"]
    for place, one in enumerate(operands):
        if type(one) in ARRAYS and one.dtype.name in kept and loop is not one.dtype and loop.kind != "c":
            continue
        if type(one) in ARRAYS and one.dtype is not loop:
            raise TypeError("%s: Cannot cast input %d from %s to %s with casting rule %r"
                            % (plan.name, place, one.dtype, loop, casting))


def _compute(plan, operands, dtype, casting):
    if plan.truth:
        if dtype is not None:
            _asked(plan, (), dtype, casting)
        return plan.call(*_truths(operands))
    loop = None if dtype is None else _asked(plan, operands, dtype, casting)
    if loop is None:
        shared = common(operands)
        loop = plan.loop(shared, operands)
        if loop is None:
            arrays = [one for one in operands if type(one) in ARRAYS]
            if shared.char == "V" and arrays:
                return plan.call(*operands)  # dtypes that NumPy lacks: the C library decides
            raise TypeError(_REFUSED % (plan.name, ", ".join(
                one.dtype.name if type(one) in ARRAYS else type(one).__name__ for one in operands)))
        _check_casts(plan, operands, loop, casting)
    try:
        arrays = _converted(plan, operands, loop)
    except OverflowError:
        if plan.comparison:
            return _out_of_range(plan, operands, loop)
        if plan.results != INEXACT or loop.kind not in "iu":
            raise
        arrays = _converted(plan, operands, _dtypes.by_name["float64"])  # the result is a float: so may the integers be
    return plan.computed(arrays, loop)


# -- calls that are not the plain one --------------------------------------------------------------------------------

_DEFAULTS = {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True, "signature": None}


def apply(plan, inputs, out=None, named=None):
    """The function by all of NumPy's rules; named: its keyword arguments."""
    mask, casting, dtype = True, "same_kind", None
    if named:
        mask, casting, dtype = _options(plan, named)
    operands = taken(plan, inputs)
    out = _outputs(plan, out)
    if mask is not True:
        mask = _mask(plan, mask)
        if out is None:  # elements where the mask is False are undefined without out; these are as good as others
            return _broadcast(plan.compute( operands, dtype, casting), mask)
    if out is None:
        return plan.compute(operands, dtype, casting)
    result = plan.compute(operands, dtype, casting)
    if plan.nout == 1:
        return finish(result, out[0], casting, plan.name, None if mask is True else mask, grows=True)
    return tuple([finish(one, into, casting, plan.name, None if mask is True else mask, grows=True)
                  for one, into in zip(result, out)])


def _options(plan, named):
    if "sig" in named:
        named["signature"] = named.pop("sig")
    for name in named:
        if name not in _DEFAULTS:
            raise TypeError("%s: unexpected keyword argument %r; there are out, %s" % (plan.name, name, ", ".join(_DEFAULTS)))
    order, subok, dtype = named.get("order", "K"), named.get("subok", True), named.get("dtype")
    if order not in ("K", "A", "C", "F", "k", "a", "c", "f"):
        if not isinstance(order, str):
            raise TypeError("%s: order: expected a text, got %s" % (plan.name, type(order).__name__))
        raise ValueError("%s: order must be one of 'C', 'F', 'A', or 'K' (got %r)" % (plan.name, order))
    if type(subok) is not bool:
        raise TypeError("%s: subok: expected True or False, got %r" % (plan.name, subok))
    casting = named.get("casting", "same_kind")
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise (ValueError if isinstance(casting, str) else TypeError)(
            "%s: casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got %r)" % (plan.name, casting))
    if named.get("signature") is not None:
        if dtype is not None:
            raise TypeError("%s: cannot specify both 'signature' and 'dtype'" % plan.name)
        dtype = _signed(plan, named["signature"])
    return named.get("where", True), casting, dtype


def _outputs(plan, out):
    """A tuple of as many arrays or Nones as there are results; None: all of them are new."""
    if out is None:
        return None
    if type(out) is not tuple:
        if plan.nout > 1:
            raise TypeError("%s: 'out' must be a tuple of %d arrays, got %s" % (plan.name, plan.nout, type(out).__name__))
        out = (out,)
    if len(out) != plan.nout:
        raise ValueError("%s: the 'out' tuple must have exactly %d entries, got %d" % (plan.name, plan.nout, len(out)))
    for one in out:
        output(one, plan.name)
    return None if all(one is None for one in out) else out


def _mask(plan, mask):
    condition = as_array(mask, plan.name)
    if condition.dtype.kind != "b":
        raise TypeError("%s: where: Cannot cast array data from %s to bool according to the rule 'safe'"
                        % (plan.name, condition.dtype))
    return condition


def _broadcast(result, mask):
    results = result if type(result) is tuple else (result,)
    spread = tuple([one if len(mask.shape) <= len(one.shape) and mask.shape == one.shape[len(one.shape) - len(mask.shape):]
                    else calls[NUMBERS["where"]](mask, one, one) for one in results])
    return spread if type(result) is tuple else spread[0]


# -- operators -------------------------------------------------------------------------------------------------------

def mixed(number, *operands):
    """Computes an op on operands that the C library refuses for their dtypes by NumPy's rules; None where these are the C
    library's."""
    plan = by_number.get(number)
    if any(getattr(one, "dtype", None) is _dtypes.by_name["utf8"] for one in operands):
        return None
    if plan is None:
        return _numbers_of_bools(number, operands)
    operands = taken(plan, operands)
    if plan.truth:
        return None if all(one.dtype.kind == "b" for one in operands if type(one) in ARRAYS) else plan.compute(operands)
    shared = common(operands)
    loop = plan.loop(shared, operands)
    if loop is None or (loop.kind not in plan.other and all(type(one) in ARRAYS and one.dtype is loop for one in operands)):
        return None
    return plan.compute(operands)


def _numbers_of_bools(number, operands):
    """An op of two operands that has no function here, on a bool and a number: the bools count as 0 and 1."""
    if len(operands) != 2:
        return None
    a, b = [one if type(one) in ARRAYS else asarray(one) for one in operands]
    if (a.dtype.kind == "b") == (b.dtype.kind == "b"):
        return None
    dtype = a.dtype if b.dtype.kind == "b" else b.dtype
    return calls[number](cast(a, dtype), cast(b, dtype))


# -- making functions ------------------------------------------------------------------------------------------------

def _shape_1(x, /, out=None, *, where=True, casting="same_kind", order="K", dtype=None, subok=True, signature=None):
    """The signature of functions of one array."""


def _shape_2(x1, x2, /, out=None, *, where=True, casting="same_kind", order="K", dtype=None, subok=True, signature=None):
    """The signature of functions of two arrays."""


def _shape_1_2(x, /, out=(None, None), *, where=True, casting="same_kind", order="K", dtype=None, subok=True, signature=None):
    """The signature of functions of one array with two results."""


def _shape_2_2(x1, x2, /, out=(None, None), *, where=True, casting="same_kind", order="K", dtype=None, subok=True,
               signature=None):
    """The signature of functions of two arrays with two results."""


_SHAPES = {(1, 1): _shape_1, (2, 1): _shape_2, (1, 2): _shape_1_2, (2, 2): _shape_2_2}


def _fits(x, out):
    """Whether an op on x may write into out itself. Where its result has another dtype or shape, the C library refuses."""
    return type(x) is type(out) is Array and x.dtype is out.dtype and x.shape == out.shape


def _of_one(plan, call):
    def function(x, /, out=None, **named):
        if out is None and not named:
            try:
                return call(x)
            except TypeError:
                pass
        elif not named and _fits(x, out):
            try:
                return call(x, out)
            except (TypeError, ValueError):
                pass
        return apply(plan, (x,), out, named)
    return function


def _of_two(plan, call):
    def function(x1, x2, /, out=None, **named):
        if out is None and not named:
            try:
                return call(x1, x2)
            except (TypeError, OverflowError):
                pass
        elif not named and _fits(x1, out):
            try:
                return call(x1, x2, out)
            except (TypeError, ValueError, OverflowError):
                pass
        return apply(plan, (x1, x2), out, named)
    return function


def _by_rules_of_one(plan):
    def function(x, /, out=None, **named):
        return apply(plan, (x,), out, named)
    return function


def _by_rules_of_two(plan):
    def function(x1, x2, /, out=None, **named):
        return apply(plan, (x1, x2), out, named)
    return function


def _of_two_results(plan, nin):
    if nin == 1:
        def function(x, /, *out, **named):
            return apply(plan, (x,), *_separate(plan, out, named))
    else:
        def function(x1, x2, /, *out, **named):
            return apply(plan, (x1, x2), *_separate(plan, out, named))
    return function


def _separate(plan, out, named):
    """The outputs, which NumPy takes one by one or as a tuple out=."""
    if not out:
        return named.pop("out", None), named
    if "out" in named:
        raise TypeError("%s: 'out' is given by position and by name" % plan.name)
    if len(out) == 1 and type(out[0]) is tuple:
        out = out[0]
    return out + (None,) * (plan.nout - len(out)), named


def make(plan, module, doc):
    """The function of a plan, with the attributes and methods of NumPy's ufuncs."""
    if plan.nout > 1:
        function = _of_two_results(plan, plan.nin)
    elif plan.direct:
        function = (_of_one if plan.nin == 1 else _of_two)(plan, plan.call)
    else:
        function = (_by_rules_of_one if plan.nin == 1 else _by_rules_of_two)(plan)
    function.__name__ = function.__qualname__ = plan.name
    function.__module__, function.__doc__ = module, doc
    function.__dict__.update(
        nin=plan.nin, nout=plan.nout, nargs=plan.nin + plan.nout, types=_types(plan), identity=plan.identity, signature=None,
        plan=plan, __wrapped__=_SHAPES[plan.nin, plan.nout])
    function.ntypes = len(function.types)
    for method in (reduce, accumulate, reduceat, outer, at):
        setattr(function, method.__name__, MethodType(method, function))
    return function


_known_types = {}


def _types(plan):
    """NumPy's list of loops, such as "dd->d"."""
    key = plan.loops, plan.results, plan.nin, plan.nout, plan.truth
    if key not in _known_types:
        letters = "?" + NUMBERS_OF_ALL_KINDS if plan.truth else plan.loops
        _known_types[key] = ["%s->%s" % (letter * plan.nin, ("?" if plan.results == "?" else letter) * plan.nout)
                             for letter in letters if letter not in "zU"]
    return _known_types[key]


def reduce(function, array, /, axis=0, dtype=None, out=None, **named):
    """The function applied to the elements along axes (None: all), one after another; keepdims, initial, where as in nd4c.sum.

    >>> nd4c.add.reduce([[1, 2], [3, 4]])
    array([4, 6])
    """
    from nd4c._functions.ufunc_methods import reduced
    return reduced(function, array, axis, dtype, out, **named)


def accumulate(function, array, /, axis=0, dtype=None, out=None):
    """The results of the function along an axis so far: of the first element, of the first two, ...

    >>> nd4c.multiply.accumulate([1, 2, 3])
    array([1, 2, 6])
    """
    from nd4c._functions.ufunc_methods import accumulated
    return accumulated(function, array, axis, dtype, out)


def reduceat(function, array, /, indices, axis=0, dtype=None, out=None):
    """The function applied to slices along an axis, which begin at the indices and end at the next one.

    >>> nd4c.add.reduceat([1, 2, 3, 4], [0, 2])
    array([3, 7])
    """
    from nd4c._functions.ufunc_methods import reduced_at
    return reduced_at(function, array, indices, axis, dtype, out)


def outer(function, A, B, /, **named):
    """The function of every element of A and every element of B; the axes of A come first.

    >>> nd4c.subtract.outer([3, 5], [1, 2])
    array([[2, 1],
           [4, 3]])
    """
    from nd4c._functions.ufunc_methods import outer_of
    return outer_of(function, A, B, **named)


def at(function, a, indices, b=None, /):
    """Applies the function in place to the elements of `a` at the indices; an element that comes twice is changed twice.

    >>> x = nd4c.zeros(3)
    >>> nd4c.add.at(x, [0, 0, 2], 1)
    >>> x
    array([2., 0., 1.])
    """
    global _apply_at
    if _apply_at is None:
        from nd4c._functions.ufunc_methods import apply_at as _apply_at
    return _apply_at(function, a, indices, b)


_apply_at = None  # of a module that imports this one
