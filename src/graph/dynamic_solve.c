/* The dims of a run, from the shapes of its inputs. dynamic.c finds once where each dim can be read, and solves in each
 * run; nothing here allocates in a run. */
#include <stdio.h>
#include <string.h>

#include "array/shape.h"
#include "base/status.h"
#include "graph/dynamic.h"

enum { SHOWN = 200 };

static const nd4c_graph_port *port_of(const nd4c_plan *plan, int32_t input) {
  return &plan->graph->inputs.items[input];
}

static const nd4c_graph_value *value_of(const nd4c_plan *plan, int32_t input) {
  return &plan->graph->values[port_of(plan, input)->value];
}

/* -- once ---------------------------------------------------------------------------------------------------------- */

static int32_t count_places(const nd4c_plan *plan) {
  int32_t count = 0;
  for (int32_t i = 0; i < plan->graph->inputs.count; i++) {
    const nd4c_graph_value *value = value_of(plan, i);
    for (int32_t axis = 0; axis < value->rank; axis++) {
      count += nd4c_extent_is_symbolic(value->shape[axis]);
    }
  }
  return count;
}

static void list_places(const nd4c_plan *plan, nd4c_dynamic *dynamic) {
  for (int32_t i = 0; i < plan->graph->inputs.count; i++) {
    const nd4c_graph_value *value = value_of(plan, i);
    for (int32_t axis = 0; axis < value->rank; axis++) {
      if (!nd4c_extent_is_symbolic(value->shape[axis])) {
        continue;
      }
      nd4c_dim_place *place = &dynamic->places[dynamic->place_count++];
      *place = (nd4c_dim_place){.input = i, .axis = axis};
      if (!nd4c_extents_linear(plan->graph->extents, value->shape[axis], &place->dim, &place->factor, &place->offset)) {
        place->dim = -1;
      }
    }
  }
}

/* The first place that is the dim itself; else the first from which it follows; -1: there is none. */
static int32_t source_of(const nd4c_dynamic *dynamic, int32_t dim) {
  int32_t found = -1;
  for (int32_t i = dynamic->place_count - 1; i >= 0; i--) {
    const nd4c_dim_place *place = &dynamic->places[i];
    const bool itself = place->factor == 1 && place->offset == 0;
    const bool better = found < 0 || itself || dynamic->places[found].factor != 1 || dynamic->places[found].offset != 0;
    found = place->dim == dim && better ? i : found;
  }
  return found;
}

nd4c_status nd4c_dims_find(nd4c_plan *plan) {
  nd4c_dynamic *dynamic = plan->dynamic;
  int32_t *sources = NULL;
  ND4C_TRY(nd4c_region_make(&plan->region, count_places(plan), sizeof *dynamic->places, &dynamic->places));
  ND4C_TRY(nd4c_region_make(&plan->region, dynamic->dim_count, sizeof *sources, &sources));
  list_places(plan, dynamic);
  for (int32_t i = 0; i < dynamic->dim_count; i++) {
    sources[i] = source_of(dynamic, i);
    if (sources[i] < 0) {
      const char *name = nd4c_extents_dim_name(plan->graph->extents, i);
      return nd4c_fail(ND4C_UNSUPPORTED,
                       "nd4c_plan_create: dim '%.*s' does not follow from the inputs: expected an input with an extent "
                       "that is '%.*s' alone, or a multiple of it plus a number",
                       SHOWN, name, SHOWN, name);
    }
  }
  dynamic->sources = sources;
  return ND4C_OK;
}

/* -- in each run --------------------------------------------------------------------------------------------------- */

/* False if the extent is no value of the place's expression. */
static bool read_dim(const nd4c_dim_place *place, int64_t extent, int64_t *dim) {
  int64_t multiple = 0;
  if (place->factor == 1 && place->offset == 0) {
    *dim = extent;
    return true;
  }
  if (!nd4c_checked_subtract(extent, place->offset, &multiple) ||
      (place->factor == -1 ? multiple == INT64_MIN : multiple % place->factor != 0)) {
    return false;
  }
  *dim = multiple / place->factor;
  return *dim >= 0;
}

static const char *extent_text(const nd4c_plan *plan, const nd4c_dim_place *place, char *buffer, size_t size) {
  return nd4c_extents_text(plan->graph->extents, value_of(plan, place->input)->shape[place->axis], buffer, size);
}

static nd4c_status refuse_extent(const nd4c_plan *plan, const nd4c_dim_place *place, int64_t extent) {
  char expected[SHOWN];
  return nd4c_fail(ND4C_SHAPE, "plan: input '%.*s' has %lld on axis %d, expected %s", SHOWN,
                   port_of(plan, place->input)->name, (long long)extent, place->axis,
                   extent_text(plan, place, expected, sizeof expected));
}

static nd4c_status refuse_dim(const nd4c_plan *plan, const nd4c_dim_place *place, int64_t extent, int64_t dim) {
  const nd4c_dim_place *source = &plan->dynamic->places[plan->dynamic->sources[place->dim]];
  char expected[SHOWN];
  return nd4c_fail(
      ND4C_SHAPE,
      "plan: dim '%.*s' is %lld by axis %d of input '%.*s', but input '%.*s' has %lld on axis %d, expected %s", SHOWN,
      nd4c_extents_dim_name(plan->graph->extents, place->dim), (long long)dim, source->axis, SHOWN,
      port_of(plan, source->input)->name, SHOWN, port_of(plan, place->input)->name, (long long)extent, place->axis,
      extent_text(plan, place, expected, sizeof expected));
}

nd4c_status nd4c_dims_solve(const nd4c_plan *plan, const nd4c_array *const *inputs, int64_t *dims) {
  const nd4c_dynamic *dynamic = plan->dynamic;
  for (int32_t i = 0; i < plan->graph->inputs.count; i++) {
    ND4C_TRY(nd4c_plan_check_port(plan, "input", port_of(plan, i), inputs[i]));
  }
  for (int32_t i = 0; i < dynamic->dim_count; i++) {
    const nd4c_dim_place *place = &dynamic->places[dynamic->sources[i]];
    const int64_t extent = inputs[place->input]->shape[place->axis];
    if (!read_dim(place, extent, &dims[i])) {
      return refuse_extent(plan, place, extent);
    }
  }
  for (int32_t i = 0; i < dynamic->place_count; i++) {
    const nd4c_dim_place *place = &dynamic->places[i];
    const int64_t extent = inputs[place->input]->shape[place->axis];
    int64_t dim = 0;
    if (place->dim >= 0 && (!read_dim(place, extent, &dim) || dim != dims[place->dim])) {
      return refuse_dim(plan, place, extent, dims[place->dim]);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_dims_check(const nd4c_plan *plan, const nd4c_graph *bound, const nd4c_array *const *inputs) {
  for (int32_t i = 0; i < plan->dynamic->place_count; i++) {
    const nd4c_dim_place *place = &plan->dynamic->places[i];
    const nd4c_graph_value *value = &bound->values[bound->inputs.items[place->input].value];
    const int64_t given = inputs[place->input]->shape[place->axis];
    if (place->dim < 0 && given != value->shape[place->axis]) {
      char expected[SHOWN];
      return nd4c_fail(ND4C_SHAPE, "plan: input '%.*s' has %lld on axis %d, expected %lld (%s)", SHOWN,
                       port_of(plan, place->input)->name, (long long)given, place->axis,
                       (long long)value->shape[place->axis], extent_text(plan, place, expected, sizeof expected));
    }
  }
  return ND4C_OK;
}
