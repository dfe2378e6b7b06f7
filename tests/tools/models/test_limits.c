/* The limits that `nd4c run --profile` measures, and which of them it calls unreliable: tools/cli/limits.c with planted
 * clocks and loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/limits.h"
#include "tools/cli/limits.h"

enum { WIDTH = 2, READS = 10 /* five on one thread, five on all */ };

/* The planted machine. A read takes longer than a try must, so each call is one try. */
static struct {
  double seconds, processor;       /* its clocks */
  double share;                    /* of `threads` processors, that this process has */
  int threads;                     /* of the loops */
  double float32[CLI_LIMIT_SIZES]; /* GFLOP/s by try; float64: 100 always; the others: no loop */
  double disturbed, speeds[READS]; /* of the reads of so many bytes, by try; 1e6 bytes a second for others */
  int peak, read;                  /* tries so far */
} machine;

static void quiet_machine(void) {
  memset(&machine, 0, sizeof machine);
  machine.share = 1;
  machine.threads = WIDTH;
  for (int i = 0; i < CLI_LIMIT_SIZES; i++) {
    machine.float32[i] = 200;
  }
}

double cli_seconds(void) {
  return machine.seconds;
}

double cli_processor_seconds(void) {
  return machine.processor;
}

const char *cli_bytes_text(int64_t bytes, char *buffer, size_t size) {
  (void)snprintf(buffer, size, "%d KiB", (int)(bytes >> 10));
  return buffer;
}

double bench_limit_gflops_best(nd4c_dtype dtype, int width, int attempts) {
  machine.seconds += 1e-3 * attempts;
  machine.processor += 1e-3 * attempts * machine.threads * machine.share;
  assert_int_equal(width, WIDTH);
  return dtype == ND4C_FLOAT32 ? machine.float32[machine.peak++] : dtype == ND4C_FLOAT64 ? 100 : 0;
}

int bench_limit_threads(int width) {
  return width < machine.threads ? width : machine.threads;
}

double bench_limit_read(const void *from, size_t bytes, int width) {
  assert_non_null(from);
  assert_in_range(width, 1, WIDTH);
  machine.seconds += (double)bytes / ((double)bytes == machine.disturbed ? machine.speeds[machine.read++] : 1e6);
  return 1;
}

/* Measures, and checks the line about unreliable limits (NULL: there is none) and their names in the JSON. */
static void expect_unreliable(const char *names, cli_limits *limits) {
  char text[1024] = {0};
  char expected[512] = {0};
  FILE *file = tmpfile();
  cJSON *object = cJSON_CreateObject();
  assert_non_null(file);
  assert_true(cli_limits_measure(WIDTH, limits));
  cli_limits_print(limits, file);
  rewind(file);
  assert_true(fread(text, 1, sizeof text - 1, file) > 0);
  (void)fclose(file);
  const char *second = strchr(text, '\n') + 1;
  if (names != NULL) {
    (void)snprintf(expected, sizeof expected,
                   "  the machine was busy, the column limit is unreliable where it rests on: %s\n", names);
  }
  assert_string_equal(second, expected);
  cli_limits_add(limits, object);
  expected[0] = '\0';
  const cJSON *name = NULL;
  cJSON_ArrayForEach(name, cJSON_GetObjectItem(object, "unreliable")) {
    const size_t length = strlen(expected);
    (void)snprintf(expected + length, sizeof expected - length, "%s%s", length > 0 ? ", " : "", name->valuestring);
  }
  assert_string_equal(expected, names != NULL ? names : "");
  assert_true(cJSON_IsArray(cJSON_GetObjectItem(object, "unreliable")));
  assert_float_equal(cJSON_GetObjectItem(object, "processor")->valuedouble, limits->processor, 0);
  cJSON_Delete(object);
}

static void test_disagree(void **state) {
  static const double near[] = {20, 81, 100}, far[] = {79, 100, 20, 79}, none[] = {0, 0}, falling[] = {100, 90, 1};
  (void)state;
  assert_false(cli_limits_disagree(near, 3));
  assert_true(cli_limits_disagree(far, 4));
  assert_false(cli_limits_disagree(none, 2)); /* there is no such loop */
  assert_false(cli_limits_disagree(falling, 3));
  assert_true(cli_limits_disagree(falling, 1)); /* nothing confirms a single try */
}

static void test_quiet(void **state) {
  cli_limits limits;
  (void)state;
  quiet_machine();
  expect_unreliable(NULL, &limits);
  assert_float_equal(limits.processor, 1, 1e-9);
  assert_float_equal(limits.peaks[0].operations, 200e9, 1);
  assert_float_equal(limits.reads[0].speed, 1e6, 1e-3);
  assert_true(limits.measuring > 0);
}

static void test_peak(void **state) {
  cli_limits limits;
  (void)state;
  quiet_machine();
  for (int i = 0; i < CLI_LIMIT_SIZES; i++) {
    machine.float32[i] = i == 5 ? 420 : 11 + i;
  }
  expect_unreliable("float32", &limits);
  assert_float_equal(limits.peaks[0].operations, 420e9, 1);
  quiet_machine();
  for (int i = 0; i < CLI_LIMIT_SIZES; i++) {
    machine.float32[i] = i == 5 ? 420 : i == 2 ? 400 : 11;
  }
  expect_unreliable(NULL, &limits); /* two undisturbed tries are enough */
}

static void test_read(void **state) {
  static const double disturbed[READS] = {7e5, 7e5, 7e5, 7e5, 7e5, 6e5, 1e6, 2e5, 7e5, 6e5};
  static const double idle[READS] = {1e5, 7e5, 1e5, 1e5, 1e5, 6e5, 1e6, 2e5, 9e5, 6e5};
  cli_limits limits;
  (void)state;
  quiet_machine();
  machine.disturbed = 8 << 20;
  memcpy(machine.speeds, disturbed, sizeof disturbed);
  expect_unreliable("reads of 8192 KiB", &limits);
  assert_float_equal(limits.reads[4].speed, 1e6, 1e-3);
  assert_int_equal(machine.read, READS);
  quiet_machine();
  machine.disturbed = 8 << 20;
  memcpy(machine.speeds, idle, sizeof idle);
  expect_unreliable(NULL, &limits); /* one thread alone does not set the limit */
}

static void test_processor(void **state) {
  static const char all[] =
      "float32, float64, reads of 32 KiB, reads of 128 KiB, reads of 512 KiB, reads of 2048 KiB, reads of 8192 KiB, "
      "reads of 32768 KiB, reads of 131072 KiB";
  cli_limits limits;
  (void)state;
  quiet_machine();
  machine.share = 0.7; /* all tries agree, and are wrong */
  expect_unreliable(all, &limits);
  assert_float_equal(limits.processor, 0.7, 1e-9);
  quiet_machine();
  machine.threads = 1; /* a build whose loops run on one thread */
  expect_unreliable(NULL, &limits);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_disagree), cmocka_unit_test(test_quiet),
                                     cmocka_unit_test(test_peak), cmocka_unit_test(test_read),
                                     cmocka_unit_test(test_processor)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
