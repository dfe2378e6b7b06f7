/* Imported models against results of ONNX Runtime (tests/tools/make_onnx_models.py): every case of tests/data/onnx. */
#define _DEFAULT_SOURCE /* opendir */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

enum { MOST_VALUES = 128, PATH_SIZE = 1024 };
#define FOLDER ND4C_TEST_SOURCE_DIR "/tests/data/onnx"

/* Arrays by name, the contents of a NAME.data.onnx. */
typedef struct named_arrays {
  nd4c_model *model; /* owns the names */
  int32_t count;
  const char *names[MOST_VALUES];
  nd4c_array *arrays[MOST_VALUES];
} named_arrays;

static void check_ok(nd4c_status status, const char *what) {
  if (status != ND4C_OK) {
    fail_msg("%s: %s: %s", what, nd4c_status_name(status), nd4c_error_message());
  }
}

static nd4c_model *open_model(const char *name, bool all_intermediates) {
  char path[PATH_SIZE];
  nd4c_model *model = NULL;
  nd4c_model_options options = {.struct_size = sizeof options, .all_intermediates = all_intermediates};
  (void)snprintf(path, sizeof path, FOLDER "/%s.onnx", name);
  check_ok(nd4c_model_open(path, &options, &model), path);
  return model;
}

/* False if this build leaves out a dtype of the case. */
static bool load_arrays(const char *name, named_arrays *data) {
  char path[PATH_SIZE];
  (void)snprintf(path, sizeof path, FOLDER "/%s.data.onnx", name);
  nd4c_status status = nd4c_model_open(path, NULL, &data->model);
  if (status == ND4C_UNSUPPORTED && !nd4c_dtype_get_info(ND4C_FLOAT16)->available) {
    return false;
  }
  check_ok(status, path);
  data->count = nd4c_model_output_count(data->model);
  assert_in_range(data->count, 1, MOST_VALUES);
  for (int32_t i = 0; i < data->count; i++) {
    nd4c_model_value value = {.struct_size = sizeof value};
    check_ok(nd4c_model_output(data->model, i, &value), name);
    data->names[i] = value.name;
    data->arrays[i] = NULL;
  }
  check_ok(nd4c_model_run(data->model, NULL, NULL, NULL, 0, data->arrays, data->count), name);
  return true;
}

static void free_arrays(named_arrays *data) {
  for (int32_t i = 0; i < data->count; i++) {
    nd4c_array_release(data->arrays[i]);
  }
  nd4c_model_close(data->model);
}

static nd4c_array *find_array(const named_arrays *data, const char *prefix, const char *name) {
  for (int32_t i = 0; i < data->count; i++) {
    if (strncmp(data->names[i], prefix, strlen(prefix)) == 0 && strcmp(data->names[i] + strlen(prefix), name) == 0) {
      return data->arrays[i];
    }
  }
  fail_msg("no array %s%s", prefix, name);
  return NULL;
}

static double *read_doubles(const nd4c_array *array) {
  nd4c_array *wide = NULL;
  size_t size = (size_t)nd4c_array_size(array);
  double *values = malloc((size + 1) * sizeof *values);
  assert_non_null(values);
  check_ok(nd4c_cast(array, ND4C_FLOAT64, &wide), "cast");
  check_ok(nd4c_array_read(wide, values, size * sizeof *values), "read");
  nd4c_array_release(wide);
  return values;
}

static void compare(const char *model, const char *name, const nd4c_array *given, const nd4c_array *expected) {
  bool same = nd4c_array_dtype(given) == nd4c_array_dtype(expected) &&
              nd4c_array_rank(given) == nd4c_array_rank(expected) &&
              nd4c_array_size(given) == nd4c_array_size(expected);
  for (int32_t i = 0; same && i < nd4c_array_rank(given); i++) {
    same = nd4c_array_shape(given)[i] == nd4c_array_shape(expected)[i];
  }
  if (!same) {
    fail_msg("%s: %s: %s of %lld elements, rank %d; expected %s of %lld, rank %d", model, name,
             nd4c_dtype_name(nd4c_array_dtype(given)), (long long)nd4c_array_size(given), (int)nd4c_array_rank(given),
             nd4c_dtype_name(nd4c_array_dtype(expected)), (long long)nd4c_array_size(expected),
             (int)nd4c_array_rank(expected));
  }
  double *a = read_doubles(given);
  double *b = read_doubles(expected);
  for (int64_t i = 0; i < nd4c_array_size(given); i++) {
    double tolerance = 1e-4 * fabs(b[i]) + 2e-6;
    if (!(fabs(a[i] - b[i]) <= tolerance) && !(isnan(a[i]) && isnan(b[i])) && a[i] != b[i]) {
      fail_msg("%s: %s: element %lld is %.9g, expected %.9g", model, name, (long long)i, a[i], b[i]);
    }
  }
  free(a);
  free(b);
}

/* Opens, runs twice, compares all outputs; false if this build lacks a dtype of the case. Intermediates are made but
 * not compared: their values are outputs in other cases. */
static bool check_case(const char *name, bool all_intermediates) {
  named_arrays data;
  const char *names[MOST_VALUES];
  const nd4c_array *inputs[MOST_VALUES];
  if (!load_arrays(name, &data)) {
    return false;
  }
  nd4c_model *model = open_model(name, all_intermediates);
  int32_t input_count = nd4c_model_input_count(model);
  int32_t output_count = nd4c_model_output_count(model);
  for (int32_t i = 0; i < input_count; i++) {
    nd4c_model_value value = {.struct_size = sizeof value};
    check_ok(nd4c_model_input(model, i, &value), name);
    /* In reverse: inputs are matched by name. */
    names[input_count - 1 - i] = value.name;
    inputs[input_count - 1 - i] = find_array(&data, "in.", value.name);
  }
  for (int run = 0; run < 2; run++) {
    nd4c_array **outputs = calloc((size_t)output_count, sizeof(nd4c_array *));
    check_ok(nd4c_model_run(model, NULL, names, inputs, input_count, outputs, output_count), name);
    for (int32_t i = 0; i < output_count; i++) {
      nd4c_model_value value = {.struct_size = sizeof value};
      check_ok(nd4c_model_output(model, i, &value), name);
      assert_non_null(outputs[i]);
      if (i < data.count - input_count) {
        compare(name, value.name, outputs[i], find_array(&data, "out.", value.name));
      }
      nd4c_array_release(outputs[i]);
    }
    free(outputs);
  }
  nd4c_model_close(model);
  free_arrays(&data);
  return true;
}

static void check_all(bool all_intermediates) {
  static const char suffix[] = ".data.onnx";
  int cases = 0;
  DIR *folder = opendir(FOLDER);
  assert_non_null(folder);
  for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    size_t length = strlen(entry->d_name);
    if (length > sizeof suffix && strcmp(entry->d_name + length - sizeof suffix + 1, suffix) == 0) {
      entry->d_name[length - sizeof suffix + 1] = '\0';
      cases += check_case(entry->d_name, all_intermediates);
    }
  }
  (void)closedir(folder);
  assert_true(cases >= (nd4c_dtype_get_info(ND4C_FLOAT16)->available ? 20 : 10));
}

static void test_models_match_onnx_runtime(void **state) {
  (void)state;
  check_all(false);
}

static void test_models_with_all_intermediates_match_too(void **state) {
  (void)state;
  check_all(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_models_match_onnx_runtime),
                                     cmocka_unit_test(test_models_with_all_intermediates_match_too)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
