/* Layouts: refusals, sizes in bytes, equality and hash, and the places of blocked elements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array/layout.h"

/* oneDNN's OIhw4i16o4i of weights [20, 10, 3, 3], padded to 32 and 16. */
static nd4c_layout make_blocked(void) {
  return (nd4c_layout){.struct_size = ND4C_SIZE_OF(nd4c_layout),
                       .tag = ND4C_LAYOUT_BLOCKED,
                       .dtype = ND4C_FLOAT32,
                       .bytes = 32 * 16 * 9 * 4,
                       .rank = 4,
                       .shape = {20, 10, 3, 3},
                       .padded = {32, 16, 3, 3},
                       .strides = {2304, 2304, 768, 256},
                       .block_count = 3,
                       .block_axes = {1, 0, 1},
                       .block_extents = {4, 16, 4}};
}

/* ggml's q8_0: 32 elements become a scale of two bytes and 32 bytes. */
static nd4c_layout make_quantised(void) {
  return (nd4c_layout){.struct_size = ND4C_SIZE_OF(nd4c_layout),
                       .tag = ND4C_LAYOUT_QUANTISED,
                       .dtype = ND4C_FLOAT32,
                       .bytes = 3 * 2 * 34,
                       .rank = 2,
                       .shape = {3, 64},
                       .axis = 1,
                       .block_elements = 32,
                       .block_bytes = 34,
                       .format = "q8_0"};
}

static nd4c_layout make_opaque(void) {
  return (nd4c_layout){.struct_size = ND4C_SIZE_OF(nd4c_layout),
                       .tag = ND4C_LAYOUT_OPAQUE,
                       .dtype = ND4C_FLOAT32,
                       .bytes = 100,
                       .rank = 1,
                       .shape = {25},
                       .owner = "acme",
                       .fingerprint = 7};
}

static void sound_ones_are_accepted(void **state) {
  (void)state;
  nd4c_layout layouts[] = {make_blocked(), make_quantised(), make_opaque()};
  const int64_t needed[] = {32 * 16 * 9 * 4, 204, 100};
  for (size_t i = 0; i < 3; i++) {
    int64_t bytes = 0;
    assert_int_equal(nd4c_layout_check(&layouts[i], "test"), ND4C_OK);
    assert_true(nd4c_layout_needs(&layouts[i], &bytes));
    assert_int_equal(bytes, needed[i]);
  }
  nd4c_layout beside = make_quantised(); /* separate scales behind the blocks */
  beside.side_offset = 208;
  beside.side_bytes = 12;
  beside.bytes = 220;
  assert_int_equal(nd4c_layout_check(&beside, "test"), ND4C_OK);
}

typedef void (*spoil)(nd4c_layout *layout);

#define SPOIL(name, line)                 \
  static void name(nd4c_layout *layout) { \
    line;                                 \
  }
SPOIL(short_struct, layout->struct_size = 16)
SPOIL(odd_tag, layout->tag = 17)
SPOIL(strided_tag, layout->tag = ND4C_LAYOUT_STRIDED)
SPOIL(no_rank, layout->rank = 0)
SPOIL(high_rank, layout->rank = ND4C_LAYOUT_AXES + 1)
SPOIL(negative_rank, layout->rank = INT32_MIN)
SPOIL(no_extent, layout->shape[0] = 0)
SPOIL(huge_extent, layout->shape[0] = layout->padded[0] = INT64_MAX / 32 * 32)
SPOIL(few_bytes, layout->bytes -= 1)
SPOIL(many_bytes, layout->bytes = INT64_MAX)
SPOIL(negative_bytes, layout->bytes = INT64_MIN)
SPOIL(many_blocks, layout->block_count = ND4C_LAYOUT_BLOCKS + 1)
SPOIL(negative_blocks, layout->block_count = -1)
SPOIL(odd_axis, layout->block_axes[2] = 4)
SPOIL(negative_axis, layout->block_axes[0] = -1)
SPOIL(no_block, layout->block_extents[1] = 0)
SPOIL(huge_blocks, layout->block_extents[0] = layout->block_extents[2] = INT64_C(1) << 40)
SPOIL(little_padding, layout->padded[0] = 16)
SPOIL(odd_padding, layout->padded[1] = 17)
SPOIL(no_stride, layout->strides[3] = 0)
SPOIL(huge_stride, layout->strides[0] = INT64_MAX)
SPOIL(no_dtype, layout->dtype = ND4C_DTYPE_NONE)
SPOIL(no_format, layout->format[0] = '\0')
SPOIL(endless_format, memset(layout->format, 'q', sizeof layout->format))
SPOIL(first_axis, layout->axis = 0)
SPOIL(part_of_a_block, layout->block_elements = 48)
SPOIL(no_elements, layout->block_elements = 0)
SPOIL(no_block_bytes, layout->block_bytes = 0)
SPOIL(negative_side, layout->side_bytes = -1)
SPOIL(side_within, (layout->side_bytes = 4, layout->side_offset = 8))
SPOIL(huge_side, (layout->side_bytes = INT64_MAX, layout->side_offset = INT64_MAX))
SPOIL(no_owner, layout->owner[0] = '\0')

