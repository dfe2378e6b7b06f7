/* Arrays of quantised blocks against a decoder and a product of the test's own: matmul reads the blocks, everything
 * else sees a float32 array. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array/array.h"
#include "base/alloc.h"
#include "graph/plan.h"
#include "nd4c/nd4c.h"
#include "stub_plugin.h"

#define OK(expression)                                       \
  do {                                                       \
    if ((expression) != ND4C_OK) {                           \
      fail_msg("%s: %s", #expression, nd4c_error_message()); \
    }                                                        \
  } while (0)

static nd4c_device *host;

/* -- the oracle: ggml's description of its blocks, by arithmetic alone --------------------------------------------- */

static double half(const unsigned char *bytes) {
  const int bits = bytes[0] + 256 * bytes[1], exponent = bits / 1024 % 32, fraction = bits % 1024;
  const double sign = bits >= 32768 ? -1 : 1;
  return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
}

typedef struct format {
  const char *name;
  int64_t bytes; /* of 32 elements */
} format;
static const format formats[] = {{"q8_0", 34}, {"q4_0", 18}};
enum { FORMATS = 2, BLOCK = 32 };

static float element(const format *f, const unsigned char *blocks, int64_t number) {
  const unsigned char *block = blocks + number / BLOCK * f->bytes;
  const int at = (int)(number % BLOCK);
  int code = block[2 + at % (f->bytes == 18 ? 16 : 32)];
  if (f->bytes == 18) {
    code = (at < 16 ? code % 16 : code / 16) - 8;
  } else {
    code -= code >= 128 ? 256 : 0;
  }
  return (float)(half(block) * code);
}

/* Bytes of so many blocks: scales of all exponents but those of infinities, any codes. */
static unsigned char *make_blocks(const format *f, int64_t count, uint32_t seed) {
  unsigned char *blocks = malloc((size_t)(count * f->bytes));
  for (int64_t i = 0; i < count * f->bytes; i++) {
    seed = seed * 1664525 + 1013904223;
    blocks[i] = (unsigned char)(seed >> 24);
    if (i % f->bytes == 1) {
      blocks[i] = (unsigned char)((blocks[i] & 0x80) | (0x20 + blocks[i] % 32)); /* from about 2^-7 to 2^8 */
    }
  }
  blocks[0] = 3; /* one that is subnormal */
  blocks[1] = 0x80;
  return blocks;
}

static nd4c_array *make_array(const format *f, int32_t rank, const int64_t *shape, const unsigned char *blocks) {
  int64_t size = 1;
  nd4c_array *array = NULL;
  for (int32_t i = 0; i < rank; i++) {
    size *= shape[i];
  }
  OK(nd4c_array_from_blocks(f->name, rank, shape, blocks, (size_t)(size / BLOCK * f->bytes), &array));
  return array;
}

static int64_t live_bytes(nd4c_device *device) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  OK(nd4c_memory_get_info(device, &info));
  return info.live_bytes;
}

static void check_elements(const nd4c_array *array, const format *f, const unsigned char *blocks) {
  const int64_t size = nd4c_array_size(array);
  float *read = malloc((size_t)size * sizeof *read);
  OK(nd4c_array_read(array, read, (size_t)size * sizeof *read));
  for (int64_t i = 0; i < size; i++) {
    if (read[i] != element(f, blocks, i)) {
      fail_msg("%s: element %lld is %g, expected %g", f->name, (long long)i, (double)read[i],
               (double)element(f, blocks, i));
    }
  }
  free(read);
}

/* -- products ------------------------------------------------------------------------------------------------------ */

enum { DEEP = 64, WIDE = 96 };

static nd4c_array *make_factor(int32_t rank, const int64_t *shape) {
  nd4c_array *a = NULL;
  OK(nd4c_array_empty(ND4C_FLOAT32, rank, shape, NULL, &a));
  void *data = NULL;
  OK(nd4c_array_data_mutable(a, &data));
  for (int64_t i = 0; i < nd4c_array_size(a); i++) {
    ((float *)data)[i] = (float)((i * 7919 + 13) % 1009) / 1009.0F - 0.5F;
  }
  return a;
}

