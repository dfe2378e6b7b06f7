/* What the entries of a .npz file claim to hold, against what the file can hold. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
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

static unsigned char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  unsigned char *bytes = malloc(1 << 16);
  assert_non_null(bytes);
  *size = fread(bytes, 1, 1 << 16, file);
  (void)fclose(file);
  return bytes;
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

static void put_size(unsigned char *to, size_t number) {
  for (size_t i = 0; i < 4; i++) {
    to[i] = (unsigned char)(number >> 8 * i);
  }
}

/* What the first entry claims to take, at the edge of each bound. HEADS: its name, twice, and both of its headers. */
static void refuses_claims_past_each_bound(void **state) {
  (void)state;
  enum { HEADS = 2 * 8 + 30 + 46, RATIO = 1032 };
  static const struct {
    int64_t past; /* packed bytes above those of the file */
    bool deflated;
    int64_t more; /* bytes above those that so many packed ones hold at most */
    const char *words;
  } rows[] = {{1, false, 0, "which cannot be"},
              {0, false, 0, "entries overlap"},
              {1 - HEADS, false, 0, "'grid.npy': takes "},
              {-HEADS, false, 0, "where 0 are left of the file: entries overlap"},
              {-HEADS - 1, false, 0, "where 1 are left of the file: entries overlap"},
              {-HEADS, false, 1, "which cannot be"},
              {-HEADS, false, -1, "which cannot be"},
              {1, true, 0, "which cannot be"},
              {-HEADS, true, 0, "where 0 are left"},
              {-HEADS, true, RATIO - 1, "where 0 are left"},
              {-HEADS, true, RATIO, "which cannot be"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    size_t size = 0;
    nd4c_archive *archive = NULL;
    unsigned char *file = read_file(rows[i].deflated ? DATA "deflated.npz" : DATA "stored.npz", &size);
    unsigned char *record = find(file, size, "PK\1\2", 4, 0);
    const int64_t packed = (int64_t)size + rows[i].past;
    put_size(record + 20, (size_t)packed);
    put_size(record + 24, (size_t)(packed * (rows[i].deflated ? RATIO : 1) + rows[i].more));
    const nd4c_status status = nd4c_npz_open_memory(file, size, &archive);
    if (status != ND4C_FORMAT || strstr(nd4c_error_message(), rows[i].words) == NULL) {
      fail_msg("row %zu: %s: %s", i, nd4c_status_name(status), nd4c_error_message());
    }
    assert_null(archive);
    free(file);
  }
}

/* The header of a large array is read before memory for the array is allocated. */
static void checks_headers_of_large_arrays_first(void **state) {
  (void)state;
  enum { COUNT = 300010 };
  static const struct {
    bool sizes; /* changes the size in both records, else what is packed */
    unsigned char added;
    nd4c_status status;
    const char *words;
  } rows[] = {{true, 0, ND4C_OK, ""},
              {true, 252, ND4C_FORMAT, "'x': npy data: 1200036 bytes from byte 128 on, expected 1200040"},
              {false, 255, ND4C_FORMAT, "'x': zip entry is damaged"}};
  const int64_t count = COUNT;
  char path[] = "/tmp/nd4c_claims_XXXXXX";
  const int made = mkstemp(path);
  assert_true(made >= 0);
  assert_int_equal(close(made), 0);
  nd4c_array *x = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, &count, 2.5, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_npz_write(path, (const char *const[]){"x"}, (const nd4c_array *const[]){x}, 1, true), ND4C_OK);
  nd4c_array_release(x);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    size_t size = 0;
    double value = 0;
    nd4c_archive *archive = NULL;
    unsigned char *file = read_file(path, &size);
    unsigned char *entry = find(file, size, "PK\3\4", 4, 0), *record = find(file, size, "PK\1\2", 4, 0);
    if (rows[i].sizes) {
      entry[22] += rows[i].added;
      record[24] += rows[i].added;
    } else {
      entry[(record - entry) / 2] += rows[i].added;
    }
    assert_int_equal(nd4c_npz_open_memory(file, size, &archive), ND4C_OK);
    nd4c_status status = ND4C_MEMORY;
    for (int64_t at = 0; status == ND4C_MEMORY; at++) { /* each allocation fails once */
      x = NULL;
      nd4c_allocation_fail_at(at);
      status = nd4c_archive_array(archive, 0, &x);
      nd4c_allocation_fail_at(-1);
    }
    if (status != rows[i].status || strstr(nd4c_error_message(), rows[i].words) == NULL) {
      fail_msg("row %zu: %s: %s", i, nd4c_status_name(status), nd4c_error_message());
    }
    if (status == ND4C_OK) {
      assert_int_equal(nd4c_array_item(x, (int64_t[]){COUNT - 1}, &value), ND4C_OK);
      assert_true(value == 2.5);
    }
    nd4c_array_release(x);
    nd4c_archive_release(archive);
    free(file);
  }
  assert_int_equal(unlink(path), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(refuses_claims_past_each_bound),
                                     cmocka_unit_test(checks_headers_of_large_arrays_first)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
