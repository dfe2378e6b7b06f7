/* TensorProto files: every way to store values, round trips, and refusals. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "nd4c/io.h"
#include "wire_build.h"

/* Typed values as encoded on the wire, and the bytes of their elements. */
typedef struct typed_case {
  int type;       /* of TensorProto */
  uint32_t field; /* of the values */
  unsigned wire;  /* 0 varint, 1 64-bit, 5 32-bit */
  int count;      /* of values */
  uint64_t values[4];
  nd4c_dtype dtype;
  int elements;
  const void *bytes;
} typed_case;

static const typed_case typed[] = {
    {1, 4, 5, 2, {0x3fc00000, 0xc0000000}, ND4C_FLOAT32, 2, (float[]){1.5f, -2}},
    {2, 5, 0, 2, {0, 255}, ND4C_UINT8, 2, (uint8_t[]){0, 255}},
    {3, 5, 0, 2, {(uint64_t)-1, 127}, ND4C_INT8, 2, (int8_t[]){-1, 127}},
    {4, 5, 0, 1, {65535}, ND4C_UINT16, 1, (uint16_t[]){65535}},
    {5, 5, 0, 1, {(uint64_t)-32768}, ND4C_INT16, 1, (int16_t[]){-32768}},
    {6, 5, 0, 1, {(uint64_t)INT32_MIN}, ND4C_INT32, 1, (int32_t[]){INT32_MIN}},
    {7, 7, 0, 2, {(uint64_t)INT64_MIN, 5}, ND4C_INT64, 2, (int64_t[]){INT64_MIN, 5}},
    {9, 5, 0, 2, {0, 1}, ND4C_BOOL, 2, (uint8_t[]){0, 1}},
    {10, 5, 0, 1, {0x3e00}, ND4C_FLOAT16, 1, (uint16_t[]){0x3e00}},
    {11, 10, 1, 1, {0x3ff8000000000000}, ND4C_FLOAT64, 1, (double[]){1.5}},
    {12, 11, 0, 1, {4294967295}, ND4C_UINT32, 1, (uint32_t[]){4294967295}},
    {13, 11, 0, 1, {UINT64_MAX}, ND4C_UINT64, 1, (uint64_t[]){UINT64_MAX}},
    {14, 4, 5, 4, {0x3fc00000, 0, 0, 0xc0000000}, ND4C_COMPLEX64, 2, (float[]){1.5f, 0, 0, -2}},
    {15, 10, 1, 2, {0, 0x3ff8000000000000}, ND4C_COMPLEX128, 1, (double[]){0, 1.5}},
    {16, 5, 0, 1, {0x3fc0}, ND4C_BFLOAT16, 1, (uint16_t[]){0x3fc0}}};

static void put_value(wire_bytes *to, unsigned wire, uint64_t value) {
  unsigned char bytes[8];
  if (wire == 0) {
    wire_varint(to, value);
    return;
  }
  for (int i = 0; i < 8; i++) {
    bytes[i] = (unsigned char)(value >> (8 * i));
  }
  wire_raw(to, bytes, wire == 5 ? 4 : 8);
}

/* packed: all values in one block; else one field a value. */
static void build_typed(const typed_case *value, bool packed, wire_bytes *file) {
  wire_bytes block = {0};
  *file = (wire_bytes){0};
  wire_number(file, 1, (uint64_t)value->elements);
  for (int i = 0; i < value->count; i++) {
    if (!packed) {
      wire_tag(file, value->field, value->wire);
    }
    put_value(packed ? &block : file, value->wire, value->values[i]);
  }
  if (packed) {
    wire_message(file, value->field, &block);
  }
  wire_number(file, 2, (uint64_t)value->type);
  wire_text(file, 8, "name");
}

static void reads_typed_values(void **state) {
  (void)state;
  for (size_t i = 0; i < 2 * (sizeof typed / sizeof typed[0]); i++) {
    const typed_case *value = &typed[i / 2];
    wire_bytes file;
    nd4c_array *array = NULL;
    char *name = NULL;
    unsigned char bytes[64];
    build_typed(value, i % 2 == 0, &file);
    nd4c_status status = nd4c_tensor_read_memory(file.bytes, file.size, &array, &name);
    if (!nd4c_dtype_get_info(value->dtype)->available) {
      assert_int_equal(status, ND4C_UNSUPPORTED);
      continue;
    }
    if (status != ND4C_OK) {
      fail_msg("type %d: %s", value->type, nd4c_error_message());
    }
    size_t size = (size_t)value->elements * (size_t)nd4c_dtype_size(value->dtype);
    assert_int_equal(nd4c_array_dtype(array), value->dtype);
    assert_int_equal(nd4c_array_size(array), value->elements);
    assert_string_equal(name, "name");
    assert_int_equal(nd4c_array_read(array, bytes, size), ND4C_OK);
    assert_memory_equal(bytes, value->bytes, size);
    nd4c_array_release(array);
    nd4c_free(name);
  }
}

