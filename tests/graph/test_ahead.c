/* Compiling ahead of time: a child process compiles for a stub that it does not have, this process has a stub and loads
 * the file. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "child.h"
#include "graph_check.h"
#include "stub_plugin.h"

enum { ROWS = 3, COLUMNS = 4, SIZE = ROWS * COLUMNS };
static const int64_t shape[] = {ROWS, COLUMNS};

static char program[1024], file[512], output[CHILD_OUTPUT];

/* y = tanh((x + c / 3) * x - c), z = c / 3 + x: the quotient is folded. `nodes`: 4, or 5 with one more. */
static nd4c_graph *make_graph(bool longer) {
  nd4c_graph *graph = NULL;
  nd4c_array *array = NULL, *third = NULL;
  nd4c_value c = -1, t = -1;
  nd4c_device *host = NULL;
  CHECK_OK(nd4c_device_find("cpu:0", &host));
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 1, &shape[1], (float[]){1, 2, 3, 4}, host, &array));
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 1, &shape[1], (float[]){3, 3, 3, 3}, host, &third));
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  CHECK_OK(nd4c_graph_constant(graph, array, &c));
  CHECK_OK(nd4c_graph_constant(graph, third, &t));
  nd4c_value sum = check_binary(graph, ND4C_OP_add, x, check_binary(graph, ND4C_OP_divide, c, t));
  nd4c_value y = check_binary(graph, ND4C_OP_subtract, check_binary(graph, ND4C_OP_multiply, sum, x), c);
  y = longer ? check_binary(graph, ND4C_OP_add, y, x) : y;
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_tanh, y)));
  CHECK_OK(nd4c_graph_output(graph, "z", sum));
  nd4c_array_release(array);
  nd4c_array_release(third);
  return graph;
}

/* -- the child ---------------------------------------------------------------------------------------------------- */

static int tell(const char *what, nd4c_status status) {
  (void)printf("%s=%s\n%s\n", what, nd4c_status_name(status), status != ND4C_OK ? nd4c_error_message() : "");
  return status == ND4C_OK ? 0 : 1;
}

/* Absent devices are not found, and never chosen. */
static int compile_here(const char *path) {
  nd4c_device *device = NULL;
  nd4c_array *array = NULL;
  char *report = NULL;
  if (tell("load", nd4c_backend_load(STUB_PATH)) != 0) {
    return 1;
  }
  nd4c_graph *graph = make_graph(false);
  (void)tell("index", nd4c_plan_compile(graph, "stub:7", NULL, path, NULL));
  (void)tell("unknown", nd4c_plan_compile(graph, "stab:0", NULL, path, NULL));
  const int result = tell("compile", nd4c_plan_compile(graph, "stub:0", NULL, path, &report));
  (void)printf("%s\n", report != NULL ? report : "");
  (void)tell("find", nd4c_device_find("stub:0", &device));
  (void)tell("again", nd4c_device_find("stub:0", &device));
  (void)tell("default", nd4c_device_default(&device));
  (void)tell("zeros", nd4c_array_zeros(ND4C_FLOAT32, 2, shape, NULL, &array));
  (void)printf("devices=%d\n", (int)nd4c_device_count());
  nd4c_array_release(array);
  nd4c_graph_destroy(graph);
  nd4c_free(report);
  void *library = dlopen(STUB_PATH, RTLD_NOW);
  void *counter = library != NULL ? dlsym(library, "stub_counter") : NULL;
  memcpy(&stub_counter, &counter, sizeof counter);
  (void)printf("opened=%d executables=%d violations=%d\n", (int)stub_counter("device_open"),
               (int)stub_counter("executables"), (int)stub_counter("violations"));
  return result;
}

static void assert_says(const char *words) {
  if (strstr(output, words) == NULL) {
    fail_msg("no \"%s\" in:\n%s", words, output);
  }
}

/* Compiles in a child of this environment; its exit code. */
static int compile_there(const char *extra) {
  const char *const environment[] = {"STUB_MODE=both", "STUB_VERDICT=compile-only", extra, NULL};
  (void)remove(file);
  return child_run(program, "compile", file, environment, output);
}

/* -- tests -------------------------------------------------------------------------------------------------------- */

static nd4c_status make_plan(bool longer, nd4c_context *context, nd4c_plan **plan) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .compiled = file};
  nd4c_graph *graph = make_graph(longer);
  nd4c_status status = nd4c_plan_create(graph, context, &options, plan);
  nd4c_graph_destroy(graph);
  return status;
}

