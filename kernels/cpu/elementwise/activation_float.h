/* Activations of one float: a template of each_dtype.h. activation.h includes it for f32 and f64; unary.c calls
 * them. */

/* max(x, 0) + ln(1 + e), e = e^-|x|; u = 1 + e is rounded, what it lost is added. */
static inline T NAME(nd4c_softplus)(T x) {
  T e = NAME(nd4c_exp)(-(T)fabs((double)x)), u = 1 + e;
  return (x > 0 ? x : 0) + (NAME(nd4c_log)(u) + (e - (u - 1)) / u);
}

/* Parameters are arguments: gcc leaves a loop scalar that reads memory on one side of a selection. */
static inline T NAME(nd4c_leaky_relu)(T x, T alpha) {
  return x < 0 ? alpha * x : x;
}

static inline T NAME(nd4c_threshold)(T x, double limit, T below) {
  return (double)x <= limit ? below : x;
}

static inline T NAME(nd4c_hard_tanh)(T x, T low, T high) {
  T raised = x < low ? low : x;
  return raised > high ? high : raised;
}

static inline T NAME(nd4c_shrink)(T x, double limit, double bias) {
  double wide = (double)x, y = wide > limit ? wide - bias : wide < -limit ? wide + bias : wide == wide ? 0 : wide;
  return (T)y;
}

static inline T NAME(nd4c_elu)(T x, T alpha) {
  return x >= 0 ? x : alpha * NAME(nd4c_expm1_below)(x);
}

/* For alpha > 0. */
static inline T NAME(nd4c_celu)(T x, T alpha) {
  return x >= 0 ? x : alpha * NAME(nd4c_expm1_below)(x / alpha);
}

static inline T NAME(nd4c_selu)(T x, T gamma, T below) {
  return x >= 0 ? gamma * x : below * NAME(nd4c_expm1_below)(x);
}

/* For |alpha| of 0.1 at least: so deep below 0 that e^ is 0 to the exponential, it is 0 for every x. */
static inline T NAME(nd4c_swish)(T x, double alpha) {
  T inside = (T)alpha * x;
  T lost = (T)fabs((double)inside) < 1000 ? NAME(nd4c_lost)(alpha, x, inside) : 0;
  T y = NAME(nd4c_sigmoid_times)(inside, lost, x);
  return inside < (T)(sizeof(T) == 4 ? -130 : -800) ? (x > 0 ? 0 : -(T)0) : y;
}

static inline T NAME(nd4c_softsign)(T x) {
  T a = (T)fabs((double)x), y = x / (1 + a);
  return a < (T)INFINITY ? y : a == a ? (x > 0 ? (T)1 : -(T)1) : x;
}
