/* Carried values that each round makes longer (rounds.h), as the keys and values of a decoder: instead of a fresh array
 * with all rows copied, a round gets an array that begins with the earlier rows. rounds_arrays.c asks for it. */
#include <string.h>

#include "array/shape.h"
#include "base/checked.h"
#include "base/status.h"
#include "dispatch/routed.h"
#include "graph/dynamic.h"
#include "graph/ir/growing.h"
#include "graph/rounds.h"

/* -- which values grow --------------------------------------------------------------------------------------------- */

/* By the graph with dims, where numbers hold for all rounds, whose shapes and nodes' outputs its bindings share. */
static void look_at(const nd4c_graph *graph, int32_t input, int32_t output, nd4c_rounds_growth *growth) {
  growth->rows = nd4c_graph_growth(graph, input, output, &growth->axis);
  growth->grows =
      growth->rows > 0 && nd4c_axis_comes_first(growth->axis, graph->values[graph->outputs.items[output].value].shape);
}

void nd4c_rounds_find_growth(const nd4c_plan *body, const nd4c_rounds *rounds, nd4c_rounds_growth *growth) {
  const int32_t first = rounds->decides;
  nd4c_plan_binding *latest = body->dynamic == NULL ? NULL : nd4c_bindings_take_latest(body);
  if (latest == NULL) {
    return;
  }
  for (int32_t i = 0; i < rounds->carried && nd4c_plan_is_direct(latest->plan); i++) {
    look_at(body->graph, 1 + i, first + i, &growth[i]);
    growth[i].grows = growth[i].grows && nd4c_plan_may_extend(latest->plan, 1 + i, first + i);
  }
  nd4c_bindings_give(body, latest);
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

/* The first rows of an array, up to `extent` of them. */
static nd4c_status view_rows(const nd4c_array *array, int32_t axis, int64_t extent, nd4c_array **view) {
  int64_t shape[ND4C_MAX_RANK];
  memcpy(shape, array->shape, (size_t)array->rank * sizeof *shape);
  shape[axis] = extent;
  return nd4c_array_view(array, array->rank, shape, array->strides, array->offset, view);
}

/* Twice what is needed now, but no more than the rounds that follow can fill. */
static int64_t room_for(const nd4c_rounds *rounds, int64_t needed, int64_t rows, int64_t done) {
  int64_t twice = 0, all = 0;
  if (!nd4c_checked_add(needed, needed, &twice)) {
    return needed;
  }
  const bool known = nd4c_checked_multiply(rounds->most - done - 1, rows, &all) && nd4c_checked_add(all, needed, &all);
  return known && all < twice ? all : twice;
}

nd4c_status nd4c_rounds_grow(const nd4c_rounds *rounds, nd4c_context *context, const nd4c_array *past, int64_t done,
                             nd4c_rounds_growth *growth, nd4c_array **next) {
  int64_t needed = 0;
  if (!nd4c_checked_add(past->shape[growth->axis], growth->rows, &needed)) {
    return nd4c_fail(ND4C_OVERFLOW, "a carried value of more than 2^63 rows");
  }
  if (growth->room == NULL || growth->room->shape[growth->axis] < needed) {
    int64_t shape[ND4C_MAX_RANK];
    nd4c_array *more = NULL;
    memcpy(shape, past->shape, (size_t)past->rank * sizeof *shape);
    shape[growth->axis] = room_for(rounds, needed, growth->rows, done);
    ND4C_TRY(nd4c_array_empty(past->dtype, past->rank, shape, context->device, &more));
    nd4c_array_release(growth->room); /* `past` keeps its memory */
    growth->room = more;
  }
  return view_rows(growth->room, growth->axis, needed, next);
}

/* -- moved axes ---------------------------------------------------------------------------------------------------- */

/* A view in which axis `front` comes first, or, `back`, one in which the first axis is number `front` again. */
static nd4c_status view_turned(const nd4c_array *array, int32_t front, bool back, nd4c_array **view) {
  int64_t shape[ND4C_MAX_RANK], strides[ND4C_MAX_RANK];
  for (int32_t i = 0; i < array->rank; i++) {
    const int32_t apart = i == 0       ? front
                          : i <= front ? i - 1
                                       : i; /* where axis i of the turned array is in the other */
    const int32_t from = back ? i : apart, to = back ? apart : i;
    shape[to] = array->shape[from];
    strides[to] = array->strides[from];
  }
  return nd4c_array_view(array, array->rank, shape, strides, array->offset, view);
}

nd4c_status nd4c_rounds_turn(const nd4c_array *given, int32_t front, nd4c_array **view) {
  return view_turned(given, front, false, view);
}

/* An array of its own, with the axes where they were. */
static nd4c_status copy_last(nd4c_context *context, const nd4c_array *value, int32_t front, nd4c_array **own) {
  nd4c_array *view = NULL, *made = NULL;
  ND4C_TRY(view_turned(value, front, true, &view));
  nd4c_status status = nd4c_array_empty(view->dtype, view->rank, view->shape, context->device, &made);
  status = status == ND4C_OK ? nd4c_call_inside(context, ND4C_OP_copy, view, &made) : status;
  nd4c_array_release(view);
  if (status != ND4C_OK) {
    nd4c_array_release(made);
    return status;
  }
  *own = made;
  return ND4C_OK;
}

nd4c_status nd4c_rounds_end_growth(nd4c_context *context, nd4c_rounds_growth *growth, nd4c_array **last) {
  const bool over = growth->room != NULL && growth->room->size > (*last)->size;
  nd4c_array *own = NULL;
  nd4c_array_release(growth->room);
  growth->room = NULL;
  if (!over && growth->front == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(copy_last(context, *last, growth->front, &own));
  nd4c_array_release(*last);
  *last = own;
  return ND4C_OK;
}
