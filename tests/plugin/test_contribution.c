/* Contributions: a plug-in without devices whose kernels compute on cpu:0. Every case runs in a separate process,
 * because a process loads a plug-in once. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../device/child.h"
#include "nd4c/nd4c.h"

static const char *program;

/* -- in the child ------------------------------------------------------------------------------------------------ */

static float add_two(const nd4c_array *two) {
  nd4c_array *sum = NULL;
  float value = 0;
  if (nd4c_add(two, two, &sum) != ND4C_OK || nd4c_array_read(sum, &value, sizeof value) != ND4C_OK) {
    printf("add: %s\n", nd4c_error_message());
  }
  nd4c_array_release(sum);
  return value;
}

/* The kernel that computes an addition, and its result. */
static void say_addition(const char *when) {
  nd4c_array *two = NULL;
  char *text = NULL;
  if (nd4c_array_scalar(ND4C_FLOAT32, 2, NULL, &two) != ND4C_OK) {
    printf("%s: %s\n", when, nd4c_error_message());
    return;
  }
  const float sum = add_two(two), again = add_two(two);
  const nd4c_array *inputs[] = {two, two};
  if (nd4c_explain(NULL, ND4C_OP_add, inputs, 2, NULL, 0, &text) == ND4C_OK) {
    bool ours = strstr(text, "contributor.add (engine contributor): taken") != NULL;
    printf("%s: %g %g by %s\n", when, (double)sum, (double)again, ours ? "contributor" : "another");
  }
  nd4c_free(text);
  nd4c_array_release(two);
}

static void say_rows(void) {
  nd4c_backend_status row = {.struct_size = sizeof row};
  for (int32_t i = 0; i < nd4c_contributor_count() && nd4c_contributor_get_status(i, &row) == ND4C_OK; i++) {
    if (strcmp(row.name, "contributor") == 0) {
      printf("contributor of %s: verdict %d, %s\n", row.contributes_to, row.verdict, row.reason);
    }
  }
  for (int32_t i = 0; i < nd4c_backend_count() && nd4c_backend_get_status(i, &row) == ND4C_OK; i++) {
    if (row.left_out[0] != '\0') {
      printf("left out of %s: %s\n", row.name, row.left_out);
    }
    if (strcmp(row.name, "contributor") == 0) {
      printf("a backend of that name\n");
    }
  }
  printf("first engine %s\n", nd4c_backend_engine("cpu", 0));
}

/* Additions at which the kernel fails: an eager call, a second one, and a plan on the CPU. */
static void say_failures(void) {
  const int64_t shape[] = {1};
  const float value = 2;
  nd4c_array *two = NULL, *sum = NULL;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value x = 0, y = 0;
  bool made = nd4c_array_from_data(ND4C_FLOAT32, 1, shape, &value, NULL, &two) == ND4C_OK &&
              nd4c_graph_create(&graph) == ND4C_OK &&
              nd4c_graph_input(graph, "x", ND4C_FLOAT32, 1, shape, &x) == ND4C_OK;
  const nd4c_value pair[] = {x, x};
  made = made && nd4c_graph_op(graph, ND4C_OP_add, pair, 2, NULL, 0, "sum", &y, 1) == ND4C_OK &&
         nd4c_graph_output(graph, "y", y) == ND4C_OK && nd4c_plan_create(graph, NULL, NULL, &plan) == ND4C_OK;
  for (int i = 0; made && i < 2; i++) {
    const nd4c_status status = nd4c_add(two, two, &sum);
    printf("call %d: %s, code %s: %s\n", i, nd4c_status_name(status), nd4c_status_name(nd4c_error_code()),
           nd4c_error_message());
  }
  const nd4c_array *input = two;
  const nd4c_status status = made ? nd4c_plan_run(plan, &input, 1, &sum, 1) : nd4c_error_code();
  printf("plan: %s: %s\n", nd4c_status_name(status), nd4c_error_message());
  nd4c_graph_destroy(graph);
  nd4c_plan_destroy(plan);
  nd4c_array_release(two);
}

/* A result whose shape the kernel reports, given and fresh, and a computation from it. */
static void say_true_shape(void) {
  const int64_t shape[] = {4};
  const float values[] = {1, 1, 1, 1};
  nd4c_array *ones = NULL, *where = NULL, *sum = NULL;
  nd4c_status status = nd4c_array_from_data(ND4C_FLOAT32, 1, shape, values, NULL, &ones);
  status = status == ND4C_OK ? nd4c_nonzero(ones, &where) : status;
  printf("nonzero: %s: %s\n", nd4c_status_name(status), status == ND4C_OK ? "" : nd4c_error_message());
  if (status == ND4C_OK && nd4c_add(where, where, &sum) == ND4C_OK) {
    printf("a sum of %lld elements\n", (long long)nd4c_array_size(sum));
  }
  nd4c_array_release(ones);
  nd4c_array_release(where);
  nd4c_array_release(sum);
}

static int child(const char *command) {
  if (strcmp(command, "failures") == 0) {
    say_failures();
    return 0;
  }
  if (strcmp(command, "shape") == 0) {
    say_true_shape();
    return 0;
  }
  if (strcmp(command, "late") == 0) {
    say_addition("before");
    nd4c_status status = nd4c_backend_load(CONTRIBUTOR_PATH);
    printf("load=%s %s\n", nd4c_status_name(status), status != ND4C_OK ? nd4c_error_message() : "");
  }
  say_addition("now");
  say_rows();
  return 0;
}

