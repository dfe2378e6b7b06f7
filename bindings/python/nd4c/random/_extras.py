"""What NumPy's Generator lacks: raw bits in any integer dtype, categories by rows, dropout. _generator.py makes a generator's
methods of them."""
from nd4c import _dtypes
from nd4c._creation import asarray
from nd4c.random._parameters import counting, real, shape_for


class Extras:
    __slots__ = ()

    def bits(self, size=None, *, dtype="uint32", device=None):
        """Random bits as integers. NumPy has no such method.

        Shapes: size, no axes if None.
        Dtypes: dtype, an integer one, uint32 if it is left out.
        Errors: TypeError for other dtypes.

        >>> nd4c.random.default_rng(7).bits(4, dtype="uint8")
        array([ 45, 220,  66, 130], dtype=uint8)
        """
        dtype = _dtypes.of(dtype)
        if dtype.kind not in "iu":
            raise TypeError("bits: dtype is %s, expected an integer dtype such as uint32" % dtype.name)
        return self._draw("random_bits", (shape_for("bits", size, ()), dtype.number), device)

    def categorical(self, p, samples=1, *, logarithms=False, replacement=True, dtype=None, device=None):
        """For each row of p, indices with probabilities in its proportions. NumPy's choice() does it for one row.

        Shapes: p (..., k), the result (..., samples). Rows need not sum to 1; logarithms: p holds their logarithms.
        Dtypes: an integer one, int64 if None.
        Errors: ValueError if a row has no chances; without replacement also if samples
        is above k.

        >>> nd4c.random.default_rng(7).categorical([[1, 0, 0], [0, 1, 1]], 4)
        array([[0, 0, 0, 0],
               [1, 2, 1, 1]])
        """
        given = p
        p = real("categorical: p", p) if getattr(getattr(p, "dtype", None), "kind", "") != "f" else asarray(p)
        if type(p) is float:
            raise ValueError("categorical: p is %r, expected a chance for each of several categories" % p)
        return self._draw("random_categorical", (samples, logarithms, replacement, counting("categorical", dtype)), device,
                          (self._near(p, given, device),))

    def dropout(self, x, rate=0.5, *, device=None):
        """x / (1 - rate) where a mask is true, else 0; and the mask, false with probability rate.

        Shapes: both have x's.
        Dtypes: x's, a floating one, and bool.
        Errors: ValueError unless 0 <= rate <= 1.

        >>> nd4c.random.default_rng(7).dropout(nd4c.ones(6), 0.5)
        (array([2., 0., 2., 2., 0., 2.]), array([ True, False,  True,  True, False,  True]))
        """
        if not 0 <= rate <= 1:
            raise ValueError("dropout: rate is %r, expected 0 to 1" % (rate,))
        return self._draw("random_dropout", (rate,), device, (self._near(asarray(x), x, device),))
