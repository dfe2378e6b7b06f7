/* Tolerances of devices that exceed a record's: the only list of them, each from a specification. */
#include <string.h>

#include "run.h"

/* X(op, ULP): float32 functions of OpenCL C in the full profile (The OpenCL C Specification 3.0, "Relative error as
 * ULPs"). An op that is made of several of them has the largest of their bounds. Those of float64 functions are
 * the same, but for divisions and square roots, which are correctly rounded. */
// clang-format off
#define CF_OPENCL_ULPS(X) \
  X(exp, 3) X(exp2, 3) X(expm1, 3) X(log, 3) X(log2, 3) X(log10, 3) X(log1p, 2) \
  X(sin, 4) X(cos, 4) X(tan, 5) X(sinh, 4) X(cosh, 4) X(tanh, 5) \
  X(asin, 4) X(acos, 4) X(atan, 5) X(atan2, 6) X(asinh, 4) X(acosh, 4) X(atanh, 5) \
  X(power, 16) X(erf, 16) X(erfc, 16) X(cbrt, 2) X(hypot, 4) X(rsqrt, 2) X(sqrt, 3) \
  X(divide, 2.5) X(true_divide, 2.5) X(reciprocal, 2.5)
// clang-format on

double cf_allowed_ulps(const cf_run *run, nd4c_op op, nd4c_dtype dtype, double ulps) {
  static const struct {
    nd4c_op op;
    double ulps;
  } rows[] = {
#define ULPS_ROW(name, bound) {ND4C_OP_##name, bound},
      CF_OPENCL_ULPS(ULPS_ROW)
#undef ULPS_ROW
  };
  bool rounded = op == ND4C_OP_sqrt || op == ND4C_OP_divide || op == ND4C_OP_true_divide || op == ND4C_OP_reciprocal;
  bool listed = dtype == ND4C_FLOAT32 || (dtype == ND4C_FLOAT64 && !rounded);
  if (!listed || strcmp(run->options.backend, "opencl") != 0) {
    return ulps;
  }
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].op == op) {
      return rows[i].ulps > ulps ? rows[i].ulps : ulps;
    }
  }
  return ulps;
}
