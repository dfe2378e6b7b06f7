/* The ops of unary.c for one element: a template of each_dtype.h, which unary.c includes; simd/elementwise.c runs the
 * loops made of it. Callers pass `op` as a constant. */

#if KIND == ND4C_WIDE_FLOAT
ND4C_INLINED T NAME(element)(enum nd4c_unary_index op, T x, const nd4c_unary_parameters *p) {
  return op == ND4C_UNARY_negative      ? -x
         : op == ND4C_UNARY_abs         ? (T)fabs((double)x)
         : op == ND4C_UNARY_square      ? x * x
         : op == ND4C_UNARY_sign        ? (x > 0   ? 1
                                           : x < 0 ? -1
                                                   : x + 0)
         : op == ND4C_UNARY_relu        ? (x < 0 ? 0 : x)
         : op == ND4C_UNARY_floor       ? (T)floor((double)x)
         : op == ND4C_UNARY_ceil        ? (T)ceil((double)x)
         : op == ND4C_UNARY_round       ? (T)rint((double)x)
         : op == ND4C_UNARY_reciprocal  ? 1 / x
         : op == ND4C_UNARY_exp         ? NAME(nd4c_exp)(x)
         : op == ND4C_UNARY_log         ? NAME(nd4c_log)(x)
         : op == ND4C_UNARY_sigmoid     ? NAME(nd4c_sigmoid)(x)
         : op == ND4C_UNARY_sqrt        ? NAME(nd4c_sqrt)(x)
         : op == ND4C_UNARY_tanh        ? NAME(nd4c_tanh)(x)
         : op == ND4C_UNARY_erf         ? (ND4C_HAS_FMA || sizeof(T) == 4 ? NAME(nd4c_erf)(x) : (T)erf((double)x))
         : op == ND4C_UNARY_gelu        ? NAME(nd4c_gelu)(x)
         : op == ND4C_UNARY_gelu_tanh   ? NAME(nd4c_gelu_tanh)(x)
         : op == ND4C_UNARY_leaky_relu  ? NAME(nd4c_leaky_relu)(x, (T)p->alpha)
         : op == ND4C_UNARY_elu         ? NAME(nd4c_elu)(x, (T)p->alpha)
         : op == ND4C_UNARY_selu        ? NAME(nd4c_selu)(x, (T)p->beta, (T)(p->alpha * p->beta))
         : op == ND4C_UNARY_celu        ? NAME(nd4c_celu)(x, (T)p->alpha)
         : op == ND4C_UNARY_softplus    ? NAME(nd4c_softplus)(x)
         : op == ND4C_UNARY_log_sigmoid ? -NAME(nd4c_softplus)(-x)
         : op == ND4C_UNARY_softsign    ? NAME(nd4c_softsign)(x)
         : op == ND4C_UNARY_mish        ? NAME(nd4c_mish)(x)
         : op == ND4C_UNARY_swish       ? NAME(nd4c_swish)(x, p->alpha)
         : op == ND4C_UNARY_threshold   ? NAME(nd4c_threshold)(x, p->alpha, (T)p->beta)
         : op == ND4C_UNARY_hard_swish  ? NAME(nd4c_hard_swish)(x)
         : op == ND4C_UNARY_hard_tanh   ? NAME(nd4c_hard_tanh)(x, (T)p->alpha, (T)p->beta)
         : op == ND4C_UNARY_shrink      ? NAME(nd4c_shrink)(x, p->alpha, p->beta)
                                        : NAME(nd4c_hard_sigmoid)(x, p->alpha, p->beta);
}
#else
/* Integers wrap: arithmetic in an unsigned type. */
ND4C_INLINED T NAME(element)(enum nd4c_unary_index op, T x, const nd4c_unary_parameters *p) {
  NAME(nd4c_wrap) wide = (NAME(nd4c_wrap))x;
  (void)p;
  return (T)(op == ND4C_UNARY_negative ? 0 - wide
             : op == ND4C_UNARY_abs    ? (x <= 0 ? 0 - wide : wide)
             : op == ND4C_UNARY_square ? wide * wide
             : op == ND4C_UNARY_relu   ? (x <= 0 ? 0 : wide)
                                       : (x > 0) - (NAME(nd4c_wrap))(x <= 0 && x != 0));
}
#endif

ND4C_INLINED void NAME(loop)(enum nd4c_unary_index op, SIGNATURE) {
  const T *x = vx;
  T *y = vy;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = NAME(element)(op, x[i], parameters);
  }
}

static void NAME(is_nan)(SIGNATURE) {
  const T *x = vx;
  uint8_t *y = vy;
  (void)parameters;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = ND4C_IS_NAN(x[i]);
  }
}

#if KIND == ND4C_WIDE_FLOAT
#define LOWEST ((T) - INFINITY)
#define HIGHEST ((T)INFINITY)
#else
#define LOWEST ((T)(KIND == ND4C_SIGNED ? (NAME(nd4c_wrap))1 << (8 * sizeof(T) - 1) : 0))
#define HIGHEST ((T)~LOWEST)
#endif
static void NAME(clip)(SIGNATURE) {
  const T *x = vx;
  T *y = vy;
  T low = parameters->low == NULL ? LOWEST : *(const T *)parameters->low;
  T high = parameters->high == NULL ? HIGHEST : *(const T *)parameters->high;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    T raised = x[i] < low || ND4C_IS_NAN(low) ? low : x[i];
    y[i] = raised > high || ND4C_IS_NAN(high) ? high : raised;
  }
}
#undef LOWEST
#undef HIGHEST