typedef struct refused_case {
  int type;
  uint32_t field;
  int count;
  uint64_t value;
  const char *words;
} refused_case;

static const refused_case refused[] = {{3, 5, 1, 128, "value 128 (number 0) is no INT8"},
                                       {2, 5, 1, (uint64_t)-1, "value -1 (number 0) is no UINT8"},
                                       {9, 5, 1, 2, "is no BOOL"},
                                       {6, 5, 1, (uint64_t)1 << 40, "is no INT32"},
                                       {6, 7, 1, 1, "values of INT32 in field 7; expected field 5"},
                                       {6, 5, 2, 1, "2 values; expected 1 for shape (1,) of INT32"},
                                       {6, 5, 0, 1, "0 values; expected 1"},
                                       {99, 5, 1, 1, "element type 99 is none of ONNX's"}};

static void refuses_values(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    wire_bytes file = {0};
    nd4c_array *array = NULL;
    wire_number(&file, 1, 1);
    wire_number(&file, 2, (uint64_t)refused[i].type);
    for (int j = 0; j < refused[i].count; j++) {
      wire_number(&file, refused[i].field, refused[i].value);
    }
    nd4c_status status = nd4c_tensor_read_memory(file.bytes, file.size, &array, NULL);
    if (status != ND4C_FORMAT || array != NULL || strstr(nd4c_error_message(), refused[i].words) == NULL) {
      fail_msg("case %zu: %s: %s", i, nd4c_status_name(status), nd4c_error_message());
    }
  }
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_tensor_read_memory("", 0, &array, NULL), ND4C_FORMAT);
  assert_non_null(strstr(nd4c_error_message(), "no element type"));
  assert_int_equal(nd4c_tensor_read_memory(NULL, 0, &array, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_tensor_read("/nowhere.pb", &array, NULL), ND4C_IO);
}

static void round_trips(void **state) {
  (void)state;
  char folder[] = "/tmp/nd4c_tensor_XXXXXX";
  char path[64];
  assert_non_null(mkdtemp(folder));
  (void)snprintf(path, sizeof path, "%s/a.pb", folder);
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    static const char *const texts[2] = {"\xc3\xa4", ""};
    const int64_t shape[3] = {2, 1, 1};
    unsigned char data[32] = {1, 0, 1};
    unsigned char values[32] = {0};
    const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
    nd4c_array *array = NULL;
    nd4c_array *back = NULL;
    char *name = NULL;
    if (info == NULL || !info->available) {
      continue;
    }
    assert_int_equal(dtype == ND4C_UTF8 ? nd4c_array_from_strings(3, shape, texts, NULL, &array)
                                        : nd4c_array_from_data(dtype, 3, shape, data, NULL, &array),
                     ND4C_OK);
    assert_int_equal(nd4c_tensor_write(path, array, "x/\xc3\xa4"), ND4C_OK);
    assert_int_equal(nd4c_tensor_read(path, &back, &name), ND4C_OK);
    assert_string_equal(name, "x/\xc3\xa4");
    assert_int_equal(nd4c_array_dtype(back), dtype);
    assert_int_equal(nd4c_array_rank(back), 3);
    assert_memory_equal(nd4c_array_shape(back), shape, sizeof shape);
    if (dtype == ND4C_UTF8) {
      const char *text = NULL;
      int64_t length = 0;
      assert_int_equal(nd4c_array_string(back, 0, &text, &length), ND4C_OK);
      assert_true(length == 2 && memcmp(text, texts[0], 2) == 0);
    } else {
      size_t size = (size_t)nd4c_dtype_bytes(dtype, 2);
      assert_int_equal(nd4c_array_read(back, values, size), ND4C_OK);
      assert_memory_equal(values, data, size);
    }
    nd4c_free(name);
    nd4c_array_release(array);
    nd4c_array_release(back);
  }
  (void)unlink(path);
  assert_int_equal(rmdir(folder), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reads_typed_values), cmocka_unit_test(refuses_values),
                                     cmocka_unit_test(round_trips)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
