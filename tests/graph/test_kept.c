/* The cache of executables: which files it keeps, when it uses them, and what it does with useless files. On the stub,
 * with a compiler beside its kernels. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph_check.h"
#include "stub_plugin.h"

enum { ROWS = 3, COLUMNS = 4, SIZE = ROWS * COLUMNS };
static const int64_t shape[] = {ROWS, COLUMNS};

static char folder[256], logged[4096];
static int lines;

static void take_line(void *user, nd4c_log_level level, const char *area, const char *message) {
  (void)user;
  if (level <= ND4C_LOG_WARNING && strcmp(area, "compiler") == 0) {
    lines++;
    const size_t length = strlen(logged);
    (void)snprintf(logged + length, sizeof logged - length, "%s\n", message);
  }
}

/* y = (x + c) * x - c */
static nd4c_plan *make_plan(float constant, const nd4c_compile_request *request) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .compile = request};
  nd4c_graph *graph = NULL;
  nd4c_array *array = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value c = -1;
  float values[COLUMNS];
  for (int i = 0; i < COLUMNS; i++) {
    values[i] = constant + (float)i;
  }
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 1, &shape[1], values, NULL, &array));
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  CHECK_OK(nd4c_graph_constant(graph, array, &c));
  nd4c_value product = check_binary(graph, ND4C_OP_multiply, check_binary(graph, ND4C_OP_add, x, c), x);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_subtract, product, c)));
  CHECK_OK(nd4c_plan_create(graph, stub_context, &options, &plan));
  nd4c_graph_destroy(graph);
  nd4c_array_release(array);
  return plan;
}

static void check_plan(nd4c_plan *plan, float constant) {
  float values[SIZE];
  nd4c_array *x = NULL, *y = NULL;
  for (int i = 0; i < SIZE; i++) {
    values[i] = (float)i;
  }
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 2, shape, values, stub_device, &x));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)&x, 1, &y, 1));
  CHECK_OK(nd4c_array_read(y, values, sizeof values));
  for (int i = 0; i < SIZE; i++) {
    const float c = constant + (float)(i % COLUMNS);
    assert_true(values[i] == ((float)i + c) * (float)i - c);
  }
  nd4c_array_release(x);
  nd4c_array_release(y);
}

/* Makes the plan, checks how often that compiles and loads, and runs it. */
static void plan_once(float constant, const nd4c_compile_request *request, int64_t compiles, int64_t loads) {
  const int64_t compiled = stub_counter("compile"), loaded = stub_counter("load");
  nd4c_plan *plan = make_plan(constant, request);
  assert_int_equal(stub_counter("compile") - compiled, compiles);
  assert_int_equal(stub_counter("load") - loaded, loads);
  check_plan(plan, constant);
  nd4c_plan_destroy(plan);
}

/* -- files -------------------------------------------------------------------------------------------------------- */

/* Number of files; the last one's path. */
static int find_files(char *path, size_t size) {
  int count = 0;
  DIR *list = opendir(folder);
  for (struct dirent *entry = list != NULL ? readdir(list) : NULL; entry != NULL; entry = readdir(list)) {
    if (entry->d_name[0] != '.') {
      (void)snprintf(path, size, "%s/%s", folder, entry->d_name);
      count++;
    }
  }
  if (list != NULL) {
    (void)closedir(list);
  }
  return count;
}

static void remove_files(void) {
  char path[600];
  while (find_files(path, sizeof path) > 0) {
    assert_int_equal(remove(path), 0);
  }
}

static size_t read_file(const char *path, unsigned char *bytes, size_t most) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  const size_t size = fread(bytes, 1, most, file);
  (void)fclose(file);
  return size;
}

static void write_file(const char *path, const unsigned char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  (void)fclose(file);
}

static int begin(void **state) {
  (void)mkdir(folder, 0700);
  remove_files();
  lines = 0;
  logged[0] = '\0';
  return nd4c_config_set("nd4c.compile.cache", folder) != ND4C_OK || stub_test_begin(state) != 0;
}

static int end(void **state) {
  remove_files();
  (void)nd4c_config_set("nd4c.compile.cache", NULL);
  return stub_test_end(state);
}

/* -- tests -------------------------------------------------------------------------------------------------------- */

static void the_second_plan_loads(void **state) {
  (void)state;
  char path[600];
  plan_once(1, NULL, 1, 0);
  assert_int_equal(find_files(path, sizeof path), 1);
  plan_once(1, NULL, 0, 1);
  plan_once(1, NULL, 0, 1);
  assert_int_equal(find_files(path, sizeof path), 1);
  assert_int_equal(lines, 0);
}

