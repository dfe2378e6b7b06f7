/* Reductions over everything, over rows and over columns. Prints lines of JSON; the fraction of the limit compares with
 * reading as many bytes. Numbers are random, because the extreme of constants would be easy for branch prediction. */
#include <stdio.h>

#include "bench/measure.h"
#include "bench/op_row.h"

typedef struct reduction {
  const char *name;
  nd4c_op op;
  bool one_axis; /* attribute axis instead of axes */
} reduction;

static void measure(const reduction *r, nd4c_dtype dtype, int64_t side) {
  const int64_t shape[2] = {side, side}, axes[2] = {0, 1};
  static const char *const over[] = {"rows", "columns", "all"}; /* the axes that disappear */
  nd4c_array *x = bench_random(dtype, 2, shape);
  for (int i = 0; i < (r->one_axis ? 2 : 3); i++) {
    char text[64];
    snprintf(text, sizeof text, "%s over %s", r->name, over[i]);
    nd4c_attr_value list = {.kind = ND4C_ATTR_INTS, .count = i < 2 ? 1 : 2, .as.ints = i < 2 ? &axes[i] : axes};
    nd4c_attr_value axis = {.kind = ND4C_ATTR_INT, .as.i = i};
    const bench_op_row row = {.name = text,
                              .op = r->op,
                              .inputs = {x},
                              .attrs = {r->one_axis ? (nd4c_attr){"axis", axis} : (nd4c_attr){"axes", list}},
                              .fresh = true};
    bench_op_row_run(&row);
  }
  nd4c_array_release(x);
}

int main(void) {
  static const reduction reductions[] = {
      {"sum", ND4C_OP_sum, false},   {"mean", ND4C_OP_mean, false},           {"max", ND4C_OP_max, false},
      {"prod", ND4C_OP_prod, false}, {"norm1", ND4C_OP_norm1, false},         {"norm2", ND4C_OP_norm2, false},
      {"var", ND4C_OP_var, false},   {"logsumexp", ND4C_OP_logsumexp, false}, {"argmax", ND4C_OP_argmax, true}};
  static const int64_t sides[] = {32, 1000, 4096};
  for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
    for (size_t side = 0; side < sizeof sides / sizeof *sides; side++) {
      measure(&reductions[i], ND4C_FLOAT32, sides[side]);
    }
    measure(&reductions[i], ND4C_FLOAT64, 4096);
    measure(&reductions[i], ND4C_BFLOAT16, 4096);
  }
  return 0;
}
