/* Element-wise ops: OP is the function, one text for all dtypes of a kind. families/elementwise.c launches these.
 *
 * The host says
 *   OP (op_add; op_builtin: BUILTIN, such as exp), INPUTS (1 to 3);
 *   TYPE_A, TYPE_B, TYPE_C, TYPE_Y: as they lie in memory;
 *   AS_A, AS_B, AS_C: the dtype that each input is taken as;
 *   NUM: the type to compute in, BITS: the unsigned integer of its size (of integers), LETTER: NUM's (convert.cl);
 *   KIND: of NUM: KIND_INTEGER (signed), KIND_UNSIGNED (bool, too) or KIND_REAL;
 *   RESULT: letter of what the function gives; NUMBER: type of the parameters n0, n1, n2. */
#define KIND_INTEGER 1
#define KIND_UNSIGNED 2
#define KIND_REAL 3

/* -- order and logic: of any kind -------------------------------------------------------------------------------------- */

#define op_copy(a, b, c) (a)
#define op_cast(a, b, c) (a)
#define op_where(a, b, c) ((a) != 0 ? (b) : (c))
#define op_logical_not(a, b, c) ((a) == 0)
#define op_logical_and(a, b, c) ((a) != 0 && (b) != 0)
#define op_logical_or(a, b, c) ((a) != 0 || (b) != 0)
#define op_logical_xor(a, b, c) (((a) != 0) != ((b) != 0))

#ifdef MIXED_SIGNS
/* A uint64 beside a signed integer: the sign first, then the bits, whose order is the numbers' where the signs agree. */
static inline int before(long a, long b, bool a_signed) {
  bool a_below = a_signed && a < 0, b_below = !a_signed && b < 0;
  return a_below != b_below ? a_below : (ulong)a < (ulong)b;
}
#define A_SIGNED (MIXED_SIGNS == 1)
#define op_less(a, b, c) before(a, b, A_SIGNED)
#define op_greater(a, b, c) before(b, a, !A_SIGNED)
#define op_equal(a, b, c) ((a) == (b) && (a) >= 0)
#define op_not_equal(a, b, c) (!op_equal(a, b, c))
#define op_less_equal(a, b, c) (!op_greater(a, b, c))
#define op_greater_equal(a, b, c) (!op_less(a, b, c))
#else
#define op_equal(a, b, c) ((a) == (b))
#define op_not_equal(a, b, c) ((a) != (b))
#define op_less(a, b, c) ((a) < (b))
#define op_less_equal(a, b, c) ((a) <= (b))
#define op_greater(a, b, c) ((a) > (b))
#define op_greater_equal(a, b, c) ((a) >= (b))
#endif

/* NaN wins, of two the first. */
#define op_maximum(a, b, c) ((a) != (a) || (a) >= (b) ? (a) : (b))
#define op_minimum(a, b, c) ((a) != (a) || (a) <= (b) ? (a) : (b))
static inline NUM clip(NUM x, NUM low, NUM high) {
  NUM raised = op_maximum(x, low, 0);
  return op_minimum(raised, high, 0);
}
#define op_clip(a, b, c) clip(a, b, c)

#if KIND != KIND_REAL
/* -- integers: in BITS, where overflow wraps --------------------------------------------------------------------------- */

#define op_negative(a, b, c) ((NUM)(0 - (BITS)(a)))
#define op_add(a, b, c) ((NUM)((BITS)(a) + (BITS)(b)))
#define op_subtract(a, b, c) ((NUM)((BITS)(a) - (BITS)(b)))
#define op_multiply(a, b, c) ((NUM)((BITS)(a) * (BITS)(b)))
#define op_square(a, b, c) op_multiply(a, a, 0)
#define op_cube(a, b, c) ((NUM)((BITS)(a) * (BITS)(a) * (BITS)(a)))
#define op_squared_difference(a, b, c) ((NUM)(((BITS)(a) - (BITS)(b)) * ((BITS)(a) - (BITS)(b))))
#define op_floor(a, b, c) (a)
#define op_ceil(a, b, c) (a)
#define op_round(a, b, c) (a)
#define op_trunc(a, b, c) (a)
#define op_is_nan(a, b, c) 0
#define op_is_inf(a, b, c) 0
#define op_is_finite(a, b, c) 1
#define op_fmax op_maximum
#define op_fmin op_minimum
#define op_imag(a, b, c) 0
#define op_bitwise_and(a, b, c) ((a) & (b))
#define op_bitwise_or(a, b, c) ((a) | (b))
#define op_bitwise_xor(a, b, c) ((a) ^ (b))
#ifdef OF_BOOL
#define op_bitwise_invert(a, b, c) ((a) ^ 1)
#else
#define op_bitwise_invert(a, b, c) (~(a))
#endif