static void what_differs_has_a_file_of_its_own(void **state) {
  (void)state;
  char path[600];
  const nd4c_compile_option option = {"LEVEL", "3"}, foreign = {"other.LEVEL", "3"};
  const nd4c_compile_request fast = {.struct_size = sizeof fast, .math = ND4C_MATH_FAST};
  const nd4c_compile_request with = {.struct_size = sizeof with, .options = &option, .option_count = 1};
  const nd4c_compile_request without = {.struct_size = sizeof without, .options = &foreign, .option_count = 1};
  plan_once(1, NULL, 1, 0);
  plan_once(2, NULL, 1, 0); /* the contents of a constant */
  plan_once(1, &fast, 1, 0);
  plan_once(1, &with, 1, 0);
  plan_once(1, &without, 0, 1); /* an option for another compiler */
  assert_int_equal(find_files(path, sizeof path), 4);
  plan_once(2, NULL, 0, 1);
  plan_once(1, &with, 0, 1);
}

static void width_makes_no_difference(void **state) {
  (void)state;
  nd4c_context *usual = stub_context;
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device, .width = 3};
  plan_once(1, NULL, 1, 0);
  CHECK_OK(nd4c_context_create(&options, &stub_context));
  plan_once(1, NULL, 0, 1);
  CHECK_OK(nd4c_context_destroy(stub_context));
  stub_context = usual;
}

static void the_cache_is_off(void **state) {
  (void)state;
  char path[600];
  CHECK_OK(nd4c_config_set("nd4c.compile.cache", "off"));
  CHECK_OK(nd4c_config_set("OV_CACHE_DIR", folder));
  plan_once(1, NULL, 1, 0);
  assert_int_equal(find_files(path, sizeof path), 0);
  CHECK_OK(nd4c_config_set("nd4c.compile.cache", NULL));
  plan_once(1, NULL, 1, 0);
  plan_once(1, NULL, 0, 1); /* by the reference's name */
  assert_int_equal(find_files(path, sizeof path), 1);
  CHECK_OK(nd4c_config_set("OV_CACHE_DIR", NULL));
  plan_once(1, NULL, 1, 0);
  assert_int_equal(nd4c_config_set("nd4c.compile.cache", "relative"), ND4C_CONFIG);
}

static void altered_files_are_compiled_anew(void **state) {
  (void)state;
  static unsigned char bytes[65536];
  char path[600];
  plan_once(1, NULL, 1, 0);
  assert_int_equal(find_files(path, sizeof path), 1);
  const size_t size = read_file(path, bytes, sizeof bytes);
  assert_true(size > 200 && size < sizeof bytes);
  for (size_t length = 0; length < size; length += 37) { /* cut */
    write_file(path, bytes, length);
    plan_once(1, NULL, 1, 0);
  }
  for (size_t at = 0; at < size; at += 41) { /* a bit */
    bytes[at] ^= 4;
    write_file(path, bytes, size);
    bytes[at] ^= 4;
    lines = 0;
    logged[0] = '\0';
    plan_once(1, NULL, 1, 0);
    assert_int_equal(lines, 1);
    assert_non_null(strstr(logged, "is not used, the piece is compiled anew: a file of executables, byte "));
  }
  plan_once(1, NULL, 0, 1); /* the last of them was replaced by a sound one */
}

static void files_of_others_are_not_read(void **state) {
  (void)state;
  static unsigned char bytes[65536];
  char path[600], other[700];
  plan_once(1, NULL, 1, 0);
  assert_int_equal(find_files(path, sizeof path), 1);
  const size_t size = read_file(path, bytes, sizeof bytes);
  assert_int_equal(chmod(path, 0666), 0);
  plan_once(1, NULL, 1, 0);
  assert_int_equal(lines, 1);
  assert_non_null(strstr(logged, "other users may write to it"));
  (void)snprintf(other, sizeof other, "%s/other", folder);
  assert_int_equal(rename(path, other), 0);
  assert_int_equal(symlink(other, path), 0);
  plan_once(1, NULL, 1, 0);
  assert_non_null(strstr(logged, "it is a link"));
  assert_int_equal(remove(other), 0);
  plan_once(2, NULL, 1, 0); /* a sound file under another piece's name */
  char second[600];
  assert_int_equal(find_files(second, sizeof second), 2);
  if (strcmp(second, path) == 0) {
    assert_int_equal(remove(path), 0);
    assert_int_equal(find_files(second, sizeof second), 1);
  }
  write_file(second, bytes, size);
  assert_int_equal(chmod(second, 0600), 0);
  lines = 0;
  plan_once(2, NULL, 1, 0);
  assert_int_equal(lines, 1);
  assert_non_null(strstr(logged, "an executable that does not match its name"));
}

