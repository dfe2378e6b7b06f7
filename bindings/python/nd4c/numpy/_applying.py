"""Functions of the user's that are called for slices or elements: apply_along_axis, piecewise, vectorize."""
import functools
import re
from itertools import product

from nd4c import _dtypes
from nd4c._creation import asarray
from nd4c._functions.creation import empty, zeros_like
from nd4c._functions.manipulation import (
    broadcast_arrays, broadcast_shapes, broadcast_to, expand_dims, moveaxis, normal_axes, permute_dims)
from nd4c._functions.support import as_array as _as_array, cast as _cast, normalize_axis as _normalize_axis, op as _op


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """What a function makes of each vector along an axis.

    Shapes: the axis becomes those that the function's results have. Dtypes: of the first result. The function is called
    in Python, once for each vector. Errors: AxisError; ValueError if an axis but for the given one is empty.

    >>> np.apply_along_axis(lambda v: v[0] + v[-1], 0, nd4c.asarray([[1, 2], [3, 4], [5, 6]]))
    array([6, 8])
    """
    arr = _as_array(arr, "apply_along_axis")
    axis = _normalize_axis(axis, arr.ndim, "apply_along_axis")
    vectors = moveaxis(arr, axis, -1)
    others = vectors.shape[:-1]
    if 0 in others:
        raise ValueError("apply_along_axis: Cannot apply_along_axis when any iteration dimensions are 0: the shape is %s"
                         % (arr.shape,))
    made = [asarray(func1d(vectors[place], *args, **kwargs)) for place in product(*map(range, others))]
    first = made[0]
    whole = _op("reshape")(_op("stack")(made, 0), others + first.shape)
    if whole.dtype is not first.dtype:
        whole = _op("cast")(whole, first.dtype.number)
    places = list(range(whole.ndim))
    count = len(others)
    return permute_dims(whole, places[:axis] + places[count:] + places[axis:count]) if whole.ndim else whole


def apply_over_axes(func, a, axes):
    """What a function(array, axis) makes of an array, called for one axis after the other.

    Shapes: func keeps the number of axes, or leaves out the axis, which comes back with length 1.
    Dtypes: those of the function's results.
    Errors: ValueError for a result of other axes; AxisError.

    >>> np.apply_over_axes(nd4c.sum, nd4c.ones((2, 3, 4)), [0, 2]).shape
    (1, 3, 1)
    """
    made = _as_array(a, "apply_over_axes")
    ndim = made.ndim
    for axis in normal_axes(axes, ndim, "apply_over_axes", repeated=True):
        result = asarray(func(made, axis))
        if result.ndim != ndim:
            result = expand_dims(result, axis)
            if result.ndim != ndim:
                raise ValueError("apply_over_axes: function is not returning an array of the correct shape: %s"
                                 % (result.shape,))
        made = result
    return made


def piecewise(x, condlist, funclist, *args, **kw):
    """An array whose elements are computed by the function of the last condition that holds for them, or are its number.


    Shapes: conditions have x's shape. One function more than there are conditions is for where none holds; else 0 is
    there.
    Dtypes: x's. Errors: ValueError for other numbers of functions.

    >>> np.piecewise(nd4c.asarray([-2.0, 3.0]), [[True, False]], [lambda v: -v, 7])
    array([2., 7.])
    """
    x = _as_array(x, "piecewise")
    if not _holds_conditions(condlist, x):
        condlist = [condlist]
    conditions = [_as_array(condition, "piecewise") for condition in condlist]
    conditions = [condition if condition.dtype.kind == "b" else condition != 0 for condition in conditions]
    if len(funclist) == len(conditions) + 1:
        held = functools.reduce(lambda a, b: a | b, conditions)
        conditions.append(_op("logical_not")(held))
    elif len(funclist) != len(conditions):
        raise ValueError("piecewise: with %d condition(s), either %d or %d functions are expected, not %d"
                         % (len(conditions), len(conditions), len(conditions) + 1, len(funclist)))
    made = zeros_like(x)
    for condition, function in zip(conditions, funclist):
        if condition.shape != x.shape:
            condition = broadcast_to(condition, x.shape)
        if not callable(function):
            made[condition] = _cast(_as_array(function, "piecewise"), made.dtype)
            continue
        values = x[condition]
        if values.size:
            made[condition] = _cast(_as_array(function(values, *args, **kw), "piecewise"), made.dtype)
    return made


