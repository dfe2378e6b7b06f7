/* Section `outputs`: outputs that the caller gives: parts of larger arrays, of which a kernel writes its elements and
 * no others, of sizes that no width of a vector divides too; and an input that is the output as well. plugin_check.c
 * lists the section; own.c and segments.c make such outputs with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { GIVEN = 0x5b, GUARD = 64, TRIES = 3 };

/* Extents at which whole vectors leave a rest. */
static const int64_t odd_extents[] = {1, 5, 7, 13};
enum { ODD_EXTENTS = sizeof odd_extents / sizeof odd_extents[0] };

typedef enum way { BEGIN, PART, EVERY_SECOND, ODD, IN_PLACE, WAYS } way;
static const char *const way_names[WAYS] = {"at the beginning of an array", "into a part of an array",
                                            "into every second element", "of odd extents", "in place"};

typedef struct tally {
  int32_t computed[WAYS], declined[WAYS];
  nd4c_op done; /* the latest op and dtype whose odd extents were tried */
  nd4c_dtype dtype;
} tally;

/* -- arrays around outputs ----------------------------------------------------------------------------------------- */

/* Bytes of bools are 0 or 1. */
static unsigned char filler_of(nd4c_dtype dtype, unsigned char filler) {
  return dtype == ND4C_BOOL ? filler & 1 : filler;
}

nd4c_status plugin_output_make(const nd4c_array *wanted, nd4c_device *device, unsigned char filler, plugin_place place,
                               nd4c_array **large, nd4c_array **view) {
  const int32_t rank = nd4c_array_rank(wanted);
  const int64_t *shape = nd4c_array_shape(wanted);
  const int64_t step = place == PLUGIN_EVERY_SECOND ? 2 : 1, first = place == PLUGIN_BEGIN ? 0 : step;
  int64_t strides[SELFTEST_RANK], elements = step;
  for (int32_t axis = rank - 1; axis >= 0; axis--) {
    strides[axis] = elements;
    elements *= shape[axis];
  }
  const int64_t whole = first + elements + GUARD;
  const size_t bytes = (size_t)(whole * nd4c_dtype_size(nd4c_array_dtype(wanted)));
  void *data = malloc(bytes);
  if (data == NULL) {
    return ND4C_MEMORY;
  }
  memset(data, filler_of(nd4c_array_dtype(wanted), filler), bytes);
  nd4c_status status = nd4c_array_from_data(nd4c_array_dtype(wanted), 1, &whole, data, device, large);
  free(data);
  return status == ND4C_OK ? nd4c_array_as_strided(*large, rank, shape, strides, first, view) : status;
}

int64_t plugin_output_changed(const nd4c_array *array, unsigned char filler) {
  const size_t width = (size_t)nd4c_dtype_size(nd4c_array_dtype(array));
  const size_t bytes = (size_t)nd4c_array_size(array) * width;
  const unsigned char before = filler_of(nd4c_array_dtype(array), filler);
  unsigned char *data = malloc(bytes);
  int64_t changed = data != NULL && nd4c_array_read(array, data, bytes) == ND4C_OK ? 0 : INT64_MAX;
  for (size_t i = 0; changed != INT64_MAX && i < bytes; i += width) {
    bool same = true;
    for (size_t k = 0; k < width; k++) {
      same = same && data[i + k] == before;
    }
    changed += !same;
  }
  free(data);
  return changed;
}

int64_t plugin_output_beside(const nd4c_array *large, const nd4c_array *view, unsigned char filler) {
  const int64_t all = plugin_output_changed(large, filler), inside = plugin_output_changed(view, filler);
  return all == INT64_MAX || inside == INT64_MAX ? INT64_MAX : all - inside;
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

/* Whether outputs that a refused call was given hold what they held. */
static void check_untouched(plugin_round *round, const plugin_case *p, nd4c_array *const *large, const char *how) {
  for (int32_t i = 0; i < p->c->op->output_count; i++) {
    (void)plugin_check_that(round->check, plugin_output_changed(large[i], GIVEN) == 0,
                            "%s, %s: the refused call changed output %d", p->label, how, (int)i);
  }
}

/* Calls into outputs that lie as `place` says. */
static void call_given(plugin_round *round, const plugin_case *p, nd4c_array *const *inputs, plugin_place place,
                       const char *how, way counted) {
  tally *t = round->user;
  nd4c_array *large[SELFTEST_OUTPUTS] = {NULL}, *views[SELFTEST_OUTPUTS] = {NULL};
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < p->c->op->output_count && status == ND4C_OK; i++) {
    status = plugin_output_make(p->wanted[i], nd4c_context_device(round->context), GIVEN, place, &large[i], &views[i]);
  }
  if (plugin_check_status(round->check, status, "%s, %s: arrays", p->label, how)) {
    status = plugin_case_call(p, inputs, round->context, views);
    if (plugin_declined(status)) {
      t->declined[counted]++;
      check_untouched(round, p, large, how);
    } else if (plugin_check_status(round->check, status, "%s, %s", p->label, how) &&
               plugin_case_compare(round->check, p, round->host, views, how)) {
      t->computed[counted]++;
      for (int32_t i = 0; i < p->c->op->output_count; i++) {
        (void)plugin_check_that(round->check, plugin_output_beside(large[i], views[i], GIVEN) == 0,
                                "%s, %s: something beside output %d was written", p->label, how, (int)i);
      }
    }
  }
  plugin_arrays_release(views, SELFTEST_OUTPUTS);
  plugin_arrays_release(large, SELFTEST_OUTPUTS);
}

