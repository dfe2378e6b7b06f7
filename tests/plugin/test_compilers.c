/* Compilers that a plug-in without devices brings for cpu:0: two of them share a graph. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

enum { SIZE = 1000 };

static nd4c_value op(nd4c_graph *graph, nd4c_op number, nd4c_value a, nd4c_value b) {
  const nd4c_value inputs[] = {a, b};
  nd4c_value y = -1;
  assert_int_equal(nd4c_graph_op(graph, number, inputs, 2, NULL, 0, "", &y, 1), ND4C_OK);
  return y;
}

/* y = ((a + b + a) * b - a) + sqrt((a + b + a) * b), whose square root these compilers do not take. */
static nd4c_status try_plan(nd4c_plan **plan) {
  const int64_t shape[] = {SIZE};
  nd4c_graph *graph = NULL;
  nd4c_value a = -1, b = -1, root = -1;
  assert_int_equal(nd4c_graph_create(&graph), ND4C_OK);
  assert_int_equal(nd4c_graph_input(graph, "a", ND4C_FLOAT32, 1, shape, &a), ND4C_OK);
  assert_int_equal(nd4c_graph_input(graph, "b", ND4C_FLOAT32, 1, shape, &b), ND4C_OK);
  nd4c_value sum = op(graph, ND4C_OP_add, op(graph, ND4C_OP_add, a, b), a);
  nd4c_value product = op(graph, ND4C_OP_multiply, sum, b);
  nd4c_value difference = op(graph, ND4C_OP_subtract, product, a);
  assert_int_equal(nd4c_graph_op(graph, ND4C_OP_sqrt, &product, 1, NULL, 0, "", &root, 1), ND4C_OK);
  assert_int_equal(nd4c_graph_output(graph, "y", op(graph, ND4C_OP_add, difference, root)), ND4C_OK);
  const nd4c_status status = nd4c_plan_create(graph, NULL, NULL, plan);
  nd4c_graph_destroy(graph);
  return status;
}

static nd4c_plan *make_plan(void) {
  nd4c_plan *plan = NULL;
  assert_int_equal(try_plan(&plan), ND4C_OK);
  return plan;
}

/* Runs the plan three times, the first time into a fresh output. */
static void check_results(nd4c_plan *plan) {
  float a[SIZE], b[SIZE], y[SIZE];
  const int64_t shape[] = {SIZE};
  nd4c_array *inputs[2] = {NULL, NULL}, *result = NULL;
  for (int i = 0; i < SIZE; i++) {
    a[i] = (float)(i % 7);
    b[i] = (float)(i % 5);
  }
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 1, shape, a, NULL, &inputs[0]), ND4C_OK);
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 1, shape, b, NULL, &inputs[1]), ND4C_OK);
  for (int run = 0; run < 3; run++) {
    assert_int_equal(nd4c_plan_run(plan, (const nd4c_array *const *)inputs, 2, &result, 1), ND4C_OK);
    assert_int_equal(nd4c_array_read(result, y, sizeof y), ND4C_OK);
    for (int i = 0; i < SIZE; i++) {
      const float product = (a[i] + b[i] + a[i]) * b[i];
      assert_float_equal(y[i], product - a[i] + sqrtf(product), 1e-4F);
    }
  }
  nd4c_array_release(inputs[0]);
  nd4c_array_release(inputs[1]);
  nd4c_array_release(result);
}

static void assert_report(nd4c_plan *plan, const char *words, bool there) {
  char *text = NULL;
  assert_int_equal(nd4c_plan_report(plan, &text), ND4C_OK);
  if ((strstr(text, words) != NULL) != there) {
    fail_msg("%s \"%s\" in:\n%s", there ? "no" : "found", words, text);
  }
  nd4c_free(text);
}

static void two_compilers_share_a_graph(void **state) {
  (void)state;
  nd4c_plan *before = make_plan();
  assert_report(before, "chain_", false);
  assert_int_equal(nd4c_backend_load(CHAINS_PATH), ND4C_OK);
  nd4c_plan *plan = make_plan();
  assert_report(plan, "chain_sums", true);
  assert_report(plan, "chain_others", true);
  assert_report(plan, "no part of a chain", true);
  check_results(before); /* a plan keeps its kernels */
  check_results(plan);
  nd4c_plan_destroy(before);
  nd4c_plan_destroy(plan);
}

