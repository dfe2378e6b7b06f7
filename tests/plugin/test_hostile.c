/* A hostile plug-in: every text that nd4c passes on is UTF-8 without control characters, and numbers that make no sense
 * are refused with texts that say what was expected. Every case runs in a separate process, because a process loads a
 * plug-in once. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../device/child.h"
#include "base/text.h"
#include "nd4c/nd4c.h"

static const char *program;

/* -- in the child ------------------------------------------------------------------------------------------------- */

static void print_log(void *user, nd4c_log_level level, const char *area, const char *line) {
  (void)user;
  printf("log %d [%s] %s\n", (int)level, area, line);
}

static void say_failure(const char *what, nd4c_status status) {
  printf("%s: %s %s\n", what, nd4c_status_name(status), status != ND4C_OK ? nd4c_error_message() : "");
}

static void say_row(const nd4c_backend_status *row) {
  if (strcmp(row->name, "hostile") == 0 || strcmp(row->name, "cpu") == 0 || row->left_out[0] != '\0') {
    printf("%s: version %s; reason %s\n", row->name, row->version, row->reason);
    printf("by request: %s\nunusable: %s\nleft out: %s\n", row->by_request_only, row->unusable_devices, row->left_out);
  }
}

static void say_rows(void) {
  nd4c_backend_status row = {.struct_size = sizeof row};
  for (int32_t i = 0; i < nd4c_backend_count() && nd4c_backend_get_status(i, &row) == ND4C_OK; i++) {
    say_row(&row);
  }
  for (int32_t i = 0; i < nd4c_contributor_count() && nd4c_contributor_get_status(i, &row) == ND4C_OK; i++) {
    say_row(&row);
  }
  printf("engine: %s\n", nd4c_backend_engine_state("cpu", 0, true));
}

