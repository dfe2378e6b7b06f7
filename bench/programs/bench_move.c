/* Ops that move elements: copies of transposed and strided views, joining, padding, picking, placing, masks. Prints
 * lines of JSON; the fraction of the limit compares with reading and writing as many bytes in order. */
#include "bench/measure.h"
#include "bench/op_row.h"

static nd4c_array *transposed(nd4c_array *x, const int64_t *axes, int32_t rank) {
  nd4c_array *view = NULL;
  bench_check(nd4c_transpose(x, axes, rank, &view), "nd4c_transpose");
  return view;
}

static void measure(nd4c_dtype dtype) {
  const int64_t square[2] = {4096, 4096}, images[4] = {32, 64, 56, 56}, cube[3] = {256, 256, 256};
  nd4c_array *x = bench_random(dtype, 2, square), *y = bench_random(dtype, 2, square);
  nd4c_array *nchw = bench_random(dtype, 4, images), *xyz = bench_random(dtype, 3, cube);
  nd4c_array *turned = transposed(x, (const int64_t[]){1, 0}, 2);
  nd4c_array *nhwc = transposed(nchw, (const int64_t[]){0, 2, 3, 1}, 4);
  nd4c_array *zyx = transposed(xyz, (const int64_t[]){2, 1, 0}, 3);
  const bench_op_row rows[] = {
      {.name = "copy", .op = ND4C_OP_copy, .inputs = {x}},
      {.name = "copy of the transpose", .op = ND4C_OP_copy, .inputs = {turned}},
      {.name = "copy of NCHW as NHWC", .op = ND4C_OP_copy, .inputs = {nhwc}},
      {.name = "copy of x y z as z y x", .op = ND4C_OP_copy, .inputs = {zyx}},
      {.name = "concat of rows", .op = ND4C_OP_concat, .inputs = {x, y}, .attrs = {BENCH_INT("axis", 0)}},
      {.name = "concat of columns", .op = ND4C_OP_concat, .inputs = {x, y}, .attrs = {BENCH_INT("axis", 1)}},
      {.name = "add of the transpose", .op = ND4C_OP_add, .inputs = {x, turned}},
      {.name = "flip", .op = ND4C_OP_flip, .inputs = {x}},
      {.name = "tril", .op = ND4C_OP_tril, .inputs = {x}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bench_op_row_run(&rows[i]);
  }
  nd4c_array *all[] = {x, y, nchw, xyz, turned, nhwc, zyx};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    nd4c_array_release(all[i]);
  }
}

static nd4c_array *numbers(int64_t count, int64_t low, int64_t high) {
  const uint64_t seed[2] = {2, 0};
  const int64_t two = 2;
  nd4c_array *state = NULL, *array = NULL;
  bench_check(nd4c_array_from_data(ND4C_UINT64, 1, &two, seed, NULL, &state), "nd4c_array_from_data");
  bench_check(nd4c_random_integers(state, &count, 1, low, high, ND4C_INT64, &array), "nd4c_random_integers");
  nd4c_array_release(state);
  return array;
}

/* Ops whose order of accesses depends on the data, and ops that add elements around or between others. */
static void measure_picked(nd4c_dtype dtype) {
  const int64_t rows[2] = {30000, 768}, n = 10000000, some = 1000000;
  const int64_t square[2] = {4096, 4096}, row = 4096, image[2] = {1000000, 3}, three = 3;
  nd4c_array *table = bench_random(dtype, 2, rows), *updates = bench_random(dtype, 2, rows);
  nd4c_array *line = bench_random(dtype, 1, &n), *few = bench_random(dtype, 1, &some);
  nd4c_array *x = bench_random(dtype, 2, square), *y = bench_random(dtype, 1, &row);
  nd4c_array *pixels = bench_random(dtype, 2, image), *pixel = bench_random(dtype, 1, &three);
  nd4c_array *row_places = numbers(30000, 0, 30000), *places = numbers(some, 0, n);
  nd4c_array *halves = numbers(n, 0, 2), *mask = NULL;
  bench_check(nd4c_cast(halves, ND4C_BOOL, &mask), "nd4c_cast");
  static const int64_t pads[4] = {1, 1, 1, 1}, repeats[2] = {2, 2}, one_axis[1] = {0}, eight[1] = {8}, shift[1] = {100};
  const bench_op_row table_of_rows[] = {
      {.name = "gather of rows", .op = ND4C_OP_gather, .inputs = {table, row_places}},
      {.name = "take, a tenth", .op = ND4C_OP_take, .inputs = {line, places}},
      {.name = "scatter_add of rows", .op = ND4C_OP_scatter_add, .inputs = {table, row_places, updates}},
      {.name = "scatter_elements, a tenth", .op = ND4C_OP_scatter_elements, .inputs = {line, places, few}},
      {.name = "masked_select, half", .op = ND4C_OP_masked_select, .inputs = {line, mask}, .fresh = true},
      {.name = "pad by 1", .op = ND4C_OP_pad, .inputs = {x}, .attrs = {BENCH_INTS("pads", pads)}},
      {.name = "tile by 2 x 2", .op = ND4C_OP_tile, .inputs = {x}, .attrs = {BENCH_INTS("repeats", repeats)}},
      {.name = "repeat by 8",
       .op = ND4C_OP_repeat,
       .inputs = {few},
       .attrs = {BENCH_INTS("repeats", eight), BENCH_INTS("axes", one_axis)}},
      {.name = "roll by 100",
       .op = ND4C_OP_roll,
       .inputs = {x},
       .attrs = {BENCH_INTS("shifts", shift), BENCH_INTS("axes", one_axis)}},
      {.name = "add of a row", .op = ND4C_OP_add, .inputs = {x, y}},
      {.name = "add of a row of 3", .op = ND4C_OP_add, .inputs = {pixels, pixel}},
  };
  for (size_t i = 0; i < sizeof table_of_rows / sizeof *table_of_rows; i++) {
    bench_op_row_run(&table_of_rows[i]);
  }
  nd4c_array *all[] = {table, updates, line, few, x, y, pixels, pixel, row_places, places, halves, mask};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    nd4c_array_release(all[i]);
  }
}

int main(void) {
  measure(ND4C_FLOAT32);
  measure(ND4C_FLOAT64);
  measure_picked(ND4C_FLOAT32);
  return 0;
}