static void a_disabled_compiler_is_not_asked(void **state) {
  (void)state;
  assert_int_equal(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", "chain_others"), ND4C_OK);
  nd4c_plan *plan = make_plan();
  assert_int_equal(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", NULL), ND4C_OK);
  assert_report(plan, "chain_sums", true);
  assert_report(plan, "chain_others", false);
  check_results(plan);
  nd4c_plan_destroy(plan);
}

/* Only the provider of the devices can make their buffers, so executables of other providers must not return any. */
static void outputs_of_a_stranger_are_refused(void **state) {
  (void)state;
  nd4c_plan *plan = NULL;
  assert_int_equal(setenv("CHAIN_RETURNS", "1", 1), 0);
  const nd4c_status status = try_plan(&plan);
  assert_int_equal(unsetenv("CHAIN_RETURNS"), 0);
  assert_int_equal(status, ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "returns outputs, which only compilers of the provider of cpu:0 may"));
  plan = make_plan();
  check_results(plan);
  nd4c_plan_destroy(plan);
}

static void set(const char *name, const char *value) {
  assert_int_equal(value != NULL ? setenv(name, value, 1) : unsetenv(name), 0);
}

/* Both compilers take additions. The first one takes a piece and cannot compile it: the second one gets its nodes. */
static void a_piece_that_cannot_be_compiled_goes_to_the_next(void **state) {
  (void)state;
  set("CHAIN_GREEDY", "1");
  nd4c_plan *plan = make_plan();
  assert_report(plan, "compiled by chain_others", true);
  assert_report(plan, "compiled by chain_sums", false); /* nothing was left behind */
  nd4c_plan_destroy(plan);
  set("CHAIN_DECLINES", "chain_others");
  plan = make_plan();
  set("CHAIN_DECLINES", NULL);
  set("CHAIN_GREEDY", NULL);
  assert_report(plan, "compiled by chain_others", false);
  assert_report(plan, "compiled by chain_sums", true);
  assert_report(plan, "declined by chain_others: took it into a segment of ", true);
  assert_report(plan, "which it could not compile: chain: told to decline ", true);
  check_results(plan);
  nd4c_plan_destroy(plan);
}

/* Without another compiler, kernels compute the nodes. */
static void a_piece_that_cannot_be_compiled_goes_to_kernels(void **state) {
  (void)state;
  set("CHAIN_DECLINES", "chain_sums");
  nd4c_plan *plan = make_plan();
  set("CHAIN_DECLINES", NULL);
  assert_report(plan, "compiled by chain_sums", false);
  assert_report(plan, "compiled by chain_others", true);
  assert_report(plan, "declined by chain_sums: took it into a segment of 2 nodes, which it could not compile", true);
  check_results(plan);
  nd4c_plan_destroy(plan);
}

/* Every other status ends the plan, and its text names the compiler's reason. */
static void other_failures_end_the_plan(void **state) {
  (void)state;
  static const nd4c_status statuses[] = {ND4C_DEVICE, ND4C_MEMORY, ND4C_INTERNAL};
  for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
    char number[16];
    nd4c_plan *plan = NULL;
    (void)snprintf(number, sizeof number, "%d", (int)statuses[i]);
    set("CHAIN_FAILS", number);
    const nd4c_status status = try_plan(&plan);
    set("CHAIN_FAILS", NULL);
    assert_int_equal(status, statuses[i]);
    assert_null(plan);
    assert_non_null(strstr(nd4c_error_message(), "chain: told to fail"));
  }
}

static int64_t count_files(const char *folder, bool removes) {
  int64_t count = 0;
  DIR *list = opendir(folder);
  for (struct dirent *entry = list != NULL ? readdir(list) : NULL; entry != NULL; entry = readdir(list)) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    count += entry->d_name[0] != '.';
    if (removes && entry->d_name[0] != '.') {
      assert_int_equal(remove(path), 0);
    }
  }
  if (list != NULL) {
    (void)closedir(list);
  }
  return count;
}

static void count_loads(void *user, nd4c_log_level level, const char *area, const char *message) {
  (void)level;
  *(int *)user += strcmp(area, "compiler") == 0 && strstr(message, ": loaded ") != NULL;
}

/* The pieces of both compilers are kept in files, which the next plan loads. */
enum { CHANNELS = 16, EDGE = 12, FILTER = 3, OUT = EDGE - FILTER + 1 };

