/* .npz and .safetensors: files that NumPy and the safetensors package wrote, round trips, refusals, failing memory. */
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

#include "base/alloc.h"
#include "nd4c/nd4c.h"

#define DATA ND4C_TEST_SOURCE_DIR "/tests/data/archives/"

/* A lite build lacks some dtypes of safetensors. */
static bool is_lite(void) {
  return !nd4c_dtype_get_info(ND4C_FLOAT16)->available;
}

static const char *tensors(void) {
  return is_lite() ? DATA "lite.safetensors" : DATA "numpy.safetensors";
}

typedef nd4c_status opener(const void *bytes, size_t size, nd4c_archive **out);

static unsigned char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  unsigned char *bytes = malloc(1 << 16);
  assert_non_null(bytes);
  *size = fread(bytes, 1, 1 << 16, file);
  (void)fclose(file);
  return bytes;
}

static nd4c_array *take(const nd4c_archive *archive, const char *name, nd4c_dtype dtype, int32_t rank) {
  nd4c_array *array = NULL;
  if (nd4c_archive_array(archive, nd4c_archive_find(archive, name), &array) != ND4C_OK) {
    fail_msg("%s: %s", name, nd4c_error_message());
  }
  assert_int_equal(nd4c_array_dtype(array), dtype);
  assert_int_equal(nd4c_array_rank(array), rank);
  return array;
}

static void check_npz(const char *path) {
  nd4c_archive *archive = NULL;
  float grid[6];
  int32_t columns[6];
  const char *text = NULL;
  int64_t length = 0;
  assert_int_equal(nd4c_npz_open(path, &archive), ND4C_OK);
  assert_int_equal(nd4c_archive_count(archive), 8);
  assert_string_equal(nd4c_archive_name(archive, 0), "grid");
  assert_null(nd4c_archive_name(archive, 8));
  assert_null(nd4c_archive_name(archive, -1));
  nd4c_array *past = NULL;
  assert_int_equal(nd4c_archive_array(archive, nd4c_archive_count(archive), &past), ND4C_INDEX);
  assert_non_null(strstr(nd4c_error_message(), "index 8, expected 0 to 7"));
  assert_int_equal(nd4c_archive_array(archive, -1, &past), ND4C_INDEX);
  assert_null(past);
  assert_int_equal(nd4c_archive_find(archive, "nothing"), -1);
  assert_int_equal(nd4c_archive_metadata_count(archive), 0);
  nd4c_array *first = take(archive, "grid", ND4C_FLOAT32, 2);
  nd4c_array *second = take(archive, "columns", ND4C_INT32, 2);
  nd4c_array *words = take(archive, "words", ND4C_UTF8, 1);
  nd4c_array_release(take(archive, "folder/\303\244", ND4C_INT64, 1));
  nd4c_array_release(take(archive, "none", ND4C_UINT8, 2));
  nd4c_array_release(take(archive, "one", ND4C_FLOAT64, 0));
  nd4c_array *same = take(archive, "same", ND4C_INT32, 1);
  nd4c_archive_release(archive); /* arrays outlive the archive */
  assert_int_equal(nd4c_array_read(first, grid, sizeof grid), ND4C_OK);
  assert_int_equal(nd4c_array_read(second, columns, sizeof columns), ND4C_OK);
  for (int i = 0; i < 6; i++) {
    assert_true(grid[i] == (float)i && columns[i] == i);
  }
  assert_false(nd4c_array_is_read_only(first));
  assert_int_equal(nd4c_array_string(words, 1, &text, &length), ND4C_OK);
  assert_int_equal(length, 5);
  double value = 0;
  assert_int_equal(nd4c_array_item(same, (int64_t[]){999}, &value), ND4C_OK);
  assert_true(value == 7);
  nd4c_array_release(first);
  nd4c_array_release(second);
  nd4c_array_release(words);
  nd4c_array_release(same);
}

static void reads_what_numpy_wrote(void **state) {
  (void)state;
  check_npz(DATA "stored.npz");
  check_npz(DATA "deflated.npz");
}

