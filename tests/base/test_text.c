/* Texts from outside the library: valid UTF-8 stays, and bytes that are not UTF-8, or cut characters, are replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "base/text.h"

static void characters(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t bytes;
  } rows[] = {{"a", 1},
              {"~", 1},
              {"\x7f", 0},
              {"\n", 0},
              {"", 0},
              {"\x1b", 0},
              {"\xc3\xa4", 2},
              {"\xc3", 0},
              {"\xc3(", 0},
              {"\xa4", 0},
              {"\xc0\x80", 0},
              {"\xc1\xbf", 0},
              {"\xc2\x9b", 0},
              {"\xc2\xa0", 2},
              {"\xe2\x82\xac", 3},
              {"\xe0\x9f\xbf", 0},
              {"\xed\xa0\x80", 0},
              {"\xed\x9f\xbf", 3},
              {"\xef\xbf\xbd", 3},
              {"\xf0\x9f\x98\x80", 4},
              {"\xf0\x8f\xbf\xbf", 0},
              {"\xf4\x8f\xbf\xbf", 4},
              {"\xf4\x90\x80\x80", 0},
              {"\xf5\x80\x80\x80", 0},
              {"\xff", 0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (nd4c_text_character(rows[i].text) != rows[i].bytes) {
      fail_msg("row %zu: %zu bytes instead of %zu", i, nd4c_text_character(rows[i].text), rows[i].bytes);
    }
  }
}

static void cleaning(void **state) {
  (void)state;
  static const struct {
    const char *text, *line, *lines;
  } rows[] = {{"", "", ""},
              {"plain \"text\"", "plain \"text\"", "plain \"text\""},
              {"one\ntwo\tthree\r", "one two three ", "one\ntwo three "},
              {"\xc3\xa4\xff\xe2\x82\xac", "\xc3\xa4?\xe2\x82\xac", "\xc3\xa4?\xe2\x82\xac"},
              {"cut \xe2\x82", "cut ", "cut "},
              {"cut \xf0\x9f\x98", "cut ", "cut "},
              {"bare \x82", "bare ?", "bare ?"},
              {"\xf0\x9f\x98 not at the end", "??? not at the end", "??? not at the end"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[64];
    (void)snprintf(text, sizeof text, "%s", rows[i].text);
    assert_string_equal(nd4c_text_clean(text, false), rows[i].line);
    (void)snprintf(text, sizeof text, "%s", rows[i].text);
    assert_string_equal(nd4c_text_clean(text, true), rows[i].lines);
  }
}

/* The buffer for a failure's text ends within a character, whatever prefix is in front. */
static void a_failure_ends_with_a_whole_character(void **state) {
  (void)state;
  static char words[16384];
  for (size_t shift = 0; shift < 4; shift++) {
    memset(words, 'x', shift);
    for (size_t at = shift; at + 4 < sizeof words; at += 4) {
      memcpy(words + at, "\xf0\x9f\x98\x80", 5);
    }
    (void)nd4c_fail(ND4C_ARGUMENT, "%s", words);
    const char *message = nd4c_error_message();
    assert_true(strlen(message) > 1000);
    assert_int_equal((strlen(message) - shift) % 4, 0);
  }
}

/* ASCII letters compare without case; other bytes that differ in the same bit are different. */
static void names_without_case(void **state) {
  (void)state;
  assert_true(nd4c_text_equals_any_case("OneDNN", "onednn"));
  assert_true(nd4c_text_equals_any_case("", ""));
  assert_false(nd4c_text_equals_any_case("cpu", "cpu0"));
  assert_false(nd4c_text_equals_any_case("cpu0", "cpu"));
  assert_false(nd4c_text_equals_any_case("a@[", "A`{"));
  assert_false(nd4c_text_equals_any_case("\xc3\x84", "\xc3\xa4")); /* not an ASCII letter */
  assert_true(nd4c_text_begins_any_case("CPU_3", "cpu", 3));
  assert_true(nd4c_text_begins_any_case("CPU", "cpu_3", 3));
  assert_false(nd4c_text_begins_any_case("CP", "cpu", 3));
}

static void names_stay_on_a_line(void **state) {
  (void)state;
  nd4c_text text = {0};
  nd4c_text_name(&text, "a\nb\r\tc\033[1m \xc3\xa9\xff");
  nd4c_text_name(&text, "");
  assert_string_equal(text.bytes, "a\\nb\\r\\tc?[1m \xc3\xa9?");
  nd4c_text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(characters), cmocka_unit_test(cleaning),
                                     cmocka_unit_test(names_stay_on_a_line), cmocka_unit_test(names_without_case),
                                     cmocka_unit_test(a_failure_ends_with_a_whole_character)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
