/* Paddings and output extents of one window axis, which tests of inference do not show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops/op.h"

typedef struct window_record {
  int64_t input, kernel, stride, dilation, auto_pad;
  bool ceil_mode;
  int64_t pad_begin, pad_end, output; /* expected */
} window_record;

static nd4c_status resolve(const window_record *record, nd4c_window *window) {
  const nd4c_attr_value strides = {.kind = ND4C_ATTR_INTS, .count = 1, .as.ints = &record->stride};
  const nd4c_attr_value dilations = {.kind = ND4C_ATTR_INTS, .count = 1, .as.ints = &record->dilation};
  const int64_t explicit_pads[] = {record->pad_begin, record->pad_end};
  const bool given = record->auto_pad == ND4C_AUTO_PAD_EXPLICIT;
  const nd4c_attr_value pads = {.kind = ND4C_ATTR_INTS, .count = given ? 2 : 0, .as.ints = explicit_pads};
  const nd4c_inference inference = {.op = nd4c_op_get(ND4C_OP_max_pool)};
  return nd4c_window_resolve(&inference, 1, &record->input, &record->kernel, &strides, &pads, &dilations,
                             record->auto_pad, record->ceil_mode, window);
}

static void paddings_and_extents(void **state) {
  (void)state;
  enum { GIVEN = ND4C_AUTO_PAD_EXPLICIT, UPPER = ND4C_AUTO_PAD_SAME_UPPER, LOWER = ND4C_AUTO_PAD_SAME_LOWER };
  enum { VALID = ND4C_AUTO_PAD_VALID };
  const int64_t huge = INT64_MAX;
  const window_record records[] = {
      {8, 3, 1, 1, GIVEN, false, 1, 2, 9},         {8, 3, 2, 1, GIVEN, false, 0, 0, 3},
      {8, 3, 2, 1, GIVEN, true, 0, 0, 4},          {7, 3, 2, 1, GIVEN, true, 0, 0, 3},
      {2, 1, 2, 1, GIVEN, true, 0, 0, 1},          {3, 2, 3, 1, GIVEN, true, 0, 1, 1},
      {3, 2, 3, 1, GIVEN, true, 1, 1, 2},          {8, 3, 1, 2, GIVEN, false, 0, 0, 4},
      {8, 2, 1, 1, UPPER, false, 0, 1, 8},         {8, 2, 1, 1, LOWER, false, 1, 0, 8},
      {8, 3, 2, 1, UPPER, false, 0, 1, 4},         {8, 3, 2, 1, LOWER, false, 1, 0, 4},
      {7, 3, 1, 2, UPPER, false, 2, 2, 7},         {8, 1, 3, 1, UPPER, false, 0, 0, 3},
      {0, 3, 1, 1, LOWER, false, 0, 0, 0},         {8, 3, 2, 1, VALID, false, 0, 0, 3},
      {8, 3, 2, 1, VALID, true, 0, 0, 4},          {huge, 1, 1, 1, UPPER, false, 0, 0, INT64_MAX},
      {1, 2, 2, 1, GIVEN, true, 0, 0, 1},          {2, 3, 3, 2, GIVEN, true, 1, 0, 1},
      {huge, 1, huge, huge, VALID, true, 0, 0, 1}, {1, huge, 1, 1, UPPER, false, INT64_MAX / 2, INT64_MAX / 2, 1},
  };
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    nd4c_window window;
    nd4c_status status = resolve(&records[i], &window);
    if (status != ND4C_OK || window.pad_begin[0] != records[i].pad_begin || window.pad_end[0] != records[i].pad_end ||
        window.output[0] != records[i].output) {
      fail_msg("record %zu: status %s, pads %lld and %lld, output %lld", i, nd4c_status_name(status),
               (long long)window.pad_begin[0], (long long)window.pad_end[0], (long long)window.output[0]);
    }
  }
}

/* A window that reaches beyond the input by a step or more begins outside, also in ceil mode. */
static void long_windows_are_refused(void **state) {
  (void)state;
  const window_record records[] = {{1, 3, 2, 1, ND4C_AUTO_PAD_EXPLICIT, true, 0, 0, 0},
                                   {1, 2, 2, 1, ND4C_AUTO_PAD_EXPLICIT, false, 0, 0, 0},
                                   {0, 2, 3, 1, ND4C_AUTO_PAD_EXPLICIT, true, 0, 0, 0}};
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    nd4c_window window;
    assert_int_equal(resolve(&records[i], &window), ND4C_SHAPE);
  }
}

static void wrong_axes_are_refused(void **state) {
  (void)state;
  const int64_t extents[] = {1, 1, 1, 1};
  const nd4c_attr_value none = {.kind = ND4C_ATTR_INTS};
  const int32_t counts[] = {-1, 0, 4};
  const char *const texts[] = {"conv: -1 spatial axes given, expected 1 to 3",
                               "conv: 0 spatial axes given, expected 1 to 3",
                               "conv: 4 spatial axes given, expected 1 to 3"};
  for (int32_t i = 0; i < 3; i++) {
    nd4c_window window;
    const nd4c_inference inference = {.op = nd4c_op_get(ND4C_OP_conv)};
    assert_int_equal(
        nd4c_window_resolve(&inference, counts[i], extents, extents, &none, &none, &none, 0, false, &window),
        ND4C_SHAPE);
    assert_string_equal(nd4c_error_message(), texts[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(paddings_and_extents), cmocka_unit_test(long_windows_are_refused),
                                     cmocka_unit_test(wrong_axes_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
