"""The class Polynomial: a power series with the interval on which it was fitted."""
from nd4c._creation import asarray
from nd4c._functions.creation import linspace
from nd4c._functions.matrices import inexact
from nd4c._functions.support import as_array, op
from nd4c.numpy.polynomial import polynomial as functions


class Polynomial:
    """A power series: coef with the lowest power first, of x mapped from `domain` to `window` (both [-1, 1] at first).

    It is called with x, added, multiplied, divided, raised to powers, integrated; fit() and fromroots() make one.
    Shapes: one axis of coefficients, the lowest power first.
    Dtypes: numbers; integers become float64.
    Errors: TypeError if two series of different domain, window or symbol are combined.

    >>> p = np.polynomial.Polynomial([1, 2, 3])
    >>> p(2)
    array(17.)
    >>> p.deriv().coef
    array([2., 6.])
    """

    domain = window = asarray([-1.0, 1.0])
    __hash__ = None

    def __init__(self, coef, domain=None, window=None, symbol="x"):
        coef = inexact(coef, "Polynomial")
        if coef.ndim > 1 or not coef.size:
            raise ValueError("Polynomial: the coefficients have the shape %s (Coefficient array is not 1-d, or empty)"
                             % (coef.shape,))
        self.coef = op("reshape")(coef, (coef.size,))
        for name, value in (("domain", domain), ("window", window)):
            if value is not None:
                value = inexact(value, "Polynomial")
                if value.shape != (2,):
                    raise ValueError("Polynomial: %s has the wrong number of elements, shape %s" % (name, value.shape))
                setattr(self, name, value)
        if not isinstance(symbol, str) or not symbol.isidentifier():
            raise ValueError("Polynomial: symbol is %r; Symbol string must be a valid Python identifier" % (symbol,))
        self._symbol = symbol

    symbol = property(lambda self: self._symbol, doc="The letter in print.")

    # -- made of points, roots, powers -------------------------------------------------------------------------------

    @classmethod
    def fit(cls, x, y, deg, domain=None, rcond=None, full=False, w=None, window=None, symbol="x"):
        """The series that fits points best, by least squares; domain: by default from the least x to the largest.

        Shapes: vectors.
        Dtypes: numbers; the coefficients are float64 or complex128.
        Errors: TypeError for texts; ValueError for a negative degree or number of points.

        >>> np.round(np.polynomial.Polynomial.fit([0, 1, 2], [1, 3, 5], 1).convert().coef, 8)
        array([1., 2.])
        """
        x = inexact(x, "Polynomial.fit")
        window = cls.window if window is None else inexact(window, "Polynomial.fit")
        if domain is None:
            ends = [float(op(name)(x, None, False)) for name in ("min", "max")]
            domain = asarray(ends if ends[0] < ends[1] else [ends[0] - 1.0, ends[1] + 1.0])
        elif isinstance(domain, list) and not domain:
            domain = cls.domain
        offset, scale = _map(inexact(domain, "Polynomial.fit"), window)
        found = functions.polyfit(offset + x * scale, y, deg, rcond=rcond, full=full, w=w)
        if full:
            return cls(found[0], domain, window, symbol), found[1]
        return cls(found, domain, window, symbol)

    @classmethod
    def fromroots(cls, roots, domain=(-1.0, 1.0), window=None, symbol="x"):
        """The series that has these roots.

        Shapes: vectors.
        Dtypes: numbers; the coefficients are float64 or complex128.
        Errors: TypeError for texts; ValueError for a negative degree or number of points.

        >>> np.polynomial.Polynomial.fromroots([2, 3]).coef
        array([ 6., -5.,  1.])
        """
        window = cls.window if window is None else inexact(window, "Polynomial.fromroots")
        domain = inexact(cls.domain if domain is None else list(domain), "Polynomial.fromroots")
        offset, scale = _map(domain, window)
        roots = inexact(roots, "Polynomial.fromroots")
        return cls(functions.polyfromroots(offset + roots * scale) / scale ** roots.size, domain, window, symbol)

    @classmethod
    def identity(cls, domain=None, window=None, symbol="x"):
        """The series p(x) = x.

        Shapes: one axis of coefficients, the lowest power first.
        Dtypes: numbers; integers become float64.
        Errors: none.

        >>> np.polynomial.Polynomial.identity()(5)
        array(5.)
        """
        domain, window = (getattr(cls, name) if value is None else inexact(value, "Polynomial.identity")
                          for name, value in (("domain", domain), ("window", window)))
        offset, scale = _map(window, domain)
        return cls([offset, scale], domain, window, symbol)

    @classmethod
    def basis(cls, deg, domain=None, window=None, symbol="x"):
        """The series of one power. Errors: ValueError if deg is no non-negative integer.

        Shapes: one axis of coefficients, the lowest power first.
        Dtypes: numbers; integers become float64.

        >>> np.polynomial.Polynomial.basis(2).coef
        array([0., 0., 1.])
        """
        if int(deg) != deg or deg < 0:
            raise ValueError("Polynomial.basis: deg is %r (deg must be non-negative integer)" % (deg,))
        return cls([0.0] * int(deg) + [1.0], domain, window, symbol)

    # -- values ------------------------------------------------------------------------------------------------------

    def mapparms(self):
        """Offset and scale of the map from domain to window.

        Shapes: one axis of coefficients, the lowest power first.
        Dtypes: numbers; integers become float64.
        Errors: none.

        >>> np.polynomial.Polynomial([0, 1], domain=[0, 2]).mapparms()
        (-1.0, 1.0)
        """
        return _map(self.domain, self.window)

    def __call__(self, arg):
        offset, scale = self.mapparms()
        if not isinstance(arg, Polynomial):
            arg = as_array(arg, "Polynomial")
        return functions.polyval(offset + arg * scale, self.coef)

    def linspace(self, n=100, domain=None):
        """n points of the domain and the values there.

        Shapes: vectors.
        Dtypes: numbers; the coefficients are float64 or complex128.
        Errors: TypeError for texts; ValueError for a negative degree or number of points.

        >>> np.polynomial.Polynomial([0, 1]).linspace(3)
        (array([-1.,  0.,  1.]), array([-1.,  0.,  1.]))
        """
        first, last = self.domain.tolist() if domain is None else domain
        x = linspace(first, last, n)
        return x, self(x)

    def roots(self):
        """The roots, in ascending order, in the domain.

        Shapes: one axis of coefficients, the lowest power first.
        Dtypes: numbers; integers become float64.
        Errors: none.

        >>> np.round(np.polynomial.Polynomial([6, -5, 1]).roots(), 8)
        array([2., 3.])
        """
        offset, scale = _map(self.window, self.domain)
        return offset + functions.polyroots(self.coef) * scale

    def degree(self):
        """The number of coefficients minus one.

        Shapes: one axis of coefficients, the lowest power first.
        Dtypes: numbers; integers become float64.
        Errors: none.

        >>> np.polynomial.Polynomial([1, 2, 3]).degree()
        2
        """
        return self.coef.size - 1

    # -- series made of this one -------------------------------------------------------------------------------------

    def _with(self, coef):
        return Polynomial(coef, self.domain, self.window, self.symbol)

    def copy(self):
        """A copy.

        Shapes: one axis of coefficients, the lowest power first.
        Dtypes: numbers; integers become float64.
        Errors: none.

        >>> np.polynomial.Polynomial([1, 2]).copy().coef
        array([1., 2.])
        """
        return self._with(op("copy")(self.coef))

    def trim(self, tol=0):
        """Without coefficients up to tol at the end.

        Shapes: one axis of coefficients, the lowest power first.
        Dtypes: numbers; integers become float64.
        Errors: none.

        >>> np.polynomial.Polynomial([1, 2, 0]).trim().coef
        array([1., 2.])
        """
        return self._with(functions.polytrim(self.coef, tol))

    def truncate(self, size):
        """Of the first `size` coefficients. Errors: ValueError if it is no positive integer.

        Shapes: one axis of coefficients, the lowest power first.
        Dtypes: numbers; integers become float64.

        >>> np.polynomial.Polynomial([1, 2, 3]).truncate(2).coef
        array([1., 2.])
        """
        if int(size) != size or size < 1:
            raise ValueError("Polynomial.truncate: size is %r (size must be a positive integer)" % (size,))
        return self._with(self.coef[:int(size)])

    def cutdeg(self, deg):
        """Of the powers up to deg.

        Shapes: one axis of coefficients, the lowest power first.
        Dtypes: numbers; integers become float64.
        Errors: ValueError for a negative degree or order.

        >>> np.polynomial.Polynomial([1, 2, 3]).cutdeg(1).coef
        array([1., 2.])
        """
        return self.truncate(deg + 1)

    def convert(self, domain=None, kind=None, window=None):
        """The same function in terms of another domain and window. kind: Polynomial, the only one.

        Shapes: one axis of coefficients, the lowest power first.
        Dtypes: numbers; integers become float64.
        Errors: ValueError for a negative degree or order.

        >>> np.polynomial.Polynomial([0, 1], domain=[0, 4]).convert().coef
        array([-1. ,  0.5])
        """
        if kind not in (None, Polynomial):
            raise TypeError("Polynomial.convert: kind is %r; nd4c has power series only" % (kind,))
        return self(Polynomial.identity(domain, window, self.symbol))

    def deriv(self, m=1):
        """The m-th derivative.

        Shapes: one axis of coefficients, the lowest power first.
        Dtypes: numbers; integers become float64.
        Errors: ValueError for a negative degree or order.

        >>> np.polynomial.Polynomial([1, 2, 3]).deriv().coef
        array([2., 6.])
        """
        return self._with(functions.polyder(self.coef, m, self.mapparms()[1]))

    def integ(self, m=1, k=(), lbnd=None):
        """The m-th integral, with constants k at lbnd (None: 0 in the window).

        Shapes: one axis of coefficients, the lowest power first.
        Dtypes: numbers; integers become float64.
        Errors: ValueError for a negative degree or order.

        >>> np.polynomial.Polynomial([1, 2, 3]).integ().coef
        array([0., 1., 1., 1.])
        """
        offset, scale = self.mapparms()
        return self._with(functions.polyint(self.coef, m, k, 0 if lbnd is None else offset + scale * lbnd, 1.0 / scale))

    # -- arithmetic --------------------------------------------------------------------------------------------------

    def _other(self, other):
        """The coefficients of an operand: a series of the same domain, window and symbol, coefficients, or a number."""
        if not isinstance(other, Polynomial):
            return other if hasattr(other, "__len__") and getattr(other, "ndim", 1) else [other]
        for name in ("domain", "window"):
            if getattr(self, name).tolist() != getattr(other, name).tolist():
                raise TypeError("Polynomial: %ss differ: %s and %s; convert() gives another one"
                                % (name.capitalize(), getattr(self, name).tolist(), getattr(other, name).tolist()))
        if self.symbol != other.symbol:
            raise ValueError("Polynomial: the symbols differ: %r and %r (Polynomial symbols differ)"
                             % (self.symbol, other.symbol))
        return other.coef

    def __neg__(self):
        return self._with(-self.coef)

    def __pos__(self):
        return self

    def __add__(self, other):
        return self._with(functions.polyadd(self.coef, self._other(other)))

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        return self._with(functions.polysub(self.coef, self._other(other)))

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        return self._with(functions.polymul(self.coef, self._other(other)))

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        if isinstance(other, (Polynomial, bool)) or not (hasattr(other, "__float__") or isinstance(other, complex)):
            raise TypeError("Polynomial: unsupported types for true division: 'Polynomial', %r; // divides series"
                            % type(other).__name__)
        return self._with(self.coef / other)

    def __divmod__(self, other):
        quotient, rest = functions.polydiv(self.coef, self._other(other))
        return self._with(quotient), self._with(rest)

    def __floordiv__(self, other):
        return divmod(self, other)[0]

    def __mod__(self, other):
        return divmod(self, other)[1]

    def __rdivmod__(self, other):
        return divmod(self._with(self._other(other)), self)

    def __rfloordiv__(self, other):
        return divmod(self._with(self._other(other)), self)[0]

    def __rmod__(self, other):
        return divmod(self._with(self._other(other)), self)[1]

    def __pow__(self, other):
        return self._with(functions.polypow(self.coef, other))

    def __eq__(self, other):
        return isinstance(other, Polynomial) and self.symbol == other.symbol and all(
            getattr(self, name).tolist() == getattr(other, name).tolist() for name in ("coef", "domain", "window"))

    def __ne__(self, other):
        return not self == other

    def __len__(self):
        return self.coef.size

    def __iter__(self):
        return iter(self.coef)

    # -- print -------------------------------------------------------------------------------------------------------

    def __repr__(self):
        parts = (repr(getattr(self, name))[6:-1] for name in ("coef", "domain", "window"))
        return "Polynomial(%s, domain=%s, window=%s, symbol='%s')" % (*parts, self.symbol)

    def __str__(self):
        return _formula(self.coef.tolist(), self._variable())

    def _variable(self):
        """x, or its map to the window, as text."""
        offset, scale = self.mapparms()
        if (offset, scale) == (0, 1):
            return self.symbol
        mapped = self.symbol if scale == 1 else "%s%s" % (_number(scale), self.symbol)
        return "(%s)" % mapped if offset == 0 else "(%s + %s)" % (_number(offset), mapped)


def _map(old, new):
    """Offset and scale of the line that takes the interval old to the interval new."""
    (a, b), (c, d) = old.tolist(), new.tolist()
    return (b * c - a * d) / (b - a), (d - c) / (b - a)


_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _number(value):
    text = "%.9g" % value if not isinstance(value, complex) else "(%s)" % str(value).strip("()")
    return text if isinstance(value, complex) or "." in text or "e" in text or "n" in text else text + ".0"


def _formula(numbers, variable):
    text = _number(numbers[0])
    for power, value in enumerate(numbers[1:], 1):
        negative = not isinstance(value, complex) and value < 0
        text += " %s %s·%s%s" % ("-" if negative else "+", _number(-value if negative else value), variable,
                                 "" if power == 1 else str(power).translate(_SUPERSCRIPTS))
    return text
