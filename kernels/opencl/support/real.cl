/* Arithmetic of kernels that round once: REAL, by functions' names. PAIRS: there is no float64, and a REAL is a pair of
 * floats (wide.cl, which comes before); else the host's -D REAL (double, or float for what is exact enough in it), and
 * the names stand for operators. Sources given to ND4C_CL_BY_PAIRS (runtime/opencl.h) come behind this. */
#ifdef PAIRS
typedef wide REAL;

/* Of a float; of a whole number. */
#define R(x) w_of(x)
static inline REAL r_long(long x) {
  float high = convert_float(x);
  ulong whole = fabs(high) < 0x1p63f ? (ulong)convert_long(high) : 1UL << 63;
  return (REAL)(high, convert_float((long)((ulong)x - whole)));
}
static inline REAL r_ulong(ulong x) {
  float high = convert_float(x);
  return (REAL)(high, convert_float((long)(x - (high < 0x1p64f ? convert_ulong(high) : 0))));
}
/* R_OF(dtype, x): an element as a REAL. */
#define r_of_bool(x) w_of(x)
#define r_of_int8(x) w_of(x)
#define r_of_int16(x) w_of(x)
#define r_of_int32(x) r_long(x)
#define r_of_int64(x) r_long(x)
#define r_of_uint8(x) w_of(x)
#define r_of_uint16(x) w_of(x)
#define r_of_uint32(x) r_long(x)
#define r_of_uint64(x) r_ulong(x)
#define r_of_float16(x) w_of(x)
#define r_of_bfloat16(x) w_of(x)
#define r_of_float32(x) w_of(x)
#define R_OF(dtype, x) PASTE(r_of, dtype)(x)
/* Infinities, NaN and zeros are what the larger part is. */
static inline REAL r_add(REAL a, REAL b) {
  float sum = a.x + b.x;
  return isfinite(sum) && (sum != 0 || a.y + b.y != 0) ? w_add(a, b) : w_of(sum);
}
static inline REAL r_sub(REAL a, REAL b) {
  return r_add(a, w_minus(b));
}
static inline REAL r_mul(REAL a, REAL b) {
  float product = a.x * b.x;
  return isfinite(product) && product != 0 ? w_mul(a, b) : w_of(product);
}
static inline REAL r_div(REAL a, REAL b) {
  float quotient = a.x / b.x;
  wide all = w_div(a, b); /* whose steps overflow before the quotient does */
  return quotient != 0 && isfinite(b.x) && isfinite(all.x) ? all : w_of(quotient);
}
#define r_neg(a) w_minus(a)
#define r_abs(a) w_abs(a)
#define r_float(a) ((a).y == 0 || !isfinite((a).x) ? (a).x : (a).x + (a).y)
static inline REAL r_sqrt(REAL a) {
  wide root = w_sqrt(a);
  return a.x > 0 && isfinite(root.x) ? root : w_of(sqrt(a.x));
}
static inline REAL r_exp(REAL a) {
  return fabs(a.x) < 200 ? w_exp(a) : w_of(exp(a.x));
}
static inline REAL r_log(REAL a) {
  return a.x > 0 && isfinite(a.x) ? w_log(a) : w_of(log(a.x));
}
static inline REAL r_log1p(REAL a) {
  return a.x > -1 && isfinite(a.x) && a.x != 0 ? w_log1p(a) : w_of(log1p(a.x));
}
static inline REAL r_pow(REAL a, REAL b) {
  return a.x > 0 && isfinite(a.x) && isfinite(b.x) ? r_exp(r_mul(b, w_log(a))) : w_of(pow(a.x, b.x));
}
/* (e^2a - 1) / (e^2a + 1) */
static inline REAL r_tanh(REAL a) {
  if (!(fabs(a.x) < 20) || a.x == 0) {
    return w_of(tanh(a.x));
  }
  wide e = w_expm1(a * 2);
  return w_div(e, w_plus(e, 2));
}
static inline REAL r_expm1(REAL a) {
  return fabs(a.x) < 80 && a.x != 0 ? w_expm1(a) : w_of(expm1(a.x));
}
/* 1 / (1 + e^-a) */
static inline REAL r_sigmoid(REAL a) {
  if (!(fabs(a.x) < 80)) {
    return w_of(1 / (1 + exp(-a.x)));
  }
  wide e = w_exp(w_minus(w_abs(a)));
  return w_div(a.x >= 0 ? w_of(1) : e, w_plus(e, 1));
}
static inline REAL r_floor(REAL a) {
  float whole = floor(a.x);
  return whole == a.x && a.y != 0 ? w_fast(whole, floor(a.y)) : w_of(whole);
}
/* To even. */
static inline REAL r_rint(REAL a) {
  if (!(fabs(a.x) < 0x1p24f)) { /* an even number */
    return isfinite(a.x) ? w_fast(a.x, rint(a.y)) : w_of(a.x);
  }
  float whole = rint(a.x);
  wide rest = w_sum(a.x - whole, a.y);
  float size = fabs(rest.x), more = rest.x < 0 ? -rest.y : rest.y;
  bool next = size > 0.5f || (size == 0.5f && (more > 0 || (more == 0 && fmod(whole, 2.0f) != 0)));
  return w_of(next ? whole + copysign(1.0f, rest.x) : whole);
}
/* Of a whole number; saturates. */
static inline long r_whole(REAL a) {
  float size = fabs(a.x);
  if (size > 0x1p63f || (size == 0x1p63f && (a.y == 0 || (a.y < 0) == (a.x < 0))) || !isfinite(size)) {
    return convert_long_sat(a.x);
  }
  ulong high = size < 0x1p63f ? (ulong)convert_long(a.x) : 1UL << 63;
  return (long)(high + (ulong)convert_long(a.y));
}
static inline ulong r_whole_unsigned(REAL a) {
  if (a.x < 0x1p62f) {
    return convert_ulong_sat(r_whole(a));
  }
  if (!(a.x < 0x1p64f) && (a.x != 0x1p64f || !(a.y < 0))) {
    return ULONG_MAX;
  }
  return (a.x < 0x1p64f ? convert_ulong(a.x) : 0) + (ulong)convert_long(a.y);
}
/* Of what is not negative. */
#define r_round(a) r_floor(r_add(a, w_of(0.5f)))
static inline REAL r_fmod(REAL a, REAL b) {
  for (int i = 0; i < 12 && fabs(a.x) >= b.x && isfinite(a.x); i++) {
    a = r_sub(a, r_mul(w_of(fmax(1.0f, trunc(fabs(a.x) / b.x)) * (a.x < 0 ? -1 : 1)), b));
  }
  return a.x < 0 ? r_add(a, b) : a;
}
#define r_less(a, b) ((a).x < (b).x || ((a).x == (b).x && (a).y < (b).y))
#define r_at_most(a, b) ((a).x < (b).x || ((a).x == (b).x && (a).y <= (b).y))
#define r_is(a, number) ((a).x == (number) && (a).y == 0)
#define r_isnan(a) isnan((a).x)
/* A sum that takes floats, or products of two, or of a REAL and a float, and what its additions lost beside it; r_sum(s) is the number. */
static inline REAL r_take(REAL sum, float x) {
  float next = sum.x + x, part = next - sum.x;
  return (REAL)(next, sum.y + ((sum.x - (next - part)) + (x - part)));
}
static inline REAL r_take_product(REAL sum, float a, float b) {
  float product = a * b;
  sum.y += fma(a, b, -product);
  return r_take(sum, product);
}
static inline REAL r_take_scaled(REAL sum, REAL a, float b) {
  float product = a.x * b;
  sum.y += fma(a.x, b, -product) + a.y * b;
  return r_take(sum, product);
}
static inline REAL r_sum(REAL sum) {
  return isfinite(sum.x) && sum.y != 0 ? w_fast(sum.x, sum.y) : w_of(sum.x);
}
/* R_ROUND(X, a): as COMPUTE(X) of any real dtype, such that SAVE rounds for the first time: cut off, the last bit set if
 * anything was lost. */