static void reads_what_safetensors_wrote(void **state) {
  (void)state;
  nd4c_archive *archive = NULL;
  int64_t values[4];
  if (is_lite()) {
    assert_int_equal(nd4c_safetensors_open(DATA "numpy.safetensors", &archive), ND4C_UNSUPPORTED);
    assert_non_null(strstr(nd4c_error_message(), "is not in this build"));
  }
  assert_int_equal(nd4c_safetensors_open(tensors(), &archive), ND4C_OK);
  assert_int_equal(nd4c_archive_count(archive), is_lite() ? 8 : 17);
  assert_int_equal(nd4c_archive_metadata_count(archive), 2);
  int32_t quoted = strcmp(nd4c_archive_metadata_key(archive, 0), "format") == 0; /* their order is random */
  assert_string_equal(nd4c_archive_metadata_key(archive, quoted), "\303\244");
  assert_string_equal(nd4c_archive_metadata_value(archive, quoted), "a \"quoted\" text");
  assert_null(nd4c_archive_metadata_value(archive, 2));
  for (int32_t i = 0; i < nd4c_archive_count(archive); i++) {
    nd4c_array *array = NULL;
    const char *name = nd4c_archive_name(archive, i);
    assert_int_equal(nd4c_archive_array(archive, i, &array), ND4C_OK);
    if (strcmp(name, "one") != 0 && strcmp(name, "none") != 0) {
      assert_string_equal(nd4c_dtype_name(nd4c_array_dtype(array)), name);
      assert_true(nd4c_array_is_read_only(array)); /* in place */
    }
    nd4c_array_release(array);
  }
  nd4c_array *array = take(archive, "int64", ND4C_INT64, 2);
  nd4c_archive_release(archive);
  assert_int_equal(nd4c_array_read(array, values, sizeof values), ND4C_OK);
  assert_memory_equal(values, ((int64_t[]){0, 1, 1, 0}), sizeof values);
  nd4c_array_release(array);
}

static bool is_mapped(const char *file) {
  char line[1024];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  while (!found && fgets(line, sizeof line, maps) != NULL) {
    found = strstr(line, file) != NULL;
  }
  assert_int_equal(fclose(maps), 0);
  return found;
}

/* An array in place keeps the file mapped, and nothing else does. */
static void lets_mapped_files_go(void **state) {
  (void)state;
  const char *file = strrchr(tensors(), '/');
  nd4c_archive *archive = NULL;
  assert_false(is_mapped(file));
  for (int again = 0; again < 2; again++) {
    assert_int_equal(nd4c_safetensors_open(tensors(), &archive), ND4C_OK);
    assert_true(is_mapped(file));
    nd4c_array *array = take(archive, "int64", ND4C_INT64, 2);
    nd4c_archive_release(archive);
    assert_true(is_mapped(file));
    nd4c_array_release(array);
    assert_false(is_mapped(file));
  }
}

/* -- refusals ------------------------------------------------------------------------------------------------------ */

typedef struct refusal {
  const char *header;
  size_t data;
  nd4c_status status;
  const char *words;
} refusal;

#define F32(name, shape, from, to) \
  "\"" name "\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" from "," to "]}"

