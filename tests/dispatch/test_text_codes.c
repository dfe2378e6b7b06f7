/* Code points by what texts do with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dispatch/text/text.h"

/* As str.isspace of Python 3. */
static void white_space_is_of_29_code_points(void **state) {
  (void)state;
  static const uint32_t ranges[][2] = {{0x09, 0x0D},     {0x1C, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},
                                       {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                                       {0x205F, 0x205F}, {0x3000, 0x3000}};
  size_t range = 0;
  int found = 0;
  for (uint32_t code = 0; code < 0x110000; code++) {
    while (range < sizeof ranges / sizeof *ranges && code > ranges[range][1]) {
      range++;
    }
    const bool expected = range < sizeof ranges / sizeof *ranges && code >= ranges[range][0];
    if (nd4c_code_is_space(code) != expected) {
      fail_msg("U+%04X", (unsigned)code);
    }
    found += expected;
  }
  assert_int_equal(found, 29);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(white_space_is_of_29_code_points)};
  return cmocka_run_group_tests_name("text_codes", tests, NULL, NULL);
}
