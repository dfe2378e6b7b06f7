/* Convolutions and pools of f32, channels first. Prints lines of JSON; the fraction of the limit compares with the
 * machine's multiply-adds, or with reading and writing as many bytes once where that takes longer (pools, depthwise).
 * An argument selects the rows whose name contains it. */
#include <string.h>

#include "bench/measure.h"
#include "bench/op_row.h"

typedef struct layer {
  const char *name;
  nd4c_op op;
  int64_t x[5], w[5]; /* w: of a pool the kernel, from place 2 on */
  int64_t stride, padding, groups;
} layer;

static const layer layers[] = {
    {"conv 3x3", ND4C_OP_conv, {1, 64, 56, 56}, {64, 64, 3, 3}, 1, 1, 1},
    {"conv 3x3, 8 images", ND4C_OP_conv, {8, 64, 56, 56}, {64, 64, 3, 3}, 1, 1, 1},
    {"conv 7x7 stride 2", ND4C_OP_conv, {1, 3, 224, 224}, {64, 3, 7, 7}, 2, 3, 1},
    {"conv 1x1", ND4C_OP_conv, {1, 256, 56, 56}, {64, 256, 1, 1}, 1, 0, 1},
    {"conv depthwise 3x3", ND4C_OP_conv, {1, 144, 56, 56}, {144, 1, 3, 3}, 1, 1, 144},
    {"conv depthwise 3x3 stride 2", ND4C_OP_conv, {1, 144, 56, 56}, {144, 1, 3, 3}, 2, 1, 144},
    {"conv depthwise 5x5", ND4C_OP_conv, {1, 240, 28, 28}, {240, 1, 5, 5}, 1, 2, 240},
    {"conv depthwise 3x3, 7x7 places", ND4C_OP_conv, {8, 960, 7, 7}, {960, 1, 3, 3}, 1, 1, 960},
    {"conv 3x3x3", ND4C_OP_conv, {1, 16, 16, 56, 56}, {32, 16, 3, 3, 3}, 1, 1, 1},
    {"max_pool 3x3 stride 2", ND4C_OP_max_pool, {1, 64, 112, 112}, {0, 0, 3, 3}, 2, 1, 1},
    {"max_pool 2x2 stride 2", ND4C_OP_max_pool, {8, 64, 112, 112}, {0, 0, 2, 2}, 2, 0, 1},
    {"max_pool 3x3x3 stride 2", ND4C_OP_max_pool, {1, 32, 16, 112, 112}, {0, 0, 3, 3, 3}, 2, 1, 1},
    {"average_pool 2x2 stride 2", ND4C_OP_average_pool, {8, 64, 112, 112}, {0, 0, 2, 2}, 2, 0, 1},
    {"average_pool 3x3", ND4C_OP_average_pool, {1, 64, 56, 56}, {0, 0, 3, 3}, 1, 1, 1},
    {"average_pool 2x2x2 stride 2", ND4C_OP_average_pool, {1, 32, 16, 112, 112}, {0, 0, 2, 2, 2}, 2, 0, 1},
    {"average_pool 7x7", ND4C_OP_average_pool, {8, 512, 7, 7}, {0, 0, 7, 7}, 1, 0, 1},
    {"global_average_pool", ND4C_OP_global_average_pool, {32, 64, 56, 56}, {0}, 1, 0, 1},
};

static double multiply_adds(const layer *l, int32_t rank) {
  double flops = 2.0 * (double)(l->x[0] * l->w[0] * l->w[1]);
  for (int32_t i = 2; i < rank; i++) {
    flops *= (double)(l->w[i] * ((l->x[i] + 2 * l->padding - l->w[i]) / l->stride + 1));
  }
  return flops;
}

static nd4c_attr list(const char *name, const int64_t *numbers, int32_t count) {
  return (nd4c_attr){.name = name, .value = {.kind = ND4C_ATTR_INTS, .count = count, .as.ints = numbers}};
}

static void measure(const layer *l) {
  int32_t rank = l->x[4] > 0 ? 5 : 4, spatial = rank - 2;
  const int64_t strides[3] = {l->stride, l->stride, l->stride};
  const int64_t pads[6] = {l->padding, l->padding, l->padding, l->padding, l->padding, l->padding};
  bench_op_row row = {.name = l->name, .op = l->op, .inputs = {bench_random(ND4C_FLOAT32, rank, l->x)}};
  if (l->op != ND4C_OP_global_average_pool) {
    row.attrs[0] = list("strides", strides, spatial);
    row.attrs[1] = list("pads", pads, 2 * spatial);
  }
  if (l->op == ND4C_OP_conv) {
    row.inputs[1] = bench_random(ND4C_FLOAT32, rank, l->w);
    row.attrs[2] = (nd4c_attr)BENCH_INT("groups", l->groups);
    row.flops = multiply_adds(l, rank);
  } else if (row.attrs[0].name != NULL) {
    row.attrs[2] = list("kernel", l->w + 2, spatial);
  }
  bench_op_row_run(&row);
  nd4c_array_release(row.inputs[0]);
  nd4c_array_release(row.inputs[1]);
}

int main(int argc, char **argv) {
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
    if (argc < 2 || strstr(layers[i].name, argv[1]) != NULL) {
      measure(&layers[i]);
    }
  }
  return 0;
}
