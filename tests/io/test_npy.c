/* .npy files: round trips, layouts, dtypes, and headers that are malformed or hostile. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "nd4c/io.h"

/* A .npy file from its dictionary: version 1.0, padded to 64. */
static size_t build_file(const char *dictionary, const void *data, size_t data_size, unsigned char *file, size_t room) {
  size_t length = strlen(dictionary);
  size_t total = (10 + length + 1 + 63) / 64 * 64;
  assert_true(total + data_size <= room);
  memcpy(file, "\x93NUMPY\x01\x00", 8);
  file[8] = (unsigned char)((total - 10) & 0xff);
  file[9] = (unsigned char)((total - 10) >> 8);
  memset(file + 10, ' ', total - 10);
  memcpy(file + 10, dictionary, length);
  file[total - 1] = '\n';
  if (data_size > 0) {
    memcpy(file + total, data, data_size);
  }
  return total + data_size;
}

typedef struct header_case {
  const char *dictionary;
  size_t data_size;
  nd4c_status status;
  const char *words; /* of the error; for OK: shape and dtype as "dtype(rank)" */
} header_case;

static const header_case headers[] = {
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24, ND4C_OK, "float32(2)"},
    {"{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":True}", 24, ND4C_OK, "float32(2)"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", 3, ND4C_OK, "uint8(1)"},
    {"{'descr': '>u1', 'fortran_order': False, 'shape': (), }", 1, ND4C_OK, "uint8(0)"},
    {"{'descr': '<i8', 'fortran_order': False, 'shape': (1L, 2L), }", 16, ND4C_OK, "int64(2)"},
    {"{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }", 8, ND4C_OK, "utf8(1)"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 1000000000000), }", 0, ND4C_OK, "float32(2)"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 23, ND4C_FORMAT,
     "npy data: 23 bytes from byte 128 on, expected 24"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 25, ND4C_FORMAT, "25 bytes"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 24, ND4C_OVERFLOW, ""},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 24, ND4C_OVERFLOW,
     "an extent does not fit 64 bits"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 24, ND4C_FORMAT,
     "byte 61: found '-1,), }         ', expected an extent or ')'"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (6), }", 24, ND4C_FORMAT, "expected ',' or ')' in the shape"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
     "1,1,1), }",
     4, ND4C_FORMAT, "more than 32 dimensions"},
    {"{'descr': '<f4', 'fortran_order': False}", 24, ND4C_FORMAT, "shape is missing"},
    {"{'descr': '<f4', 'shape': (6,)}", 24, ND4C_FORMAT, "fortran_order is missing"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", 24, ND4C_FORMAT,
     "byte 27: key 'descr'; expected descr, fortran_order and shape, each once"},
    {"{'descr': '<f4', 'order': False, 'shape': (6,)}", 24, ND4C_FORMAT, "key 'order'"},
    {"{'descr': '<f4', 'fortran_order': false, 'shape': (6,)}", 24, ND4C_FORMAT, "expected True or False"},
    {"{'descr': '>f4', 'fortran_order': False, 'shape': (6,)}", 24, ND4C_OK, "float32(1)"},
    {"{'descr': '>U2', 'fortran_order': False, 'shape': (6,)}", 48, ND4C_UNSUPPORTED, "'>U2' is not a dtype of nd4c"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (6,)}", 24, ND4C_UNSUPPORTED, "'|O' is not a dtype of nd4c"},
    {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}", 16, ND4C_UNSUPPORTED, "'<f16' is not a dtype"},
    {"{'descr': 'f4', 'fortran_order': False, 'shape': (6,)}", 24, ND4C_UNSUPPORTED, "expected a byte order"},
    {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}", 24, ND4C_UNSUPPORTED, "a structured dtype"},
    {"{'descr': '<U99999999999', 'fortran_order': False, 'shape': (1,)}", 24, ND4C_FORMAT, "expected a length below"},
    {"{'descr': '<U0', 'fortran_order': False, 'shape': (9223372036854775807,)}", 0, ND4C_OVERFLOW, ""},
    {"{'descr': '<U0', 'fortran_order': False, 'shape': (100000000000,)}", 0, ND4C_FORMAT, "strings of no characters"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} x", 24, ND4C_FORMAT, "only spaces"},
    {"('descr': '<f4')", 24, ND4C_FORMAT, "byte 10: found '('descr': '<f4')', expected '{'"},
    {"{'descr: <f4", 24, ND4C_FORMAT, "a quoted text without escapes"},
    {"{'descr': '<f4',", 24, ND4C_FORMAT, "a quoted text"}};

