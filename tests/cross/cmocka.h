/* The part of cmocka that the tests use, for cross builds: Debian and Ubuntu have no cmocka for a cross compiler. A
 * test that fails or is skipped jumps back to the loop that runs it; a failed run ends with the number of failures. */
#ifndef ND4C_TESTS_CROSS_CMOCKA_H
#define ND4C_TESTS_CROSS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int (*CMFixtureFunction)(void **state);
struct CMUnitTest {
  const char *name;
  void (*run)(void **state);
  CMFixtureFunction setup, teardown;
};

#define cmocka_unit_test(function) {#function, function, NULL, NULL}
#define cmocka_unit_test_setup(function, setup_function) {#function, function, setup_function, NULL}
#define cmocka_unit_test_setup_teardown(function, setup_function, teardown_function) \
  {#function, function, setup_function, teardown_function}

enum { CM_RAN, CM_FAILED, CM_SKIPPED };
static jmp_buf cm_back;

__attribute__((format(printf, 3, 4), noreturn, unused)) static void cm_fail(const char *file, int line,
                                                                            const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)fprintf(stderr, "%s:%d: ", file, line);
  (void)vfprintf(stderr, format, arguments);
  (void)fputc('\n', stderr);
  va_end(arguments);
  longjmp(cm_back, CM_FAILED);
}

#define fail_msg(...) cm_fail(__FILE__, __LINE__, __VA_ARGS__)
#define fail() fail_msg("failed")
#define skip() longjmp(cm_back, CM_SKIPPED)
#define print_message(...) ((void)printf(__VA_ARGS__))
#define print_error(...) ((void)fprintf(stderr, __VA_ARGS__))

#define CM_NEED(condition, ...) ((condition) ? (void)0 : fail_msg(__VA_ARGS__))
#define CM_NUMBER(value) ((uintmax_t)(value))
#define assert_true(c) CM_NEED(c, "not true: %s", #c)
#define assert_false(c) CM_NEED(!(c), "not false: %s", #c)
#define assert_null(p) CM_NEED((p) == NULL, "not NULL: %s", #p)
#define assert_non_null(p) CM_NEED((p) != NULL, "NULL: %s", #p)
#define assert_ptr_equal(a, b) CM_NEED((const void *)(a) == (const void *)(b), "%s is not %s", #a, #b)
#define assert_ptr_not_equal(a, b) CM_NEED((const void *)(a) != (const void *)(b), "%s is %s", #a, #b)
#define assert_int_equal(a, b) cm_int_equal(CM_NUMBER(a), CM_NUMBER(b), #a, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) CM_NEED(CM_NUMBER(a) != CM_NUMBER(b), "%s equals %s", #a, #b)
#define assert_in_range(v, low, high) \
  CM_NEED(CM_NUMBER(v) >= CM_NUMBER(low) && CM_NUMBER(v) <= CM_NUMBER(high), "%s is out of range", #v)
#define assert_string_equal(a, b) cm_string_equal(a, b, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) CM_NEED(strcmp(a, b) != 0, "%s equals %s", #a, #b)
#define assert_memory_equal(a, b, n) CM_NEED(memcmp(a, b, n) == 0, "bytes of %s and %s differ", #a, #b)
#define assert_float_equal(a, b, epsilon) \
  CM_NEED(cm_near((double)(a), (double)(b), (double)(epsilon)), "%s is %g", #a, (double)(a))

__attribute__((unused)) static void cm_int_equal(uintmax_t a, uintmax_t b, const char *text, const char *file,
                                                 int line) {
  if (a != b) {
    cm_fail(file, line, "%s is %jd, not %jd", text, (intmax_t)a, (intmax_t)b);
  }
}

__attribute__((unused)) static void cm_string_equal(const char *a, const char *b, const char *file, int line) {
  if (strcmp(a, b) != 0) {
    cm_fail(file, line, "\"%s\" != \"%s\"", a, b);
  }
}

__attribute__((unused)) static int cm_near(double a, double b, double epsilon) {
  return a - b <= epsilon && b - a <= epsilon;
}

/* the caller's local variables are lost in the jump */
static int cm_run_test(const struct CMUnitTest *test) {
  void *state = NULL;
  switch (setjmp(cm_back)) {
    case CM_RAN:
      if (test->setup != NULL && test->setup(&state) != 0) {
        return CM_FAILED;
      }
      test->run(&state);
      return test->teardown != NULL && test->teardown(&state) != 0 ? CM_FAILED : CM_RAN;
    case CM_SKIPPED:
      return CM_SKIPPED;
    default:
      return CM_FAILED;
  }
}

static int cm_run_tests(const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
                        CMFixtureFunction teardown) {
  static const char *const words[] = {"ok", "FAILED", "skipped"};
  void *state = NULL;
  int failures = 0;
  if (setup != NULL && setup(&state) != 0) {
    return 1;
  }
  for (size_t i = 0; i < count; i++) {
    (void)printf("%s\n", tests[i].name);
    (void)fflush(stdout);
    int outcome = cm_run_test(&tests[i]);
    (void)printf("  %s\n", words[outcome]);
    failures += outcome == CM_FAILED;
  }
  return failures + (teardown != NULL && teardown(&state) != 0);
}
#define cmocka_run_group_tests(tests, setup, teardown) \
  cm_run_tests(tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)

#endif
