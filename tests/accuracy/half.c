/* float16 and bfloat16 are float32's result, rounded: every unary op with its presets, every engine and level, all 2^16
 * patterns. The reference computes both in f64 and may have rounded only once. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accuracy.h"
#include "kernels/reference/support/value.h"
#include "ops/op.h"

enum { PATTERNS = 1 << 16 };

/* Whether the op has one result of x's dtype and shape. (nan_to_num's presets are numbers of the dtype.) */
static bool keeps_dtype(const nd4c_op_info *info, nd4c_dtype dtype) {
  static const int64_t count = 1, stride = 1;
  const nd4c_tensor x = {.dtype = dtype, .rank = 1, .shape = &count, .strides = &stride, .size = 1};
  nd4c_attr_value attrs[8];
  nd4c_inferred y = {.dtype = ND4C_DTYPE_NONE};
  if (info->category != ND4C_CATEGORY_UNARY || ((info->dtypes >> dtype) & 1) == 0 || info->attr_count > 8 ||
      strcmp(info->name, "nan_to_num") == 0) {
    return false;
  }
  for (int32_t i = 0; i < info->attr_count; i++) {
    attrs[i] = info->attrs[i].preset;
  }
  nd4c_inference inference = {.op = info, .input_count = 1, .inputs = &x, .attrs = attrs, .outputs = &y};
  return nd4c_op_infer(nd4c_op_get_def(info->op), &inference) == ND4C_OK && y.dtype == dtype;
}

/* The results for x's patterns from `begin` on, computed in `wide` and then rounded to `dtype`. */
static bool compute(const nd4c_kernel *kernel, const function *of, nd4c_dtype wide, nd4c_dtype dtype, int64_t begin,
                    uint16_t *rounded) {
  static _Alignas(64) char x[PIECE * sizeof(double)], y[PIECE * sizeof(double)];
  accuracy_call call;
  for (int64_t i = 0; i < PIECE; i++) {
    uint16_t bits = (uint16_t)(begin + i);
    nd4c_value_store(wide, x, i, nd4c_value_load(dtype, (const char *)&bits, 0));
  }
  accuracy_call_make(&call, of, wide, PIECE, x, x, y);
  if (!accuracy_call_run(&call, kernel)) {
    return false;
  }
  for (int64_t i = 0; i < PIECE; i++) {
    nd4c_value_store(dtype, (char *)rounded, i, nd4c_value_load(wide, y, i));
  }
  return true;
}

static bool same(nd4c_dtype dtype, uint16_t a, uint16_t b) {
  return a == b ||
         (isnan(nd4c_value_load(dtype, (const char *)&a, 0).f) && isnan(nd4c_value_load(dtype, (const char *)&b, 0).f));
}

/* The number of patterns with wrong results; -1: the kernel declines. */
static int64_t count_wrong(const nd4c_kernel *kernel, const function *of, nd4c_dtype dtype, double *at) {
  static uint16_t got[PIECE], single[PIECE], twice[PIECE];
  bool reference = strcmp(kernel->engine, "reference") == 0;
  int64_t wrong = 0;
  for (int64_t begin = 0; begin < PATTERNS; begin += PIECE) {
    if (!compute(kernel, of, dtype, dtype, begin, got) || !compute(kernel, of, ND4C_FLOAT32, dtype, begin, single)) {
      return -1;
    }
    if (reference && memcmp(got, single, sizeof got) != 0 && !compute(kernel, of, ND4C_FLOAT64, dtype, begin, twice)) {
      return -1;
    }
    for (int64_t i = 0; i < PIECE; i++) {
      uint16_t bits = (uint16_t)(begin + i);
      if (same(dtype, got[i], single[i]) || (reference && same(dtype, got[i], twice[i]))) {
        continue;
      }
      *at = nd4c_value_load(dtype, (const char *)&bits, 0).f;
      wrong++;
    }
  }
  return wrong;
}

static bool measure_engine(nd4c_dtype dtype, const char *engine, const char *level) {
  int ops = 0;
  bool good = true;
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    const nd4c_op_info *info = nd4c_op_at(i);
    const nd4c_kernel *kernel = accuracy_find_kernel(info->name, engine);
    const function of = {.name = info->name, .op = info->name};
    double at = 0;
    int64_t wrong = kernel != NULL && keeps_dtype(info, dtype) ? count_wrong(kernel, &of, dtype, &at) : -1;
    ops += wrong >= 0;
    good = good && wrong <= 0;
    if (wrong > 0) {
      printf("%s of %s is not float32's result rounded at %lld numbers, engine %s %s: FAIL at %.9g\n", info->name,
             nd4c_dtype_name(dtype), (long long)wrong, engine, level, at);
    }
  }
  printf("%d unary ops of %s, all patterns: float32's result rounded; engine %s %s\n", ops, nd4c_dtype_name(dtype),
         engine, level);
  return good && ops > 0;
}

bool accuracy_halves(void) {
  static const nd4c_dtype dtypes[] = {ND4C_FLOAT16, ND4C_BFLOAT16};
  bool good = true;
  for (int i = 0; i < LEVELS; i++) {
    for (int k = 0; k < 2; k++) {
      const char *level;
      if (!accuracy_open(i, &level)) {
        continue;
      }
      good = (i > 0 || measure_engine(dtypes[k], "reference", "")) && good;
      good = measure_engine(dtypes[k], "simd", level) && good;
      accuracy_close();
    }
  }
  return good;
}
