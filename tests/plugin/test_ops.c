/* Ops of a plug-in: found, called, refused, recorded, computed by the best kernel. Every case about loading runs in a
 * separate process, because a process loads a plug-in once. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../device/child.h"
#include "nd4c/nd4c.h"

static const char *program;

static nd4c_op find(const char *name) {
  const nd4c_op_info *info = NULL;
  if (nd4c_op_find(name, &info) != ND4C_OK) {
    fail_msg("%s: %s", name, nd4c_error_message());
  }
  return info->op;
}

static nd4c_array *make(nd4c_dtype dtype, int64_t rows, int64_t columns, double from) {
  const int64_t shape[] = {rows, columns};
  nd4c_array *range = NULL, *cast = NULL, *array = NULL;
  assert_int_equal(nd4c_arange(from, from + (double)(rows * columns), 1, ND4C_FLOAT64, &range), ND4C_OK);
  assert_int_equal(nd4c_cast(range, dtype, &cast), ND4C_OK);
  assert_int_equal(nd4c_reshape(cast, shape, 2, &array), ND4C_OK);
  nd4c_array_release(range);
  nd4c_array_release(cast);
  return array;
}

static nd4c_attr int_attr(const char *name, int64_t value) {
  return (nd4c_attr){name, {ND4C_ATTR_INT, 0, {.i = value}}};
}

/* -- looking up ---------------------------------------------------------------------------------------------------- */

static void is_listed_with_its_provider(void **state) {
  (void)state;
  const nd4c_op_info *info = NULL;
  assert_int_equal(nd4c_op_find("acme.scaled_add@2", &info), ND4C_OK);
  assert_string_equal(info->name, "acme.scaled_add");
  assert_string_equal(info->provider, "acme");
  assert_string_equal(info->category_name, "BINARY");
  assert_true(info->op >= ND4C_OP_PLUGIN);
  assert_ptr_equal(nd4c_op_get(info->op), info);
  assert_ptr_equal(nd4c_op_at(nd4c_op_count() - 2), info);
  assert_string_equal(nd4c_op_at(nd4c_op_count() - 1)->name, "acme.halves");
  assert_null(nd4c_op_at(nd4c_op_count()));
  assert_null(nd4c_op_get(info->op + 2));
  assert_null(nd4c_op_get(UINT32_MAX));
  assert_string_equal(nd4c_op_get(ND4C_OP_add)->provider, "");
  const struct {
    const char *name, *words;
  } unknown[] = {{"acme.scaled_add@1", "this build has acme.scaled_add@2"},
                 {"other.scaled_add", "no plug-in that is loaded brings it"},
                 {"acme.scaled_ad", "the nearest is 'acme.scaled_add'"},
                 {"acme.scaled_ad@2", "the nearest is 'acme.scaled_add'"},
                 {"scaled_add", "the nearest is"}};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
    assert_int_equal(nd4c_op_find(unknown[i].name, &info), ND4C_NAME);
    assert_non_null(strstr(nd4c_error_message(), unknown[i].words));
  }
}

/* -- eager calls --------------------------------------------------------------------------------------------------- */

static void is_called(void **state) {
  (void)state;
  nd4c_array *a = make(ND4C_INT32, 2, 3, 0), *b = make(ND4C_INT32, 1, 3, 10), *y = NULL;
  const nd4c_array *inputs[] = {a, b};
  const nd4c_attr scale = int_attr("scale", -2);
  const nd4c_op op = find("acme.scaled_add");
  int32_t values[6];
  for (int round = 0; round < 3; round++) { /* the second time from the cache of calls, the third into a given array */
    if (round == 1) {
      nd4c_array_release(y);
      y = NULL;
    }
    assert_int_equal(nd4c_op_call(NULL, op, inputs, 2, &scale, 1, &y, 1), ND4C_OK);
    assert_int_equal(nd4c_array_read(y, values, sizeof values), ND4C_OK);
    for (int i = 0; i < 6; i++) {
      assert_int_equal(values[i], i - 2 * (10 + i % 3));
    }
  }
  assert_int_equal(nd4c_op_call(NULL, op, inputs, 2, NULL, 0, &y, 1), ND4C_OK); /* the preset: 1 */
  assert_int_equal(nd4c_array_read(y, values, sizeof values), ND4C_OK);
  assert_int_equal(values[5], 5 + 12);
  assert_int_equal(nd4c_op_call(NULL, op, inputs, 2, &scale, 1, &a, 1), ND4C_OK); /* in place */
  assert_int_equal(nd4c_array_read(a, values, sizeof values), ND4C_OK);
  assert_int_equal(values[5], 5 - 24);
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_array_release(y);
}

