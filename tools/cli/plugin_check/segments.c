/* Section `segments`: the results of the plug-in's compilers, run with operands that lie elsewhere than at the start of
 * contiguous memory, with many elements, and with none. Kernels may do the same calls by themselves; the plans here
 * have several nodes, which nd4c leaves to compilers. The section table of plugin_check.c lists it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { LARGE = 100001, MOST = 400000, GIVEN = 0x5b, CASES = 3, LARGE_TRIES = 6 };

typedef struct tally {
  int32_t plans, special, large, empty;
  nd4c_op op;           /* the latest one */
  int32_t cases, tries; /* of it: with the case's own elements, and large ones */
  bool has_large, has_empty;
} tally;

/* Runs the plan into arrays that it makes. */
static void run_fresh(plugin_round *round, const plugin_case *own, nd4c_plan *plan, nd4c_array *const *inputs,
                      const char *how) {
  nd4c_array *got[SELFTEST_OUTPUTS] = {NULL};
  if (plugin_check_status(round->check, plugin_plan_run(plan, own, inputs, got), "%s, %s", own->label, how)) {
    (void)plugin_case_compare(round->check, own, round->host, got, how);
  }
  plugin_arrays_release(got, SELFTEST_OUTPUTS);
}

/* Runs the plan into parts of larger arrays. */
static void run_given(plugin_round *round, const plugin_case *own, nd4c_plan *plan, nd4c_array *const *inputs,
                      const char *how) {
  nd4c_array *large[SELFTEST_OUTPUTS] = {NULL}, *views[SELFTEST_OUTPUTS] = {NULL};
  nd4c_status status = ND4C_OK;
  char words[128];
  (void)snprintf(words, sizeof words, "%s, into a part of an array", how);
  for (int32_t i = 0; i < own->c->op->output_count && status == ND4C_OK; i++) {
    nd4c_device *device = nd4c_context_device(round->context);
    status = plugin_output_make(own->wanted[i], device, GIVEN, PLUGIN_PART, &large[i], &views[i]);
  }
  status = status == ND4C_OK ? plugin_plan_run(plan, own, inputs, views) : status;
  if (plugin_check_status(round->check, status, "%s, %s", own->label, words) &&
      plugin_case_compare(round->check, own, round->host, views, words)) {
    for (int32_t i = 0; i < own->c->op->output_count; i++) {
      (void)plugin_check_that(round->check, plugin_output_beside(large[i], views[i], GIVEN) == 0,
                              "%s, %s: something beside output %d was written", own->label, words, (int)i);
    }
  }
  plugin_arrays_release(views, SELFTEST_OUTPUTS);
  plugin_arrays_release(large, SELFTEST_OUTPUTS);
}

static void run_layout(plugin_round *round, const plugin_case *own, nd4c_plan *plan, plugin_layout layout,
                       const char *elements) {
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL};
  bool differs = false;
  char how[96];
  (void)snprintf(how, sizeof how, "%s%s", elements, plugin_layout_names[layout]);
  plugin_check_at("%s, %s", own->label, how);
  const nd4c_status status = plugin_case_inputs(own, layout, round->relaxed, inputs, &differs);
  if (plugin_check_status(round->check, status, "%s, %s: inputs", own->label, how) &&
      (differs || layout == PLUGIN_CONTIGUOUS)) {
    run_fresh(round, own, plan, inputs, how);
    if (layout <= PLUGIN_OFFSET) {
      run_given(round, own, plan, inputs, how);
    }
  }
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
}

/* Layouts up to `last` of both plans of the case. Returns how many plans were compiled. */
static int32_t run_plans(plugin_round *round, const plugin_case *p, plugin_layout last, const char *elements) {
  int32_t compiled = 0;
  for (int32_t again = 0; again < 2; again++) {
    plugin_case own;
    nd4c_plan *plan = NULL;
    plugin_check_at("%s, %splanned", p->label, elements);
    plugin_plan_compiled(round, p, again == 1, &own, &plan);
    for (plugin_layout layout = PLUGIN_CONTIGUOUS; layout <= last && plan != NULL; layout++) {
      run_layout(round, &own, plan, layout, elements);
    }
    compiled += plan != NULL;
    nd4c_plan_destroy(plan);
    plugin_arrays_release(own.wanted, SELFTEST_OUTPUTS);
  }
  return compiled;
}

/* -- other extents ------------------------------------------------------------------------------------------------- */

/* The first axis of the first input, and of those of its shape if `alike`, gets so many elements that all have `wanted`
 * or a few more. Reals are whole numbers of little size, which add up exactly in any order. False: there is no such
 * case, or no memory. */