/* y = conv(x, w) * b - b. */
static nd4c_plan *make_plan_behind_conv(const char *disabled) {
  const int64_t x_shape[] = {1, CHANNELS, EDGE, EDGE}, w_shape[] = {CHANNELS, CHANNELS, FILTER, FILTER},
                b_shape[] = {1, CHANNELS, OUT, OUT};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value x = -1, w = -1, b = -1;
  assert_int_equal(nd4c_graph_create(&graph), ND4C_OK);
  assert_int_equal(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 4, x_shape, &x), ND4C_OK);
  assert_int_equal(nd4c_graph_input(graph, "w", ND4C_FLOAT32, 4, w_shape, &w), ND4C_OK);
  assert_int_equal(nd4c_graph_input(graph, "b", ND4C_FLOAT32, 4, b_shape, &b), ND4C_OK);
  const nd4c_value y = op(graph, ND4C_OP_subtract, op(graph, ND4C_OP_multiply, op(graph, ND4C_OP_conv, x, w), b), b);
  assert_int_equal(nd4c_graph_output(graph, "y", y), ND4C_OK);
  assert_int_equal(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", disabled), ND4C_OK);
  assert_int_equal(nd4c_plan_create(graph, NULL, NULL, &plan), ND4C_OK);
  assert_int_equal(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", NULL), ND4C_OK);
  nd4c_graph_destroy(graph);
  return plan;
}

static nd4c_array *make_numbers(int32_t rank, const int64_t *shape, int64_t size) {
  float *values = malloc((size_t)size * sizeof *values);
  nd4c_array *array = NULL;
  assert_non_null(values);
  for (int64_t i = 0; i < size; i++) {
    values[i] = (float)(i * 7 % 11) - 5;
  }
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, rank, shape, values, NULL, &array), ND4C_OK);
  free(values);
  return array;
}

/* Kernels of conv prefer channels last; a compiler is told that operands are in C order, and gets them in C order. */
static void operands_of_segments_are_in_c_order(void **state) {
  (void)state;
  enum { SIZE_OF_Y = CHANNELS * OUT * OUT };
  static float y[2][SIZE_OF_Y];
  nd4c_array *inputs[] = {
      make_numbers(4, (const int64_t[]){1, CHANNELS, EDGE, EDGE}, CHANNELS * EDGE * EDGE),
      make_numbers(4, (const int64_t[]){CHANNELS, CHANNELS, FILTER, FILTER}, CHANNELS * CHANNELS * FILTER * FILTER),
      make_numbers(4, (const int64_t[]){1, CHANNELS, OUT, OUT}, SIZE_OF_Y)};
  for (int compiled = 0; compiled < 2; compiled++) {
    nd4c_plan *plan = make_plan_behind_conv(compiled ? NULL : "chain_sums,chain_others,tile");
    nd4c_array *result = NULL;
    assert_report(plan, "segments: 1", compiled != 0);
    assert_int_equal(nd4c_plan_run(plan, (const nd4c_array *const *)inputs, 3, &result, 1), ND4C_OK);
    assert_int_equal(nd4c_array_read(result, y[compiled], sizeof y[compiled]), ND4C_OK);
    nd4c_array_release(result);
    nd4c_plan_destroy(plan);
  }
  for (int i = 0; i < SIZE_OF_Y; i++) { /* whole numbers: exact in any order of additions */
    assert_true(y[0][i] == y[1][i]);
  }
  for (int i = 0; i < 3; i++) {
    nd4c_array_release(inputs[i]);
  }
}

static void executables_are_kept(void **state) {
  (void)state;
  char folder[256];
  int loads = 0;
  (void)snprintf(folder, sizeof folder, "%s/chains.%ld", ND4C_TEST_BINARY_DIR, (long)getpid());
  assert_int_equal(nd4c_config_set("nd4c.compile.cache", folder), ND4C_OK);
  nd4c_log_set(count_loads, &loads, ND4C_LOG_INFO);
  for (int run = 0; run < 2; run++) {
    nd4c_plan *plan = make_plan();
    assert_report(plan, "chain_sums", true);
    check_results(plan);
    nd4c_plan_destroy(plan);
  }
  nd4c_log_set(NULL, NULL, ND4C_LOG_ERROR);
  assert_int_equal(nd4c_config_set("nd4c.compile.cache", NULL), ND4C_OK);
  const int64_t files = count_files(folder, true);
  assert_true(files >= 2);
  assert_true(loads == files);
  assert_int_equal(rmdir(folder), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_compilers_share_a_graph),
                                     cmocka_unit_test(a_disabled_compiler_is_not_asked),
                                     cmocka_unit_test(outputs_of_a_stranger_are_refused),
                                     cmocka_unit_test(a_piece_that_cannot_be_compiled_goes_to_the_next),
                                     cmocka_unit_test(a_piece_that_cannot_be_compiled_goes_to_kernels),
                                     cmocka_unit_test(other_failures_end_the_plan),
                                     cmocka_unit_test(operands_of_segments_are_in_c_order),
                                     cmocka_unit_test(executables_are_kept)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
