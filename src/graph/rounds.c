/* Implements rounds.h for plans in mode direct, and what both ways to run rounds share. */
#include "graph/rounds.h"

#include <string.h>

#include "base/region.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "dispatch/routed.h"
#include "graph/callers.h"
#include "graph/dynamic.h"
#include "graph/modes/mode.h"

/* -- collected values ---------------------------------------------------------------------------------------------- */

/* The first memory for a value's elements: all that there can be if they are few, else some. */
static int64_t first_room(const nd4c_rounds *rounds, int64_t bytes) {
  enum { SMALL = 1 << 20, SOME = 16 };
  const int64_t fits = bytes > 0 ? SMALL / bytes : SMALL;
  return rounds->most <= fits || rounds->most <= SOME ? rounds->most : SOME;
}

/* A fresh array of the first elements of another. */
static nd4c_status copy_rows(nd4c_context *context, const nd4c_array *from, int64_t count, int64_t room,
                             nd4c_array **made) {
  int64_t shape[ND4C_MAX_RANK];
  nd4c_array *array = NULL, *source = NULL, *target = NULL;
  memcpy(shape, from->shape, (size_t)from->rank * sizeof *shape);
  shape[0] = room;
  ND4C_TRY(nd4c_array_empty(from->dtype, from->rank, shape, context->device, &array));
  shape[0] = count;
  nd4c_status status = nd4c_array_view(from, from->rank, shape, from->strides, from->offset, &source);
  status = status == ND4C_OK ? nd4c_array_view(array, array->rank, shape, array->strides, 0, &target) : status;
  status = status == ND4C_OK ? nd4c_call_inside(context, ND4C_OP_copy, source, &target) : status;
  nd4c_array_release(source);
  nd4c_array_release(target);
  if (status != ND4C_OK) {
    nd4c_array_release(array);
    return status;
  }
  *made = array;
  return ND4C_OK;
}

nd4c_status nd4c_rounds_make_room(const nd4c_rounds *rounds, nd4c_context *context, nd4c_dtype dtype, int32_t rank,
                                  const int64_t *shape, int64_t done, nd4c_rounds_rows *rows) {
  int64_t extents[ND4C_MAX_RANK], size = 1;
  if (done < rows->room) {
    return ND4C_OK;
  }
  if (rows->array != NULL) {
    nd4c_array *more = NULL;
    const int64_t room = rows->room > rounds->most / 2 ? rounds->most : 2 * rows->room;
    ND4C_TRY(copy_rows(context, rows->array, done, room, &more));
    nd4c_array_release(rows->array);
    *rows = (nd4c_rounds_rows){more, room};
    return ND4C_OK;
  }
  for (int32_t i = 0; i < rank; i++) {
    extents[i + 1] = shape[i];
    size *= shape[i]; /* of an array that a plan has given: no overflow */
  }
  extents[0] = first_room(rounds, nd4c_dtype_bytes(dtype, size));
  ND4C_TRY(nd4c_array_empty(dtype, rank + 1, extents, context->device, &rows->array));
  rows->room = extents[0];
  return ND4C_OK;
}

nd4c_status nd4c_rounds_take_rows(nd4c_context *context, int64_t done, nd4c_rounds_rows *rows, nd4c_array **array) {
  if (rows->room != done) {
    return copy_rows(context, rows->array, done, done, array);
  }
  *array = rows->array;
  rows->array = NULL;
  return ND4C_OK;
}

nd4c_status nd4c_rounds_may_begin(const nd4c_rounds *rounds, int64_t done) {
  return done == rounds->limit
             ? nd4c_fail(ND4C_OVERFLOW, "another round follows after %lld, the limit of the loop", (long long)done)
             : nd4c_cancellation_poll();
}

/* -- mode direct --------------------------------------------------------------------------------------------------- */

typedef struct run {
  nd4c_plan *caller; /* of the body */
  nd4c_context *context;
  const nd4c_rounds *rounds;
  const nd4c_array *const *given;
  int64_t done;
  uint8_t goes_on;
  nd4c_array **kept;   /* by given value: its array, or a copy in C order */
  nd4c_array **places; /* two for each carried value, which rounds write in turn */
  nd4c_rounds_rows *rows;
  char **first;                    /* by given value: its address */
  char **place_at, **rows_at;      /* the addresses of places and rows */
  void **inputs, **outputs;        /* of the body */
  const nd4c_graph_value **values; /* by output of the body */
} run;