static void check_plan(nd4c_plan *plan, bool longer) {
  nd4c_graph *graph = make_graph(longer);
  nd4c_array *inputs[1], *expected[2] = {NULL}, *actual[2] = {NULL};
  check_make_inputs(graph, 3, inputs);
  check_evaluate(graph, inputs, expected);
  for (int run = 0; run < 2; run++) {
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)inputs, 1, actual, 2));
    for (int32_t i = 0; i < 2; i++) {
      assert_true(check_difference(expected[i], actual[i]) <= 1e-5);
    }
  }
  check_release(inputs, 1);
  check_release(expected, 2);
  check_release(actual, 2);
  nd4c_graph_destroy(graph);
}

static void assert_report(const nd4c_plan *plan, const char *words, bool there) {
  char *text = NULL;
  CHECK_OK(nd4c_plan_report(plan, &text));
  if ((strstr(text, words) != NULL) != there) {
    fail_msg("%s \"%s\" in:\n%s", there ? "no" : "found", words, text);
  }
  nd4c_free(text);
}

static void a_file_from_elsewhere_is_loaded(void **state) {
  (void)state;
  nd4c_plan *plan = NULL;
  if (compile_there("STUB_DELAY_US=0") != 0) {
    fail_msg("%s", output);
  }
  assert_says("index=INDEX\ntarget 'stub:7': backend stub has 2, the last one is stub:1");
  assert_says("unknown=NO_BACKEND");
  assert_says("compiled for stub:0: 1 pieces with 4 of 4 nodes, ");
  assert_says("  stub_compiler: add multiply subtract tanh\n");
  assert_says(
      "find=HARDWARE\nbackend stub can only compile ahead of time, by nd4c_plan_compile or nd4c compile --target "
      "stub:0, and runs nothing here: no stub is plugged in");
  assert_says("again=HARDWARE\n");
  assert_says("default=OK\n");
  assert_says("zeros=OK\n");
  assert_says("devices=1\n");
  assert_says("opened=0 executables=0 violations=0\n");
  const int64_t compiled = stub_counter("compile"), loaded = stub_counter("load");
  CHECK_OK(make_plan(false, stub_context, &plan));
  assert_int_equal(stub_counter("compile") - compiled, 0);
  assert_int_equal(stub_counter("load") - loaded, 1);
  assert_report(plan, "requested but not applied: nothing", true);
  check_plan(plan, false);
  nd4c_plan_destroy(plan);
}

/* A placement on one device is a plan on that device, whatever the context's device is: it uses compilers and files. */
static void a_placed_plan_takes_part(void **state) {
  (void)state;
  nd4c_device *host = NULL, *devices[] = {stub_device, stub_device};
  nd4c_context *context = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_device_find("cpu:0", &host));
  CHECK_OK(nd4c_context_create(&(nd4c_context_options){.struct_size = sizeof(nd4c_context_options), .device = host},
                               &context));
  assert_int_equal(compile_there("STUB_DELAY_US=0"), 0);
  const nd4c_placement placement = {.struct_size = sizeof placement, .devices = devices, .device_count = 2};
  const nd4c_plan_options options = {.struct_size = sizeof options, .placement = &placement, .compiled = file};
  const int64_t compiled = stub_counter("compile"), loaded = stub_counter("load");
  nd4c_graph *graph = make_graph(false);
  CHECK_OK(nd4c_plan_create(graph, context, &options, &plan));
  assert_int_equal(stub_counter("compile") - compiled, 0);
  assert_int_equal(stub_counter("load") - loaded, 1);
  assert_report(plan, "plan on stub:0", true);
  assert_report(plan, "copies between devices", false);
  assert_report(plan, "requested but not applied: nothing", true);
  check_plan(plan, false);
  nd4c_plan_destroy(plan);
  /* One node that the stub cannot compute leaves the others where they are, compiled. */
  nd4c_value y = nd4c_graph_output_value(graph, 0);
  CHECK_OK(nd4c_graph_output(graph, "a", check_unary(graph, ND4C_OP_atan, y)));
  CHECK_OK(nd4c_plan_create(graph, context, &options, &plan));
  assert_report(plan, "segment of 4 nodes, compiled by stub_compiler", true);
  assert_report(plan, "cpu:0 is used: ", true);
  nd4c_array *inputs[1], *expected[3] = {NULL}, *actual[3] = {NULL};
  check_make_inputs(graph, 3, inputs);
  check_evaluate(graph, inputs, expected);
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)inputs, 1, actual, 3));
  for (int32_t i = 0; i < 3; i++) {
    assert_true(check_difference(expected[i], actual[i]) <= 1e-5);
  }
  check_release(inputs, 1);
  check_release(expected, 3);
  check_release(actual, 3);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  CHECK_OK(nd4c_context_destroy(context));
}

