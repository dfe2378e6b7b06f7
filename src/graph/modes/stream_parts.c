/* Finds which steps and inputs each output of a plan depends on, so that a failure affects only the outputs that depend
 * on it. stream.c calls it when it prepares a plan. */
#include "base/status.h"
#include "graph/modes/stream.h"

/* Rows of bits, one for each slot that has memory of its own: steps first, then inputs. */
typedef struct tracing {
  const nd4c_plan *plan;
  uint64_t *rows;
  int32_t words;
} tracing;

static uint64_t *row_of(const tracing *work, int32_t slot) {
  return work->rows + (size_t)slot * (size_t)work->words;
}

static void set(uint64_t *row, int32_t bit) {
  row[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static bool has(const uint64_t *row, int32_t bit) {
  return (row[bit / 64] >> (bit % 64) & 1) != 0;
}

static void join(const tracing *work, uint64_t *to, const uint64_t *from) {
  for (int32_t i = 0; i < work->words; i++) {
    to[i] |= from[i];
  }
}

/* Computes the dependencies of the step's results in `row`, then adds them to each memory that the step writes. */
static void trace_step(const tracing *work, int32_t index, uint64_t *row) {
  const nd4c_plan *plan = work->plan;
  const nd4c_step *step = &plan->steps[index];
  for (int32_t i = 0; i < work->words; i++) {
    row[i] = 0;
  }
  set(row, index);
  for (int32_t i = 0; i < step->input_count; i++) {
    if (step->inputs[i] >= 0) {
      join(work, row, row_of(work, plan->slots[step->inputs[i]].root));
    }
  }
  for (int32_t i = 0; i < step->output_count; i++) {
    join(work, row_of(work, plan->slots[step->outputs[i]].root), row);
  }
}

static nd4c_status trace(tracing *work, nd4c_region *region) {
  const nd4c_plan *plan = work->plan;
  work->words = (plan->step_count + plan->graph->inputs.count) / 64 + 1;
  ND4C_TRY(nd4c_region_make(region, ((int64_t)plan->slot_count + 1) * work->words, sizeof *work->rows, &work->rows));
  for (int32_t i = 0; i < plan->slot_count; i++) {
    if (plan->slots[i].kind == ND4C_SLOT_INPUT) {
      set(row_of(work, i), plan->step_count + plan->slots[i].port);
    }
  }
  for (int32_t i = 0; i < plan->step_count; i++) {
    trace_step(work, i, row_of(work, plan->slot_count));
  }
  return ND4C_OK;
}

static void note_part(const tracing *work, int32_t output) {
  const nd4c_plan *plan = work->plan;
  const int32_t inputs = plan->graph->inputs.count;
  const uint64_t *row = row_of(work, plan->slots[plan->graph->outputs.items[output].value].root);
  for (int32_t i = 0; i < plan->step_count; i++) {
    if (has(row, i)) {
      nd4c_fence_steps_add(plan->stream->steps, output, i + 1);
    }
  }
  for (int32_t i = 0; i < inputs; i++) {
    plan->stream->needs[output * inputs + i] = has(row, plan->step_count + i);
  }
}

nd4c_status nd4c_stream_find_parts(nd4c_plan *plan) {
  const int32_t inputs = plan->graph->inputs.count, outputs = plan->graph->outputs.count;
  nd4c_plan_stream *stream = plan->stream;
  ND4C_TRY(nd4c_region_make(&plan->region, (int64_t)inputs * outputs, sizeof *stream->needs, &stream->needs));
  ND4C_TRY(nd4c_fence_steps_make(plan->step_count, outputs, &stream->steps));
  for (int32_t i = 0; i < plan->step_count; i++) {
    char text[256];
    ND4C_TRY(nd4c_fence_steps_set_name(stream->steps, i + 1,
                                       nd4c_plan_node_text(plan, plan->steps[i].node, text, sizeof text)));
  }
  nd4c_region region = {0};
  tracing work = {.plan = plan};
  nd4c_status status = trace(&work, &region);
  for (int32_t i = 0; status == ND4C_OK && i < outputs; i++) {
    note_part(&work, i);
  }
  nd4c_region_free(&region);
  return status;
}
