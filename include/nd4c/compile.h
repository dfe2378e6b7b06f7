/* What a program asks of compilers: how far they may change the arithmetic, and compiler-specific options. The options
 * of plans (graph.h) and models (model.h) point to a request; compilers (plugin/compiler.h) get its contents. */
#ifndef ND4C_COMPILE_H
#define ND4C_COMPILE_H

#include <stdint.h>

#include "nd4c/export.h"

ND4C_EXTERN_C_BEGIN

/* How far a compiler may change the arithmetic of the nodes that it takes. */
typedef enum nd4c_math {
  ND4C_MATH_EXACT = 0,   /* every node as the op defines it: the result that a kernel gives */
  ND4C_MATH_REORDER = 1, /* also: sums and products in another order, a multiplication and an addition fused */
  ND4C_MATH_FAST = 2,    /* also: approximations of functions; other results for NaN, infinities, signed zeros */
  ND4C_MATH_REDUCED = 3  /* also: narrower types inside: bfloat16, TF32 */
} nd4c_math;

/* A compiler-specific option, as text. Its size is frozen: arrays of it cross the ABI. A compiler ignores keys that it
 * does not know. */
typedef struct nd4c_compile_option {
  const char *key, *value;
} nd4c_compile_option;

enum {
  ND4C_COMPILE_OPTION_LIMIT = 64, /* options in one request */
  ND4C_COMPILE_KEY_SIZE = 128,    /* bytes of a key, including its NUL */
  ND4C_COMPILE_VALUE_SIZE = 4096  /* bytes of a value, including its NUL */
};

/* What a plan or model asks of the compilers of its device. nd4c copies it. It does not affect kernels, but from
 * ND4C_MATH_REORDER on, passes reorder sums and products of constants before kernels or compilers get the nodes.
 *
 * A key without a dot reaches every compiler. A key "openvino.PERFORMANCE_HINT" reaches only the compiler whose engine
 * is "openvino", as "PERFORMANCE_HINT". The plan's report lists the options that reached no compiler.
 *
 * Refused with ARGUMENT: a `math` outside nd4c_math, a negative number, more options than the limit, a key that is
 * empty, too long or given twice, a key with characters other than printable ASCII (space and '=' are not allowed), a
 * value that is too long or has control characters. NULL_ARGUMENT: a key or a value is NULL, or `options` is NULL while
 * option_count is not 0. */
typedef struct nd4c_compile_request {
  uint32_t struct_size; /* sizeof(nd4c_compile_request) */
  int32_t math;         /* nd4c_math: the most that the compiler may do */
  int64_t memory_bytes; /* device memory that an executable and its scratch may take, besides operands; 0: no limit */
  const nd4c_compile_option *options;
  int32_t option_count;
} nd4c_compile_request;

ND4C_EXTERN_C_END
#endif
