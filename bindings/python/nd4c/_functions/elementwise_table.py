"""The functions element by element that are one op each: nd4c's by the standard's names, and those that only nd4c.numpy has.

Two lines a function: name | op | dtypes that it computes with | NumPy's letter of the result's dtype if that is always the same,
or the word "floating" | summary; the arguments of an example -> its result. derive.py reads this table, too."""

ONE = """
abs | abs | bools and numbers |  | Absolute value.
    [-1.5, 2.0] -> array([1.5, 2. ])
acos | acos | floats and complex numbers |  | Inverse cosine, in radians.
    [1.0, 0.0] -> array([0.        , 1.57079633])
acosh | acosh | floats and complex numbers |  | Inverse hyperbolic cosine.
    [1.0, 2.0] -> array([0.       , 1.3169579])
asin | asin | floats and complex numbers |  | Inverse sine, in radians.
    [0.0, 1.0] -> array([0.        , 1.57079633])
asinh | asinh | floats and complex numbers |  | Inverse hyperbolic sine.
    [0.0, 1.0] -> array([0.        , 0.88137359])
atan | atan | floats and complex numbers |  | Inverse tangent, in radians.
    [0.0, 1.0] -> array([0.        , 0.78539816])
atanh | atanh | floats and complex numbers |  | Inverse hyperbolic tangent.
    [0.0, 0.5] -> array([0.        , 0.54930614])
bitwise_invert | bitwise_invert | bools and integers |  | All bits inverted; of bools, the opposite.
    [0, 5] -> array([-1, -6])
ceil | ceil | bools and real numbers |  | The smallest whole number that is not less.
    [-1.5, 1.5] -> array([-1.,  2.])
conj | conj | numbers |  | Complex conjugate.
    [1 + 2j, 3] -> array([1.-2.j, 3.-0.j])
cos | cos | floats and complex numbers |  | Cosine of an angle in radians.
    [0.0, 1.0] -> array([1.        , 0.54030231])
cosh | cosh | floats and complex numbers |  | Hyperbolic cosine.
    [0.0, 1.0] -> array([1.        , 1.54308063])
exp | exp | floats and complex numbers |  | e to the power of x.
    [0.0, 1.0] -> array([1.        , 2.71828183])
expm1 | expm1 | floats and complex numbers |  | e to the power of x, minus 1, exact for small x.
    [0.0, 1e-10] -> array([0.e+00, 1.e-10])
floor | floor | bools and real numbers |  | The largest whole number that is not greater.
    [-1.5, 1.5] -> array([-2.,  1.])
isfinite | is_finite | numbers | ? | Where x is neither infinite nor NaN.
    [1.0, float('inf')] -> array([ True, False])
isinf | is_inf | numbers | ? | Where x is infinite.
    [1.0, float('inf')] -> array([False,  True])
isnan | is_nan | numbers | ? | Where x is not a number.
    [1.0, float('nan')] -> array([False,  True])
log | log | floats and complex numbers |  | Natural logarithm.
    [1.0, 2.0] -> array([0.        , 0.69314718])
log1p | log1p | floats and complex numbers |  | Natural logarithm of 1 + x, exact for small x.
    [0.0, 1e-10] -> array([0.e+00, 1.e-10])
log2 | log2 | floats and complex numbers |  | Logarithm to base 2.
    [1.0, 8.0] -> array([0., 3.])
log10 | log10 | floats and complex numbers |  | Logarithm to base 10.
    [1.0, 100.0] -> array([0., 2.])
logical_not | logical_not | everything as bools | ? | Where x is False or 0.
    [0, 2] -> array([ True, False])
negative | negative | numbers, not bools |  | The number with the opposite sign.
    [1, -2] -> array([-1,  2])
positive | positive | numbers, not bools |  | A copy of the numbers.
    [1, -2] -> array([ 1, -2])
reciprocal | reciprocal | numbers |  | 1 / x; of integers, the whole part.
    [0.5, 4.0] -> array([2.  , 0.25])
sign | sign | numbers, not bools |  | -1, 0 or 1 by the sign; of complex numbers, z / abs(z).
    [-3, 0, 5] -> array([-1,  0,  1])
signbit | signbit | floats | ? | Where the sign bit is set: of negative numbers and -0.0.
    [-0.0, 1.0] -> array([ True, False])
sin | sin | floats and complex numbers |  | Sine of an angle in radians.
    [0.0, 1.0] -> array([0.        , 0.84147098])
sinh | sinh | floats and complex numbers |  | Hyperbolic sine.
    [0.0, 1.0] -> array([0.        , 1.17520119])
sqrt | sqrt | floats and complex numbers |  | Square root; NaN for negative real numbers.
    [4.0, 2.0] -> array([2.        , 1.41421356])
square | square | numbers |  | x * x.
    [-3, 4] -> array([ 9, 16])
tan | tan | floats and complex numbers |  | Tangent of an angle in radians.
    [0.0, 1.0] -> array([0.        , 1.55740772])
tanh | tanh | floats and complex numbers |  | Hyperbolic tangent.
    [0.0, 1.0] -> array([0.        , 0.76159416])
trunc | trunc | bools and real numbers |  | The whole part, towards zero.
    [-1.5, 1.5] -> array([-1.,  1.])
"""

