/* Operands of kernel tests: any dtype, laid out in every way that views allow; the backend opened at a given level. */
#ifndef ND4C_TESTS_KERNELS_OPERANDS_H
#define ND4C_TESTS_KERNELS_OPERANDS_H

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/threads/cpu.h"
#include "device/memory/host.h"
#include "kernels/reference/support/value.h"
#include "kernels/types.h"
#include "nd4c/plugin.h"
#include "providers.h"

static nd4c_host host;
static const char *level;
static int64_t stream_bytes; /* 0: the machine's default */

static const char *test_level(void) {
  return level;
}

static bool test_config(const char *property, char *text, size_t text_size) {
  (void)property;
  if (text_size > 0) {
    text[0] = '\0';
  }
  return false;
}

static bool test_config_number(const char *property, int64_t *number) {
  *number = strcmp(property, "nd4c.cpu.stream_bytes") == 0 ? stream_bytes : 0;
  return *number != 0;
}

/* -- operands ------------------------------------------------------------------------------------------------- */

enum { MAX_ELEMENTS = 1 << 16, MAX_RANK = 4, GUARD = 64 };

/* How an operand of the case's shape lies in memory. */
typedef enum placement {
  PLAIN,
  OFFSET,
  GAPS,
  BACKWARDS,
  TRANSPOSED,
  REPEATED_FIRST,
  REPEATED_LAST,
  PLACEMENTS
} placement;
static const char *const placement_names[] = {"plain",      "offset",         "gaps",         "backwards",
                                              "transposed", "repeated first", "repeated last"};

typedef struct operand {
  nd4c_tensor tensor;
  int64_t shape[MAX_RANK], strides[MAX_RANK];
  char *memory;
  size_t bytes;
} operand;

static uint64_t random_state = 88172645463325252u;
static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

static double random_unit(void) {
  return (double)(random_bits() >> 11) * 0x1p-53;
}

/* A mix of special and ordinary numbers: small ones, zeros, large ones, infinities, NaN. */
static nd4c_value random_value(nd4c_dtype dtype) {
  static const double special[] = {0,    -0.0,  1,    -1,   0.5,   INFINITY, -INFINITY, NAN,
                                   1e30, -1e30, 88.5, -103, 1e-40, 2,        -2};
  nd4c_value value = {.u = random_bits()};
  switch (nd4c_reference_kind(dtype)) {
    case ND4C_KIND_BOOL:
      value.u &= 1;
      break;
    case ND4C_KIND_FLOAT:
      value.f = (random_unit() - 0.5) * (random_bits() % 3 == 0 ? 40 : 8);
      if (random_bits() % 16 == 0) {
        value.f = special[random_bits() % (sizeof special / sizeof *special)];
      }
      break;
    case ND4C_KIND_COMPLEX:
      value.c = (random_unit() - 0.5) * 8 + (random_unit() - 0.5) * 8 * I; /* clang 14 has no CMPLX with glibc */
      break;
    default:
      if (random_bits() % 2 == 0) {
        value.i = (int64_t)(random_bits() % 9) - 4;
      }
  }
  return value;
}

static inline void lay_out(operand *o, nd4c_dtype dtype, int32_t rank, const int64_t *shape, placement where) {
  int64_t bytes = nd4c_reference_bytes(dtype), stride = where == GAPS ? 2 : 1, start = GUARD + (where != PLAIN),
          size = 1;
  for (int32_t i = 0; i < rank; i++) {
    int32_t axis = where == TRANSPOSED ? i : rank - 1 - i;
    bool repeated = (where == REPEATED_FIRST && axis == 0) || (where == REPEATED_LAST && axis == rank - 1);
    o->shape[axis] = repeated ? 1 : shape[axis];
    o->strides[axis] = stride;
    stride *= o->shape[axis] + (where == GAPS ? 3 : 0);
    size *= o->shape[axis];
  }
  int64_t lowest = 0;
  if (where == BACKWARDS) {
    for (int32_t axis = 0; axis < rank; axis++) {
      o->strides[axis] = -o->strides[axis];
      lowest += (o->shape[axis] > 0 ? o->shape[axis] - 1 : 0) * o->strides[axis];
    }
  }
  o->bytes = (size_t)((2 * GUARD + 8 + stride) * bytes);
  o->memory = malloc(o->bytes);
  assert_non_null(o->memory);
  memset(o->memory, 0x5a, o->bytes);
  uint32_t flags = where == PLAIN || where == OFFSET ? ND4C_TENSOR_CONTIGUOUS : 0;
  o->tensor = (nd4c_tensor){.dtype = dtype,
                            .rank = rank,
                            .flags = flags,
                            .shape = o->shape,
                            .strides = o->strides,
                            .size = size,
                            .data = o->memory + (start - lowest) * bytes};
}