static bool resize(const selftest_case *from, int64_t wanted, bool alike, selftest_case *to) {
  const selftest_input *first = &from->inputs[0];
  bool sound = from->input_count > 0 && first->varies && first->rank > 0 && first->count > 0;
  *to = *from;
  for (int32_t i = 0; sound && i < to->input_count; i++) {
    selftest_input *input = &to->inputs[i];
    const bool same = input->dtype != ND4C_DTYPE_NONE && input->varies && input->rank == first->rank &&
                      memcmp(input->shape, first->shape, (size_t)first->rank * sizeof first->shape[0]) == 0;
    if (i > 0 && !(alike && same)) {
      continue;
    }
    const int64_t rest = first->count / first->shape[0];
    input->shape[0] = (wanted + rest - 1) / rest;
    input->count = input->shape[0] * rest;
    input->integers = NULL;
    input->reals = input->count <= MOST ? calloc((size_t)input->count + 1, sizeof *input->reals) : NULL;
    sound = input->reals != NULL;
    for (int64_t k = 0; sound && k < input->count; k++) {
      const double *reals = from->inputs[i].reals;
      input->reals[k] = reals != NULL ? fmod(trunc(reals[k % from->inputs[i].count]), 3) : 1;
    }
  }
  return sound;
}

/* Returns how many plans of the resized case were compiled. */
static int32_t run_resized(plugin_round *round, const plugin_case *p, int64_t wanted, bool alike,
                           const char *elements) {
  selftest_case resized;
  plugin_case changed = *p;
  int32_t compiled = 0;
  memset(changed.wanted, 0, sizeof changed.wanted);
  changed.c = &resized;
  if (resize(p->c, wanted, alike, &resized) && plugin_case_wanted(&changed, round->host) == ND4C_OK &&
      plugin_check_status(round->check, plugin_target_force(round->target), "%s", p->label)) {
    compiled = run_plans(round, &changed, PLUGIN_OFFSET, elements);
  }
  (void)plugin_target_force(round->target);
  plugin_arrays_release(changed.wanted, SELFTEST_OUTPUTS);
  plugin_extents_clear(p->c, &resized);
  return compiled;
}

/* Gives the first input NaN, and zeros of both signs, if the op works on elements one by one. */
static int32_t run_special(plugin_round *round, const plugin_case *p) {
  const nd4c_category category = p->c->op->category;
  const bool by_element =
      category == ND4C_CATEGORY_UNARY || category == ND4C_CATEGORY_BINARY || category == ND4C_CATEGORY_TERNARY;
  selftest_case special;
  plugin_case changed = *p;
  int32_t compiled = 0;
  if (!by_element || (p->dtype != ND4C_FLOAT32 && p->dtype != ND4C_FLOAT64)) {
    return 0;
  }
  memset(changed.wanted, 0, sizeof changed.wanted);
  changed.c = &special;
  if (plugin_extents_special(p->c, false, &special) && plugin_case_wanted(&changed, round->host) == ND4C_OK &&
      plugin_check_status(round->check, plugin_target_force(round->target), "%s", p->label)) {
    compiled = run_plans(round, &changed, PLUGIN_CONTIGUOUS, "with NaN, ");
  }
  (void)plugin_target_force(round->target);
  plugin_arrays_release(changed.wanted, SELFTEST_OUTPUTS);
  plugin_extents_clear(p->c, &special);
  return compiled;
}

/* -- all of it ----------------------------------------------------------------------------------------------------- */

static void run_case(plugin_round *round, const plugin_case *p) {
  tally *t = round->user;
  if (p->c->op->op != t->op) {
    t->op = p->c->op->op;
    t->cases = t->tries = 0;
    t->has_large = t->has_empty = false;
  }
  if (t->cases < CASES) {
    const int32_t compiled = run_plans(round, p, PLUGIN_LAYOUTS - 1, "");
    t->cases += compiled > 0;
    t->plans += compiled;
    t->special += compiled > 0 ? run_special(round, p) : 0;
  }
  for (int32_t alike = 1; alike >= 0 && t->cases > 0; alike--) {
    if (!t->has_large && t->tries < LARGE_TRIES) {
      const int32_t compiled = run_resized(round, p, LARGE, alike == 1, "more than 100000 elements, ");
      t->tries++;
      t->has_large = compiled > 0;
      t->large += compiled;
    }
    if (!t->has_empty) {
      const int32_t compiled = run_resized(round, p, 0, alike == 1, "no elements, ");
      t->has_empty = compiled > 0;
      t->empty += compiled;
    }
  }
}

void plugin_section_segments(plugin_check *check) {
  tally t = {.plans = 0};
  const bool compiles = plugin_cases_each(check, PLUGIN_PLANS, 0, run_case, &t);
  (t.plans > 0 || !compiles ? plugin_check_note : plugin_check_skip)(
      "%d compiled plans in other layouts, %d with NaN, %d of more than 100000 elements, %d without elements%s",
      (int)t.plans, (int)t.special, (int)t.large, (int)t.empty, compiles ? "" : "; it brings no compilers");
}