/* Whether every output has elements of a size. */
static bool can_be_given(const plugin_case *p) {
  bool can = true;
  for (int32_t i = 0; i < p->c->op->output_count; i++) {
    can = can && nd4c_dtype_size(nd4c_array_dtype(p->wanted[i])) > 0 && nd4c_array_size(p->wanted[i]) > 0;
  }
  return can;
}

static void compute_given(plugin_round *round, const plugin_case *p) {
  static const plugin_place places[] = {
      [BEGIN] = PLUGIN_BEGIN, [PART] = PLUGIN_PART, [EVERY_SECOND] = PLUGIN_EVERY_SECOND};
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL};
  bool differs = false;
  const nd4c_status status = plugin_case_inputs(p, PLUGIN_CONTIGUOUS, round->context, inputs, &differs);
  if (can_be_given(p) && plugin_check_status(round->check, status, "%s: inputs", p->label)) {
    for (way w = BEGIN; w <= EVERY_SECOND; w++) {
      call_given(round, p, inputs, places[w], way_names[w], w);
    }
  }
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
}

/* The case with another extent along an axis. False: the op does not take it so. */
static bool compute_odd(plugin_round *round, const plugin_case *p, plugin_axis axis, int64_t extent) {
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL};
  selftest_case changed;
  plugin_case own = *p;
  bool differs = false, computes = false;
  memset(own.wanted, 0, sizeof own.wanted);
  own.c = &changed;
  if (plugin_extents_change(p->c, axis, extent, 0, &changed)) {
    char how[64];
    (void)snprintf(how, sizeof how, "with an extent of %d", (int)extent);
    plugin_check_at("%s, %s", p->label, how);
    computes = plugin_case_wanted(&own, round->host) == ND4C_OK && can_be_given(&own);
    if (plugin_check_status(round->check, plugin_target_force(round->target), "%s", p->label) && computes &&
        plugin_check_status(round->check, plugin_case_inputs(&own, PLUGIN_CONTIGUOUS, round->context, inputs, &differs),
                            "%s, %s: inputs", p->label, how)) {
      call_given(round, &own, inputs, PLUGIN_BEGIN, how, ODD);
      call_given(round, &own, inputs, PLUGIN_PART, how, ODD);
    }
  }
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
  plugin_arrays_release(own.wanted, SELFTEST_OUTPUTS);
  plugin_extents_clear(p->c, &changed);
  nd4c_error_clear();
  return computes;
}

/* Once for each op and dtype. */
static void compute_extents(plugin_round *round, const plugin_case *p) {
  static const plugin_axis axes[TRIES] = {PLUGIN_AXIS_LAST, PLUGIN_AXIS_ALIKE, PLUGIN_AXIS_FIRST};
  tally *t = round->user;
  bool taken = t->done == p->c->op->op && t->dtype == p->dtype;
  for (int32_t i = 0; i < TRIES && !taken; i++) {
    for (int32_t k = 0; k < ODD_EXTENTS; k++) {
      taken = compute_odd(round, p, axes[i], odd_extents[k]) || taken;
    }
  }
  if (taken) {
    t->done = p->c->op->op;
    t->dtype = p->dtype;
  }
}

/* Where the op may write over an input, the result must be the same. */
static void compute_in_place(plugin_round *round, const plugin_case *p) {
  tally *t = round->user;
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL}, *outputs[SELFTEST_OUTPUTS] = {NULL};
  bool differs = false;
  if (p->c->op->output_count != 1 ||
      plugin_case_inputs(p, PLUGIN_CONTIGUOUS, round->context, inputs, &differs) != ND4C_OK) {
    plugin_arrays_release(inputs, SELFTEST_INPUTS);
    return;
  }
  const nd4c_array *w = p->wanted[0];
  for (int32_t i = 0; i < p->c->input_count && outputs[0] == NULL; i++) {
    const bool same =
        inputs[i] != NULL && nd4c_array_dtype(inputs[i]) == nd4c_array_dtype(w) &&
        nd4c_array_rank(inputs[i]) == nd4c_array_rank(w) &&
        memcmp(nd4c_array_shape(inputs[i]), nd4c_array_shape(w), (size_t)nd4c_array_rank(w) * sizeof(int64_t)) == 0;
    outputs[0] = same ? inputs[i] : NULL;
  }
  if (outputs[0] != NULL) {
    const nd4c_status status = plugin_case_call(p, inputs, round->context, outputs);
    if (plugin_declined(status) || status == ND4C_ALIAS) {
      t->declined[IN_PLACE]++;
    } else if (plugin_check_status(round->check, status, "%s, in place", p->label)) {
      t->computed[IN_PLACE]++;
      (void)plugin_case_compare(round->check, p, round->host, outputs, "in place");
    }
  }
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
}

static void compute_outputs(plugin_round *round, const plugin_case *p) {
  compute_given(round, p);
  compute_extents(round, p);
  compute_in_place(round, p);
}

void plugin_section_outputs(plugin_check *check) {
  tally t = {.dtype = ND4C_DTYPE_NONE};
  (void)plugin_cases_each(check, PLUGIN_EAGER, 0, compute_outputs, &t);
  for (way w = BEGIN; w < WAYS; w++) {
    plugin_check_note("%s: %d computed, %d declined by the plug-in", way_names[w], (int)t.computed[w],
                      (int)t.declined[w]);
  }
}
