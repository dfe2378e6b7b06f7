/* The phase of a plan with dims, as its report and nd4c_plan_get_bindings tell it: whether its runs keep bringing the
 * same extents. dynamic_bindings.c notes each run. */
#include <string.h>

#include "base/status.h"
#include "graph/dynamic.h"

enum { SHOWN = 200 };

static const char *const names[] = {[ND4C_PLAN_RECORDING] = "recording (no run yet)",
                                    [ND4C_PLAN_STABILISING] = "stabilising (extents still change)",
                                    [ND4C_PLAN_FROZEN] = "frozen (runs bring the same extents)",
                                    [ND4C_PLAN_THAWED] = "thawed (extents changed after it was frozen)"};

static void thaw(nd4c_dynamic_phase *state, const int64_t *dims) {
  int32_t dim = 0;
  while (dims[dim] == state->latest[dim]) {
    dim++;
  }
  state->phase = ND4C_PLAN_THAWED;
  state->thaws++;
  state->thawed_at = state->runs;
  state->thawed_by = dim;
  state->thawed_from = state->latest[dim];
  state->thawed_to = dims[dim];
}

void nd4c_phase_note(nd4c_dynamic *dynamic, const int64_t *dims) {
  nd4c_dynamic_phase *state = &dynamic->phase;
  const size_t bytes = (size_t)dynamic->dim_count * sizeof *dims;
  state->runs++;
  if (state->runs > 1 && memcmp(state->latest, dims, bytes) == 0) {
    state->same++;
    state->phase = state->same >= ND4C_DYNAMIC_FREEZE_RUNS ? ND4C_PLAN_FROZEN : state->phase;
    return;
  }
  if (state->phase == ND4C_PLAN_FROZEN) {
    thaw(state, dims);
  } else if (state->phase == ND4C_PLAN_RECORDING) {
    state->phase = ND4C_PLAN_STABILISING;
  }
  state->same = 1;
  memcpy(state->latest, dims, bytes);
}

/* -- what programs see -----------------------------------------------------------------------------------------------
 */

nd4c_status nd4c_plan_get_bindings(const nd4c_plan *plan, nd4c_plan_bindings *bindings) {
  ND4C_TRY(nd4c_plan_check(plan));
  if (bindings == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_plan_get_bindings: bindings is NULL");
  }
  const uint32_t size = bindings->struct_size;
  const size_t known = size < sizeof *bindings ? size : sizeof *bindings;
  if (!ND4C_HAS_FIELD(bindings, prepare_nanoseconds)) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_plan_get_bindings: struct_size is %u, expected at least %u", size,
                     ND4C_SIZE_OF(nd4c_plan_bindings));
  }
  nd4c_plan_bindings found = {.phase = ND4C_PLAN_FROZEN};
  if (plan->dynamic != NULL) {
    nd4c_lock_acquire(&plan->dynamic->lock);
    found = plan->dynamic->counts;
    found.phase = plan->dynamic->phase.phase;
    found.runs = plan->dynamic->phase.runs;
    found.thaws = plan->dynamic->phase.thaws;
    nd4c_lock_release(&plan->dynamic->lock);
    found.arena_bytes = nd4c_arenas_bytes(&plan->dynamic->arenas);
  }
  found.struct_size = size;
  memcpy(bindings, &found, known);
  return ND4C_OK;
}

static void print_dims(const nd4c_plan *plan, const int64_t *dims, nd4c_text *text) {
  for (int32_t i = 0; i < plan->dynamic->dim_count; i++) {
    nd4c_text_print(text, "%s%.*s = %lld", i > 0 ? ", " : "", SHOWN, nd4c_extents_dim_name(plan->graph->extents, i),
                    (long long)dims[i]);
  }
}

void nd4c_dynamic_print_time(int64_t count, int64_t nanoseconds, int64_t preparing, int64_t prepared, nd4c_text *text) {
  nd4c_text_print(text,
                  "  %.1f us for each, of which kernels' own preparation took %.1f us; %lld times a kernel prepared "
                  "something\n",
                  (double)nanoseconds / 1e3 / (double)count, (double)preparing / 1e3 / (double)count,
                  (long long)prepared);
}

