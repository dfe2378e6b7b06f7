/* The activation behind a product or a bias; -D ACTIVATION: the op table's number. gemm.cl, conv.cl and channel.cl
 * call it (support/gemm.c and the families window and normalization put it before them). */
static inline REAL activate(REAL x) {
#if ACTIVATION == 1
  return x > 0 || isnan(x) ? x : (REAL)0;
#elif ACTIVATION == 2
  return x / 2 * (1 + erf(x * (REAL)0.70710678118654752440));
#elif ACTIVATION == 3
  return x / 2 * (1 + tanh((REAL)0.79788456080286535588 * (x + (REAL)0.044715 * x * x * x)));
#elif ACTIVATION == 4
  return 1 / (1 + exp(-x));
#elif ACTIVATION == 5
  return tanh(x);
#elif ACTIVATION == 6
  return x == -(REAL)INFINITY ? -(REAL)0 : x / (1 + exp(-x));
#elif ACTIVATION == 7
  return x == -(REAL)INFINITY ? -(REAL)0 : x * (x < -3 ? (REAL)0 : x > 3 ? (REAL)1 : x / 6 + (REAL)0.5);
#elif ACTIVATION == 8
  return x < 0 ? (REAL)0 : x > 6 ? (REAL)6 : x;
#else
  return x;
#endif
}