static const refusal refusals[] = {
    {"{" F32("a", "[2]", "0", "8") "}   ", 8, ND4C_OK, ""},
    {"{}", 0, ND4C_OK, ""},
    {"{\"__metadata__\":{}}", 0, ND4C_OK, ""},
    {"{" F32("../../a", "[0,9]", "0", "0") "}", 0, ND4C_OK, ""},
    {"{}", 1, ND4C_FORMAT, "1 bytes after the last tensor"},
    {"[]", 0, ND4C_FORMAT, "expected '{' at byte 8"},
    {"{\"a\":", 0, ND4C_FORMAT, "JSON is malformed at byte"},
    {"{} x", 0, ND4C_FORMAT, "1 bytes after its end at byte 3"},
    {"{\"a\":3}", 0, ND4C_FORMAT, "safetensors header: 'a': a is not an object"},
    {"{" F32("a", "[2]", "0", "8") "}", 7, ND4C_FORMAT, "data_offsets 0 to 8 of 7 bytes"},
    {"{" F32("a", "[2]", "8", "0") "}", 8, ND4C_FORMAT, "data_offsets 8 to 0"},
    {"{" F32("a", "[2]", "0", "4") "}", 8, ND4C_FORMAT, "give 4 bytes; dtype and shape need 8"},
    {"{" F32("a", "[1]", "0", "4") "," F32("b", "[2]", "4", "8") "}", 8, ND4C_FORMAT,
     "give 4 bytes; dtype and shape need 8"},
    {"{" F32("a", "[1.5]", "0", "4") "}", 8, ND4C_FORMAT, "shape: entry 0 is not an integer from 0 to 2^53"},
    {"{" F32("a", "[-1]", "0", "4") "}", 8, ND4C_FORMAT, "shape: entry 0"},
    {"{" F32("a", "[1e300]", "0", "4") "}", 8, ND4C_FORMAT, "shape: entry 0"},
    {"{" F32("a", "[4294967296,4294967296]", "0", "4") "}", 8, ND4C_OVERFLOW, ""},
    {"{" F32("a", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "0", "4") "}", 4, ND4C_FORMAT,
     "shape: more than 32 entries"},
    {"{" F32("a", "[1]", "0", "4") "," F32("b", "[1]", "0", "4") "}", 4, ND4C_FORMAT, "they overlap"},
    {"{" F32("a", "[1]", "0", "4") "," F32("b", "[1]", "8", "12") "}", 12, ND4C_FORMAT, "they leave a hole"},
    {"{" F32("a", "[1]", "0", "4") "," F32("a", "[1]", "4", "8") "}", 8, ND4C_FORMAT, "the name 'a' comes twice"},
    {"{\"a\":{\"dtype\":\"F99\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, ND4C_UNSUPPORTED,
     "dtype 'F99', expected one of BOOL F4 U8 I8"},
    {"{\"a\":{\"dtype\":\"F6_E2M3\",\"shape\":[4],\"data_offsets\":[0,3]}}", 3, ND4C_UNSUPPORTED,
     "dtype 'F6_E2M3': nd4c has no dtype of 6 bits; write the tensor as F8_E4M3"},
    {"{\"a\":{\"dtype\":\"F6_E3M2\",\"shape\":[4],\"data_offsets\":[0,3]}}", 3, ND4C_UNSUPPORTED, "dtype 'F6_E3M2'"},
    {"{\"a\":{\"dtype\":1,\"shape\":[],\"data_offsets\":[0,4]}}", 4, ND4C_FORMAT, "dtype is not a string"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[]}}", 4, ND4C_FORMAT, "data_offsets is missing"},
    {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 4, ND4C_FORMAT, "key 'dtype'; expected"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0]}}", 4, ND4C_FORMAT, "1 entries, expected 2"},
    {"{\"__metadata__\":{\"a\":1}}", 0, ND4C_FORMAT, "'a' is no string"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, ND4C_FORMAT, "comes twice"},
    {"{\"\\u0000\":1}", 0, ND4C_FORMAT, "JSON with \\u0000 at byte 2"},
    {"{\"__metadata__\":{\"a\":\"\\\\u0000\"}}", 0, ND4C_OK, ""},
    {"{\"\\u00", 8, ND4C_FORMAT, "JSON is malformed"},
    {"{\"\xff\":1}", 0, ND4C_FORMAT, "not UTF-8"}};

static void refuses_hostile_safetensors(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    const refusal *row = &refusals[i];
    size_t length = strlen(row->header), size = 8 + length + row->data;
    unsigned char *file = calloc(1, size);
    nd4c_archive *archive = NULL;
    assert_non_null(file);
    file[0] = (unsigned char)length;
    file[1] = (unsigned char)(length >> 8);
    memcpy(file + 8, row->header, length);
    memset(file + 8 + length, '0', row->data); /* a text that is cut would go on there */
    nd4c_status status = nd4c_safetensors_open_memory(file, size, &archive);
    if (status != row->status || (status != ND4C_OK && strstr(nd4c_error_message(), row->words) == NULL)) {
      fail_msg("%s: %s: %s", row->header, nd4c_status_name(status), nd4c_error_message());
    }
    assert_true((archive != NULL) == (status == ND4C_OK));
    nd4c_archive_release(archive);
    free(file);
  }
}