static void another_generation_is_refused(void **state) {
  (void)state;
  nd4c_plan *plan = NULL;
  assert_int_equal(compile_there("STUB_GENERATION=2"), 0);
  assert_int_equal(make_plan(false, stub_context, &plan), ND4C_FORMAT);
  (void)snprintf(output, sizeof output, "%s", nd4c_error_message());
  assert_says(
      "the executable by stub_compiler was compiled for 'stub_compiler 2.0, generation 2', and here it would have "
      "to be for 'stub_compiler 2.0, generation 1'");
  assert_says(file);
  assert_null(plan);
}

/* Pieces that the file lacks are compiled and reported; a strict context refuses them. */
static void what_is_missing_is_told(void **state) {
  (void)state;
  nd4c_plan *plan = NULL;
  nd4c_context *strict = NULL;
  const nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device, .strict = true};
  assert_int_equal(compile_there("STUB_DELAY_US=0"), 0);
  CHECK_OK(make_plan(true, stub_context, &plan));
  assert_report(plan, "segment of 5 nodes by stub_compiler: compiled now: ", true);
  check_plan(plan, true);
  nd4c_plan_destroy(plan);
  plan = NULL;
  CHECK_OK(nd4c_context_create(&options, &strict));
  assert_int_equal(make_plan(true, strict, &plan), ND4C_STRICT);
  assert_null(plan);
  CHECK_OK(make_plan(false, strict, &plan));
  nd4c_plan_destroy(plan);
  CHECK_OK(nd4c_context_destroy(strict));
  assert_int_equal(stub_counter("executables"), 0);
}

static void damaged_files_are_refused(void **state) {
  (void)state;
  static unsigned char bytes[65536];
  nd4c_plan *plan = NULL;
  assert_int_equal(compile_there("STUB_DELAY_US=0"), 0);
  FILE *made = fopen(file, "rb");
  assert_non_null(made);
  const size_t size = fread(bytes, 1, sizeof bytes, made);
  (void)fclose(made);
  for (size_t at = 0; at < size; at += 17) { /* cut there, or a bit altered there */
    const bool cuts = at % 2 == 0;
    made = fopen(file, "wb");
    assert_non_null(made);
    bytes[at] ^= 1;
    assert_int_equal(fwrite(bytes, 1, cuts ? at : size, made), cuts ? at : size);
    bytes[at] ^= 1;
    (void)fclose(made);
    assert_int_equal(make_plan(false, stub_context, &plan), ND4C_FORMAT);
    assert_non_null(strstr(nd4c_error_message(), "a file of executables, byte "));
    assert_null(plan);
  }
  (void)remove(file);
  assert_int_equal(make_plan(false, stub_context, &plan), ND4C_IO);
}

