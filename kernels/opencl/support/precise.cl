/* Functions whose rounded steps would add up, in numbers of two parts: of float64; where there is no float64, of
 * float32. Behind wide.cl. PAIRS: the latter; the host's numbers n0, n1, n2 then have second parts m0, m1, m2.
 * families/elementwise.c puts it before elementwise.cl. */
#ifdef PAIRS
#define WIDE_NUMBER(i) ((wide)(n##i, m##i))
/* Sizes beyond which what a product lost is lost for good; one whose fourth power is none too large. */
#define LEAST 1e-30f
#define MOST 1e15f
#define LARGE 1e8f
#else
#define WIDE_NUMBER(i) w_of(n##i)
#define LEAST 1e-290
#define MOST 1e150
#define LARGE 1e20
#endif

/* x - tanh x = (x cosh x - sinh x) / cosh x, whose numerator is the sum of 2 k x^(2 k + 1) / (2 k + 1)!. */
static inline PART tanh_shrink_wide(PART x) {
  if (!isfinite(x) || x == 0) {
    return x + 0; /* of -0 - -0: 0 */
  }
  wide e = w_exp(w_of(-fabs(x))), f = w_mul(e, e);
  if (fabs(x) >= 1) {
    wide tangent = w_div(w_sub(w_of(1), f), w_plus(f, 1));
    return copysign(w_value(w_sub(w_of(fabs(x)), tangent)), x);
  }
#ifdef PAIRS /* x^3 / 3, where its parts would be too small for floats */
  if (fabs(x) < 1e-5f) {
    float y = ldexp(x, 30);
    return copysign(ldexp(w_value(w_div(w_scale(w_mul(w_of(y), w_of(y)), y), w_of(3))), -90), x);
  }
#endif
  wide square = w_mul(w_of(x), w_of(x)), term = w_of(x), sum = w_of(0);
  for (int k = 1; k < 14; k++) {
    term = w_div(w_mul(term, square), w_of((2 * k) * (2 * k + 1)));
    sum = w_add(sum, term * (PART)(2 * k));
  }
  return copysign(w_value(w_div(w_mul(sum, e) * 2, w_plus(f, 1))), x);
}
#define op_tanh_shrink_wide(a, b, c) tanh_shrink_wide(a)

/* 1 - 1 / (1 + p) = p / (1 + p). */
static inline PART rational_tanh_wide(PART x) {
  wide scale = w_div(w_of(17159), w_of(10000)), u = w_div(w_of(2 * fabs(x)), w_of(3));
  if (!(fabs(x) < LARGE)) {
    return isnan(x) ? x : copysign(w_value(scale), x);
  }
#ifdef PAIRS /* p is u */
  if (fabs(x) < 1e-20f) {
    return x == 0 ? x : ldexp(w_value(w_div(w_scale(scale, ldexp(x, 61)), w_of(3))), -60);
  }
#endif
  wide square = w_mul(u, u), fourth = w_mul(w_mul(square, square), w_div(w_of(141645), w_of(100000)));
  wide p = w_add(w_add(u, square), fourth);
  return copysign(w_value(w_mul(scale, w_div(p, w_plus(p, 1)))), x);
}
#define op_rational_tanh_wide(a, b, c) rational_tanh_wide(a)

/* The larger and log(1 + base^-|a - b|). */
static inline PART log_add_wide(PART a, PART b, wide base) {
  PART larger = a > b || a != a ? a : b, smaller = a > b || a != a ? b : a;
  if (larger != larger || smaller != smaller) {
    return NAN;
  }
  if (isinf(larger) || isinf(smaller)) {
    return larger;
  }
  if (larger - smaller > (PART)1e5) {
    return larger + 0; /* -0, too */
  }
  wide e = w_exp(w_mul(w_sum(smaller, -larger), base));
  return w_value(w_add(w_of(larger), w_div(w_log1p(e), base)));
}
#define op_logaddexp_wide(a, b, c) log_add_wide(a, b, w_of(1))
#define op_logaddexp2_wide(a, b, c) log_add_wide(a, b, WIDE_LN2)

static inline PART xlogy_wide(PART a, PART b) {
  PART plain = a == 0 && b == b ? 0 : a * log(b);
  return isfinite(plain) && fabs(plain) > LEAST ? w_value(w_scale(w_log(w_of(b)), a)) : plain;
}
#define op_xlogy_wide(a, b, c) xlogy_wide(a, b)

