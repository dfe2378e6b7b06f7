/* Engines: forced, disabled, groups of them; the report and explain when a request cannot be applied. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "device/stub_plugin.h"

static nd4c_array *matrix, *on_stub;

/* Kernel line that explain marks as taken, "" if none. */
static void taken(nd4c_context *context, nd4c_op op, const nd4c_array *a, const nd4c_array *b, char *line,
                  size_t size) {
  const nd4c_array *inputs[2] = {a, b};
  char *text = NULL;
  line[0] = '\0';
  assert_int_equal(nd4c_explain(context, op, inputs, b != NULL ? 2 : 1, NULL, 0, &text), ND4C_OK);
  for (char *at = text; at != NULL && *at != '\0';) {
    char *end = strchr(at, '\n');
    size_t length = end != NULL ? (size_t)(end - at) : strlen(at);
    if (length >= 7 && strncmp(at + length - 7, ": taken", 7) == 0 && length < size) {
      memcpy(line, at, length);
      line[length] = '\0';
    }
    at = end != NULL ? end + 1 : NULL;
  }
  nd4c_free(text);
}

static bool takes_engine(nd4c_context *context, nd4c_op op, const nd4c_array *a, const nd4c_array *b,
                         const char *engine) {
  char line[512], part[64];
  taken(context, op, a, b, line, sizeof line);
  (void)snprintf(part, sizeof part, "(engine %s)", engine);
  if (strstr(line, part) == NULL) {
    print_error("taken is '%s', expected engine %s\n", line, engine);
  }
  return strstr(line, part) != NULL;
}

static char *report(void) {
  char *text = NULL;
  assert_int_equal(nd4c_report_applied(&text), ND4C_OK);
  return text;
}

static int reset(void **state) {
  (void)state;
  (void)nd4c_config_set("SD_KERNEL_FORCE_ENGINE", NULL);
  (void)nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", NULL);
  (void)nd4c_config_set("nd4c.strict", NULL);
  if (stub_control != NULL) {
    (void)stub_control("reset");
  }
  nd4c_free(report());
  nd4c_error_clear();
  return 0;
}

