/* Variables that single libraries see: src/base/library_environment.c. The libraries are copies of environment_code.c
 * beside this program. */
#define _GNU_SOURCE /* setenv */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/library_environment.h"
#include "base/os.h"
#include "nd4c/status.h"

typedef const char *(*variable_function)(const char *name);

static void *open_copy(const char *copy, variable_function *variable) {
  char path[4096];
  void *library = NULL;
  snprintf(path, sizeof path, "%s/lib%s.so", ND4C_TEST_ENVIRONMENT_FOLDER, copy);
  if (nd4c_os_library_open(path, "", &library) != ND4C_OK) {
    fail_msg("%s: %s", path, nd4c_error_message());
  }
  void *symbol = nd4c_os_library_symbol(library, "code_variable");
  assert_non_null(symbol);
  memcpy(variable, &symbol, sizeof symbol);
  return library;
}

/* The library sees the variable, the process does not; a value that the library holds stays when another one is set. */
static void test_only_the_library_sees_it(void **state) {
  variable_function variable, other;
  void *library = open_copy("environment_code", &variable);
  void *untouched = open_copy("environment_code_other", &other);
  (void)state;
  assert_int_equal(setenv("ND4C_TEST_BOTH", "of the process", 1), 0);
  assert_null(variable("ND4C_TEST_CORE"));
  assert_int_equal(nd4c_library_environment_set(library, "ND4C_TEST_CORE", "first"), ND4C_OK);
  assert_int_equal(nd4c_library_environment_set(library, "ND4C_TEST_BOTH", "of the library"), ND4C_OK);
  const char *held = variable("ND4C_TEST_CORE");
  assert_string_equal(held, "first");
  assert_int_equal(nd4c_library_environment_set(library, "ND4C_TEST_CORE", "second"), ND4C_OK);
  assert_string_equal(held, "first");
  assert_string_equal(variable("ND4C_TEST_CORE"), "second");
  assert_string_equal(variable("ND4C_TEST_BOTH"), "of the library");
  assert_null(other("ND4C_TEST_CORE"));
  assert_string_equal(other("ND4C_TEST_BOTH"), "of the process");
  assert_null(getenv("ND4C_TEST_CORE"));
  assert_string_equal(getenv("ND4C_TEST_BOTH"), "of the process");
  assert_string_equal(variable("PATH"), getenv("PATH")); /* the rest of the environment is the process's */
  nd4c_os_library_close(untouched);
}

static void test_bad_calls(void **state) {
  variable_function variable;
  char long_text[65];
  void *library = open_copy("environment_code", &variable), *deaf = open_copy("environment_code_deaf", &variable);
  (void)state;
  memset(long_text, 'x', sizeof long_text - 1);
  long_text[sizeof long_text - 1] = '\0';
  const struct {
    void *library;
    const char *name, *value;
    nd4c_status status;
    const char *text;
  } rows[] = {
      {NULL, "NAME", "value", ND4C_ARGUMENT, "an opened library"},
      {library, NULL, "value", ND4C_ARGUMENT, "a name"},
      {library, "", "value", ND4C_ARGUMENT, "a name"},
      {library, "NAME", NULL, ND4C_ARGUMENT, "a value"},
      {library, long_text, "value", ND4C_ARGUMENT, "less than 64 bytes"},
      {library, "NAME", long_text, ND4C_ARGUMENT, "less than 64 bytes"},
      {deaf, "NAME", "value", ND4C_UNSUPPORTED, "does not call getenv"},
      {library, long_text + 1, long_text + 1, ND4C_OK, ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const nd4c_status status = nd4c_library_environment_set(rows[i].library, rows[i].name, rows[i].value);
    if (status != rows[i].status || (status != ND4C_OK && strstr(nd4c_error_message(), rows[i].text) == NULL)) {
      fail_msg("row %d: status %d, expected %d: \"%s\", expected \"%s\"", (int)i, (int)status, (int)rows[i].status,
               status != ND4C_OK ? nd4c_error_message() : "", rows[i].text);
    }
  }
}

/* Equal values take no place; the seventeenth variable has none. Comes last, since places are never given back. */
static void test_limit(void **state) {
  variable_function variable;
  void *library = open_copy("environment_code", &variable);
  char name[32];
  int count = 0;
  (void)state;
  for (nd4c_status status = ND4C_OK; status == ND4C_OK && count <= 16; count += status == ND4C_OK) {
    snprintf(name, sizeof name, "ND4C_TEST_%d", count);
    for (int again = 0; again < 3 && status == ND4C_OK; again++) {
      status = nd4c_library_environment_set(library, name, "value");
    }
    if (status != ND4C_OK) {
      assert_int_equal(status, ND4C_MEMORY);
      assert_non_null(strstr(nd4c_error_message(), "more than 16 variables"));
      break;
    }
    assert_string_equal(variable(name), "value");
  }
  assert_int_equal(count, 16 - 4); /* the other tests have set four */
  assert_null(variable(name));
  assert_int_equal(nd4c_library_environment_set(library, "ND4C_TEST_0", "value"), ND4C_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_only_the_library_sees_it),
      cmocka_unit_test(test_bad_calls),
      cmocka_unit_test(test_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
