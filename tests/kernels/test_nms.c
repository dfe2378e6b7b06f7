/* The nms kernel of engine simd against engine reference: the same rows, bit for bit, for more boxes than one block and
 * one sorted piece hold, ties, overlaps that are exactly the threshold, boxes without an area, numbers that are not
 * finite, both forms of boxes, all dtypes of scores and their layouts. */
#include <math.h>

#include "kernel_call.h"

typedef struct nms_case {
  nd4c_dtype boxes, scores;
  int64_t images, classes, count;
  double most, overlap, least; /* NAN: left out */
  bool center;
  layout how; /* of the scores */
} nms_case;

static const nms_case cases[] = {
    {ND4C_FLOAT32, ND4C_FLOAT32, 1, 1, 2100, NAN, 0.5, NAN, false, C_ORDER},
    {ND4C_FLOAT32, ND4C_FLOAT32, 2, 3, 1030, 40, 0.25, 0.1, false, C_ORDER},
    {ND4C_FLOAT32, ND4C_FLOAT32, 1, 2, 700, 5, 0.0, -0.5, true, SPARSE},
    {ND4C_FLOAT32, ND4C_FLOAT32, 1, 2, 500, 3, -0.5, NAN, false, SWAPPED},
    {ND4C_FLOAT32, ND4C_FLOAT64, 1, 2, 1500, NAN, 1.0 / 3, 1.0 / 3, false, SPARSE},
    {ND4C_FLOAT64, ND4C_FLOAT64, 2, 1, 1100, 60, 0.7, NAN, true, C_ORDER},
    {ND4C_FLOAT64, ND4C_FLOAT32, 1, 1, 400, NAN, 1e-7, 0.25, false, C_ORDER},
    {ND4C_FLOAT16, ND4C_FLOAT16, 1, 2, 1300, 200, 0.5, 1.0 / 3, false, C_ORDER},
    {ND4C_BFLOAT16, ND4C_BFLOAT16, 1, 2, 900, 30, 0.999999, 0.3, true, SPARSE},
    {ND4C_FLOAT32, ND4C_FLOAT32, 1, 1, 300, NAN, 2.5, (double)INFINITY, false, C_ORDER},
    {ND4C_FLOAT32, ND4C_FLOAT32, 1, 1, 300, NAN, 1.0, -(double)INFINITY, false, C_ORDER},
    {ND4C_FLOAT32, ND4C_FLOAT32, 1, 1, 1, 0, 0.5, 0.0, false, C_ORDER},
    {ND4C_FLOAT32, ND4C_FLOAT32, 1, 1, 40, -3, 0.5, 0.0, false, C_ORDER},
    {ND4C_FLOAT32, ND4C_FLOAT32, 2, 0, 40, NAN, 0.5, 0.0, false, C_ORDER},
    {ND4C_FLOAT32, ND4C_FLOAT32, 1, 2, 0, NAN, 0.5, 0.0, false, C_ORDER},
};

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state >> 20;
}

/* Boxes with few different edges, some of them tiny, huge, reversed or not finite. */
static void fill_boxes(operand *op, uint64_t *random) {
  static const double rare[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e-30, 3e38, -0.0};
  const int64_t size = shape_size(op->rank, op->shape);
  for (int64_t i = 0; i < size; i++) {
    const bool end = i % 4 >= 2;
    double value = (double)(next_random(random) % 24) / 4 + (end ? 1 : 0);
    if (next_random(random) % 64 == 0) {
      value = rare[next_random(random) % (sizeof rare / sizeof *rare)];
    }
    nd4c_value_store(op->dtype, op->memory, i, (nd4c_value){.f = value});
  }
}

