/* Section `values`: cases whose elements or extents are out of the ordinary. Infinities, zeros of both signs and NaN;
 * one large sample of each op; operands without elements. The section table of plugin_check.c lists it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { LARGE = 100001, TRIES = 6 };

typedef struct tally {
  int32_t special, large, empty, declined;
  nd4c_op done;  /* the latest op of which there was a large sample */
  int32_t tries; /* of this op, which may decline all */
  bool has_large, has_empty;
} tally;

/* What is done to the inputs of a case. */
typedef enum kind { SPECIAL, GROWN_FIRST, GROWN_LAST, GROWN_ALIKE, EMPTY_FIRST, EMPTY_LAST } kind;

/* Every input that varies and has elements gets whole numbers of little size: what is added up is exact in any
 * order. */
static void make_small(const selftest_case *from, selftest_case *to) {
  for (int32_t i = 0; i < to->input_count; i++) {
    selftest_input *input = &to->inputs[i];
    for (int64_t k = 0; input->reals != from->inputs[i].reals && k < input->count; k++) {
      input->reals[k] = fmod(trunc(input->reals[k]), 3);
    }
  }
}

/* A copy of the case with other elements; false where there is nothing to change. */
static bool change(const selftest_case *from, kind how, selftest_case *to) {
  static const plugin_axis axes[] = {[GROWN_FIRST] = PLUGIN_AXIS_FIRST,
                                     [GROWN_LAST] = PLUGIN_AXIS_LAST,
                                     [GROWN_ALIKE] = PLUGIN_AXIS_ALIKE,
                                     [EMPTY_FIRST] = PLUGIN_AXIS_FIRST,
                                     [EMPTY_LAST] = PLUGIN_AXIS_LAST};
  const bool empty = how == EMPTY_FIRST || how == EMPTY_LAST;
  if (how == SPECIAL) {
    return plugin_extents_special(from, from->op->category != ND4C_CATEGORY_UNARY, to);
  }
  const bool any = plugin_extents_change(from, axes[how], 0, empty ? 0 : LARGE, to);
  if (any && !empty) {
    make_small(from, to);
  }
  return any;
}

/* Whether the target and the reference both computed it. The target comes first: what it declines costs no
 * reference. */
static bool compute(plugin_round *round, const plugin_case *p, kind how, const char *words) {
  tally *t = round->user;
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL}, *got[SELFTEST_OUTPUTS] = {NULL};
  selftest_case changed;
  plugin_case own = *p;
  bool differs = false, computed = false;
  memset(own.wanted, 0, sizeof own.wanted);
  own.c = &changed;
  if (change(p->c, how, &changed)) {
    plugin_check_at("%s, %s", p->label, words);
    nd4c_status status = plugin_case_inputs(&own, PLUGIN_CONTIGUOUS, round->context, inputs, &differs);
    status = status == ND4C_OK ? plugin_case_call(&own, inputs, round->context, got) : status;
    /* What the op makes of so much may be more than the device has. */
    const bool full = status == ND4C_MEMORY || status == ND4C_MEMORY_CAP;
    const bool declined = plugin_declined(status) || (how != SPECIAL && full);
    char text[256];
    (void)snprintf(text, sizeof text, "%s", status != ND4C_OK ? nd4c_error_message() : "");
    t->declined += declined;
    /* Calls that the reference refuses, too, are none of these values. */
    if (!declined && plugin_case_wanted(&own, round->host) == ND4C_OK) {
      computed = true;
      if (plugin_check_that(round->check, status == ND4C_OK, "%s, %s: %s: %s", p->label, words,
                            nd4c_status_name(status), text)) {
        (void)plugin_case_compare(round->check, &own, round->host, got, words);
      }
    }
  }
  (void)plugin_check_status(round->check, plugin_target_force(round->target), "%s", p->label);
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
  plugin_arrays_release(got, SELFTEST_OUTPUTS);
  plugin_arrays_release(own.wanted, SELFTEST_OUTPUTS);
  plugin_extents_clear(p->c, &changed);
  return computed;
}

/* Ops on single elements define the result for a NaN; sums and products of many do as well, but each engine chooses
 * their order. */
static bool has_specials(const plugin_case *p) {
  static const nd4c_dtype_set floats = ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64);
  const nd4c_category category = p->c->op->category;
  return (floats & ND4C_DTYPE_BIT(p->dtype)) != 0 &&
         (category == ND4C_CATEGORY_UNARY || category == ND4C_CATEGORY_BINARY || category == ND4C_CATEGORY_TERNARY);
}

static void compute_unusual(plugin_round *round, const plugin_case *p) {
  tally *t = round->user;
  if (p->c->op->op != t->done) {
    t->done = p->c->op->op;
    t->has_large = t->has_empty = false;
    t->tries = 0;
  }
  if (has_specials(p)) {
    t->special += compute(round, p, SPECIAL, "with infinities and NaN");
  }
  static const kind grown[] = {GROWN_FIRST, GROWN_LAST, GROWN_ALIKE}, empty[] = {EMPTY_FIRST, EMPTY_LAST};
  for (size_t i = 0; i < sizeof grown / sizeof grown[0] && !t->has_large && t->tries < TRIES; i++) {
    t->tries++;
    t->has_large = compute(round, p, grown[i], "more than 100000 elements");
    t->large += t->has_large;
  }
  for (size_t i = 0; i < sizeof empty / sizeof empty[0] && !t->has_empty; i++) {
    t->has_empty = compute(round, p, empty[i], "no elements");
    t->empty += t->has_empty;
  }
}

void plugin_section_values(plugin_check *check) {
  tally t = {.special = 0};
  (void)plugin_cases_each(check, PLUGIN_EAGER, 0, compute_unusual, &t);
  plugin_check_note(
      "%d computed with infinities and NaN, %d of more than 100000 elements, %d without elements; %d declined "
      "by the plug-in",
      (int)t.special, (int)t.large, (int)t.empty, (int)t.declined);
}