TWO = """
add | add | bools and numbers |  | x1 + x2; of two bools, x1 or x2.
    [1, 2], [10, 20] -> array([11, 22])
atan2 | atan2 | floats |  | The angle of the point (x2, x1), in radians between -pi and pi.
    [1.0, -1.0], 1.0 -> array([ 0.78539816, -0.78539816])
bitwise_and | bitwise_and | bools and integers |  | Bits that both have.
    [12, 10], 6 -> array([4, 2])
bitwise_left_shift | bitwise_left_shift | integers |  | x1 with its bits moved left by x2.
    [1, 3], [4, 1] -> array([16,  6])
bitwise_or | bitwise_or | bools and integers |  | Bits that at least one has.
    [12, 10], 6 -> array([14, 14])
bitwise_right_shift | bitwise_right_shift | integers |  | x1 with its bits moved right by x2.
    [16, 6], [4, 1] -> array([1, 3])
bitwise_xor | bitwise_xor | bools and integers |  | Bits that exactly one has.
    [12, 10], 6 -> array([10, 12])
copysign | copysign | floats |  | The size of x1 with the sign of x2.
    [1.0, 2.0], [-0.0, 3.0] -> array([-1.,  2.])
divide | true_divide | numbers | floating | x1 / x2; integers give float64.
    [1, 3], 2 -> array([0.5, 1.5])
equal | equal | numbers and texts | ? | Where x1 == x2.
    [1, 2], [1, 3] -> array([ True, False])
floor_divide | floor_divide | real numbers |  | x1 / x2 rounded down; integers divided by 0 give 0.
    [7, -7], 2 -> array([ 3, -4])
greater | greater | numbers and texts | ? | Where x1 > x2.
    [1, 3], 2 -> array([False,  True])
greater_equal | greater_equal | numbers and texts | ? | Where x1 >= x2.
    [1, 2], 2 -> array([False,  True])
hypot | hypot | floats |  | sqrt(x1**2 + x2**2) without overflow.
    [3.0, 5.0], [4.0, 12.0] -> array([ 5., 13.])
less | less | numbers and texts | ? | Where x1 < x2.
    [1, 3], 2 -> array([ True, False])
less_equal | less_equal | numbers and texts | ? | Where x1 <= x2.
    [2, 3], 2 -> array([ True, False])
logaddexp | logaddexp | floats |  | log(exp(x1) + exp(x2)) without overflow.
    [0.0, 1000.0], [0.0, 1000.0] -> array([6.93147181e-01, 1.00069315e+03])
logical_and | logical_and | everything as bools | ? | Where both are true.
    [True, True], [True, False] -> array([ True, False])
logical_or | logical_or | everything as bools | ? | Where at least one is true.
    [True, False], [False, False] -> array([ True, False])
logical_xor | logical_xor | everything as bools | ? | Where exactly one is true.
    [True, True], [True, False] -> array([False,  True])
maximum | maximum | bools and numbers |  | The greater of the two; NaN where one is NaN.
    [1, 5], [3, 2] -> array([3, 5])
minimum | minimum | bools and numbers |  | The lesser of the two; NaN where one is NaN.
    [1, 5], [3, 2] -> array([1, 2])
multiply | multiply | bools and numbers |  | x1 * x2; of two bools, x1 and x2.
    [1, 2], [10, 20] -> array([10, 40])
nextafter | nextafter | floats |  | The number beside x1 in the direction of x2.
    [1.0], [2.0] -> array([1.])
not_equal | not_equal | numbers and texts | ? | Where x1 != x2.
    [1, 2], [1, 3] -> array([False,  True])
pow | power | numbers |  | x1 to the power of x2; ValueError for integers to negative integers.
    [2, 3], [3, 2] -> array([8, 9])
remainder | remainder | real numbers |  | What floor_divide leaves, with the sign of x2.
    [7, -7], 3 -> array([1, 2])
subtract | subtract | numbers, not bools |  | x1 - x2.
    [5, 7], [1, 2] -> array([4, 5])
"""

