/* Inference against records: NumPy's answers, and every refusal with its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record.h"

/* Strides of axes with at most one element do not count. */
static int same_view(const record *self, const int64_t *strides, int64_t offset, const char *expected) {
  int64_t wanted[RECORD_VALUES];
  if (record_numbers(&expected, wanted) != self->outputs[0].rank || *expected != '@') {
    return 0;
  }
  for (int32_t i = 0; i < self->outputs[0].rank; i++) {
    if (self->outputs[0].shape[i] > 1 && strides[i] != wanted[i]) {
      return 0;
    }
  }
  return strtoll(expected + 1, NULL, 10) == offset;
}

static int check_view(record *self, const char *expected, char *got, size_t size) {
  nd4c_inference inference = record_inference(self);
  int64_t strides[ND4C_MAX_RANK], offset = 0;
  if (self->def->view == NULL || !self->def->view(&inference, strides, &offset)) {
    (void)snprintf(got, size, "copy");
    return strcmp(expected, "copy") == 0;
  }
  (void)snprintf(got, size, "view ");
  (void)record_list(got + 5, size - 5, self->outputs[0].rank, strides);
  (void)snprintf(got + strlen(got), size - strlen(got), "@%lld", (long long)offset);
  return strncmp(expected, "view ", 5) == 0 && same_view(self, strides, offset, expected + 5);
}

/* One line; prints it with the result if that differs. */
static int check_line(const char *file, int number, char *line) {
  char whole[2048], got[10240];
  (void)snprintf(whole, sizeof whole, "%s", line);
  char *arrow = strstr(line, " -> ");
  record self;
  if (arrow == NULL) {
    print_error("%s:%d: not a record: %s\n", file, number, whole);
    return 0;
  }
  const char *expected = arrow + 4;
  *arrow = '\0';
  if (!record_parse(&self, line)) {
    print_error("%s:%d: not a record: %s (%s)\n", file, number, whole, nd4c_error_message());
    return 0;
  }
  nd4c_error_clear();
  nd4c_status status = record_infer(&self);
  record_result(&self, status, got, sizeof got);
  if (strcmp(expected, "error") == 0 && status != ND4C_OK) {
    return nd4c_error_code() == status && nd4c_error_message()[0] != '\0';
  }
  size_t length = strlen(got);
  if (strncmp(expected, got, length) == 0 && expected[length] == '\0') {
    return 1;
  }
  if (status == ND4C_OK && strncmp(expected, got, length) == 0 && expected[length] == ' ' &&
      check_view(&self, expected + length + 1, got + length, sizeof got - length)) {
    return 1;
  }
  print_error("%s:%d: %s\n  gave %s\n", file, number, whole, got);
  return 0;
}

/* A lite build lacks dtypes; records that name one of them say nothing about it. */
static int names_missing_dtype(const char *line) {
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
    if (!info->available && strstr(line, info->name) != NULL) {
      return 1;
    }
  }
  return 0;
}

static void check_file(const char *name, int least) {
  char path[1024], line[2048];
  (void)snprintf(path, sizeof path, "%s/tests/data/ops/%s", ND4C_TEST_SOURCE_DIR, name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  int number = 0, records = 0, wrong = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    number++;
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == '#' || line[0] == '\0') {
      continue;
    }
    records++;
    if (strcmp(name, "lite.txt") == 0 || !names_missing_dtype(line)) {
      wrong += !check_line(name, number, line);
    }
  }
  assert_int_equal(fclose(file), 0);
  assert_true(records >= least);
  assert_int_equal(wrong, 0);
}

static void numpy_agrees(void **state) {
  (void)state;
  check_file("numpy.txt", 1000);
}

static void rules_hold(void **state) {
  (void)state;
  check_file("rules.txt", 100);
}

#ifdef ND4C_DTYPES_LITE
static void lite_build_says_what_it_lacks(void **state) {
  (void)state;
  check_file("lite.txt", 4);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numpy_agrees),
      cmocka_unit_test(rules_hold),
#ifdef ND4C_DTYPES_LITE
      cmocka_unit_test(lite_build_says_what_it_lacks),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