static inline NUM power(NUM a, NUM b) {
#if KIND == KIND_INTEGER
  if (b < 0) { /* 1 / a^-b, truncated; division by zero gives 0 */
    return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  }
#endif
  BITS result = 1, base = (BITS)a;
  for (BITS left = (BITS)b; left != 0; left >>= 1, base *= base) {
    result *= left & 1 ? base : 1;
  }
  return (NUM)result;
}
#define op_power(a, b, c) power(a, b)

#if KIND == KIND_INTEGER
#define MAGNITUDE(a) ((a) < 0 ? 0 - (BITS)(a) : (BITS)(a))
#define op_abs(a, b, c) ((NUM)MAGNITUDE(a))
#define op_sign(a, b, c) (((a) > 0) - ((a) < 0))
#define op_relu(a, b, c) ((a) < 0 ? 0 : (a))
#define op_prelu(a, b, c) ((a) < 0 ? op_multiply(a, b, 0) : (a))
static inline NUM divide(NUM a, NUM b) {
  return b == 0 ? 0 : b == -1 ? (NUM)(0 - (BITS)a) : a / b;
}
/* The rest with the sign of a. */
static inline NUM rest_of(NUM a, NUM b) {
  return b == 0 || b == -1 ? 0 : a % b;
}
static inline NUM remainder_of(NUM a, NUM b) {
  NUM rest = rest_of(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
static inline NUM floor_divide(NUM a, NUM b) {
  NUM rest = rest_of(a, b);
  return divide(a, b) - (rest != 0 && (rest < 0) != (b < 0));
}
#define op_remainder(a, b, c) remainder_of(a, b)
#define op_floor_divide(a, b, c) floor_divide(a, b)
/* A negative count is beyond every width. */
#define op_bitwise_left_shift(a, b, c) ((BITS)(b) < 8 * sizeof(NUM) ? (NUM)((BITS)(a) << (BITS)(b)) : 0)
#define op_bitwise_right_shift(a, b, c) ((BITS)(b) < 8 * sizeof(NUM) ? (a) >> (BITS)(b) : (a) < 0 ? (NUM)-1 : 0)
#else
#define MAGNITUDE(a) (a)
#define op_abs(a, b, c) (a)
#define op_sign(a, b, c) ((a) != 0)
#define op_relu(a, b, c) (a)
#define op_prelu(a, b, c) (a)
static inline NUM divide(NUM a, NUM b) {
  return b == 0 ? 0 : a / b;
}
static inline NUM rest_of(NUM a, NUM b) {
  return b == 0 ? 0 : a % b;
}
#define op_remainder(a, b, c) rest_of(a, b)
#define op_floor_divide(a, b, c) divide(a, b)
#define op_bitwise_left_shift(a, b, c) ((b) < 8 * sizeof(NUM) ? (a) << (b) : 0)
#define op_bitwise_right_shift(a, b, c) ((b) < 8 * sizeof(NUM) ? (a) >> (b) : 0)
#endif
#define op_divide(a, b, c) divide(a, b)
#define op_fmod(a, b, c) rest_of(a, b)
#define op_bit_count(a, b, c) popcount(MAGNITUDE(a))
/* max(-x, 0), the second half of crelu. */
#define op_negative_relu(a, b, c) op_relu(op_negative(a, 0, 0), 0, 0)

static inline BITS common_divisor(BITS a, BITS b) {
  while (b != 0) {
    BITS rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
static inline BITS common_multiple(BITS a, BITS b) {
  return a == 0 || b == 0 ? 0 : a / common_divisor(a, b) * b;
}
#define op_gcd(a, b, c) ((NUM)common_divisor(MAGNITUDE(a), MAGNITUDE(b)))
#define op_lcm(a, b, c) ((NUM)common_multiple(MAGNITUDE(a), MAGNITUDE(b)))

#ifdef HAS_FP64
static inline int is_close(double a, double b, double rtol, double atol) {
  return fabs(a - b) <= atol + rtol * fabs(b);
}
#define op_is_close(a, b, c) ((a) == (b) || is_close(convert_double(a), convert_double(b), n0, n1))
#endif

#else
/* -- real numbers ------------------------------------------------------------------------------------------------------ */

#define op_negative(a, b, c) (-(a))
#define op_abs(a, b, c) fabs(a)
#define op_sign(a, b, c) ((a) > 0 ? (NUM)1 : (a) < 0 ? (NUM)-1 : (a) + 0) /* of both zeros 0; NaN stays */
#define op_add(a, b, c) ((a) + (b))
#define op_subtract(a, b, c) ((a) - (b))
#define op_multiply(a, b, c) ((a) * (b))
#define op_divide(a, b, c) ((a) / (b))
#define op_true_divide(a, b, c) ((a) / (b))
#define op_divide_no_nan(a, b, c) ((b) == 0 ? (NUM)0 : (a) / (b))
#define op_reciprocal(a, b, c) (1 / (a))
#define op_square(a, b, c) ((a) * (a))
/* Rounded once. */
static inline NUM cubed(NUM x) {
  NUM square = x * x, lost = fma(x, x, -square), cube = square * x, rest = fma(square, x, -cube);
  return isfinite(cube) ? cube + (rest + lost * x) : cube;
}
#define op_cube(a, b, c) cubed(a)
#define op_squared_difference(a, b, c) (((a) - (b)) * ((a) - (b)))
#define op_power(a, b, c) pow(a, b)
/* Of a function that OpenCL has itself: BUILTIN. */
#define op_builtin(a, b, c) BUILTIN(a)
/* Two roundings, of which a step of Newton's takes one back. */
static inline NUM inverse_root(NUM x) {
  NUM root = 1 / sqrt(x), product = x * root, lost = fma(x, root, -product);
  NUM error = fma(-product, root, (NUM)1) - lost * root;
  return isfinite(root) && root > 0 ? fma(root, error / 2, root) : root;
}
#define op_rsqrt(a, b, c) inverse_root(a)
#define op_atan2(a, b, c) atan2(a, b)
#define op_hypot(a, b, c) hypot(a, b)
#define op_floor(a, b, c) floor(a)
#define op_ceil(a, b, c) ceil(a)
#define op_round(a, b, c) rint(a)
#define op_trunc(a, b, c) trunc(a)
#define op_frac(a, b, c) ((a) - trunc(a))
#define op_is_nan(a, b, c) ((a) != (a))
#define op_is_finite(a, b, c) (isfinite(a) != 0)
/* n0, n1: detect negative, positive */
#define op_is_inf(a, b, c) (isinf(a) && ((a) < 0 ? n0 : n1) != 0)
#define op_signbit(a, b, c) (signbit(a) != 0)
#define op_angle(a, b, c) ((a) != (a) ? (a) : (a) < 0 ? (NUM)3.14159265358979323846 : (NUM)0)
#define op_imag(a, b, c) ((NUM)0)
#define op_copysign(a, b, c) copysign(a, b)
#define op_fmod(a, b, c) fmod(a, b)
#define op_fmax(a, b, c) ((a) != (a) ? (b) : (b) != (b) || (a) >= (b) ? (a) : (b))
#define op_fmin(a, b, c) ((a) != (a) ? (b) : (b) != (b) || (a) <= (b) ? (a) : (b))
#define op_heaviside(a, b, c) ((a) == 0 ? (b) : (a) != (a) ? (a) : (NUM)((a) > 0))
#define op_nan_to_num(a, b, c) ((a) != (a) ? (NUM)n0 : isinf(a) ? ((a) > 0 ? (NUM)n1 : (NUM)n2) : (a))

static inline NUM remainder_of(NUM a, NUM b) {
  NUM rest = fmod(a, b);
  return rest == 0 ? copysign((NUM)0, b) : (rest < 0) != (b < 0) ? rest + b : rest;
}
#define op_remainder(a, b, c) remainder_of(a, b)

/* The floor of the exact quotient: what is left when the rest, which is exact, is taken off a. */
static inline NUM floor_quotient(NUM a, NUM b) {
  if (b == 0) {
    return a / b;
  }
  NUM rest = fmod(a, b), quotient = (a - rest) / b;
  quotient -= rest != 0 && (rest < 0) != (b < 0) ? 1 : 0;
  if (quotient == 0) {
    return copysign((NUM)0, a / b);
  }
  NUM whole = floor(quotient);
  return quotient - whole > (NUM)0.5 ? whole + 1 : whole;
}
#define op_floor_divide(a, b, c) floor_quotient(a, b)

/* n0, n1, n2: rtol, atol, equal_nan */
static inline int is_close(NUM a, NUM b, NUMBER rtol, NUMBER atol, NUMBER equal_nan) {
  if (isnan(a) || isnan(b)) {
    return isnan(a) && isnan(b) && equal_nan != 0;
  }
  return a == b ? 1 : isinf(a) || isinf(b) ? 0 : fabs(a - b) <= atol + rtol * fabs(b);
}
#define op_is_close(a, b, c) is_close(a, b, n0, n1, n2)

/* b is an integer of its own dtype; from FAR on everything is beyond the range. */
#define FAR 16384
#define op_ldexp(a, b, c) ldexp(a, (int)((b) > FAR ? FAR : B_SIGNED && (long)(b) < -FAR ? -FAR : (long)(b)))

/* -- activations ------------------------------------------------------------------------------------------------------- */

#define op_relu(a, b, c) ((a) < 0 ? (NUM)0 : (a))
#define op_negative_relu(a, b, c) (-(a) < 0 ? (NUM)0 : -(a))
#define op_leaky_relu(a, b, c) ((a) < 0 ? (NUM)n0 * (a) : (a))
#define op_prelu(a, b, c) ((a) < 0 ? (a) * (b) : (a))
#define op_elu(a, b, c) ((a) > 0 ? (a) : (NUM)n0 * expm1(a))
#define op_selu(a, b, c) ((NUM)n1 * ((a) > 0 ? (a) : (NUM)n0 * expm1(a)))
#define op_threshold(a, b, c) ((a) <= n0 ? (NUM)n1 : (a))
#define op_softsign(a, b, c) (isinf(a) ? copysign((NUM)1, a) : (a) / (1 + fabs(a)))
#define op_rectified_tanh(a, b, c) ((a) < 0 ? (NUM)0 : tanh(a))

static inline NUM bounded(NUM x, NUM low, NUM high) {
  NUM raised = x < low ? low : x;
  return raised > high ? high : raised;
}
#define op_hard_tanh(a, b, c) bounded(a, (NUM)n0, (NUM)n1)
#define op_hard_sigmoid(a, b, c) bounded(fma((NUM)n0, a, (NUM)n1), 0, 1)
#define op_hard_swish(a, b, c) ((a) <= -3 ? -(NUM)0 : (a) >= 3 ? (a) : (a) * ((a) + 3) / 6)

/* n0, n1: lambd, bias */
#define op_shrink(a, b, c) ((a) != (a) ? (a) : (a) > n0 ? (a) - (NUM)n1 : (a) < -n0 ? (a) + (NUM)n1 : (NUM)0)

static inline NUM celu(NUM x, NUM alpha) {
  NUM below = alpha * expm1(x / alpha);
  return (x > 0 ? x : 0) + (below < 0 || below != below ? below : 0);
}
#define op_celu(a, b, c) celu(a, (NUM)n0)

/* Both forms are exact to rounding in their half: no cancellation, no overflow. */
static inline NUM sigmoid(NUM x) {
  NUM e = exp(-fabs(x));
  return x != x ? x : (x >= 0 ? 1 : e) / (1 + e);
}
#define op_sigmoid(a, b, c) sigmoid(a)
#define op_glu(a, b, c) ((a) * sigmoid(b))

/* sigmoid(a b), the product's rounding made good: e^(p + lost) = e^p (1 + lost). */
static inline NUM sigmoid_of_product(NUM a, NUM b) {
  NUM p = a * b, lost = fma(a, b, -p), e = exp(-fabs(p));
  e = isfinite(p) ? fma(e, p >= 0 ? -lost : lost, e) : e;
  return p != p ? p : (p >= 0 ? 1 : e) / (1 + e);
}

static inline NUM swish(NUM x, NUM alpha) {
  return isinf(x) && alpha * x < 0 ? copysign((NUM)0, x) : x * sigmoid_of_product(alpha, x);
}
#define op_swish(a, b, c) swish(a, (NUM)n0)
#define op_swiglu(a, b, c) (swish(a, (NUM)n0) * (b))

static inline NUM softplus(NUM x) {
  return x != x ? x : (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}
#define op_softplus(a, b, c) (softplus((NUM)n0 * (a)) / (NUM)n0)
#define op_log_sigmoid(a, b, c) (-softplus(-(a)))

/* tanh(ln(1 + e)) = e (e + 2) / (e (e + 2) + 2) with e = e^x, in which nothing cancels. */
static inline NUM mish(NUM x) {
  if (x > 40 || x == -INFINITY) {
    return x > 40 ? x : -(NUM)0;
  }
  NUM e = exp(x), product = e * (e + 2);
  return x * (product / (product + 2));
}
#define op_mish(a, b, c) mish(a)

/* What is left of 1 / sqrt(2) behind its first NUM. */
#define ROOT_REST (sizeof(NUM) == 4 ? (NUM)1.21016175e-8 : (NUM)-4.8336466567264567e-17)

/* 1 + erf(z) = erfc(-z) keeps its digits where erf is near -1; n0: by tanh, where (1 + tanh u) / 2 = sigmoid(2 u). */
static inline NUM gelu(NUM x, int approximate) {
  if (x == -INFINITY) {
    return -(NUM)0;
  }
  if (approximate) {
    NUM u = (NUM)0.79788456080286535588 * (x + (NUM)0.044715 * x * x * x);
    return x * sigmoid(2 * u);
  }
  /* erfc falls steeply: what the product loses to rounding counts. */
  NUM root = (NUM)0.70710678118654752440, z = -x * root, lost = fma(-x, root, -z) - x * ROOT_REST;
  return x / 2 * (erfc(z) - (isinf(x) || x == 0 ? 0 : (NUM)1.12837916709551257390 * exp(-z * z) * lost));
}
#define op_gelu(a, b, c) gelu(a, n0 != 0)

/* x - tanh x = (x cosh x - sinh x) / cosh x, whose numerator is the sum of 2 k x^(2 k + 1) / (2 k + 1)!. */
static inline NUM tanh_shrink(NUM x) {
  if (!(fabs(x) < 1)) {
    return x - tanh(x);
  }
  NUM square = x * x, term = x, sum = 0;
  for (int k = 1; k < 14; k++) {
    term *= square / ((2 * k) * (2 * k + 1));
    sum += 2 * k * term;
  }
  return sum / cosh(x);
}
#define op_tanh_shrink(a, b, c) tanh_shrink(a)

/* 1 - 1 / (1 + p) = p / (1 + p). */
static inline NUM rational_tanh(NUM x) {
  NUM u = fabs(x) * 2 / 3, p = u + u * u + (NUM)1.41645 * u * u * u * u;
  return copysign((NUM)1.7159 * (isinf(p) ? 1 : p / (1 + p)), x);
}
#define op_rational_tanh(a, b, c) rational_tanh(a)

/* -- sums of powers, the next number ------------------------------------------------------------------------------------- */

/* The larger and log(1 + base^-|a - b|). */
static inline NUM log_add(NUM a, NUM b, NUM base) {
  NUM larger = a > b || a != a ? a : b, smaller = a > b || a != a ? b : a;
  if (larger != larger || smaller != smaller) {
    return NAN;
  }
  return isinf(larger) || isinf(smaller) ? larger : larger + log1p(exp((smaller - larger) * base)) / base;
}
#define op_logaddexp(a, b, c) log_add(a, b, 1)
#define op_logaddexp2(a, b, c) log_add(a, b, (NUM)0.69314718055994530942)
#define op_xlogy(a, b, c) ((a) == 0 && (b) == (b) ? (NUM)0 : (a) * log(b))
#define op_deg2rad(a, b, c) ((a) * (NUM)0.017453292519943295769236907684886)
#define op_rad2deg(a, b, c) ((a) * (NUM)57.295779513082320876798154814105)

#ifdef STEP16
/* Of 16-bit floats by their bits. STEP16: float16 or bfloat16. */
#define bits_float16(t, x) vstore_half_rte(x, 0, (__private half *)&(t))
#define of_float16(t) vload_half(0, (__private const half *)&(t))
#define bits_bfloat16(t, x) ((t) = (ushort)(as_uint(x) >> 16))
#define of_bfloat16(t) as_float((uint)(t) << 16)
static inline float next_after(float a, float b) {
  ushort bits;
  if (a != a || b != b || a == b) {
    return a != a ? a : b;
  }
  PASTE(bits, STEP16)(bits, a);
  bits = a == 0 ? (b > 0 ? 1 : 0x8001) : (a < b) == (a > 0) ? bits + 1 : bits - 1;
  return PASTE(of, STEP16)(bits);
}
#define op_nextafter(a, b, c) next_after(a, b)
#else
#define op_nextafter(a, b, c) nextafter(a, b)
#endif
#endif

/* -- the kernels ------------------------------------------------------------------------------------------------------- */

#ifdef PAIRS /* precise.cl */
#define PARAMETERS NUMBER n0, NUMBER n1, NUMBER n2, NUMBER m0, NUMBER m1, NUMBER m2
#else
#define PARAMETERS NUMBER n0, NUMBER n1, NUMBER n2
#endif
#define A_INPUT __global const STORAGE(A) *a, long a0,
#define A_VALUE(place) CONVERT(TYPE_A, AS_A, LOAD(A, a, place))
#if INPUTS > 1
#define B_INPUT __global const STORAGE(B) *b, long b0,
#define B_VALUE(place) CONVERT(TYPE_B, AS_B, LOAD(B, b, place))
#else
#define B_INPUT
#define B_VALUE(place) 0
#endif
#if INPUTS > 2
#define C_INPUT __global const STORAGE(C) *c, long c0,
#define C_VALUE(place) CONVERT(TYPE_C, AS_C, LOAD(C, c, place))
#else
#define C_INPUT
#define C_VALUE(place) 0
#endif

/* What each operand is in the function: NUM, but where the host says otherwise (conditions, exponents). */
#ifndef NUM_A
#define NUM_A NUM
#endif
#ifndef NUM_B
#define NUM_B NUM
#endif
#define STORE(place, value) SAVE(Y, y, place, CONVERT_LETTER(RESULT, TYPE_Y, value))

/* One axis: neighbours, or one element repeated, or any other step. */
__kernel void flat(A_INPUT B_INPUT C_INPUT __global STORAGE(Y) *y, long y0, long size, long a1, long b1, long c1,
                   long y1, PARAMETERS) {
  INDEX i = get_global_id(0);
  if (i < size) {
    NUM_A va = (NUM_A)A_VALUE(a0 + (long)i * a1);
    NUM_B vb = (NUM_B)B_VALUE(b0 + (long)i * b1);
    NUM vc = (NUM)C_VALUE(c0 + (long)i * c1);
    STORE(y0 + (long)i * y1, OP(va, vb, vc));
  }
}

/* Any number of axes; the operands of the walk are y, a, b, c. */
__kernel void walked(A_INPUT B_INPUT C_INPUT __global STORAGE(Y) *y, long y0, nd4c_walk walk, PARAMETERS) {
  INDEX i = get_global_id(0);
  if (i < walk.size) {
    long places[4];
    nd4c_walk_places(&walk, INPUTS + 1, i, places);
    NUM_A va = (NUM_A)A_VALUE(a0 + places[1]);
    NUM_B vb = (NUM_B)B_VALUE(b0 + places[2]);
    NUM vc = (NUM)C_VALUE(c0 + places[3]);
    STORE(y0 + places[0], OP(va, vb, vc));
  }
}
