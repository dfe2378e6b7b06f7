/* Libraries of file formats (device/storage/codec.h): they are loaded once, and a failure says what is needed and is no
 * end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/storage/codec.h"
#include "device/stub_test.h"

static const char *const symbols[] = {"cos", "sin", NULL};
static const char *const unknown[] = {"cos", "nd4c_no_such_function", NULL};

static void a_library_is_loaded_once(void **state) {
  (void)state;
  nd4c_codec codec = {.file = "libm.so.6", .package = "libc6", .symbols = symbols};
  double (*functions[2])(double) = {NULL};
  assert_int_equal(nd4c_codec_load(&codec), ND4C_OK);
  ND4C_CODEC_GET(&codec, 0, functions[0]);
  ND4C_CODEC_GET(&codec, 1, functions[1]);
  assert_true(functions[0] != NULL && functions[1] != NULL);
  assert_true(functions[0](0) == 1);
  assert_true(functions[1](0) == 0);
  codec.file = "libnd4c_no_such_library.so.1"; /* not opened again */
  assert_int_equal(nd4c_codec_load(&codec), ND4C_OK);
}

static void what_is_missing_is_named(void **state) {
  (void)state;
  nd4c_codec codec = {.file = "libnd4c_no_such_library.so.1", .package = "nd4c-none", .symbols = unknown};
  for (int turn = 0; turn < 2; turn++) { /* a failure is not remembered as a success */
    assert_int_equal(nd4c_codec_load(&codec), ND4C_LIBRARY);
    assert_message("libnd4c_no_such_library.so.1 is needed (Debian: apt-get install nd4c-none)");
  }
  codec.file = "libm.so.6";
  for (int turn = 0; turn < 2; turn++) {
    assert_int_equal(nd4c_codec_load(&codec), ND4C_SYMBOL);
    assert_string_equal(nd4c_error_message(), "libm.so.6 lacks nd4c_no_such_function");
  }
  codec.symbols = symbols;
  assert_int_equal(nd4c_codec_load(&codec), ND4C_OK);
  nd4c_error_clear();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_library_is_loaded_once),
      cmocka_unit_test(what_is_missing_is_named),
  };
  return cmocka_run_group_tests_name("codec", tests, NULL, NULL);
}
