/* Softmax, normalisations and cumulative ops over the last and the first axis. Prints lines of JSON; the fraction of
 * the limit compares with reading and writing as many bytes once. */
#include "measure.h"
#include "op_row.h"

static void measure(nd4c_dtype dtype) {
  const int64_t square[2] = {4096, 4096};
  nd4c_array *x = bench_random(dtype, 2, square), *scale = bench_random(dtype, 1, square);
  const bench_op_row rows[] = {
      {.name = "softmax, last axis", .op = ND4C_OP_softmax, .inputs = {x}, .attrs = {BENCH_INT("axis", 1)}},
      {.name = "softmax, first axis", .op = ND4C_OP_softmax, .inputs = {x}, .attrs = {BENCH_INT("axis", 0)}},
      {.name = "log_softmax, last axis", .op = ND4C_OP_log_softmax, .inputs = {x}, .attrs = {BENCH_INT("axis", 1)}},
      {.name = "log_softmax, first axis", .op = ND4C_OP_log_softmax, .inputs = {x}, .attrs = {BENCH_INT("axis", 0)}},
      {.name = "layer_norm", .op = ND4C_OP_layer_norm, .inputs = {x, scale, scale}},
      {.name = "rms_norm", .op = ND4C_OP_rms_norm, .inputs = {x, scale}},
      {.name = "batch_norm", .op = ND4C_OP_batch_norm, .inputs = {x, scale, scale, scale, scale}},
      {.name = "cumulative_sum, last axis",
       .op = ND4C_OP_cumulative_sum,
       .inputs = {x},
       .attrs = {BENCH_INT("axis", 1)}},
      {.name = "cumulative_sum, first axis",
       .op = ND4C_OP_cumulative_sum,
       .inputs = {x},
       .attrs = {BENCH_INT("axis", 0)}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    bench_op_row_run(&rows[i]);
  }
  nd4c_array_release(x);
  nd4c_array_release(scale);
}

int main(void) {
  measure(ND4C_FLOAT32);
  measure(ND4C_FLOAT64);
  return 0;
}
