/* Files of calibrations: what is written is read again, and everything that is no such file is refused. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "graph/calibration/table.h"
#include "nd4c/nd4c.h"

static const char whole[] =
    "{\"nd4c_calibration\": 1, \"method\": \"mse\", \"samples\": 12, \"fingerprint\": \"00ff0123456789ab\",\n"
    " \"float32\": [\"conv\", \"a \\\"b\\\"\"], \"more\": [1],\n"
    " \"ranges\": {\"y\": [-1.5, 2.25], \"a\\\\b\": [0, 0], \"\\u00fc\": [-0.1, 1e-300]}}\n";

static void check_whole(const nd4c_calibration *calibration) {
  const char *name = NULL;
  double low = 0, high = 0;
  assert_int_equal(nd4c_calibration_count(calibration), 3);
  assert_int_equal(nd4c_calibration_get_range(calibration, 0, &name, &low, &high), ND4C_OK);
  assert_string_equal(name, "a\\b");
  assert_int_equal(nd4c_calibration_get_range(calibration, 1, &name, &low, &high), ND4C_OK);
  assert_string_equal(name, "y");
  assert_true(low == -1.5 && high == 2.25);
  assert_int_equal(nd4c_calibration_get_range(calibration, 2, &name, &low, &high), ND4C_OK);
  assert_true(low == -0.1 && high == 1e-300);
  assert_int_equal(nd4c_calibration_get_range(calibration, 3, &name, &low, &high), ND4C_INDEX);
  assert_true(calibration->fingerprint == UINT64_C(0x00ff0123456789ab) && calibration->samples == 12);
  assert_int_equal(calibration->how.method, ND4C_CALIBRATION_MSE);
  assert_true(nd4c_calibration_keeps(calibration, "a \"b\"", "add"));
  assert_true(nd4c_calibration_keeps(calibration, NULL, "conv"));
  assert_false(nd4c_calibration_keeps(calibration, "y", "matmul"));
}

static void files_are_read_again(void **state) {
  (void)state;
  char path[] = "/tmp/nd4c_calibration_XXXXXX"; /* its own: several runs of this test may write at once */
  const int made = mkstemp(path);
  nd4c_calibration *calibration = NULL, *again = NULL;
  assert_true(made >= 0);
  assert_int_equal(close(made), 0);
  assert_int_equal(nd4c_calibration_load_memory(whole, sizeof whole - 1, &calibration), ND4C_OK);
  check_whole(calibration);
  assert_int_equal(nd4c_calibration_save(calibration, path), ND4C_OK);
  assert_int_equal(nd4c_calibration_load(path, &again), ND4C_OK);
  check_whole(again);
  assert_int_equal(nd4c_calibration_measure(again, NULL, 0), ND4C_ARGUMENT);
  assert_int_equal(nd4c_calibration_layer_count(again), 0);
  assert_int_equal(nd4c_calibration_save(again, "no such folder/x.json"), ND4C_IO);
  assert_int_equal(nd4c_calibration_load("no such file", &calibration), ND4C_IO);
  (void)remove(path);
  nd4c_calibration_release(calibration);
  nd4c_calibration_release(again);
}

static void cut_files_are_refused(void **state) {
  (void)state;
  for (size_t size = 0; size < sizeof whole - 2; size++) {
    nd4c_calibration *calibration = NULL;
    const nd4c_status status = nd4c_calibration_load_memory(whole, size, &calibration);
    assert_int_equal(status, ND4C_FORMAT);
    assert_null(calibration);
  }
}

#define BEGIN "{\"nd4c_calibration\": 1, \"method\": \"mse\", \"samples\": 1, \"fingerprint\": \"0000000000000000\", "