static void failures_leave_a_compiled_plan(void **state) {
  (void)state;
  char path[600];
  static const struct {
    const char *call, *words;
    int64_t compiles, loads;
  } cases[] = {{"serialise:1", "is not kept: stub: serialise was told to fail", 1, 0},
               {"fingerprint:1", "the cache is not used: stub: fingerprint was told to fail", 1, 0},
               {NULL, "", 1, 0},
               {"load:1", "compiled anew: stub: load was told to fail", 1, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char command[64];
    (void)snprintf(command, sizeof command, "fail %s", cases[i].call != NULL ? cases[i].call : "");
    assert_int_equal(cases[i].call != NULL ? stub_control(command) : ND4C_OK, ND4C_OK);
    lines = 0;
    plan_once(1, NULL, cases[i].compiles, cases[i].loads);
    assert_int_equal(lines, cases[i].call != NULL);
    assert_true(cases[i].call == NULL || strstr(logged, cases[i].words) != NULL);
    assert_int_equal(find_files(path, sizeof path), i >= 2);
  }
  assert_int_equal(stub_control("fail compile:1"), ND4C_OK);
  plan_once(1, NULL, 0, 1); /* the compiler is not asked */
}

static void what_cannot_be_written_is_told(void **state) {
  (void)state;
  char path[600];
  (void)snprintf(path, sizeof path, "%s/file", folder);
  write_file(path, (const unsigned char *)"x", 1);
  CHECK_OK(nd4c_config_set("nd4c.compile.cache", path));
  plan_once(1, NULL, 1, 0);
  assert_int_equal(lines, 1);
  assert_non_null(strstr(logged, "Not a directory"));
  CHECK_OK(nd4c_config_set("nd4c.compile.cache", folder));
  CHECK_OK(nd4c_config_set("nd4c.compile.limit", "300"));
  plan_once(1, NULL, 1, 0);
  assert_non_null(strstr(logged, "more than the 300 bytes of a file (nd4c.compile.limit)"));
  CHECK_OK(nd4c_config_set("nd4c.compile.limit", NULL));
  plan_once(1, NULL, 1, 0);
  CHECK_OK(nd4c_config_set("nd4c.compile.limit", "300"));
  plan_once(1, NULL, 1, 0);
  assert_non_null(strstr(logged, "expected 300 at most"));
  CHECK_OK(nd4c_config_set("nd4c.compile.limit", NULL));
}

/* Each allocation of nd4c fails in turn: the call gives a plan or an error, and nothing is left. */
static void allocations_may_fail(void **state) {
  (void)state;
  int failed = 0;
  for (int64_t skip = 0; skip < 4000; skip++) {
    nd4c_plan *plan = NULL;
    nd4c_graph *graph = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    nd4c_value x = check_input(graph, "x", 2, shape);
    nd4c_value product = check_binary(graph, ND4C_OP_multiply, check_binary(graph, ND4C_OP_add, x, x), x);
    CHECK_OK(nd4c_graph_output(graph, "y", product));
    if (skip % 2 == 0) {
      remove_files();
    }
    nd4c_allocation_fail_at(skip / 2);
    nd4c_status status = nd4c_plan_create(graph, stub_context, NULL, &plan);
    nd4c_allocation_fail_at(-1);
    nd4c_graph_destroy(graph);
    nd4c_plan_destroy(plan);
    assert_true(status == ND4C_OK || status == ND4C_MEMORY);
    failed += status != ND4C_OK;
    if (status == ND4C_OK && lines == 0 && failed > 0 && skip % 2 != 0) {
      break;
    }
    lines = 0;
  }
  assert_true(failed > 10);
}

int main(void) {
  (void)setenv("STUB_MODE", "both", 1);
  (void)snprintf(folder, sizeof folder, "%s/kept.%ld", ND4C_TEST_BINARY_DIR, (long)getpid());
  nd4c_log_set(take_line, NULL, ND4C_LOG_WARNING);
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(the_second_plan_loads, begin, end),
                                     cmocka_unit_test_setup_teardown(what_differs_has_a_file_of_its_own, begin, end),
                                     cmocka_unit_test_setup_teardown(width_makes_no_difference, begin, end),
                                     cmocka_unit_test_setup_teardown(the_cache_is_off, begin, end),
                                     cmocka_unit_test_setup_teardown(altered_files_are_compiled_anew, begin, end),
                                     cmocka_unit_test_setup_teardown(files_of_others_are_not_read, begin, end),
                                     cmocka_unit_test_setup_teardown(failures_leave_a_compiled_plan, begin, end),
                                     cmocka_unit_test_setup_teardown(what_cannot_be_written_is_told, begin, end),
                                     cmocka_unit_test_setup_teardown(allocations_may_fail, begin, end)};
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)rmdir(folder);
  return failed + stub_stop();
}
