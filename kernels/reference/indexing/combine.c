/* Rows that combine updates with elements (move.h): one function for each dtype and reduction.
 * backends/cpu/reference/indexing.c runs plans with them. */
#include "kernels/reference/indexing/move.h"
#include "kernels/types.h"

/* Numbers are computed in the widest of their kind (uint64_t, where overflow wraps) and stored once. */
#define WIDE_BOOL uint64_t
#define WIDE_INT int64_t
#define WIDE_UINT uint64_t
#define WIDE_FLOAT double
#define WIDE_COMPLEX double complex

#define LOAD_BOOL(x) ((uint64_t)((x) != 0))
#define LOAD_INT(x) ((int64_t)(x))
#define LOAD_UINT(x) ((uint64_t)(x))
#define LOAD_COMPLEX(x) ((double complex)(x))
#define LOAD_float16(x) ((double)nd4c_float16_to_float(x))
#define LOAD_bfloat16(x) ((double)nd4c_bfloat16_to_float(x))
#define LOAD_float32(x) ((double)(x))
#define LOAD_float64(x) (x)
#define SAVE_float16(v) nd4c_float16_from_float(nd4c_double_to_odd_float(v))
#define SAVE_bfloat16(v) nd4c_bfloat16_from_float(nd4c_double_to_odd_float(v))
#define SAVE_float32(v) ((float)(v))
#define SAVE_float64(v) (v)

#define ADD_BOOL(a, b) ((a) | (b))
#define ADD_INT(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define ADD_UINT(a, b) ((a) + (b))
#define ADD_FLOAT(a, b) ((a) + (b))
#define ADD_COMPLEX(a, b) ((a) + (b))
#define MULTIPLY_BOOL(a, b) ((a) & (b))
#define MULTIPLY_INT(a, b) ((int64_t)((uint64_t)(a) * (uint64_t)(b)))
#define MULTIPLY_UINT(a, b) ((a) * (b))
#define MULTIPLY_FLOAT(a, b) ((a) * (b))
#define MULTIPLY_COMPLEX(a, b) ((a) * (b))
#define MAXIMUM_BOOL(a, b) ((a) | (b))
#define MAXIMUM_INT(a, b) ((a) >= (b) ? (a) : (b))
#define MAXIMUM_UINT(a, b) ((a) >= (b) ? (a) : (b))
#define MAXIMUM_FLOAT(a, b) ((a) != (a) || (a) >= (b) ? (a) : (b))
#define MINIMUM_BOOL(a, b) ((a) & (b))
#define MINIMUM_INT(a, b) ((a) <= (b) ? (a) : (b))
#define MINIMUM_UINT(a, b) ((a) <= (b) ? (a) : (b))
#define MINIMUM_FLOAT(a, b) ((a) != (a) || (a) <= (b) ? (a) : (b))
#define SUBTRACT_INT(a, b) ((int64_t)((uint64_t)(a) - (uint64_t)(b)))
#define SUBTRACT_UINT(a, b) ((a) - (b))
#define SUBTRACT_FLOAT(a, b) ((a) - (b))
#define SUBTRACT_COMPLEX(a, b) ((a) - (b))
#define DIVIDE_INT(a, b) ((b) == 0 ? 0 : (b) == -1 ? (int64_t)(0 - (uint64_t)(a)) : (a) / (b))
#define DIVIDE_UINT(a, b) ((b) == 0 ? 0 : (a) / (b))
#define DIVIDE_FLOAT(a, b) ((a) / (b))
#define DIVIDE_COMPLEX(a, b) ((a) / (b))

