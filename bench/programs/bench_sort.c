/* Sorting, selecting, counting, searching and transforming random numbers. Prints lines of JSON; the fraction of the
 * limit compares with reading and writing as many bytes once. */
#include "bench/measure.h"
#include "bench/op_row.h"

static void measure(nd4c_dtype dtype, int64_t count) {
  const int64_t sides[2] = {count / 1000, 1000};
  nd4c_array *x = bench_random(dtype, 1, &count), *rows_of_x = bench_random(dtype, 2, sides);
  nd4c_array *sorted = NULL, *state = NULL;
  bench_check(nd4c_sort(x, -1, false, &sorted), "nd4c_sort");
  bench_check(nd4c_array_from_data(ND4C_UINT64, 1, (const int64_t[]){2}, (const uint64_t[]){1, 2}, NULL, &state),
              "nd4c_array_from_data");
  const bench_op_row rows[] = {
      {.name = "sort", .op = ND4C_OP_sort, .inputs = {x}},
      {.name = "argsort", .op = ND4C_OP_argsort, .inputs = {x}},
      {.name = "top_k, 100", .op = ND4C_OP_top_k, .inputs = {x}, .attrs = {BENCH_INT("k", 100)}},
      {.name = "unique_values", .op = ND4C_OP_unique_values, .inputs = {x}, .fresh = true},
      {.name = "nonzero", .op = ND4C_OP_nonzero, .inputs = {x}, .fresh = true},
      {.name = "histogram, 100 bins", .op = ND4C_OP_histogram, .inputs = {x}, .attrs = {BENCH_INT("bins", 100)}},
      {.name = "median", .op = ND4C_OP_median, .inputs = {x}},
      {.name = "searchsorted", .op = ND4C_OP_searchsorted, .inputs = {sorted, x}},
      {.name = "rfft", .op = ND4C_OP_rfft, .inputs = {x}},
      {.name = "rfft of rows", .op = ND4C_OP_rfft, .inputs = {rows_of_x}},
      {.name = "random_permutation",
       .op = ND4C_OP_random_permutation,
       .inputs = {state},
       .attrs = {BENCH_INT("n", count)}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bench_op_row_run(&rows[i]);
  }
  nd4c_array *all[] = {x, rows_of_x, sorted, state};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    nd4c_array_release(all[i]);
  }
}

int main(void) {
  static const int64_t counts[] = {1000, 100000, 1000000, 10000000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    measure(ND4C_FLOAT32, counts[i]);
    measure(ND4C_FLOAT64, counts[i]);
  }
  return 0;
}