static void other_texts_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *words;
  } rows[] = {
      {"[]", "object"},
      {"{}", "'nd4c_calibration'"},
      {"{\"nd4c_calibration\": 2}", "format 2, expected 1"},
      {"{\"nd4c_calibration\": 1, \"nd4c_calibration\": 1}", "comes twice"},
      {"{\"nd4c_calibration\": 1, \"method\": \"best\"}", "no method 'best'"},
      {"{\"nd4c_calibration\": 1, \"method\": 3}", "'method'"},
      {"{\"nd4c_calibration\": 1, \"method\": \"mse\", \"samples\": 0}", "'samples'"},
      {"{\"nd4c_calibration\": 1, \"method\": \"mse\", \"samples\": 1e300}", "'samples'"},
      {"{\"nd4c_calibration\": 1, \"method\": \"mse\", \"samples\": 1.5}", "'samples'"},
      {"{\"nd4c_calibration\": 1, \"method\": \"mse\", \"samples\": 1, \"fingerprint\": \"xyz\"}", "'fingerprint'"},
      {"{\"nd4c_calibration\": 1, \"method\": \"mse\", \"samples\": 1, \"fingerprint\": \"000000000000000-\"}",
       "'fingerprint'"},
      {BEGIN "\"float32\": {}}", "'float32'"},
      {BEGIN "\"float32\": [\"\"]}", "'float32'"},
      {BEGIN "\"float32\": [1]}", "'float32'"},
      {BEGIN "\"ranges\": []}", "'ranges'"},
      {BEGIN "\"ranges\": {\"\": [1, 2]}}", "not empty"},
      {BEGIN "\"ranges\": {\"x\": [1]}}", "'x'"},
      {BEGIN "\"ranges\": {\"x\": [1, 2, 3]}}", "'x'"},
      {BEGIN "\"ranges\": {\"x\": [2, 1]}}", "'x'"},
      {BEGIN "\"ranges\": {\"x\": [-1e999, 1]}}", "'x'"},
      {BEGIN "\"ranges\": {\"x\": [0, 4e38]}}", "'x'"},
      {BEGIN "\"ranges\": {\"x\": [0, NaN]}}", "malformed"},
      {BEGIN "\"ranges\": {\"x\": {\"low\": 0, \"high\": 1}}}", "'x'"},
      {BEGIN "\"ranges\": {\"x\": [0, 1], \"x\": [0, 1]}}", "'x' comes twice"},
      {BEGIN "\"ranges\": {\"x\": [0, \"1\"]}}", "'x'"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    nd4c_calibration *calibration = NULL;
    const nd4c_status status = nd4c_calibration_load_memory(rows[i].text, strlen(rows[i].text), &calibration);
    if (status != ND4C_FORMAT || strstr(nd4c_error_message(), rows[i].words) == NULL) {
      fail_msg("%s gave %s: %s", rows[i].text, nd4c_status_name(status), nd4c_error_message());
    }
    assert_null(calibration);
  }
}

/* More ranges than a calibration has. */
static void huge_files_are_refused(void **state) {
  (void)state;
  const int count = ND4C_CALIBRATION_MOST_RANGES + 1;
  char *text = malloc(sizeof BEGIN + 64 + (size_t)count * 24), *at = text;
  nd4c_calibration *calibration = NULL;
  assert_non_null(text);
  at += sprintf(at, BEGIN "\"ranges\": {");
  for (int i = 0; i < count; i++) {
    at += sprintf(at, "%s\"%d\":[0,1]", i > 0 ? "," : "", i);
  }
  at += sprintf(at, "}}");
  assert_int_equal(nd4c_calibration_load_memory(text, (size_t)(at - text), &calibration), ND4C_FORMAT);
  assert_non_null(strstr(nd4c_error_message(), "at most"));
  assert_null(calibration);
  free(text);
}

/* As many long names as a file may have, which differ at their ends only: comparing each with each takes minutes. The
 * names may come twice. */
static void many_names_are_read_fast(void **state) {
  (void)state;
  enum { LENGTH = 2000 };
  const int count = ND4C_CALIBRATION_MOST_KEPT;
  char *text = malloc(sizeof BEGIN + 64 + (size_t)count * (LENGTH + 24)), *at = text;
  nd4c_calibration *calibration = NULL;
  struct timespec before, after;
  assert_non_null(text);
  at += sprintf(at, BEGIN "\"float32\": [");
  for (int i = 0; i < count; i++) {
    at += sprintf(at, "%s\"%0*d\"", i > 0 ? "," : "", (int)LENGTH, i / 2 * 7919 % count);
  }
  at += sprintf(at, "], \"ranges\": {}}");
  assert_int_equal(timespec_get(&before, TIME_UTC), TIME_UTC);
  assert_int_equal(nd4c_calibration_load_memory(text, (size_t)(at - text), &calibration), ND4C_OK);
  assert_int_equal(timespec_get(&after, TIME_UTC), TIME_UTC);
  assert_true(after.tv_sec - before.tv_sec < 30);
  assert_int_equal(calibration->kept.count, count / 2);
  nd4c_calibration_release(calibration);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_read_again), cmocka_unit_test(cut_files_are_refused),
                                     cmocka_unit_test(other_texts_are_refused),
                                     cmocka_unit_test(many_names_are_read_fast),
                                     cmocka_unit_test(huge_files_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