#define ROW(NAME, name, kind, REDUCTION, LOAD, SAVE)                                                            \
  static void REDUCTION##_##name(int64_t count, int64_t bytes, const char *from, int64_t from_stride, char *to, \
                                 int64_t to_stride) {                                                           \
    (void)bytes;                                                                                                \
    for (int64_t i = 0; i < count; i++) {                                                                       \
      nd4c_c_##name there, update;                                                                              \
      memcpy(&there, to + i * to_stride, sizeof there);                                                         \
      memcpy(&update, from + i * from_stride, sizeof update);                                                   \
      WIDE_##kind a = LOAD(there), b = LOAD(update);                                                            \
      there = (nd4c_c_##name)SAVE(REDUCTION##_##kind(a, b));                                                    \
      memcpy(to + i * to_stride, &there, sizeof there);                                                         \
    }                                                                                                           \
  }

#define AS_IS(v) (v)
#define ROWS_COMMON(NAME, name, kind, LOAD, SAVE) \
  ROW(NAME, name, kind, ADD, LOAD, SAVE)          \
  ROW(NAME, name, kind, MULTIPLY, LOAD, SAVE)
#define ROWS_ORDERED(NAME, name, kind, LOAD, SAVE) \
  ROW(NAME, name, kind, MAXIMUM, LOAD, SAVE)       \
  ROW(NAME, name, kind, MINIMUM, LOAD, SAVE)
#define ROWS_INVERSE(NAME, name, kind, LOAD, SAVE) \
  ROW(NAME, name, kind, SUBTRACT, LOAD, SAVE)      \
  ROW(NAME, name, kind, DIVIDE, LOAD, SAVE)

#define DEFINE_BOOL(NAME, name, kind)             \
  ROWS_COMMON(NAME, name, kind, LOAD_BOOL, AS_IS) \
  ROWS_ORDERED(NAME, name, kind, LOAD_BOOL, AS_IS)
#define DEFINE_INT(NAME, name, kind)                 \
  ROWS_COMMON(NAME, name, kind, LOAD_##kind, AS_IS)  \
  ROWS_ORDERED(NAME, name, kind, LOAD_##kind, AS_IS) \
  ROWS_INVERSE(NAME, name, kind, LOAD_##kind, AS_IS)
#define DEFINE_FLOAT(NAME, name, kind)                     \
  ROWS_COMMON(NAME, name, kind, LOAD_##name, SAVE_##name)  \
  ROWS_ORDERED(NAME, name, kind, LOAD_##name, SAVE_##name) \
  ROWS_INVERSE(NAME, name, kind, LOAD_##name, SAVE_##name)
#define DEFINE_COMPLEX(NAME, name, kind)             \
  ROWS_COMMON(NAME, name, kind, LOAD_COMPLEX, AS_IS) \
  ROWS_INVERSE(NAME, name, kind, LOAD_COMPLEX, AS_IS)

ND4C_BOOL_DTYPES(DEFINE_BOOL)
ND4C_INT_DTYPES(DEFINE_INT)
ND4C_UINT_DTYPES(DEFINE_INT)
ND4C_HALF_DTYPES(DEFINE_FLOAT)
ND4C_WIDE_FLOAT_DTYPES(DEFINE_FLOAT)
ND4C_COMPLEX_DTYPES(DEFINE_COMPLEX)

/* By the numbers of ND4C_SCATTER_REDUCTION_TABLE from 1 on. */
enum { REDUCTIONS = 6 };
#define ENTRY_BOOL(NAME, name, kind) \
  [ND4C_##NAME] = {ADD_##name, MULTIPLY_##name, MAXIMUM_##name, MINIMUM_##name, NULL, NULL},
#define ENTRY_REAL(NAME, name, kind) \
  [ND4C_##NAME] = {ADD_##name, MULTIPLY_##name, MAXIMUM_##name, MINIMUM_##name, SUBTRACT_##name, DIVIDE_##name},
#define ENTRY_COMPLEX(NAME, name, kind) \
  [ND4C_##NAME] = {ADD_##name, MULTIPLY_##name, NULL, NULL, SUBTRACT_##name, DIVIDE_##name},

static const nd4c_ref_row rows[ND4C_DTYPE_END][REDUCTIONS] = {
    ND4C_BOOL_DTYPES(ENTRY_BOOL) ND4C_INT_DTYPES(ENTRY_REAL) ND4C_UINT_DTYPES(ENTRY_REAL) ND4C_HALF_DTYPES(ENTRY_REAL)
        ND4C_WIDE_FLOAT_DTYPES(ENTRY_REAL) ND4C_COMPLEX_DTYPES(ENTRY_COMPLEX)};

nd4c_ref_row nd4c_ref_combine_row(int64_t reduction, nd4c_dtype dtype) {
  return reduction < 1 || reduction > REDUCTIONS ? NULL : rows[dtype][reduction - 1];
}
