/* Reductions over everything, over rows and over columns. Prints lines of JSON; the fraction of the limit compares with
 * reading as many bytes. */
#include <stdio.h>

#include "measure.h"
#include "op_row.h"

static void measure(const char *name, nd4c_op op, nd4c_dtype dtype, int64_t rows, int64_t columns) {
  const int64_t shape[2] = {rows, columns}, axes[2] = {0, 1};
  static const char *const over[] = {"rows", "columns", "all"}; /* the axes that disappear */
  nd4c_array *x = bench_random(dtype, 2, shape);
  for (int i = 0; i < 3; ++i) {
    char text[64];
    snprintf(text, sizeof text, "%s over %s", name, over[i]);
    nd4c_attr_value given = {.kind = ND4C_ATTR_INTS, .count = i < 2 ? 1 : 2, .as.ints = i < 2 ? &axes[i] : axes};
    const bench_op_row row = {.name = text, .op = op, .inputs = {x}, .attrs = {{"axes", given}}, .fresh = true};
    bench_op_row_run(&row);
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