NUMPY_ONE = """
cbrt | cbrt | floats |  | Cube root.
    [8.0, -27.0] -> array([ 2., -3.])
rad2deg | rad2deg | floats |  | Degrees of an angle in radians.
    [0.0, 3.141592653589793] -> array([  0., 180.])
deg2rad | deg2rad | floats |  | Radians of an angle in degrees.
    [0.0, 180.0] -> array([0.        , 3.14159265])
degrees | rad2deg | floats |  | Degrees of an angle in radians.
    [0.0, 3.141592653589793] -> array([  0., 180.])
radians | deg2rad | floats |  | Radians of an angle in degrees.
    [0.0, 180.0] -> array([0.        , 3.14159265])
exp2 | exp2 | floats and complex numbers |  | 2 to the power of x.
    [0.0, 3.0] -> array([1., 8.])
fabs | abs | floats |  | Absolute value as a float.
    [-1, 2] -> array([1., 2.])
rint | round | floats and complex numbers |  | The nearest whole number as a float; halves go to the even one.
    [1.5, 2.5, -0.4] -> array([ 2.,  2., -0.])
spacing | - | floats |  | The distance to the next number of greater size.
    [1.0, 1024.0] -> array([2.22044605e-16, 2.27373675e-13])
bitwise_count | bit_count | integers | B | How many bits of the absolute value are set.
    [7, 8, -3] -> array([3, 1, 2], dtype=uint8)
"""

NUMPY_TWO = """
fmax | fmax | bools and numbers |  | The greater of the two; the other one where one is NaN.
    [1.0, float('nan')], 0.5 -> array([1. , 0.5])
fmin | fmin | bools and numbers |  | The lesser of the two; the other one where one is NaN.
    [1.0, float('nan')], 0.5 -> array([0.5, 0.5])
fmod | fmod | real numbers |  | What division leaves, with the sign of x1.
    [7, -7], 3 -> array([ 1, -1])
float_power | power | doubles |  | x1 to the power of x2 in float64 or complex128.
    [2, 4], -1 -> array([0.5 , 0.25])
gcd | gcd | integers, not bools |  | Greatest common divisor.
    [12, 18], 8 -> array([4, 2])
lcm | lcm | integers, not bools |  | Least common multiple.
    [4, 6], 10 -> array([20, 30])
heaviside | heaviside | floats |  | 0 for negative x1, 1 for positive ones, x2 for zeros.
    [-1.0, 0.0, 2.0], 0.5 -> array([0. , 0.5, 1. ])
logaddexp2 | logaddexp2 | floats |  | log2(2**x1 + 2**x2) without overflow.
    [0.0, 10.0], [0.0, 10.0] -> array([ 1., 11.])
"""


def rows(table):
    """Tuples of name, op, dtypes, result, summary, arguments, example's result."""
    lines = table.strip().split("\n")
    for head, example in zip(lines[::2], lines[1::2]):
        arguments, _, result = example.strip().partition(" -> ")
        yield (*(part.strip() for part in head.split("|")), arguments, result)