static nd4c_status locate(const run *r, const nd4c_array *array, nd4c_access access, char **address) {
  bool committed = false;
  return nd4c_direct_locate(r->caller, array, access, address, &committed);
}

/* Kernels read given values in C order. */
static nd4c_status keep_given(const run *r, int32_t index) {
  const nd4c_array *given = r->given[index];
  nd4c_array **kept = &r->kept[index];
  if (given->contiguous) {
    memcpy(kept, &given, sizeof given); /* only its references change */
    (void)nd4c_array_retain(*kept);
  } else {
    ND4C_TRY(nd4c_array_empty(given->dtype, given->rank, given->shape, r->context->device, kept));
    ND4C_TRY(nd4c_call_inside(r->context, ND4C_OP_copy, given, kept));
  }
  return locate(r, *kept, ND4C_ACCESS_READ, &r->first[index]);
}

/* The output of the body for carried value `index`, then for the collected ones. */
static const nd4c_graph_value *output_of(const run *r, int32_t index) {
  return r->values[(int32_t)r->rounds->decides + index];
}

static nd4c_status make_place(const run *r, int32_t number) {
  const nd4c_graph_value *value = output_of(r, number / 2);
  if (r->places[number] != NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_array_empty(value->dtype, value->rank, value->shape, r->context->device, &r->places[number]));
  return locate(r, r->places[number], ND4C_ACCESS_WRITE, &r->place_at[number]);
}

static nd4c_status make_rows(const run *r, int32_t index) {
  const nd4c_graph_value *value = output_of(r, r->rounds->carried + index);
  nd4c_rounds_rows *rows = &r->rows[index];
  const int64_t room = rows->room;
  ND4C_TRY(nd4c_rounds_make_room(r->rounds, r->context, value->dtype, value->rank, value->shape, r->done, rows));
  return rows->room == room ? ND4C_OK : locate(r, rows->array, ND4C_ACCESS_WRITE, &r->rows_at[index]);
}

static nd4c_status place_round(run *r) {
  const nd4c_rounds *rounds = r->rounds;
  const int32_t flip = (int32_t)(r->done & 1);
  int32_t in = 0, out = 0;
  r->inputs[in++] = &r->done;
  if (rounds->decides) {
    r->outputs[out++] = &r->goes_on;
  }
  for (int32_t i = 0; i < rounds->carried; i++) {
    ND4C_TRY(make_place(r, 2 * i + flip));
    r->inputs[in++] = r->done == 0 ? r->first[i] : r->place_at[2 * i + 1 - flip];
    r->outputs[out++] = r->place_at[2 * i + flip];
  }
  for (int32_t i = 0; i < rounds->captured && r->done == 0; i++) {
    r->inputs[in + i] = r->first[rounds->carried + i];
  }
  for (int32_t i = 0; i < rounds->collected; i++) {
    const nd4c_graph_value *value = output_of(r, rounds->carried + i);
    ND4C_TRY(make_rows(r, i));
    char *at = r->rows_at[i];
    r->outputs[out++] = at == NULL ? NULL : at + r->done * nd4c_dtype_bytes(value->dtype, value->size);
  }
  return ND4C_OK;
}

static nd4c_status run_round(run *r) {
  nd4c_status status = place_round(r);
  if (status == ND4C_OK) {
    status = nd4c_direct_run_at(r->caller, r->inputs, r->outputs);
  }
  if (ND4C_UNLIKELY(status != ND4C_OK)) {
    return nd4c_fail_prefix(status, "round %lld", (long long)r->done);
  }
  r->done++;
  return ND4C_OK;
}

static nd4c_status give_results(const run *r, nd4c_array **results) {
  const int32_t carried = r->rounds->carried;
  for (int32_t i = 0; i < r->rounds->collected; i++) {
    ND4C_TRY(nd4c_rounds_take_rows(r->context, r->done, &r->rows[i], &results[carried + i]));
  }
  for (int32_t i = 0; i < carried; i++) {
    nd4c_array **last = &r->places[2 * i + (int32_t)((r->done - 1) & 1)];
    results[i] = *last;
    *last = NULL;
  }
  return ND4C_OK;
}