static void refuses_deep_json(void **state) {
  (void)state;
  enum { DEPTH = 60000 };
  unsigned char *file = malloc(8 + DEPTH);
  nd4c_archive *archive = NULL;
  assert_non_null(file);
  memset(file, '[', 8 + DEPTH);
  memcpy(file, (const unsigned char[]){DEPTH & 0xff, DEPTH >> 8, 0, 0, 0, 0, 0, 0, '{', '"', 'a', '"', ':'}, 13);
  assert_int_equal(nd4c_safetensors_open_memory(file, 8 + DEPTH, &archive), ND4C_FORMAT);
  assert_non_null(strstr(nd4c_error_message(), "JSON is malformed at byte 1004"));
  memset(file, 0xff, 8);
  assert_int_equal(nd4c_safetensors_open_memory(file, 8 + DEPTH, &archive), ND4C_FORMAT);
  assert_non_null(strstr(nd4c_error_message(), "header of 18446744073709551615 bytes in a file of 60008"));
  free(file);
}

/* Short values that would take gigabytes when parsed; texts count as one. */
static void refuses_too_many_values(void **state) {
  (void)state;
  enum { SIZE = 9000000 };
  unsigned char *file = malloc(8 + SIZE);
  nd4c_archive *archive = NULL;
  assert_non_null(file);
  for (int text = 0; text < 2; text++) {
    for (size_t i = 0; i < SIZE; i++) {
      file[8 + i] = i % 2 == 0 ? '0' : ',';
    }
    for (size_t i = 0; i < 8; i++) {
      file[i] = (unsigned char)((uint64_t)SIZE >> (8 * i));
    }
    const char *start = text ? "{\"__metadata__\":{\"a\":\"" : "{\"a\":[";
    memcpy(file + 8, start, strlen(start));
    memcpy(file + 8 + SIZE - 3, text ? "\"}}" : "0]}", 3);
    assert_int_equal(nd4c_safetensors_open_memory(file, 8 + SIZE, &archive), text ? ND4C_OK : ND4C_FORMAT);
    assert_true(text || strstr(nd4c_error_message(), "values, expected at most 4194304") != NULL);
  }
  nd4c_archive_release(archive);
  free(file);
}

static void refuses_wrong_bool(void **state) {
  (void)state;
  static const char file[] = "\x36\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[0,2]}}\1\2";
  nd4c_archive *archive = NULL;
  nd4c_array *array = NULL;
  char sized[sizeof file];
  memcpy(sized, file, sizeof file);
  sized[0] = (char)(sizeof file - 1 - 8 - 2);
  assert_int_equal(nd4c_safetensors_open_memory(sized, sizeof file - 1, &archive), ND4C_OK);
  assert_int_equal(nd4c_archive_array(archive, 0, &array), ND4C_FORMAT);
  assert_non_null(strstr(nd4c_error_message(), "'a': element 1 of BOOL is 2"));
  assert_int_equal(nd4c_archive_array(archive, 1, &array), ND4C_INDEX);
  assert_int_equal(nd4c_archive_array(NULL, 0, &array), ND4C_NULL_ARGUMENT);
  assert_null(array);
  nd4c_archive_release(archive);
}

static unsigned char *find(unsigned char *bytes, size_t size, const char *what, size_t length, int number) {
  for (size_t i = 0; i + length <= size; i++) {
    if (memcmp(bytes + i, what, length) == 0 && number-- == 0) {
      return bytes + i;
    }
  }
  fail_msg("not found");
  abort();
}

