/* Sorting, selecting and counting of random numbers. Prints lines of JSON; the fraction of the limit compares with
 * reading and writing as many bytes once. */
#include "measure.h"
#include "op_row.h"

static void measure(nd4c_dtype dtype, int64_t count) {
  nd4c_array *x = bench_random(dtype, 1, &count);
  const bench_op_row rows[] = {
      {.name = "sort", .op = ND4C_OP_sort, .inputs = {x}},
      {.name = "argsort", .op = ND4C_OP_argsort, .inputs = {x}},
      {.name = "top_k, 100", .op = ND4C_OP_top_k, .inputs = {x}, .attrs = {BENCH_INT("k", 100)}},
      {.name = "unique_values", .op = ND4C_OP_unique_values, .inputs = {x}, .fresh = true},
      {.name = "nonzero", .op = ND4C_OP_nonzero, .inputs = {x}, .fresh = true},
      {.name = "histogram, 100 bins", .op = ND4C_OP_histogram, .inputs = {x}, .attrs = {BENCH_INT("bins", 100)}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    bench_op_row_run(&rows[i]);
  }
  nd4c_array_release(x);
}

int main(void) {
  static const int64_t counts[] = {1000, 100000, 1000000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    measure(ND4C_FLOAT32, counts[i]);
    measure(ND4C_FLOAT64, counts[i]);
  }
  return 0;
}