/* y [rows, n] of contiguous factors; b is [k, n], or with `turned` the transpose of [n, k]. Sums in double along k. */
static void check_product(const nd4c_array *y, const float *a, int64_t rows, int64_t k, int64_t n, bool turned,
                          const format *f, const unsigned char *blocks) {
  float *read = malloc((size_t)(rows * n) * sizeof *read);
  OK(nd4c_array_read(y, read, (size_t)(rows * n) * sizeof *read));
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t c = 0; c < n; c++) {
      double sum = 0;
      for (int64_t i = 0; i < k; i++) {
        sum += (double)a[r * k + i] * (double)element(f, blocks, turned ? c * k + i : i * n + c);
      }
      if (read[r * n + c] != (float)sum) {
        fail_msg("%s: y[%lld, %lld] is %g, expected %g", f->name, (long long)r, (long long)c, (double)read[r * n + c],
                 sum);
      }
    }
  }
  free(read);
}

static void matmul_reads_blocks(void **state) {
  (void)state;
  static const int64_t rows[] = {1, 5, 37};
  const int64_t shape[] = {DEEP, WIDE}, turned_shape[] = {WIDE, DEEP};
  for (int i = 0; i < FORMATS * 3; i++) {
    const format *f = &formats[i % FORMATS];
    unsigned char *blocks = make_blocks(f, DEEP * WIDE / BLOCK, (uint32_t)i);
    nd4c_array *a = make_factor(2, (int64_t[]){rows[i / FORMATS], DEEP}), *y = NULL, *turned = NULL;
    nd4c_array *b = make_array(f, 2, shape, blocks), *rows_of_b = make_array(f, 2, turned_shape, blocks);
    const void *factor = NULL;
    OK(nd4c_array_data(a, &factor));
    OK(nd4c_matmul(a, b, &y));
    check_product(y, factor, rows[i / FORMATS], DEEP, WIDE, false, f, blocks);
    OK(nd4c_transpose(rows_of_b, NULL, 0, &turned));
    OK(nd4c_matmul(a, turned, &y));
    check_product(y, factor, rows[i / FORMATS], DEEP, WIDE, true, f, blocks);
    assert_int_equal(nd4c_array_state(b, host), '-'); /* neither was decoded */
    assert_int_equal(nd4c_array_state(rows_of_b, host), '-');
    nd4c_array_release(turned);
    nd4c_array_release(rows_of_b);
    nd4c_array_release(a);
    nd4c_array_release(b);
    nd4c_array_release(y);
    free(blocks);
  }
}

/* Batches, and a first factor stored by columns. */
static void other_first_factors_are_read(void **state) {
  (void)state;
  const format *f = &formats[0];
  const int64_t shape[] = {DEEP, WIDE}, batch[] = {3, 2, 4, DEEP}, columns[] = {DEEP, 7};
  unsigned char *blocks = make_blocks(f, DEEP * WIDE / BLOCK, 9);
  nd4c_array *b = make_array(f, 2, shape, blocks), *a = make_factor(4, batch), *y = NULL, *z = NULL, *turned = NULL;
  const void *factor = NULL;
  OK(nd4c_array_data(a, &factor));
  OK(nd4c_matmul(a, b, &y));
  assert_int_equal(nd4c_array_rank(y), 4);
  check_product(y, factor, 24, DEEP, WIDE, false, f, blocks);
  nd4c_array *by_columns = make_factor(2, columns);
  float rows[7 * DEEP];
  OK(nd4c_array_data(by_columns, &factor));
  for (int i = 0; i < 7 * DEEP; i++) {
    rows[i] = ((const float *)factor)[i % DEEP * 7 + i / DEEP];
  }
  OK(nd4c_transpose(by_columns, NULL, 0, &turned));
  OK(nd4c_matmul(turned, b, &z));
  check_product(z, rows, 7, DEEP, WIDE, false, f, blocks);
  assert_int_equal(nd4c_array_state(b, host), '-');
  nd4c_array *all[] = {b, a, y, z, turned, by_columns};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    nd4c_array_release(all[i]);
  }
  free(blocks);
}