/* -- in the parent ----------------------------------------------------------------------------------------------- */

typedef struct contribution_case {
  const char *name, *command, *environment;
  const char *parts[4]; /* of the output, with '!' in front: must not be there */
} contribution_case;

static const contribution_case cases[] = {
    {"named by configuration",
     "early",
     NULL,
     {"now: 4 4 by contributor", "contributor of cpu: verdict 1", "first engine contributor", "!a backend of"}},
    {"loaded late", "late", NULL, {"before: 4 4 by another", "load=OK", "now: 4 4 by contributor"}},
    {"disabled", "early", "SD_KERNEL_DISABLE_ENGINES=contributor", {"now: 4 4 by another"}},
    {"not usable here",
     "early",
     "CONTRIBUTOR_LIE=unusable",
     {"now: 4 4 by another", "left out of cpu: contributor: not used: this machine lacks what it needs"}},
    {"cannot be opened",
     "early",
     "CONTRIBUTOR_LIE=open",
     {"now: 4 4 by another", "contributor of cpu: verdict 0, its library is not here"}},
    {"cannot be opened, in silence",
     "early",
     "CONTRIBUTOR_LIE=open_in_silence",
     {"now: 4 4 by another", "verdict 0, open failed without a text: device reported a failure"}},
    {"an op that is not here",
     "early",
     "CONTRIBUTOR_LIE=op",
     {"now: 4 4 by another", "contributor: kernel contributor.add: this library has no op 'no_such_op'"}},
    {"another version of an op",
     "late",
     "CONTRIBUTOR_LIE=version",
     {"load=OK", "now: 4 4 by another", "it is made for version 99 of op add; this library has version 1"}},
    {"an engine that it does not list",
     "early",
     "CONTRIBUTOR_LIE=engine",
     {"now: 4 4 by another", "engine 'another' is not one of the contribution's"}},
    {"nothing to run",
     "early",
     "CONTRIBUTOR_LIE=run",
     {"now: 4 4 by another", "contributor: kernel 0: op, engine, name and run are required"}},
    {"a failure in silence",
     "failures",
     "CONTRIBUTOR_LIE=refuses",
     {"call 0: DEVICE, code DEVICE: add on cpu:0 (contributor.add): run failed without a text: device",
      "call 1: DEVICE, code DEVICE: add on cpu:0 (contributor.add): run failed without a text: device",
      "plan: DEVICE: node 'sum' (add): run failed without a text: device"}},
    {"no status",
     "failures",
     "CONTRIBUTOR_LIE=odd_status",
     {"call 1: INTERNAL, code INTERNAL: add on cpu:0 (contributor.add): run returned 12345, which is not a status "
      "of nd4c\n",
      "plan: INTERNAL: node 'sum' (add): run returned 12345, which is not a status of nd4c\n"}},
    {"a shape that is told", "shape", "CONTRIBUTOR_LIE=shape_small", {"nonzero: OK: \n", "a sum of 1 elements"}},
    {"a shape beyond the largest",
     "shape",
     "CONTRIBUTOR_LIE=shape_large",
     {"nonzero: DEVICE: nonzero on cpu:0 (contributor.nonzero): run reported the shape (1000000, 1) of output 0, "
      "expected "
      "extents of 0 to those of (1, 4)\n",
      "!a sum"}},
    {"a second extent beyond it",
     "shape",
     "CONTRIBUTOR_LIE=shape_beyond",
     {"nonzero: DEVICE: nonzero on cpu:0 (contributor"}},
    {"a negative extent", "shape", "CONTRIBUTOR_LIE=shape_negative", {"run reported the shape (-1, 1) of output 0"}},
    {"a backend that is not here",
     "late",
     "CONTRIBUTOR_LIE=elsewhere",
     {"load=OK", "now: 4 4 by another", "contributor of nosuch"}},
};

static void computes_or_says_why_not(void **state) {
  (void)state;
  static char output[CHILD_OUTPUT];
  int failures = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const contribution_case *c = &cases[i];
    const bool early = strcmp(c->command, "late") != 0;
    const char *environment[] = {early ? "ND4C_BACKEND_PLUGINS=" CONTRIBUTOR_PATH : "ND4C_PLAN_PROFILE=false",
                                 c->environment, NULL};
    const int code = child_run(program, c->command, "", environment, output);
    failures += code != 0;
    for (size_t p = 0; p < sizeof c->parts / sizeof c->parts[0] && c->parts[p] != NULL; p++) {
      const bool forbidden = c->parts[p][0] == '!';
      if ((strstr(output, c->parts[p] + forbidden) != NULL) == forbidden) {
        print_error("case '%s' (exit %d): %s \"%s\" in:\n%s\n", c->name, code, forbidden ? "found" : "no",
                    c->parts[p] + forbidden, output);
        failures++;
      }
    }
  }
  assert_int_equal(failures, 0);
}

int main(int argc, char **argv) {
  program = argv[0];
  if (argc > 1) {
    return child(argv[1]);
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(computes_or_says_why_not)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
