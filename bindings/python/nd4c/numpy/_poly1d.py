"""The class poly1d: a polynomial that is computed with and printed as a formula."""
from nd4c.numpy import _polynomials
from nd4c._creation import asarray
from nd4c._functions.support import op


class poly1d:
    """A polynomial with the coefficients c_or_r, the highest power first, or with these roots, if r is True.

    variable: its letter in print. It is called with x, indexed by powers, added, multiplied, divided, and integrated.
    Shapes: one axis of coefficients, the highest power first.
    Dtypes: numbers.
    Errors: ValueError for coefficients of more than one axis.

    >>> p = np.poly1d([1, 2, 3])
    >>> print(p)
       2
    1 x + 2 x + 3
    >>> p(2)
    array(11)
    """

    __hash__ = None

    def __init__(self, c_or_r, r=False, variable=None):
        if isinstance(c_or_r, poly1d):
            self._variable, self._coeffs = c_or_r._variable, c_or_r._coeffs
            self.__dict__.update({name: value for name, value in c_or_r.__dict__.items() if name not in self.__dict__})
        else:
            given = _polynomials.poly(c_or_r) if r else c_or_r
            self._variable = "x"
            self._coeffs = _polynomials.trimmed(_polynomials.coefficients(given, "poly1d"))
        if variable is not None:
            self._variable = variable

    @property
    def coeffs(self):
        """The coefficients, the highest power first."""
        return self._coeffs

    @coeffs.setter
    def coeffs(self, value):
        # p.coeffs *= 2 changes the array in place and then assigns that array.
        if value is not self._coeffs:
            raise AttributeError("poly1d: coeffs cannot be set; assign to its elements, or make another poly1d")

    c = coef = coefficients = coeffs
    variable = property(lambda self: self._variable, doc="The letter in print.")
    order = o = property(lambda self: self._coeffs.size - 1, doc="The degree.")
    roots = r = property(lambda self: _polynomials.roots(self._coeffs), doc="The roots.")

    def integ(self, m=1, k=0):
        """The m-th integral, with constants k.

        Shapes: one axis of coefficients.
        Dtypes: numbers.
        Errors: ValueError for a negative order.

        >>> np.poly1d([2, 3]).integ()
        poly1d([1., 3., 0.])
        """
        return poly1d(_polynomials.polyint(self._coeffs, m=m, k=k))

    def deriv(self, m=1):
        """The m-th derivative.

        Shapes: one axis of coefficients.
        Dtypes: numbers.
        Errors: ValueError for a negative order.

        >>> np.poly1d([1, 1, 1]).deriv()
        poly1d([2, 1])
        """
        return poly1d(_polynomials.polyder(self._coeffs, m=m))

    def __call__(self, val):
        return _polynomials.polyval(self._coeffs, val)

    def __array__(self, dtype=None, copy=None):
        return self._coeffs.__array__(dtype, copy)

    def __len__(self):
        return self.order

    def __iter__(self):
        return iter(self._coeffs)

    def __repr__(self):
        return "poly1d(" + repr(self._coeffs)[len("array("):]

    def __str__(self):
        return _formula(self._coeffs.tolist(), self._variable)

    def __neg__(self):
        return poly1d(-self._coeffs)

    def __pos__(self):
        return self

    def __mul__(self, other):
        if _polynomials.is_number(other):
            return poly1d(self._coeffs * other)
        return poly1d(_polynomials.polymul(self, other))

    __rmul__ = __mul__

    def __add__(self, other):
        return poly1d(_polynomials.polyadd(self, other))

    __radd__ = __add__

    def __sub__(self, other):
        return poly1d(_polynomials.polysub(self, other))

    def __rsub__(self, other):
        return poly1d(_polynomials.polysub(other, self))

    def __pow__(self, val):
        if not _polynomials.is_number(val) or int(val) != val or val < 0:
            raise ValueError("poly1d: the power is %r (power to non-negative integers only)" % (val,))
        result = poly1d([1])
        for _ in range(int(val)):
            result = result * self
        return result

    def __truediv__(self, other):
        if _polynomials.is_number(other):
            return poly1d(self._coeffs / other)
        return _polynomials.polydiv(self, other)

    def __rtruediv__(self, other):
        if _polynomials.is_number(other):
            return poly1d(other / self._coeffs)
        return _polynomials.polydiv(other, self)

    def __eq__(self, other):
        if not isinstance(other, poly1d):
            return NotImplemented
        if self._coeffs.shape != other._coeffs.shape:
            return False
        return bool(op("all")(op("equal")(self._coeffs, other._coeffs), None, False))

    def __ne__(self, other):
        if not isinstance(other, poly1d):
            return NotImplemented
        return not self == other

    def __getitem__(self, val):
        if val > self.order or val < 0:
            return asarray(0, dtype=self._coeffs.dtype)
        return self._coeffs[self.order - val]

    def __setitem__(self, key, val):
        if key < 0:
            raise ValueError("poly1d: the power is %d (does not support negative powers)" % key)
        if key > self.order:
            front = op("zeros")((key - self.order,), self._coeffs.dtype.number)
            self._coeffs = op("concat")([front, self._coeffs], 0)
        self._coeffs[self.order - key] = val


# -- print -----------------------------------------------------------------------------------------------------------

def _number(value):
    """A coefficient with four digits, complex numbers in brackets."""
    if isinstance(value, complex):
        if value.imag == 0:
            return "%.4g" % value.real
        return "%.4gj" % value.imag if value.real == 0 else "(%.4g + %.4gj)" % (value.real, value.imag)
    return "%.4g" % value


def _formula(numbers, variable, wrap=70):
    """Two lines for each row of the formula: the exponents, and what they belong to."""
    terms = [(_number(value), len(numbers) - 1 - place) for place, value in enumerate(numbers)]
    shown = [term for term in terms if term[0] != "0"] or [terms[-1]]
    above, below, rows = "", "", []
    for place, (text, power) in enumerate(shown):
        text = _signed(text, place > 0) + ("" if not power else " " + variable)
        exponent = str(power) if power > 1 else ""
        if len(below) + len(text) + len(exponent) > wrap and exponent:
            rows.append(above + "\n" + below)
            above, below = "", ""
        below += text
        if exponent:
            above = above.ljust(len(below)) + exponent
            below += " " * (len(exponent) - 1)
    rows.append((above or " ") + "\n" + below)
    return "\n".join(rows)


def _signed(text, follows):
    if not follows:
        return text
    return " - " + text[1:] if text.startswith("-") else " + " + text
