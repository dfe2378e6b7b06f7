/* Softmax, normalisations and cumulative ops over the last and the first axis. Prints lines of JSON; the fraction of
 * the limit compares with reading and writing as many bytes once. */
#include "bench/measure.h"
#include "bench/op_row.h"

static void measure(nd4c_dtype dtype) {
  const int64_t square[2] = {4096, 4096};
  const int64_t image[4] = {32, 64, 56, 56}, head[3] = {12, 128, 128};
  nd4c_array *x = bench_random(dtype, 2, square), *scale = bench_random(dtype, 1, square);
  nd4c_array *images = bench_random(dtype, 4, image), *channels = bench_random(dtype, 1, &image[1]);
  nd4c_array *heads = bench_random(dtype, 3, head);
  const bench_op_row rows[] = {
      {.name = "softmax, last axis", .op = ND4C_OP_softmax, .inputs = {x}, .attrs = {BENCH_INT("axis", 1)}},
      {.name = "softmax, first axis", .op = ND4C_OP_softmax, .inputs = {x}, .attrs = {BENCH_INT("axis", 0)}},
      {.name = "log_softmax, last axis", .op = ND4C_OP_log_softmax, .inputs = {x}, .attrs = {BENCH_INT("axis", 1)}},
      {.name = "log_softmax, first axis", .op = ND4C_OP_log_softmax, .inputs = {x}, .attrs = {BENCH_INT("axis", 0)}},
      {.name = "layer_norm", .op = ND4C_OP_layer_norm, .inputs = {x, scale, scale}},
      {.name = "rms_norm", .op = ND4C_OP_rms_norm, .inputs = {x, scale}},
      {.name = "batch_norm", .op = ND4C_OP_batch_norm, .inputs = {x, scale, scale, scale, scale}},
      {.name = "group_norm",
       .op = ND4C_OP_group_norm,
       .inputs = {images, channels, channels},
       .attrs = {BENCH_INT("groups", 8)}},
      {.name = "instance_norm", .op = ND4C_OP_instance_norm, .inputs = {images, channels, channels}},
      {.name = "softmax of short rows", .op = ND4C_OP_softmax, .inputs = {heads}, .attrs = {BENCH_INT("axis", 2)}},
      {.name = "cumulative_prod, last axis",
       .op = ND4C_OP_cumulative_prod,
       .inputs = {x},
       .attrs = {BENCH_INT("axis", 1)}},
      {.name = "cumulative_max, last axis",
       .op = ND4C_OP_cumulative_max,
       .inputs = {x},
       .attrs = {BENCH_INT("axis", 1)}},
      {.name = "cumulative_sum, last axis",
       .op = ND4C_OP_cumulative_sum,
       .inputs = {x},
       .attrs = {BENCH_INT("axis", 1)}},
      {.name = "cumulative_sum, first axis",
       .op = ND4C_OP_cumulative_sum,
       .inputs = {x},
       .attrs = {BENCH_INT("axis", 0)}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bench_op_row_run(&rows[i]);
  }
  nd4c_array_release(x);
  nd4c_array_release(scale);
  nd4c_array_release(images);
  nd4c_array_release(channels);
  nd4c_array_release(heads);
}

int main(void) {
  measure(ND4C_FLOAT32);
  measure(ND4C_FLOAT64);
  return 0;
}
