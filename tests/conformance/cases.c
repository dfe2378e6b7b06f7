/* Cases: inputs, attributes, random contents. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

/* Without memory the test cannot continue, so it ends the program. */
void *cf_need(size_t bytes) {
  void *memory = calloc(1, bytes > 0 ? bytes : 1);
  if (memory == NULL) {
    (void)fputs("nd4c_conformance: no memory\n", stderr);
    exit(2);
  }
  return memory;
}

uint64_t cf_next(cf_random *random) {
  random->state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = random->state;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

int64_t cf_between(cf_random *random, int64_t low, int64_t high) {
  return low + (int64_t)(cf_next(random) % (uint64_t)(high - low + 1));
}

static double uniform(cf_random *random, double low, double high) {
  return low + (high - low) * ((double)(cf_next(random) >> 11) * 0x1p-53);
}

void cf_tensor_make(cf_tensor *tensor, nd4c_dtype dtype, int32_t rank, const int64_t *shape) {
  *tensor = (cf_tensor){.dtype = dtype, .rank = rank, .size = 1};
  for (int32_t i = 0; i < rank; i++) {
    tensor->shape[i] = shape[i];
    tensor->size *= shape[i];
  }
  tensor->data = cf_need((size_t)(tensor->size * cf_size_of(dtype)));
}

void cf_tensor_clear(cf_tensor *tensor) {
  free(tensor->data);
  *tensor = (cf_tensor){0};
}

cf_tensor *cf_input(cf_case *c, nd4c_dtype dtype, int32_t rank, const int64_t *shape) {
  cf_tensor *tensor = &c->inputs[c->input_count++];
  cf_tensor_make(tensor, dtype, rank, shape);
  return tensor;
}

void cf_absent(cf_case *c) {
  c->inputs[c->input_count++] = (cf_tensor){0};
}

cf_tensor *cf_filled(cf_case *c, cf_random *random, cf_fill_kind kind, nd4c_dtype dtype, int32_t rank,
                     const int64_t *shape) {
  cf_tensor *tensor = cf_input(c, dtype, rank, shape);
  cf_fill(random, tensor, kind);
  return tensor;
}

static long double special(cf_random *random, nd4c_dtype dtype) {
  long double highest = 2 - cf_ulp(dtype, 1); /* times the largest power of two */
  int power = dtype == ND4C_FLOAT16 ? 15 : dtype == ND4C_FLOAT64 ? 1023 : 127;
  const long double values[] = {0,
                                -0.0L,
                                1,
                                -1,
                                (long double)INFINITY,
                                -(long double)INFINITY,
                                (long double)NAN,
                                ldexpl(highest, power),
                                -ldexpl(highest, power),
                                cf_ulp(dtype, 0),
                                -cf_ulp(dtype, 0),
                                ldexpl(1, 1 - power),
                                0.5L,
                                1.5L,
                                2.5L,
                                -0.5L,
                                -1.5L,
                                -2.5L,
                                cf_ulp(dtype, 1) + 1,
                                100,
                                -100,
                                ldexpl(1, power - 1)};
  return values[cf_next(random) % (sizeof values / sizeof values[0])];
}

static long double real_value(cf_random *random, nd4c_dtype dtype, cf_fill_kind kind) {
  if (cf_is_narrow(dtype)) {
    return cf_narrow_decode(dtype, (int)(cf_next(random) & 0xff)); /* the dtype has few numbers: any of them */
  }
  switch (kind) {
    case CF_POSITIVE:
      return (long double)uniform(random, 0.1, 4);
    case CF_NEAR_ONE:
      return (long double)uniform(random, 0.8, 1.2);
    case CF_WIDE: {
      int power = dtype == ND4C_FLOAT16 ? 13 : cf_bits_of(dtype) == 64 ? 900 : 110;
      return ldexpl((long double)uniform(random, -1, 1), (int)cf_between(random, -power, power));
    }
    case CF_SPECIAL:
      return special(random, dtype);
    default:
      return (long double)uniform(random, -4, 4);
  }
}

static int64_t integer_value(cf_random *random, nd4c_dtype dtype, cf_fill_kind kind) {
  int bits = cf_bits_of(dtype);
  int64_t lowest = cf_is_unsigned(dtype) ? 0 : -(INT64_C(1) << (bits - 2)) * 2;
  int64_t highest = cf_is_unsigned(dtype) ? -1 : ~lowest;
  const int64_t specials[] = {0, 1, -1, 2, lowest, highest, highest - 1, lowest + 1, 7};
  switch (kind) {
    case CF_POSITIVE:
      return cf_between(random, 1, 9);
    case CF_NEAR_ONE:
      return cf_between(random, 1, 3);
    case CF_WIDE:
      return (int64_t)cf_next(random);
    case CF_SPECIAL:
      return specials[cf_next(random) % (sizeof specials / sizeof specials[0])];
    default:
      return cf_between(random, cf_is_unsigned(dtype) ? 0 : -9, 9);
  }
}

void cf_fill(cf_random *random, cf_tensor *tensor, cf_fill_kind kind) {
  nd4c_dtype dtype = tensor->dtype;
  for (int64_t i = 0; i < tensor->size; i++) {
    cf_value value = {0};
    if (dtype == ND4C_BOOL) {
      value.i = (int64_t)(cf_next(random) & 1);
    } else if (dtype == ND4C_UTF8) {
      value.i = (int64_t)(cf_next(random) & 7);
    } else if (cf_is_integer(dtype)) {
      value.i = cf_wrap(dtype, integer_value(random, dtype, kind));
    } else if (cf_is_complex(dtype)) {
      /* Extremes of complex functions are defined part by part in more ways than one. */
      cf_fill_kind plain = kind == CF_SPECIAL || kind == CF_WIDE ? CF_SMALL : kind;
      value.re = real_value(random, dtype, plain);
      value.im = real_value(random, dtype, plain);
    } else {
      value.re = real_value(random, dtype, kind);
    }
    cf_set(tensor, i, value);
  }
}

/* -- attributes ------------------------------------------------------------------------------------------------- */

static void add_attr(cf_case *c, const char *name, nd4c_attr_value value) {
  c->attrs[c->attr_count++] = (nd4c_attr){.name = name, .value = value};
}

void cf_attr_int(cf_case *c, const char *name, int64_t value) {
  add_attr(c, name, (nd4c_attr_value){.kind = ND4C_ATTR_INT, .as.i = value});
}

void cf_attr_bool(cf_case *c, const char *name, bool value) {
  add_attr(c, name, (nd4c_attr_value){.kind = ND4C_ATTR_BOOL, .as.i = value});
}

void cf_attr_float(cf_case *c, const char *name, double value) {
  add_attr(c, name, (nd4c_attr_value){.kind = ND4C_ATTR_FLOAT, .as.f = value});
}

void cf_attr_dtype(cf_case *c, const char *name, nd4c_dtype value) {
  add_attr(c, name, (nd4c_attr_value){.kind = ND4C_ATTR_DTYPE, .as.i = value});
}

void cf_attr_ints(cf_case *c, const char *name, int32_t count, const int64_t *values) {
  int64_t *kept = c->ints[c->attr_count];
  for (int32_t i = 0; i < count; i++) {
    kept[i] = values[i];
  }
  add_attr(
      c, name,
      (nd4c_attr_value){.kind = ND4C_ATTR_INTS, .count = count > 0 ? count : 0, .as.ints = count != 0 ? kept : NULL});
}

static const nd4c_attr_value *attr_of(const cf_case *c, const char *name) {
  for (int32_t i = 0; i < c->attr_count; i++) {
    if (strcmp(c->attrs[i].name, name) == 0) {
      return &c->attrs[i].value;
    }
  }
  return NULL;
}

int64_t cf_int_of(const cf_case *c, const char *name, int64_t preset) {
  const nd4c_attr_value *value = attr_of(c, name);
  return value != NULL ? value->as.i : preset;
}

double cf_float_of(const cf_case *c, const char *name, double preset) {
  const nd4c_attr_value *value = attr_of(c, name);
  return value != NULL ? value->as.f : preset;
}

const int64_t *cf_ints_of(const cf_case *c, const char *name, int32_t *count) {
  const nd4c_attr_value *value = attr_of(c, name);
  *count = value != NULL ? value->count : 0;
  return value != NULL ? value->as.ints : NULL;
}

const cf_tensor *cf_input_of(const cf_case *c, int32_t position) {
  bool given = position < c->input_count && c->inputs[position].dtype != ND4C_DTYPE_NONE;
  return given ? &c->inputs[position] : NULL;
}

void cf_case_clear(cf_case *c) {
  for (int32_t i = 0; i < c->input_count; i++) {
    cf_tensor_clear(&c->inputs[i]);
  }
  c->input_count = 0;
  c->attr_count = 0;
}

/* -- expectations ----------------------------------------------------------------------------------------------- */

void cf_expect(cf_expected *expected, nd4c_dtype dtype, int32_t rank, const int64_t *shape, bool scale) {
  *expected = (cf_expected){.dtype = dtype, .rank = rank, .size = 1};
  for (int32_t i = 0; i < rank; i++) {
    expected->shape[i] = shape[i];
    expected->size *= shape[i];
  }
  expected->values = cf_need((size_t)expected->size * sizeof(cf_value));
  expected->scale = scale ? cf_need((size_t)expected->size * sizeof(long double)) : NULL;
}

void cf_expected_clear(cf_expected *expected) {
  free(expected->values);
  free(expected->scale);
  *expected = (cf_expected){0};
}