/* Part of the rows or columns of b, as it lies and transposed: a kernel that took the part for all of b would read
 * other blocks. */
static void parts_are_decoded(void **state) {
  (void)state;
  enum { ROWS = 5, PART = 32 };
  static const struct {
    int64_t shape[2], strides[2];
  } parts[] = {
      {{DEEP, PART}, {WIDE, 1}}, {{PART, WIDE}, {WIDE, 1}}, {{DEEP, PART}, {1, DEEP}}, {{PART, WIDE}, {1, DEEP}}};
  for (size_t i = 0; i < FORMATS * sizeof parts / sizeof *parts; i++) {
    const format *f = &formats[i % FORMATS];
    const int64_t *shape = parts[i / FORMATS].shape, *strides = parts[i / FORMATS].strides;
    unsigned char *blocks = make_blocks(f, DEEP * WIDE / BLOCK, (uint32_t)i);
    const bool turned = strides[0] == 1;
    nd4c_array *b = make_array(f, 2, turned ? (int64_t[]){WIDE, DEEP} : (int64_t[]){DEEP, WIDE}, blocks);
    nd4c_array *a = make_factor(2, (int64_t[]){ROWS, shape[0]}), *part = NULL, *y = NULL;
    float read[ROWS * WIDE];
    const float *factor = NULL;
    OK(nd4c_array_data(a, (const void **)&factor));
    OK(nd4c_array_view(b, 2, shape, strides, 0, &part));
    OK(nd4c_matmul(a, part, &y));
    OK(nd4c_array_read(y, read, (size_t)(ROWS * shape[1]) * sizeof *read));
    for (int64_t at = 0; at < ROWS * shape[1]; at++) {
      double sum = 0, size = 0;
      for (int64_t k = 0; k < shape[0]; k++) {
        const double number = element(f, blocks, k * strides[0] + at % shape[1] * strides[1]);
        sum += (double)factor[at / shape[1] * shape[0] + k] * number;
        size += fabs(number);
      }
      if (fabs(read[at] - sum) > size * 0x1p-22) {
        fail_msg("%s, part %d: y[%lld] is %g, expected %g", f->name, (int)i, (long long)at, (double)read[at], sum);
      }
    }
    nd4c_array *all[] = {a, b, part, y};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
      nd4c_array_release(all[k]);
    }
    free(blocks);
  }
}

/* Calls on a plain array of the same shape, before and after, are different calls for the cache. */
static void plain_arrays_are_not_confused(void **state) {
  (void)state;
  const format *f = &formats[1];
  const int64_t shape[] = {DEEP, WIDE};
  unsigned char *blocks = make_blocks(f, DEEP * WIDE / BLOCK, 4);
  nd4c_array *b = make_array(f, 2, shape, blocks), *plain = make_factor(2, shape),
             *a = make_factor(2, (int64_t[]){4, DEEP});
  nd4c_array *first = NULL, *again = NULL, *y = NULL;
  const void *factor = NULL;
  float before[4 * WIDE], after[4 * WIDE];
  OK(nd4c_array_data(a, &factor));
  OK(nd4c_matmul(a, plain, &first));
  OK(nd4c_array_read(first, before, sizeof before));
  for (int i = 0; i < 2; i++) {
    OK(nd4c_matmul(a, b, &y));
    check_product(y, factor, 4, DEEP, WIDE, false, f, blocks);
    OK(nd4c_matmul(a, plain, &again));
    OK(nd4c_array_read(again, after, sizeof after));
    assert_memory_equal(before, after, sizeof after);
  }
  nd4c_array *all[] = {b, plain, a, first, again, y};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    nd4c_array_release(all[i]);
  }
  free(blocks);
}

/* -- everything else ---------------------------------------------------------------------------------------------- */

