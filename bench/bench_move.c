/* Ops that move elements: copies of transposed and strided views, joining, picking. Prints lines of JSON; the fraction
 * of the limit compares with reading and writing as many bytes in order. */
#include "measure.h"
#include "op_row.h"

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
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    bench_op_row_run(&rows[i]);
  }
  nd4c_array *all[] = {x, y, nchw, xyz, turned, nhwc, zyx};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    nd4c_array_release(all[i]);
  }
}

int main(void) {
  measure(ND4C_FLOAT32);
  measure(ND4C_FLOAT64);
  return 0;
}