static inline float r_odd(REAL a) {
  if (a.y == 0 || !isfinite(a.x)) {
    return a.x;
  }
  return as_float((as_uint(a.x) - ((a.y < 0) != (a.x < 0) ? 1 : 0)) | 1);
}
#define r_float16(a) r_odd(a)
#define r_bfloat16(a) r_odd(a)
#define r_float32(a) r_float(a)
#define R_ROUND(X, a) PASTE(r, CLASS(X))(a)
#define R_CAST(X, a) R_ROUND(X, a)
#else

#define R(x) ((REAL)(x))
#define r_long(x) ((REAL)(x))
#define R_OF(dtype, x) ((REAL)(x))
#define r_add(a, b) ((a) + (b))
#define r_sub(a, b) ((a) - (b))
#define r_mul(a, b) ((a) * (b))
#define r_div(a, b) ((a) / (b))
#define r_neg(a) (-(a))
#define r_abs(a) fabs(a)
#define r_sqrt(a) sqrt(a)
#define r_exp(a) exp(a)
#define r_expm1(a) expm1(a)
#define r_log(a) log(a)
#define r_log1p(a) log1p(a)
#define r_pow(a, b) pow(a, b)
#define r_tanh(a) tanh(a)
#define r_sigmoid(a) (1 / (1 + exp(-(a))))
#define r_floor(a) floor(a)
#define r_rint(a) rint(a)
#define r_whole(a) ((long)(a))
#define r_round(a) round(a)
#define r_fmod(a, b) fmod(a, b)
#define r_float(a) (a)
#define r_less(a, b) ((a) < (b))
#define r_at_most(a, b) ((a) <= (b))
#define r_is(a, number) ((a) == (number))
#define r_isnan(a) isnan(a)
#define r_take(sum, x) ((sum) + (REAL)(x))
#define r_take_product(sum, a, b) ((sum) + (REAL)(a) * (REAL)(b))
#define r_take_scaled(sum, a, b) ((sum) + (a) * (REAL)(b))
#define r_sum(sum) (sum)
#define R_ROUND(X, a) ROUND(X, a)
#define R_CAST(X, a) ((COMPUTE(X))(a))
#endif