static void gives_two_results(void **state) {
  (void)state;
  nd4c_array *x = make(ND4C_FLOAT32, 3, 5, 0), *turned = NULL, *halves[2] = {NULL, NULL};
  const int64_t axes[] = {1, 0};
  assert_int_equal(nd4c_transpose(x, axes, 2, &turned), ND4C_OK);
  const nd4c_array *input = turned;
  const nd4c_attr axis = int_attr("axis", 0);
  assert_int_equal(nd4c_op_call(NULL, find("acme.halves"), &input, 1, &axis, 1, halves, 2), ND4C_OK);
  assert_int_equal(nd4c_array_shape(halves[0])[0], 3);
  assert_int_equal(nd4c_array_shape(halves[1])[0], 2);
  float second[6];
  assert_int_equal(nd4c_array_read(halves[1], second, sizeof second), ND4C_OK);
  assert_float_equal(second[0], 3, 0);
  assert_float_equal(second[5], 14, 0);
  for (int i = 0; i < 2; i++) {
    nd4c_array_release(halves[i]);
  }
  nd4c_array_release(turned);
  nd4c_array_release(x);
}

typedef struct refusal {
  const char *lie;
  nd4c_dtype a, b;
  int64_t columns; /* of b; a has 3 */
  const char *attr;
  nd4c_status status;
  const char *words;
} refusal;

static const refusal refusals[] = {
    {"", ND4C_FLOAT64, ND4C_FLOAT64, 4, "scale", ND4C_SHAPE, "extents 3 and 4 of axis 1 do not broadcast"},
    {"", ND4C_FLOAT64, ND4C_FLOAT32, 3, "scale", ND4C_DTYPE, "another dtype than a"},
    {"", ND4C_INT64, ND4C_INT64, 3, "scale", ND4C_DTYPE, "input a is int64 (1, 3): expected one of int32, float32"},
    {"", ND4C_FLOAT64, ND4C_FLOAT64, 3, "scal", ND4C_NAME, "attribute 'scal' is not known, expected scale"},
    {"infers rank 99", ND4C_FLOAT64, ND4C_FLOAT64, 3, "scale", ND4C_SHAPE,
     "its plug-in acme says that result 0 has rank 99"},
    {"infers rank -1", ND4C_FLOAT64, ND4C_FLOAT64, 3, "scale", ND4C_SHAPE, "has rank -1"},
    {"infers extent -1", ND4C_FLOAT64, ND4C_FLOAT64, 3, "scale", ND4C_SHAPE, "expected extents of at least 0"},
    {"infers dtype 4711", ND4C_FLOAT64, ND4C_FLOAT64, 3, "scale", ND4C_DTYPE, "which this build does not have"},
    {"infers nothing", ND4C_FLOAT64, ND4C_FLOAT64, 3, "scale", ND4C_DTYPE, "which this build does not have"},
    {"infers strings", ND4C_FLOAT64, ND4C_FLOAT64, 3, "scale", ND4C_DTYPE, "says that result 0 is utf8"},
    {"infers int4", ND4C_FLOAT64, ND4C_FLOAT64, 3, "scale", ND4C_DTYPE, "says that result 0 is int4"},
    {"infers status 12345", ND4C_FLOAT64, ND4C_FLOAT64, 3, "scale", ND4C_INTERNAL, "infer returned 12345"},
    {"refuses in silence", ND4C_FLOAT64, ND4C_FLOAT64, 3, "scale", ND4C_SHAPE, "infer failed without a text"}};

