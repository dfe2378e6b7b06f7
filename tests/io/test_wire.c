/* The wire reader on well-formed and malformed bytes: its values, its refusals and their texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/wire.h"

/* Reads all fields; the status of the first that fails. The bytes lie in a block of exactly their size. */
static nd4c_status read_all(const char *bytes, size_t size, int *fields) {
  unsigned char *copy = malloc(size > 0 ? size : 1);
  assert_non_null(copy);
  memcpy(copy, bytes, size);
  nd4c_wire wire = nd4c_wire_open((nd4c_span){copy, size}, "Test");
  nd4c_status status = ND4C_OK;
  nd4c_wire_field field;
  *fields = 0;
  while (status == ND4C_OK && nd4c_wire_more(&wire)) {
    status = nd4c_wire_next(&wire, &field);
    *fields += status == ND4C_OK;
  }
  if (status == ND4C_OK) { /* no field is read beyond the end */
    assert_int_equal(nd4c_wire_next(&wire, &field), ND4C_FORMAT);
  }
  free(copy);
  return status;
}

typedef struct wire_case {
  const char *bytes;
  size_t size;
  int fields;        /* read before the end or the failure */
  const char *words; /* of the error, NULL: well-formed */
} wire_case;

#define BYTES(text) text, sizeof(text) - 1

static const wire_case cases[] = {
    {BYTES(""), 0, NULL},
    {BYTES("\x08\x96\x01"), 1, NULL},
    {BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 1, NULL},
    {BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), 0, "byte 1: a number in Test is longer than 64 bits"},
    {BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0, "byte 1: a number in Test is longer than 64 bits"},
    {BYTES("\x08"), 0, "byte 1: Test ends inside a number"},
    {BYTES("\x08\x80"), 0, "byte 1: Test ends inside a number"},
    {BYTES("\x80"), 0, "byte 0: Test ends inside a number"},
    {BYTES("\x0d\x01\x02\x03\x04\x08\x01"), 2, NULL},
    {BYTES("\x0d\x01\x02\x03"), 0, "byte 1: Test ends inside a 4-byte number: 3 bytes are left"},
    {BYTES("\x09\x01\x02\x03\x04\x05\x06\x07"), 0, "byte 1: Test ends inside a 8-byte number: 7 bytes are left"},
    {BYTES("\x12\x03"
           "abc"),
     1, NULL},
    {BYTES("\x12\x04"
           "abc"),
     0, "byte 1: a field of Test claims 4 bytes, but only 3 are left"},
    {BYTES("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0,
     "claims 18446744073709551615 bytes, but only 0 are left"},
    {BYTES("\x00"), 0, "byte 0: 0 is not a field tag"},
    {BYTES("\x07"), 0, "byte 0: 7 is not a field tag"},
    {BYTES("\x0e"), 0, "byte 0: 14 is not a field tag"},
    {BYTES("\xff\xff\xff\xff\xff\x0f"), 0, "is not a field tag"},
    {BYTES("\x0b\x10\x01\x13\x14\x0c\x08\x01"), 2, NULL}, /* a group in a group, then a number */
    {BYTES("\x0b\x10\x01"), 0, "ends inside a number"},
    {BYTES("\x0b\x14"), 0, "byte 1: end of group 2 where group 1 is open"},
    {BYTES("\x0c"), 0, "byte 0: end of group 1 in Test, but none is open"}};

static void reads_fields(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int fields = 0;
    nd4c_status status = read_all(cases[i].bytes, cases[i].size, &fields);
    bool as_expected = status == (cases[i].words == NULL ? ND4C_OK : ND4C_FORMAT) && fields == cases[i].fields &&
                       (cases[i].words == NULL || strstr(nd4c_error_message(), cases[i].words) != NULL);
    if (!as_expected) {
      fail_msg("case %zu: %s after %d fields: %s", i, nd4c_status_name(status), fields, nd4c_error_message());
    }
  }
}

static void limits_depth_of_groups(void **state) {
  (void)state;
  enum { MORE = 40, OPEN = ND4C_WIRE_DEPTH + MORE };
  char bytes[2 * OPEN];
  int fields = 0;
  memset(bytes, 0x0b, OPEN);
  memset(bytes + OPEN, 0x0c, OPEN);
  assert_int_equal(read_all(bytes, sizeof bytes, &fields), ND4C_FORMAT);
  assert_non_null(strstr(nd4c_error_message(), "nested deeper than 128"));
  assert_int_equal(read_all(bytes + MORE, sizeof bytes - 2 * MORE, &fields), ND4C_OK);
}

static void limits_depth_of_messages(void **state) {
  (void)state;
  nd4c_wire_field field = {.number = 1, .type = ND4C_WIRE_BYTES};
  nd4c_wire wire = nd4c_wire_open((nd4c_span){(const unsigned char *)"", 0}, "Test");
  field.bytes = (nd4c_span){wire.at, 0};
  nd4c_status status = ND4C_OK;
  int depth = 0;
  for (; status == ND4C_OK && depth < 1000; depth++) {
    nd4c_wire inner;
    status = nd4c_wire_enter(&wire, &field, "Inner", &inner);
    wire = inner;
  }
  assert_int_equal(status, ND4C_FORMAT);
  assert_int_equal(depth, ND4C_WIRE_DEPTH + 1);
}