static void reads_and_refuses_headers(void **state) {
  (void)state;
  static const unsigned char zeros[64];
  for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
    unsigned char file[512];
    nd4c_array *array = NULL;
    size_t size = build_file(headers[i].dictionary, zeros, headers[i].data_size, file, sizeof file);
    unsigned char *exact = malloc(size);
    assert_non_null(exact);
    memcpy(exact, file, size);
    nd4c_status status = nd4c_npy_read_memory(exact, size, &array);
    free(exact);
    char found[64] = "";
    if (status == ND4C_OK) {
      (void)snprintf(found, sizeof found, "%s(%d)", nd4c_dtype_name(nd4c_array_dtype(array)),
                     (int)nd4c_array_rank(array));
    }
    const char *words = status == ND4C_OK ? found : nd4c_error_message();
    if (status != headers[i].status || strstr(words, headers[i].words) == NULL) {
      fail_msg("%s: %s: %s", headers[i].dictionary, nd4c_status_name(status), words);
    }
    nd4c_array_release(array);
  }
}

static void refuses_what_is_no_npy(void **state) {
  (void)state;
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_npy_read_memory("", 0, &array), ND4C_FORMAT);
  assert_int_equal(nd4c_npy_read_memory("\x93NUMPY\x04\x00\x00\x00", 10, &array), ND4C_UNSUPPORTED);
  assert_int_equal(nd4c_npy_read_memory("\x93NUMPY\x01\x00\xff\xff", 10, &array), ND4C_FORMAT);
  assert_int_equal(nd4c_npy_read_memory("\x93NUMPY\x02\x00\xff", 9, &array), ND4C_FORMAT);
  /* bytes behind the end are no part of the length */
  assert_int_equal(nd4c_npy_read_memory("\x93NUMPY\x02\x00\x05\x07\x07\x07", 9, &array), ND4C_FORMAT);
  assert_non_null(strstr(nd4c_error_message(), "npy header of 5 bytes at byte 12 of a file of 9"));
  assert_int_equal(nd4c_npy_read_memory(NULL, 0, &array), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_npy_read("/nowhere/at/all.npy", &array), ND4C_IO);
  assert_non_null(strstr(nd4c_error_message(), "/nowhere/at/all.npy"));
  assert_int_equal(nd4c_npy_read("/", &array), ND4C_IO);
  assert_null(array);
}

static void reads_fortran_order_as_a_view(void **state) {
  (void)state;
  static const int32_t data[6] = {1, 4, 2, 5, 3, 6}; /* [[1, 2, 3], [4, 5, 6]] by columns */
  unsigned char file[256];
  nd4c_array *array = NULL;
  int32_t values[6];
  size_t size =
      build_file("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }", data, sizeof data, file, sizeof file);
  assert_int_equal(nd4c_npy_read_memory(file, size, &array), ND4C_OK);
  assert_int_equal(nd4c_array_strides(array)[0], 1);
  assert_int_equal(nd4c_array_strides(array)[1], 2);
  assert_int_equal(nd4c_array_read(array, values, sizeof values), ND4C_OK);
  assert_memory_equal(values, ((int32_t[]){1, 2, 3, 4, 5, 6}), sizeof values);
  nd4c_array_release(array);
}

static void checks_values(void **state) {
  (void)state;
  unsigned char file[256];
  nd4c_array *array = NULL;
  size_t size =
      build_file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\x01\x02", 2, file, sizeof file);
  assert_int_equal(nd4c_npy_read_memory(file, size, &array), ND4C_FORMAT);
  assert_string_equal(nd4c_error_message(), "npy data: element 1 of bool is 2, expected 0 or 1");
  size =
      build_file("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", "\x00\xd8\x00\x00", 4, file, sizeof file);
  assert_int_equal(nd4c_npy_read_memory(file, size, &array), ND4C_FORMAT);
  assert_string_equal(nd4c_error_message(), "npy data: string 0 holds 0xd800, which is not a code point");
  assert_null(array);
}