/* Eagerly, and by a graph. */
static void refuses(void **state) {
  (void)state;
  const nd4c_op op = find("acme.scaled_add");
  int failures = 0;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    const refusal *r = &refusals[i];
    nd4c_array *a = make(r->a, 1, 3, 0), *b = make(r->b, 1, r->columns, 0), *y = NULL;
    const nd4c_array *inputs[] = {a, b};
    const nd4c_attr attr = int_attr(r->attr, (int64_t)i + 100); /* of no cached call */
    nd4c_graph *graph = NULL;
    nd4c_value values[2], result = ND4C_VALUE_NONE;
    const int64_t shapes[2][2] = {{1, 3}, {1, r->columns}};
    assert_int_equal(nd4c_graph_create(&graph), ND4C_OK);
    assert_int_equal(nd4c_graph_input(graph, "a", r->a, 2, shapes[0], &values[0]), ND4C_OK);
    assert_int_equal(nd4c_graph_input(graph, "b", r->b, 2, shapes[1], &values[1]), ND4C_OK);
    assert_int_equal(setenv("ACME_LIE", r->lie, 1), 0);
    for (int recorded = 0; recorded < 2; recorded++) {
      nd4c_error_clear();
      const nd4c_status status = recorded ? nd4c_graph_op(graph, op, values, 2, &attr, 1, "", &result, 1)
                                          : nd4c_op_call(NULL, op, inputs, 2, &attr, 1, &y, 1);
      if (status != r->status || y != NULL || strstr(nd4c_error_message(), r->words) == NULL) {
        print_error("case %zu %s: %s: %s\n", i, recorded ? "recorded" : "called", nd4c_status_name(status),
                    nd4c_error_message());
        failures++;
      }
    }
    assert_int_equal(unsetenv("ACME_LIE"), 0);
    nd4c_graph_destroy(graph);
    nd4c_array_release(a);
    nd4c_array_release(b);
  }
  assert_int_equal(failures, 0);
}

/* Strings are not numbers, and elements of int4 have no address. */
static void refuses_dtypes_of_later_inputs(void **state) {
  (void)state;
  const nd4c_op op = find("acme.scaled_add");
  const int64_t shape[] = {1};
  const char *const text[] = {"one"};
  nd4c_array *a = make(ND4C_FLOAT32, 1, 1, 0), *strings = NULL, *narrow = NULL, *y = NULL;
  assert_int_equal(nd4c_array_from_strings(1, shape, text, NULL, &strings), ND4C_OK);
  assert_int_equal(nd4c_cast(a, ND4C_INT4, &narrow), ND4C_OK);
  const nd4c_array *second[] = {strings, narrow};
  for (int i = 0; i < 2; i++) {
    const nd4c_array *inputs[] = {a, second[i]};
    assert_int_equal(nd4c_op_call(NULL, op, inputs, 2, NULL, 0, &y, 1), ND4C_DTYPE);
    assert_non_null(strstr(nd4c_error_message(), "cast first, ops of plug-ins take numbers"));
  }
  nd4c_array_release(a);
  nd4c_array_release(strings);
  nd4c_array_release(narrow);
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

static void takes_the_best_kernel(void **state) {
  (void)state;
  const nd4c_op op = find("acme.scaled_add");
  nd4c_array *a = make(ND4C_FLOAT32, 2, 3, 0), *row = make(ND4C_FLOAT32, 1, 3, 0);
  const nd4c_array *same[] = {a, a}, *broadcast[] = {a, row};
  char *text = NULL;
  assert_int_equal(nd4c_explain(NULL, op, same, 2, NULL, 0, &text), ND4C_OK);
  assert_non_null(strstr(text, "acme.scaled_add.fast (engine acme): taken"));
  nd4c_free(text);
  assert_int_equal(nd4c_explain(NULL, op, broadcast, 2, NULL, 0, &text), ND4C_OK);
  assert_non_null(strstr(text, "wants contiguous operands of one shape"));
  assert_non_null(strstr(text, "acme.scaled_add.reference (engine reference): taken"));
  nd4c_free(text);
  nd4c_array_release(a);
  nd4c_array_release(row);
}

/* -- plans --------------------------------------------------------------------------------------------------------- */

/* y = relu(a + 3 * a's first half, doubled back), by a plan that runs twice. */
static void runs_in_a_plan(void **state) {
  (void)state;
  const int64_t shape[] = {2, 4};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value x = -1, halves[2] = {-1, -1}, y = -1, shifted = -1;
  const nd4c_attr scale = int_attr("scale", 3);
  assert_int_equal(nd4c_graph_create(&graph), ND4C_OK);
  assert_int_equal(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 2, shape, &x), ND4C_OK);
  assert_int_equal(nd4c_graph_op(graph, find("acme.halves"), &x, 1, NULL, 0, "cut", halves, 2), ND4C_OK);
  const nd4c_value pair[] = {halves[0], halves[1]};
  assert_int_equal(nd4c_graph_op(graph, find("acme.scaled_add"), pair, 2, &scale, 1, "mix", &y, 1), ND4C_OK);
  assert_int_equal(nd4c_graph_op(graph, ND4C_OP_negative, &y, 1, NULL, 0, "", &shifted, 1), ND4C_OK);
  assert_int_equal(nd4c_graph_output(graph, "y", shifted), ND4C_OK);
  assert_int_equal(nd4c_plan_create(graph, NULL, NULL, &plan), ND4C_OK);
  nd4c_graph_destroy(graph);
  char *report = NULL;
  assert_int_equal(nd4c_plan_report(plan, &report), ND4C_OK);
  assert_non_null(strstr(report, "acme.halves.reference"));
  assert_non_null(strstr(report, "acme.scaled_add.fast"));
  nd4c_free(report);
  nd4c_array *input = make(ND4C_FLOAT32, 2, 4, 0), *result = NULL;
  for (int run = 0; run < 2; run++) {
    float values[4];
    assert_int_equal(nd4c_plan_run(plan, (const nd4c_array *const *)&input, 1, &result, 1), ND4C_OK);
    assert_int_equal(nd4c_array_read(result, values, sizeof values), ND4C_OK);
    for (int i = 0; i < 4; i++) {
      const float first = (float)(i / 2 * 4 + i % 2);
      assert_float_equal(values[i], -(first + 3 * (first + 2)), 0);
    }
  }
  nd4c_array_release(input);
  nd4c_array_release(result);
  nd4c_plan_destroy(plan);
}