static void elements_are_decoded_when_they_are_needed(void **state) {
  (void)state;
  const int64_t shape[] = {3, 4, 2 * BLOCK};
  for (int i = 0; i < FORMATS; i++) {
    const format *f = &formats[i];
    unsigned char *blocks = make_blocks(f, 24, 77);
    int64_t before = live_bytes(host);
    nd4c_array *x = make_array(f, 3, shape, blocks);
    assert_int_equal(nd4c_array_dtype(x), ND4C_FLOAT32);
    assert_string_equal(nd4c_array_block_format(x), f->name);
    assert_true(live_bytes(host) - before < 24 * BLOCK * 4);
    check_elements(x, f, blocks);
    assert_int_equal(nd4c_array_state(x, host), 'M');
    check_elements(x, f, blocks);
    nd4c_array_release(x);
    assert_int_equal(live_bytes(host), before);
    free(blocks);
  }
  nd4c_array *plain = make_factor(1, (int64_t[]){4});
  assert_null(nd4c_array_block_format(plain));
  assert_null(nd4c_array_block_format(NULL));
  nd4c_array_release(plain);
}

/* An element-wise op, a view, a copy to a device: each the first that needs elements. */
static void ops_and_views_and_devices_see_floats(void **state) {
  (void)state;
  const format *f = &formats[0];
  const int64_t shape[] = {6, BLOCK}, flat[] = {6 * BLOCK};
  unsigned char *blocks = make_blocks(f, 6, 3);
  for (int way = 0; way < 4; way++) {
    nd4c_array *x = make_array(f, 2, shape, blocks), *y = NULL, *back = NULL;
    if (way == 0) {
      OK(nd4c_multiply(x, x, &y));
      float squares[6 * BLOCK];
      OK(nd4c_array_read(y, squares, sizeof squares));
      for (int i = 0; i < 6 * BLOCK; i++) {
        assert_true(squares[i] == element(f, blocks, i) * element(f, blocks, i));
      }
    } else if (way == 1) {
      OK(nd4c_reshape(x, flat, 1, &y));
      check_elements(y, f, blocks);
      assert_string_equal(nd4c_array_block_format(y), f->name);
    } else if (way == 2) {
      OK(nd4c_array_to_device(x, stub_device, &y));
      OK(nd4c_array_to_device(y, host, &back));
      check_elements(back, f, blocks);
    } else {
      double item = 0;
      OK(nd4c_array_item(x, (int64_t[]){5, 7}, &item));
      assert_true(item == (double)element(f, blocks, 5 * BLOCK + 7));
    }
    check_elements(x, f, blocks);
    nd4c_array_release(x);
    nd4c_array_release(y);
    nd4c_array_release(back);
  }
  free(blocks);
}

static void nothing_writes_them(void **state) {
  (void)state;
  const format *f = &formats[0];
  const int64_t shape[] = {2, BLOCK};
  unsigned char *blocks = make_blocks(f, 2, 3);
  nd4c_array *x = make_array(f, 2, shape, blocks), *out = x;
  float numbers[2 * BLOCK] = {0};
  void *data = NULL;
  assert_true(nd4c_array_is_read_only(x));
  assert_int_equal(nd4c_array_data_mutable(x, &data), ND4C_READ_ONLY);
  assert_int_equal(nd4c_array_write(x, numbers, sizeof numbers), ND4C_READ_ONLY);
  assert_int_equal(nd4c_add(x, x, &out), ND4C_READ_ONLY);
  check_elements(x, f, blocks);
  nd4c_array_release(x);
  free(blocks);
}

/* -- plans --------------------------------------------------------------------------------------------------------- */

