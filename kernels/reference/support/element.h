/* An element of each dtype and its value: value.c and runs.c expand these over their tables of dtypes. The member of
 * nd4c_value is ND4C_REF_FIELD_<kind>; READ gives it of an element, WRITE gives the element, wrapped or rounded once.
 */
#ifndef ND4C_KERNELS_REFERENCE_SUPPORT_ELEMENT_H
#define ND4C_KERNELS_REFERENCE_SUPPORT_ELEMENT_H

#include "kernels/types.h"

#define ND4C_REF_FIELD_BOOL u
#define ND4C_REF_FIELD_INT i
#define ND4C_REF_FIELD_UINT u
#define ND4C_REF_FIELD_FLOAT f
#define ND4C_REF_FIELD_COMPLEX c

#define ND4C_REF_READ_BOOL(name, x) ((x) != 0)
#define ND4C_REF_READ_INT(name, x) (x)
#define ND4C_REF_READ_UINT(name, x) (x)
#define ND4C_REF_READ_FLOAT(name, x) nd4c_ref_read_##name(x)
#define ND4C_REF_READ_COMPLEX(name, x) (x)
#define ND4C_REF_WRITE_BOOL(name, v) ((v) != 0)
#define ND4C_REF_WRITE_INT(name, v) ((nd4c_c_##name)(v))
#define ND4C_REF_WRITE_UINT(name, v) ((nd4c_c_##name)(v))
#define ND4C_REF_WRITE_FLOAT(name, v) nd4c_ref_write_##name(v)
#define ND4C_REF_WRITE_COMPLEX(name, v) ((nd4c_c_##name)(v))

static inline double nd4c_ref_read_float32(float x) {
  return (double)x;
}
static inline double nd4c_ref_read_float64(double x) {
  return x;
}
static inline float nd4c_ref_write_float32(double x) {
  return (float)x;
}
static inline double nd4c_ref_write_float64(double x) {
  return x;
}
#ifndef ND4C_DTYPES_LITE
static inline double nd4c_ref_read_float16(uint16_t x) {
  return (double)nd4c_float16_to_float(x);
}
static inline double nd4c_ref_read_bfloat16(uint16_t x) {
  return (double)nd4c_bfloat16_to_float(x);
}
static inline uint16_t nd4c_ref_write_float16(double x) {
  return nd4c_float16_from_float(nd4c_double_to_odd_float(x));
}
static inline uint16_t nd4c_ref_write_bfloat16(double x) {
  return nd4c_bfloat16_from_float(nd4c_double_to_odd_float(x));
}
#endif

/* Both loops are one case of a switch over the dtypes. Memory from outside need not be aligned: every access is a
 * memcpy. ASSIGN uses the element `x` at position i; VALUE is what position i receives. */
#define ND4C_REF_LOAD_RUN(NAME, name, ASSIGN)                                \
  case ND4C_##NAME:                                                          \
    for (int64_t i = 0; i < count; i++) {                                    \
      nd4c_c_##name x;                                                       \
      memcpy(&x, data + (start + i * stride) * (int64_t)sizeof x, sizeof x); \
      ASSIGN;                                                                \
    }                                                                        \
    return;
#define ND4C_REF_STORE_RUN(NAME, name, VALUE)                                \
  case ND4C_##NAME:                                                          \
    for (int64_t i = 0; i < count; i++) {                                    \
      nd4c_c_##name x = VALUE;                                               \
      memcpy(data + (start + i * stride) * (int64_t)sizeof x, &x, sizeof x); \
    }                                                                        \
    return;

#endif
