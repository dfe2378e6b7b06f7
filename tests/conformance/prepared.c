/* Cases with their arrays on the device; failures and skips. */
#include "prepared.h"

#include <stdio.h>
#include <string.h>

/* -- reports ---------------------------------------------------------------------------------------------------- */

void cf_fail(cf_run *run, const cf_place_of_run *place, const char *text) {
  const cf_options *o = &run->options;
  run->totals.failed++;
  (void)printf("nd4c_conformance --backend %s", o->backend);
  if (o->plugin != NULL) {
    (void)printf(" --plugin %s", o->plugin);
  }
  if (o->engine != NULL) {
    (void)printf(" --engine %s", o->engine);
  }
  (void)printf(" --op %s --dtype %s --case %d --layout %s --mode %s --seed %llu # %s\n", place->op,
               nd4c_dtype_name(place->dtype), place->number, place->layout, place->mode, (unsigned long long)o->seed,
               text);
}

void cf_skip(cf_run *run, const char *reason) {
  cf_totals *totals = &run->totals;
  totals->skipped++;
  int32_t i = 0;
  while (i < totals->reason_count &&
         strncmp(totals->reasons[i].text, reason, sizeof totals->reasons[i].text - 1) != 0) {
    i++;
  }
  if (i == CF_REASONS) {
    i--;
  }
  if (i == totals->reason_count) {
    totals->reason_count++;
    (void)snprintf(totals->reasons[i].text, sizeof totals->reasons[i].text, "%.*s",
                   (int)sizeof totals->reasons[i].text - 1, reason);
  }
  totals->reasons[i].count++;
}

static bool has_strings(const cf_prepared *p) {
  bool has = false;
  for (int32_t i = 0; i < p->c.input_count; i++) {
    has = has || p->c.inputs[i].dtype == ND4C_UTF8;
  }
  for (int32_t i = 0; i < p->output_count; i++) {
    has = has || p->expected[i].dtype == ND4C_UTF8;
  }
  return has;
}

bool cf_lacks_library(cf_run *run, const cf_place_of_run *place, nd4c_status status) {
  if (status != ND4C_LIBRARY || !run->options.without_libraries) {
    return false;
  }
  char reason[96];
  (void)snprintf(reason, sizeof reason, "a library that %s loads is not here", place->op);
  cf_skip(run, reason);
  return true;
}

/* The CPU's backend must have every op, other backends may lack some. Strings are computed only into fresh arrays. */
bool cf_skipped_status(cf_run *run, const cf_prepared *p, nd4c_status status) {
  bool strings = has_strings(p) && strcmp(p->place.mode, cf_mode_names[CF_MODE_fresh]) != 0;
  char reason[96];
  if (cf_lacks_library(run, &p->place, status)) {
    return true;
  }
  if (status != ND4C_UNSUPPORTED || (strcmp(run->options.backend, "cpu") == 0 && !strings)) {
    return false;
  }
  if (strings) {
    (void)snprintf(reason, sizeof reason, "strings: not in mode %s", p->place.mode);
  } else {
    (void)snprintf(reason, sizeof reason, "%s lacks %s", run->options.backend, p->place.op);
  }
  cf_skip(run, reason);
  return true;
}

/* -- preparing -------------------------------------------------------------------------------------------------- */

static void seed_case(const cf_run *run, const cf_record *record, nd4c_dtype dtype, int32_t number, cf_random *random) {
  random->state = run->options.seed * 1000003 + (uint64_t)record->op * 8191 + (uint64_t)dtype * 131 + (uint64_t)number;
  (void)cf_next(random);
}

bool cf_sample_case(const cf_run *run, const cf_record *record, nd4c_dtype dtype, int32_t number, cf_case *c) {
  cf_random random;
  memset(c, 0, sizeof *c);
  c->op = record->op;
  c->dtype = dtype;
  if (record->sample == NULL) {
    return cf_golden_sample(number, c);
  }
  seed_case(run, record, dtype, number, &random);
  if (record->sample(&random, number, c)) {
    return true;
  }
  /* Then those recorded, if there are any beside the sampled ones. */
  int32_t first = number;
  for (bool sampled = false; first > 0 && !sampled; first -= !sampled) {
    cf_case other;
    memset(&other, 0, sizeof other);
    other.op = record->op;
    other.dtype = dtype;
    seed_case(run, record, dtype, first - 1, &random);
    sampled = record->sample(&random, first - 1, &other);
    cf_case_clear(&other);
  }
  return cf_golden_sample(number - first, c);
}