/* The same in this process, for its device; then each failure, which leaves no file. */
static void failures_write_nothing(void **state) {
  (void)state;
  nd4c_plan *plan = NULL;
  nd4c_graph *graph = make_graph(false);
  static const char *const calls[] = {"partition:0", "fingerprint:1", "compile:1", "serialise:1"};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    char command[64];
    (void)snprintf(command, sizeof command, "fail %s", calls[i]);
    (void)remove(file);
    assert_int_equal(stub_control(command), ND4C_OK);
    assert_int_equal(nd4c_plan_compile(graph, "stub:0", NULL, file, NULL), i == 0 ? ND4C_UNSUPPORTED : ND4C_DEVICE);
    assert_non_null(strstr(nd4c_error_message(), "told to fail"));
    assert_int_not_equal(access(file, F_OK), 0);
    (void)stub_control("reset");
  }
  CHECK_OK(nd4c_plan_compile(graph, "stub:0", NULL, file, NULL));
  assert_int_equal(stub_control("fail load:1"), ND4C_OK);
  assert_int_equal(make_plan(false, stub_context, &plan), ND4C_DEVICE);
  (void)stub_control("reset");
  CHECK_OK(make_plan(false, stub_context, &plan));
  check_plan(plan, false);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void odd_requests_are_refused(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(false);
  const nd4c_placement placement = {.struct_size = sizeof placement, .devices = &stub_device, .device_count = 1};
  const nd4c_plan_options placed = {.struct_size = sizeof placed, .placement = &placement};
  const nd4c_plan_options compiled = {.struct_size = sizeof compiled, .compiled = file};
  assert_int_equal(nd4c_plan_compile(graph, NULL, NULL, file, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_plan_compile(graph, "stub:0", NULL, NULL, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_plan_compile(NULL, "stub:0", NULL, file, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_plan_compile(graph, "stub:0", &placed, file, NULL), ND4C_ARGUMENT);
  assert_int_equal(nd4c_plan_compile(graph, "stub:0", &compiled, file, NULL), ND4C_ARGUMENT);
  assert_int_equal(nd4c_plan_compile(graph, "cpu:0", NULL, file, NULL), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "no compiler of cpu:0 takes any of"));
  assert_int_equal(nd4c_plan_compile(graph, "stub:0", NULL, "/nonexistent/file", NULL), ND4C_IO);
  nd4c_graph_destroy(graph);
}

/* A plan of a graph with bodies takes nothing from a file, and says so. */
static void files_hold_no_bodies(void **state) {
  (void)state;
  nd4c_graph *plain = make_graph(false), *graph = NULL, *body = NULL;
  const nd4c_plan_options options = {.struct_size = sizeof options, .compiled = file};
  nd4c_value condition = ND4C_VALUE_NONE, x = ND4C_VALUE_NONE, y = ND4C_VALUE_NONE;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_compile(plain, "stub:0", NULL, file, NULL));
  CHECK_OK(nd4c_graph_create(&body));
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_output(body, "y", check_unary(body, ND4C_OP_sin, check_input(body, "x", 0, NULL))));
  CHECK_OK(nd4c_graph_input(graph, "c", ND4C_BOOL, 0, NULL, &condition));
  x = check_input(graph, "x", 0, NULL);
  CHECK_OK(nd4c_graph_if(graph, condition, body, body, &x, 1, "branch", &y, 1));
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  assert_int_equal(nd4c_plan_create(graph, NULL, &options, &plan), ND4C_UNSUPPORTED);
  assert_null(plan);
  assert_non_null(strstr(nd4c_error_message(), "node 'branch' (if): "));
  assert_non_null(strstr(nd4c_error_message(), ": no file of executables holds bodies"));
  nd4c_graph_destroy(plain);
  nd4c_graph_destroy(graph);
  nd4c_graph_destroy(body);
}

/* Answers of a plug-in about targets that make no sense. */
static void lies_about_targets_are_found(void **state) {
  (void)state;
  static const char *const lies[][2] = {
      {"STUB_LIE=no_targets", "compile=UNSUPPORTED\nbackend stub names no targets to compile for"},
      {"STUB_LIE=target_count", "compile=ABI\nbackend stub: target_count gave -1, expected 1 to 256"},
      {"STUB_LIE=null_target", "compile=ABI\nbackend stub: target_open returned OK but no target"},
      {"STUB_LIE=width", "width -1, expected"},
      {"STUB_FAIL=target_open:0", "stub: target_open was told to fail"},
      {"STUB_FAIL=open:0", "stub: open was told to fail"}};
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    assert_int_equal(compile_there(lies[i][0]), 1);
    assert_says(lies[i][1]);
  }
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "compile") == 0) {
    return compile_here(argv[2]);
  }
  (void)setenv("STUB_MODE", "both", 1);
  (void)snprintf(program, sizeof program, "%s", argv[0]);
  (void)snprintf(file, sizeof file, "%s/ahead.%ld.nd4cexe", ND4C_TEST_BINARY_DIR, (long)getpid());
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_file_from_elsewhere_is_loaded, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(a_placed_plan_takes_part, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(another_generation_is_refused, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(what_is_missing_is_told, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(damaged_files_are_refused, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(failures_write_nothing, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(odd_requests_are_refused, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(files_hold_no_bodies, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(lies_about_targets_are_found, stub_test_begin, stub_test_end)};
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)remove(file);
  return failed + stub_stop();
}