static void fill_scores(operand *op, uint64_t *random) {
  int64_t index[8] = {0};
  for (int64_t i = shape_size(op->rank, op->shape); i > 0; i--, nd4c_index_next(op->rank, op->shape, index)) {
    double value = (double)(next_random(random) % 400) / 300 - 0.25;
    value = next_random(random) % 50 == 0 ? (double)NAN : next_random(random) % 50 == 0 ? -0.0 : value;
    nd4c_value_store(op->dtype, op->memory, nd4c_index_offset(op->rank, index, op->strides), (nd4c_value){.f = value});
  }
}

static void make_operand(call_frame *frame, int32_t input, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                         layout how) {
  operand *op = &frame->operands[input];
  op->dtype = dtype;
  op->rank = rank;
  memcpy(op->shape, shape, (size_t)rank * sizeof *shape);
  lay_out(op, how);
}

static void make_single(call_frame *frame, int32_t input, nd4c_dtype dtype, double value) {
  if (isnan(value)) {
    frame->operands[input].dtype = ND4C_DTYPE_NONE;
    return;
  }
  make_operand(frame, input, dtype, 1, (const int64_t[]){1}, C_ORDER);
  nd4c_value_store(dtype, frame->operands[input].memory, 0,
                   dtype == ND4C_INT64 ? (nd4c_value){.i = (int64_t)value} : (nd4c_value){.f = value});
}

static void make_call(call_frame *frame, const nms_case *c) {
  uint64_t random = UINT64_C(0x9E3779B97F4A7C15);
  make_operand(frame, 0, c->boxes, 3, (const int64_t[]){c->images, c->count, 4}, C_ORDER);
  make_operand(frame, 1, c->scores, 3, (const int64_t[]){c->images, c->classes, c->count}, c->how);
  fill_boxes(&frame->operands[0], &random);
  fill_scores(&frame->operands[1], &random);
  make_single(frame, 2, ND4C_INT64, c->most);
  make_single(frame, 3, ND4C_FLOAT64, c->overlap);
  make_single(frame, 4, ND4C_FLOAT64, c->least);
  ready(frame, "nms", 5, (const nd4c_attr_value[]){{.kind = ND4C_ATTR_BOOL, .as.i = c->center}}, C_ORDER);
}

/* Rows of the result, copied; the caller frees them. */
static int64_t *run_rows(const char *engine, call_frame *frame, int32_t width, int64_t *count) {
  int64_t extents[ND4C_MAX_RANK] = {-1, -1}, *shapes[] = {extents};
  const nd4c_kernel *kernel = engine_kernel("nms", engine);
  char reason[TEXT_SIZE] = "";
  assert_non_null(kernel);
  assert_true(kernel->usable(&frame->call, reason, sizeof reason));
  frame->call.width = width;
  frame->call.true_shapes = shapes;
  run_kernel(kernel, frame);
  assert_int_equal(extents[1], 3);
  assert_true(extents[0] >= 0 && extents[0] <= frame->output.shape[0]);
  *count = extents[0];
  int64_t *rows = malloc((size_t)(3 * extents[0] + 1) * sizeof *rows);
  assert_non_null(rows);
  memcpy(rows, frame->result.memory, (size_t)(3 * extents[0]) * sizeof *rows);
  return rows;
}

static void test_same_rows_as_the_reference(void **state) {
  int64_t chosen = 0;
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    call_frame frame = {0};
    int64_t expected_count = 0;
    make_call(&frame, &cases[i]);
    int64_t *expected = run_rows("reference", &frame, 1, &expected_count);
    for (int32_t width = 1; width <= 3; width += 2) {
      int64_t count = 0, *rows = run_rows("simd", &frame, width, &count);
      if (count != expected_count || memcmp(rows, expected, (size_t)(3 * count) * sizeof *rows) != 0) {
        fail_msg("case %d, width %d: %lld rows, expected %lld", (int)i, (int)width, (long long)count,
                 (long long)expected_count);
      }
      free(rows);
    }
    chosen += expected_count;
    free(expected);
    release(&frame);
  }
  assert_true(chosen > 1000); /* the cases choose boxes, and so do more blocks than one */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_rows_as_the_reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
