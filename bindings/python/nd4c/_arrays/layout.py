"""x.flags and x.ctypes: how the memory of an array is laid out. _arrays/methods.py makes one for each use."""
import ctypes

from nd4c import _memory

_NAMES = {"C_CONTIGUOUS": "c_contiguous", "C": "c_contiguous", "CONTIGUOUS": "c_contiguous", "F_CONTIGUOUS": "f_contiguous",
          "FORTRAN": "f_contiguous", "F": "f_contiguous", "WRITEABLE": "writeable", "W": "writeable", "ALIGNED": "aligned",
          "A": "aligned", "OWNDATA": "owndata", "O": "owndata", "WRITEBACKIFCOPY": "writebackifcopy", "X": "writebackifcopy",
          "FNC": "fnc", "FORC": "forc", "BEHAVED": "behaved", "B": "behaved", "CARRAY": "carray", "CA": "carray",
          "FARRAY": "farray", "FA": "farray"}


class Flags:
    """The flags of an array, as NumPy's: attributes in lower case, keys in upper case.

    >>> nd4c.zeros((2, 3)).T.flags.f_contiguous, nd4c.zeros(2).flags["WRITEABLE"]
    (True, True)
    """

    def __init__(self, array):
        object.__setattr__(self, "_array", array)

    c_contiguous = contiguous = property(lambda self: _memory.is_contiguous(self._array), doc="Rows lie one after another.")
    writeable = property(lambda self: not _memory.is_read_only(self._array), doc="The memory may be written.")
    aligned = property(lambda self: True, doc="Elements lie where the processor wants them.")
    owndata = property(lambda self: _memory.is_contiguous(self._array) and not _memory.is_read_only(self._array),
                       doc="False for arrays that surely see another one's memory.")
    writebackifcopy = property(lambda self: False, doc="No array of nd4c writes back.")
    forc = property(lambda self: self.c_contiguous or self.f_contiguous, doc="Contiguous in one of the two orders.")
    fnc = property(lambda self: self.f_contiguous and not self.c_contiguous, doc="Contiguous by columns, not by rows.")
    behaved = property(lambda self: self.writeable, doc="Aligned and writeable.")
    carray = property(lambda self: self.writeable and self.c_contiguous, doc="Behaved and contiguous by rows.")
    farray = property(lambda self: self.writeable and self.fnc, doc="Behaved and contiguous by columns alone.")

    @property
    def f_contiguous(self):
        """Columns lie one after another."""
        expected, array = 1, self._array
        if not array.size:
            return True
        for extent, stride in zip(array.shape, _memory.strides(array)):
            if extent != 1 and stride != expected:
                return False
            expected *= extent
        return True

    fortran = f_contiguous

    @property
    def num(self):
        """The flags as NumPy's bits."""
        return (self.c_contiguous + 2 * self.f_contiguous + 4 * self.owndata + 0x100 * self.aligned + 0x400 * self.writeable)

    def __getitem__(self, key):
        if key not in _NAMES:
            raise KeyError("flags: no flag %r; there are %s" % (key, ", ".join(_NAMES)))
        return getattr(self, _NAMES[key])

    def __setitem__(self, key, value):
        self.__setattr__(_NAMES.get(key, key), value)

    def __setattr__(self, name, value):
        if name != "writeable":
            raise AttributeError("flags: %s cannot be set" % name)
        self._array.setflags(write=value)

    def __eq__(self, other):
        return type(other) is Flags and self.num == other.num

    __hash__ = None

    def __repr__(self):
        return "\n".join("  %s : %s" % (name, self[name]) for name in (
            "C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY"))


class Ctypes:
    """The memory of an array for functions that ctypes calls.

    >>> import ctypes
    >>> x = nd4c.asarray([1.5, 2.5])
    >>> x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[1]
    2.5
    """

    def __init__(self, array):
        self._array = array

    data = property(lambda self: _memory.address(self._array), doc="The address of the first element.")
    shape = property(lambda self: self.shape_as(ctypes.c_ssize_t), doc="The extents, as c_ssize_t.")
    strides = property(lambda self: self.strides_as(ctypes.c_ssize_t), doc="The strides in bytes, as c_ssize_t.")
    _as_parameter_ = property(lambda self: ctypes.c_void_p(self.data))

    def data_as(self, obj):
        """The address as a pointer type of ctypes; the pointer keeps the array."""
        pointer = ctypes.cast(self._as_parameter_, obj)
        pointer._array = self._array
        return pointer

    def shape_as(self, obj):
        """The extents as a ctypes array of a type."""
        return (obj * self._array.ndim)(*self._array.shape)

    def strides_as(self, obj):
        """The strides in bytes as a ctypes array of a type."""
        return (obj * self._array.ndim)(*_memory.byte_strides(self._array))