static nd4c_status run_rounds(run *r, nd4c_array **results) {
  for (int32_t i = 0; i < r->rounds->carried + r->rounds->captured; i++) {
    ND4C_TRY(keep_given(r, i));
  }
  r->goes_on = 1;
  while (r->goes_on != 0 && r->done < r->rounds->most) {
    ND4C_TRY(nd4c_rounds_may_begin(r->rounds, r->done));
    ND4C_TRY(run_round(r));
  }
  return give_results(r, results);
}

static nd4c_status claim_lists(run *r, nd4c_region *region) {
  const nd4c_rounds *rounds = r->rounds;
  const nd4c_graph *graph = r->caller->graph;
  const int32_t given = rounds->carried + rounds->captured, outputs = graph->outputs.count;
  ND4C_TRY(nd4c_region_make(region, given, sizeof *r->kept, &r->kept));
  ND4C_TRY(nd4c_region_make(region, given, sizeof *r->first, &r->first));
  ND4C_TRY(nd4c_region_make(region, 2 * (int64_t)rounds->carried, sizeof *r->places, &r->places));
  ND4C_TRY(nd4c_region_make(region, 2 * (int64_t)rounds->carried, sizeof *r->place_at, &r->place_at));
  ND4C_TRY(nd4c_region_make(region, rounds->collected, sizeof *r->rows, &r->rows));
  ND4C_TRY(nd4c_region_make(region, rounds->collected, sizeof *r->rows_at, &r->rows_at));
  ND4C_TRY(nd4c_region_make(region, graph->inputs.count, sizeof *r->inputs, &r->inputs));
  ND4C_TRY(nd4c_region_make(region, outputs, sizeof *r->outputs, &r->outputs));
  ND4C_TRY(nd4c_region_make(region, outputs, sizeof *r->values, &r->values));
  for (int32_t i = 0; i < outputs; i++) {
    r->values[i] = &graph->values[graph->outputs.items[i].value];
  }
  return ND4C_OK;
}

static void release_arrays(const run *r) {
  for (int32_t i = 0; i < r->rounds->carried + r->rounds->captured; i++) {
    nd4c_array_release(r->kept[i]);
  }
  for (int32_t i = 0; i < 2 * r->rounds->carried; i++) {
    nd4c_array_release(r->places[i]);
  }
  for (int32_t i = 0; i < r->rounds->collected; i++) {
    nd4c_array_release(r->rows[i].array);
  }
}

static nd4c_status run_direct(nd4c_plan *caller, nd4c_context *context, const nd4c_rounds *rounds,
                              const nd4c_array *const *given, nd4c_array **results) {
  run r = {.caller = caller, .context = context, .rounds = rounds, .given = given};
  nd4c_region region = {0};
  nd4c_status status = claim_lists(&r, &region);
  if (status == ND4C_OK) {
    nd4c_plan_bind_cancellation(caller);
    status = run_rounds(&r, results);
    release_arrays(&r);
  }
  nd4c_region_free(&region);
  return status;
}

/* -- both ---------------------------------------------------------------------------------------------------------- */

static nd4c_status run_caller(nd4c_plan *body, nd4c_context *context, const nd4c_rounds *rounds,
                              const nd4c_array *const *given, nd4c_array **results) {
  nd4c_plan *caller = NULL;
  ND4C_TRY(nd4c_callers_take(body, &caller));
  nd4c_status status = nd4c_plan_move(caller, context);
  if (status == ND4C_OK) {
    status = run_direct(caller, context, rounds, given, results);
    (void)nd4c_plan_move(caller, NULL); /* cannot fail: a plan in mode direct is on a synchronous device */
  }
  nd4c_callers_give(body, caller);
  return status;
}

nd4c_status nd4c_rounds_run(nd4c_plan *body, nd4c_context *context, const nd4c_rounds *rounds,
                            const nd4c_array *const *given, nd4c_array **results) {
  const int32_t count = rounds->carried + rounds->collected;
  const bool direct = body->dynamic == NULL && nd4c_plan_is_direct(body);
  const nd4c_status status = direct ? run_caller(body, context, rounds, given, results)
                                    : nd4c_rounds_run_arrays(body, context, rounds, given, results);
  for (int32_t i = 0; i < count && status != ND4C_OK; i++) {
    nd4c_array_release(results[i]);
    results[i] = NULL;
  }
  return status;
}
