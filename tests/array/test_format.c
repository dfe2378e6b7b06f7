/* Printing, against texts that NumPy printed (tests/tools/golden/make_print_golden.py). Another file of the same form
 * may be given as the program's argument. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array/format.h"
#include "base/alloc.h"
#include "hand_storage.h"

enum { LINE = 1 << 16, TEXT = 1 << 16 };

static const char *golden_path = ND4C_TEST_SOURCE_DIR "/tests/data/print/numpy.txt";

typedef struct record {
  char dtype_name[32];
  nd4c_dtype dtype;
  int is_repr, rank;
  nd4c_print_options options;
  int64_t shape[8], count;
} record;

static size_t hex_decode(const char *hex, size_t digits, unsigned char *bytes) {
  for (size_t i = 0; i + 1 < digits; i += 2) {
    char pair[3] = {hex[i], hex[i + 1], '\0'};
    bytes[i / 2] = (unsigned char)strtoul(pair, NULL, 16);
  }
  return digits / 2;
}

/* Pairs of offset and length first, then all texts. */
static nd4c_storage *string_storage(const char *line, int64_t count) {
  nd4c_storage *storage = hand_storage(NULL, (size_t)count * 16 + strlen(line));
  int64_t *pairs = storage->address, offset = count * 16;
  for (int64_t i = 0; i < count; i++) {
    size_t digits = strcspn(line, ",");
    pairs[2 * i] = offset;
    pairs[2 * i + 1] = (int64_t)hex_decode(line, digits, (unsigned char *)storage->address + offset);
    offset += pairs[2 * i + 1];
    line += digits + (line[digits] == ',');
  }
  return storage;
}

static nd4c_storage *record_storage(const record *r, const char *line) {
  if (strcmp(r->dtype_name, "utf8") == 0) {
    return string_storage(line, r->count);
  }
  nd4c_storage *storage = hand_storage(NULL, strlen(line) / 2);
  (void)hex_decode(line, strlen(line), storage->address);
  return storage;
}

static int read_header(const char *line, record *r) {
  int used;
  long long threshold;
  r->options.struct_size = sizeof r->options;
  if (sscanf(line, "%31s %d %d %lld %d %d %d%n", r->dtype_name, &r->is_repr, &r->options.precision, &threshold,
             &r->options.edge_items, &r->options.line_width, &r->rank, &used) != 7) {
    return 0;
  }
  r->options.threshold = threshold;
  r->options.repr = r->is_repr != 0;
  r->count = 1;
  char *rest = NULL;
  for (int i = 0; i < r->rank; i++) {
    r->shape[i] = strtoll(i == 0 ? line + used : rest, &rest, 10);
    r->count *= r->shape[i];
  }
  return 1;
}

/* The same elements in reversed order in memory, seen through negative strides: prints the same. */
static nd4c_array *reversed_array(const record *r, const nd4c_storage *storage) {
  int64_t bytes = nd4c_dtype_size(r->dtype), strides[8], step = -1;
  nd4c_storage *mirrored = hand_storage(storage->address, (size_t)storage->bytes);
  for (int64_t i = 0; i < r->count; i++) {
    memcpy((char *)mirrored->address + i * bytes, (const char *)storage->address + (r->count - 1 - i) * bytes,
           (size_t)bytes);
  }
  for (int i = r->rank - 1; i >= 0; i--) {
    strides[i] = step;
    step *= r->shape[i] > 0 ? r->shape[i] : 1;
  }
  nd4c_array *array = NULL;
  assert_int_equal(
      nd4c_array_make(r->dtype, r->rank, r->shape, strides, r->count > 0 ? r->count - 1 : 0, mirrored, &array),
      ND4C_OK);
  return array;
}

static void check_text(const record *r, nd4c_array *array, const char *expected, const char *header) {
  char *text = NULL;
  nd4c_status status =
      nd4c_format_text(array, nd4c_array_address(array, nd4c_dtype_size(r->dtype)), &r->options, &text);
  if (status != ND4C_OK || strcmp(text, expected) != 0) {
    print_error("case: %s\nstatus %d %s\n--- expected\n%s\n--- printed\n%s\n", header, (int)status,
                nd4c_error_message(), expected, text != NULL ? text : "");
    fail();
  }
  nd4c_deallocate(text);
}

static void check_record(const record *r, const char *data, const char *expected, const char *header) {
  nd4c_storage *storage = record_storage(r, data);
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_make(r->dtype, r->rank, r->shape, NULL, 0, storage, &array), ND4C_OK);
  check_text(r, array, expected, header);
  if (nd4c_dtype_size(r->dtype) > 0) { /* packed arrays have no other strides */
    nd4c_array *reversed = reversed_array(r, storage);
    check_text(r, reversed, expected, header);
    nd4c_array_release(reversed);
  }
  nd4c_array_release(array);
}

