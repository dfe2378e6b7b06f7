/* What the functions of files and archives refuse before they open or write anything: each argument that is NULL, by
 * its name, and each text and name that a file cannot hold, by its number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

static const char absent[] = "/tmp/no such folder of nd4c/file"; /* no call may come as far as opening it */

#define CHECK_REFUSED(call, status, words)                                          \
  do {                                                                              \
    const nd4c_status found = (call);                                               \
    if (found != (status) || strstr(nd4c_error_message(), (words)) == NULL) {       \
      fail_msg("%s: %s: %s", #call, nd4c_status_name(found), nd4c_error_message()); \
    }                                                                               \
  } while (0)
#define CHECK_NULL(call, words) CHECK_REFUSED(call, ND4C_NULL_ARGUMENT, words)

static void files_need_all_arguments(void **state) {
  (void)state;
  nd4c_array *array = NULL;
  nd4c_archive *archive = NULL;
  CHECK_NULL(nd4c_npy_read(NULL, &array), "nd4c_npy_read: path is NULL");
  CHECK_NULL(nd4c_npy_read(absent, NULL), "nd4c_npy_read: array is NULL");
  CHECK_NULL(nd4c_npy_read_memory(NULL, 0, &array), "nd4c_npy_read_memory: bytes is NULL");
  CHECK_NULL(nd4c_npy_read_memory(absent, sizeof absent, NULL), "nd4c_npy_read_memory: array is NULL");
  CHECK_NULL(nd4c_npz_open(NULL, &archive), "nd4c_npz_open: path is NULL");
  CHECK_NULL(nd4c_npz_open(absent, NULL), "nd4c_npz_open: out is NULL");
  CHECK_NULL(nd4c_npz_open_memory(NULL, 0, &archive), "nd4c_npz_open_memory: bytes is NULL");
  CHECK_NULL(nd4c_npz_open_memory(absent, sizeof absent, NULL), "nd4c_npz_open_memory: out is NULL");
  CHECK_NULL(nd4c_safetensors_open(NULL, &archive), "nd4c_safetensors_open: path is NULL");
  CHECK_NULL(nd4c_safetensors_open(absent, NULL), "nd4c_safetensors_open: out is NULL");
  CHECK_NULL(nd4c_archive_array(NULL, 0, &array), "nd4c_archive_array: archive is NULL");
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 0, NULL, NULL, &array), ND4C_OK);
  CHECK_NULL(nd4c_npy_write(NULL, array), "nd4c_npy_write: path is NULL");
  CHECK_NULL(nd4c_npy_write(absent, NULL), "array");
  nd4c_array_release(array);
}

static void ranges_need_all_arguments(void **state) {
  (void)state;
  nd4c_calibration *calibration = NULL;
  CHECK_NULL(nd4c_calibration_load(NULL, &calibration), "nd4c_calibration_load: path is NULL");
  CHECK_NULL(nd4c_calibration_load(absent, NULL), "nd4c_calibration_load: calibration is NULL");
  CHECK_NULL(nd4c_calibration_load_memory(NULL, 0, &calibration), "nd4c_calibration_load_memory: bytes is NULL");
  CHECK_NULL(nd4c_calibration_load_memory("{}", 2, NULL), "nd4c_calibration_load_memory: calibration is NULL");
  assert_null(calibration);
}

static void data_need_a_place(void **state) {
  (void)state;
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 0, NULL, NULL, &array), ND4C_OK);
  CHECK_NULL(nd4c_datum_of_array(array, NULL), "nd4c_datum_of_array: out is NULL");
  CHECK_NULL(nd4c_datum_of_sequence(ND4C_FLOAT32, NULL, 0, NULL), "nd4c_datum_of_sequence: out is NULL");
  nd4c_array_release(array);
}