static void refuses_hostile_npz(void **state) {
  (void)state;
  /* The record, the offset from its first occurrence, the new byte, the number of bytes; when the call fails and its
   * text. */
  static const struct {
    const char *record;
    size_t at, bytes;
    unsigned char value;
    bool opens;
    nd4c_status status;
    const char *words;
  } rows[] = {{"PK\1\2", 10, 1, 12, false, ND4C_UNSUPPORTED, "'grid.npy': compression 12"},
              {"PK\1\2", 8, 1, 1, false, ND4C_UNSUPPORTED, "'grid.npy': encrypted"},
              {"PK\1\2", 24, 3, 0xff, false, ND4C_FORMAT, "which cannot be"},
              {"PK\1\2", 20, 3, 0xff, false, ND4C_FORMAT, "which cannot be"},
              {"PK\1\2", 24, 4, 0xff, false, ND4C_FORMAT, "4294967295 bytes in 152"},
              {"PK\1\2", 42, 4, 0xff, true, ND4C_FORMAT, "'grid': zip entry is damaged"},
              {"PK\1\2", 42, 1, 1, true, ND4C_FORMAT, "'grid': zip entry is damaged"},
              {"PK\1\2", 28, 2, 0xff, false, ND4C_FORMAT, "zip "},
              {"PK\1\2", 0, 1, 0, false, ND4C_FORMAT, "zip archive's directory is damaged"},
              {"PK\1\2", 16, 1, 0x00, true, ND4C_FORMAT, "'grid': zip entry is damaged"},
              {"PK\3\4", 28, 2, 0xff, true, ND4C_FORMAT, "'grid': zip entry is damaged"},
              {"PK\5\6", 4, 1, 1, false, ND4C_FORMAT, "no zip archive"},
              {"PK\5\6", 8, 4, 1, false, ND4C_FORMAT, "a directory of 257 entries"},
              {"PK\5\6", 8, 4, 0xff, false, ND4C_FORMAT, "a directory of 65535 entries"},
              {"PK\5\6", 12, 4, 0xff, false, ND4C_FORMAT, "no zip archive"},
              {"PK\5\6", 16, 4, 0xfe, false, ND4C_FORMAT, "no zip archive"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    size_t size = 0;
    nd4c_archive *archive = NULL;
    nd4c_array *array = NULL;
    unsigned char *file = read_file(DATA "stored.npz", &size);
    memset(find(file, size, rows[i].record, 4, 0) + rows[i].at, rows[i].value, rows[i].bytes);
    nd4c_status status = nd4c_npz_open_memory(file, size, &archive);
    assert_true((status == ND4C_OK) == rows[i].opens);
    status = status == ND4C_OK ? nd4c_archive_array(archive, 0, &array) : status;
    if (status != rows[i].status || strstr(nd4c_error_message(), rows[i].words) == NULL) {
      fail_msg("row %zu: %s: %s", i, nd4c_status_name(status), nd4c_error_message());
    }
    assert_null(array);
    nd4c_archive_release(archive);
    free(file);
  }
}

static void refuses_every_cut(void **state) {
  (void)state;
  const char *const paths[] = {tensors(), DATA "deflated.npz"};
  static opener *const openers[] = {nd4c_safetensors_open_memory, nd4c_npz_open_memory};
  for (int i = 0; i < 2; i++) {
    size_t size = 0;
    unsigned char *file = read_file(paths[i], &size);
    for (size_t cut = 0; cut < size; cut++) {
      nd4c_archive *archive = NULL;
      if (openers[i](file, cut, &archive) != ND4C_FORMAT) {
        fail_msg("%s up to byte %zu: %s", paths[i], cut, nd4c_error_message());
      }
      assert_null(archive);
    }
    free(file);
  }
}

static void refuses_twice_the_same_name(void **state) {
  (void)state;
  size_t size = 0;
  nd4c_archive *archive = NULL;
  unsigned char *file = read_file(DATA "stored.npz", &size);
  memcpy(find(file, size, "none.npy", 8, 1), "same.npy", 8); /* in the directory, and before the entry */
  memcpy(find(file, size, "none.npy", 8, 0), "same.npy", 8);
  assert_int_equal(nd4c_npz_open_memory(file, size, &archive), ND4C_FORMAT);
  assert_non_null(strstr(nd4c_error_message(), "the name 'same' comes twice"));
  free(file);
}

/* Two records of one entry: how a small file claims to hold much. */
static void refuses_overlapping_entries(void **state) {
  (void)state;
  size_t size = 0;
  nd4c_archive *archive = NULL;
  unsigned char *file = read_file(DATA "stored.npz", &size);
  unsigned char *same = find(file, size, "PK\1\2", 4, 7), *other = find(file, size, "PK\1\2", 4, 3);
  memcpy(other + 16, same + 16, 12); /* checksum and sizes of the largest */
  memcpy(other + 42, same + 42, 4);
  assert_int_equal(nd4c_npz_open_memory(file, size, &archive), ND4C_FORMAT);
  if (strstr(nd4c_error_message(), "entries overlap") == NULL) {
    fail_msg("%s", nd4c_error_message());
  }
  free(file);
}

/* -- writing ------------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/nd4c_archive_XXXXXX";
static char path[64];

static int make_folder(void **state) {
  (void)state;
  (void)snprintf(path, sizeof path, "%s/a", mkdtemp(folder));
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  (void)unlink(path);
  return rmdir(folder);
}

static nd4c_status write_npz(const char *const *names, const nd4c_array *const *arrays, int32_t count) {
  return nd4c_npz_write(path, names, arrays, count, true);
}

static nd4c_status write_safetensors(const char *const *names, const nd4c_array *const *arrays, int32_t count) {
  return nd4c_safetensors_write(path, names, arrays, count, (const char *const[]){"k", "\"\n"},
                                (const char *const[]){"v", ""}, 2);
}

typedef struct format {
  const char *(*sample)(void);
  nd4c_status (*open)(const char *, nd4c_archive **);
  nd4c_status (*write)(const char *const *, const nd4c_array *const *, int32_t);
} format;

static const char *deflated(void) {
  return DATA "deflated.npz";
}

static const format formats[] = {{tensors, nd4c_safetensors_open, write_safetensors},
                                 {deflated, nd4c_npz_open, write_npz}};

/* Opens, reads all, writes them again but for strings. */
static nd4c_status copy(const format *kind) {
  nd4c_archive *archive = NULL;
  nd4c_array *arrays[32] = {NULL};
  const char *names[32];
  int32_t count = 0;
  nd4c_status status = kind->open(kind->sample(), &archive);
  for (int32_t i = 0; status == ND4C_OK && i < nd4c_archive_count(archive); i++) {
    names[count] = nd4c_archive_name(archive, i);
    status = nd4c_archive_array(archive, i, &arrays[count]);
    count++;
  }
  if (status == ND4C_OK) {
    status = kind->write(names, (const nd4c_array *const *)arrays, count);
  }
  for (int32_t i = 0; i < count; i++) {
    nd4c_array_release(arrays[i]);
  }
  nd4c_archive_release(archive);
  return status;
}

static void writes_what_it_read(void **state) {
  (void)state;
  for (size_t f = 0; f < 2; f++) {
    nd4c_archive *before = NULL, *after = NULL;
    assert_int_equal(copy(&formats[f]), ND4C_OK);
    assert_int_equal(formats[f].open(formats[f].sample(), &before), ND4C_OK);
    assert_int_equal(formats[f].open(path, &after), ND4C_OK);
    assert_int_equal(nd4c_archive_count(before), nd4c_archive_count(after));
    for (int32_t i = 0; i < nd4c_archive_count(before); i++) {
      nd4c_array *x = NULL, *y = NULL;
      char first[4000] = {0}, second[4000] = {0};
      assert_string_equal(nd4c_archive_name(before, i), nd4c_archive_name(after, i));
      assert_int_equal(nd4c_archive_array(before, i, &x), ND4C_OK);
      assert_int_equal(nd4c_archive_array(after, i, &y), ND4C_OK);
      assert_int_equal(nd4c_array_dtype(x), nd4c_array_dtype(y));
      size_t bytes = (size_t)nd4c_dtype_bytes(nd4c_array_dtype(x), nd4c_array_size(x));
      if (nd4c_array_dtype(x) != ND4C_UTF8) {
        assert_true(bytes <= sizeof first);
        assert_int_equal(nd4c_array_read(x, first, bytes), ND4C_OK);
        assert_int_equal(nd4c_array_read(y, second, bytes), ND4C_OK);
        assert_memory_equal(first, second, sizeof first);
      }
      nd4c_array_release(x);
      nd4c_array_release(y);
    }
    assert_int_equal(nd4c_archive_metadata_count(after), f == 0 ? 2 : 0);
    if (f == 0) {
      assert_string_equal(nd4c_archive_metadata_key(after, 1), "\"\n");
    }
    nd4c_archive_release(before);
    nd4c_archive_release(after);
    assert_int_equal(formats[f].write(NULL, NULL, 0), ND4C_OK); /* no arrays */
    assert_int_equal(formats[f].open(path, &after), ND4C_OK);
    assert_int_equal(nd4c_archive_count(after), 0);
    nd4c_archive_release(after);
  }
}

/* Two numbers in a byte, the first in its lowest bits; back in the file they are the same bytes. */
static void reads_and_writes_four_bits(void **state) {
  (void)state;
  static const char file[] =
      "\x37\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F4\",\"shape\":[2,2],\"data_offsets\":[0,2]}}\x42\xf1";
  static const char odd[] = "\x35\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}\x42\xf1";
  nd4c_archive *archive = NULL;
  unsigned char bytes[2] = {0};
  if (is_lite()) {
    assert_int_equal(nd4c_safetensors_open_memory(file, sizeof file - 1, &archive), ND4C_UNSUPPORTED);
    assert_non_null(strstr(nd4c_error_message(), "dtype 'F4' is not in this build"));
    return;
  }
  assert_int_equal(nd4c_safetensors_open_memory(odd, sizeof odd - 1, &archive), ND4C_FORMAT);
  assert_non_null(strstr(nd4c_error_message(), "3 elements of float4_e2m1fn do not fill whole bytes"));
  assert_int_equal(nd4c_safetensors_open_memory(file, sizeof file - 1, &archive), ND4C_OK);
  nd4c_array *array = take(archive, "a", ND4C_FLOAT4_E2M1FN, 2), *wide = NULL;
  nd4c_archive_release(archive);
  assert_int_equal(nd4c_cast(array, ND4C_FLOAT32, &wide), ND4C_OK);
  float numbers[4];
  assert_int_equal(nd4c_array_read(wide, numbers, sizeof numbers), ND4C_OK);
  assert_memory_equal(numbers, ((float[]){1, 2, 0.5F, -6}), sizeof numbers);
  assert_int_equal(
      nd4c_safetensors_write(path, (const char *const[]){"a"}, (const nd4c_array *[]){array}, 1, NULL, NULL, 0),
      ND4C_OK);
  assert_int_equal(nd4c_safetensors_open(path, &archive), ND4C_OK);
  nd4c_array *again = take(archive, "a", ND4C_FLOAT4_E2M1FN, 2);
  assert_int_equal(nd4c_array_read(again, bytes, sizeof bytes), ND4C_OK);
  assert_memory_equal(bytes, "\x42\xf1", sizeof bytes);
  nd4c_array_release(again);
  nd4c_archive_release(archive);
  nd4c_array_release(wide);
  nd4c_array_release(array);
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT4_E2M1FN, 1, (const int64_t[]){3}, NULL, &array), ND4C_OK);
  assert_int_equal(
      nd4c_safetensors_write(path, (const char *const[]){"a"}, (const nd4c_array *[]){array}, 1, NULL, NULL, 0),
      ND4C_DTYPE);
  assert_non_null(strstr(nd4c_error_message(), "'a' has 3 elements of float4_e2m1fn"));
  nd4c_array_release(array);
}