/* Writes and reads; every available dtype, through a transposed view. */
static void round_trips(void **state) {
  (void)state;
  char folder[] = "/tmp/nd4c_npy_XXXXXX";
  char path[64];
  assert_non_null(mkdtemp(folder));
  (void)snprintf(path, sizeof path, "%s/a.npy", folder);
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
    const int64_t shape[2] = {2, 3};
    const int64_t turned[2] = {3, 2};
    const bool packed = info != NULL && info->block_elements > 1; /* in C order alone */
    const int64_t strides[2] = {packed ? 2 : 1, packed ? 1 : 3};
    unsigned char data[6 * 16];
    unsigned char expected[6 * 16];
    unsigned char values[6 * 16];
    if (info == NULL || !info->available || info->kind == ND4C_KIND_STRING) {
      continue;
    }
    size_t bytes = (size_t)nd4c_dtype_bytes(dtype, 6);
    for (size_t i = 0; i < bytes; i++) {
      data[i] = dtype == ND4C_BOOL ? i % 2 : (unsigned char)(i * 7 % 100);
    }
    data[1] = info->bits == 2 ? 5 : data[1]; /* six elements: half of the last byte is unused */
    nd4c_array *array = NULL;
    nd4c_array *view = NULL;
    nd4c_array *back = NULL;
    assert_int_equal(nd4c_array_from_data(dtype, 2, shape, data, NULL, &array), ND4C_OK);
    assert_int_equal(nd4c_array_as_strided(array, 2, turned, strides, 0, &view), ND4C_OK);
    assert_int_equal(nd4c_npy_write(path, view), ND4C_OK);
    assert_int_equal(nd4c_npy_read(path, &back), ND4C_OK);
    assert_int_equal(nd4c_array_dtype(back), dtype);
    assert_memory_equal(nd4c_array_shape(back), turned, sizeof turned);
    assert_int_equal(nd4c_array_read(view, expected, bytes), ND4C_OK);
    assert_int_equal(nd4c_array_read(back, values, bytes), ND4C_OK);
    assert_memory_equal(values, expected, bytes);
    nd4c_array_release(array);
    nd4c_array_release(view);
    nd4c_array_release(back);
  }
  (void)unlink(path);
  assert_int_equal(rmdir(folder), 0);
}

/* Files of ml_dtypes: float8_e5m2 has a name, the codes of the others are V1. */
static void reads_ml_dtypes(void **state) {
  (void)state;
  unsigned char file[256];
  static const struct {
    const char *descr;
    nd4c_dtype dtype;
    nd4c_status status;
  } cases[] = {{"'<f1'", ND4C_FLOAT8_E5M2, ND4C_OK},
               {"'<V1'", ND4C_UINT8, ND4C_OK},
               {"'|V1'", ND4C_UINT8, ND4C_OK},
               {"[('int4', '|V1')]", ND4C_INT4, ND4C_OK},
               {"[('float8_e4m3fn','<V1')]", ND4C_FLOAT8_E4M3FN, ND4C_OK},
               {"[('int8', '|V1')]", 0, ND4C_UNSUPPORTED},
               {"[('int4', '|V2')]", 0, ND4C_UNSUPPORTED},
               {"[('int4', '|V1'), ('b', '|V1')]", 0, ND4C_UNSUPPORTED},
               {"[('int4'", 0, ND4C_UNSUPPORTED}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char header[128];
    nd4c_dtype found = ND4C_DTYPE_NONE;
    nd4c_array *array = NULL;
    (void)snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': True, 'shape': (2, 3), }", cases[i].descr);
    size_t size = build_file(header, "\x01\x02\x03\x04\x05\x06", 6, file, sizeof file);
    if (cases[i].dtype == ND4C_INT4 && nd4c_dtype_find("int4", &found) != ND4C_OK) {
      continue; /* a lite build */
    }
    nd4c_status status = nd4c_npy_read_memory(file, size, &array);
    if (cases[i].status != status && nd4c_dtype_find("int4", &found) == ND4C_OK) {
      fail_msg("%s: %s", cases[i].descr, nd4c_error_message());
    }
    if (status == ND4C_OK) {
      assert_int_equal(nd4c_array_dtype(array), cases[i].dtype);
    }
    if (status == ND4C_OK && cases[i].dtype == ND4C_INT4) {
      unsigned char values[3];
      assert_int_equal(nd4c_array_read(array, values, 3), ND4C_OK);
      assert_memory_equal(values, "\x31\x25\x64", 3); /* 1 3 5, 2 4 6 */
    }
    nd4c_array_release(array);
  }
}

