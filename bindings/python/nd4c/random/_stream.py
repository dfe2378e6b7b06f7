"""The state of a generator, and what draws from it. _generator.py makes the class Generator of it and the distributions."""
from operator import index

from nd4c import _devices
from nd4c._abi import NUMBERS as _N
from nd4c._core import Array
from nd4c._core import calls as _calls, core
from nd4c._creation import asarray, made_on, to_device
from nd4c._dtypes import by_name
from nd4c._symbols import Symbol, traced
from nd4c.random._parameters import REAL, WHOLE, check, counting, floating, op, real, shape_for
from nd4c.random._seeds import hashed, key_of

_advance = _N["random_advance"]
_INTEGERS = (2 ** 63, 2 ** 64)
_BITS = by_name["uint64"]
RECORDED = ("random: a function is being recorded, and would give the same numbers in every call. Pass random arrays as arguments; "
            "or pass a generator's state: in the function, generator = nd4c.random.default_rng(0), generator.state = state, and "
            "return generator.state for the next call")


def _signed(word):
    return (word + _INTEGERS[0]) % _INTEGERS[1] - _INTEGERS[0]


class Stream:
    """A Philox4x32-10 stream: `state` is an array (key, counter), made on the device. Each op that draws reads it, and then
    the counter goes on by the elements of the op's largest array."""

    __slots__ = ("state", "_children", "_made_in")  # _made_in: the graph into which a function made it of numbers, or None

    def __init__(self, seed=None, *, device=None):
        if isinstance(seed, BitGenerator):
            seed = seed._stream
        if isinstance(seed, Stream):
            self.state = asarray(seed.state, device=device)
            self._children = seed._children
            self._made_in = getattr(seed, "_made_in", None)
        else:
            self.state = asarray([_signed(key_of(seed)), 0], dtype="int64", device=device)
            self._children = 0
            is_fixed = seed is not None and not hasattr(seed, "generate_state")
            self._made_in = traced.graphs[-1] if is_fixed and traced.graphs else None

    def __repr__(self):
        return "nd4c.random.Generator(state=%s)" % self.state.tolist()

    def __getstate__(self):
        return None, {"state": self.state, "_children": self._children}

    def spawn(self, n_children):
        """Generators of streams that are independent of this one and of each other.

        The state does not change; a second call gives other children. Each is on this generator's device.
        Errors: ValueError if n_children is below 0; MemoryError if that many do not fit.

        >>> first, second = nd4c.random.default_rng(7).spawn(2)
        >>> first.integers(0, 10, size=3), second.integers(0, 10, size=3)
        (array([2, 8, 9]), array([8, 1, 2]))
        """
        self._check_recorded()
        count = index(n_children)
        if count < 0:
            raise ValueError("spawn: n_children is %d, expected at least 0" % count)
        try:
            children = [None] * count  # what can never fit is refused at once, not after hours of making children
        except OverflowError:
            raise MemoryError("spawn: %d generators do not fit into memory" % count) from None
        begin, key = self._children, self.state.tolist()[0]
        for number in range(count):
            children[number] = type(self)(hashed("child", (key, begin + number)), device=self.state.device)
        self._children += count
        return children

    @property
    def bit_generator(self):
        """The source of the bits, as NumPy's programs ask for it: its state as a dictionary, raw bits, jumps."""
        return BitGenerator(self)

    def _check_recorded(self):
        """Refuses a generator from outside of the function that is being recorded: its numbers would be constants there."""
        if traced.graphs and type(self.state) is not Symbol and getattr(self, "_made_in", None) is not traced.graphs[-1]:
            raise RuntimeError(RECORDED)

    def _draw(self, name, attributes, device=None, inputs=()):
        """Runs one op and returns its result. The state advances by the steps that the op took, and stays on its device."""
        self._check_recorded()
        if device is None:
            result = _calls[_N[name]](self.state, *inputs, *attributes)
        else:
            result = made_on(device, lambda: _calls[_N[name]](to_device(self.state, device), *inputs, *attributes))
        steps = (result[0] if type(result) is tuple else result).size
        for given in inputs:
            if given.size > steps:
                steps = given.size
        if device is None:
            self.state = _calls[_advance](self.state, steps or 1)
        else:
            self.state = made_on(self.state.device, _calls[_advance], self.state, steps or 1)
        return result

    def _near(self, made, given, device):
        """Arrays made of the caller's numbers or lists go to the state's device: numbers have no device, and must not pull the
        op away from the state. The caller's arrays stay on their devices, and device= or a block decides by itself."""
        placed = made is given or type(given) is Array or type(self.state) is Symbol or device is not None or _devices.in_block()
        return made if placed else to_device(made, self.state.device)

    def _parameter(self, where, given, limit, device):
        """A parameter as an array of float64 that is within its limit."""
        value = real(where, given)
        check(where, value, limit)
        if type(value) is float:
            return self._near(core.from_scalar(value, REAL), None, device)
        return self._near(value, given, device)

    def _made(self, where, formula, parameters, size, dtype, device, finish=None):
        """The distribution of a formula, which gets something to draw from (Draws) and the parameters as arrays of float64.

        parameters: (name, value, limit) of each. finish: makes the dtype of the result; None: for real numbers."""
        number = (floating if finish is None else counting)(where, dtype)
        values = [self._parameter(where + ": " + name, value, limit, device) for name, value, limit in parameters]
        shape = shape_for(where, size, values)
        return made_on(device, lambda: (finish or rounded)(formula(Draws(self, shape, device), *values), number))