/* a / (1 + e^-b), b in two parts. */
static inline wide gated(PART a, wide b) {
  wide e = w_exp(w_minus(w_abs(b)));
  return w_scale(w_div(b.x >= 0 ? w_of(1) : e, w_plus(e, 1)), a);
}
#ifdef PAIRS
/* times more, the larger of both first; where the gate is e^b to all digits, and where both are large, by a power of two
 * away from the ends of the range. */
static inline float gated_times(float a, wide b, float more) {
  bool swap = fabs(a) < fabs(more);
  float first = swap ? more : a, second = swap ? a : more;
  int up = b.x < -40 ? (int)fmin(b.x * -1.442695f, 600.0f) : 0, down = 0;
  if (fabs(second) > 1 && fabs(first) > 0x1p64f) {
    down = 128;
  }
  first = ldexp(first, -down);
  wide part = up == 0 ? gated(first, b) : w_scale(w_exp_scaled(b, up), first);
  return copysign(ldexp(w_value(w_scale(part, second)), down - up), a * more);
}
/* The least b for which the gate in double is more than 0. */
#define LEAST_GATE -709.7f
static inline float glu_wide(float a, float b) {
  if (isinf(a) && b > LEAST_GATE) {
    return a;
  }
  return isfinite(a) && isfinite(b) && a != 0 ? gated_times(a, w_of(b), 1) : a / (1 + exp(-b));
}
#define op_glu_wide(a, b, c) glu_wide(a, b)
/* swish(a) b */
static inline float swiglu_wide(float a, float b, wide alpha) {
  wide gate = w_scale(alpha, a);
  float result = isfinite(gate.x) && isfinite(b) && a * b != 0 ? gated_times(a, gate, b) : NAN;
  if (isfinite(result)) {
    return result;
  }
  if (isinf(b) && isfinite(a) && a != 0 && gate.x > LEAST_GATE) {
    return a * b;
  }
  return (isinf(a) && alpha.x * a < 0 ? copysign(0.0f, a) : a / (1 + exp(-(alpha.x * a)))) * b;
}
#define op_swiglu_wide(a, b, c) swiglu_wide(a, b, WIDE_NUMBER(0))
#define op_swish_wide(a, b, c) swiglu_wide(a, 1, WIDE_NUMBER(0))

static inline float hard_sigmoid_wide(float x, wide alpha, wide beta) {
  float plain = fma(alpha.x, x, beta.x);
  plain = isfinite(plain) ? w_value(w_add(w_scale(alpha, x), beta)) : plain;
  return plain < 0 ? 0 : plain > 1 ? 1 : plain;
}
#define op_hard_sigmoid_wide(a, b, c) hard_sigmoid_wide(a, WIDE_NUMBER(0), WIDE_NUMBER(1))
#define op_hard_swish_wide(a, b, c) \
  ((a) <= -3 ? -0.0f : (a) >= 3 || (a) != (a) || (a) == 0 ? (a) : copysign(w_value(w_div(w_scale(w_sum(a, 3), a), w_of(6))), a))

/* tanh(ln(1 + e)) = e (e + 2) / (e (e + 2) + 2) with e = e^x. */
static inline float mish_wide(float x) {
  if (x == 0 || !(fabs(x) <= 40)) {
    float far = x < 0 && x != -INFINITY ? ldexp(w_value(w_scale(w_exp_scaled(w_of(x), 100), x)), -100) : 0;
    return x < 0 ? copysign(far, x) : x;
  }
  wide e = w_exp(w_of(x)), product = w_mul(e, w_plus(e, 2));
  return copysign(w_value(w_scale(w_div(product, w_plus(product, 2)), x)), x);
}
#define op_mish_wide(a, b, c) mish_wide(a)
#else
static inline double glu_wide(double a, double b, double plain) {
  return isfinite(plain) && fabs(plain) > LEAST && isfinite(b) ? w_value(gated(a, w_of(b))) : plain;
}
#define op_glu_wide(a, b, c) glu_wide(a, b, op_glu(a, b, c))
static inline double swiglu_wide(double a, double b, double alpha, double plain) {
  wide product = (wide)(alpha * a, fma(alpha, a, -alpha * a));
  bool usual = isfinite(plain) && fabs(plain) > LEAST && isfinite(product.x) && fabs(a) < MOST && fabs(b) < MOST;
  return usual ? w_value(w_scale(gated(a, product), b)) : plain;
}
#define op_swiglu_wide(a, b, c) swiglu_wide(a, b, n0, op_swiglu(a, b, c))
#endif