/* -- in a child ---------------------------------------------------------------------------------------------------- */

static void say_find(const char *when) {
  const nd4c_op_info *info = NULL;
  const nd4c_status status = nd4c_op_find("acme.halves", &info);
  printf("%s: %s%s%s\n", when, nd4c_status_name(status), status == ND4C_OK ? " of " : "",
         status == ND4C_OK ? info->provider : "");
}

static void say_sum(const char *when) {
  const nd4c_op_info *info = NULL;
  nd4c_array *two = NULL, *y = NULL;
  float value = 0;
  nd4c_status status = nd4c_op_find("acme.scaled_add", &info);
  if (status == ND4C_OK) {
    status = nd4c_array_scalar(ND4C_FLOAT32, 2, NULL, &two);
  }
  const nd4c_array *inputs[] = {two, two};
  if (status == ND4C_OK) {
    status = nd4c_op_call(NULL, info->op, inputs, 2, NULL, 0, &y, 1);
  }
  if (status == ND4C_OK) {
    status = nd4c_array_read(y, &value, sizeof value);
  }
  printf("%s: %s %g\n", when, status == ND4C_OK ? "sum" : nd4c_error_message(), (double)value);
  nd4c_array_release(two);
  nd4c_array_release(y);
}

/* Looks ops up while another thread loads the plug-in: an op that is found is complete. */
static atomic_bool loaded, broken;

static void *read_table(void *argument) {
  (void)argument;
  const int32_t before = nd4c_op_count();
  for (bool last = false; !last;) {
    last = atomic_load(&loaded);
    for (int32_t i = before - 1; i < nd4c_op_count(); i++) {
      const nd4c_op_info *info = nd4c_op_at(i);
      if (info == NULL || info->name == NULL || info->provider == NULL || nd4c_op_get(info->op) != info ||
          info->output_count < 1) {
        atomic_store(&broken, true);
      }
    }
  }
  return NULL;
}

static void load_while_others_read(void) {
  enum { THREADS = 3 };
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    (void)pthread_create(&threads[i], NULL, read_table, NULL);
  }
  const nd4c_status status = nd4c_backend_load(ACME_PATH);
  atomic_store(&loaded, true);
  for (int i = 0; i < THREADS; i++) {
    (void)pthread_join(threads[i], NULL);
  }
  printf("load=%s%s\n", nd4c_status_name(status), atomic_load(&broken) ? ", broken" : "");
}