typedef nd4c_status (*binary)(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

static void compute(const char *name, binary function) {
  nd4c_array *two = NULL, *y = NULL;
  (void)nd4c_array_scalar(ND4C_FLOAT32, 2, NULL, &two);
  const nd4c_status status = function(two, two, &y);
  say_failure(name, status);
  if (status == ND4C_OK) {
    float value = 0;
    (void)nd4c_array_read(y, &value, sizeof value);
    printf("%s gives %g\n", name, (double)value);
  }
  nd4c_array_release(two);
  nd4c_array_release(y);
}

static void say_explanation(nd4c_op op) {
  nd4c_array *two = NULL;
  char *text = NULL;
  (void)nd4c_array_scalar(ND4C_FLOAT32, 2, NULL, &two);
  const nd4c_array *inputs[] = {two, two};
  say_failure("explain", nd4c_explain(NULL, op, inputs, 2, NULL, 0, &text));
  printf("%s\n", text != NULL ? text : "");
  nd4c_free(text);
  nd4c_array_release(two);
}

/* x * x by a plan. */
static void run_plan(void) {
  const int64_t shape[] = {1};
  const float value = 2;
  float square = 0;
  nd4c_array *two = NULL, *y = NULL;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true}; /* no square */
  nd4c_value x = 0, product = 0;
  nd4c_status status = nd4c_array_from_data(ND4C_FLOAT32, 1, shape, &value, NULL, &two);
  status = status == ND4C_OK ? nd4c_graph_create(&graph) : status;
  status = status == ND4C_OK ? nd4c_graph_input(graph, "x", ND4C_FLOAT32, 1, shape, &x) : status;
  const nd4c_value pair[] = {x, x};
  status = status == ND4C_OK ? nd4c_graph_op(graph, ND4C_OP_multiply, pair, 2, NULL, 0, "p", &product, 1) : status;
  status = status == ND4C_OK ? nd4c_graph_output(graph, "y", product) : status;
  status = status == ND4C_OK ? nd4c_plan_create(graph, NULL, &options, &plan) : status;
  const nd4c_array *input = two;
  status = status == ND4C_OK ? nd4c_plan_run(plan, &input, 1, &y, 1) : status;
  say_failure("plan", status);
  if (status == ND4C_OK && nd4c_array_read(y, &square, sizeof square) == ND4C_OK) {
    printf("plan gives %g\n", (double)square);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  nd4c_array_release(two);
  nd4c_array_release(y);
}

static int child(const char *command, const char *argument) {
  nd4c_log_set(print_log, NULL, ND4C_LOG_DEBUG);
  if (strcmp(command, "load") == 0) {
    say_failure("load", nd4c_backend_load(argument));
    return 0;
  }
  nd4c_device *device = NULL;
  say_failure("load", nd4c_backend_load(HOSTILE_PATH));
  say_failure("probe", nd4c_backend_probe(true));
  say_failure("find", nd4c_device_find("hostile:1", &device));
  say_rows();
  compute("add", nd4c_add);
  compute("subtract", nd4c_subtract);
  compute("multiply", nd4c_multiply);
  say_explanation(ND4C_OP_add);
  say_explanation(ND4C_OP_multiply);
  run_plan();
  return 0;
}

/* -- in the parent ------------------------------------------------------------------------------------------------ */

/* The first control character that is no line end, or byte that is not UTF-8. */
static const char *find_odd_byte(const char *text) {
  for (size_t bytes; *text != '\0'; text += bytes) {
    bytes = *text == '\n' ? 1 : nd4c_text_character(text);
    if (bytes == 0) {
      return text;
    }
  }
  return NULL;
}

typedef struct hostile_case {
  const char *command, *argument;
  const char *environment[3];
  const char *parts[6]; /* of the output, with '!' in front: must not be there */
} hostile_case;

#define SCRATCH "of the host's memory as scratch: expected 0 to 72057594037927936"

static const hostile_case cases[] = {
    {"say",
     "",
     {NULL},
     {"load: OK", "find: NO_BACKEND backend hostile: hostile:0: odd ? ?[31m \"quoted\" second line",
      "reason hostile:0: odd ? ?[31m", "by request: odd ? ?[31m \"quoted\" second line",
      "engine: odd ? ?[31m \"quoted\" second line"}},
    {"say",
     "",
     {NULL},
     {"log 4 [odd ? ?[31m", "log 1 [plug-in] odd ? ?[31m", "version odd ? ?[31m",
      "hostile: kernel hostile.odd: this library has no op 'odd ? ?[31m \"quoted\" second line",
      ("hostile: kernel 4 of op add: its name is not one line of 1 to 127 bytes of UTF-8\n"
       "hostile: kernel 5 of op add: its name is not")}},
    {"say",
     "",
     {NULL},
     {"add gives 4", "subtract: DEVICE subtract on cpu:0 (hostile.subtract): odd ? ?[31m \"quoted\"\nsecond line",
      "hostile.add (engine hostile): odd ? ?[31m \"quoted\" second line"}},
    {"say", "", {"HOSTILE_LIE=absent"}, {"find: NO_BACKEND backend hostile: odd ? ?[31m \"quoted\" second line"}},
    {"say", "", {"HOSTILE_LIE=open"}, {"find: NO_BACKEND backend hostile: odd ? ?[31m \"quoted\" second line"}},
    {"say", "", {"HOSTILE_LIE=contribution"}, {"left out: hostile: not used: odd ? ?[31m \"quoted\" second line"}},
    {"load", HOSTILE_PATH, {"HOSTILE_LIE=entry"}, {"load: LIBRARY " HOSTILE_PATH " failed to start: odd ? ?[31m"}},
    {"load",
     HOSTILE_PATH,
     {"HOSTILE_LIE=library"},
     {"load: ARGUMENT " HOSTILE_PATH " failed to start: a library's name is empty, expected a file's"}},
    {"load",
     HOSTILE_PATH,
     {"HOSTILE_LIE=odd library"},
     {"load: LIBRARY " HOSTILE_PATH " failed to start: /nosuch/odd ? ?[31m \"quoted\"\nsecond line ?.so could not be"}},
    {"load", "", {NULL}, {"load: ARGUMENT plug-in path '': expected an absolute path or one containing a '/'"}},
    {"load", "libnd4c_hostile.so", {NULL}, {"load: ARGUMENT plug-in path 'libnd4c_hostile.so': expected an absolute"}},
    {"load", ".", {NULL}, {"load: ARGUMENT plug-in path '.': expected an absolute"}},
    {"load", "/usr/lib", {NULL}, {"load: LIBRARY /usr/lib could not be loaded: "}},
    {"load", "./", {NULL}, {"load: LIBRARY ./ could not be loaded: "}},
    /* if kernels were left out, the text of what a device cannot do names them */
    {"say",
     "",
     {"HOSTILE_LIE=device"},
     {"find: NO_BACKEND backend hostile: check of hostile:0: the backend has neither a kernel nor a compiler; 3 of its "
      "kernels were "
      "left out, the first one because of this: kernel hostile.odd: this library has no op"}},
    {"say",
     "",
     {"HOSTILE_LIE=device", "HOSTILE_ALIGNMENT=4611686018427387904"},
     {"describe gave alignment 4611686018427387904, expected a power of two of at most 2097152"}},
    {"say",
     "",
     {"HOSTILE_LIE=device", "HOSTILE_ALIGNMENT=4194304"},
     {"describe gave alignment 4194304, expected a power of two of at most 2097152"}},
    {"say", "", {"HOSTILE_LIE=device", "HOSTILE_ALIGNMENT=2097152"}, {"!describe gave alignment"}},
    /* sizes of scratch */
    {"say",
     "",
     {"HOSTILE_SCRATCH=9223372036854775807"},
     {"multiply gives 4", "plan gives 4", "hostile.multiply asks for 9223372036854775807 bytes " SCRATCH}},
    {"say",
     "",
     {"HOSTILE_SCRATCH=-1"},
     {"multiply gives 4", "plan gives 4", "hostile.multiply asks for -1 bytes " SCRATCH}},
    {"say", "", {"HOSTILE_SCRATCH=72057594037927937"}, {"multiply gives 4", "plan gives 4"}},
    {"say", "", {"HOSTILE_SCRATCH=72057594037927936"}, {"multiply: MEMORY", "plan: MEMORY"}},
};

static int check_case(const hostile_case *c) {
  static char output[CHILD_OUTPUT];
  const char *environment[] = {c->environment[0], c->environment[0] != NULL ? c->environment[1] : NULL, NULL};
  int failures = 0;
  const int code = child_run(program, c->command, c->argument, environment, output);
  if (code != 0) {
    print_error("'%s' of %s: exit code %d\n", c->command, c->environment[0] != NULL ? c->environment[0] : "-", code);
    failures++;
  }
  const char *odd = find_odd_byte(output);
  if (odd != NULL) {
    print_error("'%s' of %s: byte 0x%x behind \"%.*s\"\n", c->command,
                c->environment[0] != NULL ? c->environment[0] : "-", (unsigned)(unsigned char)*odd,
                (int)(odd - output < 300 ? odd - output : 300), odd - output < 300 ? output : odd - 300);
    failures++;
  }
  for (size_t p = 0; p < sizeof c->parts / sizeof c->parts[0] && c->parts[p] != NULL; p++) {
    const bool forbidden = c->parts[p][0] == '!';
    if ((strstr(output, c->parts[p] + forbidden) != NULL) == forbidden) {
      print_error("'%s' of %s: %s \"%s\" in:\n%s\n", c->command, c->environment[0] != NULL ? c->environment[0] : "-",
                  forbidden ? "found" : "no", c->parts[p] + forbidden, output);
      failures++;
    }
  }
  return failures;
}

static void is_checked(void **state) {
  (void)state;
  int failures = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    failures += check_case(&cases[i]);
  }
  assert_int_equal(failures, 0);
}

int main(int argc, char **argv) {
  program = argv[0];
  if (argc > 1) {
    return child(argv[1], argc > 2 ? argv[2] : "");
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(is_checked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