static void plans_read_blocks(void **state) {
  (void)state;
  const format *f = &formats[1];
  const int64_t shape[] = {WIDE, DEEP}, x_shape[] = {9, DEEP}, bias_shape[] = {WIDE};
  unsigned char *blocks = make_blocks(f, DEEP * WIDE / BLOCK, 21);
  nd4c_array *b = make_array(f, 2, shape, blocks), *turned = NULL, *zeros = NULL, *x = make_factor(2, x_shape),
             *y = NULL;
  OK(nd4c_transpose(b, NULL, 0, &turned));
  OK(nd4c_array_zeros(ND4C_FLOAT32, 1, bias_shape, NULL, &zeros));
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value input, weights, bias, product, sum;
  OK(nd4c_graph_create(&graph));
  OK(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 2, x_shape, &input));
  OK(nd4c_graph_constant(graph, turned, &weights));
  OK(nd4c_graph_constant(graph, zeros, &bias));
  OK(nd4c_graph_op(graph, ND4C_OP_matmul, (nd4c_value[]){input, weights}, 2, NULL, 0, NULL, &product, 1));
  OK(nd4c_graph_op(graph, ND4C_OP_add, (nd4c_value[]){product, bias}, 2, NULL, 0, NULL, &sum, 1));
  OK(nd4c_graph_output(graph, "y", sum));
  OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  assert_string_equal(nd4c_choice_name(plan->steps[0].choice), "reference.matmul_blocks");
  const nd4c_array *given[] = {x};
  const void *factor = NULL;
  OK(nd4c_array_data(x, &factor));
  for (int i = 0; i < 2; i++) {
    OK(nd4c_plan_run(plan, given, 1, &y, 1));
    check_product(y, factor, 9, DEEP, WIDE, true, f, blocks);
  }
  assert_int_equal(nd4c_array_state(b, host), '-');
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  nd4c_array *all[] = {b, turned, zeros, x, y};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    nd4c_array_release(all[i]);
  }
  free(blocks);
}

/* On a device that does not hold blocks, and by an engine that does not read them, the product is that of the elements.
 */
