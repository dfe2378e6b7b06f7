/* Integer arithmetic with overflow checks. Each function returns true if the result fits. Called wherever sizes come
 * from a caller or a file: src/array and ops/infer for shapes, import and io for files. */
#ifndef ND4C_BASE_CHECKED_H
#define ND4C_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool nd4c_checked_add(int64_t a, int64_t b, int64_t *result) {
  return !__builtin_add_overflow(a, b, result);
}

static inline bool nd4c_checked_subtract(int64_t a, int64_t b, int64_t *result) {
  return !__builtin_sub_overflow(a, b, result);
}

static inline bool nd4c_checked_multiply(int64_t a, int64_t b, int64_t *result) {
  return !__builtin_mul_overflow(a, b, result);
}

#endif