/* Under the lock. */
static void print_phase(const nd4c_plan *plan, nd4c_text *text) {
  const nd4c_dynamic_phase *state = &plan->dynamic->phase;
  nd4c_text_print(text, "phase: %s", names[state->phase]);
  if (state->runs > 0) {
    nd4c_text_print(text, "; the latest %lld of %lld runs had ", (long long)state->same, (long long)state->runs);
    print_dims(plan, state->latest, text);
  }
  nd4c_text_print(text, "\n");
  if (state->thaws > 0) {
    nd4c_text_print(text, "  thawed %lld times, last by run %lld: '%.*s' changed from %lld to %lld\n",
                    (long long)state->thaws, (long long)state->thawed_at, SHOWN,
                    nd4c_extents_dim_name(plan->graph->extents, state->thawed_by), (long long)state->thawed_from,
                    (long long)state->thawed_to);
  }
}

static void print_bindings(const nd4c_plan *plan, nd4c_text *text) {
  const nd4c_plan_bindings *counts = &plan->dynamic->counts;
  nd4c_text_print(text, "bindings: %lld made, %lld reused, %lld dropped; %lld kept in %lld of %lld bytes\n",
                  (long long)counts->made, (long long)counts->reused, (long long)counts->dropped,
                  (long long)counts->kept, (long long)counts->bytes, (long long)counts->byte_limit);
  if (counts->kept > 0 && plan->dynamic->arenas.device != NULL) {
    nd4c_text_print(text, "  arenas of %lld bytes, which their runs share\n",
                    (long long)nd4c_arenas_bytes(&plan->dynamic->arenas));
  }
  if (counts->made > 0) {
    nd4c_dynamic_print_time(counts->made, counts->nanoseconds, counts->prepare_nanoseconds, counts->prepared, text);
  }
  nd4c_buckets_print(plan, text);
  for (int32_t i = 0; i < ND4C_DYNAMIC_BUCKETS; i++) {
    for (const nd4c_plan_binding *at = plan->dynamic->buckets[i]; at != NULL; at = at->next) {
      nd4c_text_print(text, "  ");
      print_dims(plan, at->dims, text);
      if (at->top != NULL) {
        nd4c_text_print(text, " (bucket up to ");
        print_dims(plan, at->top, text);
        nd4c_text_print(text, ")");
      }
      nd4c_text_print(text, ": %d steps, arena of %lld bytes, %s", at->plan->step_count,
                      (long long)at->plan->arena_bytes, at->run > 0 ? "last used by run " : "prepared, no run yet\n");
      if (at->run > 0) {
        nd4c_text_print(text, "%lld\n", (long long)at->run);
      }
    }
  }
}

static void print_extents(const nd4c_plan *plan, nd4c_text *text) {
  const nd4c_extents *extents = plan->graph->extents;
  for (int32_t i = 0; i < plan->dynamic->dim_count; i++) {
    const nd4c_dim_place *place = &plan->dynamic->places[plan->dynamic->sources[i]];
    nd4c_text_print(text, "dim '%.*s': from axis %d of input '%.*s'\n", SHOWN, nd4c_extents_dim_name(extents, i),
                    place->axis, SHOWN, plan->graph->inputs.items[place->input].name);
  }
  for (int32_t i = 0; i < nd4c_extents_guard_count(extents); i++) {
    char guard[1024];
    nd4c_text_print(text, "assumes %s\n", nd4c_extents_guard_text(extents, i, guard, sizeof guard));
  }
}

void nd4c_dynamic_print(const nd4c_plan *plan, void (*print)(const nd4c_plan *bound, nd4c_text *text),
                        nd4c_text *text) {
  print_extents(plan, text);
  nd4c_plan_print_passes(plan, false, text);
  nd4c_lock_acquire(&plan->dynamic->lock);
  print_phase(plan, text);
  print_bindings(plan, text);
  const nd4c_plan_binding *latest = nd4c_bindings_latest(plan->dynamic);
  if (latest != NULL) {
    nd4c_text_print(text, "the binding that was used last:\n");
    print(latest->plan, text);
  }
  nd4c_lock_release(&plan->dynamic->lock);
}
