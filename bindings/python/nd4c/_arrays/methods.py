"""Methods and attributes of arrays that NumPy's arrays have beyond the standard: existing code calls x.sum(axis=0), SciPy among it.

Methods that are functions of NumPy's namespace with the array as first argument come from a table; those with an effect on the
array, and attributes, are written out. _arrays/flat.py and _arrays/layout.py have the objects that x.flat, x.flags and x.ctypes are."""
import sys

from nd4c import _creation, _dtypes, _memory
from nd4c._core import Array, core
from nd4c._functions.support import as_array, cast, castable, normalize_axis, op

# Two lines a method: name | summary; an example after "x." -> its result, where x is the array [[3, 1, 2], [6, 4, 5]].
_FUNCTIONS = r"""
all | Whether all elements along axes are true.
    all() -> array(True)
any | Whether some element along axes is true.
    any(axis=0) -> array([ True,  True,  True])
argmax | Where the first greatest element along an axis is.
    argmax(1) -> array([0, 0])
argmin | Where the first least element along an axis is.
    argmin(1) -> array([1, 1])
argpartition | The indices that partition along an axis.
    argpartition(1)[:, 1] -> array([2, 2])
argsort | The indices that sort along an axis.
    argsort() -> array([[1, 2, 0],\n       [1, 2, 0]])
choose | The elements of one of several arrays, which x has the numbers of.
    clip(0, 1).choose([7, 8]) -> array([[8, 8, 8],\n       [8, 8, 8]])
clip | The elements within bounds.
    clip(2, 4) -> array([[3, 2, 2],\n       [4, 4, 4]])
conj | Complex conjugates.
    conj()[0] -> array([3, 1, 2])
conjugate | Complex conjugates.
    conjugate()[0] -> array([3, 1, 2])
cumprod | Products of the elements so far along an axis.
    cumprod(axis=1) -> array([[  3,   3,   6],\n       [  6,  24, 120]])
cumsum | Sums of the elements so far along an axis.
    cumsum() -> array([ 3,  4,  6, 12, 16, 21])
diagonal | The diagonal of two axes, a view.
    diagonal() -> array([3, 4])
dot | The product of matrices, or of the last axis and the other's last but one.
    dot([1, 0, 1]) -> array([ 5, 11])
max | The greatest element along axes.
    max(axis=1) -> array([3, 6])
mean | The mean along axes.
    mean(axis=1) -> array([2., 5.])
min | The least element along axes.
    min(axis=1) -> array([1, 4])
nonzero | The indices of elements that are not 0, an array an axis.
    nonzero()[1] -> array([0, 1, 2, 0, 1, 2])
prod | The product along axes.
    prod(axis=0) -> array([18,  4, 10])
ravel | The elements in one axis, a view where that is possible.
    ravel() -> array([3, 1, 2, 6, 4, 5])
repeat | Each element several times.
    repeat(2, axis=0).shape -> (4, 3)
round | Rounded to a number of decimals.
    round(1)[0] -> array([3, 1, 2])
searchsorted | Where values go into a sorted array.
    ravel().searchsorted([4]) -> array([3])
squeeze | A view without the axes of length 1.
    squeeze().shape -> (2, 3)
std | The standard deviation along axes.
    std() -> array(1.70782513)
sum | The sum along axes.
    sum(axis=0) -> array([9, 5, 7])
swapaxes | A view with two axes exchanged.
    swapaxes(0, 1).shape -> (3, 2)
take | The elements at indices along an axis.
    take([0, 2], axis=1) -> array([[3, 2],\n       [6, 5]])
trace | The sum of the diagonal.
    trace() -> array(7)
var | The variance along axes.
    var() -> array(2.91666667)
"""


def _function(name):
    """The function of the namespace; NumPy's where the standard has none."""
    return getattr(sys.modules["nd4c"], name)