class Draws:
    """What a formula draws: arrays of one shape, each by an op of its own."""

    __slots__ = ("shape", "_stream", "_device")

    def __init__(self, stream, shape, device):
        self.shape, self._stream, self._device = shape, stream, device

    def of(self, shape):
        """The same for another shape."""
        return Draws(self._stream, shape, self._device)

    def uniform(self):
        """0 <= u < 1."""
        return self._stream._draw("random_uniform", (self.shape, REAL.number, 0.0, 1.0), self._device)

    def normal(self):
        return self._stream._draw("random_normal", (self.shape, REAL.number, 0.0, 1.0), self._device)

    def exponential(self):
        """More than 0 but for one word in 2^54."""
        return self._stream._draw("random_exponential", (self.shape, REAL.number, 1.0), self._device)

    def bits(self, dtype):
        return self._stream._draw("random_bits", (self.shape, dtype.number), self._device)

    def gamma(self, alpha):
        return self._stream._draw("random_gamma", (self.shape, REAL.number, 1.0), self._device, (alpha,))

    def log_gamma(self, alpha):
        """ln g, g of shape parameter alpha + 1, and e, so that ln g - e / alpha is the logarithm of a number of shape
        parameter alpha, which itself may be too small for a float."""
        return op("log")(self.gamma(alpha + 1)), self.exponential()

    def poisson(self, rate, dtype=REAL.number):
        return self._stream._draw("random_poisson", (self.shape, dtype), self._device, (rate,))

    def binomial(self, n, p, dtype=REAL.number):
        return self._stream._draw("random_binomial", (self.shape, dtype), self._device, (n, p))


def rounded(value, number):
    """Real numbers in the dtype of a number."""
    return value if value.dtype.number == number else op("cast")(value, number)


def counted(value, number):
    """Whole numbers in the dtype of a number; those beyond int64 become its largest one, as in NumPy."""
    if value.dtype.number == number:
        return value
    if value.dtype is REAL and number == WHOLE.number:
        large = value >= 2.0 ** 63
        if op("any")(large, None, False):
            return op("where")(large, 2 ** 63 - 1, op("cast")(op("where")(large, 0.0, value), number))
    return op("cast")(value, number)


def until_accepted(draws, parameters, propose):
    """Rejection by whole arrays: propose(draws, *parameters) gives numbers and which of them count; the others are drawn again
    together, until all count."""
    value, accepted = propose(draws, *parameters)
    shape = value.shape
    flat = op("reshape")(value, (-1,))
    left = _where_not(accepted)
    if not left.size:
        return value
    rows = [op("reshape")(op("broadcast_to")(parameter, shape), (-1,)) for parameter in parameters]
    while left.size:
        again, accepted = propose(draws.of(left.shape), *[op("take")(row, left, (0,), 0) for row in rows])
        flat[left] = again  # those that do not count are replaced in the next pass
        missed = _where_not(accepted)
        left = op("take")(left, missed, (0,), 0)
    return op("reshape")(flat, shape)


def _where_not(accepted):
    found = op("nonzero")(op("reshape")(op("logical_not")(accepted), (-1,)))
    return found[0] if type(found) is tuple else op("reshape")(found, (-1,))


class BitGenerator:
    """A generator's source of bits, Philox4x32-10, with the members that NumPy's bit generators have.

    >>> bits = nd4c.random.default_rng(7).bit_generator
    >>> bits.random_raw(2).shape
    (2,)
    >>> len(bits.spawn(2))
    2
    """

    __slots__ = ("_stream",)

    def __init__(self, stream):
        self._stream = stream

    def __repr__(self):
        return "nd4c.random.BitGenerator(state=%s)" % self._stream.state.tolist()

    @property
    def state(self):
        """The state as a dictionary of integers, which may be stored and set again."""
        words = [word % _INTEGERS[1] for word in self._stream.state.tolist()]
        return {"bit_generator": "Philox4x32", "state": {"key": words[0], "counter": words[1:]},
                "children": self._stream._children}

    @state.setter
    def state(self, value):
        try:
            words = [value["state"]["key"]] + list(value["state"]["counter"])
            name, children = value["bit_generator"], value["children"]
        except (TypeError, KeyError):
            raise TypeError("bit_generator.state: expected a dictionary that this attribute gave, got %r" % (value,)) from None
        if name != "Philox4x32":
            raise ValueError("bit_generator.state: the state is of a %s; nd4c's generator is Philox4x32" % (name,))
        stream = self._stream
        stream.state = asarray([_signed(word) for word in words], dtype="int64", device=stream.state.device)
        stream._children = children

    def advance(self, delta):
        """Goes on by delta steps of the counter, 0 <= delta < 2^63, and returns itself.

        >>> bits = nd4c.random.default_rng(7).bit_generator
        >>> bits.advance(10) is bits
        True
        """
        self._stream._check_recorded()
        steps = index(delta)
        if not 0 <= steps < _INTEGERS[0]:
            raise ValueError("advance: delta is %d, expected 0 to 2^63 - 1" % steps)
        if steps:
            self._stream.state = made_on(self._stream.state.device, _calls[_advance], self._stream.state, steps)
        return self

    def random_raw(self, size=None, output=True):
        """64 random bits as an integer, or an array of uint64 of the size."""
        made = self._stream._draw("random_bits", (shape_for("random_raw", size, ()), _BITS.number))
        return None if not output else made if size is not None else int(made)

    def spawn(self, n_children):
        """The bit generators of the generator's spawn()."""
        return [child.bit_generator for child in self._stream.spawn(n_children)]