/* What fails the checks of names and arrays is the same for both formats. */
static void names_and_arrays_are_checked(void **state) {
  (void)state;
  nd4c_array *x = NULL;
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 0, NULL, NULL, &x), ND4C_OK);
  const nd4c_array *arrays[] = {x, x, x}, *holes[] = {x, NULL, x};
  const char *names[] = {"a", "b", "c"}, *no_second[] = {"a", NULL, "c"}, *empty[] = {"a", "b", ""};
  const char *twice[] = {"a", "b", "b"}, *ends[] = {"a", "b", "a"}, *odd[] = {"a", "\xff", "c"};
  for (int32_t npz = 0; npz < 2; npz++) {
#define WRITE(names, arrays, count)                          \
  (npz ? nd4c_npz_write(absent, names, arrays, count, false) \
       : nd4c_safetensors_write(absent, names, arrays, count, NULL, NULL, 0))
    CHECK_NULL(npz ? nd4c_npz_write(NULL, names, arrays, 3, true)
                   : nd4c_safetensors_write(NULL, names, arrays, 3, NULL, NULL, 0),
               npz ? "nd4c_npz_write: path is NULL" : "nd4c_safetensors_write: path is NULL");
    CHECK_NULL(WRITE(NULL, arrays, 1), ": names is NULL");
    CHECK_NULL(WRITE(names, NULL, 1), ": arrays is NULL");
    CHECK_REFUSED(WRITE(names, arrays, -1), ND4C_ARGUMENT, "-1 arrays");
    CHECK_REFUSED(WRITE(NULL, NULL, 0), ND4C_IO, "file"); /* nothing but the file is missing */
    CHECK_NULL(WRITE(no_second, arrays, 3), "name 1 is NULL");
    CHECK_REFUSED(WRITE(empty, arrays, 3), ND4C_ARGUMENT, "name 2 is empty");
    CHECK_REFUSED(WRITE(odd, arrays, 3), ND4C_FORMAT, "is not UTF-8");
    CHECK_REFUSED(WRITE(twice, arrays, 3), ND4C_ARGUMENT, "'b' comes twice");
    CHECK_REFUSED(WRITE(ends, arrays, 3), ND4C_ARGUMENT, "'a' comes twice");
    CHECK_NULL(WRITE(names, holes, 3), "'b': array is NULL");
#undef WRITE
  }
  nd4c_array_release(x);
}

static void texts_of_safetensors_are_checked(void **state) {
  (void)state;
  const char *keys[] = {"a", "b", "c"}, *values[] = {"1", "1", ""}, *no_last[] = {"a", "b", NULL};
  const char *no_first[] = {NULL, "b", "c"}, *odd[] = {"a", "\xc0", "c"}, *ends[] = {"a", "b", "a"};
  const char *begins[] = {"a", "a", "c"}, *last[] = {"a", "b", "b"};
  const struct {
    const char *const *keys, *const *values;
    int32_t count;
    nd4c_status status;
    const char *words;
  } rows[] = {{keys, values, -1, ND4C_ARGUMENT, "nd4c_safetensors_write: -1 texts"},
              {NULL, NULL, -1, ND4C_ARGUMENT, "-1 texts"},
              {NULL, values, 1, ND4C_NULL_ARGUMENT, "1 texts, keys or values is NULL"},
              {keys, NULL, 1, ND4C_NULL_ARGUMENT, "1 texts, keys or values is NULL"},
              {NULL, NULL, 3, ND4C_NULL_ARGUMENT, "3 texts, keys or values is NULL"},
              {no_first, values, 3, ND4C_NULL_ARGUMENT, "text 0 is NULL"},
              {keys, no_first, 3, ND4C_NULL_ARGUMENT, "text 0 is NULL"},
              {no_last, values, 3, ND4C_NULL_ARGUMENT, "text 2 is NULL"},
              {keys, no_last, 3, ND4C_NULL_ARGUMENT, "text 2 is NULL"},
              {odd, values, 3, ND4C_FORMAT, "text 1 is not UTF-8"},
              {keys, odd, 3, ND4C_FORMAT, "text 1 is not UTF-8"},
              {begins, values, 3, ND4C_ARGUMENT, "the key 'a' comes twice"},
              {ends, values, 3, ND4C_ARGUMENT, "the key 'a' comes twice"},
              {last, values, 3, ND4C_ARGUMENT, "the key 'b' comes twice"},
              {keys, values, 3, ND4C_IO, "no such folder"}, /* equal values may be, and one may be empty */
              {no_last, values, 2, ND4C_IO, "no such folder"},
              {NULL, NULL, 0, ND4C_IO, "no such folder"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const nd4c_status found =
        nd4c_safetensors_write(absent, NULL, NULL, 0, rows[i].keys, rows[i].values, rows[i].count);
    if (found != rows[i].status || strstr(nd4c_error_message(), rows[i].words) == NULL) {
      fail_msg("row %zu: %s: %s", i, nd4c_status_name(found), nd4c_error_message());
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(files_need_all_arguments),
                                     cmocka_unit_test(ranges_need_all_arguments), cmocka_unit_test(data_need_a_place),
                                     cmocka_unit_test(names_and_arrays_are_checked),
                                     cmocka_unit_test(texts_of_safetensors_are_checked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