static inline void fill(operand *o) {
  int64_t index[MAX_RANK] = {0};
  if (o->tensor.size == 0) {
    return;
  }
  do {
    nd4c_value_store(o->tensor.dtype, o->tensor.data, nd4c_index_offset(o->tensor.rank, index, o->strides),
                     random_value(o->tensor.dtype));
  } while (nd4c_index_next(o->tensor.rank, o->shape, index));
}

/* -- comparing ------------------------------------------------------------------------------------------------ */

static double spacing(nd4c_dtype dtype, double x) {
  int digits = dtype == ND4C_FLOAT64 ? 53 : dtype == ND4C_FLOAT32 ? 24 : dtype == ND4C_FLOAT16 ? 11 : 8;
  int lowest = dtype == ND4C_FLOAT64 ? -1074 : dtype == ND4C_FLOAT32 ? -149 : dtype == ND4C_FLOAT16 ? -24 : -133;
  int exponent;
  if (x == 0 || !isfinite(x)) {
    return ldexp(1, lowest);
  }
  frexp(x, &exponent);
  return ldexp(1, exponent - digits > lowest ? exponent - digits : lowest);
}

/* Products and quotients are rounded in each step, while the reference rounds once: a few units of the whole number. */
static bool agree_complex(nd4c_dtype dtype, nd4c_value got, nd4c_value want, double units) {
  const nd4c_dtype part = dtype == ND4C_COMPLEX64 ? ND4C_FLOAT32 : ND4C_FLOAT64;
  const double size = cabs(want.c);
  return got.c == want.c || (isfinite(size) && cabs(got.c - want.c) <= (units + 8) * spacing(part, size));
}

static bool agree(nd4c_dtype dtype, nd4c_value got, nd4c_value want, double units) {
  if (nd4c_reference_kind(dtype) == ND4C_KIND_COMPLEX) {
    return agree_complex(dtype, got, want, units);
  }
  if (nd4c_reference_kind(dtype) != ND4C_KIND_FLOAT) {
    return got.u == want.u;
  }
  if (isnan(want.f)) {
    return isnan(got.f);
  }
  if (got.f == want.f) {
    return true;
  }
  return fabs(got.f - want.f) <= units * spacing(dtype, want.f);
}

static inline void compare(const char *what, const operand *got, const operand *want, double units) {
  int64_t index[MAX_RANK] = {0}, count = 0;
  if (got->tensor.size == 0) {
    return;
  }
  do {
    int64_t offset = nd4c_index_offset(got->tensor.rank, index, got->strides);
    nd4c_value g = nd4c_value_load(got->tensor.dtype, got->tensor.data, offset);
    nd4c_value w = nd4c_value_load(want->tensor.dtype, want->tensor.data, offset);
    if (!agree(got->tensor.dtype, g, w, units)) {
      fail_msg("%s, element %lld: got %.17g (0x%llx), expected %.17g (0x%llx)", what, (long long)count, g.f,
               (unsigned long long)g.u, w.f, (unsigned long long)w.u);
    }
    count++;
  } while (nd4c_index_next(got->tensor.rank, got->shape, index));
}

/* The kernel of the op's own name, else the first one that computes the operands in their dtype. */
static const nd4c_kernel *find_kernel(const char *op, const char *engine) {
  const nd4c_kernel *first = NULL, *kernel;
  char name[96];
  (void)snprintf(name, sizeof name, "%s.%s", engine, op); /* an engine may have others for special operands */
  for (int32_t i = 0; (kernel = cpu_kernel(op, engine, i)) != NULL; i++) {
    if (strcmp(kernel->name, name) == 0) {
      return kernel;
    }
    first = first == NULL && (kernel->flags & ND4C_KERNEL_CONVERTS) == 0 ? kernel : first;
  }
  return first;
}

static void enter_providers(void) {
  host = *nd4c_host_table();
  host.cpu_level = test_level;
  host.config = test_config;
  host.config_number = test_config_number;
  assert_true(cpu_providers_enter(&host));
}

#endif