static void *read_pipe(void *path) {
  static unsigned char bytes[4096];
  FILE *file = fopen(path, "rb");
  size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
  nd4c_array *array = NULL;
  (void)nd4c_npy_read_memory(bytes, size, &array);
  return file != NULL && fclose(file) == 0 ? array : NULL;
}

/* An existing path that is not a regular file is kept and gets the bytes. */
static void writes_through_what_is_no_file(void **state) {
  (void)state;
  char folder[] = "/tmp/nd4c_npy_XXXXXX", pipe_path[64], link_path[64], path[64];
  const float data[3] = {1, 2, 3};
  const int64_t shape[1] = {3};
  struct stat info;
  void *read_back = NULL;
  pthread_t reader;
  nd4c_array *array = NULL, *again = NULL;
  assert_non_null(mkdtemp(folder));
  (void)snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
  (void)snprintf(link_path, sizeof link_path, "%s/link", folder);
  (void)snprintf(path, sizeof path, "%s/a.npy", folder);
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 1, shape, data, NULL, &array), ND4C_OK);
  assert_int_equal(mkfifo(pipe_path, 0600), 0);
  assert_int_equal(pthread_create(&reader, NULL, read_pipe, pipe_path), 0);
  assert_int_equal(nd4c_npy_write(pipe_path, array), ND4C_OK);
  assert_int_equal(pthread_join(reader, &read_back), 0);
  assert_non_null(read_back);
  assert_int_equal(nd4c_array_size(read_back), 3);
  nd4c_array_release(read_back);
  assert_int_equal(lstat(pipe_path, &info), 0);
  assert_true(S_ISFIFO(info.st_mode));
  /* A link, such as /dev/stdout, to a file that does not exist yet, and to a longer file. */
  assert_int_equal(symlink(path, link_path), 0);
  for (int round = 0; round < 2; round++) {
    assert_int_equal(nd4c_npy_write(link_path, array), ND4C_OK);
    assert_int_equal(lstat(link_path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(nd4c_npy_read(path, &again), ND4C_OK);
    assert_int_equal(nd4c_array_size(again), 3);
    nd4c_array_release(again);
    again = NULL;
    FILE *longer = fopen(path, "ab");
    assert_non_null(longer);
    assert_int_equal(fputs("more", longer) >= 0 && fclose(longer) == 0, true);
  }
  assert_int_equal(nd4c_npy_write(folder, array), ND4C_IO);
  assert_non_null(strstr(nd4c_error_message(), "could not be written: Is a directory"));
  nd4c_array_release(array);
  (void)unlink(pipe_path);
  (void)unlink(link_path);
  (void)unlink(path);
  assert_int_equal(rmdir(folder), 0);
}

static void round_trips_strings(void **state) {
  (void)state;
  static const char *const texts[4] = {"", "a", "\xc3\xa4\xe2\x82\xac", "\xf0\x9f\x98\x80!"};
  char folder[] = "/tmp/nd4c_npy_XXXXXX";
  char path[64];
  const int64_t shape[2] = {2, 2};
  nd4c_array *array = NULL;
  nd4c_array *back = NULL;
  assert_non_null(mkdtemp(folder));
  (void)snprintf(path, sizeof path, "%s/a.npy", folder);
  assert_int_equal(nd4c_array_from_strings(2, shape, texts, NULL, &array), ND4C_OK);
  assert_int_equal(nd4c_npy_write(path, array), ND4C_OK);
  assert_int_equal(nd4c_npy_read(path, &back), ND4C_OK);
  for (int64_t i = 0; i < 4; i++) {
    const char *text = NULL;
    int64_t length = 0;
    assert_int_equal(nd4c_array_string(back, i, &text, &length), ND4C_OK);
    assert_int_equal(length, strlen(texts[i]));
    assert_memory_equal(text, texts[i], strlen(texts[i]));
  }
  nd4c_array_release(array);
  nd4c_array_release(back);
  (void)unlink(path);
  assert_int_equal(rmdir(folder), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reads_and_refuses_headers),
                                     cmocka_unit_test(refuses_what_is_no_npy),
                                     cmocka_unit_test(reads_fortran_order_as_a_view),
                                     cmocka_unit_test(checks_values),
                                     cmocka_unit_test(round_trips),
                                     cmocka_unit_test(writes_through_what_is_no_file),
                                     cmocka_unit_test(round_trips_strings),
                                     cmocka_unit_test(reads_ml_dtypes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
