/* Reductions over everything, over rows and over columns. Prints lines of JSON. */
#include <stdio.h>

#include "measure.h"

typedef struct reduction_state {
  nd4c_op op;
  int64_t axis; /* -1: all axes */
  nd4c_array *x;
} reduction_state;

static void run_reduction(void *argument) {
  const reduction_state *state = argument;
  nd4c_array *y = NULL;
  nd4c_attr axes = {.name = "axes",
                    .value = {.kind = ND4C_ATTR_INTS, .count = state->axis >= 0, .as.ints = &state->axis}};
  const nd4c_array *const inputs[] = {state->x};
  bench_check(nd4c_op_call(NULL, state->op, inputs, 1, &axes, 1, &y, 1), "nd4c_op_call");
  nd4c_array_release(y);
}

static void measure(const char *name, nd4c_op op, nd4c_dtype dtype, int64_t rows, int64_t columns) {
  const int64_t shape[2] = {rows, columns};
  nd4c_array *x = bench_array(dtype, 2, shape);
  static const char *const over[] = {"all", "rows", "columns"}; /* the axis that disappears */
  reduction_state states[3];
  bench_case cases[3];
  char names[3][64], text[64];
  snprintf(text, sizeof text, "%lldx%lld", (long long)rows, (long long)columns);
  for (int i = 0; i < 3; ++i) {
    states[i] = (reduction_state){.op = op, .axis = i - 1, .x = x};
    snprintf(names[i], sizeof names[i], "%s over %s", name, over[i]);
    cases[i] = (bench_case){.name = names[i],
                            .shape = text,
                            .dtype = nd4c_dtype_name(dtype),
                            .body = run_reduction,
                            .state = &states[i],
                            .bytes = (double)(rows * columns * nd4c_dtype_size(dtype))};
  }
  bench_interleave(cases, 3);
  for (int i = 0; i < 3; ++i) {
    bench_print(&cases[i], 0);
  }
  nd4c_array_release(x);
}

int main(void) {
  static const struct {
    const char *name;
    nd4c_op op;
  } ops[] = {{"sum", ND4C_OP_sum}, {"mean", ND4C_OP_mean}, {"max", ND4C_OP_max}};
  static const int64_t sides[] = {32, 316, 3162};
  for (size_t op = 0; op < sizeof ops / sizeof *ops; ++op) {
    for (size_t side = 0; side < sizeof sides / sizeof *sides; ++side) {
      measure(ops[op].name, ops[op].op, ND4C_FLOAT32, sides[side], sides[side]);
      measure(ops[op].name, ops[op].op, ND4C_FLOAT64, sides[side], sides[side]);
    }
  }
  return 0;
}