static void checks_types(void **state) {
  (void)state;
  nd4c_wire wire = nd4c_wire_open((nd4c_span){(const unsigned char *)"", 0}, "Test");
  nd4c_wire_field field = {.number = 7, .type = ND4C_WIRE_VARINT, .value = 5, .offset = 3};
  int64_t number = 0;
  float real = 0;
  nd4c_span bytes;
  assert_int_equal(nd4c_wire_int(&wire, &field, &number), ND4C_OK);
  assert_int_equal(number, 5);
  assert_int_equal(nd4c_wire_float(&wire, &field, &real), ND4C_FORMAT);
  assert_string_equal(nd4c_error_message(), "byte 3: field 7 of Test has wire type varint, expected 32-bit");
  assert_int_equal(nd4c_wire_bytes(&wire, &field, &bytes), ND4C_FORMAT);
  field.type = ND4C_WIRE_BYTES;
  field.bytes = (nd4c_span){(const unsigned char *)"a\xff", 2};
  assert_int_equal(nd4c_wire_text(&wire, &field, &bytes), ND4C_FORMAT);
  assert_string_equal(nd4c_error_message(), "byte 3: field 7 of Test is not UTF-8 text: 'a?'");
}

/* Sum of a repeated field of two occurrences, packed or not. */
static void reads_lists(void **state) {
  (void)state;
  static const unsigned char packed[] = {1, 2, 0xac, 2};
  nd4c_wire wire = nd4c_wire_open((nd4c_span){packed, sizeof packed}, "Test");
  nd4c_wire_field field = {.number = 1, .type = ND4C_WIRE_BYTES, .bytes = {packed, sizeof packed}};
  nd4c_wire_list list;
  uint64_t value = 0;
  uint64_t sum = 0;
  assert_int_equal(nd4c_wire_list_open(&wire, &field, ND4C_WIRE_VARINT, &list), ND4C_OK);
  while (nd4c_wire_list_more(&list) && nd4c_wire_list_next(&list, &value) == ND4C_OK) {
    sum += value;
  }
  assert_int_equal(sum, 303);
  field.bytes.size = 3;
  assert_int_equal(nd4c_wire_list_open(&wire, &field, ND4C_WIRE_FIXED32, &list), ND4C_OK);
  assert_int_equal(nd4c_wire_list_next(&list, &value), ND4C_FORMAT);
  field = (nd4c_wire_field){.number = 1, .type = ND4C_WIRE_VARINT, .value = 9};
  assert_int_equal(nd4c_wire_list_open(&wire, &field, ND4C_WIRE_VARINT, &list), ND4C_OK);
  assert_true(nd4c_wire_list_more(&list));
  assert_int_equal(nd4c_wire_list_next(&list, &value), ND4C_OK);
  assert_int_equal(value, 9);
  assert_false(nd4c_wire_list_more(&list));
}

static void shows_and_checks_text(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t size;
    bool is_text;
    const char *shown;
  } texts[] = {{BYTES("conv"), true, "'conv'"},
               {BYTES("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), true, "'\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80'"},
               {BYTES("a\0b"), false, "'a?b'"},
               {BYTES("\x1b[31m"), true, "'?[31m'"},
               {BYTES("\xc0\x80"), false,
                "'?"
                "?'"}, /* overlong */
               {BYTES("\xed\xa0\x80"), false,
                "'?"
                "?"
                "?'"}, /* surrogate */
               {BYTES("\xf4\x90\x80\x80"), false,
                "'?"
                "?"
                "?"
                "?'"}, /* beyond the last code point */
               {BYTES("\xe2\x82"), false,
                "'?"
                "?'"}, /* cut */
               {"", 0, true, "''"}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    nd4c_span slice = {(const unsigned char *)texts[i].bytes, texts[i].size};
    assert_int_equal(nd4c_span_is_text(slice), texts[i].is_text);
    assert_string_equal(nd4c_span_show(slice).text, texts[i].shown);
  }
  char many[300];
  memset(many, 'x', sizeof many);
  const nd4c_span_text shown = nd4c_span_show((nd4c_span){(const unsigned char *)many, sizeof many});
  assert_true(strlen(shown.text) < ND4C_SPAN_TEXT_SIZE);
  assert_non_null(strstr(shown.text, "x...'"));
}

static void utf8_round_trip(void **state) {
  (void)state;
  for (uint32_t code = 0; code < 0x110000; code++) {
    unsigned char bytes[4];
    uint32_t decoded = 0;
    if (code >= 0xd800 && code <= 0xdfff) {
      continue;
    }
    size_t length = nd4c_utf8_encode(code, bytes);
    if (nd4c_utf8_decode(bytes, length, &decoded) != length || decoded != code) {
      fail_msg("code point %#x", (unsigned)code);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reads_fields),
                                     cmocka_unit_test(limits_depth_of_groups),
                                     cmocka_unit_test(limits_depth_of_messages),
                                     cmocka_unit_test(checks_types),
                                     cmocka_unit_test(reads_lists),
                                     cmocka_unit_test(shows_and_checks_text),
                                     cmocka_unit_test(utf8_round_trip)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