static void odd_ones_are_refused(void **state) {
  (void)state;
  static const struct {
    nd4c_layout (*make)(void);
    spoil spoil;
  } cases[] = {{make_blocked, short_struct},     {make_blocked, odd_tag},           {make_blocked, strided_tag},
               {make_blocked, no_rank},          {make_blocked, high_rank},         {make_blocked, negative_rank},
               {make_blocked, no_extent},        {make_blocked, huge_extent},       {make_blocked, few_bytes},
               {make_blocked, many_bytes},       {make_blocked, negative_bytes},    {make_blocked, many_blocks},
               {make_blocked, negative_blocks},  {make_blocked, odd_axis},          {make_blocked, negative_axis},
               {make_blocked, no_block},         {make_blocked, huge_blocks},       {make_blocked, little_padding},
               {make_blocked, odd_padding},      {make_blocked, no_stride},         {make_blocked, huge_stride},
               {make_blocked, no_dtype},         {make_quantised, no_format},       {make_quantised, endless_format},
               {make_quantised, first_axis},     {make_quantised, part_of_a_block}, {make_quantised, no_elements},
               {make_quantised, no_block_bytes}, {make_quantised, negative_side},   {make_quantised, side_within},
               {make_quantised, huge_side},      {make_quantised, few_bytes},       {make_quantised, no_dtype},
               {make_opaque, no_owner},          {make_opaque, negative_bytes}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd4c_layout layout = cases[i].make();
    cases[i].spoil(&layout);
    if (nd4c_layout_check(&layout, "test") != ND4C_ABI) {
      fail_msg("case %zu is accepted", i);
    }
  }
}

static void all_that_counts_makes_them_differ(void **state) {
  (void)state;
  static const spoil changes[] = {no_extent, few_bytes, odd_axis, no_block, little_padding, no_stride, no_dtype};
  nd4c_layout layout = make_blocked(), same = make_blocked();
  same.padded[7] = same.strides[9] = same.block_extents[4] = 99; /* beyond rank and block_count */
  memset(same.format, 'x', sizeof same.format);
  assert_true(nd4c_layout_equal(&layout, &same));
  assert_int_equal(nd4c_layout_hash(&layout), nd4c_layout_hash(&same));
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    nd4c_layout other = make_blocked();
    changes[i](&other);
    assert_false(nd4c_layout_equal(&layout, &other));
    assert_int_not_equal(nd4c_layout_hash(&layout), nd4c_layout_hash(&other));
  }
  nd4c_layout q8 = make_quantised(), q4 = make_quantised(), opaque = make_opaque(), opaque_too = make_opaque();
  q4.format[1] = '4';
  opaque_too.fingerprint = 8;
  assert_false(nd4c_layout_equal(&q8, &q4));
  assert_false(nd4c_layout_equal(&opaque, &opaque_too));
  assert_int_not_equal(nd4c_layout_hash(&opaque), nd4c_layout_hash(&opaque_too));
  assert_false(nd4c_layout_equal(&layout, NULL));
  assert_true(nd4c_layout_equal(NULL, NULL));
}

/* Each element has a separate place within the bytes; some places are checked against oneDNN's documentation. */
static void blocked_elements_have_places(void **state) {
  (void)state;
  const nd4c_layout layout = make_blocked();
  const int64_t count = layout.bytes / 4;
  char *taken = calloc((size_t)count, 1);
  int64_t index[4];
  for (index[0] = 0; index[0] < 20; index[0]++) {
    for (index[1] = 0; index[1] < 10; index[1]++) {
      for (index[2] = 0; index[2] < 3; index[2]++) {
        for (index[3] = 0; index[3] < 3; index[3]++) {
          const int64_t at = nd4c_layout_offset(&layout, index);
          assert_in_range(at, 0, count - 1);
          assert_int_equal(taken[at]++, 0);
        }
      }
    }
  }
  free(taken);
  assert_int_equal(nd4c_layout_offset(&layout, (int64_t[]){0, 1, 0, 0}), 1);
  assert_int_equal(nd4c_layout_offset(&layout, (int64_t[]){1, 0, 0, 0}), 4);
  assert_int_equal(nd4c_layout_offset(&layout, (int64_t[]){0, 4, 0, 0}), 64);
  assert_int_equal(nd4c_layout_offset(&layout, (int64_t[]){17, 6, 2, 1}), 2304 + 2 * 768 + 256 + 64 + 4 + 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sound_ones_are_accepted), cmocka_unit_test(odd_ones_are_refused),
                                     cmocka_unit_test(all_that_counts_makes_them_differ),
                                     cmocka_unit_test(blocked_elements_have_places)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
