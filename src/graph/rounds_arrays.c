/* Runs the rounds of rounds.h on arrays: on asynchronous devices, where the host reads after each round whether another
 * one follows, and where carried values grow, so that the body's plan has dims and a binding for each shape. */
#include "base/region.h"
#include "base/status.h"
#include "dispatch/routed.h"
#include "graph/callers.h"
#include "graph/rounds.h"

typedef struct run {
  nd4c_plan *body;
  nd4c_context *context;
  const nd4c_rounds *rounds;
  int64_t done;
  bool goes_on;
  nd4c_array **carried;       /* of the latest round */
  nd4c_array **turned;        /* by carried value: a view of what was given, as the body takes it; NULL: that itself */
  nd4c_rounds_growth *growth; /* by carried value; found after the first round */
  nd4c_rounds_rows *rows;
  const nd4c_array **inputs; /* of the body */
  nd4c_array **outputs;
} run;

/* Elements behind those that were written, as the body's outputs: from the second round on, when their shape is known.
 */
static nd4c_status place_rows(const run *r) {
  const int32_t at = (int32_t)r->rounds->decides + r->rounds->carried;
  for (int32_t i = 0; i < r->rounds->collected && r->done > 0; i++) {
    nd4c_rounds_rows *rows = &r->rows[i];
    ND4C_TRY(nd4c_rounds_make_room(r->rounds, r->context, rows->array->dtype, rows->array->rank - 1,
                                   rows->array->shape + 1, r->done, rows));
    ND4C_TRY(nd4c_array_select(rows->array, 0, r->done, &r->outputs[at + i]));
  }
  return ND4C_OK;
}

/* What the first round gave. */
static nd4c_status keep_first_rows(const run *r) {
  const int32_t at = (int32_t)r->rounds->decides + r->rounds->carried;
  for (int32_t i = 0; i < r->rounds->collected && r->done == 0; i++) {
    const nd4c_array *given = r->outputs[at + i];
    nd4c_array *element = NULL;
    ND4C_TRY(nd4c_rounds_make_room(r->rounds, r->context, given->dtype, given->rank, given->shape, 0, &r->rows[i]));
    ND4C_TRY(nd4c_array_select(r->rows[i].array, 0, 0, &element));
    const nd4c_status status = nd4c_call_inside(r->context, ND4C_OP_copy, given, &element);
    nd4c_array_release(element);
    ND4C_TRY(status);
  }
  return ND4C_OK;
}

/* Longer arrays for carried values that grow: each begins with the value of the latest round. */
static nd4c_status place_growing(const run *r) {
  if (r->done == 1) {
    nd4c_rounds_find_growth(r->body, r->rounds, r->growth);
  }
  for (int32_t i = 0; i < r->rounds->carried; i++) {
    if (r->growth[i].grows) {
      ND4C_TRY(nd4c_rounds_grow(r->rounds, r->context, r->carried[i], r->done, &r->growth[i],
                                &r->outputs[(int32_t)r->rounds->decides + i]));
    }
  }
  return ND4C_OK;
}

static nd4c_status read_results(run *r) {
  r->goes_on = true;
  if (r->rounds->decides) {
    uint8_t byte = 0;
    ND4C_TRY(nd4c_array_read(r->outputs[0], &byte, sizeof byte));
    r->goes_on = byte != 0;
  }
  ND4C_TRY(keep_first_rows(r));
  for (int32_t i = 0; i < r->rounds->carried; i++) {
    nd4c_array **made = &r->outputs[(int32_t)r->rounds->decides + i];
    nd4c_array_release(r->carried[i]);
    r->carried[i] = *made;
    *made = NULL;
    r->inputs[1 + i] = r->carried[i];
  }
  return ND4C_OK;
}

static void drop_outputs(const run *r) {
  for (int32_t i = 0; i < r->body->graph->outputs.count; i++) {
    nd4c_array_release(r->outputs[i]);
    r->outputs[i] = NULL;
  }
}