static void read_line(FILE *file, char *line, size_t size) {
  assert_non_null(fgets(line, (int)size, file));
  line[strcspn(line, "\n")] = '\0';
}

static int check_file(const char *path) {
  static char header[LINE], data[LINE], expected[TEXT];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  int records = 0;
  while (fgets(header, sizeof header, file) != NULL) {
    header[strcspn(header, "\n")] = '\0';
    record r = {.rank = 0};
    assert_true(read_header(header, &r));
    read_line(file, data, sizeof data);
    char number[32];
    read_line(file, number, sizeof number);
    size_t length = 0;
    for (int i = atoi(number); i > 0; i--) {
      read_line(file, expected + length, sizeof expected - length);
      length += strlen(expected + length);
      expected[length++] = i > 1 ? '\n' : '\0';
    }
    if (nd4c_dtype_find(r.dtype_name, &r.dtype) == ND4C_OK) { /* a lite build has fewer dtypes */
      check_record(&r, data, expected, header);
      records++;
    }
  }
  (void)fclose(file);
  return records;
}

static void test_golden(void **state) {
  (void)state;
  assert_true(check_file(golden_path) > 100);
}

#if !defined(ND4C_DTYPES_LITE)
/* As ml_dtypes prints them. */
static void test_narrow(void **state) {
  (void)state;
  assert_int_equal(check_file(ND4C_TEST_SOURCE_DIR "/tests/data/print/narrow.txt"), 120);
}

static void test_bfloat16(void **state) {
  (void)state;
  static const uint16_t values[] = {0x3f80, 0x4020, 0xbe80, 0x7f80, 0x7fc0}; /* 1, 2.5, -0.25, inf, nan */
  int64_t shape[] = {5};
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_make(ND4C_BFLOAT16, 1, shape, NULL, 0, hand_storage(values, sizeof values), &array),
                   ND4C_OK);
  nd4c_print_options options = {sizeof options, 8, 1000, 3, 75, true};
  char *text = NULL;
  assert_int_equal(nd4c_format_text(array, array->storage->address, &options, &text), ND4C_OK);
  assert_string_equal(text, "array([ 1.  ,  2.5 , -0.25,   inf,   nan], dtype=bfloat16)");
  nd4c_deallocate(text);
  nd4c_array_release(array);
}
#endif

static void test_refused(void **state) {
  (void)state;
  int64_t shape[] = {1}, outside[] = {8, 9};
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_make(ND4C_UTF8, 1, shape, NULL, 0, hand_storage(outside, 16), &array), ND4C_OK);
  char *text = NULL;
  assert_int_equal(nd4c_format_text(array, array->storage->address, NULL, &text), ND4C_FORMAT);
  assert_string_equal(nd4c_error_message(), "a string of 9 bytes at byte 8 lies outside of its storage of 16 bytes");
  nd4c_print_options options = {sizeof options, -1, 1000, 3, 75, true};
  assert_int_equal(nd4c_format_text(array, array->storage->address, &options, &text), ND4C_ARGUMENT);
  options.struct_size = 4;
  assert_int_equal(nd4c_format_text(array, array->storage->address, &options, &text), ND4C_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "array_format: struct_size is 4, expected at least 32");
  assert_null(text);
  nd4c_array_release(array);
}

/* Each allocation of a printing failed in turn: a status, and nothing leaks (the sanitizers look). */
static void test_no_memory(void **state) {
  (void)state;
  double values[200] = {1.25};
  int64_t shape[] = {200};
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_make(ND4C_FLOAT64, 1, shape, NULL, 0, hand_storage(values, sizeof values), &array),
                   ND4C_OK);
  nd4c_status status = ND4C_MEMORY;
  int64_t failed = 0;
  for (; status != ND4C_OK; failed++) {
    char *text = NULL;
    nd4c_allocation_fail_at(failed);
    status = nd4c_format_text(array, array->storage->address, NULL, &text);
    nd4c_allocation_fail_at(-1);
    assert_true(status == ND4C_OK ? text != NULL : status == ND4C_MEMORY);
    nd4c_deallocate(text);
  }
  assert_true(failed > 2);
  nd4c_array_release(array);
}

int main(int argc, char **argv) {
  golden_path = argc > 1 ? argv[1] : golden_path;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden),
#if !defined(ND4C_DTYPES_LITE)
      cmocka_unit_test(test_narrow),  cmocka_unit_test(test_bfloat16),
#endif
      cmocka_unit_test(test_refused), cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