static void copy_file(const char *from, const char *to) {
  static char bytes[4096];
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  for (size_t count; in != NULL && out != NULL && (count = fread(bytes, 1, sizeof bytes, in)) > 0;) {
    (void)fwrite(bytes, 1, count, out);
  }
  (void)(in != NULL && fclose(in));
  (void)(out != NULL && fclose(out));
}

static int child(const char *command) {
  if (strcmp(command, "configured") == 0) {
    say_find("first");
    say_sum("then");
    return 0;
  }
  if (strcmp(command, "unseen") == 0) { /* a call precedes any look-up of the plug-in's ops */
    nd4c_array *one = NULL;
    (void)nd4c_array_scalar(ND4C_FLOAT32, 1, NULL, &one);
    nd4c_array_release(one);
    say_sum("late");
    return 0;
  }
  say_find("before");
  load_while_others_read();
  say_find("after");
  say_sum("then");
  if (strcmp(command, "clash") == 0) {
    (void)setenv("ACME_NAME", "emca", 1);
    const int32_t count = nd4c_op_count();
    static const char copy[] = "./acme_clash.so"; /* the file itself would be loaded already */
    copy_file(ACME_PATH, copy);
    const nd4c_status status = nd4c_backend_load(copy);
    (void)remove(copy);
    printf("again=%s %s\n", nd4c_status_name(status), nd4c_error_message());
    printf("count %s\n", nd4c_op_count() == count ? "kept" : "changed");
    say_sum("still");
  }
  return 0;
}

typedef struct life {
  const char *command, *environment;
  const char *parts[4]; /* of the output */
} life;

static const life lives[] = {
    {"configured", NULL, {"first: OK of acme", "then: sum 4"}},
    {"unseen", NULL, {"late: sum 4"}},
    {"late", NULL, {"before: NAME", "load=OK\n", "after: OK of acme", "then: sum 4"}},
    {"late", "ACME_LIE=no kernels", {"load=OK\n", "then: sum 4"}},
    {"late", "ACME_LIE=open", {"load=OK\n", "then: sum 4"}},
    {"late", "SD_KERNEL_DISABLE_ENGINES=acme", {"then: sum 4"}},
    {"late", "SD_KERNEL_FORCE_ENGINE=reference", {"then: sum 4"}},
    {"clash",
     NULL,
     {"again=NAME plug-in ./acme_clash.so: plug-in acme already defines an op acme.scaled_add", "count kept",
      "still: sum 4"}},
};

static void lives_in_a_process(void **state) {
  (void)state;
  static char output[CHILD_OUTPUT];
  int failures = 0;
  for (size_t i = 0; i < sizeof lives / sizeof lives[0]; i++) {
    const life *l = &lives[i];
    const bool configured = strcmp(l->command, "configured") == 0 || strcmp(l->command, "unseen") == 0;
    const char *environment[] = {configured ? "ND4C_BACKEND_PLUGINS=" ACME_PATH : "ND4C_PLAN_PROFILE=false",
                                 l->environment, NULL};
    const int code = child_run(program, l->command, "", environment, output);
    failures += code != 0;
    for (size_t p = 0; p < sizeof l->parts / sizeof l->parts[0] && l->parts[p] != NULL; p++) {
      if (strstr(output, l->parts[p]) == NULL) {
        print_error("%s %s (exit %d): no \"%s\" in:\n%s\n", l->command, l->environment != NULL ? l->environment : "",
                    code, l->parts[p], output);
        failures++;
      }
    }
  }
  assert_int_equal(failures, 0);
}

static int load(void **state) {
  (void)state;
  return nd4c_backend_load(ACME_PATH) == ND4C_OK ? 0 : -1;
}

int main(int argc, char **argv) {
  program = argv[0];
  if (argc > 1) {
    return child(argv[1]);
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(is_listed_with_its_provider),
                                     cmocka_unit_test(is_called),
                                     cmocka_unit_test(gives_two_results),
                                     cmocka_unit_test(refuses),
                                     cmocka_unit_test(refuses_dtypes_of_later_inputs),
                                     cmocka_unit_test(takes_the_best_kernel),
                                     cmocka_unit_test(runs_in_a_plan),
                                     cmocka_unit_test(lives_in_a_process)};
  return cmocka_run_group_tests(tests, load, NULL);
}