/* The most entries that minizip writes: it has 16 bits for their number. */
static void writes_many_entries(void **state) {
  (void)state;
  enum { MANY = 65535 };
  nd4c_array *x = NULL;
  nd4c_archive *archive = NULL;
  const nd4c_array **arrays = calloc(MANY + 1, sizeof *arrays);
  const char **names = calloc(MANY + 1, sizeof *names);
  char(*texts)[12] = calloc(MANY + 1, sizeof *texts);
  assert_non_null(arrays);
  assert_non_null(names);
  assert_non_null(texts);
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 0, NULL, NULL, &x), ND4C_OK);
  for (int i = 0; i <= MANY; i++) {
    (void)snprintf(texts[i], sizeof texts[i], "%d", i);
    names[i] = texts[i];
    arrays[i] = x;
  }
  assert_int_equal(nd4c_npz_write(path, names, arrays, MANY + 1, false), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "65536 arrays, expected at most 65535"));
  assert_int_equal(nd4c_npz_write(path, names, arrays, MANY, false), ND4C_OK);
  assert_int_equal(nd4c_npz_open(path, &archive), ND4C_OK);
  assert_int_equal(nd4c_archive_count(archive), MANY);
  assert_int_equal(nd4c_archive_find(archive, "65534"), MANY - 1);
  nd4c_array_release(take(archive, "65534", ND4C_FLOAT32, 0));
  nd4c_archive_release(archive);
  nd4c_array_release(x);
  free(texts);
  free((void *)names);
  free((void *)arrays);
}