static void other_engines_get_them_decoded(void **state) {
  (void)state;
  const format *f = &formats[0];
  const int64_t shape[] = {DEEP, WIDE};
  unsigned char *blocks = make_blocks(f, DEEP * WIDE / BLOCK, 8);
  nd4c_array *a = make_factor(2, (int64_t[]){4, DEEP});
  const void *factor = NULL;
  OK(nd4c_array_data(a, &factor));
  for (int way = 0; way < 2; way++) {
    nd4c_array *b = make_array(f, 2, shape, blocks), *y = NULL;
    char *text = NULL;
    nd4c_context *context = way == 0 ? stub_context : NULL;
    OK(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", way == 0 ? NULL : "simd"));
    OK(nd4c_explain(context, ND4C_OP_matmul, (const nd4c_array *[]){a, b}, 2, NULL, 0, &text));
    assert_null(strstr(text, "reference.matmul_blocks (engine reference): taken"));
    nd4c_free(text);
    OK(nd4c_matmul_on(context, a, b, &y));
    OK(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", NULL));
    float read[4 * WIDE];
    OK(nd4c_array_read(y, read, sizeof read));
    for (int i = 0; i < 4 * WIDE; i++) {
      double sum = 0;
      for (int k = 0; k < DEEP; k++) {
        sum += (double)((const float *)factor)[i / WIDE * DEEP + k] * (double)element(f, blocks, k * WIDE + i % WIDE);
      }
      assert_true(fabs(sum - (double)read[i]) <= 1e-3 * (fabs(sum) + 1000));
    }
    assert_int_not_equal(nd4c_array_state(b, host), '-');
    nd4c_array_release(b);
    nd4c_array_release(y);
  }
  nd4c_array_release(a);
  free(blocks);
}

/* -- refusals ----------------------------------------------------------------------------------------------------- */

static void odd_ones_are_refused(void **state) {
  (void)state;
  const unsigned char blocks[68] = {0};
  const int64_t shape[] = {2, 32}, part[] = {2, 48}, none[] = {0, 32}, huge[] = {INT64_C(1) << 40, INT64_C(1) << 40};
  nd4c_array *array = NULL;
  const struct {
    const char *name;
    int32_t rank;
    const int64_t *shape;
    const void *blocks;
    size_t bytes;
    nd4c_status status;
    const char *text;
  } cases[] = {{"q8_1", 2, shape, blocks, 68, ND4C_NAME, "no block format 'q8_1': expected q8_0 or q4_0"},
               {"q8_0", 2, part, blocks, 68, ND4C_SHAPE, "multiple of 32, a block of q8_0"},
               {"q8_0", 2, none, blocks, 0, ND4C_SHAPE, "extents of 1 or more"},
               {"q8_0", 0, NULL, blocks, 4, ND4C_SHAPE, "extents of 1 or more"},
               {"q8_0", 2, huge, blocks, 68, ND4C_OVERFLOW, ""},
               {"q8_0", -1, shape, blocks, 68, ND4C_SHAPE, ""},
               {"q8_0", 2, shape, blocks, 67, ND4C_ARGUMENT, "67 bytes given, 64 elements of q8_0 need 68"},
               {"q4_0", 2, shape, blocks, 68, ND4C_ARGUMENT, "64 elements of q4_0 need 36"},
               {NULL, 2, shape, blocks, 68, ND4C_NULL_ARGUMENT, "format is NULL"},
               {"q8_0", 2, NULL, blocks, 68, ND4C_NULL_ARGUMENT, "shape is NULL"},
               {"q8_0", 2, shape, NULL, 68, ND4C_NULL_ARGUMENT, "blocks is NULL"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd4c_status status =
        nd4c_array_from_blocks(cases[i].name, cases[i].rank, cases[i].shape, cases[i].blocks, cases[i].bytes, &array);
    if (status != cases[i].status || strstr(nd4c_error_message(), cases[i].text) == NULL || array != NULL) {
      fail_msg("case %zu: %s: %s", i, nd4c_status_name(status), nd4c_error_message());
    }
  }
  assert_int_equal(nd4c_array_from_blocks("q8_0", 2, shape, blocks, 68, NULL), ND4C_NULL_ARGUMENT);
}

static void without_memory_nothing_is_left(void **state) {
  (void)state;
  const format *f = &formats[0];
  const int64_t shape[] = {64, 64};
  unsigned char *blocks = make_blocks(f, 128, 3);
  OK(nd4c_memory_trim(host, 0));
  int64_t before = live_bytes(host);
  nd4c_array *array = NULL;
  OK(nd4c_memory_set_cap(host, before + 64));
  assert_int_equal(nd4c_array_from_blocks(f->name, 2, shape, blocks, 128 * 34, &array), ND4C_MEMORY_CAP);
  assert_int_equal(live_bytes(host), before);
  OK(nd4c_memory_set_cap(host, before + 6000)); /* the blocks fit, the elements do not */
  OK(nd4c_array_from_blocks(f->name, 2, shape, blocks, 128 * 34, &array));
  const void *data = NULL;
  assert_int_equal(nd4c_array_data(array, &data), ND4C_MEMORY_CAP);
  OK(nd4c_memory_set_cap(host, 0));
  check_elements(array, f, blocks);
  nd4c_array_release(array);
  free(blocks);
}

int main(void) {
  if (stub_start() != ND4C_OK || nd4c_device_find("cpu:0", &host) != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matmul_reads_blocks),
      cmocka_unit_test(other_first_factors_are_read),
      cmocka_unit_test(parts_are_decoded),
      cmocka_unit_test(plain_arrays_are_not_confused),
      cmocka_unit_test(elements_are_decoded_when_they_are_needed),
      cmocka_unit_test_setup_teardown(ops_and_views_and_devices_see_floats, stub_test_begin, stub_test_end),
      cmocka_unit_test(nothing_writes_them),
      cmocka_unit_test(plans_read_blocks),
      cmocka_unit_test_setup_teardown(other_engines_get_them_decoded, stub_test_begin, stub_test_end),
      cmocka_unit_test(odd_ones_are_refused),
      cmocka_unit_test(without_memory_nothing_is_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL) + stub_stop();
}
