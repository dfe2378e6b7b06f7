/* One case in every layout and mode. */
#include "run.h"

#include <stdio.h>
#include <string.h>

#define MODE_NAME(name) #name,
const char *const cf_mode_names[CF_MODE_COUNT] = {CF_MODES(MODE_NAME)};
#undef MODE_NAME

enum { TEXT = 900 };

/* A case with its arrays on the device. */
typedef struct prepared {
  cf_case c;
  cf_array arrays[CF_INPUTS];
  const nd4c_array *inputs[CF_INPUTS];
  int32_t output_count;
  cf_expected expected[CF_OUTPUTS];
  cf_record record; /* with the tolerances of this case */
  cf_place_of_run place;
} prepared;

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

static bool has_strings(const prepared *p) {
  bool has = false;
  for (int32_t i = 0; i < p->c.input_count; i++) {
    has = has || p->c.inputs[i].dtype == ND4C_UTF8;
  }
  for (int32_t i = 0; i < p->output_count; i++) {
    has = has || p->expected[i].dtype == ND4C_UTF8;
  }
  return has;
}

/* A backend beside the CPU's may lack an op; the CPU may not. Strings are computed into fresh arrays alone. */
static bool skipped_status(cf_run *run, const prepared *p, nd4c_status status) {
  bool strings = has_strings(p) && strcmp(p->place.mode, cf_mode_names[CF_MODE_fresh]) != 0;
  char reason[96];
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

static bool sample(const cf_run *run, const cf_record *record, nd4c_dtype dtype, int32_t number, cf_case *c) {
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

/* The layout of one input: with `mixed` each has another one. Falls back to contiguous where it does not apply. */
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

static void unprepare(prepared *p) {
  for (int32_t i = 0; i < p->c.input_count; i++) {
    cf_array_clear(&p->arrays[i]);
  }
  for (int32_t i = 0; i < CF_OUTPUTS; i++) {
    cf_expected_clear(&p->expected[i]);
  }
  cf_case_clear(&p->c);
}

/* What the oracle says of the inputs as they are now, or what was recorded. */
static void expect(const cf_record *record, prepared *p) {
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

/* False if the layout applies to no input: then there is nothing new to see. */
static bool prepare(cf_run *run, const cf_record *record, cf_layout layout, prepared *p, nd4c_status *status) {
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

/* -- modes ------------------------------------------------------------------------------------------------------ */

static nd4c_status call(cf_run *run, const prepared *p, nd4c_array **outputs) {
  return nd4c_op_call(run->context, p->c.op, p->inputs, p->c.input_count, p->c.attrs, p->c.attr_count, outputs,
                      p->output_count);
}

static void release_all(nd4c_array **outputs) {
  for (int32_t i = 0; i < CF_OUTPUTS; i++) {
    nd4c_array_release(outputs[i]);
  }
}

/* Asks which engine computes the call. */
static void ask_engine(cf_run *run, const prepared *p) {
  char part[64], *text = NULL;
  (void)snprintf(part, sizeof part, "(engine %s): taken", run->options.engine);
  if (nd4c_explain(run->context, p->c.op, p->inputs, p->c.input_count, p->c.attrs, p->c.attr_count, &text) == ND4C_OK) {
    run->asked++;
    run->served += strstr(text, part) != NULL;
  }
  nd4c_free(text);
}

static bool inputs_intact(const prepared *p, int32_t except) {
  for (int32_t i = 0; i < p->c.input_count; i++) {
    if (i != except && p->arrays[i].base != NULL && !cf_array_intact(&p->arrays[i], false)) {
      return false;
    }
  }
  return true;
}

/* What is wrong with the results, or NULL. */
static const char *check_results(const prepared *p, nd4c_array *const *outputs, char *text, size_t size) {
  const char *problem = NULL;
  if (p->c.golden != NULL && p->c.golden->property != NULL) {
    cf_tensor read[CF_OUTPUTS];
    memset(read, 0, sizeof read);
    for (int32_t i = 0; i < p->output_count && problem == NULL; i++) {
      problem = cf_array_read(outputs[i], &read[i]) == ND4C_OK ? NULL : nd4c_error_message();
    }
    if (problem == NULL) {
      problem = p->c.golden->property(&p->c, read, p->output_count, text, size);
    }
    for (int32_t i = 0; i < p->output_count; i++) {
      cf_tensor_clear(&read[i]);
    }
    return problem;
  }
  for (int32_t i = 0; i < p->output_count && problem == NULL; i++) {
    int written = p->output_count > 1 ? snprintf(text, size, "output %d: ", (int)i) : 0;
    problem = cf_check_result(&p->record, &p->expected[i], outputs[i], text + written, size - (size_t)written) != NULL
                  ? text
                  : NULL;
  }
  return problem;
}

static bool targets_intact(const prepared *p, const cf_array *targets) {
  for (int32_t i = 0; targets != NULL && i < p->output_count; i++) {
    if (targets[i].base != NULL && !cf_array_intact(&targets[i], true)) {
      return false;
    }
  }
  return true;
}

/* An op whose result's shape depends on data, or that no device computes, is eager alone. */
static bool is_eager_alone(const prepared *p, nd4c_status status) {
  return status == ND4C_UNSUPPORTED && strcmp(p->place.mode, cf_mode_names[CF_MODE_plan]) == 0 &&
         strstr(nd4c_error_message(), "call it eagerly") != NULL;
}

/* Judges one call. outputs: what was computed, NULL if the call failed. */
static void judge(cf_run *run, const prepared *p, nd4c_status status, nd4c_array *const *outputs,
                  const cf_array *targets, int32_t input_written) {
  char text[TEXT];
  const char *problem = NULL;
  if (skipped_status(run, p, status)) {
    return;
  }
  if (is_eager_alone(p, status)) {
    run->totals.passed++;
    return;
  }
  if (status != ND4C_OK) {
    (void)snprintf(text, sizeof text, "%s: %s", nd4c_status_name(status), nd4c_error_message());
    problem = text;
  } else if (check_results(p, outputs, text, sizeof text) != NULL) {
    problem = text;
  } else if (!inputs_intact(p, input_written)) {
    problem = "an input was changed";
  } else if (!targets_intact(p, targets)) {
    problem = "something around the output was changed";
  }
  if (problem != NULL) {
    cf_fail(run, &p->place, problem);
  } else {
    run->totals.passed++;
  }
}

static void run_fresh(cf_run *run, const prepared *p) {
  nd4c_array *outputs[CF_OUTPUTS] = {NULL};
  if (run->options.engine != NULL && strcmp(p->place.layout, cf_layout_names[CF_LAYOUT_contiguous]) == 0) {
    ask_engine(run, p);
  }
  nd4c_status status = call(run, p, outputs);
  judge(run, p, status, outputs, NULL, -1);
  release_all(outputs);
}

static void run_plan(cf_run *run, const prepared *p) {
  nd4c_array *outputs[CF_OUTPUTS] = {NULL};
  nd4c_status status = cf_plan_call(run, &p->c, p->inputs, outputs, p->output_count);
  judge(run, p, status, outputs, NULL, -1);
  release_all(outputs);
}

/* Into arrays that are there: contiguous, or every second element of a transposed block. */
static void run_given(cf_run *run, const prepared *p, cf_layout layout) {
  cf_array targets[CF_OUTPUTS];
  nd4c_array *outputs[CF_OUTPUTS] = {NULL};
  nd4c_status status = ND4C_OK;
  bool applies = true;
  memset(targets, 0, sizeof targets);
  for (int32_t i = 0; i < p->output_count && status == ND4C_OK && applies; i++) {
    const cf_expected *e = &p->expected[i];
    cf_placement placement;
    cf_tensor before;
    applies = cf_place(e->dtype, layout, e->rank, e->shape, &placement);
    if (!applies) {
      applies = i > 0 && cf_place(e->dtype, CF_LAYOUT_offset, e->rank, e->shape, &placement);
    }
    if (applies) {
      cf_tensor_make(&before, e->dtype, e->rank, e->shape);
      status = cf_array_make(&before, &placement, run->device, &targets[i]);
      outputs[i] = targets[i].view;
      cf_tensor_clear(&before);
    }
  }
  if (applies) {
    status = status == ND4C_OK ? call(run, p, outputs) : status;
    judge(run, p, status, outputs, targets, -1);
  }
  for (int32_t i = 0; i < CF_OUTPUTS; i++) {
    cf_array_clear(&targets[i]);
  }
}

static bool same_form(const cf_expected *e, const cf_tensor *tensor) {
  return tensor->dtype == e->dtype && tensor->rank == e->rank &&
         (e->rank == 0 || memcmp(tensor->shape, e->shape, (size_t)e->rank * sizeof(int64_t)) == 0);
}

/* Into the very view that is an input. */
static void run_in_place(cf_run *run, prepared *p) {
  for (int32_t i = 0; i < p->c.input_count; i++) {
    if (p->arrays[i].view != NULL && p->arrays[i].placement.injective && same_form(&p->expected[0], &p->c.inputs[i])) {
      nd4c_array *outputs[CF_OUTPUTS] = {p->arrays[i].view};
      cf_array targets[CF_OUTPUTS] = {p->arrays[i]};
      nd4c_status status = call(run, p, outputs);
      judge(run, p, status, outputs, targets, i);
      outputs[0] = NULL;
      release_all(outputs);
      return;
    }
  }
}

/* Into a view that overlaps input 0, one element further on. */
static void run_shifted(cf_run *run, prepared *p) {
  const cf_tensor *x = &p->c.inputs[0];
  if (p->c.input_count == 0 || !same_form(&p->expected[0], x) || x->dtype == ND4C_UTF8 || cf_is_packed(x->dtype) ||
      x->size < 2) {
    return;
  }
  cf_placement placement;
  cf_array target = {0};
  cf_tensor copy;
  (void)cf_place(x->dtype, CF_LAYOUT_offset, x->rank, x->shape, &placement);
  cf_tensor_make(&copy, x->dtype, x->rank, x->shape);
  memcpy(copy.data, x->data, (size_t)(x->size * cf_size_of(x->dtype)));
  nd4c_status status = cf_array_make(&copy, &placement, run->device, &target);
  const nd4c_array *first = p->inputs[0];
  nd4c_array *outputs[CF_OUTPUTS] = {NULL};
  if (status == ND4C_OK) {
    p->inputs[0] = target.view;
    status =
        nd4c_array_as_strided(target.base, x->rank, x->shape, placement.strides, placement.offset + 1, &outputs[0]);
  }
  if (status == ND4C_OK) {
    status = call(run, p, outputs);
  }
  judge(run, p, status, outputs, NULL, -1);
  p->inputs[0] = first;
  release_all(outputs);
  cf_array_clear(&target);
  cf_tensor_clear(&copy);
}

static void run_mode(cf_run *run, prepared *p, cf_mode mode) {
  switch (mode) {
    case CF_MODE_fresh:
      run_fresh(run, p);
      break;
    case CF_MODE_given:
      run_given(run, p, CF_LAYOUT_offset);
      break;
    case CF_MODE_strided:
      run_given(run, p,
                p->place.number % 3 == 0   ? CF_LAYOUT_second
                : p->place.number % 3 == 1 ? CF_LAYOUT_transposed
                                           : CF_LAYOUT_negative);
      break;
    case CF_MODE_in_place: /* the last but one: changes an input */
      run_in_place(run, p);
      break;
    case CF_MODE_shifted:
      run_shifted(run, p);
      break;
    case CF_MODE_plan:
      run_plan(run, p);
      break;
    default:
      break;
  }
}

/* -- one record ------------------------------------------------------------------------------------------------- */

static bool wanted(const char *filter, const char *name) {
  return filter == NULL || strcmp(filter, name) == 0;
}

/* Every layout is seen in every mode over several seeds; in one run a case takes all modes in three of its layouts. */
static bool takes_mode(const cf_run *run, int32_t number, cf_layout layout, cf_mode mode) {
  return mode == CF_MODE_fresh || run->options.full || run->options.layout != NULL || layout == CF_LAYOUT_contiguous ||
         layout == CF_LAYOUT_mixed ||
         (uint64_t)layout == 1 + ((uint64_t)number + run->options.seed) % (CF_LAYOUT_mixed - 1);
}

/* Large cases are there for vector loops and threads: two layouts show those. */
static bool takes_layout(const cf_run *run, const cf_case *c, cf_layout layout) {
  int64_t elements = 0;
  for (int32_t i = 0; i < c->input_count; i++) {
    elements += c->inputs[i].size;
  }
  return elements <= 1000 || run->options.full || run->options.layout != NULL || layout == CF_LAYOUT_contiguous ||
         layout == CF_LAYOUT_mixed;
}

static bool run_layout(cf_run *run, const cf_record *record, nd4c_dtype dtype, int32_t number, cf_layout layout) {
  static const cf_mode order[] = {CF_MODE_fresh,   CF_MODE_given, CF_MODE_strided,
                                  CF_MODE_shifted, CF_MODE_plan,  CF_MODE_in_place};
  prepared p = {.place = {.op = nd4c_op_get(record->op)->name,
                          .layout = cf_layout_names[layout],
                          .mode = cf_mode_names[0],
                          .dtype = dtype,
                          .number = number}};
  nd4c_status status = ND4C_OK;
  if (!sample(run, record, dtype, number, &p.c)) {
    cf_case_clear(&p.c);
    return false;
  }
  if ((p.c.input_count > 0 || p.c.golden != NULL) && takes_layout(run, &p.c, layout) &&
      prepare(run, record, layout, &p, &status)) {
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
      p.place.mode = cf_mode_names[order[i]];
      if (wanted(run->options.mode, p.place.mode) && status == ND4C_OK && takes_mode(run, number, layout, order[i])) {
        run_mode(run, &p, order[i]);
      }
    }
  }
  if (status == ND4C_DTYPE && dtype == ND4C_UTF8 && strcmp(run->options.backend, "cpu") != 0) {
    cf_skip(run, "strings stay on the host");
  } else if (status != ND4C_OK) {
    cf_fail(run, &p.place, nd4c_error_message());
  }
  unprepare(&p);
  return true;
}

/* Recorded cases are many, and the reference sees them all: another engine need not where it has no kernel of the op,
 * nor a backend that lacks it. */
static bool is_served(cf_run *run, const cf_record *record, nd4c_dtype dtype) {
  bool is_cpu = strcmp(run->options.backend, "cpu") == 0;
  if (record->sample != NULL || (is_cpu && run->options.engine == NULL)) {
    return true;
  }
  prepared p;
  memset(&p, 0, sizeof p);
  char part[64], *text = NULL;
  bool served = true;
  nd4c_status status = ND4C_OK;
  (void)snprintf(part, sizeof part, "(engine %s)", is_cpu ? run->options.engine : "");
  if (sample(run, record, dtype, 0, &p.c) && prepare(run, record, CF_LAYOUT_contiguous, &p, &status) &&
      status == ND4C_OK &&
      nd4c_explain(run->context, p.c.op, p.inputs, p.c.input_count, p.c.attrs, p.c.attr_count, &text) == ND4C_OK) {
    served = is_cpu ? strstr(text, part) != NULL : strstr(text, "nothing computes this call") == NULL;
    if (strstr(text, "by the library itself") != NULL) { /* strings, pictures: seen with the reference, once */
      served = is_cpu && strcmp(run->options.engine, "reference") == 0;
    }
  }
  nd4c_free(text);
  unprepare(&p);
  return served;
}

void cf_run_record(cf_run *run, const cf_record *record, nd4c_dtype dtype) {
  if (!is_served(run, record, dtype)) {
    cf_skip(run, "recorded cases of ops that are not served here");
    return;
  }
  for (int32_t number = 0;; number++) {
    if (run->options.number >= 0 && run->options.number != number) {
      if (number > run->options.number) {
        return;
      }
      continue;
    }
    for (int32_t layout = 0; layout < CF_LAYOUT_COUNT; layout++) {
      if (wanted(run->options.layout, cf_layout_names[layout]) &&
          !run_layout(run, record, dtype, number, (cf_layout)layout)) {
        return;
      }
    }
  }
}

/* -- refusals --------------------------------------------------------------------------------------------------- */

static void expect_status(cf_run *run, const cf_place_of_run *place, const char *what, nd4c_status status,
                          nd4c_status expected) {
  char text[TEXT];
  if (status == expected && nd4c_error_message()[0] != '\0' && strstr(nd4c_error_message(), place->op) != NULL) {
    run->totals.passed++;
    return;
  }
  /* What only a look at the data can refuse, a backend refuses that has the op. */
  if (status == ND4C_UNSUPPORTED && strcmp(run->options.backend, "cpu") != 0) {
    (void)snprintf(text, sizeof text, "%s lacks %s", run->options.backend, place->op);
    cf_skip(run, text);
    return;
  }
  (void)snprintf(text, sizeof text, "%s gave %s (%s), expected %s and the op's name", what, nd4c_status_name(status),
                 status == ND4C_OK ? "" : nd4c_error_message(), nd4c_status_name(expected));
  cf_fail(run, place, text);
}

/* The first case of a declared dtype that has inputs. */
static bool first_case(cf_run *run, const cf_record *record, prepared *p) {
  bool strings_alone = nd4c_op_get(record->op)->dtypes == ND4C_DTYPE_BIT(ND4C_UTF8);
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    for (int32_t number = record->sample != NULL ? 2 : 0; number < 6; number++) {
      if ((nd4c_op_get(record->op)->dtypes & ND4C_DTYPE_BIT(dtype)) == 0 || !cf_has_dtype(dtype) ||
          (dtype == ND4C_UTF8 && !strings_alone) || !sample(run, record, dtype, number, &p->c)) {
        cf_case_clear(&p->c);
        continue;
      }
      nd4c_status status = ND4C_OK;
      if ((p->c.input_count > 0 || p->c.golden != NULL) && prepare(run, record, CF_LAYOUT_contiguous, p, &status) &&
          status == ND4C_OK) {
        p->place.dtype = dtype;
        p->place.number = number;
        return true;
      }
      unprepare(p);
    }
  }
  return false;
}

static void refuse_dtypes(cf_run *run, const cf_record *record, prepared *p) {
  nd4c_dtype_set declared = nd4c_op_get(record->op)->dtypes;
  const nd4c_array *first = p->inputs[0];
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END && first != NULL; dtype++) {
    nd4c_array *input = NULL, *outputs[CF_OUTPUTS] = {NULL};
    if ((declared & ND4C_DTYPE_BIT(dtype)) != 0 || !cf_has_dtype(dtype) || dtype == ND4C_UTF8) {
      continue;
    }
    nd4c_error_clear();
    nd4c_status status = nd4c_array_zeros(dtype, nd4c_array_rank(first), nd4c_array_shape(first), run->device, &input);
    p->inputs[0] = input;
    status = status == ND4C_OK ? call(run, p, outputs) : status;
    p->place.dtype = dtype;
    expect_status(run, &p->place, "an undeclared dtype", status, ND4C_DTYPE);
    release_all(outputs);
    nd4c_array_release(input);
  }
  p->inputs[0] = first;
}

/* An output array of another dtype or shape, a missing input, an unknown attribute. */
static void refuse_calls(cf_run *run, const prepared *p) {
  const cf_expected *e = &p->expected[0];
  int64_t longer[CF_RANK + 1] = {2};
  nd4c_array *wrong_dtype[CF_OUTPUTS] = {NULL}, *wrong_shape[CF_OUTPUTS] = {NULL}, *fresh[CF_OUTPUTS] = {NULL};
  memcpy(longer + 1, e->shape, (size_t)e->rank * sizeof(int64_t));
  nd4c_dtype other = e->dtype == ND4C_INT8 ? ND4C_FLOAT64 : ND4C_INT8;
  nd4c_error_clear();
  if (e->dtype != ND4C_UTF8 && nd4c_array_zeros(other, e->rank, e->shape, run->device, wrong_dtype) == ND4C_OK) {
    expect_status(run, &p->place, "an output of another dtype", call(run, p, wrong_dtype), ND4C_DTYPE);
  }
  nd4c_error_clear();
  if (e->dtype != ND4C_UTF8 && nd4c_array_zeros(e->dtype, e->rank + 1, longer, run->device, wrong_shape) == ND4C_OK) {
    expect_status(run, &p->place, "an output of another shape", call(run, p, wrong_shape), ND4C_SHAPE);
  }
  nd4c_error_clear();
  nd4c_attr unknown = {.name = "no_such_attribute", .value = {.kind = ND4C_ATTR_INT}};
  expect_status(run, &p->place, "an unknown attribute",
                nd4c_op_call(run->context, p->c.op, p->inputs, p->c.input_count, &unknown, 1, fresh, p->output_count),
                ND4C_NAME);
  nd4c_error_clear();
  const nd4c_array *none[CF_INPUTS] = {NULL};
  if (p->c.input_count > 0 && !nd4c_op_get(p->c.op)->inputs[0].optional) {
    expect_status(run, &p->place, "a missing input",
                  nd4c_op_call(run->context, p->c.op, none, p->c.input_count, p->c.attrs, p->c.attr_count, fresh,
                               p->output_count),
                  ND4C_NULL_ARGUMENT);
  }
  if (fresh[0] != NULL) {
    cf_fail(run, &p->place, "a refused call left an output");
  }
  release_all(wrong_dtype);
  release_all(wrong_shape);
  release_all(fresh);
}

/* What was recorded as refused: the status, and a part of the text beside the op's name. */
static void run_recorded_refusals(cf_run *run, const cf_record *record) {
  const cf_golden *golden;
  for (int32_t number = 0; (golden = cf_golden_refusal(record->op, number)) != NULL; number++) {
    prepared p = {.place = {.op = nd4c_op_get(record->op)->name,
                            .layout = cf_layout_names[CF_LAYOUT_contiguous],
                            .mode = cf_mode_names[CF_MODE_refusals],
                            .dtype = golden->dtype,
                            .number = number},
                  .c = golden->c,
                  .output_count = nd4c_op_get(record->op)->output_count};
    nd4c_array *outputs[CF_OUTPUTS] = {NULL};
    nd4c_status status = ND4C_OK;
    for (int32_t i = 0; i < p.c.input_count && status == ND4C_OK; i++) {
      cf_placement placement;
      if (p.c.inputs[i].dtype != ND4C_DTYPE_NONE) {
        (void)cf_place(p.c.inputs[i].dtype, CF_LAYOUT_contiguous, p.c.inputs[i].rank, p.c.inputs[i].shape, &placement);
        status = cf_array_make(&p.c.inputs[i], &placement, run->device, &p.arrays[i]);
        p.inputs[i] = p.arrays[i].view;
      }
    }
    nd4c_error_clear();
    status = status == ND4C_OK ? call(run, &p, outputs) : status;
    if (status == golden->status && strstr(nd4c_error_message(), golden->text) == NULL) {
      char text[TEXT];
      (void)snprintf(text, sizeof text, "refused as \"%.300s\", expected \"%s\" in it", nd4c_error_message(),
                     golden->text);
      cf_fail(run, &p.place, text);
    } else {
      expect_status(run, &p.place, "a recorded refusal", status, golden->status);
    }
    release_all(outputs);
    for (int32_t i = 0; i < p.c.input_count; i++) {
      cf_array_clear(&p.arrays[i]);
    }
  }
}

void cf_run_refusals(cf_run *run, const cf_record *record) {
  prepared p = {.place = {.op = nd4c_op_get(record->op)->name,
                          .layout = cf_layout_names[CF_LAYOUT_contiguous],
                          .mode = cf_mode_names[CF_MODE_refusals]}};
  if (!wanted(run->options.mode, p.place.mode)) {
    return;
  }
  if (!first_case(run, record, &p)) {
    cf_fail(run, &p.place, "no case to start from");
    return;
  }
  refuse_calls(run, &p);
  refuse_dtypes(run, record, &p);
  run_recorded_refusals(run, record);
  unprepare(&p);
}
