/* Element-wise ops on 10^3, 10^5 and 10^7 elements: into an output and fresh, contiguous and every second element.
 * Prints lines of JSON. 10^3 elements, which one thread computes in its cache, have cycles an element ; larger ones a
 * fraction of the limit: of the faster of two loops written by hand, or of a copy that moves as many bytes. */
#include <stdio.h>
#include <string.h>

#include "bench/limits.h"
#include "bench/measure.h"

typedef struct op_state {
  nd4c_op op;
  const nd4c_attr *attr; /* or NULL */
  int32_t inputs;
  bool fresh;
  nd4c_array *a, *b, *y;
} op_state;

static void run_op(void *argument) {
  op_state *state = argument;
  const nd4c_array *const inputs[] = {state->a, state->b};
  nd4c_array *y = state->fresh ? NULL : state->y;
  bench_check(nd4c_op_call(NULL, state->op, inputs, state->inputs, state->attr, state->attr != NULL, &y, 1),
              "nd4c_op_call");
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

typedef struct copy_state {
  void *to;
  const void *from;
  size_t bytes;
  int width;
} copy_state;

static void run_copy(void *argument) {
  const copy_state *s = argument;
  bench_limit_copy(s->to, s->from, s->bytes, s->width);
}

typedef struct op_row {
  const char *name;
  nd4c_op op;
  int32_t inputs;
  int limit; /* bench_limit_op, -1: no loop by hand */
  const nd4c_attr *attr;
  nd4c_dtype result; /* where it differs from dtype */
} op_row;

static const nd4c_attr approximate = {"approximate", {.kind = ND4C_ATTR_BOOL, .as = {.i = 1}}};

static const op_row rows[] = {
    {"add", ND4C_OP_add, 2, BENCH_LIMIT_ADD, NULL, ND4C_DTYPE_NONE},
    {"multiply", ND4C_OP_multiply, 2, BENCH_LIMIT_MULTIPLY, NULL, ND4C_DTYPE_NONE},
    {"exp", ND4C_OP_exp, 1, -1, NULL, ND4C_DTYPE_NONE},
    {"log", ND4C_OP_log, 1, -1, NULL, ND4C_DTYPE_NONE},
    {"tanh", ND4C_OP_tanh, 1, -1, NULL, ND4C_DTYPE_NONE},
    {"erf", ND4C_OP_erf, 1, -1, NULL, ND4C_DTYPE_NONE},
    {"sigmoid", ND4C_OP_sigmoid, 1, -1, NULL, ND4C_DTYPE_NONE},
    {"gelu", ND4C_OP_gelu, 1, -1, NULL, ND4C_DTYPE_NONE},
    {"gelu tanh", ND4C_OP_gelu, 1, -1, &approximate, ND4C_DTYPE_NONE},
    {"sqrt", ND4C_OP_sqrt, 1, -1, NULL, ND4C_DTYPE_NONE},
    {"relu", ND4C_OP_relu, 1, -1, NULL, ND4C_DTYPE_NONE},
    {"power", ND4C_OP_power, 2, -1, NULL, ND4C_DTYPE_NONE},
    {"less", ND4C_OP_less, 2, -1, NULL, ND4C_BOOL},
};

static int32_t width(void) {
  nd4c_machine_info machine = {.struct_size = sizeof machine};
  bench_check(nd4c_machine_get_info(&machine), "nd4c_machine_get_info");
  return machine.width;
}

static void measure(const op_row *row, nd4c_dtype dtype, int64_t count, int64_t step) {
  op_state into = {.op = row->op, .attr = row->attr, .inputs = row->inputs}, fresh;
  nd4c_dtype result = row->result == ND4C_DTYPE_NONE ? dtype : row->result;
  into.a = bench_strided(dtype, count, step);
  into.b = bench_strided(dtype, count, step);
  into.y = bench_array(result, 1, &count);
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
  int64_t moved = count * (nd4c_dtype_size(dtype) * row->inputs + nd4c_dtype_size(result));
  double bytes = (double)moved;
  bench_case cases[4] = {{.name = names[0], .body = run_op, .state = &into},
                         {.name = names[1], .body = run_op, .state = &fresh},
                         {.name = "plain loop", .body = run_limit, .state = &loops[0]},
                         {.name = "streaming loop", .body = run_limit, .state = &loops[1]}};
  for (int i = 0; i < 4; i++) {
    cases[i].shape = shape;
    cases[i].dtype = nd4c_dtype_name(dtype);
    cases[i].bytes = bytes;
  }
  copy_state copy = {.bytes = (size_t)(moved / 2), .width = width()};
  nd4c_array *copied[2] = {NULL, NULL};
  bool by_hand = row->limit >= 0 && count >= 100000, by_copy = row->limit < 0 && count >= 100000;
  if (by_copy) {
    int64_t half = moved / 2;
    copied[0] = bench_array(ND4C_UINT8, 1, &half);
    copied[1] = bench_array(ND4C_UINT8, 1, &half);
    bench_check(nd4c_array_data(copied[0], &copy.from), "nd4c_array_data");
    bench_check(nd4c_array_data_mutable(copied[1], &copy.to), "nd4c_array_data_mutable");
    cases[2].body = run_copy;
    cases[2].state = &copy;
  }
  bench_interleave(cases, by_hand ? 4 : by_copy ? 3 : 2);
  double limit = 0;
  if (by_hand || by_copy) {
    limit = bench_median(cases[2].times, BENCH_ROUNDS);
  }
  if (by_hand) {
    double stream = bench_median(cases[3].times, BENCH_ROUNDS);
    limit = limit < stream ? limit : stream;
  }
  if (count <= 1000) {
    cases[0].elements = cases[1].elements = count;
  }
  bench_print(&cases[0], limit);
  bench_print(&cases[1], limit);
  nd4c_array_release(into.a);
  nd4c_array_release(into.b);
  nd4c_array_release(into.y);
  nd4c_array_release(copied[0]);
  nd4c_array_release(copied[1]);
}

int main(void) {
  static const int64_t counts[] = {1000, 100000, 10000000};
  static const nd4c_dtype dtypes[] = {ND4C_FLOAT32, ND4C_FLOAT64, ND4C_BFLOAT16};
  for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
    for (size_t dtype = 0; dtype < sizeof dtypes / sizeof *dtypes; dtype++) {
      if (!nd4c_dtype_get_info(dtypes[dtype])->available) {
        continue;
      }
      for (size_t count = 0; count < sizeof counts / sizeof *counts; count++) {
        measure(&rows[row], dtypes[dtype], counts[count], 1);
        if (rows[row].limit >= 0) {
          measure(&rows[row], dtypes[dtype], counts[count], 2);
        }
      }
    }
  }
  return 0;
}