static void the_choice_is_explained(void **state) {
  (void)state;
  const nd4c_array *inputs[2] = {matrix, matrix};
  char *text = NULL;
  assert_int_equal(nd4c_explain(NULL, ND4C_OP_matmul, inputs, 2, NULL, 0, &text), ND4C_OK);
  assert_non_null(strstr(text, "matmul on cpu:0"));
  assert_non_null(strstr(text, ": taken"));
  nd4c_free(text);
  /* explain runs no kernel and refuses the arguments that the call would refuse. */
  nd4c_memory_info before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
  assert_int_equal(nd4c_memory_get_info(nd4c_array_device(matrix), &before), ND4C_OK);
  assert_int_equal(nd4c_explain(NULL, ND4C_OP_matmul, inputs, 1, NULL, 0, &text), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_explain(NULL, 9999, inputs, 2, NULL, 0, &text), ND4C_NAME);
  assert_int_equal(nd4c_explain(NULL, ND4C_OP_matmul, inputs, 2, NULL, 0, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_memory_get_info(nd4c_array_device(matrix), &after), ND4C_OK);
  assert_int_equal(before.live_bytes, after.live_bytes);
}

static void an_engine_is_forced(void **state) {
  (void)state;
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", "reference"), ND4C_OK);
  assert_true(takes_engine(NULL, ND4C_OP_add, matrix, matrix, "reference"));
  assert_true(takes_engine(NULL, ND4C_OP_matmul, matrix, matrix, "reference"));
  nd4c_array *sum = NULL;
  assert_int_equal(nd4c_add(matrix, matrix, &sum), ND4C_OK);
  nd4c_array_release(sum);
  char *text = report();
  assert_string_equal(text, "");
  nd4c_free(text);
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", "simd"), ND4C_OK);
  assert_true(takes_engine(NULL, ND4C_OP_add, matrix, matrix, "simd"));
}

static void a_forced_engine_that_lacks_an_op_is_reported(void **state) {
  (void)state;
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", "cudnn"), ND4C_OK);
  nd4c_array *sum = NULL;
  assert_int_equal(nd4c_add(matrix, matrix, &sum), ND4C_OK); /* the next engine computes it */
  double first = 0;
  int64_t index[2] = {0, 0};
  assert_int_equal(nd4c_array_item(sum, index, &first), ND4C_OK);
  assert_float_equal(first, 4, 0);
  nd4c_array_release(sum);
  char *text = report();
  assert_non_null(strstr(text, "add: requested cudnn, applied "));
  nd4c_free(text);
  text = report(); /* reported once */
  assert_string_equal(text, "");
  nd4c_free(text);
  const nd4c_array *inputs[2] = {matrix, matrix};
  assert_int_equal(nd4c_explain(NULL, ND4C_OP_add, inputs, 2, NULL, 0, &text), ND4C_OK);
  assert_non_null(strstr(text, "engine cudnn forced"));
  assert_non_null(strstr(text, "cudnn forced: not here; engines are: "));
  nd4c_free(text);
}

/* Cached choices do not hide it from a later report. */
static void every_forced_fallback_is_seen(void **state) {
  (void)state;
  nd4c_array *sum = NULL;
  assert_int_equal(nd4c_add(matrix, matrix, &sum), ND4C_OK);
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", "cublas"), ND4C_OK);
  assert_int_equal(nd4c_add(matrix, matrix, &sum), ND4C_OK);
  char *text = report();
  assert_non_null(strstr(text, "add: requested cublas"));
  nd4c_free(text);
  nd4c_array_release(sum);
}

static void strict_makes_it_an_error(void **state) {
  (void)state;
  nd4c_context_options options = {.struct_size = sizeof options, .strict = true};
  nd4c_context *strict = NULL;
  nd4c_array *sum = NULL;
  assert_int_equal(nd4c_context_create(&options, &strict), ND4C_OK);
  assert_int_equal(nd4c_add_on(strict, matrix, matrix, &sum), ND4C_OK);
  nd4c_array_release(sum);
  sum = NULL;
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", "cudnn"), ND4C_OK);
  assert_int_equal(nd4c_add_on(strict, matrix, matrix, &sum), ND4C_STRICT);
  assert_null(sum);
  assert_non_null(strstr(nd4c_error_message(), "add"));
  assert_non_null(strstr(nd4c_error_message(), "SD_KERNEL_FORCE_ENGINE=cudnn"));
  assert_int_equal(nd4c_add(matrix, matrix, &sum), ND4C_OK); /* the other context is not strict */
  nd4c_array_release(sum);
  sum = NULL;
  assert_int_equal(nd4c_config_set("nd4c.strict", "true"), ND4C_OK);
  assert_int_equal(nd4c_add(matrix, matrix, &sum), ND4C_STRICT);
  assert_int_equal(nd4c_config_set("nd4c.strict", NULL), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(strict), ND4C_OK);
}

static void engines_are_disabled(void **state) {
  (void)state;
  assert_int_equal(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", "simd, openblas,onednn"), ND4C_OK);
  assert_true(takes_engine(NULL, ND4C_OP_add, matrix, matrix, "reference"));
  assert_true(takes_engine(NULL, ND4C_OP_matmul, matrix, matrix, "reference"));
  const nd4c_array *inputs[2] = {matrix, matrix};
  char *text = NULL;
  assert_int_equal(nd4c_explain(NULL, ND4C_OP_add, inputs, 2, NULL, 0, &text), ND4C_OK);
  assert_non_null(strstr(text, "disabled by SD_KERNEL_DISABLE_ENGINES=simd, openblas,onednn"));
  nd4c_free(text);
  /* The reference engine stays enabled. */
  assert_int_equal(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", "cpu,onednn,REFERENCE"), ND4C_OK);
  assert_true(takes_engine(NULL, ND4C_OP_add, matrix, matrix, "reference"));
  assert_int_equal(nd4c_explain(NULL, ND4C_OP_fft, inputs, 1, NULL, 0, &text), ND4C_OK);
  const char *fftw = strstr(text, "fftw.fft");
  assert_true(fftw == NULL || strstr(fftw, "disabled by SD_KERNEL_DISABLE_ENGINES") != NULL);
  nd4c_free(text);
}

/* Engines that cannot be disabled, and unknown names, are reported instead of ignored. */
static void a_vain_request_is_reported(void **state) {
  static const struct {
    const char *property, *value, *line;
  } rows[] = {
      {"SD_KERNEL_DISABLE_ENGINES", "reference",
       "SD_KERNEL_DISABLE_ENGINES: requested reference disabled, applied reference kept (1 kernel choices): reference "
       "is the floor and cannot be disabled"},
      {"SD_KERNEL_DISABLE_ENGINES", "onednn,CPU",
       "SD_KERNEL_DISABLE_ENGINES: requested CPU disabled, applied reference kept (1 kernel choices): reference is the "
       "floor and cannot be disabled"},
      {"SD_KERNEL_DISABLE_ENGINES", "openblas, simdd",
       "SD_KERNEL_DISABLE_ENGINES: requested simdd disabled, applied nothing (1 kernel choices): no engine of that "
       "name; engines are: "},
      {"SD_KERNEL_FORCE_ENGINE", "simdd", "(1 kernel choices): no engine of that name; engines are: "},
      {"SD_KERNEL_FORCE_ENGINE", "cudnn", "(1 kernel choices): not here; engines are: "},
      {"SD_KERNEL_FORCE_ENGINE", "cuda", "(1 kernel choices): not here; engines are: "},
      {"SD_KERNEL_FORCE_ENGINE", "stub", "(1 kernel choices): the forced engine does not serve this call"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    (void)reset(state);
    nd4c_array *sum = NULL;
    assert_int_equal(nd4c_config_set(rows[i].property, rows[i].value), ND4C_OK);
    assert_int_equal(nd4c_add(matrix, matrix, &sum), ND4C_OK);
    char *text = report();
    if (strstr(text, rows[i].line) == NULL) {
      fail_msg("%s=%s: the report is '%s'", rows[i].property, rows[i].value, text);
    }
    if (strstr(rows[i].line, "engines are") != NULL) {
      assert_non_null(strstr(text, "simd, tile, reference, stub_compiler, stub\n"));
    }
    nd4c_free(text);
    nd4c_array_release(sum);
    const nd4c_array *inputs[2] = {matrix, matrix};
    assert_int_equal(nd4c_explain(NULL, ND4C_OP_add, inputs, 2, NULL, 0, &text), ND4C_OK);
    assert_non_null(strstr(text, strchr(rows[i].line, ')') + 3)); /* the reason */
    nd4c_free(text);
    sum = NULL;
    assert_int_equal(nd4c_config_set("nd4c.strict", "true"), ND4C_OK);
    assert_int_equal(nd4c_add(matrix, matrix, &sum), ND4C_STRICT);
    assert_null(sum);
    assert_non_null(strstr(nd4c_error_message(), strchr(rows[i].line, ')') + 3));
  }
}

/* Disabling an engine that is not present is no mistake: one setting serves machines with and without a GPU. */
static void disabling_what_is_absent_is_no_difference(void **state) {
  (void)state;
  nd4c_array *sum = NULL;
  assert_int_equal(nd4c_config_set("nd4c.strict", "true"), ND4C_OK);
  assert_int_equal(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", "cuda,cudnn, onednn"), ND4C_OK);
  assert_int_equal(nd4c_add(matrix, matrix, &sum), ND4C_OK);
  nd4c_array_release(sum);
  char *text = report();
  assert_string_equal(text, "");
  nd4c_free(text);
}

/* Before any call, so that nd4c info shows a mistake. */
static void vain_names_are_listed(void **state) {
  static const struct {
    const char *property, *value, *report; /* its beginning; "" for all of it */
  } rows[] = {
      {"SD_KERNEL_FORCE_ENGINE", "simdd", "SD_KERNEL_FORCE_ENGINE: simdd: no engine of that name; engines are: "},
      {"SD_KERNEL_FORCE_ENGINE", "cuda", "SD_KERNEL_FORCE_ENGINE: cuda: not here; engines are: "},
      {"SD_KERNEL_FORCE_ENGINE", "CPU", ""},
      {"SD_KERNEL_FORCE_ENGINE", "stub", ""},
      {"SD_KERNEL_DISABLE_ENGINES", "simd,opneblas", "SD_KERNEL_DISABLE_ENGINES: opneblas: no engine of that name; "},
      {"SD_KERNEL_DISABLE_ENGINES", "cpu", "SD_KERNEL_DISABLE_ENGINES: cpu: reference is the floor and cannot be "},
      {"SD_KERNEL_DISABLE_ENGINES", "cudnn", "SD_KERNEL_DISABLE_ENGINES: cudnn: not here, nothing to disable\n"},
      {"SD_KERNEL_DISABLE_ENGINES", "simd", ""}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    (void)reset(state);
    char *text = NULL;
    assert_int_equal(nd4c_config_set(rows[i].property, rows[i].value), ND4C_OK);
    assert_int_equal(nd4c_report_engines(&text), ND4C_OK);
    size_t length = strlen(rows[i].report);
    if (length == 0 ? text[0] != '\0' : strncmp(text, rows[i].report, length) != 0) {
      fail_msg("%s=%s: the report is '%s'", rows[i].property, rows[i].value, text);
    }
    nd4c_free(text);
  }
  assert_int_equal(nd4c_report_engines(NULL), ND4C_NULL_ARGUMENT);
}

static bool ends_in_newline(const char *text) {
  size_t length = strlen(text);
  return length == 0 || text[length - 1] == '\n';
}

/* The caller that prints a text ends the line, so the text must not end with an empty line. */
static void texts_end_without_a_newline(void **state) {
  (void)state;
  const nd4c_array *inputs[2] = {matrix, matrix};
  char *text = NULL;
  nd4c_array *y = NULL;
  assert_int_equal(nd4c_explain(NULL, ND4C_OP_add, inputs, 2, NULL, 0, &text), ND4C_OK);
  assert_false(ends_in_newline(text));
  nd4c_free(text);
  assert_int_equal(nd4c_explain(NULL, ND4C_OP_transpose, inputs, 1, NULL, 0, &text), ND4C_OK);
  assert_false(ends_in_newline(text));
  nd4c_free(text);
  assert_int_equal(nd4c_sinh_on(stub_context, on_stub, &y), ND4C_UNSUPPORTED);
  assert_false(ends_in_newline(nd4c_error_message()));
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", "stub"), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.strict", "true"), ND4C_OK);
  assert_int_equal(nd4c_add(matrix, matrix, &y), ND4C_STRICT);
  assert_false(ends_in_newline(nd4c_error_message()));
  assert_null(y);
}

static void groups_stand_for_their_engines(void **state) {
  (void)state;
  assert_int_equal(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", "cpu"), ND4C_OK);
  const nd4c_array *inputs[2] = {matrix, matrix};
  char *text = NULL;
  assert_int_equal(nd4c_explain(NULL, ND4C_OP_add, inputs, 2, NULL, 0, &text), ND4C_OK);
  assert_null(strstr(text, "(engine simd): taken"));
  assert_non_null(strstr(text, "disabled by"));
  nd4c_free(text);
  assert_int_equal(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", "CPU"), ND4C_OK);
  nd4c_array *product = NULL;
  assert_int_equal(nd4c_matmul(matrix, matrix, &product), ND4C_OK);
  nd4c_array_release(product);
  product = NULL;
  text = report(); /* one engine of the group computed it: nothing to report */
  assert_string_equal(text, "");
  nd4c_free(text);
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", "cuda"), ND4C_OK);
  assert_int_equal(nd4c_matmul(matrix, matrix, &product), ND4C_OK);
  nd4c_array_release(product);
  text = report();
  assert_non_null(strstr(text, "matmul: requested cuda"));
  nd4c_free(text);
}

static void what_nothing_computes_lists_why(void **state) {
  (void)state;
  nd4c_array *y = NULL;
  assert_int_equal(nd4c_sinh_on(stub_context, on_stub, &y), ND4C_UNSUPPORTED);
  assert_null(y);
  assert_non_null(strstr(nd4c_error_message(), "sinh: nothing on stub:0 computes this call"));
  assert_non_null(strstr(nd4c_error_message(), "let routing find one (nd4c.routing=vote, ND4C_ROUTING)"));
  (void)stub_control("fail usable:0,supports:0");
  assert_int_equal(nd4c_config_set("nd4c.width", "1"), ND4C_OK); /* a new epoch: no choice is cached */
  assert_int_equal(nd4c_add_on(stub_context, on_stub, on_stub, &y), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "stub.plain (engine stub): told to decline"));
  assert_non_null(strstr(nd4c_error_message(), "compiler (engine stub_compiler): told to decline"));
  (void)stub_control("reset");
  assert_int_equal(nd4c_config_set("nd4c.width", NULL), ND4C_OK);
  assert_int_equal(nd4c_add_on(stub_context, on_stub, on_stub, &y), ND4C_OK);
  nd4c_array_release(y);
}

/* STUB_MODE=both: the device has kernels and a compiler; either may be asked for. */
static void a_compiler_is_an_engine_too(void **state) {
  (void)state;
  nd4c_array *y = NULL;
  int64_t compiled = stub_counter("compile"), executed = stub_counter("execute");
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", "stub_compiler"), ND4C_OK);
  assert_true(takes_engine(stub_context, ND4C_OP_square, on_stub, NULL, "stub_compiler"));
  assert_int_equal(nd4c_square_on(stub_context, on_stub, &y), ND4C_OK);
  assert_int_equal(nd4c_array_wait(y), ND4C_OK);
  assert_true(stub_counter("compile") > compiled);
  assert_int_equal(stub_counter("execute"), executed + 1);
  nd4c_array_release(y);
  y = NULL;
  compiled = stub_counter("compile");
  assert_int_equal(nd4c_square_on(stub_context, on_stub, &y), ND4C_OK);
  assert_int_equal(stub_counter("compile"), compiled); /* cached by its signature */
  char *text = report();
  assert_string_equal(text, "");
  nd4c_free(text);
  nd4c_array_release(y);
  y = NULL;
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", "stub"), ND4C_OK);
  executed = stub_counter("execute");
  assert_int_equal(nd4c_square_on(stub_context, on_stub, &y), ND4C_OK);
  assert_int_equal(stub_counter("execute"), executed);
  nd4c_array_release(y);
}

static void engines_are_listed(void **state) {
  (void)state;
  bool reference_last = false;
  for (int32_t i = 0; nd4c_backend_engine("cpu", i) != NULL; i++) {
    reference_last = strcmp(nd4c_backend_engine("cpu", i), "reference") == 0;
    assert_non_null(nd4c_backend_engine_state("cpu", i, false));
    assert_true(nd4c_backend_engine_state("cpu", i, false)[0] != '\0');
  }
  assert_true(reference_last);
  assert_null(nd4c_backend_engine("no_such", 0));
  assert_null(nd4c_backend_engine("cpu", -1));
  assert_string_equal(nd4c_backend_engine("stub", 1), "stub");
  assert_non_null(strstr(nd4c_backend_engine_state("stub", 1, true), "ready"));
}

static int start(void **state) {
  const int64_t shape[2] = {4, 4};
  (void)reset(state);
  return setenv("STUB_MODE", "both", 1) == 0 && stub_start() == ND4C_OK &&
                 nd4c_array_full(ND4C_FLOAT32, 2, shape, 2, NULL, &matrix) == ND4C_OK &&
                 nd4c_array_full(ND4C_FLOAT32, 2, shape, 2, stub_device, &on_stub) == ND4C_OK
             ? 0
             : 1;
}

static int stop(void **state) {
  nd4c_array_release(matrix);
  nd4c_array_release(on_stub);
  (void)nd4c_context_destroy(stub_context);
  stub_settle();
  return reset(state) + (stub_counter("violations") != 0);
}

#define ENGINE_TEST(name) cmocka_unit_test_setup(name, reset)

int main(void) {
  const struct CMUnitTest tests[] = {
      ENGINE_TEST(the_choice_is_explained),
      ENGINE_TEST(an_engine_is_forced),
      ENGINE_TEST(a_forced_engine_that_lacks_an_op_is_reported),
      ENGINE_TEST(every_forced_fallback_is_seen),
      ENGINE_TEST(strict_makes_it_an_error),
      ENGINE_TEST(engines_are_disabled),
      ENGINE_TEST(a_vain_request_is_reported),
      ENGINE_TEST(disabling_what_is_absent_is_no_difference),
      ENGINE_TEST(vain_names_are_listed),
      ENGINE_TEST(texts_end_without_a_newline),
      ENGINE_TEST(groups_stand_for_their_engines),
      ENGINE_TEST(what_nothing_computes_lists_why),
      ENGINE_TEST(a_compiler_is_an_engine_too),
      ENGINE_TEST(engines_are_listed),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
