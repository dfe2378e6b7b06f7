/* Times a row of one op in turns with a loop that moves as many bytes. The programs whose rows form a table call it,
 * bench_reduction.c and bench_sort.c for example. */
#include "op_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "measure.h"

typedef struct row_state {
  const bench_op_row *row;
  int32_t input_count, attr_count, output_count;
  nd4c_array *outputs[BENCH_ROW_OUTPUTS];
} row_state;

static void run_op(void *argument) {
  row_state *s = argument;
  const nd4c_array *inputs[BENCH_ROW_INPUTS];
  for (int32_t i = 0; i < s->input_count; i++) {
    inputs[i] = s->row->inputs[i];
  }
  bench_check(
      nd4c_op_call(NULL, s->row->op, inputs, s->input_count, s->row->attrs, s->attr_count, s->outputs, s->output_count),
      s->row->name);
  for (int32_t i = 0; s->row->fresh && i < s->output_count; i++) {
    nd4c_array_release(s->outputs[i]);
    s->outputs[i] = NULL;
  }
}

/* Memory that is read, and memory that is written, as much as the op does at least. */
typedef struct traffic {
  void *from, *to;
  size_t read, written;
  int width;
  double sum;
} traffic;

static void run_traffic(void *argument) {
  traffic *t = argument;
  size_t copied = t->read < t->written ? t->read : t->written;
  bench_limit_copy(t->to, t->from, copied, t->width);
  if (t->written > copied) { /* the rest is written again from data in the caches, or read alone */
    bench_limit_copy((char *)t->to + copied, t->from, t->written - copied, t->width);
  }
  t->sum += bench_limit_read((const char *)t->from + copied, t->read - copied, t->width);
}

static size_t bytes_of(const nd4c_array *array) {
  return (size_t)(nd4c_array_size(array) * nd4c_dtype_size(nd4c_array_dtype(array)));
}

static void *touched(size_t bytes) {
  void *memory = malloc(bytes + 1);
  if (memory == NULL) {
    fprintf(stderr, "error: no memory\n");
    exit(1);
  }
  return memset(memory, 1, bytes + 1);
}

static int32_t machine_width(void) {
  nd4c_machine_info machine = {.struct_size = sizeof machine};
  bench_check(nd4c_machine_get_info(&machine), "nd4c_machine_get_info");
  return machine.width;
}

static void describe(const nd4c_array *array, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int32_t axis = 0; axis < nd4c_array_rank(array); axis++) {
    used += (size_t)snprintf(text + used, size - used, axis > 0 ? "x%lld" : "%lld",
                             (long long)nd4c_array_shape(array)[axis]);
    used = used < size ? used : size - 1;
  }
}

void bench_op_row_run(const bench_op_row *row) {
  row_state state = {.row = row, .output_count = nd4c_op_get(row->op)->output_count};
  traffic memory = {.width = machine_width()};
  while (state.input_count < BENCH_ROW_INPUTS && row->inputs[state.input_count] != NULL) {
    memory.read += bytes_of(row->inputs[state.input_count++]);
  }
  while (state.attr_count < BENCH_ROW_ATTRS && row->attrs[state.attr_count].name != NULL) {
    state.attr_count++;
  }
  /* The first call makes the outputs. Their sizes give the bytes written, and later calls write into them. */
  bench_op_row once = *row;
  once.fresh = false;
  state.row = &once;
  run_op(&state);
  state.row = row;
  for (int32_t i = 0; i < state.output_count; i++) {
    memory.written += bytes_of(state.outputs[i]);
    if (row->fresh) {
      nd4c_array_release(state.outputs[i]);
      state.outputs[i] = NULL;
    }
  }
  if (memory.read + memory.written < 1 << 18) {
    memory.width = 1; /* one thread finishes before a second one has started */
  }
  memory.from = touched(memory.read > memory.written ? memory.read : memory.written);
  memory.to = touched(memory.written);

  char shape[64];
  describe(row->inputs[0], shape, sizeof shape);
  bench_case cases[2] = {{.name = row->name, .shape = shape, .body = run_op, .state = &state},
                         {.name = "memory alone", .shape = shape, .body = run_traffic, .state = &memory}};
  cases[0].dtype = cases[1].dtype = nd4c_dtype_name(nd4c_array_dtype(row->inputs[0]));
  cases[0].bytes = (double)(memory.read + memory.written);
  cases[0].flops = row->flops;
  bench_interleave(cases, 2);
  double limit_ns = bench_median(cases[1].times, BENCH_ROUNDS), peak = 0;
  if (row->flops > 0) {
    peak = bench_limit_gflops(nd4c_array_dtype(row->inputs[0]), machine_width());
  }
  if (peak > 0 && row->flops / peak > limit_ns) {
    limit_ns = row->flops / peak;
  }
  bench_print(&cases[0], limit_ns);
  for (int32_t i = 0; i < state.output_count; i++) {
    nd4c_array_release(state.outputs[i]);
  }
  free(memory.from);
  free(memory.to);
}

nd4c_array *bench_random(nd4c_dtype dtype, int32_t rank, const int64_t *shape) {
  const uint64_t seed[2] = {1, 0};
  const int64_t two = 2;
  nd4c_array *state = NULL, *array = NULL;
  bench_check(nd4c_array_from_data(ND4C_UINT64, 1, &two, seed, NULL, &state), "nd4c_array_from_data");
  bench_check(nd4c_random_uniform(state, shape, rank, dtype, 0, 1, &array), "nd4c_random_uniform");
  nd4c_array_release(state);
  return array;
}