def _holds_conditions(condlist, x):
    """Whether condlist holds conditions, rather than being a single one."""
    if not hasattr(condlist, "__len__") or getattr(condlist, "ndim", 1) == 0 or not len(condlist):
        return False
    return x.ndim == 0 or isinstance(condlist[0], (list, tuple)) or getattr(condlist[0], "ndim", 0) > 0


# -- vectorize -------------------------------------------------------------------------------------------------------

_NO_VALUE = object()


class vectorize:
    """A function of arrays made of one of numbers, which is called in Python for each element, with Python's numbers.

    otypes: dtypes of the results, a text of letters or a list; if they are left out, one call with the first element
    tells them.
    excluded: places and names of arguments that are passed as they are. cache: keeps that first call's result.
    signature: such as "(n),(n)->()": the function gets and gives arrays of those axes. Used as a decorator, too.
    Shapes: those of the arguments broadcast, or as the signature says.
    Dtypes: otypes, or those of the function's results.
    Errors: ValueError for arrays without elements and without otypes; TypeError for other numbers of arguments.

    >>> np.vectorize(lambda a, b: a if a > b else b)([1, 5, 2], 3)
    array([3, 5, 3])
    """

    def __init__(self, pyfunc=_NO_VALUE, otypes=None, doc=None, excluded=None, cache=False, signature=None):
        if pyfunc is not _NO_VALUE and not callable(pyfunc):
            raise TypeError("vectorize: When used as a decorator, only accepts keyword arguments. pyfunc is a %s"
                            % type(pyfunc).__name__)
        self.pyfunc, self.cache, self.signature, self._doc = pyfunc, cache, signature, doc
        self.otypes = _result_dtypes(otypes)
        self.excluded = set() if excluded is None else set(excluded)
        self._axes = None if signature is None else _core_axes(signature)
        if pyfunc is not _NO_VALUE:
            self._adopt(pyfunc)

    def _adopt(self, pyfunc):
        self.pyfunc = pyfunc
        self.__name__ = getattr(pyfunc, "__name__", type(pyfunc).__name__)
        self.__doc__ = pyfunc.__doc__ if self._doc is None else self._doc

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args, **kwargs):
        if self.pyfunc is _NO_VALUE:
            self._adopt(args[0])
            return self
        names = [name for name in kwargs if name not in self.excluded]
        places = [place for place in range(len(args)) if place not in self.excluded]
        given, named = list(args), dict(kwargs)

        def call(*values):
            for place, value in zip(places, values):
                given[place] = value
            named.update(zip(names, values[len(places):]))
            return self.pyfunc(*given, **named)
        varied = [args[place] for place in places] + [kwargs[name] for name in names]
        arrays = [_as_array(one, "vectorize") for one in varied]
        if not arrays:
            return self._wrapped(call())
        return self._over_elements(call, arrays) if self._axes is None else self._over_slices(call, arrays)

    def _wrapped(self, result):
        return tuple(asarray(one) for one in result) if type(result) is tuple else asarray(result)

    def _over_elements(self, call, arrays):
        """Results of the function for each element, in lists that become arrays."""
        spread = broadcast_arrays(*arrays)
        shape = spread[0].shape
        rows = zip(*[_op("reshape")(one, (one.size,)).tolist() for one in spread]) if spread[0].size else ()
        if not spread[0].size and self.otypes is None:
            raise ValueError("vectorize: cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        results = [call(*row) for row in rows]
        return self._gathered(results, shape, {array.dtype for array in arrays})

    def _gathered(self, results, shape, given):
        several = type(results[0]) is tuple if results else len(self.otypes) > 1
        if several:
            columns = list(zip(*results)) if results else [[] for _ in self.otypes]
        else:
            columns = [results]
        dtypes = self.otypes or [None] * len(columns)
        if len(dtypes) != len(columns):
            raise ValueError("vectorize: the function gives %d results, otypes names %d" % (len(columns), len(dtypes)))
        made = []
        for column, dtype in zip(columns, dtypes):
            if not column:
                flat = empty((0,), dtype)
            else:
                flat = _in_dtype(column, given) if dtype is None else asarray(list(column), dtype)
            made.append(_op("reshape")(flat, shape))
        return tuple(made) if several else made[0]

    def _over_slices(self, call, arrays):
        """Results of the function for each slice of the signature's axes, stacked."""
        inputs, outputs = self._axes
        if len(arrays) != len(inputs):
            raise TypeError("vectorize: wrong number of positional arguments: expected %d, got %d"
                            % (len(inputs), len(arrays)))
        sizes, loops = {}, []
        for array, names in zip(arrays, inputs):
            if array.ndim < len(names):
                raise ValueError("vectorize: %d-dimensional argument does not have enough dimensions for all core "
                                 "dimensions %s"
                                 % (array.ndim, names))
            cut = array.ndim - len(names)
            loops.append(array.shape[:cut])
            _same_sizes(sizes, names, array.shape[cut:])
        loop = broadcast_shapes(*loops)
        spread = [broadcast_to(array, loop + array.shape[len(own):]) for array, own in zip(arrays, loops)]
        results = [call(*[one[place] for one in spread]) for place in product(*map(range, loop))]
        several = len(outputs) > 1
        if not results:
            return self._of_no_slices(loop, outputs, sizes)
        if not several and type(results[0]) is tuple:
            raise ValueError("vectorize: wrong number of outputs from pyfunc: expected 1, got %d" % len(results[0]))
        rows = results if several else [(result,) for result in results]
        for row in rows:
            if several and (type(row) is not tuple or len(row) != len(outputs)):
                raise ValueError("vectorize: wrong number of outputs from pyfunc: expected %d, got %r"
                                 % (len(outputs), len(row) if type(row) is tuple else 1))
        dtypes = self.otypes or [None] * len(outputs)
        made = []
        for column, names, dtype in zip(zip(*rows), outputs, dtypes):
            parts = [asarray(one, dtype) for one in column]
            for part in parts:
                if part.ndim != len(names):
                    raise ValueError("vectorize: the function gives %d axes, the signature says %d, %s"
                                     % (part.ndim, len(names), names))
                _same_sizes(sizes, names, part.shape)
            whole = _op("stack")(parts, 0)
            whole = whole if whole.dtype is parts[0].dtype else _op("cast")(whole, parts[0].dtype.number)
            made.append(_op("reshape")(whole, loop + parts[0].shape))
        return tuple(made) if several else made[0]

    def _of_no_slices(self, loop, outputs, sizes):
        if self.otypes is None:
            raise ValueError("vectorize: cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        if any(name not in sizes for names in outputs for name in names):
            raise ValueError("vectorize: cannot call `vectorize` with a signature including new output dimensions on size 0 "
                             "inputs")
        made = [empty(loop + tuple(sizes[name] for name in names), dtype) for names, dtype in zip(outputs, self.otypes)]
        return tuple(made) if len(made) > 1 else made[0]


def _in_dtype(column, given):
    """An array of a function's results in the dtype of the first. Python numbers of the kind of the arrays given take
    their dtype if it holds them, as numbers beside arrays do."""
    first = asarray(column[0])
    if type(column[0]) in (int, float, complex) and len(given) == 1:
        own = next(iter(given))
        if own.kind in {"i": "iu", "f": "f", "c": "c"}[first.dtype.kind]:
            try:
                return asarray(list(column), own)
            except OverflowError:
                pass
    return asarray(list(column), first.dtype)


def _result_dtypes(otypes):
    if otypes is None:
        return None
    if not isinstance(otypes, str) and not hasattr(otypes, "__iter__"):
        raise ValueError("vectorize: Invalid otype specification: %r; it is a text of letters or a list of dtypes"
                         % (otypes,))
    try:
        return [_dtypes.of(one) for one in otypes]
    except TypeError as error:
        raise ValueError("vectorize: Invalid otype specified: %s" % error) from None


def _core_axes(signature):
    """The names of the axes of each input and each output of a signature such as "(m,n),(n)->(m)"."""
    shape = r"\((?:\s*\w+\s*(?:,\s*\w+\s*)*)?\)"
    if not re.fullmatch(r"\s*(?:{0}(?:\s*,\s*{0})*)\s*->\s*(?:{0}(?:\s*,\s*{0})*)\s*".format(shape), signature):
        raise ValueError("vectorize: not a valid gufunc signature: %s" % signature)
    return tuple([tuple(re.findall(r"\w+", one)) for one in re.findall(shape, side)] for side in signature.split("->"))


def _same_sizes(sizes, names, shape):
    for name, extent in zip(names, shape):
        if sizes.setdefault(name, extent) != extent:
            raise ValueError("vectorize: inconsistent size for core dimension %r: %d vs %d"
                             % (name, extent, sizes[name]))