def _method(name, summary, example, result):
    function = None  # until the namespace is complete

    def method(self, *arguments, **named):
        nonlocal function
        if function is None:
            function = _function(name)
        return function(self, *arguments, **named)
    method.__name__, method.__qualname__ = name, "Array." + name
    method.__doc__ = """%s

    As nd4c.%s(x, ...), whose other arguments it takes.

    >>> x = nd4c.asarray([[3, 1, 2], [6, 4, 5]])
    >>> x.%s
    %s
    """ % (summary, name, example, result.replace(r"\n", "\n    "))
    return method


# -- other dtypes, shapes and layouts --------------------------------------------------------------------------------

def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """The elements in another dtype; copy=False gives the array itself where nothing changes.

    Shapes: any; the result has the same. order "F" gives a transposed layout.
    Dtypes: all to all.
    Errors: TypeError if the rule `casting` forbids the cast.

    >>> nd4c.asarray([1.5, -2.5]).astype(int)
    array([ 1, -2])
    """
    wanted = _dtypes.of(dtype)
    if casting != "unsafe" and not castable(self.dtype, wanted, casting):
        raise TypeError("astype: Cannot cast array data from %s to %s according to the rule %r" % (self.dtype, wanted, casting))
    result = _function("astype")(self, wanted, copy=copy)
    return _laid_out(result, order) if order == "F" else result


def _laid_out(array, order):
    """The array, or for the order "F" one whose transposed is C-contiguous."""
    if order != "F" or array.ndim < 2:
        return array
    return op("transpose")(op("copy")(op("transpose")(array, None)), None)