static void writes_no_nonsense(void **state) {
  (void)state;
  nd4c_array *x = NULL, *text = NULL;
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 0, NULL, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_array_from_strings(0, NULL, (const char *const[]){"a"}, NULL, &text), ND4C_OK);
  const nd4c_array *const arrays[] = {x, x};
  const nd4c_array *const texts[] = {text, NULL};
  for (size_t f = 0; f < 2; f++) {
    assert_int_equal(formats[f].write((const char *const[]){"a", "a"}, arrays, 2), ND4C_ARGUMENT);
    assert_non_null(strstr(nd4c_error_message(), "the name 'a' comes twice"));
    assert_int_equal(formats[f].write((const char *const[]){""}, arrays, 1), ND4C_ARGUMENT);
    assert_int_equal(formats[f].write((const char *const[]){"\xff"}, arrays, 1), ND4C_FORMAT);
    assert_int_equal(formats[f].write((const char *const[]){NULL}, arrays, 1), ND4C_NULL_ARGUMENT);
    assert_int_equal(formats[f].write((const char *const[]){"a", "b"}, texts, 2), ND4C_NULL_ARGUMENT);
    assert_int_equal(formats[f].write((const char *const[]){"a"}, NULL, 1), ND4C_NULL_ARGUMENT);
    assert_int_equal(formats[f].write(NULL, NULL, -1), ND4C_ARGUMENT);
  }
  assert_int_equal(write_safetensors((const char *const[]){"a"}, texts, 1), ND4C_DTYPE);
  assert_non_null(strstr(nd4c_error_message(), "'a' is utf8, which the format lacks"));
  assert_int_equal(write_safetensors((const char *const[]){"__metadata__"}, arrays, 1), ND4C_ARGUMENT);
  /* what is wrong with a later array */
  const nd4c_array *const second[] = {x, text};
  assert_int_equal(write_safetensors((const char *const[]){"a", "b"}, second, 2), ND4C_DTYPE);
  assert_non_null(strstr(nd4c_error_message(), "'b' is utf8, which the format lacks"));
  assert_int_equal(write_safetensors((const char *const[]){"a", "__metadata__"}, arrays, 2), ND4C_ARGUMENT);
  nd4c_array_release(x);
  nd4c_array_release(text);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  enum { MOST = 20000 };
  for (size_t f = 0; f < 2; f++) {
    int64_t skipped = 0;
    assert_int_equal(copy(&formats[f]), ND4C_OK);
    for (; skipped < MOST; skipped++) {
      int64_t before = nd4c_allocation_count();
      nd4c_allocation_fail_at(skipped);
      nd4c_status status = copy(&formats[f]);
      nd4c_allocation_fail_at(-1);
      if (nd4c_allocation_count() - before <= skipped) {
        assert_int_equal(status, ND4C_OK);
        break;
      }
      if (status != ND4C_OK && status != ND4C_MEMORY) {
        fail_msg("%s, allocation %d: %s", formats[f].sample(), (int)skipped, nd4c_error_message());
      }
    }
    assert_in_range(skipped, 10, MOST - 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_what_numpy_wrote),      cmocka_unit_test(reads_what_safetensors_wrote),
      cmocka_unit_test(refuses_hostile_safetensors), cmocka_unit_test(refuses_deep_json),
      cmocka_unit_test(reads_and_writes_four_bits),  cmocka_unit_test(refuses_wrong_bool),
      cmocka_unit_test(refuses_too_many_values),     cmocka_unit_test(refuses_hostile_npz),
      cmocka_unit_test(refuses_every_cut),           cmocka_unit_test(refuses_twice_the_same_name),
      cmocka_unit_test(lets_mapped_files_go),        cmocka_unit_test(refuses_overlapping_entries),
      cmocka_unit_test(writes_many_entries),         cmocka_unit_test(writes_what_it_read),
      cmocka_unit_test(writes_no_nonsense),          cmocka_unit_test(every_allocation_may_fail)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