static nd4c_status run_body(run *r, const nd4c_array *number) {
  const nd4c_graph *graph = r->body->graph;
  const nd4c_run_request request = {.inputs = r->inputs,
                                    .outputs = r->outputs,
                                    .input_count = graph->inputs.count,
                                    .output_count = graph->outputs.count,
                                    .in_place = true};
  r->inputs[0] = number;
  nd4c_status status = place_rows(r);
  status = status == ND4C_OK ? place_growing(r) : status;
  status = status == ND4C_OK ? nd4c_plan_run_request(r->body, r->context, &request) : status;
  status = status == ND4C_OK ? read_results(r) : status;
  drop_outputs(r);
  return status;
}

static nd4c_status run_round(run *r) {
  nd4c_array *number = NULL;
  nd4c_status status = nd4c_array_from_data(ND4C_INT64, 0, NULL, &r->done, r->context->device, &number);
  status = status == ND4C_OK ? run_body(r, number) : status;
  nd4c_array_release(number);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "round %lld", (long long)r->done);
  }
  r->done++;
  return ND4C_OK;
}

static nd4c_status run_rounds(run *r, nd4c_array **results) {
  const int32_t carried = r->rounds->carried;
  r->goes_on = true;
  while (r->goes_on && r->done < r->rounds->most) {
    ND4C_TRY(nd4c_rounds_may_begin(r->rounds, r->done));
    ND4C_TRY(run_round(r));
  }
  for (int32_t i = 0; i < r->rounds->collected; i++) {
    ND4C_TRY(nd4c_rounds_take_rows(r->context, r->done, &r->rows[i], &results[carried + i]));
  }
  for (int32_t i = 0; i < carried; i++) {
    ND4C_TRY(nd4c_rounds_end_growth(r->context, &r->growth[i], &r->carried[i]));
    results[i] = r->carried[i];
    r->carried[i] = NULL;
  }
  return ND4C_OK;
}

static nd4c_status claim_lists(run *r, nd4c_region *region) {
  const nd4c_graph *graph = r->body->graph;
  ND4C_TRY(nd4c_region_make(region, r->rounds->carried, sizeof *r->carried, &r->carried));
  ND4C_TRY(nd4c_region_make(region, r->rounds->carried, sizeof *r->turned, &r->turned));
  ND4C_TRY(nd4c_region_make(region, r->rounds->carried, sizeof *r->growth, &r->growth));
  ND4C_TRY(nd4c_region_make(region, r->rounds->collected, sizeof *r->rows, &r->rows));
  ND4C_TRY(nd4c_region_make(region, graph->inputs.count, sizeof *r->inputs, &r->inputs));
  return nd4c_region_make(region, graph->outputs.count, sizeof *r->outputs, &r->outputs);
}

static nd4c_status place_given(const run *r, const nd4c_array *const *given) {
  const nd4c_rounds *rounds = r->rounds;
  for (int32_t i = 0; i < rounds->carried + rounds->captured; i++) {
    r->inputs[1 + i] = given[i];
  }
  for (int32_t i = 0; i < rounds->carried && rounds->front != NULL; i++) {
    r->growth[i].front = rounds->front[i];
    if (rounds->front[i] > 0) {
      ND4C_TRY(nd4c_rounds_turn(given[i], rounds->front[i], &r->turned[i]));
      r->inputs[1 + i] = r->turned[i];
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_rounds_run_arrays(nd4c_plan *body, nd4c_context *context, const nd4c_rounds *rounds,
                                   const nd4c_array *const *given, nd4c_array **results) {
  run r = {.body = body, .context = context, .rounds = rounds};
  nd4c_region region = {0};
  nd4c_status status = claim_lists(&r, &region);
  if (status == ND4C_OK) {
    status = place_given(&r, given);
    status = status == ND4C_OK ? run_rounds(&r, results) : status;
    for (int32_t i = 0; i < rounds->carried; i++) {
      nd4c_array_release(r.carried[i]);
      nd4c_array_release(r.turned[i]);
      nd4c_array_release(r.growth[i].room);
    }
    for (int32_t i = 0; i < rounds->collected; i++) {
      nd4c_array_release(r.rows[i].array);
    }
  }
  nd4c_region_free(&region);
  return status;
}