/* The layout of one input: with `mixed` each input has another one. Falls back to contiguous if it does not apply. */
static bool place_input(cf_layout layout, int32_t position, int32_t number, const cf_tensor *tensor,
                        cf_placement *placement) {
  cf_layout own = layout;
  if (layout == CF_LAYOUT_mixed) {
    own = (cf_layout)((uint32_t)(position * 3 + number) % CF_LAYOUT_mixed);
  }
  if (cf_place(tensor->dtype, own, tensor->rank, tensor->shape, placement)) {
    return true;
  }
  (void)cf_place(tensor->dtype, CF_LAYOUT_contiguous, tensor->rank, tensor->shape, placement);
  return false;
}

void cf_unprepare(cf_prepared *p) {
  for (int32_t i = 0; i < p->c.input_count; i++) {
    cf_array_clear(&p->arrays[i]);
  }
  for (int32_t i = 0; i < CF_OUTPUTS; i++) {
    cf_expected_clear(&p->expected[i]);
  }
  cf_case_clear(&p->c);
}

/* The oracle's results for the current inputs, or the recorded results. */
static void expect(const cf_record *record, cf_prepared *p) {
  const cf_golden *golden = p->c.golden;
  p->record = *record;
  p->output_count = 1;
  if (golden == NULL) {
    record->oracle(&p->c, &p->expected[0]);
    return;
  }
  p->output_count = golden->output_count;
  p->record.ulps = golden->ulps;
  p->record.complex_ulps = golden->complex_ulps;
  for (int32_t i = 0; i < golden->output_count; i++) {
    const cf_expected *from = &golden->outputs[i];
    cf_expect(&p->expected[i], from->dtype, from->rank, from->shape, from->scale != NULL);
    memcpy(p->expected[i].values, from->values, (size_t)from->size * sizeof *from->values);
    if (from->scale != NULL) {
      memcpy(p->expected[i].scale, from->scale, (size_t)from->size * sizeof *from->scale);
    }
  }
}

/* Recorded results hold for the recorded inputs: a layout that makes elements share a place may have changed them. */
static bool is_as_recorded(const cf_case *c) {
  for (int32_t i = 0; c->golden != NULL && i < c->input_count; i++) {
    const cf_tensor *now = &c->inputs[i], *then = &c->golden->c.inputs[i];
    if (now->dtype != ND4C_DTYPE_NONE &&
        memcmp(now->data, then->data, (size_t)(now->size * cf_size_of(now->dtype))) != 0) {
      return false;
    }
  }
  return true;
}

/* False if the layout applies to no input: the case would test nothing new. */
bool cf_prepare(cf_run *run, const cf_record *record, cf_layout layout, cf_prepared *p, nd4c_status *status) {
  bool applies = layout == CF_LAYOUT_contiguous;
  *status = ND4C_OK;
  for (int32_t i = 0; i < p->c.input_count && *status == ND4C_OK; i++) {
    cf_tensor *tensor = &p->c.inputs[i];
    cf_placement placement;
    if (tensor->dtype == ND4C_DTYPE_NONE) {
      continue;
    }
    applies = place_input(layout, i, p->place.number, tensor, &placement) || applies;
    *status = cf_array_make(tensor, &placement, run->device, &p->arrays[i]);
    p->inputs[i] = p->arrays[i].view;
  }
  if (!is_as_recorded(&p->c)) {
    return false;
  }
  if (applies && *status == ND4C_OK) {
    expect(record, p);
  }
  return applies;
}

nd4c_status cf_call(cf_run *run, const cf_prepared *p, nd4c_array **outputs) {
  return nd4c_op_call(run->context, p->c.op, p->inputs, p->c.input_count, p->c.attrs, p->c.attr_count, outputs,
                      p->output_count);
}

void cf_release_all(nd4c_array **outputs) {
  for (int32_t i = 0; i < CF_OUTPUTS; i++) {
    nd4c_array_release(outputs[i]);
  }
}

bool cf_wanted(const char *filter, const char *name) {
  return filter == NULL || strcmp(filter, name) == 0;
}