def reshape(self, *shape, order="C", copy=None):
    """The elements in another shape, given as one tuple or as several numbers; a view where that is possible.

    Shapes: any; the result as asked for.
    Dtypes: all; the result has the same.
    Errors: ValueError for a shape of another size.

    >>> nd4c.arange(6).reshape(2, -1)
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    if len(shape) == 1 and not hasattr(shape[0], "__index__"):
        shape = self.shape if shape[0] is None else shape[0]
    if not shape and self.size != 1:
        raise ValueError("reshape: cannot reshape an array of %d elements into the shape ()" % self.size)
    reshaped = _function("reshape")
    return reshaped(self, tuple(shape), copy=copy) if order == "C" else reshaped(self, tuple(shape), order=order, copy=copy)


def flatten(self, order="C"):
    """A copy with one axis.

    Shapes: any; the result has one axis.
    Dtypes: all; the result has the same.
    Errors: ValueError for another order.

    >>> nd4c.asarray([[1, 2], [3, 4]]).flatten()
    array([1, 2, 3, 4])
    """
    return _creation.copied(_function("ravel")(self, order if order == "C" else _creation.check_order(order, "flatten")))


def copy(self, order="C"):
    """A copy with separate memory.

    Shapes: any; the result has the same.
    Dtypes: all; the result has the same.
    Errors: none.

    >>> x = nd4c.zeros(2)
    >>> y = x.copy()
    >>> y[0] = 1
    >>> x
    array([0., 0.])
    """
    if order in ("A", "K") and self.ndim > 1 and self.flags.fnc:
        order = "F"
    return _laid_out(self.__copy__(), order)


def transpose(self, *axes):
    """A view with its axes in another order, given as one tuple or as several numbers; without any, in the reverse one.

    Shapes: any; the result as asked for.
    Dtypes: all; the result has the same.
    Errors: ValueError if axes does not name each axis once.

    >>> nd4c.zeros((2, 3, 4)).transpose(1, 0, 2).shape
    (3, 2, 4)
    """
    if len(axes) == 1 and (axes[0] is None or not hasattr(axes[0], "__index__")):
        axes = () if axes[0] is None else tuple(axes[0])
        if not axes and not self.ndim:
            return op("transpose")(self, None)
    elif not axes:
        return op("transpose")(self, None)
    if len(axes) != self.ndim:
        raise ValueError("transpose: axes don't match array: %r for %d axes" % (axes, self.ndim))
    places = tuple([normalize_axis(axis, self.ndim, "transpose") for axis in axes])
    if len(set(places)) != len(places):
        raise ValueError("transpose: repeated axis in transpose: %r" % (axes,))
    return op("transpose")(self, places)


def view(self, dtype=None, type=None):
    """A view of the same memory, whose bytes are taken as another dtype.

    Shapes: the last axis changes its length where the elements have another size.
    Dtypes: all but texts.
    Errors: ValueError if the last axis is not contiguous, or its bytes are no whole number of elements.

    >>> nd4c.asarray([1.0], dtype="float32").view("int32")
    array([1065353216], dtype=int32)
    """
    if isinstance(dtype, (int, tuple)):
        extents = dtype if isinstance(dtype, tuple) else (dtype,) if type is None else (dtype, type)
        extents = ", ".join(map(repr, extents))
        raise TypeError("view: expected a dtype, got %s; another shape gives x.reshape(%s)" % (extents, extents))
    if dtype is Array:
        dtype = None
    if type is not None and type is not Array:
        raise TypeError("view: nd4c.Array has no subclasses; type is %r" % (type,))
    if dtype is None:
        return self[...]
    return _memory_view(self, _dtypes.of(dtype))


def _no_reinterpret(array, wanted):
    return None


# An array over the same memory whose bytes are taken as another DType; None where the long way has to judge: for memory
# that is not in C order or not the host's, and for bytes that are no whole number of elements. The core of ctypes has
# the long way alone.
reinterpret = getattr(core, "reinterpret", _no_reinterpret)


def _memory_view(array, wanted):
    """Memory as another dtype."""
    own = array.dtype
    if own is wanted:
        return array[...]
    seen = reinterpret(array, wanted)
    if seen is not None:
        return seen
    if not own.itemsize or not wanted.itemsize or "U" in (own.kind, wanted.kind):
        raise TypeError("view: the memory of %s cannot be seen as %s" % (own, wanted))
    shape, strides = list(array.shape), list(_memory.strides(array))
    if own.itemsize != wanted.itemsize:
        if not shape:
            raise ValueError("view: changing the dtype of a 0d array is only supported if the itemsize is unchanged")
        if shape[-1] != 1 and strides[-1] != 1 and array.size:
            raise ValueError("view: to change to a dtype of a different size, the last axis must be contiguous")
        size = shape[-1] * own.itemsize
        if size % wanted.itemsize:
            raise ValueError("view: when changing to a larger dtype, its size must be a divisor of the total size in bytes of the "
                             "last axis of the array")
        shape[-1], strides[-1] = size // wanted.itemsize, 1
        last = strides.pop()
        scaled = [stride * own.itemsize for stride in strides]
        if any(stride % wanted.itemsize for stride in scaled):
            raise ValueError("view: the strides of the array are no whole numbers of %s" % wanted)
        strides = [stride // wanted.itemsize for stride in scaled] + [last]
    return _memory.wrap(_memory.address(array), tuple(shape), strides, wanted, _memory.is_read_only(array), array)


def byteswap(self, inplace=False):
    """The elements with their bytes in the reverse order.

    Shapes: any; the result has the same.
    Dtypes: all; the result has the same.
    Errors: none.

    >>> nd4c.asarray([1, 256], dtype="uint16").byteswap()
    array([256,   1], dtype=uint16)
    """
    part = self.dtype.itemsize // 2 if self.dtype.kind == "c" else self.dtype.itemsize
    if not part:
        raise TypeError("byteswap: elements of %s have no bytes of their own" % self.dtype)
    plain = op("copy")(self)
    raw = op("reshape")(plain, (-1, 1)).view("uint8") if plain.size else plain
    if plain.size:
        turned = op("flip")(op("reshape")(raw, (-1, part)), (1,))
        plain = op("reshape")(op("reshape")(op("copy")(turned), (-1, self.dtype.itemsize)).view(self.dtype), self.shape)
    if inplace:
        self[...] = plain
        return self
    return plain


# -- elements --------------------------------------------------------------------------------------------------------

def item(self, *args):
    """An element as a Python number or text: of the only one, or at a place that is counted in C order or has an index an axis.

    Shapes: one element, or any with an index.
    Dtypes: all; the result is Python's number or str.
    Errors: ValueError without a place if there are several elements; IndexError for places outside.

    >>> nd4c.asarray([[1, 2], [3, 4]]).item(2)
    3
    """
    if not args:
        if self.size != 1:
            raise ValueError("item: can only convert an array of size 1 to a Python scalar; this one has %d elements" % self.size)
        return _first(self)
    if len(args) == 1 and isinstance(args[0], tuple):
        args = args[0]
    if len(args) == 1 and self.ndim != 1:
        place = normalize_place(args[0], self.size, "item")
        args = []
        for extent in reversed(self.shape):
            args.insert(0, place % extent)
            place //= extent
    if len(args) != self.ndim:
        raise ValueError("item: incorrect number of indices for array: %d for %d axes" % (len(args), self.ndim))
    return _first(self[tuple([normalize_place(one, extent, "item") for one, extent in zip(args, self.shape)])])


def normalize_place(place, extent, where):
    """A place counted from the front."""
    try:
        index = place.__index__()
    except AttributeError:
        raise TypeError("%s: expected integers as places, got %s" % (where, type(place).__name__)) from None
    if not -extent <= index < extent:
        raise IndexError("%s: index %d is out of bounds for size %d" % (where, index, extent))
    return index + extent if index < 0 else index


def _first(array):
    from nd4c._arrays.array import only_element
    return only_element(array)


def fill(self, value, /):
    """Writes one value into all elements, cast as assignment does.

    Shapes: any; the value has one element.
    Dtypes: all; the value is converted.
    Errors: ValueError for an array that is read-only.

    >>> x = nd4c.zeros(3)
    >>> x.fill(2)
    >>> x
    array([2., 2., 2.])
    """
    value = as_array(value, "fill")
    if value.size != 1:
        raise ValueError("fill: expected one value, got an array of the shape %s" % (value.shape,))
    self[...] = cast(op("reshape")(value, ()), self.dtype)


def put(self, indices, values, /, mode="raise"):
    """Writes values at places that are counted in C order.

    Shapes: any; places count elements in C order.
    Dtypes: all; values are converted.
    Errors: IndexError for a place out of range.

    >>> x = nd4c.zeros(4)
    >>> x.put([0, 2], [1, 5])
    >>> x
    array([1., 0., 5., 0.])
    """
    _function("put")(self, indices, values, mode)


def compress(self, condition, axis=None, out=None):
    """The slices along an axis where a condition holds.

    Shapes: condition has one axis; the result has as many places on the axis as it has true elements.
    Dtypes: all; the result has the same.
    Errors: AxisError for an axis out of range.

    >>> nd4c.asarray([1, 2, 3]).compress([True, False, True])
    array([1, 3])
    """
    return _function("compress")(condition, self, axis, out)


def sort(self, axis=-1, kind=None, order=None, *, stable=None):
    """Sorts the array itself along an axis, stably.

    Shapes: one axis or more.
    Dtypes: all but texts.
    Errors: AxisError if the axis is out of range; ValueError if the array is read-only.

    >>> x = nd4c.asarray([3, 1, 2])
    >>> x.sort()
    >>> x
    array([1, 2, 3])
    """
    _writable(self, "sort")
    axis = normalize_axis(axis, self.ndim, "sort")
    if order is not None:
        raise ValueError("sort: order names fields, which no dtype of nd4c has")
    self[...] = _numpy("sort")(self, axis, kind)


def _numpy(name):
    return getattr(sys.modules["nd4c"].numpy, name)


def partition(self, kth, axis=-1, kind="introselect", order=None):
    """Partitions the array itself: the element that sorting puts at kth is there, lesser ones before it, others behind it.

    Shapes: one axis or more.
    Dtypes: all but texts.
    Errors: ValueError for a kth out of range; AxisError for an axis out of range.

    >>> x = nd4c.asarray([3, 1, 2])
    >>> x.partition(1)
    >>> x[1]
    array(2)
    """
    _writable(self, "partition")
    self[...] = _numpy("partition")(self, kth, axis, kind, order)


def _writable(array, where):
    if _memory.is_read_only(array):
        raise ValueError("%s: the array is read-only" % where)


def resize(self, *new_shape, refcheck=True):
    """Nothing but the array's own shape: arrays of nd4c do not change their size.

    Shapes: any.
    Dtypes: all.
    Errors: ValueError for another shape; nd4c.numpy.resize(x, shape) makes a new array.

    >>> nd4c.zeros(3).resize(3)
    """
    if len(new_shape) == 1 and not hasattr(new_shape[0], "__index__"):
        new_shape = self.shape if new_shape[0] is None else tuple(new_shape[0])
    if new_shape and tuple(new_shape) != self.shape:
        raise ValueError("resize: arrays of nd4c do not change their size; nd4c.numpy.resize(x, %r) makes a new one"
                         % (tuple(new_shape),))


# -- bytes and files -------------------------------------------------------------------------------------------------

def tobytes(self, order="C"):
    """The bytes of all elements in C order; "F": with the first axis running fastest.

    Shapes: any.
    Dtypes: all.
    Errors: OSError where a file cannot be written.

    >>> nd4c.asarray([1, 2], dtype="uint8").tobytes()
    b'\\x01\\x02'
    """
    if order == "F" or (order == "A" and self.flags.fnc):
        self = op("transpose")(self, None)
    if self.dtype.kind == "U":
        raise TypeError("tobytes: texts have no fixed number of bytes; tolist() gives them")
    cell, count = _memory.read(self)
    return cell.raw[:count]


def tofile(self, fid, /, sep="", format="%s"):
    """Writes the elements into a file or an open file object: as bytes, or as texts with `sep` between them.

    Shapes: any.
    Dtypes: all.
    Errors: OSError where a file cannot be written.

    >>> import io
    >>> file = io.BytesIO()
    >>> nd4c.asarray([1, 2], dtype="uint8").tofile(file)
    >>> file.getvalue()
    b'\\x01\\x02'
    """
    content = self.tobytes() if sep == "" else sep.join([format % one for one in self.ravel().tolist()]).encode()
    if hasattr(fid, "write"):
        fid.write(content)
    else:
        with open(fid, "wb") as file:
            file.write(content)


def dump(self, file, /):
    """Pickles the array into a file, given by its path or open; pickle.load reads it.

    Shapes: any.
    Dtypes: all.
    Errors: OSError where a file cannot be written.

    >>> import io, pickle
    >>> file = io.BytesIO()
    >>> nd4c.asarray([1, 2]).dump(file)
    >>> pickle.loads(file.getvalue())
    array([1, 2])
    """
    content = self.dumps()
    if hasattr(file, "write"):
        file.write(content)
    else:
        with open(file, "wb") as opened:
            opened.write(content)


def to_numpy(self):
    """NumPy's array over the same memory, as numpy.asarray(x) gives it; other libraries ask for it by this name.

    Shapes: any; the result has the same.
    Dtypes: all that NumPy has.
    Errors: ImportError without NumPy.

    >>> nd4c.zeros(2).to_numpy()
    array([0., 0.])
    """
    return self.__array__()


def dumps(self):
    """The array pickled as bytes.

    Shapes: any.
    Dtypes: all.
    Errors: OSError where a file cannot be written.

    >>> import pickle
    >>> pickle.loads(nd4c.asarray([1, 2]).dumps())
    array([1, 2])
    """
    import pickle
    return pickle.dumps(self, protocol=2)


# -- attributes ------------------------------------------------------------------------------------------------------

def _part(array, which):
    """A view of the real or the imaginary parts; of arrays that are not on the host, a copy."""
    real = _dtypes.by_name["float32" if array.dtype.bits == 64 else "float64"]
    if not str(array.device).startswith("cpu"):
        return op("imag" if which else "real")(array)
    strides = [2 * stride for stride in _memory.strides(array)]
    address = _memory.address(array) + which * real.itemsize if array.size else 0
    return _memory.wrap(address, array.shape, strides, real, _memory.is_read_only(array), array) if array.size else (
        core.empty(array.shape, real, None))


def _real(self):
    """The real parts, a view; of real arrays, the array itself."""
    return _part(self, 0) if self.dtype.kind == "c" else self[...]


def _set_real(self, value):
    (_part(self, 0) if self.dtype.kind == "c" else self)[...] = value


def _imag(self):
    """The imaginary parts, a view; of real arrays, zeros."""
    return _part(self, 1) if self.dtype.kind == "c" else _function("imag")(self)


def _set_imag(self, value):
    if self.dtype.kind != "c":
        raise TypeError("x.imag: an array of %s has no imaginary part that can be set" % self.dtype)
    _part(self, 1)[...] = value


def _flat(self):
    """The elements in C order, as x.flat[3], x.flat[2:4] = 0, or in a loop."""
    from nd4c._arrays.flat import Flat
    return Flat(self)


def _set_flat(self, values):
    _flat(self)[:] = values


def _flags(self):
    """How the memory is laid out: x.flags.c_contiguous, x.flags["WRITEABLE"], ..."""
    from nd4c._arrays.layout import Flags
    return Flags(self)


def _ctypes(self):
    """The memory for ctypes: x.ctypes.data is the address, x.ctypes.data_as(type) a pointer."""
    from nd4c._arrays.layout import Ctypes
    return Ctypes(self)


def setflags(self, write=None, align=None, uic=None):
    """Accepts the flags that the array has; nd4c cannot change them.

    Shapes: any.
    Dtypes: all.
    Errors: ValueError for other flags; nd4c.numpy.broadcast_to(x, x.shape) is a read-only view.

    >>> nd4c.zeros(2).setflags(write=True)
    """
    writeable = not _memory.is_read_only(self)
    if uic or align not in (None, True, 1) or (write is not None and bool(write) != writeable):
        raise ValueError("setflags: cannot set WRITEABLE flag to %s: arrays are read-only where their memory is, and writeable "
                         "elsewhere" % bool(write))


_WRITTEN = (astype, reshape, flatten, copy, transpose, view, byteswap, item, fill, put, compress, sort, partition, resize,
            tobytes, tofile, dump, dumps, to_numpy, setflags)
_PROPERTIES = {
    "T": property(lambda self: op("transpose")(self, None), doc="The axes in the reverse order, a view."),
    "real": property(_real, _set_real), "imag": property(_imag, _set_imag), "flat": property(_flat, _set_flat),
    "flags": property(_flags), "ctypes": property(_ctypes),
    "itemsize": property(lambda self: self.dtype.itemsize, doc="Bytes an element takes."),
    "base": property(lambda self: None, doc="None: nd4c does not tell which array a view is of; numpy.shares_memory compares."),
    "data": property(lambda self: memoryview(_memory.buffer(self)), doc="The memory as a memoryview."),
}


def _divided(self, other):
    return _numpy("divmod")(self, other)


def _divides(self, other):
    return _numpy("divmod")(other, self)


def _rounded(self, ndigits=None):
    """round(x, 2): rounded to a number of decimals."""
    return _function("round")(self, ndigits or 0)


def _class_item(cls, key):
    """nd4c.Array[shape, dtype] in annotations: a generic alias."""
    import types
    return types.GenericAlias(cls, key)


def attach():
    """Gives the core's Array class its methods and attributes."""
    lines = _FUNCTIONS.strip().split("\n")
    for head, example in zip(lines[::2], lines[1::2]):
        name, _, summary = head.partition(" | ")
        call, _, result = example.strip().partition(" -> ")
        setattr(Array, name, _method(name, summary, call, result))
    for function in _WRITTEN:
        function.__qualname__ = "Array." + function.__name__
        setattr(Array, function.__name__, function)
    for name, value in _PROPERTIES.items():
        setattr(Array, name, value)
    for name, function in (("__divmod__", _divided), ("__rdivmod__", _divides), ("__round__", _rounded)):
        function.__name__ = name
        setattr(Array, name, function)
    Array.__class_getitem__ = classmethod(_class_item)
    Array.__array_priority__ = 1.0


attach()
