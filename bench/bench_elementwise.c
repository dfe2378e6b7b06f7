/* Element-wise ops on 10^3, 10^5 and 10^7 elements: into an output and fresh, contiguous and every second element.
 * Prints lines of JSON; a fraction of the limit compares with the better of two loops written by hand. */
#include <stdio.h>
#include <string.h>

#include "limits.h"
#include "measure.h"

typedef struct op_state {
  nd4c_op op;
  int32_t inputs;
  bool fresh;
  nd4c_array *a, *b, *y;
} op_state;

static void run_op(void *argument) {
  op_state *state = argument;
  const nd4c_array *const inputs[] = {state->a, state->b};
  nd4c_array *y = state->fresh ? NULL : state->y;
  bench_check(nd4c_op_call(NULL, state->op, inputs, state->inputs, NULL, 0, &y, 1), "nd4c_op_call");
  if (state->fresh) {
    nd4c_array_release(y);
  }
}

typedef struct limit_state {
  int op;
  bool stream;
  int width;
  nd4c_dtype dtype;
  const void *a, *b;
  void *y;
  int64_t count, step;
} limit_state;

static void run_limit(void *argument) {
  const limit_state *s = argument;
  (void)bench_limit_binary(s->op, s->dtype, s->a, s->b, s->y, s->count, s->step, s->stream, s->width);
}

typedef struct op_row {
  const char *name;
  nd4c_op op;
  int32_t inputs;
  int limit; /* bench_limit_op, -1: no loop by hand */
} op_row;

static const op_row rows[] = {
    {"add", ND4C_OP_add, 2, BENCH_LIMIT_ADD},
    {"multiply", ND4C_OP_multiply, 2, BENCH_LIMIT_MULTIPLY},
    {"exp", ND4C_OP_exp, 1, -1},
    {"tanh", ND4C_OP_tanh, 1, -1},
    {"sqrt", ND4C_OP_sqrt, 1, -1},
    {"relu", ND4C_OP_relu, 1, -1},
};

static int32_t width(void) {
  nd4c_machine_info machine = {.struct_size = sizeof machine};
  bench_check(nd4c_machine_get_info(&machine), "nd4c_machine_get_info");
  return machine.width;
}

static void measure(const op_row *row, nd4c_dtype dtype, int64_t count, int64_t step) {
  op_state into = {.op = row->op, .inputs = row->inputs}, fresh;
  into.a = bench_strided(dtype, count, step);
  into.b = bench_strided(dtype, count, step);
  into.y = bench_array(dtype, 1, &count);
  fresh = into;
  fresh.fresh = true;
  limit_state loops[2] = {{.op = row->limit, .width = width(), .dtype = dtype, .count = count, .step = step}};
  bench_check(nd4c_array_data(into.a, &loops[0].a), "nd4c_array_data");
  bench_check(nd4c_array_data(into.b, &loops[0].b), "nd4c_array_data");
  bench_check(nd4c_array_data_mutable(into.y, &loops[0].y), "nd4c_array_data_mutable");
  loops[1] = loops[0];
  loops[1].stream = true;

  char names[2][64], shape[32];
  snprintf(names[0], sizeof names[0], "%s%s into", row->name, step > 1 ? " strided" : "");
  snprintf(names[1], sizeof names[1], "%s%s fresh", row->name, step > 1 ? " strided" : "");
  snprintf(shape, sizeof shape, "%lld", (long long)count);
  double bytes = (double)(count * nd4c_dtype_size(dtype) * (row->inputs + 1));
  bench_case cases[4] = {{.name = names[0], .body = run_op, .state = &into},
                         {.name = names[1], .body = run_op, .state = &fresh},
                         {.name = "plain loop", .body = run_limit, .state = &loops[0]},
                         {.name = "streaming loop", .body = run_limit, .state = &loops[1]}};
  for (int i = 0; i < 4; ++i) {
    cases[i].shape = shape;
    cases[i].dtype = nd4c_dtype_name(dtype);
    cases[i].bytes = bytes;
  }
  bool by_hand = row->limit >= 0 && count >= 100000;
  bench_interleave(cases, by_hand ? 4 : 2);
  double limit = 0;
  if (by_hand) {
    double plain = bench_median(cases[2].times, BENCH_ROUNDS), stream = bench_median(cases[3].times, BENCH_ROUNDS);
    limit = plain < stream ? plain : stream;
  }
  bench_print(&cases[0], limit);
  bench_print(&cases[1], limit);
  nd4c_array_release(into.a);
  nd4c_array_release(into.b);
  nd4c_array_release(into.y);
}

int main(void) {
  static const int64_t counts[] = {1000, 100000, 10000000};
  static const nd4c_dtype dtypes[] = {ND4C_FLOAT32, ND4C_FLOAT64, ND4C_BFLOAT16};
  for (size_t row = 0; row < sizeof rows / sizeof *rows; ++row) {
    for (size_t dtype = 0; dtype < sizeof dtypes / sizeof *dtypes; ++dtype) {
      if (!nd4c_dtype_get_info(dtypes[dtype])->available) {
        continue;
      }
      for (size_t count = 0; count < sizeof counts / sizeof *counts; ++count) {
        measure(&rows[row], dtypes[dtype], counts[count], 1);
        if (rows[row].limit >= 0) {
          measure(&rows[row], dtypes[dtype], counts[count], 2);
        }
      }
    }
  }
  return 0;
}
